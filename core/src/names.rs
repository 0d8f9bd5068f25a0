//! Names: enums whose values users write in files and on command lines, and read in reports.

/// An enum whose values have names.
pub trait Named: Copy + Eq + 'static {
    /// Every value, in the order in which lists show them.
    const ALL: &'static [Self];
    /// The names of [`Self::ALL`], in the same order; each is there once.
    const NAMES: &'static [&'static str];

    /// The name.
    fn name(self) -> &'static str;

    /// What the value means, in one sentence.
    fn meaning(self) -> &'static str;

    /// The value with a name; none if no value has it.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }
}

/// Defines enums with a name for each value: gives them `ALL` and `name`, which constants can use,
/// and implements [`Named`] for them, for what is generic.
///
/// ```
/// use strata_core::names::Named;
///
/// strata_core::named! {
///     /// Light at a crossing.
///     #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
///     pub enum Light {
///         /// Wait.
///         #[default]
///         Red = "red",
///         /// Drive.
///         Green = "green",
///     }
/// }
///
/// assert_eq!(Light::from_name("green"), Some(Light::Green));
/// assert_eq!(Light::ALL.map(Light::name), ["red", "green"]);
/// assert_eq!(Light::Green.meaning(), "Drive.");
/// ```
#[macro_export]
macro_rules! named {
    // No macro can repeat a bare `#[default]`: `as $never`, which no enum has, makes it countable.
    ($(
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[default $(as $never:ident)?])?
                $variant:ident = $text:literal,
            )+
        }
    )+) => {$(
        $(#[$meta])*
        $visibility enum $name {
            $($(#[doc = $doc])+ $(#[default $(as $never)?])? $variant,)+
        }

        impl $name {
            /// Every value, in the order in which lists show them.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name in files, on command lines and in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl $crate::names::Named for $name {
            const ALL: &'static [Self] = &Self::ALL;
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn name(self) -> &'static str {
                Self::name(self)
            }

            fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    )+};
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::bank_layout::BankLayout;
    use crate::datapath::Datapath;
    use crate::energy::WireCharge;
    use crate::image::{MemorySpace, Unit};
    use crate::level::Level;
    use crate::organisation::SchedulingLevels;
    use crate::register_file_cache::{Allocation, Replacement};
    use crate::sm::config::{BarrierRule, Limit, ReplacementRule, Scheduler, ShortWait};
    use crate::sm::operand_delivery::DeliveryKind;
    use std::collections::BTreeSet;
    use std::fmt::Debug;

    fn complete<T: Named + Debug>() {
        assert!(T::ALL.iter().map(|value| value.name()).eq(T::NAMES.iter().copied()));
        assert_eq!(T::NAMES.iter().collect::<BTreeSet<_>>().len(), T::ALL.len());
        for &value in T::ALL {
            assert_eq!(T::from_name(value.name()), Some(value));
            assert!(value.meaning().ends_with('.'), "{value:?}");
        }
        assert_eq!(T::from_name("no such name"), None);
    }

    #[test]
    fn every_value_has_one_name_and_is_found_by_it() {
        complete::<Scheduler>();
        complete::<ReplacementRule>();
        complete::<ShortWait>();
        complete::<BarrierRule>();
        complete::<Limit>();
        complete::<SchedulingLevels>();
        complete::<DeliveryKind>();
        complete::<Replacement>();
        complete::<Allocation>();
        complete::<BankLayout>();
        complete::<WireCharge>();
        complete::<Datapath>();
        complete::<Level>();
        complete::<Unit>();
        complete::<MemorySpace>();
    }
}
