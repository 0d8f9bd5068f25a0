//! Energy of an SM with all its storage, in reports: in each technology, by what spent it, and
//! beside that of the machine's baseline.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::storage_energy::{StorageEnergy, StoragePart};

use super::RunReport;
use super::columns::Cell;
use super::derived::rounded;
use super::table::nanojoules;
use super::text_table::TextTable;

/// Energy of an SM with all its storage, and of DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StorageEnergyReport {
    /// The design whose time says what the core spends, and with which this one is compared.
    pub baseline: String,
    /// Its cycles for the same launches; null if they do not run on it, which `unavailable` says.
    pub baseline_cycles: Option<u64>,
    /// Why there is no energy in any technology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// One for each technology.
    pub technologies: Vec<InTechnology>,
}

/// The same in one technology.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InTechnology {
    /// The technology's name.
    pub technology: String,
    /// Why there is no energy, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Energy by what spent it; `total` is the sum of the others. Unit: femtojoules.
    pub energy_fj: Option<BTreeMap<String, u64>>,
    /// The total over the time of the run. Unit: milliwatts.
    pub average_power_mw: Option<f64>,
    /// Against the baseline, of which the technology may not know the energy. Percent.
    pub relative: Option<Relative>,
}

/// A run against the baseline's, in percent of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Relative {
    /// The baseline's cycles, relative to the run's.
    pub performance_percent: f64,
    /// Energy.
    pub energy_percent: f64,
    /// Performance for each watt of average power: the time of the run cancels, so that it is the
    /// inverse of the energy.
    pub performance_per_watt_percent: f64,
    /// Performance for each joule: the inverse of the energy-delay product (DEV-089).
    pub performance_per_joule_percent: f64,
}

impl Relative {
    /// A run against the baseline's; none if one of them took no time or no energy.
    pub fn of(own: &StorageEnergy, baseline: &StorageEnergy) -> Option<Self> {
        let (energy, of) = (own.total().0 as f64, baseline.total().0 as f64);
        let performance = own.performance_ppm()? as f64 / 1e6;
        if energy == 0.0 || of == 0.0 {
            return None;
        }
        let percent = |ratio: f64| rounded(100.0 * ratio);
        Some(Self {
            performance_percent: percent(performance),
            energy_percent: percent(energy / of),
            performance_per_watt_percent: percent(of / energy),
            performance_per_joule_percent: percent(performance * of / energy),
        })
    }
}

impl InTechnology {
    /// What a run spends in a technology, beside the baseline's; or why that is not known.
    pub fn of<E: ToString>(
        technology: &str,
        own: Result<StorageEnergy, E>,
        baseline: Option<&StorageEnergy>,
    ) -> Self {
        let technology = technology.to_owned();
        match own {
            Ok(own) => Self {
                technology,
                unavailable: None,
                energy_fj: Some(by_name(&own)),
                average_power_mw: own.power_nw().map(|power| rounded(power as f64 * 1e-6)),
                relative: baseline.and_then(|baseline| Relative::of(&own, baseline)),
            },
            Err(reason) => Self {
                technology,
                unavailable: Some(reason.to_string()),
                energy_fj: None,
                average_power_mw: None,
                relative: None,
            },
        }
    }

    /// What a part spent, or all together (`total`). Unit: femtojoules.
    pub fn part(&self, name: &str) -> Option<u64> {
        self.energy_fj.as_ref()?.get(name).copied()
    }
}

/// Each part's energy by its name, and the total. Unit: femtojoules.
fn by_name(energy: &StorageEnergy) -> BTreeMap<String, u64> {
    let parts = energy.parts().map(|(part, energy)| (part.name().to_owned(), energy.0));
    parts.chain([("total".to_owned(), energy.total().0)]).collect()
}

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
pub(crate) fn columns_in(technology: &str) -> Vec<String> {
    let parts = StoragePart::ALL.iter().map(|part| part.name()).chain(["total"]);
    let parts = parts.map(|part| format!("{part}_fj"));
    let names = parts.chain(RATIOS.map(str::to_owned));
    names.map(|name| format!("storage_{}", column(technology, &name))).collect()
}

/// Each value of a report by its name: the technology's, and behind it the part, or what it is.
pub(crate) fn values(report: &RunReport) -> BTreeMap<String, Cell> {
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
