//! Count mode: walks the path of one warp, in order, through the register hierarchy.
//!
//! Models: accesses of every level, deschedules, flushes. A warp's counters depend on its path
//! only, so identical paths are counted once and multiplied.
//! Does not model: time, bank conflicts, values.
//! Source: `[RFC2011]` 3 and 5.3, `[DISS]` 5.3; `docs/MODEL.md`, rules 1 to 18 and 24 to 27.

use crate::event::{Counters, Datapath, Event};
use crate::footprint::{DEVICE_CAPACITY, HOST_CAPACITY};
use crate::hierarchy::{Listener, Step, UpperLevels, WarpHierarchy, awaited};
use crate::image::{CheckedImage, Flags, StaticInstruction};
use crate::last_result_file;
use crate::path::PathStep;
use crate::placement::{Placement, Upper};
use crate::register_file_cache::{Access, ConfigError, Observer, RegisterFileCacheConfig};
use crate::units::{LANES, LaneMask, RegisterId};

/// Most warps of an SM.
pub const MAX_WARPS: u8 = 32;
/// Lanes of a cluster, which share the banks that deliver 128 bits.
pub const LANES_PER_CLUSTER: u32 = 4;
/// Clusters of an SM; each makes one 128-bit access for an access of a whole warp.
pub const CLUSTERS: u32 = LANES / LANES_PER_CLUSTER;

/// How warps share the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// Every resident warp has its own entries for as long as it lives.
    SingleLevel,
    /// Only active warps have entries: a warp that reads a pending long-latency result, or arrives
    /// at a barrier, is descheduled and its entries are flushed. Results of long-latency operations
    /// bypass the cache.
    TwoLevel {
        /// Warps active at a time. Range: `1..=MAX_WARPS`. Sizes the cache; the counts of a warp do
        /// not depend on it.
        active_warps: u8,
    },
}

/// What to count, before it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CountSettings {
    /// The register file cache, if there is one.
    pub cache: Option<RegisterFileCacheConfig>,
    /// Scheduling.
    pub scheduling: Scheduling,
    /// A taken backward branch flushes the upper levels (the experiment of `[DISS]` 6.6.2).
    pub flush_at_backward_branches: bool,
    /// A last result file in front of the cache. Needs a cache.
    pub last_result_file: bool,
    /// The compiler places operands and results in an operand register file, and in a last result
    /// file if its placements name one. Instead of a cache.
    pub compiler_managed: bool,
}

/// What to count: settings whose ranges and combinations were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CountConfig(CountSettings);

/// Settings that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountConfigError {
    /// The cache's own settings.
    Cache(ConfigError),
    /// Active warps outside `1..=MAX_WARPS`.
    ActiveWarps(u8),
    /// Liveness-aware bypass or eviction with a single-level scheduler, which never deschedules.
    NeedsTwoLevel,
    /// A flush without a cache.
    NothingToFlush,
    /// A last result file without a cache behind it.
    NothingBehind,
    /// A cache, or a flush of one, together with a compiler-managed hierarchy.
    CacheAndCompiler,
}

impl core::fmt::Display for CountConfigError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cache(error) => error.fmt(formatter),
            Self::ActiveWarps(warps) => {
                write!(formatter, "{warps} active warps are outside the range 1 to {MAX_WARPS}")
            }
            Self::NeedsTwoLevel => formatter.write_str(
                "liveness-aware bypass and eviction need two-level scheduling: they look at what \
                 is read before the next deschedule",
            ),
            Self::NothingToFlush => {
                formatter.write_str("a flush at backward branches needs a register file cache")
            }
            Self::NothingBehind => {
                formatter.write_str("a last result file needs a register file cache behind it")
            }
            Self::CacheAndCompiler => formatter
                .write_str("a compiler-managed hierarchy takes the place of a register file cache"),
        }
    }
}

impl core::error::Error for CountConfigError {}

impl CountConfig {
    /// The flat main register file.
    pub const FLAT: Self = Self(CountSettings {
        cache: None,
        scheduling: Scheduling::SingleLevel,
        flush_at_backward_branches: false,
        last_result_file: false,
        compiler_managed: false,
    });

    /// Checks settings.
    pub const fn new(settings: CountSettings) -> Result<Self, CountConfigError> {
        if let Scheduling::TwoLevel { active_warps } = settings.scheduling
            && (active_warps == 0 || active_warps > MAX_WARPS)
        {
            return Err(CountConfigError::ActiveWarps(active_warps));
        }
        if settings.compiler_managed
            && (settings.cache.is_some() || settings.flush_at_backward_branches)
        {
            return Err(CountConfigError::CacheAndCompiler);
        }
        let Some(cache) = settings.cache else {
            if settings.flush_at_backward_branches {
                return Err(CountConfigError::NothingToFlush);
            }
            if settings.last_result_file {
                return Err(CountConfigError::NothingBehind);
            }
            return Ok(Self(settings));
        };
        if let Err(error) = cache.check() {
            return Err(CountConfigError::Cache(error));
        }
        if (cache.liveness_aware_bypass || cache.liveness_aware_eviction)
            && matches!(settings.scheduling, Scheduling::SingleLevel)
        {
            return Err(CountConfigError::NeedsTwoLevel);
        }
        Ok(Self(settings))
    }

