//! Integer arithmetic: `add sub mul mad div rem neg abs min max sad`, carries, `mul24 mad24`,
//! `dp4a dp2a`.

use strata_ptx::opcode::{Half, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use super::for_integer;
use crate::arith::integer::{
    Integer, S16, S32, S64, U16, U32, U64, add_carry_u32, add_carry_u64, dp2a, dp4a, mul24_hi_s32,
    mul24_hi_u32, mul24_lo_s32, mul24_lo_u32,
};
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Run};
use crate::row::{Lanes, Value, lanes, map1, map2, map3, sparse2};

/// Functions of one, two and three sources of the same type, by method of [`Integer`].
macro_rules! methods {
    ($($name:ident $map:ident ($($x:ident),*) $method:ident;)*) => {
        $(
            fn $name<I: Integer>(l: &mut Lanes, o: &Args, m: u32)
            where
                I::Bits: Value,
            {
                methods!(@ $map, l, m, o, ($($x),*), I::$method);
            }
        )*
    };
    (@ map1, $l:ident, $m:ident, $o:ident, ($a:ident), $f:expr) => {
        map1($l, $m, $o.d, $o.$a, $f);
    };
    (@ $map:ident, $l:ident, $m:ident, $o:ident, ($($x:ident),*), $f:expr) => {
        $map($l, $m, $o.d, ($($o.$x),*), $f);
    };
}

methods! {
    add map2 (a, b) add;
    sub map2 (a, b) sub;
    add_sat map2 (a, b) add_sat;
    sub_sat map2 (a, b) sub_sat;
    mul_lo map2 (a, b) mul_lo;
    mul_hi map2 (a, b) mul_hi;
    mad_lo map3 (a, b, c) mad_lo;
    mad_hi map3 (a, b, c) mad_hi;
    mad_hi_sat map3 (a, b, c) mad_hi_sat;
    div sparse2 (a, b) div;
    rem sparse2 (a, b) rem;
    neg map1 (a) neg;
    abs map1 (a) abs;
    min map2 (a, b) min;
    max map2 (a, b) max;
    min_relu map2 (a, b) min_relu;
    max_relu map2 (a, b) max_relu;
    sad map3 (a, b, c) sad;
}

fn mul_wide<I: Integer>(l: &mut Lanes, o: &Args, m: u32)
where
    I::Bits: Value,
    I::Wide: Value,
{
    map2(l, m, o.d, (o.a, o.b), I::mul_wide);
}

fn mad_wide<I: Integer>(l: &mut Lanes, o: &Args, m: u32)
where
    I::Bits: Value,
    I::Wide: Value,
{
    map3(l, m, o.d, (o.a, o.b, o.c), I::mad_wide);
}

/// `d = a + b` as addresses.
pub(crate) fn add_u64(l: &mut Lanes, o: &Args, m: u32) {
    add::<U64>(l, o, m);
}

/// `d = a + b` as addresses.
pub(crate) fn add_u32(l: &mut Lanes, o: &Args, m: u32) {
    add::<U32>(l, o, m);
}

/// A type that the carry instructions work on.
trait Carry: Value + std::ops::Not<Output = Self> {
    fn add(a: Self, b: Self, carry: bool) -> (Self, bool);
    fn mul(a: Self, b: Self, high: bool, signed: bool) -> Self;
}

impl Carry for u32 {
    fn add(a: Self, b: Self, carry: bool) -> (Self, bool) {
        add_carry_u32(a, b, carry)
    }
    fn mul(a: Self, b: Self, high: bool, signed: bool) -> Self {
        match (high, signed) {
            (false, _) => U32::mul_lo(a, b),
            (true, false) => U32::mul_hi(a, b),
            (true, true) => S32::mul_hi(a, b),
        }
    }
}

