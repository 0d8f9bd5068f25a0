//! The dissertation's hardware hierarchies of two and three levels (6.5.1, 6.5.2, 6.5.4: Figures
//! 6.10, 6.11 and 6.13) on our workloads.
//!
//! The tables are written to `docs/results/dissertation-hardware.md`; the test compares them with
//! what is committed there, so that no number moves unseen, and asserts what must hold. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_design as design;
use strata_measure::options::Mode;
use strata_workload::{self as workload, Toolchain};

use crate::groups;
use crate::machine_code;
use crate::orders::{OF_THE_DISSERTATION, by_order};
use crate::reports::{OF_PTX, Reports, beside, by, hold_page, labelled, mean, sizes};

/// Entries that the dissertation sweeps.
const ENTRIES: std::ops::RangeInclusive<u8> = 1..=8;
/// The flat register file.
const FLAT: &str = "dissertation";
/// Suffixes of the designs: two levels, three levels, both without liveness.
const FAMILIES: [&str; 4] = ["", "-lrf", "-nolive", "-lrf-nolive"];

fn name(entries: u8, suffix: &str) -> String {
    format!("diss-rfc{entries}{suffix}")
}

/// Every workload at its small size with each toolchain's PTX, under every design, and under the
/// flat register file.
static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let names = ENTRIES.flat_map(|entries| FAMILIES.map(|suffix| name(entries, suffix)));
    Reports::of_each_ptx(names.chain([FLAT.to_owned()]))
});

fn reads(design: &str, counters: &[&str]) -> f64 {
    REPORTS.share(design, counters, &beside(design, FLAT), "mrf_reads")
}

fn writes(design: &str, counters: &[&str]) -> f64 {
    REPORTS.share(design, counters, &beside(design, FLAT), "mrf_writes")
}

/// Reads that move values down, which the flat register file has not.
const MOVES: [&str; 3] = ["rfc_writebacks", "lrf_evictions", "lrf_writebacks"];
/// Results written straight to the main register file, and those written to the cache.
const MAIN_RESULTS: [&str; 2] = ["mrf_writes_private", "mrf_writes_shared"];
const CACHE_RESULTS: [&str; 2] = ["rfc_writes_private", "rfc_writes_shared"];

/// Energy relative to the flat register file's.
fn energy_of(workload: &str, design: &str) -> f64 {
    let energy = REPORTS.get(workload, design).derived["energy_relative_percent"];
    energy.expect("Table 4.5 has every size") / 100.0
}

fn energy(design: &str) -> f64 {
    mean(|name| energy_of(name, design))
}

/// The size with the least energy.
fn best(suffix: &str) -> u8 {
    let energies = ENTRIES.map(|entries| (entries, energy(&name(entries, suffix))));
    energies.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are sizes").0
}

#[test]
fn the_committed_page_of_the_hardware_hierarchies_holds_these_numbers() {
    hold_page("dissertation-hardware.md", &page());
}

#[test]
fn every_operand_is_served_and_every_result_written_once() {
    for report in &REPORTS.0 {
        let counter = |name: &str| report.counters[name];
        let flat = &REPORTS.get(&report.workload, &beside(&report.design, FLAT)).counters;
        let at = format!("{}, {}", report.workload, report.design);
        let served = counter("mrf_reads") + counter("rfc_reads") + counter("lrf_reads");
        let twice = counter("rfc_partial_hits") + counter("lrf_partial_hits");
        assert_eq!(served - twice, flat["mrf_reads"], "{at}");
        let results = MAIN_RESULTS.iter().chain(&CACHE_RESULTS).chain(&["lrf_writes"]);
        let written: u64 = results.map(|name| counter(name)).sum();
        assert_eq!(written, flat["mrf_writes"], "{at}");
        let left = ["lrf_evictions", "lrf_writebacks", "lrf_drops"].map(counter);
        assert_eq!(left.iter().sum::<u64>(), counter("lrf_allocations"), "{at}");
        let has_last = report.design.contains("-lrf");
        assert_eq!(counter("lrf_writes") != 0, has_last, "{at}");
    }
}

/// One entry more, and the cheapest: the dissertation's finding for every size.
#[test]
fn a_last_result_file_saves_energy_and_reads_at_every_size() {
    for entries in ENTRIES {
        let (two, three) = (name(entries, ""), name(entries, "-lrf"));
        println!(
            "{entries} entries: {:.3} with two levels, {:.3} with three",
            energy(&two),
            energy(&three)
        );
        assert!(energy(&three) < energy(&two), "{entries}: {} {}", energy(&three), energy(&two));
        let (two, three) = (reads(&two, &["mrf_reads"]), reads(&three, &["mrf_reads"]));
        assert!(three < two, "{entries} entries: {three} and {two} % of the reads");
    }
}

