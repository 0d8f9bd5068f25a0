//! What can be named, as text, CSV, JSON and Markdown; inputs of which some fail.

use clap::CommandFactory as _;
use serde_json::Value;

use crate::commands::succeeds;
use crate::strata;

fn json(arguments: &[&str]) -> Vec<Value> {
    serde_json::from_str(&succeeds(arguments)).expect("JSON")
}

#[test]
fn every_design_is_a_row_with_its_parameters() {
    let designs = json(&["designs", "--format", "json"]);
    let text = succeeds(&["designs"]);
    let of = |name: &str| {
        let found = designs.iter().find(|design| design["design"] == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(of("isca11-rfc6")["cache.entries"], 6);
    assert_eq!(of("isca11-rfc6")["machine"], "isca11");
    assert_eq!(of("isca11")["cache.entries"], Value::Null);
    for design in &designs {
        let name = design["design"].as_str().expect("a name");
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{name}");
    }
    let csv = succeeds(&["designs", "--format", "csv"]);
    assert_eq!(csv.lines().count(), designs.len() + 1);
    assert!(csv.starts_with("design,machine,source,partial_warp_energy,"), "{csv}");
}

#[test]
fn every_size_of_a_workload_is_a_row() {
    let workloads = json(&["workloads", "--format", "json"]);
    let small =
        workloads.iter().find(|row| row["workload"] == "vectoradd" && row["size"] == "small");
    let small = small.expect("a row");
    assert_eq!(small["group"], "suite");
    assert_eq!(small["parameters"], "ctas=16 n=24011");
    let markdown = succeeds(&["workloads", "--format", "markdown"]);
    assert_eq!(markdown.lines().count(), workloads.len() + 2);
    assert!(markdown.starts_with("| group | workload | size | parameters | description |\n"));
}

#[test]
fn every_command_has_a_page() {
    let program = succeeds(&["man"]);
    assert!(program.contains(".TH strata 1"), "{program}");
    for command in strata_cli::cli::Cli::command().get_subcommands() {
        let name = command.get_name();
        let page = succeeds(&["man", name]);
        assert!(page.contains(&format!(".TH strata-{name} 1")), "{page}");
    }
    let page = succeeds(&["man", "sweep", "table"]);
    assert!(page.contains("One value, in a line for each value of a column"), "{page}");
    let wrong = strata(&["man", "swep"]);
    assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("did you mean `sweep`?"), "{wrong}");
}

/// A trace has no program that a compiler could fit to a design.
#[test]
fn inputs_that_fail_do_not_keep_others_from_being_measured() {
    let one = ["run", "tiny.traceg", "vectoradd", "--scale", "small", "--design", "diss-orf3"];
    let stopped = strata(&one);
    assert_eq!((stopped.status, stopped.stdout.as_str()), (Some(2), ""), "{stopped}");
    let outcome = strata(&[&one[..], &["--keep-going", "--format", "csv"]].concat());
    assert_eq!(outcome.status, Some(1), "{outcome}");
    let alone = ["run", "vectoradd", "--scale", "small", "--design", "diss-orf3"];
    assert_eq!(outcome.stdout, succeeds(&[&alone[..], &["--format", "csv"]].concat()));
    assert!(outcome.stderr.contains("error: `tiny.traceg` cannot be counted"), "{outcome}");
    assert!(outcome.stderr.contains("note: 1 of 2 inputs failed"), "{outcome}");
}

/// Commands that print a table, with a column each.
const TABLES: &[(&[&str], &str)] = &[
    (&["designs"], "cache.entries"),
    (&["workloads"], "parameters"),
    (&["trace", "info", "REC"], "warp_instructions"),
    (&["run", "vectoradd", "--scale", "small"], "mrf_reads"),
    (
        &[
            "run",
            "vectoradd",
            "--scale",
            "small",
            "--baseline",
            "isca11",
            "--design",
            "isca11-rfc6",
        ],
        "energy_ratio",
    ),
    (&["inspect", "vectoradd", "--profile", "--scale", "small"], "executions"),
    (&["study", "active-warps", "vectoradd", "--scale", "small"], "ipc"),
    (&["study", "registers", "vectoradd", "--scale", "small"], "instructions"),
    (&["study", "limits", "vectoradd", "--scale", "small"], "energy_fj"),
    (&["study", "encoding", "vectoradd", "--scale", "small"], "for_all_bits"),
    (&["study", "write-pool", "vectoradd", "--scale", "small"], "ipc"),
    (&["study", "storage", "vectoradd", "--scale", "small"], "dram_bytes"),
    (&["study", "residency", "vectoradd", "--scale", "small"], "baseline_ctas"),
];

fn joined<'a>(command: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [command, more].concat()
}

