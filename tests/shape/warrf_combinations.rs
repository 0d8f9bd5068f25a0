//! STT-RAM below a register file cache, an operand register file or none, with split bank writes and
//! a write pool or without: which combination is best. No paper has this.
//!
//! The tables are written to `docs/results/warrf-combinations.md`; the test compares them with what
//! is committed there, so that no number moves unseen, and asserts what the page says in prose. Set
//! `STRATA_BLESS=1` to write the file anew after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata::cli::Mode;
use strata::cost::cost;
use strata::design::{self, Design};
use strata::workload;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::write_pool::PoolPorts;

use crate::reports::{Reports, hold_page, mean};

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
/// Designs that are run with a pool of several accesses in a cycle, too.
const POOLS: [&str; 4] = ["sttram-wpool", "warrf", "warrf-rfc3", "warrf-orf3-lrf-split"];
/// Accesses of the pool in a cycle, but for one.
const ACCESSES: [u8; 2] = [2, 4];

fn name(memory: &str, level: &str) -> String {
    format!("{memory}{level}")
}

fn names() -> impl Iterator<Item = String> {
    MEMORIES.iter().flat_map(|(memory, _)| LEVELS.map(|level| name(memory, level)))
}

fn with_accesses(name: &str, accesses: u8) -> String {
    match accesses {
        1 => name.to_owned(),
        _ => format!("{name} with {accesses}"),
    }
}

fn resolved(name: &str) -> Design {
    design::resolve(name).expect("the design exists")
}

/// A design whose pool does several accesses in a cycle.
fn several_accesses(name: &str, accesses: u8) -> Design {
    let mut design = resolved(name);
    let OperandDelivery::Collectors(collectors) = &mut design.sm.operand_delivery else {
        panic!("{name} has collectors");
    };
    collectors.write_pool_ports = PoolPorts::Any(accesses);
    design.name = with_accesses(name, accesses);
    design
}

static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let more = POOLS.iter().flat_map(|name| ACCESSES.map(|n| several_accesses(name, n)));
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

const READINGS: [Leakage; 2] = [Leakage::Milliwatts, Leakage::AsPrinted];

/// What a design is measured by.
#[derive(Clone, Copy)]
enum Measure {
    Dynamic,
    Total(Leakage),
    EnergyDelay(Leakage),
}

fn cycles(workload: &str, design: &str) -> f64 {
    REPORTS.get(workload, design).counters["cycles"] as f64
}

