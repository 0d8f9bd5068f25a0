//! `fpga`: the prototype on boards, beside the model.

mod bench;
mod designs;
#[cfg(feature = "logs")]
mod monitor;
#[cfg(any(test, not(feature = "logs")))]
mod no_monitor;

use designs::{one_design, plans};
#[cfg(not(feature = "logs"))]
use no_monitor as monitor;
use strata_link::message::{Reply, Request};
use strata_ptx::diagnostic::counted;

use crate::cli::fpga::{FpgaCommand, FpgaFormat, FpgaRunArgs, InfoArgs, SimArgs};
use crate::printer::Printer;
use strata_board::board::{Board, Listen, Repository};
use strata_board::compare;
use strata_board::error::FpgaError;
use strata_board::interrupt;
use strata_board::material::Material;
use strata_board::report::{BoardReport, FpgaReport, describe};
use strata_board::session::{LONG, Session};
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::notes::Notes as _;
use strata_measure::subject::Subject;
use strata_measure::{self as measure, Request as Measured};
use strata_report::json;

/// Runs the command.
pub fn run(command: &FpgaCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        FpgaCommand::Sim(args) => sim(args, printer),
        FpgaCommand::Run(args) => run_input(args, printer),
        FpgaCommand::Bench(args) => bench::run(args, printer),
        FpgaCommand::Monitor(args) => monitor::run(args, printer),
        FpgaCommand::Info(args) => info(args, printer),
        FpgaCommand::Synth { options } => synth(options),
    }
}

fn sim(args: &SimArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    interrupt::watch();
    let listen = if args.pty { Listen::Pty } else { Listen::Tcp(args.tcp) };
    let (mut board, port) = Board::simulated(&listen, printer)?;
    printer.data(&format!("{port}\n"))?;
    printer.note(&format!(
        "the simulated board runs until Ctrl-C; `strata fpga run hotspot --port {port}` streams \
         to it"
    ));
    match board.wait() {
        // The end that it was told to wait for.
        FpgaError::Interrupted => Ok(ExitStatus::Success),
        other => Err(other.into()),
    }
}

fn synth(options: &[String]) -> Result<ExitStatus, Failure> {
    interrupt::watch();
    let mut chore = vec!["synth"];
    chore.extend(options.iter().map(String::as_str));
    Repository::find()?.chore(&chore)?;
    Ok(ExitStatus::Success)
}

fn run_input(args: &FpgaRunArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let plans = plans(&args.designs)?;
    let request = Measured::new(&args.source)?;
    let subject = Subject::new(&args.input, &args.source, printer)?;
    let material = Material::new(&subject, &request, args.accesses, printer)?;
    if material.left_out > 0 {
        printer.note(&format!(
            "{}: accesses enough are in the first {}; {} left out",
            material.name,
            counted(material.launches(), "launch"),
            counted(material.left_out, "other")
        ));
    }
    let board = Board::new(&args.connect.target(), printer)?;
    let mut session = Session::new(board)?;
    let info = session.info()?;
    for plan in &plans {
        compare::fits(&info, plan)?;
    }
    let mut all = Vec::new();
    for plan in &plans {
        let compared = one_design(&mut session, plan, &material, args.accesses, printer)?;
        printer.note(&format!(
            "{}: {} commands a second over the line",
            compared.design, compared.speed
        ));
        all.push(compared);
    }
    let report = FpgaReport::new(&info, &material, &all, command_line(args, &subject, &request));
    match args.format {
        FpgaFormat::Table => printer.data(&report.to_text())?,
        FpgaFormat::Json => printer.data(&json::to_text(&report)?)?,
    };
    Ok(if report.equal { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

fn command_line(args: &FpgaRunArgs, subject: &Subject, request: &Measured) -> String {
    let mut words = Vec::new();
    for design in &args.designs {
        words.extend(["--design".to_owned(), design.clone()]);
    }
    words.extend(["--accesses".to_owned(), args.accesses.to_string()]);
    words.extend(args.connect.words());
    words.extend_from_slice(request.words());
    measure::command_line("strata fpga run", [subject.arguments()], &words)
}

fn info(args: &InfoArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let board = Board::new(&args.connect.target(), printer)?;
    let mut session = Session::new(board)?;
    let info = session.info()?;
    let report = BoardReport::new(&info);
    let text = match args.format {
        FpgaFormat::Table => report.to_text(),
        FpgaFormat::Json => json::to_text(&report)?,
    };
    printer.data(&text)?;
    if !args.self_test {
        return Ok(ExitStatus::Success);
    }
    match session.ask_within(&Request::SelfTest, LONG)? {
        Reply::SelfTest { batches, commands, failed: None } => {
            printer.note(&format!(
                "the self-test ran {commands} commands in {batches} batches, and all held"
            ));
            Ok(ExitStatus::Success)
        }
        Reply::SelfTest { batches, failed: Some((settings, diverged)), .. } => {
            let settings = strata_core::prototype::settings::Settings::unpack(settings);
            Err(Failure::check(format!(
                "the self-test failed in batch {batches}, with {}: {diverged}",
                describe(&settings)
            )))
        }
        _ => Err(session.strange().into()),
    }
}
