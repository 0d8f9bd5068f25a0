//! Single instructions: where their operands come from, what they may wait for, and why an operand
//! is in the level where it is.
//!
//! Definitions are those of a physical register along the paths of one thread, as the hierarchy
//! sees them; what may be pending follows the order in which a warp executes, as the marks do.

use std::collections::BTreeSet;

use strata_core::image::Flags;
use strata_core::units::RegisterId;
use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{Operand, VirtualRegister};

use crate::bits::BitMatrix;
use crate::flow::ControlFlow;
use crate::hierarchy::{Code, Hierarchy, Strands, has};
use crate::marks::{Effect, pending_behind};
use crate::operands::{definitions, registers_of, uses};
use crate::program::{Location, Program};
use crate::statistics::{ValueUse, value_uses};

/// A program, analysed for questions about its instructions.
#[derive(Clone, Debug)]
pub struct Explainer<'p> {
    program: &'p Program,
    code: Code<'p>,
    values: Vec<ValueUse>,
    /// Registers that may be pending behind each instruction.
    pending: BitMatrix,
}

/// One register slot of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index into the image's slots.
    pub slot: usize,
    /// Number among the instruction's sources, or among its results.
    pub index: usize,
    /// Its register.
    pub register: RegisterId,
    /// The program's register that it is a part of.
    pub value: VirtualRegister,
    /// It is written, not read.
    pub result: bool,
}

/// What a register may hold at some place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reaching {
    /// Instructions that may have written it, ascending.
    pub definitions: Vec<u32>,
    /// On some path it was not written since the strand, or the kernel, started.
    pub older: bool,
}

/// An operand that may not have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its register.
    pub register: RegisterId,
    /// The long-latency instructions whose result it may be, ascending.
    pub from: Vec<u32>,
}

/// Why a slot is placed as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// What became of its value: an index into [`Hierarchy::decisions`].
    Decision(u32),
    /// The value is the result of these long-latency instructions, or meets theirs.
    LongLatency(Vec<u32>),
    /// The value was there when the strand started, and no later read can use what this one would
    /// leave.
    Older,
    /// On some paths these instructions of the strand wrote it, on others it was there before.
    Mixed(Vec<u32>),
}

impl<'p> Explainer<'p> {
    /// Analyses a program.
    ///
    /// # Errors
    ///
    /// A program so large or so deeply nested that the analysis would take unbounded memory.
    pub fn new(program: &'p Program) -> Result<Self, Diagnostic> {
        let code = Code::new(program)?;
        let effects: Vec<Effect<'_>> = (0..code.len()).map(|pc| effect(&code, pc)).collect();
        let registers = code.image.registers;
        let pending = pending_behind(&code.graph, &code.divergence, registers, &effects);
        Ok(Self { program, code, values: value_uses(program), pending })
    }

