//! Run: a launch on one SM, from its first cycle to its last.

use std::cell::RefCell;

use strata_core::arbiter::{BankedRegister, QueuedRead};
use strata_core::footprint::{DEVICE_CAPACITY, HOST_CAPACITY};
use strata_core::path::PathStep;
use strata_core::sm::config::{Launch, SmConfig, SmSettings};
use strata_core::sm::expansion::bundles::Bundles;
use strata_core::sm::memory::MemoryModel;
use strata_core::sm::memory::cached::CachedMemory;
use strata_core::sm::memory::l2::L2;
use strata_core::sm::memory::lower::LowerMemory;
use strata_core::sm::{
    BarrierCall, CommonObserver, Cta, DeliveryMemory, Memory, MemoryAccess, MemorySize,
    Observation, ResultOnItsWay, Sm, SmObserver, Trace, Unobserved, Warp, WarpTrace,
};
use strata_core::units::{LANES, LaneMask};
use strata_simt::paths::WarpPath;
use strata_workload::watch;

use super::error::TimingError;
use super::launch::{Timed, TimedLaunch};
use super::launch_cache::LaunchCache;
use crate::levels::Fitted;

/// Runs all recorded CTAs of a launch on one SM, in linear order.
pub fn time_launch(settings: SmSettings, launch: &TimedLaunch<'_>) -> Result<Timed, TimingError> {
    observe_launch(settings, launch, Unobserved)
}

/// Runs a launch as [`observe_launch_over`] does, and no observer hears of it.
pub fn time_launch_over(
    cache: Option<&mut LaunchCache>,
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
) -> Result<Timed, TimingError> {
    observe_launch_over(cache, settings, launch, Unobserved)
}

/// Runs a launch as [`observe_launch_over`] does, and tells `hear` what happens. Not generic: what
/// calls it compiles no SM of its own.
pub fn hear_launch_over(
    cache: Option<&mut LaunchCache>,
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    hear: &mut dyn FnMut(Observation),
) -> Result<Timed, TimingError> {
    observe_launch_over(cache, settings, launch, hear)
}

/// Runs all recorded CTAs of a launch on one SM, in linear order, and `observer` hears of it.
pub fn observe_launch(
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    observer: impl SmObserver,
) -> Result<Timed, TimingError> {
    let trace = |place, warp| launch.trace_of(place, warp);
    if needs_host_capacity(&settings) {
        run::<_, HOST_CAPACITY>(settings, launch, observer, None, trace)
    } else {
        run::<_, DEVICE_CAPACITY>(settings, launch, observer, None, trace)
    }
}

/// Runs all recorded CTAs of a launch on one SM, in linear order, over a cache, if there is one,
/// which keeps what the launches before have left in it; `observer` hears what happens. With a
/// cache the launch's accesses must have been recorded with their lines.
pub fn observe_launch_over<O: SmObserver>(
    cache: Option<&mut LaunchCache>,
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    observer: O,
) -> Result<Timed, TimingError> {
    let Some(cache) = cache else { return observe_launch(settings, launch, observer) };
    let (cached, mut cache, parts, second_level) = cache.lend()?;
    let observer = RefCell::new(observer);
    let hears = CommonObserver::new(&observer);
    let heard = (launch.accesses.list().unwrap_or_default(), hears);
    let (timing, memory) = (&settings.timing, (&mut cache, parts));
    let Some(second_level) = second_level else {
        let mut memory = CachedMemory::observed(cached, timing, memory, heard.0, heard.1)?;
        let timed = run_attached(&mut memory, settings, launch, hears)?;
        return with_counts(timed, &memory);
    };
    second_level.lend(|l2, below| {
        let lower = L2::new(l2, below)?;
        let mut memory = CachedMemory::over(lower, cached, timing, memory, heard)?;
        let timed = run_attached(&mut memory, settings, launch, hears)?;
        let timed = with_counts(timed, &memory)?;
        Ok(Timed { lower: Some(*memory.lower().counters()), ..timed })
    })
}

/// What a launch did, with what its memory has counted.
fn with_counts<O: SmObserver, L: LowerMemory>(
    timed: Timed,
    memory: &CachedMemory<'_, '_, O, L>,
) -> Result<Timed, TimingError> {
    if memory.unlisted() != 0 {
        return Err(TimingError::NoLines);
    }
    Ok(Timed { cache: Some(*memory.counters()), ..timed })
}

/// Runs a launch over a memory that takes accesses by their place in a list.
fn run_attached(
    memory: &mut dyn MemoryModel,
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    observer: impl SmObserver,
) -> Result<Timed, TimingError> {
    let trace = |place, warp| Placed {
        trace: launch.trace_of(place, warp),
        place: launch.accesses.first_of_warp(place),
    };
    if needs_host_capacity(&settings) {
        run::<_, HOST_CAPACITY>(settings, launch, observer, Some(memory), trace)
    } else {
        run::<_, DEVICE_CAPACITY>(settings, launch, observer, Some(memory), trace)
    }
}

