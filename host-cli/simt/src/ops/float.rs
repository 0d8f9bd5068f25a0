//! Floating-point arithmetic: `add sub mul mad fma div rcp sqrt rsqrt min max abs neg copysign`
//! and the approximate functions, decoded.

mod approximate;
mod modes;
mod nearest;

use strata_ptx::module::Instruction;
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use crate::arith::float::{Bf16, F16, F32, F64, MinMax};
use crate::decode::one::{Decoded, One};
use crate::micro::{Action, Args, Extra, Run};

/// The function for a format, for formats alone and in pairs.
macro_rules! for_format {
    ($ty:expr, $single:ident, $pair:ident) => {
        match $ty {
            ScalarType::F32 => Some(modes::$single::<F32> as Run),
            ScalarType::F64 => Some(modes::$single::<F64> as Run),
            ScalarType::F16 => Some(modes::$single::<F16> as Run),
            ScalarType::Bf16 => Some(modes::$single::<Bf16> as Run),
            ScalarType::F16x2 => Some(modes::$pair::<F16> as Run),
            ScalarType::Bf16x2 => Some(modes::$pair::<Bf16> as Run),
            _ => None,
        }
    };
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    if has_two_words(one.instruction) {
        return two_words(one);
    }
    let ty = one.ty(0)?;
    if one.instruction.modifiers.has("oob") {
        return Err(one.unsupported("`.oob`"));
    }
    if let Some(&from) = one.instruction.types.get(1) {
        return mixed_precision(one, from);
    }
    let mut args = Args { d: one.result(0, ty)?, ..Args::default() };
    let sources = one.instruction.sources.len();
    for (index, slot) in [&mut args.a, &mut args.b, &mut args.c].into_iter().enumerate() {
        if index < sources {
            *slot = one.value(index, ty)?;
        }
    }
    let run = match one.instruction.opcode {
        Opcode::Min | Opcode::Max => extremum(one, &mut args, ty),
        Opcode::Abs | Opcode::Neg | Opcode::Copysign => sign(one, &mut args, ty),
        Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Mad | Opcode::Fma => {
            exact(one, &mut args, ty)
        }
        _ => function(one, &mut args, ty),
    };
    let run = run.ok_or_else(|| one.unsupported(""))?;
    Ok((Action::Compute(run), args))
}

/// Whether an instruction computes on two f32 values in 64 bits.
pub(crate) fn has_two_words(instruction: &Instruction) -> bool {
    instruction.modifiers.has("f32x2")
}

/// Arithmetic of two f32 values in 64 bits.
fn two_words(one: &mut One<'_, '_>) -> Decoded {
    let ty = ScalarType::B64;
    let (d, a, b) = (one.result(0, ty)?, one.value(0, ty)?, one.value(1, ty)?);
    let mut args = Args { d, a, b, extra: Extra::Mode(one.mode()), ..Args::default() };
    let run: Run = match one.instruction.opcode {
        Opcode::Add => modes::add_words,
        Opcode::Sub => modes::sub_words,
        Opcode::Mul => modes::mul_words,
        Opcode::Fma => {
            args.c = one.value(2, ty)?;
            modes::fma_words
        }
        _ => return Err(one.malformed("no arithmetic of two f32 values")),
    };
    Ok((Action::Compute(run), args))
}

/// f32 arithmetic whose first source (and of `fma` the second) is a half.
fn mixed_precision(one: &mut One<'_, '_>, from: ScalarType) -> Decoded {
    let mut args = Args { d: one.result(0, ScalarType::F32)?, ..Args::default() };
    args.extra = Extra::Mode(one.mode());
    args.a = one.value(0, from)?;
    let last = one.instruction.sources.len() - 1;
    args.c = one.value(last, ScalarType::F32)?;
    let opcode = one.instruction.opcode;
    if opcode == Opcode::Fma {
        args.b = one.value(1, from)?;
    }
    let run: Run = match (opcode, from) {
        (Opcode::Add, ScalarType::F16) => modes::add_mixed::<F16>,
        (Opcode::Add, ScalarType::Bf16) => modes::add_mixed::<Bf16>,
        (Opcode::Sub, ScalarType::F16) => modes::sub_mixed::<F16>,
        (Opcode::Sub, ScalarType::Bf16) => modes::sub_mixed::<Bf16>,
        (Opcode::Fma, ScalarType::F16) => modes::fma_mixed::<F16>,
        (Opcode::Fma, ScalarType::Bf16) => modes::fma_mixed::<Bf16>,
        _ => return Err(one.unsupported("")),
    };
    Ok((Action::Compute(run), args))
}

fn exact(one: &One<'_, '_>, args: &mut Args, ty: ScalarType) -> Option<Run> {
    let mode = one.mode();
    let opcode = one.instruction.opcode;
    if let Some(run) = nearest::arithmetic(opcode, ty, mode) {
        return Some(run);
    }
    args.extra = Extra::Mode(mode);
    match opcode {
        Opcode::Add => for_format!(ty, add, add_pair),
        Opcode::Sub => for_format!(ty, sub, sub_pair),
        Opcode::Mul => for_format!(ty, mul, mul_pair),
        _ => for_format!(ty, fma, fma_pair),
    }
}

