//! Operand collection: an SM whose operands come through collectors, from issue to the end of a
//! result's write.
//!
//! In each cycle, before issue: instructions that have their operands start; results that are there
//! ask for their write; the arbiter lets accesses happen; warps that waited for what has come go
//! on. What an instruction asks for at issue is for the arbiter of the next cycle.

use super::arrivals::after;
use super::collectors::{
    Collected, CollectorUnits, Collectors, Delivery, PORTS, ResultOnItsWay, UnderWay, distinct,
    port,
};
use super::config::MAX_RESIDENT_WARPS;
use super::counters::{CycleEvent, SmCounters};
use super::facts::{Class, Facts, ReadyAt, Wait};
use super::fault::Fault;
use super::machine::Sm;
use super::observe::{Observation, SmObserver, WriteCause};
use super::operand_delivery::COLLECTOR_CYCLES;
use super::requests::{Requests, cause};
use super::scoreboard::Scoreboard;
use super::warp::{Phase, Trace, Warp};
use crate::access::Access;
use crate::arbiter::{Granted, ReadGrant, WriteGrant, WriteTarget};
use crate::event::{Datapath, Event};
use crate::hierarchy::{Step, WarpHierarchy};
use crate::rules::PendingResults;
use crate::tally::{Tally, event};
use crate::units::{LaneMask, RegisterId};
use crate::write_pool::PoolRead;

/// Cycles from issue to the earliest start: operands are asked for, come, and are there.
const EARLIEST_START: u64 = 2;

/// What a write is counted as when it goes to the write pool.
const fn in_pool(event: Event) -> Event {
    match event {
        Event::RfcWritebackEviction | Event::RfcWritebackFlush => Event::RfcToWritePool,
        Event::LrfWritebackEviction | Event::LrfWritebackFlush => Event::LrfToWritePool,
        Event::MrfWriteShared => Event::WritePoolWriteShared,
        _ => Event::WritePoolWritePrivate,
    }
}

/// The parts of an SM that the arrival of a register changes.
struct Comings<'s, 'm, T> {
    warps: &'s mut [Warp<T>],
    scoreboard: &'s mut Scoreboard<'m>,
    results: &'s mut [ResultOnItsWay],
    under_way: &'s mut [UnderWay; MAX_RESIDENT_WARPS],
    /// Warps for which something has come.
    moved: u64,
}

impl<T> Comings<'_, '_, T> {
    /// A register is there from cycle `at` on.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn come(&mut self, index: usize, (warp, register): (usize, usize), at: u64) {
        let result = &self.results[index];
        self.scoreboard.set(warp, register, ReadyAt::new(at, result.wait));
        let (state, under_way) = (&mut self.warps[warp], &mut self.under_way[warp]);
        under_way.all -= 1;
        state.results_until = state.results_until.max(at);
        if result.long {
            under_way.long -= 1;
            state.long_until = state.long_until.max(at);
        }
        self.moved |= 1 << warp;
    }
}

/// Follows what the arbiter lets happen.
struct Accesses<'s, 'm, T, O> {
    now: u64,
    counters: &'s mut SmCounters,
    observer: &'s mut O,
    units: &'s mut CollectorUnits,
    comings: Comings<'s, 'm, T>,
}

impl<T, O: SmObserver> Accesses<'_, '_, T, O> {
    fn tell_write(&mut self, bank: u8, place: u8, register: RegisterId, cause: WriteCause) {
        if O::LISTENS {
            let cycle = self.now;
            let write = Observation::BankWrite { bank, place, register, cycle, cause };
            self.observer.observe(write);
        }
    }
}

