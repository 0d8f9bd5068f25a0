//! Cycle mode on random kernels: the accesses are count mode's, and idle cycles may be skipped.

use std::collections::BTreeMap;

use crate::collectors::random_distinct;
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, simulate_over};
use crate::random::Random;
use strata_core::count::count_path;
use strata_core::event::Counters;
use strata_core::image::{CheckedImage, Flags, MemorySpace, Predicates, Unit};
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::sm::config::{
    ActiveLimitKind, BarrierRule, MemoryKind, Scheduler, Schedulers, ShortWaits, SmSettings,
    StorageKind, Timing, WarpReplacement,
};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::MemoryModel;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::sm::{Observation, WarpPhase};
use strata_core::units::LaneMask;

const INSTRUCTIONS: u32 = 30;

pub(crate) fn random_kernel(random: &mut Random) -> Kernel {
    let registers = 1 + random.below(20);
    let mut kernel = Kernel { registers: registers as u16, ..Kernel::default() };
    for _ in 0..INSTRUCTIONS {
        let mut some = |most: u32| -> Vec<u16> {
            (0..random.below(most + 1)).map(|_| random.below(registers) as u16).collect()
        };
        let (mut read, write) = (some(4), some(2));
        let (unit, space) = match random.below(20) {
            0 | 1 => (Unit::Sfu, None),
            2 => (Unit::DoublePrecision, None),
            3 => (Unit::Texture, None),
            4 | 5 => (Unit::Memory, Some(MemorySpace::Global)),
            6 | 7 => (Unit::Memory, Some(MemorySpace::Shared)),
            8 => (Unit::Memory, Some(MemorySpace::Constant)),
            9 => (Unit::Control, None),
            _ => (Unit::Alu, None),
        };
        // The upper half of the registers is out of the shared units' sight.
        let half = (registers as u16 / 2).max(1);
        if unit.is_shared_datapath() {
            for register in &mut read {
                *register %= half;
            }
        }
        let apart = write.iter().enumerate().map(|(at, &dest)| u32::from(dest >= half) << at);
        let private_reads = apart.sum();
        let long = unit == Unit::Texture || space == Some(MemorySpace::Global);
        let mut flags = Flags::DESCHEDULE_BEFORE;
        flags.set(Flags::LONG_LATENCY, long);
        let control = unit == Unit::Control;
        flags.set(Flags::BARRIER, control && random.chance(50));
        flags.set(Flags::BRANCH, control && !flags.contains(Flags::BARRIER));
        flags.set(Flags::BACKWARD_BRANCH, flags.contains(Flags::BRANCH) && random.chance(50));
        let predicates = Predicates {
            read: if random.chance(20) { 1 << random.below(5) } else { 0 },
            written: if random.chance(20) { 1 << random.below(5) } else { 0 },
        };
        let (last_use, unneeded) = (random.below(16) & random.below(16), random.below(4));
        let last_before = last_use | random.below(16) & random.below(16);
        kernel = kernel.add(unit, flags, &read, &write).with(|instruction| {
            instruction.space = space;
            instruction.predicates = predicates;
            instruction.last_use = last_use;
            instruction.not_read_before_deschedule = unneeded;
            instruction.last_use_before_deschedule = last_before;
            instruction.private_reads = private_reads;
        });
    }
    kernel
}

/// A random kernel for a design: its instructions write no register twice where results may be
/// pending.
fn kernel_for(random: &mut Random, settings: &SmSettings) -> Kernel {
    let known = settings.memory == MemoryKind::FixedLatency;
    if known { random_kernel(random) } else { random_distinct(random) }
}

fn random_trace(random: &mut Random, kernel: &Kernel) -> OwnedTrace {
    let mut bytes = Vec::new();
    let steps = random.below(12);
    let path: Vec<_> = (0..steps)
        .map(|_| {
            let pc = random.below(INSTRUCTIONS);
            let length = 1 + random.below(INSTRUCTIONS - pc);
            let mask = if random.chance(10) { LaneMask::EMPTY } else { random.mask() };
            PathStep { pc, length, mask }
        })
        .collect();
    for step in path.iter().filter(|step| !step.mask.is_empty()) {
        for instruction in &kernel.instructions[step.pc as usize..][..step.length as usize] {
            if instruction.moves_bytes() {
                bytes.push([0, 4, 32, 128, 128, 512, 4096][random.below(7) as usize]);
            }
        }
    }
    let mut trace = OwnedTrace::new(path, &bytes);
    for access in &mut trace.accesses {
        *access = access.hitting(random.chance(30));
    }
    trace
}

