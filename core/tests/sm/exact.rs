//! Cycle mode, rule by rule: each instant is the earliest possible, and the cycle before it is not.

use crate::machine::{Grid, Kernel, OwnedTrace, both, run};
use strata_core::image::{CheckedImage, Flags, MemorySpace, Predicates, Unit};
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::sm::config::{
    BarrierRule, CtaTooLarge, Launch, Limit, Scheduler, ShortWaits, SmConfig, SmConfigError,
    SmSettings, Timing, WarpReplacement,
};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::fault::Fault;
use strata_core::sm::{
    Cta, DeliveryMemory, DeliverySize, Facts, Memory, MemorySize, ReadyAt, Sm, Warp, WarpTrace,
};
use strata_core::units::{LaneMask, RegisterId};

pub(crate) const ISCA11: SmSettings = SmSettings::ISCA11;

pub(crate) fn two_level(active_warps: u8, cache: Option<u8>) -> SmSettings {
    let cache = cache.map(|entries| RegisterFileCacheConfig {
        entries,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: false,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    });
    let cached = |cache| LevelSettings::Cached(CachedLevels::new(cache));
    with_levels(active_warps, cache.map_or(LevelSettings::Flat, cached))
}

fn with_levels(active_warps: u8, levels: LevelSettings) -> SmSettings {
    let scheduling = Scheduling::TwoLevel { active_warps };
    let organisation = Organisation::new(OrganisationSettings { levels, scheduling }).unwrap();
    SmSettings { organisation, ..ISCA11 }
}

/// A cache of so many entries for each resident warp.
pub(crate) fn single_level(entries: u8) -> SmSettings {
    let levels = two_level(1, Some(entries)).organisation.settings().levels;
    let scheduling = Scheduling::SingleLevel;
    let organisation = Organisation::new(OrganisationSettings { levels, scheduling }).unwrap();
    SmSettings { organisation, ..ISCA11 }
}

/// A last result file in front of a cache of so many entries for each active warp.
fn three_level(active_warps: u8, entries: u8) -> SmSettings {
    let two_level = two_level(active_warps, Some(entries));
    let cached = two_level.organisation.levels().cached().unwrap();
    let cached = CachedLevels { last_result_file: true, ..cached };
    with_levels(active_warps, LevelSettings::Cached(cached))
}

/// The kernel with every result of an ALU fit for the last result file.
fn private(mut kernel: Kernel) -> Kernel {
    for instruction in &mut kernel.instructions {
        instruction.private_reads = u32::MAX;
    }
    kernel
}

/// One CTA of one warp.
pub(crate) fn one(trace: OwnedTrace) -> Grid {
    vec![vec![trace]]
}

pub(crate) fn cycles(settings: SmSettings, kernel: &Kernel, grid: &Grid) -> u64 {
    both(settings, kernel, 0, grid).unwrap().cycles()
}

/// The cycle in which the last instruction of the only warp issues: an ALU instruction, whose result
/// is the last thing to happen.
pub(crate) fn assert_earliest_at(
    settings: SmSettings,
    kernel: &Kernel,
    bytes: &[u32],
    expected: u64,
) {
    let counters = both(settings, kernel, 0, &one(kernel.moving(bytes))).unwrap();
    let issue = counters.cycles() - u64::from(settings.timing.alu_latency);
    assert_eq!(issue, expected, "{kernel:?}");
    // Every earlier slot was refused or belongs to an earlier instruction.
    let refused = counters.all_slots() - counters.slots(StallReason::Issued);
    let instructions = kernel.instructions.len() as u64;
    assert_eq!(counters.slots(StallReason::Issued), instructions);
    assert_eq!(refused, counters.cycles() - instructions);
}

#[test]
fn results_are_there_after_their_latency() {
    let timing = ISCA11.timing;
    let alu = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]);
    assert_earliest_at(ISCA11, &alu, &[], 8);
    for latency in [1, 4, 63, 64, 65, 300] {
        let settings = SmSettings { timing: Timing { alu_latency: latency, ..timing }, ..ISCA11 };
        assert_earliest_at(settings, &alu, &[], u64::from(latency));
    }
    let unit = |unit, flags| Kernel::default().add(unit, flags, &[], &[1]).alu(&[1], &[2]);
    assert_earliest_at(ISCA11, &unit(Unit::Sfu, Flags::empty()), &[], 20);
    assert_earliest_at(ISCA11, &unit(Unit::DoublePrecision, Flags::empty()), &[], 8);
    assert_earliest_at(ISCA11, &unit(Unit::Texture, Flags::LONG_LATENCY), &[], 400);
    let shared = Kernel::default().shared_load(&[], &[1]).alu(&[1], &[2]);
    assert_earliest_at(ISCA11, &shared, &[128], 20);
    let global = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    assert_earliest_at(ISCA11, &global, &[128], 400);
    let constant = Kernel::default()
        .add(Unit::Memory, Flags::LOAD, &[], &[1])
        .with(|load| load.space = Some(MemorySpace::Constant))
        .alu(&[1], &[2]);
    assert_earliest_at(ISCA11, &constant, &[], 20);
}

#[test]
fn every_latency_is_the_one_that_is_set() {
    let timing = Timing {
        branch_latency: 11,
        tag_check_cycles: 5,
        double_latency: 12,
        special_function_latency: 13,
        texture_latency: 14,
        shared_latency: 15,
        constant_latency: 16,
        dram_latency: 17,
        ..ISCA11.timing
    };
    let settings = SmSettings { timing, ..ISCA11 };
    let unit = |unit, flags| Kernel::default().add(unit, flags, &[], &[1]).alu(&[1], &[2]);
    let memory = |space| unit(Unit::Memory, Flags::LOAD).in_space(space);
    let branch = Kernel::default().add(Unit::Control, Flags::BRANCH, &[], &[]).alu(&[], &[1]);
    assert_earliest_at(settings, &branch, &[], 11);
    assert_earliest_at(SmSettings { timing, ..two_level(8, Some(6)) }, &branch, &[], 11 + 5);
    assert_earliest_at(settings, &unit(Unit::DoublePrecision, Flags::empty()), &[], 12);
    assert_earliest_at(settings, &unit(Unit::Sfu, Flags::empty()), &[], 13);
    assert_earliest_at(settings, &unit(Unit::Texture, Flags::LONG_LATENCY), &[], 14);
    assert_earliest_at(settings, &memory(MemorySpace::Shared), &[32], 15);
    assert_earliest_at(settings, &memory(MemorySpace::Constant), &[], 16);
    assert_earliest_at(settings, &memory(MemorySpace::Global), &[32], 17);
    assert_earliest_at(settings, &memory(MemorySpace::Local), &[32], 17);
}

