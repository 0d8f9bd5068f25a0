//! Static use of values: where each is defined and read.

use strata_core::image::Flags;
use strata_ptx::module::RegisterId;

use crate::operands::{definitions, uses};
use crate::program::{Location, Program};

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
        let mut operand = |register: RegisterId| {
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
