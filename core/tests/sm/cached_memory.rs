//! The memory with a cache: cases computed by hand, an independent reference cache on random
//! streams, and an SM over it at each pace.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::exact::{ISCA11, two_level};
use crate::leaving::issues_over;
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, simulate_over};
use crate::memory_observed::{assert_told, told_over};
use crate::model::{one_of, random_grid, random_rules, random_settings};
use crate::random::Random;
use crate::second_level::{OwnedL2, random_second_level};
use strata_core::sm::config::{SmSettings, Timing, WarpReplacement};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::bank_conflicts::{BankConflicts, ConflictPorts, OperandReads};
use strata_core::sm::memory::cache::{Cache, CacheError, Tag};
use strata_core::sm::memory::cached::{
    AccessList, CacheCounters, CacheEvent, CachedMemory, CachedMemoryError, CachedMemoryParts,
    CachedSettings, LineUse, ListedAccess, LocalStores,
};
use strata_core::sm::memory::l2::L2;
use strata_core::sm::memory::lower::{Dram, LowerMemory};
use strata_core::sm::memory::lower_counters::{LowerCounters, LowerEvent};
use strata_core::sm::memory::mshr::{Mshr, MshrLimit};
use strata_core::sm::memory::touched::{
    AddressSpace, BankMapping, BankPattern, Touched, TouchedLine,
};
use strata_core::sm::memory::waiting::{MOST_WAITERS, MOST_WAITING, Waiter, WaitingAccess};
use strata_core::sm::memory::{Answer, MemoryCounters, MemoryModel, MemoryRequest, MemoryStep};
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::{MemoryAccess, Unobserved};

pub(crate) const SETTINGS: CachedSettings =
    CachedSettings { transaction_bytes: 16, ..CachedSettings::of(65536) };

/// `[MICRO2012]`: 8 bytes of DRAM a cycle.
pub(crate) const MICRO12: SmSettings =
    SmSettings { timing: Timing { dram_bytes_per_cycle: 8, ..ISCA11.timing }, ..ISCA11 };

/// Accesses of a launch in owned memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnedList {
    accesses: Vec<ListedAccess>,
    lines: Vec<TouchedLine>,
    /// One for each access.
    patterns: Vec<BankPattern>,
}

impl OwnedList {
    /// Adds an access of all lanes. Returns its place.
    pub(crate) fn add(
        &mut self,
        space: AddressSpace,
        kind: LineUse,
        address: impl Fn(u64) -> u64,
    ) -> MemoryAccess {
        let lanes = || (0..32).map(|lane| (lane, address(u64::from(lane))));
        let touched = Touched::new(space, 4, lanes());
        let first = self.lines.len() as u32;
        if space != AddressSpace::Shared {
            self.lines.extend(touched.lines());
        }
        let count = self.lines.len() as u32 - first;
        let place = self.accesses.len() as u32;
        let mut pattern = BankPattern::default();
        pattern.add(&touched);
        self.patterns.push(pattern);
        self.accesses.push(ListedAccess::new(kind, (first, count as u16), place));
        MemoryAccess::uncached(128).at(place)
    }

    pub(crate) fn borrow(&self) -> AccessList<'_> {
        AccessList { accesses: &self.accesses, lines: &self.lines, patterns: &self.patterns }
    }
}

pub(crate) fn load(list: &mut OwnedList, address: impl Fn(u64) -> u64) -> MemoryAccess {
    list.add(AddressSpace::Global, LineUse::Load, address)
}

/// What a memory needs beside its tags, in owned memory.
pub(crate) struct OwnedParts {
    mshrs: Vec<Mshr>,
    waiting: Vec<WaitingAccess>,
    waiters: Vec<Waiter>,
}

impl OwnedParts {
    pub(crate) fn of(cached: &CachedSettings) -> Self {
        let late = cached.l2.is_some();
        Self {
            mshrs: vec![Mshr::EMPTY; MshrLimit::entries(cached.mshrs)],
            waiting: vec![WaitingAccess::EMPTY; if late { MOST_WAITING } else { 0 }],
            waiters: vec![Waiter::EMPTY; if late { MOST_WAITERS } else { 0 }],
        }
    }

    pub(crate) fn borrow(&mut self) -> CachedMemoryParts<'_> {
        let Self { mshrs, waiting, waiters } = self;
        CachedMemoryParts { mshrs, waiting, waiters }
    }
}

/// What lies below counts.
pub(crate) trait CountsLower: LowerMemory {
    fn counted(&self) -> LowerCounters;
}

impl CountsLower for Dram {
    fn counted(&self) -> LowerCounters {
        LowerCounters::default()
    }
}

impl CountsLower for L2<'_, '_> {
    fn counted(&self) -> LowerCounters {
        *self.counters()
    }
}

