//! Whether every operand of a program fitted to a hierarchy is at the level that its slot names.
//!
//! Knows nothing of the allocator, of values or of savings: it follows, on every path of a thread,
//! which register's present value each entry of the upper levels holds, and whether the main
//! register file has it. A strand's start empties every entry, as does waiting for others that may
//! be descheduled; where paths meet, an entry holds what it holds on all of them.

use strata_core::image::{Flags, StaticInstruction};
use strata_core::placement::{LRF_BANKS, MAX_ORF_ENTRIES, Placement, Upper};
use strata_core::units::RegisterId;
use strata_ptx::module::Operand;

use super::graph::Graph;
use super::violation::{Problem, Report, Violation};
use super::{reductions, spills};
use crate::hierarchy::{DualWrites, Hierarchy, HierarchyConfig, Lrf};
use crate::kernel::Kernel;
use crate::operands::registers_of;
use crate::program::{Location, Program};

/// Entries of the upper levels: those of the operand register file, then the last result file's.
const ENTRIES: usize = (MAX_ORF_ENTRIES + LRF_BANKS) as usize;

fn number(upper: Upper) -> usize {
    usize::from(match upper {
        Upper::Orf(entry) => entry,
        Upper::Lrf(bank) => MAX_ORF_ENTRIES + bank,
    })
}

/// Checks a program fitted to a hierarchy, as [`LevelsChecker::check`] does.
///
/// # Errors
///
/// What the program adds to the kernel cannot be told from it; or every violation found, in program
/// order within each kind.
pub fn check_levels(
    kernel: &Kernel,
    program: &Program,
    hierarchy: &Hierarchy,
    config: &HierarchyConfig,
) -> Result<(), Vec<Violation>> {
    LevelsChecker::new(kernel, program)?.check(hierarchy, config)
}

/// A program, ready to be checked with any hierarchy that it is fitted to.
#[derive(Debug)]
pub struct LevelsChecker<'p> {
    program: &'p Program,
    graph: Graph,
    /// Nodes at whose start the upper levels are empty because lanes may have waited there while
    /// others were descheduled.
    emptied: Vec<bool>,
}

impl<'p> LevelsChecker<'p> {
    /// Finds the ways through a program, which must have passed [`super::check`] with its kernel.
    ///
    /// # Errors
    ///
    /// What the program adds to the kernel cannot be told from it.
    pub fn new(kernel: &Kernel, program: &'p Program) -> Result<Self, Vec<Violation>> {
        let mut report = Report::new(program);
        let reduced = reductions::apply(kernel, program);
        let expanded = spills::expand(&reduced, program, &mut report);
        report.done()?;
        let graph = Graph::new(&expanded, program);
        let emptied = emptied(program, &graph);
        Ok(Self { program, graph, emptied })
    }

    /// Checks the program fitted to a hierarchy.
    ///
    /// # Errors
    ///
    /// Every violation found, in program order within each kind.
    pub fn check(
        &self,
        hierarchy: &Hierarchy,
        config: &HierarchyConfig,
    ) -> Result<(), Vec<Violation>> {
        let Self { program, graph, emptied } = self;
        let mut report = Report::new(program);
        let fits = hierarchy.placements.len() == program.image.slots.len()
            && hierarchy.strands.starts.len() == program.instructions.len();
        if !fits {
            report.add(0, Problem::Different("the number of placements or strand starts"));
            return report.done();
        }
        let levels = FittedProgram { program, hierarchy, config };
        levels.check_names(&mut report);
        levels.check_starts(graph, &mut report);
        report.done()?;
        let mut report = Report::new(program);
        let at_start = levels.at_starts(graph, emptied);
        for (node, state) in graph.nodes.iter().zip(at_start) {
            let Some(mut state) = state else { continue };
            for pc in node.start..node.end {
                levels.step(pc, &mut state, Some(&mut report));
            }
        }
        report.done()
    }
}

fn emptied(program: &Program, graph: &Graph) -> Vec<bool> {
    let mut emptied = vec![false; graph.nodes.len()];
    for (node, waits) in graph.nodes.iter().zip(graph.waiting()) {
        let stops = Flags::DESCHEDULE_BEFORE | Flags::BARRIER;
        let records = &program.image.instructions[node.start..node.end];
        if records.iter().any(|record| record.flags.intersects(stops)) {
            for wait in waits {
                emptied[wait.at] = true;
            }
        }
    }
    emptied
}

