//! Operand cache: registers that lie in scratchpad memory, while the bundles that need them run.
//!
//! Models: 16 lines of a register of 32 lanes, shared by all warps; a register goes to its home
//! line ([`HomeLine`]); lines of a bundle that runs stay; only lines of completed bundles are
//! evicted, the dirty ones of them to scratchpad memory; what a warp still has there is not fetched
//! again.
//! Does not model: values, or time: what is moved is told, and takes a cycle of scratchpad memory
//! each (`prefetcher`).
//! Source: `[EXPARS]` 3.3.4, 3.3.5, Figure 8; `docs/MODEL.md`, rule 44.
//!
//! ```
//! use strata_core::sm::expansion::bundles::RegisterSet;
//! use strata_core::sm::expansion::operand_cache::{Move, OperandCache};
//! use strata_core::units::RegisterId;
//!
//! let [r5, r21] = [5, 21].map(RegisterId);
//! let set = |register| RegisterSet::of([register]).expect("below 256");
//! let mut cache = OperandCache::EMPTY;
//! let mut moves = Vec::new();
//! assert!(cache.begin(0, set(r5), RegisterSet::EMPTY, |one| moves.push(one)).is_some());
//! assert!(cache.write(0, r5));
//! // R21 has the same line, which the bundle of warp 0 keeps until it is complete.
//! assert!(cache.begin(1, set(r21), RegisterSet::EMPTY, |one| moves.push(one)).is_none());
//! cache.complete(0);
//! assert!(cache.begin(1, set(r21), RegisterSet::EMPTY, |one| moves.push(one)).is_some());
//! let fetch = |warp, register| Move::Fetched { warp, register };
//! assert_eq!(moves, [fetch(0, r5), Move::WrittenBack { warp: 0, register: r5 }, fetch(1, r21)]);
//! ```

use bitflags::bitflags;

use super::bundles::{HomeLine, RegisterSet};
use super::hardware::LINES;
use crate::units::RegisterId;

/// What a bundle moves between the cache and scratchpad memory, a register each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// From scratchpad memory into its line.
    Fetched {
        /// Whose register it is.
        warp: u8,
        /// The register.
        register: RegisterId,
    },
    /// From its line, which was written, to scratchpad memory.
    WrittenBack {
        /// Whose register it is.
        warp: u8,
        /// The register.
        register: RegisterId,
    },
}

/// What a bundle found in its lines when it was given them. Unit: registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Registers of the bundle that were there still.
    pub held: u32,
    /// Registers of other bundles that were dropped: they had not been written.
    pub clean: u32,
}

bitflags! {
    /// What is known of a line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct State: u8 {
        /// The register is here: no result that goes to scratchpad memory has taken the line away.
        const VALID = 1;
        /// It was fetched or written, so that there is a value.
        const FILLED = 2;
        /// It was written since it was fetched.
        const DIRTY = 4;
        /// A bundle that runs needs it.
        const PINNED = 8;
        /// A result that goes to scratchpad memory has taken the line away, and what was written
        /// before must go there first.
        const LEAVING = 16;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    warp: u8,
    register: RegisterId,
    state: State,
}

impl Line {
    const fn of(warp: u8, register: RegisterId) -> Self {
        Self { warp, register, state: State::VALID }
    }

    fn is(self, warp: u8, register: RegisterId) -> bool {
        (self.warp, self.register) == (warp, register)
    }

    const fn has(self, any: State) -> bool {
        self.state.intersects(any)
    }
}

/// The lines of an SM's operand cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandCache {
    // Invariant: a register is in its home line, so that no two lines have the same one; a line
    // that is not valid is pinned or leaving, and not dirty.
    lines: [Option<Line>; LINES as usize],
}

impl OperandCache {
    /// Without any register.
    pub const EMPTY: Self = Self { lines: [None; LINES as usize] };

