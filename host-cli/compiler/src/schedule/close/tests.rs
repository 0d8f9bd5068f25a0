//! The compiler's liveness, for each thread alone, against NVIDIA's: machine code as a kernel whose
//! virtual registers are the machine's, over the facts in `tests/life_ranges`.

#[path = "../../../../tests/life_ranges/facts.rs"]
mod facts;

use std::collections::BTreeSet;

use strata_ptx::module::{Guard, Instruction, LabelId, Operand, Register, Span};
use strata_ptx::opcode::{Modifiers, Opcode};
use strata_ptx::types::ScalarType;

use self::facts::{all, compare_lives};
use super::*;

/// Virtual registers that stand for the machine's; behind them comes the guards' predicate.
const REGISTERS: u32 = 255;

/// The code with its branches, as PTX would have it: the opcodes say only how control leaves.
fn kernel(facts: &facts::Kernel) -> Kernel {
    let mut targets = Vec::new();
    let mut instructions = Vec::new();
    for (place, fact) in (0_u32..).zip(&facts.instructions) {
        let named = |numbers: Vec<u16>| -> Vec<Operand> {
            numbers
                .into_iter()
                .map(|number| Operand::Register(VirtualRegister(number.into())))
                .collect()
        };
        let mut sources = named(fact.reads_for_liveness(place));
        let target = fact.next.iter().find(|&&next| next != place + 1);
        let mut guarded = fact.guarded;
        let opcode = if fact.mnemonic == "EXIT" {
            Opcode::Exit
        } else if let Some(&target) = target {
            sources.push(Operand::Label(LabelId(targets.len() as u32)));
            targets.push(target);
            // Conditions of a branch besides its guard are one, too.
            guarded = fact.next.len() > 1;
            Opcode::Bra
        } else {
            Opcode::Mov
        };
        let guard = Guard { register: VirtualRegister(REGISTERS), negated: false };
        instructions.push(Instruction {
            guard: guarded.then_some(guard),
            opcode,
            modifiers: Modifiers::default(),
            types: Vec::new(),
            destinations: named(fact.writes()),
            sources,
            span: Span::default(),
        });
    }
    let register = |number| {
        let ty = if number == REGISTERS { ScalarType::Pred } else { ScalarType::B32 };
        Register { name: format!("%r{number}"), ty }
    };
    Kernel {
        name: facts.name.clone(),
        lines: vec![1; instructions.len()],
        instructions,
        registers: (0..=REGISTERS).map(register).collect(),
        variables: Vec::new(),
        parameters: 0,
        targets,
        branch_tables: Vec::new(),
        shared_bytes: 0,
        local_bytes: 0,
    }
}

/// Where each register is in use: before the instruction, behind it, or because it is written there
/// for no other lane.
fn in_use(facts: &facts::Kernel) -> Vec<BTreeSet<u16>> {
    let kernel = kernel(facts);
    let graph = Graph::new(&kernel).expect("a small kernel");
    let liveness = VirtualLiveness::new(&kernel, &graph).expect("a small kernel");
    let general = |live: &Live<'_>| -> BTreeSet<u16> {
        let numbers = live.registers.ones().filter(|&number| number < REGISTERS as usize);
        numbers.map(|number| number as u16).collect()
    };
    let mut all = vec![BTreeSet::new(); facts.instructions.len()];
    for block in &graph.blocks {
        let mut live = Live::new(&kernel);
        for &next in block.successors.iter().filter(|&&next| next != graph.exit()) {
            liveness.live_in(next).for_each(|register| live.insert(VirtualRegister(register)));
        }
        for pc in (block.start..block.end).rev() {
            all[pc] = general(&live);
            all[pc].extend(facts.instructions[pc].writes());
            let written_or_behind = all[pc].len();
            let most = live.step_back(&[pc]) as usize;
            let before = general(&live);
            assert_eq!(most, written_or_behind.max(before.len()), "{} at {pc}", facts.name);
            all[pc].extend(before);
        }
    }
    all
}

#[test]
fn registers_live_where_nvidias_disassembler_says() {
    for (name, facts) in all() {
        compare_lives(&facts, &in_use(&facts)).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

#[test]
fn code_that_is_changed_is_found() {
    facts::changed_code_is_found(in_use);
}
