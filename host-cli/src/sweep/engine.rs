//! Engine: evaluates the points that are not there yet.
//!
//! An input is executed once, its launches are shared by its points, and the points are spread over
//! threads. While the points of one input are evaluated, the next input is executed. What finished
//! is written every few seconds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::points::{DesignPoint, Points};
use super::row::Row;
use crate::design::Design;
use crate::failure::Failure;
use crate::interrupt;
use crate::measure::SharedInput;
use crate::printer::Printer;
use crate::subject::Subject;

/// Most that the launches of an input may take, of which two are there at a time. Unit: bytes.
const MOST_HELD: usize = 1 << 30;
/// Designs that share an execution of an input whose launches are not held.
const TOGETHER: usize = 256;
/// How often a file is written, if points finish so slowly.
const OFTEN: Duration = Duration::from_secs(5);

/// What a run of a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Points that were evaluated, those that failed among them.
    pub evaluated: usize,
    /// Of these, those that failed.
    pub failed: usize,
}

/// The points of an input that are to be evaluated: its place, and those of the designs.
pub type Pending = (usize, Vec<usize>);

/// Keeps rows, in the order of the points; may be called by any thread.
pub type Keep<'a> = dyn Fn(Vec<Row>) -> Result<(), Failure> + Sync + 'a;

/// Where rows go.
pub(super) struct Sink<'a> {
    keep: &'a Keep<'a>,
    points: &'a Points,
    /// Most rows that are kept together.
    most_rows: usize,
    pub(super) progress: ProgressBar,
    state: Mutex<State>,
    /// Whether nothing can be written any more.
    broken: AtomicBool,
}

struct State {
    /// Rows that wait to be written, each with its place among all points.
    rows: Vec<(usize, Row)>,
    written: Instant,
    done: Done,
    failure: Option<Failure>,
}

/// Evaluates points, and hands at most so many rows together to `keep`. Ends early once a signal
/// came.
///
/// # Errors
/// Rows that cannot be kept: those before them are.
pub fn run(
    points: &Points,
    pending: &[Pending],
    (keep, most_rows): (&Keep<'_>, usize),
    printer: &Printer,
) -> Result<Done, Failure> {
    let sink = Sink::new(points, pending, (keep, most_rows), printer);
    let execute = |place: usize| {
        let (input, designs) = pending.get(place)?;
        (!sink.stop()).then(|| (place, execute(points, *input, designs, printer)))
    };
    let mut next = execute(0);
    while let Some((place, shared)) = next {
        let (input, designs) = &pending[place];
        let evaluate = || sink.evaluate((*input, designs), shared, printer);
        ((), next) = rayon::join(evaluate, || execute(place + 1));
    }
    sink.finish()
}

/// Executes an input for some designs; none if none of them needs it.
fn execute(
    points: &Points,
    input: usize,
    designs: &[usize],
    printer: &Printer,
) -> Option<Result<SharedInput, Failure>> {
    let of = &points.inputs[input];
    let mut designs = designs.iter().filter_map(|&at| points.designs[at].design.as_ref().ok());
    let first = designs.next()?;
    let needs = std::iter::once(first).chain(designs).any(Design::depends_on_needs);
    let subject: Subject = of.subject.clone();
    Some(SharedInput::new(subject, of.request.clone(), (needs, MOST_HELD), printer))
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        points: &'a Points,
        pending: &[Pending],
        (keep, most_rows): (&'a Keep<'a>, usize),
        printer: &Printer,
    ) -> Self {
        let all = pending.iter().map(|(_, designs)| designs.len() as u64).sum();
        let (written, done) = (Instant::now(), Done::default());
        Self {
            keep,
            points,
            most_rows,
            progress: printer.progress_with_rate(all),
            state: Mutex::new(State { rows: Vec::new(), written, done, failure: None }),
            broken: AtomicBool::new(false),
        }
    }

    /// Whether nothing more is to be begun.
    pub(super) fn stop(&self) -> bool {
        interrupt::came() || self.broken.load(Ordering::Relaxed)
    }

    fn evaluate(
        &self,
        (input, designs): (usize, &[usize]),
        shared: Option<Result<SharedInput, Failure>>,
        printer: &Printer,
    ) {
        self.progress.set_message(self.points.inputs[input].subject.name().to_owned());
        let mut possible = Vec::new();
        for &at in designs {
            match (&self.points.designs[at].design, &shared) {
                (Err(error), _) => self.fail(input, at, error),
                (Ok(_), Some(Err(failure))) => self.fail(input, at, failure.message()),
                (Ok(design), _) => possible.push((at, design)),
            }
        }
        let Some(Ok(shared)) = shared else { return };
        let together = if shared.is_kept() { possible.len().max(1) } else { TOGETHER };
        for some in possible.chunks(together) {
            let designs: Vec<&Design> = some.iter().map(|(_, design)| *design).collect();
            shared.each(
                &designs,
                printer,
                || self.stop(),
                |place, report| {
                    let (at, design) = some[place];
                    let labels = self.points.labels(input, at);
                    let report = report.map_err(|failure| failure.message().to_owned());
                    let row = report.and_then(|report| Row::of(&labels, &report));
                    let row = row.unwrap_or_else(|error| Row::failed(&labels, Ok(design), &error));
                    self.push(self.points.place(input, at), row);
                },
            );
        }
    }

    fn fail(&self, input: usize, at: usize, error: &str) {
        let DesignPoint { design, given, .. } = &self.points.designs[at];
        let design = design.as_ref().map_err(|_| given.as_slice());
        let row = Row::failed(&self.points.labels(input, at), design, error);
        self.push(self.points.place(input, at), row);
    }

    /// Takes a row, with its place among all points.
    pub(super) fn push(&self, place: usize, row: Row) {
        let mut state = self.state();
        state.done.evaluated += 1;
        state.done.failed += usize::from(row.error().is_some());
        state.rows.push((place, row));
        self.progress.inc(1);
        self.write_if_due(&mut state);
    }

    /// Writes what waits, if it waits for long.
    pub(super) fn pause(&self) {
        self.write_if_due(&mut self.state());
    }

    fn write_if_due(&self, state: &mut State) {
        if state.rows.len() >= self.most_rows || state.written.elapsed() >= OFTEN {
            self.write(state);
        }
    }

    /// Writes what waits, in the order of the points.
    fn write(&self, state: &mut State) {
        let mut rows = std::mem::take(&mut state.rows);
        if rows.is_empty() || state.failure.is_some() {
            return;
        }
        rows.sort_unstable_by_key(|(place, _)| *place);
        if let Err(failure) = (self.keep)(rows.into_iter().map(|(_, row)| row).collect()) {
            self.broken.store(true, Ordering::Relaxed);
            state.failure = Some(failure);
        }
        state.written = Instant::now();
    }

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<Done, Failure> {
        let mut state = self.state();
        self.write(&mut state);
        self.progress.finish_and_clear();
        state.failure.take().map_or(Ok(state.done), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
