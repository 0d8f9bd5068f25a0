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
        /// Cycles beyond the lookups that accesses of the cache took in its banks: 0 as long as one
        /// tag is looked up in a cycle, because no access has more rows in a bank than lines.
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
        /// Lines that local stores allocated, all of them among `store_misses`.
        StoreAllocation = "store_allocations",
        /// Those of which a store wrote only a part, so that the line was fetched.
        StoreFetch = "store_fetches",
        /// Times an access was refused because of MSHRs, once in each cycle in which it was asked
        /// for.
        MshrRefusal = "mshr_refusals",
        /// Cycles in which that happened.
        MshrWaitCycle = "mshr_wait_cycles",
        /// Times an access was refused because a second level, or what waits for it, had no room.
        QueueRefusal = "queue_refusals",
    }
}

/// What is counted, by what it tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheEventKind {
    /// What the lookup of a tag found.
    Lookup,
    /// Bytes that DRAM moves.
    Transfer,
    /// What becomes of a line beside its lookup.
    Allocation,
    /// Cycles in which something waits for a bank or an MSHR.
    Conflict,
    /// Accesses that are refused.
    Refusal,
    /// Words and rows of banks.
    BankAccess,
    /// Instructions, whether they access memory or not.
    Instruction,
}

impl CacheEvent {
    /// What it tells of.
    pub const fn kind(self) -> CacheEventKind {
        match self {
            Self::LoadHit
            | Self::LoadMerged
            | Self::LoadMiss
            | Self::StoreHit
            | Self::StoreMiss
            | Self::BypassHit
            | Self::BypassMiss => CacheEventKind::Lookup,
            Self::StoreAllocation | Self::StoreFetch => CacheEventKind::Allocation,
            Self::MshrRefusal | Self::QueueRefusal => CacheEventKind::Refusal,
            Self::FillByte | Self::UncachedByte | Self::StoreByte => CacheEventKind::Transfer,
            Self::SharedConflictCycle
            | Self::CacheConflictCycle
            | Self::ArbitrationConflictCycle
            | Self::FillWaitCycle
            | Self::MshrWaitCycle => CacheEventKind::Conflict,
            Self::SharedReadWord
            | Self::SharedReadRow
            | Self::SharedWriteWord
            | Self::SharedWriteRow
            | Self::CacheReadWord
            | Self::CacheReadRow
            | Self::CacheWriteWord
            | Self::CacheWriteRow => CacheEventKind::BankAccess,
            Self::AtMost1Access
            | Self::Accesses2
            | Self::Accesses3
            | Self::Accesses4
            | Self::MoreAccesses => CacheEventKind::Instruction,
        }
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
        self.sum(CacheEventKind::Lookup)
    }

    /// What moved from and to DRAM. Unit: bytes.
    pub fn dram_bytes(&self) -> u64 {
        self.sum(CacheEventKind::Transfer)
    }

    /// All that tells of the same, where the unit is the same.
    fn sum(&self, kind: CacheEventKind) -> u64 {
        let events = CacheEvent::ALL.into_iter().filter(|event| event.kind() == kind);
        events.map(|event| self.get(event)).sum()
    }

    /// Adds what is counted somewhere else, or was told of.
    #[inline]
    pub const fn record(&mut self, event: CacheEvent, count: u64) {
        self.0[event as usize] += count;
    }
}
