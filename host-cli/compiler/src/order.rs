//! Order: which lanes of a warp may execute while others wait, as the machine has it (MODEL.md,
//! "Functional execution").
//!
//! Lanes *stop* behind an instruction that waits for other lanes or warps, and at the head of a
//! loop whose turns may end because it may wait for what others store. Other sides of a branch go
//! on meanwhile. Lanes at a reconvergence point wait for the branch's other sides, unless these
//! wait for them and the point is *before the end*: on every path from there the thread exits
//! without waiting and without a loop.

use strata_ptx::module::Instruction;
use strata_ptx::opcode::{MemoryOrder, Opcode};

use crate::classify::is_barrier;
use crate::kernel::{ControlFlow, Flow, flow};
use crate::program::Program;

/// Why lanes stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Lanes of a member mask are missing.
    Members,
    /// A CTA barrier.
    Barrier,
    /// The turn of a loop that may wait for what others store is over.
    Turn,
}

/// Facts of a program's order.
#[derive(Clone, Debug)]
pub struct Order {
    /// Instructions before each that access memory so that others' accesses are seen.
    strong_before: Vec<u32>,
    before_end: Vec<bool>,
}

impl Order {
    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        Self::of(program)
    }

    pub(crate) fn of(code: &impl ControlFlow) -> Self {
        let mut strong_before = vec![0];
        let mut strong = 0;
        for pc in 0..code.count() {
            strong += u32::from(is_strong(code.instruction(pc)));
            strong_before.push(strong);
        }
        Self { strong_before, before_end: before_end(code) }
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
        let instruction = code.instruction(pc);
        if waits_for_members(instruction) {
            visit(Stop::Members, pc + 1);
        } else if is_barrier(instruction) {
            visit(Stop::Barrier, pc + 1);
        } else if flow(instruction) != Flow::Next {
            code.successors(pc, |next| {
                if let Some(next) = next.filter(|&next| self.may_turn(pc, next)) {
                    visit(Stop::Turn, next);
                }
            });
        }
    }
}

/// Whether an instruction executes once the lanes of a member mask are there.
pub(crate) fn waits_for_members(instruction: &Instruction) -> bool {
    use Opcode as O;
    let modifiers = &instruction.modifiers;
    match instruction.opcode {
        O::Shfl | O::Vote | O::Match | O::Redux | O::Elect => modifiers.sync,
        O::Bar | O::Barrier => modifiers.warp,
        _ => false,
    }
}

/// Whether an instruction reads memory so that it sees what other threads store meanwhile.
pub(crate) fn is_strong(instruction: &Instruction) -> bool {
    match instruction.opcode {
        Opcode::Atom => true,
        Opcode::Ld => !matches!(instruction.modifiers.order, None | Some(MemoryOrder::Weak)),
        _ => false,
    }
}

/// For each instruction, whether all paths from it exit without waiting and without a loop: those
/// that all of whose successors are such, beginning with exits.
fn before_end(code: &impl ControlFlow) -> Vec<bool> {
    let count = code.count();
    let mut missing = vec![0_u32; count];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut work = Vec::new();
    for (pc, missing) in missing.iter_mut().enumerate() {
        code.successors(pc, |next| {
            if let Some(next) = next {
                *missing += 1;
                before[next].push(pc);
            }
        });
        if *missing == 0 {
            work.push(pc);
        }
    }
    let mut found = vec![false; count];
    while let Some(pc) = work.pop() {
        let instruction = code.instruction(pc);
        if waits_for_members(instruction) || is_barrier(instruction) {
            continue;
        }
        found[pc] = true;
        for &from in &before[pc] {
            missing[from] -= 1;
            if missing[from] == 0 {
                work.push(from);
            }
        }
    }
    found
}
