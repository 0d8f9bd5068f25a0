//! Run: the cycle that a run is in, what it has counted, and who listens. Every part gets it with
//! what it is asked to do, and keeps nothing of it.

use super::counters::SmCounters;
use super::observe::{Observation, SmObserver};

/// A run of an SM so far.
#[derive(Debug)]
pub(super) struct Run<O> {
    /// The cycle. Unit: cycles from the launch of the first CTA.
    pub(super) now: u64,
    pub(super) counters: SmCounters,
    pub(super) observer: O,
}

impl<O: SmObserver> Run<O> {
    /// Tells the observer of something, which is put together only if the observer listens.
    #[inline]
    pub(super) fn tell(&mut self, observation: impl FnOnce() -> Observation) {
        if O::LISTENS {
            self.observer.observe(observation());
        }
    }
}
