//! The global logger of Strata's firmware: keeps defmt's logs in order until the program passes
//! them to the link. A log that finds no room is dropped.
//!
//! The program needs an implementation of `critical-section`, and `-Tdefmt.x` when it is linked.
//! Logs below the level of `DEFMT_LOG` when it is built are not in it.
#![no_std]

use core::cell::RefCell;

use critical_section::{CriticalSection, Mutex, RestoreState};
use heapless::{Deque, Vec};

/// Bytes of a log at most.
const LOG: usize = 64;
/// Logs that wait.
const WAITING: usize = 8;

/// Logs, and the one that is being written.
struct Logs {
    waiting: Deque<Vec<u8, LOG>, WAITING>,
    written: Vec<u8, LOG>,
    is_cut: bool,
    /// Bytes of the log that is being written.
    restore: Option<RestoreState>,
}

static LOGS: Mutex<RefCell<Logs>> = Mutex::new(RefCell::new(Logs {
    waiting: Deque::new(),
    written: Vec::new(),
    is_cut: false,
    restore: None,
}));

fn with<T>(act: impl FnOnce(&mut Logs, CriticalSection<'_>) -> T) -> Option<T> {
    critical_section::with(|section| {
        let mut logs = LOGS.borrow(section).try_borrow_mut().ok()?;
        Some(act(&mut logs, section))
    })
}

/// Puts the next log into `room`, cut to its length, and returns how long it is; 0 if none waits.
pub fn next(room: &mut [u8]) -> usize {
    let log = with(|logs, _| logs.waiting.pop_front()).flatten().unwrap_or_default();
    let length = log.len().min(room.len());
    room[..length].copy_from_slice(&log[..length]);
    length
}

#[defmt::global_logger]
struct Logger;

// SAFETY: logs are written one at a time, because interrupts are off from `acquire` to `release`,
// and there is one processor.
#[expect(unsafe_code, reason = "defmt relies on what its logger says of itself")]
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: `release` gives it back, and defmt calls both in turns.
        let restore = unsafe { critical_section::acquire() };
        with(|logs, _| {
            logs.restore = Some(restore);
            logs.written.clear();
            logs.is_cut = false;
        });
    }

    unsafe fn flush() {}

    unsafe fn release() {
        let restore = with(|logs, _| {
            let log = core::mem::take(&mut logs.written);
            if !logs.is_cut {
                // Without room the log is dropped; the numbers of later logs show the gap.
                let _ = logs.waiting.push_back(log);
            }
            logs.restore.take()
        });
        if let Some(restore) = restore.flatten() {
            // SAFETY: this is `acquire`'s log.
            unsafe { critical_section::release(restore) };
        }
    }

    unsafe fn write(bytes: &[u8]) {
        with(|logs, _| logs.is_cut |= logs.written.extend_from_slice(bytes).is_err());
    }
}
