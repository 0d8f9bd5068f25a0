//! Registers in scratchpad memory: `[EXPARS]` Figures 1, 2 and 10 to 17, Table 4.

use super::panel::{MEAN, panel, with_mean};
use super::plate::{Needs, Plate, timed};
use crate::reproduce::figure::{Figure, Kind, Series};
use crate::reproduce::lab::{Lab, Runs};
use strata_files::failure::Failure;
use strata_report::RunReport;
use strata_study::exact;
use strata_study::study::residency::{GROUPS, Resident, Row, Study, Taken, WayMeans};

const BASELINE: &str = "expars-gtx480";
const COMMAND: &str = "strata study residency";
const KERNELS: &str = "kernel of Table 3";

/// A scheduler, the baseline with it, Warpman and EXPARS.
const SCHEDULERS: [(&str, [&str; 3]); 3] = [
    ("LRR", [BASELINE, "warpman-lrr", "expars-lrr"]),
    ("GTO", ["expars-baseline-gto", "warpman-gto", "expars-gto"]),
    ("TL", ["expars-baseline-tl", "warpman-tl", "expars-tl"]),
];
/// The lazy two-level scheduler, and the baseline with the same inner one.
const LAZY: [(&str, [&str; 2]); 2] = [
    ("LTLWS-LRR", [BASELINE, "expars-ltlws-lrr"]),
    ("LTLWS-GTO", ["expars-baseline-gto", "expars-ltlws-gto"]),
];

/// What is resident in one of the ways.
type Way = fn(&Resident) -> &Taken;

pub(super) const PLATES: &[Plate] = &[
    Plate { id: "utilization-baseline", needs: Vec::new, draw: baseline },
    Plate { id: "utilization-oracle", needs: Vec::new, draw: oracle },
    Plate { id: "utilization-ways", needs: Vec::new, draw: utilization },
    Plate { id: "mixed-ctas", needs: Vec::new, draw: mixed },
    Plate { id: "resident-ctas", needs: Vec::new, draw: parallelism },
    Plate { id: "storage-required", needs: Vec::new, draw: required },
    Plate { id: "maxwell-ctas", needs: Vec::new, draw: maxwell_ctas },
    Plate { id: "maxwell-utilization", needs: Vec::new, draw: maxwell_utilization },
    Plate { id: "expars-performance", needs: designs, draw: performance },
    Plate { id: "expars-lazy", needs: designs, draw: lazy },
    Plate { id: "expars-energy", needs: designs, draw: energy },
];

fn designs() -> Needs {
    let all = || {
        let schedulers = SCHEDULERS.into_iter().flat_map(|(_, designs)| designs);
        let mut names: Vec<&str> = schedulers.chain(LAZY.map(|(_, [_, lazy])| lazy)).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let mut needs = timed(Runs::General, all());
    needs.extend(timed(Runs::Registers, all()));
    needs
}

/// Kernels of the paper's table on a machine, with what is resident.
fn kernels<'a>(study: &'a Study, machine: &str) -> Vec<(&'a Row, &'a Resident)> {
    let of = study.rows.iter().filter(|row| row.machine == machine && row.group == GROUPS[0]);
    of.filter_map(|row| Some((row, row.resident.as_ref()?))).collect()
}

/// A share of each kernel, and the mean.
fn shares(name: &str, kernels: &[(&Row, &Resident)], of: impl Fn(&Resident) -> f64) -> Series {
    let values = kernels.iter().map(|(_, resident)| Some(of(resident))).collect();
    Series::ours(name, with_mean(values))
}

fn axis(kernels: &[(&Row, &Resident)]) -> Vec<String> {
    let names = kernels.iter().map(|(row, _)| row.input.clone());
    names.chain([MEAN.to_owned()]).collect()
}

fn baseline(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let all = kernels(study, "Fermi");
    Ok(vec![Figure {
        series: vec![
            shares("register file", &all, |one| one.baseline.registers_percent),
            shares("scratchpad memory", &all, |one| one.baseline.scratchpad_percent),
            shares("both", &all, |one| one.baseline.both_percent),
        ],
        reading: "The register file is full while most of the scratchpad memory is empty."
            .to_owned(),
        command: COMMAND.to_owned(),
        ..panel("Storage in use in the baseline", Kind::Bars, (KERNELS, "in use (%)"), axis(&all))
    }])
}

