//! Waiting: accesses whose lines come at cycles that are not known yet.
//!
//! Models: an access waits for each of its lines; it has its data when the last one is there.
//! Does not model: lines.
//! Source: `docs/MODEL.md`, rule 39.

use super::Ticket;
use super::lower::{FetchId, Fetched};
use super::touched::{MOST_LINES, TouchedLine};

/// An access that waits.
#[derive(Clone, Copy, Debug)]
pub struct WaitingAccess {
    ticket: Ticket,
    /// Lines that have not come; 0 of a place that is free.
    left: u16,
    /// When its data is there, as far as it is known.
    at: u64,
    /// Of a place that is free: the next one.
    next: u16,
}

impl WaitingAccess {
    /// Memory for one.
    pub const EMPTY: Self =
        Self { ticket: Ticket { warp: 0, pc: 0 }, left: 0, at: 0, next: NOBODY };
}

/// Something that a line on its way is for.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    fetch: FetchId,
    /// The access, or [`NOBODY`].
    access: u16,
    /// What the cache knows the line by.
    key: u64,
    /// The first cycle in which it can be there.
    from: u64,
    /// The line that is put into the cache, and who has asked for it.
    fills: Option<(TouchedLine, Ticket)>,
}

impl Waiter {
    /// Memory for one.
    pub const EMPTY: Self =
        Self { fetch: FetchId(0), access: NOBODY, key: 0, from: 0, fills: None };
}

/// No access.
const NOBODY: u16 = u16::MAX;

/// A line that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coming {
    /// The cycle.
    pub(super) at: u64,
    /// What the cache knows it by.
    pub(super) key: u64,
    /// The line that is put into the cache, and who has asked for it.
    pub(super) fills: Option<(TouchedLine, Ticket)>,
    /// An access that has all its data then, and since when.
    pub(super) done: Option<(Ticket, u64)>,
}

/// Accesses that wait, in the caller's memory.
#[derive(Debug)]
pub(super) struct Waiting<'m> {
    accesses: &'m mut [WaitingAccess],
    /// The first free place of an access.
    free: u16,
    // Invariant: the first `used`, from the oldest to the youngest.
    waiters: &'m mut [Waiter],
    used: usize,
}

/// Accesses that the memory has room for.
pub const MOST_WAITING: usize = 1024;
/// Lines that all of them wait for, at most.
pub const MOST_WAITERS: usize = 4096;

const _: () = assert!(MOST_LINES <= MOST_WAITERS && MOST_WAITING < NOBODY as usize);

impl<'m> Waiting<'m> {
    /// No access waits. Memory beyond 65,535 accesses is not used.
    pub(super) fn new(accesses: &'m mut [WaitingAccess], waiters: &'m mut [Waiter]) -> Self {
        let all = accesses.len().min(usize::from(NOBODY));
        for (place, access) in accesses[..all].iter_mut().enumerate() {
            let next = if place + 1 < all { place as u16 + 1 } else { NOBODY };
            *access = WaitingAccess { next, ..WaitingAccess::EMPTY };
        }
        Self { accesses, free: if all == 0 { NOBODY } else { 0 }, waiters, used: 0 }
    }

    /// Whether there is room for an access of so many lines.
    pub(super) const fn has_room(&self, lines: usize) -> bool {
        self.free != NOBODY && self.waiters.len() - self.used >= lines
    }

    /// The access that is asked for now waits for a line, or with `waits` false nothing does;
    /// `fills` is the line that is put into the cache, and who has asked for it.
    pub(super) fn wait_for(
        &mut self,
        (fetch, from): (FetchId, u64),
        key: u64,
        fills: Option<(TouchedLine, Ticket)>,
        waits: bool,
    ) {
        if fills.is_some() {
            // The cache has replaced it meanwhile.
            let same = |waiter: &&mut Waiter| (waiter.fetch, waiter.key) == (fetch, key);
            for waiter in self.waiters[..self.used].iter_mut().filter(same) {
                waiter.fills = None;
            }
        }
        let access = if waits { self.free } else { NOBODY };
        if let Some(place) = self.waiters.get_mut(self.used) {
            *place = Waiter { fetch, access, key, from, fills };
            self.used += 1;
        }
    }

    /// From when on a line on its way can be in the cache.
    pub(super) fn fills_from(&self, fetch: FetchId, key: u64) -> u64 {
        let same =
            |waiter: &&Waiter| waiter.fills.is_some() && (waiter.fetch, waiter.key) == (fetch, key);
        self.waiters[..self.used].iter().find(same).map_or(0, |waiter| waiter.from)
    }

    /// The access that is asked for now has asked for all; it waits for so many lines, from 1, and
    /// not before `at`.
    pub(super) fn begin(&mut self, ticket: Ticket, lines: u16, at: u64) {
        if let Some(access) = self.accesses.get_mut(usize::from(self.free)) {
            self.free = access.next;
            *access = WaitingAccess { ticket, left: lines, at, next: NOBODY };
        }
    }

    /// A line comes: tells of all that it is for, from the oldest to the youngest.
    pub(super) fn come(&mut self, line: Fetched, mut tell: impl FnMut(Coming)) {
        let mut stay = 0;
        for index in 0..self.used {
            let waiter = self.waiters[index];
            if waiter.fetch != line.fetch {
                self.waiters[stay] = waiter;
                stay += 1;
                continue;
            }
            let at = line.at.max(waiter.from);
            let Waiter { key, fills, .. } = waiter;
            tell(Coming { at, key, fills, done: self.receive(waiter.access, at) });
        }
        self.used = stay;
    }

    /// A line of an access is there. Returns the access if it was the last.
    fn receive(&mut self, place: u16, at: u64) -> Option<(Ticket, u64)> {
        let access = self.accesses.get_mut(usize::from(place))?;
        access.left -= 1;
        access.at = access.at.max(at);
        let done = (access.ticket, access.at);
        if access.left != 0 {
            return None;
        }
        access.next = self.free;
        self.free = place;
        Some(done)
    }
}
