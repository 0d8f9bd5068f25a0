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

/// Why a strand starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// The kernel does.
    Kernel,
    /// The instruction may read a pending long-latency result.
    LongLatency,
    /// The instruction before is a barrier.
    Barrier,
    /// A backward branch leads here, or has just not been taken.
    BackwardBranch,
    /// Paths meet on which different long-latency results are pending.
    Uncertain,
    /// Lanes may have waited here while others of their warp were descheduled.
    Waited,
    /// Paths of different strands meet.
    Meeting,
    /// A basic block starts, and values are kept within basic blocks.
    Block,
}

/// The strands of a program, numbered in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strands {
    /// For each instruction, why a strand starts before it, if one does.
    pub starts: Vec<Option<Start>>,
    /// The strand of each instruction.
    pub of: Vec<u32>,
    /// Strands.
    pub count: u32,
}

impl Strands {
    /// Divides code into strands. Without `forward_branches` every basic block starts one; with
    /// `past_deschedules` no strand starts because of a deschedule.
    pub(super) fn new(code: &Code<'_>, forward_branches: bool, past_deschedules: bool) -> Self {
        let mut strands = Self { starts: vec![None; code.len()], of: Vec::new(), count: 0 };
        strands.start(0, Start::Kernel);
        if !past_deschedules {
            strands.at_long_latencies_and_barriers(code);
        }
        strands.at_backward_branches(code);
        if !past_deschedules {
            strands.where_pending_is_uncertain(code);
            strands.where_lanes_waited(code);
        }
        if !forward_branches {
            for block in &code.graph.blocks {
                strands.start(block.start, Start::Block);
            }
        }
        strands.number(code);
        strands
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

    fn at_backward_branches(&mut self, code: &Code<'_>) {
        for (number, block) in code.graph.blocks.iter().enumerate() {
            let real = block.successors.iter().copied().filter(|&next| next != code.graph.exit());
            if real.clone().any(|next| next <= number) {
                self.start(block.end, Start::BackwardBranch);
            }
            for next in real.filter(|&next| next <= number) {
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

    /// Numbers the strands. All predecessors of a block that no backward branch leads to come
    /// before it.
    fn number(&mut self, code: &Code<'_>) {
        self.of = vec![0; code.len()];
        for block in &code.graph.blocks {
            let mut before =
                block.predecessors.iter().map(|&b| self.of[code.graph.blocks[b].end - 1]);
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
