//! ISCA'11 Figures 6, 11 and 12 and Table 5 on our workloads.
//!
//! The tables are written to `docs/results/isca11.md`; the test compares them with what is
//! committed there, so that no number moves unseen, and asserts the trends that the paper states.
//! Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_design::{self as design, Design};
use strata_measure::options::Mode;
use strata_report::table;

use crate::groups;
use crate::machine_code;
use crate::orders::{OF_TRACES, by_order};
use crate::reports::{Reports, hold_page};

/// Entries that the paper sweeps.
const ENTRIES: std::ops::RangeInclusive<u8> = 1..=13;
/// The three curves of Figure 6 and Figure 11: heading, and suffix of the design's name.
const POLICIES: [(&str, &str); 4] = [
    ("all warps, no liveness", "-nolive-single"),
    ("all warps, liveness", "-single"),
    ("two-level, no liveness", "-nolive"),
    ("two-level, liveness", ""),
];
/// Figure 12's grid.
const GRID: [u8; 3] = [4, 6, 8];
/// Table 5: MRF to ALU and RFC to ALU in millimetres, and the printed normalized energies.
const TABLE_5: [(&str, &str, f64, f64); 4] = [
    ("0", "0", 0.76, 0.74),
    ("1", "1", 0.87, 0.86),
    ("1", "0.2", 0.65, 0.63),
    ("1", "0", 0.63, 0.60),
];
/// How wires are charged (DEV-068): as the model does, and for every trip.
const CHARGES: [&str; 2] = ["once", "each-trip"];

/// Every design of the page, by name.
fn designs() -> Vec<Design> {
    let mut designs = Vec::new();
    for (_, suffix) in POLICIES {
        for entries in ENTRIES {
            designs.push(design::resolve(&format!("isca11-rfc{entries}{suffix}")));
        }
    }
    for entries in GRID {
        for active in GRID {
            designs.push(design::file::parse(
                &grid_name(entries, active),
                &format!(
                    "base = \"isca11-rfc{entries}\"\nactive_warps = {active}\n\
                     [wires]\nmrf_private = \"0 mm\"\nmrf_shared = \"0 mm\"\n\
                     rfc_private = \"0 mm\"\nrfc_shared = \"0 mm\"\n"
                ),
            ));
        }
    }
    for (mrf, rfc, ..) in TABLE_5 {
        for charge in CHARGES {
            designs.push(design::file::parse(
                &wire_name(mrf, rfc, charge),
                &format!(
                    "base = \"isca11-rfc6\"\nwire_charge = \"{charge}\"\n[wires]\n\
                     mrf_private = \"{mrf} mm\"\nmrf_shared = \"{mrf} mm\"\n\
                     rfc_private = \"{rfc} mm\"\nrfc_shared = \"{rfc} mm\"\n"
                ),
            ));
        }
    }
    for suffix in ["-lru", "-lru-single", "-reads", "-single-reads", "-bypass", "-backflush"] {
        for entries in [6, 13] {
            designs.push(design::resolve(&format!("isca11-rfc{entries}{suffix}")));
        }
    }
    designs.into_iter().map(|design| design.expect("the design exists")).collect()
}

fn grid_name(entries: u8, active: u8) -> String {
    format!("grid-{entries}x{active}")
}

fn wire_name(mrf: &str, rfc: &str, charge: &str) -> String {
    // No dot: what follows one would be taken for a file's ending.
    format!("wires-{mrf}-{}-{charge}", rfc.replace('.', "_"))
}

/// Every workload at its small size under every design.
static REPORTS: LazyLock<Reports> = LazyLock::new(|| Reports::of(&designs()));

/// Mean of a ratio over the workloads.
fn mean(design: &str, key: &str) -> f64 {
    let of_design = REPORTS.0.iter().filter(|report| report.design == design);
    table::mean(of_design.map(|report| report.derived[key])).expect("every workload has the ratio")
}

fn reads(design: &str) -> f64 {
    mean(design, "mrf_reads_avoided_percent")
}

fn writes(design: &str) -> f64 {
    mean(design, "mrf_writes_avoided_percent")
}

fn energy(design: &str) -> f64 {
    mean(design, "energy_relative_percent") / 100.0
}

#[test]
fn the_committed_page_holds_these_numbers() {
    hold_page("isca11.md", &page());
}

#[test]
fn more_entries_avoid_more_accesses() {
    for (_, suffix) in POLICIES {
        for entries in ENTRIES.skip(1) {
            let (fewer, more) = (
                format!("isca11-rfc{}{suffix}", entries - 1),
                format!("isca11-rfc{entries}{suffix}"),
            );
            // FIFO may lose a little on a single kernel (Belady), never on the mean by a point.
            assert!(reads(&more) > reads(&fewer) - 0.5, "{more}: {} reads", reads(&more));
            assert!(writes(&more) > writes(&fewer) - 0.5, "{more}: {} writes", writes(&more));
        }
    }
}

