//! When a warp leaves the active set to wait for data, and when it does not.

use crate::exact::{ISCA11, assert_earliest_at, each, one, two_level};
use crate::machine::{Kernel, OwnedTrace, Pace, both, run, simulate_over};
use strata_core::image::{Flags, MemorySpace, Unit};
use strata_core::sm::config::{BarrierRule, ShortWaits, SmSettings, Timing, WarpReplacement};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::memory::MemoryModel;
use strata_core::sm::{MemoryAccess, Observation};

/// The trace with accesses that hit or miss: one of `hits` for each.
fn with_hits(mut trace: OwnedTrace, hits: &[bool]) -> OwnedTrace {
    assert_eq!(trace.accesses.len(), hits.len());
    for (access, &hit) in trace.accesses.iter_mut().zip(hits) {
        *access = access.hitting(hit);
    }
    trace
}

fn cache_miss(active: u8) -> SmSettings {
    SmSettings { replacement: WarpReplacement::CacheMiss, ..two_level(active, None) }
}

fn short(short_waits: ShortWaits) -> SmSettings {
    SmSettings { short_waits, ..two_level(1, None) }
}

/// The cycles in which the instructions of each warp issue, warp by warp.
pub(crate) fn issues(
    settings: SmSettings,
    kernel: &Kernel,
    grid: &[Vec<OwnedTrace>],
) -> Vec<Vec<u64>> {
    issues_over(None, settings, kernel, grid)
}

/// The cycles in which the instructions of each warp issue, warp by warp, over an attached memory,
/// if there is one, that takes the place of the SM's own.
pub(crate) fn issues_over(
    attached: Option<&mut dyn MemoryModel>,
    settings: SmSettings,
    kernel: &Kernel,
    grid: &[Vec<OwnedTrace>],
) -> Vec<Vec<u64>> {
    let mut cycles = vec![Vec::new(); grid[0].len()];
    let told = |observation| {
        if let Observation::Issue(issue) = observation {
            cycles[issue.warp as usize].push(issue.cycle);
        }
    };
    simulate_over(attached, settings, kernel, 0, &grid.to_vec(), Pace::Skipping, told).unwrap();
    cycles
}

fn run_one(settings: SmSettings, kernel: &Kernel, trace: OwnedTrace) -> SmCounters {
    both(settings, kernel, 0, &one(trace)).unwrap()
}

#[test]
fn a_hit_comes_after_its_latency_and_moves_nothing() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    for (settings, latency) in [
        (ISCA11, 20),
        (SmSettings { timing: Timing { hit_latency: 33, ..ISCA11.timing }, ..ISCA11 }, 33),
    ] {
        let hit = run_one(settings, &kernel, with_hits(kernel.moving(&[4096]), &[true]));
        assert_eq!(hit.cycles(), latency + 8);
        assert_eq!((hit.dram_bytes(), hit.dram_busy_cycles()), (0, 0));
        assert_eq!(hit.slots(StallReason::ShortMemory), latency - 1);
        let miss = run_one(settings, &kernel, with_hits(kernel.moving(&[128]), &[false]));
        assert_eq!((miss.cycles(), miss.dram_bytes()), (400 + 8, 128));
    }
    // Shared memory is no cache: a hit there has no meaning.
    let shared = Kernel::default().shared_load(&[], &[1]).alu(&[1], &[2]);
    let trace = || shared.moving(&[1024]);
    assert_eq!(
        run_one(ISCA11, &shared, with_hits(trace(), &[true])),
        run_one(ISCA11, &shared, trace())
    );
}

#[test]
fn a_marked_warp_leaves_for_a_hit_as_well() {
    // At 1, back when the data is there.
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]).marked();
    let counters = run_one(two_level(1, None), &kernel, with_hits(kernel.moving(&[4]), &[true]));
    assert_eq!((counters.accesses.deschedules(), counters.cycles()), (1, 20 + 8));
}

