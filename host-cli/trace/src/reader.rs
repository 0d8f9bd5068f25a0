//! The body of a kernel's trace file: thread blocks, warps, instructions, one line at a time.
//!
//! Memory: one line and one record for each program counter.

use rustc_hash::{FxHashMap, FxHashSet};
use strata_simt::moved::Addresses;

use super::cursor::Cursor;
use super::error::{Problem, TraceError, bare, expected};
use super::header::{Header, decimal, numbers};
use super::instruction::Named;
use super::lines::{Lines, MAX_LINE};
use super::newer::{Layout, Marker, Values, Version};
use super::operands::Instructions;
use super::visitor::{Seen, Visitor};

/// Most distinct program counters of a kernel.
pub(crate) const MAX_INSTRUCTIONS: usize = 1 << 17;
/// Longest line of an instruction, of which two are kept. The longest that a tracer writes, with 32
/// addresses, is under 1000 bytes.
const MAX_INSTRUCTION_LINE: usize = 2048;
/// Longest line of an instruction with values of its registers, which are not kept. Six registers
/// with 32 values each take under 2100 bytes.
const MAX_LINE_WITH_VALUES: usize = 4096;

/// What a file holds beside its warps.
#[derive(Debug)]
pub(crate) struct Contents {
    /// Header.
    pub(crate) header: Header,
    /// Keys of header lines that are not known.
    pub(crate) unknown_keys: Vec<String>,
    /// The instructions in the order in which they appeared.
    pub(crate) code: Vec<Seen>,
    /// Those of them that have a line for each of two references to memory, but once had one line.
    pub(crate) single: Vec<u32>,
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
    let mut visitor = Instructions::new(visitor);
    visitor.header(&header);
    let mut body = Body::new(&header, budget);
    body.read(&mut lines, &mut visitor)?;
    let (second_lines, single) = visitor.finish();
    let (found, grid) = (body.ctas.len() as u64, header.ctas());
    if found != grid {
        return Err(lines.error_of_file(Problem::MissingBlocks { found, grid }));
    }
    let Body { instructions, markers, code, .. } = body;
    let instructions = instructions - markers - second_lines;
    Ok(Contents { header, unknown_keys, code: code.seen, single, instructions })
}

/// The instructions known so far.
#[derive(Debug)]
struct Code {
    seen: Vec<Seen>,
    by_pc: FxHashMap<u64, u32>,
    /// For each of `seen`, how the line began that executed it last.
    starts: Vec<Start>,
    /// For each of `seen`, what was executed behind it last: the likeliest to be so again.
    followers: Vec<u32>,
    /// The instruction before.
    last: usize,
    /// What the lines hold.
    version: Version,
    /// Immediates of each line, as far as it is known.
    immediates: Option<usize>,
}

/// All of a line but what differs between executions.
#[derive(Debug, Default)]
struct Start {
    /// The whole line of an instruction that accesses no memory and has no values, of others the
    /// part before mode and addresses, or immediates.
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
    fn new(version: Version) -> Self {
        Self {
            seen: Vec::new(),
            by_pc: FxHashMap::default(),
            starts: Vec::new(),
            followers: Vec::new(),
            last: 0,
            version,
            immediates: None,
        }
    }

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

