//! Files of points in other programs: every value, type and null is what the tables print.

use std::fs;

use strata_study::sweep::SCHEMA;

use crate::{done, merged, own_file, run_python, strata};

/// Sweeps whose rows have every kind of column: in time, with energy of storage, with points that
/// fail, with levels that a design lacks.
const SWEEPS: [&[&str]; 4] = [
    &["--design", "isca11-rfc6", "--vary", "sm.warps=4,32", "--workload", "reduction"],
    &["--design", "micro12", "--design", "warrf", "--mode", "cycle", "--workload", "bfs"],
    &["--design", "diss-orf3-lrf-split", "--workload", "reduction", "--set", "seed=0..1"],
    &["--design", "isca11", "--design", "isca11-rfc6", "--vary", "also_leaves_for=[sfu]|[]"],
];

#[test]
fn pandas_and_duckdb_read_what_tables_print() {
    let mut seen = String::new();
    for sweep in SWEEPS {
        let home = tempfile::tempdir().expect("a folder");
        let more: &[&str] =
            if sweep.contains(&"--workload") { &[] } else { &["--workload", "bfs"] };
        let small = ["sweep", "--out", "out", "--scale", "small"];
        let outcome = strata(home.path(), &[&small[..], sweep, more].concat());
        assert!(matches!(outcome.status, Some(0 | 1)), "{outcome}");
        let (points, _) = merged(home.path());
        for format in ["json", "csv"] {
            let table = done(home.path(), &["sweep", "table", "out", "--format", format]);
            fs::write(home.path().join(format), table).expect("it can be written");
        }
        let points = format!("out/{points}");
        let arguments = [&own_file("compare.py"), points.as_str(), "json", "csv", SCHEMA];
        seen += &run_python(home.path(), &arguments);
    }
    let all = "['NoneType', 'bool', 'float', 'int', 'str']";
    assert!(seen.contains(all), "{seen}");
    assert_eq!(seen.lines().count(), SWEEPS.len(), "{seen}");
}
