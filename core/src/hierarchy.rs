//! One warp's register hierarchy, instruction by instruction: what count mode and cycle mode share.
//!
//! Models: the operand traffic of an instruction through the levels, which long-latency results are
//! awaited on the warp's executed path, what a deschedule and the end of the warp do.
//! Does not model: when any of it happens.
//! Source: `docs/MODEL.md`, rules 7 to 18 and 24.

use crate::image::{Flags, StaticInstruction};
use crate::last_result_file::{self, LastResultFile, LastResultFileConfig};
use crate::organisation::OrganisationSettings;
use crate::placement::Placement;
use crate::register_file_cache::{
    self, ConfigError, InFront, Lookup, Operands, RegisterFileCache, RegisterFileCacheConfig,
};
use crate::units::{LaneMask, RegisterId};

/// Hears what the levels do, in order.
pub(crate) trait Observer:
    register_file_cache::Observer + last_result_file::Observer
{
}

impl<T: register_file_cache::Observer + last_result_file::Observer> Observer for T {}

/// Hears what the hierarchy does, in order.
pub(crate) trait Listener: Observer {
    /// The flat main register file serves every slot of an instruction.
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask);

    /// An operand is read where the compiler placed it.
    fn source(&mut self, register: RegisterId, placement: Placement, mask: LaneMask);

    /// A result is written where the compiler placed it.
    fn result(&mut self, register: RegisterId, placement: Placement, mask: LaneMask);

    /// An instruction's operands have all been read. Goes without saying of a flat register file.
    fn operands_read(&mut self);
}

/// The registers of an instruction with its facts.
#[derive(Clone, Copy)]
pub(crate) struct Step<'i> {
    pub(crate) instruction: &'i StaticInstruction,
    pub(crate) sources: &'i [RegisterId],
    pub(crate) destinations: &'i [RegisterId],
    /// Where the compiler placed them, sources first; nothing if it manages no hierarchy.
    pub(crate) placements: &'i [Placement],
    /// Lanes enabled. Not empty.
    pub(crate) mask: LaneMask,
}

/// One warp's levels above the main register file.
#[derive(Clone, Debug)]
pub struct UpperLevels<const CAPACITY: usize> {
    cache: RegisterFileCache<CAPACITY>,
    /// In front of the cache, if the design has one.
    last: Option<LastResultFile>,
}

/// One warp's hierarchy, wherever its parts are kept.
pub(crate) struct WarpHierarchy<'s, const CAPACITY: usize> {
    /// What the design has above the main register file.
    pub(crate) upper: Option<&'s mut UpperLevels<CAPACITY>>,
    /// For each register, the lanes whose value is a long-latency result issued since the warp's
    /// last deschedule.
    pub(crate) awaited: &'s mut [LaneMask],
    /// The registers of which `awaited` has lanes, and perhaps more.
    pub(crate) sketch: &'s mut RegisterSketch,
}

/// A set of registers by their numbers modulo 16, which may seem to have others than were put in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegisterSketch(u16);

impl RegisterSketch {
    pub(crate) const EMPTY: Self = Self(0);

    // Not within a loop over instructions, of which few need it.
    #[inline(never)]
    pub(crate) fn of(registers: &[RegisterId]) -> Self {
        let bits = registers.iter().map(|register| 1 << (register.0 % 16));
        Self(bits.fold(0, |all, bit: u16| all | bit))
    }

