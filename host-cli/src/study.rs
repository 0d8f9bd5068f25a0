//! Studies: inputs executed once, and replayed in time under every point of a sweep.
//!
//! Each study is one file: it lays out its points, has [`replay`] run them, and renders what came
//! out.

pub mod active_warps;
pub mod encoding;
pub mod limits;
pub mod registers;
pub mod residency;
mod statistics;
pub mod storage;
pub mod write_pool;

use rayon::prelude::*;
use strata_compiler::Order;
use strata_core::sm::config::SmSettings;
use strata_core::sm::counters::SmCounters;
use strata_core::units::LANES;

use crate::design::Design;
use crate::evaluate::EvaluateError;
use crate::failure::Failure;
use crate::measure::{self, Counted, Request};
use crate::parallel::{self, Finished};
use crate::printer::Printer;
use crate::progress;
use crate::report::RunReport;
use crate::subject::{self, Subject};
use crate::timing::{Timed, TimedLaunch, TimingError, time_launch};

/// Points that share the code they run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Order of the instructions of a workload. Traces and recordings have their own.
    pub order: Order,
    /// The SM of each point.
    pub points: Vec<SmSettings>,
}

/// An input of a study, and the request.
#[derive(Clone, Debug)]
pub struct Input {
    /// The kernel or the trace.
    pub subject: Subject,
    /// Size, filters and budget; the mode matters only where a study says so.
    pub request: Request,
}

/// What became of an input at one point: all launches one after another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Totals.
    pub counters: SmCounters,
    /// Most warps that were resident at a time.
    pub resident_warps: u32,
}

/// Runs every input once for each order, and every launch of it under every point of the plans of
/// that order.
///
/// `jobs` is the number of threads, 0 for one for each core. What comes back is in the order of the
/// inputs, the plans and their points, whatever `jobs` is.
fn replay(
    inputs: &[Input],
    plans: &[Plan],
    jobs: usize,
    printer: &Printer,
) -> Result<Finished<Vec<Vec<Outcome>>>, Failure> {
    let replay = |input: &Input| replay_input(input, plans, printer);
    parallel::finished(inputs, jobs, printer, |input| input.subject.name(), replay)
}

/// Reports of an input, executed or read once, under every design.
fn measured(
    input: &Input,
    designs: &[Design],
    printer: &Printer,
) -> Result<Vec<RunReport>, Failure> {
    match &input.subject {
        Subject::Workload(workload) => measure::reports(workload, designs, &input.request, printer),
        Subject::Trace(path) => measure::trace_reports(path, designs, &input.request, printer),
    }
}

fn replay_input(
    input: &Input,
    plans: &[Plan],
    printer: &Printer,
) -> Result<Vec<Vec<Outcome>>, Failure> {
    let mut outcomes: Vec<Vec<Outcome>> =
        plans.iter().map(|plan| vec![Outcome::default(); plan.points.len()]).collect();
    let mut request = input.request.clone();
    request.options.accesses = true;
    match &input.subject {
        Subject::Workload(workload) => {
            for order in Order::ALL {
                let mut plans: Vec<_> = zip_of(plans, &mut outcomes, |plan| plan.order == order);
                if plans.is_empty() {
                    continue;
                }
                let mut workload = workload.clone();
                workload.options.order = order;
                let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
                measure::each_launch(&workload, &prepared, &request, printer, |launch| {
                    plans.iter_mut().try_for_each(|(plan, outcomes)| plan.add(launch, outcomes))
                })?;
            }
        }
        Subject::Trace(path) => {
            let mut plans = zip_of(plans, &mut outcomes, |_| true);
            measure::each_recorded_launch(path, &request, printer, |launch| {
                plans.iter_mut().try_for_each(|(plan, outcomes)| plan.add(launch, outcomes))
            })?;
        }
    }
    Ok(outcomes)
}

/// The plans that are wanted, each with what comes out.
fn zip_of<'a>(
    plans: &'a [Plan],
    outcomes: &'a mut [Vec<Outcome>],
    wanted: impl Fn(&Plan) -> bool,
) -> Vec<(&'a Plan, &'a mut Vec<Outcome>)> {
    plans.iter().zip(outcomes).filter(|(plan, _)| wanted(plan)).collect()
}

impl Plan {
    /// Runs a launch under every point.
    fn add(&self, launch: &Counted<'_>, outcomes: &mut [Outcome]) -> Result<(), EvaluateError> {
        let timed = launch.timed();
        let ctas = launch.grid.iter().map(|&count| u64::from(count)).product();
        let watch = progress::current();
        let run = |settings: &SmSettings| {
            let _within = progress::within(watch.clone());
            run(*settings, &timed, ctas)
        };
        let runs: Vec<_> = self.points.par_iter().map(run).collect();
        for (outcome, run) in outcomes.iter_mut().zip(runs) {
            outcome.add(&run?)?;
        }
        Ok(())
    }
}

impl Outcome {
    fn add(&mut self, launch: &Self) -> Result<(), TimingError> {
        let sum = self.counters.checked_add(&launch.counters);
        self.counters = sum.ok_or(TimingError::Overflow)?;
        self.resident_warps = self.resident_warps.max(launch.resident_warps);
        Ok(())
    }
}

fn run(settings: SmSettings, launch: &TimedLaunch<'_>, ctas: u64) -> Result<Outcome, TimingError> {
    let Timed { counters, residency, .. } = time_launch(settings, launch)?;
    let warps = u64::from(launch.threads.div_ceil(LANES));
    let resident_warps = u64::from(residency.ctas).min(ctas) * warps;
    Ok(Outcome { counters, resident_warps: resident_warps as u32 })
}
