//! Allocation to the operand register file and the last result file: greedy, by energy saved for
//! each issue slot that a value occupies an entry (`[DISS]` 6.4, Figures 6.5, 6.6 and 6.8).
//!
//! The last result file comes first, with whole values only; then the operand register file, where
//! a value that does not fit is shortened read by read while that saves energy.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use strata_core::placement::{LRF_BANKS, Placement, Upper};

use super::config::{DualWrites, HierarchyConfig, LevelCosts, Lrf};
use super::values::{Access, Candidate, Origin};

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its strand.
    pub strand: u32,
    /// Its register.
    pub register: u16,
    /// How it gets into the upper level.
    pub origin: Origin,
    /// Its first definition, or its first read.
    pub pc: u32,
    /// Reads that could be served.
    pub reads: u32,
    /// Issue slots that it would occupy an entry.
    pub occupied: u32,
    /// It is written to the main register file whatever happens.
    pub main: bool,
    /// The decision.
    pub outcome: Outcome,
}

/// Where a value is kept, or why it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// In an entry, for its first `reads` reads.
    Kept {
        /// The entry.
        upper: Upper,
        /// Reads served.
        reads: u32,
        /// Energy saved in one execution. Unit: femtojoules for each 128-bit access.
        savings: i64,
    },
    /// It would cost more energy than it saves.
    Unprofitable,
    /// Every entry is taken by values that save more, or cannot be named.
    NoEntry,
}

/// Fits the candidates of a program, which are ordered by strand, into the levels.
pub(super) fn allocate(
    candidates: &[Candidate],
    slots: usize,
    config: &HierarchyConfig,
) -> (Vec<Placement>, Vec<Decision>) {
    let mut placements = vec![Placement::MAIN; slots];
    let mut decisions = Vec::with_capacity(candidates.len());
    for strand in candidates.chunk_by(|a, b| a.strand == b.strand) {
        let mut allocator = Allocator {
            config,
            candidates: strand,
            outcomes: strand.iter().map(|_| Outcome::Unprofitable).collect(),
            placements: &mut placements,
        };
        allocator.last_results();
        allocator.operands();
        let outcomes = allocator.outcomes.into_iter();
        decisions.extend(strand.iter().zip(outcomes).map(|(candidate, outcome)| Decision {
            strand: candidate.strand,
            register: candidate.register,
            origin: candidate.origin,
            pc: candidate.writes[0].pc,
            reads: candidate.reads.len() as u32,
            occupied: candidate.occupied(candidate.reads.len()),
            main: candidate.main,
            outcome,
        }));
    }
    (placements, decisions)
}

impl Candidate {
    fn begin(&self) -> u32 {
        self.writes[0].time
    }

    /// First time at which its entry is free again if its first `reads` reads are served.
    fn end(&self, reads: usize) -> u32 {
        let begin = self.begin();
        let mut last = reads.checked_sub(1).map_or(0, |last| self.reads[last].time);
        let mut end = last.max(begin + 1);
        // What was there before a loop and is read in it is read again in each of its turns, or its
        // successor is: what turns hand on has a definition before the loop. Loops that enclose
        // others come before them.
        for around in self.loops.iter().rev() {
            if begin < around.start && around.contains(&last) {
                (last, end) = (around.end - 1, end.max(around.end));
            }
        }
        end
    }

    /// Issue slots that it occupies an entry.
    fn occupied(&self, reads: usize) -> u32 {
        self.end(reads) - self.begin()
    }

    /// Its writes to the upper level if its first `reads` reads are served.
    fn written(&self, reads: usize) -> &[Access] {
        let whole = reads == self.reads.len();
        let needed = self.writes.partition_point(|write| write.time < self.end(reads));
        if whole { &self.writes } else { &self.writes[..needed] }
    }

    /// Whether its definitions go to the main register file as well.
    fn in_main(&self, reads: usize) -> bool {
        self.main || reads < self.reads.len()
    }

    /// Energy saved by serving its first reads from a level, for each number of them. Unit:
    /// femtojoules for each 128-bit access.
    fn savings_by_reads(&self, main: &LevelCosts, upper: &LevelCosts) -> Vec<i64> {
        let mut gain = 0;
        let mut cost = 0;
        let mut written = 0;
        let mut savings = Vec::with_capacity(self.reads.len() + 1);
        for reads in 0..=self.reads.len() {
            if let Some(read) = reads.checked_sub(1).map(|last| &self.reads[last]) {
                gain += main.to(read.shared).read - upper.to(read.shared).read;
            }
            let writes = self.written(reads);
            let new = writes[written..].iter();
            cost += new.map(|write| upper.to(write.shared).beside_main).sum::<i64>();
            written = writes.len();
            savings.push(gain - cost);
        }
        if !self.main
            && let Some(whole) = savings.last_mut()
        {
            let instead = |write: &Access| {
                let upper = upper.to(write.shared);
                main.to(write.shared).write + upper.beside_main - upper.write
            };
            *whole += self.writes.iter().map(instead).sum::<i64>();
        }
        savings
    }

    /// Energy saved by serving all its reads.
    fn savings(&self, main: &LevelCosts, upper: &LevelCosts) -> i64 {
        self.savings_by_reads(main, upper).pop().unwrap_or_default()
    }

