//! What may be kept above the main register file: within each strand, the values that it writes
//! with the reads that see them, and the values it only reads (`[DISS]` 6.4.1, 6.4.3, 6.4.4).
//!
//! A value is a set of definitions that some read may see together, as in `crate::values`, but of
//! one 32-bit register and within one strand. A read that may also see what was there before the
//! strand finds it only in the main register file, so that every definition it may see is written
//! there.

use std::ops::Range;
use std::rc::Rc;

use strata_core::image::Flags;

use super::code::{Code, has};
use super::loops::Loop;
use super::strands::Strands;

/// One register slot of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) pc: u32,
    /// Index into the image's slots.
    pub(super) slot: u32,
    /// Instructions of the strand before this one, in program order.
    pub(super) time: u32,
    /// The unit is of the shared datapath.
    pub(super) shared: bool,
    /// Place of the operand in the instruction.
    pub(super) operand: u8,
}

/// How a value gets into the upper level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The strand writes it.
    Written,
    /// The strand only reads it; its first read leaves it there.
    Read,
}

/// A value that may be kept in an upper level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) strand: u32,
    pub(super) register: u16,
    pub(super) origin: Origin,
    /// Its definitions, or its first read. In program order, not empty.
    pub(super) writes: Vec<Access>,
    /// The reads that may find it there, in program order.
    pub(super) reads: Vec<Access>,
    /// It is written to the main register file whatever happens: it leaves the strand, or some read
    /// may see an older value instead.
    pub(super) main: bool,
    /// Times of the strand's loops, none in most strands.
    pub(super) loops: Rc<[Range<u32>]>,
}

/// A register as the strand found it.
const LIVE_IN: u32 = u32::MAX;

/// A run of instructions of one block and one strand.
struct Segment {
    block: usize,
    start: usize,
    end: usize,
    /// Starts a strand.
    first: bool,
    /// Immediate dominator among the strand's segments; itself for the first.
    dominator: usize,
    depth: u32,
    /// Registers live at its start.
    live: Vec<u64>,
    /// The node of each register at its end, while a later segment may need it.
    end_state: Vec<u32>,
}

/// The possible contents of a register: one definition, or the union of several where paths meet or
/// a guarded definition keeps the old value in some lanes.
struct Node {
    parts: [u32; 2],
    /// The value from before the strand is among them.
    old: bool,
    /// Every definition in it is known to be needed in the main register file.
    in_main: bool,
    /// All definitions in it were joined.
    joined: bool,
}

/// A definition.
struct Definition {
    access: Access,
    register: u16,
    strand: u32,
    long_latency: bool,
}

/// Finds the candidates of all strands, ordered by strand, then by first write.
pub(super) fn candidates(
    code: &Code<'_>,
    strands: &Strands,
    read_operands: bool,
) -> Vec<Candidate> {
    let mut finder = Finder::new(code, strands);
    for segment in 0..finder.segments.len() {
        finder.walk(segment);
    }
    finder.turn();
    let mut found = finder.written();
    if read_operands {
        found.extend(finder.read());
    }
    found.sort_by_key(|candidate| (candidate.strand, candidate.writes[0].slot));
    found
}

struct Finder<'c> {
    code: &'c Code<'c>,
    strands: &'c Strands,
    segments: Vec<Segment>,
    /// Last segment of each block.
    last_of: Vec<usize>,
    /// Position of each instruction in its strand.
    time: Vec<u32>,
    /// The first nodes are the definitions; their `parts` are unused.
    nodes: Vec<Node>,
    /// Union-find over nodes.
    parent: Vec<u32>,
    definitions: Vec<Option<Definition>>,
    /// Reads of definitions: node and access.
    reads: Vec<(u32, Access)>,
    /// Reads of values from before the strand: segment, register, guarded, access.
    old_reads: Vec<(usize, u16, bool, Access)>,
    /// Registers at the head of a loop that changes them: the node whose second part is still open,
    /// the loop, the register.
    turns: Vec<(u32, Loop, usize)>,
    /// With loops: reads of nodes, and nodes that leave the strand, until all parts are known.
    waiting: Vec<(u32, Option<Access>)>,
}

