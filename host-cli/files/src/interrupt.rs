//! Interrupt: the effect of Ctrl-C, and of the other signals that end the program (SIGTERM,
//! SIGHUP).
//!
//! Commands end at once: unfinished files are removed, a message names outputs that were not
//! written, and the exit status is 128 plus the signal's number, as in shells: 130 for Ctrl-C. A
//! command that has to end what it started uses [`ask`] and [`came`], one whose inputs are wanted
//! one by one [`finish_first`] and [`came`]. Then a second Ctrl-C ends the program as the first one
//! does elsewhere. One more, while that is under way, does not wait for anything. A signal that was
//! ignored when the program started, as by `nohup`, stays ignored.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::failure::Failure;

/// Exit status of a program that a signal ended, without the signal's number.
const SIGNALLED: u8 = 128;
/// The number of SIGINT.
const CTRL_C: u8 = 2;
/// The number of SIGTERM.
const TERMINATE: u8 = 15;

/// Tells the user something.
type Notice = Box<dyn Fn() + Send + Sync>;

/// Whether the command itself ends what it started.
static ASKED_FOR: AtomicBool = AtomicBool::new(false);
/// Whether the command finishes what runs on Ctrl-C: then what tells the user so.
static FINISHES: OnceLock<Notice> = OnceLock::new();
/// The signal that came, 0 before.
static SIGNAL: AtomicU8 = AtomicU8::new(0);
static FILES: Mutex<Files> = Mutex::new(Files { parts: BTreeMap::new(), whole: Vec::new() });

/// From now on a signal does not end the program: [`came`] says that it came.
pub fn ask() {
    ASKED_FOR.store(true, Ordering::SeqCst);
}

/// From now on the first Ctrl-C does not end the program: [`came`] says that it came, and nothing
/// new is to be begun. `notice` tells the user that what runs is finished first; it is called in a
/// thread of its own. Other signals end the program, unless [`ask`] was called as well.
pub fn finish_first(notice: impl Fn() + Send + Sync + 'static) {
    // A command that says it twice has said it.
    let _ = FINISHES.set(Box::new(notice));
}

/// From now on it is as if SIGTERM had come: the reader of the result is gone.
pub fn give_up() {
    // A signal that came before stays the reason.
    let _ = SIGNAL.compare_exchange(0, TERMINATE, Ordering::SeqCst, Ordering::SeqCst);
}

/// Whether a signal came that asks the program to end.
pub fn came() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Exit status of a program that a signal ended.
pub fn status() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => SIGNALLED + CTRL_C,
        signal => SIGNALLED.saturating_add(signal),
    }
}

/// A command ends because of the signal that came: `kept` says what was written, if anything was to
/// be.
pub fn failure(kept: &str) -> Failure {
    Failure::interrupted(status(), kept)
}

