//! Sweeps on a Dask cluster: whatever becomes of workers, the files are those of one machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use strata_tests::{Outcome, start, start_with};

use crate::cluster::Cluster;
use crate::{Process, STRATA, done, files, merged, python, strata, wait_until};

/// Points of two inputs, a tenth of a second or so each.
const SWEEP: &[&str] = &[
    "sweep",
    "--workload",
    "matrixmul",
    "--workload",
    "bfs",
    "--scale",
    "small",
    "--vary",
    "cache.entries=1..6",
    "--vary",
    "active_warps=4,8",
    "--out",
    "out",
];
/// How many they are.
const POINTS: usize = 24;

/// What a sweep on one machine comes to.
fn expected(sweep: &[&str]) -> (String, Vec<u8>) {
    let home = tempfile::tempdir().expect("a folder");
    done(home.path(), sweep);
    merged(home.path())
}

/// A command that is not waited for, under which Ctrl-C is what it is in a terminal.
fn begin(folder: &Path, arguments: &[&str]) -> Process {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", STRATA]).args(arguments).current_dir(folder);
    Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// A program of the shell.
fn script(path: &Path, text: &str) -> String {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("it can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.to_str().expect("UTF-8").to_owned()
}

/// A program that does something to the batch that comes, a `line` of Python, and hands it to the
/// real one.
fn between(path: &Path, doing: &str) -> String {
    let text = format!(
        "import os, subprocess, sys\nline = sys.stdin.readline()\n{doing}\n\
         child = subprocess.Popen(['{STRATA}', *sys.argv[1:]], stdin=subprocess.PIPE, text=True)\n\
         child.stdin.write(line)\nchild.stdin.flush()\nsys.exit(child.wait())\n"
    );
    let program = path.with_extension("py");
    fs::write(&program, text).expect("it can be written");
    script(path, &format!("exec '{}' '{}' \"$@\"", python(), program.display()))
}

/// One error, which says this, and nothing else.
fn refused(outcome: &Outcome, expected: &[&str]) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
    let errors = outcome.stderr.lines().filter(|line| line.starts_with("error: "));
    assert_eq!(errors.count(), 1, "{outcome}");
    assert!(!outcome.stderr.contains("Traceback"), "{outcome}");
    for text in expected {
        assert!(outcome.stderr.contains(text), "{text}: {outcome}");
    }
}

/// The program goes to the workers; one of them is killed in the middle of the sweep, and another
/// one comes.
#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let expected = expected(SWEEP);
    let home = tempfile::tempdir().expect("a folder");
    let mut cluster = Cluster::start(&home.path().join("cluster"), 2);
    let (engine, python) = (cluster.engine(), python());
    let how = ["--engine", &engine, "--python", &python, "--batch", "1", "--points-per-file", "1"];
    let mut running = begin(home.path(), &[SWEEP, &how].concat());
    wait_until("a point is done", || !files(home.path()).is_empty());
    cluster.workers[0].kill();
    let there = files(home.path()).len();
    assert!((1..POINTS).contains(&there), "{there} of {POINTS} points were done already");
    cluster.add_worker();
    assert_eq!(running.ended(), Some(0));
    // Each point came once, in a file of its own.
    assert_eq!(files(home.path()).len(), POINTS);
    let status = done(home.path(), &["sweep", "status", "out"]);
    assert!(status.starts_with("24 points: 24 done, 0 failed, 0 left\n"), "{status}");
    let keys = done(home.path(), &["sweep", "table", "out", "--columns", "key"]);
    let mut keys: Vec<_> = keys.lines().skip(1).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), POINTS);
    assert_eq!(merged(home.path()), expected);
}

