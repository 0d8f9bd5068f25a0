//! A study of residency as text.

use std::fmt::Write as _;

use super::{MACHINES, Row, Study, Taken};
use strata_report::columns::{Cell, Columns};
use strata_report::text_table::TextTable;

/// The columns of kernels, in both formats.
const COLUMNS: [&str; 25] = [
    "group",
    "machine",
    "input",
    "kernel",
    "threads",
    "registers",
    "scratchpad_bytes",
    "limit",
    "baseline_ctas",
    "baseline_warps",
    "baseline_percent",
    "warpman_ctas",
    "warpman_warps",
    "warpman_percent",
    "expars_ctas",
    "expars_warps",
    "expars_percent",
    "whole_ctas",
    "mixed_ctas",
    "start_register",
    "horizontal_ctas",
    "horizontal_warps",
    "scratchpad_warps",
    "oracle_ctas",
    "oracle_percent",
];

fn percent(value: f64) -> Cell {
    Cell::Rounded(value, 1)
}

/// The cells of a kernel, as far as it fits.
fn cells(row: &Row) -> Vec<Option<Cell>> {
    let own = [&row.group, &row.machine, &row.input, &row.kernel].map(Cell::from);
    let sizes = [row.threads, row.registers, row.scratchpad_bytes].map(Cell::from);
    let mut cells: Vec<_> = own.into_iter().chain(sizes).map(Some).collect();
    if let Some(resident) = &row.resident {
        cells.push(Some((&resident.limit).into()));
        for Taken { ctas, warps, both_percent, .. } in
            [resident.baseline, resident.warpman, resident.expars]
        {
            cells.extend([ctas.into(), warps.into(), percent(both_percent)].map(Some));
        }
        let split = resident.split.map(|one| [one.whole, one.mixed, one.start_register]);
        cells
            .extend(split.map_or([const { None }; 3], |numbers| numbers.map(|of| Some(of.into()))));
        let numbers = [
            resident.horizontal.ctas,
            resident.horizontal.warps,
            resident.scratchpad_warps,
            resident.oracle.ctas,
        ];
        cells.extend(numbers.map(|number| Some(number.into())));
        cells.push(Some(percent(resident.oracle.both_percent)));
    }
    cells.resize(COLUMNS.len(), None);
    cells
}

/// Tables to read, with what the paper prints behind them.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let mut text = String::new();
    for (machine, _) in MACHINES {
        let mut table = TextTable::new();
        table.set_header(COLUMNS[2..].iter().map(|name| name.replace('_', "\n")));
        for row in study.rows.iter().filter(|row| row.machine == machine) {
            let shown = |cell: Option<Cell>| cell.map_or_else(String::new, |cell| cell.to_string());
            table.add_row(cells(row).into_iter().skip(2).map(shown));
        }
        table.right_from(2);
        let _ = writeln!(text, "{machine}\n{table}\n");
        for row in study.rows.iter().filter(|row| row.machine == machine) {
            if let Some(refused) = &row.refused {
                let _ = writeln!(text, "{} {}: {refused}", row.input, row.kernel);
            }
        }
    }
    for table in [means(study), required(study), thresholds(study), hardware(study)] {
        text += &table;
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}

fn titled(title: &str, header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = TextTable::new();
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    table.right_from(2);
    format!("{title}\n{table}\n\n")
}

/// The kernels that means are of.
fn of(register_sensitive: bool) -> &'static str {
    if register_sensitive { "register-sensitive" } else { "all" }
}

fn means(study: &Study) -> String {
    let rows = study.means.iter().flat_map(|means| {
        means.ways.iter().map(|way| {
            vec![
                format!("{}, {}", means.group, means.machine),
                way.way.clone(),
                of(means.register_sensitive).to_owned(),
                means.kernels.to_string(),
                format!("{:.2}", way.ctas),
                format!("{:.2}", way.warps),
                format!("{:.3}", way.ctas_relative),
                format!("{:.2}", way.registers_percent),
                format!("{:.2}", way.scratchpad_percent),
                format!("{:.2}", way.both_percent),
            ]
        })
    });
    let header = [
        "",
        "way",
        "kernels",
        "number",
        "CTAs",
        "warps",
        "CTAs\nrelative",
        "registers\n%",
        "scratchpad\n%",
        "both\n%",
    ];
    titled("Means", &header, rows)
}

fn required(study: &Study) -> String {
    let rows = study.means.iter().map(|means| {
        vec![
            format!("{}, {}", means.group, means.machine),
            of(means.register_sensitive).to_owned(),
            means.kernels.to_string(),
            format!("{:.2}", means.required_registers),
            format!("{:.2}", means.required_scratchpad),
        ]
    });
    let header = ["", "kernels", "number", "registers", "scratchpad"];
    titled("Storage required for the most CTAs, relative to the machine's", &header, rows)
}

fn thresholds(study: &Study) -> String {
    let rows = study.thresholds.iter().map(|one| {
        vec![
            format!("{}, {}", one.group, one.machine),
            format!("{:.1}", one.threshold),
            one.ctas.to_string(),
            one.mixed.to_string(),
        ]
    });
    titled("CTAs by the threshold", &["", "threshold", "CTAs", "mixed"], rows)
}

fn hardware(study: &Study) -> String {
    let rows = study.hardware.iter().map(|one| {
        let bytes = format!("{:.1}", f64::from(one.bits) / 8.0);
        vec![one.machine.clone(), one.part.clone(), one.bits.to_string(), bytes]
    });
    titled("Storage of the hardware", &["", "part", "bits", "bytes"], rows)
}

/// The columns without rows.
pub fn no_columns() -> Columns {
    Columns::new(COLUMNS)
}

/// One row for each machine and kernel.
pub fn to_columns(study: &Study) -> Columns {
    let mut columns = no_columns();
    columns.rows = study.rows.iter().map(cells).collect();
    columns
}
