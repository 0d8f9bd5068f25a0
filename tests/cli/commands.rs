//! Commands that succeed: their output, whole.

use std::collections::BTreeMap;

use crate::strata;

/// Runs the program, and asserts that it succeeds silently apart from its result.
pub(crate) fn succeeds(arguments: &[&str]) -> String {
    let outcome = strata(arguments);
    assert_eq!(outcome.status, Some(0), "{arguments:?}: {outcome}");
    assert_eq!(outcome.stderr, "", "{arguments:?}");
    outcome.stdout
}

macro_rules! prints {
    ($($name:ident: $arguments:expr;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(succeeds(&$arguments));
        }
    )+};
}

prints! {
    the_list_of_workloads: ["workloads"];
    the_list_of_designs: ["designs"];
    the_keys_of_design_files: ["designs", "--help"];
    the_cost_of_the_best_cache: ["cost", "isca11-rfc6"];
    the_cost_of_three_levels: ["cost", "diss-rfc6-lrf"];
    the_cost_of_a_size_without_energy: ["cost", "isca11-rfc13"];
    the_cost_of_a_write_pool: ["cost", "warrf"];
    the_cost_of_a_users_memory: ["cost", "our-memory.toml"];
    the_keys_of_technology_files: ["technology", "--help"];
    a_technology_from_nvsim: ["technology", "import", "nvsim-output.txt", "--banks", "16"];
    a_technology_from_cacti: ["technology", "import", "cacti-output.txt", "--name", "ours", "--bits", "1024"];
    the_exact_figures: ["exact"];
    all_workloads: ["run", "--scale", "small"];
    one_workload_with_its_default_design: ["run", "vectoradd", "--scale", "small"];
    one_workload_as_csv:
        ["run", "needle", "--scale", "small", "--design", "isca11-rfc6-lru", "--format", "csv"];
    one_launch_of_a_users_file_as_json:
        ["run", "good.ptx", "--launch", "good.toml", "--design", "mine.toml", "--format", "json"];
    a_users_file_beside_a_built_in_workload: [
        "run", "good.ptx", "vectoradd", "--scale", "small", "--launch", "good.toml", "--format",
        "digest"
    ];
    a_size_without_energy: ["run", "dct8x8", "--scale", "small", "--design", "isca11-rfc13"];
    a_kernel_that_prints_nothing_counted_in_part:
        ["run", "srad", "--scale", "small", "--launch-index", "1", "--cta", "0"];
    an_inspected_kernel: ["inspect", "vectoradd"];
    an_inspected_file: ["inspect", "good.ptx"];
    a_kernel_by_its_name_in_cpp: ["launch-template", "cpp.ptx", "--kernel", "fill<unsigned int>"];
    an_inspected_file_without_a_kernel: ["inspect", "functions.ptx"];
    a_kernel_beside_one_that_cannot_be_executed:
        ["run", "dropped.ptx", "--launch", "plain.toml"];
    one_workload_in_time:
        ["run", "reduction", "--scale", "small", "--mode", "cycle", "--design", "isca11-rfc6"];
    one_workload_in_time_as_csv: [
        "run", "dct8x8", "--scale", "small", "--mode", "cycle", "--design", "in-time.toml",
        "--format", "csv"
    ];
    one_workload_with_a_data_cache:
        ["run", "bfs", "--scale", "small", "--mode", "cycle", "--design", "data-cache.toml"];
    one_workload_on_another_memory:
        ["run", "vectoradd", "--scale", "small", "--design", "sttram-rfc6"];
    one_workload_with_leakage: [
        "run", "vectoradd", "--scale", "small", "--mode", "cycle", "--design", "sttram", "--design",
        "sttram-as-printed"
    ];
    one_workload_with_leakage_as_csv: [
        "run", "vectoradd", "--scale", "small", "--mode", "cycle", "--design", "sttram", "--format",
        "csv"
    ];
    a_changed_machine: [
        "run", "reduction", "--scale", "small", "--mode", "cycle", "--design", "faster.toml"
    ];
    the_cost_of_a_changed_machine: ["cost", "faster.toml"];
    a_design_with_energies_of_its_own:
        ["run", "vectoradd", "--scale", "small", "--design", "priced.toml"];
    workloads_in_time_as_digests: [
        "run", "vectoradd", "dct8x8", "--scale", "small", "--mode", "cycle", "--design", "isca11-rfc6",
        "--format", "digest"
    ];
    active_warps_of_two_workloads: [
        "study", "active-warps", "reduction", "dct8x8", "--scale", "small", "--active-warps",
        "1,8,all"
    ];
    active_warps_as_csv: [
        "study", "active-warps", "matrixmul", "--scale", "small", "--active-warps", "all,4,4",
        "--order", "ptx,scheduled,scheduled-renamed", "--alu-latency", "4", "--scheduler", "round-robin",
        "--format", "csv"
    ];
    active_warps_of_a_users_file_as_json: [
        "study", "active-warps", "good.ptx", "--launch", "good.toml", "--design", "faster.toml",
        "--active-warps", "2", "--format", "json"
    ];
    write_pools_of_two_workloads: [
        "study", "write-pool", "vectoradd", "histogram", "--scale", "small", "--entries", "0,8,8",
        "--ports", "1rw,1r1w,2", "--write-cycles", "3"
    ];
    write_pools_as_csv: [
        "study", "write-pool", "vectoradd", "--scale", "small", "--design", "sttram", "--entries",
        "16", "--ports", "1r1w", "--write-cycles", "4", "--format", "csv"
    ];
    write_pools_of_a_users_file_as_json: [
        "study", "write-pool", "good.ptx", "--launch", "good.toml", "--design", "warrf-rfc3",
        "--entries", "1", "--ports", "8", "--write-cycles", "32", "--format", "json"
    ];
    one_workload_with_three_levels: [
        "run", "scalarprod", "--scale", "small", "--design", "diss-rfc6-lrf", "--design", "diss-rfc6"
    ];
    one_workload_with_a_compiler_managed_hierarchy: [
        "run", "scalarprod", "--scale", "small", "--design", "diss-orf3-lrf-split", "--design",
        "diss-orf3-onelevel"
    ];
    limits_of_a_compiler_managed_hierarchy:
        ["study", "limits", "vectoradd", "scalarprod", "--scale", "small"];
    limits_as_csv: ["study", "limits", "vectoradd", "--scale", "small", "--format", "csv"];
    names_of_a_compiler_managed_hierarchy:
        ["study", "encoding", "vectoradd", "scalarprod", "--scale", "small"];
    names_as_csv: [
        "study", "encoding", "vectoradd", "--scale", "small", "--design",
        "diss-orf1-lrf-unified-duallrf", "--specifier-bits", "8", "--format", "csv"
    ];
    names_of_a_users_file_as_json: [
        "study", "encoding", "good.ptx", "--launch", "good.toml", "--design",
        "diss-orf2-noreadoperands-onelevel", "--format", "json"
    ];
    a_workload_in_close_order:
        ["run", "bfs", "--scale", "small", "--order", "close", "--design", "diss-orf3-lrf-split"];
    a_workload_in_scheduled_order: [
        "run", "scalarprod", "--scale", "small", "--order", "scheduled-renamed", "--mode", "cycle",
        "--design", "diss-orf3-lrf-split", "--design", "isca11-rfc6"
    ];
    a_kernel_in_scheduled_order: ["inspect", "vectoradd", "--order", "scheduled"];
    a_kernel_fitted_to_a_hierarchy: ["inspect", "vectoradd", "--design", "diss-orf3-lrf-split"];
    a_kernel_profiled_on_a_hierarchy: [
        "inspect", "vectoradd", "--profile", "--scale", "small", "--design", "diss-orf3-lrf-unified"
    ];
    the_cost_of_a_compiler_managed_hierarchy: ["cost", "diss-orf3-lrf-split"];
    a_kernel_profiled_with_three_levels: [
        "inspect", "vectoradd", "--profile", "--scale", "small", "--design", "diss-rfc6-lrf"
    ];
    a_kernel_in_16_registers: ["inspect", "vectoradd", "--registers", "16"];
    a_profiled_kernel_in_16_registers:
        ["inspect", "vectoradd", "--profile", "--scale", "small", "--registers", "16"];
    a_workload_in_16_registers: ["run", "scalarprod", "--scale", "small", "--registers", "16"];
    fewer_and_fewer_registers: ["study", "registers", "--scale", "small"];
    a_graph_with_strands:
        ["inspect", "good.ptx", "--format", "dot", "--design", "diss-orf3-lrf-split"];
    a_graph_of_basic_blocks: ["inspect", "good.ptx", "--format", "dot"];
    an_explained_load: ["explain", "vectoradd", "99"];
    an_explained_instruction_that_may_wait: ["explain", "good.ptx", "30"];
    an_explained_instruction_with_three_levels:
        ["explain", "vectoradd", "37", "--design", "diss-rfc6-lrf"];
    an_explained_instruction_that_ignores_liveness:
        ["explain", "vectoradd", "37", "--design", "isca11-rfc6-nolive"];
    an_explained_instruction_after_a_strand_started:
        ["explain", "vectoradd", "101", "--design", "diss-orf3-lrf-split"];
    an_explained_instruction_that_leaves_operands_above:
        ["explain", "vectoradd", "102", "--design", "diss-orf3-lrf-split"];
    an_explained_instruction_that_finds_no_entry:
        ["explain", "vectoradd", "41", "--design", "diss-orf1"];
    an_explained_result_whose_entry_is_named:
        ["explain", "vectoradd", "31", "--design", "diss-orf2-lrf-unified-samename"];
    an_explained_result_of_one_level:
        ["explain", "vectoradd", "37", "--design", "diss-orf3-lrf-split-onelevel"];
    an_explained_line_that_spills: ["explain", "vectoradd", "52", "--registers", "16"];
    a_profiled_kernel: ["inspect", "vectoradd", "--profile", "--scale", "small"];
    a_kernel_profiled_in_time: [
        "inspect", "needle", "--profile", "--mode", "cycle", "--scale", "small", "--design",
        "micro12-unified-384", "--kernel", "needle_borders"
    ];
    a_kernel_profiled_in_time_with_rows_of_dram: [
        "inspect", "bfs", "--profile", "--mode", "cycle", "--scale", "small", "--design",
        "expars-gtx480"
    ];
}

