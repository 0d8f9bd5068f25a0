//! Ports of a write pool, as design files, options and reports name them.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strata_core::write_pool::{MAX_ACCESSES, PoolPorts};

/// What ports may be called.
const ALLOWED: &str = "\"1rw\" for one access in a cycle, \"1r1w\" for a read and a write, or the \
                       number of accesses of any kind, 2 to 8";

/// The name of a port that does one access in a cycle.
const ONE: &str = "1rw";
/// That of a read and a write.
const BOTH: &str = "1r1w";

/// Ports by their name: `1rw`, `1r1w`, or a number of accesses from 2 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortsName(pub PoolPorts);

impl PortsName {
    fn named(text: &str) -> Option<Self> {
        match text {
            ONE => Some(Self(PoolPorts::Any(1))),
            BOTH => Some(Self(PoolPorts::OneReadOneWrite)),
            _ => None,
        }
    }

    fn of_accesses(accesses: u64) -> Option<Self> {
        let accesses = u8::try_from(accesses).ok()?;
        (2..=MAX_ACCESSES).contains(&accesses).then_some(Self(PoolPorts::Any(accesses)))
    }
}

impl fmt::Display for PortsName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            PoolPorts::OneReadOneWrite => to.write_str(BOTH),
            PoolPorts::Any(1) => to.write_str(ONE),
            PoolPorts::Any(accesses) => write!(to, "{accesses}"),
        }
    }
}

/// Of an option, where numbers are texts.
impl FromStr for PortsName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = || text.parse().ok().and_then(Self::of_accesses);
        Self::named(text).or_else(number).ok_or_else(|| format!("expected {ALLOWED}"))
    }
}

impl<'de> Deserialize<'de> for PortsName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Ports;

        impl Visitor<'_> for Ports {
            type Value = PortsName;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str(ALLOWED)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PortsName, E> {
                let found = PortsName::named(text);
                found.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<PortsName, E> {
                let found = u64::try_from(value).ok().and_then(PortsName::of_accesses);
                found.ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
            }
        }

        from.deserialize_any(Ports)
    }
}

impl Serialize for PortsName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
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
            assert_eq!(text.parse(), Ok(PortsName(ports)));
            assert_eq!(PortsName(ports).to_string(), text);
        }
        for text in ["", "0", "1", "9", "258", "-2", "2r1w", "1RW", "2.0", " 2"] {
            let error = text.parse::<PortsName>().unwrap_err();
            assert!(error.contains("\"1r1w\" for a read and a write"), "{text}: {error}");
        }
    }
}
