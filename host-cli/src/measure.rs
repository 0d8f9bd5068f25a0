//! Measurement: one subject executed once, counted under every design, as reports. [`engine`] does
//! it for one subject after the other.

mod account;
mod baselines;
mod batch;
mod common;
mod counted;
mod embed;
pub(crate) mod engine;
mod line_profile;
mod replay;
mod request;
mod shared;
mod spill;
mod spills;
mod storage_energy;
mod tape;

use strata_core::energy::{EnergyBreakdown, EnergyError};
use strata_core::event::Counters;
use strata_core::sm::config::CtaTooLarge;
use strata_core::sm::counters::StallReason;
use strata_core::sm::fault::Fault;
use strata_core::sm::partition::Needs;

use crate::design::Design;
use crate::dump;
use crate::evaluate::EvaluateError;
use crate::failure::Failure;
use crate::levels::FitError;
use crate::notes::Notes;
use crate::provision::Provision;
use crate::report::{Check, RunReport};
use crate::subject;
use crate::timing::TimingError;
use crate::workload::Workload;
use crate::workload::compare::{CompareError, Comparison};
use crate::workload::simulate::{LaunchRecord, Prepared};

use account::{Account, accounts, add, fastest, finish_timelines, with_baselines};
pub(crate) use batch::each_launch;
use batch::{Ended, each_batch};
use common::Common;
pub(crate) use counted::Counted;
pub use embed::{EMBEDDED, embed};
pub use engine::{KEPT_BYTES, Room};
pub use line_profile::{KernelProfile, LineProfile, LineProfiles};
pub(crate) use replay::each_recorded_launch;
pub use replay::trace_reports;
pub use request::Request;
pub(crate) use request::command_line;
use shared::SharedInput;
pub(crate) use spill::is_spill;
pub use spills::SpillTraffic;
use storage_energy::BaselineRuns;
pub use tape::record;

/// Executes a workload once, compares its results with the host reference, and counts it under
/// every design. The reports come in the order of the designs.
pub fn reports(
    workload: &Workload,
    designs: &[Design],
    request: &Request,
    notes: &dyn Notes,
) -> Result<Vec<RunReport>, Failure> {
    reports_and_buffers(workload, designs, request, notes).map(|(reports, _)| reports)
}

/// The same, with the final contents of the buffers of its launch file.
pub fn reports_and_buffers(
    workload: &Workload,
    designs: &[Design],
    request: &Request,
    notes: &dyn Notes,
) -> Result<(Vec<RunReport>, Vec<Vec<u8>>), Failure> {
    let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
    let kernels = needs(workload, &prepared, designs)?;
    let baselines = storage_energy::baselines(designs, (request.mode, true), &kernels);
    let input = (workload.name.as_str(), kernels.as_slice());
    let mut accounts = with_baselines((designs, &baselines), request, input)?;
    let (common, ended) = counted(workload, &prepared, &mut accounts, request, notes)?;
    finish_timelines(&mut accounts, notes)?;
    let input = (workload.name.as_str(), workload.arguments.as_slice());
    let accounts = fastest(accounts);
    let runs = BaselineRuns::of(&baselines, &accounts);
    let report = |(account, tried): (Account<'_>, _)| {
        account.report(input, request, &common, (ended.check, tried, &runs))
    };
    let reports = accounts
        .into_iter()
        .take(designs.len())
        .map(|account| report(account).map_err(|error| failure(&workload.name, error)));
    Ok((reports.collect::<Result<_, _>>()?, ended.finals))
}

/// Executes a workload once and compares its results with what its launch file expects; `None` if
/// it expects none.
pub fn comparisons(
    workload: &Workload,
    request: &Request,
    notes: &dyn Notes,
) -> Result<Option<Vec<Comparison>>, Failure> {
    // Only results matter: the executor has as many registers as the kernel needs.
    let prepared = Prepared::new(workload, &request.size, &request.overrides)
        .map_err(|error| subject::run_error(workload, &error))?;
    dump::check(&request.dumps, &prepared.plan)?;
    let finals = prepared.execute(&request.options.recording_nothing(), |launch| {
        if !launch.outcome.printf.is_empty() {
            notes.note(&printed(&launch));
        }
    });
    let finals = finals.map_err(|error| subject::run_error(workload, &error))?;
    dump::write_all(&request.dumps, &prepared.plan, &finals)?;
    prepared.compare(&finals).map_err(|error| uncomparable(&prepared.name, &error))
}

/// Executes a prepared workload in time under a design, and says what each instruction did, also in
/// a data cache; of the fastest division of a storage that has several.
pub fn line_profiles(
    workload: &Workload,
    prepared: &Prepared,
    design: &Design,
    request: &Request,
    notes: &dyn Notes,
) -> Result<LineProfiles, Failure> {
    let designs = std::slice::from_ref(design);
    let request = &request.clone().with_line_profiles();
    let kernels = needs(workload, prepared, designs)?;
    let mut accounts = accounts(designs, request, (&workload.name, &kernels))?;
    counted(workload, prepared, &mut accounts, request, notes)?;
    let chosen = fastest(accounts).into_iter().next();
    Ok(chosen.and_then(|(account, _)| account.line_profiles()).unwrap_or_default())
}

