//! What an execution of a strand saves by the entries that it is given.

use strata_core::placement::MAX_ORF_ENTRIES;

/// Numbers of entries that an execution may be given: none to all that a thread can name.
pub(in crate::study::limits) const CHOICES: usize = ENTRIES + 1;
/// Most entries of an execution.
pub(in crate::study::limits) const ENTRIES: usize = MAX_ORF_ENTRIES as usize;

/// What one execution of a strand saves with each number of entries, never less with more. Unit:
/// femtojoules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::study::limits) struct Curve(pub(super) [i64; CHOICES]);

impl Curve {
    /// From what it saves when it uses each number of entries; entries may also stay unused.
    pub(in crate::study::limits) fn new(mut savings: [i64; CHOICES]) -> Self {
        for entries in 1..CHOICES {
            savings[entries] = savings[entries].max(savings[entries - 1]);
        }
        Self(savings)
    }

    /// The fewest entries, of at most `limit`, with which it saves as much as with `limit`.
    pub(super) fn enough(&self, limit: usize) -> usize {
        let limit = limit.min(CHOICES - 1);
        self.0.partition_point(|&savings| savings < self.0[limit])
    }

    /// The corners above `from` of the least concave function that is nowhere below it: ever less
    /// gain for what more entries cost. `costs` are those of all of each number of entries.
    pub(super) fn corners(
        &self,
        from: usize,
        costs: [i128; CHOICES],
    ) -> impl Iterator<Item = usize> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let gain = |to: usize| i128::from(self.0[to] - self.0[at]);
            let cost = |to: usize| costs[to] - costs[at];
            // The steepest rise, and of equal ones the longest.
            let steeper = |a: usize, b: usize| {
                let (ours, theirs) = (gain(b) * cost(a), gain(a) * cost(b));
                if ours >= theirs { b } else { a }
            };
            let next = (at + 1..CHOICES).reduce(steeper).filter(|&next| gain(next) > 0)?;
            at = next;
            Some(next)
        })
    }
}
