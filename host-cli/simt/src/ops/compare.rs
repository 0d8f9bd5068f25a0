//! Comparisons and selections: `set setp selp slct testp`.

use std::marker::PhantomData;

use strata_ptx::opcode::Opcode;
use strata_ptx::types::{Kind, ScalarType};

use crate::arith::compare::{
    self, F16Ftz, F32Ftz, HighBf16, HighF16, HighF16Ftz, Ordered, Reduced, Test, reduce,
    set_where_true, slct_f32, slct_s32,
};
use crate::arith::float::{Bf16, F16, F32, F64, Float};
use crate::arith::integer::{S16, S32, S64, U16, U32, U64};
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Run};
use crate::row::{Lanes, Value, select, test1, test2};

/// A [`Test`] of two rows.
trait RowTest {
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32;
}

macro_rules! row_tests {
    ($($name:ident $f:ident;)*) => {
        $(
            struct $name<T>(PhantomData<T>);

            impl<T: Ordered> RowTest for $name<T>
            where
                T::Bits: Value,
            {
                #[inline]
                fn test(lanes: &Lanes, ab: (u32, u32)) -> u32 {
                    test2(lanes, ab, compare::$f::<T>)
                }
            }
        )*
    };
}

row_tests! {
    Less less;
    LessOrEqual less_or_equal;
    Equal equal;
    Different different;
    Comparable comparable;
}

/// `setp` without anything else.
fn setp<T: RowTest>(l: &mut Lanes, o: &Args, m: u32) {
    let truth = T::test(l, (o.a, o.b)) ^ o.flip;
    l.set_predicate(o.d, truth, m);
}

fn combine(l: &Lanes, o: &Args, truth: u32) -> u32 {
    let other = l.predicates[o.c as usize] ^ o.invert;
    match o.extra {
        Extra::Boolean(operation) => compare::combine(operation, truth, other),
        _ => truth,
    }
}

/// `setp` with a second result or a third source.
fn setp_full<T: RowTest>(l: &mut Lanes, o: &Args, m: u32) {
    let truth = T::test(l, (o.a, o.b)) ^ o.flip;
    let (p, q) = (combine(l, o, truth), combine(l, o, !truth));
    l.set_predicate(o.d, p, m);
    l.set_predicate(o.d2, q, m);
}

/// `set`: row `e` where the comparison holds, zero elsewhere.
fn set<T: RowTest>(l: &mut Lanes, o: &Args, m: u32) {
    let truth = T::test(l, (o.a, o.b)) ^ o.flip;
    let truth = combine(l, o, truth);
    let yes = l.get32(o.e, 0);
    let mut result = [0; 32];
    for (lane, value) in result.iter_mut().enumerate() {
        *value = if truth >> lane & 1 == 1 { yes } else { 0 };
    }
    u32::store(l, o.d, &result, m);
}

/// `setp` of packed halves: one result for each half. `T` tests the low ones, `H` the high ones.
fn setp_pair<T: RowTest, H: RowTest>(l: &mut Lanes, o: &Args, m: u32) {
    let low = T::test(l, (o.a, o.b)) ^ o.flip;
    let high = H::test(l, (o.a, o.b)) ^ o.flip;
    let (p, q) = (combine(l, o, low), combine(l, o, high));
    l.set_predicate(o.d, p, m);
    l.set_predicate(o.d2, q, m);
}

/// `set` of packed halves.
fn set_pair<T: RowTest, H: RowTest>(l: &mut Lanes, o: &Args, m: u32) {
    let low = T::test(l, (o.a, o.b)) ^ o.flip;
    let high = H::test(l, (o.a, o.b)) ^ o.flip;
    let (low, high) = (combine(l, o, low), combine(l, o, high));
    let yes = l.get32(o.e, 0);
    let mut result = [0; 32];
    for (lane, value) in result.iter_mut().enumerate() {
        let half = |truth: u32| if truth >> lane & 1 == 1 { yes } else { 0 };
        *value = half(low) | half(high) << 16;
    }
    u32::store(l, o.d, &result, m);
}

