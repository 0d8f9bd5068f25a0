//! Reordering: a kernel's instructions as a machine's final compiler might have ordered them.
//!
//! PTX comes in the order of the source: a load stands right before its reader. The final compiler,
//! whose method no source describes, moves loads up and interleaves what does not depend on each
//! other. [`reordered`] does that to a recorded launch by list scheduling, block by block, so that
//! a study can tell what the order of instructions does to time (DEV-020). It is no model of a real
//! compiler: registers are renamed without limit, and nothing crosses a block.
//!
//! Only time may be taken from a reordered kernel of a flat design: its hints of liveness are for
//! the old order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::ops::Range;

use strata_compiler::program::Image;
use strata_core::image::{Flags, MemorySpace, StaticInstruction, Unit};
use strata_core::sm::config::Timing;
use strata_core::units::RegisterId;
use strata_simt::paths::PathDictionary;

/// Registers that renaming may add to a kernel's own.
const MOST_ADDED: u16 = 8192;

/// Instructions that nothing moves across.
const FENCES: Flags = Flags::BRANCH.union(Flags::BARRIER).union(Flags::EXIT);

/// One instruction while it is moved.
#[derive(Clone, Debug)]
struct Mobile {
    /// Its place in the old order.
    from: usize,
    sources: Vec<RegisterId>,
    destinations: Vec<RegisterId>,
}

/// The kernel with the instructions of each block in a new order, which `timing` chose.
///
/// A block is what every recorded warp executes from its first to its last instruction, under one
/// mask, so that the recorded paths are paths of the new kernel too. Instructions that move bytes
/// keep their order. Every instruction may deschedule, and the kernel's register number grows by
/// what renaming needed. Cost: linear in the instructions but for a logarithm, and in the paths.
pub fn reordered(image: &Image, paths: &PathDictionary, timing: &Timing) -> Image {
    let mut mobiles: Vec<Mobile> =
        (0..image.instructions.len()).map(|pc| mobile(image, pc)).collect();
    let mut registers = image.registers;
    for block in blocks(image, paths) {
        registers = registers.max(rename(&mut mobiles[block.clone()], image.registers));
        let order = list_schedule(&mobiles[block.clone()], &image.instructions, timing);
        let block = &mut mobiles[block];
        let moved: Vec<Mobile> = order.into_iter().map(|place| block[place].clone()).collect();
        block.clone_from_slice(&moved);
    }
    let mut slots = Vec::with_capacity(image.slots.len());
    let mut instructions = Vec::with_capacity(mobiles.len());
    for Mobile { from, sources, destinations } in mobiles {
        let mut instruction = image.instructions[from];
        instruction.first_slot = slots.len() as u32;
        instruction.flags |= Flags::DESCHEDULE_BEFORE;
        instructions.push(instruction);
        slots.extend(sources);
        slots.extend(destinations);
    }
    Image { instructions, slots, registers }
}

fn mobile(image: &Image, pc: usize) -> Mobile {
    let (kernel, instruction) = (image.borrow(), &image.instructions[pc]);
    Mobile {
        from: pc,
        sources: kernel.sources(instruction).to_vec(),
        destinations: kernel.destinations(instruction).to_vec(),
    }
}

/// Instructions that may change places: between fences, and between the ends of recorded runs.
fn blocks(image: &Image, paths: &PathDictionary) -> Vec<Range<usize>> {
    let end = image.instructions.len();
    let mut cuts = BTreeSet::from([0, end]);
    for run in paths.iter().flat_map(|(path, _)| path) {
        cuts.extend([run.pc as usize, (run.pc + run.length) as usize]);
    }
    for (pc, instruction) in image.instructions.iter().enumerate() {
        if instruction.flags.intersects(FENCES) {
            cuts.extend([pc, pc + 1]);
        }
    }
    let cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= end).collect();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Gives every result of a block that a later one of the block overwrites a register of its own, in
