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
use strata_core::organisation::SchedulingLevels;
use strata_core::sm::config::Scheduler;
use strata_core::sm::counters::SmCounters;
use strata_core::units::LANES;
use toml::Value;

use super::evaluated::Points;
use super::statistics::{mean, standard_deviation};
use super::{Input, evaluated};
use crate::active_set::Size;
use strata_config::ConfigError;
use strata_design::Design;
use strata_files::failure::Failure;
use strata_measure::engine::Work;
use strata_measure::notes::Notes;
use strata_measure::options::Mode;
use strata_measure::parallel::Finished;
use strata_measure::subject::Subject;
use strata_measure::{Request, Room};
use strata_report::{self as report, LaunchReport, RunReport, Tool};

pub use render::{no_columns, to_columns, to_table};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.active-warps/2";

/// What is swept: every combination, the last axis fastest.
#[derive(Clone, Debug)]
pub struct Axes {
    /// Designs, each found again by its argument; their levels of scheduling are overridden.
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

/// A curve that is to be drawn.
struct Curve<'a> {
    /// The curve without its points.
    series: Series,
    order: Order,
    sizes: &'a [Size],
    /// One for each size.
    designs: Vec<Design>,
}

/// Runs one or several sweeps of the same inputs, each of which is executed once in each order. The
/// study is of the inputs that were begun before Ctrl-C, if there is one.
///
/// # Errors
/// A size that is impossible for a design, an input that cannot be executed, and a design that
/// cannot run it.
pub fn run(
    sweeps: &[Axes],
    inputs: &[Input],
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Study, Failure> {
    let mut curves = Vec::new();
    for axes in sweeps {
        curves.extend(lay_out(axes)?);
    }
    let Finished { results: inputs, missing } =
        points(&curves, inputs, (jobs, Room::default()), notes)?;
    let drawn = |(place, curve): (usize, Curve<'_>)| {
        let point = |(point, &size): (usize, &Size)| {
            summary(size, inputs.iter().map(|curves| curves[place][point].clone()).collect())
        };
        let mut series = curve.series;
        series.points = curve.sizes.iter().enumerate().map(point).collect();
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
        series: curves.into_iter().enumerate().map(drawn).collect(),
        assumed: distinct(|design| &design.assumed),
        changed: distinct(|design| &design.changed),
    })
}

/// Of each input, the points of each curve.
fn points(
    curves: &[Curve<'_>],
    inputs: &[Input],
    how: (usize, Room<'_>),
    notes: &dyn Notes,
) -> Result<Finished<Points<InputPoint>>, Failure> {
    let mut orders: Vec<Order> = Vec::new();
    for Curve { order, .. } in curves {
        if !orders.contains(order) {
            orders.push(*order);
        }
    }
    let parts: Vec<_> = inputs.iter().map(|input| parts(input, curves, &orders)).collect();
    let works: Vec<_> = parts.iter().map(|parts| parts.iter().map(Part::work).collect()).collect();
    let Finished { results, missing } =
        evaluated(&works, |report| input_point(&report), how, notes)?;
    let of_curves = |(parts, points): (&Vec<Part<'_>>, Points<InputPoint>)| {
        let mut points: Vec<_> = points.into_iter().map(Vec::into_iter).collect();
        let of_curve = |curve: &Curve<'_>| {
            let part = parts.iter().position(|part| part.has(curve)).unwrap_or(0);
            points[part].by_ref().take(curve.designs.len()).collect()
        };
        curves.iter().map(of_curve).collect()
    };
    Ok(Finished { results: parts.iter().zip(results).map(of_curves).collect(), missing })
}

/// An input in one order.
struct Part<'a> {
    /// None of a trace, which has its own.
    order: Option<Order>,
    subject: Subject,
    request: Request,
    /// Those of the curves of the order, one curve after the other.
    designs: Vec<&'a Design>,
}

impl Part<'_> {
    fn has(&self, curve: &Curve<'_>) -> bool {
        self.order.is_none_or(|order| order == curve.order)
    }

    fn work(&self) -> Work<'_> {
        let Self { subject, request, designs, .. } = self;
        Work { subject, request, designs: designs.clone() }
    }
}

/// An input in each of these orders; a trace serves all of them.
fn parts<'a>(input: &Input, curves: &'a [Curve<'_>], orders: &[Order]) -> Vec<Part<'a>> {
    let part = |order: Option<Order>| {
        let mut subject = input.subject.clone();
        if let (Subject::Workload(workload), Some(order)) = (&mut subject, order) {
            workload.options.order = order;
        }
        let request = input.request.clone().in_mode(Mode::Cycle);
        let mut part = Part { order, subject, request, designs: Vec::new() };
        let own = curves.iter().filter(|curve| part.has(curve));
        let designs: Vec<&Design> = own.flat_map(|curve| &curve.designs).collect();
        part.request = part.request.for_designs(designs.iter().copied());
        Part { designs, ..part }
    };
    match &input.subject {
        Subject::Workload(_) => orders.iter().map(|&order| part(Some(order))).collect(),
        Subject::Trace(_) => vec![part(None)],
    }
}

/// The curves without their points.
fn lay_out(axes: &Axes) -> Result<Vec<Curve<'_>>, Failure> {
    let mut all = Vec::new();
    for design in &axes.designs {
        for &order in &axes.orders {
            for scheduler in or_own(&axes.schedulers, design.sm.scheduler) {
                for alu_latency in or_own(&axes.alu_latencies, design.sm.timing.alu_latency) {
                    all.push(curve(design, (scheduler, alu_latency, order), &axes.sizes)?);
                }
            }
        }
    }
    Ok(all)
}

