//! `[WARRF]` Figures 6, 7 and 8 on our workloads, endurance, cost, and the sweeps over its designer
//! parameters N and n.
//!
//! The tables are written to `docs/results/warrf.md`; the test compares them with what is committed
//! there, so that no number moves unseen, and asserts the trends. Set `STRATA_BLESS=1` to write the
//! file anew after a change that is meant to move numbers.

mod page;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use strata::cli::{Mode, Scale, SourceArgs};
use strata::design::{self, Design};
use strata::measure::{self, Request};
use strata::printer::Printer;
use strata::report::{EnergyInTime, RunReport};
use strata::study::Input;
use strata::study::write_pool::{self, Axes, Point, Study};
use strata::subject::{self, Subject};
use strata::workload;
use strata_core::sm::operand_delivery::CollectorSettings;
use strata_core::write_pool::PoolPorts;

use crate::reports::{Reports, hold_page, mean};

const SRAM: &str = "warrf-gtx480";
const STTRAM: &str = "sttram";
const SBW: &str = "sttram-sbw";
const WPOOL: &str = "sttram-wpool";
const WARRF: &str = "warrf";

/// The workload whose kernel has as many registers as there are banks.
const SIXTEEN: &str = "histogram";

/// The designs of Figure 6.
const FIGURE_6: [&str; 5] = [SRAM, STTRAM, SBW, WPOOL, WARRF];
/// Accesses of the pool in a cycle that it is tried with beyond the one of the paper's text.
const MORE_ACCESSES: [u8; 2] = [2, 4];

/// The name of a design with a pool of more accesses.
fn with_accesses(name: &str, accesses: u8) -> String {
    if accesses == 1 { name.to_owned() } else { format!("{name}, {accesses} accesses") }
}

/// The same in the other reading of the leakage.
fn printed(name: &str) -> String {
    let (design, accesses) = name.split_once(',').unwrap_or((name, ""));
    let comma = if accesses.is_empty() { "" } else { "," };
    format!("{design}-as-printed{comma}{accesses}")
}

/// All that the page shows, in both readings of the leakage.
fn designs() -> Vec<Design> {
    let resolve = |name: &str| design::resolve(name).expect("the design exists");
    let mut designs: Vec<Design> = FIGURE_6.iter().map(|name| resolve(name)).collect();
    for name in [SRAM, STTRAM, WARRF] {
        designs.push(resolve(&printed(name)));
    }
    for name in [WPOOL, WARRF, "warrf-as-printed"] {
        for accesses in MORE_ACCESSES {
            let base = resolve(name);
            let own = base.collectors().expect("it has collectors");
            let ports = PoolPorts::Any(accesses);
            let more = CollectorSettings { write_pool_ports: ports, ..own };
            let mut more = base.with_collectors(more).expect("the core takes it");
            more.name = with_accesses(name, accesses);
            designs.push(more);
        }
    }
    designs
}

/// Every workload in time under every design.
static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let args = SourceArgs::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(Mode::Cycle);
    let (designs, printer) = (designs(), Printer::new(true));
    let reports = workload::names().flat_map(|name| {
        let workload = subject::workload(name, &args).expect("the workload loads");
        measure::reports(&workload, &designs, &request, &printer).expect("the workload runs")
    });
    Reports(reports.collect())
});

/// The sweeps of the page: the pool's around `warrf`, writes without a pool around `sttram`.
static SWEEPS: LazyLock<[Study; 2]> = LazyLock::new(|| {
    let args = SourceArgs::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(Mode::Cycle);
    let inputs: Vec<Input> = workload::names()
        .map(|name| Input {
            subject: Subject::new(name, &args).expect("the workload loads"),
            request: request.clone(),
        })
        .collect();
    let design = |name: &str| design::resolve(name).expect("the design exists");
    let write_cycles = vec![1, 2, 3, 4, 6, 8];
    let pool = Axes {
        design: design(WARRF),
        entries: vec![0, 8, 16, 30, 60, 90, 120],
        ports: vec![PoolPorts::OneReadOneWrite, PoolPorts::Any(4)],
        write_cycles: vec![],
    };
    let writes = Axes { design: design(STTRAM), entries: vec![], ports: vec![], write_cycles };
    [pool, writes].map(|axes| {
        write_pool::run(&axes, &inputs, 0, &Printer::new(true)).expect("the study runs")
    })
});

fn counter(workload: &str, design: &str, name: &str) -> u64 {
    REPORTS.get(workload, design).counters[name]
}

