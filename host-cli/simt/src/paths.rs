//! Paths: what each warp executed, each distinct path kept once.
//!
//! A warp's path is hashed while it runs, as runs of consecutive instructions under one mask, and
//! looked up when the warp ends. Equal hashes are compared in full, so a collision costs time and
//! never a wrong answer.
//!
//! A dictionary of many paths is taken in parts ([`PathInterner::take`]) by users that need no path
//! twice: the counts of a path do not depend on the others.

use rustc_hash::FxHashMap;
use strata_core::path::PathStep;
use strata_core::units::LaneMask;

/// Most path steps, and most warps, of a launch in a trace or in a recording. 12 bytes a step, 16 a
/// warp.
pub const MAX_PATH_STEPS: u64 = 1 << 24;

/// What a distinct path takes beside its steps: its end, its count and its place by hash. Unit:
/// bytes.
const PATH_BYTES: u64 = 48;

/// Steps for which a recorder keeps its memory from one warp to the next.
const KEPT_STEPS: usize = 1 << 16;

/// Distinct paths of a launch, and which warp took which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathDictionary {
    steps: Vec<PathStep>,
    // Path `i` is `steps[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
    counts: Vec<u64>,
    warps: Vec<WarpPath>,
}

/// The path one warp took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpPath {
    /// CTA, by linear index (x fastest).
    pub cta: u64,
    /// Warp within the CTA.
    pub warp: u32,
    /// Path: an index into the dictionary.
    pub path: u32,
}

impl PathDictionary {
    /// Distinct paths.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when no warp was recorded.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The steps of a path; empty for a number out of range.
    pub fn path(&self, id: u32) -> &[PathStep] {
        let id = id as usize;
        let first = if id == 0 { 0 } else { self.ends.get(id - 1).copied().unwrap_or(0) };
        self.ends.get(id).map_or(&[], |&end| &self.steps[first..end])
    }

    /// How many recorded warps took a path.
    pub fn count(&self, id: u32) -> u64 {
        self.counts.get(id as usize).copied().unwrap_or(0)
    }

    /// The distinct paths in order of first appearance, each with its multiplicity.
    pub fn iter(&self) -> impl Iterator<Item = (&[PathStep], u64)> {
        (0..self.len() as u32).map(|id| (self.path(id), self.count(id)))
    }

    /// Instructions of all recorded warps. Unit: warp instructions.
    pub fn warp_instructions(&self) -> u64 {
        let length = |path: &[PathStep]| path.iter().map(|step| u64::from(step.length)).sum();
        self.iter().fold(0_u64, |all, (path, warps)| {
            all.saturating_add(warps.saturating_mul(length(path)))
        })
    }

    /// The recorded warps, by CTA and then by warp.
    pub fn warps(&self) -> &[WarpPath] {
        &self.warps
    }

    /// These paths with other numbers for the instructions, and the warps in order of CTA and warp.
    /// `number` must give different instructions different numbers.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let mut recorder = PathRecorder::default();
        let mut steps = Vec::with_capacity(self.steps.len());
        let mut ends = Vec::with_capacity(self.ends.len());
        for (path, _) in self.iter() {
            recorder.start(true);
            for step in path {
                for pc in step.pc..step.pc + step.length {
                    recorder.note(number(pc), step.mask.0);
                }
            }
            recorder.flush();
            steps.extend_from_slice(&recorder.steps);
            ends.push(steps.len());
        }
        let mut warps = self.warps.clone();
        warps.sort_by_key(|warp| (warp.cta, warp.warp));
        Self { steps, ends, counts: self.counts.clone(), warps }
    }

    /// Rebuilds a dictionary: `steps` of all paths one after the other, the end of each path, and
    /// the path of each warp. `None` if the parts do not fit each other, or if a run is empty.
    pub fn from_parts(
        steps: Vec<PathStep>,
        ends: Vec<usize>,
        mut warps: Vec<WarpPath>,
    ) -> Option<Self> {
        let ordered = ends.windows(2).all(|pair| pair[0] <= pair[1]);
        let whole = ends.last().copied().unwrap_or(0) == steps.len();
        let runs = steps.iter().all(|step| step.length != 0);
        if !ordered || !whole || !runs {
            return None;
        }
        let mut counts = vec![0; ends.len()];
        for warp in &warps {
            *counts.get_mut(warp.path as usize)? += 1;
        }
        warps.sort_by_key(|warp| (warp.cta, warp.warp));
        Some(Self { steps, ends, counts, warps })
    }

    /// Only the warps that `keep` accepts, and the paths they took.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&WarpPath) -> bool) -> Self {
        let mut kept = Self::default();
        let mut new_number: Vec<Option<u32>> = vec![None; self.len()];
        for warp in self.warps.iter().filter(|warp| keep(warp)) {
            let number = &mut new_number[warp.path as usize];
            let path = *number.get_or_insert_with(|| {
                kept.steps.extend_from_slice(self.path(warp.path));
                kept.ends.push(kept.steps.len());
                kept.counts.push(0);
                kept.ends.len() as u32 - 1
            });
            kept.counts[path as usize] += 1;
            kept.warps.push(WarpPath { path, ..*warp });
        }
        kept
    }
}

