//! Count mode: walks the path of one warp, in order, through the register hierarchy.
//!
//! Models: accesses of every level, deschedules, flushes. A warp's counters depend on its path
//! only, so identical paths are counted once and multiplied.
//! Does not model: time, bank conflicts, values.
//! Source: `[RFC2011]` 3 and 5.3, `[DISS]` 5.3; `docs/MODEL.md`, rules 1 to 18 and 24 to 27.

use crate::datapath::Datapath;
use crate::event::{Counters, Event};
use crate::fault::PathFault;
use crate::footprint::{DEVICE_CAPACITY, HOST_CAPACITY};
use crate::hierarchy::{Step, UpperLevels, WarpHierarchy};
use crate::image::{CheckedImage, Flags, StaticInstruction};
use crate::organisation::Organisation;
use crate::path::PathStep;
use crate::rules::{After, PendingResults, RegisterSketch, Rules, check_mark};
use crate::tally::Tally;
use crate::units::LaneMask;

/// Counts one warp's path. Unit of the access counters: accesses of a whole warp.
///
/// `pending` is working memory, one element for each register of the kernel; its contents do not
/// matter and are overwritten. The end of the path is the end of the warp.
pub fn count_path(
    config: &Organisation,
    image: CheckedImage<'_>,
    pending: &mut [LaneMask],
    path: impl IntoIterator<Item = PathStep>,
) -> Result<Counters, PathFault> {
    if config.levels().cache().is_some_and(|cache| usize::from(cache.entries) <= DEVICE_CAPACITY) {
        WarpCounter::<DEVICE_CAPACITY, false>::count(config, image, pending, path)
    } else {
        WarpCounter::<HOST_CAPACITY, false>::count(config, image, pending, path)
    }
}

/// Counts one warp's path as [`count_path`] does, in another unit of the access counters: the
/// 128-bit access of one cluster. A cluster without an enabled lane makes none (the option
/// `partial_warp_energy`).
pub fn count_path_clusters(
    config: &Organisation,
    image: CheckedImage<'_>,
    pending: &mut [LaneMask],
    path: impl IntoIterator<Item = PathStep>,
) -> Result<Counters, PathFault> {
    WarpCounter::<HOST_CAPACITY, true>::count(config, image, pending, path)
}

/// Counts the path of one warp as it is executed.
///
/// `CAPACITY` is that of the register file cache. With `BY_CLUSTER` the unit of the access counters
/// is the 128-bit access of one cluster instead of the access of a whole warp.
#[derive(Debug)]
pub struct WarpCounter<'a, const CAPACITY: usize, const BY_CLUSTER: bool> {
    image: CheckedImage<'a>,
    upper: Option<UpperLevels<CAPACITY>>,
    rules: Rules,
    compiler_managed: bool,
    /// Lanes of the pending results, by register.
    pending: &'a mut [LaneMask],
    sketch: RegisterSketch,
    counters: Counters,
}

impl<'a, const CAPACITY: usize, const BY_CLUSTER: bool> WarpCounter<'a, CAPACITY, BY_CLUSTER> {
    /// Starts a warp. `pending` is working memory as in [`count_path`].
    pub fn new(
        config: &Organisation,
        image: CheckedImage<'a>,
        pending: &'a mut [LaneMask],
    ) -> Result<Self, PathFault> {
        let settings = config.settings();
        let upper = UpperLevels::of(settings).map_err(PathFault::Cache)?;
        let compiler_managed = config.levels().is_compiler_managed();
        if compiler_managed && !image.is_placed() {
            return Err(PathFault::NotPlaced);
        }
        let (needed, given) = (usize::from(image.registers), pending.len());
        let pending =
            pending.get_mut(..needed).ok_or(PathFault::ScratchTooShort { needed, given })?;
        pending.fill(LaneMask::EMPTY);
        Ok(Self {
            image,
            upper,
            rules: Rules::of(settings),
            compiler_managed,
            pending,
            sketch: RegisterSketch::EMPTY,
            counters: Counters::default(),
        })
    }

    /// Executes a run of instructions. After a fault the counter is of no further use.
    pub fn step(&mut self, step: PathStep) -> Result<(), PathFault> {
        let run = self.image.run(step)?;
        let length = u64::from(step.length);
        self.counters.record(Event::WarpInstruction, length);
        if step.mask.is_empty() {
            self.counters.record_main_operands(0, length);
            return Ok(());
        }
        let lanes = u64::from(step.mask.0.count_ones());
        self.counters.record(Event::ThreadInstruction, length * lanes);
        for (pc, instruction) in (step.pc..).zip(run) {
            self.instruction(pc, instruction, step.mask)?;
        }
        Ok(())
    }

    /// What was counted so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Ends the warp.
    pub fn finish(mut self) -> Counters {
        let (mut hierarchy, counters) = self.parts();
        hierarchy.exit(&mut Tally::<BY_CLUSTER>::new(counters, Datapath::Private));
        self.counters
    }

    fn count(
        config: &Organisation,
        image: CheckedImage<'a>,
        pending: &'a mut [LaneMask],
        path: impl IntoIterator<Item = PathStep>,
    ) -> Result<Counters, PathFault> {
        let mut counter = Self::new(config, image, pending)?;
        for step in path {
            counter.step(step)?;
        }
        Ok(counter.finish())
    }

    /// The parts of the warp's hierarchy, and the counters beside them.
    fn parts(&mut self) -> (WarpHierarchy<'_, CAPACITY>, &mut Counters) {
        let hierarchy = WarpHierarchy {
            upper: self.upper.as_mut(),
            pending: PendingResults::new(self.pending, &mut self.sketch),
        };
        (hierarchy, &mut self.counters)
    }

    #[inline]
    fn instruction(
        &mut self,
        pc: u32,
        instruction: &StaticInstruction,
        mask: LaneMask,
    ) -> Result<(), PathFault> {
        let sources = self.image.sources(instruction);
        let destinations = self.image.destinations(instruction);
        let (rules, managed) = (self.rules, self.compiler_managed);
        let registers = (sources, destinations);
        let step = Step::new(&self.image, (pc, instruction), registers, managed, mask);
        let (mut hierarchy, counters) = self.parts();
        if let Some(register) = hierarchy.pending.first_read(sources, mask) {
            check_mark(pc, instruction.flags, register)?;
            counters.record(Event::Deschedule, 1);
            hierarchy.deschedule(&mut Tally::<BY_CLUSTER>::new(counters, Datapath::Private));
        }
        let mut tally = Tally::<BY_CLUSTER>::new(counters, Datapath::of(instruction.unit));
        hierarchy.execute(&step, rules, &mut tally)?;
        tally.end_instruction();
        if instruction.flags.intersects(Flags::BARRIER.union(Flags::BACKWARD_BRANCH)) {
            self.follow(rules.after(instruction.flags));
        }
        Ok(())
    }

    /// What follows an instruction's operands.
    fn follow(&mut self, after: After) {
        let (mut hierarchy, counters) = self.parts();
        if after.deschedule {
            counters.record(Event::BarrierDeschedule, 1);
        }
        let mut tally = Tally::<BY_CLUSTER>::new(counters, Datapath::Private);
        if after.deschedule {
            hierarchy.deschedule(&mut tally);
        }
        if after.flush {
            hierarchy.flush(&mut tally);
        }
    }
}
