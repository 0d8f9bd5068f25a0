//! Write pool: a small SRAM in front of the main register file that receives every write.
//!
//! Models: its indicator, which names the register of each entry; entries with some of a register's
//! lanes; a least-recently-used order, at whose end the entries of a warp go when it leaves the
//! active set.
//! Does not model: when an access happens (`arbiter`), data.
//! Source: `[WARRF]` 4.2; `docs/MODEL.md`, rule 30.

use crate::units::{LaneMask, RegisterId};

/// Most entries that any pool can have.
pub const MAX_ENTRIES: usize = 128;

/// No entry.
const NONE: u8 = u8::MAX;

/// Chains of the index by warp and register; a power of two, so that a chain is short.
const CHAINS: usize = 64;

/// Most accesses of a write pool in a cycle.
pub const MAX_ACCESSES: u8 = 8;

/// The ports of a write pool. A write that replaces an entry is one access, which also reads that
/// entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PoolPorts {
    /// A read and a write.
    #[default]
    OneReadOneWrite,
    /// This many accesses, reads or writes. Range: `1..=MAX_ACCESSES`.
    Any(u8),
}

/// The name of one access in a cycle.
const ONE_ACCESS: &str = "1rw";
/// The name of a read and a write in a cycle.
const READ_AND_WRITE: &str = "1r1w";

impl core::fmt::Display for PoolPorts {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::OneReadOneWrite => to.write_str(READ_AND_WRITE),
            Self::Any(1) => to.write_str(ONE_ACCESS),
            Self::Any(accesses) => accesses.fmt(to),
        }
    }
}

impl PoolPorts {
    /// The ports by the name with which they are displayed: `1rw`, `1r1w`, or a number of accesses
    /// from 2 on.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            ONE_ACCESS => Some(Self::Any(1)),
            READ_AND_WRITE => Some(Self::OneReadOneWrite),
            number => number.parse().ok().and_then(Self::of_accesses),
        }
    }

    /// The ports for a number of accesses of any kind, from 2 on.
    pub fn of_accesses(accesses: u64) -> Option<Self> {
        let accesses = u8::try_from(accesses).ok()?;
        (2..=MAX_ACCESSES).contains(&accesses).then_some(Self::Any(accesses))
    }

    /// Most writes in a cycle.
    #[inline]
    pub const fn writes(self) -> u8 {
        match self {
            Self::OneReadOneWrite => 1,
            Self::Any(accesses) => accesses,
        }
    }

    /// Most reads in a cycle with this many writes, at most [`Self::writes`].
    #[inline]
    pub const fn reads_beside(self, writes: u8) -> u8 {
        match self {
            Self::OneReadOneWrite => 1,
            Self::Any(accesses) => accesses - writes,
        }
    }
}

/// A register of a resident warp, and its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolEntry {
    /// The warp's place in the SM.
    pub warp: u8,
    /// The register.
    pub register: RegisterId,
    /// Lanes whose value the entry holds. Not empty.
    pub lanes: LaneMask,
}

/// An entry, its neighbours in the order of use, and the next of its chain.
#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: PoolEntry,
    newer: u8,
    older: u8,
    next: u8,
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolRead {
    /// No lane.
    Miss,
    /// All lanes.
    Hit,
    /// Some of the lanes; the others are in the main register file.
    PartialHit,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolWrite {
    /// The register was there and is overwritten in place.
    Hit,
    /// It takes an empty entry.
    Allocated,
    /// It takes the place of the least recently used entry, which is written back.
    Replaced(PoolEntry),
    /// The least recently used entry cannot be written back now: nothing changes, and the write
    /// waits.
    Blocked(PoolEntry),
}

/// The write pool.
#[derive(Clone, Debug)]
pub struct WritePool<const CAPACITY: usize> {
    // Invariants:
    // - bit `s` of `occupied` says that `slots[s]` holds an entry; `resident` counts them;
    // - no two entries are of the same register of the same warp;
    // - `newest` to `oldest` is a list of all occupied slots, linked both ways;
    // - each occupied slot is in the one chain of `chains` that its warp and register choose.
    slots: [Slot; CAPACITY],
    chains: [u8; CHAINS],
    occupied: u128,
    resident: u8,
    newest: u8,
    oldest: u8,
    entries: u8,
}

/// The pool's entries are out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolTooLarge {
    /// Entries asked for.
    pub entries: u8,
    /// The most that fit: the capacity compiled in, at most [`MAX_ENTRIES`].
    pub limit: usize,
}

impl core::fmt::Display for PoolTooLarge {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { entries, limit } = self;
        write!(to, "a write pool of {entries} entries is outside the range 1 to {limit}")
    }
}

impl core::error::Error for PoolTooLarge {}

