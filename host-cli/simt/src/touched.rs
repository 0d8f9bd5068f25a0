//! Touched: the lines that memory instructions touch, for memories that know addresses.
//!
//! The rules are those of `strata_core::sm::memory::touched`; which memory a generic address lies
//! in follows from the same windows as the bytes that it moves ([`crate::moved`]).

use rustc_hash::FxHashMap;
use strata_core::sm::memory::cached::{AccessList, ListedAccess};
use strata_core::sm::memory::touched::{
    AddressSpace, BankPattern, MOST_LANE_BYTES, Touched, TouchedLine,
};

use crate::moved::{AccessShape, AccessSpace, Addresses, WINDOW_BYTES, Windows};
use crate::row::lanes;

/// Accesses in order, with their lines, and what they do in banks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedLines {
    accesses: Vec<ListedAccess>,
    lines: Vec<TouchedLine>,
    patterns: Patterns,
}

/// What accesses do in banks, each kept once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Patterns {
    // Invariant: all differ.
    all: Vec<BankPattern>,
    places: FxHashMap<BankPattern, u32>,
    /// The place of the one that was asked for last: the next access often does the same.
    last: u32,
}

impl Patterns {
    /// The place of a pattern, which is kept from now on.
    fn place(&mut self, pattern: &BankPattern) -> u32 {
        if self.all.get(self.last as usize) != Some(pattern) {
            self.last = *self.places.entry(*pattern).or_insert_with(|| {
                self.all.push(*pattern);
                self.all.len() as u32 - 1
            });
        }
        self.last
    }

    fn clear(&mut self) {
        self.all.clear();
        self.places.clear();
    }
}

impl TouchedLines {
    /// The accesses, their lines and their patterns, as a memory takes them.
    pub fn list(&self) -> AccessList<'_> {
        let patterns = &self.patterns.all;
        AccessList { accesses: &self.accesses, lines: &self.lines, patterns }
    }

    /// Accesses.
    pub(crate) fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Lines, and what accesses do in banks.
    pub(crate) fn beside_accesses(&self) -> usize {
        self.lines.len() + self.patterns.all.len()
    }

    /// Accesses, lines, and what accesses do in banks.
    pub(crate) fn entries(&self) -> usize {
        self.accesses.len() + self.beside_accesses()
    }

    /// What it takes. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        // With its place by what it is.
        const PATTERN: usize = 2 * size_of::<BankPattern>() + 8;
        let held = size_of_val(self.accesses.as_slice()) + size_of_val(self.lines.as_slice());
        (held + PATTERN * self.patterns.all.len()) as u64
    }

    pub(crate) fn clear(&mut self) {
        self.accesses.clear();
        self.lines.clear();
        self.patterns.clear();
    }

    /// Keeps memory for so many entries only.
    pub(crate) fn shrink_to(&mut self, entries: usize) {
        self.accesses.shrink_to(entries);
        self.lines.shrink_to(entries);
        self.patterns.all.shrink_to(entries);
        self.patterns.places.shrink_to(entries);
    }

    /// Adds all of another's.
    pub(crate) fn extend(&mut self, other: &Self) {
        let by = self.lines.len() as u32;
        let mut place = |pattern| self.patterns.place(pattern);
        let places: Vec<u32> = other.patterns.all.iter().map(&mut place).collect();
        let moved = |access: &ListedAccess| access.moved_on(by, places[access.pattern() as usize]);
        self.accesses.extend(other.accesses.iter().map(moved));
        self.lines.extend_from_slice(&other.lines);
    }

    /// Adds one execution; `addresses` has one for each lane of `mask`. `touched` is replaced.
    pub(crate) fn push(
        &mut self,
        touched: &mut Touched,
        windows: &Windows,
        shape: AccessShape,
        mask: u32,
        addresses: Addresses<'_>,
    ) {
        let first = self.lines.len();
        let mut pattern = BankPattern::default();
        let each = || lanes(mask).map(|lane| lane as u32).zip(addresses.iter());
        let only = match shape.space {
            AccessSpace::Global => Some(AddressSpace::Global),
            AccessSpace::Local => Some(AddressSpace::Local),
            AccessSpace::Shared => Some(AddressSpace::Shared),
            AccessSpace::Generic => None,
        };
        if let Some(space) = only {
            match span(shape, mask, addresses) {
                Some((first, last)) => touched.refill_span(space, first, last),
                None => touched.refill(space, shape.bytes, each()),
            }
            self.add(space, touched, &mut pattern);
        } else {
            for space in [AddressSpace::Shared, AddressSpace::Global, AddressSpace::Local] {
                let here = each().filter_map(|(lane, address)| {
                    let (lies_in, address) = place(windows, address)?;
                    (lies_in == space).then_some((lane, address))
                });
                touched.refill(space, shape.bytes, here);
                self.add(space, touched, &mut pattern);
            }
        }
        let count = self.lines.len() - first;
        let lines = (first as u32, count as u16);
        let pattern = self.patterns.place(&pattern);
        self.accesses.push(ListedAccess::new(shape.line_use, lines, pattern));
    }

    /// Adds what an execution touches in one space.
    fn add(&mut self, space: AddressSpace, touched: &Touched, pattern: &mut BankPattern) {
        if touched.lines().len() == 0 {
            return;
        }
        pattern.add(touched);
        if space != AddressSpace::Shared {
            self.lines.extend(touched.lines());
        }
    }
}

