//! One launch: a trace file as code, paths, and what its memory instructions move.

use std::path::Path;

use strata_machine_code::Machine;
use strata_simt::accesses::{AccessDictionary, MAX_ACCESSES, WarpAccesses};
use strata_simt::moved::{Addresses, Windows};
use strata_simt::paths::{MAX_PATH_STEPS, PathDictionary, PathInterner, PathRecorder, WarpPath};

use super::code::{self, Code, TracedInstruction};
use super::error::{Problem, TraceError};
use super::flow::Flow;
use super::header::Header;
use super::lines::Lines;
use super::opcode::{self, OpcodeAccess};
use super::reader::{self, Contents};
use super::visitor::{Seen, Visitor};

/// What to keep of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Only the paths of this CTA (linear index, x fastest). The code is always that of all.
    pub cta: Option<u64>,
    /// What memory instructions move, for cycle mode.
    pub accesses: bool,
    /// The lines that memory instructions touch, for memories that know addresses.
    pub lines: bool,
    /// Most warp instructions.
    pub max_instructions: u64,
}

impl Default for Keep {
    /// The paths of all CTAs, no accesses, at most 2^32 warp instructions.
    fn default() -> Self {
        Self { cta: None, accesses: false, lines: false, max_instructions: 1 << 32 }
    }
}

/// A launch, read from its trace.
#[derive(Clone, Debug)]
pub struct TracedLaunch {
    /// What the file's header says.
    pub header: Header,
    /// The kernel's code.
    pub code: Code,
    /// What the recorded warps executed.
    pub paths: PathDictionary,
    /// What their memory instructions move, if asked for.
    pub accesses: Option<AccessDictionary>,
    /// Warp instructions of the whole file.
    pub instructions: u64,
    /// Keys of header lines that are not known, as far as they can be shown.
    pub unknown_keys: Vec<String>,
}

impl TracedLaunch {
    /// Reads a trace file, plain, `.xz`, `.gz` or `.tracez`.
    ///
    /// Memory: the distinct paths, one record for each warp, and the accesses if they are kept.
    pub fn read(path: &Path, keep: &Keep) -> Result<Self, TraceError> {
        Self::of_lines(Lines::open(path)?, &path.display().to_string(), keep)
    }

    /// Reads the bytes of a trace file; `file` is its name, for messages and to tell `.tracez`.
    pub fn parse(text: Vec<u8>, file: &str, keep: &Keep) -> Result<Self, TraceError> {
        Self::of_lines(Lines::of_bytes(file, text)?, file, keep)
    }

    fn of_lines(lines: Lines, file: &str, keep: &Keep) -> Result<Self, TraceError> {
        let mut collector = Collector::new(keep.accesses || keep.lines, keep.lines);
        let contents = reader::read(lines, keep.max_instructions, &mut collector)?;
        let launch = collector.finish(contents, keep).map(|(launch, _)| launch);
        launch.map_err(|problem| TraceError {
            file: file.to_owned(),
            line: 0,
            offset: None,
            problem,
        })
    }
}

/// Collects paths in numbers of first appearance.
pub(crate) struct Collector {
    path: PathRecorder,
    interner: PathInterner,
    accesses: Option<AccessDictionary>,
    /// What the current warp has moved and touched.
    moved: WarpAccesses,
    accessing: Vec<Option<OpcodeAccess>>,
    windows: Windows,
    warp: (u64, u32),
}

impl Collector {
    pub(crate) fn new(accesses: bool, lines: bool) -> Self {
        Self {
            path: PathRecorder::default(),
            interner: PathInterner::default(),
            accesses: accesses.then(AccessDictionary::default),
            moved: WarpAccesses::new(lines),
            accessing: Vec::new(),
            windows: Windows::default(),
            warp: (0, 0),
        }
    }

    #[cold]
    fn learn(&mut self, code: &Seen) {
        let named = &code.named;
        self.accessing.push(opcode::access(
            &named.mnemonic,
            named.width,
            !named.destinations.is_empty(),
        ));
    }

    /// The launch, and its warps in the order of the file.
    pub(crate) fn finish(
        self,
        contents: Contents,
        keep: &Keep,
    ) -> Result<(TracedLaunch, Vec<WarpPath>), Problem> {
        let Contents { header, unknown_keys, code: seen, single, instructions } = contents;
        if let Some(cta) = keep.cta
            && cta >= header.ctas()
        {
            let (kernel, count) = (&header.name, header.ctas());
            return Err(Problem::Option(format!(
                "launch of `{kernel}` has no CTA {cta}; there are {count}"
            )));
        }
        let number = code::numbering(&seen);
        let raw = self.interner.finish();
        let mut order: Vec<usize> = (0..raw.warps().len()).collect();
        order.sort_by_key(|&place| (raw.warps()[place].cta, raw.warps()[place].warp));
        let kept = |cta| keep.cta.is_none_or(|only| only == cta);
        order.retain(|&place| kept(raw.warps()[place].cta));
        let all = raw.renumbered(|id| number[id as usize]);
        let flow = Flow::new(seen.len(), &all)?;
        let machine = Machine::nearest(header.binary_version);
        let single: Vec<u64> = single.iter().map(|&id| seen[id as usize].pc).collect();
        let mut listed: Vec<TracedInstruction> = seen.into_iter().map(traced).collect();
        listed.sort_unstable_by_key(|instruction| instruction.pc);
        let code = code::build(listed, header.registers, machine, &single, &flow);
        let paths = if keep.cta.is_some() { all.filtered(|warp| kept(warp.cta)) } else { all };
        let accesses = self.accesses.map(|mut accesses| {
            accesses.reorder(&order);
            accesses
        });
        let launch = TracedLaunch { header, code, paths, accesses, instructions, unknown_keys };
        Ok((launch, raw.warps().to_vec()))
    }
}

fn traced(seen: Seen) -> TracedInstruction {
    TracedInstruction {
        pc: seen.pc,
        mnemonic: seen.named.mnemonic,
        destinations: seen.named.destinations,
        sources: seen.named.sources,
        width: seen.named.width,
    }
}

impl Visitor for Collector {
    fn header(&mut self, header: &Header) {
        self.windows = header.windows();
    }

    fn begin(&mut self, cta: u64, warp: u32) {
        self.path.start(true);
        self.warp = (cta, warp);
        self.moved.clear();
    }

    #[inline]
    fn instruction(
        &mut self,
        id: u32,
        mask: u32,
        addresses: Addresses<'_>,
        code: &Seen,
    ) -> Result<(), Problem> {
        self.path.note(id, mask);
        if self.path.len() > MAX_PATH_STEPS {
            return Err(Problem::TooMany { what: "path steps", limit: MAX_PATH_STEPS });
        }
        if self.accesses.is_some() && id as usize == self.accessing.len() {
            self.learn(code);
        }
        if let Some(accesses) = &self.accesses
            && let Some(Some(access)) = self.accessing.get(id as usize)
            && mask != 0
        {
            if accesses.len() + self.moved.len() >= MAX_ACCESSES {
                let limit = MAX_ACCESSES as u64;
                return Err(Problem::TooMany { what: "executions of memory instructions", limit });
            }
            access.note(&mut self.moved, &self.windows, mask, addresses);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        let (cta, warp) = self.warp;
        self.interner.intern(cta, warp, &mut self.path);
        if self.interner.held() > MAX_PATH_STEPS {
            return Err(Problem::TooMany { what: "path steps", limit: MAX_PATH_STEPS });
        }
        if let Some(accesses) = &mut self.accesses {
            accesses.push_warp(&self.moved);
        }
        Ok(())
    }
}
