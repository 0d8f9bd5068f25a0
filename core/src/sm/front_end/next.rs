//! From one instruction of a warp to its next: when it can issue, or that the warp leaves the
//! active set before.

use super::warp::FETCH;
use super::{Departure, FrontEnd, Phase, Sight};
use crate::image::Flags;
use crate::rules::check_mark;
use crate::sm::barrier::{AT_BARRIERS, BarrierCall};
use crate::sm::config::{BarrierRule, WarpReplacement};
use crate::sm::facts::Facts;
use crate::sm::fault::Fault;
use crate::sm::observe::SmObserver;
use crate::sm::run::Run;
use crate::sm::trace::Trace;
use crate::sm::wait::{ReadyAt, Wait, Waits};
use crate::units::{LaneMask, RegisterId};

impl<T: Trace> FrontEnd<'_, T> {
    /// The warp's instruction has issued. `fetch`: from when the front end can deliver the next.
    #[inline(always)]
    pub(in crate::sm) fn advance<O: SmObserver>(
        &mut self,
        warp: usize,
        (facts, mask): (&Facts, LaneMask),
        fetch: ReadyAt,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        const ALL_THREADS: BarrierCall = BarrierCall::ALL_THREADS;
        let bit = 1 << warp;
        self.sets.ready &= !bit;
        self.collecting &= !bit;
        if let Some(unit) = facts.class.busy_unit() {
            self.wanting[unit as usize] &= !bit;
        }
        let special = !mask.is_empty() && facts.flags.intersects(AT_BARRIERS.union(Flags::EXIT));
        let call = if special { self.next_barrier(warp, facts.flags) } else { ALL_THREADS };
        let state = &mut self.warps[warp];
        state.fetch = fetch;
        state.pc += 1;
        state.left -= 1;
        let mut departs = false;
        if state.left == 0 {
            self.load_step(warp, sight.kernel, run)?;
            if self.named_barriers & bit != 0 {
                departs = self.hold_lanes(warp);
            }
        }
        if special {
            departs = self.arrive_or_exit(warp, (facts.flags, mask, call), sight, run)?;
        }
        self.proceed(warp, departs, sight, run)
    }

    /// A flush after the warp's branch goes on: the front end can deliver the next instruction when
    /// it ends, and not before `resolved`.
    pub(in crate::sm) fn resolve(&mut self, warp: usize, resolved: u64) {
        self.warps[warp].resolved = resolved;
    }

    /// Decides what an active warp that has just issued, or has not begun, does next.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn proceed<O: SmObserver>(
        &mut self,
        warp: usize,
        departs: bool,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let state = &self.warps[warp];
        if state.left == 0 || departs || state.at_barrier {
            return self.pause(warp, departs, sight, run);
        }
        let facts = sight.kernel.facts(state.pc);
        if self.policy.two_level
            && sight.scoreboard.may_be_read(warp, facts.sketch)
            && self.must_leave(warp, sight)?
        {
            self.leave_at(warp, Departure::Data, self.warps[warp].fetch);
        } else {
            self.await_operands_of(warp, facts, sight, run.now);
        }
        Ok(())
    }

    /// An active warp is at its end or at a barrier.
    fn pause<O: SmObserver>(
        &mut self,
        warp: usize,
        departs: bool,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let state = &self.warps[warp];
        if state.left == 0 {
            return self.end_path(warp, departs, sight, run);
        }
        if departs {
            self.leave_at(warp, Departure::Barrier, state.fetch);
        } else {
            self.sets.barrier |= 1 << warp;
        }
        Ok(())
    }

    /// The warp has issued its last instruction, which may be a barrier that makes it leave.
    pub(super) fn end_path<O: SmObserver>(
        &mut self,
        warp: usize,
        departs: bool,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let next = ReadyAt::new(run.now + 1, Wait::InOrder);
        let departure = if departs { Departure::BarrierAtEnd } else { Departure::End };
        self.leave_at(warp, departure, next);
        self.limit_active_warps(warp, run);
        let cta = usize::from(self.warps[warp].cta);
        self.ctas[cta].running -= 1;
        self.end_at_barriers(warp, sight, run)
    }

    /// Whether the warp's next instruction reads a pending long-latency result.
    fn must_leave(&self, warp: usize, sight: Sight<'_, '_>) -> Result<bool, Fault> {
        let state = &self.warps[warp];
        if state.mask.is_empty() || self.policy.replacement != WarpReplacement::Preemptive {
            return Ok(false);
        }
        let facts = sight.kernel.facts(state.pc);
        let sources = sight.kernel.sources(facts);
        let Some(register) = sight.scoreboard.first_pending(warp, sources, state.mask) else {
            return Ok(false);
        };
        let marked = facts.flags.contains(Flags::DESCHEDULE_BEFORE);
        if !marked && self.policy.barrier != BarrierRule::Always {
            // The compiler's marks count on barriers that deschedule: without, the warp waits.
            return Ok(false);
        }
        check_mark(state.pc, facts.flags, register)?;
        Ok(true)
    }

    /// Has an active warp leave the active set at a later cycle, or when its fetch is known.
    pub(super) fn leave_at(&mut self, warp: usize, departure: Departure, at: ReadyAt) {
        let state = &mut self.warps[warp];
        state.phase = Phase::Leaving(departure);
        state.wait = at.wait();
        self.sets.waiting[at.wait() as usize] |= 1 << warp;
        if at.is_pending() {
            state.operand = FETCH;
            self.unsettled |= 1 << warp;
            return;
        }
        self.wheel.schedule(warp, at.cycle());
    }

    /// When the operands of the warp's next instruction are there.
    fn operands(&self, warp: usize, sight: Sight<'_, '_>) -> ReadyAt {
        self.last_operand(warp, sight, |_| true)
    }

    /// When the last of those operands is there that count.
    fn last_operand(
        &self,
        warp: usize,
        sight: Sight<'_, '_>,
        counts: impl Fn(ReadyAt) -> bool,
    ) -> ReadyAt {
        let state = &self.warps[warp];
        let facts = sight.kernel.facts(state.pc);
        let (registers, predicates) = waits_for(facts, state.mask, sight);
        sight.scoreboard.last(warp, registers, predicates, counts)
    }

    /// An active warp waits for its operands.
    #[inline]
    pub(super) fn await_operands(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64) {
        let facts = sight.kernel.facts(self.warps[warp].pc);
        self.await_operands_of(warp, facts, sight, now);
    }

    /// An active warp waits for the operands of its next instruction, which has these facts.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn await_operands_of(
        &mut self,
        warp: usize,
        facts: &Facts,
        sight: Sight<'_, '_>,
        now: u64,
    ) {
        let bit = 1 << warp;
        let state = &self.warps[warp];
        let (registers, predicates) = waits_for(facts, state.mask, sight);
        let operands = sight.scoreboard.last(warp, registers, predicates, |_| true);
        let ready = operands.max(state.fetch);
        // Without an enabled lane nothing is started.
        let starts = !state.mask.is_empty();
        if self.policy.collects {
            if facts.begins_bundle && self.prefetched & bit == 0 {
                self.await_prefetch(warp, sight, now);
                return;
            }
            self.collecting |= u64::from(facts.collected && starts) << warp;
        } else if starts && let Some(unit) = facts.class.busy_unit() {
            self.wanting[unit as usize] |= bit;
        }
        if ready.cycle() <= now {
            self.sets.ready |= bit;
            return;
        }
        if ready.is_pending() {
            self.await_completion(warp, ready, sight, (now, None));
            return;
        }
        if self.policy.leaves_while_waiting && self.leaves_instead(warp, ready, sight, (now, None))
        {
            return;
        }
        self.await_known(warp, ready);
    }

    /// An active warp is ready at a cycle.
    #[inline]
    pub(super) fn await_known(&mut self, warp: usize, ready: ReadyAt) {
        let bit = 1 << warp;
        self.awaiting |= bit;
        self.sets.waiting[ready.wait() as usize] |= bit;
        self.wheel.schedule(warp, ready.cycle());
    }

    /// An active warp that has waited for a pending value, since `from`, waits for its operands
    /// again, or leaves.
    pub(super) fn await_again(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64, from: u64) {
        let ready = self.operands(warp, sight).max(self.warps[warp].fetch);
        let time = (now, Some(from));
        if ready.is_pending() {
            self.await_completion(warp, ready, sight, time);
        } else if !self.leaves_instead(warp, ready, sight, time) {
            self.await_known(warp, ready);
        }
    }

    /// An active warp waits for a pending value: its last operand, or its next instruction.
    #[inline(never)]
    pub(super) fn await_completion(
        &mut self,
        warp: usize,
        ready: ReadyAt,
        sight: Sight<'_, '_>,
        time: (u64, Option<u64>),
    ) {
        let fetch = self.warps[warp].fetch;
        if fetch.is_pending() && !sight.scoreboard.under_way(warp).is_flushing() {
            // The flush has ended while the warp waited for something else.
            self.deliver(warp, sight, time.0);
            return;
        }
        let state = &self.warps[warp];
        let facts = sight.kernel.facts(state.pc);
        let (registers, predicates) = waits_for(facts, state.mask, sight);
        let place = sight.scoreboard.place_of(warp, registers, predicates, ready);
        self.unsettled |= 1 << warp;
        let state = &mut self.warps[warp];
        state.operand = place.unwrap_or(FETCH);
        if self.policy.leaves_while_waiting && self.leaves_instead(warp, ready, sight, time) {
            return;
        }
        self.warps[warp].wait = ready.wait();
        self.sets.waiting[ready.wait() as usize] |= 1 << warp;
    }

    /// Has a warp that must wait for operands, until `ready`, leave the active set instead, if it
    /// does: at the first cycle in which a rule holds, and what the rule is about has not come. It
    /// is `now`, and the warp waits `since` a cycle, if it does not begin to wait now.
    #[inline(never)]
    fn leaves_instead(
        &mut self,
        warp: usize,
        ready: ReadyAt,
        sight: Sight<'_, '_>,
        (now, since): (u64, Option<u64>),
    ) -> bool {
        let state = &self.warps[warp];
        let fetch = state.fetch;
        if fetch.is_pending() {
            return false;
        }
        // From when it could issue otherwise.
        let from = since.unwrap_or_else(|| fetch.cycle().max(now + 1));
        let short = (Waits::short(self.policy.short_waits), from);
        let unsent = sight.scoreboard.under_way(warp).is_access_unsent();
        let long = match self.policy.replacement {
            WarpReplacement::Preemptive => None,
            WarpReplacement::Reactive { threshold } => {
                Some((Waits::ALL, from + u64::from(threshold)))
            }
            // Whether an access hits is not known before the caches have been asked.
            WarpReplacement::CacheMiss if unsent => None,
            WarpReplacement::CacheMiss => {
                Some((Waits::only(Wait::LongLatency), from.max(state.asked_until)))
            }
        };
        let holds = |&(kinds, at): &(Waits, u64)| {
            self.last_operand(warp, sight, |ready| kinds.contains(ready.wait())).cycle() > at
        };
        let first = [Some(short), long].into_iter().flatten().filter(holds).map(|(_, at)| at).min();
        self.warps[warp].waits_from = from;
        let Some(at) = first.map(|at| at.max(now + u64::from(since.is_some()))) else {
            return false;
        };
        let wait = if at > fetch.cycle() { ready.wait() } else { fetch.wait() };
        self.leave_at(warp, Departure::Data, ReadyAt::new(at, wait));
        self.warps[warp].leaves_at = at;
        true
    }

    /// A warp that has left the active set waits outside for all that it needs.
    pub(in crate::sm) fn wait_outside(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64) {
        self.sets.pending |= 1 << warp;
        if !self.warps[warp].at_barrier {
            self.await_return(warp, sight, now);
        }
    }

    /// A warp outside the active set waits for all that it needs.
    pub(super) fn await_return(&mut self, warp: usize, sight: Sight<'_, '_>, now: u64) {
        self.warps[warp].phase = Phase::Outside;
        let under_way = sight.scoreboard.under_way(warp);
        let long = under_way.is_long_pending();
        let known = (!long).then(|| self.operands(warp, sight)).filter(|all| !all.is_pending());
        let Some(operands) = known else {
            self.unsettled |= 1 << warp;
            return;
        };
        let fetch = self.warps[warp].fetch;
        let time = operands.cycle().max(under_way.long_until()).max(fetch.cycle());
        self.wheel.schedule(warp, time.max(now + 1));
    }
}

/// The registers and predicates that an instruction waits for.
#[inline]
fn waits_for<'i>(facts: &Facts, mask: LaneMask, sight: Sight<'_, 'i>) -> (&'i [RegisterId], u32) {
    if mask.is_empty() {
        // An instruction without an enabled lane needs its guard only.
        return (&[], facts.predicates.read);
    }
    let predicates = facts.predicates.read | facts.predicates.written;
    (facts.registers(&sight.kernel.image), predicates)
}
