//! Energy of an SM with all its storage, as columns and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use strata_core::storage_energy::StoragePart;

use super::RunReport;
use super::columns::Cell;
use super::storage_energy::{InTechnology, Relative};
use super::text_table::TextTable;
use super::units::nanojoules;

/// The name of a value in a technology, as CSV calls it.
fn column(technology: &str, value: &str) -> String {
    format!("{technology}_{value}")
}

/// The names of a report's values ([`values`]).
pub(super) fn columns(report: &RunReport) -> Vec<String> {
    values(report).into_keys().collect()
}

/// What a run has in a technology beside the energy of parts.
const RATIOS: [&str; 5] = [
    "average_power_mw",
    "performance_percent",
    "energy_percent",
    "performance_per_watt_percent",
    "performance_per_joule_percent",
];

/// The columns that reports may have in a technology: those of [`values`] behind the group's name.
pub fn columns_in(technology: &str) -> Vec<String> {
    let parts = StoragePart::ALL.iter().map(|part| part.name()).chain(["total"]);
    let parts = parts.map(|part| format!("{part}_fj"));
    let names = parts.chain(RATIOS.map(str::to_owned));
    names.map(|name| format!("storage_{}", column(technology, &name))).collect()
}

/// Each value of a report by its name: the technology's, and behind it the part, or what it is.
pub fn values(report: &RunReport) -> BTreeMap<String, Cell> {
    let mut all = BTreeMap::new();
    let in_all = report.storage_energy.iter().flat_map(|energy| &energy.technologies);
    for InTechnology { technology, energy_fj, average_power_mw, relative, .. } in in_all {
        let mut add = |name: &str, value: Cell| all.insert(column(technology, name), value);
        for (part, energy) in energy_fj.iter().flatten() {
            add(&format!("{part}_fj"), (*energy).into());
        }
        if let Some(power) = average_power_mw {
            add("average_power_mw", (*power).into());
        }
        if let Some(relative) = relative {
            add("performance_percent", relative.performance_percent.into());
            add("energy_percent", relative.energy_percent.into());
            add("performance_per_watt_percent", relative.performance_per_watt_percent.into());
            add("performance_per_joule_percent", relative.performance_per_joule_percent.into());
        }
    }
    all
}

/// The reports' energy as a table with a heading; nothing where no report has it.
pub(super) fn to_text(reports: &[RunReport]) -> String {
    if reports.iter().all(|report| report.storage_energy.is_none()) {
        return String::new();
    }
    let mut table = TextTable::new();
    let mut header = vec!["workload".to_owned(), "design".to_owned(), "technology".to_owned()];
    header.extend(StoragePart::ALL.map(|part| part.name().replace('_', "\n")));
    header.extend(
        ["total", "power\n(mW)", "energy", "perform-\nance", "per watt", "per joule"]
            .map(str::to_owned),
    );
    table.set_header(header);
    let mut notes: Vec<String> = Vec::new();
    let mut baselines: Vec<&str> = Vec::new();
    for report in reports {
        let Some(energy) = &report.storage_energy else { continue };
        let unavailable = energy.technologies.iter().filter_map(|of| of.unavailable.as_ref());
        for reason in energy.unavailable.iter().chain(unavailable) {
            let note = format!("{}, {}: {reason}", report.workload, report.design);
            notes.push(note);
        }
        if !baselines.contains(&&*energy.baseline) {
            baselines.push(&energy.baseline);
        }
        for of in energy.technologies.iter().filter(|of| of.energy_fj.is_some()) {
            table.add_row(row(report, of));
        }
    }
    table.right_from(2);
    let mut text = format!(
        "\nenergy of the SM with its storage and of DRAM (nJ), relative to {}\n{table}\n",
        baselines.join(" and ")
    );
    for note in notes {
        let _ = writeln!(text, "energy of the storage of {note}");
    }
    text
}

fn row(report: &RunReport, of: &InTechnology) -> Vec<String> {
    let dash = || "-".to_owned();
    let part = |name: &str| of.part(name).map_or_else(dash, nanojoules);
    let percent = |get: fn(&Relative) -> f64| {
        of.relative.as_ref().map_or_else(dash, |relative| format!("{:.1} %", get(relative)))
    };
    let mut cells = vec![report.workload.clone(), report.design.clone(), of.technology.clone()];
    cells.extend(StoragePart::ALL.map(|name| part(name.name())));
    cells.push(part("total"));
    cells.push(of.average_power_mw.map_or_else(dash, |power| format!("{power:.0}")));
    cells.push(percent(|relative| relative.energy_percent));
    cells.push(percent(|relative| relative.performance_percent));
    cells.push(percent(|relative| relative.performance_per_watt_percent));
    cells.push(percent(|relative| relative.performance_per_joule_percent));
    cells
}
