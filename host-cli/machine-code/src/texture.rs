//! Textures and surfaces.
//!
//! How many registers coordinates take depends on the geometry, and how many the results of a
//! texture take on a mask of components: both are operands that a trace does not list.

use crate::form::{First, Form, Operand};
use crate::memory::data_registers;
use crate::mnemonic::Mnemonic;

/// The forms of a texture or surface instruction.
pub(crate) fn forms(mnemonic: Mnemonic<'_>) -> Option<Vec<Form>> {
    let result = Operand::result(1).of_unknown_width();
    let source = Operand::source(1).of_unknown_width();
    let coordinates = coordinates(mnemonic);
    let data = data_registers(mnemonic);
    let forms = match mnemonic.stem() {
        // The upper components stand first, then the lower ones.
        "TEX" | "TLD" | "TLD4" | "TXD" | "TXQ" | "TMML" => vec![Form::new(
            First::Register,
            [result, result, source.left_out(3), source.left_out(2), source.left_out(1)],
        )],
        "TEXS" | "TLDS" | "TLD4S" => vec![Form::new(
            First::Register,
            [result, result.left_out(3), source, source.left_out(2), source.left_out(1)],
        )],
        "SULD" => vec![Form::new(
            First::Register,
            [Operand::result(data), coordinates, Operand::source(1).left_out(1)],
        )],
        "SUST" => vec![Form::new(
            First::Other,
            [coordinates, Operand::source(data), Operand::source(1).left_out(1)],
        )],
        "SURED" => {
            vec![Form::new(First::Other, [coordinates, source, Operand::source(1).left_out(1)])]
        }
        "SUATOM" => vec![Form::new(
            First::Other,
            [result, coordinates, source, source.left_out(2), source.left_out(1)],
        )],
        "SUQUERY" => {
            vec![Form::new(First::Register, [result, source.left_out(2), source.left_out(1)])]
        }
        _ => return None,
    };
    Some(forms)
}

/// The coordinates of a surface, whose geometry the opcode names.
fn coordinates(mnemonic: Mnemonic<'_>) -> Operand {
    let count = mnemonic.modifiers().find_map(|modifier| match modifier {
        "1D" | "1D_BUFFER" => Some(1),
        "2D" | "1D_ARRAY" => Some(2),
        "3D" | "2D_ARRAY" => Some(3),
        _ => None,
    });
    count.map_or(Operand::source(1).of_unknown_width(), Operand::source)
}
