//! Modifier words: what each means to an opcode, in both directions.
//!
//! One table, [`meaning`], drives both reading (a word sets a field of [`Modifiers`]) and printing
//! (a field that is set calls for its word), so that the two cannot drift apart.

use crate::module::StateSpace;
use crate::opcode::{
    AtomicOp, BarrierOp, BooleanOp, Bounds, Comparison, Direction, Half, MemoryOrder, Modifiers,
    Opcode, PermuteMode, Rounding, Scope, ShuffleMode, TestProperty, VoteMode,
};

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Rounding(Rounding),
    Ftz,
    Sat,
    Relu,
    Approx,
    Full,
    PropagateNan,
    XorsignAbs,
    CarryOut,
    Half(Half),
    Comparison(Comparison),
    Boolean(BooleanOp),
    Space(StateSpace, Option<&'static str>),
    To,
    Vector(u8),
    Order(MemoryOrder),
    Scope(Scope),
    NonCoherent,
    Noftz,
    Atomic(AtomicOp),
    Shuffle(ShuffleMode),
    Vote(VoteMode),
    Sync,
    Barrier(BarrierOp),
    Warp,
    Uniform,
    Direction(Direction),
    Bounds(Bounds),
    Permute(PermuteMode),
    Test(TestProperty),
    ShiftAmount,
    Other,
}

/// What `word` (without its dot) means to `opcode`. Words of two parts are joined by a dot.
pub(crate) fn meaning(opcode: Opcode, word: &str) -> Meaning {
    use Opcode as O;
    let specific = match opcode {
        O::Set | O::Setp | O::Vset | O::Vset2 | O::Vset4 => {
            comparison(word).or_else(|| boolean(word))
        }
        O::Atom | O::Red | O::Redux => atomic(word),
        O::Shfl => shuffle(word),
        O::Vote | O::Match => vote(word),
        O::Bar | O::Barrier => barrier(word),
        O::Prmt => permute(word),
        O::Testp => test(word),
        O::Shf => direction(word).or_else(|| bounds(word)),
        O::Bmsk | O::Szext | O::Vshl | O::Vshr => bounds(word),
        O::Min | O::Max if word == "NaN" => Some(Meaning::PropagateNan),
        O::Membar if word == "gl" => Some(Meaning::Scope(Scope::Gpu)),
        // Its second space is always global, and the first is where it writes.
        O::CpAsync if word == "global" => Some(Meaning::Other),
        // It says nothing of lanes that wait for each other.
        O::Setmaxnreg => Some(Meaning::Other),
        // Their operations and bounds belong to units that the model lacks.
        O::Sured | O::Suld | O::Sust | O::Wmma | O::Mma if word != "sync" => surface(word),
        _ => None,
    };
    specific.unwrap_or_else(|| common(word))
}

/// Words of units without meaning to the model, except the few that say how data is laid out.
fn surface(word: &str) -> Option<Meaning> {
    match word {
        "v2" | "v4" => None,
        _ if space(word).is_some() => None,
        _ => Some(Meaning::Other),
    }
}

fn common(word: &str) -> Meaning {
    use Meaning as M;
    if let Some(meaning) = rounding(word).or_else(|| space(word)).or_else(|| memory(word)) {
        return meaning;
    }
    match word {
        "ftz" => M::Ftz,
        "sat" => M::Sat,
        "relu" => M::Relu,
        "approx" => M::Approx,
        "full" => M::Full,
        "xorsign.abs" => M::XorsignAbs,
        "cc" => M::CarryOut,
        "lo" => M::Half(Half::Low),
        "hi" => M::Half(Half::High),
        "wide" => M::Half(Half::Wide),
        "to" => M::To,
        "v2" => M::Vector(2),
        "v4" => M::Vector(4),
        "v8" => M::Vector(8),
        "nc" => M::NonCoherent,
        "noftz" => M::Noftz,
        "sync" => M::Sync,
        "uni" => M::Uniform,
        "shiftamt" => M::ShiftAmount,
        _ => M::Other,
    }
}

fn rounding(word: &str) -> Option<Meaning> {
    let rounding = match word {
        "rn" => Rounding::NearestEven,
        "rna" => Rounding::NearestAway,
        "rz" => Rounding::Zero,
        "rm" => Rounding::Down,
        "rp" => Rounding::Up,
        "rni" => Rounding::IntegerNearest,
        "rzi" => Rounding::IntegerZero,
        "rmi" => Rounding::IntegerDown,
        "rpi" => Rounding::IntegerUp,
        _ => return None,
    };
    Some(Meaning::Rounding(rounding))
}

