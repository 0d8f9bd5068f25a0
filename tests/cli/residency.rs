//! `study residency`: the paper's kernels and ours, in three formats.

use serde_json::Value;

use crate::commands::succeeds;
use crate::strata;

#[test]
fn a_study_of_one_workload() {
    insta::assert_snapshot!(succeeds(&["study", "residency", "-q", "hotspot"]));
    insta::assert_snapshot!(succeeds(&[
        "study",
        "residency",
        "-q",
        "hotspot",
        "--ptx",
        "nvcc32",
        "--threshold",
        ".50",
        "--format",
        "csv"
    ]));
}

fn json(arguments: &[&str]) -> Value {
    let words = ["study", "residency", "-q", "--format", "json"];
    serde_json::from_str(&succeeds(&[&words, arguments].concat())).expect("JSON")
}

fn row<'a>(study: &'a Value, machine: &str, kernel: &str) -> &'a Value {
    let rows = study["rows"].as_array().expect("rows");
    let wanted = |row: &&Value| row["machine"] == machine && row["kernel"] == kernel;
    rows.iter().find(wanted).expect("the kernel is there")
}

#[test]
fn the_command_makes_the_same_again() {
    let study = json(&["hotspot", "--registers", "20", "--threshold", "0.625"]);
    let command = study["command"].as_str().expect("a command");
    assert_eq!(
        command,
        "strata study residency hotspot --threshold 0.625 --scale default --registers 20"
    );
    let words: Vec<&str> = command.split(' ').skip(3).collect();
    assert_eq!(json(&words), study);
    assert_eq!(study["threshold"], 0.625);
}

/// Registers are those of the kernel as it is compiled for each machine.
#[test]
fn registers_are_those_that_a_machine_can_name() {
    let study = json(&["dgemm"]);
    let registers = |machine| row(&study, machine, "dgemm")["registers"].as_u64();
    // 64 threads of 62 and of 72 registers.
    assert_eq!((registers("Fermi"), registers("Maxwell")), (Some(64 * 62), Some(64 * 72)));
    let few = json(&["dgemm", "--registers", "40"]);
    let registers = |machine| row(&few, machine, "dgemm")["registers"].as_u64();
    assert_eq!((registers("Fermi"), registers("Maxwell")), (Some(64 * 40), Some(64 * 40)));
}

#[test]
fn what_cannot_be_is_refused() {
    for threshold in ["0", "1", "0.0", "1.0", "0.00001", "-.5", "0.5x", "0.", "."] {
        let option = format!("--threshold={threshold}");
        let outcome = strata(&["study", "residency", &option]);
        assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""), "{threshold}");
        assert!(outcome.stderr.contains("above 0 and below 1"), "{threshold}: {}", outcome.stderr);
    }
    let outcome = strata(&["study", "residency", "tiny.traceg"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.stderr.contains("is a trace, whose registers are already chosen"));
}
