//! Sorted rows.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Each row's pairs of key and value in ascending order.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (rows, length) = (inputs.parameter("rows")?, inputs.parameter("length")?);
    let count = rows * length;
    let (keys, values) = (inputs.u32("keys", count)?, inputs.u32("values", count)?);
    let mut pairs: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    for row in pairs.chunks_mut(length.max(1)) {
        row.sort_unstable();
    }
    let (keys, values) = pairs.into_iter().unzip();
    Ok(vec![("sorted_keys", Values::U32(keys)), ("sorted_values", Values::U32(values))])
}
