//! Operand cache: registers that lie in scratchpad memory, while the bundles that need them run.
//!
//! Models: 16 lines of a register of 32 lanes, shared by all warps; a register goes to its home
//! line ([`HomeLine`]); lines of a bundle that runs stay; only lines of completed bundles are
//! evicted, the dirty ones of them to scratchpad memory; what a warp still has there is not fetched
//! again.
//! Does not model: values, or time: what is moved is told, and takes a cycle of scratchpad memory
//! each. No run uses it yet.
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
//! assert!(cache.begin(0, set(r5), RegisterSet::EMPTY, |one| moves.push(one)));
//! assert!(cache.write(0, r5));
//! // R21 has the same line, which the bundle of warp 0 keeps until it is complete.
//! assert!(!cache.begin(1, set(r21), RegisterSet::EMPTY, |one| moves.push(one)));
//! cache.complete(0);
//! assert!(cache.begin(1, set(r21), RegisterSet::EMPTY, |one| moves.push(one)));
//! let fetch = |warp, register| Move::Fetched { warp, register };
//! assert_eq!(moves, [fetch(0, r5), Move::WrittenBack { warp: 0, register: r5 }, fetch(1, r21)]);
//! ```

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    warp: u8,
    register: RegisterId,
    /// It was fetched or written, so that there is a value.
    filled: bool,
    /// It was written since it was fetched.
    dirty: bool,
    /// A bundle that runs needs it.
    pinned: bool,
}

/// The lines of an SM's operand cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandCache {
    // Invariant: a register is in its home line, so that no two lines have the same one.
    lines: [Option<Line>; LINES as usize],
}

impl OperandCache {
    /// Without any register.
    pub const EMPTY: Self = Self { lines: [None; LINES as usize] };

    /// Gives the registers of a warp's next bundle their lines, if no other bundle that runs has
    /// one of them, and tells what is moved: first what is evicted, then what is fetched, registers
    /// ascending. False: nothing changed, the warp waits. The registers are those of PREF that lie
    /// in scratchpad memory for the warp, and its last bundle is complete.
    pub fn begin(
        &mut self,
        warp: u8,
        fetched: RegisterSet,
        allocated: RegisterSet,
        mut tell: impl FnMut(Move),
    ) -> bool {
        let all = fetched.or(allocated);
        let is_taken = |register| self.line(register).is_some_and(|line| line.pinned);
        if all.iter().any(is_taken) {
            return false;
        }
        for register in all.iter() {
            self.evict(warp, register, &mut tell);
        }
        for register in all.iter() {
            let line = self.line_mut(register);
            let new = Line { warp, register, filled: false, dirty: false, pinned: true };
            let line = line.get_or_insert(new);
            line.pinned = true;
            if fetched.contains(register) && !line.filled {
                line.filled = true;
                tell(Move::Fetched { warp, register });
            }
        }
        true
    }

    /// Empties a register's home line of anything but the register itself.
    fn evict(&mut self, warp: u8, register: RegisterId, tell: &mut impl FnMut(Move)) {
        let line = self.line_mut(register);
        let Some(Line { warp: of, register: held, dirty, .. }) = *line else { return };
        if (of, held) != (warp, register) {
            *line = None;
            if dirty {
                tell(Move::WrittenBack { warp: of, register: held });
            }
        }
    }

    /// Whether a warp's register has its line. Reads of a bundle need not ask.
    pub fn holds(&self, warp: u8, register: RegisterId) -> bool {
        self.line(register).is_some_and(|line| (line.warp, line.register) == (warp, register))
    }

    /// A result is written to its line; false if it has none.
    pub fn write(&mut self, warp: u8, register: RegisterId) -> bool {
        let holds = self.holds(warp, register);
        if let Some(line) = self.line_mut(register).as_mut().filter(|_| holds) {
            (line.filled, line.dirty) = (true, true);
        }
        holds
    }

    /// A result that goes to scratchpad memory when it arrives issues: its register gives up its
    /// line, which is written back if it was written. The result's lanes overwrite what is there.
    pub fn bypass(&mut self, warp: u8, register: RegisterId) -> Option<Move> {
        let line = self
            .line_mut(register)
            .take_if(|line| (line.warp, line.register) == (warp, register))?;
        line.dirty.then_some(Move::WrittenBack { warp, register })
    }

    /// A warp's bundle is complete: its lines stay until others need them.
    pub fn complete(&mut self, warp: u8) {
        let of_warp = self.lines.iter_mut().flatten().filter(|line| line.warp == warp);
        of_warp.for_each(|line| line.pinned = false);
    }

    /// A value is dead: its line is not written back.
    pub fn forget(&mut self, warp: u8, register: RegisterId) {
        let holds = self.holds(warp, register);
        if let Some(line) = self.line_mut(register).as_mut().filter(|_| holds) {
            line.dirty = false;
        }
    }

    /// A warp has ended: its lines are free, and nothing is written back.
    pub fn exit(&mut self, warp: u8) {
        for line in &mut self.lines {
            let _ = line.take_if(|line| line.warp == warp);
        }
    }

    fn line(&self, register: RegisterId) -> Option<&Line> {
        self.lines[usize::from(HomeLine::of(register).number())].as_ref()
    }

    fn line_mut(&mut self, register: RegisterId) -> &mut Option<Line> {
        &mut self.lines[usize::from(HomeLine::of(register).number())]
    }
}
