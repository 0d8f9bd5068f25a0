//! The operands of an instruction with the components of vectors one by one.

use strata_ptx::module::{Operand, VirtualRegister};

/// Operands, with the components of vectors in their places.
pub(super) fn components(operands: &[Operand]) -> impl Iterator<Item = &Operand> {
    operands.iter().flat_map(|operand| match operand {
        Operand::Vector(elements) => elements.as_slice(),
        other => std::slice::from_ref(other),
    })
}

/// The registers among operands, those of vectors too.
pub(super) fn registers(operands: &[Operand]) -> impl Iterator<Item = VirtualRegister> {
    numbered(operands).map(|(_, register)| register)
}

/// The registers among operands with their places; what is no register has a place as well.
pub(super) fn numbered(operands: &[Operand]) -> impl Iterator<Item = (u64, VirtualRegister)> {
    (0..).zip(components(operands)).filter_map(|(index, operand)| match operand {
        Operand::Register(register) => Some((index, *register)),
        _ => None,
    })
}
