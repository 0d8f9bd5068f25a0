//! MSHRs: the lines that a primary data cache awaits, of which there is a limit.
//!
//! Models: a line that comes from below takes an MSHR from the request on until its data is there;
//! it counts the loads that wait for the line.
//! Does not model: the words that each load wants; an MSHR for a store or for what goes past the
//! cache.
//! Source: the limits are the caller's; `docs/MODEL.md`, rule 35.

use super::touched::MOST_LINES;

/// How many lines a cache awaits, and how many loads each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MshrLimit {
    /// Lines. Range: `1..=MAX_LINES`.
    pub lines: u16,
    /// Loads that wait for a line, that which missed first among them. Range: from 1.
    pub loads: u8,
}

impl MshrLimit {
    /// Most lines that a limit can be.
    pub const MAX_LINES: u16 = 1024;

    /// The caller's memory that it needs: an access of more lines than MSHRs is taken when all are
    /// free.
    pub const fn entries(limit: Option<Self>) -> usize {
        match limit {
            Some(limit) => limit.lines as usize + MOST_LINES,
            None => 0,
        }
    }
}

/// A line that is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mshr {
    /// What the cache knows the line by.
    key: u64,
    /// When its data is there: the same as in the cache's tag.
    arrives: u64,
    loads: u8,
}

impl Mshr {
    /// Memory for one.
    pub const EMPTY: Self = Self { key: 0, arrives: 0, loads: 0 };
}

/// What an access needs of MSHRs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MshrNeeds {
    /// Lines that it makes the cache await.
    pub(super) lines: usize,
    /// A line for which as many loads wait as may.
    pub(super) too_many_loads: bool,
}

/// The MSHRs of a cache that has a limit.
#[derive(Debug)]
pub(super) struct Mshrs<'m> {
    limit: MshrLimit,
    // Invariant: the first `taken`; a line that was replaced while it was awaited may be there
    // twice, with different arrivals.
    entries: &'m mut [Mshr],
    taken: usize,
}

impl<'m> Mshrs<'m> {
    /// None taken. The memory has [`MshrLimit::entries`]; what does not fit it is not counted.
    pub(super) const fn new(limit: MshrLimit, entries: &'m mut [Mshr]) -> Self {
        Self { limit, entries, taken: 0 }
    }

    /// Frees those whose line is there at `now`. Returns whether the others leave room for an
    /// access. Of an access that needs more than there are, they do when none is taken.
    pub(super) fn have_room(&mut self, needs: MshrNeeds, now: u64) -> bool {
        let mut entry = 0;
        while entry < self.taken {
            if self.entries[entry].arrives <= now {
                self.taken -= 1;
                self.entries[entry] = self.entries[self.taken];
            } else {
                entry += 1;
            }
        }
        let fits = needs.lines == 0 || self.taken + needs.lines <= usize::from(self.limit.lines);
        self.taken == 0 || fits && !needs.too_many_loads
    }

    /// Whether as many loads wait for a line as may.
    pub(super) fn is_full(&self, key: u64, arrives: u64) -> bool {
        let taken = &self.entries[..self.taken];
        let of_line = |entry: &&Mshr| (entry.key, entry.arrives) == (key, arrives);
        taken.iter().find(of_line).is_some_and(|entry| entry.loads >= self.limit.loads)
    }

    /// A line is awaited, by one access.
    pub(super) fn take(&mut self, key: u64, arrives: u64) {
        if let Some(entry) = self.entries.get_mut(self.taken) {
            *entry = Mshr { key, arrives, loads: 1 };
            self.taken += 1;
        }
    }

    /// It is known when a line comes.
    pub(super) fn arrive(&mut self, key: u64, arrives: u64, instead: u64) {
        let taken = &mut self.entries[..self.taken];
        for entry in taken.iter_mut().filter(|entry| (entry.key, entry.arrives) == (key, arrives)) {
            entry.arrives = instead;
        }
    }

    /// Another load waits for a line.
    pub(super) fn merge(&mut self, key: u64, arrives: u64) {
        let taken = &mut self.entries[..self.taken];
        let of_line = |entry: &&mut Mshr| (entry.key, entry.arrives) == (key, arrives);
        if let Some(entry) = taken.iter_mut().find(of_line) {
            entry.loads = entry.loads.saturating_add(1);
        }
    }
}
