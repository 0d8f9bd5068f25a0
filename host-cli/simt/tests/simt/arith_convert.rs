//! Conversions against LLVM's software floating point and wide integers.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float as _, FloatConvert};
use strata_ptx::types::{Kind, ScalarType};
use strata_simt::arith::convert::{self, Conversion, convert};
use strata_simt::arith::float::{Bf16, F16, F32, F64, Float};
use strata_simt::arith::{Mode, Rounding, native};

use crate::arith_support::{ROUNDINGS, Tested, round};
use crate::common::Random;

const SEED: u64 = 0x5eed_0002;

const INTEGERS: [ScalarType; 8] = [
    ScalarType::U8,
    ScalarType::S8,
    ScalarType::U16,
    ScalarType::S16,
    ScalarType::U32,
    ScalarType::S32,
    ScalarType::U64,
    ScalarType::S64,
];

const INTEGRAL: [Rounding; 4] =
    [Rounding::IntegerNearest, Rounding::IntegerZero, Rounding::IntegerDown, Rounding::IntegerUp];

fn plain(to: ScalarType, from: ScalarType, rounding: Rounding) -> Conversion {
    Conversion {
        to,
        from,
        rounding: Some(rounding),
        ftz: false,
        sat: false,
        relu: false,
        satfinite: false,
    }
}

fn is_signed(of: ScalarType) -> bool {
    of.kind() == Kind::Signed
}

/// The low bits as the number that the type says.
fn number(of: ScalarType, bits: u64) -> i128 {
    let value = i128::from(bits) & ((1 << of.bits()) - 1);
    if is_signed(of) && value >> (of.bits() - 1) == 1 { value - (1 << of.bits()) } else { value }
}

fn range(of: ScalarType) -> (i128, i128) {
    let width = of.bits();
    if is_signed(of) {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    }
}

/// A format with its PTX type and conversions to the other formats' references.
trait Convertible:
    Tested<
    Reference: FloatConvert<Half>
                   + FloatConvert<BFloat>
                   + FloatConvert<Single>
                   + FloatConvert<Double>,
>
{
    const TYPE: ScalarType;
}

impl Convertible for F16 {
    const TYPE: ScalarType = ScalarType::F16;
}
impl Convertible for Bf16 {
    const TYPE: ScalarType = ScalarType::Bf16;
}
impl Convertible for F32 {
    const TYPE: ScalarType = ScalarType::F32;
}
impl Convertible for F64 {
    const TYPE: ScalarType = ScalarType::F64;
}

#[test]
fn integers_to_integers() {
    let mut random = Random::new(SEED);
    for from in INTEGERS {
        for to in INTEGERS {
            for _ in 0..2_000 {
                // The upper bits of the source must not matter.
                let bits = random.integer(64);
                let value = number(from, bits);
                let wrapped = convert(plain(to, from, Rounding::NearestEven), bits);
                assert_eq!(wrapped, number(to, value as u64) as u64, "{to:?} {from:?} {bits:x}");
                let clamping = Conversion { sat: true, ..plain(to, from, Rounding::NearestEven) };
                let (least, greatest) = range(to);
                let expected = value.clamp(least, greatest) as u64;
                assert_eq!(convert(clamping, bits), expected, "{to:?} {from:?} {bits:x}");
            }
        }
    }
}

fn integers_to_floats_of<F: Convertible>() {
    let mut random = Random::new(SEED);
    for from in INTEGERS {
        for _ in 0..15_000 {
            let bits = random.integer(from.bits());
            let rounding = random.pick(&ROUNDINGS);
            let value = F::Reference::from_i128_r(number(from, bits), round(rounding)).value;
            let expected = F::from_reference(value);
            let got = convert(plain(F::TYPE, from, rounding), bits);
            assert_eq!(got, expected, "{} {from:?} {bits:x} {rounding:?}; {SEED:x}", F::NAME);
        }
    }
}

#[test]
fn integers_to_floats() {
    integers_to_floats_of::<F16>();
    integers_to_floats_of::<Bf16>();
    integers_to_floats_of::<F32>();
    integers_to_floats_of::<F64>();
}

/// The reference, with the NaN rule of PTX written out.
fn to_integer_reference<F: Convertible>(to: ScalarType, bits: u64, rounding: Rounding) -> u64 {
    let value = F::reference(bits);
    if value.is_nan() {
        let zero = F::TYPE != ScalarType::F64 && to.bits() != 64;
        return if zero { 0 } else { number(to, 1 << (to.bits() - 1)) as u64 };
    }
    let width = to.bits() as usize;
    if is_signed(to) {
        value.to_i128_r(width, round(rounding), &mut false).value as u64
    } else {
        value.to_u128_r(width, round(rounding), &mut false).value as u64
    }
}

