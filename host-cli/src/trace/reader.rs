//! The body of a kernel's trace file: thread blocks, warps, instructions, one line at a time.
//!
//! Memory: one line and one record for each program counter.

use rustc_hash::{FxHashMap, FxHashSet};
use strata_simt::moved::Addresses;

use super::error::{Problem, TraceError, bare, expected};
use super::header::{Header, decimal, numbers};
use super::instruction::{Cursor, Named};
use super::lines::Lines;

/// Most distinct program counters of a kernel.
pub(crate) const MAX_INSTRUCTIONS: usize = 1 << 17;
/// Longest line of an instruction, of which two are kept. The longest that a tracer writes, with 32
/// addresses, is under 1000 bytes.
const MAX_INSTRUCTION_LINE: usize = 2048;

/// What newer tracers say of a thread block besides: its cluster in the grid, its place and its
/// rank in the cluster. Only launches in clusters of one could be run without them.
const CLUSTER: [&[u8]; 4] = [b"cluster id", b"cta", b"cta rank", b"rank"];

/// Receives what a trace file holds, in the file's order.
pub(crate) trait Visitor {
    /// The header was read.
    fn header(&mut self, header: &Header);
    /// A warp begins. `cta` is its linear index (x fastest).
    fn begin(&mut self, cta: u64, warp: u32);
    /// The warp executes an instruction: the `id`-th that the file showed first.
    fn instruction(
        &mut self,
        id: u32,
        mask: u32,
        addresses: Addresses<'_>,
        code: &Seen,
    ) -> Result<(), Problem>;
    /// The warp ends.
    fn end(&mut self) -> Result<(), Problem>;
}

/// An instruction as first seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Program counter.
    pub(crate) pc: u64,
    /// What its lines name.
    pub(crate) named: Named,
    /// The text between mask and addresses, as first seen.
    text: Vec<u8>,
}

/// What a file holds beside its warps.
#[derive(Debug)]
pub(crate) struct Contents {
    /// Header.
    pub(crate) header: Header,
    /// Keys of header lines that are not known.
    pub(crate) unknown_keys: Vec<String>,
    /// The instructions in the order in which they appeared.
    pub(crate) code: Vec<Seen>,
    /// Warp instructions.
    pub(crate) instructions: u64,
}

/// Reads a trace file from start to end. Fails at more than `budget` warp instructions.
pub(crate) fn read(
    mut lines: Lines,
    budget: u64,
    visitor: &mut impl Visitor,
) -> Result<Contents, TraceError> {
    let (header, unknown_keys) = Header::read(&mut lines)?;
    visitor.header(&header);
    let mut body = Body::new(&header, budget);
    body.read(&mut lines, visitor)?;
    let (found, grid) = (body.ctas.len() as u64, header.ctas());
    if found != grid {
        return Err(lines.error_of_file(Problem::MissingBlocks { found, grid }));
    }
    let Body { instructions, code, .. } = body;
    Ok(Contents { header, unknown_keys, code: code.seen, instructions })
}

/// The instructions known so far.
#[derive(Debug, Default)]
struct Code {
    seen: Vec<Seen>,
    by_pc: FxHashMap<u64, u32>,
    /// For each of `seen`, how the line began that executed it last.
    starts: Vec<Start>,
    /// For each of `seen`, what was executed behind it last: the likeliest to be so again.
    followers: Vec<u32>,
    /// The instruction before.
    last: usize,
}

/// All of a line but what differs between executions.
#[derive(Debug, Default)]
struct Start {
    /// The whole line of an instruction that accesses no memory, of others the part before mode and
    /// addresses.
    text: Vec<u8>,
    whole: bool,
    mask: u32,
}

/// What a line executes.
#[derive(Clone, Copy, Debug)]
struct Found {
    id: u32,
    mask: u32,
}

impl Code {
    /// The likeliest instruction, if `known` says that the next line is or begins as its last one.
    #[inline]
    fn repeated(&mut self, known: impl FnOnce(&Start) -> bool) -> Option<Found> {
        let id = *self.followers.get(self.last)?;
        let start = self.starts.get(id as usize)?;
        if !known(start) {
            return None;
        }
        self.last = id as usize;
        Some(Found { id, mask: start.mask })
    }

    /// Remembers the line that executed an instruction behind `before`, up to its addresses.
    fn remember(&mut self, before: usize, Found { id, mask }: Found, text: &[u8]) {
        let count = self.seen.len();
        self.starts.resize_with(count, Start::default);
        self.followers.resize(count, 0);
        self.followers[before] = id;
        let start = &mut self.starts[id as usize];
        start.text.clear();
        start.text.extend_from_slice(text);
        start.whole = self.seen[id as usize].named.width == 0;
        start.mask = mask;
    }

