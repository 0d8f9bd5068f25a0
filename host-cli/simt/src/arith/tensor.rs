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

/// Most rows of A, or columns of B.
pub const MAX_LINES: usize = 32;
/// Most elements of C or D.
pub const MAX_SUM: usize = 256;
/// Most products of a sum.
pub const MAX_TERMS: usize = 16;

/// Bits behind the point of the largest exponent.
const KEPT: i32 = 25;
/// The exponent of zero: far below every other.
const NOTHING: i32 = -4096;
/// The smallest exponent of a product that is not zero: of two subnormal numbers of
/// [`Factor::Bf16`] or [`Factor::Tf32`]. That of an f32 is larger.
const LEAST: i32 = -252;
/// An exponent that no number has. Loops that would end at it go from term to term, and columns are
/// computed side by side; otherwise compilers turn them around, which takes three times as long.
const NEVER: i32 = i32::MAX;
/// Columns that are computed together, and lines of factors that are taken apart together.
const COLUMNS: usize = 8;
/// Terms between two looks for [`NEVER`].
const AT_ONCE: usize = 4;

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
    /// Numbers of a word: a word of one has no other bits.
    pub const fn parts(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::Tf32 => 1,
        }
    }

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

/// One factor, or word of factors, of each line: of a row of A or a column of B.
pub type Lines<T> = [T; MAX_LINES];

/// The factors of lines, by term.
///
/// Of words with two factors the first of all words are before the second: the order of terms is
/// not that of the matrix, but A and B have the same, and no sum depends on it.
#[derive(Clone, Debug)]
pub struct Factors {
    format: Factor,
    /// Words of a line.
    words: usize,
    given: [Lines<u32>; MAX_TERMS],
    /// The numbers; of infinities and what is no number anything, for [`special`] makes the sums
    /// of those.
    values: [Lines<f64>; MAX_TERMS],
    exponents: [Lines<i32>; MAX_TERMS],
    /// Whether any is infinite or no number.
    special: bool,
}

impl Factors {
    /// No numbers yet.
    pub const NONE: Self = Self {
        format: Factor::F16,
        words: 1,
        given: [[0; MAX_LINES]; MAX_TERMS],
        values: [[0.0; MAX_LINES]; MAX_TERMS],
        exponents: [[0; MAX_LINES]; MAX_TERMS],
        special: false,
    };

    /// Has `write` write the words of so many terms and lines, from the first on, in place of those
    /// before, and takes them apart.
    pub fn fill(
        &mut self,
        format: Factor,
        (terms, lines): (usize, usize),
        write: impl FnOnce(&mut [Lines<u32>; MAX_TERMS]),
    ) {
        self.format = format;
        self.words = terms / format.parts();
        write(&mut self.given);
        pulp::Arch::new().dispatch(TakeApart(self, lines));
    }

    /// The format has so many bits of fraction and of exponent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
    fn take_apart<const STORED: u32, const EXPONENT: u32>(&mut self, lines: usize) {
        let words = self.words;
        let mut special = [0; COLUMNS];
        for part in (0..self.format.parts()).rev() {
            for word in 0..words {
                let term = part * words + word;
                let given = self.given[word].as_chunks::<COLUMNS>().0;
                let values = self.values[term].as_chunks_mut::<COLUMNS>().0;
                let exponents = self.exponents[term].as_chunks_mut::<COLUMNS>().0;
                let parts = given.iter().zip(values).zip(exponents);
                for ((given, values), exponents) in parts.take(lines / COLUMNS) {
                    let bits = given.map(|word| word >> (16 * part));
                    eight::<STORED, EXPONENT>(bits, values, exponents, &mut special);
                }
            }
        }
        self.special = special.iter().any(|fields| fields >> EXPONENT != 0);
    }

    /// The number of a term and a line.
    fn single(&self, term: usize, line: usize) -> f64 {
        let words = self.words;
        let bits = self.given[term % words][line] >> (16 * (term / words));
        f64::from(f32::from_bits(self.format.single(bits)))
    }
}

