//! `mov` and `cvt`.

use strata_ptx::module::Operand;
use strata_ptx::opcode::{Opcode, Rounding};
use strata_ptx::types::ScalarType;

use crate::arith::convert::{
    Conversion, Eighth, bf16_from_f32, convert, f16_from_f32, f32_from_f16, f32_from_f64,
    f32_from_s32, f32_from_u32, f64_from_f32, f64_from_s32, f64_from_u32, pack, s32_from_f32,
    s32_from_f64, u32_from_f32, u32_from_f64,
};
use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Narrow, Run, VectorMove};
use crate::ops::compare::copy_predicate;
use crate::row::{Lanes, Row, Value, map1, sparse1, sparse2, sparse3};

/// Copies a 32-bit value.
pub(crate) fn copy32(l: &mut Lanes, o: &Args, m: u32) {
    let value = l.rows[o.a as usize].0;
    u32::store(l, o.d, &value, m);
}

/// Copies a 64-bit value.
pub(crate) fn copy64(l: &mut Lanes, o: &Args, m: u32) {
    let value = (l.rows[o.a as usize].0, l.rows[o.a as usize + 1].0);
    u64::store(l, o.d, &value, m);
}

fn copy16(l: &mut Lanes, o: &Args, m: u32) {
    map1(l, m, o.d, o.a, |a: u16| a);
}

fn copy128(l: &mut Lanes, o: &Args, m: u32) {
    let low = (l.rows[o.a as usize].0, l.rows[o.a as usize + 1].0);
    let high = (l.rows[o.a as usize + 2].0, l.rows[o.a as usize + 3].0);
    u64::store(l, o.d, &low, m);
    u64::store(l, o.d + 2, &high, m);
}

/// Two bytes to a 16-bit value.
fn pack8x2(l: &mut Lanes, o: &Args, m: u32) {
    let byte = |row: u32| l.rows[row as usize].0.map(|word| word & 0xff);
    let (a, b) = (byte(o.a), byte(o.b));
    let result = std::array::from_fn(|lane| a[lane] | b[lane] << 8);
    u32::store(l, o.d, &result, m);
}

/// A 16-bit value to two bytes.
fn unpack8x2(l: &mut Lanes, o: &Args, m: u32) {
    let value = l.rows[o.a as usize].0;
    u32::store(l, o.d, &value.map(|word| word & 0xff), m);
    u32::store(l, o.d2, &value.map(|word| word >> 8 & 0xff), m);
}

/// Four bytes to a 32-bit value.
fn pack8x4(l: &mut Lanes, o: &Args, m: u32) {
    let byte = |row: u32| l.rows[row as usize].0.map(|word| word & 0xff);
    let (a, b, c, e) = (byte(o.a), byte(o.b), byte(o.c), byte(o.e));
    let result = std::array::from_fn(|lane| a[lane] | b[lane] << 8 | c[lane] << 16 | e[lane] << 24);
    u32::store(l, o.d, &result, m);
}

/// A 32-bit value to four bytes; the last two destinations are in `c` and `e`.
fn unpack8x4(l: &mut Lanes, o: &Args, m: u32) {
    let value = l.rows[o.a as usize].0;
    for (row, shift) in [(o.d, 0), (o.d2, 8), (o.c, 16), (o.e, 24)] {
        u32::store(l, row, &value.map(|word| word >> shift & 0xff), m);
    }
}

/// Two 16-bit values to a 32-bit one.
fn pack16x2(l: &mut Lanes, o: &Args, m: u32) {
    crate::row::map2(l, m, o.d, (o.a, o.b), |a: u16, b: u16| u32::from(a) | u32::from(b) << 16);
}

/// A 32-bit value to two 16-bit ones.
fn unpack16x2(l: &mut Lanes, o: &Args, m: u32) {
    let value = l.rows[o.a as usize].0;
    u32::store(l, o.d, &value.map(|word| word & 0xffff), m);
    u32::store(l, o.d2, &value.map(|word| word >> 16), m);
}

