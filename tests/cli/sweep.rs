//! Sweeps: their files are the same however the points came about.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use strata_tests::{Outcome, start};

use crate::strata;

/// Points that take a second or so.
const SWEEP: &[&str] = &[
    "--workload",
    "reduction",
    "--workload",
    "bfs",
    "--scale",
    "small",
    "--vary",
    "cache.entries=1..6",
    "--vary",
    "active_warps=4,8",
    "--points-per-file",
    "3",
];
/// How many they are.
const POINTS: usize = 24;

/// Longer than anything here takes on the slowest machine; only then a test gives up.
const PATIENCE: Duration = Duration::from_mins(5);

fn in_folder(folder: &Path, arguments: &[&str]) -> Outcome {
    start(env!("CARGO_BIN_EXE_strata-under-test"), folder, arguments)
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let outcome = in_folder(folder, arguments);
    assert_eq!(outcome.status, Some(0), "{arguments:?}: {outcome}");
    outcome.stdout
}

fn sweep(folder: &Path, more: &[&str]) -> String {
    done(folder, &[&["sweep"], SWEEP, &["--out", "out"], more].concat())
}

/// The one file of a sweep that is merged: its name and its bytes.
fn merged(folder: &Path) -> (String, Vec<u8>) {
    let told = done(folder, &["sweep", "merge", "out"]);
    let path = folder.join(told.trim_end());
    let mut names = files(folder);
    names.retain(|name| name.ends_with(".parquet"));
    assert_eq!(names.len(), 1, "{names:?}");
    (names.remove(0), fs::read(path).expect("the file"))
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("out")).expect("the folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("UTF-8")
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

fn whole() -> (String, Vec<u8>) {
    let home = tempfile::tempdir().expect("a folder");
    let told = sweep(home.path(), &[]);
    assert_eq!(told, format!("{POINTS} points in `out`: {POINTS} run now, 0 found, 0 failed\n"));
    merged(home.path())
}

#[test]
fn every_number_of_jobs_and_every_share_gives_the_same_file() {
    let expected = whole();
    for jobs in ["1", "2", "5"] {
        let home = tempfile::tempdir().expect("a folder");
        sweep(home.path(), &["-j", jobs]);
        assert_eq!(merged(home.path()), expected, "{jobs} jobs");
    }
    let home = tempfile::tempdir().expect("a folder");
    for (part, points) in [("3/5", 5), ("1/5", 5), ("5/5", 4), ("2/5", 5), ("4/5", 5)] {
        let told = sweep(home.path(), &["--shard", part]);
        assert!(told.starts_with(&format!("{points} points in `out`, part ")), "{told}");
        assert!(told.contains(&format!("{points} run now, 0 found")), "{told}");
    }
    let told = done(home.path(), &["sweep", "status", "out"]);
    assert!(told.starts_with("24 points: 24 done, 0 failed, 0 left\n"), "{told}");
    assert_eq!(merged(home.path()), expected, "five parts");
    // Nothing is left, and what is merged is found.
    let told = sweep(home.path(), &[]);
    assert_eq!(told, format!("{POINTS} points in `out`: 0 run now, {POINTS} found, 0 failed\n"));
}

#[test]
fn a_file_of_a_sweep_is_what_its_options_are() {
    let home = tempfile::tempdir().expect("a folder");
    let text = "workloads = [\"reduction\", \"bfs\"]\nscale = \"small\"\n\
                [vary]\ncache.entries = \"1..6\"\nactive_warps = [4, 8]\n";
    fs::write(home.path().join("s.toml"), text).expect("it can be written");
    done(home.path(), &["sweep", "s.toml", "--out", "out"]);
    assert_eq!(merged(home.path()), whole());
}

#[test]
fn points_are_what_runs_report() {
    for (mode, design) in [("count", "isca11-rfc6"), ("cycle", "warrf")] {
        let home = tempfile::tempdir().expect("a folder");
        let out = ["--out", "out", "--workload", "reduction", "--workload", "bfs"];
        let how = ["--scale", "small", "--mode", mode];
        let vary = ["--design", design, "--vary", "sm.warps=24|32"];
        done(home.path(), &[&["sweep"][..], &out, &how, &vary].concat());
        let rows = done(home.path(), &["sweep", "table", "out", "--format", "json"]);
        let rows: Vec<Value> = serde_json::from_str(&rows).expect("JSON");
        let mut designs = Vec::new();
        for warps in [24, 32] {
            designs.extend(["--design".to_owned(), format!("{design},sm.warps={warps}")]);
        }
        let designs: Vec<_> = designs.iter().map(String::as_str).collect();
        let run = [&["run", "reduction", "bfs", "--format", "json"][..], &how, &designs].concat();
        let reports: Vec<Value> = serde_json::from_str(&done(home.path(), &run)).expect("JSON");
        assert_eq!((rows.len(), reports.len()), (4, 4));
        for (row, report) in rows.iter().zip(&reports) {
            for label in ["workload", "design", "machine", "mode", "order", "check", "digest"] {
                assert_eq!(row[label], report[label], "{label}");
            }
            let mut compared = 0;
            for group in ["counters", "derived", "parameters"] {
                for (name, value) in report[group].as_object().expect("an object") {
                    assert_eq!(&row[name], value, "{mode}: {name}");
                    compared += 1;
                }
            }
            for (part, value) in report["energy_fj"].as_object().expect("it is known") {
                assert_eq!(&row[format!("energy_{part}_fj")], value, "{part}");
            }
            assert!(compared > 150, "{compared}");
            assert_eq!(row["error"], Value::Null);
        }
        assert_ne!(rows[0]["parameters"], rows[1]["digest"]);
    }
}

/// The question of the README, without time.
#[test]
fn a_value_over_two_keys_is_one_table() {
    let home = tempfile::tempdir().expect("a folder");
    let question = [
        "sweep",
        "--vary",
        "cache.entries=1..13",
        "--vary",
        "active_warps=2..16",
        "--workload",
        "matrixmul",
        "--scale",
        "small",
        "--out",
        "out",
    ];
    let told = done(home.path(), &question);
    assert_eq!(told, "195 points in `out`: 195 run now, 0 found, 0 failed\n");
    let pivot = ["--pivot", "cache.entries", "active_warps", "mrf_reads_avoided_percent"];
    let table = ["sweep", "table", "out", "--format", "markdown"];
    insta::assert_snapshot!(done(home.path(), &[&table[..], &pivot].concat()));
    let columns = ["--columns", "design,cache.entries,digest", "--where", "active_warps=2"];
    let some = done(home.path(), &[&["sweep", "table", "out"][..], &columns].concat());
    assert_eq!(some.lines().count(), 14, "{some}");
    assert!(some.starts_with("design,cache.entries,digest\n"), "{some}");
    assert!(some.contains("\n\"isca11-rfc6,active_warps=2,cache.entries=13\",13,"), "{some}");
    let pivot = ["--pivot", "cache.entries", "workload", "mrf_reads"];
    let refused = in_folder(home.path(), &[&table[..], &pivot].concat());
    assert_eq!(refused.status, Some(2), "{refused}");
    insta::assert_snapshot!(refused.stderr);
}

#[test]
fn a_point_that_fails_is_a_row_and_the_sweep_ends_with_1() {
    let home = tempfile::tempdir().expect("a folder");
    let arguments = [
        "sweep",
        "--vary",
        "sm.warps=4,16",
        "--workload",
        "reduction",
        "--workload",
        "vectoradd",
        "--set",
        "n=64",
        "--scale",
        "small",
        "--out",
        "out",
    ];
    let outcome = in_folder(home.path(), &arguments);
    assert_eq!(outcome.status, Some(1), "{outcome}");
    insta::assert_snapshot!(outcome.to_string());
    let columns = ["--columns", "workload,sm.warps,error"];
    let rows = done(home.path(), &[&["sweep", "table", "out"][..], &columns].concat());
    insta::assert_snapshot!(rows);
    // It is not run again, and not forgotten.
    let again = in_folder(home.path(), &arguments);
    assert_eq!(again.status, Some(1), "{again}");
    assert!(again.stdout.contains("0 run now, 4 found, "), "{again}");
}

#[test]
fn seeds_change_random_inputs_only() {
    let home = tempfile::tempdir().expect("a folder");
    let arguments =
        ["sweep", "--workload", "bfs", "--set", "seed=0..2", "--scale", "small", "--out", "out"];
    done(home.path(), &arguments);
    let columns = ["--columns", "set,check,digest"];
    let rows = done(home.path(), &[&["sweep", "table", "out"][..], &columns].concat());
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    let run = ["run", "bfs", "--scale", "small", "--design", "isca11-rfc6", "--format", "digest"];
    let unchanged = done(home.path(), &run);
    assert!(unchanged.contains(rows[1][2]), "{unchanged} {rows:?}");
    for row in &rows[1..] {
        assert_eq!(row[1], "passed", "{rows:?}");
    }
    assert!(rows[1][2] != rows[2][2] && rows[2][2] != rows[3][2], "{rows:?}");
    // Matrices of 0, 1, 2, ... have no seed.
    let refused = strata(&["run", "vectoradd", "--set", "sed=1", "--scale", "small"]);
    assert_eq!(refused.status, Some(2), "{refused}");
}

macro_rules! refuses {
    ($($name:ident: $arguments:expr;)+) => {$(
        #[test]
        fn $name() {
            let home = tempfile::tempdir().expect("a folder");
            fs::write(home.path().join("file"), "x").expect("it can be written");
            let arguments = [&["sweep", "--workload", "vectoradd"][..], &$arguments].concat();
            let outcome = in_folder(home.path(), &arguments);
            assert_eq!(outcome.status, Some(2), "{outcome}");
            assert_eq!(outcome.stdout, "", "{outcome}");
            assert!(!home.path().join("out").exists(), "{outcome}");
            insta::assert_snapshot!(outcome.stderr);
        }
    )+};
}

refuses! {
    an_axis_without_values: ["--vary", "cache.entries", "--out", "out"];
    an_axis_that_runs_backwards: ["--vary", "cache.entries=6..1", "--out", "out"];
    an_axis_of_no_numbers: ["--vary", "cache.entries=1..many", "--out", "out"];
    an_axis_of_an_unknown_key: ["--vary", "cache.entires=1..6", "--out", "out"];
    an_axis_out_of_range: ["--vary", "cache.entries=1..14", "--out", "out"];
    an_axis_of_a_part_that_the_design_lacks: ["--vary", "orf.entries=1..3", "--out", "out"];
    an_axis_twice: ["--vary", "active_warps=1", "--vary", "active_warps=2", "--out", "out"];
    too_many_points: ["--vary", "active_warps=1..64", "--vary", "cache.entries=1..13",
        "--vary", "latency_cycles.alu=1..4096", "--vary", "latency_cycles.dram=1..4096",
        "--out", "out"];
    a_part_that_is_none: ["--out", "out", "--shard", "3/2"];
    a_sweep_into_a_file: ["--out", "file"];
    a_sweep_into_a_folder_of_something_else: ["--out", "."];
}

/// The outcome of a shell script that mounts the folder `out`; `"$0" "$@"` there is a sweep into it.
/// `None` where a test may not mount.
#[cfg(target_os = "linux")]
fn mounted(script: &str) -> Option<Outcome> {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join("out")).expect("a folder");
    let enter = |script, words: &[&str]| {
        let enter = ["--map-root-user", "--mount", "sh", "-c", script];
        start("unshare", home.path(), &[&enter[..], words].concat())
    };
    let probe = enter("mount -t tmpfs tmpfs out && mount -o remount,ro out", &[]);
    if probe.status != Some(0) {
        eprintln!("skipped: no folder can be mounted here: {probe}");
        return None;
    }
    let program = [env!("CARGO_BIN_EXE_strata-under-test"), "sweep", "-j", "1"];
    Some(enter(script, &[&program[..], SWEEP, &["--out", "out"]].concat()))
}

