//! Sums of floating-point products as a tensor core of NVIDIA's Hopper computes them.
//!
//! Models: the exponent of a product is the sum of its factors' exponents, whether its significand
//! has one bit before the point or two. Products and the accumulator are aligned to the largest
//! exponent of them, with 25 bits behind the point; bits below are cut off, of each term towards
//! zero. The sum of what is left is exact. It is rounded once: towards zero to f32, to nearest even
//! to f16. Fitted to the results of an NVIDIA H200, with which `tests/hardware` compares it, bit
//! for bit (`docs/DEVIATIONS.md`, DEV-140).
//! Does not model: other generations, which keep other numbers of bits.

use super::matrix::Shape;
use super::soft::Format;

/// Most elements of A or B.
pub const MAX_FACTOR: usize = 1024;
/// Most elements of C or D.
pub const MAX_SUM: usize = 256;
/// Most products of a sum: so many fit in 32 bits.
pub const MAX_TERMS: usize = 16;

/// Bits behind the point of the largest exponent.
const KEPT: i32 = 25;
/// Bits behind the point of a factor's significand. Formats with fewer have zeros at the end.
const FRACTION: u32 = 10;
/// The exponent of zero: far below every other.
const NOTHING: i32 = -4096;
/// Columns that are computed together.
const COLUMNS: usize = 8;

/// A format of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Also what numbers of 8 bits become on their way.
    F16,
    /// And TF32, which has the same exponents.
    Bf16,
}

/// What a sum is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounded {
    /// To f32, towards zero.
    Single,
    /// To f16, to nearest even.
    Half,
}

/// A matrix of factors, row after row.
pub struct Factors {
    /// The numbers as f32, which holds each of the format.
    singles: [u32; MAX_FACTOR],
    /// A number is `significand * 2^(exponent - 10)`; infinities and what is no number are zero.
    significands: [i32; MAX_FACTOR],
    exponents: [i32; MAX_FACTOR],
}

impl Factors {
    /// Takes numbers of a format apart, whose bits as f32 are given.
    pub fn new(format: Factor, given: &[u32]) -> Self {
        let mut singles = [0; MAX_FACTOR];
        singles[..given.len()].copy_from_slice(given);
        let (mut significands, mut exponents) = ([0; MAX_FACTOR], [0; MAX_FACTOR]);
        let least = match format {
            Factor::F16 => -14,
            Factor::Bf16 => -126,
        };
        let parts = significands.iter_mut().zip(&mut exponents);
        for ((significand, exponent), &bits) in parts.zip(given) {
            let (unscaled, whole) = parts_of(bits);
            let scaled = unscaled.max(least);
            let below = scaled.wrapping_sub(unscaled).min(31) as u32;
            let magnitude = (whole.unsigned_abs() >> (23 - FRACTION)).wrapping_shr(below);
            let finite = magnitude != 0 && bits & 0x7f80_0000 != 0x7f80_0000;
            let signed =
                if whole < 0 { (magnitude as i32).wrapping_neg() } else { magnitude as i32 };
            *significand = if finite { signed } else { 0 };
            *exponent = if finite { scaled } else { NOTHING };
        }
        Self { singles, significands, exponents }
    }
}

/// Exponent and significand, with 23 bits behind the point, of a finite f32.
#[inline]
const fn parts_of(bits: u32) -> (i32, i32) {
    let field = (bits >> 23 & 0xff) as i32;
    let normal = field != 0;
    let magnitude = (bits & 0x7f_ffff | (normal as u32) << 23) as i32;
    let exponent = field - 127 + !normal as i32;
    (exponent, if bits >> 31 == 1 { -magnitude } else { magnitude })
}

const fn is_special(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0x7f80_0000
}

/// Adds products to the accumulators in `sums`, f32 numbers row after row, and leaves the rounded
/// sums there: bits of f32, or of f16. `terms`: which columns of A, and rows of B, take part; at
/// most [`MAX_TERMS`].
pub fn accumulate(
    shape: Shape,
    (a, b): (&Factors, &Factors),
    terms: &[usize],
    sums: &mut [u32],
    rounded: Rounded,
) {
    let mut before = [0; MAX_SUM];
    let before = &mut before[..sums.len()];
    before.copy_from_slice(sums);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (row, sums) in sums.chunks_exact_mut(shape.n).enumerate() {
                for (block, sums) in sums.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
                    let blocks = shape.n / COLUMNS;
                    let pairs = terms.iter().map(|k| (row * shape.k + k, k * blocks + block));
                    columns((a, b), pairs, sums, rounded);
                }
            }
        },
    );
    let factors = a.singles[..shape.m * shape.k].iter().chain(&b.singles[..shape.k * shape.n]);
    if factors.chain(&*before).any(|&bits| is_special(bits)) {
        special(shape, (a, b), terms, (before, sums), rounded);
    }
}

