//! Prefix sums.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// What stands before each element, and the sum of all, modulo 2^32.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let input = inputs.u32("input", inputs.parameter("n")?)?;
    let mut sum = 0_u32;
    let mut output = Vec::with_capacity(input.len());
    for value in input {
        output.push(sum);
        sum = sum.wrapping_add(value);
    }
    Ok(vec![("output", Values::U32(output)), ("total", Values::U32(vec![sum]))])
}
