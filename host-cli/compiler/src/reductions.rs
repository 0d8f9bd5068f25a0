//! Atomics whose result is never read are reductions: they write no register, and nothing waits for
//! them (rule 16).
//!
//! `atom` becomes `red` where PTX has that form. What has none (`exch`, `cas`, and operations that
//! acquire) stays `atom` and gives its result to `_`, and so does an arrival at an mbarrier object.

use std::borrow::Cow;

use fixedbitset::FixedBitSet;
use strata_ptx::module::{Instruction, Operand};
use strata_ptx::opcode::{AtomicOp, MemoryOrder, Opcode};

use crate::cfg::Graph;
use crate::classify;
use crate::kernel::Kernel;
use crate::limits::TooLarge;
use crate::operands::{definitions, uses};
use crate::values::VirtualLiveness;

/// The kernel with its unread atomics as reductions.
pub(crate) fn find(kernel: &Kernel) -> Result<Cow<'_, Kernel>, TooLarge> {
    if !kernel.instructions.iter().any(returns) {
        return Ok(Cow::Borrowed(kernel));
    }
    let graph = Graph::basic(kernel)?;
    let live_in = VirtualLiveness::new(kernel, &graph)?;
    let mut found = Vec::new();
    for block in &graph.blocks {
        if !kernel.instructions[block.start..block.end].iter().any(returns) {
            continue;
        }
        let mut live = FixedBitSet::with_capacity(kernel.registers.len());
        for &next in block.successors.iter().filter(|&&next| next != graph.exit()) {
            live.extend(live_in.live_in(next).map(|register| register as usize));
        }
        for pc in (block.start..block.end).rev() {
            let instruction = &kernel.instructions[pc];
            let mut read = false;
            definitions(instruction, |register| read |= live.contains(register.index()));
            if returns(instruction) && !read {
                found.push(pc);
            } else if instruction.guard.is_none() {
                definitions(instruction, |register| live.remove(register.index()));
            }
            uses(instruction, |register| live.insert(register.index()));
        }
    }
    let mut kernel = Cow::Borrowed(kernel);
    for pc in found {
        drop_result(&mut kernel.to_mut().instructions[pc]);
    }
    Ok(kernel)
}

/// Whether an instruction is an atomic that names a place for its result.
fn returns(instruction: &Instruction) -> bool {
    let named = instruction.destinations.iter().any(|operand| *operand != Operand::Sink);
    match instruction.opcode {
        Opcode::Atom => named || is_reduction(instruction),
        Opcode::Mbarrier => named && classify::is_arrival(instruction),
        _ => false,
    }
}

/// Whether PTX has the form of an atomic as a `red`.
fn is_reduction(instruction: &Instruction) -> bool {
    let modifiers = &instruction.modifiers;
    instruction.opcode == Opcode::Atom
        && !matches!(modifiers.atomic, Some(AtomicOp::Exch | AtomicOp::Cas))
        && matches!(modifiers.order, None | Some(MemoryOrder::Relaxed | MemoryOrder::Release))
}

fn drop_result(instruction: &mut Instruction) {
    if is_reduction(instruction) {
        instruction.opcode = Opcode::Red;
        instruction.destinations.clear();
    } else {
        instruction.destinations = vec![Operand::Sink];
    }
}
