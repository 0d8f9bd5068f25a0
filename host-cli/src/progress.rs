//! Progress: which inputs run, and how many CTAs of their launches are done, on terminals only and
//! once a command has run for two seconds.
//!
//! What executes a launch or runs it in time says so to the [`Watch`] of the input that its thread
//! works on. Without a terminal there is none, and nothing is counted.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::printer::Printer;

/// How long an input or a command runs before anything is shown of it.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often what is shown changes.
const PERIOD: Duration = Duration::from_millis(200);

thread_local! {
    /// The input that this thread works on.
    static CURRENT: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

/// An input that runs.
#[derive(Debug)]
pub(crate) struct Watch {
    name: String,
    begun: Instant,
    /// CTAs of the launches begun so far: executed, and run in time once for each design.
    all: AtomicU64,
    /// How many of them are done.
    done: Arc<AtomicU64>,
}

impl Watch {
    fn new(name: &str) -> Self {
        let (all, done) = (AtomicU64::new(0), Arc::default());
        Self { name: name.to_owned(), begun: Instant::now(), all, done }
    }

    /// A launch of so many CTAs begins.
    pub(crate) fn launch(&self, ctas: u64) {
        self.all.fetch_add(ctas, Ordering::Relaxed);
    }

    /// Counts the CTAs that are done.
    pub(crate) fn done(&self) -> &Arc<AtomicU64> {
        &self.done
    }

    /// In words, of one that runs for so long.
    fn told(&self, running: Duration) -> String {
        let (all, done) = (self.all.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed));
        let left = all.saturating_sub(done);
        let seconds = (done > 0).then(|| running.as_secs_f64() * left as f64 / done as f64);
        let seconds = seconds.map_or_else(String::new, |left| format!(", {left:.0} s left"));
        format!("{}: {done} of {all} CTAs begun{seconds}", self.name)
    }
}

/// The input that this thread works on, for threads that work on a part of it.
pub(crate) fn current() -> Option<Arc<Watch>> {
    CURRENT.with_borrow(Clone::clone)
}

/// A launch with this many CTAs begins. What comes back is called for each of them.
pub(crate) fn launch(ctas: impl FnOnce() -> u64) -> impl Fn() {
    let watch = current();
    if let Some(watch) = &watch {
        watch.launch(ctas());
    }
    move || {
        if let Some(watch) = &watch {
            watch.done.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Until it is dropped, this thread works on an input.
#[derive(Debug)]
pub(crate) struct Within(Option<Arc<Watch>>);

/// This thread works on an input, until the result is dropped.
pub(crate) fn within(watch: Option<Arc<Watch>>) -> Within {
    Within(CURRENT.replace(watch))
}

impl Drop for Within {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

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
        let long = running.iter().map(|watch| (watch, watch.begun.elapsed()));
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
    fn what_is_done_is_told_with_what_is_left() {
        let watch = Watch::new("bfs");
        assert_eq!(watch.told(Duration::from_secs(3)), "bfs: 0 of 0 CTAs begun");
        watch.launch(300);
        watch.launch(100);
        watch.done().fetch_add(100, Ordering::Relaxed);
        let told = watch.told(Duration::from_secs(3));
        assert_eq!(told, "bfs: 100 of 400 CTAs begun, 9 s left");
    }

    #[test]
    fn a_thread_works_on_one_input_at_a_time() {
        let name = || current().map(|watch| watch.name.clone());
        let outer = within(Some(Arc::new(Watch::new("outer"))));
        let inner = within(Some(Arc::new(Watch::new("inner"))));
        assert_eq!(name().as_deref(), Some("inner"));
        drop(inner);
        assert_eq!(name().as_deref(), Some("outer"));
        drop(outer);
        assert_eq!(name(), None);
    }

    #[test]
    fn without_a_terminal_nothing_is_counted() {
        let progress = Progress::new(&Printer::new(true), 1);
        let input = progress.begin("bfs");
        assert!(current().is_none());
        progress.end(input);
    }
}
