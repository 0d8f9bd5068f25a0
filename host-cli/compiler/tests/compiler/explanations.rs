//! Why operands are where they are: every explanation agrees with what was decided, and what
//! reaches a read is what an obvious search finds.

use std::collections::BTreeSet;

use strata_compiler::allocate;
use strata_compiler::explain::{Explainer, Reaching, Why};
use strata_compiler::hierarchy::{
    Code, Hierarchy, HierarchyConfig, Lrf, Outcome, Strands, decisions_of_slots, fit,
};
use strata_compiler::kernel::Kernel;
use strata_compiler::program::Program;
use strata_core::image::Flags;
use strata_core::placement::Placement;
use strata_core::units::RegisterId;
use strata_ptx::module::Operand;
use strata_ptx::opcode::Opcode;

use crate::common::{Random, random_kernel, shapes};
use crate::hierarchy::config;
use crate::kernels::kernels;

/// Random kernels with what made them, and real ones.
fn samples() -> Vec<(String, Kernel)> {
    let mut samples: Vec<_> = kernels().into_iter().map(|k| (k.name.clone(), k)).collect();
    for seed in 0..20 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            samples.push((format!("seed {seed}, {shape:?}"), kernel));
        }
    }
    samples
}

fn following(program: &Program, pc: usize) -> Vec<usize> {
    let instruction = &program.instructions[pc].instruction;
    let mut next = Vec::new();
    let mut falls = instruction.guard.is_some();
    match instruction.opcode {
        Opcode::Bra | Opcode::Brx => {
            for operand in &instruction.sources {
                match operand {
                    Operand::Label(label) => next.push(program.targets[label.index()] as usize),
                    Operand::BranchTable(table) => {
                        let table = &program.branch_tables[*table as usize];
                        next.extend(table.iter().map(|&pc| pc as usize));
                    }
                    _ => {}
                }
            }
        }
        Opcode::Ret | Opcode::Exit | Opcode::Trap => {}
        _ => falls = true,
    }
    next.extend(falls.then_some(pc + 1));
    next.retain(|&pc| pc < program.instructions.len());
    next
}

/// What a register may hold before each instruction: every pair of place and writer is visited.
fn search(program: &Program, register: RegisterId, strands: Option<&Strands>) -> Vec<Reaching> {
    let mut found = vec![BTreeSet::new(); program.instructions.len()];
    let mut work = vec![(0, None)];
    while let Some((pc, writer)) = work.pop() {
        let starts = strands.is_some_and(|strands| strands.starts[pc].is_some());
        let writer = if starts { None } else { writer };
        if !found[pc].insert(writer) {
            continue;
        }
        let image = program.image.borrow();
        let writes = image.destinations(&image.instructions[pc]).contains(&register);
        let guarded = program.instructions[pc].instruction.guard.is_some();
        for next in following(program, pc) {
            if writes {
                work.push((next, Some(pc as u32)));
            }
            if !writes || guarded {
                work.push((next, writer));
            }
        }
    }
    let reaching = |writers: BTreeSet<Option<u32>>| Reaching {
        older: writers.contains(&None),
        definitions: writers.into_iter().flatten().collect(),
    };
    found.into_iter().map(reaching).collect()
}