    /// The settings.
    pub const fn settings(&self) -> &CountSettings {
        &self.0
    }
}

/// A path that the image or the caller's memory does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A run that is empty or leaves the kernel.
    PathOutOfRange {
        /// The run.
        step: PathStep,
        /// Instructions of the kernel.
        instructions: usize,
    },
    /// The warp must be descheduled before an instruction that the compiler did not mark.
    UnmarkedDeschedule {
        /// The instruction.
        pc: u32,
        /// The register whose long-latency result is pending.
        register: RegisterId,
    },
    /// A unit of the shared datapath reads a value that the compiler let into the last result file.
    OutOfReach {
        /// The instruction.
        pc: u32,
        /// The register whose value lies in the last result file.
        register: RegisterId,
    },
    /// The cache does not fit the compiled capacity.
    Cache(ConfigError),
    /// The hierarchy is compiler-managed, and the image was not fitted to one.
    NotPlaced,
    /// The caller's working memory has too few elements for the kernel's registers.
    ScratchTooShort {
        /// Elements needed.
        needed: usize,
        /// Elements handed in.
        given: usize,
    },
}

impl core::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::PathOutOfRange { step, instructions } => write!(
                formatter,
                "a path runs {} instructions from {}, but the kernel has {instructions}",
                step.length, step.pc
            ),
            Self::UnmarkedDeschedule { pc, register } => write!(
                formatter,
                "instruction {pc} reads the pending long-latency result in register {}, but is not \
                 marked as a place to deschedule",
                register.0
            ),
            Self::OutOfReach { pc, register } => write!(
                formatter,
                "instruction {pc} reads register {} for the shared datapath, but the value is in \
                 the last result file, which only the private datapath reaches",
                register.0
            ),
            Self::Cache(error) => error.fmt(formatter),
            Self::NotPlaced => formatter.write_str(
                "the hierarchy is compiler-managed, but the kernel was not fitted to one",
            ),
            Self::ScratchTooShort { needed, given } => {
                write!(
                    formatter,
                    "working memory of {given} elements, but the kernel needs {needed}"
                )
            }
        }
    }
}

impl core::error::Error for Fault {}

impl<'a> CheckedImage<'a> {
    /// The instructions of a run of a path.
    pub fn run(&self, step: PathStep) -> Result<&'a [StaticInstruction], Fault> {
        let all = self.instructions;
        let first = step.pc as usize;
        first
            .checked_add(step.length as usize)
            .and_then(|end| all.get(first..end))
            .filter(|run| !run.is_empty())
            .ok_or(Fault::PathOutOfRange { step, instructions: all.len() })
    }
}

/// Counts one warp's path. Unit of the access counters: accesses of a whole warp.
///
/// `pending` is working memory, one element for each register of the kernel; its contents do not
/// matter and are overwritten. The end of the path is the end of the warp.
pub fn count_path(
    config: &CountConfig,
    image: CheckedImage<'_>,
    pending: &mut [LaneMask],
    path: impl IntoIterator<Item = PathStep>,
) -> Result<Counters, Fault> {
    if config.settings().cache.is_some_and(|cache| usize::from(cache.entries) <= DEVICE_CAPACITY) {
        WarpCounter::<DEVICE_CAPACITY, false>::count(config, image, pending, path)
    } else {
        WarpCounter::<HOST_CAPACITY, false>::count(config, image, pending, path)
    }
}

/// Like [`count_path`], but the unit of the access counters is the 128-bit access of one cluster,
/// and a cluster without an enabled lane makes none (the option `partial_warp_energy`).
pub fn count_path_clusters(
    config: &CountConfig,
    image: CheckedImage<'_>,
    pending: &mut [LaneMask],
    path: impl IntoIterator<Item = PathStep>,
) -> Result<Counters, Fault> {
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
    two_level: bool,
    settings: CountSettings,
    /// For each register, the lanes whose value is a long-latency result issued since the warp's
    /// last deschedule.
    pending: &'a mut [LaneMask],
    /// False only if all of `pending` is empty.
    anything_pending: bool,
    counters: Counters,
}

