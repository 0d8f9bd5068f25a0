//! Evaluation: the paths that warps took, counted under a design, each distinct path once.

use std::collections::BTreeMap;

use strata_compiler::program::Image;
use strata_core::count::{WarpCounter, count_path, count_path_clusters};
use strata_core::energy::{EnergyBreakdown, EnergyError};
use strata_core::event::{CounterOverflow, Counters, Event, SUMS};
use strata_core::fault::PathFault;
use strata_core::image::{CheckedImage, ImageError};
use strata_core::organisation::Organisation;
use strata_core::path::PathStep;
use strata_core::units::LaneMask;
use strata_core::value_usage::{RegisterValues, ValueOverflow, ValueUsage, value_usage};
use strata_design::Design;
use strata_simt::paths::PathDictionary;

use crate::crossings::{Crossings, crossings};
use crate::levels::{FitError, Fitted};
use crate::timing::TimingError;

/// Why recorded warps could not be counted: apart from the first a defect, never an input.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The program cannot be fitted to the design's hierarchy.
    #[error("{0}")]
    Levels(#[from] FitError),
    /// The image breaks its own rules.
    #[error("the kernel image is malformed: {0}")]
    Image(#[from] ImageError),
    /// The machine refused the path.
    #[error("the machine refused a path: {0}")]
    PathFault(#[from] PathFault),
    /// Counts that the design's energy table cannot price.
    #[error("{0}")]
    Energy(#[from] EnergyError),
    /// The SM could not run what was recorded.
    #[error("{0}")]
    Timing(#[from] TimingError),
    /// A total does not fit.
    #[error("{0}")]
    Overflow(#[from] CounterOverflow),
    /// A count of values does not fit.
    #[error("{0}")]
    Values(#[from] ValueOverflow),
}

/// Counts all recorded warps of one launch. With `by_cluster` the unit of accesses is the 128-bit
/// access of one cluster instead of that of a whole warp.
pub fn count_launch(
    config: &Organisation,
    by_cluster: bool,
    image: Fitted<'_>,
    paths: &PathDictionary,
) -> Result<Counters, EvaluateError> {
    let checked = image.checked()?;
    let mut awaited = vec![LaneMask::EMPTY; usize::from(checked.registers)];
    let mut total = Counters::default();
    for (path, warps) in paths.iter() {
        let path = path.iter().copied();
        let counters = if by_cluster {
            count_path_clusters(config, checked, &mut awaited, path)?
        } else {
            count_path(config, checked, &mut awaited, path)?
        };
        total = total.checked_add(&counters.checked_mul(warps)?)?;
    }
    Ok(total)
}

/// How often the values of one launch's recorded warps are read, and how soon.
pub fn launch_usage(image: &Image, paths: &PathDictionary) -> Result<ValueUsage, EvaluateError> {
    let checked = CheckedImage::new(image.borrow())?;
    let mut values = vec![RegisterValues::default(); usize::from(image.registers)];
    let mut total = ValueUsage::default();
    for (path, warps) in paths.iter() {
        total.add(&value_usage(checked, &mut values, path.iter().copied())?, warps)?;
    }
    Ok(total)
}

/// What one launch's recorded warps carry over the boundaries of strands; `strands` as in
/// [`crossings()`].
pub fn launch_crossings(
    image: &Image,
    strands: &[u32],
    paths: &PathDictionary,
) -> Result<Crossings, EvaluateError> {
    let checked = CheckedImage::new(image.borrow())?;
    let mut total = Crossings::default();
    for (path, warps) in paths.iter() {
        total.add(&crossings(checked, strands, path)?, warps)?;
    }
    Ok(total)
}

/// The counters of each instruction of one launch, by program counter; `by_cluster` as in
/// [`count_launch`].
pub fn profile_launch(
    config: &Organisation,
    by_cluster: bool,
    image: Fitted<'_>,
    paths: &PathDictionary,
) -> Result<Vec<Counters>, EvaluateError> {
    if by_cluster {
        profile::<true>(config, image, paths)
    } else {
        profile::<false>(config, image, paths)
    }
}

fn profile<const BY_CLUSTER: bool>(
    config: &Organisation,
    image: Fitted<'_>,
    paths: &PathDictionary,
) -> Result<Vec<Counters>, EvaluateError> {
    let checked = image.checked()?;
    let mut awaited = vec![LaneMask::EMPTY; usize::from(checked.registers)];
    let mut lines = vec![Counters::default(); checked.instructions.len()];
    for (path, warps) in paths.iter() {
        let mut counter = WarpCounter::<16, BY_CLUSTER>::new(config, checked, &mut awaited)?;
        let mut before = Counters::default();
        let mut last = 0;
        let mut charge = |pc: u32, before: &Counters, after: &Counters| {
            let own = after.checked_sub(before)?.checked_mul(warps)?;
            let line = &mut lines[pc as usize];
            *line = line.checked_add(&own)?;
            Ok::<_, CounterOverflow>(())
        };
        for run in path {
            for pc in run.pc..run.pc + run.length {
                counter.step(PathStep { pc, length: 1, mask: run.mask })?;
                let after = *counter.counters();
                charge(pc, &before, &after)?;
                (before, last) = (after, pc);
            }
        }
        // What leaves the cache at the warp's end belongs to its last instruction.
        charge(last, &before, &counter.finish())?;
    }
    Ok(lines)
}

/// Every sum and every event by name.
pub fn by_name(counters: &Counters) -> BTreeMap<String, u64> {
    let sums = SUMS
        .iter()
        .map(|sum| (sum.name, sum.terms().iter().map(|&event| counters.get(event)).sum()));
    let events = Event::ALL.iter().map(|&event| (event.name(), counters.get(event)));
    sums.chain(events).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Every part of an energy and their `total`, by name. Unit: femtojoules.
pub fn energy_by_name(energy: &EnergyBreakdown) -> BTreeMap<String, u64> {
    let parts = energy.parts().map(|(part, energy)| (part.to_string(), energy.0));
    parts.chain([("total".to_owned(), energy.total().0)]).collect()
}

/// Energy of a design's counters; none where the design's sizes have no printed energy.
///
/// The unit of the counters must be the design's: clusters with `partial_warp_energy`.
pub fn price(
    design: &Design,
    counters: &Counters,
) -> Result<Option<EnergyBreakdown>, EvaluateError> {
    let Ok(table) = &design.energy else { return Ok(None) };
    let breakdown = if design.partial_warp_energy {
        table.energy_of_clusters(counters)
    } else {
        table.energy(counters)
    };
    Ok(Some(breakdown?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_design as design;
    use strata_workload::simulate::{Options, Prepared};
    use strata_workload::{Overrides, Toolchain, Workload};

    /// The last instruction is charged with what leaves the cache at the warp's end: without
    /// liveness that is part of the launch's total.
    #[test]
    fn a_profile_adds_up_to_the_launch() {
        let workload = Workload::builtin("reduction", Toolchain::Nvcc).unwrap();
        let prepared = Prepared::new(&workload, "small", &Overrides::new()).unwrap();
        for name in ["isca11", "isca11-rfc6", "isca11-rfc6-nolive-single"] {
            let config = *design::resolve(name).unwrap().organisation();
            let mut launches = 0;
            let executed = prepared.execute(&Options::default(), |launch| {
                let (image, paths) = (&launch.program.image, &launch.outcome.paths);
                for by_cluster in [false, true] {
                    let lines = profile_launch(&config, by_cluster, image.into(), paths).unwrap();
                    let sum = lines.iter().try_fold(Counters::default(), |a, b| a.checked_add(b));
                    let whole = count_launch(&config, by_cluster, image.into(), paths).unwrap();
                    assert_eq!(sum, Ok(whole), "{name}, by cluster: {by_cluster}");
                }
                launches += 1;
            });
            assert!(executed.is_ok() && launches > 1, "{name}");
        }
    }
}
