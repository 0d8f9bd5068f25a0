//! Logic, shifts, bit fields and permutation.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use strata_ptx::opcode::{Bounds, Direction, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use super::for_integer;
use crate::arith::bits::{
    bfe_32, bfe_64, bfi_b32, bfi_b64, bfind_32, bfind_64, bmsk, brev_b32, brev_b64, clz_b32,
    clz_b64, cnot_b16, cnot_b32, cnot_b64, fns, lop3, popc_b32, popc_b64, prmt, shf, szext,
};
use crate::arith::integer::{Integer, S16, S32, S64, U16, U32, U64};
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Run};
use crate::row::{Lanes, Value, map1, map2, map3, sparse2, sparse3, test1};

fn and<T: Value + BitAnd<Output = T>>(l: &mut Lanes, o: &Args, m: u32) {
    map2(l, m, o.d, (o.a, o.b), |a: T, b: T| a & b);
}

fn or<T: Value + BitOr<Output = T>>(l: &mut Lanes, o: &Args, m: u32) {
    map2(l, m, o.d, (o.a, o.b), |a: T, b: T| a | b);
}

fn xor<T: Value + BitXor<Output = T>>(l: &mut Lanes, o: &Args, m: u32) {
    map2(l, m, o.d, (o.a, o.b), |a: T, b: T| a ^ b);
}

fn not<T: Value + Not<Output = T>>(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, |a: T| !a);
}

fn cnot16(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, cnot_b16);
}

fn cnot32(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, cnot_b32);
}

fn cnot64(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, cnot_b64);
}

fn and_predicate(l: &mut Lanes, o: &Args, m: u32) {
    let (a, b) = predicates(l, o);
    l.set_predicate(o.d, a & b, m);
}

fn or_predicate(l: &mut Lanes, o: &Args, m: u32) {
    let (a, b) = predicates(l, o);
    l.set_predicate(o.d, a | b, m);
}

fn xor_predicate(l: &mut Lanes, o: &Args, m: u32) {
    let (a, b) = predicates(l, o);
    l.set_predicate(o.d, a ^ b, m);
}

fn not_predicate(l: &mut Lanes, o: &Args, m: u32) {
    let a = l.predicates[o.a as usize] ^ o.invert;
    l.set_predicate(o.d, !a, m);
}

/// Two predicate sources: `invert` belongs to the first, `flip` to the second.
fn predicates(l: &Lanes, o: &Args) -> (u32, u32) {
    (l.predicates[o.a as usize] ^ o.invert, l.predicates[o.b as usize] ^ o.flip)
}

fn shl<I: Integer>(l: &mut Lanes, o: &Args, m: u32)
where
    I::Bits: Value,
{
    map2(l, m, o.d, (o.a, o.b), |a: I::Bits, b: u32| I::shl(a, b));
}

fn shr<I: Integer>(l: &mut Lanes, o: &Args, m: u32)
where
    I::Bits: Value,
{
    map2(l, m, o.d, (o.a, o.b), |a: I::Bits, b: u32| I::shr(a, b));
}

fn funnel_left_wrap(l: &mut Lanes, o: &Args, m: u32) {
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| shf(a, b, c, Direction::Left, Bounds::Wrap));
}

fn funnel_left_clamp(l: &mut Lanes, o: &Args, m: u32) {
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| shf(a, b, c, Direction::Left, Bounds::Clamp));
}

fn funnel_right_wrap(l: &mut Lanes, o: &Args, m: u32) {
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| shf(a, b, c, Direction::Right, Bounds::Wrap));
}

fn funnel_right_clamp(l: &mut Lanes, o: &Args, m: u32) {
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| shf(a, b, c, Direction::Right, Bounds::Clamp));
}

fn permute(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Permute(mode) = o.extra else { return };
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| prmt(a, b, c, mode));
}

fn permute_general(l: &mut Lanes, o: &Args, m: u32) {
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| prmt(a, b, c, None));
}

fn table(o: &Args) -> u8 {
    if let Extra::Byte(table) = o.extra { table } else { 0 }
}

fn logic3(l: &mut Lanes, o: &Args, m: u32) {
    let table = table(o);
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| lop3(a, b, c, table));
}

/// `lop3.or` and `.and`: also whether the result is not zero, combined with a predicate.
fn logic3_predicate(l: &mut Lanes, o: &Args, m: u32) {
    logic3(l, o, m);
    let truth = test1(l, o.d, |d: u32| d != 0);
    let other = l.predicates[o.e as usize] ^ o.invert;
    let truth = if o.flip == 0 { truth | other } else { truth & other };
    l.set_predicate(o.d2, truth, m);
}