#[test]
fn every_throughput_is_the_one_that_is_set() {
    let timing = Timing {
        double_lanes: 32,
        special_function_lanes: 7,
        texture_lanes: 1,
        shared_bytes_per_cycle: 100,
        dram_bytes_per_cycle: 3,
        ..ISCA11.timing
    };
    let settings = SmSettings { timing, ..ISCA11 };
    let second_issues_at = |unit, flags, latency| {
        let kernel = Kernel::default().add(unit, flags, &[], &[1]);
        cycles(settings, &kernel, &each(&kernel, 2, &[])) - latency
    };
    assert_eq!(second_issues_at(Unit::DoublePrecision, Flags::empty(), 8), 1);
    assert_eq!(second_issues_at(Unit::Sfu, Flags::empty(), 20), 5);
    assert_eq!(second_issues_at(Unit::Texture, Flags::LONG_LATENCY, 400), 32);
    // 128 bytes take 2 and 43 cycles, which the latency covers; 201 and 129 bytes one more each.
    let shared = Kernel::default().shared_load(&[], &[1]);
    let two = |kernel: &Kernel, bytes| cycles(settings, kernel, &each(kernel, 2, &[bytes]));
    assert_eq!((two(&shared, 128), two(&shared, 201)), (2 + 20, 3 + 20 + 1));
    let dram = Kernel::default().load(&[], &[1]);
    assert_eq!((two(&dram, 128), two(&dram, 130)), (43 + 400, 44 + 400 + 1));
}

#[test]
fn a_window_of_two_cycles_absorbs_two_reads_of_a_bank() {
    let settings = SmSettings { timing: Timing { operand_window: 2, ..ISCA11.timing }, ..ISCA11 };
    for (read, delay) in [(&[0, 4][..], 0), (&[0, 4, 8], 1), (&[0, 4, 8, 12], 2)] {
        assert_earliest_at(
            settings,
            &Kernel::default().alu(read, &[3]).alu(&[3], &[7]),
            &[],
            8 + delay,
        );
    }
}

#[test]
fn what_is_independent_issues_in_the_next_cycle() {
    assert_earliest_at(ISCA11, &Kernel::default().alu(&[], &[1]).alu(&[3], &[2]), &[], 1);
    // Reading before a write in order is no dependence.
    assert_earliest_at(ISCA11, &Kernel::default().alu(&[2], &[1]).alu(&[], &[2]), &[], 1);
}

#[test]
fn a_register_is_not_written_twice_at_a_time() {
    assert_earliest_at(ISCA11, &Kernel::default().alu(&[], &[1]).alu(&[], &[1]), &[], 8);
}

#[test]
fn a_guard_waits_for_its_predicate() {
    let set = |kernel: Kernel| {
        kernel.alu(&[0], &[]).with(|set| set.predicates = Predicates { read: 0, written: 1 << 3 })
    };
    let guarded = |kernel: Kernel, bit: u32| {
        kernel.alu(&[], &[1]).with(|add| add.predicates = Predicates { read: bit, written: 0 })
    };
    assert_earliest_at(ISCA11, &guarded(set(Kernel::default()), 1 << 3), &[], 8);
    assert_earliest_at(ISCA11, &guarded(set(Kernel::default()), 1 << 2), &[], 1);
    // Nor is a predicate written twice at a time.
    let slow = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[]).with(|slow| {
        slow.predicates = Predicates { read: 0, written: 1 << 3 };
    });
    assert_earliest_at(ISCA11, &set(slow), &[], 20);
}

#[test]
fn an_instruction_without_lanes_waits_for_its_guard_only() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    let nothing = PathStep { pc: 1, length: 1, mask: LaneMask::EMPTY };
    let trace = OwnedTrace::new(vec![run(0, 1), nothing], &[128]);
    let counters = both(ISCA11, &kernel, 0, &one(trace)).unwrap();
    assert_eq!(counters.slots(StallReason::Issued), 2);
    assert_eq!(counters.slots(StallReason::LongLatency), 0);
    assert_eq!(counters.cycles(), 400);
}

#[test]
fn wide_results_come_one_register_a_cycle() {
    let wide = |read: u16| Kernel::default().load(&[], &[4, 5, 6, 7]).alu(&[read], &[1]);
    for (register, cycle) in [(4, 400), (5, 401), (6, 402), (7, 403)] {
        assert_earliest_at(ISCA11, &wide(register), &[128], cycle);
    }
}

#[test]
fn a_branch_holds_its_warp_until_it_is_resolved() {
    let kernel = Kernel::default().add(Unit::Control, Flags::BRANCH, &[], &[]).alu(&[], &[1]);
    assert_earliest_at(ISCA11, &kernel, &[], 8);
    // The tag check takes one more cycle.
    assert_earliest_at(two_level(8, Some(6)), &kernel, &[], 9);
    assert_earliest_at(two_level(8, None), &kernel, &[], 8);
}

/// Independent instructions of many warps, one each.
pub(crate) fn each(kernel: &Kernel, warps: usize, bytes: &[u32]) -> Grid {
    vec![vec![kernel.moving(bytes); warps]]
}

#[test]
fn units_start_as_many_lanes_a_cycle_as_they_have() {
    let kernel = |unit, flags| Kernel::default().add(unit, flags, &[], &[1]);
    for (unit, flags, interval, latency) in [
        (Unit::Alu, Flags::empty(), 1, 8),
        (Unit::DoublePrecision, Flags::empty(), 2, 8),
        (Unit::Sfu, Flags::empty(), 4, 20),
        (Unit::Texture, Flags::LONG_LATENCY, 8, 400),
    ] {
        for warps in [1, 2, 7] {
            let kernel = kernel(unit, flags);
            let counters = both(ISCA11, &kernel, 0, &each(&kernel, warps, &[])).unwrap();
            let last_issue = (warps as u64 - 1) * interval;
            assert_eq!(counters.cycles(), last_issue + latency, "{unit:?}, {warps} warps");
            let waited = last_issue + 1 - warps as u64;
            assert_eq!(counters.slots(StallReason::UnitBusy), waited, "{unit:?}");
        }
    }
}

