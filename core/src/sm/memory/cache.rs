//! Cache: the tags of the primary data cache.
//!
//! Models: lines of 128 bytes in sets of several ways; a line's set is its number modulo the sets,
//! any number of them; the least recently used way is replaced. A line is allocated when it misses,
//! and is pending until its data is there.
//! Does not model: data; a limit on pending lines.
//! Source: `[MICRO2012]` 4.3 and Table 2, `[DISS]` 7.3; `docs/MODEL.md`, rule 35.

use super::touched::LINE_BYTES;

/// A way of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    line: u64,
    /// The cycle from which its data is there.
    arrives: u64,
    /// When it was used last, in lookups; 0 without a line.
    used: u64,
}

impl Tag {
    /// A way without a line, also for memory that is laid out at compile time.
    pub const EMPTY: Self = Self { line: u64::MAX, arrives: 0, used: 0 };
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

/// The tags.
#[derive(Debug)]
pub struct Cache<'m> {
    // Invariants: a line is in one way at most, in its set; a way with a line was used after all
    // ways without.
    tags: &'m mut [Tag],
    ways: usize,
    /// Lookups so far.
    lookups: u64,
}

impl<'m> Cache<'m> {
    /// Tags that a cache of so many bytes needs.
    pub const fn tags(bytes: u32) -> usize {
        (bytes / LINE_BYTES) as usize
    }

    /// A cache over the caller's memory, which holds what one of the same size left there;
    /// [`Tag::EMPTY`] is an empty way. `bytes` may be 0: then every lookup misses, and nothing is
    /// allocated.
    pub fn new(bytes: u32, ways: u8, memory: &'m mut [Tag]) -> Result<Self, CacheError> {
        if ways == 0 {
            return Err(CacheError::NoWays);
        }
        let set_bytes = u32::from(ways) * LINE_BYTES;
        if !bytes.is_multiple_of(set_bytes) {
            return Err(CacheError::Capacity { bytes, set_bytes });
        }
        let (needed, given) = (Self::tags(bytes), memory.len());
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
        self.lookups += 1;
        let lookups = self.lookups;
        let Some(tag) = self.set(line).iter_mut().find(|tag| tag.line == line) else {
            return Lookup::Miss;
        };
        tag.used = lookups;
        if tag.arrives > now { Lookup::Merged { arrives: tag.arrives } } else { Lookup::Hit }
    }

    /// Puts a line that has missed in the place of the least recently used one of its set; its data
    /// is there from a cycle on.
    pub fn allocate(&mut self, line: u64, arrives: u64) {
        let used = self.lookups;
        if let Some(tag) = self.set(line).iter_mut().min_by_key(|tag| tag.used) {
            *tag = Tag { line, arrives, used };
        }
    }

    /// Whether it has a line whose data is there from a cycle on.
    pub(super) fn awaits(&mut self, line: u64, arrives: u64) -> bool {
        self.set(line).iter().any(|tag| tag.line == line && tag.arrives == arrives)
    }

    /// The data of a line that it has comes later.
    pub(super) fn postpone(&mut self, line: u64, arrives: u64) {
        if let Some(tag) = self.set(line).iter_mut().find(|tag| tag.line == line) {
            tag.arrives = arrives;
        }
    }

    /// Drops a line, if the cache has it.
    pub fn invalidate(&mut self, line: u64) {
        for tag in self.set(line) {
            if tag.line == line {
                *tag = Tag::EMPTY;
            }
        }
    }

    /// Time begins again at 0: all pending data has come. Lines that `stays` refuses are dropped.
    pub fn restart(&mut self, stays: impl Fn(u64) -> bool) {
        for tag in &mut *self.tags {
            if tag.used != 0 && !stays(tag.line) {
                *tag = Tag::EMPTY;
            }
            tag.arrives = 0;
        }
    }

    /// The lines that it holds, in no particular order.
    pub fn lines(&self) -> impl Iterator<Item = u64> + '_ {
        self.tags.iter().filter(|tag| tag.used != 0).map(|tag| tag.line)
    }

    #[inline]
    fn set(&mut self, line: u64) -> &mut [Tag] {
        let sets = (self.tags.len() / self.ways) as u64;
        let set = line.checked_rem(sets).unwrap_or(0) as usize;
        let first = set * self.ways;
        let end = (first + self.ways).min(self.tags.len());
        &mut self.tags[first.min(end)..end]
    }
}