/// Does something over what lies below the cache of some settings, new.
macro_rules! over_lower {
    ($cached:expr, $timing:expr, |$lower:ident| $body:expr) => {
        match $cached.l2 {
            None => {
                let $lower = Dram::new($timing);
                $body
            }
            Some(l2) => {
                let mut owned = OwnedL2::of(&l2);
                let (mut tags, rest) = owned.cache(&l2);
                let $lower = L2::new(l2, rest.with(&mut tags)).unwrap();
                $body
            }
        }
    };
}
pub(crate) use over_lower;

/// Runs a grid over a new cache.
pub(crate) fn run_over(
    settings: SmSettings,
    cached: CachedSettings,
    kernel: &Kernel,
    grid: &Grid,
    list: &OwnedList,
) -> Result<(SmCounters, CacheCounters), Fault> {
    run_with_lower(settings, cached, kernel, grid, list)
        .map(|(counters, cache, _)| (counters, cache))
}

/// Runs a grid over a new cache. Returns also what has been counted below the cache.
pub(crate) fn run_with_lower(
    settings: SmSettings,
    cached: CachedSettings,
    kernel: &Kernel,
    grid: &Grid,
    list: &OwnedList,
) -> Result<(SmCounters, CacheCounters, LowerCounters), Fault> {
    let [skipping, every_cycle, stepped] =
        [Pace::Skipping, Pace::EveryCycle, Pace::Stepped].map(|pace| {
            let mut tags = vec![Tag::EMPTY; Cache::tags(cached.cache_bytes)];
            let mut cache = Cache::new(cached.cache_bytes, cached.ways, &mut tags).unwrap();
            let mut parts = OwnedParts::of(&cached);
            let memory = (&mut cache, parts.borrow());
            let (timing, list) = (&settings.timing, list.borrow());
            over_lower!(cached, timing, |lower| {
                let heard = (list, Unobserved);
                let memory = CachedMemory::over(lower, cached, timing, memory, heard);
                let mut memory = memory.unwrap();
                let counters =
                    simulate_over(Some(&mut memory), settings, kernel, 0, grid, pace, |_| {});
                assert_eq!(memory.unlisted(), 0);
                counters.map(|counters| (counters, *memory.counters(), memory.lower().counted()))
            })
        });
    assert_eq!(skipping, every_cycle);
    assert_eq!(skipping, stepped);
    if let Ok((counters, cache, lower)) = &skipping {
        if cached.l2.is_some() {
            assert_conserved(cached, counters, cache, lower);
        } else {
            assert_eq!(counters.dram_bytes(), cache.dram_bytes());
        }
        let told = told_over(settings, cached, kernel, grid, list);
        assert_told((counters, cache), &told, (kernel, cached));
    }
    skipping
}

/// What lies below is asked for each line once that is missed, stored or goes past the cache, and
/// each line that it misses moves once.
fn assert_conserved(
    cached: CachedSettings,
    counters: &SmCounters,
    cache: &CacheCounters,
    lower: &LowerCounters,
) {
    use CacheEvent::{BypassHit, BypassMiss, LoadMiss, StoreFetch, StoreHit, StoreMiss};
    use LowerEvent::{L2ReadHit, L2ReadMiss, L2WriteHit, L2WriteMiss};
    assert_eq!(counters.dram_bytes(), lower.dram_bytes());
    let of = |events: &[LowerEvent]| events.iter().map(|&event| lower.get(event)).sum::<u64>();
    assert_eq!(of(&[LowerEvent::ReadBurst]), 4 * of(&[L2ReadMiss]));
    let [hits, misses] = [of(&[LowerEvent::RowHit]), of(&[LowerEvent::Activate])];
    assert_eq!(hits + misses, of(&[L2ReadMiss, LowerEvent::L2Writeback]));
    if cached.cache_bytes != 0 {
        let events = [LoadMiss, StoreFetch, StoreHit, StoreMiss, BypassHit, BypassMiss];
        let asked = events.iter().map(|&event| cache.get(event)).sum::<u64>();
        assert_eq!(of(&[L2ReadHit, L2ReadMiss, L2WriteHit, L2WriteMiss]), asked);
    }
}

/// One warp that runs a kernel once.
fn alone(
    cache_bytes: u32,
    kernel: &Kernel,
    accesses: &[MemoryAccess],
    list: &OwnedList,
) -> (u64, CacheCounters) {
    let trace = OwnedTrace { accesses: accesses.to_vec(), ..kernel.moving(&[]) };
    let (counters, cache) = run_over(
        MICRO12,
        CachedSettings { cache_bytes, ..SETTINGS },
        kernel,
        &vec![vec![trace]],
        list,
    )
    .unwrap();
    (counters.cycles(), cache)
}

/// r1 = [r0]; r2 = r1 + r1, whose result is there 8 cycles after its issue.
fn load_and_use() -> Kernel {
    Kernel::default().load(&[0], &[1]).alu(&[1], &[2])
}

