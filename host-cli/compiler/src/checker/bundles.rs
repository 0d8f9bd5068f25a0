//! Whether the bundles of a program are what its registers in scratchpad memory need.
//!
//! Knows nothing of how bundles are formed. It computes liveness again, over the nodes of the
//! checker's own graph, and goes through each node, which control enters at its start alone, with
//! the registers of the bundle that it is in.
//!
//! A line holds a register of all 32 lanes, and is written back whole if one of them was written.
//! So a register without a fetch must be written before it is read, and its value before must be
//! needed by no lane: by none that a guard leaves out, and by none that waits.

use std::collections::BTreeSet;

use strata_core::image::Flags;
use strata_core::sm::expansion::bundles::Prefetch;
use strata_core::units::RegisterId;

use super::graph::{Graph, Waiting};
use super::violation::{Problem, Report, Violation};
use super::{reductions, spills};
use crate::flow::{Flow, flow};
use crate::kernel::Kernel;
use crate::program::Program;

/// Lines of the operand cache; registers whose numbers agree modulo this have the same.
const LINES: u16 = 16;

type Registers = BTreeSet<RegisterId>;

/// Checks the bundles of a program, which must have passed [`super::check`] with its kernel, for
/// registers from `first` up that may lie in scratchpad memory.
///
/// # Errors
///
/// Every violation found, in program order within each kind. Bundles that are out of order are
/// reported alone.
pub fn check_bundles(
    kernel: &Kernel,
    program: &Program,
    prefetches: &[Prefetch],
    first: u16,
) -> Result<(), Vec<Violation>> {
    let mut report = Report::new(program);
    let reduced = reductions::apply(kernel, program);
    let expanded = spills::expand(&reduced, program, &mut report);
    report.done()?;
    let graph = Graph::new(&expanded, program);
    let mut report = Report::new(program);
    let ascending = prefetches.windows(2).all(|two| two[0].pc < two[1].pc);
    let within =
        prefetches.last().is_none_or(|last| (last.pc as usize) < program.instructions.len());
    if !ascending || !within {
        report.add(0, Problem::Different("the order of bundles"));
        return report.done();
    }
    let checked = Checked { program, prefetches, first, live: live_at_starts(program, &graph) };
    checked.check_names(&mut report);
    let waiting = graph.waiting();
    let continues = continues(&expanded, &graph, &waiting);
    let mut within = None;
    for (number, node) in graph.nodes.iter().enumerate() {
        if !continues[number] {
            within = None;
        }
        let others = waiting[number].iter().flat_map(|wait| &checked.live[wait.at]);
        let others: Registers = others.copied().collect();
        let after = node.next.iter().flat_map(|&next| &checked.live[next]).copied().collect();
        checked.check_node((node.start, node.end), &mut within, (&others, after), &mut report);
    }
    report.done()
}

/// For each node, whether a bundle may go on into it from the one before: no other node leads
/// there, that one leads nowhere else, and no lanes ever wait at it for others, which may execute
/// other bundles meanwhile.
fn continues(kernel: &Kernel, graph: &Graph, waiting: &Waiting) -> Vec<bool> {
    let mut others = vec![BTreeSet::new(); graph.nodes.len()];
    for (number, node) in graph.nodes.iter().enumerate() {
        for &next in &node.next {
            others[next].insert(number);
        }
    }
    let waited: BTreeSet<usize> = waiting.iter().flatten().map(|wait| wait.at).collect();
    let continues = |number: usize| {
        number.checked_sub(1).is_some_and(|before| {
            let last = &kernel.instructions[graph.nodes[before].end - 1];
            let alone = others[number] == BTreeSet::from([before]) && flow(last) == Flow::Next;
            alone && !waited.contains(&number)
        })
    };
    (0..graph.nodes.len()).map(continues).collect()
}

struct Checked<'a> {
    program: &'a Program,
    prefetches: &'a [Prefetch],
    first: u16,
    /// For each node, the registers that a thread at its start may still read.
    live: Vec<Registers>,
}

fn is_guarded(program: &Program, pc: usize) -> bool {
    program.instructions[pc].instruction.guard.is_some()
}

/// What is live before an instruction, from what is live behind it.
fn step_back(program: &Program, pc: usize, live: &mut Registers) {
    let image = program.image.borrow();
    let record = &program.image.instructions[pc];
    if !is_guarded(program, pc) {
        for register in image.destinations(record) {
            live.remove(register);
        }
    }
    live.extend(image.sources(record));
}

