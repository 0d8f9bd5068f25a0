//! Floating-point arithmetic against LLVM's software floating point.

use std::cmp::Ordering;

use rustc_apfloat::Float as _;
use strata_ptx::opcode::TestProperty;
use strata_simt::arith::float::{Bf16, F16, F32, F64, Float, MinMax};
use strata_simt::arith::{Mode, Rounding, native};

use crate::arith_support::{ROUNDINGS, Tested, round, rounded};
use crate::common::Random;

const SEED: u64 = 0x5eed_0001;

/// The operations that the reference has.
#[derive(Clone, Copy, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
}

const OPS: [Op; 6] = [Op::Add, Op::Sub, Op::Mul, Op::Fma, Op::Div, Op::Rcp];

fn ours<F: Tested>(op: Op, [a, b, c]: [u64; 3], mode: Mode) -> u64 {
    let (a, b, c) = (F::bits(a), F::bits(b), F::bits(c));
    match op {
        Op::Add => F::add(a, b, mode),
        Op::Sub => F::sub(a, b, mode),
        Op::Mul => F::mul(a, b, mode),
        Op::Fma => F::fma(a, b, c, mode),
        Op::Div => F::div(a, b, mode),
        Op::Rcp => F::rcp(a, mode),
    }
    .into()
}

fn theirs<F: Tested>(op: Op, operands: [u64; 3], mode: Mode) -> u64 {
    let [a, b, c] = operands.map(|x| F::reference(if mode.ftz { F::flushed(x) } else { x }));
    let how = round(mode.rounding);
    let result = match op {
        Op::Add => a.add_r(b, how),
        Op::Sub => a.sub_r(b, how),
        Op::Mul => a.mul_r(b, how),
        Op::Fma => a.mul_add_r(b, c, how),
        Op::Div => a.div_r(b, how),
        Op::Rcp => F::reference(F::one()).div_r(a, how),
    };
    F::modified(F::from_reference(result.value), mode)
}

fn check<F: Tested>(op: Op, operands: [u64; 3], mode: Mode) {
    let (got, expected) = (ours::<F>(op, operands, mode), theirs::<F>(op, operands, mode));
    assert_eq!(
        got,
        expected,
        "{} {op:?} of {operands:x?} in {mode:?}: got {got:x}, expected {expected:x}; seed {SEED:x}",
        F::NAME
    );
}

fn random_mode(random: &mut Random) -> Mode {
    Mode {
        rounding: random.pick(&ROUNDINGS),
        ftz: random.below(4) == 0,
        sat: random.below(8) == 0,
        relu: random.below(8) == 0,
    }
}

fn random_operations<F: Tested>() {
    let mut random = Random::new(SEED);
    for op in OPS {
        for _ in 0..200_000 {
            let operands = [0; 3].map(|_| F::operand(&mut random));
            check::<F>(op, operands, random_mode(&mut random));
        }
    }
}

#[test]
fn random_f16() {
    random_operations::<F16>();
}

#[test]
fn random_bf16() {
    random_operations::<Bf16>();
}

#[test]
fn random_f32() {
    random_operations::<F32>();
}

#[test]
fn random_f64() {
    random_operations::<F64>();
}

fn edge_operations<F: Tested>() {
    let edges = F::edges();
    for rounding in ROUNDINGS {
        let mode = rounded(rounding);
        for &a in &edges {
            check::<F>(Op::Rcp, [a, 0, 0], mode);
            for &b in &edges {
                for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
                    check::<F>(op, [a, b, 0], mode);
                    check::<F>(op, [a, b, 0], Mode { ftz: true, ..mode });
                }
            }
        }
    }
}

#[test]
fn edges_of_all_formats() {
    edge_operations::<F16>();
    edge_operations::<Bf16>();
    edge_operations::<F32>();
    edge_operations::<F64>();
}

fn fused_edges<F: Tested>() {
    for a in F::edges() {
        for b in F::edges() {
            for c in F::edges() {
                // One rounding for each triple, so that neighbours differ.
                let rounding = ROUNDINGS[((a ^ b ^ c) % 5) as usize];
                check::<F>(Op::Fma, [a, b, c], rounded(rounding));
                check::<F>(Op::Fma, [a, b, c], Mode::NEAREST);
            }
        }
    }
}

