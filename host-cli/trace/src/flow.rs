//! What may follow what: the control flow that a trace shows, and the facts that flow along it.
//!
//! The order is that of warps, not of threads: the two sides of a divergent branch follow each
//! other as they were executed, so a value that waiting lanes still need stays live while the other
//! side executes. A write ends the value before it only if, in every execution, it covered all
//! lanes that the warp still had work for (rules 9 and 10).

use rustc_hash::FxHashSet;
use strata_simt::paths::PathDictionary;

use super::error::Problem;

/// Most pairs of instructions that follow each other out of order.
const MAX_EDGES: usize = 1 << 20;

/// What the paths of a kernel show about each instruction.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// Instructions that may be first.
    pub(crate) entries: Vec<u32>,
    /// Instructions that may come next, ascending.
    pub(crate) next: Vec<Vec<u32>>,
    /// Its mask always held every lane that executes anything later.
    pub(crate) covers: Vec<bool>,
    /// It never executed with an empty mask.
    pub(crate) always_active: Vec<bool>,
}

impl Flow {
    /// Walks every distinct path once.
    pub(crate) fn new(instructions: usize, paths: &PathDictionary) -> Result<Self, Problem> {
        let mut falls_through = vec![false; instructions];
        let mut edges: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut entries = Vec::new();
        let mut covers = vec![true; instructions];
        let mut always_active = vec![true; instructions];
        for (path, _) in paths.iter() {
            if let Some(first) = path.first() {
                entries.push(first.pc);
            }
            let mut lanes = 0_u32;
            let mut after: Option<u32> = None;
            for step in path.iter().rev() {
                let run = step.pc..step.pc + step.length;
                let last = run.end - 1;
                for pc in run.clone() {
                    falls_through[pc as usize] |= pc != last;
                    let later = if pc == last { lanes } else { lanes | step.mask.0 };
                    covers[pc as usize] &= later & !step.mask.0 == 0;
                    always_active[pc as usize] &= !step.mask.is_empty();
                }
                if let Some(after) = after {
                    edges.insert((last, after));
                    if edges.len() > MAX_EDGES {
                        let limit = MAX_EDGES as u64;
                        return Err(Problem::TooMany { what: "branches", limit });
                    }
                }
                after = Some(run.start);
                lanes |= step.mask.0;
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let mut next = vec![Vec::new(); instructions];
        for (pc, _) in falls_through.iter().enumerate().filter(|(_, falls)| **falls) {
            next[pc].push(pc as u32 + 1);
        }
        for (from, to) in edges {
            next[from as usize].push(to);
        }
        for next in &mut next {
            next.sort_unstable();
            next.dedup();
        }
        Ok(Self { entries, next, covers, always_active })
    }
}

/// A set of registers: bit `n` is register `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers([u64; 4]);

impl Registers {
    pub(crate) const ALL: Self = Self([u64::MAX; 4]);
    pub(crate) const NONE: Self = Self([0; 4]);

    pub(crate) fn has(&self, register: u16) -> bool {
        self.0[usize::from(register / 64) & 3] >> (register % 64) & 1 != 0
    }

    pub(crate) fn add(&mut self, register: u16) {
        self.0[usize::from(register / 64) & 3] |= 1 << (register % 64);
    }

    pub(crate) fn remove(&mut self, register: u16) {
        self.0[usize::from(register / 64) & 3] &= !(1 << (register % 64));
    }

    /// Adds all of `other`; says whether any was new.
    pub(crate) fn unite(&mut self, other: &Self) -> bool {
        let before = *self;
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
        *self != before
    }

    /// Keeps what is in `other` too; says whether any went.
    pub(crate) fn intersect(&mut self, other: &Self) -> bool {
        let before = *self;
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
        *self != before
    }
}
