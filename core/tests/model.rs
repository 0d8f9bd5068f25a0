//! The register file cache and count mode against an obvious reference model, on random traffic:
//! every capacity, every combination of policies, full and partial masks.

mod random;
mod reference;

use random::{Random, lanes_of};
use reference::{Cache, Slots, Stop, Totals};
use strata_core::access::Access;
use strata_core::count::count_path;
use strata_core::event::{Counters, Event};
use strata_core::fault::PathFault;
use strata_core::image::{CheckedImage, Flags, KernelImage, StaticInstruction, Unit};
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{
    Allocation, MAX_ENTRIES, Operands, RegisterFileCache, RegisterFileCacheConfig, Replacement,
};
use strata_core::units::{LANES, LaneMask, RegisterId};

/// Every cache of `entries` entries.
fn policies(entries: u8) -> Vec<RegisterFileCacheConfig> {
    let mut all = Vec::new();
    for replacement in [Replacement::Fifo, Replacement::Lru] {
        for allocation in [Allocation::Writes, Allocation::WritesAndReads] {
            for (liveness, liveness_aware_bypass, liveness_aware_eviction) in [
                (false, false, false),
                (true, false, false),
                (true, true, false),
                (true, false, true),
                (true, true, true),
            ] {
                all.push(RegisterFileCacheConfig {
                    entries,
                    replacement,
                    allocation,
                    liveness,
                    liveness_aware_bypass,
                    liveness_aware_eviction,
                });
            }
        }
    }
    all
}

fn random_registers(random: &mut Random, most: u32, registers: u32) -> Vec<RegisterId> {
    (0..random.below(most + 1)).map(|_| RegisterId(random.below(registers) as u16)).collect()
}

/// What the cache reports, in the reference's terms; the datapath is not the cache's business.
fn total(totals: &mut Totals, access: Access, side: usize) {
    *match access {
        Access::RfcRead => &mut totals.cache_reads[side],
        Access::MrfRead => &mut totals.main_reads[side],
        Access::RfcPartialHit => &mut totals.both,
        Access::RfcWrite => &mut totals.cache_writes[side],
        Access::MrfWrite => &mut totals.main_writes[side],
        Access::RfcFill => &mut totals.cache_fills[side],
        Access::RfcWritebackEviction => &mut totals.evicted,
        Access::RfcWritebackFlush => &mut totals.flushed,
        Access::RfcAllocation => &mut totals.allocated,
        Access::RfcDrop => &mut totals.dropped,
        other => panic!("a cache alone does not tell of {other:?}"),
    } += 1;
}

/// Values as the reported accesses move them, and as the program sees them.
struct Values {
    program: Vec<[Option<u32>; LANES as usize]>,
    main: Vec<[Option<u32>; LANES as usize]>,
    cached: Vec<[Option<u32>; LANES as usize]>,
    next: u32,
}

impl Values {
    fn new(registers: usize) -> Self {
        let unknown = vec![[None; LANES as usize]; registers];
        Self { program: unknown.clone(), main: unknown.clone(), cached: unknown, next: 0 }
    }

    /// Follows one access; fails if a lane reads anything but what the program wrote there.
    fn follow(
        &mut self,
        access: Access,
        register: RegisterId,
        lanes: LaneMask,
    ) -> Result<(), String> {
        let register = usize::from(register.0);
        self.next += 1;
        for lane in lanes_of(lanes) {
            let lane = lane as usize;
            let (main, cached) = (&mut self.main[register][lane], &mut self.cached[register][lane]);
            let wanted = &mut self.program[register][lane];
            let read = match access {
                Access::RfcRead => *cached,
                Access::MrfRead => *main,
                Access::RfcWrite => {
                    (*cached, *wanted) = (Some(self.next), Some(self.next));
                    continue;
                }
                Access::MrfWrite => {
                    (*main, *wanted) = (Some(self.next), Some(self.next));
                    continue;
                }
                Access::RfcFill => {
                    *cached = *main;
                    continue;
                }
                Access::RfcWritebackEviction | Access::RfcWritebackFlush => {
                    (*main, *cached) = (*cached, None);
                    continue;
                }
                Access::RfcDrop => {
                    *cached = None;
                    continue;
                }
                // Nothing moves. Other levels' accesses fail the totals.
                _ => continue,
            };
            // A value that was never written, or that the compiler declared dead, may be anything.
            if wanted.is_some() && read != *wanted {
                return Err(format!("register {register} lane {lane}: {access:?} finds {read:?}"));
            }
        }
        Ok(())
    }
}