/// The firmware's boards are built with this: `cargo xtask qemu` compiles and runs one.
#[test]
fn an_embedded_launch() {
    let path = format!("{}/embedded.rs", env!("CARGO_TARGET_TMPDIR"));
    let arguments = ["trace", "embed", "good.ptx", "--launch", "good.toml", "--output", &path];
    let printed = succeeds(&arguments);
    assert!(printed.ends_with("embedded.rs: 3 warps\n"), "{printed}");
    insta::assert_snapshot!(std::fs::read_to_string(&path).expect("the file was written"));
}

#[test]
fn the_schemas_are_the_committed_ones() {
    let committed = include_str!("../../docs/schema/run.json");
    let printed = succeeds(&["schema"]);
    assert_eq!(printed, committed, "write the output of `strata schema` to docs/schema/run.json");
    let committed = include_str!("../../docs/schema/inspect.json");
    let printed = succeeds(&["schema", "inspect"]);
    assert_eq!(printed, committed, "write it to docs/schema/inspect.json");
    let committed = include_str!("../../docs/schema/comparison.json");
    let printed = succeeds(&["schema", "comparison"]);
    assert_eq!(printed, committed, "write it to docs/schema/comparison.json");
    let committed = include_str!("../../docs/schema/diff.json");
    let printed = succeeds(&["schema", "diff"]);
    assert_eq!(printed, committed, "write it to docs/schema/diff.json");
    let committed = include_str!("../../docs/schema/active-warps.json");
    let printed = succeeds(&["schema", "active-warps"]);
    assert_eq!(printed, committed, "write it to docs/schema/active-warps.json");
    let committed = include_str!("../../docs/schema/storage.json");
    let printed = succeeds(&["schema", "storage"]);
    assert_eq!(printed, committed, "write it to docs/schema/storage.json");
    let committed = include_str!("../../docs/schema/residency.json");
    let printed = succeeds(&["schema", "residency"]);
    assert_eq!(printed, committed, "write it to docs/schema/residency.json");
    let committed = include_str!("../../docs/schema/fpga.json");
    let printed = succeeds(&["schema", "fpga"]);
    assert_eq!(printed, committed, "write it to docs/schema/fpga.json");
    let committed = include_str!("../../docs/schema/write-pool.json");
    let printed = succeeds(&["schema", "write-pool"]);
    assert_eq!(printed, committed, "write it to docs/schema/write-pool.json");
    let committed = include_str!("../../docs/schema/encoding.json");
    let printed = succeeds(&["schema", "encoding"]);
    assert_eq!(printed, committed, "write it to docs/schema/encoding.json");
}

