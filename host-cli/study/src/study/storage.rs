//! Storage: what its capacity and its division do to performance, DRAM traffic and instructions, as
//! the figures and tables of `[MICRO2012]` and of `[DISS]` chapter 7 show it.
//!
//! A figure is a list of points: designs, some with a limit of registers. Each input runs at each
//! point. Performance is the cycles of the point that all others are compared with, divided by
//! those of a point.
//! Source: `[MICRO2012]` Figures 2 to 4 and 7 to 11, Tables 1, 5 and 6; `[DISS]` Figures 7.4 and
//! 7.7 to 7.12, Table 7.2, section 7.5.5.

mod points;
mod render;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_compiler::RegisterLimit;
use strata_core::named;

use strata_design::Design;
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::parallel::{self, Finished};
use strata_measure::{self as measure, Request};
use strata_report::{self as report, PartitionReport, RunReport, Tool};
use strata_workload::Workload;

pub use render::{to_columns, to_table};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.storage/1";

named! {
    /// The figures and tables that `study storage` can make.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Figure {
        /// Unified storage of 128, 256 and 384 KB, and limited unified storage, against areas
        /// of the largest's capacity (MICRO'12 Figures 8 to 10, Table 6).
        Unified = "unified",
        /// Unified storage of 384 KB for kernels that cannot use it, with one bank of a cluster
        /// at a time and with several (MICRO'12 Figure 7, section 4.2).
        NoBenefit = "no-benefit",
        /// Every design of the dissertation's chapter 7 (Figures 7.7, 7.11 and 7.12, Table 7.2).
        Designs = "designs",
        /// 48 KB of cache and 16 KB of shared memory, against the other way round (dissertation
        /// Figure 7.4).
        Limited = "limited",
        /// Registers for each thread and threads, everything else as large as is needed (MICRO'12
        /// Figure 2).
        Registers = "registers",
        /// Threads by the shared memory that they take (MICRO'12 Figure 3).
        SharedMemory = "shared-memory",
        /// Size of the cache and threads (MICRO'12 Figure 4).
        Cache = "cache",
        /// Threads of kernels with several blocking factors, by the shared memory that they
        /// take, against the last input's most threads (MICRO'12 Figure 11).
        Blocking = "blocking",
        /// Registers and memory in banks: banks of 4 and of 16 bytes, conflicts between registers
        /// and memory by instruction and cycle by cycle, without and with a hierarchy of
        /// registers, all with one partition (MICRO'12 Table 5, dissertation 7.5.5 and Figure
        /// 7.10).
        Conflicts = "conflicts",
        /// Limits of registers for each thread, in the unified design that searches the number of
        /// threads (dissertation Table 7.2).
        Configuration = "configuration",
        /// What kernels need: instructions by registers, DRAM traffic by the cache's size
        /// (MICRO'12 Table 1).
        Needs = "needs",
    }
}

/// A design at which inputs run.
#[derive(Clone, Debug)]
pub struct Point {
    /// What distinguishes it.
    pub name: String,
    /// The design.
    pub design: Design,
    /// Limit of registers for a thread; without, as many as avoid spills.
    pub registers: Option<RegisterLimit>,
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
    /// The figure, as the command calls it.
    pub figure: String,
    /// The point that each input's others are compared with; with `input: ` before it where it is
    /// another input's.
    pub compared_with: String,
    /// One for each input and point, input by input.
    pub rows: Vec<Row>,
    /// Parameters that come from no source.
    pub assumed: Vec<String>,
}

/// One input at one point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Workload's name.
    pub input: String,
    /// The point.
    pub point: String,
    /// What ran; null of what does not fit the point, whose reason is in `refused`.
    pub run: Option<Run>,
    /// Why it does not fit.
    pub refused: Option<String>,
}

/// What one input did at one point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    /// What each kind of storage had.
    pub partition: Option<PartitionReport>,
    /// How it was divided, in words.
    pub division: Option<String>,
    /// Most registers of a thread of its kernels. Unit: 32-bit registers.
    pub registers: u16,
    /// Warp instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Bytes from and to DRAM.
    pub dram_bytes: u64,
    /// Cycles of the point that is compared with, divided by these; null if that did not run.
    pub performance: Option<f64>,
    /// Bytes from and to DRAM, relative to that point's; null if there were none.
    pub dram_relative: Option<f64>,
    /// Instructions, relative to that point's.
    pub instructions_relative: Option<f64>,
    /// Energy of the SM with its storage and of DRAM in each technology that is known to price it;
    /// empty where none is.
    pub energy: Vec<Energy>,
    /// How registers and memory met in banks.
    pub conflicts: Conflicts,
}

