//! Engine: evaluates the points that are not there yet.
//!
//! An input is executed once, its launches are shared by its points, and the points are spread over
//! threads. While the points of one input are evaluated, the next input is executed. What finished
//! is written every few seconds.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::key::Key;
use super::points::{DesignPoint, Points};
use super::row::Row;
use crate::design::Design;
use crate::failure::Failure;
use crate::measure::SharedInput;
use crate::printer::Printer;
use crate::subject::Subject;

/// Most that the launches of inputs take in memory, unless told. Unit: bytes.
pub const KEPT_BYTES: usize = 2 << 30;
/// Inputs whose launches are there at a time: one is executed while the points of another are
/// evaluated.
const AT_A_TIME: usize = 2;
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

/// Says whether nothing more is to be begun; may be called by any thread.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// What becomes of rows, and how long more are wanted.
#[derive(Clone, Copy)]
pub struct Keeping<'a> {
    /// Where they go.
    pub keep: &'a Keep<'a>,
    /// Most rows that are kept together.
    pub most_rows: usize,
    /// When to end early.
    pub stop: &'a Stop<'a>,
}

/// Where the launches of inputs are kept for their points.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// Most that they take in memory. Unit: bytes.
    pub most_bytes: usize,
    /// Where those that do not fit go; none if such inputs are executed again.
    pub folder: Option<&'a Path>,
}

impl Default for Room<'_> {
    fn default() -> Self {
        Self { most_bytes: KEPT_BYTES, folder: None }
    }
}

/// Where rows go.
pub(super) struct Sink<'a> {
    keeping: Keeping<'a>,
    points: &'a Points,
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
    /// Why launches cannot be written, after which rows still can.
    unspilled: Option<Failure>,
}

/// Evaluates all points, and gives their rows in order; none if that was to end early.
///
/// # Errors
/// None that a point can cause: one that fails is a row with its error.
pub fn rows(
    points: &Points,
    stop: &Stop<'_>,
    printer: &Printer,
) -> Result<Option<Vec<Row>>, Failure> {
    let kept: Mutex<Vec<Row>> = Mutex::default();
    let keep = |rows| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
        Ok(())
    };
    let designs: Vec<_> = (0..points.designs.len()).collect();
    let all: Vec<_> = (0..points.inputs.len()).map(|input| (input, designs.clone())).collect();
    let keeping = Keeping { keep: &keep, most_rows: usize::MAX, stop };
    let done = run(points, &all, (keeping, Room::default()), printer)?;
    let mut rows = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let places: BTreeMap<Key, usize> = points.keys().zip(0..).collect();
    rows.sort_by_cached_key(|row| places.get(&row.key).copied());
    Ok((done.evaluated == points.len()).then_some(rows))
}

/// Evaluates points, until it is to end early.
///
/// # Errors
/// Rows that cannot be kept, and launches that cannot be written: what came before is kept.
pub fn run(
    points: &Points,
    pending: &[Pending],
    (keeping, room): (Keeping<'_>, Room<'_>),
    printer: &Printer,
) -> Result<Done, Failure> {
    let sink = Sink::new(points, pending, keeping, printer);
    let execute = |place: usize| {
        let (input, designs) = pending.get(place)?;
        (!sink.stop()).then(|| {
            let mut shared = execute((points, *input), designs, room, printer);
            if let (Some(Ok(shared)), Some(folder)) = (&mut shared, room.folder)
                && !sink.stop()
                && let Err(failure) = shared.spill(folder)
            {
                sink.end(failure);
            }
            (place, shared)
        })
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
    (points, input): (&Points, usize),
    designs: &[usize],
    room: Room<'_>,
    printer: &Printer,
) -> Option<Result<SharedInput, Failure>> {
    let of = &points.inputs[input];
    let mut designs = designs.iter().filter_map(|&at| points.designs[at].design.as_ref().ok());
    let first = designs.next()?;
    let needs = std::iter::once(first).chain(designs).any(Design::depends_on_needs);
    let subject: Subject = of.subject.clone();
    let most_bytes = room.most_bytes / AT_A_TIME;
    Some(SharedInput::new(subject, of.request.clone(), (needs, most_bytes), printer))
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        points: &'a Points,
        pending: &[Pending],
        keeping: Keeping<'a>,
        printer: &Printer,
    ) -> Self {
        let all = pending.iter().map(|(_, designs)| designs.len() as u64).sum();
        let (written, done) = (Instant::now(), Done::default());
        Self {
            keeping,
            points,
            progress: printer.progress_with_rate(all),
            state: Mutex::new(State {
                rows: Vec::new(),
                written,
                done,
                failure: None,
                unspilled: None,
            }),
            broken: AtomicBool::new(false),
        }
    }

    /// Whether nothing more is to be begun.
    pub(super) fn stop(&self) -> bool {
        (self.keeping.stop)() || self.broken.load(Ordering::Relaxed)
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
        if state.rows.len() >= self.keeping.most_rows || state.written.elapsed() >= OFTEN {
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
        if let Err(failure) = (self.keeping.keep)(rows.into_iter().map(|(_, row)| row).collect()) {
            self.broken.store(true, Ordering::Relaxed);
            state.failure = Some(failure);
        }
        state.written = Instant::now();
    }

    /// Begins nothing more, as launches cannot be written.
    fn end(&self, failure: Failure) {
        self.broken.store(true, Ordering::Relaxed);
        self.state().unspilled = Some(failure);
    }

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<Done, Failure> {
        let mut state = self.state();
        self.write(&mut state);
        self.progress.finish_and_clear();
        state.failure.take().or(state.unspilled.take()).map_or(Ok(state.done), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::definition::Definition;

    #[test]
    fn rows_are_those_of_all_points_in_order_or_none() {
        let text = "workloads = [\"vectoradd\", \"reduction\"]\nscale = \"small\"\n\
                    [vary]\nactive_warps = [8, 4]\n";
        let definition = Definition::parse(&"s.toml", text, "".as_ref()).unwrap();
        let printer = Printer::new(true);
        let points = Points::new(&definition, &printer).unwrap();
        let all = rows(&points, &|| false, &printer).unwrap().expect("nothing ended it");
        assert!(points.keys().eq(all.iter().map(|row| row.key)));
        assert_eq!(all.len(), 4);
        assert_eq!(rows(&points, &|| true, &printer).unwrap(), None);
    }
}
