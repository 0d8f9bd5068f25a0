//! Issue: one instruction through operands, unit and results, and the warp on to its next.

use super::barrier::{AT_BARRIERS, BarrierCall};
use super::config::WarpReplacement;
use super::counters::CycleEvent;
use super::facts::{BusyUnit, Class, Facts, ReadyAt, Wait, Waits, bits};
use super::fault::Fault;
use super::machine::Sm;
use super::memory::SharedAccess;
use super::observe::{Observation, ObservedPorts, SmObserver, WriteCause, Writer};
use super::ports::BankCounts;
use super::requests::Requests;
use super::warp::{Departure, MemoryAccess, Trace};
use crate::access::{Access, AccessSink};
use crate::event::{Counters, Datapath, Event};
use crate::hierarchy::{Step, WarpHierarchy};
use crate::image::Flags;
use crate::rules::{PendingResults, check_mark, first_pending};
use crate::tally::Tally;
use crate::units::{LaneMask, RegisterId};

/// Follows an instruction's operand traffic to banks and ports.
struct Traffic<'s, O> {
    tally: Tally<'s, false>,
    writes: ObservedPorts<'s, O>,
    /// When each register of the warp is there.
    ready: &'s [ReadyAt],
    now: u64,
    /// When the instruction's result is there, conflicts apart.
    done: u64,
    reads: BankCounts,
    write_delay: u64,
}

impl<O: SmObserver> AccessSink for Traffic<'_, O> {
    #[inline]
    fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        match access {
            Access::MrfRead => self.reads.add(register),
            Access::RfcWritebackEviction
            | Access::RfcWritebackFlush
            | Access::LrfWritebackEviction
            | Access::LrfWritebackFlush => self.write_back(register),
            _ => {}
        }
        self.tally.access(access, register, lanes);
    }

    #[inline]
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask) {
        self.tally.flat(sources, destinations, mask);
    }
}

impl<O: SmObserver> Traffic<'_, O> {
    /// An entry that makes room is written to the main register file.
    #[inline]
    fn write_back(&mut self, register: RegisterId) {
        // The victim leaves when the new value comes, or when it has come itself.
        let time = self.done.max(self.ready[usize::from(register.0)].cycle());
        self.write_delay += self.writes.write(register, time, self.now) - time;
    }
}

/// Follows a flush to the write ports.
struct Flush<'s, O> {
    tally: Tally<'s, false>,
    writes: ObservedPorts<'s, O>,
    ready: &'s mut [ReadyAt],
    now: u64,
    /// First cycle after the flush.
    end: u64,
    write_delay: u64,
}

impl<O: SmObserver> AccessSink for Flush<'_, O> {
    // Flushes are rare, and inlined they cost the loop that issues registers.
    #[inline(never)]
    fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        if matches!(access, Access::RfcWritebackFlush | Access::LrfWritebackFlush) {
            self.write_back(register);
        }
        self.tally.access(access, register, lanes);
    }
}

impl<O: SmObserver> Flush<'_, O> {
    fn write_back(&mut self, register: RegisterId) {
        let ready = &mut self.ready[usize::from(register.0)];
        // A result on its way goes straight to the main register file when it comes.
        let time = self.now.max(ready.cycle());
        let cycle = self.writes.write(register, time, self.now);
        self.write_delay += cycle - time;
        if ready.cycle() <= self.now {
            self.end = self.end.max(cycle + 1);
        } else {
            *ready = ReadyAt::new(cycle, ready.wait());
        }
    }
}

/// How a warp's upper levels are emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emptying {
    /// At a backward branch.
    Flush,
    /// The warp leaves the active set.
    Deschedule,
    /// The warp ends.
    Exit,
}

