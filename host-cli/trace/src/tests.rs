//! Bits and marks of traced code: exact on small kernels, sound on random ones.

use std::fmt::Write as _;

use strata_core::count::count_path;
use strata_core::image::{CheckedImage, Flags};
use strata_core::organisation::Organisation;
use strata_core::units::LaneMask;

use super::{Keep, Problem, TracedLaunch};

/// One executed instruction: program counter in steps of 16, mask, rest of the line.
type Executed<'a> = (u32, u32, &'a str);

/// The text of a version 5 trace with one warp for each path.
fn trace(warps: &[&[Executed<'_>]]) -> Vec<u8> {
    let mut text = format!(
        "-kernel name = k\n-kernel id = 1\n-grid dim = ({},1,1)\n-block dim = (32,1,1)\n\
         -shmem = 0\n-nregs = 16\n-binary version = 80\n-shmem base_addr = 0x0\n\
         -local mem base_addr = 0x0\n-accelsim tracer version = 5\n\n#traces\n\n",
        warps.len()
    );
    for (cta, warp) in warps.iter().enumerate() {
        let count = warp.len();
        let _ =
            write!(text, "#BEGIN_TB\n\nthread block = {cta},0,0\n\nwarp = 0\ninsts = {count}\n");
        for (pc, mask, rest) in *warp {
            let _ = writeln!(text, "{:04x} {mask:08x} {rest} ", pc * 16);
        }
        text += "\n#END_TB\n\n";
    }
    text.into_bytes()
}

fn launch(warps: &[&[Executed<'_>]]) -> TracedLaunch {
    let keep = Keep { accesses: true, ..Keep::default() };
    TracedLaunch::parse(trace(warps), "t", &keep).unwrap_or_else(|error| panic!("{error}"))
}

const FULL: u32 = u32::MAX;
const LOAD: &str = "1 R4 LDG.E 1 R2 4 1 0x1000 4 0";

/// (last use, never read, not read before deschedule, last use before deschedule, marked)
fn bits(launch: &TracedLaunch, pc: usize) -> (u32, u32, u32, u32, bool) {
    let record = &launch.code.image.instructions[pc];
    (
        record.last_use,
        record.never_read,
        record.not_read_before_deschedule,
        record.last_use_before_deschedule,
        record.flags.contains(Flags::DESCHEDULE_BEFORE),
    )
}

#[test]
fn straight_code_has_exact_bits() {
    let launch = launch(&[&[
        (0, FULL, "1 R0 S2R 0 0 0"),
        (1, FULL, "1 R2 IMAD.WIDE 3 R0 R0 R255 0 0"),
        (2, FULL, "1 R4 LDG.E 1 R2 4 1 0x1000 4 0"),
        (3, FULL, "1 R5 IADD3 3 R0 R0 R255 0 0"),
        (4, FULL, "1 R6 FADD 2 R4 R5 0 0"),
        (5, FULL, "0 STG.E 2 R2 R6 4 1 0x1000 4 0"),
        (6, FULL, "0 EXIT 0 0 0"),
    ]]);
    assert_eq!(bits(&launch, 0), (0, 0, 0, 0, false));
    assert_eq!(bits(&launch, 1), (0, 0, 0, 0, false), "R0 is read again at 3");
    // R2 and R3 are read again, but only behind the deschedule at 4; so is the loaded R4.
    assert_eq!(bits(&launch, 2), (0, 0, 1, 0b11, false));
    assert_eq!(bits(&launch, 3), (0b10, 0, 1, 0b10, false), "of repeats, the last is the last");
    assert_eq!(bits(&launch, 4), (0b11, 0, 0, 0b11, true));
    assert_eq!(bits(&launch, 5), (0b111, 0, 0, 0b111, false));
    let image = &launch.code.image;
    assert_eq!(image.registers, 16);
    let store = &image.instructions[5];
    assert_eq!((store.sources, store.destinations), (3, 0), "an address pair and the data");
    assert_eq!(launch.paths.len(), 1);
    assert_eq!(launch.paths.path(0).len(), 1);
}

/// Lines that begin as one that is known, but end otherwise.
#[test]
fn a_known_beginning_excuses_nothing() {
    const PLAIN: &str = "1 R5 IADD3 3 R0 R0 R255 0 0";
    let refusal = |pc, mask, last| {
        let warp = [(0, FULL, PLAIN), (1, FULL, LOAD), (0, FULL, PLAIN), (pc, mask, last)];
        TracedLaunch::parse(trace(&[&warp]), "t", &Keep::default()).map_err(|error| error.line)
    };
    assert!(refusal(1, FULL, LOAD).is_ok());
    for (pc, mask, last) in [
        (0, FULL, "1 R5 IADD3 3 R0 R0 R255 0"),
        (0, FULL, "1 R5 IADD3 3 R0 R0 R255 0 0 0"),
        (0, FULL, "1 R5 IADD3 3 R0 R0 R254 0 0"),
        (1, FULL, "1 R4 LDG.E 1 R2 4"),
        (1, FULL, "1 R4 LDG.E 1 R2 4 1 0x1000 4"),
        (1, FULL, "1 R4 LDG.E 1 R2 4 1 0x1000 4 0 0"),
        (1, FULL, "1 R4 LDG.E 1 R2 41 0x1000 4 0"),
        (1, 0b101, "1 R4 LDG.E 1 R2 4 1 0x1000 4 0"),
    ] {
        assert_eq!(refusal(pc, mask, last).unwrap_err(), 23, "{last}");
    }
    let masks = refusal(1, 1, LOAD).unwrap();
    let steps: Vec<_> = masks.paths.path(0).iter().map(|step| (step.pc, step.mask.0)).collect();
    assert_eq!(steps, [(0, FULL), (0, FULL), (1, 1)], "the mask is the line's");
}

#[test]
fn what_a_shared_unit_reads_is_marked_and_what_misses_lanes_ends_nothing() {
    let private = |path: &[Executed<'_>]| {
        let launch = launch(&[path]);
        let records = &launch.code.image.instructions;
        records.iter().map(|record| record.private_reads).collect::<Vec<_>>()
    };
    let code = |mask| {
        [
            (0, FULL, "1 R5 S2R 0 0 0"),
            (1, FULL, "1 R6 IADD3 1 R5 0 0"),
            (2, mask, "1 R6 MOV 0 0 0"),
            (3, FULL, "1 R7 IMAD.WIDE 3 R6 R6 R255 0 0"),
            (4, FULL, "0 STS 2 R8 R6 4 1 0x0 4 0"),
        ]
    };
    // The wide product is R7 and R8, of which the store reads the second.
    assert_eq!(private(&code(FULL)), [1, 1, 0, 0b01, 0]);
    assert_eq!(private(&code(0xffff)), [1, 0, 0, 0b01, 0], "the upper lanes store it");
}

#[test]
fn a_write_that_misses_lanes_ends_nothing() {
    let side = |mask| (1, mask, "1 R5 MOV 0 0 0");
    let partial = launch(&[&[
        (0, FULL, "1 R5 S2R 0 0 0"),
        side(0xffff),
        (2, FULL, "1 R6 IADD3 1 R5 0 0"),
        (3, FULL, "0 STS 2 R6 R6 4 1 0x0 4 0"),
    ]]);
    assert_eq!(bits(&partial, 0).1, 0, "the upper lanes read it at 2");
    let whole =
        launch(&[&[(0, FULL, "1 R5 S2R 0 0 0"), side(FULL), (2, FULL, "1 R6 IADD3 1 R5 0 0")]]);
    assert_eq!((bits(&whole, 0).1, bits(&whole, 2).1), (1, 1));
    // Lanes that exited need nothing any more.
    let exited = launch(&[&[
        (0, FULL, "1 R5 S2R 0 0 0"),
        (1, 0xffff, "1 R5 MOV 0 0 0"),
        (2, 0xffff, "1 R6 IADD3 1 R5 0 0"),
    ]]);
    assert_eq!(bits(&exited, 0).1, 1);
}

#[test]
fn a_value_that_the_other_side_reads_stays_live() {
    let launch = launch(&[&[
        (0, FULL, "1 R5 S2R 0 0 0"),
        (1, FULL, "0 BRA 0 0 0"),
        (2, 0xffff, "1 R6 IADD3 1 R5 0 0"),
        (3, 0xffff_0000, "1 R6 IADD3 1 R5 0 0"),
        (4, FULL, "0 STS 2 R6 R6 4 1 0x0 4 0"),
    ]]);
    assert_eq!(bits(&launch, 2).0, 0, "the lanes that wait read R5 too");
    assert_eq!(bits(&launch, 3).0, 1);
}

#[test]
fn loops_are_followed_and_backward_branches_found() {
    let turn: [Executed<'_>; 3] = [
        (1, FULL, "1 R4 LDG.E 1 R2 4 1 0x1000 4 0"),
        (2, FULL, "1 R6 FADD 2 R6 R4 0 0"),
        (3, FULL, "0 BRA 0 0 0"),
    ];
    let mut path = vec![(0, FULL, "1 R6 MOV 0 0 0")];
    path.extend(turn.iter().chain(&turn));
    path.push((5, FULL, "0 STS 2 R6 R6 4 1 0x0 4 0"));
    let launch = launch(&[&path]);
    let flags = |pc: usize| launch.code.image.instructions[pc].flags;
    assert!(flags(3).contains(Flags::BACKWARD_BRANCH | Flags::BRANCH));
    assert_eq!(bits(&launch, 1), (0, 0, 1, 0b11, false), "R2 and R3 are read in the next turn");
    assert_eq!(bits(&launch, 2), (0b11, 0, 0, 0b11, true));
    // Program counter 4 never executed: 5 is the fifth instruction.
    assert_eq!(launch.code.instructions[4].pc, 0x50);
    assert_eq!(launch.paths.path(0).len(), 2);
}

#[test]
fn two_instructions_at_one_program_counter_are_refused() {
    let text = trace(&[&[(0, FULL, "1 R5 S2R 0 0 0"), (0, FULL, "1 R6 S2R 0 0 0")]]);
    let error = TracedLaunch::parse(text, "t", &Keep::default()).unwrap_err();
    assert!(matches!(error.problem, Problem::Changed { pc: 0, .. }), "{error}");
    assert_eq!(error.line, 21);
}

#[test]
fn opcodes_that_are_not_known_are_listed_with_what_they_are_taken_for() {
    let launch = launch(&[&[
        (0, FULL, "1 R5 FROB.X 1 R3 0 0"),
        (1, FULL, "1 R5 FROB.X 1 R3 0 0"),
        (2, FULL, "1 R7 LDG.E.128 1 R2 16 1 0x1000 16 0"),
        (3, FULL, "1 R0 TEX.SCR.LL 1 R3 0 0"),
    ]]);
    let texts: Vec<String> = launch.code.assumptions.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "FROB.X at 0000: unknown opcode, taken for an ALU instruction",
            "LDG.E.128 at 0020: R7 cannot begin 4 registers, taken for one",
            "TEX.SCR.LL at 0030: width of its operands unknown, one register each",
        ]
    );
}

#[test]
fn the_second_of_two_operands_of_a_wide_product_is_its_addend_unless_no_pair_begins_there() {
    let launch = launch(&[&[
        (0, FULL, "1 R4 IMAD.WIDE 2 R0 R3 0 0"),
        (1, FULL, "1 R4 IMAD.WIDE.U32 2 R0 R2 0 4"),
        (2, FULL, "1 R4 IMAD.WIDE 2 R0 R255 0 4"),
        (3, FULL, "1 R4 IMAD.WIDE 3 R0 R2 R6 0 0"),
        (4, FULL, "1 R4 IMAD.HI 2 R0 R2 0 0"),
    ]]);
    let image = &launch.code.image;
    let sources = |pc: usize| {
        let record = &image.instructions[pc];
        let first = record.first_slot as usize;
        let slots = &image.slots[first..first + usize::from(record.sources)];
        slots.iter().map(|slot| slot.0).collect::<Vec<_>>()
    };
    assert_eq!(sources(0), [0, 3]);
    assert_eq!(sources(1), [0, 2, 3]);
    assert_eq!(sources(2), [0]);
    assert_eq!(sources(3), [0, 2, 6, 7]);
    assert_eq!(sources(4), [0, 2, 3]);
    let texts: Vec<String> = launch.code.assumptions.iter().map(ToString::to_string).collect();
    let text = "the second of two operands, at an even register, is taken for the addend";
    assert_eq!(
        texts,
        [format!("IMAD.WIDE.U32 at 0010: {text}"), format!("IMAD.HI at 0040: {text}")]
    );
}

#[test]
fn two_lines_of_one_instruction_are_one_with_the_addresses_of_global_memory() {
    let shared = "0 LDGSTS.E.128 2 R5 R2 16 1 0x400 16 0";
    let global = "0 LDGSTS.E.128 2 R5 R2 16 1 0x1000 16 0";
    let other = "1 R4 LDG.E.128 1 R2 16 1 0x1000 16 0";
    let both = [(0, FULL, shared), (0, FULL, global), (1, 0, shared), (1, 0, global)];
    let found = launch(&[&both]);
    assert_eq!((found.instructions, found.code.instructions.len()), (2, 2));
    assert!(found.code.assumptions.is_empty(), "{:?}", found.code.assumptions);
    let record = &found.code.image.instructions[0];
    assert_eq!((record.sources, record.destinations), (3, 0));
    let moved = |warp: &[Executed<'_>]| {
        let launch = launch(&[warp]);
        launch.accesses.as_ref().unwrap().of_warp(0).to_vec()
    };
    assert_eq!(moved(&both), moved(&[(0, FULL, global)]));
    // The same in a loop, and beside another instruction.
    let again = [&both[..2], &both[..2], &[(2, FULL, other)]].concat();
    assert_eq!(launch(&[&again]).instructions, 3);
    // One line alone, at the end of a warp or before another instruction.
    let alone = launch(&[&[(0, FULL, global), (2, FULL, other), (0, FULL, global)]]);
    assert_eq!(alone.instructions, 3);
    let texts: Vec<String> = alone.code.assumptions.iter().map(ToString::to_string).collect();
    let text = "one line instead of two: its addresses are taken for those of global memory";
    assert_eq!(texts, [format!("LDGSTS.E.128 at 0000: {text}")]);
}

#[test]
fn registers_that_an_opcode_cannot_have_are_refused_with_the_line() {
    let text = trace(&[&[(0, FULL, "1 R4 EXIT 0 0 0")]]);
    let error = TracedLaunch::parse(text, "t", &Keep::default()).unwrap_err();
    assert_eq!(error.line, 20);
    assert!(
        error.to_string().contains("`EXIT` with 1 destination and 0 sources fits none"),
        "{error}"
    );
    assert!(error.to_string().contains("expected 0 destinations and 0 sources"), "{error}");
}

#[test]
fn accesses_follow_their_warp() {
    let one: [Executed<'_>; 2] = [(0, FULL, LOAD), (1, 0, "0 STG.E 2 R2 R4 4 1 0x0 0 0")];
    let two: [Executed<'_>; 2] =
        [(0, 1, "1 R4 LDG.E 1 R2 4 2 0x101e 0"), (1, 3, "0 STG.E 2 R2 R4 4 2 0x0 64 0")];
    let launch = launch(&[&one, &two]);
    let accesses = launch.accesses.as_ref().unwrap();
    assert_eq!(accesses.of_warp(0), [128]);
    assert_eq!(accesses.of_warp(1), [64, 64]);
    assert!(accesses.of_warp(2).is_empty());
}

#[test]
fn traced_accesses_move_what_executed_ones_do() {
    let warp: [Executed<'_>; 7] = [
        (0, FULL, "1 R4 LDS 1 R2 4 1 0x7f0000000000 128 0"),
        (1, FULL, "1 R4 LDS.U.64 1 R2 8 1 0x10 8 0"),
        (2, FULL, "0 STL 2 R2 R4 4 1 0x7f0001000010 0 0"),
        (3, FULL, "1 R4 LD.E 1 R2 4 1 0x7f0000000000 64 0"),
        (4, FULL, "1 R4 LD.E 1 R2 4 1 0x7f0001000010 0 0"),
        (5, 0xff, "1 R4 SHFL.BFLY 2 R4 R5 0 0"),
        (6, FULL, "1 R4 LDC 1 R2 0 0"),
    ];
    let text = String::from_utf8(trace(&[&warp])).unwrap();
    let windows = "-shmem base_addr = 0x7f0000000000\n-local mem base_addr = 0x7f0001000000\n";
    let none = "-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n";
    let keep = Keep { accesses: true, ..Keep::default() };
    let read = |text: String| {
        let launch = TracedLaunch::parse(text.into_bytes(), "t", &keep).unwrap();
        launch.accesses.unwrap().of_warp(0).to_vec()
    };
    // All words in one bank; pairs of words, two of each bank; a local word of all lanes; two banks
    // through the window; the local word again; a word of each lane.
    assert_eq!(read(text.replace(none, windows)), [1024, 256, 128, 512, 128, 32]);
    // Without windows, generic addresses are global ones.
    assert_eq!(read(text), [1024, 256, 128, 1024, 32, 32]);
}

/// A small generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % limit
    }

    fn mask(&mut self) -> u32 {
        match self.below(6) {
            0 => 0,
            1 => 1 << self.below(32),
            2 => 0xffff,
            3 => 0xffff_0000,
            _ => FULL,
        }
    }
}

fn random_code(random: &mut Random) -> Vec<String> {
    (0..3 + random.below(12))
        .map(|_| {
            let (d, a, b) = (random.below(6), random.below(6), random.below(6));
            match random.below(8) {
                0 | 1 => format!("1 R{d} LDG 1 R{a} 4 1 0x0 0 0"),
                2 => "0 BAR.SYNC 0 0 0".to_owned(),
                3 => "0 BRA 0 0 0".to_owned(),
                4 => format!("0 STS 2 R{a} R{b} 4 1 0x0 0 0"),
                _ => format!("1 R{d} IADD3 2 R{a} R{b} 0 0"),
            }
        })
        .collect()
}

/// Compares every bit with what the lanes of one path really do: a set bit must be true.
fn check_path(launch: &TracedLaunch, path: u32, seed: u64) {
    let image = &launch.code.image;
    let kernel = image.borrow();
    let mut live = [0_u32; 256];
    let mut near = [0_u32; 256];
    let mut shared = [0_u32; 256];
    for step in launch.paths.path(path).iter().rev() {
        let lanes = step.mask.0;
        for pc in (step.pc..step.pc + step.length).rev() {
            let record = &image.instructions[pc as usize];
            let place = || format!("seed {seed}, path {path}, instruction {pc}");
            for (slot, register) in kernel.destinations(record).iter().enumerate() {
                let register = usize::from(register.0);
                if record.never_read >> slot & 1 != 0 {
                    assert_eq!(live[register] & lanes, 0, "never read: {}", place());
                }
                if record.not_read_before_deschedule >> slot & 1 != 0 {
                    assert_eq!(near[register] & lanes, 0, "not read soon: {}", place());
                }
                if record.private_reads >> slot & 1 != 0 {
                    assert_eq!(shared[register] & lanes, 0, "private reads: {}", place());
                }
            }
            for register in kernel.destinations(record) {
                live[usize::from(register.0)] &= !lanes;
                near[usize::from(register.0)] &= !lanes;
                shared[usize::from(register.0)] &= !lanes;
            }
            if record.flags.contains(Flags::BARRIER) {
                near = [0; 256];
            }
            for (slot, register) in kernel.sources(record).iter().enumerate().rev() {
                let register = usize::from(register.0);
                if record.last_use >> slot & 1 != 0 {
                    assert_eq!(live[register], 0, "last use: {}", place());
                }
                if record.last_use_before_deschedule >> slot & 1 != 0 {
                    assert_eq!(near[register], 0, "last use soon: {}", place());
                }
                live[register] |= lanes;
                near[register] |= lanes;
                if record.unit.is_shared_datapath() {
                    shared[register] |= lanes;
                }
            }
            if record.flags.contains(Flags::DESCHEDULE_BEFORE) {
                near = [0; 256];
            }
        }
    }
}

#[test]
fn bits_and_marks_hold_on_random_traces() {
    let config = Organisation::FLAT_TWO_LEVEL;
    let mut deschedules = 0;
    for seed in 1..=10_000 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let code = random_code(&mut random);
        let mut warps: Vec<Vec<Executed<'_>>> = Vec::new();
        for _ in 0..=random.below(3) {
            let mut pc = 0;
            let mut path = Vec::new();
            for _ in 0..random.below(40) {
                path.push((pc, random.mask(), code[pc as usize].as_str()));
                let jumps = random.below(5) == 0 || pc as usize + 1 == code.len();
                pc = if jumps { random.below(code.len() as u32) } else { pc + 1 };
            }
            warps.push(path);
        }
        let warps: Vec<&[Executed<'_>]> = warps.iter().map(Vec::as_slice).collect();
        let launch = launch(&warps);
        let checked = CheckedImage::new(launch.code.image.borrow()).unwrap();
        let mut awaited = [LaneMask::EMPTY; 256];
        for path in 0..launch.paths.len() as u32 {
            check_path(&launch, path, seed);
            let steps = launch.paths.path(path).iter().copied();
            let counters = count_path(&config, checked, &mut awaited, steps)
                .unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            deschedules += counters.get(strata_core::event::Event::Deschedule);
        }
    }
    assert!(deschedules > 100, "the traces exercise too little: {deschedules} deschedules");
}
