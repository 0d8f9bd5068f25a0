//! EXPARS and Warpman in time: what more resident warps are worth on our kernels, and what binds.
//!
//! The tables are written to `docs/results/expars.md`, and with `STRATA_FULL_TESTS` at the default
//! size to `expars-default.md`; the tests compare them with what is committed there, so that no
//! number moves unseen. Set `STRATA_BLESS=1` to write the files again after a change that is meant
//! to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_design::{self as design, Design};
use strata_measure::options::{Mode, Scale};
use strata_report::RunReport;

use crate::groups::general;
use crate::reports::{Reports, hold_page};

/// A scheduler, with the designs that differ in how registers are given to warps.
struct Scheduler {
    name: &'static str,
    baseline: &'static str,
    warpman: &'static str,
    expars: &'static str,
    /// What the paper prints of EXPARS over the baseline. Unit: percent.
    printed: f64,
}

const SCHEDULERS: [Scheduler; 3] = [
    Scheduler {
        name: "LRR",
        baseline: "expars-gtx480",
        warpman: "warpman-lrr",
        expars: "expars-lrr",
        printed: 12.01,
    },
    Scheduler {
        name: "GTO",
        baseline: "expars-baseline-gto",
        warpman: "warpman-gto",
        expars: "expars-gto",
        printed: 9.34,
    },
    Scheduler {
        name: "TL",
        baseline: "expars-baseline-tl",
        warpman: "warpman-tl",
        expars: "expars-tl",
        printed: 7.55,
    },
];
/// The lazy two-level scheduler, the baseline with the same inner one, and what the paper prints.
const LAZY: [(&str, &str, f64); 2] = [
    ("expars-ltlws-lrr", "expars-gtx480", 12.53),
    ("expars-ltlws-gto", "expars-baseline-gto", 20.01),
];
/// A register file of 2 KB more, and the same without.
const LARGER: [(&str, &str); 2] =
    [("expars-baseline-2kb", "expars-gtx480"), ("warpman-2kb", "warpman-lrr")];

fn resolved(name: &str) -> Design {
    design::resolve(name).expect("the design exists")
}

/// Workloads that EXPARS has more CTAs of, at the default size.
const GAINING: [&str; 10] = [
    "hotspot",
    "srad",
    "mandelbrot",
    "dgemm",
    "scan",
    "bitonic",
    "montecarlo",
    "bilinear",
    "pcr",
    "ray",
];

pub(crate) fn designs() -> Vec<Design> {
    let mut names: Vec<&str> = SCHEDULERS
        .iter()
        .flat_map(|one| [one.baseline, one.warpman, one.expars])
        .chain(LAZY.map(|(lazy, ..)| lazy))
        .collect();
    names.extend(LARGER.map(|(larger, _)| larger));
    names.into_iter().map(resolved).collect()
}

/// All workloads, at their small size.
static SMALL: LazyLock<Reports> =
    LazyLock::new(|| Reports::run(Mode::Cycle, general(), &designs()));

/// Whether EXPARS has more CTAs resident in some launch, of which there are more than fit without.
fn gains(reports: &Reports, workload: &str) -> bool {
    let [baseline, expars] =
        ["expars-gtx480", "expars-lrr"].map(|design| reports.get(workload, design));
    let launches = baseline.launches.iter().zip(&expars.launches);
    launches.into_iter().any(|(baseline, expars)| {
        let [before, after] =
            [baseline, expars].map(|launch| launch.residency.map_or(0, |residency| residency.ctas));
        after > before
            && baseline.grid.iter().map(|&side| u64::from(side)).product::<u64>() > before.into()
    })
}

/// Some runs, with the workloads that EXPARS gains CTAs for.
pub(crate) struct Runs<'r> {
    pub(crate) reports: &'r Reports,
    pub(crate) gaining: Vec<&'static str>,
}

impl<'r> Runs<'r> {
    pub(crate) fn of(reports: &'r Reports, names: impl Iterator<Item = &'static str>) -> Self {
        Self { reports, gaining: names.filter(|name| gains(reports, name)).collect() }
    }

