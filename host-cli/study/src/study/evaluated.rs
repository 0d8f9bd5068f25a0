//! Evaluated: designs over the inputs of a study, by the engine that sweeps have.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use strata_files::failure::Failure;
use strata_files::interrupt;
use strata_measure::Room;
use strata_measure::engine::{self, ReportSink, Work};
use strata_measure::notes::{Notes, Steps};
use strata_measure::parallel::{self, Finished};
use strata_report::RunReport;

/// What came out of an input: of each piece of its work, of each design of that.
pub(super) type Points<T> = Vec<Vec<T>>;

/// What `of` makes of every design over every input, in their order, whatever `jobs` and `room`
/// are. An input is one or several pieces of work, such as one for each order of its instructions.
/// `jobs` is the number of threads, 0 for one for each core. The result is of the inputs that were
/// begun before Ctrl-C, if there is one.
///
/// # Errors
/// The first failure in the order of the inputs and the designs.
pub(super) fn evaluated<T: Send>(
    inputs: &[Vec<Work<'_>>],
    of: impl Fn(RunReport) -> T + Sync,
    (jobs, room): (usize, Room<'_>),
    notes: &dyn Notes,
) -> Result<Finished<Points<T>>, Failure> {
    let works: Vec<Work<'_>> = inputs.iter().flatten().cloned().collect();
    let pool = parallel::pool(jobs, notes)?;
    let empty = |work: &Work<'_>| work.designs.iter().map(|_| None).collect();
    let points = works.iter().map(|work| work.designs.len() as u64).sum();
    let gathered = Gathered {
        works: &works,
        inputs: (0..).zip(inputs).flat_map(|(input, works)| vec![input; works.len()]).collect(),
        of,
        begun: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        ends: AtomicBool::new(false),
        results: Mutex::new(works.iter().map(empty).collect()),
        progress: notes.steps(points),
    };
    let ran = pool.install(|| engine::run(&works, &gathered, room, notes));
    drop(gathered.progress);
    ran?;
    let done = gathered.begun.into_inner();
    let results = gathered.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut results = results.into_iter();
    let mut finished = Vec::with_capacity(done);
    for works in &inputs[..done] {
        let of_input = results.by_ref().take(works.len()).map(all);
        finished.push(of_input.collect::<Result<Points<T>, Failure>>()?);
    }
    let missing = inputs[done..].iter().filter_map(|works| works.first());
    let missing = missing.map(|work| work.subject.name().to_owned()).collect();
    Finished::new(finished, missing)
}

/// What came out of each design; none where it was not evaluated.
type Slots<T> = Vec<Option<Result<T, Failure>>>;

/// All of it, or the first failure.
fn all<T>(slots: Slots<T>) -> Result<Vec<T>, Failure> {
    let lost = || Err(Failure::internal("a design of a study was not evaluated"));
    slots.into_iter().map(|slot| slot.unwrap_or_else(lost)).collect()
}

/// Gathers what comes out of points.
struct Gathered<'a, T, F> {
    works: &'a [Work<'a>],
    /// The input, by its place, of each piece of work.
    inputs: Vec<usize>,
    of: F,
    /// Inputs that were begun.
    begun: AtomicUsize,
    /// Whether a point has failed.
    failed: AtomicBool,
    /// Whether the points that come are behind one that has failed.
    ends: AtomicBool,
    /// Of each piece of work.
    results: Mutex<Vec<Slots<T>>>,
    progress: Box<dyn Steps>,
}

impl<T: Send, F: Fn(RunReport) -> T + Sync> ReportSink for Gathered<'_, T, F> {
    fn begins(&self, work: usize) -> bool {
        let input = self.inputs[work];
        if self.failed.load(Ordering::Relaxed) {
            return false;
        }
        // What was begun is finished.
        if input >= self.begun.load(Ordering::Relaxed) {
            if interrupt::came() {
                return false;
            }
            self.begun.store(input + 1, Ordering::Relaxed);
        }
        true
    }

    fn input(&self, work: usize) {
        self.progress.within(self.works[work].subject.name());
        self.ends.store(self.failed.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn stops(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    fn take(&self, (work, design): (usize, usize), report: Result<RunReport, Failure>) {
        let result = report.map(&self.of);
        self.failed.fetch_or(result.is_err(), Ordering::Relaxed);
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results[work][design] = Some(result);
        self.progress.done();
    }
}