/// What the kernels of a workload need of an SM's storage, if that matters to a design.
fn needs(
    workload: &Workload,
    prepared: &Prepared,
    designs: &[Design],
) -> Result<Vec<Needs>, Failure> {
    if !designs.iter().any(Design::depends_on_needs) {
        return Ok(Vec::new());
    }
    prepared.needs().map_err(|error| subject::run_error(workload, &error))
}

/// Executes a prepared workload once and counts it in every account.
fn counted(
    workload: &Workload,
    prepared: &Prepared,
    accounts: &mut [Account<'_>],
    request: &Request,
    notes: &dyn Notes,
) -> Result<(Common, Ended), Failure> {
    let spills = workload.options.registers.map(|_| SpillTraffic::default());
    let mut common = Common { spills, ..Common::default() };
    let ended = each_batch(workload, prepared, request, notes, |launches| {
        add(&mut common, accounts, launches, (&workload.name, request.mode))
    })?;
    Ok((common, ended))
}

/// Why a workload does not fit each of the designs; none where it does.
pub(crate) fn fitting(
    workload: &Workload,
    designs: &[Design],
    request: &Request,
) -> Result<Vec<Option<String>>, Failure> {
    let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
    let kernels = prepared.needs().map_err(|error| subject::run_error(workload, &error))?;
    let refused = |design: &Design| {
        let provisions = Provision::candidates(design, &kernels);
        provisions.and_then(|all| all[0].check(&kernels)).err().map(|error| error.to_string())
    };
    Ok(designs.iter().map(refused).collect())
}

/// What keeps an input from being counted: where it is not the input's affair or the design's, a
/// defect.
pub(crate) fn failure(input: &str, error: EvaluateError) -> Failure {
    refusal(input, &error).unwrap_or_else(|| match error {
        EvaluateError::Levels(error) => error.into(),
        other => Failure::internal(&other.to_string()),
    })
}

/// Errors of the input or the design, for inputs of any kind: kernels that do not fit the SM or
/// never end in time, and designs that cannot be combined with the request.
fn refusal(input: &str, error: &EvaluateError) -> Option<Failure> {
    match error {
        EvaluateError::Timing(error @ TimingError::PartialWarps) => Some(
            Failure::input(format!("{error}"))
                .hint("leave it out of the design file, or run in count mode"),
        ),
        EvaluateError::Timing(TimingError::Fault(fault @ Fault::Stalled { reason, .. })) => {
            let hint = match reason {
                StallReason::Barrier => {
                    "warps at barriers keep all places of the active set: raise `active_warps`, or \
                     set `barrier = \"always\"`"
                }
                _ => "",
            };
            let message = format!("`{input}` does not end in time: {fault}");
            Some(Failure::input(message).hint(hint))
        }
        EvaluateError::Levels(error @ FitError::NoProgram) => Some(
            Failure::input(format!("`{input}` cannot be counted: {error}"))
                .hint("run the PTX file or the workload itself"),
        ),
        // Every table and every count may be so large that their product is not a number any more.
        EvaluateError::Energy(EnergyError::Overflow)
        | EvaluateError::Timing(TimingError::Overflow)
        | EvaluateError::Overflow(_)
        | EvaluateError::Values(_) => Some(
            Failure::input(format!("`{input}`: {error}"))
                .hint("give the design smaller energies, or run less at a time"),
        ),
        EvaluateError::Timing(TimingError::TooLarge(error)) => Some(too_large(input, error)),
        _ => None,
    }
}

/// A launch of which no CTA fits the SM.
fn too_large(input: &str, error: &CtaTooLarge) -> Failure {
    Failure::input(format!("`{input}` does not fit the design's SM: {error}"))
        .hint("launch smaller CTAs, or give the design more in `[sm]` or `[storage]`")
}

/// Energy of a design's counters; none where the design's sizes have no printed energy.
///
/// The unit of the counters must be the design's: clusters with `partial_warp_energy`.
pub fn price(
    design: &Design,
    counters: &Counters,
) -> Result<Option<EnergyBreakdown>, EvaluateError> {
    let Ok(table) = &design.energy else { return Ok(None) };
    let breakdown = if design.partial_warp_energy {
        table.energy_of_clusters(counters)
    } else {
        table.energy(counters)
    };
    Ok(Some(breakdown?))
}

/// Compares final buffers with the host reference.
fn check(prepared: &Prepared, finals: &[Vec<u8>]) -> Result<Check, Failure> {
    let comparisons =
        prepared.compare(finals).map_err(|error| uncomparable(&prepared.name, &error))?;
    let Some(comparisons) = comparisons else { return Ok(Check::None) };
    for comparison in &comparisons {
        if !comparison.passed() {
            return Err(Failure::check(format!(
                "`{}` computed a wrong result: {comparison}",
                prepared.name
            )));
        }
    }
    Ok(Check::Passed)
}

/// A launch file that does not offer what its host reference starts from or speaks of.
fn uncomparable(workload: &str, error: &CompareError) -> Failure {
    Failure::input(format!("`{workload}` cannot be compared with its host reference: {error}"))
        .hint("correct the launch file, or leave its `[check]` out")
}

/// What a kernel printed, as a note.
fn printed(launch: &LaunchRecord<'_>) -> String {
    let text = String::from_utf8_lossy(&launch.outcome.printf);
    let cut = if launch.outcome.printf_truncated { "\n(the rest was dropped)" } else { "" };
    format!("kernel `{}` printed:\n{}{cut}", launch.kernel, text.trim_end())
}
