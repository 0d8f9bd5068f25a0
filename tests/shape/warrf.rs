//! `[WARRF]` Figures 6, 7 and 8 on our workloads, endurance, cost, and the sweeps over its designer
//! parameters N and n.
//!
//! The tables are written to `docs/results/warrf.md`; the test compares them with what is committed
//! there, so that no number moves unseen, and asserts the trends. Set `STRATA_BLESS=1` to write the
//! file again after a change that is meant to move numbers.

mod page;
mod variants;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use strata_core::bank_layout::BankLayout;
use strata_core::sm::operand_delivery::CollectorSettings;
use strata_core::write_pool::PoolPorts;
use strata_design::{self as design, Design};
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject::{self, Subject};
use strata_measure::{self as measure, Request};
use strata_report::{EnergyInTime, RunReport};
use strata_study::study::Input;
use strata_study::study::write_pool::{self, Axes, Point, Study};
use strata_workload as workload;

use crate::reports::{Reports, dearer, hold_page, mean, without_one};

const SRAM: &str = "warrf-gtx480";
const STTRAM: &str = "sttram";
const SBW: &str = "sttram-sbw";
const WPOOL: &str = "sttram-wpool";
const WARRF: &str = "warrf";

/// The workload whose kernel has as many registers as there are banks.
const SIXTEEN: &str = "histogram";

/// The designs of Figure 6.
const FIGURE_6: [&str; 5] = [SRAM, STTRAM, SBW, WPOOL, WARRF];
/// Ports of the pool that it is tried with beyond a read and a write in a cycle: the one access of
/// the paper's text, and more.
const OTHER_PORTS: [PoolPorts; 3] = [PoolPorts::Any(1), PoolPorts::Any(2), PoolPorts::Any(4)];
/// All of them, the designs' own first.
const PORTS: [PoolPorts; 4] =
    [PoolPorts::OneReadOneWrite, PoolPorts::Any(1), PoolPorts::Any(2), PoolPorts::Any(4)];

/// The name of a design with a pool of other ports.
fn with_ports(name: &str, ports: PoolPorts) -> String {
    match ports {
        PoolPorts::OneReadOneWrite => name.to_owned(),
        ports @ PoolPorts::Any(_) => format!("{name}, {ports}"),
    }
}

/// The name of a design in the other reading of the leakage.
fn printed(name: &str) -> String {
    format!("{name}-as-printed")
}

/// The name of a design with two instructions in a cycle.
fn dual(name: &str) -> String {
    format!("{name}-dual-issue")
}

/// The name of a design with registers that lie one after another in the banks.
fn linear(name: &str) -> String {
    format!("{name}, linear")
}

fn resolve(name: &str) -> Design {
    design::resolve(name).expect("the design exists")
}

/// A design with other collectors, under a name of its own.
fn changed(base: &str, name: String, change: impl FnOnce(&mut CollectorSettings)) -> Design {
    let base = resolve(base);
    let mut collectors = base.collectors().expect("it has collectors");
    change(&mut collectors);
    let mut design = base.with_collectors(collectors).expect("the core takes it");
    design.name = name;
    design
}

/// All that the page shows.
fn designs() -> Vec<Design> {
    let mut designs: Vec<Design> = FIGURE_6.iter().map(|name| resolve(name)).collect();
    designs.extend([SRAM, STTRAM, WARRF].map(|name| resolve(&printed(name))));
    designs.extend(FIGURE_6.map(|name| resolve(&dual(name))));
    for name in [WPOOL, WARRF] {
        designs.extend(OTHER_PORTS.map(|ports| {
            changed(name, with_ports(name, ports), |own| own.write_pool_ports = ports)
        }));
    }
    let two = PoolPorts::Any(2);
    for (name, ports) in LINEAR {
        let own = linear(&ports.map_or_else(|| name.to_owned(), |_| with_ports(name, two)));
        designs.push(changed(name, own, |own| {
            own.bank_layout = BankLayout::Linear;
            own.write_pool_ports = ports.unwrap_or(own.write_pool_ports);
        }));
    }
    designs.extend([SRAM, STTRAM].map(|name| {
        let name = dual(name);
        changed(&name, linear(&name), |own| own.bank_layout = BankLayout::Linear)
    }));
    designs
}

