//! EXPARS on kernels with the CTAs of its Table 3: what is resident, beside the table, and what it
//! is worth in time.
//!
//! The tables are written to `docs/results/expars-kernels.md`, and with `STRATA_FULL_TESTS` at the
//! default size to `expars-kernels-default.md`; the tests compare them with what is committed there,
//! so that no number moves unseen. Set `STRATA_BLESS=1` to write the files again after a change that
//! is meant to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_core::sm::expansion::Threshold;
use strata_figures::reproduce::{self, Selection, lab};
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject;
use strata_study::study::residency::{GROUPS, Resident, Row, run};
use strata_workload::{Group, Toolchain};

use crate::expars::{Runs, designs, tables};
use crate::expars_variants;
use crate::reports::{Reports, hold_page};

/// Our kernels, the kernels of Table 3 with the same CTAs, and the registers of a thread that the
/// table gives them.
const KERNELS: [(&str, &str, u16); 9] = [
    ("lbm", "LBM", 36),
    ("stencil", "ST", 28),
    ("hotspot16", "HS", 36),
    ("btree", "BT", 24),
    ("convolution", "CONV", 24),
    ("xorwow", "EST", 24),
    ("mergesort", "MERG", 24),
    ("quasirandom", "QUA", 32),
    ("pathgen", "SING2", 28),
];

/// A kernel with 32-bit addresses, in no more registers than the table's.
fn source(registers: u16, scale: Scale) -> Source {
    Source { ptx: Some(Toolchain::Nvcc32), registers: Some(registers), ..Source::of(scale) }
}

/// Runs every kernel under every design of EXPARS' page. Reports call it by its plain name.
fn reports(scale: Scale) -> Reports {
    let mut designs = designs();
    designs.extend(expars_variants::designs());
    let all = KERNELS.into_iter().flat_map(|(name, _, registers)| {
        let args = source(registers, scale);
        let Reports(mut all) =
            Reports::of_source(&args, Mode::Cycle, std::iter::once(name), &designs);
        for report in &mut all {
            name.clone_into(&mut report.workload);
        }
        all
    });
    Reports(all.collect())
}

static SMALL: LazyLock<Reports> = LazyLock::new(|| reports(Scale::Small));

/// Figure 13 has the kernels of this page as the page has them.
#[test]
fn the_figure_has_the_numbers_of_the_page() {
    assert_eq!(KERNELS.map(|(name, _, registers)| (name, registers)), lab::KERNELS);
    let (papers, labels) = (vec!["expars".to_owned()], vec!["Figure 13".to_owned()]);
    let selection = Selection { papers, labels, explorer_alone: false };
    let made = reproduce::run(&selection, Scale::Small, 0, &Silent);
    let made = made.expect("the figure is made");
    let panel = &made.panels("expars-performance")[0];
    let expars = panel.series.iter().find(|series| series.name == "EXPARS").expect("a series");
    let mut same = 0;
    for (name, own) in panel.ticks.iter().zip(&expars.values) {
        if KERNELS.iter().any(|(kernel, ..)| kernel == name) {
            let cycles = |design: &str| SMALL.get(name, design).counters["cycles"] as f64;
            let expected = 100.0 * (cycles("expars-gtx480") / cycles("expars-lrr") - 1.0);
            assert!((own.expect("it ran") - expected).abs() < 1e-9, "{name}: {own:?}, {expected}");
            same += 1;
        }
    }
    assert!(same > 5, "{same}: {:?}", panel.ticks);
}

/// Of each kernel what is resident on Fermi at the default size: ours, and the table's.
static RESIDENT: LazyLock<Vec<[Row; 2]>> = LazyLock::new(|| {
    let of = |(name, paper, registers)| {
        let args = source(registers, Scale::Default);
        let request = Request::new(&args).expect("the options are valid");
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        let study = run(&[workload], Threshold::PAPER, &request, 0, &Silent);
        let mut rows = study.expect("it compiles").rows;
        rows.retain(|row| row.machine == "Fermi");
        let table = rows.iter().find(|row| row.group == GROUPS[0] && row.input == paper);
        let own = rows.iter().find(|row| row.group == GROUPS[1] && row.kernel == name);
        [own, table].map(|row| row.expect("there is such a kernel").clone())
    };
    KERNELS.into_iter().map(of).collect()
});