/// CTAs and utilization in some ways.
fn ways(
    lab: &Lab<'_>,
    ways: &[(&str, Way)],
    (titles, reading): ([&str; 2], &str),
) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let all = kernels(study, "Fermi");
    let figure = |title: &str, y: &str, of: fn(&Taken) -> f64| Figure {
        series: ways
            .iter()
            .map(|&(name, way)| shares(name, &all, |resident| of(way(resident))))
            .collect(),
        reading: reading.to_owned(),
        command: COMMAND.to_owned(),
        ..panel(title, Kind::Bars, (KERNELS, y), axis(&all))
    };
    Ok(vec![
        figure(titles[0], "in use (%)", |taken| taken.both_percent),
        figure(titles[1], "resident CTAs", |taken| taken.ctas.into()),
    ])
}

fn oracle(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    ways(
        lab,
        &[("baseline", |one| &one.baseline), ("oracle", |one| &one.oracle)],
        (
            ["Storage in use with the oracle", "CTAs with the oracle"],
            "As if registers could lie anywhere in both memories. In print 29.84 % more CTAs and \
             88.26 % in use (DEV-104).",
        ),
    )
}

fn utilization(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let all = kernels(study, "Fermi");
    let three: [(&str, Way); 3] = [
        ("baseline", |one| &one.baseline),
        ("Warpman", |one| &one.warpman),
        ("EXPARS", |one| &one.expars),
    ];
    let figure = |title: &str, of: fn(&Taken) -> f64| Figure {
        series: three.map(|(name, way)| shares(name, &all, |one| of(way(one)))).into(),
        reading: "EXPARS fills both memories. The means of all three ways are the printed ones \
                  (`strata exact`, `expars-utilization-percent`)."
            .to_owned(),
        command: COMMAND.to_owned(),
        ..panel(title, Kind::Bars, (KERNELS, "in use (%)"), axis(&all))
    };
    Ok(vec![
        figure("Register file in use", |taken| taken.registers_percent),
        figure("Scratchpad memory in use", |taken| taken.scratchpad_percent),
        figure("Both in use", |taken| taken.both_percent),
    ])
}

fn mixed(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let all: Vec<_> =
        kernels(study, "Fermi").into_iter().filter(|(_, one)| one.split.is_some()).collect();
    let inside = |one: &Resident| one.split.map_or(0.0, |split| split.in_register_file_percent);
    Ok(vec![Figure {
        series: vec![
            shares("register file", &all, inside),
            shares("scratchpad memory", &all, |one| 100.0 - inside(one)),
        ],
        reading:
            "Where the registers of a mixed CTA lie. In print 47.39 % of them are in the register \
                  file on the mean, which ours are too (DEV-106)."
                .to_owned(),
        command: COMMAND.to_owned(),
        ..panel("Registers of mixed CTAs", Kind::Stacked, (KERNELS, "registers (%)"), axis(&all))
    }])
}

fn parallelism(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let all = kernels(study, "Fermi");
    let three: [(&str, Way); 3] = [
        ("baseline", |one| &one.baseline),
        ("Warpman", |one| &one.warpman),
        ("EXPARS", |one| &one.expars),
    ];
    let figure = |title: &str, y: &str, of: fn(&Taken) -> u32| Figure {
        series: three.map(|(name, way)| shares(name, &all, |one| of(way(one)).into())).into(),
        reading:
            "More CTAs and warps stay resident. The means are the printed ones (`strata exact`, \
                  `expars-tlp`)."
                .to_owned(),
        command: COMMAND.to_owned(),
        ..panel(title, Kind::Bars, (KERNELS, y), axis(&all))
    };
    Ok(vec![
        figure("Resident CTAs", "CTAs of an SM", |taken| taken.ctas),
        figure("Resident warps", "warps of an SM", |taken| taken.warps),
    ])
}

