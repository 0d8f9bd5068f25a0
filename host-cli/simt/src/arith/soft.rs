//! Exact arithmetic on unpacked numbers of any format, rounded once.
//!
//! A finite value is `significand * 2^exponent` with a 128-bit significand. Where an operation
//! cannot keep every bit (alignment over a long distance, quotients, roots), the lowest bit is set
//! if anything below it was not zero ("sticky"); at least ten bits then lie between it and the
//! last bit of any format, so the one rounding at the end cannot tell the difference.

use super::{MinMax, Mode, Rounding};

/// Widths of a binary floating-point format with an implicit leading bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of the significand, the implicit one included.
    pub(super) precision: u32,
    /// Bits of the exponent field.
    pub(super) exponent_bits: u32,
}

impl Format {
    pub(super) const F16: Self = Self { precision: 11, exponent_bits: 5 };
    pub(super) const BF16: Self = Self { precision: 8, exponent_bits: 8 };
    /// `tf32` has 19 bits here; in a register these are the upper ones of 32.
    pub(super) const TF32: Self = Self { precision: 11, exponent_bits: 8 };
    pub(super) const F32: Self = Self { precision: 24, exponent_bits: 8 };
    pub(super) const F64: Self = Self { precision: 53, exponent_bits: 11 };

    /// The sign bit.
    pub(super) const fn sign(self) -> u64 {
        1 << (self.precision + self.exponent_bits - 1)
    }

    /// Positive infinity: all ones in the exponent field.
    pub(super) const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.precision - 1)
    }

    /// The largest finite number.
    pub(super) const fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// The number one.
    pub(super) const fn one(self) -> u64 {
        (self.bias() as u64) << (self.precision - 1)
    }

    /// The NaN that arithmetic generates: all ones but the sign in the narrow formats, as PTX
    /// says, and in f64 the one that CUDA's headers call NaN.
    pub(super) const fn nan(self) -> u64 {
        if self.precision == Self::F64.precision { 0xfff8_0000_0000_0000 } else { self.sign() - 1 }
    }

    /// Bits of the fraction field.
    const fn fraction(self) -> u64 {
        (1 << (self.precision - 1)) - 1
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The exponent of the smallest normal number.
    pub(super) const fn exponent_min(self) -> i32 {
        1 - self.bias()
    }

    /// Whether the bits are a NaN.
    pub(super) const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    /// Whether the bits are a subnormal number or zero.
    pub(super) const fn is_tiny(self, bits: u64) -> bool {
        bits & self.infinity() == 0
    }

    /// A subnormal number becomes zero of the same sign.
    pub(super) const fn flush(self, bits: u64) -> u64 {
        if self.is_tiny(bits) { bits & self.sign() } else { bits }
    }

    /// Clamps to `[+0, 1]`, a NaN becomes `+0`.
    pub(super) const fn saturate(self, bits: u64) -> u64 {
        if self.is_nan(bits) || bits & self.sign() != 0 {
            0
        } else if bits > self.one() {
            self.one()
        } else {
            bits
        }
    }

    /// Negative numbers and `-0` become `+0`, a NaN the canonical one.
    pub(super) const fn relu(self, bits: u64) -> u64 {
        if self.is_nan(bits) {
            self.nan()
        } else if bits & self.sign() != 0 {
            0
        } else {
            bits
        }
    }

    /// What the modifiers do after rounding. A result is flushed if it is subnormal once rounded.
    pub(super) const fn finish(self, mut bits: u64, mode: Mode) -> u64 {
        if mode.ftz {
            bits = self.flush(bits);
        }
        if mode.sat {
            bits = self.saturate(bits);
        }
        if mode.relu {
            bits = self.relu(bits);
        }
        bits
    }
}

/// `significand * 2^exponent`, negative or not; a zero has a sign too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) significand: u128,
}

/// What bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Nan,
    Infinite { negative: bool },
    Finite(Number),
}

/// Reads bits, after flushing them if `ftz`.
#[inline]
pub(super) fn unpack(format: Format, bits: u64, ftz: bool) -> Value {
    let bits = if ftz { format.flush(bits) } else { bits };
    let negative = bits & format.sign() != 0;
    let magnitude = bits & (format.sign() - 1);
    if magnitude > format.infinity() {
        return Value::Nan;
    }
    if magnitude == format.infinity() {
        return Value::Infinite { negative };
    }
    let field = (magnitude >> (format.precision - 1)) as i32;
    let fraction = magnitude & format.fraction();
    let implicit = u64::from(field != 0) << (format.precision - 1);
    let exponent = field.max(1) - format.bias() - (format.precision as i32 - 1);
    Value::Finite(Number { negative, exponent, significand: u128::from(fraction | implicit) })
}

