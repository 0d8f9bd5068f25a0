//! Engine: designs evaluated over inputs.
//!
//! An input is executed once, its launches are shared by its points, one for each design, and the
//! points are spread over threads. While the points of one input are evaluated, the next input is
//! executed.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::notes::Notes;
use crate::report::RunReport;
use crate::request::Request;
use crate::shared::SharedInput;
use crate::subject::Subject;
use strata_design::Design;
use strata_files::failure::Failure;

/// Most that the launches of inputs take in memory, unless told. Unit: bytes.
pub const KEPT_BYTES: usize = 2 << 30;
/// Inputs whose launches are there at a time: one is executed while the points of another are
/// evaluated.
const AT_A_TIME: usize = 2;
/// Designs that share an execution of an input whose launches are not held.
const TOGETHER: usize = 256;

/// An input, and the designs that are evaluated over it.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// What is executed or read; not at all if there are no designs.
    pub subject: &'a Subject,
    /// How.
    pub request: &'a Request,
    /// The designs.
    pub designs: Vec<&'a Design>,
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

/// What becomes of points, and how long more are wanted. All but [`Self::begins`] may be called by
/// any thread, at any time.
pub trait ReportSink: Sync {
    /// Whether an input, by its place, is to be begun; asked in the order of the inputs until one
    /// is not.
    fn begins(&self, input: usize) -> bool;

    /// An input was executed, if it has designs, and its points come next.
    fn input(&self, input: usize);

    /// Whether no point of an input that was begun is to be begun any more.
    fn stops(&self) -> bool;

    /// Takes what came out of a design over an input, by their places. An input that cannot be
    /// executed fails each of its points.
    fn take(&self, point: (usize, usize), report: Result<RunReport, Failure>);
}

/// Evaluates the designs of every input, in the order of the inputs, until that is to end.
///
/// # Errors
/// Launches that cannot be written into the folder, after which nothing is begun.
pub fn run(
    inputs: &[Work<'_>],
    sink: &impl ReportSink,
    room: Room<'_>,
    notes: &dyn Notes,
) -> Result<(), Failure> {
    let unspilled: Mutex<Option<Failure>> = Mutex::default();
    let broken = || unspilled.lock().unwrap_or_else(PoisonError::into_inner);
    let stops = || sink.stops() || broken().is_some();
    let execute = |place: usize| {
        let input = inputs.get(place)?;
        (broken().is_none() && sink.begins(place)).then(|| {
            let mut shared = input.execute(room, notes);
            if let (Some(Ok(shared)), Some(folder)) = (&mut shared, room.folder)
                && !stops()
                && let Err(failure) = shared.spill(folder)
            {
                *broken() = Some(failure);
            }
            (place, shared)
        })
    };
    let mut next = execute(0);
    while let Some((place, shared)) = next {
        let evaluate = || {
            sink.input(place);
            let take = |design, report| sink.take((place, design), report);
            inputs[place].evaluate(shared, (&stops, &take), notes);
        };
        ((), next) = rayon::join(evaluate, || execute(place + 1));
    }
    broken().take().map_or(Ok(()), Err)
}

impl Work<'_> {
    /// Executes the input; none if no design needs it.
    fn execute(&self, room: Room<'_>, notes: &dyn Notes) -> Option<Result<SharedInput, Failure>> {
        if self.designs.is_empty() {
            return None;
        }
        let needs = self.designs.iter().any(|design| design.depends_on_needs());
        let most_bytes = room.most_bytes / AT_A_TIME;
        let (subject, request) = (self.subject.clone(), self.request.clone());
        Some(SharedInput::new(subject, request, (needs, most_bytes), notes))
    }

    /// Evaluates the designs over the input, and tells what came out of each, by its place.
    fn evaluate(
        &self,
        shared: Option<Result<SharedInput, Failure>>,
        (stops, take): (
            &(impl Fn() -> bool + Sync),
            &(impl Fn(usize, Result<RunReport, Failure>) + Sync),
        ),
        notes: &dyn Notes,
    ) {
        let shared = match shared {
            None => return,
            Some(Ok(shared)) => shared,
            Some(Err(failure)) => {
                return (0..self.designs.len()).for_each(|place| take(place, Err(failure.clone())));
            }
        };
        let together = if shared.is_kept() { self.designs.len() } else { TOGETHER };
        for (chunk, designs) in self.designs.chunks(together).enumerate() {
            let take = |place, report| take(chunk * together + place, report);
            shared.each(designs, notes, stops, take);
        }
    }
}