pub(crate) fn random_grid(random: &mut Random, kernel: &Kernel) -> Grid {
    let warps = 1 + random.below(8);
    let cta = |random: &mut Random| (0..warps).map(|_| random_trace(random, kernel)).collect();
    (0..=random.below(6)).map(|_| cta(random)).collect()
}

pub(crate) fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u32) as usize]
}

pub(crate) fn random_settings(random: &mut Random) -> SmSettings {
    let cache = random.chance(75).then(|| RegisterFileCacheConfig {
        entries: 1 + random.below(13) as u8,
        replacement: one_of(random, &[Replacement::Fifo, Replacement::Lru]),
        allocation: one_of(random, &[Allocation::Writes, Allocation::WritesAndReads]),
        liveness: random.chance(70),
        liveness_aware_bypass: random.chance(30),
        liveness_aware_eviction: random.chance(30),
    });
    let scheduling = if random.chance(30) {
        Scheduling::SingleLevel
    } else {
        Scheduling::TwoLevel { active_warps: 1 + random.below(8) as u8 }
    };
    let flush_at_backward_branches = random.chance(20);
    let last_result_file = random.chance(40);
    let cached = |cache| {
        LevelSettings::Cached(CachedLevels { cache, last_result_file, flush_at_backward_branches })
    };
    let levels = cache.map_or(LevelSettings::Flat, cached);
    let settings = OrganisationSettings { levels, scheduling };
    let Ok(hierarchy) = Organisation::new(settings) else { return random_settings(random) };
    let scheduler = one_of(
        random,
        &[
            Scheduler::Greedy,
            Scheduler::RoundRobin,
            Scheduler::GreedyThenOldest,
            Scheduler::LooseRoundRobin,
        ],
    );
    let issue_slots = 1 + random.below(2) as u8;
    let schedulers = if issue_slots == 2 { &Schedulers::ALL[..] } else { &[Schedulers::Shared] };
    SmSettings {
        organisation: hierarchy,
        scheduler,
        issue_slots,
        schedulers: one_of(random, schedulers),
        max_warps: one_of(random, &[8, 16, 32, 48, 64]),
        max_ctas: 1 + random.below(8) as u8,
        timing: Timing {
            alu_latency: one_of(random, &[1, 4, 8, 8, 70]),
            dram_latency: one_of(random, &[30, 64, 400]),
            dram_bytes_per_cycle: one_of(random, &[1, 16, 32]),
            operand_window: one_of(random, &[1, 3]),
            barrier_latency: one_of(random, &[1, 10, 100]),
            hit_latency: one_of(random, &[1, 20, 90]),
            ..Timing::ISCA11
        },
        // Each line of the tables of parts is tried.
        memory: one_of(random, &MemoryKind::ALL),
        storage: one_of(random, &[StorageKind::Partitioned, StorageKind::Warpman]),
        active_limit: match scheduling {
            Scheduling::SingleLevel => ActiveLimitKind::Constant,
            Scheduling::TwoLevel { .. } => one_of(random, &ActiveLimitKind::ALL),
        },
        ..SmSettings::ISCA11
    }
}

/// Random rules by which warps of a two-level scheduler leave the active set.
pub(crate) fn random_rules(random: &mut Random, settings: &mut SmSettings) {
    let threshold = 1 + random.below(40) as u16;
    let reactive = WarpReplacement::Reactive { threshold };
    settings.replacement =
        one_of(random, &[WarpReplacement::Preemptive, reactive, WarpReplacement::CacheMiss]);
    settings.short_waits = ShortWaits::from_bits_truncate(random.below(16) as u8);
    settings.barrier =
        one_of(random, &[BarrierRule::Always, BarrierRule::WhenBlocking, BarrierRule::Never]);
}

pub(crate) fn count_mode(settings: &SmSettings, kernel: &Kernel, grid: &Grid) -> Counters {
    let image = CheckedImage::new(kernel.image()).unwrap();
    let mut awaited = vec![LaneMask::EMPTY; usize::from(kernel.registers)];
    grid.iter().flatten().fold(Counters::default(), |sum, warp| {
        let path = warp.path.iter().copied();
        let counted = count_path(&settings.organisation, image, &mut awaited, path).unwrap();
        sum.checked_add(&counted).unwrap()
    })
}

/// A CTA whose launch has begun and that has not ended.
#[derive(Debug, PartialEq, Eq)]
struct Resident {
    cta: u64,
    /// Places of its warps.
    warps: u64,
    launched: u32,
}

