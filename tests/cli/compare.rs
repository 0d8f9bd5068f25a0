//! Designs compared: `run --baseline`, `diff`, `pareto`, and energy that no table prints.

use serde_json::Value;
use strata_tests::start;

use crate::commands::succeeds;
use crate::strata;

macro_rules! shows {
    ($($name:ident: $status:literal, $arguments:expr;)+) => {$(
        #[test]
        fn $name() {
            let outcome = strata(&$arguments);
            assert_eq!(outcome.status, Some($status), "{outcome}");
            insta::assert_snapshot!(outcome);
        }
    )+};
}

const FEWER: &str = "isca11-rfc6,cache.entries=3";

shows! {
    designs_against_a_baseline_over_seeds: 0, [
        "run", "vectoradd", "bfs", "--scale", "small", "--mode", "cycle", "--baseline", "isca11",
        "--design", "isca11-rfc6", "--design", "isca11-rfc13", "--energy", "interpolate", "--seeds",
        "2"
    ];
    a_baseline_in_count_mode: 0, [
        "run", "vectoradd", "mandelbrot", "--scale", "small", "--baseline", "isca11", "--design",
        "isca11-rfc6", "--seeds", "2", "--format", "csv"
    ];
    what_fewer_entries_change: 0, [
        "diff", "isca11-rfc6", FEWER, "vectoradd", "--scale", "small", "--lines", "3"
    ];
    what_fewer_entries_change_in_time: 0, [
        "diff", "isca11-rfc6", FEWER, "vectoradd", "--scale", "small", "--mode", "cycle",
        "--lines", "2"
    ];
    nothing_changes: 0, [
        "diff", "isca11-rfc6", "isca11-rfc6,cache.entries=6", "vectoradd", "--scale", "small"
    ];
    energy_of_a_size_that_no_table_prints: 0, ["cost", "isca11-rfc13", "--energy", "interpolate"];
    a_baseline_alone: 2, ["run", "vectoradd", "--baseline", "isca11"];
    a_digest_of_a_comparison: 2, [
        "run", "vectoradd", "--scale", "small", "--baseline", "isca11", "--design", "isca11-rfc6",
        "--format", "digest"
    ];
    seeds_without_a_baseline: 2, ["run", "vectoradd", "--seeds", "3"];
    seeds_and_a_seed: 2, [
        "run", "vectoradd", "--baseline", "isca11", "--design", "isca11-rfc6", "--seeds", "3",
        "--set", "seed=1"
    ];
    a_design_and_a_file: 2, ["diff", "isca11", "run.json"];
    files_that_are_not_there: 2, ["diff", "one.json", "other.json"];
    energy_of_a_file_that_is_not_there: 2, ["cost", "isca11", "--energy", "none.toml"];
    energy_of_no_file: 2, ["cost", "isca11", "--energy", "interpolated"];
    no_sweep: 2, ["pareto", "nowhere"];
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(arguments)).expect("JSON")
}

/// The ratio is that of the numbers which `run` reports.
#[test]
fn ratios_are_those_of_two_runs() {
    let input = ["reduction", "--scale", "small", "--mode", "cycle", "--format", "json"];
    let run = |design: &str| {
        let run = json(&[&["run", "--design", design][..], &input].concat());
        let cycles = run[0]["counters"]["cycles"].as_f64().expect("cycles");
        (cycles, run[0]["energy_fj"]["total"].as_f64().expect("energy"))
    };
    let (baseline, own) = (run("isca11"), run("isca11-rfc6"));
    let compared = ["run", "--baseline", "isca11", "--design", "isca11-rfc6"];
    let line = &json(&[&compared[..], &input].concat())["lines"][0];
    let near = |key: &str, expected: f64| {
        let found = line[key]["mean"].as_f64().expect("a ratio");
        assert!((found - expected).abs() < 1e-6, "{key}: {found}, not {expected}");
    };
    near("speedup", baseline.0 / own.0);
    near("energy_ratio", baseline.1 / own.1);
    near("energy_delay_ratio", baseline.0 * baseline.1 / (own.0 * own.1));
    assert_eq!(line["total_energy_ratio"], Value::Null);
}

/// Files of two runs say what the designs themselves say.
#[test]
fn files_differ_as_their_designs_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let in_folder = |arguments: &[&str]| {
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), folder.path(), arguments);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        outcome.stdout
    };
    let input = ["vectoradd", "--scale", "small", "--format", "json"];
    for (design, file) in [("isca11-rfc6", "one.json"), (FEWER, "other.json")] {
        let text = in_folder(&[&["run", "--design", design][..], &input].concat());
        std::fs::write(folder.path().join(file), text).expect("a file");
    }
    let of_files = in_folder(&["diff", "one.json", "other.json", "--format", "json"]);
    let of_designs = in_folder(&[&["diff", "isca11-rfc6", FEWER][..], &input].concat());
    let [files, designs] =
        [of_files, of_designs].map(|text| serde_json::from_str::<Value>(&text).expect("JSON"));
    assert_eq!(files["workloads"], designs["workloads"]);
    assert_eq!(files["parameters"], designs["parameters"]);
    // The changes of the events' energies are the change of the whole.
    let workload = &designs["workloads"][0];
    let events = workload["events"].as_array().expect("events");
    let sum: i64 = events.iter().filter_map(|event| event["energy_change_fj"].as_i64()).sum();
    let energy = |side: &str| workload["energy_fj"][side].as_i64().expect("energy");
    assert_eq!(sum, energy("to") - energy("from"));
}

/// No design of the front is beaten by a point of the sweep, and every other is.
#[test]
fn the_front_of_a_sweep() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let in_folder = |arguments: &[&str]| {
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), folder.path(), arguments);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        outcome.stdout
    };
    in_folder(&[
        "sweep",
        "--workload",
        "reduction",
        "--scale",
        "small",
        "--vary",
        "cache.entries=1..13",
        "--energy",
        "interpolate",
        "--mode",
        "cycle",
        "--out",
        "out",
    ]);
    let table = in_folder(&["sweep", "table", "out", "--format", "json"]);
    let points: Vec<Value> = serde_json::from_str(&table).expect("JSON");
    assert!(points.iter().all(|point| point["missing_energy"] != "unknown"));
    assert_eq!(points[12]["missing_energy"], "interpolated");
    let of = |point: &Value| {
        let number = |key: &str| point[key].as_f64().expect("a number");
        (number("cache.entries"), number("energy_total_fj"), number("ipc"))
    };
    let all: Vec<_> = points.iter().map(of).collect();
    let beaten = |one: &(f64, f64, f64)| {
        all.iter().any(|other| {
            other.1 <= one.1 && other.2 >= one.2 && (other.1 < one.1 || other.2 > one.2)
        })
    };
    let mut expected: Vec<f64> =
        all.iter().filter(|one| !beaten(one)).map(|(entries, ..)| *entries).collect();
    let front = in_folder(&["pareto", "out", "--format", "json"]);
    let front: Vec<Value> = serde_json::from_str(&front).expect("JSON");
    let mut found: Vec<f64> = front.iter().map(|point| of(point).0).collect();
    found.sort_by(f64::total_cmp);
    expected.sort_by(f64::total_cmp);
    assert!(!found.is_empty() && found.len() < 13, "{found:?}");
    assert_eq!(found, expected);
    // Of storage alone the smallest cache is the best: 128 KB, and a register of 32 lanes for each of 8 warps.
    let smallest = in_folder(&["pareto", "out", "--minimise", "storage_bytes", "--format", "csv"]);
    assert_eq!(smallest, "cache.entries,storage_bytes\n1,132096\n");
}