/// Handles signals from now on, in a thread of its own. `report` tells the user why the program
/// ends.
///
/// # Errors
///
/// The system does not allow it.
#[cfg(unix)]
pub fn handle(report: fn(&Failure)) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use std::sync::Arc;

    let ignored = ignored_signals();
    let heard =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| ignored >> (signal - 1) & 1 == 0);
    let heard: Vec<_> = heard.collect();
    // Whether the end is under way: then Ctrl-C does not wait for it. Only Ctrl-C: closing a
    // terminal sends SIGHUP twice.
    let ends = Arc::new(AtomicBool::new(false));
    if heard.contains(&SIGINT) {
        let status = i32::from(SIGNALLED + CTRL_C);
        flag::register_conditional_shutdown(SIGINT, status, Arc::clone(&ends))?;
    }
    let mut signals = Signals::new(heard)?;
    let listen = move || {
        let mut is_first_ctrl_c = true;
        for signal in signals.forever() {
            SIGNAL.store(u8::try_from(signal).unwrap_or(CTRL_C), Ordering::SeqCst);
            let is_ctrl_c = signal == i32::from(CTRL_C);
            let again = is_ctrl_c && !is_first_ctrl_c;
            is_first_ctrl_c &= !is_ctrl_c;
            match FINISHES.get().filter(|_| is_ctrl_c) {
                Some(notice) if !again => finishing(notice),
                _ if !again && ASKED_FOR.load(Ordering::SeqCst) => {}
                _ => {
                    ends.store(true, Ordering::SeqCst);
                    end(again, report);
                }
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

/// Where there are no such signals, Ctrl-C ends the program as the system does it.
#[cfg(not(unix))]
pub fn handle(_: fn(&Failure)) -> io::Result<()> {
    Ok(())
}

/// The signals that are ignored, a bit for each from signal 1; none where the system does not tell.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Says that the command finishes what runs, without waiting until that is read.
#[cfg(unix)]
fn finishing(notice: &'static Notice) {
    // Without a thread the note is left out.
    drop(std::thread::Builder::new().spawn(notice));
}

/// Removes unfinished files, reports them, and ends the program. When the user was told already
/// what is going on, whole files are not listed `again`.
#[cfg(unix)]
fn end(again: bool, report: fn(&Failure)) {
    // Kept to the end, so that nothing is begun or finished any more.
    let mut files = files();
    for part in files.parts.values() {
        part.leftover.remove();
    }
    if again {
        files.whole.clear();
    }
    let told = if again && files.parts.is_empty() { String::new() } else { files.told() };
    report(&failure(&told));
    std::process::exit(i32::from(status()));
}

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What this program writes.
#[derive(Debug)]
struct Files {
    /// Unfinished, by number.
    parts: BTreeMap<u64, Part>,
    /// Finished, as the user named it.
    whole: Vec<PathBuf>,
}

#[derive(Debug)]
struct Part {
    named: PathBuf,
    replaces: bool,
    leftover: Leftover,
}

impl Files {
    /// Whether it is within something unfinished, which the user knows by another name.
    fn is_within(&self, named: &Path) -> bool {
        self.parts.values().any(|part| named.starts_with(&part.leftover.temporary))
    }

    /// What was written and what was not.
    fn told(&self) -> String {
        let mut lines: Vec<_> =
            self.whole.iter().map(|named| format!("`{}` is whole", named.display())).collect();
        for part in self.parts.values().filter(|part| !self.is_within(&part.named)) {
            let kept = if part.replaces { "; what was there before is kept" } else { "" };
            lines.push(format!("`{}` is not written{kept}", part.named.display()));
        }
        if lines.is_empty() {
            lines.push("no file is written".to_owned());
        }
        lines.join("\n  ")
    }
}

/// What is on the disk of something unfinished.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftover {
    /// The file or folder itself.
    pub(crate) temporary: PathBuf,
    /// Folders that were made for it, outermost first. They go if nothing else is in them.
    pub(crate) made: Vec<PathBuf>,
}

impl Leftover {
    fn remove(&self) {
        // What cannot be removed now cannot be later either, and there may be nothing.
        drop(match std::fs::symlink_metadata(&self.temporary) {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&self.temporary),
            _ => std::fs::remove_file(&self.temporary),
        });
        for folder in self.made.iter().rev() {
            drop(std::fs::remove_dir(folder));
        }
    }
}

/// Something unfinished on the disk. Removed when dropped, and when a signal ends the program.
#[derive(Debug)]
pub(crate) struct Unfinished {
    number: u64,
    leftover: Leftover,
}

impl Unfinished {
    /// Makes it. `named` is what the user knows it by; `replaces` says that something is there.
    pub(crate) fn new<T>(
        named: &Path,
        replaces: bool,
        make: impl FnOnce(&mut Leftover) -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        let mut files = files();
        let mut leftover = Leftover::default();
        let made = make(&mut leftover).inspect_err(|_| leftover.remove())?;
        let number = files.parts.last_key_value().map_or(0, |(last, _)| last + 1);
        let part = Part { named: named.to_owned(), replaces, leftover: leftover.clone() };
        files.parts.insert(number, part);
        Ok((made, Self { number, leftover }))
    }

    /// The file or folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.leftover.temporary
    }

    /// Does something in it, unless a signal ends the program.
    pub(crate) fn within<T>(&self, work: impl FnOnce(&Path) -> T) -> T {
        let _files = files();
        work(self.path())
    }

    /// Puts it in its place.
    pub(crate) fn finish(mut self, put: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let mut files = files();
        put(&self.leftover.temporary)?;
        self.leftover.made.clear();
        if let Some(part) = files.parts.remove(&self.number) {
            let within = files.is_within(&part.named);
            files.whole.extend((!within).then_some(part.named));
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut files = files();
        files.parts.remove(&self.number);
        self.leftover.remove();
    }
}
