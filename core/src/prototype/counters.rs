//! Counters of the prototype, named and numbered as its register map does.

pub use super::regmap::{COUNTER_NAMES, COUNTERS, Counter, Designs, SUMS, Sum};

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
