//! The study as tables and as columns.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use strata_core::sm::counters::SmCounters;

use super::{InputPoint, Point, Series, Study};
use strata_report::columns::{Cell, Columns};
use strata_report::text_table::TextTable;

/// One table for each series: inputs down, sizes across, as Figure 10; then mean and standard
/// deviation, as Figure 9. `remarks` follow.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let mut text = String::new();
    for series in &study.series {
        let Series { design, scheduler, alu_latency_cycles, order, points } = series;
        let _ = writeln!(
            text,
            "{design}: {scheduler}, ALU latency {alu_latency_cycles} cycles, {order} order"
        );
        let _ = writeln!(text, "{}\n", series_table(points));
    }
    text.push_str(
        "IPC in thread instructions a cycle, 32 at most, by active warps; all: one level.\n\
         Mean and standard deviation count every input once, as a population.\n",
    );
    for changed in &study.changed {
        let _ = writeln!(text, "changed: {changed}");
    }
    for assumed in &study.assumed {
        let _ = writeln!(text, "assumed: {assumed}");
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}

fn series_table(points: &[Point]) -> TextTable {
    let mut table = TextTable::new();
    let mut header = vec!["IPC".to_owned(), "resident\nwarps".to_owned()];
    header.extend(points.iter().map(size));
    table.set_header(header);
    let inputs = points.first().map_or(0, |point| point.inputs.len());
    for place in 0..inputs {
        let of_point: Vec<&InputPoint> = points.iter().map(|point| &point.inputs[place]).collect();
        let mut cells = vec![of_point[0].input.clone(), of_point[0].resident_warps.to_string()];
        cells.extend(of_point.iter().map(|input| number(input.ipc, 2)));
        table.add_row(cells);
    }
    let mut summary = |name: &str, value: fn(&Point) -> Option<f64>, decimals| {
        let mut cells = vec![name.to_owned(), String::new()];
        cells.extend(points.iter().map(|point| number(value(point), decimals)));
        table.add_row(cells);
    };
    if inputs > 1 {
        summary("mean", |point| point.ipc_mean, 2);
        summary("standard deviation", |point| point.ipc_standard_deviation, 2);
    }
    if points.iter().any(|point| point.ipc_relative_percent.is_some()) {
        summary("mean, % of all", |point| point.ipc_relative_percent, 1);
    }
    table.right_from(2);
    table
}

fn size(point: &Point) -> String {
    point.active_warps.map_or_else(|| "all".to_owned(), |warps| warps.to_string())
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// The columns before those of the counters.
const LABELS: [&str; 8] = [
    "design",
    "scheduler",
    "alu_latency_cycles",
    "order",
    "active_warps",
    "input",
    "resident_warps",
    "ipc",
];

/// The columns without rows.
pub fn no_columns() -> Columns {
    let counters = SmCounters::default();
    Columns::new(LABELS.into_iter().chain(counters.iter().map(|(name, _)| name)))
}

/// One row for each series, size and input.
pub fn to_columns(study: &Study) -> Columns {
    let points = || study.series.iter().flat_map(|series| &series.points);
    let names: BTreeSet<&String> =
        points().flat_map(|point| &point.inputs).flat_map(|input| input.counters.keys()).collect();
    let header = LABELS.map(str::to_owned).into_iter().chain(names.iter().copied().cloned());
    let mut columns = Columns::new(header);
    for series in &study.series {
        for point in &series.points {
            for input in &point.inputs {
                let counter = |name: &&String| input.counters.get(*name).map(|&count| count.into());
                let row = labelled(series, point, input).into_iter();
                columns.rows.push(row.chain(names.iter().map(counter)).collect());
            }
        }
    }
    columns
}

fn labelled(series: &Series, point: &Point, input: &InputPoint) -> [Option<Cell>; 8] {
    let Series { design, scheduler, alu_latency_cycles, order, .. } = series;
    [
        Some(design.into()),
        Some(scheduler.into()),
        Some(u32::from(*alu_latency_cycles).into()),
        Some(order.into()),
        Some(size(point).into()),
        Some((&input.input).into()),
        Some(input.resident_warps.into()),
        input.ipc.map(Cell::Real),
    ]
}