#[test]
fn a_single_entry_already_helps_and_the_knee_is_near_six() {
    assert!(reads("isca11-rfc1-single") > 5.0);
    let gain = |from: u8, to: u8| {
        let at = |entries: u8| reads(&format!("isca11-rfc{entries}-single"));
        (at(to) - at(from)) / f64::from(to - from)
    };
    assert!(gain(1, 6) > 2.0 * gain(6, 13), "{} and {}", gain(1, 6), gain(6, 13));
}

#[test]
fn liveness_spares_writes_and_never_changes_reads() {
    for entries in ENTRIES {
        for scheduler in ["", "-single"] {
            let live = format!("isca11-rfc{entries}{scheduler}");
            let plain = format!("isca11-rfc{entries}-nolive{scheduler}");
            assert!(writes(&live) > writes(&plain), "{live}");
            // Dead entries make room, so reads may be avoided too, never lost.
            assert!(reads(&live) >= reads(&plain) - 1e-6, "{live}");
        }
    }
}

#[test]
fn flushing_at_deschedules_costs_accesses() {
    for entries in [4, 6, 8] {
        let (two, one) = (format!("isca11-rfc{entries}"), format!("isca11-rfc{entries}-single"));
        assert!(reads(&two) <= reads(&one) + 1e-6, "{two}");
        assert!(reads(&one) - reads(&two) < 25.0, "{two}");
    }
}

#[test]
fn energy_follows_the_tables() {
    for (active, entries) in [(4, 4), (6, 6), (8, 8)] {
        assert!(energy(&grid_name(entries, active)) < 1.0, "{entries} entries, {active} warps");
    }
    // Entries x warps sizes the array: 4 x 8 costs what 8 x 4 costs for each access.
    for charge in CHARGES {
        let [free, equal, near, nearest] =
            TABLE_5.map(|(mrf, rfc, ..)| energy(&wire_name(mrf, rfc, charge)));
        assert!(nearest < near && near < equal, "closer is cheaper");
        assert!(near < free, "with wires, avoiding the far register file saves more");
        assert!(free < equal, "equal wires dilute the saving in the banks");
    }
}

/// The rows of Table 5 with the main register file at 1 mm, the cache there too, at 0.2 and at 0 mm.
#[test]
fn wires_charged_once_give_table_5() {
    let rows = |charge: &str| {
        TABLE_5.map(|(mrf, rfc, ..)| format!("{:.3}", energy(&wire_name(mrf, rfc, charge))))
    };
    assert_eq!(rows("once"), ["0.749", "0.863", "0.635", "0.578"]);
    assert_eq!(rows("each-trip"), ["0.749", "0.914", "0.645", "0.578"]);
    // At the distances of `isca11` itself.
    assert_eq!(format!("{:.3}", energy("isca11-rfc6")), rows("once")[2]);
}

fn page() -> String {
    let mut page = String::from(
        "# ISCA'11 on our workloads\n\n\
         Mean over the twelve workloads at their small size, in count mode and, but for the last\n\
         table, in the order of the PTX. The papers' figures are known from their text only (the plots are not in our copies), on other workloads:\n\
         they are shown beside ours and never fitted. This page is checked by\n\
         `cargo test -p strata-tests --test shape`.\n\n## Accesses avoided (Figures 6 and 11)\n\n",
    );
    let _ = writeln!(
        page,
        "MRF accesses avoided in percent of the flat register file's: reads / writes.\n"
    );
    let _ =
        writeln!(page, "| entries |{}", POLICIES.map(|(name, _)| format!(" {name} |")).concat());
    let _ = writeln!(page, "| ---: |{}", " ---: |".repeat(POLICIES.len()));
    for entries in ENTRIES {
        let _ = write!(page, "| {entries} |");
        for (_, suffix) in POLICIES {
            let name = format!("isca11-rfc{entries}{suffix}");
            let _ = write!(page, " {:.1} / {:.1} |", reads(&name), writes(&name));
        }
        page.push('\n');
    }
    page.push_str(
        "| paper, 6 | 45-75 / 35-75 | writes 10-15 more | 40-60 / 30-60 | 40-60 / 40-80 |\n\
         | paper, 13 | 65-90 of both | | | |\n",
    );
    page.push_str(&policies());
    page.push_str(&grid());
    page.push_str(&wires());
    page.push_str(&by_workload());
    page.push_str(&beside_machine_code());
    page.push_str(&groups::section(&groups::table(&["isca11-rfc6"])));
    let designs = ["isca11-rfc3", "isca11-rfc6", "isca11-rfc6-bypass", "isca11-rfc6-single"];
    page.push_str(&by_order(&designs, "isca11", OF_TRACES));
    page
}

