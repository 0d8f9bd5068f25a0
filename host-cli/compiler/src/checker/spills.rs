//! Whether a program that spills computes what its kernel computes.
//!
//! The program names the origin of each of its instructions, which is accepted only if it can be
//! proved: [`expand`] puts the stores, fills and repeated definitions that it names into the
//! kernel, in the kernel's own registers; [`check`] proves that they change no value, and all other
//! checks then compare the program with that kernel. Local memory belongs to a lane, so the
//! contents of a lane's slots depend on its own path alone.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use strata_ptx::module::{
    AddressBase, Instruction, LabelId, Operand, SpecialRegister, StateSpace, Symbol, VariableId,
    VirtualRegister,
};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use super::graph::Graph;
use super::registers::{reads, writes};
use super::violation::{Problem, Report};
use crate::flow::{Flow, flow};
use crate::kernel::{Kernel, plain};
use crate::program::{Dropped, Origin, Program, SPILL_VARIABLE};

/// The kernel with what the program adds to it and without what it drops; the kernel itself when
/// that is nothing.
pub(super) fn expand<'k>(
    kernel: &'k Kernel,
    program: &Program,
    report: &mut Report<'_>,
) -> Cow<'k, Kernel> {
    let own = |(pc, origin): (usize, Origin)| origin == Origin::Kernel(pc as u32);
    let origins = || program.instructions.iter().map(|instruction| instruction.origin).enumerate();
    if program.spill_bytes == 0 && program.dropped.is_empty() && origins().all(own) {
        return Cow::Borrowed(kernel);
    }
    check_frame(kernel, program, report);
    let mut expanded = Kernel {
        instructions: Vec::with_capacity(program.instructions.len()),
        targets: program.targets.clone(),
        variables: program.variables.clone(),
        local_bytes: program.local_bytes,
        ..kernel.clone()
    };
    // Instructions of the kernel that come before each of the program's.
    let mut consumed = Vec::with_capacity(program.instructions.len() + 1);
    let mut dropped = program.dropped.iter().peekable();
    let mut next = 0;
    for (pc, origin) in origins() {
        consumed.push(next);
        while let Some(gone) = dropped.next_if(|gone| gone.before as usize == pc) {
            let definition = kernel.instructions.get(gone.definition as usize);
            if gone.definition != next || !definition.is_some_and(|d| is_repeatable(kernel, d)) {
                report.add(pc, Problem::Different("what is left out"));
            }
            next += 1;
        }
        if let Origin::Kernel(number) = origin {
            if number != next {
                report.add(pc, Problem::Different("the order of instructions"));
            }
            next += 1;
        }
        match expected(kernel, program, pc, origin) {
            Ok(instruction) => expanded.instructions.push(instruction),
            Err(problem) => report.add(pc, problem),
        }
    }
    consumed.push(next);
    if dropped.next().is_some() || next as usize != kernel.instructions.len() {
        report.add(0, Problem::Different("the number of instructions"));
    }
    check_targets(kernel, program, &consumed, report);
    Cow::Owned(expanded)
}

/// Checks that every label stands where the kernel has it. `consumed` counts, for each instruction
/// of the program and for its end, those of the kernel that come before, without the ones left out
/// right there: control that goes to a label passes them.
fn check_targets(kernel: &Kernel, program: &Program, consumed: &[u32], report: &mut Report<'_>) {
    let left_out = |place: u32| program.dropped.iter().filter(|d| d.before == place).count() as u32;
    let mut good = kernel.targets.len() == program.targets.len();
    for (&ours, &theirs) in kernel.targets.iter().zip(&program.targets) {
        let place = consumed.get(theirs as usize).copied().unwrap_or(u32::MAX);
        // A label that no branch names may stand between those.
        good &= place <= ours && ours <= place.saturating_add(left_out(theirs));
    }
    good &= labels(kernel).all(|label| {
        let place = program.targets.get(label.index()).copied().unwrap_or(u32::MAX);
        consumed.get(place as usize) == Some(&kernel.targets[label.index()])
    });
    if !good {
        report.add(0, Problem::Different("a branch target"));
    }
}

/// The labels that control may go to.
fn labels(kernel: &Kernel) -> impl Iterator<Item = LabelId> + '_ {
    kernel.instructions.iter().flat_map(|instruction| match flow(instruction) {
        Flow::Branch(label) => vec![label],
        Flow::Table(table) => kernel.branch_tables[table as usize].clone(),
        Flow::Next | Flow::Exit => Vec::new(),
    })
}

