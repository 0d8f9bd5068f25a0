//! Budgets: how long and in how much memory kernels execute.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use strata_cli::cli::Cli;
use strata_tests::Outcome;

use crate::strata;

/// A budget that is met at once.
const FEW: &str = "10";

/// Every command that executes kernels or goes through what was recorded of them, with what it is
/// given beside the budget. `OUT` stands for a file or folder that is not there, `REC` for a
/// recording.
const COMMANDS: &[&[&str]] = &[
    &["run", "vectoradd"],
    &["check", "vectoradd"],
    &["run", "vectoradd", "--mode", "cycle"],
    &["run", "tiny.traceg"],
    &["run", "tiny.traceg", "--mode", "cycle"],
    &["run", "REC"],
    &["run", "REC", "--mode", "cycle"],
    &["study", "active-warps", "vectoradd"],
    &["study", "active-warps", "tiny.traceg"],
    &["study", "active-warps", "REC"],
    &["study", "registers", "vectoradd"],
    &["study", "limits", "vectoradd", "--design", "diss-orf3-lrf-split"],
    &["study", "encoding", "vectoradd"],
    &["study", "write-pool", "vectoradd"],
    &["study", "write-pool", "tiny.traceg"],
    &["study", "write-pool", "REC"],
    &["study", "storage", "vectoradd"],
    &["trace", "record", "vectoradd", "-o", "OUT"],
    &["trace", "record", "tiny.traceg", "-o", "OUT"],
    &["trace", "embed", "vectoradd", "-o", "OUT"],
    &["trace", "export", "vectoradd", "-o", "OUT"],
    &["trace", "export", "REC", "-o", "OUT"],
    &["run", "vectoradd", "--baseline", "isca11", "--design", "isca11-rfc6"],
    &["diff", "isca11", "isca11-rfc6", "vectoradd"],
    &["inspect", "vectoradd", "--profile"],
    &["fpga", "run", "vectoradd", "--board", "host"],
    &["fpga", "run", "tiny.traceg", "--board", "host"],
    &["fpga", "run", "REC", "--board", "host"],
];

