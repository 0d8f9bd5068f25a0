//! Scalar video instructions: operands are selected bytes, halves or words.
//!
//! Does not model: the SIMD forms (`vadd2`, `vadd4`, ...), which are other opcodes.

use strata_ptx::opcode::Comparison;

use super::compare::holds;
use super::integer::S64;

/// `.b0` to `.b3`, `.h0`, `.h1`, or the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Select {
    /// All 32 bits.
    Word,
    /// Byte 0 to 3.
    Byte(u8),
    /// Half 0 or 1.
    Half(u8),
}

impl Select {
    /// Width and lowest position of the selected bits.
    const fn field(self) -> (u32, u32) {
        match self {
            Self::Word => (32, 0),
            Self::Byte(index) => (8, 8 * (index & 3) as u32),
            Self::Half(index) => (16, 16 * (index & 1) as u32),
        }
    }
}

/// One source: a register, the part of it that is used, and whether its type is `.s32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The register.
    pub bits: u32,
    /// Which part.
    pub select: Select,
    /// `.s32` rather than `.u32`.
    pub signed: bool,
}

impl Source {
    /// The selected part as a number of 33 bits.
    #[inline]
    fn value(self) -> i64 {
        let (width, position) = self.select.field();
        let part = u64::from(self.bits >> position) << (64 - width);
        if self.signed { part as i64 >> (64 - width) } else { (part >> (64 - width)) as i64 }
    }
}

/// The first stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoOp {
    /// `vadd`.
    Add,
    /// `vsub`.
    Sub,
    /// `vabsdiff`.
    AbsDiff,
    /// `vmin`.
    Min,
    /// `vmax`.
    Max,
    /// `vshl.wrap`.
    ShlWrap,
    /// `vshl.clamp`.
    ShlClamp,
    /// `vshr.wrap`.
    ShrWrap,
    /// `vshr.clamp`.
    ShrClamp,
    /// `vset`: 1 if the comparison holds.
    Set(Comparison),
}

/// The second stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Second {
    /// There is none.
    None,
    /// `.add`: plus the third source.
    Add,
    /// `.min`: with the third source, as the result type.
    Min,
    /// `.max`: with the third source, as the result type.
    Max,
    /// `d.b0` and so on: put into the third source.
    Merge(Select),
}

/// The type of the result and what happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Finish {
    /// The result type is `.s32`; of `vset` the first source's.
    pub signed: bool,
    /// `.sat`: clamp the first stage's result to the result type, or to the width it is merged at.
    pub sat: bool,
    /// The second stage.
    pub second: Second,
}

/// `vadd vsub vabsdiff vmin vmax vshl vshr vset`: first stage, saturation, second stage with `c`.
#[inline]
pub fn video(operation: VideoOp, a: Source, b: Source, c: u32, finish: Finish) -> u32 {
    let first = first_stage(operation, a.value(), b.value());
    let select = if let Second::Merge(select) = finish.second { select } else { Select::Word };
    let (width, position) = select.field();
    let first = if finish.sat { clamp(first, width, finish.signed) } else { first };
    let third = if finish.signed { i128::from(c as i32) } else { i128::from(c) };
    match finish.second {
        Second::None => first as u32,
        Second::Add => (first + third) as u32,
        Second::Min => first.min(third) as u32,
        Second::Max => first.max(third) as u32,
        Second::Merge(_) => {
            let mask = (u64::MAX >> (64 - width)) as u32;
            c & !(mask << position) | (first as u32 & mask) << position
        }
    }
}

/// PTX calls the result a 34-bit number; only a left shift can need more (65 bits), of which we
/// lose nothing before the clamp and the second stage.
#[inline]
fn first_stage(operation: VideoOp, a: i64, b: i64) -> i128 {
    let (x, y) = (i128::from(a), i128::from(b));
    let clamped = b.clamp(0, 32);
    let wrapped = b & 31;
    match operation {
        VideoOp::Add => x + y,
        VideoOp::Sub => x - y,
        VideoOp::AbsDiff => (x - y).abs(),
        VideoOp::Min => x.min(y),
        VideoOp::Max => x.max(y),
        VideoOp::ShlWrap => x << wrapped,
        VideoOp::ShlClamp => x << clamped,
        VideoOp::ShrWrap => x >> wrapped,
        VideoOp::ShrClamp => x >> clamped,
        VideoOp::Set(comparison) => i128::from(holds::<S64>(comparison, a as u64, b as u64)),
    }
}

/// Clamps to the range of a type of `width` bits.
#[inline]
fn clamp(value: i128, width: u32, signed: bool) -> i128 {
    if signed {
        value.clamp(-1 << (width - 1), (1 << (width - 1)) - 1)
    } else {
        value.clamp(0, (1 << width) - 1)
    }
}

/// Modifiers of `vmad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VmadMode {
    /// `.po`: plus one.
    pub plus_one: bool,
    /// `.shr7`, `.shr15`: the result is shifted right. Unit: bits; 0, 7 or 15.
    pub shift: u32,
    /// `.sat`.
    pub sat: bool,
}

/// `vmad`: `a * b + c`. The result is signed if a factor is, and `c` with it.
#[inline]
pub fn vmad(a: Source, b: Source, c: u32, mode: VmadMode) -> u32 {
    let signed = a.signed || b.signed;
    let product = i128::from(a.value()) * i128::from(b.value());
    let third = if signed { i128::from(c as i32) } else { i128::from(c) };
    let shifted = (product + third + i128::from(mode.plus_one)) >> mode.shift.min(127);
    let (least, greatest) = if signed {
        (i128::from(i32::MIN), i128::from(i32::MAX))
    } else {
        (0, i128::from(u32::MAX))
    };
    if mode.sat { shifted.clamp(least, greatest) as u32 } else { shifted as u32 }
}
