//! CTA barriers: the lanes that have arrived, and when all have.
//!
//! Without a thread count a barrier waits for every thread of the CTA that has not exited, each by
//! itself, as hardware since Volta does. With a count, a warp counts 32 as soon as all of its
//! threads that have not exited have arrived, and else the threads that have.

use strata_ptx::opcode::BarrierOp;

use super::digest::Digest;

/// Barriers of a CTA that instructions number.
pub(crate) const BARRIERS: usize = 16;
/// The barrier of a cluster, behind them.
pub(crate) const OF_CLUSTER: u32 = BARRIERS as u32;
/// All barriers.
pub(crate) const ALL_BARRIERS: usize = BARRIERS + 1;
/// The barrier that stands for the cluster's where only those with numbers are known.
pub(crate) const IN_PLACE_OF_CLUSTER: u32 = OF_CLUSTER - 1;

/// One barrier's present phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct BarrierState {
    /// Lanes that arrived, by warp.
    pub(crate) arrived: Vec<u32>,
    /// Thread count that the first arrival gave; `None` is every thread.
    count: Option<u32>,
    /// True when a lane has arrived.
    pub(crate) active: bool,
    true_threads: u32,
    all: bool,
    any: bool,
}

/// A reduction's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reduction {
    pub(crate) true_threads: u32,
    pub(crate) all: bool,
    pub(crate) any: bool,
}

impl BarrierState {
    /// All that decides when it completes, and with which result.
    pub(super) fn digest(&self, digest: &mut Digest) {
        let Self { arrived, count, active, true_threads, all, any } = self;
        digest.words(arrived);
        let flags = [*active, *all, *any, count.is_some()].map(u32::from);
        digest.words(&flags);
        digest.words(&[count.unwrap_or(0), *true_threads]);
    }

    /// Begins a new phase.
    pub(crate) fn reset(&mut self, warps: usize) {
        self.arrived.clear();
        self.arrived.resize(warps, 0);
        *self = Self { arrived: std::mem::take(&mut self.arrived), all: true, ..Self::default() };
    }

    /// Lanes of a warp arrive; `truth` are those whose predicate holds.
    pub(crate) fn arrive(
        &mut self,
        warp: usize,
        arriving: u32,
        count: Option<u32>,
        truth: u32,
    ) -> Result<(), &'static str> {
        if count.is_some_and(|count| count == 0 || count % 32 != 0) {
            return Err("the thread count must be a positive multiple of the warp size");
        }
        if self.active && self.count != count {
            return Err("threads arrived with different thread counts");
        }
        if self.arrived[warp] & arriving != 0 {
            return Err("a thread arrived twice before the barrier completed");
        }
        (self.active, self.count) = (true, count);
        self.arrived[warp] |= arriving;
        let truth = truth & arriving;
        self.true_threads += truth.count_ones();
        self.all &= truth == arriving;
        self.any |= truth != 0;
        Ok(())
    }

    /// Threads that arrived and threads that are waited for, given the lanes of each warp that have
    /// not exited.
    pub(crate) fn progress(&self, alive: impl Iterator<Item = u32>) -> (u32, u32) {
        let mut arrived = 0;
        let mut living = 0;
        for (&here, alive) in self.arrived.iter().zip(alive) {
            let whole = self.count.is_some() && here != 0 && alive & !here == 0;
            arrived += if whole { 32 } else { here.count_ones() };
            living += (alive | here).count_ones();
        }
        (arrived, self.count.unwrap_or(living))
    }

    /// The result, when the barrier is complete.
    pub(crate) fn complete(&self, alive: impl Iterator<Item = u32>) -> Option<Reduction> {
        if !self.active {
            return None;
        }
        let (arrived, expected) = self.progress(alive);
        let Self { true_threads, all, any, .. } = *self;
        (arrived >= expected).then_some(Reduction { true_threads, all, any })
    }
}

/// What a reduction writes, as a value for rows or for predicates.
pub(crate) fn result(operation: BarrierOp, reduction: Reduction) -> u32 {
    let everywhere = |truth: bool| if truth { u32::MAX } else { 0 };
    match operation {
        BarrierOp::RedPopc => reduction.true_threads,
        BarrierOp::RedAnd => everywhere(reduction.all),
        BarrierOp::RedOr => everywhere(reduction.any),
        BarrierOp::Sync | BarrierOp::Arrive => 0,
    }
}