/// One random instruction, for both sides.
struct Drawn {
    sources: Vec<RegisterId>,
    destinations: Vec<RegisterId>,
    last_use: u32,
    last_use_before_deschedule: u32,
    not_read_before_deschedule: u32,
    bypass: bool,
    mask: LaneMask,
}

fn bit(hints: u32, index: usize) -> bool {
    hints >> index & 1 != 0
}

impl Drawn {
    fn new(random: &mut Random, registers: u32) -> Self {
        let hints = |random: &mut Random| random.below(256) & random.below(256);
        Self {
            sources: random_registers(random, 4, registers),
            destinations: random_registers(random, 2, registers),
            last_use: hints(random),
            last_use_before_deschedule: hints(random),
            not_read_before_deschedule: hints(random),
            bypass: random.chance(15),
            mask: random.mask(),
        }
    }

    fn operands(&self) -> Operands<'_> {
        Operands {
            sources: &self.sources,
            last_use: self.last_use,
            last_use_before_deschedule: self.last_use_before_deschedule,
            destinations: &self.destinations,
            not_read_before_deschedule: self.not_read_before_deschedule,
            bypass: self.bypass,
            mask: self.mask,
        }
    }

    fn slots(&self) -> Slots {
        let sources = self.sources.iter().enumerate().map(|(at, register)| {
            let unneeded = bit(self.last_use_before_deschedule, at);
            (register.0, bit(self.last_use, at), unneeded)
        });
        let destinations = self.destinations.iter().enumerate();
        let destinations = destinations
            .map(|(at, register)| (register.0, bit(self.not_read_before_deschedule, at), false));
        Slots {
            sources: sources.collect(),
            destinations: destinations.collect(),
            bypass: self.bypass,
            lanes: lanes_of(self.mask),
            shared: false,
        }
    }

    /// Forgets the values that the compiler declared dead and the instruction did not rewrite.
    fn bury(&self, values: &mut Values) {
        for (at, source) in self.sources.iter().enumerate() {
            let rewritten = self.destinations.contains(source);
            let kept = if rewritten { self.mask } else { LaneMask::EMPTY };
            if bit(self.last_use, at) {
                for lane in lanes_of(LaneMask::FULL.without(kept)) {
                    values.program[usize::from(source.0)][lane as usize] = None;
                }
            }
        }
    }
}

fn drive(config: RegisterFileCacheConfig, seed: u64) {
    let mut random = Random(seed);
    let registers = 1 + random.below(20);
    let mut cache = RegisterFileCache::<16>::new(config).unwrap();
    let mut reference = Cache::new(config, false);
    let mut totals = Totals::default();
    let mut values = Values::new(registers as usize);
    for step in 0..60 {
        let context = || format!("seed {seed}, step {step}, {config:?}");
        let drawn = Drawn::new(&mut random, registers);
        let mut trouble = None;
        let mut observe = |access: Access, register: RegisterId, lanes: LaneMask| {
            assert!(!lanes.is_empty());
            total(&mut totals, access, 0);
            trouble = trouble.take().or(values.follow(access, register, lanes).err());
        };
        if random.chance(5) {
            cache.flush(&mut observe);
            reference.flush();
        }
        cache.step(&drawn.operands(), &mut observe);
        reference.step(&drawn.slots());
        assert_eq!(trouble, None, "{}", context());
        if config.liveness {
            drawn.bury(&mut values);
        }
        let found =
            cache.entries().map(|(register, lanes, dirty)| (register.0, lanes_of(lanes), dirty));
        let expected = reference.lines().into_iter();
        let expected = expected.map(|line| (line.register, line.lanes, line.dirty));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{}", context());
        assert_eq!(totals, reference.totals, "{}", context());
        let resident = cache.resident() as u64;
        let left = totals.evicted + totals.flushed + totals.dropped;
        assert_eq!(totals.allocated, resident + left, "{}", context());
    }
}

#[test]
fn the_cache_does_what_the_reference_does() {
    for entries in 1..=MAX_ENTRIES {
        for (number, config) in policies(entries).into_iter().enumerate() {
            for run in 0..4 {
                drive(config, u64::from(entries) * 1000 + number as u64 * 10 + run);
            }
        }
    }
}

