//! Whether a reordered kernel computes what the kernel did.
//!
//! Its instructions are the kernel's, each in the basic block that it was in, so that it executes
//! under the same mask. Every operand is what it was: the definitions that may reach it are the
//! same. A guarded definition whose result is read takes the old value too, so that the order of
//! definitions of one register counts. What does more than compute its results of its operands
//! keeps its order.

use std::collections::{BTreeMap, BTreeSet};

use strata_ptx::module::{
    AddressBase, Instruction, Operand, SpecialRegister as S, StateSpace, Symbol, VirtualRegister,
};
use strata_ptx::opcode::Opcode;

use super::reductions;
use super::registers::{all_registers, anonymous, reads, writes};
use super::violation::{Problem, Violation};
use crate::flow::{ControlFlow, Flow, flow};
use crate::kernel::Kernel;
use crate::schedule::Reordered;

/// Checks a reordered kernel against the kernel that it was made of.
///
/// # Errors
///
/// Every violation found, in the new order within each kind. When the instructions are not the
/// kernel's, or not in their blocks, only that is reported.
pub fn check_order(kernel: &Kernel, reordered: &Reordered) -> Result<(), Vec<Violation>> {
    let Reordered { kernel: after, from } = reordered;
    let mut found = Found { after, violations: Vec::new() };
    if !is_permutation(from, kernel.instructions.len(), after.instructions.len()) {
        found.add(0, Problem::Different("the number of instructions"));
        return found.done();
    }
    let from: Vec<usize> = from.iter().map(|&pc| pc as usize).collect();
    let numbered = from.iter().copied().zip(&after.instructions);
    let kernel = &*reductions::without_results(kernel, numbered);
    correspondence(kernel, &from, &mut found);
    let blocks = Blocks::new(kernel);
    for (pc, &old) in from.iter().enumerate() {
        let moved = blocks.of[pc] != blocks.of[old];
        let leaves = flow(&after.instructions[pc]) != Flow::Next && pc != old;
        if moved || leaves {
            found.add(pc, Problem::LeftItsBlock);
        }
    }
    if !found.violations.is_empty() {
        return found.done();
    }
    let mut last = None;
    for (pc, &old) in from.iter().enumerate() {
        if !is_pure(&after.instructions[pc], after.parameters) {
            if last > Some(old) {
                found.add(pc, Problem::Overtaken);
            }
            last = last.max(Some(old));
        }
    }
    let place: BTreeMap<usize, usize> =
        from.iter().enumerate().map(|(pc, &old)| (old, pc)).collect();
    let identity: Vec<usize> = (0..from.len()).collect();
    let mut expected = operands(kernel, &blocks, &identity);
    let mut arriving = operands(after, &blocks, &from);
    forget_unread(&mut expected, &mut arriving);
    for (old, (expected, arriving)) in expected.iter().zip(&arriving).enumerate() {
        if expected != arriving {
            found.add(place[&old], Problem::OtherOperands);
        }
    }
    found.done()
}

/// Violations so far.
struct Found<'a> {
    after: &'a Kernel,
    violations: Vec<Violation>,
}

impl Found<'_> {
    fn add(&mut self, pc: usize, problem: Problem) {
        let line = self.after.lines.get(pc).copied().unwrap_or(0);
        self.violations.push(Violation { pc, line, problem });
    }

    fn done(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}

fn is_permutation(from: &[u32], before: usize, after: usize) -> bool {
    let distinct: BTreeSet<u32> = from.iter().copied().collect();
    let last = distinct.last().is_none_or(|&last| (last as usize) < before);
    distinct.len() == from.len() && from.len() == before && before == after && last
}

/// Checks that each instruction is the one that it says, but for the names of registers, and that
/// the tables are the kernel's.
fn correspondence(kernel: &Kernel, from: &[usize], found: &mut Found<'_>) {
    let after = found.after;
    let memory = |kernel: &Kernel| (kernel.parameters, kernel.shared_bytes, kernel.local_bytes);
    if after.targets != kernel.targets || after.branch_tables != kernel.branch_tables {
        found.add(0, Problem::Different("a branch target"));
    }
    if after.variables != kernel.variables || memory(after) != memory(kernel) {
        found.add(0, Problem::Different("a variable"));
    }
    for (pc, &old) in from.iter().enumerate() {
        let (ours, theirs) = (&kernel.instructions[old], &after.instructions[pc]);
        if anonymous(ours) != anonymous(theirs) || kernel.lines[old] != after.lines[pc] {
            found.add(pc, Problem::Different("the instruction"));
            continue;
        }
        let ty =
            |kernel: &Kernel, register: &VirtualRegister| kernel.registers[register.index()].ty;
        let (ours, theirs) = (all_registers(ours), all_registers(theirs));
        if !ours.iter().zip(&theirs).all(|(ours, theirs)| ty(kernel, ours) == ty(after, theirs)) {
            found.add(pc, Problem::Different("the type of a register"));
        }
    }
}