    #[cold]
    fn with(self, registers: &[RegisterId]) -> Self {
        Self(self.0 | Self::of(registers).0)
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// False only if no register is in both.
    #[inline]
    pub(crate) const fn may_meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Bit `index` of an instruction's hints.
const fn bit(hints: u32, index: usize) -> bool {
    hints >> index & 1 != 0
}

/// The first register of `sources` of which an enabled lane is a long-latency result still
/// awaited.
#[inline]
pub(crate) fn first_awaited(
    awaited: &[LaneMask],
    sources: &[RegisterId],
    mask: LaneMask,
) -> Option<RegisterId> {
    let waits = |source: &&RegisterId| !awaited[usize::from(source.0)].and(mask).is_empty();
    sources.iter().find(waits).copied()
}

impl<const CAPACITY: usize> UpperLevels<CAPACITY> {
    /// The empty levels of a design, if it has any, or why they cannot be built.
    pub(crate) fn of(settings: &OrganisationSettings) -> Result<Option<Self>, ConfigError> {
        let Some(config) = settings.cache else { return Ok(None) };
        let cache = RegisterFileCache::new(config)?;
        let RegisterFileCacheConfig { liveness, liveness_aware_bypass, .. } = config;
        let last = LastResultFileConfig { liveness, liveness_aware_bypass };
        let last = settings.last_result_file.then(|| LastResultFile::new(last));
        Ok(Some(Self { cache, last }))
    }

    /// The register that a shared unit would have to read from the last result file, if there is
    /// one: the compiler's mark was wrong.
    #[inline(never)]
    fn out_of_reach(&self, step: &Step<'_>) -> Option<RegisterId> {
        let (register, lanes) = self.last.as_ref()?.entry()?;
        let asks = step.instruction.unit.is_shared_datapath() && step.sources.contains(&register);
        (asks && !lanes.and(step.mask).is_empty()).then_some(register)
    }

    /// One instruction through the last result file and the cache behind it.
    // Apart, so that designs of two levels do not pay for it.
    #[inline(never)]
    fn step_through(
        &mut self,
        operands: &Operands<'_>,
        instruction: &StaticInstruction,
        to: &mut impl Observer,
    ) {
        let Self { cache, last: Some(last) } = self else { return };
        let shared = instruction.unit.is_shared_datapath();
        let mut found = Lookup::default();
        for (index, &source) in operands.sources.iter().enumerate() {
            let unneeded = bit(operands.last_use_before_deschedule, index);
            let rest = last.read(source, operands.mask, unneeded, to);
            if rest.is_empty() {
                cache.pass_over(source, index, operands, &mut found);
            } else {
                cache.read(source, index, rest, operands, &mut found, to);
            }
        }
        for (index, &source) in operands.sources.iter().enumerate() {
            if bit(operands.last_use, index) {
                last.last_read(source, to);
            }
        }
        let in_front = last.entry().map(|(register, lanes)| InFront { register, lanes });
        cache.end_reads(&found, in_front.unwrap_or(InFront::NOTHING), operands, to);
        for (index, &destination) in operands.destinations.iter().enumerate() {
            let private = !shared && bit(instruction.private_reads, index);
            if !private || cache.bypasses(index, operands) {
                cache.write(destination, index, operands, to);
                last.invalidate(destination, operands.mask, to);
                continue;
            }
            let unneeded = bit(operands.not_read_before_deschedule, index);
            let evicted = last.write(destination, operands.mask, unneeded, to);
            // What is overtaken leaves first, so that the victim may take its place.
            cache.invalidate(destination, operands.mask, to);
            if let Some(victim) = evicted {
                cache.accept(victim.register, victim.lanes, victim.unneeded, to);
            }
        }
    }

    fn flush(&mut self, to: &mut impl Observer) {
        // The last result is the youngest.
        self.cache.flush(to);
        if let Some(last) = &mut self.last {
            last.flush(to);
        }
    }

    fn exit(&mut self, to: &mut impl Observer) {
        self.cache.exit(to);
        if let Some(last) = &mut self.last {
            last.exit(to);
        }
    }
}

impl<const CAPACITY: usize> WarpHierarchy<'_, CAPACITY> {
    /// The register that a shared unit would have to read from the last result file, if there is
    /// one. Such an instruction cannot be executed.
    #[inline]
    pub(crate) fn out_of_reach(&self, step: &Step<'_>) -> Option<RegisterId> {
        match &self.upper {
            Some(upper) if upper.last.is_some() => upper.out_of_reach(step),
            _ => None,
        }
    }

    /// Executes one instruction. With `two_level`, long-latency results bypass the upper levels and
    /// are awaited from now on.
    #[inline]
    pub(crate) fn execute(&mut self, step: Step<'_>, two_level: bool, to: &mut impl Listener) {
        let instruction = step.instruction;
        let long_latency = two_level && instruction.flags.contains(Flags::LONG_LATENCY);
        if let Some(upper) = &mut self.upper {
            let operands = Operands {
                sources: step.sources,
                last_use: instruction.last_use,
                last_use_before_deschedule: instruction.last_use_before_deschedule,
                destinations: step.destinations,
                not_read_before_deschedule: instruction.not_read_before_deschedule,
                bypass: long_latency,
                mask: step.mask,
            };
            if upper.last.is_some() {
                upper.step_through(&operands, instruction, to);
            } else {
                upper.cache.step(&operands, to);
            }
            to.operands_read();
        } else if step.placements.is_empty() {
            to.flat(step.sources, step.destinations, step.mask);
        } else {
            let (read, written) = step.placements.split_at(step.sources.len());
            for (&register, &placement) in step.sources.iter().zip(read) {
                to.source(register, placement, step.mask);
            }
            for (&register, &placement) in step.destinations.iter().zip(written) {
                to.result(register, placement, step.mask);
            }
            to.operands_read();
        }
        self.track(step.destinations, step.mask, long_latency);
    }

    /// The warp leaves the active set.
    pub(crate) fn deschedule(&mut self, to: &mut impl Observer) {
        self.flush(to);
        if !self.sketch.is_empty() {
            self.awaited.fill(LaneMask::EMPTY);
            *self.sketch = RegisterSketch::EMPTY;
        }
    }

    /// Writes what is only in the upper levels back and empties them.
    pub(crate) fn flush(&mut self, to: &mut impl Observer) {
        if let Some(upper) = &mut self.upper {
            upper.flush(to);
        }
    }

    /// The warp ends.
    pub(crate) fn exit(&mut self, to: &mut impl Observer) {
        if let Some(upper) = &mut self.upper {
            upper.exit(to);
        }
    }

    /// Notes which lanes hold long-latency results now. Exact by lane, because the two sides of a
    /// divergent branch may give a register values of both kinds.
    #[inline]
    pub(crate) fn track(
        &mut self,
        destinations: &[RegisterId],
        mask: LaneMask,
        long_latency: bool,
    ) {
        if !long_latency && self.sketch.is_empty() {
            return;
        }
        for destination in destinations {
            let lanes = &mut self.awaited[usize::from(destination.0)];
            *lanes = if long_latency { lanes.or(mask) } else { lanes.without(mask) };
        }
        if long_latency && !destinations.is_empty() {
            *self.sketch = self.sketch.with(destinations);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::image::Unit;
    use crate::register_file_cache::{Allocation, Replacement};
    use last_result_file::Access as Last;
    use register_file_cache::Access as Cache;
    use std::vec::Vec;

    const FULL: LaneMask = LaneMask::FULL;
    const LEFT: LaneMask = LaneMask(0xffff_0000);
    const RIGHT: LaneMask = LaneMask(0x0000_ffff);

    /// Something that either level did.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Did {
        Last(Last, u16, LaneMask),
        Cache(Cache, u16, LaneMask),
    }

    #[derive(Default)]
    struct Seen(Vec<Did>);

    impl register_file_cache::Observer for Seen {
        fn observe(&mut self, access: Cache, register: RegisterId, lanes: LaneMask) {
            self.0.push(Did::Cache(access, register.0, lanes));
        }
    }

    impl last_result_file::Observer for Seen {
        fn observe_last(&mut self, access: Last, register: RegisterId, lanes: LaneMask) {
            self.0.push(Did::Last(access, register.0, lanes));
        }
    }

    fn last(access: Last, register: u16) -> Did {
        Did::Last(access, register, FULL)
    }

    fn cache(access: Cache, register: u16) -> Did {
        Did::Cache(access, register, FULL)
    }

    const PLAIN: RegisterFileCacheConfig = RegisterFileCacheConfig {
        entries: 2,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    };

    /// An instruction in the making; without more the ALU's, of all lanes, whose results no shared
    /// unit reads.
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
                cache: Some(cache),
                last_result_file: true,
                ..*crate::organisation::Organisation::FLAT.settings()
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
            let step = Step {
                instruction: &instruction,
                placements: &[],
                sources: &sources,
                destinations: &destinations,
                mask: what.mask,
            };
            if let Some(register) = self.0.out_of_reach(&step) {
                return Err(register);
            }
            let mut seen = Seen::default();
            self.0.step_through(&operands, &instruction, &mut seen);
            Ok(seen.0)
        }

        fn run(&mut self, what: Do<'_>) -> Vec<Did> {
            self.try_run(what).unwrap()
        }

        fn write(&mut self, register: u16) -> Vec<Did> {
            self.run(Do { write: &[register], ..ALU })
        }

        fn end(&mut self, act: impl FnOnce(&mut UpperLevels<8>, &mut Seen)) -> Vec<Did> {
            let mut seen = Seen::default();
            act(&mut self.0, &mut seen);
            seen.0
        }

        fn resident(&self) -> (Option<u16>, Vec<u16>) {
            let last = self.0.last.unwrap().entry().map(|(register, _)| register.0);
            (last, self.0.cache.entries().map(|(register, ..)| register.0).collect())
        }
    }