fn space(word: &str) -> Option<Meaning> {
    let (space, sub) = match word {
        "const" => (StateSpace::Const, None),
        "global" => (StateSpace::Global, None),
        "local" => (StateSpace::Local, None),
        "param" => (StateSpace::Param, None),
        "param::entry" => (StateSpace::Param, Some("entry")),
        "param::func" => (StateSpace::Param, Some("func")),
        "shared" => (StateSpace::Shared, None),
        "shared::cta" => (StateSpace::Shared, Some("cta")),
        "shared::cluster" => (StateSpace::Shared, Some("cluster")),
        _ => return None,
    };
    Some(Meaning::Space(space, sub))
}

fn memory(word: &str) -> Option<Meaning> {
    let order = match word {
        "weak" => MemoryOrder::Weak,
        "volatile" => MemoryOrder::Volatile,
        "relaxed" => MemoryOrder::Relaxed,
        "acquire" => MemoryOrder::Acquire,
        "release" => MemoryOrder::Release,
        "acq_rel" => MemoryOrder::AcqRel,
        "sc" => MemoryOrder::Sc,
        "mmio.relaxed" => MemoryOrder::Mmio,
        _ => return scope(word),
    };
    Some(Meaning::Order(order))
}

fn scope(word: &str) -> Option<Meaning> {
    let scope = match word {
        "cta" => Scope::Cta,
        "cluster" => Scope::Cluster,
        "gpu" => Scope::Gpu,
        "sys" => Scope::Sys,
        _ => return None,
    };
    Some(Meaning::Scope(scope))
}

fn comparison(word: &str) -> Option<Meaning> {
    let comparison = match word {
        "eq" => Comparison::Eq,
        "ne" => Comparison::Ne,
        "lt" => Comparison::Lt,
        "le" => Comparison::Le,
        "gt" => Comparison::Gt,
        "ge" => Comparison::Ge,
        "lo" => Comparison::Lo,
        "ls" => Comparison::Ls,
        "hi" => Comparison::Hi,
        "hs" => Comparison::Hs,
        "equ" => Comparison::Equ,
        "neu" => Comparison::Neu,
        "ltu" => Comparison::Ltu,
        "leu" => Comparison::Leu,
        "gtu" => Comparison::Gtu,
        "geu" => Comparison::Geu,
        "num" => Comparison::Num,
        "nan" => Comparison::Nan,
        _ => return None,
    };
    Some(Meaning::Comparison(comparison))
}

fn boolean(word: &str) -> Option<Meaning> {
    let boolean = match word {
        "and" => BooleanOp::And,
        "or" => BooleanOp::Or,
        "xor" => BooleanOp::Xor,
        _ => return None,
    };
    Some(Meaning::Boolean(boolean))
}

fn atomic(word: &str) -> Option<Meaning> {
    let atomic = match word {
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "cas" => AtomicOp::Cas,
        "exch" => AtomicOp::Exch,
        "add" => AtomicOp::Add,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        _ => return None,
    };
    Some(Meaning::Atomic(atomic))
}

fn shuffle(word: &str) -> Option<Meaning> {
    let mode = match word {
        "up" => ShuffleMode::Up,
        "down" => ShuffleMode::Down,
        "bfly" => ShuffleMode::Bfly,
        "idx" => ShuffleMode::Idx,
        _ => return None,
    };
    Some(Meaning::Shuffle(mode))
}

fn vote(word: &str) -> Option<Meaning> {
    let mode = match word {
        "all" => VoteMode::All,
        "any" => VoteMode::Any,
        "uni" => VoteMode::Uni,
        "ballot" => VoteMode::Ballot,
        _ => return None,
    };
    Some(Meaning::Vote(mode))
}

fn barrier(word: &str) -> Option<Meaning> {
    let operation = match word {
        "sync" => BarrierOp::Sync,
        "arrive" => BarrierOp::Arrive,
        "red.popc" => BarrierOp::RedPopc,
        "red.and" => BarrierOp::RedAnd,
        "red.or" => BarrierOp::RedOr,
        "warp.sync" => return Some(Meaning::Warp),
        "cta" | "cluster" => return Some(Meaning::Other),
        _ => return None,
    };
    Some(Meaning::Barrier(operation))
}

fn direction(word: &str) -> Option<Meaning> {
    match word {
        "l" => Some(Meaning::Direction(Direction::Left)),
        "r" => Some(Meaning::Direction(Direction::Right)),
        _ => None,
    }
}

fn bounds(word: &str) -> Option<Meaning> {
    match word {
        "wrap" => Some(Meaning::Bounds(Bounds::Wrap)),
        "clamp" => Some(Meaning::Bounds(Bounds::Clamp)),
        _ => None,
    }
}

