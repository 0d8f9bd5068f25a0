//! Fixed latency: an instruction through operands and results, everything of which is decided at
//! issue, but for data whose arrival time the memory does not know yet.

use super::Emptying;
use super::ports::{FixedPorts, Writer};
use crate::access::{Access, AccessSink};
use crate::datapath::Datapath;
use crate::hierarchy::{UpperLevels, WarpHierarchy};
use crate::image::Flags;
use crate::sm::banks::BankCounts;
use crate::sm::counters::CycleEvent;
use crate::sm::facts::{Facts, bits};
use crate::sm::fault::Fault;
use crate::sm::kernel::{Instruction, Kernel, distinct};
use crate::sm::memory::Ticket;
use crate::sm::observe::{Observation, SmObserver, WriteCause};
use crate::sm::run::Run;
use crate::sm::scoreboard::{Row, Scoreboard};
use crate::sm::wait::ReadyAt;
use crate::tally::Tally;
use crate::units::{LaneMask, RegisterId};

/// Follows an instruction's operand traffic to banks and ports.
struct Traffic<'s, O> {
    tally: Tally<'s, false>,
    ports: &'s mut FixedPorts,
    observer: &'s mut O,
    /// When each register of the warp is there.
    ready: &'s mut [ReadyAt],
    now: u64,
    writer: Writer,
    /// When the instruction's result is there, conflicts apart.
    done: ReadyAt,
    reads: BankCounts,
    write_delay: u64,
}

impl<O: SmObserver> AccessSink for Traffic<'_, O> {
    #[inline]
    fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        match access {
            Access::MrfRead => self.reads.add(self.ports.banks.of(register)),
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
        let ready = &mut self.ready[usize::from(register.0)];
        if goes_on(ready) {
            return;
        }
        // The victim leaves when the new value comes, if that is known, or when it has come itself.
        let known = |at: ReadyAt| if at.is_pending() { self.now } else { at.cycle() };
        let time = known(self.done).max(known(*ready));
        let cycle = self.ports.write((self.writer, register), time, self.now, self.observer);
        self.write_delay += cycle - time;
    }
}

/// Follows a flush to the write ports.
struct Flush<'s, O> {
    tally: Tally<'s, false>,
    ports: &'s mut FixedPorts,
    observer: &'s mut O,
    ready: &'s mut [ReadyAt],
    now: u64,
    writer: Writer,
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
    /// A value is written; one on its way goes straight to the main register file when it comes.
    fn write_back(&mut self, register: RegisterId) {
        let ready = &mut self.ready[usize::from(register.0)];
        if goes_on(ready) {
            return;
        }
        let time = if ready.is_pending() { self.now } else { self.now.max(ready.cycle()) };
        let cycle = self.ports.write((self.writer, register), time, self.now, self.observer);
        self.write_delay += cycle - time;
        if ready.is_pending() || ready.cycle() <= self.now {
            self.end = self.end.max(cycle + 1);
        } else {
            *ready = ReadyAt::new(cycle, ready.wait());
        }
    }
}

/// Whether a value that leaves its level is pending and goes on to the main register file when it
/// arrives: a pending value that goes there already leaves older lanes of its register behind,
/// which are written now.
fn goes_on(ready: &mut ReadyAt) -> bool {
    let goes_on = ready.is_pending() && !ready.goes_to_main();
    if goes_on {
        *ready = ready.to_main();
    }
    goes_on
}

