//! Floating-point rows of any format and in any mode, lane by lane.

use crate::arith::Mode;
use crate::arith::convert::{f32_from_bf16, f32_from_f16};
use crate::arith::float::{Bf16, F16, F32, Float, MinMax};
use crate::arith::integer::{per_half, per_half1, per_half3};
use crate::micro::{Args, Extra};
use crate::row::{Lanes, Value, map1, map2, sparse1, sparse2, sparse3};

fn mode(o: &Args) -> Mode {
    if let Extra::Mode(mode) = o.extra { mode } else { Mode::NEAREST }
}

fn min_max(o: &Args) -> MinMax {
    if let Extra::MinMax(mode) = o.extra { mode } else { MinMax::default() }
}

fn ftz(o: &Args) -> bool {
    matches!(o.extra, Extra::Flag(true))
}

/// Any format, any mode: two sources, by method of [`Float`].
macro_rules! modes {
    ($($name:ident $packed:ident $method:ident $sparse:ident $per:ident ($($x:ident),*);)*) => {
        $(
            pub(super) fn $name<F: Float>(l: &mut Lanes, o: &Args, m: u32)
            where
                F::Bits: Value,
            {
                let mode = mode(o);
                $sparse(l, m, o.d, ($(o.$x),*), |$($x: F::Bits),*| F::$method($($x,)* mode));
            }
            pub(super) fn $packed<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
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

pub(super) fn minimum<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a: F::Bits, b| F::min(a, b, mode));
}

pub(super) fn minimum_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| per_half(a, b, |a, b| F::min(a, b, mode)));
}

pub(super) fn maximum<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a: F::Bits, b| F::max(a, b, mode));
}

pub(super) fn maximum_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = min_max(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| per_half(a, b, |a, b| F::max(a, b, mode)));
}

pub(super) fn absolute<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let ftz = ftz(o);
    map1(l, m, o.d, o.a, |a: F::Bits| F::abs(a, ftz));
}

pub(super) fn absolute_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = ftz(o);
    map1(l, m, o.d, o.a, |a| per_half1(a, |a| F::abs(a, ftz)));
}

pub(super) fn negate<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let ftz = ftz(o);
    map1(l, m, o.d, o.a, |a: F::Bits| F::neg(a, ftz));
}

pub(super) fn negate_pair<F: Float<Bits = u16>>(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = ftz(o);
    map1(l, m, o.d, o.a, |a| per_half1(a, |a| F::neg(a, ftz)));
}

pub(super) fn copysign<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    // PTX: the sign of the first source on the second source.
    map2(l, m, o.d, (o.a, o.b), |a: F::Bits, b| F::copysign(a, b));
}

/// A 16-bit format, widened exactly to f32.
pub(super) trait Widen {
    fn widen(a: u16) -> u32;
}

impl Widen for F16 {
    fn widen(a: u16) -> u32 {
        f32_from_f16(a)
    }
}

impl Widen for Bf16 {
    fn widen(a: u16) -> u32 {
        f32_from_bf16(a)
    }
}

/// f32 addition whose first source is a half.
pub(super) fn add_mixed<H: Widen>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = mode(o);
    sparse2(l, m, o.d, (o.a, o.c), |a, c| F32::add(H::widen(a), c, mode));
}

/// f32 subtraction whose first source is a half.
pub(super) fn sub_mixed<H: Widen>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = mode(o);
    sparse2(l, m, o.d, (o.a, o.c), |a, c| F32::sub(H::widen(a), c, mode));
}

/// f32 `fma` whose factors are halves.
pub(super) fn fma_mixed<H: Widen>(l: &mut Lanes, o: &Args, m: u32) {
    let mode = mode(o);
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| F32::fma(H::widen(a), H::widen(b), c, mode));
}
