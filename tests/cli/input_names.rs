//! Inputs of one file name, and how many threads work on them.

use std::path::Path;

use strata_tests::{Outcome, start};

use crate::strata;

/// Runs the program in `folder`.
fn strata_in(folder: &Path, arguments: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let Outcome { status, stdout, stderr } = start(program, folder, arguments);
    assert_eq!(status, Some(0), "{arguments:?}: {stderr}");
    stdout
}

/// Folders `A` and `B`, each with a `kernel.ptx`, a `kernel.traceg` and a recording of that.
fn two_folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/inputs");
    for side in ["A", "B"] {
        let to = folder.path().join(side);
        std::fs::create_dir(&to).expect("a new folder");
        for (from, name) in
            [("good.ptx", "kernel.ptx"), ("good.toml", "l.toml"), ("tiny.traceg", "kernel.traceg")]
        {
            std::fs::copy(inputs.join(from), to.join(name)).expect("an input");
        }
        strata_in(&to, &["trace", "record", "kernel.traceg", "-o", "kernel.strata"]);
    }
    folder
}

/// The values of a key wherever it is, in order.
fn values(json: &str, key: &str) -> Vec<String> {
    fn find(value: &serde_json::Value, key: &str, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(map) => {
                for (name, value) in map {
                    if name == key {
                        found.extend(value.as_str().map(str::to_owned));
                    }
                    find(value, key, found);
                }
            }
            serde_json::Value::Array(list) => {
                for value in list {
                    find(value, key, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(&serde_json::from_str(json).expect("JSON"), key, &mut found);
    found.dedup();
    found
}

#[test]
fn inputs_of_one_file_name_are_told_apart_in_every_format() {
    let folder = two_folders();
    let run = |inputs: &[&str], rest: &[&str]| {
        strata_in(folder.path(), &[&["run"], inputs, rest].concat())
    };
    let launch: &[&str] = &["--launch", "A/l.toml"];
    for (inputs, names, launch) in [
        (["A/kernel.ptx", "B/kernel.ptx"], ["A/kernel", "B/kernel"], launch),
        (["A/kernel.traceg", "B/kernel.traceg"], ["A/kernel.traceg", "B/kernel.traceg"], &[]),
        (["A/kernel.strata", "B/kernel.strata"], ["A/kernel.strata", "B/kernel.strata"], &[]),
    ] {
        let of_format = |format| run(&inputs, &[launch, &["--format", format]].concat());
        assert_eq!(values(&of_format("json"), "workload"), names);
        for format in ["table", "csv", "digest"] {
            let text = of_format(format);
            for name in names {
                let row = |line: &&str| line.trim_start().starts_with(name);
                assert_eq!(text.lines().filter(row).count(), 1, "{format}, {name}:\n{text}");
            }
        }
    }
    // A name that tells enough by itself is left alone.
    let alone =
        run(&["A/kernel.ptx", "B/kernel.traceg"], &[launch, &["--format", "json"]].concat());
    assert_eq!(values(&alone, "workload"), ["kernel", "B/kernel.traceg"]);
}

/// A choice of PTX is for the built-in workloads among the inputs; their names say it, and the
/// command that repeats a report.
#[test]
fn workloads_are_called_by_their_ptx() {
    let folder = two_folders();
    let json = |ptx: &[&str]| {
        let inputs = ["run", "vectoradd", "A/kernel.ptx", "--launch", "A/l.toml"];
        let rest = ["--scale", "small", "--format", "json"];
        strata_in(folder.path(), &[&inputs, ptx, &rest].concat())
    };
    let plain = json(&[]);
    assert_eq!(values(&plain, "workload"), ["vectoradd", "kernel"]);
    assert_eq!(json(&["--ptx", "nvcc"]), plain);
    let mut seen = vec![plain];
    for ptx in ["nvcc32", "clang", "clang32"] {
        let own = json(&["--ptx", ptx]);
        assert_eq!(values(&own, "workload"), [&format!("vectoradd/{ptx}"), "kernel"]);
        let commands = values(&own, "command");
        assert!(commands[0].starts_with(&format!("strata run vectoradd --ptx {ptx} ")), "{own}");
        assert!(!commands[1].contains("--ptx"), "{}", commands[1]);
        seen.push(own);
    }
    let reads = |json: &String| {
        let reports: serde_json::Value = serde_json::from_str(json).expect("JSON");
        reports[0]["counters"]["mrf_reads"].as_u64().expect("a count")
    };
    let mut reads: Vec<u64> = seen.iter().map(reads).collect();
    reads.sort_unstable();
    reads.dedup();
    assert_eq!(reads.len(), 4, "each is another program");
}

/// Listings and explanations show the PTX that was asked for.
#[test]
fn listings_are_of_the_chosen_ptx() {
    for ptx in ["nvcc", "nvcc32", "clang", "clang32"] {
        let shown = |words: &[&str]| {
            let outcome = strata(&[words, &["--ptx", ptx]].concat());
            assert_eq!(outcome.status, Some(0), "{outcome}");
            outcome.stdout
        };
        let listing = shown(&["inspect", "vectoradd"]);
        let wide = if ptx.ends_with("32") { ["u32", "u64"] } else { ["u64", "u32"] };
        let [own, other] = wide.map(|ty| format!("cvta.to.global.{ty}"));
        assert!(listing.contains(&own) && !listing.contains(&other), "{ptx}: {listing}");
        let line = listing.lines().find(|line| line.contains(&own)).expect("it is there");
        let line = line.split_whitespace().nth(1).expect("the line of the PTX");
        let explained = shown(&["explain", "vectoradd", line]);
        assert!(explained.contains(&own), "{ptx}, line {line}: {explained}");
    }
}

#[test]
fn studies_tell_inputs_apart_too() {
    let folder = two_folders();
    let kernels = ["A/kernel.ptx", "B/kernel.ptx", "--launch", "A/l.toml"];
    let study = |words: &[&str]| {
        strata_in(folder.path(), &[&["study"], words, &kernels, &["--format", "json"]].concat())
    };
    for words in [
        &["active-warps", "--active-warps", "2"][..],
        &["write-pool", "--entries", "8", "--ports", "1rw", "--write-cycles", "1"],
        &["encoding"],
    ] {
        let names = values(&study(words), "input");
        assert_eq!(names[..2], ["A/kernel", "B/kernel"], "{words:?}");
    }
    for words in [&["registers"][..], &["limits", "--design", "diss-orf3-lrf-split"]] {
        let table = strata_in(folder.path(), &[&["study"], words, &kernels].concat());
        for name in ["A/kernel", "B/kernel"] {
            assert!(table.contains(name), "{words:?}: {table}");
        }
    }
}

#[test]
fn more_threads_than_are_of_use_are_said_and_change_nothing() {
    let run = |jobs: &[&str]| {
        strata(&[&["run", "vectoradd", "--scale", "small", "--format", "digest"], jobs].concat())
    };
    let (few, many) = (run(&[]), run(&["-j", "1000000"]));
    assert_eq!((few.status, many.status), (Some(0), Some(0)), "{many}");
    assert_eq!(few.stdout, many.stdout);
    assert!(few.stderr.is_empty(), "{few}");
    assert!(many.stderr.contains("`-j 1000000`") && many.stderr.contains("4 for each core"));
}

/// The inputs of the rows of a table of digests, in order.
fn digested(inputs: &[&str]) -> Vec<String> {
    let of_digest = ["--scale", "small", "--design", "isca11", "--format", "digest"];
    let outcome = strata(&[&["run"], inputs, &of_digest].concat());
    assert_eq!(outcome.status, Some(0), "{inputs:?}: {outcome}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_group_stands_for_its_workloads() {
    let groups = ["@suite", "@extra", "@storage", "@registers", "@all"];
    let [suite, extra, storage, registers, all] = groups.map(|group| digested(&[group]));
    assert_eq!(digested(&[]), suite);
    assert_eq!(suite.len(), 12);
    assert!(extra.len() >= 8, "{extra:?}");
    assert_eq!(digested(&["@extra", "@suite"]), [&extra[..], &suite].concat());
    assert!(storage.len() >= 8, "{storage:?}");
    assert!(registers.len() >= 8, "{registers:?}");
    assert_eq!(all, [&suite[..], &extra, &storage, &registers].concat());
    let beside = digested(&["hotspot", "@extra"]);
    assert!(suite.contains(&beside[0]), "{}", beside[0]);
    assert_eq!(beside[1..], extra);
}

#[test]
fn groups_that_cannot_be_meant_are_refused() {
    for (arguments, parts) in [
        (
            &["run", "@extr"][..],
            [
                "error: there is no group `extr` of workloads; there are: `@suite`, `@extra`, `@storage`, \
                 `@registers`, `@all`",
                "did you mean `extra`? `strata workloads` lists them",
            ],
        ),
        (&["run", "@a\nb"], ["error: \"@a\\nb\" cannot be the name of an input", "on one line"]),
        (
            &["inspect", "@suite"],
            ["error: unknown workload `@suite`", "groups are for commands that take several"],
        ),
        (&["run", "@suite", "bfs"], ["error: `bfs` is given twice", "name each input once"]),
        (
            &["run", "@extra", "--mode", "cycle", "--timeline", "t.json"],
            ["error: `--timeline` draws one input, 9 are given", "name one input"],
        ),
    ] {
        let outcome = strata(arguments);
        assert_eq!((outcome.status, &*outcome.stdout), (Some(2), ""), "{arguments:?}: {outcome}");
        for part in parts {
            assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
        }
    }
}