/// Shifts right; the lowest bit stays set if any bit was lost.
#[inline]
fn shift_right_sticky(significand: u128, distance: u32) -> u128 {
    if distance == 0 {
        significand
    } else if distance > 127 {
        u128::from(significand != 0)
    } else {
        let lost = significand & ((1 << distance) - 1) != 0;
        significand >> distance | u128::from(lost)
    }
}

/// Whether a kept significand grows by one. `rest` is what was cut off and `half` half of a unit.
#[inline]
fn rounds_up(rounding: Rounding, negative: bool, odd: bool, rest: u128, half: u128) -> bool {
    match rounding {
        Rounding::NearestEven | Rounding::IntegerNearest => rest > half || (rest == half && odd),
        Rounding::NearestAway => rest >= half,
        Rounding::Zero | Rounding::IntegerZero => false,
        Rounding::Down | Rounding::IntegerDown => negative && rest != 0,
        Rounding::Up | Rounding::IntegerUp => !negative && rest != 0,
    }
}

/// Divides by `2^distance` and rounds to an integer.
#[inline]
fn round_shift(number: Number, distance: i32, rounding: Rounding) -> u128 {
    if distance <= 0 {
        return number.significand << distance.unsigned_abs();
    }
    // Far below the last place only "not zero, below half" matters, which the sticky bit keeps.
    let far = (distance - 126).max(0);
    let significand = shift_right_sticky(number.significand, far as u32);
    let distance = distance - far;
    let kept = significand >> distance;
    let rest = significand & ((1 << distance) - 1);
    let half = 1 << (distance - 1);
    kept + u128::from(rounds_up(rounding, number.negative, kept & 1 != 0, rest, half))
}

/// Whether a magnitude beyond the largest finite number becomes infinity rather than that number.
#[inline]
fn overflows_to_infinity(rounding: Rounding, negative: bool) -> bool {
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway | Rounding::IntegerNearest => true,
        Rounding::Zero | Rounding::IntegerZero => false,
        Rounding::Down | Rounding::IntegerDown => negative,
        Rounding::Up | Rounding::IntegerUp => !negative,
    }
}

/// The bits of a number in a format, rounded.
#[inline]
pub(super) fn round(format: Format, number: Number, rounding: Rounding) -> u64 {
    let sign = if number.negative { format.sign() } else { 0 };
    if number.significand == 0 {
        return sign;
    }
    let leading = number.exponent + number.significand.ilog2() as i32;
    if leading > format.bias() {
        let beyond = u64::from(overflows_to_infinity(rounding, number.negative));
        return sign + format.largest() + beyond;
    }
    let above_min = leading.max(format.exponent_min()) - format.exponent_min();
    let last_place = above_min + format.exponent_min() - (format.precision as i32 - 1);
    let kept = round_shift(number, last_place - number.exponent, rounding) as u64;
    // The implicit bit of a normal number adds one to the exponent field, and so does a carry out
    // of the significand; from the largest number a carry leads to infinity, as it must.
    sign + ((above_min as u64) << (format.precision - 1)) + kept
}

/// Puts the leading bit of a nonzero significand at bit 124, so that a sum still fits.
#[inline]
fn normalised(number: Number) -> Number {
    let up = number.significand.leading_zeros() as i32 - 3;
    // No operand of a sum has more than 106 bits.
    Number { significand: number.significand << up, exponent: number.exponent - up, ..number }
}

