//! Rows: the result of a point as columns, the same whatever the design and the mode.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use strata_core::energy::EnergyBreakdown;
use strata_core::event::Counters;
use strata_core::sm::counters::SmCounters;
use strata_core::sm::expansion::counters::ExpansionCounters;
use strata_core::sm::memory::cached::CacheEvent;
use strata_core::sm::memory::lower_counters::LowerEvent;

use super::key::Key;
use strata_design::{Design, Value, ValueKind, parameter_keys};
use strata_measure::evaluate;
use strata_report::columns::Cell;
use strata_report::parquet::{Field, Kind};
use strata_report::{RunReport, derived, storage_table};

/// What a column of technologies of storage begins with: the only columns that a sweep may have
/// beside [`columns`], since users name technologies.
pub const EXTRA: &str = "storage_";

/// The columns that come first; all are texts. `error` says why a point failed, and is empty
/// otherwise.
pub const LABELS: [&str; 11] = [
    "key", "workload", "scale", "set", "design", "machine", "mode", "order", "check", "digest",
    "error",
];

/// The columns of every sweep, in order.
pub fn columns() -> &'static [Field] {
    static COLUMNS: LazyLock<Vec<Field>> = LazyLock::new(all_columns);
    &COLUMNS
}

/// The columns of some rows: those of every sweep, behind them those of technologies that a row
/// has, sorted.
pub fn columns_of(rows: &[Row]) -> Vec<Field> {
    let extra: BTreeSet<&String> = rows.iter().flat_map(|row| row.extra.keys()).collect();
    let extra = extra.into_iter().map(|name| Field { name: name.clone(), kind: Kind::Real });
    columns().iter().cloned().chain(extra).collect()
}

/// Where a column of every sweep stands.
pub fn place(name: &str) -> Option<usize> {
    static PLACES: LazyLock<BTreeMap<&str, usize>> = LazyLock::new(|| {
        columns().iter().enumerate().map(|(place, column)| (column.name.as_str(), place)).collect()
    });
    PLACES.get(name).copied()
}

fn all_columns() -> Vec<Field> {
    let mut all: Vec<Field> = Vec::new();
    let mut add = |kind: Kind, names: &mut dyn Iterator<Item = String>| {
        all.extend(names.map(|name| Field { name, kind }));
    };
    add(Kind::Text, &mut LABELS.map(str::to_owned).into_iter());
    for (key, kind) in parameter_keys() {
        let kind = match kind {
            ValueKind::Number => Kind::Number,
            ValueKind::Switch => Kind::Switch,
            ValueKind::Text => Kind::Text,
        };
        add(kind, &mut std::iter::once(key.clone()));
    }
    let time = SmCounters::default();
    let mut counters = evaluate::by_name(&Counters::default());
    counters.extend(time.iter().map(|(name, count)| (name.to_owned(), count)));
    add(Kind::Number, &mut counters.into_keys());
    add(Kind::Real, &mut derived::names().into_iter());
    let energy = EnergyBreakdown::default();
    let parts = energy.parts().map(|(part, _)| part.to_string());
    let parts = parts.chain(EXPANDED.map(str::to_owned));
    add(Kind::Number, &mut parts.map(|part| format!("energy_{part}_fj")));
    add(Kind::Number, &mut IN_TIME.map(str::to_owned).into_iter());
    add(Kind::Real, &mut IN_TIME_REAL.map(str::to_owned).into_iter());
    let cache = CacheEvent::ALL.iter().map(|event| event.name());
    let lower = LowerEvent::ALL.iter().map(|event| event.name());
    let cache = cache.chain(lower).chain(["lookups", "dram_bytes"]);
    add(Kind::Number, &mut cache.map(|name| format!("data_cache_{name}")));
    let expansion = ExpansionCounters::default();
    add(Kind::Number, &mut expansion.iter().map(|(name, _)| format!("expansion_{name}")));
    all
}