/// Liveness by its equations, until nothing changes.
fn live_at_starts(program: &Program, graph: &Graph) -> Vec<Registers> {
    let mut live: Vec<Registers> = vec![Registers::new(); graph.nodes.len()];
    loop {
        let mut changed = false;
        for (number, node) in graph.nodes.iter().enumerate().rev() {
            let mut here: Registers =
                node.next.iter().flat_map(|&next| &live[next]).copied().collect();
            for pc in (node.start..node.end).rev() {
                step_back(program, pc, &mut here);
            }
            changed |= here != live[number];
            live[number] = here;
        }
        if !changed {
            return live;
        }
    }
}

/// What a bundle that is being executed has so far.
struct Within<'a> {
    prefetch: &'a Prefetch,
    /// Registers that all executing lanes have written.
    written: Registers,
    /// Results of long-latency operations.
    pending: Registers,
}

impl Checked<'_> {
    /// Checks what each bundle names on its own.
    fn check_names(&self, report: &mut Report<'_>) {
        for prefetch in self.prefetches {
            let pc = prefetch.pc as usize;
            let named: Vec<RegisterId> =
                prefetch.fetched.iter().chain(prefetch.allocated.iter()).collect();
            if named.len() > usize::from(LINES) {
                report.add(pc, Problem::TooManyLines(named.len()));
            }
            for (index, &one) in named.iter().enumerate() {
                if one.0 < self.first || one.0 >= self.program.image.registers {
                    report.add(pc, Problem::NoCandidate(one));
                }
                let same = named[..index].iter().find(|other| other.0 % LINES == one.0 % LINES);
                if let Some(&other) = same {
                    report.add(pc, Problem::OneLine(other, one));
                }
            }
        }
    }

    fn starting_at(&self, pc: usize) -> Option<&Prefetch> {
        let found = self.prefetches.binary_search_by_key(&pc, |prefetch| prefetch.pc as usize);
        found.ok().map(|place| &self.prefetches[place])
    }

    /// Goes through a node, with the bundle that goes on into it if one may. `others`: what waiting
    /// lanes still read; `after`: what is live behind the node.
    fn check_node<'a>(
        &'a self,
        (start, end): (usize, usize),
        within: &mut Option<Within<'a>>,
        (others, after): (&Registers, Registers),
        report: &mut Report<'_>,
    ) {
        let mut live = vec![after];
        for pc in (start..end).rev() {
            let mut before = live[live.len() - 1].clone();
            step_back(self.program, pc, &mut before);
            live.push(before);
        }
        // The last is what is live before the first instruction.
        live.reverse();
        for pc in start..end {
            let flags = self.program.image.instructions[pc].flags;
            let behind_barrier = pc.checked_sub(1).is_some_and(|before| {
                self.program.image.instructions[before].flags.contains(Flags::BARRIER)
            });
            if let Some(prefetch) = self.starting_at(pc) {
                let (written, pending) = (Registers::new(), Registers::new());
                *within = Some(Within { prefetch, written, pending });
            } else if within.is_none() || behind_barrier || flags.contains(Flags::DESCHEDULE_BEFORE)
            {
                report.add(pc, Problem::NoBundleStart);
            }
            let Some(within) = within.as_mut() else { continue };
            self.check_instruction(pc, within, (&live[pc - start], others), report);
        }
    }

    fn check_instruction(
        &self,
        pc: usize,
        within: &mut Within<'_>,
        (live, others): (&Registers, &Registers),
        report: &mut Report<'_>,
    ) {
        let image = self.program.image.borrow();
        let record = &self.program.image.instructions[pc];
        let candidate = |register: &&RegisterId| register.0 >= self.first;
        let Prefetch { fetched, allocated, .. } = within.prefetch;
        for &register in image.sources(record).iter().filter(candidate) {
            if within.pending.contains(&register) {
                report.add(pc, Problem::PendingInBundle(register));
            } else if allocated.contains(register) && !within.written.contains(&register) {
                report.add(pc, Problem::NotFetched(register, "this read"));
            } else if !fetched.contains(register) && !allocated.contains(register) {
                report.add(pc, Problem::NotInBundle(register));
            }
        }
        for &register in image.destinations(record).iter().filter(candidate) {
            if within.pending.contains(&register) {
                report.add(pc, Problem::PendingInBundle(register));
            }
            if record.flags.contains(Flags::LONG_LATENCY) {
                continue;
            }
            if !fetched.contains(register) && !allocated.contains(register) {
                report.add(pc, Problem::NotInBundle(register));
            }
            if allocated.contains(register) && !within.written.contains(&register) {
                if is_guarded(self.program, pc) && live.contains(&register) {
                    report.add(pc, Problem::NotFetched(register, "lanes without the guard"));
                }
                if others.contains(&register) {
                    report.add(pc, Problem::NotFetched(register, "lanes that wait"));
                }
            }
            if !is_guarded(self.program, pc) {
                within.written.insert(register);
            }
        }
        if record.flags.contains(Flags::LONG_LATENCY) {
            within.pending.extend(image.destinations(record).iter().filter(candidate));
        }
    }
}
