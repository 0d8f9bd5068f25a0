//! Warps at barriers: who waits, who leaves the active set, and who goes on.

use super::{FrontEnd, Sight};
use crate::image::Flags;
use crate::sm::barrier::{AT_BARRIERS, BarrierCall};
use crate::sm::config::BarrierRule;
use crate::sm::fault::Fault;
use crate::sm::observe::SmObserver;
use crate::sm::run::Run;
use crate::sm::trace::Trace;
use crate::sm::wait::{ReadyAt, Wait};
use crate::units::LaneMask;

impl<T: Trace> FrontEnd<'_, T> {
    /// Where an instruction arrives, if it is one at a barrier.
    #[cold]
    pub(super) fn next_barrier(&mut self, warp: usize, flags: Flags) -> BarrierCall {
        let trace = self.warps[warp].trace.as_mut();
        let trace = trace.filter(|_| flags.intersects(AT_BARRIERS));
        trace.map_or(BarrierCall::ALL_THREADS, Trace::next_barrier)
    }

    /// An arrival at a barrier, or an exit. Returns whether the barrier makes the warp leave the
    /// active set.
    pub(super) fn arrive_or_exit<O: SmObserver>(
        &mut self,
        warp: usize,
        (flags, mask, call): (Flags, LaneMask, BarrierCall),
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<bool, Fault> {
        let state = &mut self.warps[warp];
        let cta = usize::from(state.cta);
        if flags.contains(Flags::EXIT) {
            state.live = state.live.without(mask);
        }
        if flags.intersects(AT_BARRIERS) {
            state.at_barriers.arrive(call, mask, flags.contains(Flags::BARRIER));
            self.named_barriers |= u64::from(call != BarrierCall::ALL_THREADS) << warp;
            self.ctas[cta].barriers.arrive(call);
        }
        self.warps[warp].at_barrier = self.is_held(warp);
        self.count_whole(warp);
        self.release_barriers(cta, sight, run)?;
        let always = self.policy.barrier == BarrierRule::Always;
        let passes = always && sight.kernel.rules.after(flags).deschedule;
        Ok(passes || self.leaves_at_barrier(warp))
    }

    /// The warp's next instructions may be for lanes that wait at a named barrier. Returns whether
    /// that makes it leave the active set.
    #[cold]
    pub(super) fn hold_lanes(&mut self, warp: usize) -> bool {
        self.warps[warp].at_barrier = self.is_held(warp);
        self.leaves_at_barrier(warp)
    }

    /// Whether a warp that waits leaves the active set.
    ///
    /// Lanes that exit or have been let go may leave others at a barrier at which the warp was
    /// descheduled before. It must not wait in the active set, so it is descheduled once more.
    fn leaves_at_barrier(&self, warp: usize) -> bool {
        let blocked = self.warps[warp].at_barrier;
        blocked && self.policy.two_level && self.policy.barrier != BarrierRule::Never
    }

    /// Whether a warp waits: when all its lanes do. Lanes that do not wait run on while the others
    /// do, which at a named barrier must not be those.
    fn is_held(&self, warp: usize) -> bool {
        let state = &self.warps[warp];
        let (waiting, named) = (state.at_barriers.waiting(), state.at_barriers.named());
        let all = !waiting.is_empty() && state.live.without(waiting).is_empty();
        state.left != 0 && (all || !named.and(state.mask).is_empty())
    }

    /// Tells the CTA at which barriers a whole warp has arrived now; one that ends is at none.
    fn count_whole(&mut self, warp: usize) {
        let state = &mut self.warps[warp];
        let barriers = &mut self.ctas[usize::from(state.cta)].barriers;
        barriers.count(&mut state.at_barriers, state.live, state.left == 0);
    }

    /// A warp has issued its last instruction.
    pub(super) fn end_at_barriers<O: SmObserver>(
        &mut self,
        warp: usize,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        self.count_whole(warp);
        self.release_barriers(usize::from(self.warps[warp].cta), sight, run)
    }

    /// Releases the warps at the barriers of a CTA that are complete.
    fn release_barriers<O: SmObserver>(
        &mut self,
        cta: usize,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        for id in self.ctas[cta].barriers.open() {
            if self.is_complete(cta, id) {
                self.release(cta, id, sight, run)?;
            }
        }
        Ok(())
    }

    fn is_complete(&self, cta: usize, id: u8) -> bool {
        let cta = &self.ctas[cta];
        cta.barriers.is_complete(id, cta.running, || {
            let mut arrived = 0;
            let mut warps = cta.warps;
            while warps != 0 {
                let state = &self.warps[warps.trailing_zeros() as usize];
                warps &= warps - 1;
                arrived += state.at_barriers.threads_at(id, state.live, state.left == 0);
            }
            arrived
        })
    }

    fn release<O: SmObserver>(
        &mut self,
        cta: usize,
        id: u8,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        self.ctas[cta].barriers.close(id);
        let release = ReadyAt::new(run.now + self.policy.barrier_latency, Wait::InOrder);
        let mut warps = self.ctas[cta].warps;
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            let bit = 1 << warp;
            warps &= warps - 1;
            let state = &mut self.warps[warp];
            state.at_barriers.release(id);
            let waiting = state.at_barriers.waiting();
            // What comes next may be for lanes that still wait at another barrier.
            let none_free = state.live.without(waiting).is_empty();
            if !state.at_barrier || none_free || !waiting.and(state.mask).is_empty() {
                continue;
            }
            state.at_barrier = false;
            self.settle_fetch(warp, sight, run.now);
            let state = &mut self.warps[warp];
            state.fetch = state.fetch.max(release);
            if self.sets.barrier & bit != 0 {
                self.sets.barrier &= !bit;
                self.proceed(warp, false, sight, run)?;
            } else if self.sets.pending & bit != 0 {
                self.await_return(warp, sight, run.now);
            }
        }
        Ok(())
    }
}
