//! Floating-point operations of hot loops: `.rn`, no `.ftz`, no `.sat`.
//!
//! Each equals the function of the same name of [`super::float::Float`] with
//! [`super::Mode::NEAREST`], bit for bit, and has no branches, so that a loop over lanes
//! vectorises. For `.ftz` wrap inputs and result in [`flush_f32`], for `.sat` the result in
//! [`saturate_f32`].

use super::half::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
use super::soft::Format;

/// The canonical NaN of f32.
const NAN_F32: u32 = Format::F32.nan() as u32;
/// The canonical NaN of f64.
const NAN_F64: u64 = Format::F64.nan();

macro_rules! native {
    ($bits:ty, $float:ty, $canonical:path;
     $($name:ident $doc:literal ($($x:ident),*) $result:expr;)*) => {
        $(
            #[doc = $doc]
            #[inline]
            pub fn $name($($x: $bits),*) -> $bits {
                $(let $x = <$float>::from_bits($x);)*
                $canonical($result)
            }
        )*
    };
}

native! { u32, f32, canonical_f32;
    add_f32 "`add.rn.f32`." (a, b) a + b;
    sub_f32 "`sub.rn.f32`." (a, b) a - b;
    mul_f32 "`mul.rn.f32`." (a, b) a * b;
    div_f32 "`div.rn.f32`." (a, b) a / b;
    rcp_f32 "`rcp.rn.f32`." (a) 1.0 / a;
    sqrt_f32 "`sqrt.rn.f32`." (a) a.sqrt();
    fma_f32 "`fma.rn.f32` without FMA hardware: `f32::mul_add` with a canonical NaN." (a, b, c)
        // The product is exact in f64. Its sum with `c`, rounded to odd, keeps enough bits (53, at
        // least 24 + 2) for the second rounding to be right.
        sum_to_odd_f64(f64::from(a) * f64::from(b), f64::from(c)) as f32;
}

native! { u64, f64, canonical_f64;
    add_f64 "`add.rn.f64`." (a, b) a + b;
    sub_f64 "`sub.rn.f64`." (a, b) a - b;
    mul_f64 "`mul.rn.f64`." (a, b) a * b;
    div_f64 "`div.rn.f64`." (a, b) a / b;
    rcp_f64 "`rcp.rn.f64`." (a) 1.0 / a;
    sqrt_f64 "`sqrt.rn.f64`." (a) a.sqrt();
    fma_f64 "`fma.rn.f64` without FMA hardware: `f64::mul_add` with a canonical NaN." (a, b, c)
        libm::fma(a, b, c);
}

macro_rules! sum_to_odd {
    ($name:ident, $float:ty) => {
        /// `a + b` rounded to odd: where inexact, the neighbour whose last bit is one. Neither the
        /// sum nor an intermediate result may overflow, unless an input is infinite or NaN.
        #[inline]
        pub(super) fn $name(a: $float, b: $float) -> $float {
            let sum = a + b;
            // Knuth's exact error of the sum; NaN where the sum is not finite.
            let part = sum - a;
            let error = (a - (sum - part)) + (b - part);
            let bits = sum.to_bits();
            let away = (error > 0.0) == (sum > 0.0);
            let neighbour = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
            let move_on = (error.abs() > 0.0) & (bits & 1 == 0);
            <$float>::from_bits(if move_on { neighbour } else { bits })
        }
    };
}

sum_to_odd!(sum_to_odd_f32, f32);
sum_to_odd!(sum_to_odd_f64, f64);

/// The canonical NaN for any NaN, other bits unchanged: what a row of hardware operations needs.
#[inline]
pub fn canonical_f32(value: f32) -> u32 {
    if value.is_nan() { NAN_F32 } else { value.to_bits() }
}

/// The canonical NaN for any NaN of f64, other bits unchanged: what a row of hardware operations
/// needs.
#[inline]
pub fn canonical_f64(value: f64) -> u64 {
    if value.is_nan() { NAN_F64 } else { value.to_bits() }
}

/// `.ftz` of one f32 input or result: a subnormal becomes zero of the same sign.
#[inline]
pub fn flush_f32(a: u32) -> u32 {
    if a & 0x7f80_0000 == 0 { a & 0x8000_0000 } else { a }
}

/// `.sat` of an f32 result: clamps to `[+0, 1]`, a NaN becomes `+0`.
#[inline]
pub fn saturate_f32(a: u32) -> u32 {
    // As signed integers, the bits of positive numbers order as the numbers do, and negative ones
    // are negative.
    let clamped = (a as i32).clamp(0, 0x3f80_0000) as u32;
    if a & 0x7fff_ffff > 0x7f80_0000 { 0 } else { clamped }
}

macro_rules! min_max {
    ($bits:ty, $signed:ty, $infinity:expr, $nan:expr; $($name:ident $doc:literal $less:tt;)*) => {
        $(
            #[doc = $doc]
            #[inline]
            pub fn $name(a: $bits, b: $bits) -> $bits {
                // Sign and magnitude to two's complement: orders as the values do, -0 below +0.
                let key = |x: $bits| {
                    let sign = (x as $signed >> (<$bits>::BITS - 1)) as $bits;
                    (x ^ sign >> 1) as $signed
                };
                let is_nan = |x: $bits| x & (<$bits>::MAX >> 1) > $infinity;
                let ordered = if key(a) $less key(b) { a } else { b };
                let one = if is_nan(a) { b } else { ordered };
                let one = if is_nan(b) { a } else { one };
                if is_nan(one) { $nan } else { one }
            }
        )*
    };
}