impl<'c> Finder<'c> {
    fn new(code: &'c Code<'c>, strands: &'c Strands) -> Self {
        let mut times = vec![0; strands.count as usize];
        let time = strands.of.iter().map(|&strand| {
            times[strand as usize] += 1;
            times[strand as usize] - 1
        });
        let mut finder = Self {
            code,
            strands,
            segments: Vec::new(),
            last_of: vec![0; code.graph.blocks.len()],
            time: time.collect(),
            nodes: Vec::new(),
            parent: Vec::new(),
            definitions: Vec::new(),
            reads: Vec::new(),
            old_reads: Vec::new(),
            turns: Vec::new(),
            waiting: Vec::new(),
        };
        finder.find_segments();
        finder
    }

    fn find_segments(&mut self) {
        for (number, block) in self.code.graph.blocks.iter().enumerate() {
            let first = self.segments.len();
            let mut live = self.code.live_out(number);
            let mut end = block.end;
            for pc in (block.start..block.end).rev() {
                self.code.step_back(pc, &mut live);
                if pc == block.start || self.strands.starts[pc].is_some() {
                    self.segments.push(Segment {
                        block: number,
                        start: pc,
                        end,
                        first: self.strands.starts[pc].is_some(),
                        dominator: 0,
                        depth: 0,
                        live: live.clone(),
                        end_state: Vec::new(),
                    });
                    end = pc;
                }
            }
            self.segments[first..].reverse();
            self.last_of[number] = self.segments.len() - 1;
        }
    }

    /// Segments of the same strand that control comes from but for the turns of loops.
    fn predecessors(&self, segment: usize) -> Vec<usize> {
        let this = &self.segments[segment];
        if this.first {
            return Vec::new();
        }
        let blocks = self.code.graph.blocks[this.block].predecessors.iter();
        let forward = blocks.filter(|&&block| block < this.block);
        forward.map(|&block| self.last_of[block]).collect()
    }

    fn walk(&mut self, segment: usize) {
        let predecessors = self.predecessors(segment);
        self.set_dominator(segment, &predecessors);
        let mut state = self.meet(segment, &predecessors);
        for pc in self.segments[segment].start..self.segments[segment].end {
            self.step(segment, pc, &mut state);
        }
        self.leave(segment, &state);
        self.segments[segment].end_state = state;
    }

    fn set_dominator(&mut self, segment: usize, predecessors: &[usize]) {
        let nearest = predecessors.iter().copied().reduce(|mut a, mut b| {
            while a != b {
                if self.segments[a].depth >= self.segments[b].depth {
                    a = self.segments[a].dominator;
                } else {
                    b = self.segments[b].dominator;
                }
            }
            a
        });
        let depth = nearest.map_or(0, |nearest| self.segments[nearest].depth + 1);
        self.segments[segment].dominator = nearest.unwrap_or(segment);
        self.segments[segment].depth = depth;
    }

    fn dominates(&self, above: usize, mut below: usize) -> bool {
        while self.segments[below].depth > self.segments[above].depth {
            below = self.segments[below].dominator;
        }
        below == above
    }

    /// What registers hold at the start of a segment.
    fn meet(&mut self, segment: usize, predecessors: &[usize]) -> Vec<u32> {
        let Some((&first, others)) = predecessors.split_first() else {
            return vec![LIVE_IN; usize::from(self.code.image.registers)];
        };
        let mut state = self.segments[first].end_state.clone();
        for (register, held) in state.iter_mut().enumerate() {
            if !has(&self.segments[segment].live, register) {
                *held = LIVE_IN;
                continue;
            }
            for &other in others {
                let value = self.segments[other].end_state[register];
                if value != *held {
                    *held = self.together(*held, value);
                }
            }
        }
        self.add_turns(segment, &mut state);
        state
    }

    /// At the head of a loop, the values that its iterations may leave in live registers.
    fn add_turns(&mut self, segment: usize, state: &mut [u32]) {
        let block = self.segments[segment].block;
        let code = self.code;
        for &one in self.strands.loops.iter().filter(|one| one.head == block) {
            let mut changed: Vec<u16> =
                one.instructions(code).flat_map(|pc| code.destinations(pc)).map(|r| r.0).collect();
            changed.sort_unstable();
            changed.dedup();
            for register in changed.into_iter().map(usize::from) {
                if has(&self.segments[segment].live, register) {
                    let held = self.together(state[register], LIVE_IN);
                    state[register] = held;
                    self.turns.push((held, one, register));
                }
            }
        }
    }

