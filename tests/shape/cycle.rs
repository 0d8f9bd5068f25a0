//! Cycle mode on the workloads: what time may and may not change.

use std::collections::BTreeMap;

use strata_design as design;
use strata_files::failure::Failure;
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::RunReport;
use strata_workload as workload;

use crate::groups::{TOO_LARGE, fitting};

/// Flat, cached and compiler-managed designs, with and without what policies add; operand windows
/// and operand collectors, over SRAM and STT-RAM.
const DESIGNS: [&str; 25] = [
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
    "warrf-gtx480",
    "warrf-gtx480-rfc6",
    "warrf-gtx480-orf3",
    "sttram",
    "sttram-rfc4-lru-reads",
    "sttram-rfc6-lrf-nolive",
    "sttram-orf3-lrf-split",
    "sttram-sbw-rfc3-lrf-bypass",
    "sttram-sbw-orf1",
    "sttram-sbw-orf3-lrf-unified",
];

/// Designs with a write pool, and those that are the same without.
const POOLS: [(&str, &str); 9] = [
    ("sttram-wpool", "sttram"),
    ("sttram-wpool-rfc1", "sttram-rfc1"),
    ("sttram-wpool-orf3-lrf-split", "sttram-orf3-lrf-split"),
    ("warrf", "sttram-sbw"),
    ("warrf-rfc4-lru-reads", "sttram-sbw-rfc4-lru-reads"),
    ("warrf-rfc6-lrf-nolive", "sttram-sbw-rfc6-lrf-nolive"),
    ("warrf-orf3", "sttram-sbw-orf3"),
    ("warrf-orf3-lrf-unified", "sttram-sbw-orf3-lrf-unified"),
    ("warrf-orf6-lrf-split", "sttram-sbw-orf6-lrf-split"),
];

fn reports(name: &str, mode: Mode) -> Vec<RunReport> {
    of(name, mode, &DESIGNS)
}

fn of(name: &str, mode: Mode, designs: &[&str]) -> Vec<RunReport> {
    tried(name, mode, designs).expect("the workload runs")
}

fn tried(name: &str, mode: Mode, designs: &[&str]) -> Result<Vec<RunReport>, Failure> {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(mode);
    let designs: Vec<_> =
        designs.iter().map(|name| design::resolve(name).expect("the design exists")).collect();
    let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
    measure::reports(&workload, &designs, &request, &Silent)
}

#[test]
fn what_is_left_out_does_not_fit() {
    assert!(tried(TOO_LARGE, Mode::Count, &["isca11"]).is_ok());
    let refused = tried(TOO_LARGE, Mode::Cycle, &["isca11"]).expect_err("it is too large");
    let refused = format!("{refused:?}");
    assert!(refused.contains("33284 bytes of shared memory, but an SM has 32768"), "{refused}");
}

/// Nothing in these designs is shared between warps, so that the interleaving of warps cannot change
/// a count: the two modes agree to the last access, launch by launch.
#[test]
fn both_modes_count_the_same_accesses_in_every_workload_and_design() {
    for name in fitting() {
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

/// What a write pool changes of the counts of the same design without one, by count mode: how reads
/// and writes are shared out between pool and banks, nothing else.
#[test]
fn a_write_pool_moves_accesses_and_loses_none() {
    let with: Vec<&str> = POOLS.iter().map(|(pool, _)| *pool).collect();
    let without: Vec<&str> = POOLS.iter().map(|(_, same)| *same).collect();
    for name in workload::all_names() {
        let counted = of(name, Mode::Count, &without);
        for (pool, same) in of(name, Mode::Cycle, &with).iter().zip(&counted) {
            let at = format!("{name}, {}", pool.design);
            conserves(&pool.counters, &same.counters, &at);
            assert_eq!(pool.launches.len(), same.launches.len(), "{at}");
            for (one, other) in pool.launches.iter().zip(&same.launches) {
                conserves(&one.counters, &other.counters, &format!("{at}, launch {}", one.index));
            }
        }
    }
}

fn conserves(pool: &BTreeMap<String, u64>, same: &BTreeMap<String, u64>, at: &str) {
    let sum = |names: &[&str]| names.iter().map(|&name| pool[name]).sum::<u64>();
    let reads = pool["mrf_reads"] + pool["write_pool_reads"] - pool["write_pool_partial_hits"];
    assert_eq!(reads, same["mrf_reads"], "{at}: reads");
    // All writes go to the pool, whatever they are for.
    for (to_pool, main) in [
        ("write_pool_writes", "mrf_writes"),
        ("write_pool_writes_private", "mrf_writes_private"),
        ("write_pool_writes_shared", "mrf_writes_shared"),
        ("rfc_to_write_pool", "rfc_writebacks"),
        ("lrf_to_write_pool", "lrf_writebacks"),
    ] {
        assert_eq!(pool[to_pool], same[main], "{at}: {to_pool}");
    }
    let kept = sum(&["write_pool_write_hits", "write_pool_allocations"]);
    assert_eq!(pool["write_pool_writes"], kept, "{at}: each write finds an entry or takes one");
    let left = sum(&["write_pool_writebacks", "write_pool_drops"]);
    assert_eq!(pool["write_pool_allocations"], left, "{at}: each entry is written back or dropped");
    assert_eq!(pool["mrf_writes"], pool["write_pool_writebacks"], "{at}: only the pool writes");
    assert!(pool["write_pool_partial_hits"] <= pool["write_pool_reads"], "{at}");
    let moved = [
        "mrf_reads",
        "mrf_writes",
        "mrf_reads_private",
        "mrf_reads_shared",
        "mrf_writes_private",
        "mrf_writes_shared",
        "rfc_writebacks",
        "rfc_writebacks_eviction",
        "rfc_writebacks_flush",
        "lrf_writebacks",
        "lrf_writebacks_eviction",
        "lrf_writebacks_flush",
        "overhead_writes",
    ];
    let elsewhere = |counter: &str| !moved.contains(&counter) && !counter.contains("write_pool");
    for (counter, expected) in same.iter().filter(|(counter, _)| elsewhere(counter)) {
        assert_eq!(pool.get(counter), Some(expected), "{at}: {counter}");
    }
}

#[test]
fn every_issue_slot_of_every_cycle_has_one_reason() {
    for name in fitting() {
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
