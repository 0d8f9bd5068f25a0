//! Active warps: what the size of a two-level scheduler's active set does to throughput, as
//! `[RFC2011]` Figures 9 and 10 and `[DISS]` Figure 2.7 show it.
//!
//! Throughput is IPC as the papers count it: thread instructions in a cycle, 32 at most. A mean is
//! the arithmetic one over workloads, a standard deviation that of the workloads as a population.

mod render;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_compiler::Order;
use strata_core::organisation::{Organisation, OrganisationSettings, Scheduling};
use strata_core::sm::config::{BarrierRule, Scheduler, SmConfig, SmSettings, WarpReplacement};

use super::statistics::{mean, standard_deviation};
use super::{Input, Outcome, Plan, replay};
use crate::active_set::Size;
use crate::design::Design;
use crate::failure::Failure;
use crate::parallel::Finished;
use crate::printer::Printer;
use crate::report::{self, Tool};
use crate::subject::Subject;

pub use render::{no_columns, to_columns, to_table};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.active-warps/2";

/// What is swept: every combination, the last axis fastest.
#[derive(Clone, Debug)]
pub struct Axes {
    /// Designs; their levels of scheduling are overridden.
    pub designs: Vec<Design>,
    /// Schedulers of the active set; none: each design's own.
    pub schedulers: Vec<Scheduler>,
    /// Latencies of the ALUs; none: each design's own. Branches and double precision follow where
    /// they take as long as the design's ALUs. Unit: cycles.
    pub alu_latencies: Vec<u16>,
    /// Orders of the kernels' instructions. Traces and recordings have their own.
    pub orders: Vec<Order>,
    /// Sizes of the active set.
    pub sizes: Vec<Size>,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Study {
    /// Layout version of this object.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// Command that makes it again, in one normal form; empty if no command made it.
    pub command: String,
    /// Inputs that Ctrl-C left out, of which nothing here says anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// One for each combination of design, scheduler, ALU latency and order.
    pub series: Vec<Series>,
    /// Parameters that come from no source.
    pub assumed: Vec<String>,
    /// Parameters of the SM that a design file changed; what is swept replaces them.
    pub changed: Vec<String>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// Design's name.
    pub design: String,
    /// Which active warp issues.
    pub scheduler: String,
    /// Unit: cycles.
    pub alu_latency_cycles: u16,
    /// Order of the instructions of workloads and PTX files, as `--order` calls it.
    pub order: String,
    /// One for each size of the active set.
    pub points: Vec<Point>,
}

/// One size of the active set.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Active warps; null: one level, all resident warps are active.
    pub active_warps: Option<u8>,
    /// Arithmetic mean over the inputs. Unit: thread instructions in a cycle.
    pub ipc_mean: Option<f64>,
    /// Standard deviation over the inputs, as a population. Unit: thread instructions in a cycle.
    pub ipc_standard_deviation: Option<f64>,
    /// The mean relative to that with all warps active; null where that was not asked for.
    pub ipc_relative_percent: Option<f64>,
    /// Each input.
    pub inputs: Vec<InputPoint>,
}

/// One input at one size.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InputPoint {
    /// Workload's name, or the trace's path.
    pub input: String,
    /// Thread instructions in a cycle; null if no cycle passed.
    pub ipc: Option<f64>,
    /// Most warps that were resident at a time.
    pub resident_warps: u32,
    /// Instructions, cycles, and what became of every issue slot; see docs/MODEL.md.
    pub counters: BTreeMap<String, u64>,
}

