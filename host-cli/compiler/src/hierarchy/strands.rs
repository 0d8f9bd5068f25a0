//! Strands: the stretches of code within which values may stay above the main register file.
//!
//! A strand starts where the one before it ends: at an instruction that may wait for a long-latency
//! result, behind a barrier, at the target of a backward branch and behind one, and where it is not
//! certain what is pending (`[DISS]` 6.3, rule 17). Two more follow from SIMT execution:
//! where lanes may have waited while others were descheduled, and where paths of different strands
//! meet.
//!
//! Within a strand control only moves forwards, so that program order is a time that all paths
//! share.

use strata_core::image::Flags;

use super::code::Code;
use super::config::HierarchyConfig;
use super::loops::{self, Loop};
use super::start::Start;

/// The strands of a program, numbered in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strands {
    /// For each instruction, why a strand starts before it, if one does.
    pub starts: Vec<Option<Start>>,
    /// The strand of each instruction.
    pub of: Vec<u32>,
    /// Strands.
    pub count: u32,
    /// Loops that lie within a strand.
    pub(super) loops: Vec<Loop>,
}

impl Strands {
    /// Divides code into strands.
    pub(super) fn new(code: &Code<'_>, config: &HierarchyConfig) -> Self {
        let mut strands =
            Self { starts: vec![None; code.len()], of: Vec::new(), count: 0, loops: Vec::new() };
        strands.start(0, Start::Kernel);
        if !config.past_deschedules {
            strands.at_long_latencies_and_barriers(code);
        }
        if !config.past_backward_branches {
            strands.at_backward_branches(code, |_| false);
        }
        if !config.past_deschedules {
            strands.where_pending_is_uncertain(code);
            strands.where_lanes_waited(code);
        }
        if !config.forward_branches {
            for block in code.graph.blocks.iter().filter(|block| !block.continues) {
                strands.start(block.start, Start::Block);
            }
        }
        if config.past_backward_branches {
            strands.loops = loops::closed(code, &strands.starts);
            strands.keep_loops(code);
        } else {
            strands.number(code);
        }
        strands
    }

    /// Ends strands at the backward branches of all loops but those that can lie within one.
    fn keep_loops(&mut self, code: &Code<'_>) {
        let others = self.starts.clone();
        loop {
            let kept = std::mem::take(&mut self.loops);
            self.at_backward_branches(code, |one| kept.binary_search(one).is_ok());
            self.number(code);
            // A start that this made may lie within another loop.
            let one = |inside: &&Loop| {
                let pcs = inside.instructions(code);
                let strand = self.of[pcs.start];
                self.starts[pcs.clone()].iter().all(Option::is_none)
                    && self.of[pcs].iter().all(|&other| other == strand)
            };
            self.loops = kept.iter().filter(one).copied().collect();
            if self.loops.len() == kept.len() {
                return;
            }
            self.starts.clone_from(&others);
        }
    }

    /// For each instruction, whether a warp that comes to it is in no strand any more: a strand
    /// starts there, and lanes that may wait meanwhile go on with a strand of their own.
    ///
    /// `code` is what was divided.
    pub fn leaves_all(&self, code: &Code<'_>) -> Vec<bool> {
        let mut leaves = vec![false; code.len()];
        for (number, block) in code.graph.blocks.iter().enumerate() {
            let starts =
                |&place: &u32| self.starts[code.graph.blocks[place as usize].start].is_some();
            if code.divergence.waiting[number].iter().all(starts) {
                let starts = self.starts[block.start..block.end].iter();
                for (leaves, start) in leaves[block.start..block.end].iter_mut().zip(starts) {
                    *leaves = start.is_some();
                }
            }
        }
        leaves
    }

    /// The first reason found stays.
    fn start(&mut self, pc: usize, why: Start) {
        if let Some(start) = self.starts.get_mut(pc) {
            start.get_or_insert(why);
        }
    }

    fn at_long_latencies_and_barriers(&mut self, code: &Code<'_>) {
        for pc in 0..code.len() {
            if code.has(pc, Flags::DESCHEDULE_BEFORE) {
                self.start(pc, Start::LongLatency);
            }
            if code.has(pc, Flags::BARRIER) {
                self.start(pc + 1, Start::Barrier);
            }
        }
    }

