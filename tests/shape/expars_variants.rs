//! EXPARS on a register file with other banks, and on schedulers that share the warps otherwise;
//! and what the paper says of single kernels.

use std::fmt::Write as _;

use strata_design::{self as design, Design};

use crate::expars::Runs;

/// Another machine under the same program: its name, and what a design file says of it.
struct Variant {
    what: &'static str,
    suffix: &'static str,
    file: &'static str,
}

const VARIANTS: [Variant; 5] = [
    Variant {
        what: "registers sorted in every launch (DEV-109)",
        suffix: "sorted",
        file: "[registers]\nsorted = true\n",
    },
    Variant {
        what: "one scheduler for both issue slots (DEV-111)",
        suffix: "shared",
        file: "schedulers = \"shared\"\n",
    },
    Variant { what: "one issue slot", suffix: "one-slot", file: "issue_slots = 1\n" },
    Variant {
        what: "four banks of one port (DEV-110)",
        suffix: "4-banks",
        file: "[collectors]\nbank_ports = \"one\"\n",
    },
    Variant {
        what: "sixteen banks of one port (DEV-110)",
        suffix: "16-banks",
        file: "[collectors]\nbanks = 16\nbank_ports = \"one\"\n",
    },
];

/// The baseline and EXPARS with loose round robin.
const BOTH: [&str; 2] = ["expars-gtx480", "expars-lrr"];

/// The baseline and EXPARS with loose round robin on Maxwell, and Warpman between them.
const MAXWELL: [&str; 3] = ["expars-maxwell", "warpman-lrr-maxwell", "expars-lrr-maxwell"];

fn named(base: &str, suffix: &str) -> String {
    format!("{base}-{suffix}")
}

pub(crate) fn designs() -> Vec<Design> {
    let of = |variant: &Variant| {
        BOTH.map(|base| {
            let name = named(base, variant.suffix);
            let text = format!("name = \"{name}\"\nbase = \"{base}\"\n{}", variant.file);
            design::file::parse("variant.toml", &text).expect("the design is valid")
        })
    };
    let maxwell = MAXWELL.map(|name| design::resolve(name).expect("the design exists"));
    VARIANTS.iter().flat_map(of).chain(maxwell).collect()
}

/// The table of variants.
pub(crate) fn variants(runs: &Runs<'_>) -> String {
    let mut text = String::from(
        "\n## Other banks and schedulers, loose round robin\n\
         \n\
         Two schedulers with the warps of one parity each, and four banks that read and write in a \
         cycle, are the machine's. The\nbaseline's cycles on other machines, and by how much EXPARS \
         is faster than the baseline of the same machine, percent.\nA baseline with sorted registers \
         has the order that EXPARS gives them: what is left is not of that order.\n\
         \n\
         | workload | baseline, cycles | EXPARS, % |",
    );
    for Variant { what, .. } in &VARIANTS {
        let _ = write!(text, " {what}: baseline, % of the cycles | EXPARS, % |");
    }
    text += "\n| --- | ---: | ---: |";
    text += &" ---: | ---: |".repeat(VARIANTS.len());
    text.push('\n');
    let mut sums = vec![0.0; 1 + 2 * VARIANTS.len()];
    for name in &runs.gaining {
        let [baseline, expars] = BOTH;
        let mut row = vec![runs.faster(name, expars, baseline)];
        for Variant { suffix, .. } in &VARIANTS {
            let [other, with] = BOTH.map(|base| named(base, suffix));
            row.push(100.0 * runs.cycles(name, &other) / runs.cycles(name, baseline));
            row.push(runs.faster(name, &with, &other));
        }
        let cycles = runs.cycles(name, baseline).to_string();
        sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
        let _ = writeln!(text, "| {name} | {cycles} | {} |", cells(&row));
    }
    let mean: Vec<f64> = sums.iter().map(|sum| sum / runs.gaining.len() as f64).collect();
    let _ = writeln!(text, "| mean | | {} |", cells(&mean));
    text
}

/// What the other machine of the paper's Table 2 makes of the same kernels.
pub(crate) fn maxwell(runs: &Runs<'_>, names: impl Iterator<Item = &'static str>) -> String {
    let mut text = String::from(
        "\n## Maxwell, loose round robin\n\
         \n\
         The paper has Maxwell's resident CTAs only (its Figures 16 and 17); time is our addition. \
         The same kernels, with the\nregisters that Fermi gives them.\n\
         \n\
         | workload | warps | Warpman's | EXPARS' | Warpman, % | EXPARS, % |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let [baseline, warpman, expars] = MAXWELL;
    for name in names {
        let warps = |design| runs.warps(name, design, expars);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {:.1} | {:.1} |",
            warps(baseline),
            warps(warpman),
            warps(expars),
            runs.faster(name, warpman, baseline),
            runs.faster(name, expars, baseline),
        );
    }
    text
}

fn cells(row: &[f64]) -> String {
    let cells: Vec<String> = row.iter().map(|value| format!("{value:.1}")).collect();
    cells.join(" | ")
}

/// What the paper says of a kernel, with ours. Unit: percent.
pub(crate) fn single_kernels(runs: &Runs<'_>) -> String {
    let faster =
        |name: &str, design: &str, than: &str| format!("{:.1}", runs.faster(name, design, than));
    let [lrr, gto, tl] = ["expars-gtx480", "expars-baseline-gto", "expars-baseline-tl"];
    let each = |name: &str, [first, second, third]: [&str; 3]| {
        format!(
            "{}, {}, {}",
            faster(name, first, lrr),
            faster(name, second, gto),
            faster(name, third, tl)
        )
    };
    let expars = ["expars-lrr", "expars-gto", "expars-tl"];
    let warpman = ["warpman-lrr", "warpman-gto", "warpman-tl"];
    let order =
        |name| format!("{}, {}", faster(name, "warpman-lrr", lrr), faster(name, "expars-lrr", lrr));
    let energy = |name: &str| format!("{:.1}", runs.more_energy(name, "expars-ltlws-lrr", lrr)[1]);
    let mut text = String::from(
        "\n## What the paper says of single kernels\n\
         \n\
         Percent faster than the baseline, or percent more energy ([EXPARS] 4.4 and 4.5). MQ, SGE \
         and LEUK are not in the group.\n\
         \n\
         | kernel | paper | ours |\n| --- | --- | --- |\n",
    );
    let rows = [
        ("BT, EXPARS with LRR, GTO, TL", "about 30 with each", each("btree", expars)),
        ("BT, Warpman with LRR, GTO, TL", "less than 20", each("btree", warpman)),
        ("EST, Warpman with LRR", "loses significantly", faster("xorwow", warpman[0], lrr)),
        ("MERG with LRR: Warpman, EXPARS", "Warpman is better", order("mergesort")),
        ("SING2 with LRR: Warpman, EXPARS", "Warpman is better", order("pathgen")),
        ("ST, energy, LTLWS-LRR", "about -10, of a GPU", energy("stencil")),
        ("EST, energy, LTLWS-LRR", "about -10, of a GPU", energy("xorwow")),
    ];
    for (kernel, paper, ours) in rows {
        let _ = writeln!(text, "| {kernel} | {paper} | {ours} |");
    }
    text
}
