//! Operand collection: an instruction whose operands come through collectors, from its issue to the
//! end of its result's write.
//!
//! In each cycle, before issue: instructions that have their operands start; results that are there
//! ask for their write; the arbiter lets accesses happen; warps that waited for what has come go
//! on. What an instruction asks for at issue is for the arbiter of the next cycle.

use super::Emptying;
use super::arrivals::after;
use super::collectors::{Collected, Collection, Collectors, PORTS, ResultOnItsWay};
use super::granted::{Accesses, Comings};
use super::requests::Requests;
use crate::access::{Access, AccessSink as _};
use crate::datapath::Datapath;
use crate::hierarchy::{UpperLevels, WarpHierarchy};
use crate::sm::counters::CycleEvent;
use crate::sm::execution::Execution;
use crate::sm::facts::{BusyUnit, Class, Facts};
use crate::sm::fault::Fault;
use crate::sm::kernel::{Instruction, Kernel, distinct};
use crate::sm::memory::Ticket;
use crate::sm::observe::SmObserver;
use crate::sm::operand_delivery::COLLECTOR_CYCLES;
use crate::sm::run::Run;
use crate::sm::scoreboard::{Row, Scoreboard};
use crate::sm::trace::MemoryAccess;
use crate::sm::wait::{ReadyAt, Wait};
use crate::tally::{Tally, event};
use crate::units::RegisterId;

/// Cycles from issue to the earliest start: operands are asked for, come, and are there.
const EARLIEST_START: u64 = 2;

/// What a reader of an instruction's result waits for, if the instruction moves `access`.
const fn wait_for_result(facts: &Facts, access: MemoryAccess) -> Wait {
    if access.hit() && matches!(facts.class, Class::Dram) { Wait::Cached } else { facts.wait }
}