fn flag(o: &Args) -> (bool, bool) {
    if let Extra::Flags(a, b) = o.extra { (a, b) } else { (false, false) }
}

fn extract32(l: &mut Lanes, o: &Args, m: u32) {
    let (signed, _) = flag(o);
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| bfe_32(a, b, c, signed));
}

fn extract64(l: &mut Lanes, o: &Args, m: u32) {
    let (signed, _) = flag(o);
    map3(l, m, o.d, (o.a, o.b, o.c), |a: u64, b, c| bfe_64(a, b, c, signed));
}

fn insert32(l: &mut Lanes, o: &Args, m: u32) {
    let mut result = [0; 32];
    for (lane, value) in result.iter_mut().enumerate() {
        let [a, b, c, e] = [o.a, o.b, o.c, o.e].map(|row| l.get32(row, lane));
        *value = bfi_b32(a, b, c, e);
    }
    u32::store(l, o.d, &result, m);
}

fn insert64(l: &mut Lanes, o: &Args, m: u32) {
    let mut result = u64::blank();
    for lane in 0..32 {
        let (a, b) = (l.get64(o.a, lane), l.get64(o.b, lane));
        let value = bfi_b64(a, b, l.get32(o.c, lane), l.get32(o.e, lane));
        u64::set(&mut result, lane, value);
    }
    u64::store(l, o.d, &result, m);
}

fn find32(l: &mut Lanes, o: &Args, m: u32) {
    let (signed, amount) = flag(o);
    map1(l, m, o.d, o.a, |a: u32| bfind_32(a, signed, amount));
}

fn find64(l: &mut Lanes, o: &Args, m: u32) {
    let (signed, amount) = flag(o);
    map1(l, m, o.d, o.a, |a: u64| bfind_64(a, signed, amount));
}

fn reverse32(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, brev_b32);
}

fn reverse64(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, brev_b64);
}

fn count32(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, popc_b32);
}

fn count64(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, popc_b64);
}

fn leading32(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, clz_b32);
}

fn leading64(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, clz_b64);
}

fn find_set(l: &mut Lanes, o: &Args, m: u32) {
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a, b, c: u32| fns(a, b, c as i32));
}

fn bounds(o: &Args) -> (Bounds, bool) {
    if let Extra::Bounds(bounds, signed) = o.extra {
        (bounds, signed)
    } else {
        (Bounds::Clamp, false)
    }
}

fn extend(l: &mut Lanes, o: &Args, m: u32) {
    let (bounds, signed) = bounds(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| szext(a, b, signed, bounds));
}

fn mask(l: &mut Lanes, o: &Args, m: u32) {
    let (bounds, _) = bounds(o);
    sparse2(l, m, o.d, (o.a, o.b), |a, b| bmsk(a, b, bounds));
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let mut args = Args::default();
    let run = match one.instruction.opcode {
        Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Cnot => {
            logic(one, &mut args)?
        }
        Opcode::Shl | Opcode::Shr => shift(one, &mut args)?,
        Opcode::Lop3 => logic_by_table(one, &mut args)?,
        Opcode::Shf | Opcode::Prmt | Opcode::Fns => three_words(one, &mut args)?,
        _ => fields(one, &mut args)?,
    };
    Ok((Action::Compute(run), args))
}

fn logic(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let (ty, opcode) = (one.ty(0)?, one.instruction.opcode);
    let two = !matches!(opcode, Opcode::Not | Opcode::Cnot);
    if ty == ScalarType::Pred {
        args.d = one.predicate_result(0)?;
        (args.a, args.invert) = one.predicate(0)?;
        if two {
            (args.b, args.flip) = one.predicate(1)?;
        }
        return match opcode {
            Opcode::And => Ok(and_predicate),
            Opcode::Or => Ok(or_predicate),
            Opcode::Xor => Ok(xor_predicate),
            Opcode::Not => Ok(not_predicate),
            _ => Err(one.unsupported("")),
        };
    }
    args.d = one.result(0, ty)?;
    args.a = one.value(0, ty)?;
    if two {
        args.b = one.value(1, ty)?;
    }
    let run: Run = match (opcode, ty.bits()) {
        (Opcode::And, 64) => and::<u64>,
        (Opcode::And, _) => and::<u32>,
        (Opcode::Or, 64) => or::<u64>,
        (Opcode::Or, _) => or::<u32>,
        (Opcode::Xor, 64) => xor::<u64>,
        (Opcode::Xor, _) => xor::<u32>,
        (Opcode::Not, 64) => not::<u64>,
        (Opcode::Not, 16) => not::<u16>,
        (Opcode::Not, _) => not::<u32>,
        (_, 64) => cnot64,
        (_, 16) => cnot16,
        (_, _) => cnot32,
    };
    Ok(run)
}