/// Killed in the middle, the command goes on from what is there; Ctrl-C lets it write what runs.
#[test]
fn a_command_that_is_ended_goes_on() {
    let expected = expected(SWEEP);
    let home = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(&home.path().join("cluster"), 2);
    let (engine, python) = (cluster.engine(), python());
    let how = ["--engine", &engine, "--python", &python, "--worker-strata", STRATA];
    let often = ["--batch", "1", "--points-per-file", "1"];
    let sweep = [SWEEP, &how, &often].concat();
    let mut running = begin(home.path(), &sweep);
    wait_until("a point is done", || !files(home.path()).is_empty());
    running.kill();
    let killed = files(home.path()).len();
    assert!((1..POINTS).contains(&killed), "{killed}");
    let mut running = begin(home.path(), &sweep);
    wait_until("one more is done", || files(home.path()).len() > killed);
    let kill = format!("kill -INT {}", running.0.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    assert_eq!(running.ended(), Some(130));
    let stopped = files(home.path()).len();
    assert!((killed + 1..POINTS).contains(&stopped), "{stopped}");
    let told = done(home.path(), &sweep);
    let expected_text = format!("{} run now, {stopped} found, 0 failed\n", POINTS - stopped);
    assert!(told.ends_with(&expected_text), "{told}");
    assert_eq!(merged(home.path()), expected);
}

#[test]
fn a_cluster_on_this_machine_gives_the_same_file() {
    let home = tempfile::tempdir().expect("a folder");
    // Designs that are impossible are points, too, and parts may run anywhere.
    let sweep = [SWEEP, &["--design", "isca11-rfc6", "--vary", "sm.warps=4,32"]].concat();
    let local = strata(home.path(), &sweep);
    assert_eq!(local.status, Some(1), "{local}");
    let expected = merged(home.path());
    fs::remove_dir_all(home.path().join("out")).expect("it was made");
    let python = python();
    let how = ["--engine", "dask", "-j", "2", "--shard", "1/2"];
    let python = ("STRATA_PYTHON", Path::new(&python));
    let part = start_with(STRATA, home.path(), &[&sweep[..], &how].concat(), &[python]);
    assert_eq!(part.status, Some(1), "{part}");
    let rest = strata(home.path(), &sweep);
    assert_eq!(rest.status, Some(1), "{rest}");
    assert!(rest.stdout.starts_with("48 points in `out`: 24 run now, 24 found, "), "{rest}");
    assert_eq!(rest.stderr, local.stderr);
    assert_eq!(merged(home.path()), expected);
}

/// PTX, launch file, trace, design and technology are read by workers that run elsewhere.
#[test]
fn files_go_to_the_workers() {
    let home = tempfile::tempdir().expect("a folder");
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/inputs");
    let from = home.path().join("from");
    fs::create_dir(&from).expect("a folder");
    for name in ["good.ptx", "good.toml", "tiny.traceg", "our-memory.toml", "technology.toml"] {
        fs::copy(inputs.join(name), from.join(name)).expect(name);
    }
    let text = "workloads = [\"good.ptx\", \"tiny.traceg\", \"reduction\"]\nlaunch = \"good.toml\"\n\
                designs = [\"our-memory.toml\", \"isca11-rfc6\"]\nscale = \"small\"\n\
                mode = \"cycle\"\n[vary]\nactive_warps = [4, 8]\n";
    fs::write(from.join("sweep.toml"), text).expect("it can be written");
    let sweep = ["sweep", "from/sweep.toml", "--out", "out"];
    done(home.path(), &sweep);
    let expected = merged(home.path());
    fs::remove_dir_all(home.path().join("out")).expect("it was made");
    let cluster = Cluster::start(&home.path().join("cluster"), 1);
    let (engine, python) = (cluster.engine(), python());
    let how = ["--engine", &engine, "--python", &python, "--worker-strata", STRATA];
    let told = done(home.path(), &[&sweep[..], &how].concat());
    assert_eq!(told, "12 points in `out`: 12 run now, 0 found, 0 failed\n");
    assert_eq!(merged(home.path()), expected);
    let left = fs::read_dir(home.path().join("cluster/worker-0")).into_iter().flatten();
    let left: Vec<_> = left.flatten().map(|entry| entry.path().join("from")).collect();
    assert!(left.iter().all(|folder| !folder.exists()), "{left:?}");
}

#[test]
fn workers_that_are_others_are_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let mut cluster = Cluster::start(&home.path().join("cluster"), 1);
    let (engine, python) = (cluster.engine(), python());
    let with = |program: &str| {
        let how = ["--engine", &engine, "--python", &python, "--worker-strata", program];
        strata(home.path(), &[SWEEP, &how].concat())
    };
    let swap = |from: &str, to: &str| {
        between(&home.path().join("other"), &format!("line = line.replace('{from}', '{to}')"))
    };
    let model = strata_core::MODEL_VERSION;
    let other = swap(&format!("\"model\":{model},"), "\"model\":999,");
    let says = format!("model version 999, and this strata has model version {model}");
    let hint = "install the same version of strata on all machines";
    refused(&with(&other), &["worker tcp://127.0.0.1:", &says, hint]);
    let other = swap("\"input\":0,", "\"input\":1,");
    refused(&with(&other), &["is another point here than where the sweep was begun"]);
    refused(&with("no-such-strata"), &["cannot run `no-such-strata`: No such file or directory"]);
    let text = script(&home.path().join("text"), "echo no rows");
    refused(&with(&text), &["a worker sent no rows: "]);
    // The scheduler ends while there is no worker.
    cluster.workers.clear();
    let how = ["--engine", &engine, "--python", &python, "--worker-strata", STRATA];
    let errors = home.path().join("errors");
    let mut command = Command::new(STRATA);
    command.args([SWEEP, &how].concat()).current_dir(home.path());
    let file = fs::File::create(&errors).expect("a file");
    let mut waiting = Process::start(command.stderr(file));
    let told = || fs::read_to_string(&errors).expect("text");
    wait_until("it waits for workers", || told().contains("has no workers yet"));
    cluster.kill_scheduler();
    assert_eq!(waiting.ended(), Some(2), "{}", told());
    assert!(told().contains("error: the Dask scheduler ended"), "{}", told());
}