#[test]
fn a_hit_keeps_its_warp_and_a_miss_sends_it_away_once_it_is_known() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]).marked();
    let warp = |hit| with_hits(kernel.moving(&[4]), &[hit]);
    // One place. A hit keeps it until the last instruction has issued, at 20.
    let hits = issues(cache_miss(1), &kernel, &[vec![warp(true), warp(true)]]);
    assert_eq!(hits, [[0, 20], [21, 41]]);
    // That a load misses is known after 20 cycles: then the next warp comes.
    let misses = issues(cache_miss(1), &kernel, &[vec![warp(false), warp(false)]]);
    assert_eq!(misses, [[0, 400], [20, 420]]);
    let settings =
        SmSettings { timing: Timing { hit_latency: 50, ..ISCA11.timing }, ..cache_miss(1) };
    let later = issues(settings, &kernel, &[vec![warp(false), warp(false)]]);
    assert_eq!(later, [[0, 400], [50, 450]]);
}

#[test]
fn a_miss_that_has_come_when_it_is_known_sends_no_warp_away() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    let deschedules = |dram_latency| {
        let timing = Timing { dram_latency, ..ISCA11.timing };
        let settings = SmSettings { timing, ..cache_miss(1) };
        run_one(settings, &kernel, kernel.moving(&[4])).accesses.deschedules()
    };
    assert_eq!((deschedules(20), deschedules(21)), (0, 1));
}

#[test]
fn the_caches_must_have_been_asked_for_every_load() {
    // The first misses; that is known at 20, but the second is asked for until 22.
    let kernel = Kernel::default().load(&[], &[1]).alu(&[], &[]).load(&[], &[2]).alu(&[1], &[3]);
    let trace = |second| with_hits(kernel.moving(&[4, 4]), &[false, second]);
    for second in [true, false] {
        let both = [vec![trace(second), trace(second)]];
        let cycles = issues(cache_miss(1), &kernel, &both);
        assert_eq!(cycles[1][0], 22, "{second}");
    }
    // Only what the next instruction waits for matters: it reads the hit, and no warp leaves.
    let reads_hit = Kernel::default().load(&[], &[1]).load(&[], &[2]).alu(&[2], &[3]);
    let trace = with_hits(reads_hit.moving(&[4, 4]), &[false, true]);
    assert_eq!(run_one(cache_miss(1), &reads_hit, trace).accesses.deschedules(), 0);
}

#[test]
fn a_texture_has_no_cache_to_wait_for() {
    let texture = |kernel: Kernel| kernel.add(Unit::Texture, Flags::LONG_LATENCY, &[], &[1]);
    let kernel = texture(Kernel::default()).alu(&[1], &[2]);
    let cycles = issues(cache_miss(1), &kernel, &each(&kernel, 2, &[]));
    // The unit is free again at 8.
    assert_eq!(cycles, [[0, 400], [8, 408]]);
}

#[test]
fn short_results_do_not_send_a_warp_away_unless_asked() {
    let add = |unit| Kernel::default().add(unit, Flags::empty(), &[], &[1]).alu(&[1], &[2]);
    let memory = |space| {
        let load = Kernel::default().add(Unit::Memory, Flags::LOAD, &[], &[1]);
        load.with(|load| load.space = Some(space)).alu(&[1], &[2])
    };
    let none = ShortWaits::empty();
    let cases = [
        (add(Unit::Alu), &[][..], none),
        (add(Unit::Sfu), &[], ShortWaits::SPECIAL_FUNCTION),
        (add(Unit::DoublePrecision), &[], ShortWaits::DOUBLE_PRECISION),
        (memory(MemorySpace::Shared), &[128], ShortWaits::SHARED_MEMORY),
        (memory(MemorySpace::Constant), &[], none),
    ];
    for (kernel, bytes, own) in &cases {
        for waits in (0..8).map(ShortWaits::from_bits_retain) {
            let counters = run_one(short(waits), kernel, kernel.moving(bytes));
            let expected = u64::from(waits.intersects(*own));
            assert_eq!(counters.accesses.deschedules(), expected, "{waits:?}: {kernel:?}");
            // Its data comes when it comes, and leaving costs one cycle only.
            let stays = run_one(two_level(1, None), kernel, kernel.moving(bytes));
            assert_eq!(counters.cycles(), stays.cycles(), "{waits:?}: {kernel:?}");
        }
    }
}

