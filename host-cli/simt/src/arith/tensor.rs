//! Sums of floating-point products as a tensor core of NVIDIA's Hopper computes them.
//!
//! Models: the exponent of a product is the sum of its factors' exponents, whether its significand
//! has one bit before the point or two. Products and the accumulator are aligned to the largest
//! exponent of them, with 25 bits behind the point; bits below are cut off, of each term towards
//! zero. The sum of what is left is exact. It is rounded once: towards zero to f32, to nearest even
//! to f16. Fitted to the results of an NVIDIA H200, with which `tests/hardware` compares it, bit
//! for bit (`docs/DEVIATIONS.md`, DEV-140).
//! Does not model: other generations, which keep other numbers of bits.

use std::ops::Range;

use super::convert::f32_from_f16;
use super::matrix::Shape;
use super::soft::Format;

/// Most elements of A or B.
pub const MAX_FACTOR: usize = 512;
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
/// An exponent that no number has. Loops that would end at it go from term to term, and columns are
/// computed side by side; otherwise compilers turn them around, which takes three times as long.
const NEVER: i32 = i32::MAX;
/// Columns that are computed together.
const COLUMNS: usize = 8;

/// A format of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Also what numbers of 8 bits become on their way.
    F16,
    /// The upper half of an f32.
    Bf16,
    /// The upper 19 bits of an f32.
    Tf32,
}

impl Factor {
    /// The number as f32, which holds each of the format.
    fn single(self, bits: u32) -> u32 {
        match self {
            Self::F16 => f32_from_f16(bits as u16),
            Self::Bf16 => bits << 16,
            Self::Tf32 => bits << 13,
        }
    }
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
#[derive(Clone, Debug)]
pub struct Factors {
    format: Factor,
    /// The numbers' bits.
    given: [u32; MAX_FACTOR],
    /// A number is `significand * 2^(exponent - 10)`; infinities and what is no number are zero.
    significands: [i32; MAX_FACTOR],
    exponents: [i32; MAX_FACTOR],
    /// Whether any is infinite or no number.
    special: bool,
}

impl Factors {
    /// No numbers yet.
    pub const NONE: Self = Self {
        format: Factor::F16,
        given: [0; MAX_FACTOR],
        significands: [0; MAX_FACTOR],
        exponents: [0; MAX_FACTOR],
        special: false,
    };

    /// Has `write` write the bits of `count` numbers, at most [`MAX_FACTOR`], in place of those
    /// before, and takes them apart.
    pub fn fill(&mut self, format: Factor, count: usize, write: impl FnOnce(&mut [u32])) {
        self.format = format;
        write(&mut self.given[..count]);
        pulp::Arch::new().dispatch(TakeApart(self, count));
    }

    /// The format has so many bits of fraction and of exponent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
    fn take_apart<const STORED: u32, const EXPONENT: u32>(&mut self, count: usize) {
        let fields: u32 = (1 << EXPONENT) - 1;
        let bias = (fields >> 1) as i32;
        let mut special = false;
        let parts = self.significands.iter_mut().zip(&mut self.exponents);
        for ((significand, exponent), &bits) in parts.zip(&self.given[..count]) {
            let field = bits >> STORED & fields;
            let normal = u32::from(field != 0);
            let magnitude = bits & ((1 << STORED) - 1) | normal << STORED;
            let finite = field != fields;
            let nothing = !finite || magnitude == 0;
            let scaled = (magnitude << (FRACTION - STORED)) as i32;
            let negative = bits >> (STORED + EXPONENT) & 1 == 1;
            let signed = if negative { scaled.wrapping_neg() } else { scaled };
            *significand = if nothing { 0 } else { signed };
            let power = (field as i32).wrapping_sub(normal as i32).wrapping_add(1 - bias);
            *exponent = if nothing { NOTHING } else { power };
            special |= !finite;
        }
        self.special = special;
    }

    fn single(&self, place: usize) -> f64 {
        f64::from(f32::from_bits(self.format.single(self.given[place])))
    }
}

/// [`Factors::fill`]'s loop. It has a type, because a closure's body would end up in a function of
/// its own, without the host's vector instructions.
struct TakeApart<'f>(&'f mut Factors, usize);

impl pulp::WithSimd for TakeApart<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self(factors, count) = self;
        match factors.format {
            Factor::F16 => factors.take_apart::<10, 5>(count),
            Factor::Bf16 => factors.take_apart::<7, 8>(count),
            Factor::Tf32 => factors.take_apart::<10, 8>(count),
        }
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
    terms: Range<usize>,
    sums: &mut [u32],
    rounded: Rounded,
) {
    let mut before = [0; MAX_SUM];
    let before = &mut before[..sums.len()];
    before.copy_from_slice(sums);
    let factors = (a, b);
    let accumulate = Accumulate { shape, factors, terms: terms.clone(), sums, rounded };
    pulp::Arch::new().dispatch(accumulate);
    if a.special || b.special || before.iter().any(|&bits| is_special(bits)) {
        special(shape, (a, b), terms, (before, sums), rounded);
    }
}

/// [`accumulate`]'s loop, which has a type like [`TakeApart`].
struct Accumulate<'f> {
    shape: Shape,
    factors: (&'f Factors, &'f Factors),
    terms: Range<usize>,
    sums: &'f mut [u32],
    rounded: Rounded,
}

