//! Sum and maximum of a vector.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// The sum in double precision; the maximum is exact in any order.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let input = inputs.f32("input", inputs.parameter("n")?)?;
    let sum = input.iter().map(|&value| f64::from(value)).sum();
    let largest = input.iter().fold(f32::MIN, |largest, &value| largest.max(value));
    Ok(vec![("result", Values::F64(vec![sum, f64::from(largest)]))])
}
