//! Lives of warps and CTAs: launch, activation, departure, barrier, end.

use super::barrier::CtaBarriers;
use super::config::MAX_RESIDENT_WARPS;
use super::counters::CycleEvent;
use super::facts::{ReadyAt, Wait};
use super::fault::Fault;
use super::issue::Emptying;
use super::machine::{Cta, Sm};
use super::observe::{Observation, SmObserver};
use super::schedule::first_from;
use super::storage::Grant;
use super::warp::{Departure, Phase, Trace, Warp};
use crate::event::Event;
use crate::units::LaneMask;

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// What these warps waited for has come.
    #[inline]
    pub(super) fn events(&mut self, due: u64) {
        // Those that become ready touch nothing that the others do.
        let ready = due & self.awaiting;
        self.awaiting &= !ready;
        for waiting in &mut self.sets.waiting {
            // One by one: the set of the warp that has just issued was written moments ago, and
            // reading it together with others would wait for that.
            if *waiting & ready != 0 {
                *waiting &= !ready;
            }
        }
        self.sets.ready |= ready;
        let mut others = due & !ready;
        while others != 0 {
            let warp = others.trailing_zeros() as usize;
            others &= others - 1;
            self.event(warp);
        }
    }

    /// What a warp waited for, other than operands, has come.
    fn event(&mut self, warp: usize) {
        let bit = 1 << warp;
        let state = &mut self.memory.warps[warp];
        let phase = core::mem::take(&mut state.phase);
        match phase {
            Phase::Idle => {}
            Phase::Leaving(departure) => {
                self.sets.waiting[state.wait as usize] &= !bit;
                self.leave(warp, departure);
            }
            Phase::Flushing(departure) => {
                self.sets.flushing &= !bit;
                self.vacate(warp, departure);
            }
            Phase::Outside => {
                self.sets.pending &= !bit;
                self.sets.returnable |= bit;
            }
            Phase::Draining => {
                self.sets.draining &= !bit;
                self.retire(warp);
            }
        }
    }

    /// Launches a CTA; there is room for it.
    pub(super) fn launch(&mut self, traces: impl IntoIterator<Item = T>) -> Result<(), Fault> {
        let (number, count) = (self.launched_ctas, self.launch.warps_per_cta);
        let Grant { cta: slot, mut warps } = self.storage.grant();
        self.place_warps(slot, warps, traces)?;
        let barriers = CtaBarriers::default();
        self.ctas[usize::from(slot)] = Cta { number, warps, running: count, barriers };
        self.tell(|sm| Observation::CtaLaunch { cycle: sm.now, cta: number, slot, warps });
        self.launched_ctas += 1;
        let registers = usize::from(self.image.registers);
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            warps &= warps - 1;
            self.scoreboard.clear(warp);
            self.memory.awaited[warp * registers..][..registers].fill(LaneMask::EMPTY);
            self.named_barriers &= !(1 << warp);
            self.load_step(warp)?;
            self.sets.returnable |= 1 << warp;
        }
        Ok(())
    }

    /// Puts the warps of a CTA into their slots, the first into the lowest.
    fn place_warps(
        &mut self,
        cta: u8,
        mut slots: u64,
        traces: impl IntoIterator<Item = T>,
    ) -> Result<(), Fault> {
        let expected = self.launch.warps_per_cta;
        let mismatch = Fault::WarpsInCta { cta: self.launched_ctas, expected };
        let mut number = 0;
        for trace in traces {
            if number == expected {
                return Err(mismatch);
            }
            let warp = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let live = trace.lanes();
            let age = self.launched_warps;
            self.launched_warps += 1;
            let fetch = ReadyAt::new(self.now, Wait::InOrder);
            let trace = Some(trace);
            self.memory.warps[warp] =
                Warp { trace, live, cta, number, age, fetch, ..Warp::default() };
            number += 1;
        }
        if number == expected { Ok(()) } else { Err(mismatch) }
    }

    /// Lets warps into the active set, round robin, as far as there are places.
    pub(super) fn activate(&mut self) -> Result<(), Fault> {
        while self.places != 0 {
            let Some(warp) = first_from(self.sets.returnable, self.next_return) else { break };
            let bit = 1 << warp;
            // With one level every warp has its own place.
            let place =
                if self.rules.two_level { self.places.trailing_zeros() as usize } else { warp };
            self.sets.returnable &= !bit;
            self.places &= !(1 << place);
            self.active |= bit;
            let state = &mut self.memory.warps[warp];
            state.place = place as u8;
            let ended = state.left == 0;
            if self.rules.two_level {
                self.next_return = (warp as u32 + 1) % MAX_RESIDENT_WARPS as u32;
                self.counters.record(CycleEvent::Activation, 1);
            }
            if ended {
                state.fetch = ReadyAt::new(self.now + 1, Wait::InOrder);
                self.end_path(warp, false)?;
            } else {
                self.await_operands(warp);
            }
        }
        Ok(())
    }

    /// Has an active warp leave the active set at a later cycle.
    pub(super) fn leave_at(&mut self, warp: usize, departure: Departure, at: ReadyAt) {
        let state = &mut self.memory.warps[warp];
        state.phase = Phase::Leaving(departure);
        state.wait = at.wait();
        self.sets.waiting[at.wait() as usize] |= 1 << warp;
        self.wheel.schedule(warp, at.cycle());
    }

    /// The warp has issued its last instruction, which may be a barrier that makes it leave.
    pub(super) fn end_path(&mut self, warp: usize, departs: bool) -> Result<(), Fault> {
        let next = ReadyAt::new(self.now + 1, Wait::InOrder);
        let departure = if departs { Departure::BarrierAtEnd } else { Departure::End };
        self.leave_at(warp, departure, next);
        let cta = usize::from(self.memory.warps[warp].cta);
        self.ctas[cta].running -= 1;
        self.end_at_barriers(warp)
    }

    /// The warp leaves the active set now, once its cache is flushed.
    fn leave(&mut self, warp: usize, departure: Departure) {
        let event = match departure {
            Departure::Data => Some(Event::Deschedule),
            Departure::Barrier | Departure::BarrierAtEnd => Some(Event::BarrierDeschedule),
            Departure::End => None,
        };
        if let Some(event) = event {
            self.counters.accesses.record(event, 1);
        }
        let how = match departure {
            Departure::Data | Departure::Barrier | Departure::BarrierAtEnd => Emptying::Deschedule,
            Departure::End => Emptying::Exit,
        };
        let end = self.empty(warp, self.now, how);
        if self.under_way(warp).flushes != 0 {
            let state = &mut self.memory.warps[warp];
            state.phase = Phase::Flushing(departure);
            state.flushing_since = self.now;
            self.sets.flushing |= 1 << warp;
            self.unsettled |= 1 << warp;
            return;
        }
        if end == self.now {
            self.vacate(warp, departure);
            return;
        }
        self.counters.record(CycleEvent::FlushCycle, end - self.now);
        self.memory.warps[warp].phase = Phase::Flushing(departure);
        self.sets.flushing |= 1 << warp;
        self.wheel.schedule(warp, end);
    }

    /// Gives the warp's place in the active set up.
    fn vacate(&mut self, warp: usize, departure: Departure) {
        let bit = 1 << warp;
        self.active &= !bit;
        let state = &self.memory.warps[warp];
        self.places |= 1 << state.place;
        if matches!(departure, Departure::End | Departure::BarrierAtEnd) {
            if self.under_way(warp).all != 0 {
                self.memory.warps[warp].phase = Phase::Draining;
                self.sets.draining |= bit;
                self.unsettled |= bit;
            } else if state.results_until > self.now {
                let results = state.results_until;
                self.memory.warps[warp].phase = Phase::Draining;
                self.sets.draining |= bit;
                self.wheel.schedule(warp, results);
            } else {
                self.retire(warp);
            }
            return;
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.collectors.arbiter.demote(warp as u8);
        }
        self.sets.pending |= bit;
        if !state.at_barrier {
            self.await_return(warp);
        }
    }

    /// A warp outside the active set waits for all that it needs.
    pub(super) fn await_return(&mut self, warp: usize) {
        self.memory.warps[warp].phase = Phase::Outside;
        let long = self.under_way(warp).long != 0;
        let known = (!long).then(|| self.operands(warp)).filter(|all| !all.is_pending());
        let Some(operands) = known else {
            self.unsettled |= 1 << warp;
            return;
        };
        let state = &self.memory.warps[warp];
        let time = operands.cycle().max(state.long_until).max(state.fetch.cycle());
        let time = time.max(self.now + 1);
        self.wheel.schedule(warp, time);
    }

    /// The warp is done; with the last of its CTA, the CTA is.
    fn retire(&mut self, warp: usize) {
        if let Some(delivery) = &mut self.delivery {
            let dropped = delivery.collectors.arbiter.drop_warp(warp as u8);
            self.counters.accesses.record(Event::WritePoolDrop, u64::from(dropped));
        }
        let slot = self.memory.warps[warp].cta;
        self.sets.draining |= 1 << warp;
        let freed = self.storage.release(slot);
        if freed == 0 {
            // Its registers stay taken until the CTA ends.
            return;
        }
        let Cta { number, warps, .. } = self.ctas[usize::from(slot)];
        self.tell(|sm| Observation::CtaEnd { cycle: sm.now, cta: number, slot, warps });
        self.sets.draining &= !freed;
        self.counters.record(CycleEvent::Cta, 1);
    }
}
