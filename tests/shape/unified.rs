//! Unified storage: the figures and tables of MICRO'12 and of the dissertation's chapter 7, ours
//! beside the papers'.
//!
//! The tables are written to `docs/results/unified.md`; the test compares them with what is committed
//! there, so that no number moves unseen, and asserts the trends that the page tells. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers. With
//! `STRATA_FULL_TESTS=1` the same holds for `docs/results/unified-large.md`, whose inputs are larger
//! and take minutes.

mod page;
mod paper;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject;
use strata_study::study::storage::Figure;
use strata_study::study::storage::{self, Row, Run, Study};

use crate::reports::hold_page;
use crate::switch::is_on;

/// A figure of inputs of a size; without names, those of the figure.
fn study(figure: Figure, scale: Scale, inputs: &[&str]) -> Study {
    let source = Source::of(scale);
    let request = Request::new(&source).expect("the options are valid").in_mode(Mode::Cycle);
    let names = match inputs {
        [] => figure.inputs(),
        names => names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let load =
        |name: &String| subject::workload(name, &source, &Silent).expect("the workload loads");
    let inputs: Vec<_> = names.iter().map(load).collect();
    storage::run(figure, &inputs, &request, 0, &Silent).expect("the figure is made")
}

/// The rows of an input.
fn rows<'a>(study: &'a Study, input: &str) -> impl Iterator<Item = &'a Row> {
    study.rows.iter().filter(move |row| row.input == input)
}

/// What an input did at a point; none if it does not fit.
fn run<'a>(study: &'a Study, input: &str, point: &str) -> Option<&'a Run> {
    let found = study.rows.iter().find(|row| row.input == input && row.point == point);
    found.unwrap_or_else(|| panic!("{input} at {point}")).run.as_ref()
}

