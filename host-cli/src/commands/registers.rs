//! `study registers`: what fewer registers per thread add to the instructions that are executed.

use strata_compiler::RegisterLimit;

use crate::cli::study::RegistersArgs;
use crate::printer::Printer;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::Request;
use strata_measure::parallel;
use strata_measure::subject;
use strata_report::columns::Columns;
use strata_study::exact;
use strata_study::study::registers::{rows, to_columns, to_table};

use super::lists::{distinct, missing};
use super::tables;

/// What the rows of the table are.
const REMARKS: &str = "\
ours: warp instructions of PTX relative to no spills, by this project's allocation
paper: [MICRO2012] Table 1, of its own workloads
";

/// What `--plot` draws.
const AXES: plot::Axes<'static> = plot::Axes {
    x: "registers",
    y: &["relative_percent"],
    series: &["workload"],
    only: None,
    kind: Kind::Lines,
};

/// Runs the command.
pub fn run(args: &RegistersArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    if args.source.registers.is_some() {
        return Err(Failure::input("`--registers` is one number")
            .hint("`--try 16,20,24` lists the numbers to try"));
    }
    tables::check(&args.table, &to_columns(&[], &[], &[]))?;
    let plot = args.plot.asked()?;
    let request = Request::new(&args.source)?;
    let workloads =
        subject::workloads(&args.inputs, &args.source, "whose registers are allocated", printer)?;
    let limits: Vec<RegisterLimit> =
        distinct(args.counts.iter().copied()).into_iter().filter_map(RegisterLimit::new).collect();
    let rows = rows(&workloads, &limits, &request, parallel::jobs(args.jobs), printer)?;
    let paper = exact::paper_registers();
    let columns = to_columns(&rows, &limits, &paper);
    let missing = missing(&workloads, rows.len());
    let plot = plot.filter(|_| missing.is_empty());
    let drawn = plot::draw(plot.as_ref(), &columns, &AXES, &plot::typed());
    let table = || to_table(&rows, &limits, &paper) + REMARKS;
    let status = tables::print(&args.table, columns, printer, table, Columns::json)?;
    parallel::check_all(workloads.len(), &missing)?;
    drawn.map(|()| status)
}