/// What energy has beside the parts of every design, and the sum of all.
const EXPANDED: [&str; 3] = ["operand_cache_bank", "scratchpad_bank", "total"];
/// Energy with leakage, and wear, as `strata run --format csv` calls them.
const IN_TIME: [&str; 5] = ["dynamic_fj", "leakage_fj", "total_fj", "cell_writes_max", "cells"];
/// Those of energy with leakage and of wear that have decimals, as `strata run --format csv` calls
/// them.
const IN_TIME_REAL: [&str; 3] = ["average_power_mw", "energy_delay_fj_s", "cell_writes_mean"];

/// What became of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is of.
    pub key: Key,
    /// One for each of [`columns`].
    pub cells: Vec<Option<Cell>>,
    /// Columns that begin with [`EXTRA`].
    pub extra: BTreeMap<String, f64>,
}

/// What a point is of, as its row says it.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// Its key.
    pub key: Key,
    /// The input's name.
    pub workload: &'a str,
    /// Its size.
    pub scale: &'a str,
    /// Parameters that replace the size's.
    pub set: &'a str,
    /// The design's name.
    pub design: &'a str,
    /// `count` or `cycle`.
    pub mode: &'a str,
}

impl Row {
    fn new(labels: &Labels<'_>) -> Self {
        let Labels { key, workload, scale, set, design, mode } = *labels;
        let mut row = Self { key, cells: vec![None; columns().len()], extra: BTreeMap::new() };
        for (name, text) in [
            ("key", key.to_string().as_str()),
            ("workload", workload),
            ("scale", scale),
            ("set", set),
            ("design", design),
            ("mode", mode),
        ] {
            row.text(name, text);
        }
        row
    }

    /// Of a point that failed; of a design that is impossible, what is known are the keys that are
    /// given.
    pub fn failed(
        labels: &Labels<'_>,
        design: Result<&Design, &[(String, String)]>,
        error: &str,
    ) -> Self {
        let mut row = Self::new(labels);
        row.text("error", error);
        match design {
            Ok(design) => {
                row.text("machine", &design.machine.name);
                for (key, value) in design.parameters() {
                    row.parameter(key, value.as_ref());
                }
            }
            Err(given) => given.iter().for_each(|(key, value)| row.given(key, value)),
        }
        row
    }

    /// Of a point's report.
    ///
    /// # Errors
    /// A value that has no column, or that its column cannot hold, which would be a defect.
    pub fn of(labels: &Labels<'_>, report: &RunReport) -> Result<Self, String> {
        let mut row = Self::new(labels);
        row.text("machine", &report.machine);
        row.text("order", &report.order);
        row.text("check", report.check.name());
        row.text("digest", &report.digest);
        for (key, value) in &report.parameters {
            row.parameter(key, value.as_ref());
        }
        for (name, &count) in &report.counters {
            row.number(name, count)?;
        }
        for (name, &ratio) in &report.derived {
            row.real(name, ratio)?;
        }
        for (part, &energy) in report.energy_fj.iter().flatten() {
            row.number(&format!("energy_{part}_fj"), energy)?;
        }
        if let Some(energy) = report.energy_in_time {
            row.number("dynamic_fj", energy.dynamic_fj)?;
            row.number("leakage_fj", energy.leakage_fj)?;
            row.number("total_fj", energy.total_fj)?;
            row.real("average_power_mw", Some(energy.average_power_mw))?;
            row.real("energy_delay_fj_s", Some(energy.energy_delay_fj_s))?;
        }
        if let Some(worn) = report.endurance {
            row.number("cell_writes_max", worn.writes_max)?;
            row.real("cell_writes_mean", Some(worn.writes_mean))?;
            row.number("cells", worn.cells)?;
        }
        for (name, &count) in report.data_cache.iter().flatten() {
            row.number(&format!("data_cache_{name}"), count)?;
        }
        for (name, &count) in report.expansion.iter().flatten() {
            row.number(&format!("expansion_{name}"), count)?;
        }
        for (name, value) in storage_table::values(report) {
            let value = match value {
                Cell::Number(number) => number as f64,
                Cell::Real(number) => number,
                other => return Err(format!("`{name}` is too large: {other}")),
            };
            row.extra.insert(format!("{EXTRA}{name}"), value);
        }
        Ok(row)
    }