/// A path while its warp runs.
#[derive(Clone, Debug, Default)]
pub struct PathRecorder {
    steps: Vec<PathStep>,
    pc: u32,
    length: u32,
    mask: u32,
    hash: u64,
    recording: bool,
}

impl PathRecorder {
    /// Begins a warp. Without `recording` nothing is kept, and [`PathInterner::intern`] does
    /// nothing.
    pub fn start(&mut self, recording: bool) {
        self.clear();
        (self.pc, self.length, self.mask, self.hash) = (0, 0, 0, 0);
        self.recording = recording;
    }

    /// Gives up what it holds, and records no more of this warp.
    pub(crate) fn stop(&mut self) {
        self.start(false);
    }

    /// Gives up the steps, and their memory if that is much.
    fn clear(&mut self) {
        self.steps.clear();
        self.steps.shrink_to(KEPT_STEPS);
    }

    /// Notes one instruction.
    #[inline]
    pub fn note(&mut self, pc: u32, mask: u32) {
        if self.mask == mask && self.pc.wrapping_add(self.length) == pc && self.length != 0 {
            self.length += 1;
        } else {
            self.flush();
            (self.pc, self.length, self.mask) = (pc, 1, mask);
        }
    }

    #[inline]
    fn flush(&mut self) {
        if self.length != 0 && self.recording {
            let step = PathStep { pc: self.pc, length: self.length, mask: LaneMask(self.mask) };
            for word in [u64::from(self.pc) << 32 | u64::from(self.length), u64::from(self.mask)] {
                self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
            self.steps.push(step);
        }
        self.length = 0;
    }

    /// True when no finished step is held.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Steps held.
    pub fn len(&self) -> u64 {
        self.steps.len() as u64
    }

    /// Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(self.steps.as_slice()) as u64
    }
}

/// Collects the paths of a launch.
#[derive(Debug, Default)]
pub struct PathInterner {
    dictionary: PathDictionary,
    /// The last path of each hash.
    by_hash: FxHashMap<u64, u32>,
    /// The path before with the same hash, of each path that has one.
    before: FxHashMap<u32, u32>,
}

impl PathInterner {
    /// Ends a warp's path.
    pub fn intern(&mut self, cta: u64, warp: u32, recorder: &mut PathRecorder) {
        recorder.flush();
        if !recorder.recording {
            return;
        }
        let path = self.find(recorder).unwrap_or_else(|| self.add(recorder));
        self.dictionary.counts[path as usize] += 1;
        self.dictionary.warps.push(WarpPath { cta, warp, path });
        recorder.clear();
    }

    fn find(&self, recorder: &PathRecorder) -> Option<u32> {
        let last = self.by_hash.get(&recorder.hash).copied();
        let same = |&id: &u32| self.dictionary.path(id) == recorder.steps.as_slice();
        std::iter::successors(last, |id| self.before.get(id).copied()).find(same)
    }

    fn add(&mut self, recorder: &PathRecorder) -> u32 {
        let dictionary = &mut self.dictionary;
        let id = dictionary.ends.len() as u32;
        dictionary.steps.extend_from_slice(&recorder.steps);
        dictionary.ends.push(dictionary.steps.len());
        dictionary.counts.push(0);
        if let Some(before) = self.by_hash.insert(recorder.hash, id) {
            self.before.insert(id, before);
        }
        id
    }

    /// Path steps and warps held by the dictionary, whichever are more.
    pub fn held(&self) -> u64 {
        self.dictionary.steps.len().max(self.dictionary.warps.len()) as u64
    }

    /// What the dictionary takes. Unit: bytes.
    pub fn bytes(&self) -> u64 {
        let PathDictionary { steps, ends, warps, .. } = &self.dictionary;
        let held = size_of_val(steps.as_slice()) + size_of_val(warps.as_slice());
        held as u64 + PATH_BYTES * ends.len() as u64
    }

    /// Hands over what it has collected, and begins an empty dictionary.
    pub fn take(&mut self) -> PathDictionary {
        std::mem::take(self).finish()
    }

