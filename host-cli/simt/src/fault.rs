//! Faults: everything that can stop a launch, said in full.

use strata_ptx::cuda::CudaPlace;
use strata_ptx::diagnostic::{Diagnostic, counted};

use crate::device::{DeviceError, Neighbour};
use crate::texture::TextureProblem;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// CTA index within the grid.
    pub ctaid: [u32; 3],
    /// Thread index within the CTA.
    pub tid: [u32; 3],
}

impl std::fmt::Display for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([cx, cy, cz], [tx, ty, tz]) = (self.ctaid, self.tid);
        write!(f, "CTA ({cx}, {cy}, {cz}), thread ({tx}, {ty}, {tz})")
    }
}

/// Where in the program and in the grid a fault happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Kernel name.
    pub kernel: String,
    /// Line of the PTX file, from 1.
    pub line: u32,
    /// Place in CUDA, where the PTX says so.
    pub cuda: Option<CudaPlace>,
    /// Instruction index within the program.
    pub pc: u32,
    /// The thread; the lowest of those concerned.
    pub thread: Thread,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "kernel `{}`, PTX line {}", self.kernel, self.line)?;
        if let Some(cuda) = &self.cuda {
            write!(f, " ({cuda})")?;
        }
        write!(f, ", {}", self.thread)
    }
}

/// What an access wanted to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic.
    Atomic,
}

impl std::fmt::Display for AccessKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic access",
        })
    }
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessProblem {
    /// Outside of every buffer, or across the end of one.
    OutOfBounds,
    /// The address is not a multiple of the access size.
    Misaligned,
    /// A write to constant memory or to the parameters.
    ReadOnly,
}

/// One thread's access that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFault {
    /// Where.
    pub place: Place,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// What is wrong.
    pub problem: AccessProblem,
    /// State space that the address was looked up in, such as `global`.
    pub space: &'static str,
    /// The address within that space.
    pub address: u64,
    /// Unit: bytes.
    pub size: u32,
    /// The nearest buffer (global memory), or the extent of the space (shared, local, parameters).
    pub nearest: Option<Neighbour>,
}

/// Addresses below this are a null pointer with an offset: no buffer lies there. Unit: bytes.
const NULL_PAGE: u64 = 4096;

impl AccessFault {
    /// Whether the address is that of a null pointer or little more.
    pub fn is_null(&self) -> bool {
        matches!(self.space, "global" | "generic") && self.address < NULL_PAGE
    }
}

impl std::fmt::Display for AccessFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, size, space, address, .. } = self;
        let bytes = counted(size, "byte");
        match self.problem {
            AccessProblem::OutOfBounds => {
                write!(f, "out-of-bounds {kind} of {bytes} at {space} address {address:#x}")?;
            }
            AccessProblem::Misaligned => write!(
                f,
                "misaligned {kind} of {bytes} at {space} address {address:#x}: it must be a \
                 multiple of {size}"
            )?,
            AccessProblem::ReadOnly => {
                write!(f, "{kind} of {bytes} to read-only {space} address {address:#x}")?;
            }
        }
        write!(f, " ({})", self.place)?;
        match &self.nearest {
            _ if self.is_null() => write!(f, "; the address is a null pointer"),
            Some(neighbour) => write!(f, "; {neighbour}"),
            None => write!(f, "; no buffer has been allocated"),
        }
    }
}

/// A device-side assertion that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionFault {
    /// Where in the PTX.
    pub place: Place,
    /// Text of the assertion.
    pub message: String,
    /// Source file named by the program.
    pub file: String,
    /// Source line named by the program.
    pub file_line: u32,
    /// Function named by the program.
    pub function: String,
}

impl std::fmt::Display for AssertionFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, message, file, file_line, function } = self;
        write!(f, "assertion `{message}` failed in {function} at {file}:{file_line} ({place})")
    }
}

/// A launch that can never end: proved by states that come again, not by their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverEnds {
    /// A thread that waits, and what it last read memory with.
    pub place: Place,
    /// What it read, in words.
    pub reads: Option<String>,
    /// Other lanes of its warp that have not exited.
    pub beside: u32,
    /// CTAs that have begun and wait.
    pub waiting: u64,
    /// CTAs that have not begun, since no more can be resident.
    pub unstarted: u64,
}

impl std::fmt::Display for NeverEnds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, reads, beside, waiting, unstarted } = self;
        write!(f, "kernel `{}` can never end: it repeats a loop", place.kernel)?;
        if let Some(reads) = reads {
            write!(f, " that reads {reads}")?;
        }
        f.write_str(", and nothing changes any more")?;
        if *beside != 0 {
            write!(f, " while lanes {beside:#010x} of its warp wait for it")?;
        }
        if *waiting > 1 {
            write!(f, "; {waiting} CTAs wait")?;
        }
        if *unstarted > 0 {
            let ctas = counted(*unstarted, "CTA");
            write!(f, "; {ctas} cannot start before one of these ends")?;
        }
        write!(f, " ({place})")
    }
}