    /// Gives the registers of a warp's next bundle their lines, if no other bundle that runs has
    /// one of them and none has to be written back, and tells what is moved: first what is evicted,
    /// then what is fetched, registers ascending. None: nothing changed, the warp waits. The
    /// registers are those of PREF that lie in scratchpad memory for the warp, and its last bundle
    /// is complete.
    pub fn begin(
        &mut self,
        warp: u8,
        fetched: RegisterSet,
        allocated: RegisterSet,
        mut tell: impl FnMut(Move),
    ) -> Option<Found> {
        let all = fetched.or(allocated);
        let is_taken = |register| {
            self.line(register).is_some_and(|line| line.has(State::PINNED | State::LEAVING))
        };
        if all.iter().any(is_taken) {
            return None;
        }
        let mut found = Found::default();
        for register in all.iter() {
            found.clean += u32::from(self.evict(warp, register, &mut tell));
        }
        for register in all.iter() {
            let line = self.line_mut(register).get_or_insert(Line::of(warp, register));
            line.state |= State::PINNED;
            found.held += u32::from(line.has(State::FILLED));
            if fetched.contains(register) && !line.has(State::FILLED) {
                line.state |= State::FILLED;
                tell(Move::Fetched { warp, register });
            }
        }
        Some(found)
    }

    /// Empties a register's home line of anything but the register itself. Returns whether a
    /// register is dropped.
    fn evict(&mut self, warp: u8, register: RegisterId, tell: &mut impl FnMut(Move)) -> bool {
        let line = self.line_mut(register);
        let Some(other) = line.take_if(|line| !line.is(warp, register)) else { return false };
        let dirty = other.has(State::DIRTY);
        if dirty {
            tell(Move::WrittenBack { warp: other.warp, register: other.register });
        }
        !dirty
    }

    /// Whether a warp's register has its line. Reads of a bundle need not ask.
    pub fn holds(&self, warp: u8, register: RegisterId) -> bool {
        self.line(register).is_some_and(|line| line.has(State::VALID) && line.is(warp, register))
    }

    /// A result is written to its line; false if it has none.
    pub fn write(&mut self, warp: u8, register: RegisterId) -> bool {
        let holds = self.holds(warp, register);
        if let Some(line) = self.line_mut(register).as_mut().filter(|_| holds) {
            line.state |= State::FILLED | State::DIRTY;
        }
        holds
    }

    /// A result that goes to scratchpad memory when it arrives issues: its register gives up its
    /// line, which no other gets before the bundle is complete. What was written to it goes to
    /// scratchpad memory before the result does ([`Self::write_back_leaving`]).
    pub fn bypass(&mut self, warp: u8, register: RegisterId) {
        let holds = self.holds(warp, register);
        if let Some(line) = self.line_mut(register).as_mut().filter(|_| holds) {
            line.state.set(State::LEAVING, line.has(State::DIRTY));
            line.state -= State::VALID | State::DIRTY;
        }
        self.sweep();
    }

    /// A register that has to be written to scratchpad memory because a result goes there, if there
    /// is one: its line is free of it, and it is written now.
    pub fn write_back_leaving(&mut self) -> Option<(u8, RegisterId)> {
        let line = self.lines.iter_mut().flatten().find(|line| line.has(State::LEAVING))?;
        line.state -= State::LEAVING;
        let written = (line.warp, line.register);
        self.sweep();
        Some(written)
    }

    /// Whether there is such a register.
    pub fn has_leaving(&self) -> bool {
        self.lines.iter().flatten().any(|line| line.has(State::LEAVING))
    }

    /// A warp's bundle is complete: its lines stay until others need them.
    pub fn complete(&mut self, warp: u8) {
        let of_warp = self.lines.iter_mut().flatten().filter(|line| line.warp == warp);
        of_warp.for_each(|line| line.state -= State::PINNED);
        self.sweep();
    }

    /// Frees lines that hold nothing and that nothing needs.
    fn sweep(&mut self) {
        for line in &mut self.lines {
            let _ = line.take_if(|line| !line.has(State::VALID | State::PINNED | State::LEAVING));
        }
    }

    /// A warp has ended: its lines are free, and nothing is written back. Returns how many
    /// registers would have had to be.
    pub fn exit(&mut self, warp: u8) -> u32 {
        let mut dead = 0;
        for line in &mut self.lines {
            let taken = line.take_if(|line| line.warp == warp);
            dead += u32::from(taken.is_some_and(|line| line.has(State::DIRTY)));
        }
        dead
    }

    fn line(&self, register: RegisterId) -> Option<&Line> {
        self.lines[usize::from(HomeLine::of(register).number())].as_ref()
    }

    fn line_mut(&mut self, register: RegisterId) -> &mut Option<Line> {
        &mut self.lines[usize::from(HomeLine::of(register).number())]
    }
}
