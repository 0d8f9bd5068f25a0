//! Cache: the tags of the primary data cache.
//!
//! Models: lines of 128 bytes in sets of several ways; a line's set is its number modulo the sets,
//! any number of them; the least recently used way is replaced. A line is allocated when it misses,
//! and is pending until its data is there.
//! Does not model: data; a limit on pending lines (`mshr`).
//! Source: `[MICRO2012]` 4.3 and Table 2, `[DISS]` 7.3; `docs/MODEL.md`, rule 35.

use super::touched::LINE_BYTES;

/// A way of a set, with what else a cache holds of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag<S = ()> {
    line: u64,
    /// The cycle from which its data is there.
    arrives: u64,
    /// When it was used last, in lookups; 0 without a line.
    used: u64,
    /// What else is held.
    pub(super) state: S,
}

impl Tag {
    /// A way without a line, also for memory that is laid out at compile time.
    pub const EMPTY: Self = Self::empty(());
}

impl<S> Tag<S> {
    /// A way without a line.
    pub const fn empty(state: S) -> Self {
        Self { line: u64::MAX, arrives: 0, used: 0, state }
    }

    /// The cycle from which its data is there.
    pub(super) const fn arrives(&self) -> u64 {
        self.arrives
    }

    /// Its data is there from a cycle on.
    pub(super) const fn set_arrival(&mut self, arrives: u64) {
        self.arrives = arrives;
    }

    /// What a lookup of its line finds in cycle `now`.
    const fn found(&self, now: u64) -> Lookup {
        if self.arrives > now { Lookup::Merged { arrives: self.arrives } } else { Lookup::Hit }
    }
}

/// A size that makes no cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheError {
    /// A cache without ways.
    NoWays,
    /// A capacity that is not a whole number of sets.
    Capacity {
        /// The capacity. Unit: bytes.
        bytes: u32,
        /// What a set holds. Unit: bytes.
        set_bytes: u32,
    },
    /// Less memory than a tag for each line.
    MemoryTooShort {
        /// Tags needed.
        needed: usize,
        /// Tags given.
        given: usize,
    },
}

impl core::fmt::Display for CacheError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoWays => to.write_str("a cache needs at least 1 way"),
            Self::Capacity { bytes, set_bytes } => {
                write!(to, "{bytes} bytes are no whole number of sets of {set_bytes} bytes")
            }
            Self::MemoryTooShort { needed, given } => {
                write!(to, "memory for {given} tags was given, {needed} are needed")
            }
        }
    }
}

impl core::error::Error for CacheError {}

/// What a lookup finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The line, with its data.
    Hit,
    /// The line, whose data is on its way.
    Merged {
        /// The cycle from which it is there.
        arrives: u64,
    },
    /// Nothing.
    Miss,
}

/// The tags, each with a state.
#[derive(Debug)]
pub struct Cache<'m, S = ()> {
    // Invariants: a line is in one way at most, in its set; a way with a line was used after all
    // ways without.
    tags: &'m mut [Tag<S>],
    ways: usize,
    /// Lookups so far.
    lookups: u64,
}

impl Cache<'_> {
    /// Tags that a cache of so many bytes needs.
    pub const fn tags(bytes: u32) -> usize {
        (bytes / LINE_BYTES) as usize
    }
}

impl<'m, S: Copy + Default> Cache<'m, S> {
    /// A cache over the caller's memory, which holds what one of the same size left there;
    /// [`Tag::EMPTY`] is an empty way. `bytes` may be 0: then every lookup misses, and nothing is
    /// allocated.
    pub fn new(bytes: u32, ways: u8, memory: &'m mut [Tag<S>]) -> Result<Self, CacheError> {
        if ways == 0 {
            return Err(CacheError::NoWays);
        }
        let set_bytes = u32::from(ways) * LINE_BYTES;
        if !bytes.is_multiple_of(set_bytes) {
            return Err(CacheError::Capacity { bytes, set_bytes });
        }
        let (needed, given) = (Cache::tags(bytes), memory.len());
        let tags = memory.get_mut(..needed).ok_or(CacheError::MemoryTooShort { needed, given })?;
        let lookups = tags.iter().map(|tag| tag.used).max().unwrap_or(0);
        Ok(Self { tags, ways: ways.into(), lookups })
    }