/// A table of CSV without quotes.
fn csv(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn every_table_is_there_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("r.strata");
    let recording = recording.to_str().expect("UTF-8");
    succeeds(&["trace", "record", "tiny.traceg", "-o", recording]);
    for (command, column) in TABLES {
        let command: Vec<_> =
            command.iter().map(|word| if *word == "REC" { recording } else { word }).collect();
        let all = succeeds(&joined(&command, &["--format", "csv"]));
        let header = all.lines().next().expect("a header");
        assert!(header.split(',').any(|name| name == *column), "{command:?}: {header}");
        let one = succeeds(&joined(&command, &["--format", "csv", "--columns", column]));
        let rows = csv(&one);
        assert_eq!((rows[0].as_slice(), rows.len()), (&[*column][..], all.lines().count()));
        let objects = json(&joined(&command, &["--format", "json", "--columns", column]));
        assert_eq!(objects.len(), rows.len() - 1, "{command:?}");
        for (object, row) in objects.iter().zip(&rows[1..]) {
            let value = match &object[column] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let numbers = value.parse::<f64>().ok().zip(row[0].parse::<f64>().ok());
            let same =
                numbers.map_or(value == row[0], |(one, other)| one.to_bits() == other.to_bits());
            assert!(same, "{command:?}: {value}, {}", row[0]);
        }
        let markdown = succeeds(&joined(&command, &["--format", "markdown", "--columns", column]));
        assert!(markdown.starts_with(&format!("| {column} |\n| ---")), "{markdown}");
        assert_eq!(markdown.lines().count(), rows.len() + 1, "{command:?}");
        let table = succeeds(&joined(&command, &["--columns", column]));
        assert_eq!(table.lines().count(), rows.len(), "{table}");
        assert_eq!(
            parquet(&joined(&command, &["--format", "parquet", "--columns", column])),
            rows.len() - 1
        );
        let wrong = strata(&joined(&command, &["--columns", "nothing_like_it"]));
        assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""), "{wrong}");
        assert!(wrong.stderr.contains("there is no column `nothing_like_it`"), "{wrong}");
        let lists = ["the columns are: ", "`--format csv` without `--columns` has all "];
        assert!(lists.iter().any(|list| wrong.stderr.contains(list)), "{wrong}");
    }
}

/// How many rows a file of Parquet has, which the command prints.
fn parquet(arguments: &[&str]) -> usize {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_strata-under-test"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cli/inputs"))
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{arguments:?}");
    let reader = SerializedFileReader::new(bytes::Bytes::from(output.stdout)).expect("Parquet");
    let file = reader.metadata().file_metadata();
    assert_eq!(file.schema_descr().num_columns(), 1, "{arguments:?}");
    usize::try_from(file.num_rows()).expect("few")
}

#[test]
fn columns_without_effect_are_refused() {
    for (command, told) in [
        (
            &["run", "vectoradd", "--format", "digest", "--columns", "ipc"][..],
            "a digest has no columns",
        ),
        (
            &["inspect", "vectoradd", "--columns", "executions"][..],
            "`--columns` is for what is executed",
        ),
        (&["run", "vectoradd", "--columns", "ipc,ipc"][..], "`--columns` names `ipc` twice"),
    ] {
        let outcome = strata(command);
        assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
        assert!(outcome.stderr.contains(told), "{outcome}");
    }
}

#[test]
fn lines_of_json_are_the_reports() {
    let run = ["run", "vectoradd", "reduction", "--scale", "small"];
    let reports = json(&[&run[..], &["--format", "json"]].concat());
    let lines = succeeds(&[&run[..], &["--format", "jsonl"]].concat());
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines, reports);
}
