//! Barriers of a CTA: which lanes have arrived where, and when everybody may go on.
//!
//! Models: 16 named barriers, with or without a number of threads; arrivals that do not wait; lanes
//! of a warp that arrive apart, or at different barriers.
//! Does not model: values of reductions; arrivals of different phases that a program without other
//! synchronisation mixes: an arrival before the last phase is complete counts as that phase's.
//! Source: PTX's `barrier`, as the functional executor takes it; `docs/MODEL.md`, rule 18.

use super::config::BarrierRule;
use super::facts::{ReadyAt, Wait};
use super::fault::Fault;
use super::machine::Sm;
use super::observe::SmObserver;
use super::warp::Trace;
use crate::image::Flags;
use crate::units::{LANES, LaneMask};

/// Barriers of a CTA.
pub const BARRIERS: usize = 16;

/// Of instructions at barriers.
pub(super) const AT_BARRIERS: Flags = Flags::BARRIER.union(Flags::ARRIVES);

/// Which barrier an instruction arrives at, and who takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BarrierCall {
    id: u8,
    /// 0 for every thread that has not exited.
    threads: u16,
}

impl BarrierCall {
    /// Barrier 0, every thread.
    pub const EVERYBODY: Self = Self { id: 0, threads: 0 };

    /// A barrier below [`BARRIERS`], and the threads that take part: a multiple of 32 up to 65504,
    /// or every thread that has not exited. `None` for others.
    pub const fn new(id: u32, threads: Option<u32>) -> Option<Self> {
        let threads = match threads {
            None => 0,
            Some(threads) if threads > 0 && threads % LANES == 0 && threads < 1 << 16 => threads,
            Some(_) => return None,
        };
        if id as usize >= BARRIERS {
            return None;
        }
        Some(Self { id: id as u8, threads: threads as u16 })
    }
}

/// Where the lanes of a warp have arrived, and where they wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BarrierLanes {
    /// Lanes that have arrived at each barrier.
    arrived: [LaneMask; BARRIERS],
    /// The number of the barrier at which each lane of `waiting` waits, a bit of it in each.
    number: [LaneMask; 4],
    /// Lanes that wait.
    waiting: LaneMask,
    /// Of these, lanes whose call names the barrier or its threads.
    named: LaneMask,
    /// Bit `i`: all lanes have arrived at barrier `i`, and the CTA has counted that.
    whole: u16,
}

impl BarrierLanes {
    /// No lane has arrived anywhere.
    pub(crate) const NOWHERE: Self = Self {
        arrived: [LaneMask::EMPTY; BARRIERS],
        number: [LaneMask::EMPTY; 4],
        waiting: LaneMask::EMPTY,
        named: LaneMask::EMPTY,
        whole: 0,
    };

    fn wait_at(&mut self, call: BarrierCall, lanes: LaneMask) {
        let id = call.id;
        self.waiting = self.waiting.or(lanes);
        if call != BarrierCall::EVERYBODY {
            self.named = self.named.or(lanes);
        }
        for (bit, number) in self.number.iter_mut().enumerate() {
            let others = number.without(lanes);
            *number = if id >> bit & 1 != 0 { others.or(lanes) } else { others };
        }
    }

    /// Forgets who has arrived at a barrier, and lets those go who wait at it.
    fn release(&mut self, id: u8) {
        self.arrived[usize::from(id)] = LaneMask::EMPTY;
        self.whole &= !(1 << id);
        let mut at = self.waiting;
        for (bit, number) in self.number.iter().enumerate() {
            at = if id >> bit & 1 != 0 { at.and(*number) } else { at.without(*number) };
        }
        self.waiting = self.waiting.without(at);
        self.named = self.named.without(at);
    }
}

/// The barriers of a CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CtaBarriers {
    /// Bit `i`: somebody has arrived at barrier `i`.
    open: u16,
    /// Threads that the first to arrive named.
    threads: [u16; BARRIERS],
    /// Warps, of those that have not ended, all of whose lanes have arrived.
    whole: [u8; BARRIERS],
}

