//! The kernel image: operand slots, units, liveness bits, deschedule hints and reach of each
//! instruction.
//!
//! A register operand gives one slot for each 32 bits of its register's declared type, in operand
//! order, repeats kept; guards, predicates, immediates, special registers and symbols give none.
//! The bits speak of values (webs) under SIMT order: a value that waiting lanes may still read is
//! live throughout the blocks they wait for (rule 10).

use strata_core::image::{Flags, MAX_SLOTS, Predicates, StaticInstruction};
use strata_core::units::RegisterId;
use strata_ptx::module::{Instruction, Operand, VirtualRegister};

use crate::cfg::Graph;
use crate::classify;
use crate::divergence::Divergence;
use crate::flow::{ControlFlow, Flow, flow};
use crate::kernel::Kernel;
use crate::limits::TooLarge;
use crate::marks::{Effect, deschedule_marks};
use crate::nearness::Nearness;
use crate::operands::{definitions, registers_of, uses};
use crate::program::{Image, Location};
use crate::reach::SharedReads;
use crate::values::Values;

/// Everything that is known about a kernel once its registers are allocated.
pub(crate) struct Parts<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) graph: &'a Graph,
    pub(crate) divergence: &'a Divergence,
    pub(crate) values: &'a Values,
    pub(crate) locations: &'a [Location],
    pub(crate) registers: u16,
}

/// Builds the image.
pub(crate) fn build(parts: &Parts<'_>) -> Result<Image, TooLarge> {
    let mut image = slots_and_facts(parts)?;
    TooLarge::check_table(parts.graph.blocks.len(), usize::from(parts.registers))?;
    let marks = {
        let effects: Vec<Effect<'_>> =
            (0..image.instructions.len()).map(|pc| effect(parts, &image, pc)).collect();
        deschedule_marks(parts.graph, parts.divergence, parts.registers, &effects)
    };
    for (record, &mark) in image.instructions.iter_mut().zip(&marks) {
        record.flags.set(Flags::DESCHEDULE_BEFORE, mark);
    }
    set_liveness(parts, &mut image);
    Ok(image)
}

fn effect<'a>(parts: &Parts<'_>, image: &'a Image, pc: usize) -> Effect<'a> {
    let record = &image.instructions[pc];
    let first = record.first_slot as usize;
    let (sources, rest) = image.slots[first..].split_at(usize::from(record.sources));
    Effect {
        sources,
        destinations: &rest[..usize::from(record.destinations)],
        long_latency: record.flags.contains(Flags::LONG_LATENCY),
        barrier: record.flags.contains(Flags::BARRIER),
        guarded: parts.values.instructions[pc].guard.is_some(),
    }
}

/// Webs of the general registers among some operands, one for each occurrence, in order, with the
/// first slot and the number of slots of each.
fn occurrences(operands: &[Operand], locations: &[Location]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut slot = 0;
    for operand in operands {
        registers_of(operand, &mut |web: VirtualRegister| {
            if let Location::General { first, count } = locations[web.index()] {
                found.push(Occurrence { web: web.0, slot, first, count });
                slot += u32::from(count);
            }
        });
    }
    found
}

/// One register operand.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    web: u32,
    /// Its first slot, counted from the first source or the first destination.
    slot: u32,
    /// Its first register.
    first: u16,
    /// Slots and registers.
    count: u8,
}

impl Occurrence {
    fn mask(self) -> u32 {
        ((1 << self.count) - 1) << self.slot
    }

    /// Whether one of its registers is in a set.
    fn lies_in(self, registers: &WebSet) -> bool {
        let own = self.first..self.first + u16::from(self.count);
        own.into_iter().any(|register| registers.has(u32::from(register)))
    }
}

fn slots_and_facts(parts: &Parts<'_>) -> Result<Image, TooLarge> {
    let mut image = Image { registers: parts.registers, ..Image::default() };
    for (pc, instruction) in parts.values.instructions.iter().enumerate() {
        let first_slot = image.slots.len() as u32;
        let mut count = |operands: &[Operand]| {
            let found = occurrences(operands, parts.locations);
            for occurrence in &found {
                let registers = occurrence.first..occurrence.first + u16::from(occurrence.count);
                image.slots.extend(registers.map(RegisterId));
            }
            let slots = found.iter().map(|o| usize::from(o.count)).sum::<usize>();
            if slots > MAX_SLOTS { Err(too_many_slots(slots, pc)) } else { Ok(slots as u8) }
        };
        let sources = count(&instruction.sources)?;
        let destinations = count(&instruction.destinations)?;
        let mut flags = classify::flags(instruction);
        flags.set(Flags::BACKWARD_BRANCH, branches_backward(parts.kernel, instruction, pc));
        image.instructions.push(StaticInstruction {
            first_slot,
            sources,
            destinations,
            space: classify::memory_space(instruction),
            flags,
            predicates: predicates(instruction, parts.locations),
            ..StaticInstruction::new(classify::unit(instruction))
        });
    }
    Ok(image)
}