impl<const CAPACITY: usize> WritePool<CAPACITY> {
    /// An empty pool of 1 to `CAPACITY` entries.
    pub const fn new(entries: u8) -> Result<Self, PoolTooLarge> {
        let limit = if CAPACITY > MAX_ENTRIES { MAX_ENTRIES } else { CAPACITY };
        if entries == 0 || entries as usize > limit {
            return Err(PoolTooLarge { entries, limit });
        }
        let entry = PoolEntry { warp: 0, register: RegisterId(0), lanes: LaneMask::EMPTY };
        Ok(Self {
            slots: [Slot { entry, newer: NONE, older: NONE, next: NONE }; CAPACITY],
            chains: [NONE; CHAINS],
            occupied: 0,
            resident: 0,
            newest: NONE,
            oldest: NONE,
            entries,
        })
    }

    /// What a read of a register's lanes would find, without the read.
    #[inline]
    pub fn look_up(&self, warp: u8, register: RegisterId, lanes: LaneMask) -> PoolRead {
        self.look_up_slot(warp, register, lanes).0
    }

    /// What a read of a register's lanes would find, without the read, and the entry in which it
    /// would find something.
    #[inline]
    fn look_up_slot(&self, warp: u8, register: RegisterId, lanes: LaneMask) -> (PoolRead, u8) {
        let Some(slot) = self.find(warp, register) else { return (PoolRead::Miss, NONE) };
        let held = self.slots[slot as usize].entry.lanes;
        let found = if lanes.without(held).is_empty() {
            PoolRead::Hit
        } else if lanes.and(held).is_empty() {
            PoolRead::Miss
        } else {
            PoolRead::PartialHit
        };
        (found, slot)
    }

    /// Reads a register's lanes. An entry that is found becomes most recently used.
    #[inline]
    pub fn read(&mut self, warp: u8, register: RegisterId, lanes: LaneMask) -> PoolRead {
        let (found, slot) = self.look_up_slot(warp, register, lanes);
        if found != PoolRead::Miss {
            self.touch(slot);
        }
        found
    }

    /// Writes a register's lanes; the written entry becomes most recently used. If it replaces the
    /// least recently used entry, `writes_back` says whether that one can be written to the main
    /// register file now.
    #[inline]
    pub fn write(
        &mut self,
        warp: u8,
        register: RegisterId,
        lanes: LaneMask,
        writes_back: impl FnOnce(PoolEntry) -> bool,
    ) -> PoolWrite {
        if let Some(slot) = self.find(warp, register) {
            let entry = &mut self.slots[slot as usize].entry;
            entry.lanes = entry.lanes.or(lanes);
            self.touch(slot);
            return PoolWrite::Hit;
        }
        let entry = PoolEntry { warp, register, lanes };
        if self.resident < self.entries {
            let vacant = (!self.occupied).trailing_zeros() as u8;
            self.resident += 1;
            self.occupied |= 1 << vacant;
            self.place(vacant, entry);
            self.link_newest(vacant);
            return PoolWrite::Allocated;
        }
        let slot = self.oldest;
        let victim = self.slots[slot as usize].entry;
        if !writes_back(victim) {
            return PoolWrite::Blocked(victim);
        }
        self.unchain(slot);
        self.place(slot, entry);
        self.touch(slot);
        PoolWrite::Replaced(victim)
    }

    /// A warp leaves the active set: its entries become the least recently used of all, in the
    /// order that they have among themselves.
    pub fn demote(&mut self, warp: u8) {
        // From the newest on, each behind all others, so that they end up in the same order.
        let mut slot = self.newest;
        for _ in 0..self.resident {
            let Slot { entry, older, .. } = self.slots[slot as usize];
            if entry.warp == warp {
                self.unlink(slot);
                self.link_oldest(slot);
            }
            slot = older;
        }
    }

    /// A warp has ended: its entries are given up. Returns how many.
    pub fn drop_warp(&mut self, warp: u8) -> u32 {
        let mut dropped = 0;
        let mut slot = self.newest;
        while let Some(&Slot { entry, older, .. }) = self.slots.get(usize::from(slot)) {
            if entry.warp == warp {
                dropped += 1;
                self.unchain(slot);
                self.unlink(slot);
                self.occupied &= !(1 << slot);
            }
            slot = older;
        }
        self.resident -= dropped;
        u32::from(dropped)
    }

    /// Entries of a warp.
    pub fn entries_of(&self, warp: u8) -> u32 {
        self.entries().map(|entry| u32::from(entry.warp == warp)).sum()
    }

    /// The entries, the least recently used, which is replaced first, last.
    pub fn entries(&self) -> impl Iterator<Item = PoolEntry> {
        let mut slot = self.newest;
        core::iter::from_fn(move || {
            let Slot { entry, older, .. } = *self.slots.get(usize::from(slot))?;
            slot = older;
            Some(entry)
        })
    }