fn float_to_integers<F: Convertible>(bits: u64, rounding: Rounding) {
    for to in INTEGERS {
        let got = convert(plain(to, F::TYPE, rounding), bits);
        let expected = to_integer_reference::<F>(to, bits, rounding);
        assert_eq!(got, expected, "{to:?} {} {bits:x} {rounding:?}; {SEED:x}", F::NAME);
    }
}

#[test]
fn halves_to_integers_exhaustively() {
    for bits in 0..=0xffff {
        float_to_integers::<F16>(bits, INTEGRAL[(bits % 4) as usize]);
        float_to_integers::<F16>(bits, Rounding::IntegerZero);
        float_to_integers::<Bf16>(bits, INTEGRAL[(bits % 4) as usize]);
    }
}

fn random_floats_to_integers<F: Convertible>() {
    let mut random = Random::new(SEED);
    for rounding in INTEGRAL {
        for edge in F::edges() {
            float_to_integers::<F>(edge, rounding);
        }
        for _ in 0..15_000 {
            float_to_integers::<F>(F::operand(&mut random), rounding);
            // Numbers around the ends of the ranges and halfway between integers.
            let integer = random.integer(64) as i64 as i128;
            let quarters = F::Reference::from_i128(integer).value.scalbn(-2);
            float_to_integers::<F>(F::from_reference(quarters), rounding);
            let whole = F::Reference::from_i128(integer).value;
            float_to_integers::<F>(F::from_reference(whole), rounding);
        }
    }
}

#[test]
fn floats_to_integers() {
    random_floats_to_integers::<F32>();
    random_floats_to_integers::<F64>();
}

fn check_between<From: Convertible, To: Convertible>(bits: u64, conversion: Conversion)
where
    From::Reference: FloatConvert<To::Reference>,
{
    let flush = |of: ScalarType| conversion.ftz && of == ScalarType::F32;
    let rounding = conversion.rounding.unwrap_or(Rounding::NearestEven);
    let source = if flush(From::TYPE) { From::flushed(bits) } else { bits };
    let mut value = From::reference(source);
    if INTEGRAL.contains(&rounding) {
        value = value.round_to_integral(round(rounding)).value;
    }
    let value: To::Reference = value.convert_r(round(rounding), &mut false).value;
    let mut expected = To::from_reference(value);
    if conversion.satfinite && expected & !To::sign() == To::infinity() {
        expected -= 1;
    }
    let mode = Mode { rounding, ftz: flush(To::TYPE), sat: conversion.sat, relu: conversion.relu };
    let expected = To::modified(expected, mode);
    let got = convert(conversion, bits);
    assert_eq!(got, expected, "{conversion:?} of {bits:x}; seed {SEED:x}");
}

fn random_between<From: Convertible, To: Convertible>()
where
    From::Reference: FloatConvert<To::Reference>,
{
    let mut random = Random::new(SEED);
    let edges = From::edges();
    for i in 0..25_000 {
        let bits = edges.get(i / 9).copied().unwrap_or_else(|| From::operand(&mut random));
        let rounding = if i % 9 < 5 { ROUNDINGS[i % 9] } else { INTEGRAL[i % 9 - 5] };
        let conversion = Conversion {
            ftz: random.below(4) == 0,
            sat: random.below(8) == 0,
            relu: random.below(8) == 0,
            satfinite: random.below(8) == 0,
            ..plain(To::TYPE, From::TYPE, rounding)
        };
        check_between::<From, To>(bits, conversion);
    }
}

fn random_from<From: Convertible>() {
    random_between::<From, F16>();
    random_between::<From, Bf16>();
    random_between::<From, F32>();
    random_between::<From, F64>();
}

#[test]
fn floats_to_floats() {
    random_from::<F16>();
    random_from::<Bf16>();
    random_from::<F32>();
    random_from::<F64>();
}

/// Doubles at, just below and just above each number and each midpoint of a 16-bit format.
fn doubles_around<F: Convertible>()
where
    Double: FloatConvert<F::Reference>,
{
    let plain64 = plain(F::TYPE, ScalarType::F64, Rounding::NearestEven);
    for bits in 0..F::infinity() {
        let value = |bits: u64| -> f64 {
            let wide: Double = F::reference(bits).convert(&mut false).value;
            f64::from_bits(wide.to_bits() as u64)
        };
        // Above the largest number, the midpoint is where infinity begins.
        let step = if bits + 1 == F::infinity() {
            value(bits) - value(bits - 1)
        } else {
            value(bits + 1) - value(bits)
        };
        for point in [value(bits), value(bits) + step / 2.0] {
            for near in [point.next_down(), point, point.next_up()] {
                check_between::<F64, F>(near.to_bits(), plain64);
                check_between::<F64, F>((-near).to_bits(), plain64);
            }
        }
    }
}

