//! Spilling: a kernel made to fit into a number of registers per thread.
//!
//! What does not fit is kept in the thread's frame in local memory, behind the kernel's own
//! variables. Stores and fills are instructions of the kernel like any other; constants, special
//! registers, addresses and kernel parameters are made again instead. Later passes see a kernel
//! with shorter values and need not know why.
//!
//! [`residence`] decides which values are in registers where, [`stores`] where they are stored,
//! [`rewrite`] writes that down. Then the kernel is allocated; where the allocator needs more
//! registers than there are (pairs have to be aligned), the blocks concerned get fewer to fill, and
//! all begins again. Of two ways to decide, the one is taken whose additions execute less often by
//! a static guess.
//!
//! Predicates have registers of their own, as many as a kernel needs: they are never spilled.

mod residence;
mod rewrite;
mod steps;
mod stores;

use strata_ptx::module::{AddressBase, Instruction, Operand, SpecialRegister, StateSpace, Symbol};
use strata_ptx::opcode::Opcode;

use crate::allocate::Allocation;
use crate::cfg::{Block, Graph};
use crate::divergence::Divergence;
use crate::intervals::Intervals;
use crate::kernel::Kernel;
use crate::limits::{RegisterLimit, TooLarge};
use crate::loops::Loops;
use crate::program::Location;
use crate::values::Values;

use residence::{Input, residence};
use rewrite::{Spilled, rewrite};
use steps::{Step, Steps};

/// Attempts at an allocation; real kernels need a few.
const MAX_ATTEMPTS: u32 = 200;
/// Instructions up to which both ways to decide are tried; beyond, the first alone is slow enough.
const MAX_COMPARED: usize = 4096;

/// What was found out about a kernel before it has to be spilled.
pub(crate) struct Before<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) graph: &'a Graph,
    pub(crate) divergence: &'a Divergence,
    pub(crate) values: &'a Values,
    pub(crate) intervals: &'a Intervals,
}

/// Spills a kernel until `allocate` succeeds with `limit` registers; returns its result.
///
/// `allocate` gives the places of the webs of a kernel, and for each web the blocks that it
/// occupies its registers in.
pub(crate) fn spill<T>(
    before: &Before<'_>,
    limit: RegisterLimit,
    mut allocate: impl FnMut(&Kernel) -> Result<Attempt<T>, TooLarge>,
) -> Result<(Spilled, T), TooLarge> {
    let Before { kernel, graph, divergence, values, intervals } = *before;
    let loops = Loops::new(graph);
    let steps = Steps::new(kernel, graph, values, &loops);
    let count = u32::from(limit.get());
    if let Some((pc, needed)) = largest_need(&steps).filter(|&(_, needed)| needed > count) {
        return Err(too_few(pc, needed, limit));
    }
    let (repeatable, defined) = definitions_of(kernel, graph, values, &loops, &steps);
    let mut best: Option<(Spilled, T)> = None;
    let compared = kernel.instructions.len() <= MAX_COMPARED;
    // Stores behind loops need a little more room at once than residence says: the last way to
    // find an allocation goes without.
    for (arriving, behind_loops) in [(true, true), (false, true), (false, false)] {
        if best.is_some() && !(compared && behind_loops) {
            continue;
        }
        let mut capacity = vec![count; graph.blocks.len()];
        for _ in 0..MAX_ATTEMPTS {
            let input = Input {
                kernel,
                graph,
                divergence,
                values,
                intervals,
                loops: &loops,
                steps: &steps,
                repeatable: &repeatable,
                defined: &defined,
                capacity: &capacity,
                arriving,
                behind_loops,
            };
            let residence = residence(&input);
            let stores = stores::stores(&input, &residence);
            let spilled = rewrite(&input, &residence, &stores)?;
            if best.as_ref().is_some_and(|(best, _)| best.cost <= spilled.cost) {
                break;
            }
            let attempt = allocate(&spilled.kernel)?;
            if u32::from(attempt.registers) <= count {
                best = Some((spilled, attempt.made));
                break;
            }
            let mut lowered = false;
            for block in attempt.crowded {
                lowered |= capacity[block] > 1;
                capacity[block] = capacity[block].saturating_sub(1).max(1);
            }
            if !lowered {
                break;
            }
        }
    }
    best.ok_or_else(|| {
        let (pc, needed) = largest_need(&steps).unwrap_or_default();
        too_few(pc, needed, limit)
    })
}

/// What the allocator made of a kernel.
pub(crate) struct Attempt<T> {
    /// 32-bit registers used.
    pub(crate) registers: u16,
    /// Blocks in which a value lies beyond the limit. May repeat.
    pub(crate) crowded: Vec<usize>,
    /// Everything else.
    pub(crate) made: T,
}

fn too_few(pc: usize, needed: u32, limit: RegisterLimit) -> TooLarge {
    let limit = limit.get();
    let message = format!(
        "cannot be allocated in {limit} registers: this instruction alone names values of {needed}"
    );
    TooLarge { code: "register-limit", message, pc }
}