/// A recording of two CTAs, more than [`FEW`] instructions.
fn recording(folder: &Path) -> PathBuf {
    let file = folder.join("tiny.strata");
    let path = file.to_str().expect("UTF-8");
    let outcome = strata(&["trace", "record", "tiny.traceg", "-o", path]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    file
}

fn refused(arguments: &[&str]) -> String {
    let Outcome { status, stdout, stderr } = strata(arguments);
    assert_eq!((status, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn every_command_keeps_to_its_budget_and_says_where_it_was_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = recording(folder.path());
    let out = folder.path().join("out");
    for command in COMMANDS {
        let given = command.iter().map(|&word| match word {
            "OUT" => out.to_str().expect("UTF-8"),
            "REC" => recording.to_str().expect("UTF-8"),
            word => word,
        });
        let mut arguments: Vec<&str> = given.collect();
        if arguments.contains(&"vectoradd") {
            arguments.extend(["--scale", "small"]);
        }
        arguments.extend(["--max-instructions", FEW]);
        let error = refused(&arguments);
        assert!(error.contains("--max-instructions") && error.contains(" 10 "), "{error}");
        // Where: of an execution the line of the PTX, of a trace that of the trace.
        let places: &[&str] = if arguments.contains(&"vectoradd") {
            &["kernel `vectoradd`, PTX line "]
        } else if arguments.contains(&"tiny.traceg") {
            &["tiny.traceg:"]
        } else {
            &["tiny.strata: ", "kernel `v3_divergent`"]
        };
        assert!(places.iter().all(|place| error.contains(place)), "{arguments:?}: {error}");
        assert!(!out.exists(), "{arguments:?} wrote something");
    }
}

/// A launch that fits the budget is not exported without those that do not.
#[test]
fn a_recording_over_the_budget_leaves_no_part_of_an_export() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (recording, out) = (file("r.strata"), file("out"));
    let made = strata(&["trace", "record", "reduction", "--scale", "small", "-o", &recording]);
    let total: u64 = made.stdout.split(' ').nth(3).expect("a number").parse().expect("a number");
    let less = (total - 1).to_string();
    let export = ["trace", "export", &recording, "-o", &out, "--max-instructions"];
    let error = refused(&[&export[..], &[&less]].concat());
    assert!(error.contains(&format!("more than {less} warp instructions")), "{error}");
    assert!(!Path::new(&out).exists());
    assert_eq!(strata(&[&export[..], &[&total.to_string()]].concat()).status, Some(0));
}

/// A new command that executes has to be in the list above.
#[test]
fn no_command_with_a_budget_is_missing() {
    fn walk(command: &clap::Command, path: &mut Vec<String>, missing: &mut Vec<String>) {
        let has_budget = command.get_arguments().any(|a| a.get_id() == "max_instructions");
        let listed = COMMANDS.iter().any(|listed| listed.starts_with(&words(path)));
        if has_budget && !listed {
            missing.push(path.join(" "));
        }
        for sub in command.get_subcommands() {
            path.push(sub.get_name().to_owned());
            walk(sub, path, missing);
            path.pop();
        }
    }
    fn words(path: &[String]) -> Vec<&str> {
        path.iter().map(String::as_str).collect()
    }
    let mut missing = Vec::new();
    walk(&Cli::command(), &mut Vec::new(), &mut missing);
    assert_eq!(missing, [""; 0]);
}

/// Its path would have more runs of instructions than a recording can hold.
#[test]
fn an_endless_kernel_is_told_from_one_with_a_long_path() {
    let out = tempfile::tempdir().expect("a folder");
    let out = out.path().join("out.strata");
    let out = out.to_str().expect("UTF-8");
    for command in [&["run"][..], &["trace", "record", "-o", out]] {
        let error = refused(&[command, &["forever.ptx", "--launch", "forever.toml"]].concat());
        assert!(error.contains("kernel `forever` can never end: it repeats a loop"), "{error}");
        assert!(error.contains("PTX line 11"), "{error}");
    }
}

/// The budget is for all launches together: a later launch names it, not what was left for it.
#[test]
fn a_later_launch_names_the_whole_budget() {
    let error = refused(&["run", "hotspot", "--scale", "small", "--max-instructions", "60000"]);
    assert!(error.contains("the budget of 60000 warp instructions"), "{error}");
    assert!(!error.contains("launch 0"), "a later launch met it: {error}");
}

/// A kernel whose every warp takes a path of its own, for each bit of its number one way or the
/// other, in a grid of `ctas` CTAs of 256 threads.
fn ways(folder: &Path, ctas: u32) -> [String; 2] {
    let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n\
        .visible .entry ways(.param .u64 data) {\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n\
        mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\n\
        mad.lo.u32 %r2, %r0, 8, %r1;\nmov.u32 %r4, 32;\n\
        again:\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p0, %r3, 0;\n@%p0 bra next;\n\
        add.u32 %r5, %r5, 3;\n\
        next:\nshr.u32 %r2, %r2, 1;\nsub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n\
        @%p1 bra again;\nret;\n}\n";
    let launch = format!(
        "description = \"Ways\"\n[size.small]\n[size.default]\n[[buffer]]\nname = \"data\"\n\
         type = \"u32\"\ncount = \"1\"\ngenerator = \"zero\"\n[[launch]]\nkernel = \"ways\"\n\
         grid = [{ctas}]\nblock = [256]\narguments = [\"data\"]\n"
    );
    [("ways.ptx", ptx), ("ways.toml", &launch)].map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a scratch file can be written");
        path.to_str().expect("UTF-8").to_owned()
    })
}

/// Has a program run with at most 600 MB of addresses. Unit: KiB.
#[cfg(target_os = "linux")]
const LIMITED: &str = "ulimit -v 600000; exec \"$0\" \"$@\"";

/// 9 million threads in 281,256 warps, none with the path of another: counted in little more
/// memory than one part takes. With a third of them, which is still more than one part, unless all
/// tests run.
#[cfg(target_os = "linux")]
#[test]
fn a_grid_whose_warps_all_differ_is_counted_in_bounded_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = crate::switch::is_on("STRATA_FULL_TESTS");
    let ctas = if full { 35_157 } else { 12_000 };
    let [ptx, launch] = ways(folder.path(), ctas);
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let outcome = strata_tests::start(
        "sh",
        folder.path(),
        &["-c", LIMITED, program, "run", &ptx, "--launch", &launch, "--format", "json"],
    );
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let reports: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let [report] = reports.as_array().expect("reports").as_slice() else { panic!("one report") };
    let [launch] = report["launches"].as_array().expect("launches").as_slice() else {
        panic!("one launch")
    };
    let warps = u64::from(ctas) * 8;
    assert_eq!(launch["warps"], warps);
    assert_eq!(launch["distinct_paths"], warps);
    // 6 instructions, and 7 or 8 for each of 32 bits.
    let ones: u64 = (0..warps).map(|warp| u64::from(warp.count_ones())).sum();
    assert_eq!(report["counters"]["warp_instructions"], warps * (6 + 7 * 32) + ones);
    assert_eq!(launch["counters"], report["counters"]);
}