/// Takes eight numbers apart, in the lowest bits. In `special`, bits beyond the fields of exponents
/// mean an infinity or what is no number.
///
/// The bits of a number are those of an f32 with more bits of exponent, so that it is an f32 times
/// the power of two by which their biases differ, also if it is subnormal.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn eight<const STORED: u32, const EXPONENT: u32>(
    given: Columns<u32>,
    values: &mut Columns<f64>,
    exponents: &mut Columns<i32>,
    special: &mut Columns<u32>,
) {
    let fields: u32 = (1 << EXPONENT) - 1;
    let bias = (fields >> 1) as i32;
    let unit = power_of_two(127 - bias);
    for column in 0..COLUMNS {
        let bits = given[column];
        let field = bits >> STORED & fields;
        let magnitude = bits & ((1 << (STORED + EXPONENT)) - 1);
        let sign = bits >> (STORED + EXPONENT) << 31;
        values[column] = f64::from(f32::from_bits(magnitude << (23 - STORED) | sign)) * unit;
        let exponent = (field.max(1) as i32).wrapping_sub(bias);
        exponents[column] = if magnitude == 0 { NOTHING } else { exponent };
        // The next bit above, if the field is full.
        special[column] |= field.wrapping_add(1);
    }
}

/// The power of two with this exponent, that of a normal number.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from(exponent.wrapping_add(1023) as u32) << 52)
}

/// [`Factors::fill`]'s loop. It has a type, because a closure's body would end up in a function of
/// its own, without the host's vector instructions.
struct TakeApart<'f>(&'f mut Factors, usize);

impl pulp::WithSimd for TakeApart<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self(factors, lines) = self;
        match factors.format {
            Factor::F16 => factors.take_apart::<10, 5>(lines),
            Factor::Bf16 => factors.take_apart::<7, 8>(lines),
            Factor::Tf32 => factors.take_apart::<10, 8>(lines),
        }
    }
}

/// The exponent of a finite f32: that of zero is [`NOTHING`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
const fn exponent_of(bits: u32) -> i32 {
    let field = (bits >> 23 & 0xff) as i32;
    let exponent = if field == 0 { -126 } else { field.wrapping_sub(127) };
    if bits << 1 == 0 { NOTHING } else { exponent }
}

const fn is_special(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0x7f80_0000
}

/// Adds products to the accumulators in `sums`, f32 numbers row after row, and leaves the rounded
/// sums there: bits of f32, or of f16. `terms`: which take part, a multiple of four.
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
    let any = pulp::Arch::new().dispatch(accumulate);
    if a.special || b.special || any {
        special(shape, (a, b), terms, (before, sums), rounded);
    }
}

/// [`accumulate`]'s loop, which has a type like [`TakeApart`]. Tells whether an accumulator is
/// infinite or no number.
struct Accumulate<'f> {
    shape: Shape,
    factors: (&'f Factors, &'f Factors),
    terms: Range<usize>,
    sums: &'f mut [u32],
    rounded: Rounded,
}

impl pulp::WithSimd for Accumulate<'_> {
    type Output = bool;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
    fn with_simd<S: pulp::Simd>(self, _: S) -> bool {
        let Self { shape, factors: (a, b), terms, sums, rounded } = self;
        assert_eq!(terms.len() % AT_ONCE, 0, "shapes have four terms or more");
        let any = sums.iter().fold(0, |any, &bits| any | u32::from(is_special(bits)));
        let mut exponents = [[0; COLUMNS]; MAX_TERMS];
        let mut values = [[0.0; COLUMNS]; MAX_TERMS];
        let (exponents, values) = (&mut exponents[..terms.len()], &mut values[..terms.len()]);
        let of_a = (&a.exponents[terms.clone()], &a.values[terms.clone()]);
        for first in (0..shape.n).step_by(COLUMNS) {
            // Eight columns of B, in one piece.
            let of_b = b.exponents[terms.clone()].iter().zip(&b.values[terms.clone()]);
            for ((exponents, values), of_b) in exponents.iter_mut().zip(&mut *values).zip(of_b) {
                *exponents = of_b.0[first..].first_chunk().copied().unwrap_or_default();
                *values = of_b.1[first..].first_chunk().copied().unwrap_or_default();
            }
            for (row, sums) in sums.chunks_exact_mut(shape.n).enumerate() {
                if let Some(sums) = sums[first..].first_chunk_mut() {
                    columns(row, of_a, (exponents, values), sums, rounded);
                }
            }
        }
        any != 0
    }
}

/// Numbers of a row of B, or of sums, that are computed together.
type Columns<T> = [T; COLUMNS];

