//! Every built-in workload with its values in compiler-managed hierarchies: the levels hold what
//! the registers held, bit for bit, and a placement that is wrong shows.

use strata_compiler::RegisterLimit;
use strata_core::placement::{Placement, Upper};
use strata_design::{Design, resolve};
use strata_measure::levels::FittedKernels;
use strata_simt::PlacementError;
use strata_workload::{Options, Overrides, Prepared, RunError, Toolchain, Workload, all_names};

/// Hierarchies of each kind.
const DESIGNS: [&str; 4] =
    ["diss-orf1", "diss-orf3", "diss-orf8-lrf-unified", "diss-orf3-lrf-split"];

fn prepared(name: &str, registers: Option<u16>) -> Prepared {
    let mut workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
    workload.options.registers = registers.and_then(RegisterLimit::new);
    Prepared::new(&workload, "small", &Overrides::new()).expect(name)
}

fn run(prepared: &Prepared) -> Result<Vec<Vec<u8>>, RunError> {
    // The budget stops loops that a wrong value makes endless.
    let options = Options { max_instructions: 400_000, cta: Some(0), ..Options::default() };
    prepared.execute(&options, |_| {})
}

/// Placements of every kernel.
fn placements(prepared: &Prepared, design: &Design) -> Vec<Vec<Placement>> {
    let mut levels = FittedKernels::default();
    let mut of = |program| {
        let hierarchy = levels.of(design, Some(program)).expect("fits").expect("is managed");
        hierarchy.placements.clone()
    };
    prepared.programs.iter().map(&mut of).collect()
}

fn at_levels(prepared: Prepared, placements: &[Vec<Placement>]) -> Prepared {
    let lists: Vec<&[Placement]> = placements.iter().map(Vec::as_slice).collect();
    prepared.with_levels(&lists).expect("the lists fit")
}

/// Slots that name the operand register file, and slots that name the last result file.
fn served(placements: &[Vec<Placement>]) -> [usize; 2] {
    let count = |wanted: fn(Upper) -> bool| {
        placements.iter().flatten().filter(|slot| slot.upper.is_some_and(wanted)).count()
    };
    [count(|upper| matches!(upper, Upper::Orf(_))), count(|upper| matches!(upper, Upper::Lrf(_)))]
}

fn same_results(design: &str, registers: Option<u16>) {
    let design = resolve(design).expect("the design exists");
    let (mut orf, mut lrf) = (0, 0);
    for name in all_names() {
        let plain = prepared(name, registers);
        let expected = run(&plain).expect(name);
        let placements = placements(&plain, &design);
        let [in_orf, in_lrf] = served(&placements);
        assert!(in_orf + in_lrf > 0, "{name} keeps nothing");
        (orf, lrf) = (orf + in_orf, lrf + in_lrf);
        let fitted = at_levels(plain, &placements);
        let finals = run(&fitted).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(finals == expected, "{name} computes something else in {}", design.name);
        for comparison in fitted.compare(&finals).expect(name).expect("has a check") {
            assert_eq!(comparison.mismatches, 0, "{name} in {}: {comparison}", design.name);
        }
    }
    assert_eq!(lrf > 0, design.name.contains("lrf"), "{orf} slots in the ORF, {lrf} in the LRF");
}

#[test]
fn workloads_compute_the_same_through_one_entry() {
    same_results(DESIGNS[0], None);
}

#[test]
fn workloads_compute_the_same_through_three_entries() {
    same_results(DESIGNS[1], None);
}

#[test]
fn workloads_compute_the_same_through_a_unified_last_result_file() {
    same_results(DESIGNS[2], None);
}

#[test]
fn workloads_compute_the_same_through_a_split_last_result_file() {
    same_results(DESIGNS[3], None);
}

#[test]
fn workloads_that_spill_compute_the_same_through_their_levels() {
    same_results(DESIGNS[3], Some(16));
    same_results(DESIGNS[2], Some(18));
}

/// Reads of one slot at a time find another entry.
#[test]
fn wrong_placements_show() {
    let design = resolve("diss-orf3").expect("the design exists");
    let plain = prepared("matrixmul", None);
    let expected = run(&plain).expect("runs");
    let right = placements(&plain, &design);
    let (mut tried, mut noticed) = (0, 0);
    for slot in 0..right[0].len() {
        let Placement { main: false, upper: Some(Upper::Orf(entry)) } = right[0][slot] else {
            continue;
        };
        let mut wrong = right.clone();
        wrong[0][slot].upper = Some(Upper::Orf((entry + 1) % 3));
        let fitted = at_levels(prepared("matrixmul", None), &wrong);
        // A fault shows it too.
        noticed += u32::from(!run(&fitted).is_ok_and(|finals| finals == expected));
        tried += 1;
    }
    // Some are on paths that matrices of this size do not take, or read values that stay unused.
    assert!(tried > 50 && noticed * 4 > tried * 3, "{noticed} of {tried}");
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let plain = prepared("vectoradd", None);
    let slots = plain.programs[0].image.slots.len();
    let short = vec![Placement::MAIN; slots - 1];
    let message = |lists: &[&[Placement]]| {
        let error = prepared("vectoradd", None).with_levels(lists).expect_err("too short");
        assert!(matches!(error, PlacementError::Placements { .. }));
        error.to_string()
    };
    let expected = |found: usize| {
        format!(
            "kernel `vectoradd`: {found} placements for {slots} register slots: pass the \
             placements of a hierarchy fitted to it"
        )
    };
    assert_eq!(message(&[&short]), expected(slots - 1));
    assert_eq!(message(&[]), expected(0));
}
