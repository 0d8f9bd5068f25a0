//! Lives of warps and CTAs: what the parts do when a CTA is launched, and when a warp leaves the
//! active set or ends.

use super::Sm;
use crate::event::Event;
use crate::sm::counters::CycleEvent;
use crate::sm::fault::Fault;
use crate::sm::front_end::{Departure, Due, Sight};
use crate::sm::observe::{Observation, SmObserver};
use crate::sm::register_file::Emptying;
use crate::sm::storage::{Grant, Released, StorageModel};
use crate::sm::trace::Trace;

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// What these warps waited for has come.
    pub(super) fn events(&mut self, mut due: u64) {
        while due != 0 {
            let warp = due.trailing_zeros() as usize;
            due &= due - 1;
            match self.front_end.event(warp) {
                Due::Done => {}
                Due::Leaves(departure) => self.leave(warp, departure),
                Due::Flushed(departure) => self.vacate(warp, departure),
                Due::Drained => self.retire(warp),
            }
        }
    }

    /// Launches warps of a CTA into what is granted. Returns whether the CTA's launch is complete.
    pub(super) fn launch(
        &mut self,
        grant: Grant,
        traces: &mut impl Iterator<Item = T>,
    ) -> Result<bool, Fault> {
        let Grant { cta: slot, mut warps } = grant;
        let cycle = self.run.now;
        let before = self.front_end.launched_warps_of_cta();
        let complete = self.front_end.launch(slot, warps, traces, cycle)?;
        let cta = self.front_end.cta_number(slot);
        self.run.tell(|| Observation::CtaLaunch { cycle, cta, slot, before, warps });
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            warps &= warps - 1;
            self.scoreboard.clear(warp);
            self.front_end.start(warp, &self.kernel, &mut self.run)?;
        }
        Ok(complete)
    }

    /// The warp leaves the active set now, once its cache is flushed.
    fn leave(&mut self, warp: usize, departure: Departure) {
        let event = match departure {
            Departure::Data => Some(Event::Deschedule),
            Departure::Barrier | Departure::BarrierAtEnd => Some(Event::BarrierDeschedule),
            Departure::End => None,
        };
        if let Some(event) = event {
            self.run.counters.accesses.record(event, 1);
        }
        let how = match departure {
            Departure::Data | Departure::Barrier | Departure::BarrierAtEnd => Emptying::Deschedule,
            Departure::End => Emptying::Exit,
        };
        let (now, place) = (self.run.now, self.front_end.place(warp));
        let (scoreboard, run) = (&mut self.scoreboard, &mut self.run);
        let end = self.register_file.empty((warp, place), now, how, scoreboard, run);
        if self.scoreboard.under_way(warp).is_flushing() {
            self.front_end.flush(warp, departure, None, now);
        } else if end == now {
            self.vacate(warp, departure);
        } else {
            self.run.counters.record(CycleEvent::FlushCycle, end - now);
            self.front_end.flush(warp, departure, Some(end), now);
        }
    }

    /// Gives the warp's place in the active set up.
    fn vacate(&mut self, warp: usize, departure: Departure) {
        self.front_end.vacate(warp);
        if matches!(departure, Departure::End | Departure::BarrierAtEnd) {
            let under_way = self.scoreboard.under_way(warp);
            if under_way.is_pending() {
                self.front_end.drain(warp, None);
            } else if under_way.until() > self.run.now {
                self.front_end.drain(warp, Some(under_way.until()));
            } else {
                self.retire(warp);
            }
            return;
        }
        self.register_file.demote(warp);
        let sight = Sight { kernel: &self.kernel, scoreboard: &self.scoreboard };
        self.front_end.wait_outside(warp, sight, self.run.now);
    }

    /// The warp is done; what it was granted is released.
    fn retire(&mut self, warp: usize) {
        self.register_file.drop_warp(warp, &mut self.run.counters);
        let slot = self.front_end.retire(warp);
        let Released { slots, cta_ended } = self.storage.release(slot, warp as u8);
        self.is_empty = self.storage.is_empty();
        if slots != 0 {
            let (cycle, cta, warps) = (self.run.now, self.front_end.cta_number(slot), slots);
            self.run.tell(|| Observation::CtaEnd { cycle, cta, slot, warps, last: cta_ended });
            self.front_end.free(slot, slots);
        }
        self.run.counters.record(CycleEvent::Cta, u64::from(cta_ended));
    }
}
