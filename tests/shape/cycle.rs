//! Cycle mode on the workloads: what time may and may not change.

use strata::cli::{Mode, Scale, SourceArgs};
use strata::design;
use strata::measure::{self, Request};
use strata::printer::Printer;
use strata::report::RunReport;
use strata::subject;
use strata::workload;

/// Flat, cached and compiler-managed designs, with and without what policies add.
const DESIGNS: [&str; 15] = [
    "isca11",
    "isca11-rfc1",
    "isca11-rfc6",
    "isca11-rfc6-nolive",
    "isca11-rfc6-single",
    "isca11-rfc6-bypass",
    "isca11-rfc4-lru-reads",
    "dissertation",
    "diss-rfc6-backflush",
    "diss-rfc6-lrf",
    "diss-rfc3-lrf-bypass",
    "diss-rfc2-lrf-lru-nolive-reads-backflush",
    "diss-orf1",
    "diss-orf3-lrf-unified",
    "diss-orf3-lrf-split",
];

fn reports(name: &str, mode: Mode) -> Vec<RunReport> {
    let args = SourceArgs::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(mode);
    let designs: Vec<_> =
        DESIGNS.iter().map(|name| design::resolve(name).expect("the design exists")).collect();
    let workload = subject::workload(name, &args).expect("the workload loads");
    measure::reports(&workload, &designs, &request, &Printer::new(true)).expect("the workload runs")
}

/// Nothing in these designs is shared between warps, so that the interleaving of warps cannot change
/// a count: the two modes agree to the last access, launch by launch.
#[test]
fn both_modes_count_the_same_accesses_in_every_workload_and_design() {
    for name in workload::names() {
        for (count, cycle) in reports(name, Mode::Count).iter().zip(reports(name, Mode::Cycle)) {
            let at = format!("{name}, {}", count.design);
            for (counter, expected) in &count.counters {
                assert_eq!(cycle.counters.get(counter), Some(expected), "{at}: {counter}");
            }
            assert_eq!(count.launches.len(), cycle.launches.len(), "{at}");
            for (one, other) in count.launches.iter().zip(&cycle.launches) {
                for (counter, expected) in &one.counters {
                    let found = other.counters.get(counter);
                    assert_eq!(found, Some(expected), "{at}, launch {}: {counter}", one.index);
                }
            }
            assert_eq!(count.energy_fj, cycle.energy_fj, "{at}");
        }
    }
}

#[test]
fn every_issue_slot_of_every_cycle_has_one_reason() {
    for name in workload::names() {
        for report in reports(name, Mode::Cycle) {
            let slots = report.counters.iter().filter(|(counter, _)| counter.starts_with("slots_"));
            let sum: u64 = slots.map(|(_, slots)| slots).sum();
            let at = format!("{name}, {}", report.design);
            assert_eq!(sum, report.counters["cycles"], "{at}");
            assert_eq!(
                report.counters["slots_issued"], report.counters["warp_instructions"],
                "{at}"
            );
            let ipc = report.derived["ipc"].expect("cycles passed");
            assert!(ipc > 0.0 && ipc <= 32.0, "{at}: {ipc} thread instructions a cycle");
        }
    }
}