/// The sum; `rounding` decides the sign of an exact zero.
#[inline]
fn sum(x: Number, y: Number, rounding: Rounding) -> Number {
    if x.significand == 0 && y.significand == 0 {
        let negative = if x.negative == y.negative {
            x.negative
        } else {
            matches!(rounding, Rounding::Down | Rounding::IntegerDown)
        };
        return Number { negative, ..x };
    }
    if x.significand == 0 {
        return y;
    }
    if y.significand == 0 {
        return x;
    }
    let (x, y) = (normalised(x), normalised(y));
    let (big, small) = if x.exponent >= y.exponent { (x, y) } else { (y, x) };
    let distance = big.exponent.abs_diff(small.exponent);
    let aligned = shift_right_sticky(small.significand, distance);
    if big.negative == small.negative {
        return Number { significand: big.significand + aligned, ..big };
    }
    if big.significand == aligned {
        let negative = matches!(rounding, Rounding::Down | Rounding::IntegerDown);
        return Number { negative, exponent: 0, significand: 0 };
    }
    Number {
        negative: big.negative ^ (aligned > big.significand),
        significand: big.significand.abs_diff(aligned),
        ..big
    }
}

/// The exact product.
#[inline]
fn product(x: Number, y: Number) -> Number {
    Number {
        negative: x.negative ^ y.negative,
        exponent: x.exponent + y.exponent,
        significand: x.significand * y.significand,
    }
}

/// The quotient of nonzero numbers, sticky, with at least 64 bits.
#[inline]
fn quotient(x: Number, y: Number) -> Number {
    let x_up = x.significand.leading_zeros();
    let y_up = y.significand.leading_zeros() - 64;
    let dividend = x.significand << x_up;
    let divisor = y.significand << y_up;
    let whole = dividend / divisor;
    Number {
        negative: x.negative ^ y.negative,
        exponent: (x.exponent - x_up as i32) - (y.exponent - y_up as i32),
        significand: whole | u128::from(whole * divisor != dividend),
    }
}

/// The square root of a positive number, sticky, with 64 bits.
#[inline]
fn root(x: Number) -> Number {
    let up = x.significand.leading_zeros();
    // The exponent has to be even.
    let up = if (x.exponent - up as i32) % 2 == 0 { up } else { up - 1 };
    let radicand = x.significand << up;
    let whole = radicand.isqrt();
    Number {
        negative: false,
        exponent: (x.exponent - up as i32) / 2,
        significand: whole | u128::from(whole * whole != radicand),
    }
}

/// `x + y` before the modifiers act.
#[inline]
fn add_values(format: Format, x: Value, y: Value, rounding: Rounding) -> u64 {
    let infinite =
        |negative| if negative { format.sign() + format.infinity() } else { format.infinity() };
    match (x, y) {
        (Value::Nan, _) | (_, Value::Nan) => format.nan(),
        (Value::Infinite { negative: a }, Value::Infinite { negative: b }) => {
            if a == b {
                infinite(a)
            } else {
                format.nan()
            }
        }
        (Value::Infinite { negative }, Value::Finite(_))
        | (Value::Finite(_), Value::Infinite { negative }) => infinite(negative),
        (Value::Finite(x), Value::Finite(y)) => round(format, sum(x, y, rounding), rounding),
    }
}

/// The exact product of values.
#[inline]
fn multiply_values(x: Value, y: Value) -> Value {
    match (x, y) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite { negative: a }, Value::Infinite { negative: b }) => {
            Value::Infinite { negative: a ^ b }
        }
        (Value::Infinite { negative }, Value::Finite(n))
        | (Value::Finite(n), Value::Infinite { negative }) => {
            if n.significand == 0 {
                Value::Nan
            } else {
                Value::Infinite { negative: negative ^ n.negative }
            }
        }
        (Value::Finite(x), Value::Finite(y)) => Value::Finite(product(x, y)),
    }
}

/// The bits of a value, rounded.
#[inline]
pub(super) fn pack(format: Format, value: Value, rounding: Rounding) -> u64 {
    match value {
        Value::Nan => format.nan(),
        Value::Infinite { negative } => {
            format.infinity() + if negative { format.sign() } else { 0 }
        }
        Value::Finite(number) => round(format, number, rounding),
    }
}

/// `a + b`.
#[inline]
pub(super) fn add(format: Format, a: u64, b: u64, mode: Mode) -> u64 {
    let (x, y) = (unpack(format, a, mode.ftz), unpack(format, b, mode.ftz));
    format.finish(add_values(format, x, y, mode.rounding), mode)
}

/// `a * b`.
#[inline]
pub(super) fn mul(format: Format, a: u64, b: u64, mode: Mode) -> u64 {
    let (x, y) = (unpack(format, a, mode.ftz), unpack(format, b, mode.ftz));
    format.finish(pack(format, multiply_values(x, y), mode.rounding), mode)
}

