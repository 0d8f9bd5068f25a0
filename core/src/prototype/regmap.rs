//! Registers of the prototype, the fields of its words, their codes, and its counters.
//! Written by `cargo xtask regmap` from `fpga-softcore/regmap.toml`: change that.

use crate::event::Event;

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

/// Fields of the registers' words.
pub mod field {
    use crate::prototype::field::Field;

    /// Warps.
    pub const PARAMETERS0_WARPS: Field = Field::new(0, 8);
    /// Entries of a warp's register file cache.
    pub const PARAMETERS0_CACHE_ENTRIES: Field = Field::new(8, 8);
    /// Entries of the write pool.
    pub const PARAMETERS0_POOL_ENTRIES: Field = Field::new(16, 8);
    /// Lanes of a register.
    pub const PARAMETERS0_LANES: Field = Field::new(24, 8);
    /// Commands of a batch.
    pub const PARAMETERS1_BATCH: Field = Field::new(0, 16);
    /// Banks of the main register file.
    pub const PARAMETERS1_BANKS: Field = Field::new(16, 8);
    /// Registers of a bank.
    pub const PARAMETERS1_ROWS: Field = Field::new(24, 8);
    /// Empty cache, pool and queues, clear the counters.
    pub const CONTROL_RESET: Field = Field::new(0, 1);
    /// Run the commands that are queued.
    pub const CONTROL_RUN: Field = Field::new(1, 1);
    /// Clear the counters.
    pub const CONTROL_CLEAR_COUNTERS: Field = Field::new(2, 1);
    /// Entries of a warp's cache; 0 without one.
    pub const SETTINGS_CACHE_ENTRIES: Field = Field::new(0, 4);
    /// LRU replacement, else FIFO.
    pub const SETTINGS_LRU: Field = Field::new(4, 1);
    /// Last reads free entries.
    pub const SETTINGS_LIVENESS: Field = Field::new(5, 1);
    /// Split bank write.
    pub const SETTINGS_SPLIT: Field = Field::new(6, 1);
    /// Cycles of a bank's write.
    pub const SETTINGS_WRITE_CYCLES: Field = Field::new(7, 4);
    /// Entries of the write pool; 0 without one.
    pub const SETTINGS_POOL_ENTRIES: Field = Field::new(11, 6);
    /// Registers of a warp.
    pub const SETTINGS_REGISTERS: Field = Field::new(17, 8);
    /// Commands are being run.
    pub const STATUS_RUNNING: Field = Field::new(0, 1);
    /// A command since the last reset found the queue full or a batch running, and was lost.
    pub const STATUS_LOST: Field = Field::new(1, 1);
    /// Commands queued.
    pub const STATUS_COMMANDS: Field = Field::new(8, 8);
    /// Outcomes waiting.
    pub const STATUS_OUTCOMES: Field = Field::new(16, 8);
    /// What to do.
    pub const COMMAND_OPERATION: Field = Field::new(0, 3);
    /// Whose register.
    pub const COMMAND_WARP: Field = Field::new(3, 3);
    /// Below the registers of a warp that SETTINGS has; from FLUSH on it means nothing.
    pub const COMMAND_REGISTER_NUMBER: Field = Field::new(6, 8);
    /// Of a read: the value is not read again.
    pub const COMMAND_LAST_USE: Field = Field::new(14, 1);
    /// Of a read: the next command is another operand of the instruction.
    pub const COMMAND_MORE: Field = Field::new(15, 1);
    /// Lanes that take part, not none; from FLUSH on they mean nothing.
    pub const COMMAND_LANES: Field = Field::new(16, 16);
    /// What became of the command in the register file cache.
    pub const OUTCOME_CACHE: Field = Field::new(0, 3);
    /// The entry concerned, of a flush the last; 0 when none is.
    pub const OUTCOME_WAY: Field = Field::new(3, 4);
    /// What the last access of the main register file did.
    pub const OUTCOME_MAIN: Field = Field::new(7, 3);
    /// Entries of the cache that were written back.
    pub const OUTCOME_WRITEBACKS: Field = Field::new(10, 4);
    /// Entries of cache and pool that were given up without being written.
    pub const OUTCOME_DROPPED: Field = Field::new(14, 6);
    /// Clocks that accesses of the main register file waited; 255 says 255 or more.
    pub const OUTCOME_WAITED: Field = Field::new(20, 8);
}

/// What a command asks for. Its code has 3 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpCode {
    /// Read an operand.
    Read,
    /// Write a result.
    Write,
    /// A result goes to the main register file: give up what is older.
    Bypass,
    /// Take an operand that missed.
    Fill,
    /// Write the warp's cache back, oldest entry first.
    Flush,
    /// The warp has ended: drop its cache with liveness, otherwise a flush.
    Exit,
    /// The warp leaves the active set: its entries in the write pool become the least recently
    /// used.
    Demote,
    /// The warp has ended: its entries in the write pool are given up.
    Drop,
}

impl OpCode {
    /// Its code.
    #[inline]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The one that has a code; `None` if none has.
    #[inline]
    pub const fn of(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Bypass),
            3 => Some(Self::Fill),
            4 => Some(Self::Flush),
            5 => Some(Self::Exit),
            6 => Some(Self::Demote),
            7 => Some(Self::Drop),
            _ => None,
        }
    }
}

