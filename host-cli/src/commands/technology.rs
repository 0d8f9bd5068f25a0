//! `technology`: technology files from what other programs print.

use std::io::Write as _;
use std::path::Path;

use crate::cli::technology::{ImportArgs, ImportFrom, TechnologyCommand};
use crate::printer::Printer;
use strata_config::name;
use strata_design::import::{self, Tool, Wanted};
use strata_design::memory::file;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::output::Output;
use strata_files::partial_file::PartialFile;

/// Longest output. Unit: bytes.
const LONGEST: u64 = 64 << 20;

/// Runs the command.
pub fn run(command: &TechnologyCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        TechnologyCommand::Import(args) => import(args, printer),
    }
}

fn import(args: &ImportArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let path = &args.file;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = args.name.as_deref().unwrap_or(&stem).to_owned();
    name::word(&name).map_err(|why| {
        Failure::input(format!("{name:?} is no name of a technology: {why}"))
            .hint(format!("add `--name NAME`, {}", name::A_WORD))
    })?;
    let wanted = Wanted {
        name,
        file: path.display().to_string(),
        tool: args.from.map(|from| match from {
            ImportFrom::Nvsim => Tool::NvSim,
            ImportFrom::Cacti => Tool::Cacti,
        }),
        kind: args.memory,
        banks: args.banks,
        bits: args.bits,
    };
    let toml = import::import(&read(path)?, &wanted).map_err(|error| {
        Failure::input(error.of(&path.display().to_string())).hint(error.help())
    })?;
    // What is written must be what a design can name.
    let out = args.output.as_deref();
    file::parse(&out.unwrap_or(path).display().to_string(), &toml)?;
    let Some(out) = out else { return printer.data(&toml) };
    let failed = |error: std::io::Error| Failure::file(out, "write", &error);
    let output = Output::new(out, import::KIND, args.force, std::slice::from_ref(path))?;
    let mut whole = PartialFile::create(&output).map_err(failed)?;
    whole.write_all(toml.as_bytes()).and_then(|()| whole.finish()).map_err(failed)?;
    printer.data(&format!("{}: technology `{}`\n", out.display(), wanted.name))
}

fn read(path: &Path) -> Result<String, Failure> {
    use std::io::Read as _;

    let failed = |error: std::io::Error| Failure::file(path, "read", &error);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::input(format!(
            "`{}` has more than {LONGEST} bytes, which no such output has",
            path.display()
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Failure::input(format!("{}: the byte at offset {offset} is no UTF-8 text", path.display()))
            .hint("give the text that the program printed")
    })
}
