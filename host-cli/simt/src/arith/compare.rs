//! Comparisons, `set`, `setp`, `slct`.

use strata_ptx::opcode::{BooleanOp, Comparison};
use strata_ptx::types::{Kind, ScalarType};

use super::convert::{extend, f32_from_bf16, f32_from_f16};
use super::native::flush_f32;

/// How two values stand to each other: exactly one bit.
pub type Relation = u8;

/// `a < b`.
pub const LESS: Relation = 1;
/// `a == b`.
pub const EQUAL: Relation = 2;
/// `a > b`.
pub const GREATER: Relation = 4;
/// At least one is a NaN.
pub const UNORDERED: Relation = 8;

/// The relations for which a comparison holds. `lo ls hi hs` are `lt le gt ge`; that they are
/// unsigned is in the type of the instruction.
#[inline]
pub const fn accepts(comparison: Comparison) -> Relation {
    match comparison {
        Comparison::Eq => EQUAL,
        Comparison::Ne => LESS | GREATER,
        Comparison::Lt | Comparison::Lo => LESS,
        Comparison::Le | Comparison::Ls => LESS | EQUAL,
        Comparison::Gt | Comparison::Hi => GREATER,
        Comparison::Ge | Comparison::Hs => GREATER | EQUAL,
        Comparison::Equ => EQUAL | UNORDERED,
        Comparison::Neu => LESS | GREATER | UNORDERED,
        Comparison::Ltu => LESS | UNORDERED,
        Comparison::Leu => LESS | EQUAL | UNORDERED,
        Comparison::Gtu => GREATER | UNORDERED,
        Comparison::Geu => GREATER | EQUAL | UNORDERED,
        Comparison::Num => LESS | EQUAL | GREATER,
        Comparison::Nan => UNORDERED,
    }
}

macro_rules! relations {
    ($($name:ident $doc:literal $bits:ty as |$x:ident| $number:expr;)*) => {
        $(
            #[doc = $doc]
            #[inline]
            pub fn $name(a: $bits, b: $bits) -> Relation {
                let value = |$x: $bits| $number;
                let (a, b) = (value(a), value(b));
                let less = u8::from(a < b) * LESS;
                let equal = u8::from((a <= b) & (a >= b)) * EQUAL;
                let greater = u8::from(a > b) * GREATER;
                let ordered = less | equal | greater;
                ordered | u8::from(ordered == 0) * UNORDERED
            }
        )*
    };
}

relations! {
    relation_u16 "Relation as `.u16`." u16 as |x| x;
    relation_s16 "Relation as `.s16`." u16 as |x| x as i16;
    relation_u32 "Relation as `.u32`." u32 as |x| x;
    relation_s32 "Relation as `.s32`." u32 as |x| x as i32;
    relation_u64 "Relation as `.u64`." u64 as |x| x;
    relation_s64 "Relation as `.s64`." u64 as |x| x as i64;
    relation_f32 "Relation as `.f32`." u32 as |x| f32::from_bits(x);
    relation_f64 "Relation as `.f64`." u64 as |x| f64::from_bits(x);
    relation_f16 "Relation as `.f16`." u16 as |x| f32::from_bits(f32_from_f16(x));
    relation_bf16 "Relation as `.bf16`." u16 as |x| f32::from_bits(f32_from_bf16(x));
}

/// Relation of two values of any scalar type of up to 64 bits, in the low bits; `ftz` flushes f32
/// inputs, which the single functions leave to [`flush_f32`]. Untyped bits compare as unsigned.
/// Packed, predicate, opaque and 128-bit types, which PTX does not compare, compare as bits.
pub fn relation(of: ScalarType, a: u64, b: u64, ftz: bool) -> Relation {
    match of {
        ScalarType::F32 if ftz => relation_f32(flush_f32(a as u32), flush_f32(b as u32)),
        ScalarType::F32 => relation_f32(a as u32, b as u32),
        ScalarType::F64 => relation_f64(a, b),
        ScalarType::F16 => relation_f16(a as u16, b as u16),
        ScalarType::Bf16 => relation_bf16(a as u16, b as u16),
        _ if of.kind() == Kind::Signed => relation_s64(extend(a, of), extend(b, of)),
        _ => relation_u64(extend(a, of), extend(b, of)),
    }
}

/// Whether `comparison` holds for a relation. Hoist [`accepts`] out of loops over lanes.
#[inline]
pub const fn holds(comparison: Comparison, relation: Relation) -> bool {
    accepts(comparison) & relation != 0
}

/// `set`/`setp` with a third source: the comparison combined with the predicate `c`.
#[inline]
pub const fn combine(operation: BooleanOp, compared: bool, c: bool) -> bool {
    match operation {
        BooleanOp::And => compared & c,
        BooleanOp::Or => compared | c,
        BooleanOp::Xor => compared ^ c,
    }
}

/// `set` with an integer result: all ones or 0.
#[inline]
pub const fn set_u32(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

/// `set` with an f32 result: 1.0 or 0.0.
#[inline]
pub const fn set_f32(truth: bool) -> u32 {
    if truth { 0x3f80_0000 } else { 0 }
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