fn required(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let means = |machine: &str, sensitive: bool| {
        let mut all = study.means.iter();
        all.find(|one| {
            one.machine == machine && one.group == GROUPS[1] && one.register_sensitive == sensitive
        })
    };
    let bar = |name: &str, sensitive: bool| {
        let [fermi, maxwell] = ["Fermi", "Maxwell"].map(|machine| means(machine, sensitive));
        Series::ours(
            name,
            [
                fermi.map(|one| one.required_registers),
                maxwell.map(|one| one.required_registers),
                fermi.map(|one| one.required_scratchpad),
                maxwell.map(|one| one.required_scratchpad),
            ],
        )
    };
    let places =
        ["registers, Fermi", "registers, Maxwell", "scratchpad, Fermi", "scratchpad, Maxwell"];
    Ok(vec![Figure {
        series: vec![bar("our kernels", false), bar("register-sensitive ones", true)],
        reading: "What the most CTAs would need of each memory, relative to the machine's: \
                  registers run out, scratchpad memory does not. In print 1.60, 1.30, 0.57 and \
                  0.57 (Rodinia), 1.64, 1.27, 0.37 and 0.37 (Parboil)."
            .to_owned(),
        command: COMMAND.to_owned(),
        ..panel(
            "Storage for the most CTAs",
            Kind::Bars,
            ("memory and machine", "required (relative to the machine's)"),
            places.map(str::to_owned).into(),
        )
    }])
}

/// Means of kernels that the register file limits on Maxwell: the paper's, and ours.
fn on_maxwell(study: &Study, of: impl Fn(&[WayMeans]) -> Option<f64>) -> Vec<Option<f64>> {
    let means = |group: &str| {
        let mut all = study.means.iter();
        let found = all
            .find(|one| one.machine == "Maxwell" && one.group == group && one.register_sensitive);
        of(&found?.ways)
    };
    GROUPS.map(means).into()
}

fn way<'a>(ways: &'a [WayMeans], name: &str) -> Option<&'a WayMeans> {
    ways.iter().find(|way| way.way == name)
}

fn maxwell_ctas(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let values = on_maxwell(study, |ways| Some(way(ways, "EXPARS")?.ctas_relative));
    Ok(vec![Figure {
        series: vec![Series::ours("EXPARS", values)],
        reading:
            "On a machine with twice the registers and more scratchpad memory kernels that the \
                  register file limits still gain CTAs; in print 1.14 (Rodinia) and 1.21 (Parboil)."
                .to_owned(),
        command: COMMAND.to_owned(),
        ..panel(
            "CTAs of register-sensitive kernels on Maxwell",
            Kind::Bars,
            ("kernels", "CTAs (relative to the baseline)"),
            ["of Table 3", "ours"].map(str::to_owned).into(),
        )
    }])
}

fn maxwell_utilization(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.residency()?;
    let bar = |name: &'static str| {
        Series::ours(name, on_maxwell(study, |ways| Some(way(ways, name)?.both_percent)))
    };
    Ok(vec![Figure {
        series: vec![bar("baseline"), bar("EXPARS")],
        reading: "In print from 77.13 to 95.48 % (Rodinia) and from 75.11 to 95.61 % (Parboil)."
            .to_owned(),
        command: COMMAND.to_owned(),
        ..panel(
            "Storage in use on Maxwell, register-sensitive kernels",
            Kind::Bars,
            ("kernels", "in use (%)"),
            ["of Table 3", "ours"].map(str::to_owned).into(),
        )
    }])
}

/// Workloads of which a design has more CTAs resident at a time than the baseline, in some launch
/// with more CTAs than fit.
fn gaining(lab: &Lab<'_>, runs: Runs) -> Vec<String> {
    let pairs = lab.of(runs, BASELINE).zip(lab.of(runs, "expars-lrr"));
    let gains = |(before, after): &(&RunReport, &RunReport)| {
        before.launches.iter().zip(&after.launches).any(|(before, after)| {
            let [few, more] =
                [before, after].map(|launch| launch.residency.map_or(0, |resident| resident.ctas));
            let ctas: u64 = before.grid.iter().map(|&side| u64::from(side)).product();
            more > few && ctas > few.into()
        })
    };
    pairs.filter(gains).map(|(before, _)| before.workload.clone()).collect()
}

/// Workloads that gain CTAs, with where they ran.
fn gainers(lab: &Lab<'_>) -> Vec<(Runs, String)> {
    [Runs::General, Runs::Registers]
        .into_iter()
        .flat_map(|runs| gaining(lab, runs).into_iter().map(move |name| (runs, name)))
        .collect()
}

fn report<'a>(lab: &'a Lab<'_>, runs: Runs, name: &str, design: &'a str) -> Option<&'a RunReport> {
    lab.of(runs, design).find(|report| report.workload == name)
}

