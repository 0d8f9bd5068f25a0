//! Register file cache (RFC): the few registers that one warp used last, in front of the main
//! register file.
//!
//! Models: tags, valid lanes, dirty and dead state; FIFO and LRU replacement; allocation on writes,
//! or on reads too; static liveness; bypass; flush. Tags change at issue, in program order.
//! Does not model: values (the executor), time and ports (the SM), energy (`energy`).
//! Source: `[RFC2011]` 3.1-3.3 and 5.3, `[DISS]` 5.2-5.4; `docs/MODEL.md`, rules 7 to 15.

mod age_order;
mod config;
mod tags;

use age_order::AgeOrder;

use crate::access::{Access, AccessSink};
use crate::units::{LaneMask, RegisterId};

pub use config::{Allocation, ConfigError, MAX_ENTRIES, RegisterFileCacheConfig, Replacement};

/// The register slots of one instruction, with the compiler's hints. Bit `i` of a hint belongs to
/// slot `i`; their meanings are those of [`crate::image::StaticInstruction`].
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// Registers read, in operand order. At most 32.
    pub sources: &'a [RegisterId],
    /// Last reads of their values.
    pub last_use: u32,
    /// Last reads of their values before the next deschedule.
    pub last_use_before_deschedule: u32,
    /// Registers written. At most 32.
    pub destinations: &'a [RegisterId],
    /// Results that no path reads before the next deschedule.
    pub not_read_before_deschedule: u32,
    /// The results go to the main register file, as those of long-latency operations do.
    pub bypass: bool,
    /// Lanes that take part. Not empty.
    pub mask: LaneMask,
}

/// What one way of a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The register.
    pub register: RegisterId,
    /// Its valid lanes. Not empty.
    pub lanes: LaneMask,
    /// No lower level has its value.
    pub dirty: bool,
    /// Entries that are older. 0 is the oldest.
    pub age: u8,
}

/// What the reads of one instruction found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    /// Slots whose values were read for the last time.
    pub(crate) dead: u16,
    /// Source slots that needed the main register file.
    pub(crate) missed: u32,
}

/// Lanes of a register that a level in front of the cache holds.
#[derive(Clone, Copy)]
pub(crate) struct InFront {
    pub(crate) register: RegisterId,
    pub(crate) lanes: LaneMask,
}

impl InFront {
    /// Nothing: the cache is the first level.
    pub(crate) const NOTHING: Self = Self { register: RegisterId(0), lanes: LaneMask::EMPTY };

    /// The lanes of an access that concern the cache.
    fn behind(self, register: RegisterId, mask: LaneMask) -> LaneMask {
        if register == self.register { mask.without(self.lanes) } else { mask }
    }
}

/// One warp's register file cache.
///
/// `CAPACITY` bounds the storage at compile time; the entries in use are run-time configuration, so
/// that one binary sweeps sizes. Range: `1..=16`.
#[derive(Clone, Debug)]
pub struct RegisterFileCache<const CAPACITY: usize> {
    // Invariants:
    // - bit `s` of `occupied` says that slot `s < config.entries <= CAPACITY` holds a register;
    //   `resident` counts them;
    // - occupied slots hold distinct tags and at least one lane;
    // - `order` lists exactly the occupied slots;
    // - `dirty` and `unneeded` are subsets of `occupied`.
    tags: [u16; CAPACITY],
    lanes: [LaneMask; CAPACITY],
    order: AgeOrder,
    occupied: u16,
    /// Slots that are.
    resident: u8,
    dirty: u16,
    /// By the compiler's hint not read before the next deschedule.
    unneeded: u16,
    config: RegisterFileCacheConfig,
}

impl<const CAPACITY: usize> RegisterFileCache<CAPACITY> {
    const CAPACITY_FITS: () = assert!(CAPACITY >= 1 && CAPACITY <= 16);

    /// Builds an empty cache, or says why it cannot be.
    pub const fn new(config: RegisterFileCacheConfig) -> Result<Self, ConfigError> {
        let () = Self::CAPACITY_FITS;
        if let Err(error) = config.check() {
            return Err(error);
        }
        if config.entries as usize > CAPACITY {
            let requested = config.entries;
            return Err(ConfigError::TooManyEntries { requested, limit: CAPACITY as u8 });
        }
        Ok(Self {
            tags: [0; CAPACITY],
            lanes: [LaneMask::EMPTY; CAPACITY],
            order: AgeOrder::EMPTY,
            occupied: 0,
            resident: 0,
            dirty: 0,
            unneeded: 0,
            config,
        })
    }

    /// Entries that hold a register. Range: `0..=config.entries`.
    pub const fn resident(&self) -> usize {
        self.resident as usize
    }

