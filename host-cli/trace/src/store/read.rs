//! Replay: launches out of a `.strata` file.

use std::path::Path;

use strata_core::sm::memory::cached::LineUse;
use strata_simt::accesses::{AccessDictionary, MAX_ACCESSES, WarpAccesses};
use strata_simt::moved::{AccessShape, AccessSpace, Addresses, Windows};
use strata_simt::numbers::Source;
use strata_simt::paths::WarpPath;
use strata_simt::rows::History;

use super::chunk::{ADDRESSES, ChunkReader, DONE, END, FACTS, Place};
use super::{StoreError, StoreProblem, Stored, decode};
use crate::opcode::{self, OpcodeAccess};

/// Most bytes of the facts of one launch.
pub(super) const MAX_FACTS: usize = 1 << 29;

const TOO_MANY_ACCESSES: StoreProblem =
    StoreProblem::TooMany { what: "executions of memory instructions", limit: MAX_ACCESSES as u64 };

/// A recording, open for reading.
#[derive(Debug)]
pub struct Recording {
    chunks: ChunkReader,
    ended: bool,
    /// Where the addresses of the launch that was read last begin, and where the next launch does.
    addresses: Place,
    next: Place,
    recorded: Vec<WarpPath>,
    sizes: Sizes,
}

/// What a launch takes in its file. Unit: bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// All of it.
    pub all: u64,
    /// Its addresses.
    pub addresses: u64,
    /// Its addresses before compression.
    pub plain_addresses: u64,
}

/// Receives the instructions of a launch in the order in which they were recorded.
pub trait RowVisitor {
    /// A warp begins, which executes `instructions` instructions.
    fn begin(&mut self, warp: WarpPath, instructions: u64) -> Result<(), StoreProblem>;
    /// It executes one: its place in the code, the mask, the addresses of the active lanes.
    fn instruction(
        &mut self,
        pc: u32,
        mask: u32,
        addresses: Addresses<'_>,
    ) -> Result<(), StoreProblem>;
    /// It ends.
    fn end(&mut self) -> Result<(), StoreProblem>;
}

impl Recording {
    /// Opens a file and checks what it is.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::new(ChunkReader::open(path)?))
    }

    /// Reads the bytes of a file and checks what it is; `file` is its name in messages.
    pub fn parse(bytes: Vec<u8>, file: &str) -> Result<Self, StoreError> {
        let bytes = Box::new(std::io::Cursor::new(bytes));
        Ok(Self::new(ChunkReader::new(bytes, file.to_owned())?))
    }

    fn new(chunks: ChunkReader) -> Self {
        let place = chunks.place();
        let recorded = Vec::new();
        let sizes = Sizes::default();
        Self { chunks, ended: false, addresses: place, next: place, recorded, sizes }
    }

    /// The next launch, or `None` behind the last. Addresses are checked and skipped.
    pub fn next_launch(&mut self) -> Result<Option<Stored>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        self.chunks.go_to(self.next)?;
        self.addresses = self.next;
        let mut bytes = Vec::new();
        let start = self.next;
        self.sizes = Sizes::default();
        loop {
            let before = self.chunks.place();
            let chunk = self.chunks.next(Some(ADDRESSES))?;
            let problem = |problem| Err(self.chunks.error(StoreProblem::Contents(problem)));
            match chunk.tag {
                ADDRESSES if bytes.is_empty() => {
                    self.sizes.addresses += self.chunks.place().bytes_since(before);
                    self.sizes.plain_addresses += chunk.length;
                }
                FACTS if bytes.len() + chunk.data.len() > MAX_FACTS => {
                    let (what, limit) = ("bytes of facts", MAX_FACTS as u64);
                    return Err(self.chunks.error(StoreProblem::TooMany { what, limit }));
                }
                FACTS => bytes.extend_from_slice(&chunk.data),
                DONE => {
                    self.next = self.chunks.place();
                    self.sizes.all = self.next.bytes_since(start);
                    return self.launch(&bytes, &chunk.data).map(Some);
                }
                END if self.chunks.place().chunks_since(start) == 1 => {
                    self.ended = true;
                    return Ok(None);
                }
                END => return problem("the file ends within a launch"),
                _ => return problem("unknown or misplaced chunk"),
            }
        }
    }

    fn launch(&mut self, facts: &[u8], done: &[u8]) -> Result<Stored, StoreError> {
        let (stored, recorded) =
            decode::decode(facts).map_err(|problem| self.chunks.error(problem))?;
        let mut done = Source(done);
        if done.number() != Some(stored.warp_instructions()) || !done.0.is_empty() {
            let problem = StoreProblem::Contents("number of instructions");
            return Err(self.chunks.error(problem));
        }
        self.recorded = recorded;
        Ok(stored)
    }

    /// A problem with the launch that [`Recording::next_launch`] gave last, with its place.
    pub fn error(&self, problem: StoreProblem) -> StoreError {
        self.chunks.error(problem)
    }

    /// What the launch that [`Recording::next_launch`] gave last takes in the file.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Goes through the launch that [`Recording::next_launch`] gave last, with its addresses, in
    /// the order in which it was recorded.
    pub fn visit(
        &mut self,
        stored: &Stored,
        visitor: &mut impl RowVisitor,
    ) -> Result<(), StoreError> {
        self.chunks.go_to(self.addresses)?;
        let mut history = History::default();
        let mut data: Vec<u8>;
        let mut rows = Source(&[]);
        let mut room = [0; 32];
        for index in 0..self.recorded.len() {
            let warp = self.recorded[index];
            let path = stored.paths.path(warp.path);
            let length = path.iter().map(|step| u64::from(step.length)).sum();
            self.pass(visitor.begin(warp, length))?;
            for step in path {
                let lanes = step.mask.0.count_ones();
                let run = &stored.instructions[step.pc as usize..][..step.length as usize];
                for (pc, instruction) in (step.pc..step.pc + step.length).zip(run) {
                    let mut addresses = Addresses::None;
                    if lanes != 0 && instruction.width != 0 {
                        if rows.0.is_empty() {
                            data = self.next_rows()?;
                            rows = Source(&data);
                        }
                        let row = history.get(&mut rows, pc, lanes, &mut room);
                        addresses = self.pass(row.ok_or(StoreProblem::Contents("addresses")))?;
                    }
                    self.pass(visitor.instruction(pc, step.mask.0, addresses))?;
                }
            }
            self.pass(visitor.end())?;
        }
        if rows.0.is_empty() {
            return Ok(());
        }
        self.pass(Err(StoreProblem::Contents("more addresses than executions")))
    }

    fn pass<T>(&self, result: Result<T, StoreProblem>) -> Result<T, StoreError> {
        result.map_err(|problem| self.chunks.error(problem))
    }

    fn next_rows(&mut self) -> Result<Vec<u8>, StoreError> {
        let chunk = self.chunks.next(None)?;
        if chunk.tag == ADDRESSES && !chunk.data.is_empty() {
            return Ok(chunk.data);
        }
        self.pass(Err(StoreProblem::Contents("fewer addresses than executions")))
    }

    /// What the memory instructions of the launch that was read last move, for cycle mode, in the
    /// order of its warps, with the `lines` that they touch or without; of one CTA only, if that is
    /// said.
    pub fn accesses(
        &mut self,
        stored: &Stored,
        cta: Option<u64>,
        lines: bool,
    ) -> Result<AccessDictionary, StoreError> {
        let accessing: Vec<_> =
            (0..stored.instructions.len()).map(|pc| access(stored, pc)).collect();
        self.pass(check_longest(stored, &accessing))?;
        let windows = stored.header.windows();
        let accesses = AccessDictionary::default();
        let mut moved = Moved { windows, accessing, accesses, warp: WarpAccesses::new(lines) };
        self.visit(stored, &mut moved)?;
        let kept = |place: &usize| cta.is_none_or(|cta| cta == self.recorded[*place].cta);
        let mut order: Vec<usize> = (0..self.recorded.len()).filter(kept).collect();
        order.sort_by_key(|&place| (self.recorded[place].cta, self.recorded[place].warp));
        moved.accesses.reorder(&order);
        Ok(moved.accesses)
    }
}

