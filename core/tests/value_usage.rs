//! Value usage by hand and against an obvious model.

mod random;

use random::{Lanes, Random, lanes_of};
use strata_core::fault::PathFault;
use strata_core::image::{CheckedImage, KernelImage, StaticInstruction, Unit};
use strata_core::path::PathStep;
use strata_core::units::{LaneMask, RegisterId};
use strata_core::value_usage::{
    LONG_LIFE, MANY_READS, RegisterValues, ValueOverflow, ValueUsage, value_usage,
};

const FULL: LaneMask = LaneMask::FULL;

/// Sources and destinations of one instruction.
type Code = (Vec<u16>, Vec<u16>);

fn usage(code: &[Code], registers: u16, path: &[PathStep]) -> Result<ValueUsage, PathFault> {
    usage_by(&vec![Unit::Alu; code.len()], code, registers, path)
}

fn usage_by(
    units: &[Unit],
    code: &[Code],
    registers: u16,
    path: &[PathStep],
) -> Result<ValueUsage, PathFault> {
    let mut slots = Vec::new();
    let mut instructions = Vec::new();
    for (&unit, (read, write)) in units.iter().zip(code) {
        let first_slot = slots.len() as u32;
        slots.extend(read.iter().chain(write).map(|&register| RegisterId(register)));
        instructions.push(StaticInstruction {
            first_slot,
            sources: read.len() as u8,
            destinations: write.len() as u8,
            ..StaticInstruction::new(unit)
        });
    }
    let image = KernelImage { instructions: &instructions, slots: &slots, registers };
    let mut values = vec![RegisterValues::default(); usize::from(registers)];
    value_usage(CheckedImage::new(image).unwrap(), &mut values, path.iter().copied())
}

fn straight(code: &[(&[u16], &[u16])]) -> ValueUsage {
    let owned: Vec<Code> =
        code.iter().map(|(read, write)| (read.to_vec(), write.to_vec())).collect();
    let path = [PathStep { pc: 0, length: code.len() as u32, mask: FULL }];
    usage(&owned, 8, &path).unwrap()
}

#[test]
fn adjacent_instructions_are_one_apart() {
    let found = straight(&[(&[], &[1]), (&[1], &[2]), (&[], &[3]), (&[2], &[]), (&[3, 3], &[])]);
    let mut expected = ValueUsage::default();
    // R1 and R2 once, R3 twice by one instruction.
    expected.reads[1] = 2;
    expected.reads[2] = 1;
    expected.lifetime_of_read_once[0] = 1;
    expected.lifetime_of_read_once[1] = 1;
    assert_eq!(found, expected);
    assert_eq!((found.values(), found.read_at_least(2)), (3, 1));
}

#[test]
fn a_write_ends_the_value_after_the_same_instructions_reads() {
    let found = straight(&[(&[], &[1]), (&[1], &[1]), (&[1], &[1]), (&[7], &[])]);
    assert_eq!(found.reads[..2], [1, 2]);
    assert_eq!(found.lifetime_of_read_once[0], 2);
    // What was never written is no value.
    assert_eq!(found.values(), 3);
}

#[test]
fn long_lives_and_many_reads_share_the_last_bins() {
    let mut code: Vec<Code> = vec![(vec![], vec![1])];
    code.extend((0..LONG_LIFE + 5).map(|_| (vec![], vec![])));
    code.push((vec![1], vec![2]));
    code.extend((0..MANY_READS + 5).map(|_| (vec![2], vec![])));
    let path = [PathStep { pc: 0, length: code.len() as u32, mask: FULL }];
    let found = usage(&code, 4, &path).unwrap();
    assert_eq!(found.lifetime_of_read_once[LONG_LIFE - 1], 1);
    assert_eq!(found.reads[MANY_READS], 1);
    assert_eq!(found.read_at_least(usize::MAX), 1);
}

#[test]
fn a_partial_write_leaves_the_other_lanes_their_value() {
    let code: Vec<Code> = vec![(vec![], vec![1]), (vec![], vec![1]), (vec![1], vec![])];
    let part = |pc, mask| PathStep { pc, length: 1, mask: LaneMask(mask) };
    // The read touches both values.
    let both = [part(0, u32::MAX), part(1, 0xff), part(2, u32::MAX)];
    let found = usage(&code, 2, &both).unwrap();
    assert_eq!((found.reads[1], found.values()), (2, 2));
    assert_eq!(found.lifetime_of_read_once[..2], [1, 1]);
    // The read touches the old value only.
    let old = [part(0, u32::MAX), part(1, 0xff), part(2, 0xff00)];
    let found = usage(&code, 2, &old).unwrap();
    assert_eq!(found.reads[..2], [1, 1]);
    assert_eq!(found.lifetime_of_read_once[1], 1);
    // No lane, no access, but still an instruction.
    let skipped = [part(0, u32::MAX), part(1, 0), part(2, u32::MAX)];
    assert_eq!(usage(&code, 2, &skipped).unwrap().lifetime_of_read_once[1], 1);
}

