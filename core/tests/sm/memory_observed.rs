//! What an observer hears of a memory with a cache: cases worked out by hand, and the sums of all
//! that is told against the counters, for every run of these tests over such a memory.

use std::cell::RefCell;

use crate::cached_memory::{
    CountsLower, MICRO12, OwnedList, OwnedParts, SETTINGS, load, over_lower,
};
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, simulate_over};
use crate::second_level::{OwnedL2, assert_rows};
use crate::unified_banks::{ARBITRATED, FLAT, UNIFIED};
use strata_core::sm::config::SmSettings;
use strata_core::sm::counters::SmCounters;
use strata_core::sm::memory::bank_conflicts::BankConflicts;
use strata_core::sm::memory::cache::{Cache, Tag};
use strata_core::sm::memory::cached::{
    CacheCounters, CacheEvent, CachedMemory, CachedSettings, LineUse,
};
use strata_core::sm::memory::l2::L2;
use strata_core::sm::memory::lower::Dram;
use strata_core::sm::memory::lower_counters::LowerCounters;
use strata_core::sm::memory::touched::{AddressSpace, TouchedLine};
use strata_core::sm::memory::{CacheEventKind, Ticket};
use strata_core::sm::{CommonObserver, Issue, MemoryAccess, MemoryObservation, Observation};

/// What a run has counted, in the SM, its cache and below, and what is told of it.
pub(crate) type Told = (SmCounters, CacheCounters, LowerCounters, Vec<Observation>);

/// All that is told of a run over a new cache, by the SM and by the memory.
pub(crate) fn told_over(
    settings: SmSettings,
    cached: CachedSettings,
    kernel: &Kernel,
    grid: &Grid,
    list: &OwnedList,
) -> Told {
    let mut told = Vec::new();
    let observer = RefCell::new(|one| told.push(one));
    let mut hears = CommonObserver::new(&observer);
    let mut tags = vec![Tag::EMPTY; Cache::tags(cached.cache_bytes)];
    let mut cache = Cache::new(cached.cache_bytes, cached.ways, &mut tags).unwrap();
    let mut parts = OwnedParts::of(&cached);
    let (timing, list) = (&settings.timing, list.borrow());
    let memory = (&mut cache, parts.borrow());
    let heard = (list, hears);
    let tell = |one| strata_core::sm::SmObserver::observe(&mut hears, one);
    let pace = Pace::Skipping;
    let (counters, cache, lower) = over_lower!(cached, timing, |lower| {
        let mut memory = CachedMemory::over(lower, cached, timing, memory, heard).unwrap();
        let counters = simulate_over(Some(&mut memory), settings, kernel, 0, grid, pace, tell);
        (counters.unwrap(), *memory.counters(), memory.lower().counted())
    });
    (counters, cache, lower, told)
}

/// What is told adds up to what is counted, and nothing takes the path or DRAM together.
pub(crate) fn assert_told(
    (counters, cache): (&SmCounters, &CacheCounters),
    told: &Told,
    (kernel, cached): (&Kernel, CachedSettings),
) {
    assert_eq!((counters, cache), (&told.0, &told.1), "an observer changes nothing");
    let mut sums = CacheCounters::default();
    let (mut path, mut dram, mut fills, mut paths, mut refused) = (0, 0, 0, 0, 0);
    let mut rows = Vec::new();
    for one in &told.3 {
        match *one {
            Observation::Row(row) => rows.push(row),
            Observation::Memory(MemoryObservation { event, count, of, line, from, until }) => {
                assert!(count > 0 && from < until, "{one:?}");
                sums.record(event, count);
                let of_line = match event.kind() {
                    CacheEventKind::Lookup => until == from + 1,
                    CacheEventKind::Transfer => {
                        assert!(from >= dram, "{one:?}, {dram}");
                        dram = until;
                        true
                    }
                    CacheEventKind::Conflict => {
                        assert_eq!(count, until - from, "{one:?}");
                        false
                    }
                    CacheEventKind::BankAccess => line.is_some(),
                    CacheEventKind::Allocation => until == from + 1 && count == 1,
                    CacheEventKind::Refusal => {
                        assert_eq!((count, until), (1, from + 1), "{one:?}");
                        false
                    }
                    CacheEventKind::Instruction => unreachable!("{one:?}"),
                };
                assert_eq!(line.is_some(), of_line, "{one:?}");
                assert_eq!(of.is_none(), event == CacheEvent::FillWaitCycle, "{one:?}");
            }
            Observation::Path { from, until, .. } => {
                assert!(path <= from && from < until, "{one:?}, {path}");
                path = until;
                paths += 1;
            }
            Observation::Fill { .. } => fills += 1,
            Observation::Refused { .. } => refused += 1,
            _ => {}
        }
    }
    assert_rows(&rows, &told.2, "a run");
    for event in CacheEvent::ALL {
        if event.kind() != CacheEventKind::Instruction {
            assert_eq!(sums.get(event), cache.get(event), "{event:?}");
        }
    }
    let fetched = cache.get(CacheEvent::LoadMiss) + cache.get(CacheEvent::StoreFetch);
    // A line that is replaced and fetched again before a second level has it comes once.
    assert!(fills == fetched || cached.l2.is_some() && fills <= fetched, "{fills} of {fetched}");
    let accesses = told.3.iter().filter(|one| match one {
        Observation::Issue(Issue { pc, mask, .. }) => {
            !mask.is_empty() && kernel.instructions[*pc as usize].moves_bytes()
        }
        _ => false,
    });
    assert_eq!(paths, accesses.count());
    if cached.conflicts != BankConflicts::CycleByCycle {
        let refusals = [CacheEvent::MshrRefusal, CacheEvent::QueueRefusal];
        assert_eq!(refused, refusals.map(|event| cache.get(event)).iter().sum::<u64>());
    }
}

