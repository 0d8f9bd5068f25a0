//! `inspect`: kernels as the machine sees them, and what each instruction costs.

mod counted;
mod in_time;
mod view;

use std::fmt::Write as _;
use std::path::Path;

use strata_compiler::listing::{Dot, Listing};
use strata_ptx::diagnostic::{self, Diagnostic, DiagnosticKind, LineIndex};
use strata_ptx::module::{Function, FunctionId, Module};

use crate::cli::{InspectArgs, ListingFormat};
use crate::printer::Printer;
use strata_design::{self as design, Design};
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::levels::FittedKernels;
use strata_measure::options::{Mode, Source};
use strata_measure::subject;
use strata_workload::decoded::Decoded;
use strata_workload::kernel_name;
use strata_workload::{self as workload, Toolchain, Workload};

use view::View;

pub(super) use view::Shown;

/// Design unless another is named.
const DEFAULT_DESIGN: &str = "isca11-rfc6";

/// What shows a trace.
const NOT_OF_TRACES: &str = "`strata run` counts its accesses, `strata trace info` describes a \
                             recording; name a workload or a PTX file here";

/// Runs the command. Its status is 1 where a kernel cannot be executed.
pub fn run(args: &InspectArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    if args.profile {
        return match profiled(args, printer)? {
            Shown::Text(text) => printer.data(&text),
            Shown::Columns(columns, form) => {
                printer.table(&columns.select(&args.columns.names)?, form)
            }
        };
    }
    without_profile(args)?;
    let Listed { text, all_run } = listed(args, printer)?;
    let written = printer.data(&text)?;
    Ok(if all_run { written } else { ExitStatus::CheckFailed })
}

/// `--profile`, as it is printed.
pub(super) fn profiled(args: &InspectArgs, printer: &Printer) -> Result<Shown, Failure> {
    let view = View::of(args)?;
    match args.mode {
        Some(Mode::Cycle) => in_time::profiled(args, view, printer),
        _ => counted::profiled(args, view, printer),
    }
}

/// Refuses options of what is executed only.
fn without_profile(args: &InspectArgs) -> Result<(), Failure> {
    let Source {
        launch,
        scale,
        ptx: _,
        set,
        registers: _,
        orders: _,
        kernel: _,
        launch_index,
        cta,
        max_instructions,
        allow_outside,
    } = &*args.source;
    for (option, given) in [
        ("--mode", args.mode.is_some()),
        ("--sort", args.sort.is_some()),
        ("--top", args.top.is_some()),
        ("--format json", args.format == ListingFormat::Json),
        ("--format csv", args.format == ListingFormat::Csv),
        ("--format markdown", args.format == ListingFormat::Markdown),
        ("--format parquet", args.format == ListingFormat::Parquet),
        ("--columns", !args.columns.names.is_empty()),
        ("--launch", launch.is_some()),
        ("--scale", scale.is_some()),
        ("--set", !set.is_empty()),
        ("--launch-index", launch_index.is_some()),
        ("--cta", cta.is_some()),
        ("--max-instructions", max_instructions.is_some()),
        ("--allow-outside", *allow_outside),
    ] {
        if given {
            return Err(Failure::input(format!("`{option}` is for what is executed"))
                .hint("add `--profile`, or leave it out"));
        }
    }
    Ok(())
}

fn design(args: &InspectArgs) -> Result<Design, Failure> {
    Ok(design::resolve(args.design.as_deref().unwrap_or(DEFAULT_DESIGN))?)
}

/// What is shown of kernels that are not executed.
struct Listed {
    text: String,
    /// The executor takes every kernel.
    all_run: bool,
}

/// Every kernel of the input, compiled; nothing is executed.
fn listed(args: &InspectArgs, printer: &Printer) -> Result<Listed, Failure> {
    let design = design(args)?;
    let hint = format!("add `--profile --mode cycle`, or {}", design.to_lose_data_cache());
    design.without_data_cache("listings have no use for it", &hint)?;
    if args.design.is_some() && design.managed.is_none() {
        return Err(Failure::input(format!(
            "a listing shows nothing of `{}`, whose levels no compiler manages",
            design.name
        ))
        .hint("add `--profile`, or leave `--design` out"));
    }
    let (file, source) = source(&args.input, args.source.ptx)?;
    subject::warn(&file, &source, printer);
    let (module, unsupported) = parse(&file, &source)?;
    let options = subject::options(&args.source)?;
    let lines = LineIndex::new(&source);
    let render = |problem: &Diagnostic| diagnostic::render(problem, &file, &source, &lines);
    let mut listed = Listed { text: String::new(), all_run: true };
    for (id, function) in kernels(&module, args.source.kernel.as_deref(), &file)? {
        let text = &mut listed.text;
        if !text.is_empty() {
            text.push('\n');
        }
        let Decoded { program, problems, .. } = Decoded::new(&module, &unsupported, id, options);
        if let Some(program) = &program {
            let mut levels = FittedKernels::default();
            let hierarchy = levels.of(&design, Some(program))?;
            let listing =
                Listing { module: &module, program, values: true, hierarchy, margin: &[] };
            let _ = match args.format {
                ListingFormat::Dot => write!(text, "{}", Dot(listing)),
                _ => write!(text, "{listing}"),
            };
        }
        listed.all_run &= problems.is_empty();
        let problems: Vec<String> = problems.iter().map(render).collect();
        *text += &verdict(&function.name, &problems, args.format == ListingFormat::Dot);
    }
    if module.kernels().next().is_none() {
        let remark = if args.format == ListingFormat::Dot { "// " } else { "" };
        listed.text = format!("{remark}{file} has no kernel: functions alone are not compiled\n");
    }
    Ok(listed)
}

