//! SIMD video instructions, `vadd2`, `vadd4` and the others that take halves or bytes, and
//! arithmetic of two halves, such as `add.u16x2`.

use strata_ptx::module::Instruction;
use strata_ptx::opcode::Opcode;
use strata_ptx::types::{Kind, ScalarType};

use crate::arith::simd::{Picked, Simd, SimdFinish, SimdOp, simd};
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra};
use crate::row::{Lanes, sparse3};

/// All of them.
fn any(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Simd(mode) = o.extra else { return };
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u32, b: u32, c: u32| simd(&mode, a, b, c));
}

/// Whether an instruction is decoded here.
pub(crate) fn has(instruction: &Instruction) -> bool {
    use Opcode as O;
    let opcode = instruction.opcode;
    let sums = matches!(opcode, O::Vadd2 | O::Vadd4 | O::Vsub2 | O::Vsub4 | O::Vavrg2 | O::Vavrg4);
    let chosen = matches!(opcode, O::Vmax2 | O::Vmax4 | O::Vmin2 | O::Vmin4);
    let others = matches!(opcode, O::Vabsdiff2 | O::Vabsdiff4 | O::Vset2 | O::Vset4);
    sums || chosen || others || pair(instruction).is_some()
}

/// Of `.u16x2` and `.s16x2`, whether the halves are signed.
fn pair(instruction: &Instruction) -> Option<bool> {
    let modifiers = &instruction.modifiers;
    let signed = modifiers.has("s16x2");
    (signed || modifiers.has("u16x2")).then_some(signed)
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    if let Some(signed) = pair(one.instruction) {
        return of_pairs(one, signed);
    }
    let opcode = one.instruction.opcode;
    let parts = if opcode.name().ends_with('2') { 2 } else { 4 };
    let operation = operation(one)?;
    // `vset2` writes no result type: its result is unsigned.
    let first = usize::from(!matches!(operation, SimdOp::Set(_)));
    let is_signed = |index: usize| one.ty(index).map(|ty| ty.kind() == Kind::Signed);
    let result = first == 1 && is_signed(0)?;
    let signed = [is_signed(first)?, is_signed(first + 1)?, result];
    let modifiers = &one.instruction.modifiers;
    let finish = match (modifiers.sat, modifiers.has("add")) {
        (_, true) => SimdFinish::Accumulate,
        (true, _) => SimdFinish::Saturate,
        _ => SimdFinish::Wrap,
    };
    let mode = Simd {
        operation,
        parts,
        a: picked(one, 1).unwrap_or([0, 1, 2, 3]),
        b: picked(one, 2).unwrap_or([0, 1, 2, 3].map(|index| index + parts)),
        mask: mask(one),
        signed: signed.iter().rev().fold(0, |bits, &is| bits << 1 | u8::from(is)),
        finish,
    };
    let word = ScalarType::U32;
    let args = Args {
        d: one.result(0, word)?,
        a: one.value(0, word)?,
        b: one.value(1, word)?,
        c: one.value(2, word)?,
        extra: Extra::Simd(mode),
        ..Args::default()
    };
    Ok((Action::Compute(any), args))
}

/// `add`, `min` and `max` of two halves.
fn of_pairs(one: &mut One<'_, '_>, signed: bool) -> Decoded {
    let operation = match one.instruction.opcode {
        Opcode::Add => SimdOp::Add,
        Opcode::Min => SimdOp::Min,
        Opcode::Max => SimdOp::Max,
        _ => return Err(one.malformed("no arithmetic of two halves")),
    };
    let relu = one.instruction.modifiers.relu;
    let mode = Simd {
        operation,
        parts: 2,
        a: [0, 1, 0, 0],
        b: [2, 3, 0, 0],
        mask: 3,
        signed: if signed { 7 } else { 0 },
        finish: if relu { SimdFinish::Positive } else { SimdFinish::Wrap },
    };
    let word = ScalarType::U32;
    let args = Args {
        d: one.result(0, word)?,
        a: one.value(0, word)?,
        b: one.value(1, word)?,
        c: one.constant(0, word),
        extra: Extra::Simd(mode),
        ..Args::default()
    };
    Ok((Action::Compute(any), args))
}

fn operation(one: &One<'_, '_>) -> Result<SimdOp, Problem> {
    Ok(match one.instruction.opcode {
        Opcode::Vadd2 | Opcode::Vadd4 => SimdOp::Add,
        Opcode::Vsub2 | Opcode::Vsub4 => SimdOp::Sub,
        Opcode::Vavrg2 | Opcode::Vavrg4 => SimdOp::Average,
        Opcode::Vabsdiff2 | Opcode::Vabsdiff4 => SimdOp::AbsDiff,
        Opcode::Vmin2 | Opcode::Vmin4 => SimdOp::Min,
        Opcode::Vmax2 | Opcode::Vmax4 => SimdOp::Max,
        _ => {
            let comparison = one.instruction.modifiers.comparison;
            SimdOp::Set(comparison.ok_or_else(|| one.malformed("no comparison"))?)
        }
    })
}

/// The digits of the selector on an operand, lowest part first; 0 is the destination.
fn digits<'a>(one: &One<'_, 'a>, operand: usize) -> Option<impl Iterator<Item = u8> + 'a> {
    let prefix = format!("{operand}.");
    let words = &one.instruction.modifiers.other;
    let selector = words.iter().find_map(|word| word.strip_prefix(&prefix))?;
    Some(selector.bytes().skip(1).map(|digit| digit.wrapping_sub(b'0') & 7).rev())
}

fn picked(one: &One<'_, '_>, operand: usize) -> Option<Picked> {
    let mut picked = [0; 4];
    for (place, digit) in picked.iter_mut().zip(digits(one, operand)?) {
        *place = digit;
    }
    Some(picked)
}

/// The parts of the result that are computed; without a mask, all.
fn mask(one: &One<'_, '_>) -> u8 {
    digits(one, 0).map_or(15, |digits| digits.fold(0, |mask, digit| mask | 1 << digit))
}