/// The instruction that needs most registers at once, and how many.
fn largest_need(steps: &Steps) -> Option<(usize, u32)> {
    let sum = |touches: &[steps::Touch]| touches.iter().map(|t| steps.slots[t.web as usize]).sum();
    let need = |step: &Step| u32::max(sum(&step.reads), sum(&step.writes));
    let needs = steps.of.iter().map(need).enumerate();
    needs.max_by_key(|&(pc, need)| (need, std::cmp::Reverse(pc)))
}

/// For each web: whether its definition can be made again, and how often its definitions execute.
fn definitions_of(
    kernel: &Kernel,
    graph: &Graph,
    values: &Values,
    loops: &Loops,
    steps: &Steps,
) -> (Vec<bool>, Vec<u64>) {
    let count = values.webs.len();
    let mut definitions = vec![0_u32; count];
    let mut repeatable = vec![true; count];
    let mut often = vec![0_u64; count];
    for (pc, step) in steps.of.iter().enumerate() {
        for write in &step.writes {
            let web = write.web as usize;
            definitions[web] += 1;
            often[web] += loops.frequency[graph.block_of[pc]];
            repeatable[web] &= is_repeatable(kernel, &kernel.instructions[pc]);
        }
    }
    for (web, repeatable) in repeatable.iter_mut().enumerate() {
        *repeatable &= definitions[web] == 1;
    }
    (repeatable, often)
}

/// Whether an instruction gives the same result wherever it is executed, reads no register and
/// takes no long latency.
pub(crate) fn is_repeatable(kernel: &Kernel, instruction: &Instruction) -> bool {
    let single = matches!(instruction.destinations[..], [Operand::Register(_)]);
    let [source] = &instruction.sources[..] else { return false };
    let constant = match (instruction.opcode, source) {
        (Opcode::Mov, Operand::Special(special)) => is_fixed(*special),
        (
            Opcode::Mov,
            Operand::Integer(_)
            | Operand::Float32(_)
            | Operand::Float64(_)
            | Operand::Symbol { .. },
        ) => true,
        (Opcode::Ld, Operand::Address { base: AddressBase::Symbol(Symbol::Local(id)), .. }) => {
            instruction.modifiers.space == Some(StateSpace::Param) && id.0 < kernel.parameters
        }
        _ => false,
    };
    single && constant && instruction.guard.is_none()
}

/// Whether a thread reads the same from a special register at all times.
fn is_fixed(special: SpecialRegister) -> bool {
    use SpecialRegister as S;
    matches!(
        special,
        S::Tid(_)
            | S::Ntid(_)
            | S::Ctaid(_)
            | S::Nctaid(_)
            | S::Clusterid(_)
            | S::Nclusterid(_)
            | S::ClusterCtaid(_)
            | S::ClusterNctaid(_)
            | S::ClusterCtarank
            | S::ClusterNctarank
            | S::Laneid
            | S::LanemaskEq
            | S::LanemaskLe
            | S::LanemaskLt
            | S::LanemaskGe
            | S::LanemaskGt
            | S::AggrSmemSize
            | S::CurrentGraphExec
            | S::DynamicSmemSize
            | S::TotalSmemSize
            | S::ReservedSmem(_)
    )
}

/// Blocks of the kernel before spilling in which values of the spilled one lie beyond a number of
/// registers.
pub(crate) fn crowded(
    before: &Graph,
    graph: &Graph,
    intervals: &Intervals,
    allocation: &Allocation,
    limit: u16,
) -> Vec<usize> {
    let mut blocks = vec![false; graph.blocks.len()];
    for (location, intervals) in allocation.locations.iter().zip(&intervals.of) {
        let Location::General { first, count } = *location else { continue };
        if u32::from(first) + u32::from(count) <= u32::from(limit) {
            continue;
        }
        for interval in intervals {
            let last = interval.end.saturating_sub(1).max(interval.start) as usize / 2;
            let last = last.min(graph.block_of.len() - 1);
            let first = (interval.start as usize / 2).min(last);
            for block in &mut blocks[graph.block_of[first]..=graph.block_of[last]] {
                *block = true;
            }
        }
    }
    let crowded = (0..blocks.len()).filter(|&block| blocks[block]);
    same_blocks(before, graph, crowded)
}

/// The blocks of a kernel that are some blocks of what became of it: where lanes wait in front of
/// a label, fills may have made a block of their own.
fn same_blocks(before: &Graph, graph: &Graph, blocks: impl Iterator<Item = usize>) -> Vec<usize> {
    let first = |(block, _): &(usize, &Block)| !before.blocks[*block].continues;
    let firsts: Vec<usize> =
        before.blocks.iter().enumerate().filter(first).map(|(block, _)| block).collect();
    let mut places = Vec::with_capacity(graph.blocks.len());
    let (mut group, mut nth) = (0, 0);
    for block in &graph.blocks {
        (group, nth) = if block.continues { (group, nth + 1) } else { (group + 1, 0) };
        let start = firsts[group - 1];
        let end = firsts.get(group).copied().unwrap_or(before.blocks.len());
        places.push((start + nth).min(end - 1));
    }
    blocks.map(|block| places[block]).collect()
}
