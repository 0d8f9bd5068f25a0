//! `study active-warps`: IPC by the number of active warps.

use strata_compiler::Order;

use super::lists::distinct;
use super::tables;
use crate::cli::study::ActiveWarpsArgs;
use crate::printer::Printer;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::options::Source;
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::json;
use strata_study::exact;
use strata_study::study::Input;
use strata_study::study::active_warps::{self, Axes};

/// Design whose scheduler is studied unless others are named.
const DEFAULT_DESIGN: &str = "isca11";

/// What `--plot` draws.
const AXES: plot::Axes<'static> = plot::Axes {
    x: "active_warps",
    y: &["ipc"],
    series: &["design", "scheduler", "alu_latency_cycles", "order"],
    only: None,
    kind: Kind::Lines,
};

/// Runs the command.
pub fn run(args: &ActiveWarpsArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    tables::check(&args.table, &active_warps::no_columns())?;
    let plot = args.plot.asked()?;
    let names = match args.designs.as_slice() {
        [] => vec![DEFAULT_DESIGN.to_owned()],
        names => names.to_vec(),
    };
    let orders = match args.source.orders.as_slice() {
        [] => vec![Order::default()],
        orders => distinct(orders.iter().copied()),
    };
    let axes = Axes {
        designs: subject::designs(&names)?,
        schedulers: distinct(args.schedulers.iter().copied()),
        alu_latencies: distinct(args.alu_latencies.iter().copied()),
        orders,
        sizes: distinct(args.sizes.iter().copied()),
    };
    let request = Request::new(&args.source)?;
    // Each input is one subject, whose order the sweep chooses.
    let mut source = Source::clone(&args.source);
    source.orders.truncate(1);
    let subjects = subject::subjects(&args.inputs, &source, printer)?.into_iter();
    let inputs: Vec<_> =
        subjects.map(|subject| Input { subject, request: request.clone() }).collect();
    let mut study = active_warps::run(&[axes], &inputs, parallel::jobs(args.jobs), printer)?;
    study.command = command_line(args, &inputs, &names, &request);
    let columns = active_warps::to_columns(&study);
    let plot = plot.filter(|_| study.missing.is_empty());
    let drawn = plot::draw(plot.as_ref(), &columns, &AXES, &study.command);
    let table = || active_warps::to_table(&study, &remarks());
    let status = tables::print(&args.table, columns, printer, table, |_| json::to_text(&study))?;
    parallel::check_all(inputs.len(), &study.missing)?;
    drawn.map(|()| status)
}

/// What makes the study again; options that have their default value are left out where the default
/// is a design's own.
fn command_line(
    args: &ActiveWarpsArgs,
    inputs: &[Input],
    designs: &[String],
    request: &Request,
) -> String {
    let mut words = Vec::new();
    for design in designs {
        words.extend(["--design".to_owned(), design.clone()]);
    }
    let lists = [
        ("active-warps", args.sizes.iter().map(ToString::to_string).collect::<Vec<_>>()),
        (
            "scheduler",
            args.schedulers.iter().map(|scheduler| scheduler.name().to_owned()).collect(),
        ),
        ("alu-latency", args.alu_latencies.iter().map(ToString::to_string).collect()),
    ];
    for (option, values) in lists.iter().filter(|(_, values)| !values.is_empty()) {
        words.extend([format!("--{option}"), values.join(",")]);
    }
    words.extend_from_slice(request.words());
    let inputs = inputs.iter().map(|input| input.subject.arguments());
    measure::command_line("strata study active-warps", inputs, &words)
}

/// What the papers claim.
fn remarks() -> Vec<String> {
    let claims = exact::claims().iter().filter(|claim| claim.id == "two-level-ipc");
    claims.map(|claim| format!("paper ({}): {}", claim.paper, claim.text)).collect()
}
