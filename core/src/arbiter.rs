//! Arbiter: which reads and writes of the main register file happen in a cycle.
//!
//! Models: a queue of reads for each bank (of each subarray, if the banks are split), one of writes
//! for each bank or, with a write pool, for the pool; in each cycle a group of accesses without
//! conflicts, writes first.
//! Does not model: the collector units and results that wait, data.
//! Source: `[WARRF]` 2.1, 3.2, 4.2; what it leaves open: `docs/MODEL.md`, rules 28 to 30.
//!
//! In each cycle ([`Arbiter::cycle`]):
//!
//! 1. *Writes.* Without a pool, each bank takes the first write of its queue if it is free for one.
//!    With one, the pool takes the first write of its queue, and more as long as its ports allow.
//!    If a write replaces an entry, the entry's bank takes the old value in the same cycle; if the
//!    bank cannot, the write and those behind it wait. A write also waits as long as an earlier
//!    read of its own register is queued. A later write of the same register waits for the next
//!    cycle.
//! 2. *Reads.* Banks take turns, beginning with bank `cycle mod banks`. A bank serves the first
//!    read of its queue, if the read's collector unit has received no operand in this cycle and the
//!    resources of the read are free: the bank; a port of the pool, if the pool has all lanes;
//!    both, if it has some.
//!    With split banks the first reads of both subarrays are tried, the one that was asked for
//!    earlier first, and one is served.

mod config;
mod grant;
mod queues;

use crate::bank_layout::cell;
use crate::datapath::Datapath;
use crate::split_bank_write::{MAX_BANKS, SplitBankWrite, Subarray};
use crate::units::{LaneMask, RegisterId};
use crate::write_pool::{MAX_ENTRIES, PoolEntry, PoolPorts, PoolRead, PoolWrite, WritePool};
pub use config::{ArbiterConfig, ArbiterError, BankPorts};
pub use grant::{Granted, ReadGrant, WriteGrant, WriteTarget};
pub use queues::{BankedRegister, QueuedRead, Queues};
use queues::{NONE, place};

/// A queue that is linked through its elements; what it says of an empty one does not matter.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

impl Queue {
    const EMPTY: Self = Self { first: NONE, last: NONE };
}

/// Queues of reads: one for each bank, then, for split banks, one for the second subarray of each.
const READ_QUEUES: usize = 2 * MAX_BANKS;

/// Queues of reads, and the unit that the first of each is for, as a bit. What it says of the last
/// of an empty one does not matter. Stored by field, so that a field just written is never loaded
/// together with its neighbours.
#[derive(Clone, Debug)]
struct ReadQueues {
    first: [u32; READ_QUEUES],
    last: [u32; READ_QUEUES],
    unit: [u32; READ_QUEUES],
}

/// Queues, banks and the write pool; plain data, sized at compile time.
#[derive(Clone, Debug)]
pub struct Arbiter {
    /// Ports of banks: those for writes come behind all others, where they are apart.
    banks: SplitBankWrite,
    write_port: usize,
    bank_count: u8,
    /// There are banks of other memories behind the first ones; then no cells are counted.
    others: bool,
    registers_per_warp: u16,
    /// Registers of the register file that a warp takes.
    taken_per_warp: u32,
    split: bool,
    pool: Option<WritePool<MAX_ENTRIES>>,
    pool_ports: PoolPorts,
    reads: ReadQueues,
    /// Bit: a read is queued there.
    reading: u64,
    /// One for each bank; with a pool the first is the pool's.
    writes: [Queue; MAX_BANKS],
    /// Bit: a write is queued there.
    writing: u32,
    /// Reads requested and reads served, modulo 2^32.
    asked: u32,
    granted: u32,
}

