//! Base opcodes and modifiers.

use crate::module::space::StateSpace;

macro_rules! opcodes {
    ($($variant:ident $name:literal),* $(,)?) => {
        /// The word an instruction begins with.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "a variant's meaning is its PTX mnemonic")]
        pub enum Opcode { $($variant),* }

        impl Opcode {
            /// Every opcode that parses.
            pub const ALL: &'static [Opcode] = &[$(Self::$variant),*];

            /// The mnemonic.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The opcode with this mnemonic.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

opcodes! {
    Abs "abs", Activemask "activemask", Add "add", Addc "addc", And "and",
    Applypriority "applypriority", Atom "atom", Bar "bar", Barrier "barrier", Bfe "bfe", Bfi "bfi",
    Bfind "bfind", Bmsk "bmsk", Bra "bra", Brev "brev", Brkpt "brkpt", Brx "brx", Call "call",
    Clz "clz", Cnot "cnot", Copysign "copysign", Cos "cos", CpAsync "cp",
    Createpolicy "createpolicy", Cvt "cvt", Cvta "cvta", Discard "discard", Div "div", Dp2a "dp2a",
    Dp4a "dp4a", Elect "elect", Ex2 "ex2", Exit "exit", Fence "fence", Fma "fma", Fns "fns",
    Getctarank "getctarank", Griddepcontrol "griddepcontrol", Isspacep "isspacep",
    Istypep "istypep", Ld "ld",
    Ldmatrix "ldmatrix", Ldu "ldu", Lg2 "lg2", Lop3 "lop3", Mad "mad", Mad24 "mad24", Madc "madc",
    Mapa "mapa", Match "match", Max "max", Mbarrier "mbarrier", Membar "membar", Min "min",
    Mma "mma", Mov "mov",
    Movmatrix "movmatrix", Mul "mul", Mul24 "mul24", Nanosleep "nanosleep", Neg "neg", Not "not",
    Or "or", Pmevent "pmevent", Popc "popc", Prefetch "prefetch", Prefetchu "prefetchu",
    Prmt "prmt", Rcp "rcp", Red "red", Redux "redux", Rem "rem", Ret "ret", Rsqrt "rsqrt",
    Sad "sad", Selp "selp", Set "set", Setmaxnreg "setmaxnreg", Setp "setp", Shf "shf", Shfl "shfl",
    Shl "shl", Shr "shr", Sin "sin", Slct "slct", Sqrt "sqrt", St "st", Stmatrix "stmatrix",
    Sub "sub", Subc "subc", Suld "suld", Suq "suq", Sured "sured", Sust "sust", Szext "szext",
    Tanh "tanh", Testp "testp", Tex "tex", Tld4 "tld4", Trap "trap", Txq "txq", Vabsdiff "vabsdiff",
    Vabsdiff2 "vabsdiff2", Vabsdiff4 "vabsdiff4", Vadd "vadd", Vadd2 "vadd2", Vadd4 "vadd4",
    Vavrg2 "vavrg2", Vavrg4 "vavrg4", Vmad "vmad", Vmax "vmax", Vmax2 "vmax2", Vmax4 "vmax4",
    Vmin "vmin", Vmin2 "vmin2", Vmin4 "vmin4", Vote "vote", Vset "vset", Vset2 "vset2",
    Vset4 "vset4", Vshl "vshl", Vshr "vshr", Vsub "vsub", Vsub2 "vsub2", Vsub4 "vsub4", Wmma "wmma",
    Xor "xor",
}

/// How a result that does not fit is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    NearestEven,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rni`: to an integer, nearest even.
    IntegerNearest,
    /// `.rzi`: to an integer, towards zero.
    IntegerZero,
    /// `.rmi`: to an integer, towards minus infinity.
    IntegerDown,
    /// `.rpi`: to an integer, towards plus infinity.
    IntegerUp,
}

/// Comparison of `set`, `setp` and friends. `Lo`, `Ls`, `Hi`, `Hs` are the unsigned spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// How `set` and `setp` combine the comparison with a third source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum BooleanOp {
    And,
    Or,
    Xor,
}

/// Which half of a product is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// `.lo`.
    Low,
    /// `.hi`.
    High,
    /// `.wide`: all of it.
    Wide,
}

