//! Our liveness of machine code against NVIDIA's, over the facts in `tests/life_ranges`.

#[path = "../../../tests/life_ranges/facts.rs"]
mod facts;

use std::collections::BTreeSet;

use strata_core::image::Unit;

use self::facts::{Kernel, all, compare_lives, parse};
use super::*;

/// Every path that the branches allow, and writes that end the value before them when nothing can
/// leave them out.
fn flow(kernel: &Kernel) -> Flow {
    let unguarded: Vec<bool> = kernel.instructions.iter().map(|it| !it.guarded).collect();
    Flow {
        entries: vec![0],
        next: kernel.instructions.iter().map(|it| it.next.clone()).collect(),
        covers: unguarded.clone(),
        always_active: unguarded,
    }
}

/// The code, with the registers that the facts name.
fn image(kernel: &Kernel) -> Image {
    let mut image = Image::default();
    for (place, instruction) in (0_u32..).zip(&kernel.instructions) {
        let first_slot = image.slots.len() as u32;
        let sources = instruction.reads_for_liveness(place);
        let destinations = instruction.writes();
        image.slots.extend(sources.iter().chain(&destinations).map(|&r| RegisterId(r)));
        image.instructions.push(StaticInstruction {
            first_slot,
            sources: sources.len() as u8,
            destinations: destinations.len() as u8,
            ..StaticInstruction::new(Unit::Alu)
        });
    }
    image
}

/// Where each register is in use: before the instruction, behind it, or because it is written there
/// for no other lane.
fn in_use(kernel: &Kernel) -> Vec<BTreeSet<u16>> {
    let (image, flow) = (image(kernel), flow(kernel));
    let mut all = Vec::with_capacity(kernel.instructions.len());
    for (pc, mut state) in ahead(&image, &flow).into_iter().enumerate() {
        let mut live = state.live;
        state.step(&image, pc, &flow);
        live.unite(&state.live);
        for written in kernel.instructions[pc].writes() {
            live.add(written);
        }
        all.push((0..=u16::from(u8::MAX)).filter(|&number| live.has(number)).collect());
    }
    all
}

/// Compares the bits that the machine gets with the facts: a value ends at an instruction exactly if
/// none that may come next has its register in use, unless for a new value.
fn compare_bits(kernel: &Kernel) -> Result<(), String> {
    let mut image = image(kernel);
    annotate(&mut image, &flow(kernel));
    let is_in_use = |number: u16, place: u32| {
        let pc = kernel.instructions[place as usize].pc;
        let ranges = kernel.lives.get(&number).map_or(&[][..], Vec::as_slice);
        ranges.iter().any(|&(first, last)| (first..=last).contains(&pc))
    };
    let is_overwritten = |number: u16, place: u32| {
        let next = &kernel.instructions[place as usize];
        next.writes().contains(&number) && !next.reads().contains(&number)
    };
    for (place, instruction) in kernel.instructions.iter().enumerate() {
        let record = &image.instructions[place];
        let (sources, destinations) = slots(&image, record);
        let bits = |slots: &[RegisterId], bits: u32, number: u16| {
            slots.iter().enumerate().any(|(slot, it)| it.0 == number && bits >> slot & 1 != 0)
        };
        let is_end = instruction.next.iter().all(|&next| next as usize == place);
        for &RegisterId(number) in sources.iter().chain(destinations) {
            let next = || instruction.next.iter().copied();
            // A guarded write to a register shows in the facts whether or not its old value lives.
            let is_open = |next: u32| {
                kernel.instructions[next as usize].guarded && is_overwritten(number, next)
            };
            if is_end || next().any(is_open) {
                continue;
            }
            let ends = next().all(|next| !is_in_use(number, next) || is_overwritten(number, next));
            let is_result = destinations.contains(&RegisterId(number));
            let ours = if is_result {
                bits(destinations, record.never_read, number)
            } else {
                bits(sources, record.last_use, number)
            };
            if ours != ends {
                let pc = instruction.pc;
                return kernel.differs(&format!("{pc:04x}: R{number} ends: {ours}, theirs {ends}"));
            }
        }
    }
    Ok(())
}

fn compare(kernel: &Kernel) -> Result<(), String> {
    compare_lives(kernel, &in_use(kernel))?;
    compare_bits(kernel)
}

