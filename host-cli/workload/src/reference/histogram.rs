//! Histogram of bytes.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Counts, in any order: equal to the kernel's.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let data = inputs.u8("data", inputs.parameter("size")?)?;
    let mut counts = vec![0_u32; 256];
    for byte in data {
        counts[usize::from(byte)] += 1;
    }
    Ok(vec![("counts", Values::U32(counts))])
}
