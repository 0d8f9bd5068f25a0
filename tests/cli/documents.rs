//! Documents: what they tell a reader to type is understood, and what they show runs.

use std::path::Path;

use clap::Parser as _;
use strata::cli::Cli;
use strata_tests::start;

use crate::strata;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_commands_of_the_readme_are_understood() {
    let readme = document("README.md");
    let commands = readme.lines().filter_map(|line| line.strip_prefix("cargo run --release -- "));
    let mut found = 0;
    for command in commands {
        let typed = command.split('#').next().unwrap_or_default();
        let words = std::iter::once("strata").chain(typed.split_whitespace());
        Cli::try_parse_from(words).unwrap_or_else(|error| panic!("README.md: `{typed}`: {error}"));
        found += 1;
    }
    assert!(found > 10, "{found} commands");
}

#[test]
fn the_smallest_launch_file_runs() {
    let workloads = document("docs/WORKLOADS.md");
    let mut blocks =
        workloads.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let launch = blocks.find(|block| block.contains("kernel = \"twice\"")).expect("the example");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("twice.toml");
    std::fs::write(&file, launch).expect("it can be written");
    let file = file.to_str().expect("a name in UTF-8");
    let outcome = strata(&["run", "twice.ptx", "--launch", file, "--format", "json"]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let reports: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    // 32 warps: even the last, with 8 threads inside, executes all 14 instructions.
    assert_eq!(reports[0]["counters"]["warp_instructions"], 32 * 14, "{}", outcome.stdout);
    assert_eq!(reports[0]["check"], "none");
}

/// From the root of a clone: machine code that is committed.
#[test]
fn the_recordings_run_as_documents_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut runs = 0;
    for name in ["docs/TRACES.md", "host-cli/recordings/README.md"] {
        let text = document(name);
        for typed in text.lines().filter(|line| line.starts_with("strata run host-cli/")) {
            let words: Vec<&str> = typed.split_whitespace().skip(1).collect();
            let arguments = [&words[..], &["--format", "json", "--quiet"]].concat();
            let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), &root, &arguments);
            assert_eq!(outcome.status, Some(0), "{name}, `{typed}`: {outcome}");
            let reports: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
            for report in reports.as_array().expect("reports") {
                let expected = match report["workload"].as_str() {
                    Some("host-cli/recordings/bfs-sm80.strata") => 159_509,
                    Some("host-cli/recordings/vectoradd-sm80.strata") => 26_601,
                    other => panic!("{name}, `{typed}`: {other:?}"),
                };
                assert_eq!(report["counters"]["warp_instructions"], expected, "{name}");
                runs += 1;
            }
        }
    }
    assert_eq!(runs, 4);
}
