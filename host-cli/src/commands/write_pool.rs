//! `study write-pool`: sweeps over the write pool and the cycles of a write.

use crate::cli::study::WritePoolArgs;
use crate::printer::Printer;
use strata_design as design;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::options::Mode;
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::json;
use strata_study::exact;
use strata_study::study::Input;
use strata_study::study::write_pool::{self, Axes};

use super::lists::distinct;
use super::tables;

/// What `--plot` draws.
const AXES: plot::Axes<'static> = plot::Axes {
    x: "write_pool_entries",
    y: &["ipc_relative_percent"],
    series: &["split_bank_write", "write_pool_ports"],
    only: Some(("sweep", "write_pool_entries")),
    kind: Kind::Lines,
};

/// Runs the command.
pub fn run(args: &WritePoolArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    tables::check(&args.table, &write_pool::no_columns())?;
    let plot = args.plot.asked()?;
    let design = design::resolve(&args.design)?;
    design.without_data_cache_for("studies of write pools")?;
    let axes = Axes {
        design,
        entries: distinct(args.entries.iter().copied()),
        ports: distinct(args.ports.iter().copied()),
        write_cycles: distinct(args.write_cycles.iter().copied()),
    };
    let request = Request::new(&args.source)?;
    let command = |inputs: &[Input]| command_line(args, inputs, &request);
    let in_time = request.clone().in_mode(Mode::Cycle);
    let subjects = subject::subjects(&args.inputs, &args.source, printer)?.into_iter();
    let inputs: Vec<_> =
        subjects.map(|subject| Input { subject, request: in_time.clone() }).collect();
    let mut study = write_pool::run(&axes, &inputs, parallel::jobs(args.jobs), printer)?;
    study.command = command(&inputs);
    let columns = write_pool::to_columns(&study);
    let plot = plot.filter(|_| study.missing.is_empty());
    let drawn = plot::draw(plot.as_ref(), &columns, &AXES, &study.command);
    let table = || write_pool::to_table(&study, &remarks());
    let status = tables::print(&args.table, columns, printer, table, |_| json::to_text(&study))?;
    parallel::check_all(inputs.len(), &study.missing)?;
    drawn.map(|()| status)
}

/// What makes the study again.
fn command_line(args: &WritePoolArgs, inputs: &[Input], request: &Request) -> String {
    let mut words = vec!["--design".to_owned(), args.design.clone()];
    for (option, values) in [
        ("entries", joined(&args.entries)),
        ("ports", joined(&args.ports)),
        ("write-cycles", joined(&args.write_cycles)),
    ] {
        words.extend([format!("--{option}"), values]);
    }
    words.extend_from_slice(request.words());
    let inputs = inputs.iter().map(|input| input.subject.arguments());
    measure::command_line("strata study write-pool", inputs, &words)
}

fn joined(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// What the paper claims.
fn remarks() -> Vec<String> {
    let claims = exact::claims().iter().filter(|claim| claim.id == "warrf");
    claims.map(|claim| format!("paper ({}): {}", claim.paper, claim.text)).collect()
}