fn curve<'a>(
    design: &Design,
    (scheduler, alu_latency, order): (Scheduler, u16, Order),
    sizes: &'a [Size],
) -> Result<Curve<'a>, Failure> {
    let series = Series {
        design: design.name.clone(),
        scheduler: scheduler.name().to_owned(),
        alu_latency_cycles: alu_latency,
        order: order.name().to_owned(),
        points: Vec::new(),
    };
    let keys = keys(design, scheduler, alu_latency);
    let designs = sizes.iter().map(|&size| at_size(design, &keys, size));
    Ok(Curve { series, order, sizes, designs: designs.collect::<Result<_, _>>()? })
}

fn or_own<T: Copy>(asked: &[T], own: T) -> Vec<T> {
    if asked.is_empty() { vec![own] } else { asked.to_vec() }
}

/// A key of design files with its value; none where it is left out.
type Key = (&'static str, Option<Value>);

/// A design with this scheduler and this latency of its ALUs, which those follow that are as long.
fn keys(design: &Design, scheduler: Scheduler, alu_latency: u16) -> Vec<Key> {
    let timing = &design.sm.timing;
    let cycles = |own: u16| {
        let cycles = if own == timing.alu_latency { alu_latency } else { own };
        Some(Value::from(u32::from(cycles)))
    };
    vec![
        ("scheduler", Some(scheduler.name().into())),
        ("latency_cycles.alu", cycles(timing.alu_latency)),
        ("latency_cycles.branch", cycles(timing.branch_latency)),
        ("latency_cycles.double", cycles(timing.double_latency)),
    ]
}

/// The design with these keys and another active set.
fn at_size(design: &Design, keys: &[Key], size: Size) -> Result<Design, Failure> {
    let levels = |levels: SchedulingLevels| ("scheduling", Some(levels.name().into()));
    let mut keys = keys.to_vec();
    match size {
        Size::Active(warps) => {
            keys.push(levels(SchedulingLevels::TwoLevel));
            keys.push(("active_warps", Some(u32::from(warps).into())));
        }
        Size::All => {
            keys.push(levels(SchedulingLevels::SingleLevel));
            // Rules for leaving the active set mean nothing where no warp leaves it.
            let without = ["active_warps", "replacement", "reactive_threshold_cycles", "barrier"];
            keys.extend(without.map(|key| (key, None)));
        }
    }
    match design.with_keys(&keys) {
        Ok(design) => Ok(design.without_energy()),
        Err(ConfigError::Combination { problem, .. }) => Err(Failure::input(format!(
            "design `{}` with `--active-warps {size}`: {problem}",
            design.name
        ))
        .hint(format!("leave `{size}` out of `--active-warps`, or choose another design"))),
        Err(other) => Err(other.into()),
    }
}

fn input_point(report: &RunReport) -> InputPoint {
    let time = SmCounters::default();
    let names = time.iter().map(|(name, _)| name);
    let names = names.chain(["thread_instructions", "warp_instructions"]);
    let counter = |name: &str| report.counters.get(name).copied().unwrap_or(0);
    let (threads, cycles) = (counter("thread_instructions"), counter("cycles"));
    InputPoint {
        input: report.workload.clone(),
        ipc: (cycles != 0).then(|| rounded(threads as f64 / cycles as f64)),
        resident_warps: report.launches.iter().map(resident_warps).max().unwrap_or(0),
        counters: names.map(|name| (name.to_owned(), counter(name))).collect(),
    }
}

/// Most warps of a launch that were resident at a time.
fn resident_warps(launch: &LaunchReport) -> u32 {
    let ctas: u64 = launch.grid.iter().map(|&count| u64::from(count)).product();
    let resident = launch.residency.as_ref().map_or(0, |residency| u64::from(residency.ctas));
    let warps = launch.block.iter().product::<u32>().div_ceil(LANES);
    (resident.min(ctas) * u64::from(warps)) as u32
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
    use std::collections::BTreeSet;

    use strata_core::organisation::Scheduling;

    use super::*;
    use crate::active_set::DEFAULT_SIZES;
    use strata_design as design;
    use strata_measure::notes::Silent;
    use strata_measure::options::{Scale, Source};
    use strata_measure::subject;
    use strata_measure::{self as measure, KEPT_BYTES};

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
        for (design, curve) in axes.designs.iter().zip(&laid_out) {
            // With all warps active it is the design itself.
            assert_eq!(curve.designs[1].sm, design.sm);
            let two_level = Scheduling::TwoLevel { active_warps: 8 };
            let settings = curve.designs[0].organisation().settings();
            assert_eq!(settings.scheduling, two_level);
            assert_eq!(settings.levels, *design.organisation().levels());
        }
        axes.alu_latencies = vec![4];
        axes.schedulers = vec![Scheduler::RoundRobin, Scheduler::Greedy];
        let laid_out = lay_out(&axes).unwrap();
        assert_eq!(laid_out[0].series.scheduler, "round-robin");
        assert_eq!(laid_out[3].designs[0].sm.scheduler, Scheduler::Greedy);
        assert_eq!(laid_out[1].designs[1].sm.timing.branch_latency, 4);
        assert_eq!(laid_out[1].designs[1].sm.timing.constant_latency, 20);
    }

    fn inputs(names: &[&str]) -> Vec<Input> {
        let args = Source::of(Scale::Small);
        let subject = |name: &&str| Subject::new(name, &args, &Silent).unwrap();
        let request = Request::new(&args).unwrap();
        names
            .iter()
            .map(|name| Input { subject: subject(name), request: request.clone() })
            .collect()
    }

    /// What `strata run --mode cycle --order ORDER
    /// --design DESIGN,scheduling=two-level,active_warps=N` reports.
    fn alone(workload: &str, order: Order, design: &str, warps: u8) -> RunReport {
        let notes = &Silent;
        let args = Source { orders: vec![order], ..Source::of(Scale::Small) };
        let workload = subject::workload(workload, &args, notes).unwrap();
        let design = format!("{design},scheduling=two-level,active_warps={warps}");
        let designs = [design::resolve(&design).unwrap()];
        let request = Request::new(&args).unwrap().in_mode(Mode::Cycle).for_designs(&designs);
        measure::reports(&workload, &designs, &request, notes).unwrap().remove(0)
    }

    /// Plain, with registers in another order, managed by the compiler, with a data cache, with
    /// storage that is divided for each application, and with registers in scratchpad memory.
    #[test]
    fn a_point_is_what_a_run_of_its_design_counts() {
        let interpolated = "diss-orf3-lrf-split,missing_energy=interpolated";
        let designs = [
            "isca11-rfc6",
            "isca11,registers.sorted=true",
            interpolated,
            "isca11,data_cache.capacity_kb=64",
            "micro12-unified-384,missing_energy=interpolated",
            "expars-lrr",
        ];
        let orders = [Order::ScheduledRenamed, Order::Ptx];
        let sizes = [4, 8];
        let axes = Axes {
            orders: orders.to_vec(),
            sizes: sizes.map(Size::Active).to_vec(),
            ..axes(&designs)
        };
        let names = ["reduction", "vectoradd"];
        let study = run(&[axes], &inputs(&names), 2, &Silent).unwrap();
        assert_eq!(study.series.len(), designs.len() * orders.len());
        let mut cycles = BTreeSet::new();
        for (series, place) in study.series.iter().zip(0..) {
            let (design, order) = (designs[place / orders.len()], orders[place % orders.len()]);
            for (point, size) in series.points.iter().zip(sizes) {
                for (input, name) in point.inputs.iter().zip(names) {
                    let report = alone(name, order, design, size);
                    assert_eq!(input.input, name);
                    assert!(input.counters.len() > 20);
                    for (counter, count) in &input.counters {
                        let told = format!("{counter} of {name} under {design} with {size}");
                        assert_eq!(report.counters.get(counter), Some(count), "{told}");
                    }
                    assert_eq!(input.ipc, report.derived["ipc"], "{name} under {design}");
                    let fits = |launch: &LaunchReport| launch.residency.as_ref().unwrap().warps;
                    let most = report.launches.iter().map(fits).max().unwrap();
                    assert!((1..=most).contains(&input.resident_warps));
                    cycles.insert(input.counters["cycles"]);
                }
            }
        }
        // What is told apart can be mistaken for another.
        assert!(cycles.len() > study.series.len() * sizes.len());
    }

    #[test]
    fn threads_and_memory_never_change_a_point() {
        let axes = Axes {
            orders: vec![Order::Ptx, Order::Scheduled],
            sizes: vec![Size::Active(2), Size::Active(5), Size::All],
            ..axes(&["isca11-rfc6", "isca11"])
        };
        let (curves, inputs) = (lay_out(&axes).unwrap(), inputs(&["reduction", "vectoradd"]));
        let notes = &Silent;
        let points = |jobs, most_bytes| {
            let room = Room { most_bytes, folder: None };
            points(&curves, &inputs, (jobs, room), notes).unwrap()
        };
        let first = points(1, KEPT_BYTES);
        assert_eq!((first.results.len(), first.missing.len()), (2, 0));
        for (jobs, most_bytes) in [(3, KEPT_BYTES), (1, 0), (3, 0)] {
            assert_eq!(points(jobs, most_bytes), first, "{jobs} threads, {most_bytes} bytes");
        }
    }

    #[test]
    fn hints_that_need_two_levels_are_refused_with_one() {
        let axes = axes(&["isca11-rfc6-bypass"]);
        let error = lay_out(&axes).err().expect("it is refused");
        assert!(error.message().contains("isca11-rfc6-bypass"), "{}", error.message());
    }
}
