//! Random warps through random kernels: what the program's registers hold, and what its bits claim,
//! is compared with the kernel's own registers, lane by lane.
//!
//! Branches and guards go by dice, not by values, so that every path of the graph can happen; the
//! sides of a divergent branch execute in random order, and lanes that wait, or go round a loop that
//! may wait for others, let others go on for a while.

use std::collections::{BTreeMap, BTreeSet};

use strata_compiler::hierarchy::Hierarchy;
use strata_compiler::kernel::Kernel;
use strata_compiler::order::Order;
use strata_compiler::program::{Location, Origin, Program};
use strata_compiler::{RegisterLimit, allocate};
use strata_core::image::Flags;
use strata_core::placement::{Placement, Upper};
use strata_core::units::RegisterId;
use strata_ptx::module::{Instruction, LabelId, Operand, VirtualRegister};
use strata_ptx::opcode::Opcode;

use crate::common::{Random, random_kernel, registers, shapes};
use crate::kernels::kernels;

/// Lanes of a warp here: enough for every kind of split.
const LANES: usize = 4;
/// Instructions before a run ends.
const STEPS: usize = 400;

type Mask = u8;

/// A value is the number of the execution that made it; 0 was never made. Constants have numbers of
/// their own: one instruction makes the same each time.
type Value = u32;

/// The first number of a constant.
const CONSTANTS: Value = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    General(u16),
    Predicate(u16),
}

/// Lanes to execute from `pc` until `join`.
#[derive(Debug)]
struct Entry {
    pc: usize,
    join: Option<usize>,
    mask: Mask,
    stopped: Option<Stop>,
}

/// Why lanes let others go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Members,
    Other,
}

struct Warp<'a> {
    kernel: &'a Kernel,
    program: &'a Program,
    order: Order,
    random: Random,
    clock: Value,
    virtual_registers: Vec<[Value; LANES]>,
    physical: BTreeMap<Unit, [Value; LANES]>,
    /// Words of the spill slots.
    slots: BTreeMap<i64, [Value; LANES]>,
    /// Registers that a last use or a never-read write declared dead.
    dead: BTreeSet<Unit>,
    /// Registers declared not to be read before the next deschedule.
    far: BTreeSet<Unit>,
    /// Lanes whose long-latency result in a register came after the last deschedule.
    pending: BTreeMap<Unit, Mask>,
    /// Lanes whose value may lie where shared units do not reach.
    private: BTreeMap<Unit, Mask>,
    stack: Vec<Entry>,
    /// The entry that executes.
    current: usize,
    /// Times that lanes went on from where the sides of a branch meet.
    left: u32,
    /// Bits that were seen set, of all four kinds.
    bits: u32,
    /// What the levels hold, if the program was fitted to a hierarchy.
    levels: Option<ValuesInLevels<'a>>,
}

/// What a lane finds in an entry after a deschedule.
const LOST: Value = Value::MAX;

/// The levels of a compiler-managed hierarchy, with values.
struct ValuesInLevels<'a> {
    hierarchy: &'a Hierarchy,
    main: BTreeMap<u16, [Value; LANES]>,
    upper: BTreeMap<Upper, [Value; LANES]>,
    /// Reads served above the main register file.
    served: u32,
}

impl ValuesInLevels<'_> {
    fn empty(&mut self) {
        self.upper.values_mut().for_each(|entry| *entry = [LOST; LANES]);
    }

    /// What a lane reads from where its slot says.
    fn read(&mut self, slot: usize, register: RegisterId, lane: usize) -> Value {
        let placement = self.hierarchy.placements[slot];
        let main = || self.main.get(&register.0).map_or(0, |values| values[lane]);
        match placement.upper {
            Some(upper) if !placement.main => {
                self.served += 1;
                self.upper.get(&upper).map_or(LOST, |values| values[lane])
            }
            _ => main(),
        }
    }

    /// A first read leaves its value for later ones.
    fn fill(&mut self, slot: usize, register: RegisterId, lane: usize) {
        if let Placement { main: true, upper: Some(upper) } = self.hierarchy.placements[slot] {
            let value = self.main.get(&register.0).map_or(0, |values| values[lane]);
            self.upper.entry(upper).or_insert([LOST; LANES])[lane] = value;
        }
    }

    fn write(&mut self, slot: usize, register: RegisterId, lane: usize, value: Value) {
        let placement = self.hierarchy.placements[slot];
        if placement.main {
            self.main.entry(register.0).or_default()[lane] = value;
        }
        if let Some(upper) = placement.upper {
            self.upper.entry(upper).or_insert([LOST; LANES])[lane] = value;
        }
    }
}

