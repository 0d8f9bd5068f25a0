//! A compiler-managed hierarchy in both modes: each placement counts once at each of its levels, and
//! only what goes to the main register file meets its ports.

mod random;

use random::{Random, lanes_of};
use strata_core::count::{count_path, count_path_clusters};
use strata_core::event::{Counters, Event};
use strata_core::fault::PathFault;
use strata_core::image::{CheckedImage, Flags, ImageError, KernelImage, StaticInstruction, Unit};
use strata_core::organisation::{LevelSettings, Organisation, OrganisationSettings, Scheduling};
use strata_core::path::PathStep;
use strata_core::placement::{Placement, Upper};
use strata_core::sm::config::{SmConfig, SmSettings};
use strata_core::sm::counters::SmCounters;
use strata_core::sm::{
    Cta, DeliveryMemory, Facts, Memory, MemorySize, ReadyAt, Sm, Warp, WarpTrace,
};
use strata_core::units::{LaneMask, RegisterId};

const MAIN: Placement = Placement::MAIN;

const fn only(upper: Upper) -> Placement {
    Placement { main: false, upper: Some(upper) }
}

const fn both(upper: Upper) -> Placement {
    Placement { main: true, upper: Some(upper) }
}

const ORF: Upper = Upper::Orf(2);
const LRF: Upper = Upper::Lrf(1);

const MANAGED: OrganisationSettings = OrganisationSettings {
    levels: LevelSettings::CompilerManaged,
    scheduling: Scheduling::TwoLevel { active_warps: 8 },
};

/// A kernel with the placement of each slot.
#[derive(Default)]
struct Kernel {
    instructions: Vec<StaticInstruction>,
    slots: Vec<RegisterId>,
    placements: Vec<Placement>,
}

type Slots<'a> = &'a [(u16, Placement)];

impl Kernel {
    fn add(mut self, unit: Unit, flags: Flags, read: Slots<'_>, write: Slots<'_>) -> Self {
        let first_slot = self.slots.len() as u32;
        self.slots.extend(read.iter().chain(write).map(|&(register, _)| RegisterId(register)));
        self.placements.extend(read.iter().chain(write).map(|&(_, placement)| placement));
        self.instructions.push(StaticInstruction {
            first_slot,
            sources: read.len() as u8,
            destinations: write.len() as u8,
            flags,
            ..StaticInstruction::new(unit)
        });
        self
    }

    fn alu(self, read: Slots<'_>, write: Slots<'_>) -> Self {
        self.add(Unit::Alu, Flags::empty(), read, write)
    }

    fn image(&self) -> CheckedImage<'_> {
        let (instructions, slots) = (&self.instructions, &self.slots);
        CheckedImage::new(KernelImage { instructions, slots, registers: 16 }).unwrap()
    }

    fn placed(&self) -> CheckedImage<'_> {
        self.image().with_placements(&self.placements).unwrap()
    }

    fn path(&self) -> PathStep {
        PathStep { pc: 0, length: self.instructions.len() as u32, mask: LaneMask::FULL }
    }

    fn count(&self) -> Counters {
        let config = Organisation::new(MANAGED).unwrap();
        count_path(&config, self.placed(), &mut [LaneMask::EMPTY; 16], [self.path()]).unwrap()
    }

    /// One warp, alone.
    fn run(&self, image: CheckedImage<'_>) -> Result<SmCounters, strata_core::sm::fault::Fault> {
        let hierarchy = Organisation::new(MANAGED).unwrap();
        let config =
            SmConfig::new(SmSettings { organisation: hierarchy, ..SmSettings::DISSERTATION })
                .unwrap();
        let size = MemorySize::of(&config, &image);
        let memory = Memory::<_, 8> {
            warps: &mut vec![Warp::default(); size.warps],
            ctas: &mut vec![Cta::VACANT; size.ctas],
            facts: &mut vec![Facts::default(); size.facts],
            ready: &mut vec![ReadyAt::NOW; size.ready],
            awaited: &mut vec![LaneMask::EMPTY; size.awaited],
            caches: &mut vec![None; size.caches],
            delivery: DeliveryMemory::default(),
            attached: None,
        };
        let path = [self.path()];
        let warp: WarpTrace<'_> =
            WarpTrace { lanes: LaneMask::FULL, path: &path, accesses: &[], barriers: &[] };
        Sm::new(&config, image, 1, 0, memory)?.run([[warp]])
    }
}