/// `a * b + c`.
#[inline]
pub(super) fn fma(format: Format, a: u64, b: u64, c: u64, mode: Mode) -> u64 {
    let (x, y) = (unpack(format, a, mode.ftz), unpack(format, b, mode.ftz));
    let product = multiply_values(x, y);
    let z = unpack(format, c, mode.ftz);
    format.finish(add_values(format, product, z, mode.rounding), mode)
}

/// `a / b`.
#[inline]
pub(super) fn div(format: Format, a: u64, b: u64, mode: Mode) -> u64 {
    let (x, y) = (unpack(format, a, mode.ftz), unpack(format, b, mode.ftz));
    let negative = (a ^ b) & format.sign() != 0;
    let zero = Value::Finite(Number { negative, exponent: 0, significand: 0 });
    let value = match (x, y) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite { .. }, Value::Infinite { .. }) => {
            Value::Nan
        }
        (Value::Infinite { .. }, Value::Finite(_)) => Value::Infinite { negative },
        (Value::Finite(_), Value::Infinite { .. }) => zero,
        (Value::Finite(x), Value::Finite(y)) => match (x.significand, y.significand) {
            (0, 0) => Value::Nan,
            (0, _) => zero,
            (_, 0) => Value::Infinite { negative },
            _ => Value::Finite(quotient(x, y)),
        },
    };
    format.finish(pack(format, value, mode.rounding), mode)
}

/// The square root.
#[inline]
pub(super) fn sqrt(format: Format, a: u64, mode: Mode) -> u64 {
    let value = match unpack(format, a, mode.ftz) {
        Value::Finite(x) if x.significand == 0 => Value::Finite(x),
        Value::Finite(x) if !x.negative => Value::Finite(root(x)),
        Value::Infinite { negative: false } => Value::Infinite { negative: false },
        _ => Value::Nan,
    };
    format.finish(pack(format, value, mode.rounding), mode)
}

/// Sign and magnitude as a number that orders as the values do, `-0` below `+0`.
#[inline]
const fn order_key(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & (format.sign() - 1)) as i64;
    if bits & format.sign() == 0 { magnitude } else { -1 - magnitude }
}

/// `min`, or `max` with `greater`.
#[inline]
pub(super) fn select(format: Format, mut a: u64, mut b: u64, mode: MinMax, greater: bool) -> u64 {
    if mode.ftz {
        (a, b) = (format.flush(a), format.flush(b));
    }
    let sign = (a ^ b) & format.sign();
    if mode.xorsign_abs {
        (a, b) = (a & !format.sign(), b & !format.sign());
    }
    let result = match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => return format.nan(),
        (true, false) | (false, true) if mode.propagate_nan => return format.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            if (order_key(format, a) < order_key(format, b)) ^ greater {
                a
            } else {
                b
            }
        }
    };
    if mode.xorsign_abs { result & !format.sign() | sign } else { result }
}

#[cfg(test)]
mod tests {
    use super::{Format, add, div, fma, mul, sqrt};
    use crate::arith::{Mode, native};

    /// The engine also serves the nearest mode (conversions use it there), for which arithmetic
    /// takes the native path; the two must agree.
    #[test]
    fn nearest_mode_equals_native_arithmetic() {
        let mode = Mode::NEAREST;
        let format = Format::F64;
        let mut state = 0x5eed_0005_u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // Exponents close to each other in half of the cases, any in the others.
            let bits = state.rotate_left(29);
            let near = bits & 0x800f_ffff_ffff_ffff | ((bits >> 52 & 0x3f) + 0x3e0) << 52;
            if state >> 63 == 0 { bits } else { near }
        };
        for _ in 0..100_000 {
            let (a, b, c) = (next(), next(), next());
            assert_eq!(add(format, a, b, mode), native::add_f64(a, b), "{a:x} + {b:x}");
            assert_eq!(mul(format, a, b, mode), native::mul_f64(a, b), "{a:x} * {b:x}");
            assert_eq!(div(format, a, b, mode), native::div_f64(a, b), "{a:x} / {b:x}");
            assert_eq!(sqrt(format, a, mode), native::sqrt_f64(a), "root of {a:x}");
            let fused = fma(format, a, b, c, mode);
            assert_eq!(fused, native::fma_f64(a, b, c), "{a:x} * {b:x} + {c:x}");
        }
    }
}