/// First word of the slot of a store or fill.
fn slot_of(instruction: &Instruction) -> i64 {
    match instruction.sources[0] {
        Operand::Address { offset, .. } => offset / 4,
        _ => panic!("{instruction:?} has no address"),
    }
}

/// A store or fill with the kernel's register.
fn named(spill: &Instruction, value: VirtualRegister) -> Instruction {
    let mut named = spill.clone();
    for operand in named.sources.iter_mut().chain(&mut named.destinations) {
        if let Operand::Register(register) = operand {
            *register = value;
        }
    }
    named
}

impl<'a> Warp<'a> {
    fn new(kernel: &'a Kernel, program: &'a Program, seed: u64) -> Self {
        Self {
            kernel,
            program,
            order: Order::new(program),
            random: Random::new(seed),
            clock: 0,
            virtual_registers: vec![[0; LANES]; kernel.registers.len()],
            physical: BTreeMap::new(),
            slots: BTreeMap::new(),
            dead: BTreeSet::new(),
            far: BTreeSet::new(),
            pending: BTreeMap::new(),
            private: BTreeMap::new(),
            stack: vec![Entry { pc: 0, join: None, mask: (1 << LANES) - 1, stopped: None }],
            current: 0,
            left: 0,
            bits: 0,
            levels: None,
        }
    }

