//! Registers in scratchpad memory, in time: values, instants, and random kernels with bundles.

use std::collections::BTreeSet;

use crate::cached_memory::{OwnedList, load, run_over};
use crate::expansion_values::{Values, is_long};
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, run as steps, simulate, simulate_bundles};
use crate::model::one_of;
use crate::random::Random;
use strata_core::arbiter::BankPorts;
use strata_core::bank_layout::BankLayout;
use strata_core::image::{Flags, Unit};
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::sm::config::{
    ActiveLimitKind, Launch, Scheduler, Schedulers, SmConfig, SmConfigError, SmSettings,
    StorageKind, Timing, WarpReplacement,
};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::expansion::Split;
use strata_core::sm::expansion::bundles::{Bundles, Prefetch, RegisterSet};
use strata_core::sm::expansion::counters::ExpansionEvent;
use strata_core::sm::expansion::homes::Homes;
use strata_core::sm::expansion::operand_cache::Move;
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::cached::{CacheEvent, CachedSettings};
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::{ExpansionObservation, Observation, WarpPhase};
use strata_core::units::{LaneMask, RegisterId};

/// Fermi as in `[EXPARS]` Table 2, without caches.
const FERMI: SmSettings = SmSettings {
    operand_delivery: OperandDelivery::Collectors(CollectorSettings {
        banks: 4,
        bank_ports: BankPorts::ReadAndWrite,
        bank_layout: BankLayout::Linear,
        ..CollectorSettings::WARRF_SRAM
    }),
    organisation: Organisation::FLAT,
    scheduler: Scheduler::LooseRoundRobin,
    storage: StorageKind::Expars,
    ..SmSettings::WARRF_GTX480
};

/// A kernel with its bundles.
struct Bundled {
    kernel: Kernel,
    prefetches: Vec<Prefetch>,
    /// First instructions of its basic blocks.
    blocks: Vec<u32>,
}

impl Bundled {
    /// Bundles of a kernel whose basic blocks begin at these instructions. With `partial`, results
    /// may leave some lanes of a register as they are.
    fn new(mut kernel: Kernel, blocks: Vec<u32>, partial: bool) -> Self {
        let count = kernel.instructions.len();
        let loaded: BTreeSet<RegisterId> = (0..count)
            .filter(|&pc| is_long(&kernel, pc))
            .flat_map(|pc| slots(&kernel, pc).1)
            .collect();
        let mut prefetches: Vec<Prefetch> = Vec::new();
        let mut all: Vec<RegisterId> = Vec::new();
        for pc in 0..count {
            let (sources, results) = slots(&kernel, pc);
            let with_line =
                |register: &RegisterId| !is_long(&kernel, pc) || !results.contains(register);
            let mine: Vec<_> =
                sources.iter().copied().chain(results.iter().copied().filter(with_line)).collect();
            let collides = mine
                .iter()
                .any(|one| all.iter().any(|other| one != other && one.0 % 16 == other.0 % 16));
            let waits = sources.iter().chain(&results).any(|register| loaded.contains(register));
            let barrier = pc != 0 && kernel.instructions[pc - 1].flags.contains(Flags::BARRIER);
            if blocks.contains(&(pc as u32)) || barrier || waits || collides {
                let (fetched, allocated) = (RegisterSet::EMPTY, RegisterSet::EMPTY);
                prefetches.push(Prefetch { pc: pc as u32, fetched, allocated });
                all.clear();
            }
            if sources.iter().any(|register| loaded.contains(register)) {
                kernel.instructions[pc].flags |= Flags::DESCHEDULE_BEFORE;
            }
            let bundle = prefetches.last_mut().expect("the first block begins at 0");
            for &register in &mine {
                let is_new = !bundle.registers().contains(register);
                let overwritten = !partial && !sources.contains(&register);
                let set = if overwritten { &mut bundle.allocated } else { &mut bundle.fetched };
                assert!(!is_new || set.insert(register));
                all.push(register);
            }
        }
        Self { kernel, prefetches, blocks }
    }

