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

/// Two f32 operations on the halves of 64 bits: two sources, by method of [`Float`].
macro_rules! two_words {
    ($($name:ident $method:ident;)*) => {
        $(
            pub(super) fn $name(l: &mut Lanes, o: &Args, m: u32) {
                let mode = mode(o);
                sparse2(l, m, o.d, (o.a, o.b), |a: u64, b: u64| {
                    per_word([a, b], |[a, b]| F32::$method(a, b, mode))
                });
            }
        )*
    };
}

two_words! {
    add_words add;
    sub_words sub;
    mul_words mul;
}

/// `fma.f32x2`.
pub(super) fn fma_words(l: &mut Lanes, o: &Args, m: u32) {
    let mode = mode(o);
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u64, b: u64, c: u64| {
        per_word([a, b, c], |[a, b, c]| F32::fma(a, b, c, mode))
    });
}

/// Applies an operation to the lower words and to the upper words.
fn per_word<const N: usize>(values: [u64; N], f: impl Fn([u32; N]) -> u32) -> u64 {
    let low = f(values.map(|value| value as u32));
    let high = f(values.map(|value| (value >> 32) as u32));
    u64::from(low) | u64::from(high) << 32
}

/// `min.f32` and `max.f32` of three sources.
pub(super) fn extremum_of_three(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Three { minimal, absolute, mode } = o.extra else { return };
    let choose = |a, b| if minimal { F32::min(a, b, mode) } else { F32::max(a, b, mode) };
    let input = |a| if absolute { F32::abs(a, false) } else { a };
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u32, b: u32, c: u32| {
        choose(choose(input(a), input(b)), input(c))
    });
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
