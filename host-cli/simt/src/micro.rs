//! Micro-operations: a kernel decoded once, with every operand a row or predicate number.
//!
//! Modes are resolved when decoding: an operation is a function pointer that was monomorphised for
//! its type and usual mode, so that executing it is one indirect call and a loop over 32 lanes.

use strata_core::sm::memory::cached::LineUse;
use strata_ptx::module::Axis;
use strata_ptx::opcode::{AtomicOp, BarrierOp, ShuffleMode};
use strata_ptx::types::ScalarType;

use crate::arith::Mode;
use crate::arith::convert::{Conversion, Eighth};
use crate::arith::float::MinMax;
use crate::arith::simd::Simd;
use crate::arith::video::{Finish, Source, VideoOp, VmadMode};
use crate::mbarrier::Operation;
use crate::row::Lanes;
use crate::texture::{Dimensions, ObjectKind};

/// Executes an operation that touches nothing but registers, in the lanes of a mask (never empty).
pub(crate) type Run = fn(&mut Lanes, &Args, u32);

/// Operands of an operation. Numbers are rows or, where the operation says so, predicates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    /// Destination.
    pub(crate) d: u32,
    /// Second destination (`p|q`, `d|p`).
    pub(crate) d2: u32,
    /// First source.
    pub(crate) a: u32,
    /// Second source.
    pub(crate) b: u32,
    /// Third source.
    pub(crate) c: u32,
    /// Fourth source.
    pub(crate) e: u32,
    /// Exclusive-or'ed with a predicate source: all ones where it is negated.
    pub(crate) invert: u32,
    /// Exclusive-or'ed with a comparison's result.
    pub(crate) flip: u32,
    /// What else the operation needs.
    pub(crate) extra: Extra,
}

/// An integer of less than a byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    /// Unit: bits.
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

/// Parts of an operation that are not operands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Extra {
    /// Nothing.
    #[default]
    None,
    /// A floating-point mode.
    Mode(Mode),
    /// A mode of `min` and `max`.
    MinMax(MinMax),
    /// `min` and `max` of three sources, perhaps of their magnitudes.
    Three { minimal: bool, absolute: bool, mode: MinMax },
    /// `.ftz`, or any other single choice.
    Flag(bool),
    /// Two choices.
    Flags(bool, bool),
    /// Three choices.
    Flags3(bool, bool, bool),
    /// A conversion, and the width of the destination register. Unit: 32-bit registers; 0 is a
    /// 16-bit one.
    Conversion(Conversion),
    /// A conversion from or to floats of 8 bits, and `.relu`.
    Eighths(Eighth, bool),
    /// A conversion to integers of less than a byte.
    Narrow(Narrow),
    /// A scalar video operation.
    Video(Video),
    /// A SIMD video operation.
    Simd(Simd),
    /// Immediate byte (`lop3`).
    Byte(u8),
    /// `set` and `setp`: how to combine with a third source.
    Boolean(strata_ptx::opcode::BooleanOp),
    /// `testp`.
    Test(strata_ptx::opcode::TestProperty),
    /// `prmt`.
    Permute(Option<strata_ptx::opcode::PermuteMode>),
    /// `bmsk`, `szext`: bounds and signedness.
    Bounds(strata_ptx::opcode::Bounds, bool),
    /// `redux`.
    Redux(AtomicOp, ScalarType),
    /// `shfl`.
    Shuffle(ShuffleMode),
}

/// A video instruction without its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Video {
    pub(crate) a: Source,
    pub(crate) b: Source,
    pub(crate) kind: VideoKind,
}

/// What a video instruction does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VideoKind {
    /// Two stages.
    Two(VideoOp, Finish),
    /// `vmad`.
    Multiply(VmadMode),
}