/// The energy of a run in a technology.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Energy {
    /// The technology's name.
    pub technology: String,
    /// By what spent it; `total` is the sum of the others. Unit: femtojoules.
    pub energy_fj: BTreeMap<String, u64>,
    /// The total, relative to that of the point that is compared with, in the same technology.
    pub relative: Option<f64>,
    /// Performance divided by the relative energy: for each joule.
    pub performance_per_joule: Option<f64>,
}

/// Accesses to banks (docs/MODEL.md, rules 35 and 36).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Conflicts {
    /// Instructions by their accesses to the bank that they access most: at most 1, 2, 3, 4 and
    /// more.
    pub instructions: [u64; 5],
    /// Cycles by which registers and memory that met in a bank delayed instructions or accesses.
    pub arbitration_cycles: u64,
    /// Cycles beyond the first that accesses of shared memory and of the cache took in its banks.
    pub memory_cycles: u64,
}

impl Energy {
    /// All parts together. Unit: femtojoules.
    pub fn total(&self) -> u64 {
        self.energy_fj.get("total").copied().unwrap_or(0)
    }
}

impl Conflicts {
    fn of(report: &RunReport) -> Self {
        let counts = report.data_cache.as_ref();
        let count = |name: &str| counts.and_then(|counts| counts.get(name).copied()).unwrap_or(0);
        let bins = ["0_to_1", "2", "3", "4", "5_or_more"];
        let conflicts = ["shared_conflict_cycles", "cache_conflict_cycles"];
        Self {
            instructions: bins.map(|bin| count(&format!("instructions_bank_accesses_{bin}"))),
            arbitration_cycles: count("arbitration_conflict_cycles"),
            memory_cycles: conflicts.into_iter().map(count).sum(),
        }
    }

    /// The share of each of [`Self::instructions`]; none of no instructions. Unit: percent.
    pub fn shares(&self) -> Option<[f64; 5]> {
        let all: u64 = self.instructions.iter().sum();
        let share = |count: u64| 100.0 * count as f64 / all as f64;
        (all != 0).then(|| self.instructions.map(share))
    }
}

/// The energy of a run in each technology that knows it.
fn energies(report: &RunReport) -> Vec<Energy> {
    let technologies = report.storage_energy.iter().flat_map(|energy| &energy.technologies);
    let known = technologies.filter_map(|of| {
        Some(Energy {
            technology: of.technology.clone(),
            energy_fj: of.energy_fj.clone()?,
            relative: None,
            performance_per_joule: None,
        })
    });
    known.collect()
}