impl Collection<'_> {
    /// Issues an instruction with a lane enabled, which moves `access`: it asks for its operands,
    /// and enters a collector unit if it needs one.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    pub(super) fn ask<O: SmObserver, const CAPACITY: usize>(
        &mut self,
        upper: &mut [Option<UpperLevels<CAPACITY>>],
        instruction: Instruction<'_>,
        access: MemoryAccess,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        if !kernel.flat {
            return self.ask_through_levels(upper, instruction, access, kernel, scoreboard, run);
        }
        let Instruction { mask, facts, .. } = instruction;
        let warp = usize::from(instruction.warp);
        let wait = wait_for_result(facts, access);
        let (sources, destinations) = (kernel.sources(facts), kernel.destinations(facts));
        self.announce(&instruction, destinations, wait, scoreboard, true);
        run.counters.accesses.record_main_operands(sources.len() as u32, 1);
        let pending = kernel.rules.makes_pending(facts.flags);
        if pending || scoreboard.may_be_read(warp, facts.sketch) {
            scoreboard.pending_mut(warp).issue(destinations, mask, pending);
        }
        let Self { collectors, queues, .. } = self;
        let Collectors { arbiter, units, reads_per_unit, .. } = &mut **collectors;
        let unit = units.next();
        let first = unit * *reads_per_unit;
        let consumer = (unit as u8, facts.datapath);
        for (&register, element) in sources.iter().zip(first..) {
            let operand = (warp as u8, register, mask);
            arbiter.ask_read(queues, element, consumer, operand);
        }
        if self.collectors.prefetcher.is_some() {
            self.place_results(&instruction, kernel, run)?;
        }
        self.enter(unit, (instruction, access), (wait, sources.len() as u8), scoreboard, run.now);
        Ok(())
    }

    /// Issues an instruction over a main register file with levels above it. The instruction has a
    /// lane enabled and moves `access`: it asks for its operands, and enters a collector unit if it
    /// needs one.
    // Apart from the way without levels, which its registers would slow down.
    #[inline(never)]
    fn ask_through_levels<O: SmObserver, const CAPACITY: usize>(
        &mut self,
        upper: &mut [Option<UpperLevels<CAPACITY>>],
        instruction: Instruction<'_>,
        access: MemoryAccess,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let Instruction { facts, pc, mask, place, .. } = instruction;
        let warp = usize::from(instruction.warp);
        let wait = wait_for_result(facts, access);
        let destinations = kernel.destinations(facts);
        // Before the levels hear of it: one result may evict another of the same instruction.
        self.announce(&instruction, destinations, wait, scoreboard, false);
        let inside = self.inside(&instruction, kernel);
        let (step, destinations) = match &inside {
            Some(inside) => (inside.step(pc, mask), inside.destinations()),
            None => (kernel.step(pc, facts, mask), destinations),
        };
        let unit = self.collectors.units.next();
        let tally = Tally::new(&mut run.counters.accesses, facts.datapath);
        let Row { entries, under_way, mut pending } = scoreboard.row(warp);
        let mut requests = Requests {
            unit,
            datapath: facts.datapath,
            ..Requests::new(tally, self, (entries, under_way), warp, run.now)
        };
        if let Some(inside) = &inside {
            // The levels hear of none of these.
            pending.issue(inside.results_outside(), mask, kernel.rules.makes_pending(facts.flags));
            for &register in inside.operands_outside() {
                requests.access(Access::MrfRead, register, mask);
            }
        }
        let mut hierarchy = WarpHierarchy { upper: upper[usize::from(place)].as_mut(), pending };
        let to_main = hierarchy.execute(&step, kernel.rules, &mut requests)?;
        let Requests { tally, reads, .. } = requests;
        tally.end_instruction();
        distinct(destinations, |index, register| {
            let result = self.collectors.arbiter.index(warp as u8, register);
            if to_main >> index & 1 != 0 {
                self.results[result].goes_to_main(mask, event(Access::MrfWrite, facts.datapath));
            }
        });
        if let Some(inside) = &inside {
            distinct(inside.results_outside(), |_, register| {
                let result = self.collectors.arbiter.index(warp as u8, register);
                self.results[result].goes_to_main(mask, event(Access::MrfWrite, facts.datapath));
            });
            self.place_results(&instruction, kernel, run)?;
        }
        self.enter(unit, (instruction, access), (wait, reads), scoreboard, run.now);
        Ok(())
    }

    /// An instruction whose operands have been asked for enters a collector unit, if it needs one,
    /// and its predicates are on their way.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn enter(
        &mut self,
        unit: usize,
        (instruction, access): (Instruction<'_>, MemoryAccess),
        (wait, missing): (Wait, u8),
        scoreboard: &mut Scoreboard<'_>,
        now: u64,
    ) {
        let Instruction { pc, facts, warp, .. } = instruction;
        let written = facts.predicates.written;
        if written != 0 {
            scoreboard.set_predicates(usize::from(warp), written, ReadyAt::pending(wait));
        }
        if !facts.collected {
            return;
        }
        if facts.class == Class::Dram {
            scoreboard.under_way_mut(usize::from(warp)).begin_access();
        }
        let (port, from) = (facts.class as u8, now + EARLIEST_START);
        let collected = Collected { warp, port, missing, pc, access, from, order: 0 };
        self.collectors.units.enter(unit, collected);
    }

    /// What happens between issues, in one cycle; `PLAIN` says what the arbiter is, and that no
    /// register lies in scratchpad memory. `sent` and the
    /// returned warps are those of [`super::RegisterFile::step`].
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    pub(super) fn step<const PLAIN: bool, O: SmObserver>(
        &mut self,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        execution: &mut Execution<'_>,
        run: &mut Run<O>,
        sent: impl FnMut(usize, u64) -> u64,
    ) -> u64 {
        let mut moved = self.start_collected(kernel, scoreboard, execution, run, sent);
        if !PLAIN && self.collectors.prefetcher.is_some() {
            let free_at = execution.units().free_at(BusyUnit::SharedMemory as usize);
            self.take_scratchpad(free_at > run.now, run);
        }
        let Self { collectors, queues, results, registers, .. } = self;
        let Collectors { arbiter, arrivals, units, prefetcher, .. } = &mut **collectors;
        let now = run.now;
        let mut next = arrivals.take(results, now);
        while let Some(index) = next {
            let ResultOnItsWay { to_main, lanes, ref link, .. } = results[index];
            next = after(link);
            if to_main {
                arbiter.ask_write_of(queues, index, lanes, now);
                continue;
            }
            let mut comings = Comings { scoreboard, results, moved: 0 };
            comings.come(index, (index / *registers, index % *registers), now + 1);
            moved |= comings.moved;
        }
        if !arbiter.is_idle() {
            let comings = Comings { scoreboard, results, moved };
            let Run { counters, observer, .. } = run;
            let main_banks = arbiter.bank_count();
            let mut accesses = Accesses::<'_, '_, O, PLAIN> {
                now,
                counters,
                observer,
                units,
                prefetcher,
                main_banks,
                comings,
            };
            if PLAIN {
                arbiter.cycle_plain(queues, now, &mut accesses);
            } else {
                arbiter.cycle(queues, now, &mut accesses);
            }
            moved = accesses.comings.moved;
            let waiting = arbiter.queued_reads();
            if waiting != 0 {
                run.counters.record(CycleEvent::OperandWait, u64::from(waiting));
            }
        }
        moved
    }

    /// Starts instructions that have their operands. Returns the warps for which that changes
    /// something.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn start_collected<O: SmObserver>(
        &mut self,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        execution: &mut Execution<'_>,
        run: &mut Run<O>,
        mut sent: impl FnMut(usize, u64) -> u64,
    ) -> u64 {
        let mut moved = 0;
        let mut ports = self.collectors.units.ports();
        // The units behind port 0 start a warp in every cycle; they are as many as issue slots.
        let mut others = self.issue_slots - 1;
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            let started = if port == PORTS - 1 {
                self.start_access(kernel, scoreboard, execution, run, &mut sent)
            } else {
                let not_sent = &mut |_: usize, _: u64| 0;
                self.start_oldest::<false, O>(port, kernel, scoreboard, execution, run, not_sent)
            };
            moved |= started.unwrap_or(0);
            if port == 0 && started.is_some() && others != 0 {
                others -= 1;
            } else {
                ports &= ports - 1;
            }
        }
        moved
    }

    /// Starts the oldest instruction for the port of global memory that can start now, if there is
    /// one. Returns its warp, if it waited for nothing but that or has predicates to write.
    // Apart from those that answer to nothing but their operands, which are most.
    #[inline(never)]
    fn start_access<O: SmObserver>(
        &mut self,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        execution: &mut Execution<'_>,
        run: &mut Run<O>,
        sent: &mut impl FnMut(usize, u64) -> u64,
    ) -> Option<u64> {
        self.start_oldest::<true, O>(PORTS - 1, kernel, scoreboard, execution, run, sent)
    }

    /// Starts the oldest instruction for a port that can start now, if there is one; `SENDS` says
    /// whether the port is that of global memory. Returns its warp, if it waited for nothing but
    /// that or has predicates to write, of which it is known now when they are there.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn start_oldest<const SENDS: bool, O: SmObserver>(
        &mut self,
        port: usize,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        execution: &mut Execution<'_>,
        run: &mut Run<O>,
        sent: &mut impl FnMut(usize, u64) -> u64,
    ) -> Option<u64> {
        let units = &mut self.collectors.units;
        let unit = units.oldest(port, run.now)?;
        if (1..PORTS - 1).contains(&port) && execution.units().free_at(port - 1) > run.now {
            return None;
        }
        let Collected { warp, pc, access, .. } = *units.instruction(unit);
        let (warp, facts) = (usize::from(warp), kernel.facts(pc));
        let known = if SENDS { execution.hit_known_at(run.now) } else { 0 };
        let there = execution.start((warp, pc), facts, access, kernel, run, |_| {})?;
        units.leave(unit, port);
        let written = facts.predicates.written;
        let mut moved = 0;
        if SENDS {
            scoreboard.under_way_mut(warp).end_access();
            moved = sent(warp, known);
            if there.wait() != wait_for_result(facts, access) {
                self.wait_for(warp, facts, there.wait(), kernel, scoreboard);
                moved |= 1 << warp;
            }
        }
        if there.is_pending() {
            if !facts.has_results() {
                scoreboard.under_way_mut(warp).end();
                moved = 1 << warp;
            }
            scoreboard.split(warp, kernel.destinations(facts), written, there);
            return Some(moved);
        }
        if !facts.has_registers() {
            scoreboard.under_way_mut(warp).end();
            moved = 1 << warp;
        }
        self.start_results(warp, facts, there.cycle(), kernel, run.now);
        if written != 0 {
            scoreboard.complete_predicates(warp, written, there.cycle() - EARLIEST_START);
            moved = 1 << warp;
        }
        Some(moved)
    }

    /// The readers of a warp's pending results wait for something else than was known at issue.
    #[cold]
    fn wait_for(
        &mut self,
        warp: usize,
        facts: &Facts,
        wait: Wait,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
    ) {
        let destinations = kernel.destinations(facts);
        for &register in destinations {
            let result = self.collectors.arbiter.index(warp as u8, register);
            self.results[result].wait = wait;
        }
        let pending = ReadyAt::pending(wait);
        scoreboard.split(warp, destinations, facts.predicates.written, pending);
    }

    /// Results of a warp's instruction can be used from `done` on, if nothing delays them.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn start_results(
        &mut self,
        warp: usize,
        facts: &Facts,
        done: u64,
        kernel: &Kernel<'_>,
        now: u64,
    ) {
        let there = done - u64::from(COLLECTOR_CYCLES);
        match kernel.destinations(facts) {
            &[register] => self.start_result((warp, register), facts.class, (now, there)),
            registers => self.start_each(warp, registers, facts.class, (now, there)),
        }
    }

    /// The results of a warp's instruction, which has none or several, start now. The first is
    /// there in cycle `there`, each other one cycle after the one before it.
    // Apart from those with one, which are most.
    #[inline(never)]
    fn start_each(
        &mut self,
        warp: usize,
        registers: &[RegisterId],
        class: Class,
        (now, there): (u64, u64),
    ) {
        distinct(registers, |index, register| {
            self.start_result((warp, register), class, (now, there + index as u64));
        });
    }

    /// A result starts now, and is there at a later cycle.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn start_result(
        &mut self,
        (warp, register): (usize, RegisterId),
        class: Class,
        (now, there): (u64, u64),
    ) {
        let Collectors { arbiter, arrivals, .. } = &mut *self.collectors;
        let result = arbiter.index(warp as u8, register);
        arrivals.start(self.results, result, (now, there), class == Class::Dram);
    }

    /// A piece of the data of a ticket arrives, after issue. Returns whether it was the last of
    /// some predicate; a register still has to be written.
    pub(super) fn arrive(
        &mut self,
        ticket: Ticket,
        at: u64,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        now: u64,
    ) -> bool {
        let (warp, facts) = (usize::from(ticket.warp), kernel.facts(ticket.pc));
        let written = facts.predicates.written;
        let arrived = scoreboard.arrive_predicates(warp, written, at);
        if arrived && !facts.has_registers() {
            scoreboard.under_way_mut(warp).end();
        }
        let mut last = !kernel.destinations(facts).is_empty();
        for register in kernel.destinations(facts) {
            last &= scoreboard.arrive_before_write(warp, usize::from(register.0));
        }
        if last {
            // Its write is asked for in the next cycle at the earliest.
            let earliest = now + 1 + u64::from(COLLECTOR_CYCLES);
            self.start_results(warp, facts, at.max(earliest), kernel, now);
        }
        arrived
    }

    /// Empties a warp's upper levels: asks the arbiter for the writes, from cycle `from` on.
    pub(super) fn empty<O, const CAPACITY: usize>(
        &mut self,
        upper: Option<&mut UpperLevels<CAPACITY>>,
        warp: usize,
        from: u64,
        how: Emptying,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) {
        let tally = Tally::new(&mut run.counters.accesses, Datapath::Private);
        let Row { entries, under_way, pending } = scoreboard.row(warp);
        let mut requests = Requests::new(tally, self, (entries, under_way), warp, from);
        how.apply(&mut WarpHierarchy { upper, pending }, &mut requests);
    }
}