    fn run(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.stack.retain(|entry| entry.mask != 0);
            if self.stack.is_empty() {
                return Ok(());
            }
            let Some(current) = self.choose() else {
                self.wake();
                continue;
            };
            let entry = &self.stack[current];
            if Some(entry.pc) == entry.join {
                self.stack.remove(current);
                continue;
            }
            let (pc, mask) = (entry.pc, entry.mask);
            self.current = current;
            self.step(pc, mask).map_err(|problem| format!("at {pc}: {problem}"))?;
        }
        Ok(())
    }

    /// The topmost entry that has not stopped and none of whose lanes is in one above.
    fn choose(&self) -> Option<usize> {
        let mut above = 0;
        for (index, entry) in self.stack.iter().enumerate().rev() {
            if entry.stopped.is_none() && entry.mask & above == 0 {
                return Some(index);
            }
            above |= entry.mask;
        }
        None
    }

    /// Has someone go on: lanes for which others wait, if they are about to exit, or lanes that
    /// stopped.
    fn wake(&mut self) {
        let (mut above, mut waiting) = (0, 0);
        for index in (0..self.stack.len()).rev() {
            let Entry { pc, join, mask, stopped } = self.stack[index];
            let here = mask & !above;
            let last = stopped.is_none() && self.order.is_before_end(pc);
            if last && here != 0 && mask & waiting != 0 && !self.random.one_in(4) {
                self.stack[index].mask &= above;
                self.stack.insert(index, Entry { pc, join, mask: here, stopped });
                self.left += 1;
                return;
            }
            above |= mask;
            if stopped == Some(Stop::Members) {
                waiting |= mask;
            }
        }
        let stopped: Vec<usize> =
            (0..self.stack.len()).filter(|&index| self.stack[index].stopped.is_some()).collect();
        let which = stopped[self.random.below(stopped.len())];
        self.stack[which].stopped = None;
    }

    /// Lanes stop behind an instruction, perhaps.
    fn stop(&mut self, pc: usize, next: usize) {
        let record = &self.program.image.instructions[pc];
        let stop = if self.program.instructions[pc].instruction.modifiers.sync {
            Stop::Members
        } else if record.flags.contains(Flags::BARRIER) || self.order.may_turn(pc, next) {
            Stop::Other
        } else {
            return;
        };
        if !self.random.one_in(3) {
            self.stack[self.current].stopped = Some(stop);
        }
    }

    fn dice(&mut self, mask: Mask) -> Mask {
        // All and none are as likely as anything between.
        match self.random.below(4) {
            0 => mask,
            1 => 0,
            _ => mask & self.random.below(1 << LANES) as Mask,
        }
    }

    fn step(&mut self, pc: usize, mask: Mask) -> Result<(), String> {
        let (kernel, program) = (self.kernel, self.program);
        for dropped in program.dropped.iter().filter(|dropped| dropped.before as usize == pc) {
            let definition = dropped.definition as usize;
            self.make(definition, mask);
        }
        let theirs = &program.instructions[pc].instruction;
        let ours = match program.instructions[pc].origin {
            Origin::Kernel(number) | Origin::Again(number) => &kernel.instructions[number as usize],
            // Registers of a store or fill: the operands are in the same order.
            Origin::Store(value) | Origin::Fill(value) => &named(theirs, value),
        };
        let taken = if ours.guard.is_some() { self.dice(mask) } else { mask };
        if let (Some(ours), Some(theirs)) = (ours.guard, theirs.guard) {
            self.compare(ours.register, theirs.register, mask)?;
        }
        if program.image.instructions[pc].flags.contains(Flags::DESCHEDULE_BEFORE) {
            // A possible deschedule, whether or not a lane executes the instruction.
            self.far.clear();
        }
        if taken != 0 {
            self.operands(pc, ours, taken)?;
            self.results(pc, theirs, taken);
        }
        self.go(pc, ours, mask, taken);
        Ok(())
    }

    /// What an instruction of the kernel gives to its registers.
    fn make(&mut self, number: usize, mask: Mask) {
        let instruction = &self.kernel.instructions[number];
        for register in registers(&instruction.destinations) {
            self.clock += 1;
            let constant = matches!(instruction.sources[..], [Operand::Integer(_)]);
            let made = if constant { CONSTANTS + number as Value } else { self.clock };
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                self.virtual_registers[register.index()][lane] = made;
            }
        }
    }

    fn units(&self, register: VirtualRegister) -> Vec<Unit> {
        match self.program.registers[register.index()].location {
            Location::General { first, count } => {
                (first..first + u16::from(count)).map(Unit::General).collect()
            }
            Location::Predicate(number) => vec![Unit::Predicate(number)],
            Location::Unused => Vec::new(),
        }
    }

    /// Where the kernel's register has a value, the program's has the same.
    fn compare(
        &self,
        ours: VirtualRegister,
        theirs: VirtualRegister,
        mask: Mask,
    ) -> Result<(), String> {
        let name = &self.kernel.registers[ours.index()].name;
        for unit in self.units(theirs) {
            let found = self.physical.get(&unit).copied().unwrap_or_default();
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                let expected = self.virtual_registers[ours.index()][lane];
                if expected != 0 && found[lane] != expected {
                    return Err(format!(
                        "lane {lane} reads {} for {name} = {expected} from {unit:?}",
                        found[lane]
                    ));
                }
                if expected != 0 && self.dead.contains(&unit) {
                    return Err(format!("{name} is read from {unit:?} after its last use"));
                }
            }
        }
        Ok(())
    }

    fn operands(&mut self, pc: usize, ours: &Instruction, mask: Mask) -> Result<(), String> {
        let program = self.program;
        let record = &program.image.instructions[pc];
        let image = program.image.borrow();
        let theirs = &program.instructions[pc].instruction;
        let sources = image.sources(record);
        let waits = |source: &&RegisterId| {
            let lanes = self.pending.get(&Unit::General(source.0)).copied();
            lanes.unwrap_or_default() & mask != 0
        };
        if let Some(source) = sources.iter().find(waits) {
            if !record.flags.contains(Flags::DESCHEDULE_BEFORE) {
                return Err(format!("{source:?} is pending and the instruction is not marked"));
            }
            self.pending.clear();
            self.levels.iter_mut().for_each(ValuesInLevels::empty);
        }
        if record.unit.is_shared_datapath() {
            for source in sources {
                let lanes = self.private.get(&Unit::General(source.0)).copied();
                if lanes.unwrap_or_default() & mask != 0 {
                    return Err(format!("{source:?} is out of a shared unit's reach"));
                }
            }
        }
        self.operands_at_levels(pc, mask)?;
        let all = registers(&ours.sources);
        for (ours, theirs) in all.into_iter().zip(registers(&theirs.sources)) {
            self.compare(ours, theirs, mask)?;
            let defined = (0..LANES).any(|lane| {
                mask >> lane & 1 != 0 && self.virtual_registers[ours.index()][lane] != 0
            });
            if defined && self.units(theirs).iter().any(|unit| self.far.contains(unit)) {
                return Err(format!("{ours:?} was not to be read before the next deschedule"));
            }
        }
        for (slot, source) in sources.iter().enumerate() {
            self.bits |= (record.last_use | record.last_use_before_deschedule) >> slot & 1;
            if record.last_use >> slot & 1 != 0 {
                self.dead.insert(Unit::General(source.0));
            }
            if record.last_use_before_deschedule >> slot & 1 != 0 {
                self.far.insert(Unit::General(source.0));
            }
        }
        if record.flags.contains(Flags::BARRIER) {
            self.pending.clear();
            self.far.clear();
            self.levels.iter_mut().for_each(ValuesInLevels::empty);
        }
        Ok(())
    }

    /// Every operand that has a value is where its slot says.
    fn operands_at_levels(&mut self, pc: usize, mask: Mask) -> Result<(), String> {
        let Some(levels) = &mut self.levels else { return Ok(()) };
        let image = self.program.image.borrow();
        let record = &image.instructions[pc];
        let first = record.first_slot as usize;
        let lanes = || (0..LANES).filter(|lane| mask >> lane & 1 != 0);
        for (slot, &register) in image.sources(record).iter().enumerate() {
            let present = self.physical.get(&Unit::General(register.0)).copied();
            for lane in lanes() {
                let expected = present.unwrap_or_default()[lane];
                let found = levels.read(first + slot, register, lane);
                if expected != 0 && found != expected {
                    let placement = levels.hierarchy.placements[first + slot];
                    return Err(format!(
                        "lane {lane} finds {found} for {register:?} = {expected} at {placement:?}"
                    ));
                }
            }
        }
        for (slot, &register) in image.sources(record).iter().enumerate() {
            lanes().for_each(|lane| levels.fill(first + slot, register, lane));
        }
        Ok(())
    }

    /// Leaves a result where its slot says.
    fn result_to_levels(&mut self, slot: usize, register: RegisterId, mask: Mask) {
        let Some(levels) = &mut self.levels else { return };
        let values = self.physical.get(&Unit::General(register.0)).copied().unwrap_or_default();
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            levels.write(slot, register, lane, values[lane]);
        }
    }

    fn results(&mut self, pc: usize, theirs: &Instruction, mask: Mask) {
        let record = &self.program.image.instructions[pc];
        let origin = self.program.instructions[pc].origin;
        let ours = match origin {
            Origin::Kernel(number) | Origin::Again(number) => {
                registers(&self.kernel.instructions[number as usize].destinations)
            }
            Origin::Store(_) => Vec::new(),
            Origin::Fill(value) => vec![value],
        };
        if let Origin::Kernel(number) = origin {
            self.make(number as usize, mask);
        }
        if let Origin::Store(_) = origin {
            let stored: Vec<Unit> = registers(&theirs.sources)
                .into_iter()
                .flat_map(|register| self.units(register))
                .collect();
            for (unit, word) in stored.into_iter().zip(slot_of(theirs)..) {
                let from = self.physical.get(&unit).copied().unwrap_or_default();
                let to = self.slots.entry(word).or_default();
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                    to[lane] = from[lane];
                }
            }
        }
        for (ours, theirs_register) in ours.into_iter().zip(registers(&theirs.destinations)) {
            for (part, unit) in self.units(theirs_register).into_iter().enumerate() {
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                    let value = match origin {
                        Origin::Fill(_) => {
                            let word = slot_of(theirs) + part as i64;
                            self.slots.get(&word).map_or(0, |lanes| lanes[lane])
                        }
                        Origin::Again(number) => CONSTANTS + number,
                        _ => self.virtual_registers[ours.index()][lane],
                    };
                    self.physical.entry(unit).or_default()[lane] = value;
                }
            }
            for unit in self.units(theirs_register) {
                self.dead.remove(&unit);
                self.far.remove(&unit);
                *self.pending.entry(unit).or_default() &= !mask;
            }
        }
        let image = self.program.image.borrow();
        let first = record.first_slot as usize + usize::from(record.sources);
        for (slot, result) in image.destinations(record).iter().enumerate() {
            let unit = Unit::General(result.0);
            self.result_to_levels(first + slot, *result, mask);
            self.bits |= (record.never_read | record.not_read_before_deschedule) >> slot & 1;
            let private = self.private.entry(unit).or_default();
            *private = if record.private_reads >> slot & 1 != 0 {
                *private | mask
            } else {
                *private & !mask
            };
            if record.never_read >> slot & 1 != 0 {
                self.dead.insert(unit);
            }
            if record.not_read_before_deschedule >> slot & 1 != 0 {
                self.far.insert(unit);
            }
            if record.flags.contains(Flags::LONG_LATENCY) {
                *self.pending.entry(unit).or_default() |= mask;
            }
        }
    }

    fn target(&self, label: LabelId) -> usize {
        self.program.targets[label.index()] as usize
    }

    /// Moves the lanes on.
    fn go(&mut self, pc: usize, instruction: &Instruction, mask: Mask, taken: Mask) {
        let mut groups: BTreeMap<usize, Mask> = BTreeMap::new();
        match instruction.opcode {
            Opcode::Bra => {
                let Operand::Label(label) = instruction.sources[0] else { return };
                *groups.entry(self.target(label)).or_default() |= taken;
                *groups.entry(pc + 1).or_default() |= mask & !taken;
            }
            Opcode::Brx => {
                let Operand::BranchTable(table) = instruction.sources[1] else { return };
                let table = self.program.branch_tables[table as usize].clone();
                for lane in (0..LANES).filter(|lane| taken >> lane & 1 != 0) {
                    let entry = if lane % 2 == 0 { 0 } else { self.random.below(table.len()) };
                    *groups.entry(table[entry] as usize).or_default() |= 1 << lane;
                }
                *groups.entry(pc + 1).or_default() |= mask & !taken;
            }
            Opcode::Ret | Opcode::Exit | Opcode::Trap => {
                for entry in &mut self.stack {
                    entry.mask &= !taken;
                }
                *groups.entry(pc + 1).or_default() |= mask & !taken;
            }
            _ => *groups.entry(pc + 1).or_default() |= mask,
        }
        groups.retain(|_, mask| *mask != 0);
        let entry = &mut self.stack[self.current];
        if groups.len() <= 1 {
            if let Some(&next) = groups.keys().next() {
                entry.pc = next;
                if taken != 0 {
                    self.stop(pc, next);
                }
            }
            return;
        }
        let join = self.program.instructions[pc].reconvergence.map(|pc| pc as usize);
        match join {
            Some(join) => entry.pc = join,
            None => entry.mask = 0,
        }
        let mut sides: Vec<(usize, Mask)> = groups.into_iter().collect();
        while !sides.is_empty() {
            let (pc, mask) = sides.swap_remove(self.random.below(sides.len()));
            self.stack.insert(self.current + 1, Entry { pc, join, mask, stopped: None });
        }
    }
}

