//! Our own trace format, `.strata`: recordings that are small, checked, and quick to replay.
//!
//! ```text
//! file    = magic "STRATA\x1a\n", version u32, chunk*, end chunk
//! chunk   = tag [4], bytes u32, stored bytes u32, data (LZ4 block), CRC-32 of all before it u32
//! launch  = address chunk*, fact chunk*, done chunk
//! ```
//!
//! Numbers are little-endian; those within chunks are LEB128. Facts are the header, the order of
//! instructions, the registers that residency counts, the code, the machine's image, the distinct
//! paths (repeated stretches as a distance and a length, so that loops cost little) and the warps.
//! Addresses are rows of differences ([`strata_simt::rows`]): each instruction's base against its
//! last one, strides only where they change. Count mode skips them. The end chunk has the number of
//! chunks.
//!
//! Chunks hold at most 1 MiB, so that writing and skipping need no more memory than that; reading a
//! launch takes what its distinct paths take, within limits (`decode`). Any cut or change is an
//! error with its offset.

mod budget;
mod chunk;
#[doc(hidden)]
pub mod chunks;
mod decode;
mod facts;
mod read;
mod write;

pub use budget::Budget;
pub use chunk::KIND;
pub use read::{Recording, RowVisitor, Sizes};
pub use write::{RecordError, RecordedTrace, Recorder, record_trace};

use std::path::Path;

use crate::Header;
use crate::code::{Assumption, TracedInstruction};
use strata_compiler::Order;
use strata_compiler::program::Image;
#[cfg(doc)]
use strata_compiler::program::Program;
use strata_files::failure::Failure;
use strata_ptx::diagnostic::counted;
use strata_simt::paths::PathDictionary;

/// Version of the format and of what it holds. Raised when a reader of before cannot read the files
/// of after, and when marks, hints or operands of a kernel change, with which a recording of before
/// would count otherwise than the same kernel now.
pub const VERSION: u32 = 5;

/// Whether an input names a recording of ours.
pub fn is_recording(input: &str) -> bool {
    Path::new(input).extension().is_some_and(|extension| extension == "strata")
}

/// What a recording does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", problem.place(*.offset))]
pub struct StoreError {
    /// The file.
    pub file: String,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong.
    pub problem: StoreProblem,
}

/// What is wrong with a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreProblem {
    /// The system refused to let it be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The system refused to let it be written.
    #[error("cannot be written: {0}")]
    Unwritable(String),
    /// It does not begin like one.
    #[error("this is no .strata recording")]
    Magic,
    /// A version that is not read.
    #[error("the recording has version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// It ends in the middle.
    #[error("the file ends too early")]
    Truncated,
    /// A checksum does not fit.
    #[error("the checksum is wrong: the file was changed or damaged")]
    Checksum,
    /// Only some CTAs were recorded, and all are needed.
    #[error(
        "launch {launch} holds {found} of the {} of its grid, and other simulators need all",
        counted(*grid, "CTA")
    )]
    MissingCtas {
        /// Index of the launch.
        launch: u64,
        /// CTAs in the recording.
        found: u64,
        /// CTAs of the grid.
        grid: u64,
    },
    /// An instruction whose registers Accel-Sim's format cannot name.
    #[error(
        "launch {launch} (`{kernel}`): a trace cannot name all registers of `{mnemonic}` at \
         {pc:04x}, so that it would count others than the launch"
    )]
    Unnamed {
        /// Index of the launch.
        launch: u64,
        /// Its kernel.
        kernel: String,
        /// Program counter of the instruction.
        pc: u64,
        /// The instruction's mnemonic, as a trace names it.
        mnemonic: String,
    },
    /// A launch whose residency does not follow from its registers.
    #[error(
        "launch {launch} (`{kernel}`): a trace cannot say that residency counts {resident} \
         registers of a thread where {registers} are named, as `--order scheduled-renamed` has it"
    )]
    Residency {
        /// Index of the launch.
        launch: u64,
        /// Its kernel.
        kernel: String,
        /// Registers that residency counts.
        resident: u16,
        /// Registers that are named.
        registers: u16,
    },
    /// More of something than memory is reserved for.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The quantity that is too large.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The budget of the run is used up.
    #[error(
        "kernel `{kernel}`: the recording holds more than {limit} warp instructions, the limit of \
         this run"
    )]
    Budget {
        /// Kernel of the launch that is too much.
        kernel: String,
        /// Unit: warp instructions.
        limit: u64,
    },
    /// A launch that has more paths than are read back.
    #[error(
        "kernel `{kernel}`: a recording holds at most {limit} runs of instructions, and at most as \
         many warps, of a launch; this one has {runs} runs and {warps} warps"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Runs of instructions of its distinct paths.
        runs: u64,
        /// Its warps.
        warps: u64,
        /// Most of either.
        limit: u64,
    },
    /// A checksum fits, but the contents make no sense.
    #[error("the contents are impossible: {0}")]
    Contents(&'static str),
}

impl StoreProblem {
    /// Where it is, if one place of the file is to blame.
    fn place(&self, offset: u64) -> String {
        match self {
            Self::Truncated | Self::Checksum | Self::Contents(_) => format!(": byte {offset}"),
            _ => String::new(),
        }
    }

    /// How to fix it, in one sentence.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "give the path of a readable file",
            Self::Unwritable(_) => "name a file in a folder that you may write to",
            Self::Magic => {
                "pass a file that `strata trace record` wrote; it records workloads and traces"
            }
            Self::Version(_) | Self::Contents(_) => "record again with this version of the program",
            Self::TooMany { .. } => "record a smaller launch",
            Self::Budget { .. } => "raise `--max-instructions`",
            Self::TooLarge { .. } => {
                "record a smaller size, or one CTA with `--cta`; `strata run` counts it in parts"
            }
            Self::MissingCtas { .. } => "record without `--cta`",
            Self::Residency { .. } => {
                "`--approximate` exports it as it is: fewer CTAs may be resident then"
            }
            Self::Unnamed { .. } => {
                "`--approximate` exports it with the registers that can be named (docs/TRACES.md)"
            }
            Self::Truncated | Self::Checksum => "copy or record the file again",
        }
    }
}

/// One recorded launch without its addresses.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What was launched.
    pub header: Header,
    /// Instructions, in program order. Of PTX, what an export writes for them
    /// ([`crate::native_instructions`]).
    pub instructions: Vec<TracedInstruction>,
    /// Facts for the machine.
    pub image: Image,
    /// Order of the instructions; none: that of a trace.
    pub order: Option<Order>,
    /// Registers of a thread by which it is said how many CTAs are resident
    /// ([`Program::resident_registers`]). Unit: 32-bit registers.
    pub resident_registers: u16,
    /// What was assumed about opcodes.
    pub assumptions: Vec<Assumption>,
    /// Distinct paths and warps, the warps in the order of their addresses.
    pub paths: PathDictionary,
}

impl Stored {
    /// Warp instructions of all warps.
    pub fn warp_instructions(&self) -> u64 {
        self.paths.warp_instructions()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::input(error.to_string()).hint(error.problem.help())
    }
}