    /// Most resident warps of the launches in which `expars` has registers in scratchpad memory; of
    /// all, if it has none there.
    pub(crate) fn warps(&self, workload: &str, design: &str, expars: &str) -> u32 {
        let of = |design| self.reports.get(workload, design).launches.iter();
        let warps = |all: bool| {
            let both = of(design).zip(of(expars));
            let chosen = both.filter(|(_, expars)| {
                all || expars.residency.is_some_and(|residency| residency.mixed_ctas.is_some())
            });
            chosen.filter_map(|(launch, _)| Some(launch.residency?.warps)).max()
        };
        warps(false).or_else(|| warps(true)).unwrap_or(0)
    }

    pub(crate) fn cycles(&self, workload: &str, design: &str) -> f64 {
        self.reports.get(workload, design).counters["cycles"] as f64
    }

    /// By how much a design is faster than another. Unit: percent.
    pub(crate) fn faster(&self, workload: &str, design: &str, than: &str) -> f64 {
        100.0 * (self.cycles(workload, than) / self.cycles(workload, design) - 1.0)
    }

    /// The mean of that over the workloads.
    fn mean(&self, design: &str, than: &str) -> f64 {
        let all = self.gaining.iter().map(|name| self.faster(name, design, than));
        all.sum::<f64>() / self.gaining.len() as f64
    }
}

fn expansion(report: &RunReport, name: &str) -> u64 {
    report.expansion.as_ref().map_or(0, |counts| counts[name])
}

#[test]
fn the_committed_page_of_expars_holds_these_numbers() {
    let runs = Runs::of(&SMALL, general());
    hold_page("expars.md", &page(&runs, Scale::Small));
}

/// The page at the default size: 15 CPU minutes.
#[test]
fn the_page_of_expars_at_default_size_holds_these_numbers() {
    if std::env::var_os("STRATA_FULL_TESTS").is_none() {
        return;
    }
    let reports = Reports::at(Scale::Default, Mode::Cycle, GAINING.into_iter(), &designs());
    let runs = Runs::of(&reports, GAINING.into_iter());
    hold_page("expars-default.md", &page(&runs, Scale::Default));
}

/// Every access of the baseline's register file is one of the register file, of the operand cache
/// or of scratchpad memory.
#[test]
fn no_access_of_a_register_is_lost() {
    let mut moved = 0;
    for name in general() {
        for Scheduler { baseline, warpman, expars, .. } in SCHEDULERS {
            let [baseline, warpman, expars] =
                [baseline, warpman, expars].map(|design| SMALL.get(name, design));
            for (counter, elsewhere) in [
                ("mrf_reads", &["operand_cache_reads_private", "operand_cache_reads_shared"]),
                ("mrf_writes", &["operand_cache_writes", "scratchpad_results"]),
            ] {
                let other: u64 = elsewhere.iter().map(|event| expansion(expars, event)).sum();
                let expected = baseline.counters[counter];
                let at = format!("{name}, {}: {counter}", expars.design);
                assert_eq!(expars.counters[counter] + other, expected, "{at}");
                assert_eq!(warpman.counters[counter], expected, "{at}");
                moved += other;
            }
        }
    }
    assert!(moved > 10_000, "{moved}");
}

/// Where no CTA is gained EXPARS is the baseline: no cycle and no count differs.
#[test]
fn without_a_cta_gained_nothing_differs() {
    let mut same = 0;
    for name in general() {
        for Scheduler { baseline, expars, .. } in SCHEDULERS {
            let [baseline, expars] = [baseline, expars].map(|design| SMALL.get(name, design));
            let mixed = |report: &RunReport| {
                let launches = report.launches.iter();
                launches.filter_map(|launch| launch.residency?.mixed_ctas).count()
            };
            if mixed(expars) == 0 {
                assert_eq!(expars.digest, baseline.digest, "{name}, {}", expars.design);
                same += 1;
            }
        }
    }
    assert!(same > 20, "{same}");
}

fn page(runs: &Runs<'_>, scale: Scale) -> String {
    let (size, about) = match scale {
        Scale::Small => (
            "small",
            "Launches have few CTAs, so that the end of a launch, when CTAs\nwith registers in \
             scratchpad memory run alone, weighs more than [at the default size]\
             (expars-default.md).",
        ),
        _ => ("default", "Run by the full tests only ([small sizes](expars.md) always)."),
    };
    format!(
        "# EXPARS and Warpman in time, {size} size\n\
         \n\
         Workloads at their {size} size, nvcc's PTX with 64-bit addresses, machine \
         `expars-gtx480`: [EXPARS] Table 2, the rest\nassumed (`strata designs`). These have \
         launches with more CTAs than fit, of which EXPARS holds more at a time; in the\nothers \
         no CTA has registers elsewhere. {about}\n{}",
        tables(runs)
    )
}

