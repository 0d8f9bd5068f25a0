//! Engine of sweeps: the points that are not there yet, as [`measure::engine`] evaluates them, and
//! their rows, which are written every few seconds.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::key::Key;
use super::points::{DesignPoint, Points};
use super::row::Row;
use strata_files::failure::Failure;
use strata_measure::Room;
use strata_measure::engine::{self, ReportSink, Work};
use strata_measure::notes::{Notes, Steps};
use strata_report::RunReport;

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

/// Where rows go.
pub(super) struct Sink<'a> {
    keeping: Keeping<'a>,
    points: &'a Points,
    pub(super) progress: Box<dyn Steps>,
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

/// Evaluates all points, and gives their rows in order; none if that was to end early.
///
/// # Errors
/// None that a point can cause: one that fails is a row with its error.
pub fn rows(
    points: &Points,
    stop: &Stop<'_>,
    notes: &dyn Notes,
) -> Result<Option<Vec<Row>>, Failure> {
    let kept: Mutex<Vec<Row>> = Mutex::default();
    let keep = |rows| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
        Ok(())
    };
    let designs: Vec<_> = (0..points.designs.len()).collect();
    let all: Vec<_> = (0..points.inputs.len()).map(|input| (input, designs.clone())).collect();
    let keeping = Keeping { keep: &keep, most_rows: usize::MAX, stop };
    let done = run(points, &all, (keeping, Room::default()), notes)?;
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
    notes: &dyn Notes,
) -> Result<Done, Failure> {
    let sink = Sink::new(points, pending, keeping, notes);
    let rows = Rows::new(&sink, pending);
    let ran = engine::run(&rows.works(), &rows, room, notes);
    sink.finish().and_then(|done| ran.map(|()| done))
}

/// The points that are evaluated, which become rows.
struct Rows<'s, 'a> {
    sink: &'s Sink<'a>,
    pending: &'s [Pending],
    /// Of each input the designs, by their places, that there are.
    possible: Vec<Vec<usize>>,
}

impl<'s, 'a> Rows<'s, 'a> {
    fn new(sink: &'s Sink<'a>, pending: &'s [Pending]) -> Self {
        let is_possible = |at: &usize| sink.points.designs[*at].design.is_ok();
        let of = |(_, designs): &Pending| designs.iter().copied().filter(is_possible).collect();
        Self { sink, pending, possible: pending.iter().map(of).collect() }
    }

    /// What is to be evaluated.
    fn works(&self) -> Vec<Work<'a>> {
        let points = self.sink.points;
        let work = |((input, _), possible): (&Pending, &Vec<usize>)| {
            let super::points::Input { subject, request, .. } = &points.inputs[*input];
            let designs = possible.iter().filter_map(|&at| points.designs[at].design.as_ref().ok());
            Work { subject, request, designs: designs.collect() }
        };
        self.pending.iter().zip(&self.possible).map(work).collect()
    }
}

impl ReportSink for Rows<'_, '_> {
    fn begins(&self, _: usize) -> bool {
        !self.sink.stop()
    }

    fn input(&self, place: usize) {
        let Sink { points, progress, .. } = self.sink;
        let (input, designs) = &self.pending[place];
        progress.within(points.inputs[*input].subject.name());
        for &at in designs {
            if let Err(error) = &points.designs[at].design {
                self.sink.fail(*input, at, error);
            }
        }
    }

    fn stops(&self) -> bool {
        self.sink.stop()
    }

    fn take(&self, (place, design): (usize, usize), report: Result<RunReport, Failure>) {
        let (input, at) = (self.pending[place].0, self.possible[place][design]);
        let row = match &report {
            Ok(report) => Row::of(&self.sink.points.labels(input, at), report),
            Err(failure) => Err(failure.message().to_owned()),
        };
        match row {
            Ok(row) => self.sink.push(self.sink.points.place(input, at), row),
            Err(error) => self.sink.fail(input, at, &error),
        }
    }
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        points: &'a Points,
        pending: &[Pending],
        keeping: Keeping<'a>,
        notes: &dyn Notes,
    ) -> Self {
        let all = pending.iter().map(|(_, designs)| designs.len() as u64).sum();
        let (written, done) = (Instant::now(), Done::default());
        Self {
            keeping,
            points,
            progress: notes.steps(all),
            state: Mutex::new(State { rows: Vec::new(), written, done, failure: None }),
            broken: AtomicBool::new(false),
        }
    }

    /// Whether nothing more is to be begun.
    pub(super) fn stop(&self) -> bool {
        (self.keeping.stop)() || self.broken.load(Ordering::Relaxed)
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
        self.progress.done();
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

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<Done, Failure> {
        let mut state = self.state();
        self.write(&mut state);
        state.failure.take().map_or(Ok(state.done), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::definition::Definition;
    use strata_measure::notes::Silent;

    #[test]
    fn rows_are_those_of_all_points_in_order_or_none() {
        let text = "workloads = [\"vectoradd\", \"reduction\"]\nscale = \"small\"\n\
                    [vary]\nactive_warps = [8, 4]\n";
        let definition = Definition::parse(&"s.toml", text, "".as_ref()).unwrap();
        let notes = &Silent;
        let points = Points::new(&definition, notes).unwrap();
        let all = rows(&points, &|| false, notes).unwrap().expect("nothing ended it");
        assert!(points.keys().eq(all.iter().map(|row| row.key)));
        assert_eq!(all.len(), 4);
        assert_eq!(rows(&points, &|| true, notes).unwrap(), None);
    }
}
