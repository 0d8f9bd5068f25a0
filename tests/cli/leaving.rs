//! A kernel whose lanes leave while others of their warp wait at a `.sync` operation: count mode,
//! cycle mode and a recording in both count the same.

use serde_json::Value;
use strata_tests::Outcome;

use crate::strata;

/// The report of a run with one design.
fn report(arguments: &[&str]) -> Value {
    let Outcome { status, stdout, stderr } = strata(arguments);
    assert_eq!(status, Some(0), "{arguments:?}: {stderr}");
    let reports: Value = serde_json::from_str(&stdout).expect("a report in JSON");
    reports[0].clone()
}

#[test]
fn both_modes_and_a_recording_count_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("leaving.strata");
    let file = file.to_str().expect("a path in UTF-8");
    let source = ["leaving.ptx", "--launch", "leaving.toml"];
    let recorded = strata(&[&["trace", "record"], &source[..], &["-o", file]].concat());
    assert_eq!(recorded.status, Some(0), "{}", recorded.stderr);
    for design in ["isca11", "isca11-rfc6", "diss-rfc3-lrf", "diss-orf3-lrf-split"] {
        let end = ["--design", design, "--format", "json", "--mode"];
        let of = |input: &[&str], mode| report(&[&["run"], input, &end[..], &[mode]].concat());
        let counted = of(&source, "count");
        let timed = of(&source, "cycle");
        let counters = &counted["counters"];
        // 3 warps: 4 lanes execute all of it, the others 6 instructions less, in two groups.
        assert_eq!(counters["warp_instructions"], 3 * (10 + 6 + 2 * 3), "{design}");
        for (event, count) in counters.as_object().expect("counters by name") {
            assert_eq!(count, &timed["counters"][event], "{design}: {event}");
        }
        if design != "diss-orf3-lrf-split" {
            assert_eq!(counters, &of(&[file], "count")["counters"], "{design}, recorded");
            assert_eq!(timed["digest"], of(&[file], "cycle")["digest"], "{design}, recorded");
        }
    }
}