/// A folder in which nothing can be written any more.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_one_error_and_whole_files_stay() {
    let script = "mount -t tmpfs tmpfs out && \"$0\" \"$@\" --shard 1/2 --quiet > first && \
                  mount -o remount,ro out && { \"$0\" \"$@\"; s=$?; \"$0\" sweep status out; \
                  mount -o remount,rw out; \"$0\" \"$@\" --quiet 2> last; exit $s; }";
    let Some(outcome) = mounted(script) else { return };
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert_eq!(outcome.stderr.matches("error: ").count(), 1, "{outcome}");
    assert!(outcome.stderr.contains("Read-only file system"), "{outcome}");
    let done = outcome.stdout.split(" points: ").nth(1).and_then(|rest| rest.split(' ').next());
    let done: u32 = done.and_then(|done| done.parse().ok()).expect("points that are done");
    assert!(0 < done && done < 24, "{outcome}");
    let goes_on = format!("{} run now, {done} found, 0 failed", 24 - done);
    assert!(outcome.stdout.contains(&goes_on), "{outcome}");
}

/// A folder that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_error_and_whole_files_stay() {
    let script = "mount -t tmpfs -o size=256k tmpfs out && \"$0\" \"$@\"; s=$?; \
                  \"$0\" sweep status out; exit $s";
    let Some(outcome) = mounted(script) else { return };
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert_eq!(outcome.stderr.matches("error: ").count(), 1, "{outcome}");
    assert!(outcome.stderr.contains("No space left on device"), "{outcome}");
    assert!(outcome.stderr.contains("files that are whole stay"), "{outcome}");
    assert!(outcome.stdout.starts_with("24 points: "), "{outcome}");
    assert!(!outcome.stdout.contains(" 0 done"), "{outcome}");
}

