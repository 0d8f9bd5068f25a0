//! Count mode by hand-made paths: what is counted where, deschedules, barriers, flushes and faults.

use strata_core::count::{WarpCounter, count_path, count_path_clusters};
use strata_core::event::{Counters, Event};
use strata_core::fault::PathFault;
use strata_core::image::{CheckedImage, Flags, ImageError, KernelImage, StaticInstruction, Unit};
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationError, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{
    Allocation, ConfigError, RegisterFileCacheConfig, Replacement,
};
use strata_core::units::{LaneMask, RegisterId};

const FULL: LaneMask = LaneMask::FULL;
const LEFT: LaneMask = LaneMask(0xffff_0000);
const RIGHT: LaneMask = LaneMask(0x0000_ffff);
const EMPTY: LaneMask = LaneMask::EMPTY;

/// A kernel under construction.
#[derive(Default)]
struct Kernel {
    instructions: Vec<StaticInstruction>,
    slots: Vec<RegisterId>,
}

impl Kernel {
    fn add(mut self, unit: Unit, flags: Flags, read: &[u16], write: &[u16]) -> Self {
        let first_slot = self.slots.len() as u32;
        self.slots.extend(read.iter().chain(write).map(|&register| RegisterId(register)));
        self.instructions.push(StaticInstruction {
            first_slot,
            sources: read.len() as u8,
            destinations: write.len() as u8,
            flags,
            ..StaticInstruction::new(unit)
        });
        self
    }

    fn alu(self, read: &[u16], write: &[u16]) -> Self {
        self.add(Unit::Alu, Flags::empty(), read, write)
    }

    fn image(&self) -> KernelImage<'_> {
        KernelImage { instructions: &self.instructions, slots: &self.slots, registers: 16 }
    }

    fn count(
        &self,
        settings: OrganisationSettings,
        path: &[PathStep],
    ) -> Result<Counters, PathFault> {
        let config = Organisation::new(settings).unwrap();
        let image = CheckedImage::new(self.image()).unwrap();
        count_path(&config, image, &mut [FULL; 16], path.iter().copied())
    }
}

fn step(pc: u32, length: u32, mask: LaneMask) -> PathStep {
    PathStep { pc, length, mask }
}

fn rfc(entries: u8) -> RegisterFileCacheConfig {
    RegisterFileCacheConfig {
        entries,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    }
}

fn two_level(entries: u8) -> OrganisationSettings {
    cached(CachedLevels::new(rfc(entries)))
}

fn cached(levels: CachedLevels) -> OrganisationSettings {
    OrganisationSettings {
        levels: LevelSettings::Cached(levels),
        scheduling: Scheduling::TwoLevel { active_warps: 8 },
    }
}

fn single_level(entries: u8) -> OrganisationSettings {
    OrganisationSettings { scheduling: Scheduling::SingleLevel, ..two_level(entries) }
}

const FLAT: OrganisationSettings =
    OrganisationSettings { levels: LevelSettings::Flat, scheduling: Scheduling::SingleLevel };

/// Events that occurred, with their counts.
fn events(counters: &Counters) -> Vec<(Event, u64)> {
    let counted = Event::ALL.iter().map(|&event| (event, counters.get(event)));
    counted.filter(|&(_, count)| count != 0).collect()
}

const LOAD: Flags = Flags::LONG_LATENCY.union(Flags::LOAD);
const MARK: Flags = Flags::DESCHEDULE_BEFORE;

#[test]
fn the_flat_design_counts_every_slot_by_datapath() {
    let kernel = Kernel::default()
        .alu(&[1, 1, 2], &[3])
        .add(Unit::Memory, LOAD, &[3, 4], &[6, 7])
        .add(Unit::Memory, Flags::STORE, &[4, 5, 6], &[])
        .add(Unit::DoublePrecision, Flags::empty(), &[2, 3], &[2, 3])
        .add(Unit::Sfu, Flags::empty(), &[1], &[1])
        .add(Unit::Control, Flags::BRANCH, &[], &[]);
    let counters = kernel.count(FLAT, &[step(0, 6, FULL)]).unwrap();
    let expected = [
        (Event::WarpInstruction, 6),
        (Event::ThreadInstruction, 192),
        (Event::MrfReadPrivate, 5),
        (Event::MrfReadShared, 6),
        (Event::MrfWritePrivate, 3),
        (Event::MrfWriteShared, 3),
        (Event::MrfOperands0, 1),
        (Event::MrfOperands1, 1),
        (Event::MrfOperands2, 2),
        (Event::MrfOperands3, 2),
    ];
    assert_eq!(events(&counters), expected);
}