impl Carry for u64 {
    fn add(a: Self, b: Self, carry: bool) -> (Self, bool) {
        add_carry_u64(a, b, carry)
    }
    fn mul(a: Self, b: Self, high: bool, signed: bool) -> Self {
        match (high, signed) {
            (false, _) => U64::mul_lo(a, b),
            (true, false) => U64::mul_hi(a, b),
            (true, true) => S64::mul_hi(a, b),
        }
    }
}

/// Computes a value and a carry in each lane; stores the carry where the instruction says so.
fn with_carry<T: Carry>(
    l: &mut Lanes,
    d: u32,
    m: u32,
    out: bool,
    f: impl Fn(&Lanes, usize) -> (T, bool),
) {
    let mut result = T::blank();
    let mut carries = 0;
    for lane in lanes(m) {
        let (value, carry) = f(l, lane);
        T::set(&mut result, lane, value);
        carries |= u32::from(carry) << lane;
    }
    T::store(l, d, &result, m);
    if out {
        l.set_carry(carries, m);
    }
}

fn flags(o: &Args) -> (bool, bool, bool) {
    match o.extra {
        Extra::Flags3(a, b, c) => (a, b, c),
        _ => (false, false, false),
    }
}

/// `add.cc`, `addc`: flags say whether the carry is read and written.
fn add_carry<T: Carry>(l: &mut Lanes, o: &Args, m: u32) {
    let (input, output, _) = flags(o);
    let carry = if input { l.carry } else { 0 };
    with_carry::<T>(l, o.d, m, output, |l, lane| {
        let (a, b) = (T::source(l, o.a), T::source(l, o.b));
        T::add(T::lane(a, lane), T::lane(b, lane), carry >> lane & 1 == 1)
    });
}

/// `sub.cc`, `subc`: `a + ~b` and the carry, which therefore says that nothing was borrowed. All
/// instructions share it, as in machine code (DEV-060).
fn sub_carry<T: Carry>(l: &mut Lanes, o: &Args, m: u32) {
    let (input, output, _) = flags(o);
    let carry = if input { l.carry } else { u32::MAX };
    with_carry::<T>(l, o.d, m, output, |l, lane| {
        let (a, b) = (T::source(l, o.a), T::source(l, o.b));
        T::add(T::lane(a, lane), !T::lane(b, lane), carry >> lane & 1 == 1)
    });
}

/// `mad.cc`, `madc`, of the low half.
fn mad_carry_lo<T: Carry>(l: &mut Lanes, o: &Args, m: u32) {
    mad_carry::<T>(l, o, m, false);
}

/// `mad.cc`, `madc`, of the high half.
fn mad_carry_hi<T: Carry>(l: &mut Lanes, o: &Args, m: u32) {
    mad_carry::<T>(l, o, m, true);
}

fn mad_carry<T: Carry>(l: &mut Lanes, o: &Args, m: u32, high: bool) {
    let (input, output, signed) = flags(o);
    let carry = if input { l.carry } else { 0 };
    with_carry::<T>(l, o.d, m, output, |l, lane| {
        let (a, b, c) = (T::source(l, o.a), T::source(l, o.b), T::source(l, o.c));
        let product = T::mul(T::lane(a, lane), T::lane(b, lane), high, signed);
        T::add(product, T::lane(c, lane), carry >> lane & 1 == 1)
    });
}

macro_rules! pairs24 {
    ($($name:ident $mad:ident $f:ident;)*) => {
        $(
            fn $name(l: &mut Lanes, o: &Args, m: u32) {
                map2(l, m, o.d, (o.a, o.b), $f);
            }
            fn $mad(l: &mut Lanes, o: &Args, m: u32) {
                map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c: u32| $f(a, b).wrapping_add(c));
            }
        )*
    };
}

pairs24! {
    mul24_lo_u mad24_lo_u mul24_lo_u32;
    mul24_hi_u mad24_hi_u mul24_hi_u32;
    mul24_lo_s mad24_lo_s mul24_lo_s32;
    mul24_hi_s mad24_hi_s mul24_hi_s32;
}

