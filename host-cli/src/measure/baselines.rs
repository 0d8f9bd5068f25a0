//! Baselines in time: how long the designs that others are compared with run, each once however
//! many are compared with it.

use rayon::prelude::*;
use strata_core::sm::config::SmSettings;
use strata_core::sm::memory::cached::CachedSettings;

use crate::design::Design;
use crate::evaluate::EvaluateError;
use crate::timing::{TimingError, time_launch};

use super::Counted;

/// All of a design that its cycles depend on, where no compiler manages its levels.
type InTime = (SmSettings, Option<CachedSettings>);

/// Cycles of each baseline over all launches so far.
#[derive(Debug, Default)]
pub(super) struct Baselines(Vec<(InTime, u64)>);

const fn in_time(design: &Design) -> InTime {
    (design.sm, design.data_cache)
}

impl Baselines {
    /// Cycles of a baseline, if it was timed.
    pub(super) fn cycles(&self, baseline: &Design) -> Option<u64> {
        self.0.iter().find(|(other, _)| *other == in_time(baseline)).map(|(_, cycles)| *cycles)
    }

    /// Adds launches to the baselines of the designs whose leakage is known, given each with its
    /// cycles over all launches, these included: a baseline among them does not run again.
    pub(super) fn add(
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
                same && design.managed.is_none() && !design.partial_warp_energy
            };
            let place = self.0.iter().position(|(other, _)| *other == baseline);
            let place = place.unwrap_or_else(|| {
                self.0.push((baseline, 0));
                self.0.len() - 1
            });
            let total = &mut self.0[place].1;
            if let Some((_, cycles)) = timed.iter().find(runs_anyway) {
                *total = *cycles;
                continue;
            }
            let (sm, _) = baseline;
            let cycles: Vec<_> = launches
                .par_iter()
                .map(|launch| Ok(time_launch(sm, &launch.timed())?.counters.cycles()))
                .collect::<Result<_, TimingError>>()?;
            for cycles in cycles {
                *total = total.checked_add(cycles).ok_or(TimingError::Overflow)?;
            }
        }
        Ok(())
    }
}