/// Checks that the slots lie behind everything that is the kernel's.
fn check_frame(kernel: &Kernel, program: &Program, report: &mut Report<'_>) {
    let (own, slots) =
        program.variables.split_at(kernel.variables.len().min(program.variables.len()));
    let good = match slots {
        [] => program.spill_bytes == 0 && program.local_bytes == kernel.local_bytes,
        [slots] => {
            slots.name == SPILL_VARIABLE
                && slots.space == StateSpace::Local
                && slots.size == program.spill_bytes
                && slots.offset >= kernel.local_bytes
                && slots.offset % 16 == 0
                && slots.offset + slots.size == program.local_bytes
        }
        _ => false,
    };
    if own != kernel.variables || !good {
        report.add(0, Problem::Different("the frame"));
    }
}

/// The instruction that an origin calls for.
fn expected(
    kernel: &Kernel,
    program: &Program,
    pc: usize,
    origin: Origin,
) -> Result<Instruction, Problem> {
    let found = &program.instructions[pc].instruction;
    let unknown = Problem::Different("where the instruction comes from");
    match origin {
        Origin::Kernel(number) => kernel.instructions.get(number as usize).cloned().ok_or(unknown),
        Origin::Again(number) => {
            let definition = kernel.instructions.get(number as usize);
            let definition = definition.filter(|d| is_repeatable(kernel, d)).ok_or(unknown)?;
            Ok(Instruction { span: found.span, ..definition.clone() })
        }
        Origin::Store(value) | Origin::Fill(value) => {
            let register = kernel.registers.get(value.index()).ok_or(unknown)?;
            let size = slot_bytes(register.ty);
            let store = matches!(origin, Origin::Store(_));
            if found.guard.is_some() {
                return Err(Problem::GuardedSpill { register: register.name.clone() });
            }
            let Some(offset) = slot(kernel, found) else {
                return Err(Problem::Different("the address of a spill"));
            };
            if size == 0 || offset % size != 0 || offset + size > program.spill_bytes {
                return Err(Problem::Different("the place of a slot"));
            }
            let ty = match register.ty.bits() {
                8 => ScalarType::B8,
                16 => ScalarType::B16,
                64 => ScalarType::B64,
                128 => ScalarType::B128,
                _ => ScalarType::B32,
            };
            let symbol = Symbol::Local(VariableId(kernel.variables.len() as u32));
            let base = AddressBase::Symbol(symbol);
            let address = Operand::Address { base, offset: offset as i64 };
            let value = Operand::Register(value);
            let mut wanted = plain(if store { Opcode::St } else { Opcode::Ld }, found.span);
            wanted.modifiers.space = Some(StateSpace::Local);
            wanted.types = vec![ty];
            if store {
                wanted.sources = vec![address, value];
            } else {
                wanted.destinations = vec![value];
                wanted.sources = vec![address];
            }
            Ok(wanted)
        }
    }
}

/// Offset in the slots of the address that an instruction names first.
fn slot(kernel: &Kernel, instruction: &Instruction) -> Option<u64> {
    match instruction.sources.first() {
        Some(Operand::Address { base: AddressBase::Symbol(Symbol::Local(id)), offset })
            if id.index() == kernel.variables.len() =>
        {
            u64::try_from(*offset).ok()
        }
        _ => None,
    }
}

/// Whether a definition gives a thread the same value whenever it is executed.
fn is_repeatable(kernel: &Kernel, instruction: &Instruction) -> bool {
    use SpecialRegister as S;
    let one = matches!(instruction.destinations[..], [Operand::Register(_)]);
    if !one || instruction.guard.is_some() || instruction.sources.len() != 1 {
        return false;
    }
    match (instruction.opcode, &instruction.sources[0]) {
        (Opcode::Mov, Operand::Special(special)) => !matches!(
            special,
            S::Clock
                | S::ClockHi
                | S::Clock64
                | S::Globaltimer
                | S::GlobaltimerLo
                | S::GlobaltimerHi
                | S::Smid
                | S::Warpid
                | S::Pm(_)
        ),
        (
            Opcode::Mov,
            Operand::Integer(_)
            | Operand::Float32(_)
            | Operand::Float64(_)
            | Operand::Symbol { .. },
        ) => true,
        (Opcode::Ld, Operand::Address { base: AddressBase::Symbol(Symbol::Local(id)), .. }) => {
            // Only a kernel's own parameters never change.
            let variable = kernel.variables.get(id.index());
            variable.is_some_and(|variable| variable.space == StateSpace::Param)
        }
        _ => false,
    }
}

/// Offset and size. Unit: bytes.
type Slot = (u64, u64);