/// Refuses a path with more accesses than are held, before any of them is.
fn check_longest(stored: &Stored, accessing: &[Option<OpcodeAccess>]) -> Result<(), StoreProblem> {
    // How many of the instructions before each access memory.
    let mut before = vec![0_u64];
    before.extend(accessing.iter().scan(0, |count, shape| {
        *count += u64::from(shape.is_some());
        Some(*count)
    }));
    for (path, _) in stored.paths.iter() {
        let mut held = 0_u64;
        for step in path.iter().filter(|step| !step.mask.is_empty()) {
            held += before[(step.pc + step.length) as usize] - before[step.pc as usize];
        }
        if held > MAX_ACCESSES as u64 {
            return Err(TOO_MANY_ACCESSES);
        }
    }
    Ok(())
}

/// How an instruction accesses memory; `None` for those that move nothing.
fn access(stored: &Stored, pc: usize) -> Option<OpcodeAccess> {
    let instruction = &stored.instructions[pc];
    let has_result = !instruction.destinations.is_empty();
    let named = opcode::access(&instruction.mnemonic, instruction.width, has_result);
    // The machine asks wherever the image says so, whatever the mnemonic.
    let shape = AccessShape {
        space: AccessSpace::Generic,
        bytes: instruction.width.into(),
        line_use: LineUse::Load,
    };
    let unnamed = OpcodeAccess { shape, naming: u32::MAX };
    stored.image.instructions[pc].moves_bytes().then(|| named.unwrap_or(unnamed))
}

struct Moved {
    windows: Windows,
    accessing: Vec<Option<OpcodeAccess>>,
    accesses: AccessDictionary,
    warp: WarpAccesses,
}

impl Moved {
    /// An execution of an instruction that moves bytes. Apart, so that the many others cost little.
    #[inline(never)]
    fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) -> Result<(), StoreProblem> {
        let Some(access) = self.accessing[pc as usize] else { return Ok(()) };
        if self.accesses.len() + self.warp.len() >= MAX_ACCESSES {
            return Err(TOO_MANY_ACCESSES);
        }
        access.note(&mut self.warp, &self.windows, mask, addresses);
        Ok(())
    }
}

impl RowVisitor for Moved {
    fn begin(&mut self, _: WarpPath, _: u64) -> Result<(), StoreProblem> {
        self.warp.clear();
        Ok(())
    }

    fn instruction(
        &mut self,
        pc: u32,
        mask: u32,
        addresses: Addresses<'_>,
    ) -> Result<(), StoreProblem> {
        if mask == 0 || self.accessing[pc as usize].is_none() {
            return Ok(());
        }
        self.access(pc, mask, addresses)
    }

    fn end(&mut self) -> Result<(), StoreProblem> {
        self.accesses.push_warp(&self.warp);
        Ok(())
    }
}
