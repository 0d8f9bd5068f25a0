//! The place of each value along every path, and the places that waiting lanes keep.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use strata_ptx::module::{Instruction, VirtualRegister};

use super::graph::{Graph, Waiting};
use super::registers::{places_meet, reads, writes};
use super::violation::{Problem, Report};
use crate::kernel::Kernel;
use crate::program::{Location, Program};

/// Where the current values of virtual registers are, and which of them each place holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Absent: no path has defined it yet, so any place will do. `None`: not in one place on all
    /// paths, or overwritten.
    of: BTreeMap<VirtualRegister, Option<VirtualRegister>>,
    /// The values in each general register and in each predicate register.
    general: BTreeMap<u16, BTreeSet<VirtualRegister>>,
    predicates: BTreeMap<u16, BTreeSet<VirtualRegister>>,
}

impl Held {
    /// The program's register in whose place a value is.
    fn get(&self, value: VirtualRegister) -> Option<&Option<VirtualRegister>> {
        self.of.get(&value)
    }

    /// Every value with its register.
    fn iter(&self) -> impl Iterator<Item = (VirtualRegister, Option<VirtualRegister>)> + '_ {
        self.of.iter().map(|(&value, &register)| (value, register))
    }

    /// The values of which a part lies in one of the registers of a place.
    fn values_at(&self, place: Location) -> BTreeSet<VirtualRegister> {
        let (file, numbers) = match place {
            Location::General { first, count } => (&self.general, first..first + u16::from(count)),
            Location::Predicate(number) => (&self.predicates, number..number + 1),
            Location::Unused => return BTreeSet::new(),
        };
        file.range(numbers).flat_map(|(_, values)| values).copied().collect()
    }

    /// Says that a value is in the place of a register, or in none.
    fn set(
        &mut self,
        program: &Program,
        value: VirtualRegister,
        register: Option<VirtualRegister>,
    ) {
        let old = self.of.insert(value, register).flatten();
        if let Some(old) = old {
            self.list(program, value, old, false);
        }
        if let Some(register) = register {
            self.list(program, value, register, true);
        }
    }

    fn list(
        &mut self,
        program: &Program,
        value: VirtualRegister,
        register: VirtualRegister,
        there: bool,
    ) {
        let (file, numbers) = match place(program, register) {
            Location::General { first, count } => {
                (&mut self.general, first..first + u16::from(count))
            }
            Location::Predicate(number) => (&mut self.predicates, number..number + 1),
            Location::Unused => return,
        };
        for number in numbers {
            let values = file.entry(number).or_default();
            if there {
                values.insert(value);
            } else {
                values.remove(&value);
            }
        }
    }
}

/// A value that waiting lanes keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// Virtual register.
    pub(super) value: VirtualRegister,
    /// The program's register.
    pub(super) register: VirtualRegister,
    /// Node at whose start the lanes wait.
    pub(super) at: usize,
    /// They stopped within another side: others may write the register, each lane its own part.
    stopped: bool,
}

/// What is known of the values at the start of each node.
pub(super) struct Values {
    /// Virtual registers that a lane there may still read.
    pub(super) live: Vec<FixedBitSet>,
    /// Where the values of these are.
    pub(super) held: Vec<Held>,
}

impl Values {
    pub(super) fn new(kernel: &Kernel, program: &Program, graph: &Graph) -> Self {
        let live = live_in(kernel, graph);
        let held = held_in(kernel, program, graph, &live);
        Self { live, held }
    }
}

/// Virtual registers that a lane at the start of each node may still read.
fn live_in(kernel: &Kernel, graph: &Graph) -> Vec<FixedBitSet> {
    let mut live = vec![FixedBitSet::with_capacity(kernel.registers.len()); graph.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, node) in graph.nodes.iter().enumerate().rev() {
            let mut set = FixedBitSet::with_capacity(kernel.registers.len());
            for &next in &node.next {
                set.union_with(&live[next]);
            }
            for instruction in kernel.instructions[node.start..node.end].iter().rev() {
                before(instruction, &mut set);
            }
            if set != live[number] {
                live[number] = set;
                changed = true;
            }
        }
    }
    live
}

/// Moves a set of live virtual registers from behind an instruction to before it.
pub(super) fn before(instruction: &Instruction, live: &mut FixedBitSet) {
    if instruction.guard.is_none() {
        for register in writes(instruction) {
            live.set(register.index(), false);
        }
    }
    for register in reads(instruction) {
        live.insert(register.index());
    }
}

