//! Which values are read before the warp's next possible deschedule.
//!
//! A warp may be descheduled before an instruction that carries the mark (what the instruction
//! reads is then read after the deschedule) and at a barrier (what the barrier reads is read
//! before).

use strata_core::image::{Flags, StaticInstruction};

use crate::cfg::Graph;
use crate::operands::{definitions, uses};
use crate::values::{Values, backward_flow};

/// For each block, one flag for each web of `Values::live_in`: some path from the block's start
/// reads it before the next possible deschedule.
#[derive(Clone, Debug)]
pub(crate) struct Nearness {
    pub(crate) of: Vec<Vec<bool>>,
}

impl Nearness {
    /// Computes the flags from the marks.
    pub(crate) fn new(graph: &Graph, values: &Values, records: &[StaticInstruction]) -> Self {
        let mut passes = vec![true; graph.blocks.len()];
        let mut killed: Vec<Vec<u32>> = vec![Vec::new(); graph.blocks.len()];
        let mut killed_in = vec![usize::MAX; values.webs.len()];
        let mut work: Vec<(usize, u32)> = Vec::new();
        for (number, block) in graph.blocks.iter().enumerate() {
            let range = block.start..block.end;
            for (instruction, record) in
                values.instructions[range.clone()].iter().zip(&records[range])
            {
                if record.flags.contains(Flags::DESCHEDULE_BEFORE) {
                    passes[number] = false;
                }
                if passes[number] {
                    uses(instruction, |web| {
                        if killed_in[web.index()] != number {
                            work.push((number, web.0));
                        }
                    });
                }
                if record.flags.contains(Flags::BARRIER) {
                    passes[number] = false;
                }
                if passes[number] && instruction.guard.is_none() {
                    definitions(instruction, |web| {
                        if values.live_in_index(number, web.0).is_some() {
                            killed_in[web.index()] = number;
                            killed[number].push(web.0);
                        }
                    });
                }
            }
            killed[number].sort_unstable();
        }
        let of = backward_flow(graph, values, work, |block, web| {
            passes[block] && killed[block].binary_search(&web).is_err()
        });
        Self { of }
    }
}
