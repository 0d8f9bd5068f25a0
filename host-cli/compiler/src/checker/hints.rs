//! Whether last-use, never-read and before-deschedule bits claim too much.

use fixedbitset::FixedBitSet;
use strata_core::image::Flags;
use strata_ptx::module::{Operand, VirtualRegister};

use super::graph::{Graph, Waiting};
use super::held::{Kept, Values, before, kept};
use super::registers::{places_meet, writes};
use super::violation::{Again, Problem, Report};
use crate::kernel::Kernel;
use crate::operands::registers_of;
use crate::program::{Location, Program};

/// The two kinds of "read again": at all, and before the next possible deschedule.
struct Scope<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    /// Virtual registers read again on the lane's own path, behind the place in question.
    ahead: FixedBitSet,
    /// What waiting lanes keep and read again.
    kept: Vec<Kept>,
    /// Names of the hint for sources and for destinations.
    hints: [&'static str; 2],
}

/// One register operand and its slots.
struct Slots {
    value: VirtualRegister,
    place: Location,
    first: u32,
    count: u32,
}

pub(super) fn check(
    kernel: &Kernel,
    program: &Program,
    (graph, waiting): (&Graph, &Waiting),
    Values { live, held }: &Values,
    report: &mut Report<'_>,
) {
    let near = near_in(kernel, program, graph);
    for (number, node) in graph.nodes.iter().enumerate() {
        let scope = |wanted: &[FixedBitSet], hints| {
            let mut ahead = FixedBitSet::with_capacity(kernel.registers.len());
            node.next.iter().for_each(|&next| ahead.union_with(&wanted[next]));
            Scope { program, kernel, ahead, kept: kept(waiting, held, wanted, number), hints }
        };
        let mut all = scope(live, ["last use", "never read"]);
        let mut soon = scope(&near, ["last use before deschedule", "not read before deschedule"]);
        for pc in (node.start..node.end).rev() {
            let record = &program.image.instructions[pc];
            let instruction = &kernel.instructions[pc];
            all.check_results(pc, record.never_read, graph, report);
            soon.check_results(pc, record.not_read_before_deschedule, graph, report);
            if instruction.guard.is_none() {
                for register in writes(instruction) {
                    all.ahead.set(register.index(), false);
                    soon.ahead.set(register.index(), false);
                }
            }
            if record.flags.contains(Flags::BARRIER) {
                soon.ahead.clear();
            }
            all.check_operands(pc, record.last_use, graph, report);
            soon.check_operands(pc, record.last_use_before_deschedule, graph, report);
            before(instruction, &mut all.ahead);
            step_near(kernel, program, pc, &mut soon.ahead);
        }
    }
}

/// Moves a set of registers read before the next possible deschedule from behind an instruction to
/// before it.
fn step_near(kernel: &Kernel, program: &Program, pc: usize, near: &mut FixedBitSet) {
    let flags = program.image.instructions[pc].flags;
    let instruction = &kernel.instructions[pc];
    if flags.contains(Flags::DESCHEDULE_BEFORE) {
        return near.clear();
    }
    if flags.contains(Flags::BARRIER) {
        near.clear();
    }
    before(instruction, near);
}

fn near_in(kernel: &Kernel, program: &Program, graph: &Graph) -> Vec<FixedBitSet> {
    let mut near = vec![FixedBitSet::with_capacity(kernel.registers.len()); graph.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, node) in graph.nodes.iter().enumerate().rev() {
            let mut set = FixedBitSet::with_capacity(kernel.registers.len());
            node.next.iter().for_each(|&next| set.union_with(&near[next]));
            for pc in (node.start..node.end).rev() {
                step_near(kernel, program, pc, &mut set);
            }
            if set != near[number] {
                near[number] = set;
                changed = true;
            }
        }
    }
    near
}

impl Scope<'_> {
    fn slots(&self, ours: &[Operand], theirs: &[Operand]) -> Vec<Slots> {
        let list = |operands: &[Operand]| {
            let mut found = Vec::new();
            for operand in operands {
                registers_of(operand, &mut |register| found.push(register));
            }
            found
        };
        let mut first = 0;
        let mut slots = Vec::new();
        for (value, register) in list(ours).into_iter().zip(list(theirs)) {
            let place = self.program.registers[register.index()].location;
            if let Location::General { count, .. } = place {
                let count = u32::from(count);
                slots.push(Slots { value, place, first, count });
                first += count;
            }
        }
        slots
    }

    fn again(&self, value: VirtualRegister, place: Location, graph: &Graph) -> Option<Again> {
        if self.ahead.contains(value.index()) {
            return Some(Again::Ahead);
        }
        let register = |kept: &Kept| self.program.registers[kept.register.index()].location;
        let kept = self.kept.iter().find(|kept| places_meet(register(kept), place));
        kept.map(|kept| Again::Waiting(graph.nodes[kept.at].start))
    }

    fn complain(
        &self,
        pc: usize,
        hint: &'static str,
        slots: &Slots,
        bits: u32,
        place: Again,
        report: &mut Report<'_>,
    ) {
        let register = self.kernel.registers[slots.value.index()].name.clone();
        let slot = slots.first + (bits >> slots.first).trailing_zeros();
        report.add(pc, Problem::Unsound { hint, slot, register, place });
    }

    fn check_results(&self, pc: usize, bits: u32, graph: &Graph, report: &mut Report<'_>) {
        let ours = &self.kernel.instructions[pc].destinations;
        let theirs = &self.program.instructions[pc].instruction.destinations;
        for slots in self.slots(ours, theirs) {
            if has_bit(bits, &slots)
                && let Some(again) = self.again(slots.value, slots.place, graph)
            {
                self.complain(pc, self.hints[1], &slots, bits, again, report);
            }
        }
    }

    fn check_operands(&self, pc: usize, bits: u32, graph: &Graph, report: &mut Report<'_>) {
        let ours = &self.kernel.instructions[pc].sources;
        let theirs = &self.program.instructions[pc].instruction.sources;
        let all = self.slots(ours, theirs);
        for (index, slots) in all.iter().enumerate().filter(|(_, slots)| has_bit(bits, slots)) {
            let repeated = all[index + 1..].iter().any(|later| later.value == slots.value);
            let again = if repeated {
                Some(Again::SameInstruction)
            } else {
                self.again(slots.value, slots.place, graph)
            };
            if let Some(again) = again {
                self.complain(pc, self.hints[0], slots, bits, again, report);
            }
        }
    }
}

fn has_bit(bits: u32, slots: &Slots) -> bool {
    u64::from(bits) >> slots.first & ((1 << slots.count) - 1) != 0
}
