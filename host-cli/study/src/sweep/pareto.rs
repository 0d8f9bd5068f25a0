//! Pareto: the designs of a sweep that no other design beats in every objective.
//!
//! An objective is a column of which less, or more, is better. Over the inputs of a sweep a design
//! has the geometric mean of its values, so all values must be positive. A design without a value
//! for an input, a point that failed among them, takes no part.

use std::collections::BTreeMap;

use super::row::Row;
use super::store::List;
use super::table::known;
use strata_design::cost::cache_data_bytes;
use strata_files::failure::Failure;
use strata_report::columns::{Cell, Columns};
use strata_report::comparison::geometric_mean;
use strata_report::rounded;

/// The objective that is no column: registers of an SM, in all levels. Unit: bytes.
pub const STORAGE: &str = "storage_bytes";

/// What is wanted of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// A column, or [`STORAGE`].
    pub column: String,
    /// Whether more of it is better.
    pub more: bool,
}

/// What became of the designs of a sweep.
pub struct Front {
    /// The designs that none beats, best in the first objective first.
    pub table: Columns,
    /// How many are not among them.
    pub beaten: usize,
    /// How many lack a value.
    pub without: usize,
}

/// A design with its values, one for each objective.
struct Candidate<'r> {
    row: &'r Row,
    values: Vec<f64>,
}

/// Finds the designs that none beats.
///
/// # Errors
/// No such column, or one of text.
pub fn front(rows: &[Row], list: &List, objectives: &[Objective]) -> Result<Front, Failure> {
    for objective in objectives.iter().filter(|of| of.column != STORAGE) {
        known(rows, &objective.column)?;
    }
    let mut designs: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    let name = |row: &Row| row.get("design").map_or_else(String::new, |cell| cell.to_string());
    for row in rows {
        designs.entry(name(row)).or_default().push(row);
    }
    let most = designs.values().map(Vec::len).max().unwrap_or(0);
    let mut candidates = Vec::new();
    for rows in designs.values().filter(|rows| rows.len() == most) {
        let values = objectives.iter().map(|objective| mean(rows, &objective.column));
        if let Some(values) = values.collect() {
            candidates.push(Candidate { row: rows[0], values });
        }
    }
    let without = designs.len() - candidates.len();
    let beaten = |one: &Candidate<'_>| {
        candidates.iter().any(|other| beats(&other.values, &one.values, objectives))
    };
    let mut best: Vec<_> = candidates.iter().filter(|one| !beaten(one)).collect();
    best.sort_by(|one, other| {
        let order = one.values[0].total_cmp(&other.values[0]);
        let order = if objectives[0].more { order.reverse() } else { order };
        order.then_with(|| name(one.row).cmp(&name(other.row)))
    });
    let beaten = candidates.len() - best.len();
    Ok(Front { table: table(&best, list, objectives), beaten, without })
}

/// Whether a design is as good as another in every objective, and better in one.
fn beats(one: &[f64], other: &[f64], objectives: &[Objective]) -> bool {
    let mut better = false;
    for ((own, of), objective) in one.iter().zip(other).zip(objectives) {
        let (own, of) = if objective.more { (of, own) } else { (own, of) };
        if own > of {
            return false;
        }
        better |= own < of;
    }
    better
}

/// The geometric mean of a column; none where a row has no positive value.
fn mean(rows: &[&Row], column: &str) -> Option<f64> {
    let value = |row: &&Row| {
        let value = if column == STORAGE { storage_bytes(row) } else { number(row, column) };
        value.filter(|value| *value > 0.0)
    };
    let values: Vec<f64> = rows.iter().map(value).collect::<Option<_>>()?;
    let (lowest, highest) = (values.iter().copied().reduce(f64::min)?, values.iter().copied());
    // Values that are all the same, or a single one, are not rounded.
    if highest.reduce(f64::max) == Some(lowest) {
        return Some(lowest);
    }
    geometric_mean(&values)
}

/// A number in a column.
pub(super) fn number(row: &Row, column: &str) -> Option<f64> {
    match row.get(column)? {
        Cell::Number(number) => Some(number as f64),
        Cell::Real(number) | Cell::Rounded(number, _) => Some(number),
        Cell::Switch(_) | Cell::Text(_) => None,
    }
}

/// Registers of an SM: its main register file, the levels above it and its write pool. Unit: bytes.
fn storage_bytes(row: &Row) -> Option<f64> {
    let count = |key: &str| number(row, key);
    let small = |key: &str| count(key).unwrap_or(0.0) as u8;
    let warps = count("active_warps").or_else(|| count("sm.warps"))? as u8;
    let last = match (row.get("last_result_file"), row.get("orf.lrf")) {
        (Some(Cell::Switch(true)), _) => 1,
        (_, Some(Cell::Text(kind))) if kind == "unified" => 1,
        (_, Some(Cell::Text(kind))) if kind == "split" => strata_core::placement::LRF_BANKS,
        _ => 0,
    };
    let entries = [small("cache.entries"), small("orf.entries"), last];
    let levels: u64 = entries.iter().map(|&entries| cache_data_bytes(entries, warps)).sum();
    let pool = cache_data_bytes(small("collectors.write_pool_entries"), 1);
    Some(count("sm.register_file_kb")? * 1024.0 + (levels + pool) as f64)
}

/// The designs, with what differs between the designs of the sweep.
fn table(best: &[&Candidate<'_>], list: &List, objectives: &[Objective]) -> Columns {
    let of_inputs = ["workload", "set"];
    let axes = list.axes.iter().filter(|axis| !of_inputs.contains(&axis.as_str()));
    let axes: Vec<String> = axes.cloned().collect();
    let labels = if axes.is_empty() { vec!["design".to_owned()] } else { axes };
    let mut header = labels.clone();
    header.extend(objectives.iter().map(|objective| objective.column.clone()));
    let rows = best.iter().map(|candidate| {
        let own = labels.iter().map(|label| candidate.row.get(label));
        let values = candidate.values.iter().map(|&value| Some(Cell::Real(rounded(value))));
        own.chain(values).collect()
    });
    Columns { rows: rows.collect(), header }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_is_beaten_by_one_that_is_as_good_and_somewhere_better() {
        let objective = |more| Objective { column: String::new(), more };
        let objectives = [objective(false), objective(true)];
        let beats = |one: [f64; 2], other: [f64; 2]| beats(&one, &other, &objectives);
        assert!(beats([1.0, 5.0], [2.0, 4.0]));
        // As good in one of them.
        assert!(beats([1.0, 5.0], [2.0, 5.0]) && beats([1.0, 5.0], [1.0, 4.0]));
        // Equal designs do not beat each other, nor do those that are worse somewhere.
        assert!(!beats([1.0, 5.0], [1.0, 5.0]));
        assert!(!beats([1.0, 3.0], [2.0, 4.0]) && !beats([2.0, 5.0], [1.0, 4.0]));
    }
}
