//! Floating-point numbers of a launch file, and whether their type can hold them.

use half::{bf16, f16};

use super::element::ElementType;
use super::error::Problem;

const TOO_LARGE: &str = "it would become infinite";
const TOO_SMALL: &str = "it would become zero";
const ROUNDED: &str = "it would be rounded to another integer";

/// A floating-point type, of elements or of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 5 bits of exponent.
    Half,
    /// 8 bits of exponent.
    Bfloat,
    Single,
    Double,
}

impl Precision {
    const fn name(self) -> &'static str {
        match self {
            Self::Half => "f16",
            Self::Bfloat => "bf16",
            Self::Single => "f32",
            Self::Double => "f64",
        }
    }
}

impl From<ElementType> for Precision {
    /// That of a floating-point type; integers become numbers of double precision.
    fn from(element: ElementType) -> Self {
        match element {
            ElementType::F16 => Self::Half,
            ElementType::F32 => Self::Single,
            _ => Self::Double,
        }
    }
}

/// An integer as a number of a floating-point type that is equal to it.
pub(crate) fn of_integer(value: i64, of: impl Into<Precision>) -> Result<f64, Problem> {
    let of = of.into();
    let real = nearest(value as f64, of);
    if real.is_finite() && real as i128 == i128::from(value) {
        Ok(real)
    } else {
        let (value, element) = (value.to_string(), of.name());
        Err(Problem::Inexact { value, element, because: ROUNDED })
    }
}

/// The nearest number of a type, perhaps an infinity.
pub(super) fn nearest(value: f64, of: impl Into<Precision>) -> f64 {
    match of.into() {
        Precision::Half => f64::from(f16::from_f64(value)),
        Precision::Bfloat => f64::from(bf16::from_f64(value)),
        Precision::Single => f64::from(value as f32),
        Precision::Double => value,
    }
}

/// The bits of the nearest number of a type.
pub(super) fn bits(value: f64, of: Precision) -> u64 {
    match of {
        Precision::Half => f16::from_f64(value).to_bits().into(),
        Precision::Bfloat => bf16::from_f64(value).to_bits().into(),
        Precision::Single => (value as f32).to_bits().into(),
        Precision::Double => value.to_bits(),
    }
}

/// A number that is rounded to the nearest of its type, but neither to an infinity nor to zero.
pub(crate) fn rounded(value: f64, of: impl Into<Precision>) -> Result<f64, Problem> {
    let of = of.into();
    let held = nearest(value, of);
    let because = if value.is_finite() && !held.is_finite() {
        TOO_LARGE
    } else if value != 0.0 && held == 0.0 {
        TOO_SMALL
    } else {
        return Ok(value);
    };
    let (value, element) = (format!("{value:e}"), of.name());
    Err(Problem::Inexact { value, element, because })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_stay_what_they_are() {
        for (value, f32_fits, f64_fits) in [
            (0, true, true),
            (-(1 << 24), true, true),
            ((1 << 24) + 1, false, true),
            (1 << 60, true, true),
            ((1 << 53) + 1, false, false),
            (i64::MAX, false, false),
            (i64::MIN, true, true),
        ] {
            assert_eq!(of_integer(value, ElementType::F32).is_ok(), f32_fits, "{value}");
            assert_eq!(of_integer(value, ElementType::F64).is_ok(), f64_fits, "{value}");
        }
    }

    #[test]
    fn numbers_become_neither_infinite_nor_zero() {
        for value in [0.0, 0.1, -3e38, 1e-40, f64::INFINITY, f64::NAN] {
            assert!(rounded(value, ElementType::F32).is_ok(), "{value}");
        }
        for (value, because) in [(1e39, "become infinite"), (-1e-60, "become zero")] {
            assert!(rounded(value, ElementType::F64).is_ok(), "{value}");
            let message = rounded(value, ElementType::F32).unwrap_err().to_string();
            assert!(message.contains(because), "{message}");
        }
    }
}
