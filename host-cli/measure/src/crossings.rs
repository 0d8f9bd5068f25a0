//! Crossings: what executed paths carry over the boundaries of strands, which no placement of
//! operands can keep out of the main register file.
//!
//! Models: each lane's own way through the strands; slots that read a register first thing in their
//! strand, values that are read in a later strand.
//! Does not model: levels, and what is live only on paths that were not taken.
//! Source: `[DISS]` 6.5.6; `docs/MODEL.md`, section "Compiler-managed hierarchy".

use strata_core::fault::PathFault;
use strata_core::image::CheckedImage;
use strata_core::path::PathStep;
use strata_core::units::{LANES, LaneMask, RegisterId};
use strata_core::value_usage::ValueOverflow;

/// Values that cross the boundaries of strands. Unit: warp register accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Slots by which some lane reads, for the first time in its strand, a register that it has not
    /// written there. Each is a read of the main register file.
    pub live_in: u64,
    /// Values that some lane reads in a later strand than the one in which it wrote them. Each is a
    /// write of the main register file.
    pub live_out: u64,
}

impl Crossings {
    /// Adds `times` repetitions of another path's values.
    ///
    /// # Errors
    ///
    /// A total that does not fit; nothing is added.
    pub fn add(&mut self, other: &Self, times: u64) -> Result<(), ValueOverflow> {
        let add = |sum: u64, part: u64| sum.checked_add(part.checked_mul(times)?);
        let live_in = add(self.live_in, other.live_in).ok_or(ValueOverflow)?;
        let live_out = add(self.live_out, other.live_out).ok_or(ValueOverflow)?;
        *self = Self { live_in, live_out };
        Ok(())
    }
}

/// Walks one warp's path. `strands` has the strand of each instruction, numbered so that within a
/// strand control only moves forwards.
///
/// # Errors
///
/// A path that leaves the kernel.
pub fn crossings(
    image: CheckedImage<'_>,
    strands: &[u32],
    path: &[PathStep],
) -> Result<Crossings, PathFault> {
    let registers = vec![Register::default(); usize::from(image.registers)];
    let mut walk =
        Walk { strands, last: [None; LANES as usize], registers, found: Crossings::default() };
    for step in path {
        let run = image.run(*step)?;
        if step.mask.is_empty() {
            continue;
        }
        for (pc, instruction) in (step.pc..).zip(run) {
            walk.arrive(pc, *step);
            for &source in image.sources(instruction) {
                walk.read(source, step.mask);
            }
            for &destination in image.destinations(instruction) {
                walk.write(destination, step.mask);
            }
        }
        for lane in lanes(step.mask) {
            walk.last[lane] = Some(step.pc + step.length - 1);
        }
    }
    Ok(walk.found)
}

/// A value that some lanes still hold.
#[derive(Clone, Copy)]
struct Value {
    lanes: LaneMask,
    /// Some lane has read it in a later strand.
    crossed: bool,
}

#[derive(Clone, Default)]
struct Register {
    /// Lanes that have read or written it in their strand.
    met: LaneMask,
    /// Lanes that have written it in their strand.
    written: LaneMask,
    /// Of disjoint lanes.
    values: Vec<Value>,
}

struct Walk<'s> {
    strands: &'s [u32],
    /// The last instruction that each lane executed before the present run.
    last: [Option<u32>; LANES as usize],
    registers: Vec<Register>,
    found: Crossings,
}

impl Walk<'_> {
    /// The run's lanes come to one of its instructions; those that enter a strand with it forget
    /// what they met in the one before.
    ///
    /// A lane may skip the strand's first instruction, whose guard does not hold for it. It is in
    /// another strand all the same, or further back in the one that it has come round to.
    fn arrive(&mut self, pc: u32, run: PathStep) {
        let strand = |pc: u32| self.strands.get(pc as usize);
        let enters = |last: u32| last >= pc || strand(last) != strand(pc);
        let entering = if pc == run.pc {
            let entering = lanes(run.mask).filter(|&lane| self.last[lane].is_some_and(enters));
            LaneMask(entering.fold(0, |all, lane| all | 1 << lane))
        } else if enters(pc - 1) {
            run.mask
        } else {
            LaneMask::EMPTY
        };
        if !entering.is_empty() {
            for register in &mut self.registers {
                register.met = register.met.without(entering);
                register.written = register.written.without(entering);
            }
        }
    }

    fn read(&mut self, source: RegisterId, mask: LaneMask) {
        let register = &mut self.registers[usize::from(source.0)];
        if !mask.without(register.met).is_empty() {
            self.found.live_in += 1;
            register.met = register.met.or(mask);
        }
        let from_before = mask.without(register.written);
        for value in &mut register.values {
            if !value.crossed && !value.lanes.and(from_before).is_empty() {
                value.crossed = true;
                self.found.live_out += 1;
            }
        }
    }

    fn write(&mut self, destination: RegisterId, mask: LaneMask) {
        let register = &mut self.registers[usize::from(destination.0)];
        register.met = register.met.or(mask);
        register.written = register.written.or(mask);
        for value in &mut register.values {
            value.lanes = value.lanes.without(mask);
        }
        register.values.retain(|value| !value.lanes.is_empty());
        register.values.push(Value { lanes: mask, crossed: false });
    }
}

