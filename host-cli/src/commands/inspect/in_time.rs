//! In time: how long warps wait to issue each instruction of a kernel, and what it does in a memory
//! with a data cache.

use std::convert::Infallible;
use std::fmt::Write as _;

use strata_compiler::listing::Listing;
use strata_core::sm::memory::cached::CacheEvent;
use strata_ptx::diagnostic::counted;

use crate::cli::InspectArgs;
use crate::printer::Printer;
use strata_design::{self as design, Design};
use strata_files::failure::Failure;
use strata_measure::levels::FittedKernels;
use strata_measure::options::Mode;
use strata_measure::subject;
use strata_measure::{self as measure, KernelProfile, LineProfile, LineProfiles, Request};
use strata_report::lines::{self, LineCost, ProfiledKernel};
use strata_workload::simulate::Prepared;

use super::input::NOT_OF_TRACES;
use super::view::{Found, Profiled, Shown, View};

/// Design unless another is named.
const DEFAULT_DESIGN: &str = "micro12";

/// What stands above [`waits`].
const HEADING: [&str; 2] = ["", "  executed     stalls mostly"];

/// What stands above [`in_cache`], behind [`HEADING`].
const CACHE_HEADING: [&str; 2] = [
    "                                               ----- conflict cycles -----",
    "  lookups     hits   merged   misses DRAM bytes   shared    cache registers",
];

/// What stands above [`rows`], behind [`CACHE_HEADING`].
const ROWS_HEADING: [&str; 2] =
    [" | ---------- DRAM rows ---------", " |       hits     misses  conflicts"];

/// Which columns a design has, beside those of time.
#[derive(Clone, Copy)]
struct Columns {
    cache: bool,
    rows: bool,
}

/// Every kernel that was launched, with what each instruction did.
pub(super) fn profiled(
    args: &InspectArgs,
    view: View,
    printer: &Printer,
) -> Result<Shown, Failure> {
    let design = design::resolve(args.design.as_deref().unwrap_or(DEFAULT_DESIGN))?;
    let request = Request::new(&args.source)?.in_mode(Mode::Cycle);
    let request = request.for_designs(std::slice::from_ref(&design));
    subject::with_ptx(&args.input, NOT_OF_TRACES)?;
    let workload = subject::workload(&args.input, &args.source, printer)?;
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let profiles = measure::line_profiles(&workload, &prepared, &design, &request, printer)?;
    match view {
        View::Listing => listing(&prepared, &profiles, &design).map(Shown::Text),
        View::Lines(lines) => {
            let found = found(&prepared, &workload.ptx, &profiles);
            let (workload, design, request) = (&workload, &design, &request);
            lines.shown(&Profiled { workload, design, request }, found)
        }
    }
}

/// The kernels that were launched, with a margin.
fn listing(
    prepared: &Prepared,
    profiles: &LineProfiles,
    design: &Design,
) -> Result<String, Failure> {
    let cache = design.data_cache.as_ref();
    let columns =
        Columns { cache: cache.is_some(), rows: cache.is_some_and(|cache| cache.l2.is_some()) };
    let mut text = format!("design {}; counts are of warps\n", design.name);
    for program in &prepared.programs {
        let Some(profile) = profiles.get(&program.name) else { continue };
        let margin = margin(profile, program.instructions.len(), columns);
        let mut levels = FittedKernels::default();
        let listing = Listing {
            module: &prepared.module,
            program,
            values: false,
            hierarchy: levels.of(design, Some(program))?,
            margin: &margin,
        };
        let _ = writeln!(text, "\n{}", counted(profile.launches, "launch"));
        for line in columns.heading() {
            let _ = writeln!(text, "{line}");
        }
        let _ = write!(text, "{listing}{}", sums(profile, columns));
    }
    Ok(text)
}