impl Emptying {
    fn apply<const CAPACITY: usize>(
        self,
        hierarchy: &mut WarpHierarchy<'_, CAPACITY>,
        sink: &mut impl AccessSink,
    ) {
        match self {
            Self::Flush => hierarchy.flush(sink),
            Self::Deschedule => hierarchy.deschedule(sink),
            Self::Exit => hierarchy.exit(sink),
        }
    }
}

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// Issues the next instruction of a ready warp.
    #[inline]
    pub(super) fn issue(&mut self, warp: usize) -> Result<(), Fault> {
        const EVERYBODY: BarrierCall = BarrierCall::EVERYBODY;
        let bit = 1 << warp;
        let state = &self.memory.warps[warp];
        let (pc, mask) = (state.pc, state.mask);
        let facts = &self.facts[pc as usize];
        self.sets.ready &= !bit;
        self.collecting &= !bit;
        if let Class::Unit(unit) = facts.class {
            self.wanting[unit as usize] &= !bit;
        }
        if !mask.is_empty() {
            if self.delivery.is_some() {
                self.collect(warp, facts)?;
            } else {
                self.execute(warp, facts)?;
            }
        }
        let special = !mask.is_empty() && facts.flags.intersects(AT_BARRIERS.union(Flags::EXIT));
        let call = if special { self.next_barrier(warp, facts.flags) } else { EVERYBODY };
        let mut fetch = ReadyAt::new(self.now + 1, Wait::InOrder);
        if facts.flags.contains(Flags::BRANCH) {
            fetch = self.branch(warp, facts.flags, mask);
        }
        let state = &mut self.memory.warps[warp];
        state.fetch = fetch;
        state.pc += 1;
        state.left -= 1;
        let mut departs = false;
        if state.left == 0 {
            self.load_step(warp)?;
            if self.named_barriers & bit != 0 {
                departs = self.hold_lanes(warp);
            }
        }
        if special {
            departs = self.arrive_or_exit(warp, facts.flags, mask, call)?;
        }
        self.proceed(warp, departs)
    }

    /// Operands, unit and results of an instruction with a lane enabled.
    #[inline]
    fn execute(&mut self, warp: usize, facts: &Facts) -> Result<(), Fault> {
        let access = self.access(warp, facts)?;
        let hit = access.hit && facts.class == Class::Dram;
        let wait = if hit { Wait::Cached } else { facts.wait };
        let done = self.start_in_unit((warp, self.memory.warps[warp].pc), facts, access);
        // Without levels of either kind there is nothing to look up and nothing to track.
        let (reads, to_main) = if self.flat && !self.rules.two_level {
            let mut tally = Tally::<false>::new(&mut self.counters.accesses, facts.datapath);
            let (sources, destinations) =
                (facts.sources(&self.image), facts.destinations(&self.image));
            tally.flat(sources, destinations, LaneMask::FULL);
            tally.end_instruction();
            (facts.reads, u32::MAX)
        } else {
            self.access_registers(warp, facts, done)?
        };
        let delay = self.read_operands(warp, reads);
        if facts.has_results() {
            self.write_results(warp, facts, ReadyAt::new(done + delay, wait), to_main);
        }
        Ok(())
    }

    /// Starts a warp's instruction, whose unit is free. Returns the cycle from which an instruction
    /// that uses its result can issue.
    #[inline]
    pub(super) fn start_in_unit(
        &mut self,
        (warp, pc): (usize, u32),
        facts: &Facts,
        access: MemoryAccess,
    ) -> u64 {
        self.tell_unit((warp, pc), facts, access);
        if facts.class == Class::Free {
            return self.now + u64::from(facts.latency);
        }
        self.start_in_busy_unit(facts, access)
    }

    /// The same in a unit or memory that an instruction takes for some time.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    fn start_in_busy_unit(&mut self, facts: &Facts, access: MemoryAccess) -> u64 {
        let now = self.now;
        match facts.class {
            Class::Free => now + u64::from(facts.latency),
            Class::Unit(BusyUnit::SharedMemory) => {
                let (bytes, counters) = (access.bytes, &mut self.counters);
                let SharedAccess { there, free } =
                    self.memory_system.access_shared(bytes, now, counters);
                self.units.take(BusyUnit::SharedMemory, free);
                there
            }
            Class::Unit(unit) => {
                self.units.start(unit, now);
                now + u64::from(facts.latency)
            }
            Class::Dram => self.memory_system.access_global(access, now, &mut self.counters),
        }
    }

    /// What the warp's next instruction moves.
    #[inline]
    pub(super) fn access(&mut self, warp: usize, facts: &Facts) -> Result<MemoryAccess, Fault> {
        const NOTHING: MemoryAccess = MemoryAccess::uncached(0);
        if facts.moves_bytes { self.next_access(warp) } else { Ok(NOTHING) }
    }

    /// What the warp's next memory instruction moves; of a cached memory, by when it is known
    /// whether it hits.
    fn next_access(&mut self, warp: usize) -> Result<MemoryAccess, Fault> {
        let state = &mut self.memory.warps[warp];
        if self.facts[state.pc as usize].class == Class::Dram {
            state.asked_until = self.memory_system.hit_known_at(self.now);
        }
        state.trace.as_mut().and_then(Trace::next_access).ok_or_else(|| {
            let cta = self.ctas[usize::from(state.cta)].number;
            Fault::AccessMissing { cta, warp: state.number, pc: state.pc }
        })
    }

    /// Takes an instruction, whose result is there at `done`, through the warp's hierarchy. Returns
    /// the reads of the main register file's banks, and bit `i` if result `i` goes there.
    fn access_registers(
        &mut self,
        warp: usize,
        facts: &Facts,
        done: u64,
    ) -> Result<(BankCounts, u32), Fault> {
        let state = &mut self.memory.warps[warp];
        let registers = usize::from(self.image.registers);
        let mut hierarchy = WarpHierarchy {
            upper: self.memory.caches[usize::from(state.place)].as_mut(),
            pending: PendingResults::new(
                &mut self.memory.awaited[warp * registers..][..registers],
                &mut state.sketch,
            ),
        };
        let instruction = &self.image.instructions[state.pc as usize];
        let managed = self.config.settings().organisation.settings().compiler_managed;
        let registers = (facts.sources(&self.image), facts.destinations(&self.image));
        let step = Step::new(&self.image, (state.pc, instruction), registers, managed, state.mask);
        let mut traffic = Traffic {
            tally: Tally::new(&mut self.counters.accesses, facts.datapath),
            writes: ObservedPorts {
                ports: &mut self.writes,
                observer: &mut self.observer,
                writer: Writer { place: warp as u8, cause: WriteCause::Eviction },
            },
            ready: self.scoreboard.row(warp),
            now: self.now,
            done,
            reads: BankCounts::default(),
            write_delay: 0,
        };
        let to_main = hierarchy.execute(&step, self.rules, &mut traffic)?;
        let Traffic { tally, reads, write_delay, .. } = traffic;
        tally.end_instruction();
        if write_delay != 0 {
            self.counters.record(CycleEvent::WriteDelay, write_delay);
        }
        Ok((if self.flat { facts.reads } else { reads }, to_main))
    }

    /// Reads operands from the banks. Returns by how much that delays the instruction.
    #[inline]
    fn read_operands(&mut self, warp: usize, reads: BankCounts) -> u64 {
        if reads.is_empty() {
            return 0;
        }
        let window = self.config.settings().timing.operand_window;
        let outcome = self.reads.read(reads, self.now, window);
        self.tell_reads(warp, reads);
        if outcome.own_conflicts + outcome.other_conflicts != 0 {
            self.counters.record(CycleEvent::OwnBankConflict, outcome.own_conflicts);
            self.counters.record(CycleEvent::OtherBankConflict, outcome.other_conflicts);
            self.counters.record(CycleEvent::OperandDelay, outcome.delay);
            self.blocked_until = self.blocked_until.max(self.now + 1 + outcome.delay);
        }
        outcome.delay
    }

    /// Reserves the writes of results, which are there from `there` on, one a cycle; bit `i` of
    /// `to_main`: result `i` goes to the main register file.
    #[inline]
    fn write_results(&mut self, warp: usize, facts: &Facts, there: ReadyAt, mut to_main: u32) {
        let (done, wait) = (there.cycle(), there.wait());
        let (ready, predicates) = self.scoreboard.parts_mut(warp);
        let destinations = facts.destinations(&self.image);
        let mut writes = ObservedPorts {
            ports: &mut self.writes,
            observer: &mut self.observer,
            writer: Writer { place: warp as u8, cause: WriteCause::Result },
        };
        let mut last = done;
        for (&register, mut time) in destinations.iter().zip(done..) {
            let main = to_main & 1 != 0;
            to_main >>= 1;
            if main {
                let cycle = writes.write(register, time, self.now);
                if cycle != time {
                    self.counters.record(CycleEvent::WriteDelay, cycle - time);
                    time = cycle;
                }
            }
            last = last.max(time);
            ready[usize::from(register.0)] = ReadyAt::new(time, wait);
        }
        for predicate in bits(facts.predicates.written) {
            predicates[predicate] = there;
        }
        let state = &mut self.memory.warps[warp];
        state.results_until = state.results_until.max(last);
        if facts.flags.contains(Flags::LONG_LATENCY) {
            state.long_until = state.long_until.max(last);
        }
        self.tell(|_| Observation::Result { cycle: last });
    }

    /// A branch: when its warp may go on.
    fn branch(&mut self, warp: usize, flags: Flags, mask: LaneMask) -> ReadyAt {
        let timing = &self.config.settings().timing;
        let hierarchy = self.config.settings().organisation.settings();
        let tag_check = if hierarchy.cache.is_some() { timing.tag_check_cycles } else { 0 };
        let mut cycle = self.now + u64::from(timing.branch_latency) + u64::from(tag_check);
        if self.rules.after(flags).flush && !mask.is_empty() {
            cycle = cycle.max(self.empty(warp, self.now + 1, Emptying::Flush));
        }
        ReadyAt::new(cycle, Wait::Branch)
    }

    /// Empties a warp's upper levels from cycle `from` on. Returns the first cycle after that, if
    /// it is known already: what operand collectors have the arbiter write is under way.
    pub(super) fn empty(&mut self, warp: usize, from: u64, how: Emptying) -> u64 {
        let registers = usize::from(self.image.registers);
        let state = &mut self.memory.warps[warp];
        let mut hierarchy = WarpHierarchy {
            upper: self.memory.caches[usize::from(state.place)].as_mut(),
            pending: PendingResults::new(
                &mut self.memory.awaited[warp * registers..][..registers],
                &mut state.sketch,
            ),
        };
        let accesses: &mut Counters = &mut self.counters.accesses;
        let tally = Tally::new(accesses, Datapath::Private);
        let ready = self.scoreboard.row_mut(warp);
        if let Some(delivery) = &mut self.delivery {
            how.apply(&mut hierarchy, &mut Requests::new(tally, delivery, ready, warp, from));
            return from;
        }
        let writes = ObservedPorts {
            ports: &mut self.writes,
            observer: &mut self.observer,
            writer: Writer { place: warp as u8, cause: WriteCause::Flush },
        };
        let mut flush = Flush { tally, writes, ready, now: from, end: from, write_delay: 0 };
        how.apply(&mut hierarchy, &mut flush);
        let (end, delay) = (flush.end, flush.write_delay);
        self.counters.record(CycleEvent::WriteDelay, delay);
        end
    }

    /// Loads the warp's next run, if there is one.
    pub(super) fn load_step(&mut self, warp: usize) -> Result<(), Fault> {
        let state = &mut self.memory.warps[warp];
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
        self.image.run(step)?;
        (state.pc, state.left, state.mask) = (step.pc, step.length, step.mask);
        let length = u64::from(step.length);
        let lanes = u64::from(step.mask.0.count_ones());
        self.counters.accesses.record(Event::WarpInstruction, length);
        self.counters.accesses.record(Event::ThreadInstruction, length * lanes);
        if step.mask.is_empty() {
            self.counters.accesses.record_main_operands(0, length);
        }
        Ok(())
    }

    /// When the operands of the warp's next instruction are there.
    #[inline]
    pub(super) fn operands(&self, warp: usize) -> ReadyAt {
        self.last_operand(warp, |_| true)
    }

    /// When the last of those operands is there that count.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn last_operand(&self, warp: usize, counts: impl Fn(ReadyAt) -> bool) -> ReadyAt {
        let state = &self.memory.warps[warp];
        let facts = &self.facts[state.pc as usize];
        let mut predicates = facts.predicates.read;
        let mut registers = facts.registers(&self.image);
        if state.mask.is_empty() {
            // An instruction without an enabled lane needs its guard only.
            registers = &[];
        } else {
            predicates |= facts.predicates.written;
        }
        self.scoreboard.last(warp, registers, predicates, counts)
    }

    /// Decides what an active warp that has just issued, or has not begun, does next.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn proceed(&mut self, warp: usize, departs: bool) -> Result<(), Fault> {
        let state = &self.memory.warps[warp];
        if state.left == 0 || departs || state.at_barrier {
            return self.pause(warp, departs);
        }
        let sketch = self.facts[state.pc as usize].sketch;
        if self.rules.two_level && state.sketch.may_meet(sketch) && self.must_leave(warp)? {
            self.leave_at(warp, Departure::Data, self.memory.warps[warp].fetch);
        } else {
            self.await_operands(warp);
        }
        Ok(())
    }

    /// An active warp is at its end or at a barrier.
    fn pause(&mut self, warp: usize, departs: bool) -> Result<(), Fault> {
        let state = &self.memory.warps[warp];
        if state.left == 0 {
            return self.end_path(warp, departs);
        }
        if departs {
            self.leave_at(warp, Departure::Barrier, state.fetch);
        } else {
            self.sets.barrier |= 1 << warp;
        }
        Ok(())
    }

    /// Whether the warp's next instruction reads a pending long-latency result.
    fn must_leave(&self, warp: usize) -> Result<bool, Fault> {
        let state = &self.memory.warps[warp];
        if state.mask.is_empty()
            || self.config.settings().replacement != WarpReplacement::Preemptive
        {
            return Ok(false);
        }
        let facts = &self.facts[state.pc as usize];
        let sources = facts.sources(&self.image);
        let registers = usize::from(self.image.registers);
        let awaited = &self.memory.awaited[warp * registers..][..registers];
        let Some(register) = first_pending(awaited, sources, state.mask) else { return Ok(false) };
        check_mark(state.pc, facts.flags, register)?;
        Ok(true)
    }

    /// An active warp waits for its operands.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn await_operands(&mut self, warp: usize) {
        let bit = 1 << warp;
        let state = &self.memory.warps[warp];
        let fetch = state.fetch;
        let facts = &self.facts[state.pc as usize];
        // Without an enabled lane nothing is started.
        if !state.mask.is_empty() {
            if self.delivery.is_some() {
                self.collecting |= u64::from(facts.collected) << warp;
            } else if let Class::Unit(unit) = facts.class {
                self.wanting[unit as usize] |= bit;
            }
        }
        let ready = self.operands(warp).max(fetch);
        if ready.cycle() <= self.now {
            self.sets.ready |= bit;
            return;
        }
        if ready.is_pending() {
            let operand = self.place_of_operand(warp, ready);
            let state = &mut self.memory.warps[warp];
            (state.wait, state.operand) = (ready.wait(), operand);
            self.sets.waiting[ready.wait() as usize] |= bit;
            self.unsettled |= bit;
            return;
        }
        if self.leaves_while_waiting && self.leaves_instead(warp, ready) {
            return;
        }
        self.awaiting |= bit;
        self.sets.waiting[ready.wait() as usize] |= bit;
        self.wheel.schedule(warp, ready.cycle());
    }

    /// Has a warp that must wait for operands, until `ready`, leave the active set instead, if it
    /// does: at the first cycle in which a rule holds, and what the rule is about has not come.
    #[inline(never)]
    fn leaves_instead(&mut self, warp: usize, ready: ReadyAt) -> bool {
        let (state, settings) = (&self.memory.warps[warp], self.config.settings());
        let fetch = state.fetch;
        // From when it could issue otherwise.
        let from = state.fetch.cycle().max(self.now + 1);
        let short = (Waits::short(settings.short_waits), from);
        let long = match settings.replacement {
            WarpReplacement::Preemptive => None,
            WarpReplacement::Reactive { threshold } => {
                Some((Waits::ALL, from + u64::from(threshold)))
            }
            WarpReplacement::CacheMiss => {
                Some((Waits::only(Wait::LongLatency), from.max(state.asked_until)))
            }
        };
        let holds = |&(kinds, at): &(Waits, u64)| {
            self.last_operand(warp, |ready| kinds.contains(ready.wait())).cycle() > at
        };
        let first = [Some(short), long].into_iter().flatten().filter(holds).map(|(_, at)| at).min();
        let Some(at) = first else { return false };
        let wait = if at > fetch.cycle() { ready.wait() } else { fetch.wait() };
        self.leave_at(warp, Departure::Data, ReadyAt::new(at, wait));
        true
    }
}
