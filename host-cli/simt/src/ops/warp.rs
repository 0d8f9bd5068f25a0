//! Communication within a warp: `shfl vote match redux elect activemask`.
//!
//! The mask of an operation is the lanes that execute it together. The `.sync` forms are executed
//! once every lane of the member mask has arrived; lanes outside of the mask are never read.

use strata_ptx::opcode::{AtomicOp, Opcode, ShuffleMode, VoteMode};
use strata_ptx::types::{Kind, ScalarType};

use crate::decode::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Extra, Run};
use crate::row::{Lanes, Value, lanes};

/// Where lane `lane` reads from, and whether that is in range. `b` and `c` are as PTX has them: `c`
/// holds the clamp in bits 0 to 4 and the segment mask in bits 8 to 12.
fn partner(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let low = lane & segment;
    let high = low | (clamp & !segment);
    match mode {
        // Differences and sums of numbers below 32.
        ShuffleMode::Up => {
            let from = lane as i32 - b as i32;
            (from as u32 & 31, from >= high as i32)
        }
        ShuffleMode::Down => (lane + b, lane + b <= high),
        ShuffleMode::Bfly => (lane ^ b, lane ^ b <= high),
        ShuffleMode::Idx => {
            let from = low | (b & !segment);
            (from, from <= high)
        }
    }
}

/// The lane that a lane of a shuffle reads, if it is not out of range.
pub(crate) fn shuffle_source(l: &Lanes, o: &Args, mode: ShuffleMode, lane: usize) -> Option<usize> {
    let (b, c) = (l.rows[o.b as usize].0[lane], l.rows[o.c as usize].0[lane]);
    let (from, in_range) = partner(mode, lane as u32, b, c);
    in_range.then_some(from as usize & 31)
}

fn shuffle(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Shuffle(mode) = o.extra else { return };
    let a = l.rows[o.a as usize].0;
    let mut result = [0; 32];
    let mut valid = 0;
    for (lane, result) in result.iter_mut().enumerate() {
        // A lane out of range keeps its own value, and so does one whose partner takes no part (PTX
        // leaves that undefined).
        let from = shuffle_source(l, o, mode, lane);
        *result = a[from.filter(|&from| m >> from & 1 == 1).unwrap_or(lane)];
        valid |= u32::from(from.is_some()) << lane;
    }
    u32::store(l, o.d, &result, m);
    l.set_predicate(o.d2, valid, m);
}

fn vote_all(l: &mut Lanes, o: &Args, m: u32) {
    let truth = l.predicates[o.a as usize] ^ o.invert;
    l.set_predicate(o.d, if truth & m == m { u32::MAX } else { 0 }, m);
}

fn vote_any(l: &mut Lanes, o: &Args, m: u32) {
    let truth = l.predicates[o.a as usize] ^ o.invert;
    l.set_predicate(o.d, if truth & m == 0 { 0 } else { u32::MAX }, m);
}

fn vote_uniform(l: &mut Lanes, o: &Args, m: u32) {
    let truth = (l.predicates[o.a as usize] ^ o.invert) & m;
    l.set_predicate(o.d, if truth == m || truth == 0 { u32::MAX } else { 0 }, m);
}

fn vote_ballot(l: &mut Lanes, o: &Args, m: u32) {
    let truth = (l.predicates[o.a as usize] ^ o.invert) & m;
    u32::store(l, o.d, &[truth; 32], m);
}

/// For each lane the lanes with the same value.
fn equals<T: Value + PartialEq>(l: &Lanes, row: u32, m: u32) -> [u32; 32] {
    let source = T::source(l, row);
    let mut result = [0; 32];
    for lane in lanes(m) {
        let mine = T::lane(source, lane);
        result[lane] = lanes(m)
            .filter(|&other| T::lane(source, other) == mine)
            .fold(0, |equal, other| equal | 1 << other);
    }
    result
}

fn match_any<T: Value + PartialEq>(l: &mut Lanes, o: &Args, m: u32) {
    let result = equals::<T>(l, o.a, m);
    u32::store(l, o.d, &result, m);
}

fn match_all<T: Value + PartialEq>(l: &mut Lanes, o: &Args, m: u32) {
    let all = lanes(m).next().is_none_or(|first| equals::<T>(l, o.a, m)[first] == m);
    u32::store(l, o.d, &[if all { m } else { 0 }; 32], m);
    l.set_predicate(o.d2, if all { u32::MAX } else { 0 }, m);
}

fn active_mask(l: &mut Lanes, o: &Args, m: u32) {
    u32::store(l, o.d, &[m; 32], m);
}

fn elect(l: &mut Lanes, o: &Args, m: u32) {
    u32::store(l, o.d, &[m.trailing_zeros(); 32], m);
    l.set_predicate(o.d2, m & m.wrapping_neg(), m);
}

