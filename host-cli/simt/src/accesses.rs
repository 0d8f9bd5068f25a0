//! Accesses: what each warp's memory instructions moved, equal sequences kept once, and where they
//! did, handed over CTA by CTA.

use crate::moved::{AccessShape, Addresses, Windows, moved_bytes};
use crate::numbers::{Source, put};
use crate::rows::History;
use crate::touched::TouchedLines;
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use strata_core::sm::memory::cached::AccessList;
use strata_core::sm::memory::touched::Touched;

/// Most entries that readers of traces and recordings hold, those of equal warps once, and those of
/// the warp that is read beside them. 4 bytes each.
pub const MAX_ACCESSES: usize = 1 << 27;

/// What the recorded warps of a launch moved. Unit of every entry: bytes.
///
/// A warp has one entry for each executed instruction of which
/// [`strata_core::image::StaticInstruction::moves_bytes`] holds and that has a lane enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessDictionary {
    bytes: Vec<u32>,
    // Sequence `i` is `bytes[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
    warps: Vec<u32>,
    by_hash: FxHashMap<u64, Vec<u32>>,
    lines: Option<LinesOfWarps>,
    /// Entries: accesses, and lines.
    entries: usize,
}

/// The lines that the recorded warps touched, for memories that know addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LinesOfWarps {
    touched: TouchedLines,
    /// The place of each warp's first access in the list.
    first: Vec<u32>,
}

/// What each warp moved and touched, warp by warp: the same in whatever order they ended.
impl Hash for AccessDictionary {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.warps.len().hash(to);
        for place in 0..self.warps.len() {
            let moved = self.of_warp(place);
            moved.hash(to);
            let Some(list) = self.list() else { continue };
            let first = self.first_of_warp(place);
            (0..moved.len() as u32).for_each(|access| list.hash_access(first + access, to));
        }
    }
}

/// What a running warp's memory instructions do, in order.
#[derive(Clone, Debug, Default)]
pub struct WarpAccesses {
    /// What each moves. Unit: bytes.
    moved: Vec<u32>,
    /// The lines that each touches, if they are recorded.
    touched: Option<TouchedLines>,
    /// What one of them touches, while lines are recorded.
    one: Option<Box<Touched>>,
    /// How many lines these are, and what they do in banks.
    lines: usize,
}

impl WarpAccesses {
    /// None so far; `lines` says whether the lines that they touch are recorded as well.
    pub fn new(lines: bool) -> Self {
        Self {
            moved: Vec::new(),
            touched: lines.then(TouchedLines::default),
            one: lines.then(|| Box::new(Touched::nothing())),
            lines: 0,
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.moved.clear();
        if let Some(touched) = &mut self.touched {
            touched.clear();
            self.lines = 0;
        }
    }

    /// Keeps memory for so many entries only.
    pub(crate) fn shrink_to(&mut self, entries: usize) {
        self.moved.shrink_to(entries);
        if let Some(touched) = &mut self.touched {
            touched.shrink_to(entries);
        }
    }

    /// Whether lines are recorded.
    pub(crate) const fn has_lines(&self) -> bool {
        self.touched.is_some()
    }

    /// Entries: accesses, and lines.
    #[inline]
    pub const fn len(&self) -> usize {
        self.moved.len() + self.lines
    }

    /// True without an access.
    pub fn is_empty(&self) -> bool {
        self.moved.is_empty()
    }

    /// What they take. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let touched = self.touched.as_ref().map_or(0, TouchedLines::bytes);
        size_of_val(self.moved.as_slice()) as u64 + touched
    }

    /// Adds one execution; `addresses` has one for each lane of `mask`.
    #[inline]
    pub fn note(
        &mut self,
        windows: &Windows,
        shape: AccessShape,
        mask: u32,
        addresses: Addresses<'_>,
    ) {
        self.moved.push(moved_bytes(windows, shape, mask, addresses));
        if let (Some(touched), Some(one)) = (&mut self.touched, &mut self.one) {
            touched.push(one, windows, shape, mask, addresses);
            self.lines = touched.beside_accesses();
        }
    }
}

impl AccessDictionary {
    /// The entries of a warp, by its place in [`crate::PathDictionary::warps`]; empty for a place
    /// out of range, and when accesses were not recorded.
    pub fn of_warp(&self, place: usize) -> &[u32] {
        self.warps.get(place).map_or(&[], |&id| self.sequence(id))
    }