/// The tables of a page: speed by scheduler and by workload, and what binds.
pub(crate) fn tables(runs: &Runs<'_>) -> String {
    let mut page = String::from(
        "\n## Faster than the baseline with the same scheduler, percent\n\
         \n\
         | scheduler | Warpman | EXPARS | paper: EXPARS |\n| --- | ---: | ---: | ---: |\n",
    );
    for Scheduler { name, baseline, warpman, expars, printed } in SCHEDULERS {
        let [warpman, expars] = [warpman, expars].map(|design| runs.mean(design, baseline));
        let _ = writeln!(page, "| {name} | {warpman:.2} | {expars:.2} | {printed:.2} |");
    }
    for (lazy, baseline, printed) in LAZY {
        let gain = runs.mean(lazy, baseline);
        let name = lazy.trim_start_matches("expars-").to_uppercase();
        let _ = writeln!(page, "| {name} | | {gain:.2} | {printed:.2} |");
    }
    for (larger, without) in LARGER {
        let gain = runs.mean(larger, without);
        let _ = writeln!(page, "| `{larger}` against `{without}` | | {gain:.2} | |");
    }
    page.push_str(
        "\nThe last two rows give the 2 KB of the operand cache to the register file instead: the \
         paper prints no effect on the\nbaseline and less than 1 % on Warpman.\n\
         \n\
         ## By workload, loose round robin\n\
         \n\
         | workload | warps | Warpman's | EXPARS' | Warpman, % | EXPARS, % | LTLWS-LRR, % | `W_opt` |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for name in &runs.gaining {
        let warps = |design| runs.warps(name, design, "expars-lrr");
        let than = "expars-gtx480";
        let lazy = runs.reports.get(name, "expars-ltlws-lrr");
        let optimal = expansion(lazy, "optimal_active_warps") as f64 / lazy.launches.len() as f64;
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {optimal:.1} |",
            warps(than),
            warps("warpman-lrr"),
            warps("expars-lrr"),
            runs.faster(name, "warpman-lrr", than),
            runs.faster(name, "expars-lrr", than),
            runs.faster(name, "expars-ltlws-lrr", than),
        );
    }
    energy(&mut page, runs);
    binding(&mut page, runs);
    page
}

/// What the rest of an SM spends besides its storage ([MICRO2012] 5.2, rule 38): dynamic energy
/// for as long as the baseline takes, and leakage. Unit: watts.
const CORE_WATTS: f64 = 1.9;
const LEAKAGE_WATTS: f64 = 0.9;
/// Of machine `expars-gtx480`. Unit: cycles per second.
const CLOCK: f64 = 1.4e9;

impl Runs<'_> {
    /// Energy of accesses of registers, wherever they lie. Unit: femtojoules.
    fn storage_energy(&self, workload: &str, design: &str) -> f64 {
        let report = self.reports.get(workload, design);
        report.energy_fj.as_ref().expect("every design has its energy")["total"] as f64
    }

    /// Energy of accesses of registers and of the rest of the SM, beside a baseline. Unit:
    /// femtojoules.
    fn sm_energy(&self, workload: &str, design: &str, than: &str) -> f64 {
        let femtojoules = |watts: f64, cycles: f64| watts * cycles / CLOCK * 1e15;
        self.storage_energy(workload, design)
            + femtojoules(CORE_WATTS, self.cycles(workload, than))
            + femtojoules(LEAKAGE_WATTS, self.cycles(workload, design))
    }

    /// By how much more a design spends than another, for registers and as an SM. Unit: percent.
    pub(crate) fn more_energy(&self, workload: &str, design: &str, than: &str) -> [f64; 2] {
        let storage = self.storage_energy(workload, design) / self.storage_energy(workload, than);
        let sm = self.sm_energy(workload, design, than) / self.sm_energy(workload, than, than);
        [storage, sm].map(|ratio| 100.0 * (ratio - 1.0))
    }
}