fn resident(row: &Row) -> &Resident {
    row.resident.as_ref().expect("every kernel fits")
}

#[test]
fn the_group_has_the_ctas_of_the_table() {
    assert!(Group::Registers.names().eq(KERNELS.iter().map(|(name, ..)| *name)));
    for ((name, _, registers), [own, table]) in KERNELS.into_iter().zip(&*RESIDENT) {
        assert_eq!(own.threads, table.threads, "{name}");
        assert_eq!(own.scratchpad_bytes, table.scratchpad_bytes, "{name}");
        assert_eq!(table.registers / table.threads, u32::from(registers), "{name}");
        assert!(own.registers <= table.registers, "{name}");
    }
}

#[test]
fn the_committed_page_of_kernels_holds_these_numbers() {
    hold_page("expars-kernels.md", &page(&SMALL, Scale::Small));
}

/// The page at the default size: 10 CPU minutes.
#[test]
fn the_page_of_kernels_at_default_size_holds_these_numbers() {
    if std::env::var_os("STRATA_FULL_TESTS").is_some() {
        let reports = reports(Scale::Default);
        hold_page("expars-kernels-default.md", &page(&reports, Scale::Default));
    }
}

fn page(reports: &Reports, scale: Scale) -> String {
    let (size, about) = match scale {
        Scale::Small => (
            "small",
            "Launches have few CTAs, so that\nthe end of a launch weighs more than [at the default \
             size](expars-kernels-default.md).",
        ),
        _ => ("default", "Run by the full\ntests only ([small sizes](expars-kernels.md) always)."),
    };
    let mut page = format!(
        "# EXPARS on kernels with the CTAs of its Table 3, {size} size\n\
         \n\
         Group `registers` ([workloads](../WORKLOADS.md)): our kernels with 32-bit addresses, in no \
         more registers than the table's,\non machine `expars-gtx480`. {about}\n"
    );
    if matches!(scale, Scale::Small) {
        page += &beside_the_table();
    }
    let names = KERNELS.into_iter().map(|(name, ..)| name);
    let runs = Runs::of(reports, names);
    page += &tables(&runs);
    page += &expars_variants::single_kernels(&runs);
    page += &expars_variants::variants(&runs);
    page + &expars_variants::maxwell(&runs, KERNELS.into_iter().map(|(name, ..)| name))
}

fn beside_the_table() -> String {
    let mut text = String::from(
        "\n## Resident on Fermi at the default size\n\
         \n\
         Registers of a thread, warps, whole and mixed CTAs, and the first register in scratchpad \
         memory, in brackets those\nof the table's kernel ([more](expars-residency.md)).\n\
         \n\
         | workload | table | registers | baseline | Warpman | EXPARS | split | start |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for ((name, paper, _), rows) in KERNELS.into_iter().zip(&*RESIDENT) {
        let [own, table] = rows.each_ref().map(cells);
        let both = own.iter().zip(table).map(|(own, table)| format!("{own} ({table})"));
        let both = both.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| `{name}` | {paper} | {both} |");
    }
    text
}

/// What stands of a kernel in the table.
fn cells(row: &Row) -> [String; 6] {
    let of = resident(row);
    let registers = f64::from(row.registers) / f64::from(row.threads);
    let [split, start] = match of.split {
        Some(split) => {
            [format!("{} + {}", split.whole, split.mixed), split.start_register.to_string()]
        }
        None => ["none", "-"].map(str::to_owned),
    };
    [
        format!("{registers:.1}").trim_end_matches(".0").to_owned(),
        of.baseline.warps.to_string(),
        of.warpman.warps.to_string(),
        of.expars.warps.to_string(),
        split,
        start,
    ]
}
