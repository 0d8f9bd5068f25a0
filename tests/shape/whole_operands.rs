//! Instructions by the operands that they read from the main register file, a wide operand counted
//! once and not word by word as the model's counters do: made from the programs and the recorded
//! paths, without the core.

use strata_compiler::hierarchy::Hierarchy;
use strata_compiler::program::{Location, Program};
use strata_design::Design;
use strata_measure::levels::FittedKernels;
use strata_measure::notes::Silent;
use strata_measure::options::Scale;
use strata_measure::subject;
use strata_ptx::module::{AddressBase, Operand, VirtualRegister};
use strata_workload::{self as workload, Options, Overrides, Prepared, Toolchain};

use crate::reports::source;

/// Shares of the instructions that read none, one, two, three and more. Unit: percent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    /// Every word of an operand by itself.
    pub(crate) words: [f64; 5],
    /// Every operand once, of which at least a word comes from the main register file.
    pub(crate) operands: [f64; 5],
}

/// The mean over the workloads at their small size, with a toolchain's PTX, under each design, flat
/// or compiler-managed.
pub(crate) fn shares(toolchain: Toolchain, designs: &[Design]) -> Vec<Shares> {
    let mut means = vec![Shares::default(); designs.len()];
    let args = source(toolchain);
    let workloads = workload::names().count() as f64;
    for name in workload::names() {
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        let prepared = Prepared::new(&workload, Scale::Small.name(), &Overrides::new());
        let prepared = prepared.expect("the workload has a small size");
        for (mean, counts) in means.iter_mut().zip(count(&prepared, designs)) {
            let all = counts[0].iter().sum::<u64>() as f64;
            for (bins, counts) in [&mut mean.words, &mut mean.operands].into_iter().zip(counts) {
                for (bin, count) in bins.iter_mut().zip(counts) {
                    *bin += count as f64 * 100.0 / all / workloads;
                }
            }
        }
    }
    means
}

/// Instructions of all warps by words, and by operands.
fn count(prepared: &Prepared, designs: &[Design]) -> Vec<[[u64; 5]; 2]> {
    let mut counts = vec![[[0; 5]; 2]; designs.len()];
    let mut levels: Vec<FittedKernels> = designs.iter().map(|_| FittedKernels::default()).collect();
    let run = prepared.execute(&Options::default(), |launch| {
        for ((design, levels), counts) in designs.iter().zip(&mut levels).zip(&mut counts) {
            let hierarchy = levels.of(design, Some(launch.program)).expect("the program fits");
            let read = from_main(launch.program, hierarchy);
            for (path, warps) in launch.outcome.paths.iter() {
                for (step, pc) in path
                    .iter()
                    .flat_map(|step| (step.pc..step.pc + step.length).map(move |pc| (step, pc)))
                {
                    for (bins, read) in counts.iter_mut().zip(read[pc as usize]) {
                        let read = if step.mask.is_empty() { 0 } else { read };
                        bins[read.min(4)] += warps;
                    }
                }
            }
        }
    });
    run.expect("the workload runs");
    counts
}

/// The words and the operands that each instruction reads from the main register file.
fn from_main(program: &Program, hierarchy: Option<&Hierarchy>) -> Vec<[usize; 2]> {
    let main = |slot: usize| hierarchy.is_none_or(|levels| levels.placements[slot].main);
    let mut all = Vec::new();
    for (instruction, record) in program.instructions.iter().zip(&program.image.instructions) {
        let mut registers = Vec::new();
        for operand in &instruction.instruction.sources {
            registers_of(operand, &mut registers);
        }
        let mut slot = record.first_slot as usize;
        let (mut words, mut operands) = (0, 0);
        for register in registers {
            let location = program.registers[register.0 as usize].location;
            let Location::General { count, .. } = location else { continue };
            let own = (slot..slot + usize::from(count)).filter(|&slot| main(slot)).count();
            words += own;
            operands += usize::from(own > 0);
            slot += usize::from(count);
        }
        assert_eq!(slot, record.first_slot as usize + usize::from(record.sources));
        all.push([words, operands]);
    }
    all
}

fn registers_of(operand: &Operand, registers: &mut Vec<VirtualRegister>) {
    match operand {
        Operand::Register(register)
        | Operand::NotRegister(register)
        | Operand::Address { base: AddressBase::Register(register), .. } => {
            registers.push(*register);
        }
        Operand::Vector(elements) => {
            for element in elements {
                registers_of(element, registers);
            }
        }
        _ => {}
    }
}