#[test]
fn lines_of_a_load_come_one_after_the_other() {
    type Case = (u32, fn(u64) -> u64, u64, u64);
    let cases: [Case; 6] = [
        // One line, two lines, 32 lines at 8 bytes a cycle; without a cache 32 rows of 16 bytes,
        // looked up one a cycle and moved in two.
        (65536, |i| 4 * i, 400, 128),
        (65536, |i| 4 * i + 8, 416, 256),
        (65536, |i| 128 * i, 896, 4096),
        (0, |i| 4 * i, 400, 128),
        (0, |i| 128 * i, 462, 512),
        (0, |_| 0, 400, 16),
    ];
    for (cache_bytes, address, arrival, bytes) in cases {
        let mut list = OwnedList::default();
        let access = load(&mut list, address);
        let (cycles, counters) = alone(cache_bytes, &load_and_use(), &[access], &list);
        assert_eq!((cycles - 8, counters.dram_bytes()), (arrival, bytes));
        assert_eq!(counters.lookups() * 128, counters.get(CacheEvent::FillByte));
    }
}

#[test]
fn a_store_writes_its_rows_through_and_allocates_nothing() {
    let mut list = OwnedList::default();
    let store = list.add(AddressSpace::Global, LineUse::Store, |i| 128 * i);
    let kernel = Kernel::default().store(&[0, 1]);
    let (cycles, counters) = alone(65536, &kernel, &[store], &list);
    // 64 cycles of the bus.
    assert_eq!((cycles, counters.dram_bytes()), (64, 512));
    assert_eq!(counters.get(CacheEvent::StoreMiss), 32);
    // Then a load misses, and a store hits.
    let access = load(&mut list, |i| 4 * i);
    let again = list.add(AddressSpace::Global, LineUse::Store, |i| 4 * i);
    let kernel = Kernel::default().store(&[0]).load(&[0], &[1]).store(&[1]);
    let (_, counters) = alone(65536, &kernel, &[store, access, again], &list);
    assert_eq!(counters.get(CacheEvent::LoadMiss), 1);
    assert_eq!(counters.get(CacheEvent::StoreHit), 1);
    assert_eq!(counters.get(CacheEvent::StoreByte), 512 + 128);
}

#[test]
fn a_load_of_a_pending_line_waits_for_it_and_a_later_one_hits() {
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    // r1 = [r0]; r2 = [r0]; r3 = r2 + r2; r4 = [r3]; r5 = r4 + r4
    let kernel = Kernel::default()
        .load(&[0], &[1])
        .load(&[0], &[2])
        .alu(&[2], &[3])
        .load(&[3], &[4])
        .alu(&[4], &[5]);
    let (cycles, counters) = alone(65536, &kernel, &[access; 3], &list);
    assert_eq!(cycles, 400 + 8 + 20 + 8);
    let events = [CacheEvent::LoadMiss, CacheEvent::LoadMerged, CacheEvent::LoadHit];
    assert_eq!(events.map(|event| counters.get(event)), [1, 1, 1]);
    assert_eq!(counters.dram_bytes(), 128);
}

#[test]
fn what_goes_past_the_cache_drops_its_line() {
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let atomic = list.add(AddressSpace::Global, LineUse::Atomic, |_| 4);
    let kernel =
        Kernel::default().load(&[0], &[1]).load(&[1], &[2]).load(&[2], &[3]).alu(&[3], &[4]);
    let (cycles, counters) = alone(65536, &kernel, &[access, atomic, access], &list);
    assert_eq!(cycles, 3 * 400 + 8);
    let events = [CacheEvent::LoadMiss, CacheEvent::BypassHit, CacheEvent::UncachedByte];
    assert_eq!(events.map(|event| counters.get(event)), [2, 1, 16]);
}

/// Shared memory and the cache take their path in the order of issue.
#[test]
fn bank_conflicts_hold_the_path_up() {
    let mut list = OwnedList::default();
    let conflicts = list.add(AddressSpace::Shared, LineUse::Load, |i| 128 * i);
    let access = load(&mut list, |i| 4 * i);
    // r1 = shared[r0]; r2 = [r0]; r3 = r2 + r2
    let kernel = Kernel::default().shared_load(&[0], &[1]).load(&[0], &[2]).alu(&[2], &[3]);
    for (mapping, cycles) in
        [(BankMapping::Partitioned, 32), (BankMapping::Simple, 32), (BankMapping::Aggressive, 8)]
    {
        let trace = OwnedTrace { accesses: vec![conflicts, access], ..kernel.moving(&[]) };
        let cached = CachedSettings { mapping, ..SETTINGS };
        let (counters, cache) =
            run_over(MICRO12, cached, &kernel, &vec![vec![trace]], &list).unwrap();
        assert_eq!(counters.cycles(), cycles + 400 + 8, "{mapping:?}");
        assert_eq!(cache.get(CacheEvent::SharedConflictCycle), cycles - 1);
    }
}

