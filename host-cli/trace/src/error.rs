//! Why a trace cannot be used: one error, with file, line and remedy.

use strata_ptx::diagnostic::counted;

use strata_files::failure::Failure;

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", place(*.offset, *.line))]
pub struct TraceError {
    /// The file.
    pub file: String,
    /// Line, from 1; 0 when the file as a whole is meant. Behind an offset, the line of what is
    /// packed there.
    pub line: u64,
    /// First byte of the part of a `.tracez` file that is meant.
    pub offset: Option<u64>,
    /// What is wrong.
    pub problem: Problem,
}

fn place(offset: Option<u64>, line: u64) -> String {
    match (offset, line) {
        (None, 0) => String::new(),
        (None, line) => format!(":{line}"),
        (Some(offset), 0) => format!(": byte {offset}"),
        (Some(offset), line) => format!(": byte {offset}, line {line}"),
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The compressed data is damaged, ends early, or takes too much memory.
    #[error("the {format} data cannot be unpacked: {reason}")]
    Compression {
        /// Ending of the format's files.
        format: &'static str,
        /// What the decoder says.
        reason: String,
    },
    /// The name and the contents do not agree.
    #[error("the name ends in {0}, the contents are not")]
    Mislabelled(&'static str),
    /// A line beyond the limit.
    #[error("the line is longer than {0} bytes")]
    LongLine(usize),
    /// Something else stands where something is expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should be there.
        expected: &'static str,
        /// What is there, shortened.
        found: String,
    },
    /// The file ends too early.
    #[error("the file ends where {0} is expected")]
    Truncated(&'static str),
    /// A header line is missing.
    #[error("the header has no line `-{0} = ...`")]
    MissingHeader(&'static str),
    /// A header line stands twice.
    #[error("the header has the line `-{0} = ...` twice")]
    RepeatedHeader(&'static str),
    /// A header line's value is impossible.
    #[error("`-{key} = {value}` is impossible: expected {allowed}")]
    Header {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A tracer version that is known but not read.
    #[error("tracer version {0} is not read; versions 3 to 6 are")]
    Version(u32),
    /// Where a thread block lies in a cluster of thread blocks.
    #[error("`{0}`: the thread block lies in a cluster of several, and such launches are not read")]
    Cluster(String),
    /// A value that contradicts the header or an earlier line.
    #[error("{what} {value} is outside the range 0 to {last}")]
    OutOfRange {
        /// What kind of value.
        what: &'static str,
        /// The value.
        value: u64,
        /// Largest value allowed.
        last: u64,
    },
    /// Lanes that the warp does not have.
    #[error(
        "the mask {mask:08x} has lanes that the warp does not have; those it has are {lanes:08x}"
    )]
    Lanes {
        /// The mask.
        mask: u32,
        /// Lanes of the warp.
        lanes: u32,
    },
    /// A thread block or warp appears twice.
    #[error("{what} {number} appears twice")]
    Repeated {
        /// `thread block` or `warp`.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// Thread blocks of the grid are missing.
    #[error("the file holds {found} of the {grid} thread blocks of its grid")]
    MissingBlocks {
        /// Thread blocks in the file.
        found: u64,
        /// Thread blocks of the grid.
        grid: u64,
    },
    /// Warps of a thread block are missing.
    #[error("the thread block holds {found} of its {}", counted(*warps, "warp"))]
    MissingWarps {
        /// Warps that stand in the file.
        found: u32,
        /// Warps of a thread block.
        warps: u32,
    },
    /// Two numbers of a file that should be equal.
    #[error("{what} is {found} and should be {expected}")]
    Contradiction {
        /// What the number is.
        what: &'static str,
        /// The number.
        found: u64,
        /// What another place of the file says.
        expected: u64,
    },
    /// A list names a file outside its folder.
    #[error("`{0}` lies outside the folder of the list")]
    Outside(String),
    /// One program counter, two instructions.
    #[error("the instruction at {pc:04x} was `{before}` before and is `{now}` here")]
    Changed {
        /// The program counter.
        pc: u64,
        /// The instruction as first seen.
        before: String,
        /// The instruction as seen here.
        now: String,
    },
    /// Registers that no form of the opcode has.
    #[error(
        "`{mnemonic}` with {} and {} fits none of its forms: expected {allowed}",
        counted(*destinations as u32, "destination"),
        counted(*sources as u32, "source")
    )]
    Operands {
        /// The opcode.
        mnemonic: String,
        /// How many destinations the line lists.
        destinations: usize,
        /// How many sources it lists.
        sources: usize,
        /// What it could list.
        allowed: String,
    },
    /// Addresses in steps that the mask's lanes do not allow.
    #[error("address mode 1 needs neighbouring lanes, but the mask is {0:08x}")]
    Stride(u32),
    /// More of something than memory is reserved for.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The quantity that is too large.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The budget of the run is used up.
    #[error("the trace holds more than {0} warp instructions, the limit of this run")]
    Budget(u64),
    /// An option names what the trace does not have.
    #[error("{0}")]
    Option(String),
}

impl TraceError {
    /// This error, where a file had only what others left of the whole `budget`. Unit: warp
    /// instructions.
    #[must_use]
    pub fn of_budget(mut self, budget: u64) -> Self {
        if let Problem::Budget(limit) = &mut self.problem {
            *limit = budget;
        }
        self
    }

    /// How to fix it, in one sentence.
    pub fn help(&self) -> &'static str {
        match self.problem {
            Problem::Unreadable(_) => {
                "give the path of a readable file; a `kernelslist.g` names files relative to its \
                 own folder"
            }
            Problem::Compression { .. }
            | Problem::Truncated(_)
            | Problem::MissingBlocks { .. }
            | Problem::MissingWarps { .. } => "copy or make the trace again: it is not complete",
            Problem::Outside(_) => {
                "name files in the list's own folder, or pass `--allow-outside` if you trust it"
            }
            Problem::Mislabelled(_) => "rename the file to what it is, or unpack it first",
            Problem::LongLine(_) => "this is no Accel-Sim trace; pass a `kernelslist.g`",
            Problem::MissingHeader(_)
            | Problem::RepeatedHeader(_)
            | Problem::Header { .. }
            | Problem::Operands { .. }
            | Problem::Expected { .. } => {
                "correct the place, or write the trace again with the NVBit tracer of Accel-Sim \
                 and its post-processing tool (grouped by thread block)"
            }
            Problem::Version(0..=2) => {
                "run the tracer's post-processing tool of version 3 or later"
            }
            Problem::Version(_) => "trace with version 5 or 6 of the tracer (Accel-Sim 2.0)",
            Problem::Cluster(_) => "trace a launch without clusters, or with clusters of one block",
            Problem::OutOfRange { .. }
            | Problem::Repeated { .. }
            | Problem::Lanes { .. }
            | Problem::Contradiction { .. }
            | Problem::Stride(_) => "the file contradicts itself; make the trace again",
            Problem::Changed { .. } => {
                "a file must hold one launch of one kernel; was it put together from several?"
            }
            Problem::TooMany { .. } => "trace a smaller launch",
            Problem::Budget(_) => "raise `--max-instructions`",
            Problem::Option(_) => "indices count from 0; leave the option away to count everything",
        }
    }
}

/// At most this much of what was found is shown.
const SHOWN: usize = 60;

/// Text for a message: printable, short.
pub(crate) fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", bare(bytes)) }
}

/// Text for a message without quotes around it: printable, short.
pub(crate) fn bare(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN)];
    let dots = if bytes.len() > SHOWN { "..." } else { "" };
    format!("{}{dots}", cut.escape_ascii())
}

/// Something else than expected.
pub(crate) fn expected(expected: &'static str, found: &[u8]) -> Problem {
    Problem::Expected { expected, found: shown(found) }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::input(error.to_string()).hint(error.help())
    }
}