impl<T, O: SmObserver> Granted for Accesses<'_, '_, T, O> {
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn read(&mut self, grant: ReadGrant) {
        if grant.beside_write {
            self.counters.record(CycleEvent::SplitBankRead, 1);
        }
        let main = event(Access::MrfRead, grant.datapath);
        let pool = match grant.datapath {
            Datapath::Private => Event::WritePoolReadPrivate,
            Datapath::Shared => Event::WritePoolReadShared,
        };
        let accesses = &mut self.counters.accesses;
        match grant.pool {
            PoolRead::Miss => accesses.record(main, 1),
            PoolRead::Hit => accesses.record(pool, 1),
            PoolRead::PartialHit => {
                accesses.record(main, 1);
                accesses.record(pool, 1);
                accesses.record(Event::WritePoolPartialHit, 1);
            }
        }
        if O::LISTENS && grant.pool != PoolRead::Hit {
            let (bank, from, until) = (grant.bank, self.now, grant.until);
            let (place, pc) = (grant.warp, self.units.pc(grant.unit));
            self.observer.observe(Observation::BankRead { bank, place, pc, from, until });
        }
        self.units.receive(grant.unit, grant.until);
    }

    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn write(&mut self, grant: WriteGrant) -> LaneMask {
        if grant.waited != 0 {
            self.counters.record(CycleEvent::WriteDelay, grant.waited);
        }
        let (warp, register) = (usize::from(grant.warp), usize::from(grant.register.0));
        let result = &mut self.comings.results[grant.index];
        let ResultOnItsWay { event, flushed, .. } = *result;
        let more = result.next_write();
        if more.is_empty() {
            if flushed {
                self.comings.under_way[warp].flushes -= 1;
            }
            self.comings.come(grant.index, (warp, register), grant.until);
        }
        let accesses = &mut self.counters.accesses;
        match grant.target {
            WriteTarget::Bank => {
                accesses.record(event, 1);
                self.tell_write(grant.bank, grant.warp, grant.register, cause(event));
                return more;
            }
            WriteTarget::PoolHit => accesses.record(Event::WritePoolWriteHit, 1),
            WriteTarget::PoolAllocation => accesses.record(Event::WritePoolAllocation, 1),
            WriteTarget::PoolReplacement { victim, bank } => {
                accesses.record(Event::WritePoolAllocation, 1);
                accesses.record(Event::WritePoolWriteback, 1);
                self.tell_write(bank, victim.warp, victim.register, WriteCause::WritePool);
            }
        }
        self.counters.accesses.record(in_pool(event), 1);
        more
    }
}

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// Issues an instruction with a lane enabled: it enters a collector unit, if it needs one, and
    /// asks for its operands.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    pub(super) fn collect(&mut self, warp: usize, facts: &Facts) -> Result<(), Fault> {
        let access = self.access(warp, facts)?;
        let hit = access.hit && facts.class == Class::Dram;
        let wait = if hit { Wait::Cached } else { facts.wait };
        let missing = if self.flat {
            self.request_flat(warp, facts, wait)
        } else {
            self.request_through_levels(warp, facts, wait)?
        };
        let written = facts.predicates.written;
        if written != 0 {
            self.scoreboard.set_predicates(warp, written, ReadyAt::pending(wait));
        }
        if facts.collected
            && let Some(delivery) = &mut self.delivery
        {
            let units = &mut delivery.collectors.units;
            let unit = units.next();
            units.enter(
                unit,
                Collected {
                    warp: warp as u8,
                    port: port(facts.class) as u8,
                    missing,
                    pc: self.memory.warps[warp].pc,
                    access,
                    from: self.now + EARLIEST_START,
                    order: 0,
                },
            );
        }
        Ok(())
    }

    /// Takes an instruction through a main register file alone. Returns the operands that its
    /// collector unit waits for.
    #[inline]
    fn request_flat(&mut self, warp: usize, facts: &Facts, wait: Wait) -> u8 {
        let Some(delivery) = &mut self.delivery else { return 0 };
        let state = &mut self.memory.warps[warp];
        let registers = usize::from(self.image.registers);
        let (sources, destinations) = (facts.sources(&self.image), facts.destinations(&self.image));
        let (mask, ready) = (state.mask, self.scoreboard.row_mut(warp));
        delivery.announce(warp, facts, (destinations, mask, wait), ready, true);
        self.counters.accesses.record_main_operands(sources.len() as u32, 1);
        let pending = self.rules.makes_pending(facts.flags);
        if pending || state.sketch.may_meet(facts.sketch) {
            let lanes = &mut self.memory.awaited[warp * registers..][..registers];
            PendingResults::new(lanes, &mut state.sketch).issue(destinations, mask, pending);
        }
        let Delivery { collectors, queues, .. } = delivery;
        let unit = collectors.units.next();
        let first = unit * collectors.reads_per_unit;
        for (&register, element) in sources.iter().zip(first..) {
            let consumer = (unit as u8, facts.datapath);
            let operand = (warp as u8, register, mask);
            collectors.arbiter.ask_read(queues, element, consumer, operand);
        }
        sources.len() as u8
    }

    /// The same through the levels above it.
    // Apart from the way without levels, which its registers would slow down.
    #[inline(never)]
    fn request_through_levels(
        &mut self,
        warp: usize,
        facts: &Facts,
        wait: Wait,
    ) -> Result<u8, Fault> {
        let Some(delivery) = &mut self.delivery else { return Ok(0) };
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
        let (sources, destinations) = (facts.sources(&self.image), facts.destinations(&self.image));
        let (pc, mask) = (state.pc, state.mask);
        let registers = (sources, destinations);
        let step = Step::new(&self.image, (pc, instruction), registers, managed, mask);
        let ready = self.scoreboard.row_mut(warp);
        // Before the levels hear of it: one result may evict another of the same instruction.
        delivery.announce(warp, facts, (destinations, mask, wait), ready, false);
        let unit = delivery.collectors.units.next();
        let tally = Tally::new(&mut self.counters.accesses, facts.datapath);
        let mut requests = Requests {
            unit,
            datapath: facts.datapath,
            ..Requests::new(tally, delivery, ready, warp, self.now)
        };
        let to_main = hierarchy.execute(&step, self.rules, &mut requests)?;
        let Requests { tally, reads, .. } = requests;
        tally.end_instruction();
        distinct(destinations, |index, register| {
            let result = delivery.collectors.arbiter.index(warp as u8, register);
            if to_main >> index & 1 != 0 {
                delivery.results[result]
                    .goes_to_main(mask, event(Access::MrfWrite, facts.datapath));
            }
        });
        Ok(reads)
    }

    /// What happens between issues, in one cycle; `PLAIN` says what the arbiter is.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    pub(super) fn step_collectors<const PLAIN: bool>(&mut self) {
        let mut moved = self.start_collected();
        let Some(Delivery { collectors, queues, results }) = &mut self.delivery else { return };
        let Collectors { arbiter, arrivals, units, under_way, .. } = &mut **collectors;
        let registers = usize::from(self.image.registers);
        let mut next = arrivals.take(results, self.now);
        while let Some(index) = next {
            let ResultOnItsWay { to_main, lanes, ref link, .. } = results[index];
            next = after(link);
            if to_main {
                arbiter.ask_write_of(queues, index, lanes, self.now);
                continue;
            }
            let (warp, register) = (index / registers, index % registers);
            let mut comings = Comings {
                warps: &mut *self.memory.warps,
                scoreboard: &mut self.scoreboard,
                results,
                under_way: &mut *under_way,
                moved: 0,
            };
            comings.come(index, (warp, register), self.now + 1);
            moved |= comings.moved;
        }
        if !arbiter.is_idle() {
            let comings = Comings {
                warps: &mut *self.memory.warps,
                scoreboard: &mut self.scoreboard,
                results,
                under_way,
                moved,
            };
            let mut accesses = Accesses {
                now: self.now,
                counters: &mut self.counters,
                observer: &mut self.observer,
                units,
                comings,
            };
            if PLAIN {
                arbiter.cycle_plain(queues, self.now, &mut accesses);
            } else {
                arbiter.cycle(queues, self.now, &mut accesses);
            }
            moved = accesses.comings.moved;
            let waiting = arbiter.queued_reads();
            if waiting != 0 {
                self.counters.record(CycleEvent::OperandWait, u64::from(waiting));
            }
        }
        let mut moved = moved & self.unsettled;
        while moved != 0 {
            let warp = moved.trailing_zeros() as usize;
            moved &= moved - 1;
            self.settle(warp);
        }
    }

    /// Starts instructions that have their operands. Returns the warps for which that changes
    /// something.
    #[inline]
    fn start_collected(&mut self) -> u64 {
        let mut moved = 0;
        let mut ports = self.delivery.as_ref().map_or(0, |all| all.collectors.units.ports());
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            // The units that start a warp in every cycle are as many as issue slots.
            let mut starts = if port == 0 { self.config.settings().issue_slots } else { 1 };
            while starts != 0 {
                let Some(changed) = self.start_oldest(port) else { break };
                moved |= changed;
                starts -= 1;
            }
        }
        moved
    }

    /// Starts the oldest instruction for a port that can start now, if there is one. Returns its
    /// warp, if that changes something for it.
    #[inline]
    fn start_oldest(&mut self, port: usize) -> Option<u64> {
        let units = &mut self.delivery.as_mut()?.collectors.units;
        let unit = units.oldest(port, self.now)?;
        if (1..PORTS - 1).contains(&port) && self.units.free_at(port - 1) > self.now {
            return None;
        }
        let instruction = units.leave(unit);
        Some(self.start(&instruction))
    }

    /// Starts an instruction in its unit, which is free. Returns its warp, if it waited for
    /// nothing but that or has predicates to write, of which it is known now when they are there.
    #[inline]
    fn start(&mut self, instruction: &Collected) -> u64 {
        let Collected { warp, pc, access, .. } = *instruction;
        let (warp, facts) = (usize::from(warp), &self.facts[pc as usize]);
        let done = self.start_in_unit((warp, pc), facts, access);
        let Some(Delivery { collectors, results, .. }) = &mut self.delivery else { return 0 };
        let mut moved = 0;
        if !facts.has_registers() {
            collectors.under_way[warp].all -= 1;
            moved = 1 << warp;
        }
        let there = done - u64::from(COLLECTOR_CYCLES);
        let (now, of_dram) = (self.now, facts.class == Class::Dram);
        distinct(facts.destinations(&self.image), |index, register| {
            let result = collectors.arbiter.index(warp as u8, register);
            collectors.arrivals.start(results, result, (now, there + index as u64), of_dram);
        });
        if facts.predicates.written != 0 {
            self.start_predicates(warp, facts.predicates.written, done - EARLIEST_START);
            moved = 1 << warp;
        }
        moved
    }

    /// Predicates are no part of the main register file and need no write of it.
    fn start_predicates(&mut self, warp: usize, written: u32, there: u64) {
        self.scoreboard.complete_predicates(warp, written, there);
        let state = &mut self.memory.warps[warp];
        state.results_until = state.results_until.max(there);
    }

    /// Something has arrived for a warp that waited for a completion.
    fn settle(&mut self, warp: usize) {
        let bit = 1 << warp;
        let Some(delivery) = &self.delivery else { return };
        let under_way = &delivery.collectors.under_way[warp];
        let state = &mut self.memory.warps[warp];
        match state.phase {
            // Another register has come.
            Phase::Idle if self.scoreboard.is_pending(warp, state.operand) => {}
            Phase::Idle => {
                self.unsettled &= !bit;
                self.sets.waiting[state.wait as usize] &= !bit;
                self.await_operands(warp);
            }
            Phase::Outside => {
                self.unsettled &= !bit;
                self.await_return(warp);
            }
            Phase::Flushing(_) if under_way.flushes == 0 => {
                self.unsettled &= !bit;
                // The last value leaves its level in this cycle.
                let end = self.now + 1;
                self.counters.record(CycleEvent::FlushCycle, end - state.flushing_since);
                self.wheel.schedule(warp, end);
            }
            Phase::Draining if under_way.all == 0 => {
                self.unsettled &= !bit;
                let end = state.results_until.max(self.now + 1);
                self.wheel.schedule(warp, end);
            }
            Phase::Flushing(_) | Phase::Draining | Phase::Leaving(_) => {}
        }
    }

    /// Where in the warp's row an operand of its next instruction is that is there at `ready`.
    pub(super) fn place_of_operand(&self, warp: usize, ready: ReadyAt) -> u32 {
        let state = &self.memory.warps[warp];
        let facts = &self.facts[state.pc as usize];
        let predicates = facts.predicates.read | facts.predicates.written;
        let masked = state.mask.is_empty();
        let registers = if masked { &[] } else { facts.registers(&self.image) };
        self.scoreboard.place_of(warp, registers, predicates, ready)
    }

    /// What is under way of a warp; nothing without collectors.
    pub(super) fn under_way(&self, warp: usize) -> UnderWay {
        self.delivery
            .as_ref()
            .map_or_else(UnderWay::default, |delivery| delivery.collectors.under_way[warp])
    }
}