#[test]
fn values_that_shared_units_read_are_told_apart_by_their_makers() {
    use Unit::{Alu, DoublePrecision, Memory, Sfu, Texture};
    let code: Vec<Code> = vec![
        (vec![], vec![1, 2, 3]),
        (vec![1], vec![4]),
        // R1 twice by one slot each, R4 of another shared unit.
        (vec![1, 1, 4], vec![5]),
        (vec![2, 5], vec![6]),
        (vec![2, 6], vec![]),
    ];
    let units = [Alu, Sfu, Memory, DoublePrecision, Texture];
    let part = |pc, length, mask| PathStep { pc, length, mask: LaneMask(mask) };
    let path = [part(0, 5, u32::MAX)];
    // R1, R2 and R6; R4. R3 is not read, and the private datapath alone R5.
    assert_eq!(usage_by(&units, &code, 8, &path).unwrap().read_by_shared, [3, 1]);
    let path = [part(0, 1, u32::MAX), part(0, 1, 0xff), part(4, 1, u32::MAX)];
    assert_eq!(usage_by(&units, &code, 8, &path).unwrap().read_by_shared, [2, 0]);
}

#[test]
fn repetitions_add_up_or_overflow() {
    let path = [PathStep { pc: 0, length: 2, mask: FULL }];
    let code = [(vec![], vec![1]), (vec![1], vec![])];
    let once = usage_by(&[Unit::Alu, Unit::Sfu], &code, 2, &path).unwrap();
    let mut sum = once;
    sum.add(&once, 9).unwrap();
    assert_eq!((sum.reads[1], sum.lifetime_of_read_once[0]), (10, 10));
    assert_eq!(sum.read_by_shared, [10, 0]);
    let before = sum;
    assert_eq!(sum.add(&once, u64::MAX), Err(ValueOverflow));
    assert_eq!(sum, before);
}

#[test]
fn short_working_memory_and_wrong_paths_are_faults() {
    let image = KernelImage { instructions: &[], slots: &[], registers: 2 };
    let image = CheckedImage::new(image).unwrap();
    let fault = value_usage(image, &mut [RegisterValues::default(); 1], []);
    assert_eq!(fault, Err(PathFault::ScratchTooShort { needed: 2, given: 1 }));
    let step = PathStep { pc: 0, length: 1, mask: FULL };
    let fault = value_usage(image, &mut [RegisterValues::default(); 2], [step]);
    assert_eq!(fault, Err(PathFault::PathOutOfRange { step, instructions: 0 }));
}

/// Every value ever written, in a list.
fn obvious(units: &[Unit], code: &[Code], path: &[PathStep]) -> ValueUsage {
    struct Written {
        register: u16,
        lanes: Lanes,
        at: usize,
        by_shared: bool,
        reads: Vec<usize>,
        shared_reads: usize,
    }
    let mut all: Vec<Written> = Vec::new();
    let mut at = 0;
    for step in path {
        for pc in step.pc as usize..(step.pc + step.length) as usize {
            let (read, write) = &code[pc];
            let by_shared = matches!(units[pc], Unit::Sfu | Unit::Memory | Unit::Texture);
            at += 1;
            let lanes = lanes_of(step.mask);
            for register in read {
                for value in all.iter_mut().filter(|value| value.register == *register) {
                    if !value.lanes.is_disjoint(&lanes) {
                        value.reads.push(at);
                        value.shared_reads += usize::from(by_shared);
                    }
                }
            }
            for &register in write.iter().filter(|_| !lanes.is_empty()) {
                for value in all.iter_mut().filter(|value| value.register == register) {
                    value.lanes = value.lanes.difference(&lanes).copied().collect();
                }
                let (lanes, reads) = (lanes.clone(), Vec::new());
                all.push(Written { register, lanes, at, by_shared, reads, shared_reads: 0 });
            }
        }
    }
    let mut usage = ValueUsage::default();
    for value in all {
        usage.reads[value.reads.len().min(MANY_READS)] += 1;
        if let [only] = value.reads[..] {
            usage.lifetime_of_read_once[(only - value.at).min(LONG_LIFE) - 1] += 1;
        }
        if value.shared_reads > 0 {
            usage.read_by_shared[usize::from(value.by_shared)] += 1;
        }
    }
    usage
}

#[test]
fn random_paths_agree_with_the_obvious_model() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let registers = 1 + random.below(6);
        let pick = |random: &mut Random, most: u32| -> Vec<u16> {
            (0..random.below(most + 1)).map(|_| random.below(registers) as u16).collect()
        };
        let code: Vec<Code> =
            (0..20).map(|_| (pick(&mut random, 3), pick(&mut random, 2))).collect();
        let all = [Unit::Alu, Unit::DoublePrecision, Unit::Sfu, Unit::Memory, Unit::Texture];
        let units: Vec<Unit> = (0..20).map(|_| all[random.below(5) as usize]).collect();
        let path: Vec<_> = (0..15)
            .map(|_| {
                let pc = random.below(20);
                let length = 1 + random.below(20 - pc);
                let mask = if random.chance(10) { LaneMask::EMPTY } else { random.mask() };
                PathStep { pc, length, mask }
            })
            .collect();
        let found = usage_by(&units, &code, registers as u16, &path).unwrap();
        assert_eq!(found, obvious(&units, &code, &path), "seed {seed}");
    }
}