/// Every test of a type, for one way to use it.
macro_rules! pick {
    ($use:ident, $ty:ident, $test:expr) => {
        match $test {
            Test::Less => $use::<Less<$ty>> as Run,
            Test::LessOrEqual => $use::<LessOrEqual<$ty>> as Run,
            Test::Equal => $use::<Equal<$ty>> as Run,
            Test::Different => $use::<Different<$ty>> as Run,
            Test::Comparable => $use::<Comparable<$ty>> as Run,
        }
    };
    ($use:ident, $low:ident, $high:ident, $test:expr) => {
        match $test {
            Test::Less => $use::<Less<$low>, Less<$high>> as Run,
            Test::LessOrEqual => $use::<LessOrEqual<$low>, LessOrEqual<$high>> as Run,
            Test::Equal => $use::<Equal<$low>, Equal<$high>> as Run,
            Test::Different => $use::<Different<$low>, Different<$high>> as Run,
            Test::Comparable => $use::<Comparable<$low>, Comparable<$high>> as Run,
        }
    };
}

macro_rules! by_type {
    ($use:ident, $ty:expr, $ftz:expr, $test:expr) => {
        match $ty {
            ScalarType::U16 | ScalarType::B16 => Some(pick!($use, U16, $test)),
            ScalarType::S16 => Some(pick!($use, S16, $test)),
            ScalarType::U32 | ScalarType::B32 => Some(pick!($use, U32, $test)),
            ScalarType::S32 => Some(pick!($use, S32, $test)),
            ScalarType::U64 | ScalarType::B64 => Some(pick!($use, U64, $test)),
            ScalarType::S64 => Some(pick!($use, S64, $test)),
            ScalarType::F32 if $ftz => Some(pick!($use, F32Ftz, $test)),
            ScalarType::F32 => Some(pick!($use, F32, $test)),
            ScalarType::F64 => Some(pick!($use, F64, $test)),
            ScalarType::F16 if $ftz => Some(pick!($use, F16Ftz, $test)),
            ScalarType::F16 => Some(pick!($use, F16, $test)),
            ScalarType::Bf16 => Some(pick!($use, Bf16, $test)),
            _ => None,
        }
    };
}

macro_rules! by_pair {
    ($use:ident, $ty:expr, $ftz:expr, $test:expr) => {
        match $ty {
            ScalarType::F16x2 if $ftz => Some(pick!($use, F16Ftz, HighF16Ftz, $test)),
            ScalarType::F16x2 => Some(pick!($use, F16, HighF16, $test)),
            ScalarType::Bf16x2 => Some(pick!($use, Bf16, HighBf16, $test)),
            _ => None,
        }
    };
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let mut args = Args::default();
    let run = match one.instruction.opcode {
        Opcode::Set | Opcode::Setp => comparison(one, &mut args)?,
        Opcode::Selp => selection(one, &mut args)?,
        Opcode::Slct => by_sign(one, &mut args)?,
        _ => property(one, &mut args)?,
    };
    Ok((Action::Compute(run), args))
}