/// A register file cache with room for no more entries than needed is searched faster.
fn needs_host_capacity(settings: &SmSettings) -> bool {
    let cache = settings.organisation.levels().cache();
    cache.is_some_and(|cache| usize::from(cache.entries) > DEVICE_CAPACITY)
}

/// A warp's trace whose accesses stand in a list, one after the other.
struct Placed<'a> {
    trace: WarpTrace<'a, u32>,
    /// Of the next access.
    place: u32,
}

impl Trace for Placed<'_> {
    fn lanes(&self) -> LaneMask {
        self.trace.lanes()
    }

    #[inline]
    fn next_step(&mut self) -> Option<PathStep> {
        self.trace.next_step()
    }

    #[inline]
    fn next_access(&mut self) -> Option<MemoryAccess> {
        let access = self.trace.next_access()?.at(self.place);
        self.place += 1;
        Some(access)
    }

    fn next_barrier(&mut self) -> BarrierCall {
        self.trace.next_barrier()
    }
}

fn run<T: Trace, const CAPACITY: usize>(
    settings: SmSettings,
    launch: &TimedLaunch<'_>,
    observer: impl SmObserver,
    attached: Option<&mut dyn MemoryModel>,
    trace: impl Fn(usize, WarpPath) -> T,
) -> Result<Timed, TimingError> {
    let config = SmConfig::new(with_room(settings, launch)?)?;
    let warps_per_cta = launch.threads.div_ceil(LANES);
    let split = config
        .split(&Launch {
            warps_per_cta,
            registers: launch.image.image.registers,
            shared_bytes: launch.shared_bytes,
        })
        .map_err(TimingError::TooLarge)?;
    // A launch that no CTA is gained for runs as the baseline does.
    let bundled = split.and(launch.image.bundled);
    let image = match bundled {
        Some(bundled) => Fitted::from(&bundled.program.image).checked()?,
        None => launch.image.checked()?,
    };
    let instructions = image.instructions.len() as u32;
    let bundles = bundled.map(|bundled| Bundles::new(&bundled.prefetches, instructions));
    let bundles = bundles.transpose()?;
    let size = MemorySize::of(&config, &image);
    let mut warps = Vec::new();
    warps.resize_with(size.warps, Warp::default);
    let (mut facts, mut ready) = (vec![], vec![]);
    facts.resize_with(size.facts, Default::default);
    ready.resize_with(size.ready, Default::default);
    let mut ctas = vec![Cta::VACANT; size.ctas];
    let mut awaited = vec![LaneMask::EMPTY; size.awaited];
    let mut caches = vec![None; size.caches];
    let mut collectors = vec![None; size.delivery.collectors];
    let mut reads = vec![QueuedRead::NONE; size.delivery.reads];
    let mut registers = vec![BankedRegister::NONE; size.delivery.registers];
    let mut results = vec![ResultOnItsWay::NONE; size.delivery.registers];
    let mut cell_writes = vec![0; size.delivery.cells];
    let memory = Memory::<'_, T, CAPACITY> {
        warps: &mut warps,
        ctas: &mut ctas,
        facts: &mut facts,
        ready: &mut ready,
        awaited: &mut awaited,
        caches: &mut caches,
        delivery: DeliveryMemory {
            collectors: &mut collectors,
            reads: &mut reads,
            registers: &mut registers,
            results: &mut results,
            cell_writes: &mut cell_writes,
            bundles,
        },
        attached: attached.map(|memory| memory as &mut dyn MemoryModel),
    };
    let sm = Sm::observed(&config, image, warps_per_cta, launch.shared_bytes, memory, observer)?;
    let residency = sm.residency();
    let all = launch.paths.warps();
    let mut place = 0;
    let ctas = || all.chunk_by(|a: &WarpPath, b: &WarpPath| a.cta == b.cta);
    let begins = watch::launch(|| ctas().count() as u64);
    let ctas = ctas().map(|cta| {
        begins();
        let first = place;
        place += cta.len();
        let trace = &trace;
        cta.iter().enumerate().map(move |(index, warp)| trace(first + index, *warp))
    });
    let counters = sm.run(ctas)?;
    // Cells are not counted where registers lie in scratchpad memory too.
    if split.is_some() {
        cell_writes.clear();
    }
    Ok(Timed { counters, residency, split, cell_writes, cache: None, lower: None })
}

/// The SM with a register file of which the launch fills as much as one with its
/// [`TimedLaunch::resident_registers`] would, so that as many CTAs are resident.
fn with_room(settings: SmSettings, launch: &TimedLaunch<'_>) -> Result<SmSettings, TimingError> {
    let registers = launch.image.image.registers;
    if launch.resident_registers == registers {
        return Ok(settings);
    }
    let warps_per_cta = launch.threads.div_ceil(LANES);
    let (registers_of, shared_bytes) = (launch.resident_registers, launch.shared_bytes);
    let fewer = Launch { warps_per_cta, registers: registers_of, shared_bytes };
    let residency = SmConfig::new(settings)?.residency(&fewer).map_err(TimingError::TooLarge)?;
    let register_file_bytes = settings.register_file_for(residency.warps, registers.max(1));
    Ok(SmSettings { register_file_bytes, ..settings })
}