    /// At backward branches but those of loops that are kept whole.
    fn at_backward_branches(&mut self, code: &Code<'_>, kept: impl Fn(&Loop) -> bool) {
        for (number, block) in code.graph.blocks.iter().enumerate() {
            let back = block.successors.iter().copied().filter(|&next| next <= number);
            for next in back.filter(|&next| !kept(&Loop { head: next, latch: number })) {
                self.start(block.end, Start::BackwardBranch);
                self.start(code.graph.blocks[next].start, Start::BackwardBranch);
            }
        }
    }

    fn where_pending_is_uncertain(&mut self, code: &Code<'_>) {
        let words = usize::from(code.image.registers).div_ceil(64);
        let blocks = &code.graph.blocks;
        let mut ends: Vec<Vec<u64>> = vec![vec![0; words]; blocks.len()];
        let mut work: Vec<usize> = (0..blocks.len()).rev().collect();
        let mut queued = vec![true; blocks.len()];
        while let Some(block) = work.pop() {
            queued[block] = false;
            let mut pending = vec![0; words];
            for &before in &blocks[block].predecessors {
                pending.iter_mut().zip(&ends[before]).for_each(|(to, from)| *to |= from);
            }
            (blocks[block].start..blocks[block].end)
                .for_each(|pc| step_pending(code, pc, &mut pending));
            if pending == ends[block] {
                continue;
            }
            ends[block] = pending;
            for &next in blocks[block].successors.iter().filter(|&&n| n != code.graph.exit()) {
                if !std::mem::replace(&mut queued[next], true) {
                    work.push(next);
                }
            }
        }
        for (number, block) in blocks.iter().enumerate() {
            let Some((&first, others)) = block.predecessors.split_first() else { continue };
            let live = code.live_in.row(number);
            let differs = |other: &usize| {
                let words = ends[first].iter().zip(&ends[*other]).zip(live);
                words.into_iter().any(|((a, b), live)| (a ^ b) & live != 0)
            };
            if others.iter().any(differs) {
                self.start(block.start, Start::Uncertain);
            }
        }
    }

    /// A deschedule empties the upper levels for the lanes that wait elsewhere as well.
    fn where_lanes_waited(&mut self, code: &Code<'_>) {
        for (number, block) in code.graph.blocks.iter().enumerate() {
            let stops = (block.start..block.end).any(|pc| {
                code.record(pc).flags.intersects(Flags::DESCHEDULE_BEFORE | Flags::BARRIER)
            });
            if stops {
                for &place in &code.divergence.waiting[number] {
                    self.start(code.graph.blocks[place as usize].start, Start::Waited);
                }
            }
        }
    }

    /// Numbers the strands. A block at which none starts has predecessors before it; others lead
    /// there from within a loop that is kept whole.
    fn number(&mut self, code: &Code<'_>) {
        self.of = vec![0; code.len()];
        self.count = 0;
        for (number, block) in code.graph.blocks.iter().enumerate() {
            let forward = block.predecessors.iter().filter(|&&before| before < number);
            let mut before = forward.map(|&b| self.of[code.graph.blocks[b].end - 1]);
            let mut strand = None;
            if self.starts[block.start].is_none() {
                strand = before.next();
                if before.any(|other| Some(other) != strand) {
                    self.starts[block.start] = Some(Start::Meeting);
                }
            }
            for pc in block.start..block.end {
                if self.starts[pc].is_some() || strand.is_none() {
                    strand = Some(self.count);
                    self.count += 1;
                }
                self.of[pc] = strand.unwrap_or_default();
            }
        }
    }
}

/// Moves a set of registers whose long-latency result may be pending over an instruction.
fn step_pending(code: &Code<'_>, pc: usize, pending: &mut [u64]) {
    if code.has(pc, Flags::DESCHEDULE_BEFORE) || code.has(pc, Flags::BARRIER) {
        pending.fill(0);
    }
    for register in code.destinations(pc) {
        let (word, bit) = (usize::from(register.0) / 64, 1 << (register.0 % 64));
        if code.has(pc, Flags::LONG_LATENCY) {
            pending[word] |= bit;
        } else if !code.guarded[pc] {
            pending[word] &= !bit;
        }
    }
}
