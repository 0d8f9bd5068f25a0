//! Operand collectors in time: rule by rule, and on random kernels.

use crate::exact::{ISCA11, each, one, two_level};
use crate::leaving::issues;
use crate::machine::{Grid, Kernel, OwnedTrace, both, run as path};
use crate::model::{
    count_mode, drive, one_of, random_grid, random_kernel, random_rules, random_settings,
};
use crate::random::Random;
use strata_core::arbiter::{BankPorts, BankedRegister, QueuedRead};
use strata_core::bank_layout::BankLayout;
use strata_core::event::{Counters, Event};
use strata_core::image::{CheckedImage, Flags, Predicates, Unit};
use strata_core::organisation::{LevelSettings, Organisation, Scheduling};
use strata_core::sm::config::{
    BarrierRule, Launch, Limit, ShortWaits, SmConfig, SmConfigError, SmSettings, Timing,
    WarpReplacement,
};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::fault::Fault;
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::{
    Cta, DeliveryMemory, DeliverySize, Facts, Memory, MemorySize, ReadyAt, ResultOnItsWay, Sm,
    Warp, WarpTrace,
};
use strata_core::units::LaneMask;
use strata_core::write_pool::PoolPorts;

const SRAM: CollectorSettings = CollectorSettings::WARRF_SRAM;

/// An SM with collectors; its scheduler has one level.
fn collecting(collectors: CollectorSettings) -> SmSettings {
    SmSettings { operand_delivery: OperandDelivery::Collectors(collectors), ..ISCA11 }
}

fn counters(settings: SmSettings, kernel: &Kernel, grid: &Grid) -> SmCounters {
    both(settings, kernel, 0, grid).unwrap()
}

/// Cycles of one warp alone.
fn alone(settings: SmSettings, kernel: &Kernel, bytes: &[u32]) -> u64 {
    counters(settings, kernel, &one(kernel.moving(bytes))).cycles()
}

#[test]
fn a_latency_is_from_issue_to_the_earliest_dependent_issue() {
    let settings = collecting(SRAM);
    // The result of the second is there 8 cycles after its issue at cycle 8.
    let alu = Kernel::default().alu(&[0], &[1]).alu(&[1], &[2]);
    assert_eq!(alone(settings, &alu, &[]), 8 + 8);
    // Nothing to collect takes no less.
    let nothing = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]);
    assert_eq!(alone(settings, &nothing, &[]), 8 + 8);
    let load = Kernel::default().load(&[0], &[1]).alu(&[1], &[2]);
    assert_eq!(alone(settings, &load, &[128]), 400 + 8);
    let shared = Kernel::default().shared_load(&[0], &[1]).alu(&[1], &[2]);
    assert_eq!(alone(settings, &shared, &[128]), 20 + 8);
    let sfu = Kernel::default().add(Unit::Sfu, Flags::empty(), &[0], &[1]).alu(&[1], &[2]);
    assert_eq!(alone(settings, &sfu, &[]), 20 + 8);
    for latency in [4, 63, 66, 67, 68, 300] {
        let timing = Timing { alu_latency: latency, ..ISCA11.timing };
        let settings = SmSettings { timing, ..settings };
        assert_eq!(alone(settings, &alu, &[]), 2 * u64::from(latency), "{latency}");
    }
}