/// Four 16-bit values to a 64-bit one.
fn pack16x4(l: &mut Lanes, o: &Args, m: u32) {
    let half = |row: u32| l.rows[row as usize].0.map(|word| word & 0xffff);
    let (a, b, c, e) = (half(o.a), half(o.b), half(o.c), half(o.e));
    let mut result = u64::blank();
    for lane in 0..32 {
        result.0[lane] = a[lane] | b[lane] << 16;
        result.1[lane] = c[lane] | e[lane] << 16;
    }
    u64::store(l, o.d, &result, m);
}

/// A 64-bit value to four 16-bit ones; the last two destinations are in `c` and `e`.
fn unpack16x4(l: &mut Lanes, o: &Args, m: u32) {
    let (low, high) = (l.rows[o.a as usize].0, l.rows[o.a as usize + 1].0);
    u32::store(l, o.d, &low.map(|word| word & 0xffff), m);
    u32::store(l, o.d2, &low.map(|word| word >> 16), m);
    u32::store(l, o.c, &high.map(|word| word & 0xffff), m);
    u32::store(l, o.e, &high.map(|word| word >> 16), m);
}

/// Two 32-bit values to a 64-bit one.
fn pack32x2(l: &mut Lanes, o: &Args, m: u32) {
    let value = (l.rows[o.a as usize].0, l.rows[o.b as usize].0);
    u64::store(l, o.d, &value, m);
}

/// A 64-bit value to two 32-bit ones.
fn unpack32x2(l: &mut Lanes, o: &Args, m: u32) {
    let (low, high) = (l.rows[o.a as usize].0, l.rows[o.a as usize + 1].0);
    u32::store(l, o.d, &low, m);
    u32::store(l, o.d2, &high, m);
}

/// Four 32-bit values to a 128-bit one.
fn pack32x4(l: &mut Lanes, o: &Args, m: u32) {
    let low = (l.rows[o.a as usize].0, l.rows[o.b as usize].0);
    let high = (l.rows[o.c as usize].0, l.rows[o.e as usize].0);
    u64::store(l, o.d, &low, m);
    u64::store(l, o.d + 2, &high, m);
}

/// A 128-bit value to four 32-bit ones; the last two destinations are in `c` and `e`.
fn unpack32x4(l: &mut Lanes, o: &Args, m: u32) {
    let words = [0, 1, 2, 3].map(|part| l.rows[o.a as usize + part].0);
    for (row, word) in [o.d, o.d2, o.c, o.e].into_iter().zip(words) {
        u32::store(l, row, &word, m);
    }
}

/// Two 64-bit values to a 128-bit one.
fn pack64x2(l: &mut Lanes, o: &Args, m: u32) {
    let low = (l.rows[o.a as usize].0, l.rows[o.a as usize + 1].0);
    let high = (l.rows[o.b as usize].0, l.rows[o.b as usize + 1].0);
    u64::store(l, o.d, &low, m);
    u64::store(l, o.d + 2, &high, m);
}

/// A 128-bit value to two 64-bit ones.
fn unpack64x2(l: &mut Lanes, o: &Args, m: u32) {
    let [a, b, c, e] = [0, 1, 2, 3].map(|part| l.rows[o.a as usize + part].0);
    u64::store(l, o.d, &(a, b), m);
    u64::store(l, o.d2, &(c, e), m);
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    if one.instruction.opcode == Opcode::Mov {
        return mov(one);
    }
    let mut args = Args::default();
    let run = cvt(one, &mut args)?;
    Ok((Action::Compute(run), args))
}

fn mov(one: &mut One<'_, '_>) -> Decoded {
    let ty = one.ty(0)?;
    let mut args = Args::default();
    if ty == ScalarType::Pred {
        args.d = one.predicate_result(0)?;
        (args.a, args.invert) = one.predicate(0)?;
        return Ok((Action::Compute(copy_predicate), args));
    }
    if let Some(clock) = one.clock()? {
        return Ok(clock);
    }
    if one.instruction.modifiers.vector > 0 {
        return vector(one, ty);
    }
    let run: Run = match (one.destination(0)?, one.source(0)?) {
        (Operand::Vector(_), Operand::Vector(_)) => return Err(one.unsupported("two vectors")),
        (Operand::Vector(elements), _) => unpack(one, &mut args, ty, elements)?,
        (_, Operand::Vector(elements)) => packed(one, &mut args, ty, elements)?,
        _ => {
            (args.d, args.a) = (one.result(0, ty)?, one.value(0, ty)?);
            match ty.bits() {
                16 => copy16,
                32 => copy32,
                64 => copy64,
                128 => copy128,
                _ => return Err(one.unsupported("")),
            }
        }
    };
    Ok((Action::Compute(run), args))
}