fn events(counters: &Counters) -> Vec<(Event, u64)> {
    let counted = Event::ALL.iter().map(|&event| (event, counters.get(event)));
    counted.filter(|&(_, count)| count != 0).skip(2).collect()
}

/// Every placement, on both datapaths.
fn every_placement() -> Kernel {
    Kernel::default()
        .alu(&[(1, MAIN), (2, both(ORF)), (3, both(LRF))], &[(4, only(LRF))])
        .alu(&[(4, only(LRF)), (2, only(ORF))], &[(5, both(LRF)), (6, only(ORF))])
        .alu(&[(5, only(LRF))], &[(7, both(ORF)), (8, MAIN)])
        .add(Unit::Sfu, Flags::empty(), &[(6, only(ORF)), (9, both(ORF))], &[(9, only(ORF))])
        .add(Unit::Sfu, Flags::empty(), &[(9, only(ORF)), (1, MAIN)], &[(10, both(ORF))])
        .add(Unit::Texture, Flags::LONG_LATENCY, &[(10, only(ORF))], &[(11, MAIN)])
}

#[test]
fn each_placement_counts_at_its_levels() {
    let counters = every_placement().count();
    let expected = [
        (Event::MrfReadPrivate, 3),
        (Event::MrfReadShared, 2),
        (Event::MrfWritePrivate, 3),
        (Event::MrfWriteShared, 2),
        (Event::MrfOperands0, 3),
        (Event::MrfOperands1, 2),
        (Event::MrfOperands3, 1),
        (Event::LrfRead, 2),
        (Event::LrfWrite, 2),
        (Event::LrfFill, 1),
        (Event::OrfReadPrivate, 1),
        (Event::OrfReadShared, 3),
        (Event::OrfWritePrivate, 2),
        (Event::OrfWriteShared, 2),
        (Event::OrfFillPrivate, 1),
        (Event::OrfFillShared, 1),
        (Event::DualWriteOrfPrivate, 1),
        (Event::DualWriteOrfShared, 1),
        (Event::DualWriteLrf, 1),
    ];
    assert_eq!(events(&counters), expected);
    assert_eq!((counters.operand_reads(), counters.operand_writes()), (11, 8));
    // Three copies of operands and three results in two levels.
    assert_eq!(counters.overhead_writes(), 6);
}

#[test]
fn clusters_count_those_with_an_enabled_lane() {
    let kernel = every_placement();
    let config = Organisation::new(MANAGED).unwrap();
    let counted = |mask| {
        let path = [PathStep { mask, ..kernel.path() }];
        count_path_clusters(&config, kernel.placed(), &mut [LaneMask::EMPTY; 16], path).unwrap()
    };
    let (full, one) = (counted(LaneMask::FULL), counted(LaneMask(0b100)));
    for (event, count) in events(&kernel.count()) {
        let clusters = if event.unit() == "warp instructions" { 1 } else { 8 };
        let expected = (clusters * count, count);
        assert_eq!((full.get(event), one.get(event)), expected, "{}", event.name());
    }
}

#[test]
fn both_modes_count_the_same() {
    let kernel = every_placement();
    assert_eq!(kernel.run(kernel.placed()).unwrap().accesses, kernel.count());
}

