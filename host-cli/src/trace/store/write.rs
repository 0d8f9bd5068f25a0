//! Recording: launches into a `.strata` file.

use std::path::Path;

use super::chunk::{ADDRESSES, CHUNK, ChunkWriter, DONE, FACTS};
use super::{StoreError, Stored, facts};
use crate::output::Output;
use crate::trace::Header;
use crate::trace::error::{Problem, TraceError};
use crate::trace::launch::{Collector, Keep};
use crate::trace::lines::Lines;
use crate::trace::list::{Entry, entries};
use crate::trace::reader::{self, Seen, Visitor};
use strata_simt::AddressSink;
use strata_simt::moved::Addresses;
use strata_simt::numbers::put;
use strata_simt::paths::WarpPath;
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
    pub fn launch(&mut self, stored: &Stored) -> Result<(), StoreError> {
        self.facts(stored, stored.paths.warps())
    }

    fn facts(&mut self, stored: &Stored, recorded: &[WarpPath]) -> Result<(), StoreError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.rows.end(&mut self.chunks)?;
        self.chunks.chunks(FACTS, &facts::encode(stored, recorded))?;
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

/// Records a list of traces, or one trace, with its addresses. Fails at more than
/// `max_instructions` warp instructions. Returns how many launches and warp instructions there are.
pub fn record_trace(
    input: &Path,
    output: &Output,
    max_instructions: u64,
) -> Result<(u64, u64), RecordError> {
    let mut recorder = Recorder::create(output)?;
    let (mut launches, mut instructions) = (0, 0);
    for entry in entries(input)? {
        let Entry::Launch(file) = entry else { continue };
        let lines = Lines::open(&file)?;
        let budget = max_instructions - instructions;
        let name = file.display().to_string();
        let (stored, recorded) = record_launch(lines, &name, budget, &mut recorder)?;
        recorder.facts(&stored, &recorded)?;
        launches += 1;
        instructions += stored.warp_instructions();
    }
    recorder.finish()?;
    Ok((launches, instructions))
}

fn record_launch(
    lines: Lines,
    file: &str,
    budget: u64,
    recorder: &mut Recorder,
) -> Result<(Stored, Vec<WarpPath>), RecordError> {
    let mut visitor = Recorded { collector: Collector::new(false), recorder };
    let read = reader::read(lines, budget, &mut visitor);
    let Recorded { collector, recorder } = visitor;
    if let Some(failure) = recorder.failure.take() {
        return Err(failure.into());
    }
    let contents = read?;
    let keep = Keep { max_instructions: budget, ..Keep::default() };
    let (launch, recorded) = collector.finish(contents, &keep).map_err(|problem| TraceError {
        file: file.to_owned(),
        line: 0,
        problem,
    })?;
    let stored = Stored {
        header: launch.header,
        instructions: launch.code.instructions,
        image: launch.code.image,
        assumptions: launch.code.assumptions,
        paths: launch.paths,
    };
    Ok((stored, recorded))
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