/// Runs a kernel with several seeds; returns the bits seen.
fn run(kernel: &Kernel, program: &Program, seeds: u64) -> Result<u32, String> {
    let mut bits = 0;
    for seed in 0..seeds {
        let mut warp = Warp::new(kernel, program, seed);
        warp.run().map_err(|problem| format!("run {seed}: {problem}"))?;
        bits |= warp.bits;
    }
    Ok(bits)
}

/// Runs a kernel fitted to a hierarchy with several seeds; returns the reads served above the main
/// register file.
pub(crate) fn run_at_levels(
    kernel: &Kernel,
    program: &Program,
    hierarchy: &Hierarchy,
    seeds: u64,
) -> Result<u32, String> {
    let mut served = 0;
    for seed in 0..seeds {
        let mut warp = Warp::new(kernel, program, seed);
        let (main, upper) = (BTreeMap::new(), BTreeMap::new());
        warp.levels = Some(ValuesInLevels { hierarchy, main, upper, served: 0 });
        warp.run().map_err(|problem| format!("run {seed}: {problem}"))?;
        served += warp.levels.map_or(0, |levels| levels.served);
    }
    Ok(served)
}

#[test]
fn random_kernels_keep_their_values_and_promises() {
    let mut bits = 0;
    for seed in 0..150 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let program = allocate(&kernel, None).expect("random kernels are small");
            match run(&kernel, &program, 8) {
                Ok(seen) => bits |= seen,
                Err(problem) => panic!("kernel {seed}, {shape:?}: {problem}"),
            }
        }
    }
    assert_eq!(bits, 1, "no bit was ever set");
}

