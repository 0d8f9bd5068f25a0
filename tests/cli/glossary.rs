//! Glossary: every column of every table has an entry, and every entry a column.

use std::collections::BTreeSet;
use std::path::Path;

use strata_tests::start;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Commands that print each table, as CSV, and those that make what they read.
const TABLES: &[&str] = &[
    "run vectoradd --scale small --design isca11-rfc6 --design diss-rfc3-lrf \
     --design diss-orf3-lrf-split",
    "run vectoradd --scale small --mode cycle --design warrf \
     --design micro12-unified-384,storage_technologies=[micro12-32nm] --design expars-ltlws-lrr",
    "run vectoradd --scale small --registers 16 --design isca11",
    "run vectoradd --scale small --baseline isca11 --design isca11-rfc6",
    "inspect vectoradd --scale small --profile --mode cycle --design isca11-rfc6",
    "study active-warps vectoradd --scale small --active-warps 4,all",
    "study registers vectoradd --scale small",
    "study limits vectoradd --scale small",
    "study encoding vectoradd --scale small",
    "study write-pool vectoradd --scale small",
    "study storage vectoradd --figure no-benefit --scale small",
    "study residency vectoradd",
    "workloads",
    "designs",
    "sweep --vary cache.entries=4,6 --workload vectoradd --scale small --out points",
    "sweep table points",
    "sweep table points --baseline cache.entries=6",
    "pareto points",
    "reproduce isca11 --figure 6 --scale small --out figures",
];

/// Files that are tables as well.
const FILES: &[&str] = &["figures/rfc-one-level.csv"];

/// The columns of all tables.
fn columns() -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut found = BTreeSet::new();
    let mut add = |text: &str, of: &str| {
        let header = text.lines().next().unwrap_or_else(|| panic!("`{of}` prints nothing"));
        found.extend(header.split(',').map(str::to_owned));
    };
    for typed in TABLES {
        let mut words: Vec<&str> = typed.split_whitespace().collect();
        let makes = words.contains(&"--out");
        if !makes {
            words.extend(["--format", "csv"]);
        }
        let done = start(env!("CARGO_BIN_EXE_strata-under-test"), folder.path(), &words);
        assert_eq!(done.status, Some(0), "`{typed}`: {done}");
        if !makes {
            add(&done.stdout, typed);
        }
    }
    for name in FILES {
        add(&std::fs::read_to_string(folder.path().join(name)).expect(name), name);
    }
    // All workloads in three orders would take longer than all of this.
    add(&committed_claims(), "the claims");
    found
}

/// The names of the columns of claims, which are those of the report's page.
fn committed_claims() -> String {
    strata_figures::reproduce::CLAIM_COLUMNS.join(",")
}

/// What stands in backticks in the first cells of tables.
fn entries(text: &str) -> Vec<&str> {
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    cells.flat_map(|cell| cell.split('`').step_by(2)).filter(|name| !name.is_empty()).collect()
}

/// Whether a name is an entry: words in angle brackets stand for any letters.
fn is(name: &str, entry: &str) -> bool {
    match entry.split_once('<') {
        None => name == entry,
        Some((before, behind)) => {
            let after = behind.split_once('>').expect("brackets close").1;
            name.strip_prefix(before)
                .is_some_and(|rest| (1..=rest.len()).any(|length| is(&rest[length..], after)))
        }
    }
}

#[test]
fn every_column_is_explained_and_every_entry_is_a_column() {
    let glossary = document("book/glossary.md");
    let entries = entries(&glossary);
    let model = document("MODEL.md");
    let counted: BTreeSet<&str> = model.split('`').skip(1).step_by(2).collect();
    let columns = columns();
    let keys = strata_design::parameter_keys();
    let elsewhere = |name: &str| {
        let bare = ["data_cache_", "expansion_", ""].map(|group| name.strip_prefix(group));
        bare.into_iter().flatten().any(|name| counted.contains(name))
            || keys.iter().any(|(key, _)| key == name)
            || name.starts_with("stall_")
    };
    let unknown: Vec<&String> = columns
        .iter()
        .filter(|name| !elsewhere(name) && !entries.iter().any(|entry| is(name, entry)))
        .collect();
    assert!(unknown.is_empty(), "docs/book/glossary.md has no entry for {unknown:?}");
    let idle: Vec<&&str> =
        entries.iter().filter(|entry| !columns.iter().any(|name| is(name, entry))).collect();
    assert!(idle.is_empty(), "no table has the columns {idle:?} of docs/book/glossary.md");
    assert!(columns.len() > 400, "{} columns", columns.len());
}

#[test]
fn words_in_brackets_stand_for_letters() {
    assert!(is("energy_mrf_bank_fj", "energy_<level>_bank_fj"));
    assert!(is("storage_a_b_fj", "storage_<technology>_<part>_fj"));
    assert!(!is("energy_bank_fj", "energy_<level>_bank_fj"));
    assert!(!is("ipc", "ipc_<what>"));
}
