//! Comparisons, transcendental instructions and atomics: published tables and error bounds.

#![expect(clippy::float_cmp, reason = "comparisons are what is tested")]

use strata_ptx::opcode::{AtomicOp, BooleanOp, Comparison};
use strata_ptx::types::ScalarType;
use strata_simt::arith::Mode;
use strata_simt::arith::atomic::atomic;
use strata_simt::arith::compare::{
    self, F16Ftz, F32Ftz, HighBf16, HighF16, HighF16Ftz, Ordered, combine, holds, set_where_true,
};
use strata_simt::arith::float::{Bf16, F16, F32, F64, Float, MinMax};
use strata_simt::arith::integer::{S16, S32, S64, U16, U32, U64};
use strata_simt::arith::transcendental as approx;

use crate::arith_support::Tested;
use crate::common::Random;

const SEED: u64 = 0x5eed_0004;

type Holds = fn(f64, f64) -> bool;

const COMPARISONS: [(Comparison, Holds); 18] = [
    (Comparison::Eq, |a, b| a == b),
    (Comparison::Ne, |a, b| !a.is_nan() && !b.is_nan() && a != b),
    (Comparison::Lt, |a, b| a < b),
    (Comparison::Le, |a, b| a <= b),
    (Comparison::Gt, |a, b| a > b),
    (Comparison::Ge, |a, b| a >= b),
    (Comparison::Lo, |a, b| a < b),
    (Comparison::Ls, |a, b| a <= b),
    (Comparison::Hi, |a, b| a > b),
    (Comparison::Hs, |a, b| a >= b),
    (Comparison::Equ, |a, b| a == b || a.is_nan() || b.is_nan()),
    (Comparison::Neu, |a, b| a != b),
    (Comparison::Ltu, |a, b| a < b || a.is_nan() || b.is_nan()),
    (Comparison::Leu, |a, b| a <= b || a.is_nan() || b.is_nan()),
    (Comparison::Gtu, |a, b| a > b || a.is_nan() || b.is_nan()),
    (Comparison::Geu, |a, b| a >= b || a.is_nan() || b.is_nan()),
    (Comparison::Num, |a, b| !a.is_nan() && !b.is_nan()),
    (Comparison::Nan, |a, b| a.is_nan() || b.is_nan()),
];

/// Every comparison of every pair of `inputs`, whose `bits` stand for `value`.
fn compare_format<T: Ordered>(
    name: &str,
    inputs: &[u64],
    bits: impl Fn(u64) -> T::Bits,
    value: impl Fn(u64) -> f64,
) {
    for &a in inputs {
        for &b in inputs {
            for (comparison, expected) in COMPARISONS {
                assert_eq!(
                    holds::<T>(comparison, bits(a), bits(b)),
                    expected(value(a), value(b)),
                    "{name} {a:x} {comparison:?} {b:x}",
                );
            }
        }
    }
}

#[test]
fn floats_compare_as_ptx_tables_say() {
    // What is in the lower half of a pair is nothing to the upper one.
    let upper = |x: u64| (x as u32) << 16 | (x as u32).wrapping_mul(0x9e37) & 0xffff;
    let half = |x: u64| half::f16::from_bits(x as u16).to_f64();
    let brain = |x: u64| half::bf16::from_bits(x as u16).to_f64();
    let single = |x: u64| f64::from(f32::from_bits(x as u32));
    compare_format::<F16>("f16", &F16::edges(), |x| x as u16, half);
    compare_format::<HighF16>("upper f16", &F16::edges(), upper, half);
    compare_format::<Bf16>("bf16", &Bf16::edges(), |x| x as u16, brain);
    compare_format::<HighBf16>("upper bf16", &Bf16::edges(), upper, brain);
    compare_format::<F32>("f32", &F32::edges(), |x| x as u32, single);
    compare_format::<F64>("f64", &F64::edges(), |x| x, f64::from_bits);
    let flushed = |x: f64, smallest: f64| if x.abs() < smallest { 0.0 } else { x };
    let half = |x| flushed(half(x), 2.0f64.powi(-14));
    compare_format::<F16Ftz>("f16.ftz", &F16::edges(), |x| x as u16, half);
    compare_format::<HighF16Ftz>("upper f16.ftz", &F16::edges(), upper, half);
    let single = |x| flushed(single(x), 2.0f64.powi(-126));
    compare_format::<F32Ftz>("f32.ftz", &F32::edges(), |x| x as u32, single);
}