#[test]
fn spilled_kernels_keep_their_values_and_promises() {
    let (mut spilled, mut again) = (0, 0);
    for seed in 0..50 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let limit = RegisterLimit::new(16 + (seed % 5) as u16 * 2);
            let program = allocate(&kernel, limit).expect("operands fit");
            let limit = limit.map_or(0, RegisterLimit::get);
            assert!(program.general_registers <= limit, "kernel {seed}, {shape:?}");
            spilled += u32::from(program.spill_bytes > 0);
            let repeats = |i: &&strata_compiler::program::ProgramInstruction| {
                matches!(i.origin, Origin::Again(_))
            };
            again += program.instructions.iter().filter(repeats).count();
            if let Err(violations) = strata_compiler::checker::check(&kernel, &program) {
                panic!("kernel {seed}, {shape:?} in {limit}: {}", violations[0]);
            }
            if let Err(problem) = run(&kernel, &program, 6) {
                panic!("kernel {seed}, {shape:?} in {limit}: {problem}");
            }
        }
    }
    assert!(spilled > 120 && again > 120, "{spilled} spilled, {again} made again");
}

#[test]
fn real_kernels_keep_their_values_and_promises() {
    for kernel in kernels() {
        let program = allocate(&kernel, None).expect("real kernels fit");
        match run(&kernel, &program, 40) {
            // Nothing but the loop's own values is ever read in there.
            Ok(bits) => assert!(bits == 1 || kernel.name == "forever", "{}", kernel.name),
            Err(problem) => panic!("{}: {problem}", kernel.name),
        }
    }
}

