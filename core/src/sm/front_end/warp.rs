//! Warp: where a resident warp stands.

use crate::sm::barrier::BarrierLanes;
use crate::sm::trace::MemoryAccess;
use crate::sm::wait::{ReadyAt, Wait};
use crate::units::LaneMask;

/// Why a warp leaves the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sm) enum Departure {
    /// To wait for data.
    Data,
    /// To wait at a barrier, or because it arrived at one.
    Barrier,
    /// It has issued its last instruction.
    End,
    /// It has issued its last instruction, a barrier at which it leaves as from any other.
    BarrierAtEnd,
}

/// What a warp's next event means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sm) enum Phase {
    /// No event but that its operands are there: no warp here, or an active one, or one that waits
    /// at a barrier.
    #[default]
    Idle,
    /// The warp leaves the active set, unless a pending value that it waits for arrives before.
    Leaving(Departure),
    /// Its cache has been flushed.
    Flushing(Departure),
    /// It may return to the active set.
    Outside,
    /// Its last result has arrived.
    Draining,
}

/// No entry of the scoreboard, but the warp's next instruction is what it waits for.
pub(super) const FETCH: u32 = u32::MAX;

/// A place for a resident warp. The caller provides as many as the SM has warps.
#[derive(Clone, Debug)]
pub struct Warp<T> {
    pub(super) trace: Option<T>,
    /// Next instruction to issue.
    pub(super) pc: u32,
    /// Instructions of the run from `pc` on; 0 at the end of the path.
    pub(super) left: u32,
    /// Instructions of the runs so far, `left` included.
    pub(super) given: u64,
    pub(super) mask: LaneMask,
    /// Lanes that have not exited.
    pub(super) live: LaneMask,
    /// The whole warp waits at a barrier.
    pub(super) at_barrier: bool,
    pub(super) phase: Phase,
    /// What it waits for in the active set.
    pub(super) wait: Wait,
    /// Its place in the active set.
    pub(super) place: u8,
    /// Its CTA's place.
    pub(super) cta: u8,
    /// Its number within its CTA.
    pub(super) number: u32,
    /// Order of launch.
    pub(super) age: u64,
    /// From when the front end can deliver the next instruction.
    pub(super) fetch: ReadyAt,
    /// After a branch whose flush goes on: from when the front end could deliver otherwise.
    pub(super) resolved: u64,
    /// An access that the memory refused.
    pub(super) refused: Option<MemoryAccess>,
    /// When the caches have been asked for everything loaded so far.
    pub(super) asked_until: u64,
    /// While it waits for a pending value: the entry of the scoreboard's row, or [`FETCH`].
    pub(super) operand: u32,
    /// While it waits for a pending value and may leave: from when it has waited.
    pub(super) waits_from: u64,
    /// When it leaves if it still waits.
    pub(super) leaves_at: u64,
    /// When it began to leave the active set.
    pub(super) flushing_since: u64,
    /// Where its lanes stand at barriers.
    pub(super) at_barriers: BarrierLanes,
}

impl<T> Warp<T> {
    /// A place without a warp, also for memory that is laid out at compile time.
    pub const fn vacant() -> Self {
        Self {
            trace: None,
            pc: 0,
            left: 0,
            given: 0,
            mask: LaneMask::EMPTY,
            live: LaneMask::EMPTY,
            at_barrier: false,
            phase: Phase::Idle,
            wait: Wait::InOrder,
            place: 0,
            cta: 0,
            number: 0,
            age: 0,
            fetch: ReadyAt::NOW,
            resolved: 0,
            refused: None,
            asked_until: 0,
            operand: 0,
            waits_from: 0,
            leaves_at: 0,
            flushing_since: 0,
            at_barriers: BarrierLanes::NOWHERE,
        }
    }
}

impl<T> Default for Warp<T> {
    fn default() -> Self {
        Self::vacant()
    }
}