    /// Finds the instruction that a line executes, and leaves the cursor behind its text.
    fn find(&mut self, pc: u64, cursor: &mut Cursor<'_>) -> Result<u32, Problem> {
        cursor.skip_blanks();
        if let Some(id) = self.by_pc.get(&pc).map(|&id| id as usize) {
            self.last = id;
            if cursor.skip_text(&self.seen[id].text) {
                return Ok(id as u32);
            }
            return self.parse(pc, Some(id), cursor);
        }
        self.parse(pc, None, cursor)
    }

    #[cold]
    fn parse(
        &mut self,
        pc: u64,
        id: Option<usize>,
        cursor: &mut Cursor<'_>,
    ) -> Result<u32, Problem> {
        let before = cursor.rest();
        let named = cursor.named()?;
        let text = &before[..before.len() - cursor.rest().len()];
        if let Some(id) = id {
            let seen = &self.seen[id];
            if seen.named == named {
                return Ok(id as u32);
            }
            let [before, now] = [&seen.text[..], text].map(bare);
            return Err(Problem::Changed { pc, before, now });
        }
        if self.seen.len() == MAX_INSTRUCTIONS {
            let limit = MAX_INSTRUCTIONS as u64;
            return Err(Problem::TooMany { what: "distinct instructions", limit });
        }
        let id = self.seen.len();
        self.by_pc.insert(pc, id as u32);
        self.seen.push(Seen { pc, named, text: text.to_vec() });
        self.last = id;
        Ok(id as u32)
    }
}

/// State of the reading.
struct Body {
    header: Header,
    /// Lanes of the warp that is read.
    lanes: u32,
    line_info: bool,
    immediate: bool,
    budget: u64,
    instructions: u64,
    ctas: FxHashSet<u64>,
    code: Code,
}

impl Body {
    fn new(header: &Header, budget: u64) -> Self {
        Self {
            header: header.clone(),
            lanes: 0,
            line_info: header.line_info,
            immediate: header.tracer_version >= 5,
            budget,
            instructions: 0,
            ctas: FxHashSet::default(),
            code: Code::default(),
        }
    }

    fn read(&mut self, lines: &mut Lines, visitor: &mut impl Visitor) -> Result<(), TraceError> {
        loop {
            let Some(line) = lines.next()? else { return Ok(()) };
            let line = line.trim_ascii();
            if line == b"#BEGIN_TB" {
                self.cta(lines, visitor)?;
            } else if !line.is_empty() {
                let problem = expected("`#BEGIN_TB` or the end of the file", line);
                return Err(lines.error(problem));
            }
        }
    }

    fn cta(&mut self, lines: &mut Lines, visitor: &mut impl Visitor) -> Result<(), TraceError> {
        const BLOCK: &str = "`thread block = x,y,z`";
        let line = lines.next_text(BLOCK)?;
        let place = value(line, b"thread block").and_then(numbers);
        let place = place.ok_or_else(|| expected(BLOCK, line));
        let cta = place.and_then(|place| self.linear(place));
        let cta = cta.map_err(|problem| lines.error(problem))?;
        if !self.ctas.insert(cta) {
            return Err(lines.error(Problem::Repeated { what: "thread block", number: cta }));
        }
        let mut seen = 0_u32;
        loop {
            const WARP: &str = "`warp = n` or `#END_TB`";
            let line = lines.next_text(WARP)?;
            if line == b"#END_TB" {
                let (found, warps) = (seen.count_ones(), self.header.warps());
                let missing = Problem::MissingWarps { found, warps };
                return if found == warps { Ok(()) } else { Err(lines.error(missing)) };
            }
            let number = value(line, b"warp").and_then(decimal);
            let warp = number.ok_or_else(|| {
                let of_cluster = CLUSTER.iter().any(|key| value(line, key).is_some());
                if of_cluster { Problem::Cluster(bare(line)) } else { expected(WARP, line) }
            });
            let warp = warp.and_then(|warp| self.new_warp(warp, &mut seen));
            let warp = warp.map_err(|problem| lines.error(problem))?;
            self.warp(lines, cta, warp, visitor)?;
        }
    }

    fn linear(&self, place: [u64; 3]) -> Result<u64, Problem> {
        for ((side, place), what) in self.header.grid.iter().zip(place).zip([
            "block index x",
            "block index y",
            "block index z",
        ]) {
            let last = u64::from(*side) - 1;
            if place > last {
                return Err(Problem::OutOfRange { what, value: place, last });
            }
        }
        let [width, height, _] = self.header.grid.map(u64::from);
        Ok(place[0] + width * (place[1] + height * place[2]))
    }

