//! How a command ends, and its exit status.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Everything held.
    Done,
    /// A check failed.
    Failed,
    /// The command line was wrong, or something it needs is missing.
    Unusable,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::Failed => Self::FAILURE,
            Status::Unusable => Self::from(2),
        }
    }
}
