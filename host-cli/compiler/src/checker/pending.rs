//! Whether every instruction that may read a pending long-latency result is marked.

use std::collections::BTreeSet;

use strata_core::image::Flags;
use strata_core::units::RegisterId as PhysicalRegister;

use super::graph::{Graph, Waiting};
use super::{Problem, Report};
use crate::program::Program;

/// Results that came after the last deschedule: on some path, and on every path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pending {
    some: BTreeSet<PhysicalRegister>,
    every: BTreeSet<PhysicalRegister>,
}

/// What may and must be pending at the start of each node.
fn at_starts(program: &Program, graph: &Graph, waiting: &Waiting) -> Vec<Option<Pending>> {
    let next: Vec<BTreeSet<usize>> =
        (0..graph.nodes.len()).map(|node| graph.warp_next(node, waiting)).collect();
    let mut at_start: Vec<Option<Pending>> = vec![None; graph.nodes.len()];
    at_start[0] = Some(Pending::default());
    let mut stirred = BTreeSet::new();
    let mut work = BTreeSet::from([0]);
    while let Some(number) = work.pop_first() {
        let Some(mut pending) = at_start[number].clone() else { continue };
        let node = &graph.nodes[number];
        let alone = waiting[number].is_empty();
        let mut stops = false;
        for pc in node.start..node.end {
            stops |= pending.may_stop(program, pc);
            pending.step(program, pc, alone);
        }
        // For lanes that wait meanwhile, what had to be pending may have arrived.
        for at in waiting[number].iter().map(|wait| wait.at).filter(|_| stops) {
            if let Some(known) = &mut at_start[at]
                && !known.every.is_empty()
            {
                known.every.clear();
                work.insert(at);
            }
            stirred.insert(at);
        }
        for &to in &next[number] {
            let joined = match &at_start[to] {
                None => pending.clone(),
                Some(known) => Pending {
                    some: &known.some | &pending.some,
                    every: &known.every & &pending.every,
                },
            };
            let joined = if stirred.contains(&to) {
                Pending { some: joined.some, every: BTreeSet::new() }
            } else {
                joined
            };
            if at_start[to].as_ref() != Some(&joined) {
                at_start[to] = Some(joined);
                work.insert(to);
            }
        }
    }
    at_start
}

pub(super) fn check(program: &Program, graph: &Graph, waiting: &Waiting, report: &mut Report<'_>) {
    let at_start = at_starts(program, graph, waiting);
    for (number, node) in graph.nodes.iter().enumerate() {
        let Some(mut pending) = at_start[number].clone() else { continue };
        for pc in node.start..node.end {
            let record = &program.image.instructions[pc];
            let sources = program.image.borrow().sources(record);
            let read = sources.iter().find(|register| pending.some.contains(register));
            if let Some(&register) = read
                && !record.flags.contains(Flags::DESCHEDULE_BEFORE)
            {
                report.add(pc, Problem::Unmarked { register });
            }
            pending.step(program, pc, waiting[number].is_empty());
        }
    }
}

impl Pending {
    /// Whether the warp may be descheduled at an instruction.
    fn may_stop(&self, program: &Program, pc: usize) -> bool {
        let image = program.image.borrow();
        let record = &image.instructions[pc];
        let waits = image.sources(record).iter().any(|register| self.some.contains(register));
        waits || record.flags.contains(Flags::BARRIER)
    }

    /// Passes an instruction. `alone`: no lanes wait elsewhere.
    fn step(&mut self, program: &Program, pc: usize, alone: bool) {
        let image = program.image.borrow();
        let record = &image.instructions[pc];
        let always = program.instructions[pc].instruction.guard.is_none();
        let sources = image.sources(record);
        let reads_any = |set: &BTreeSet<PhysicalRegister>| sources.iter().any(|r| set.contains(r));
        if reads_any(&self.some) {
            if always && reads_any(&self.every) {
                self.some.clear();
            } else if always {
                // Whether the warp stopped here or not, these have arrived.
                for register in sources {
                    self.some.remove(register);
                }
            }
            self.every.clear();
        }
        if record.flags.contains(Flags::BARRIER) {
            self.every.clear();
            if always {
                self.some.clear();
            }
        }
        for &register in image.destinations(record) {
            let long = record.flags.contains(Flags::LONG_LATENCY);
            if long {
                self.some.insert(register);
            } else if always && alone {
                self.some.remove(&register);
            }
            if long && always {
                self.every.insert(register);
            } else {
                self.every.remove(&register);
            }
        }
    }
}
