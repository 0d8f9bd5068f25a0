//! Live intervals of webs under SIMT order.
//!
//! Instruction `pc` reads at position `2 * pc` and writes at `2 * pc + 1`. A web occupies its
//! register at a position when some lane may still read a value of it that some lane may have
//! written: by its own path, or because lanes that wait elsewhere need it (rule 10).

use crate::cfg::Graph;
use crate::divergence::Divergence;
use crate::operands::{definitions, uses};
use crate::values::Values;

/// A half-open range of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The intervals of every web, ascending and disjoint, at least one each.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    pub(crate) of: Vec<Vec<Interval>>,
}

const CLOSED: u32 = 0;

/// Scratch of the walk through one block, from its end to its start.
struct Walk {
    /// End of the interval that is open, or `CLOSED`.
    end: Vec<u32>,
    /// Webs whose interval is or was open in this block.
    touched: Vec<u32>,
    /// Earliest definition seen so far of a web whose interval is open.
    definition: Vec<u32>,
    /// Finished pieces, last first.
    pieces: Vec<(u32, Interval)>,
    /// Blocks (plus one) whose waiting lanes need the web throughout.
    held: Vec<u32>,
    /// A place where the web is read, in case nothing defines it.
    read: Vec<u32>,
}

impl Intervals {
    /// Computes the intervals.
    pub(crate) fn new(graph: &Graph, divergence: &Divergence, values: &Values) -> Self {
        let count = values.webs.len();
        let mut of: Vec<Vec<Interval>> = vec![Vec::new(); count];
        let mut walk = Walk {
            end: vec![CLOSED; count],
            touched: Vec::new(),
            definition: vec![u32::MAX; count],
            pieces: Vec::new(),
            held: vec![0; count],
            read: vec![0; count],
        };
        for block in 0..graph.blocks.len() {
            walk.hold(graph, divergence, values, block, &mut of);
            walk.block(graph, values, block);
            for (web, piece) in walk.pieces.drain(..).rev() {
                append(&mut of[web as usize], piece);
            }
        }
        for (web, intervals) in of.iter_mut().enumerate() {
            if intervals.is_empty() {
                let start = walk.read[web];
                intervals.push(Interval { start, end: start + 1 });
            }
        }
        Self { of }
    }
}

/// Appends a piece that does not begin before the last one ends.
fn append(intervals: &mut Vec<Interval>, piece: Interval) {
    match intervals.last_mut() {
        Some(last) if last.end >= piece.start => last.end = last.end.max(piece.end),
        _ => intervals.push(piece),
    }
}

impl Walk {
    /// Webs that waiting lanes need occupy the whole block.
    fn hold(
        &mut self,
        graph: &Graph,
        divergence: &Divergence,
        values: &Values,
        number: usize,
        of: &mut [Vec<Interval>],
    ) {
        let block = &graph.blocks[number];
        let whole = Interval { start: 2 * block.start as u32, end: 2 * block.end as u32 };
        for &place in &divergence.keeping[number] {
            for live in values.live_in[place as usize].iter().filter(|live| live.defined) {
                let held = &mut self.held[live.web as usize];
                if *held != number as u32 + 1 {
                    *held = number as u32 + 1;
                    append(&mut of[live.web as usize], whole);
                }
            }
        }
    }

    fn block(&mut self, graph: &Graph, values: &Values, number: usize) {
        let block = &graph.blocks[number];
        let held_mark = number as u32 + 1;
        for web in values.live_out(graph, number) {
            self.open(web, 2 * block.end as u32);
        }
        for pc in (block.start..block.end).rev() {
            let instruction = &values.instructions[pc];
            let written = 2 * pc as u32 + 1;
            definitions(instruction, |web| {
                self.define(web.0, written, instruction.guard.is_some());
            });
            uses(instruction, |web| {
                self.read[web.index()] = 2 * pc as u32;
                self.open(web.0, 2 * pc as u32 + 1);
            });
        }
        for live in &values.live_in[number] {
            let end = self.end[live.web as usize];
            let start = if live.defined {
                2 * block.start as u32
            } else {
                self.definition[live.web as usize]
            };
            if start < end {
                self.pieces.push((live.web, Interval { start, end }));
            }
        }
        for web in self.touched.drain(..) {
            self.end[web as usize] = CLOSED;
            self.definition[web as usize] = u32::MAX;
        }
        let held = &self.held;
        self.pieces.retain(|(web, _)| held[*web as usize] != held_mark);
    }

    fn open(&mut self, web: u32, end: u32) {
        if self.end[web as usize] == CLOSED {
            self.end[web as usize] = end;
            self.touched.push(web);
        }
    }

    fn define(&mut self, web: u32, written: u32, guarded: bool) {
        let end = self.end[web as usize];
        if end == CLOSED {
            let piece = Interval { start: written, end: written + 1 };
            self.pieces.push((web, piece));
        } else if guarded {
            self.definition[web as usize] = written;
        } else {
            self.pieces.push((web, Interval { start: written, end }));
            self.end[web as usize] = CLOSED;
            self.definition[web as usize] = u32::MAX;
        }
    }
}
