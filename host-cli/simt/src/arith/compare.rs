//! Comparisons, `set`, `setp`, `slct`.
//!
//! A comparison is one of five tests of two values, perhaps with the values swapped and the result
//! inverted. That is exact for integers, and for floats with NaNs.

use std::cmp::Ordering;

use strata_ptx::opcode::{BooleanOp, Comparison};
use strata_ptx::types::ScalarType;

use super::convert::f32_from_f16;
use super::float::{Bf16, F16, F32, F64, Float};
use super::integer::{S16, S32, S64, U16, U32, U64};
use super::native::flush_f32;

/// A type whose values compare.
pub trait Ordered: 'static {
    /// Bits of a value.
    type Bits: Copy;
    /// What the bits are compared as.
    type Number: PartialOrd;
    /// Whether there are values without an order, NaNs.
    const HAS_NAN: bool;
    /// The number that the bits stand for.
    fn number(bits: Self::Bits) -> Self::Number;
}

/// f32 whose subnormals count as zero.
pub struct F32Ftz;
/// f16 whose subnormals count as zero.
pub struct F16Ftz;
/// The upper half of a pair, as f16.
pub struct HighF16;
/// The upper half of a pair, as f16 whose subnormals count as zero.
pub struct HighF16Ftz;
/// The upper half of a pair, as bf16.
pub struct HighBf16;

macro_rules! ordered {
    ($nan:literal: $($name:ident $bits:ty, $number:ty, |$x:ident| $e:expr;)*) => {
        $(
            impl Ordered for $name {
                type Bits = $bits;
                type Number = $number;
                const HAS_NAN: bool = $nan;

                #[inline]
                fn number($x: $bits) -> $number {
                    $e
                }
            }
        )*
    };
}

ordered! {
    false:
    U16 u16, u16, |x| x;
    S16 u16, i16, |x| x as i16;
    U32 u32, u32, |x| x;
    S32 u32, i32, |x| x as i32;
    U64 u64, u64, |x| x;
    S64 u64, i64, |x| x as i64;
}

ordered! {
    true:
    F32 u32, f32, |x| f32::from_bits(x);
    F32Ftz u32, f32, |x| f32::from_bits(flush_f32(x));
    F64 u64, f64, |x| f64::from_bits(x);
    F16 u16, f32, |x| f32::from_bits(f32_from_f16(x));
    F16Ftz u16, f32, |x| f32::from_bits(f32_from_f16(F16::flush(x)));
    Bf16 u16, f32, |x| f32::from_bits(u32::from(x) << 16);
    HighF16 u32, f32, |x| F16::number((x >> 16) as u16);
    HighF16Ftz u32, f32, |x| F16Ftz::number((x >> 16) as u16);
    HighBf16 u32, f32, |x| f32::from_bits(x & 0xffff_0000);
}

/// `a < b`.
#[inline]
pub fn less<T: Ordered>(a: T::Bits, b: T::Bits) -> bool {
    T::number(a) < T::number(b)
}

/// `a <= b`.
#[inline]
pub fn less_or_equal<T: Ordered>(a: T::Bits, b: T::Bits) -> bool {
    T::number(a) <= T::number(b)
}

/// `a == b`.
#[inline]
pub fn equal<T: Ordered>(a: T::Bits, b: T::Bits) -> bool {
    T::number(a) == T::number(b)
}

/// `a < b` or `a > b`: not equal, and no NaN.
#[inline]
pub fn different<T: Ordered>(a: T::Bits, b: T::Bits) -> bool {
    T::number(a).partial_cmp(&T::number(b)).is_some_and(Ordering::is_ne)
}

/// Neither is a NaN.
#[inline]
pub fn comparable<T: Ordered>(a: T::Bits, b: T::Bits) -> bool {
    T::number(a).partial_cmp(&T::number(b)).is_some()
}

/// What two values are tested for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// [`less`].
    Less,
    /// [`less_or_equal`].
    LessOrEqual,
    /// [`equal`].
    Equal,
    /// [`different`].
    Different,
    /// [`comparable`].
    Comparable,
}

