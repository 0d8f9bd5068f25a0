//! `cvt`: between all types, and the usual pairs as functions of their own.
//!
//! NaN to integer: 0, but where the source is f64 or the result has 64 bits, only the top bit of
//! the result is set (PTX ISA 9.1, section 9.7.9.21). NaN to a float: the canonical NaN.

use strata_ptx::opcode::Rounding;
use strata_ptx::types::{Kind, ScalarType};

pub use super::half::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
use super::native::{self, canonical_f32, canonical_f64, flush_f32, to_odd_f32};
use super::soft::{self, Format, Number};

/// One `cvt`, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "one for each modifier that PTX spells")]
pub struct Conversion {
    /// Type of the result.
    pub to: ScalarType,
    /// Type of the source.
    pub from: ScalarType,
    /// Rounding; `None` is `.rzi` for float to integer and `.rn` elsewhere (PTX requires one
    /// wherever it matters). Between floats, `.rni` and its kin round to an integral value first.
    pub rounding: Option<Rounding>,
    /// Flush subnormal f32 inputs and results.
    pub ftz: bool,
    /// To a float: clamp to `[0, 1]`. Between integers: clamp to the range of the result.
    pub sat: bool,
    /// To a float: negative becomes 0, NaN canonical.
    pub relu: bool,
    /// To a float: what is beyond the largest finite number becomes that number.
    pub satfinite: bool,
}

/// Converts one value. `bits`: the source in the low bits, the rest is not looked at.
///
/// The result is in the low bits, sign-extended to 64 bits for signed result types and
/// zero-extended for others, so that truncation gives what PTX puts in a wider register. Untyped
/// bits count as unsigned. Packed types (`f16x2`, `bf16x2`) are made of two sources by [`pack`];
/// they, 128 bits, predicates and opaque types give 0 here.
#[inline]
pub fn convert(conversion: Conversion, bits: u64) -> u64 {
    match (domain(conversion.from), domain(conversion.to)) {
        (Domain::Integer, Domain::Integer) => integer_to_integer(conversion, bits),
        (Domain::Integer, Domain::Float(format)) => integer_to_float(conversion, format, bits),
        (Domain::Float(_), Domain::Integer) => float_to_integer(conversion, bits),
        (Domain::Float(_), Domain::Float(format)) => float_to_float(conversion, format, bits),
        (Domain::Other, _) | (_, Domain::Other) => 0,
    }
}

/// `cvt.rn.f16x2.f32 d, a, b` and its `bf16x2` kin: `a` in the upper half. `conversion.to` names
/// the packed type (or its single type, for the same effect).
pub fn pack(conversion: Conversion, a: u32, b: u32) -> u32 {
    let to = match conversion.to {
        ScalarType::F16x2 => ScalarType::F16,
        ScalarType::Bf16x2 => ScalarType::Bf16,
        other => other,
    };
    let each = Conversion { to, ..conversion };
    let high = convert(each, a.into()) as u16;
    let low = convert(each, b.into()) as u16;
    u32::from(high) << 16 | u32::from(low)
}

/// What kind of conversion a type takes part in.
#[derive(Clone, Copy)]
enum Domain {
    Integer,
    Float(Format),
    Other,
}

#[inline]
fn domain(of: ScalarType) -> Domain {
    match of {
        ScalarType::F16 => Domain::Float(Format::F16),
        ScalarType::Bf16 => Domain::Float(Format::BF16),
        ScalarType::Tf32 => Domain::Float(Format::TF32),
        ScalarType::F32 => Domain::Float(Format::F32),
        ScalarType::F64 => Domain::Float(Format::F64),
        _ if of.bits() > 64 => Domain::Other,
        _ => match of.kind() {
            Kind::Signed | Kind::Unsigned | Kind::Bits => Domain::Integer,
            Kind::Float | Kind::Predicate | Kind::Opaque => Domain::Other,
        },
    }
}

/// The low bits as the number that an integer type makes of them.
#[inline]
fn integer_value(bits: u64, of: ScalarType) -> i128 {
    let extended = extend(bits, of);
    if of.kind() == Kind::Signed { i128::from(extended as i64) } else { i128::from(extended) }
}

