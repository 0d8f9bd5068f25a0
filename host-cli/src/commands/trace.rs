//! `trace`: record what a workload or a real GPU executed, look at it, hand it to other simulators.

use std::fmt::Write as _;
use std::path::Path;

use strata_ptx::diagnostic::counted;

use super::tables;
use crate::cli::TraceCommand;
use crate::cli::table::TableArgs;
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::output::Output;
use strata_files::partial_folder::PartialFolder;
use strata_measure::notes::Notes as _;
use strata_measure::options::Source;
use strata_measure::subject::Subject;
use strata_measure::{self as measure, Request};
use strata_report::columns::{Cell, Columns};
use strata_trace as trace;
use strata_trace::store::{self, Budget, Recording, Sizes, Stored};
use strata_trace::unknown_keys;

/// Runs the command.
pub fn run(command: &TraceCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        TraceCommand::Record { input, output, force, source } => {
            record(input, (output, *force), source, printer)
        }
        TraceCommand::Embed { input, output, force, source } => {
            embed(input, (output, *force), source, printer)
        }
        TraceCommand::Info { file, table } => info(file, table, printer),
        TraceCommand::Export { input, output, approximate, source } => {
            export(input, (output, *approximate), source, printer)
        }
    }
}

fn record(
    input: &str,
    (output, force): (&Path, bool),
    source: &Source,
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let subject = Subject::new(input, source, printer)?;
    let file = || Output::new(output, store::KIND, force, &subject.files(source.reach())?);
    let (launches, instructions) = match &subject {
        Subject::Workload(workload) => {
            measure::record(workload, &file()?, &Request::new(source)?, printer)?
        }
        Subject::Trace(input) if store::is_recording(input) => {
            return Err(Failure::input(format!("`{input}` is a recording already"))
                .hint("record a workload or a kernelslist.g"));
        }
        Subject::Trace(input) => {
            whole(source, "a trace is recorded whole", "run the recording")?;
            let (reach, limit) = (source.reach(), source.max_instructions());
            let recorded = store::record_trace(Path::new(input), reach, &file()?, limit)?;
            if let Some(note) = unknown_keys(&recorded.unknown_keys) {
                printer.note(&format!("{input}: {note}"));
            }
            (recorded.launches, recorded.instructions)
        }
    };
    let output = output.display();
    let launches = counted(launches, "launch");
    let instructions = counted(instructions, "warp instruction");
    printer.data(&format!("{output}: {launches}, {instructions}\n"))
}

fn embed(
    input: &str,
    (output, force): (&Path, bool),
    source: &Source,
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let subject = Subject::new(input, source, printer)?;
    let Subject::Workload(workload) = &subject else {
        return Err(Failure::input(format!("`{input}` is no workload")).hint(
            "only what is executed here can be embedded: a workload's name, or a PTX file with \
             `--launch`",
        ));
    };
    let file = Output::new(output, measure::EMBEDDED, force, &subject.files(source.reach())?)?;
    let warps = measure::embed(workload, &file, &Request::new(source)?, printer)?;
    printer.data(&format!("{}: {}\n", output.display(), counted(warps, "warp")))
}

