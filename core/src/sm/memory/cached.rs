//! Cached: a memory with a primary data cache, whose time follows from the addresses of accesses.
//!
//! Models: shared memory and the cache behind one path, which accesses take in the order of their
//! issue, for as long as their banks take ([`AccessCycles`]) and for a cycle for each line whose
//! tag is looked up; a cache that is written through and allocates on loads that miss; loads of
//! pending lines, which wait for them; DRAM with a fixed latency and a bandwidth, whose transfers
//! do not overlap. Atomics and volatile accesses go to DRAM, and the cache drops their lines.
//! Without a cache the rows that are touched move, in whole transactions.
//! Does not model: values; a limit on outstanding misses; rows and channels of DRAM; a second
//! level.
//! Source: `[MICRO2012]` 4.2, 4.3 and 5.1, `[DISS]` 7.3; `docs/MODEL.md`, rule 35.

use super::cache::{Cache, Lookup};
use super::touched::{AccessCycles, BankMapping, LINE_BYTES, TouchedLine};
use super::{Answer, Arrival, MemoryCounters, MemoryModel, MemoryRequest, MemoryStep, Space};
use crate::named;
use crate::sm::timing::Timing;

/// What an access does with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineUse {
    /// Reads them.
    #[default]
    Load,
    /// Writes them, in the cache if it has them, and in DRAM.
    Store,
    /// Reads or writes them in DRAM, past the cache, which drops them: atomics, volatile accesses.
    Bypass,
}

/// An access of a launch, by the addresses of its lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedAccess {
    /// The first of its lines in the list, and how many they are.
    lines: (u32, u16),
    line_use: LineUse,
    cycles: AccessCycles,
}

impl ListedAccess {
    /// An access whose lines stand in the list from `first` on, as many as `count`, and which takes
    /// these cycles in banks.
    pub const fn new(line_use: LineUse, (first, count): (u32, u16), cycles: AccessCycles) -> Self {
        Self { lines: (first, count), line_use, cycles }
    }

    /// The same where its lines stand so much later in the list. At most `u32::MAX` lines.
    #[must_use]
    pub const fn moved_on(self, by: u32) -> Self {
        Self { lines: (self.lines.0.saturating_add(by), self.lines.1), ..self }
    }
}

/// The accesses of a launch, which its traces name by place
/// ([`crate::sm::MemoryAccess::at`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessList<'m> {
    /// The accesses.
    pub accesses: &'m [ListedAccess],
    /// The lines of all of them, in shared memory none.
    pub lines: &'m [TouchedLine],
}

impl<'m> AccessList<'m> {
    /// An access and its lines; none for a place out of the list, or lines out of theirs.
    fn get(&self, place: u32) -> Option<(ListedAccess, &'m [TouchedLine])> {
        let access = *self.accesses.get(place as usize)?;
        let (first, count) = (access.lines.0 as usize, usize::from(access.lines.1));
        Some((access, self.lines.get(first..first + count)?))
    }
}

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
    const fn record(&mut self, event: CacheEvent, count: u64) {
        self.0[event as usize] += count;
    }
}

/// Settings that make no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionError(pub u32);

impl core::fmt::Display for TransactionError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(to, "a transaction of {} bytes is none of 16, 32, 64 and 128", self.0)
    }
}

impl core::error::Error for TransactionError {}

/// How a memory with a cache is made, beside the [`Timing`].
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
}

/// A memory with a cache, in one launch.
#[derive(Debug)]
pub struct CachedMemory<'m, 'c> {
    list: AccessList<'m>,
    cache: &'m mut Cache<'c>,
    settings: CachedSettings,
    timing: Timing,
    /// First cycle in which an access can take the path to shared memory and cache.
    path_free: u64,
    /// First cycle in which DRAM can move bytes for another transfer.
    dram_free: u64,
    counters: CacheCounters,
    unlisted: u64,
}

/// The transfers of an access, from and to DRAM.
struct Transfers {
    /// From the first to the end of the last.
    cycles: Option<(u64, u64)>,
    /// When the last data is there.
    arrival: u64,
}

impl<'m, 'c> CachedMemory<'m, 'c> {
    /// A memory for a launch, whose accesses the list has. `cache` is one of the same settings; it
    /// keeps what it holds of global memory from the launch before. Local memory does not outlive
    /// its launch.
    pub fn new(
        settings: CachedSettings,
        timing: &Timing,
        cache: &'m mut Cache<'c>,
        list: AccessList<'m>,
    ) -> Result<Self, TransactionError> {
        if !matches!(settings.transaction_bytes, 16 | 32 | 64 | 128) {
            return Err(TransactionError(settings.transaction_bytes));
        }
        cache.restart(|key| key & LOCAL == 0);
        Ok(Self {
            list,
            cache,
            settings,
            timing: *timing,
            path_free: 0,
            dram_free: 0,
            counters: CacheCounters::default(),
            unlisted: 0,
        })
    }

    /// What it has counted.
    pub const fn counters(&self) -> &CacheCounters {
        &self.counters
    }

    /// Accesses that stand in no list, of which nothing is counted: a trace and its list do not
    /// belong together.
    pub const fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// Takes the path for so many cycles, from `now` on or as soon as it is free. Returns the first
    /// cycle.
    fn take_path(&mut self, cycles: u64, now: u64) -> u64 {
        let from = now.max(self.path_free);
        self.path_free = from + cycles;
        from
    }

