//! Resolve: the workload or trace that one input names.

use std::path::{Path, PathBuf};

use strata_files::failure::Failure;
use strata_trace::{self as trace, Entry, Reach, store};
use strata_workload::{STANDARD_INPUT, Workload};

use super::compile::options;
use super::input::{check_name, ending, is_file, is_recorded, other_file, ptx_file, without_ptx};
use super::problems::warn;
use crate::notes::Notes;
use crate::options::Source;

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
