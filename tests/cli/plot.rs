//! `--plot`: charts of tables.

use std::path::Path;

use strata_tests::{Outcome, start};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn typed(folder: &Path, command: &str) -> Outcome {
    let words: Vec<&str> = command.split_whitespace().collect();
    start(env!("CARGO_BIN_EXE_strata-under-test"), folder, &words)
}

fn succeeds(folder: &Path, command: &str) -> String {
    let done = typed(folder, command);
    assert_eq!(done.status, Some(0), "`{command}`: {done}");
    done.stdout
}

fn file(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const RUN: &str = "run vectoradd matrixmul --scale small --design isca11 --design isca11-rfc6";

#[test]
fn a_run_draws_its_designs_and_prints_its_table_all_the_same() {
    let folder = folder();
    let plain = succeeds(folder.path(), RUN);
    assert_eq!(succeeds(folder.path(), &format!("{RUN} --plot energy.svg")), plain);
    let chart = file(folder.path(), "energy.svg");
    for told in ["energy_relative_percent by workload", "isca11-rfc6", "matrixmul"] {
        assert!(chart.contains(told), "{told}: {chart}");
    }
    // Its own file is replaced.
    let csv =
        succeeds(folder.path(), &format!("{RUN} --mode cycle --format csv --plot energy.svg"));
    assert!(file(folder.path(), "energy.svg").contains("ipc by workload"));
    assert_eq!(csv, succeeds(folder.path(), &format!("{RUN} --mode cycle --format csv")));
}

#[test]
fn a_page_has_the_numbers() {
    let folder = folder();
    let command = "study registers vectoradd --scale small --try 16,64";
    let csv = succeeds(folder.path(), &format!("{command} --format csv"));
    succeeds(folder.path(), &format!("{command} --plot spills.html"));
    let page = file(folder.path(), "spills.html");
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name| header.iter().position(|column| *column == name).expect(name);
    let (registers, percent) = (at("registers"), at("relative_percent"));
    let mut compared = 0;
    for row in rows.filter(|row| !row[percent].is_empty()) {
        let value: f64 = row[percent].parse().expect("a number");
        let told = format!(
            "<th scope=\"row\">{}</th><td class=\"number\">{value:.3}</td>",
            row[registers]
        );
        assert!(page.contains(&told), "{told}");
        compared += 1;
    }
    assert!(compared > 1, "{csv}");
}

#[test]
fn every_study_with_an_axis_is_drawn() {
    let folder = folder();
    for (command, told) in [
        ("study active-warps vectoradd --scale small --active-warps 4,all", "ipc by active_warps"),
        (
            "study write-pool vectoradd --scale small --entries 0,8 --ports 1rw --write-cycles 3",
            "split_bank_write true",
        ),
        ("study storage vectoradd --figure no-benefit --scale small", "performance by point"),
        ("study residency vectoradd --scale small", "warpman_ctas"),
        ("study encoding vectoradd --scale small", "energy_relative_percent by pairs"),
    ] {
        succeeds(folder.path(), &format!("{command} --plot chart.svg"));
        let chart = file(folder.path(), "chart.svg");
        assert!(chart.contains(told), "{command}: {told}");
    }
}

#[test]
fn a_pivot_is_drawn() {
    let folder = folder();
    let sweep = "sweep --vary cache.entries=3..6 --vary active_warps=4,8 --workload vectoradd \
                 --scale small --out points";
    succeeds(folder.path(), sweep);
    let pivot = "sweep table points --pivot cache.entries active_warps energy_total_fj";
    let plain = succeeds(folder.path(), pivot);
    assert_eq!(succeeds(folder.path(), &format!("{pivot} --plot pivot.svg")), plain);
    let chart = file(folder.path(), "pivot.svg");
    assert!(chart.contains("energy_total_fj by cache.entries"), "{chart}");
    assert!(chart.contains("active_warps 8"), "{chart}");
    // The points' order, also where the energy is not known.
    let places = ["3", "4", "5", "6"].map(|tick| chart.find(&format!(">{tick}</text>")));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {chart}");
    let refused = typed(folder.path(), "sweep table points --plot pivot.svg");
    assert_eq!(refused.status, Some(2));
    insta::assert_snapshot!(refused.stderr, @r"
    error: a table without `--pivot` has no axis to draw
      hint: `--pivot cache.entries active_warps ipc` says what is drawn over what
    ");
}

#[test]
fn nothing_of_others_is_replaced_and_endings_are_known() {
    let folder = folder();
    std::fs::write(folder.path().join("own.svg"), "<svg/>").expect("a file");
    let refused = typed(folder.path(), &format!("{RUN} --plot own.svg"));
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(refused.stderr, @r"
    error: `own.svg` is there and does not begin like a chart of Strata
      hint: name another file to write; `--force` replaces this one
    ");
    assert_eq!(file(folder.path(), "own.svg"), "<svg/>");
    succeeds(folder.path(), &format!("{RUN} --plot own.svg --force"));
    assert!(file(folder.path(), "own.svg").contains("isca11-rfc6"));
    let refused = typed(folder.path(), &format!("{RUN} --plot energy.png"));
    assert_eq!(refused.status, Some(2));
    insta::assert_snapshot!(refused.stderr, @r"
    error: `energy.png` would be a picture of pixels, which Strata does not draw
      hint: end its name in `.svg`, and convert that: `rsvg-convert -z 2 chart.svg -o chart.png`, Inkscape and browsers can
    ");
    let refused = typed(folder.path(), &format!("{RUN} --plot energy.gif"));
    assert_eq!(refused.status, Some(2));
    insta::assert_snapshot!(refused.stderr, @r"
    error: `energy.gif` is no file for a chart
      hint: end its name in `.svg`, or in `.html` for a page with the numbers
    ");
}
