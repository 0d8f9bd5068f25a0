//! List scheduling: instructions in the order in which a machine's final compiler might put them.
//!
//! PTX comes in the order of the source: a load stands right before its reader. The final compiler,
//! whose method no source describes, moves loads up and interleaves what does not depend on each
//! other. Here each block, cut at barriers, is ordered by the latencies of `[RFC2011]` Table 4
//! ([`Timing::ISCA11`]), whatever design runs it: one instruction a cycle, of those whose operands
//! are there the one with the longest chain of dependents. It is no model of a real compiler:
//! nothing crosses a block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use strata_core::image::{MemorySpace, Unit};
use strata_core::sm::config::Timing;
use strata_ptx::module::Instruction;

use super::dependences::{Dependences, Edge};
use crate::cfg::Graph;
use crate::classify;
use crate::flow::{Flow, flow};
use crate::kernel::Kernel;
use crate::program::Location;

/// The numbers of the instructions of a kernel, whose blocks are `graph`'s, in their new order.
/// `places`: where each register is; otherwise each has a place of its own. Cost: linear in the
/// instructions and dependences but for a logarithm.
pub(super) fn order(kernel: &Kernel, graph: &Graph, places: Option<&[Location]>) -> Vec<usize> {
    let instructions = &kernel.instructions;
    let mut order = Vec::with_capacity(instructions.len());
    for (number, block) in graph.blocks.iter().enumerate() {
        // Lanes wait behind its last instruction.
        let waits = graph.blocks.get(number + 1).is_some_and(|next| next.continues);
        let stays = |&pc: &usize| {
            flow(&instructions[pc]) != Flow::Next
                || classify::is_barrier(&instructions[pc])
                || waits && pc + 1 == block.end
        };
        let mut start = block.start;
        for fixed in (block.start..block.end).filter(stays).chain([block.end]) {
            let piece: Vec<usize> = (start..fixed).collect();
            order.extend(schedule(kernel, &piece, places));
            order.extend((fixed < block.end).then_some(fixed));
            start = fixed + 1;
        }
    }
    order
}

/// A piece in its new order.
fn schedule(kernel: &Kernel, piece: &[usize], places: Option<&[Location]>) -> Vec<usize> {
    let Dependences { after, before: mut waits } = Dependences::new(kernel, piece, places);
    let cycles_of = |&pc: &usize| u64::from(latency(&kernel.instructions[pc], &Timing::ISCA11));
    let latencies: Vec<u64> = piece.iter().map(cycles_of).collect();
    let cycles = |from: usize, edge: Edge| match edge {
        Edge::Data | Edge::Output => latencies[from],
        Edge::Order => 1,
    };
    let mut chains = vec![0_u64; piece.len()];
    for index in (0..piece.len()).rev() {
        let longest = after[index].iter().map(|&(to, edge)| chains[to] + cycles(index, edge)).max();
        chains[index] = longest.unwrap_or(0);
    }
    let mut earliest = vec![0_u64; piece.len()];
    // By the cycle in which their operands are there; and those whose operands are there.
    let mut coming: BinaryHeap<Reverse<(u64, usize)>> =
        (0..piece.len()).filter(|&index| waits[index] == 0).map(|i| Reverse((0, i))).collect();
    let mut ready = BinaryHeap::new();
    let mut order = Vec::with_capacity(piece.len());
    let mut now = 0;
    while order.len() < piece.len() {
        if ready.is_empty()
            && let Some(&Reverse((cycle, _))) = coming.peek()
        {
            now = now.max(cycle);
        }
        while let Some(&Reverse((cycle, index))) = coming.peek()
            && cycle <= now
        {
            coming.pop();
            ready.push((chains[index], Reverse(index)));
        }
        let Some((_, Reverse(index))) = ready.pop() else { break };
        order.push(piece[index]);
        for &(to, edge) in &after[index] {
            earliest[to] = earliest[to].max(now + cycles(index, edge));
            waits[to] -= 1;
            if waits[to] == 0 {
                coming.push(Reverse((earliest[to], to)));
            }
        }
        now += 1;
    }
    debug_assert_eq!(order.len(), piece.len());
    order
}

fn latency(instruction: &Instruction, timing: &Timing) -> u16 {
    match (classify::unit(instruction), classify::memory_space(instruction)) {
        (Unit::Alu | Unit::Control, _) => timing.alu_latency,
        (Unit::DoublePrecision, _) => timing.double_latency,
        (Unit::Sfu, _) => timing.special_function_latency,
        (Unit::Texture, _) => timing.texture_latency,
        (Unit::Memory, Some(MemorySpace::Shared)) => timing.shared_latency,
        (Unit::Memory, Some(MemorySpace::Constant)) => timing.constant_latency,
        (Unit::Memory, _) => timing.dram_latency,
    }
}
