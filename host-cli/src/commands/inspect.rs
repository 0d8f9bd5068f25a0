//! `inspect`: kernels as the machine sees them, and what each instruction costs.

mod in_time;

use std::fmt::Write as _;
use std::path::Path;

use strata_compiler::compile;
use strata_compiler::hierarchy::Lrf;
use strata_compiler::listing::{Dot, Listing};
use strata_compiler::program::Program;
use strata_core::event::Counters;
use strata_core::value_usage::ValueUsage;
use strata_ptx::diagnostic::{self, Diagnostic, DiagnosticKind, LineIndex};
use strata_ptx::module::{Function, FunctionId, Module};

use crate::cli::{InspectArgs, ListingFormat, Mode, SourceArgs};
use crate::crossings::Crossings;
use crate::design::{self, Design};
use crate::evaluate::{self, EvaluateError};
use crate::failure::{ExitStatus, Failure};
use crate::levels::{Fitted, FittedKernels};
use crate::measure::{Request, SpillTraffic, price};
use crate::printer::Printer;
use crate::subject;
use crate::workload::simulate::reachable;
use crate::workload::{self, Toolchain, Workload};

/// Design unless another is named.
const DEFAULT_DESIGN: &str = "isca11-rfc6";

/// What shows a trace.
const NOT_OF_TRACES: &str = "`strata run` counts its accesses, `strata trace info` describes a \
                             recording; name a workload or a PTX file here";

/// Runs the command.
pub fn run(args: &InspectArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    if !args.profile {
        without_profile(args)?;
    }
    let text = match (args.profile, args.format) {
        (true, ListingFormat::Dot) => {
            return Err(Failure::input("`--profile` has no graph")
                .hint("leave `--profile` or `--format dot` away"));
        }
        (true, ListingFormat::Text) if args.mode == Some(Mode::Cycle) => {
            in_time::profiled(args, printer)?
        }
        (true, ListingFormat::Text) => profiled(args, printer)?,
        (false, _) => listed(args, printer)?,
    };
    printer.data(&text)
}

