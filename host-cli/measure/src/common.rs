//! Common: what all designs of a subject share.

use std::collections::BTreeSet;

use rayon::prelude::*;
use strata_core::event::Counters;
use strata_core::organisation::Organisation;
use strata_core::value_usage::ValueUsage;

use crate::crossings::Crossings;
use crate::evaluate::{self, EvaluateError};
use crate::levels::{FitError, FittedKernels};
use strata_design::Design;

use crate::baselines::Baselines;
use crate::counted::Counted;
use crate::spills::SpillTraffic;

/// What all designs of a subject share.
#[derive(Default)]
pub(crate) struct Common {
    /// Counters of the flat register file by whole warps.
    pub(crate) flat: Counters,
    /// Counters of the flat register file by clusters.
    pub(crate) flat_clusters: Counters,
    pub(crate) usage: ValueUsage,
    /// Orders of the launches' instructions, as reports call them.
    pub(crate) orders: BTreeSet<&'static str>,
    /// With a limit of registers, what spilling adds.
    pub(crate) spills: Option<SpillTraffic>,
    /// What crosses the boundaries of strands that end with basic blocks, and of those that do not,
    /// where a design has them.
    pub(crate) crossings: [Option<Crossings>; 2],
    /// In cycle mode, the baselines of designs whose leakage is known.
    pub(crate) baselines: Baselines,
}

impl Common {
    /// What one launch adds.
    fn of(launch: &Counted<'_>, with_spills: bool) -> Result<Self, EvaluateError> {
        let (image, paths) = (launch.image, launch.paths);
        let mut spills = with_spills.then(SpillTraffic::default);
        if let Some(spills) = &mut spills {
            launch.add_spills(spills);
        }
        Ok(Self {
            flat: launch.count_flat()?,
            flat_clusters: evaluate::count_launch(&Organisation::FLAT, true, image.into(), paths)?,
            usage: evaluate::launch_usage(image, paths)?,
            orders: BTreeSet::from([launch.order()]),
            spills,
            ..Self::default()
        })
    }

    /// Adds launches to what does not depend on designs.
    pub(crate) fn add_launches(&mut self, launches: &[Counted<'_>]) -> Result<(), EvaluateError> {
        let spills = self.spills.is_some();
        let parts: Vec<_> = launches.par_iter().map(|launch| Self::of(launch, spills)).collect();
        parts.into_iter().try_for_each(|part| self.add(&part?))
    }

    /// What does not depend on designs.
    pub(crate) fn of_all_designs(&self) -> Self {
        Self {
            flat: self.flat,
            flat_clusters: self.flat_clusters,
            usage: self.usage,
            orders: self.orders.clone(),
            spills: self.spills,
            ..Self::default()
        }
    }

    fn add(&mut self, part: &Self) -> Result<(), EvaluateError> {
        if let (Some(spills), Some(part)) = (&mut self.spills, &part.spills) {
            spills.merge(part);
        }
        self.orders.extend(&part.orders);
        self.flat = self.flat.checked_add(&part.flat)?;
        self.flat_clusters = self.flat_clusters.checked_add(&part.flat_clusters)?;
        self.usage.add(&part.usage, 1)?;
        Ok(())
    }

    /// Adds what crosses the strands of launches that are fitted to designs; `fitted` are the
    /// kernels of one whose [`strands_of`] is the number.
    pub(crate) fn add_crossings<'a>(
        &mut self,
        fitted: impl Fn(usize) -> Option<&'a FittedKernels>,
        launches: &[Counted<'_>],
    ) -> Result<(), EvaluateError> {
        for (index, total) in self.crossings.iter_mut().enumerate() {
            // One for all: strands depend on nothing else of a design.
            let Some(kernels) = fitted(index) else { continue };
            let of = |launch: &Counted<'_>| {
                let strands = kernels.get(launch.kernel).map(|levels| &levels.strands);
                let strands = strands.ok_or(FitError::NoProgram)?;
                evaluate::launch_crossings(launch.image, &strands.of, launch.paths)
            };
            let parts: Vec<_> = launches.par_iter().map(of).collect();
            let total = total.get_or_insert_default();
            for part in parts {
                total.add(&part?, 1)?;
            }
        }
        Ok(())
    }

    pub(crate) fn flat(&self, clusters: bool) -> &Counters {
        if clusters { &self.flat_clusters } else { &self.flat }
    }
}

/// Which of [`Common::crossings`] are a design's, if its hierarchy is the compiler's.
pub(crate) fn strands_of(design: &Design) -> Option<usize> {
    design.managed.map(|managed| usize::from(managed.forward_branches))
}
