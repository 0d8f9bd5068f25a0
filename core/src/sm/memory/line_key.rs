//! Line keys: what caches know lines by.
//!
//! Local memory belongs to a place for a warp, as on a GPU.

use super::touched::TouchedLine;

/// Of keys of local lines.
const LOCAL: u64 = 1 << 63;
const WARP_SHIFT: u32 = 56;

/// A line by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LineKey {
    /// Of global memory, by its number.
    Global(u64),
    /// Of local memory.
    Local {
        /// The warp's place.
        warp: u8,
        /// The word of each lane.
        word: u64,
    },
}

impl LineKey {
    /// The line of a key.
    pub(super) const fn of(key: u64) -> Self {
        if !is_local(key) {
            return Self::Global(key);
        }
        let warp = (key >> WARP_SHIFT) as u8 & !(LOCAL >> WARP_SHIFT) as u8;
        Self::Local { warp, word: key & ((1 << WARP_SHIFT) - 1) }
    }
}

/// The key of a line that a warp touches. A warp has less than 2^56 words of local memory; numbers
/// beyond wrap.
pub(super) const fn key(line: TouchedLine, warp: u8) -> u64 {
    if !line.is_local() {
        return line.number();
    }
    LOCAL | (warp as u64) << WARP_SHIFT | line.number() & ((1 << WARP_SHIFT) - 1)
}

/// Whether it is the key of a line of local memory.
pub(super) const fn is_local(key: u64) -> bool {
    key & LOCAL != 0
}
