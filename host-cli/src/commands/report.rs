//! `report`: one page of a user's own runs.

use std::io::Write as _;

use strata_ptx::diagnostic::counted;

use crate::cli::report::ReportArgs;
use crate::printer::Printer;
use strata_figures::plot;
use strata_figures::report_page::{self, Inputs};
use strata_figures::reproduce::html;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::output::Output;
use strata_files::partial_file::PartialFile;

/// Runs the command.
pub fn run(args: &ReportArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let read = [args.files.as_slice(), args.sources.as_slice()].concat();
    let output = Output::new(&args.out, html::KIND, args.force, &read)?;
    let inputs = Inputs::read(&args.files, &args.sources)?;
    let page = report_page::page(&inputs, &plot::typed());
    let failed = |error: std::io::Error| Failure::file(&args.out, "write", &error);
    let mut file = PartialFile::create(&output).map_err(failed)?;
    file.write_all(page.as_bytes()).and_then(|()| file.finish()).map_err(failed)?;
    printer.data(&format!(
        "{}, {}, {}: {}\n",
        counted(inputs.runs.len() as u64, "run"),
        counted(inputs.profiles.len() as u64, "profile"),
        counted(inputs.timelines.len() as u64, "timeline"),
        args.out.display()
    ))
}
