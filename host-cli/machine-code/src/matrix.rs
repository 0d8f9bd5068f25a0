//! Products of matrices, whose shapes are part of the opcode.

use crate::form::{First, Form, Operand};
use crate::mnemonic::Mnemonic;

/// The forms of a product of matrices.
pub(crate) fn forms(mnemonic: Mnemonic<'_>) -> Option<Vec<Form>> {
    match mnemonic.stem() {
        "HMMA" | "IMMA" | "BMMA" | "DMMA" | "QMMA" | "OMMA" => Some(of_a_warp(mnemonic)),
        "HGMMA" | "IGMMA" | "BGMMA" | "QGMMA" => Some(of_four_warps(mnemonic)),
        _ => None,
    }
}

/// Registers that each lane holds of the four matrices of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fragments {
    left: u8,
    right: u8,
    sum: u8,
}

fn of_a_warp(mnemonic: Mnemonic<'_>) -> Vec<Form> {
    let selector = Operand::source(1).left_out(1);
    let operands = match fragments(mnemonic) {
        Some(Fragments { left, right, sum }) => [
            Operand::result(sum),
            Operand::source(left),
            Operand::source(right),
            Operand::source(sum),
            // Of a sparse matrix, which elements there are; of scaled ones, their scales.
            selector,
            selector,
        ],
        None => [
            Operand::result(1).of_unknown_width(),
            Operand::source(1).of_unknown_width(),
            Operand::source(1).of_unknown_width(),
            Operand::source(1).of_unknown_width(),
            selector,
            selector,
        ],
    };
    let has_more = mnemonic.has_any(&["SP", "SF"]) || fragments(mnemonic).is_none();
    let most = if has_more { 6 } else { 4 };
    vec![Form::new(First::Register, &operands[..most])]
}

/// From shape and types: a matrix of `r * c` elements of `b` bits takes `r * c * b / 1024`
/// registers of a lane.
fn fragments(mnemonic: Mnemonic<'_>) -> Option<Fragments> {
    let stem = mnemonic.stem();
    let [rows, columns, depth] = mnemonic.modifiers().find_map(shape)?;
    if stem == "HMMA" && [rows, columns, depth] == [8, 8, 4] {
        // Volta takes a product in steps, each with pairs of registers.
        return Some(Fragments { left: 2, right: 2, sum: 2 });
    }
    let (element, sum) = match stem {
        "DMMA" => (64, 64),
        "BMMA" => (1, 32),
        "IMMA" => (if mnemonic.has_any(&["S4", "U4"]) { 4 } else { 8 }, 32),
        // Elements of 4 and 6 bits take a byte each unless all have 4.
        "QMMA" => (8, if mnemonic.has("F32") { 32 } else { 16 }),
        "OMMA" => (4, if mnemonic.has("F32") { 32 } else { 16 }),
        _ if mnemonic.has("TF32") => (32, 32),
        _ => (16, if mnemonic.has("F32") { 32 } else { 16 }),
    };
    let registers = |elements: u32, bits: u32| (elements * bits / 1024).clamp(1, 32) as u8;
    // A sparse left matrix holds half of its elements.
    let left = rows * depth / if mnemonic.has("SP") { 2 } else { 1 };
    Some(Fragments {
        left: registers(left, element),
        right: registers(columns * depth, element),
        sum: registers(rows * columns, sum),
    })
}

/// Rows, columns and depth: `16816` up to `sm_89`, `16x8x16` since for some.
fn shape(modifier: &str) -> Option<[u32; 3]> {
    if modifier.contains('x') {
        let mut sides = modifier.split('x').map(str::parse);
        let sides = [sides.next()?.ok()?, sides.next()?.ok()?, sides.next()?.ok()?];
        return sides.iter().all(|side| (1..=512).contains(side)).then_some(sides);
    }
    if modifier.len() < 3 || !modifier.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (rows, rest) = match modifier.strip_prefix("16") {
        Some(rest) => (16, rest),
        None => (8, modifier.strip_prefix('8')?),
    };
    let depth: u32 = rest.strip_prefix('8')?.parse().ok()?;
    (1..=512).contains(&depth).then_some([rows, 8, depth])
}

/// The accumulators, `64 * n` elements over 128 threads, are the result and an operand. The right
/// matrix, and mostly the left one, lie in shared memory.
fn of_four_warps(mnemonic: Mnemonic<'_>) -> Vec<Form> {
    let Some((sum, left)) = group(mnemonic) else {
        let [result, source] = [Operand::result(1), Operand::source(1)];
        let operands = [
            result.of_unknown_width(),
            source.of_unknown_width().left_out(1),
            source.of_unknown_width(),
        ];
        return vec![Form::new(First::Register, operands)];
    };
    let operands = [Operand::result(sum), Operand::source(left).left_out(1), Operand::source(sum)];
    vec![Form::new(First::Register, operands)]
}

/// Registers of the accumulators and of a left matrix in registers.
fn group(mnemonic: Mnemonic<'_>) -> Option<(u8, u8)> {
    let [rows, columns, depth] = mnemonic.modifiers().find_map(shape)?;
    let bits = match mnemonic.stem() {
        "HGMMA" if mnemonic.has("TF32") => 32,
        "HGMMA" => 16,
        "BGMMA" => 1,
        _ => 8,
    };
    let floating = matches!(mnemonic.stem(), "HGMMA" | "QGMMA");
    let sum_bits = if floating && !mnemonic.has("F32") { 16 } else { 32 };
    let registers = |elements: u32, bits: u32| u8::try_from(elements * bits / (128 * 32)).ok();
    Some((registers(rows * columns, sum_bits)?, registers(rows * depth, bits)?))
}