    /// Completes the values that iterations of loops leave, and handles the reads that waited for
    /// them.
    fn turn(&mut self) {
        for (node, one, register) in std::mem::take(&mut self.turns) {
            let state = &self.segments[self.last_of[one.latch]].end_state;
            self.nodes[node as usize].parts[1] = state[register];
        }
        if !self.strands.loops.is_empty() {
            self.find_old();
        }
        for (node, read) in std::mem::take(&mut self.waiting) {
            match read {
                Some(read) => self.read_of(node, read),
                None => self.need_in_main(node),
            }
        }
    }

    /// Finds the nodes that may hold a value from before the strand, where parts may be added
    /// later.
    fn find_old(&mut self) {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut work = Vec::new();
        for number in 0..self.nodes.len() {
            self.nodes[number].old = false;
            if self.definitions[number].is_some() {
                continue;
            }
            for part in self.nodes[number].parts {
                if part == LIVE_IN {
                    work.push(number as u32);
                } else {
                    users[part as usize].push(number as u32);
                }
            }
        }
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut self.nodes[node as usize].old, true) {
                work.extend(&users[node as usize]);
            }
        }
    }

    /// A read of a value that a strand may have written.
    fn read_of(&mut self, node: u32, access: Access) {
        if self.nodes[node as usize].old {
            self.need_in_main(node);
        } else {
            self.join(node);
            self.reads.push((node, access));
        }
    }

    fn node(&mut self, node: Node, definition: Option<Definition>) -> u32 {
        self.parent.push(self.nodes.len() as u32);
        self.nodes.push(node);
        self.definitions.push(definition);
        self.nodes.len() as u32 - 1
    }

    fn together(&mut self, a: u32, b: u32) -> u32 {
        let old = [a, b].iter().any(|&part| part == LIVE_IN || self.nodes[part as usize].old);
        self.node(Node { parts: [a, b], old, in_main: false, joined: false }, None)
    }

    fn step(&mut self, segment: usize, pc: usize, state: &mut [u32]) {
        let code = self.code;
        let shared = code.record(pc).unit.is_shared_datapath();
        let time = self.time[pc];
        let access = |slot: usize| Access {
            pc: pc as u32,
            slot: slot as u32,
            time,
            shared,
            operand: code.operand_of(slot),
        };
        for (index, register) in code.sources(pc).iter().enumerate() {
            let access = access(code.first_source(pc) + index);
            match state[usize::from(register.0)] {
                LIVE_IN => self.old_reads.push((segment, register.0, code.guarded[pc], access)),
                node if self.strands.loops.is_empty() => self.read_of(node, access),
                node => self.waiting.push((node, Some(access))),
            }
        }
        for (index, register) in code.destinations(pc).iter().enumerate() {
            let definition = Definition {
                access: access(code.first_destination(pc) + index),
                register: register.0,
                strand: self.strands.of[pc],
                long_latency: code.has(pc, Flags::LONG_LATENCY),
            };
            let none = Node { parts: [LIVE_IN; 2], old: false, in_main: false, joined: true };
            let new = self.node(none, Some(definition));
            let held = &mut state[usize::from(register.0)];
            *held = if code.guarded[pc] { self.together(new, *held) } else { new };
        }
    }

    /// What is live where control leaves the strand must be in the main register file.
    fn leave(&mut self, segment: usize, state: &[u32]) {
        let this = &self.segments[segment];
        let block = &self.code.graph.blocks[this.block];
        let mut live = vec![0; this.live.len()];
        let mut add = |next: &Segment| {
            if next.first {
                live.iter_mut().zip(&next.live).for_each(|(live, next)| *live |= next);
            }
        };
        if this.end < block.end {
            add(&self.segments[segment + 1]);
        } else {
            for &next in block.successors.iter().filter(|&&next| next != self.code.graph.exit()) {
                let first = next.checked_sub(1).map_or(0, |before| self.last_of[before] + 1);
                add(&self.segments[first]);
            }
        }
        for (register, &node) in state.iter().enumerate() {
            if node == LIVE_IN || !has(&live, register) {
                continue;
            }
            if self.strands.loops.is_empty() {
                self.need_in_main(node);
            } else {
                self.waiting.push((node, None));
            }
        }
    }

    fn need_in_main(&mut self, node: u32) {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            if node == LIVE_IN {
                continue;
            }
            let known = std::mem::replace(&mut self.nodes[node as usize].in_main, true);
            if !known && self.definitions[node as usize].is_none() {
                work.extend(self.nodes[node as usize].parts);
            }
        }
    }

    /// Makes all definitions in a node one value.
    fn join(&mut self, node: u32) {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut self.nodes[node as usize].joined, true) {
                for part in self.nodes[node as usize].parts {
                    let (a, b) = (self.find(node), self.find(part));
                    self.parent[a.max(b) as usize] = a.min(b);
                    work.push(part);
                }
            }
        }
    }

    /// A loop's time.
    fn times(&self, one: Loop) -> Range<u32> {
        let pcs = one.instructions(self.code);
        self.time[pcs.start]..self.time[pcs.end - 1] + 1
    }

    /// The loops of each strand.
    fn loops(&self) -> Vec<Rc<[Range<u32>]>> {
        let none: Rc<[Range<u32>]> = Rc::from([]);
        let mut all = vec![none; self.strands.count as usize];
        let strand = |one: &Loop| self.strands.of[one.instructions(self.code).start];
        // The loops of a strand lie side by side, as strands do.
        for group in self.strands.loops.chunk_by(|a, b| strand(a) == strand(b)) {
            let times: Rc<[_]> = group.iter().map(|&one| self.times(one)).collect();
            all[strand(&group[0]) as usize] = times;
        }
        all
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let above = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = above;
            node = above;
        }
        node
    }

    /// The values that strands write. Those of long-latency operations are not kept.
    fn written(&mut self) -> Vec<Candidate> {
        let mut place = vec![usize::MAX; self.nodes.len()];
        let mut kept: Vec<bool> = Vec::new();
        let mut found: Vec<Candidate> = Vec::new();
        let loops = self.loops();
        for node in 0..self.nodes.len() as u32 {
            let root = self.find(node) as usize;
            let Some(definition) = &self.definitions[node as usize] else { continue };
            if place[root] == usize::MAX {
                place[root] = found.len();
                kept.push(true);
                found.push(Candidate {
                    strand: definition.strand,
                    register: definition.register,
                    origin: Origin::Written,
                    writes: Vec::new(),
                    reads: Vec::new(),
                    main: false,
                    loops: Rc::clone(&loops[definition.strand as usize]),
                });
            }
            kept[place[root]] &= !definition.long_latency;
            let candidate = &mut found[place[root]];
            candidate.writes.push(definition.access);
            candidate.main |= self.nodes[node as usize].in_main;
        }
        for (node, access) in std::mem::take(&mut self.reads) {
            let root = self.find(node) as usize;
            found[place[root]].reads.push(access);
        }
        let mut kept = kept.into_iter();
        found.retain(|_| kept.next().unwrap_or(false));
        for candidate in &mut found {
            candidate.writes.sort_unstable_by_key(|access| access.slot);
            candidate.reads.sort_unstable_by_key(|access| access.slot);
        }
        found
    }

    /// The values that strands only read, from their first read that all lanes make on.
    fn read(&mut self) -> Vec<Candidate> {
        let mut reads = std::mem::take(&mut self.old_reads);
        let strand = |segment: usize| self.strands.of[self.segments[segment].start];
        reads.sort_by_cached_key(|&(segment, register, _, access)| {
            (strand(segment), register, access.slot)
        });
        let same = |a: &(usize, u16, bool, Access), b: &(usize, u16, bool, Access)| {
            strand(a.0) == strand(b.0) && a.1 == b.1
        };
        let mut found = Vec::new();
        let loops = self.loops();
        for group in reads.chunk_by(same) {
            let Some(first) = group.iter().position(|&(_, _, guarded, _)| !guarded) else {
                continue;
            };
            let (segment, register, _, write) = group[first];
            let later = group[first + 1..].iter().filter(|(later, _, _, access)| {
                access.time > write.time && self.dominates(segment, *later)
            });
            let reads: Vec<Access> = later.map(|&(_, _, _, access)| access).collect();
            if !reads.is_empty() {
                let (strand, origin) = (strand(segment), Origin::Read);
                found.push(Candidate {
                    strand,
                    register,
                    origin,
                    writes: vec![write],
                    reads,
                    main: true,
                    loops: Rc::clone(&loops[strand as usize]),
                });
            }
        }
        found
    }
}
