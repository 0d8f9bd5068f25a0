//! Registers: dynamic instructions with fewer and fewer registers per thread, as `[MICRO2012]`
//! Table 1 shows them.

use strata_compiler::RegisterLimit;

use crate::exact::{PAPER_REGISTERS, PaperRegisters};
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request, SpillTraffic};
use strata_report::columns::Columns;
use strata_report::rounded;
use strata_report::text_table::TextTable;
use strata_workload::Workload;

/// One workload's row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub workload: String,
    /// Registers per thread that its hungriest kernel needs to spill nothing.
    pub needed: u16,
    /// For each limit, what was executed.
    pub traffic: Vec<SpillTraffic>,
}

/// Executes workloads with each limit, compares every result with the host reference, and counts
/// instructions. Rows come in the order of the workloads, whatever `jobs` is, and there is one of
/// each that was begun before Ctrl-C.
pub fn rows(
    workloads: &[Workload],
    limits: &[RegisterLimit],
    request: &Request,
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Vec<Row>, Failure> {
    let row = |workload: &Workload| row(workload, limits, request, notes);
    let finished = parallel::finished(workloads, jobs, notes, |workload| &workload.name, row)?;
    Ok(finished.results)
}

fn row(
    workload: &Workload,
    limits: &[RegisterLimit],
    request: &Request,
    notes: &dyn Notes,
) -> Result<Row, Failure> {
    let mut workload = workload.clone();
    workload.options.registers = None;
    // Without a limit nothing is executed: a kernel may need more registers than there are.
    let free = strata_workload::Prepared::new(&workload, &request.size, &request.overrides)
        .map_err(|error| subject::run_error(&workload, &error))?;
    let needed = free.programs.iter().map(|program| program.general_registers).max();
    let mut traffic = Vec::with_capacity(limits.len());
    for &limit in limits {
        workload.options.registers = Some(limit);
        let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
        let mut here = SpillTraffic::default();
        measure::each_launch(&workload, &prepared, request, notes, |launch| {
            launch.add_spills(&mut here);
            Ok(())
        })?;
        traffic.push(here);
    }
    let needed = needed.unwrap_or(0);
    Ok(Row { workload: workload.name, needed, traffic })
}

/// The rows as a table; beneath each workload of `[MICRO2012]` Table 1, what that prints.
pub fn to_table(rows: &[Row], limits: &[RegisterLimit], paper: &[PaperRegisters]) -> String {
    let mut all = TextTable::new();
    let mut header = vec!["workload".to_owned(), String::new(), "no spills\nat".to_owned()];
    header.extend(limits.iter().map(|limit| format!("{}\nregisters", limit.get())));
    all.set_header(header);
    for row in rows {
        let mut cells = vec![row.workload.clone(), "ours".to_owned(), row.needed.to_string()];
        cells.extend(row.traffic.iter().map(|traffic| {
            let relative = traffic.percent().map(|percent| format!("{:.3}", percent / 100.0));
            relative.unwrap_or_default()
        }));
        all.add_row(cells);
        let Some(printed) = paper.iter().find(|printed| printed.name == row.workload) else {
            continue;
        };
        let mut cells = vec![String::new(), "paper".to_owned(), printed.needed.to_string()];
        cells.extend(limits.iter().map(|limit| {
            let place = PAPER_REGISTERS.iter().position(|&count| count == limit.get());
            let value = place.and_then(|place| printed.relative.get(place));
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
        }));
        all.add_row(cells);
    }
    all.right_from(2);
    all.group(1);
    format!("{all}\n")
}

/// One row for each workload and limit.
pub fn to_columns(rows: &[Row], limits: &[RegisterLimit], paper: &[PaperRegisters]) -> Columns {
    let header = [
        "workload",
        "registers",
        "needed",
        "instructions",
        "spill_stores",
        "spill_fills",
        "made_again",
    ];
    let relative = ["relative_percent", "paper_needed", "paper_relative_percent"];
    let mut columns = Columns::new(header.into_iter().chain(relative));
    for row in rows {
        let printed = paper.iter().find(|printed| printed.name == row.workload);
        for (limit, traffic) in limits.iter().zip(&row.traffic) {
            let place = PAPER_REGISTERS.iter().position(|&count| count == limit.get());
            let of_paper = place.zip(printed).and_then(|(place, of)| of.relative.get(place));
            columns.rows.push(vec![
                Some((&row.workload).into()),
                Some(u32::from(limit.get()).into()),
                Some(u32::from(row.needed).into()),
                Some(traffic.executed.into()),
                Some(traffic.stores.into()),
                Some(traffic.fills.into()),
                Some(traffic.again.into()),
                traffic.percent().map(|percent| rounded(percent).into()),
                printed.map(|printed| u32::from(printed.needed).into()),
                of_paper.map(|&relative| rounded(relative * 100.0).into()),
            ]);
        }
    }
    columns
}
