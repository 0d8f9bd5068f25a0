//! Floating-point arithmetic by format, in every mode.
//!
//! Round-to-nearest uses the native operations ([`super::native`]), other roundings in f32 go
//! through f64, and everything else is computed exactly on integer significands and rounded once.

use strata_ptx::opcode::TestProperty;

pub use super::MinMax;
use super::soft::{self, Format};
use super::{Mode, Rounding, native};

/// A floating-point format of PTX. The implementors ([`F16`] to [`F64`]) are names only:
/// `F32::add(a, b, mode)` adds the bits `a` and `b` as f32.
///
/// `mode.ftz` flushes subnormal inputs, and results that are subnormal after rounding. `.sat` and
/// `.relu` act on the flushed result.
pub trait Float {
    /// Holds the bits of a value.
    type Bits: Copy;
    /// The canonical NaN.
    const NAN: Self::Bits;

    /// `add`.
    fn add(a: Self::Bits, b: Self::Bits, mode: Mode) -> Self::Bits;
    /// `sub`.
    fn sub(a: Self::Bits, b: Self::Bits, mode: Mode) -> Self::Bits;
    /// `mul`.
    fn mul(a: Self::Bits, b: Self::Bits, mode: Mode) -> Self::Bits;
    /// `fma` (and `mad`, which is `fma` from `sm_20` on): `a * b + c`, rounded once.
    fn fma(a: Self::Bits, b: Self::Bits, c: Self::Bits, mode: Mode) -> Self::Bits;
    /// `div` with IEEE rounding.
    fn div(a: Self::Bits, b: Self::Bits, mode: Mode) -> Self::Bits;
    /// `rcp` with IEEE rounding.
    fn rcp(a: Self::Bits, mode: Mode) -> Self::Bits;
    /// `sqrt` with IEEE rounding; `-0` for `-0`.
    fn sqrt(a: Self::Bits, mode: Mode) -> Self::Bits;
    /// `min`: of a number and a NaN the number; `-0` is less than `+0`.
    fn min(a: Self::Bits, b: Self::Bits, mode: MinMax) -> Self::Bits;
    /// `max`, with the same rules.
    fn max(a: Self::Bits, b: Self::Bits, mode: MinMax) -> Self::Bits;
    /// `abs`: clears the sign, also of a NaN, whose payload stays; `ftz` flushes.
    fn abs(a: Self::Bits, ftz: bool) -> Self::Bits;
    /// `neg`: flips the sign, also of a NaN, whose payload stays; `ftz` flushes.
    fn neg(a: Self::Bits, ftz: bool) -> Self::Bits;
    /// `copysign`: the sign of `a` with the magnitude of `b` (the PTX order).
    fn copysign(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// `testp`. Zero is normal, as PTX says.
    fn testp(a: Self::Bits, property: TestProperty) -> bool;
    /// A subnormal becomes zero of the same sign; anything else stays.
    fn flush(a: Self::Bits) -> Self::Bits;
}

/// `.f16`.
pub struct F16;
/// `.bf16`.
pub struct Bf16;
/// `.f32`.
pub struct F32;
/// `.f64`.
pub struct F64;

/// Whether the native operation computes what the mode asks for, modifiers apart.
#[inline]
fn is_nearest(mode: Mode) -> bool {
    matches!(mode.rounding, Rounding::NearestEven | Rounding::IntegerNearest)
}

/// The operations whose fast form differs by format; the rest of the trait is the same for all.
macro_rules! float {
    ($name:ident, $bits:ty, $format:expr, $add:path, $sub:path, $mul:path, $fma:path, $div:path,
     $rcp:path, $sqrt:path) => {
        impl $name {
            /// An input as the mode sees it.
            #[inline]
            fn input(a: $bits, mode: Mode) -> $bits {
                if mode.ftz { Self::flush(a) } else { a }
            }

            /// A rounded result as the mode leaves it.
            #[inline]
            fn output(a: $bits, mode: Mode) -> $bits {
                $format.finish(a.into(), mode) as $bits
            }
        }

        impl Float for $name {
            type Bits = $bits;
            const NAN: $bits = $format.nan() as $bits;

            #[inline]
            fn add(a: $bits, b: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    return Self::output($add(Self::input(a, mode), Self::input(b, mode)), mode);
                }
                Self::exact_add(a, b, mode)
            }

            #[inline]
            fn sub(a: $bits, b: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    return Self::output($sub(Self::input(a, mode), Self::input(b, mode)), mode);
                }
                Self::exact_add(a, Self::neg(b, false), mode)
            }

            #[inline]
            fn mul(a: $bits, b: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    return Self::output($mul(Self::input(a, mode), Self::input(b, mode)), mode);
                }
                Self::exact_mul(a, b, mode)
            }