fn reduce(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Redux(operation, ty) = o.extra else { return };
    let signed = ty.kind() == Kind::Signed;
    let source = &l.rows[o.a as usize].0;
    let combine = |a: u32, b: u32| match (operation, signed) {
        (AtomicOp::And, _) => a & b,
        (AtomicOp::Or, _) => a | b,
        (AtomicOp::Xor, _) => a ^ b,
        (AtomicOp::Min, false) => a.min(b),
        (AtomicOp::Max, false) => a.max(b),
        (AtomicOp::Min, true) => (a as i32).min(b as i32) as u32,
        (AtomicOp::Max, true) => (a as i32).max(b as i32) as u32,
        _ => a.wrapping_add(b),
    };
    let total = lanes(m).map(|lane| source[lane]).reduce(combine).unwrap_or(0);
    u32::store(l, o.d, &[total; 32], m);
}

/// `redux` of `f32`: -0 is less than +0; the result is the canonical NaN where all values are NaN
/// or, with `.NaN`, one is. Source: PTX ISA 8.6, section "redux.sync".
fn reduce_float(l: &mut Lanes, o: &Args, m: u32) {
    let Extra::Flags3(maximum, absolute, propagate) = o.extra else { return };
    let source = &l.rows[o.a as usize].0;
    let sign = if absolute { u32::MAX >> 1 } else { u32::MAX };
    let values = || lanes(m).map(|lane| f32::from_bits(source[lane] & sign));
    let better = |a: f32, b: f32| if a.total_cmp(&b).is_lt() == maximum { b } else { a };
    let best = values().filter(|value| !value.is_nan()).reduce(better);
    let best = best.filter(|_| !propagate || !values().any(f32::is_nan));
    let total = best.map_or(0x7fff_ffff, f32::to_bits);
    u32::store(l, o.d, &[total; 32], m);
}

/// Decodes an instruction of this file.
pub(crate) fn decode(one: &mut One<'_, '_>) -> Decoded {
    let mut args = Args::default();
    let u32_type = ScalarType::U32;
    let modifiers = &one.instruction.modifiers;
    let run: Run = match one.instruction.opcode {
        Opcode::Activemask => {
            args.d = one.result(0, u32_type)?;
            return Ok((Action::Compute(active_mask), args));
        }
        Opcode::Shfl => shuffle_operands(one, &mut args)?,
        Opcode::Vote => vote(one, &mut args)?,
        Opcode::Match => matching(one, &mut args)?,
        Opcode::Elect => {
            (args.d, args.d2) = (one.result(0, u32_type)?, one.predicate_result(1)?);
            elect
        }
        _ => {
            let ty = one.ty(0)?;
            let operation = modifiers.atomic.ok_or_else(|| one.malformed("no operation"))?;
            (args.d, args.a) = (one.result(0, ty)?, one.value(0, ty)?);
            if ty == ScalarType::F32 {
                let (absolute, propagate) = (modifiers.has("abs"), modifiers.has("NaN"));
                args.extra = Extra::Flags3(operation == AtomicOp::Max, absolute, propagate);
                reduce_float
            } else {
                args.extra = Extra::Redux(operation, ty);
                reduce
            }
        }
    };
    if !modifiers.sync {
        return Ok((Action::Compute(run), args));
    }
    let last = one.instruction.sources.len() - 1;
    let members = one.value(last, u32_type)?;
    Ok((Action::Converge { run, members }, args))
}

fn shuffle_operands(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = one.ty(0)?;
    (args.d, args.d2) = (one.result(0, ty)?, one.predicate_result(1)?);
    args.a = one.value(0, ty)?;
    (args.b, args.c) = (one.value(1, ScalarType::U32)?, one.value(2, ScalarType::U32)?);
    let mode = one.instruction.modifiers.shuffle.ok_or_else(|| one.malformed("no mode"))?;
    args.extra = Extra::Shuffle(mode);
    Ok(shuffle)
}

fn vote(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    (args.a, args.invert) = one.predicate(0)?;
    let mode = one.instruction.modifiers.vote;
    args.d = if mode == Some(VoteMode::Ballot) {
        one.result(0, ScalarType::U32)?
    } else {
        one.predicate_result(0)?
    };
    match mode {
        Some(VoteMode::All) => Ok(vote_all),
        Some(VoteMode::Any) => Ok(vote_any),
        Some(VoteMode::Uni) => Ok(vote_uniform),
        Some(VoteMode::Ballot) => Ok(vote_ballot),
        None => Err(one.malformed("no mode")),
    }
}

fn matching(one: &mut One<'_, '_>, args: &mut Args) -> Result<Run, Problem> {
    let ty = one.ty(0)?;
    args.a = one.value(0, ty)?;
    (args.d, args.d2) = (one.result(0, ScalarType::U32)?, one.predicate_result(1)?);
    let all = one.instruction.modifiers.vote == Some(VoteMode::All);
    Ok(match (all, ty.bits()) {
        (true, 64) => match_all::<u64>,
        (true, _) => match_all::<u32>,
        (false, 64) => match_any::<u64>,
        (false, _) => match_any::<u32>,
    })
}
