//! `run`: execute kernels, count what their register accesses do to each design, report.

mod output;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::interruption;
use crate::cli::{Format, RunArgs};
use crate::printer::Printer;
use strata_design::Design;
use strata_figures::plot::Plot;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::interrupt;
use strata_files::output::Output;
use strata_measure::notes::Notes as _;
use strata_measure::options::Mode;
use strata_measure::parallel::{self, Finished};
use strata_measure::subject::{self, Subject};
use strata_measure::timeline;
use strata_measure::{self as measure, Request};
use strata_report::columns::check_names;
use strata_report::comparison::{self, Comparison};
use strata_report::{self as report, RunReport};
use strata_study::exact;
use strata_workload::SEED;
use strata_workload::dump;

use output::{Rows, check_columns, form};

/// Runs the command.
pub fn run(args: &RunArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    interruption::finish_first(printer);
    if args.baseline.is_some() {
        return compare(args, printer);
    }
    let designs = subject::designs(
        &args.energy.behind_all(&subject::design_names(&args.designs, &args.inputs)),
    )?;
    check_columns(args, &designs)?;
    check_timeline(args, args.inputs.len())?;
    let subjects = subject::subjects(&args.inputs, &args.source, printer)?;
    check_timeline(args, subjects.len())?;
    check_dumps(args, &subjects)?;
    let files = subject::files(&subjects, &designs, args.source.reach())?;
    let timeline = timeline_request(args, &files)?;
    let dumps = dump::requests(&args.dump.dumps, args.force, &files)?;
    let plot = args.plot.as_ref().map(|path| Plot::into(path, args.force, &files)).transpose()?;
    let request = Request::new(&args.source)?.in_mode(args.mode).with_timeline(timeline);
    let request = request.for_designs(&designs).with_dumps(dumps);
    let mut output = Rows::new(args, &designs, plot, remarks(&designs), printer);
    let mut failed = 0;
    let take = |result: Result<Vec<RunReport>, Failure>| match result {
        Ok(reports) => output.take(reports),
        Err(failure) if args.keep_going => {
            printer.failure(&failure);
            failed += 1;
            Ok(true)
        }
        Err(failure) => Err(failure),
    };
    let measure = |subject: &Subject| measure(subject, &designs, (&request, None), printer);
    let jobs = parallel::jobs(args.jobs);
    let taken = parallel::in_order(&subjects, jobs, printer, Subject::name, measure, take)?;
    let missing: Vec<_> = if interrupt::came() { names(&subjects[taken..]) } else { Vec::new() };
    let written = output.end(missing.is_empty())?;
    parallel::check_all(subjects.len(), &missing)?;
    if failed == 0 {
        return Ok(written);
    }
    printer.note(&format!("{failed} of {} inputs failed", subjects.len()));
    Ok(ExitStatus::CheckFailed)
}

/// `--baseline`: designs against one, over seeds if that is asked for.
fn compare(args: &RunArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    check_names(&args.columns.names, &comparison::no_columns().header)?;
    if args.format == Format::Digest {
        return Err(Failure::input("a comparison has no digest")
            .hint("leave `--baseline` out, or choose another `--format`"));
    }
    let designs = subject::designs(&args.energy.behind_all(&compared_names(args)?))?;
    let subjects = subject::subjects(&args.inputs, &args.source, printer)?;
    let request = Request::new(&args.source)?.in_mode(args.mode).for_designs(&designs);
    let seeds: Vec<u32> = (0..args.seeds.unwrap_or(0)).collect();
    if !seeds.is_empty() {
        if request.overrides.contains_key(SEED) {
            return Err(Failure::input("`--seeds` and `--set seed=...` exclude each other")
                .hint("leave one of them out"));
        }
        for subject in subjects.iter().filter(|subject| !has_seed(subject, &request)) {
            printer.note(&format!("`{}` has no seed: all its runs are one", subject.name()));
        }
    }
    let inputs = (subjects.as_slice(), designs.as_slice());
    let (comparison, left_out) = compared(args, inputs, (&request, seeds), printer)?;
    let all = args.columns.names.is_empty();
    let status = match args.format {
        Format::Table if all => printer.data(&comparison::to_table(&comparison)),
        Format::Json if all => printer.data(&report::json::to_text(&comparison)?),
        format => {
            let columns = comparison::to_columns(&comparison).select(&args.columns.names)?;
            printer.table(&columns, form(format)?)
        }
    };
    left_out.and(status)
}