/// What an instruction does beyond its registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Computes on registers.
    Compute(Run),
    /// Computes on registers across lanes, once every lane of the member mask is there. The member
    /// mask is the row `members`; lanes with the same one execute together.
    Converge { run: Run, members: u32 },
    /// A matrix instruction, once all lanes of the warp are there: an index into
    /// [`crate::Executable::matrices`]. All ones are in the row `members`.
    Matrix { index: u32, members: u32 },
    /// Nothing: fences, prefetches, hints.
    Nothing,
    /// Loads, stores or applies an atomic: an index into [`crate::Executable::accesses`].
    Memory(Direction, u32),
    /// Textures and surfaces: an index into [`crate::Executable::textures`].
    Texture(u32),
    /// Copies the components of vectors: an index into [`crate::Executable::vectors`].
    MoveVector(u32),
    /// Copies to shared memory: an index into [`crate::Executable::copies`].
    Copy(u32),
    /// An operation on an mbarrier object: an index into [`crate::Executable::mbarriers`].
    Mbarrier(u32),
    /// A branch of the lanes of the effective mask.
    Branch { target: u32, reconvergence: u32 },
    /// `brx.idx`: a table and the row of the index.
    BranchTable { table: u32, index: u32, reconvergence: u32 },
    /// Ends the lanes.
    Exit,
    /// `trap`.
    Trap,
    /// A CTA barrier: an index into [`crate::Executable::barriers`].
    Barrier(u32),
    /// Reads a clock into the row `d`; the operands say which.
    Clock(Clock),
    /// `vprintf`: an index into [`crate::Executable::calls`].
    Print(u32),
    /// `__assertfail`.
    Assert(u32),
    /// `malloc`: an index into [`crate::Executable::calls`], as of the next.
    Allocate(u32),
    /// `free`.
    Free(u32),
    /// A call through a register that met no function: the row of the address.
    CallNowhere { address: u32, wide: bool },
}

impl Action {
    /// The row of the member mask of an operation that waits for one.
    pub(crate) const fn members(self) -> Option<u32> {
        match self {
            Self::Converge { members, .. } | Self::Matrix { members, .. } => Some(members),
            _ => None,
        }
    }

    /// Executes only once lanes elsewhere have arrived.
    pub(crate) const fn waits(self) -> bool {
        self.members().is_some() || matches!(self, Self::Barrier(_))
    }
}

/// What an access does with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Load,
    Store,
    /// `flush`: f32 additions flush subnormals, as PTX has them do in global memory.
    Atomic {
        flush: bool,
    },
}

/// Which clock is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// 32 bits.
    Low,
    /// The upper 32 bits.
    High,
    /// 64 bits.
    Wide,
}

/// One instruction, decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MicroOp {
    pub(crate) action: Action,
    /// Predicate of the guard; the always-true one when there is none.
    pub(crate) guard: u32,
    /// All ones for `@!%p`.
    pub(crate) guard_flip: u32,
    pub(crate) args: Args,
}

/// End of the program as a reconvergence point: no instruction has this number.
pub(crate) const NO_RECONVERGENCE: u32 = u32::MAX;

/// Where an address comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AddressSource {
    /// A 64-bit register plus an offset.
    Wide { row: u32, offset: i64 },
    /// A 32-bit register plus an offset; wraps at 32 bits.
    Narrow { row: u32, offset: i64 },
    /// An address that is the same for all lanes and launches.
    Fixed(u64),
    /// A spill slot, likewise: the kernel's own accesses do not reach it.
    Slot(u64),
    /// A variable of the module: a number and an offset.
    Variable { variable: u32, offset: i64 },
}

/// Where an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Resolved by the address windows.
    Generic,
    /// Global and constant memory.
    Global,
    /// Shared memory, addressed from 0.
    Shared,
    /// Local memory, addressed from 0.
    Local,
    /// The kernel's parameters, addressed through their window; other addresses are those of
    /// inlined functions' parameters, in local memory.
    Parameter,
}

impl Space {
    /// Its name in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Parameter => "parameter",
        }
    }
}

/// Most components of a vector access.
pub(crate) const MAX_COMPONENTS: usize = 8;

/// One register operand of a load or store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Component {
    /// First row.
    pub(crate) row: u32,
    /// Rows of the register that a load fills: the value's own and, when the register is wider,
    /// its extension.
    pub(crate) rows: u8,
    /// A 16-bit register: what is stored keeps 16 bits.
    pub(crate) half: bool,
    /// `_` in a store: its part of memory keeps its contents.
    pub(crate) skipped: bool,
}

/// A load, store or atomic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) address: AddressSource,
    /// Size of one component. Unit: bytes.
    pub(crate) size: u32,
    /// Components: 1, 2, 4 or 8.
    pub(crate) count: u32,
    /// Sign-extend narrow components when loading.
    pub(crate) signed: bool,
    pub(crate) components: [Component; MAX_COMPONENTS],
    /// What it does with the lines of memory that it touches.
    pub(crate) line_use: LineUse,
    /// Of atomics.
    pub(crate) atomic: Option<Atomic>,
}

