//! Comparisons and selections: `set setp selp slct testp`.
//!
//! A comparison is one of four tests (less, less or equal, equal, ordered), perhaps with its
//! sources swapped and its result inverted; that is exact for integers and for floats with NaNs.

use std::marker::PhantomData;

use strata_ptx::opcode::{BooleanOp, Comparison, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use crate::arith::compare::{slct_f32, slct_s32};
use crate::arith::convert::f32_from_f16;
use crate::arith::float::{F32, F64, Float};
use crate::arith::native::flush_f32;
use crate::decode::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Run};
use crate::row::{Lanes, Value, select, test1, test2};

/// A type that can be compared.
trait Ordered: 'static {
    /// Bits of a value.
    type Bits: Value;
    /// What the bits are compared as.
    type Number: PartialOrd;
    fn number(bits: Self::Bits) -> Self::Number;
}

macro_rules! ordered {
    ($($name:ident $bits:ty, $number:ty, |$x:ident| $e:expr;)*) => {
        $(
            struct $name;

            impl Ordered for $name {
                type Bits = $bits;
                type Number = $number;

                #[inline]
                fn number($x: $bits) -> $number {
                    $e
                }
            }
        )*
    };
}

ordered! {
    U16 u16, u16, |x| x;
    S16 u16, i16, |x| x as i16;
    U32 u32, u32, |x| x;
    S32 u32, i32, |x| x as i32;
    U64 u64, u64, |x| x;
    S64 u64, i64, |x| x as i64;
    Single u32, f32, |x| f32::from_bits(x);
    SingleFtz u32, f32, |x| f32::from_bits(flush_f32(x));
    Double u64, f64, |x| f64::from_bits(x);
    Half u16, f32, |x| f32::from_bits(f32_from_f16(x));
    HalfFtz u16, f32, |x| f32::from_bits(f32_from_f16(flush_f16(x)));
    Brain u16, f32, |x| f32::from_bits(u32::from(x) << 16);
    HighHalf u32, f32, |x| f32::from_bits(f32_from_f16((x >> 16) as u16));
    HighHalfFtz u32, f32, |x| f32::from_bits(f32_from_f16(flush_f16((x >> 16) as u16)));
    HighBrain u32, f32, |x| f32::from_bits(x & 0xffff_0000);
}

fn flush_f16(a: u16) -> u16 {
    if a & 0x7c00 == 0 { a & 0x8000 } else { a }
}

/// A test of two rows.
trait Test {
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32;
}

struct Less<T>(PhantomData<T>);
struct LessEqual<T>(PhantomData<T>);
struct Equal<T>(PhantomData<T>);
struct Comparable<T>(PhantomData<T>);

impl<T: Ordered> Test for Less<T> {
    #[inline]
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32 {
        test2(lanes, ab, |a, b| T::number(a) < T::number(b))
    }
}

impl<T: Ordered> Test for LessEqual<T> {
    #[inline]
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32 {
        test2(lanes, ab, |a, b| T::number(a) <= T::number(b))
    }
}

impl<T: Ordered> Test for Equal<T> {
    #[inline]
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32 {
        test2(lanes, ab, |a, b| T::number(a) == T::number(b))
    }
}

impl<T: Ordered> Test for Comparable<T> {
    #[inline]
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32 {
        test2(lanes, ab, |a, b| T::number(a).partial_cmp(&T::number(b)).is_some())
    }
}

/// `setp` without anything else.
fn setp<T: Test>(l: &mut Lanes, o: &Args, m: u32) {
    let truth = T::test(l, (o.a, o.b)) ^ o.flip;
    l.set_predicate(o.d, truth, m);
}

fn combine(l: &Lanes, o: &Args, truth: u32) -> u32 {
    let other = l.predicates[o.c as usize] ^ o.invert;
    match o.extra {
        Extra::Boolean(BooleanOp::And) => truth & other,
        Extra::Boolean(BooleanOp::Or) => truth | other,
        Extra::Boolean(BooleanOp::Xor) => truth ^ other,
        _ => truth,
    }
}

