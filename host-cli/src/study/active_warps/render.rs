//! The study as a table, as JSON and as CSV.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{InputPoint, Point, Series, Study};
use crate::report::table::{align, new_table};

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

fn series_table(points: &[Point]) -> comfy_table::Table {
    let mut table = new_table();
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
    align(&mut table);
    table
}

fn size(point: &Point) -> String {
    point.active_warps.map_or_else(|| "all".to_owned(), |warps| warps.to_string())
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// One line for each series, size and input.
pub fn to_csv(study: &Study) -> String {
    let points = || study.series.iter().flat_map(|series| &series.points);
    let names: BTreeSet<&String> =
        points().flat_map(|point| &point.inputs).flat_map(|input| input.counters.keys()).collect();
    let mut text = String::from(
        "design,scheduler,alu_latency_cycles,order,active_warps,input,resident_warps,ipc",
    );
    for name in &names {
        let _ = write!(text, ",{name}");
    }
    text.push('\n');
    for series in &study.series {
        for point in &series.points {
            for input in &point.inputs {
                line(&mut text, series, point, input);
                for &name in &names {
                    text.push(',');
                    if let Some(count) = input.counters.get(name) {
                        let _ = write!(text, "{count}");
                    }
                }
                text.push('\n');
            }
        }
    }
    text
}

fn line(text: &mut String, series: &Series, point: &Point, input: &InputPoint) {
    let Series { design, scheduler, alu_latency_cycles, order, .. } = series;
    let (design, name) =
        (crate::report::csv::field(design), crate::report::csv::field(&input.input));
    let ipc = input.ipc.map_or_else(String::new, |ipc| ipc.to_string());
    let (size, resident) = (size(point), input.resident_warps);
    let _ = write!(
        text,
        "{design},{scheduler},{alu_latency_cycles},{order},{size},{name},{resident},{ipc}"
    );
}
