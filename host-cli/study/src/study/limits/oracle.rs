//! The oracle of `[DISS]` 6.6.1: how many of the entries that warps share each execution of a
//! strand is given, if everything that is going to execute is known.
//!
//! The best choice is a multi-dimensional knapsack with as many constraints as cycles, so that it
//! is bracketed instead: a greedy choice that fits in every cycle, and a Lagrangian bound that no
//! choice can pass. Time is cut into epochs of equally many executions, each solved alone: memory
//! does not grow with the run, and both sides of the bracket stay valid (see [`Oracle::settle`]).

use rustc_hash::FxHashMap;

mod curve;
mod ledger;
mod prices;

pub(super) use curve::{CHOICES, Curve, ENTRIES};
use ledger::Ledger;
use prices::{Asks, Prices};

/// Executions of strands that are decided together unless a test asks for fewer.
const EPOCH: usize = 1 << 13;

/// One execution of a strand that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Execution {
    /// Cycle of its first issue.
    pub(super) from: u64,
    /// The cycle after its last issue.
    pub(super) until: u64,
    /// Of each entry that it may be given, the cycles that it is held: the first and the one after
    /// the last, within those of the execution; equal if the entry is not used.
    pub(super) held: [(u64, u64); ENTRIES],
    /// What it saves, as [`Oracle::curve`] names it.
    pub(super) curve: u32,
    /// What it was given when an epoch ended before it did.
    pub(super) given: Option<u8>,
}

/// One execution that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// Cycle of its first issue.
    pub(super) from: u64,
    /// What it was given when an epoch ended before it did.
    pub(super) given: Option<u8>,
}

/// What the oracle saves. Unit: femtojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bracket {
    /// By a choice that was made.
    pub(super) attained: i128,
    /// By no choice more than this.
    pub(super) bound: i128,
}

/// Decides executions as they end.
#[derive(Debug)]
pub(super) struct Oracle {
    /// Entries that all warps share.
    capacity: i32,
    /// Entries of each warp if all had as many.
    fair: usize,
    epoch: usize,
    curves: Vec<Curve>,
    known: FxHashMap<Curve, u32>,
    ended: Vec<Execution>,
    /// First cycle of the epoch.
    since: u64,
    bracket: Bracket,
}

impl Oracle {
    /// `active_warps` warps share `capacity` entries, of which each has `fair` in the design.
    pub(super) fn new(capacity: u32, fair: u8) -> Self {
        Self::with_epochs(capacity, fair, EPOCH)
    }

    fn with_epochs(capacity: u32, fair: u8, epoch: usize) -> Self {
        Self {
            capacity: i32::try_from(capacity).unwrap_or(i32::MAX),
            fair: usize::from(fair),
            epoch,
            curves: Vec::new(),
            known: FxHashMap::default(),
            ended: Vec::new(),
            since: 0,
            bracket: Bracket::default(),
        }
    }

    /// The name of a curve.
    pub(super) fn curve(&mut self, curve: Curve) -> u32 {
        let next = self.curves.len() as u32;
        let name = *self.known.entry(curve).or_insert(next);
        if name == next {
            self.curves.push(curve);
        }
        name
    }

    /// Adds an execution.
    pub(super) fn add(&mut self, execution: Execution) {
        self.ended.push(execution);
    }

    /// Enough executions have been added for an epoch: [`Self::settle`] is due.
    pub(super) fn is_full(&self) -> bool {
        self.ended.len() >= self.epoch
    }

    /// The cycle by which all executions added have ended.
    pub(super) fn latest(&self) -> u64 {
        let last = self.ended.iter().map(|execution| execution.until).max();
        last.unwrap_or(0).max(self.since)
    }

    /// What is saved so far.
    pub(super) fn bracket(&self) -> Bracket {
        self.bracket
    }

    /// Ends an epoch before cycle `now`, by which every execution added has ended. Those that go on
    /// are given the design's own number of entries if this many are left.
    ///
    /// The choice stays one that fits, because what such an execution holds is taken from this
    /// epoch and from the next. The bound stays one, because an execution's cycles before its last
    /// epoch may be free.
    pub(super) fn settle(&mut self, now: u64, open: &mut [Open]) {
        let ended = std::mem::take(&mut self.ended);
        self.decide(&ended, now, open);
    }

    /// The entries that each execution uses.
    fn decide(&mut self, ended: &[Execution], now: u64, open: &mut [Open]) -> Vec<usize> {
        let epoch = Epoch { oracle: self, now, ended };
        let held = epoch.keep(open);
        let asks: Vec<_> = ended.iter().map(|execution| epoch.asks(&held, execution)).collect();
        let fair = epoch.choose(self.fair, &held, &asks, None);
        let prices = Prices::find(&asks, &held.lengths(), self.capacity, fair.saved);
        let starts = [self.fair, 0].map(|start| epoch.choose(start, &held, &asks, Some(&prices)));
        let best = starts.into_iter().fold(fair, Choice::better);
        self.bracket.attained += best.saved;
        self.bracket.bound += prices.bound;
        self.since = now;
        best.given
    }
}

/// The executions that end in one epoch.
struct Epoch<'a> {
    oracle: &'a Oracle,
    now: u64,
    ended: &'a [Execution],
}

/// What was decided.
struct Choice {
    saved: i128,
    /// Entries that each execution uses.
    given: Vec<usize>,
}

impl Choice {
    fn better(self, other: Self) -> Self {
        if other.saved > self.saved { other } else { self }
    }
}

