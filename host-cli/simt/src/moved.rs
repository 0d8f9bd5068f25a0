//! Moved bytes: what an execution of a memory instruction moves, as the memory system sees it.
//!
//! The one place where lane addresses become traffic, for kernels that are executed, recordings and
//! traces of real GPUs alike.
//!
//! Global and local memory move sectors of 32 bytes (CUDA C++ Best Practices Guide, "Coalesced
//! Access to Global Memory"). Local memory is interleaved by lane: addresses are the thread's own,
//! and a word at one of them is 128 bytes side by side. Shared memory has 32 banks of a word each:
//! words of one bank are served one after another, a word that several lanes read once. What names
//! no addresses (exchanges between lanes) moves a word of each lane.

use crate::row::lanes;
use strata_core::sm::memory::cached::LineUse;

/// Sector of global and local memory. Unit: bytes.
const SECTOR_BYTES: u32 = 32;
/// Word of shared and local memory. Unit: bytes.
const WORD_BYTES: u32 = 4;
/// Banks of shared memory.
const BANKS: u64 = 32;
/// Shared memory passes this many bytes while one bank serves a word, when the SM's bandwidth is
/// that of [RFC2011] Table 4. Unit: bytes.
const BYTES_PER_BANK_CYCLE: u32 = 32;
/// Lanes whose local words share a sector.
const LANES_PER_SECTOR: u32 = SECTOR_BYTES / WORD_BYTES;
/// Size of each window of generic addresses. Unit: bytes.
pub const WINDOW_BYTES: u64 = 1 << 24;

/// The addresses of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses<'a> {
    /// No addresses, or no lane.
    None,
    /// Active lanes in order, each one stride behind the one before.
    Stride {
        /// Address of the first active lane.
        base: u64,
        /// Distance of neighbours. Unit: bytes.
        stride: i64,
        /// Active lanes.
        lanes: u32,
    },
    /// One address for each active lane, in order of lanes.
    Each(&'a [u64]),
}

impl Addresses<'_> {
    /// Those of the first `count` active lanes.
    #[must_use]
    pub fn first(self, count: u32) -> Self {
        match self {
            Self::None => Self::None,
            Self::Stride { lanes, .. } if lanes.min(count) == 0 => Self::None,
            Self::Stride { base, stride, lanes } => {
                Self::Stride { base, stride, lanes: lanes.min(count) }
            }
            Self::Each(each) => Self::Each(&each[..each.len().min(count as usize)]),
        }
    }

    /// The address of each active lane, in order of lanes.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (each, (base, stride, lanes)): (&[u64], _) = match self {
            Self::None => (&[], (0, 0, 0)),
            Self::Stride { base, stride, lanes } => (&[], (*base, *stride, *lanes)),
            Self::Each(each) => (each, (0, 0, 0)),
        };
        let steps =
            (0..lanes).map(move |n| base.wrapping_add_signed(stride.wrapping_mul(n.into())));
        each.iter().copied().chain(steps)
    }
}

/// Which memory the addresses of an instruction lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessSpace {
    /// Global and constant memory.
    Global,
    /// Local memory; each thread's addresses are its own.
    Local,
    /// Shared memory.
    Shared,
    /// Each address says so itself: see [`Windows`].
    Generic,
}

/// What does not change between executions of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessShape {
    /// Memory.
    pub space: AccessSpace,
    /// Bytes that each lane accesses. Range: 1 to 128.
    pub bytes: u32,
    /// What it does with the lines of memory that it touches.
    pub line_use: LineUse,
}

/// Where generic addresses reach other memories than the global one: first addresses of windows of
/// [`WINDOW_BYTES`]; 0 where there is none, or it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Shared memory.
    pub shared: u64,
    /// The thread's local memory.
    pub local: u64,
    /// The kernel's parameters, which move no bytes.
    pub parameters: u64,
}