/// What an atomic does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum AtomicOp {
    And,
    Or,
    Xor,
    Cas,
    Exch,
    Add,
    Inc,
    Dec,
    Min,
    Max,
}

/// Which lane `shfl` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// What `vote` and `match` compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// What a CTA barrier does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// `.sync`: arrive and wait.
    Sync,
    /// `.arrive`: arrive only.
    Arrive,
    /// `.red.popc`.
    RedPopc,
    /// `.red.and`.
    RedAnd,
    /// `.red.or`.
    RedOr,
}

/// Direction of `shf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum Direction {
    Left,
    Right,
}

/// What happens to shift amounts and bit positions beyond the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum Bounds {
    Wrap,
    Clamp,
}

/// Selection mode of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum PermuteMode {
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// What `testp` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum TestProperty {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// Scope of a memory operation. The executor runs CTAs one after another, so scopes never matter to
/// results; they are kept for the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Ordering of a memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's meaning is its PTX spelling")]
pub enum MemoryOrder {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    Sc,
    Mmio,
}

/// Everything between the opcode and the types. A field is `None` or false where nothing was
/// written.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word that is written or not")]
pub struct Modifiers {
    /// Rounding of the result.
    pub rounding: Option<Rounding>,
    /// `.ftz`: subnormal single-precision inputs and results become zero of the same sign.
    pub ftz: bool,
    /// `.sat`: clamp to `[0, 1]` (floats) or to the type's range (integers).
    pub sat: bool,
    /// `.relu`.
    pub relu: bool,
    /// `.approx`.
    pub approx: bool,
    /// `.full` of `div`.
    pub full: bool,
    /// `.NaN` of `min` and `max`: a NaN input gives a NaN.
    pub propagate_nan: bool,
    /// `.xorsign` with `.abs` of `min` and `max`.
    pub xorsign_abs: bool,
    /// `.cc`: write the carry.
    pub carry_out: bool,
    /// `.lo`, `.hi`, `.wide`.
    pub half: Option<Half>,
    /// Comparison.
    pub comparison: Option<Comparison>,
    /// Combination with a third source.
    pub boolean: Option<BooleanOp>,
    /// State space of a memory operation, or of `cvta` and `isspacep`; `None` is generic.
    pub space: Option<StateSpace>,
    /// `::entry`, `::func`, `::cta`, `::cluster` written after the space.
    pub subspace: Option<String>,
    /// `.to` of `cvta`: from generic to the space.
    pub to: bool,
    /// `.v2`, `.v4`, `.v8` of memory operations: components; 0 when not written.
    pub vector: u8,
    /// Ordering.
    pub order: Option<MemoryOrder>,
    /// Scope.
    pub scope: Option<Scope>,
    /// `.nc`: through the read-only path.
    pub non_coherent: bool,
    /// `.noftz` of half-precision atomics.
    pub noftz: bool,
    /// Operation of `atom`, `red`, `redux`.
    pub atomic: Option<AtomicOp>,
    /// Mode of `shfl`.
    pub shuffle: Option<ShuffleMode>,
    /// Mode of `vote` and `match`.
    pub vote: Option<VoteMode>,
    /// `.sync` of `shfl`, `vote`, `match`, `mma`: a member mask operand is present.
    pub sync: bool,
    /// Operation of `bar` and `barrier`; `None` on others.
    pub barrier: Option<BarrierOp>,
    /// `.warp` of `bar.warp.sync`: threads of a warp, no CTA barrier.
    pub warp: bool,
    /// `.uni`: no divergence.
    pub uniform: bool,
    /// Direction of `shf`.
    pub direction: Option<Direction>,
    /// `.wrap`, `.clamp`.
    pub bounds: Option<Bounds>,
    /// Mode of `prmt`; `None` is the general form.
    pub permute: Option<PermuteMode>,
    /// Property of `testp`.
    pub test: Option<TestProperty>,
    /// `.shiftamt` of `bfind`.
    pub shift_amount: bool,
    /// Words of few opcodes or without meaning to the model, in order: cache hints, geometry,
    /// matrix shapes and the like, without their dots.
    pub other: Vec<String>,
}

impl Modifiers {
    /// Whether a word that has no field of its own was written.
    pub fn has(&self, word: &str) -> bool {
        self.other.iter().any(|other| other == word)
    }
}