/// Unit: femtojoules, or femtojoule cycles.
fn absolute(measure: Measure, workload: &str, design: &str) -> f64 {
    let energy = REPORTS.get(workload, design).energy_in_time.expect("its energy is known");
    let dynamic = energy.dynamic_fj as f64;
    // Dynamic energy is the same in both readings, and so is time.
    let total = |leakage| match leakage {
        Leakage::Milliwatts => energy.total_fj as f64,
        Leakage::AsPrinted => dynamic + energy.leakage_fj as f64 / 1000.0,
    };
    match measure {
        Measure::Dynamic => dynamic,
        Measure::Total(leakage) => total(leakage),
        Measure::EnergyDelay(leakage) => total(leakage) * cycles(workload, design),
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
    average(Measure::EnergyDelay(Leakage::Milliwatts), design)
}

fn total(design: &str) -> f64 {
    average(Measure::Total(Leakage::Milliwatts), design)
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
    hold_page("warrf-combinations.md", &page());
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
    // Alone it is the one workload with as many registers as banks that waits; a level ends that.
    let split = cycles("histogram", "sttram") / cycles("histogram", "sttram-sbw");
    assert!(split > 1.15 && split_bank_gain_elsewhere() < 1.5, "{split}");
    for level in ["-orf3", "-orf3-lrf-split"] {
        let share = |workload: &str| {
            let (own, sram) = (name("sttram", level), name(SRAM, level));
            100.0 * cycles(workload, &sram) / cycles(workload, &own)
        };
        for workload in workload::names() {
            assert!(share(workload) > 97.0, "{level}, {workload}: {}", share(workload));
        }
    }
}

#[test]
fn below_a_level_split_bank_writes_hardly_matter() {
    assert!(speed("sttram-sbw", "sttram") > 102.0);
    for level in LARGE {
        let (split, whole) = (name("sttram-sbw", level), name("sttram", level));
        assert!((100.0..101.5).contains(&speed(&split, &whole)), "{level}");
        assert!(energy_delay(&whole) - energy_delay(&split) < 1.0, "{level}");
    }
}

#[test]
fn the_pool_stays_worth_its_energy_and_a_level_lifts_its_cap() {
    assert!(speed("sttram-wpool", "sttram") < 80.0);
    for level in LARGE {
        let (pool, without) = (name("sttram-wpool", level), name("sttram", level));
        println!("{pool}: {:.1} of {:.1} % total", total(&pool), total(&without));
        assert!(total(&pool) < 0.9 * total(&without), "{level}");
        assert!(energy_delay(&pool) < 0.9 * energy_delay(&without), "{level}");
        assert!(speed(&pool, &without) > 94.0, "{level}: {}", speed(&pool, &without));
        assert!(speed(&pool, "sttram-wpool") > 130.0, "{level}");
    }
}

#[test]
fn one_entry_for_each_warp_does_what_the_pool_does() {
    let pool = storage("sttram-wpool").0;
    for level in ["-rfc1", "-orf1"] {
        let own = name("sttram", level);
        assert!(7 * storage(&own).0 < pool, "{own}: {:?} and {pool}", storage(&own));
        assert!(energy_delay(&own) < energy_delay("sttram-wpool") + 1.0, "{own}");
        assert!(speed(&own, "sttram-wpool") > 130.0, "{own}");
        assert!(speed(&own, SRAM) > 98.0, "{own}");
    }
    let two = with_accesses("sttram-wpool", 2);
    for same in ["sttram-orf3-lrf-split", "sttram-wpool-rfc6"] {
        assert!((energy_delay(&two) - energy_delay(same)).abs() < 2.0, "{same}");
    }
}

#[test]
fn two_accesses_in_a_cycle_make_the_pool_gain_speed() {
    let two = with_accesses("sttram-wpool", 2);
    assert!(speed(&two, "sttram") > 103.0, "{}", speed(&two, "sttram"));
    let four = with_accesses("sttram-wpool", 4);
    assert!(speed(&four, "sttram") > 108.0, "{}", speed(&four, "sttram"));
    // Below three entries and a last result file there is nothing left to gain.
    let fewer = "warrf-orf3-lrf-split";
    let four = with_accesses(fewer, 4);
    assert!(speed(&four, fewer) < 103.0, "{}", speed(&four, fewer));
}

#[test]
fn the_best_combinations_are_those_that_the_page_names() {
    for measure in [Measure::Total, Measure::EnergyDelay] {
        let best = |leakage, workload: &str| ranked(measure(leakage), workload).swap_remove(0).0;
        for workload in workload::names() {
            let found = best(Leakage::Milliwatts, workload);
            let expected: &[&str] = match workload {
                "hotspot" => &["sttram-sbw-orf3-lrf-split"],
                "needle" => &["sttram-wpool-orf1"],
                _ => &["sttram-wpool-orf3-lrf-split", "warrf-orf3-lrf-split"],
            };
            assert!(expected.contains(&found.as_str()), "{workload}: {found}");
            let found = best(Leakage::AsPrinted, workload);
            let expected = match workload {
                "needle" => "sttram-wpool-orf1",
                "matrixmul" | "dct8x8" | "mandelbrot" | "nbody" => "warrf-orf3-lrf-split",
                _ => "warrf-gtx480-orf3-lrf-split",
            };
            assert_eq!(found, expected, "{workload}");
        }
        let least = |leakage| {
            let key = |name: &String| average(measure(leakage), name);
            names().min_by(|a, b| key(a).total_cmp(&key(b))).expect("there are designs")
        };
        assert_eq!(least(Leakage::Milliwatts), "warrf-orf3-lrf-split");
        assert_eq!(least(Leakage::AsPrinted), "warrf-gtx480-orf3-lrf-split");
    }
}

fn page() -> String {
    let mut page = String::from(
        "# STT-RAM below a register file cache or an operand register file\n\n\
         Which main register file goes best with which level above it: the SRAM register file of\n\
         machine `warrf-gtx480` and its STT-RAM designs, each below a register file cache (`-rfcN`), an\n\
         operand register file (`-orfN`), one with a split last result file, or nothing. No paper has\n\
         these combinations: [WARRF] has no upper levels, and those of [RFC2011] and [DISS] lie above\n\
         SRAM. In cycle mode, workload size `small`, 8 active warps, means over the twelve workloads; all\n\
         relative numbers are in percent of the SRAM register file without upper levels. *EDP* is energy\n\
         times delay; *mW* reads [WARRF]'s leakage as milliwatts for each bank, *as printed* as the\n\
         microwatts that stand there (DEVIATIONS.md, DEV-050). Energy of upper levels is inferred\n\
         (MODEL.md, rule 34), and only the main register file leaks. This page is checked by `cargo test -p\n\
         strata-tests --test shape`.\n",
    );
    page.push_str(&meaning());
    page.push_str(&means());
    for leakage in READINGS {
        page.push_str(&best(leakage));
    }
    page.push_str(&hardware());
    page.push_str(&accesses());
    page
}

fn meaning() -> String {
    let mut text = String::from("\n## What it means\n");
    for paragraph in [time(), pool(), storages(), leakages()] {
        text.push('\n');
        text.push_str(&paragraph);
    }
    text
}

fn time() -> String {
    let split = 100.0 * cycles("histogram", "sttram") / cycles("histogram", "sttram-sbw");
    let gains = LARGE.map(|level| speed(&name("sttram-sbw", level), &name("sttram", level)));
    format!(
        "**A small level makes STT-RAM's write latency vanish.** STT-RAM alone has {:.1} % of SRAM's\n\
         IPC. Below a cache of 3 entries for each active warp it has {:.1} %, below one of 6 {:.1} %,\n\
         below an ORF of 3 {:.1} % (SRAM below the same levels: {:.1}, {:.1} and {:.1} %). The caches\n\
         leave {:.0} and {:.0} % of the writes, the ORF {:.0} %, few enough for banks that are busy for\n\
         three cycles.\n\n\
         **Split bank writes are then superfluous.** Alone they win {:.1} % of IPC, {:.0} % in `histogram`\n\
         and {:.1} % on the mean of the others: a thread of that kernel has 16 registers, as many as there\n\
         are banks, so that register *r* of every warp lies in bank *r*, and warps in the same loop wait\n\
         for the same banks. Below 3 entries or more they win {:.1} % at most, and less than a point of\n\
         EDP.\n",
        speed("sttram", SRAM),
        speed("sttram-rfc3", SRAM),
        speed("sttram-rfc6", SRAM),
        speed("sttram-orf3", SRAM),
        speed("warrf-gtx480-rfc3", SRAM),
        speed("warrf-gtx480-rfc6", SRAM),
        speed("warrf-gtx480-orf3", SRAM),
        writes("sttram-rfc3"),
        writes("sttram-rfc6"),
        writes("sttram-orf3"),
        speed("sttram-sbw", "sttram") - 100.0,
        split - 100.0,
        split_bank_gain_elsewhere(),
        gains.into_iter().fold(0.0, f64::max) - 100.0,
    )
}

/// Mean gain of IPC from split bank writes without `histogram`. Unit: percent.
fn split_bank_gain_elsewhere() -> f64 {
    let others = workload::names().filter(|&workload| workload != "histogram");
    let gain = |name| 100.0 * cycles(name, "sttram") / cycles(name, "sttram-sbw") - 100.0;
    let gains: Vec<f64> = others.map(gain).collect();
    gains.iter().sum::<f64>() / gains.len() as f64
}

/// Mean of a counter, in percent of the writes that go to the pool.
fn of_pool_writes(design: &str, counter: &str) -> f64 {
    REPORTS.share(design, &[counter], design, "write_pool_writes")
}

fn pool() -> String {
    let (without, with) = ("sttram-orf3-lrf-split", "sttram-wpool-orf3-lrf-split");
    format!(
        "**The write pool is superfluous for speed, not for energy.** It does one access in a cycle, and\n\
         without a level above it that costs {:.0} % of STT-RAM's IPC. A level takes most accesses from\n\
         it, and the cap with them: with the pool, IPC is {:.1} % below 6 entries of cache and {:.1} %\n\
         below an ORF of 3 with a split LRF. It still saves energy there: with that ORF total energy\n\
         falls from {:.1} to {:.1} % and writes from {:.0} to {:.0} %, below 6 entries of cache energy\n\
         falls from {:.1} to {:.1} %. What leaves a level is often written again soon after: below the ORF\n\
         {:.0} % of the writes to the pool overwrite an entry (alone {:.0} %), and {:.0} % are dropped when\n\
         their warp ends. The pool also serves reads for a fifth of a bank's energy.\n",
        100.0 - speed("sttram-wpool", "sttram"),
        speed("sttram-wpool-rfc6", SRAM),
        speed(with, SRAM),
        total(without),
        total(with),
        writes(without),
        writes(with),
        total("sttram-rfc6"),
        total("sttram-wpool-rfc6"),
        of_pool_writes(with, "write_pool_write_hits"),
        of_pool_writes("sttram-wpool", "write_pool_write_hits"),
        of_pool_writes(with, "write_pool_drops"),
    )
}

fn storages() -> String {
    let bytes = |design: &str| storage(design).0;
    let near = |design: &str| (100.0 - speed(design, SRAM)).abs();
    format!(
        "**For the pool's EDP one entry for each warp is enough.** Its 60 entries ({} bytes) come to\n\
         {:.1} %; an ORF of one entry ({} bytes, no tags) to {:.1} % and a cache of one to {:.1} %, both\n\
         within {:.1} % of SRAM's IPC. Had the pool two accesses in a cycle, it would come to {:.1} %, at\n\
         {:.1} % of the IPC: the EDP of an ORF of 3 with a split LRF ({:.1} %, {} bytes), and of the pool\n\
         with one access below a cache of 6 ({:.1} %, {} bytes).\n",
        bytes("sttram-wpool"),
        energy_delay("sttram-wpool"),
        bytes("sttram-orf1"),
        energy_delay("sttram-orf1"),
        energy_delay("sttram-rfc1"),
        near("sttram-orf1").max(near("sttram-rfc1")),
        energy_delay(&with_accesses("sttram-wpool", 2)),
        speed(&with_accesses("sttram-wpool", 2), SRAM),
        energy_delay("sttram-orf3-lrf-split"),
        bytes("sttram-orf3-lrf-split"),
        energy_delay("sttram-wpool-rfc6"),
        bytes("sttram-wpool-rfc6"),
    )
}

fn leakages() -> String {
    let (sttram, both) = ("sttram-orf3-lrf-split", "warrf-orf3-lrf-split");
    let printed = |design| average(Measure::EnergyDelay(Leakage::AsPrinted), design);
    format!(
        "**Best of all** is WarRF below an ORF of 3 with a split LRF: {:.1} % of the energy and {:.1} % of\n\
         the EDP, at {:.1} % of the IPC. In ten workloads that, or the same without split bank writes,\n\
         is best; in `needle` the pool is best below a single entry, and in `hotspot` the pool is one\n\
         level too many.\n\n\
         **If the leakage is read as printed** STT-RAM saves none worth the name, and the best on the mean\n\
         is SRAM below an ORF of 3 with a split LRF: {:.1} % of the EDP, for {:.1} % with WarRF and {:.1} %\n\
         with STT-RAM without SBW and pool. STT-RAM with the pool is best in `matrixmul`, `needle`,\n\
         `dct8x8`, `mandelbrot` and `nbody`; without a pool it is best nowhere.\n",
        total(both),
        energy_delay(both),
        speed(both, SRAM),
        printed("warrf-gtx480-orf3-lrf-split"),
        printed(both),
        printed(sttram),
    )
}

fn means() -> String {
    let mut text = String::from(
        "\n## Means\n\n\
         | design | IPC | relative | MRF writes | dynamic energy | total, mW | EDP, mW | \
         total, as printed | EDP, as printed |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for level in LEVELS {
        for (memory, _) in MEMORIES {
            let name = name(memory, level);
            let _ = write!(
                text,
                "| `{name}` | {:.1} | {:.1} | {:.1} | {:.1} |",
                ipc(&name),
                speed(&name, SRAM),
                writes(&name),
                average(Measure::Dynamic, &name)
            );
            for leakage in READINGS {
                let _ = write!(
                    text,
                    " {:.1} | {:.1} |",
                    average(Measure::Total(leakage), &name),
                    average(Measure::EnergyDelay(leakage), &name)
                );
            }
            text.push('\n');
        }
    }
    text.push_str(
        "\nA compiler knows what a write of the main register file costs, so that below an ORF STT-RAM is\n\
         written less often than SRAM.\n",
    );
    text
}

fn best(leakage: Leakage) -> String {
    let title = match leakage {
        Leakage::Milliwatts => "leakage in milliwatts",
        Leakage::AsPrinted => "leakage as printed",
    };
    let mut text = format!(
        "\n## Best by workload, {title}\n\n\
         In percent of SRAM's; the margin is what the second takes more.\n\n\
         | workload | least energy | | second | margin | least EDP | | second | margin |\n\
         | --- | --- | ---: | --- | ---: | --- | ---: | --- | ---: |\n"
    );
    for workload in workload::names() {
        let _ = write!(text, "| {workload} |");
        for measure in [Measure::Total(leakage), Measure::EnergyDelay(leakage)] {
            let ranked = ranked(measure, workload);
            let [(first, value), (second, next), ..] = &ranked[..] else { unreachable!() };
            let margin = 100.0 * next / value - 100.0;
            let _ = write!(text, " `{first}` | {value:.1} | `{second}` | {margin:.1} % |");
        }
        text.push('\n');
    }
    text
}

fn hardware() -> String {
    let mut text = String::from(
        "\n## Hardware\n\n\
         What `strata cost` counts of an SM beyond the main register file and the operand collectors:\n\
         data of upper levels and pool, bits of tags, masks, order and buffers; and what each instruction\n\
         has more (an ORF's names are not in it, DEV-049). Sorted by data; in **bold** what has less EDP\n\
         (mW) than everything smaller.\n\n\
         | design | data, bytes | bits | instruction bits | IPC | EDP |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut all: Vec<_> = names()
        .filter(|name| !name.starts_with(SRAM))
        .map(|name| (storage(&name), energy_delay(&name), name))
        .collect();
    all.sort_by(|(storage, delay, _), (other, later, _)| {
        storage.cmp(other).then(delay.total_cmp(later))
    });
    let mut least = f64::INFINITY;
    for ((bytes, bits), delay, name) in all {
        let encoding = cost(&resolved(&name)).encoding_bits;
        let speed = speed(&name, SRAM);
        let shown = if delay < least { format!("**{delay:.1}**") } else { format!("{delay:.1}") };
        least = least.min(delay);
        let _ =
            writeln!(text, "| `{name}` | {bytes} | {bits} | {encoding} | {speed:.1} | {shown} |");
    }
    text
}

fn accesses() -> String {
    let mut text = String::from(
        "\n## A pool of several accesses in a cycle\n\n\
         [WARRF]'s pool does one read or write in a cycle (DEV-053). With more:\n\n\
         | design | accesses | IPC relative to SRAM | to STT-RAM | EDP, mW | accesses made in a cycle |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for design in POOLS {
        for accesses in [1].into_iter().chain(ACCESSES) {
            let name = with_accesses(design, accesses);
            let busy = mean(|workload| {
                let made = ["write_pool_reads", "write_pool_writes"];
                REPORTS.sum(workload, &name, &made) / cycles(workload, &name)
            });
            let _ = writeln!(
                text,
                "| `{design}` | {accesses} | {:.1} | {:.1} | {:.1} | {busy:.2} |",
                speed(&name, SRAM),
                speed(&name, "sttram"),
                energy_delay(&name),
            );
        }
    }
    text
}