/// The predicate registers that an instruction and its guard name.
fn predicates(instruction: &Instruction, locations: &[Location]) -> Predicates {
    let mut named = Predicates::NONE;
    let bit = |web: VirtualRegister| match locations[web.index()] {
        Location::Predicate(register) => Predicates::bit(register),
        Location::General { .. } | Location::Unused => 0,
    };
    uses(instruction, |web| named.read |= bit(web));
    definitions(instruction, |web| named.written |= bit(web));
    named
}

fn too_many_slots(slots: usize, pc: usize) -> TooLarge {
    let message = format!("has {slots} operand registers on one side, at most {MAX_SLOTS} can be");
    TooLarge { code: "too-many-operands", message, pc }
}

fn branches_backward(kernel: &Kernel, instruction: &Instruction, pc: usize) -> bool {
    let backward = |label| kernel.target(label) as usize <= pc;
    match flow(instruction) {
        Flow::Branch(label) => backward(label),
        Flow::Table(table) => kernel.branch_tables[table as usize].iter().any(|&l| backward(l)),
        Flow::Next | Flow::Exit => false,
    }
}

/// A set of webs, or of registers, that empties in constant time.
struct WebSet {
    epoch: u32,
    seen: Vec<u32>,
}

impl WebSet {
    fn new(webs: usize) -> Self {
        Self { epoch: 1, seen: vec![0; webs] }
    }

    fn clear(&mut self) {
        self.epoch += 1;
    }

    fn has(&self, web: u32) -> bool {
        self.seen[web as usize] == self.epoch
    }

    fn add(&mut self, web: u32) {
        self.seen[web as usize] = self.epoch;
    }

    fn remove(&mut self, web: u32) {
        self.seen[web as usize] = 0;
    }
}

/// What may still be read, at the current place of a walk from the end of a block to its start.
struct Ahead {
    /// At all, on the thread's own path.
    live: WebSet,
    /// Before the next deschedule, on the thread's own path.
    near: WebSet,
    /// At all, by waiting lanes.
    held: WebSet,
    /// Before the next deschedule, by waiting lanes.
    held_near: WebSet,
    /// By a unit of the shared datapath, on the thread's own path.
    shared: WebSet,
    /// At all, in these registers, by lanes that wait within another side of a branch.
    stopped: WebSet,
    /// Before the next deschedule, likewise.
    stopped_near: WebSet,
}

/// Flags of the webs that are live where a block begins.
struct Flows {
    near: Nearness,
    shared: SharedReads,
}

impl Ahead {
    fn live(&self, of: Occurrence) -> bool {
        self.live.has(of.web) || self.held.has(of.web) || of.lies_in(&self.stopped)
    }

    fn near(&self, of: Occurrence) -> bool {
        self.near.has(of.web) || self.held_near.has(of.web) || of.lies_in(&self.stopped_near)
    }

    fn enter(&mut self, parts: &Parts<'_>, flows: &Flows, block: usize) {
        let Self { live, near, held, held_near, shared, stopped, stopped_near } = self;
        for set in [live, near, held, held_near, shared, stopped, stopped_near] {
            set.clear();
        }
        let nearness = &flows.near;
        let exit = parts.graph.exit();
        for &next in parts.graph.blocks[block].successors.iter().filter(|&&next| next != exit) {
            for (live, &near) in parts.values.live_in[next].iter().zip(&nearness.of[next]) {
                self.live.add(live.web);
                if near {
                    self.near.add(live.web);
                }
            }
            for (live, &shared) in parts.values.live_in[next].iter().zip(&flows.shared.of[next]) {
                if shared {
                    self.shared.add(live.web);
                }
            }
        }
        let keeping = &parts.divergence.keeping[block];
        for &at in &parts.divergence.waiting[block] {
            let place = at as usize;
            let keeps = keeping.binary_search(&at).is_ok();
            for (live, &near) in parts.values.live_in[place].iter().zip(&nearness.of[place]) {
                self.held.add(live.web);
                if near {
                    self.held_near.add(live.web);
                }
                if keeps || !live.defined {
                    continue;
                }
                let location = parts.locations[live.web as usize];
                let Location::General { first, count } = location else { continue };
                for register in first..first + u16::from(count) {
                    self.stopped.add(u32::from(register));
                    if near {
                        self.stopped_near.add(u32::from(register));
                    }
                }
            }
        }
    }
}

