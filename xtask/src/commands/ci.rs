//! `ci`: what continuous integration does, on this machine: a fresh clone of HEAD, no input.

use crate::machine;
use crate::process::{self, Failure};
use crate::status::Status;

/// Runs the command.
pub(crate) fn run() -> Status {
    match clone_and_run() {
        Ok(()) => Status::Done,
        Err(Failure(why)) => {
            eprintln!("error: {why}");
            Status::Failed
        }
    }
}

fn clone_and_run() -> Result<(), Failure> {
    let changes = machine::output("git", &["status", "--porcelain"]).unwrap_or_default();
    if !changes.is_empty() {
        eprintln!("note: uncommitted changes are not part of what is tested:\n{changes}");
    }
    let clone = machine::target_folder().join("ci-clone");
    if clone.exists() {
        std::fs::remove_dir_all(&clone)
            .map_err(|error| Failure(format!("cannot remove {}: {error}", clone.display())))?;
    }
    let mut git = process::command("git");
    process::run(git.args(["clone", "--quiet", "--no-hardlinks", "."]).arg(&clone))?;
    let mut script = process::command("bash");
    script.arg(".ci/run").current_dir(&clone).env("CI", "true").env_remove("CARGO_TARGET_DIR");
    process::run(&mut script)
}