/// Runs inputs at the points of a figure: those that are begun before Ctrl-C, if there is one.
///
/// # Errors
/// An input that cannot run at any point, for other reasons than its size.
pub fn run(
    figure: Figure,
    inputs: &[Workload],
    request: &Request,
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Study, Failure> {
    let points = figure.points();
    let one = |workload: &Workload| input_rows(workload, &points, request, notes);
    let finished = parallel::finished(inputs, jobs, notes, |workload| &workload.name, one)?;
    let Finished { results, missing } = finished;
    let mut rows: Vec<Row> = results.into_iter().flatten().collect();
    let reference = figure.reference();
    let across = inputs.len().checked_sub(1).filter(|_| figure.is_across_inputs());
    relate(&mut rows, (points.len(), reference), across);
    let mut assumed: Vec<String> =
        points.iter().flat_map(|point| point.design.assumed.iter().cloned()).collect();
    assumed.sort_unstable();
    assumed.dedup();
    Ok(Study {
        schema: SCHEMA.to_owned(),
        tool: report::tool(),
        command: String::new(),
        missing,
        figure: figure.name().to_owned(),
        compared_with: across.map_or_else(
            || points[reference].name.clone(),
            |input| format!("{}: {}", inputs[input].name, points[reference].name),
        ),
        rows,
        assumed,
    })
}

/// The rows of an input. Points with the same limit of registers share an execution.
fn input_rows(
    workload: &Workload,
    points: &[Point],
    request: &Request,
    notes: &dyn Notes,
) -> Result<Vec<Row>, Failure> {
    let mut rows: Vec<Option<Row>> = vec![None; points.len()];
    for first in 0..points.len() {
        if rows[first].is_some() {
            continue;
        }
        let limit = points[first].registers;
        let places: Vec<usize> =
            (first..points.len()).filter(|&place| points[place].registers == limit).collect();
        let mut limited = workload.clone();
        limited.options.registers = limit;
        let of_places: Vec<&Point> = places.iter().map(|&place| &points[place]).collect();
        for (place, row) in places.iter().zip(of_one_program(&limited, &of_places, request, notes)?)
        {
            rows[*place] = Some(row);
        }
    }
    Ok(rows.into_iter().flatten().collect())
}

/// The rows of points that run the same program. A point whose storage is too small for it is
/// refused alone.
fn of_one_program(
    workload: &Workload,
    points: &[&Point],
    request: &Request,
    notes: &dyn Notes,
) -> Result<Vec<Row>, Failure> {
    let designs: Vec<Design> = points.iter().map(|point| point.design.clone()).collect();
    let fitting = measure::fitting(workload, &designs, request)?;
    let fit: Vec<Design> = designs
        .iter()
        .zip(&fitting)
        .filter(|(_, refused)| refused.is_none())
        .map(|(design, _)| design.clone())
        .collect();
    let reports = if fit.is_empty() {
        Vec::new()
    } else {
        measure::reports(workload, &fit, &request.clone().for_designs(&fit), notes)?
    };
    let mut reports = reports.into_iter();
    let row = |(point, refused): (&&Point, Option<String>)| Row {
        input: workload.name.clone(),
        point: point.name.clone(),
        run: if refused.is_some() { None } else { reports.next().map(|report| of_report(&report)) },
        refused,
    };
    Ok(points.iter().zip(fitting).map(row).collect())
}

fn of_report(report: &RunReport) -> Run {
    let count = |name: &str| report.counters.get(name).copied().unwrap_or(0);
    let data_cache = report.data_cache.as_ref();
    let storage = report.storage.as_ref();
    Run {
        partition: storage.map(|storage| storage.partition),
        division: storage.map(|storage| storage.division.clone()),
        registers: report.launches.iter().map(|launch| launch.registers).max().unwrap_or(0),
        instructions: count("warp_instructions"),
        cycles: count("cycles"),
        dram_bytes: data_cache.and_then(|counts| counts.get("dram_bytes").copied()).unwrap_or(0),
        performance: None,
        dram_relative: None,
        instructions_relative: None,
        energy: energies(report),
        conflicts: Conflicts::of(report),
    }
}

/// Relates each input's rows, one a point, to its own at the reference, or to those of the input at
/// the place `across`. Without that input there are no ratios.
fn relate(rows: &mut [Row], (points, reference): (usize, usize), across: Option<usize>) {
    for index in 0..rows.len() / points {
        let of = across.unwrap_or(index);
        let to = rows.get(of * points + reference).and_then(|row| row.run.clone());
        let own = index * points..(index + 1) * points;
        for run in rows[own].iter_mut().filter_map(|row| row.run.as_mut()) {
            let ratio = |of: u64, to: u64| (to != 0).then(|| of as f64 / to as f64);
            let to = to.as_ref();
            run.performance = to.and_then(|to| ratio(to.cycles, run.cycles));
            run.dram_relative = to.and_then(|to| ratio(run.dram_bytes, to.dram_bytes));
            run.instructions_relative = to.and_then(|to| ratio(run.instructions, to.instructions));
            for energy in &mut run.energy {
                let same = |to: &&Energy| to.technology == energy.technology;
                let to = to.and_then(|to| to.energy.iter().find(same));
                energy.relative = to.and_then(|to| ratio(energy.total(), to.total()));
                let better = run.performance.zip(energy.relative);
                energy.performance_per_joule = better.map(|(faster, energy)| faster / energy);
            }
        }
    }
}
