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