/// Designs that are run with the linear layout too, with their own ports or with others.
const LINEAR: [(&str, Option<PoolPorts>); 5] =
    [(SRAM, None), (STTRAM, None), (SBW, None), (WARRF, None), (WARRF, Some(PoolPorts::Any(2)))];

/// Every workload in time under every design.
static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(Mode::Cycle);
    let (designs, printer) = (designs(), Silent);
    let reports = workload::names().flat_map(|name| {
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        measure::reports(&workload, &designs, &request, &printer).expect("the workload runs")
    });
    Reports(reports.collect())
});

/// The sweeps of the page: the pool's around `warrf`, writes without a pool around `sttram`.
static SWEEPS: LazyLock<[Study; 2]> = LazyLock::new(|| {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(Mode::Cycle);
    let inputs: Vec<Input> = workload::names()
        .map(|name| Input {
            subject: Subject::new(name, &args, &Silent).expect("the workload loads"),
            request: request.clone(),
        })
        .collect();
    let write_cycles = vec![1, 2, 3, 4, 6, 8];
    let pool = Axes {
        design: resolve(WARRF),
        entries: vec![0, 8, 16, 30, 60, 90, 120],
        ports: vec![PoolPorts::OneReadOneWrite, PoolPorts::Any(1)],
        write_cycles: vec![],
    };
    let writes = Axes { design: resolve(STTRAM), entries: vec![], ports: vec![], write_cycles };
    [pool, writes].map(|axes| write_pool::run(&axes, &inputs, 0, &Silent).expect("the study runs"))
});

fn counter(workload: &str, design: &str, name: &str) -> u64 {
    REPORTS.get(workload, design).counters[name]
}

fn derived(workload: &str, design: &str, name: &str) -> f64 {
    REPORTS.get(workload, design).derived[name].expect("the divisor is not zero")
}

/// IPC relative to another design's. Unit: percent.
fn relative_ipc(workload: &str, design: &str, over: &str) -> f64 {
    ratio(counter(workload, over, "cycles"), counter(workload, design, "cycles"))
}

