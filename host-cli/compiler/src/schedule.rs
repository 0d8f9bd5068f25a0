//! Instruction scheduling for the register hierarchy: consumers move closer to their producers,
//! within a basic block (`[DISS]` 6.6.3).
//!
//! Runs on virtual registers, before allocation. A block is cut where a strand will start: before
//! an instruction that may wait for a long-latency result, and behind a barrier. Within a piece,
//! what depends on each other keeps its order, as do memory accesses, lane exchanges and whatever
//! else acts beyond its registers; a long-latency operation is never delayed by what comes after
//! it. Of the instructions that could come next the one whose operand was made last does, else the
//! first. A piece whose registers would grow in number stays as it was.

use std::collections::{BinaryHeap, HashMap, HashSet};

use fixedbitset::FixedBitSet;
use strata_ptx::module::{Instruction, Operand, RegisterId, SpecialRegister};
use strata_ptx::opcode::Opcode;

use crate::cfg::Graph;
use crate::classify;
use crate::kernel::{Flow, Kernel, flow};
use crate::limits::Limit;
use crate::operands::{definitions, uses};
use crate::values::VirtualLiveness;

/// Reorders the instructions of a kernel whose calls are inlined. The result computes the same.
///
/// # Errors
///
/// A kernel so large that analysing it would take unbounded memory; compiling it fails likewise.
pub fn schedule(kernel: &Kernel) -> Result<Kernel, strata_ptx::diagnostic::Diagnostic> {
    within_limits(kernel).map_err(|limit| limit.of(kernel))
}

pub(crate) fn within_limits(kernel: &Kernel) -> Result<Kernel, Limit> {
    let graph = Graph::basic(kernel)?;
    let liveness = VirtualLiveness::new(kernel, &graph)?;
    let long = long_latency_registers(kernel);
    let mut order: Vec<usize> = Vec::with_capacity(kernel.instructions.len());
    for block in &graph.blocks {
        let mut live = Live::new(kernel);
        for &next in block.successors.iter().filter(|&&next| next != graph.exit()) {
            liveness.live_in(next).for_each(|register| live.insert(RegisterId(register)));
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
    let mut scheduled = kernel.clone();
    scheduled.instructions = order.iter().map(|&pc| kernel.instructions[pc].clone()).collect();
    scheduled.lines = order.iter().map(|&pc| kernel.lines[pc]).collect();
    Ok(scheduled)
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
    let mut settled: HashSet<RegisterId> = HashSet::new();
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

/// Something that orders the instructions that name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Resource {
    Register(RegisterId),
    /// The carry flag.
    Carry,
    /// Memory, other lanes, clocks: everything beyond the lane's own registers.
    Outside,
}

/// Calls `visit` with each resource that an instruction names, and whether it changes it.
fn resources(instruction: &Instruction, mut visit: impl FnMut(Resource, bool)) {
    uses(instruction, |register| visit(Resource::Register(register), false));
    definitions(instruction, |register| visit(Resource::Register(register), true));
    let takes_carry = matches!(instruction.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    if takes_carry || instruction.modifiers.carry_out {
        visit(Resource::Carry, true);
    }
    if acts_outside(instruction) {
        visit(Resource::Outside, true);
    }
}

fn acts_outside(instruction: &Instruction) -> bool {
    use Opcode as O;
    let alone = match instruction.opcode {
        O::Activemask
        | O::Bar
        | O::Barrier
        | O::Brkpt
        | O::Call
        | O::Elect
        | O::Fence
        | O::Match
        | O::Membar
        | O::Mma
        | O::Nanosleep
        | O::Pmevent
        | O::Redux
        | O::Shfl
        | O::Vote
        | O::Wmma => true,
        _ => flow(instruction) != Flow::Next,
    };
    let clock = |operand: &Operand| {
        matches!(
            operand,
            Operand::Special(
                SpecialRegister::Clock
                    | SpecialRegister::ClockHi
                    | SpecialRegister::Clock64
                    | SpecialRegister::Globaltimer
                    | SpecialRegister::GlobaltimerLo
                    | SpecialRegister::GlobaltimerHi
                    | SpecialRegister::Pm(_)
            )
        )
    };
    alone || classify::reaches_memory(instruction) || instruction.sources.iter().any(clock)
}

/// The instructions of a piece in their new order.
fn reorder(kernel: &Kernel, piece: &[usize]) -> Vec<usize> {
    let graph = Dependences::new(kernel, piece);
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
        for &(next, produces) in &graph.after[index] {
            if produces {
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

/// Which instructions of a piece must stay before which.
struct Dependences {
    /// For each, those that depend on it, and whether they read what it makes. May repeat.
    after: Vec<Vec<(usize, bool)>>,
    /// How many entries of `after` name it.
    before: Vec<u32>,
}

/// Who named a resource last.
#[derive(Default)]
struct Named {
    change: Option<usize>,
    reads: Vec<usize>,
}

impl Dependences {
    fn new(kernel: &Kernel, piece: &[usize]) -> Self {
        let mut graph = Self { after: vec![Vec::new(); piece.len()], before: vec![0; piece.len()] };
        let mut named: HashMap<Resource, Named> = HashMap::new();
        for (index, &pc) in piece.iter().enumerate() {
            resources(&kernel.instructions[pc], |resource, changes| {
                let last = named.entry(resource).or_default();
                if !changes {
                    last.change.into_iter().for_each(|from| graph.order(from, index, true));
                    last.reads.push(index);
                    return;
                }
                for from in last.reads.drain(..).chain(last.change) {
                    graph.order(from, index, false);
                }
                last.change = Some(index);
            });
        }
        graph
    }

    fn order(&mut self, from: usize, to: usize, produces: bool) {
        if from != to {
            self.after[from].push((to, produces));
            self.before[to] += 1;
        }
    }
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

    fn slots(&self, register: RegisterId) -> u32 {
        self.kernel.registers[register.index()].ty.register_slots()
    }

    fn insert(&mut self, register: RegisterId) {
        if !self.registers.put(register.index()) {
            self.slots += self.slots(register);
        }
    }

    fn remove(&mut self, register: RegisterId) {
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