    fn access_shared(
        &mut self,
        access: ListedAccess,
        request: &MemoryRequest,
        counters: &mut MemoryCounters<'_>,
    ) -> Answer {
        let cycles = u64::from(access.cycles.of(self.settings.mapping).max(1));
        let from = self.take_path(cycles, request.now);
        self.counters.record(CacheEvent::SharedConflictCycle, cycles - 1);
        counters.moved(Space::Shared, request.access.bytes, cycles);
        let arrival = Arrival::At(from + u64::from(self.timing.shared_latency) + cycles - 1);
        Answer::Taken { arrival, cached: false, from, until: from + cycles }
    }

    fn access_global(
        &mut self,
        (access, lines): (ListedAccess, &[TouchedLine]),
        request: &MemoryRequest,
        counters: &mut MemoryCounters<'_>,
    ) -> Answer {
        let in_banks = u64::from(access.cycles.of(self.settings.mapping));
        let lookups = lines.len() as u64;
        let cycles = in_banks.max(lookups).max(1);
        let from = self.take_path(cycles, request.now);
        if !self.cache.is_absent() {
            self.counters.record(CacheEvent::CacheConflictCycle, cycles - lookups.max(1));
        }
        let hit = from + cycles - 1 + u64::from(self.timing.hit_latency);
        let mut transfers = Transfers { cycles: None, arrival: hit };
        for (&line, at) in lines.iter().zip(from..) {
            let key = key(line, request.ticket.warp);
            self.access_line(access.line_use, (line, key), at, &mut transfers, counters);
        }
        let cached = transfers.arrival == hit && access.line_use == LineUse::Load;
        let (begin, end) = transfers.cycles.unwrap_or((request.now, request.now));
        let arrival = Arrival::At(transfers.arrival);
        Answer::Taken { arrival, cached, from: begin, until: end }
    }

    /// Looks up a line and moves what has to be moved.
    fn access_line(
        &mut self,
        line_use: LineUse,
        (line, key): (TouchedLine, u64),
        at: u64,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) {
        let moved = line.bytes_in(self.settings.transaction_bytes);
        if self.cache.is_absent() {
            let event = match line_use {
                LineUse::Store => CacheEvent::StoreByte,
                LineUse::Load | LineUse::Bypass => CacheEvent::UncachedByte,
            };
            self.transfer((event, moved), at, transfers, counters);
            return;
        }
        let found = self.cache.look_up(key, at);
        let is_hit = found != Lookup::Miss;
        match (line_use, found) {
            (LineUse::Load, Lookup::Hit) => self.counters.record(CacheEvent::LoadHit, 1),
            (LineUse::Load, Lookup::Merged { arrives }) => {
                self.counters.record(CacheEvent::LoadMerged, 1);
                transfers.arrival = transfers.arrival.max(arrives);
            }
            (LineUse::Load, Lookup::Miss) => {
                self.counters.record(CacheEvent::LoadMiss, 1);
                let fill = (CacheEvent::FillByte, LINE_BYTES);
                let arrives = self.transfer(fill, at, transfers, counters);
                self.cache.allocate(key, arrives);
            }
            (LineUse::Store, _) => {
                let event = if is_hit { CacheEvent::StoreHit } else { CacheEvent::StoreMiss };
                self.counters.record(event, 1);
                self.transfer((CacheEvent::StoreByte, moved), at, transfers, counters);
            }
            (LineUse::Bypass, _) => {
                let event = if is_hit { CacheEvent::BypassHit } else { CacheEvent::BypassMiss };
                self.counters.record(event, 1);
                self.cache.invalidate(key);
                self.transfer((CacheEvent::UncachedByte, moved), at, transfers, counters);
            }
        }
    }

    /// Moves bytes from or to DRAM, from `at` on or as soon as it can. Returns when the data is
    /// there.
    fn transfer(
        &mut self,
        (event, bytes): (CacheEvent, u32),
        at: u64,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) -> u64 {
        let cycles = u64::from(bytes.div_ceil(self.timing.dram_bytes_per_cycle));
        let from = at.max(self.dram_free);
        self.dram_free = from + cycles;
        self.counters.record(event, bytes.into());
        counters.moved(Space::Global, bytes, cycles);
        let begin = transfers.cycles.map_or(from, |(begin, _)| begin);
        transfers.cycles = Some((begin, from + cycles));
        let arrives = from + u64::from(self.timing.dram_latency);
        transfers.arrival = transfers.arrival.max(arrives);
        arrives
    }
}

/// Of keys of local lines.
const LOCAL: u64 = 1 << 63;
const WARP_SHIFT: u32 = 56;

/// What the cache knows a line by: local memory belongs to a place for a warp, as on a GPU. A warp
/// has less than 2^56 words of it; numbers beyond wrap.
const fn key(line: TouchedLine, warp: u8) -> u64 {
    if !line.is_local() {
        return line.number();
    }
    LOCAL | (warp as u64) << WARP_SHIFT | line.number() & ((1 << WARP_SHIFT) - 1)
}

impl MemoryModel for CachedMemory<'_, '_> {
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer {
        let Some((access, lines)) = self.list.get(request.access.place()) else {
            self.unlisted += 1;
            let now = request.now;
            return Answer::Taken {
                arrival: Arrival::At(now),
                cached: false,
                from: now,
                until: now,
            };
        };
        match request.space {
            Space::Shared => self.access_shared(access, request, counters),
            Space::Global => self.access_global((access, lines), request, counters),
        }
    }

    fn hit_known_at(&self, now: u64) -> u64 {
        now.max(self.path_free) + u64::from(self.timing.hit_latency)
    }

    fn step(&mut self, _: &mut dyn MemoryStep) {}

    fn next_event(&self, _: u64) -> Option<u64> {
        None
    }

    fn drained_at(&self) -> u64 {
        self.dram_free.max(self.path_free)
    }
}
