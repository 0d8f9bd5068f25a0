//! A quasirandom sequence in natural order.

use super::inputs::Inputs;
use super::values::{Expected, Values};

const DIMENSIONS: usize = 3;
/// Direction numbers of a dimension.
const BITS: usize = 24;

/// Each point by itself: the exclusive or of the direction numbers of the bits of its number, its
/// first 24 binary places. Equal to the kernel's.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let count = inputs.parameter("count")?;
    let directions = inputs.u32("directions", DIMENSIONS * BITS)?;
    let mut points = Vec::with_capacity(inputs.f32("points", DIMENSIONS * count)?.len());
    for directions in directions.as_chunks::<BITS>().0 {
        for n in 0..count {
            let bits = directions.iter().enumerate().filter(|(bit, _)| n >> bit & 1 == 1);
            let point = bits.fold(0, |point, (_, direction)| point ^ direction);
            points.push((point >> 8) as f32 / 16_777_216.0);
        }
    }
    Ok(vec![("points", Values::F32(points))])
}
