//! Recording: launches into a `.strata` file.

use std::path::Path;

use super::address::{History, MAX_ROW};
use super::chunk::{ADDRESSES, CHUNK, ChunkWriter, DONE, FACTS};
use super::code::put;
use super::{StoreError, Stored, facts};
use crate::trace::error::{Problem, TraceError};
use crate::trace::instruction::Addresses;
use crate::trace::launch::{Collector, Keep};
use crate::trace::lines::Lines;
use crate::trace::list::{Entry, entries};
use crate::trace::reader::{self, Seen, Visitor};
use strata_simt::paths::WarpPath;

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
#[derive(Debug)]
pub struct Recorder {
    chunks: ChunkWriter,
}

impl Recorder {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { chunks: ChunkWriter::create(path)? })
    }

    /// Adds a launch without addresses.
    pub fn launch(&mut self, stored: &Stored) -> Result<(), StoreError> {
        self.facts(stored, stored.paths.warps())
    }

    fn facts(&mut self, stored: &Stored, recorded: &[WarpPath]) -> Result<(), StoreError> {
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

/// Records a list of traces, or one trace, with its addresses. Fails at more than
/// `max_instructions` warp instructions. Returns how many launches and warp instructions there are.
pub fn record_trace(
    input: &Path,
    target: &Path,
    max_instructions: u64,
) -> Result<(u64, u64), RecordError> {
    let mut recorder = Recorder::create(target)?;
    let (mut launches, mut instructions) = (0, 0);
    for entry in entries(input)? {
        let Entry::Launch(file) = entry else { continue };
        let lines = Lines::open(&file)?;
        let budget = max_instructions - instructions;
        let name = file.display().to_string();
        let (stored, recorded) = record_launch(lines, &name, budget, &mut recorder.chunks)?;
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
    chunks: &mut ChunkWriter,
) -> Result<(Stored, Vec<WarpPath>), RecordError> {
    let mut rows = Rows {
        collector: Collector::new(false),
        history: History::default(),
        buffer: Vec::with_capacity(CHUNK),
        chunks,
        failure: None,
    };
    let read = reader::read(lines, budget, &mut rows);
    if let Some(failure) = rows.failure {
        return Err(failure.into());
    }
    let contents = read?;
    let Rows { collector, buffer, chunks, .. } = rows;
    if !buffer.is_empty() {
        chunks.chunk(ADDRESSES, &buffer)?;
    }
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
        has_addresses: true,
    };
    Ok((stored, recorded))
}

/// Collects paths, and writes addresses as they come.
struct Rows<'a> {
    collector: Collector,
    history: History,
    buffer: Vec<u8>,
    chunks: &'a mut ChunkWriter,
    failure: Option<StoreError>,
}

impl Visitor for Rows<'_> {
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
        self.history.put(&mut self.buffer, id, addresses);
        if self.buffer.len() > CHUNK - MAX_ROW {
            if let Err(error) = self.chunks.chunk(ADDRESSES, &self.buffer) {
                let problem = Problem::Unreadable(error.to_string());
                self.failure = Some(error);
                return Err(problem);
            }
            self.buffer.clear();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.collector.end()
    }
}