fn extremum(one: &One<'_, '_>, args: &mut Args, ty: ScalarType) -> Option<Run> {
    let modifiers = &one.instruction.modifiers;
    let (ftz, propagate_nan) = (modifiers.ftz, modifiers.propagate_nan);
    let mode = MinMax { ftz, propagate_nan, xorsign_abs: modifiers.xorsign_abs };
    let minimal = one.instruction.opcode == Opcode::Min;
    if one.instruction.sources.len() == 3 {
        args.extra = Extra::Three { minimal, absolute: modifiers.has("abs"), mode };
        return Some(modes::extremum_of_three);
    }
    if !mode.propagate_nan
        && !mode.xorsign_abs
        && let Some(run) = nearest::extremum(minimal, ty, ftz)
    {
        return Some(run);
    }
    args.extra = Extra::MinMax(mode);
    if minimal {
        for_format!(ty, minimum, minimum_pair)
    } else {
        for_format!(ty, maximum, maximum_pair)
    }
}

fn sign(one: &One<'_, '_>, args: &mut Args, ty: ScalarType) -> Option<Run> {
    args.extra = Extra::Flag(one.instruction.modifiers.ftz);
    match (one.instruction.opcode, ty) {
        (Opcode::Abs, _) => for_format!(ty, absolute, absolute_pair),
        (Opcode::Neg, _) => for_format!(ty, negate, negate_pair),
        (_, ScalarType::F32) => Some(modes::copysign::<F32>),
        (_, ScalarType::F64) => Some(modes::copysign::<F64>),
        _ => None,
    }
}

/// Division, roots, reciprocals and approximate functions.
fn function(one: &One<'_, '_>, args: &mut Args, ty: ScalarType) -> Option<Run> {
    args.extra = Extra::Flag(one.instruction.modifiers.ftz);
    if let Some(run) = approximate(one, ty) {
        return Some(run);
    }
    let (opcode, mode) = (one.instruction.opcode, one.mode());
    if let Some(run) = nearest::arithmetic(opcode, ty, mode) {
        return Some(run);
    }
    args.extra = Extra::Mode(mode);
    match opcode {
        Opcode::Div => for_format!(ty, div, div_pair),
        Opcode::Rcp => for_format!(ty, rcp, rcp_pair),
        Opcode::Sqrt => for_format!(ty, sqrt, sqrt_pair),
        _ => None,
    }
}

fn approximate(one: &One<'_, '_>, ty: ScalarType) -> Option<Run> {
    let modifiers = &one.instruction.modifiers;
    // PTX 1.x wrote approximate f32 division and roots without a modifier.
    let unrounded = ty == ScalarType::F32 && modifiers.rounding.is_none();
    let approx = modifiers.approx || unrounded;
    let run: Run = match (one.instruction.opcode, ty) {
        (Opcode::Div, ScalarType::F32) if modifiers.full => approximate::div_full,
        (Opcode::Div, ScalarType::F32) if approx => approximate::div_approx,
        (Opcode::Rcp, ScalarType::F32) if approx => approximate::rcp_approx,
        (Opcode::Sqrt, ScalarType::F32) if approx => approximate::sqrt_approx,
        (Opcode::Rcp, ScalarType::F64) if modifiers.approx => approximate::rcp64_ftz,
        (Opcode::Rsqrt, ScalarType::F64) if modifiers.ftz => approximate::rsqrt64_ftz,
        (Opcode::Rsqrt, ScalarType::F64) => approximate::rsqrt64,
        (Opcode::Rsqrt, ScalarType::F32) => approximate::rsqrt,
        (Opcode::Sin, ScalarType::F32) => approximate::sin,
        (Opcode::Cos, ScalarType::F32) => approximate::cos,
        (Opcode::Lg2, ScalarType::F32) => approximate::lg2,
        (Opcode::Ex2, ScalarType::F32) => approximate::ex2,
        (Opcode::Ex2, ScalarType::F16) => approximate::ex2_half,
        (Opcode::Ex2, ScalarType::F16x2) => approximate::ex2_half_pair,
        (Opcode::Ex2, ScalarType::Bf16) => approximate::ex2_brain,
        (Opcode::Ex2, ScalarType::Bf16x2) => approximate::ex2_brain_pair,
        (Opcode::Tanh, ScalarType::F32) => approximate::tanh32,
        (Opcode::Tanh, ScalarType::F16) => approximate::tanh_half,
        (Opcode::Tanh, ScalarType::F16x2) => approximate::tanh_half_pair,
        (Opcode::Tanh, ScalarType::Bf16) => approximate::tanh_brain,
        (Opcode::Tanh, ScalarType::Bf16x2) => approximate::tanh_brain_pair,
        _ => return None,
    };
    Some(run)
}