/// its old bank, from `first` on. Returns how many registers the kernel needs then.
fn rename(block: &mut [Mobile], first: u16) -> u16 {
    let mut last_writer = HashMap::new();
    for (place, one) in block.iter().enumerate() {
        last_writer.extend(one.destinations.iter().map(|&register| (register, place)));
    }
    let limit = first.saturating_add(MOST_ADDED);
    let base = first.next_multiple_of(4);
    let mut next = [0, 1, 2, 3].map(|bank| base + bank);
    let mut names: HashMap<RegisterId, RegisterId> = HashMap::new();
    let mut registers = first;
    for (place, one) in block.iter_mut().enumerate() {
        for source in &mut one.sources {
            *source = names.get(source).copied().unwrap_or(*source);
        }
        for destination in &mut one.destinations {
            let old = *destination;
            let fresh = &mut next[usize::from(old.0 % 4)];
            if last_writer[&old] == place || *fresh >= limit {
                names.remove(&old);
                continue;
            }
            *destination = RegisterId(*fresh);
            names.insert(old, *destination);
            registers = registers.max(*fresh + 1);
            *fresh += 4;
        }
    }
    registers
}

/// What a register or predicate has seen of a block so far: places of instructions.
#[derive(Clone, Debug, Default)]
struct History {
    writer: Option<usize>,
    readers: Vec<usize>,
}

/// Which instructions of a block wait for which, and for how many cycles.
struct Dependences {
    /// For each instruction, its later dependents.
    dependents: Vec<Vec<(usize, u64)>>,
    /// For each instruction, how many it waits for.
    waits: Vec<usize>,
}

impl Dependences {
    fn add(&mut self, earlier: usize, later: usize, cycles: u64) {
        self.dependents[earlier].push((later, cycles));
        self.waits[later] += 1;
    }

    fn read(&mut self, history: &mut History, place: usize, latencies: &[u64]) {
        if let Some(writer) = history.writer {
            self.add(writer, place, latencies[writer]);
        }
        history.readers.push(place);
    }

    fn write(&mut self, history: &mut History, place: usize, latencies: &[u64]) {
        for reader in history.readers.drain(..).filter(|&reader| reader != place) {
            self.add(reader, place, 1);
        }
        if let Some(writer) = history.writer.replace(place).filter(|&writer| writer != place) {
            self.add(writer, place, latencies[writer]);
        }
    }

    fn of(block: &[Mobile], code: &[StaticInstruction], latencies: &[u64]) -> Self {
        let mut all = Self { dependents: vec![vec![]; block.len()], waits: vec![0; block.len()] };
        let mut registers: HashMap<RegisterId, History> = HashMap::new();
        let mut predicates: [History; 32] = Default::default();
        let mut last_access = None;
        for (place, one) in block.iter().enumerate() {
            let instruction = &code[one.from];
            let has = |set: u32, bit: usize| set >> bit & 1 != 0;
            for &source in &one.sources {
                all.read(registers.entry(source).or_default(), place, latencies);
            }
            for (bit, history) in predicates.iter_mut().enumerate() {
                if has(instruction.predicates.read, bit) {
                    all.read(history, place, latencies);
                }
                if has(instruction.predicates.written, bit) {
                    all.write(history, place, latencies);
                }
            }
            for &destination in &one.destinations {
                all.write(registers.entry(destination).or_default(), place, latencies);
            }
            if instruction.moves_bytes()
                && let Some(earlier) = last_access.replace(place)
            {
                all.add(earlier, place, 1);
            }
        }
        all
    }
}

