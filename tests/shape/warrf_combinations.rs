//! STT-RAM below a register file cache, an operand register file or none, with split bank writes and
//! a write pool or without: which combination is best. No paper has this.
//!
//! The tables are written to `docs/results/warrf-combinations.md`; the test compares them with what
//! is committed there, so that no number moves unseen, and asserts what the page says in prose. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

mod page;

use std::sync::LazyLock;

use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::write_pool::PoolPorts;
use strata_design::cost::cost;
use strata_design::{self as design, Design};
use strata_measure::options::Mode;
use strata_workload as workload;

use crate::reports::{Reports, dearer, hold_page, mean};

/// The SRAM register file without upper levels, which all is compared with.
const SRAM: &str = "warrf-gtx480";
/// Main register files, and what the page calls them.
const MEMORIES: [(&str, &str); 5] = [
    (SRAM, "SRAM"),
    ("sttram", "STT-RAM"),
    ("sttram-sbw", "STT-RAM, split bank write"),
    ("sttram-wpool", "STT-RAM, write pool"),
    ("warrf", "STT-RAM, both"),
];
/// Levels above them.
const LEVELS: [&str; 7] = ["", "-rfc1", "-rfc3", "-rfc6", "-orf1", "-orf3", "-orf3-lrf-split"];
/// Those of 3 entries and more.
const LARGE: [&str; 4] = ["-rfc3", "-rfc6", "-orf3", "-orf3-lrf-split"];
/// Designs that are run with other ports of the pool, too.
const POOLS: [&str; 4] = ["sttram-wpool", "warrf", "warrf-rfc3", "warrf-orf3-lrf-split"];
/// Ports of the pool beside a read and a write in a cycle.
const PORTS: [PoolPorts; 3] = [PoolPorts::Any(1), PoolPorts::Any(2), PoolPorts::Any(4)];

fn name(memory: &str, level: &str) -> String {
    format!("{memory}{level}")
}

fn names() -> impl Iterator<Item = String> {
    MEMORIES.iter().flat_map(|(memory, _)| LEVELS.map(|level| name(memory, level)))
}

fn with_ports(name: &str, ports: PoolPorts) -> String {
    match ports {
        PoolPorts::OneReadOneWrite => name.to_owned(),
        ports @ PoolPorts::Any(_) => format!("{name} with {ports}"),
    }
}

fn resolved(name: &str) -> Design {
    design::resolve(name).expect("the design exists")
}

/// A design whose pool has other ports.
fn other_ports(name: &str, ports: PoolPorts) -> Design {
    let mut design = resolved(name);
    let OperandDelivery::Collectors(collectors) = &mut design.sm.operand_delivery else {
        panic!("{name} has collectors");
    };
    collectors.write_pool_ports = ports;
    design.name = with_ports(name, ports);
    design
}

static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let more = POOLS.iter().flat_map(|name| PORTS.map(|ports| other_ports(name, ports)));
    let designs: Vec<Design> = names().map(|name| resolved(&name)).chain(more).collect();
    Reports::in_mode(Mode::Cycle, &designs)
});

/// How the table of the source is read.
#[derive(Clone, Copy, PartialEq)]
enum Leakage {
    /// In milliwatts for each bank.
    Milliwatts,
    /// In microwatts, as printed.
    AsPrinted,
}

/// What a read of an operand costs that hits the write pool (`pool_read_energy`).
#[derive(Clone, Copy, PartialEq)]
enum ReadHits {
    /// A read of the pool.
    Pool,
    /// A read of a bank.
    Bank,
}

/// What there are two readings of.
#[derive(Clone, Copy, PartialEq)]
struct Price {
    leakage: Leakage,
    hits: ReadHits,
}

/// That of the designs.
const OWN: Price = Price { leakage: Leakage::Milliwatts, hits: ReadHits::Pool };
const AT_BANK: Price = Price { hits: ReadHits::Bank, ..OWN };
const AS_PRINTED: Price = Price { leakage: Leakage::AsPrinted, ..OWN };
const PRINTED_AT_BANK: Price = Price { hits: ReadHits::Bank, ..AS_PRINTED };
const PRICES: [Price; 4] = [OWN, AT_BANK, AS_PRINTED, PRINTED_AT_BANK];

