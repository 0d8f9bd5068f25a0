//! Documents: what they tell a reader to type is understood, and what they show runs.

use std::path::Path;

use clap::Parser as _;
use strata_cli::cli::Cli;
use strata_tests::start;

use crate::strata;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_commands_of_the_readme_are_understood() {
    fn command(line: &str) -> Option<&str> {
        line.strip_prefix("cargo run -- ").or_else(|| line.strip_prefix("strata "))
    }
    let readme = document("README.md");
    let mut found = 0;
    for command in readme.lines().filter_map(command) {
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

/// The tutorial, with the PTX and the arrays that nvcc and NumPy made.
#[test]
fn the_tutorial_runs_as_it_says() {
    let page = document("docs/book/your-kernel.md");
    let folder = tempfile::tempdir().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/your-kernel");
    for name in ["blur.ptx", "image.npy", "weights.npy", "expected.npy"] {
        std::fs::copy(from.join(name), folder.path().join(name)).expect(name);
    }
    for name in ["blur.cu", "blur.toml"] {
        let text = document(&format!("docs/book/your-kernel/{name}"));
        assert!(page.contains(&format!("\n{text}```")), "{name} is not what the page shows");
    }
    let launch = document("docs/book/your-kernel/blur.toml");
    let mut told = String::new();
    let mut typed = 0;
    for command in page.lines().filter_map(|line| line.strip_prefix("   strata ")) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let done = start(env!("CARGO_BIN_EXE_strata-under-test"), folder.path(), &words);
        assert_eq!(done.status, Some(0), "`{command}`: {done}");
        if words[0] == "launch-template" {
            // As the page says, the template runs before it is edited.
            let run = ["run", "blur.ptx", "--launch", "blur.toml"];
            let run = start(env!("CARGO_BIN_EXE_strata-under-test"), folder.path(), &run);
            assert_eq!(run.status, Some(0), "{run}");
            std::fs::write(folder.path().join("blur.toml"), &launch).expect("it can be written");
        }
        told = done.stdout;
        typed += 1;
    }
    assert_eq!(typed, 3);
    assert!(page.contains(&format!("   {told}")), "{told}");
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    assert_eq!(read("result.npy").len(), read("expected.npy").len());
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
