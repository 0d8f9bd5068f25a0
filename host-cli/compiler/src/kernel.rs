//! A kernel with its calls inlined, still in virtual registers: the input of all later passes.

use strata_ptx::module::{Instruction, LabelId, Operand, Register, Span};
use strata_ptx::opcode::{Modifiers, Opcode};

use crate::cfg::Graph;
use crate::program::ProgramVariable;
use crate::values::Values;

/// One kernel with its calls inlined.
///
/// - Every instruction can be reached from the first one.
/// - Control never runs off the end.
/// - Labels index `targets`, branch tables `branch_tables`, local symbols `variables`.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Kernel name.
    pub name: String,
    /// Instructions.
    pub instructions: Vec<Instruction>,
    /// Line of the PTX file of each instruction, from 1.
    pub lines: Vec<u32>,
    /// Virtual registers of the kernel and of every inlined call.
    pub registers: Vec<Register>,
    /// Variables: parameters first.
    pub variables: Vec<ProgramVariable>,
    /// How many of `variables` are kernel parameters.
    pub parameters: u32,
    /// Instruction that each label stands before.
    pub targets: Vec<u32>,
    /// Branch tables.
    pub branch_tables: Vec<Vec<LabelId>>,
    /// Statically allocated shared memory. Unit: bytes for each CTA.
    pub shared_bytes: u64,
    /// Frame in local memory. Unit: bytes for each thread.
    pub local_bytes: u64,
}

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

impl Kernel {
    /// Establishes the type's invariants: appends a `ret` where control would run off the end,
    /// removes what cannot be reached, numbers the lines. A body without instructions becomes one
    /// `ret`, at `span`.
    pub fn tidy(&mut self, span: Span, line: impl Fn(Span) -> u32) {
        end_with_exit(self, span);
        drop_unreachable(self);
        self.lines = self.instructions.iter().map(|instruction| line(instruction.span)).collect();
    }

    /// The same kernel with a register for each value: definitions that no use may see together
    /// have registers of their own. A kernel that is too large for that stays as it is.
    #[must_use]
    pub fn with_registers_for_values(self) -> Self {
        let values = Graph::new(&self).and_then(|graph| Values::new(&self, &graph));
        match values {
            Ok(Values { instructions, webs, .. }) => Self { instructions, registers: webs, ..self },
            Err(_) => self,
        }
    }
}

impl ControlFlow for Kernel {
    fn count(&self) -> usize {
        self.instructions.len()
    }

    fn instruction(&self, pc: usize) -> &Instruction {
        &self.instructions[pc]
    }

    fn target(&self, label: LabelId) -> u32 {
        self.targets[label.index()]
    }

    fn table(&self, table: u32) -> impl Iterator<Item = u32> {
        let labels = &self.branch_tables[table as usize];
        labels.iter().map(|label| self.targets[label.index()])
    }
}

/// An instruction without modifiers and operands.
pub(crate) fn plain(opcode: Opcode, span: Span) -> Instruction {
    Instruction {
        guard: None,
        opcode,
        modifiers: Modifiers::default(),
        types: Vec::new(),
        destinations: Vec::new(),
        sources: Vec::new(),
        span,
    }
}

/// Appends a `ret` where control would run off the end, by falling or by a branch there.
fn end_with_exit(kernel: &mut Kernel, span: Span) {
    let end = kernel.instructions.len() as u32;
    let falls = kernel
        .instructions
        .last()
        .is_none_or(|last| last.guard.is_some() || flow(last) == Flow::Next);
    if falls || kernel.targets.contains(&end) {
        let span = kernel.instructions.last().map_or(span, |last| last.span);
        kernel.instructions.push(plain(Opcode::Ret, span));
    }
}

/// Removes unreachable instructions.
fn drop_unreachable(kernel: &mut Kernel) {
    let count = kernel.instructions.len();
    let mut reached = vec![false; count];
    let mut work = vec![0];
    while let Some(pc) = work.pop() {
        if !std::mem::replace(&mut reached[pc], true) {
            kernel.successors(pc, |next| work.extend(next));
        }
    }
    let mut kept = 0;
    let new_numbers: Vec<u32> = reached
        .iter()
        .map(|&keep| {
            let number = kept;
            kept += u32::from(keep);
            number
        })
        .collect();
    for target in &mut kernel.targets {
        *target = new_numbers.get(*target as usize).copied().unwrap_or(kept);
    }
    let mut keep = reached.iter();
    kernel.instructions.retain(|_| keep.next().is_some_and(|&keep| keep));
}
