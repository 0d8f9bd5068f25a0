//! What an execution of a memory instruction moves, as the memory system sees it.
//!
//! Global and local memory move sectors of 32 bytes (CUDA C++ Best Practices Guide, "Coalesced
//! Access to Global Memory"); local memory is interleaved by lane, so that a word at one offset is
//! 128 bytes side by side. Shared memory has 32 banks of a word each: words of one bank are served
//! one after another, a word that several lanes read once.

use super::lanewise::Addresses;
use super::{Access, Memory, Space, lanes};
use crate::device::WINDOW_BYTES;
use crate::row::Lanes;

/// Sector of global and local memory. Unit: bytes.
const SECTOR_BYTES: u64 = 32;
/// Word of shared memory. Unit: bytes.
const WORD_BYTES: u64 = 4;
/// Banks of shared memory.
const BANKS: u64 = 32;
/// Shared memory passes this many bytes while one bank serves a word, when the SM's bandwidth is
/// that of [RFC2011] Table 4. Unit: bytes.
const BYTES_PER_BANK_CYCLE: u32 = 32;

impl Memory<'_> {
    /// Bytes that an access moves for the lanes of `mask`.
    pub(crate) fn moved_bytes(&self, file: &Lanes, access: &Access, mask: u32) -> u32 {
        let addresses = self.addresses(file, access);
        let bytes = access.bytes();
        let map = self.device.map;
        match access.space {
            Space::Global => global(&addresses, mask, bytes),
            Space::Local => local(&addresses, mask, bytes),
            Space::Shared => shared(&addresses, mask, bytes),
            Space::Parameter => 0,
            Space::Generic => {
                let within = |base: u64| {
                    lanes(mask)
                        .filter(|&lane| addresses[lane].wrapping_sub(base) < WINDOW_BYTES)
                        .fold(0_u32, |here, lane| here | 1 << lane)
                };
                let (in_shared, in_local) = (within(map.shared), within(map.local));
                let in_parameters = within(map.parameters);
                let rest = mask & !(in_shared | in_local | in_parameters);
                global(&addresses, rest, bytes)
                    + local(&addresses.map(|a| a.wrapping_sub(map.local)), in_local, bytes)
                    + shared(&addresses, in_shared, bytes)
            }
        }
    }
}

fn global(addresses: &Addresses, mask: u32, bytes: u64) -> u32 {
    let ends = |lane: usize| {
        let first = addresses[lane] / SECTOR_BYTES;
        first..=addresses[lane].wrapping_add(bytes - 1) / SECTOR_BYTES
    };
    distinct(lanes(mask).flat_map(ends)) * SECTOR_BYTES as u32
}

fn local(addresses: &Addresses, mask: u32, bytes: u64) -> u32 {
    let sector = |lane: usize, word: u64| (word * 32 + lane as u64) * WORD_BYTES / SECTOR_BYTES;
    let sectors = |lane: usize| words(addresses[lane], bytes).map(move |word| sector(lane, word));
    distinct(lanes(mask).flat_map(sectors)) * SECTOR_BYTES as u32
}

fn shared(addresses: &Addresses, mask: u32, bytes: u64) -> u32 {
    let mut touched: Vec<u64> =
        lanes(mask).flat_map(|lane| words(addresses[lane], bytes)).collect();
    touched.sort_unstable();
    touched.dedup();
    let mut in_bank = [0_u32; BANKS as usize];
    for word in &touched {
        in_bank[(word % BANKS) as usize] += 1;
    }
    let degree = in_bank.iter().max().copied().unwrap_or(0);
    (touched.len() as u32 * WORD_BYTES as u32).max(degree * BYTES_PER_BANK_CYCLE)
}

/// The words that an access of some bytes touches.
fn words(address: u64, bytes: u64) -> std::ops::RangeInclusive<u64> {
    address / WORD_BYTES..=address.wrapping_add(bytes - 1) / WORD_BYTES
}

/// Different numbers in a short sequence, most often an ascending one.
fn distinct(numbers: impl Iterator<Item = u64>) -> u32 {
    let mut seen: Vec<u64> = Vec::with_capacity(64);
    for number in numbers {
        if seen.last() != Some(&number) {
            seen.push(number);
        }
    }
    if !seen.is_sorted() {
        seen.sort_unstable();
        seen.dedup();
    }
    seen.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(address: impl Fn(u64) -> u64) -> Addresses {
        std::array::from_fn(|lane| address(lane as u64))
    }

    #[test]
    fn sectors_are_moved_once() {
        assert_eq!(global(&each(|lane| 0x1000 + 4 * lane), u32::MAX, 4), 128);
        assert_eq!(global(&each(|lane| 0x1004 + 4 * lane), u32::MAX, 4), 160);
        assert_eq!(global(&each(|_| 0x1000), u32::MAX, 4), 32);
        assert_eq!(global(&each(|lane| 0x1000 + 128 * lane), 0xf, 4), 128);
        assert_eq!(global(&each(|lane| 0x1000 + 4 * (lane ^ 8)), u32::MAX, 4), 128);
        assert_eq!(global(&each(|lane| 0x1000 + 16 * lane), u32::MAX, 16), 512);
        assert_eq!(global(&each(|_| 0x1000), 0, 4), 0);
    }

    #[test]
    fn a_local_word_of_all_lanes_lies_side_by_side() {
        assert_eq!(local(&each(|_| 8), u32::MAX, 4), 128);
        assert_eq!(local(&each(|_| 8), u32::MAX, 8), 256);
        assert_eq!(local(&each(|_| 8), 1, 4), 32);
        assert_eq!(local(&each(|lane| 4 * lane), u32::MAX, 4), 32 * 32);
    }

    #[test]
    fn words_of_one_bank_wait_for_each_other() {
        assert_eq!(shared(&each(|lane| 4 * lane), u32::MAX, 4), 128);
        assert_eq!(shared(&each(|_| 64), u32::MAX, 4), 32);
        assert_eq!(shared(&each(|lane| 8 * lane), u32::MAX, 4), 128);
        assert_eq!(shared(&each(|lane| 128 * lane), u32::MAX, 4), 32 * 32);
        assert_eq!(shared(&each(|lane| 16 * lane), u32::MAX, 16), 512);
    }
}
