//! `study encoding`: the names of a compiler-managed hierarchy, and what they cost.

use super::tables;
use crate::cli::study::EncodingArgs;
use crate::printer::Printer;
use strata_design as design;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::json;
use strata_study::study::encoding;
use strata_workload::Workload;

/// What `--plot` draws: the less is allowed, the more to the right.
const AXES: plot::Axes<'static> = plot::Axes {
    x: "pairs",
    y: &["energy_relative_percent"],
    series: &["read_operands"],
    only: None,
    kind: Kind::Bars,
};

/// Runs the command.
pub fn run(args: &EncodingArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    tables::check(&args.table, &encoding::no_columns())?;
    let plot = args.plot.asked()?;
    let design = design::resolve(&args.design)?;
    design.countable()?;
    let request = Request::new(&args.source)?;
    let workloads =
        subject::workloads(&args.inputs, &args.source, "which has no program to fit", printer)?;
    let (bits, jobs) = (args.specifier_bits, parallel::jobs(args.jobs));
    let mut study = encoding::run(&workloads, &design, bits, &request, jobs, printer)?;
    study.command = command_line(args, &workloads, &request);
    let columns = encoding::to_columns(&study);
    let relative = plot::with_relative_energy(&columns);
    let plot = plot.filter(|_| study.missing.is_empty());
    let drawn = plot::draw(plot.as_ref(), &relative, &AXES, &study.command);
    let table = || encoding::to_table(&study, &remarks());
    let status = tables::print(&args.table, columns, printer, table, |_| json::to_text(&study))?;
    parallel::check_all(workloads.len(), &study.missing)?;
    drawn.map(|()| status)
}

/// What makes the study again.
fn command_line(args: &EncodingArgs, workloads: &[Workload], request: &Request) -> String {
    let mut options = vec!["--design".to_owned(), args.design.clone()];
    options.extend(["--specifier-bits".to_owned(), args.specifier_bits.to_string()]);
    options.extend_from_slice(request.words());
    let inputs = workloads.iter().map(|workload| workload.arguments.as_slice());
    measure::command_line("strata study encoding", inputs, &options)
}

/// What the dissertation prints.
fn remarks() -> Vec<String> {
    vec![
        "[DISS] 6.5.5, Figure 6.18: LRF only +2 %, none +7 %; 4.4.2: a bit at most 0.3 %; its own \
         workloads"
            .to_owned(),
    ]
}
