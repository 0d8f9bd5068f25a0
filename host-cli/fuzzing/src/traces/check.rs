//! What must hold of every trace and recording.

use std::sync::LazyLock;

use strata_compiler::program::Image;
use strata_core::fault::PathFault;
use strata_core::sm::fault::Fault;
use strata_simt::AccessDictionary;
use strata_simt::paths::PathDictionary;

use strata_design::{self as design, Design};
use strata_measure::evaluate::{EvaluateError, count_launch};
use strata_measure::timing::{TimedLaunch, TimingError, time_launch};
use strata_trace::store::{Recording, StoreError};
use strata_trace::{Header, Keep, TracedLaunch};

use super::mutate_tracez::is_container;

/// Most warp instructions that are run of an input, so that each takes little time.
const BUDGET: u64 = 1 << 14;

/// Designs whose rules differ: one level, a cache with liveness, operand collectors with a pool.
static DESIGNS: LazyLock<Vec<Design>> = LazyLock::new(|| {
    let resolve = |name| design::resolve(name).expect("a design of ours");
    ["isca11", "isca11-rfc6", "warrf"].map(resolve).into()
});

/// Where a launch came from decides which refusals are its own fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The facts for the machine are our own.
    Trace,
    /// They came out of a file, which may contradict itself.
    Recording,
}

/// Reads bytes as a trace, text or container (`.tracez`), and runs what was read in both modes.
/// Returns whether it was read.
///
/// # Panics
///
/// When what was read cannot be run: a defect of the reader.
pub fn check_trace(text: &[u8]) -> bool {
    let name = if is_container(text) { "fuzz.tracez" } else { "fuzz.traceg" };
    let read = |accesses| {
        let keep = Keep { accesses, max_instructions: BUDGET, ..Keep::default() };
        TracedLaunch::parse(text.to_vec(), name, &keep)
    };
    let Ok(launch) = read(true) else { return false };
    let counted = read(false).expect("what cycle mode reads, count mode reads");
    assert_eq!((&counted.header, &counted.paths), (&launch.header, &launch.paths));
    let accesses = launch.accesses.unwrap_or_default();
    let image = (&launch.code.image, launch.code.image.registers);
    run(&launch.header, image, &launch.paths, &accesses, Origin::Trace);
    true
}

/// Reads bytes as a recording and runs every launch in both modes. Returns whether all was read.
///
/// # Panics
///
/// When what was read cannot be run: a defect of the reader.
pub fn check_recording(bytes: &[u8]) -> bool {
    read_recording(bytes).is_ok()
}

fn read_recording(bytes: &[u8]) -> Result<(), StoreError> {
    let mut recording = Recording::parse(bytes.to_vec(), "fuzz.strata")?;
    let mut left = BUDGET;
    while let Some(stored) = recording.next_launch()? {
        let Some(rest) = left.checked_sub(stored.warp_instructions()) else { return Ok(()) };
        left = rest;
        let accesses = recording.accesses(&stored, None, true)?;
        let image = (&stored.image, stored.resident_registers);
        run(&stored.header, image, &stored.paths, &accesses, Origin::Recording);
    }
    Ok(())
}

fn run(
    header: &Header,
    (image, resident_registers): (&Image, u16),
    paths: &PathDictionary,
    accesses: &AccessDictionary,
    origin: Origin,
) {
    for design in &*DESIGNS {
        let counted = count_launch(design.organisation(), false, image.into(), paths);
        judge(counted.map(drop), origin, &design.name);
        let timed = TimedLaunch {
            image: image.into(),
            paths,
            accesses,
            barriers: None,
            resident_registers,
            threads: header.threads(),
            shared_bytes: header.shared_bytes,
        };
        let timed = time_launch(design.sm, &timed).map_err(EvaluateError::from);
        judge(timed.map(drop), origin, &design.name);
    }
}

/// Refusals that a user is told of as those of an input; all others are defects of ours.
fn judge(result: Result<(), EvaluateError>, origin: Origin, design: &str) {
    let Err(error) = result else { return };
    let fault = match &error {
        EvaluateError::Timing(
            TimingError::TooLarge(_) | TimingError::Fault(Fault::Stalled { .. }),
        ) => return,
        EvaluateError::Timing(TimingError::Fault(Fault::Hierarchy(fault)))
        | EvaluateError::PathFault(fault) => Some(fault),
        _ => None,
    };
    let contradiction =
        matches!(fault, Some(PathFault::UnmarkedDeschedule { .. } | PathFault::OutOfReach { .. }));
    let excused = origin == Origin::Recording && contradiction;
    assert!(excused, "{design}, {origin:?}: {error}");
}