    /// The lines of the warps' accesses, if they were recorded.
    pub fn list(&self) -> Option<AccessList<'_>> {
        self.lines.as_ref().map(|lines| lines.touched.list())
    }

    /// The place in the list of the first access of a warp, by the warp's place.
    pub fn first_of_warp(&self, place: usize) -> u32 {
        let lines = self.lines.as_ref();
        lines.and_then(|lines| lines.first.get(place).copied()).unwrap_or(0)
    }

    /// Entries held: accesses, and lines.
    #[inline]
    pub const fn len(&self) -> usize {
        self.entries
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What it takes. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        // A sequence's end, and its place by hash.
        const SEQUENCE: usize = 96;
        let held = size_of_val(self.bytes.as_slice()) + size_of_val(self.warps.as_slice());
        let lines = self.lines.as_ref();
        let lines = lines.map_or(0, |of| of.touched.bytes() + 4 * of.first.len() as u64);
        (held + SEQUENCE * self.ends.len()) as u64 + lines
    }

    fn sequence(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let first = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[first..self.ends[id]]
    }

    /// Puts the warps in another order, and drops those that are not in it.
    pub fn reorder(&mut self, order: &[usize]) {
        self.warps = order.iter().filter_map(|&place| self.warps.get(place).copied()).collect();
        if let Some(LinesOfWarps { first, .. }) = &mut self.lines {
            *first = order.iter().filter_map(|&place| first.get(place).copied()).collect();
        }
    }

    /// Ends a warp.
    pub fn push_warp(&mut self, accesses: &WarpAccesses) {
        if let Some(touched) = &accesses.touched {
            let lines = self.lines.get_or_insert_default();
            lines.first.push(lines.touched.len() as u32);
            lines.touched.extend(touched);
        }
        self.push_sequence(&accesses.moved);
        let listed = self.lines.as_ref().map_or(0, |lines| lines.touched.entries());
        self.entries = self.bytes.len() + listed;
    }

    fn push_sequence(&mut self, sequence: &[u32]) {
        let mut hasher = rustc_hash::FxHasher::default();
        sequence.hash(&mut hasher);
        let hash = hasher.finish();
        let known = self.by_hash.get(&hash).into_iter().flatten().copied();
        let found = known.into_iter().find(|&id| self.sequence(id) == sequence);
        let id = found.unwrap_or_else(|| {
            let id = self.ends.len() as u32;
            self.bytes.extend_from_slice(sequence);
            self.ends.push(self.bytes.len());
            self.by_hash.entry(hash).or_default().push(id);
            id
        });
        self.warps.push(id);
    }
}

/// Receives the addresses of a launch while it runs, one CTA after the other, of each CTA the warps
/// in order.
pub trait AddressSink {
    /// The next warp begins.
    fn begin(&mut self, cta: u64, warp: u32) {
        let _ = (cta, warp);
    }

    /// It executed a memory instruction with addresses, under a mask that is not empty. What moves
    /// no bytes (constants, parameters) is left out, as are exchanges between lanes.
    fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>);
}

/// Bytes for which a log keeps its memory from one CTA to the next.
const KEPT_BYTES: usize = 1 << 20;

/// The addresses that a running warp has touched, in few bytes: of each access the program counter
/// and the mask, as differences, and its row.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressLog {
    bytes: Vec<u8>,
    history: History,
    last: (u32, u32),
}

impl AddressLog {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.history.clear();
        self.last = (0, 0);
    }

    /// Bytes held.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn push(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) {
        put(&mut self.bytes, pc.wrapping_sub(self.last.0).into());
        put(&mut self.bytes, (mask ^ self.last.1).into());
        self.last = (pc, mask);
        self.history.put(&mut self.bytes, pc, addresses);
    }

    /// Hands everything over, and empties the log.
    pub(crate) fn drain(&mut self, sink: &mut dyn AddressSink) {
        let mut source = Source(&self.bytes);
        self.history.clear();
        let (mut pc, mut mask) = (0_u32, 0_u32);
        let mut room = [0; 32];
        // The log's own bytes always make sense.
        while let (Some(step), Some(change)) = (source.small::<u32>(), source.small::<u32>()) {
            pc = pc.wrapping_add(step);
            mask ^= change;
            let row = self.history.get(&mut source, pc, mask.count_ones(), &mut room);
            let Some(addresses) = row else { break };
            sink.access(pc, mask, addresses);
        }
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sequences_are_kept_once() {
        let mut accesses = AccessDictionary::default();
        for sequence in [&[1, 2][..], &[], &[1, 2], &[3]] {
            accesses.push_sequence(sequence);
        }
        assert_eq!(accesses.bytes.len(), 3);
        assert_eq!(accesses.of_warp(0), [1, 2]);
        assert!(accesses.of_warp(1).is_empty());
        assert_eq!(accesses.of_warp(2), [1, 2]);
        assert_eq!(accesses.of_warp(3), [3]);
        assert!(accesses.of_warp(4).is_empty());
        accesses.reorder(&[3, 0]);
        assert_eq!(accesses.of_warp(0), [3]);
        assert_eq!(accesses.of_warp(1), [1, 2]);
        assert!(accesses.of_warp(2).is_empty());
    }

    #[derive(Default)]
    struct Seen(Vec<(u32, u32, Vec<u64>)>);

    impl AddressSink for Seen {
        fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) {
            self.0.push((pc, mask, addresses.iter().collect()));
        }
    }

    #[test]
    fn a_log_gives_back_what_it_was_given() {
        let mut log = AddressLog::default();
        let mut expected = Vec::new();
        for turn in 0..2000_u64 {
            let pc = [7, 3, 60_000, 0][turn as usize % 4];
            let mask = [u32::MAX, 1, 0x8000_0001, 0xff00][(turn / 3) as usize % 4];
            let lanes = u64::from(mask.count_ones());
            let each: Vec<u64> = (0..lanes)
                .map(|lane| turn * 128 + lane * [4, turn * turn][turn as usize % 2])
                .collect();
            log.push(pc, mask, Addresses::Each(&each));
            expected.push((pc, mask, each));
        }
        for _ in 0..2 {
            let mut seen = Seen::default();
            log.drain(&mut seen);
            assert_eq!(seen.0, expected);
            assert_eq!(log.len(), 0);
            for (pc, mask, each) in &expected {
                log.push(*pc, *mask, Addresses::Each(each));
            }
        }
    }
}
