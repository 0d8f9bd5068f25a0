//! Measurement of what was recorded: traces of real GPUs and our own recordings.

use std::collections::BTreeSet;
use std::path::Path;

use strata_compiler::Order;
use strata_compiler::program::Image;
use strata_core::sm::partition::Needs;
use strata_simt::AccessDictionary;
use strata_simt::paths::PathDictionary;

use crate::account::{Account, add, baseline_runs, fastest, finish_timelines, with_baselines};
use crate::batch::{Batch, held};
use crate::common::Common;
use crate::counted::Counted;
use crate::evaluate::EvaluateError;
use crate::notes::Notes;
use crate::report::{Check, RunReport};
use crate::request::Request;
use crate::storage_energy;
use crate::timeline::Code;
use strata_design::Design;
use strata_files::failure::Failure;
use strata_trace::store::{Budget, Recording, Stored, is_recording};
use strata_trace::{self as trace, Entry, Header, Keep, Reach, TracedInstruction, TracedLaunch};
use strata_workload::simulate::Options;

/// A launch that is to be counted.
pub(crate) struct Replayed {
    header: Header,
    instructions: Vec<TracedInstruction>,
    image: Image,
    resident_registers: u16,
    order: Option<Order>,
    pub(crate) paths: PathDictionary,
    /// What its warps moved, where that is asked for.
    pub(crate) accesses: AccessDictionary,
    assumptions: Vec<String>,
    /// Keys of the trace's header that are not known.
    unknown_keys: Vec<String>,
}

/// What a tape gives.
enum Next {
    /// Nothing: it is at its end.
    End,
    /// A launch that was not wanted.
    Skipped,
    /// A launch.
    Launch(Box<Replayed>),
}

/// Where launches come from, in order.
enum Tape {
    /// The trace files of a list, the parts of each to keep, within the rest of the budget, and the
    /// whole budget. Unit: warp instructions.
    Traces(std::vec::IntoIter<Entry>, Keep, u64),
    /// A recording, the requested parts of it, and the rest of the budget.
    Recording(Box<Recording>, Options, Budget),
}

impl Tape {
    fn open(input: &str, options: &Options, reach: Reach) -> Result<Self, Failure> {
        let path = Path::new(input);
        if is_recording(input) {
            let recording = Recording::open(path)?;
            let recording = Box::new(recording);
            let budget = Budget::new(options.max_instructions);
            return Ok(Self::Recording(recording, options.clone(), budget));
        }
        let entries = trace::entries(path, reach)?;
        let max_instructions = options.max_instructions;
        let keep = Keep {
            cta: options.cta,
            accesses: options.accesses,
            lines: options.lines,
            max_instructions,
        };
        Ok(Self::Traces(entries.into_iter(), keep, max_instructions))
    }

    /// The next launch, which is read only if it is `wanted`.
    fn next(&mut self, wanted: bool) -> Result<Next, Failure> {
        match self {
            Self::Traces(entries, keep, budget) => {
                let launch = entries.find_map(|entry| match entry {
                    Entry::Launch(file) => Some(file),
                    Entry::Copy { .. } => None,
                });
                let Some(file) = launch else { return Ok(Next::End) };
                if !wanted {
                    return Ok(Next::Skipped);
                }
                let read = TracedLaunch::read(&file, keep);
                let launch = read.map_err(|error| error.of_budget(*budget))?;
                keep.max_instructions -= launch.instructions;
                let assumptions = launch.code.assumptions.iter().map(ToString::to_string);
                Ok(Next::Launch(Box::new(Replayed {
                    assumptions: assumptions.collect(),
                    unknown_keys: launch.unknown_keys,
                    header: launch.header,
                    instructions: launch.code.instructions,
                    resident_registers: launch.code.image.registers,
                    order: None,
                    image: launch.code.image,
                    paths: launch.paths,
                    accesses: launch.accesses.unwrap_or_default(),
                })))
            }
            Self::Recording(recording, options, budget) => {
                let stored = recording.next_launch()?;
                let Some(stored) = stored else { return Ok(Next::End) };
                if !wanted {
                    return Ok(Next::Skipped);
                }
                budget.spend(&stored).map_err(|problem| recording.error(problem))?;
                let accesses = if options.accesses {
                    let accesses = recording.accesses(&stored, options.cta, options.lines);
                    accesses?
                } else {
                    AccessDictionary::default()
                };
                let launch = one_cta(stored, options.cta)?;
                Ok(Next::Launch(Box::new(Replayed { accesses, ..launch })))
            }
        }
    }
}

