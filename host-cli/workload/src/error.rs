//! What can be wrong with a workload: one value for each mistake, naming the place and the remedy.

pub(super) mod problem;

use std::path::PathBuf;

use super::catalog::GROUP_MARK;
use super::mistakes::LaunchFileErrors;
use strata_config::suggest::did_you_mean;
use strata_files::failure::Failure;

pub use problem::{LaunchFileError, Problem};
pub(super) use problem::{NO_NAME, NO_PARAMETER, NO_TEXT};

/// Why a workload cannot be loaded or planned.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// No built-in workload has this name.
    #[error("unknown workload `{name}`")]
    Unknown {
        /// The name as asked for.
        name: String,
        /// Built-in names that look alike, best first; may be empty.
        suggestions: Vec<&'static str>,
    },
    /// The workload does not define this size.
    #[error("workload `{workload}` has no size `{size}`; it defines {known}")]
    UnknownSize {
        /// The workload.
        workload: String,
        /// The size as asked for.
        size: String,
        /// The sizes there are, in words.
        known: String,
    },
    /// An override names no parameter of the size.
    #[error("workload `{workload}` has no parameter `{parameter}`; it has {known}")]
    UnknownParameter {
        /// The workload.
        workload: String,
        /// The parameter as asked for.
        parameter: String,
        /// The parameters there are, in words.
        known: String,
    },
    /// An override is not of the form NAME=INTEGER.
    #[error("`{text}` sets no parameter: {because}")]
    Override {
        /// The override as given.
        text: String,
        /// What is wrong with it.
        because: String,
    },
    /// A file cannot be read.
    #[error("{}: {}", path.display(), strata_files::failure::reason(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is larger than any of its kind should be.
    #[error("{}: the file is larger than {limit} bytes", path.display())]
    FileTooLarge {
        /// The file.
        path: PathBuf,
        /// Unit: bytes.
        limit: u64,
    },
    /// A file is no text.
    #[error("{}: the byte at offset {offset} is no UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that does not belong to a text. Unit: bytes.
        offset: usize,
    },
    /// The launch file is wrong.
    #[error(transparent)]
    Launch(#[from] LaunchFileErrors),
}

impl WorkloadError {
    /// How to fix it, in one sentence; empty where the message says it.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { name, .. } if name.starts_with(GROUP_MARK) => {
                "name one workload; groups are for commands that take several inputs".to_owned()
            }
            Self::Unknown { name, .. } if name.contains(',') => {
                "write a space between inputs; `strata workloads` lists the names".to_owned()
            }
            Self::Unknown { suggestions, .. } => match did_you_mean(suggestions) {
                Some(question) => format!("{question} `strata workloads` lists all"),
                None => "`strata workloads` lists them; other inputs are files: \
                         `FILE.ptx --launch FILE.toml`, a trace's `kernelslist.g`, or `F.strata`"
                    .to_owned(),
            },
            Self::UnknownSize { .. } => "choose one of these, or add it to the file".to_owned(),
            Self::Override { .. } => {
                "write NAME=VALUE, where VALUE is an integer such as 4096 or 4 * 1024".to_owned()
            }
            Self::UnknownParameter { .. } => {
                "an override has the form NAME=INTEGER with one of these names".to_owned()
            }
            Self::Read { .. } => "give the path of a readable file".to_owned(),
            Self::FileTooLarge { .. } => "check that this is the right file".to_owned(),
            Self::NotText { .. } => {
                "give PTX text as `nvcc -ptx` writes it (no cubin) and a TOML launch file"
                    .to_owned()
            }
            Self::Launch(errors) => errors.help(),
        }
    }
}

impl From<Box<LaunchFileError>> for WorkloadError {
    fn from(error: Box<LaunchFileError>) -> Self {
        Self::Launch(error.into())
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        Self::input(error.to_string()).hint(error.help())
    }
}
