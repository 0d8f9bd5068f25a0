//! Execution: a workload executed once and counted under every design.

use strata_core::sm::partition::Needs;
use strata_design::Design;
use strata_files::failure::Failure;
use strata_workload::compare::Comparison;
use strata_workload::simulate::Prepared;
use strata_workload::{Workload, dump};

use crate::account::{
    Account, accounts, add, baseline_runs, fastest, finish_timelines, with_baselines,
};
use crate::batch::{Ended, each_batch};
use crate::common::Common;
use crate::line_profile::LineProfiles;
use crate::notes::Notes;
use crate::provision::Provision;
use crate::refusal::failure;
use crate::report::RunReport;
use crate::request::Request;
use crate::results::{printed, uncomparable};
use crate::spills::SpillTraffic;
use crate::storage_energy;
use crate::subject;

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

/// Executes a workload once, compares its results with the host reference, and counts it under
/// every design. Returns the reports in the order of the designs, and the final contents of the
/// buffers of its launch file.
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
    let runs = baseline_runs(&baselines, &accounts);
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
pub fn fitting(
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
