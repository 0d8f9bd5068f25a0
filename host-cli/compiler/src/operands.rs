//! Which registers an instruction reads and writes.

use strata_ptx::module::{AddressBase, Instruction, Operand, VirtualRegister};

/// Calls `visit` for each register of an operand, in order, repeats kept.
pub(crate) fn registers_of(operand: &Operand, visit: &mut impl FnMut(VirtualRegister)) {
    match operand {
        Operand::Register(register)
        | Operand::NotRegister(register)
        | Operand::Address { base: AddressBase::Register(register), .. } => visit(*register),
        Operand::Vector(elements) => {
            for element in elements {
                registers_of(element, visit);
            }
        }
        _ => {}
    }
}

/// Calls `visit` for each register that the instruction reads: its sources, then its guard.
pub(crate) fn uses(instruction: &Instruction, mut visit: impl FnMut(VirtualRegister)) {
    for operand in &instruction.sources {
        registers_of(operand, &mut visit);
    }
    if let Some(guard) = instruction.guard {
        visit(guard.register);
    }
}

/// Calls `visit` for each register that the instruction writes.
pub(crate) fn definitions(instruction: &Instruction, mut visit: impl FnMut(VirtualRegister)) {
    for operand in &instruction.destinations {
        registers_of(operand, &mut visit);
    }
}

/// Replaces each register of an operand through `map`.
pub(crate) fn map_registers(
    operand: &mut Operand,
    map: &mut impl FnMut(VirtualRegister) -> VirtualRegister,
) {
    match operand {
        Operand::Register(register)
        | Operand::NotRegister(register)
        | Operand::Address { base: AddressBase::Register(register), .. } => {
            *register = map(*register);
        }
        Operand::Vector(elements) => {
            for element in elements {
                map_registers(element, map);
            }
        }
        _ => {}
    }
}