/// A new order of a block: places in the old one. Of the instructions whose operands are there, the
/// one with the longest chain of dependents goes first.
fn list_schedule(block: &[Mobile], code: &[StaticInstruction], timing: &Timing) -> Vec<usize> {
    let latencies: Vec<u64> =
        block.iter().map(|one| u64::from(latency(&code[one.from], timing))).collect();
    let Dependences { dependents, mut waits } = Dependences::of(block, code, &latencies);
    let mut chains = vec![0_u64; block.len()];
    for place in (0..block.len()).rev() {
        let longest = dependents[place].iter().map(|&(later, cycles)| chains[later] + cycles).max();
        chains[place] = longest.unwrap_or(0);
    }
    let mut earliest = vec![0_u64; block.len()];
    // By the cycle in which their operands are there; and those whose operands are there.
    let mut coming = BinaryHeap::new();
    let mut ready = BinaryHeap::new();
    coming.extend(
        (0..block.len()).filter(|&place| waits[place] == 0).map(|place| Reverse((0, place))),
    );
    let mut order = Vec::with_capacity(block.len());
    let mut now = 0;
    while order.len() < block.len() {
        if ready.is_empty()
            && let Some(&Reverse((cycle, _))) = coming.peek()
        {
            now = now.max(cycle);
        }
        while let Some(&Reverse((cycle, place))) = coming.peek()
            && cycle <= now
        {
            coming.pop();
            ready.push((chains[place], Reverse(place)));
        }
        let Some((_, Reverse(place))) = ready.pop() else { break };
        order.push(place);
        for &(later, cycles) in &dependents[place] {
            earliest[later] = earliest[later].max(now + cycles);
            waits[later] -= 1;
            if waits[later] == 0 {
                coming.push(Reverse((earliest[later], later)));
            }
        }
        now += 1;
    }
    order
}

fn latency(instruction: &StaticInstruction, timing: &Timing) -> u16 {
    match (instruction.unit, instruction.space) {
        (Unit::Alu | Unit::Control, _) => timing.alu_latency,
        (Unit::DoublePrecision, _) => timing.double_latency,
        (Unit::Sfu, _) => timing.special_function_latency,
        (Unit::Texture, _) => timing.texture_latency,
        (Unit::Memory, Some(MemorySpace::Shared)) => timing.shared_latency,
        (Unit::Memory, Some(MemorySpace::Constant)) => timing.constant_latency,
        (Unit::Memory, _) => timing.dram_latency,
    }
}

#[cfg(test)]
mod tests {
    use strata_core::image::Predicates;
    use strata_core::path::PathStep;
    use strata_core::units::LaneMask;
    use strata_simt::paths::WarpPath;

    use super::*;
    use crate::workload::generator::SplitMix64;

    /// An instruction that carries its old place in `last_use`.
    fn instruction(image: &mut Image, unit: Unit, sources: &[u16], destinations: &[u16]) {
        image.instructions.push(StaticInstruction {
            first_slot: image.slots.len() as u32,
            sources: sources.len() as u8,
            destinations: destinations.len() as u8,
            space: (unit == Unit::Memory).then_some(MemorySpace::Shared),
            last_use: image.instructions.len() as u32,
            ..StaticInstruction::new(unit)
        });
        let registers = sources.iter().chain(destinations);
        image.slots.extend(registers.map(|&register| RegisterId(register)));
    }

    fn image(registers: u16) -> Image {
        Image { instructions: vec![], slots: vec![], registers }
    }

    /// One warp that runs through the whole kernel, in runs of these lengths and the rest.
    fn paths(image: &Image, lengths: &[u32]) -> PathDictionary {
        let end = image.instructions.len() as u32;
        let (mut steps, mut pc) = (vec![], 0);
        for &length in lengths.iter().chain([&end]) {
            let length = length.min(end - pc);
            if length > 0 {
                steps.push(PathStep { pc, length, mask: LaneMask::FULL });
            }
            pc += length;
        }
        let ends = vec![steps.len()];
        PathDictionary::from_parts(steps, ends, vec![WarpPath { cta: 0, warp: 0, path: 0 }])
            .unwrap()
    }

    fn places(image: &Image) -> Vec<u32> {
        image.instructions.iter().map(|instruction| instruction.last_use).collect()
    }

    /// For each instruction, by its old place, which results its operands are; last, what is left
    /// in the registers of the old kernel, and in the predicates.
    fn flow(image: &Image, registers: u16) -> Vec<Vec<(u32, u32)>> {
        const NOBODY: u32 = u32::MAX;
        let start = |count: usize| (0..count as u32).map(|at| (NOBODY, at)).collect::<Vec<_>>();
        let (mut values, mut bits) = (start(usize::from(image.registers)), start(32));
        let mut flow = vec![vec![]; image.instructions.len()];
        for instruction in &image.instructions {
            let place = instruction.last_use;
            let used = &mut flow[place as usize];
            let sources = image.borrow().sources(instruction);
            used.extend(sources.iter().map(|source| values[usize::from(source.0)]));
            let Predicates { read, written } = instruction.predicates;
            used.extend((0..32).filter(|bit| read >> bit & 1 != 0).map(|bit| bits[bit]));
            for (index, result) in image.borrow().destinations(instruction).iter().enumerate() {
                values[usize::from(result.0)] = (place, index as u32);
            }
            for bit in (0..32).filter(|bit| written >> bit & 1 != 0) {
                bits[bit] = (place, 100);
            }
        }
        values.truncate(usize::from(registers));
        flow.push(values);
        flow.push(bits);
        flow
    }

