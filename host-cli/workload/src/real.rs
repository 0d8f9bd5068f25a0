//! Floating-point numbers of launch files and arrays, and whether their type can hold them. Integer
//! types count as double precision.

use std::cmp::Ordering;

use half::{bf16, f16};

use super::element::ElementType;
use super::error::Problem;

const TOO_LARGE: &str = "it would become infinite";
const TOO_SMALL: &str = "it would become zero";
const ROUNDED: &str = "it would be rounded to another integer";

/// An integer as a number of a floating-point type that is equal to it.
pub fn of_integer(value: i64, of: ElementType) -> Result<f64, Problem> {
    let real = nearest(value as f64, of);
    if real.is_finite() && real as i128 == i128::from(value) {
        Ok(real)
    } else {
        let (value, element) = (value.to_string(), of.name());
        Err(Problem::Inexact { value, element, because: ROUNDED })
    }
}

/// The nearest number of a type, perhaps an infinity.
pub(super) fn nearest(value: f64, of: ElementType) -> f64 {
    match of {
        ElementType::F16 => half(value).into(),
        ElementType::Bf16 => bfloat(value).into(),
        ElementType::F32 => f64::from(value as f32),
        _ => value,
    }
}

/// The bits of the nearest number of a type.
pub(super) fn bits(value: f64, of: ElementType) -> u64 {
    match of {
        ElementType::F16 => half(value).to_bits().into(),
        ElementType::Bf16 => bfloat(value).to_bits().into(),
        ElementType::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// The nearest number of half precision, of two the even one. The crate's own `from_f64` rounds
/// twice, and differently on processors with and without instructions for it.
pub(super) fn half(value: f64) -> f16 {
    f16::from_f32(to_odd(value))
}

/// The nearest number of `bf16`, of two the even one.
pub(super) fn bfloat(value: f64) -> bf16 {
    bf16::from_f32(to_odd(value))
}

/// One of the two neighbours in single precision, the one with an odd last bit, if none is equal:
/// what is rounded after this is rounded as if at once. Source: Boldo and Melquiond, "When double
/// rounding is odd" (2005).
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    match f64::from(near).abs().partial_cmp(&value.abs()) {
        Some(Ordering::Less) => f32::from_bits(bits | 1),
        Some(Ordering::Greater) => f32::from_bits((bits - 1) | 1),
        Some(Ordering::Equal) | None => near,
    }
}

/// A number that is rounded to the nearest of its type, but neither to an infinity nor to zero.
pub fn rounded(value: f64, of: ElementType) -> Result<f64, Problem> {
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
                    assert_eq!(bits(number, of), u64::from(expected), "{number:e}");
                    assert_eq!(bits(-number, of), u64::from(expected | sign), "-{number:e}");
                }
            }
            let limit = f64::midpoint(value(largest), next);
            assert_eq!(bits(limit.next_down(), of), u64::from(largest));
            assert!(nearest(limit, of).is_infinite());
        }
    }

    fn f16_value(bits: u16) -> f64 {
        f16::from_bits(bits).into()
    }

    fn bf16_value(bits: u16) -> f64 {
        bf16::from_bits(bits).into()
    }
}