impl pulp::WithSimd for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { shape, factors: (a, b), terms, sums, rounded } = self;
        let mut exponents = [Columns::default(); MAX_TERMS];
        let mut significands = [Columns::default(); MAX_TERMS];
        let (exponents, significands) =
            (&mut exponents[..terms.len()], &mut significands[..terms.len()]);
        for first in (0..shape.n).step_by(COLUMNS) {
            // Eight columns of B, in one piece.
            let rows = terms.clone().map(|row| row * shape.n + first..row * shape.n + shape.n);
            for ((row, exponents), significands) in
                rows.zip(&mut *exponents).zip(&mut *significands)
            {
                let of_b = (&b.exponents[row.clone()], &b.significands[row]);
                *exponents = of_b.0.first_chunk().copied().unwrap_or_default();
                *significands = of_b.1.first_chunk().copied().unwrap_or_default();
            }
            for (row, sums) in sums.chunks_exact_mut(shape.n).enumerate() {
                let row = row * shape.k + terms.start..row * shape.k + terms.end;
                let of_a = (&a.exponents[row.clone()], &a.significands[row]);
                if let Some(sums) = sums[first..].first_chunk_mut() {
                    columns(of_a, (exponents, significands), sums, rounded);
                }
            }
        }
    }
}

/// Numbers of a row of B, or of sums, that are computed together.
type Columns = [i32; COLUMNS];

/// Eight sums side by side, of exponents and significands of a row of A and of columns of B, by
/// term.
///
/// Nothing wraps: exponents are small, and so many terms fit in 32 bits. Operations that could not
/// tell make loops that vectorise.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn columns(
    a: (&[i32], &[i32]),
    b: (&[Columns], &[Columns]),
    sums: &mut [u32; COLUMNS],
    rounded: Rounded,
) {
    let (mut top, mut accumulators): (Columns, Columns) = Default::default();
    for (column, &bits) in sums.iter().enumerate() {
        let (exponent, significand) = parts_of(if is_special(bits) { 0 } else { bits });
        top[column] = if significand == 0 { NOTHING } else { exponent };
        accumulators[column] = significand << (KEPT - 23);
    }
    let own = top;
    for (&of_a, of_b) in a.0.iter().zip(b.0) {
        if of_a == NEVER {
            break;
        }
        for column in 0..COLUMNS {
            top[column] = top[column].max(of_a.wrapping_add(of_b[column]));
        }
    }
    let mut totals: Columns = Default::default();
    for (((&of_a, of_b), &factor), factors) in a.0.iter().zip(b.0).zip(a.1).zip(b.1) {
        if of_a == NEVER {
            break;
        }
        let factor = factor << (KEPT - 2 * FRACTION as i32);
        for column in 0..COLUMNS {
            let product = factor.wrapping_mul(factors[column]);
            let below = top[column].wrapping_sub(of_a.wrapping_add(of_b[column]));
            totals[column] = totals[column].wrapping_add(aligned(product, below));
        }
    }
    for column in 0..COLUMNS {
        let below = top[column].wrapping_sub(own[column]);
        accumulators[column] = aligned(accumulators[column], below);
    }
    let done = rounded == Rounded::Single && singles(&totals, &accumulators, &top, sums);
    if !done {
        for column in 0..COLUMNS {
            let total = i64::from(totals[column]) + i64::from(accumulators[column]);
            sums[column] = round(total, top[column] - KEPT, rounded);
        }
    }
}

/// A term without its bits below some, cut off towards zero.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn aligned(value: i32, below: i32) -> i32 {
    let sign = value >> 31;
    let magnitude = (value ^ sign).wrapping_sub(sign).wrapping_shr((below as u32).min(31));
    (magnitude ^ sign).wrapping_sub(sign)
}

/// Rounds eight sums to f32 as [`round`] does, if each of them is zero or a normal number; tells
/// whether it is so. A double holds a sum exactly; rounding towards zero cuts off its last bits.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn singles(
    totals: &Columns,
    accumulators: &Columns,
    top: &Columns,
    sums: &mut [u32; COLUMNS],
) -> bool {
    let mut others = 0;
    for column in 0..COLUMNS {
        let total = f64::from(totals[column]) + f64::from(accumulators[column]);
        let bits = total.to_bits();
        let fraction = (bits >> 29) as u32 & 0x7f_ffff;
        let exponent = (bits >> 52) as i32 & 0x7ff;
        let field = exponent.wrapping_add(top[column]).wrapping_sub(1023 - 127 + KEPT);
        let sign = (bits >> 32) as u32 & 0x8000_0000;
        let zero = exponent == 0;
        // No branch, so that columns stay side by side.
        let normal = (field.wrapping_sub(1) as u32) < 254;
        others |= u32::from(!zero) & u32::from(!normal);
        let number = sign | (field as u32) << 23 | fraction;
        sums[column] = if zero { 0 } else { number };
    }
    others == 0
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
    terms: Range<usize>,
    (before, sums): (&[u32], &mut [u32]),
    rounded: Rounded,
) {
    for (place, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (place / shape.n, place % shape.n);
        // Finite terms do not reach the end of this range.
        let start = f64::from(f32::from_bits(before[place]));
        let exact = terms.clone().fold(start, |exact, k| {
            exact + a.single(row * shape.k + k) * b.single(k * shape.n + column)
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
