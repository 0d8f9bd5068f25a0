//! `study storage`: figures whose points are what `run` says, in three formats.

use serde_json::Value;
use strata_tests::start;

use crate::outputs::Home;

fn study(home: &Home, arguments: &[&str]) -> strata_tests::Outcome {
    let mut words = vec!["study", "storage", "-q", "--scale", "small"];
    words.extend(arguments);
    start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words)
}

fn json(home: &Home, arguments: &[&str]) -> Value {
    let outcome = study(home, &[arguments, &["--format", "json"]].concat());
    assert_eq!(outcome.status, Some(0), "{outcome}");
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

fn rows(study: &Value) -> &Vec<Value> {
    study["rows"].as_array().expect("rows")
}

#[test]
fn points_are_what_run_says_of_their_designs() {
    let home = Home::new(&[]);
    let study = json(&home, &["bfs", "--figure", "unified"]);
    let rows = rows(&study);
    assert_eq!(rows.len(), 5);
    let mut first = None;
    for row in rows {
        let design = row["point"].as_str().expect("a name");
        let words =
            ["run", "bfs", "--mode", "cycle", "--scale", "small", "--format", "json", "--design"];
        let words = [&words[..], &[design]].concat();
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
        let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let report = report.as_array().map_or(&report, |all| &all[0]);
        let run = &row["run"];
        assert_eq!(run["cycles"], report["counters"]["cycles"], "{design}");
        assert_eq!(run["dram_bytes"], report["data_cache"]["dram_bytes"], "{design}");
        let cycles = run["cycles"].as_f64().expect("cycles");
        let reference = *first.get_or_insert(cycles);
        assert_eq!(run["performance"].as_f64(), Some(reference / cycles), "{design}");
    }
}

#[test]
fn a_figure_by_registers_runs_what_was_compiled_for_them() {
    let home = Home::new(&[]);
    let study = json(&home, &["pcr", "--figure", "registers"]);
    let rows = rows(&study);
    assert_eq!(rows.len(), 20);
    // `pcr` has 26 registers: fewer spill, more change nothing.
    let registers: Vec<_> = rows.iter().step_by(4).map(|row| &row["run"]["registers"]).collect();
    assert_eq!(registers, [18, 24, 26, 26, 26]);
    let instructions = |row: &Value| row["run"]["instructions_relative"].as_f64().expect("ratio");
    assert!(instructions(&rows[0]) > instructions(&rows[4]) && instructions(&rows[4]) > 1.0);
    assert!((instructions(&rows[8]) - 1.0).abs() < 1e-12);
    let threads: Vec<_> = rows[..4].iter().map(|row| &row["run"]["partition"]["threads"]).collect();
    assert_eq!(threads, [256, 512, 768, 1024]);
}

#[test]
fn what_does_not_fit_a_point_is_told_there() {
    let home = Home::new(&[]);
    let study = json(&home, &["needle64", "--figure", "limited"]);
    let [wide, narrow] = &rows(&study)[..] else { panic!("two rows") };
    assert!(wide["run"].is_object() && wide["refused"].is_null());
    let refused = narrow["refused"].as_str().expect("a reason");
    assert_eq!(refused, "a CTA needs 33284 bytes of shared memory, but an SM has 16384");
    assert!(narrow["run"].is_null());
    // All inputs are compared with the last one.
    let study = json(&home, &["needle16", "needle32", "--figure", "blocking"]);
    assert_eq!(study["compared_with"], "needle32: 1024 threads");
    let last = &rows(&study)[63]["run"];
    assert_eq!((&last["performance"], &last["dram_relative"]), (&1.0.into(), &1.0.into()));
    // Half of the lanes of 64 warps.
    assert_eq!(rows(&study)[31]["run"]["partition"]["threads"], 1024);
}

#[test]
fn formats_have_the_same_rows_and_wrong_inputs_are_refused() {
    let home = Home::new(&[]);
    let table = study(&home, &["pcr", "--figure", "needs"]);
    insta::assert_snapshot!("the_needs_of_a_kernel", table.stdout);
    let csv = study(&home, &["pcr", "--figure", "needs", "--format", "csv"]);
    let lines: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0].split(',').count()), (9, 12));
    assert!(lines.iter().all(|line| line.split(',').count() == 12), "{}", csv.stdout);
    for (words, part) in [
        (&["pcr", "--registers", "20"][..], "`--registers` is part of a figure here"),
        (&["kernelslist.g"], "is a trace"),
        (&["--figure", "caches"], "possible values"),
    ] {
        let outcome = study(&home, words);
        assert_eq!(outcome.status, Some(2), "{outcome}");
        assert!(outcome.stderr.contains(part), "{outcome}");
    }
}