/// The numbers of a mask's bits, lowest first.
fn numbers(mut mask: u16) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let number = (mask != 0).then(|| mask.trailing_zeros() as u8)?;
        mask &= mask - 1;
        Some(number)
    })
}

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// Where an instruction arrives, if it is one at a barrier.
    #[cold]
    pub(super) fn next_barrier(&mut self, warp: usize, flags: Flags) -> BarrierCall {
        let trace = self.memory.warps[warp].trace.as_mut();
        let trace = trace.filter(|_| flags.intersects(AT_BARRIERS));
        trace.map_or(BarrierCall::EVERYBODY, Trace::next_barrier)
    }

    /// An arrival at a barrier, or an exit. Returns whether the barrier makes the warp leave the
    /// active set.
    pub(super) fn arrive_or_exit(
        &mut self,
        warp: usize,
        flags: Flags,
        mask: LaneMask,
        call: BarrierCall,
    ) -> Result<bool, Fault> {
        let state = &mut self.memory.warps[warp];
        let cta = usize::from(state.cta);
        if flags.contains(Flags::EXIT) {
            state.live = state.live.without(mask);
        }
        if flags.intersects(AT_BARRIERS) {
            let lanes = &mut state.at_barriers;
            let arrived = &mut lanes.arrived[usize::from(call.id)];
            *arrived = arrived.or(mask);
            if flags.contains(Flags::BARRIER) {
                lanes.wait_at(call, mask);
            }
            self.named_barriers |= u64::from(call != BarrierCall::EVERYBODY) << warp;
            let barriers = &mut self.ctas[cta].barriers;
            if barriers.open >> call.id & 1 == 0 {
                barriers.open |= 1 << call.id;
                barriers.threads[usize::from(call.id)] = call.threads;
            }
        }
        self.memory.warps[warp].at_barrier = self.is_held(warp);
        self.count_whole(warp);
        self.release_barriers(cta)?;
        let always = self.config.settings().barrier == BarrierRule::Always;
        let passes = always && self.rules.after(flags).deschedule;
        Ok(passes || self.leaves_at_barrier(warp))
    }

    /// The warp's next instructions may be for lanes that wait at a named barrier. Returns whether
    /// that makes it leave the active set.
    #[cold]
    pub(super) fn hold_lanes(&mut self, warp: usize) -> bool {
        self.memory.warps[warp].at_barrier = self.is_held(warp);
        self.leaves_at_barrier(warp)
    }

    /// Whether a warp that waits leaves the active set.
    ///
    /// Lanes that exit or have been let go may leave others at a barrier at which the warp was
    /// descheduled before. It must not wait in the active set, so it is descheduled once more.
    fn leaves_at_barrier(&self, warp: usize) -> bool {
        let blocked = self.memory.warps[warp].at_barrier;
        blocked && self.rules.two_level && self.config.settings().barrier != BarrierRule::Never
    }

    /// Whether a warp waits: when all its lanes do. Lanes that do not wait run on while the others
    /// do, which at a named barrier must not be those.
    fn is_held(&self, warp: usize) -> bool {
        let state = &self.memory.warps[warp];
        let lanes = &state.at_barriers;
        let all = !lanes.waiting.is_empty() && state.live.without(lanes.waiting).is_empty();
        state.left != 0 && (all || !lanes.named.and(state.mask).is_empty())
    }

    /// Tells the CTA at which barriers a whole warp has arrived now; one that ends is at none.
    fn count_whole(&mut self, warp: usize) {
        let state = &mut self.memory.warps[warp];
        let lanes = &mut state.at_barriers;
        let barriers = &mut self.ctas[usize::from(state.cta)].barriers;
        for id in numbers(barriers.open) {
            let arrived = lanes.arrived[usize::from(id)];
            let missing = state.live.without(arrived);
            let whole = state.left != 0 && !arrived.is_empty() && missing.is_empty();
            if whole != (lanes.whole >> id & 1 != 0) {
                lanes.whole ^= 1 << id;
                let count = &mut barriers.whole[usize::from(id)];
                *count = if whole { *count + 1 } else { *count - 1 };
            }
        }
    }

    /// A warp has issued its last instruction.
    pub(super) fn end_at_barriers(&mut self, warp: usize) -> Result<(), Fault> {
        self.count_whole(warp);
        self.release_barriers(usize::from(self.memory.warps[warp].cta))
    }

    /// Lets everybody go on at the barriers of a CTA that are complete.
    fn release_barriers(&mut self, cta: usize) -> Result<(), Fault> {
        for id in numbers(self.ctas[cta].barriers.open) {
            if self.is_complete(cta, id) {
                self.release(cta, id)?;
            }
        }
        Ok(())
    }

    fn is_complete(&self, cta: usize, id: u8) -> bool {
        let cta = &self.ctas[cta];
        let whole = u32::from(cta.barriers.whole[usize::from(id)]);
        let threads = u32::from(cta.barriers.threads[usize::from(id)]);
        if threads == 0 {
            return whole != 0 && whole == cta.running;
        }
        let mut arrived = 0;
        let mut warps = cta.warps;
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            warps &= warps - 1;
            let state = &self.memory.warps[warp];
            let here = state.at_barriers.arrived[usize::from(id)];
            let all = state.left == 0 || state.live.without(here).is_empty();
            arrived += match here.0.count_ones() {
                0 => 0,
                _ if all => LANES,
                some => some,
            };
        }
        arrived >= threads
    }

    fn release(&mut self, cta: usize, id: u8) -> Result<(), Fault> {
        let barriers = &mut self.ctas[cta].barriers;
        barriers.open &= !(1 << id);
        barriers.whole[usize::from(id)] = 0;
        let latency = u64::from(self.config.settings().timing.barrier_latency);
        let release = ReadyAt::new(self.now + latency, Wait::InOrder);
        let mut warps = self.ctas[cta].warps;
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            let bit = 1 << warp;
            warps &= warps - 1;
            let state = &mut self.memory.warps[warp];
            state.at_barriers.release(id);
            let lanes = &state.at_barriers;
            // What comes next may be for lanes that still wait at another barrier.
            let none_free = state.live.without(lanes.waiting).is_empty();
            if !state.at_barrier || none_free || !lanes.waiting.and(state.mask).is_empty() {
                continue;
            }
            state.at_barrier = false;
            state.fetch = state.fetch.max(release);
            if self.sets.barrier & bit != 0 {
                self.sets.barrier &= !bit;
                self.proceed(warp, false)?;
            } else if self.sets.pending & bit != 0 {
                self.await_return(warp);
            }
        }
        Ok(())
    }
}