fn permute(word: &str) -> Option<Meaning> {
    let mode = match word {
        "f4e" => PermuteMode::F4e,
        "b4e" => PermuteMode::B4e,
        "rc8" => PermuteMode::Rc8,
        "ecl" => PermuteMode::Ecl,
        "ecr" => PermuteMode::Ecr,
        "rc16" => PermuteMode::Rc16,
        _ => return None,
    };
    Some(Meaning::Permute(mode))
}

fn test(word: &str) -> Option<Meaning> {
    let property = match word {
        "finite" => TestProperty::Finite,
        "infinite" => TestProperty::Infinite,
        "number" => TestProperty::Number,
        "notanumber" => TestProperty::NotANumber,
        "normal" => TestProperty::Normal,
        "subnormal" => TestProperty::Subnormal,
        _ => return None,
    };
    Some(Meaning::Test(property))
}

/// Records a word.
pub(crate) fn apply(modifiers: &mut Modifiers, opcode: Opcode, word: &str) {
    use Meaning as M;
    let m = modifiers;
    match meaning(opcode, word) {
        M::Rounding(value) => m.rounding = Some(value),
        M::Ftz => m.ftz = true,
        M::Sat => m.sat = true,
        M::Relu => m.relu = true,
        M::Approx => m.approx = true,
        M::Full => m.full = true,
        M::PropagateNan => m.propagate_nan = true,
        M::XorsignAbs => m.xorsign_abs = true,
        M::CarryOut => m.carry_out = true,
        M::Half(value) => m.half = Some(value),
        M::Comparison(value) => m.comparison = Some(value),
        M::Boolean(value) => m.boolean = Some(value),
        M::Space(space, sub) => {
            m.space = Some(space);
            m.subspace = sub.map(str::to_owned);
        }
        M::To => m.to = true,
        M::Vector(value) => m.vector = value,
        M::Order(value) => m.order = Some(value),
        M::Scope(value) => m.scope = Some(value),
        M::NonCoherent => m.non_coherent = true,
        M::Noftz => m.noftz = true,
        M::Atomic(value) => m.atomic = Some(value),
        M::Shuffle(value) => m.shuffle = Some(value),
        M::Vote(value) => m.vote = Some(value),
        M::Sync => m.sync = true,
        M::Barrier(value) => m.barrier = Some(value),
        M::Warp => {
            m.warp = true;
            m.sync = true;
        }
        M::Uniform => m.uniform = true,
        M::Direction(value) => m.direction = Some(value),
        M::Bounds(value) => m.bounds = Some(value),
        M::Permute(value) => m.permute = Some(value),
        M::Test(value) => m.test = Some(value),
        M::ShiftAmount => m.shift_amount = true,
        M::Other => m.other.push(word.to_owned()),
    }
}

/// Whether `modifiers` call for a word; of `other` words, whether one stands at `next_other`.
pub(crate) fn holds(modifiers: &Modifiers, opcode: Opcode, word: &str, next_other: usize) -> bool {
    use Meaning as M;
    let m = modifiers;
    match meaning(opcode, word) {
        M::Rounding(value) => m.rounding == Some(value),
        M::Ftz => m.ftz,
        M::Sat => m.sat,
        M::Relu => m.relu,
        M::Approx => m.approx,
        M::Full => m.full,
        M::PropagateNan => m.propagate_nan,
        M::XorsignAbs => m.xorsign_abs,
        M::CarryOut => m.carry_out,
        M::Half(value) => m.half == Some(value),
        M::Comparison(value) => m.comparison == Some(value),
        M::Boolean(value) => m.boolean == Some(value),
        M::Space(space, sub) => m.space == Some(space) && m.subspace.as_deref() == sub,
        M::To => m.to,
        M::Vector(value) => m.vector == value,
        M::Order(value) => m.order == Some(value),
        M::Scope(value) => m.scope == Some(value),
        M::NonCoherent => m.non_coherent,
        M::Noftz => m.noftz,
        M::Atomic(value) => m.atomic == Some(value),
        M::Shuffle(value) => m.shuffle == Some(value),
        M::Vote(value) => m.vote == Some(value),
        M::Sync => m.sync && !m.warp,
        M::Barrier(value) => m.barrier == Some(value),
        M::Warp => m.warp,
        M::Uniform => m.uniform,
        M::Direction(value) => m.direction == Some(value),
        M::Bounds(value) => m.bounds == Some(value),
        M::Permute(value) => m.permute == Some(value),
        M::Test(value) => m.test == Some(value),
        M::ShiftAmount => m.shift_amount,
        M::Other => m.other.get(next_other).is_some_and(|other| other == word),
    }
}
