//! Failure: the one way in which a command ends other than well.

use std::path::Path;

use crate::cli::ExitStatus;

/// Why a command stopped. Libraries have typed errors; commands turn them into one of these.
#[derive(Debug)]
pub struct Failure {
    status: ExitStatus,
    message: String,
}

impl Failure {
    /// The user's input was wrong: `message` names the thing, the place and the remedy.
    pub fn input(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::InputError, message: message.into() }
    }

    /// A comparison or check failed.
    pub fn check(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::CheckFailed, message: message.into() }
    }

    /// Strata contradicts itself.
    pub fn internal(message: &str) -> Self {
        let message = format!(
            "{message}\n  hint: this is a defect of strata; please report the command line and \
             its input files"
        );
        Self { status: ExitStatus::InternalError, message }
    }

    /// A file could not be read or written.
    pub fn file(path: &Path, doing: &str, error: &std::io::Error) -> Self {
        Self::input(format!("cannot {doing} `{}`: {error}", path.display()))
    }

    /// How the process ends.
    pub fn status(&self) -> ExitStatus {
        self.status
    }

    /// What the user reads, without the leading `error: `.
    pub fn message(&self) -> &str {
        &self.message
    }
}