/// `cp.async`: what is read of global memory, and where in shared memory it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) from: Access,
    pub(crate) to: Access,
    /// Row of the number of bytes that are read; zeros follow them.
    pub(crate) source_size: Option<u32>,
    /// The predicate where nothing is read, and its inversion.
    pub(crate) ignored: Option<(u32, u32)>,
}

/// An operation on an mbarrier object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) operation: Operation,
    /// Where the object is.
    pub(crate) access: Access,
    /// First row of the count, state or parity.
    pub(crate) operand: u32,
    /// First row of the state, or the predicate of a test.
    pub(crate) result: Option<u32>,
}

/// `mov` between vectors: first rows of the components that are written, and of those read.
#[derive(Clone, Debug)]
pub(crate) struct VectorMove {
    pub(crate) wide: bool,
    pub(crate) components: Vec<(u32, u32)>,
}

/// The operation of an atomic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) operation: AtomicOp,
    pub(crate) ty: ScalarType,
    /// First row of each component of the operand.
    pub(crate) b: [u32; MAX_COMPONENTS],
    /// First row of the second operand of `cas`.
    pub(crate) c: u32,
    /// First row of each component of the result.
    pub(crate) d: Option<[u32; MAX_COMPONENTS]>,
}

/// A texture or surface instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureAccess {
    /// Where the handle, or the address of the reference, comes from.
    pub(crate) object: AddressSource,
    /// Where the handle of a sampler, or the address of its reference, comes from, if one is named.
    pub(crate) sampler: Option<AddressSource>,
    /// Dimensions that it names.
    pub(crate) dimensions: Dimensions,
    /// Rows of x, y and z; of zero beyond the dimensions.
    pub(crate) coordinates: [u32; 3],
    /// Row of the layer; of zero without layers.
    pub(crate) layer: u32,
    pub(crate) operation: TextureOperation,
    /// What is read into, or stored from.
    pub(crate) components: [Component; 4],
    /// Components of it. Range: `1..=4`.
    pub(crate) count: u32,
}

/// What a texture or surface instruction does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextureOperation {
    /// `tex`: whether coordinates are places (floats) or indices.
    Fetch { ty: ScalarType, places: bool },
    /// `tld4` of one channel.
    Gather { ty: ScalarType, channel: usize },
    /// `txq` or `suq`.
    Query(ImageQuery, ObjectKind),
    /// `istypep`, with its predicate.
    IsKind(ObjectKind, u32),
    /// `suld`, `sust` or `sured`.
    Surface(SurfaceOperation, SurfaceBounds),
}

/// What `txq` and `suq` ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageQuery {
    Width,
    Height,
    Depth,
    ArraySize,
    NormalizedCoordinates,
}

/// What happens outside of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceBounds {
    /// A fault.
    Trap,
    /// The nearest place inside is accessed.
    Clamp,
    /// Loads give zero, others do nothing.
    Zero,
}

/// What is done to the bytes of a surface. Sizes are those of one component, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceOperation {
    Load { bytes: u32 },
    Store { bytes: u32 },
    Reduce { operation: AtomicOp, ty: ScalarType },
}

impl SurfaceOperation {
    /// Bytes that one lane accesses.
    pub(crate) const fn bytes(self, components: u32) -> u32 {
        match self {
            Self::Load { bytes } | Self::Store { bytes } => bytes * components,
            Self::Reduce { ty, .. } => ty.bytes(),
        }
    }
}

/// A CTA barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) operation: BarrierOp,
    /// The barrier of the cluster, which has no number.
    pub(crate) of_cluster: bool,
    /// Row of the barrier number.
    pub(crate) id: u32,
    /// Row of the thread count, when given.
    pub(crate) count: Option<u32>,
    /// Predicate source and its inversion, of reductions.
    pub(crate) predicate: u32,
    pub(crate) invert: u32,
    /// Row (`popc`) or predicate (`and`, `or`) of the result.
    pub(crate) result: u32,
}

/// One argument or result of a call that the executor carries out itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// In the thread's frame: offset in bytes and size.
    Frame(u64, u32),
    /// In a register or constant: first row and size in bytes.
    Row(u32, u32),
}

/// A call of a function that the executor carries out itself.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<Slot>,
    pub(crate) result: Option<Slot>,
}

/// Component of a three-dimensional value.
pub(crate) fn axis(values: [u32; 3], axis: Axis) -> u32 {
    match axis {
        Axis::X => values[0],
        Axis::Y => values[1],
        Axis::Z => values[2],
    }
}