#[test]
fn a_warp_leaves_for_a_short_result_in_the_cycle_in_which_it_would_wait() {
    // Special functions at 0; the unit is free again at 4, when warp 1 has long been there.
    let kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[1]).alu(&[1], &[2]);
    let waits = ShortWaits::SPECIAL_FUNCTION;
    let cycles = issues(short(waits), &kernel, &each(&kernel, 2, &[]));
    assert_eq!(cycles, [[0, 20], [4, 24]]);
    let stays = issues(two_level(1, None), &kernel, &each(&kernel, 2, &[]));
    assert_eq!(stays, [[0, 20], [21, 41]]);
    // With `between` instructions in between, the reader could issue at 1 + between.
    let deschedules = |between| {
        let mut kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[1]);
        for _ in 0..between {
            kernel = kernel.alu(&[], &[]);
        }
        let kernel = kernel.alu(&[1], &[2]);
        assert_earliest_at(short(waits), &kernel, &[], 20);
        run_one(short(waits), &kernel, kernel.straight()).accesses.deschedules()
    };
    assert_eq!((deschedules(18), deschedules(19)), (1, 0));
}

#[test]
fn the_earlier_of_two_rules_holds() {
    // Reactive after 10 cycles, but at once for shared memory.
    let kernel = Kernel::default().shared_load(&[], &[1]).alu(&[1], &[2]);
    let settings = |short_waits| SmSettings {
        replacement: WarpReplacement::Reactive { threshold: 10 },
        ..short(short_waits)
    };
    let second =
        |short_waits| issues(settings(short_waits), &kernel, &each(&kernel, 2, &[32]))[1][0];
    assert_eq!(second(ShortWaits::SHARED_MEMORY), 1);
    assert_eq!(second(ShortWaits::DOUBLE_PRECISION), 11);
}

#[test]
fn a_reactive_warp_leaves_after_its_threshold_and_not_before() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    for threshold in [1, 2, 50] {
        let settings = SmSettings {
            replacement: WarpReplacement::Reactive { threshold },
            ..two_level(1, None)
        };
        let cycles = issues(settings, &kernel, &each(&kernel, 2, &[32]));
        assert_eq!(cycles[1][0], 1 + u64::from(threshold));
    }
}

#[test]
fn a_preemptive_warp_leaves_in_the_cycle_after_its_last_instruction() {
    // Two places of two slots each: no warp waits for a place.
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]).marked();
    let settings = SmSettings { issue_slots: 2, ..two_level(1, None) };
    assert_eq!(issues(settings, &kernel, &each(&kernel, 3, &[32])), [[0, 400], [1, 401], [2, 402]]);
    let settings = SmSettings { issue_slots: 2, ..two_level(2, None) };
    assert_eq!(issues(settings, &kernel, &each(&kernel, 3, &[32])), [[0, 400], [0, 401], [1, 402]]);
}

/// A barrier that deschedules ends the wait for a load, so that its reader needs no mark. Where the
/// barrier does not make the warp leave, the reader waits in the active set.
#[test]
fn a_reader_behind_a_barrier_that_deschedules_no_warp_waits_in_its_place() {
    let kernel = Kernel::default().load(&[], &[1]).barrier().alu(&[1], &[2]);
    for (barrier, left) in
        [(BarrierRule::Always, 1), (BarrierRule::WhenBlocking, 0), (BarrierRule::Never, 0)]
    {
        let settings = SmSettings { barrier, ..two_level(1, None) };
        let run = run_one(settings, &kernel, kernel.moving(&[32]));
        let departures = run.accesses.deschedules() + run.accesses.barrier_deschedules();
        assert_eq!((departures, run.cycles()), (left, 400 + 8), "{barrier:?}");
    }
}

#[test]
fn uncached_is_what_no_cache_serves() {
    assert_eq!(MemoryAccess::uncached(12), MemoryAccess::uncached(12).at(3).hitting(false).at(0));
    let kernel = Kernel::default().store(&[1]);
    let stored = with_hits(OwnedTrace::new(vec![run(0, 1)], &[128]), &[true]);
    assert_eq!(run_one(ISCA11, &kernel, stored).dram_bytes(), 0);
}
