//! One warp's register hierarchy, instruction by instruction: what count mode and cycle mode share.
//!
//! Models: the operand traffic of an instruction through the levels, what a deschedule and the end
//! of the warp do to them.
//! Does not model: when any of it happens; before which instructions a warp is descheduled
//! (`rules`).
//! Source: `docs/MODEL.md`, rules 7 to 18 and 24.

use crate::access::{Access, AccessSink};
use crate::fault::PathFault;
use crate::image::{CheckedImage, StaticInstruction};
use crate::last_result_file::{LastResultFile, LastResultFileConfig};
use crate::organisation::{LevelSettings, OrganisationSettings};
use crate::placement::{Placement, Upper};
use crate::register_file_cache::{
    ConfigError, InFront, Lookup, Operands, RegisterFileCache, RegisterFileCacheConfig,
};
use crate::rules::{PendingResults, Rules};
use crate::units::{LaneMask, RegisterId};

/// An executed instruction with its registers.
#[derive(Clone, Copy)]
pub(crate) struct Step<'i> {
    pc: u32,
    instruction: &'i StaticInstruction,
    sources: &'i [RegisterId],
    destinations: &'i [RegisterId],
    /// Where the compiler placed them, sources first; empty if it manages no hierarchy.
    placements: &'i [Placement],
    /// Lanes enabled. Not empty.
    mask: LaneMask,
}

impl<'i> Step<'i> {
    /// An instruction of an image, executed in the lanes of `mask`, at least one; `managed` by the
    /// compiler's placements. `registers` are its sources and its destinations.
    #[inline]
    pub(crate) fn new(
        image: &CheckedImage<'i>,
        (pc, instruction): (u32, &'i StaticInstruction),
        (sources, destinations): (&'i [RegisterId], &'i [RegisterId]),
        managed: bool,
        mask: LaneMask,
    ) -> Self {
        let placements = if managed { image.placements(instruction) } else { &[] };
        Self { pc, instruction, sources, destinations, placements, mask }
    }

    /// An instruction with these registers only, which no compiler placed.
    pub(crate) const fn of(
        (pc, instruction): (u32, &'i StaticInstruction),
        (sources, destinations): (&'i [RegisterId], &'i [RegisterId]),
        mask: LaneMask,
    ) -> Self {
        Self { pc, instruction, sources, destinations, placements: &[], mask }
    }
}

/// Reads operands and writes results where the compiler placed them. Returns the results that go to
/// the main register file, a bit for each.
// Not of the step, which then need not lie in memory.
fn managed(
    (sources, destinations): (&[RegisterId], &[RegisterId]),
    placements: &[Placement],
    mask: LaneMask,
    sink: &mut impl AccessSink,
) -> u32 {
    let (read, written) = placements.split_at(sources.len());
    for (&register, &placement) in sources.iter().zip(read) {
        let upper = match (placement.upper, placement.main) {
            (None, _) => None,
            (Some(Upper::Orf(_)), false) => Some(Access::OrfRead),
            (Some(Upper::Orf(_)), true) => Some(Access::OrfFill),
            (Some(Upper::Lrf(_)), false) => Some(Access::LrfRead),
            (Some(Upper::Lrf(_)), true) => Some(Access::LrfFill),
        };
        let main = placement.main.then_some(Access::MrfRead);
        for access in [main, upper].into_iter().flatten() {
            sink.access(access, register, mask);
        }
    }
    let mut to_main = 0;
    for (index, (&register, &placement)) in destinations.iter().zip(written).enumerate() {
        to_main |= u32::from(placement.main) << index;
        let (upper, both) = match placement.upper {
            None => (None, None),
            Some(Upper::Orf(_)) => (Some(Access::OrfWrite), Some(Access::OrfDualWrite)),
            Some(Upper::Lrf(_)) => (Some(Access::LrfWrite), Some(Access::LrfDualWrite)),
        };
        let main = placement.main.then_some(Access::MrfWrite);
        for access in [main, upper, both.filter(|_| placement.main)].into_iter().flatten() {
            sink.access(access, register, mask);
        }
    }
    to_main
}

/// One warp's levels above the main register file.
#[derive(Clone, Debug)]
pub struct UpperLevels<const CAPACITY: usize> {
    cache: RegisterFileCache<CAPACITY>,
    /// In front of the cache, if the design has one.
    last: Option<LastResultFile>,
}

/// One warp's hierarchy, by references to its parts.
pub(crate) struct WarpHierarchy<'s, const CAPACITY: usize> {
    /// The levels of the design above the main register file.
    pub(crate) upper: Option<&'s mut UpperLevels<CAPACITY>>,
    pub(crate) pending: PendingResults<'s>,
}

/// Bit `index` of an instruction's hints.
const fn bit(hints: u32, index: usize) -> bool {
    hints >> index & 1 != 0
}

impl<const CAPACITY: usize> UpperLevels<CAPACITY> {
    /// The empty levels of a design, if it has any, or why they cannot be built.
    pub(crate) fn of(settings: &OrganisationSettings) -> Result<Option<Self>, ConfigError> {
        let levels = match settings.levels {
            LevelSettings::Flat | LevelSettings::CompilerManaged => return Ok(None),
            LevelSettings::Cached(levels) => levels,
        };
        let cache = RegisterFileCache::new(levels.cache)?;
        let RegisterFileCacheConfig { liveness, liveness_aware_bypass, .. } = levels.cache;
        let last = LastResultFileConfig { liveness, liveness_aware_bypass };
        let last = levels.last_result_file.then(|| LastResultFile::new(last));
        Ok(Some(Self { cache, last }))
    }