    /// The finished dictionary.
    pub fn finish(self) -> PathDictionary {
        self.dictionary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(path: &[(u32, u32)]) -> PathRecorder {
        let mut recorder = PathRecorder::default();
        recorder.start(true);
        for &(pc, mask) in path {
            recorder.note(pc, mask);
        }
        recorder.flush();
        recorder
    }

    fn record(interner: &mut PathInterner, warp: u32, path: &[(u32, u32)]) {
        interner.intern(0, warp, &mut finished(path));
    }

    #[test]
    fn consecutive_instructions_under_one_mask_merge() {
        let mut interner = PathInterner::default();
        record(&mut interner, 0, &[(0, 3), (1, 3), (2, 1), (3, 1), (3, 1), (0, 3)]);
        let dictionary = interner.finish();
        let step = |pc, length, mask| PathStep { pc, length, mask: LaneMask(mask) };
        assert_eq!(
            dictionary.path(0),
            [step(0, 2, 3), step(2, 2, 1), step(3, 1, 1), step(0, 1, 3)]
        );
    }

    #[test]
    fn renumbering_merges_and_splits_runs_and_orders_warps() {
        let mut interner = PathInterner::default();
        record(&mut interner, 1, &[(0, 3), (1, 3), (2, 3)]);
        record(&mut interner, 0, &[(0, 3), (2, 3)]);
        let dictionary = interner.finish().renumbered(|pc| [5, 7, 6][pc as usize]);
        let step = |pc, length| PathStep { pc, length, mask: LaneMask(3) };
        assert_eq!(dictionary.path(0), [step(5, 1), step(7, 1), step(6, 1)]);
        assert_eq!(dictionary.path(1), [step(5, 2)]);
        let warps: Vec<_> = dictionary.warps().iter().map(|w| (w.warp, w.path)).collect();
        assert_eq!(warps, [(0, 1), (1, 0)]);
    }

    #[test]
    fn parts_that_do_not_fit_give_no_dictionary() {
        let steps = vec![PathStep { pc: 1, length: 2, mask: LaneMask(3) }; 3];
        let warp = |warp, path| WarpPath { cta: 0, warp, path };
        let made = |ends: &[usize], warps: &[WarpPath]| {
            PathDictionary::from_parts(steps.clone(), ends.to_vec(), warps.to_vec())
        };
        let dictionary = made(&[1, 3], &[warp(4, 1), warp(2, 0), warp(3, 1)]).unwrap();
        assert_eq!((dictionary.count(0), dictionary.count(1)), (1, 2));
        assert_eq!((dictionary.path(1).len(), dictionary.warps()[0].warp), (2, 2));
        assert_eq!(made(&[1, 2], &[]), None, "a step is left over");
        assert_eq!(made(&[2, 1, 3], &[]), None, "a path ends before it begins");
        assert_eq!(made(&[3], &[warp(0, 1)]), None, "no such path");
        let empty = vec![PathStep { pc: 0, length: 0, mask: LaneMask(1) }];
        assert_eq!(PathDictionary::from_parts(empty, vec![1], Vec::new()), None);
    }

    #[test]
    fn filtering_drops_the_paths_of_dropped_warps() {
        let mut interner = PathInterner::default();
        record(&mut interner, 0, &[(0, 1)]);
        record(&mut interner, 1, &[(1, 1)]);
        record(&mut interner, 2, &[(1, 1)]);
        let dictionary = interner.finish().filtered(|warp| warp.warp != 0);
        assert_eq!(dictionary.len(), 1);
        assert_eq!((dictionary.count(0), dictionary.path(0)[0].pc), (2, 1));
        let warps: Vec<_> = dictionary.warps().iter().map(|w| (w.warp, w.path)).collect();
        assert_eq!(warps, [(1, 0), (2, 0)]);
    }

    #[test]
    fn equal_paths_share_an_entry_and_hash_collisions_do_not_confuse() {
        let mut interner = PathInterner::default();
        record(&mut interner, 0, &[(0, 1), (1, 1)]);
        record(&mut interner, 1, &[(0, 1), (1, 2)]);
        record(&mut interner, 2, &[(0, 1), (1, 1)]);
        // The same hash for a different path, forced; then that path again, and the first.
        let first = finished(&[(0, 1), (1, 1)]);
        for warp in [3, 4] {
            let mut recorder = finished(&[(9, 9)]);
            recorder.hash = first.hash;
            interner.intern(0, warp, &mut recorder);
        }
        record(&mut interner, 5, &[(0, 1), (1, 1)]);
        let dictionary = interner.finish();
        assert_eq!(dictionary.len(), 3);
        assert_eq!(dictionary.iter().map(|(_, count)| count).collect::<Vec<_>>(), [3, 1, 2]);
        let ids: Vec<_> = dictionary.warps().iter().map(|warp| warp.path).collect();
        assert_eq!(ids, [0, 1, 0, 2, 2, 0]);
        assert!(dictionary.path(7).is_empty());
    }
}
