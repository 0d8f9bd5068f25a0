//! Whether every instruction that may read a pending long-latency result is marked.
//!
//! What a lane waits for depends on what that lane has executed. So the paths of one thread are
//! followed from each long-latency write, for as long as its result may be pending: until it is
//! overwritten, until it is read, and past nothing that is certain to deschedule the warp. Every
//! read on the way must be marked.
//!
//! What is certain is searched backwards: a marked instruction deschedules the warp if all paths to
//! it come from a long-latency write of one of its sources, and past nothing that may have
//! descheduled the warp since. Only marked instructions and barriers may; were another one to, the
//! first to do so would read a pending result, and be found.

use std::collections::BTreeSet;

use strata_core::image::{Flags, StaticInstruction};
use strata_core::units::RegisterId;

use super::graph::{Graph, Waiting};
use super::violation::{Problem, Report};
use crate::program::Program;

pub(super) fn check(program: &Program, graph: &Graph, waiting: &Waiting, report: &mut Report<'_>) {
    let mut paths = Paths::new(program, graph, waiting);
    for pc in 0..paths.records.len() {
        paths.arrived[pc] = paths.is_certain_to_deschedule(pc);
    }
    let mut found = BTreeSet::new();
    for register in (0..program.image.registers).map(RegisterId) {
        paths.follow(register, &mut found);
    }
    for (pc, register) in found {
        report.add(pc, Problem::Unmarked { register });
    }
}

/// The paths of a thread.
struct Paths<'a> {
    program: &'a Program,
    graph: &'a Graph,
    records: &'a [StaticInstruction],
    /// Nodes before each node.
    before: Vec<Vec<usize>>,
    /// The warp may be descheduled while lanes wait at the start of the node.
    disturbed: Vec<bool>,
    /// The instructions that name each register, ascending.
    naming: Vec<Vec<usize>>,
    /// For each instruction, whether nothing that came before is pending behind it.
    arrived: Vec<bool>,
}

impl<'a> Paths<'a> {
    fn new(program: &'a Program, graph: &'a Graph, waiting: &Waiting) -> Self {
        let records = &program.image.instructions[..];
        let stops = |pc: usize| {
            records[pc].flags.intersects(Flags::DESCHEDULE_BEFORE.union(Flags::BARRIER))
        };
        let mut before = vec![Vec::new(); graph.nodes.len()];
        let mut disturbed = vec![false; graph.nodes.len()];
        for (number, node) in graph.nodes.iter().enumerate() {
            for &next in &node.next {
                before[next].push(number);
            }
            if (node.start..node.end).any(stops) {
                for wait in &waiting[number] {
                    disturbed[wait.at] = true;
                }
            }
        }
        let image = program.image.borrow();
        let mut naming = vec![Vec::new(); usize::from(program.image.registers)];
        for (pc, record) in records.iter().enumerate() {
            let named = image.sources(record).iter().chain(image.destinations(record));
            for register in named.copied().collect::<BTreeSet<_>>() {
                naming[usize::from(register.0)].push(pc);
            }
        }
        let arrived = vec![false; records.len()];
        Self { program, graph, records, before, disturbed, naming, arrived }
    }

    fn node_of(&self, pc: usize) -> usize {
        self.graph.nodes.partition_point(|node| node.start <= pc) - 1
    }

    fn is_marked(&self, pc: usize) -> bool {
        self.records[pc].flags.contains(Flags::DESCHEDULE_BEFORE)
    }

    fn is_barrier(&self, pc: usize) -> bool {
        self.records[pc].flags.contains(Flags::BARRIER)
    }

    fn is_long(&self, pc: usize) -> bool {
        self.records[pc].flags.contains(Flags::LONG_LATENCY)
    }

    fn is_guarded(&self, pc: usize) -> bool {
        self.program.instructions[pc].instruction.guard.is_some()
    }

    fn reads(&self, pc: usize) -> &'a [RegisterId] {
        self.program.image.borrow().sources(&self.records[pc])
    }

    fn writes(&self, pc: usize, register: RegisterId) -> bool {
        self.program.image.borrow().destinations(&self.records[pc]).contains(&register)
    }

    /// Whether a thread that executes an instruction has its warp descheduled there, on all paths.
    fn is_certain_to_deschedule(&self, pc: usize) -> bool {
        if self.is_guarded(pc) {
            return false;
        }
        let pending = |&register: &RegisterId| self.must_be_pending(pc, register);
        self.is_barrier(pc) || self.is_marked(pc) && self.reads(pc).iter().any(pending)
    }

    /// Whether all paths to an instruction leave a long-latency result of a register pending.
    fn must_be_pending(&self, pc: usize, register: RegisterId) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![(self.node_of(pc), pc)];
        while let Some((node, end)) = work.pop() {
            let start = self.graph.nodes[node].start;
            match (start..end).rev().find_map(|pc| self.leaves_pending(pc, register)) {
                Some(true) => {}
                Some(false) => return false,
                None if node == 0 || self.disturbed[node] => return false,
                None => {
                    let new = self.before[node].iter().filter(|&&before| seen.insert(before));
                    work.extend(new.map(|&before| (before, self.graph.nodes[before].end)));
                }
            }
        }
        true
    }

    /// Whether a register is sure to be pending behind an instruction, or may not be; none: as it
    /// is before it.
    fn leaves_pending(&self, pc: usize, register: RegisterId) -> Option<bool> {
        let writes = self.writes(pc, register);
        if writes && self.is_long(pc) && !self.is_guarded(pc) {
            return Some(true);
        }
        let may_clear = writes && !self.is_long(pc) || self.is_marked(pc) || self.is_barrier(pc);
        may_clear.then_some(false)
    }

    /// Follows the long-latency results of a register; adds the unmarked instructions that may read
    /// one while it is pending.
    fn follow(&self, register: RegisterId, found: &mut BTreeSet<(usize, RegisterId)>) {
        let naming = &self.naming[usize::from(register.0)];
        let sources = naming.iter().filter(|&&pc| self.is_long(pc) && self.writes(pc, register));
        let mut work: Vec<(usize, usize)> = sources.map(|&pc| (self.node_of(pc), pc + 1)).collect();
        let mut seen = BTreeSet::new();
        while let Some((number, start)) = work.pop() {
            let node = &self.graph.nodes[number];
            // The result has arrived at the first of these at the latest.
            let end = (start..node.end).find(|&pc| self.arrived[pc]);
            let last = end.unwrap_or(node.end - 1);
            let first = naming.partition_point(|&pc| pc < start);
            let there = naming[first..].iter().copied().take_while(|&pc| pc <= last);
            let mut pending = end.is_none();
            for pc in there {
                let reads = self.reads(pc).contains(&register);
                if reads && !self.is_marked(pc) {
                    found.insert((pc, register));
                }
                if !self.is_guarded(pc) && (reads || self.writes(pc, register)) {
                    pending = false;
                    break;
                }
            }
            if pending {
                let new = node.next.iter().filter(|&&next| seen.insert(next));
                work.extend(new.map(|&next| (next, self.graph.nodes[next].start)));
            }
        }
    }
}