    /// One instruction. Returns the results that go to the main register file, a bit for each.
    #[inline]
    fn step(
        &mut self,
        step: &Step<'_>,
        pending: bool,
        sink: &mut impl AccessSink,
    ) -> Result<u32, PathFault> {
        let instruction = step.instruction;
        let operands = Operands {
            sources: step.sources,
            last_use: instruction.last_use,
            last_use_before_deschedule: instruction.last_use_before_deschedule,
            destinations: step.destinations,
            not_read_before_deschedule: instruction.not_read_before_deschedule,
            bypass: pending,
            mask: step.mask,
        };
        if self.last.is_none() {
            return Ok(self.cache.step(&operands, sink));
        }
        if let Some(register) = self.out_of_reach(&operands, instruction) {
            return Err(PathFault::OutOfReach { pc: step.pc, register });
        }
        Ok(self.step_through(&operands, instruction, sink))
    }

    /// The register that a shared unit would have to read from the last result file, if there is
    /// one: the compiler's mark was wrong.
    #[inline(never)]
    fn out_of_reach(
        &self,
        operands: &Operands<'_>,
        instruction: &StaticInstruction,
    ) -> Option<RegisterId> {
        let (register, lanes) = self.last.as_ref()?.entry()?;
        let asks = instruction.unit.is_shared_datapath() && operands.sources.contains(&register);
        (asks && !lanes.and(operands.mask).is_empty()).then_some(register)
    }

    /// One instruction through the last result file and the cache behind it. Returns as
    /// [`Self::step`] does.
    // Apart, so that designs of two levels do not pay for it.
    #[inline(never)]
    fn step_through(
        &mut self,
        operands: &Operands<'_>,
        instruction: &StaticInstruction,
        sink: &mut impl AccessSink,
    ) -> u32 {
        let Self { cache, last: Some(last) } = self else { return 0 };
        let shared = instruction.unit.is_shared_datapath();
        let mut found = Lookup::default();
        for (index, &source) in operands.sources.iter().enumerate() {
            let unneeded = bit(operands.last_use_before_deschedule, index);
            let rest = last.read(source, operands.mask, unneeded, sink);
            if rest.is_empty() {
                cache.pass_over(source, index, operands, &mut found);
            } else {
                cache.read(source, index, rest, operands, &mut found, sink);
            }
        }
        for (index, &source) in operands.sources.iter().enumerate() {
            if bit(operands.last_use, index) {
                last.last_read(source, sink);
            }
        }
        let in_front = last.entry().map(|(register, lanes)| InFront { register, lanes });
        cache.end_reads(&found, in_front.unwrap_or(InFront::NOTHING), operands, sink);
        let mut to_main = 0;
        for (index, &destination) in operands.destinations.iter().enumerate() {
            let private = !shared && bit(instruction.private_reads, index);
            if !private || cache.bypasses(index, operands) {
                to_main |= u32::from(cache.write(destination, index, operands, sink)) << index;
                last.invalidate(destination, operands.mask, sink);
                continue;
            }
            let unneeded = bit(operands.not_read_before_deschedule, index);
            let evicted = last.write(destination, operands.mask, unneeded, sink);
            // Overtaken entries leave first, so that the victim may take their place.
            cache.invalidate(destination, operands.mask, sink);
            if let Some(victim) = evicted {
                cache.accept(victim.register, victim.lanes, victim.unneeded, sink);
            }
        }
        to_main
    }

