//! Baselines in time: how long the designs that others are compared with run, each once however
//! many are compared with it.

use rayon::prelude::*;
use strata_core::sm::config::SmSettings;
use strata_core::sm::memory::cached::CachedSettings;

use crate::evaluate::EvaluateError;
use crate::timing::{LaunchCache, TimingError, time_launch_over};
use strata_design::Design;
use strata_workload::watch;

use crate::counted::Counted;

/// All of a design that its cycles depend on, where no compiler manages its levels.
type InTime = (SmSettings, Option<CachedSettings>);

/// Cycles of each baseline over all launches so far.
#[derive(Debug, Default)]
pub(crate) struct Baselines(Vec<Baseline>);

/// A baseline so far.
#[derive(Debug)]
struct Baseline {
    of: InTime,
    cycles: u64,
    /// What the launches have left in its data cache.
    cache: Option<LaunchCache>,
    /// Whether all launches of the input are in it.
    whole: bool,
}

/// A baseline's cycles over all launches of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownBaseline {
    of: InTime,
    cycles: u64,
}

const fn in_time(design: &Design) -> InTime {
    (design.sm, design.data_cache)
}

impl Baselines {
    /// Cycles of a baseline, if it was timed.
    pub(crate) fn cycles(&self, baseline: &Design) -> Option<u64> {
        let timed = self.0.iter().find(|timed| timed.of == in_time(baseline));
        timed.map(|timed| timed.cycles)
    }

    /// Baselines whose cycles over all launches of an input are known.
    pub(crate) fn whole(known: &[KnownBaseline]) -> Self {
        let one = |&KnownBaseline { of, cycles }: &KnownBaseline| Baseline {
            of,
            cycles,
            cache: None,
            whole: true,
        };
        Self(known.iter().map(one).collect())
    }

    /// Those that were timed, after the last launch of an input, and were not known before.
    pub(crate) fn new_ones(&self) -> impl Iterator<Item = KnownBaseline> {
        let new = self.0.iter().filter(|timed| !timed.whole);
        new.map(|&Baseline { of, cycles, .. }| KnownBaseline { of, cycles })
    }

    /// Adds launches to the baselines of the designs whose leakage is known, given each with its
    /// cycles over all launches, these included: a baseline among them does not run again.
    pub(crate) fn add(
        &mut self,
        timed: &[(&Design, u64)],
        launches: &[Counted<'_>],
    ) -> Result<(), EvaluateError> {
        let mut baselines: Vec<InTime> = Vec::new();
        for (design, _) in timed.iter().filter(|(design, _)| design.leakage.is_ok()) {
            let baseline = in_time(&design.baseline());
            if !baselines.contains(&baseline) {
                baselines.push(baseline);
            }
        }
        for baseline in baselines {
            let runs_anyway = |(design, _): &&(&Design, u64)| {
                let same = in_time(design) == baseline;
                let as_written = design.managed.is_none() && !design.sorted_registers;
                same && as_written && !design.partial_warp_energy
            };
            let place = self.0.iter().position(|timed| timed.of == baseline);
            let place = place.unwrap_or_else(|| {
                let cache = baseline.1.map(LaunchCache::new);
                self.0.push(Baseline { of: baseline, cycles: 0, cache, whole: false });
                self.0.len() - 1
            });
            let Baseline { cycles: total, cache, whole, .. } = &mut self.0[place];
            if *whole {
                continue;
            }
            if let Some((_, cycles)) = timed.iter().find(runs_anyway) {
                *total = *cycles;
                continue;
            }
            let (sm, _) = baseline;
            let watch = watch::current();
            let one = |launch: &Counted<'_>, cache: Option<&mut LaunchCache>| {
                let _within = watch::within(watch.clone());
                let timed = time_launch_over(cache, sm, &launch.timed());
                timed.map(|timed| timed.counters.cycles())
            };
            let cycles: Vec<_> = if cache.is_some() {
                let all = launches.iter().map(|launch| one(launch, cache.as_mut()));
                all.collect::<Result<_, TimingError>>()?
            } else {
                let all = launches.par_iter().map(|launch| one(launch, None));
                all.collect::<Result<_, TimingError>>()?
            };
            for cycles in cycles {
                *total = total.checked_add(cycles).ok_or(TimingError::Overflow)?;
            }
        }
        Ok(())
    }
}