/// What a memory tells of one warp that runs a kernel once.
fn alone(
    settings: SmSettings,
    cached: CachedSettings,
    kernel: &Kernel,
    accesses: &[MemoryAccess],
    list: &OwnedList,
) -> Vec<Observation> {
    let trace = OwnedTrace { accesses: accesses.to_vec(), ..kernel.moving(&[]) };
    let told = told_over(settings, cached, kernel, &vec![vec![trace]], list);
    assert_told((&told.0, &told.1), &told, (kernel, cached));
    let of_memory = |one: &Observation| {
        matches!(
            one,
            Observation::Memory(_)
                | Observation::Path { .. }
                | Observation::Fill { .. }
                | Observation::Refused { .. }
        )
    };
    told.3.into_iter().filter(of_memory).collect()
}

/// A count of the only warp.
fn counted(
    pc: u32,
    event: CacheEvent,
    count: u64,
    line: Option<TouchedLine>,
    (from, until): (u64, u64),
) -> Observation {
    let of = Some(Ticket { warp: 0, pc });
    Observation::Memory(MemoryObservation { event, count, of, line, from, until })
}

fn path(pc: u32, from: u64, until: u64) -> Observation {
    Observation::Path { place: 0, pc, from, until }
}

/// The words from `first` on of a line, as many as `count`.
fn line(number: u64, first: u32, count: u32) -> TouchedLine {
    let words = (u32::MAX >> (32 - count)) << first;
    TouchedLine::new(AddressSpace::Global, number, words)
}

/// Words 2 to 33 lie in two lines, of which DRAM moves 8 bytes a cycle.
#[test]
fn a_load_that_misses_is_told_line_by_line() {
    use CacheEvent::{CacheReadRow, CacheReadWord, FillByte, LoadHit, LoadMiss};
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i + 8);
    // r1 = [r0]; r2 = [r1], which hits when the first one's last line is there.
    let kernel = Kernel::default().load(&[0], &[1]).load(&[1], &[2]);
    let told = alone(MICRO12, SETTINGS, &kernel, &[access; 2], &list);
    let lines = [line(0, 2, 30), line(1, 0, 2)];
    let of = |pc, event, count, index: usize, cycles| {
        counted(pc, event, count, Some(lines[index]), cycles)
    };
    let fill =
        |index: usize, cycle| Observation::Fill { line: lines[index], place: 0, pc: 0, cycle };
    assert_eq!(
        told,
        [
            path(0, 0, 2),
            of(0, CacheReadWord, 30, 0, (0, 1)),
            of(0, CacheReadRow, 8, 0, (0, 1)),
            of(0, LoadMiss, 1, 0, (0, 1)),
            of(0, FillByte, 128, 0, (0, 16)),
            fill(0, 400),
            of(0, CacheReadWord, 2, 1, (1, 2)),
            of(0, CacheReadRow, 1, 1, (1, 2)),
            of(0, LoadMiss, 1, 1, (1, 2)),
            of(0, FillByte, 128, 1, (16, 32)),
            fill(1, 416),
            path(1, 416, 418),
            of(1, CacheReadWord, 30, 0, (416, 417)),
            of(1, CacheReadRow, 8, 0, (416, 417)),
            of(1, LoadHit, 1, 0, (416, 417)),
            of(1, CacheReadWord, 2, 1, (417, 418)),
            of(1, CacheReadRow, 1, 1, (417, 418)),
            of(1, LoadHit, 1, 1, (417, 418)),
        ]
    );
}

