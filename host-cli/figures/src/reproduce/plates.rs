//! Plates: what is drawn together, by its key in `data/figures.toml`; one file a paper or subject.
#![expect(clippy::unnecessary_wraps, reason = "panels of some plates can fail")]

mod cache;
mod expars;
mod levels;
mod scheduler;
mod storage;
mod warrf;

use super::figure::{Figure, Kind, Series};
use super::lab::{Lab, Runs, Wanted};
use strata_files::failure::Failure;
use strata_report::RunReport;
use strata_workload as workload;

/// Designs under which inputs run.
pub type Needs = Vec<(Runs, Wanted)>;

/// One or several panels, and what they are made from.
pub struct Plate {
    /// Key.
    pub id: &'static str,
    /// What has to run.
    pub needs: fn() -> Needs,
    /// Makes the panels.
    pub draw: fn(&Lab<'_>) -> Result<Vec<Figure>, Failure>,
}

/// Every plate.
pub fn all() -> impl Iterator<Item = &'static Plate> {
    [
        cache::PLATES,
        scheduler::PLATES,
        levels::PLATES,
        storage::PLATES,
        expars::PLATES,
        warrf::PLATES,
    ]
    .into_iter()
    .flatten()
}

/// Designs of the registry for the suite in count mode.
fn counted<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Needs {
    names.into_iter().map(|name| (Runs::Counted, Wanted::named(name))).collect()
}

/// The same in time.
fn timed<N: Into<String>>(runs: Runs, names: impl IntoIterator<Item = N>) -> Needs {
    names.into_iter().map(|name| (runs, Wanted::named(name))).collect()
}

/// The axis of entries of a thread.
fn entries(range: std::ops::RangeInclusive<u8>) -> Vec<String> {
    range.map(|entries| entries.to_string()).collect()
}

/// The places of a number of entries on an axis from 1.
const fn at(entries: usize) -> [usize; 2] {
    [entries - 1, entries - 1]
}

/// The last place of an axis of workloads: their mean.
const MEAN: &str = "mean";

/// The axis of the suite's workloads, with their mean behind them.
fn workloads() -> Vec<String> {
    workload::names().chain([MEAN]).map(str::to_owned).collect()
}

/// The place of the mean on that axis.
fn mean_place() -> [usize; 2] {
    [workload::names().count(); 2]
}

/// A number of each workload, and the mean.
fn by_workload<'a>(
    name: &str,
    reports: impl Iterator<Item = &'a RunReport>,
    of: impl Fn(&RunReport) -> Option<f64>,
) -> Series {
    let values: Vec<Option<f64>> = reports.map(of).collect();
    Series::ours(name, with_mean(values))
}

/// Values, and their mean behind them; none if one is missing.
fn with_mean(mut values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    values.push(strata_report::table::mean(values.iter().copied()));
    values
}

/// A ratio of a report.
fn ratio(report: &RunReport, key: &str) -> Option<f64> {
    report.derived.get(key).copied().flatten()
}

/// Parts of a report's energy, in percent of a flat register file's.
fn energy_part(report: &RunReport, parts: &[&str]) -> Option<f64> {
    let energy = report.energy_fj.as_ref()?;
    let own: u64 = parts.iter().map(|&part| energy.get(part).copied()).sum::<Option<u64>>()?;
    let total = *energy.get("total")?;
    let relative = ratio(report, "energy_relative_percent")?;
    (total != 0).then(|| relative * own as f64 / total as f64)
}

/// A panel; what remains is filled in behind it.
fn panel(title: &str, kind: Kind, (x, y): (&str, &str), ticks: Vec<String>) -> Figure {
    Figure {
        title: title.to_owned(),
        x: x.to_owned(),
        y: y.to_owned(),
        kind,
        ticks,
        series: Vec::new(),
        bands: Vec::new(),
        reading: String::new(),
        command: String::new(),
    }
}

/// What 100 less it is.
fn left(percent: f64) -> f64 {
    100.0 - percent
}

/// What a change comes to.
fn changed(percent: f64) -> f64 {
    100.0 + percent
}

/// As it is.
fn same(value: f64) -> f64 {
    value
}