    fn bundles(&self) -> Bundles<'_> {
        Bundles::new(&self.prefetches, self.kernel.instructions.len() as u32).expect("legal")
    }

    fn launch(&self, warps_per_cta: u32, shared_bytes: u32) -> Launch {
        Launch { warps_per_cta, registers: self.kernel.registers, shared_bytes }
    }

    /// A path of one warp through whole blocks.
    fn trace(&self, random: &mut Random, partial: bool) -> OwnedTrace {
        let (mut path, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..=random.below(6) {
            let block = random.below(self.blocks.len() as u32) as usize;
            let end = self.blocks.get(block + 1).copied();
            let end = end.unwrap_or(self.kernel.instructions.len() as u32);
            let pc = self.blocks[block];
            let mask = if partial { random.mask() } else { LaneMask::FULL };
            path.push(PathStep { pc, length: end - pc, mask });
            for instruction in &self.kernel.instructions[pc as usize..end as usize] {
                if instruction.moves_bytes() {
                    bytes.push(one_of(random, &[4, 32, 128, 128, 512]));
                }
            }
        }
        OwnedTrace::new(path, &bytes)
    }

    /// Runs at every pace, with values beside it.
    fn run(
        &self,
        name: &str,
        settings: SmSettings,
        shared_bytes: u32,
        grid: &Grid,
    ) -> (SmCounters, Told) {
        let config = SmConfig::new(settings).expect(name);
        let launch = self.launch(grid[0].len() as u32, shared_bytes);
        let split = config.split(&launch).expect(name).expect(name);
        let homes = homes(&settings, &launch, &split);
        let mut told = Vec::new();
        let counters = [Pace::Skipping, Pace::EveryCycle, Pace::Stepped].map(|pace| {
            let mut values = Values::new(&self.kernel, self.bundles(), homes);
            let parts = (None, Some(self.bundles()));
            let observe = |one| {
                within_limit(name, &settings, &one);
                values.add(&one);
            };
            let counters =
                simulate_bundles(parts, settings, &self.kernel, shared_bytes, grid, pace, observe);
            let counters = counters.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            values.finish();
            told.push(Told { reads: values.reads, arrivals: values.arrivals, all: values.told });
            counters
        });
        assert_eq!(counters[0], counters[1], "{name}");
        assert_eq!(counters[0], counters[2], "{name}");
        assert!(told[0] == told[1] && told[0] == told[2], "{name}");
        let told = told.remove(0);
        told.check(name, &counters[0]);
        (counters[0], told)
    }
}

/// Warps that can issue, with their registers there, are no more than the limit allows.
fn within_limit(name: &str, settings: &SmSettings, observation: &Observation) {
    let Scheduling::TwoLevel { active_warps } = settings.organisation.settings().scheduling else {
        return;
    };
    let Observation::Cycles { first, warps, .. } = observation else { return };
    let ready = warps.warps(WarpPhase::Ready).count_ones();
    assert!(ready <= active_warps.into(), "{name}, cycle {first}: {ready} ready");
}

fn slots(kernel: &Kernel, pc: usize) -> (Vec<RegisterId>, Vec<RegisterId>) {
    let instruction = &kernel.instructions[pc];
    let first = instruction.first_slot as usize;
    let middle = first + usize::from(instruction.sources);
    let end = middle + usize::from(instruction.destinations);
    (kernel.slots[first..middle].to_vec(), kernel.slots[middle..end].to_vec())
}

fn homes(settings: &SmSettings, launch: &Launch, split: &Split) -> Homes {
    let &Launch { registers, warps_per_cta, shared_bytes } = launch;
    Homes::new(split, registers, warps_per_cta, shared_bytes, settings.shared_memory_bytes)
        .expect("it fits")
}

/// What was told of a run.
#[derive(PartialEq, Eq)]
struct Told {
    reads: u64,
    arrivals: u64,
    all: std::collections::BTreeMap<&'static str, u64>,
}

impl Told {
    /// The sums are the run's counters.
    fn check(&self, name: &str, counters: &SmCounters) {
        use ExpansionEvent::{
            Bundle, BypassWriteback, DirtyEviction, Fetch, OperandCacheReadPrivate,
            OperandCacheReadShared, OperandCacheWrite, Prefetch, ScratchpadResult,
        };
        let counted = |events: &[ExpansionEvent]| -> u64 {
            events.iter().map(|&event| counters.expansion.get(event)).sum()
        };
        let told = |name| self.all.get(name).copied().unwrap_or(0);
        for (event, expected) in [
            ("prefetch", counted(&[Prefetch])),
            ("bundle", counted(&[Bundle])),
            ("schedulable", counted(&[Bundle])),
            ("fetch", counted(&[Fetch])),
            ("write back", counted(&[DirtyEviction, BypassWriteback])),
            ("read", counted(&[OperandCacheReadPrivate, OperandCacheReadShared])),
            ("write", counted(&[OperandCacheWrite])),
            ("arrival", counted(&[ScratchpadResult])),
        ] {
            assert_eq!(told(event), expected, "{name}: {event}");
        }
    }
}

