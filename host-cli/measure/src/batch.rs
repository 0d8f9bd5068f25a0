//! Batches: the launches of one subject, several at a time, so that they can be counted on as many
//! threads.

use strata_simt::AccessDictionary;
use strata_simt::paths::PathDictionary;

use crate::counted::Counted;
use crate::evaluate::EvaluateError;
use crate::launched::{Executed, Launched};
use crate::notes::Notes;
use crate::refusal::failure;
use crate::report::Check;
use crate::request::Request;
use crate::results::check;
use crate::results::printed;
use crate::subject;
use strata_files::failure::Failure;
use strata_workload::Workload;
use strata_workload::dump;
use strata_workload::plan::LaunchStep;
use strata_workload::simulate::{LaunchRecord, Prepared};

/// What is left when all launches have ended.
pub(crate) struct Ended {
    /// What the results were compared with.
    pub(crate) check: Check,
    /// The final contents of the plan's buffers.
    pub(crate) finals: Vec<Vec<u8>>,
}

/// Executes a prepared workload once, shows `visit` every launch that the request asks for, and
/// compares the results with the host reference. A launch may come in parts with the same index,
/// each with other warps, unless the request says otherwise.
pub fn each_launch(
    workload: &Workload,
    prepared: &Prepared,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(&Counted<'_>) -> Result<(), EvaluateError>,
) -> Result<Check, Failure> {
    let one_by_one = |launches: &[Counted<'_>]| launches.iter().try_for_each(&mut visit);
    Ok(each_batch(workload, prepared, request, notes, one_by_one)?.check)
}

/// Executes a prepared workload once, shows `visit` every launch that the request asks for, and
/// compares the results with the host reference. Launches come several at a time, in order: about
/// as many as there are threads, fewer if they take much memory.
pub(crate) fn each_batch(
    workload: &Workload,
    prepared: &Prepared,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(&[Counted<'_>]) -> Result<(), EvaluateError>,
) -> Result<Ended, Failure> {
    each_executed(workload, prepared, request, notes, |batch| {
        let source = (&prepared.module, &*workload.ptx);
        let launches = batch.iter().map(|launch| Counted::executed(launch, source));
        visit(&launches.collect::<Vec<_>>())
    })
}

/// Executes a prepared workload once, hands `visit` every launch that the request asks for, and
/// compares the results with the host reference. Launches come several at a time, in order; `visit`
/// may keep them.
pub(crate) fn each_executed<'p>(
    workload: &Workload,
    prepared: &'p Prepared,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(Vec<Executed<'p>>) -> Result<(), EvaluateError>,
) -> Result<Ended, Failure> {
    dump::check(&request.dumps, &prepared.plan)?;
    let mut visited = Ok(());
    let mut batch = Batch::default();
    let finals = prepared.execute(&request.options, |launch| {
        if !launch.outcome.printf.is_empty() {
            notes.note(&printed(&launch));
        }
        let LaunchRecord { index, step, outcome, .. } = launch;
        let program = &prepared.programs[step.kernel];
        let held = held(&outcome.paths, &outcome.accesses);
        let LaunchStep { kernel, grid, block, dynamic_shared, .. } = *step;
        let about = Launched { index, kernel, grid, block, dynamic_shared };
        let launch = Executed { about, program, outcome };
        let full = batch.push(launch, held);
        if visited.is_ok() && full {
            visited = visit(batch.take());
        }
    });
    let finals = finals.map_err(|error| subject::run_error(workload, &error))?;
    visited.and_then(|()| visit(batch.take())).map_err(|error| failure(&workload.name, error))?;
    dump::write_all(&request.dumps, &prepared.plan, &finals)?;
    Ok(Ended { check: check(prepared, &finals)?, finals })
}

/// Steps of paths and accesses that a launch holds.
pub(crate) fn held(paths: &PathDictionary, accesses: &AccessDictionary) -> usize {
    let steps: usize = paths.iter().map(|(path, _)| path.len()).sum();
    steps + paths.warps().len() + accesses.len()
}

/// Launches that wait to be counted together.
pub(crate) struct Batch<L> {
    launches: Vec<L>,
    /// Steps of paths and accesses that they hold.
    held: usize,
}

impl<L> Default for Batch<L> {
    fn default() -> Self {
        Self { launches: Vec::new(), held: 0 }
    }
}

impl<L> Batch<L> {
    /// Steps and accesses held at most before they are counted: 64 MiB or so.
    const MOST_HELD: usize = 1 << 22;

    /// Adds a launch. Returns whether they are to be counted now.
    pub(crate) fn push(&mut self, launch: L, held: usize) -> bool {
        self.launches.push(launch);
        self.held += held;
        self.held >= Self::MOST_HELD || self.launches.len() >= rayon::current_num_threads()
    }

    pub(crate) fn take(&mut self) -> Vec<L> {
        self.held = 0;
        std::mem::take(&mut self.launches)
    }
}