/// Operand slots are what is counted: words of wide operands and repeats by themselves, a slot of
/// which some lanes are cached as much as one of which none is.
#[test]
fn instructions_are_told_apart_by_the_operands_that_they_read_from_the_main_register_file() {
    let kernel = Kernel::default()
        .alu(&[], &[1])
        .alu(&[1, 2], &[])
        .alu(&[3, 3, 1], &[])
        .add(Unit::Memory, Flags::STORE, &[4, 5, 6, 7], &[])
        .add(Unit::Memory, Flags::STORE, &[4, 5, 6, 7, 8], &[])
        .alu(&[4, 4, 5], &[1]);
    let path = [step(0, 1, LEFT), step(1, 2, FULL), step(3, 2, EMPTY), step(3, 3, RIGHT)];
    let bins = |counters: &Counters| {
        [
            counters.mrf_operands_0(),
            counters.mrf_operands_1(),
            counters.mrf_operands_2(),
            counters.mrf_operands_3(),
            counters.mrf_operands_over_3(),
        ]
    };
    let flat = kernel.count(FLAT, &path).unwrap();
    assert_eq!((bins(&flat), flat.mrf_reads()), ([3, 0, 1, 2, 2], 17));
    // R1 is cached in half of the lanes, so that the reads of all of them need both levels.
    let cached = kernel.count(single_level(6), &path).unwrap();
    assert_eq!((bins(&cached), cached.rfc_partial_hits()), ([3, 0, 1, 2, 2], 2));
    let path = [step(0, 6, FULL)];
    let cached = kernel.count(single_level(6), &path).unwrap();
    assert_eq!((bins(&cached), cached.mrf_reads()), ([1, 1, 1, 1, 2], 15));
    let config = Organisation::new(single_level(6)).unwrap();
    let image = CheckedImage::new(kernel.image()).unwrap();
    let clusters = count_path_clusters(&config, image, &mut [EMPTY; 16], path).unwrap();
    assert_eq!((bins(&clusters), clusters.mrf_reads()), ([1, 1, 1, 1, 2], 8 * 15));
}

#[test]
fn an_instruction_without_lanes_only_counts_as_an_instruction() {
    let kernel = Kernel::default().add(Unit::Memory, LOAD, &[1], &[2]).add(
        Unit::Alu,
        Flags::BARRIER | Flags::BACKWARD_BRANCH,
        &[2],
        &[3],
    );
    for settings in [FLAT, single_level(6), two_level(6)] {
        let counters = kernel.count(settings, &[step(0, 2, EMPTY)]).unwrap();
        let expected = [(Event::WarpInstruction, 2), (Event::MrfOperands0, 2)];
        assert_eq!(events(&counters), expected);
        // Not even the read of a pending result is one.
        let path = [step(0, 1, FULL), step(1, 1, EMPTY)];
        let counters = kernel.count(settings, &path).unwrap();
        assert_eq!(counters.deschedules() + counters.barrier_deschedules(), 0);
    }
}

#[test]
fn a_long_latency_result_bypasses_the_cache_and_its_read_flushes_it() {
    let kernel = Kernel::default()
        .alu(&[], &[1])
        .add(Unit::Memory, LOAD, &[1], &[2])
        .alu(&[1], &[3])
        .add(Unit::Alu, MARK, &[2, 3], &[4])
        .add(Unit::Alu, MARK, &[2, 4], &[5]);
    let counters = kernel.count(two_level(6), &[step(0, 5, FULL)]).unwrap();
    let expected = [
        (Event::WarpInstruction, 5),
        (Event::ThreadInstruction, 160),
        // R2 and the flushed R3, then R2 again.
        (Event::MrfReadPrivate, 3),
        (Event::MrfWriteShared, 1),
        // The flush reads no operand.
        (Event::MrfOperands0, 3),
        (Event::MrfOperands1, 1),
        (Event::MrfOperands2, 1),
        (Event::RfcReadPrivate, 2),
        (Event::RfcReadShared, 1),
        (Event::RfcWritePrivate, 4),
        (Event::RfcWritebackFlush, 2),
        (Event::RfcAllocation, 4),
        (Event::RfcDrop, 2),
        // The second reader finds nothing pending.
        (Event::Deschedule, 1),
    ];
    assert_eq!(events(&counters), expected);

    let counters = kernel.count(single_level(6), &[step(0, 5, FULL)]).unwrap();
    let expected = [
        (Event::WarpInstruction, 5),
        (Event::ThreadInstruction, 160),
        (Event::MrfOperands0, 5),
        (Event::RfcReadPrivate, 5),
        (Event::RfcReadShared, 1),
        (Event::RfcWritePrivate, 4),
        (Event::RfcWriteShared, 1),
        (Event::RfcAllocation, 5),
        (Event::RfcDrop, 5),
    ];
    assert_eq!(events(&counters), expected);
}