/// A random kernel of some blocks: no instruction names two registers with one line.
fn random_bundled(random: &mut Random, registers: u16, partial: bool) -> Bundled {
    let (mut kernel, mut blocks) = (Kernel::default(), Vec::new());
    let barriers = random.chance(50);
    for _ in 0..=random.below(4) {
        blocks.push(kernel.instructions.len() as u32);
        for _ in 0..=random.below(12) {
            let mut named: Vec<u16> = Vec::new();
            for _ in 0..=random.below(4) {
                let register = random.below(registers.into()) as u16;
                if named.iter().all(|other| other % 16 != register % 16) {
                    named.push(register);
                }
            }
            let (result, sources) = named.split_first().expect("at least one");
            kernel = match random.below(12) {
                0 | 1 => kernel.load(sources, &[*result]),
                2 => kernel.store(&named),
                3 => kernel.shared_load(sources, &[*result]),
                4 => kernel.add(Unit::Sfu, Flags::empty(), sources, &[*result]),
                5 if barriers => kernel.barrier(),
                6 => kernel.add(Unit::Texture, Flags::LONG_LATENCY, sources, &[*result]),
                7 => kernel.load(&named, &[*result]),
                _ => kernel.alu(sources, &[*result]),
            };
        }
    }
    kernel.registers = registers;
    Bundled::new(kernel, blocks, partial)
}

fn with_scheduling(settings: SmSettings, scheduling: Scheduling) -> SmSettings {
    let flat = *Organisation::FLAT.settings();
    let organisation = Organisation::new(OrganisationSettings { scheduling, ..flat });
    SmSettings { organisation: organisation.expect("it can be"), ..settings }
}

fn random_expars(random: &mut Random) -> SmSettings {
    let resident = FERMI.max_warps;
    let two_level = |active_warps| Scheduling::TwoLevel { active_warps };
    let (scheduling, active_limit) = match random.below(4) {
        0 => (two_level(one_of(random, &[1, 2, 8])), ActiveLimitKind::Constant),
        1 => (two_level(resident.min(32)), ActiveLimitKind::Lazy),
        _ => (Scheduling::SingleLevel, ActiveLimitKind::Constant),
    };
    let OperandDelivery::Collectors(collectors) = FERMI.operand_delivery else {
        unreachable!("it has collectors")
    };
    let (banks, bank_ports) =
        one_of(random, &[(4, BankPorts::ReadAndWrite), (16, BankPorts::One), (4, BankPorts::One)]);
    let units = one_of(random, &[1, 4, 16]);
    let (read_cycles, write_cycles) = one_of(random, &[(1, 1), (1, 1), (2, 7)]);
    let collectors =
        CollectorSettings { units, banks, bank_ports, read_cycles, write_cycles, ..collectors };
    let timing = Timing {
        dram_latency: one_of(random, &[30, 400]),
        shared_latency: one_of(random, &[4, 20]),
        ..FERMI.timing
    };
    let issue_slots = 1 + random.below(2) as u8;
    let schedulers = if issue_slots == 2 { &Schedulers::ALL[..] } else { &[Schedulers::Shared] };
    let settings = SmSettings {
        scheduler: one_of(random, &[Scheduler::LooseRoundRobin, Scheduler::GreedyThenOldest]),
        issue_slots,
        schedulers: one_of(random, schedulers),
        operand_delivery: OperandDelivery::Collectors(collectors),
        active_limit,
        timing,
        ..FERMI
    };
    let levels = match random.below(3) {
        0 => cached_levels(1 + random.below(6) as u8, random.chance(50)),
        _ => LevelSettings::Flat,
    };
    let organisation = Organisation::new(OrganisationSettings { levels, scheduling });
    SmSettings { organisation: organisation.expect("it can be"), ..settings }
}

fn cached_levels(entries: u8, last_result_file: bool) -> LevelSettings {
    let cache = RegisterFileCacheConfig {
        entries,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: false,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    };
    LevelSettings::Cached(CachedLevels { last_result_file, ..CachedLevels::new(cache) })
}

