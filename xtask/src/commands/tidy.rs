//! `tidy`: the repository's own rules.

use crate::process::Failure;
use crate::status::Status;
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