    /// The program as the hierarchy's passes see it.
    pub fn code(&self) -> &Code<'p> {
        &self.code
    }

    /// Where one of the program's registers is defined and read.
    pub fn value(&self, register: VirtualRegister) -> &ValueUse {
        &self.values[register.index()]
    }

    /// The register slots of an instruction, sources first, in the order of the image.
    pub fn slots(&self, pc: usize) -> Vec<Slot> {
        let instruction = &self.program.instructions[pc].instruction;
        let mut slots = Vec::new();
        let mut slot = self.code.first_source(pc);
        let mut add = |operands: &[Operand], result: bool| {
            let first = slot;
            for operand in operands {
                registers_of(operand, &mut |value| {
                    let location = self.program.registers[value.index()].location;
                    if let Location::General { first: register, count } = location {
                        for register in register..register + u16::from(count) {
                            let register = RegisterId(register);
                            let index = slot - first;
                            slots.push(Slot { slot, index, register, value, result });
                            slot += 1;
                        }
                    }
                });
            }
        };
        add(&instruction.sources, false);
        add(&instruction.destinations, true);
        slots
    }

    /// The predicates that an instruction reads, its guard last, then those that it writes, for
    /// which the second part is true.
    pub fn predicates(&self, pc: usize) -> Vec<(VirtualRegister, bool)> {
        let instruction = &self.program.instructions[pc].instruction;
        let mut found = Vec::new();
        uses(instruction, |register| found.push((register, false)));
        definitions(instruction, |register| found.push((register, true)));
        found.retain(|(register, _)| {
            let location = self.program.registers[register.index()].location;
            matches!(location, Location::Predicate(_))
        });
        found
    }

    /// What a register may hold before an instruction; with `strands`, within its strand only.
    pub fn reaching(&self, pc: usize, register: RegisterId, strands: Option<&Strands>) -> Reaching {
        let graph = &self.code.graph;
        let starts = |pc: usize| strands.is_some_and(|strands| strands.starts[pc].is_some());
        if starts(pc) {
            return Reaching { definitions: Vec::new(), older: true };
        }
        let mut found = BTreeSet::new();
        let mut older = false;
        let mut seen = vec![false; graph.blocks.len()];
        let mut work = vec![(graph.block_of[pc], pc)];
        while let Some((number, mut at)) = work.pop() {
            let block = &graph.blocks[number];
            loop {
                if at == block.start {
                    older |= number == 0;
                    let before = block.predecessors.iter();
                    work.extend(before.filter_map(|&before| {
                        let new = !std::mem::replace(&mut seen[before], true);
                        new.then(|| (before, graph.blocks[before].end))
                    }));
                    break;
                }
                at -= 1;
                if self.code.destinations(at).contains(&register) {
                    found.insert(at as u32);
                    if !self.code.guarded[at] {
                        break;
                    }
                }
                if starts(at) {
                    older = true;
                    break;
                }
            }
        }
        Reaching { definitions: found.into_iter().collect(), older }
    }

    /// The registers for which an instruction may have to wait, once each, with the instructions
    /// that they may come from.
    pub fn pending(&self, pc: usize) -> Vec<Pending> {
        let mut found: Vec<Pending> = Vec::new();
        for &register in self.code.sources(pc) {
            if found.iter().any(|pending| pending.register == register) {
                continue;
            }
            let from = self.pending_from(pc, register);
            if !from.is_empty() {
                found.push(Pending { register, from });
            }
        }
        found
    }

    /// The long-latency instructions whose result in a register may be pending before `pc`.
    fn pending_from(&self, pc: usize, register: RegisterId) -> Vec<u32> {
        let graph = &self.code.graph;
        let mut found = BTreeSet::new();
        let mut seen = vec![false; graph.blocks.len()];
        let mut work = vec![(graph.block_of[pc], pc)];
        while let Some((number, mut at)) = work.pop() {
            loop {
                if at == graph.blocks[number].start {
                    for &before in &graph.blocks[number].predecessors {
                        if !std::mem::replace(&mut seen[before], true) {
                            work.push((before, graph.blocks[before].end));
                        }
                    }
                    break;
                }
                at -= 1;
                if !has(self.pending.row(at), usize::from(register.0)) {
                    break;
                }
                let long = self.code.has(at, Flags::LONG_LATENCY);
                if long && self.code.destinations(at).contains(&register) {
                    found.insert(at as u32);
                    if !self.code.guarded[at] {
                        break;
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    /// The instructions that a warp may come to when it leaves a strand, ascending.
    pub fn strand_ends(&self, strands: &Strands, strand: u32) -> Vec<u32> {
        let mut ends = BTreeSet::new();
        for (pc, _) in strands.of.iter().enumerate().filter(|(_, of)| **of == strand) {
            self.program.successors(pc, |next| {
                let next = next
                    .filter(|&next| strands.of[next] != strand || strands.starts[next].is_some());
                ends.extend(next.map(|next| next as u32));
            });
        }
        ends.into_iter().collect()
    }

    /// Why a slot of an instruction is placed as it is. `decisions` are those of
    /// [`decisions_of_slots`](crate::hierarchy::decisions_of_slots).
    pub fn why(
        &self,
        pc: usize,
        slot: &Slot,
        hierarchy: &Hierarchy,
        decisions: &[Option<u32>],
    ) -> Why {
        if let Some(decision) = decisions[slot.slot] {
            return Why::Decision(decision);
        }
        let strands = &hierarchy.strands;
        let reaching = self.reaching(pc, slot.register, Some(strands));
        let within = if slot.result { vec![pc as u32] } else { reaching.definitions };
        if !slot.result && reaching.older {
            return if within.is_empty() { Why::Older } else { Why::Mixed(within) };
        }
        let long = |pc: &u32| self.code.has(*pc as usize, Flags::LONG_LATENCY);
        let direct: Vec<u32> = within.into_iter().filter(long).collect();
        if !direct.is_empty() {
            return Why::LongLatency(direct);
        }
        // Some read may see another definition and a long-latency one.
        let strand = strands.of[pc];
        let same = self.values[slot.value.index()].definitions.iter().copied();
        let same = same.filter(|&other| strands.of[other as usize] == strand);
        Why::LongLatency(same.filter(long).collect())
    }
}

fn effect<'c>(code: &'c Code<'_>, pc: usize) -> Effect<'c> {
    Effect {
        sources: code.sources(pc),
        destinations: code.destinations(pc),
        long_latency: code.has(pc, Flags::LONG_LATENCY),
        barrier: code.has(pc, Flags::BARRIER),
        guarded: code.guarded[pc],
    }
}