fn shift(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = one.ty(0)?;
    (args.d, args.a) = (one.result(0, ty)?, one.value(0, ty)?);
    args.b = one.value(1, ScalarType::U32)?;
    let ty = match ty {
        ScalarType::B16 => ScalarType::U16,
        ScalarType::B32 => ScalarType::U32,
        ScalarType::B64 => ScalarType::U64,
        other => other,
    };
    let left = one.instruction.opcode == Opcode::Shl;
    let run = if left { for_integer!(ty, shl) } else { for_integer!(ty, shr) };
    run.ok_or_else(|| one.unsupported(""))
}

fn logic_by_table(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = ScalarType::B32;
    args.d = one.result(0, ty)?;
    (args.a, args.b, args.c) = (one.value(0, ty)?, one.value(1, ty)?, one.value(2, ty)?);
    let strata_ptx::module::Operand::Integer(table) = one.source(3)? else {
        return Err(one.malformed("the table must be a constant"));
    };
    args.extra = Extra::Byte(*table as u8);
    if one.instruction.sources.len() < 5 {
        return Ok(logic3);
    }
    args.d2 = one.predicate_result(1)?;
    (args.e, args.invert) = one.predicate(4)?;
    let modifiers = &one.instruction.modifiers;
    let and = modifiers.boolean == Some(strata_ptx::opcode::BooleanOp::And) || modifiers.has("and");
    args.flip = u32::from(and);
    Ok(logic3_predicate)
}

fn three_words(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = ScalarType::B32;
    args.d = one.result(0, ty)?;
    (args.a, args.b, args.c) = (one.value(0, ty)?, one.value(1, ty)?, one.value(2, ty)?);
    let modifiers = &one.instruction.modifiers;
    Ok(match (one.instruction.opcode, modifiers.direction, modifiers.bounds) {
        (Opcode::Prmt, ..) if modifiers.permute.is_none() => permute_general,
        (Opcode::Prmt, ..) => {
            args.extra = Extra::Permute(modifiers.permute);
            permute
        }
        (Opcode::Fns, ..) => find_set,
        (_, Some(Direction::Left), Some(Bounds::Wrap)) => funnel_left_wrap,
        (_, Some(Direction::Left), _) => funnel_left_clamp,
        (_, _, Some(Bounds::Wrap)) => funnel_right_wrap,
        (_, _, _) => funnel_right_clamp,
    })
}

fn fields(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = one.ty(0)?;
    let (wide, signed) = (ty.bits() == 64, ty.kind() == Kind::Signed);
    let modifiers = &one.instruction.modifiers;
    let u32_type = ScalarType::U32;
    args.a = one.value(0, ty)?;
    args.extra = Extra::Flags(signed, modifiers.shift_amount);
    let opcode = one.instruction.opcode;
    args.d = match opcode {
        Opcode::Bfind | Opcode::Popc | Opcode::Clz => one.result(0, u32_type)?,
        _ => one.result(0, ty)?,
    };
    let run: Run = match (opcode, wide) {
        (Opcode::Bfind, false) => find32,
        (Opcode::Bfind, true) => find64,
        (Opcode::Popc, false) => count32,
        (Opcode::Popc, true) => count64,
        (Opcode::Clz, false) => leading32,
        (Opcode::Clz, true) => leading64,
        (Opcode::Brev, false) => reverse32,
        (Opcode::Brev, true) => reverse64,
        (Opcode::Bfe, _) => {
            (args.b, args.c) = (one.value(1, u32_type)?, one.value(2, u32_type)?);
            if wide { extract64 } else { extract32 }
        }
        (Opcode::Bfi, _) => {
            args.b = one.value(1, ty)?;
            (args.c, args.e) = (one.value(2, u32_type)?, one.value(3, u32_type)?);
            if wide { insert64 } else { insert32 }
        }
        (Opcode::Szext | Opcode::Bmsk, _) => {
            args.b = one.value(1, u32_type)?;
            args.extra = Extra::Bounds(modifiers.bounds.unwrap_or(Bounds::Clamp), signed);
            if opcode == Opcode::Szext { extend } else { mask }
        }
        _ => return Err(one.unsupported("")),
    };
    Ok(run)
}
