//! Deschedule marks and liveness bits of a traced kernel, from the flow that its trace shows.
//!
//! The same two flows as for PTX (marks forward, liveness backward), at the grain of instructions
//! and of physical registers, because machine code has no webs left. Registers that no instruction
//! names are in no set. What a trace cannot show is taken to be live (DEV-080).

use std::collections::VecDeque;

use strata_compiler::program::Image;
use strata_core::image::{Flags, StaticInstruction};
use strata_core::units::RegisterId;

use super::flow::{Flow, Registers};

/// Sets the marks and the bits of every instruction.
pub(crate) fn annotate(image: &mut Image, flow: &Flow) {
    let marks = marks(image, flow);
    for (record, mark) in image.instructions.iter_mut().zip(marks) {
        record.flags.set(Flags::DESCHEDULE_BEFORE, mark);
    }
    set_bits(image, flow);
}

/// Registers whose long-latency result may be, and must be, pending since the last deschedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    may: Registers,
    must: Registers,
}

fn slots<'a>(image: &'a Image, record: &StaticInstruction) -> (&'a [RegisterId], &'a [RegisterId]) {
    let first = record.first_slot as usize;
    let middle = first + usize::from(record.sources);
    let end = middle + usize::from(record.destinations);
    (&image.slots[first..middle], &image.slots[middle..end])
}

impl Pending {
    /// Passes an instruction; says whether it must be marked.
    fn step(&mut self, image: &Image, pc: usize, flow: &Flow) -> bool {
        let record = &image.instructions[pc];
        let (sources, destinations) = slots(image, record);
        let (covers, active) = (flow.covers[pc], flow.always_active[pc]);
        let marked = sources.iter().any(|source| self.may.has(source.0));
        if marked {
            // `must` holds only registers that are pending in all lanes that go on.
            if active && sources.iter().any(|source| self.must.has(source.0)) {
                self.may = Registers::NONE;
            } else if covers {
                for source in sources {
                    self.may.remove(source.0);
                }
            }
            self.must = Registers::NONE;
        }
        if record.flags.contains(Flags::BARRIER) {
            if active {
                self.may = Registers::NONE;
            }
            self.must = Registers::NONE;
        }
        let long = record.flags.contains(Flags::LONG_LATENCY);
        for destination in destinations {
            if long {
                self.may.add(destination.0);
            } else if covers {
                self.may.remove(destination.0);
            }
            if long && covers {
                self.must.add(destination.0);
            } else if !long {
                self.must.remove(destination.0);
            }
        }
        marked
    }
}

fn marks(image: &Image, flow: &Flow) -> Vec<bool> {
    let count = image.instructions.len();
    let unreached = Pending { may: Registers::NONE, must: Registers::ALL };
    let mut before = vec![unreached; count];
    let mut reached = vec![false; count];
    let mut queued = vec![false; count];
    let mut marks = vec![false; count];
    let mut work = VecDeque::new();
    for &entry in &flow.entries {
        let entry = entry as usize;
        before[entry].must = Registers::NONE;
        (reached[entry], queued[entry]) = (true, true);
        work.push_back(entry);
    }
    while let Some(pc) = work.pop_front() {
        queued[pc] = false;
        let mut state = before[pc];
        // `may` only grows and `must` only shrinks from visit to visit: the last one is right.
        marks[pc] = state.step(image, pc, flow);
        for &next in &flow.next[pc] {
            let next = next as usize;
            let grown = before[next].may.unite(&state.may);
            let shrunk = before[next].must.intersect(&state.must);
            let new = !std::mem::replace(&mut reached[next], true);
            if (grown || shrunk || new) && !queued[next] {
                queued[next] = true;
                work.push_back(next);
            }
        }
    }
    marks
}

/// Registers that are read later: at all, before the next possible deschedule, and by units of the
/// shared datapath.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ahead {
    live: Registers,
    near: Registers,
    shared: Registers,
}

impl Ahead {
    /// Passes an instruction backwards.
    fn step(&mut self, image: &Image, pc: usize, flow: &Flow) {
        self.pass_results(image, pc, flow);
        let record = &image.instructions[pc];
        for source in slots(image, record).0 {
            self.live.add(source.0);
            self.near.add(source.0);
            if record.unit.is_shared_datapath() {
                self.shared.add(source.0);
            }
        }
        if record.flags.contains(Flags::DESCHEDULE_BEFORE) {
            self.near = Registers::NONE;
        }
    }

    fn pass_results(&mut self, image: &Image, pc: usize, flow: &Flow) {
        let record = &image.instructions[pc];
        if flow.covers[pc] {
            for destination in slots(image, record).1 {
                self.live.remove(destination.0);
                self.near.remove(destination.0);
                self.shared.remove(destination.0);
            }
        }
        if record.flags.contains(Flags::BARRIER) {
            self.near = Registers::NONE;
        }
    }
}

fn set_bits(image: &mut Image, flow: &Flow) {
    let after = ahead(image, flow);
    for (pc, mut state) in after.into_iter().enumerate() {
        let mut record = image.instructions[pc];
        let (sources, destinations) = slots(image, &record);
        for (slot, destination) in destinations.iter().enumerate() {
            record.never_read |= u32::from(!state.live.has(destination.0)) << slot;
            record.not_read_before_deschedule |= u32::from(!state.near.has(destination.0)) << slot;
            record.private_reads |= u32::from(!state.shared.has(destination.0)) << slot;
        }
        state.pass_results(image, pc, flow);
        // From the last slot to the first: of repeats, the last is the last use.
        for (slot, source) in sources.iter().enumerate().rev() {
            record.last_use |= u32::from(!state.live.has(source.0)) << slot;
            record.last_use_before_deschedule |= u32::from(!state.near.has(source.0)) << slot;
            state.live.add(source.0);
            state.near.add(source.0);
        }
        image.instructions[pc] = record;
    }
}

/// What is read after each instruction.
fn ahead(image: &Image, flow: &Flow) -> Vec<Ahead> {
    let count = image.instructions.len();
    let mut previous: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (pc, next) in flow.next.iter().enumerate() {
        for &next in next {
            previous[next as usize].push(pc as u32);
        }
    }
    let mut after = vec![Ahead::default(); count];
    // Backwards, so that straight code is passed once.
    let mut work: VecDeque<usize> = (0..count).rev().collect();
    let mut queued = vec![true; count];
    while let Some(pc) = work.pop_front() {
        queued[pc] = false;
        let mut state = after[pc];
        state.step(image, pc, flow);
        for &before in &previous[pc] {
            let before = before as usize;
            let live = after[before].live.unite(&state.live);
            let near = after[before].near.unite(&state.near);
            let shared = after[before].shared.unite(&state.shared);
            if (live || near || shared) && !queued[before] {
                queued[before] = true;
                work.push_back(before);
            }
        }
    }
    after
}

#[cfg(test)]
mod tests;
