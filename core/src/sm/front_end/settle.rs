//! Completions: warps that wait for a pending value go on when its arrival time is known.

use super::warp::FETCH;
use super::{FrontEnd, Phase, Sight};
use crate::sm::counters::CycleEvent;
use crate::sm::run::Run;
use crate::sm::trace::Trace;
use crate::sm::wait::{ReadyAt, Wait};

impl<T: Trace> FrontEnd<'_, T> {
    /// Something that is under way of these warps has changed.
    #[inline]
    pub(in crate::sm) fn settle<O>(&mut self, moved: u64, sight: Sight<'_, '_>, run: &mut Run<O>) {
        let mut moved = moved & self.unsettled;
        while moved != 0 {
            let warp = moved.trailing_zeros() as usize;
            moved &= moved - 1;
            self.settle_one(warp, sight, run);
        }
    }

    fn settle_one<O>(&mut self, warp: usize, sight: Sight<'_, '_>, run: &mut Run<O>) {
        let bit = 1 << warp;
        let under_way = sight.scoreboard.under_way(warp);
        let (leaves, now) = (self.policy.leaves_while_waiting, run.now);
        let state = &mut self.warps[warp];
        let (operand, wait, from) = (state.operand, state.wait, state.waits_from);
        match state.phase {
            Phase::Idle | Phase::Leaving(_) if operand == FETCH => {
                if !under_way.is_flushing() {
                    self.unsettled &= !bit;
                    self.sets.waiting[wait as usize] &= !bit;
                    self.deliver(warp, sight, now);
                }
            }
            // Another register has come.
            Phase::Idle
                if !leaves && sight.scoreboard.pending_wait(warp, operand) == Some(wait) => {}
            Phase::Idle => {
                self.unsettled &= !bit;
                self.sets.waiting[wait as usize] &= !bit;
                if leaves {
                    self.await_again(warp, sight, now, from);
                } else {
                    let facts = sight.kernel.facts(state.pc);
                    self.await_operands_of(warp, facts, sight, now);
                }
            }
            Phase::Leaving(_) => {
                self.wheel.cancel(warp, state.leaves_at);
                state.phase = Phase::Idle;
                self.unsettled &= !bit;
                self.sets.waiting[wait as usize] &= !bit;
                self.await_again(warp, sight, now, from);
            }
            Phase::Outside => {
                self.unsettled &= !bit;
                self.await_return(warp, sight, now);
            }
            Phase::Flushing(_) if !under_way.is_flushing() => {
                self.unsettled &= !bit;
                // The last value leaves its level in this cycle.
                let end = now + 1;
                run.counters.record(CycleEvent::FlushCycle, end - state.flushing_since);
                self.wheel.schedule(warp, end);
            }
            Phase::Draining if !under_way.is_pending() => {
                self.unsettled &= !bit;
                self.wheel.schedule(warp, under_way.until().max(now + 1));
            }
            Phase::Flushing(_) | Phase::Draining => {}
        }
    }

    /// The flush after a warp's branch has ended: the warp waits for its next instruction no more.
    pub(super) fn deliver(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64) {
        self.settle_fetch(warp, sight, now);
        let state = &mut self.warps[warp];
        let fetch = state.fetch;
        match core::mem::take(&mut state.phase) {
            Phase::Leaving(departure) => self.leave_at(warp, departure, fetch),
            _ => self.await_operands(warp, sight, now),
        }
    }

    /// Says from when the front end can deliver a warp's next instruction, if it is known now.
    pub(super) fn settle_fetch(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64) {
        let state = &mut self.warps[warp];
        if state.fetch.is_pending() && !sight.scoreboard.under_way(warp).is_flushing() {
            // The last value leaves its level in this cycle, if it has not left before.
            state.fetch = ReadyAt::new(state.resolved.max(now + 1), Wait::Branch);
        }
    }
}
