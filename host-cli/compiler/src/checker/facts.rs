//! What can be checked one instruction at a time.

use strata_core::image::{Flags, MAX_SLOTS, MemorySpace, StaticInstruction};
use strata_core::units::RegisterId;
use strata_ptx::module::{Instruction, Operand, StateSpace};
use strata_ptx::opcode::{BarrierOp, Opcode};
use strata_ptx::types::ScalarType;

use super::registers::{all_registers, anonymous, writes};
use super::violation::{Problem, Report};
use crate::flow::{Flow, flow};
use crate::kernel::Kernel;
use crate::operands::registers_of;
use crate::program::{Location, Program};

/// Checks that the program is the kernel but for its register numbers.
pub(super) fn check_correspondence(kernel: &Kernel, program: &Program, report: &mut Report<'_>) {
    let count = kernel.instructions.len();
    let record_count = program.image.instructions.len();
    if program.instructions.len() != count || record_count != count || count == 0 {
        return report.add(0, Problem::Different("the number of instructions"));
    }
    let tables: Vec<Vec<u32>> = kernel
        .branch_tables
        .iter()
        .map(|table| table.iter().map(|label| kernel.targets[label.index()]).collect())
        .collect();
    if program.targets != kernel.targets || program.branch_tables != tables {
        report.add(0, Problem::Different("a branch target"));
    }
    if program.variables != kernel.variables || program.parameters != kernel.parameters {
        report.add(0, Problem::Different("a variable"));
    }
    for pc in 0..count {
        let (ours, theirs) = (&kernel.instructions[pc], &program.instructions[pc]);
        if anonymous(ours) != anonymous(&theirs.instruction) {
            report.add(pc, Problem::Different("the instruction"));
            continue;
        }
        let (from, to) = (all_registers(ours), all_registers(&theirs.instruction));
        let declared = from.iter().zip(&to).all(|(from, to)| {
            let ty = program.registers.get(to.index()).map(|register| register.ty);
            ty == Some(kernel.registers[from.index()].ty)
        });
        if !declared {
            report.add(pc, Problem::Different("the type of a register"));
        }
    }
}

/// Checks that every register that is mentioned has a proper place.
pub(super) fn check_places(program: &Program, report: &mut Report<'_>) {
    for (pc, instruction) in program.instructions.iter().enumerate() {
        for register in all_registers(&instruction.instruction) {
            let register = &program.registers[register.index()];
            let good = match register.location {
                Location::Unused => false,
                Location::Predicate(number) => {
                    register.ty == ScalarType::Pred && number < program.predicate_registers
                }
                Location::General { first, count } => {
                    register.ty != ScalarType::Pred
                        && u32::from(count) == register.ty.register_slots()
                        && first % u16::from(count) == 0
                        && u32::from(first) + u32::from(count)
                            <= u32::from(program.general_registers)
                }
            };
            if !good {
                let (name, place) = (register.name.clone(), register.location);
                report.add(pc, Problem::BadPlace { register: name, place });
            }
        }
    }
    if program.image.registers != program.general_registers {
        report.add(0, Problem::Different("the number of registers in the image"));
    }
}

/// Checks slots and static facts.
pub(super) fn check_records(kernel: &Kernel, program: &Program, report: &mut Report<'_>) {
    for (pc, record) in program.image.instructions.iter().enumerate() {
        let instruction = &program.instructions[pc].instruction;
        let (first, sources) = (record.first_slot as usize, usize::from(record.sources));
        let middle = first + sources;
        let end = middle + usize::from(record.destinations);
        let slots = |range: std::ops::Range<usize>| {
            program.image.slots.get(range).unwrap_or_default().to_vec()
        };
        let expected = slots_of(program, &instruction.sources);
        compare_slots(pc, "source", slots(first..middle), expected, report);
        let expected = slots_of(program, &instruction.destinations);
        compare_slots(pc, "destination", slots(middle..end), expected, report);
        check_flags(kernel, pc, record, report);
        let unused = |mask: u32, slots: u8| u64::from(mask) >> slots != 0;
        if unused(record.last_use | record.last_use_before_deschedule, record.sources)
            || unused(
                record.never_read | record.not_read_before_deschedule | record.private_reads,
                record.destinations,
            )
        {
            report.add(pc, Problem::Fact("a bit of a slot that is not there"));
        }
    }
}