/// Generic addresses of shared memory conflict there, with or without a cache, and those of half of
/// the lanes do not conflict with those of global memory behind them.
#[test]
fn lanes_of_a_generic_access_conflict_in_shared_memory() {
    use CacheEvent::{CacheConflictCycle, LoadMiss, SharedConflictCycle};
    let mut list = OwnedList::default();
    let all = list.add(AddressSpace::Shared, LineUse::Load, |i| 128 * i);
    let half = load(&mut list, |_| 4);
    let lanes = (0..16).map(|lane| (lane, 128 * u64::from(lane)));
    list.patterns[half.place() as usize].add(&Touched::new(AddressSpace::Shared, 4, lanes));
    for (access, conflicts, data, misses) in [(all, 31, 31 + 20, 0), (half, 15, 400, 1)] {
        for cache_bytes in [0, 65536] {
            let (cycles, counters) = alone(cache_bytes, &load_and_use(), &[access], &list);
            let found = [SharedConflictCycle, CacheConflictCycle].map(|event| counters.get(event));
            assert_eq!((found, cycles - 8), ([conflicts, 0], data), "{cache_bytes}");
            let looked_up = u64::from(cache_bytes != 0) * misses;
            assert_eq!(counters.get(LoadMiss), looked_up);
        }
    }
}

#[test]
fn a_volatile_access_of_shared_memory_reads_or_writes_and_an_atomic_does_both() {
    use CacheEvent::{SharedReadRow, SharedReadWord, SharedWriteRow, SharedWriteWord};
    for (kind, expected) in [
        (LineUse::BypassLoad, [32, 8, 0, 0]),
        (LineUse::BypassStore, [0, 0, 32, 8]),
        (LineUse::Atomic, [32, 8, 32, 8]),
    ] {
        let mut list = OwnedList::default();
        let access = list.add(AddressSpace::Shared, kind, |i| 4 * i);
        let (_, counters) = alone(65536, &load_and_use(), &[access], &list);
        let events = [SharedReadWord, SharedReadRow, SharedWriteWord, SharedWriteRow];
        assert_eq!(events.map(|event| counters.get(event)), expected, "{kind:?}");
    }
}

/// The address pattern 132i lies in 32 lines, whose tags take 32 cycles where their words take one.
#[test]
fn a_tag_is_looked_up_in_each_cycle() {
    let mut list = OwnedList::default();
    let first = load(&mut list, |i| 132 * i);
    let kernel = Kernel::default().load(&[0], &[1]).load(&[1], &[2]).alu(&[2], &[3]);
    let (cycles, counters) = alone(65536, &kernel, &[first, first], &list);
    let lines = 32;
    assert_eq!(counters.lookups(), 2 * lines);
    // The second load hits: its last tag is looked up 32 cycles after its first.
    assert_eq!(cycles, (400 + 16 * (lines - 1)) + (lines - 1 + 20) + 8);
}

#[test]
fn lines_outlive_a_launch_in_the_same_cache_only() {
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let local = list.add(AddressSpace::Local, LineUse::Load, |_| 4);
    let kernel = Kernel::default().load(&[0], &[1]).load(&[0], &[2]).alu(&[1, 2], &[3]);
    let trace = OwnedTrace { accesses: vec![access, local], ..kernel.moving(&[]) };
    let grid = vec![vec![trace]];
    let mut tags = vec![Tag::EMPTY; Cache::tags(4096)];
    let launch = |cache: &mut Cache<'_>| {
        let memory = CachedMemory::new(SETTINGS, &MICRO12.timing, cache, list.borrow());
        let mut memory = memory.unwrap();
        simulate_over(Some(&mut memory), MICRO12, &kernel, 0, &grid, Pace::Skipping, |_| {})
            .unwrap();
        let counters = memory.counters();
        [CacheEvent::LoadHit, CacheEvent::LoadMiss].map(|event| counters.get(event))
    };
    let mut cache = Cache::new(4096, 4, &mut tags).unwrap();
    assert_eq!(launch(&mut cache), [0, 2]);
    assert_eq!(launch(&mut cache), [1, 1], "local memory does not outlive its launch");
    tags.fill(Tag::EMPTY);
    let mut other = Cache::new(2048, 4, &mut tags).unwrap();
    assert_eq!(launch(&mut other), [0, 2]);
}

#[test]
fn a_hit_keeps_its_warp_and_a_miss_sends_it_away_once_it_is_known() {
    let settings = |collected| {
        let operand_delivery = if collected {
            OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM)
        } else {
            ISCA11.operand_delivery
        };
        let replacement = WarpReplacement::CacheMiss;
        SmSettings { replacement, operand_delivery, timing: MICRO12.timing, ..two_level(1, None) }
    };
    let kernel = load_and_use();
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let trace = || OwnedTrace { accesses: vec![access], ..kernel.moving(&[]) };
    let grid = vec![vec![trace(), trace()]];
    for collected in [false, true] {
        let mut tags = vec![Tag::EMPTY; Cache::tags(4096)];
        let mut cache = Cache::new(4096, 4, &mut tags).unwrap();
        let mut launch = || {
            let timing = &MICRO12.timing;
            let memory = CachedMemory::new(SETTINGS, timing, &mut cache, list.borrow());
            let mut memory = memory.unwrap();
            issues_over(Some(&mut memory), settings(collected), &kernel, &grid)
        };
        let [misses, hits] = [launch(), launch()];
        let sent = u64::from(collected) * 2;
        // The second warp comes when the first one's miss is known.
        assert_eq!(misses[1][0], 20 + sent, "{misses:?}");
        // One that hits stays until it has issued its reader.
        assert_eq!(hits[1][0], hits[0][1] + 1, "{hits:?}");
        assert!(hits[0][1] <= 20 + sent, "{hits:?}");
    }
}

