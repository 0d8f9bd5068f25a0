//! A study of storage as text.

use std::fmt::Write as _;

use strata_core::storage_energy::StoragePart;

use super::{Conflicts, Energy, Figure, Row, Run, Study};
use crate::report::PartitionReport;
use crate::report::csv::field;
use crate::report::table::{align, new_table};

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
struct Columns {
    /// Technologies, each with what it has columns for.
    technologies: Vec<String>,
    /// The parts of energy, too.
    parts: bool,
    banks: bool,
}

impl Columns {
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
    fn cells(&self, row: &Row) -> Vec<String> {
        let mut cells = vec![row.input.clone(), row.point.clone()];
        let Some(run) = &row.run else {
            cells.resize(self.names().len(), String::new());
            return cells;
        };
        cells.extend(of_run(run));
        for technology in &self.technologies {
            let energy = run.energy.iter().find(|energy| energy.technology == *technology);
            cells.push(ratio(energy.and_then(|energy| energy.relative)));
            cells.push(ratio(energy.and_then(|energy| energy.performance_per_joule)));
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

fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0)
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"))
}

/// What every figure has of a run.
fn of_run(run: &Run) -> [String; 10] {
    let Run { partition, registers, cycles, dram_bytes, .. } = run;
    let of = |get: fn(&PartitionReport) -> String| partition.as_ref().map_or_else(String::new, get);
    [
        registers.to_string(),
        of(|partition| partition.threads.to_string()),
        of(|partition| kilobytes(partition.registers_bytes)),
        of(|partition| kilobytes(partition.shared_bytes)),
        of(|partition| kilobytes(partition.cache_bytes)),
        cycles.to_string(),
        ratio(run.performance),
        dram_bytes.to_string(),
        ratio(run.dram_relative),
        ratio(run.instructions_relative),
    ]
}

/// Each part's energy, and the total.
fn parts(energy: Option<&Energy>) -> Vec<String> {
    let names = StoragePart::ALL.map(StoragePart::name).into_iter().chain(["total"]);
    let of = |name: &str| energy.and_then(|energy| energy.energy_fj.get(name));
    names.map(|name| of(name).map_or_else(String::new, ToString::to_string)).collect()
}

fn banks(conflicts: &Conflicts) -> Vec<String> {
    let shares = conflicts.shares();
    let share =
        |bin: usize| shares.map_or_else(String::new, |shares| format!("{:.2}", shares[bin]));
    let cycles = [conflicts.arbitration_cycles, conflicts.memory_cycles];
    (0..5).map(share).chain(cycles.map(|cycles| cycles.to_string())).collect()
}

/// A table to read, with what the papers claim behind it.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let columns = Columns::of_figure(study);
    let mut table = new_table();
    table.set_header(columns.names().iter().map(|name| heading(name)));
    for row in &study.rows {
        table.add_row(columns.cells(row));
    }
    align(&mut table);
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

/// One line for each input and point.
pub fn to_csv(study: &Study) -> String {
    let columns = Columns::all(study);
    let mut text = columns.names().join(",") + "\n";
    for row in &study.rows {
        let cells: Vec<String> = columns.cells(row).iter().map(|cell| field(cell)).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}
