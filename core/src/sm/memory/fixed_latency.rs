//! A memory with fixed latencies.
//!
//! Models: bandwidth of shared memory, which an access holds until its bytes have moved, and of
//! DRAM, where accesses queue without limit; fixed latencies; accesses of which the trace says that
//! a cache has what they ask for.
//! Does not model: caches, rows and channels of DRAM, a limit on outstanding accesses.
//! Source: `[RFC2011]` 4 and Table 4, `[DISS]` 4.3 and Table 4.4.

use super::{Answer, Arrival, MemoryCounters, MemoryModel, MemoryRequest, MemoryStep, Space};
use crate::sm::timing::Timing;
use crate::sm::trace::MemoryAccess;
use crate::units::LANES;

/// What a latency covers of an access: one 32-bit word for each lane. Unit: bytes.
const WORD_FOR_EACH_LANE: u32 = LANES * 4;

/// The memory's state.
#[derive(Clone, Debug)]
pub(in crate::sm) struct FixedLatency {
    shared_latency: u16,
    shared_bytes_per_cycle: u32,
    dram_latency: u16,
    dram_bytes_per_cycle: u32,
    hit_latency: u16,
    /// First cycle in which DRAM can move bytes for a new access.
    dram_free: u64,
}

impl FixedLatency {
    /// Everything is decided when an access is taken.
    pub(super) const STEPS: bool = false;

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
    #[expect(clippy::inline_always, reason = "part of the one place that asks")]
    #[inline(always)]
    fn access_shared(&self, bytes: u32, now: u64, counters: &mut MemoryCounters<'_>) -> Answer {
        let (cycles, beyond) = transfer(bytes, self.shared_bytes_per_cycle);
        counters.moved(Space::Shared, bytes, cycles);
        let there = now + u64::from(self.shared_latency) + beyond;
        Answer::Taken {
            arrival: Arrival::At(there),
            cached: false,
            from: now,
            until: now + cycles.max(1),
        }
    }

    /// Accesses global or local memory.
    #[expect(clippy::inline_always, reason = "part of the one place that asks")]
    #[inline(always)]
    fn access_global(
        &mut self,
        access: MemoryAccess,
        now: u64,
        counters: &mut MemoryCounters<'_>,
    ) -> Answer {
        if access.hit() {
            return without_path(self.hit_known_at(now), true, now);
        }
        let latency = u64::from(self.dram_latency);
        let (cycles, beyond) = transfer(access.bytes, self.dram_bytes_per_cycle);
        if cycles == 0 {
            return without_path(now + latency, false, now);
        }
        counters.moved(Space::Global, access.bytes, cycles);
        let from = now.max(self.dram_free);
        let until = from + cycles;
        self.dram_free = until;
        let arrival = Arrival::At(from + latency + beyond);
        Answer::Taken { arrival, cached: false, from, until }
    }
}

impl MemoryModel for FixedLatency {
    #[expect(clippy::inline_always, reason = "part of the one place that asks")]
    #[inline(always)]
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer {
        let MemoryRequest { space, access, now, .. } = *request;
        match space {
            Space::Shared => self.access_shared(access.bytes, now, counters),
            Space::Global => self.access_global(access, now, counters),
        }
    }

    #[inline]
    fn hit_known_at(&self, now: u64) -> u64 {
        now + u64::from(self.hit_latency)
    }

    #[inline]
    fn step(&mut self, _: &mut dyn MemoryStep) {}

    #[inline]
    fn next_event(&self, _: u64) -> Option<u64> {
        None
    }

    fn drained_at(&self) -> u64 {
        self.dram_free
    }
}

/// An access that takes no path.
const fn without_path(at: u64, cached: bool, now: u64) -> Answer {
    Answer::Taken { arrival: Arrival::At(at), cached, from: now, until: now }
}

/// Cycles in which bytes move, and how many of them the latency does not cover.
fn transfer(bytes: u32, bytes_per_cycle: u32) -> (u64, u64) {
    let cycles = u64::from(bytes.div_ceil(bytes_per_cycle));
    (cycles, cycles.saturating_sub(u64::from(WORD_FOR_EACH_LANE.div_ceil(bytes_per_cycle))))
}
