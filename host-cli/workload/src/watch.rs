//! Watch: how many CTAs of an input's launches are done, for a display of progress.
//!
//! What executes a launch or runs it in time says so to the [`Watch`] of the input that its thread
//! works on. Without a display there is none, and nothing is counted.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// The input that this thread works on.
    static CURRENT: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

/// An input that runs.
#[derive(Debug)]
pub struct Watch {
    name: String,
    begun: Instant,
    /// CTAs of the launches begun so far: executed, and run in time once for each design.
    all: AtomicU64,
    /// How many of them are done.
    done: Arc<AtomicU64>,
}

impl Watch {
    /// One that begins now.
    pub fn new(name: &str) -> Self {
        let (all, done) = (AtomicU64::new(0), Arc::default());
        Self { name: name.to_owned(), begun: Instant::now(), all, done }
    }

    /// A launch of so many CTAs begins.
    pub fn launch(&self, ctas: u64) {
        self.all.fetch_add(ctas, Ordering::Relaxed);
    }

    /// Counts the CTAs that are done.
    pub fn done(&self) -> &Arc<AtomicU64> {
        &self.done
    }

    /// How long it has been running.
    pub fn running(&self) -> Duration {
        self.begun.elapsed()
    }

    /// In words, of one that runs for so long.
    pub fn told(&self, running: Duration) -> String {
        let (all, done) = (self.all.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed));
        let left = all.saturating_sub(done);
        let seconds = (done > 0).then(|| running.as_secs_f64() * left as f64 / done as f64);
        let seconds = seconds.map_or_else(String::new, |left| format!(", {left:.0} s left"));
        format!("{}: {done} of {all} CTAs begun{seconds}", self.name)
    }
}

/// The input that this thread works on, for threads that work on a part of it.
pub fn current() -> Option<Arc<Watch>> {
    CURRENT.with_borrow(Clone::clone)
}

/// A launch with this many CTAs begins. What comes back is called for each of them.
pub fn launch(ctas: impl FnOnce() -> u64) -> impl Fn() {
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
pub struct Within(Option<Arc<Watch>>);

/// This thread works on an input, until the result is dropped.
pub fn within(watch: Option<Arc<Watch>>) -> Within {
    Within(CURRENT.replace(watch))
}

impl Drop for Within {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
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
}
