//! Prices: what an entry costs in each cycle, so that no more are wanted than there are.
//!
//! Whatever the prices, no choice saves more than all executions gain if each takes what pays best
//! for itself, and what all entries cost is paid back: the Lagrangian dual of the choice. Prices
//! are looked for that make this bound small; a bad search makes a bad bound, never a wrong one.

use super::curve::{CHOICES, Curve, ENTRIES};

/// A price is a multiple of a femtojoule divided by this.
const UNIT: i128 = 1 << 8;
/// Steps of the search.
const STEPS: usize = 96;
/// Steps without a better bound after which they become shorter.
const PATIENCE: usize = 6;

/// An execution, by the intervals between the epoch's points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asks<'a> {
    pub(super) curve: &'a Curve,
    /// Of each entry, the first interval that it is held in and the one after its last.
    pub(super) spans: [(usize, usize); ENTRIES],
}

/// Prices by interval, and what they prove.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// For each point, what an entry costs that is held until then.
    until: Vec<i128>,
    /// No choice saves more. Unit: femtojoules.
    pub(super) bound: i128,
}

impl Prices {
    /// What an entry costs that is held so long, in a unit of its own.
    pub(super) fn cost(&self, (first, end): (usize, usize)) -> i128 {
        self.until[end] - self.until[first]
    }

    /// Looks for good prices for intervals of these lengths, with this many entries in each.
    /// `attained` is what some choice saves.
    pub(super) fn find(asks: &[Asks<'_>], lengths: &[u64], capacity: i32, attained: i128) -> Self {
        let market = Market { asks, lengths, capacity: i128::from(capacity) };
        let mut prices = vec![0; lengths.len()];
        let mut answer = market.ask(&prices);
        let mut best = (answer.sum, prices.clone());
        let (mut patience, mut shorter) = (PATIENCE, 0);
        for _ in 0..STEPS {
            let gap = (answer.sum - attained * UNIT).max(0) >> shorter;
            if !market.step(&mut prices, &answer.wanted, gap) {
                break;
            }
            answer = market.ask(&prices);
            if answer.sum < best.0 {
                best = (answer.sum, prices.clone());
                patience = PATIENCE;
            } else if patience == 0 {
                (patience, shorter) = (PATIENCE, shorter + 1);
                prices.clone_from(&best.1);
                answer = market.ask(&prices);
            } else {
                patience -= 1;
            }
        }
        let bound = best.0.div_euclid(UNIT) + i128::from(best.0.rem_euclid(UNIT) != 0);
        Self { until: market.until(&best.1), bound }
    }
}

struct Market<'a> {
    asks: &'a [Asks<'a>],
    lengths: &'a [u64],
    capacity: i128,
}

/// What prices lead to.
struct Answer {
    /// What everyone gains, and what all entries cost.
    sum: i128,
    /// Entries wanted in each interval.
    wanted: Vec<i128>,
}

impl Market<'_> {
    fn until(&self, prices: &[i128]) -> Vec<i128> {
        let mut until = vec![0; prices.len() + 1];
        for (index, (price, &length)) in prices.iter().zip(self.lengths).enumerate() {
            until[index + 1] = until[index] + price * i128::from(length);
        }
        until
    }

    fn ask(&self, prices: &[i128]) -> Answer {
        let until = self.until(prices);
        let mut sum = self.capacity * until[prices.len()];
        let mut changes = vec![0; prices.len() + 1];
        for asks in self.asks {
            let (mut best, mut cost) = ((0, 0), 0);
            for entries in 1..CHOICES {
                let (first, end) = asks.spans[entries - 1];
                cost += until[end] - until[first];
                let gain = i128::from(asks.curve.0[entries]) * UNIT - cost;
                if gain > best.0 {
                    best = (gain, entries);
                }
            }
            sum += best.0;
            for &(first, end) in &asks.spans[..best.1] {
                changes[first] += 1;
                changes[end] -= 1;
            }
        }
        let held = changes.iter().scan(0, |held, change| {
            *held += change;
            Some(*held)
        });
        Answer { sum, wanted: held.take(prices.len()).collect() }
    }

    /// Raises prices where too much is wanted and lowers the others, as far as would close the gap
    /// if the sum were straight. Says whether any changed.
    fn step(&self, prices: &mut [i128], wanted: &[i128], gap: i128) -> bool {
        let excess = |price: i128, wanted: i128| {
            let excess = wanted - self.capacity;
            if excess > 0 || price > 0 { excess } else { 0 }
        };
        let mut norm = 0;
        for ((&price, &wanted), &length) in prices.iter().zip(wanted).zip(self.lengths) {
            let excess = excess(price, wanted);
            norm += excess * excess * i128::from(length);
        }
        if norm == 0 {
            return false;
        }
        let mut changed = false;
        for (price, &wanted) in prices.iter_mut().zip(wanted) {
            let new = (*price + gap * excess(*price, wanted) / norm).max(0);
            changed |= new != *price;
            *price = new;
        }
        changed
    }
}