#[test]
fn the_reason_to_wait_is_that_of_what_the_cache_has() {
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let kernel =
        Kernel::default().load(&[0], &[1]).alu(&[1], &[2]).load(&[2], &[3]).alu(&[3], &[4]);
    for collected in [false, true] {
        let mut settings = MICRO12;
        if collected {
            settings.operand_delivery = OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM);
        }
        let trace = OwnedTrace { accesses: vec![access; 2], ..kernel.moving(&[]) };
        let grid = vec![vec![trace]];
        let (counters, _) = run_over(settings, SETTINGS, &kernel, &grid, &list).unwrap();
        let (long, short) =
            (counters.slots(StallReason::LongLatency), counters.slots(StallReason::ShortMemory));
        // With collectors a hit is known when the access is sent, two cycles after its issue.
        let unknown = u64::from(collected);
        assert!((399..=403).contains(&(long - unknown)), "{long} cycles, {collected}");
        assert!((17..=19).contains(&short), "{short} cycles, {collected}");
    }
}

#[test]
fn an_access_that_stands_in_no_list_is_told() {
    let mut tags = vec![Tag::EMPTY; 32];
    let mut cache = Cache::new(4096, 4, &mut tags).unwrap();
    let list = AccessList::default();
    let mut memory = CachedMemory::new(SETTINGS, &MICRO12.timing, &mut cache, list).unwrap();
    let kernel = load_and_use();
    let grid = vec![vec![kernel.moving(&[128])]];
    simulate_over(Some(&mut memory), MICRO12, &kernel, 0, &grid, Pace::Skipping, |_| {}).unwrap();
    assert_eq!((memory.unlisted(), memory.counters().lookups()), (1, 0));
}

#[test]
fn sizes_that_make_no_cache_are_refused() {
    let mut tags = [Tag::EMPTY; 16];
    let mut error = |bytes, ways| Cache::new(bytes, ways, &mut tags).map(|_| ()).unwrap_err();
    assert_eq!(error(2048, 0), CacheError::NoWays);
    assert_eq!(error(2000, 4), CacheError::Capacity { bytes: 2000, set_bytes: 512 });
    assert_eq!(error(4096, 4), CacheError::MemoryTooShort { needed: 32, given: 16 });
    for bytes in [2000, 4096] {
        assert!(!error(bytes, 4).to_string().is_empty());
    }
    let mut cache = Cache::new(2048, 4, &mut tags).unwrap();
    let settings = CachedSettings { transaction_bytes: 24, ..SETTINGS };
    let list = AccessList::default();
    let refused = CachedMemory::new(settings, &ISCA11.timing, &mut cache, list).map(|_| ());
    assert_eq!(refused.unwrap_err(), CachedMemoryError::Transaction(24));
}

/// A cache as a textbook has it: of each set the lines, the one that was used last at the end.
pub(crate) struct Reference {
    sets: BTreeMap<u64, VecDeque<u64>>,
    count: u64,
    ways: usize,
    /// Local stores allocate.
    pub(crate) allocates: bool,
}

impl Reference {
    pub(crate) fn new(bytes: u32) -> Self {
        Self {
            sets: BTreeMap::new(),
            count: u64::from(bytes) / (4 * 128),
            ways: 4,
            allocates: false,
        }
    }

    /// Whether it has a line; which it then uses, allocates or drops.
    fn access(&mut self, line: u64, kind: LineUse) -> bool {
        let set = self.sets.entry(line % self.count).or_default();
        let place = set.iter().position(|&other| other == line);
        if let Some(place) = place {
            set.remove(place);
        }
        let stays = match kind {
            LineUse::Load => true,
            LineUse::Store => place.is_some() || self.allocates && line & LOCAL != 0,
            LineUse::BypassLoad | LineUse::BypassStore | LineUse::Atomic => false,
        };
        if stays {
            set.push_back(line);
        }
        if set.len() > self.ways {
            set.pop_front();
        }
        place.is_some()
    }
}

/// The lines of local memory of a warp, in a reference.
const LOCAL: u64 = 1 << 63;

/// Passes requests on, and writes down the lines that are looked up, in their order.
#[derive(Debug)]
pub(crate) struct Recorded<'r, 'm, 'c, L: LowerMemory = Dram> {
    pub(crate) memory: CachedMemory<'m, 'c, Unobserved, L>,
    pub(crate) list: &'r OwnedList,
    pub(crate) accesses: &'r [RawAccess],
    /// Places of what was taken, and the warps' places in the SM, in order.
    pub(crate) taken: Vec<(usize, u8)>,
}

