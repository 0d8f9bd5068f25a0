//! Determinism: the same bytes on every run and for every number of threads.

use crate::strata;

/// The digests of every workload under designs that differ in every part that has state.
fn digests(jobs: &str, mode: &str) -> String {
    let outcome = strata(&[
        "run",
        "--scale",
        "small",
        "--format",
        "digest",
        "--mode",
        mode,
        "-j",
        jobs,
        "--design",
        "isca11",
        "--design",
        "isca11-rfc6",
        "--design",
        "isca11-rfc6-lru-nolive-single-reads",
        "--design",
        "diss-rfc3-bypass",
    ]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    outcome.stdout
}

#[test]
fn two_runs_and_every_number_of_jobs_give_the_same_digests() {
    for mode in ["count", "cycle"] {
        let first = digests("1", mode);
        for jobs in ["1", "2", "4"] {
            assert_eq!(first, digests(jobs, mode), "{mode} mode, {jobs} jobs after one");
        }
        // Equal because they were counted, not because nothing was: every line has its own.
        let mut lines: Vec<&str> = first.lines().collect();
        assert!(lines.len() >= 4 * 12, "{first}");
        lines.sort_by_key(|line| line.split(' ').nth(3));
        for pair in lines.windows(2) {
            let [one, two] = [0, 1].map(|index| pair[index].split(' ').nth(3));
            assert_ne!(one, two, "{mode} mode: {pair:?}");
        }
    }
}

#[test]
fn every_run_and_every_number_of_jobs_prints_the_same_bytes() {
    for (format, mode) in
        [("table", "count"), ("json", "count"), ("csv", "count"), ("json", "cycle")]
    {
        let run = |jobs: &str| {
            let outcome = strata(&[
                "run", "--scale", "small", "--format", format, "--mode", mode, "-j", jobs,
            ]);
            assert_eq!(outcome.status, Some(0), "{outcome}");
            outcome
        };
        let first = run("1");
        assert_eq!(first, run("1"), "{format}: two runs with one thread");
        assert_eq!(first, run("2"), "{format}: one thread and two");
        assert_eq!(first, run("7"), "{format}: one thread and seven");
    }
}

#[test]
fn a_study_prints_the_same_bytes_for_every_number_of_jobs() {
    for format in ["table", "json", "csv"] {
        let run = |jobs: &str| {
            let outcome = strata(&[
                "study",
                "active-warps",
                "--scale",
                "small",
                "--active-warps",
                "3,all",
                "--order",
                "ptx,scheduled",
                "--format",
                format,
                "-j",
                jobs,
            ]);
            assert_eq!(outcome.status, Some(0), "{outcome}");
            outcome
        };
        let first = run("1");
        assert_eq!(first, run("2"), "{format}: one thread and two");
        assert_eq!(first, run("7"), "{format}: one thread and seven");
    }
}

/// What a report says of how it was made makes it again, from files as from names.
#[test]
fn the_command_of_a_report_makes_it_again() {
    for arguments in [
        "run good.ptx --launch good.toml --design mine.toml --registers 24 --order close",
        "run dct8x8 --scale small --set rows=80 --design diss-orf3-lrf-split --launch-index 0",
        "run reduction --scale small --mode cycle --design in-time.toml --cta 1",
        "study active-warps good.ptx --launch good.toml --design faster.toml --active-warps 2,all",
        "study encoding good.ptx --launch good.toml --design diss-orf1 --specifier-bits 7",
        "study write-pool good.ptx --launch good.toml --entries 4 --ports 2 --write-cycles 5",
    ] {
        let made = |arguments: &str| {
            let mut words = shlex::split(arguments).expect("as a shell takes it");
            words.extend(["--format", "json"].map(str::to_owned));
            let outcome = strata(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(outcome.status, Some(0), "{arguments}: {outcome}");
            let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
            let one = report.get(0).unwrap_or(&report);
            let command = one["command"].as_str().expect("a command").to_owned();
            (command, outcome.stdout)
        };
        let (command, first) = made(arguments);
        let again = command.strip_prefix("strata ").expect("our own command");
        assert_eq!(made(again), (command.clone(), first), "{command}");
    }
}

#[test]
fn write_pools_are_the_same_bytes_for_every_number_of_jobs() {
    for format in ["table", "json", "csv"] {
        let run = |jobs: &str| {
            let pool = ["--entries", "0,16", "--ports", "1r1w", "--write-cycles", "3"];
            let common = ["study", "write-pool", "dct8x8", "bfs", "srad", "--scale", "small"];
            let rest = ["--format", format, "-j", jobs];
            let outcome = strata(&[&common[..], &pool, &rest].concat());
            assert_eq!(outcome.status, Some(0), "{outcome}");
            outcome
        };
        let first = run("1");
        assert_eq!(first, run("2"), "{format}: one thread and two");
        assert_eq!(first, run("7"), "{format}: one thread and seven");
    }
}

#[test]
fn names_are_the_same_bytes_for_every_number_of_jobs() {
    for format in ["table", "json", "csv"] {
        let run = |jobs: &str| {
            let outcome =
                strata(&["study", "encoding", "--scale", "small", "--format", format, "-j", jobs]);
            assert_eq!(outcome.status, Some(0), "{outcome}");
            outcome
        };
        let first = run("1");
        assert_eq!(first, run("2"), "{format}: one thread and two");
        assert_eq!(first, run("7"), "{format}: one thread and seven");
    }
}