/// What a comparison comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduced {
    /// The test.
    pub test: Test,
    /// It tests `b` and `a` instead of `a` and `b`.
    pub swap: bool,
    /// The comparison holds where the test fails.
    pub invert: bool,
}

/// Reduces a comparison of values that can be NaNs (`has_nan`) or cannot. `lo ls hi hs` are `lt le
/// gt ge`; that they are unsigned is in the type of the instruction.
pub const fn reduce(comparison: Comparison, has_nan: bool) -> Reduced {
    use Comparison as C;
    let (test, swap, invert) = match comparison {
        C::Ne if has_nan => (Test::Different, false, false),
        C::Equ if has_nan => (Test::Different, false, true),
        C::Eq | C::Equ => (Test::Equal, false, false),
        C::Ne | C::Neu => (Test::Equal, false, true),
        C::Lt | C::Lo => (Test::Less, false, false),
        C::Gt | C::Hi => (Test::Less, true, false),
        C::Le | C::Ls => (Test::LessOrEqual, false, false),
        C::Ge | C::Hs => (Test::LessOrEqual, true, false),
        // The unordered ones are what the opposite is not.
        C::Geu => (Test::Less, false, true),
        C::Leu => (Test::Less, true, true),
        C::Gtu => (Test::LessOrEqual, false, true),
        C::Ltu => (Test::LessOrEqual, true, true),
        C::Num => (Test::Comparable, false, false),
        C::Nan => (Test::Comparable, false, true),
    };
    match test {
        // Of integers `a <= b` is the opposite of `b < a`, and cheaper.
        Test::LessOrEqual if !has_nan => Reduced { test: Test::Less, swap: !swap, invert: !invert },
        _ => Reduced { test, swap, invert },
    }
}

/// Whether a comparison of two values holds. Hoist [`reduce`] out of loops over lanes.
#[inline]
pub fn holds<T: Ordered>(comparison: Comparison, a: T::Bits, b: T::Bits) -> bool {
    let Reduced { test, swap, invert } = reduce(comparison, T::HAS_NAN);
    let (a, b) = if swap { (b, a) } else { (a, b) };
    let truth = match test {
        Test::Less => less::<T>(a, b),
        Test::LessOrEqual => less_or_equal::<T>(a, b),
        Test::Equal => equal::<T>(a, b),
        Test::Different => different::<T>(a, b),
        Test::Comparable => comparable::<T>(a, b),
    };
    truth != invert
}

/// `set`/`setp` with a third source, of many lanes: where comparisons hold, combined with where the
/// predicate `c` does.
#[inline]
pub const fn combine(operation: BooleanOp, compared: u32, c: u32) -> u32 {
    match operation {
        BooleanOp::And => compared & c,
        BooleanOp::Or => compared | c,
        BooleanOp::Xor => compared ^ c,
    }
}

/// What `set` gives where the comparison holds, of packed types in each half: all ones or 1.0. It
/// gives 0 elsewhere. `None` for types that `set` does not give.
pub const fn set_where_true(of: ScalarType) -> Option<u32> {
    match of {
        ScalarType::U32 | ScalarType::S32 => Some(u32::MAX),
        ScalarType::U16 | ScalarType::S16 => Some(0xffff),
        ScalarType::F32 => Some(0x3f80_0000),
        ScalarType::F16 | ScalarType::F16x2 => Some(0x3c00),
        ScalarType::Bf16 | ScalarType::Bf16x2 => Some(0x3f80),
        _ => None,
    }
}

/// Whether `slct.*.s32` takes its first source: `c >= 0`.
#[inline]
pub const fn slct_s32(c: u32) -> bool {
    c as i32 >= 0
}

/// Whether `slct.*.f32` takes its first source: `c >= 0`, which `-0` is and a NaN is not; with
/// `ftz`, negative subnormals are `-0`.
#[inline]
pub fn slct_f32(c: u32, ftz: bool) -> bool {
    let c = if ftz { flush_f32(c) } else { c };
    f32::from_bits(c) >= 0.0
}