#[test]
fn a_short_latency_write_ends_the_wait_for_its_lanes() {
    let kernel = Kernel::default().add(Unit::Memory, LOAD, &[], &[2]).alu(&[], &[2]).alu(&[2], &[]);
    // Overwritten in all lanes: nothing to wait for, and no mark needed.
    let counters = kernel.count(two_level(6), &[step(0, 3, FULL)]).unwrap();
    assert_eq!(counters.deschedules(), 0);
    // The two sides of a branch: each reads what it wrote.
    let path = [step(0, 1, LEFT), step(1, 2, RIGHT)];
    assert_eq!(kernel.count(two_level(6), &path).unwrap().deschedules(), 0);
    // A lane of the load still waits.
    let path = [step(0, 1, FULL), step(1, 1, LEFT), step(2, 1, FULL)];
    let fault = PathFault::UnmarkedDeschedule { pc: 2, register: RegisterId(2) };
    assert_eq!(kernel.count(two_level(6), &path), Err(fault));
    assert!(kernel.count(single_level(6), &path).is_ok());
}

#[test]
fn the_pending_set_starts_afresh_after_each_deschedule() {
    let kernel = Kernel::default()
        .add(Unit::Memory, LOAD, &[], &[2])
        .add(Unit::Memory, LOAD, &[], &[3])
        .add(Unit::Alu, MARK, &[2], &[])
        .add(Unit::Alu, MARK, &[3], &[]);
    let path = [step(0, 4, FULL)];
    assert_eq!(kernel.count(two_level(6), &path).unwrap().deschedules(), 1);
    let again = [step(0, 4, FULL), step(0, 4, FULL)];
    assert_eq!(kernel.count(two_level(6), &again).unwrap().deschedules(), 2);
}

#[test]
fn a_barrier_deschedules_after_its_reads() {
    let kernel = Kernel::default()
        .add(Unit::Memory, LOAD, &[], &[2])
        .alu(&[], &[1])
        .add(Unit::Control, Flags::BARRIER, &[1], &[])
        .alu(&[1, 2], &[]);
    let counters = kernel.count(two_level(6), &[step(0, 4, FULL)]).unwrap();
    assert_eq!(counters.barrier_deschedules(), 1);
    assert_eq!(counters.deschedules(), 0);
    assert_eq!(counters.rfc_reads(), 1);
    assert_eq!(counters.rfc_writebacks_flush(), 1);
    assert_eq!(counters.mrf_reads(), 2);
    let counters = kernel.count(single_level(6), &[step(0, 4, FULL)]).unwrap();
    assert_eq!(counters.barrier_deschedules(), 0);
    assert_eq!(counters.rfc_writebacks(), 0);
}

#[test]
fn a_taken_backward_branch_flushes_if_asked() {
    let kernel =
        Kernel::default().alu(&[], &[1]).add(Unit::Control, Flags::BACKWARD_BRANCH, &[], &[]);
    let flush = |settings: OrganisationSettings| OrganisationSettings {
        levels: LevelSettings::Cached(CachedLevels {
            flush_at_backward_branches: true,
            ..settings.levels.cached().unwrap()
        }),
        ..settings
    };
    let path = [step(0, 2, FULL), step(0, 2, FULL)];
    for settings in [two_level(6), single_level(6)] {
        assert_eq!(kernel.count(settings, &path).unwrap().rfc_writebacks(), 0);
        let flushed = kernel.count(flush(settings), &path).unwrap();
        assert_eq!(flushed.rfc_writebacks_flush(), 2);
        assert_eq!(flushed.deschedules() + flushed.barrier_deschedules(), 0);
        // Not taken by any lane.
        let path = [step(0, 1, FULL), step(1, 1, EMPTY)];
        assert_eq!(kernel.count(flush(settings), &path).unwrap().rfc_writebacks(), 0);
    }
}

