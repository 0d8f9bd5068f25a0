//! Trace: what a warp executed, as the host hands it in.

use super::barrier::BarrierCall;
use crate::path::PathStep;
use crate::units::LaneMask;

/// What one executed memory instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// From or to DRAM after coalescing, or through shared memory with the serialisation of bank
    /// conflicts included. Unit: bytes.
    pub bytes: u32,
    /// The place, and [`Self::HIT`].
    rest: u32,
}

impl MemoryAccess {
    const HIT: u32 = 1 << 31;

    /// An access that no cache serves.
    pub const fn uncached(bytes: u32) -> Self {
        Self { bytes, rest: 0 }
    }

    /// This access with `hit`: whether a cache outside of the model has what the instruction asks
    /// for of global or local memory. If it has, nothing moves to or from DRAM, and the result
    /// comes after [`super::config::Timing::hit_latency`]. Without a meaning for shared memory, and
    /// for a memory with addresses.
    #[must_use]
    pub const fn hitting(self, hit: bool) -> Self {
        let rest = if hit { self.rest | Self::HIT } else { self.rest & !Self::HIT };
        Self { rest, ..self }
    }

    /// This access at `place` of the list that a memory with addresses has
    /// ([`super::memory::cached::AccessList`]); without a meaning for others. Range: below 2^31.
    #[must_use]
    pub const fn at(self, place: u32) -> Self {
        Self { rest: place & !Self::HIT | self.rest & Self::HIT, ..self }
    }

    /// Whether a cache outside of the model has what the instruction asks for.
    #[inline]
    pub const fn hit(self) -> bool {
        self.rest & Self::HIT != 0
    }

    /// The place in the list of a memory with addresses.
    #[inline]
    pub const fn place(self) -> u32 {
        self.rest & !Self::HIT
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
    /// trace that does not know has one barrier for all threads.
    fn next_barrier(&mut self) -> BarrierCall {
        BarrierCall::ALL_THREADS
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
    /// Where the instructions at barriers arrive, in their order; those beyond are for all
    /// threads.
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
            return BarrierCall::ALL_THREADS;
        };
        self.barriers = rest;
        first
    }
}
