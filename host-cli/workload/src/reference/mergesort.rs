//! Sorted tiles.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Pairs of a tile.
const TILE: usize = 1024;

/// Each tile in the order of its keys; equal keys keep theirs.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let count = inputs.parameter("count")?;
    let keys = inputs.u32("keys_in", count)?;
    let values = inputs.u32("values_in", count)?;
    let mut pairs: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    for tile in pairs.chunks_mut(TILE) {
        tile.sort_by_key(|&(key, _)| key);
    }
    let (keys, values) = pairs.into_iter().unzip();
    Ok(vec![("keys_out", Values::U32(keys)), ("values_out", Values::U32(values))])
}