fn set_liveness(parts: &Parts<'_>, image: &mut Image) {
    let flows = Flows {
        near: Nearness::new(parts.graph, parts.values, &image.instructions),
        shared: SharedReads::new(parts.graph, parts.values, &image.instructions),
    };
    let set = || WebSet::new(parts.values.webs.len());
    let registers = || WebSet::new(usize::from(parts.registers));
    let mut ahead = Ahead {
        live: set(),
        near: set(),
        held: set(),
        held_near: set(),
        shared: set(),
        stopped: registers(),
        stopped_near: registers(),
    };
    let mut undefined = set();
    for (number, block) in parts.graph.blocks.iter().enumerate() {
        ahead.enter(parts, &flows, number);
        for live in parts.values.live_in[number].iter().filter(|live| !live.defined) {
            undefined.add(live.web);
        }
        for pc in (block.start..block.end).rev() {
            let instruction = &parts.values.instructions[pc];
            pass(instruction, parts.locations, &mut image.instructions[pc], &mut ahead);
        }
        for pc in block.start..block.end {
            let instruction = &parts.values.instructions[pc];
            forget_undefined(instruction, parts.locations, &mut image.instructions[pc], &undefined);
            definitions(instruction, |web| undefined.remove(web.0));
        }
        undefined.clear();
    }
    withhold_blind(parts, image, &flows.shared);
}

/// Takes the reach bits off results in registers where a shared unit may look for a value that no
/// instruction wrote: it finds whatever was left there.
fn withhold_blind(parts: &Parts<'_>, image: &mut Image, shared: &SharedReads) {
    let mut blind = vec![false; usize::from(parts.registers)];
    for (live, _) in parts.values.live_in[0].iter().zip(&shared.of[0]).filter(|(_, read)| **read) {
        if let Location::General { first, count } = parts.locations[live.web as usize] {
            blind[usize::from(first)..][..usize::from(count)].fill(true);
        }
    }
    for record in &mut image.instructions {
        let first = record.first_slot as usize + usize::from(record.sources);
        let results = &image.slots[first..][..usize::from(record.destinations)];
        for (slot, register) in results.iter().enumerate() {
            record.private_reads &= !(u32::from(blind[usize::from(register.0)]) << slot);
        }
    }
}

/// Takes the bits off operands that no path defines: such a web owns no register yet, so what lies
/// there may be another value in use.
fn forget_undefined(
    instruction: &Instruction,
    locations: &[Location],
    record: &mut StaticInstruction,
    undefined: &WebSet,
) {
    for operand in occurrences(&instruction.sources, locations) {
        if undefined.has(operand.web) {
            record.last_use &= !operand.mask();
            record.last_use_before_deschedule &= !operand.mask();
        }
    }
}

/// Sets the bits of one instruction and moves `ahead` before it.
fn pass(
    instruction: &Instruction,
    locations: &[Location],
    record: &mut StaticInstruction,
    ahead: &mut Ahead,
) {
    for result in occurrences(&instruction.destinations, locations) {
        if !ahead.live(result) {
            record.never_read |= result.mask();
        }
        if !ahead.near(result) {
            record.not_read_before_deschedule |= result.mask();
        }
        if !ahead.shared.has(result.web) {
            record.private_reads |= result.mask();
        }
    }
    if instruction.guard.is_none() {
        definitions(instruction, |web| {
            ahead.live.remove(web.0);
            ahead.near.remove(web.0);
            ahead.shared.remove(web.0);
        });
    }
    if record.flags.contains(Flags::BARRIER) {
        ahead.near.clear();
    }
    // From the last operand to the first: of repeats, the last slot is the last use.
    for operand in occurrences(&instruction.sources, locations).into_iter().rev() {
        if !ahead.live(operand) {
            record.last_use |= operand.mask();
        }
        if !ahead.near(operand) {
            record.last_use_before_deschedule |= operand.mask();
        }
        ahead.live.add(operand.web);
        ahead.near.add(operand.web);
        if record.unit.is_shared_datapath() {
            ahead.shared.add(operand.web);
        }
    }
    uses(instruction, |web| ahead.live.add(web.0));
    if record.flags.contains(Flags::DESCHEDULE_BEFORE) {
        ahead.near.clear();
    }
}
