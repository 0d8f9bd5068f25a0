//! Elements of buffers: their types, and single ones as numbers.

use half::{bf16, f16};
use strata_core::named;

use super::rounding::{bfloat, half};

named! {
    /// Type of an element of a buffer, or of a scalar argument.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ElementType {
        /// 8-bit unsigned.
        U8 = "u8",
        /// 8-bit signed.
        S8 = "s8",
        /// 16-bit unsigned.
        U16 = "u16",
        /// 16-bit signed.
        S16 = "s16",
        /// 32-bit unsigned.
        U32 = "u32",
        /// 32-bit signed.
        S32 = "s32",
        /// 64-bit unsigned.
        U64 = "u64",
        /// 64-bit signed.
        S64 = "s64",
        /// Half precision.
        F16 = "f16",
        /// Half the bits of single precision, with its exponent.
        Bf16 = "bf16",
        /// Single precision.
        F32 = "f32",
        /// Double precision.
        F64 = "f64",
    }
}

impl ElementType {
    /// Size of one element. Unit: bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// True for `f16`, `bf16`, `f32` and `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// Smallest and largest integer that an element holds exactly together with all between; for
    /// `u64` up to the largest `i64`, because launch files write no more.
    pub const fn integer_range(self) -> (i64, i64) {
        match self {
            Self::U8 => (0, u8::MAX as i64),
            Self::S8 => (i8::MIN as i64, i8::MAX as i64),
            Self::U16 => (0, u16::MAX as i64),
            Self::S16 => (i16::MIN as i64, i16::MAX as i64),
            Self::U32 => (0, u32::MAX as i64),
            Self::S32 => (i32::MIN as i64, i32::MAX as i64),
            Self::U64 => (0, i64::MAX),
            Self::S64 => (i64::MIN, i64::MAX),
            Self::F16 => (-(1 << 11), 1 << 11),
            Self::Bf16 => (-(1 << 8), 1 << 8),
            Self::F32 => (-(1 << 24), 1 << 24),
            Self::F64 => (-(1 << 53), 1 << 53),
        }
    }

    /// Smallest and largest integer of an integer type.
    const fn limits(self) -> (i128, i128) {
        let (low, high) = self.integer_range();
        let high = if matches!(self, Self::U64) { u64::MAX as i128 } else { high as i128 };
        (low as i128, high)
    }

    /// Appends a number, which the type can hold.
    pub(super) fn push(self, number: Number, bytes: &mut Vec<u8>) {
        match number {
            Number::Integer(value) => {
                bytes.extend_from_slice(&value.to_le_bytes()[..self.bytes() as usize]);
            }
            Number::Real(value) => self.push_real(value, bytes),
        }
    }

    /// Appends `value`, which lies in [`Self::integer_range`], as one element.
    pub(super) fn push_integer(self, value: i64, bytes: &mut Vec<u8>) {
        if self.is_float() {
            self.push_real(value as f64, bytes);
        } else {
            self.push(Number::Integer(value.into()), bytes);
        }
    }

    /// The nearest number of the type, perhaps an infinity.
    pub(super) fn nearest(self, value: f64) -> f64 {
        match self {
            Self::F16 => half(value).into(),
            Self::Bf16 => bfloat(value).into(),
            Self::F32 => f64::from(value as f32),
            _ => value,
        }
    }

    /// The bits of the nearest number of the type.
    pub(super) fn bits(self, value: f64) -> u64 {
        match self {
            Self::F16 => half(value).to_bits().into(),
            Self::Bf16 => bfloat(value).to_bits().into(),
            Self::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        }
    }

    /// Appends `value` rounded to the element's precision; integers take the nearest one.
    pub(super) fn push_real(self, value: f64, bytes: &mut Vec<u8>) {
        if self.is_float() {
            let bits = self.bits(value).to_le_bytes();
            bytes.extend_from_slice(&bits[..self.bytes() as usize]);
        } else {
            self.push_integer(value as i64, bytes);
        }
    }
}

/// An element as an exact number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of an integer type.
    Integer(i128),
    /// Of a floating-point type.
    Real(f64),
}

