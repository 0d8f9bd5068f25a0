//! The study as tables and as columns.

use std::fmt::Write as _;

use strata_ptx::diagnostic::counted;

use super::{Figures, Point, Series, Study};
use strata_report::columns::{Cell, Columns};
use strata_report::text_table::TextTable;

/// One table for each axis: its series down, means over the inputs. `remarks` follow.
pub fn to_table(study: &Study, remarks: &[String]) -> String {
    let inputs = study.series.iter().flat_map(|series| &series.points).next();
    let inputs = inputs.map_or(0, |point| point.inputs.len());
    let mut text = format!(
        "{} against {}, IPC {}, mean over {}\n\n",
        study.design,
        study.baseline,
        number(study.baseline_ipc_mean, 2),
        counted(inputs, "input")
    );
    for (sweep, title) in [
        ("write_pool_entries", "Entries of the write pool"),
        ("write_pool_ports", "Ports of the pool"),
        ("write_cycles", "Cycles of a write"),
    ] {
        let series = || study.series.iter().filter(|series| series.sweep == sweep);
        if series().next().is_some() {
            let _ = writeln!(text, "{title}\n{}\n", sweep_table(series()));
        }
    }
    text.push_str(
        "IPC in thread instructions a cycle; writes avoided: of the main register file; hits: of \
         operand reads\nand of writes, in the pool; energy, its product with time (EDP) and \
         relative IPC in % of the baseline's;\nwear: most writes of a cell in an input; *: the \
         design itself; pool ports: 1rw one access in a cycle, 1r1w a read and a write,\nN that \
         many of any kind\n",
    );
    for changed in &study.changed {
        let _ = writeln!(text, "changed: {changed}");
    }
    for source in &study.sources {
        let _ = writeln!(text, "source: {source}");
    }
    for assumed in &study.assumed {
        let _ = writeln!(text, "assumed: {assumed}");
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}

fn sweep_table<'a>(series: impl Iterator<Item = &'a Series>) -> TextTable {
    let mut table = TextTable::new();
    table.set_header([
        "point",
        "split\nbanks",
        "pool\nentries",
        "pool\nports",
        "write\ncycles",
        "IPC",
        "relative\nIPC",
        "writes\navoided",
        "read\nhits",
        "write\nhits",
        "dynamic\nenergy",
        "total\nenergy",
        "EDP",
        "wear",
    ]);
    for point in series.flat_map(|series| &series.points) {
        let mark = if point.own { "*" } else { "" };
        let mut cells = vec![mark.to_owned(), yes(point.split_bank_write).to_owned()];
        cells.push(point.write_pool_entries.to_string());
        cells.extend([point.write_pool_ports.clone(), point.write_cycles.to_string()]);
        let Figures { ipc, cell_writes_max, .. } = point.mean;
        cells.push(number(ipc, 2));
        cells.extend(percentages(&point.mean).map(|value| number(value, 1)));
        cells.push(cell_writes_max.map_or_else(|| "-".to_owned(), |writes| writes.to_string()));
        table.add_row(cells);
    }
    table.right_from(2);
    table
}

fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// All but IPC and wear, in the order of the columns.
fn percentages(figures: &Figures) -> [Option<f64>; 7] {
    [
        figures.ipc_relative_percent,
        figures.mrf_writes_avoided_percent,
        figures.pool_read_hits_percent,
        figures.pool_write_hits_percent,
        figures.dynamic_energy_relative_percent,
        figures.total_energy_relative_percent,
        figures.energy_delay_relative_percent,
    ]
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// The columns without rows.
pub fn no_columns() -> Columns {
    let labels = [
        "design",
        "sweep",
        "split_bank_write",
        "write_pool_entries",
        "write_pool_ports",
        "write_cycles",
        "input",
        "ipc",
        "ipc_relative_percent",
        "mrf_writes_avoided_percent",
        "pool_read_hits_percent",
        "pool_write_hits_percent",
        "dynamic_energy_relative_percent",
        "total_energy_relative_percent",
        "energy_delay_relative_percent",
        "cell_writes_max",
    ];
    Columns::new(labels.into_iter().chain(super::COUNTERS))
}

/// One row for each series, point and input.
pub fn to_columns(study: &Study) -> Columns {
    let mut columns = no_columns();
    for series in &study.series {
        for point in &series.points {
            columns.rows.extend(rows(&study.design, &series.sweep, point));
        }
    }
    columns
}

fn rows(design: &str, sweep: &str, point: &Point) -> impl Iterator<Item = Vec<Option<Cell>>> {
    let Point { write_pool_entries, write_pool_ports, write_cycles, .. } = point;
    point.inputs.iter().map(move |input| {
        let labels: [Cell; 7] = [
            design.into(),
            sweep.into(),
            point.split_bank_write.into(),
            u32::from(*write_pool_entries).into(),
            write_pool_ports.into(),
            u32::from(*write_cycles).into(),
            (&input.input).into(),
        ];
        let mut row = labels.map(Some).to_vec();
        row.push(input.figures.ipc.map(Cell::Real));
        row.extend(percentages(&input.figures).map(|value| value.map(Cell::Real)));
        row.push(input.figures.cell_writes_max.map(Cell::from));
        let counter = |name| input.counters.get(name).map(|&count: &u64| count.into());
        row.extend(super::COUNTERS.map(counter));
        row
    })
}
