//! A quasirandom sequence.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// Bits of a point, and direction numbers of a dimension.
const BITS: usize = 32;

/// Each point by itself: the exclusive or of the direction numbers of the bits of its Gray code.
/// Single precision rounds once: equal to the kernel's.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (dimensions, count) = (inputs.parameter("dimensions")?, inputs.parameter("count")?);
    let words = inputs.u32("words", BITS * dimensions)?;
    let mut points = Vec::with_capacity(inputs.f32("points", dimensions * count)?.len());
    for words in words.as_chunks::<BITS>().0 {
        for n in 0..count as u32 {
            let gray = n ^ (n >> 1);
            let mut point = 0;
            for (bit, word) in words.iter().enumerate() {
                if (gray >> bit) & 1 == 1 {
                    // `bit + 1` binary places, the last of them 1.
                    point ^= (word | 1) << (BITS - 1 - bit);
                }
            }
            points.push(point as f32 / 4_294_967_296.0);
        }
    }
    Ok(vec![("points", Values::F32(points))])
}
