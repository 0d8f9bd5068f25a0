//! `mma` and `wmma.mma`: products of fragments.

use super::fragment::{Element, Fragment};
use crate::arith::convert::{Eighth, f16_from_f32, f32_from_f16};
use crate::arith::matrix::{Shape, count_bits, count_products, fuse_products, s32_from_sum};
use crate::arith::native::{add_f16, add_f32, fma_f32};
use crate::arith::tensor::{Factor, Factors, Lines, MAX_SUM, MAX_TERMS, Rounded, accumulate};
use crate::row::Lanes;

/// Most integers of A or B.
const MAX_INTEGERS: usize = 1024;

/// Room for the factors of a product, which is not worth clearing each time.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    a: Factors,
    b: Factors,
}

impl Room {
    pub(crate) const NEW: Self = Self { a: Factors::NONE, b: Factors::NONE };
}

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
    /// Products of which each part of the warp computes one: 1 or, of `.m8n8k4` of f16, 4. Their
    /// matrices lie one after another.
    pub(crate) quarters: usize,
    /// Products of TF32 that are added up at once.
    pub(crate) tf32_terms: usize,
}

impl Product {
    /// Computes it, in all lanes. `room`: what it may use, and leaves anything in.
    pub(crate) fn run(&self, file: &mut Lanes, room: &mut Room) {
        match self.a.element {
            Element::F64 => self.double(file),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 => self.integer(file),
            Element::B1 => self.bits(file),
            _ => self.float(file, room),
        }
    }

    fn float(&self, file: &mut Lanes, room: &mut Room) {
        let mut all = [0; MAX_SUM];
        let Shape { m, n, .. } = self.shape;
        singles(&self.c, file, &mut all);
        let sums = &mut all[..self.quarters * m * n];
        if self.quarters > 1 {
            self.of_quarters(file, sums);
        } else {
            self.factors(file, room, sums);
        }
        self.d.scatter(file, &all, |sum| sum);
    }

    fn factors(&self, file: &Lanes, room: &mut Room, sums: &mut [u32]) {
        let Shape { m, n, k } = self.shape;
        let format = match self.a.element {
            Element::E4m3 | Element::E5m2 => return self.eighths(file, room, sums),
            Element::Bf16 => Factor::Bf16,
            Element::Tf32 => Factor::Tf32,
            _ => Factor::F16,
        };
        let Room { a, b } = room;
        a.fill(format, (k, m), |words| factors(&self.a, file, words));
        b.fill(format, (k, n), |words| factors(&self.b, file, words));
        self.sum((a, b), sums);
    }

    /// All terms at once, but of TF32 from `wmma` four. Where D is f16 and C is not, the sum is
    /// rounded to f32 on its way.
    fn sum(&self, factors: (&Factors, &Factors), sums: &mut [u32]) {
        let together = if self.a.element == Element::Tf32 { self.tf32_terms } else { MAX_TERMS };
        let direct = self.c.element == Element::F16 && self.d.element == Element::F16;
        let rounded = if direct { Rounded::Half } else { Rounded::Single };
        let last = self.shape.k;
        for first in (0..last).step_by(together) {
            let terms = first..last.min(first + together);
            accumulate(self.shape, factors, terms, sums, rounded);
        }
        if !direct && self.d.element == Element::F16 {
            for sum in sums {
                *sum = f16_from_f32(*sum).into();
            }
        }
    }

    /// Factors of 8 bits have become f16. Of each four columns of A the lower two are added up
    /// first, then the upper two, and last the element of C, each time in the format of D.
    fn eighths(&self, file: &Lanes, room: &mut Room, sums: &mut [u32]) {
        let half = self.d.element == Element::F16;
        let rounded = if half { Rounded::Half } else { Rounded::Single };
        let shape = Shape { k: self.shape.k / 2, ..self.shape };
        let (of_a, of_b) = ((shape.k, shape.m), (shape.k, shape.n));
        let mut products = [0; MAX_SUM];
        let products = &mut products[..sums.len()];
        for upper in [0, 2] {
            // A register has four columns of A, or rows of B.
            room.a.fill(Factor::F16, of_a, |words| eighths(&self.a, file, upper, words));
            room.b.fill(Factor::F16, of_b, |words| eighths(&self.b, file, upper, words));
            accumulate(shape, (&room.a, &room.b), 0..shape.k, products, rounded);
            if half && upper == 0 {
                for product in &mut *products {
                    *product = f32_from_f16(*product as u16);
                }
            }
        }
        for (sum, &product) in sums.iter_mut().zip(&*products) {
            *sum = if half {
                u32::from(add_f16(product as u16, f16_from_f32(*sum)))
            } else {
                add_f32(product, *sum)
            };
        }
    }

