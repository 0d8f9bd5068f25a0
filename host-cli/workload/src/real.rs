//! Floating-point numbers of launch files and arrays, and whether their type can hold them. Integer
//! types count as double precision.

use super::element::ElementType;
use super::error::Problem;

const TOO_LARGE: &str = "it would become infinite";
const TOO_SMALL: &str = "it would become zero";
const ROUNDED: &str = "it would be rounded to another integer";

/// An integer as a number of a floating-point type that is equal to it.
pub fn of_integer(value: i64, of: ElementType) -> Result<f64, Problem> {
    let real = of.nearest(value as f64);
    if real.is_finite() && real as i128 == i128::from(value) {
        Ok(real)
    } else {
        let (value, element) = (value.to_string(), of.name());
        Err(Problem::Inexact { value, element, because: ROUNDED })
    }
}

/// A number that is rounded to the nearest of its type, but neither to an infinity nor to zero.
pub fn rounded(value: f64, of: ElementType) -> Result<f64, Problem> {
    let held = of.nearest(value);
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