/// Eight sums side by side, of exponents and values of a row of A and of columns of B, by term.
///
/// Each operation on doubles is exact: a product has 22 bits, its unit is a power of two, and so
/// many terms fit in 53 bits. Exponents are small, so nothing wraps; operations that could not tell
/// make loops that vectorise.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn columns(
    row: usize,
    a: (&[Lines<i32>], &[Lines<f64>]),
    b: (&[Columns<i32>], &[Columns<f64>]),
    sums: &mut [u32; COLUMNS],
    rounded: Rounded,
) {
    let mut top: Columns<i32> = Default::default();
    let mut totals: Columns<f64> = Default::default();
    for (column, &bits) in sums.iter().enumerate() {
        top[column] = exponent_of(bits);
        totals[column] = f64::from(f32::from_bits(bits));
    }
    let row = row % MAX_LINES;
    for (a, b) in a.0.as_chunks::<AT_ONCE>().0.iter().zip(b.0.as_chunks::<AT_ONCE>().0) {
        if a[0][row] == NEVER {
            break;
        }
        for (of_a, of_b) in a.iter().zip(b) {
            for column in 0..COLUMNS {
                top[column] = top[column].max(of_a[row].wrapping_add(of_b[column]));
            }
        }
    }
    // Nothing depends on it if all terms are zero.
    let top = top.map(|top| top.max(LEAST));
    // Units of the last bit kept.
    let scale = top.map(|top| power_of_two(KEPT.wrapping_sub(top)));
    for column in 0..COLUMNS {
        totals[column] = (totals[column] * scale[column]).trunc();
    }
    for (a, b) in a.1.as_chunks::<AT_ONCE>().0.iter().zip(b.1.as_chunks::<AT_ONCE>().0) {
        // Like `NEVER`; [`special`] makes all sums of this row.
        if a[0][row].is_nan() {
            break;
        }
        for (of_a, of_b) in a.iter().zip(b) {
            for column in 0..COLUMNS {
                totals[column] += (of_a[row] * of_b[column] * scale[column]).trunc();
            }
        }
    }
    let done = rounded == Rounded::Single && singles(&totals, &top, sums);
    if !done {
        for column in 0..COLUMNS {
            sums[column] = round(totals[column] as i64, top[column] - KEPT, rounded);
        }
    }
}

/// Rounds eight sums to f32 as [`round`] does, if each of them is zero or a normal number; tells
/// whether it is so. Without a double's last bits, nothing is left to round.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must end up inside the function with the feature")]
fn singles(totals: &Columns<f64>, top: &Columns<i32>, sums: &mut [u32; COLUMNS]) -> bool {
    let mut others = [0; COLUMNS];
    for column in 0..COLUMNS {
        let total = totals[column];
        let cut = f64::from_bits(total.to_bits() & !((1 << (52 - 23)) - 1));
        // No sum is a negative zero.
        let number = (cut * power_of_two(top[column].wrapping_sub(KEPT)) + 0.0) as f32;
        let normal = number.is_normal() || total == 0.0;
        others[column] = u32::from(!normal);
        sums[column] = number.to_bits();
    }
    others == [0; COLUMNS]
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
        let terms = terms.clone();
        let exact =
            terms.fold(start, |sum, term| sum + a.single(term, row) * b.single(term, column));
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use pulp::Simd;

    use super::*;
    use crate::random::numbers_below;

    const SHAPE: Shape = Shape { m: 16, n: 8, k: 16 };

    /// Random words, and the sums that they and these accumulators give.
    fn sums<S: Simd>(simd: S, format: Factor, seed: u64) -> Vec<u32> {
        let mut below = numbers_below(seed);
        let mut random = || (below(1 << 16) << 16 | below(1 << 16)) as u32;
        let (mut a, mut b) = (Factors::NONE, Factors::NONE);
        for (factors, lines) in [(&mut a, SHAPE.m), (&mut b, SHAPE.n)] {
            factors.format = format;
            factors.words = SHAPE.k / format.parts();
            let bits = if format == Factor::Tf32 { 0x7_ffff } else { u32::MAX };
            for word in factors.given.as_flattened_mut() {
                *word = random() & bits;
            }
            simd.vectorize(TakeApart(factors, lines));
        }
        let mut sums: Vec<u32> = (0..SHAPE.m * SHAPE.n).map(|_| random()).collect();
        let (factors, terms) = ((&a, &b), 0..SHAPE.k);
        let rounded = Rounded::Single;
        simd.vectorize(Accumulate { shape: SHAPE, factors, terms, sums: &mut sums, rounded });
        sums
    }

    /// The host's widest instructions are the ones that all other tests use.
    #[test]
    fn every_instruction_set_gives_the_same_sums() {
        for format in [Factor::F16, Factor::Bf16, Factor::Tf32] {
            for seed in 1..=20 {
                let scalar = sums(pulp::Scalar::new(), format, seed);
                if let Some(v3) = pulp::x86::V3::try_new() {
                    assert_eq!(sums(v3, format, seed), scalar, "{format:?}, seed {seed}");
                }
                if let Some(v4) = pulp::x86::V4::try_new() {
                    assert_eq!(sums(v4, format, seed), scalar, "{format:?}, seed {seed}");
                }
            }
        }
    }
}