/// What became of a request in the register file cache. Its code has 3 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheOutcome {
    /// There was nothing to do.
    Nothing,
    /// All lanes of an operand are in the main register file.
    Miss,
    /// Some are.
    PartialHit,
    /// None is.
    Hit,
    /// Written to the entry that the register has.
    InPlace,
    /// Written to a new entry.
    Allocation,
    /// Lanes of an older value were given up.
    Invalidated,
    /// Entries were given up or written back.
    Emptied,
}

impl CacheOutcome {
    /// Its code.
    #[inline]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The one that has a code; `None` if none has.
    #[inline]
    pub const fn of(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Nothing),
            1 => Some(Self::Miss),
            2 => Some(Self::PartialHit),
            3 => Some(Self::Hit),
            4 => Some(Self::InPlace),
            5 => Some(Self::Allocation),
            6 => Some(Self::Invalidated),
            7 => Some(Self::Emptied),
            _ => None,
        }
    }
}

/// What the main register file is asked for. Its code has 3 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MainAccess {
    /// Lanes of an operand.
    Read,
    /// Lanes of a result, or of a register that is written back.
    Write,
    /// The warp leaves the active set.
    Demote,
    /// The warp has ended.
    Drop,
    /// Nothing: it only takes its turn.
    Nothing,
}

impl MainAccess {
    /// Its code.
    #[inline]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The one that has a code; `None` if none has.
    #[inline]
    pub const fn of(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Demote),
            3 => Some(Self::Drop),
            4 => Some(Self::Nothing),
            _ => None,
        }
    }
}

/// What an access of the main register file did. Its code has 3 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MainOutcome {
    /// There was none, or nothing to do.
    Nothing,
    /// A bank was read or written; a read had missed the write pool, if there is one.
    Bank,
    /// Read or written in the write pool.
    PoolHit,
    /// Read in the write pool and in a bank.
    PoolPartialHit,
    /// Written to an empty entry of the write pool.
    PoolAllocation,
    /// Written to an entry of the write pool, whose old value a bank took.
    PoolReplacement,
    /// Entries of the write pool were demoted or given up.
    PoolMoved,
}

impl MainOutcome {
    /// Its code.
    #[inline]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The one that has a code; `None` if none has.
    #[inline]
    pub const fn of(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Nothing),
            1 => Some(Self::Bank),
            2 => Some(Self::PoolHit),
            3 => Some(Self::PoolPartialHit),
            4 => Some(Self::PoolAllocation),
            5 => Some(Self::PoolReplacement),
            6 => Some(Self::PoolMoved),
            _ => None,
        }
    }
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

/// Designs that a [`Sum`] holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Designs {
    /// With a register file cache.
    Cache,
    /// Without a write pool.
    Banks,
    /// With a write pool and no cache.
    Pool,
}

/// Counters whose sum is that of some events, over the same accesses of the same lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// In these designs.
    pub of: Designs,
    /// The prototype's counters.
    pub counters: &'static [Counter],
    /// The model's events in count mode, which has no write pool.
    pub events: &'static [Event],
}

/// The counters in terms of the model's events.
#[rustfmt::skip]
pub const SUMS: &[Sum] = &[
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheReadsHit,
            Counter::CacheReadsPartial,
        ],
        events: &[
            Event::RfcReadPrivate,
            Event::RfcReadShared,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheReadsMissed,
            Counter::CacheReadsPartial,
        ],
        events: &[
            Event::MrfReadPrivate,
            Event::MrfReadShared,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheReadsPartial,
        ],
        events: &[
            Event::RfcPartialHit,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheFills,
        ],
        events: &[
            Event::RfcFillPrivate,
            Event::RfcFillShared,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheAllocations,
        ],
        events: &[
            Event::RfcAllocation,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheWritebacksEvicted,
        ],
        events: &[
            Event::RfcWritebackEviction,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheWritebacksFlushed,
        ],
        events: &[
            Event::RfcWritebackFlush,
        ],
    },
    Sum {
        of: Designs::Cache,
        counters: &[
            Counter::CacheDropped,
        ],
        events: &[
            Event::RfcDrop,
        ],
    },
    Sum {
        of: Designs::Banks,
        counters: &[
            Counter::BankReads,
        ],
        events: &[
            Event::MrfReadPrivate,
            Event::MrfReadShared,
        ],
    },
    Sum {
        of: Designs::Banks,
        counters: &[
            Counter::BankWrites,
        ],
        events: &[
            Event::MrfWritePrivate,
            Event::MrfWriteShared,
            Event::RfcWritebackEviction,
            Event::RfcWritebackFlush,
        ],
    },
    Sum {
        of: Designs::Pool,
        counters: &[
            Counter::PoolReadsHit,
            Counter::PoolReadsPartial,
            Counter::PoolReadsMissed,
        ],
        events: &[
            Event::MrfReadPrivate,
            Event::MrfReadShared,
        ],
    },
    Sum {
        of: Designs::Pool,
        counters: &[
            Counter::PoolWritesHit,
            Counter::PoolAllocations,
            Counter::PoolReplacements,
        ],
        events: &[
            Event::MrfWritePrivate,
            Event::MrfWriteShared,
        ],
    },
];