    /// The bank of the last result file that can hold it: only the private datapath reaches one,
    /// and each bank of a split file serves one operand slot.
    fn bank(&self, lrf: Lrf) -> Option<u8> {
        let mut all = self.writes.iter().chain(&self.reads);
        if lrf == Lrf::None || all.any(|access| access.shared) {
            return None;
        }
        if lrf == Lrf::Unified {
            return Some(0);
        }
        let bank = self.reads.first().map_or(0, |read| read.operand);
        let one = self.reads.iter().all(|read| read.operand == bank);
        (one && bank < LRF_BANKS).then_some(bank)
    }
}

/// A candidate in the queue: more savings for each slot first, then the earlier in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ranked {
    savings: i64,
    occupied: u32,
    index: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let ours = i128::from(self.savings) * i128::from(other.occupied);
        let theirs = i128::from(other.savings) * i128::from(self.occupied);
        ours.cmp(&theirs).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// When an entry is taken: ends by begin, without overlaps.
#[derive(Clone, Debug, Default)]
struct Entry(BTreeMap<u32, u32>);

impl Entry {
    fn is_free(&self, begin: u32, end: u32) -> bool {
        self.0.range(..end).next_back().is_none_or(|(_, &taken_to)| taken_to <= begin)
    }

    fn take(&mut self, begin: u32, end: u32) {
        self.0.insert(begin, end);
    }
}

struct Allocator<'a> {
    config: &'a HierarchyConfig,
    /// Those of one strand.
    candidates: &'a [Candidate],
    outcomes: Vec<Outcome>,
    placements: &'a mut [Placement],
}

impl Allocator<'_> {
    /// Candidates that save energy in a level when kept whole, best first.
    fn ranked(&self, level: &LevelCosts, able: impl Fn(usize) -> bool) -> BinaryHeap<Ranked> {
        let rank = |index: usize| {
            let candidate = &self.candidates[index];
            let savings = candidate.savings(&self.config.costs.main, level);
            let occupied = candidate.occupied(candidate.reads.len());
            (savings > 0).then_some(Ranked { savings, occupied, index })
        };
        (0..self.candidates.len()).filter(|&index| able(index)).filter_map(rank).collect()
    }

    fn last_results(&mut self) {
        let Some(level) = self.config.costs.lrf.as_ref() else { return };
        let lrf = self.config.lrf;
        let may_double = self.config.dual_writes != DualWrites::Never;
        let able = |index: usize| {
            let candidate = &self.candidates[index];
            candidate.bank(lrf).is_some()
                && (may_double || !candidate.doubles(candidate.reads.len()))
        };
        let mut queue = self.ranked(level, able);
        let mut banks = vec![Entry::default(); usize::from(LRF_BANKS)];
        while let Some(Ranked { savings, index, .. }) = queue.pop() {
            let candidate = &self.candidates[index];
            let reads = candidate.reads.len();
            let Some(bank) = candidate.bank(lrf) else { continue };
            let entry = &mut banks[usize::from(bank)];
            let (begin, end) = (candidate.begin(), candidate.end(reads));
            if entry.is_free(begin, end) {
                entry.take(begin, end);
                self.place(index, reads, Upper::Lrf(bank), savings);
            }
        }
    }

    fn operands(&mut self) {
        let main = &self.config.costs.main;
        let level = &self.config.costs.orf;
        let free = |index: usize| !matches!(self.outcomes[index], Outcome::Kept { .. });
        let mut queue = self.ranked(level, free);
        let mut entries = vec![Entry::default(); usize::from(self.config.orf_entries)];
        while let Some(Ranked { index, .. }) = queue.pop() {
            let candidate = &self.candidates[index];
            let whole = candidate.reads.len();
            let shortest = if self.config.partial_ranges { whole.min(1) } else { whole };
            self.outcomes[index] = Outcome::NoEntry;
            let savings = candidate.savings_by_reads(main, level);
            for reads in (shortest..=whole).rev() {
                let savings = savings[reads];
                if savings <= 0 {
                    break;
                }
                let (begin, end) = (candidate.begin(), candidate.end(reads));
                let fits = |entry: usize| {
                    self.may_hold(entry, candidate, reads) && entries[entry].is_free(begin, end)
                };
                if let Some(entry) = (0..entries.len()).find(|&entry| fits(entry)) {
                    entries[entry].take(begin, end);
                    self.place(index, reads, Upper::Orf(entry as u8), savings);
                    break;
                }
            }
        }
    }

    /// Whether the encoding can name an entry for a value of which `reads` reads are served.
    fn may_hold(&self, entry: usize, candidate: &Candidate, reads: usize) -> bool {
        if !candidate.doubles(reads) {
            return true;
        }
        match self.config.dual_writes {
            DualWrites::Any => true,
            DualWrites::SameName => {
                usize::from(candidate.register) % usize::from(self.config.orf_entries) == entry
            }
            DualWrites::LastResultOnly | DualWrites::Never => false,
        }
    }

    fn place(&mut self, index: usize, reads: usize, upper: Upper, savings: i64) {
        let candidate = &self.candidates[index];
        let main = candidate.in_main(reads);
        let served = Placement { main: false, upper: Some(upper) };
        for access in candidate.written(reads) {
            self.placements[access.slot as usize] = Placement { main, upper: Some(upper) };
        }
        for access in &candidate.reads[..reads] {
            self.placements[access.slot as usize] = served;
        }
        self.outcomes[index] = Outcome::Kept { upper, reads: reads as u32, savings };
    }
}

impl Candidate {
    /// Whether its definitions name an upper level and the main register file at once.
    fn doubles(&self, reads: usize) -> bool {
        self.origin == Origin::Written && self.in_main(reads)
    }
}
