//! The registers that an instruction names, and their places.

use strata_ptx::module::{Instruction, VirtualRegister};

use crate::operands::{definitions, map_registers, uses};
use crate::program::Location;

/// Registers that an instruction reads, guard included, in order.
pub(super) fn reads(instruction: &Instruction) -> Vec<VirtualRegister> {
    let mut found = Vec::new();
    uses(instruction, |register| found.push(register));
    found
}

/// Registers that an instruction writes, in order.
pub(super) fn writes(instruction: &Instruction) -> Vec<VirtualRegister> {
    let mut found = Vec::new();
    definitions(instruction, |register| found.push(register));
    found
}

/// Whether two places have a register in common.
pub(super) fn places_meet(a: Location, b: Location) -> bool {
    match (a, b) {
        (Location::General { first: a, count: m }, Location::General { first: b, count: n }) => {
            u32::from(a) < u32::from(b) + u32::from(n) && u32::from(b) < u32::from(a) + u32::from(m)
        }
        (Location::Predicate(a), Location::Predicate(b)) => a == b,
        _ => false,
    }
}

/// An instruction with every register number replaced by 0.
pub(super) fn anonymous(instruction: &Instruction) -> Instruction {
    let mut copy = instruction.clone();
    for operand in copy.destinations.iter_mut().chain(&mut copy.sources) {
        map_registers(operand, &mut |_| VirtualRegister(0));
    }
    if let Some(guard) = &mut copy.guard {
        guard.register = VirtualRegister(0);
    }
    copy
}

/// Registers that an instruction names: what it writes, then what it reads.
pub(super) fn all_registers(instruction: &Instruction) -> Vec<VirtualRegister> {
    let mut all = writes(instruction);
    all.extend(reads(instruction));
    all
}
