//! Scalar video instructions: `vadd vsub vabsdiff vmin vmax vshl vshr vmad vset`.

use strata_ptx::opcode::{Bounds, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use crate::arith::video::{Finish, Second, Select, Source, VideoOp, VmadMode, video, vmad};
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Video, VideoKind};
use crate::row::{Lanes, sparse3};

/// All of them.
fn any(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Video(parts) = o.extra else { return };
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u32, b: u32, c: u32| {
        let a = Source { bits: a, ..parts.a };
        let b = Source { bits: b, ..parts.b };
        match parts.kind {
            VideoKind::Two(operation, finish) => video(operation, a, b, c, finish),
            VideoKind::Multiply(mode) => vmad(a, b, c, mode),
        }
    });
}

/// The selector written on an operand (0 is the destination).
fn selector(one: &One<'_, '_>, operand: usize) -> Select {
    let prefix = format!("{operand}.");
    let words = &one.instruction.modifiers.other;
    match words.iter().find_map(|word| word.strip_prefix(&prefix)) {
        Some("b0") => Select::Byte(0),
        Some("b1") => Select::Byte(1),
        Some("b2") => Select::Byte(2),
        Some("b3") => Select::Byte(3),
        Some("h0") => Select::Half(0),
        Some("h1") => Select::Half(1),
        _ => Select::Word,
    }
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let opcode = one.instruction.opcode;
    let is_set = opcode == Opcode::Vset;
    // `vset` writes no result type: its result is unsigned.
    let first = usize::from(!is_set);
    let signed = |ty: ScalarType| ty.kind() == Kind::Signed;
    let (a_signed, b_signed) = (signed(one.ty(first)?), signed(one.ty(first + 1)?));
    let result_signed = if is_set { a_signed } else { signed(one.ty(0)?) };
    let word = ScalarType::U32;
    let mut args = Args { d: one.result(0, word)?, ..Args::default() };
    (args.a, args.b) = (one.value(0, word)?, one.value(1, word)?);
    let third = one.instruction.sources.len() > 2;
    args.c = if third { one.value(2, word)? } else { one.constant(0, word) };
    let kind = if opcode == Opcode::Vmad {
        VideoKind::Multiply(multiply(one))
    } else {
        let second = second(one, third);
        let sat = one.instruction.modifiers.sat;
        VideoKind::Two(operation(one)?, Finish { signed: result_signed, sat, second })
    };
    let a = Source { bits: 0, select: selector(one, 1), signed: a_signed };
    let b = Source { bits: 0, select: selector(one, 2), signed: b_signed };
    args.extra = Extra::Video(Video { a, b, kind });
    Ok((Action::Compute(any), args))
}

fn multiply(one: &One<'_, '_>) -> VmadMode {
    let modifiers = &one.instruction.modifiers;
    VmadMode {
        plus_one: modifiers.has("po"),
        shift: if modifiers.has("shr7") { 7 } else { 15 * u32::from(modifiers.has("shr15")) },
        sat: modifiers.sat,
    }
}

fn second(one: &One<'_, '_>, third: bool) -> Second {
    let modifiers = &one.instruction.modifiers;
    match selector(one, 0) {
        _ if modifiers.has("add") => Second::Add,
        _ if modifiers.has("min") => Second::Min,
        _ if modifiers.has("max") => Second::Max,
        select if third => Second::Merge(select),
        _ => Second::None,
    }
}

fn operation(one: &One<'_, '_>) -> Result<VideoOp, Problem> {
    let modifiers = &one.instruction.modifiers;
    let wrap = modifiers.bounds == Some(Bounds::Wrap);
    Ok(match one.instruction.opcode {
        Opcode::Vadd => VideoOp::Add,
        Opcode::Vsub => VideoOp::Sub,
        Opcode::Vabsdiff => VideoOp::AbsDiff,
        Opcode::Vmin => VideoOp::Min,
        Opcode::Vmax => VideoOp::Max,
        Opcode::Vshl if wrap => VideoOp::ShlWrap,
        Opcode::Vshl => VideoOp::ShlClamp,
        Opcode::Vshr if wrap => VideoOp::ShrWrap,
        Opcode::Vshr => VideoOp::ShrClamp,
        _ => VideoOp::Set(modifiers.comparison.ok_or_else(|| one.malformed("no comparison"))?),
    })
}
