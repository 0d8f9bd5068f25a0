//! Write pool: what its entries, its ports and the cycles of a write do to
//! throughput, writes, energy and wear, as the sources' designer parameters N and n
//! (`[WARRF]` 3.2 and 4.2).
//!
//! All that is relative is so to the design's SRAM baseline. A mean is the arithmetic one over
//! inputs, each relative to its own baseline.

mod render;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::sm::operand_delivery::CollectorSettings;
use strata_core::write_pool::PoolPorts;

use super::statistics::mean;
use super::{Input, evaluated};
use strata_design::Design;
use strata_files::failure::Failure;
use strata_measure::engine::Work;
use strata_measure::notes::Notes;
use strata_measure::parallel::Finished;
use strata_measure::{Request, Room};
use strata_report::{self as report, RunReport, Tool};

pub use render::{no_columns, to_columns, to_table};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.write-pool/2";

/// Counters that reports of this study repeat.
const COUNTERS: [&str; 12] = [
    "cycles",
    "mrf_reads",
    "mrf_writes",
    "split_bank_reads",
    "thread_instructions",
    "warp_instructions",
    "write_pool_drops",
    "write_pool_partial_hits",
    "write_pool_reads",
    "write_pool_write_hits",
    "write_pool_writebacks",
    "write_pool_writes",
];

/// What is swept, one axis at a time from the design's own point, entries with every number of
/// ports; all of it without split bank writes and with them.
#[derive(Clone, Debug)]
pub struct Axes {
    /// The design, which has operand collectors.
    pub design: Design,
    /// Entries of the pool; 0 for none.
    pub entries: Vec<u8>,
    /// Accesses of the pool in a cycle.
    pub ports: Vec<PoolPorts>,
    /// Cycles for which a write takes its bank.
    pub write_cycles: Vec<u8>,
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
    /// Design's name.
    pub design: String,
    /// Name of the SRAM design that everything is relative to.
    pub baseline: String,
    /// IPC of the baseline, mean over the inputs. Unit: thread instructions in a cycle.
    pub baseline_ipc_mean: Option<f64>,
    /// Entries with each kind of ports, then ports, then cycles of a write; each without split
    ///  bank writes first.
    pub series: Vec<Series>,
    /// Values of the main register file's technology, each with its source.
    pub sources: Vec<String>,
    /// Parameters that come from no source.
    pub assumed: Vec<String>,
    /// Parameters of the SM that a design file changed; what is swept replaces them.
    pub changed: Vec<String>,
}

/// Points along one axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// What differs: `write_pool_entries`, `write_pool_ports` or `write_cycles`.
    pub sweep: String,
    /// One for each value.
    pub points: Vec<Point>,
}

/// One set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Entries of the pool; 0: none.
    pub write_pool_entries: u8,
    /// Accesses of the pool in a cycle: `1rw` one, `1r1w` a read and a write, a number that many of
    /// any kind.
    pub write_pool_ports: String,
    /// Unit: cycles.
    pub write_cycles: u8,
    /// A read and a write of one bank may overlap in different subarrays.
    pub split_bank_write: bool,
    /// Whether this is the design itself.
    pub own: bool,
    /// Means over the inputs; of the writes of a cell, the most.
    pub mean: Figures,
    /// Each input.
    pub inputs: Vec<InputPoint>,
}

/// What is reported of an input, or of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Thread instructions in a cycle; null if no cycle passed.
    pub ipc: Option<f64>,
    /// IPC relative to the baseline's. Unit: percent.
    pub ipc_relative_percent: Option<f64>,
    /// Writes of the main register file that the baseline makes and this one does not. Unit:
    /// percent.
    pub mrf_writes_avoided_percent: Option<f64>,
    /// Reads that found their register in the pool, in all lanes or some; null without a pool.
    /// Unit: percent of reads of the pool or the main register file.
    pub pool_read_hits_percent: Option<f64>,
    /// Writes that found their register in the pool; null without one. Unit: percent of its writes.
    pub pool_write_hits_percent: Option<f64>,
    /// Energy of accesses relative to the baseline's; null where it is not known. Unit: percent.
    pub dynamic_energy_relative_percent: Option<f64>,
    /// The same with leakage. Unit: percent.
    pub total_energy_relative_percent: Option<f64>,
    /// Energy with leakage times cycles, relative to the baseline's. Unit: percent.
    pub energy_delay_relative_percent: Option<f64>,
    /// Writes of the cell of the main register file that is written most.
    pub cell_writes_max: Option<u64>,
}