fn mad24_hi_sat(l: &mut Lanes, o: &Args, m: u32) {
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| S32::add_sat(mul24_hi_s32(a, b), c));
}

fn dot4(l: &mut Lanes, o: &Args, m: u32) {
    let (a_signed, b_signed, _) = flags(o);
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| dp4a(a, b, c, a_signed, b_signed));
}

fn dot2(l: &mut Lanes, o: &Args, m: u32) {
    let (a_signed, b_signed, high) = flags(o);
    map3(l, m, o.d, (o.a, o.b, o.c), |a, b, c| dp2a(a, b, c, high, a_signed, b_signed));
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let ty = one.ty(0)?;
    let mut args = Args::default();
    let run = match one.instruction.opcode {
        Opcode::Dp4a | Opcode::Dp2a => dot(one, &mut args)?,
        Opcode::Mul24 | Opcode::Mad24 => product24(one, &mut args, ty)?,
        Opcode::Mul | Opcode::Mad | Opcode::Madc => product(one, &mut args, ty)?,
        Opcode::Add | Opcode::Sub | Opcode::Addc | Opcode::Subc => sum(one, &mut args, ty)?,
        _ => plain(one, &mut args, ty)?,
    };
    Ok((Action::Compute(run), args))
}

/// Destination and sources, all of one type.
fn operands(one: &mut One<'_, '_>, args: &mut Args, ty: ScalarType) -> Result<(), Problem> {
    args.d = one.result(0, ty)?;
    let sources = one.instruction.sources.len();
    for (index, slot) in [&mut args.a, &mut args.b, &mut args.c].into_iter().enumerate() {
        if index < sources {
            *slot = one.value(index, ty)?;
        }
    }
    Ok(())
}

fn sum(one: &mut One<'_, '_>, args: &mut Args, ty: ScalarType) -> Result<Run, Problem> {
    operands(one, args, ty)?;
    let (opcode, modifiers) = (one.instruction.opcode, &one.instruction.modifiers);
    let carry_in = matches!(opcode, Opcode::Addc | Opcode::Subc);
    let subtract = matches!(opcode, Opcode::Sub | Opcode::Subc);
    if carry_in || modifiers.carry_out {
        args.extra = Extra::Flags3(carry_in, modifiers.carry_out, false);
        return match (ty.bits(), subtract) {
            (32, false) => Ok(add_carry::<u32>),
            (32, true) => Ok(sub_carry::<u32>),
            (64, false) => Ok(add_carry::<u64>),
            (64, true) => Ok(sub_carry::<u64>),
            _ => Err(one.unsupported("")),
        };
    }
    let run = match (subtract, modifiers.sat) {
        (false, false) => for_integer!(ty, add),
        (true, false) => for_integer!(ty, sub),
        (false, true) => for_integer!(ty, add_sat),
        (true, true) => for_integer!(ty, sub_sat),
    };
    run.ok_or_else(|| one.unsupported(""))
}

fn product(one: &mut One<'_, '_>, args: &mut Args, ty: ScalarType) -> Result<Run, Problem> {
    let modifiers = &one.instruction.modifiers;
    let half = modifiers.half.ok_or_else(|| one.malformed("`.lo`, `.hi` or `.wide` is missing"))?;
    let three = one.instruction.opcode != Opcode::Mul;
    if half == Half::Wide {
        return wide_product(one, args, ty, three);
    }
    operands(one, args, ty)?;
    let carry_in = one.instruction.opcode == Opcode::Madc;
    if carry_in || modifiers.carry_out {
        let signed = ty.kind() == Kind::Signed;
        args.extra = Extra::Flags3(carry_in, modifiers.carry_out, signed);
        return match (ty.bits(), half) {
            (32, Half::Low) => Ok(mad_carry_lo::<u32>),
            (32, _) => Ok(mad_carry_hi::<u32>),
            (64, Half::Low) => Ok(mad_carry_lo::<u64>),
            (64, _) => Ok(mad_carry_hi::<u64>),
            _ => Err(one.unsupported("")),
        };
    }
    let run = match (half, three, modifiers.sat) {
        (Half::Low, false, _) => for_integer!(ty, mul_lo),
        (Half::Low, true, _) => for_integer!(ty, mad_lo),
        (_, false, _) => for_integer!(ty, mul_hi),
        (_, true, false) => for_integer!(ty, mad_hi),
        (_, true, true) => for_integer!(ty, mad_hi_sat),
    };
    run.ok_or_else(|| one.unsupported(""))
}