#[test]
fn every_launch_in_time_says_what_limits_it() {
    let arguments = ["run", "matrixmul", "--scale", "small", "--mode", "cycle"];
    let text =
        succeeds(&[&arguments[..], &["--design", "small-sm.toml", "--format", "json"]].concat());
    let reports: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let launches = reports[0]["launches"].as_array().expect("launches");
    assert!(!launches.is_empty());
    for launch in launches {
        // CTAs of 8 warps with 8 KB each; the SM has 20 KB.
        let expected = serde_json::json!(
            {"ctas": 2, "warps": 16, "limit": "shared_memory", "empty_registers": 0}
        );
        assert_eq!(launch["residency"], expected);
    }
}

/// Each of two pairs of warps waits for a load, one pair before the barrier and one after it: at
/// barriers of their own they wait at the same time, at one barrier one after the other.
#[test]
fn pairs_at_two_barriers_do_not_wait_for_each_other_in_time() {
    let named = include_str!("inputs/pairs.ptx");
    let together = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("together.ptx");
    let text = named.replace("bar.sync %r4, 64;", "bar.sync 0;");
    assert_ne!(text, named);
    std::fs::write(&together, text).expect("the scratch file can be written");
    let cycles = |kernel: &str, design: &str| {
        let launch = ["run", kernel, "--launch", "pairs.toml", "--mode", "cycle"];
        let text = succeeds(&[&launch[..], &["--design", design, "--format", "json"]].concat());
        let reports: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        reports[0]["counters"]["cycles"].as_u64().expect("a number")
    };
    for design in ["isca11", "isca11-rfc6"] {
        let apart = cycles("pairs.ptx", design);
        let together = cycles(together.to_str().expect("UTF-8"), design);
        assert!((400..600).contains(&apart), "{design}: {apart}");
        assert!((800..1000).contains(&together), "{design}: {together}");
    }
}

