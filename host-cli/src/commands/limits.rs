//! `study limits`: the idealisations of a compiler-managed hierarchy.

use strata_compiler::Order;

use super::lists::missing;
use super::tables;
use crate::cli::study::LimitsArgs;
use crate::printer::Printer;
use strata_design as design;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::Request;
use strata_measure::parallel;
use strata_measure::subject;
use strata_report::columns::Columns;
use strata_study::study::limits;

/// Runs the command.
pub fn run(args: &LimitsArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    if args.source.order()? == Order::Close {
        return Err(Failure::input("`--order close` is one of the limits")
            .hint("leave it out; it has a column of its own"));
    }
    tables::check(&args.table, &limits::to_columns(&[]))?;
    let design = design::resolve(&args.design)?;
    design.countable()?;
    let request = Request::new(&args.source)?;
    let workloads =
        subject::workloads(&args.inputs, &args.source, "which has no program to fit", printer)?;
    let jobs = parallel::jobs(args.jobs);
    let rows = limits::rows(&workloads, &design, &limits::CLOCKS, &request, jobs, printer)?;
    let table = || limits::to_table(&rows, &design.name);
    let columns = limits::to_columns(&rows);
    let status = tables::print(&args.table, columns, printer, table, Columns::json)?;
    parallel::check_all(workloads.len(), &missing(&workloads, rows.len())).map(|()| status)
}