    /// The chain of a warp's register. A factor spreads the same few registers of several warps.
    #[inline]
    fn chain(warp: u8, register: RegisterId) -> usize {
        (9 * usize::from(warp) + usize::from(register.0)) % CHAINS
    }

    #[inline]
    fn find(&self, warp: u8, register: RegisterId) -> Option<u8> {
        let mut slot = self.chains[Self::chain(warp, register)];
        // The end of a chain is no slot.
        while let Some(Slot { entry, next, .. }) = self.slots.get(usize::from(slot)) {
            if entry.register == register && entry.warp == warp {
                return Some(slot);
            }
            slot = *next;
        }
        None
    }

    /// Puts an entry into a slot that is in no chain.
    #[inline]
    fn place(&mut self, slot: u8, entry: PoolEntry) {
        let chain = &mut self.chains[Self::chain(entry.warp, entry.register)];
        let next = core::mem::replace(chain, slot);
        let placed = &mut self.slots[slot as usize];
        (placed.entry, placed.next) = (entry, next);
    }

    /// Takes a slot out of its chain.
    #[inline]
    fn unchain(&mut self, slot: u8) {
        let Slot { entry, next, .. } = self.slots[slot as usize];
        let first = &mut self.chains[Self::chain(entry.warp, entry.register)];
        let mut before = *first;
        if before == slot {
            *first = next;
            return;
        }
        while let Some(link) = self.slots.get_mut(usize::from(before)) {
            if link.next == slot {
                link.next = next;
                return;
            }
            before = link.next;
        }
    }

    #[inline]
    fn touch(&mut self, slot: u8) {
        if self.newest != slot {
            self.unlink(slot);
            self.link_newest(slot);
        }
    }

