//! `launch-template`: a launch file to begin with.

use std::io::Write as _;
use std::path::PathBuf;

use crate::cli::data::LaunchTemplateArgs;
use crate::commands::inspect;
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::output::Output;
use strata_files::partial_file::PartialFile;
use strata_measure::notes::Notes as _;
use strata_measure::subject;
use strata_workload::launch_template::{self, KIND};
use strata_workload::{self as workload, RunError, read_ptx};

/// Runs the command.
pub fn run(args: &LaunchTemplateArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    subject::with_ptx(
        &args.file,
        "a trace has its launches in it: `strata run` takes it as it is",
    )?;
    if !subject::is_file(&args.file) && workload::all_names().any(|name| name == args.file) {
        return Err(Failure::input(format!("`{}` is a built-in workload", args.file))
            .hint("it has its launch file; `strata run` takes its name"));
    }
    subject::ptx_file(&args.file)?;
    let path = PathBuf::from(&args.file);
    let output = args.output.as_deref();
    let output =
        output.map(|output| Output::new(output, KIND, args.force, std::slice::from_ref(&path)));
    let output = output.transpose()?;
    let source = read_ptx(&path)?;
    subject::warn(&args.file, &source, printer);
    let (module, _) = inspect::parse(&args.file, &source)?;
    let only = args.kernel.as_deref();
    let (id, function) = inspect::some_kernels(&module, only, &args.file)?[0];
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let others = module.kernels().count() - 1;
    if only.is_none() && others != 0 {
        printer.note(&format!(
            "the template is for `{}`, the first of {} kernels; `--kernel` names another",
            function.name,
            others + 1
        ));
    }
    let made = launch_template::make(&name, &source, &module, id)
        .map_err(|problems| subject::diagnostics(&args.file, &source, &problems))?;
    if let Some(RunError::Ptx { diagnostics, .. }) = &made.fault {
        return Err(subject::diagnostics(&args.file, &source, diagnostics));
    }
    match output {
        None => printer.data(&made.text)?,
        Some(output) => write(&output, &made.text).map(|()| ExitStatus::Success)?,
    };
    match made.fault {
        None => Ok(ExitStatus::Success),
        Some(fault) => Err(Failure::check(format!("the template does not run as it is: {fault}"))
            .hint("correct its sizes and arguments")),
    }
}

fn write(output: &Output, text: &str) -> Result<(), Failure> {
    let failed = |error| {
        Failure::file(output.named(), "write", &error)
            .hint("pass `-o` a file in a folder that you may write to")
    };
    let mut file = PartialFile::create(output).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.finish()).map_err(failed)
}
