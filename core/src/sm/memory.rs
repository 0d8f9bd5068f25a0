//! Memory: when the data of an access is there, and for how long its path is taken.
//!
//! Models: bandwidth of shared memory, which an access holds until its bytes have moved, and of
//! DRAM, where accesses queue without limit; fixed latencies; accesses of which the trace says that
//! a cache has what they ask for.
//! Does not model: caches, rows and channels of DRAM, a limit on outstanding accesses.
//! Source: `[RFC2011]` 4 and Table 4, `[DISS]` 4.3 and Table 4.4.

use super::config::Timing;
use super::counters::{CycleEvent, SmCounters};
use super::warp::MemoryAccess;
use crate::units::LANES;

/// What a latency covers of an access: one 32-bit word for each lane. Unit: bytes.
const WORD_FOR_EACH_LANE: u32 = LANES * 4;

/// The memory system's state.
#[derive(Clone, Debug)]
pub(super) struct MemorySystem {
    shared_latency: u16,
    shared_bytes_per_cycle: u32,
    dram_latency: u16,
    dram_bytes_per_cycle: u32,
    hit_latency: u16,
    /// First cycle in which DRAM can move bytes for a new access.
    dram_free: u64,
}

/// An access of shared memory that has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedAccess {
    /// From when on an instruction that uses the data can issue.
    pub(super) there: u64,
    /// From when on shared memory can take another access.
    pub(super) free: u64,
}

impl MemorySystem {
    pub(super) const fn new(timing: &Timing) -> Self {
        Self {
            shared_latency: timing.shared_latency,
            shared_bytes_per_cycle: timing.shared_bytes_per_cycle,
            dram_latency: timing.dram_latency,
            dram_bytes_per_cycle: timing.dram_bytes_per_cycle,
            hit_latency: timing.hit_latency,
            dram_free: 0,
        }
    }

    /// Accesses shared memory, which is free.
    #[inline]
    pub(super) fn access_shared(
        &mut self,
        bytes: u32,
        now: u64,
        counters: &mut SmCounters,
    ) -> SharedAccess {
        let (cycles, beyond) = transfer(bytes, self.shared_bytes_per_cycle);
        counters.record(CycleEvent::SharedByte, u64::from(bytes));
        counters.record(CycleEvent::SharedBusy, cycles);
        SharedAccess {
            there: now + u64::from(self.shared_latency) + beyond,
            free: now + cycles.max(1),
        }
    }

    /// Accesses global or local memory. Returns the cycle from which an instruction that uses the
    /// data can issue.
    #[inline]
    pub(super) fn access_global(
        &mut self,
        access: MemoryAccess,
        now: u64,
        counters: &mut SmCounters,
    ) -> u64 {
        if access.hit {
            return self.hit_known_at(now);
        }
        let latency = u64::from(self.dram_latency);
        let (cycles, beyond) = transfer(access.bytes, self.dram_bytes_per_cycle);
        if cycles == 0 {
            return now + latency;
        }
        counters.record(CycleEvent::DramByte, u64::from(access.bytes));
        counters.record(CycleEvent::DramBusy, cycles);
        let start = now.max(self.dram_free);
        self.dram_free = start + cycles;
        start + latency + beyond
    }

    /// The cycle from which it is known whether an access that begins now hits a cache.
    #[inline]
    pub(super) const fn hit_known_at(&self, now: u64) -> u64 {
        now + self.hit_latency as u64
    }

    /// The cycles for which an access that begins now would take shared memory: the first, and the
    /// one after the last.
    pub(super) fn shared_occupancy(&self, bytes: u32, now: u64) -> (u64, u64) {
        (now, now + transfer(bytes, self.shared_bytes_per_cycle).0.max(1))
    }

    /// The same of DRAM; nothing of an access without bytes.
    pub(super) fn dram_occupancy(&self, bytes: u32, now: u64) -> (u64, u64) {
        let start = now.max(self.dram_free);
        (start, start + transfer(bytes, self.dram_bytes_per_cycle).0)
    }

    /// The first cycle in which no byte of any access moves any more.
    pub(super) const fn drained_at(&self) -> u64 {
        self.dram_free
    }
}

/// Cycles in which bytes move, and how many of them the latency does not cover.
fn transfer(bytes: u32, bytes_per_cycle: u32) -> (u64, u64) {
    let cycles = u64::from(bytes.div_ceil(bytes_per_cycle));
    (cycles, cycles.saturating_sub(u64::from(WORD_FOR_EACH_LANE.div_ceil(bytes_per_cycle))))
}
