//! Double precision rounded once to the floating-point types that processors round to differently.

use std::cmp::Ordering;

use half::{bf16, f16};

/// The nearest number of half precision, of two the even one. The crate's own `from_f64` rounds
/// twice, and differently on processors with and without instructions for it.
pub(super) fn half(value: f64) -> f16 {
    f16::from_f32(to_odd(value))
}

/// The nearest number of `bf16`, of two the even one.
pub(super) fn bfloat(value: f64) -> bf16 {
    bf16::from_f32(to_odd(value))
}

/// One of the two neighbours in single precision, the one with an odd last bit, if none is equal:
/// what is rounded after this is rounded as if at once. Source: Boldo and Melquiond, "When double
/// rounding is odd" (2005).
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    match f64::from(near).abs().partial_cmp(&value.abs()) {
        Some(Ordering::Less) => f32::from_bits(bits | 1),
        Some(Ordering::Greater) => f32::from_bits((bits - 1) | 1),
        Some(Ordering::Equal) | None => near,
    }
}
