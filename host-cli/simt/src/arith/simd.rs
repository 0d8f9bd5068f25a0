//! SIMD video instructions, two halves or four bytes at a time, and arithmetic of two halves.
//!
//! Source: PTX ISA 8.5, sections "SIMD Video Instructions" and "Integer Arithmetic Instructions"
//! (`.u16x2`, `.s16x2`).

use strata_ptx::opcode::Comparison;

use super::compare::holds;
use super::integer::S64;

/// What is computed of each pair of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimdOp {
    /// `vadd2`, `vadd4`.
    Add,
    /// `vsub2`, `vsub4`.
    Sub,
    /// `vavrg2`, `vavrg4`: rounded to nearest, halves away from zero.
    Average,
    /// `vabsdiff2`, `vabsdiff4`.
    AbsDiff,
    /// `vmin2`, `vmin4`.
    Min,
    /// `vmax2`, `vmax4`.
    Max,
    /// `vset2`, `vset4`: 1 if the comparison holds.
    Set(Comparison),
}

/// Which parts of the registers `{b, a}` an operand consists of, lowest first: parts of `a` have
/// the lower numbers.
pub type Picked = [u8; 4];

/// A SIMD video instruction without its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Simd {
    /// What is computed.
    pub operation: SimdOp,
    /// Parts of a register: 2 or 4.
    pub parts: u8,
    /// Parts of the first operand.
    pub a: Picked,
    /// Parts of the second operand.
    pub b: Picked,
    /// One bit for each part of the result; the others are those of the third source.
    pub mask: u8,
    /// Which of the first operand, the second and the result are signed: bits 0, 1 and 2.
    pub signed: u8,
    /// The third stage.
    pub finish: SimdFinish,
}

/// What becomes of the results of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimdFinish {
    /// They lose what does not fit.
    Wrap,
    /// `.sat`: they are clamped to the range of a part.
    Saturate,
    /// `.relu`: negative ones become zero.
    Positive,
    /// `.add`: their sum is added to the third source.
    Accumulate,
}

/// Executes one.
#[inline]
pub fn simd(mode: &Simd, a: u32, b: u32, c: u32) -> u32 {
    let width = 32 / u32::from(mode.parts.clamp(2, 4));
    let both = u64::from(b) << 32 | u64::from(a);
    let part = |index: u8, signed: bool| {
        let bits = both >> (width * u32::from(index)) << (64 - width);
        if signed { bits as i64 >> (64 - width) } else { (bits >> (64 - width)) as i64 }
    };
    let result_signed = mode.signed & 4 != 0;
    let field = (1_u32 << width) - 1;
    let (mut merged, mut sum) = (c, c);
    for index in (0..mode.parts.min(4)).filter(|index| mode.mask >> index & 1 == 1) {
        let x = part(mode.a[usize::from(index)], mode.signed & 1 != 0);
        let y = part(mode.b[usize::from(index)], mode.signed & 2 != 0);
        let mut value = one(mode.operation, x, y);
        if mode.finish == SimdFinish::Saturate {
            let (low, high) = if result_signed {
                (-1 << (width - 1), (1 << (width - 1)) - 1)
            } else {
                (0, i64::from(field))
            };
            value = value.clamp(low, high);
        } else if mode.finish == SimdFinish::Positive {
            value = value.max(0);
        }
        let shift = width * u32::from(index);
        merged = merged & !(field << shift) | (value as u32 & field) << shift;
        sum = sum.wrapping_add(value as u32);
    }
    if mode.finish == SimdFinish::Accumulate { sum } else { merged }
}

fn one(operation: SimdOp, x: i64, y: i64) -> i64 {
    match operation {
        SimdOp::Add => x + y,
        SimdOp::Sub => x - y,
        SimdOp::Average => (x + y + i64::from(x + y >= 0)) >> 1,
        SimdOp::AbsDiff => (x - y).abs(),
        SimdOp::Min => x.min(y),
        SimdOp::Max => x.max(y),
        SimdOp::Set(comparison) => i64::from(holds::<S64>(comparison, x as u64, y as u64)),
    }
}