/// What a design is measured by.
#[derive(Clone, Copy)]
enum Measure {
    Dynamic(ReadHits),
    Total(Price),
    EnergyDelay(Price),
}

impl Measure {
    fn is_as_printed(self) -> bool {
        match self {
            Self::Dynamic(_) => false,
            Self::Total(price) | Self::EnergyDelay(price) => price.leakage == Leakage::AsPrinted,
        }
    }
}

fn cycles(workload: &str, design: &str) -> f64 {
    REPORTS.get(workload, design).counters["cycles"] as f64
}

/// Unit: femtojoules, or femtojoule cycles.
fn absolute(measure: Measure, workload: &str, design: &str) -> f64 {
    let report = REPORTS.get(workload, design);
    let energy = report.energy_in_time.expect("its energy is known");
    let dynamic = |hits| {
        let own = energy.dynamic_fj as f64;
        match hits {
            ReadHits::Pool => own,
            ReadHits::Bank => own + dearer(report.counters["write_pool_reads"]),
        }
    };
    // Dynamic energy is the same in both readings of the leakage, and so is time.
    let total = |price: Price| {
        let leakage = energy.leakage_fj as f64;
        dynamic(price.hits)
            + match price.leakage {
                Leakage::Milliwatts => leakage,
                Leakage::AsPrinted => leakage / 1000.0,
            }
    };
    match measure {
        Measure::Dynamic(hits) => dynamic(hits),
        Measure::Total(price) => total(price),
        Measure::EnergyDelay(price) => total(price) * cycles(workload, design),
    }
}

/// In percent of the SRAM register file.
fn relative(measure: Measure, workload: &str, design: &str) -> f64 {
    100.0 * absolute(measure, workload, design) / absolute(measure, workload, SRAM)
}

/// Mean over the workloads, in percent of the SRAM register file.
fn average(measure: Measure, design: &str) -> f64 {
    mean(|workload| relative(measure, workload, design))
}

fn energy_delay(design: &str) -> f64 {
    average(Measure::EnergyDelay(OWN), design)
}

fn total(design: &str) -> f64 {
    average(Measure::Total(OWN), design)
}

/// Mean of a design's IPC in percent of another's.
fn speed(design: &str, of: &str) -> f64 {
    mean(|workload| 100.0 * cycles(workload, of) / cycles(workload, design))
}

fn ipc(design: &str) -> f64 {
    mean(|workload| REPORTS.get(workload, design).derived["ipc"].expect("cycles passed"))
}

fn writes(design: &str) -> f64 {
    REPORTS.share(design, &["mrf_writes"], SRAM, "mrf_writes")
}

/// The combinations, the best first.
fn ranked(measure: Measure, workload: &str) -> Vec<(String, f64)> {
    let mut all: Vec<_> = names()
        .map(|name| {
            let value = relative(measure, workload, &name);
            (name, value)
        })
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    all
}

/// Storage beyond the main register file and the operand collectors: data in bytes, and bits of
/// tags, masks, order and buffers.
fn storage(design: &str) -> (u64, u64) {
    let cost = cost(&resolved(design));
    let (mut bytes, mut bits) = (0, 0);
    if let Some(cache) = cost.cache {
        (bytes, bits) = (cache.data_bytes, cache.tag_bits + cache.state_bits);
    }
    if let Some(managed) = cost.managed {
        bytes += managed.operand_register_file.sm;
        bytes += managed.last_result_file.map_or(0, |level| level.sm);
    }
    let collectors = cost.collectors.expect("every design here has collectors");
    bits += collectors.split_bank_write_bits.unwrap_or(0);
    if let Some(pool) = collectors.write_pool {
        bytes += pool.array_bytes;
        bits += pool.indicator_bits + pool.lane_bits + pool.order_bits;
    }
    (bytes, bits)
}

#[test]
fn the_committed_page_of_the_combinations_holds_these_numbers() {
    hold_page("warrf-combinations.md", &page::page());
}

