//! `run`: execute kernels, count what their register accesses do to each design, report.

use std::path::PathBuf;

use crate::cli::{Format, Mode, RunArgs};
use crate::design::Design;
use crate::dump;
use crate::exact;
use crate::failure::{ExitStatus, Failure};
use crate::measure::{self, Request};
use crate::output::Output;
use crate::parallel;
use crate::printer::Printer;
use crate::report::{self, RunReport};
use crate::subject::{self, Subject};
use crate::timeline;

/// Designs of a run without inputs: each machine's baseline, and the papers' best cache.
const DEFAULT_COMPARISON: [&str; 3] = ["isca11", "dissertation", "isca11-rfc6"];
/// Design of a run that names inputs but no design.
const DEFAULT_DESIGN: &str = "isca11";

/// Runs the command.
pub fn run(args: &RunArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let designs = subject::designs(&design_names(args))?;
    check_timeline(args, args.inputs.len())?;
    let subjects = subject::subjects(&args.inputs, &args.source, printer)?;
    check_timeline(args, subjects.len())?;
    check_dumps(args, &subjects)?;
    let files = subject::files(&subjects, &designs, args.source.reach())?;
    let timeline = timeline_request(args, &files)?;
    let dumps = dump::requests(&args.dump.dumps, args.force, &files)?;
    let request = Request::new(&args.source)?.in_mode(args.mode).with_timeline(timeline);
    let request = request.for_designs(&designs).with_dumps(dumps);
    let reports = measure_all(args, &subjects, &designs, &request, printer)?;
    match args.format {
        Format::Table => printer.data(&report::table::to_text(&reports, &remarks(&designs))),
        Format::Csv => printer.data(&report::csv::to_text(&reports)),
        Format::Digest => printer.data(&report::digest::to_text(&reports)),
        Format::Json => printer.data(&report::json::to_text(&reports)?),
    }
}

/// Whether `--timeline` can be drawn for this many inputs.
fn check_timeline(args: &RunArgs, inputs: usize) -> Result<(), Failure> {
    if args.timeline.is_none() {
        return Ok(());
    }
    if args.mode != Mode::Cycle {
        return Err(Failure::input("`--timeline` draws cycles, and count mode has none")
            .hint("add `--mode cycle`"));
    }
    for (what, given) in [("input", inputs), ("design", args.designs.len().max(1))] {
        if given != 1 {
            return Err(Failure::input(format!(
                "`--timeline` draws one {what}, {given} are given"
            ))
            .hint(format!("name one {what}")));
        }
    }
    Ok(())
}

/// Whether `--dump` can be written of these inputs.
fn check_dumps(args: &RunArgs, subjects: &[Subject]) -> Result<(), Failure> {
    dump::one_input(&args.dump.dumps, subjects.len())?;
    match (args.dump.dumps.is_empty(), subjects) {
        (false, [Subject::Trace(input)]) => {
            Err(Failure::input(format!("`{input}` is a trace, which has no buffers"))
                .hint("`--dump` is for workloads and PTX files"))
        }
        _ => Ok(()),
    }
}

/// What `--timeline` asks for, of a command that reads `inputs`.
fn timeline_request(
    args: &RunArgs,
    inputs: &[PathBuf],
) -> Result<Option<timeline::Request>, Failure> {
    let Some(path) = &args.timeline else { return Ok(None) };
    let output = Output::new(path, timeline::KIND, args.force, inputs)?;
    let cycles = args.timeline_cycles.clone().map_or(timeline::DEFAULT_CYCLES, |range| range.0);
    let slices = args.timeline_slices.unwrap_or(timeline::DEFAULT_SLICES);
    Ok(Some(timeline::Request { output, cycles, slices }))
}

fn design_names(args: &RunArgs) -> Vec<String> {
    if !args.designs.is_empty() {
        args.designs.clone()
    } else if args.inputs.is_empty() {
        DEFAULT_COMPARISON.map(str::to_owned).to_vec()
    } else {
        vec![DEFAULT_DESIGN.to_owned()]
    }
}

/// Measures every subject; the order of the reports is that of the subjects, whatever `--jobs` is.
fn measure_all(
    args: &RunArgs,
    subjects: &[Subject],
    designs: &[Design],
    request: &Request,
    printer: &Printer,
) -> Result<Vec<RunReport>, Failure> {
    let measure = |subject: &Subject| match subject {
        Subject::Workload(workload) => measure::reports(workload, designs, request, printer),
        Subject::Trace(input) => measure::trace_reports(input, designs, request, printer),
    };
    let jobs = parallel::jobs(args.jobs);
    let reports = parallel::each(subjects, jobs, printer, Subject::name, measure)?;
    Ok(reports.into_iter().flatten().collect())
}

/// What the papers claim for the designs in the table.
fn remarks(designs: &[Design]) -> Vec<String> {
    exact::claims()
        .iter()
        .filter(|claim| designs.iter().any(|design| claim.designs.contains(&design.name)))
        .map(|claim| format!("paper ({}): {}", claim.paper, claim.text))
        .collect()
}