impl Arbiter {
    /// An idle arbiter, whose registers are laid out in the memory given. On an error the memory is
    /// unchanged.
    pub fn new(config: &ArbiterConfig, queues: &mut Queues<'_>) -> Result<Self, ArbiterError> {
        config.check()?;
        let pool = match config.write_pool_entries {
            0 => None,
            entries => Some(WritePool::new(entries).map_err(ArbiterError::WritePool)?),
        };
        queues.lay_out(*config);
        Ok(Self {
            banks: SplitBankWrite::new(
                config.read_cycles,
                config.write_cycles,
                config.split_bank_write,
            ),
            write_port: config.write_port(),
            bank_count: config.banks,
            others: config.other_banks != 0,
            registers_per_warp: config.registers_per_warp,
            taken_per_warp: config.bank_layout.taken(config.banks, config.registers_per_warp),
            split: config.split_bank_write,
            pool,
            pool_ports: config.write_pool_ports,
            reads: ReadQueues {
                first: [NONE; READ_QUEUES],
                last: [NONE; READ_QUEUES],
                unit: [0; READ_QUEUES],
            },
            reading: 0,
            writes: [Queue::EMPTY; MAX_BANKS],
            writing: 0,
            asked: 0,
            granted: 0,
        })
    }

    /// True when nothing is queued.
    #[inline]
    pub const fn is_idle(&self) -> bool {
        self.writing == 0 && self.reading == 0
    }

    /// Reads that are queued.
    #[inline]
    pub const fn queued_reads(&self) -> u32 {
        self.asked.wrapping_sub(self.granted)
    }

    /// The write pool, of a design that has one.
    pub const fn pool(&self) -> Option<&WritePool<MAX_ENTRIES>> {
        self.pool.as_ref()
    }

    /// How many banks there are.
    pub const fn bank_count(&self) -> u8 {
        self.bank_count
    }

    /// Starts a read of a bank, its first subarray, that no register asked for, if the bank is
    /// free. Returns whether it did.
    pub fn claim_read(&mut self, bank: u8, now: u64) -> bool {
        let bank = usize::from(bank);
        let can = self.banks.can_read(bank, 0, now);
        if can {
            self.begin_read::<true>(bank, 0, now);
        }
        can
    }

    /// Starts a write of a bank, its first subarray, that no register asked for, if the bank is
    /// free. Returns whether it did.
    pub fn claim_write(&mut self, bank: u8, now: u64) -> bool {
        let bank = usize::from(bank);
        let can = self.banks.can_write(bank + self.write_port, 0, now);
        if can {
            self.begin_write::<true>(bank, 0, now);
        }
        can
    }

    /// Starts a read that its bank allows; `OTHERS` says whether there can be banks of other
    /// memories. Returns the cycle after its last.
    #[inline]
    fn begin_read<const OTHERS: bool>(&mut self, bank: usize, subarray: Subarray, now: u64) -> u64 {
        if OTHERS && bank >= usize::from(self.bank_count) {
            self.banks.read_in_one(bank, now)
        } else {
            self.banks.read(bank, subarray, now)
        }
    }

    /// Starts a write that its bank allows; `OTHERS` says whether there can be banks of other
    /// memories. Returns the cycle after its last.
    #[inline]
    fn begin_write<const OTHERS: bool>(
        &mut self,
        bank: usize,
        subarray: Subarray,
        now: u64,
    ) -> u64 {
        let port = bank + self.write_port;
        if OTHERS && bank >= usize::from(self.bank_count) {
            self.banks.write_in_one(port, now)
        } else {
            self.banks.write(port, subarray, now)
        }
    }

    /// The banks.
    pub const fn banks(&self) -> &SplitBankWrite {
        &self.banks
    }

    /// A warp leaves the active set.
    pub fn demote(&mut self, warp: u8) {
        if let Some(pool) = &mut self.pool {
            pool.demote(warp);
        }
    }

    /// A warp has ended. Returns the entries of the write pool that are dropped.
    pub fn drop_warp(&mut self, warp: u8) -> u32 {
        self.pool.as_mut().map_or(0, |pool| pool.drop_warp(warp))
    }

    /// Index of a warp's register in [`Queues::registers`].
    #[inline]
    pub const fn index(&self, warp: u8, register: RegisterId) -> usize {
        warp as usize * self.registers_per_warp as usize + register.0 as usize
    }

    /// Has the register at an index of [`Queues::registers`] lie in another bank, for reads and
    /// writes that are asked for from now on. Range of `bank`: below all banks.
    pub fn move_register(&self, queues: &mut Queues<'_>, index: usize, bank: u8) {
        queues.registers[index].queue = bank;
    }