impl Number {
    /// The element that little-endian `bytes` hold, as many as the type has.
    pub(super) fn of_bytes(element: ElementType, bytes: &[u8]) -> Self {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match element {
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
                Self::Integer(bits.into())
            }
            ElementType::S8 => Self::Integer((bits as i8).into()),
            ElementType::S16 => Self::Integer((bits as i16).into()),
            ElementType::S32 => Self::Integer((bits as i32).into()),
            ElementType::S64 => Self::Integer((bits as i64).into()),
            ElementType::F16 => Self::Real(f16::from_bits(bits as u16).into()),
            ElementType::Bf16 => Self::Real(bf16::from_bits(bits as u16).into()),
            ElementType::F32 => Self::Real(f32::from_bits(bits as u32).into()),
            ElementType::F64 => Self::Real(f64::from_bits(bits)),
        }
    }

    /// The number that a text says, of a type: rounded once where that has to be.
    ///
    /// # Errors
    ///
    /// Why it is none, in words.
    pub(super) fn parse(element: ElementType, text: &str) -> Result<Self, String> {
        let name = element.name();
        if element.is_float() {
            let value = match element {
                ElementType::F32 => text.parse::<f32>().map(f64::from),
                _ => text.parse().map(|value| element.nearest(value)),
            };
            let value = value.map_err(|_| format!("`{text}` is no number"))?;
            if value.is_infinite() && text.contains(|found: char| found.is_ascii_digit()) {
                return Err(format!("`{text}` is too large for {name}"));
            }
            return Ok(Self::Real(value));
        }
        let value: i128 = text.parse().map_err(|_| format!("`{text}` is no integer"))?;
        let (low, high) = element.limits();
        if (low..=high).contains(&value) {
            Ok(Self::Integer(value))
        } else {
            Err(format!("`{text}` does not fit {name}, whose integers range from {low} to {high}"))
        }
    }

    /// The nearest number of double precision.
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// How far apart two numbers are, rounded to double precision; equal ones are 0 apart and
    /// others never, except numbers that are not or infinite.
    pub(super) fn distance(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.abs_diff(two) as f64,
            (one, two) => (one.real() - two.real()).abs(),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(formatter),
            Self::Real(value) => value.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_by_type() {
        for (element, bytes, expected) in [
            (ElementType::S8, &[200][..], Number::Integer(-56)),
            (ElementType::U8, &[200], Number::Integer(200)),
            (ElementType::U16, &[1, 2], Number::Integer(513)),
            (ElementType::S16, &[0, 0x80], Number::Integer(-32768)),
            (ElementType::S32, &(-5_i32).to_le_bytes(), Number::Integer(-5)),
            (ElementType::U32, &u32::MAX.to_le_bytes(), Number::Integer(4_294_967_295)),
            (ElementType::S64, &i64::MIN.to_le_bytes(), Number::Integer(i64::MIN.into())),
            (ElementType::U64, &u64::MAX.to_le_bytes(), Number::Integer(u64::MAX.into())),
            (ElementType::F16, &[0x66, 0x2e], Number::Real(0.099_975_585_937_5)),
            (ElementType::Bf16, &[0xcd, 0x3d], Number::Real(0.100_097_656_25)),
            (ElementType::F32, &0.1_f32.to_le_bytes(), Number::Real(0.1_f32.into())),
            (ElementType::F64, &2.5_f64.to_le_bytes(), Number::Real(2.5)),
        ] {
            assert_eq!(Number::of_bytes(element, bytes), expected);
        }
    }

    /// Every number between two neighbours, as close to their middle as double precision goes.
    #[test]
    fn numbers_are_rounded_once() {
        for (of, largest, next, value) in [
            (ElementType::F16, 0x7bff_u16, 65_536.0, f16_value as fn(u16) -> f64),
            (ElementType::Bf16, 0x7f7f, 2_f64.powi(128), bf16_value),
        ] {
            for low in 0..largest {
                let (high, even) = (low + 1, low + low % 2);
                let middle = f64::midpoint(value(low), value(high));
                for (number, expected) in [
                    (value(low), low),
                    (middle.next_down(), low),
                    (middle, even),
                    (middle.next_up(), high),
                ] {
                    let sign = 0x8000;
                    assert_eq!(of.bits(number), u64::from(expected), "{number:e}");
                    assert_eq!(of.bits(-number), u64::from(expected | sign), "-{number:e}");
                }
            }
            let limit = f64::midpoint(value(largest), next);
            assert_eq!(of.bits(limit.next_down()), u64::from(largest));
            assert!(of.nearest(limit).is_infinite());
        }
    }

    fn f16_value(bits: u16) -> f64 {
        f16::from_bits(bits).into()
    }

    fn bf16_value(bits: u16) -> f64 {
        bf16::from_bits(bits).into()
    }
}