#[test]
fn a_busy_unit_does_not_hold_up_others() {
    // Special functions issue at 0 and 4; the additions of warp 0 at 1 and 2, of warp 1 at 5, 6.
    let kernel =
        Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[1]).alu(&[], &[2]).alu(&[], &[3]);
    let counters = both(ISCA11, &kernel, 0, &each(&kernel, 2, &[])).unwrap();
    assert_eq!(counters.slots(StallReason::UnitBusy), 1);
    assert_eq!(counters.cycles(), 4 + 20);
}

#[test]
fn shared_memory_moves_its_bytes() {
    let load = Kernel::default().shared_load(&[], &[1]);
    // 128 bytes take 4 cycles: the second warp's access starts at 4.
    let two = |bytes| cycles(ISCA11, &load, &each(&load, 2, &[bytes]));
    assert_eq!(two(128), 4 + 20);
    assert_eq!(two(129), 5 + 20 + 1);
    assert_eq!(two(32), 1 + 20);
    assert_eq!(two(0), 1 + 20);
    // Even an access without bytes takes the unit for a cycle.
    let settings = SmSettings { issue_slots: 2, ..ISCA11 };
    let counters = both(settings, &load, 0, &each(&load, 2, &[0])).unwrap();
    assert_eq!(counters.slots(StallReason::UnitBusy), 1);
    // What exceeds a word for each lane lengthens the access itself.
    let dependent = Kernel::default().shared_load(&[], &[1]).alu(&[1], &[2]);
    assert_earliest_at(ISCA11, &dependent, &[1024], 20 + 28);
}

#[test]
fn dram_moves_its_bytes_and_queues() {
    let load = Kernel::default().load(&[], &[1]);
    let warps = |settings, count, bytes| cycles(settings, &load, &each(&load, count, &[bytes]));
    // Issue is not held up: four cycles of transfer each.
    assert_eq!(warps(ISCA11, 1, 128), 400);
    assert_eq!(warps(ISCA11, 2, 128), 4 + 400);
    assert_eq!(warps(ISCA11, 32, 128), 31 * 4 + 400);
    assert_eq!(warps(SmSettings::DISSERTATION, 32, 128), 31 * 8 + 400);
    assert_eq!(warps(ISCA11, 2, 32), 1 + 400);
    // Uncoalesced: 1024 bytes take 32 cycles, 28 more than the latency covers.
    assert_eq!(warps(ISCA11, 2, 1024), 32 + 400 + 28);
    let counters = both(ISCA11, &load, 0, &each(&load, 32, &[128])).unwrap();
    assert_eq!((counters.dram_bytes(), counters.dram_busy_cycles()), (32 * 128, 32 * 4));
}

#[test]
fn the_end_waits_for_stores() {
    let store = Kernel::default().store(&[0, 1]);
    let counters = both(ISCA11, &store, 0, &each(&store, 2, &[1024])).unwrap();
    assert_eq!(counters.cycles(), 64);
    assert_eq!(counters.slots(StallReason::Drain), 62);
}

#[test]
fn an_instructions_own_conflicts_cost_what_the_machine_says() {
    // 0, 4 and 8 are in one bank, 1 and 2 in others.
    let kernel = |read: &[u16]| Kernel::default().alu(read, &[3]).alu(&[3], &[7]);
    for (read, isca11, dissertation) in [
        (&[0, 1, 2][..], 0, 0),
        (&[0, 4, 1], 0, 1),
        (&[0, 4, 8], 0, 2),
        (&[0, 0, 0], 0, 2),
        (&[0, 4, 8, 12], 1, 3),
        (&[0, 4, 1, 5], 0, 1),
    ] {
        let kernel = kernel(read);
        assert_earliest_at(ISCA11, &kernel, &[], 8 + isca11);
        assert_earliest_at(SmSettings::DISSERTATION, &kernel, &[], 8 + dissertation);
    }
}

#[test]
fn conflicts_of_several_warps_hold_up_issue() {
    // Each instruction reads one bank three times: the bank is full from the first on.
    let kernel = Kernel::default().alu(&[0, 4, 8], &[1]);
    let counters = both(ISCA11, &kernel, 0, &each(&kernel, 3, &[])).unwrap();
    // Issues at 0 and 1; the second's reads end in cycle 5, two late, so the third issues at 4, its
    // reads start at 6 and end at 8, two late: results at 4 + 2 + 8.
    assert_eq!(counters.cycles(), 14);
    assert_eq!(counters.slots(StallReason::OperandRead), 2);
    assert_eq!(counters.operand_delay_cycles(), 4);
    assert_eq!(counters.mrf_own_bank_conflicts(), 6);
    assert_eq!(counters.mrf_other_bank_conflicts(), 2);
    // Spread over the banks they do not meet.
    let spread = Kernel::default().alu(&[0, 1, 2], &[3]);
    let counters = both(ISCA11, &spread, 0, &each(&spread, 3, &[])).unwrap();
    assert_eq!(counters.cycles(), 2 + 8);
    assert_eq!(counters.mrf_other_bank_conflicts(), 0);
}

#[test]
fn two_results_do_not_enter_a_bank_in_one_cycle() {
    // The special function is done at 20, as is the addition issued at 12.
    let kernel = |register: u16| {
        let mut kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[4]);
        for _ in 1..12 {
            kernel = kernel.alu(&[], &[]);
        }
        kernel.alu(&[], &[register]).alu(&[register], &[2])
    };
    assert_earliest_at(ISCA11, &kernel(5), &[], 20);
    assert_earliest_at(ISCA11, &kernel(8), &[], 21);
    let counters = both(ISCA11, &kernel(8), 0, &one(kernel(8).straight())).unwrap();
    assert_eq!(counters.mrf_write_delay_cycles(), 1);
}

