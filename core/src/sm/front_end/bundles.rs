//! Bundles: warps that issue PREF before an instruction, and wait for registers from scratchpad
//! memory; and the limit of active warps that a warp's end may set.
//!
//! Source: `[EXPARS]` 3.3.4 and 3.3.6; `docs/MODEL.md`, rules 45 and 46.

use super::{FrontEnd, Sight};
use crate::sm::active_limit::Issued;
use crate::sm::expansion::counters::ExpansionEvent;
use crate::sm::kernel::Kernel;
use crate::sm::observe::{Observation, SmObserver};
use crate::sm::run::Run;
use crate::sm::trace::Trace;
use crate::sm::wait::{ReadyAt, Wait};

impl<T: Trace> FrontEnd<'_, T> {
    /// An active warp waits for its next PREF, which needs no operand.
    #[cold]
    pub(super) fn await_prefetch(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64) {
        let fetch = self.warps[warp].fetch;
        if fetch.is_pending() {
            self.await_completion(warp, fetch, sight, (now, None));
        } else if fetch.cycle() <= now {
            self.sets.ready |= 1 << warp;
        } else {
            self.await_known(warp, fetch);
        }
    }

    /// Whether the next thing that a warp issues is the PREF before its next instruction.
    #[inline]
    pub(in crate::sm) const fn needs_prefetch(&self, warp: usize) -> bool {
        self.prefetched >> warp & 1 == 0
    }

    /// PREF of a warp has issued; the warp is `held` until the registers of its bundle are there.
    pub(in crate::sm) fn prefetch(
        &mut self,
        warp: usize,
        held: bool,
        sight: Sight<'_, '_>,
        now: u64,
    ) {
        let bit = 1 << warp;
        self.sets.ready &= !bit;
        self.prefetched |= bit;
        self.held |= u64::from(held) << warp;
        self.warps[warp].fetch = ReadyAt::new(now + 1, Wait::InOrder);
        self.await_operands(warp, sight, now);
    }

    /// The first instruction of a warp's bundle issues.
    #[inline]
    pub(in crate::sm) const fn enter_bundle(&mut self, warp: usize) {
        self.prefetched &= !(1 << warp);
    }

    /// The registers of these warps' bundles are there.
    #[inline]
    pub(in crate::sm) const fn fetched(&mut self, warps: u64) {
        self.fetched |= warps;
    }

    /// Whether a warp whose registers are there waits until fewer warps are active.
    #[inline]
    pub(in crate::sm) const fn has_fetched(&self) -> bool {
        self.fetched != 0
    }

    /// Warps of the active set that do not wait for registers.
    #[inline]
    pub(super) const fn schedulable(&self) -> u32 {
        (self.active & !self.held).count_ones()
    }

    /// Has warps whose registers are there wait no longer, as far as the limit of active warps
    /// allows; those with the lowest places first.
    #[inline]
    pub(super) const fn schedule_fetched(&mut self, limit: u32) {
        while self.fetched != 0 && self.schedulable() < limit {
            let bit = self.fetched & self.fetched.wrapping_neg();
            self.fetched &= !bit;
            self.held &= !bit;
        }
    }

    /// Warps that are ready.
    pub(in crate::sm) const fn ready(&self) -> u64 {
        self.sets.ready
    }

    /// Whether a warp stands between two bundles: what it issues next is in another one than what
    /// it issued last.
    pub(in crate::sm) fn is_between_bundles(&self, warp: usize, kernel: &Kernel<'_>) -> bool {
        let state = &self.warps[warp];
        let begins = || kernel.facts(state.pc).begins_bundle;
        let waits = self.needs_prefetch(warp) || (self.held & !self.fetched) >> warp & 1 != 0;
        state.left == 0 || waits && begins()
    }

    /// A warp that ends may set the limit of the active set.
    pub(super) fn limit_active_warps<O: SmObserver>(&mut self, warp: usize, run: &mut Run<O>) {
        let (warps, ctas) = (&*self.warps, &*self.ctas);
        let issued = || {
            let mut resident = ctas.iter().fold(0, |all, cta| all | cta.warps);
            let (first, count) = (warps[warp].given, resident.count_ones());
            let mut all = 0;
            while resident != 0 {
                let state = &warps[resident.trailing_zeros() as usize];
                resident &= resident - 1;
                all += state.given - u64::from(state.left);
            }
            Issued { first, all, warps: count }
        };
        if let Some(limit) = self.limit.warp_ends(issued) {
            let cycle = run.now;
            run.counters.expansion.record(ExpansionEvent::OptimalWarps, limit.into());
            run.tell(|| Observation::ActiveLimit { cycle, warps: limit as u8 });
        }
    }
}
