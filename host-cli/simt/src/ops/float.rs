//! Floating-point arithmetic: `add sub mul mad fma div rcp sqrt rsqrt min max abs neg copysign`
//! and the approximate functions.
//!
//! `.rn` of f32 and f64 runs on the host's own IEEE operations in straight loops; `fma` uses the
//! host's instruction where it has one and an exact computation where not, with the same bits.

use strata_ptx::opcode::{Opcode, Rounding};
use strata_ptx::types::ScalarType;

use crate::arith::convert::f32_from_f16;
use crate::arith::float::{Bf16, F16, F32, F64, Float, MinMax};
use crate::arith::integer::{per_half, per_half1, per_half3};
use crate::arith::native;
use crate::arith::transcendental as special;
use crate::arith::{Mode, native::flush_f32, native::saturate_f32};
use crate::decode::{Decoded, One};
use crate::micro::{Action, Args, Extra, Run};
use crate::row::{Lanes, Value, map1, map2, map3, sparse1, sparse2, sparse3};

fn mode(o: &Args) -> Mode {
    if let Extra::Mode(mode) = o.extra { mode } else { Mode::NEAREST }
}

fn min_max(o: &Args) -> MinMax {
    if let Extra::MinMax(mode) = o.extra { mode } else { MinMax::default() }
}

fn flag(o: &Args) -> bool {
    matches!(o.extra, Extra::Flag(true))
}

/// f32 operations of two sources to nearest, by `.ftz` and `.sat`.
macro_rules! single2 {
    ($($plain:ident $ftz:ident $sat:ident $both:ident $f:path;)*) => {
        $(
            fn $plain(l: &mut Lanes, o: &Args, m: u32) {
                map2(l, m, o.d, (o.a, o.b), $f);
            }
            fn $ftz(l: &mut Lanes, o: &Args, m: u32) {
                map2(l, m, o.d, (o.a, o.b), |a, b| flush_f32($f(flush_f32(a), flush_f32(b))));
            }
            fn $sat(l: &mut Lanes, o: &Args, m: u32) {
                map2(l, m, o.d, (o.a, o.b), |a, b| saturate_f32($f(a, b)));
            }
            fn $both(l: &mut Lanes, o: &Args, m: u32) {
                map2(l, m, o.d, (o.a, o.b), |a, b| {
                    saturate_f32(flush_f32($f(flush_f32(a), flush_f32(b))))
                });
            }
        )*
    };
}

single2! {
    add32 add32_ftz add32_sat add32_both native::add_f32;
    sub32 sub32_ftz sub32_sat sub32_both native::sub_f32;
    mul32 mul32_ftz mul32_sat mul32_both native::mul_f32;
    div32 div32_ftz div32_sat div32_both native::div_f32;
}

/// f32 and f64 operations to nearest without modifiers.
macro_rules! plain {
    ($($name:ident $map:ident ($($x:ident),*) $f:path;)*) => {
        $(
            fn $name(l: &mut Lanes, o: &Args, m: u32) {
                $map(l, m, o.d, ($(o.$x),*), $f);
            }
        )*
    };
}

plain! {
    min32 map2 (a, b) native::min_f32;
    max32 map2 (a, b) native::max_f32;
    min32_ftz map2 (a, b) min_flushed;
    max32_ftz map2 (a, b) max_flushed;
    sqrt32 map1 (a) native::sqrt_f32;
    rcp32 map1 (a) native::rcp_f32;
    add64 map2 (a, b) native::add_f64;
    sub64 map2 (a, b) native::sub_f64;
    mul64 map2 (a, b) native::mul_f64;
    div64 map2 (a, b) native::div_f64;
    min64 map2 (a, b) native::min_f64;
    max64 map2 (a, b) native::max_f64;
    rcp64 map1 (a) native::rcp_f64;
    sqrt64 map1 (a) native::sqrt_f64;
    rsqrt64 sparse1 (a) special::rsqrt_f64;
    rsqrt64_ftz sparse1 (a) special::rsqrt_approx_ftz_f64;
    rcp64_ftz sparse1 (a) special::rcp_approx_ftz_f64;
    tanh32 sparse1 (a) special::tanh_f32;
}