#[test]
fn liveness_saves_energy_with_and_without_a_last_result_file() {
    for entries in ENTRIES {
        for (live, plain) in [("", "-nolive"), ("-lrf", "-lrf-nolive")] {
            let (live, plain) = (name(entries, live), name(entries, plain));
            assert!(energy(&live) < energy(&plain), "{live}: {} {}", energy(&live), energy(&plain));
        }
    }
}

/// 1.23 reads and 0.8 writes for each instruction; here it is the shape that counts: the smallest
/// level serves a good part of the reads for a small part of the energy.
#[test]
fn the_last_result_file_serves_many_reads_for_little_energy() {
    for entries in ENTRIES {
        let design = name(entries, "-lrf");
        let served = reads(&design, &["lrf_reads"]);
        println!("{design}: {served:.1} % of the reads, paper 30 % and a third");
        assert!((10.0..60.0).contains(&served), "{design}: {served} %");
        for workload in workload::names() {
            let spent = REPORTS.get(workload, &design).energy_fj.as_ref().expect("known");
            let own = spent["lrf_bank"] + spent["lrf_wire"];
            assert!(own * 5 < spent["total"], "{workload}, {design}: {own} of {}", spent["total"]);
        }
    }
}

fn page() -> String {
    let mut page = String::from(
        "# The dissertation's hardware hierarchies on our workloads\n\n\
         Mean over the twelve workloads at their small size, in count mode and, but for the last\n\
         table, in the order of the PTX; two-level scheduler with 8 active warps, FIFO, liveness. The\n\
         figures are known from their text only (the plots are not in our copies), on other workloads:\n\
         what the text claims is shown beside ours and never fitted. This page is checked by `cargo test -p strata-tests --test shape`.\n\n",
    );
    page.push_str(OF_PTX);
    let [nvcc, nvcc32, clang, clang32] =
        Toolchain::ALL.map(|toolchain| format!("{:.3}", energy(&by(toolchain, &name(6, "-lrf")))));
    let _ = writeln!(
        page,
        "\nThe spread, as energy of 6 entries with an LRF: {nvcc} with nvcc, {nvcc32} with nvcc32, {clang} with\n\
         clang, {clang32} with clang32; paper 0.59."
    );
    page.push_str(&reads_by_level());
    page.push_str(&writes_by_level());
    page.push_str(&energy_by_size());
    page.push_str(&breakdown());
    page.push_str(&by_workload());
    page.push_str(&beside_machine_code());
    page.push_str(&groups::section(&groups::table(&["diss-rfc6-lrf"])));
    let designs = ["diss-rfc6", "diss-rfc3-lrf", "diss-rfc6-lrf"];
    page.push_str(&by_order(&designs, "dissertation", OF_THE_DISSERTATION));
    page
}

fn reads_by_level() -> String {
    let mut text = String::from(
        "\n## Reads (Figures 6.10 and 6.11)\n\n\
         In percent of the flat register file's reads. *Moves* are reads for evictions and writebacks,\n\
         on top of the operands.\n\n\
         | entries | MRF | RFC | moves | with LRF: MRF | RFC | LRF | moves |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (size, entries, toolchain) in sizes(ENTRIES) {
        let [two, three] = ["", "-lrf"].map(|suffix| by(toolchain, &name(entries, suffix)));
        let _ = writeln!(
            text,
            "| {size} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
            reads(&two, &["mrf_reads"]),
            reads(&two, &["rfc_reads"]),
            reads(&two, &MOVES),
            reads(&three, &["mrf_reads"]),
            reads(&three, &["rfc_reads"]),
            reads(&three, &["lrf_reads"]),
            reads(&three, &MOVES),
        );
    }
    text.push_str(
        "\nPaper: two levels make 20 % more reads than a software hierarchy, all of them writebacks; the\n\
         LRF serves 30 % of the reads (6.5.2), a third (6.5.4).\n",
    );
    text
}

fn writes_by_level() -> String {
    let mut text = String::from(
        "\n## Writes (Figures 6.10 and 6.11)\n\n\
         In percent of the flat register file's writes: results by the level that they are written to,\n\
         and the writes of *moves*, to RFC and MRF.\n\n\
         | entries | MRF | RFC | moves | with LRF: MRF | RFC | LRF | moves |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (size, entries, toolchain) in sizes(ENTRIES) {
        let [two, three] = ["", "-lrf"].map(|suffix| by(toolchain, &name(entries, suffix)));
        let _ = writeln!(
            text,
            "| {size} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
            writes(&two, &MAIN_RESULTS),
            writes(&two, &CACHE_RESULTS),
            writes(&two, &MOVES),
            writes(&three, &MAIN_RESULTS),
            writes(&three, &CACHE_RESULTS),
            writes(&three, &["lrf_writes"]),
            writes(&three, &MOVES),
        );
    }
    text.push_str("\nPaper: overhead writes of 40 % with three levels in hardware (6.5.2).\n");
    text
}