impl<L: LowerMemory> MemoryModel for Recorded<'_, '_, '_, L> {
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer {
        let place = request.access.place() as usize;
        assert!(place < self.list.accesses.len() && place < self.accesses.len());
        let answer = self.memory.request(request, counters);
        if answer != Answer::Refused {
            self.taken.push((place, request.ticket.warp));
        }
        answer
    }

    fn hit_known_at(&self, now: u64) -> u64 {
        self.memory.hit_known_at(now)
    }

    fn step(&mut self, step: &mut dyn MemoryStep) {
        self.memory.step(step);
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        self.memory.next_event(now)
    }

    fn drained_at(&self) -> u64 {
        self.memory.drained_at()
    }

    fn is_busy(&self) -> bool {
        self.memory.is_busy()
    }

    fn hears_operands(&self) -> bool {
        self.memory.hears_operands()
    }

    fn operands(&mut self, reads: &OperandReads) -> Option<u64> {
        self.memory.operands(reads)
    }
}

/// What an access touches, from its addresses.
#[derive(Debug)]
pub(crate) struct RawAccess {
    kind: LineUse,
    space: AddressSpace,
    /// Lines in the order of the lanes that touch them first.
    lines: Vec<u64>,
    /// Addresses divided by 4; in local memory, 32 times that and the lane.
    words: BTreeSet<u64>,
}

impl RawAccess {
    fn new(kind: LineUse, space: AddressSpace, address: impl Fn(u64) -> u64) -> Self {
        let word = |lane| match space {
            AddressSpace::Local => 32 * (address(lane) / 4) + lane,
            _ => address(lane) / 4,
        };
        let mut lines = Vec::new();
        for line in (0..32).map(|lane| word(lane) / 32) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        Self { kind, space, lines, words: (0..32).map(word).collect() }
    }

    /// Words and rows of lines.
    fn touches(&self, in_line: impl Fn(u64) -> bool) -> [u64; 2] {
        let words = || self.words.iter().filter(|&word| in_line(word / 32));
        let rows: BTreeSet<_> = words().map(|word| word / 4).collect();
        [words().count() as u64, rows.len() as u64]
    }
}

/// Beside the kinds of accesses: lines that stores allocate, and those of them that are fetched.
const STORE_ALLOCATIONS: u8 = u8::MAX;

/// Has the reference take the same accesses: it finds what the cache has found.
#[expect(clippy::too_many_lines, reason = "one comparison after the other")]
pub(crate) fn assert_agrees<'a>(
    counters: &CacheCounters,
    taken: impl Iterator<Item = (&'a RawAccess, u8)>,
    mut reference: Reference,
    seed: u64,
) {
    use CacheEvent::{BypassHit, BypassMiss, LoadHit, LoadMerged, LoadMiss, StoreHit, StoreMiss};
    use CacheEvent::{CacheReadRow, CacheReadWord, CacheWriteRow, CacheWriteWord};
    use CacheEvent::{SharedReadRow, SharedReadWord, SharedWriteRow, SharedWriteWord};
    let mut expected = BTreeMap::<_, u64>::new();
    let mut moved = BTreeMap::<_, u64>::new();
    let (mut lookups, mut fetched) = (0, 0);
    for (access, warp) in taken {
        let kind = access.kind;
        let mut touch = |[words, rows]: [u64; 2], events: [CacheEvent; 2]| {
            *moved.entry(events[0].name()).or_default() += words;
            *moved.entry(events[1].name()).or_default() += rows;
        };
        if access.space == AddressSpace::Shared {
            let all = access.touches(|_| true);
            if matches!(kind, LineUse::Load | LineUse::BypassLoad | LineUse::Atomic) {
                touch(all, [SharedReadWord, SharedReadRow]);
            }
            if matches!(kind, LineUse::Store | LineUse::BypassStore | LineUse::Atomic) {
                touch(all, [SharedWriteWord, SharedWriteRow]);
            }
            continue;
        }
        for &line in &access.lines {
            lookups += 1;
            let local = access.space == AddressSpace::Local;
            let key = if local { LOCAL | u64::from(warp) << 56 | line } else { line };
            let found = reference.access(key, kind);
            let words = access.touches(|other| other == line);
            let allocates = local && reference.allocates && kind == LineUse::Store && !found;
            let fetches = allocates && words[0] < 32;
            fetched += u64::from(fetches || kind == LineUse::Load && !found);
            *expected.entry((STORE_ALLOCATIONS, true)).or_default() += u64::from(allocates);
            *expected.entry((STORE_ALLOCATIONS, false)).or_default() += u64::from(fetches);
            // All that goes past the cache is counted together.
            let counted = match kind {
                LineUse::BypassLoad | LineUse::BypassStore => LineUse::Atomic,
                kind => kind,
            };
            *expected.entry((counted as u8, found)).or_default() += 1;
            match (kind, found) {
                (LineUse::Load, _) => touch(words, [CacheReadWord, CacheReadRow]),
                (LineUse::Store, found) if found || allocates => {
                    touch(words, [CacheWriteWord, CacheWriteRow]);
                }
                _ => {}
            }
        }
    }
    for (kind, found, events) in [
        (LineUse::Load, true, &[LoadHit, LoadMerged][..]),
        (LineUse::Load, false, &[LoadMiss]),
        (LineUse::Store, true, &[StoreHit]),
        (LineUse::Store, false, &[StoreMiss]),
        (LineUse::Atomic, true, &[BypassHit]),
        (LineUse::Atomic, false, &[BypassMiss]),
    ] {
        let counted: u64 = events.iter().map(|&event| counters.get(event)).sum();
        let expected = expected.get(&(kind as u8, found)).copied().unwrap_or(0);
        assert_eq!(counted, expected, "seed {seed}, {events:?}");
    }
    for event in [
        SharedReadWord,
        SharedReadRow,
        SharedWriteWord,
        SharedWriteRow,
        CacheReadWord,
        CacheReadRow,
        CacheWriteWord,
        CacheWriteRow,
    ] {
        let expected = moved.get(event.name()).copied().unwrap_or(0);
        assert_eq!(counters.get(event), expected, "seed {seed}, {event:?}");
    }
    let allocations = [CacheEvent::StoreAllocation, CacheEvent::StoreFetch];
    for (event, all) in allocations.into_iter().zip([true, false]) {
        let expected = expected.get(&(STORE_ALLOCATIONS, all)).copied().unwrap_or(0);
        assert_eq!(counters.get(event), expected, "seed {seed}, {event:?}");
    }
    assert_eq!(counters.get(CacheEvent::FillByte), 128 * fetched, "seed {seed}");
    assert_eq!(counters.lookups(), lookups, "seed {seed}");
}