/// The page takes the reading as printed from the other: a thousandth of its leakage.
#[test]
fn the_reading_as_printed_leaks_a_thousandth_and_differs_in_nothing_else() {
    let printed = ["warrf-gtx480-as-printed", "sttram-as-printed", "warrf-orf3-as-printed"];
    let printed = printed.map(|name| (resolved(name), name.trim_end_matches("-as-printed")));
    let reports = Reports::in_mode(Mode::Cycle, &printed.each_ref().map(|(own, _)| own.clone()));
    for (design, name) in &printed {
        for workload in workload::names() {
            let own = reports.get(workload, &design.name);
            let other = REPORTS.get(workload, name);
            let at = format!("{workload}, {name}");
            assert_eq!(own.counters, other.counters, "{at}");
            let (own, other) = (own.energy_in_time.unwrap(), other.energy_in_time.unwrap());
            assert_eq!(own.dynamic_fj, other.dynamic_fj, "{at}");
            assert!(own.leakage_fj.abs_diff(other.leakage_fj / 1000) <= 1, "{at}");
        }
    }
}

/// IPC of STT-RAM in percent of SRAM's below the same level.
fn share(workload: &str, level: &str) -> f64 {
    let (own, sram) = (name("sttram", level), name(SRAM, level));
    100.0 * cycles(workload, &sram) / cycles(workload, &own)
}

/// The least of all workloads and levels of 3 entries or more, with the workload.
fn least_share() -> (&'static str, f64) {
    let all = LARGE.into_iter().flat_map(|level| {
        workload::names().map(move |workload| (workload, share(workload, level)))
    });
    all.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are workloads")
}

#[test]
fn levels_of_three_entries_hide_the_time_of_a_write() {
    assert!(speed("sttram", SRAM) < 95.0, "{}", speed("sttram", SRAM));
    for level in LARGE {
        let below = name("sttram", level);
        println!("{below}: {:.1} % of SRAM, {:.1} % below it", speed(&below, SRAM), {
            speed(&below, &name(SRAM, level))
        });
        assert!(speed(&below, SRAM) > 100.0, "{below}: {}", speed(&below, SRAM));
        assert!(speed(&below, &name(SRAM, level)) > 98.0, "{below}");
    }
    let (workload, least) = least_share();
    assert!(least > 93.0, "{workload}: {least:.1} %");
}

#[test]
fn below_a_level_split_bank_writes_hardly_matter() {
    assert!(speed("sttram-sbw", "sttram") > 100.8);
    for level in LARGE {
        let (split, whole) = (name("sttram-sbw", level), name("sttram", level));
        assert!((99.0..101.0).contains(&speed(&split, &whole)), "{level}");
        assert!(energy_delay(&whole) - energy_delay(&split) < 1.0, "{level}");
    }
}

#[test]
fn the_pool_stays_worth_its_energy_and_a_level_lifts_its_cap() {
    assert!(speed("sttram-wpool", "sttram") < 98.0);
    for level in LARGE {
        let (pool, without) = (name("sttram-wpool", level), name("sttram", level));
        println!("{pool}: {:.1} of {:.1} % total", total(&pool), total(&without));
        assert!(total(&pool) < 0.9 * total(&without), "{level}");
        assert!(energy_delay(&pool) < 0.9 * energy_delay(&without), "{level}");
        assert!(speed(&pool, &without) > 99.0, "{level}: {}", speed(&pool, &without));
        assert!(speed(&pool, "sttram-wpool") > 110.0, "{level}");
        // Also where the reads that it serves are no gain, if by less.
        let [own, dearer] = [OWN, AT_BANK].map(|price| average(Measure::Total(price), &pool));
        assert!(own < dearer && dearer < total(&without), "{level}: {own:.1}, {dearer:.1} %");
    }
}

/// What the program's front page says of both.
#[test]
fn three_entries_with_a_last_result_file_do_more_than_the_pool() {
    let (pool, level) = (storage("sttram-wpool").0, "sttram-orf3-lrf-split");
    assert!(storage(level).0 < pool, "{:?} and {pool}", storage(level));
    let at_bank = average(Measure::EnergyDelay(AT_BANK), "sttram-wpool");
    let own = energy_delay("sttram-wpool");
    assert!(energy_delay(level) < own && own < at_bank, "{own:.1} and {at_bank:.1} %");
    // One entry for each warp is in between.
    for level in ["-rfc1", "-orf1"] {
        let one = name("sttram", level);
        assert!(7 * storage(&one).0 < pool, "{one}: {:?} and {pool}", storage(&one));
        assert!(own < energy_delay(&one) && energy_delay(&one) < at_bank, "{one}");
        assert!(speed(&one, SRAM) > 98.0 && speed(&one, "sttram-wpool") > 105.0, "{one}");
    }
    let two = with_ports("sttram-wpool", PoolPorts::Any(2));
    for same in [level, "sttram-wpool-rfc6"] {
        assert!((energy_delay(&two) - energy_delay(same)).abs() < 2.0, "{same}");
    }
}

