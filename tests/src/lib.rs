//! Helpers shared by the tests that span crates.

use std::path::Path;
use std::process::{Command, Stdio};

#[cfg(doctest)]
#[doc = include_str!("../../docs/book/the-core.md")]
struct TheCore;

/// What one run of the program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = self.status.map_or("killed".to_owned(), |status| status.to_string());
        write!(f, "exit: {status}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// Runs `program` in `folder` with standard input closed.
///
/// # Panics
///
/// When the program cannot be started or prints something that is not UTF-8.
pub fn start(program: &str, folder: &Path, arguments: &[&str]) -> Outcome {
    start_with(program, folder, arguments, &[])
}

/// Runs `program` in `folder` with standard input closed and with variables of the environment.
///
/// # Panics
///
/// When the program cannot be started or prints something that is not UTF-8.
pub fn start_with(
    program: &str,
    folder: &Path,
    arguments: &[&str],
    environment: &[(&str, &Path)],
) -> Outcome {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap_or_else(|error| panic!("cannot start {program}: {error}"));
    Outcome {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}