/// What a thread's registers hold at some place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// For each entry, the register whose present value it holds.
    entries: [Option<RegisterId>; ENTRIES],
    /// For each register, whether the main register file has its present value.
    main: Vec<bool>,
}

impl State {
    fn meet(&mut self, other: &Self) {
        for (ours, theirs) in self.entries.iter_mut().zip(&other.entries) {
            if ours != theirs {
                *ours = None;
            }
        }
        for (ours, theirs) in self.main.iter_mut().zip(&other.main) {
            *ours &= theirs;
        }
    }
}

/// Which register each entry receives from one instruction.
#[derive(Default)]
struct Taken([Option<RegisterId>; ENTRIES]);

impl Taken {
    /// Says whether no other register takes the same entry.
    fn by(&mut self, placement: Placement, register: RegisterId) -> bool {
        let Some(upper) = placement.upper else { return true };
        *self.0[number(upper)].get_or_insert(register) == register
    }
}

struct FittedProgram<'a> {
    program: &'a Program,
    hierarchy: &'a Hierarchy,
    config: &'a HierarchyConfig,
}

impl<'a> FittedProgram<'a> {
    fn record(&self, pc: usize) -> &'a StaticInstruction {
        &self.program.image.instructions[pc]
    }

    fn placements(&self, pc: usize) -> (&'a [Placement], &'a [Placement]) {
        let record = self.record(pc);
        let all = &self.hierarchy.placements[record.first_slot as usize..];
        let (sources, rest) = all.split_at(usize::from(record.sources));
        (sources, &rest[..usize::from(record.destinations)])
    }

    /// Checks what each slot names on its own.
    fn check_names(&self, report: &mut Report<'_>) {
        let image = self.program.image.borrow();
        for pc in 0..self.program.instructions.len() {
            let (sources, destinations) = self.placements(pc);
            let record = self.record(pc);
            let operands = self.operands(&self.program.instructions[pc].instruction.sources);
            let mut taken = Taken::default();
            for (slot, &placement) in sources.iter().enumerate() {
                let register = image.sources(record)[slot];
                let reads = !placement.main;
                let good = self.is_reached(pc, placement, operands[slot].filter(|_| reads));
                if !good || !reads && !taken.by(placement, register) {
                    report.add(pc, Problem::BadLevel { what: "source", slot, placement });
                }
            }
            let mut taken = Taken::default();
            let long = record.flags.contains(Flags::LONG_LATENCY);
            for (slot, &placement) in destinations.iter().enumerate() {
                let register = image.destinations(record)[slot];
                let good = self.is_reached(pc, placement, None)
                    && self.is_named(register, placement)
                    && taken.by(placement, register);
                if !good || long && placement != Placement::MAIN {
                    report.add(pc, Problem::BadLevel { what: "destination", slot, placement });
                }
            }
        }
    }

    /// The operand that each slot belongs to.
    fn operands(&self, operands: &[Operand]) -> Vec<Option<usize>> {
        let mut of = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            registers_of(operand, &mut |register| {
                let place = self.program.registers[register.index()].location;
                if let Location::General { count, .. } = place {
                    of.extend(std::iter::repeat_n(Some(index), usize::from(count)));
                }
            });
        }
        of
    }

    /// Whether a slot can live there: the level exists, the unit reaches it, and a bank of a split
    /// file that is read serves the operand.
    fn is_reached(&self, pc: usize, placement: Placement, read_by: Option<usize>) -> bool {
        let Some(upper) = placement.upper else { return placement.main };
        let Upper::Lrf(bank) = upper else {
            return number(upper) < usize::from(self.config.orf_entries);
        };
        let exists = match self.config.lrf {
            Lrf::None => false,
            Lrf::Unified => bank == 0,
            Lrf::Split => {
                bank < LRF_BANKS && read_by.is_none_or(|operand| operand == usize::from(bank))
            }
        };
        exists && !self.record(pc).unit.is_shared_datapath()
    }

    /// Whether the encoding has a name for a result's levels.
    fn is_named(&self, register: RegisterId, placement: Placement) -> bool {
        let Placement { main: true, upper: Some(upper) } = placement else { return true };
        match (self.config.dual_writes, upper) {
            (DualWrites::Any, _)
            | (DualWrites::SameName | DualWrites::LastResultOnly, Upper::Lrf(_)) => true,
            (DualWrites::SameName, Upper::Orf(entry)) => {
                register.0 % u16::from(self.config.orf_entries) == u16::from(entry)
            }
            (DualWrites::LastResultOnly, Upper::Orf(_)) | (DualWrites::Never, _) => false,
        }
    }

    /// Checks that a strand starts wherever the warp may be descheduled and, unless values are to
    /// stay past backward branches, wherever control comes back.
    fn check_starts(&self, graph: &Graph, report: &mut Report<'_>) {
        let starts = &self.hierarchy.strands.starts;
        for (pc, start) in starts.iter().enumerate() {
            let marked = self.record(pc).flags.contains(Flags::DESCHEDULE_BEFORE);
            let ends = if self.config.past_backward_branches {
                Flags::BARRIER
            } else {
                Flags::BARRIER | Flags::BACKWARD_BRANCH
            };
            let after =
                pc.checked_sub(1).is_some_and(|before| self.record(before).flags.intersects(ends));
            if (pc == 0 || marked || after) && start.is_none() {
                report.add(pc, Problem::NoStrandStart);
            }
        }
        if self.config.past_backward_branches {
            return;
        }
        for node in &graph.nodes {
            for &next in &node.next {
                let to = graph.nodes[next].start;
                if to < node.end && starts[to].is_none() {
                    report.add(to, Problem::NoStrandStart);
                }
            }
        }
    }

    /// What holds at the start of each node, whatever the path. What a register holds before
    /// anything is written counts as being in the main register file.
    fn at_starts(&self, graph: &Graph, emptied: &[bool]) -> Vec<Option<State>> {
        let registers = usize::from(self.program.image.registers);
        let mut at_start: Vec<Option<State>> = vec![None; graph.nodes.len()];
        at_start[0] = Some(State { entries: [None; ENTRIES], main: vec![true; registers] });
        let mut work = std::collections::BTreeSet::from([0]);
        while let Some(number) = work.pop_first() {
            let Some(mut state) = at_start[number].clone() else { continue };
            let node = &graph.nodes[number];
            (node.start..node.end).for_each(|pc| self.step(pc, &mut state, None));
            for &next in &node.next {
                let mut joined = state.clone();
                if let Some(known) = &at_start[next] {
                    joined.meet(known);
                }
                if emptied[next] {
                    joined.entries.fill(None);
                }
                if at_start[next].as_ref() != Some(&joined) {
                    at_start[next] = Some(joined);
                    work.insert(next);
                }
            }
        }
        at_start
    }

    /// Passes an instruction, and reports reads that do not find their value.
    fn step(&self, pc: usize, state: &mut State, mut report: Option<&mut Report<'_>>) {
        let image = self.program.image.borrow();
        let record = self.record(pc);
        let guarded = self.program.instructions[pc].instruction.guard.is_some();
        if self.hierarchy.strands.starts[pc].is_some() {
            state.entries.fill(None);
        }
        let (sources, destinations) = self.placements(pc);
        let slots = image.sources(record).iter().zip(sources);
        for (&register, placement) in slots.clone() {
            let found = match placement.upper {
                Some(upper) if !placement.main => state.entries[number(upper)] == Some(register),
                _ => state.main[usize::from(register.0)],
            };
            if !found && let Some(report) = &mut report {
                report.add(pc, Problem::NotAtLevel { register, placement: *placement });
            }
        }
        for (&register, placement) in slots {
            if let Placement { main: true, upper: Some(upper) } = *placement {
                let entry = &mut state.entries[number(upper)];
                // Lanes that a guard leaves out keep what was there.
                *entry = (!guarded || *entry == Some(register)).then_some(register);
            }
        }
        for (&register, placement) in image.destinations(record).iter().zip(destinations) {
            let kept = placement.upper.map(number);
            for (index, entry) in state.entries.iter_mut().enumerate() {
                if kept == Some(index) {
                    *entry = (!guarded || *entry == Some(register)).then_some(register);
                } else if *entry == Some(register) {
                    *entry = None;
                }
            }
            let main = &mut state.main[usize::from(register.0)];
            *main = placement.main && (!guarded || *main);
        }
    }
}