/// Where values are at the start of each node: the least that all paths agree on.
fn held_in(kernel: &Kernel, program: &Program, graph: &Graph, live: &[FixedBitSet]) -> Vec<Held> {
    let mut held = vec![Held::default(); graph.nodes.len()];
    let mut reached = vec![false; graph.nodes.len()];
    let mut work = BTreeSet::from([0]);
    while let Some(number) = work.pop_first() {
        reached[number] = true;
        let node = &graph.nodes[number];
        let mut state = held[number].clone();
        for pc in node.start..node.end {
            write(kernel, program, pc, &mut state);
        }
        for &next in &node.next {
            if agree(program, &state, &live[next], &mut held[next]) || !reached[next] {
                work.insert(next);
            }
        }
    }
    held
}

fn place(program: &Program, register: VirtualRegister) -> Location {
    program.registers[register.index()].location
}

/// Joins the state of one path into that of all paths, for values that are still read; true when
/// that changed.
fn agree(program: &Program, state: &Held, live: &FixedBitSet, all: &mut Held) -> bool {
    let mut changed = false;
    for (value, found) in live.ones().filter_map(|value| {
        let value = VirtualRegister(value as u32);
        state.get(value).map(|&found| (value, found))
    }) {
        let joined = match (all.get(value), found) {
            (None, found) => found,
            (Some(Some(a)), Some(b)) if place(program, *a) == place(program, b) => continue,
            (Some(None), _) => continue,
            (Some(Some(_)), _) => None,
        };
        all.set(program, value, joined);
        changed = true;
    }
    changed
}

/// What an instruction's results do to where values are.
fn write(kernel: &Kernel, program: &Program, pc: usize, state: &mut Held) {
    let (ours, theirs) = (&kernel.instructions[pc], &program.instructions[pc].instruction);
    for (value, register) in writes(ours).into_iter().zip(writes(theirs)) {
        let target = place(program, register);
        for other in state.values_at(target) {
            if other != value {
                state.set(program, other, None);
            }
        }
        // Lanes whose guard is false keep the old value: it has to be in the same place.
        let old = state.get(value).copied().filter(|_| ours.guard.is_some());
        let new = match old {
            None => Some(register),
            Some(Some(held)) if place(program, held) == target => Some(register),
            Some(_) => None,
        };
        state.set(program, value, new);
    }
}

/// What lanes that wait while a node executes keep and will read.
pub(super) fn kept(
    waiting: &Waiting,
    held: &[Held],
    wanted: &[FixedBitSet],
    node: usize,
) -> Vec<Kept> {
    let places: BTreeSet<(usize, bool)> =
        waiting[node].iter().map(|wait| (wait.at, wait.stopped)).collect();
    let mut kept = Vec::new();
    for (at, stopped) in places {
        for (value, register) in held[at].iter() {
            if let Some(register) = register.filter(|_| wanted[at].contains(value.index())) {
                kept.push(Kept { value, register, at, stopped });
            }
        }
    }
    kept
}

/// Checks that reads find their values and that results do not overwrite values that waiting lanes
/// keep.
pub(super) fn check(
    kernel: &Kernel,
    program: &Program,
    (graph, waiting): (&Graph, &Waiting),
    Values { live, held }: &Values,
    report: &mut Report<'_>,
) {
    let name = |value: VirtualRegister| kernel.registers[value.index()].name.clone();
    for (number, node) in graph.nodes.iter().enumerate() {
        let kept = kept(waiting, held, live, number);
        let mut state = held[number].clone();
        for pc in node.start..node.end {
            let (ours, theirs) = (&kernel.instructions[pc], &program.instructions[pc].instruction);
            for (value, register) in reads(ours).into_iter().zip(reads(theirs)) {
                let place = place(program, register);
                let found = match state.get(value) {
                    None => true,
                    Some(held) => held.is_some_and(|held| self::place(program, held) == place),
                };
                if !found {
                    report.add(pc, Problem::LostValue { register: name(value), place });
                }
            }
            for (value, register) in writes(ours).into_iter().zip(writes(theirs)) {
                let target = place(program, register);
                let hit = kept.iter().filter(|kept| !kept.stopped).find(|kept| {
                    (kept.value, kept.register) != (value, register)
                        && places_meet(place(program, kept.register), target)
                });
                if let Some(hit) = hit {
                    let (register, kept) = (name(value), name(hit.value));
                    let waiting_at = graph.nodes[hit.at].start;
                    report.add(pc, Problem::OverwritesWaiting { register, kept, waiting_at });
                }
            }
            write(kernel, program, pc, &mut state);
        }
    }
}