/// Every slot by itself, in both modes.
#[test]
fn random_placements_are_counted_slot_by_slot() {
    let mut seen = Counters::default();
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut kernel = Kernel::default();
        let mut expected = Counters::default();
        let mut overhead = 0;
        for _ in 0..30 {
            let unit = [Unit::Alu, Unit::DoublePrecision, Unit::Sfu][random.below(3) as usize];
            let shared = unit == Unit::Sfu;
            let mut slots = |most: u32| -> Vec<(u16, Placement)> {
                let mut one = || {
                    let upper = if shared || random.chance(50) { ORF } else { LRF };
                    [MAIN, MAIN, only(upper), both(upper)][random.below(4) as usize]
                };
                let placed: Vec<Placement> = (0..most).map(|_| one()).collect();
                let count = random.below(most + 1) as usize;
                placed[..count].iter().map(|&slot| (random.below(16) as u16, slot)).collect()
            };
            let (read, write) = (slots(6), slots(2));
            let from_main = read.iter().filter(|(_, placement)| placement.main).count();
            let bin = [
                Event::MrfOperands0,
                Event::MrfOperands1,
                Event::MrfOperands2,
                Event::MrfOperands3,
            ];
            expected.record(*bin.get(from_main).unwrap_or(&Event::MrfOperandsOver3), 1);
            let twice = |slot: &&(u16, Placement)| slot.1.main && slot.1.upper.is_some();
            let copies = read.iter().chain(&write).filter(twice).count();
            overhead += copies as u64;
            kernel = kernel.add(unit, Flags::empty(), &read, &write);
        }
        let counters = kernel.count();
        let in_time = kernel.run(kernel.placed()).unwrap().accesses;
        assert_eq!(in_time, counters, "seed {seed}");
        // Whatever lanes take part.
        let (config, path) = (Organisation::new(MANAGED).unwrap(), kernel.path());
        let mask = random.mask();
        let path = [PathStep { mask, ..path }];
        let mut awaited = [LaneMask::EMPTY; 16];
        let partial = count_path(&config, kernel.placed(), &mut awaited, path).unwrap();
        assert_eq!(events(&partial), events(&counters), "seed {seed}");
        let threads = 30 * lanes_of(mask).len() as u64;
        assert_eq!(partial.thread_instructions(), threads, "seed {seed}");
        for event in [
            Event::MrfOperands0,
            Event::MrfOperands1,
            Event::MrfOperands2,
            Event::MrfOperands3,
            Event::MrfOperandsOver3,
        ] {
            assert_eq!(counters.get(event), expected.get(event), "seed {seed}, {}", event.name());
        }
        assert_eq!(counters.overhead_writes(), overhead, "seed {seed}");
        seen = seen.checked_add(&counters).unwrap();
    }
    assert!(seen.mrf_operands_over_3() > 100, "{seen:?}");
}

#[test]
fn only_the_main_register_file_has_ports() {
    // Registers 1, 5 and 9 share a bank, as do the results 2 and 6.
    let kernel = |placement: fn(Upper) -> Placement| {
        let at = |entry| placement(Upper::Orf(entry));
        Kernel::default()
            .alu(&[(1, at(0)), (5, at(1)), (9, at(2))], &[(2, at(0))])
            .alu(&[(2, at(0))], &[(3, MAIN)])
    };
    let cycles = |kernel: &Kernel| kernel.run(kernel.placed()).unwrap().cycles();
    // Two reads of one bank beyond the first delay the first instruction by two cycles.
    assert_eq!(cycles(&kernel(|_| MAIN)), 8 + 2 + 8);
    assert_eq!(cycles(&kernel(both)), 8 + 2 + 8);
    assert_eq!(cycles(&kernel(only)), 8 + 8);
}

#[test]
fn placements_that_cannot_be_are_refused() {
    let kernel = every_placement();
    let refused = |slot: usize, placement: Placement| {
        let mut placements = kernel.placements.clone();
        placements[slot] = placement;
        kernel.image().with_placements(&placements).map(|_| ()).unwrap_err()
    };
    let nowhere = Placement { main: false, upper: None };
    assert_eq!(refused(0, nowhere), ImageError::BadPlacement { pc: 0, slot: 0 });
    assert_eq!(refused(3, only(Upper::Orf(8))), ImageError::BadPlacement { pc: 0, slot: 3 });
    assert_eq!(refused(1, only(Upper::Lrf(3))), ImageError::BadPlacement { pc: 0, slot: 1 });
    let (shared, load) = (kernel.instructions[3].first_slot, kernel.instructions[5].first_slot);
    let error = refused(shared as usize, only(Upper::Lrf(0)));
    assert_eq!(error, ImageError::BadPlacement { pc: 3, slot: 0 });
    let error = refused(load as usize + 1, both(Upper::Orf(0)));
    assert_eq!(error, ImageError::BadPlacement { pc: 5, slot: 1 });
    let (slots, placements) = (kernel.slots.len(), kernel.slots.len() - 1);
    let short = kernel.image().with_placements(&kernel.placements[1..]).map(|_| ()).unwrap_err();
    assert_eq!(short, ImageError::PlacementCount { slots, placements });
}

#[test]
fn an_image_that_was_not_fitted_is_refused() {
    let kernel = every_placement();
    let config = Organisation::new(MANAGED).unwrap();
    let counted = count_path(&config, kernel.image(), &mut [LaneMask::EMPTY; 16], [kernel.path()]);
    assert_eq!(counted, Err(PathFault::NotPlaced));
    let run = kernel.run(kernel.image()).unwrap_err();
    assert_eq!(run, strata_core::sm::fault::Fault::Hierarchy(PathFault::NotPlaced));
}
