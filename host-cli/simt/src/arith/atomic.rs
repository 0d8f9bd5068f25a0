//! What `atom` and `red` write, given what was in memory.

use strata_ptx::opcode::AtomicOp;
use strata_ptx::types::{Kind, ScalarType};

use super::float::{Bf16, F16, F32, F64, Float, MinMax};
use super::integer::per_half;
use super::{Mode, convert::extend};

/// The value that an atomic operation of type `of` stores over `old`.
///
/// `b` is the operand, `c` the second one of `cas` (which stores `c` where `old == b`). Values are
/// in the low bits, and so is the result. `ftz`: f32 addition flushes subnormal inputs and results,
/// as PTX has it do in global memory; f32 in shared memory and all other types do not.
///
/// `None`: PTX has no such operation for the type.
pub fn atomic(
    operation: AtomicOp,
    of: ScalarType,
    old: u64,
    b: u64,
    c: u64,
    ftz: bool,
) -> Option<u64> {
    if of.bits() > 64 || of.bits() < 16 || of.kind() == Kind::Opaque {
        return None;
    }
    let bits = |value: u64| value & (u64::MAX >> (64 - of.bits()));
    let (old, b, c) = (bits(old), bits(b), bits(c));
    let is_float = of.kind() == Kind::Float;
    match operation {
        AtomicOp::Exch => Some(b),
        AtomicOp::Cas => Some(if old == b { c } else { old }),
        AtomicOp::And if !is_float => Some(old & b),
        AtomicOp::Or if !is_float => Some(old | b),
        AtomicOp::Xor if !is_float => Some(old ^ b),
        AtomicOp::Inc if of.kind() == Kind::Unsigned => Some(if old >= b { 0 } else { old + 1 }),
        AtomicOp::Dec if of.kind() == Kind::Unsigned => {
            Some(if old == 0 || old > b { b } else { old - 1 })
        }
        AtomicOp::Add if is_float => add_float(of, old, b, ftz),
        AtomicOp::Min | AtomicOp::Max if is_float => {
            select_float(of, old, b, operation == AtomicOp::Max)
        }
        AtomicOp::Add => Some(bits(old.wrapping_add(b))),
        AtomicOp::Min => Some(select_integer(of, old, b, false)),
        AtomicOp::Max => Some(select_integer(of, old, b, true)),
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Inc | AtomicOp::Dec => None,
    }
}

fn add_float(of: ScalarType, old: u64, b: u64, ftz: bool) -> Option<u64> {
    let mode = Mode::NEAREST;
    let half = |a, b| F16::add(a, b, mode);
    let brain = |a, b| Bf16::add(a, b, mode);
    Some(match of {
        ScalarType::F32 => F32::add(old as u32, b as u32, Mode { ftz, ..mode }).into(),
        ScalarType::F64 => F64::add(old, b, mode),
        ScalarType::F16 => half(old as u16, b as u16).into(),
        ScalarType::Bf16 => brain(old as u16, b as u16).into(),
        ScalarType::F16x2 => per_half(old as u32, b as u32, half).into(),
        ScalarType::Bf16x2 => per_half(old as u32, b as u32, brain).into(),
        _ => return None,
    })
}

fn select_float(of: ScalarType, old: u64, b: u64, greater: bool) -> Option<u64> {
    let mode = MinMax::default();
    let half = |a, b| if greater { F16::max(a, b, mode) } else { F16::min(a, b, mode) };
    let brain = |a, b| if greater { Bf16::max(a, b, mode) } else { Bf16::min(a, b, mode) };
    Some(match of {
        ScalarType::F16 => half(old as u16, b as u16).into(),
        ScalarType::Bf16 => brain(old as u16, b as u16).into(),
        ScalarType::F16x2 => per_half(old as u32, b as u32, half).into(),
        ScalarType::Bf16x2 => per_half(old as u32, b as u32, brain).into(),
        _ => return None,
    })
}

/// The lesser, or with `greater` the greater, of two integers of 16, 32 or 64 bits.
fn select_integer(of: ScalarType, old: u64, b: u64, greater: bool) -> u64 {
    // Extended by their types, values order at 64 bits as they do at their width.
    let (x, y) = (extend(old, of), extend(b, of));
    let less = if of.kind() == Kind::Signed { (x as i64) < (y as i64) } else { x < y };
    if less ^ greater { old } else { b }
}