/// One input at one point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InputPoint {
    /// Workload's name, or the trace's path.
    pub input: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// What they are made of; see docs/MODEL.md.
    pub counters: BTreeMap<String, u64>,
}

/// One axis: its name, and its points without and with split bank writes.
type Sweep = (&'static str, Vec<CollectorSettings>);

/// Runs every input once, and every point of the sweeps on it. The inputs' requests are in cycle
/// mode. The study is of the inputs that were begun before Ctrl-C, if there is one.
///
/// # Errors
/// The design has no operand collectors, or the core refuses a point.
pub fn run(
    axes: &Axes,
    inputs: &[Input],
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Study, Failure> {
    let design = &axes.design;
    let own = design.collectors().ok_or_else(|| {
        Failure::input(format!(
            "design `{}` has no operand collectors, beside which a write pool could stand",
            design.name
        ))
        .hint(
            "choose a design of machine `warrf-gtx480`, or set `operand_delivery = \"collectors\"`",
        )
    })?;
    let sweeps = sweeps(axes, own);
    let (designs, settings) = lay_out(design, &sweeps)?;
    let Finished { results: reports, missing } =
        reports(&designs, inputs, (jobs, Room::default()), notes)?;
    let point = |&collectors: &CollectorSettings| {
        let place = settings.iter().position(|&other| other == canonical(collectors));
        let of_input = |reports: &Vec<RunReport>| {
            place.and_then(|place| Some(input_point(reports.get(place + 1)?, &reports[0])))
        };
        point(collectors, own, reports.iter().filter_map(of_input).collect())
    };
    let series = |(sweep, points): &Sweep| Series {
        sweep: (*sweep).to_owned(),
        points: points.iter().map(point).collect(),
    };
    let ipcs = reports.iter().map(|reports| reports[0].derived.get("ipc").copied().flatten());
    let first = reports.first().and_then(|reports| reports.get(1));
    Ok(Study {
        schema: SCHEMA.to_owned(),
        tool: report::tool(),
        command: String::new(),
        missing,
        design: design.name.clone(),
        baseline: designs[0].name.clone(),
        baseline_ipc_mean: mean_of(ipcs),
        series: sweeps.iter().map(series).collect(),
        sources: first.map(|report| report.sources.clone()).unwrap_or_default(),
        assumed: assumed(&designs[1..]),
        changed: design.changed.clone(),
    })
}

/// The reports of every input, one for each design.
fn reports(
    designs: &[Design],
    inputs: &[Input],
    how: (usize, Room<'_>),
    notes: &dyn Notes,
) -> Result<Finished<Vec<RunReport>>, Failure> {
    let requests: Vec<Request> =
        inputs.iter().map(|input| input.request.clone().with_totals_only()).collect();
    let works: Vec<_> = (inputs.iter().zip(&requests))
        .map(|(Input { subject, .. }, request)| {
            vec![Work { subject, request, designs: designs.iter().collect() }]
        })
        .collect();
    let Finished { results, missing } = evaluated(&works, |report| report, how, notes)?;
    let results = results.into_iter().map(|works| works.into_iter().flatten().collect()).collect();
    Ok(Finished { results, missing })
}

/// Every sweep without split bank writes, then with them.
fn sweeps(axes: &Axes, own: CollectorSettings) -> Vec<Sweep> {
    let both = [false, true].map(|split| CollectorSettings { split_bank_write: split, ..own });
    let mut sweeps = Vec::new();
    for base in both {
        for &write_pool_ports in &axes.ports {
            let base = CollectorSettings { write_pool_ports, ..base };
            let with = |&entries: &u8| CollectorSettings { write_pool_entries: entries, ..base };
            sweeps.push(("write_pool_entries", axes.entries.iter().map(with).collect()));
        }
    }
    // Without a pool there are no accesses of it.
    for base in both.into_iter().filter(|base| base.write_pool_entries != 0) {
        let with = |&write_pool_ports: &PoolPorts| CollectorSettings { write_pool_ports, ..base };
        sweeps.push(("write_pool_ports", axes.ports.iter().map(with).collect()));
    }
    for base in both {
        let with = |&cycles: &u8| CollectorSettings { write_cycles: cycles, ..base };
        sweeps.push(("write_cycles", axes.write_cycles.iter().map(with).collect()));
    }
    sweeps.retain(|(_, points): &Sweep| !points.is_empty());
    sweeps
}

/// The settings that stand for all that behave the same: without a pool, those with any ports.
fn canonical(settings: CollectorSettings) -> CollectorSettings {
    let without = settings.write_pool_entries == 0;
    let ports = if without { PoolPorts::default() } else { settings.write_pool_ports };
    CollectorSettings { write_pool_ports: ports, ..settings }
}

/// The baseline and every different point once, and what these points are.
fn lay_out(
    design: &Design,
    sweeps: &[Sweep],
) -> Result<(Vec<Design>, Vec<CollectorSettings>), Failure> {
    let mut designs = vec![design.baseline()];
    let mut settings = Vec::new();
    for collectors in sweeps.iter().flat_map(|(_, points)| points) {
        let collectors = canonical(*collectors);
        if !settings.contains(&collectors) {
            designs.push(design.with_collectors(collectors)?);
            settings.push(collectors);
        }
    }
    Ok((designs, settings))
}

/// What is assumed of any of them, in the order of first appearance.
fn assumed(designs: &[Design]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for what in designs.iter().flat_map(|design| &design.assumed) {
        if !all.contains(what) {
            all.push(what.clone());
        }
    }
    all
}

fn point(collectors: CollectorSettings, own: CollectorSettings, inputs: Vec<InputPoint>) -> Point {
    let over =
        |of: fn(&Figures) -> Option<f64>| mean_of(inputs.iter().map(|input| of(&input.figures)));
    let mean = Figures {
        ipc: over(|figures| figures.ipc),
        ipc_relative_percent: over(|figures| figures.ipc_relative_percent),
        mrf_writes_avoided_percent: over(|figures| figures.mrf_writes_avoided_percent),
        pool_read_hits_percent: over(|figures| figures.pool_read_hits_percent),
        pool_write_hits_percent: over(|figures| figures.pool_write_hits_percent),
        dynamic_energy_relative_percent: over(|figures| figures.dynamic_energy_relative_percent),
        total_energy_relative_percent: over(|figures| figures.total_energy_relative_percent),
        energy_delay_relative_percent: over(|figures| figures.energy_delay_relative_percent),
        cell_writes_max: inputs.iter().filter_map(|input| input.figures.cell_writes_max).max(),
    };
    Point {
        write_pool_entries: collectors.write_pool_entries,
        write_pool_ports: collectors.write_pool_ports.to_string(),
        write_cycles: collectors.write_cycles,
        split_bank_write: collectors.split_bank_write,
        own: canonical(collectors) == canonical(own),
        mean,
        inputs,
    }
}

fn input_point(report: &RunReport, baseline: &RunReport) -> InputPoint {
    let counter = |name: &str| report.counters.get(name).copied().unwrap_or(0);
    let derived = |name: &str| report.derived.get(name).copied().flatten();
    let of = |report: &RunReport| report.counters.get("cycles").copied().unwrap_or(0);
    let pool_reads = counter("write_pool_reads");
    // A partial hit is a read of each, but one operand.
    let reads = pool_reads + counter("mrf_reads") - counter("write_pool_partial_hits");
    let writes = counter("write_pool_writes");
    let figures = Figures {
        ipc: derived("ipc"),
        ipc_relative_percent: percent(of(baseline), of(report)),
        mrf_writes_avoided_percent: derived("mrf_writes_avoided_percent"),
        // A pool takes every write.
        pool_read_hits_percent: percent(pool_reads, reads).filter(|_| writes != 0),
        pool_write_hits_percent: percent(counter("write_pool_write_hits"), writes),
        dynamic_energy_relative_percent: derived("dynamic_energy_relative_percent"),
        total_energy_relative_percent: derived("total_energy_relative_percent"),
        energy_delay_relative_percent: derived("energy_delay_relative_percent"),
        cell_writes_max: report.endurance.map(|endurance| endurance.writes_max),
    };
    let counters = COUNTERS.map(|name| (name.to_owned(), counter(name)));
    InputPoint { input: report.workload.clone(), figures, counters: counters.into() }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole != 0).then(|| rounded(part as f64 / whole as f64 * 100.0))
}

/// Arithmetic mean; none if an input has no value, or there is none.
fn mean_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    mean(&values?).map(rounded)
}

/// Six decimals: more would be noise of the division.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_design as design;
    use strata_measure::KEPT_BYTES;
    use strata_measure::notes::Silent;
    use strata_measure::options::{Mode, Scale, Source};
    use strata_measure::subject::Subject;

    fn axes(name: &str) -> Axes {
        Axes {
            design: design::resolve(name).unwrap(),
            entries: vec![0, 8, 60],
            ports: vec![PoolPorts::OneReadOneWrite, PoolPorts::Any(2)],
            write_cycles: vec![1, 3],
        }
    }

    #[test]
    fn every_axis_starts_from_the_designs_own_point_and_equal_points_run_once() {
        let axes = axes("warrf");
        let own = axes.design.collectors().unwrap();
        let sweeps = sweeps(&axes, own);
        let lengths: Vec<_> = sweeps.iter().map(|(name, points)| (*name, points.len())).collect();
        let entries = ("write_pool_entries", 3);
        let [ports, cycles] = [("write_pool_ports", 2), ("write_cycles", 2)];
        let expected = [entries, entries, entries, entries, ports, ports, cycles, cycles];
        assert_eq!(lengths, expected);
        assert!(sweeps.iter().all(|(_, points)| points.iter().all(|point| {
            let same = [
                point.write_pool_entries == own.write_pool_entries,
                point.write_pool_ports == own.write_pool_ports,
                point.write_cycles == own.write_cycles,
            ];
            same.into_iter().filter(|same| !same).count() <= 2 && point.units == own.units
        })));
        let (designs, settings) = lay_out(&axes.design, &sweeps).unwrap();
        // No pool once, 8 and 60 entries with both kinds of ports, writes of 1 cycle; each twice.
        assert_eq!(settings.len(), 2 * (1 + 4 + 1));
        assert_eq!(designs.len(), 1 + settings.len());
        assert_eq!(designs[0].name, "warrf-gtx480");
        assert!(designs[1..].iter().any(|design| design.sm == axes.design.sm));
        assert!(designs.iter().all(|design| design.energy.is_ok() && design.leakage.is_ok()));
    }

    #[test]
    fn no_ports_to_try_leave_their_sweeps_out() {
        let axes = Axes { ports: vec![], ..axes("sttram") };
        let sweeps = sweeps(&axes, axes.design.collectors().unwrap());
        assert!(sweeps.iter().all(|(name, _)| *name == "write_cycles"));
        assert_eq!(sweeps.len(), 2);
    }

    #[test]
    fn a_design_without_a_pool_has_no_ports_to_sweep() {
        let axes = axes("sttram");
        let sweeps = sweeps(&axes, axes.design.collectors().unwrap());
        assert!(sweeps.iter().all(|(name, _)| *name != "write_pool_ports"));
        let (designs, _) = lay_out(&axes.design, &sweeps).unwrap();
        let pool = |what: &String| what.contains("write pool");
        assert!(!axes.design.assumed.iter().any(pool) && assumed(&designs[1..]).iter().any(pool));
    }

    #[test]
    fn threads_and_memory_never_change_a_report() {
        let args = Source::of(Scale::Small);
        let request = Request::new(&args).unwrap().in_mode(Mode::Cycle);
        let notes = &Silent;
        let input = |name| {
            let subject = Subject::new(name, &args, notes).unwrap();
            Input { subject, request: request.clone() }
        };
        let inputs = ["vectoradd", "reduction"].map(input);
        let ports = vec![PoolPorts::OneReadOneWrite];
        let axes = Axes { entries: vec![0, 8], ports, ..axes("warrf") };
        let (designs, _) =
            lay_out(&axes.design, &sweeps(&axes, axes.design.collectors().unwrap())).unwrap();
        let reports = |jobs, most_bytes| {
            let room = Room { most_bytes, folder: None };
            reports(&designs, &inputs, (jobs, room), notes).unwrap()
        };
        let first = reports(1, KEPT_BYTES);
        assert!(first.results.iter().all(|reports| reports.len() == designs.len()));
        for (jobs, most_bytes) in [(3, KEPT_BYTES), (1, 0), (3, 0)] {
            assert_eq!(reports(jobs, most_bytes), first, "{jobs} threads, {most_bytes} bytes");
        }
    }

    #[test]
    fn a_design_without_collectors_is_refused() {
        let error = run(&axes("isca11"), &[], 1, &Silent).unwrap_err();
        assert!(error.message().contains("no operand collectors"), "{}", error.message());
    }
}