#[test]
fn fused_edges_of_all_formats() {
    fused_edges::<F16>();
    fused_edges::<Bf16>();
    fused_edges::<F32>();
    fused_edges::<F64>();
}

/// A sum that cancels all but the last bits of a product.
fn fused_cancellation<F: Tested>() {
    let mut random = Random::new(SEED);
    for _ in 0..50_000 {
        let (a, b) = (F::operand(&mut random), F::operand(&mut random));
        let product = theirs::<F>(Op::Mul, [a, b, 0], Mode::NEAREST);
        let near = product.wrapping_add(random.below(3).into()).wrapping_sub(1) ^ F::sign();
        let c = near & (u64::MAX >> (64 - F::WIDTH));
        check::<F>(Op::Fma, [a, b, c], rounded(random.pick(&ROUNDINGS)));
        check::<F>(Op::Fma, [a, b, c], Mode::NEAREST);
    }
}

#[test]
fn fused_multiply_add_keeps_what_cancels() {
    fused_cancellation::<F16>();
    fused_cancellation::<Bf16>();
    fused_cancellation::<F32>();
    fused_cancellation::<F64>();
}

/// Whether `root` is the rounded square root of the positive finite `x`: squares of candidates and
/// midpoints, exact in 113 bits, bracket `x`.
fn is_root<F: Tested>(x: u64, root: u64, rounding: Rounding) -> bool
where
    F::Reference: rustc_apfloat::FloatConvert<rustc_apfloat::ieee::Quad>,
{
    use rustc_apfloat::ieee::Quad;
    use rustc_apfloat::{FloatConvert as _, Round};
    let wide = |bits: u64| -> Quad { F::reference(bits).convert(&mut false).value };
    let squared = |q: Quad| q.mul_r(q, Round::NearestTiesToEven).value;
    let middle = |a: Quad, b: Quad| {
        let sum = a.add_r(b, Round::NearestTiesToEven).value;
        sum.scalbn(-1)
    };
    let (below, at, above) = (wide(root.saturating_sub(1)), wide(root), wide(root + 1));
    let x = wide(x);
    match rounding {
        Rounding::Zero | Rounding::Down => squared(at) <= x && x < squared(above),
        Rounding::Up => squared(at) >= x && (root == 0 || squared(below) < x),
        _ => squared(middle(below, at)) <= x && x <= squared(middle(at, above)),
    }
}

fn roots<F: Tested>(operands: impl Iterator<Item = u64>)
where
    F::Reference: rustc_apfloat::FloatConvert<rustc_apfloat::ieee::Quad>,
{
    for x in operands {
        for rounding in ROUNDINGS {
            let root: u64 = F::sqrt(F::bits(x), rounded(rounding)).into();
            if F::is_nan(x) || (x & F::sign() != 0 && x != F::sign()) {
                assert_eq!(root, F::NAN.into(), "{} root of {x:x}", F::NAME);
            } else if x == F::infinity() || x & !F::sign() == 0 {
                assert_eq!(root, x, "{} root of {x:x}", F::NAME);
            } else {
                assert!(
                    is_root::<F>(x, root, rounding),
                    "{} root of {x:x} {rounding:?}: {root:x}; seed {SEED:x}",
                    F::NAME
                );
            }
        }
    }
}

#[test]
fn square_roots_are_bracketed() {
    let mut random = Random::new(SEED);
    roots::<F16>(0..=0xffff);
    roots::<Bf16>(0..=0xffff);
    let singles: Vec<u64> = (0..20_000).map(|_| F32::operand(&mut random)).collect();
    roots::<F32>(F32::edges().into_iter().chain(singles));
    let doubles: Vec<u64> = (0..20_000).map(|_| F64::operand(&mut random)).collect();
    roots::<F64>(F64::edges().into_iter().chain(doubles));
}

#[test]
fn ftz_and_sat_act_on_square_roots() {
    let ftz = Mode { ftz: true, ..Mode::NEAREST };
    let mode = Mode { sat: true, ..ftz };
    let root = |x: f32| f32::from_bits(F32::sqrt(x.to_bits(), mode));
    assert_eq!(root(4.0).to_bits(), 1.0f32.to_bits());
    assert_eq!(root(0.25).to_bits(), 0.5f32.to_bits());
    assert_eq!(root(-1.0).to_bits(), 0);
    assert_eq!(F32::sqrt(1, ftz), 0);
    assert_eq!(F32::sqrt(0x8000_0001, ftz), 0x8000_0000);
    assert_eq!(F32::sqrt(0x8000_0001, Mode::NEAREST), F32::NAN);
}

