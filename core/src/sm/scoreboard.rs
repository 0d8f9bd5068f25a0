//! Scoreboard: when each register and predicate of each resident warp is there.
//!
//! Models: an entry for each; its value is there from a cycle on, or pending: on its way, and the
//! cycle is not known yet.
//! Source: `[RFC2011]` 2.1; `docs/MODEL.md`, rule 19.

use super::facts::{ReadyAt, bits};
use crate::units::RegisterId;

/// The entries, a row for each warp: registers, then predicates.
#[derive(Debug)]
pub(super) struct Scoreboard<'m> {
    entries: &'m mut [ReadyAt],
    /// Entries of a row.
    row: usize,
    /// Entries of registers in a row.
    registers: usize,
}

impl<'m> Scoreboard<'m> {
    /// A scoreboard of `warps` rows over the caller's memory, which has as many entries.
    pub(super) const fn new(entries: &'m mut [ReadyAt], warps: usize, registers: u16) -> Self {
        let row = entries.len() / warps;
        Self { entries, row, registers: registers as usize }
    }

    /// The entries of a warp: registers, then predicates.
    #[inline]
    pub(super) fn row(&self, warp: usize) -> &[ReadyAt] {
        &self.entries[warp * self.row..][..self.row]
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn row_mut(&mut self, warp: usize) -> &mut [ReadyAt] {
        &mut self.entries[warp * self.row..][..self.row]
    }

    /// The entries of a warp's registers, and those of its predicates, to be changed.
    #[inline]
    pub(super) fn parts_mut(&mut self, warp: usize) -> (&mut [ReadyAt], &mut [ReadyAt]) {
        let registers = self.registers;
        self.row_mut(warp).split_at_mut(registers)
    }

    /// All of a warp's entries are there: it is new.
    pub(super) fn clear(&mut self, warp: usize) {
        self.row_mut(warp).fill(ReadyAt::NOW);
    }

    /// A register of a warp is there at `at`.
    #[inline]
    pub(super) fn set(&mut self, warp: usize, register: usize, at: ReadyAt) {
        self.entries[warp * self.row + register] = at;
    }

    /// Predicates of a warp, bit `i` of `written` being predicate `i`, are there at `at`.
    #[inline]
    pub(super) fn set_predicates(&mut self, warp: usize, written: u32, at: ReadyAt) {
        let first = warp * self.row + self.registers;
        for predicate in bits(written) {
            self.entries[first + predicate] = at;
        }
    }

    /// Pending predicates of a warp are there from `cycle` on.
    pub(super) fn complete_predicates(&mut self, warp: usize, written: u32, cycle: u64) {
        let first = warp * self.row + self.registers;
        for predicate in bits(written) {
            let entry = &mut self.entries[first + predicate];
            *entry = ReadyAt::new(cycle, entry.wait());
        }
    }

    /// Whether the entry at a place of a warp's row is pending.
    #[inline]
    pub(super) fn is_pending(&self, warp: usize, place: u32) -> bool {
        self.entries[warp * self.row + place as usize].is_pending()
    }

    /// When the last of these registers and predicates of a warp is there, of those that count.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn last(
        &self,
        warp: usize,
        registers: &[RegisterId],
        predicates: u32,
        counts: impl Fn(ReadyAt) -> bool,
    ) -> ReadyAt {
        let row = self.row(warp);
        let mut latest = ReadyAt::NOW;
        let mut consider = |ready: ReadyAt| {
            if counts(ready) {
                latest = latest.max(ready);
            }
        };
        for register in registers {
            consider(row[usize::from(register.0)]);
        }
        if predicates != 0 {
            for predicate in bits(predicates) {
                consider(row[self.registers + predicate]);
            }
        }
        latest
    }

    /// The place in a warp's row of the first of these registers and predicates that is there at
    /// `ready`; 0 if none is.
    pub(super) fn place_of(
        &self,
        warp: usize,
        registers: &[RegisterId],
        predicates: u32,
        ready: ReadyAt,
    ) -> u32 {
        let row = self.row(warp);
        let registers = registers.iter().map(|register| usize::from(register.0));
        let predicates = bits(predicates).map(|predicate| self.registers + predicate);
        registers.chain(predicates).find(|&place| row[place] == ready).unwrap_or(0) as u32
    }
}
