//! The machine's image of a traced kernel: what each program counter names, in program order.

use std::collections::BTreeMap;

use strata_compiler::program::Image;
use strata_core::image::{Flags, MAX_SLOTS, StaticInstruction, Unit};
use strata_core::units::RegisterId;
use strata_machine_code as machine_code;
use strata_machine_code::{Machine, Note, Span};

use super::flow::Flow;
use super::liveness;
use super::opcode;
use super::visitor::Seen;

/// Kinds of assumptions, each made at most once for a mnemonic: opcode, operands, listing, addend,
/// width, alignment, slots, lines.
pub(crate) const KINDS_OF_ASSUMPTION: usize = 8;

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

/// Builds the code from instructions in program order and the flow over them. `single` are those
/// that should have two lines and had one. The image has `registers`, which the header says, or
/// more where the code names more.
pub(crate) fn build(
    instructions: Vec<TracedInstruction>,
    registers: u16,
    machine: Machine,
    single: &[u64],
    flow: &Flow,
) -> Code {
    let mut builder = Builder::new(machine);
    for (pc, instruction) in instructions.iter().enumerate() {
        builder.add(instruction);
        if single.contains(&instruction.pc) {
            let text =
                "one line instead of two: its addresses are taken for those of global memory";
            builder.assume(instruction, "lines", text.to_owned());
        }
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
/// `None` if no line could list them.
pub(crate) fn slots(
    machine: Machine,
    instruction: &TracedInstruction,
) -> Option<[Vec<RegisterId>; 2]> {
    let TracedInstruction { mnemonic, destinations, sources, .. } = instruction;
    machine_code::read(machine, mnemonic, destinations, sources).ok()?;
    let mut builder = Builder::new(machine);
    builder.add(instruction);
    let image = &builder.image;
    let sources = image.instructions.iter().map(|record| usize::from(record.sources)).sum();
    let (sources, destinations) = image.slots.split_at(sources);
    Some([sources.to_vec(), destinations.to_vec()])
}

/// A note about a machine whose code is read as that of another one; `None` for known machines.
pub fn machine_note(binary_version: u32) -> Option<String> {
    let known = Machine::of(binary_version).is_some();
    let nearest = Machine::nearest(binary_version);
    (!known).then(|| format!("operands of sm_{binary_version} are read as those of {nearest}"))
}

struct Builder {
    machine: Machine,
    image: Image,
    assumptions: BTreeMap<(String, &'static str), Assumption>,
}

impl Builder {
    fn new(machine: Machine) -> Self {
        Self { machine, image: Image::default(), assumptions: BTreeMap::new() }
    }

    fn add(&mut self, instruction: &TracedInstruction) {
        let TracedInstruction { mnemonic, destinations, sources, .. } = instruction;
        // The reader has refused what no line of the opcode can list; a recording holds none of it.
        let reading =
            machine_code::read(self.machine, mnemonic, destinations, sources).unwrap_or_default();
        let has_result = !reading.results.is_empty();
        let class = opcode::classify(mnemonic, instruction.width != 0, has_result);
        if !class.known {
            let unit = unit_name(class.unit);
            self.assume(instruction, "opcode", format!("unknown opcode, taken for {unit}"));
        }
        // Of an opcode that is not known at all, one note says so.
        let said = |note: &&Note| class.known || **note != Note::Opcode;
        for note in reading.notes.iter().filter(said) {
            self.note(instruction, *note);
        }
        let first_slot = self.image.slots.len() as u32;
        let sources = self.slots(instruction, &reading.sources);
        let destinations = self.slots(instruction, &reading.results);
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

    fn note(&mut self, instruction: &TracedInstruction, note: Note) {
        let (kind, text) = match note {
            Note::Opcode => ("operands", "operands unknown, one register each".to_owned()),
            Note::Listing => {
                let text = "the line lists operands as the tracer does not; read as it stands";
                ("listing", text.to_owned())
            }
            Note::Addend => {
                let text =
                    "the second of two operands, at an even register, is taken for the addend";
                ("addend", text.to_owned())
            }
            Note::Width => ("width", "width of its operands unknown, one register each".to_owned()),
            Note::Alignment { register, registers } => {
                let text = format!("R{register} cannot begin {registers} registers, taken for one");
                ("alignment", text)
            }
        };
        self.assume(instruction, kind, text);
    }

    /// Adds one slot for each register of some operands; says how many.
    fn slots(&mut self, instruction: &TracedInstruction, spans: &[Span]) -> u8 {
        let mut used = 0;
        for span in spans {
            let count = usize::from(span.registers);
            if used + count > MAX_SLOTS {
                let text = format!("only the first {used} registers of its operands are counted");
                self.assume(instruction, "slots", text);
                break;
            }
            used += count;
            let registers =
                u16::from(span.first)..u16::from(span.first) + u16::from(span.registers);
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