fn min_flushed(a: u32, b: u32) -> u32 {
    native::min_f32(flush_f32(a), flush_f32(b))
}

fn max_flushed(a: u32, b: u32) -> u32 {
    native::max_f32(flush_f32(a), flush_f32(b))
}

/// The f32 operation `a * b + c` of one lane, as the hardware instruction where the loop around it
/// is compiled for hosts that have one.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn fused32(a: u32, b: u32, c: u32) -> u32 {
    native::canonical_f32(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn fused64(a: u64, b: u64, c: u64) -> u64 {
    native::canonical_f64(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
}

/// Whether loops dispatched by `pulp` contain a fused multiply-add instruction. Elsewhere `mul_add`
/// is a call of the host's library, twenty times slower than the portable computation.
fn has_fused(arch: pulp::Arch) -> bool {
    !matches!(arch, pulp::Arch::Scalar)
}

/// `fma.rn.f32` with a step before and a step after.
#[inline]
fn fma32_with(
    l: &mut Lanes,
    o: &Args,
    m: u32,
    before: impl Fn(u32) -> u32,
    after: impl Fn(u32) -> u32,
) {
    let arch = pulp::Arch::new();
    let mut result = [0; 32];
    let [a, b, c] = [o.a, o.b, o.c].map(|row| &l.rows[row as usize].0);
    if has_fused(arch) {
        arch.dispatch(
            #[inline(always)]
            || {
                for lane in 0..32 {
                    result[lane] = fused32(before(a[lane]), before(b[lane]), before(c[lane]));
                }
            },
        );
    } else {
        for lane in 0..32 {
            result[lane] = native::fma_f32(before(a[lane]), before(b[lane]), before(c[lane]));
        }
    }
    for value in &mut result {
        *value = after(*value);
    }
    u32::store(l, o.d, &result, m);
}

fn fma32(l: &mut Lanes, o: &Args, m: u32) {
    fma32_with(l, o, m, |x| x, |x| x);
}

fn fma32_ftz(l: &mut Lanes, o: &Args, m: u32) {
    fma32_with(l, o, m, flush_f32, flush_f32);
}

fn fma32_sat(l: &mut Lanes, o: &Args, m: u32) {
    fma32_with(l, o, m, |x| x, saturate_f32);
}

fn fma32_both(l: &mut Lanes, o: &Args, m: u32) {
    fma32_with(l, o, m, flush_f32, |x| saturate_f32(flush_f32(x)));
}

fn fma64(l: &mut Lanes, o: &Args, m: u32) {
    let arch = pulp::Arch::new();
    if !has_fused(arch) {
        return map3(l, m, o.d, (o.a, o.b, o.c), native::fma_f64);
    }
    let mut result = u64::blank();
    let (a, b, c) = (u64::source(l, o.a), u64::source(l, o.b), u64::source(l, o.c));
    arch.dispatch(
        #[inline(always)]
        || {
            for lane in 0..32 {
                let value = fused64(u64::lane(a, lane), u64::lane(b, lane), u64::lane(c, lane));
                u64::set(&mut result, lane, value);
            }
        },
    );
    u64::store(l, o.d, &result, m);
}

/// Any format, any mode: two sources, by method of [`Float`].
macro_rules! modes {
    ($($name:ident $packed:ident $method:ident $sparse:ident $per:ident ($($x:ident),*);)*) => {
        $(
            fn $name<F: Float>(l: &mut Lanes, o: &Args, m: u32)
            where
                F::Bits: Value,
            {
                let mode = mode(o);
                $sparse(l, m, o.d, ($(o.$x),*), |$($x: F::Bits),*| F::$method($($x,)* mode));
            }
            fn $packed<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
                let mode = mode(o);
                $sparse(l, m, o.d, ($(o.$x),*), |$($x: u32),*| {
                    $per($($x,)* |$($x),*| F::$method($($x,)* mode))
                });
            }
        )*
    };
}

modes! {
    add add_pair add sparse2 per_half (a, b);
    sub sub_pair sub sparse2 per_half (a, b);
    mul mul_pair mul sparse2 per_half (a, b);
    fma fma_pair fma sparse3 per_half3 (a, b, c);
    div div_pair div sparse2 per_half (a, b);
    rcp rcp_pair rcp sparse1 per_half1 (a);
    sqrt sqrt_pair sqrt sparse1 per_half1 (a);
}

fn minimum<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a: F::Bits, b| F::min(a, b, mode));
}