#[test]
fn integers_compare_by_type() {
    fn check<T: Ordered>(a: T::Bits, b: T::Bits, (x, y): (i128, i128)) {
        for (comparison, expected) in [
            (Comparison::Eq, x == y),
            (Comparison::Ne, x != y),
            (Comparison::Lt, x < y),
            (Comparison::Le, x <= y),
            (Comparison::Gt, x > y),
            (Comparison::Ge, x >= y),
            (Comparison::Lo, x < y),
            (Comparison::Ls, x <= y),
            (Comparison::Hi, x > y),
            (Comparison::Hs, x >= y),
        ] {
            let found = holds::<T>(comparison, a, b);
            assert_eq!(found, expected, "{x} {comparison:?} {y}; seed {SEED:x}");
        }
    }
    let mut random = Random::new(SEED);
    for _ in 0..100_000 {
        let a = random.integer(64);
        let b = if random.below(8) == 0 { a } else { random.integer(64) };
        check::<U16>(a as u16, b as u16, (i128::from(a as u16), i128::from(b as u16)));
        check::<S16>(a as u16, b as u16, (i128::from(a as i16), i128::from(b as i16)));
        check::<U32>(a as u32, b as u32, (i128::from(a as u32), i128::from(b as u32)));
        check::<S32>(a as u32, b as u32, (i128::from(a as i32), i128::from(b as i32)));
        check::<U64>(a, b, (i128::from(a), i128::from(b)));
        check::<S64>(a, b, (i128::from(a as i64), i128::from(b as i64)));
    }
}

#[test]
fn predicates_combine_and_select() {
    let (a, c) = (0b0011, 0b0101);
    assert_eq!(combine(BooleanOp::And, a, c), 0b0001);
    assert_eq!(combine(BooleanOp::Or, a, c), 0b0111);
    assert_eq!(combine(BooleanOp::Xor, a, c), 0b0110);
    for (of, expected) in [
        (ScalarType::U32, u32::MAX),
        (ScalarType::S32, u32::MAX),
        (ScalarType::U16, 0xffff),
        (ScalarType::S16, 0xffff),
        (ScalarType::F32, 1.0f32.to_bits()),
        (ScalarType::F16, half::f16::ONE.to_bits().into()),
        (ScalarType::F16x2, half::f16::ONE.to_bits().into()),
        (ScalarType::Bf16, half::bf16::ONE.to_bits().into()),
        (ScalarType::Bf16x2, half::bf16::ONE.to_bits().into()),
    ] {
        assert_eq!(set_where_true(of), Some(expected), "{of:?}");
    }
    assert_eq!(set_where_true(ScalarType::U64), None);
    assert!(compare::slct_s32(0) && compare::slct_s32(5) && !compare::slct_s32(u32::MAX));
    assert!(compare::slct_f32(0x8000_0000, false), "minus zero is not negative");
    assert!(!compare::slct_f32(0x8000_0001, false));
    assert!(compare::slct_f32(0x8000_0001, true), "flushed to minus zero");
    assert!(!compare::slct_f32(0x7fc0_0000, false), "a NaN selects the second source");
}

const INF: u32 = 0x7f80_0000;
const NEG_INF: u32 = 0xff80_0000;
const NAN: u32 = 0x7fff_ffff;
const NEG_ZERO: u32 = 0x8000_0000;
const ONE: u32 = 0x3f80_0000;

