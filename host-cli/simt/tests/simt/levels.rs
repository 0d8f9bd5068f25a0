//! Values in the levels of a compiler-managed hierarchy: what is lost, what stays, and which
//! placements are refused.

use strata_core::placement::{Placement, Upper};
use strata_simt::{Executable, PlacementError, prepare};

use crate::common::{Arguments, Bench, config, launch};

const LANES: u32 = 32;

/// A kernel that computes `%v` for each lane from its number, then stores it.
fn bench(body: &str) -> Bench {
    Bench::new(&format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n.reg .pred %p;\n\
         .reg .b32 %v, %w, %t, %x;\n.reg .b64 %out, %o;\nld.param.u64 %out, [out];\n\
         mov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %out, %out, %o;\n\
         {body}\nst.global.u32 [%out], %v;\nexit;\n}}\n"
    ))
}

/// The slot of each operand of the kernel's instructions with this name, in order.
fn slots(bench: &Bench, name: &str) -> Vec<Vec<usize>> {
    let program = bench.compile("k").expect("compiles");
    let named = program.instructions.iter().zip(&program.image.instructions);
    let named = named.filter(|(whole, _)| whole.instruction.opcode.name() == name);
    let range = named.map(|(_, record)| {
        let first = record.first_slot as usize;
        (first..first + usize::from(record.sources + record.destinations)).collect()
    });
    range.collect()
}

fn with(bench: &Bench, changes: &[(usize, Placement)]) -> Result<Executable, PlacementError> {
    let program = bench.compile("k").expect("compiles");
    let mut placements = vec![Placement::MAIN; program.image.slots.len()];
    for &(slot, placement) in changes {
        placements[slot] = placement;
    }
    prepare(&bench.module, &program).expect("decodes").with_levels(&program, &placements)
}

/// What the lanes store.
fn run(bench: &mut Bench, changes: &[(usize, Placement)]) -> Vec<u32> {
    let out = bench.words("out", &[7; LANES as usize]);
    let executable = with(bench, changes).expect("good placements");
    let launch = launch(1, LANES, Arguments::default().u64(out));
    strata_simt::execute(&mut bench.device, &executable, &launch).expect("runs");
    bench.read(out, LANES as usize)
}

fn each(value: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..LANES).map(value).collect()
}

const UPPER: Placement = Placement { main: false, upper: Some(Upper::Orf(2)) };
const BOTH: Placement = Placement { main: true, upper: Some(Upper::Orf(2)) };
const BANK: Placement = Placement { main: false, upper: Some(Upper::Lrf(1)) };

#[test]
fn results_and_reads_meet_at_the_level_that_both_name() {
    let mut bench = bench("xor.b32 %w, %t, 5;\nadd.u32 %v, %w, 1;");
    let (xor, add) = (slots(&bench, "xor")[0].clone(), slots(&bench, "add")[1].clone());
    let good = each(|lane| (lane ^ 5) + 1);
    for level in [UPPER, BANK, Placement::MAIN] {
        assert_eq!(run(&mut bench, &[(xor[1], level), (add[0], level)]), good);
    }
    // Written to both, read from either.
    assert_eq!(run(&mut bench, &[(xor[1], BOTH), (add[0], UPPER)]), good);
    assert_eq!(run(&mut bench, &[(xor[1], BOTH), (add[0], Placement::MAIN)]), good);
    // The main register file still holds the lane's number, which had the register before.
    assert_eq!(run(&mut bench, &[(xor[1], UPPER)]), each(|lane| lane + 1));
    // The entry was never written.
    let lost = run(&mut bench, &[(add[0], UPPER)]);
    assert!(lost.iter().zip(&good).all(|(lost, good)| lost != good), "{lost:?}");
    assert_eq!(lost, run(&mut bench, &[(xor[1], BANK), (add[0], UPPER)]));
}

#[test]
fn a_first_read_leaves_its_value_in_an_entry() {
    let mut bench = bench("xor.b32 %w, %t, 5;\nor.b32 %x, %w, 64;\nadd.u32 %v, %w, %x;");
    let (or, add) = (slots(&bench, "or")[0].clone(), slots(&bench, "add")[1].clone());
    let good = each(|lane| (lane ^ 5) + (lane ^ 5 | 64));
    assert_eq!(run(&mut bench, &[(or[0], BOTH), (add[0], UPPER)]), good);
    assert_ne!(run(&mut bench, &[(or[0], Placement::MAIN), (add[0], UPPER)]), good);
}

