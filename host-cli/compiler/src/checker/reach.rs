//! Whether results that may go to the last result file are read by private units only.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use strata_ptx::module::{Operand, VirtualRegister};

use super::graph::Graph;
use super::registers::{places_meet, writes};
use super::violation::{Problem, Report};
use crate::kernel::Kernel;
use crate::operands::registers_of;
use crate::program::{Location, Program};

/// Registers among operands, in order.
fn listed(operands: &[Operand]) -> Vec<VirtualRegister> {
    let mut found = Vec::new();
    for operand in operands {
        registers_of(operand, &mut |register| found.push(register));
    }
    found
}

fn place(program: &Program, register: VirtualRegister) -> Location {
    program.registers[register.index()].location
}

/// Moves a set of virtual registers that shared units read from behind an instruction to before it.
fn before(kernel: &Kernel, program: &Program, pc: usize, wanted: &mut FixedBitSet) {
    let instruction = &kernel.instructions[pc];
    if instruction.guard.is_none() {
        for register in writes(instruction) {
            wanted.set(register.index(), false);
        }
    }
    if program.image.instructions[pc].unit.is_shared_datapath() {
        wanted.extend(listed(&instruction.sources).into_iter().map(VirtualRegister::index));
    }
}

/// Virtual registers that a shared unit reads on some path from the start of each node.
fn wanted_in(kernel: &Kernel, program: &Program, graph: &Graph) -> Vec<FixedBitSet> {
    let mut wanted = vec![FixedBitSet::with_capacity(kernel.registers.len()); graph.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, node) in graph.nodes.iter().enumerate().rev() {
            let mut set = FixedBitSet::with_capacity(kernel.registers.len());
            node.next.iter().for_each(|&next| set.union_with(&wanted[next]));
            for pc in (node.start..node.end).rev() {
                before(kernel, program, pc, &mut set);
            }
            changed |= set != wanted[number];
            wanted[number] = set;
        }
    }
    wanted
}

/// Places in which shared units may look for a virtual register that the lane never wrote: whatever
/// was left there, they find it. Each with the register's name.
fn blind_places(kernel: &Kernel, program: &Program, graph: &Graph) -> Vec<(Location, String)> {
    let count = kernel.registers.len();
    let mut unwritten = vec![FixedBitSet::with_capacity(count); graph.nodes.len()];
    unwritten[0].insert_range(..);
    let mut found = Vec::new();
    let mut work = BTreeSet::from([0]);
    while let Some(number) = work.pop_first() {
        let node = &graph.nodes[number];
        let mut set = unwritten[number].clone();
        for pc in node.start..node.end {
            let (ours, theirs) = (&kernel.instructions[pc], &program.instructions[pc].instruction);
            if program.image.instructions[pc].unit.is_shared_datapath() {
                for (value, register) in
                    listed(&ours.sources).into_iter().zip(listed(&theirs.sources))
                {
                    if set.contains(value.index()) {
                        let name = kernel.registers[value.index()].name.clone();
                        found.push((place(program, register), name));
                    }
                }
            }
            if ours.guard.is_none() {
                for register in writes(ours) {
                    set.set(register.index(), false);
                }
            }
        }
        for &next in &node.next {
            if !set.is_subset(&unwritten[next]) {
                unwritten[next].union_with(&set);
                work.insert(next);
            }
        }
    }
    found
}

pub(super) fn check(kernel: &Kernel, program: &Program, graph: &Graph, report: &mut Report<'_>) {
    let wanted = wanted_in(kernel, program, graph);
    let blind = blind_places(kernel, program, graph);
    for node in &graph.nodes {
        let mut set = FixedBitSet::with_capacity(kernel.registers.len());
        node.next.iter().for_each(|&next| set.union_with(&wanted[next]));
        for pc in (node.start..node.end).rev() {
            let bits = program.image.instructions[pc].private_reads;
            let (ours, theirs) = (&kernel.instructions[pc], &program.instructions[pc].instruction);
            let mut slot = 0;
            for (value, register) in
                listed(&ours.destinations).into_iter().zip(listed(&theirs.destinations))
            {
                let Location::General { first, count } = place(program, register) else { continue };
                for part in first..first + u16::from(count) {
                    let own = Location::General { first: part, count: 1 };
                    let read = set
                        .contains(value.index())
                        .then(|| kernel.registers[value.index()].name.clone());
                    let read = read.or_else(|| {
                        let meets = blind.iter().find(|(place, _)| places_meet(*place, own));
                        meets.map(|(_, name)| name.clone())
                    });
                    if let Some(register) = read.filter(|_| bits >> slot & 1 != 0) {
                        report.add(pc, Problem::OutOfReach { slot, register });
                    }
                    slot += 1;
                }
            }
            before(kernel, program, pc, &mut set);
        }
    }
}
