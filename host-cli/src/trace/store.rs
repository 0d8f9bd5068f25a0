//! Our own trace format, `.strata`: what was recorded, small, checked, and quick to replay.
//!
//! ```text
//! file    = magic "STRATA\x1a\n", version u32, chunk*, end chunk
//! chunk   = tag [4], bytes u32, stored bytes u32, data (LZ4 block), CRC-32 of all before it u32
//! launch  = address chunk*, fact chunk*, done chunk
//! ```
//!
//! Numbers are little-endian; those within chunks are LEB128. Facts are the header, the code, the
//! machine's image, the distinct paths (repeated stretches as a distance and a length, so that
//! loops cost little) and the warps. Addresses are rows of differences ([`strata_simt::rows`]):
//! each instruction's base against its last one, strides only where they change. Who only counts
//! skips them. The end chunk says how many chunks there are.
//!
//! Chunks hold at most 1 MiB, so that writing and skipping need no more memory than that; reading a
//! launch takes what its distinct paths take. Any cut or change is an error with its offset.

mod chunk;
mod facts;
mod read;
mod write;

pub use chunk::KIND;
pub use read::{Recording, RowVisitor, Sizes};
pub use write::{RecordError, Recorder, record_trace};

use std::path::Path;

use crate::trace::Header;
use crate::trace::code::{Assumption, TracedInstruction};
use strata_compiler::program::Image;
use strata_simt::paths::PathDictionary;

/// Version of the format. Raised when a reader of before cannot read the files of after.
pub const VERSION: u32 = 2;

/// Whether an input names a recording of ours.
pub fn is_recording(input: &str) -> bool {
    Path::new(input).extension().is_some_and(|extension| extension == "strata")
}

/// What a recording does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, byte {offset}: {problem}")]
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
    /// The system refused.
    #[error("{0}")]
    Io(String),
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
        "launch {launch} holds {found} of the {grid} CTAs of its grid, and other simulators need \
         all"
    )]
    MissingCtas {
        /// Index of the launch.
        launch: u64,
        /// CTAs in the recording.
        found: u64,
        /// CTAs of the grid.
        grid: u64,
    },
    /// A checksum fits, but the contents make no sense.
    #[error("the contents are impossible: {0}")]
    Contents(&'static str),
}

impl StoreProblem {
    /// How to fix it, in one sentence.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io(_) => "check that the file and its folder are there and can be written",
            Self::Magic => "pass a file that `strata trace record` wrote",
            Self::Version(_) | Self::Contents(_) => "record again with this version of the program",
            Self::MissingCtas { .. } => "record without `--cta`",
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
    /// ([`crate::trace::native_instructions`]).
    pub instructions: Vec<TracedInstruction>,
    /// Facts for the machine.
    pub image: Image,
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

/// A launch from the bytes of its facts, without the chunks and checksums around them. `None` where
/// they make no sense.
pub fn decode_facts(bytes: &[u8]) -> Option<Stored> {
    facts::decode(bytes).map(|(stored, _)| stored)
}
