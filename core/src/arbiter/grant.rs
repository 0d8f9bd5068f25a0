//! Grants: the accesses of a cycle, as the arbiter reports them to the requesters.

use crate::datapath::Datapath;
use crate::units::{LaneMask, RegisterId};
use crate::write_pool::{PoolEntry, PoolRead};

/// A read that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReadGrant {
    /// Collector unit. Range: `0..32`.
    pub unit: u8,
    /// The warp's place.
    pub warp: u8,
    /// The register.
    pub register: RegisterId,
    /// Its bank.
    pub bank: u8,
    /// Which units the operand is for.
    pub datapath: Datapath,
    /// The lanes of it that the write pool has; without a pool, none.
    pub pool: PoolRead,
    /// The other subarray of the bank is being written.
    pub beside_write: bool,
    /// First cycle in which the unit has the operand.
    pub until: u64,
}

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteTarget {
    /// The main register file.
    Bank,
    /// The write pool, where the register was.
    PoolHit,
    /// An empty entry of the pool.
    PoolAllocation,
    /// The place of a replaced entry, which is written to the main register file.
    PoolReplacement {
        /// The entry.
        victim: PoolEntry,
        /// Its bank.
        bank: u8,
    },
}

/// A write that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WriteGrant {
    /// Index of the register in [`super::Queues::registers`].
    pub index: usize,
    /// The warp's place.
    pub warp: u8,
    /// The register.
    pub register: RegisterId,
    /// Its bank.
    pub bank: u8,
    /// Where it goes.
    pub target: WriteTarget,
    /// Cycles since it was requested.
    pub waited: u64,
    /// First cycle after it.
    pub until: u64,
}

/// Receives the accesses of a cycle.
pub trait Granted {
    /// A read.
    fn read(&mut self, grant: ReadGrant);
    /// A write. Returns the lanes of another write of the same register that is requested now, or
    /// no lanes.
    fn write(&mut self, grant: WriteGrant) -> LaneMask;
}
