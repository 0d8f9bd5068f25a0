//! Order: which lanes of a warp may execute while others wait, by the machine's rules (MODEL.md,
//! "Functional execution").
//!
//! Lanes *stop* after an instruction that waits for other lanes or warps, and at the head of a loop
//! that may wait for others' stores. Other sides of a branch go on meanwhile. Lanes at a
//! reconvergence point wait for the branch's other sides, unless these wait for them and the point
//! is *before the end*: on every path from there the thread exits without waiting and without a
//! loop.

use std::ops::Range;

use strata_ptx::module::Instruction;
use strata_ptx::opcode::{MemoryOrder, Opcode};

use crate::classify::is_barrier;
use crate::flow::{ControlFlow, Flow, flow};
use crate::program::Program;

/// Why lanes stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Lanes of a member mask are missing.
    Members,
    /// A CTA barrier.
    Barrier,
    /// The turn of a loop that may wait for others' stores is over.
    Turn,
}

/// Facts of a program's order.
#[derive(Clone, Debug)]
pub struct Order {
    /// Instructions before each that access memory so that others' accesses are seen.
    strong_before: Vec<u32>,
    before_end: Vec<bool>,
    /// Instructions that wait for other lanes or warps, ascending, and what for.
    waits: Vec<(usize, Stop)>,
}

impl Order {
    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        Self::of(program)
    }

    pub(crate) fn of(code: &impl ControlFlow) -> Self {
        let mut strong_before = Vec::with_capacity(code.count() + 1);
        let (mut strong, mut waits) = (0, Vec::new());
        strong_before.push(strong);
        for pc in 0..code.count() {
            let instruction = code.instruction(pc);
            strong += u32::from(is_strong(instruction));
            strong_before.push(strong);
            waits.extend(waits_for(instruction).map(|stop| (pc, stop)));
        }
        Self { strong_before, before_end: before_end(code, &waits), waits }
    }

    /// The instructions of a range that wait for other lanes or warps, and what for.
    pub(crate) fn waits(&self, pcs: Range<usize>) -> &[(usize, Stop)] {
        let place = |end| self.waits.partition_point(|&(pc, _)| pc < end);
        &self.waits[place(pcs.start)..place(pcs.end)]
    }

    /// Whether every path from an instruction exits without waiting and without a loop.
    pub fn is_before_end(&self, pc: usize) -> bool {
        self.before_end.get(pc).copied().unwrap_or(false)
    }

    /// Whether lanes that branch from `pc` to `target` may have to let others go on there: the
    /// branch goes back, over an instruction that sees what others store.
    pub fn may_turn(&self, pc: usize, target: usize) -> bool {
        target <= pc
            && self.strong_before.get(pc + 1).is_some_and(|&all| all > self.strong_before[target])
    }

    /// Calls `visit` with each way in which lanes may stop at an instruction, and where they go on.
    pub(crate) fn stops(
        &self,
        code: &impl ControlFlow,
        pc: usize,
        mut visit: impl FnMut(Stop, usize),
    ) {
        if let [(_, stop)] = *self.waits(pc..pc + 1) {
            visit(stop, pc + 1);
        } else if flow(code.instruction(pc)) != Flow::Next {
            code.successors(pc, |next| {
                if let Some(next) = next.filter(|&next| self.may_turn(pc, next)) {
                    visit(Stop::Turn, next);
                }
            });
        }
    }
}

/// What an instruction waits for, if it waits for other lanes or warps.
fn waits_for(instruction: &Instruction) -> Option<Stop> {
    if waits_for_members(instruction) {
        Some(Stop::Members)
    } else {
        is_barrier(instruction).then_some(Stop::Barrier)
    }
}

/// Whether an instruction executes once the lanes of a member mask are there.
pub(crate) fn waits_for_members(instruction: &Instruction) -> bool {
    use Opcode as O;
    let modifiers = &instruction.modifiers;
    match instruction.opcode {
        O::Shfl | O::Vote | O::Match | O::Redux | O::Elect => modifiers.sync,
        O::Bar | O::Barrier => modifiers.warp,
        // All lanes of the warp.
        O::Mma | O::Wmma | O::Ldmatrix | O::Stmatrix | O::Movmatrix => true,
        _ => false,
    }
}

/// Whether an instruction's read of memory sees concurrent stores of other threads.
pub(crate) fn is_strong(instruction: &Instruction) -> bool {
    match instruction.opcode {
        Opcode::Atom => true,
        // All that give a result of the object's contents.
        Opcode::Mbarrier => {
            !instruction.destinations.is_empty() && !instruction.modifiers.has("pending_count")
        }
        Opcode::Ld => !matches!(instruction.modifiers.order, None | Some(MemoryOrder::Weak)),
        _ => false,
    }
}

/// For each instruction, whether all paths from it exit without waiting and without a loop: those
/// that all of whose successors are such, beginning with exits.
fn before_end(code: &impl ControlFlow, waits: &[(usize, Stop)]) -> Vec<bool> {
    let count = code.count();
    let mut missing = vec![0_u32; count];
    let mut falls = vec![false; count + 1];
    // Other ways to an instruction than from the one before it.
    let mut jumps = Vec::new();
    let mut work = Vec::new();
    for (pc, missing) in missing.iter_mut().enumerate() {
        code.successors(pc, |next| {
            let Some(next) = next else { return };
            *missing += 1;
            if next != pc + 1 || std::mem::replace(&mut falls[next], true) {
                jumps.push((next, pc));
            }
        });
        if *missing == 0 {
            work.push(pc);
        }
    }
    jumps.sort_unstable();
    let mut found = vec![false; count];
    while let Some(pc) = work.pop() {
        if waits.binary_search_by_key(&pc, |&(pc, _)| pc).is_ok() {
            continue;
        }
        found[pc] = true;
        let jumps = &jumps[jumps.partition_point(|&(to, _)| to < pc)..];
        let jumps = jumps.iter().take_while(|&&(to, _)| to == pc).map(|&(_, from)| from);
        for from in jumps.chain(falls[pc].then(|| pc - 1)) {
            missing[from] -= 1;
            if missing[from] == 0 {
                work.push(from);
            }
        }
    }
    found
}

/// What a wrong analysis may leave out.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forgotten {
    /// Lanes stop after an instruction that waits for members.
    Members,
    /// Lanes stop behind a barrier.
    Barriers,
    /// Turns of loops end.
    Turns,
    /// Lanes at a reconvergence point go on to the end.
    BeforeEnd,
}

#[cfg(test)]
impl Order {
    /// The order of code without a part.
    pub(crate) fn forgetting(code: &impl ControlFlow, forgotten: Forgotten) -> Self {
        let mut this = Self::of(code);
        match forgotten {
            Forgotten::Members => this.waits.retain(|&(_, stop)| stop != Stop::Members),
            Forgotten::Barriers => this.waits.retain(|&(_, stop)| stop != Stop::Barrier),
            Forgotten::Turns => this.strong_before.fill(0),
            Forgotten::BeforeEnd => this.before_end.fill(false),
        }
        this
    }
}
