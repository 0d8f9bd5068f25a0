//! Baselines in time: how long the designs that others are compared with run, each once however
//! many are compared with it.

use rayon::prelude::*;
use strata_core::sm::config::SmSettings;

use crate::design::Design;
use crate::evaluate::EvaluateError;
use crate::timing::{TimingError, time_launch};

use super::Counted;

/// Cycles of each baseline over all launches so far.
#[derive(Debug, Default)]
pub(super) struct Baselines(Vec<(SmSettings, u64)>);

impl Baselines {
    /// Cycles of a baseline, if it was timed.
    pub(super) fn cycles(&self, baseline: &Design) -> Option<u64> {
        self.0.iter().find(|(sm, _)| *sm == baseline.sm).map(|(_, cycles)| *cycles)
    }

    /// Adds launches to the baselines of the designs whose leakage is known, given each with its
    /// cycles over all launches, these included: a baseline among them does not run again.
    pub(super) fn add(
        &mut self,
        timed: &[(&Design, u64)],
        launches: &[Counted<'_>],
    ) -> Result<(), EvaluateError> {
        let mut baselines: Vec<SmSettings> = Vec::new();
        for (design, _) in timed.iter().filter(|(design, _)| design.leakage.is_ok()) {
            let sm = design.baseline().sm;
            if !baselines.contains(&sm) {
                baselines.push(sm);
            }
        }
        for sm in baselines {
            let runs_anyway = |(design, _): &&(&Design, u64)| {
                design.sm == sm && design.managed.is_none() && !design.partial_warp_energy
            };
            let place = self.0.iter().position(|(other, _)| *other == sm);
            let place = place.unwrap_or_else(|| {
                self.0.push((sm, 0));
                self.0.len() - 1
            });
            let total = &mut self.0[place].1;
            if let Some((_, cycles)) = timed.iter().find(runs_anyway) {
                *total = *cycles;
                continue;
            }
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