fn policies() -> String {
    let mut text = String::from(
        "\n## Policies (ISCA'11 3.1, 5.3; dissertation 5.4, 6.6.2)\n\n\
         | design | reads avoided | writes avoided | RFC writebacks per 100 instructions |\n\
         | --- | ---: | ---: | ---: |\n",
    );
    for entries in [6, 13] {
        for suffix in [
            "",
            "-lru",
            "-reads",
            "-bypass",
            "-backflush",
            "-single",
            "-lru-single",
            "-single-reads",
        ] {
            let name = format!("isca11-rfc{entries}{suffix}");
            let writebacks = mean(&name, "rfc_writebacks_per_100_instructions");
            let _ = writeln!(
                text,
                "| `{name}` | {:.1} % | {:.1} % | {writebacks:.1} |",
                reads(&name),
                writes(&name)
            );
        }
    }
    text.push_str(
        "\n\
        Paper: LRU 1-2 % fewer accesses (dissertation: only above 6 entries); reads-allocate 5 %\n\
         fewer reads with a large RFC and 10-20 % more writes; liveness-aware bypass and eviction\n\
         1-2 % fewer accesses and 30 % fewer writebacks.\n",
    );
    text
}

fn grid() -> String {
    let mut text = String::from(
        "\n## Energy without wires (Figure 12)\n\n\
         Register file energy relative to the flat design, two-level, liveness.\n\n\
         | entries | 4 active warps | 6 active | 8 active |\n| ---: | ---: | ---: | ---: |\n",
    );
    for entries in GRID {
        let cells = GRID.map(|active| format!(" {:.3} |", energy(&grid_name(entries, active))));
        let _ = writeln!(text, "| {entries} |{}", cells.concat());
    }
    text.push_str(
        "| paper, 6 | | | 0.75 |\n\n\
         Paper: saves 20 % to 40 % \"for a variety of design points\".\n",
    );
    text
}

fn wires() -> String {
    let mut text = String::from(
        "\n## Energy with wires (Table 5: 8 active warps, 6 entries)\n\n\
         | MRF to ALU (mm) | RFC to ALU (mm) | ours | each trip charged | paper, compute | \
         paper, shaders |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (mrf, rfc, compute, shaders) in TABLE_5 {
        let [once, each] = CHARGES.map(|charge| energy(&wire_name(mrf, rfc, charge)));
        let _ = writeln!(text, "| {mrf} | {rfc} | {once:.3} | {each:.3} | {compute} | {shaders} |");
    }
    text.push_str(
        "\nA value pays each stretch of its way once; *each trip charged*: a writeback pays for the\n\
         way from the ALUs again (DEV-068).\n",
    );
    text
}

fn by_workload() -> String {
    let mut text = String::from(
        "\n## `isca11-rfc6` by workload\n\n\
         | workload | reads avoided | writes avoided | energy | values read once | \
         read once within 3 |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for report in REPORTS.0.iter().filter(|report| report.design == "isca11-rfc6") {
        let ratio = |key: &str| report.derived[key].expect("the ratio exists");
        let _ = writeln!(
            text,
            "| {} | {:.1} % | {:.1} % | {:.3} | {:.1} % | {:.1} % |",
            report.workload,
            ratio("mrf_reads_avoided_percent"),
            ratio("mrf_writes_avoided_percent"),
            ratio("energy_relative_percent") / 100.0,
            ratio("values_read_once_percent"),
            ratio("values_read_once_within_3_instructions_percent"),
        );
    }
    text.push_str(
        "\nPaper: 60-70 % of values read once, 40-50 % read once and within 3 instructions.\n",
    );
    text
}

fn beside_machine_code() -> String {
    let (two, one) = ("isca11-rfc6", "isca11-rfc6-single");
    let designs = [two, one].map(|name| design::resolve(name).expect("the design exists"));
    let machine = machine_code::recorded(Mode::Count, &designs);
    let cells = |reports: &Reports, name: &str| {
        let ratio = |design: &str, key: &str| {
            reports.get(name, design).derived[key].expect("the ratio exists")
        };
        let avoided = |design: &str| {
            let of = |what: &str| ratio(design, &format!("mrf_{what}_avoided_percent"));
            format!("{:.1} / {:.1}", of("reads"), of("writes"))
        };
        format!(
            "{} | {} | {:.3} | {:.1} % | {:.1} %",
            avoided(one),
            avoided(two),
            ratio(two, "energy_relative_percent") / 100.0,
            ratio(two, "values_read_once_percent"),
            ratio(two, "values_read_once_within_3_instructions_percent"),
        )
    };
    format!(
        "\n## Machine code beside PTX (6 entries)\n\n\
         Recordings of NVIDIA's machine code of `sm_80`, and our PTX of the same algorithms; [why they\n\
         differ](machine-code.md). Accesses avoided in percent, reads / writes; not in the means above.\n\n\
         | input | all warps | two-level | energy | values read once | read once within 3 |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n{}",
        machine_code::lines(&REPORTS, &machine, cells)
    )
}
