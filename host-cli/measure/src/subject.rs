//! Inputs of a command: from what was typed to workloads, modules and designs, or one clear
//! failure.

mod names;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use strata_compiler::{CompileOptions, Order, RegisterLimit};
use strata_ptx::diagnostic::{self, Diagnostic, DiagnosticKind, LineIndex, counted};

use crate::notes::Notes;
use crate::options::Source;
use strata_config::name;
use strata_config::suggest::{did_you_mean, suggest};
use strata_design::{self as design, Design};
use strata_files::failure::Failure;
use strata_trace::store;
use strata_trace::{self as trace, Entry, Reach};
use strata_workload::simulate::{Prepared, RunError};
use strata_workload::{
    self as workload, GROUP_MARK, Overrides, STANDARD_INPUT, Toolchain, Workload, parse_override,
};

/// Finds a workload by name, or reads a PTX file and its launch file.
pub fn workload(input: &str, args: &Source, notes: &dyn Notes) -> Result<Workload, Failure> {
    other_file(input)?;
    let workload = if is_file(input) {
        without_ptx(input, args.ptx)?;
        ptx_file(input)?;
        let Some(launch) = &args.launch else {
            let file = shlex::try_quote(input).unwrap_or_default();
            return Err(Failure::input(format!("`{input}` needs a launch description")).hint(
                format!(
                    "`strata launch-template {file} -o L.toml` writes one to begin with, which \
                     `--launch L.toml` names"
                ),
            ));
        };
        if input == STANDARD_INPUT && launch == Path::new(STANDARD_INPUT) {
            return Err(Failure::input("PTX and launch file cannot both be standard input")
                .hint("write one of them into a file"));
        }
        if ending(launch) == "ptx" {
            return Err(Failure::input(format!("`{}` is PTX, no launch file", launch.display()))
                .hint("`--launch` names a TOML file; `strata launch-template` writes one"));
        }
        Workload::from_files(Path::new(input), launch)
    } else if args.launch.is_some() {
        return Err(Failure::input(format!("`{input}` is no PTX file"))
            .hint("`--launch` is for PTX files; built-in workloads have their own"));
    } else {
        Workload::builtin(input, args.ptx.unwrap_or_default())
    };
    let mut workload = workload?;
    workload.options = options(args)?;
    warn(&workload.ptx_file, &workload.ptx, notes);
    Ok(workload)
}

/// The ending of a file's name, in lower case; empty if it has none.
fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Refuses an input that is no workload and no PTX: a folder, or a file that goes elsewhere.
fn other_file(input: &str) -> Result<(), Failure> {
    let path = Path::new(input);
    if ending(path) == "toml" {
        return Err(Failure::input(format!("`{input}` is a TOML file, no workload and no PTX"))
            .hint(format!(
                "a launch file goes with its PTX: `FILE.ptx --launch {input}`; a design file \
                 with `--design {input}`"
            )));
    }
    if path.is_dir() && !workload::all_names().any(|name| name == input) {
        return Err(Failure::input(format!("`{input}` is a folder"))
            .hint("name a file in it: PTX, a trace's `kernelslist.g`, or a recording"));
    }
    Ok(())
}

/// Refuses an input of which a command cannot show the PTX, which is what it is about; `instead`
/// are the commands for traces.
pub fn with_ptx(input: &str, instead: &str) -> Result<(), Failure> {
    check_name(input)?;
    if is_recorded(input) {
        return Err(Failure::input(format!("`{input}` is a trace, which has no PTX")).hint(instead));
    }
    other_file(input)
}

/// Refuses a file that holds a kernel in another form, with how to make PTX of it.
pub fn ptx_file(input: &str) -> Result<(), Failure> {
    let path = Path::new(input);
    let ending = ending(path);
    let quoted = |path: &Path| {
        let text = path.display().to_string();
        shlex::try_quote(&text).map_or(text.clone(), std::borrow::Cow::into_owned)
    };
    let (file, ptx) = (quoted(path), quoted(&path.with_extension("ptx")));
    match ending.as_str() {
        "cu" | "cuh" | "cl" | "cpp" | "cc" => {
            Err(Failure::input(format!("`{input}` is source code, not PTX")).hint(format!(
                "compile it: `nvcc -ptx -arch=compute_75 {file} -o {ptx}`, or `clang -x cuda \
                 --cuda-device-only --cuda-gpu-arch=sm_75 -O2 -S {file} -o {ptx}`"
            )))
        }
        "cubin" | "fatbin" | "o" | "obj" | "so" | "exe" => {
            Err(Failure::input(format!("`{input}` is machine code, not PTX"))
                .hint(format!("if PTX is in it, `cuobjdump -ptx {file}` prints it")))
        }
        _ => Ok(()),
    }
}