fn one_cta(stored: Stored, cta: Option<u64>) -> Result<Replayed, Failure> {
    let Stored { header, instructions, image, order, resident_registers, .. } = stored;
    let Stored { assumptions, paths, .. } = stored;
    let count = header.ctas();
    if let Some(cta) = cta.filter(|&cta| cta >= count) {
        return Err(Failure::input(format!(
            "launch of `{}` has no CTA {cta}; there are {count}",
            header.name
        ))
        .hint("indices count from 0"));
    }
    let paths = match cta {
        Some(cta) => paths.filtered(|warp| warp.cta == cta),
        None => paths,
    };
    let assumptions = assumptions.iter().map(ToString::to_string).collect();
    let accesses = AccessDictionary::default();
    let unknown_keys = Vec::new();
    Ok(Replayed {
        header,
        instructions,
        image,
        resident_registers,
        order,
        paths,
        accesses,
        assumptions,
        unknown_keys,
    })
}

/// Reads a trace or a recording once and counts it under every design, as [`crate::reports`]
/// does with a workload. What was assumed about opcodes is noted, and said in every report.
pub fn trace_reports(
    input: &str,
    designs: &[Design],
    request: &Request,
    notes: &dyn Notes,
) -> Result<Vec<RunReport>, Failure> {
    let tape = Tape::open(input, &request.options, request.reach)?;
    let depends = designs.iter().any(Design::depends_on_needs);
    let kernels = if depends { recorded_needs(input, request.reach)? } else { Vec::new() };
    let baselines = storage_energy::baselines(designs, (request.mode, false), &kernels);
    let needed = (input, kernels.as_slice());
    let mut accounts = with_baselines((designs, &baselines), request, needed)?;
    let mut common = Common::default();
    let assumptions = play(tape, input, request, notes, |launches| {
        add(&mut common, &mut accounts, launches, (input, request.mode))
    })?;
    finish_timelines(&mut accounts, notes)?;
    let accounts = fastest(accounts);
    let runs = baseline_runs(&baselines, &accounts);
    let report = |(account, tried): (Account<'_>, _)| {
        let told = (Check::Replayed, tried, &runs);
        let report = account.report((input, &[input.to_owned()]), request, &common, told);
        let mut report = report.map_err(|error| Failure::internal(&error.to_string()))?;
        report.assumed.extend(assumptions.iter().cloned());
        Ok(report)
    };
    accounts.into_iter().take(designs.len()).map(report).collect()
}

/// What each launch of a trace or a recording needs of an SM's storage.
pub(crate) fn recorded_needs(input: &str, reach: Reach) -> Result<Vec<Needs>, Failure> {
    let path = Path::new(input);
    let mut all = Vec::new();
    if is_recording(input) {
        let mut recording = Recording::open(path)?;
        while let Some(stored) = recording.next_launch()? {
            all.push(stored.header.needs(stored.resident_registers));
        }
    } else {
        for entry in trace::entries(path, reach)? {
            if let Entry::Launch(file) = entry {
                let header = Header::of_file(&file)?;
                all.push(header.needs(header.registers));
            }
        }
    }
    Ok(all)
}