/// The runs above can fail: each kind of fault shows in some run of a kernel.
#[test]
fn runs_notice_what_is_wrong() {
    let kernel = kernels().into_iter().find(|kernel| kernel.name == "nested_loops");
    let kernel = kernel.expect("in nvcc.ptx");
    let good = allocate(&kernel, None).expect("small");
    let fault = |name: &str, message: &str, change: &dyn Fn(&mut Program)| {
        let mut program = good.clone();
        change(&mut program);
        let problem = run(&kernel, &program, 20).expect_err(name);
        assert!(problem.contains(message), "{name}: {problem}");
    };
    let each = |change: fn(&mut strata_core::image::StaticInstruction)| {
        move |program: &mut Program| program.image.instructions.iter_mut().for_each(change)
    };
    fault("marks", "is not marked", &each(|r| r.flags.remove(Flags::DESCHEDULE_BEFORE)));
    fault("last use", "after its last use", &each(|r| r.last_use = u32::MAX));
    fault("never read", "after its last use", &each(|r| r.never_read = u32::MAX));
    let soon = "was not to be read";
    fault("last soon", soon, &each(|r| r.last_use_before_deschedule = u32::MAX));
    fault("not soon", soon, &each(|r| r.not_read_before_deschedule = u32::MAX));
    fault("private", "out of a shared unit's reach", &each(|r| r.private_reads = u32::MAX));
    fault("places", "reads", &|program| {
        for register in &mut program.registers {
            if let Location::General { first, .. } = &mut register.location {
                *first = 0;
            }
        }
    });
}