impl<'a, const CAPACITY: usize, const BY_CLUSTER: bool> WarpCounter<'a, CAPACITY, BY_CLUSTER> {
    /// Starts a warp. `pending` is working memory as in [`count_path`].
    pub fn new(
        config: &CountConfig,
        image: CheckedImage<'a>,
        pending: &'a mut [LaneMask],
    ) -> Result<Self, Fault> {
        let settings = config.settings();
        let upper = UpperLevels::of(settings).map_err(Fault::Cache)?;
        if settings.compiler_managed && !image.is_placed() {
            return Err(Fault::NotPlaced);
        }
        let (needed, given) = (usize::from(image.registers), pending.len());
        let pending = pending.get_mut(..needed).ok_or(Fault::ScratchTooShort { needed, given })?;
        pending.fill(LaneMask::EMPTY);
        Ok(Self {
            image,
            upper,
            two_level: matches!(settings.scheduling, Scheduling::TwoLevel { .. }),
            settings: *settings,
            pending,
            anything_pending: false,
            counters: Counters::default(),
        })
    }

    /// Executes a run of instructions. After a fault the counter is of no further use.
    pub fn step(&mut self, step: PathStep) -> Result<(), Fault> {
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
        config: &CountConfig,
        image: CheckedImage<'a>,
        pending: &'a mut [LaneMask],
        path: impl IntoIterator<Item = PathStep>,
    ) -> Result<Counters, Fault> {
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
            pending: self.pending,
            anything_pending: &mut self.anything_pending,
        };
        (hierarchy, &mut self.counters)
    }

    #[inline]
    fn instruction(
        &mut self,
        pc: u32,
        instruction: &StaticInstruction,
        mask: LaneMask,
    ) -> Result<(), Fault> {
        let sources = self.image.sources(instruction);
        let destinations = self.image.destinations(instruction);
        let two_level = self.two_level;
        let placements =
            if self.settings.compiler_managed { self.image.placements(instruction) } else { &[] };
        let (mut hierarchy, counters) = self.parts();
        if *hierarchy.anything_pending
            && let Some(register) = awaited(hierarchy.pending, sources, mask)
        {
            if !instruction.flags.contains(Flags::DESCHEDULE_BEFORE) {
                return Err(Fault::UnmarkedDeschedule { pc, register });
            }
            counters.record(Event::Deschedule, 1);
            hierarchy.deschedule(&mut Tally::<BY_CLUSTER>::new(counters, Datapath::Private));
        }
        let datapath = Datapath::of(instruction.unit);
        let step = Step { instruction, sources, destinations, placements, mask };
        if let Some(register) = hierarchy.out_of_reach(&step) {
            return Err(Fault::OutOfReach { pc, register });
        }
        hierarchy.execute(step, two_level, &mut Tally::<BY_CLUSTER>::new(counters, datapath));
        if instruction.flags.intersects(Flags::BARRIER.union(Flags::BACKWARD_BRANCH)) {
            self.after(instruction.flags);
        }
        Ok(())
    }

    /// What follows an instruction's operands.
    fn after(&mut self, flags: Flags) {
        let barrier = self.two_level && flags.contains(Flags::BARRIER);
        let backward =
            self.settings.flush_at_backward_branches && flags.contains(Flags::BACKWARD_BRANCH);
        let (mut hierarchy, counters) = self.parts();
        if barrier {
            counters.record(Event::BarrierDeschedule, 1);
        }
        let mut tally = Tally::<BY_CLUSTER>::new(counters, Datapath::Private);
        if barrier {
            hierarchy.deschedule(&mut tally);
        }
        if backward {
            hierarchy.flush(&mut tally);
        }
    }
}

/// Turns what the hierarchy does into events of one instruction's datapath.
pub(crate) struct Tally<'a, const BY_CLUSTER: bool> {
    counters: &'a mut Counters,
    datapath: Datapath,
    /// Operands that the instruction has read from the main register file.
    main_operands: u32,
}

impl<'a, const BY_CLUSTER: bool> Tally<'a, BY_CLUSTER> {
    pub(crate) const fn new(counters: &'a mut Counters, datapath: Datapath) -> Self {
        Self { counters, datapath, main_operands: 0 }
    }

    /// Accesses that one access under a mask stands for.
    fn weight(mask: LaneMask) -> u64 {
        if !BY_CLUSTER {
            return 1;
        }
        let pairs = mask.0 | mask.0 >> 1;
        let quads = pairs | pairs >> 2;
        u64::from((quads & 0x1111_1111).count_ones())
    }
}

