//! A study of storage as text.

use std::fmt::Write as _;

use super::{Row, Run, Study};
use crate::report::PartitionReport;
use crate::report::csv::field;
use crate::report::table::{align, new_table};

/// The columns of both formats.
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

fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0)
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"))
}

/// The cells of a row, as far as it ran.
fn cells(row: &Row) -> Vec<String> {
    let mut cells = vec![row.input.clone(), row.point.clone()];
    let Some(run) = &row.run else {
        cells.resize(COLUMNS.len(), String::new());
        return cells;
    };
    let Run { partition, registers, cycles, dram_bytes, .. } = run;
    let of = |get: fn(&PartitionReport) -> String| partition.as_ref().map_or_else(String::new, get);
    cells.push(registers.to_string());
    cells.push(of(|partition| partition.threads.to_string()));
    cells.push(of(|partition| kilobytes(partition.registers_bytes)));
    cells.push(of(|partition| kilobytes(partition.shared_bytes)));
    cells.push(of(|partition| kilobytes(partition.cache_bytes)));
    cells.push(cycles.to_string());
    cells.push(ratio(run.performance));
    cells.push(dram_bytes.to_string());
    cells.push(ratio(run.dram_relative));
    cells.push(ratio(run.instructions_relative));
    cells
}

/// A table to read, with what the papers claim behind it.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let mut table = new_table();
    table.set_header(COLUMNS.map(|name| name.replace('_', " ")));
    for row in &study.rows {
        table.add_row(cells(row));
    }
    align(&mut table);
    let mut text = format!("{table}\n");
    let _ =
        writeln!(text, "performance, DRAM and instructions relative to {}", study.compared_with);
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

/// One line for each input and point.
pub fn to_csv(study: &Study) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for row in &study.rows {
        let cells: Vec<String> = cells(row).iter().map(|cell| field(cell)).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}
