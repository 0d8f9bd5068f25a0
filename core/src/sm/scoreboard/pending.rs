//! Pending long-latency results of all resident warps, by register.

use crate::rules::{PendingResults, RegisterSketch, first_pending};
use crate::sm::config::MAX_RESIDENT_WARPS;
use crate::units::{LaneMask, RegisterId};

/// The results, in the caller's memory.
#[derive(Debug)]
pub(super) struct PendingTable<'m> {
    /// A row of lanes for each warp.
    lanes: &'m mut [LaneMask],
    /// Registers of a row.
    registers: usize,
    sketches: [RegisterSketch; MAX_RESIDENT_WARPS],
}

impl<'m> PendingTable<'m> {
    pub(super) const fn new(lanes: &'m mut [LaneMask], registers: u16) -> Self {
        let sketches = [RegisterSketch::EMPTY; MAX_RESIDENT_WARPS];
        Self { lanes, registers: registers as usize, sketches }
    }

    /// A warp without any.
    pub(super) fn clear(&mut self, warp: usize) {
        self.lanes[warp * self.registers..][..self.registers].fill(LaneMask::EMPTY);
        self.sketches[warp] = RegisterSketch::EMPTY;
    }

    /// A warp's.
    #[inline]
    pub(super) fn of(&mut self, warp: usize) -> PendingResults<'_> {
        let lanes = &mut self.lanes[warp * self.registers..][..self.registers];
        PendingResults::new(lanes, &mut self.sketches[warp])
    }

    /// False only if no register of a sketch is pending.
    #[inline]
    pub(super) const fn may_be_read(&self, warp: usize, sketch: RegisterSketch) -> bool {
        self.sketches[warp].may_meet(sketch)
    }

    /// The first of these registers of a warp of which an enabled lane is pending.
    pub(super) fn first(
        &self,
        warp: usize,
        sources: &[RegisterId],
        mask: LaneMask,
    ) -> Option<RegisterId> {
        let lanes = &self.lanes[warp * self.registers..][..self.registers];
        first_pending(lanes, sources, mask)
    }
}
