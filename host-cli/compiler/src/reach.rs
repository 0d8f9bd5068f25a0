//! Which values a unit of the shared datapath may read (rule 24): those units do not reach the last
//! result file.
//!
//! A backward flow of webs along each thread's own path. Lanes that wait need no care: the last
//! result file knows whose lanes it holds, and a lane reads what that lane wrote last.

use strata_core::image::StaticInstruction;
use strata_ptx::module::VirtualRegister;

use crate::cfg::Graph;
use crate::operands::{definitions, registers_of};
use crate::values::{Values, backward_flow};

/// For each block, one flag for each web of `Values::live_in`: a shared unit reads it on some path
/// from the block's start, before an instruction defines it again in all lanes.
#[derive(Clone, Debug)]
pub(crate) struct SharedReads {
    pub(crate) of: Vec<Vec<bool>>,
}

impl SharedReads {
    /// Computes the flags from the units of the records.
    pub(crate) fn new(graph: &Graph, values: &Values, records: &[StaticInstruction]) -> Self {
        let mut killed: Vec<Vec<u32>> = vec![Vec::new(); graph.blocks.len()];
        let mut killed_in = vec![usize::MAX; values.webs.len()];
        let mut work: Vec<(usize, u32)> = Vec::new();
        for (number, block) in graph.blocks.iter().enumerate() {
            let range = block.start..block.end;
            for (instruction, record) in
                values.instructions[range.clone()].iter().zip(&records[range])
            {
                if record.unit.is_shared_datapath() {
                    for operand in &instruction.sources {
                        registers_of(operand, &mut |web: VirtualRegister| {
                            if killed_in[web.index()] != number {
                                work.push((number, web.0));
                            }
                        });
                    }
                }
                if instruction.guard.is_none() {
                    definitions(instruction, |web| {
                        if values.live_in_index(number, web.0).is_some() {
                            killed[number].push(web.0);
                        }
                        killed_in[web.index()] = number;
                    });
                }
            }
            killed[number].sort_unstable();
        }
        let of = backward_flow(graph, values, work, |block, web| {
            killed[block].binary_search(&web).is_err()
        });
        Self { of }
    }
}
