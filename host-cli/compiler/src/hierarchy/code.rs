//! Code as the hierarchy's passes see it: register slots in physical registers, blocks, guards, and
//! where lanes wait.

use strata_core::image::{Flags, KernelImage, StaticInstruction};
use strata_core::units::RegisterId;
use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::Operand;

use crate::bits::BitMatrix;
use crate::cfg::Graph;
use crate::divergence::Divergence;
use crate::limits::TooLarge;
use crate::operands::registers_of;
use crate::program::{Location, Program};

/// An allocated program, analysed once for all hierarchies that it is fitted to.
#[derive(Clone, Debug)]
pub struct Code<'p> {
    pub(crate) image: KernelImage<'p>,
    /// For each register slot of the image, the place of its operand among the instruction's
    /// sources or destinations.
    operand_of: Vec<u8>,
    /// Instructions that may leave out some of the lanes that reach them.
    pub(crate) guarded: Vec<bool>,
    pub(crate) graph: Graph,
    pub(crate) divergence: Divergence,
    /// Registers live at the start of each block, for each thread alone.
    pub(crate) live_in: BitMatrix,
}

impl<'p> Code<'p> {
    /// Analyses a program.
    ///
    /// # Errors
    ///
    /// A program so large or so deeply nested that the analysis would take unbounded memory.
    pub fn new(program: &'p Program) -> Result<Self, Diagnostic> {
        Self::within_limits(program).map_err(|limit| {
            let pc = limit.pc.min(program.instructions.len().saturating_sub(1));
            let span = program.instructions.get(pc).map(|i| i.instruction.span);
            Diagnostic::unsupported(limit.code, span.unwrap_or_default(), limit.message)
                .in_kernel(program.name.clone())
        })
    }

    fn within_limits(program: &'p Program) -> Result<Self, TooLarge> {
        let graph = Graph::new(program)?;
        let divergence = Divergence::new(program, &graph)?;
        TooLarge::check_table(graph.blocks.len(), usize::from(program.image.registers))?;
        let guards = program.instructions.iter().map(|i| i.instruction.guard.is_some());
        let mut code = Self {
            image: program.image.borrow(),
            operand_of: operands_of_slots(program),
            guarded: guards.collect(),
            live_in: BitMatrix::new(graph.blocks.len(), usize::from(program.image.registers)),
            graph,
            divergence,
        };
        code.find_live_in();
        Ok(code)
    }

    /// Instructions.
    pub(crate) fn len(&self) -> usize {
        self.image.instructions.len()
    }

    /// Register slots.
    pub(super) fn slots(&self) -> usize {
        self.image.slots.len()
    }

    pub(crate) fn record(&self, pc: usize) -> &'p StaticInstruction {
        &self.image.instructions[pc]
    }

    pub(crate) fn sources(&self, pc: usize) -> &'p [RegisterId] {
        self.image.sources(self.record(pc))
    }

    pub(crate) fn destinations(&self, pc: usize) -> &'p [RegisterId] {
        self.image.destinations(self.record(pc))
    }

    /// Index of an instruction's first source slot in the image.
    pub(crate) fn first_source(&self, pc: usize) -> usize {
        self.record(pc).first_slot as usize
    }

    /// Index of its first destination slot.
    pub(super) fn first_destination(&self, pc: usize) -> usize {
        self.first_source(pc) + usize::from(self.record(pc).sources)
    }

    /// The place, among the instruction's sources or results, of the operand that a slot of the
    /// image belongs to.
    pub fn operand_of(&self, slot: usize) -> u8 {
        self.operand_of[slot]
    }

    pub(crate) fn has(&self, pc: usize, flag: Flags) -> bool {
        self.record(pc).flags.contains(flag)
    }

    /// Moves a set of live registers from behind an instruction to before it.
    pub(crate) fn step_back(&self, pc: usize, live: &mut [u64]) {
        if !self.guarded[pc] {
            for register in self.destinations(pc) {
                live[usize::from(register.0) / 64] &= !(1 << (register.0 % 64));
            }
        }
        for register in self.sources(pc) {
            live[usize::from(register.0) / 64] |= 1 << (register.0 % 64);
        }
    }

    /// Registers live behind the last instruction of a block.
    pub(crate) fn live_out(&self, block: usize) -> Vec<u64> {
        let mut live = vec![0; usize::from(self.image.registers).div_ceil(64)];
        for &next in self.graph.blocks[block].successors.iter().filter(|&&n| n != self.graph.exit())
        {
            live.iter_mut().zip(self.live_in.row(next)).for_each(|(live, next)| *live |= next);
        }
        live
    }

    pub(crate) fn find_live_in(&mut self) {
        let mut work: Vec<usize> = (0..self.graph.blocks.len()).collect();
        let mut queued = vec![true; self.graph.blocks.len()];
        while let Some(block) = work.pop() {
            queued[block] = false;
            let mut live = self.live_out(block);
            let (start, end) = (self.graph.blocks[block].start, self.graph.blocks[block].end);
            (start..end).rev().for_each(|pc| self.step_back(pc, &mut live));
            if self.live_in.row(block) == live {
                continue;
            }
            self.live_in.row_mut(block).copy_from_slice(&live);
            for &before in &self.graph.blocks[block].predecessors {
                if !std::mem::replace(&mut queued[before], true) {
                    work.push(before);
                }
            }
        }
    }
}

/// Whether a bit of a row is set.
pub(crate) fn has(row: &[u64], register: usize) -> bool {
    row[register / 64] >> (register % 64) & 1 != 0
}

fn operands_of_slots(program: &Program) -> Vec<u8> {
    let mut of = Vec::with_capacity(program.image.slots.len());
    for instruction in &program.instructions {
        let instruction = &instruction.instruction;
        for operands in [&instruction.sources, &instruction.destinations] {
            for (index, operand) in operands.iter().enumerate() {
                let slots = slots(program, operand);
                of.extend(std::iter::repeat_n(index.min(usize::from(u8::MAX)) as u8, slots));
            }
        }
    }
    of
}

/// Register slots of an operand.
fn slots(program: &Program, operand: &Operand) -> usize {
    let mut slots = 0;
    registers_of(operand, &mut |register| {
        if let Location::General { count, .. } = program.registers[register.index()].location {
            slots += usize::from(count);
        }
    });
    slots
}