/// Inputs and points, each once, in their order.
fn names(study: &Study, of: impl Fn(&Row) -> &String) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &study.rows {
        // The row lives as long as the study.
        let name = study.rows.iter().map(&of).find(|name| *name == of(row)).expect("its own");
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn inputs(study: &Study) -> Vec<&str> {
    names(study, |row| &row.input)
}

fn points(study: &Study) -> Vec<&str> {
    names(study, |row| &row.point)
}

/// A mean over the inputs that ran at a point.
fn mean(study: &Study, point: &str, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    let all = inputs(study).into_iter().filter_map(|input| run(study, input, point));
    let all: Vec<f64> = all.map(of).collect::<Option<_>>()?;
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Energy relative to the reference, in the first technology or in the one as printed.
fn energy(run: &Run, as_printed: bool) -> Option<f64> {
    run.energy.get(usize::from(as_printed))?.relative
}

/// A part of a run's energy. Unit: percent of the total.
fn part(run: &Run, name: &str) -> Option<f64> {
    let energy = run.energy.first()?;
    Some(100.0 * *energy.energy_fj.get(name)? as f64 / energy.total() as f64)
}

/// The figures of a page.
struct Figures {
    scales: [Scale; 2],
    unified: Study,
    no_benefit: Study,
    limited: Study,
    designs: Study,
    conflicts: Study,
    configuration: Study,
    registers: Study,
    shared_memory: Study,
    cache: Study,
    blocking: Study,
    needs: Study,
}

/// Those of the paper's comparisons at the first size, the others at the second.
fn figures(scales: [Scale; 2]) -> Figures {
    let [large, small] = scales;
    Figures {
        scales,
        unified: study(Figure::Unified, large, &[]),
        no_benefit: study(Figure::NoBenefit, large, &[]),
        limited: study(Figure::Limited, small, &[]),
        designs: study(Figure::Designs, small, &[]),
        conflicts: study(Figure::Conflicts, small, &[]),
        configuration: study(Figure::Configuration, small, &[]),
        registers: study(Figure::Registers, small, &[]),
        shared_memory: study(Figure::SharedMemory, small, &[]),
        cache: study(Figure::Cache, small, &[]),
        blocking: study(Figure::Blocking, small, &[]),
        needs: study(Figure::Needs, small, &[]),
    }
}

static FIGURES: LazyLock<Figures> = LazyLock::new(|| figures([Scale::Default, Scale::Small]));

/// The design of equal capacity.
const UNIFIED: &str = "micro12-unified-384";
/// The design of equal capacity with its banks arbitrated cycle by cycle.
const BY_CYCLE: &str = "micro12-unified-384, conflicts by cycle";

#[test]
fn figures_beside_the_papers() {
    hold_page("unified.md", &page::page(&FIGURES));
}

/// What the cache limits gains from more of it, and loses nothing by the division.
#[test]
fn workloads_with_more_cache_gain() {
    let of = |input| run(&FIGURES.unified, input, UNIFIED).expect("it runs");
    for input in ["bfs", "suffixtree", "srad"] {
        let own = of(input);
        assert!(own.performance > Some(1.04), "{input}: {:?}", own.performance);
        assert!(own.dram_relative < Some(0.95), "{input}: {:?}", own.dram_relative);
        assert!(energy(own, false) < Some(1.0) && energy(own, true) < Some(1.0), "{input}");
    }
}

/// Kernels that have no use for the storage lose a percent at most, by conflicts of banks.
#[test]
fn workloads_that_cannot_benefit_stay_as_they_are() {
    let study = &FIGURES.no_benefit;
    let performance = |run: &Run| run.performance;
    let all = mean(study, UNIFIED, performance).expect("all run");
    assert!((all - 1.0).abs() < 0.01, "{all}");
    for input in inputs(study) {
        let own = run(study, input, UNIFIED).expect("it runs");
        let performance = own.performance.expect("a ratio");
        // `nbody` and `dct8x8` lose most, by as much as banks that conflict cost by instruction.
        let least = if input == "nbody" { 0.988 } else { 0.99 };
        assert!(performance > least, "{input}: {performance}");
        let by_cycle = run(study, input, BY_CYCLE).expect("it runs").performance;
        assert!(by_cycle > Some(0.99), "{input}, by cycle: {by_cycle:?}");
        assert!(energy(own, false) < Some(1.03), "{input}");
    }
    let aggressive = mean(study, "micro12-unified-384, aggressive banks", performance);
    assert!((aggressive.expect("all run") - all).abs() < 0.005);
}

/// Conflicts between registers and memory cost little, and less with a hierarchy of registers.
#[test]
fn conflicts_cost_little() {
    let study = &FIGURES.conflicts;
    let loss = |level: &str, to: &str, of: &str| {
        let at = |point: &str| mean(study, &format!("{level}, {point}"), |run| run.performance);
        1.0 - at(to).expect("all run") / at(of).expect("all run")
    };
    let free = "banks of 16 bytes";
    for to in ["conflicts by instruction", "conflicts by cycle"] {
        let (flat, hierarchy) = (loss("flat", to, free), loss("hierarchy", to, free));
        assert!(flat < 0.03 && hierarchy < 0.02, "{to}: {flat} {hierarchy}");
        assert!(hierarchy < flat, "{to}: {flat} {hierarchy}");
    }
    let conflicting = |point: &str| {
        let share = |run: &Run| run.conflicts.shares().map(|shares| 100.0 - shares[0]);
        mean(study, point, share).expect("all run")
    };
    // Figure 7.10: a hierarchy more than makes up for what unified banks add.
    let partitioned = conflicting("flat, banks of 4 bytes");
    let more = conflicting("flat, conflicts by instruction") - partitioned;
    assert!((6.5..7.5).contains(&more), "{more}");
    let share = conflicting("hierarchy, conflicts by instruction") / partitioned;
    assert!((0.45..0.55).contains(&share), "{share}");
}

/// Each blocking factor gains from threads up to noise (Figure 11).
#[test]
fn needle_gains_from_threads() {
    let study = &FIGURES.blocking;
    for input in inputs(study) {
        let all: Vec<f64> = rows(study, input)
            .filter_map(|row| row.run.as_ref())
            .map(|run| run.performance.expect("a ratio"))
            .collect();
        let (first, last) = (all[0], all[all.len() - 1]);
        assert!(last > 1.2 * first, "{input}: {first} {last}");
        let mut best = 0.0;
        for performance in all {
            assert!(performance > 0.9 * best, "{input}: {performance} after {best}");
            best = performance.max(best);
        }
    }
}

/// Which is compared where that is asked for only.
#[test]
fn the_page_of_larger_inputs_has_the_tables_of_the_other() {
    let heads = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(name);
        let text = std::fs::read_to_string(path).expect("it is committed");
        let lines = text.lines().zip(text.lines().skip(1));
        let heads = lines.filter(|(_, next)| next.starts_with("| ---"));
        heads.map(|(head, _)| head.to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(heads("unified-large.md"), heads("unified.md"));
}

/// The larger inputs, where that is asked for: `needle` gains most by its blocking factor.
#[test]
fn larger_inputs_beside_the_papers() {
    if !is_on("STRATA_FULL_TESTS") {
        return;
    }
    let large = study(Figure::Unified, Scale::Large, &["bfs", "srad", "needle32", "needle64"]);
    let cycles = |point: &str| {
        let of = |input| run(&large, input, point).expect("it runs").cycles;
        of("needle32").min(of("needle64"))
    };
    assert!(cycles(UNIFIED) < cycles("micro12"));
    let own = |input| run(&large, input, UNIFIED).expect("it runs").performance;
    assert!(own("needle64") > own("bfs") && own("needle64") > own("srad"));
    let figures = figures([Scale::Default; 2]);
    let dgemm = run(&figures.designs, "dgemm", "diss-ch7-unified-384").expect("it runs");
    assert!((0.96..0.98).contains(&dgemm.performance.expect("a ratio")));
    hold_page("unified-large.md", &page::large(&large, &figures));
}