/// A random image: every flag, repeated and missing operands. Unless it is `loose` the results that
/// may go to the last result file are out of the shared units' sight: those read the lower half of
/// the registers only.
fn random_image(
    random: &mut Random,
    marked: bool,
    loose: bool,
) -> (Vec<StaticInstruction>, Vec<RegisterId>, u16) {
    let registers = 1 + random.below(24);
    let mut slots = Vec::new();
    let instructions = (0..30).map(|_| {
        let first_slot = slots.len() as u32;
        let mut sources = random_registers(random, 4, registers);
        let destinations = random_registers(random, 2, registers);
        let unit = match random.below(8) {
            0 => Unit::Sfu,
            1 => Unit::Memory,
            2 => Unit::Texture,
            3 => Unit::DoublePrecision,
            _ => Unit::Alu,
        };
        let half = (registers / 2) as u16;
        let mut private_reads = random.below(4);
        if !loose {
            if unit.is_shared_datapath() {
                for source in &mut sources {
                    source.0 %= half.max(1);
                }
            }
            let apart = |register: &RegisterId| u32::from(register.0 >= half.max(1));
            let bits = destinations.iter().enumerate().map(|(at, dest)| apart(dest) << at);
            private_reads = bits.sum::<u32>() & (private_reads | random.below(4));
        }
        slots.extend(&sources);
        slots.extend(&destinations);
        let mut flags = Flags::empty();
        flags.set(Flags::LONG_LATENCY, random.chance(15));
        flags.set(Flags::BARRIER, random.chance(4));
        flags.set(Flags::BACKWARD_BRANCH, random.chance(6));
        flags.set(Flags::DESCHEDULE_BEFORE, marked || random.chance(90));
        StaticInstruction {
            first_slot,
            sources: sources.len() as u8,
            destinations: destinations.len() as u8,
            flags,
            last_use: random.below(16) & random.below(16),
            not_read_before_deschedule: random.below(4) & random.below(4),
            last_use_before_deschedule: random.below(16) & random.below(16),
            private_reads,
            ..StaticInstruction::new(unit)
        }
    });
    (instructions.collect(), slots, registers as u16)
}

fn random_path(random: &mut Random) -> Vec<PathStep> {
    (0..25)
        .map(|_| {
            let pc = random.below(30);
            let length = 1 + random.below(30 - pc);
            let mask = if random.chance(10) { LaneMask::EMPTY } else { random.mask() };
            PathStep { pc, length, mask }
        })
        .collect()
}

fn in_reference_terms(counters: &Counters) -> Totals {
    let get = |event| counters.get(event);
    Totals {
        instructions: get(Event::WarpInstruction),
        threads: get(Event::ThreadInstruction),
        main_reads: [get(Event::MrfReadPrivate), get(Event::MrfReadShared)],
        by_main_reads: [
            get(Event::MrfOperands0),
            get(Event::MrfOperands1),
            get(Event::MrfOperands2),
            get(Event::MrfOperands3),
            get(Event::MrfOperandsOver3),
        ],
        main_writes: [get(Event::MrfWritePrivate), get(Event::MrfWriteShared)],
        cache_reads: [get(Event::RfcReadPrivate), get(Event::RfcReadShared)],
        cache_writes: [get(Event::RfcWritePrivate), get(Event::RfcWriteShared)],
        cache_fills: [get(Event::RfcFillPrivate), get(Event::RfcFillShared)],
        both: get(Event::RfcPartialHit),
        evicted: get(Event::RfcWritebackEviction),
        flushed: get(Event::RfcWritebackFlush),
        allocated: get(Event::RfcAllocation),
        dropped: get(Event::RfcDrop),
        last_reads: get(Event::LrfRead),
        last_and_lower: get(Event::LrfPartialHit),
        last_writes: get(Event::LrfWrite),
        last_moved: get(Event::LrfEviction),
        last_evicted: get(Event::LrfWritebackEviction),
        last_flushed: get(Event::LrfWritebackFlush),
        last_allocated: get(Event::LrfAllocation),
        last_dropped: get(Event::LrfDrop),
        deschedules: get(Event::Deschedule),
        barriers: get(Event::BarrierDeschedule),
    }
}