/// Refuses options that choose a part of what is taken whole.
fn whole(source: &Source, what: &str, then: &str) -> Result<(), Failure> {
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

/// What `trace info` says of each launch, in formats other than text.
const LAUNCH: [&str; 22] = [
    "launch",
    "kernel",
    "tracer_version",
    "binary_version",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "registers",
    "shared_bytes",
    "instructions",
    "warp_instructions",
    "warps",
    "distinct_paths",
    "runs",
    "bytes",
    "address_bytes",
    "plain_address_bytes",
    "format_version",
    "assumed",
];

fn info(file: &Path, args: &TableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut recording = Recording::open(file)?;
    let (mut text, mut columns) = (String::new(), Columns::new(LAUNCH));
    let mut launches = 0;
    while let Some(stored) = recording.next_launch()? {
        describe(&mut text, launches, &stored, recording.sizes());
        columns.rows.push(launch_row(launches, &stored, recording.sizes()));
        launches += 1;
    }
    let _ = writeln!(text, "{}, format version {}", counted(launches, "launch"), store::VERSION);
    tables::print(args, columns, printer, || text, Columns::json)
}

/// A launch in the columns of [`LAUNCH`]; the versions are of what was traced on a GPU.
fn launch_row(index: u64, stored: &Stored, sizes: Sizes) -> Vec<Option<Cell>> {
    let header = &stored.header;
    let traced = |version: u32| (header.tracer_version != 0).then(|| version.into());
    let mut row: Vec<Option<Cell>> = vec![Some(index.into()), Some((&header.name).into())];
    row.extend([traced(header.tracer_version), traced(header.binary_version)]);
    row.extend(header.grid.into_iter().chain(header.block).map(|side| Some(side.into())));
    let steps: usize = stored.paths.iter().map(|(path, _)| path.len()).sum();
    let Sizes { all, addresses, plain_addresses } = sizes;
    let counts: [u64; 11] = [
        stored.image.registers.into(),
        header.shared_bytes.into(),
        stored.instructions.len() as u64,
        stored.warp_instructions(),
        stored.paths.warps().len() as u64,
        stored.paths.len() as u64,
        steps as u64,
        all,
        addresses,
        plain_addresses,
        store::VERSION.into(),
    ];
    row.extend(counts.map(|count| Some(count.into())));
    let assumed = stored.assumptions.iter().map(ToString::to_string).collect::<Vec<_>>();
    row.push((!assumed.is_empty()).then(|| assumed.join("; ").into()));
    row
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
         {}, {} of shared memory\n  {} of code, {} executed by {}, {} in {}\n  {all} bytes, \
         {addresses} of them addresses ({plain_addresses} before compression)",
        header.name,
        counted(stored.image.registers, "register"),
        counted(header.shared_bytes, "byte"),
        counted(stored.instructions.len(), "instruction"),
        stored.warp_instructions(),
        counted(stored.paths.warps().len(), "warp"),
        counted(stored.paths.len(), "distinct path"),
        counted(steps, "run"),
    );
    for assumption in &stored.assumptions {
        let _ = writeln!(text, "  assumed: {assumption}");
    }
}

fn export(
    input: &str,
    (output, approximate): (&Path, bool),
    source: &Source,
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let subject = Subject::new(input, source, printer)?;
    let folder = || PartialFolder::create(output, trace::EXPORT, &subject.files(source.reach())?);
    let (launches, folder) = match &subject {
        Subject::Workload(workload) => {
            if source.cta.is_some() {
                return Err(Failure::input(
                    "`--cta` does not apply: other simulators need every CTA of a launch",
                )
                .hint("choose a launch with `--launch-index`"));
            }
            let folder = folder()?;
            let file = folder.path().join("recording.strata");
            let recording = Output::new(&file, store::KIND, false, &[])?;
            measure::record(workload, &recording, &Request::new(source)?, printer)?;
            (write_text(&file, &folder, approximate)?, folder)
        }
        Subject::Trace(input) if store::is_recording(input) => {
            whole(source, "a recording is exported whole", "record")?;
            within_budget(Path::new(input), source.max_instructions())?;
            let folder = folder()?;
            (write_text(Path::new(input), &folder, approximate)?, folder)
        }
        Subject::Trace(input) => {
            return Err(Failure::input(format!("`{input}` is an Accel-Sim trace already"))
                .hint("export a recording or a workload"));
        }
    };
    folder.finish()?;
    let list = output.join("kernelslist.g");
    printer.data(&format!("{}: {}\n", list.display(), counted(launches, "launch")))
}

/// Refuses a recording of more warp instructions than the budget, before anything is written of it.
fn within_budget(file: &Path, max_instructions: u64) -> Result<(), Failure> {
    let mut budget = Budget::new(max_instructions);
    let mut recording = Recording::open(file)?;
    while let Some(stored) = recording.next_launch()? {
        budget.spend(&stored).map_err(|problem| recording.error(problem))?;
    }
    Ok(())
}

fn write_text(file: &Path, folder: &PartialFolder, approximate: bool) -> Result<u64, Failure> {
    let mut recording = Recording::open(file)?;
    Ok(trace::export(&mut recording, folder, approximate)?)
}
