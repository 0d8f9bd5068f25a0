//! Profiles of lines in time: their sums are the counters of the same run.

use std::collections::BTreeMap;

use strata_tests::start;

use crate::outputs::Home;

/// Columns of a profile, as sums of the report's counters.
const COLUMNS: [(&str, &[&str]); 9] = [
    ("executed", &["warp_instructions"]),
    ("lookups", &["lookups"]),
    ("hits", &["load_hits", "store_hits", "bypass_hits"]),
    ("merged", &["load_merged"]),
    ("misses", &["load_misses", "store_misses", "bypass_misses"]),
    ("DRAM bytes", &["dram_bytes"]),
    ("shared", &["shared_conflict_cycles"]),
    ("cache", &["cache_conflict_cycles"]),
    ("registers", &["arbitration_conflict_cycles"]),
];

fn succeeds(home: &Home, words: &[&str]) -> String {
    let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), words);
    assert_eq!(outcome.status, Some(0), "{words:?}: {outcome}");
    outcome.stdout
}

/// The numbers in a margin, by column, but of a heading; those of an instruction that accesses no
/// memory are 0. Behind the executions stand the stalls and, unless they are 0, where most of them
/// were.
fn numbers(margin: &str) -> Option<[u64; COLUMNS.len()]> {
    let mut words = margin.split_whitespace();
    let mut numbers = [0; COLUMNS.len()];
    numbers[0] = words.next()?.parse().ok()?;
    let stalls: u64 = words.next()?.parse().ok()?;
    let mostly = (stalls != 0).then(|| words.next().expect("where they were"));
    assert!(mostly.is_none_or(|state| state.parse::<u64>().is_err()), "{margin}");
    let found: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
    assert!([0, COLUMNS.len() - 1].contains(&found.len()), "{margin}");
    numbers[1..=found.len()].copy_from_slice(&found);
    Some(numbers)
}

/// Sums over the instructions of a profile, and what it says are the sums.
fn sums(text: &str) -> [[u64; COLUMNS.len()]; 2] {
    let mut sums = [[0; COLUMNS.len()]; 2];
    for line in text.lines() {
        let Some((margin, rest)) = line.split_once(" |") else { continue };
        let Some(numbers) = numbers(margin) else { continue };
        let sum = &mut sums[usize::from(rest == " all")];
        for (sum, number) in sum.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    sums
}

#[test]
fn lines_add_up_to_the_counters_of_the_run() {
    let home = Home::new(&["arbitrated.toml", "data-cache-warrf.toml"]);
    let mut seen = BTreeMap::<&str, u64>::new();
    for (input, design) in [
        (&["bfs"][..], "micro12"),
        (&["needle"], "micro12-unified-384"),
        (&["matrixmul"], "diss-ch7-unified-128"),
        (&["needle"], "arbitrated.toml"),
        (&["histogram"], "data-cache-warrf.toml"),
        // Spilled values are accesses of local memory.
        (&["matrixmul", "--registers", "16"], "micro12"),
        (&["reduction", "--launch-index", "0"], "micro12-unified-256"),
    ] {
        let what = [input, &["--scale", "small", "--design", design]].concat();
        let text =
            succeeds(&home, &[&["inspect", "--profile", "--mode", "cycle"], &what[..]].concat());
        let run = ["run", "--mode", "cycle", "--format", "json"];
        let report = succeeds(&home, &[&run[..], &what].concat());
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let [lines, told] = sums(&text);
        assert_eq!(lines, told, "{what:?}: the last row");
        for ((column, counters), found) in COLUMNS.into_iter().zip(lines) {
            let count = |name: &&str| {
                let [own, cache] =
                    ["counters", "data_cache"].map(|part| report[0][part][name].as_u64());
                cache.or(own).expect("a counter")
            };
            let expected: u64 = counters.iter().map(count).sum();
            assert_eq!(found, expected, "{what:?}: {column}");
            *seen.entry(column).or_default() += found;
        }
    }
    // `cache` is 0: no access takes its banks for longer than its tags.
    let zero: Vec<_> =
        seen.iter().filter(|(_, sum)| **sum == 0).map(|(column, _)| *column).collect();
    assert_eq!(zero, ["cache"]);
}

/// Spilled kernels have fills and spills in their own rows.
#[test]
fn spills_have_rows_of_their_own() {
    let home = Home::new(&[]);
    let arguments = ["inspect", "matrixmul", "--profile", "--mode", "cycle", "--scale", "small"];
    let text = succeeds(&home, &[&arguments[..], &["--registers", "16"]].concat());
    let of = |note: &str| {
        let lines = text
            .lines()
            .filter(|line| line.split_once(';').is_some_and(|(_, notes)| notes.contains(note)));
        let margins = lines.filter_map(|line| numbers(line.split_once(" |")?.0));
        margins.map(|numbers| numbers[1]).sum::<u64>()
    };
    assert!(of("spill") > 0 && of("fill") > 0, "{text}");
}
