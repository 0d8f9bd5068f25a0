//! Control flow: which instructions may follow which.

use strata_ptx::module::{Instruction, LabelId, Operand};
use strata_ptx::opcode::Opcode;

/// Instructions with branch targets: a kernel, or the program made of it.
pub(crate) trait ControlFlow {
    /// Instructions.
    fn count(&self) -> usize;

    /// One of them.
    fn instruction(&self, pc: usize) -> &Instruction;

    /// The instruction that a label stands before; may be their number.
    fn target(&self, label: LabelId) -> u32;

    /// The targets in a branch table.
    fn table(&self, table: u32) -> impl Iterator<Item = u32>;

    /// Calls `visit` with each instruction that may follow `pc`, in the order fall-through, then
    /// targets; `None` is the exit. A target may be visited twice.
    fn successors(&self, pc: usize, mut visit: impl FnMut(Option<usize>)) {
        let instruction = self.instruction(pc);
        let flow = flow(instruction);
        let inside = |pc: usize| (pc < self.count()).then_some(pc);
        if flow == Flow::Next || instruction.guard.is_some() {
            visit(inside(pc + 1));
        }
        match flow {
            Flow::Next => {}
            Flow::Branch(label) => visit(inside(self.target(label) as usize)),
            Flow::Table(table) => {
                self.table(table).for_each(|target| visit(inside(target as usize)));
            }
            Flow::Exit => visit(None),
        }
    }

    /// Whether lanes may leave an instruction for different instructions.
    fn may_diverge(&self, pc: usize) -> bool {
        let instruction = self.instruction(pc);
        match flow(instruction) {
            Flow::Branch(_) => instruction.guard.is_some(),
            Flow::Table(_) => true,
            Flow::Next | Flow::Exit => false,
        }
    }
}

/// How control leaves an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next instruction.
    Next,
    /// To a label; guarded: or to the next instruction.
    Branch(LabelId),
    /// To an entry of a table; guarded: or to the next instruction.
    Table(u32),
    /// Out of the kernel; guarded: or to the next instruction.
    Exit,
}

/// How control leaves an instruction of a kernel whose calls are inlined.
pub(crate) fn flow(instruction: &Instruction) -> Flow {
    match instruction.opcode {
        Opcode::Bra => instruction
            .sources
            .iter()
            .find_map(|operand| match operand {
                Operand::Label(label) => Some(Flow::Branch(*label)),
                _ => None,
            })
            .unwrap_or(Flow::Next),
        Opcode::Brx => instruction
            .sources
            .iter()
            .find_map(|operand| match operand {
                Operand::BranchTable(table) => Some(Flow::Table(*table)),
                _ => None,
            })
            .unwrap_or(Flow::Next),
        Opcode::Ret | Opcode::Exit | Opcode::Trap => Flow::Exit,
        _ => Flow::Next,
    }
}