impl<const BY_CLUSTER: bool> Listener for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask) {
        let weight = Self::weight(mask);
        let (read, write) = match self.datapath {
            Datapath::Private => (Event::MrfReadPrivate, Event::MrfWritePrivate),
            Datapath::Shared => (Event::MrfReadShared, Event::MrfWriteShared),
        };
        self.counters.record(read, sources.len() as u64 * weight);
        self.counters.record(write, destinations.len() as u64 * weight);
        self.counters.record_main_operands(sources.len() as u32, 1);
    }

    fn source(&mut self, _: RegisterId, placement: Placement, mask: LaneMask) {
        let weight = Self::weight(mask);
        if placement.main {
            let read = match self.datapath {
                Datapath::Private => Event::MrfReadPrivate,
                Datapath::Shared => Event::MrfReadShared,
            };
            self.counters.record(read, weight);
            self.main_operands += 1;
        }
        let upper = match (placement.upper, placement.main, self.datapath) {
            (None, ..) => return,
            (Some(Upper::Orf(_)), false, Datapath::Private) => Event::OrfReadPrivate,
            (Some(Upper::Orf(_)), false, Datapath::Shared) => Event::OrfReadShared,
            (Some(Upper::Orf(_)), true, Datapath::Private) => Event::OrfFillPrivate,
            (Some(Upper::Orf(_)), true, Datapath::Shared) => Event::OrfFillShared,
            (Some(Upper::Lrf(_)), false, _) => Event::LrfRead,
            (Some(Upper::Lrf(_)), true, _) => Event::LrfFill,
        };
        self.counters.record(upper, weight);
    }

    fn result(&mut self, _: RegisterId, placement: Placement, mask: LaneMask) {
        let weight = Self::weight(mask);
        if placement.main {
            let write = match self.datapath {
                Datapath::Private => Event::MrfWritePrivate,
                Datapath::Shared => Event::MrfWriteShared,
            };
            self.counters.record(write, weight);
        }
        let upper = match (placement.upper, self.datapath) {
            (None, _) => return,
            (Some(Upper::Orf(_)), Datapath::Private) => Event::OrfWritePrivate,
            (Some(Upper::Orf(_)), Datapath::Shared) => Event::OrfWriteShared,
            (Some(Upper::Lrf(_)), _) => Event::LrfWrite,
        };
        self.counters.record(upper, weight);
        if placement.main {
            self.counters.record(Event::DualWrite, weight);
        }
    }

    #[inline]
    fn operands_read(&mut self) {
        self.counters.record_main_operands(self.main_operands, 1);
    }
}

impl<const BY_CLUSTER: bool> Observer for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn observe(&mut self, access: Access, _: RegisterId, lanes: LaneMask) {
        use Datapath::{Private, Shared};
        // An operand of which only some lanes come from there is one as well.
        self.main_operands += u32::from(access == Access::MainRead);
        let event = match (access, self.datapath) {
            (Access::ReadHit, Private) => Event::RfcReadPrivate,
            (Access::ReadHit, Shared) => Event::RfcReadShared,
            (Access::MainRead, Private) => Event::MrfReadPrivate,
            (Access::MainRead, Shared) => Event::MrfReadShared,
            (Access::Write, Private) => Event::RfcWritePrivate,
            (Access::Write, Shared) => Event::RfcWriteShared,
            (Access::MainWrite, Private) => Event::MrfWritePrivate,
            (Access::MainWrite, Shared) => Event::MrfWriteShared,
            (Access::Fill, Private) => Event::RfcFillPrivate,
            (Access::Fill, Shared) => Event::RfcFillShared,
            (Access::PartialHit, _) => return self.counters.record(Event::RfcPartialHit, 1),
            (Access::WritebackEviction, _) => Event::RfcWritebackEviction,
            (Access::WritebackFlush, _) => Event::RfcWritebackFlush,
            (Access::Allocation, _) => return self.counters.record(Event::RfcAllocation, 1),
            (Access::Drop, _) => return self.counters.record(Event::RfcDrop, 1),
        };
        self.counters.record(event, Self::weight(lanes));
    }
}

impl<const BY_CLUSTER: bool> last_result_file::Observer for Tally<'_, BY_CLUSTER> {
    #[inline]
    fn observe_last(&mut self, access: last_result_file::Access, _: RegisterId, lanes: LaneMask) {
        use last_result_file::Access;
        let event = match access {
            Access::Read => Event::LrfRead,
            Access::Write => Event::LrfWrite,
            Access::Eviction => Event::LrfEviction,
            Access::WritebackEviction => Event::LrfWritebackEviction,
            Access::WritebackFlush => Event::LrfWritebackFlush,
            Access::PartialHit => return self.counters.record(Event::LrfPartialHit, 1),
            Access::Allocation => return self.counters.record(Event::LrfAllocation, 1),
            Access::Drop => return self.counters.record(Event::LrfDrop, 1),
        };
        self.counters.record(event, Self::weight(lanes));
    }
}
