//! `study`: sweeps over one parameter, each input executed once.

use super::{
    active_warps, encoding, interruption, limits, registers, residency, storage, write_pool,
};
use crate::cli::study::StudyCommand;
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};

/// Runs the command. After Ctrl-C it is one of the inputs that were begun before.
pub fn run(command: &StudyCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    interruption::finish_first(printer);
    match command {
        StudyCommand::ActiveWarps(args) => active_warps::run(args, printer),
        StudyCommand::Registers(args) => registers::run(args, printer),
        StudyCommand::Limits(args) => limits::run(args, printer),
        StudyCommand::Encoding(args) => encoding::run(args, printer),
        StudyCommand::WritePool(args) => write_pool::run(args, printer),
        StudyCommand::Storage(args) => storage::run(args, printer),
        StudyCommand::Residency(args) => residency::run(args, printer),
    }
}
