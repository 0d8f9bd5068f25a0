//! Exports of all workloads, run by a real Accel-Sim: it counts every instruction that was executed.
//! `cargo xtask accel-sim` runs this where one was built; without it there is nothing to compare.

use std::fs;
use std::path::{Path, PathBuf};

use strata_tests::{Outcome, start, start_with};

/// Names the folder `gpu-simulator` of a built Accel-Sim.
const FOLDER: &str = "STRATA_ACCEL_SIM";

/// The machine that the exports declare.
const MACHINE: &str = "configs/tested-cfgs/SM7_QV100";

/// Options for one SM and a small memory: nothing here is about time.
const SMALL: &[&str] = &[
    "-gpgpu_n_clusters",
    "1",
    "-gpgpu_n_mem",
    "4",
    "-gpgpu_memory_partition_indexing",
    "0",
    "-power_simulation_enabled",
    "0",
];

/// The program.
const STRATA: &str = env!("CARGO_BIN_EXE_strata-under-test");

fn strata(folder: &Path, arguments: &[&str]) -> Outcome {
    start(STRATA, folder, arguments)
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let told = strata(folder, arguments);
    assert_eq!(told.status, Some(0), "{arguments:?}: {told}");
    told.stdout
}

/// Thread and warp instructions.
type Counts = (u64, u64);

/// What the model executes of a workload, which no trace takes part in.
fn executed(folder: &Path, workload: &str) -> Counts {
    let told = succeeds(folder, &["run", workload, "--scale", "small", "--format", "json"]);
    let reports: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let counted = |name: &str| reports[0]["counters"][name].as_u64().expect("a count");
    (counted("thread_instructions"), counted("warp_instructions"))
}

/// What Accel-Sim counts of an export.
fn simulated(simulator: &Path, folder: &Path) -> Counts {
    let path = |place: &str| simulator.join(place).to_str().expect("UTF-8").to_owned();
    let (trace, core) = (
        path(&format!("{MACHINE}/trace.config")),
        path(&format!("gpgpu-sim/{MACHINE}/gpgpusim.config")),
    );
    let mut arguments = vec!["-trace", "out/kernelslist.g", "-config", &core, "-config", &trace];
    arguments.extend(SMALL);
    let library = library(simulator);
    let environment = [("LD_LIBRARY_PATH", library.as_path())];
    let told = start_with(&path("bin/release/accel-sim.out"), folder, &arguments, &environment);
    assert_eq!(told.status, Some(0), "{told}");
    let last = |name: &str| {
        let line = told.stdout.lines().rev().find_map(|line| line.strip_prefix(name));
        let count = line.and_then(|rest| rest.trim_start_matches([' ', '=']).trim().parse().ok());
        count.unwrap_or_else(|| panic!("no {name} in {told}"))
    };
    (last("gpgpu_n_tot_thrd_icount"), last("gpgpu_n_tot_w_icount"))
}

/// Where the simulator's library is: `gpgpu-sim/lib/COMPILER/CUDA/release`.
fn library(simulator: &Path) -> PathBuf {
    let only = |folder: PathBuf| {
        let mut entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        entries.next().expect("a folder").expect("an entry").path()
    };
    only(only(simulator.join("gpgpu-sim/lib"))).join("release")
}

#[test]
fn every_instruction_of_every_workload_is_counted() {
    let simulator = std::env::var_os(FOLDER).map(PathBuf::from);
    let simulator = simulator.unwrap_or_else(|| panic!("no {FOLDER}: run `cargo xtask accel-sim`"));
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    let names = succeeds(home, &["workloads", "--format", "csv", "--columns", "workload"]);
    let mut names: Vec<&str> = names.lines().skip(1).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 39, "{names:?}");
    for name in names {
        // Scattered vectors have registers that a trace cannot name.
        succeeds(
            home,
            &["trace", "export", name, "--scale", "small", "--approximate", "-o", "out"],
        );
        assert_eq!(simulated(&simulator, home), executed(home, name), "{name}");
    }
}