/// Numbers of a row of B, or of sums, that are computed together.
type Columns = [i32; COLUMNS];

/// Eight sums side by side. `pairs`: where the factor of A is, and which eight of B's.
///
/// Nothing wraps: exponents are small, and so many terms fit in 32 bits. Operations that could not
/// tell make loops that vectorise.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn columns(
    (a, b): (&Factors, &Factors),
    pairs: impl Iterator<Item = (usize, usize)> + Clone,
    sums: &mut [u32; COLUMNS],
    rounded: Rounded,
) {
    let (exponents, significands) = (b.exponents.as_chunks().0, b.significands.as_chunks().0);
    let (mut top, mut accumulators): (Columns, Columns) = Default::default();
    for (column, &bits) in sums.iter().enumerate() {
        let (exponent, significand) = parts_of(if is_special(bits) { 0 } else { bits });
        top[column] = if significand == 0 { NOTHING } else { exponent };
        accumulators[column] = significand << (KEPT - 23);
    }
    let own = top;
    for (x, y) in pairs.clone() {
        let (of_a, of_b): (i32, &Columns) = (a.exponents[x], &exponents[y]);
        for column in 0..COLUMNS {
            top[column] = top[column].max(of_a.wrapping_add(of_b[column]));
        }
    }
    let mut totals: Columns = Default::default();
    for (x, y) in pairs {
        let (of_a, of_b): (i32, &Columns) = (a.exponents[x], &exponents[y]);
        let (factor, factors): (i32, &Columns) = (a.significands[x], &significands[y]);
        for column in 0..COLUMNS {
            let product = factor.wrapping_mul(factors[column]) << (KEPT - 2 * FRACTION as i32);
            let below = top[column].wrapping_sub(of_a).wrapping_sub(of_b[column]);
            totals[column] = totals[column].wrapping_add(aligned(product, below));
        }
    }
    for column in 0..COLUMNS {
        let accumulator = aligned(accumulators[column], top[column] - own[column]);
        let total = i64::from(totals[column]) + i64::from(accumulator);
        sums[column] = round(total, top[column] - KEPT, rounded);
    }
}

/// A term without its bits below some, cut off towards zero.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn aligned(value: i32, below: i32) -> i32 {
    let sign = value >> 31;
    let magnitude = (value ^ sign).wrapping_sub(sign).wrapping_shr(below.min(31) as u32);
    (magnitude ^ sign).wrapping_sub(sign)
}

/// The bits of `total * 2^unit`.
#[inline]
fn round(total: i64, unit: i32, rounded: Rounded) -> u32 {
    let (format, towards_zero) = match rounded {
        Rounded::Single => (Format::F32, true),
        Rounded::Half => (Format::F16, false),
    };
    if total == 0 {
        return 0;
    }
    let fraction = format.precision as i32 - 1;
    let least = format.exponent_min() - fraction;
    let magnitude = total.unsigned_abs();
    // The unit of the last place.
    let place = (63 - magnitude.leading_zeros() as i32 + unit - fraction).max(least);
    let cut = place - unit;
    let kept = if cut <= 0 {
        magnitude << -cut
    } else {
        let kept = magnitude.checked_shr(cut as u32).unwrap_or(0);
        let half = 1_u64.checked_shl(cut as u32 - 1).unwrap_or(u64::MAX);
        let rest = magnitude - kept.checked_shl(cut as u32).unwrap_or(0);
        let up = !towards_zero && (rest > half || rest == half && kept & 1 == 1);
        kept + u64::from(up)
    };
    // The implicit bit counts one up in the exponent, and so does a carry out of the fraction.
    let bits = (((place - least) as u64) << fraction) + kept;
    let sign = if total < 0 { format.sign() } else { 0 };
    (sign | bits.min(format.infinity())) as u32
}

/// Sums with an infinity or what is no number among their terms.
#[cold]
fn special(
    shape: Shape,
    (a, b): (&Factors, &Factors),
    terms: &[usize],
    (before, sums): (&[u32], &mut [u32]),
    rounded: Rounded,
) {
    let single = |bits: u32| f64::from(f32::from_bits(bits));
    for (place, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (place / shape.n, place % shape.n);
        // Finite terms do not reach the end of this range.
        let exact = terms.iter().fold(single(before[place]), |exact, k| {
            exact + single(a.singles[row * shape.k + k]) * single(b.singles[k * shape.n + column])
        });
        let format = match rounded {
            Rounded::Single => Format::F32,
            Rounded::Half => Format::F16,
        };
        if exact.is_nan() {
            *sum = format.nan() as u32;
        } else if exact.is_infinite() {
            let sign = if exact < 0.0 { format.sign() } else { 0 };
            *sum = (sign | format.infinity()) as u32;
        }
    }
}