#[test]
fn special_cases_are_those_of_ptx() {
    type Unary = fn(u32, bool) -> u32;
    // -Inf, -0, +0, +Inf, NaN, and a negative normal number where PTX's table has one.
    let inputs = [NEG_INF, NEG_ZERO, 0, INF, 0x7f80_0001, (-2.0f32).to_bits()];
    let tables: [(&str, Unary, [Option<u32>; 6]); 7] = [
        ("rcp", approx::rcp_approx_f32, [NEG_ZERO, NEG_INF, INF, 0, NAN, 0xbf00_0000].map(Some)),
        ("sqrt", approx::sqrt_approx_f32, [NAN, NEG_ZERO, 0, INF, NAN, NAN].map(Some)),
        ("rsqrt", approx::rsqrt_f32, [NAN, NEG_INF, INF, 0, NAN, NAN].map(Some)),
        ("sin", approx::sin_f32, [Some(NAN), Some(NEG_ZERO), Some(0), Some(NAN), Some(NAN), None]),
        ("cos", approx::cos_f32, [Some(NAN), Some(ONE), Some(ONE), Some(NAN), Some(NAN), None]),
        ("lg2", approx::lg2_f32, [NAN, NEG_INF, NEG_INF, INF, NAN, NAN].map(Some)),
        ("ex2", approx::ex2_f32, [0, ONE, ONE, INF, NAN, 0x3e80_0000].map(Some)),
    ];
    for (name, function, expected) in tables {
        for (input, expected) in inputs.into_iter().zip(expected) {
            for ftz in [false, true] {
                if let Some(expected) = expected {
                    assert_eq!(function(input, ftz), expected, "{name} of {input:x}");
                }
            }
        }
    }
    let tanh = [0xbf80_0000, NEG_ZERO, 0, ONE, NAN];
    for (input, expected) in inputs.into_iter().zip(tanh) {
        assert_eq!(approx::tanh_f32(input), expected, "tanh of {input:x}");
    }
    assert_eq!(approx::tanh_f32(1), 1, "a subnormal passes through");
}

#[test]
fn flushing_subnormals() {
    assert_eq!(approx::rcp_approx_f32(1, true), INF);
    assert_eq!(approx::rcp_approx_f32(0x8000_0001, true), NEG_INF);
    assert_eq!(approx::rcp_approx_f32(0x7f00_0000, false), 0x0040_0000, "1 / 2^127");
    assert_eq!(approx::rcp_approx_f32(0x7f00_0000, true), 0);
    assert_eq!(approx::lg2_f32(1, false), (-149.0f32).to_bits());
    assert_eq!(approx::lg2_f32(1, true), NEG_INF);
    assert_eq!(approx::ex2_f32((-127.0f32).to_bits(), false), 0x0040_0000);
    assert_eq!(approx::ex2_f32((-127.0f32).to_bits(), true), 0);
    assert_eq!(approx::sin_f32(0x8000_0001, true), NEG_ZERO);
    assert_eq!(approx::sin_f32(0x8000_0001, false), 0x8000_0001);
    assert_eq!(approx::rsqrt_f32(1, true), INF);
    assert_eq!(approx::sqrt_approx_f32(0x8000_0001, true), NEG_ZERO);
}

#[test]
fn approximate_division_at_the_edges() {
    let div = |a: f32, b: f32| approx::div_approx_f32(a.to_bits(), b.to_bits(), false);
    let two_126 = 2.0f32.powi(126);
    assert_eq!(div(two_126, two_126), ONE);
    let beyond = f32::from_bits(two_126.to_bits() + 1);
    assert_eq!(div(two_126, beyond), 0);
    assert_eq!(div(-two_126, f32::MAX), NEG_ZERO);
    assert_eq!(div(f32::INFINITY, f32::MAX), NAN);
    assert_eq!(div(f32::NAN, f32::MAX), NAN);
    assert_eq!(div(1.0, f32::INFINITY), 0);
    assert_eq!(div(1.0, 0.0), INF);
    assert_eq!(div(0.0, 0.0), NAN);
    let full = |a: f32, b: f32, ftz| approx::div_full_f32(a.to_bits(), b.to_bits(), ftz);
    assert_eq!(full(f32::MAX, f32::MAX, false), ONE);
    assert_eq!(full(1.0, f32::MAX, true), 0);
    assert_eq!(full(1.0, f32::MAX, false), 0x0020_0000);
    assert_eq!(approx::div_approx_f32(ONE, 1, true), INF);
}

