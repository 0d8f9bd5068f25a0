//! MSHRs and local stores that allocate: cases computed by hand.

use crate::cached_memory::{MICRO12, OwnedList, SETTINGS, limit, load, run_over};
use crate::machine::{Kernel, OwnedTrace};
use strata_core::sm::MemoryAccess;
use strata_core::sm::memory::cached::{
    CacheCounters, CacheEvent, CachedSettings, LineUse, LocalStores,
};
use strata_core::sm::memory::touched::AddressSpace;

/// One warp that runs a kernel once.
fn alone(
    cached: CachedSettings,
    kernel: &Kernel,
    accesses: &[MemoryAccess],
    list: &OwnedList,
) -> (u64, CacheCounters) {
    let trace = OwnedTrace { accesses: accesses.to_vec(), ..kernel.moving(&[]) };
    let (counters, cache) = run_over(MICRO12, cached, kernel, &vec![vec![trace]], list).unwrap();
    (counters.cycles(), cache)
}

/// r1 = [r0]; r2 = [r0]; r3 = r1 + r2, whose result is there 8 cycles after its issue.
fn two_loads() -> Kernel {
    Kernel::default().load(&[0], &[1]).load(&[0], &[2]).alu(&[1, 2], &[3])
}

fn waits(cache: &CacheCounters) -> [u64; 2] {
    [CacheEvent::MshrRefusal, CacheEvent::MshrWaitCycle].map(|event| cache.get(event))
}

/// The second load is asked for in cycles 1 to 400, in which the first line is there.
#[test]
fn a_load_waits_for_an_mshr() {
    let mut list = OwnedList::default();
    let loads = [load(&mut list, |i| 4 * i), load(&mut list, |i| 4096 + 4 * i)];
    let one = CachedSettings { mshrs: Some(limit(1, 8)), ..SETTINGS };
    let (cycles, cache) = alone(one, &two_loads(), &loads, &list);
    assert_eq!((cycles, waits(&cache)), (400 + 400 + 8, [399, 399]));
    assert_eq!(cache.lookups(), 2, "a refused access looks nothing up");
    let two = CachedSettings { mshrs: Some(limit(2, 1)), ..SETTINGS };
    let (cycles, cache) = alone(two, &two_loads(), &loads, &list);
    assert_eq!((cycles, waits(&cache)), (400 + 16 - 1 + 1 + 8, [0, 0]));
}

/// A line takes two loads: the third is taken when its data is there, and hits.
#[test]
fn a_load_waits_for_a_line_that_takes_no_more_loads() {
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let kernel =
        Kernel::default().load(&[0], &[1]).load(&[0], &[2]).load(&[0], &[3]).alu(&[1, 2, 3], &[4]);
    let two = CachedSettings { mshrs: Some(limit(32, 2)), ..SETTINGS };
    let (cycles, cache) = alone(two, &kernel, &[access; 3], &list);
    assert_eq!((cycles, waits(&cache)), (400 + 20 + 8, [398, 398]));
    let found = [CacheEvent::LoadMiss, CacheEvent::LoadMerged, CacheEvent::LoadHit];
    assert_eq!(found.map(|event| cache.get(event)), [1, 1, 1]);
    let three = CachedSettings { mshrs: Some(limit(32, 3)), ..SETTINGS };
    let (cycles, cache) = alone(three, &kernel, &[access; 3], &list);
    assert_eq!((cycles, waits(&cache)), (400 + 8, [0, 0]));
}

/// An access of two lines and one MSHR is taken when that is free, and the next when both lines are
/// there: in cycle 416.
#[test]
fn an_access_of_more_lines_than_mshrs_is_taken_when_all_are_free() {
    let mut list = OwnedList::default();
    let wide = load(&mut list, |i| 8 * i);
    let loads = [load(&mut list, |i| 4096 + 4 * i), wide, load(&mut list, |i| 8192 + 4 * i)];
    let kernel =
        Kernel::default().load(&[0], &[1]).load(&[0], &[2]).load(&[0], &[3]).alu(&[1, 2, 3], &[4]);
    let one = CachedSettings { mshrs: Some(limit(1, 8)), ..SETTINGS };
    let (cycles, cache) = alone(one, &kernel, &loads, &list);
    // Cycles 1 to 399, and 401 to 815.
    assert_eq!((cycles, waits(&cache)), (400 + 416 + 400 + 8, [399 + 415; 2]));
}