/// Instructions by their accesses to the bank that they access most.
pub(crate) fn by_bank_accesses(counters: &CacheCounters) -> [u64; 5] {
    use CacheEvent::{Accesses2, Accesses3, Accesses4, AtMost1Access, MoreAccesses};
    let events = [AtMost1Access, Accesses2, Accesses3, Accesses4, MoreAccesses];
    events.map(|event| counters.get(event))
}

pub(crate) const fn limit(lines: u16, loads: u8) -> MshrLimit {
    MshrLimit { lines, loads }
}

/// Random kernels of random designs over random addresses: a reference that gets the same lines in
/// the order of their lookups finds as many of them, and bytes follow from what is not found.
#[test]
#[expect(clippy::too_many_lines, reason = "one random design after the other")]
fn a_reference_cache_finds_the_same_lines() {
    let (mut hits, mut misses, mut merged, mut waits) = (0, 0, 0, 0);
    let (mut arbitrated, mut unreached) = (0, 0);
    let (mut refused, mut allocations) = (0, 0);
    for seed in 9000..9250 {
        let mut random = Random(seed);
        let mut settings = random_settings(&mut random);
        if random.chance(40) {
            settings.operand_delivery = OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM);
            settings.timing.alu_latency = settings.timing.alu_latency.max(4);
            settings.timing.hit_latency = settings.timing.hit_latency.max(4);
        }
        if !matches!(
            settings.organisation.settings().scheduling,
            strata_core::organisation::Scheduling::SingleLevel
        ) && random.chance(40)
        {
            random_rules(&mut random, &mut settings);
            settings.barrier = strata_core::sm::config::BarrierRule::Always;
        }
        let kernel = crate::collectors::random_distinct(&mut random);
        let mut grid = random_grid(&mut random, &kernel);
        let cache_bytes = 512 * (1 + random.below(40));
        let mut cached = CachedSettings {
            cache_bytes,
            mapping: one_of(&mut random, &BankMapping::ALL),
            transaction_bytes: one_of(&mut random, &[16, 32, 64, 128]),
            ..SETTINGS
        };
        let [any, read_write] = [ConflictPorts::Any, ConflictPorts::ReadWrite]
            .map(|ports| BankConflicts::Instruction { ports });
        let ways = [BankConflicts::Apart, any, read_write, BankConflicts::CycleByCycle];
        cached.conflicts = one_of(&mut random, &ways);
        cached.local_stores =
            one_of(&mut random, &[LocalStores::NoAllocate, LocalStores::Allocate]);
        let limits = [
            None,
            Some(limit(1, 1)),
            Some(limit(2, 3)),
            Some(limit(32, 8)),
            Some(limit(1024, 255)),
        ];
        cached.mshrs = one_of(&mut random, &limits);
        if matches!(cached.conflicts, BankConflicts::Instruction { .. }) {
            settings.timing.operand_window = 1;
        }
        let fits = cached.check(settings.operand_delivery, settings.timing.operand_window);
        if fits.is_err() {
            cached.conflicts = BankConflicts::Apart;
        }
        arbitrated += u64::from(cached.conflicts == BankConflicts::CycleByCycle);
        if cached.conflicts != BankConflicts::CycleByCycle && random.chance(60) {
            cached.l2 = Some(random_second_level(&mut random));
        }
        let (list, accesses) = random_list(&mut random, &kernel, &mut grid);
        let counters = run_over(settings, cached, &kernel, &grid, &list)
            .unwrap_or_else(|fault| panic!("seed {seed}, {settings:?}: {fault}"));
        let mut tags = vec![Tag::EMPTY; Cache::tags(cache_bytes)];
        let mut cache = Cache::new(cache_bytes, 4, &mut tags).unwrap();
        let mut parts = OwnedParts::of(&cached);
        let memory = (&mut cache, parts.borrow());
        let (timing, borrowed) = (&settings.timing, list.borrow());
        let (list, accesses) = (&list, &accesses);
        let taken = over_lower!(cached, timing, |lower| {
            let heard = (borrowed, Unobserved);
            let memory = CachedMemory::over(lower, cached, timing, memory, heard).unwrap();
            let mut recorded = Recorded { memory, list, accesses, taken: Vec::new() };
            let pace = Pace::Skipping;
            simulate_over(Some(&mut recorded), settings, &kernel, 0, &grid, pace, |_| {}).unwrap();
            assert_eq!(recorded.memory.counters(), &counters.1, "seed {seed}");
            recorded.taken
        });
        let taken = taken.iter().map(|&(place, warp)| (&accesses[place], warp));
        let allocates = cached.local_stores == LocalStores::Allocate;
        let reference = Reference { allocates, ..Reference::new(cache_bytes) };
        assert_agrees(&counters.1, taken, reference, seed);
        // A limit that nothing reaches is none.
        if cached.mshrs.is_some() && counters.1.get(CacheEvent::MshrRefusal) == 0 {
            unreached += 1;
            let unlimited = CachedSettings { mshrs: None, ..cached };
            let unlimited = run_over(settings, unlimited, &kernel, &grid, list).unwrap();
            assert_eq!(unlimited, counters, "seed {seed}");
        }
        // Every executed instruction is counted, of a register file without collectors.
        let steps = grid.iter().flatten().flat_map(|warp| &warp.path);
        let executed = steps.filter(|step| !step.mask.is_empty());
        let instructions = executed.map(|step| u64::from(step.length)).sum();
        let fixed = matches!(settings.operand_delivery, OperandDelivery::FixedLatency { .. });
        let expected = if fixed { instructions } else { 0 };
        assert_eq!(by_bank_accesses(&counters.1).iter().sum::<u64>(), expected, "seed {seed}");
        let found = |event| counters.1.get(event);
        hits += found(CacheEvent::LoadHit);
        misses += found(CacheEvent::LoadMiss);
        merged += found(CacheEvent::LoadMerged);
        waits += found(CacheEvent::FillWaitCycle);
        refused += found(CacheEvent::MshrWaitCycle);
        allocations += found(CacheEvent::StoreAllocation);
    }
    assert!(arbitrated > 20 && waits > 20 && unreached > 20, "{arbitrated} {waits} {unreached}");
    assert!(refused > 1000 && allocations > 100, "{refused} {allocations}");
    assert!(hits > 1000 && misses > 1000 && merged > 1000, "{hits} {misses} {merged}");
}