/// Whether the executor takes a kernel, and what keeps it from that; as remarks in a graph.
fn verdict(kernel: &str, problems: &[String], remarks: bool) -> String {
    let mut text = match problems {
        [] => format!("{kernel}: runs\n"),
        [_] => format!("{kernel}: does not run, for 1 reason\n"),
        more => format!("{kernel}: does not run, for {} reasons\n", more.len()),
    };
    for problem in problems {
        let _ = write!(text, "\n{problem}");
    }
    if remarks {
        text.lines().fold(String::new(), |remarks, line| remarks + "// " + line + "\n")
    } else {
        text
    }
}

/// A module, and what keeps parts of it from being executed.
pub(super) fn parse(file: &str, source: &str) -> Result<(Module, Vec<Diagnostic>), Failure> {
    let parsed = strata_ptx::parse(source);
    if parsed.has_errors() {
        let errors: Vec<Diagnostic> = parsed
            .diagnostics
            .into_iter()
            .filter(|found| found.kind == DiagnosticKind::Error)
            .collect();
        return Err(subject::diagnostics(file, source, &errors));
    }
    Ok((parsed.module, parsed.diagnostics))
}

/// The kernels of a module, or the one of a name, as the PTX or its C++ has it.
pub(super) fn kernels<'m>(
    module: &'m Module,
    only: Option<&str>,
    file: &str,
) -> Result<Vec<(FunctionId, &'m Function)>, Failure> {
    let names = module.kernels().map(|(_, function)| function.name.as_str());
    let only = only.map(|only| kernel_name::find(names, only).map_err(|meant| (only, meant)));
    let only = only.transpose().map_err(|(asked, meant)| no_kernel(module, asked, &meant, file))?;
    Ok(module.kernels().filter(|(_, found)| only.is_none_or(|only| only == found.name)).collect())
}

/// The kernels that [`kernels`] finds. A module without any is an error.
pub(super) fn some_kernels<'m>(
    module: &'m Module,
    only: Option<&str>,
    file: &str,
) -> Result<Vec<(FunctionId, &'m Function)>, Failure> {
    let found = kernels(module, only, file)?;
    if found.is_empty() { Err(without_kernels(file)) } else { Ok(found) }
}

fn without_kernels(file: &str) -> Failure {
    Failure::input(format!("`{file}` has no kernel"))
        .hint("a kernel begins with `.entry`; device functions alone are not compiled")
}

/// Why a name is that of no kernel, or of several.
fn no_kernel(module: &Module, asked: &str, meant: &[String], file: &str) -> Failure {
    let all: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
    match (all.as_slice(), meant) {
        ([], _) => without_kernels(file),
        (all, []) => Failure::input(format!("`{file}` has no kernel `{asked}`"))
            .hint(format!("it has {}", kernel_name::list(all.iter().copied()))),
        (_, several) => Failure::input(format!("`{file}` has several kernels `{asked}`"))
            .hint(format!("name one of them: {}", several.join("; "))),
    }
}

/// A workload's PTX, or a file's, with its name for messages.
pub(super) fn source(name: &str, ptx: Option<Toolchain>) -> Result<(String, String), Failure> {
    subject::with_ptx(name, NOT_OF_TRACES)?;
    if subject::is_file(name) {
        subject::without_ptx(name, ptx)?;
        subject::ptx_file(name)?;
        let path = Path::new(name);
        let text = workload::read_ptx(path)?;
        return Ok((name.to_owned(), text));
    }
    let workload = Workload::builtin(name, ptx.unwrap_or_default())?;
    Ok((workload.ptx_file.clone(), workload.ptx.into_owned()))
}