fn minimum_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| per_half(a, b, |a, b| F::min(a, b, mode)));
}

fn maximum<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a: F::Bits, b| F::max(a, b, mode));
}

fn maximum_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| per_half(a, b, |a, b| F::max(a, b, mode)));
}

fn absolute<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let ftz = flag(o);
    map1(l, m, o.d, o.a, |a: F::Bits| F::abs(a, ftz));
}

fn absolute_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = flag(o);
    map1(l, m, o.d, o.a, |a| per_half1(a, |a| F::abs(a, ftz)));
}

fn negate<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let ftz = flag(o);
    map1(l, m, o.d, o.a, |a: F::Bits| F::neg(a, ftz));
}

fn negate_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = flag(o);
    map1(l, m, o.d, o.a, |a| per_half1(a, |a| F::neg(a, ftz)));
}

fn copysign<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    // PTX: the sign of the first source on the second source.
    map2(l, m, o.d, (o.a, o.b), |a: F::Bits, b| F::copysign(a, b));
}

/// Approximate functions of f32 that know `.ftz`.
macro_rules! approximate {
    ($($name:ident $f:path;)*) => {
        $(
            fn $name(l: &mut Lanes, o: &Args, m: u32) {
                let ftz = flag(o);
                sparse1(l, m, o.d, o.a, |a| $f(a, ftz));
            }
        )*
    };
}

approximate! {
    sin special::sin_f32;
    cos special::cos_f32;
    ex2 special::ex2_f32;
    lg2 special::lg2_f32;
    rsqrt special::rsqrt_f32;
    rcp_approx special::rcp_approx_f32;
    sqrt_approx special::sqrt_approx_f32;
}

fn div_approx(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = flag(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| special::div_approx_f32(a, b, ftz));
}

fn div_full(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = flag(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| special::div_full_f32(a, b, ftz));
}

/// Functions of halves, alone and in pairs.
macro_rules! halves {
    ($($name:ident $pair:ident $f:path;)*) => {
        $(
            fn $name(l: &mut Lanes, o: &Args, m: u32) {
                sparse1(l, m, o.d, o.a, $f);
            }
            fn $pair(l: &mut Lanes, o: &Args, m: u32) {
                sparse1(l, m, o.d, o.a, |a| per_half1(a, $f));
            }
        )*
    };
}

halves! {
    ex2_half ex2_half_pair special::ex2_f16;
    ex2_brain ex2_brain_pair special::ex2_ftz_bf16;
    tanh_half tanh_half_pair special::tanh_f16;
    tanh_brain tanh_brain_pair special::tanh_bf16;
}

/// f32 arithmetic whose first source (and of `fma` the second) is a half: it is widened exactly.
fn mixed<const BRAIN: bool, const OPCODE: u8>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = mode(o);
    let widen = |a: u16| {
        if BRAIN { u32::from(a) << 16 } else { f32_from_f16(a) }
    };
    match OPCODE {
        0 => sparse2(l, m, o.d, (o.a, o.c), |a: u16, c| F32::add(widen(a), c, mode)),
        1 => sparse2(l, m, o.d, (o.a, o.c), |a: u16, c| F32::sub(widen(a), c, mode)),
        _ => sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u16, b: u16, c| {
            F32::fma(widen(a), widen(b), c, mode)
        }),
    }
}

/// The function for a format, for formats alone and in pairs.
macro_rules! for_format {
    ($ty:expr, $single:ident, $pair:ident) => {
        match $ty {
            ScalarType::F32 => Some($single::<F32> as Run),
            ScalarType::F64 => Some($single::<F64> as Run),
            ScalarType::F16 => Some($single::<F16> as Run),
            ScalarType::Bf16 => Some($single::<Bf16> as Run),
            ScalarType::F16x2 => Some($pair::<F16> as Run),
            ScalarType::Bf16x2 => Some($pair::<Bf16> as Run),
            _ => None,
        }
    };
}

