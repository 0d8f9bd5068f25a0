//! `trace`: record what a workload or a real GPU executed, look at it, hand it to other simulators.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::cli::{SourceArgs, TraceCommand};
use crate::failure::{ExitStatus, Failure};
use crate::measure::{self, Request};
use crate::printer::Printer;
use crate::subject::Subject;
use crate::trace::store::{self, Recording, Sizes, Stored};

/// Runs the command.
pub fn run(command: &TraceCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        TraceCommand::Record { input, output, source } => record(input, output, source, printer),
        TraceCommand::Embed { input, output, source } => embed(input, output, source, printer),
        TraceCommand::Info { file } => info(file, printer),
        TraceCommand::Export { input, output, source } => export(input, output, source, printer),
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
            measure::record(&workload, output, &Request::new(source)?, printer)?
        }
        Subject::Trace(input) if store::is_recording(&input) => {
            return Err(Failure::input(format!("`{input}` is a recording already"))
                .hint("record a workload or a kernelslist.g"));
        }
        Subject::Trace(input) => {
            whole(source, "a trace is recorded whole", "run the recording")?;
            let recorded = store::record_trace(Path::new(&input), output, source.max_instructions);
            recorded?
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
        return Err(Failure::input(format!("`{input}` is no workload")).hint(
            "only what is executed here can be embedded: a workload's name, or a PTX file with \
             `--launch`",
        ));
    };
    let warps = measure::embed(&workload, output, &Request::new(source)?, printer)?;
    printer.data(&format!("{}: {warps} warps\n", output.display()))
}

/// Refuses options that choose a part of what is taken whole.
fn whole(source: &SourceArgs, what: &str, then: &str) -> Result<(), Failure> {
    for (option, given) in [
        ("--kernel", source.kernel.is_some()),
        ("--launch-index", source.launch_index.is_some()),
        ("--cta", source.cta.is_some()),
    ] {
        if given {
            return Err(Failure::input(format!("`{option}` does not apply: {what}"))
                .hint(format!("choose when you {then}")));
        }
    }
    Ok(())
}

fn info(file: &Path, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut recording = Recording::open(file)?;
    let mut text = String::new();
    let mut launches = 0;
    while let Some(stored) = recording.next_launch()? {
        describe(&mut text, launches, &stored, recording.sizes());
        launches += 1;
    }
    let _ = writeln!(text, "{launches} launches, format version {}", store::VERSION);
    printer.data(&text)
}

fn describe(text: &mut String, index: u64, stored: &Stored, sizes: Sizes) {
    let header = &stored.header;
    let origin = match header.tracer_version {
        0 => "executed from PTX".to_owned(),
        version => format!("traced on sm_{}, tracer version {version}", header.binary_version),
    };
    let steps: usize = stored.paths.iter().map(|(path, _)| path.len()).sum();
    let [gx, gy, gz] = header.grid;
    let [bx, by, bz] = header.block;
    let Sizes { all, addresses, plain_addresses } = sizes;
    let _ = writeln!(
        text,
        "launch {index}: {}\n  {origin}\n  grid {gx} x {gy} x {gz}, block {bx} x {by} x {bz}, \
         {} registers, {} bytes of shared memory\n  {} instructions of code, {} executed by {} \
         warps, {} distinct paths in {steps} runs\n  {all} bytes, {addresses} of them addresses \
         ({plain_addresses} before compression)",
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

fn export(
    input: &str,
    output: &Path,
    source: &SourceArgs,
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let launches = match Subject::new(input, source)? {
        Subject::Workload(workload) => {
            if source.cta.is_some() {
                return Err(Failure::input(
                    "`--cta` does not apply: other simulators need every CTA of a launch",
                )
                .hint("choose a launch with `--launch-index`"));
            }
            let recording = Temporary::beside(output)?;
            measure::record(&workload, &recording.0, &Request::new(source)?, printer)?;
            write_text(&recording.0, output)?
        }
        Subject::Trace(input) if store::is_recording(&input) => {
            whole(source, "a recording is exported whole", "record")?;
            write_text(Path::new(&input), output)?
        }
        Subject::Trace(input) => {
            return Err(Failure::input(format!("`{input}` is an Accel-Sim trace already"))
                .hint("export a recording or a workload"));
        }
    };
    let list = output.join("kernelslist.g");
    printer.data(&format!("{}: {launches} launches\n", list.display()))
}

fn write_text(file: &Path, output: &Path) -> Result<u64, Failure> {
    let mut recording = Recording::open(file)?;
    Ok(crate::trace::export(&mut recording, output)?)
}

/// A recording that only an export needs. Removed in the end, however that comes.
struct Temporary(PathBuf);

impl Temporary {
    /// A name beside a folder, which need not be there yet.
    fn beside(folder: &Path) -> Result<Self, Failure> {
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            std::fs::create_dir_all(parent).map_err(|error| {
                let parent = parent.display();
                Failure::input(format!("{parent}: {error}")).hint("name a folder that can be made")
            })?;
        }
        let name = format!(".strata-export-{}.strata", std::process::id());
        Ok(Self(parent.unwrap_or(Path::new(".")).join(name)))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Not there when recording failed.
        let _ = std::fs::remove_file(&self.0);
    }
}