/// Why a launch stopped. The device keeps what was written until then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A grid or block dimension of zero.
    #[error("kernel `{kernel}`: {what} dimensions {dimensions:?} contain a zero")]
    EmptyDimension {
        /// Kernel name.
        kernel: String,
        /// `grid` or `block`.
        what: &'static str,
        /// The dimensions as given.
        dimensions: [u32; 3],
    },
    /// A grid or block that the kernel's directives do not allow.
    #[error("kernel `{kernel}`: {}", refused.message)]
    Forbidden {
        /// Kernel name.
        kernel: String,
        /// Why, and the place of the directive.
        refused: Box<Diagnostic>,
    },
    /// More threads than a CTA may have.
    #[error("kernel `{kernel}`: block {block:?} has {threads} threads, a CTA has at most {limit}")]
    TooManyThreads {
        /// Kernel name.
        kernel: String,
        /// Dimensions of the block as given.
        block: [u32; 3],
        /// Product of the dimensions.
        threads: u64,
        /// Most that a CTA may have.
        limit: u32,
    },
    /// More CTAs than can be numbered.
    #[error("kernel `{kernel}`: grid {grid:?} has {ctas} CTAs, at most {limit} can be run")]
    TooManyCtas {
        /// Kernel name.
        kernel: String,
        /// Dimensions of the grid as given.
        grid: [u32; 3],
        /// Product of the dimensions.
        ctas: u128,
        /// Most that can be run.
        limit: u64,
    },
    /// The parameter block has the wrong size.
    #[error(
        "kernel `{kernel}` takes {} of parameters, the launch gives {given}: pass each argument at \
         its natural alignment", counted(*expected, "byte")
    )]
    WrongArguments {
        /// Kernel name.
        kernel: String,
        /// Unit: bytes.
        expected: u64,
        /// Unit: bytes.
        given: u64,
    },
    /// Static and dynamic shared memory exceed what a CTA may have.
    #[error(
        "kernel `{kernel}` needs {needed} bytes of shared memory per CTA, at most {limit} exist"
    )]
    TooMuchShared {
        /// Kernel name.
        kernel: String,
        /// Static plus dynamic. Unit: bytes.
        needed: u64,
        /// Unit: bytes.
        limit: u64,
    },
    /// A thread's frame in local memory is too large: the stack is too deep.
    #[error(
        "kernel `{kernel}` needs {needed} bytes of local memory per thread, at most {limit} exist"
    )]
    StackTooDeep {
        /// Kernel name.
        kernel: String,
        /// Unit: bytes.
        needed: u64,
        /// Unit: bytes.
        limit: u64,
    },
    /// The executable names variables of a module that was not loaded.
    #[error("kernel `{kernel}` uses variables of its module: load the module first")]
    ModuleNotLoaded {
        /// Kernel name.
        kernel: String,
    },
    /// The kernel's addresses have another width than the device's.
    #[error("kernel `{kernel}` has {bits}-bit addresses, the device does not")]
    AddressWidth {
        /// Kernel name.
        kernel: String,
        /// Unit: bits.
        bits: u8,
    },
    /// A memory access that cannot be carried out.
    #[error("{0}")]
    Access(Box<AccessFault>),
    /// A texture or surface instruction that cannot be carried out.
    #[error("{1} ({0})")]
    Texture(Place, Box<TextureProblem>),
    /// `trap` was executed.
    #[error("trap executed ({0})")]
    Trap(Place),
    /// `free` of an address that `malloc` did not give, or that has been freed.
    #[error("free of address {address:#x}, where no allocation of `malloc` begins ({place})")]
    FreesForeign {
        /// Where.
        place: Place,
        /// The address.
        address: u64,
    },
    /// A call through a register whose address is that of no function that it can call.
    #[error(
        "call of address {address:#x}, where no function with these parameters and results is, \
         other than those that are being called: recursion is not supported ({place})"
    )]
    CallNowhere {
        /// Where.
        place: Place,
        /// The address.
        address: u64,
    },
    /// A device-side assertion failed.
    #[error("{0}")]
    Assertion(Box<AssertionFault>),
    /// A CTA barrier that some threads wait at and the others never reach.
    #[error(
        "barrier {barrier} can never complete: {arrived} of {expected} threads arrived, the \
         others wait elsewhere ({place})"
    )]
    BarrierNeverCompletes {
        /// A thread that waits.
        place: Place,
        /// Barrier number. Range: `0..=16`, of which 16 is the cluster's.
        barrier: u32,
        /// Threads that arrived.
        arrived: u32,
        /// Threads that it waits for.
        expected: u32,
    },
    /// A barrier used in a way that PTX leaves undefined.
    #[error("barrier {barrier}: {problem} ({place})")]
    BarrierMisuse {
        /// A thread that executed it.
        place: Place,
        /// Barrier number as computed; valid ones are `0..16`.
        barrier: u32,
        /// What is wrong.
        problem: &'static str,
    },
    /// An operation on an mbarrier object that PTX gives no meaning.
    #[error("mbarrier at shared address {address:#x}: {problem} ({place})")]
    MbarrierMisuse {
        /// A thread that executed it.
        place: Place,
        /// Address of the object within shared memory, or a generic one that is not in it.
        address: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A `.sync` operation of a warp that lanes of its member mask never reach.
    #[error(
        "lanes {missing:#010x} of the member mask {members:#010x} never reach this instruction \
         ({place})"
    )]
    WarpNeverConverges {
        /// A thread that waits.
        place: Place,
        /// Member mask of the waiting lanes.
        members: u32,
        /// Lanes that neither exited nor arrived.
        missing: u32,
    },
    /// A `.sync` operation of a warp executed by a lane that its member mask does not name.
    #[error(
        "lane {lane} executes this instruction, but the member mask {members:#010x} does not name \
         it ({place})"
    )]
    NotAMember {
        /// The thread.
        place: Place,
        /// Its lane. Range: `0..32`.
        lane: usize,
        /// The mask that it gave.
        members: u32,
    },
    /// A matrix instruction that not all 32 lanes of a warp execute.
    #[error("a matrix instruction needs all 32 lanes, {present:#010x} execute it ({place})")]
    NotAWholeWarp {
        /// The lowest thread that executes it.
        place: Place,
        /// Lanes that execute it.
        present: u32,
    },
    /// An operand of a matrix instruction that cannot be used.
    #[error("matrix instruction: {problem} ({place})")]
    MatrixOperand {
        /// A thread that gives it.
        place: Place,
        /// What is wrong.
        problem: String,
    },
    /// A shuffle reads the value of a lane that has exited.
    #[error("lane {lane} shuffles the value of lane {exited}, which has exited ({place})")]
    ReadsExited {
        /// The thread that reads.
        place: Place,
        /// Its lane. Range: `0..32`.
        lane: usize,
        /// The lane that it reads. Range: `0..32`.
        exited: usize,
    },
    /// All CTAs that have begun go in circles, and nothing that another could change will end them.
    #[error("{0}")]
    NeverEnds(Box<NeverEnds>),
    /// `trap` in a kernel that asks for the workspace of a cooperative launch and has none.
    #[error(
        "trap executed: the launch is not cooperative, and kernel `{}` reads %envreg1 and \
         %envreg2, where `grid.sync()` looks for its workspace ({place})", place.kernel
    )]
    NotCooperative {
        /// Where.
        place: Place,
    },
    /// A cooperative launch of more CTAs than can be resident at once.
    #[error(
        "kernel `{kernel}`: a cooperative launch has all its CTAs resident at once; the grid has \
         {ctas} CTAs, {limit} can be resident"
    )]
    NotResident {
        /// Kernel name.
        kernel: String,
        /// CTAs of the grid.
        ctas: u64,
        /// Most that can be resident.
        limit: u64,
    },
    /// The workspace of a cooperative launch cannot be allocated.
    #[error("kernel `{kernel}`: {source}")]
    Workspace {
        /// Kernel name.
        kernel: String,
        /// Why not.
        source: DeviceError,
    },
    /// The launch executed as many warp instructions as it was allowed.
    #[error(
        "kernel `{}` exceeded the budget of {} ({place})", place.kernel,
        counted(*budget, "warp instruction")
    )]
    BudgetExceeded {
        /// Where the warp was.
        place: Place,
        /// Unit: warp instructions.
        budget: u64,
    },
    /// What is kept of a CTA, or of all CTAs, is more than the launch allows.
    #[error(
        "the paths and accesses of {whose} take more than {limit} bytes ({place})",
        whose = if *of_launch { "the launch's CTAs" } else { "one CTA" }
    )]
    TooMuchToKeep {
        /// Where that was noticed: of a launch, the first instruction of the last CTA.
        place: Place,
        /// Unit: bytes.
        limit: u64,
        /// Of all CTAs until there; otherwise one CTA's alone.
        of_launch: bool,
    },
    /// Divergence nested deeper than any program can; a broken program.
    #[error("divergence stack deeper than {limit} entries ({place})")]
    DivergenceTooDeep {
        /// Where.
        place: Place,
        /// Most entries.
        limit: usize,
    },
}
