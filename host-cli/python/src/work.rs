//! Work: what takes long, on a thread of its own, so that other threads of Python run and Ctrl-C is
//! heard.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use strata_files::failure::Failure;
use strata_measure::notes::Kept;
use strata_measure::notes::Said;

pyo3::create_exception!(
    strata,
    StrataError,
    PyValueError,
    "Why something cannot be done: the message and the hint that the command line prints."
);

/// How often signals are looked for.
const MOMENT: Duration = Duration::from_millis(20);
/// As much as the main thread of a program has. Unit: bytes.
const STACK: usize = 8 << 20;

/// What work is to do when Ctrl-C is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnInterrupt {
    /// Nothing of it is wanted any more: Python goes on at once, and the thread ends as soon as it
    /// looks.
    Leave,
    /// What was begun is wanted: it is waited for, until Ctrl-C is pressed again.
    Finish,
}

/// What work is given.
pub(crate) struct Given {
    /// Takes notes and warnings.
    pub(crate) notes: Kept,
    stop: AtomicBool,
}

impl Given {
    /// Whether nothing more is to be begun.
    pub(crate) fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Does some work without holding the interpreter. Notes and warnings go to the logger `strata`.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    on_interrupt: OnInterrupt,
    work: impl FnOnce(&Given) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let given = Arc::new(Given { notes: Kept::default(), stop: AtomicBool::new(false) });
    let (sender, receiver) = sync_channel(1);
    let own = Arc::clone(&given);
    let body = move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&own)));
        // No caller waits any more after Ctrl-C.
        drop(sender.send(done.unwrap_or_else(|panic| Err(defect(&*panic)))));
    };
    let thread = Builder::new().name("strata".to_owned()).stack_size(STACK).spawn(body);
    thread.map_err(|error| raised(&Failure::input(format!("cannot start a thread: {error}"))))?;
    let result = wait(py, receiver, &given, on_interrupt)?;
    log(py, given.notes.take())?;
    result.map_err(|failure| raised(&failure))
}

/// Waits for the result. After Ctrl-C an error.
fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Result<T, Failure>>,
    given: &Given,
    on_interrupt: OnInterrupt,
) -> PyResult<Result<T, Failure>> {
    let mut interrupted: Option<PyErr> = None;
    loop {
        let (heard, again) = py.detach(move || (receiver.recv_timeout(MOMENT), receiver));
        receiver = again;
        let result = match heard {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => {
                let Err(signal) = py.check_signals() else { continue };
                given.stop.store(true, Ordering::Relaxed);
                if on_interrupt == OnInterrupt::Leave || interrupted.is_some() {
                    return Err(signal);
                }
                interrupted = Some(signal);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(Failure::internal("a thread ended without a result"))
            }
        };
        let Some(interrupted) = interrupted else { return Ok(result) };
        if let Err(failure) = result {
            interrupted.add_note(py, failure.message())?;
        }
        return Err(interrupted);
    }
}

/// A panic as a failure.
fn defect(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Failure::internal(&text.unwrap_or_else(|| "it panicked".to_owned()))
}

/// Tells notes and warnings.
fn log(py: Python<'_>, all: Vec<Said>) -> PyResult<()> {
    if all.is_empty() {
        return Ok(());
    }
    let logger = py.import("logging")?.call_method1("getLogger", ("strata",))?;
    for said in all {
        let (level, text) = match said {
            Said::Note(text) => ("info", text),
            Said::Warning(text) => ("warning", text),
        };
        logger.call_method1(level, ("%s", text))?;
    }
    Ok(())
}

/// A failure as Python's error.
pub(crate) fn raised(failure: &Failure) -> PyErr {
    StrataError::new_err(failure.message().to_owned())
}