/// Where the latest value of a register of the kernel is, on every path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    /// In the register.
    register: bool,
    /// In these slots.
    slots: BTreeSet<Slot>,
    /// This instruction of the kernel made it, and would make it again.
    made_by: Option<u32>,
}

/// What is known of every value, and which values the words of the slots hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Absent: no path has defined it yet, so anything will do.
    of: BTreeMap<VirtualRegister, Known>,
    words: BTreeMap<u64, BTreeSet<VirtualRegister>>,
}

impl State {
    fn get(&self, value: VirtualRegister) -> Option<&Known> {
        self.of.get(&value)
    }

    /// A value was made, in its register if `register`, and lies in no slot.
    fn make(&mut self, value: VirtualRegister, register: bool, made_by: Option<u32>) {
        let made = Known { register, slots: BTreeSet::new(), made_by };
        if let Some(old) = self.of.insert(value, made) {
            for slot in old.slots {
                self.forget(value, slot);
            }
        }
    }

    /// A value's register has it, if anything is known of it.
    fn fill(&mut self, value: VirtualRegister) {
        if let Some(known) = self.of.get_mut(&value) {
            known.register = true;
        }
    }

    /// A slot receives a value and loses its old one.
    fn store(&mut self, value: VirtualRegister, slot: Slot) {
        let there: BTreeSet<VirtualRegister> =
            self.words.range(words(slot)).flat_map(|(_, values)| values).copied().collect();
        for other in there {
            let Some(known) = self.of.get_mut(&other) else { continue };
            let (gone, kept) = known.slots.iter().partition(|&&old| overlap(old, slot));
            known.slots = kept;
            let gone: BTreeSet<Slot> = gone;
            for old in gone {
                self.forget(other, old);
            }
        }
        if let Some(known) = self.of.get_mut(&value) {
            known.slots.insert(slot);
            for word in words(slot) {
                self.words.entry(word).or_default().insert(value);
            }
        }
    }

    /// A slot holds a value no longer.
    fn forget(&mut self, value: VirtualRegister, slot: Slot) {
        for word in words(slot) {
            if let Some(values) = self.words.get_mut(&word) {
                values.remove(&value);
                if values.is_empty() {
                    self.words.remove(&word);
                }
            }
        }
    }

    /// What two paths agree on, of the values that are `wanted`.
    fn join(&self, known: Option<&Self>, wanted: &FixedBitSet) -> Self {
        let mut joined = known.cloned().unwrap_or_default();
        for value in wanted.ones().map(|value| VirtualRegister(value as u32)) {
            let Some(theirs) = self.get(value) else { continue };
            let both = match joined.get(value) {
                None => theirs.clone(),
                Some(ours) => Known {
                    register: ours.register && theirs.register,
                    slots: &ours.slots & &theirs.slots,
                    made_by: ours.made_by.filter(|made| theirs.made_by == Some(*made)),
                },
            };
            joined.make(value, both.register, both.made_by);
            for slot in both.slots {
                for word in words(slot) {
                    joined.words.entry(word).or_default().insert(value);
                }
                if let Some(known) = joined.of.get_mut(&value) {
                    known.slots.insert(slot);
                }
            }
        }
        joined
    }
}

/// Checks that every instruction that the program adds leaves all values as they are, and that no
/// read depends on an instruction that it leaves out. `expanded` is what [`expand`] made.
pub(super) fn check(
    kernel: &Kernel,
    expanded: &Kernel,
    program: &Program,
    graph: &Graph,
    report: &mut Report<'_>,
) {
    let prover = Prover { kernel, expanded, program };
    let wanted = prover.wanted(graph);
    let mut at_start: Vec<Option<State>> = vec![None; graph.nodes.len()];
    at_start[0] = Some(State::default());
    let mut work = BTreeSet::from([0]);
    while let Some(number) = work.pop_first() {
        let Some(mut state) = at_start[number].clone() else { continue };
        let node = &graph.nodes[number];
        for pc in node.start..node.end {
            prover.step(pc, &mut state);
        }
        for &next in &node.next {
            let joined = state.join(at_start[next].as_ref(), &wanted[next]);
            if at_start[next].as_ref() != Some(&joined) {
                at_start[next] = Some(joined);
                work.insert(next);
            }
        }
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        let Some(mut state) = at_start[number].clone() else { continue };
        for pc in node.start..node.end {
            for problem in prover.step(pc, &mut state) {
                report.add(pc, problem);
            }
        }
    }
}

struct Prover<'a> {
    kernel: &'a Kernel,
    expanded: &'a Kernel,
    program: &'a Program,
}