/// `mov.v2`, `mov.v4` and `mov.v8`.
fn vector(one: &mut One<'_, '_>, ty: ScalarType) -> Decoded {
    let (Operand::Vector(to), Operand::Vector(from)) = (one.destination(0)?, one.source(0)?) else {
        return Err(one.malformed("two vectors are expected"));
    };
    let mut components = Vec::with_capacity(to.len());
    for (to, from) in to.iter().zip(from) {
        components.push((one.written(to, ty)?, one.operand(from, ty)?));
    }
    let index = one.decoder.vectors.len() as u32;
    one.decoder.vectors.push(VectorMove { wide: ty.bits() == 64, components });
    Ok((Action::MoveVector(index), Args::default()))
}

/// Copies components: all are read before one is written.
pub(crate) fn move_vector(lanes: &mut Lanes, vector: &VectorMove, mask: u32) {
    let words = 1 + u32::from(vector.wide);
    let rows = |first: u32| first..first + words;
    let from = vector.components.iter().flat_map(|&(_, from)| rows(from));
    let values: Vec<Row> = from.map(|row| lanes.rows[row as usize]).collect();
    let to = vector.components.iter().flat_map(|&(to, _)| rows(to));
    for (row, value) in to.zip(values) {
        u32::store(lanes, row, &value.0, mask);
    }
}

/// The type of one of `count` parts of a value.
fn part(ty: ScalarType, count: usize) -> Option<ScalarType> {
    match (ty.bits(), count) {
        (16, 2) | (32, 4) => Some(ScalarType::B8),
        (32, 2) | (64, 4) => Some(ScalarType::B16),
        (64, 2) | (128, 4) => Some(ScalarType::B32),
        (128, 2) => Some(ScalarType::B64),
        _ => None,
    }
}

fn packed(
    one: &mut One<'_, '_>,
    args: &mut Args,
    ty: ScalarType,
    elements: &[Operand],
) -> Result<Run, Problem> {
    let part = part(ty, elements.len()).ok_or_else(|| one.unsupported("this vector"))?;
    args.d = one.result(0, ty)?;
    for (slot, element) in
        [&mut args.a, &mut args.b, &mut args.c, &mut args.e].into_iter().zip(elements)
    {
        *slot = one.operand(element, part)?;
    }
    Ok(match (ty.bits(), elements.len()) {
        (16, _) => pack8x2,
        (32, 4) => pack8x4,
        (32, _) => pack16x2,
        (64, 4) => pack16x4,
        (64, _) => pack32x2,
        (_, 4) => pack32x4,
        (_, _) => pack64x2,
    })
}

fn unpack(
    one: &mut One<'_, '_>,
    args: &mut Args,
    ty: ScalarType,
    elements: &[Operand],
) -> Result<Run, Problem> {
    let part = part(ty, elements.len()).ok_or_else(|| one.unsupported("this vector"))?;
    args.a = one.value(0, ty)?;
    for (slot, element) in
        [&mut args.d, &mut args.d2, &mut args.c, &mut args.e].into_iter().zip(elements)
    {
        *slot = one.written(element, part)?;
    }
    Ok(match (ty.bits(), elements.len()) {
        (16, _) => unpack8x2,
        (32, 4) => unpack8x4,
        (32, _) => unpack16x2,
        (64, 4) => unpack16x4,
        (64, _) => unpack32x2,
        (_, 4) => unpack32x4,
        (_, _) => unpack64x2,
    })
}