#[test]
fn double_approximations_use_the_upper_word() {
    let rcp = approx::rcp_approx_ftz_f64;
    let rsqrt = approx::rsqrt_approx_ftz_f64;
    let (inf, neg_inf) = (0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000);
    let (neg_zero, nan) = (0x8000_0000_0000_0000, 0x7fff_ffff_0000_0000);
    let tiny = 0x000f_0000_0000_0000;
    for (input, expected) in [
        (neg_inf, neg_zero),
        (neg_zero | tiny, neg_inf),
        (neg_zero, neg_inf),
        (0, inf),
        (tiny, inf),
        (inf, 0),
        (0x7ff0_0001_0000_0000, nan),
    ] {
        assert_eq!(rcp(input), expected, "{input:x}");
    }
    for (input, expected) in [
        (neg_inf, nan),
        (neg_zero | tiny, neg_inf),
        (neg_zero, neg_inf),
        (0, inf),
        (tiny, inf),
        (inf, 0),
        (0x7ff8_0000_0000_0000, nan),
        ((-1.0f64).to_bits(), nan),
    ] {
        assert_eq!(rsqrt(input), expected, "{input:x}");
    }
    assert_eq!(rcp(4.0f64.to_bits() | 0xffff_ffff), 0.25f64.to_bits());
    assert_eq!(rsqrt(4.0f64.to_bits() | 0xffff_ffff), 0.5f64.to_bits());
    assert_eq!(rcp(0x7fe8_0000_0000_0000), 0, "a subnormal result is flushed");
    let mut random = Random::new(SEED);
    for _ in 0..20_000 {
        let x = f64::from_bits(random.next() >> 2 | 1 << 61);
        for (got, exact) in [(rcp(x.to_bits()), 1.0 / x), (rsqrt(x.to_bits()), 1.0 / x.sqrt())] {
            assert_eq!(got & 0xffff_ffff, 0);
            let error = (f64::from_bits(got) / exact - 1.0).abs();
            assert!(error < 2.0f64.powi(-18), "{x:e}: {error:e}; seed {SEED:x}");
        }
        let exact = approx::rsqrt_f64(x.to_bits());
        let back = f64::from_bits(exact).powi(2) * x;
        assert!((back - 1.0).abs() < 1e-15, "{x:e} {back:e}");
    }
    assert_eq!(approx::rsqrt_f64((-1.0f64).to_bits()), F64::NAN);
    assert_eq!(approx::rsqrt_f64(neg_zero), neg_inf);
}

/// The host's own functions in f64 serve as the exact values: their errors are some 2^-50.
#[test]
fn errors_are_within_the_documented_bounds() {
    let mut random = Random::new(SEED);
    let close = |name: &str, x: f32, got: u32, exact: f64, absolute: f64, relative: f64| {
        let error = (f64::from(f32::from_bits(got)) - exact).abs();
        let bound = absolute.max(relative * exact.abs());
        assert!(error <= bound, "{name} of {x:e}: off by {error:e}; seed {SEED:x}");
    };
    let power = |n: f64| 2.0f64.powf(n);
    for _ in 0..50_000 {
        let unit = random.next() as f64 / 2.0f64.powi(64);
        let angle = ((unit - 0.5) * 4.0 * std::f64::consts::PI) as f32;
        let (bits, exact) = (angle.to_bits(), f64::from(angle));
        let sine = approx::sin_f32(bits, false);
        close("sin", angle, sine, exact.sin(), power(-24.0), power(-23.9));
        close("cos", angle, approx::cos_f32(bits, false), exact.cos(), power(-24.0), power(-23.9));
        let exponent = ((unit - 0.5) * 250.0) as f32;
        let power_of_two = approx::ex2_f32(exponent.to_bits(), false);
        close("ex2", exponent, power_of_two, f64::from(exponent).exp2(), 0.0, power(-23.9));
        close("tanh", angle, approx::tanh_f32(bits), exact.tanh(), 0.0, power(-23.9));
        let x = f32::from_bits(random.next() as u32 & 0x7fff_ffff);
        if !x.is_normal() {
            continue;
        }
        let (bits, exact) = (x.to_bits(), f64::from(x));
        close("lg2", x, approx::lg2_f32(bits, false), exact.log2(), power(-30.0), power(-23.9));
        let root = exact.sqrt();
        close("rsqrt", x, approx::rsqrt_f32(bits, false), 1.0 / root, 0.0, power(-23.9));
        close("sqrt", x, approx::sqrt_approx_f32(bits, false), root, 0.0, power(-23.9));
        let inverse = approx::rcp_approx_f32(bits, false);
        close("rcp", x, inverse, 1.0 / exact, power(-150.0), power(-23.9));
    }
}