fn lanes(mask: LaneMask) -> impl Iterator<Item = usize> {
    (0..LANES as usize).filter(move |lane| mask.0 >> lane & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use strata_core::image::{KernelImage, StaticInstruction, Unit};

    /// Strand, sources and destinations of one instruction.
    type Code = (u32, Vec<u16>, Vec<u16>);

    const FULL: LaneMask = LaneMask::FULL;
    const LEFT: LaneMask = LaneMask(0xffff_0000);
    const RIGHT: LaneMask = LaneMask(0x0000_ffff);

    fn walk(code: &[Code], path: &[PathStep]) -> Crossings {
        let mut slots = Vec::new();
        let instructions = code.iter().map(|(_, read, write)| {
            let first_slot = slots.len() as u32;
            slots.extend(read.iter().chain(write).map(|&register| RegisterId(register)));
            StaticInstruction {
                first_slot,
                sources: read.len() as u8,
                destinations: write.len() as u8,
                ..StaticInstruction::new(Unit::Alu)
            }
        });
        let instructions: Vec<_> = instructions.collect();
        let image = KernelImage { instructions: &instructions, slots: &slots, registers: 8 };
        let strands: Vec<u32> = code.iter().map(|&(strand, ..)| strand).collect();
        crossings(CheckedImage::new(image).unwrap(), &strands, path).unwrap()
    }

    fn code(code: &[(u32, &[u16], &[u16])]) -> Vec<Code> {
        code.iter().map(|(strand, read, write)| (*strand, read.to_vec(), write.to_vec())).collect()
    }

    fn step(pc: u32, length: u32, mask: LaneMask) -> PathStep {
        PathStep { pc, length, mask }
    }

    fn found(live_in: u64, live_out: u64) -> Crossings {
        Crossings { live_in, live_out }
    }

    #[test]
    fn what_a_strand_finds_is_read_once_and_what_it_leaves_written_once() {
        let code = code(&[
            (0, &[], &[1, 2]),
            (0, &[1], &[3]),
            // R1 by both slots of one instruction, R3 twice; R2 is lost unread.
            (1, &[1, 1, 3], &[]),
            (1, &[3], &[2]),
            // R2, R3 again, and R4, which was not written.
            (2, &[2, 3, 4], &[]),
        ]);
        assert_eq!(walk(&code, &[step(0, 5, FULL)]), found(2 + 3, 2 + 1));
    }

    #[test]
    fn each_round_of_a_loop_is_a_strand() {
        // R1 = .. R1 ..; R2 stays; R3 does not leave the round.
        let code = code(&[(0, &[], &[1, 2]), (1, &[1, 2], &[1, 3]), (1, &[3], &[])]);
        let path = [step(0, 3, FULL), step(1, 2, FULL), step(1, 2, FULL)];
        assert_eq!(walk(&code, &path), found(6, 4));
    }

    #[test]
    fn a_lane_that_skips_the_first_instruction_is_in_the_strand_too() {
        let code = code(&[(0, &[], &[1]), (1, &[], &[2]), (1, &[1], &[]), (1, &[1], &[])]);
        // No lane executes the first instruction of strand 1, then the right half alone.
        let path = [step(0, 1, FULL), step(1, 1, LaneMask::EMPTY), step(2, 2, FULL)];
        assert_eq!(walk(&code, &path), found(1, 1));
        let path = [step(0, 1, FULL), step(1, 1, RIGHT), step(2, 2, FULL)];
        assert_eq!(walk(&code, &path), found(1, 1));
        // Another round, which does not begin with the strand's first instruction either.
        let path = [step(0, 1, FULL), step(2, 2, FULL), step(2, 1, FULL)];
        assert_eq!(walk(&code, &path), found(2, 1));
    }

    #[test]
    fn the_sides_of_a_branch_are_accesses_of_their_own() {
        let code = code(&[(0, &[], &[1]), (1, &[1], &[2]), (1, &[1], &[2]), (2, &[1, 2], &[])]);
        let path = [step(0, 1, FULL), step(1, 1, LEFT), step(2, 1, RIGHT), step(3, 1, FULL)];
        // R1 by either side and behind; R2 of either side, read as one.
        assert_eq!(walk(&code, &path), found(2 + 2, 1 + 2));
        // Lanes that stay in their strand find there what the others have to fetch again.
        let path = [step(0, 1, FULL), step(1, 1, FULL), step(1, 1, LEFT), step(2, 1, FULL)];
        assert_eq!(walk(&code, &path), found(1 + 1, 1));
    }

    #[test]
    fn totals_that_do_not_fit_are_refused_whole() {
        let mut sum = found(1, 2);
        sum.add(&found(3, 4), 2).unwrap();
        assert_eq!(sum, found(7, 10));
        assert_eq!(sum.add(&found(0, u64::MAX / 2), 3), Err(ValueOverflow));
        assert_eq!(sum, found(7, 10));
    }

    /// One lane's meeting with a slot.
    #[derive(Clone, Copy)]
    struct Meeting {
        /// Which of the warp's slots, in the order of the path.
        slot: usize,
        register: u16,
        writes: bool,
        /// Which of the lane's strands, from 0.
        strand: usize,
    }

    /// Every lane by itself, looking back at all that it did.
    fn obvious(code: &[Code], path: &[PathStep]) -> Crossings {
        let (mut live_in, mut live_out) = (BTreeSet::new(), BTreeSet::new());
        for lane in 0..LANES {
            let (mut slot, mut strand) = (0, 0);
            let mut before: Option<u32> = None;
            let mut all: Vec<Meeting> = Vec::new();
            for (pc, mask) in
                path.iter().flat_map(|run| (run.pc..run.pc + run.length).map(|pc| (pc, run.mask)))
            {
                let (own, read, write) = &code[pc as usize];
                let takes_part = mask.0 >> lane & 1 != 0;
                if takes_part {
                    let enters =
                        before.is_some_and(|last| last >= pc || code[last as usize].0 != *own);
                    strand += usize::from(enters);
                    before = Some(pc);
                }
                let reads = read.iter().map(|&register| (register, false));
                for (register, writes) in reads.chain(write.iter().map(|&r| (r, true))) {
                    slot += 1;
                    if takes_part {
                        all.push(Meeting { slot, register, writes, strand });
                    }
                }
            }
            for (index, now) in all.iter().enumerate().filter(|(_, now)| !now.writes) {
                let earlier = || all[..index].iter().filter(|past| past.register == now.register);
                if !earlier().any(|past| past.strand == now.strand) {
                    live_in.insert(now.slot);
                }
                if let Some(made) = earlier().rfind(|past| past.writes)
                    && made.strand != now.strand
                {
                    live_out.insert(made.slot);
                }
            }
        }
        found(live_in.len() as u64, live_out.len() as u64)
    }

    #[test]
    fn random_paths_agree_with_the_obvious_model() {
        let mut crossed = found(0, 0);
        for seed in 0..200_u64 {
            let mut state = seed;
            let mut below = |limit: u32| {
                state =
                    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                (state >> 33) as u32 % limit
            };
            let mut strand = 0;
            let code: Vec<Code> = (0..16)
                .map(|_| {
                    strand += u32::from(below(4) == 0);
                    let read = (0..below(4)).map(|_| below(8) as u16).collect();
                    (strand, read, (0..below(3)).map(|_| below(8) as u16).collect())
                })
                .collect();
            let path: Vec<_> = (0..12)
                .map(|_| {
                    let pc = below(16);
                    let masks =
                        [FULL, FULL, LEFT, RIGHT, LaneMask::EMPTY, LaneMask(1 << below(32))];
                    step(pc, 1 + below(16 - pc).min(4), masks[below(6) as usize])
                })
                .collect();
            let seen = walk(&code, &path);
            assert_eq!(seen, obvious(&code, &path), "seed {seed}");
            crossed.add(&seen, 1).unwrap();
        }
        assert!(crossed.live_in > 1000 && crossed.live_out > 1000, "{crossed:?}");
    }
}