fn three_level(entries: u8) -> OrganisationSettings {
    cached(CachedLevels { last_result_file: true, ..CachedLevels::new(rfc(entries)) })
}

/// Lets every result into the last result file.
fn private(mut kernel: Kernel) -> Kernel {
    for instruction in &mut kernel.instructions {
        instruction.private_reads = u32::MAX;
    }
    kernel
}

#[test]
fn three_levels_are_counted_apart() {
    // r1 and r2 by the ALU; r2 = r1 + r2; a load of [r3], waited for; the end.
    let load = Flags::LOAD | Flags::LONG_LATENCY;
    let kernel = private(Kernel::default().alu(&[], &[1]).alu(&[], &[2]))
        .alu(&[1, 2], &[4])
        .add(Unit::Memory, load, &[3], &[5])
        .add(Unit::Alu, Flags::DESCHEDULE_BEFORE, &[5], &[6]);
    let counters = kernel.count(three_level(6), &[step(0, 5, FULL)]).unwrap();
    assert_eq!((counters.lrf_writes(), counters.lrf_allocations()), (2, 2));
    // r1 moves down when r2 comes; the other results are not let in and go to the cache.
    assert_eq!((counters.lrf_evictions(), counters.rfc_writes()), (1, 1 + 2));
    assert_eq!((counters.lrf_reads(), counters.rfc_reads(), counters.mrf_reads()), (1, 1, 2));
    // The deschedule: r1 and r4 from the cache, r2 from the last result file.
    assert_eq!((counters.rfc_writebacks_flush(), counters.lrf_writebacks_flush()), (2, 1));
    assert_eq!(counters.mrf_writes(), 1 + 3);
    assert_eq!((counters.lrf_drops(), counters.rfc_drops()), (0, 1));
    assert_eq!((counters.operand_reads(), counters.operand_writes()), (4, 5));
    // One level less, the same operands.
    let two = kernel.count(two_level(6), &[step(0, 5, FULL)]).unwrap();
    assert_eq!((two.lrf_reads(), two.lrf_writes(), two.lrf_evictions()), (0, 0, 0));
    assert_eq!(two.rfc_reads(), 2);
    assert_eq!(two.operand_reads(), counters.operand_reads());
    assert_eq!(two.operand_writes(), counters.operand_writes());
}

#[test]
fn a_shared_unit_that_asks_for_a_last_result_is_refused() {
    let kernel =
        private(Kernel::default().alu(&[], &[1])).add(Unit::Sfu, Flags::empty(), &[1], &[2]);
    let path = [step(0, 2, FULL)];
    let fault = kernel.count(three_level(6), &path).unwrap_err();
    assert_eq!(fault, PathFault::OutOfReach { pc: 1, register: RegisterId(1) });
    assert_eq!(
        fault.to_string(),
        "instruction 1 reads register 1 for the shared datapath, but the value is in the last \
         result file, which only the private datapath reaches"
    );
    assert!(kernel.count(two_level(6), &path).is_ok());
    // Other lanes wrote it.
    let path = [step(0, 1, LEFT), step(1, 1, RIGHT)];
    assert!(kernel.count(three_level(6), &path).is_ok());
}

#[test]
fn clusters_without_lanes_cost_nothing_when_counted_by_cluster() {
    let kernel = Kernel::default().alu(&[1], &[2]).alu(&[2], &[3]);
    let image = CheckedImage::new(kernel.image()).unwrap();
    // Lanes 2, 3 and 29: clusters 0 and 7.
    let path = [step(0, 1, FULL), step(1, 1, LaneMask(1 << 29 | 0b1100))];
    let flat = Organisation::new(FLAT).unwrap();
    let clusters = count_path_clusters(&flat, image, &mut [EMPTY; 16], path).unwrap();
    assert_eq!(clusters.mrf_reads(), 8 + 2);
    assert_eq!(clusters.mrf_writes(), 8 + 2);
    assert_eq!(clusters.warp_instructions(), 2);
    let cached = Organisation::new(two_level(1)).unwrap();
    let clusters = count_path_clusters(&cached, image, &mut [EMPTY; 16], path).unwrap();
    assert_eq!((clusters.mrf_reads(), clusters.rfc_reads()), (8, 2));
    assert_eq!((clusters.rfc_writes(), clusters.rfc_writebacks()), (8 + 2, 8));
    assert_eq!(clusters.rfc_allocations(), 2);
}