#[test]
fn registers_live_where_nvidias_disassembler_says() {
    for (name, kernel) in all() {
        compare(&kernel).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// Every single change to the facts about lives is found.
#[test]
fn lives_that_are_changed_are_found() {
    let mut changes = 0;
    for (name, kernel) in all() {
        let addresses: Vec<u64> = kernel.instructions.iter().map(|it| it.pc).collect();
        let place = |pc| addresses.binary_search(&pc).unwrap();
        let in_use = in_use(&kernel);
        let mut check = |change: &dyn Fn(&mut Kernel)| {
            let mut changed = kernel.clone();
            change(&mut changed);
            assert_ne!(changed, kernel, "{name}");
            compare_lives(&changed, &in_use).expect_err(name);
            changes += 1;
        };
        check(&|kernel| kernel.most += 1);
        check(&|kernel| kernel.most -= 1);
        check(&|kernel| _ = kernel.lives.insert(200, vec![(addresses[0], addresses[0])]));
        for (number, ranges) in &kernel.lives {
            check(&|kernel| _ = kernel.lives.remove(number));
            for (index, &(first, last)) in ranges.iter().enumerate() {
                let set = |range| {
                    move |kernel: &mut Kernel| kernel.lives.get_mut(number).unwrap()[index] = range
                };
                if let Some(&later) = addresses.get(place(last) + 1) {
                    check(&set((first, later)));
                }
                if place(first) > 0 {
                    check(&set((addresses[place(first) - 1], last)));
                }
                if first < last {
                    check(&set((addresses[place(first) + 1], last)));
                    check(&set((first, addresses[place(last) - 1])));
                }
            }
        }
    }
    assert!(changes > 1000, "{changes}");
}

#[test]
fn code_that_is_changed_is_found() {
    facts::changed_code_is_found(in_use);
}

#[test]
fn the_bits_are_compared() {
    let text = "source x\nmade by x\nmade by y\nkernel k\n0000 MOV R1 =\n0010 MOV R2 =\n\
                0020 MOV R3 = R2\n0030 STS = R3 R2\n0040 EXIT = ->\n";
    let lives = "live R1 0000-0040\nlive R2 0010-0030\nlive R3 0020-0030\nmost 3\n";
    let kernel = parse(&format!("{text}{lives}")).unwrap().remove(0);
    assert_eq!(compare(&kernel), Ok(()));
    let mut shorter = kernel.clone();
    shorter.lives.insert(2, vec![(0x10, 0x20)]);
    let why = "kernel k: 0020: R2 ends: false, theirs true";
    assert_eq!(compare_bits(&shorter), Err(why.to_owned()));
    let mut longer = kernel;
    longer.lives.insert(3, vec![(0x20, 0x40)]);
    let why = "kernel k: 0030: R3 ends: true, theirs false";
    assert_eq!(compare_bits(&longer), Err(why.to_owned()));
}

#[test]
fn mistakes_in_files_of_facts_are_named() {
    let good = "source x\nmade by x\nmade by y\n\nkernel k\n0000 MOV R1 =\n0010 @BRA = -> 0000 0020\n\
                0020 STG.E = R4-R5 RZ\n0030 EXIT = ->\nlive R1 0000-0030\nlive R4 0000-0020\nmost 3\n";
    assert_eq!(parse(good).map(|kernels| kernels.len()), Ok(1));
    for (from, to, why) in [
        ("made by y\n", "", "line 4: `kernel k`: expected `source`, two of `made by`"),
        ("0010 @", "10g @", "line 7: `10g @BRA = -> 0000 0020`: `10g` is no address"),
        ("0020 STG", "0000 STG", "line 8: `0000 STG.E = R4-R5 RZ`: addresses have to ascend"),
        ("R4-R5", "R5-R4", "line 8: `0020 STG.E = R5-R4 RZ`: `R5-R4` ends before it begins"),
        ("R4-R5", "UR4", "line 8: `0020 STG.E = UR4 RZ`: `UR4` is no register"),
        ("R4-R5", "R256", "line 8: `0020 STG.E = R256 RZ`: `R256` is no register"),
        ("STG.E =", "STG.E", "line 8: `0020 STG.E R4-R5 RZ`: expected ` =` before operands"),
        ("MOV R1", "", "line 6: `0000  =`: expected a mnemonic"),
        ("-> 0000", "-> 0008", "line 12: `most 3`: no instruction at 0008"),
        ("EXIT = ->", "EXIT =", "line 12: `most 3`: the last instruction has none behind it"),
        ("live R1 0000-0030", "live R1", "line 10: `live R1`: expected ranges that ascend"),
        ("0000-0030", "0020-0030 0000-0010", "expected ranges that ascend"),
        ("0000-0030", "0004-0030", "line 10: `live R1 0004-0030`: no instruction at 0004"),
        ("live R4", "live R1", "line 11: `live R1 0000-0020`: this register was there before"),
        ("most 3", "kernel x", "line 12: `kernel x`: expected `most N` of the kernel before"),
        ("most 3", "most many", "line 12: `most many`: `many` is no number"),
        ("most 3\n", "", "the end is missing: expected `most N`"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let found = parse(&bad).expect_err(to);
        assert!(found.contains(why), "{to}: {found}");
    }
}
