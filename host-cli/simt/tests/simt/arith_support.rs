//! Random operands and reference arithmetic for the tests of `arith`.
//!
//! The reference is `rustc_apfloat`, LLVM's software floating point: code that shares nothing with
//! ours.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float as _, Round};
use strata_simt::arith::float::{Bf16, F16, F32, F64, Float};
use strata_simt::arith::{Mode, Rounding};

use crate::common::Random;

impl Random {
    /// Either.
    pub(crate) fn chance(&mut self) -> bool {
        self.below(2) == 1
    }

    /// One of some.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// An integer of `width` bits: anything, or something near a power of two or near zero.
    pub(crate) fn integer(&mut self, width: u32) -> u64 {
        let mask = u64::MAX >> (64 - width);
        let value = match self.below(3) {
            0 => self.next(),
            1 => (1u64 << self.below(width)).wrapping_add(self.below(5).into()).wrapping_sub(2),
            _ => self.next() >> self.below(64),
        };
        (if self.chance() { value } else { value.wrapping_neg() }) & mask
    }
}

/// The roundings of arithmetic.
pub(crate) const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::Zero, Rounding::Down, Rounding::Up];

/// Our rounding in the reference's words.
pub(crate) fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven | Rounding::IntegerNearest => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Zero | Rounding::IntegerZero => Round::TowardZero,
        Rounding::Down | Rounding::IntegerDown => Round::TowardNegative,
        Rounding::Up | Rounding::IntegerUp => Round::TowardPositive,
    }
}

/// A rounding and nothing else.
pub(crate) fn rounded(rounding: Rounding) -> Mode {
    Mode { rounding, ..Mode::NEAREST }
}

/// A format under test: ours, the reference's, and its layout.
pub(crate) trait Tested:
    Float<Bits: Into<u64> + std::fmt::LowerHex + PartialEq + std::fmt::Debug>
{
    /// The reference's type.
    type Reference: rustc_apfloat::Float;
    const NAME: &'static str;
    /// Bits in all, and of the fraction field.
    const WIDTH: u32;
    const FRACTION: u32;

    fn bits(value: u64) -> Self::Bits;

    fn sign() -> u64 {
        1 << (Self::WIDTH - 1)
    }

    fn infinity() -> u64 {
        Self::sign() - (1 << Self::FRACTION)
    }

    fn is_nan(value: u64) -> bool {
        value & (Self::sign() - 1) > Self::infinity()
    }

    fn one() -> u64 {
        let exponent_bits = Self::WIDTH - 1 - Self::FRACTION;
        ((1 << (exponent_bits - 1)) - 1) << Self::FRACTION
    }

    fn reference(value: u64) -> Self::Reference {
        Self::Reference::from_bits(value.into())
    }

    /// The reference's result as bits, a NaN as the canonical one.
    fn from_reference(value: Self::Reference) -> u64 {
        if value.is_nan() { Self::NAN.into() } else { value.to_bits() as u64 }
    }

    /// Zero, one, the smallest and largest of each kind, their neighbours, with both signs, and
    /// NaNs.
    fn edges() -> Vec<u64> {
        let normal = 1 << Self::FRACTION;
        let half = Self::one() - normal;
        let mut edges = vec![
            0,
            1,
            2,
            normal >> 1,
            normal - 1,
            normal,
            normal + 1,
            half,
            Self::one() - 1,
            Self::one(),
            Self::one() + 1,
            Self::one() + (normal >> 1),
            Self::one() + normal,
            Self::infinity() - 1,
            Self::infinity() - normal,
            Self::infinity(),
            Self::infinity() + 1,
            Self::infinity() + (normal >> 1),
            Self::sign() - 1,
        ];
        let negative: Vec<u64> = edges.iter().map(|e| e | Self::sign()).collect();
        edges.extend(negative);
        edges
    }

    /// An operand: any bits, an exponent near that of one, few significant bits, or near an edge.
    fn operand(random: &mut Random) -> u64 {
        let mask = u64::MAX >> (64 - Self::WIDTH);
        let bits = random.next();
        match random.below(4) {
            0 => bits & mask,
            1 => {
                let near = u64::from(random.below(2 * Self::FRACTION + 8));
                let exponent = (Self::one() >> Self::FRACTION)
                    .wrapping_sub(u64::from(Self::FRACTION) + 4)
                    .wrapping_add(near);
                let fraction = bits & ((1 << Self::FRACTION) - 1);
                let magnitude = ((exponent << Self::FRACTION) & (Self::sign() - 1)) | fraction;
                magnitude | (bits & Self::sign())
            }
            2 => {
                let kept = u64::MAX << random.below(Self::FRACTION);
                bits & mask & kept
            }
            _ => {
                let edge = random.pick(&Self::edges());
                edge.wrapping_add(random.below(5).into()).wrapping_sub(2) & mask
            }
        }
    }

    fn flushed(value: u64) -> u64 {
        if value & Self::infinity() == 0 { value & Self::sign() } else { value }
    }

    /// What the modifiers of `mode` make of a rounded result.
    fn modified(value: u64, mode: Mode) -> u64 {
        let value = if mode.ftz { Self::flushed(value) } else { value };
        let negative = value & Self::sign() != 0;
        let value = if !mode.sat {
            value
        } else if Self::is_nan(value) || negative {
            0
        } else {
            value.min(Self::one())
        };
        if !mode.relu {
            value
        } else if Self::is_nan(value) {
            Self::NAN.into()
        } else if value & Self::sign() != 0 {
            0
        } else {
            value
        }
    }
}

macro_rules! tested {
    ($name:ident, $bits:ty, $reference:ty, $text:literal, $fraction:literal) => {
        impl Tested for $name {
            type Reference = $reference;
            const NAME: &'static str = $text;
            const WIDTH: u32 = <$bits>::BITS;
            const FRACTION: u32 = $fraction;

            fn bits(value: u64) -> $bits {
                value as $bits
            }
        }
    };
}

tested!(F16, u16, Half, "f16", 10);
tested!(Bf16, u16, BFloat, "bf16", 7);
tested!(F32, u32, Single, "f32", 23);
tested!(F64, u64, Double, "f64", 52);