/// Two warps are refused in the same cycles; each asks in its own turn.
#[test]
fn refusals_count_accesses_and_waits_count_cycles() {
    let mut list = OwnedList::default();
    let loads: Vec<_> = (0..3).map(|at| load(&mut list, |i| 4096 * at + 4 * i)).collect();
    let kernel = Kernel::default().load(&[0], &[1]);
    let warps =
        loads.iter().map(|&access| OwnedTrace { accesses: vec![access], ..kernel.moving(&[]) });
    let grid = vec![warps.collect::<Vec<_>>()];
    let one = CachedSettings { mshrs: Some(limit(1, 8)), ..SETTINGS };
    let (counters, cache) = run_over(MICRO12, one, &kernel, &grid, &list).unwrap();
    // Both in cycles 1 to 399; in 400 one is taken; the other in 401 to 799.
    assert_eq!(counters.cycles(), 3 * 400);
    assert_eq!(waits(&cache), [2 * 399 + 399, 399 + 399]);
}

/// A store of a whole line allocates it without a fetch, one of a part fetches it; both write to
/// DRAM. A load of the line then hits.
#[test]
fn a_local_store_allocates_its_line() {
    let kernel = Kernel::default().store(&[0, 1]).load(&[0], &[2]).alu(&[2], &[3]);
    let mut list = OwnedList::default();
    let whole = list.add(AddressSpace::Local, LineUse::Store, |_| 8);
    let reload = list.add(AddressSpace::Local, LineUse::Load, |_| 8);
    let allocate = CachedSettings { local_stores: LocalStores::Allocate, ..SETTINGS };
    let events = |cache: &CacheCounters| {
        let events = [
            CacheEvent::StoreMiss,
            CacheEvent::StoreAllocation,
            CacheEvent::StoreFetch,
            CacheEvent::LoadHit,
            CacheEvent::FillByte,
            CacheEvent::StoreByte,
            CacheEvent::CacheWriteWord,
        ];
        events.map(|event| cache.get(event))
    };
    let (cycles, cache) = alone(allocate, &kernel, &[whole, reload], &list);
    assert_eq!(events(&cache), [1, 1, 0, 1, 0, 128, 32]);
    assert_eq!(cycles, 1 + 20 + 8);
    let (cycles, cache) = alone(SETTINGS, &kernel, &[whole, reload], &list);
    assert_eq!(events(&cache), [1, 0, 0, 0, 128, 128, 0]);
    // DRAM takes the store for 16 cycles.
    assert_eq!(cycles, 16 + 400 + 8);
    // Half of the lanes store another word.
    let half = list.add(AddressSpace::Local, LineUse::Store, |i| 8 + 4 * (i % 2));
    let (cycles, cache) = alone(allocate, &kernel, &[half, reload], &list);
    assert_eq!(events(&cache), [2, 2, 2, 0, 256, 256, 32]);
    assert_eq!(cache.get(CacheEvent::LoadMerged), 1);
    assert_eq!(cycles, 400 + 8);
    // Global stores go past the cache.
    let global = list.add(AddressSpace::Global, LineUse::Store, |i| 4 * i);
    let load = load(&mut list, |i| 4 * i);
    let (_, cache) = alone(allocate, &kernel, &[global, load], &list);
    assert_eq!(events(&cache), [1, 0, 0, 0, 128, 128, 0]);
}

/// A line that a store fetches takes an MSHR.
#[test]
fn a_local_store_of_a_part_of_a_line_waits_for_an_mshr() {
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let part = list.add(AddressSpace::Local, LineUse::Store, |i| 1024 * (i % 2));
    let whole = list.add(AddressSpace::Local, LineUse::Store, |_| 4);
    let kernel = Kernel::default().load(&[0], &[1]).store(&[0]);
    let one = CachedSettings {
        mshrs: Some(limit(1, 8)),
        local_stores: LocalStores::Allocate,
        ..SETTINGS
    };
    let (_, cache) = alone(one, &kernel, &[access, part], &list);
    assert_eq!(waits(&cache), [399, 399]);
    let (_, cache) = alone(one, &kernel, &[access, whole], &list);
    assert_eq!(waits(&cache), [0, 0]);
}