#[test]
fn hits_leave_the_banks_alone() {
    // The producer's results are cached, so that three reads of one bank conflict with nothing.
    let kernel = Kernel::default()
        .alu(&[], &[0])
        .alu(&[], &[4])
        .alu(&[], &[8])
        .alu(&[0, 4, 8], &[12])
        .alu(&[0, 4, 8], &[16]);
    let trace = one(kernel.straight());
    let flat = both(SmSettings::DISSERTATION, &kernel, 0, &trace).unwrap();
    let settings = SmSettings { timing: Timing::DISSERTATION, ..two_level(8, Some(6)) };
    let cached = both(settings, &kernel, 0, &trace).unwrap();
    assert_eq!((flat.mrf_own_bank_conflicts(), cached.mrf_own_bank_conflicts()), (4, 0));
    assert_eq!(flat.operand_delay_cycles(), 4);
    assert_eq!(cached.operand_delay_cycles(), 0);
}

#[test]
fn the_last_result_file_leaves_the_banks_alone() {
    // The second addition reads r8 from the last result file, r4 and r0 from the cache. Neither they
    // nor what moves from the one to the other uses a port of the four banks.
    let kernel = private(Kernel::default().alu(&[], &[0]).alu(&[], &[4]).alu(&[], &[8]));
    let kernel = kernel.alu(&[0, 4, 8], &[]);
    let trace = one(kernel.straight());
    let settings = SmSettings { timing: Timing::DISSERTATION, ..three_level(8, 2) };
    let counters = both(settings, &kernel, 0, &trace).unwrap();
    let accesses = &counters.accesses;
    assert_eq!((accesses.lrf_reads(), accesses.rfc_reads(), accesses.mrf_reads()), (1, 2, 0));
    assert_eq!((accesses.lrf_evictions(), accesses.rfc_writebacks_eviction()), (2, 0));
    assert_eq!((counters.mrf_own_bank_conflicts(), counters.operand_delay_cycles()), (0, 0));
    // Only the end writes the main register file: three registers of one bank.
    assert_eq!((accesses.lrf_writebacks_flush(), accesses.rfc_writebacks_flush()), (1, 2));
}

#[test]
fn a_last_result_is_written_back_through_its_banks_port() {
    // As in `a_flush_takes_its_banks_cycles_and_keeps_the_place`, with four registers of one bank.
    let mut kernel = Kernel::default();
    for register in [4, 8, 12, 16] {
        kernel = kernel.alu(&[], &[register]);
    }
    for _ in 0..8 {
        kernel = kernel.alu(&[], &[]);
    }
    let kernel = private(kernel.load(&[], &[1]).alu(&[1], &[2]).marked());
    let grid = each(&kernel, 1, &[4]);
    let two = both(two_level(1, Some(6)), &kernel, 0, &grid).unwrap();
    let three = both(three_level(1, 6), &kernel, 0, &grid).unwrap();
    assert_eq!(three.accesses.rfc_writebacks_flush(), 3);
    assert_eq!(three.accesses.lrf_writebacks_flush(), 1 + 1);
    assert_eq!(three.flush_cycles(), two.flush_cycles());
    assert_eq!(three.cycles(), two.cycles());
}

#[test]
fn of_two_results_only_the_one_for_the_main_register_file_takes_a_port() {
    // Both units' results bypass the upper levels but for the addition's first word. The special
    // function's is due at 20, as is the second word of the addition issued at 11.
    let mut levels = three_level(8, 2).organisation.levels().cached().unwrap();
    (levels.cache.liveness, levels.cache.liveness_aware_bypass) = (true, true);
    let settings = with_levels(8, LevelSettings::Cached(levels));
    let mut kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[12]);
    for _ in 1..11 {
        kernel = kernel.alu(&[], &[]);
    }
    let mut kernel = private(kernel.alu(&[], &[4, 8]));
    kernel.instructions[0].not_read_before_deschedule = 0b1;
    kernel.instructions[11].not_read_before_deschedule = 0b10;
    let counters = both(settings, &kernel, 0, &one(kernel.straight())).unwrap();
    assert_eq!((counters.accesses.lrf_writes(), counters.accesses.mrf_writes()), (1, 2));
    assert_eq!(counters.mrf_write_delay_cycles(), 1);
}

#[test]
fn a_shared_unit_that_asks_for_a_last_result_is_refused() {
    let kernel = private(Kernel::default().alu(&[], &[1])).store(&[1]);
    let fault = both(three_level(1, 6), &kernel, 0, &one(kernel.moving(&[4]))).unwrap_err();
    let out_of_reach = strata_core::fault::PathFault::OutOfReach { pc: 1, register: RegisterId(1) };
    assert_eq!(fault, Fault::from(out_of_reach));
}

/// Two warps of one CTA: the first computes for a while before the barrier.
pub(crate) fn late_arrival() -> (Kernel, Grid) {
    let kernel = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]).barrier().alu(&[], &[3]);
    let late = OwnedTrace::new(vec![run(0, 4)], &[]);
    let early = OwnedTrace::new(vec![run(2, 2)], &[]);
    (kernel, vec![vec![late, early]])
}

#[test]
fn a_barrier_lets_go_in_the_cycle_after_the_last_arrival() {
    let (kernel, grid) = late_arrival();
    let counters = both(ISCA11, &kernel, 0, &grid).unwrap();
    // Arrivals at 1 and 9; both go on at 10, one after the other.
    assert_eq!(counters.cycles(), 11 + 8);
    let timing = Timing { barrier_latency: 5, ..Timing::ISCA11 };
    let counters = both(SmSettings { timing, ..ISCA11 }, &kernel, 0, &grid).unwrap();
    assert_eq!(counters.cycles(), 15 + 8);
}

#[test]
fn a_warp_that_ends_is_not_waited_for() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let ends = OwnedTrace::new(vec![run(1, 1)], &[]);
    let waits = OwnedTrace::new(vec![run(0, 2)], &[]);
    let grid = vec![vec![waits, ends]];
    // The barrier at 0, the end of the other at 1.
    assert_eq!(cycles(ISCA11, &kernel, &grid), 2 + 8);
}