    /// Four products of `.m8n8k4`, one after another.
    fn of_quarters(&self, file: &Lanes, sums: &mut [u32]) {
        let (mut a, mut b) = ([0; MAX_SUM], [0; MAX_SUM]);
        let Shape { m, n, k } = self.shape;
        singles(&self.a, file, &mut a);
        singles(&self.b, file, &mut b);
        let factors = a.chunks_exact(m * k).zip(b.chunks_exact(k * n));
        for (factors, sums) in factors.zip(sums.chunks_exact_mut(m * n)) {
            self.quarter(factors, sums);
        }
    }

    /// `.m8n8k4` of f16, which Hopper's tensor cores do not have: fused multiply-adds in order of
    /// `k`, as f32, then the element of C.
    fn quarter(&self, (a, b): (&[u32], &[u32]), sums: &mut [u32]) {
        let Shape { n, k, .. } = self.shape;
        for (place, sum) in sums.iter_mut().enumerate() {
            let (row, column) = (place / n, place % n);
            let product =
                (0..k).fold(0, |sum, term| fma_f32(a[row * k + term], b[term * n + column], sum));
            let single = add_f32(product, *sum);
            *sum =
                if self.d.element == Element::F16 { f16_from_f32(single).into() } else { single };
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
        let (mut a, mut b) = ([0; MAX_INTEGERS], [0; MAX_INTEGERS]);
        integers(&self.a, file, &mut a);
        integers(&self.b, file, &mut b);
        let (a, b) = (&a[..self.shape.m * self.shape.k], &b[..self.shape.k * self.shape.n]);
        self.sums(file, |sums| count_products(self.shape, sums, a, b));
    }

    fn bits(&self, file: &mut Lanes) {
        let (mut a, mut b) = ([0; MAX_SUM], [0; MAX_SUM]);
        self.a.gather(file, &mut a, |word, _| word);
        self.b.gather(file, &mut b, |word, _| word);
        let (a, b) = (&a[..self.shape.m * self.shape.k], &b[..self.shape.k * self.shape.n]);
        self.sums(file, |sums| count_bits(self.shape, sums, a, b, self.xor));
    }

    /// Has `add` add to C, and writes D.
    fn sums(&self, file: &mut Lanes, add: impl FnOnce(&mut [i64])) {
        let mut sums = [0; MAX_SUM];
        self.c.gather(file, &mut sums, |word, _| i64::from(word as i32));
        add(&mut sums[..self.shape.m * self.shape.n]);
        self.d.scatter(file, &sums, |sum| s32_from_sum(sum, self.saturate));
    }
}

/// Reads a matrix of f16 or f32, as f32.
fn singles(fragment: &Fragment, file: &Lanes, to: &mut [u32; MAX_SUM]) {
    match fragment.element {
        Element::F16 => fragment.gather(file, to, |w, part| f32_from_f16(half(w, part) as u16)),
        _ => fragment.gather(file, to, |w, _| w),
    }
}

/// Reads a matrix of factors of a tensor core, but those of 8 bits.
fn factors(fragment: &Fragment, file: &Lanes, to: &mut [Lines<u32>; MAX_TERMS]) {
    match fragment.element {
        // The 13 low bits of a register do not belong to a number of TF32.
        Element::Tf32 => fragment.gather_factors(file, to, |word| word >> 13),
        _ => fragment.gather_factors(file, to, |word| word),
    }
}

/// Reads factors of 8 bits, as f16: of the four of a register the `first` and the next.
fn eighths(fragment: &Fragment, file: &Lanes, first: u32, to: &mut [Lines<u32>; MAX_TERMS]) {
    let format = match fragment.element {
        Element::E4m3 => Eighth::E4m3,
        _ => Eighth::E5m2,
    };
    fragment.gather_factors(file, to, |word| {
        let half = |part: u32| u32::from(format.to_f16((word >> (8 * part)) as u8));
        half(first) | half(first + 1) << 16
    });
}

/// Half of a register.
fn half(word: u32, part: u32) -> u32 {
    word >> (16 * part) & 0xffff
}

/// Reads a matrix of integers narrower than 32 bits.
fn integers(fragment: &Fragment, file: &Lanes, to: &mut [i32; MAX_INTEGERS]) {
    let (byte, nibble) = (|part: u32| 24 - 8 * part, |part: u32| 28 - 4 * part);
    match fragment.element {
        Element::S8 => fragment.gather(file, to, |w, part| (w << byte(part)) as i32 >> 24),
        Element::U8 => fragment.gather(file, to, |w, part| (w << byte(part) >> 24) as i32),
        Element::S4 => fragment.gather(file, to, |w, part| (w << nibble(part)) as i32 >> 28),
        _ => fragment.gather(file, to, |w, part| (w << nibble(part) >> 28) as i32),
    }
}