/// No operand is read before it is there, and no value is lost, whatever moves when.
#[test]
fn random_kernels_read_what_they_wrote() {
    let (mut reads, mut arrivals, mut dirty, mut held, mut bypassed) = (0, 0, 0, 0, 0);
    for seed in 0..150 {
        let mut random = Random(seed);
        let settings = random_expars(&mut random);
        // Registers and warps with which the register file limits what is resident.
        let (registers, warps, shared_bytes) = one_of(
            &mut random,
            &[(36, 4, 0), (28, 8, 1024), (44, 4, 500), (24, 16, 0), (24, 8, 2048), (32, 12, 0)],
        );
        let partial = random.chance(50);
        let bundled = random_bundled(&mut random, registers, partial);
        let cta = |random: &mut Random| -> Vec<OwnedTrace> {
            (0..warps).map(|_| bundled.trace(random, partial)).collect()
        };
        let grid: Grid = (0..10).map(|_| cta(&mut random)).collect();
        let (counters, told) = bundled.run(&format!("seed {seed}"), settings, shared_bytes, &grid);
        reads += told.reads;
        arrivals += told.arrivals;
        let expansion = &counters.expansion;
        dirty += expansion.get(ExpansionEvent::DirtyEviction);
        held += expansion.get(ExpansionEvent::Held);
        bypassed += expansion.get(ExpansionEvent::BypassWriteback);
        assert_eq!(counters.ctas(), 10, "seed {seed}");
    }
    let met = [reads, arrivals, dirty, held, bypassed];
    assert!(met.iter().all(|&times| times > 200), "{met:?}");
}

/// A kernel without a CTA to gain, and a share of registers too small to gain one: all is as with
/// partitions, PREF included, which nothing issues.
#[test]
fn without_a_cta_gained_all_is_as_in_the_baseline() {
    let tiny = strata_core::sm::expansion::Threshold::new(1, 1000).expect("between 0 and 1");
    for seed in 0..20 {
        let mut random = Random(seed);
        let settings = random_expars(&mut random);
        // 16 registers limit nothing on Fermi with 8 CTAs of 4 warps; 36 do.
        for (registers, threshold) in [(16, settings.threshold), (36, tiny)] {
            let bundled = random_bundled(&mut random, registers, false);
            let grid: Grid = (0..6)
                .map(|_| (0..4).map(|_| bundled.trace(&mut random, false)).collect())
                .collect();
            let run = |settings, bundles| {
                let parts = (None, bundles);
                let (kernel, pace) = (&bundled.kernel, Pace::Skipping);
                simulate_bundles(parts, settings, kernel, 0, &grid, pace, |_| {}).expect("it runs")
            };
            let expars = SmSettings { threshold, ..settings };
            let baseline = SmSettings { storage: StorageKind::Partitioned, ..settings };
            let expected = run(baseline, None);
            assert_eq!(run(expars, Some(bundled.bundles())), expected, "seed {seed}");
            assert_eq!(run(expars, None), expected, "seed {seed}");
            assert_eq!(expected.slots(StallReason::Prefetch), 0);
        }
    }
}

/// 48 warps, each with 16 registers in its bundles, which are all lines of the cache, and barriers
/// between them: each bundle waits for all others.
#[test]
fn whole_caches_between_barriers_do_not_deadlock() {
    let mut kernel = Kernel::default();
    for first in [24, 21, 23, 22] {
        for register in first..first + 16 {
            kernel = kernel.alu(&[register], &[register]);
        }
        kernel = kernel.barrier();
    }
    kernel.registers = 40;
    let bundled = Bundled::new(kernel, vec![0], true);
    assert_eq!(bundled.prefetches.len(), 4);
    // One whole CTA of 24 warps fits, or two mixed ones with the registers from 21 up outside.
    let threshold = strata_core::sm::expansion::Threshold::new(9, 10).expect("between 0 and 1");
    let settings = SmSettings { threshold, shared_memory_bytes: 128 * 1024, ..FERMI };
    let grid: Grid = vec![vec![bundled.kernel.straight(); 24]; 4];
    let config = SmConfig::new(settings).expect("it can be");
    let split = config.split(&bundled.launch(24, 0)).expect("it fits").expect("one more fits");
    assert_eq!(split, Split { whole: 0, mixed: 2, start_register: 21 });
    let (counters, told) = bundled.run("barriers", settings, 0, &grid);
    assert_eq!(counters.ctas(), 4);
    assert!(told.reads > 1000 && counters.expansion.get(ExpansionEvent::LineWait) > 0);
}