/// Bytes that one execution moves for the lanes of `mask`, all together. `addresses` has one for
/// each of them; what is missing moves nothing.
#[inline]
pub fn moved_bytes(
    windows: &Windows,
    shape: AccessShape,
    mask: u32,
    addresses: Addresses<'_>,
) -> u32 {
    let shape = AccessShape { bytes: shape.bytes.clamp(1, 128), ..shape };
    let even = Even::of(mask, addresses).and_then(|even| even.moved(windows, shape));
    even.unwrap_or_else(|| lane_by_lane(windows, shape, mask, addresses))
}

/// Accesses of all lanes of a mask at even distances, none of which ends where addresses do: what
/// nearly all rows are, and what needs no look at each lane.
#[derive(Clone, Copy)]
struct Even {
    /// The lowest address, and how far the highest is from it.
    low: u64,
    span: u64,
    /// Distance of neighbours.
    step: u64,
    mask: u32,
    /// Lanes of the mask, at least one.
    lanes: u32,
}

/// Some addresses are inside a window and some are not.
struct Straddles;

impl Even {
    fn of(mask: u32, addresses: Addresses<'_>) -> Option<Self> {
        let (base, stride, lanes) = match addresses {
            Addresses::None => return None,
            Addresses::Stride { base, stride, lanes } => (base, stride, lanes),
            Addresses::Each(each) => {
                let base = *each.first()?;
                let stride = each.get(1).map_or(0, |next| next.wrapping_sub(base) as i64);
                let even = |pair: &[u64]| pair[1] == pair[0].wrapping_add_signed(stride);
                if !each.windows(2).all(even) {
                    return None;
                }
                (base, stride, u32::try_from(each.len()).ok()?)
            }
        };
        if lanes == 0 || lanes != mask.count_ones() {
            return None;
        }
        let step = stride.unsigned_abs();
        let span = step.checked_mul(u64::from(lanes - 1))?;
        let low = if stride < 0 { base.checked_sub(span)? } else { base };
        // Room for the longest access behind the highest address.
        low.checked_add(span)?.checked_add(128)?;
        Some(Self { low, span, step, mask, lanes })
    }

    /// What they move, if that can be told without a look at each lane.
    fn moved(&self, windows: &Windows, shape: AccessShape) -> Option<u32> {
        let bytes = u64::from(shape.bytes);
        match shape.space {
            AccessSpace::Global => self.global(bytes),
            AccessSpace::Local => self.local(bytes),
            AccessSpace::Shared => self.shared(bytes),
            AccessSpace::Generic => {
                if let Some(inside) = self.inside(windows.shared).ok()? {
                    inside.shared(bytes)
                } else if let Some(inside) = self.inside(windows.local).ok()? {
                    inside.local(bytes)
                } else if self.inside(windows.parameters).ok()?.is_some() {
                    Some(0)
                } else {
                    self.global(bytes)
                }
            }
        }
    }

    /// These accesses relative to the start of a window, if all addresses are inside; nothing if
    /// none is.
    fn inside(&self, window: u64) -> Result<Option<Self>, Straddles> {
        let low = self.low.wrapping_sub(window);
        if window == 0 {
            Ok(None)
        } else if low < WINDOW_BYTES {
            let all = self.span < WINDOW_BYTES - low;
            all.then_some(Some(Self { low, ..*self })).ok_or(Straddles)
        } else {
            // Then the window begins behind the lowest address, or not among them.
            (window.wrapping_sub(self.low) > self.span).then_some(None).ok_or(Straddles)
        }
    }

    /// Whether the accesses leave out no unit between the first and the last; otherwise no two of
    /// them share one.
    fn is_dense(&self, bytes: u64, unit: u32) -> bool {
        self.step < bytes + u64::from(unit)
    }

    /// Units of `unit` bytes that the access at an address touches.
    fn units_at(address: u64, bytes: u64, unit: u32) -> u64 {
        (address % u64::from(unit) + bytes - 1) / u64::from(unit) + 1
    }