/// Gives each access of a grid a place in a list with random addresses. Returns the list, and what
/// each access touches.
pub(crate) fn random_list(
    random: &mut Random,
    kernel: &Kernel,
    grid: &mut Grid,
) -> (OwnedList, Vec<RawAccess>) {
    let (mut list, mut raw) = (OwnedList::default(), Vec::new());
    let range = one_of(random, &[256, 4096, 65536]);
    for warp in grid.iter_mut().flatten() {
        let steps = warp.path.iter().filter(|step| !step.mask.is_empty());
        let executed =
            steps.flat_map(|step| &kernel.instructions[step.pc as usize..][..step.length as usize]);
        let moving = executed.filter(|instruction| instruction.moves_bytes());
        for (instruction, access) in moving.zip(&mut warp.accesses) {
            let shared = instruction.space == Some(strata_core::image::MemorySpace::Shared);
            let space = match (shared, random.chance(20)) {
                (true, _) => AddressSpace::Shared,
                (false, true) => AddressSpace::Local,
                (false, false) => AddressSpace::Global,
            };
            let kinds_of = [
                LineUse::Load,
                LineUse::Load,
                LineUse::Store,
                LineUse::BypassLoad,
                LineUse::BypassStore,
                LineUse::Atomic,
            ];
            let kind = one_of(random, &kinds_of);
            let base = u64::from(random.below(range) & !3);
            let stride = u64::from(one_of(random, &[0_u32, 4, 4, 4, 8, 132]));
            let address = |lane| base + stride * lane;
            *access = list.add(space, kind, address);
            raw.push(RawAccess::new(kind, space, address));
        }
    }
    (list, raw)
}
