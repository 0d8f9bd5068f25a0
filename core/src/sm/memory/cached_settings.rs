//! Cached settings: how a memory with a primary data cache is made.

use super::bank_conflicts::{BankConflictError, BankConflicts};
use super::cache_counters::CacheEvent;
use super::l2::L2Settings;
use super::listed::LineUse;
use super::mshr::{Mshr, MshrLimit};
use super::touched::{BankMapping, MOST_LINES, TouchedLine};
use super::waiting::{Waiter, WaitingAccess};
use crate::named;
use crate::sm::operand_delivery::OperandDelivery;

/// Settings or memory that make no memory with a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedMemoryError {
    /// A transaction of another size than 16, 32, 64 and 128 bytes.
    Transaction(u32),
    /// Less memory than for all MSHRs.
    Mshrs {
        /// Entries needed.
        needed: usize,
        /// Entries given.
        given: usize,
    },
    /// Less memory than for the accesses that wait for a second level.
    Waiting {
        /// Elements needed, of either kind.
        needed: usize,
        /// Elements given.
        given: usize,
    },
    /// Ports of banks that are given out cycle by cycle, over a second level.
    Arbitrated,
}

impl core::fmt::Display for CachedMemoryError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Transaction(bytes) => {
                write!(to, "a transaction of {bytes} bytes is none of 16, 32, 64 and 128")
            }
            Self::Mshrs { needed, given } => {
                write!(to, "memory for {given} MSHRs was given, {needed} are needed")
            }
            Self::Waiting { needed, given } => {
                write!(to, "memory for {given} accesses was given, {needed} are needed")
            }
            Self::Arbitrated => to.write_str(
                "banks that are given out cycle by cycle need DRAM of which it is known when data \
                 comes",
            ),
        }
    }
}

impl core::error::Error for CachedMemoryError {}

named! {
    /// What a store of local memory does that misses the cache.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum LocalStores {
        /// It goes past the cache, as stores of global memory do.
        #[default]
        NoAllocate = "no-allocate",
        /// It goes to DRAM too, and the cache allocates its line: one that is written in part is
        /// fetched.
        Allocate = "allocate",
    }
}

/// How a memory with a cache is made, beside the [`Timing`](crate::sm::timing::Timing).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CachedSettings {
    /// Capacity of the cache. Unit: bytes. Range: whole sets, 0 for no cache.
    pub cache_bytes: u32,
    /// Lines of a set. Range: from 1.
    pub ways: u8,
    /// How shared memory and the cache lie in banks.
    pub mapping: BankMapping,
    /// The least that DRAM moves past the cache. Unit: bytes: 16, 32, 64 or 128.
    pub transaction_bytes: u32,
    /// How registers meet it in banks.
    pub conflicts: BankConflicts,
    /// What the cache awaits at most; none for no limit.
    pub mshrs: Option<MshrLimit>,
    /// What stores of local memory do.
    pub local_stores: LocalStores,
    /// What lies below the cache: a second level, or else DRAM with a fixed latency.
    pub l2: Option<L2Settings>,
}

impl CachedSettings {
    /// A cache of so many bytes in sets of four lines, with banks of its own and transactions of a
    /// sector, which awaits any number of lines.
    pub const fn of(cache_bytes: u32) -> Self {
        Self {
            cache_bytes,
            ways: 4,
            mapping: BankMapping::Partitioned,
            transaction_bytes: 32,
            conflicts: BankConflicts::Apart,
            mshrs: None,
            local_stores: LocalStores::NoAllocate,
            l2: None,
        }
    }

    /// Whether such a memory can count an event: what no design had to have is only counted where
    /// it is asked for.
    pub const fn has(&self, event: CacheEvent) -> bool {
        match event {
            CacheEvent::MshrRefusal | CacheEvent::MshrWaitCycle => self.mshrs.is_some(),
            CacheEvent::QueueRefusal => self.l2.is_some(),
            CacheEvent::StoreAllocation | CacheEvent::StoreFetch => {
                matches!(self.local_stores, LocalStores::Allocate)
            }
            _ => true,
        }
    }

    /// Whether such a memory can stand behind an SM whose operands come like this, within a window
    /// of so many cycles.
    ///
    /// # Errors
    /// Bank conflicts that the SM cannot have.
    pub const fn check(
        &self,
        delivery: OperandDelivery,
        operand_window: u8,
    ) -> Result<(), BankConflictError> {
        self.conflicts.check(self.mapping, delivery, operand_window)
    }

    /// Whether it can stand over a memory of which it is not known when data comes, with these
    /// parts.
    pub(super) fn check_late(
        &self,
        parts: &CachedMemoryParts<'_>,
    ) -> Result<(), CachedMemoryError> {
        if self.conflicts == BankConflicts::CycleByCycle {
            return Err(CachedMemoryError::Arbitrated);
        }
        for (needed, given) in [(1, parts.waiting.len()), (MOST_LINES, parts.waiters.len())] {
            if given < needed {
                return Err(CachedMemoryError::Waiting { needed, given });
            }
        }
        Ok(())
    }

    /// Whether a store that misses a line allocates it.
    pub(super) fn allocates_store(&self, line: TouchedLine) -> bool {
        line.is_local() && self.local_stores == LocalStores::Allocate
    }

    /// Whether an access that misses a line fetches it: of stores, if it is not written whole.
    pub(super) fn fetches(&self, line_use: LineUse, line: TouchedLine) -> bool {
        match line_use {
            LineUse::Load => true,
            LineUse::Store => self.allocates_store(line) && !line.is_whole(),
            LineUse::BypassLoad | LineUse::BypassStore | LineUse::Atomic => false,
        }
    }
}

/// What a memory with a cache needs beside its tags, handed in by the caller. Its contents do not
/// matter.
#[derive(Debug, Default)]
pub struct CachedMemoryParts<'m> {
    /// [`MshrLimit::entries`] of the settings.
    pub mshrs: &'m mut [Mshr],
    /// [`MOST_WAITING`](super::waiting::MOST_WAITING) over a second level, else none.
    pub waiting: &'m mut [WaitingAccess],
    /// [`MOST_WAITERS`](super::waiting::MOST_WAITERS) over a second level, else none.
    pub waiters: &'m mut [Waiter],
}
