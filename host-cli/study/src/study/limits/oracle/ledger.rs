//! The ledger: entries held in each cycle, by intervals.

/// Entries held, for cycles between the points that it was made with. Adding and asking take time
/// that is logarithmic in their number.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// Ascending, at least two.
    points: Vec<u64>,
    /// A segment tree: the most entries held in each node's cycles, those that `added` of the nodes
    /// above it says left out.
    most: Vec<i32>,
    /// Entries held in all cycles of a node, beyond what its children say.
    added: Vec<i32>,
}

impl Ledger {
    /// An empty one. Only the points, which ascend, may be asked for.
    pub(super) fn new(points: Vec<u64>) -> Self {
        let leaves = points.len().saturating_sub(1).max(1).next_power_of_two();
        Self { points, most: vec![0; 2 * leaves], added: vec![0; 2 * leaves] }
    }

    fn leaves(&self) -> usize {
        self.most.len() / 2
    }

    /// Cycles of each interval between two points.
    pub(super) fn lengths(&self) -> Vec<u64> {
        self.points.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// The interval that begins at a cycle, which is one of the points.
    pub(super) fn place(&self, cycle: u64) -> usize {
        self.points.partition_point(|&point| point < cycle)
    }

    /// Holds more entries in some intervals, `end` not among them; fewer if `entries` is negative.
    pub(super) fn add(&mut self, first: usize, end: usize, entries: i32) {
        if first >= end || entries == 0 {
            return;
        }
        let leaves = self.leaves();
        let (mut left, mut right) = (first + leaves, end + leaves);
        while left < right {
            if left & 1 == 1 {
                self.hold(left, entries);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.hold(right, entries);
            }
            (left, right) = (left / 2, right / 2);
        }
        for mut node in [first + leaves, end - 1 + leaves] {
            while node > 1 {
                node /= 2;
                self.most[node] =
                    self.most[2 * node].max(self.most[2 * node + 1]) + self.added[node];
            }
        }
    }

    fn hold(&mut self, node: usize, entries: i32) {
        self.most[node] += entries;
        self.added[node] += entries;
    }

    /// Most entries held in a cycle of some intervals, `end` not among them.
    pub(super) fn most(&self, first: usize, end: usize) -> i32 {
        if first >= end { 0 } else { self.most_in(1, 0, self.leaves(), first, end) }
    }

    fn most_in(&self, node: usize, low: usize, high: usize, first: usize, end: usize) -> i32 {
        if end <= low || high <= first {
            return i32::MIN;
        }
        if first <= low && high <= end {
            return self.most[node];
        }
        let middle = usize::midpoint(low, high);
        let left = self.most_in(2 * node, low, middle, first, end);
        let right = self.most_in(2 * node + 1, middle, high, first, end);
        left.max(right) + self.added[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against an array of cycles.
    #[test]
    fn a_ledger_is_an_array_of_cycles() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for cycles in [1_u64, 2, 3, 7, 8, 21] {
            let mut ledger = Ledger::new((0..=cycles).map(|point| 10 * point).collect());
            let mut array = vec![0; cycles as usize];
            for step in 0..200 {
                let (a, b) = (random(cycles + 1), random(cycles + 1));
                let (from, until) = (a.min(b), a.max(b));
                // What was added is taken away again at times.
                let held = array.get(from as usize..until as usize).unwrap_or_default();
                let least = held.iter().copied().min().unwrap_or(0);
                let entries = if step % 3 == 2 { -least } else { random(5) as i32 };
                ledger.add(ledger.place(10 * from), ledger.place(10 * until), entries);
                let range = from as usize..until as usize;
                array[range].iter_mut().for_each(|held| *held += entries);
                let (a, b) = (random(cycles + 1), random(cycles + 1));
                let (first, end) = (a.min(b) as usize, a.max(b) as usize);
                let most = array[first..end].iter().copied().max().unwrap_or(0);
                assert_eq!(ledger.most(first, end), most, "{cycles} cycles, step {step}");
            }
        }
    }
}
