//! Determinism: the same bytes on every run and for every number of threads.

use crate::strata;

#[test]
fn every_run_and_every_number_of_jobs_prints_the_same_bytes() {
    for (format, mode) in
        [("table", "count"), ("json", "count"), ("csv", "count"), ("json", "cycle")]
    {
        let run = |jobs: &str| {
            let outcome = strata(&[
                "run", "--scale", "small", "--format", format, "--mode", mode, "-j", jobs,
            ]);
            assert_eq!(outcome.status, Some(0), "{outcome}");
            outcome
        };
        let first = run("1");
        assert_eq!(first, run("1"), "{format}: two runs with one thread");
        assert_eq!(first, run("2"), "{format}: one thread and two");
        assert_eq!(first, run("7"), "{format}: one thread and seven");
    }
}