/// Refuses a choice of PTX where the input is a file.
pub fn without_ptx(input: &str, ptx: Option<Toolchain>) -> Result<(), Failure> {
    if ptx.is_none() {
        return Ok(());
    }
    Err(Failure::input(format!("`{input}` is no built-in workload"))
        .hint("`--ptx` chooses among what several compilers made of a built-in workload"))
}

/// How kernels are to be compiled.
pub fn options(args: &Source) -> Result<CompileOptions, Failure> {
    let registers = args.registers.and_then(RegisterLimit::new);
    let order = args.order()?;
    if order == Order::ScheduledRenamed && registers.is_some() {
        return Err(Failure::input(format!(
            "`--order {}` takes as many registers as it needs",
            order.name()
        ))
        .hint(format!(
            "leave `--registers` out, or choose `--order {}`",
            Order::Scheduled.name()
        )));
    }
    Ok(CompileOptions { registers, order })
}

/// Compiles a workload at one size, or says everything that keeps it from running.
pub fn prepare(
    workload: &Workload,
    size: &str,
    overrides: &Overrides,
) -> Result<Prepared, Failure> {
    let prepared =
        Prepared::new(workload, size, overrides).map_err(|error| run_error(workload, &error))?;
    for program in &prepared.programs {
        if program.general_registers > RegisterLimit::MAX {
            return Err(Failure::input(format!(
                "kernel `{}` needs {} registers per thread, {max} are available",
                program.name,
                program.general_registers,
                max = RegisterLimit::MAX
            ))
            .hint(format!(
                "`--registers {max}` spills what does not fit to local memory",
                max = RegisterLimit::MAX
            )));
        }
    }
    Ok(prepared)
}

/// What a command works on.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A kernel to execute.
    Workload(Box<Workload>),
    /// A trace or a recording to read: its path as typed.
    Trace(String),
}

impl Subject {
    /// Finds what an input names.
    pub fn new(input: &str, args: &Source, notes: &dyn Notes) -> Result<Self, Failure> {
        check_name(input)?;
        if args.allow_outside && !trace::is_list(input) {
            return Err(Failure::input(format!("`{input}` is no list of traces"))
                .hint("`--allow-outside` is for a `kernelslist.g`, which names other files"));
        }
        if !is_recorded(input) {
            return Ok(Self::Workload(Box::new(workload(input, args, notes)?)));
        }
        without_ptx(input, args.ptx)?;
        if args.registers.is_some() {
            return Err(Failure::input(format!(
                "`{input}` is a trace, whose registers are allocated"
            ))
            .hint("`--registers` is for workloads and PTX files"));
        }
        if !args.orders.is_empty() {
            return Err(Failure::input(format!(
                "`{input}` is a trace, whose instructions have the order that it was made with"
            ))
            .hint("`--order` is for workloads and PTX files"));
        }
        if args.launch.is_some() || !args.set.is_empty() {
            return Err(Failure::input(format!(
                "`{input}` is a trace, which has its launches in it"
            ))
            .hint("leave `--launch` and `--set` away"));
        }
        if args.scale.is_some() {
            return Err(Failure::input(format!("`{input}` is a trace, which has its size"))
                .hint("`--scale` is for workloads and PTX files"));
        }
        Ok(Self::Trace(input.to_owned()))
    }

    /// The files that it is read from, those that a list of traces names among them.
    pub fn files(&self, reach: Reach) -> Result<Vec<PathBuf>, Failure> {
        let path = match self {
            Self::Workload(workload) => return Ok(workload.files.clone()),
            Self::Trace(input) => PathBuf::from(input),
        };
        if store::is_recording(&path.to_string_lossy()) {
            return Ok(vec![path]);
        }
        let members = trace::entries(&path, reach)?.into_iter().filter_map(|entry| match entry {
            Entry::Launch(file) => Some(file),
            Entry::Copy { .. } => None,
        });
        Ok(members.chain([path.clone()]).collect())
    }

