//! `trace`: record what a workload or a real GPU executed, look at it, hand it to other simulators.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::{ExitStatus, SourceArgs, TraceCommand};
use crate::commands::input::{self, Subject};
use crate::failure::Failure;
use crate::measure::{self, Request, store_error};
use crate::printer::Printer;
use crate::trace::store::{self, RecordError, Recording, Stored};

/// Runs the command.
pub fn run(command: &TraceCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        TraceCommand::Record { input, output, source } => record(input, output, source, printer),
        TraceCommand::Embed { input, output, source } => embed(input, output, source, printer),
        TraceCommand::Info { file } => info(file, printer),
        TraceCommand::Export { file, output } => export(file, output, printer),
    }
}

fn record(
    input: &str,
    output: &Path,
    source: &SourceArgs,
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let (launches, instructions) = match Subject::new(input, source)? {
        Subject::Workload(workload) => {
            let counts = measure::record(&workload, output, &Request::new(source)?, printer)?;
            printer
                .note("addresses of workloads are not recorded: enough for `run`, not to export");
            counts
        }
        Subject::Trace(input) if measure::is_recording(&input) => {
            return Err(Failure::input(format!(
                "`{input}` is a recording already\n  hint: record a workload or a kernelslist.g"
            )));
        }
        Subject::Trace(input) => {
            for (option, given) in [
                ("--kernel", source.kernel.is_some()),
                ("--launch-index", source.launch_index.is_some()),
                ("--cta", source.cta.is_some()),
            ] {
                if given {
                    return Err(Failure::input(format!(
                        "`{option}` does not apply: a trace is recorded whole\n  hint: choose when \
                         you run the recording"
                    )));
                }
            }
            let recorded = store::record_trace(Path::new(&input), output, source.max_instructions);
            recorded.map_err(|error| match error {
                RecordError::Trace(error) => input::trace_error(&error),
                RecordError::Store(error) => store_error(&error),
            })?
        }
    };
    let output = output.display();
    printer.data(&format!("{output}: {launches} launches, {instructions} warp instructions\n"))
}

fn embed(
    input: &str,
    output: &Path,
    source: &SourceArgs,
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let Subject::Workload(workload) = Subject::new(input, source)? else {
        return Err(Failure::input(format!(
            "`{input}` is no workload\n  hint: only what is executed here can be embedded: a \
             workload's name, or a PTX file with `--launch`"
        )));
    };
    let warps = measure::embed(&workload, output, &Request::new(source)?, printer)?;
    printer.data(&format!("{}: {warps} warps\n", output.display()))
}

fn info(file: &Path, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut recording = Recording::open(file).map_err(|error| store_error(&error))?;
    let mut text = String::new();
    let mut launches = 0;
    while let Some(stored) = recording.next_launch().map_err(|error| store_error(&error))? {
        describe(&mut text, launches, &stored);
        launches += 1;
    }
    let _ = writeln!(text, "{launches} launches, format version {}", store::VERSION);
    printer.data(&text)
}

fn describe(text: &mut String, index: u64, stored: &Stored) {
    let header = &stored.header;
    let origin = match header.tracer_version {
        0 => "executed from PTX".to_owned(),
        version => format!("traced on sm_{}, tracer version {version}", header.binary_version),
    };
    let steps: usize = stored.paths.iter().map(|(path, _)| path.len()).sum();
    let [gx, gy, gz] = header.grid;
    let [bx, by, bz] = header.block;
    let addresses = if stored.has_addresses { "yes" } else { "no" };
    let _ = writeln!(
        text,
        "launch {index}: {}\n  {origin}\n  grid {gx} x {gy} x {gz}, block {bx} x {by} x {bz}, \
         {} registers, {} bytes of shared memory\n  {} instructions of code, {} executed by {} \
         warps, {} distinct paths in {steps} runs, addresses: {addresses}",
        header.name,
        stored.image.registers,
        header.shared_bytes,
        stored.instructions.len(),
        stored.warp_instructions(),
        stored.paths.warps().len(),
        stored.paths.len(),
    );
    for assumption in &stored.assumptions {
        let _ = writeln!(text, "  assumed: {assumption}");
    }
}

fn export(file: &Path, output: &Path, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut recording = Recording::open(file).map_err(|error| store_error(&error))?;
    let exported = crate::trace::export(&mut recording, output);
    let launches = exported.map_err(|error| store_error(&error))?;
    let list = output.join("kernelslist.g");
    printer.data(&format!("{}: {launches} launches\n", list.display()))
}
