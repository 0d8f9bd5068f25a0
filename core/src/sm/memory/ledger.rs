//! Ledger: what a memory with a cache counts, and who hears of it.

use super::cache_counters::{CacheCounters, CacheEvent};
use super::touched::TouchedLine;
use super::{MemoryRequest, Ticket};
use crate::sm::observe::{MemoryObservation, Observation, SmObserver};

/// Counts, and their observer.
pub(super) struct Ledger<O> {
    counters: CacheCounters,
    observer: O,
    /// What is counted next belongs to it. Kept for an observer that listens, as the next.
    of: Option<Ticket>,
    /// When the last access was asked for.
    asked_at: u64,
}

impl<O: SmObserver> Ledger<O> {
    pub(super) fn new(observer: O) -> Self {
        Self { counters: CacheCounters::default(), observer, of: None, asked_at: 0 }
    }

    pub(super) const fn counters(&self) -> &CacheCounters {
        &self.counters
    }

    /// Who hears of it.
    pub(super) const fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    /// What is counted next belongs to an access that is asked for now.
    #[inline]
    pub(super) fn ask(&mut self, request: &MemoryRequest) {
        if O::LISTENS {
            (self.of, self.asked_at) = (Some(request.ticket), request.now);
        }
    }

    /// What is counted next belongs to an earlier access, or to none.
    #[inline]
    pub(super) fn turn_to(&mut self, of: Option<Ticket>) {
        if O::LISTENS {
            self.of = of;
        }
    }

    /// When the last access was asked for, if an observer listens.
    pub(super) const fn asked_at(&self) -> u64 {
        self.asked_at
    }

    /// Counts an instruction, of which nothing is told.
    #[inline]
    pub(super) const fn count_instruction(&mut self, event: CacheEvent) {
        self.counters.record(event, 1);
    }

    /// Counts what takes the cycles from `from` to before `until`.
    #[inline]
    pub(super) fn record(&mut self, event: CacheEvent, count: u64, cycles: (u64, u64)) {
        self.enter((event, count), None, cycles);
    }

    /// Counts what happens to a line and takes the cycles from `cycles.0` to before `cycles.1`.
    #[inline]
    pub(super) fn record_line(
        &mut self,
        event: CacheEvent,
        count: u64,
        line: TouchedLine,
        cycles: (u64, u64),
    ) {
        self.enter((event, count), Some(line), cycles);
    }

    #[inline]
    fn enter(
        &mut self,
        (event, count): (CacheEvent, u64),
        line: Option<TouchedLine>,
        (from, until): (u64, u64),
    ) {
        self.counters.record(event, count);
        if O::LISTENS && count != 0 {
            let of = self.of;
            let told = MemoryObservation { event, count, of, line, from, until };
            self.observer.observe(Observation::Memory(told));
        }
    }

    /// Tells of the access that what is counted belongs to.
    #[inline]
    pub(super) fn tell(&mut self, observation: impl FnOnce(Ticket) -> Observation) {
        if O::LISTENS
            && let Some(ticket) = self.of
        {
            self.observer.observe(observation(ticket));
        }
    }
}
