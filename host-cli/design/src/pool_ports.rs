//! Ports of a write pool, by their names in design files and options.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use strata_core::write_pool::PoolPorts;

/// What ports may be called.
const ALLOWED: &str = "\"1rw\" for one access in a cycle, \"1r1w\" for a read and a write, or the \
                       number of accesses of any kind, 2 to 8";

/// The ports with a name, where numbers are texts: in an option.
///
/// # Errors
/// No ports have the name: what may be written.
pub fn parse(name: &str) -> Result<PoolPorts, String> {
    PoolPorts::from_name(name).ok_or_else(|| format!("expected {ALLOWED}"))
}

/// Ports that a file names, by a text or a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortsName(pub(super) PoolPorts);

impl<'de> Deserialize<'de> for PortsName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Ports;

        impl Visitor<'_> for Ports {
            type Value = PoolPorts;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str(ALLOWED)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PoolPorts, E> {
                // A number is written as one.
                let found = PoolPorts::from_name(text).filter(|_| text.parse::<u64>().is_err());
                found.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<PoolPorts, E> {
                let found = u64::try_from(value).ok().and_then(PoolPorts::of_accesses);
                found.ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
            }
        }

        from.deserialize_any(Ports).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_it_is_read_from_and_nothing_else_is_one() {
        for (text, ports) in [
            ("1rw", PoolPorts::Any(1)),
            ("1r1w", PoolPorts::OneReadOneWrite),
            ("2", PoolPorts::Any(2)),
            ("8", PoolPorts::Any(8)),
        ] {
            assert_eq!(parse(text), Ok(ports));
            assert_eq!(ports.to_string(), text);
        }
        for text in ["", "0", "1", "9", "258", "-2", "2r1w", "1RW", "2.0", " 2"] {
            let error = parse(text).unwrap_err();
            assert!(error.contains("\"1r1w\" for a read and a write"), "{text}: {error}");
        }
    }
}
