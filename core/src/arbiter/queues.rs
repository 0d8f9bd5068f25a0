//! The arbiter's queues, in the caller's memory: reads that wait, and registers with the writes
//! that wait for them.

use super::config::ArbiterConfig;
use crate::datapath::Datapath;
use crate::split_bank_write::{MAX_BANKS, Subarray};
use crate::units::{LaneMask, RegisterId};

/// No element.
pub(super) const NONE: u32 = u32::MAX;

/// A read that is queued, in the caller's memory.
#[derive(Clone, Copy, Debug)]
pub struct QueuedRead {
    /// Reads that were requested before, modulo 2^32.
    pub(super) order: u32,
    pub(super) lanes: LaneMask,
    pub(super) next: u32,
    pub(super) register: RegisterId,
    pub(super) warp: u8,
    pub(super) unit: u8,
    pub(super) datapath: Datapath,
}

impl QueuedRead {
    /// No read, also for memory that is laid out at compile time.
    pub const NONE: Self = Self {
        order: 0,
        lanes: LaneMask::EMPTY,
        next: NONE,
        register: RegisterId(0),
        warp: 0,
        unit: 0,
        datapath: Datapath::Private,
    };
}

/// A register of a resident warp, in the caller's memory: its place, and its queued write if any.
#[derive(Clone, Copy, Debug)]
pub struct BankedRegister {
    /// Its queued reads.
    pub(super) queue: u8,
    pub(super) warp: u8,
    pub(super) number: u16,
    pub(super) lanes: LaneMask,
    pub(super) next: u32,
    /// The cycle in which its write was requested, modulo 2^32: no write waits that long.
    pub(super) since: u32,
}

impl BankedRegister {
    /// No register, also for memory that is laid out at compile time.
    pub const NONE: Self =
        Self { queue: 0, warp: 0, number: 0, lanes: LaneMask::EMPTY, next: NONE, since: 0 };

    /// Which register it is, of which warp.
    pub(crate) const fn name(&self) -> (u8, RegisterId) {
        (self.warp, RegisterId(self.number))
    }

    /// Bank, and its subarray if the banks are split.
    #[inline]
    pub(super) const fn place(self) -> (usize, Subarray) {
        place(self.queue as usize)
    }
}

/// Bank and subarray of a queue of reads.
#[inline]
pub(super) const fn place(queue: usize) -> (usize, Subarray) {
    (queue % MAX_BANKS, (queue / MAX_BANKS) as Subarray)
}

/// The memory of queues, handed in by the caller.
#[derive(Debug)]
pub struct Queues<'m> {
    /// Reads. Each unit has its own elements; as many as an instruction reads at most.
    pub reads: &'m mut [QueuedRead],
    /// Registers of all resident warps, warp by warp.
    pub registers: &'m mut [BankedRegister],
    /// Writes so far of each warp-wide row of cells, whichever register of a warp lies there:
    /// [`crate::bank_layout::Home::cell`]. Never cleared here.
    pub cell_writes: &'m mut [u64],
}

impl Queues<'_> {
    /// Lays the registers out over banks, and over subarrays if the banks are split.
    pub(super) fn lay_out(&mut self, config: ArbiterConfig) {
        let per_warp = config.registers_per_warp;
        for (index, place) in self.registers.iter_mut().enumerate() {
            let warp = (index / usize::from(per_warp)) as u8;
            let number = (index % usize::from(per_warp)) as u16;
            let home = config.bank_layout.home(config.banks, per_warp, warp, number);
            let half = if config.split_bank_write { MAX_BANKS as u8 * home.subarray } else { 0 };
            let queue = home.bank + half;
            *place = BankedRegister { queue, warp, number, ..BankedRegister::NONE };
        }
    }
}