    #[test]
    fn a_result_goes_to_the_last_result_file_and_from_there_down_level_by_level() {
        let mut bench = Bench::new(PLAIN);
        assert_eq!(bench.write(1), [last(Last::Write, 1), last(Last::Allocation, 1)]);
        let expected = [
            last(Last::Write, 2),
            last(Last::Eviction, 1),
            last(Last::Allocation, 2),
            cache(Cache::Allocation, 1),
        ];
        assert_eq!(bench.write(2), expected);
        bench.write(3);
        assert_eq!(bench.resident(), (Some(3), [1, 2].to_vec()));
        let expected = [
            last(Last::Write, 4),
            last(Last::Eviction, 3),
            last(Last::Allocation, 4),
            cache(Cache::WritebackEviction, 1),
            cache(Cache::Allocation, 3),
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
            cache(Cache::ReadHit, 1),
            last(Last::Read, 2),
            cache(Cache::MainRead, 3),
            last(Last::Read, 2),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_register_is_overwritten_in_place() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        assert_eq!(
            bench.run(Do { read: &[1], write: &[1], ..ALU }),
            [last(Last::Read, 1), last(Last::Write, 1)]
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
            last(Last::Write, 1),
            last(Last::Eviction, 2),
            last(Last::Allocation, 1),
            cache(Cache::Drop, 1),
            cache(Cache::Allocation, 2),
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
            let expected =
                [cache(Cache::Write, 1), cache(Cache::Allocation, 1), last(Last::Drop, 1)];
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
        // Other lanes, or another register, are none of its business.
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
        assert_eq!(bench.run(load(2)), [cache(Cache::MainWrite, 2), last(Last::Drop, 2)]);
        assert_eq!(bench.run(load(1)), [cache(Cache::MainWrite, 1), cache(Cache::Drop, 1)]);
        assert_eq!(bench.resident(), (None, [].to_vec()));
    }

    #[test]
    fn a_last_read_frees_the_entry_after_all_reads() {
        let mut bench = Bench::new(PLAIN);
        bench.write(1);
        let seen = bench.run(Do { read: &[1, 1], dead: 0b10, write: &[2], ..ALU });
        let expected = [
            last(Last::Read, 1),
            last(Last::Read, 1),
            last(Last::Drop, 1),
            last(Last::Write, 2),
            last(Last::Allocation, 2),
        ];
        assert_eq!(seen, expected);
        // Without liveness the entry goes the long way.
        let mut bench = Bench::new(RegisterFileCacheConfig { liveness: false, ..PLAIN });
        bench.write(1);
        let seen = bench.run(Do { read: &[1], dead: 0b1, write: &[2], ..ALU });
        assert_eq!(seen[2], last(Last::Eviction, 1));
        assert_eq!(
            bench.end(UpperLevels::exit),
            [cache(Cache::WritebackFlush, 1), last(Last::WritebackFlush, 2)]
        );
    }

    #[test]
    fn a_wide_result_goes_through_word_by_word() {
        let mut bench = Bench::new(PLAIN);
        let seen = bench.run(Do { write: &[4, 5], ..ALU });
        let expected = [
            last(Last::Write, 4),
            last(Last::Allocation, 4),
            last(Last::Write, 5),
            last(Last::Eviction, 4),
            last(Last::Allocation, 5),
            cache(Cache::Allocation, 4),
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
            Did::Last(Last::Read, 1, LEFT),
            Did::Last(Last::PartialHit, 1, LEFT),
            Did::Cache(Cache::ReadHit, 1, RIGHT),
        ];
        assert_eq!(seen, expected);
        // Evicted, they join the others, whose age counts.
        assert_eq!(bench.resident(), (Some(1), [1, 2].to_vec()));
        bench.write(3);
        assert_eq!(bench.resident(), (Some(3), [1, 2].to_vec()));
        assert_eq!(bench.run(Do { read: &[1], ..ALU }), [cache(Cache::ReadHit, 1)]);
        // Three levels serve one operand.
        let mut bench = Bench::new(PLAIN);
        bench.run(Do { write: &[1], mask: LaneMask(0b0010), ..ALU });
        bench.write(2);
        bench.run(Do { write: &[1], mask: LaneMask(0b0001), ..ALU });
        let seen = bench.run(Do { read: &[1], mask: LaneMask(0b0111), ..ALU });
        let expected = [
            Did::Last(Last::Read, 1, LaneMask(0b0001)),
            Did::Last(Last::PartialHit, 1, LaneMask(0b0001)),
            Did::Cache(Cache::ReadHit, 1, LaneMask(0b0010)),
            Did::Cache(Cache::MainRead, 1, LaneMask(0b0100)),
            Did::Cache(Cache::PartialHit, 1, LaneMask(0b0010)),
        ];
        assert_eq!(seen, expected);
        // A last read by some lanes frees the value in both levels.
        let seen = bench.run(Do { read: &[1], dead: 1, mask: LaneMask(0b0001), ..ALU });
        assert_eq!(
            seen[1..],
            [
                Did::Last(Last::Drop, 1, LaneMask(0b0001)),
                Did::Cache(Cache::Drop, 1, LaneMask(0b0010))
            ]
        );
    }

    #[test]
    fn operands_that_miss_are_allocated_in_the_cache_without_the_lanes_above() {
        let allocation = Allocation::WritesAndReads;
        let mut bench = Bench::new(RegisterFileCacheConfig { allocation, ..PLAIN });
        bench.run(Do { write: &[1], mask: LEFT, ..ALU });
        let seen = bench.run(Do { read: &[1], ..ALU });
        let expected = [
            Did::Last(Last::Read, 1, LEFT),
            Did::Last(Last::PartialHit, 1, LEFT),
            Did::Cache(Cache::MainRead, 1, RIGHT),
            Did::Cache(Cache::Fill, 1, RIGHT),
            Did::Cache(Cache::Allocation, 1, RIGHT),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn liveness_aware_bypass_skips_both_levels() {
        let mut bench =
            Bench::new(RegisterFileCacheConfig { liveness_aware_bypass: true, ..PLAIN });
        bench.write(1);
        let seen = bench.run(Do { write: &[1], unneeded: 1, ..ALU });
        assert_eq!(seen, [cache(Cache::MainWrite, 1), last(Last::Drop, 1)]);
        // r2's last read before the deschedule has passed when it is evicted.
        bench.write(2);
        let Some(file) = &mut bench.0.last else { panic!("there is one") };
        file.read(RegisterId(2), FULL, true, &mut |_: Last, _: RegisterId, _: LaneMask| {});
        assert_eq!(
            bench.write(3),
            [last(Last::Write, 3), last(Last::WritebackEviction, 2), last(Last::Allocation, 3)]
        );
    }

    #[test]
    fn a_flush_writes_the_last_result_back_last_and_past_the_cache() {
        let mut bench = Bench::new(PLAIN);
        for register in [1, 2, 3] {
            bench.write(register);
        }
        let flushed = [
            cache(Cache::WritebackFlush, 1),
            cache(Cache::WritebackFlush, 2),
            last(Last::WritebackFlush, 3),
        ];
        assert_eq!(bench.end(UpperLevels::flush), flushed);
        assert_eq!(bench.end(UpperLevels::flush), []);
        bench.write(1);
        assert_eq!(bench.end(UpperLevels::exit), [last(Last::Drop, 1)]);
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

    impl register_file_cache::Observer for Values {
        fn observe(&mut self, access: Cache, register: RegisterId, lanes: LaneMask) {
            let did = Did::Cache(access, register.0, lanes);
            match access {
                Cache::ReadHit => self.read(1, register, lanes, did),
                Cache::MainRead => self.read(0, register, lanes, did),
                Cache::Write => self.write(1, register, lanes),
                Cache::MainWrite => self.write(0, register, lanes),
                Cache::Fill => self.shift(0, 1, register, lanes),
                Cache::WritebackEviction | Cache::WritebackFlush => {
                    self.shift(1, 0, register, lanes);
                }
                Cache::Drop => self.shift(1, 1, register, lanes),
                Cache::PartialHit | Cache::Allocation => {}
            }
        }
    }

    impl last_result_file::Observer for Values {
        fn observe_last(&mut self, access: Last, register: RegisterId, lanes: LaneMask) {
            let did = Did::Last(access, register.0, lanes);
            match access {
                Last::Read => self.read(2, register, lanes, did),
                Last::Write => self.write(2, register, lanes),
                Last::Eviction => self.shift(2, 1, register, lanes),
                Last::WritebackEviction | Last::WritebackFlush => {
                    self.shift(2, 0, register, lanes);
                }
                Last::Drop => self.shift(2, 2, register, lanes),
                Last::PartialHit | Last::Allocation => {}
            }
        }
    }

    /// One of the policies, for each number another.
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
                let step = Step {
                    instruction: &instruction,
                    placements: &[],
                    sources: &sources,
                    destinations: &destinations,
                    mask,
                };
                if upper.out_of_reach(&step).is_some() {
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