#[test]
fn lanes_that_have_not_arrived_run_on() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let half = |pc, length, mask| PathStep { pc, length, mask: LaneMask(mask) };
    let path = vec![half(0, 1, 0xffff), half(0, 1, 0xffff_0000), half(1, 1, u32::MAX)];
    let divergent = OwnedTrace::new(path, &[]);
    let grid = vec![vec![divergent, OwnedTrace::new(vec![run(0, 2)], &[])]];
    // Arrivals at 0, 1 and 2.
    assert_eq!(cycles(ISCA11, &kernel, &grid), 4 + 8);
}

#[test]
fn exits_complete_a_barrier_of_the_other_lanes() {
    let kernel =
        Kernel::default().barrier().add(Unit::Control, Flags::EXIT, &[], &[]).alu(&[], &[1]);
    let half = |pc, mask| PathStep { pc, length: 1, mask: LaneMask(mask) };
    let divergent =
        OwnedTrace::new(vec![half(0, 0xffff), half(1, 0xffff_0000), half(2, 0xffff)], &[]);
    assert_eq!(cycles(ISCA11, &kernel, &one(divergent)), 2 + 8);
}

#[test]
fn lanes_left_at_a_barrier_do_not_fill_the_active_set() {
    let kernel =
        Kernel::default().barrier().add(Unit::Control, Flags::EXIT, &[], &[]).alu(&[], &[1]);
    let half = |pc, mask| PathStep { pc, length: 1, mask: LaneMask(mask) };
    let divergent =
        OwnedTrace::new(vec![half(0, 0xffff), half(1, 0xffff_0000), half(2, 0xffff)], &[]);
    let grid = vec![vec![divergent; 3]];
    let counters = both(two_level(1, None), &kernel, 0, &grid).unwrap();
    // One for each arrival; one more for each warp whose exit leaves the others waiting, which the
    // last does not.
    assert_eq!(counters.accesses.barrier_deschedules(), 3 + 2);
}

#[test]
fn a_marked_warp_makes_room_for_the_next() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]).marked();
    let grid = each(&kernel, 3, &[32]);
    // One place. Warp 0 loads at 0 and leaves at 1, when warp 1 comes and loads; warp 2 at 2. Each
    // returns when its data is there, at 400, 401, 402, ALU results 8 later.
    let counters = both(two_level(1, None), &kernel, 0, &grid).unwrap();
    assert_eq!(counters.cycles(), 402 + 8);
    assert_eq!((counters.accesses.deschedules(), counters.activations()), (3, 6));
    assert_eq!(counters.slots(StallReason::Outside), 397);
}

#[test]
fn a_warp_returns_in_the_cycle_after_it_left_at_the_earliest() {
    // The data is there long before the mark; leaving costs a cycle all the same.
    let mut kernel = Kernel::default().load(&[], &[1]);
    for _ in 0..500 {
        kernel = kernel.alu(&[], &[]);
    }
    let plain = kernel.clone().alu(&[1], &[2]);
    let marked = plain.clone().marked();
    assert_earliest_at(ISCA11, &plain, &[128], 501);
    assert_earliest_at(two_level(1, None), &marked, &[128], 502);
}

#[test]
fn an_unmarked_reader_is_refused() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    let fault = both(two_level(1, None), &kernel, 0, &one(kernel.moving(&[4]))).unwrap_err();
    assert!(matches!(
        fault,
        Fault::Hierarchy(strata_core::fault::PathFault::UnmarkedDeschedule { pc: 1, .. })
    ));
}

#[test]
fn replacement_goes_round() {
    // Four warps, one place: each loads and leaves. Data comes in the order 0, 1, 2, 3, all before
    // the last has left, because it computes; then warp 0 is next although warp 3 left last.
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]).marked().store(&[2]);
    let grid = each(&kernel, 4, &[4, 4]);
    let counters = both(two_level(1, None), &kernel, 0, &grid).unwrap();
    // 400: warp 0 returns, its store at 408; then warps 1, 2, 3 in turn, 8 + 1 cycles each.
    assert_eq!(counters.cycles(), 400 + 3 * 9 + 8 + 1);
    assert_eq!(counters.activations(), 8);
}

#[test]
fn the_warp_after_the_last_to_return_is_next() {
    let kernel = Kernel::default()
        .load(&[], &[1])
        .alu(&[1], &[2])
        .marked()
        .load(&[], &[3])
        .alu(&[3], &[5])
        .marked()
        .add(Unit::Sfu, Flags::empty(), &[], &[4]);
    let timing = Timing { dram_latency: 3, ..Timing::ISCA11 };
    let settings = SmSettings { timing, ..two_level(1, None) };
    let short = OwnedTrace::new(vec![run(0, 4)], &[32, 32]);
    let grid = vec![vec![short.clone(), short, kernel.moving(&[32, 32])]];
    // Warps load at 0, 1, 2 and come back at 3, 5 and 7: then warp 0 could as well, but it is warp
    // 2's turn. Its second data is there at 11, and its special function issues at 12.
    assert_eq!(cycles(settings, &kernel, &grid), 12 + 20);
}

#[test]
fn a_warp_returns_when_all_its_data_is_there() {
    // The second load's 1024 bytes come at 1 + 400 + 28. Its reader does not leave again.
    let kernel = Kernel::default()
        .load(&[], &[1])
        .load(&[], &[2])
        .alu(&[1], &[3])
        .marked()
        .alu(&[2], &[4])
        .marked();
    assert_earliest_at(two_level(1, None), &kernel, &[32, 1024], 430);
    assert_earliest_at(ISCA11, &kernel, &[32, 1024], 429);
}

#[test]
fn an_entry_whose_value_is_on_its_way_is_written_back_when_it_comes() {
    // One entry. The special function's result, due at 20, is evicted at 1; the next victim, evicted
    // at 12 for a result due at 20, is of the same bank, as is that result, flushed at the end: they
    // are written at 20, 21 and 22.
    let mut kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[4]).alu(&[], &[8]);
    for _ in 2..12 {
        kernel = kernel.alu(&[], &[]);
    }
    kernel = kernel.alu(&[], &[12]);
    let counters = both(two_level(8, Some(1)), &kernel, 0, &one(kernel.straight())).unwrap();
    assert_eq!(counters.accesses.rfc_writebacks_eviction(), 2);
    assert_eq!(counters.mrf_write_delay_cycles(), 1 + 2);
}