            #[inline]
            fn fma(a: $bits, b: $bits, c: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    let (a, b) = (Self::input(a, mode), Self::input(b, mode));
                    return Self::output($fma(a, b, Self::input(c, mode)), mode);
                }
                Self::exact_fma(a, b, c, mode)
            }

            #[inline]
            fn div(a: $bits, b: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    return Self::output($div(Self::input(a, mode), Self::input(b, mode)), mode);
                }
                Self::exact_div(a, b, mode)
            }

            #[inline]
            fn rcp(a: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    return Self::output($rcp(Self::input(a, mode)), mode);
                }
                Self::exact_div($format.one() as $bits, a, mode)
            }

            #[inline]
            fn sqrt(a: $bits, mode: Mode) -> $bits {
                if is_nearest(mode) {
                    return Self::output($sqrt(Self::input(a, mode)), mode);
                }
                Self::exact_sqrt(a, mode)
            }

            #[inline]
            fn min(a: $bits, b: $bits, mode: MinMax) -> $bits {
                soft::select($format, a.into(), b.into(), mode, false) as $bits
            }

            #[inline]
            fn max(a: $bits, b: $bits, mode: MinMax) -> $bits {
                soft::select($format, a.into(), b.into(), mode, true) as $bits
            }

            #[inline]
            fn abs(a: $bits, ftz: bool) -> $bits {
                let magnitude = a & !($format.sign() as $bits);
                if ftz { Self::flush(magnitude) } else { magnitude }
            }

            #[inline]
            fn neg(a: $bits, ftz: bool) -> $bits {
                let negated = a ^ $format.sign() as $bits;
                if ftz { Self::flush(negated) } else { negated }
            }

            #[inline]
            fn copysign(a: $bits, b: $bits) -> $bits {
                let sign = $format.sign() as $bits;
                a & sign | b & !sign
            }

            #[inline]
            fn testp(a: $bits, property: TestProperty) -> bool {
                let magnitude = u64::from(a) & ($format.sign() - 1);
                let infinity = $format.infinity();
                match property {
                    TestProperty::Finite => magnitude < infinity,
                    TestProperty::Infinite => magnitude == infinity,
                    TestProperty::Number => magnitude <= infinity,
                    TestProperty::NotANumber => magnitude > infinity,
                    TestProperty::Normal => {
                        magnitude < infinity && (magnitude == 0 || !$format.is_tiny(magnitude))
                    }
                    TestProperty::Subnormal => magnitude != 0 && $format.is_tiny(magnitude),
                }
            }

            #[inline]
            fn flush(a: $bits) -> $bits {
                $format.flush(a.into()) as $bits
            }
        }
    };
}

/// Arithmetic in any rounding; f32's is in [`super::directed`].
macro_rules! exact {
    ($name:ident, $bits:ty, $format:expr) => {
        impl $name {
            fn exact_add(a: $bits, b: $bits, mode: Mode) -> $bits {
                soft::add($format, a.into(), b.into(), mode) as $bits
            }

            fn exact_mul(a: $bits, b: $bits, mode: Mode) -> $bits {
                soft::mul($format, a.into(), b.into(), mode) as $bits
            }

            fn exact_fma(a: $bits, b: $bits, c: $bits, mode: Mode) -> $bits {
                soft::fma($format, a.into(), b.into(), c.into(), mode) as $bits
            }

            fn exact_div(a: $bits, b: $bits, mode: Mode) -> $bits {
                soft::div($format, a.into(), b.into(), mode) as $bits
            }

            fn exact_sqrt(a: $bits, mode: Mode) -> $bits {
                soft::sqrt($format, a.into(), mode) as $bits
            }
        }
    };
}

exact!(F16, u16, Format::F16);
exact!(Bf16, u16, Format::BF16);
exact!(F64, u64, Format::F64);

float!(
    F16,
    u16,
    Format::F16,
    native::add_f16,
    native::sub_f16,
    native::mul_f16,
    native::fma_f16,
    native::div_f16,
    native::rcp_f16,
    native::sqrt_f16
);
float!(
    Bf16,
    u16,
    Format::BF16,
    native::add_bf16,
    native::sub_bf16,
    native::mul_bf16,
    native::fma_bf16,
    native::div_bf16,
    native::rcp_bf16,
    native::sqrt_bf16
);
float!(
    F32,
    u32,
    Format::F32,
    native::add_f32,
    native::sub_f32,
    native::mul_f32,
    native::fma_f32,
    native::div_f32,
    native::rcp_f32,
    native::sqrt_f32
);
float!(
    F64,
    u64,
    Format::F64,
    native::add_f64,
    native::sub_f64,
    native::mul_f64,
    native::fma_f64,
    native::div_f64,
    native::rcp_f64,
    native::sqrt_f64
);