#[test]
fn doubles_round_once_to_halves() {
    doubles_around::<F16>();
    doubles_around::<Bf16>();
}

#[test]
fn halves_widen_exactly_and_return() {
    for bits in 0..=0xffffu64 {
        let plain16 = plain(ScalarType::F32, ScalarType::F16, Rounding::NearestEven);
        check_between::<F16, F32>(bits, plain16);
        check_between::<F16, F64>(bits, Conversion { to: ScalarType::F64, ..plain16 });
        let wide = convert::f32_from_f16(bits as u16);
        assert_eq!(u64::from(wide), convert(plain16, bits));
        let back = if F16::is_nan(bits) { F16::NAN } else { bits as u16 };
        assert_eq!(convert::f16_from_f32(wide), back);
        let brain = convert::f32_from_bf16(bits as u16);
        let plain_bf16 = plain(ScalarType::F32, ScalarType::Bf16, Rounding::NearestEven);
        assert_eq!(u64::from(brain), convert(plain_bf16, bits));
        let back = if Bf16::is_nan(bits) { Bf16::NAN } else { bits as u16 };
        assert_eq!(convert::bf16_from_f32(brain), back);
    }
}

/// Every upper half of an f32 with the lower halves around ties and ends.
#[test]
fn singles_narrow_to_halves() {
    let mut random = Random::new(SEED);
    let to_f16 = plain(ScalarType::F16, ScalarType::F32, Rounding::NearestEven);
    let to_bf16 = Conversion { to: ScalarType::Bf16, ..to_f16 };
    for high in 0..=0xffffu32 {
        let any = random.next() as u32 & 0xffff;
        for low in [0, 1, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff, any] {
            let bits = high << 16 | low;
            assert_eq!(u64::from(convert::f16_from_f32(bits)), convert(to_f16, bits.into()));
            assert_eq!(u64::from(convert::bf16_from_f32(bits)), convert(to_bf16, bits.into()));
        }
    }
}

#[test]
fn fast_conversions_equal_general_ones() {
    use ScalarType::{F32 as Single, F64 as Double, S32, S64, U32, U64};
    let mut random = Random::new(SEED);
    let nearest = |to, from, bits| convert(plain(to, from, Rounding::NearestEven), bits);
    let whole = |to, from, bits| convert(plain(to, from, Rounding::IntegerZero), bits) as u32;
    for _ in 0..100_000 {
        let single = F32::operand(&mut random) as u32;
        let double = F64::operand(&mut random);
        let (word, long) = (random.integer(32) as u32, random.integer(64));
        let w = u64::from(word);
        // The host's own roundings to integral values are exact, too.
        let (x, y) = (f32::from_bits(single), f64::from_bits(double));
        for (rounding, x, y) in [
            (Rounding::IntegerNearest, x.round_ties_even(), y.round_ties_even()),
            (Rounding::IntegerZero, x.trunc(), y.trunc()),
            (Rounding::IntegerDown, x.floor(), y.floor()),
            (Rounding::IntegerUp, x.ceil(), y.ceil()),
        ] {
            let integral = |of, bits| convert(plain(of, of, rounding), bits);
            let (x, y) = (native::canonical_f32(x), native::canonical_f64(y));
            assert_eq!(integral(Single, single.into()), x.into(), "{rounding:?} {single:x}");
            assert_eq!(integral(Double, double), y, "{rounding:?} {double:x}");
        }
        assert_eq!(convert::f64_from_f32(single), nearest(Double, Single, single.into()));
        assert_eq!(u64::from(convert::f32_from_f64(double)), nearest(Single, Double, double));
        assert_eq!(u64::from(convert::f32_from_s32(word)), nearest(Single, S32, w));
        assert_eq!(u64::from(convert::f32_from_u32(word)), nearest(Single, U32, w));
        assert_eq!(u64::from(convert::f32_from_s64(long)), nearest(Single, S64, long));
        assert_eq!(u64::from(convert::f32_from_u64(long)), nearest(Single, U64, long));
        assert_eq!(convert::f64_from_s32(word), nearest(Double, S32, w));
        assert_eq!(convert::f64_from_u32(word), nearest(Double, U32, w));
        assert_eq!(convert::f64_from_s64(long), nearest(Double, S64, long));
        assert_eq!(convert::f64_from_u64(long), nearest(Double, U64, long));
        assert_eq!(convert::s32_from_f32(single), whole(S32, Single, single.into()));
        assert_eq!(convert::u32_from_f32(single), whole(U32, Single, single.into()));
        assert_eq!(convert::s32_from_f64(double), whole(S32, Double, double));
        assert_eq!(convert::u32_from_f64(double), whole(U32, Double, double));
    }
}