    /// Units of `unit` bytes that dense accesses touch.
    fn dense_units(&self, bytes: u64, unit: u32) -> u32 {
        Self::units_at(self.low, self.span + bytes, unit) as u32
    }

    fn global(&self, bytes: u64) -> Option<u32> {
        let sectors = if self.is_dense(bytes, SECTOR_BYTES) {
            self.dense_units(bytes, SECTOR_BYTES)
        } else if self.step.is_multiple_of(SECTOR_BYTES.into()) {
            self.lanes * Self::units_at(self.low, bytes, SECTOR_BYTES) as u32
        } else {
            return None;
        };
        Some(sectors * SECTOR_BYTES)
    }

    /// One address for all lanes, as spills have it.
    fn local(&self, bytes: u64) -> Option<u32> {
        if self.step != 0 {
            return None;
        }
        let groups = self.mask.to_le_bytes().iter().filter(|&&group| group != 0).count();
        let words = Self::units_at(self.low, bytes, WORD_BYTES);
        Some(groups as u32 * words as u32 * SECTOR_BYTES)
    }

    fn shared(&self, bytes: u64) -> Option<u32> {
        let (words, degree) = if self.is_dense(bytes, WORD_BYTES) {
            let words = self.dense_units(bytes, WORD_BYTES);
            (words, words.div_ceil(BANKS as u32))
        } else {
            let apart = self.step / u64::from(WORD_BYTES);
            let whole = self.step.is_multiple_of(WORD_BYTES.into());
            if !whole || Self::units_at(self.low, bytes, WORD_BYTES) != 1 {
                return None;
            }
            // Words `apart` apart come back to a bank after this many.
            let period = BANKS as u32 >> apart.trailing_zeros().min(BANKS.trailing_zeros());
            (self.lanes, self.lanes.div_ceil(period))
        };
        Some((words * WORD_BYTES).max(degree * BYTES_PER_BANK_CYCLE))
    }
}

/// Bytes that one execution moves for the lanes of `mask`, all together, at any addresses.
fn lane_by_lane(windows: &Windows, shape: AccessShape, mask: u32, addresses: Addresses<'_>) -> u32 {
    let mut room = [0; 32];
    let each = list(addresses, &mut room);
    match shape.space {
        _ if each.is_empty() => WORD_BYTES * mask.count_ones(),
        AccessSpace::Global => global(each, shape.bytes),
        AccessSpace::Local => local(mask, each, shape.bytes),
        AccessSpace::Shared => shared(each, shape.bytes),
        AccessSpace::Generic => generic(windows, mask, each, shape.bytes),
    }
}

fn list<'r>(addresses: Addresses<'_>, room: &'r mut [u64; 32]) -> &'r mut [u64] {
    let count = match addresses {
        Addresses::None => 0,
        Addresses::Stride { base, stride, lanes } => {
            let mut address = base;
            for slot in &mut room[..lanes.min(32) as usize] {
                *slot = address;
                address = address.wrapping_add_signed(stride);
            }
            lanes.min(32) as usize
        }
        Addresses::Each(each) => {
            let count = each.len().min(32);
            room[..count].copy_from_slice(&each[..count]);
            count
        }
    };
    &mut room[..count]
}

fn generic(windows: &Windows, mask: u32, each: &[u64], bytes: u32) -> u32 {
    let mut rest = [0; 32];
    let (mut others, mut in_shared, mut in_local) = (0, [0; 32], [0; 32]);
    let (mut shared_count, mut local_count, mut local_mask) = (0, 0, 0);
    let inside = |address: u64, base: u64| base != 0 && address.wrapping_sub(base) < WINDOW_BYTES;
    for (lane, &address) in lanes(mask).zip(each) {
        if inside(address, windows.shared) {
            in_shared[shared_count] = address.wrapping_sub(windows.shared);
            shared_count += 1;
        } else if inside(address, windows.local) {
            in_local[local_count] = address.wrapping_sub(windows.local);
            local_count += 1;
            local_mask |= 1 << lane;
        } else if !inside(address, windows.parameters) {
            rest[others] = address;
            others += 1;
        }
    }
    global(&mut rest[..others], bytes)
        + local(local_mask, &mut in_local[..local_count], bytes)
        + shared(&mut in_shared[..shared_count], bytes)
}

