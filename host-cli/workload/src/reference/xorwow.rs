//! States of the XORWOW generator.

use super::error::{ReferenceError, bounded};
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// What a step adds to the Weyl sequence.
const WEYL: u32 = 362_437;

/// A step of the generator (Marsaglia, 2003) over five words and the Weyl sequence.
pub(super) const fn step([x, y, z, w, v, weyl]: [u32; 6]) -> [u32; 6] {
    let mixed = x ^ x >> 2;
    [y, z, w, v, v ^ v << 4 ^ mixed ^ mixed << 1, weyl.wrapping_add(WEYL)]
}

/// The generator, step by step from the seed; every `1 << skip` steps a sequence begins.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (sequences, skip) = (inputs.parameter("sequences")?, inputs.parameter("skip")?);
    if skip > 30 {
        let value = skip as i64;
        return Err(ReferenceError::Parameter { name: "skip", value });
    }
    bounded(&[sequences, 1 << skip])?;
    let seed = inputs.u32("seed", 6)?;
    let mut state: [u32; 6] = std::array::from_fn(|word| seed[word]);
    let mut states = vec![0; 6 * sequences];
    for sequence in 0..sequences {
        for (word, &value) in state.iter().enumerate() {
            states[word * sequences + sequence] = value;
        }
        for _ in 0..1_u64 << skip {
            state = step(state);
        }
    }
    Ok(vec![("states", Values::U32(states))])
}