    fn new_warp(&self, warp: u64, seen: &mut u32) -> Result<u32, Problem> {
        let last = u64::from(self.header.warps()) - 1;
        if warp > last {
            return Err(Problem::OutOfRange { what: "warp", value: warp, last });
        }
        // A CTA has at most 32 warps.
        let bit = 1_u32 << warp;
        if *seen & bit != 0 {
            return Err(Problem::Repeated { what: "warp", number: warp });
        }
        *seen |= bit;
        Ok(warp as u32)
    }

    fn warp(
        &mut self,
        lines: &mut Lines,
        cta: u64,
        warp: u32,
        visitor: &mut impl Visitor,
    ) -> Result<(), TraceError> {
        const COUNT: &str = "`insts = n`";
        const LINE: &str = "as many instructions as `insts` says";
        let line = lines.next_text(COUNT)?;
        let count = value(line, b"insts").and_then(decimal).ok_or_else(|| expected(COUNT, line));
        let count = count.map_err(|problem| lines.error(problem))?;
        self.instructions = self.instructions.saturating_add(count);
        if self.instructions > self.budget {
            return Err(lines.error(Problem::Budget(self.budget)));
        }
        self.lanes = self.header.lanes(warp);
        visitor.begin(cta, warp);
        for _ in 0..count {
            if let Some(found) = self.code.repeated(|start| start.whole && lines.pass(&start.text))
            {
                let result = self.execute(found, Addresses::None, visitor);
                result.map_err(|problem| lines.error(problem))?;
                continue;
            }
            let Some(line) = lines.next()? else {
                return Err(lines.error(Problem::Truncated("an instruction")));
            };
            if line.is_empty() || line[0] == b'#' || line[0] == b'w' {
                let problem = expected(LINE, line);
                return Err(lines.error(problem));
            }
            let result = self.line(line, visitor);
            result.map_err(|problem| lines.error(problem))?;
        }
        visitor.end().map_err(|problem| lines.error(problem))
    }

    #[inline]
    fn line(&mut self, line: &[u8], visitor: &mut impl Visitor) -> Result<(), Problem> {
        if line.len() > MAX_INSTRUCTION_LINE {
            return Err(Problem::LongLine(MAX_INSTRUCTION_LINE));
        }
        let mut cursor = Cursor::new(line);
        let begun = |start: &Start| !start.whole && cursor.skip_text(&start.text);
        if let Some(found) = self.code.repeated(begun) {
            return self.rest(cursor, found, visitor);
        }
        let before = self.code.last;
        let found = self.start(&mut cursor)?;
        self.rest(cursor, found, visitor)?;
        // Only now is it known that the line is well formed.
        let plain = self.code.seen[found.id as usize].named.width == 0;
        let text = if plain { line } else { &line[..line.len() - cursor.rest().len()] };
        self.code.remember(before, found, text);
        Ok(())
    }

    /// Reads the instruction and mask of a line.
    fn start(&mut self, cursor: &mut Cursor<'_>) -> Result<Found, Problem> {
        if self.line_info {
            cursor.unsigned("a line of the source")?;
        }
        let pc = cursor.hex("a hexadecimal program counter", 15)?;
        let mask = cursor.mask()?;
        Ok(Found { id: self.code.find(pc, cursor)?, mask })
    }

    /// Reads what may differ between executions of an instruction.
    #[inline]
    fn rest(
        &self,
        mut cursor: Cursor<'_>,
        found: Found,
        visitor: &mut impl Visitor,
    ) -> Result<(), Problem> {
        let mut lanes = [0; 32];
        let mut addresses = Addresses::None;
        if self.code.seen[found.id as usize].named.width != 0 {
            addresses = cursor.addresses(found.mask, &mut lanes)?;
        }
        if self.immediate {
            cursor.immediate()?;
        }
        cursor.finish()?;
        self.execute(found, addresses, visitor)
    }

    /// Hands an execution over.
    #[inline]
    fn execute(
        &self,
        Found { id, mask }: Found,
        addresses: Addresses<'_>,
        visitor: &mut impl Visitor,
    ) -> Result<(), Problem> {
        if mask & !self.lanes != 0 {
            return Err(Problem::Lanes { mask, lanes: self.lanes });
        }
        visitor.instruction(id, mask, addresses, &self.code.seen[id as usize])
    }
}

/// The value of `key = value`.
fn value<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(key)?.trim_ascii_start();
    Some(rest.strip_prefix(b"=")?.trim_ascii())
}
