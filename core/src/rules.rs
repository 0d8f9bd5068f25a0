//! Rules: what happens before and after an instruction of a warp, whatever levels its registers
//! have: deschedules, pending long-latency results, flushes.
//!
//! Count mode, cycle mode, the FPGA prototype's stream of commands and the executor's levels use
//! these rules. The compiler's checker does not: it is the independent second implementation.
//! Source: `docs/MODEL.md`, rules 15 to 18.

use crate::fault::PathFault;
use crate::image::Flags;
use crate::organisation::{OrganisationSettings, Scheduling};
use crate::units::{LaneMask, RegisterId};

/// The rules that follow from an organisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Only active warps have upper levels: warps are descheduled.
    pub two_level: bool,
    /// A taken backward branch flushes the upper levels.
    pub flush_at_backward_branches: bool,
}

/// What follows an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// The warp is descheduled, because of a barrier.
    pub deschedule: bool,
    /// Its upper levels are flushed, because of a backward branch.
    pub flush: bool,
}

impl Rules {
    /// The rules of an organisation.
    pub const fn of(settings: &OrganisationSettings) -> Self {
        Self {
            two_level: matches!(settings.scheduling, Scheduling::TwoLevel { .. }),
            flush_at_backward_branches: settings.levels.flush_at_backward_branches(),
        }
    }

    /// Whether an instruction's results bypass the upper levels and are pending from its issue on.
    #[inline]
    pub const fn makes_pending(self, flags: Flags) -> bool {
        self.two_level && flags.contains(Flags::LONG_LATENCY)
    }

    /// What follows an instruction with a lane enabled.
    #[inline]
    pub const fn after(self, flags: Flags) -> After {
        After {
            deschedule: self.two_level && flags.contains(Flags::BARRIER),
            flush: self.flush_at_backward_branches && flags.contains(Flags::BACKWARD_BRANCH),
        }
    }
}

/// A set of registers by their numbers modulo 16, which may also seem to have registers that were
/// not inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSketch(u16);

impl RegisterSketch {
    /// No register.
    pub const EMPTY: Self = Self(0);

    // Not within a loop over instructions, of which few need it.
    #[inline(never)]
    pub(crate) fn of(registers: &[RegisterId]) -> Self {
        let bits = registers.iter().map(|register| 1 << (register.0 % 16));
        Self(bits.fold(0, |all, bit: u16| all | bit))
    }

    #[cold]
    fn with(self, registers: &[RegisterId]) -> Self {
        Self(self.0 | Self::of(registers).0)
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// False only if no register is in both.
    #[inline]
    pub(crate) const fn may_meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A warp's pending results: those of long-latency operations that it issued since its last
/// deschedule. Exact by lane, because the two sides of a divergent branch may give a register
/// values of both kinds.
#[derive(Debug)]
pub struct PendingResults<'s> {
    /// For each register of the kernel, the lanes whose value is such a result.
    lanes: &'s mut [LaneMask],
    /// The registers that have lanes in `lanes`, and perhaps more.
    sketch: &'s mut RegisterSketch,
}

impl<'s> PendingResults<'s> {
    /// Those kept in `lanes`, one element for each register, and in `sketch`. Without pending
    /// results all lanes are empty, and so is the sketch.
    #[inline]
    pub const fn new(lanes: &'s mut [LaneMask], sketch: &'s mut RegisterSketch) -> Self {
        Self { lanes, sketch }
    }

    /// The first register of `sources` of which an enabled lane is pending: its warp is descheduled
    /// before it reads them, whether or not the value has arrived. Cost: constant without pending
    /// results, else linear in the sources.
    #[inline]
    pub fn first_read(&self, sources: &[RegisterId], mask: LaneMask) -> Option<RegisterId> {
        if self.sketch.is_empty() {
            return None;
        }
        first_pending(self.lanes, sources, mask)
    }

    /// Notes the results of an instruction, as pending or as arrived.
    #[inline]
    pub fn issue(&mut self, destinations: &[RegisterId], mask: LaneMask, pending: bool) {
        if pending || !self.sketch.is_empty() {
            self.note(destinations, mask, pending);
        }
    }

    fn note(&mut self, destinations: &[RegisterId], mask: LaneMask, pending: bool) {
        for destination in destinations {
            let lanes = &mut self.lanes[usize::from(destination.0)];
            *lanes = if pending { lanes.or(mask) } else { lanes.without(mask) };
        }
        if pending && !destinations.is_empty() {
            *self.sketch = self.sketch.with(destinations);
        }
    }

    /// The warp is descheduled, and will not return before all of them have arrived.
    #[inline]
    pub fn deschedule(&mut self) {
        if !self.sketch.is_empty() {
            self.lanes.fill(LaneMask::EMPTY);
            *self.sketch = RegisterSketch::EMPTY;
        }
    }
}

/// The first register of `sources` of which an enabled lane is pending.
#[inline]
pub(crate) fn first_pending(
    pending: &[LaneMask],
    sources: &[RegisterId],
    mask: LaneMask,
) -> Option<RegisterId> {
    let waits = |source: &&RegisterId| !pending[usize::from(source.0)].and(mask).is_empty();
    sources.iter().find(waits).copied()
}

/// Checks that the compiler marked an instruction before which its warp is descheduled.
#[inline]
pub(crate) const fn check_mark(
    pc: u32,
    flags: Flags,
    register: RegisterId,
) -> Result<(), PathFault> {
    if flags.contains(Flags::DESCHEDULE_BEFORE) {
        return Ok(());
    }
    Err(PathFault::UnmarkedDeschedule { pc, register })
}
