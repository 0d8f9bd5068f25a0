//! Warp: what a resident warp executes and where it stands.

use super::barrier::BarrierCall;
use super::barrier::BarrierLanes;
use super::facts::{ReadyAt, Wait};
use crate::path::PathStep;
use crate::rules::RegisterSketch;
use crate::units::LaneMask;

/// The bytes that one executed memory instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// From or to DRAM after coalescing, or through shared memory with the serialisation of bank
    /// conflicts included. Unit: bytes.
    pub bytes: u32,
    /// A cache has what the instruction asks for, of global or local memory: nothing moves to or
    /// from DRAM, and the result comes after [`super::config::Timing::hit_latency`]. Without a
    /// meaning for shared memory.
    pub hit: bool,
}

impl MemoryAccess {
    /// An access that no cache serves.
    pub const fn uncached(bytes: u32) -> Self {
        Self { bytes, hit: false }
    }
}

/// What a recording without caches has of an access: its bytes.
impl From<u32> for MemoryAccess {
    fn from(bytes: u32) -> Self {
        Self::uncached(bytes)
    }
}

/// What one warp executed, pulled as it executes in time.
pub trait Trace {
    /// Lanes that have a thread.
    fn lanes(&self) -> LaneMask;
    /// The next run of instructions; none at the end of the warp.
    fn next_step(&mut self) -> Option<PathStep>;
    /// The access of the next executed instruction that moves bytes
    /// ([`crate::image::StaticInstruction::moves_bytes`]) and has a lane enabled.
    fn next_access(&mut self) -> Option<MemoryAccess>;
    /// What the next executed instruction at a barrier, which has a lane enabled, arrives at. A
    /// trace that does not know has one barrier for everybody.
    fn next_barrier(&mut self) -> BarrierCall {
        BarrierCall::EVERYBODY
    }
}

/// A warp's trace in slices.
#[derive(Clone, Copy, Debug)]
pub struct WarpTrace<'t, A = MemoryAccess> {
    /// Lanes that have a thread.
    pub lanes: LaneMask,
    /// Runs of instructions, in order.
    pub path: &'t [PathStep],
    /// Accesses, in the order of the instructions that make them.
    pub accesses: &'t [A],
    /// Where the instructions at barriers arrive, in their order; those beyond are for everybody.
    pub barriers: &'t [BarrierCall],
}

impl<A: Copy + Into<MemoryAccess>> Trace for WarpTrace<'_, A> {
    fn lanes(&self) -> LaneMask {
        self.lanes
    }

    #[inline]
    fn next_step(&mut self) -> Option<PathStep> {
        let (&first, rest) = self.path.split_first()?;
        self.path = rest;
        Some(first)
    }

    #[inline]
    fn next_access(&mut self) -> Option<MemoryAccess> {
        let (&first, rest) = self.accesses.split_first()?;
        self.accesses = rest;
        Some(first.into())
    }

    fn next_barrier(&mut self) -> BarrierCall {
        let Some((&first, rest)) = self.barriers.split_first() else {
            return BarrierCall::EVERYBODY;
        };
        self.barriers = rest;
        first
    }
}

/// Why a warp leaves the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
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
pub(crate) enum Phase {
    /// No event but that its operands are there: no warp here, or an active one, or one that waits
    /// at a barrier.
    #[default]
    Idle,
    /// The warp leaves the active set.
    Leaving(Departure),
    /// Its cache has been flushed.
    Flushing(Departure),
    /// It may return to the active set.
    Outside,
    /// Its last result has arrived.
    Draining,
}

/// A place for a resident warp. The caller provides as many as the SM has warps.
#[derive(Clone, Debug)]
pub struct Warp<T> {
    pub(crate) trace: Option<T>,
    /// Next instruction to issue.
    pub(crate) pc: u32,
    /// Instructions of the run from `pc` on; 0 at the end of the path.
    pub(crate) left: u32,
    pub(crate) mask: LaneMask,
    /// Lanes that have not exited.
    pub(crate) live: LaneMask,
    /// The whole warp waits at a barrier.
    pub(crate) at_barrier: bool,
    /// Its registers of which something is awaited, and perhaps more.
    pub(crate) sketch: RegisterSketch,
    pub(crate) phase: Phase,
    /// What it waits for in the active set.
    pub(crate) wait: Wait,
    /// Its place in the active set.
    pub(crate) place: u8,
    /// Its CTA's place.
    pub(crate) cta: u8,
    /// Its number within its CTA.
    pub(crate) number: u32,
    /// Order of launch.
    pub(crate) age: u64,
    /// From when the front end can deliver the next instruction.
    pub(crate) fetch: ReadyAt,
    /// When the caches have been asked for everything loaded so far.
    pub(crate) asked_until: u64,
    /// When all long-latency results issued so far are there, of those of which that is known.
    pub(crate) long_until: u64,
    /// When all results issued so far are there, of those of which that is known.
    pub(crate) results_until: u64,
    /// While an operand is pending: the last of them, by its place in the scoreboard's row.
    pub(crate) operand: u32,
    /// When it began to leave the active set.
    pub(crate) flushing_since: u64,
    /// Where its lanes stand at barriers.
    pub(crate) at_barriers: BarrierLanes,
}

impl<T> Warp<T> {
    /// A place without a warp, also for memory that is laid out at compile time.
    pub const fn vacant() -> Self {
        Self {
            trace: None,
            pc: 0,
            left: 0,
            mask: LaneMask::EMPTY,
            live: LaneMask::EMPTY,
            at_barrier: false,
            sketch: RegisterSketch::EMPTY,
            phase: Phase::Idle,
            wait: Wait::InOrder,
            place: 0,
            cta: 0,
            number: 0,
            age: 0,
            fetch: ReadyAt::NOW,
            asked_until: 0,
            long_until: 0,
            results_until: 0,
            operand: 0,
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
