//! Counters of the prototype, named and numbered as its register map does.

pub use super::regmap::{COUNTER_NAMES, COUNTERS, Counter, SUMS};
use crate::event::Event;

/// Designs of which a [`Sum`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Designs {
    /// With a register file cache.
    Cache,
    /// Without a write pool.
    Banks,
    /// With a write pool and no cache; events are those of count mode, which has no pool.
    Pool,
}

/// Counters whose sum is that of some events, over the same accesses of the same lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// In these designs.
    pub of: Designs,
    /// The prototype's counters.
    pub counters: &'static [Counter],
    /// The model's events.
    pub events: &'static [Event],
}

/// What the prototype has counted since it was reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrototypeCounters(pub [u64; COUNTERS]);

impl Default for PrototypeCounters {
    fn default() -> Self {
        Self([0; COUNTERS])
    }
}

impl PrototypeCounters {
    /// One counter.
    pub const fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Every counter with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COUNTER_NAMES.into_iter().zip(self.0)
    }

    #[inline]
    pub(super) const fn add(&mut self, counter: Counter, count: u64) {
        self.0[counter as usize] += count;
    }
}
