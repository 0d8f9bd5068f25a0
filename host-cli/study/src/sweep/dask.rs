//! Dask: the points of a sweep in batches on a cluster.
//!
//! The cluster sees programs and batches only, through a [`driver`] in Python: what is to be
//! evaluated, and which rows are kept, is decided here. Batches whose worker was lost go to
//! another one; the rest of a sweep that was ended is found again by the keys of its points.

mod cluster;
mod driver;
mod files;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::batch::Batch;
use super::definition::Definition;
use super::engine::{self, Done, Keeping, Pending, Sink};
use super::parquet;
use super::points::Points;
pub use cluster::Cluster;
use driver::{Driver, Event, Heard};
use strata_files::failure::Failure;
use strata_measure::Room;
use strata_measure::notes::Notes;

/// How often Ctrl-C is looked for while no message comes.
const MOMENT: Duration = Duration::from_millis(100);

/// Evaluates points on a cluster. Once it is to end early, no batch is begun any more.
///
/// # Errors
/// No cluster, or none any more; workers with another version of the program or of the files;
/// rows that cannot be kept; points whose workers end again and again. What came before is kept.
pub fn run(
    (definition, points): (&Definition, &Points),
    pending: &[Pending],
    keeping: Keeping<'_>,
    cluster: &Cluster,
    notes: &dyn Notes,
) -> Result<Done, Failure> {
    let part = |possible: bool| {
        let is = |&design: &usize| points.designs[design].design.is_ok() == possible;
        let some = |designs: &[usize]| designs.iter().copied().filter(is).collect::<Vec<_>>();
        let parts = pending.iter().map(|(input, designs)| (*input, some(designs)));
        parts.filter(|(_, designs)| !designs.is_empty()).collect::<Vec<_>>()
    };
    // Nothing is executed for designs that are impossible.
    let room = Room::default();
    let impossible = engine::run(points, &part(false), (keeping, room), notes)?;
    let pending = part(true);
    if pending.is_empty() {
        return Ok(impossible);
    }
    let mut driver = Driver::start(cluster, &files::of(points)?)?;
    let mut spread = Spread {
        inputs: definition.inputs_text(),
        points,
        sink: Sink::new(points, &pending, keeping, notes),
        left: pending.iter().map(|(_, designs)| designs.len()).sum(),
        queue: pending.into(),
        running: BTreeMap::new(),
        most_points: cluster.most_points,
        threads: None,
        batches: 0,
        stopped: false,
        lost: (0, String::new()),
    };
    let asked = spread.left;
    let served = spread.serve(&mut driver, notes);
    let Spread { sink, lost: (lost, why), stopped, .. } = spread;
    let done = sink.finish();
    driver.end();
    served?;
    let Done { evaluated, failed } = done?;
    if evaluated + lost != asked && !stopped {
        let told = format!("{asked} points were handed out, and {evaluated} came back");
        return Err(Failure::internal(&told));
    }
    if lost > 0 {
        let message = format!("{lost} points are not done: {why}");
        return Err(Failure::check(message).hint("the same command tries them again"));
    }
    let (evaluated, failed) = (evaluated + impossible.evaluated, failed + impossible.failed);
    Ok(Done { evaluated, failed })
}

/// What is on its way.
struct Spread<'a> {
    inputs: String,
    points: &'a Points,
    sink: Sink<'a>,
    /// Points that are not in a batch yet, an input at a time.
    queue: VecDeque<Pending>,
    left: usize,
    running: BTreeMap<u64, Pending>,
    most_points: usize,
    /// Batches that can run at a time; none before the cluster is there.
    threads: Option<usize>,
    batches: u64,
    stopped: bool,
    /// Points whose workers ended again and again, and why the last one did.
    lost: (usize, String),
}

