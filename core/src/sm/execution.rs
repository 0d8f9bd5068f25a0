//! Execution: where an instruction goes when it starts, and when its result is there.

use super::banks::BankCounts;
use super::facts::{BusyUnit, Class, Facts};
use super::kernel::Kernel;
use super::memory::bank_conflicts::OperandReads;
use super::memory::{
    Answer, Arrival, MemoryCounters, MemoryRequest, MemoryStep, MemorySystem, Space, Ticket,
};
use super::observe::{Observation, SmObserver, SmUnit};
use super::run::Run;
use super::trace::MemoryAccess;
use super::units::Units;
use super::wait::{ReadyAt, Wait};
use crate::image::Unit;

/// The execution units and the memory.
#[derive(Debug)]
pub(super) struct Execution<'m> {
    units: Units,
    memory: MemorySystem<'m>,
    /// The least cycles from the start of an access to its data.
    least: u64,
}

impl<'m> Execution<'m> {
    /// Idle units and a memory whose data comes in `least` cycles or more.
    pub(super) const fn new(units: Units, memory: MemorySystem<'m>, least: u64) -> Self {
        Self { units, memory, least }
    }

    /// The units that take several cycles to start a warp.
    #[inline]
    pub(super) const fn units(&self) -> &Units {
        &self.units
    }

    /// Starts a warp's instruction at `pc`, whose unit is free; `starts` is called before observers
    /// hear of the unit. Returns when the result is there; none if the memory refuses the access.
    #[inline]
    pub(super) fn start<O: SmObserver>(
        &mut self,
        (warp, pc): (usize, u32),
        facts: &Facts,
        access: MemoryAccess,
        kernel: &Kernel<'_>,
        run: &mut Run<O>,
        starts: impl FnOnce(&mut Run<O>),
    ) -> Option<ReadyAt> {
        if facts.class != Class::Free {
            return self.start_in_busy_unit((warp, pc), facts, access, run, starts);
        }
        starts(run);
        let now = run.now;
        run.tell(|| {
            let unit = match kernel.image.instructions[pc as usize].unit {
                Unit::Control => SmUnit::Control,
                Unit::Memory => SmUnit::Constant,
                _ => SmUnit::Alu,
            };
            Observation::Unit { unit, place: warp as u8, pc, from: now, until: now + 1 }
        });
        Some(ReadyAt::new(now + u64::from(facts.latency), facts.wait))
    }

    /// Starts a warp's instruction at `pc` in a unit or memory that it takes for some time;
    /// `starts` is called before observers hear of the unit. Returns when the result is there; none
    /// if the memory refuses the access.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    fn start_in_busy_unit<O: SmObserver>(
        &mut self,
        (warp, pc): (usize, u32),
        facts: &Facts,
        access: MemoryAccess,
        run: &mut Run<O>,
        starts: impl FnOnce(&mut Run<O>),
    ) -> Option<ReadyAt> {
        let (now, place) = (run.now, warp as u8);
        let (space, unit) = match facts.class {
            Class::Shared => (Space::Shared, SmUnit::SharedMemory),
            Class::Dram => (Space::Global, SmUnit::Dram),
            Class::Free | Class::Double | Class::SpecialFunction | Class::Texture => {
                starts(run);
                if let Some(unit) = facts.class.busy_unit() {
                    self.units.start(unit, now);
                    let (unit, until) = (name(unit), now + self.units.interval(unit));
                    run.tell(|| Observation::Unit { unit, place, pc, from: now, until });
                }
                return Some(ReadyAt::new(now + u64::from(facts.latency), facts.wait));
            }
        };
        let request = MemoryRequest { ticket: Ticket { warp: place, pc }, space, access, now };
        let answer = self.memory.request(&request, &mut MemoryCounters(&mut run.counters));
        let Answer::Taken { arrival, cached, from, until } = answer else {
            run.tell(|| Observation::Refused { cycle: now, place, pc });
            return None;
        };
        starts(run);
        if space == Space::Shared {
            self.units.take(BusyUnit::SharedMemory, until);
        }
        if from != until {
            run.tell(|| Observation::Unit { unit, place, pc, from, until });
        }
        let wait = if cached { Wait::Cached } else { facts.wait };
        Some(match arrival {
            Arrival::At(cycle) => ReadyAt::new(cycle.max(now + self.least), wait),
            Arrival::Pending { more_pieces } => ReadyAt::pending(wait).in_pieces(more_pieces),
        })
    }

    /// The operands of the instruction that was started last. Returns by how much conflicts with
    /// the memory's banks delay it, if the memory says so.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    pub(super) fn operands(&mut self, facts: &Facts, reads: BankCounts) -> Option<u64> {
        let accesses = matches!(facts.class, Class::Shared | Class::Dram);
        self.memory.operands(&OperandReads { banks: reads.bytes().to_le_bytes(), accesses })
    }

    /// Whether the memory goes on after the last warp.
    pub(super) fn is_busy(&self) -> bool {
        self.memory.is_busy()
    }

    /// The cycle from which it is known whether an access that begins now hits a cache.
    #[inline]
    pub(super) fn hit_known_at(&self, now: u64) -> u64 {
        self.memory.hit_known_at(now)
    }

    /// Whether the memory does anything but answer.
    #[inline]
    pub(super) const fn memory_steps(&self) -> bool {
        self.memory.steps()
    }

    /// What the memory does in a cycle after issue.
    pub(super) fn step_memory(&mut self, step: &mut dyn MemoryStep) {
        self.memory.step(step);
    }

    /// The next cycle in which the memory does something.
    #[inline]
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        self.memory.next_event(now)
    }

    /// The first cycle from which on no byte moves.
    pub(super) fn drained_at(&self) -> u64 {
        self.memory.drained_at()
    }
}

/// A unit as observers hear of it.
const fn name(unit: BusyUnit) -> SmUnit {
    match unit {
        BusyUnit::Double => SmUnit::DoublePrecision,
        BusyUnit::SpecialFunction => SmUnit::SpecialFunction,
        BusyUnit::Texture => SmUnit::Texture,
        BusyUnit::SharedMemory => SmUnit::SharedMemory,
    }
}