#[test]
fn half_approximations_exhaustively() {
    for bits in 0..=0xffffu16 {
        let x = half::f16::from_bits(bits).to_f64();
        let brain = half::bf16::from_bits(bits).to_f64();
        let as_f16 = |b: u16| half::f16::from_bits(b).to_f64();
        let as_bf16 = |b: u16| half::bf16::from_bits(b).to_f64();
        if x.is_nan() {
            assert_eq!(approx::ex2_f16(bits), F16::NAN);
            assert_eq!(approx::tanh_f16(bits), F16::NAN);
        } else {
            let exact = x.exp2();
            let got = as_f16(approx::ex2_f16(bits));
            let overflow = exact >= 65520.0 && got.is_infinite();
            let near = (got - exact).abs() <= (exact * 2.0f64.powf(-10.9)).max(2.0f64.powi(-25));
            assert!(overflow || near, "2^{x} is not {got}");
            let got = as_f16(approx::tanh_f16(bits));
            assert!((got - x.tanh()).abs() <= 2.0f64.powf(-11.9), "tanh {x} is not {got}");
        }
        if brain.is_nan() {
            assert_eq!(approx::ex2_ftz_bf16(bits), Bf16::NAN);
            assert_eq!(approx::tanh_bf16(bits), Bf16::NAN);
        } else {
            let exact = brain.exp2();
            let got = as_bf16(approx::ex2_ftz_bf16(bits));
            let overflow = exact > 3.39e38 && got.is_infinite();
            let flushed = exact < 2.0f64.powi(-126) && got <= 0.0;
            let near = (got - exact).abs() <= exact * 2.0f64.powf(-7.9);
            assert!(overflow || flushed || near, "2^{brain} is not {got}");
            let got = as_bf16(approx::tanh_bf16(bits));
            assert!((got - brain.tanh()).abs() <= 2.0f64.powf(-8.9), "tanh {brain} is not {got}");
        }
    }
    assert_eq!(approx::ex2_ftz_bf16(0x8001), 0x3f80, "a subnormal counts as zero");
}