fn energy(page: &mut String, runs: &Runs<'_>) {
    let _ = writeln!(
        page,
        "\n## Energy, percent more than the baseline with the same scheduler\n\
         \n\
         Accesses of registers, in technology `expars-40nm` (DEV-115): those of the register file, of the \
         operand cache and of\nscratchpad memory for registers; and a whole SM, which spends \
         {CORE_WATTS} W more in the baseline's time and {LEAKAGE_WATTS} W in its own\n(rule 38). \
         The paper prints from no effect to 27 % less of a whole GPU's, and no figures.\n\
         \n\
         | workload | EXPARS-LRR, registers | of it operand cache, % | scratchpad, % | SM | EXPARS-GTO, \
         registers | SM | LTLWS-GTO, registers | SM |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    let mut sums = [0.0; 8];
    for name in &runs.gaining {
        let parts = runs.reports.get(name, "expars-lrr").energy_fj.as_ref();
        let parts = parts.expect("every design has its energy");
        let share = |part: &str| 100.0 * parts[part] as f64 / parts["total"] as f64;
        let [storage, sm] = runs.more_energy(name, "expars-lrr", "expars-gtx480");
        let [greedy, greedy_sm] = runs.more_energy(name, "expars-gto", "expars-baseline-gto");
        let [lazy, lazy_sm] = runs.more_energy(name, "expars-ltlws-gto", "expars-baseline-gto");
        let (cache, scratchpad) = (share("operand_cache_bank"), share("scratchpad_bank"));
        let row = [storage, cache, scratchpad, sm, greedy, greedy_sm, lazy, lazy_sm];
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        energy_row(page, name, row);
    }
    energy_row(page, "mean", sums.map(|sum| sum / runs.gaining.len() as f64));
}

fn energy_row(page: &mut String, name: &str, row: [f64; 8]) {
    let cells = row.map(|value| format!("{value:.1}")).join(" | ");
    let _ = writeln!(page, "| {name} | {cells} |");
}

fn binding(page: &mut String, runs: &Runs<'_>) {
    page.push_str(
        "\n## What binds, loose round robin\n\
         \n\
         Shares of issue slots, in the baseline and with EXPARS: no collector unit is free, and waits; \
         EXPARS' waits for registers\nfrom scratchpad memory, and slots that PREF takes, of warps \
         without registers there too. Cycles in which the first warp\nof the prefetching queue waits \
         for lines that other bundles keep; bundles with registers in scratchpad memory, their\n\
         fetches and written victims; operands that the operand cache serves.\n\
         \n\
         | workload | collectors | | arithmetic | | memory | | prefetch | PREF | waits for lines, % | bundles | fetches each | victims each | operands, % |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for name in &runs.gaining {
        binding_row(page, runs, name);
    }
}

fn binding_row(page: &mut String, runs: &Runs<'_>, name: &str) {
    let [baseline, expars] =
        ["expars-gtx480", "expars-lrr"].map(|design| runs.reports.get(name, design));
    let share = |report: &RunReport, reasons: &[&str]| {
        let slots: u64 = reasons.iter().map(|&reason| report.counters[reason]).sum();
        100.0 * slots as f64 / (2 * report.counters["cycles"]) as f64
    };
    let both = |reasons: &[&str]| [share(baseline, reasons), share(expars, reasons)];
    let [arithmetic, more_arithmetic] = both(&["slots_arithmetic"]);
    let [memory, more_memory] = both(&["slots_short_memory", "slots_long_latency"]);
    let [collectors, more_collectors] = both(&["slots_collectors"]);
    let prefetch = share(expars, &["slots_prefetch"]);
    let count = |event| expansion(expars, event) as f64;
    let bundles = count("bundles");
    let reads = count("operand_cache_reads_private") + count("operand_cache_reads_shared");
    let _ = writeln!(
        page,
        "| {name} | {collectors:.1} | {more_collectors:.1} | {arithmetic:.1} | \
         {more_arithmetic:.1} | {memory:.1} | {more_memory:.1} | {prefetch:.1} | {:.1} | {:.1} | {bundles} | {:.2} | {:.2} | {:.1} |",
        50.0 * count("prefetches_issued") / runs.cycles(name, "expars-lrr"),
        100.0 * count("line_wait_cycles") / runs.cycles(name, "expars-lrr"),
        count("registers_fetched") / bundles,
        count("dirty_evictions") / bundles,
        100.0 * reads / (reads + expars.counters["mrf_reads"] as f64),
    );
}
