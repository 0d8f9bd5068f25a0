//! `study residency`: resident CTAs and warps with registers in scratchpad memory.

use super::tables;
use crate::cli::study::ResidencyArgs;
use crate::printer::Printer;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::json;
use strata_study::exact;
use strata_study::study::residency;
use strata_workload::Workload;

/// Inputs unless others are named.
const DEFAULT_INPUTS: &str = "@all";

/// What `--plot` draws.
const AXES: plot::Axes<'static> = plot::Axes {
    x: "input",
    y: &["baseline_ctas", "warpman_ctas", "expars_ctas"],
    series: &["machine"],
    only: None,
    kind: Kind::Bars,
};

/// Runs the command.
pub fn run(args: &ResidencyArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    tables::check(&args.table, &residency::no_columns())?;
    let plot = args.plot.asked()?;
    let source = args.source();
    let request = Request::new(&source)?;
    let own;
    let inputs = match args.inputs.as_slice() {
        [] => {
            own = [DEFAULT_INPUTS.to_owned()];
            &own
        }
        inputs => inputs,
    };
    let inputs =
        subject::workloads(inputs, &source, "whose registers are already chosen", printer)?;
    let jobs = parallel::jobs(args.jobs);
    let mut study = residency::run(&inputs, args.threshold.0, &request, jobs, printer)?;
    study.command = command_line(args, &inputs, &request);
    let columns = residency::to_columns(&study);
    let plot = plot.filter(|_| study.missing.is_empty());
    let drawn = plot::draw(plot.as_ref(), &columns, &AXES, &study.command);
    let table = || residency::to_table(&study, &remarks());
    let status = tables::print(&args.table, columns, printer, table, |_| json::to_text(&study))?;
    parallel::check_all(inputs.len(), &study.missing)?;
    drawn.map(|()| status)
}

/// What makes the study again.
fn command_line(args: &ResidencyArgs, inputs: &[Workload], request: &Request) -> String {
    let mut words = vec!["--threshold".to_owned(), args.threshold.to_string()];
    words.extend(request.words().iter().cloned());
    let inputs = inputs.iter().map(|input| input.arguments.as_slice());
    measure::command_line("strata study residency", inputs, &words)
}

/// What the paper claims.
fn remarks() -> Vec<String> {
    let of_residency = ["expars-residency", "expars-maxwell"];
    let claims = exact::claims().iter().filter(|claim| of_residency.contains(&claim.id.as_str()));
    claims.map(|claim| format!("paper ({}): {}", claim.paper, claim.text)).collect()
}