    #[inline]
    fn unlink(&mut self, slot: u8) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match self.slots.get_mut(usize::from(newer)) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(usize::from(older)) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
    }

    #[inline]
    fn link_newest(&mut self, slot: u8) {
        let older = core::mem::replace(&mut self.newest, slot);
        match self.slots.get_mut(usize::from(older)) {
            Some(older) => older.newer = slot,
            None => self.oldest = slot,
        }
        let linked = &mut self.slots[slot as usize];
        (linked.newer, linked.older) = (NONE, older);
    }

    fn link_oldest(&mut self, slot: u8) {
        let newer = core::mem::replace(&mut self.oldest, slot);
        match self.slots.get_mut(usize::from(newer)) {
            Some(newer) => newer.older = slot,
            None => self.newest = slot,
        }
        let linked = &mut self.slots[slot as usize];
        (linked.newer, linked.older) = (newer, NONE);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    const FULL: LaneMask = LaneMask::FULL;
    const LOW: LaneMask = LaneMask(0x0000_ffff);
    const HIGH: LaneMask = LaneMask(0xffff_0000);

    fn pool(entries: u8) -> WritePool<8> {
        WritePool::new(entries).unwrap()
    }

    /// A write that may always replace.
    fn write(pool: &mut WritePool<8>, warp: u8, register: u16) -> PoolWrite {
        pool.write(warp, RegisterId(register), FULL, |_| true)
    }

    fn entry(warp: u8, register: u16) -> PoolEntry {
        PoolEntry { warp, register: RegisterId(register), lanes: FULL }
    }

    /// Warps and registers, the least recently used last.
    fn order(pool: &WritePool<8>) -> Vec<(u8, u16)> {
        pool.entries().map(|entry| (entry.warp, entry.register.0)).collect()
    }

    #[test]
    fn a_write_hits_or_takes_an_empty_entry_or_the_least_recently_used() {
        let mut pool = pool(2);
        assert_eq!(write(&mut pool, 0, 1), PoolWrite::Allocated);
        assert_eq!(write(&mut pool, 1, 1), PoolWrite::Allocated);
        assert_eq!(write(&mut pool, 0, 1), PoolWrite::Hit);
        assert_eq!(order(&pool), [(0, 1), (1, 1)]);
        assert_eq!(write(&mut pool, 2, 9), PoolWrite::Replaced(entry(1, 1)));
        assert_eq!(order(&pool), [(2, 9), (0, 1)]);
    }

    #[test]
    fn a_write_whose_victim_cannot_leave_changes_nothing() {
        let mut pool = pool(2);
        write(&mut pool, 0, 1);
        write(&mut pool, 0, 2);
        let mut asked = None;
        let outcome = pool.write(0, RegisterId(3), FULL, |victim| {
            asked = Some(victim);
            false
        });
        assert_eq!((outcome, asked), (PoolWrite::Blocked(entry(0, 1)), Some(entry(0, 1))));
        assert_eq!(order(&pool), [(0, 2), (0, 1)]);
        // A hit needs no write-back.
        assert_eq!(pool.write(0, RegisterId(1), FULL, |_| false), PoolWrite::Hit);
    }

    #[test]
    fn a_read_that_hits_is_a_use_and_one_that_misses_allocates_nothing() {
        let mut pool = pool(3);
        write(&mut pool, 0, 1);
        write(&mut pool, 0, 2);
        assert_eq!(pool.read(0, RegisterId(1), FULL), PoolRead::Hit);
        assert_eq!(order(&pool), [(0, 1), (0, 2)]);
        assert_eq!(pool.read(1, RegisterId(2), FULL), PoolRead::Miss);
        assert_eq!(pool.look_up(0, RegisterId(2), FULL), PoolRead::Hit);
        assert_eq!(order(&pool), [(0, 1), (0, 2)]);
    }

    #[test]
    fn an_entry_holds_the_lanes_that_were_written() {
        let mut pool = pool(2);
        pool.write(0, RegisterId(1), LOW, |_| true);
        assert_eq!(pool.read(0, RegisterId(1), LOW), PoolRead::Hit);
        assert_eq!(pool.read(0, RegisterId(1), FULL), PoolRead::PartialHit);
        assert_eq!(pool.read(0, RegisterId(1), HIGH), PoolRead::Miss);
        assert_eq!(pool.write(0, RegisterId(1), HIGH, |_| true), PoolWrite::Hit);
        assert_eq!(pool.read(0, RegisterId(1), FULL), PoolRead::Hit);
        pool.write(0, RegisterId(2), LOW, |_| true);
        let replaced = pool.write(0, RegisterId(3), LOW, |victim| victim == entry(0, 1));
        assert_eq!(replaced, PoolWrite::Replaced(entry(0, 1)));
    }

    #[test]
    fn a_demoted_warp_s_entries_go_first_and_keep_their_order() {
        let mut pool = pool(6);
        for (warp, register) in [(0, 1), (1, 1), (0, 2), (2, 1), (1, 2), (0, 3)] {
            write(&mut pool, warp, register);
        }
        pool.demote(0);
        assert_eq!(order(&pool), [(1, 2), (2, 1), (1, 1), (0, 3), (0, 2), (0, 1)]);
        // The warp that was demoted last is replaced first.
        pool.demote(1);
        assert_eq!(order(&pool), [(2, 1), (0, 3), (0, 2), (0, 1), (1, 2), (1, 1)]);
        assert_eq!(write(&mut pool, 2, 7), PoolWrite::Replaced(entry(1, 1)));
        // After its return its accesses count as before.
        assert_eq!(pool.read(1, RegisterId(2), FULL), PoolRead::Hit);
        assert_eq!(order(&pool), [(1, 2), (2, 7), (2, 1), (0, 3), (0, 2), (0, 1)]);
        pool.demote(5);
        assert_eq!(order(&pool).len(), 6);
        assert_eq!([0, 1, 2, 5].map(|warp| pool.entries_of(warp)), [3, 1, 2, 0]);
    }

    #[test]
    fn an_ended_warp_s_entries_are_given_up() {
        let mut pool = pool(4);
        for (warp, register) in [(0, 1), (1, 1), (0, 2), (2, 1)] {
            write(&mut pool, warp, register);
        }
        assert_eq!(pool.drop_warp(0), 2);
        assert_eq!(order(&pool), [(2, 1), (1, 1)]);
        assert_eq!(pool.drop_warp(0), 0);
        assert_eq!(write(&mut pool, 0, 1), PoolWrite::Allocated);
        assert_eq!(pool.drop_warp(1) + pool.drop_warp(2) + pool.drop_warp(0), 3);
        assert_eq!(order(&pool), []);
    }

    #[test]
    fn a_pool_of_one_entry_holds_the_last_register_written() {
        let mut pool = pool(1);
        assert_eq!(write(&mut pool, 0, 1), PoolWrite::Allocated);
        assert_eq!(write(&mut pool, 0, 1), PoolWrite::Hit);
        pool.demote(0);
        assert_eq!(write(&mut pool, 1, 1), PoolWrite::Replaced(entry(0, 1)));
        assert_eq!(pool.write(0, RegisterId(1), FULL, |_| false), PoolWrite::Blocked(entry(1, 1)));
        assert_eq!(pool.drop_warp(1), 1);
        assert_eq!(write(&mut pool, 0, 1), PoolWrite::Allocated);
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        assert_eq!(WritePool::<8>::new(0).unwrap_err(), PoolTooLarge { entries: 0, limit: 8 });
        assert_eq!(WritePool::<8>::new(9).unwrap_err(), PoolTooLarge { entries: 9, limit: 8 });
        let error = WritePool::<200>::new(129).unwrap_err().to_string();
        assert_eq!(error, "a write pool of 129 entries is outside the range 1 to 128");
        assert!(WritePool::<200>::new(128).is_ok());
    }
}