#[test]
fn entries_are_lost_when_the_warp_is_descheduled() {
    for (between, kept) in [
        // A barrier always deschedules; an arrival does not.
        ("bar.sync 0;", false),
        ("bar.arrive 1, 64;", true),
        // A long-latency result, before and after its first reader; lanes that do not read it.
        ("ld.global.u32 %x, [%out];", true),
        ("ld.global.u32 %x, [%out];\nadd.u32 %x, %x, 1;", false),
        ("ld.global.u32 %x, [%out];\nsetp.gt.u32 %p, %t, 99;\n@%p add.u32 %x, %x, 1;", true),
    ] {
        let mut bench = bench(&format!("xor.b32 %w, %t, 5;\n{between}\nnot.b32 %v, %w;"));
        let (xor, not) = (slots(&bench, "xor")[0].clone(), slots(&bench, "not")[0].clone());
        let found = run(&mut bench, &[(xor[1], UPPER), (not[0], UPPER)]);
        assert_eq!(found == each(|lane| !(lane ^ 5)), kept, "{between}: {found:?}");
        let found = run(&mut bench, &[(xor[1], BOTH)]);
        assert_eq!(found, each(|lane| !(lane ^ 5)), "{between}");
    }
}

#[test]
fn lanes_that_take_no_part_keep_their_values() {
    let mut bench = bench(
        "xor.b32 %w, %t, 5;\nsetp.lt.u32 %p, %t, 9;\n@%p or.b32 %w, %w, 64;\nnot.b32 %v, %w;",
    );
    let changes =
        [slots(&bench, "xor")[0][1], slots(&bench, "or")[0][0], slots(&bench, "or")[0][1]]
            .into_iter()
            .chain([slots(&bench, "not")[0][0]]);
    let changes: Vec<_> = changes.map(|slot| (slot, UPPER)).collect();
    let good = each(|lane| !(if lane < 9 { (lane ^ 5) | 64 } else { lane ^ 5 }));
    assert_eq!(run(&mut bench, &changes), good);
}

#[test]
fn a_register_named_twice_must_be_the_same_at_both_levels() {
    let mut bench = bench("xor.b32 %w, %t, 5;\nmad.lo.u32 %v, %w, 3, %w;");
    let (xor, mad) = (slots(&bench, "xor")[0].clone(), slots(&bench, "mad")[0].clone());
    let good = each(|lane| (lane ^ 5) * 4);
    assert_eq!(run(&mut bench, &[(xor[1], BOTH), (mad[0], UPPER)]), good);
    for wrong in [0, 1] {
        assert_ne!(run(&mut bench, &[(mad[wrong], UPPER)]), good, "operand {wrong}");
    }
}

/// Results of instructions that wait for others arrive at their levels too.
#[test]
fn results_of_exchanges_and_reductions_reach_their_levels() {
    let mut bench = bench(
        "setp.lt.u32 %p, %t, 9;\nbar.red.popc.u32 %x, 0, %p;\n\
         shfl.sync.bfly.b32 %w, %t, 1, 31, 0xffffffff;\nadd.u32 %v, %w, %x;",
    );
    let good = each(|lane| (lane ^ 1) + 9);
    assert_eq!(run(&mut bench, &[]), good);
    let fitted = bench.at_levels("k", &config(3));
    let out = bench.words("out", &[7; LANES as usize]);
    let launch = launch(1, LANES, Arguments::default().u64(out));
    strata_simt::execute(&mut bench.device, &fitted, &launch).expect("runs");
    assert_eq!(bench.read(out, LANES as usize), good);
}

#[test]
fn placements_that_cannot_be_are_refused() {
    let bench = bench("xor.b32 %w, %t, 5;\nadd.u32 %v, %w, 1;");
    let slot = slots(&bench, "xor")[0][1];
    for wrong in [
        Placement { main: false, upper: None },
        Placement { main: true, upper: Some(Upper::Orf(8)) },
        Placement { main: true, upper: Some(Upper::Lrf(3)) },
    ] {
        let error = with(&bench, &[(slot, wrong)]).expect_err("no such level");
        assert!(error.to_string().contains("is placed where it cannot be"), "{error}");
    }
    let program = bench.compile("k").expect("compiles");
    let executable = || prepare(&bench.module, &program).expect("decodes");
    let count = program.image.slots.len();
    let few = executable().with_levels(&program, &[]).expect_err("too few");
    assert!(few.to_string().contains(&format!("0 placements for {count} register slots")), "{few}");
    let mut other = program.clone();
    other.name = "other".to_owned();
    let error = executable().with_levels(&other, &vec![Placement::MAIN; count]);
    let error = error.expect_err("another program");
    assert_eq!(error, PlacementError::OtherProgram { kernel: "k".to_owned() });
}