fn global(each: &mut [u64], bytes: u32) -> u32 {
    let mut sectors = 0;
    units(each, bytes, SECTOR_BYTES, |_| sectors += 1);
    sectors * SECTOR_BYTES
}

/// The lanes of a sector hold one word each, so that each group of them moves its own sectors.
fn local(mask: u32, each: &mut [u64], bytes: u32) -> u32 {
    let mut sectors = 0;
    let mut rest = each;
    for group in 0..32 / LANES_PER_SECTOR {
        let group = mask >> (group * LANES_PER_SECTOR) & ((1 << LANES_PER_SECTOR) - 1);
        let count = (group.count_ones() as usize).min(rest.len());
        let (here, others) = rest.split_at_mut(count);
        units(here, bytes, WORD_BYTES, |_| sectors += 1);
        rest = others;
    }
    sectors * SECTOR_BYTES
}

fn shared(each: &mut [u64], bytes: u32) -> u32 {
    let mut words = 0;
    let mut in_bank = [0_u32; BANKS as usize];
    units(each, bytes, WORD_BYTES, |word| {
        words += 1;
        in_bank[(word % BANKS) as usize] += 1;
    });
    let degree = in_bank.iter().max().copied().unwrap_or(0);
    (words * WORD_BYTES).max(degree * BYTES_PER_BANK_CYCLE)
}

