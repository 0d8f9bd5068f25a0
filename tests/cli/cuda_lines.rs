//! Lines of CUDA and what they cost: where the PTX names them, in every text that names lines of
//! PTX; profiles by line; and which kernels the executor takes.

use serde_json::Value;

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

/// `inspect --profile` of the test's file, with more words.
fn profile(more: &[&'static str]) -> Vec<&'static str> {
    let words = ["inspect", "lines.ptx", "--profile", "--launch", "lines.toml", "--scale", "small"];
    [&words[..], more].concat()
}

shows! {
    a_file_with_a_kernel_that_does_not_run: 1, ["inspect", "lines.ptx"];
    graphs_of_kernels_of_which_one_does_not_run:
        1, ["inspect", "lines.ptx", "--format", "dot"];
    a_kernel_that_runs_beside_one_that_does_not: 0, ["inspect", "lines.ptx", "--kernel", "scale"];
    a_kernel_that_calls_what_does_not_run: 1, ["inspect", "dropped.ptx"];
    a_kernel_of_which_two_instructions_do_not_run: 1, ["inspect", "unsupported.ptx"];
    an_access_outside_every_buffer: 2, ["run", "lines.ptx", "--launch", "lines-outside.toml"];
    a_launch_of_a_kernel_that_does_not_run:
        2, ["run", "lines.ptx", "--launch", "lines-arrive.toml"];
    an_explained_line: 0, ["explain", "lines.ptx", "31"];
    a_profile: 0, profile(&[]);
    a_profile_in_time: 0, profile(&["--mode", "cycle"]);
    a_profile_in_time_without_a_data_cache:
        0, profile(&["--mode", "cycle", "--design", "isca11-rfc6"]);
    the_dearest_lines: 0, profile(&["--sort", "energy", "--top", "4"]);
    the_lines_that_are_waited_for_longest:
        0, profile(&["--mode", "cycle", "--sort", "stalls", "--top", "4"]);
    the_first_lines: 0, profile(&["--top", "2"]);
    lines_as_csv: 0, profile(&["--format", "csv", "--sort", "energy"]);
    lines_in_time_as_csv: 0, profile(&["--format", "csv", "--mode", "cycle"]);
    lines_as_json: 0, profile(&["--format", "json", "--top", "2", "--sort", "executions"]);
    lines_in_time_as_json:
        0, profile(&["--format", "json", "--top", "1", "--mode", "cycle", "--sort", "stalls"]);
    lines_of_several_kernels:
        0, ["inspect", "bfs", "--profile", "--scale", "small", "--sort", "energy", "--top", "5"];
    lines_without_cuda_as_csv: 0, [
        "inspect", "bfs", "--profile", "--scale", "small", "--sort", "energy", "--top", "2",
        "--format", "csv"
    ];
    lines_without_energies: 0, [
        "inspect", "lines.ptx", "--profile", "--launch", "lines.toml", "--scale", "small",
        "--design", "isca11-rfc13", "--sort", "executions", "--top", "1"
    ];
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(arguments)).expect("JSON")
}

/// A number of each line.
fn numbers(report: &Value, key: &str) -> Vec<u64> {
    let lines = report["lines"].as_array().expect("lines");
    lines.iter().map(|line| line[key].as_u64().expect("a number")).collect()
}

/// A kernel with spills, so that several instructions have one line.
const SPILLED: [&str; 9] = [
    "inspect",
    "matrixmul",
    "--profile",
    "--scale",
    "small",
    "--registers",
    "16",
    "--format",
    "json",
];

#[test]
fn sorted_lines_are_all_lines_in_descending_order() {
    for (mode, key, order) in [
        ("count", "energy_fj", "energy"),
        ("count", "executions", "executions"),
        ("cycle", "executions", "executions"),
        ("cycle", "stall_cycles", "stalls"),
    ] {
        let by = |order| json(&[&SPILLED[..], &["--mode", mode, "--sort", order]].concat());
        let (lines, sorted) = (by("line"), by(order));
        let mut expected = numbers(&lines, key);
        assert!(!expected.is_sorted_by(|a, b| a >= b), "{order}: sorting changes something");
        assert_eq!(sorted["total"][key].as_u64(), Some(expected.iter().sum()), "{order}");
        expected.sort_by(|a, b| b.cmp(a));
        assert_eq!(numbers(&sorted, key), expected, "{order}");
        // Equal ones stay in the order of the file.
        let keys = numbers(&sorted, key).into_iter().map(std::cmp::Reverse);
        let places = keys.zip(numbers(&sorted, "ptx_line"));
        assert!(places.is_sorted(), "{order}: one kernel");
        let top = json(&[&SPILLED[..], &["--mode", mode, "--sort", order, "--top", "3"]].concat());
        assert_eq!(numbers(&top, key), expected[..3], "{order}");
        assert_eq!((&top["total"], &top["lines_total"]), (&lines["total"], &lines["lines_total"]));
    }
}

/// Lines add up to what `run` reports.
#[test]
fn lines_add_up_to_the_report_of_the_run() {
    let run = [
        "run",
        "matrixmul",
        "--scale",
        "small",
        "--registers",
        "16",
        "--format",
        "json",
        "--design",
        "isca11-rfc6",
    ];
    let report = json(&run);
    let lines = json(&SPILLED);
    let sum = |key: &str| numbers(&lines, key).iter().sum::<u64>();
    for (key, counter) in
        [("executions", "warp_instructions"), ("thread_instructions", "thread_instructions")]
    {
        assert_eq!(Some(sum(key)), report[0]["counters"][counter].as_u64(), "{key}");
        assert_eq!(Some(sum(key)), lines["total"][key].as_u64(), "{key}");
    }
    assert_eq!(Some(sum("energy_fj")), report[0]["energy_fj"]["total"].as_u64());
    let in_time = json(&[&SPILLED[..], &["--mode", "cycle"]].concat());
    for key in ["executions", "thread_instructions"] {
        assert_eq!(numbers(&in_time, key), numbers(&lines, key), "{key} need no time");
    }
    assert!(numbers(&lines, "instructions").iter().any(|&count| count > 1), "spills");
}

/// The command in a report gives the report.
#[test]
fn a_report_says_how_it_is_made_again() {
    let arguments =
        profile(&["--format", "json", "--top", "2", "--mode", "cycle", "--kernel", "scale"]);
    let report = json(&arguments);
    let command = report["command"].as_str().expect("a command").to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(json(&words), report, "{command}");
}
