//! A register file of STT-RAM: `[WARRF]` Figures 6 to 8.

use super::panel::{by_workload, changed, mean_place, panel, ratio, with_mean, workloads};
use super::plate::{Needs, Plate, timed};
use crate::reproduce::figure::{Band, Figure, Kind, Series};
use crate::reproduce::lab::{Lab, Runs, Wanted};
use strata_files::failure::Failure;
use strata_report::RunReport;

const SRAM: &str = "warrf-gtx480";
/// The others, as the figures call them.
const OTHERS: [(&str, &str); 3] =
    [("STT-RAM", "sttram"), ("split bank write", "sttram-sbw"), ("WarRF", "warrf")];
/// With both techniques, where reads that hit the pool cost one of a bank.
const AT_BANK: &str = "warrf-bank";

pub(super) const PLATES: &[Plate] = &[
    Plate { id: "sttram-ipc", needs: designs, draw: throughput },
    Plate { id: "sttram-writes", needs: designs, draw: writes },
    Plate { id: "sttram-energy", needs: designs, draw: energy },
];

fn designs() -> Needs {
    let mut all = timed(Runs::Timed, [SRAM].into_iter().chain(OTHERS.map(|(_, design)| design)));
    let text = "base = \"warrf\"\npool_read_energy = \"bank\"\n";
    all.push((Runs::Timed, Wanted::file(AT_BANK, text)));
    all
}

fn throughput(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let cycles = |report: &RunReport| report.counters.get("cycles").copied();
    let relative = |design: &str| {
        let pairs = lab.of(Runs::Timed, SRAM).zip(lab.of(Runs::Timed, design));
        let values = pairs.map(|(sram, own)| {
            let (sram, own) = (cycles(sram)?, cycles(own)?);
            (own != 0).then(|| 100.0 * sram as f64 / own as f64)
        });
        with_mean(values.collect())
    };
    let series = OTHERS.map(|(name, design)| Series::ours(name, relative(design)));
    Ok(vec![Figure {
        series: series.into(),
        bands: vec![
            Band::of("sttram-ipc", mean_place(), changed)?,
            Band::of("both-sram", mean_place(), changed)?,
        ],
        reading:
            "Long writes of STT-RAM cost throughput, and split bank writes win some of it back. \
                  Our write pool does not gain: with its one port it is the narrowest place of the \
                  register file (DEV-053). SM of one instruction in a cycle (DEV-070)."
                .to_owned(),
        command:
            "strata run --mode cycle --design warrf-gtx480 --design sttram --design sttram-sbw \
                  --design warrf"
                .to_owned(),
        ..panel("IPC, SRAM is 100", Kind::Bars, ("workload", "IPC (% of SRAM)"), workloads())
    }])
}

fn writes(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let avoided = |report: &RunReport| ratio(report, "mrf_writes_avoided_percent");
    Ok(vec![Figure {
        series: vec![by_workload("WarRF", lab.of(Runs::Timed, "warrf"), avoided)],
        bands: vec![Band::of("both-writes", mean_place(), |percent| -percent)?],
        reading:
            "The pool serves results that are overwritten before they leave it; in print 31 % on \
                  the mean and 83 % at most."
                .to_owned(),
        command: "strata run --mode cycle --design warrf".to_owned(),
        ..panel(
            "Writes of the main register file that the write pool avoids",
            Kind::Bars,
            ("workload", "writes avoided (%)"),
            workloads(),
        )
    }])
}

fn energy(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let total = |report: &RunReport| ratio(report, "total_energy_relative_percent");
    let dynamic = |report: &RunReport| ratio(report, "dynamic_energy_relative_percent");
    let of = |name: &str, design: &str, of: fn(&RunReport) -> Option<f64>| {
        by_workload(name, lab.of(Runs::Timed, design), of)
    };
    let axis = ("workload", "energy (% of SRAM)");
    let command = "strata run --mode cycle --design sttram --design warrf".to_owned();
    let all = Figure {
        series: vec![
            of("STT-RAM", "sttram", total),
            of("WarRF", "warrf", total),
            of("WarRF, pool reads at a bank's energy", AT_BANK, total),
        ],
        bands: vec![
            Band::of("sttram-energy", mean_place(), changed)?,
            Band::of("both-energy", mean_place(), changed)?,
        ],
        reading:
            "STT-RAM leaks less and writes dearer. What the paper prints of WarRF leaves room for \
                  few reads at the pool's energy; the third bar charges them as a bank's (DEV-053)."
                .to_owned(),
        command: command.clone(),
        ..panel("Energy with leakage, SRAM is 100", Kind::Bars, axis, workloads())
    };
    let accesses = Figure {
        series: vec![of("STT-RAM", "sttram", dynamic), of("WarRF", "warrf", dynamic)],
        bands: vec![Band::of("sttram-dynamic", mean_place(), changed)?],
        reading: "Of accesses alone STT-RAM needs half as much again.".to_owned(),
        command,
        ..panel("Energy of accesses, SRAM is 100", Kind::Bars, axis, workloads())
    };
    Ok(vec![all, accesses])
}
