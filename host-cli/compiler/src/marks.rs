//! Deschedule marks (rules 17 and 18): before which instructions a warp may have to wait for a
//! long-latency result.
//!
//! Whether a lane waits depends on what that lane has executed, so the analysis follows the paths
//! of one thread. A forward flow of two sets of physical registers: those whose long-latency result
//! *may* be pending for the thread since its warp's last deschedule, and those for which it *must*
//! be. An instruction that reads one of the first is marked. If it reads one of the second, the
//! warp is descheduled there and nothing is pending after it; otherwise only the registers it reads
//! are known to have arrived. Other lanes act on a thread in one way: where it waits at a
//! divergence, they may be descheduled, and nothing *must* be pending for it any more.

use std::collections::VecDeque;

use strata_core::units::RegisterId;

use crate::bits::BitMatrix;
use crate::cfg::Graph;
use crate::divergence::Divergence;

/// What the marks depend on, for one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect<'a> {
    /// Registers read.
    pub(crate) sources: &'a [RegisterId],
    /// Registers written.
    pub(crate) destinations: &'a [RegisterId],
    /// The results take long.
    pub(crate) long_latency: bool,
    /// A barrier.
    pub(crate) barrier: bool,
    /// A guard may keep the thread from executing it.
    pub(crate) guarded: bool,
}

/// Registers that may be, and that must be, pending.
#[derive(Clone, Debug)]
struct State {
    may: Vec<u64>,
    must: Vec<u64>,
}

impl State {
    fn has(set: &[u64], register: RegisterId) -> bool {
        set[usize::from(register.0) / 64] >> (register.0 % 64) & 1 != 0
    }

    fn put(set: &mut [u64], register: RegisterId, value: bool) {
        let bit = 1 << (register.0 % 64);
        if value {
            set[usize::from(register.0) / 64] |= bit;
        } else {
            set[usize::from(register.0) / 64] &= !bit;
        }
    }

    /// Passes an instruction; says whether it must be marked.
    fn step(&mut self, effect: &Effect<'_>) -> bool {
        let guarded = effect.guarded;
        let marked = effect.sources.iter().any(|&register| Self::has(&self.may, register));
        if marked {
            // A thread whose guard is false reads nothing and waits for nothing.
            let certain =
                !guarded && effect.sources.iter().any(|&register| Self::has(&self.must, register));
            if certain {
                self.may.fill(0);
            } else if !guarded {
                for &register in effect.sources {
                    Self::put(&mut self.may, register, false);
                }
            }
            self.must.fill(0);
        }
        if effect.barrier && !guarded {
            self.may.fill(0);
        }
        if effect.barrier {
            self.must.fill(0);
        }
        for &register in effect.destinations {
            if effect.long_latency || !guarded {
                Self::put(&mut self.may, register, effect.long_latency);
            }
            Self::put(&mut self.must, register, effect.long_latency && !guarded);
        }
        marked
    }
}

/// Finds the instructions to mark: one flag for each.
pub(crate) fn deschedule_marks(
    graph: &Graph,
    divergence: &Divergence,
    registers: u16,
    effects: &[Effect<'_>],
) -> Vec<bool> {
    solve(graph, divergence, registers, effects).0
}

/// Registers whose long-latency result may be pending behind each instruction: one row for each.
pub(crate) fn pending_behind(
    graph: &Graph,
    divergence: &Divergence,
    registers: u16,
    effects: &[Effect<'_>],
) -> BitMatrix {
    let (_, may, must) = solve(graph, divergence, registers, effects);
    let mut behind = BitMatrix::new(effects.len(), usize::from(registers));
    for (number, block) in graph.blocks.iter().enumerate() {
        let mut state = State { may: may.row(number).to_vec(), must: must.row(number).to_vec() };
        for (pc, effect) in (block.start..).zip(&effects[block.start..block.end]) {
            state.step(effect);
            behind.row_mut(pc).copy_from_slice(&state.may);
        }
    }
    behind
}

/// The marks, and the registers that may and that must be pending at the start of each block.
fn solve(
    graph: &Graph,
    divergence: &Divergence,
    registers: u16,
    effects: &[Effect<'_>],
) -> (Vec<bool>, BitMatrix, BitMatrix) {
    let blocks = graph.blocks.len();
    let columns = usize::from(registers);
    let mut may = BitMatrix::new(blocks, columns);
    let mut must = BitMatrix::new(blocks, columns);
    for block in 1..blocks {
        must.row_mut(block).fill(u64::MAX);
    }
    let mut marks = vec![false; effects.len()];
    // Every block is reached from the first; until it is, its `must` holds everything.
    let mut queued = vec![false; blocks];
    let mut reached = vec![false; blocks];
    reached[0] = true;
    // Blocks at whose start lanes may have waited while others were descheduled.
    let mut stirred = vec![false; blocks];
    let mut work = VecDeque::from([0]);
    while let Some(block) = work.pop_front() {
        queued[block] = false;
        let mut state = State { may: may.row(block).to_vec(), must: must.row(block).to_vec() };
        let range = graph.blocks[block].start..graph.blocks[block].end;
        let mut stops = false;
        for pc in range {
            // Growing `may` and shrinking `must` only ever adds marks, so the last visit is right.
            marks[pc] = state.step(&effects[pc]);
            stops |= marks[pc] || effects[pc].barrier;
        }
        for &place in divergence.waiting[block].iter().filter(|_| stops) {
            let place = place as usize;
            if !std::mem::replace(&mut stirred[place], true) {
                must.row_mut(place).fill(0);
                if reached[place] && !queued[place] {
                    queued[place] = true;
                    work.push_back(place);
                }
            }
        }
        for &to in graph.blocks[block].successors.iter().filter(|&&to| to != graph.exit()) {
            let changed = merge(&mut may, &mut must, to, &state);
            let new = !std::mem::replace(&mut reached[to], true);
            if (changed || new) && !queued[to] {
                queued[to] = true;
                work.push_back(to);
            }
        }
    }
    (marks, may, must)
}

/// Joins the states that flow into a block; returns whether anything changed.
fn merge(may: &mut BitMatrix, must: &mut BitMatrix, block: usize, state: &State) -> bool {
    let mut changed = false;
    for (old, new) in may.row_mut(block).iter_mut().zip(&state.may) {
        changed |= new & !*old != 0;
        *old |= new;
    }
    for (old, new) in must.row_mut(block).iter_mut().zip(&state.must) {
        changed |= *old & !new != 0;
        *old &= new;
    }
    changed
}