/// A load whose register loses its line before the data comes, with all lanes and with half of
/// them: the value is right either way, and the old one is written back first.
#[test]
fn a_load_finds_its_register_in_scratchpad_memory() {
    for mask in [LaneMask::FULL, LaneMask(0x0000_ffff)] {
        // R35 is written, then loaded in a bundle of its own, and read after others took its line.
        let mut kernel = Kernel::default().alu(&[0], &[35]).alu(&[35], &[1]).load(&[0], &[35]);
        for register in [19, 20, 21] {
            kernel = kernel.alu(&[register], &[register]);
        }
        let kernel = kernel.alu(&[35], &[2]);
        let blocks = vec![0, 2, 3, 6];
        let mut bundled = Bundled::new(kernel, blocks, true);
        bundled.kernel.registers = 36;
        let path = vec![steps(0, 2), PathStep { pc: 2, length: 1, mask }, steps(3, 4)];
        let trace = OwnedTrace::new(path, &[128]);
        let grid: Grid = vec![vec![trace; 4]; 10];
        let (counters, told) = bundled.run("load", FERMI, 0, &grid);
        // Two mixed CTAs at a time, of 4 warps each.
        let loads = counters.expansion.get(ExpansionEvent::ScratchpadResult);
        assert_eq!((told.arrivals, counters.ctas()), (loads, 10));
        assert!(loads >= 8 && told.reads > loads);
    }
}

#[test]
fn what_is_missing_is_a_fault() {
    let bundled = Bundled::new(Kernel::default().alu(&[30], &[35]), vec![0], false);
    let grid: Grid = vec![vec![bundled.kernel.straight(); 4]; 8];
    let run = |bundles: Option<Bundles<'_>>| {
        let parts = (None, bundles);
        simulate_bundles(parts, FERMI, &bundled.kernel, 0, &grid, Pace::Skipping, |_| {})
    };
    assert_eq!(run(None), Err(Fault::NoBundles));
    assert!(run(Some(bundled.bundles())).is_ok());
    for (fetched, allocated, register) in [([].as_slice(), [35], 30), (&[30], [34], 35)] {
        let set = |registers: &[u16]| {
            RegisterSet::of(registers.iter().copied().map(RegisterId)).expect("below 256")
        };
        let wrong = [Prefetch { pc: 0, fetched: set(fetched), allocated: set(&allocated) }];
        let wrong = Bundles::new(&wrong, 1).expect("legal, though wrong");
        let missing = Fault::NotInOperandCache { pc: 0, register: RegisterId(register) };
        assert_eq!(run(Some(wrong)), Err(missing));
        assert!(missing.to_string().contains("operand cache"), "{missing}");
    }
    // Bundles of another kernel.
    let far = [0, 1].map(|pc| Prefetch {
        pc,
        fetched: RegisterSet::EMPTY,
        allocated: RegisterSet::EMPTY,
    });
    assert_eq!(run(Some(Bundles::new(&far, 2).expect("legal"))), Err(Fault::NoBundles));
}