/// A merged load, a store that hits, one that misses, and an atomic that drops its line.
#[test]
fn what_a_lookup_finds_is_told_with_the_bytes_that_move() {
    use CacheEvent::{BypassHit, FillByte, LoadMerged, LoadMiss, StoreByte, StoreHit, StoreMiss};
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let [hit, miss] =
        [0, 1024].map(|base| list.add(AddressSpace::Global, LineUse::Store, move |_| base));
    let atomic = list.add(AddressSpace::Global, LineUse::Atomic, |_| 4);
    let kernel = Kernel::default().load(&[0], &[1]).load(&[0], &[2]).store(&[0]).store(&[0]);
    let kernel = kernel.store(&[0]);
    let accesses = [access, access, hit, miss, atomic];
    let told = alone(MICRO12, SETTINGS, &kernel, &accesses, &list);
    let outcomes = told.iter().filter_map(|one| match *one {
        Observation::Memory(MemoryObservation { event, count, of, from, until, .. })
            if event.kind() != CacheEventKind::BankAccess =>
        {
            Some((of.map(|ticket| ticket.pc), event, count, from, until))
        }
        _ => None,
    });
    // A transaction of 16 bytes takes two cycles.
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [
            (Some(0), LoadMiss, 1, 0, 1),
            (Some(0), FillByte, 128, 0, 16),
            (Some(1), LoadMerged, 1, 1, 2),
            (Some(2), StoreHit, 1, 2, 3),
            (Some(2), StoreByte, 16, 16, 18),
            (Some(3), StoreMiss, 1, 3, 4),
            (Some(3), StoreByte, 16, 18, 20),
            (Some(4), BypassHit, 1, 4, 5),
            (Some(4), CacheEvent::UncachedByte, 16, 20, 22),
        ]
    );
}

/// The cycles of the conflicts that are told.
fn conflicts(told: &[Observation]) -> Vec<(CacheEvent, u64, u64)> {
    let conflict = |one: &Observation| match *one {
        Observation::Memory(MemoryObservation { event, from, until, .. })
            if event.kind() == CacheEventKind::Conflict =>
        {
            Some((event, from, until))
        }
        _ => None,
    };
    told.iter().filter_map(conflict).collect()
}

/// 32 rows of bank 0 in one cluster, and the address in R0 of the same bank: 33 accesses.
#[test]
fn conflicts_are_told_by_kind_with_their_cycles() {
    use CacheEvent::{ArbitrationConflictCycle, SharedConflictCycle};
    let mut list = OwnedList::default();
    let rows = list.add(AddressSpace::Shared, LineUse::Load, |i| 512 * i);
    // The address is there in cycle 8.
    let kernel = Kernel::default().alu(&[], &[0]).shared_load(&[0], &[1]);
    let told = alone(FLAT, UNIFIED, &kernel, &[rows], &list);
    assert_eq!(conflicts(&told), [(SharedConflictCycle, 9, 40), (ArbitrationConflictCycle, 9, 10)]);
    assert_eq!(told[0], path(1, 8, 40));
}

/// An atomic reads R0, R4 and R8 in cycles 0 to 2, and its row of the same bank in cycle 3; what
/// comes behind it waits.
#[test]
fn an_access_that_registers_hold_up_is_told_when_it_ends() {
    let mut list = OwnedList::default();
    let row = list.add(AddressSpace::Shared, LineUse::Atomic, |i| 4 * i);
    let atomic = |kernel: Kernel, read: &[u16]| {
        kernel.store(read).with(|atomic| {
            atomic.space = Some(strata_core::image::MemorySpace::Shared);
        })
    };
    let kernel = atomic(atomic(Kernel::default(), &[0, 4, 8]), &[1]);
    let told = alone(FLAT, ARBITRATED, &kernel, &[row, row], &list);
    let held = |cycle| (CacheEvent::ArbitrationConflictCycle, cycle, cycle + 1);
    assert_eq!(conflicts(&told), [held(0), held(1), held(2)]);
    let refused = |cycle| Observation::Refused { cycle, place: 0, pc: 1 };
    let rest: Vec<_> =
        told.into_iter().filter(|one| !matches!(one, Observation::Memory(_))).collect();
    // Operands of the first hold issue up until cycle 3.
    assert_eq!(rest, [refused(3), path(0, 0, 4), path(1, 4, 5)]);
}