    /// The value in a column, by its place and its name among [`columns_of`] rows.
    pub fn cell(&self, place: usize, name: &str) -> Option<Cell> {
        match self.cells.get(place) {
            Some(cell) => cell.clone(),
            None => self.extra.get(name).copied().map(Cell::Real),
        }
    }

    /// The value in a column.
    pub fn get(&self, name: &str) -> Option<Cell> {
        match place(name) {
            Some(place) => self.cells[place].clone(),
            None => self.extra.get(name).copied().map(Cell::Real),
        }
    }

    /// Why the point failed, if it did.
    pub fn error(&self) -> Option<String> {
        self.get("error").map(|error| error.to_string())
    }

    fn text(&mut self, name: &str, text: &str) {
        if let Some(place) = place(name) {
            self.cells[place] = Some(Cell::Text(text.to_owned()));
        }
    }

    fn parameter(&mut self, key: &str, value: Option<&Value>) {
        let cell = value.map(|value| match value {
            Value::Number(number) => Cell::Number(i64::try_from(*number).unwrap_or(i64::MAX)),
            Value::Switch(on) => Cell::Switch(*on),
            Value::Text(text) => Cell::Text(text.clone()),
        });
        if let Some(place) = place(key) {
            self.cells[place] = cell;
        }
    }

    /// A parameter as it is typed.
    fn given(&mut self, key: &str, text: &str) {
        let Some(place) = place(key) else { return };
        self.cells[place] = match columns()[place].kind {
            Kind::Number => text.parse().ok().map(Cell::Number),
            Kind::Real => text.parse().ok().map(Cell::Real),
            Kind::Switch => text.parse().ok().map(Cell::Switch),
            Kind::Text => Some(Cell::Text(text.to_owned())),
        };
    }

    fn number(&mut self, name: &str, value: u64) -> Result<(), String> {
        let place = place(name).ok_or_else(|| format!("`{name}` has no column"))?;
        let value = i64::try_from(value).map_err(|_| format!("`{name}` = {value} is too large"))?;
        self.cells[place] = Some(Cell::Number(value));
        Ok(())
    }

    fn real(&mut self, name: &str, value: Option<f64>) -> Result<(), String> {
        let place = place(name).ok_or_else(|| format!("`{name}` has no column"))?;
        self.cells[place] = value.map(Cell::Real);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row with something in columns of every kind, and nothing in the others.
    pub(crate) fn made_up(number: i64) -> Row {
        let key = Key::of(&number.to_le_bytes());
        let labels = Labels {
            key,
            workload: "made-up",
            scale: "small",
            set: "",
            design: "isca11-rfc6",
            mode: "count",
        };
        let design = strata_design::resolve("isca11-rfc6").unwrap();
        let mut row = Row::failed(&labels, Ok(&design), &format!("no {number}, \"never\"\n"));
        row.cells[place("warp_instructions").unwrap()] = Some(Cell::Number(number));
        row.cells[place("mrf_reads_avoided_percent").unwrap()] =
            Some(Cell::Real(number as f64 / 3.0));
        row
    }

    #[test]
    fn columns_have_different_names() {
        let names: BTreeSet<&str> = columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names.len(), columns().len());
        // A technology's column has something behind its name.
        let extra = names.iter().filter(|name| name.starts_with(EXTRA)).collect::<Vec<_>>();
        assert_eq!(extra, [&"storage_technologies"]);
        assert!(columns().len() > 250, "{}", columns().len());
    }

    #[test]
    fn the_document_lists_every_column() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SWEEPS.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (_, listed) = text.split_once("### Every column").expect("the list");
        let listed: Vec<_> = listed.split('`').skip(1).step_by(2).collect();
        let names: Vec<_> = columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(listed, names, "copy the second list into docs/SWEEPS.md");
    }
}