/// Runs of instructions that control enters at the first and leaves at the last. A reordered kernel
/// has the same, if each instruction is in its block.
struct Blocks {
    /// Block of each instruction.
    of: Vec<usize>,
    ranges: Vec<std::ops::Range<usize>>,
    before: Vec<BTreeSet<usize>>,
}

impl Blocks {
    fn new(kernel: &Kernel) -> Self {
        let count = kernel.instructions.len();
        let mut starts = BTreeSet::from([0]);
        for (pc, instruction) in kernel.instructions.iter().enumerate() {
            if flow(instruction) != Flow::Next {
                starts.insert(pc + 1);
                kernel.successors(pc, |next| starts.extend(next));
            }
        }
        starts.remove(&count);
        let starts: Vec<usize> = starts.into_iter().collect();
        let of = (0..count).map(|pc| starts.partition_point(|&start| start <= pc) - 1).collect();
        let ends = starts.iter().skip(1).copied().chain([count]);
        let ranges: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
        let mut blocks = Self { of, before: vec![BTreeSet::new(); ranges.len()], ranges };
        for (number, range) in blocks.ranges.iter().enumerate() {
            kernel.successors(range.end - 1, |next| {
                if let Some(next) = next {
                    blocks.before[blocks.of[next]].insert(number);
                }
            });
        }
        blocks
    }
}

/// What an operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// What the register holds when the kernel starts.
    Nothing,
    /// A result, from 0, of the instruction with this number in the kernel.
    Result(usize, usize),
}

/// A register or the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Register(VirtualRegister),
    Carry,
}

fn written(instruction: &Instruction) -> Vec<Name> {
    let mut all: Vec<Name> = writes(instruction).into_iter().map(Name::Register).collect();
    all.extend(instruction.modifiers.carry_out.then_some(Name::Carry));
    all
}

/// What an instruction reads.
fn read(instruction: &Instruction) -> Vec<Name> {
    let carries = matches!(instruction.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    let registers = reads(instruction).into_iter().map(Name::Register);
    registers.chain(carries.then_some(Name::Carry)).collect()
}

/// All that each operand of an instruction may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Operands {
    read: Vec<BTreeSet<Source>>,
    /// Of each result, what is left in lanes whose guard is false.
    kept: Vec<BTreeSet<Source>>,
}

/// The operands of each instruction, by its number in the kernel before. `from`: these numbers.
fn operands(kernel: &Kernel, blocks: &Blocks, from: &[usize]) -> Vec<Operands> {
    let mut last_in: Vec<BTreeMap<Name, Source>> = vec![BTreeMap::new(); blocks.ranges.len()];
    for (number, range) in blocks.ranges.iter().enumerate() {
        for pc in range.clone() {
            for (result, name) in written(&kernel.instructions[pc]).into_iter().enumerate() {
                last_in[number].insert(name, Source::Result(from[pc], result));
            }
        }
    }
    let mut arrive: BTreeMap<(usize, Name), BTreeSet<Source>> = BTreeMap::new();
    let mut all = vec![Operands::default(); from.len()];
    for (number, range) in blocks.ranges.iter().enumerate() {
        let mut here: BTreeMap<Name, Source> = BTreeMap::new();
        for pc in range.clone() {
            let instruction = &kernel.instructions[pc];
            let mut sources = |name| match here.get(&name) {
                Some(&source) => BTreeSet::from([source]),
                None => arrive
                    .entry((number, name))
                    .or_insert_with(|| arriving(blocks, &last_in, number, name))
                    .clone(),
            };
            let operands = &mut all[from[pc]];
            operands.read = read(instruction).into_iter().map(&mut sources).collect();
            if instruction.guard.is_some() {
                operands.kept = written(instruction).into_iter().map(&mut sources).collect();
            }
            for (result, name) in written(instruction).into_iter().enumerate() {
                here.insert(name, Source::Result(from[pc], result));
            }
        }
    }
    all
}