/// The first and the last byte of an execution whose lanes access neighbouring bytes of global or
/// shared memory; `None` of others, and of what may reach the last address.
fn span(shape: AccessShape, mask: u32, addresses: Addresses<'_>) -> Option<(u64, u64)> {
    let Addresses::Stride { base, stride, lanes } = addresses else { return None };
    let bytes = shape.bytes;
    let lanes = lanes.min(mask.count_ones());
    let is_even = shape.space != AccessSpace::Local
        && (1..=MOST_LANE_BYTES).contains(&bytes)
        && (stride == i64::from(bytes) || lanes == 1)
        && lanes != 0;
    is_even.then_some(())?;
    let end = base.checked_add(u64::from(lanes * bytes))?;
    Some((base, end - 1))
}

/// The memory that a generic address lies in, and the address in it; none for parameters, which
/// move nothing.
fn place(windows: &Windows, address: u64) -> Option<(AddressSpace, u64)> {
    let inside = |base: u64| {
        let offset = address.wrapping_sub(base);
        (base != 0 && offset < WINDOW_BYTES).then_some(offset)
    };
    if let Some(offset) = inside(windows.shared) {
        Some((AddressSpace::Shared, offset))
    } else if let Some(offset) = inside(windows.local) {
        Some((AddressSpace::Local, offset))
    } else if inside(windows.parameters).is_some() {
        None
    } else {
        Some((AddressSpace::Global, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moved::moved_bytes;
    use crate::random::numbers_below;
    use strata_core::sm::memory::cached::LineUse;
    use strata_core::sm::memory::touched::BankMapping;

    const WINDOWS: Windows = Windows { shared: 1 << 40, local: 2 << 40, parameters: 3 << 40 };

    fn shape(space: AccessSpace, bytes: u32) -> AccessShape {
        AccessShape { space, bytes, line_use: LineUse::Load }
    }

    /// Sectors of 32 bytes are rows in transactions of 32 bytes: lines and moved bytes agree.
    #[test]
    fn lines_hold_the_sectors_that_move() {
        for seed in 1..=5000_u64 {
            let mut below = numbers_below(seed);
            let mask = [u32::MAX, below(1 << 32) as u32, 1 << below(32)][below(3) as usize];
            let bytes = [1, 2, 4, 8, 16][below(5) as usize];
            let (range, base) = ([64, 512, 1 << 14][below(3) as usize], below(1 << 20));
            let each: Vec<u64> = lanes(mask).map(|_| base + below(range)).collect();
            for space in [AccessSpace::Global, AccessSpace::Local] {
                let mut touched = TouchedLines::default();
                let addresses = Addresses::Each(&each);
                touched.push(
                    &mut Touched::nothing(),
                    &WINDOWS,
                    shape(space, bytes),
                    mask,
                    addresses,
                );
                let found: u32 = touched.lines.iter().map(|line| line.bytes_in(32)).sum();
                let moved = moved_bytes(&WINDOWS, shape(space, bytes), mask, addresses);
                assert_eq!(found, if mask == 0 { 0 } else { moved }, "seed {seed}, {space:?}");
            }
        }
    }

    /// Addresses at even distances touch what each of them does, whatever was touched before.
    #[test]
    fn neighbours_touch_what_each_lane_does() {
        let mut used = Touched::nothing();
        let mut spans = 0;
        for seed in 1..=20_000_u64 {
            let mut below = numbers_below(seed);
            let few = 1 << below(32) | 1 << below(32);
            let mask = [u32::MAX, below(1 << 32) as u32, few][below(3) as usize];
            let bytes = [1, 2, 3, 4, 8, 16, 128, 200][below(8) as usize];
            let strides = [i64::from(bytes), 0, 4, -4, 64, 132];
            let stride = strides[below(6) as usize];
            let base = [below(1 << 12), WINDOWS.shared, u64::MAX - below(1 << 10)];
            let count = mask.count_ones();
            let base = base[below(3) as usize];
            let row = Addresses::Stride { base, stride, lanes: count };
            let each: Vec<u64> = row.iter().collect();
            let spaces = [
                AccessSpace::Global,
                AccessSpace::Shared,
                AccessSpace::Local,
                AccessSpace::Generic,
            ];
            let shape = shape(spaces[below(4) as usize], bytes);
            let (mut even, mut lane_by_lane) = (TouchedLines::default(), TouchedLines::default());
            even.push(&mut used, &WINDOWS, shape, mask, row);
            let fresh = &mut Touched::nothing();
            lane_by_lane.push(fresh, &WINDOWS, shape, mask, Addresses::Each(&each));
            assert_eq!(even, lane_by_lane, "seed {seed}: {shape:?}, {mask:08x}, {row:?}");
            spans += u32::from(span(shape, mask, row).is_some());
        }
        assert!((1000..19_000).contains(&spans), "{spans}");
    }

    #[test]
    fn generic_addresses_touch_the_memories_that_they_lie_in() {
        let mut touched = TouchedLines::default();
        let each: Vec<u64> = (0..32)
            .map(|lane| {
                [WINDOWS.shared, WINDOWS.local, WINDOWS.parameters, 0x1000][lane % 4]
                    + 128 * (lane as u64 / 4)
            })
            .collect();
        let generic = shape(AccessSpace::Generic, 4);
        touched.push(&mut Touched::nothing(), &WINDOWS, generic, u32::MAX, Addresses::Each(&each));
        // 8 lines of global memory, and 8 words of local memory.
        assert_eq!(touched.lines.len(), 16);
        assert_eq!(touched.lines.iter().filter(|line| line.is_local()).count(), 8);
        // Shared: 8 words in one bank. Global: 8 words in one. Local: each word in its own lane's.
        assert_eq!(touched.accesses, [ListedAccess::new(LineUse::Load, (0, 16), 0)]);
        let pattern = touched.patterns.all[0];
        let expected = {
            let words = |space, address: fn(u64) -> u64, first: u32| {
                let each = (0..8).map(|i| (first + 4 * i, address(u64::from(i))));
                Touched::new(space, 4, each).cycles()
            };
            words(AddressSpace::Shared, |i| 128 * i, 0)
                .and(words(AddressSpace::Global, |i| 0x1000 + 128 * i, 3))
                .and(words(AddressSpace::Local, |i| 128 * i, 1))
        };
        assert_eq!(pattern.cycles, expected);
        // Of shared memory alone: 8 words in two rows of each bank.
        assert_eq!((pattern.shared_words, pattern.shared_rows.total()), (8, 8));
        assert_eq!(pattern.shared_rows.most_in_each_bank(), [2; 4]);
        let alone = Touched::new(AddressSpace::Shared, 4, (0..8).map(|i| (i, 128 * u64::from(i))));
        assert_eq!(alone.cycles().of(BankMapping::Partitioned), 8);
    }

    #[test]
    fn lists_follow_each_other() {
        let mut first = TouchedLines::default();
        let global = shape(AccessSpace::Global, 4);
        let row = |base| Addresses::Stride { base, stride: 4, lanes: 32 };
        first.push(&mut Touched::nothing(), &WINDOWS, global, u32::MAX, row(0x80));
        let mut second = TouchedLines::default();
        second.push(&mut Touched::nothing(), &WINDOWS, global, u32::MAX, row(0x100));
        second.push(&mut Touched::nothing(), &WINDOWS, global, u32::MAX, Addresses::None);
        first.extend(&second);
        let mut whole = TouchedLines::default();
        whole.push(&mut Touched::nothing(), &WINDOWS, global, u32::MAX, row(0x80));
        whole.push(&mut Touched::nothing(), &WINDOWS, global, u32::MAX, row(0x100));
        whole.push(&mut Touched::nothing(), &WINDOWS, global, u32::MAX, Addresses::None);
        assert_eq!(first, whole);
        assert_eq!((first.len(), first.lines.len()), (3, 2));
        // A whole line twice, and nothing.
        assert_eq!(first.patterns.all.len(), 2);
        assert_eq!(first.entries(), 3 + 2 + 2);
    }

    /// What every access of a list does in banks is what it does alone, in every order of lists.
    #[test]
    fn a_pattern_is_kept_once() {
        for seed in 1..=100_u64 {
            let mut below = numbers_below(seed);
            let (mut whole, mut parts) = (TouchedLines::default(), TouchedLines::default());
            let mut expected = Vec::new();
            for _ in 0..below(6) {
                let mut part = TouchedLines::default();
                for _ in 0..below(10) {
                    let addresses = Addresses::Stride {
                        base: 4 * below(8),
                        stride: 4 * below(3) as i64,
                        lanes: 32,
                    };
                    let space = [AccessSpace::Shared, AccessSpace::Global][below(2) as usize];
                    for list in [&mut whole, &mut part] {
                        list.push(
                            &mut Touched::nothing(),
                            &WINDOWS,
                            shape(space, 4),
                            u32::MAX,
                            addresses,
                        );
                    }
                    let mut alone = TouchedLines::default();
                    alone.push(
                        &mut Touched::nothing(),
                        &WINDOWS,
                        shape(space, 4),
                        u32::MAX,
                        addresses,
                    );
                    expected.push(alone.patterns.all[0]);
                }
                parts.extend(&part);
            }
            assert_eq!((&parts.accesses, &parts.lines), (&whole.accesses, &whole.lines));
            let list = parts.list();
            let found = list.accesses.iter().map(|access| list.patterns[access.pattern() as usize]);
            assert_eq!(found.collect::<Vec<_>>(), expected, "seed {seed}");
            let different: std::collections::HashSet<_> = expected.iter().collect();
            assert_eq!(list.patterns.len(), different.len(), "seed {seed}");
        }
    }
}