    /// How a command line names it.
    pub fn arguments(&self) -> &[String] {
        match self {
            Self::Workload(workload) => &workload.arguments,
            Self::Trace(input) => std::slice::from_ref(input),
        }
    }

    /// Name for messages and reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Workload(workload) => &workload.name,
            Self::Trace(input) => input,
        }
    }
}

/// Whether an input can be named in messages and tables.
fn check_name(input: &str) -> Result<(), Failure> {
    name::line(input).map_err(|why| {
        Failure::input(format!("{input:?} cannot be the name of an input: {why}"))
            .hint("rename it; a name is printed as it is, on one line")
    })
}

/// The inputs with the workloads of a group in the place of its name; the suite if there are none.
///
/// # Errors
/// There is no such group.
fn with_groups(inputs: &[String]) -> Result<Vec<String>, Failure> {
    if inputs.is_empty() {
        return Ok(workload::names().map(str::to_owned).collect());
    }
    let mut all = Vec::new();
    for input in inputs {
        match group(input) {
            Some(group) => {
                check_name(input)?;
                let names = workload::of_group(group).ok_or_else(|| unknown_group(group))?;
                all.extend(names.into_iter().map(str::to_owned));
            }
            None => all.push(input.clone()),
        }
    }
    Ok(all)
}

/// The name of the group that an input names, if it names one.
fn group(input: &str) -> Option<&str> {
    input.strip_prefix(GROUP_MARK).filter(|_| !is_file(input) && !is_recorded(input))
}

fn unknown_group(group: &str) -> Failure {
    let known = workload::group_names().map(|name| format!("`{GROUP_MARK}{name}`"));
    let known = known.collect::<Vec<_>>().join(", ");
    let near = did_you_mean(&suggest(group, workload::group_names()));
    let near = near.map_or_else(String::new, |question| format!("{question} "));
    let message = format!("there is no group `{group}` of workloads; there are: {known}");
    Failure::input(message).hint(format!("{near}`strata workloads` lists them"))
}

/// What inputs name, the suite's workloads if there are none; each with a name of its own.
pub fn subjects(
    inputs: &[String],
    args: &Source,
    notes: &dyn Notes,
) -> Result<Vec<Subject>, Failure> {
    let inputs = &with_groups(inputs)?;
    // A launch description is for the PTX files among the inputs, a choice of PTX for built-in
    // workloads, a size for all but traces, a look outside for lists; without any such input it is
    // a mistake.
    let any = |of: fn(&str) -> bool| inputs.iter().any(|input| of(input));
    let others = Source {
        launch: args.launch.clone().filter(|_| !any(is_ptx)),
        scale: args.scale.filter(|_| !any(|input| !is_recorded(input))),
        ptx: args.ptx.filter(|_| !any(is_built_in)),
        allow_outside: args.allow_outside && !any(trace::is_list),
        ..args.clone()
    };
    let workloads = Source { scale: args.scale, ptx: args.ptx, ..others.clone() };
    let files = Source { launch: args.launch.clone(), scale: args.scale, ..others.clone() };
    let lists = Source { allow_outside: args.allow_outside, ..others.clone() };
    let subject = |input: &String| {
        let args = match input {
            input if trace::is_list(input) => &lists,
            input if is_recorded(input) => &others,
            input if is_ptx(input) => &files,
            _ => &workloads,
        };
        Subject::new(input, args, notes)
    };
    let mut subjects = inputs.iter().map(subject).collect::<Result<Vec<_>, _>>()?;
    names::tell_apart(&mut subjects)?;
    Ok(subjects)
}

/// The same for a command that takes no traces, which `are` something that it cannot use.
pub fn workloads(
    inputs: &[String],
    args: &Source,
    are: &str,
    notes: &dyn Notes,
) -> Result<Vec<Workload>, Failure> {
    let only = |subject| match subject {
        Subject::Workload(workload) => Ok(*workload),
        Subject::Trace(input) => Err(Failure::input(format!("`{input}` is a trace, {are}"))
            .hint("name workloads or PTX files; `strata run` takes traces")),
    };
    subjects(inputs, args, notes)?.into_iter().map(only).collect()
}

