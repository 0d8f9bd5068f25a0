//! `fpga monitor`: what a board logs, decoded.

use std::path::Path;

use defmt_decoder::{DecodeError, Table};

use crate::cli::fpga::MonitorArgs;
use crate::printer::Printer;
use strata_board::board::{Board, Repository};
use strata_board::error::FpgaError;
use strata_board::session::Session;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::notes::Notes as _;

/// Runs the command.
pub(super) fn run(args: &MonitorArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let board = Board::new(&args.connect.target(), printer)?;
    let elf = match (&args.elf, board.elf()) {
        (Some(elf), _) | (None, Some(elf)) => elf.clone(),
        (None, None) => Repository::find()?.products("soc").join("firmware.elf"),
    };
    let logs = Logs::of(&elf)?;
    let mut session = Session::new(board)?;
    let info = session.info()?;
    printer.note(&format!("listening to board `{}` until Ctrl-C", info.board));
    let ended = loop {
        for log in session.take_logs() {
            if !printer.part(&logs.line(&log))? {
                return Ok(ExitStatus::Success);
            }
        }
        if let Err(error) = session.listen() {
            break error;
        }
    };
    match ended {
        // The end that it was told to wait for.
        FpgaError::Interrupted => Ok(ExitStatus::Success),
        other => Err(other.into()),
    }
}

/// What turns logs into text: the strings of one firmware.
struct Logs(Table);

impl Logs {
    fn of(elf: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(elf).map_err(|error| {
            Failure::file(elf, "read", &error)
                .hint("`--elf` names the firmware that runs on the board, as it was built")
        })?;
        let unfit = |why: &str| {
            Failure::input(format!("`{}` has no logs: {why}", elf.display()))
                .hint("`--elf` names the firmware that runs on the board, as it was built")
        };
        match Table::parse(&bytes) {
            Ok(Some(table)) => Ok(Self(table)),
            Ok(None) => Err(unfit("it has no section `.defmt`")),
            Err(error) => Err(unfit(&error.to_string())),
        }
    }

    /// One log as a line.
    fn line(&self, log: &[u8]) -> String {
        match self.0.decode(log) {
            // Each log came in a frame of its own.
            Ok((frame, length)) if length == log.len() => format!("{}\n", frame.display(false)),
            Ok(_) | Err(DecodeError::UnexpectedEof | DecodeError::Malformed) => {
                format!("(a log of {} bytes that is not this firmware's)\n", log.len())
            }
        }
    }
}