/// Counts one random path both ways. Returns the counts, or why it stopped.
fn compare(settings: OrganisationSettings, seed: u64) -> Result<Totals, Stop> {
    let Ok(config) = Organisation::new(settings) else { return Ok(Totals::default()) };
    let mut random = Random(seed);
    let (marked, loose) = (random.chance(70), random.chance(15));
    let (instructions, slots, registers) = random_image(&mut random, marked, loose);
    let path = random_path(&mut random);
    let image = KernelImage { instructions: &instructions, slots: &slots, registers };
    let checked = CheckedImage::new(image).unwrap();
    let mut awaited = vec![LaneMask::FULL; usize::from(registers) + 3];
    let counted = count_path(&config, checked, &mut awaited, path.iter().copied());
    let expected = reference::count(&settings, &image, &path);
    match (counted, expected) {
        (Ok(counters), Ok(totals)) => {
            assert_eq!(in_reference_terms(&counters), totals, "seed {seed}, {settings:?}");
            conserve(&counters, &image, &path, seed);
            Ok(totals)
        }
        (Err(PathFault::UnmarkedDeschedule { pc, .. }), Err(expected)) => {
            assert_eq!(Stop::Unmarked(pc), expected, "seed {seed}, {settings:?}");
            Err(expected)
        }
        (Err(PathFault::OutOfReach { pc, .. }), Err(expected)) => {
            assert_eq!(Stop::OutOfReach(pc), expected, "seed {seed}, {settings:?}");
            Err(expected)
        }
        (counted, expected) => panic!("seed {seed}, {settings:?}: {counted:?}, {expected:?}"),
    }
}

/// Laws that hold for every design.
fn conserve(counters: &Counters, image: &KernelImage<'_>, path: &[PathStep], seed: u64) {
    let executed = path.iter().filter(|step| !step.mask.is_empty()).flat_map(|step| {
        let first = step.pc as usize;
        &image.instructions[first..first + step.length as usize]
    });
    let (mut reads, mut writes) = (0, 0);
    for instruction in executed {
        reads += u64::from(instruction.sources);
        writes += u64::from(instruction.destinations);
    }
    assert_eq!(counters.operand_reads(), reads, "seed {seed}");
    assert_eq!(counters.operand_writes(), writes, "seed {seed}");
    let written = counters.mrf_writes() + counters.rfc_writes() + counters.lrf_writes();
    assert_eq!(counters.overhead_writes(), written - writes, "seed {seed}");
    let up_to_3 = counters.mrf_operands_0()
        + counters.mrf_operands_1()
        + counters.mrf_operands_2()
        + counters.mrf_operands_3();
    let all = up_to_3 + counters.mrf_operands_over_3();
    assert_eq!(all, counters.warp_instructions(), "seed {seed}");
    let left = counters.rfc_writebacks() + counters.rfc_drops();
    assert_eq!(counters.rfc_allocations(), left, "seed {seed}");
    assert!(counters.rfc_allocations() <= counters.rfc_writes(), "seed {seed}");
    let left = counters.lrf_evictions() + counters.lrf_writebacks() + counters.lrf_drops();
    assert_eq!(counters.lrf_allocations(), left, "seed {seed}");
    assert!(counters.lrf_allocations() <= counters.lrf_writes(), "seed {seed}");
}

#[test]
fn count_mode_does_what_the_reference_does() {
    let (mut unmarked, mut out_of_reach) = (0, 0);
    let mut runs = 0;
    let mut rare = [0; 6];
    for cache in (1..=MAX_ENTRIES).flat_map(policies).map(Some).chain([None]) {
        for scheduling in [Scheduling::SingleLevel, Scheduling::TwoLevel { active_warps: 8 }] {
            for flush_at_backward_branches in [false, true] {
                for last_result_file in [false, false, true, true, true] {
                    let cached = |cache| {
                        LevelSettings::Cached(CachedLevels {
                            cache,
                            last_result_file,
                            flush_at_backward_branches,
                        })
                    };
                    let levels = cache.map_or(LevelSettings::Flat, cached);
                    let settings = OrganisationSettings { levels, scheduling };
                    runs += 1;
                    match compare(settings, runs) {
                        Err(Stop::Unmarked(_)) => unmarked += 1,
                        Err(Stop::OutOfReach(_)) => out_of_reach += 1,
                        Ok(seen) => {
                            let seen = [
                                seen.last_reads,
                                seen.last_and_lower,
                                seen.last_moved,
                                seen.last_evicted,
                                seen.last_flushed,
                                seen.last_dropped,
                            ];
                            rare.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += seen);
                        }
                    }
                }
            }
        }
    }
    assert!(unmarked > 20, "{unmarked} of {runs} runs: unmarked deschedules are hardly tested");
    assert!(out_of_reach > 20, "{out_of_reach} of {runs} runs: reach is hardly tested");
    assert!(rare.iter().all(|&seen| seen > 100), "the last result file is hardly tested: {rare:?}");
}
