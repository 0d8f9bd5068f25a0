//! Spill: paths of a sweep's inputs that do not fit the memory that they may take. Points are the
//! same wherever paths are kept.

use std::fs;
use std::path::{Path, PathBuf};

use strata_tests::{Outcome, start};

/// No path fits.
const NOTHING: [&str; 2] = ["--keep-paths-mib", "0"];

/// Inputs and designs of a mode, one of every kind of design: cached, fitted by the compiler, of
/// another technology, with storage that is divided, with addresses, with registers in scratchpad
/// memory.
struct Sweep {
    mode: &'static str,
    workloads: &'static [&'static str],
    designs: &'static [&'static str],
}

const SWEEPS: [Sweep; 2] = [
    Sweep {
        mode: "count",
        workloads: &["reduction", "bfs", "matrixmul"],
        designs: &["isca11", "isca11-rfc6", "diss-orf3-lrf-split", "sttram"],
    },
    Sweep {
        mode: "cycle",
        workloads: &["reduction", "bfs", "matrixmul"],
        designs: &[
            "isca11",
            "isca11-rfc6",
            "diss-orf3-lrf-split",
            "warrf",
            "micro12-unified-256",
            "expars-ltlws-gto",
        ],
    },
];

impl Sweep {
    fn command(&self, more: &[&'static str]) -> Vec<&'static str> {
        let mut words = vec!["sweep", "--scale", "small", "--mode", self.mode, "--out", "out"];
        words.extend(self.workloads.iter().flat_map(|name| ["--workload", name]));
        words.extend(self.designs.iter().flat_map(|name| ["--design", name]));
        words.extend(more);
        words
    }
}

fn strata(folder: &Path, arguments: &[&str]) -> Outcome {
    start(env!("CARGO_BIN_EXE_strata-under-test"), folder, arguments)
}

fn done(folder: &Path, arguments: &[&str]) -> Outcome {
    let outcome = strata(folder, arguments);
    assert_eq!(outcome.status, Some(0), "{arguments:?}: {outcome}");
    outcome
}

/// The bytes of all points.
fn merged(folder: &Path) -> Vec<u8> {
    let told = done(folder, &["sweep", "merge", "out"]).stdout;
    fs::read(folder.join(told.trim_end())).expect("the file")
}

/// The recordings in the folder of a sweep.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("out")).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> =
        paths.filter(|path| path.extension() == Some("strata".as_ref())).collect();
    found.sort();
    found
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn points_are_the_same_with_paths_in_memory_and_in_recordings() {
    for sweep in &SWEEPS {
        let kept = home();
        done(kept.path(), &sweep.command(&[]));
        assert!(recordings(kept.path()).is_empty(), "{}", sweep.mode);
        let expected = merged(kept.path());
        let spilled = home();
        let first =
            done(spilled.path(), &sweep.command(&[&NOTHING[..], &["--shard", "1/2"]].concat()));
        assert_eq!(first.stderr, "", "{}", sweep.mode);
        let there = recordings(spilled.path());
        assert_eq!(there.len(), sweep.workloads.len(), "{there:?}");
        let written =
            |path: &PathBuf| fs::metadata(path).and_then(|of| of.modified()).expect("a file");
        let before: Vec<_> = there.iter().map(written).collect();
        // The same command finds them; the last point takes them away.
        let again =
            done(spilled.path(), &sweep.command(&[&NOTHING[..], &["--shard", "1/2"]].concat()));
        assert!(again.stdout.contains(" 0 run now, "), "{again}");
        assert_eq!(there.iter().map(written).collect::<Vec<_>>(), before);
        let last = done(spilled.path(), &sweep.command(&NOTHING));
        assert_eq!(last.stderr, "", "{}", sweep.mode);
        assert!(recordings(spilled.path()).is_empty(), "{}", sweep.mode);
        assert_eq!(merged(spilled.path()), expected, "{}", sweep.mode);
    }
}

/// A recording that is damaged, or of another input, is not counted.
#[test]
fn a_recording_that_is_not_what_was_executed_is_told_and_left() {
    type Change = fn(&[PathBuf]);
    let sweep = &SWEEPS[1];
    let kept = home();
    done(kept.path(), &sweep.command(&[]));
    let expected = merged(kept.path());
    let damage: Change = |there| {
        let mut bytes = fs::read(&there[0]).expect("a recording");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&there[0], bytes).expect("it can be written");
    };
    let exchange: Change = |there| {
        fs::copy(&there[0], &there[1]).expect("it can be copied");
    };
    let cases: [(Change, &str); 2] =
        [(damage, "the checksum is wrong"), (exchange, "is not what was executed")];
    for (change, told) in cases {
        let spilled = home();
        done(spilled.path(), &sweep.command(&[&NOTHING[..], &["--shard", "1/2"]].concat()));
        change(&recordings(spilled.path()));
        let outcome = done(spilled.path(), &sweep.command(&NOTHING));
        assert!(outcome.stderr.contains(told), "{outcome}");
        assert!(outcome.stderr.contains("is executed again"), "{outcome}");
        assert_eq!(merged(spilled.path()), expected, "{told}");
    }
}

/// A limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_recording_that_cannot_be_written_is_one_error() {
    let folder = home();
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let command = SWEEPS[1].command(&NOTHING);
    let outcome = start("sh", folder.path(), &[&["-c", script, program], &command[..]].concat());
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
    assert_eq!(outcome.stderr.matches("error: ").count(), 1, "{outcome}");
    for part in ["paths-", "cannot be written", "File too large", "raise `--keep-paths-mib`"] {
        assert!(outcome.stderr.contains(part), "{part}: {outcome}");
    }
    assert!(recordings(folder.path()).is_empty());
    // With room the same command goes on.
    done(folder.path(), &command);
}

#[test]
fn a_bound_for_this_machine_is_none_for_a_cluster() {
    let folder = home();
    let command = SWEEPS[0].command(&["--keep-paths-mib", "1", "--engine", "dask"]);
    let outcome = strata(folder.path(), &command);
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("`--keep-paths-mib` is for this machine"), "{outcome}");
}

/// Barriers of some warps: a recording does not tell them apart, which matters in time only.
#[test]
fn what_no_recording_can_have_is_executed_again() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/inputs");
    for (mode, expected) in [("count", 1), ("cycle", 0)] {
        let folder = home();
        for name in ["pairs.ptx", "pairs.toml"] {
            fs::copy(inputs.join(name), folder.path().join(name)).expect("it can be copied");
        }
        let input = ["--workload", "pairs.ptx", "--launch", "pairs.toml", "--scale", "small"];
        let designs = ["--mode", mode, "--design", "isca11", "--design", "isca11-rfc6"];
        let sweep = [&["sweep", "--out", "out"], &input[..], &designs].concat();
        done(folder.path(), &[&sweep[..], &NOTHING, &["--shard", "1/2"]].concat());
        assert_eq!(recordings(folder.path()).len(), expected, "{mode}");
        done(folder.path(), &[&sweep[..], &NOTHING].concat());
        let spilled = merged(folder.path());
        fs::remove_dir_all(folder.path().join("out")).expect("it can be removed");
        done(folder.path(), &sweep);
        assert_eq!(merged(folder.path()), spilled, "{mode}");
    }
}