/// Visits each unit of `unit` bytes that accesses of `bytes` bytes touch, once.
fn units(each: &mut [u64], bytes: u32, unit: u32, mut visit: impl FnMut(u64)) {
    if !each.is_sorted() {
        each.sort_unstable();
    }
    let mut next = 0;
    for &address in &*each {
        let first = (address / u64::from(unit)).max(next);
        // No access wraps around: no memory ends there.
        let end = address.saturating_add(u64::from(bytes) - 1) / u64::from(unit) + 1;
        (first..end).for_each(&mut visit);
        next = next.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::numbers_below;
    use std::collections::BTreeSet;

    const WINDOWS: Windows = Windows { shared: 1 << 40, local: 2 << 40, parameters: 3 << 40 };

    fn moved(space: AccessSpace, mask: u32, bytes: u32, address: impl Fn(u64) -> u64) -> u32 {
        let each: Vec<u64> = lanes(mask).map(|lane| address(lane as u64)).collect();
        moved_bytes(
            &WINDOWS,
            AccessShape { space, bytes, line_use: LineUse::Load },
            mask,
            Addresses::Each(&each),
        )
    }

    #[test]
    fn sectors_are_moved_once() {
        let global = |mask, bytes, address: &dyn Fn(u64) -> u64| {
            moved(AccessSpace::Global, mask, bytes, address)
        };
        assert_eq!(global(u32::MAX, 4, &|lane| 0x1000 + 4 * lane), 128);
        assert_eq!(global(u32::MAX, 4, &|lane| 0x1004 + 4 * lane), 160);
        assert_eq!(global(u32::MAX, 4, &|_| 0x1000), 32);
        assert_eq!(global(0xf, 4, &|lane| 0x1000 + 128 * lane), 128);
        assert_eq!(global(u32::MAX, 4, &|lane| 0x1000 + 4 * (lane ^ 8)), 128);
        assert_eq!(global(u32::MAX, 4, &|lane| 0x1000 + 124 - 4 * lane), 128);
        assert_eq!(global(u32::MAX, 16, &|lane| 0x1000 + 16 * lane), 512);
        assert_eq!(global(u32::MAX, 16, &|lane| 0x1018 + 64 * lane), 64 * 32);
        assert_eq!(global(u32::MAX, 1, &|lane| 0x1fff - 4 * lane), 128);
        assert_eq!(global(3, 8, &|_| u64::MAX - 1), 32, "nothing wraps around");
        assert_eq!(global(0, 4, &|_| 0x1000), 0);
    }

    #[test]
    fn a_local_word_of_all_lanes_lies_side_by_side() {
        let local = |mask, bytes, address: &dyn Fn(u64) -> u64| {
            moved(AccessSpace::Local, mask, bytes, address)
        };
        assert_eq!(local(u32::MAX, 4, &|_| 8), 128);
        assert_eq!(local(u32::MAX, 8, &|_| 8), 256);
        assert_eq!(local(1, 4, &|_| 8), 32);
        assert_eq!(local(1 << 7 | 1 << 8, 4, &|_| 8), 64);
        assert_eq!(local(u32::MAX, 4, &|lane| 4 * lane), 32 * 32);
    }

    #[test]
    fn words_of_one_bank_wait_for_each_other() {
        let shared = |bytes, address: &dyn Fn(u64) -> u64| {
            moved(AccessSpace::Shared, u32::MAX, bytes, address)
        };
        assert_eq!(shared(4, &|lane| 4 * lane), 128);
        assert_eq!(shared(4, &|_| 64), 32);
        assert_eq!(shared(8, &|lane| 8 * lane), 256);
        assert_eq!(shared(4, &|lane| 8 * lane), 128);
        assert_eq!(shared(4, &|lane| 128 * lane), 32 * 32);
        assert_eq!(shared(16, &|lane| 16 * lane), 512);
    }

    #[test]
    fn without_addresses_a_word_of_each_lane_moves() {
        let shape = AccessShape { space: AccessSpace::Shared, bytes: 4, line_use: LineUse::Load };
        assert_eq!(moved_bytes(&WINDOWS, shape, 0xff, Addresses::None), 32);
        assert_eq!(moved_bytes(&WINDOWS, shape, 0, Addresses::None), 0);
    }

    #[test]
    fn generic_addresses_go_where_they_point() {
        let (shared, local, parameters) = (WINDOWS.shared, WINDOWS.local, WINDOWS.parameters);
        let generic =
            |mask, address: &dyn Fn(u64) -> u64| moved(AccessSpace::Generic, mask, 4, address);
        assert_eq!(generic(u32::MAX, &|lane| shared + 128 * lane), 32 * 32);
        assert_eq!(generic(u32::MAX, &|_| local + 8), 128);
        assert_eq!(generic(u32::MAX, &|_| parameters), 0);
        assert_eq!(generic(u32::MAX, &|_| shared - 4), 32);
        let mixed = |lane| [shared, local, parameters, 0x1000][lane as usize % 4] + 64 * (lane / 4);
        // Shared: eight words in two banks. Local: two lanes in each sector's group, each with its
        // own word. Elsewhere: eight sectors.
        assert_eq!(generic(u32::MAX, &mixed), 4 * 32 + 8 * 32 + 8 * 32);
        let unknown = Windows::default();
        let shape = AccessShape { space: AccessSpace::Generic, bytes: 4, line_use: LineUse::Load };
        let stride = Addresses::Stride { base: 0, stride: 4, lanes: 32 };
        assert_eq!(moved_bytes(&unknown, shape, u32::MAX, stride), 128);
    }

    /// Byte by byte, with sets.
    fn obvious(space: AccessSpace, mask: u32, each: &[u64], bytes: u32) -> u32 {
        let touched = || {
            lanes(mask).zip(each).flat_map(|(lane, &first)| {
                (first..first + u64::from(bytes)).map(move |b| (lane, b))
            })
        };
        let words: BTreeSet<u64> = touched().map(|(_, byte)| byte / 4).collect();
        let sectors: BTreeSet<u64> = match space {
            AccessSpace::Local => {
                touched().map(|(lane, byte)| (byte / 4 * 32 + lane as u64) * 4 / 32).collect()
            }
            AccessSpace::Global => touched().map(|(_, byte)| byte / 32).collect(),
            AccessSpace::Shared | AccessSpace::Generic => {
                let in_bank = |bank| words.iter().filter(|&&word| word % 32 == bank).count() as u32;
                let worst = (0..32).map(in_bank).max().unwrap_or(0);
                return (4 * words.len() as u32).max(32 * worst);
            }
        };
        32 * sectors.len() as u32
    }

    #[test]
    fn every_space_agrees_with_a_count_of_bytes() {
        for seed in 1..=20_000_u64 {
            let mut below = numbers_below(seed);
            let mask = [u32::MAX, below(1 << 32) as u32, 1 << below(32)][below(3) as usize];
            let bytes = [1, 2, 4, 8, 16, 32][below(6) as usize];
            let (range, align) = ([64, 512, 1 << 14][below(3) as usize], [1, u64::from(bytes)]);
            let align = align[below(2) as usize];
            let base = below(1 << 20);
            let each: Vec<u64> =
                lanes(mask).map(|_| (base + below(range)) / align * align).collect();
            for space in [AccessSpace::Global, AccessSpace::Local, AccessSpace::Shared] {
                let shape = AccessShape { space, bytes, line_use: LineUse::Load };
                let found = moved_bytes(&WINDOWS, shape, mask, Addresses::Each(&each));
                let expected = if mask == 0 { 0 } else { obvious(space, mask, &each, bytes) };
                assert_eq!(found, expected, "seed {seed}, {space:?}");
            }
        }
    }

    #[test]
    fn rows_at_even_distances_move_what_they_do_lane_by_lane() {
        let (mut told, mut rows) = (0, 0);
        for seed in 1..=60_000_u64 {
            let mut below = numbers_below(seed);
            let mask = [u32::MAX, below(1 << 32) as u32, 1 << below(32)][below(3) as usize];
            let bytes = [1, 2, 3, 4, 8, 12, 16, 128, 200, 0][below(10) as usize];
            let stride = [0, 4, 32, below(300), 4 * below(300), below(1 << 24)][below(6) as usize];
            let stride = if below(3) == 0 { -(stride as i64) } else { stride as i64 };
            let windows = [
                WINDOWS,
                Windows::default(),
                Windows { shared: u64::MAX - 200, local: 1 << 24, parameters: 1 << 25 },
                Windows { shared: 1 << 24, local: (1 << 24) + 100, parameters: 1 << 23 },
            ][below(4) as usize];
            let place = [windows.shared, windows.local, windows.parameters, 1 << 25, 0];
            let end = [0, WINDOW_BYTES][below(2) as usize];
            let place = place[below(5) as usize].wrapping_add(end);
            let base = place.wrapping_add(below(600)).wrapping_sub(below(300));
            // A row for some other number of lanes is none for this mask.
            let lanes = mask.count_ones().saturating_sub((below(8) == 0).into());
            let row = Addresses::Stride { base, stride, lanes };
            let each: Vec<u64> = row.iter().collect();
            for space in
                [AccessSpace::Global, AccessSpace::Local, AccessSpace::Shared, AccessSpace::Generic]
            {
                let shape = AccessShape { space, bytes, line_use: LineUse::Load };
                let clamped = AccessShape { bytes: bytes.clamp(1, 128), ..shape };
                let expected = lane_by_lane(&windows, clamped, mask, row);
                for row in [row, Addresses::Each(&each)] {
                    let found = moved_bytes(&windows, shape, mask, row);
                    assert_eq!(found, expected, "seed {seed}, {space:?}, {row:x?}");
                    let even = Even::of(mask, row).and_then(|row| row.moved(&windows, clamped));
                    told += u32::from(even.is_some());
                    rows += 1;
                }
            }
        }
        assert!(told > rows / 3, "{told} of {rows} were told without a look at each lane");
    }
}
