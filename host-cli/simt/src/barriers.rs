//! Barriers: where each warp's barrier instructions arrived, equal sequences kept once.

use rustc_hash::FxHashMap;
use strata_core::sm::BarrierCall;

/// Where the barrier instructions of a launch's recorded warps arrived.
///
/// A warp has one entry for each executed instruction at a barrier that has a lane enabled; none at
/// all if every one of them is [`BarrierCall::ALL_THREADS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BarrierDictionary {
    sequences: Vec<Vec<BarrierCall>>,
    warps: Vec<u32>,
    by_sequence: FxHashMap<Vec<BarrierCall>, u32>,
    entries: usize,
}

impl BarrierDictionary {
    /// The entries of a warp, by its place in [`crate::PathDictionary::warps`]; empty for a place
    /// out of range.
    pub fn of_warp(&self, place: usize) -> &[BarrierCall] {
        self.warps.get(place).map_or(&[], |&id| &self.sequences[id as usize])
    }

    /// Entries held.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// True when every barrier is one of all threads of the CTA.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// What it takes. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        // Each sequence is there twice, the second time as a key.
        const SEQUENCE: usize = 128;
        let entries = 2 * self.entries * size_of::<BarrierCall>();
        let warps = size_of_val(self.warps.as_slice());
        (entries + warps + SEQUENCE * self.sequences.len()) as u64
    }

    /// Ends a warp that arrived at these barriers.
    pub fn push_warp(&mut self, sequence: &[BarrierCall]) {
        let plain = sequence.iter().all(|&call| call == BarrierCall::ALL_THREADS);
        let sequence = if plain { &[] } else { sequence };
        let id = self.by_sequence.get(sequence).copied().unwrap_or_else(|| {
            let id = self.sequences.len() as u32;
            self.sequences.push(sequence.to_vec());
            self.by_sequence.insert(sequence.to_vec(), id);
            self.entries += sequence.len();
            id
        });
        self.warps.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_sequences_are_empty_and_equal_ones_kept_once() {
        let named = BarrierCall::new(3, Some(64)).unwrap();
        let mut barriers = BarrierDictionary::default();
        barriers.push_warp(&[BarrierCall::ALL_THREADS; 4]);
        assert!(barriers.is_empty());
        for _ in 0..2 {
            barriers.push_warp(&[BarrierCall::ALL_THREADS, named]);
        }
        assert_eq!(barriers.len(), 2);
        assert!(barriers.of_warp(0).is_empty() && barriers.of_warp(3).is_empty());
        assert_eq!(barriers.of_warp(1), [BarrierCall::ALL_THREADS, named]);
        assert_eq!(barriers.of_warp(2), barriers.of_warp(1));
    }
}
