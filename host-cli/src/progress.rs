//! Progress: which inputs run, and how many CTAs of their launches are done, on terminals only and
//! once a command has run for two seconds.
//!
//! Without a terminal no input has a [`Watch`], and nothing is counted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

use strata_measure::notes::{Inputs, Steps};
use strata_workload::watch::{Watch, Within, current, within};

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
    /// In a hidden bar, which is shown where that can be seen.
    pub(crate) fn new(bar: ProgressBar, is_seen: bool) -> Self {
        let ticker = is_seen.then(|| {
            let shared = Arc::<Shared>::default();
            let (bar, own) = (bar.clone(), Arc::clone(&shared));
            let begun = Instant::now();
            let tick = move || {
                while !own.ended.load(Ordering::Relaxed) {
                    thread::park_timeout(PERIOD);
                    if begun.elapsed() >= PATIENCE && !own.ended.load(Ordering::Relaxed) {
                        show(&bar);
                        bar.set_message(own.told());
                    }
                }
            };
            (shared, thread::spawn(tick))
        });
        Self { bar, ticker }
    }
}

/// Shows a bar that is not there yet.
fn show(bar: &ProgressBar) {
    if bar.is_hidden() {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
}

impl Inputs for Progress {
    fn begin(&self, name: &str) -> Within {
        let Some((shared, _)) = &self.ticker else { return within(None) };
        let watch = Arc::new(Watch::new(name));
        shared.running().push(Arc::clone(&watch));
        within(Some(watch))
    }

    fn end(&self, input: Within) {
        if let (Some((shared, _)), Some(watch)) = (&self.ticker, current()) {
            shared.running().retain(|other| !Arc::ptr_eq(other, &watch));
        }
        drop(input);
        self.bar.inc(1);
    }

    fn suspend(&self, writes: &mut dyn FnMut()) {
        self.bar.suspend(writes);
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

/// What is shown of many small steps.
#[derive(Debug)]
pub(crate) struct Rate(ProgressBar);

impl Rate {
    /// Of steps that a bar counts.
    pub(crate) const fn new(bar: ProgressBar) -> Self {
        Self(bar)
    }
}

impl Steps for Rate {
    fn within(&self, name: &str) {
        self.0.set_message(name.to_owned());
    }

    fn done(&self) {
        self.0.inc(1);
    }
}

impl Drop for Rate {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_is_counted() {
        let progress = Progress::new(ProgressBar::hidden(), false);
        let input = progress.begin("bfs");
        assert!(current().is_none());
        progress.end(input);
    }
}