/// What an observer hears of a run, in sums.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    issues: u64,
    /// Slots that have issued in this cycle.
    taken: u8,
    /// Cycles told of, which follow each other without a gap.
    cycles: u64,
    /// Slots by reason.
    slots: BTreeMap<&'static str, u64>,
    /// Warps times cycles, by phase.
    phases: [u64; WarpPhase::ALL.len()],
    bank_reads: u64,
    bank_writes: u64,
    /// CTAs by their places.
    resident: BTreeMap<u8, Resident>,
    ended: u64,
}

impl Told {
    fn add(&mut self, seed: u64, slots: u64, observation: &Observation) {
        match *observation {
            Observation::CtaLaunch { cycle, cta, slot, before, warps } => {
                assert_eq!(cycle, self.cycles, "seed {seed}");
                assert_eq!(self.warps() & warps, 0, "seed {seed}");
                let fresh = Resident { cta, warps: 0, launched: 0 };
                let resident = self.resident.entry(slot).or_insert(fresh);
                assert_eq!((resident.cta, resident.launched), (cta, before), "seed {seed}");
                resident.warps |= warps;
                resident.launched += warps.count_ones();
            }
            Observation::CtaEnd { cycle, cta, slot, warps, last } => {
                assert_eq!(cycle, self.cycles, "seed {seed}");
                let resident = self.resident.get_mut(&slot).expect("it is resident");
                assert_eq!((resident.cta, resident.warps & warps), (cta, warps), "seed {seed}");
                resident.warps &= !warps;
                if last {
                    assert_eq!(resident.warps, 0, "seed {seed}");
                    self.resident.remove(&slot);
                    self.ended += 1;
                }
            }
            Observation::Issue(issue) => {
                assert_eq!(issue.cycle, self.cycles, "seed {seed}");
                assert_eq!(self.taken >> issue.slot & 1, 0, "seed {seed}");
                self.taken |= 1 << issue.slot;
                self.issues += 1;
            }
            Observation::Unit { from, until, .. } => {
                assert!(self.cycles <= from && from < until, "seed {seed}");
            }
            Observation::BankRead { from, until, .. } => {
                assert!(self.cycles <= from && from < until, "seed {seed}");
                self.bank_reads += until - from;
            }
            Observation::BankWrite { cycle, .. } => {
                assert!(cycle >= self.cycles, "seed {seed}");
                self.bank_writes += 1;
            }
            Observation::Result { cycle } => assert!(cycle > self.cycles, "seed {seed}"),
            Observation::Refused { cycle, .. } => assert_eq!(cycle, self.cycles, "seed {seed}"),
            Observation::Memory(_)
            | Observation::Path { .. }
            | Observation::Fill { .. }
            | Observation::Row(_) => {
                panic!("seed {seed}: there is no cache");
            }
            Observation::Expansion { .. } => panic!("seed {seed}: no register is elsewhere"),
            Observation::ActiveLimit { cycle, .. } => {
                assert_eq!(cycle, self.cycles, "seed {seed}");
            }
            Observation::Cycles { first, count, slots: became, warps } => {
                assert_eq!(first, self.cycles, "seed {seed}");
                self.cycles += count;
                let taken = std::mem::take(&mut self.taken);
                for (slot, reason) in became.into_iter().enumerate().take(slots as usize) {
                    let issued = taken >> slot & 1 != 0;
                    assert_eq!(reason == StallReason::Issued, issued, "seed {seed}, slot {slot}");
                    let cycles = if reason == StallReason::Issued { 1 } else { count };
                    *self.slots.entry(reason.name()).or_default() += cycles;
                }
                let mut all = 0;
                for (&phase, sum) in WarpPhase::ALL.iter().zip(&mut self.phases) {
                    assert_eq!(all & warps.warps(phase), 0, "seed {seed}");
                    all |= warps.warps(phase);
                    *sum += count * u64::from(warps.warps(phase).count_ones());
                }
                assert_eq!(all, self.warps(), "seed {seed}");
            }
        }
    }

    fn warps(&self) -> u64 {
        self.resident.values().fold(0, |all, cta| all | cta.warps)
    }