/// One corner of one execution's curve.
struct Rise {
    gain: i64,
    /// What the entries cost.
    cost: i128,
    execution: usize,
    to: usize,
}

impl Epoch<'_> {
    fn curve(&self, execution: &Execution) -> &Curve {
        &self.oracle.curves[execution.curve as usize]
    }

    /// Some cycles' part in this epoch.
    fn here(&self, (from, until): (u64, u64)) -> (u64, u64) {
        let from = from.max(self.oracle.since);
        (from, until.max(from))
    }

    /// An execution's cycles in this epoch.
    fn cycles(&self, execution: &Execution) -> (u64, u64) {
        self.here((execution.from, execution.until))
    }

    /// What is held whatever is decided: by what was given its entries in an earlier epoch, and by
    /// what goes on in a later one.
    fn keep(&self, open: &mut [Open]) -> Ledger {
        let (since, now) = (self.oracle.since, self.now);
        let both = self.ended.iter().flat_map(|execution| {
            let held = execution.held.iter().map(|&held| self.here(held));
            held.chain([self.cycles(execution)])
        });
        let mut points: Vec<u64> = both.flat_map(|(from, until)| [from, until]).collect();
        points.extend(open.iter().map(|open| open.from.max(since)));
        points.extend([since, now]);
        points.sort_unstable();
        points.dedup();
        let mut held = Ledger::new(points);
        for execution in self.ended {
            let (from, until) = self.cycles(execution);
            held.add(held.place(from), held.place(until), execution.given.map_or(0, i32::from));
        }
        let end = held.place(now);
        for open in open.iter() {
            held.add(held.place(open.from.max(since)), end, open.given.map_or(0, i32::from));
        }
        for open in open.iter_mut().filter(|open| open.given.is_none()) {
            let first = held.place(open.from.max(since));
            let room = (self.oracle.capacity - held.most(first, end)).max(0);
            let given = room.min(self.oracle.fair as i32);
            held.add(first, end, given);
            open.given = Some(given as u8);
        }
        held
    }

    fn asks(&self, held: &Ledger, execution: &Execution) -> Asks<'_> {
        let spans = execution.held.map(|cycles| {
            let (from, until) = self.here(cycles);
            (held.place(from), held.place(until))
        });
        Asks { curve: self.curve(execution), spans }
    }

    /// Holds more entries for an execution that has some, one after the other while there is room
    /// in every cycle; returns how many it then has.
    fn take(&self, held: &mut Ledger, asks: &Asks<'_>, has: usize, wanted: usize) -> usize {
        for (more, &(first, end)) in asks.spans[has..wanted].iter().enumerate() {
            if held.most(first, end) >= self.oracle.capacity {
                return has + more;
            }
            held.add(first, end, 1);
        }
        wanted
    }

    /// A choice that fits in every cycle: first what executions save with at most `start` entries,
    /// then more for those that gain most for what the entries cost, or for each entry and cycle.
    fn choose(
        &self,
        start: usize,
        held: &Ledger,
        asks: &[Asks<'_>],
        prices: Option<&Prices>,
    ) -> Choice {
        let mut held = held.clone();
        let mut given = vec![0; self.ended.len()];
        let mut free = Vec::with_capacity(self.ended.len());
        for (index, execution) in self.ended.iter().enumerate() {
            if let Some(earlier) = execution.given {
                given[index] = self.curve(execution).enough(usize::from(earlier));
                continue;
            }
            free.push(index);
            let used = asks[index].curve.enough(start);
            given[index] = self.take(&mut held, &asks[index], 0, used);
            if given[index] < used {
                release(&mut held, &asks[index], &mut given[index], 0);
            }
        }
        let mut rises: Vec<Rise> = Vec::new();
        for index in free {
            let Asks { curve, spans } = asks[index];
            let mut costs = [0; CHOICES];
            for entry in 0..ENTRIES {
                let (from, until) = self.here(self.ended[index].held[entry]);
                let cycles = i128::from(until - from);
                let cost = prices.map_or(cycles, |prices| prices.cost(spans[entry]));
                costs[entry + 1] = costs[entry] + cost;
            }
            let mut at = given[index];
            for to in curve.corners(at, costs) {
                let gain = curve.0[to] - curve.0[at];
                rises.push(Rise { gain, cost: costs[to] - costs[at], execution: index, to });
                at = to;
            }
        }
        rises.sort_by(|a, b| {
            let (ours, theirs) = (i128::from(a.gain) * b.cost, i128::from(b.gain) * a.cost);
            theirs.cmp(&ours).then(a.execution.cmp(&b.execution)).then(a.to.cmp(&b.to))
        });
        let mut full = vec![false; self.ended.len()];
        for rise in rises {
            let index = rise.execution;
            if full[index] || given[index] >= rise.to {
                continue;
            }
            let before = given[index];
            given[index] = self.take(&mut held, &asks[index], before, rise.to);
            full[index] = given[index] < rise.to;
            // Of what it has got, it keeps what it saves by.
            let enough = asks[index].curve.enough(given[index]).max(before);
            release(&mut held, &asks[index], &mut given[index], enough);
        }
        let saved = self.ended.iter().zip(&given);
        let saved = saved.map(|(execution, &given)| i128::from(self.curve(execution).0[given]));
        Choice { saved: saved.sum(), given }
    }
}

/// Lets an execution keep only some of the entries that it has.
fn release(held: &mut Ledger, asks: &Asks<'_>, has: &mut usize, kept: usize) {
    for &(first, end) in &asks.spans[kept..*has] {
        held.add(first, end, -1);
    }
    *has = kept;
}

#[cfg(test)]
mod tests;
