//! Cache counters: what a memory with a cache counts, one row per event.
//!
//! Source: `[MICRO2012]` 4.3, 5.2 and Table 5, `[DISS]` 7.3; `docs/MODEL.md`, rules 35 and 36.

use crate::named;

named! {
    /// What a memory with a cache counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CacheEvent {
        /// Lines of loads that the cache had. Unit: tag lookups, as of the next six.
        LoadHit = "load_hits",
        /// Lines of loads whose data was on its way.
        LoadMerged = "load_merged",
        /// Lines of loads that the cache did not have.
        LoadMiss = "load_misses",
        /// Lines of stores that the cache had, or that were on their way.
        StoreHit = "store_hits",
        /// Lines of stores that it did not have.
        StoreMiss = "store_misses",
        /// Lines of accesses past the cache, which it dropped.
        BypassHit = "bypass_hits",
        /// Lines of accesses past the cache that it did not have.
        BypassMiss = "bypass_misses",
        /// Lines that came from DRAM. Unit: bytes, as of the next two.
        FillByte = "fill_bytes",
        /// What moved past the cache: loads without one, atomics and volatile accesses.
        UncachedByte = "uncached_bytes",
        /// What stores wrote.
        StoreByte = "store_bytes",
        /// Cycles beyond the first that accesses of shared memory took in its banks.
        SharedConflictCycle = "shared_conflict_cycles",
        /// Cycles beyond the lookups that accesses of the cache took in its banks.
        CacheConflictCycle = "cache_conflict_cycles",
        /// Words of 4 bytes that were read in shared memory, each once for an access.
        SharedReadWord = "shared_read_words",
        /// Rows of 16 bytes that were read in shared memory, each once for an access.
        SharedReadRow = "shared_read_rows",
        /// Words that were written in shared memory.
        SharedWriteWord = "shared_write_words",
        /// Rows that were written in shared memory.
        SharedWriteRow = "shared_write_rows",
        /// Words that loads read in the cache.
        CacheReadWord = "cache_read_words",
        /// Rows that loads read in the cache.
        CacheReadRow = "cache_read_rows",
        /// Words that stores wrote in the cache.
        CacheWriteWord = "cache_write_words",
        /// Rows that stores wrote in the cache.
        CacheWriteRow = "cache_write_rows",
        /// Cycles by which registers and memory that met in a bank delayed instructions or
        /// accesses.
        ArbitrationConflictCycle = "arbitration_conflict_cycles",
        /// Cycles in which lines from DRAM waited for the write port of their bank.
        FillWaitCycle = "fill_wait_cycles",
        /// Instructions with one access to the bank that they access most, or with none.
        AtMost1Access = "instructions_bank_accesses_0_to_1",
        /// Instructions with two accesses to that bank.
        Accesses2 = "instructions_bank_accesses_2",
        /// Instructions with three.
        Accesses3 = "instructions_bank_accesses_3",
        /// Instructions with four.
        Accesses4 = "instructions_bank_accesses_4",
        /// Instructions with more.
        MoreAccesses = "instructions_bank_accesses_5_or_more",
    }
}

/// Counts of a memory with a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters([u64; CacheEvent::ALL.len()]);

impl CacheCounters {
    /// A count.
    pub const fn get(&self, event: CacheEvent) -> u64 {
        self.0[event as usize]
    }

    /// Lookups of tags.
    pub fn lookups(&self) -> u64 {
        use CacheEvent::{BypassHit, BypassMiss, LoadHit, LoadMerged, LoadMiss};
        use CacheEvent::{StoreHit, StoreMiss};
        let events = [LoadHit, LoadMerged, LoadMiss, StoreHit, StoreMiss, BypassHit, BypassMiss];
        events.into_iter().map(|event| self.get(event)).sum()
    }

    /// What moved from and to DRAM. Unit: bytes.
    pub const fn dram_bytes(&self) -> u64 {
        self.get(CacheEvent::FillByte)
            + self.get(CacheEvent::UncachedByte)
            + self.get(CacheEvent::StoreByte)
    }

    #[inline]
    pub(super) const fn record(&mut self, event: CacheEvent, count: u64) {
        self.0[event as usize] += count;
    }
}