min_max! { u32, i32, 0x7f80_0000, NAN_F32;
    min_f32 "`min.f32`: of a number and a NaN the number; `-0` is less than `+0`." <;
    max_f32 "`max.f32`, with the same rules." >;
}

min_max! { u64, i64, 0x7ff0_0000_0000_0000, NAN_F64;
    min_f64 "`min.f64`, with the same rules." <;
    max_f64 "`max.f64`, with the same rules." >;
}

/// The nearest integral value, ties to even; keeps the sign of a zero and any NaN.
#[inline]
pub(super) fn integral_nearest_f64(x: f64) -> f64 {
    // Numbers from here on have no fraction bits; adding it drops those of lesser ones.
    const WHOLE: f64 = (1u64 << (f64::MANTISSA_DIGITS - 1)) as f64;
    let magnitude = x.abs();
    let rounded = (magnitude + WHOLE) - WHOLE;
    (if magnitude < WHOLE { rounded } else { magnitude }).copysign(x)
}

/// The next integral value downwards, with the same rules.
#[inline]
pub(super) fn integral_down_f64(x: f64) -> f64 {
    let nearest = integral_nearest_f64(x);
    (if nearest > x { nearest - 1.0 } else { nearest }).copysign(x)
}

/// The next integral value upwards, with the same rules.
#[inline]
pub(super) fn integral_up_f64(x: f64) -> f64 {
    let nearest = integral_nearest_f64(x);
    (if nearest < x { nearest + 1.0 } else { nearest }).copysign(x)
}

/// The next integral value towards zero, with the same rules.
#[inline]
pub(super) fn integral_zero_f64(x: f64) -> f64 {
    integral_down_f64(x.abs()).copysign(x)
}

/// An f64 rounded to odd to f32: where inexact, the neighbour whose last bit is one.
#[inline]
pub(super) fn to_odd_f32(a: f64) -> f32 {
    let nearest = a as f32;
    let wide = f64::from(nearest);
    let bits = nearest.to_bits();
    let away = (a > wide) == (a > 0.0);
    let neighbour = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    // False for a NaN.
    let inexact = (a - wide).abs() > 0.0;
    f32::from_bits(if inexact && bits & 1 == 0 { neighbour } else { bits })
}

macro_rules! half {
    ($from:path, $to:path, $wide:ty, |$result:ident| $narrow:expr;
     $($name:ident $doc:literal ($($x:ident),*) $value:expr;)*) => {
        $(
            #[doc = $doc]
            #[inline]
            pub fn $name($($x: u16),*) -> u16 {
                $(let $x = <$wide>::from(f32::from_bits($from($x)));)*
                let $result: $wide = $value;
                $to($narrow.to_bits())
            }
        )*
    };
}

// An f32 has 24 bits, at least 2 * 11 + 2, so that rounding a sum, product, quotient or root twice
// is the same as rounding it once.
half! { f32_from_f16, f16_from_f32, f32, |result| result;
    add_f16 "`add.rn.f16`." (a, b) a + b;
    sub_f16 "`sub.rn.f16`." (a, b) a - b;
    mul_f16 "`mul.rn.f16`." (a, b) a * b;
    div_f16 "The quotient of f16 numbers, to nearest (not in PTX)." (a, b) a / b;
    rcp_f16 "The reciprocal of an f16 number, to nearest (not in PTX)." (a) 1.0 / a;
    sqrt_f16 "The root of an f16 number, to nearest (not in PTX)." (a) a.sqrt();
    fma_f16 "`fma.rn.f16`." (a, b, c)
        // The product is exact in f32; 24 bits are at least 11 + 2.
        sum_to_odd_f32(a * b, c);
}

// As in f16 for normal results. Below them, a sum is exact, and a product of 16 bits that f32
// cannot hold is less than 2^-133. There the only midpoint of bf16 is 2^-134; products above it are
// exact, and those below it still round to 0 should f32 round them to it.
half! { f32_from_bf16, bf16_from_f32, f32, |result| result;
    add_bf16 "`add.rn.bf16`." (a, b) a + b;
    sub_bf16 "`sub.rn.bf16`." (a, b) a - b;
    mul_bf16 "`mul.rn.bf16`." (a, b) a * b;
}

// The exponents of bf16 are those of f32, where these would be rounded twice near zero; so the
// result is rounded to odd on its way from f64.
half! { f32_from_bf16, bf16_from_f32, f64, |result| to_odd_f32(result);
    div_bf16 "The quotient of bf16 numbers, to nearest (not in PTX)." (a, b) a / b;
    rcp_bf16 "The reciprocal of a bf16 number, to nearest (not in PTX)." (a) 1.0 / a;
    sqrt_bf16 "The root of a bf16 number, to nearest (not in PTX)." (a) a.sqrt();
    fma_bf16 "`fma.rn.bf16`." (a, b, c) sum_to_odd_f64(a * b, c);
}
