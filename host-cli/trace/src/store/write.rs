//! Recording: launches into a `.strata` file.

use std::collections::BTreeSet;
use std::path::Path;

use super::chunk::{ADDRESSES, CHUNK, ChunkWriter, DONE, FACTS};
use super::read::MAX_FACTS;
use super::{StoreError, StoreProblem, Stored, facts};
use crate::Header;
use crate::error::{Problem, TraceError};
use crate::launch::{Collector, Keep, TracedLaunch};
use crate::lines::Lines;
use crate::list::{Entry, Reach, entries};
use crate::reader;
use crate::visitor::{Seen, Visitor};
use strata_files::failure::Failure;
use strata_files::output::Output;
use strata_simt::AddressSink;
use strata_simt::moved::Addresses;
use strata_simt::numbers::put;
use strata_simt::paths::{MAX_PATH_STEPS, WarpPath};
use strata_simt::rows::{History, MAX_ROW};

/// Why a trace cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The trace is wrong.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The recording cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes a recording. The file appears in its place when [`Recorder::finish`] succeeds, and not
/// before.
///
/// It is the [`AddressSink`] of the launches that it records: each launch's addresses come first.
#[derive(Debug)]
pub struct Recorder {
    chunks: ChunkWriter,
    rows: Rows,
    /// Why addresses could not be written.
    failure: Option<StoreError>,
}

impl Recorder {
    /// Begins a file.
    pub fn create(output: &Output) -> Result<Self, StoreError> {
        Ok(Self { chunks: ChunkWriter::create(output)?, rows: Rows::default(), failure: None })
    }

    /// Adds a launch, whose addresses have come since the launch before.
    ///
    /// # Errors
    ///
    /// A file that cannot be written; more paths or warps than a reader takes.
    pub fn launch(&mut self, stored: &Stored) -> Result<(), StoreError> {
        let runs = stored.paths.iter().map(|(path, _)| path.len() as u64).sum();
        let (warps, limit) = (stored.paths.warps().len() as u64, MAX_PATH_STEPS);
        if warps.max(runs) > limit {
            let kernel = stored.header.name.clone();
            return Err(self.chunks.error(StoreProblem::TooLarge { kernel, runs, warps, limit }));
        }
        self.facts(stored, stored.paths.warps())
    }

    fn facts(&mut self, stored: &Stored, recorded: &[WarpPath]) -> Result<(), StoreError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.rows.end(&mut self.chunks)?;
        let facts = facts::encode(stored, recorded);
        if facts.len() > MAX_FACTS {
            let problem = StoreProblem::TooMany { what: "bytes of facts", limit: MAX_FACTS as u64 };
            return Err(self.chunks.error(problem));
        }
        self.chunks.chunks(FACTS, &facts)?;
        let mut done = Vec::new();
        put(&mut done, stored.warp_instructions());
        self.chunks.chunk(DONE, &done)
    }

    /// Ends the file and moves it to its place.
    pub fn finish(self) -> Result<(), StoreError> {
        self.chunks.finish()
    }
}

impl AddressSink for Recorder {
    fn access(&mut self, pc: u32, _: u32, addresses: Addresses<'_>) {
        if self.failure.is_none() {
            self.failure = self.rows.put(&mut self.chunks, pc, addresses).err();
        }
    }
}

/// Addresses on their way into chunks.
#[derive(Debug, Default)]
struct Rows {
    history: History,
    buffer: Vec<u8>,
}

impl Rows {
    fn put(
        &mut self,
        chunks: &mut ChunkWriter,
        id: u32,
        addresses: Addresses<'_>,
    ) -> Result<(), StoreError> {
        self.history.put(&mut self.buffer, id, addresses);
        if self.buffer.len() > CHUNK - MAX_ROW { self.flush(chunks) } else { Ok(()) }
    }

    fn flush(&mut self, chunks: &mut ChunkWriter) -> Result<(), StoreError> {
        let written = chunks.chunk(ADDRESSES, &self.buffer);
        self.buffer.clear();
        written
    }

    /// Ends a launch.
    fn end(&mut self, chunks: &mut ChunkWriter) -> Result<(), StoreError> {
        self.history.clear();
        if self.buffer.is_empty() { Ok(()) } else { self.flush(chunks) }
    }
}

/// What was recorded of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedTrace {
    /// Launches.
    pub launches: u64,
    /// Warp instructions of all launches.
    pub instructions: u64,
    /// Keys of header lines that are not known, as far as they can be shown.
    pub unknown_keys: BTreeSet<String>,
}

/// Records a list of traces, or one trace, with its addresses. Fails at more than
/// `max_instructions` warp instructions.
pub fn record_trace(
    input: &Path,
    reach: Reach,
    output: &Output,
    max_instructions: u64,
) -> Result<RecordedTrace, RecordError> {
    let mut recorder = Recorder::create(output)?;
    let mut recorded = RecordedTrace::default();
    for entry in entries(input, reach)? {
        let Entry::Launch(file) = entry else { continue };
        let lines = Lines::open(&file)?;
        let budget = max_instructions - recorded.instructions;
        let name = file.display().to_string();
        let budgets = (budget, max_instructions);
        let (launch, warps) = record_launch(lines, &name, budgets, &mut recorder)?;
        recorded.launches += 1;
        recorded.instructions += launch.instructions;
        recorded.unknown_keys.extend(launch.unknown_keys.iter().cloned());
        recorder.facts(&stored(launch), &warps)?;
    }
    recorder.finish()?;
    Ok(recorded)
}

fn record_launch(
    lines: Lines,
    file: &str,
    (budget, whole): (u64, u64),
    recorder: &mut Recorder,
) -> Result<(TracedLaunch, Vec<WarpPath>), RecordError> {
    let mut visitor = Recorded { collector: Collector::new(false, false), recorder };
    let read = reader::read(lines, budget, &mut visitor).map_err(|error| error.of_budget(whole));
    let Recorded { collector, recorder } = visitor;
    if let Some(failure) = recorder.failure.take() {
        return Err(failure.into());
    }
    let contents = read?;
    let keep = Keep { max_instructions: budget, ..Keep::default() };
    let finished = collector.finish(contents, &keep);
    let file = file.to_owned();
    Ok(finished.map_err(|problem| TraceError { file, line: 0, offset: None, problem })?)
}

fn stored(launch: TracedLaunch) -> Stored {
    Stored {
        header: launch.header,
        instructions: launch.code.instructions,
        order: None,
        resident_registers: launch.code.image.registers,
        image: launch.code.image,
        assumptions: launch.code.assumptions,
        paths: launch.paths,
    }
}

/// Collects paths, and writes addresses as they come.
struct Recorded<'a> {
    collector: Collector,
    recorder: &'a mut Recorder,
}

impl Visitor for Recorded<'_> {
    fn header(&mut self, header: &Header) {
        self.collector.header(header);
    }

    fn begin(&mut self, cta: u64, warp: u32) {
        self.collector.begin(cta, warp);
    }

    fn instruction(
        &mut self,
        id: u32,
        mask: u32,
        addresses: Addresses<'_>,
        code: &Seen,
    ) -> Result<(), Problem> {
        self.collector.instruction(id, mask, addresses, code)?;
        self.recorder.access(id, mask, addresses);
        match &self.recorder.failure {
            Some(failure) => Err(Problem::Unreadable(failure.to_string())),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.collector.end()
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Trace(error) => error.into(),
            RecordError::Store(error) => error.into(),
        }
    }
}