#[test]
fn each_memory_of_the_collectors_must_suffice() {
    // Two sources at most; with a pool and without, the same.
    let kernel = Kernel::default().alu(&[0, 3], &[1]).alu(&[1], &[2]);
    let registers = usize::from(kernel.registers);
    for write_pool_entries in [0, 60] {
        let settings = collecting(CollectorSettings { units: 5, write_pool_entries, ..SRAM });
        let config = SmConfig::new(settings).unwrap();
        let image = CheckedImage::new(kernel.image()).unwrap();
        let size = MemorySize::of(&config, &image);
        let delivery = DeliverySize {
            collectors: 1,
            reads: 5 * 2,
            registers: 32 * registers,
            cells: (ISCA11.register_file_bytes / 128) as usize,
        };
        assert_eq!(size.delivery, delivery);
        let without = MemorySize { delivery: DeliverySize::default(), ..size };
        let bytes = size.bytes::<WarpTrace<'_>, 8>() - without.bytes::<WarpTrace<'_>, 8>();
        assert_eq!(bytes, delivery.bytes());
        let whole = [
            delivery.collectors,
            delivery.reads,
            delivery.registers,
            delivery.registers,
            delivery.cells,
        ];
        let names = ["collectors", "reads", "registers", "results", "cell_writes"];
        for short in 0..=names.len() {
            let [collectors, reads, registers, results, cells] =
                std::array::from_fn(|place| whole[place] - usize::from(place == short));
            let memory = Memory::<WarpTrace<'_>, 8> {
                warps: &mut vec![Warp::default(); size.warps],
                ctas: &mut vec![Cta::VACANT; size.ctas],
                facts: &mut vec![Facts::default(); size.facts],
                ready: &mut vec![ReadyAt::NOW; size.ready],
                awaited: &mut vec![LaneMask::EMPTY; size.awaited],
                caches: &mut vec![None; size.caches],
                delivery: DeliveryMemory {
                    collectors: &mut vec![None; collectors],
                    reads: &mut vec![QueuedRead::NONE; reads],
                    registers: &mut vec![BankedRegister::NONE; registers],
                    results: &mut vec![ResultOnItsWay::NONE; results],
                    cell_writes: &mut vec![0; cells],
                    bundles: None,
                },
                attached: None,
            };
            let built = Sm::new(&config, image, 1, 0, memory).map(|_| ());
            let Some(name) = names.get(short) else {
                assert_eq!(built, Ok(()), "all of it suffices");
                continue;
            };
            let (needed, given) = (whole[short], whole[short] - 1);
            let memory = format!("delivery.{name}");
            match built {
                Err(Fault::MemoryTooShort { memory: found, needed: wanted, given: had }) => {
                    assert_eq!((found, wanted, had), (memory.as_str(), needed, given));
                }
                other => panic!("{memory}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_unit_receives_one_operand_in_a_cycle() {
    let settings = collecting(SRAM);
    for operands in 1..=5 {
        let read: Vec<u16> = (0..operands).collect();
        let kernel = Kernel::default().alu(&read, &[9]);
        assert_eq!(alone(settings, &kernel, &[]), 8 + u64::from(operands) - 1, "{operands}");
    }
    // Two of one bank, which has one port, need no longer than two of different banks.
    let same = Kernel::default().alu(&[0, 16], &[9]);
    assert_eq!(alone(settings, &same, &[]), 8 + 1);
}

#[test]
fn a_bank_does_one_thing_in_a_cycle() {
    // Two warps of one register: with one bank, reads of the second wait for the first's.
    let kernel = Kernel::default().alu(&[0], &[1]);
    let grid = vec![vec![kernel.straight(), kernel.straight()]];
    let wide = counters(collecting(SRAM), &kernel, &grid);
    assert_eq!((wide.cycles(), wide.operand_wait_cycles()), (1 + 8, 0));
    let narrow = collecting(CollectorSettings { banks: 1, read_cycles: 3, ..SRAM });
    let counters = counters(narrow, &kernel, &grid);
    // Reads at 1 to 3 and, two cycles late, 4 to 6; start at 7, write at 12.
    assert_eq!((counters.cycles(), counters.operand_wait_cycles()), (13, 2));
}

#[test]
fn a_write_of_several_cycles_delays_what_depends_on_it() {
    let kernel = Kernel::default().alu(&[0], &[1]).alu(&[1], &[2]);
    for write_cycles in [1, 2, 3, 7] {
        let settings = collecting(CollectorSettings { write_cycles, ..SRAM });
        let expected = 2 * (8 + u64::from(write_cycles) - 1);
        assert_eq!(alone(settings, &kernel, &[]), expected, "{write_cycles}");
    }
    // A write pool takes it in one.
    let pool = CollectorSettings { write_cycles: 7, write_pool_entries: 60, ..SRAM };
    assert_eq!(alone(collecting(pool), &kernel, &[]), 16);
}

#[test]
fn writes_come_before_reads_of_a_cycle() {
    // One bank. The write of the first instruction asks at cycle 7; the eighth, issued at 6, asks to
    // read at 7 as well, and waits a cycle.
    let mut kernel = Kernel::default().alu(&[0], &[1]);
    for _ in 0..5 {
        kernel = kernel.add(Unit::Control, Flags::empty(), &[], &[]);
    }
    let kernel = kernel.alu(&[2], &[3]);
    let settings = collecting(CollectorSettings { banks: 1, ..SRAM });
    let counters = counters(settings, &kernel, &one(kernel.straight()));
    assert_eq!((counters.operand_wait_cycles(), counters.mrf_write_delay_cycles()), (1, 0));
    assert_eq!(counters.cycles(), 6 + 8 + 1);
}

#[test]
fn a_subarray_is_read_while_the_other_is_written() {
    // Registers 0 and 16 are in bank 0, in different subarrays. Register 0 is written from cycle 7 to
    // 9; reads are asked for at 8.
    let kernel = |read: u16| {
        let mut kernel = Kernel { registers: 40, ..Kernel::default() }.alu(&[1], &[0]);
        for _ in 0..6 {
            kernel = kernel.add(Unit::Control, Flags::empty(), &[], &[]);
        }
        kernel.alu(&[read], &[3])
    };
    for (read, split, waits) in
        [(16, false, 2), (16, true, 0), (32, false, 2), (32, true, 2), (17, false, 0)]
    {
        let settings = CollectorSettings { write_cycles: 3, split_bank_write: split, ..SRAM };
        let kernel = kernel(read);
        let counters = counters(collecting(settings), &kernel, &one(kernel.straight()));
        assert_eq!(counters.operand_wait_cycles(), waits, "register {read}, split: {split}");
        assert_eq!(counters.split_bank_reads(), u64::from(split && read == 16));
        assert_eq!(counters.cycles(), 7 + 8 + 2 + waits, "register {read}, split: {split}");
    }
}

#[test]
fn issue_waits_for_a_collector_unit() {
    let kernel = Kernel::default().alu(&[0], &[1]);
    let grid = vec![vec![kernel.straight(); 4]];
    let one_unit = collecting(CollectorSettings { units: 1, ..SRAM });
    let run = counters(one_unit, &kernel, &grid);
    // Each instruction keeps the unit for two cycles, and the next one enters as it leaves.
    assert_eq!(run.slots(StallReason::Collectors), 3);
    assert_eq!(run.cycles(), 3 * 2 + 8);
    assert_eq!(counters(collecting(SRAM), &kernel, &grid).cycles(), 3 + 8);
    // A branch needs none.
    let branches = Kernel::default().alu(&[0], &[1]).add(Unit::Control, Flags::BRANCH, &[], &[]);
    let grid = vec![vec![branches.straight(); 2]];
    let run = counters(one_unit, &branches, &grid);
    assert_eq!(run.slots(StallReason::Collectors), 0);
}

#[test]
fn each_unit_has_a_port_of_its_own_that_the_oldest_instruction_takes() {
    // The special function unit takes 4 cycles to start a warp; the ALU does not wait for it.
    let kernel = Kernel::default()
        .add(Unit::Sfu, Flags::empty(), &[0], &[1])
        .add(Unit::Sfu, Flags::empty(), &[2], &[3])
        .alu(&[4], &[5]);
    let run = counters(collecting(SRAM), &kernel, &one(kernel.straight()));
    // Starts at 2 and 6 instead of 3.
    assert_eq!(run.cycles(), 1 + 20 + 3);
    assert_eq!(run.slots(StallReason::UnitBusy), 0);
}

#[test]
fn the_oldest_instruction_of_a_port_starts_and_only_one() {
    // Warp 0's first, of two operands, and warp 1's, of one, have them in the same cycle.
    let kernel = Kernel::default().alu(&[0, 1], &[2]).alu(&[2], &[3]).alu(&[4], &[5]);
    let grid =
        vec![vec![OwnedTrace::new(vec![path(0, 2)], &[]), OwnedTrace::new(vec![path(2, 1)], &[])]];
    // Warp 0's starts at 3, its result is there at 9.
    assert_eq!(counters(collecting(SRAM), &kernel, &grid).cycles(), 9 + 8);
    let alone =
        vec![vec![OwnedTrace::new(vec![path(0, 1)], &[]), OwnedTrace::new(vec![path(2, 1)], &[])]];
    // Warp 1's starts at 4 instead of 3.
    assert_eq!(counters(collecting(SRAM), &kernel, &alone).cycles(), 4 + 6);
    let two = SmSettings { issue_slots: 2, ..collecting(SRAM) };
    assert_eq!(counters(two, &kernel, &alone).cycles(), 3 + 6);
    // Both start at 2, with one operand each.
    let kernel = Kernel::default().alu(&[2], &[3]).alu(&[4], &[5]);
    let both =
        vec![vec![OwnedTrace::new(vec![path(0, 1)], &[]), OwnedTrace::new(vec![path(1, 1)], &[])]];
    assert_eq!(counters(two, &kernel, &both).cycles(), 2 + 6);
    assert_eq!(counters(collecting(SRAM), &kernel, &both).cycles(), 3 + 6);
}

#[test]
fn the_results_of_an_instruction_come_one_after_the_other() {
    for (written, read, later) in [
        (&[1, 2][..], 1, 0),
        (&[1, 2], 2, 1),
        (&[1, 2, 3], 3, 2),
        // A register that is written twice comes once, in its first place.
        (&[1, 1, 2], 1, 0),
        (&[1, 1, 2], 2, 2),
    ] {
        let kernel = Kernel::default().alu(&[0], written).alu(&[read], &[4]);
        let cycles = alone(collecting(SRAM), &kernel, &[]);
        assert_eq!(cycles, 8 + later + 8, "{written:?}, {read}");
    }
}

#[test]
fn a_result_in_an_upper_level_needs_no_write() {
    let kernel = Kernel::default().alu(&[0], &[1]).alu(&[1], &[2]);
    for write_cycles in [1, 9] {
        let collectors = CollectorSettings { write_cycles, ..SRAM };
        let cycles = alone(descheduling(8, Some(6), collectors), &kernel, &[]);
        // Only the last result is written to the bank, at the end of the warp.
        assert_eq!(cycles, 8 + 8 + u64::from(write_cycles) - 1);
    }
}

#[test]
fn a_warp_returns_from_a_barrier_when_its_loads_are_there() {
    let kernel = Kernel::default().load(&[0], &[1]).barrier().alu(&[0], &[2]);
    let settings = descheduling(8, None, SRAM);
    let run = counters(settings, &kernel, &one(kernel.moving(&[128])));
    assert_eq!(run.accesses.barrier_deschedules(), 1);
    assert_eq!(run.cycles(), 400 + 8);
}

#[test]
fn a_predicate_needs_no_write() {
    let kernel = Kernel::default()
        .alu(&[0], &[])
        .with(|compare| compare.predicates = Predicates { read: 0, written: 1 })
        .alu(&[], &[1])
        .with(|select| select.predicates = Predicates { read: 1, written: 0 });
    for write_cycles in [1, 9] {
        let settings = collecting(CollectorSettings { write_cycles, ..SRAM });
        let expected = 8 + 8 + u64::from(write_cycles) - 1;
        assert_eq!(alone(settings, &kernel, &[]), expected);
    }
}

/// Two-level scheduling over collectors.
fn descheduling(active_warps: u8, cache: Option<u8>, collectors: CollectorSettings) -> SmSettings {
    let operand_delivery = OperandDelivery::Collectors(collectors);
    SmSettings { operand_delivery, ..two_level(active_warps, cache) }
}

#[test]
fn a_descheduled_warp_returns_when_its_load_is_written() {
    let kernel = Kernel::default().load(&[0], &[1]).alu(&[1], &[2]).marked();
    for write_cycles in [1, 3] {
        let settings = CollectorSettings { write_cycles, ..SRAM };
        let run = counters(descheduling(8, None, settings), &kernel, &one(kernel.moving(&[128])));
        assert_eq!(run.accesses.deschedules(), 1);
        assert_eq!(run.cycles(), 400 + 8 + 2 * (u64::from(write_cycles) - 1));
    }
}

#[test]
fn a_flush_keeps_the_place_until_its_last_write_begins() {
    // Two results are in the cache when the warp leaves.
    let kernel = Kernel::default()
        .alu(&[0], &[1])
        .alu(&[0], &[18])
        .alu(&[1, 18], &[])
        .load(&[0], &[2])
        .alu(&[2], &[3])
        .marked();
    let run = |collectors| {
        let settings = descheduling(1, Some(6), collectors);
        counters(settings, &kernel, &one(kernel.moving(&[128])))
    };
    let apart = run(SRAM);
    // Both are asked for when the warp leaves, and begin in one cycle; the load is not waited for.
    assert_eq!(apart.flush_cycles(), 1);
    // The last result is flushed at the end.
    assert_eq!(apart.accesses.rfc_writebacks_flush(), 3);
    let together = run(CollectorSettings { banks: 1, write_cycles: 5, ..SRAM });
    assert_eq!(together.accesses.rfc_writebacks_flush(), 3);
    // With one bank the second begins five cycles after the first.
    assert_eq!(together.flush_cycles(), 1 + 5);
}

/// Two instructions, the second of which needs the first's result, in two warps that share a place.
#[test]
fn a_warp_leaves_for_a_result_whose_arrival_is_not_known_ahead() {
    let replacement = |threshold| WarpReplacement::Reactive { threshold };
    let load = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    for threshold in [1, 2, 50] {
        let settings =
            SmSettings { replacement: replacement(threshold), ..descheduling(1, None, SRAM) };
        let cycles = issues(settings, &load, &each(&load, 2, &[32]));
        // It waits from cycle 1 on.
        assert_eq!(cycles[1][0], 1 + u64::from(threshold));
        assert_eq!(cycles[0][1], 400);
    }
    let sums = Kernel::default().alu(&[0], &[1]).alu(&[1], &[2]);
    for (threshold, activations) in [(6, 2), (7, 1), (50, 1)] {
        let settings =
            SmSettings { replacement: replacement(threshold), ..descheduling(1, None, SRAM) };
        let run = counters(settings, &sums, &one(sums.moving(&[])));
        // The result is there in cycle 8: the rule holds in cycle 7, not any more in cycle 8.
        assert_eq!((run.activations(), run.cycles()), (activations, 8 + 8), "{threshold}");
    }
    let special = Kernel::default().add(Unit::Sfu, Flags::empty(), &[0], &[1]).alu(&[1], &[2]);
    let settings =
        SmSettings { short_waits: ShortWaits::SPECIAL_FUNCTION, ..descheduling(1, None, SRAM) };
    assert_eq!(issues(settings, &special, &each(&special, 2, &[]))[1][0], 1);
}

/// A miss is known 20 cycles after the access has started, in cycle 2; a hit sends no warp away.
#[test]
fn a_warp_leaves_for_a_miss_once_its_access_has_started() {
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    let settings =
        SmSettings { replacement: WarpReplacement::CacheMiss, ..descheduling(1, None, SRAM) };
    let mut grid = each(&kernel, 2, &[32]);
    assert_eq!(issues(settings, &kernel, &grid)[1][0], 2 + 20);
    grid[0][0].accesses[0] = grid[0][0].accesses[0].hitting(true);
    assert_eq!(issues(settings, &kernel, &grid)[0], [0, 20]);
}

/// Two values are in the cache at a backward branch, which is resolved 9 cycles later.
#[test]
fn a_flush_at_a_backward_branch_holds_its_warp_until_its_last_write_begins() {
    let kernel = Kernel::default()
        .alu(&[0], &[1])
        .alu(&[0], &[2])
        .alu(&[1, 2], &[])
        .add(Unit::Control, Flags::BRANCH | Flags::BACKWARD_BRANCH, &[], &[])
        .alu(&[3], &[4]);
    for (banks, write_cycles) in [(16, 1), (1, 5), (1, 20), (1, 30)] {
        let collectors = CollectorSettings { banks, write_cycles, ..SRAM };
        let cached = descheduling(8, Some(6), collectors);
        let mut settings = *cached.organisation.settings();
        if let LevelSettings::Cached(levels) = &mut settings.levels {
            levels.flush_at_backward_branches = true;
        }
        let organisation = Organisation::new(settings).unwrap();
        let settings = SmSettings { organisation, ..cached };
        let cycles = issues(settings, &kernel, &one(kernel.moving(&[])));
        let [.., branch, next] = cycles[0][..] else { panic!("{cycles:?}") };
        // Both writes are asked for in the cycle after the branch; with one bank the second begins
        // when the first has ended, and the value leaves its entry in that cycle.
        let second = if banks == 1 { u64::from(write_cycles) } else { 0 };
        assert_eq!(next, (branch + 9).max(branch + 1 + second + 1), "{banks} banks");
    }
}

#[test]
fn an_evicted_value_is_read_from_where_it_was_written_to() {
    // One entry: the second result evicts the first, which the third instruction reads.
    let kernel = Kernel::default().alu(&[0], &[1]).alu(&[0], &[2]).alu(&[1], &[3]);
    let sram = alone(descheduling(8, Some(1), SRAM), &kernel, &[]);
    // On its way to the cache when it is evicted, it goes on to the bank at cycle 7.
    assert_eq!(sram, 8 + 8);
    let slow = CollectorSettings { write_cycles: 20, ..SRAM };
    let stt = alone(descheduling(8, Some(1), slow), &kernel, &[]);
    // It is there at 27; the last result leaves the cache for the bank as soon as it comes.
    assert_eq!(stt, 27 + 7 + 20);
}

#[test]
fn a_write_pool_spares_repeated_writes() {
    let mut kernel = Kernel::default();
    for _ in 0..10 {
        kernel = kernel.alu(&[1], &[1]);
    }
    let pool = CollectorSettings { write_pool_entries: 4, write_cycles: 3, ..SRAM };
    let run = counters(collecting(pool), &kernel, &one(kernel.straight()));
    let accesses = run.accesses;
    assert_eq!((accesses.write_pool_writes(), accesses.write_pool_write_hits()), (10, 9));
    assert_eq!((accesses.mrf_reads(), accesses.write_pool_reads()), (1, 9));
    assert_eq!((accesses.write_pool_allocations(), accesses.mrf_writes()), (1, 0));
    // The warp has ended: the value is not needed.
    assert_eq!(accesses.write_pool_drops(), 1);
    assert_eq!((accesses.operand_reads(), accesses.operand_writes()), (10, 10));
}

#[test]
fn a_demoted_warp_s_entries_make_room_first() {
    // A pool of three. Warp 1 writes register 1; then warp 0 writes 6 and 4, and leaves for its load
    // when both have been read. Warp 1's next two writes take the places of warp 0's entries, of
    // which one was used after its own, so that it still finds register 1 in the pool.
    let branch = |kernel: Kernel| kernel.add(Unit::Control, Flags::BRANCH, &[], &[]);
    let kernel = Kernel::default().load(&[0], &[5]).alu(&[0], &[6]).alu(&[6], &[4]).alu(&[4], &[]);
    let mut kernel = branch(kernel).alu(&[5], &[]).marked().alu(&[0], &[1]);
    for _ in 0..4 {
        kernel = branch(kernel);
    }
    kernel = branch(kernel.alu(&[0], &[2]).alu(&[0], &[3]));
    kernel = kernel.alu(&[1], &[]);
    let last = kernel.instructions.len() as u32;
    let grid = vec![vec![
        OwnedTrace::new(vec![path(0, 6)], &[128]),
        OwnedTrace::new(vec![path(6, last - 6)], &[]),
    ]];
    let pool = CollectorSettings { write_pool_entries: 3, ..SRAM };
    let run = counters(descheduling(2, None, pool), &kernel, &grid);
    assert_eq!(run.accesses.deschedules(), 1);
    // Registers 6, 4 and 5 of warp 0, 1 of warp 1.
    assert_eq!(run.accesses.write_pool_reads(), 4);
    assert_eq!(run.accesses.write_pool_allocations(), 6);
}

/// 16 banks of 64 rows. Skewed warps have whole rows; what is left of their last ones stays empty.
#[test]
fn rows_that_a_layout_loses_count_in_what_is_resident() {
    let resident = |bank_layout, banks, registers| {
        let collectors = CollectorSettings { bank_layout, banks, ..SRAM };
        let settings = SmSettings { max_warps: 48, ..collecting(collectors) };
        let launch = Launch { warps_per_cta: 4, registers, shared_bytes: 0 };
        let found = SmConfig::new(settings).unwrap().residency(&launch);
        found.map(|one| (one.ctas, one.warps, one.limit, one.empty_registers))
    };
    let (skewed, linear) = (BankLayout::WarpSkewed, BankLayout::Linear);
    // 21 registers are two rows of 16: 32 warps take the 64 rows.
    assert_eq!(resident(skewed, 16, 21), Ok((8, 32, Limit::Ctas, 32 * 11)));
    assert_eq!(resident(linear, 16, 21), Ok((8, 32, Limit::Ctas, 0)));
    // 33 are three rows, of 21 warps.
    assert_eq!(resident(skewed, 16, 33), Ok((5, 20, Limit::Registers, 20 * 15)));
    assert_eq!(resident(linear, 16, 33), Ok((7, 28, Limit::Registers, 0)));
    assert_eq!(resident(skewed, 16, 32), Ok((8, 32, Limit::Ctas, 0)));
    // 3 banks have 341 rows and one register more; 22 registers are 8 rows, of 42 warps.
    assert_eq!(resident(skewed, 3, 22), Ok((8, 32, Limit::Ctas, 64)));
    assert_eq!(resident(skewed, 3, 100), Ok((2, 8, Limit::Registers, 8 * 2)));
    assert_eq!(resident(skewed, 16, 250), Ok((1, 4, Limit::Registers, 4 * 6)));
    let error = resident(skewed, 16, 257).unwrap_err();
    assert_eq!((error.limit, error.needed, error.available), (Limit::Registers, 139_264, 131_072));
    // What a study asks for: as many warps in a register file that holds no more.
    let settings = collecting(CollectorSettings { bank_layout: skewed, ..SRAM });
    assert_eq!(settings.register_file_for(20, 33), 20 * 48 * 128);
}

#[test]
fn what_a_design_cannot_have_with_collectors_is_refused() {
    let error = |settings| SmConfig::new(settings).unwrap_err();
    for (collectors, what, value, least, most) in [
        (CollectorSettings { units: 0, ..SRAM }, "collector units", 0, 1, 32),
        (CollectorSettings { units: 33, ..SRAM }, "collector units", 33, 1, 32),
        (CollectorSettings { banks: 0, ..SRAM }, "banks", 0, 1, 32),
        (
            CollectorSettings { banks: 17, bank_ports: BankPorts::ReadAndWrite, ..SRAM },
            "banks",
            17,
            1,
            16,
        ),
        (CollectorSettings { read_cycles: 0, ..SRAM }, "cycles of a read", 0, 1, 32),
        (CollectorSettings { write_cycles: 33, ..SRAM }, "cycles of a write", 33, 1, 32),
        (CollectorSettings { write_pool_entries: 129, ..SRAM }, "write pool entries", 129, 0, 128),
        (
            CollectorSettings { write_pool_ports: PoolPorts::Any(9), ..SRAM },
            "accesses of the write pool",
            9,
            1,
            8,
        ),
    ] {
        let expected = SmConfigError::Collectors { what, value, least, most };
        assert_eq!(error(collecting(collectors)), expected);
        assert!(expected.to_string().contains(what), "{expected}");
    }
    let timing = Timing { alu_latency: 3, ..ISCA11.timing };
    let short = SmSettings { timing, ..collecting(SRAM) };
    assert_eq!(error(short), SmConfigError::ShorterThanCollection(3));
}

/// A random design with collectors.
fn random_collectors(random: &mut Random) -> SmSettings {
    let settings = random_settings(random);
    let banks = one_of(random, &[1, 2, 4, 16, 16, 16, 31]);
    let collectors = CollectorSettings {
        units: one_of(random, &[1, 2, 8, 16, 32]),
        banks,
        bank_ports: one_of(random, if banks <= 16 { &BankPorts::ALL } else { &[BankPorts::One] }),
        bank_layout: one_of(random, &[BankLayout::WarpSkewed, BankLayout::Linear]),
        read_cycles: one_of(random, &[1, 1, 2]),
        write_cycles: one_of(random, &[1, 3, 3, 10]),
        split_bank_write: random.chance(50),
        write_pool_entries: one_of(random, &[0, 0, 1, 5, 60, 128]),
        write_pool_ports: one_of(
            random,
            &[PoolPorts::OneReadOneWrite, PoolPorts::Any(1), PoolPorts::Any(2), PoolPorts::Any(8)],
        ),
    };
    let timing = Timing {
        alu_latency: one_of(random, &[4, 8, 8, 70]),
        hit_latency: one_of(random, &[4, 20, 90]),
        ..settings.timing
    };
    SmSettings { operand_delivery: OperandDelivery::Collectors(collectors), timing, ..settings }
}

/// A kernel whose instructions write no register twice.
pub(crate) fn random_distinct(random: &mut Random) -> Kernel {
    let mut kernel = random_kernel(random);
    for instruction in &mut kernel.instructions {
        let first = usize::from(instruction.sources) + instruction.first_slot as usize;
        let written = &kernel.slots[first..][..usize::from(instruction.destinations)];
        if let [a, b] = written
            && a == b
        {
            instruction.destinations = 1;
        }
    }
    kernel
}

/// With what goes to the write pool counted where it would go without.
fn without_pool(accesses: &Counters) -> Counters {
    let mut expected = *accesses;
    let mut moved = Counters::default();
    for (pool, main) in [
        (Event::WritePoolReadPrivate, Event::MrfReadPrivate),
        (Event::WritePoolReadShared, Event::MrfReadShared),
        (Event::WritePoolWritePrivate, Event::MrfWritePrivate),
        (Event::WritePoolWriteShared, Event::MrfWriteShared),
    ] {
        moved.record(pool, accesses.get(pool));
        expected.record(main, accesses.get(pool));
    }
    for event in [
        Event::WritePoolWriteHit,
        Event::WritePoolAllocation,
        Event::WritePoolWriteback,
        Event::WritePoolDrop,
    ] {
        moved.record(event, accesses.get(event));
    }
    expected.checked_sub(&moved).unwrap()
}

#[test]
fn accesses_are_those_of_count_mode() {
    let mut pooled = 0;
    for seed in 0..600 {
        let mut random = Random(seed);
        let settings = random_collectors(&mut random);
        let kernel = random_distinct(&mut random);
        let grid = random_grid(&mut random, &kernel);
        let counters = drive(seed, settings, &kernel, &grid)
            .unwrap_or_else(|fault| panic!("seed {seed}, {settings:?}: {fault}"));
        let expected = count_mode(&settings, &kernel, &grid);
        let accesses = counters.accesses;
        let entered = accesses.write_pool_allocations();
        assert_eq!(
            accesses.write_pool_writes(),
            accesses.write_pool_write_hits() + entered,
            "seed {seed}"
        );
        let left = accesses.write_pool_writebacks() + accesses.write_pool_drops();
        assert_eq!(entered, left, "seed {seed}");
        assert_eq!(accesses.operand_reads(), expected.operand_reads(), "seed {seed}");
        assert_eq!(accesses.operand_writes(), expected.operand_writes(), "seed {seed}");
        pooled += accesses.write_pool_write_hits();
        let partial = accesses.write_pool_partial_hits();
        let through = accesses.rfc_to_write_pool() + accesses.lrf_to_write_pool();
        if partial + through == 0 {
            assert_eq!(without_pool(&accesses), expected, "seed {seed}, {settings:?}");
        }
    }
    assert!(pooled > 1000, "{pooled} hits: the write pool is hardly tested");
}

/// Warps that leave because they wait, for values whose arrival time is not known.
#[test]
fn the_papers_alternatives_skip_idle_cycles_too() {
    let (mut runs, mut stalled) = (0, 0);
    for seed in 2000..2400 {
        let mut random = Random(seed);
        let mut settings = random_collectors(&mut random);
        if matches!(settings.organisation.settings().scheduling, Scheduling::SingleLevel) {
            continue;
        }
        random_rules(&mut random, &mut settings);
        let kernel = random_distinct(&mut random);
        let grid = random_grid(&mut random, &kernel);
        match drive(seed, settings, &kernel, &grid) {
            Ok(_) => runs += 1,
            Err(Fault::Stalled { reason, .. }) => {
                assert_eq!(settings.barrier, BarrierRule::Never, "seed {seed}");
                assert_eq!(reason, StallReason::Barrier, "seed {seed}");
                stalled += 1;
            }
            Err(fault) => panic!("seed {seed}, {settings:?}: {fault}"),
        }
    }
    assert!(runs > 200 && stalled > 5, "{runs} runs, {stalled} deadlocks");
}