/// What the lines of the kernels that were launched did.
fn found(prepared: &Prepared, text: &str, profiles: &LineProfiles) -> Found {
    let mut found = Found::default();
    let mut total = LineProfile::default();
    for program in &prepared.programs {
        let Some(profile) = profiles.get(&program.name) else { continue };
        let (kernel, launches) = (program.name.clone(), profile.launches);
        found.kernels.push(ProfiledKernel { kernel, launches });
        let source = (&prepared.module, text);
        let Ok(lines) = lines::of_program(source, program, |pcs| {
            let sum = LineProfile::sum(pcs.iter().filter_map(|&pc| profile.lines.get(pc)));
            total.add(&sum);
            Ok::<_, Infallible>(cost(&sum))
        });
        found.lines.extend(lines);
    }
    found.total = cost(&total);
    found
}

fn cost(line: &LineProfile) -> LineCost {
    let (executions, thread_instructions) = (line.executions, line.threads);
    LineCost { executions, thread_instructions, ..LineCost::default() }.with_stalls(&line.stalls)
}

impl Columns {
    /// What stands above the margin, as wide as it.
    fn heading(self) -> impl Iterator<Item = String> {
        let above = usize::from(!self.cache);
        (above..2).map(move |line| {
            let cache = if self.cache { CACHE_HEADING[line] } else { "" };
            let rows = if self.rows { ROWS_HEADING[line] } else { "" };
            format!("{:<40}{cache}{rows} |", HEADING[line])
        })
    }

    /// What an instruction did.
    fn of(self, line: &LineProfile) -> String {
        let cache = if self.cache { in_cache(line) } else { String::new() };
        let rows = if self.rows { rows(line) } else { String::new() };
        format!("{}{cache}{rows} |", waits(line))
    }
}

/// One text for each instruction, as wide as the heading.
fn margin(profile: &KernelProfile, instructions: usize, columns: Columns) -> Vec<String> {
    let lines = profile.lines.iter().copied().chain(std::iter::repeat(LineProfile::default()));
    lines.take(instructions).map(|line| columns.of(&line)).collect()
}

/// Executions, and how long warps waited to issue it.
fn waits(line: &LineProfile) -> String {
    let mostly = line.stalls.most().unwrap_or_default();
    format!("{:>10} {:>10} {mostly:<18}", line.executions, line.stalls.total())
}

/// How the lines that DRAM has read for an instruction found their bank; blanks if there are none.
fn rows(line: &LineProfile) -> String {
    match line.rows {
        [0, 0, 0] => format!(" | {:>31}", ""),
        [hits, misses, conflicts] => format!(" | {hits:>10} {misses:>10} {conflicts:>9}"),
    }
}

/// What accesses did; blanks for an instruction without any.
fn in_cache(line: &LineProfile) -> String {
    if CacheEvent::ALL.iter().all(|&event| line.memory.get(event) == 0) {
        return " ".repeat(75);
    }
    let sum =
        |events: &[CacheEvent]| -> u64 { events.iter().map(|&event| line.memory.get(event)).sum() };
    format!(
        " {:>8} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8} {:>9}",
        line.memory.lookups(),
        sum(&[CacheEvent::LoadHit, CacheEvent::StoreHit, CacheEvent::BypassHit]),
        sum(&[CacheEvent::LoadMerged]),
        sum(&[CacheEvent::LoadMiss, CacheEvent::StoreMiss, CacheEvent::BypassMiss]),
        line.memory.dram_bytes(),
        sum(&[CacheEvent::SharedConflictCycle]),
        sum(&[CacheEvent::CacheConflictCycle]),
        sum(&[CacheEvent::ArbitrationConflictCycle]),
    )
}

/// The sums of all instructions, and what belongs to none.
fn sums(profile: &KernelProfile, columns: Columns) -> String {
    let mut text = format!("{} all\n", columns.of(&LineProfile::sum(&profile.lines)));
    let waits = profile.others.get(CacheEvent::FillWaitCycle);
    if waits != 0 {
        let _ = writeln!(text, "lines from DRAM waited for their bank in {waits} cycles");
    }
    text
}
