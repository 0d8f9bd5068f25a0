//! Registers and counters of the prototype. Written by `cargo xtask regmap` from
//! `fpga-softcore/regmap.toml`: change that.

/// What [`register::ID`] reads as.
pub const ID: u32 = 0x5354_5241;
/// What [`register::VERSION`] reads as.
pub const VERSION: u32 = 2;

/// What a board's serial line runs at. Unit: bits a second.
pub const LINE_BAUD: u32 = 1_000_000;

/// Addresses of the registers. Unit: bytes from the prototype's first.
pub mod register {
    /// Read: the bytes `STRA`, which say that this is a prototype.
    pub const ID: u32 = 0x000;
    /// Read: version of this map.
    pub const VERSION: u32 = 0x004;
    /// Read: what was elaborated.
    pub const PARAMETERS0: u32 = 0x008;
    /// Read: what was elaborated.
    pub const PARAMETERS1: u32 = 0x00c;
    /// Write: what the prototype shall do.
    pub const CONTROL: u32 = 0x010;
    /// Read, write: the settings; a reset has to follow.
    pub const SETTINGS: u32 = 0x014;
    /// Read: what the prototype does.
    pub const STATUS: u32 = 0x018;
    /// Read: clocks of the last batch.
    pub const CLOCKS: u32 = 0x01c;
    /// Write: value of the next command; a word a lane.
    pub const DATA: u32 = 0x020;
    /// Write: queues a command, with the value as it is now; lost while a batch runs, or without
    /// room.
    pub const COMMAND: u32 = 0x030;
    /// Read: the oldest outcome, which leaves its queue; 0 without one.
    pub const OUTCOME: u32 = 0x034;
    /// Read: what the oldest outcome's command has read; a word a lane.
    pub const READ_DATA: u32 = 0x040;
    /// Read: the counters: 8 bytes each, lower half first.
    pub const COUNTERS: u32 = 0x100;
}

/// Fields of the registers: the first bit, and the number of bits.
pub mod field {
    /// Warps.
    pub const PARAMETERS0_WARPS: (u32, u32) = (0, 8);
    /// Entries of a warp's register file cache.
    pub const PARAMETERS0_CACHE_ENTRIES: (u32, u32) = (8, 8);
    /// Entries of the write pool.
    pub const PARAMETERS0_POOL_ENTRIES: (u32, u32) = (16, 8);
    /// Lanes of a register.
    pub const PARAMETERS0_LANES: (u32, u32) = (24, 8);
    /// Commands of a batch.
    pub const PARAMETERS1_BATCH: (u32, u32) = (0, 16);
    /// Banks of the main register file.
    pub const PARAMETERS1_BANKS: (u32, u32) = (16, 8);
    /// Registers of a bank.
    pub const PARAMETERS1_ROWS: (u32, u32) = (24, 8);
    /// Empty cache, pool and queues, clear the counters.
    pub const CONTROL_RESET: (u32, u32) = (0, 1);
    /// Run the commands that are queued.
    pub const CONTROL_RUN: (u32, u32) = (1, 1);
    /// Clear the counters.
    pub const CONTROL_CLEAR_COUNTERS: (u32, u32) = (2, 1);
    /// Entries of a warp's cache; 0 without one.
    pub const SETTINGS_CACHE_ENTRIES: (u32, u32) = (0, 4);
    /// LRU replacement, else FIFO.
    pub const SETTINGS_LRU: (u32, u32) = (4, 1);
    /// Last reads free entries.
    pub const SETTINGS_LIVENESS: (u32, u32) = (5, 1);
    /// Split bank write.
    pub const SETTINGS_SPLIT: (u32, u32) = (6, 1);
    /// Cycles of a bank's write.
    pub const SETTINGS_WRITE_CYCLES: (u32, u32) = (7, 4);
    /// Entries of the write pool; 0 without one.
    pub const SETTINGS_POOL_ENTRIES: (u32, u32) = (11, 6);
    /// Registers of a warp.
    pub const SETTINGS_REGISTERS: (u32, u32) = (17, 8);
    /// Commands are being run.
    pub const STATUS_RUNNING: (u32, u32) = (0, 1);
    /// A command since the last reset found the queue full or a batch running, and was lost.
    pub const STATUS_LOST: (u32, u32) = (1, 1);
    /// Commands queued.
    pub const STATUS_COMMANDS: (u32, u32) = (8, 8);
    /// Outcomes waiting.
    pub const STATUS_OUTCOMES: (u32, u32) = (16, 8);
}

/// Number of counters.
pub const COUNTERS: usize = 25;

/// A counter; its number is its place in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Commands taken.
    Commands,
    /// Clocks of all batches, each from its first command to its last outcome, both included.
    Clocks,
    /// Reads that the cache served.
    CacheReadsHit,
    /// Reads of which the cache served some lanes.
    CacheReadsPartial,
    /// Reads of which the cache served none.
    CacheReadsMissed,
    /// Results written to the entry that their register had.
    CacheWritesInPlace,
    /// New entries, for results and for operands that missed.
    CacheAllocations,
    /// Operands taken into the cache after they missed.
    CacheFills,
    /// Bypasses that overtook lanes of an entry.
    CacheBypasses,
    /// Entries written back to make room.
    CacheWritebacksEvicted,
    /// Entries written back by a flush.
    CacheWritebacksFlushed,
    /// Entries given up without a write-back.
    CacheDropped,
    /// Reads of a bank.
    BankReads,
    /// Writes of a bank.
    BankWrites,
    /// Reads of a bank whose other subarray was being written.
    ReadsBesideWrite,
    /// Reads that the write pool served.
    PoolReadsHit,
    /// Reads of which the write pool served some lanes.
    PoolReadsPartial,
    /// Reads of which the write pool, where there is one, served none.
    PoolReadsMissed,
    /// Writes to the entry that their register had.
    PoolWritesHit,
    /// Writes to an empty entry.
    PoolAllocations,
    /// Writes that took the least recently used entry's place.
    PoolReplacements,
    /// Entries that became least recently used because their warp left the active set.
    PoolDemotions,
    /// Entries given up because their warp had ended.
    PoolDropped,
    /// Clocks that reads of the main register file waited.
    ReadWaits,
    /// Clocks that writes of the main register file waited.
    WriteWaits,
}

/// Name of each counter.
pub const COUNTER_NAMES: [&str; COUNTERS] = [
    "commands",
    "clocks",
    "cache_reads_hit",
    "cache_reads_partial",
    "cache_reads_missed",
    "cache_writes_in_place",
    "cache_allocations",
    "cache_fills",
    "cache_bypasses",
    "cache_writebacks_evicted",
    "cache_writebacks_flushed",
    "cache_dropped",
    "bank_reads",
    "bank_writes",
    "reads_beside_write",
    "pool_reads_hit",
    "pool_reads_partial",
    "pool_reads_missed",
    "pool_writes_hit",
    "pool_allocations",
    "pool_replacements",
    "pool_demotions",
    "pool_dropped",
    "read_waits",
    "write_waits",
];