fn compare_slots(
    pc: usize,
    which: &'static str,
    found: Vec<RegisterId>,
    expected: Vec<RegisterId>,
    report: &mut Report<'_>,
) {
    if found != expected || found.len() > MAX_SLOTS {
        report.add(pc, Problem::Slots { which, found, expected });
    }
}

fn slots_of(program: &Program, operands: &[Operand]) -> Vec<RegisterId> {
    let mut slots = Vec::new();
    for operand in operands {
        registers_of(operand, &mut |register| {
            if let Location::General { first, count } = program.registers[register.index()].location
            {
                slots.extend((first..first + u16::from(count)).map(RegisterId));
            }
        });
    }
    slots
}

fn check_flags(kernel: &Kernel, pc: usize, record: &StaticInstruction, report: &mut Report<'_>) {
    let instruction = &kernel.instructions[pc];
    let targets: Vec<u32> = match flow(instruction) {
        Flow::Branch(label) => vec![kernel.targets[label.index()]],
        Flow::Table(table) => {
            let table = &kernel.branch_tables[table as usize];
            table.iter().map(|label| kernel.targets[label.index()]).collect()
        }
        Flow::Next | Flow::Exit => Vec::new(),
    };
    let expected = [
        ("the branch flag", Flags::BRANCH, !targets.is_empty()),
        ("the exit flag", Flags::EXIT, flow(instruction) == Flow::Exit),
        (
            "the backward branch flag",
            Flags::BACKWARD_BRANCH,
            targets.iter().any(|&target| target as usize <= pc),
        ),
        ("the barrier flag", Flags::BARRIER, waits_at_barrier(instruction)),
        ("the arrival flag", Flags::ARRIVES, only_arrives(instruction)),
        ("the long latency flag", Flags::LONG_LATENCY, is_long(instruction, record)),
    ];
    for (name, flag, value) in expected {
        if record.flags.contains(flag) != value {
            report.add(pc, Problem::Fact(name));
        }
    }
}

fn only_arrives(instruction: &Instruction) -> bool {
    let name = matches!(instruction.opcode, Opcode::Bar | Opcode::Barrier);
    let of_cluster = instruction.modifiers.other.iter().any(|word| word == "cluster");
    name && !of_cluster && instruction.modifiers.barrier == Some(BarrierOp::Arrive)
}

pub(super) fn waits_at_barrier(instruction: &Instruction) -> bool {
    let name = matches!(instruction.opcode, Opcode::Bar | Opcode::Barrier);
    let arrives = instruction.modifiers.barrier == Some(BarrierOp::Arrive);
    name && !arrives && !instruction.modifiers.warp
}

/// Rule 16, for instructions with a result.
fn is_long(instruction: &Instruction, record: &StaticInstruction) -> bool {
    use Opcode as O;
    let far = matches!(
        instruction.modifiers.space,
        None | Some(StateSpace::Generic | StateSpace::Global | StateSpace::Local)
    );
    let long = match instruction.opcode {
        O::Ld | O::Ldu => far,
        O::Wmma => record.flags.contains(Flags::LOAD) && record.space != Some(MemorySpace::Shared),
        O::Mbarrier => {
            instruction.modifiers.has("arrive") || instruction.modifiers.has("arrive_drop")
        }
        O::CpAsync | O::Atom | O::Tex | O::Tld4 | O::Txq | O::Suld | O::Suq | O::Sured => true,
        _ => false,
    };
    long && !writes(instruction).is_empty()
}