fn energy_by_size() -> String {
    let mut text = String::from(
        "\n## Energy (Figure 6.13)\n\n\
         Bank and wire energy relative to the flat register file.\n\n\
         | entries | two levels | three levels | two, no liveness | three, no liveness |\n\
         | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (size, entries, toolchain) in sizes(ENTRIES) {
        let energy = |suffix: &str| energy(&by(toolchain, &name(entries, suffix)));
        let cells = FAMILIES.map(|suffix| format!(" {:.3} |", energy(suffix)));
        let _ = writeln!(text, "| {size} |{}", cells.concat());
    }
    text.push_str("| paper, 3 | 0.66 | | | |\n| paper, 6 | | 0.59 | | |\n");
    let _ = writeln!(
        text,
        "\nBest size: {} entries with two levels (paper: 3), {} with three (paper: 6). Paper, on its\n\
         two-level traces: liveness is worth 10 to 20 %.",
        best(""),
        best("-lrf")
    );
    text
}

fn breakdown() -> String {
    let mut text = String::from(
        "\n## Where the energy goes\n\n\
         In percent of the flat register file's energy; *moves* are evictions and writebacks, with the\n\
         banks and the wires that they use.\n\n\
         | design | MRF bank | MRF wire | RFC bank | RFC wire | LRF bank | LRF wire | moves, bank | \
         moves, wire |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let parts = [
        "mrf_bank",
        "mrf_wire",
        "rfc_bank",
        "rfc_wire",
        "lrf_bank",
        "lrf_wire",
        "writeback_bank",
        "writeback_wire",
    ];
    let designs = [name(3, ""), name(6, ""), name(3, "-lrf"), name(6, "-lrf")];
    let rows = designs.iter().flat_map(|design| Toolchain::ALL.map(|ptx| (design, ptx)));
    for (design, toolchain) in rows {
        let _ = write!(text, "| {} |", labelled(&format!("`{design}`"), toolchain));
        let design = by(toolchain, design);
        for part in parts {
            let shares = workload::names().map(|workload| {
                let of = |design: &str| {
                    REPORTS.get(workload, design).energy_fj.as_ref().expect("known").clone()
                };
                of(&design)[part] as f64 * 100.0 / of(&beside(&design, FLAT))["total"] as f64
            });
            let shares: Vec<f64> = shares.collect();
            let _ = write!(text, " {:.1} |", shares.iter().sum::<f64>() / shares.len() as f64);
        }
        text.push('\n');
    }
    text
}

fn by_workload() -> String {
    let mut text = String::from(
        "\n## By workload\n\n\
         Energy relative to the flat register file, and what the LRF of `diss-rfc6-lrf` does.\n\n\
         | workload | `diss-rfc3` | `diss-rfc6` | `diss-rfc3-lrf` | `diss-rfc6-lrf` | reads served | \
         results taken | of them moved down |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let rows = workload::names()
        .flat_map(|name| [Toolchain::Nvcc, Toolchain::Nvcc32].map(|toolchain| (name, toolchain)));
    for (workload, toolchain) in rows {
        let cells = cells(&REPORTS, workload, toolchain);
        let _ = writeln!(text, "| {} | {cells} |", labelled(workload, toolchain));
    }
    text
}

/// Designs of which an input's line shows the energy.
fn shown() -> [String; 4] {
    [(3, ""), (6, ""), (3, "-lrf"), (6, "-lrf")].map(|(entries, suffix)| name(entries, suffix))
}

fn cells(reports: &Reports, input: &str, toolchain: Toolchain) -> String {
    let mut text = String::new();
    for design in shown().map(|design| by(toolchain, &design)) {
        let energy = reports.get(input, &design).derived["energy_relative_percent"];
        let _ = write!(text, "{:.3} | ", energy.expect("Table 4.5 has every size") / 100.0);
    }
    let own = &reports.get(input, &by(toolchain, "diss-rfc6-lrf")).counters;
    let flat = &reports.get(input, &by(toolchain, FLAT)).counters;
    let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole as f64;
    let _ = write!(
        text,
        "{:.1} % | {:.1} % | {:.1} %",
        percent(own["lrf_reads"], flat["mrf_reads"]),
        percent(own["lrf_writes"], flat["mrf_writes"]),
        percent(own["lrf_evictions"], own["lrf_writes"]),
    );
    text
}

fn beside_machine_code() -> String {
    let names = shown().into_iter().chain([FLAT.to_owned()]);
    let designs: Vec<_> =
        names.map(|name| design::resolve(&name).expect("the design exists")).collect();
    let machine = machine_code::recorded(Mode::Count, &designs);
    format!(
        "\n## Machine code beside PTX\n\n\
         Recordings of NVIDIA's machine code of `sm_80`, and our PTX of the same algorithms; [why they\n\
         differ](machine-code.md). Not in the means above.\n\n\
         | input | `diss-rfc3` | `diss-rfc6` | `diss-rfc3-lrf` | `diss-rfc6-lrf` | reads served | \
         results taken | of them moved down |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{}",
        machine_code::lines(&REPORTS, &machine, |reports, input| {
            cells(reports, input, Toolchain::default())
        })
    )
}