/// Runs one or several sweeps of the same inputs, each of which is executed once. The study is of
/// the inputs that were begun before Ctrl-C, if there is one.
pub fn run(
    sweeps: &[Axes],
    inputs: &[Input],
    jobs: usize,
    printer: &Printer,
) -> Result<Study, Failure> {
    let (mut series, mut plans) = (Vec::new(), Vec::new());
    for axes in sweeps {
        for (one, plan) in lay_out(axes)? {
            series.push((one, axes.sizes.as_slice()));
            plans.push(plan);
        }
    }
    let Finished { results: outcomes, missing } = replay(inputs, &plans, jobs, printer)?;
    let with_points = |(place, (mut series, sizes)): (usize, (Series, &[Size]))| {
        let point = |(point, &size): (usize, &Size)| {
            let of_inputs = inputs.iter().zip(&outcomes);
            let of_inputs =
                of_inputs.map(|(input, all)| input_point(&input.subject, &all[place][point]));
            summary(size, of_inputs.collect())
        };
        series.points = sizes.iter().enumerate().map(point).collect();
        relate(&mut series.points);
        series
    };
    let distinct = |list: fn(&Design) -> &Vec<String>| {
        let designs = sweeps.iter().flat_map(|axes| &axes.designs);
        let mut all: Vec<String> = designs.flat_map(list).cloned().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Ok(Study {
        schema: SCHEMA.to_owned(),
        tool: report::tool(),
        command: String::new(),
        missing,
        series: series.into_iter().enumerate().map(with_points).collect(),
        assumed: distinct(|design| &design.assumed),
        changed: distinct(|design| &design.changed),
    })
}

/// The series without their points, and what has to run for each.
fn lay_out(axes: &Axes) -> Result<Vec<(Series, Plan)>, Failure> {
    let mut all = Vec::new();
    for design in &axes.designs {
        if design.managed.is_some() {
            return Err(Failure::input(format!(
                "design `{}` has a compiler-managed hierarchy, which this study does not \
                     fit programs to",
                design.name
            ))
            .hint("`strata run --mode cycle` does"));
        }
        for &order in &axes.orders {
            for scheduler in or_own(&axes.schedulers, design.sm.scheduler) {
                for alu_latency in or_own(&axes.alu_latencies, design.sm.timing.alu_latency) {
                    let sm = SmSettings { scheduler, ..with_alu_latency(design.sm, alu_latency) };
                    let plan = plan(design, sm, order, &axes.sizes)?;
                    all.push((series(design, &sm, order), plan));
                }
            }
        }
    }
    Ok(all)
}

fn plan(design: &Design, sm: SmSettings, order: Order, sizes: &[Size]) -> Result<Plan, Failure> {
    let points = sizes.iter().map(|&size| at_size(sm, size, design));
    Ok(Plan { order, points: points.collect::<Result<_, _>>()? })
}

fn series(design: &Design, sm: &SmSettings, order: Order) -> Series {
    Series {
        design: design.name.clone(),
        scheduler: sm.scheduler.name().to_owned(),
        alu_latency_cycles: sm.timing.alu_latency,
        order: order.name().to_owned(),
        points: Vec::new(),
    }
}

fn or_own<T: Copy>(asked: &[T], own: T) -> Vec<T> {
    if asked.is_empty() { vec![own] } else { asked.to_vec() }
}

fn with_alu_latency(mut sm: SmSettings, cycles: u16) -> SmSettings {
    let timing = &mut sm.timing;
    let old = timing.alu_latency;
    for latency in [&mut timing.alu_latency, &mut timing.branch_latency, &mut timing.double_latency]
    {
        if *latency == old {
            *latency = cycles;
        }
    }
    sm
}

/// The SM with another active set.
fn at_size(sm: SmSettings, size: Size, design: &Design) -> Result<SmSettings, Failure> {
    let refuse = |error: &dyn std::fmt::Display| {
        Failure::input(format!("design `{}` with {size} warps active: {error}", design.name))
            .hint(format!("leave `{size}` out of `--active-warps`, or choose another design"))
    };
    let scheduling = match size {
        Size::Active(active_warps) => Scheduling::TwoLevel { active_warps },
        Size::All => Scheduling::SingleLevel,
    };
    let organisation = OrganisationSettings { scheduling, ..*sm.organisation.settings() };
    let organisation = Organisation::new(organisation).map_err(|error| refuse(&error))?;
    let mut sm = SmSettings { organisation, ..sm };
    if size == Size::All {
        // Rules for leaving the active set mean nothing where no warp leaves it.
        (sm.replacement, sm.barrier) = (WarpReplacement::default(), BarrierRule::default());
    }
    SmConfig::new(sm).map_err(|error| refuse(&error))?;
    Ok(sm)
}

fn input_point(subject: &Subject, outcome: &Outcome) -> InputPoint {
    let Outcome { counters: time, resident_warps } = outcome;
    let (threads, cycles) = (time.accesses.thread_instructions(), time.cycles());
    let mut counters: BTreeMap<String, u64> =
        time.iter().map(|(name, count)| (name.to_owned(), count)).collect();
    counters.insert("thread_instructions".to_owned(), threads);
    counters.insert("warp_instructions".to_owned(), time.accesses.warp_instructions());
    InputPoint {
        input: subject.name().to_owned(),
        ipc: (cycles != 0).then(|| rounded(threads as f64 / cycles as f64)),
        resident_warps: *resident_warps,
        counters,
    }
}

fn summary(size: Size, inputs: Vec<InputPoint>) -> Point {
    let ipcs: Option<Vec<f64>> = inputs.iter().map(|input| input.ipc).collect();
    let ipcs = ipcs.unwrap_or_default();
    Point {
        active_warps: match size {
            Size::Active(warps) => Some(warps),
            Size::All => None,
        },
        ipc_mean: mean(&ipcs).map(rounded),
        ipc_standard_deviation: standard_deviation(&ipcs).map(rounded),
        ipc_relative_percent: None,
        inputs,
    }
}

/// Puts every mean in relation to that with all warps active.
fn relate(points: &mut [Point]) {
    let all = points.iter().find(|point| point.active_warps.is_none());
    let all = all.and_then(|point| point.ipc_mean).filter(|&mean| mean > 0.0);
    for point in points {
        let relative = point.ipc_mean.zip(all).map(|(mean, all)| 100.0 * mean / all);
        point.ipc_relative_percent = relative.map(rounded);
    }
}

/// Six decimals: more would be noise of the division.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::active_set::DEFAULT_SIZES;
    use crate::design;

    fn axes(names: &[&str]) -> Axes {
        Axes {
            designs: names.iter().map(|name| design::resolve(name).unwrap()).collect(),
            schedulers: vec![],
            alu_latencies: vec![],
            orders: vec![Order::Ptx],
            sizes: vec![Size::Active(8), Size::All],
        }
    }

    #[test]
    fn sizes_are_numbers_or_all() {
        for text in ["1", "17", "32", "all"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
        for text in ["0", "33", "-1", "", "8.0", "ALL", "999999999999"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        let sizes = DEFAULT_SIZES.split(',').map(str::parse::<Size>);
        assert!(sizes.clone().count() == 14 && sizes.clone().all(|size| size.is_ok()));
    }

    #[test]
    fn a_series_differs_from_its_design_in_what_is_swept_only() {
        let mut axes = axes(&["isca11", "isca11-rfc6-single"]);
        let laid_out = lay_out(&axes).unwrap();
        assert_eq!(laid_out.len(), 2);
        for (design, (_, plan)) in axes.designs.iter().zip(&laid_out) {
            // With all warps active it is the design itself.
            assert_eq!(plan.points[1], design.sm);
            let two_level = Scheduling::TwoLevel { active_warps: 8 };
            let settings = plan.points[0].organisation.settings();
            assert_eq!(settings.scheduling, two_level);
            assert_eq!(settings.levels, *design.organisation().levels());
        }
        axes.alu_latencies = vec![4];
        axes.schedulers = vec![Scheduler::RoundRobin, Scheduler::Greedy];
        let laid_out = lay_out(&axes).unwrap();
        assert_eq!(laid_out[0].0.scheduler, "round-robin");
        assert_eq!(laid_out[3].1.points[0].scheduler, Scheduler::Greedy);
        assert_eq!(laid_out[1].1.points[1].timing.branch_latency, 4);
        assert_eq!(laid_out[1].1.points[1].timing.constant_latency, 20);
    }

    #[test]
    fn hints_that_need_two_levels_are_refused_with_one() {
        let error = lay_out(&axes(&["isca11-rfc6-bypass"])).unwrap_err();
        assert!(error.message().contains("isca11-rfc6-bypass"), "{}", error.message());
    }
}