/// `setp` with a second result or a third source.
fn setp_full<T: Test>(l: &mut Lanes, o: &Args, m: u32) {
    let truth = T::test(l, (o.a, o.b)) ^ o.flip;
    let (p, q) = (combine(l, o, truth), combine(l, o, !truth));
    l.set_predicate(o.d, p, m);
    l.set_predicate(o.d2, q, m);
}

/// `set`: row `e` where the comparison holds, zero elsewhere.
fn set<T: Test>(l: &mut Lanes, o: &Args, m: u32) {
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
fn setp_pair<T: Test, H: Test>(l: &mut Lanes, o: &Args, m: u32) {
    let low = T::test(l, (o.a, o.b)) ^ o.flip;
    let high = H::test(l, (o.a, o.b)) ^ o.flip;
    let (p, q) = (combine(l, o, low), combine(l, o, high));
    l.set_predicate(o.d, p, m);
    l.set_predicate(o.d2, q, m);
}

/// `set` of packed halves.
fn set_pair<T: Test, H: Test>(l: &mut Lanes, o: &Args, m: u32) {
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

/// How a comparison reduces to a test: which one, sources swapped, result inverted.
#[derive(Clone, Copy)]
enum Basic {
    Less,
    LessEqual,
    Equal,
    Comparable,
}

fn reduce(comparison: Comparison, float: bool) -> (Basic, bool, bool) {
    use Comparison as C;
    let (basic, swap, invert) = match comparison {
        // Of floats, `ne` and `equ` use [`Different`] instead.
        C::Eq | C::Equ => (Basic::Equal, false, false),
        C::Ne | C::Neu => (Basic::Equal, false, true),
        C::Lt | C::Lo => (Basic::Less, false, false),
        C::Gt | C::Hi => (Basic::Less, true, false),
        C::Le | C::Ls => (Basic::LessEqual, false, false),
        C::Ge | C::Hs => (Basic::LessEqual, true, false),
        // The unordered ones are what the opposite is not.
        C::Geu => (Basic::Less, false, true),
        C::Leu => (Basic::Less, true, true),
        C::Gtu => (Basic::LessEqual, false, true),
        C::Ltu => (Basic::LessEqual, true, true),
        C::Num => (Basic::Comparable, false, false),
        C::Nan => (Basic::Comparable, false, true),
    };
    match basic {
        // Of integers `a <= b` is the opposite of `b < a`, and cheaper.
        Basic::LessEqual if !float => (Basic::Less, !swap, !invert),
        _ => (basic, swap, invert),
    }
}

/// Ordered and different: `ne` of floats, and inverted `equ`.
struct Different<T>(PhantomData<T>);

impl<T: Ordered> Test for Different<T> {
    #[inline]
    fn test(lanes: &Lanes, ab: (u32, u32)) -> u32 {
        test2(lanes, ab, |a, b| {
            let (a, b) = (T::number(a), T::number(b));
            a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne)
        })
    }
}

/// Every test of a type, for one way to use it.
macro_rules! pick {
    ($use:ident, $ty:ident, $basic:expr, $special:expr) => {
        match ($special, $basic) {
            (true, _) => $use::<Different<$ty>> as Run,
            (_, Basic::Less) => $use::<Less<$ty>> as Run,
            (_, Basic::LessEqual) => $use::<LessEqual<$ty>> as Run,
            (_, Basic::Equal) => $use::<Equal<$ty>> as Run,
            (_, Basic::Comparable) => $use::<Comparable<$ty>> as Run,
        }
    };
    ($use:ident, $low:ident, $high:ident, $basic:expr, $special:expr) => {
        match ($special, $basic) {
            (true, _) => $use::<Different<$low>, Different<$high>> as Run,
            (_, Basic::Less) => $use::<Less<$low>, Less<$high>> as Run,
            (_, Basic::LessEqual) => $use::<LessEqual<$low>, LessEqual<$high>> as Run,
            (_, Basic::Equal) => $use::<Equal<$low>, Equal<$high>> as Run,
            (_, Basic::Comparable) => $use::<Comparable<$low>, Comparable<$high>> as Run,
        }
    };
}

macro_rules! by_type {
    ($use:ident, $ty:expr, $ftz:expr, $basic:expr, $special:expr) => {
        match $ty {
            ScalarType::U16 | ScalarType::B16 => Some(pick!($use, U16, $basic, $special)),
            ScalarType::S16 => Some(pick!($use, S16, $basic, $special)),
            ScalarType::U32 | ScalarType::B32 => Some(pick!($use, U32, $basic, $special)),
            ScalarType::S32 => Some(pick!($use, S32, $basic, $special)),
            ScalarType::U64 | ScalarType::B64 => Some(pick!($use, U64, $basic, $special)),
            ScalarType::S64 => Some(pick!($use, S64, $basic, $special)),
            ScalarType::F32 if $ftz => Some(pick!($use, SingleFtz, $basic, $special)),
            ScalarType::F32 => Some(pick!($use, Single, $basic, $special)),
            ScalarType::F64 => Some(pick!($use, Double, $basic, $special)),
            ScalarType::F16 if $ftz => Some(pick!($use, HalfFtz, $basic, $special)),
            ScalarType::F16 => Some(pick!($use, Half, $basic, $special)),
            ScalarType::Bf16 => Some(pick!($use, Brain, $basic, $special)),
            _ => None,
        }
    };
}

macro_rules! by_pair {
    ($use:ident, $ty:expr, $ftz:expr, $basic:expr, $special:expr) => {
        match $ty {
            ScalarType::F16x2 if $ftz => Some(pick!($use, HalfFtz, HighHalfFtz, $basic, $special)),
            ScalarType::F16x2 => Some(pick!($use, Half, HighHalf, $basic, $special)),
            ScalarType::Bf16x2 => Some(pick!($use, Brain, HighBrain, $basic, $special)),
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
    let float = ty.kind() == Kind::Float;
    let (basic, swap, invert) = reduce(comparison, float);
    let different = float && matches!(comparison, Comparison::Ne | Comparison::Equ);
    args.flip = match comparison {
        Comparison::Equ if different => u32::MAX,
        Comparison::Ne if different => 0,
        _ if invert => u32::MAX,
        _ => 0,
    };
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
        let yes = yes_value(to).ok_or_else(|| one.unsupported(""))?;
        args.e = one.constant(u64::from(yes), ScalarType::U32);
        if pair {
            by_pair!(set_pair, ty, ftz, basic, different)
        } else {
            by_type!(set, ty, ftz, basic, different)
        }
    } else {
        (args.d, args.d2) = (one.predicate_result(0)?, one.predicate_result(1)?);
        let plain = modifiers.boolean.is_none() && one.instruction.destinations.len() < 2;
        if pair {
            by_pair!(setp_pair, ty, ftz, basic, different)
        } else if plain {
            by_type!(setp, ty, ftz, basic, different)
        } else {
            by_type!(setp_full, ty, ftz, basic, different)
        }
    };
    run.ok_or_else(|| one.unsupported(""))
}

/// What `set` gives for true; of packed types, in each half.
fn yes_value(ty: ScalarType) -> Option<u32> {
    match ty {
        ScalarType::U32 | ScalarType::S32 => Some(u32::MAX),
        ScalarType::U16 | ScalarType::S16 => Some(0xffff),
        ScalarType::F32 => Some(0x3f80_0000),
        ScalarType::F16 | ScalarType::F16x2 => Some(0x3c00),
        ScalarType::Bf16 | ScalarType::Bf16x2 => Some(0x3f80),
        _ => None,
    }
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