#[test]
fn a_result_that_a_flush_overtakes_goes_to_its_bank_when_it_comes() {
    // Two results of one bank, due at 20, are on their way when the warp leaves at 14. It is back at
    // 16, and finds the second at 21.
    let mut kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[4]);
    for _ in 1..12 {
        kernel = kernel.alu(&[], &[]);
    }
    kernel = kernel.alu(&[], &[8]).load(&[], &[1]).alu(&[1], &[]).marked().alu(&[8], &[3]);
    let timing = Timing { dram_latency: 3, ..Timing::ISCA11 };
    assert_earliest_at(SmSettings { timing, ..two_level(1, Some(6)) }, &kernel, &[32], 21);
}

#[test]
fn a_flush_takes_its_banks_cycles_and_keeps_the_place() {
    // `dirty` registers of one bank are cached when the warp leaves.
    let kernel = |dirty: &[u16]| {
        let mut kernel = Kernel::default();
        for &register in dirty {
            kernel = kernel.alu(&[], &[register]);
        }
        for _ in 0..8 {
            kernel = kernel.alu(&[], &[]);
        }
        kernel.load(&[], &[1]).alu(&[1], &[2]).marked()
    };
    let run = |dirty: &[u16]| {
        let kernel = kernel(dirty);
        both(two_level(1, Some(6)), &kernel, 0, &each(&kernel, 1, &[4])).unwrap()
    };
    let four_banks = run(&[4, 5, 6, 7]);
    let one_bank = run(&[4, 8, 12, 16]);
    assert_eq!(four_banks.accesses.rfc_writebacks_flush(), 4 + 1);
    // The last result, dirty at the exit, takes one more cycle in both.
    assert_eq!(one_bank.flush_cycles(), four_banks.flush_cycles() + 3);
    assert_eq!(four_banks.slots(StallReason::Flush), 1);
    assert_eq!(one_bank.slots(StallReason::Flush), 4);
    let nothing = both(two_level(1, None), &kernel(&[4]), 0, &one(kernel(&[4]).moving(&[4])));
    assert_eq!(nothing.unwrap().flush_cycles(), 0);
}

#[test]
fn a_flush_delays_the_warp_that_comes_next() {
    // Warp 0 flushes four registers of one bank; warp 1 waits for its place.
    let mut kernel = Kernel::default();
    for register in [4, 8, 12, 16] {
        kernel = kernel.alu(&[], &[register]);
    }
    for _ in 0..8 {
        kernel = kernel.alu(&[], &[]);
    }
    kernel = kernel.load(&[], &[1]).alu(&[1], &[]).marked();
    let grid = each(&kernel, 2, &[4]);
    let time = |cache| cycles(two_level(1, cache), &kernel, &grid);
    // The second warp's load is issued 13 + flush cycles later, and its data, read in one
    // instruction without a result, ends the run.
    assert_eq!(time(None), 12 + 13 + 400 + 1);
    assert_eq!(time(Some(6)), 12 + 4 + 13 + 400 + 1);
}

#[test]
fn a_stalled_warp_is_replaced_after_the_threshold() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    let reactive = |threshold| SmSettings {
        replacement: WarpReplacement::Reactive { threshold },
        ..two_level(1, None)
    };
    let grid = each(&kernel, 2, &[32]);
    // Warp 0 loads at 0, waits from 1 to 1 + threshold, then warp 1 loads.
    for threshold in [1, 10, 100] {
        let counters = both(reactive(threshold), &kernel, 0, &grid).unwrap();
        let second_load = 1 + u64::from(threshold);
        assert_eq!(counters.cycles(), second_load + 400 + 8, "threshold {threshold}");
        assert_eq!(counters.accesses.deschedules(), 2);
    }
    // A wait that ends at the threshold is sat out: 8 cycles after the producer, 7 from its next.
    let short = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]);
    let deschedules = |threshold| {
        both(reactive(threshold), &short, 0, &one(short.straight())).unwrap().accesses.deschedules()
    };
    assert_eq!((deschedules(6), deschedules(7)), (1, 0));
}

#[test]
fn a_barrier_makes_room_by_rule() {
    let (kernel, grid) = late_arrival();
    let settings = |barrier| SmSettings { barrier, ..two_level(2, None) };
    let deschedules = |barrier| {
        both(settings(barrier), &kernel, 0, &grid).unwrap().accesses.barrier_deschedules()
    };
    assert_eq!(deschedules(BarrierRule::Always), 2);
    assert_eq!(deschedules(BarrierRule::WhenBlocking), 1);
    assert_eq!(deschedules(BarrierRule::Never), 0);
}

#[test]
fn a_barrier_in_too_small_an_active_set_is_a_deadlock() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let grid = each(&kernel, 3, &[]);
    let settings = |barrier, active| SmSettings { barrier, ..two_level(active, None) };
    let never = both(settings(BarrierRule::Never, 2), &kernel, 0, &grid);
    assert_eq!(never, Err(Fault::Stalled { cycle: 2, warp: 0, reason: StallReason::Barrier }));
    assert!(both(settings(BarrierRule::Never, 3), &kernel, 0, &grid).is_ok());
    assert!(both(settings(BarrierRule::Always, 2), &kernel, 0, &grid).is_ok());
    assert!(both(settings(BarrierRule::WhenBlocking, 2), &kernel, 0, &grid).is_ok());
}

#[test]
fn ties_go_to_the_lowest_warp_or_the_oldest() {
    // A long chain in warp 0, one instruction in the others: greedy stays with warp 0 whenever it
    // can, and the others fill its gaps.
    let kernel = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]);
    let chain = OwnedTrace::new(vec![run(0, 2)], &[]);
    let short = OwnedTrace::new(vec![run(0, 1)], &[]);
    let grid = vec![vec![chain.clone(), short.clone(), short.clone(), short]];
    for scheduler in [
        Scheduler::Greedy,
        Scheduler::GreedyThenOldest,
        Scheduler::LooseRoundRobin,
        Scheduler::RoundRobin,
    ] {
        assert_eq!(cycles(SmSettings { scheduler, ..ISCA11 }, &kernel, &grid), 8 + 8);
    }
    // With the chain in the warp that has its turn last, it begins three cycles later.
    let mut last = grid;
    last[0].rotate_left(1);
    assert_eq!(cycles(ISCA11, &kernel, &last), 3 + 8 + 8);
}

