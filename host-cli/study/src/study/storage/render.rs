//! A study of storage as text.

use std::fmt::Write as _;

use strata_core::storage_energy::StoragePart;

use super::{Conflicts, Energy, Row, Run, Study};
use crate::study::storage::Figure;
use strata_report::PartitionReport;
use strata_report::columns::{Cell, Columns};
use strata_report::text_table::TextTable;

/// The columns of every figure.
const COLUMNS: [&str; 12] = [
    "input",
    "point",
    "registers",
    "threads",
    "registers_kb",
    "shared_kb",
    "cache_kb",
    "cycles",
    "performance",
    "dram_bytes",
    "dram_relative",
    "instructions_relative",
];

/// The columns of banks: shares of the instructions by their accesses to a bank, and cycles.
const BANKS: [&str; 7] = [
    "at_most_1_access_percent",
    "2_accesses_percent",
    "3_accesses_percent",
    "4_accesses_percent",
    "more_accesses_percent",
    "arbitration_conflict_cycles",
    "memory_conflict_cycles",
];

/// Which columns there are behind those of every figure.
struct Layout {
    /// Technologies, each with what it has columns for.
    technologies: Vec<String>,
    /// The parts of energy, too.
    parts: bool,
    banks: bool,
}

impl Layout {
    /// All that a study has.
    fn all(study: &Study) -> Self {
        Self { technologies: technologies(study), parts: true, banks: true }
    }

    /// What a figure is about.
    fn of_figure(study: &Study) -> Self {
        let is_of = |figures: &[Figure]| figures.iter().any(|of| of.name() == study.figure);
        let energy = [Figure::Unified, Figure::NoBenefit, Figure::Designs, Figure::Limited];
        let technologies = if is_of(&energy) { technologies(study) } else { Vec::new() };
        Self { technologies, parts: false, banks: is_of(&[Figure::Conflicts]) }
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
        for technology in &self.technologies {
            let columns = ["energy_relative", "performance_per_joule"];
            names.extend(columns.map(|name| format!("{technology}_{name}")));
            if self.parts {
                let parts = StoragePart::ALL.map(StoragePart::name).into_iter().chain(["total"]);
                names.extend(parts.map(|part| format!("{technology}_{part}_fj")));
            }
        }
        if self.banks {
            names.extend(BANKS.map(str::to_owned));
        }
        names
    }

    /// The cells of a row, as far as it ran.
    fn cells(&self, row: &Row) -> Vec<Option<Cell>> {
        let mut cells = vec![Some((&row.input).into()), Some((&row.point).into())];
        let Some(run) = &row.run else {
            cells.resize(self.names().len(), None);
            return cells;
        };
        cells.extend(of_run(run));
        for technology in &self.technologies {
            let energy = run.energy.iter().find(|energy| energy.technology == *technology);
            cells.push(energy.and_then(|energy| ratio(energy.relative)));
            cells.push(energy.and_then(|energy| ratio(energy.performance_per_joule)));
            if self.parts {
                cells.extend(parts(energy));
            }
        }
        if self.banks {
            cells.extend(banks(&run.conflicts));
        }
        cells
    }
}

/// The technologies of any row, in order of first appearance.
fn technologies(study: &Study) -> Vec<String> {
    let mut names = Vec::new();
    let runs = study.rows.iter().filter_map(|row| row.run.as_ref());
    for energy in runs.flat_map(|run| &run.energy) {
        if !names.contains(&energy.technology) {
            names.push(energy.technology.clone());
        }
    }
    names
}

fn kilobytes(bytes: u64) -> Cell {
    Cell::Rounded(bytes as f64 / 1024.0, 1)
}

fn ratio(ratio: Option<f64>) -> Option<Cell> {
    ratio.map(|ratio| Cell::Rounded(ratio, 3))
}

/// What every figure has of a run.
fn of_run(run: &Run) -> [Option<Cell>; 10] {
    let Run { partition, registers, cycles, dram_bytes, .. } = run;
    let of = |get: fn(&PartitionReport) -> Cell| partition.as_ref().map(get);
    [
        Some(u32::from(*registers).into()),
        of(|partition| partition.threads.into()),
        of(|partition| kilobytes(partition.registers_bytes)),
        of(|partition| kilobytes(partition.shared_bytes)),
        of(|partition| kilobytes(partition.cache_bytes)),
        Some((*cycles).into()),
        ratio(run.performance),
        Some((*dram_bytes).into()),
        ratio(run.dram_relative),
        ratio(run.instructions_relative),
    ]
}

/// Each part's energy, and the total.
fn parts(energy: Option<&Energy>) -> Vec<Option<Cell>> {
    let names = StoragePart::ALL.map(StoragePart::name).into_iter().chain(["total"]);
    let of = |name: &str| energy.and_then(|energy| energy.energy_fj.get(name));
    names.map(|name| of(name).map(|&energy| energy.into())).collect()
}

fn banks(conflicts: &Conflicts) -> Vec<Option<Cell>> {
    let shares = conflicts.shares();
    let share = |bin: usize| shares.map(|shares| Cell::Rounded(shares[bin], 2));
    let cycles = [conflicts.arbitration_cycles, conflicts.memory_cycles];
    (0..5).map(share).chain(cycles.map(|cycles| Some(cycles.into()))).collect()
}

/// A table to read, with what the papers claim behind it.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let layout = Layout::of_figure(study);
    let mut table = TextTable::new();
    table.set_header(layout.names().iter().map(|name| heading(name)));
    for row in &study.rows {
        let shown = |cell: Option<Cell>| cell.map_or_else(String::new, |cell| cell.to_string());
        table.add_row(layout.cells(row).into_iter().map(shown));
    }
    table.right_from(2);
    let mut text = format!("{table}\n");
    let _ = writeln!(
        text,
        "performance, DRAM, instructions and energy relative to {}",
        study.compared_with
    );
    for row in &study.rows {
        if let Some(refused) = &row.refused {
            let _ = writeln!(text, "{} at {}: {refused}", row.input, row.point);
        }
    }
    for assumed in &study.assumed {
        let _ = writeln!(text, "assumed: {assumed}");
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}

/// A column's name in two lines, if it is long.
fn heading(name: &str) -> String {
    for end in ["_energy_relative", "_performance_per_joule", "_accesses_percent", "_cycles"] {
        if let Some(start) = name.strip_suffix(end) {
            return format!("{}\n{}", start.replace('_', " "), end[1..].replace('_', " "));
        }
    }
    name.replace('_', " ")
}

/// One row for each input and point.
pub fn to_columns(study: &Study) -> Columns {
    let layout = Layout::all(study);
    let mut columns = Columns::new(layout.names());
    columns.rows = study.rows.iter().map(|row| layout.cells(row)).collect();
    columns
}