impl Spread<'_> {
    /// Until all points are done, or nothing runs any more after a signal.
    fn serve(&mut self, driver: &mut Driver, notes: &dyn Notes) -> Result<(), Failure> {
        loop {
            match driver.hear(MOMENT) {
                Heard::Message(event, body) => self.take(event, body, notes)?,
                Heard::Nothing => self.sink.pause(),
                Heard::Ended(failure) => return Err(failure),
            }
            if self.sink.stop() && !self.stopped {
                self.stopped = true;
                driver.stop()?;
            }
            if self.stopped {
                self.queue.clear();
            } else if let Some(threads) = self.threads {
                // One waits for each that runs, so that no worker waits for us.
                while self.running.len() < 2 * threads + 2
                    && let Some(batch) = self.next(threads)
                {
                    self.send(driver, batch)?;
                }
            }
            let begun = self.threads.is_some() || self.stopped;
            if begun && self.running.is_empty() && self.queue.is_empty() {
                return Ok(());
            }
        }
    }

    /// The next batch: small enough that all threads get some.
    fn next(&mut self, threads: usize) -> Option<Pending> {
        let (input, mut designs) = self.queue.pop_front()?;
        let most = self.left.div_ceil(4 * threads.max(1)).clamp(1, self.most_points);
        if designs.len() > most {
            let rest = designs.split_off(most);
            self.queue.push_front((input, rest));
        }
        self.left -= designs.len();
        Some((input, designs))
    }

    fn send(&mut self, driver: &mut Driver, (input, designs): Pending) -> Result<(), Failure> {
        let batch = Batch::new(&self.inputs, self.points, input, &designs);
        self.batches += 1;
        driver.send(self.batches, &batch.to_text()?)?;
        self.running.insert(self.batches, (input, designs));
        Ok(())
    }

    fn take(&mut self, event: Event, body: Vec<u8>, notes: &dyn Notes) -> Result<(), Failure> {
        match event {
            Event::Ready { threads: 0 } => {
                self.threads = Some(0);
                notes.note("the cluster has no workers yet: the sweep waits for them");
            }
            Event::Ready { threads } | Event::Threads { threads } => self.threads = Some(threads),
            Event::Done { batch, .. } => {
                if let Some(pending) = self.running.remove(&batch) {
                    self.keep(pending, body)?;
                }
            }
            Event::Returned { batch } if self.stopped => drop(self.running.remove(&batch)),
            Event::Returned { batch } => self.again(batch, "the cluster cancelled it"),
            Event::Lost { batch, why } => self.again(batch, &why),
            Event::Refused { why } => return Err(Failure::input(why)),
            Event::Failed { why, hint } => return Err(Failure::input(why).hint(hint)),
        }
        Ok(())
    }

    /// Takes the rows of a batch, if they are of its points.
    fn keep(&self, (input, designs): Pending, body: Vec<u8>) -> Result<(), Failure> {
        let rows = parquet::decode(bytes::Bytes::from(body));
        let rows = rows.map_err(|why| {
            Failure::input(format!("a worker sent no rows: {why}"))
                .hint("`--worker-strata` names a strata of this version")
        })?;
        let keys = designs.iter().map(|&design| self.points.key(input, design));
        if !keys.eq(rows.iter().map(|row| row.key)) {
            return Err(Failure::internal("a worker sent rows of other points"));
        }
        for (&design, row) in designs.iter().zip(rows) {
            self.sink.push(self.points.place(input, design), row);
        }
        Ok(())
    }

    /// A batch that no worker could finish is halved, until the point is found that ends workers.
    fn again(&mut self, batch: u64, why: &str) {
        let Some((input, mut designs)) = self.running.remove(&batch) else { return };
        if self.stopped {
            return;
        }
        if designs.len() < 2 {
            self.lost = (self.lost.0 + designs.len(), why.to_owned());
            return;
        }
        self.left += designs.len();
        let rest = designs.split_off(designs.len() / 2);
        self.queue.push_front((input, rest));
        self.queue.push_front((input, designs));
    }
}
