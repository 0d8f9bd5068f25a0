//! Values by their names in TOML files.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use strata_core::names::Named;

/// A value that a file names. Another name is an error that lists all, as serde's own about enums
/// do, so that [`super::Mistake`] finds the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByName<T>(pub T);

impl<'de, T: Named> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Name(PhantomData)).map(Self)
    }
}

struct Name<T>(PhantomData<T>);

impl<T: Named> Visitor<'_> for Name<T> {
    type Value = T;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<_> = T::NAMES.iter().map(|name| format!("{name:?}")).collect();
        to.write_str(&quoted.join(" or "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        T::from_name(name).ok_or_else(|| E::unknown_variant(name, T::NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict;
    use strata_core::sm::config::Scheduler;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        scheduler: Option<ByName<Scheduler>>,
    }

    #[test]
    fn every_name_is_read_and_all_are_listed_for_another() {
        for scheduler in Scheduler::ALL {
            let file: File =
                strict::from_str(&format!("scheduler = {:?}", scheduler.name())).unwrap();
            assert_eq!(file.scheduler, Some(ByName(scheduler)));
        }
        assert!(strict::from_str::<File>("").unwrap().scheduler.is_none());
        for (text, told) in [
            (
                "scheduler = \"gredy\"",
                "there is no `gredy` here; there are `greedy`, `round-robin`, \
                 `greedy-then-oldest`, `loose-round-robin`",
            ),
            ("\nscheduler = \"\"", "2:13: scheduler: "),
            ("scheduler = 3", "or \"greedy-then-oldest\" or \"loose-round-robin\", found 3"),
            ("scheduler = {}", ", found a table"),
        ] {
            let error = strict::from_str::<File>(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
