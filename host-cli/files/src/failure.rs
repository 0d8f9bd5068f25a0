//! Failure: the one way in which a command ends other than well.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use strata_config::ConfigError;

/// What the process reports to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done.
    Success,
    /// A check or comparison failed.
    CheckFailed,
    /// The input was wrong.
    InputError,
    /// An invariant of strata itself is broken.
    InternalError,
    /// A signal ended it: 128 and the signal's number, as shells report it.
    Interrupted(u8),
}

impl ExitStatus {
    /// Its number, as the system knows it.
    pub fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::CheckFailed => 1,
            Self::InputError => 2,
            Self::InternalError => 3,
            Self::Interrupted(status) => status,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.number())
    }
}

/// Why a command stopped. Libraries have typed errors; commands turn them into one of these.
#[derive(Clone, Debug)]
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

    /// A signal ended it with this exit status, after what it had started: `kept` says what was
    /// written, if anything was to be.
    pub fn interrupted(status: u8, kept: &str) -> Self {
        let separator = if kept.is_empty() { "" } else { ": " };
        let message = format!("interrupted{separator}{kept}");
        Self { status: ExitStatus::Interrupted(status), message }
    }

    /// Strata contradicts itself.
    pub fn internal(message: &str) -> Self {
        let message = message.to_owned();
        Self { status: ExitStatus::InternalError, message }
            .hint("this is a defect of strata; please report the command line and its input files")
    }

    /// A file could not be read or written.
    pub fn file(path: &Path, doing: &str, error: &std::io::Error) -> Self {
        Self::input(format!("cannot {doing} `{}`: {}", path.display(), reason(error)))
    }

    /// This failure with how to fix it, in one sentence; with none if that is empty.
    #[must_use]
    pub fn hint(mut self, hint: impl AsRef<str>) -> Self {
        let hint = hint.as_ref();
        if !hint.is_empty() {
            self.message += "\n  hint: ";
            self.message += hint;
        }
        self
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

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

/// Why the system refuses a file, in words.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::IsADirectory => "it is a folder, not a file".to_owned(),
        ErrorKind::InvalidData => "it is no UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::input(error.to_string()).hint(error.hint().unwrap_or_default())
    }
}