impl Prover<'_> {
    /// Values that some path from the start of each node reads, fills or makes again before it
    /// makes them. What is known of others does not matter any more.
    fn wanted(&self, graph: &Graph) -> Vec<FixedBitSet> {
        let none = FixedBitSet::with_capacity(self.kernel.registers.len());
        let mut wanted = vec![none.clone(); graph.nodes.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (number, node) in graph.nodes.iter().enumerate().rev() {
                let mut set = none.clone();
                node.next.iter().for_each(|&next| set.union_with(&wanted[next]));
                (node.start..node.end).rev().for_each(|pc| self.want(pc, &mut set));
                changed |= set != wanted[number];
                wanted[number] = set;
            }
        }
        wanted
    }

    /// Moves a set of wanted values from behind an instruction to before it.
    fn want(&self, pc: usize, set: &mut FixedBitSet) {
        let instruction = &self.expanded.instructions[pc];
        match self.program.instructions[pc].origin {
            Origin::Kernel(_) if instruction.guard.is_none() => {
                for value in writes(instruction) {
                    set.set(value.index(), false);
                }
            }
            Origin::Kernel(_) | Origin::Store(_) => {}
            Origin::Fill(_) | Origin::Again(_) => {
                set.extend(writes(instruction).into_iter().map(VirtualRegister::index));
            }
        }
        set.extend(reads(instruction).into_iter().map(VirtualRegister::index));
        for definition in self.dropped_before(pc) {
            for value in writes(&self.kernel.instructions[definition as usize]) {
                set.set(value.index(), false);
            }
        }
    }

    /// Passes an instruction of the program, or returns its error.
    fn step(&self, pc: usize, state: &mut State) -> Vec<Problem> {
        for definition in self.dropped_before(pc) {
            for value in writes(&self.kernel.instructions[definition as usize]) {
                state.make(value, false, Some(definition));
            }
        }
        let mut problems = Vec::new();
        let instruction = &self.expanded.instructions[pc];
        for value in reads(instruction) {
            if state.get(value).is_some_and(|known| !known.register) {
                problems.push(Problem::LeftOut { register: self.name(value) });
            }
        }
        match self.program.instructions[pc].origin {
            Origin::Kernel(number) => {
                for value in writes(instruction) {
                    // Lanes whose guard is false keep the old value.
                    let partial = instruction.guard.is_some();
                    let old = state.get(value).map(|known| known.register);
                    let register = !partial || old.unwrap_or(true);
                    state.make(value, register, (!partial).then_some(number));
                }
            }
            Origin::Store(value) => state.store(value, self.slot(instruction, value)),
            Origin::Fill(value) => {
                let slot = self.slot(instruction, value);
                if state.get(value).is_some_and(|known| !known.slots.contains(&slot)) {
                    let register = self.name(value);
                    problems.push(Problem::StaleSlot { register, offset: slot.0 });
                }
                state.fill(value);
            }
            Origin::Again(number) => {
                for value in writes(instruction) {
                    if state.get(value).is_some_and(|known| known.made_by != Some(number)) {
                        let register = self.name(value);
                        problems.push(Problem::OtherValue { register, definition: number });
                    }
                    state.fill(value);
                }
            }
        }
        problems
    }

    fn name(&self, value: VirtualRegister) -> String {
        self.kernel.registers[value.index()].name.clone()
    }

    /// Definitions that the program leaves out right before one of its instructions.
    fn dropped_before(&self, pc: usize) -> impl Iterator<Item = u32> + '_ {
        let dropped = &self.program.dropped;
        let first = dropped.partition_point(|dropped| (dropped.before as usize) < pc);
        let here = dropped[first..].iter().take_while(move |d| d.before as usize == pc);
        here.map(|dropped: &Dropped| dropped.definition)
    }

    /// The slot that a store or fill names.
    fn slot(&self, instruction: &Instruction, value: VirtualRegister) -> Slot {
        let offset = slot(self.kernel, instruction).unwrap_or_default();
        (offset, slot_bytes(self.kernel.registers[value.index()].ty))
    }
}

/// Bytes of a slot: whole words, so that a word of all lanes lies side by side.
fn slot_bytes(ty: ScalarType) -> u64 {
    4 * u64::from(ty.register_slots())
}

/// Numbers of the words that a slot touches.
fn words((offset, size): Slot) -> std::ops::Range<u64> {
    offset / 4..(offset + size).div_ceil(4)
}

fn overlap(a: Slot, b: Slot) -> bool {
    a.0 < b.0 + b.1 && b.0 < a.0 + a.1
}