    #[test]
    fn loads_move_up_and_their_readers_down() {
        let mut old = image(4);
        for _ in 0..2 {
            instruction(&mut old, Unit::Memory, &[0], &[1]);
            instruction(&mut old, Unit::Alu, &[1, 2], &[2]);
        }
        let new = reordered(&old, &paths(&old, &[]), &Timing::ISCA11);
        assert_eq!(places(&new), [0, 2, 1, 3]);
        // The first load's register is its own now, in the bank of register 1.
        assert_eq!(new.slots[..4].iter().map(|slot| slot.0).collect::<Vec<_>>(), [0, 5, 0, 1]);
        assert_eq!(new.registers, 7, "the first sum in register 6, of the bank of register 2");
    }

    #[test]
    fn nothing_moves_across_the_end_of_a_run() {
        let mut old = image(4);
        for _ in 0..2 {
            instruction(&mut old, Unit::Memory, &[0], &[1]);
            instruction(&mut old, Unit::Alu, &[1, 2], &[2]);
        }
        let new = reordered(&old, &paths(&old, &[2]), &Timing::ISCA11);
        assert_eq!(places(&new), [0, 1, 2, 3]);
        assert_eq!(new.slots, old.slots);
    }

    #[test]
    fn every_operand_is_the_result_it_was() {
        let units = [Unit::Alu, Unit::Memory, Unit::Sfu, Unit::Alu, Unit::Control, Unit::Texture];
        let mut moved = 0;
        for seed in 0..400 {
            let mut random = SplitMix64::new(seed);
            let mut below = |limit: u64| random.below(limit);
            let registers = 1 + below(12) as u16;
            let mut old = image(registers);
            for _ in 0..below(60) {
                let unit = units[below(units.len() as u64) as usize];
                let mut some = |most: u64| -> Vec<u16> {
                    (0..below(most + 1)).map(|_| below(u64::from(registers)) as u16).collect()
                };
                let (sources, destinations) = (some(4), some(2));
                instruction(&mut old, unit, &sources, &destinations);
                let last = old.instructions.last_mut().unwrap();
                if below(4) == 0 {
                    last.predicates = Predicates { read: 1 << below(3), written: 1 << below(3) };
                }
                if below(10) == 0 {
                    last.flags = [Flags::BRANCH, Flags::BARRIER, Flags::EXIT][below(3) as usize];
                }
            }
            let lengths: Vec<u32> = (0..below(4)).map(|_| below(20) as u32).collect();
            let paths = paths(&old, &lengths);
            let new = reordered(&old, &paths, &Timing::ISCA11);
            assert_eq!(flow(&old, registers), flow(&new, registers), "seed {seed}");
            let accesses = |image: &Image| -> Vec<u32> {
                let all = image.instructions.iter().filter(|one| one.moves_bytes());
                all.map(|one| one.last_use).collect()
            };
            assert_eq!(accesses(&old), accesses(&new), "seed {seed}");
            for block in blocks(&old, &paths) {
                let mut there = places(&new)[block.clone()].to_vec();
                there.sort_unstable();
                assert!(there.iter().copied().eq(block.start as u32..block.end as u32), "{seed}");
            }
            for (pc, one) in old.instructions.iter().enumerate() {
                let fence = one.flags.intersects(FENCES);
                assert!(!fence || places(&new)[pc] == pc as u32, "seed {seed}, {pc}");
            }
            moved += usize::from(places(&new) != places(&old));
        }
        assert!(moved > 200, "{moved} of 400 changed at all");
    }
}
