//! Integer arithmetic by type, carries, and the byte and half dot products.

use std::convert::identity;

/// A 16-, 32- or 64-bit integer type of PTX. The implementors ([`U16`] to [`S64`]) are names only:
/// `S32::div(a, b)` divides the bits `a` by the bits `b` as signed 32-bit numbers.
pub trait Integer {
    /// Holds the bits of an operand.
    type Bits: Copy;
    /// Holds the bits of a full product.
    type Wide: Copy;

    /// `add`: wraps.
    fn add(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `sub`: wraps.
    fn sub(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `add.sat`: clamps to the range of the type (PTX has it for `s32` only).
    fn add_sat(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `sub.sat`: clamps to the range of the type (PTX has it for `s32` only).
    fn sub_sat(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `mul.lo`.
    fn mul_lo(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `mul.hi`.
    fn mul_hi(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `mul.wide`: the whole product, twice as wide (PTX has it for 16 and 32 bits).
    fn mul_wide(a: Self::Bits, b: Self::Bits) -> Self::Wide;
    /// `mad.lo`: wraps.
    fn mad_lo(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> Self::Bits;
    /// `mad.hi`: the high half of the product plus `c`, wraps.
    fn mad_hi(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> Self::Bits;
    /// `mad.hi.sat`: the addition clamps to the range of the type (PTX has it for `s32` only).
    fn mad_hi_sat(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> Self::Bits;
    /// `mad.wide`: wraps at the double width.
    fn mad_wide(a: Self::Bits, b: Self::Bits, c: Self::Wide) -> Self::Wide;
    /// `div`: towards zero. PTX leaves division by zero unspecified: all bits are one, as NVIDIA's
    /// unsigned division yields. The lowest number divided by -1 is itself.
    fn div(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `rem`: has the sign of `a`. PTX leaves division by zero unspecified: `a`. The lowest
    /// number gives 0 for a divisor of -1.
    fn rem(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `neg`: wraps.
    fn neg(a: Self::Bits) -> Self::Bits;
    /// `abs`: the lowest signed number is its own; the identity for unsigned types.
    fn abs(a: Self::Bits) -> Self::Bits;
    /// `min`.
    fn min(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `max`.
    fn max(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `min.relu`: negative results become 0.
    fn min_relu(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `max.relu`: negative results become 0.
    fn max_relu(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `sad`: `c` plus the distance of `a` and `b`, wraps.
    fn sad(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> Self::Bits;
    /// `shl`: amounts of the width and more give 0.
    fn shl(a: Self::Bits, amount: u32) -> Self::Bits;
    /// `shr`: amounts of the width and more give 0, or all sign bits for signed types.
    fn shr(a: Self::Bits, amount: u32) -> Self::Bits;
}

/// `.u16`.
pub struct U16;
/// `.s16`.
pub struct S16;
/// `.u32`.
pub struct U32;
/// `.s32`.
pub struct S32;
/// `.u64`.
pub struct U64;
/// `.s64`.
pub struct S64;

macro_rules! integer {
    ($name:ident, $bits:ty, $number:ty, $wide:ty, $wide_number:ty, $abs:path) => {
        impl Integer for $name {
            type Bits = $bits;
            type Wide = $wide;

            #[inline]
            fn add(a: $bits, b: $bits) -> $bits {
                a.wrapping_add(b)
            }

            #[inline]
            fn sub(a: $bits, b: $bits) -> $bits {
                a.wrapping_sub(b)
            }

            #[inline]
            fn add_sat(a: $bits, b: $bits) -> $bits {
                (a as $number).saturating_add(b as $number) as $bits
            }

            #[inline]
            fn sub_sat(a: $bits, b: $bits) -> $bits {
                (a as $number).saturating_sub(b as $number) as $bits
            }

            #[inline]
            fn mul_lo(a: $bits, b: $bits) -> $bits {
                a.wrapping_mul(b)
            }

            #[inline]
            fn mul_hi(a: $bits, b: $bits) -> $bits {
                (Self::mul_wide(a, b) >> <$bits>::BITS) as $bits
            }

            #[inline]
            fn mul_wide(a: $bits, b: $bits) -> $wide {
                // A product of two numbers always fits in twice their width.
                (a as $number as $wide_number).wrapping_mul(b as $number as $wide_number) as $wide
            }

            #[inline]
            fn mad_lo(a: $bits, b: $bits, c: $bits) -> $bits {
                a.wrapping_mul(b).wrapping_add(c)
            }

            #[inline]
            fn mad_hi(a: $bits, b: $bits, c: $bits) -> $bits {
                Self::mul_hi(a, b).wrapping_add(c)
            }

            #[inline]
            fn mad_hi_sat(a: $bits, b: $bits, c: $bits) -> $bits {
                Self::add_sat(Self::mul_hi(a, b), c)
            }

            #[inline]
            fn mad_wide(a: $bits, b: $bits, c: $wide) -> $wide {
                Self::mul_wide(a, b).wrapping_add(c)
            }

            #[inline]
            fn div(a: $bits, b: $bits) -> $bits {
                if b == 0 {
                    return <$bits>::MAX;
                }
                (a as $number).wrapping_div(b as $number) as $bits
            }

            #[inline]
            fn rem(a: $bits, b: $bits) -> $bits {
                if b == 0 {
                    return a;
                }
                (a as $number).wrapping_rem(b as $number) as $bits
            }

            #[inline]
            fn neg(a: $bits) -> $bits {
                a.wrapping_neg()
            }

            #[inline]
            fn abs(a: $bits) -> $bits {
                $abs(a as $number) as $bits
            }

            #[inline]
            fn min(a: $bits, b: $bits) -> $bits {
                (a as $number).min(b as $number) as $bits
            }

            #[inline]
            fn max(a: $bits, b: $bits) -> $bits {
                (a as $number).max(b as $number) as $bits
            }

            #[inline]
            fn min_relu(a: $bits, b: $bits) -> $bits {
                Self::max(Self::min(a, b), 0)
            }

            #[inline]
            fn max_relu(a: $bits, b: $bits) -> $bits {
                Self::max(Self::max(a, b), 0)
            }

            #[inline]
            fn sad(a: $bits, b: $bits, c: $bits) -> $bits {
                (a as $number).abs_diff(b as $number).wrapping_add(c)
            }

            #[inline]
            fn shl(a: $bits, amount: u32) -> $bits {
                // `unbounded_shl` is the PTX rule: everything is shifted out.
                a.unbounded_shl(amount)
            }

            #[inline]
            fn shr(a: $bits, amount: u32) -> $bits {
                (a as $number).unbounded_shr(amount) as $bits
            }
        }
    };
}

integer!(U16, u16, u16, u32, u32, identity);
integer!(S16, u16, i16, u32, i32, i16::wrapping_abs);
integer!(U32, u32, u32, u64, u64, identity);
integer!(S32, u32, i32, u64, i64, i32::wrapping_abs);
integer!(U64, u64, u64, u128, u128, identity);
integer!(S64, u64, i64, u128, i128, i64::wrapping_abs);

/// `add.cc`/`addc.cc` for 32 bits: the sum with a carry in, and the carry out.
#[inline]
pub fn add_carry_u32(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u32::from(carry));
    (sum, first | second)
}

/// `add.cc`/`addc.cc` for 64 bits.
#[inline]
pub fn add_carry_u64(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

/// `mul24.lo.u32`: the low 32 bits of the 48-bit product of the low 24 bits.
#[inline]
pub fn mul24_lo_u32(a: u32, b: u32) -> u32 {
    (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) as u32
}

/// `mul24.hi.u32`: the high 32 bits (47 to 16) of that product.
#[inline]
pub fn mul24_hi_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32
}

/// The low 24 bits as a signed number.
#[inline]
fn signed24(a: u32) -> i64 {
    i64::from((a << 8) as i32 >> 8)
}

/// `mul24.lo.s32`: the low 32 bits of the 48-bit product of the signed low 24 bits.
#[inline]
pub fn mul24_lo_s32(a: u32, b: u32) -> u32 {
    (signed24(a) * signed24(b)) as u32
}

/// `mul24.hi.s32`: the high 32 bits (47 to 16) of that product.
#[inline]
pub fn mul24_hi_s32(a: u32, b: u32) -> u32 {
    ((signed24(a) * signed24(b)) >> 16) as u32
}

/// `dp4a`: `c` plus the sum of the products of the four bytes, wraps. `a_signed`, `b_signed`: the
/// bytes of that operand are `.s32`'s rather than `.u32`'s.
#[inline]
pub fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let mut sum = c;
    for i in 0..4 {
        let product = byte(a, i, a_signed).wrapping_mul(byte(b, i, b_signed));
        sum = sum.wrapping_add(product);
    }
    sum
}

/// `dp2a`: `c` plus the products of the two halves of `a` with two bytes of `b` (the upper two
/// with `high`), wraps.
#[inline]
pub fn dp2a(a: u32, b: u32, c: u32, high: bool, a_signed: bool, b_signed: bool) -> u32 {
    let mut sum = c;
    for i in 0..2 {
        let half = (a >> (16 * i)) as u16;
        let half = if a_signed { half as i16 as u32 } else { u32::from(half) };
        let product = half.wrapping_mul(byte(b, i + 2 * u32::from(high), b_signed));
        sum = sum.wrapping_add(product);
    }
    sum
}

/// Byte `index` (0 to 3) of a word, extended.
#[inline]
fn byte(word: u32, index: u32, signed: bool) -> u32 {
    let byte = (word >> (8 * index)) as u8;
    if signed { byte as i8 as u32 } else { u32::from(byte) }
}

/// Applies a 16-bit operation to both halves of packed words (`.u16x2`, `.f16x2`, ...).
#[inline]
pub fn per_half(a: u32, b: u32, operation: impl Fn(u16, u16) -> u16) -> u32 {
    let low = operation(a as u16, b as u16);
    let high = operation((a >> 16) as u16, (b >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}

/// Applies a 16-bit operation of one operand to both halves of a packed word (`.u16x2`, `.f16x2`,
/// ...).
#[inline]
pub fn per_half1(a: u32, operation: impl Fn(u16) -> u16) -> u32 {
    u32::from(operation(a as u16)) | u32::from(operation((a >> 16) as u16)) << 16
}

/// Applies a 16-bit operation of three operands to both halves of packed words (`.u16x2`, `.f16x2`,
/// ...).
#[inline]
pub fn per_half3(a: u32, b: u32, c: u32, operation: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let low = operation(a as u16, b as u16, c as u16);
    let high = operation((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}
