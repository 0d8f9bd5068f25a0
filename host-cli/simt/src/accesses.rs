//! Accesses: what each warp's memory instructions moved, equal sequences kept once.

use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};

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
}

impl AccessDictionary {
    /// The entries of a warp, by its place in [`crate::PathDictionary::warps`]; empty for a place
    /// out of range, and when accesses were not recorded.
    pub fn of_warp(&self, place: usize) -> &[u32] {
        self.warps.get(place).map_or(&[], |&id| self.sequence(id))
    }

    /// Entries held.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn sequence(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let first = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[first..self.ends[id]]
    }

    /// Ends a warp that moved `sequence`.
    pub fn push_warp(&mut self, sequence: &[u32]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sequences_are_kept_once() {
        let mut accesses = AccessDictionary::default();
        for sequence in [&[1, 2][..], &[], &[1, 2], &[3]] {
            accesses.push_warp(sequence);
        }
        assert_eq!(accesses.len(), 3);
        assert_eq!(accesses.of_warp(0), [1, 2]);
        assert!(accesses.of_warp(1).is_empty());
        assert_eq!(accesses.of_warp(2), [1, 2]);
        assert_eq!(accesses.of_warp(3), [3]);
        assert!(accesses.of_warp(4).is_empty());
    }
}
