//! Rows: one for each workload and design, under columns.

use std::collections::BTreeSet;

use super::columns::{Cell, Columns};
use super::{Endurance, EnergyInTime, RunReport, storage_table};
use strata_design::{Value, parameter_keys};

/// What was run.
const LABELS: [&str; 5] = ["workload", "design", "machine", "mode", "order"];
/// Energy with leakage.
const IN_TIME: [&str; 5] =
    ["dynamic_fj", "leakage_fj", "total_fj", "average_power_mw", "energy_delay_fj_s"];
/// Wear.
const WORN: [&str; 3] = ["cell_writes_max", "cell_writes_mean", "cells"];

/// The columns that some reports have beside labels and parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    counters: BTreeSet<String>,
    derived: BTreeSet<String>,
    energy: BTreeSet<String>,
    in_time: bool,
    worn: bool,
    data_cache: BTreeSet<String>,
    expansion: BTreeSet<String>,
    storage: BTreeSet<String>,
}

impl Layout {
    /// Those of these reports.
    pub fn of(reports: &[RunReport]) -> Self {
        let all = |names: &dyn Fn(&RunReport) -> Vec<String>| {
            reports.iter().flat_map(names).collect::<BTreeSet<_>>()
        };
        let keys = |counts: Option<&std::collections::BTreeMap<String, u64>>| {
            counts.into_iter().flat_map(|counts| counts.keys().cloned()).collect()
        };
        Self {
            counters: all(&|report| keys(Some(&report.counters))),
            derived: all(&|report| report.derived.keys().cloned().collect()),
            energy: all(&|report| keys(report.energy_fj.as_ref())),
            in_time: reports.iter().any(|report| report.energy_in_time.is_some()),
            worn: reports.iter().any(|report| report.endurance.is_some()),
            data_cache: all(&|report| keys(report.data_cache.as_ref())),
            expansion: all(&|report| keys(report.expansion.as_ref())),
            storage: all(&storage_table::columns),
        }
    }

    /// Their names: workload, design, machine, mode, order, the design's parameters by the keys of
    /// design files, always the same, then counters, derived ratios and energies in sorted order,
    /// then energy with leakage, wear, counts of a data cache and of registers in scratchpad
    /// memory, and energy of storage in each technology.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = LABELS.map(str::to_owned).to_vec();
        names.extend(parameter_keys().iter().map(|(key, _)| key.clone()));
        names.extend(self.counters.iter().chain(&self.derived).cloned());
        names.extend(self.energy.iter().map(|part| format!("energy_{part}_fj")));
        names.extend(IN_TIME.into_iter().filter(|_| self.in_time).map(str::to_owned));
        names.extend(WORN.into_iter().filter(|_| self.worn).map(str::to_owned));
        for (group, of_group) in [
            ("data_cache", &self.data_cache),
            ("expansion", &self.expansion),
            ("storage", &self.storage),
        ] {
            names.extend(of_group.iter().map(|name| format!("{group}_{name}")));
        }
        names
    }

    /// A value for each of the columns; none where it is not known.
    fn row(&self, report: &RunReport) -> Vec<Option<Cell>> {
        let RunReport { workload, design, machine, mode, order, .. } = report;
        let mut row: Vec<Option<Cell>> =
            [workload, design, machine, mode, order].map(|label| Some(label.into())).to_vec();
        let parameter = |key: &String| report.parameters.get(key).and_then(Option::as_ref);
        row.extend(parameter_keys().iter().map(|(key, _)| parameter(key).map(Cell::from)));
        row.extend(self.counters.iter().map(|name| report.counters.get(name).map(Cell::from)));
        let ratio = |name| report.derived.get(name).copied().flatten().map(Cell::Real);
        row.extend(self.derived.iter().map(ratio));
        let part = |name| report.energy_fj.as_ref()?.get(name).map(Cell::from);
        row.extend(self.energy.iter().map(part));
        if self.in_time {
            row.extend(in_time(report.energy_in_time.as_ref()));
        }
        if self.worn {
            row.extend(worn(report.endurance.as_ref()));
        }
        let counted = |name| report.data_cache.as_ref()?.get(name).map(Cell::from);
        row.extend(self.data_cache.iter().map(counted));
        let counted = |name| report.expansion.as_ref()?.get(name).map(Cell::from);
        row.extend(self.expansion.iter().map(counted));
        let values = storage_table::values(report);
        row.extend(self.storage.iter().map(|name| values.get(name).cloned()));
        row
    }

    /// The reports under the columns.
    pub fn columns(&self, reports: &[RunReport]) -> Columns {
        let rows = reports.iter().map(|report| self.row(report)).collect();
        Columns { header: self.names(), rows }
    }
}

fn in_time(energy: Option<&EnergyInTime>) -> [Option<Cell>; 5] {
    let of = |part: fn(&EnergyInTime) -> Cell| energy.map(part);
    [
        of(|energy| energy.dynamic_fj.into()),
        of(|energy| energy.leakage_fj.into()),
        of(|energy| energy.total_fj.into()),
        of(|energy| energy.average_power_mw.into()),
        of(|energy| energy.energy_delay_fj_s.into()),
    ]
}

fn worn(worn: Option<&Endurance>) -> [Option<Cell>; 3] {
    let of = |part: fn(&Endurance) -> Cell| worn.map(part);
    [
        of(|worn| worn.writes_max.into()),
        of(|worn| worn.writes_mean.into()),
        of(|worn| worn.cells.into()),
    ]
}

impl From<&Value> for Cell {
    fn from(value: &Value) -> Self {
        match value {
            Value::Number(number) => (*number).into(),
            Value::Switch(on) => Self::Switch(*on),
            Value::Text(text) => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{cached, plain};

    #[test]
    fn a_data_cache_adds_columns_which_others_leave_empty() {
        let text = |reports: &[RunReport]| {
            let columns = Layout::of(reports).columns(reports);
            columns.csv_header() + &columns.csv_rows()
        };
        let plain = plain("isca11");
        let cached = cached("mine");
        let alone = text(std::slice::from_ref(&plain));
        assert!(!alone.contains("data_cache_"), "{alone}");
        let text = text(&[plain, cached]);
        let lines: Vec<Vec<_>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        let value = |line: usize, name: &str| {
            let column = lines[0].iter().position(|column| *column == name).expect(name);
            lines[line][column]
        };
        for (name, expected) in [
            ("data_cache_load_hits", "100"),
            ("data_cache_cache_conflict_cycles", "1200"),
            ("data_cache_lookups", "2800"),
            ("data_cache_dram_bytes", "2700"),
            ("data_cache_load_hits_percent", "16.666667"),
        ] {
            assert_eq!((value(1, name), value(2, name)), ("", expected), "{name}");
        }
    }
}