/// By how much a design is faster than another on each workload that gains CTAs, and the mean.
/// Unit: percent.
fn faster(lab: &Lab<'_>, name: &str, [than, design]: [&str; 2]) -> Series {
    let value = |(runs, workload): &(Runs, String)| {
        let cycles = |design| {
            report(lab, *runs, workload, design)
                .and_then(|report| report.counters.get("cycles").copied())
        };
        let (before, after) = (cycles(than)?, cycles(design)?);
        (after != 0).then(|| 100.0 * (before as f64 / after as f64 - 1.0))
    };
    Series::ours(name, with_mean(gainers(lab).iter().map(value).collect()))
}

fn gaining_axis(lab: &Lab<'_>) -> Vec<String> {
    let names = gainers(lab).into_iter().map(|(_, name)| name);
    names.chain([MEAN.to_owned()]).collect()
}

/// A printed mean behind workloads that the paper does not have.
fn printed_mean(lab: &Lab<'_>, name: &str, mean: f64) -> Series {
    let none = gainers(lab).into_iter().map(|_| None);
    Series::printed(name, none.chain([Some(mean)]).collect::<Vec<_>>())
}

fn performance(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let printed = exact::printed::expansion_gains();
    let panel_of =
        |((name, [baseline, warpman, expars]), printed): ((&str, [&str; 3]), f64)| Figure {
            series: vec![
                faster(lab, "Warpman", [baseline, warpman]),
                faster(lab, "EXPARS", [baseline, expars]),
                printed_mean(lab, "paper, EXPARS", printed),
            ],
            reading:
                "Against the baseline with the same scheduler, on those of our kernels that gain \
                  CTAs, of group `registers` with 32-bit addresses. More warps help where latency \
                  was not hidden, and our SM is often bound by operand collectors instead."
                    .to_owned(),
            command: format!(
                "strata run lbm --ptx nvcc32 --registers 36 --mode cycle --design {baseline} \
                 --design {warpman} --design {expars}"
            ),
            ..panel(
                &format!("Faster than the baseline, {name}"),
                Kind::Bars,
                ("workload", "faster (%)"),
                gaining_axis(lab),
            )
        };
    Ok(SCHEDULERS.into_iter().zip(printed).map(panel_of).collect())
}

fn lazy(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let printed = exact::printed::expansion_gains();
    let mut series = Vec::new();
    for ((name, [baseline, design]), printed) in LAZY.into_iter().zip(printed[3..].iter()) {
        series.push(faster(lab, name, [baseline, design]));
        series.push(printed_mean(lab, &format!("paper, {name}"), *printed));
    }
    Ok(vec![Figure {
        series,
        reading:
            "The lazy two-level scheduler runs warps whose registers are in the register file \
                  first."
                .to_owned(),
        command: "strata run lbm --ptx nvcc32 --registers 36 --mode cycle \
                  --design expars-gtx480 --design expars-ltlws-lrr"
            .to_owned(),
        ..panel(
            "Faster than the baseline with the lazy two-level scheduler",
            Kind::Bars,
            ("workload", "faster (%)"),
            gaining_axis(lab),
        )
    }])
}

fn energy(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let more = |name: &str, [than, design]: [&str; 2]| {
        let value = |(runs, workload): &(Runs, String)| {
            let total = |design| {
                let energy = report(lab, *runs, workload, design)?.energy_fj.as_ref()?;
                energy.get("total").copied()
            };
            let (before, after) = (total(than)?, total(design)?);
            (before != 0).then(|| 100.0 * after as f64 / before as f64)
        };
        Series::ours(name, with_mean(gainers(lab).iter().map(value).collect()))
    };
    Ok(vec![Figure {
        series: vec![
            more("EXPARS-LRR", [BASELINE, "expars-lrr"]),
            more("EXPARS-GTO", ["expars-baseline-gto", "expars-gto"]),
            more("LTLWS-LRR", LAZY[0].1),
            more("LTLWS-GTO", LAZY[1].1),
        ],
        reading: "Energy of register accesses, wherever the registers lie, relative to the \
                  baseline with the same inner scheduler. The paper's is that of a whole GPU, \
                  which runs shorter: from no effect to 27 % less."
            .to_owned(),
        command: "strata run lbm --ptx nvcc32 --registers 36 --mode cycle \
                  --design expars-gtx480 --design expars-lrr \
                  --format json"
            .to_owned(),
        ..panel(
            "Energy of register accesses with EXPARS",
            Kind::Bars,
            ("workload", "energy (% of the baseline)"),
            gaining_axis(lab),
        )
    }])
}