fn derived(workload: &str, design: &str, name: &str) -> f64 {
    REPORTS.get(workload, design).derived[name].expect("the divisor is not zero")
}

/// IPC relative to SRAM. Unit: percent.
fn relative_ipc(workload: &str, design: &str) -> f64 {
    ratio(counter(workload, SRAM, "cycles"), counter(workload, design, "cycles"))
}

fn ratio(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// By how much the IPC of one design exceeds that of another. Unit: percent.
fn gain(workload: &str, design: &str, over: &str) -> f64 {
    100.0 * (relative_ipc(workload, design) / relative_ipc(workload, over) - 1.0)
}

/// Energy with leakage.
fn energy(workload: &str, design: &str) -> EnergyInTime {
    REPORTS.get(workload, design).energy_in_time.expect("it is known")
}

/// The least and the most over the workloads, with the workload.
fn extremes(of: impl Fn(&str) -> f64) -> [(&'static str, f64); 2] {
    let all: Vec<(&'static str, f64)> = workload::names().map(|name| (name, of(name))).collect();
    let by = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
    let least = all.iter().min_by(by).expect("there are workloads");
    let most = all.iter().max_by(by).expect("there are workloads");
    [*least, *most]
}

/// Registers of a thread, launch by launch.
fn registers(workload: &str) -> Vec<u16> {
    REPORTS.get(workload, SRAM).launches.iter().map(|launch| launch.registers).collect()
}

/// The workload with the most writes of the main register file in a cycle.
fn write_heaviest() -> &'static str {
    let writes =
        |name: &str| ratio(counter(name, SRAM, "mrf_writes"), counter(name, SRAM, "cycles"));
    extremes(writes)[1].0
}

#[test]
fn the_committed_page_holds_these_numbers() {
    hold_page("warrf.md", &page::page());
}

/// Figure 6, its first step: every write takes its bank three times as long.
#[test]
fn sttram_loses_throughput() {
    let [(least, loss), (_, most)] = extremes(|name| gain(name, STTRAM, SRAM));
    let mean = mean(|name| gain(name, STTRAM, SRAM));
    let message =
        format!("STT-RAM: {mean:.1} % IPC, least {loss:.1} % ({least}); the paper: -14 %");
    assert!(mean < -3.0 && mean > -20.0, "{message}");
    // Who issues when changes a little where registers do not matter.
    assert!(most < 2.0, "{most:.2} % at most; {message}");
    // A register in one bank for all warps.
    let sixteen = |name: &str| registers(name).iter().all(|&registers| registers == 16);
    assert!(workload::names().all(|name| sixteen(name) == (name == SIXTEEN)));
    assert_eq!(least, SIXTEEN, "{message}");
}

/// The second: reads go on beside writes. Where they do not help, another order of warps may cost
/// less than a percent.
#[test]
fn split_bank_writes_win_some_of_it_back() {
    let [(worst, least), (best, most)] = extremes(|name| gain(name, SBW, STTRAM));
    let mean = mean(|name| gain(name, SBW, STTRAM));
    let message = format!(
        "split bank writes: {mean:+.1} % IPC on the mean, {least:+.1} % ({worst}) to {most:+.1} % \
         ({best}); the paper: +7 %, at most 11 %"
    );
    assert!(mean > 1.0 && most > 4.0 && least > -1.0, "{message}");
    assert!(workload::names().all(|name| counter(name, SBW, "split_bank_reads") > 0), "{message}");
    assert!(workload::names().all(|name| counter(name, STTRAM, "split_bank_reads") == 0));
}

/// The third: with room for what the workloads ask of it the pool wins the rest back, with the one
/// access in a cycle of the paper's text (DEV-053) it loses.
#[test]
fn a_write_pool_wins_throughput_if_it_does_several_accesses_in_a_cycle() {
    let gains = |name: &str, over: &str, accesses: u8| {
        mean(|workload| gain(workload, &with_accesses(name, accesses), over))
    };
    for (pool, without) in [(WPOOL, STTRAM), (WARRF, SBW)] {
        let [one, two, four] = [1, 2, 4].map(|accesses| gains(pool, without, accesses));
        let message = format!(
            "{pool} over {without}: {one:+.1} % with one access in a cycle, {two:+.1} % with two, \
             {four:+.1} % with four; the paper: +6 %"
        );
        assert!(one < -10.0, "{message}");
        assert!(two > one + 10.0 && four > two && four > 2.0, "{message}");
    }
    // Why: with one, the pool is busy most of the time in those that lose most.
    for workload in workload::names() {
        let sum: u64 = ["write_pool_reads", "write_pool_writes"]
            .iter()
            .map(|name| counter(workload, WARRF, name))
            .sum();
        let busy = ratio(sum, counter(workload, WARRF, "cycles"));
        let loss = gain(workload, WARRF, SBW);
        assert!(busy <= 100.0, "{workload}: {busy:.1} %");
        assert!(loss > -20.0 || busy > 60.0, "{workload}: {loss:.1} %, busy in {busy:.1} %");
    }
}

/// Figure 7.
#[test]
fn a_write_pool_avoids_writes_in_every_workload() {
    for accesses in [1, 2, 4] {
        for name in [WPOOL, WARRF] {
            let design = with_accesses(name, accesses);
            let of = |name: &str| derived(name, &design, "mrf_writes_avoided_percent");
            let ([(worst, least), (_, most)], mean) = (extremes(of), mean(of));
            let message = format!(
                "{design}: {mean:.1} % of writes avoided, {least:.1} ({worst}) to {most:.1} %; the \
                 paper: 31 %, at most 83 %"
            );
            assert!(least > 10.0 && mean > 31.0, "{message}");
        }
    }
    // All that is written is written, dropped, or still there when a kernel ends.
    for workload in workload::names() {
        for report in REPORTS.0.iter().filter(|report| report.workload == workload) {
            let of = |name: &str| report.counters[name];
            let at = format!("{workload}, {}", report.design);
            let entered = of("write_pool_allocations");
            assert_eq!(entered, of("write_pool_writes") - of("write_pool_write_hits"), "{at}");
            assert_eq!(entered, of("write_pool_writebacks") + of("write_pool_drops"), "{at}");
        }
    }
}

/// Figure 8, and what each reading of the leakage makes of it (DEV-050).
#[test]
fn sttram_spends_more_on_accesses_and_saves_leakage() {
    for workload in workload::names() {
        let (sram, sttram) = (energy(workload, SRAM), energy(workload, STTRAM));
        let as_printed = [SRAM, STTRAM].map(|name| energy(workload, &printed(name)));
        assert!(sttram.dynamic_fj > sram.dynamic_fj, "{workload}");
        assert!(sttram.leakage_fj * 50 < sram.leakage_fj, "{workload}");
        assert!(sttram.total_fj < sram.total_fj, "{workload}");
        assert!(as_printed[1].total_fj > as_printed[0].total_fj, "{workload}");
        assert_eq!(as_printed.map(|it| it.dynamic_fj), [sram.dynamic_fj, sttram.dynamic_fj]);
        let [pool, pool_printed] = [WARRF, "warrf-as-printed"].map(|name| energy(workload, name));
        assert!(pool.dynamic_fj < sttram.dynamic_fj, "{workload}");
        assert!(pool.total_fj < sttram.total_fj, "{workload}");
        assert!(pool_printed.total_fj < as_printed[1].total_fj, "{workload}");
    }
    let dynamic = mean(|name| derived(name, STTRAM, "dynamic_energy_relative_percent"));
    let total = |design: &str| mean(|name| derived(name, design, "total_energy_relative_percent"));
    let message = format!(
        "STT-RAM: dynamic energy {dynamic:.1} %, total {:.1} %, WarRF {:.1} %; the paper: 149, 68 \
         and 62 %",
        total(STTRAM),
        total(WARRF)
    );
    assert!((140.0..160.0).contains(&dynamic), "{message}");
    assert!(total(STTRAM) < 90.0 && total(WARRF) < total(STTRAM), "{message}");
}

/// To the femtojoule: the parts, their sums, and the leakage of 16 banks over the cycles that ran.
#[test]
fn energies_add_up_in_every_report() {
    for report in &REPORTS.0 {
        let at = format!("{}, {}", report.workload, report.design);
        let energy = report.energy_in_time.expect("it is known");
        assert_eq!(energy.dynamic_fj + energy.leakage_fj, energy.total_fj, "{at}");
        let parts = report.energy_fj.as_ref().expect("it is known");
        let others = parts.iter().filter(|(part, _)| *part != "total");
        assert_eq!(others.map(|(_, fj)| fj).sum::<u64>(), parts["total"], "{at}");
        assert_eq!(parts["total"], energy.dynamic_fj, "{at}");
        let sram = report.design.starts_with(SRAM);
        let bank_uw = if sram { 25_000.0 } else { 300.0 };
        let bank_uw = if report.design.contains("as-printed") { bank_uw / 1e3 } else { bank_uw };
        // Microwatts over cycles of 0.7 GHz.
        let expected = 16.0 * bank_uw * report.counters["cycles"] as f64 / 0.7;
        assert!((energy.leakage_fj as f64 - expected).abs() <= 0.5 + 1e-6 * expected, "{at}");
    }
}

/// Units of numbers, as the last words of their names.
const UNITS: [&str; 7] = ["percent", "instruction", "instructions", "ipc", "watts", "fj", "mw"];

/// Every value of the technology stands in the report with its unit and its source, and every
/// ratio and energy names its unit.
#[test]
fn every_number_has_a_unit_and_a_source() {
    let units = ["pJ/bit", "ns", "mW for 8 KB", "uW for 8 KB", "mm2 for 2048 KB"];
    let designs: BTreeMap<String, Design> =
        designs().into_iter().map(|design| (design.name.clone(), design)).collect();
    for report in &REPORTS.0 {
        let at = format!("{}, {}", report.workload, report.design);
        let memory = designs[&report.design].memory.as_ref().expect("it has one");
        let values = memory.values();
        assert_eq!((report.sources.len(), values.len()), (7, 7), "{at}");
        for (told, (key, value, source)) in report.sources.iter().zip(values) {
            let unit = value.split_once(' ').expect("a number and a unit");
            assert!(unit.0.parse::<f64>().is_ok_and(|number| number > 0.0), "{at}: {told}");
            assert!(units.contains(&unit.1), "{at}: {told}");
            assert!(source.contains("WarRF"), "{at}: {told}");
            assert!(told.contains(&key) && told.contains(&value), "{at}: {told}");
            assert!(told.contains(source), "{at}: {told}");
        }
        let json = json(report);
        let last = |key: &str| key.rsplit('_').next().unwrap_or_default().to_owned();
        let derived = json["derived"].as_object().expect("an object");
        for key in derived.keys() {
            assert!(UNITS.contains(&&*last(key)), "{at}: {key}");
        }
        let in_time = json["energy_in_time"].as_object().expect("an object");
        for key in in_time.keys() {
            // Femtojoule seconds.
            assert!(UNITS.contains(&&*last(key)) || key.ends_with("_fj_s"), "{at}: {key}");
        }
    }
}

fn json(report: &RunReport) -> serde_json::Value {
    serde_json::to_value(report).expect("a report is JSON")
}

#[test]
fn a_larger_pool_avoids_more_and_wears_less() {
    let pool = &SWEEPS[0];
    for series in pool.series.iter().filter(|series| series.sweep == "write_pool_entries") {
        for pair in series.points.windows(2) {
            let avoided = |point: usize| pair[point].mean.mrf_writes_avoided_percent;
            let worn = |point: usize| pair[point].mean.cell_writes_max;
            let dynamic = |point: usize| pair[point].mean.dynamic_energy_relative_percent;
            let at = format!("{} entries", pair[1].write_pool_entries);
            assert!(avoided(1) > avoided(0) && dynamic(1) < dynamic(0), "{at}");
            assert!(worn(1) < worn(0), "{at}: {:?}, {:?}", worn(0), worn(1));
        }
    }
}

/// n: the longer a write, the more is lost, and the more split bank writes win back.
#[test]
fn longer_writes_cost_throughput_and_splitting_banks_helps_with_them() {
    let [whole, split] = SWEEPS[1].series.as_slice() else { panic!("two series") };
    let ipc = |point: &Point| point.mean.ipc_relative_percent.expect("cycles passed");
    for pair in [whole, split].iter().flat_map(|series| series.points.windows(2)) {
        let (shorter, longer) = (ipc(&pair[0]), ipc(&pair[1]));
        assert!(longer < shorter, "{} cycles: {longer:.2} %", pair[1].write_cycles);
    }
    let gains: Vec<f64> = whole
        .points
        .iter()
        .zip(&split.points)
        .map(|(whole, split)| 100.0 * (ipc(split) / ipc(whole) - 1.0))
        .collect();
    let message = format!("split bank writes win {gains:.1?} %");
    assert!(gains.windows(2).all(|pair| pair[1] > pair[0]) && gains[2] > 1.0, "{message}");
}
