//! Commands: one file a verb. Each returns the exit status or why it failed.

pub mod check;
pub mod completions;
pub mod cost;
pub mod diff;
pub mod doctor;
pub mod encoding;
pub mod exact;
pub mod explain;
pub mod fpga;
pub mod inspect;
pub mod launch_template;
pub mod limits;
pub mod list;
pub mod man;
pub mod pareto;
pub mod registers;
pub mod report;
pub mod reproduce;
pub mod residency;
pub mod run;
pub mod storage;
pub mod study;
pub mod sweep;
mod tables;
pub mod technology;
pub mod trace;
pub mod write_pool;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::{Cli, Command, Described};
use crate::comparison::Comparison;
use crate::difference::Difference;
use crate::failure::{ExitStatus, Failure};
use crate::fpga::report::FpgaReport;
use crate::interrupt;
use crate::printer::Printer;
use crate::report::lines::ProfileReport;
use crate::report::{RunReport, json};
use crate::study::{
    active_warps, encoding as encoding_study, residency as residency_study,
    storage as storage_study, write_pool as write_pool_study,
};
use crate::terminal;

/// Runs the command of this process.
pub fn main() -> ExitCode {
    let color = terminal::color(std::env::args_os());
    terminal::look(color);
    let parsed = Cli::command().color(color).try_get_matches();
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let printer = Printer::new(parsed.as_ref().is_ok_and(|cli| cli.quiet));
    let done = match &parsed {
        Ok(cli) => interrupt::handle()
            .map_err(|error| Failure::input(format!("cannot handle Ctrl-C: {error}")))
            .and_then(|()| dispatch(&cli.command, &printer)),
        Err(said) => printer.usage(said),
    };
    match done {
        Ok(status) => status.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.status().into()
        }
    }
}

fn dispatch(command: &Command, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        Command::Run(args) => run::run(args, printer),
        Command::Check(args) => check::run(args, printer),
        Command::LaunchTemplate(args) => launch_template::run(args, printer),
        Command::Trace(command) => trace::run(command, printer),
        Command::Inspect(args) => inspect::run(args, printer),
        Command::Explain(args) => explain::run(args, printer),
        Command::Study(command) => study::run(command, printer),
        Command::Sweep(args) => sweep::run(args, printer),
        Command::Fpga(command) => fpga::run(command, printer),
        Command::Workloads(args) => list::workloads(args, printer),
        Command::Designs(args) => list::designs(args, printer),
        Command::Pareto(args) => pareto::run(args, printer),
        Command::Diff(args) => diff::run(args, printer),
        Command::Reproduce(args) => reproduce::run(args, printer),
        Command::Report(args) => report::run(args, printer),
        Command::Cost { design, energy } => cost::run(&energy.behind(design), printer),
        Command::Technology(command) => technology::run(command, printer),
        Command::Exact => exact::run(printer),
        Command::Doctor => doctor::run(printer),
        Command::Completions { shell } => completions::run(*shell, printer),
        Command::Man { command } => man::run(command, printer),
        Command::Schema { of: Described::Run } => {
            printer.data(&json::schema_text::<Vec<RunReport>>())
        }
        Command::Schema { of: Described::Inspect } => {
            printer.data(&json::schema_text::<ProfileReport>())
        }
        Command::Schema { of: Described::Comparison } => {
            printer.data(&json::schema_text::<Comparison>())
        }
        Command::Schema { of: Described::Diff } => printer.data(&json::schema_text::<Difference>()),
        Command::Schema { of: Described::ActiveWarps } => {
            printer.data(&json::schema_text::<active_warps::Study>())
        }
        Command::Schema { of: Described::Encoding } => {
            printer.data(&json::schema_text::<encoding_study::Study>())
        }
        Command::Schema { of: Described::WritePool } => {
            printer.data(&json::schema_text::<write_pool_study::Study>())
        }
        Command::Schema { of: Described::Storage } => {
            printer.data(&json::schema_text::<storage_study::Study>())
        }
        Command::Schema { of: Described::Residency } => {
            printer.data(&json::schema_text::<residency_study::Study>())
        }
        Command::Schema { of: Described::Fpga } => printer.data(&json::schema_text::<FpgaReport>()),
    }
}
