//! Whether atomics that write no register in the program have a result that is never read.

use std::borrow::Cow;

use strata_ptx::module::{Instruction, Operand, VirtualRegister};
use strata_ptx::opcode::{AtomicOp, MemoryOrder, Opcode};

use super::registers::{reads, writes};
use crate::flow::ControlFlow;
use crate::kernel::Kernel;
use crate::program::{Origin, Program};

/// The kernel with the results of atomics left out where the program leaves them out and may. Where
/// it may not, the instruction stays, and differs from the program's.
pub(super) fn apply<'k>(kernel: &'k Kernel, program: &Program) -> Cow<'k, Kernel> {
    let numbered = program.instructions.iter().filter_map(|made| match made.origin {
        Origin::Kernel(number) => Some((number as usize, &made.instruction)),
        _ => None,
    });
    without_results(kernel, numbered)
}

/// The kernel with the results of atomics left out where `made` leaves them out and may. `made` has
/// instructions with their numbers in the kernel.
pub(super) fn without_results<'k, 'i>(
    kernel: &'k Kernel,
    made: impl Iterator<Item = (usize, &'i Instruction)>,
) -> Cow<'k, Kernel> {
    let mut reduced = Cow::Borrowed(kernel);
    for (number, theirs) in made {
        let Some(ours) = kernel.instructions.get(number) else { continue };
        let left_out = gives_old_contents(ours) && writes(theirs).is_empty();
        if !left_out || writes(ours).into_iter().any(|result| is_read(kernel, number, result)) {
            continue;
        }
        let only_atom = ours.opcode != Opcode::Atom
            || matches!(ours.modifiers.atomic, Some(AtomicOp::Cas | AtomicOp::Exch))
            || matches!(ours.modifiers.order, Some(MemoryOrder::Acquire | MemoryOrder::AcqRel));
        let expected = &mut reduced.to_mut().instructions[number];
        if only_atom {
            expected.destinations = vec![Operand::Sink];
        } else {
            expected.opcode = Opcode::Red;
            expected.destinations.clear();
        }
    }
    reduced
}

/// Whether the result of an instruction is what was in memory before it wrote there.
fn gives_old_contents(instruction: &Instruction) -> bool {
    let arrives = |word: &String| matches!(word.as_str(), "arrive" | "arrive_drop");
    match instruction.opcode {
        Opcode::Atom => true,
        Opcode::Mbarrier => instruction.modifiers.other.iter().any(arrives),
        _ => false,
    }
}

/// Whether a thread may read a register behind an instruction before it writes the register again.
fn is_read(kernel: &Kernel, pc: usize, register: VirtualRegister) -> bool {
    let mut seen = vec![false; kernel.instructions.len()];
    let mut work = Vec::new();
    kernel.successors(pc, |next| work.extend(next));
    while let Some(pc) = work.pop() {
        if std::mem::replace(&mut seen[pc], true) {
            continue;
        }
        let instruction = &kernel.instructions[pc];
        if reads(instruction).contains(&register) {
            return true;
        }
        if instruction.guard.is_some() || !writes(instruction).contains(&register) {
            kernel.successors(pc, |next| work.extend(next));
        }
    }
    false
}