/// Designs compared over all inputs and seeds, or after Ctrl-C over the inputs that are done, of
/// several seeds over the whole ones. Beside it, what is left out as an error.
fn compared(
    args: &RunArgs,
    (subjects, designs): (&[Subject], &[Design]),
    (request, mut seeds): (&Request, Vec<u32>),
    printer: &Printer,
) -> Result<(Comparison, Result<(), Failure>), Failure> {
    let all = |seed| measured(args.jobs, subjects, designs, (request, seed), printer);
    if seeds.is_empty() {
        let Finished { results, missing } = all(None)?;
        let runs = [results.into_iter().flatten().collect()];
        let left_out = parallel::check_all(subjects.len(), &missing);
        return Ok((Comparison::new(designs, seeds, &runs), left_out));
    }
    let mut runs: Vec<Vec<RunReport>> = Vec::with_capacity(seeds.len());
    let mut left_out = Ok(());
    for &seed in &seeds {
        match all(Some(seed)).and_then(Finished::all) {
            Ok(reports) => runs.push(reports.into_iter().flatten().collect()),
            Err(failure)
                if matches!(failure.status(), ExitStatus::Interrupted(_)) && !runs.is_empty() =>
            {
                let (done, of) = (runs.len(), seeds.len());
                let told = format!("{done} of {of} seeds are done");
                left_out = Err(interrupt::failure(&told));
                break;
            }
            Err(failure) => return Err(failure),
        }
    }
    seeds.truncate(runs.len());
    Ok((Comparison::new(designs, seeds, &runs), left_out))
}

fn names(subjects: &[Subject]) -> Vec<String> {
    subjects.iter().map(|subject| subject.name().to_owned()).collect()
}

/// The names of the baseline and of the designs that are compared with it.
fn compared_names(args: &RunArgs) -> Result<Vec<String>, Failure> {
    let baseline = args.baseline.iter().cloned();
    let others = args.designs.iter().filter(|name| Some(*name) != args.baseline.as_ref());
    let names: Vec<_> = baseline.chain(others.cloned()).collect();
    if names.len() < 2 {
        return Err(Failure::input("`--baseline` has nothing to be compared with")
            .hint("name at least one other design: `--design isca11-rfc6`"));
    }
    Ok(names)
}

fn has_seed(subject: &Subject, request: &Request) -> bool {
    match subject {
        Subject::Workload(workload) => workload.has_seed(&request.size),
        Subject::Trace(_) => false,
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

/// Measures a subject.
fn measure(
    subject: &Subject,
    designs: &[Design],
    (request, seed): (&Request, Option<u32>),
    printer: &Printer,
) -> Result<Vec<RunReport>, Failure> {
    let seed = seed.filter(|_| has_seed(subject, request));
    let seeded = seed.map(|seed| request.clone().with_seed(seed));
    let request = seeded.as_ref().unwrap_or(request);
    match subject {
        Subject::Workload(workload) => measure::reports(workload, designs, request, printer),
        Subject::Trace(input) => measure::trace_reports(input, designs, request, printer),
    }
}

/// Measures every subject; the order of the reports is that of the subjects, whatever `--jobs` is.
/// A seed changes the subjects that have one.
pub(super) fn measure_all(
    jobs: Option<NonZeroUsize>,
    subjects: &[Subject],
    designs: &[Design],
    (request, seed): (&Request, Option<u32>),
    printer: &Printer,
) -> Result<Vec<RunReport>, Failure> {
    let reports = measured(jobs, subjects, designs, (request, seed), printer)?.all()?;
    Ok(reports.into_iter().flatten().collect())
}

/// Measures every subject that is begun before Ctrl-C, if there is one; the order of the reports is
/// that of the subjects, whatever `--jobs` is. A seed changes the subjects that have one.
fn measured(
    jobs: Option<NonZeroUsize>,
    subjects: &[Subject],
    designs: &[Design],
    (request, seed): (&Request, Option<u32>),
    printer: &Printer,
) -> Result<Finished<Vec<RunReport>>, Failure> {
    let measure = |subject: &Subject| measure(subject, designs, (request, seed), printer);
    parallel::finished(subjects, parallel::jobs(jobs), printer, Subject::name, measure)
}

/// What the papers claim for the designs in the table.
fn remarks(designs: &[Design]) -> Vec<String> {
    exact::claims()
        .iter()
        .filter(|claim| designs.iter().any(|design| claim.designs.contains(&design.name)))
        .map(|claim| format!("paper ({}): {}", claim.paper, claim.text))
        .collect()
}
