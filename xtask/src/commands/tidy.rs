//! `tidy`: the repository's own rules.

use crate::Status;
use crate::process::Failure;
use crate::tidy;

/// Runs the command.
pub(crate) fn run() -> Status {
    match tidy::check_repository() {
        Ok(()) => Status::Done,
        Err(Failure(why)) => {
            eprintln!("error: {why}");
            Status::Failed
        }
    }
}