/// Refuses options of what is executed only.
fn without_profile(args: &InspectArgs) -> Result<(), Failure> {
    let SourceArgs {
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
    } = &args.source;
    for (option, given) in [
        ("--mode", args.mode.is_some()),
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

/// Every kernel of the input, compiled; nothing is executed.
fn listed(args: &InspectArgs, printer: &Printer) -> Result<String, Failure> {
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
    let (module, unexecutable) = parse(&file, &source)?;
    let options = subject::options(&args.source)?;
    let mut text = String::new();
    for (id, function) in kernels(&module, args.source.kernel.as_deref()) {
        if !text.is_empty() {
            text.push('\n');
        }
        let compiled = compile(&module, id, options);
        let problems = match compiled {
            Ok(program) => {
                let mut levels = FittedKernels::default();
                let hierarchy = levels.of(&design, Some(&program))?;
                let (module, program) = (&module, &program);
                let listing = Listing { module, program, values: true, hierarchy, margin: &[] };
                let _ = match args.format {
                    ListingFormat::Text => write!(text, "{listing}"),
                    ListingFormat::Dot => write!(text, "{}", Dot(listing)),
                };
                strata_simt::prepare(module, program).err().unwrap_or_default()
            }
            Err(problems) => {
                let remark = if args.format == ListingFormat::Dot { "// " } else { "" };
                let _ = writeln!(text, "{remark}{}: cannot be compiled yet", function.name);
                problems
            }
        };
        if args.format == ListingFormat::Dot {
            continue;
        }
        let reached = reachable(&module, std::slice::from_ref(&function.name));
        let skipped = unexecutable.iter().filter(|found| {
            let kernel = found.kernel.as_deref();
            kernel.is_none_or(|name| reached.contains(name))
        });
        let mut problems: Vec<Diagnostic> = skipped.cloned().chain(problems).collect();
        problems.sort_by_key(|problem| problem.span.start);
        text += &unsupported(&file, &source, &problems);
    }
    if text.is_empty() {
        return Err(no_kernel(&module, args.source.kernel.as_deref(), &file));
    }
    Ok(text)
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

/// The kernels of a module, or the one of a name.
pub(super) fn kernels<'m>(
    module: &'m Module,
    only: Option<&'m str>,
) -> impl Iterator<Item = (FunctionId, &'m Function)> {
    module.kernels().filter(move |(_, function)| only.is_none_or(|only| only == function.name))
}

/// What keeps a kernel from being executed.
fn unsupported(file: &str, source: &str, problems: &[Diagnostic]) -> String {
    let lines = LineIndex::new(source);
    let mut text = String::new();
    for problem in problems {
        let _ = write!(text, "\n{}", diagnostic::render(problem, file, source, &lines));
    }
    text
}

/// Why there is nothing to show.
pub(super) fn no_kernel(module: &Module, wanted: Option<&str>, file: &str) -> Failure {
    let kernels: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
    match wanted {
        Some(kernel) if !kernels.is_empty() => {
            Failure::input(format!("`{file}` has no kernel `{kernel}`"))
                .hint(format!("it has {}", kernels.join(", ")))
        }
        _ => Failure::input(format!("`{file}` has no kernel"))
            .hint("a kernel begins with `.entry`; device functions alone are not compiled"),
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

/// What one kernel did, over all its counted launches.
#[derive(Clone, Default)]
struct Profile {
    lines: Vec<Counters>,
    usage: ValueUsage,
    spills: SpillTraffic,
    /// If the compiler manages the design's hierarchy.
    crossings: Option<Crossings>,
    launches: u64,
    /// Where the compiler placed its operands, if it manages the design's hierarchy.
    levels: FittedKernels,
}

/// Every kernel that was launched, with what each instruction did.
fn profiled(args: &InspectArgs, printer: &Printer) -> Result<String, Failure> {
    let design = design(args)?;
    design.countable()?;
    let request = Request::new(&args.source)?;
    subject::with_ptx(&args.input, NOT_OF_TRACES)?;
    let workload = subject::workload(&args.input, &args.source, printer)?;
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let mut profiles = vec![Profile::default(); prepared.programs.len()];
    let mut counted = Ok(());
    prepared
        .execute(&request.options, |launch| {
            if counted.is_ok() {
                let profile = &mut profiles[launch.step.kernel];
                counted = profile.add(&design, launch.program, &launch.outcome.paths);
                profile.launches += u64::from(launch.last);
            }
        })
        .map_err(|error| subject::run_error(&workload, &error))?;
    counted.map_err(|error| defect(&error))?;
    let mut text = format!("design {}; counts are of warps, energy in pJ\n", design.name);
    for (program, profile) in prepared.programs.iter().zip(&mut profiles) {
        if profile.launches == 0 {
            continue;
        }
        let margin = profile.margin(&design).map_err(|error| defect(&error))?;
        let across_strands = profile.across_strands();
        let listing = Listing {
            module: &prepared.module,
            program,
            values: false,
            hierarchy: profile.levels.of(&design, Some(program))?,
            margin: &margin,
        };
        let heading = heading(&design);
        let _ = write!(
            text,
            "\n{}\n{heading}\n{listing}{}{across_strands}{}",
            diagnostic::counted(profile.launches, "launch"),
            dynamic_values(&profile.usage),
            profile.spills.describe()
        );
    }
    Ok(text)
}

fn defect(error: &EvaluateError) -> Failure {
    Failure::internal(&error.to_string())
}

/// Heading of the margin, as wide as it.
fn heading(design: &Design) -> String {
    let last = if has_last(design) { "  LRF reads LRF writes" } else { "" };
    let upper = if design.managed.is_some() { "ORF" } else { "RFC" };
    format!(
        "  executed lanes  MRF reads {upper} reads MRF writes {upper} writes{last}     energy |"
    )
}

fn has_last(design: &Design) -> bool {
    let managed = design.managed.is_some_and(|managed| managed.lrf != Lrf::None);
    managed || design.organisation().levels().has_last_result_file()
}

impl Profile {
    fn add(
        &mut self,
        design: &Design,
        program: &Program,
        paths: &strata_simt::PathDictionary,
    ) -> Result<(), EvaluateError> {
        let clusters = design.partial_warp_energy;
        let hierarchy = self.levels.of(design, Some(program))?;
        let placements = hierarchy.map(|hierarchy| &*hierarchy.placements);
        let image = Fitted { placements, ..(&program.image).into() };
        if let Some(hierarchy) = hierarchy {
            let strands = &hierarchy.strands.of;
            let crossings = evaluate::launch_crossings(&program.image, strands, paths)?;
            self.crossings.get_or_insert_default().add(&crossings, 1)?;
        }
        let lines = evaluate::profile_launch(design.organisation(), clusters, image, paths)?;
        self.lines.resize(lines.len(), Counters::default());
        for (sum, line) in self.lines.iter_mut().zip(&lines) {
            *sum = sum.checked_add(line)?;
        }
        self.usage.add(&evaluate::launch_usage(&program.image, paths)?, 1)?;
        self.spills.add(program, paths);
        Ok(())
    }

    /// What crosses strands, for each instruction, beside what the design reads and writes.
    fn across_strands(&self) -> String {
        let Some(crossings) = self.crossings else { return String::new() };
        let sum = |of: fn(&Counters) -> u64| self.lines.iter().map(of).sum::<u64>();
        let executed = sum(Counters::warp_instructions);
        let per_instruction = |count: u64| {
            if executed == 0 { 0.0 } else { count as f64 / executed as f64 }
        };
        format!(
            "strands: live-in {:.2} an instruction, MRF reads {:.2}; live-out {:.2}, MRF writes \
             {:.2}\n",
            per_instruction(crossings.live_in),
            per_instruction(sum(Counters::mrf_reads)),
            per_instruction(crossings.live_out),
            per_instruction(sum(Counters::mrf_writes)),
        )
    }

    /// One text for each instruction, all as wide as [`heading`].
    fn margin(&self, design: &Design) -> Result<Vec<String>, EvaluateError> {
        let line = |counters: &Counters| {
            let executed = counters.warp_instructions();
            let tenths = (counters.thread_instructions() * 10).checked_div(executed);
            let lanes = tenths
                .map_or_else(String::new, |tenths| format!("{}.{}", tenths / 10, tenths % 10));
            let energy = price(design, counters)?;
            let energy = energy.map_or_else(
                || "-".to_owned(),
                // Rounded to whole picojoules: a line's share, not a total.
                |energy| ((energy.total().0 + 500) / 1000).to_string(),
            );
            let last = if has_last(design) {
                let writes = counters.lrf_writes() + counters.lrf_fills();
                format!(" {:>10} {writes:>10}", counters.lrf_reads())
            } else {
                String::new()
            };
            Ok(format!(
                "{executed:>10} {lanes:>5} {:>10} {:>9} {:>10} {:>10}{last} {energy:>10} |",
                counters.mrf_reads(),
                counters.rfc_reads() + counters.orf_reads(),
                counters.mrf_writes(),
                counters.rfc_writes() + counters.orf_writes(),
            ))
        };
        self.lines.iter().map(line).collect()
    }
}

/// Dynamic use of values, as ISCA'11 Figure 2 counts it.
fn dynamic_values(usage: &ValueUsage) -> String {
    let reads = &usage.reads;
    let life = &usage.lifetime_of_read_once;
    let [from_private, from_shared] = usage.read_by_shared;
    format!(
        "executed values: {}; never read {}, once {}, twice {}, more often {}\nread once after 1 \
         instruction {}, 2: {}, 3: {}, more: {}\nread by the shared datapath: {}, of which the \
         private datapath made {from_private}\n",
        usage.values(),
        reads[0],
        reads[1],
        reads[2],
        usage.read_at_least(3),
        life[0],
        life[1],
        life[2],
        life[3..].iter().sum::<u64>(),
        from_private + from_shared,
    )
}
