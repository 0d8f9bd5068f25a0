//! Lives of warps: launch, the runs of the trace, the end.

use super::{Cta, Departure, FrontEnd, Phase, Sight, Warp};
use crate::event::Event;
use crate::sm::barrier::CtaBarriers;
use crate::sm::config::MAX_RESIDENT_WARPS;
use crate::sm::counters::CycleEvent;
use crate::sm::fault::Fault;
use crate::sm::kernel::Kernel;
use crate::sm::observe::SmObserver;
use crate::sm::run::Run;
use crate::sm::trace::{MemoryAccess, Trace};
use crate::sm::wait::{ReadyAt, Wait};

/// What the event of a warp, other than that its operands are there, is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sm) enum Due {
    /// Nothing more.
    Done,
    /// It leaves the active set.
    Leaves(Departure),
    /// Its levels are empty: it gives its place up.
    Flushed(Departure),
    /// Its last result has arrived.
    Drained,
}

impl<T: Trace> FrontEnd<'_, T> {
    /// Puts the next warps of the CTA that is being launched, or of the next one, into these slots,
    /// the first into the lowest. Returns whether the CTA's launch is complete.
    pub(in crate::sm) fn launch(
        &mut self,
        cta: u8,
        mut slots: u64,
        traces: &mut impl Iterator<Item = T>,
        now: u64,
    ) -> Result<bool, Fault> {
        let expected = self.policy.warps_per_cta;
        let mismatch = Fault::WarpsInCta { cta: self.launched_ctas, expected };
        if self.placed == 0 {
            let (number, barriers) = (self.launched_ctas, CtaBarriers::CLOSED);
            self.ctas[usize::from(cta)] = Cta { number, warps: 0, running: expected, barriers };
        }
        self.ctas[usize::from(cta)].warps |= slots;
        while slots != 0 {
            let Some(trace) = traces.next() else { return Err(mismatch) };
            let warp = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let (live, age, number) = (trace.lanes(), self.launched_warps, self.placed);
            let fetch = ReadyAt::new(now, Wait::InOrder);
            let trace = Some(trace);
            self.warps[warp] = Warp { trace, live, cta, number, age, fetch, ..Warp::default() };
            self.launched_warps += 1;
            self.placed += 1;
        }
        if self.placed < expected {
            return Ok(false);
        }
        if traces.next().is_some() {
            return Err(mismatch);
        }
        self.placed = 0;
        self.launched_ctas += 1;
        Ok(true)
    }

    /// A warp that has been launched may enter the active set.
    pub(in crate::sm) fn start<O>(
        &mut self,
        warp: usize,
        kernel: &Kernel<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        self.named_barriers &= !(1 << warp);
        self.prefetched &= !(1 << warp);
        self.load_step(warp, kernel, run)?;
        self.sets.returnable |= 1 << warp;
        Ok(())
    }

    /// Loads the warp's next run, if there is one.
    pub(super) fn load_step<O>(
        &mut self,
        warp: usize,
        kernel: &Kernel<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let state = &mut self.warps[warp];
        let Some(step) = state.trace.as_mut().and_then(Trace::next_step) else {
            state.left = 0;
            // What the trace holds on the host is not needed any longer.
            let mut trace = state.trace.take();
            if trace.as_mut().and_then(Trace::next_access).is_some() {
                let (cta, warp) = (self.ctas[usize::from(state.cta)].number, state.number);
                return Err(Fault::AccessesLeft { cta, warp });
            }
            return Ok(());
        };
        kernel.image.run(step)?;
        (state.pc, state.left, state.mask) = (step.pc, step.length, step.mask);
        let length = u64::from(step.length);
        state.given += length;
        let lanes = u64::from(step.mask.0.count_ones());
        let accesses = &mut run.counters.accesses;
        accesses.record(Event::WarpInstruction, length);
        accesses.record(Event::ThreadInstruction, length * lanes);
        if step.mask.is_empty() {
            accesses.record_main_operands(0, length);
        }
        Ok(())
    }

    /// What the warp's next instruction moves, which is one that moves bytes.
    pub(in crate::sm) fn next_access(&mut self, warp: usize) -> Result<MemoryAccess, Fault> {
        let state = &mut self.warps[warp];
        if let Some(refused) = state.refused.take() {
            return Ok(refused);
        }
        state.trace.as_mut().and_then(Trace::next_access).ok_or_else(|| {
            let cta = self.ctas[usize::from(state.cta)].number;
            Fault::AccessMissing { cta, warp: state.number, pc: state.pc }
        })
    }

    /// The memory has refused what the warp's next instruction moves, which stays the next.
    pub(in crate::sm) fn refuse(&mut self, warp: usize, access: MemoryAccess) {
        self.warps[warp].refused = Some(access);
    }

    /// An access of a warp is sent, of which it is known at `until` whether it hits a cache.
    /// Returns the warp if that changes something for it.
    #[inline]
    pub(in crate::sm) fn asked(&mut self, warp: usize, until: u64) -> u64 {
        self.warps[warp].asked_until = until;
        u64::from(self.policy.leaves_while_waiting) << warp
    }

    /// What the warps' events are about whose cycle it is: has those be ready whose operands are
    /// there, and returns the others.
    #[inline]
    pub(in crate::sm) fn wake(&mut self, now: u64) -> u64 {
        let due = self.wheel.advance(now);
        if due == 0 {
            return 0;
        }
        // Those that become ready touch nothing that the others do.
        let ready = due & self.awaiting;
        self.awaiting &= !ready;
        self.sets.ready |= ready;
        for waiting in &mut self.sets.waiting {
            *waiting &= !ready;
        }
        due & !ready
    }

    /// What a warp waited for, other than operands, has come.
    pub(in crate::sm) fn event(&mut self, warp: usize) -> Due {
        let bit = 1 << warp;
        let state = &mut self.warps[warp];
        match core::mem::take(&mut state.phase) {
            Phase::Idle => Due::Done,
            Phase::Leaving(departure) => {
                self.sets.waiting[state.wait as usize] &= !bit;
                self.unsettled &= !bit;
                Due::Leaves(departure)
            }
            Phase::Flushing(departure) => {
                self.sets.flushing &= !bit;
                Due::Flushed(departure)
            }
            Phase::Outside => {
                self.sets.pending &= !bit;
                self.sets.returnable |= bit;
                Due::Done
            }
            Phase::Draining => {
                self.sets.draining &= !bit;
                Due::Drained
            }
        }
    }

    /// Whether a warp waits for a place in the active set, and one is free.
    #[inline]
    pub(in crate::sm) const fn can_activate(&self) -> bool {
        self.sets.returnable != 0 && self.places != 0
    }

    /// Lets warps into the active set, round robin, as far as there are places and the limit
    /// allows.
    pub(in crate::sm) fn activate<O: SmObserver>(
        &mut self,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let limit = self.limit.at(run.now);
        self.schedule_fetched(limit);
        while self.places != 0 && self.schedulable() < limit {
            let returnable = self.sets.returnable;
            let Some(warp) = super::schedule::first_from(returnable, self.next_return) else {
                break;
            };
            let bit = 1 << warp;
            // With one level every warp has its own place.
            let two_level = self.policy.two_level;
            let place = if two_level { self.places.trailing_zeros() as usize } else { warp };
            self.sets.returnable &= !bit;
            self.places &= !(1 << place);
            self.active |= bit;
            let state = &mut self.warps[warp];
            state.place = place as u8;
            let ended = state.left == 0;
            if two_level {
                self.next_return = (warp as u32 + 1) % MAX_RESIDENT_WARPS as u32;
                run.counters.record(CycleEvent::Activation, 1);
            }
            if ended {
                state.fetch = ReadyAt::new(run.now + 1, Wait::InOrder);
                self.end_path(warp, false, sight, run)?;
            } else {
                self.await_operands(warp, sight, run.now);
            }
        }
        Ok(())
    }

    /// The warp's place in the active set.
    pub(in crate::sm) fn place(&self, warp: usize) -> u8 {
        self.warps[warp].place
    }

    /// A warp that leaves keeps its place while its levels are flushed: until a cycle, if that is
    /// known.
    pub(in crate::sm) fn flush(
        &mut self,
        warp: usize,
        departure: Departure,
        until: Option<u64>,
        now: u64,
    ) {
        let state = &mut self.warps[warp];
        state.phase = Phase::Flushing(departure);
        state.flushing_since = now;
        self.sets.flushing |= 1 << warp;
        self.expect(warp, until);
    }

    /// A warp gives its place in the active set up.
    pub(in crate::sm) fn vacate(&mut self, warp: usize) {
        self.active &= !(1 << warp);
        self.places |= 1 << self.warps[warp].place;
    }

    /// A warp that has ended waits for its last result: until a cycle, if that is known.
    pub(in crate::sm) fn drain(&mut self, warp: usize, until: Option<u64>) {
        self.warps[warp].phase = Phase::Draining;
        self.sets.draining |= 1 << warp;
        self.expect(warp, until);
    }

    /// A warp has an event at a cycle, or waits for completions.
    fn expect(&mut self, warp: usize, at: Option<u64>) {
        match at {
            Some(cycle) => self.wheel.schedule(warp, cycle),
            None => self.unsettled |= 1 << warp,
        }
    }

    /// A warp is done, and stays in its slot until that is free. Returns its CTA's slot.
    pub(in crate::sm) fn retire(&mut self, warp: usize) -> u8 {
        self.sets.draining |= 1 << warp;
        self.warps[warp].cta
    }

    /// A resident CTA's number, in launch order from 0.
    pub(in crate::sm) fn cta_number(&self, slot: u8) -> u64 {
        self.ctas[usize::from(slot)].number
    }

    /// Warps launched so far of the CTA that is being launched, or of the next one: 0.
    pub(in crate::sm) const fn launched_warps_of_cta(&self) -> u32 {
        self.placed
    }

    /// Slots of warps of a CTA that are done are free.
    pub(in crate::sm) fn free(&mut self, cta: u8, slots: u64) {
        self.sets.draining &= !slots;
        let cta = &mut self.ctas[usize::from(cta)];
        cta.warps &= !slots;
        if cta.running == 0 {
            return;
        }
        let mut slots = slots;
        while slots != 0 {
            let state = &self.warps[slots.trailing_zeros() as usize];
            slots &= slots - 1;
            cta.barriers.forget(&state.at_barriers, state.live);
        }
    }
}
