//! Static use of values: where each is defined and read.

use strata_core::image::Flags;
use strata_core::placement::{Placement, Upper};
use strata_ptx::module::{Operand, VirtualRegister};

use crate::operands::{definitions, registers_of, uses};
use crate::program::{Location, Origin, Program};

/// Where one value (a web, a register of the program) is defined and read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueUse {
    /// Instructions that define it, ascending.
    pub definitions: Vec<u32>,
    /// Instructions that read it, ascending; one that reads it twice is there twice.
    pub reads: Vec<u32>,
    /// Instructions after which no lane reads it again (the liveness bit), ascending.
    pub last_uses: Vec<u32>,
    /// Some definition is a long-latency one.
    pub long_latency: bool,
}

/// The uses of each register of a program, in the order of [`Program::registers`]. A guard counts
/// as a read.
pub fn value_uses(program: &Program) -> Vec<ValueUse> {
    let mut values = vec![ValueUse::default(); program.registers.len()];
    for (pc, instruction) in program.instructions.iter().enumerate() {
        let record = &program.image.instructions[pc];
        let instruction = &instruction.instruction;
        definitions(instruction, |register| {
            let value = &mut values[register.index()];
            value.definitions.push(pc as u32);
            value.long_latency |= record.flags.contains(Flags::LONG_LATENCY);
        });
        let mut slot = 0;
        let mut operand = |register: VirtualRegister| {
            let value = &mut values[register.index()];
            value.reads.push(pc as u32);
            if let Location::General { count, .. } = program.registers[register.index()].location {
                // The guard comes last and has no slot.
                if record.last_use >> slot & 1 != 0 {
                    value.last_uses.push(pc as u32);
                }
                slot += u32::from(count);
            }
        };
        uses(instruction, &mut operand);
    }
    values
}

/// How often values in general registers are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Values never read, read at one place, at two places, at more.
    pub values: [u32; 4],
}

impl ReadCounts {
    /// Counts the values of a program that some instruction defines.
    pub fn new(program: &Program) -> Self {
        let mut counts = Self::default();
        for (register, value) in program.registers.iter().zip(value_uses(program)) {
            if matches!(register.location, Location::General { .. })
                && !value.definitions.is_empty()
            {
                counts.values[value.reads.len().min(3)] += 1;
            }
        }
        counts
    }
}

/// What spilling did to a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpillCounts {
    /// Instructions that store a value to a slot.
    pub stores: u32,
    /// Instructions that load a value from a slot.
    pub fills: u32,
    /// Instructions that make a value again instead.
    pub again: u32,
    /// Definitions that are left out because every read makes them again.
    pub dropped: u32,
    /// Slots of one thread. Unit: bytes.
    pub bytes: u64,
}

impl SpillCounts {
    /// Counts the instructions of a program; how often they execute is another matter.
    pub fn new(program: &Program) -> Self {
        let dropped = program.dropped.len() as u32;
        let mut counts = Self { dropped, bytes: program.spill_bytes, ..Self::default() };
        for instruction in &program.instructions {
            match instruction.origin {
                Origin::Kernel(_) => {}
                Origin::Store(_) => counts.stores += 1,
                Origin::Fill(_) => counts.fills += 1,
                Origin::Again(_) => counts.again += 1,
            }
        }
        counts
    }
}

/// Operands and results of more than one 32-bit register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WideOperands {
    /// All of them.
    pub all: u32,
    /// Those whose registers lie in different levels, in two entries that do not follow each other,
    /// or in the last result file, which holds a register in each bank.
    pub apart: u32,
}

/// Counts the wide operands and results of a program whose register slots live at `placements`.
pub fn wide_operands(program: &Program, placements: &[Placement]) -> WideOperands {
    let mut found = WideOperands::default();
    for (whole, record) in program.instructions.iter().zip(&program.image.instructions) {
        let mut slots = placements.get(record.first_slot as usize..).unwrap_or_default();
        let instruction = &whole.instruction;
        let operands: [&[Operand]; 2] = [&instruction.sources, &instruction.destinations];
        let mut operand = |register: VirtualRegister| {
            let location = program.registers[register.index()].location;
            let Location::General { count, .. } = location else { return };
            let (words, rest) = slots.split_at(usize::from(count).min(slots.len()));
            slots = rest;
            if count > 1 {
                found.all += 1;
                found.apart += u32::from(!words.windows(2).all(|pair| follow(pair[0], pair[1])));
            }
        };
        operands.into_iter().flatten().for_each(|one| registers_of(one, &mut operand));
    }
    found
}

/// Whether one name can mean both registers: that of the first, and the next.
fn follow(first: Placement, second: Placement) -> bool {
    let upper = match (first.upper, second.upper) {
        (None, None) => true,
        (Some(Upper::Orf(first)), Some(Upper::Orf(second))) => first + 1 == second,
        _ => false,
    };
    upper && first.main == second.main
}
