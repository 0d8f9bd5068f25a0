//! A kernel with its calls inlined, still in virtual registers: the input of all later passes.

use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{Instruction, LabelId, Register, Span};
use strata_ptx::opcode::{Modifiers, Opcode};

use crate::flow::{ControlFlow, Flow, flow};
use crate::limits::TooLarge;
use crate::program::ProgramVariable;

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

impl Kernel {
    /// Establishes the type's invariants: appends a `ret` where control would run off the end,
    /// removes what cannot be reached, numbers the lines. A body without instructions becomes one
    /// `ret`, at `span`.
    pub fn tidy(&mut self, span: Span, line: impl Fn(Span) -> u32) {
        end_with_exit(self, span);
        drop_unreachable(self);
        self.lines = self.instructions.iter().map(|instruction| line(instruction.span)).collect();
    }

    /// The limit that the kernel exceeds, as a diagnostic.
    pub(crate) fn refused(&self, limit: TooLarge) -> Diagnostic {
        let span = self.instructions.get(limit.pc).map(|i| i.span).unwrap_or_default();
        Diagnostic::unsupported(limit.code, span, limit.message).in_kernel(self.name.clone())
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
