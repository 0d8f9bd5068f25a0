//! Interrupt: Ctrl-C as a question that is asked now and then, so that what was started is ended.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::FpgaError;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C does not end the process: [`check`] says that it came.
///
/// # Errors
///
/// The system does not allow it.
pub fn watch() -> Result<(), FpgaError> {
    match ctrlc::set_handler(|| ASKED.store(true, Ordering::Relaxed)) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(FpgaError::Start {
            program: "the handler of Ctrl-C".to_owned(),
            reason: error.to_string(),
            help: "",
        }),
    }
}

/// Goes on unless Ctrl-C came.
///
/// # Errors
///
/// It did.
pub fn check() -> Result<(), FpgaError> {
    if ASKED.load(Ordering::Relaxed) { Err(FpgaError::Interrupted) } else { Ok(()) }
}