impl FixedPorts {
    /// Takes an instruction that issues through the warp's hierarchy; its results are there at
    /// `there`, conflicts apart. `operands` says by how much the instruction's reads delay it, if
    /// these ports do not. Returns by how many cycles its reads hold up the pipeline.
    #[inline]
    pub(super) fn execute<O: SmObserver, const CAPACITY: usize>(
        &mut self,
        upper: &mut [Option<UpperLevels<CAPACITY>>],
        instruction: Instruction<'_>,
        there: ReadyAt,
        (kernel, operands): (&Kernel<'_>, impl FnOnce(BankCounts) -> Option<u64>),
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> Result<u64, Fault> {
        let facts = instruction.facts;
        // Without levels of either kind there is nothing to look up and nothing to track.
        let (reads, to_main) = if kernel.counts_flat {
            let mut tally = Tally::<false>::new(&mut run.counters.accesses, facts.datapath);
            let (sources, destinations) = (kernel.sources(facts), kernel.destinations(facts));
            tally.flat(sources, destinations, LaneMask::FULL);
            tally.end_instruction();
            (facts.reads, u32::MAX)
        } else {
            self.through_levels(upper, instruction, there, kernel, scoreboard, run)?
        };
        let told = if self.heard { operands(reads) } else { None };
        let delay = match told {
            None => self.read_operands(instruction, reads, run),
            Some(delay) => {
                tell_operands(instruction, (reads, delay), run);
                delay
            }
        };
        if facts.has_results() {
            if there.is_pending() {
                await_results(instruction, there, to_main, kernel, scoreboard);
            } else {
                let there = ReadyAt::new(there.cycle() + delay, there.wait());
                self.write_results(instruction, there, to_main, kernel, scoreboard, run);
            }
        }
        Ok(delay)
    }

    /// Takes an instruction through the warp's hierarchy. Returns the reads of the main register
    /// file's banks, and bit `i` if result `i` goes there.
    #[expect(clippy::inline_always, reason = "a tenth of the time of an SM with a cache")]
    #[inline(always)]
    fn through_levels<O: SmObserver, const CAPACITY: usize>(
        &mut self,
        upper: &mut [Option<UpperLevels<CAPACITY>>],
        instruction: Instruction<'_>,
        done: ReadyAt,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> Result<(BankCounts, u32), Fault> {
        let Instruction { facts, pc, mask, place, .. } = instruction;
        let warp = usize::from(instruction.warp);
        let step = kernel.step(pc, facts, mask);
        let Row { entries, pending, .. } = scoreboard.row(warp);
        let mut hierarchy = WarpHierarchy { upper: upper[usize::from(place)].as_mut(), pending };
        let mut traffic = Traffic {
            tally: Tally::new(&mut run.counters.accesses, facts.datapath),
            ports: self,
            observer: &mut run.observer,
            ready: entries,
            now: run.now,
            writer: Writer { place: warp as u8, cause: WriteCause::Eviction },
            done,
            reads: BankCounts::EMPTY,
            write_delay: 0,
        };
        let to_main = hierarchy.execute(&step, kernel.rules, &mut traffic)?;
        let Traffic { tally, reads, write_delay, .. } = traffic;
        tally.end_instruction();
        if write_delay != 0 {
            run.counters.record(CycleEvent::WriteDelay, write_delay);
        }
        Ok((if kernel.flat { facts.reads } else { reads }, to_main))
    }

    /// Reads operands from the banks. Returns by how much that delays the instruction.
    #[inline]
    fn read_operands<O: SmObserver>(
        &mut self,
        instruction: Instruction<'_>,
        reads: BankCounts,
        run: &mut Run<O>,
    ) -> u64 {
        if reads.is_empty() {
            return 0;
        }
        let outcome = self.read(reads, run.now);
        if O::LISTENS {
            let (place, pc) = (instruction.warp, instruction.pc);
            for (bank, from, until) in self.planned(reads) {
                run.observer.observe(Observation::BankRead { bank, place, pc, from, until });
            }
        }
        if outcome.own_conflicts + outcome.other_conflicts != 0 {
            run.counters.record(CycleEvent::OwnBankConflict, outcome.own_conflicts);
            run.counters.record(CycleEvent::OtherBankConflict, outcome.other_conflicts);
            run.counters.record(CycleEvent::OperandDelay, outcome.delay);
        }
        outcome.delay
    }

    /// Reserves the writes of results, which are there from `there` on, one a cycle; bit `i` of
    /// `to_main`: result `i` goes to the main register file.
    #[inline]
    fn write_results<O: SmObserver>(
        &mut self,
        instruction: Instruction<'_>,
        there: ReadyAt,
        mut to_main: u32,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) {
        let (warp, facts) = (usize::from(instruction.warp), instruction.facts);
        let (done, wait) = (there.cycle(), there.wait());
        let (ready, predicates, under_way) = scoreboard.parts_mut(warp);
        let writer = Writer { place: warp as u8, cause: WriteCause::Result };
        let mut last = done;
        for (&register, mut time) in kernel.destinations(facts).iter().zip(done..) {
            let main = to_main & 1 != 0;
            to_main >>= 1;
            if main {
                let cycle = self.write((writer, register), time, run.now, &mut run.observer);
                if cycle != time {
                    run.counters.record(CycleEvent::WriteDelay, cycle - time);
                    time = cycle;
                }
            }
            last = last.max(time);
            ready[usize::from(register.0)] = ReadyAt::new(time, wait);
        }
        for predicate in bits(facts.predicates.written) {
            predicates[predicate] = there;
        }
        under_way.expect(last, is_long(facts));
        run.tell(|| Observation::Result { cycle: last });
    }

    /// A piece of the data of a ticket arrives. Returns whether it was the last of some result.
    pub(super) fn arrive<O: SmObserver>(
        &mut self,
        ticket: Ticket,
        at: u64,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> bool {
        let (warp, facts) = (usize::from(ticket.warp), kernel.facts(ticket.pc));
        let writer = Writer { place: ticket.warp, cause: WriteCause::Result };
        let mut arrived = scoreboard.arrive_predicates(warp, facts.predicates.written, at);
        if arrived && !facts.has_registers() {
            scoreboard.under_way_mut(warp).end();
        }
        distinct(kernel.destinations(facts), |index, register| {
            let place = usize::from(register.0);
            let Some(entry) = scoreboard.arrive_in_part(warp, place) else { return };
            let time = at + index as u64;
            let mut cycle = time;
            if entry.goes_to_main() {
                cycle = self.write((writer, register), time, run.now, &mut run.observer);
                run.counters.record(CycleEvent::WriteDelay, cycle - time);
            }
            scoreboard.arrive(warp, place, (cycle, entry.wait()), is_long(facts));
            arrived = true;
        });
        arrived
    }

    /// Empties a warp's upper levels from cycle `from` on. Returns the first cycle after that.
    pub(super) fn empty<O: SmObserver, const CAPACITY: usize>(
        &mut self,
        upper: Option<&mut UpperLevels<CAPACITY>>,
        warp: usize,
        from: u64,
        how: Emptying,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> u64 {
        let Row { entries, pending, .. } = scoreboard.row(warp);
        let mut flush = Flush {
            tally: Tally::new(&mut run.counters.accesses, Datapath::Private),
            ports: self,
            observer: &mut run.observer,
            ready: entries,
            now: from,
            writer: Writer { place: warp as u8, cause: WriteCause::Flush },
            end: from,
            write_delay: 0,
        };
        how.apply(&mut WarpHierarchy { upper, pending }, &mut flush);
        let (end, delay) = (flush.end, flush.write_delay);
        run.counters.record(CycleEvent::WriteDelay, delay);
        end
    }
}

/// The operands of an instruction are read from now on, which delays it by so many cycles.
#[cold]
fn tell_operands<O: SmObserver>(
    instruction: Instruction<'_>,
    (reads, delay): (BankCounts, u64),
    run: &mut Run<O>,
) {
    let (place, pc, from) = (instruction.warp, instruction.pc, run.now);
    let mut conflicts = 0;
    for (bank, count) in reads.all().filter(|&(_, count)| count != 0) {
        conflicts += count - 1;
        let until = from + count;
        run.tell(|| Observation::BankRead { bank, place, pc, from, until });
    }
    run.counters.record(CycleEvent::OwnBankConflict, conflicts);
    run.counters.record(CycleEvent::OperandDelay, delay);
}

/// Results of an instruction are pending, and arrive as `there` says; bit `i` of `to_main`: result
/// `i` goes to the main register file.
#[cold]
fn await_results(
    instruction: Instruction<'_>,
    there: ReadyAt,
    to_main: u32,
    kernel: &Kernel<'_>,
    scoreboard: &mut Scoreboard<'_>,
) {
    let (warp, facts) = (usize::from(instruction.warp), instruction.facts);
    let (registers, predicates, under_way) = scoreboard.parts_mut(warp);
    distinct(kernel.destinations(facts), |index, register| {
        let main = to_main >> index & 1 != 0;
        registers[usize::from(register.0)] = if main { there.to_main() } else { there };
        under_way.announce(is_long(facts));
    });
    for predicate in bits(facts.predicates.written) {
        predicates[predicate] = there;
    }
    if !facts.has_registers() {
        under_way.begin();
    }
}

const fn is_long(facts: &Facts) -> bool {
    facts.flags.contains(Flags::LONG_LATENCY)
}