#[test]
fn two_slots_issue_from_two_warps() {
    let kernel = Kernel::default().alu(&[], &[1]).alu(&[], &[2]).alu(&[], &[3]).alu(&[], &[4]);
    let settings = SmSettings { issue_slots: 2, ..ISCA11 };
    // Results of one cycle go to different banks.
    let warp = |first| OwnedTrace::new(vec![run(first, 3)], &[]);
    let counters = both(settings, &kernel, 0, &vec![vec![warp(0), warp(1)]]).unwrap();
    assert_eq!(counters.cycles(), 2 + 8);
    // Results of one cycle for one bank: the second comes a cycle later.
    let counters = both(settings, &kernel, 0, &vec![vec![warp(0), warp(0)]]).unwrap();
    assert_eq!((counters.cycles(), counters.mrf_write_delay_cycles()), (2 + 8 + 1, 3));
    // One warp alone issues once in a cycle.
    let counters = both(settings, &kernel, 0, &one(warp(0))).unwrap();
    assert_eq!(counters.cycles(), 2 + 8);
    assert_eq!(counters.slots(StallReason::InOrder), 3);
}

#[test]
fn two_slots_share_units_and_banks() {
    let settings = SmSettings { issue_slots: 2, ..ISCA11 };
    // The second special function waits until the unit has started the first.
    let kernel = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[1]);
    let counters = both(settings, &kernel, 0, &each(&kernel, 2, &[])).unwrap();
    assert_eq!(counters.cycles(), 4 + 20);
    assert_eq!(counters.slots(StallReason::UnitBusy), 7);
    // An addition takes the other slot.
    let other = Kernel::default().add(Unit::Sfu, Flags::empty(), &[], &[1]).alu(&[], &[2]);
    let warp = |first| OwnedTrace::new(vec![run(first, 1)], &[]);
    let counters = both(settings, &other, 0, &vec![vec![warp(0), warp(1)]]).unwrap();
    assert_eq!((counters.cycles(), counters.slots(StallReason::UnitBusy)), (20, 0));
    // Three reads of one bank in both slots of a cycle: the second's end at 5, three late, and the
    // third warp's, issued at 4, begin at 6 and end at 8.
    let reads = Kernel::default().alu(&[0, 4, 8], &[1]);
    let counters = both(settings, &reads, 0, &each(&reads, 3, &[])).unwrap();
    assert_eq!(counters.operand_delay_cycles(), 3 + 2);
    assert_eq!(counters.slots(StallReason::OperandRead), 2 * 3);
    assert_eq!(counters.cycles(), 4 + 2 + 8);
    // Loads of one cycle queue for DRAM.
    let load = Kernel::default().load(&[], &[1]);
    assert_eq!(cycles(settings, &load, &each(&load, 2, &[128])), 4 + 400);
}

fn launch(warps_per_cta: u32, registers: u16, shared_bytes: u32) -> Launch {
    Launch { warps_per_cta, registers, shared_bytes }
}

#[test]
fn the_first_limit_that_binds_is_named() {
    let config = SmConfig::new(ISCA11).unwrap();
    let residency = |launch| {
        let residency = config.residency(&launch).unwrap();
        (residency.ctas, residency.warps, residency.limit)
    };
    assert_eq!(residency(launch(8, 32, 0)), (4, 32, Limit::Warps));
    assert_eq!(residency(launch(2, 16, 1024)), (8, 16, Limit::Ctas));
    assert_eq!(residency(launch(8, 33, 0)), (3, 24, Limit::Registers));
    assert_eq!(residency(launch(8, 32, 11 * 1024)), (2, 16, Limit::SharedMemory));
    let too_large = |launch| config.residency(&launch).unwrap_err();
    let error = |limit, needed, available| CtaTooLarge { limit, needed, available };
    assert_eq!(too_large(launch(33, 1, 0)), error(Limit::Warps, 33, 32));
    assert_eq!(too_large(launch(32, 33, 0)), error(Limit::Registers, 135_168, 131_072));
    assert_eq!(too_large(launch(1, 1, 32_769)), error(Limit::SharedMemory, 32_769, 32_768));
}

#[test]
fn a_cta_is_launched_when_one_ends() {
    let kernel = Kernel::default().alu(&[], &[1]);
    // One CTA at a time because of shared memory: each takes 8 cycles.
    let grid: Grid = vec![vec![kernel.straight(); 2]; 5];
    let counters = both(ISCA11, &kernel, 32 * 1024, &grid).unwrap();
    assert_eq!((counters.ctas(), counters.cycles()), (5, 5 * 9));
    // Two at a time.
    let counters = both(ISCA11, &kernel, 16 * 1024, &grid).unwrap();
    assert_eq!(counters.cycles(), 9 + 2 + 9 + 2 + 5);
}

#[test]
fn no_cta_at_all_takes_no_time() {
    let kernel = Kernel::default().alu(&[], &[1]);
    let counters = both(ISCA11, &kernel, 0, &Grid::new()).unwrap();
    assert_eq!(counters, SmCounters::default());
}

#[test]
fn a_warp_without_instructions_ends() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let nothing = OwnedTrace::new(Vec::new(), &[]);
    let grid = vec![vec![kernel.straight(), nothing.clone()], vec![nothing.clone(), nothing]];
    for settings in [ISCA11, two_level(1, Some(6))] {
        assert_eq!(both(settings, &kernel, 0, &grid).unwrap().ctas(), 2);
    }
}

