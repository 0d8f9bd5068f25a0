//! What can be named, as text, CSV, JSON and Markdown; inputs of which some fail.

use clap::CommandFactory as _;
use serde_json::Value;

use crate::commands::succeeds;
use crate::strata;

fn json(arguments: &[&str]) -> Vec<Value> {
    serde_json::from_str(&succeeds(arguments)).expect("JSON")
}

#[test]
fn every_design_is_a_row_with_its_parameters() {
    let designs = json(&["designs", "--format", "json"]);
    let text = succeeds(&["designs"]);
    let of = |name: &str| {
        let found = designs.iter().find(|design| design["design"] == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(of("isca11-rfc6")["cache.entries"], 6);
    assert_eq!(of("isca11-rfc6")["machine"], "isca11");
    assert_eq!(of("isca11")["cache.entries"], Value::Null);
    for design in &designs {
        let name = design["design"].as_str().expect("a name");
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{name}");
    }
    let csv = succeeds(&["designs", "--format", "csv"]);
    assert_eq!(csv.lines().count(), designs.len() + 1);
    assert!(csv.starts_with("design,machine,source,partial_warp_energy,"), "{csv}");
}

#[test]
fn every_size_of_a_workload_is_a_row() {
    let workloads = json(&["workloads", "--format", "json"]);
    let small =
        workloads.iter().find(|row| row["workload"] == "vectoradd" && row["size"] == "small");
    let small = small.expect("a row");
    assert_eq!(small["group"], "suite");
    assert_eq!(small["parameters"], "ctas=16 n=24011");
    let markdown = succeeds(&["workloads", "--format", "markdown"]);
    assert_eq!(markdown.lines().count(), workloads.len() + 2);
    assert!(markdown.starts_with("| group | workload | size | parameters | description |\n"));
}

#[test]
fn every_command_has_a_page() {
    let program = succeeds(&["man"]);
    assert!(program.contains(".TH strata 1"), "{program}");
    for command in strata::cli::Cli::command().get_subcommands() {
        let name = command.get_name();
        let page = succeeds(&["man", name]);
        assert!(page.contains(&format!(".TH strata-{name} 1")), "{page}");
    }
    let page = succeeds(&["man", "sweep", "table"]);
    assert!(page.contains("One value, in a line for each value of a column"), "{page}");
    let wrong = strata(&["man", "swep"]);
    assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("did you mean `sweep`?"), "{wrong}");
}

/// A trace has no program that a compiler could fit to a design.
#[test]
fn inputs_that_fail_do_not_keep_others_from_being_measured() {
    let one = ["run", "tiny.traceg", "vectoradd", "--scale", "small", "--design", "diss-orf3"];
    let stopped = strata(&one);
    assert_eq!((stopped.status, stopped.stdout.as_str()), (Some(2), ""), "{stopped}");
    let outcome = strata(&[&one[..], &["--keep-going", "--format", "csv"]].concat());
    assert_eq!(outcome.status, Some(1), "{outcome}");
    let alone = ["run", "vectoradd", "--scale", "small", "--design", "diss-orf3"];
    assert_eq!(outcome.stdout, succeeds(&[&alone[..], &["--format", "csv"]].concat()));
    assert!(outcome.stderr.contains("error: `tiny.traceg` cannot be counted"), "{outcome}");
    assert!(outcome.stderr.contains("note: 1 of 2 inputs failed"), "{outcome}");
}
