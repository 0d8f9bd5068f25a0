//! One job of a compiler: it compiles the kernels for one machine.

use std::path::PathBuf;
use std::process::Command;

use crate::machine;
use crate::process::{self, Failure};

/// Does one job.
pub(super) type Recipe = Box<dyn Fn(&Job) -> Result<(), Failure>>;

/// The kernels are to be compiled for a machine.
pub(super) struct Job {
    pub(super) machine: u32,
    /// Where the PTX is to be, and nothing else: an empty folder.
    pub(super) folder: PathBuf,
    /// A folder for the rest, which is empty for the first machine.
    pub(super) scratch: PathBuf,
}

/// The kernels' sources.
pub(super) fn sources() -> PathBuf {
    machine::root().join("tests/compilers/kernels")
}

/// Runs a compiler, whose output is shown only where it fails.
pub(super) fn succeed(command: &mut Command) -> Result<(), Failure> {
    let (status, text) = process::capture(command)?;
    let failed = |Failure(why)| Failure(format!("{why}\n{}", text.trim_end()));
    process::check(command, status).map_err(failed)
}