    /// Whether it holds no line, and never will.
    pub const fn is_absent(&self) -> bool {
        self.tags.is_empty()
    }

    /// Looks a line up, in cycle `now`, which uses it.
    #[inline]
    pub fn look_up(&mut self, line: u64, now: u64) -> Lookup {
        self.use_line(line).map_or(Lookup::Miss, |tag| tag.found(now))
    }

    /// Looks a line up, which uses it.
    #[inline]
    pub(super) fn use_line(&mut self, line: u64) -> Option<&mut Tag<S>> {
        self.lookups += 1;
        let lookups = self.lookups;
        let tag = self.set(line).iter_mut().find(|tag| tag.line == line)?;
        tag.used = lookups;
        Some(tag)
    }

    /// What a lookup in cycle `now` would find.
    pub(super) fn peek(&self, line: u64, now: u64) -> Lookup {
        let set = &self.tags[self.set_range(line)];
        match set.iter().find(|tag| tag.line == line) {
            None => Lookup::Miss,
            Some(tag) => tag.found(now),
        }
    }

    /// Puts a line that has missed in the place of the least recently used one of its set; its data
    /// is there from a cycle on. Returns the line that was there.
    #[inline]
    pub fn allocate(&mut self, line: u64, arrives: u64, state: S) -> Option<(u64, S)> {
        let used = self.lookups;
        let tag = self.set(line).iter_mut().min_by_key(|tag| tag.used)?;
        let replaced = core::mem::replace(tag, Tag { line, arrives, used, state });
        (replaced.used != 0).then_some((replaced.line, replaced.state))
    }

    /// Whether it has a line whose data is there from a cycle on.
    pub(super) fn awaits(&mut self, line: u64, arrives: u64) -> bool {
        self.set(line).iter().any(|tag| tag.line == line && tag.arrives == arrives)
    }

    /// The data of a line comes at another cycle, if the cache has it with this one.
    pub(super) fn arrive(&mut self, line: u64, arrives: u64, instead: u64) {
        let set = self.set(line).iter_mut();
        for tag in set.filter(|tag| (tag.line, tag.arrives) == (line, arrives)) {
            tag.arrives = instead;
        }
    }

    /// Drops a line, if the cache has it.
    pub fn invalidate(&mut self, line: u64) {
        for tag in self.set(line) {
            if tag.line == line {
                *tag = Tag::empty(S::default());
            }
        }
    }

    /// Time begins again at 0: all pending data has come. Lines that `stays` refuses are dropped.
    pub fn restart(&mut self, stays: impl Fn(u64) -> bool) {
        for tag in &mut *self.tags {
            if tag.used != 0 && !stays(tag.line) {
                *tag = Tag::empty(S::default());
            }
            tag.arrives = 0;
        }
    }

    /// The lines that it holds, in no particular order.
    pub fn lines(&self) -> impl Iterator<Item = u64> + '_ {
        self.tags.iter().filter(|tag| tag.used != 0).map(|tag| tag.line)
    }

    #[inline]
    fn set(&mut self, line: u64) -> &mut [Tag<S>] {
        let range = self.set_range(line);
        &mut self.tags[range]
    }

    #[inline]
    fn set_range(&self, line: u64) -> core::ops::Range<usize> {
        let sets = (self.tags.len() / self.ways) as u64;
        let set = line.checked_rem(sets).unwrap_or(0) as usize;
        let first = set * self.ways;
        let end = (first + self.ways).min(self.tags.len());
        first.min(end)..end
    }
}