    /// Remembers the line that executed an instruction behind `before`: the `whole`, or what comes
    /// before its addresses.
    fn remember(&mut self, before: usize, Found { id, mask }: Found, text: &[u8], whole: bool) {
        let count = self.seen.len();
        self.starts.resize_with(count, Start::default);
        self.followers.resize(count, 0);
        self.followers[before] = id;
        let start = &mut self.starts[id as usize];
        start.text.clear();
        start.text.extend_from_slice(text);
        start.whole = whole;
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
        let named = cursor.named(self.version, self.immediates)?;
        let text = &before[..before.len() - cursor.rest().len()];
        if text.len() > MAX_INSTRUCTION_LINE {
            return Err(Problem::LongLine(MAX_INSTRUCTION_LINE));
        }
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
    budget: u64,
    /// Lines of instructions, marks of loops included.
    instructions: u64,
    /// Marks of loops.
    markers: u64,
    /// The warp is between two marks of a loop.
    in_loop: bool,
    ctas: FxHashSet<u64>,
    code: Code,
}

impl Body {
    fn new(header: &Header, budget: u64) -> Self {
        Self {
            header: header.clone(),
            lanes: 0,
            line_info: header.line_info,
            budget,
            instructions: 0,
            markers: 0,
            in_loop: false,
            ctas: FxHashSet::default(),
            code: Code::new(Version(header.tracer_version)),
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
        if self.code.version.has_immediate() {
            self.cluster(lines, cta)?;
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
            let warp = number.ok_or_else(|| expected(WARP, line));
            let warp = warp.and_then(|warp| self.new_warp(warp, &mut seen));
            let warp = warp.map_err(|problem| lines.error(problem))?;
            self.warp(lines, cta, warp, visitor)?;
        }
    }

    /// The three lines of a thread block that tracers since Accel-Sim 2.0 add: its cluster in the
    /// grid, its place and its rank in the cluster. Only clusters of one are read.
    fn cluster(&self, lines: &mut Lines, cta: u64) -> Result<(), TraceError> {
        const PLACE: &str = "`cluster cta = x,y,z`";
        const RANK: &str = "`cluster rank = n`";
        if !lines.next_text_begins(b"cluster id")? {
            return Ok(());
        }
        let line = lines.next_text("`cluster id = x,y,z`")?;
        let id = value(line, b"cluster id").and_then(numbers);
        let id = id.ok_or_else(|| expected("`cluster id = x,y,z`", line));
        // Machines without clusters count all blocks as the first one.
        let alone = id.and_then(|id| match id {
            [0, 0, 0] => Ok(()),
            id if self.linear(id)? == cta => Ok(()),
            _ => Err(Problem::Cluster(bare(line))),
        });
        alone.map_err(|problem| lines.error(problem))?;
        let line = lines.next_text(PLACE)?;
        let place = value(line, b"cluster cta").and_then(numbers);
        let alone = match place {
            Some([0, 0, 0]) => Ok(()),
            Some(_) => Err(Problem::Cluster(bare(line))),
            None => Err(expected(PLACE, line)),
        };
        alone.map_err(|problem| lines.error(problem))?;
        let line = lines.next_text(RANK)?;
        let alone = match value(line, b"cluster rank").and_then(decimal) {
            Some(0) => Ok(()),
            Some(_) => Err(Problem::Cluster(bare(line))),
            None => Err(expected(RANK, line)),
        };
        alone.map_err(|problem| lines.error(problem))
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
        (self.lanes, self.in_loop) = (self.header.lanes(warp), false);
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
        if let Some(marker) = Marker::of_line(line) {
            return self.mark(marker, line);
        }
        let mut cursor = Cursor::new(line);
        let begun = |start: &Start| !start.whole && cursor.skip_text(&start.text);
        if let Some(found) = self.code.repeated(begun) {
            return self.rest(line, cursor, found, visitor).map(drop);
        }
        let before = self.code.last;
        let found = self.start(&mut cursor)?;
        let whole = self.rest(line, cursor, found, visitor)?;
        // Only now is it known that the line is well formed.
        let text = if whole { line } else { &line[..line.len() - cursor.rest().len()] };
        if text.len() > MAX_INSTRUCTION_LINE {
            return Err(Problem::LongLine(MAX_INSTRUCTION_LINE));
        }
        self.code.remember(before, found, text, whole);
        Ok(())
    }

    /// A mark of the one turn of a spin loop that a tracer keeps: no instruction.
    #[cold]
    fn mark(&mut self, marker: Marker, line: &[u8]) -> Result<(), Problem> {
        if !self.code.version.has_immediate() {
            return Err(expected("an instruction", line));
        }
        self.in_loop = marker.check(self.in_loop)?;
        self.markers += 1;
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

    /// Longest line of an instruction.
    fn longest(&self, layout: Layout) -> usize {
        match layout {
            Layout::Bulk => MAX_LINE,
            _ if self.code.version.has_values() => MAX_LINE_WITH_VALUES,
            _ => MAX_INSTRUCTION_LINE,
        }
    }

    /// Reads what may differ between executions of an instruction, behind the cursor. Says whether
    /// nothing did.
    #[inline]
    fn rest(
        &mut self,
        line: &[u8],
        mut cursor: Cursor<'_>,
        found: Found,
        visitor: &mut impl Visitor,
    ) -> Result<bool, Problem> {
        let mut lanes = [0; 32];
        let mut addresses = Addresses::None;
        let Named { width, layout, .. } = self.code.seen[found.id as usize].named;
        if line.len() > self.longest(layout) {
            return Err(Problem::LongLine(self.longest(layout)));
        }
        if layout == Layout::Bulk {
            cursor.transfer()?;
        } else if width != 0 {
            addresses = cursor.addresses(found.mask, &mut lanes)?;
        }
        let Code { version, immediates, seen, .. } = &mut self.code;
        let operands = seen[found.id as usize].named.operands();
        let values = cursor.tail(*version, immediates, operands)?;
        cursor.finish()?;
        self.execute(found, addresses, visitor)?;
        Ok(width == 0 && layout != Layout::Bulk && values == Values::None)
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