/// A program that runs. Killed when dropped.
struct Running(Child);

impl Running {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let child = Command::new("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_strata-under-test")])
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("the program starts"))
    }

    fn ended(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        while self.0.try_wait().expect("a child").is_none() {
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(2));
        }
        self.0.wait().expect("it has ended").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The next number of `SplitMix64`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Killed again and again at random moments, it goes on from what is there, and ends with what a
/// sweep that was left alone has.
#[test]
fn a_sweep_that_is_killed_ten_times_ends_as_any_other() {
    let start = Instant::now();
    let expected = whole();
    let takes = start.elapsed();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
    let seed = std::env::var("STRATA_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(now.as_nanos() as u64);
    let mut state = seed;
    let home = tempfile::tempdir().expect("a folder");
    let arguments = [&["sweep", "-j", "2"], SWEEP, &["--out", "out"]].concat();
    let (mut killed, mut span) = (0, takes);
    for _ in 0..10 {
        let mut running = Running::start(home.path(), &arguments);
        thread::sleep(span.mul_f64((next(&mut state) % 1000) as f64 / 1000.0));
        let runs = running.0.try_wait().expect("a child").is_none();
        drop(running.0.kill());
        running.ended();
        if runs {
            killed += 1;
        } else {
            // It was faster than the first one: from the beginning, and killed earlier.
            drop(fs::remove_dir_all(home.path().join("out")));
            span /= 2;
        }
    }
    assert!(killed > 0, "STRATA_SEED={seed}");
    sweep(home.path(), &[]);
    assert_eq!(merged(home.path()), expected, "killed {killed} times, STRATA_SEED={seed}");
}

/// Ctrl-C lets what runs finish, writes it, and says how to go on.
#[test]
fn ctrl_c_writes_what_is_done() {
    let home = tempfile::tempdir().expect("a folder");
    let slow = [
        "sweep",
        "--workload",
        "matrixmul",
        "--scale",
        "small",
        "--mode",
        "cycle",
        "--vary",
        "latency_cycles.dram=1..2000",
        "--points-per-file",
        "1",
        "--out",
        "out",
        "-j",
        "1",
    ];
    let mut running = Running::start(home.path(), &slow);
    let deadline = Instant::now() + PATIENCE;
    let written = || {
        home.path().join("out").exists()
            && files(home.path()).iter().any(|name| name.ends_with(".parquet"))
    };
    while !written() {
        assert!(Instant::now() < deadline, "nothing is written");
        thread::sleep(Duration::from_millis(2));
    }
    let kill = format!("kill -INT {}", running.0.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    assert_eq!(running.ended(), Some(130));
    assert!(files(home.path()).iter().all(|name| !name.ends_with(".partial")));
    let told = done(home.path(), &["sweep", "status", "out"]);
    assert!(told.starts_with("2000 points: ") && !told.contains(" 0 left"), "{told}");
}

fn table<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep", "table", "out"], more].concat()
}

/// The ratios are those of `run --baseline`.
#[test]
fn a_table_compares_with_a_baseline() {
    let home = tempfile::tempdir().expect("a folder");
    let inputs = ["--workload", "reduction", "--workload", "bfs"];
    let how = ["--scale", "small", "--mode", "cycle"];
    let vary = ["--vary", "cache.entries=4|6", "--vary", "active_warps=4|8"];
    done(home.path(), &[&["sweep"][..], &inputs, &how, &vary, &["--out", "out"]].concat());
    let against = ["--baseline", "cache.entries=6,active_warps=8", "--format", "json"];
    let rows: Vec<Value> =
        serde_json::from_str(&done(home.path(), &table(&against))).expect("JSON");
    let own = |row: &&Value| row["cache.entries"] == 4 && row["active_warps"] == 4;
    let rows: Vec<&Value> = rows.iter().filter(own).collect();
    let designs = ["--baseline", "isca11-rfc6", "--design", "isca11-rfc4,active_warps=4"];
    let run = [&["run", "reduction", "bfs", "--format", "json"][..], &how, &designs].concat();
    let run: Value = serde_json::from_str(&done(home.path(), &run)).expect("JSON");
    let lines = run["lines"].as_array().expect("an array");
    assert_eq!((rows.len(), lines.len()), (3, 3));
    for (row, line) in rows.iter().zip(lines) {
        assert_eq!(row["workload"], line["workload"]);
        for ratio in ["speedup", "energy_ratio", "energy_delay_ratio"] {
            assert!(line[ratio]["mean"].is_number(), "{line}");
            assert_eq!(row[ratio], line[ratio]["mean"], "{ratio}");
        }
    }
    assert_eq!(rows[2]["workload"], "geometric mean");
    // A design by its name, and the ratios as a table over two keys.
    let named = "isca11-rfc6,active_warps=8,cache.entries=6";
    let of_means = ["--baseline", named, "--where", "workload=geometric mean"];
    let pivot = ["--pivot", "cache.entries", "active_warps", "speedup"];
    let pivot = done(home.path(), &table(&[&of_means[..], &pivot].concat()));
    let speedup = &rows[2]["speedup"];
    assert!(pivot.contains(&format!("\n4,{speedup},")) && pivot.ends_with(",1\n"), "{pivot}");
    for (baseline, told) in [
        ("isca11", "the sweep has no design `isca11`"),
        (
            "cache.entries=6",
            "is several points of `reduction`\n  hint: they differ in `active_warps`",
        ),
        ("cache.entries=7", "no point of the sweep has `cache.entries=7`"),
        ("cache.entris=6", "a sweep has no column `cache.entris`"),
    ] {
        let outcome = in_folder(home.path(), &table(&["--baseline", baseline]));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
        assert!(outcome.stderr.contains(told), "{outcome}");
    }
}

/// A mean over fewer inputs would be another: it is missing.
#[test]
fn a_point_that_failed_has_no_mean() {
    let home = tempfile::tempdir().expect("a folder");
    let inputs = ["--workload", "reduction", "--workload", "TRACE", "--scale", "small"];
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/cli/inputs/tiny.traceg");
    let inputs = inputs.map(|word| if word == "TRACE" { trace } else { word });
    let designs = ["--design", "isca11-rfc6", "--design", "diss-orf3", "--out", "out"];
    let sweep = in_folder(home.path(), &[&["sweep"][..], &inputs, &designs].concat());
    assert_eq!(sweep.status, Some(1), "{sweep}");
    let means = |baseline| {
        let against = table(&["--format", "json", "--baseline", baseline]);
        let outcome = in_folder(home.path(), &against);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        let rows: Vec<Value> = serde_json::from_str(&outcome.stdout).expect("JSON");
        let means = rows.iter().filter(|row| row["workload"] == "geometric mean");
        let means: Vec<_> = means.map(|row| row["energy_ratio"].clone()).collect();
        (means, outcome.stderr)
    };
    let (ratios, notes) = means("isca11-rfc6");
    assert!(!notes.contains("baseline"), "{notes}");
    assert_eq!((&ratios[0], &ratios[1]), (&Value::from(1.0), &Value::Null));
    let (ratios, notes) = means("diss-orf3");
    assert!(notes.contains("note: no ratios, for want of a baseline: 1 input\n"), "{notes}");
    assert_eq!(ratios, [Value::Null, Value::Null]);
}