macro_rules! pairs {
    ($($name:ident |$x:ident: $from:ty| -> $to:ty { $e:expr })*) => {
        $(
            fn $name(l: &mut Lanes, o: &Args, m: u32) {
                map1(l, m, o.d, o.a, |$x: $from| -> $to { $e });
            }
        )*
    };
}

pairs! {
    u16_to_u32 |x: u16| -> u32 { u32::from(x) }
    s16_to_s32 |x: u16| -> u32 { x as i16 as u32 }
    u32_to_u16 |x: u32| -> u16 { x as u16 }
    u32_to_u8 |x: u32| -> u16 { x as u8 as u16 }
    u32_to_u64 |x: u32| -> u64 { u64::from(x) }
    s32_to_s64 |x: u32| -> u64 { x as i32 as u64 }
    u64_to_u32 |x: u64| -> u32 { x as u32 }
    s32_to_f32 |x: u32| -> u32 { f32_from_s32(x) }
    u32_to_f32 |x: u32| -> u32 { f32_from_u32(x) }
    s32_to_f64 |x: u32| -> u64 { f64_from_s32(x) }
    u32_to_f64 |x: u32| -> u64 { f64_from_u32(x) }
    f32_to_s32 |x: u32| -> u32 { s32_from_f32(x) }
    f32_to_u32 |x: u32| -> u32 { u32_from_f32(x) }
    f64_to_s32 |x: u64| -> u32 { s32_from_f64(x) }
    f64_to_u32 |x: u64| -> u32 { u32_from_f64(x) }
    f32_to_f64 |x: u32| -> u64 { f64_from_f32(x) }
    f64_to_f32 |x: u64| -> u32 { f32_from_f64(x) }
    f16_to_f32 |x: u16| -> u32 { f32_from_f16(x) }
    f32_to_f16 |x: u32| -> u16 { f16_from_f32(x) }
    f32_to_bf16 |x: u32| -> u16 { bf16_from_f32(x) }
}

/// The function of a conversion without `.ftz`, `.sat` and the like, for the usual pairs.
fn usual(to: ScalarType, from: ScalarType, rounding: Option<Rounding>) -> Option<Run> {
    use ScalarType as T;
    let nearest = matches!(rounding, None | Some(Rounding::NearestEven));
    let truncated = matches!(rounding, None | Some(Rounding::IntegerZero));
    let run: Run = match (to, from) {
        (T::U32 | T::S32, T::U16) => u16_to_u32,
        (T::U32 | T::S32, T::S16) => s16_to_s32,
        (T::U64 | T::S64, T::U32) => u32_to_u64,
        (T::U64 | T::S64, T::S32) => s32_to_s64,
        (T::U32 | T::S32, T::U64 | T::S64) => u64_to_u32,
        (T::U16 | T::S16, T::U32 | T::S32 | T::U64 | T::S64) => u32_to_u16,
        (T::U8, T::U16 | T::S16 | T::U32 | T::S32 | T::U64 | T::S64) => u32_to_u8,
        (T::F32, T::S32) if nearest => s32_to_f32,
        (T::F32, T::U32) if nearest => u32_to_f32,
        (T::F64, T::S32) => s32_to_f64,
        (T::F64, T::U32) => u32_to_f64,
        (T::S32, T::F32) if truncated => f32_to_s32,
        (T::U32, T::F32) if truncated => f32_to_u32,
        (T::S32, T::F64) if truncated => f64_to_s32,
        (T::U32, T::F64) if truncated => f64_to_u32,
        (T::F64, T::F32) if rounding.is_none() => f32_to_f64,
        (T::F32, T::F64) if nearest => f64_to_f32,
        (T::F32, T::F16) if rounding.is_none() => f16_to_f32,
        (T::F16, T::F32) if nearest => f32_to_f16,
        (T::Bf16, T::F32) if nearest => f32_to_bf16,
        _ => return None,
    };
    Some(run)
}

/// Rows of a register as conversions see them: 16 bits, 32 bits, 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Half,
    Word,
    Wide,
}

fn width(bits: u32) -> Width {
    match bits {
        64 => Width::Wide,
        32 => Width::Word,
        _ => Width::Half,
    }
}

