//! Arbitration: accesses of memory that wait for the banks of unified storage, which registers use
//! first.
//!
//! Models: a queue of accesses in the order of their issue; the oldest takes, in each cycle, the
//! ports of the banks of which it still needs rows, as far as no register does; then lines from
//! DRAM that are written to their bank, in the order in which they come.
//! Does not model: a register that reads a line as it is written; queues between clusters.
//! Source: `[MICRO2012]` 4.2 and 4.3; `docs/MODEL.md`, rule 36.

use heapless::Deque;

use super::cache::Cache;
use super::touched::{BankMapping, CLUSTERS, LOGICAL_BANKS, RowsInBanks};
use super::{BankPort, MemoryStep, Ticket};

/// Most accesses that wait for their banks; further ones are refused.
pub(super) const MOST_QUEUED: usize = 256;
/// Most lines on their way from DRAM that take a port when they come; further ones find it free.
pub(super) const MOST_FILLS: usize = 1024;

/// An access that waits for its banks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) ticket: Ticket,
    /// Rows that it still needs.
    pub(super) rows: RowsInBanks,
    /// Whether it takes ports for reads, and for writes.
    pub(super) ports: [bool; 2],
    /// Cycles for which it takes the path if no register is in its way.
    pub(super) cycles: u64,
    /// From the last of them to its data, without DRAM.
    pub(super) latency: u64,
    /// When its data from DRAM is there; 0 without.
    pub(super) from_dram: u64,
    pub(super) is_shared: bool,
}

/// A line on its way from DRAM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// What the cache knows it by.
    pub(super) key: u64,
    /// The bank that it lies in.
    pub(super) bank: u8,
    /// The cycle from which on it is in the cache.
    pub(super) arrives: u64,
}

/// What the oldest access does in a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) ticket: Ticket,
    /// A register was in its way, so that it ends a cycle later.
    pub(super) held: bool,
    /// It ends: the first cycle in which it took the path.
    pub(super) ended: Option<u64>,
}

/// The accesses and lines that wait.
#[derive(Debug, Default)]
pub(super) struct Arbitration {
    queue: Deque<Queued, MOST_QUEUED>,
    /// The first cycle of the oldest access on the path, if it has begun.
    from: u64,
    /// The cycle after the last of the oldest access on the path, as far as it is known; 0 if it
    /// has not begun.
    until: u64,
    // Invariant: those that the cache has a place for are in the order in which they arrive.
    fills: Deque<Fill, MOST_FILLS>,
}

impl Arbitration {
    /// Whether it takes no more accesses.
    pub(super) fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Whether no access waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether an access of shared memory waits.
    pub(super) fn has_shared(&self) -> bool {
        self.queue.iter().any(|queued| queued.is_shared)
    }

    /// An access waits, if there is room.
    pub(super) fn push(&mut self, queued: Queued) {
        let _ = self.queue.push_back(queued);
    }

    /// A line is on its way, which comes later than all others.
    pub(super) fn push_fill(&mut self, fill: Fill) {
        let _ = self.fills.push_back(fill);
    }

    /// The next cycle, later than `now`, in which something takes a port or the path.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let access = self.queue.front().map(|oldest| {
            let only_path = self.until != 0 && oldest.rows.is_empty();
            if only_path { (self.until - 1).max(now + 1) } else { now + 1 }
        });
        let fill = self.fills.front().map(|fill| (fill.arrives - 1).max(now + 1));
        match (access, fill) {
            (Some(access), Some(fill)) => Some(access.min(fill)),
            (access, fill) => access.or(fill),
        }
    }

    /// The oldest access in one cycle, if there is one.
    pub(super) fn step_access(
        &mut self,
        mapping: BankMapping,
        step: &mut dyn MemoryStep,
    ) -> Option<Progress> {
        let now = step.now();
        let oldest = self.queue.front_mut()?;
        if self.until == 0 {
            self.from = now;
            self.until = now + oldest.cycles;
        }
        let mut progress = Progress { ticket: oldest.ticket, held: false, ended: None };
        if !oldest.rows.is_empty() {
            let passed = pass(&mut oldest.rows, oldest.ports, mapping, step);
            progress.held = !passed || now + 1 >= self.until && !oldest.rows.is_empty();
            self.until += u64::from(progress.held);
        }
        if now + 1 >= self.until {
            step.arrive(oldest.ticket, oldest.from_dram.max(now + oldest.latency));
            self.queue.pop_front();
            self.until = 0;
            progress.ended = Some(self.from);
        }
        Some(progress)
    }

    /// The lines that come from DRAM in one cycle. What the cache has dropped meanwhile takes no
    /// port; what finds its port taken is there a cycle later. Returns whether any waits.
    pub(super) fn step_fills(&mut self, cache: &mut Cache<'_>, step: &mut dyn MemoryStep) -> bool {
        let next = step.now() + 1;
        while let Some(fill) = self.fills.front()
            && fill.arrives <= next
            && (!cache.awaits(fill.key, fill.arrives) || step.claim(fill.bank, BankPort::Write))
        {
            self.fills.pop_front();
        }
        let mut waits = false;
        for fill in self.fills.iter_mut().take_while(|fill| fill.arrives <= next) {
            if cache.awaits(fill.key, fill.arrives) {
                cache.arrive(fill.key, fill.arrives, next + 1);
                fill.arrives = next + 1;
                waits = true;
            }
        }
        waits
    }
}

/// Passes as many rows as a cycle allows. Returns whether it was any.
fn pass(
    rows: &mut RowsInBanks,
    [reads, writes]: [bool; 2],
    mapping: BankMapping,
    step: &mut dyn MemoryStep,
) -> bool {
    let mut claimed = [None; LOGICAL_BANKS];
    let mut passed = false;
    for cluster in 0..CLUSTERS {
        for (bank, claimed) in claimed.iter_mut().enumerate() {
            if !rows.has(bank, cluster) {
                continue;
            }
            let granted = *claimed.get_or_insert_with(|| {
                let mut claim = |port| step.claim(bank as u8, port);
                (!reads || claim(BankPort::Read)) && (!writes || claim(BankPort::Write))
            });
            if granted && rows.take(bank, cluster) {
                passed = true;
                if mapping != BankMapping::Aggressive {
                    break;
                }
            }
        }
    }
    passed
}