/// What is left in a register that is never read does not matter.
fn forget_unread(expected: &mut [Operands], arriving: &mut [Operands]) {
    let mut used: BTreeSet<Source> = BTreeSet::new();
    let mut work: Vec<Source> =
        expected.iter().flat_map(|operands| operands.read.iter().flatten().copied()).collect();
    while let Some(source) = work.pop() {
        if let (true, Source::Result(number, result)) = (used.insert(source), source) {
            work.extend(expected[number].kept.get(result).into_iter().flatten());
        }
    }
    for (number, (expected, arriving)) in expected.iter_mut().zip(arriving).enumerate() {
        let kept = expected.kept.iter_mut().zip(&mut arriving.kept).enumerate();
        for (_, (expected, arriving)) in
            kept.filter(|(result, _)| !used.contains(&Source::Result(number, *result)))
        {
            expected.clear();
            arriving.clear();
        }
    }
}

/// What a register may hold at the start of a block: searched backwards.
fn arriving(
    blocks: &Blocks,
    last_in: &[BTreeMap<Name, Source>],
    block: usize,
    name: Name,
) -> BTreeSet<Source> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::from([block]));
    let mut work = vec![block];
    while let Some(block) = work.pop() {
        if block == 0 {
            found.insert(Source::Nothing);
        }
        for &before in &blocks.before[block] {
            if let Some(&source) = last_in[before].get(&name) {
                found.insert(source);
            } else if seen.insert(before) {
                work.push(before);
            }
        }
    }
    found
}

/// Whether an instruction does nothing but compute its results of its operands and of what never
/// changes while a kernel runs. `parameters`: how many variables are the kernel's parameters.
fn is_pure(instruction: &Instruction, parameters: u32) -> bool {
    let changes = |operand: &Operand| match operand {
        Operand::Special(special) => !matches!(
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
                | S::Warpid
                | S::Nwarpid
                | S::Smid
                | S::Nsmid
                | S::Gridid
                | S::LanemaskEq
                | S::LanemaskLe
                | S::LanemaskLt
                | S::LanemaskGe
                | S::LanemaskGt
                | S::Envreg(_)
                | S::AggrSmemSize
                | S::CurrentGraphExec
                | S::DynamicSmemSize
                | S::TotalSmemSize
                | S::ReservedSmem(_)
        ),
        _ => false,
    };
    computes(instruction.opcode) && !instruction.sources.iter().any(changes)
        || instruction.opcode == Opcode::Ld && loads_constant(instruction, parameters)
}

/// Whether a load is from memory that nothing writes: constants and the kernel's own parameters by
/// name. What an inlined call is given lies in parameter space too, and is stored before.
fn loads_constant(instruction: &Instruction, parameters: u32) -> bool {
    match (instruction.modifiers.space, instruction.sources.first()) {
        (Some(StateSpace::Const), _) => true,
        (
            Some(StateSpace::Param),
            Some(Operand::Address { base: AddressBase::Symbol(Symbol::Local(variable)), .. }),
        ) => variable.0 < parameters,
        _ => false,
    }
}

#[rustfmt::skip]
fn computes(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::Abs | O::Add | O::Addc | O::And | O::Bfe | O::Bfi | O::Bfind | O::Bmsk | O::Brev
            | O::Clz | O::Cnot | O::Copysign | O::Cos | O::Createpolicy
            | O::Cvt | O::Cvta | O::Div | O::Dp2a
            | O::Dp4a | O::Ex2 | O::Fma | O::Fns | O::Getctarank
            | O::Isspacep | O::Istypep | O::Lg2 | O::Lop3
            | O::Mad | O::Mad24 | O::Madc | O::Mapa
            | O::Max | O::Min | O::Mov | O::Mul | O::Mul24 | O::Neg
            | O::Not | O::Or | O::Popc | O::Prmt | O::Rcp | O::Rem | O::Rsqrt | O::Sad | O::Selp
            | O::Set | O::Setp | O::Shf | O::Shl | O::Shr | O::Sin | O::Slct | O::Sqrt | O::Sub
            | O::Subc | O::Szext | O::Tanh | O::Testp | O::Vabsdiff | O::Vadd | O::Vmad | O::Vmax
            | O::Vmin | O::Vset | O::Vshl | O::Vshr | O::Vsub | O::Xor | O::Vabsdiff2
            | O::Vabsdiff4 | O::Vadd2 | O::Vadd4 | O::Vavrg2 | O::Vavrg4 | O::Vmax2 | O::Vmax4
            | O::Vmin2 | O::Vmin4 | O::Vset2 | O::Vset4 | O::Vsub2 | O::Vsub4
    )
}