#[inline]
fn integer_to_integer(conversion: Conversion, bits: u64) -> u64 {
    let to = conversion.to;
    if !conversion.sat {
        return extend(extend(bits, conversion.from), to);
    }
    let width = to.bits();
    let (least, greatest) = if to.kind() == Kind::Signed {
        (-1 << (width - 1), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    };
    integer_value(bits, conversion.from).clamp(least, greatest) as u64
}

#[inline]
fn integer_to_float(conversion: Conversion, format: Format, bits: u64) -> u64 {
    let nearest = matches!(conversion.rounding, None | Some(Rounding::NearestEven));
    let extended = extend(bits, conversion.from);
    let signed = conversion.from.kind() == Kind::Signed;
    let rounded = match (conversion.to, nearest, signed) {
        (ScalarType::F32, true, true) => f32_from_s64(extended).into(),
        (ScalarType::F32, true, false) => f32_from_u64(extended).into(),
        (ScalarType::F64, true, true) => f64_from_s64(extended),
        (ScalarType::F64, true, false) => f64_from_u64(extended),
        _ => {
            let value = integer_value(bits, conversion.from);
            let (negative, significand) = (value < 0, value.unsigned_abs());
            let number = Number { negative, exponent: 0, significand };
            let rounding = conversion.rounding.unwrap_or(Rounding::NearestEven);
            soft::round(format, number, rounding)
        }
    };
    finish(conversion, format, rounded)
}

/// The source of a conversion from a float; f64 holds every other format's numbers exactly.
#[inline]
fn float_value(conversion: Conversion, bits: u64) -> f64 {
    let single = match conversion.from {
        ScalarType::F64 => return f64::from_bits(bits),
        ScalarType::F16 => f32_from_f16(bits as u16),
        ScalarType::Bf16 => f32_from_bf16(bits as u16),
        ScalarType::F32 if conversion.ftz => flush_f32(bits as u32),
        ScalarType::Tf32 => bits as u32 >> TF32_SHIFT << TF32_SHIFT,
        _ => bits as u32,
    };
    f64::from(f32::from_bits(single))
}

/// How far the bits of a TF32 number stand above the bottom of a register.
const TF32_SHIFT: u32 = 13;

/// Rounds to an integral value; what is not a rounding to an integer counts as one.
#[inline]
fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::IntegerNearest | Rounding::NearestEven => native::integral_nearest_f64(value),
        Rounding::IntegerZero | Rounding::Zero => native::integral_zero_f64(value),
        Rounding::IntegerDown | Rounding::Down => native::integral_down_f64(value),
        Rounding::IntegerUp | Rounding::Up => native::integral_up_f64(value),
        Rounding::NearestAway => libm::round(value),
    }
}

#[inline]
fn float_to_integer(conversion: Conversion, bits: u64) -> u64 {
    let width = conversion.to.bits();
    let value = float_value(conversion, bits);
    if value.is_nan() {
        let zero = conversion.from != ScalarType::F64 && width != 64;
        return if zero { 0 } else { extend(1 << (width - 1), conversion.to) };
    }
    // The casts below truncate.
    let value = match conversion.rounding {
        None | Some(Rounding::IntegerZero | Rounding::Zero) => value,
        Some(rounding) => integral(value, rounding),
    };
    // They clamp, too, at 64 bits.
    if conversion.to.kind() == Kind::Signed {
        let greatest = i64::MAX >> (64 - width);
        (value as i64).clamp(-1 - greatest, greatest) as u64
    } else {
        (value as u64).min(u64::MAX >> (64 - width))
    }
}

#[inline]
fn float_to_float(conversion: Conversion, format: Format, bits: u64) -> u64 {
    let mut value = float_value(conversion, bits);
    let mut rounding = conversion.rounding.unwrap_or(Rounding::NearestEven);
    if is_integral(rounding) {
        value = integral(value, rounding);
    }
    // In its own format, an integral value is exact.
    if conversion.to == conversion.from {
        rounding = Rounding::NearestEven;
    }
    let nearest = matches!(rounding, Rounding::NearestEven | Rounding::IntegerNearest);
    let rounded = match conversion.to {
        ScalarType::F64 => canonical_f64(value),
        ScalarType::F32 if nearest => canonical_f32(value as f32).into(),
        ScalarType::F16 if nearest => f16_from_f32(to_odd_f32(value).to_bits()).into(),
        ScalarType::Bf16 if nearest => bf16_from_f32(to_odd_f32(value).to_bits()).into(),
        _ => {
            let unpacked = soft::unpack(Format::F64, value.to_bits(), false);
            soft::pack(format, unpacked, rounding)
        }
    };
    finish(conversion, format, rounded)
}

/// Applies the modifiers to a rounded result.
#[inline]
fn finish(conversion: Conversion, format: Format, mut bits: u64) -> u64 {
    if conversion.satfinite && bits & (format.sign() - 1) == format.infinity() {
        bits -= 1;
    }
    if conversion.ftz && conversion.to == ScalarType::F32 {
        bits = format.flush(bits);
    }
    if conversion.sat {
        bits = format.saturate(bits);
    }
    if conversion.relu {
        bits = format.relu(bits);
    }
    if conversion.to == ScalarType::Tf32 { bits << TF32_SHIFT } else { bits }
}

/// Whether a float-to-float conversion rounds to an integral value.
fn is_integral(rounding: Rounding) -> bool {
    matches!(
        rounding,
        Rounding::IntegerNearest
            | Rounding::IntegerZero
            | Rounding::IntegerDown
            | Rounding::IntegerUp
    )
}

/// The low bits of `bits` as a value of type `of`, extended to 64 bits by its sign if it is a
/// signed integer and with zeros otherwise: what `ld` and `cvt` put into a wider register.
#[inline]
pub fn extend(bits: u64, of: ScalarType) -> u64 {
    let up = 64 - of.bits().min(64);
    if of.kind() == Kind::Signed { ((bits << up) as i64 >> up) as u64 } else { bits << up >> up }
}

