//! f32 arithmetic in roundings other than to nearest even, through f64.
//!
//! The result in f64 is exact (products), rounded to odd (sums), or so near the exact one that no
//! f32 number and no midpoint of two lies between (quotients and roots: two numbers of 24 bits
//! give a quotient or root that differs from any number of 25 bits by at least 2^-50 of itself,
//! unless it equals it, and f64 errs by 2^-53). So one more rounding is the right one.

use super::float::F32;
use super::native::{canonical_f32, flush_f32, sum_to_odd_f64};
use super::soft::Format;
use super::{Mode, Rounding};

/// Rounds to f32.
#[inline]
fn narrow(value: f64, rounding: Rounding) -> u32 {
    let nearest = value as f32;
    let wide = f64::from(nearest);
    let too_great = wide > value;
    let too_small = wide < value;
    let negative = value.is_sign_negative();
    let bits = nearest.to_bits();
    // One up in the bits is one step away from zero; zero has the sign of `value`.
    let (away, back) = match rounding {
        Rounding::Down | Rounding::IntegerDown => (too_great && negative, too_great && !negative),
        Rounding::Up | Rounding::IntegerUp => (too_small && !negative, too_small && negative),
        Rounding::Zero | Rounding::IntegerZero => {
            (false, if negative { too_small } else { too_great })
        }
        Rounding::NearestAway => (is_tie_towards_zero(value, nearest), false),
        Rounding::NearestEven | Rounding::IntegerNearest => (false, false),
    };
    let stepped = bits.wrapping_add(away.into()).wrapping_sub(back.into());
    if nearest.is_nan() { canonical_f32(nearest) } else { stepped }
}

/// Whether `value` lies halfway between `nearest` and the next number away from zero.
#[inline]
fn is_tie_towards_zero(value: f64, nearest: f32) -> bool {
    let next = f64::from(f32::from_bits(nearest.to_bits().wrapping_add(1)));
    // Of neighbours in f32 the sum is exact in f64; infinity is no neighbour, for what is beyond
    // half a unit above the largest number has been rounded to infinity already.
    (f64::from(nearest) + next).to_bits() == (2.0 * value).to_bits()
}

/// The exact sum of two f64 numbers, with the sign that `rounding` gives to zero.
#[inline]
fn sum(x: f64, y: f64, rounding: Rounding) -> f64 {
    let sum = sum_to_odd_f64(x, y);
    let down = matches!(rounding, Rounding::Down | Rounding::IntegerDown);
    let opposite = x.is_sign_negative() != y.is_sign_negative();
    if down && opposite && sum.to_bits() == 0 { -0.0 } else { sum }
}

/// An input as the mode sees it.
#[inline]
fn input(a: u32, mode: Mode) -> f64 {
    f64::from(f32::from_bits(if mode.ftz { flush_f32(a) } else { a }))
}

/// A result as the mode leaves it.
#[inline]
fn output(value: f64, mode: Mode) -> u32 {
    Format::F32.finish(narrow(value, mode.rounding).into(), mode) as u32
}

impl F32 {
    #[inline]
    pub(super) fn exact_add(a: u32, b: u32, mode: Mode) -> u32 {
        output(sum(input(a, mode), input(b, mode), mode.rounding), mode)
    }

    #[inline]
    pub(super) fn exact_mul(a: u32, b: u32, mode: Mode) -> u32 {
        output(input(a, mode) * input(b, mode), mode)
    }

    #[inline]
    pub(super) fn exact_fma(a: u32, b: u32, c: u32, mode: Mode) -> u32 {
        let product = input(a, mode) * input(b, mode);
        output(sum(product, input(c, mode), mode.rounding), mode)
    }

    #[inline]
    pub(super) fn exact_div(a: u32, b: u32, mode: Mode) -> u32 {
        output(input(a, mode) / input(b, mode), mode)
    }

    #[inline]
    pub(super) fn exact_sqrt(a: u32, mode: Mode) -> u32 {
        output(input(a, mode).sqrt(), mode)
    }
}
