//! Quantities: decimal numbers with a unit, read exactly, without floating point.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use strata_core::units::Femtojoules;

/// A text that is not a quantity of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// No number, or a number that is not a plain decimal.
    #[error("`{text}` does not start with a decimal number from 0: write for example `{example}`")]
    NoNumber {
        /// What was written.
        text: String,
        /// A correct value.
        example: &'static str,
    },
    /// A unit that this kind of quantity does not have, or none.
    #[error("`{text}` has {no} unit: write `{example}`; the units are {units}", no = if *given {
        "no known"
    } else {
        "no"
    })]
    Unit {
        /// What was written.
        text: String,
        /// Whether something stands where the unit should.
        given: bool,
        /// The units known.
        units: String,
        /// A correct value: the number that was written with the usual unit, if it is one.
        example: String,
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
    /// What it is, such as `an energy`.
    what: &'static str,
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
            let usual = self.example.split_once(' ').map_or("", |(_, unit)| unit);
            let is_word = unit.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
            return Err(QuantityError::Unit {
                text: text.to_owned(),
                given: !unit.trim().is_empty(),
                units: names.join(", "),
                example: if is_word {
                    format!("{number} {usual}")
                } else {
                    self.example.to_owned()
                },
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

const ENERGY: Kind = Kind {
    what: "an energy",
    units: &[("fJ", 0), ("pJ", 3), ("nJ", 6)],
    example: "2.2 pJ",
    limit: 1_000_000_000,
};
const WIRE: Kind = Kind {
    what: "the energy of a wire",
    units: &[("fJ/mm", 0), ("pJ/mm", 3)],
    example: "1.9 pJ/mm",
    limit: 1_000_000_000,
};
const LENGTH: Kind =
    Kind { what: "a length", units: &[("um", 0), ("mm", 3)], example: "0.2 mm", limit: 1_000_000 };
const AREA: Kind = Kind {
    what: "an area",
    units: &[("um2", 0), ("mm2", 6)],
    example: "14300 um2",
    limit: 1_000_000_000_000,
};
const POWER: Kind = Kind {
    what: "a power",
    units: &[("nW", 0), ("uW", 3), ("mW", 6), ("W", 9)],
    example: "130 W",
    limit: 1_000_000_000_000_000,
};
const ENERGY_PER_BIT: Kind = Kind {
    what: "an energy per bit",
    units: &[("aJ/bit", 0), ("fJ/bit", 3), ("pJ/bit", 6)],
    example: "0.37 pJ/bit",
    limit: 1_000_000_000_000,
};
const TIME: Kind = Kind {
    what: "a time",
    units: &[("fs", 0), ("ps", 3), ("ns", 6), ("us", 9)],
    example: "0.69 ns",
    limit: 1_000_000_000_000,
};
const FREQUENCY: Kind = Kind {
    what: "a frequency",
    units: &[("kHz", 0), ("MHz", 3), ("GHz", 6)],
    example: "0.7 GHz",
    limit: 1_000_000_000,
};
const SHARE: Kind =
    Kind { what: "a share", units: &[("ppm", 0), ("%", 4)], example: "10 %", limit: 10_000_000 };

/// Reads a quantity of a kind: a text, never a number alone.
struct Reader(&'static Kind);

impl Reader {
    fn read<E: Error>(&self, text: &str) -> Result<u64, E> {
        self.0.parse(text).map_err(E::custom)
    }
}

impl Visitor<'_> for Reader {
    type Value = u64;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} in quotes, such as \"{}\"", self.0.what, self.0.example)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        self.read(text)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        self.read(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        self.read(&format!("{number:?}"))
    }
}

macro_rules! quantities {
    ($($(#[doc = $doc:literal])+ $name:ident($inner:ty) $kind:ident, $get:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub $inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let get: fn(u64) -> $inner = $get;
                from.deserialize_any(Reader(&$kind)).map(|value| Self(get(value)))
            }
        }

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
    /// Energy for each bit of an access, such as `0.37 pJ/bit`. Unit: attojoules, at most 1
    /// microjoule.
    EnergyPerBit(u64) ENERGY_PER_BIT, |value| value;
    /// A time, such as `0.69 ns`. Unit: femtoseconds, at most 1 millisecond.
    Time(u64) TIME, |value| value;
    /// A frequency, such as `0.7 GHz`. Unit: kilohertz, at most 1 terahertz.
    Frequency(u32) FREQUENCY, |value| value as u32;
    /// A share, such as `10 %`. Unit: millionths, at most ten times the whole.
    Share(u32) SHARE, |value| value as u32;
}

impl EnergyPerBit {
    /// Energy of an access of this many bits, rounded to the nearest femtojoule, ties up.
    pub fn of_bits(self, bits: u32) -> Femtojoules {
        let attojoules = u128::from(self.0) * u128::from(bits);
        Femtojoules(u64::try_from((attojoules + 500) / 1000).unwrap_or(u64::MAX))
    }
}

impl Time {
    /// Cycles of a clock that it takes, begun ones counted whole; at least 1.
    pub fn cycles(self, clock: Frequency) -> u64 {
        // A femtosecond at a kilohertz is a 10^12th of a cycle.
        let cycles = (u128::from(self.0) * u128::from(clock.0)).div_ceil(1_000_000_000_000);
        u64::try_from(cycles).unwrap_or(u64::MAX).max(1)
    }
}

/// A number of smallest units as a decimal of a unit that is `10^power` of them, without zeros at
/// its end.
pub fn decimal(value: u64, power: u32) -> String {
    let scale = 10_u64.pow(power);
    let digits = format!("{:0width$}", value % scale, width = power as usize);
    let decimals = if power == 0 { "" } else { digits.trim_end_matches('0') };
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{}{point}{decimals}", value / scale)
}

impl fmt::Display for EnergyPerBit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} pJ/bit", decimal(self.0, 6))
    }
}

