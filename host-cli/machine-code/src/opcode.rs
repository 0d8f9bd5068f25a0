//! What an opcode says on its own: its forms, and which of its lines has global addresses.

use crate::form::Form;
use crate::machine::Machine;
use crate::mnemonic::Mnemonic;
use crate::{arithmetic, control, matrix, memory, texture};

/// The forms of an opcode on a machine; `None` for an opcode that the tables do not hold.
pub fn forms(mnemonic: &str, machine: Machine) -> Option<Vec<Form>> {
    let mnemonic = Mnemonic(mnemonic);
    memory::forms(mnemonic, machine)
        .or_else(|| matrix::forms(mnemonic))
        .or_else(|| texture::forms(mnemonic))
        .or_else(|| control::forms(mnemonic))
        .or_else(|| arithmetic::forms(mnemonic))
}

/// Which of the two lines that the tracer writes of an instruction holds the addresses of global
/// memory; `None` for the opcodes that refer to memory once, or never, and have one line.
pub fn global_line(mnemonic: &str) -> Option<usize> {
    let mnemonic = Mnemonic(mnemonic);
    match mnemonic.stem() {
        "LDGSTS" | "UTMALDG" => Some(1),
        "UTMASTG" | "UTMAREDG" | "UGETNEXTWORKID" => Some(0),
        // From shared to global memory, or the other way.
        "UBLKCP" | "UBLKRED" => Some(usize::from(mnemonic.modifiers().next() == Some("S"))),
        _ => None,
    }
}
