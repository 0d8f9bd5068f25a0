//! `mma` and `wmma.mma`: products of fragments.

use super::fragment::{Element, Fragment};
use crate::arith::convert::{f32_from_bf16, f32_from_f16};
use crate::arith::matrix::{
    Shape, add_products, count_bits, count_products, f16_from_sum, f32_from_sum, fuse_products,
    s32_from_sum,
};
use crate::row::Lanes;

/// Most elements of A or B.
pub(super) const MAX_FACTOR: usize = 1024;
/// Most elements of C or D.
pub(super) const MAX_SUM: usize = 256;

/// D = A times B plus C.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) shape: Shape,
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    /// `.satfinite` of integers.
    pub(crate) saturate: bool,
    /// Single bits: `.xor`, otherwise `.and`.
    pub(crate) xor: bool,
}

impl Product {
    /// Computes it, in all lanes.
    pub(crate) fn run(&self, file: &mut Lanes) {
        match self.a.element {
            Element::F64 => self.double(file),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 => self.integer(file),
            Element::B1 => self.bits(file),
            _ => self.float(file),
        }
    }

    fn float(&self, file: &mut Lanes) {
        let (mut a, mut b) = ([0.0; MAX_FACTOR], [0.0; MAX_FACTOR]);
        let mut sums = [0.0; MAX_SUM];
        let (a, b) = (&mut a[..self.shape.m * self.shape.k], &mut b[..self.shape.k * self.shape.n]);
        let sums = &mut sums[..self.shape.m * self.shape.n];
        floats(&self.a, file, a);
        floats(&self.b, file, b);
        floats(&self.c, file, sums);
        add_products(self.shape, sums, a, b);
        if self.d.element == Element::F16 {
            self.d.scatter(file, sums, |sum| u32::from(f16_from_sum(sum)));
        } else {
            self.d.scatter(file, sums, f32_from_sum);
        }
    }

    fn double(&self, file: &mut Lanes) {
        let (mut a, mut b, mut sums) = ([0; MAX_SUM], [0; MAX_SUM], [0; MAX_SUM]);
        let (a, b) = (&mut a[..self.shape.m * self.shape.k], &mut b[..self.shape.k * self.shape.n]);
        let sums = &mut sums[..self.shape.m * self.shape.n];
        self.a.gather_wide(file, a);
        self.b.gather_wide(file, b);
        self.c.gather_wide(file, sums);
        fuse_products(self.shape, sums, a, b);
        self.d.scatter_wide(file, sums);
    }

    fn integer(&self, file: &mut Lanes) {
        let (mut a, mut b) = ([0; MAX_FACTOR], [0; MAX_FACTOR]);
        let (a, b) = (&mut a[..self.shape.m * self.shape.k], &mut b[..self.shape.k * self.shape.n]);
        integers(&self.a, file, a);
        integers(&self.b, file, b);
        self.sums(file, |sums| count_products(self.shape, sums, a, b));
    }

    fn bits(&self, file: &mut Lanes) {
        let (mut a, mut b) = ([0; MAX_SUM], [0; MAX_SUM]);
        let (a, b) = (&mut a[..self.shape.m * self.shape.k], &mut b[..self.shape.k * self.shape.n]);
        self.a.gather(file, a, |word, _| word);
        self.b.gather(file, b, |word, _| word);
        self.sums(file, |sums| count_bits(self.shape, sums, a, b, self.xor));
    }

    /// Has `add` add to C, and writes D.
    fn sums(&self, file: &mut Lanes, add: impl FnOnce(&mut [i64])) {
        let mut sums = [0; MAX_SUM];
        let sums = &mut sums[..self.shape.m * self.shape.n];
        self.c.gather(file, sums, |word, _| i64::from(word as i32));
        add(sums);
        self.d.scatter(file, sums, |sum| s32_from_sum(sum, self.saturate));
    }
}

/// Reads a matrix of floats narrower than f64.
fn floats(fragment: &Fragment, file: &Lanes, to: &mut [f64]) {
    let half = |word: u32, part: u32| (word >> (16 * part)) as u16;
    let wide = |bits: u32| f64::from(f32::from_bits(bits));
    match fragment.element {
        Element::F16 => fragment.gather(file, to, |w, part| wide(f32_from_f16(half(w, part)))),
        Element::Bf16 => fragment.gather(file, to, |w, part| wide(f32_from_bf16(half(w, part)))),
        // The 13 low bits of a register do not belong to a number of TF32.
        Element::Tf32 => fragment.gather(file, to, |w, _| wide(w & !0x1fff)),
        _ => fragment.gather(file, to, |w, _| wide(w)),
    }
}

/// Reads a matrix of integers narrower than 32 bits.
fn integers(fragment: &Fragment, file: &Lanes, to: &mut [i32]) {
    let (byte, nibble) = (|part: u32| 24 - 8 * part, |part: u32| 28 - 4 * part);
    match fragment.element {
        Element::S8 => fragment.gather(file, to, |w, part| (w << byte(part)) as i32 >> 24),
        Element::U8 => fragment.gather(file, to, |w, part| (w << byte(part) >> 24) as i32),
        Element::S4 => fragment.gather(file, to, |w, part| (w << nibble(part)) as i32 >> 28),
        _ => fragment.gather(file, to, |w, part| (w << nibble(part) >> 28) as i32),
    }
}