/// Why a workload does not run.
pub fn run_error(workload: &Workload, error: &RunError) -> Failure {
    match error {
        RunError::Ptx { diagnostics, .. } => {
            self::diagnostics(&workload.ptx_file, &workload.ptx, diagnostics)
        }
        other => Failure::input(other.to_string()).hint(other.help()),
    }
}

/// Whether an input names a trace or a recording.
pub fn is_recorded(input: &str) -> bool {
    trace::is_trace(input) || store::is_recording(input)
}

/// Whether it names a PTX file among all kinds of inputs.
fn is_ptx(input: &str) -> bool {
    is_file(input) && !is_recorded(input)
}

/// Whether it names a built-in workload among all kinds of inputs.
fn is_built_in(input: &str) -> bool {
    !is_file(input) && !is_recorded(input)
}

/// Whether an input names a PTX file rather than a built-in workload.
pub fn is_file(input: &str) -> bool {
    let path = Path::new(input);
    let known = |ending: &str| {
        let endings = ["ptx", "cu", "cuh", "cl", "cubin", "fatbin"];
        endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    input == STANDARD_INPUT
        || path.extension().and_then(|ending| ending.to_str()).is_some_and(known)
        || input.contains(std::path::MAIN_SEPARATOR)
}

/// Tells what is not known of a PTX file.
pub fn warn(file: &str, text: &str, notes: &dyn Notes) {
    let zeros = strata_ptx::final_zeros(text);
    if zeros > 0 {
        let left = if zeros == 1 { "is" } else { "are" };
        let zeros = counted(zeros, "zero byte");
        notes.note(&format!("`{file}` ends with {zeros}, which {left} left out"));
    }
    let warnings = strata_ptx::warnings(text);
    if warnings.is_empty() {
        return;
    }
    let lines = LineIndex::new(text);
    for warning in &warnings {
        notes.warning(&diagnostic::render(warning, file, text, &lines));
    }
}

/// All diagnostics of a file as one failure.
pub fn diagnostics(file: &str, text: &str, diagnostics: &[Diagnostic]) -> Failure {
    let lines = LineIndex::new(text);
    let unsupported =
        diagnostics.iter().filter(|found| found.kind == DiagnosticKind::Unsupported).count();
    let errors = diagnostics.len() - unsupported;
    let mut message = match (errors, unsupported) {
        (_, 0) => format!("`{file}` has {}", counted(errors, "error")),
        (0, _) => format!("`{file}` needs {}", counted(unsupported, "unsupported feature")),
        _ => format!(
            "`{file}` has {} and needs {}",
            counted(errors, "error"),
            counted(unsupported, "unsupported feature")
        ),
    };
    for found in diagnostics {
        let _ = write!(message, "\n\n{}", diagnostic::render(found, file, text, &lines).trim_end());
    }
    Failure::input(message)
}

/// Resolves design names and files, which must not call two different designs the same.
pub fn designs(names: &[String]) -> Result<Vec<Design>, Failure> {
    let mut designs: Vec<Design> = Vec::with_capacity(names.len());
    for name in names {
        let design = design::resolve(name)?;
        if designs.iter().any(|other| other.argument == design.argument) {
            return Err(Failure::input(format!("design `{name}` is named twice"))
                .hint("name each design once"));
        }
        let twin = designs.iter().find(|other| other.name == design.name);
        if let Some(twin) = twin {
            return Err(Failure::input(format!(
                "`{}` and `{}` are both called `{}`",
                twin.argument, design.argument, design.name
            ))
            .hint("give one of them another name, with `name = \"...\"` in its file"));
        }
        designs.push(design);
    }
    Ok(designs)
}

/// The files that subjects and designs are read from.
pub fn files(
    subjects: &[Subject],
    designs: &[Design],
    reach: Reach,
) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<_> = designs.iter().flat_map(Design::files).collect();
    for subject in subjects {
        files.extend(subject.files(reach)?);
    }
    Ok(files)
}

/// Parses `--set NAME=VALUE`.
pub fn overrides(settings: &[String]) -> Result<Overrides, Failure> {
    let mut overrides = Overrides::new();
    for setting in settings {
        let (name, value) = parse_override(setting)?;
        if overrides.insert(name.clone(), value).is_some() {
            return Err(Failure::input(format!("`--set {name}=...` is given twice")));
        }
    }
    Ok(overrides)
}