    /// Index of the cells of a warp's register, which lies in `bank`, in [`Queues::cell_writes`].
    #[inline]
    const fn cell(&self, bank: usize, warp: u8, RegisterId(register): RegisterId) -> usize {
        cell(self.taken_per_warp, self.bank_count, bank as u8, warp, register) as usize
    }

    /// Asks for a read, from the next cycle on, for a unit below 32; `element` is a free one of
    /// [`Queues::reads`].
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub fn ask_read(
        &mut self,
        queues: &mut Queues<'_>,
        element: usize,
        (unit, datapath): (u8, Datapath),
        (warp, register, lanes): (u8, RegisterId, LaneMask),
    ) {
        let queue = usize::from(queues.registers[self.index(warp, register)].queue) % READ_QUEUES;
        let (order, next) = (self.asked, NONE);
        queues.reads[element] = QueuedRead { order, lanes, next, register, warp, unit, datapath };
        self.asked = self.asked.wrapping_add(1);
        let last = core::mem::replace(&mut self.reads.last[queue], element as u32);
        if self.reading >> queue & 1 == 0 {
            self.reads.first[queue] = element as u32;
            self.reads.unit[queue] = bit(unit);
            self.reading |= 1 << queue;
        } else {
            queues.reads[last as usize].next = element as u32;
        }
    }

    /// Asks for a write, from cycle `now` on. The register has none queued.
    #[inline]
    pub fn ask_write(
        &mut self,
        queues: &mut Queues<'_>,
        (warp, register, lanes): (u8, RegisterId, LaneMask),
        now: u64,
    ) {
        self.ask_write_of(queues, self.index(warp, register), lanes, now);
    }

    /// Asks for the write of a register by its index in [`Queues::registers`].
    #[inline]
    pub(crate) fn ask_write_of(
        &mut self,
        queues: &mut Queues<'_>,
        index: usize,
        lanes: LaneMask,
        now: u64,
    ) {
        let asked = &mut queues.registers[index];
        (asked.lanes, asked.next, asked.since) = (lanes, NONE, now as u32);
        let queue = if self.pool.is_some() { 0 } else { asked.place().0 };
        let last = core::mem::replace(&mut self.writes[queue].last, index as u32);
        if self.writing >> queue & 1 == 0 {
            self.writes[queue].first = index as u32;
            self.writing |= 1 << queue;
        } else {
            queues.registers[last as usize].next = index as u32;
        }
    }

    /// True without split banks, a write pool and banks of other memories.
    #[inline]
    pub const fn is_plain(&self) -> bool {
        !self.split && self.pool.is_none() && !self.others
    }

    /// Grants a group of accesses without conflicts.
    // Not within its caller, whose values would take the registers that this needs.
    #[inline(never)]
    pub fn cycle(&mut self, queues: &mut Queues<'_>, now: u64, to: &mut impl Granted) {
        // Compiled for each design, so that no access tests which parts the design has.
        match (self.split, self.pool.is_some(), self.others) {
            (false, false, false) => self.cycle_plain(queues, now, to),
            (false, true, false) => self.cycle_of::<false, true, false>(queues, now, to),
            (true, false, false) => self.cycle_of::<true, false, false>(queues, now, to),
            (true, true, false) => self.cycle_of::<true, true, false>(queues, now, to),
            (_, _, true) => self.cycle_of::<false, false, true>(queues, now, to),
        }
    }

