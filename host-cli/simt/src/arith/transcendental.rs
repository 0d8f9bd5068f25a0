//! The `.approx` and `.full` instructions.
//!
//! Every result is computed in f64, or by one correctly rounded f32 operation, and rounded to
//! nearest once. So the error is at most a little over half a unit in the last place (0.51 for
//! f32), inside what PTX allows; PTX's bound is in each function's text. "Relative" and "absolute"
//! bounds are against the exact value. Real hardware gives other bits within the same bounds.
//!
//! `ftz`: subnormal inputs and results become zero of the same sign.

use super::convert::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
use super::native::{canonical_f32, canonical_f64, div_f32, flush_f32, rcp_f32, sqrt_f32};
use super::soft::Format;

/// Applies `operation` between the flushing of input and result.
#[inline]
fn flushed(a: u32, ftz: bool, operation: impl Fn(u32) -> u32) -> u32 {
    if ftz { flush_f32(operation(flush_f32(a))) } else { operation(a) }
}

/// Applies an f64 function and rounds.
#[inline]
fn through_f64(a: u32, function: impl Fn(f64) -> f64) -> u32 {
    canonical_f32(function(f64::from(f32::from_bits(a))) as f32)
}

/// `sin.approx.f32`. PTX: absolute error up to 2^-20.5 in `[-2 pi, 2 pi]`, 2^-14.7 in
/// `[-100 pi, 100 pi]`, no bound beyond; infinities give NaN.
#[inline]
pub fn sin_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, |a| through_f64(a, libm::sin))
}

/// `cos.approx.f32`. PTX: bounds as for [`sin_f32`].
#[inline]
pub fn cos_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, |a| through_f64(a, libm::cos))
}

/// `ex2.approx.f32`. PTX: 2 units in the last place.
#[inline]
pub fn ex2_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, |a| through_f64(a, libm::exp2))
}

/// `lg2.approx.f32`. PTX: absolute error up to 2^-22 in `(0.5, 2)`, relative 2^-22 elsewhere; both
/// zeros give minus infinity, other negative numbers NaN.
#[inline]
pub fn lg2_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, |a| through_f64(a, libm::log2))
}

/// `tanh.approx.f32`. PTX: relative error up to 2^-11; subnormal inputs pass through.
#[inline]
pub fn tanh_f32(a: u32) -> u32 {
    through_f64(a, libm::tanh)
}

/// `rsqrt.approx.f32`. PTX: relative error up to 2^-22.9; a zero gives infinity of its sign, other
/// negative numbers NaN.
#[inline]
pub fn rsqrt_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, |a| through_f64(a, |x| 1.0 / x.sqrt()))
}

/// `rcp.approx.f32`, correctly rounded. PTX: 1 unit in the last place.
#[inline]
pub fn rcp_approx_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, rcp_f32)
}

/// `sqrt.approx.f32`, correctly rounded. PTX: relative error up to 2^-23.
#[inline]
pub fn sqrt_approx_f32(a: u32, ftz: bool) -> u32 {
    flushed(a, ftz, sqrt_f32)
}

/// `div.approx.f32`, correctly rounded for `|b|` up to 2^126. PTX: 2 units in the last place for
/// `|b|` in `[2^-126, 2^126]`. For greater finite `|b|` the result is, as PTX says, NaN for
/// infinite `a` and otherwise zero of the quotient's sign (of a NaN it is a NaN).
#[inline]
pub fn div_approx_f32(a: u32, b: u32, ftz: bool) -> u32 {
    let (a, b) = if ftz { (flush_f32(a), flush_f32(b)) } else { (a, b) };
    let quotient = div_f32(a, b);
    let magnitude = b & 0x7fff_ffff;
    // 2^126 is 0x7e800000.
    let huge = magnitude > 0x7e80_0000 && magnitude < 0x7f80_0000;
    let a_magnitude = a & 0x7fff_ffff;
    if huge && a_magnitude >= 0x7f80_0000 {
        Format::F32.nan() as u32
    } else if huge {
        (a ^ b) & 0x8000_0000
    } else if ftz {
        flush_f32(quotient)
    } else {
        quotient
    }
}

/// `div.full.f32`, correctly rounded. PTX: 2 units in the last place.
#[inline]
pub fn div_full_f32(a: u32, b: u32, ftz: bool) -> u32 {
    if ftz { flush_f32(div_f32(flush_f32(a), flush_f32(b))) } else { div_f32(a, b) }
}

/// `rsqrt.approx.f64`: a division by a square root, each correctly rounded, so within 1.5 units in
/// the last place. PTX gives no bound.
#[inline]
pub fn rsqrt_f64(a: u64) -> u64 {
    canonical_f64(1.0 / f64::from_bits(a).sqrt())
}

/// The upper word, subnormal numbers as zeros: what the `.approx.ftz.f64` instructions look at.
#[inline]
fn upper_word(a: u64) -> f64 {
    f64::from_bits(Format::F64.flush(a & UPPER_WORD))
}

/// The upper word of a result, subnormal numbers as zeros, and PTX's NaN for these instructions.
#[inline]
fn upper_result(value: f64) -> u64 {
    if value.is_nan() {
        0x7fff_ffff_0000_0000
    } else {
        Format::F64.flush(value.to_bits()) & UPPER_WORD
    }
}

/// Bits 63 to 32.
const UPPER_WORD: u64 = 0xffff_ffff_0000_0000;

/// `rcp.approx.ftz.f64`: the reciprocal of the upper word of `a`, cut to its upper word (relative
/// error of the cut below 2^-20). A NaN is `0x7fffffff00000000`.
#[inline]
pub fn rcp_approx_ftz_f64(a: u64) -> u64 {
    upper_result(1.0 / upper_word(a))
}

/// `rsqrt.approx.ftz.f64`: the reciprocal root of the upper word of `a`, cut likewise.
#[inline]
pub fn rsqrt_approx_ftz_f64(a: u64) -> u64 {
    upper_result(1.0 / upper_word(a).sqrt())
}

/// `ex2.approx.f16`. PTX: relative error up to 2^-9.9.
#[inline]
pub fn ex2_f16(a: u16) -> u16 {
    f16_from_f32(through_f64(f32_from_f16(a), libm::exp2))
}

/// `ex2.approx.ftz.bf16`. PTX: relative error up to 2^-7.
#[inline]
pub fn ex2_ftz_bf16(a: u16) -> u16 {
    let input = Format::BF16.flush(a.into()) as u16;
    let result = bf16_from_f32(through_f64(f32_from_bf16(input), libm::exp2));
    Format::BF16.flush(result.into()) as u16
}

/// `tanh.approx.f16`. PTX: absolute error up to 2^-10.987.
#[inline]
pub fn tanh_f16(a: u16) -> u16 {
    f16_from_f32(through_f64(f32_from_f16(a), libm::tanh))
}

/// `tanh.approx.bf16`. PTX: absolute error up to 2^-8.
#[inline]
pub fn tanh_bf16(a: u16) -> u16 {
    bf16_from_f32(through_f64(f32_from_bf16(a), libm::tanh))
}
