//! The close order: consumers move closer to their producers, within a basic block (`[DISS]`
//! 6.6.3).
//!
//! Runs on virtual registers, before allocation. A block is cut where a strand will start: before
//! an instruction that may wait for a long-latency result, and behind a barrier. A long-latency
//! operation is never delayed by what comes after it. Of the instructions that could come next the
//! one whose operand was made last does, else the first. A piece whose registers would grow in
//! number stays as it was.

use std::collections::{BinaryHeap, HashSet};

use fixedbitset::FixedBitSet;
use strata_ptx::module::VirtualRegister;

use super::dependences::{Dependences, Edge};
use crate::cfg::Graph;
use crate::classify;
use crate::flow::{Flow, flow};
use crate::kernel::Kernel;
use crate::limits::TooLarge;
use crate::operands::{definitions, uses};
use crate::values::VirtualLiveness;

/// The numbers of the instructions of a kernel in their new order.
pub(super) fn order(kernel: &Kernel) -> Result<Vec<usize>, TooLarge> {
    let graph = Graph::basic(kernel)?;
    let liveness = VirtualLiveness::new(kernel, &graph)?;
    let long = long_latency_registers(kernel);
    let mut order: Vec<usize> = Vec::with_capacity(kernel.instructions.len());
    for block in &graph.blocks {
        let mut live = Live::new(kernel);
        for &next in block.successors.iter().filter(|&&next| next != graph.exit()) {
            liveness.live_in(next).for_each(|register| live.insert(VirtualRegister(register)));
        }
        let mut pieces = Vec::new();
        for piece in cut(kernel, block.start, block.end, &long).into_iter().rev() {
            let piece: Vec<usize> = piece.collect();
            let new = reorder(kernel, &piece);
            let mut unmoved = live.clone();
            let (before, after) = (unmoved.step_back(&piece), live.step_back(&new));
            pieces.push(if after <= before { new } else { piece });
        }
        order.extend(pieces.into_iter().rev().flatten());
    }
    Ok(order)
}

/// Registers that some long-latency operation writes.
fn long_latency_registers(kernel: &Kernel) -> Vec<bool> {
    let mut long = vec![false; kernel.registers.len()];
    for instruction in kernel.instructions.iter().filter(|i| classify::is_long_latency(i)) {
        definitions(instruction, |register| long[register.index()] = true);
    }
    long
}

/// Cuts a block into the pieces within which instructions may move.
fn cut(kernel: &Kernel, start: usize, end: usize, long: &[bool]) -> Vec<std::ops::Range<usize>> {
    let mut pieces = Vec::new();
    let mut first = start;
    // Registers that hold something else by now.
    let mut settled: HashSet<VirtualRegister> = HashSet::new();
    for pc in start..end {
        let instruction = &kernel.instructions[pc];
        let mut waits = false;
        uses(instruction, |register| {
            waits |= long[register.index()] && !settled.contains(&register);
        });
        let leaves = flow(instruction) != Flow::Next;
        if (waits || leaves) && first < pc {
            pieces.push(first..pc);
            first = pc;
        }
        let is_long = classify::is_long_latency(instruction);
        definitions(instruction, |register| {
            if is_long || instruction.guard.is_some() {
                settled.remove(&register);
            } else {
                settled.insert(register);
            }
        });
        if classify::is_barrier(instruction) {
            pieces.push(first..pc + 1);
            first = pc + 1;
        }
    }
    if first < end {
        pieces.push(first..end);
    }
    pieces
}

/// The instructions of a piece in their new order.
fn reorder(kernel: &Kernel, piece: &[usize]) -> Vec<usize> {
    let graph = Dependences::new(kernel, piece, None);
    let long: Vec<usize> = (0..piece.len())
        .filter(|&index| classify::is_long_latency(&kernel.instructions[piece[index]]))
        .collect();
    let mut fences = long.into_iter().peekable();
    let mut waiting = graph.before.clone();
    // Position in the new order of the operand that each instruction's producers made last.
    let mut latest = vec![0; piece.len()];
    let mut placed = vec![false; piece.len()];
    let mut ready = BinaryHeap::new();
    let mut beyond = Vec::new();
    let rank = |latest: usize, index: usize| (latest, std::cmp::Reverse(index));
    for index in (0..piece.len()).filter(|&index| graph.before[index] == 0) {
        beyond.push(index);
    }
    let mut order = Vec::with_capacity(piece.len());
    while order.len() < piece.len() {
        while fences.peek().is_some_and(|&fence| placed[fence]) {
            fences.next();
        }
        // Nothing overtakes the next long-latency operation.
        let limit = fences.peek().copied().unwrap_or(piece.len());
        beyond.retain(|&index| {
            let able = index <= limit;
            if able {
                ready.push(rank(latest[index], index));
            }
            !able
        });
        let Some((_, std::cmp::Reverse(index))) = ready.pop() else { break };
        placed[index] = true;
        order.push(piece[index]);
        for &(next, edge) in &graph.after[index] {
            if edge == Edge::Data {
                latest[next] = order.len();
            }
            waiting[next] -= 1;
            if waiting[next] == 0 {
                beyond.push(next);
            }
        }
    }
    debug_assert_eq!(order.len(), piece.len());
    order
}

/// Registers live at some place.
#[derive(Clone)]
struct Live<'k> {
    kernel: &'k Kernel,
    registers: FixedBitSet,
    /// 32-bit registers that they take.
    slots: u32,
}

impl<'k> Live<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        Self { kernel, registers: FixedBitSet::with_capacity(kernel.registers.len()), slots: 0 }
    }

    fn slots(&self, register: VirtualRegister) -> u32 {
        self.kernel.registers[register.index()].ty.register_slots()
    }

    fn insert(&mut self, register: VirtualRegister) {
        if !self.registers.put(register.index()) {
            self.slots += self.slots(register);
        }
    }

    fn remove(&mut self, register: VirtualRegister) {
        if self.registers.contains(register.index()) {
            self.registers.remove(register.index());
            self.slots -= self.slots(register);
        }
    }

    /// Moves from behind a piece to before it. Returns the most registers live at once within.
    fn step_back(&mut self, piece: &[usize]) -> u32 {
        let mut most = self.slots;
        for &pc in piece.iter().rev() {
            let instruction = &self.kernel.instructions[pc];
            definitions(instruction, |register| self.insert(register));
            most = most.max(self.slots);
            if instruction.guard.is_none() {
                definitions(instruction, |register| self.remove(register));
            }
            uses(instruction, |register| self.insert(register));
            most = most.max(self.slots);
        }
        most
    }
}

#[cfg(test)]
mod tests;
