//! Execution units: how long the unit that starts an instruction is taken.
//!
//! Models: units that start a few lanes in a cycle.
//! Source: `[RFC2011]` 4 and Table 4, `[DISS]` 4.3 and Table 4.4.

use super::config::Timing;
use super::facts::BusyUnit;
use crate::units::LANES;

/// The units' state.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// First cycle in which each unit can start a warp.
    free: [u64; BusyUnit::COUNT],
    /// Cycles that each unit takes to start a warp; shared memory's follow from its bytes.
    intervals: [u64; BusyUnit::COUNT],
    /// First cycle in which every unit can start a warp.
    all_free: u64,
}

impl Units {
    pub(super) fn new(timing: &Timing) -> Self {
        let interval = |lanes: u8| u64::from(LANES.div_ceil(u32::from(lanes)));
        let mut intervals = [1; BusyUnit::COUNT];
        intervals[BusyUnit::Double as usize] = interval(timing.double_lanes);
        intervals[BusyUnit::SpecialFunction as usize] = interval(timing.special_function_lanes);
        intervals[BusyUnit::Texture as usize] = interval(timing.texture_lanes);
        Self { free: [0; BusyUnit::COUNT], intervals, all_free: 0 }
    }

    /// The first cycle in which a unit can start a warp.
    #[inline]
    pub(super) const fn free_at(&self, unit: usize) -> u64 {
        self.free[unit]
    }

    /// The first cycle in which every unit can start a warp.
    #[inline]
    pub(super) const fn all_free_at(&self) -> u64 {
        self.all_free
    }

    /// Cycles for which a unit is taken by a warp.
    pub(super) const fn interval(&self, unit: BusyUnit) -> u64 {
        self.intervals[unit as usize]
    }

    /// Starts a warp in a unit, which is free.
    #[inline]
    pub(super) fn start(&mut self, unit: BusyUnit, now: u64) {
        self.take(unit, now + self.interval(unit));
    }

    /// Takes a unit, which is free, until a cycle.
    #[inline]
    pub(super) fn take(&mut self, unit: BusyUnit, until: u64) {
        self.free[unit as usize] = until;
        self.all_free = self.all_free.max(until);
    }
}
