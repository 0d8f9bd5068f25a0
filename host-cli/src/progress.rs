//! Progress: which inputs run, and how many CTAs of their launches are done, on terminals only and
//! once a command has run for two seconds.
//!
//! Without a terminal no input has a [`Watch`], and nothing is counted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::printer::Printer;
use crate::watch::{Watch, Within, current, within};

/// How long an input or a command runs before anything is shown of it.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often what is shown changes.
const PERIOD: Duration = Duration::from_millis(200);

/// What is shown of a command's inputs.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// None without a terminal.
    ticker: Option<(Arc<Shared>, JoinHandle<()>)>,
}

/// What the thread that shows it knows.
#[derive(Debug, Default)]
struct Shared {
    running: Mutex<Vec<Arc<Watch>>>,
    ended: AtomicBool,
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, Vec<Arc<Watch>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> String {
        let running = self.running();
        let long = running.iter().map(|watch| (watch, watch.running()));
        let long = long.filter(|(_, running)| *running >= PATIENCE);
        long.map(|(watch, running)| watch.told(running)).collect::<Vec<_>>().join("; ")
    }
}

impl Progress {
    /// Of so many inputs.
    pub(crate) fn new(printer: &Printer, inputs: usize) -> Self {
        let bar = printer.inputs(inputs as u64);
        let ticker = printer.has_progress().then(|| {
            let shared = Arc::<Shared>::default();
            let (bar, own, printer) = (bar.clone(), Arc::clone(&shared), printer.clone());
            let begun = Instant::now();
            let tick = move || {
                while !own.ended.load(Ordering::Relaxed) {
                    thread::park_timeout(PERIOD);
                    if begun.elapsed() >= PATIENCE && !own.ended.load(Ordering::Relaxed) {
                        printer.show(&bar);
                        bar.set_message(own.told());
                    }
                }
            };
            (shared, thread::spawn(tick))
        });
        Self { bar, ticker }
    }

    /// This thread begins with an input.
    pub(crate) fn begin(&self, name: &str) -> Within {
        let Some((shared, _)) = &self.ticker else { return within(None) };
        let watch = Arc::new(Watch::new(name));
        shared.running().push(Arc::clone(&watch));
        within(Some(watch))
    }

    /// This thread is done with an input.
    pub(crate) fn end(&self, input: Within) {
        if let (Some((shared, _)), Some(watch)) = (&self.ticker, current()) {
            shared.running().retain(|other| !Arc::ptr_eq(other, &watch));
        }
        drop(input);
        self.bar.inc(1);
    }

    /// Does what prints something else.
    pub(crate) fn suspend<T>(&self, prints: impl FnOnce() -> T) -> T {
        self.bar.suspend(prints)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((shared, thread)) = self.ticker.take() {
            shared.ended.store(true, Ordering::Relaxed);
            thread.thread().unpark();
            // It cannot fail, and nothing is lost if it does.
            drop(thread.join());
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_is_counted() {
        let progress = Progress::new(&Printer::new(true), 1);
        let input = progress.begin("bfs");
        assert!(current().is_none());
        progress.end(input);
    }
}
