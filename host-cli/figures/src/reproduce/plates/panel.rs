//! Parts of panels: their axes, and the series of reports.

use crate::reproduce::figure::{Figure, Kind, Series};
use strata_report::RunReport;
use strata_workload as workload;

/// The axis of entries of a thread.
pub(super) fn entries(range: std::ops::RangeInclusive<u8>) -> Vec<String> {
    range.map(|entries| entries.to_string()).collect()
}

/// The places of a number of entries on an axis from 1.
pub(super) const fn at(entries: usize) -> [usize; 2] {
    [entries - 1, entries - 1]
}

/// The last place of an axis of workloads: their mean.
pub(super) const MEAN: &str = "mean";

/// The axis of the suite's workloads, with their mean behind them.
pub(super) fn workloads() -> Vec<String> {
    workload::names().chain([MEAN]).map(str::to_owned).collect()
}

/// The place of the mean on that axis.
pub(super) fn mean_place() -> [usize; 2] {
    [workload::names().count(); 2]
}

/// A number of each workload, and the mean.
pub(super) fn by_workload<'a>(
    name: &str,
    reports: impl Iterator<Item = &'a RunReport>,
    of: impl Fn(&RunReport) -> Option<f64>,
) -> Series {
    let values: Vec<Option<f64>> = reports.map(of).collect();
    Series::ours(name, with_mean(values))
}

/// Values, and their mean behind them; none if one is missing.
pub(super) fn with_mean(mut values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    values.push(strata_report::table::mean(values.iter().copied()));
    values
}

/// A ratio of a report.
pub(super) fn ratio(report: &RunReport, key: &str) -> Option<f64> {
    report.derived.get(key).copied().flatten()
}

/// Parts of a report's energy, in percent of a flat register file's.
pub(super) fn energy_part(report: &RunReport, parts: &[&str]) -> Option<f64> {
    let energy = report.energy_fj.as_ref()?;
    let own: u64 = parts.iter().map(|&part| energy.get(part).copied()).sum::<Option<u64>>()?;
    let total = *energy.get("total")?;
    let relative = ratio(report, "energy_relative_percent")?;
    (total != 0).then(|| relative * own as f64 / total as f64)
}

/// A panel; what remains is filled in behind it.
pub(super) fn panel(title: &str, kind: Kind, (x, y): (&str, &str), ticks: Vec<String>) -> Figure {
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
pub(super) fn left(percent: f64) -> f64 {
    100.0 - percent
}

/// What a change comes to.
pub(super) fn changed(percent: f64) -> f64 {
    100.0 + percent
}

/// The value as it is.
pub(super) fn same(value: f64) -> f64 {
    value
}