impl fmt::Display for Energy {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} pJ", decimal(self.0.0, 3))
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} GHz", decimal(self.0.into(), 6))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} %", decimal(self.0.into(), 4))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ns", decimal(self.0, 6))
    }
}

impl fmt::Display for Power {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} mW", decimal(self.0, 6))
    }
}

impl fmt::Display for Area {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} mm2", decimal(self.0, 6))
    }
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
        let per_bit = EnergyPerBit::try_from("0.37 pJ/bit".to_owned());
        assert_eq!(per_bit, Ok(EnergyPerBit(370_000)));
        assert_eq!(Time::try_from("4.12 ns".to_owned()), Ok(Time(4_120_000)));
        assert_eq!(Frequency::try_from("0.7 GHz".to_owned()), Ok(Frequency(700_000)));
    }

    #[test]
    fn accesses_and_cycles_follow_exactly() {
        let per_bit = |text: &str| EnergyPerBit::try_from(text.to_owned()).unwrap();
        assert_eq!(per_bit("0.37 pJ/bit").of_bits(128), Femtojoules(47_360));
        assert_eq!(per_bit("0.72 pJ/bit").of_bits(1024), Femtojoules(737_280));
        assert_eq!(per_bit("0.5 fJ/bit").of_bits(1), Femtojoules(1));
        assert_eq!(per_bit("499 aJ/bit").of_bits(1), Femtojoules(0));
        let clock = Frequency(700_000);
        let cycles = |text: &str| Time::try_from(text.to_owned()).unwrap().cycles(clock);
        // 0.483, 0.469, 0.616 and 2.884 cycles.
        assert_eq!(["0.69 ns", "0.67 ns", "0.88 ns", "4.12 ns"].map(cycles), [1, 1, 1, 3]);
        assert_eq!(Time(0).cycles(clock), 1);
        // Exactly 3 cycles of 1 GHz, and a femtosecond more.
        assert_eq!(Time(3_000_000).cycles(Frequency(1_000_000)), 3);
        assert_eq!(Time(3_000_001).cycles(Frequency(1_000_000)), 4);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0.37 pJ/bit", "12 pJ/bit", "0.000001 pJ/bit", "0 pJ/bit"] {
            let value = EnergyPerBit::try_from(text.to_owned()).unwrap();
            assert_eq!(value.to_string(), text);
        }
        assert_eq!(Time(4_120_000).to_string(), "4.12 ns");
        assert_eq!(Power(25_000).to_string(), "0.025 mW");
        assert_eq!(Area(4_100_000).to_string(), "4.1 mm2");
        assert_eq!(Energy(Femtojoules(12_100)).to_string(), "12.1 pJ");
        assert_eq!(Frequency(1_000_000).to_string(), "1 GHz");
        assert_eq!(Share(100_000).to_string(), "10 %");
        assert_eq!(Share::try_from("0.0001 %".to_owned()), Ok(Share(1)));
        assert_eq!(decimal(17, 0), "17");
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
            ("2.3", "`2.3` has no unit: write `2.3 pJ`; the units are `fJ`, `pJ`, `nJ`"),
            ("1e3 pJ", "no known unit: write `2.2 pJ`"),
            ("2.2 pj", "no known unit"),
            ("2.3 mm", "no known unit: write `2.3 pJ`"),
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
