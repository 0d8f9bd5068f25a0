//! Quantities: decimal numbers with a unit, read exactly, without floating point.

use serde::Deserialize;
use strata_core::units::Femtojoules;

/// A text that is not a quantity of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// No number, or a number that is not a plain decimal.
    #[error("`{text}` does not start with a decimal number: write for example `{example}`")]
    NoNumber {
        /// What was written.
        text: String,
        /// A correct value.
        example: &'static str,
    },
    /// A unit that this kind of quantity does not have, or none.
    #[error("`{text}` has no known unit: write one of {units}, for example `{example}`")]
    Unit {
        /// What was written.
        text: String,
        /// The units known.
        units: String,
        /// A correct value.
        example: &'static str,
    },
    /// More decimals than the smallest unit can hold.
    #[error("`{text}` is finer than 1 {smallest}, the smallest step there is")]
    TooFine {
        /// What was written.
        text: String,
        /// The smallest unit.
        smallest: &'static str,
    },
    /// More than fits.
    #[error("`{text}` is too large: the most is {limit} {smallest}")]
    TooLarge {
        /// What was written.
        text: String,
        /// The largest number of smallest units.
        limit: u64,
        /// The smallest unit.
        smallest: &'static str,
    },
}

/// The units of one kind of quantity; the first is the smallest, in which values are kept.
struct Kind {
    /// Name and power of ten of the smallest unit.
    units: &'static [(&'static str, u32)],
    example: &'static str,
    limit: u64,
}

impl Kind {
    fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let written = text.trim();
        let number_end =
            written.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(written.len());
        let (number, unit) = written.split_at(number_end);
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || decimals.contains('.') || number.ends_with('.') {
            let text = text.to_owned();
            return Err(QuantityError::NoNumber { text, example: self.example });
        }
        let Some(&(_, power)) = self.units.iter().find(|(name, _)| *name == unit.trim()) else {
            let names: Vec<_> = self.units.iter().map(|(name, _)| format!("`{name}`")).collect();
            let text = text.to_owned();
            return Err(QuantityError::Unit {
                text,
                units: names.join(", "),
                example: self.example,
            });
        };
        let smallest = self.units[0].0;
        let decimals = decimals.trim_end_matches('0');
        let shift = power as usize;
        if decimals.len() > shift {
            return Err(QuantityError::TooFine { text: text.to_owned(), smallest });
        }
        let digits = format!("{whole}{decimals}{}", "0".repeat(shift - decimals.len()));
        let value = digits.parse::<u64>().ok().filter(|&value| value <= self.limit);
        value.ok_or_else(|| QuantityError::TooLarge {
            text: text.to_owned(),
            limit: self.limit,
            smallest,
        })
    }
}

const ENERGY: Kind =
    Kind { units: &[("fJ", 0), ("pJ", 3), ("nJ", 6)], example: "2.2 pJ", limit: 1_000_000_000 };
const WIRE: Kind =
    Kind { units: &[("fJ/mm", 0), ("pJ/mm", 3)], example: "1.9 pJ/mm", limit: 1_000_000_000 };
const LENGTH: Kind = Kind { units: &[("um", 0), ("mm", 3)], example: "0.2 mm", limit: 1_000_000 };
const AREA: Kind =
    Kind { units: &[("um2", 0), ("mm2", 6)], example: "14300 um2", limit: 1_000_000_000_000 };
const POWER: Kind = Kind {
    units: &[("nW", 0), ("uW", 3), ("mW", 6), ("W", 9)],
    example: "130 W",
    limit: 1_000_000_000_000_000,
};

macro_rules! quantities {
    ($($(#[doc = $doc:literal])+ $name:ident($inner:ty) $kind:ident, $get:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(pub $inner);

        impl TryFrom<String> for $name {
            type Error = QuantityError;

            fn try_from(text: String) -> Result<Self, QuantityError> {
                let get: fn(u64) -> $inner = $get;
                $kind.parse(&text).map(|value| Self(get(value)))
            }
        }
    )+};
}

quantities! {
    /// An energy, such as `2.2 pJ`. At most 1 microjoule.
    Energy(Femtojoules) ENERGY, Femtojoules;
    /// The energy of a wire, such as `1.9 pJ/mm`. At most 1 microjoule for each millimetre.
    WireEnergy(Femtojoules) WIRE, Femtojoules;
    /// A length, such as `0.2 mm`. Unit: micrometres, at most a metre.
    Length(u32) LENGTH, |value| value as u32;
    /// An area, such as `14300 um2`. Unit: square micrometres.
    Area(u64) AREA, |value| value;
    /// A power, such as `130 W`. Unit: nanowatts, at most a megawatt.
    Power(u64) POWER, |value| value;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energy(text: &str) -> Result<u64, String> {
        Energy::try_from(text.to_owned())
            .map(|energy| energy.0.0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(energy("2.2 pJ"), Ok(2200));
        assert_eq!(energy("10.9pJ"), Ok(10_900));
        assert_eq!(energy(" 8 pJ "), Ok(8000));
        assert_eq!(energy("1 fJ"), Ok(1));
        assert_eq!(energy("0.001000 pJ"), Ok(1));
        assert_eq!(energy("1 nJ"), Ok(1_000_000));
        assert_eq!(Length::try_from("0.05 mm".to_owned()), Ok(Length(50)));
        assert_eq!(Power::try_from("130 W".to_owned()), Ok(Power(130_000_000_000)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("", "does not start with a decimal number"),
            ("pJ", "does not start with a decimal number"),
            ("-1 pJ", "does not start with a decimal number"),
            (".5 pJ", "does not start with a decimal number"),
            ("1. pJ", "does not start with a decimal number"),
            ("1.2.3 pJ", "does not start with a decimal number"),
            ("2.2", "one of `fJ`, `pJ`, `nJ`, for example `2.2 pJ`"),
            ("1e3 pJ", "no known unit"),
            ("2.2 pj", "no known unit"),
            ("2.2 mm", "no known unit"),
            ("0.0001 pJ", "finer than 1 fJ"),
            ("1.1 fJ", "finer than 1 fJ"),
            ("1000000001 fJ", "too large: the most is 1000000000 fJ"),
            ("99999999999999999999999 pJ", "too large"),
        ] {
            let message = energy(text).unwrap_err();
            assert!(message.contains(part), "`{text}`: {message}");
        }
    }
}
