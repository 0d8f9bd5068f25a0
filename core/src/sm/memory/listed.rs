//! Listed: the accesses of a launch by the addresses of their lanes, as the host lists them for a
//! memory that knows addresses.
//!
//! Source: `docs/MODEL.md`, rule 35.

use core::hash::{Hash as _, Hasher};

use super::touched::{BankPattern, TouchedLine};

/// What an access does with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineUse {
    /// Reads them.
    #[default]
    Load,
    /// Writes them, in the cache if it has them, and in DRAM.
    Store,
    /// Reads them in DRAM, past the cache, which drops them: volatile loads.
    BypassLoad,
    /// Writes them in DRAM, past the cache, which drops them: volatile stores.
    BypassStore,
    /// Reads and writes them in DRAM, past the cache, which drops them.
    Atomic,
}

impl LineUse {
    /// Whether it reads.
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Store | Self::BypassStore)
    }

    /// Whether it writes.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Load | Self::BypassLoad)
    }

    /// Whether it goes past the cache.
    pub const fn bypasses(self) -> bool {
        matches!(self, Self::BypassLoad | Self::BypassStore | Self::Atomic)
    }
}

/// An access of a launch, by the addresses of its lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedAccess {
    /// The first of its lines in the list.
    first_line: u32,
    /// The place of its pattern in the list.
    pattern: u32,
    /// How many lines it has.
    lines: u16,
    line_use: LineUse,
}

impl ListedAccess {
    /// An access whose lines stand in the list from `first` on, as many as `count`, and its pattern
    /// at `pattern`.
    pub const fn new(line_use: LineUse, (first, count): (u32, u16), pattern: u32) -> Self {
        Self { first_line: first, pattern, lines: count, line_use }
    }

    /// The place of its pattern.
    pub const fn pattern(self) -> u32 {
        self.pattern
    }

    /// This access in another list: its lines stand `by` places later, and its pattern at
    /// `pattern`. At most `u32::MAX` lines.
    #[must_use]
    pub const fn moved_on(self, by: u32, pattern: u32) -> Self {
        Self { first_line: self.first_line.saturating_add(by), pattern, ..self }
    }
}

/// The accesses of a launch, which its traces name by place
/// ([`crate::sm::MemoryAccess::at`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessList<'m> {
    /// The accesses.
    pub accesses: &'m [ListedAccess],
    /// The lines of all of them, in shared memory none.
    pub lines: &'m [TouchedLine],
    /// What they do in banks.
    pub patterns: &'m [BankPattern],
}

/// An access with what the list has of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed<'m> {
    pub(super) line_use: LineUse,
    pub(super) lines: &'m [TouchedLine],
    pub(super) pattern: &'m BankPattern,
}

impl<'m> AccessList<'m> {
    /// Adds what an access does to a digest, wherever it stands in the list; nothing for a place
    /// out of it.
    pub fn hash_access(&self, place: u32, to: &mut impl Hasher) {
        if let Some(Listed { line_use, lines, pattern }) = self.get(place) {
            (line_use, lines, pattern).hash(to);
        }
    }

    /// An access; none for a place out of the list, or lines or a pattern out of theirs.
    pub(super) fn get(&self, place: u32) -> Option<Listed<'m>> {
        let access = self.accesses.get(place as usize)?;
        let (first, count) = (access.first_line as usize, usize::from(access.lines));
        Some(Listed {
            line_use: access.line_use,
            lines: self.lines.get(first..first + count)?,
            pattern: self.patterns.get(access.pattern as usize)?,
        })
    }
}