    fn flush(&mut self, sink: &mut impl AccessSink) {
        // The last result is the youngest.
        self.cache.flush(sink);
        if let Some(last) = &mut self.last {
            last.flush(sink);
        }
    }

    fn exit(&mut self, sink: &mut impl AccessSink) {
        self.cache.exit(sink);
        if let Some(last) = &mut self.last {
            last.exit(sink);
        }
    }
}

impl<const CAPACITY: usize> WarpHierarchy<'_, CAPACITY> {
    /// Executes one instruction. Returns the results that go to the main register file, a bit for
    /// each.
    ///
    /// # Errors
    /// A shared unit would have to read from the last result file, which it does not reach.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        step: &Step<'_>,
        rules: Rules,
        sink: &mut impl AccessSink,
    ) -> Result<u32, PathFault> {
        let pending = rules.makes_pending(step.instruction.flags);
        self.pending.issue(step.destinations, step.mask, pending);
        if let Some(upper) = &mut self.upper {
            return upper.step(step, pending, sink);
        }
        if !step.placements.is_empty() {
            let registers = (step.sources, step.destinations);
            return Ok(managed(registers, step.placements, step.mask, sink));
        }
        sink.flat(step.sources, step.destinations, step.mask);
        Ok(u32::MAX)
    }

    /// The warp leaves the active set.
    pub(crate) fn deschedule(&mut self, sink: &mut impl AccessSink) {
        self.flush(sink);
        self.pending.deschedule();
    }

    /// Writes what is only in the upper levels back and empties them.
    pub(crate) fn flush(&mut self, sink: &mut impl AccessSink) {
        if let Some(upper) = &mut self.upper {
            upper.flush(sink);
        }
    }

    /// The warp ends.
    pub(crate) fn exit(&mut self, sink: &mut impl AccessSink) {
        if let Some(upper) = &mut self.upper {
            upper.exit(sink);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::image::Unit;
    use crate::organisation::{CachedLevels, Organisation};
    use crate::register_file_cache::{Allocation, Replacement};
    use std::vec::Vec;

    const FULL: LaneMask = LaneMask::FULL;
    const LEFT: LaneMask = LaneMask(0xffff_0000);
    const RIGHT: LaneMask = LaneMask(0x0000_ffff);

    /// An access, its register and its lanes.
    type Did = (Access, u16, LaneMask);

    /// An access of all lanes.
    fn full(access: Access, register: u16) -> Did {
        (access, register, FULL)
    }

    fn note(seen: &mut Vec<Did>) -> impl FnMut(Access, RegisterId, LaneMask) {
        |access, register, lanes| seen.push((access, register.0, lanes))
    }

    const PLAIN: RegisterFileCacheConfig = RegisterFileCacheConfig {
        entries: 2,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    };

    /// An instruction under construction; by default the ALU's, of all lanes, whose results no
    /// shared unit reads.
    #[derive(Clone, Copy)]
    struct Do<'a> {
        read: &'a [u16],
        write: &'a [u16],
        unit: Unit,
        dead: u32,
        unneeded: u32,
        private: u32,
        bypass: bool,
        mask: LaneMask,
    }

    const ALU: Do<'_> = Do {
        read: &[],
        write: &[],
        unit: Unit::Alu,
        dead: 0,
        unneeded: 0,
        private: u32::MAX,
        bypass: false,
        mask: FULL,
    };

    /// The levels look at an instruction's unit and reach only; operands come apart.
    const PLAIN_INSTRUCTION: StaticInstruction =
        StaticInstruction { ..StaticInstruction::new(Unit::Alu) };

    struct Bench(UpperLevels<8>);

    impl Bench {
        fn new(cache: RegisterFileCacheConfig) -> Self {
            let settings = OrganisationSettings {
                levels: LevelSettings::Cached(CachedLevels {
                    last_result_file: true,
                    ..CachedLevels::new(cache)
                }),
                ..*Organisation::FLAT.settings()
            };
            Self(UpperLevels::of(&settings).unwrap().unwrap())
        }

        fn try_run(&mut self, what: Do<'_>) -> Result<Vec<Did>, RegisterId> {
            let ids = |list: &[u16]| list.iter().map(|&r| RegisterId(r)).collect::<Vec<_>>();
            let (sources, destinations) = (ids(what.read), ids(what.write));
            let instruction = StaticInstruction {
                unit: what.unit,
                private_reads: what.private,
                ..PLAIN_INSTRUCTION
            };
            let operands = Operands {
                sources: &sources,
                last_use: what.dead,
                last_use_before_deschedule: 0,
                destinations: &destinations,
                not_read_before_deschedule: what.unneeded,
                bypass: what.bypass,
                mask: what.mask,
            };
            if let Some(register) = self.0.out_of_reach(&operands, &instruction) {
                return Err(register);
            }
            let mut seen = Vec::new();
            self.0.step_through(&operands, &instruction, &mut note(&mut seen));
            Ok(seen)
        }

        fn run(&mut self, what: Do<'_>) -> Vec<Did> {
            self.try_run(what).unwrap()
        }

        fn write(&mut self, register: u16) -> Vec<Did> {
            self.run(Do { write: &[register], ..ALU })
        }

        fn flush(&mut self) -> Vec<Did> {
            let mut seen = Vec::new();
            self.0.flush(&mut note(&mut seen));
            seen
        }

        fn exit(&mut self) -> Vec<Did> {
            let mut seen = Vec::new();
            self.0.exit(&mut note(&mut seen));
            seen
        }

        fn resident(&self) -> (Option<u16>, Vec<u16>) {
            let last = self.0.last.unwrap().entry().map(|(register, _)| register.0);
            (last, self.0.cache.entries().map(|(register, ..)| register.0).collect())
        }
    }

    #[test]
    fn a_result_goes_to_the_last_result_file_and_from_there_down_level_by_level() {
        let mut bench = Bench::new(PLAIN);
        assert_eq!(bench.write(1), [full(Access::LrfWrite, 1), full(Access::LrfAllocation, 1)]);
        let expected = [
            full(Access::LrfWrite, 2),
            full(Access::LrfEviction, 1),
            full(Access::LrfAllocation, 2),
            full(Access::RfcAllocation, 1),
        ];
        assert_eq!(bench.write(2), expected);
        bench.write(3);
        assert_eq!(bench.resident(), (Some(3), [1, 2].to_vec()));
        let expected = [
            full(Access::LrfWrite, 4),
            full(Access::LrfEviction, 3),
            full(Access::LrfAllocation, 4),
            full(Access::RfcWritebackEviction, 1),
            full(Access::RfcAllocation, 3),
        ];
        assert_eq!(bench.write(4), expected);
    }

    #[test]
    fn each_operand_is_read_where_it_is() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        bench.write(2);
        let seen = bench.run(Do { read: &[1, 2, 3, 2], ..ALU });
        let expected = [
            full(Access::RfcRead, 1),
            full(Access::LrfRead, 2),
            full(Access::MrfRead, 3),
            full(Access::LrfRead, 2),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_register_is_overwritten_in_place() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        assert_eq!(
            bench.run(Do { read: &[1], write: &[1], ..ALU }),
            [full(Access::LrfRead, 1), full(Access::LrfWrite, 1)]
        );
    }

    #[test]
    fn an_older_value_below_leaves_before_the_victim_comes() {
        let mut bench = Bench::new(RegisterFileCacheConfig { entries: 1, ..PLAIN });
        bench.write(1);
        bench.write(2);
        assert_eq!(bench.resident(), (Some(2), [1].to_vec()));
        // r1 is written again: its old value makes room for r2, and nothing is written back.
        let expected = [
            full(Access::LrfWrite, 1),
            full(Access::LrfEviction, 2),
            full(Access::LrfAllocation, 1),
            full(Access::RfcDrop, 1),
            full(Access::RfcAllocation, 2),
        ];
        assert_eq!(bench.write(1), expected);
    }

    #[test]
    fn what_shared_units_make_or_read_goes_to_the_cache() {
        for skips in [
            Do { private: 0, ..ALU },
            Do { unit: Unit::Sfu, ..ALU },
            Do { unit: Unit::Memory, ..ALU },
            Do { unit: Unit::Texture, ..ALU },
        ] {
            let mut bench = Bench::new(PLAIN);
            // An older value of the register is overtaken.
            bench.write(1);
            let seen = bench.run(Do { write: &[1], ..skips });
            let expected = [
                full(Access::RfcWrite, 1),
                full(Access::RfcAllocation, 1),
                full(Access::LrfDrop, 1),
            ];
            assert_eq!(seen, expected, "{:?}", skips.unit);
            assert_eq!(bench.resident(), (None, [1].to_vec()));
        }
        let mut bench = Bench::new(PLAIN);
        bench.run(Do { write: &[1], unit: Unit::DoublePrecision, ..ALU });
        assert_eq!(bench.resident(), (Some(1), [].to_vec()));
    }

    #[test]
    fn a_shared_unit_never_reads_the_last_result_file() {
        let mut bench = Bench::new(PLAIN);
        bench.run(Do { write: &[1], mask: LEFT, ..ALU });
        let store = Do { unit: Unit::Memory, read: &[2, 1], ..ALU };
        assert_eq!(bench.try_run(store), Err(RegisterId(1)));
        // Other lanes and other registers do not concern it.
        assert!(bench.try_run(Do { mask: RIGHT, ..store }).is_ok());
        assert!(bench.try_run(Do { read: &[2], ..store }).is_ok());
    }

    #[test]
    fn a_long_latency_result_takes_stale_copies_out_of_both_levels() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        bench.write(2);
        let load = |register| Do {
            write: if register == 1 { &[1] } else { &[2] },
            unit: Unit::Memory,
            bypass: true,
            ..ALU
        };
        assert_eq!(bench.run(load(2)), [full(Access::MrfWrite, 2), full(Access::LrfDrop, 2)]);
        assert_eq!(bench.run(load(1)), [full(Access::MrfWrite, 1), full(Access::RfcDrop, 1)]);
        assert_eq!(bench.resident(), (None, [].to_vec()));
    }

    #[test]
    fn a_last_read_frees_the_entry_after_all_reads() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        let seen = bench.run(Do { read: &[1, 1], dead: 0b10, write: &[2], ..ALU });
        let expected = [
            full(Access::LrfRead, 1),
            full(Access::LrfRead, 1),
            full(Access::LrfDrop, 1),
            full(Access::LrfWrite, 2),
            full(Access::LrfAllocation, 2),
        ];
        assert_eq!(seen, expected);
        // Without liveness the entry passes through every level.
        let mut bench = Bench::new(RegisterFileCacheConfig { liveness: false, ..PLAIN });
        bench.write(1);
        let seen = bench.run(Do { read: &[1], dead: 0b1, write: &[2], ..ALU });
        assert_eq!(seen[2], full(Access::LrfEviction, 1));
        assert_eq!(
            bench.exit(),
            [full(Access::RfcWritebackFlush, 1), full(Access::LrfWritebackFlush, 2)]
        );
    }

    #[test]
    fn a_wide_result_goes_through_word_by_word() {
        let mut bench = Bench::new(PLAIN);
        let seen = bench.run(Do { write: &[4, 5], ..ALU });
        let expected = [
            full(Access::LrfWrite, 4),
            full(Access::LrfAllocation, 4),
            full(Access::LrfWrite, 5),
            full(Access::LrfEviction, 4),
            full(Access::LrfAllocation, 5),
            full(Access::RfcAllocation, 4),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn partial_masks_leave_each_lane_where_it_was_written_last() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        bench.write(2);
        // r1 is in the cache; its left lanes are written again, above.
        bench.run(Do { write: &[1], mask: LEFT, ..ALU });
        let seen = bench.run(Do { read: &[1], ..ALU });
        let expected = [
            (Access::LrfRead, 1, LEFT),
            (Access::LrfPartialHit, 1, LEFT),
            (Access::RfcRead, 1, RIGHT),
        ];
        assert_eq!(seen, expected);
        // Evicted, they join the others, whose age counts.
        assert_eq!(bench.resident(), (Some(1), [1, 2].to_vec()));
        bench.write(3);
        assert_eq!(bench.resident(), (Some(3), [1, 2].to_vec()));
        assert_eq!(bench.run(Do { read: &[1], ..ALU }), [full(Access::RfcRead, 1)]);
        // Three levels serve one operand.
        let mut bench = Bench::new(PLAIN);
        bench.run(Do { write: &[1], mask: LaneMask(0b0010), ..ALU });
        bench.write(2);
        bench.run(Do { write: &[1], mask: LaneMask(0b0001), ..ALU });
        let seen = bench.run(Do { read: &[1], mask: LaneMask(0b0111), ..ALU });
        let expected = [
            (Access::LrfRead, 1, LaneMask(0b0001)),
            (Access::LrfPartialHit, 1, LaneMask(0b0001)),
            (Access::RfcRead, 1, LaneMask(0b0010)),
            (Access::MrfRead, 1, LaneMask(0b0100)),
            (Access::RfcPartialHit, 1, LaneMask(0b0010)),
        ];
        assert_eq!(seen, expected);
        // A last read by some lanes frees the value in both levels.
        let seen = bench.run(Do { read: &[1], dead: 1, mask: LaneMask(0b0001), ..ALU });
        assert_eq!(
            seen[1..],
            [(Access::LrfDrop, 1, LaneMask(0b0001)), (Access::RfcDrop, 1, LaneMask(0b0010))]
        );
    }

    #[test]
    fn operands_that_miss_are_allocated_in_the_cache_without_the_lanes_above() {
        let allocation = Allocation::WritesAndReads;
        let mut bench = Bench::new(RegisterFileCacheConfig { allocation, ..PLAIN });
        bench.run(Do { write: &[1], mask: LEFT, ..ALU });
        let seen = bench.run(Do { read: &[1], ..ALU });
        let expected = [
            (Access::LrfRead, 1, LEFT),
            (Access::LrfPartialHit, 1, LEFT),
            (Access::MrfRead, 1, RIGHT),
            (Access::RfcFill, 1, RIGHT),
            (Access::RfcAllocation, 1, RIGHT),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn liveness_aware_bypass_skips_both_levels() {
        let mut bench =
            Bench::new(RegisterFileCacheConfig { liveness_aware_bypass: true, ..PLAIN });
        bench.write(1);
        let seen = bench.run(Do { write: &[1], unneeded: 1, ..ALU });
        assert_eq!(seen, [full(Access::MrfWrite, 1), full(Access::LrfDrop, 1)]);
        // r2's last read before the deschedule has passed when it is evicted.
        bench.write(2);
        let Some(file) = &mut bench.0.last else { panic!("there is one") };
        file.read(RegisterId(2), FULL, true, &mut |_: Access, _: RegisterId, _: LaneMask| {});
        assert_eq!(
            bench.write(3),
            [
                full(Access::LrfWrite, 3),
                full(Access::LrfWritebackEviction, 2),
                full(Access::LrfAllocation, 3)
            ]
        );
    }

    #[test]
    fn a_flush_writes_the_last_result_back_last_and_past_the_cache() {
        let mut bench = Bench::new(PLAIN);
        for register in [1, 2, 3] {
            bench.write(register);
        }
        let flushed = [
            full(Access::RfcWritebackFlush, 1),
            full(Access::RfcWritebackFlush, 2),
            full(Access::LrfWritebackFlush, 3),
        ];
        assert_eq!(bench.flush(), flushed);
        assert_eq!(bench.flush(), []);
        bench.write(1);
        assert_eq!(bench.exit(), [full(Access::LrfDrop, 1)]);
    }

    /// What each lane of each register holds, level by level, and what the program wrote last.
    struct Values {
        program: [[Option<u32>; 32]; 8],
        /// Main register file, cache, last result file.
        levels: [[[Option<u32>; 32]; 8]; 3],
        next: u32,
        trouble: Option<Did>,
    }

    impl Values {
        fn each(
            &mut self,
            register: RegisterId,
            lanes: LaneMask,
            act: impl Fn(&mut Self, [usize; 2]),
        ) {
            for lane in (0..32).filter(|lane| lanes.0 >> lane & 1 != 0) {
                act(self, [usize::from(register.0), lane]);
            }
        }

        fn read(&mut self, level: usize, register: RegisterId, lanes: LaneMask, did: Did) {
            self.each(register, lanes, |values, [r, l]| {
                let wanted = values.program[r][l];
                if wanted.is_some() && values.levels[level][r][l] != wanted {
                    values.trouble = Some(did);
                }
            });
        }

        fn write(&mut self, level: usize, register: RegisterId, lanes: LaneMask) {
            self.next += 1;
            self.each(register, lanes, |values, [r, l]| {
                values.program[r][l] = Some(values.next);
                values.levels[level][r][l] = Some(values.next);
            });
        }

        /// Moves a value, or copies it, or, to its own level, gives it up.
        fn shift(&mut self, from: usize, to: usize, register: RegisterId, lanes: LaneMask) {
            self.each(register, lanes, |values, [r, l]| {
                let value = values.levels[from][r][l];
                if from != 0 {
                    values.levels[from][r][l] = None;
                }
                if from != to {
                    values.levels[to][r][l] = value;
                }
            });
        }
    }

    impl AccessSink for Values {
        fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
            let did = (access, register.0, lanes);
            match access {
                Access::MrfRead => self.read(0, register, lanes, did),
                Access::MrfWrite => self.write(0, register, lanes),
                Access::RfcRead => self.read(1, register, lanes, did),
                Access::RfcWrite => self.write(1, register, lanes),
                Access::RfcFill => self.shift(0, 1, register, lanes),
                Access::RfcWritebackEviction | Access::RfcWritebackFlush => {
                    self.shift(1, 0, register, lanes);
                }
                Access::RfcDrop => self.shift(1, 1, register, lanes),
                Access::LrfRead => self.read(2, register, lanes, did),
                Access::LrfWrite => self.write(2, register, lanes),
                Access::LrfEviction => self.shift(2, 1, register, lanes),
                Access::LrfWritebackEviction | Access::LrfWritebackFlush => {
                    self.shift(2, 0, register, lanes);
                }
                Access::LrfDrop => self.shift(2, 2, register, lanes),
                _ => {}
            }
        }
    }

    /// The policies by number.
    fn policy(case: u32) -> RegisterFileCacheConfig {
        let all = case & 1 != 0;
        RegisterFileCacheConfig {
            entries: 1 + (case / 16 % 5) as u8,
            replacement: if case & 2 == 0 { Replacement::Fifo } else { Replacement::Lru },
            allocation: if all { Allocation::WritesAndReads } else { Allocation::Writes },
            liveness: true,
            liveness_aware_bypass: case & 4 != 0,
            liveness_aware_eviction: case & 8 != 0,
        }
    }

    /// Whatever the masks, every read finds what the program wrote last, in the level that says so.
    #[test]
    fn no_lane_ever_reads_a_stale_value() {
        let mut seed = 1_u64;
        let mut below = move |limit: u64| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            ((seed >> 33) % limit) as u32
        };
        let mut reads = 0;
        for case in 0..400_u32 {
            let config = policy(case);
            let mut upper = Bench::new(config).0;
            let mut values = Values {
                program: [[None; 32]; 8],
                levels: [[[None; 32]; 8]; 3],
                next: 0,
                trouble: None,
            };
            for turn in 0..80 {
                let mask =
                    [FULL, LEFT, RIGHT, LaneMask(1 << below(32)), LaneMask(below(1 << 31) | 1)]
                        [below(5) as usize];
                let sources: Vec<_> = (0..below(4)).map(|_| RegisterId(below(8) as u16)).collect();
                let destinations: Vec<_> =
                    (0..below(3)).map(|_| RegisterId(below(8) as u16)).collect();
                let instruction = StaticInstruction {
                    unit: if below(4) == 0 { Unit::Memory } else { Unit::Alu },
                    private_reads: below(4),
                    ..PLAIN_INSTRUCTION
                };
                let operands = Operands {
                    sources: &sources,
                    last_use: if below(4) == 0 { below(16) } else { 0 },
                    last_use_before_deschedule: below(16),
                    destinations: &destinations,
                    not_read_before_deschedule: below(4) & below(4),
                    bypass: below(8) == 0,
                    mask,
                };
                if below(12) == 0 {
                    upper.flush(&mut values);
                }
                if upper.out_of_reach(&operands, &instruction).is_some() {
                    continue;
                }
                upper.step_through(&operands, &instruction, &mut values);
                reads += sources.len();
                assert_eq!(values.trouble, None, "case {case}, turn {turn}, {config:?}");
                for (index, source) in sources.iter().enumerate() {
                    // What is dead may be anything until it is written again.
                    let kept = if destinations.contains(source) { mask } else { LaneMask::EMPTY };
                    if bit(operands.last_use, index) {
                        values.each(*source, FULL.without(kept), |values, [r, l]| {
                            values.program[r][l] = None;
                        });
                    }
                }
            }
        }
        assert!(reads > 10_000, "{reads}");
    }
}