#[test]
fn json_keeps_its_promises() {
    let text = succeeds(&[
        "run",
        "bfs",
        "--scale",
        "small",
        "--format",
        "json",
        "--design",
        "isca11-rfc6",
    ]);
    let reports: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let report = &reports[0];
    let counters = report["counters"].as_object().expect("counters");
    for name in [
        "warp_instructions",
        "mrf_reads",
        "mrf_writes",
        "rfc_reads",
        "rfc_writes",
        "rfc_writebacks",
    ] {
        let total = counters[name].as_u64().expect("a whole number");
        let launches = report["launches"].as_array().expect("launches");
        assert!(launches.len() > 1);
        let sum: u64 = launches
            .iter()
            .map(|launch| launch["counters"][name].as_u64().expect("a number"))
            .sum();
        assert_eq!(total, sum, "{name} is summed over launches");
    }
    let energy = report["energy_fj"].as_object().expect("energy");
    let parts = energy.iter().filter(|(name, _)| *name != "total");
    let sum: u64 = parts.map(|(_, part)| part.as_u64().expect("a whole number")).sum();
    assert_eq!(energy["total"].as_u64(), Some(sum));
    assert_eq!(report["check"], "passed");
}

#[test]
fn completions_name_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(succeeds(&["completions", shell]).contains("strata"), "{shell}");
    }
}

#[test]
fn doctor_needs_nothing() {
    assert!(succeeds(&["doctor"]).contains("needs no other program"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let mut child = Command::new(program)
        .args(["run", "bfs", "--scale", "small", "--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// The rows of a CSV without quoted fields, each as its columns by name.
fn rows(csv: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| names.iter().copied().zip(line.split(',')).collect()).collect()
}

#[test]
fn a_baseline_costs_the_same_whether_or_not_it_is_asked_for() {
    let run = |designs: &[&str]| {
        let mut arguments =
            vec!["run", "reduction", "--scale", "small", "--mode", "cycle", "--format", "csv"];
        for design in designs {
            arguments.extend(["--design", design]);
        }
        succeeds(&arguments)
    };
    let alone = run(&["sttram", "warrf-gtx480-rfc6"]);
    let beside = run(&["sttram-as-printed", "sttram", "warrf-gtx480", "warrf-gtx480-rfc6"]);
    let (alone, beside) = (rows(&alone), rows(&beside));
    for row in &alone {
        let same = beside.iter().find(|other| other["design"] == row["design"]);
        assert_eq!(Some(row), same);
    }
    let mut relative = Vec::new();
    for row in alone.iter().chain(&beside) {
        let number = |name: &str| row[name].parse::<u64>().unwrap();
        // Nothing is lost between the parts and the sums.
        assert_eq!(number("dynamic_fj") + number("leakage_fj"), number("total_fj"));
        assert_eq!(number("energy_total_fj"), number("dynamic_fj"));
        // Each write of the main register file wears one cell.
        let (mean, cells) = (row["cell_writes_mean"].parse::<f64>().unwrap(), number("cells"));
        assert_eq!(cells, 1024);
        assert_eq!((mean * 1024.0).round() as u64, number("mrf_writes"));
        assert!(number("cell_writes_max") as f64 >= mean);
        relative.push((row["design"], row["total_energy_relative_percent"]));
    }
    assert!(relative.contains(&("warrf-gtx480", "100")), "{relative:?}");
    assert!(!relative.contains(&("sttram", "100")), "{relative:?}");
}

/// The speed that help names is the one that is used.
#[test]
fn help_names_the_speed_of_the_register_map() {
    let help = strata(&["fpga", "info", "--help"]);
    let speed = format!("Default: {}", strata_core::prototype::regmap::LINE_BAUD);
    assert!(help.stdout.contains(&speed), "{help}");
}
