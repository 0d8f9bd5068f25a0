//! `mma`: a matrix product added to a matrix, as a tensor core computes it.
//!
//! A (`m` by `k`), B (`k` by `n`), C and D (`m` by `n`) are slices, row after row.
//!
//! Models: exact products. Double precision is a chain of fused multiply-adds in order of `k`. Sums
//! of integers are exact, then wrap or saturate. Narrower floats are in [`super::tensor`].
//! Source: PTX ISA 8.5, section "Warp Level Matrix Multiply-Accumulate Instructions".

use super::native::fma_f64;

/// Sizes of a product. A is `m` by `k`, B is `k` by `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A, C and D. At most 32.
    pub m: usize,
    /// Columns of B, C and D. At most 32.
    pub n: usize,
    /// Columns of A and rows of B. At most 256.
    pub k: usize,
}

/// Calls `step` for each row of D, in order of `k`, with an element of A and a row of B.
#[inline]
fn rows<S, T: Copy>(
    shape: Shape,
    (sums, a, b): (&mut [S], &[T], &[T]),
    step: impl Fn(&mut S, T, T),
) {
    for (sums, a) in sums.chunks_exact_mut(shape.n).zip(a.chunks_exact(shape.k)) {
        for (&x, b) in a.iter().zip(b.chunks_exact(shape.n)) {
            for (sum, &y) in sums.iter_mut().zip(b) {
                step(sum, x, y);
            }
        }
    }
}

/// Adds A times B to `sums` with fused multiply-adds, on bit patterns of f64. A NaN is the
/// canonical one.
pub fn fuse_products(shape: Shape, sums: &mut [u64], a: &[u64], b: &[u64]) {
    rows(shape, (sums, a, b), |sum, x, y| *sum = fma_f64(x, y, *sum));
}

/// Adds A times B to `sums`, for integers of 8 bits and less. The sums do not overflow: their start
/// has 32 bits.
pub fn count_products(shape: Shape, sums: &mut [i64], a: &[i32], b: &[i32]) {
    rows(shape, (sums, a, b), |sum, x, y| *sum += i64::from(x * y));
}

/// Adds A times B to `sums`, for single bits, 32 in each element: the bits set in the `and`, or
/// exclusive or, of the words of a row and a column.
pub fn count_bits(shape: Shape, sums: &mut [i64], a: &[u32], b: &[u32], xor: bool) {
    let count = |x: u32, y: u32| if xor { x ^ y } else { x & y }.count_ones();
    rows(shape, (sums, a, b), |sum, x, y| *sum += i64::from(count(x, y)));
}

/// A sum as s32: the nearest one if it saturates, otherwise its low 32 bits.
pub fn s32_from_sum(sum: i64, saturate: bool) -> u32 {
    if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
}