fn wide_product(
    one: &mut One<'_, '_>,
    args: &mut Args,
    ty: ScalarType,
    three: bool,
) -> Result<Run, Problem> {
    let wide = match ty {
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U32 => ScalarType::U64,
        ScalarType::S32 => ScalarType::S64,
        _ => return Err(one.unsupported("")),
    };
    args.d = one.result(0, wide)?;
    (args.a, args.b) = (one.value(0, ty)?, one.value(1, ty)?);
    if three {
        args.c = one.value(2, wide)?;
    }
    Ok(match (ty, three) {
        (ScalarType::U16, false) => mul_wide::<U16>,
        (ScalarType::S16, false) => mul_wide::<S16>,
        (ScalarType::U32, false) => mul_wide::<U32>,
        (_, false) => mul_wide::<S32>,
        (ScalarType::U16, true) => mad_wide::<U16>,
        (ScalarType::S16, true) => mad_wide::<S16>,
        (ScalarType::U32, true) => mad_wide::<U32>,
        (_, true) => mad_wide::<S32>,
    })
}

fn product24(one: &mut One<'_, '_>, args: &mut Args, ty: ScalarType) -> Result<Run, Problem> {
    operands(one, args, ty)?;
    let modifiers = &one.instruction.modifiers;
    let high = modifiers.half == Some(Half::High);
    let signed = ty.kind() == Kind::Signed;
    let three = one.instruction.opcode == Opcode::Mad24;
    Ok(match (three, high, signed) {
        (false, false, false) => mul24_lo_u,
        (false, false, true) => mul24_lo_s,
        (false, true, false) => mul24_hi_u,
        (false, true, true) => mul24_hi_s,
        (true, true, true) if modifiers.sat => mad24_hi_sat,
        (true, false, false) => mad24_lo_u,
        (true, false, true) => mad24_lo_s,
        (true, true, false) => mad24_hi_u,
        (true, true, true) => mad24_hi_s,
    })
}

fn dot(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    operands(one, args, ScalarType::B32)?;
    let signed = |ty: ScalarType| ty.kind() == Kind::Signed;
    let (a, b) = (signed(one.ty(0)?), signed(one.ty(1)?));
    let high = one.instruction.modifiers.half == Some(Half::High);
    args.extra = Extra::Flags3(a, b, high);
    Ok(if one.instruction.opcode == Opcode::Dp4a { dot4 } else { dot2 })
}

fn plain(one: &mut One<'_, '_>, args: &mut Args, ty: ScalarType) -> Result<Run, Problem> {
    operands(one, args, ty)?;
    let relu = one.instruction.modifiers.relu;
    let run = match one.instruction.opcode {
        Opcode::Div => for_integer!(ty, div),
        Opcode::Rem => for_integer!(ty, rem),
        Opcode::Neg => for_integer!(ty, neg),
        Opcode::Abs => for_integer!(ty, abs),
        Opcode::Min if relu => for_integer!(ty, min_relu),
        Opcode::Max if relu => for_integer!(ty, max_relu),
        Opcode::Min => for_integer!(ty, min),
        Opcode::Max => for_integer!(ty, max),
        Opcode::Sad => for_integer!(ty, sad),
        _ => None,
    };
    run.ok_or_else(|| one.unsupported(""))
}