/// TF32: the neighbours among f32 whose low 13 bits are zero, chosen by distance.
#[test]
fn singles_round_to_tf32() {
    let mut random = Random::new(SEED);
    for _ in 0..50_000 {
        let bits = F32::operand(&mut random) as u32;
        let (below, rest) = (bits & !0x1fff, bits & 0x1fff);
        let odd = below & 0x2000 != 0;
        let convert = |rounding| {
            convert(plain(ScalarType::Tf32, ScalarType::F32, rounding), bits.into()) as u32
        };
        if F32::is_nan(bits.into()) {
            assert_eq!(convert(Rounding::NearestAway), 0x7fff_e000);
            continue;
        }
        let up = |yes| if yes { below + 0x2000 } else { below };
        assert_eq!(convert(Rounding::Zero), up(false), "{bits:x}");
        assert_eq!(convert(Rounding::NearestAway), up(rest >= 0x1000), "{bits:x}");
        let even = rest > 0x1000 || (rest == 0x1000 && odd);
        assert_eq!(convert(Rounding::NearestEven), up(even), "{bits:x}");
    }
    let wide = plain(ScalarType::F32, ScalarType::Tf32, Rounding::NearestEven);
    assert_eq!(convert(wide, 0x3f80_3fff), 0x3f80_2000);
}

#[test]
fn pairs_pack_the_first_source_high() {
    let halves = plain(ScalarType::F16x2, ScalarType::F32, Rounding::NearestEven);
    let (one, two) = (1.0f32.to_bits(), 2.0f32.to_bits());
    assert_eq!(convert::pack(halves, one, two), 0x3c00_4000);
    let brains = Conversion { to: ScalarType::Bf16x2, ..halves };
    assert_eq!(convert::pack(brains, one, two), 0x3f80_4000);
    let big = 1e30f32.to_bits();
    let finite = Conversion { satfinite: true, ..halves };
    assert_eq!(convert::pack(finite, big, big | 0x8000_0000), 0x7bff_fbff);
    let positive = Conversion { relu: true, ..halves };
    assert_eq!(convert::pack(positive, (-1.0f32).to_bits(), f32::NAN.to_bits()), 0x0000_7fff);
}

#[test]
fn flushing_applies_to_single_precision_only() {
    let mode =
        Conversion { ftz: true, ..plain(ScalarType::F64, ScalarType::F32, Rounding::NearestEven) };
    assert_eq!(convert(mode, 0x8000_0001), 0x8000_0000_0000_0000);
    let narrow = Conversion { to: ScalarType::F32, from: ScalarType::F64, ..mode };
    assert_eq!(convert(narrow, 1e-40f64.to_bits()), 0);
    let half = Conversion { to: ScalarType::F16, from: ScalarType::F32, ..mode };
    let tiny_half = 6e-8f32.to_bits();
    assert_eq!(convert(half, tiny_half.into()), 1, "an f16 result is not flushed");
    let up = Conversion { to: ScalarType::S32, rounding: Some(Rounding::IntegerUp), ..half };
    assert_eq!(convert(up, 1), 0, "a flushed input rounds up to 0");
    assert_eq!(convert(Conversion { ftz: false, ..up }, 1), 1);
}

#[test]
fn other_types_do_not_convert() {
    for from in [ScalarType::Pred, ScalarType::F16x2, ScalarType::B128, ScalarType::Texref] {
        let conversion = plain(ScalarType::U32, from, Rounding::NearestEven);
        assert_eq!(convert(conversion, u64::MAX), 0);
        let back = Conversion { to: from, from: ScalarType::U32, ..conversion };
        assert_eq!(convert(back, u64::MAX), 0);
    }
}

#[test]
fn extension_follows_the_type() {
    assert_eq!(convert::extend(0xff80, ScalarType::S8), 0xffff_ffff_ffff_ff80);
    assert_eq!(convert::extend(0xff80, ScalarType::U8), 0x80);
    assert_eq!(convert::extend(0x1_8000_0000, ScalarType::S32), 0xffff_ffff_8000_0000);
    assert_eq!(convert::extend(0x1_8000_0000, ScalarType::F32), 0x8000_0000);
    assert_eq!(convert::extend(u64::MAX, ScalarType::B64), u64::MAX);
}