/// The hot function of an f32 or f64 operation in this mode, if there is one.
fn hot(opcode: Opcode, ty: ScalarType, mode: Mode) -> Option<Run> {
    if mode.rounding != Rounding::NearestEven || mode.relu {
        return None;
    }
    if ty == ScalarType::F64 {
        return match opcode {
            Opcode::Add => Some(add64),
            Opcode::Sub => Some(sub64),
            Opcode::Mul => Some(mul64),
            Opcode::Div => Some(div64),
            Opcode::Fma | Opcode::Mad => Some(fma64),
            Opcode::Rcp => Some(rcp64),
            Opcode::Sqrt => Some(sqrt64),
            _ => None,
        };
    }
    let by_modifiers = |[plain, ftz, sat, both]: [Run; 4]| match (mode.ftz, mode.sat) {
        (false, false) => plain,
        (true, false) => ftz,
        (false, true) => sat,
        (true, true) => both,
    };
    match opcode {
        _ if ty != ScalarType::F32 => None,
        Opcode::Add => Some(by_modifiers([add32, add32_ftz, add32_sat, add32_both])),
        Opcode::Sub => Some(by_modifiers([sub32, sub32_ftz, sub32_sat, sub32_both])),
        Opcode::Mul => Some(by_modifiers([mul32, mul32_ftz, mul32_sat, mul32_both])),
        Opcode::Div => Some(by_modifiers([div32, div32_ftz, div32_sat, div32_both])),
        Opcode::Fma | Opcode::Mad => Some(by_modifiers([fma32, fma32_ftz, fma32_sat, fma32_both])),
        Opcode::Sqrt if !mode.ftz => Some(sqrt32),
        Opcode::Rcp if !mode.ftz => Some(rcp32),
        _ => None,
    }
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let ty = one.ty(0)?;
    if one.instruction.modifiers.other.iter().any(|word| word == "oob") {
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

fn mixed_precision(one: &mut One<'_, '_>, from: ScalarType) -> Decoded {
    let brain = match from {
        ScalarType::F16 => false,
        ScalarType::Bf16 => true,
        _ => return Err(one.unsupported("")),
    };
    let mut args = Args { d: one.result(0, ScalarType::F32)?, ..Args::default() };
    args.extra = Extra::Mode(one.mode());
    args.a = one.value(0, from)?;
    let last = one.instruction.sources.len() - 1;
    args.c = one.value(last, ScalarType::F32)?;
    let run: Run = match (one.instruction.opcode, brain) {
        (Opcode::Add, false) => mixed::<false, 0>,
        (Opcode::Add, true) => mixed::<true, 0>,
        (Opcode::Sub, false) => mixed::<false, 1>,
        (Opcode::Sub, true) => mixed::<true, 1>,
        (Opcode::Fma, brain) => {
            args.b = one.value(1, from)?;
            if brain { mixed::<true, 2> } else { mixed::<false, 2> }
        }
        _ => return Err(one.unsupported("")),
    };
    Ok((Action::Compute(run), args))
}

fn exact(one: &One<'_, '_>, args: &mut Args, ty: ScalarType) -> Option<Run> {
    let mode = one.mode();
    let opcode = one.instruction.opcode;
    if let Some(run) = hot(opcode, ty, mode) {
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
    if !mode.propagate_nan && !mode.xorsign_abs {
        match (ty, minimal, mode.ftz) {
            (ScalarType::F32, true, false) => return Some(min32),
            (ScalarType::F32, false, false) => return Some(max32),
            (ScalarType::F32, true, true) => return Some(min32_ftz),
            (ScalarType::F32, false, true) => return Some(max32_ftz),
            (ScalarType::F64, true, _) => return Some(min64),
            (ScalarType::F64, false, _) => return Some(max64),
            _ => {}
        }
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
        (_, ScalarType::F32) => Some(copysign::<F32>),
        (_, ScalarType::F64) => Some(copysign::<F64>),
        _ => None,
    }
}

/// Division, roots, reciprocals and approximate functions.
fn function(one: &One<'_, '_>, args: &mut Args, ty: ScalarType) -> Option<Run> {
    let modifiers = &one.instruction.modifiers;
    let opcode = one.instruction.opcode;
    // PTX 1.x wrote approximate f32 division and roots without a modifier.
    let unrounded = ty == ScalarType::F32 && modifiers.rounding.is_none();
    let approximate = modifiers.approx || unrounded;
    args.extra = Extra::Flag(modifiers.ftz);
    let run: Run = match (opcode, ty) {
        (Opcode::Div, ScalarType::F32) if modifiers.full => div_full,
        (Opcode::Div, ScalarType::F32) if approximate => div_approx,
        (Opcode::Rcp, ScalarType::F32) if approximate => rcp_approx,
        (Opcode::Sqrt, ScalarType::F32) if approximate => sqrt_approx,
        (Opcode::Rcp, ScalarType::F64) if modifiers.approx => rcp64_ftz,
        (Opcode::Rsqrt, ScalarType::F64) if modifiers.ftz => rsqrt64_ftz,
        (Opcode::Rsqrt, ScalarType::F64) => rsqrt64,
        (Opcode::Rsqrt, ScalarType::F32) => rsqrt,
        (Opcode::Sin, ScalarType::F32) => sin,
        (Opcode::Cos, ScalarType::F32) => cos,
        (Opcode::Lg2, ScalarType::F32) => lg2,
        (Opcode::Ex2, ScalarType::F32) => ex2,
        (Opcode::Ex2, ScalarType::F16) => ex2_half,
        (Opcode::Ex2, ScalarType::F16x2) => ex2_half_pair,
        (Opcode::Ex2, ScalarType::Bf16) => ex2_brain,
        (Opcode::Ex2, ScalarType::Bf16x2) => ex2_brain_pair,
        (Opcode::Tanh, ScalarType::F32) => tanh32,
        (Opcode::Tanh, ScalarType::F16) => tanh_half,
        (Opcode::Tanh, ScalarType::F16x2) => tanh_half_pair,
        (Opcode::Tanh, ScalarType::Bf16) => tanh_brain,
        (Opcode::Tanh, ScalarType::Bf16x2) => tanh_brain_pair,
        (Opcode::Div | Opcode::Rcp | Opcode::Sqrt, _) => {
            let mode = one.mode();
            if let Some(run) = hot(opcode, ty, mode) {
                return Some(run);
            }
            args.extra = Extra::Mode(mode);
            return match opcode {
                Opcode::Div => for_format!(ty, div, div_pair),
                Opcode::Rcp => for_format!(ty, rcp, rcp_pair),
                _ => for_format!(ty, sqrt, sqrt_pair),
            };
        }
        _ => return None,
    };
    Some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    /// The row loop (fused instructions where the host has them) against the portable computation.
    #[test]
    fn fused_rows_equal_the_portable_computation() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 32) as u32
        };
        let mut lanes = Lanes { rows: vec![Row::ZERO; 8], predicates: Vec::new(), carry: 0 };
        let args = Args { d: 6, a: 0, b: 2, c: 4, ..Args::default() };
        for round in 0..2000 {
            for row in &mut lanes.rows[..6] {
                // Exponents near each other, so that products and addends meet.
                row.0 = std::array::from_fn(|_| {
                    let bits = next();
                    if round % 2 == 0 { bits } else { bits & 0x83ff_ffff | 0x3e00_0000 }
                });
            }
            fma32(&mut lanes, &args, u32::MAX);
            for lane in 0..32 {
                let [a, b, c] = [0, 2, 4].map(|row| lanes.get32(row, lane));
                let expected = native::fma_f32(a, b, c);
                assert_eq!(lanes.get32(6, lane), expected, "fma {a:#x} {b:#x} {c:#x}");
            }
            fma64(&mut lanes, &args, u32::MAX);
            for lane in 0..32 {
                let [a, b, c] = [0, 2, 4].map(|row| lanes.get64(row, lane));
                let expected = native::fma_f64(a, b, c);
                assert_eq!(lanes.get64(6, lane), expected, "fma {a:#x} {b:#x} {c:#x}");
            }
        }
    }
}
