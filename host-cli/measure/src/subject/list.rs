//! List: all inputs and all designs of one command, and the files that they are read from.

use std::path::PathBuf;

use strata_config::suggest::{did_you_mean, suggest};
use strata_design::{self as design, Design};
use strata_files::failure::Failure;
use strata_trace::{self as trace, Reach};
use strata_workload::{self as workload, GROUP_MARK, Workload};

use super::input::{check_name, is_built_in, is_file, is_ptx, is_recorded};
use super::names::tell_apart;
use super::resolve::Subject;
use crate::notes::Notes;
use crate::options::Source;

/// Designs of a run without inputs: a flat register file, as all machines have it in count mode,
/// and the papers' best cache.
const DEFAULT_COMPARISON: [&str; 2] = ["isca11", "isca11-rfc6"];
/// Design of a run that names inputs but no design.
const DEFAULT_DESIGN: &str = "isca11";

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
    tell_apart(&mut subjects)?;
    Ok(subjects)
}

/// The workloads that inputs name, the suite's if there are none, for a command that takes no
/// traces. A trace is an error, which says that traces `are` something that the command cannot use.
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

/// The designs of a run of some inputs: those that are named, or the usual ones.
pub fn design_names(designs: &[String], inputs: &[String]) -> Vec<String> {
    if !designs.is_empty() {
        designs.to_vec()
    } else if inputs.is_empty() {
        DEFAULT_COMPARISON.map(str::to_owned).to_vec()
    } else {
        vec![DEFAULT_DESIGN.to_owned()]
    }
}

/// Resolves design names and files, which must not call two different designs the same.
pub fn designs(names: &[String]) -> Result<Vec<Design>, Failure> {
    let mut designs: Vec<Design> = Vec::with_capacity(names.len());
    for name in names {
        let design = design::resolve(name)?;
        told_apart_from(&designs, &design)?;
        designs.push(design);
    }
    Ok(designs)
}

/// Whether each of some designs has a name of its own.
///
/// # Errors
/// The first that another one's name.
pub fn told_apart(designs: &[Design]) -> Result<(), Failure> {
    let mut all = designs.iter().enumerate();
    all.try_for_each(|(at, design)| told_apart_from(&designs[..at], design))
}

fn told_apart_from(others: &[Design], design: &Design) -> Result<(), Failure> {
    if others.iter().any(|other| other.argument == design.argument) {
        return Err(Failure::input(format!("design `{}` is named twice", design.argument))
            .hint("name each design once"));
    }
    let Some(twin) = others.iter().find(|other| other.name == design.name) else { return Ok(()) };
    Err(Failure::input(format!(
        "`{}` and `{}` are both called `{}`",
        twin.argument, design.argument, design.name
    ))
    .hint("give one of them another name, with `name = \"...\"` in its file"))
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