#[test]
fn more_ports_make_the_pool_gain_speed() {
    let of = |ports| speed(&with_ports("sttram-wpool", ports), "sttram");
    let one = of(PoolPorts::Any(1));
    let own = of(PoolPorts::OneReadOneWrite);
    let [two, four] = [2, 4].map(|accesses| of(PoolPorts::Any(accesses)));
    assert!(one < 80.0 && (90.0..98.0).contains(&own), "{one:.1} and {own:.1} %");
    assert!(two > 101.0 && four > 105.0, "{two:.1} and {four:.1} %");
    // Below three entries and a last result file there is nothing left to gain.
    let fewer = "warrf-orf3-lrf-split";
    let four = with_ports(fewer, PoolPorts::Any(4));
    assert!(speed(&four, fewer) < 101.5, "{}", speed(&four, fewer));
}

/// The page takes the energy of `pool_read_energy = "bank"` from the counts of the other.
#[test]
fn reads_at_a_bank_s_price_leave_what_the_compiler_places() {
    let text = "base = \"warrf-orf3\"\npool_read_energy = \"bank\"\n";
    let design = design::file::parse("bank.toml", text).expect("it is a design");
    let reports = Reports::in_mode(Mode::Cycle, std::slice::from_ref(&design));
    for workload in workload::names() {
        let own = reports.get(workload, &design.name);
        let other = REPORTS.get(workload, "warrf-orf3");
        assert_eq!(own.counters, other.counters, "{workload}");
        let (found, own) = (own.energy_in_time.unwrap(), Measure::Total(AT_BANK));
        let off = found.total_fj as f64 - absolute(own, workload, "warrf-orf3");
        assert!(off.abs() < 0.5, "{workload}: {off} fJ");
    }
}

#[test]
fn the_best_combinations_are_those_that_the_page_names() {
    const BOTH: [&str; 2] = ["sttram-wpool-orf3-lrf-split", "warrf-orf3-lrf-split"];
    const WITHOUT_POOL: [&str; 2] = ["sttram-orf3-lrf-split", "sttram-sbw-orf3-lrf-split"];
    for measure in [Measure::Total, Measure::EnergyDelay] {
        let best = |price, workload: &str| ranked(measure(price), workload).swap_remove(0).0;
        for workload in workload::names() {
            let found = best(OWN, workload);
            let expected: &[&str] = match workload {
                "hotspot" => &WITHOUT_POOL,
                "needle" => &["sttram-wpool-orf1", "warrf-orf1"],
                _ => &BOTH,
            };
            assert!(expected.contains(&found.as_str()), "{workload}: {found}");
            let found = best(AS_PRINTED, workload);
            let expected: &[&str] = match workload {
                "needle" => &["sttram-wpool-orf1", "warrf-orf1"],
                "matrixmul" | "dct8x8" | "mandelbrot" | "nbody" => &BOTH,
                _ => &["warrf-gtx480-orf3-lrf-split"],
            };
            assert!(expected.contains(&found.as_str()), "{workload}: {found}");
            // At a bank's price larger levels are best, and as printed STT-RAM in one workload.
            let found = best(AT_BANK, workload);
            let large = LARGE.iter().any(|level| found.ends_with(level));
            assert!(large && !found.starts_with(SRAM), "{workload}: {found}");
            let found = best(PRINTED_AT_BANK, workload);
            assert_eq!(found.starts_with(SRAM), workload != "needle", "{workload}: {found}");
        }
        let least = |price| {
            let key = |name: &String| average(measure(price), name);
            names().min_by(|a, b| key(a).total_cmp(&key(b))).expect("there are designs")
        };
        for price in [OWN, AT_BANK] {
            assert!(BOTH.contains(&least(price).as_str()), "{}", least(price));
        }
        for price in [AS_PRINTED, PRINTED_AT_BANK] {
            assert_eq!(least(price), "warrf-gtx480-orf3-lrf-split");
        }
    }
}
