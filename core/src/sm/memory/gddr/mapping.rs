//! Mapping: where a line lies in DRAM.
//!
//! Models: chunks of 256 bytes, that is two lines, in turn in each channel; of a channel, in turn
//! in each bank, and in each bank in a row until it is full. Local memory of a warp lies apart, the
//! same word of all warps side by side.
//! Does not model: pages, and a hash of addresses.
//! Source: the project's own (`docs/DEVIATIONS.md`, DEV-093).

use super::settings::{CHUNK_BYTES, GddrSettings};
use crate::sm::config::MAX_RESIDENT_WARPS;
use crate::sm::memory::line_key::LineKey;
use crate::sm::memory::touched::LINE_BYTES;

/// Lines of a chunk.
const CHUNK_LINES: u64 = (CHUNK_BYTES / LINE_BYTES) as u64;
/// The first line of local memory.
const LOCAL_LINES: u64 = 1 << 56;

/// Where a line lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The channel.
    pub channel: u8,
    /// The bank of the channel.
    pub bank: u8,
    /// The row of the bank.
    pub row: u64,
}

/// Where the line lies that the cache knows by a key.
pub fn place(settings: &GddrSettings, key: u64) -> Place {
    let line = match LineKey::of(key) {
        LineKey::Global(line) => line,
        LineKey::Local { warp, word } => {
            let side_by_side = word.wrapping_mul(MAX_RESIDENT_WARPS as u64);
            LOCAL_LINES.wrapping_add(side_by_side).wrapping_add(warp.into())
        }
    };
    let [channels, banks] = [settings.channels, settings.banks].map(u64::from);
    let chunk = line / CHUNK_LINES;
    let in_channel = chunk / channels;
    let in_bank = in_channel / banks;
    Place {
        channel: (chunk % channels) as u8,
        bank: (in_channel % banks) as u8,
        row: in_bank / u64::from(settings.row_bytes / CHUNK_BYTES),
    }
}
