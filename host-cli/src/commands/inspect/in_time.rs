//! In time: what each instruction of a kernel does in a memory with a data cache.

use std::fmt::Write as _;

use strata_compiler::listing::Listing;
use strata_core::sm::memory::cached::CacheEvent;
use strata_ptx::diagnostic::counted;

use crate::cli::{InspectArgs, Mode};
use crate::design::{self, Design};
use crate::failure::Failure;
use crate::levels::FittedKernels;
use crate::measure::{self, KernelProfile, LineProfile, Request};
use crate::printer::Printer;
use crate::subject;

/// Design unless another is named.
const DEFAULT_DESIGN: &str = "micro12";

/// What stands above [`columns`].
const HEADING: [&str; 2] = [
    "                                                          ----- conflict cycles ----- |",
    "  executed  lookups     hits   merged   misses DRAM bytes   shared    cache registers |",
];

/// The same over columns of [`rows`], behind it.
const ROWS_HEADING: [&str; 2] =
    [" ---------- DRAM rows --------- |", "       hits     misses  conflicts |"];

/// Every kernel that was launched, with what each instruction did.
pub(super) fn profiled(args: &InspectArgs, printer: &Printer) -> Result<String, Failure> {
    let design = design::resolve(args.design.as_deref().unwrap_or(DEFAULT_DESIGN))?;
    let Some(data_cache) = &design.data_cache else { return Err(without_cache(&design)) };
    let has_rows = data_cache.l2.is_some();
    let request = Request::new(&args.source)?.in_mode(Mode::Cycle);
    let request = request.for_designs(std::slice::from_ref(&design));
    subject::with_ptx(&args.input, super::NOT_OF_TRACES)?;
    let workload = subject::workload(&args.input, &args.source, printer)?;
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let profiles = measure::line_profiles(&workload, &prepared, &design, &request, printer)?;
    let mut text = format!("design {}; counts are of warps\n", design.name);
    for program in &prepared.programs {
        let Some(profile) = profiles.get(&program.name) else { continue };
        let margin = margin(profile, program.instructions.len(), has_rows);
        let mut levels = FittedKernels::default();
        let listing = Listing {
            module: &prepared.module,
            program,
            values: false,
            hierarchy: levels.of(&design, Some(program))?,
            margin: &margin,
        };
        let of_rows = if has_rows { ROWS_HEADING } else { [""; 2] };
        let [above, heading] = [0, 1].map(|line| format!("{}{}", HEADING[line], of_rows[line]));
        let launches = counted(profile.launches, "launch");
        let _ = write!(text, "\n{launches}\n{above}\n{heading}\n{listing}");
        text += &sums(profile, has_rows);
    }
    Ok(text)
}

/// A design whose memory knows no addresses.
fn without_cache(design: &Design) -> Failure {
    Failure::input(format!(
        "a profile in time shows what lines do in a data cache, and `{}` has none",
        design.name
    ))
    .hint("name a design with one, such as `micro12`, or leave `--mode cycle` out")
}

/// One text for each instruction, as wide as [`HEADING`].
fn margin(profile: &KernelProfile, instructions: usize, has_rows: bool) -> Vec<String> {
    let lines = profile.lines.iter().copied().chain(std::iter::repeat(LineProfile::default()));
    lines.take(instructions).map(|line| columns(&line, has_rows)).collect()
}

/// What an instruction did.
fn columns(line: &LineProfile, has_rows: bool) -> String {
    let rows = if has_rows { rows(line) } else { String::new() };
    in_cache(line) + &rows
}

/// How the lines that DRAM has read for an instruction found their bank; blanks if there are none.
fn rows(line: &LineProfile) -> String {
    match line.rows {
        [0, 0, 0] => format!("{:>32} |", ""),
        [hits, misses, conflicts] => format!(" {hits:>10} {misses:>10} {conflicts:>9} |"),
    }
}

/// Executions, and what accesses did; blanks for an instruction without any.
fn in_cache(line: &LineProfile) -> String {
    let executed = line.executions;
    if CacheEvent::ALL.iter().all(|&event| line.memory.get(event) == 0) {
        return format!("{executed:>10} {:>75} |", "");
    }
    let sum =
        |events: &[CacheEvent]| -> u64 { events.iter().map(|&event| line.memory.get(event)).sum() };
    format!(
        "{executed:>10} {:>8} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8} {:>9} |",
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
fn sums(profile: &KernelProfile, has_rows: bool) -> String {
    let mut all = LineProfile::default();
    for line in &profile.lines {
        all.add(line);
    }
    let mut text = format!("{} all\n", columns(&all, has_rows));
    let waits = profile.others.get(CacheEvent::FillWaitCycle);
    if waits != 0 {
        let _ = writeln!(text, "lines from DRAM waited for their bank in {waits} cycles");
    }
    text
}
