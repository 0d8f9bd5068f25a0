//! The machine's image of a traced kernel: what each program counter names, in program order.

use std::collections::BTreeMap;

use strata_compiler::program::Image;
use strata_core::image::{Flags, MAX_SLOTS, StaticInstruction, Unit};
use strata_core::units::RegisterId;

use super::flow::Flow;
use super::instruction::ZERO;
use super::liveness;
use super::opcode;
use super::reader::Seen;

/// Kinds of assumptions, each made at most once for a mnemonic: opcode, addend, width, alignment,
/// slots.
pub(crate) const KINDS_OF_ASSUMPTION: usize = 5;
/// Registers of a thread at most: number 255 is zero.
const REGISTERS: usize = 255;

/// One instruction of a traced kernel, in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedInstruction {
    /// Program counter, as in the trace.
    pub pc: u64,
    /// Mnemonic with its modifiers.
    pub mnemonic: String,
    /// Registers named as results, and as operands: the lowest of each; 255 is zero.
    pub destinations: Vec<u8>,
    /// See `destinations`.
    pub sources: Vec<u8>,
    /// Bytes that each lane moves, as the tracer says; 0 when it is no memory instruction.
    pub width: u8,
}

/// What was assumed about an opcode, and where it first stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// Program counter of the first such instruction.
    pub pc: u64,
    /// Mnemonic.
    pub mnemonic: String,
    /// What is assumed, in words.
    pub text: String,
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} at {:04x}: {}", self.mnemonic, self.pc, self.text)
    }
}

/// A kernel's code, rebuilt from its trace.
#[derive(Clone, Debug)]
pub struct Code {
    /// The instructions, in order of program counters.
    pub instructions: Vec<TracedInstruction>,
    /// The facts for the machine, one for each.
    pub image: Image,
    /// What was assumed about opcodes, one for each mnemonic and assumption, in program order.
    pub assumptions: Vec<Assumption>,
}

/// Sorts instructions by program counter; `number[id]` is the place of the `id`-th seen.
pub(crate) fn numbering(seen: &[Seen]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..seen.len() as u32).collect();
    order.sort_unstable_by_key(|&id| seen[id as usize].pc);
    let mut number = vec![0; seen.len()];
    for (place, &id) in (0_u32..).zip(&order) {
        number[id as usize] = place;
    }
    number
}

/// Builds the code from instructions in program order and the flow over them. `registers` is what
/// the header says; the image has more where the code names more.
pub(crate) fn build(instructions: Vec<TracedInstruction>, registers: u16, flow: &Flow) -> Code {
    let mut builder = Builder::default();
    for (pc, instruction) in instructions.iter().enumerate() {
        builder.add(instruction);
        let backward = flow.next[pc].iter().any(|&next| next as usize <= pc);
        if let Some(record) = builder.image.instructions.last_mut() {
            let branch = record.flags.contains(Flags::BRANCH);
            record.flags.set(Flags::BACKWARD_BRANCH, branch && backward);
        }
    }
    let mut image = builder.image;
    image.registers = image.registers.max(registers);
    liveness::annotate(&mut image, flow);
    let mut assumptions: Vec<Assumption> = builder.assumptions.into_values().collect();
    assumptions.sort_by(|a, b| (a.pc, &a.text).cmp(&(b.pc, &b.text)));
    Code { instructions, image, assumptions }
}

/// The registers that an instruction of a trace reads and writes, each in order: one for each slot.
pub(crate) fn slots(instruction: &TracedInstruction) -> [Vec<RegisterId>; 2] {
    let mut builder = Builder::default();
    builder.add(instruction);
    let image = &builder.image;
    let sources = image.instructions.iter().map(|record| usize::from(record.sources)).sum();
    let (sources, destinations) = image.slots.split_at(sources);
    [sources.to_vec(), destinations.to_vec()]
}

#[derive(Default)]
struct Builder {
    image: Image,
    assumptions: BTreeMap<(String, &'static str), Assumption>,
}

impl Builder {
    fn add(&mut self, instruction: &TracedInstruction) {
        let mnemonic = instruction.mnemonic.as_str();
        let has_result = !instruction.destinations.is_empty();
        let class = opcode::classify(mnemonic, instruction.width != 0, has_result);
        if !class.known {
            let unit = unit_name(class.unit);
            self.assume(instruction, "opcode", format!("unknown opcode, taken for {unit}"));
        }
        let first_slot = self.image.slots.len() as u32;
        let count = instruction.sources.len();
        // Odd registers begin no pair, so that a factor stands there. At even ones stand addends in
        // NVIDIA's code, with few exceptions.
        let open = opcode::may_end_with_addend(mnemonic, count);
        let addend = open && instruction.sources[1].is_multiple_of(2);
        if addend {
            let text = "the second of two operands, at an even register, is taken for the addend";
            self.assume(instruction, "addend", text.to_owned());
        }
        let sources = self.slots(instruction, &instruction.sources, |index| {
            if addend && index == 1 {
                return Some(2);
            }
            opcode::source_registers(mnemonic, index, count)
        });
        let destinations = self.slots(instruction, &instruction.destinations, |index| {
            opcode::destination_registers(mnemonic, index)
        });
        self.image.instructions.push(StaticInstruction {
            first_slot,
            sources,
            destinations,
            space: class.space,
            flags: class.flags,
            // Traces name no predicates.
            ..StaticInstruction::new(class.unit)
        });
    }

    /// Adds one slot for each register of some operands; says how many.
    fn slots(
        &mut self,
        instruction: &TracedInstruction,
        named: &[u8],
        width: impl Fn(usize) -> Option<usize>,
    ) -> u8 {
        let mut used = 0;
        for (index, &register) in
            named.iter().enumerate().filter(|(_, register)| **register != ZERO)
        {
            let wanted = width(index).unwrap_or_else(|| {
                let text = "width of its operands unknown, one register each".to_owned();
                self.assume(instruction, "width", text);
                1
            });
            let first = usize::from(register);
            // Pairs and wider operands begin at even registers; what does not is no such operand.
            let fits = wanted == 1 || first % 2 == 0 && first + wanted <= REGISTERS;
            if !fits {
                let text = format!("R{register} cannot begin {wanted} registers, taken for one");
                self.assume(instruction, "alignment", text);
            }
            let count = if fits { wanted } else { 1 };
            if used + count > MAX_SLOTS {
                let text = format!("only the first {used} registers of its operands are counted");
                self.assume(instruction, "slots", text);
                break;
            }
            used += count;
            let registers = register.into()..u16::from(register) + count as u16;
            self.image.registers = self.image.registers.max(registers.end);
            self.image.slots.extend(registers.map(RegisterId));
        }
        used as u8
    }

    fn assume(&mut self, instruction: &TracedInstruction, kind: &'static str, text: String) {
        let TracedInstruction { pc, mnemonic, .. } = instruction;
        self.assumptions.entry((mnemonic.clone(), kind)).or_insert_with(|| Assumption {
            pc: *pc,
            mnemonic: mnemonic.clone(),
            text,
        });
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Alu => "an ALU instruction",
        Unit::DoublePrecision => "a double-precision instruction",
        Unit::Sfu => "a special function",
        Unit::Memory => "a memory instruction",
        Unit::Texture => "a texture instruction",
        Unit::Control => "a control instruction",
    }
}