    /// The sums are the run's counters.
    fn check(&self, seed: u64, counters: &SmCounters, read_cycles: u64) {
        assert_eq!(self.cycles, counters.cycles(), "seed {seed}");
        assert_eq!((self.ended, self.warps()), (counters.ctas(), 0), "seed {seed}");
        // A read takes its bank for a cycle or, where collectors say so, several.
        assert_eq!(self.bank_reads, counters.accesses.mrf_reads() * read_cycles, "seed {seed}");
        assert_eq!(self.bank_writes, counters.accesses.mrf_writes(), "seed {seed}");
        let flushing = self.phases[WarpPhase::Flush as usize];
        assert_eq!(flushing, counters.flush_cycles(), "seed {seed}");
        for &reason in StallReason::ALL {
            let told = self.slots.get(reason.name()).copied().unwrap_or(0);
            assert_eq!(told, counters.slots(reason), "seed {seed}, {}", reason.name());
        }
    }
}

/// Runs one random case at both paces and checks what holds for every design.
pub(crate) fn drive(
    seed: u64,
    settings: SmSettings,
    kernel: &Kernel,
    grid: &Grid,
) -> Result<SmCounters, Fault> {
    drive_over(seed, settings, kernel, grid, |run| run(None))
}

/// Runs one random case at both paces, over a memory that `attach` gives to each run, and checks
/// what holds for every design.
pub(crate) fn drive_over(
    seed: u64,
    settings: SmSettings,
    kernel: &Kernel,
    grid: &Grid,
    mut attach: impl FnMut(&mut dyn FnMut(Option<&mut dyn MemoryModel>)),
) -> Result<SmCounters, Fault> {
    let mut told = Told::default();
    let slots = u64::from(settings.issue_slots);
    let mut singly = Told::default();
    let mut at = |pace, told: &mut Told| {
        let mut counters = None;
        attach(&mut |memory| {
            let observe = |one| told.add(seed, slots, &one);
            counters = Some(simulate_over(memory, settings, kernel, 0, grid, pace, observe));
        });
        counters.expect("it ran")
    };
    let skipping = at(Pace::Skipping, &mut told);
    let every_cycle = at(Pace::EveryCycle, &mut singly);
    assert_eq!(skipping, every_cycle, "seed {seed}, {settings:?}");
    assert_eq!(told, singly, "seed {seed}, {settings:?}");
    let counters = skipping?;
    assert_eq!(counters.all_slots(), counters.cycles() * slots, "seed {seed}");
    let issued = counters.slots(StallReason::Issued);
    assert_eq!(issued, counters.accesses.warp_instructions(), "seed {seed}");
    assert_eq!(issued, told.issues, "seed {seed}");
    let read_cycles = match settings.operand_delivery {
        OperandDelivery::FixedLatency { .. } => 1,
        OperandDelivery::Collectors(collectors) => u64::from(collectors.read_cycles),
    };
    told.check(seed, &counters, read_cycles);
    assert_eq!(counters.ctas(), grid.len() as u64, "seed {seed}");
    Ok(counters)
}

#[test]
fn accesses_are_those_of_count_mode() {
    let mut last_results = 0;
    for seed in 0..600 {
        let mut random = Random(seed);
        let settings = random_settings(&mut random);
        let kernel = kernel_for(&mut random, &settings);
        let grid = random_grid(&mut random, &kernel);
        let counters = drive(seed, settings, &kernel, &grid)
            .unwrap_or_else(|fault| panic!("seed {seed}, {settings:?}: {fault}"));
        let expected = count_mode(&settings, &kernel, &grid);
        assert_eq!(counters.accesses, expected, "seed {seed}, {settings:?}");
        last_results += counters.accesses.lrf_reads();
    }
    assert!(last_results > 1000, "{last_results} reads: the last result file is hardly tested");
}

#[test]
fn the_papers_alternatives_skip_idle_cycles_too() {
    let mut stalled = 0;
    for seed in 1000..1300 {
        let mut random = Random(seed);
        let mut settings = random_settings(&mut random);
        let scheduling = settings.organisation.settings().scheduling;
        if matches!(scheduling, Scheduling::SingleLevel) {
            continue;
        }
        random_rules(&mut random, &mut settings);
        let kernel = kernel_for(&mut random, &settings);
        let grid = random_grid(&mut random, &kernel);
        match drive(seed, settings, &kernel, &grid) {
            Ok(_) => {}
            Err(Fault::Stalled { reason, .. }) => {
                assert_eq!(settings.barrier, BarrierRule::Never, "seed {seed}");
                assert_eq!(reason, StallReason::Barrier, "seed {seed}");
                stalled += 1;
            }
            Err(fault) => panic!("seed {seed}, {settings:?}: {fault}"),
        }
    }
    assert!(stalled > 5, "{stalled} deadlocks: the rule is hardly tested");
}