macro_rules! any_conversion {
    ($($name:ident $from:ty => $to:ty;)*) => {
        $(
            fn $name(l: &mut Lanes, o: &Args, m: u32) {
                let Extra::Conversion(conversion) = o.extra else { return };
                sparse1(l, m, o.d, o.a, |a: $from| convert(conversion, a as u64) as $to);
            }
        )*
    };
}

any_conversion! {
    half_to_half u16 => u16;
    half_to_word u16 => u32;
    half_to_wide u16 => u64;
    word_to_half u32 => u16;
    word_to_word u32 => u32;
    word_to_wide u32 => u64;
    wide_to_half u64 => u16;
    wide_to_word u64 => u32;
    wide_to_wide u64 => u64;
}

/// `cvt.rn.f16x2.f32` and its kin.
fn pack_halves(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Conversion(conversion) = o.extra else { return };
    sparse2(l, m, o.d, (o.a, o.b), |a, b| pack(conversion, a, b));
}

/// The integer of less than a byte that words name, of a `cvt.pack`.
fn narrow(one: &One<'_, '_>) -> Option<Narrow> {
    let known = [("u4", 4, false), ("s4", 4, true), ("u2", 2, false), ("s2", 2, true)];
    let found = known.into_iter().find(|(word, ..)| one.instruction.modifiers.has(word));
    found.map(|(_, bits, signed)| Narrow { bits, signed })
}

/// `cvt.pack.sat` of two 32-bit integers to less than bytes, above which `c` goes.
fn pack_narrow(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Narrow(Narrow { bits, signed }) = o.extra else { return };
    let (least, greatest) =
        if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let part = |x: u32| (x as i32).clamp(least, greatest) as u32 & ((1 << bits) - 1);
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u32, b: u32, c: u32| {
        part(b) | part(a) << bits | c << (2 * bits)
    });
}

/// The format that words name, of a `cvt` from or to pairs of floats of 8 bits.
fn eighths(one: &One<'_, '_>) -> Option<Eighth> {
    let modifiers = &one.instruction.modifiers;
    match () {
        () if modifiers.has("e4m3x2") => Some(Eighth::E4m3),
        () if modifiers.has("e5m2x2") => Some(Eighth::E5m2),
        () => None,
    }
}

/// `cvt.rn.satfinite.e4m3x2.f32` and its kin.
fn pack_eighths(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Eighths(format, relu) = o.extra else { return };
    sparse2(l, m, o.d, (o.a, o.b), |a: u32, b: u32| {
        u16::from_le_bytes([format.from_f32(b, relu), format.from_f32(a, relu)])
    });
}

/// `cvt.rn.satfinite.e4m3x2.f16x2` and its kin.
fn eighths_from_halves(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Eighths(format, relu) = o.extra else { return };
    sparse1(l, m, o.d, o.a, |a: u32| {
        let eighth = |half: u32| format.from_f32(f32_from_f16(half as u16), relu);
        u16::from_le_bytes([eighth(a), eighth(a >> 16)])
    });
}

/// `cvt.rn.f16x2.e4m3x2` and its kin.
fn halves_from_eighths(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Eighths(format, relu) = o.extra else { return };
    sparse1(l, m, o.d, o.a, |a: u16| {
        let half = |eighth: u8| match format.to_f16(eighth) {
            half if relu && half & 0x8000 != 0 => 0,
            half => u32::from(half),
        };
        let [low, high] = a.to_le_bytes();
        half(low) | half(high) << 16
    });
}

/// Decodes a conversion from or to pairs of floats of 8 bits.
fn cvt_eighths(one: &mut One<'_, '_>, args: &mut Args, format: Eighth) -> Result<Run, Problem> {
    args.extra = Extra::Eighths(format, one.instruction.modifiers.relu);
    let ty = one.ty(0)?;
    let narrows = one.instruction.modifiers.has("satfinite");
    args.d = one.result(0, if narrows { ScalarType::B16 } else { ScalarType::B32 })?;
    args.a = one.value(0, if narrows { ty } else { ScalarType::B16 })?;
    match (narrows, ty) {
        (true, ScalarType::F32) => args.b = one.value(1, ty)?,
        (true, _) => return Ok(eighths_from_halves),
        (false, _) => return Ok(halves_from_eighths),
    }
    Ok(pack_eighths)
}