/// Every number with every edge, which takes products of both formats through all that rounds
/// to a subnormal.
fn every_number_with_each_edge<F: Tested>() {
    for edge in F::edges() {
        for x in 0..=0xffff {
            check::<F>(Op::Add, [x, edge, 0], Mode::NEAREST);
            check::<F>(Op::Mul, [x, edge, 0], Mode::NEAREST);
        }
    }
}

#[test]
fn halves_exhaustively_with_each_edge() {
    every_number_with_each_edge::<F16>();
    every_number_with_each_edge::<Bf16>();
    for x in 0..=0xffff {
        for rounding in ROUNDINGS {
            check::<F16>(Op::Rcp, [x, 0, 0], rounded(rounding));
            check::<Bf16>(Op::Rcp, [x, 0, 0], rounded(rounding));
        }
    }
}

/// The hot functions are the general ones in the nearest mode.
#[test]
fn native_functions_equal_general_ones() {
    let mut random = Random::new(SEED);
    let mode = Mode::NEAREST;
    let saturating = Mode { sat: true, ..mode };
    let rules = MinMax::default();
    for _ in 0..100_000 {
        let [a, b, c] = [0; 3].map(|_| F32::operand(&mut random) as u32);
        assert_eq!(native::add_f32(a, b), F32::add(a, b, mode));
        assert_eq!(native::fma_f32(a, b, c), F32::fma(a, b, c, mode));
        assert_eq!(native::min_f32(a, b), F32::min(a, b, rules), "{a:x} {b:x}");
        assert_eq!(native::max_f32(a, b), F32::max(a, b, rules), "{a:x} {b:x}");
        assert_eq!(native::flush_f32(a), F32::flush(a));
        assert_eq!(native::saturate_f32(a), F32::modified(a.into(), saturating) as u32, "{a:x}");
        let fused = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
        assert_eq!(native::fma_f32(a, b, c), native::canonical_f32(fused), "{a:x} {b:x} {c:x}");
        let [a, b] = [0; 2].map(|_| F64::operand(&mut random));
        assert_eq!(native::min_f64(a, b), F64::min(a, b, rules), "{a:x} {b:x}");
        assert_eq!(native::max_f64(a, b), F64::max(a, b, rules), "{a:x} {b:x}");
    }
}

/// `min` and `max` by the text of PTX, on numbers as the host orders them.
fn minimum_by_the_book(a: f32, b: f32, mode: MinMax, greater: bool) -> u32 {
    let flush = |x: f32| if mode.ftz && x.is_subnormal() { 0.0f32.copysign(x) } else { x };
    let (a, b) = (flush(a), flush(b));
    let sign = a.is_sign_negative() ^ b.is_sign_negative();
    let (a, b) = if mode.xorsign_abs { (a.abs(), b.abs()) } else { (a, b) };
    let better = |x: f32, y: f32| {
        let lesser = match x.partial_cmp(&y) {
            Some(Ordering::Equal) => x.is_sign_negative(),
            other => other == Some(Ordering::Less),
        };
        if lesser == greater { y } else { x }
    };
    let (one, both) = (a.is_nan() || b.is_nan(), a.is_nan() && b.is_nan());
    let result = if both || (mode.propagate_nan && one) {
        return 0x7fff_ffff;
    } else if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        better(a, b)
    };
    let result = if mode.xorsign_abs {
        result.abs().copysign(if sign { -1.0 } else { 1.0 })
    } else {
        result
    };
    result.to_bits()
}

