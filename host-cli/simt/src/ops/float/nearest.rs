//! Floating-point rows to nearest: what hot loops use.
//!
//! `.rn` of f32 and f64 runs on the host's own IEEE operations in straight loops; `fma` uses the
//! host's instruction where it has one and an exact computation where not, with the same bits.

use strata_ptx::opcode::{Opcode, Rounding};
use strata_ptx::types::ScalarType;

use crate::arith::Mode;
use crate::arith::native::{self, flush_f32, saturate_f32};
use crate::micro::{Args, Run};
use crate::row::{Lanes, Value, map1, map2, map3};

/// An f32 input.
#[inline]
fn input<const FTZ: bool>(a: u32) -> u32 {
    if FTZ { flush_f32(a) } else { a }
}

/// An f32 result.
#[inline]
fn output<const FTZ: bool, const SAT: bool>(a: u32) -> u32 {
    let flushed = input::<FTZ>(a);
    if SAT { saturate_f32(flushed) } else { flushed }
}

/// f32 operations of two sources, by `.ftz` and `.sat`.
macro_rules! single2 {
    ($($name:ident $f:path;)*) => {
        $(
            fn $name<const FTZ: bool, const SAT: bool>(l: &mut Lanes, o: &Args, m: u32) {
                map2(l, m, o.d, (o.a, o.b), |a, b| {
                    output::<FTZ, SAT>($f(input::<FTZ>(a), input::<FTZ>(b)))
                });
            }
        )*
    };
}

single2! {
    add32 native::add_f32;
    sub32 native::sub_f32;
    mul32 native::mul_f32;
    div32 native::div_f32;
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

/// `fma.rn.f32`.
fn fma32<const FTZ: bool, const SAT: bool>(l: &mut Lanes, o: &Args, m: u32) {
    let arch = pulp::Arch::new();
    let mut result = [0; 32];
    let [a, b, c] = [o.a, o.b, o.c].map(|row| &l.rows[row as usize].0);
    let inputs = |lane: usize| [a, b, c].map(|row| input::<FTZ>(row[lane]));
    if has_fused(arch) {
        arch.dispatch(
            #[inline(always)]
            || {
                for (lane, value) in result.iter_mut().enumerate() {
                    let [a, b, c] = inputs(lane);
                    *value = fused32(a, b, c);
                }
            },
        );
    } else {
        for (lane, value) in result.iter_mut().enumerate() {
            let [a, b, c] = inputs(lane);
            *value = native::fma_f32(a, b, c);
        }
    }
    for value in &mut result {
        *value = output::<FTZ, SAT>(*value);
    }
    u32::store(l, o.d, &result, m);
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

/// The function of an f32 operation for `.ftz` and `.sat`.
macro_rules! by_modifiers {
    ($f:ident, $mode:expr) => {
        match ($mode.ftz, $mode.sat) {
            (false, false) => $f::<false, false> as Run,
            (true, false) => $f::<true, false> as Run,
            (false, true) => $f::<false, true> as Run,
            (true, true) => $f::<true, true> as Run,
        }
    };
}

/// The function of an f32 or f64 operation in this mode, if it is one of hot loops.
pub(super) fn arithmetic(opcode: Opcode, ty: ScalarType, mode: Mode) -> Option<Run> {
    if mode.rounding != Rounding::NearestEven || mode.relu {
        return None;
    }
    match ty {
        ScalarType::F32 => single(opcode, mode),
        ScalarType::F64 => double(opcode),
        _ => None,
    }
}

fn single(opcode: Opcode, mode: Mode) -> Option<Run> {
    match opcode {
        Opcode::Add => Some(by_modifiers!(add32, mode)),
        Opcode::Sub => Some(by_modifiers!(sub32, mode)),
        Opcode::Mul => Some(by_modifiers!(mul32, mode)),
        Opcode::Div => Some(by_modifiers!(div32, mode)),
        Opcode::Fma | Opcode::Mad => Some(by_modifiers!(fma32, mode)),
        Opcode::Sqrt if !mode.ftz => Some(sqrt32),
        Opcode::Rcp if !mode.ftz => Some(rcp32),
        _ => None,
    }
}

fn double(opcode: Opcode) -> Option<Run> {
    match opcode {
        Opcode::Add => Some(add64),
        Opcode::Sub => Some(sub64),
        Opcode::Mul => Some(mul64),
        Opcode::Div => Some(div64),
        Opcode::Fma | Opcode::Mad => Some(fma64),
        Opcode::Rcp => Some(rcp64),
        Opcode::Sqrt => Some(sqrt64),
        _ => None,
    }
}

/// The function of `min` or `max` without `.NaN` and `.xorsign`, if it is one of hot loops.
pub(super) fn extremum(minimal: bool, ty: ScalarType, ftz: bool) -> Option<Run> {
    match (ty, minimal, ftz) {
        (ScalarType::F32, true, false) => Some(min32),
        (ScalarType::F32, false, false) => Some(max32),
        (ScalarType::F32, true, true) => Some(min32_ftz),
        (ScalarType::F32, false, true) => Some(max32_ftz),
        (ScalarType::F64, true, _) => Some(min64),
        (ScalarType::F64, false, _) => Some(max64),
        _ => None,
    }
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
            fma32::<false, false>(&mut lanes, &args, u32::MAX);
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