/// Reads a trace or a recording once, and shows `visit` every launch that the request asks for.
/// Returns what was assumed about opcodes, which is noted as well.
pub fn each_recorded_launch(
    input: &str,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(&Counted<'_>) -> Result<(), EvaluateError>,
) -> Result<BTreeSet<String>, Failure> {
    let one_by_one = |launches: &[Counted<'_>]| launches.iter().try_for_each(&mut visit);
    each_recorded_batch(input, request, notes, one_by_one)
}

/// Reads a trace or a recording once, and shows `visit` every launch that the request asks for,
/// several at a time. Returns what was assumed about opcodes, which is noted as well.
pub(crate) fn each_recorded_batch(
    input: &str,
    request: &Request,
    notes: &dyn Notes,
    visit: impl FnMut(&[Counted<'_>]) -> Result<(), EvaluateError>,
) -> Result<BTreeSet<String>, Failure> {
    let tape = Tape::open(input, &request.options, request.reach)?;
    play(tape, input, request, notes, visit)
}

fn play(
    tape: Tape,
    input: &str,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(&[Counted<'_>]) -> Result<(), EvaluateError>,
) -> Result<BTreeSet<String>, Failure> {
    play_each(tape, input, request, notes, |batch| {
        let launches = batch.iter().map(|(index, launch)| launch.counted(*index));
        visit(&launches.collect::<Vec<_>>())
    })
}

/// Reads a trace or a recording once for a user that keeps the launches, each with its index.
pub(crate) fn each_replayed(
    input: &str,
    request: &Request,
    notes: &dyn Notes,
    visit: impl FnMut(Vec<(u64, Box<Replayed>)>) -> Result<(), EvaluateError>,
) -> Result<BTreeSet<String>, Failure> {
    let tape = Tape::open(input, &request.options, request.reach)?;
    play_each(tape, input, request, notes, visit)
}

fn play_each(
    mut tape: Tape,
    input: &str,
    request: &Request,
    notes: &dyn Notes,
    mut visit: impl FnMut(Vec<(u64, Box<Replayed>)>) -> Result<(), EvaluateError>,
) -> Result<BTreeSet<String>, Failure> {
    let mut batch = Batch::default();
    let mut show = |batch| visit(batch).map_err(|error| unfit(input, error));
    let options = &request.options;
    let (mut assumptions, mut unknown_keys) = (BTreeSet::new(), BTreeSet::new());
    let mut kernels = BTreeSet::new();
    let mut index = 0;
    loop {
        let wanted = options.launch_index.is_none_or(|only| only == index);
        let launch = match tape.next(wanted)? {
            Next::End => break,
            Next::Skipped => {
                index += 1;
                continue;
            }
            Next::Launch(launch) => launch,
        };
        index += 1;
        let kernel = launch.header.name.as_str();
        kernels.insert(kernel.to_owned());
        if options.kernel.as_ref().is_some_and(|only| only != kernel) {
            continue;
        }
        unknown_keys.extend(launch.unknown_keys.iter().cloned());
        assumptions.extend(launch.assumptions.iter().map(|text| format!("{kernel}, {text}")));
        // Code of a workload was never a machine's.
        if launch.order.is_none() {
            assumptions.extend(trace::machine_note(launch.header.binary_version));
        }
        let held = held(&launch.paths, &launch.accesses);
        if batch.push((index - 1, launch), held) {
            show(batch.take())?;
        }
    }
    show(batch.take())?;
    check_filters(input, options, index, &kernels)?;
    if let Some(note) = trace::unknown_keys(&unknown_keys) {
        notes.note(&format!("{input}: {note}"));
    }
    for assumption in &assumptions {
        notes.note(&format!("{input}: assumed: {assumption}"));
    }
    Ok(assumptions)
}

impl Replayed {
    pub(crate) fn counted(&self, index: u64) -> Counted<'_> {
        Counted {
            index,
            kernel: &self.header.name,
            grid: self.header.grid,
            block: self.header.block,
            registers: self.image.registers,
            resident_registers: self.resident_registers,
            order: self.order,
            image: &self.image,
            paths: &self.paths,
            accesses: &self.accesses,
            barriers: None,
            shared_bytes: self.header.shared_bytes,
            code: Code::Traced(&self.instructions),
        }
    }
}

/// Counting refused a launch: what is neither the input's affair nor the design's is our defect for
/// a trace, which was checked when it was read, but perhaps the file's for a recording.
pub(crate) fn unfit(input: &str, error: EvaluateError) -> Failure {
    if !is_recording(input) || matches!(error, EvaluateError::Levels(_)) {
        return crate::refusal::failure(input, error);
    }
    crate::refusal::refusal(input, &error).unwrap_or_else(|| {
        Failure::input(format!("`{input}` contradicts itself: {error}")).hint("record it again")
    })
}

/// Refuses options that name what a trace does not have.
fn check_filters(
    input: &str,
    options: &Options,
    launches: u64,
    kernels: &BTreeSet<String>,
) -> Result<(), Failure> {
    if let Some(index) = options.launch_index.filter(|&index| index >= launches) {
        return Err(Failure::input(format!(
            "`{input}` has no launch {index}; there are {launches}"
        ))
        .hint("indices count from 0"));
    }
    if let Some(kernel) = options.kernel.as_ref().filter(|&kernel| !kernels.contains(kernel)) {
        let known: Vec<&str> = kernels.iter().map(String::as_str).collect();
        return Err(Failure::input(format!(
            "`{input}` launches no kernel `{kernel}`; it launches {}",
            known.join(", ")
        ))
        .hint("name one of these kernels"));
    }
    Ok(())
}
