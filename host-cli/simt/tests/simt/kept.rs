//! What is kept of a launch stays within bounds, whatever the kernel does.

use std::collections::BTreeMap;

use strata_core::path::PathStep;
use strata_simt::moved::Addresses;
use strata_simt::{
    AddressSink, Fault, Launch, LaunchOutcome, PathDictionary, Record, execute_in_parts,
    execute_into,
};

use crate::common::{Arguments, Bench, launch};

/// A kernel of one buffer, whose body begins at [`FIRST_LINE`].
fn text(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 buffer) {{\n.reg .pred %p<4>;\n\
         .reg .b32 %me, %i, %r<8>;\n.reg .b64 %buffer;\nld.param.u64 %buffer, [buffer];\n\
         mov.u32 %me, %tid.x;\nmov.u32 %i, 0;\n{body}\nret;\n}}\n"
    )
}

const FIRST_LINE: u32 = 11;

/// More instructions than between two looks at what is kept.
const BUDGET: u64 = 300_000;

/// Takes addresses and forgets them.
struct Nowhere;

impl AddressSink for Nowhere {
    fn access(&mut self, _: u32, _: u32, _: Addresses<'_>) {}
}

/// Runs a body in two warps with room for 4 KiB: with bytes moved, with addresses, and in parts.
fn in_every_way(body: &str, record: Record) -> [Result<LaunchOutcome, Fault>; 3] {
    let mut bench = Bench::new(&text(body));
    let buffer = bench.words("numbers", &[0; 16]);
    let executable = bench.prepare("k").unwrap();
    let arguments = Arguments::default().u64(buffer);
    let launch = Launch {
        max_instructions: BUDGET,
        max_kept_bytes: 4096,
        record,
        record_accesses: true,
        ..launch(1, 64, arguments)
    };
    let device = &mut bench.device;
    [
        strata_simt::execute(device, &executable, &launch),
        execute_into(device, &executable, &launch, &mut Nowhere),
        execute_in_parts(device, &executable, &launch, 1024, &mut |_| {}),
    ]
}

#[test]
fn an_endless_kernel_meets_its_budget_however_much_it_executes_before() {
    for body in [
        "LOOP:\nadd.u32 %i, %i, 1;\nbra LOOP;",
        // No warp runs a whole slice between two barriers.
        "LOOP:\nbar.sync 0;\nbra LOOP;",
        "LOOP:\nbar.sync 3, 64;\nbra LOOP;",
        "LOOP:\nld.global.u32 %r0, [%buffer];\nst.global.u32 [%buffer+4], %r0;\nbra LOOP;",
        "LOOP:\nand.b32 %r0, %i, 1;\nsetp.eq.u32 %p0, %r0, %me;\n@%p0 add.u32 %r1, %r1, 1;\n\
         add.u32 %i, %i, 1;\nbra LOOP;",
    ] {
        for result in in_every_way(body, Record::All) {
            let Err(Fault::BudgetExceeded { place, budget }) = result else {
                panic!("{body}: {result:?}")
            };
            assert_eq!((budget, place.kernel.as_str()), (BUDGET, "k"), "{body}");
            assert!((FIRST_LINE..FIRST_LINE + 6).contains(&place.line), "{body}: {place}");
        }
    }
}

#[test]
fn a_cta_that_ends_after_too_much_is_refused_with_its_line() {
    // Loops of 20 000 times 4 instructions, whose paths have as many runs.
    let body = "LOOP:\nadd.u32 %i, %i, 1;\nld.global.u32 %r0, [%buffer];\n\
                setp.lt.u32 %p0, %i, 20000;\n@%p0 bra LOOP;\nbar.sync 0;";
    for result in in_every_way(body, Record::All) {
        let Err(fault) = &result else { panic!("{result:?}") };
        let Fault::TooMuchToKeep { place, limit: 4096, of_launch: false } = fault else {
            panic!("{fault}")
        };
        assert!((FIRST_LINE..FIRST_LINE + 7).contains(&place.line), "{place}");
        let message = fault.to_string();
        for part in ["one CTA", "4096 bytes", "kernel `k`, PTX line"] {
            assert!(message.contains(part), "{message}");
        }
    }
    for result in in_every_way(body, Record::Nothing) {
        assert_eq!(result.unwrap().warp_instructions, 2 * (4 * 20_000 + 5));
    }
}

/// Every warp of every CTA has a path of its own: it counts as high as the warps before it.
const EACH_ITS_OWN: &str = "mov.u32 %r0, %ctaid.x;\nshl.b32 %r0, %r0, 1;\nshr.u32 %r1, %me, 5;\n\
     add.u32 %r0, %r0, %r1;\nLOOP:\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %p0, %i, %r0;\n\
     @%p0 bra LOOP;";

fn each_its_own() -> (Bench, Launch) {
    let mut bench = Bench::new(&text(EACH_ITS_OWN));
    let buffer = bench.words("numbers", &[0; 16]);
    let launch = launch(40, 64, Arguments::default().u64(buffer));
    (bench, launch)
}

/// The path of each warp.
fn by_warp(paths: &PathDictionary) -> BTreeMap<(u64, u32), Vec<PathStep>> {
    let path = |warp: &strata_simt::paths::WarpPath| {
        ((warp.cta, warp.warp), paths.path(warp.path).to_vec())
    };
    paths.warps().iter().map(path).collect()
}

#[test]
fn parts_are_the_whole_and_as_small_as_asked_for() {
    let (mut bench, launch) = each_its_own();
    let executable = bench.prepare("k").unwrap();
    let whole = strata_simt::execute(&mut bench.device, &executable, &launch).unwrap();
    // Numbers 0 and 1 both loop once.
    assert_eq!((whole.paths.len(), whole.paths.warps().len()), (79, 80));
    for (part_bytes, expected) in [(0, 40), (4096, 9), (1 << 20, 0)] {
        let mut all = BTreeMap::new();
        let mut handed_over = 0;
        let mut add = |paths: &PathDictionary| {
            let before = all.len();
            all.append(&mut by_warp(paths));
            assert_eq!(all.len(), before + paths.warps().len(), "no warp comes twice");
        };
        // Nothing keeps a launch in parts from being as long as it wants.
        let launch = Launch { max_kept_bytes: 4096, ..launch.clone() };
        let device = &mut bench.device;
        let rest = execute_in_parts(device, &executable, &launch, part_bytes, &mut |part| {
            let steps: usize = part.iter().map(|(path, _)| path.len()).sum();
            // A part ends with the CTA that makes it too large: 2 paths of at most 81 steps.
            assert!(12 * (steps as u64).saturating_sub(2 * 81) <= part_bytes, "{steps} steps");
            handed_over += 1;
            add(&part);
        })
        .unwrap();
        add(&rest.paths);
        assert_eq!(all, by_warp(&whole.paths));
        assert_eq!(rest.warp_instructions, whole.warp_instructions);
        assert_eq!((rest.ctas, rest.warps), (40, 80));
        assert_eq!(handed_over, expected, "{part_bytes}");
    }
}

#[test]
fn a_launch_kept_whole_is_refused_when_it_takes_too_much() {
    let (mut bench, launch) = each_its_own();
    let executable = bench.prepare("k").unwrap();
    let launch = Launch { max_kept_bytes: 4096, ..launch };
    let fault = strata_simt::execute(&mut bench.device, &executable, &launch).unwrap_err();
    let Fault::TooMuchToKeep { place, limit: 4096, of_launch: true } = &fault else {
        panic!("{fault}")
    };
    assert!(place.thread.ctaid[0] > 0 && place.line > 0, "{place}");
    assert!(fault.to_string().contains("the launch's CTAs"), "{fault}");
    let one = Launch { record: Record::Cta(3), ..launch };
    assert!(strata_simt::execute(&mut bench.device, &executable, &one).is_ok());
}