#[test]
fn what_cannot_stand_beside_scratchpad_registers_is_refused() {
    let OperandDelivery::Collectors(collectors) = FERMI.operand_delivery else {
        unreachable!("it has collectors")
    };
    let with = |collectors| SmSettings {
        operand_delivery: OperandDelivery::Collectors(collectors),
        ..FERMI
    };
    let fixed = SmSettings { operand_delivery: OperandDelivery::FOUR_BANKS, ..FERMI };
    for (settings, what) in [
        (fixed, "fixed latency"),
        (
            with(CollectorSettings { bank_layout: BankLayout::WarpSkewed, ..collectors }),
            "whole rows",
        ),
        (with(CollectorSettings { split_bank_write: true, ..collectors }), "split bank writes"),
        (with(CollectorSettings { write_pool_entries: 4, ..collectors }), "write pool"),
        (with(CollectorSettings { banks: 16, ..collectors }), "so many banks"),
    ] {
        let error = SmConfig::new(settings).expect_err(what);
        assert!(matches!(error, SmConfigError::Expansion { .. }), "{error:?}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let levels = LevelSettings::CompilerManaged;
    let managed =
        Organisation::new(OrganisationSettings { levels, ..*FERMI.organisation.settings() });
    let managed = SmSettings { organisation: managed.expect("it can be"), ..FERMI };
    let error = SmConfig::new(managed).expect_err("its compiler places values");
    assert!(error.to_string().contains("compiler-managed"), "{error}");
    let lazy = SmSettings { active_limit: ActiveLimitKind::Lazy, ..FERMI };
    assert_eq!(SmConfig::new(lazy), Err(SmConfigError::NeedsTwoLevel));
}

/// Instants of one mixed warp without neighbours: PREF in cycle 0; the first instruction's operands
/// are there in cycle 1, after which the bundle gets its lines and three registers leave scratchpad
/// memory, in cycles 1, 2 and 3; the last is there 20 cycles later, when the instruction issues.
#[test]
fn a_bundle_waits_for_its_last_register() {
    let kernel = Kernel::default().alu(&[33, 34, 35], &[4]);
    let bundled = Bundled::new(kernel, vec![0], false);
    let settings = SmSettings { max_ctas: 8, ..FERMI };
    // Warps of whole CTAs have nothing to do, and the mixed CTA is the seventh.
    let idle = OwnedTrace::new(vec![], &[]);
    let mut grid: Grid = vec![vec![idle.clone(); 4]; 8];
    grid[6][0] = bundled.kernel.straight();
    let mut events = Vec::new();
    let observe = |one| match one {
        Observation::Issue(issue) => events.push((issue.cycle, "issue")),
        Observation::Expansion { cycle, event } => events.push((
            cycle,
            match event {
                ExpansionObservation::Prefetch { .. } => "PREF",
                ExpansionObservation::Begins { .. } => "begins",
                ExpansionObservation::Moves(Move::Fetched { .. }) => "fetch",
                ExpansionObservation::Schedulable { .. } => "schedulable",
                _ => "other",
            },
        )),
        _ => {}
    };
    let parts = (None, Some(bundled.bundles()));
    let counters =
        simulate_bundles(parts, settings, &bundled.kernel, 0, &grid, Pace::Skipping, observe);
    assert_eq!(
        events[..7],
        [
            (0, "PREF"),
            (1, "begins"),
            (1, "fetch"),
            (2, "fetch"),
            (3, "fetch"),
            (22, "schedulable"),
            (23, "issue"),
        ]
    );
    let counters = counters.expect("it runs");
    assert_eq!(counters.slots(StallReason::Prefetch), 23 - 1);
}

/// Registers move only in cycles in which the program leaves scratchpad memory alone: a warp of a
/// whole CTA takes it with accesses of 512 bytes, 16 cycles each.
#[test]
fn registers_wait_for_the_program_s_accesses() {
    let kernel = Kernel::default().shared_load(&[0], &[1]).alu(&[33, 34, 35], &[4]);
    let bundled = Bundled::new(kernel, vec![0, 1], false);
    let idle = OwnedTrace::new(vec![], &[]);
    let cycles = |accesses: usize| {
        let mut grid: Grid = vec![vec![idle.clone(); 4]; 8];
        grid[0] = vec![OwnedTrace::new(vec![steps(0, 1); accesses], &vec![512; accesses]); 4];
        grid[6][0] = OwnedTrace::new(vec![steps(1, 1)], &[]);
        let (counters, _) = bundled.run("shared", FERMI, 0, &grid);
        counters.expansion.get(ExpansionEvent::PortWait)
    };
    assert_eq!(cycles(0), 0);
    let waited = cycles(4);
    assert!(waited >= 16, "{waited}");
}

/// With one warp the lazy two-level scheduler allows one; where all progress alike, nearly all.
/// Where the oldest come first and seven or eight of them fill the slot, each waiting for its last
/// result, the others have done next to nothing when the first one ends.
#[test]
fn the_lazy_scheduler_limits_what_does_not_progress() {
    let limit = |kernel: &Kernel, grid: &Grid| {
        let timing = Timing { dram_bytes_per_cycle: 65_536, ..FERMI.timing };
        let settings = SmSettings {
            active_limit: ActiveLimitKind::Lazy,
            scheduler: Scheduler::GreedyThenOldest,
            storage: StorageKind::Partitioned,
            timing,
            ..FERMI
        };
        let settings = with_scheduling(settings, Scheduling::TwoLevel { active_warps: 32 });
        let counters = simulate(settings, kernel, 0, grid, Pace::Skipping, |_| {});
        counters.expect("it runs").expansion.get(ExpansionEvent::OptimalWarps)
    };
    let loads = Kernel::default().load(&[0], &[1]).alu(&[1], &[2]).marked();
    let straight = OwnedTrace::new(vec![steps(0, 2); 20], &[128; 20]);
    assert_eq!(limit(&loads, &vec![vec![straight.clone()]]), 1);
    let free = limit(&loads, &vec![vec![straight; 8]; 4]);
    assert!(free >= 31, "{free} of 32 warps without contention");
    let chain = Kernel::default().alu(&[0], &[0]);
    let long = OwnedTrace::new(vec![steps(0, 1); 400], &[]);
    let contended = limit(&chain, &vec![vec![long; 8]; 4]);
    assert!((7..=9).contains(&contended), "{contended} of 32 warps with contention");
}

/// A kernel of two loops, over arithmetic and over seven lines of each warp's own: the CTAs that
/// are resident first run the one, all others the other.
fn thrashing() -> (Kernel, Grid, OwnedList) {
    const LINES: u64 = 7;
    const ROUNDS: usize = 200;
    let kernel = Kernel::default().alu(&[2], &[2]).load(&[0], &[1]).alu(&[1], &[2]).marked();
    let mut list = OwnedList::default();
    let mut trace = |warp: u64| {
        if warp < 48 {
            return OwnedTrace::new(vec![steps(0, 1); 2 * ROUNDS], &[]);
        }
        let mut trace = OwnedTrace::new(vec![steps(1, 2); ROUNDS], &[]);
        let line = |round: usize| LINES * warp + round as u64 % LINES;
        let mut access = |round| load(&mut list, |lane| 128 * line(round) + 4 * lane);
        trace.accesses = (0..ROUNDS).map(&mut access).collect();
        trace
    };
    let grid = (0..40).map(|cta| (0..6).map(|warp| trace(6 * cta + warp)).collect()).collect();
    (kernel, grid, list)
}

/// With 16 KB of cache the lines of 48 warps do not fit, those of the 15 that the first warps' end
/// allows do: the lazy limit is worth more than 4 times the cycles of none, and more than that of
/// two levels with 8 warps. But only where a warp that waits for memory keeps its place: where it
/// leaves, others take it, and all of them share the cache (DEV-114).
#[test]
fn the_lazy_scheduler_saves_a_cache_from_thrashing_where_warps_stay() {
    let (kernel, grid, list) = thrashing();
    let run = |replacement, active_warps, active_limit| {
        let settings = SmSettings {
            timing: Timing { dram_bytes_per_cycle: 8, ..FERMI.timing },
            scheduler: Scheduler::GreedyThenOldest,
            storage: StorageKind::Partitioned,
            issue_slots: 2,
            active_limit,
            replacement,
            ..FERMI
        };
        let settings = with_scheduling(settings, Scheduling::TwoLevel { active_warps });
        let cached = CachedSettings::of(16 * 1024);
        let (counters, cache) = run_over(settings, cached, &kernel, &grid, &list).expect("it runs");
        let optimal = counters.expansion.get(ExpansionEvent::OptimalWarps);
        (counters.cycles(), cache.get(CacheEvent::LoadHit), optimal)
    };
    let stays = WarpReplacement::Reactive { threshold: 4096 };
    let unlimited = run(stays, 48, ActiveLimitKind::Constant);
    let lazy = run(stays, 48, ActiveLimitKind::Lazy);
    let two_level = run(stays, 8, ActiveLimitKind::Constant);
    assert_eq!((unlimited.1, lazy.2), (0, 15));
    assert!(
        4 * lazy.0 < unlimited.0 && lazy.0 < two_level.0,
        "{unlimited:?} {lazy:?} {two_level:?}"
    );
    assert!(lazy.1 > 36_000, "{lazy:?}");
    let leaves = WarpReplacement::Preemptive;
    let [unlimited, lazy] =
        [ActiveLimitKind::Constant, ActiveLimitKind::Lazy].map(|limit| run(leaves, 48, limit));
    assert_eq!((unlimited.0, unlimited.1), (lazy.0, lazy.1));
    assert_eq!(lazy.2, 15);
}