#[test]
fn paths_outside_the_kernel_are_faults() {
    let kernel = Kernel::default().alu(&[1], &[2]).alu(&[2], &[3]);
    for bad in
        [step(0, 3, FULL), step(2, 1, FULL), step(u32::MAX, u32::MAX, FULL), step(0, 0, FULL)]
    {
        let fault = PathFault::PathOutOfRange { step: bad, instructions: 2 };
        assert_eq!(kernel.count(two_level(6), &[bad]), Err(fault));
        assert!(kernel.count(FLAT, &[PathStep { mask: EMPTY, ..bad }]).is_err());
    }
    let message = PathFault::PathOutOfRange { step: step(1, 2, FULL), instructions: 2 }.to_string();
    assert_eq!(message, "a path runs 2 instructions from 1, but the kernel has 2");
    let config = Organisation::new(FLAT).unwrap();
    let image = CheckedImage::new(kernel.image()).unwrap();
    let fault = count_path(&config, image, &mut [EMPTY; 15], []).unwrap_err();
    assert_eq!(fault, PathFault::ScratchTooShort { needed: 16, given: 15 });
}

#[test]
fn a_device_with_a_small_cache_refuses_a_large_one() {
    let kernel = Kernel::default();
    let image = CheckedImage::new(kernel.image()).unwrap();
    let config = Organisation::new(two_level(6)).unwrap();
    let mut awaited = [EMPTY; 16];
    let fault = WarpCounter::<4, false>::new(&config, image, &mut awaited).err();
    let error = ConfigError::TooManyEntries { requested: 6, limit: 4 };
    assert_eq!(fault, Some(PathFault::Cache(error)));
}

#[test]
fn malformed_images_are_refused() {
    let good = Kernel::default().alu(&[1], &[15]);
    assert!(CheckedImage::new(good.image()).is_ok());
    let error = |kernel: &Kernel| CheckedImage::new(kernel.image()).unwrap_err();
    let register = RegisterId(16);
    let beyond = ImageError::RegisterOutOfRange { pc: 1, register };
    assert_eq!(error(&Kernel::default().alu(&[1], &[2]).alu(&[16], &[])), beyond);
    let mut short = Kernel::default().alu(&[1], &[2]);
    short.slots.pop();
    assert_eq!(error(&short), ImageError::SlotsOutOfRange { pc: 0 });
    short.instructions[0].first_slot = u32::MAX;
    assert_eq!(error(&short), ImageError::SlotsOutOfRange { pc: 0 });
    let wide = Kernel::default().alu(&[1; 33], &[]);
    assert_eq!(error(&wide), ImageError::TooManySlots { pc: 0 });
    assert!(CheckedImage::new(Kernel::default().alu(&[1; 32], &[2; 32]).image()).is_ok());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refuse = |settings| Organisation::new(settings).unwrap_err();
    let active = |active_warps| OrganisationSettings {
        scheduling: Scheduling::TwoLevel { active_warps },
        ..two_level(6)
    };
    assert_eq!(refuse(active(0)), OrganisationError::ActiveWarps(0));
    assert_eq!(refuse(active(65)), OrganisationError::ActiveWarps(65));
    assert!(Organisation::new(active(32)).is_ok());
    let error = OrganisationError::Cache(ConfigError::NoEntries);
    assert_eq!(refuse(two_level(0)), error);
    let aware = RegisterFileCacheConfig { liveness_aware_bypass: true, ..rfc(6) };
    let aware = cached(CachedLevels::new(aware));
    assert!(Organisation::new(aware).is_ok());
    let single = OrganisationSettings { scheduling: Scheduling::SingleLevel, ..aware };
    assert_eq!(refuse(single), OrganisationError::NeedsTwoLevel);
    assert_eq!(*Organisation::FLAT.settings(), FLAT);
}
