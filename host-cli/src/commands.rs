//! Commands: one file a verb. Each returns the exit status or why it failed.

pub mod active_warps;
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
mod interruption;
pub mod launch_template;
pub mod limits;
pub mod list;
mod lists;
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

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::{Cli, Command, Described};
use crate::printer::Printer;
use crate::terminal;
use strata_board::report::FpgaReport;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::interrupt;
use strata_report::comparison::Comparison;
use strata_report::difference::Difference;
use strata_report::lines::ProfileReport;
use strata_report::{RunReport, json};
use strata_study::study::{
    active_warps as active_warps_study, encoding as encoding_study, residency as residency_study,
    storage as storage_study, write_pool as write_pool_study,
};

/// Runs the command of this process.
pub fn main() -> ExitCode {
    if let Err(failure) = check_words(std::env::args_os().skip(1)) {
        Printer::new(false).failure(&failure);
        return failure.status().into();
    }
    let color = terminal::color(std::env::args_os());
    terminal::look(color);
    let parsed = Cli::command().color(color).try_get_matches();
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let printer = Printer::new(parsed.as_ref().is_ok_and(|cli| cli.quiet));
    let done = match &parsed {
        Ok(cli) => interrupt::handle(|failure| Printer::new(false).failure(failure))
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

/// Refuses words that are not UTF-8. Names of files come from them, and stand in reports and in
/// files that are written, where another name would stand in their place.
fn check_words(words: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    for (index, word) in words.enumerate() {
        if word.to_str().is_none() {
            let message = format!(
                "word {} of the command line is not UTF-8: \"{}\"",
                index + 1,
                word.as_encoded_bytes().escape_ascii()
            );
            return Err(Failure::input(message)
                .hint("give the file a name in UTF-8, or a link that has one"));
        }
    }
    Ok(())
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
            printer.data(&json::schema_text::<active_warps_study::Study>())
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn words_that_are_not_utf_8_are_refused_as_they_are() {
        let words = |bytes: &[&[u8]]| {
            let words: Vec<_> =
                bytes.iter().map(|word| OsString::from_vec(word.to_vec())).collect();
            check_words(words.into_iter()).map_err(|failure| failure.message().to_owned())
        };
        assert_eq!(words(&[b"run", b"k\xc3\xa4.ptx", b"--launch=k.toml"]), Ok(()));
        for word in [&b"k\xff.ptx"[..], b"--launch=k\xff.ptx", b"-ok\xff.ptx"] {
            let refused = words(&[b"run", word]).unwrap_err();
            assert!(refused.starts_with("word 2 of the command line is not UTF-8: "), "{refused}");
            assert!(refused.contains("k\\xff.ptx"), "{refused}");
        }
    }
}
