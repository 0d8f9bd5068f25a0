//! `study storage`: the figures and tables about the capacity and the division of storage.

use super::tables;
use crate::cli::study::StorageArgs;
use crate::printer::Printer;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::options::Mode;
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::json;
use strata_study::exact;
use strata_study::study::storage;
use strata_workload::Workload;

/// What `--plot` draws.
const AXES: plot::Axes<'static> = plot::Axes {
    x: "point",
    y: &["performance"],
    series: &["input"],
    only: None,
    kind: Kind::Bars,
};

/// Runs the command.
pub fn run(args: &StorageArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    if args.source.registers.is_some() {
        return Err(Failure::input("`--registers` is part of a figure here")
            .hint("leave it out; `--figure registers` and `--figure needs` try several numbers"));
    }
    let plot = args.plot.asked()?;
    let request = Request::new(&args.source)?.in_mode(Mode::Cycle);
    let own;
    let inputs = match args.inputs.as_slice() {
        [] => {
            own = args.figure.inputs();
            &own
        }
        inputs => inputs,
    };
    let inputs = subject::workloads(
        inputs,
        &args.source,
        "which the designs' compiler cannot fit",
        printer,
    )?;
    let jobs = parallel::jobs(args.jobs);
    let mut study = storage::run(args.figure, &inputs, &request, jobs, printer)?;
    study.command = command_line(args, &inputs, &request);
    let columns = storage::to_columns(&study);
    let plot = plot.filter(|_| study.missing.is_empty());
    let drawn = plot::draw(plot.as_ref(), &columns, &AXES, &study.command);
    let table = || storage::to_table(&study, &remarks(args));
    let status = tables::print(&args.table, columns, printer, table, |_| json::to_text(&study))?;
    parallel::check_all(inputs.len(), &study.missing)?;
    drawn.map(|()| status)
}

/// What makes the study again.
fn command_line(args: &StorageArgs, inputs: &[Workload], request: &Request) -> String {
    let mut words = vec!["--figure".to_owned(), args.figure.name().to_owned()];
    // Studies are in cycle mode, and have no option for it.
    words.extend(request.words().iter().skip(2).cloned());
    let inputs = inputs.iter().map(|input| input.arguments.as_slice());
    measure::command_line("strata study storage", inputs, &words)
}

/// What the papers claim.
fn remarks(args: &StorageArgs) -> Vec<String> {
    let id = args.figure.claim();
    let claims = exact::claims().iter().filter(|claim| claim.id == id);
    claims.map(|claim| format!("paper ({}): {}", claim.paper, claim.text)).collect()
}
