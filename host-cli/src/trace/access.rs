//! What each execution of a memory instruction moves, as the memory system sees it.
//!
//! Source: global and local memory move sectors of 32 bytes (CUDA C++ Best Practices Guide,
//! "Coalesced Access to Global Memory"); shared memory moves the bytes that the lanes ask for.

use strata_core::image::{MemorySpace, Unit};

use super::instruction::Addresses;
use super::opcode::Class;

/// Sector of global and local memory. Unit: bytes.
pub const SECTOR_BYTES: u32 = 32;

/// Where executions of a class of instructions move bytes: those that
/// [`strata_core::image::StaticInstruction::moves_bytes`] holds for.
pub(crate) fn moving_space(class: Class) -> Option<MemorySpace> {
    let moves = class.unit == Unit::Memory && class.space != Some(MemorySpace::Constant);
    // What has addresses but no space moves like global memory.
    moves.then(|| class.space.unwrap_or(MemorySpace::Global))
}

/// Bytes that one execution moves, all lanes together.
pub fn moved_bytes(space: MemorySpace, addresses: Addresses<'_>, bytes_per_lane: u32) -> u32 {
    match space {
        MemorySpace::Global | MemorySpace::Local => {
            sectors(addresses, bytes_per_lane) * SECTOR_BYTES
        }
        MemorySpace::Shared | MemorySpace::Constant => {
            addresses.iter().count() as u32 * bytes_per_lane
        }
    }
}

/// Distinct sectors that one execution touches.
pub fn sectors(addresses: Addresses<'_>, bytes_per_lane: u32) -> u32 {
    // 32 lanes of at most 16 bytes touch two sectors each at most.
    let mut touched = [0_u64; 64];
    let mut count = 0;
    let mut sorted = true;
    for address in addresses.iter() {
        let first = address / u64::from(SECTOR_BYTES);
        let end = address.wrapping_add(u64::from(bytes_per_lane.clamp(1, SECTOR_BYTES)) - 1);
        let last = end / u64::from(SECTOR_BYTES);
        for sector in [first, last] {
            if count == 0 || touched[count - 1] != sector {
                sorted &= count == 0 || touched[count - 1] < sector;
                touched[count] = sector;
                count += 1;
            }
        }
    }
    let touched = &mut touched[..count];
    if sorted {
        return count as u32;
    }
    touched.sort_unstable();
    let repeats = touched.windows(2).filter(|pair| pair[0] == pair[1]).count();
    (count - repeats) as u32
}

/// What the memory instructions of each recorded warp move, in order of execution; one whose mask
/// is empty moves nothing and has no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessStream {
    bytes: Vec<u32>,
    // Warp `i`'s entries are `bytes[starts[i]..starts[i + 1]]`.
    ranges: Vec<(usize, usize)>,
}

impl AccessStream {
    /// The entries of a warp, by its place in [`strata_simt::paths::PathDictionary::warps`]: one
    /// for each memory instruction with addresses that it executed. Unit: bytes. Empty for a place
    /// out of range.
    pub fn of_warp(&self, place: usize) -> &[u32] {
        self.ranges.get(place).map_or(&[], |&(first, end)| &self.bytes[first..end])
    }

    /// All entries.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn push(&mut self, bytes: u32) {
        self.bytes.push(bytes);
    }

    /// Ends a warp whose entries began at `first`.
    pub(crate) fn end_warp(&mut self, first: usize) {
        self.ranges.push((first, self.bytes.len()));
    }

    /// Puts the warps in another order, and drops those that are not in it.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        self.ranges = order.iter().map(|&place| self.ranges[place]).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_counted_once() {
        let stride = |base, stride, lanes| Addresses::Stride { base, stride, lanes };
        assert_eq!(sectors(Addresses::None, 4), 0);
        assert_eq!(sectors(stride(0x1000, 4, 32), 4), 4);
        assert_eq!(sectors(stride(0x1004, 4, 32), 4), 5);
        assert_eq!(sectors(stride(0x1000, 0, 32), 4), 1);
        assert_eq!(sectors(stride(0x1000, 128, 32), 4), 32);
        assert_eq!(sectors(stride(0x1010, 32, 32), 16), 32);
        assert_eq!(sectors(stride(0x1018, 64, 32), 16), 64);
        assert_eq!(sectors(stride(0x1fff, -4, 32), 1), 4);
        assert_eq!(sectors(Addresses::Each(&[0, 64, 0, 64, 32]), 4), 3);
    }

    #[test]
    fn shared_memory_moves_what_lanes_ask_for() {
        let addresses = Addresses::Stride { base: 0, stride: 0, lanes: 7 };
        assert_eq!(moved_bytes(MemorySpace::Shared, addresses, 8), 56);
        assert_eq!(moved_bytes(MemorySpace::Global, addresses, 8), 32);
    }
}
