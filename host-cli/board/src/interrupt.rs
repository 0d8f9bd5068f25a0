//! Interrupt: Ctrl-C as a question that is asked now and then, so that what was started is ended.

use super::error::FpgaError;
use strata_files::interrupt;

/// From now on Ctrl-C does not end the process: [`check`] says that it came.
pub fn watch() {
    interrupt::ask();
}

/// Goes on unless Ctrl-C came.
///
/// # Errors
///
/// It did.
pub fn check() -> Result<(), FpgaError> {
    if interrupt::came() { Err(FpgaError::Interrupted) } else { Ok(()) }
}
