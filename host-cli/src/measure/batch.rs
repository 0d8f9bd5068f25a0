//! Batches: the launches of one subject, several at a time, so that they can be counted on as many
//! threads.

use strata_compiler::program::Program;
use strata_simt::paths::PathDictionary;
use strata_simt::{AccessDictionary, LaunchOutcome};

use super::{Counted, Request, check, failure, printed};
use crate::dump;
use crate::evaluate::EvaluateError;
use crate::failure::Failure;
use crate::notes::Notes;
use crate::report::Check;
use crate::subject;
use crate::workload::Workload;
use crate::workload::plan::LaunchStep;
use crate::workload::simulate::{LaunchRecord, Prepared};

/// Paths of a launch that are counted at a time where its accesses are not needed. Unit: bytes.
pub(super) const PART_BYTES: u64 = 64 << 20;

/// What was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Launched {
    pub(super) index: u64,
    /// Its kernel's place among the programs of the workload.
    pub(super) kernel: usize,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Unit: bytes.
    pub(super) dynamic_shared: u32,
}

/// One launch that was executed, or a part of it.
pub(super) struct Executed<'p> {
    pub(super) about: Launched,
    pub(super) program: &'p Program,
    pub(super) outcome: LaunchOutcome,
}

/// What is left when all launches have ended.
pub(super) struct Ended {
    /// What the results were compared with.
    pub(super) check: Check,
    /// The final contents of the plan's buffers.
    pub(super) finals: Vec<Vec<u8>>,
}

/// Executes a prepared workload once, shows `visit` every launch that the request asks for, and
/// compares the results with the host reference. A launch may come in parts with the same index,
/// each with other warps, unless the request says otherwise.
pub(crate) fn each_launch(
    workload: &Workload,
    prepared: &Prepared,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(&Counted<'_>) -> Result<(), EvaluateError>,
) -> Result<Check, Failure> {
    let one_by_one = |launches: &[Counted<'_>]| launches.iter().try_for_each(&mut visit);
    Ok(each_batch(workload, prepared, request, notes, one_by_one)?.check)
}

/// The same, several launches at a time, in order: about as many as there are threads, fewer if
/// they take much memory.
pub(super) fn each_batch(
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

/// The same for a user that keeps the launches.
pub(super) fn each_executed<'p>(
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
pub(super) fn held(paths: &PathDictionary, accesses: &AccessDictionary) -> usize {
    let steps: usize = paths.iter().map(|(path, _)| path.len()).sum();
    steps + paths.warps().len() + accesses.len()
}

/// Launches that wait to be counted together.
pub(super) struct Batch<L> {
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
    pub(super) fn push(&mut self, launch: L, held: usize) -> bool {
        self.launches.push(launch);
        self.held += held;
        self.held >= Self::MOST_HELD || self.launches.len() >= rayon::current_num_threads()
    }

    pub(super) fn take(&mut self) -> Vec<L> {
        self.held = 0;
        std::mem::take(&mut self.launches)
    }
}