#[test]
fn integer_atomics() {
    let mut random = Random::new(SEED);
    let at = |operation, of, old, b| atomic(operation, of, old, b, 0, false);
    for _ in 0..50_000 {
        let (old, b, c) = (random.integer(32), random.integer(32), random.integer(32));
        let word = |value: u64| Some(value & 0xffff_ffff);
        let u32_of = |operation| at(operation, ScalarType::U32, old, b);
        let s32_of = |operation| at(operation, ScalarType::S32, old, b);
        assert_eq!(u32_of(AtomicOp::Add), word(old + b));
        assert_eq!(s32_of(AtomicOp::Add), word(old + b));
        assert_eq!(u32_of(AtomicOp::Min), word(old.min(b)));
        assert_eq!(u32_of(AtomicOp::Max), word(old.max(b)));
        let (x, y) = (old as i32, b as i32);
        assert_eq!(s32_of(AtomicOp::Min), word(x.min(y) as u32 as u64));
        assert_eq!(s32_of(AtomicOp::Max), word(x.max(y) as u32 as u64));
        assert_eq!(u32_of(AtomicOp::Inc), word(if old >= b { 0 } else { old + 1 }));
        let down = if old == 0 || old > b { b } else { old - 1 };
        assert_eq!(u32_of(AtomicOp::Dec), word(down));
        let bits_of = |operation| at(operation, ScalarType::B32, old, b);
        assert_eq!(bits_of(AtomicOp::And), word(old & b));
        assert_eq!(bits_of(AtomicOp::Or), word(old | b));
        assert_eq!(bits_of(AtomicOp::Xor), word(old ^ b));
        assert_eq!(bits_of(AtomicOp::Exch), word(b));
        let cas = |old| atomic(AtomicOp::Cas, ScalarType::B32, old, b, c, false);
        assert_eq!(cas(b), word(c));
        assert_eq!(cas(old), word(if old == b { c } else { old }));
        let (old, b) = (random.integer(64), random.integer(64));
        let u64_of = |operation| at(operation, ScalarType::U64, old, b);
        assert_eq!(u64_of(AtomicOp::Add), Some(old.wrapping_add(b)));
        assert_eq!(u64_of(AtomicOp::Max), Some(old.max(b)));
        let least = (old as i64).min(b as i64) as u64;
        assert_eq!(at(AtomicOp::Min, ScalarType::S64, old, b), Some(least));
    }
}

#[test]
fn float_atomics() {
    let mut random = Random::new(SEED);
    for _ in 0..20_000 {
        let (a, b) = (F32::operand(&mut random), F32::operand(&mut random));
        for ftz in [false, true] {
            let mode = Mode { ftz, ..Mode::NEAREST };
            let sum = F32::add(a as u32, b as u32, mode).into();
            let got = atomic(AtomicOp::Add, ScalarType::F32, a, b, 0, ftz);
            assert_eq!(got, Some(sum));
        }
        let (a, b) = (F64::operand(&mut random), F64::operand(&mut random));
        let got = atomic(AtomicOp::Add, ScalarType::F64, a, b, 0, true);
        assert_eq!(got, Some(F64::add(a, b, Mode::NEAREST)));
        let (a, b) = (random.integer(32), random.integer(32));
        let halves = |operation: fn(u16, u16) -> u16| {
            let low = operation(a as u16, b as u16);
            let high = operation((a >> 16) as u16, (b >> 16) as u16);
            Some(u64::from(high) << 16 | u64::from(low))
        };
        let pair = |operation, of| atomic(operation, of, a, b, 0, true);
        let add16 = |x, y| F16::add(x, y, Mode::NEAREST);
        let max16 = |x, y| F16::max(x, y, MinMax::default());
        let add_b = |x, y| Bf16::add(x, y, Mode::NEAREST);
        let min_b = |x, y| Bf16::min(x, y, MinMax::default());
        assert_eq!(pair(AtomicOp::Add, ScalarType::F16x2), halves(add16));
        assert_eq!(pair(AtomicOp::Max, ScalarType::F16x2), halves(max16));
        assert_eq!(pair(AtomicOp::Add, ScalarType::Bf16x2), halves(add_b));
        assert_eq!(pair(AtomicOp::Min, ScalarType::Bf16x2), halves(min_b));
    }
}

#[test]
fn atomics_that_ptx_lacks() {
    for (operation, of) in [
        (AtomicOp::And, ScalarType::F32),
        (AtomicOp::Inc, ScalarType::S32),
        (AtomicOp::Dec, ScalarType::F64),
        (AtomicOp::Min, ScalarType::F32),
        (AtomicOp::Max, ScalarType::F64),
        (AtomicOp::Add, ScalarType::Pred),
        (AtomicOp::Add, ScalarType::U8),
        (AtomicOp::Exch, ScalarType::Texref),
        (AtomicOp::Cas, ScalarType::B128),
    ] {
        assert_eq!(atomic(operation, of, 1, 2, 3, false), None, "{operation:?} {of:?}");
    }
}
