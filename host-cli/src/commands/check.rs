//! `check`: execute kernels and compare their results with what is expected, nothing else.

use std::fmt::Write as _;

use super::interruption;
use crate::cli::data::CheckArgs;
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_workload::Workload;
use strata_workload::dump;

/// Runs the command.
pub fn run(args: &CheckArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    interruption::finish_first(printer);
    let source = args.source();
    let workloads =
        subject::workloads(&args.inputs, &source, "whose results are not known", printer)?;
    dump::one_input(&args.dump.dumps, workloads.len())?;
    let files: Vec<_> = workloads.iter().flat_map(|workload| workload.files.clone()).collect();
    let dumps = dump::requests(&args.dump.dumps, args.force, &files)?;
    let request = Request::new(&source)?.with_dumps(dumps);
    let compare = |workload: &Workload| measure::comparisons(workload, &request, printer);
    let jobs = parallel::jobs(args.jobs);
    let compared = parallel::finished(&workloads, jobs, printer, |each| &each.name, compare)?;
    let mut text = String::new();
    let mut passed = true;
    for (workload, comparisons) in workloads.iter().zip(&compared.results) {
        if comparisons.is_none() {
            let _ = writeln!(
                text,
                "executed {}: nothing was compared, the launch file has no `[check]`",
                workload.name
            );
        }
        for comparison in comparisons.iter().flatten() {
            let verdict = if comparison.passed() { "passed" } else { "FAILED" };
            let _ = writeln!(text, "{verdict} {}: {comparison}", workload.name);
            passed &= comparison.passed();
        }
    }
    printer.data(&text)?;
    parallel::check_all(workloads.len(), &compared.missing)?;
    Ok(if passed { ExitStatus::Success } else { ExitStatus::CheckFailed })
}