fn comparison(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let is_set = one.instruction.opcode == Opcode::Set;
    let ty = one.ty(usize::from(is_set))?;
    let modifiers = &one.instruction.modifiers;
    let comparison = modifiers.comparison.ok_or_else(|| one.malformed("no comparison"))?;
    let Reduced { test, swap, invert } = reduce(comparison, ty.kind() == Kind::Float);
    args.flip = if invert { u32::MAX } else { 0 };
    let (a, b) = (one.value(0, ty)?, one.value(1, ty)?);
    (args.a, args.b) = if swap { (b, a) } else { (a, b) };
    if let Some(boolean) = modifiers.boolean {
        args.extra = Extra::Boolean(boolean);
        (args.c, args.invert) = one.predicate(2)?;
    }
    let ftz = modifiers.ftz;
    let pair = matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2);
    let run = if is_set {
        let to = one.ty(0)?;
        args.d = one.result(0, to)?;
        let yes = set_where_true(to).ok_or_else(|| one.unsupported(""))?;
        // Of an integer result too, each half has its own 16 bits (DEV-061).
        let yes = if pair { yes & 0xffff } else { yes };
        args.e = one.constant(u64::from(yes), ScalarType::U32);
        if pair { by_pair!(set_pair, ty, ftz, test) } else { by_type!(set, ty, ftz, test) }
    } else {
        (args.d, args.d2) = (one.predicate_result(0)?, one.predicate_result(1)?);
        let plain = modifiers.boolean.is_none() && one.instruction.destinations.len() < 2;
        if pair {
            by_pair!(setp_pair, ty, ftz, test)
        } else if plain {
            by_type!(setp, ty, ftz, test)
        } else {
            by_type!(setp_full, ty, ftz, test)
        }
    };
    run.ok_or_else(|| one.unsupported(""))
}

fn select_predicate<T: Value>(l: &mut Lanes, o: &Args, m: u32) {
    let choice = l.predicates[o.c as usize] ^ o.invert;
    select::<T>(l, m, o.d, (o.a, o.b), choice);
}

fn selection(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = one.ty(0)?;
    (args.d, args.a, args.b) = (one.result(0, ty)?, one.value(0, ty)?, one.value(1, ty)?);
    (args.c, args.invert) = one.predicate(2)?;
    match ty.bits() {
        64 => Ok(select_predicate::<u64>),
        32 => Ok(select_predicate::<u32>),
        16 => Ok(select_predicate::<u16>),
        _ => Err(one.unsupported("")),
    }
}

fn select_sign<T: Value>(l: &mut Lanes, o: &Args, m: u32) {
    let choice = test1(l, o.c, slct_s32);
    select::<T>(l, m, o.d, (o.a, o.b), choice);
}

fn select_sign_float<T: Value>(l: &mut Lanes, o: &Args, m: u32) {
    let ftz = matches!(o.extra, Extra::Flag(true));
    let choice = test1(l, o.c, |c| slct_f32(c, ftz));
    select::<T>(l, m, o.d, (o.a, o.b), choice);
}

fn by_sign(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let (ty, by) = (one.ty(0)?, one.ty(1)?);
    (args.d, args.a, args.b) = (one.result(0, ty)?, one.value(0, ty)?, one.value(1, ty)?);
    args.c = one.value(2, by)?;
    args.extra = Extra::Flag(one.instruction.modifiers.ftz);
    match (ty.bits(), by == ScalarType::F32) {
        (64, false) => Ok(select_sign::<u64>),
        (32, false) => Ok(select_sign::<u32>),
        (16, false) => Ok(select_sign::<u16>),
        (64, true) => Ok(select_sign_float::<u64>),
        (32, true) => Ok(select_sign_float::<u32>),
        (16, true) => Ok(select_sign_float::<u16>),
        _ => Err(one.unsupported("")),
    }
}

fn test_property<F: Float>(l: &mut Lanes, o: &Args, m: u32)
where
    F::Bits: Value,
{
    let Extra::Test(property) = o.extra else { return };
    let truth = test1(l, o.a, |a| F::testp(a, property));
    l.set_predicate(o.d, truth, m);
}

fn property(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = one.ty(0)?;
    let property = one.instruction.modifiers.test.ok_or_else(|| one.malformed("no property"))?;
    args.extra = Extra::Test(property);
    (args.d, args.a) = (one.predicate_result(0)?, one.value(0, ty)?);
    match ty {
        ScalarType::F32 => Ok(test_property::<F32>),
        ScalarType::F64 => Ok(test_property::<F64>),
        _ => Err(one.unsupported("")),
    }
}

/// Copies a predicate.
pub(crate) fn copy_predicate(l: &mut Lanes, o: &Args, m: u32) {
    let value = l.predicates[o.a as usize] ^ o.invert;
    l.set_predicate(o.d, value, m);
}
