//! `study storage`: figures whose points are what `run` says, in three formats.

use std::fs;

use serde_json::Value;
use strata_tests::start;

use crate::outputs::Home;

fn study(home: &Home, arguments: &[&str]) -> strata_tests::Outcome {
    let mut words = vec!["study", "storage", "-q", "--scale", "small"];
    words.extend(arguments);
    start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words)
}

fn json(home: &Home, arguments: &[&str]) -> Value {
    let outcome = study(home, &[arguments, &["--format", "json"]].concat());
    assert_eq!(outcome.status, Some(0), "{outcome}");
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

fn rows(study: &Value) -> &Vec<Value> {
    study["rows"].as_array().expect("rows")
}

#[test]
fn points_are_what_run_says_of_their_designs() {
    let home = Home::new(&[]);
    let study = json(&home, &["bfs", "--figure", "unified"]);
    let rows = rows(&study);
    assert_eq!(rows.len(), 5);
    let ratio = |value: &Value| value.as_f64().expect("a ratio");
    let mut first = None;
    for row in rows {
        let design = row["point"].as_str().expect("a name");
        let words =
            ["run", "bfs", "--mode", "cycle", "--scale", "small", "--format", "json", "--design"];
        let words = [&words[..], &[design]].concat();
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
        let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let report = report.as_array().map_or(&report, |all| &all[0]);
        let run = &row["run"];
        assert_eq!(run["cycles"], report["counters"]["cycles"], "{design}");
        assert_eq!(run["dram_bytes"], report["data_cache"]["dram_bytes"], "{design}");
        let cycles = run["cycles"].as_f64().expect("cycles");
        let reference = *first.get_or_insert(cycles);
        assert_eq!(run["performance"].as_f64(), Some(reference / cycles), "{design}");
        // The figure's reference is the baseline that a report compares with.
        for place in 0..2 {
            let (own, of) =
                (&run["energy"][place], &report["storage_energy"]["technologies"][place]);
            assert_eq!(
                (&own["technology"], &own["energy_fj"]),
                (&of["technology"], &of["energy_fj"])
            );
            for (own, of) in [
                (&own["relative"], &of["relative"]["energy_percent"]),
                (&own["performance_per_joule"], &of["relative"]["performance_per_joule_percent"]),
            ] {
                assert!((ratio(own) - ratio(of) / 100.0).abs() < 1e-6, "{design}: {own} {of}");
            }
        }
    }
}

#[test]
fn conflicts_of_banks_are_those_of_design_files() {
    let home = Home::new(&[]);
    let study = json(&home, &["srad", "--figure", "conflicts"]);
    let rows = rows(&study);
    assert_eq!((rows.len(), &rows[0]["run"]["performance"]), (8, &1.0.into()));
    let keys = [
        "banks = \"partitioned\"\nconflicts = \"apart\"",
        "banks = \"simple\"\nconflicts = \"apart\"",
        "banks = \"simple\"\nconflicts = \"penalty\"",
        "banks = \"simple\"\nconflicts = \"arbitrated\"",
    ];
    let mut words = ["run", "srad", "--mode", "cycle", "--scale", "small", "--format", "json"]
        .map(str::to_owned)
        .to_vec();
    let files = ["-flat", ""].into_iter().flat_map(|base| keys.map(|keys| (base, keys)));
    for (place, (base, keys)) in files.enumerate() {
        let text = format!("base = \"micro12-unified-384{base}\"\n[data_cache]\n{keys}\n");
        let file = format!("banks{place}.toml");
        fs::write(home.folder().join(&file), text).expect("a file");
        words.extend(["--design".to_owned(), file]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let reports: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let mut accesses = Vec::new();
    for (row, report) in rows.iter().zip(reports.as_array().expect("reports")) {
        let (own, of) = (&row["run"]["conflicts"], &report["data_cache"]);
        assert_eq!(row["run"]["cycles"], report["counters"]["cycles"], "{}", row["point"]);
        assert_eq!(own["arbitration_cycles"], of["arbitration_conflict_cycles"]);
        assert_eq!(own["instructions"][1], of["instructions_bank_accesses_2"]);
        let count = |count: &Value| count.as_u64().expect("a count");
        let memory = count(&of["shared_conflict_cycles"]) + count(&of["cache_conflict_cycles"]);
        assert_eq!(count(&own["memory_cycles"]), memory);
        accesses.push(own["instructions"].clone());
    }
    // How conflicts are charged does not change what meets, and a hierarchy keeps reads away.
    assert_eq!((&accesses[2], &accesses[6]), (&accesses[3], &accesses[7]));
    assert!(accesses[6][0].as_u64() > accesses[2][0].as_u64());
}

#[test]
fn a_figure_by_registers_runs_what_was_compiled_for_them() {
    let home = Home::new(&[]);
    let study = json(&home, &["pcr", "--figure", "registers"]);
    let rows = rows(&study);
    assert_eq!(rows.len(), 20);
    // `pcr` has 26 registers: fewer spill, more change nothing.
    let registers: Vec<_> = rows.iter().step_by(4).map(|row| &row["run"]["registers"]).collect();
    assert_eq!(registers, [18, 24, 26, 26, 26]);
    let instructions = |row: &Value| row["run"]["instructions_relative"].as_f64().expect("ratio");
    assert!(instructions(&rows[0]) > instructions(&rows[4]) && instructions(&rows[4]) > 1.0);
    assert!((instructions(&rows[8]) - 1.0).abs() < 1e-12);
    let threads: Vec<_> = rows[..4].iter().map(|row| &row["run"]["partition"]["threads"]).collect();
    assert_eq!(threads, [256, 512, 768, 1024]);
}

#[test]
fn what_does_not_fit_a_point_is_told_there() {
    let home = Home::new(&[]);
    let study = json(&home, &["needle64", "--figure", "limited"]);
    let [wide, narrow] = &rows(&study)[..] else { panic!("two rows") };
    assert!(wide["run"].is_object() && wide["refused"].is_null());
    let refused = narrow["refused"].as_str().expect("a reason");
    assert_eq!(refused, "a CTA needs 33284 bytes of shared memory, but an SM has 16384");
    assert!(narrow["run"].is_null());
    // All inputs are compared with the last one.
    let study = json(&home, &["needle16", "needle32", "--figure", "blocking"]);
    assert_eq!(study["compared_with"], "needle32: 1024 threads");
    let last = &rows(&study)[63]["run"];
    assert_eq!((&last["performance"], &last["dram_relative"]), (&1.0.into(), &1.0.into()));
    // Half of the lanes of 64 warps.
    assert_eq!(rows(&study)[31]["run"]["partition"]["threads"], 1024);
}

#[test]
fn formats_have_the_same_rows_and_wrong_inputs_are_refused() {
    let home = Home::new(&[]);
    let table = study(&home, &["pcr", "--figure", "needs"]);
    insta::assert_snapshot!("the_needs_of_a_kernel", table.stdout);
    let csv = study(&home, &["pcr", "--figure", "needs", "--format", "csv"]);
    let lines: Vec<&str> = csv.stdout.lines().collect();
    // Those of the table and of banks; there is no energy of storage without bounds.
    assert_eq!(lines.len(), 9);
    assert!(lines.iter().all(|line| line.split(',').count() == 12 + 7), "{}", csv.stdout);
    // Energy and its parts in both technologies.
    let csv = study(&home, &["pcr", "--figure", "unified", "--format", "csv"]);
    let columns = 12 + 2 * (2 + 8) + 7;
    assert!(csv.stdout.lines().all(|line| line.split(',').count() == columns), "{}", csv.stdout);
    let conflicts = study(&home, &["pcr", "--figure", "conflicts"]);
    insta::assert_snapshot!("conflicts_of_a_kernel", conflicts.stdout);
    for (words, part) in [
        (&["pcr", "--registers", "20"][..], "`--registers` is part of a figure here"),
        (&["kernelslist.g"], "is a trace"),
        (&["--figure", "caches"], "possible values"),
    ] {
        let outcome = study(&home, words);
        assert_eq!(outcome.status, Some(2), "{outcome}");
        assert!(outcome.stderr.contains(part), "{outcome}");
    }
}
