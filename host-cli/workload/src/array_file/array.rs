//! An array in memory, and how its bytes are read.

use std::io::Read;

use super::problem::ArrayProblem;

/// An array that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Sides, slowest first; empty for a single number.
    pub shape: Vec<u64>,
    /// The elements, little endian.
    pub bytes: Vec<u8>,
}

/// Reads what is left, at most `limit` bytes.
pub(super) fn read_all(reader: impl Read, limit: u64) -> Result<Vec<u8>, ArrayProblem> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells what is too large.
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ArrayProblem::TooLarge { limit }) } else { Ok(bytes) }
}
