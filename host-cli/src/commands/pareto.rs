//! `pareto`: the designs of a sweep that no other beats.

use crate::cli::Mode;
use crate::cli::pareto::ParetoArgs;
use crate::failure::{ExitStatus, Failure};
use crate::printer::Printer;
use crate::report::columns::Cell;
use crate::sweep::pareto::{self, Objective, STORAGE};
use crate::sweep::row::Row;
use crate::sweep::store::Store;
use crate::sweep::table::filtered;

/// Runs the command.
pub fn run(args: &ParetoArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let (store, list) = Store::open(&args.folder)?;
    let mut contents = store.contents()?;
    contents.notes().for_each(|note| printer.note(&note));
    let rows = contents.take(&list);
    if rows.len() < list.points.len() {
        let missing = list.points.len() - rows.len();
        printer.note(&format!("{missing} of {} points are missing", list.points.len()));
    }
    let rows = filtered(rows, &args.wanted)?;
    let front = pareto::front(&rows, &list, &objectives(args, &rows))?;
    if front.without != 0 {
        printer.note(&format!(
            "{} without a value for each input take no part: a point failed, or its energy is not \
             known (`--energy interpolate` of `strata sweep`)",
            designs(front.without)
        ));
    }
    printer.note(&format!("{} beaten", designs(front.beaten)));
    printer.data(&front.table.to_text(args.format.into())?)
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
