//! `pareto`: the designs of a sweep that no other beats.

use super::sweep;
use crate::cli::pareto::ParetoArgs;
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::notes::Notes as _;
use strata_measure::options::Mode;
use strata_report::columns::Cell;
use strata_study::sweep::pareto::{self, Objective, STORAGE};
use strata_study::sweep::row::Row;

/// Runs the command.
pub fn run(args: &ParetoArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let (rows, list) = sweep::points(&args.folder, &args.wanted, printer)?;
    let front = pareto::front(&rows, &list, &objectives(args, &rows))?;
    if front.without != 0 {
        printer.note(&format!(
            "{} without a value for each input take no part: a point failed, or its energy is not \
             known (`--energy interpolate` of `strata sweep`)",
            designs(front.without)
        ));
    }
    printer.note(&format!("{} beaten", designs(front.beaten)));
    let table = front.table.select(&args.columns.names)?;
    printer.table(&table, args.format.into())
}

fn designs(count: usize) -> String {
    if count == 1 { "1 design".to_owned() } else { format!("{count} designs") }
}

fn objectives(args: &ParetoArgs, rows: &[Row]) -> Vec<Objective> {
    let of = |more: bool| move |column: &String| Objective { column: column.clone(), more };
    let given: Vec<_> =
        args.minimise.iter().map(of(false)).chain(args.maximise.iter().map(of(true))).collect();
    if !given.is_empty() {
        return given;
    }
    let cycle = Some(Cell::Text(Mode::Cycle.name().to_owned()));
    let timed = rows.iter().any(|row| row.get("mode") == cycle);
    let second = if timed { ("ipc", true) } else { (STORAGE, false) };
    [("energy_total_fj", false), second]
        .map(|(column, more)| Objective { column: column.to_owned(), more })
        .to_vec()
}