#[test]
fn traces_must_fit_their_kernel() {
    let kernel = Kernel::default().load(&[], &[1]);
    let fault = |grid: &Grid| both(ISCA11, &kernel, 0, grid).unwrap_err();
    let missing = Fault::AccessMissing { cta: 0, warp: 0, pc: 0 };
    assert_eq!(fault(&one(kernel.moving(&[]))), missing);
    let left = Fault::AccessesLeft { cta: 0, warp: 0 };
    assert_eq!(fault(&one(kernel.moving(&[1, 2]))), left);
    let uneven = vec![vec![kernel.moving(&[4]); 2], vec![kernel.moving(&[4])]];
    assert_eq!(fault(&uneven), Fault::WarpsInCta { cta: 1, expected: 2 });
    assert_eq!(fault(&vec![Vec::new()]), Fault::NoWarps);
    let longer = vec![vec![kernel.moving(&[4])], vec![kernel.moving(&[4]); 2]];
    assert_eq!(fault(&longer), Fault::WarpsInCta { cta: 1, expected: 1 });
    let beyond = one(OwnedTrace::new(vec![run(0, 2)], &[4]));
    assert!(matches!(
        fault(&beyond),
        Fault::Hierarchy(strata_core::fault::PathFault::PathOutOfRange { .. })
    ));
    let large = Kernel { registers: 1025, ..kernel.clone() };
    let fault = both(ISCA11, &large, 0, &one(large.moving(&[4]))).unwrap_err();
    assert!(matches!(fault, Fault::TooLarge(CtaTooLarge { limit: Limit::Registers, .. })));
    for fault in [missing, left, fault] {
        assert!(!fault.to_string().is_empty());
    }
}

#[test]
fn settings_are_checked() {
    let error = |settings| SmConfig::new(settings).unwrap_err();
    let timing = |timing| SmSettings { timing, ..ISCA11 };
    let base = Timing::ISCA11;
    let managed = SmSettings {
        barrier: BarrierRule::WhenBlocking,
        ..with_levels(8, LevelSettings::CompilerManaged)
    };
    assert!(SmConfig::new(managed).is_ok());
    for (settings, expected) in [
        (SmSettings { issue_slots: 0, ..ISCA11 }, SmConfigError::IssueSlots(0)),
        (SmSettings { issue_slots: 3, ..ISCA11 }, SmConfigError::IssueSlots(3)),
        (SmSettings { max_warps: 65, ..ISCA11 }, SmConfigError::Warps(65)),
        (SmSettings { max_ctas: 0, ..ISCA11 }, SmConfigError::Ctas(0)),
        (SmSettings { register_file_bytes: 127, ..ISCA11 }, SmConfigError::RegisterFile(127)),
        (timing(Timing { alu_latency: 0, ..base }), SmConfigError::Latency(0)),
        (timing(Timing { dram_latency: 4097, ..base }), SmConfigError::Latency(4097)),
        (timing(Timing { texture_lanes: 33, ..base }), SmConfigError::UnitLanes(33)),
        (timing(Timing { shared_bytes_per_cycle: 0, ..base }), SmConfigError::Bandwidth),
        (timing(Timing { operand_window: 0, ..base }), SmConfigError::OperandWindow(0)),
        (
            SmSettings {
                replacement: WarpReplacement::Reactive { threshold: 0 },
                ..two_level(8, None)
            },
            SmConfigError::Threshold,
        ),
        (SmSettings { barrier: BarrierRule::Never, ..ISCA11 }, SmConfigError::NeedsTwoLevel),
        (
            SmSettings { replacement: WarpReplacement::CacheMiss, ..ISCA11 },
            SmConfigError::NeedsTwoLevel,
        ),
        (
            SmSettings { short_waits: ShortWaits::SHARED_MEMORY, ..ISCA11 },
            SmConfigError::NeedsTwoLevel,
        ),
        (
            SmSettings { max_warps: 7, ..two_level(8, None) },
            SmConfigError::ActiveWarps { active: 8, resident: 7 },
        ),
        (
            SmSettings { replacement: WarpReplacement::Reactive { threshold: 5 }, ..managed },
            SmConfigError::LeavesMidStrand,
        ),
        (
            SmSettings { replacement: WarpReplacement::CacheMiss, ..managed },
            SmConfigError::LeavesMidStrand,
        ),
        (
            SmSettings { short_waits: ShortWaits::SPECIAL_FUNCTION, ..managed },
            SmConfigError::LeavesMidStrand,
        ),
        (timing(Timing { hit_latency: 0, ..base }), SmConfigError::Latency(0)),
        (timing(Timing { tag_check_cycles: 4097, ..base }), SmConfigError::Latency(4097)),
    ] {
        assert_eq!(error(settings), expected);
        assert!(!expected.to_string().is_empty());
    }
}

#[test]
fn working_memory_must_suffice() {
    let kernel = Kernel::default().alu(&[0], &[1]);
    let image = CheckedImage::new(kernel.image()).unwrap();
    let config = SmConfig::new(two_level(8, Some(6))).unwrap();
    let size = MemorySize::of(&config, &image);
    let expected = MemorySize {
        warps: 32,
        ctas: 8,
        facts: 1,
        ready: 64,
        awaited: 64,
        caches: 8,
        delivery: DeliverySize::default(),
    };
    assert_eq!(size, expected);
    let names = ["warps", "ctas", "facts", "ready", "awaited", "caches"];
    for (place, name) in names.into_iter().enumerate() {
        let short = |which: usize, length: usize| length - usize::from(which == place);
        let memory = Memory::<WarpTrace<'_>, 8> {
            warps: &mut vec![Warp::default(); short(0, size.warps)],
            ctas: &mut vec![Cta::VACANT; short(1, size.ctas)],
            facts: &mut vec![Facts::default(); short(2, size.facts)],
            ready: &mut vec![ReadyAt::NOW; short(3, size.ready)],
            awaited: &mut vec![LaneMask::EMPTY; short(4, size.awaited)],
            caches: &mut vec![None; short(5, size.caches)],
            delivery: DeliveryMemory::default(),
            attached: None,
        };
        let fault = Sm::new(&config, image, 1, 0, memory).map(|_| ()).unwrap_err();
        assert!(matches!(fault, Fault::MemoryTooShort { memory, .. } if memory == name));
    }
}

#[test]
fn an_sm_fits_a_microcontroller() {
    let kernel = Kernel { registers: 32, ..Kernel::default().alu(&[0], &[1]) };
    let image = CheckedImage::new(kernel.image()).unwrap();
    for settings in [ISCA11, two_level(8, Some(6))] {
        let size = MemorySize::of(&SmConfig::new(settings).unwrap(), &image);
        let bytes = size.bytes::<WarpTrace<'_>, 8>();
        assert!(bytes < 32 * 1024, "{bytes} bytes of 64 KB, of which the kernel needs some");
    }
}