/// A float of 8 bits, of which PTX knows pairs only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Eighth {
    /// 4 bits of exponent and 3 of fraction; no infinities, and NaN is all ones.
    E4m3,
    /// 5 bits of exponent and 2 of fraction: the upper half of f16.
    E5m2,
}

impl Eighth {
    /// `cvt.rn.f16x2.e4m3x2` and its kin, of one number; exact. A NaN is the canonical one.
    #[inline]
    pub fn to_f16(self, a: u8) -> u16 {
        let sign = u16::from(a & 0x80) << 8;
        let magnitude = u16::from(a & 0x7f);
        match self {
            Self::E5m2 if magnitude > 0x7c => 0x7fff,
            Self::E5m2 => sign | magnitude << 8,
            Self::E4m3 if magnitude == 0x7f => 0x7fff,
            // Normal numbers move up by the difference of the biases.
            Self::E4m3 if magnitude >= 8 => sign | ((magnitude << 7) + (8 << 10)),
            // Of subnormal ones the unit is 2^-9.
            Self::E4m3 => sign | f16_from_f32((f32::from(magnitude) / 512.0).to_bits()),
        }
    }

    /// `cvt.rn.satfinite.e4m3x2.f32` and its kin, of one number: what is beyond the largest finite
    /// number becomes that number. `relu`: what is negative, and NaN, becomes 0 and NaN.
    pub fn from_f32(self, a: u32, relu: bool) -> u8 {
        let (fraction, bias, largest) = match self {
            Self::E4m3 => (3, 7, 0x7e),
            Self::E5m2 => (2, 15, 0x7b),
        };
        let magnitude = a & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return 0x7f;
        }
        let shift = 23 - fraction;
        // Half a unit less one, and the last kept bit, make the addition round to nearest even.
        let odd = magnitude >> shift & 1;
        let half = (1 << (shift - 1)) - 1 + odd;
        let rounded = magnitude.wrapping_sub((127 - bias) << 23).wrapping_add(half);
        // A number whose unit in f32 is that of subnormal numbers: adding it rounds to the unit.
        let base = (127 + 23 + 1 - bias - fraction) << 23;
        let sum = f32::from_bits(magnitude) + f32::from_bits(base);
        let subnormal = sum.to_bits().wrapping_sub(base);
        let small = magnitude < (127 + 1 - bias) << 23;
        let number = if small { subnormal } else { rounded >> shift }.min(largest) as u8;
        match a >> 31 {
            1 if relu => 0,
            sign => (sign << 7) as u8 | number,
        }
    }
}

/// `cvt.f64.f32`; exact.
#[inline]
pub fn f64_from_f32(a: u32) -> u64 {
    canonical_f64(f64::from(f32::from_bits(a)))
}

/// `cvt.rn.f32.f64`.
#[inline]
pub fn f32_from_f64(a: u64) -> u32 {
    canonical_f32(f64::from_bits(a) as f32)
}

/// `cvt.rn.f32.s32`.
#[inline]
pub fn f32_from_s32(a: u32) -> u32 {
    (a as i32 as f32).to_bits()
}

/// `cvt.rn.f32.u32`.
#[inline]
pub fn f32_from_u32(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.rn.f32.s64`.
#[inline]
pub fn f32_from_s64(a: u64) -> u32 {
    (a as i64 as f32).to_bits()
}

/// `cvt.rn.f32.u64`.
#[inline]
pub fn f32_from_u64(a: u64) -> u32 {
    (a as f32).to_bits()
}

/// `cvt.rn.f64.s32`; exact.
#[inline]
pub fn f64_from_s32(a: u32) -> u64 {
    f64::from(a as i32).to_bits()
}

/// `cvt.rn.f64.u32`; exact.
#[inline]
pub fn f64_from_u32(a: u32) -> u64 {
    f64::from(a).to_bits()
}

/// `cvt.rn.f64.s64`.
#[inline]
pub fn f64_from_s64(a: u64) -> u64 {
    (a as i64 as f64).to_bits()
}

/// `cvt.rn.f64.u64`.
#[inline]
pub fn f64_from_u64(a: u64) -> u64 {
    (a as f64).to_bits()
}

/// `cvt.rzi.s32.f32`: clamps, NaN gives 0.
#[inline]
pub fn s32_from_f32(a: u32) -> u32 {
    f32::from_bits(a) as i32 as u32
}

/// `cvt.rzi.u32.f32`: clamps, NaN gives 0.
#[inline]
pub fn u32_from_f32(a: u32) -> u32 {
    f32::from_bits(a) as u32
}

/// `cvt.rzi.s32.f64`: clamps, NaN gives `0x80000000`.
#[inline]
pub fn s32_from_f64(a: u64) -> u32 {
    let value = f64::from_bits(a);
    if value.is_nan() { 1 << 31 } else { value as i32 as u32 }
}

/// `cvt.rzi.u32.f64`: clamps, NaN gives `0x80000000`.
#[inline]
pub fn u32_from_f64(a: u64) -> u32 {
    let value = f64::from_bits(a);
    if value.is_nan() { 1 << 31 } else { value as u32 }
}
