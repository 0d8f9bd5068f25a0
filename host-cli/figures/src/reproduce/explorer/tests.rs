use std::collections::BTreeMap;
use std::sync::LazyLock;

use strata_explorer::{Input, MARK, Setting, explore};

use super::controls::CONTROLS;
use super::designs::Designs;
use super::*;
use strata_design::{self as design, Design};
use strata_measure::notes::Silent;
use strata_measure::options::Source;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::RunReport;

static DESIGNS: LazyLock<Designs> = LazyLock::new(|| designs::resolved().unwrap());

/// The committed explorer belongs to this model and format: `cargo xtask wasm` makes another. What
/// it answers is compared there.
#[test]
fn the_committed_explorer_is_of_this_model() {
    let mark: Vec<u8> = MARK.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(MODULE.starts_with(b"\0asm"));
    let held = MODULE.windows(mark.len()).filter(|bytes| *bytes == mark).count();
    assert_eq!(held, 1, "another model or format: run `cargo xtask wasm`");
}

/// Choices that are not refused, all over the catalogue, with their designs.
fn some(count: usize) -> Vec<(Vec<u8>, Design)> {
    let catalogue = &DESIGNS.catalogue;
    let all = catalogue.settings.len();
    // A step that shares no factor with the sizes of the controls.
    let places = (0..all).map(|place| (place * 10_007 + 5) % all);
    let counted = places.filter(|&place| matches!(catalogue.settings[place], Setting::Counted(_)));
    let with = counted.take(count).map(|place| {
        let choice = catalogue.choice(place).unwrap();
        let design = design::resolve(&catalogue.design(&choice).unwrap()).unwrap();
        (choice, design)
    });
    with.collect()
}

fn reports(name: &str, designs: &[Design]) -> Vec<RunReport> {
    let args = Source::of(SCALE);
    let notes = &Silent;
    let request = Request::new(&args).unwrap();
    let workload = subject::workload(name, &args, notes).unwrap();
    measure::reports(&workload, designs, &request, notes).unwrap()
}

/// The numbers of an answer by their names, under `counter` or `energy`.
fn numbers(answer: &str, kind: &str) -> BTreeMap<String, u64> {
    let fields = answer.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let of_kind = fields.filter(|fields| fields[0] == kind);
    of_kind.map(|fields| (fields[1].to_owned(), fields[2].parse().unwrap())).collect()
}

#[test]
fn the_explorer_counts_as_the_command_line_does() {
    let notes = &Silent;
    let (choices, designs): (Vec<_>, Vec<_>) = some(24).into_iter().unzip();
    let catalogue = DESIGNS.catalogue.encode().unwrap();
    let (mut known, mut managed) = (0, 0);
    for name in ["reduction", "bfs", "srad"] {
        let input = inputs::of(name, SCALE, &DESIGNS.fits, notes).unwrap();
        let input = input.encode().unwrap();
        for (choice, report) in choices.iter().zip(reports(name, &designs)) {
            let answer = explore(&catalogue, &input, choice).unwrap();
            let design = &report.design;
            assert_eq!(numbers(&answer, "counter"), report.counters, "{name}, {design}");
            let energy = report.energy_fj.unwrap_or_default();
            assert_eq!(numbers(&answer, "energy"), energy, "{name}, {design}");
            let line = |name: &str| {
                answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'))
            };
            assert_eq!(line("digest"), Some(report.digest.as_str()));
            assert_eq!(line("unavailable"), report.energy_unavailable.as_deref());
            assert_eq!(line("command"), Some(report.command.as_str()));
            let relative = report.derived["energy_relative_percent"];
            let own = line("relative").map(|percent| percent.parse::<f64>().unwrap());
            assert!(
                own.zip(relative).map_or(own == relative, |(a, b)| (a - b).abs() < 1e-5),
                "{name}, {design}: {own:?}, {relative:?}"
            );
            known += usize::from(relative.is_some());
            managed += usize::from(report.counters["orf_reads"] > 0);
        }
    }
    assert!(known > 10 && managed > 0, "{known} energies, {managed} of compiler-managed levels");
}

#[test]
fn what_a_choice_says_is_what_the_command_line_says() {
    let catalogue = &DESIGNS.catalogue;
    let input = Input::default().encode().unwrap();
    let bytes = catalogue.encode().unwrap();
    let refused = (0..catalogue.settings.len())
        .filter(|&place| matches!(catalogue.settings[place], Setting::Refused(_)));
    let mut seen = 0;
    for place in refused.step_by(97) {
        let choice = catalogue.choice(place).unwrap();
        let text = catalogue.design(&choice).unwrap();
        let answer = explore(&bytes, &input, &choice).unwrap();
        let error = design::resolve(&text).unwrap_err();
        let hint = error.hint().map(|hint| format!("hint\t{hint}\n")).unwrap_or_default();
        assert!(answer.ends_with(&format!("\nrefused\t{error}\n{hint}")), "{answer}{error}");
        seen += 1;
    }
    assert!(seen > 10, "{seen} refusals");
}

#[test]
fn controls_start_at_a_design_with_known_energy() {
    let choice = controls::first();
    let catalogue = &DESIGNS.catalogue;
    let Setting::Counted(counted) = catalogue.settings[catalogue.place(&choice).unwrap()] else {
        panic!("{choice:?} is refused");
    };
    assert!(catalogue.energies[usize::from(counted.energy)].is_ok());
    let ids: std::collections::BTreeSet<_> = CONTROLS.iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), CONTROLS.len());
}

#[test]
fn a_workload_that_is_too_large_is_told() {
    let small = Packed { workload: "bfs", input: Some(packed(b"bfs").unwrap()) };
    let large = Packed { workload: "needle", input: None };
    let mut explorer = Explorer { module: vec![1], catalogue: vec![2], inputs: vec![small] };
    let section = |explorer: &Explorer| {
        let mut text = String::new();
        section::write(&mut text, explorer);
        text
    };
    let text = section(&explorer);
    assert!(text.contains("<h2 id=\"explorer\">") && !text.contains("Left out"));
    assert!(text.contains("<option value=\"bfs\" selected>bfs (small)</option>"));
    // Data and one script, which nothing in it ends.
    assert_eq!(text.matches("</script>").count(), 4);
    explorer.inputs.push(large);
    let text = section(&explorer);
    assert!(
        text.contains("Left out, because each would add more than 128 KB to the page: needle.")
    );
    assert!(!text.contains("value=\"needle\""));
}