#[test]
fn what_reaches_a_read_is_what_a_search_of_all_paths_finds() {
    let mut compared = 0;
    for (name, kernel) in samples() {
        let program = allocate(&kernel, None).expect("small");
        let explainer = Explainer::new(&program).expect("small");
        let hierarchy = fit(explainer.code(), &config(Lrf::Split)).expect("a good config");
        for strands in [None, Some(&hierarchy.strands)] {
            for register in (0..program.general_registers).map(RegisterId) {
                let expected = search(&program, register, strands);
                for (pc, expected) in expected.iter().enumerate() {
                    let image = program.image.borrow();
                    if image.sources(&image.instructions[pc]).contains(&register) {
                        let found = explainer.reaching(pc, register, strands);
                        assert_eq!(found, *expected, "{name}: {register:?} at {pc}");
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 1000, "{compared} reads");
}

#[test]
fn an_instruction_is_marked_exactly_when_something_may_be_pending() {
    let mut marked = 0;
    for (name, kernel) in samples() {
        let program = allocate(&kernel, None).expect("small");
        let explainer = Explainer::new(&program).expect("small");
        for (pc, record) in program.image.instructions.iter().enumerate() {
            let pending = explainer.pending(pc);
            let mark = record.flags.contains(Flags::DESCHEDULE_BEFORE);
            assert_eq!(!pending.is_empty(), mark, "{name}, {pc}: {pending:?}");
            marked += usize::from(mark);
            for pending in pending {
                for from in pending.from {
                    let from = &program.image.instructions[from as usize];
                    let written = program.image.borrow().destinations(from);
                    assert!(written.contains(&pending.register), "{name}, {pc}");
                    assert!(from.flags.contains(Flags::LONG_LATENCY), "{name}, {pc}");
                }
            }
        }
    }
    assert!(marked > 100, "{marked} marks");
}

fn check(name: &str, program: &Program, config: &HierarchyConfig, reasons: &mut [usize; 4]) {
    let explainer = Explainer::new(program).expect("small");
    let code: &Code<'_> = explainer.code();
    let hierarchy: Hierarchy = fit(code, config).expect("a good config");
    let decisions = decisions_of_slots(code, &hierarchy, config);
    let mut served = vec![0; hierarchy.decisions.len()];
    for pc in 0..program.instructions.len() {
        let record = &program.image.instructions[pc];
        let slots = explainer.slots(pc);
        let registers = slots.iter().map(|slot| slot.register);
        let image = program.image.borrow();
        let expected = [image.sources(record), image.destinations(record)].concat();
        assert!(registers.eq(expected), "{name}, {pc}");
        for slot in slots {
            let placement = hierarchy.placements[slot.slot];
            let why = explainer.why(pc, &slot, &hierarchy, &decisions);
            let reason = match &why {
                Why::Decision(index) => {
                    let decision = &hierarchy.decisions[*index as usize];
                    assert_eq!(decision.register, slot.register.0, "{name}, {pc}");
                    assert_eq!(decision.strand, hierarchy.strands.of[pc], "{name}, {pc}");
                    match decision.outcome {
                        Outcome::Kept { upper, .. } => {
                            let above = placement.upper.is_none_or(|level| level == upper);
                            assert!(above, "{name}, {pc}: {placement:?} for {decision:?}");
                        }
                        Outcome::Unprofitable | Outcome::NoEntry => {
                            assert_eq!(placement, Placement::MAIN, "{name}, {pc}");
                        }
                    }
                    served[*index as usize] += u32::from(!slot.result && !placement.main);
                    0
                }
                Why::LongLatency(from) => {
                    let long = |&pc: &u32| {
                        let flags = program.image.instructions[pc as usize].flags;
                        flags.contains(Flags::LONG_LATENCY)
                    };
                    assert!(!from.is_empty() && from.iter().all(long), "{name}, {pc}");
                    1
                }
                Why::Older => 2,
                Why::Mixed(_) => 3,
            };
            reasons[reason] += 1;
            if reason != 0 {
                assert_eq!(placement, Placement::MAIN, "{name}, {pc}: {why:?}");
            }
        }
    }
    for (decision, served) in hierarchy.decisions.iter().zip(served) {
        let expected = match decision.outcome {
            Outcome::Kept { reads, .. } => reads,
            Outcome::Unprofitable | Outcome::NoEntry => 0,
        };
        assert_eq!(served, expected, "{name}: {decision:?}");
    }
}

#[test]
fn every_reason_agrees_with_the_placement_that_it_explains() {
    let mut reasons = [0; 4];
    for (name, kernel) in samples() {
        let program = allocate(&kernel, None).expect("small");
        for lrf in [Lrf::None, Lrf::Split] {
            check(&name, &program, &config(lrf), &mut reasons);
            let config = HierarchyConfig { read_operands: false, ..config(lrf) };
            check(&name, &program, &config, &mut reasons);
        }
    }
    assert!(reasons.iter().all(|&count| count > 50), "{reasons:?}");
}