#[test]
fn minimum_and_maximum_follow_the_book() {
    let mut random = Random::new(SEED);
    let mut cases: Vec<(u64, u64)> = Vec::new();
    for a in F32::edges() {
        cases.extend(F32::edges().into_iter().map(|b| (a, b)));
    }
    cases.extend((0..30_000).map(|_| (F32::operand(&mut random), F32::operand(&mut random))));
    for (a, b) in cases {
        for flags in 0..8 {
            let mode = MinMax {
                ftz: flags & 1 != 0,
                propagate_nan: flags & 2 != 0,
                xorsign_abs: flags & 4 != 0,
            };
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let least = F32::min(a as u32, b as u32, mode);
            let greatest = F32::max(a as u32, b as u32, mode);
            assert_eq!(least, minimum_by_the_book(x, y, mode, false), "{a:x} {b:x} {mode:?}");
            assert_eq!(greatest, minimum_by_the_book(x, y, mode, true), "{a:x} {b:x} {mode:?}");
        }
    }
}

fn ordered_formats<F: Tested>() {
    // Edges without NaN, in order, negative ones descending.
    let mut values: Vec<u64> =
        F::edges().into_iter().filter(|&e| !F::is_nan(e) && e & F::sign() == 0).collect();
    values.sort_unstable();
    let mut all: Vec<u64> = values.iter().rev().map(|v| v | F::sign()).collect();
    all.extend(values);
    let mode = MinMax::default();
    for (i, &a) in all.iter().enumerate() {
        for (j, &b) in all.iter().enumerate() {
            let least: u64 = F::min(F::bits(a), F::bits(b), mode).into();
            let greatest: u64 = F::max(F::bits(a), F::bits(b), mode).into();
            assert_eq!(least, all[i.min(j)], "{} min {a:x} {b:x}", F::NAME);
            assert_eq!(greatest, all[i.max(j)], "{} max {a:x} {b:x}", F::NAME);
        }
        let nan: u64 = F::min(F::bits(a), F::NAN, MinMax { propagate_nan: true, ..mode }).into();
        assert_eq!(nan, F::NAN.into());
        assert_eq!(F::max(F::NAN, F::bits(a), mode).into(), a);
    }
}

#[test]
fn minimum_and_maximum_order_every_format() {
    ordered_formats::<F16>();
    ordered_formats::<Bf16>();
    ordered_formats::<F32>();
    ordered_formats::<F64>();
}

fn signs_and_properties<F: Tested>() {
    for a in F::edges() {
        let magnitude = a & (F::sign() - 1);
        assert_eq!(F::abs(F::bits(a), false).into(), magnitude);
        assert_eq!(F::neg(F::bits(a), false).into(), a ^ F::sign());
        assert_eq!(F::abs(F::bits(a), true).into(), F::flushed(magnitude));
        assert_eq!(F::neg(F::bits(a), true).into(), F::flushed(a ^ F::sign()));
        for b in F::edges() {
            let expected = (a & F::sign()) | (b & (F::sign() - 1));
            assert_eq!(F::copysign(F::bits(a), F::bits(b)).into(), expected);
        }
        let is = |property| F::testp(F::bits(a), property);
        let known = F::reference(a);
        assert_eq!(is(TestProperty::Finite), known.is_finite());
        assert_eq!(is(TestProperty::Infinite), known.is_infinite());
        assert_eq!(is(TestProperty::Number), !known.is_nan());
        assert_eq!(is(TestProperty::NotANumber), known.is_nan());
        assert_eq!(is(TestProperty::Normal), known.is_normal() || known.is_zero());
        assert_eq!(is(TestProperty::Subnormal), known.is_denormal());
    }
}

#[test]
fn signs_and_properties_of_edges() {
    signs_and_properties::<F16>();
    signs_and_properties::<Bf16>();
    signs_and_properties::<F32>();
    signs_and_properties::<F64>();
}

#[test]
fn generated_nans_are_canonical() {
    let inf = f32::INFINITY.to_bits();
    assert_eq!(F32::sub(inf, inf, Mode::NEAREST), 0x7fff_ffff);
    assert_eq!(F32::sub(inf, inf, rounded(Rounding::Zero)), 0x7fff_ffff);
    assert_eq!(F32::mul(0xffc0_1234, 0, Mode::NEAREST), 0x7fff_ffff);
    assert_eq!(F64::div(0, 0, Mode::NEAREST), 0xfff8_0000_0000_0000);
    assert_eq!(F64::div(0, 0, rounded(Rounding::Up)), 0xfff8_0000_0000_0000);
    assert_eq!(F16::mul(0x7c00, 0, Mode::NEAREST), 0x7fff);
    assert_eq!(Bf16::mul(0x7f80, 0, Mode::NEAREST), 0x7fff);
}