fn ratio(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// By how much the IPC of one design exceeds that of another. Unit: percent.
fn gain(workload: &str, design: &str, over: &str) -> f64 {
    relative_ipc(workload, design, over) - 100.0
}

/// Energy with leakage.
fn energy(workload: &str, design: &str) -> EnergyInTime {
    REPORTS.get(workload, design).energy_in_time.expect("it is known")
}

/// Dynamic energy and all of it where reads that hit the pool cost one of a bank. Unit: femtojoules.
fn at_bank(workload: &str, design: &str) -> (f64, f64) {
    let energy = energy(workload, design);
    let more = dearer(counter(workload, design, "write_pool_reads"));
    (energy.dynamic_fj as f64 + more, energy.total_fj as f64 + more)
}

/// The least and the most over the workloads, with the workload.
fn extremes(of: impl Fn(&str) -> f64) -> [(&'static str, f64); 2] {
    let all: Vec<(&'static str, f64)> = workload::names().map(|name| (name, of(name))).collect();
    let by = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
    let least = all.iter().min_by(by).expect("there are workloads");
    let most = all.iter().max_by(by).expect("there are workloads");
    [*least, *most]
}

/// Registers of a thread, of each kernel that has another number.
fn registers(workload: &str) -> Vec<u16> {
    let launches = REPORTS.get(workload, SRAM).launches.iter();
    launches.map(|launch| launch.registers).collect::<BTreeSet<_>>().into_iter().collect()
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
    let of = |name: &str| gain(name, STTRAM, SRAM);
    let ([(least, loss), (_, most)], mean) = (extremes(of), mean(of));
    let message =
        format!("STT-RAM: {mean:.1} % IPC, least {loss:.1} % ({least}); the paper: -14 %");
    assert!(mean < -3.0 && mean > -20.0, "{message}");
    // The order of issue changes a little where registers do not matter.
    assert!(most < 2.0, "{most:.2} % at most; {message}");
    // No workload by itself makes the mean.
    let [worst, best] = without_one(of);
    assert!(worst > mean - 1.5 && best < mean + 1.5, "{worst:.1} to {best:.1} %; {message}");
}

/// The second: reads go on beside writes. Where they do not help, another order of warps may cost
/// less than a percent.
#[test]
fn split_bank_writes_win_some_of_it_back() {
    let of = |name: &str| gain(name, SBW, STTRAM);
    let ([(worst, least), (best, most)], mean) = (extremes(of), mean(of));
    let message = format!(
        "split bank writes: {mean:+.1} % IPC on the mean, {least:+.1} % ({worst}) to {most:+.1} % \
         ({best}); the paper: +7 %, at most 11 %"
    );
    assert!(mean > 0.5 && most < 11.0 && least > -1.0, "{message}");
    let [low, _] = without_one(of);
    assert!(low > 0.5, "without any one {low:.1} %; {message}");
    assert!(workload::names().all(|name| counter(name, SBW, "split_bank_reads") > 0), "{message}");
    assert!(workload::names().all(|name| counter(name, STTRAM, "split_bank_reads") == 0));
}

/// Registers one after another put register *r* of all warps into one bank where a thread has as
/// many as there are banks: STT-RAM loses far more there, and split bank writes win it back
/// (DEV-052).
#[test]
fn the_linear_layout_is_bad_for_as_many_registers_as_banks() {
    assert!(workload::names().all(|name| (registers(name) == [16]) == (name == SIXTEEN)));
    let [split, sttram, sram] = [SBW, STTRAM, SRAM].map(linear);
    let [(least, loss), _] = extremes(|name| gain(name, &sttram, &sram));
    let [_, (most, won)] = extremes(|name| gain(name, &split, &sttram));
    assert_eq!((least, most), (SIXTEEN, SIXTEEN), "{loss:.1} %, {won:.1} %");
    assert!(loss < gain(SIXTEEN, STTRAM, SRAM) - 15.0, "{loss:.1} %");
    assert!(won > gain(SIXTEEN, SBW, STTRAM) + 10.0, "{won:.1} %");
    // Skewed warps begin a row: what that leaves empty is stated, and can cost warps.
    for name in workload::names() {
        let of = |design: &str| REPORTS.get(name, design).launches.iter().map(|it| it.residency);
        for (own, other) in of(SRAM).zip(of(&linear(SRAM))) {
            let (own, other) = (own.expect("in time"), other.expect("in time"));
            assert_eq!(other.empty_registers, 0, "{name}");
            assert!(own.warps <= other.warps, "{name}");
            assert!(own.empty_registers < 16 * own.warps, "{name}");
        }
        let empty = of(SRAM).any(|one| one.is_some_and(|one| one.empty_registers > 0));
        let whole = registers(name).iter().all(|registers| registers % 16 == 0);
        assert_eq!(empty, !whole, "{name}");
    }
}

/// With two instructions in a cycle the banks have more to do (DEV-070).
#[test]
fn sttram_loses_more_with_two_instructions_in_a_cycle() {
    let of = |name: &str| gain(name, &dual(STTRAM), &dual(SRAM));
    let (one, two) = (mean(|name| gain(name, STTRAM, SRAM)), mean(of));
    assert!(two < one - 2.0 && two > -20.0, "{one:.1} and {two:.1} %; the paper: -14 %");
    let split = mean(|name| gain(name, &dual(SBW), &dual(STTRAM)));
    assert!(split > mean(|name| gain(name, SBW, STTRAM)), "{split:.1} %");
}

/// The third: with room for what the workloads ask of it the pool wins the rest back; with a read
/// and a write in a cycle it loses a little where most reads hit, with the one access of the text
/// taken literally much (DEV-053).
#[test]
fn a_write_pool_wins_throughput_where_its_ports_do_what_is_asked_of_it() {
    for (pool, without) in [(WPOOL, STTRAM), (WARRF, SBW)] {
        let gains = PORTS.map(|ports| {
            let pool = with_ports(pool, ports);
            mean(|workload| gain(workload, &pool, without))
        });
        let [own, one, two, four] = gains;
        let message = format!(
            "{pool} over {without}: {own:+.1} % with a read and a write in a cycle, {one:+.1} % with \
             one access, {two:+.1} % with two, {four:+.1} % with four; the paper: +6 %"
        );
        assert!(one < -15.0 && own > one + 15.0 && own > -10.0, "{message}");
        assert!(own < two && two < four && two > -1.0 && four > 4.0, "{message}");
    }
    let one = with_ports(WARRF, PoolPorts::Any(1));
    for workload in workload::names() {
        // Why: the port is busy most of the time in those that lose most.
        let of = |design: &str, names: &[&str]| {
            let accesses: u64 = names.iter().map(|name| counter(workload, design, name)).sum();
            ratio(accesses, counter(workload, design, "cycles"))
        };
        let (busy, loss) =
            (of(&one, &["write_pool_reads", "write_pool_writes"]), gain(workload, &one, SBW));
        assert!(busy <= 100.0, "{workload}: {busy:.1} %");
        assert!(loss > -20.0 || busy > 60.0, "{workload}: {loss:.1} %, busy in {busy:.1} %");
        // Of the two it is that of reads.
        let (busy, loss) = (of(WARRF, &["write_pool_reads"]), gain(workload, WARRF, SBW));
        assert!(busy <= 100.0 && of(WARRF, &["write_pool_writes"]) <= 100.0, "{workload}");
        assert!(loss > -10.0 || busy > 75.0, "{workload}: {loss:.1} %, busy in {busy:.1} %");
    }
}

/// The page takes the energy of `pool_read_energy = "bank"` from the counts of the other.
#[test]
fn reads_at_a_bank_s_price_cost_more_and_change_nothing_else() {
    let text = "base = \"warrf\"\npool_read_energy = \"bank\"\n";
    let design = design::file::parse("bank.toml", text).expect("it is a design");
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(Mode::Cycle);
    for name in ["needle", "vectoradd"] {
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        let designs = std::slice::from_ref(&design);
        let reports = measure::reports(&workload, designs, &request, &Silent);
        let report = reports.expect("the workload runs").swap_remove(0);
        let energy = report.energy_in_time.expect("it is known");
        let found = (energy.dynamic_fj as f64, energy.total_fj as f64);
        assert_eq!(found, at_bank(name, WARRF), "{name}");
        assert_eq!(report.counters, REPORTS.get(name, WARRF).counters, "{name}");
    }
    // All hits of reads then cost what a bank's would: what is left is what the writes spare.
    let total = |of: &dyn Fn(&str) -> f64| {
        mean(|name| 100.0 * of(name) / energy(name, SRAM).total_fj as f64) - 100.0
    };
    let pool = total(&|name| energy(name, WARRF).total_fj as f64);
    let bank = total(&|name| at_bank(name, WARRF).1);
    let sttram = total(&|name| energy(name, STTRAM).total_fj as f64);
    let message = format!("{pool:.1} %, {bank:.1} % at a bank's price; the paper: -38 %");
    assert!(pool < bank - 10.0 && bank < sttram && bank < -30.0, "{message}");
}

/// Figure 7.
#[test]
fn a_write_pool_avoids_writes_in_every_workload() {
    for ports in PORTS {
        for name in [WPOOL, WARRF] {
            let design = with_ports(name, ports);
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
