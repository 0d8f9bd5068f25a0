//! `inspect`: kernels as the machine sees them, and what each instruction costs.

mod counted;
mod in_time;
mod input;
mod view;

use std::fmt::Write as _;

use strata_compiler::listing::{Dot, Listing};
use strata_ptx::diagnostic::{self, Diagnostic, LineIndex};

use crate::cli::{InspectArgs, ListingFormat};
use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::levels::FittedKernels;
use strata_measure::options::{Mode, Source};
use strata_measure::subject;
use strata_workload::decoded::Decoded;

use input::{design, kernels};
use view::View;

pub(super) use input::{parse, some_kernels, source};
pub(super) use view::Shown;

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
