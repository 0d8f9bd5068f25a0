//! Execution units and memory: when an instruction's result is there, and how long the unit that
//! starts it is taken.
//!
//! Models: units that start a few lanes in a cycle; bandwidth of shared memory, which an access
//! holds until its bytes have moved, and of DRAM, where accesses queue without limit; fixed
//! latencies.
//! Does not model: caches, rows and channels of DRAM, a limit on outstanding accesses.
//! Source: `[RFC2011]` 4 and Table 4, `[DISS]` 4.3 and Table 4.4.

use super::config::Timing;
use super::counters::{CycleEvent, SmCounters};
use super::facts::{BusyUnit, Class, Facts};
use super::observe::SmUnit;
use crate::image::{StaticInstruction, Unit};
use crate::units::LANES;

/// What a latency covers of an access: one 32-bit word for each lane. Unit: bytes.
const WORD_FOR_EACH_LANE: u32 = LANES * 4;

/// The units' state.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// First cycle in which each unit can start a warp.
    free: [u64; BusyUnit::COUNT],
    /// Cycles that each unit takes to start a warp; shared memory's follow from its bytes.
    intervals: [u64; BusyUnit::COUNT],
    /// First cycle in which every unit can start a warp.
    all_free: u64,
    /// First cycle in which DRAM can move bytes for a new access.
    dram_free: u64,
    shared_bytes_per_cycle: u32,
    dram_bytes_per_cycle: u32,
}

impl Units {
    pub(crate) fn new(timing: &Timing) -> Self {
        let interval = |lanes: u8| u64::from(LANES.div_ceil(u32::from(lanes)));
        let mut intervals = [1; BusyUnit::COUNT];
        intervals[BusyUnit::Double as usize] = interval(timing.double_lanes);
        intervals[BusyUnit::SpecialFunction as usize] = interval(timing.special_function_lanes);
        intervals[BusyUnit::Texture as usize] = interval(timing.texture_lanes);
        Self {
            free: [0; BusyUnit::COUNT],
            intervals,
            all_free: 0,
            dram_free: 0,
            shared_bytes_per_cycle: timing.shared_bytes_per_cycle,
            dram_bytes_per_cycle: timing.dram_bytes_per_cycle,
        }
    }

    /// The first cycle in which a unit can start a warp.
    #[inline]
    pub(crate) const fn free_at(&self, unit: usize) -> u64 {
        self.free[unit]
    }

    /// The first cycle in which every unit can start a warp.
    #[inline]
    pub(crate) const fn all_free_at(&self) -> u64 {
        self.all_free
    }

    /// The first cycle in which no byte of any access moves to or from DRAM any more.
    pub(crate) const fn dram_free(&self) -> u64 {
        self.dram_free
    }

    /// What [`Self::start`] is about to take of an instruction, the first cycle, and the one after
    /// the last; none of an access to DRAM without bytes.
    pub(crate) fn occupied(
        &self,
        facts: &Facts,
        instruction: &StaticInstruction,
        bytes: u32,
        now: u64,
    ) -> Option<(SmUnit, u64, u64)> {
        let (unit, start, cycles) = match facts.class {
            Class::Free => match instruction.unit {
                Unit::Control => (SmUnit::Control, now, 1),
                Unit::Memory => (SmUnit::Constant, now, 1),
                _ => (SmUnit::Alu, now, 1),
            },
            Class::Unit(BusyUnit::SharedMemory) => {
                let (cycles, _) = transfer(bytes, self.shared_bytes_per_cycle);
                (SmUnit::SharedMemory, now, cycles.max(1))
            }
            Class::Unit(unit) => {
                let name = match unit {
                    BusyUnit::Double => SmUnit::DoublePrecision,
                    BusyUnit::SpecialFunction => SmUnit::SpecialFunction,
                    BusyUnit::Texture => SmUnit::Texture,
                    BusyUnit::SharedMemory => SmUnit::SharedMemory,
                };
                (name, now, self.intervals[unit as usize])
            }
            Class::Dram => {
                let (cycles, _) = transfer(bytes, self.dram_bytes_per_cycle);
                (SmUnit::Dram, now.max(self.dram_free), cycles)
            }
        };
        (cycles != 0).then_some((unit, start, start + cycles))
    }

    /// Starts an instruction that moves `bytes`, whose unit is free. Returns the cycle from which
    /// an instruction that uses its result can issue.
    #[inline]
    pub(crate) fn start(
        &mut self,
        facts: &Facts,
        bytes: u32,
        now: u64,
        counters: &mut SmCounters,
    ) -> u64 {
        if facts.class == Class::Free {
            return now + u64::from(facts.latency);
        }
        self.occupy(facts, bytes, now, counters)
    }

    /// The same of an instruction that takes its unit or DRAM for some time.
    fn occupy(&mut self, facts: &Facts, bytes: u32, now: u64, counters: &mut SmCounters) -> u64 {
        let latency = u64::from(facts.latency);
        match facts.class {
            Class::Free => now + latency,
            Class::Unit(BusyUnit::SharedMemory) => {
                let (cycles, beyond) = transfer(bytes, self.shared_bytes_per_cycle);
                counters.record(CycleEvent::SharedByte, u64::from(bytes));
                counters.record(CycleEvent::SharedBusy, cycles);
                self.take(BusyUnit::SharedMemory, now + cycles.max(1));
                now + latency + beyond
            }
            Class::Unit(unit) => {
                self.take(unit, now + self.intervals[unit as usize]);
                now + latency
            }
            Class::Dram => {
                let (cycles, beyond) = transfer(bytes, self.dram_bytes_per_cycle);
                if cycles == 0 {
                    return now + latency;
                }
                counters.record(CycleEvent::DramByte, u64::from(bytes));
                counters.record(CycleEvent::DramBusy, cycles);
                let start = now.max(self.dram_free);
                self.dram_free = start + cycles;
                start + latency + beyond
            }
        }
    }

    #[inline]
    fn take(&mut self, unit: BusyUnit, until: u64) {
        self.free[unit as usize] = until;
        self.all_free = self.all_free.max(until);
    }
}

/// Cycles in which bytes move, and how many of them the latency does not cover.
fn transfer(bytes: u32, bytes_per_cycle: u32) -> (u64, u64) {
    let cycles = u64::from(bytes.div_ceil(bytes_per_cycle));
    (cycles, cycles.saturating_sub(u64::from(WORD_FOR_EACH_LANE.div_ceil(bytes_per_cycle))))
}