/// What ends its program every time is found and left out; the rest is done.
#[test]
fn a_point_that_ends_workers_costs_no_other() {
    let home = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(&home.path().join("cluster"), 2);
    let (engine, python) = (cluster.engine(), python());
    let doing = "if 'active_warps=8,cache.entries=3' in line: os.kill(os.getpid(), 9)";
    let fragile = between(&home.path().join("fragile"), doing);
    let with = |program: &str| {
        let how = ["--engine", &engine, "--python", &python, "--worker-strata", program];
        strata(home.path(), &[SWEEP, &how].concat())
    };
    let outcome = with(&fragile);
    assert_eq!(outcome.status, Some(1), "{outcome}");
    assert!(outcome.stderr.contains("error: 2 points are not done: `"), "{outcome}");
    assert!(outcome.stderr.contains("` ended with status -9 on worker tcp://"), "{outcome}");
    let status = done(home.path(), &["sweep", "status", "out"]);
    assert!(status.starts_with("24 points: 22 done, 0 failed, 2 left\n"), "{status}");
    let rest = with(STRATA);
    assert_eq!(rest.stdout, "24 points in `out`: 2 run now, 22 found, 0 failed\n", "{rest}");
    assert_eq!(merged(home.path()), expected(SWEEP));
}

#[test]
fn what_is_not_there_is_one_error() {
    let home = tempfile::tempdir().expect("a folder");
    let own = python();
    // Without the packages that are beside it.
    let bare = script(&home.path().join("bare"), &format!("exec '{own}' -S \"$@\""));
    let silent = script(&home.path().join("silent"), "exit 1");
    for (engine, python, expected) in [
        ("dask", bare.as_str(), &["has no Dask: ", " -m pip install dask distributed`"][..]),
        ("dask", "/no/python", &["cannot start `/no/python`: ", "`pip install dask distributed`"]),
        ("dask", &silent, &["which `", "ended by itself", "Python 3.10"]),
        ("dask://127.0.0.1:1", &own, &["no Dask scheduler answers at `tcp://127.0.0.1:1`"]),
    ] {
        let how = ["--engine", engine, "--python", python];
        refused(&strata(home.path(), &[SWEEP, &how].concat()), expected);
    }
    for (arguments, expected) in [
        (&["--engine", "dask:/127.0.0.1:1"][..], "expected `local`, `dask`, or `dask://HOST:PORT`"),
        (&["--engine", "dask://127.0.0.1"], "expected `local`, `dask`, or `dask://HOST:PORT`"),
        (&["--batch", "7"], "`--batch` is for clusters"),
        (&["--python", "python3"], "`--python` is for clusters"),
        (&["--engine", "dask", "--worker-strata", "bin/strata"], "is a relative path"),
    ] {
        refused(&strata(home.path(), &[SWEEP, arguments].concat()), &[expected]);
    }
    assert!(start(&own, home.path(), &["-c", "import dask"]).status == Some(0));
}
