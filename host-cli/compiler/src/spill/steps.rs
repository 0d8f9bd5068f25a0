//! What each instruction reads and writes, in general registers, and how far away the next read of
//! each value is.
//!
//! Distances are instructions along the shortest path, plus [`EXIT`] for every loop left on the
//! way: what is read behind a loop is farther than all that is read in it.

use crate::cfg::Graph;
use crate::kernel::Kernel;
use crate::loops::Loops;
use crate::operands::{definitions, uses};
use crate::values::Values;

/// Added for a loop left on the way.
pub(super) const EXIT: u32 = 1 << 21;
/// Read, but farther than counts.
const FAR: u32 = u32::MAX - 1;
/// Not read again.
pub(super) const DEAD: u32 = u32::MAX;

/// One value that an instruction reads or writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) web: u32,
    /// Where it is read next: an instruction of the block, or the block's end plus a distance, or
    /// [`DEAD`].
    pub(super) next: u32,
}

/// The general registers of one instruction, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// Values that have to be in registers: sources, and those that a guarded result leaves in
    /// other lanes.
    pub(super) reads: Vec<Touch>,
    pub(super) writes: Vec<Touch>,
}

/// All instructions, and the distances at the starts of blocks.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) of: Vec<Step>,
    /// For each block, in the order of its `live_in`: from its first instruction.
    pub(super) distance: Vec<Vec<u32>>,
    /// 32-bit registers of each web; 0 for predicates.
    pub(super) slots: Vec<u32>,
}

impl Steps {
    pub(super) fn new(kernel: &Kernel, graph: &Graph, values: &Values, loops: &Loops) -> Self {
        let slots: Vec<u32> = values.webs.iter().map(|web| web.ty.register_slots()).collect();
        let mut steps = Self { of: Vec::new(), distance: Vec::new(), slots };
        steps.distance = distances(graph, values, loops);
        steps.of = vec![Step::default(); kernel.instructions.len()];
        let mut next = vec![DEAD; values.webs.len()];
        for block in 0..graph.blocks.len() {
            steps.walk(graph, values, loops, block, &mut next);
        }
        steps
    }

    /// Distance of a web from behind a block's last instruction.
    pub(super) fn behind(
        &self,
        graph: &Graph,
        values: &Values,
        loops: &Loops,
        block: usize,
        web: u32,
    ) -> u32 {
        let mut least = DEAD;
        for &next in graph.blocks[block].successors.iter().filter(|&&next| next != graph.exit()) {
            if let Some(index) = values.live_in_index(next, web) {
                let left = loops.depth[block].saturating_sub(loops.depth[next]);
                let distance = self.distance[next][index].saturating_add(left * EXIT);
                least = least.min(distance.min(FAR));
            }
        }
        least
    }

    /// Fills in the steps of a block, from its last instruction to its first. `next` is all
    /// [`DEAD`], before and after.
    fn walk(
        &mut self,
        graph: &Graph,
        values: &Values,
        loops: &Loops,
        number: usize,
        next: &mut [u32],
    ) {
        let block = &graph.blocks[number];
        let mut touched: Vec<u32> = values.live_out(graph, number).collect();
        for &web in &touched {
            let distance = self.behind(graph, values, loops, number, web);
            next[web as usize] = (block.end as u32).saturating_add(distance).min(FAR);
        }
        for pc in (block.start..block.end).rev() {
            let instruction = &values.instructions[pc];
            let mut step = Step::default();
            let slots = &self.slots;
            let push = |list: &mut Vec<Touch>, web: u32, next: u32| {
                if slots[web as usize] > 0 && !list.iter().any(|touch| touch.web == web) {
                    list.push(Touch { web, next });
                }
            };
            definitions(instruction, |web| {
                push(&mut step.writes, web.0, next[web.index()]);
            });
            for write in &step.writes {
                if instruction.guard.is_none() {
                    next[write.web as usize] = DEAD;
                } else if write.next != DEAD {
                    push(&mut step.reads, write.web, write.next);
                }
                touched.push(write.web);
            }
            uses(instruction, |web| push(&mut step.reads, web.0, next[web.index()]));
            for read in &step.reads {
                next[read.web as usize] = pc as u32;
                touched.push(read.web);
            }
            self.of[pc] = step;
        }
        for web in touched {
            next[web as usize] = DEAD;
        }
    }
}

/// For each block, in the order of its `live_in`: the distance from its first instruction.
fn distances(graph: &Graph, values: &Values, loops: &Loops) -> Vec<Vec<u32>> {
    let first = first_reads(graph, values);
    let distance = values.live_in.iter().map(|live| vec![FAR; live.len()]).collect();
    let mut found = Steps { of: Vec::new(), distance, slots: Vec::new() };
    let mut queued = vec![true; graph.blocks.len()];
    let mut work: Vec<usize> = loops.order.clone();
    while let Some(block) = work.pop() {
        queued[block] = false;
        let length = (graph.blocks[block].end - graph.blocks[block].start) as u32;
        let mut changed = false;
        for (index, live) in values.live_in[block].iter().enumerate() {
            let distance = first[block][index].unwrap_or_else(|| {
                let behind = found.behind(graph, values, loops, block, live.web);
                behind.saturating_add(length).min(FAR)
            });
            if distance < found.distance[block][index] {
                found.distance[block][index] = distance;
                changed = true;
            }
        }
        for &before in graph.blocks[block].predecessors.iter().filter(|_| changed) {
            if !std::mem::replace(&mut queued[before], true) {
                work.push(before);
            }
        }
    }
    found.distance
}

/// For each block and web live at its start: the distance of the first instruction of the block
/// that reads it, or that writes it under a guard.
fn first_reads(graph: &Graph, values: &Values) -> Vec<Vec<Option<u32>>> {
    let mut first = vec![u32::MAX; values.webs.len()];
    let mut all = Vec::with_capacity(graph.blocks.len());
    for (block, live) in graph.blocks.iter().zip(&values.live_in) {
        for pc in (block.start..block.end).rev() {
            let instruction = &values.instructions[pc];
            let distance = (pc - block.start) as u32;
            definitions(instruction, |web| first[web.index()] = distance);
            uses(instruction, |web| first[web.index()] = distance);
        }
        let found = |live: &crate::values::LiveIn| Some(first[live.web as usize]);
        all.push(live.iter().map(|live| found(live).filter(|&at| at != u32::MAX)).collect());
        for pc in block.start..block.end {
            let instruction = &values.instructions[pc];
            definitions(instruction, |web| first[web.index()] = u32::MAX);
            uses(instruction, |web| first[web.index()] = u32::MAX);
        }
    }
    all
}