    /// The registers held, oldest first, with their valid lanes and whether they are dirty.
    pub fn entries(&self) -> impl Iterator<Item = (RegisterId, LaneMask, bool)> + '_ {
        self.ways().map(|(_, entry)| (entry.register, entry.lanes, entry.dirty))
    }

    /// Every way that holds something, oldest first.
    pub fn ways(&self) -> impl Iterator<Item = (usize, Entry)> + '_ {
        (0..self.resident()).map(|age| {
            let way = self.order.slot(age);
            let register = RegisterId(self.tags[way]);
            let dirty = self.dirty & (1 << way) != 0;
            (way, Entry { register, lanes: self.lanes[way], dirty, age: age as u8 })
        })
    }

    /// The lanes of a register that the cache holds.
    pub fn lanes_of(&self, register: RegisterId) -> LaneMask {
        self.find(register).map_or(LaneMask::EMPTY, |way| self.lanes[way])
    }

    /// Ways that hold a register: bit `w` is way `w`.
    pub const fn occupied(&self) -> u16 {
        self.occupied
    }

    /// Runs one instruction's operand traffic: all reads, then the allocation of operands that
    /// missed, in operand order, then the results. Returns the results that bypass the cache and go
    /// to the main register file, a bit for each.
    ///
    /// Cost: at most `CAPACITY` tag compares for each slot, twice that with reads allocating.
    #[inline]
    pub fn step(&mut self, operands: &Operands<'_>, sink: &mut impl AccessSink) -> u32 {
        debug_assert!(!operands.mask.is_empty());
        // Reads come first because an instruction may name its destination as a source, and deaths
        // after all reads because it may read a register twice.
        let mut found = Lookup::default();
        for (index, &source) in operands.sources.iter().enumerate() {
            self.read(source, index, operands.mask, operands, &mut found, sink);
        }
        self.end_reads(&found, InFront::NOTHING, operands, sink);
        let mut to_main = 0;
        for (index, &destination) in operands.destinations.iter().enumerate() {
            to_main |= u32::from(self.write(destination, index, operands, sink)) << index;
        }
        debug_assert_eq!(self.dirty & !self.occupied, 0);
        debug_assert_eq!(self.unneeded & !self.occupied, 0);
        to_main
    }

    /// What follows an instruction's reads: deaths, and the allocation of operands that missed.
    #[inline]
    pub(crate) fn end_reads(
        &mut self,
        found: &Lookup,
        in_front: InFront,
        operands: &Operands<'_>,
        sink: &mut impl AccessSink,
    ) {
        if found.dead != 0 {
            self.drop_slots(found.dead, sink);
        }
        if found.missed != 0 && self.config.allocation == Allocation::WritesAndReads {
            self.allocate_reads(found.missed, in_front, operands, sink);
        }
    }

    /// Whether result `index` goes to the main register file instead.
    #[inline]
    pub(crate) fn bypasses(&self, index: usize, operands: &Operands<'_>) -> bool {
        let unneeded = operands.not_read_before_deschedule >> index & 1 != 0;
        operands.bypass || (self.config.liveness_aware_bypass && unneeded)
    }

    /// Writes result `index`. Returns whether it goes to the main register file.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hot, and left alone it is called with all of this")]
    pub(crate) fn write(
        &mut self,
        destination: RegisterId,
        index: usize,
        operands: &Operands<'_>,
        sink: &mut impl AccessSink,
    ) -> bool {
        let bypasses = self.bypasses(index, operands);
        if bypasses {
            sink.access(Access::MrfWrite, destination, operands.mask);
            self.invalidate(destination, operands.mask, sink);
        } else {
            sink.access(Access::RfcWrite, destination, operands.mask);
            let unneeded = operands.not_read_before_deschedule >> index & 1 != 0;
            self.accept(destination, operands.mask, unneeded, sink);
        }
        bypasses
    }

    /// Takes in a value that no lower level has: a result, or a value evicted from a level in
    /// front.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        register: RegisterId,
        lanes: LaneMask,
        unneeded: bool,
        sink: &mut impl AccessSink,
    ) {
        let slot = self.place(register, lanes, unneeded, sink);
        self.make_dirty(slot);
    }

    /// Writes every dirty entry back, oldest first, and empties the cache.
    pub fn flush(&mut self, sink: &mut impl AccessSink) {
        self.empty(Access::RfcWritebackFlush, sink);
    }

    /// Empties the cache at the end of the warp: with liveness nothing is live any more, without it
    /// every dirty entry is written back.
    pub fn exit(&mut self, sink: &mut impl AccessSink) {
        let dirty = if self.config.liveness { Access::RfcDrop } else { Access::RfcWritebackFlush };
        self.empty(dirty, sink);
    }

    /// Flushes the oldest entry as one part of a [`Self::flush`], and returns the way that it had.
    /// `None` when the cache is empty.
    pub fn flush_oldest(&mut self, sink: &mut impl AccessSink) -> Option<usize> {
        if self.occupied == 0 {
            return None;
        }
        let slot = self.order.slot(0);
        self.vacate(slot, Access::RfcWritebackFlush, sink);
        Some(slot)
    }

    fn empty(&mut self, dirty: Access, sink: &mut impl AccessSink) {
        for position in 0..self.resident() {
            let slot = self.order.slot(position);
            let access = if self.dirty & (1 << slot) != 0 { dirty } else { Access::RfcDrop };
            sink.access(access, RegisterId(self.tags[slot]), self.lanes[slot]);
        }
        self.order = AgeOrder::EMPTY;
        self.occupied = 0;
        self.resident = 0;
        self.dirty = 0;
        self.unneeded = 0;
    }

    /// The way that holds a register.
    #[inline]
    pub fn find(&self, register: RegisterId) -> Option<usize> {
        tags::find(&self.tags, self.config.entries, self.occupied, register.0)
    }

    /// Serves the lanes `mask` of one operand; all of them, or those that no level in front serves.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hot, and left alone it is called with all of this")]
    pub(crate) fn read(
        &mut self,
        source: RegisterId,
        index: usize,
        mask: LaneMask,
        operands: &Operands<'_>,
        found: &mut Lookup,
        sink: &mut impl AccessSink,
    ) {
        if let Some(slot) = self.look(source, index, mask, operands, found, sink)
            && self.config.replacement == Replacement::Lru
            && !self.lanes[slot].and(mask).is_empty()
        {
            self.touch(slot);
        }
    }

    /// Serves the lanes `mask` of one operand; all of them, or those that no level in front serves.
    /// Returns the register's way, which the caller still has to mark as used.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hot, and left alone it is called with all of this")]
    pub(crate) fn look(
        &mut self,
        source: RegisterId,
        index: usize,
        mask: LaneMask,
        operands: &Operands<'_>,
        found: &mut Lookup,
        sink: &mut impl AccessSink,
    ) -> Option<usize> {
        let Some(slot) = self.find(source) else {
            sink.access(Access::MrfRead, source, mask);
            found.missed |= 1 << index;
            return None;
        };
        let hit = self.lanes[slot].and(mask);
        let missing = mask.without(hit);
        if !hit.is_empty() {
            sink.access(Access::RfcRead, source, hit);
        }
        if !missing.is_empty() {
            sink.access(Access::MrfRead, source, missing);
            found.missed |= 1 << index;
            if !hit.is_empty() {
                sink.access(Access::RfcPartialHit, source, hit);
            }
        }
        self.heed(slot, index, operands, found);
        Some(slot)
    }

    /// A level in front has served all lanes of one operand: only the hints concern the cache,
    /// which may hold other lanes of the value.
    #[inline]
    pub(crate) fn pass_over(
        &mut self,
        source: RegisterId,
        index: usize,
        operands: &Operands<'_>,
        found: &mut Lookup,
    ) {
        if let Some(slot) = self.find(source) {
            self.heed(slot, index, operands, found);
        }
    }

    /// Follows the hints of one operand.
    #[inline]
    fn heed(&mut self, slot: usize, index: usize, operands: &Operands<'_>, found: &mut Lookup) {
        let bit = 1 << slot;
        if operands.last_use_before_deschedule >> index & 1 != 0 {
            self.unneeded |= bit;
        } else {
            self.unneeded &= !bit;
        }
        if self.config.liveness && operands.last_use >> index & 1 != 0 {
            found.dead |= bit;
        }
    }

    /// Copies operands that missed into the cache, except values that will not be read again.
    fn allocate_reads(
        &mut self,
        missed: u32,
        in_front: InFront,
        operands: &Operands<'_>,
        sink: &mut impl AccessSink,
    ) {
        for (index, &source) in operands.sources.iter().enumerate() {
            if missed >> index & 1 == 0 {
                continue;
            }
            let covered = self.find(source).map_or(LaneMask::EMPTY, |slot| self.lanes[slot]);
            let wanted = in_front.behind(source, operands.mask);
            let missing = wanted.without(covered);
            let marked = |hints: u32| {
                let mut slots = operands.sources.iter().enumerate();
                slots.any(|(other, &same)| same == source && hints >> other & 1 != 0)
            };
            let unneeded = marked(operands.last_use_before_deschedule);
            let dead = self.config.liveness && marked(operands.last_use);
            let bypass = self.config.liveness_aware_bypass && unneeded;
            if missing.is_empty() || dead || bypass {
                continue;
            }
            sink.access(Access::RfcFill, source, missing);
            self.place(source, wanted, unneeded, sink);
        }
    }

    /// Puts lanes of a register into its entry, or into a new one, and returns the slot.
    pub(crate) fn place(
        &mut self,
        register: RegisterId,
        mask: LaneMask,
        unneeded: bool,
        sink: &mut impl AccessSink,
    ) -> usize {
        if let Some(slot) = self.find(register) {
            self.place_again(slot, mask, unneeded);
            self.make_used(slot);
            slot
        } else {
            self.place_anew(register, mask, unneeded, sink)
        }
    }

    /// Puts lanes of a register into its slot, which the caller still has to mark as used.
    #[inline]
    pub(crate) fn place_again(&mut self, slot: usize, mask: LaneMask, unneeded: bool) {
        self.lanes[slot] = self.lanes[slot].or(mask);
        self.unneeded = self.unneeded & !(1 << slot) | u16::from(unneeded) << slot;
    }

    /// Puts lanes of a register that has no slot into one, and returns it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hot, and left alone it is called with all of this")]
    pub(crate) fn place_anew(
        &mut self,
        register: RegisterId,
        mask: LaneMask,
        unneeded: bool,
        sink: &mut impl AccessSink,
    ) -> usize {
        let in_use = (1_u16 << self.config.entries) - 1;
        let free = in_use & !self.occupied;
        let slot = if free == 0 {
            self.evict(sink)
        } else {
            // In 32 bits: targets have no table for 16.
            u32::from(free).trailing_zeros() as usize
        };
        sink.access(Access::RfcAllocation, register, mask);
        self.order.push(slot, self.resident());
        self.resident += 1;
        self.tags[slot] = register.0;
        self.lanes[slot] = mask;
        self.occupied |= 1 << slot;
        self.unneeded = self.unneeded & !(1 << slot) | u16::from(unneeded) << slot;
        slot
    }

    /// Marks the value of a slot as one that no lower level has.
    #[inline]
    pub(crate) fn make_dirty(&mut self, slot: usize) {
        self.dirty |= 1 << slot;
    }

    /// Frees the victim's slot. The cache is full.
    #[inline]
    fn evict(&mut self, sink: &mut impl AccessSink) -> usize {
        let slot = self.victim();
        self.vacate(slot, Access::RfcWritebackEviction, sink);
        slot
    }

    /// Frees a slot; the access is `writeback` if no lower level has its value.
    #[inline]
    fn vacate(&mut self, slot: usize, writeback: Access, sink: &mut impl AccessSink) {
        let dirty = self.dirty & (1 << slot) != 0;
        self.release(slot, if dirty { writeback } else { Access::RfcDrop }, sink);
    }

    #[inline]
    fn victim(&self) -> usize {
        if self.config.liveness_aware_eviction && self.unneeded != 0 {
            self.oldest_unneeded()
        } else {
            self.order.slot(0)
        }
    }

    /// The oldest slot that is not read before the next deschedule, or the oldest if every slot is.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn oldest_unneeded(&self) -> usize {
        let mut slots = (0..self.resident()).map(|position| self.order.slot(position));
        slots.find(|slot| self.unneeded & (1 << slot) != 0).unwrap_or(self.order.slot(0))
    }

    /// An entry has been read or written.
    #[inline]
    pub(crate) fn make_used(&mut self, slot: usize) {
        if self.config.replacement == Replacement::Lru {
            self.touch(slot);
        }
    }

    /// Makes an entry the youngest.
    // Out of line where 64 bits are much code and the memory of instructions is small.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn touch(&mut self, slot: usize) {
        self.order.remove(slot);
        self.order.push(slot, self.resident() - 1);
    }

    /// Gives up lanes that a write to another level has overtaken.
    pub(crate) fn invalidate(
        &mut self,
        register: RegisterId,
        mask: LaneMask,
        sink: &mut impl AccessSink,
    ) {
        let Some(slot) = self.find(register) else { return };
        let kept = self.lanes[slot].without(mask);
        if kept.is_empty() {
            self.release(slot, Access::RfcDrop, sink);
        } else {
            self.lanes[slot] = kept;
        }
    }

    fn drop_slots(&mut self, mut slots: u16, sink: &mut impl AccessSink) {
        while slots != 0 {
            self.release(u32::from(slots).trailing_zeros() as usize, Access::RfcDrop, sink);
            slots &= slots - 1;
        }
    }

    #[inline]
    fn release(&mut self, slot: usize, access: Access, sink: &mut impl AccessSink) {
        sink.access(access, RegisterId(self.tags[slot]), self.lanes[slot]);
        self.order.remove(slot);
        let kept = !(1 << slot);
        self.resident -= 1;
        self.occupied &= kept;
        self.dirty &= kept;
        self.unneeded &= kept;
    }
}