/// `cvt.pack.sat` of two 32-bit integers to 16-bit ones.
fn pack_saturated16(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Conversion(conversion) = o.extra else { return };
    sparse2(l, m, o.d, (o.a, o.b), |a: u32, b: u32| {
        let half = |x: u32| convert(conversion, u64::from(x)) as u16;
        u32::from(half(b)) | u32::from(half(a)) << 16
    });
}

/// `cvt.pack.sat` of two 32-bit integers to bytes, above which the low half of `c` goes.
fn pack_saturated8(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Conversion(conversion) = o.extra else { return };
    sparse3(l, m, o.d, (o.a, o.b, o.c), |a: u32, b: u32, c: u32| {
        let byte = |x: u32| convert(conversion, u64::from(x)) as u8;
        u32::from(byte(b)) | u32::from(byte(a)) << 8 | c << 16
    });
}

fn cvt(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    if let Some(format) = eighths(one) {
        return cvt_eighths(one, args, format);
    }
    let (to, from) = (one.ty(0)?, one.ty(1)?);
    let modifiers = &one.instruction.modifiers;
    if let Some(narrow) = narrow(one) {
        args.extra = Extra::Narrow(narrow);
        (args.a, args.b) = (one.value(0, ScalarType::S32)?, one.value(1, ScalarType::S32)?);
        args.c = one.value(2, ScalarType::B32)?;
        args.d = one.result(0, ScalarType::B32)?;
        return Ok(pack_narrow);
    }
    let conversion = Conversion {
        to,
        from,
        rounding: modifiers.rounding,
        ftz: modifiers.ftz,
        sat: modifiers.sat,
        relu: modifiers.relu,
        satfinite: modifiers.has("satfinite"),
    };
    args.extra = Extra::Conversion(conversion);
    if modifiers.has("pack") {
        return pack_saturated(one, args, to);
    }
    if matches!(to, ScalarType::F16x2 | ScalarType::Bf16x2) {
        args.d = one.result(0, to)?;
        (args.a, args.b) = (one.value(0, from)?, one.value(1, from)?);
        return Ok(pack_halves);
    }
    (args.d, args.a) = (one.result(0, to)?, one.value(0, from)?);
    let register = match one.destination(0)? {
        Operand::Register(register) => one.register_type(*register)?.bits(),
        _ => to.bits(),
    };
    let special = modifiers.ftz || modifiers.sat || modifiers.relu || conversion.satfinite;
    let exact = register == to.bits() || (to == ScalarType::U8 && register == 16);
    if !special
        && exact
        && let Some(run) = usual(to, from, modifiers.rounding)
    {
        return Ok(run);
    }
    Ok(match (width(from.bits()), width(register)) {
        (Width::Half, Width::Half) => half_to_half,
        (Width::Half, Width::Word) => half_to_word,
        (Width::Half, Width::Wide) => half_to_wide,
        (Width::Word, Width::Half) => word_to_half,
        (Width::Word, Width::Word) => word_to_word,
        (Width::Word, Width::Wide) => word_to_wide,
        (Width::Wide, Width::Half) => wide_to_half,
        (Width::Wide, Width::Word) => wide_to_word,
        (Width::Wide, Width::Wide) => wide_to_wide,
    })
}

fn pack_saturated(one: &mut One<'_, '_>, args: &mut Args, to: ScalarType) -> Result<Run, Problem> {
    args.d = one.result(0, ScalarType::B32)?;
    (args.a, args.b) = (one.value(0, ScalarType::S32)?, one.value(1, ScalarType::S32)?);
    if to.bits() == 16 {
        return Ok(pack_saturated16);
    }
    args.c = if one.instruction.sources.len() > 2 {
        one.value(2, ScalarType::B32)?
    } else {
        one.constant(0, ScalarType::U32)
    };
    Ok(pack_saturated8)
}