    /// Grants a group of accesses without conflicts, where [`Self::is_plain`] is known to be true.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(crate) fn cycle_plain(&mut self, queues: &mut Queues<'_>, now: u64, to: &mut impl Granted) {
        self.cycle_of::<false, false, false>(queues, now, to);
    }

    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn cycle_of<const SPLIT: bool, const POOL: bool, const OTHERS: bool>(
        &mut self,
        queues: &mut Queues<'_>,
        now: u64,
        to: &mut impl Granted,
    ) {
        let mut pool_writes = 0;
        let mut writing = self.writing;
        while writing != 0 {
            let queue = writing.trailing_zeros() as usize;
            writing &= writing - 1;
            // The pool's queue has one turn for each write that the pool can take.
            while let Some(more) = self.write::<SPLIT, POOL, OTHERS>(queues, queue, now, to)
                && POOL
            {
                pool_writes += 1;
                // Requests of this cycle are served from the next one on.
                if pool_writes == self.pool_ports.writes() || self.writing == 0 || !more.is_empty()
                {
                    break;
                }
            }
        }
        if self.reading == 0 {
            return;
        }
        let pool_reads = self.pool_ports.reads_beside(pool_writes);
        let mut taken = Taken { pool_reads, ..Taken::default() };
        let banks = u64::from(self.bank_count);
        // Divides only where it must.
        let first = if banks.is_power_of_two() { now & (banks - 1) } else { now % banks } as u32;
        let (low, high) = (self.reading as u32, (self.reading >> MAX_BANKS) as u32);
        let mut turns = (low | high).rotate_right(first);
        while turns != 0 {
            let bank = (turns.trailing_zeros() as usize + first as usize) % MAX_BANKS;
            turns &= turns - 1;
            self.read_bank::<SPLIT, POOL, OTHERS>(queues, bank, now, &mut taken, to);
        }
    }

    /// Grants the first write of a queue if it can start. Returns the lanes of the write that
    /// follows it, if it was granted.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn write<const SPLIT: bool, const POOL: bool, const OTHERS: bool>(
        &mut self,
        queues: &mut Queues<'_>,
        queue: usize,
        now: u64,
        to: &mut impl Granted,
    ) -> Option<LaneMask> {
        let index = self.writes[queue].first;
        // Field by field: some have just been written.
        let BankedRegister { queue: reads, warp, number, lanes, next, since } =
            queues.registers[index as usize];
        let register = RegisterId(number);
        let reads = usize::from(reads) % READ_QUEUES;
        if self.is_read_queued(queues, reads, (warp, register)) {
            return None;
        }
        let (bank, subarray) = if SPLIT { place(reads) } else { (reads % MAX_BANKS, 0) };
        let (target, until) = if POOL {
            (self.write_to_pool(queues, (warp, register, lanes), now)?, now + 1)
        } else {
            if !self.banks.can_write(bank + self.write_port, subarray, now) {
                return None;
            }
            if !OTHERS {
                let cell = self.cell(bank, warp, register);
                queues.cell_writes[cell] += 1;
            }
            (WriteTarget::Bank, self.begin_write::<OTHERS>(bank, subarray, now))
        };
        self.writes[queue].first = next;
        if next == NONE {
            self.writing &= !(1 << queue);
        }
        let waited = u64::from((now as u32).wrapping_sub(since));
        let (bank, index) = (bank as u8, index as usize);
        let more = to.write(WriteGrant { index, warp, register, bank, target, waited, until });
        if !more.is_empty() {
            self.ask_write(queues, (warp, register, more), now);
        }
        Some(more)
    }

    /// Writes to the pool, and the replaced entry to its bank; nothing if that bank is busy.
    fn write_to_pool(
        &mut self,
        queues: &mut Queues<'_>,
        (warp, register, lanes): (u8, RegisterId, LaneMask),
        now: u64,
    ) -> Option<WriteTarget> {
        let (per_warp, write_port) = (usize::from(self.registers_per_warp), self.write_port);
        let banks = &mut self.banks;
        let index =
            |entry: PoolEntry| usize::from(entry.warp) * per_warp + usize::from(entry.register.0);
        let pool = self.pool.as_mut()?;
        let outcome = pool.write(warp, register, lanes, |victim| {
            let (bank, subarray) = queues.registers[index(victim)].place();
            banks.can_write(bank + write_port, subarray, now)
        });
        Some(match outcome {
            PoolWrite::Hit => WriteTarget::PoolHit,
            PoolWrite::Allocated => WriteTarget::PoolAllocation,
            PoolWrite::Blocked(_) => return None,
            PoolWrite::Replaced(victim) => {
                let (bank, subarray) = queues.registers[index(victim)].place();
                banks.write(bank + write_port, subarray, now);
                let cell = self.cell(bank, victim.warp, victim.register);
                queues.cell_writes[cell] += 1;
                WriteTarget::PoolReplacement { victim, bank: bank as u8 }
            }
        })
    }

    /// Whether a read of a register is queued that was requested before any write of it.
    #[inline]
    fn is_read_queued(&self, queues: &Queues<'_>, queue: usize, name: (u8, RegisterId)) -> bool {
        let mut element = self.reads.first[queue];
        while element != NONE {
            let queued = &queues.reads[element as usize];
            if (queued.warp, queued.register) == name {
                return true;
            }
            element = queued.next;
        }
        false
    }

    /// Lets a bank serve a read if it can.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn read_bank<const SPLIT: bool, const POOL: bool, const OTHERS: bool>(
        &mut self,
        queues: &mut Queues<'_>,
        bank: usize,
        now: u64,
        taken: &mut Taken,
        to: &mut impl Granted,
    ) {
        let (low, high) = (bank, bank + MAX_BANKS);
        if !SPLIT {
            if taken.units & self.reads.unit[low] == 0 {
                self.read::<POOL, OTHERS>(queues, low, now, taken, to);
            }
            return;
        }
        let reads = &*queues.reads;
        let asked = |queue: usize| reads.get(self.reads.first[queue] as usize);
        let high_first = match (asked(low), asked(high)) {
            // Queues are shorter than half the range of the order number.
            (Some(low), Some(high)) => (high.order.wrapping_sub(low.order) as i32) < 0,
            (low, _) => low.is_none(),
        };
        for queue in if high_first { [high, low] } else { [low, high] } {
            if self.reads.first[queue] != NONE
                && taken.units & self.reads.unit[queue] == 0
                && self.read::<POOL, OTHERS>(queues, queue, now, taken, to)
            {
                return;
            }
        }
    }

    /// Grants the first read of a queue if it can start. Its unit has received nothing in this
    /// cycle.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn read<const POOL: bool, const OTHERS: bool>(
        &mut self,
        queues: &mut Queues<'_>,
        queue: usize,
        now: u64,
        taken: &mut Taken,
        to: &mut impl Granted,
    ) -> bool {
        let first = self.reads.first[queue];
        let (bank, subarray) = place(queue);
        let bank_free = self.banks.can_read(bank, subarray, now);
        if !POOL && !bank_free {
            return false;
        }
        let QueuedRead { lanes, next, register, warp, unit, datapath, .. } =
            queues.reads[first as usize];
        let pool = match &self.pool {
            Some(pool) if POOL => pool.look_up(warp, register, lanes),
            _ => PoolRead::Miss,
        };
        let (needs_pool, needs_bank) = (pool != PoolRead::Miss, pool != PoolRead::Hit);
        if needs_pool && taken.pool_reads == 0 || needs_bank && !bank_free {
            return false;
        }
        let (beside_write, until) = if needs_bank {
            let beside_write = self.banks.write_busy(bank, now) != 0;
            (beside_write, self.begin_read::<OTHERS>(bank, subarray, now))
        } else {
            (false, now + 1)
        };
        if needs_pool && let Some(pool) = &mut self.pool {
            taken.pool_reads -= 1;
            pool.read(warp, register, lanes);
        }
        taken.units |= self.reads.unit[queue];
        self.granted = self.granted.wrapping_add(1);
        self.reads.first[queue] = next;
        if next == NONE {
            self.reading &= !(1 << queue);
        } else {
            self.reads.unit[queue] = bit(queues.reads[next as usize].unit);
        }
        let bank = bank as u8;
        to.read(ReadGrant { unit, warp, register, bank, datapath, pool, beside_write, until });
        true
    }
}

/// Resources that accesses of this cycle have used.
#[derive(Default)]
struct Taken {
    /// Bit: the collector unit has received an operand.
    units: u32,
    /// Reads that the write pool can still do.
    pool_reads: u8,
}

/// The bit of a collector unit.
#[inline]
const fn bit(unit: u8) -> u32 {
    1 << (unit % u32::BITS as u8)
}
