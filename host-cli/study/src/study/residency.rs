//! Residency: how many CTAs and warps are resident when scratchpad memory holds registers too, for
//! the kernels of `[EXPARS]` Table 3 and for ours.
//!
//! Nothing runs: a kernel is compiled, and what a CTA needs is what residency follows from. Of each
//! machine a kernel has at most the registers that the machine's instructions can name.
//! Source: `[EXPARS]` 2.1, 3.3.1, 3.3.7, 4.2, 4.3, 4.6, Figures 2, 10 to 12, 16 and 17, Tables 3
//! and 4.

mod hardware;
mod render;
mod summary;

use schemars::JsonSchema;
use serde::Serialize;
use strata_compiler::RegisterLimit;
use strata_core::chip_power::Ratio;
use strata_core::sm::config::{CtaTooLarge, Limit};
use strata_core::sm::expansion::{Capacity, CtaNeeds, Occupancy, Threshold};

use crate::exact;
use strata_files::failure::Failure;
use strata_measure::Request;
use strata_measure::notes::Notes;
use strata_measure::parallel::{self, Finished};
use strata_measure::subject;
use strata_report::{self as report, Tool};
use strata_workload::Workload;

pub use hardware::Storage;
pub use render::{no_columns, to_columns, to_table};
pub use summary::{Means, Sweep, WayMeans};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.residency/1";

/// The machines.
pub const MACHINES: [(&str, Capacity); 2] =
    [("Fermi", Capacity::FERMI), ("Maxwell", Capacity::MAXWELL)];

/// The kernels of the paper, and ours.
pub const GROUPS: [&str; 2] = ["Table 3", "ours"];

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
    /// The threshold of mixed CTAs.
    pub threshold: f64,
    /// One for each machine and kernel.
    pub rows: Vec<Row>,
    /// Means over the kernels of a machine that fit it.
    pub means: Vec<Means>,
    /// CTAs by the threshold.
    pub thresholds: Vec<Sweep>,
    /// Storage that the hardware adds to an SM.
    pub hardware: Vec<Storage>,
}

/// A kernel on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The machine.
    pub machine: String,
    /// Whose kernel it is.
    pub group: String,
    /// The workload; the paper's short name of a kernel of Table 3.
    pub input: String,
    /// The kernel; empty in Table 3.
    pub kernel: String,
    /// Threads of a CTA.
    pub threads: u32,
    /// Registers of a CTA. Unit: 32-bit registers of a thread.
    pub registers: u32,
    /// Scratchpad memory of a CTA. Unit: bytes.
    pub scratchpad_bytes: u32,
    /// What is resident; null of a kernel that does not fit, whose reason is in `refused`.
    pub resident: Option<Resident>,
    /// Why it does not fit.
    pub refused: Option<String>,
}

/// What is resident of a kernel, in every way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Resident {
    /// What keeps the baseline's next CTA out.
    pub limit: String,
    /// Whole CTAs.
    pub baseline: Taken,
    /// With warps of one CTA more.
    pub warpman: Taken,
    /// With mixed CTAs; the baseline's where they gain none.
    pub expars: Taken,
    /// The mixed CTAs; null where they gain none.
    pub split: Option<Split>,
    /// With warps that have all registers in scratchpad memory.
    pub horizontal: Taken,
    /// Those warps.
    pub scratchpad_warps: u32,
    /// With both kinds of storage in one.
    pub oracle: Taken,
    /// Without limits of either kind of storage. Its shares may exceed 100 %.
    pub required: Taken,
}

/// CTAs and warps, and the shares of the storage that they take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Taken {
    /// CTAs, a partial one too.
    pub ctas: u32,
    /// Warps.
    pub warps: u32,
    /// Share of the register file. Unit: percent.
    pub registers_percent: f64,
    /// Share of scratchpad memory. Unit: percent.
    pub scratchpad_percent: f64,
    /// Share of both together. Unit: percent.
    pub both_percent: f64,
}

/// Whole and mixed CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Split {
    /// CTAs with all registers in the register file.
    pub whole: u32,
    /// CTAs with registers in both.
    pub mixed: u32,
    /// The first register of a mixed CTA's threads that lies in scratchpad memory.
    pub start_register: u32,
    /// Share of a mixed CTA's registers in the register file. Unit: percent.
    pub in_register_file_percent: f64,
}

fn percent(ratio: Ratio) -> f64 {
    100.0 * ratio.numerator as f64 / ratio.denominator as f64
}

impl Taken {
    fn of(capacity: &Capacity, occupancy: &Occupancy) -> Self {
        let shares = capacity.utilization(occupancy);
        Self {
            ctas: occupancy.ctas,
            warps: occupancy.warps,
            registers_percent: percent(shares.registers),
            scratchpad_percent: percent(shares.scratchpad),
            both_percent: percent(shares.both),
        }
    }
}

impl Resident {
    fn of(
        capacity: &Capacity,
        needs: &CtaNeeds,
        threshold: Threshold,
    ) -> Result<Self, CtaTooLarge> {
        let taken = |occupancy: Occupancy| Taken::of(capacity, &occupancy);
        let baseline = capacity.baseline_occupancy(needs)?;
        let split = capacity.vertical(needs, threshold)?;
        let horizontal = capacity.horizontal(needs)?;
        Ok(Self {
            limit: capacity.baseline(needs)?.limit.name().to_owned(),
            baseline: taken(baseline),
            warpman: taken(capacity.warpman(needs)?),
            expars: taken(split.map_or(baseline, |split| split.occupancy(needs))),
            split: split.map(|split| Split {
                whole: split.whole,
                mixed: split.mixed,
                start_register: split.start_register,
                in_register_file_percent: percent(split.share_in_register_file(needs)),
            }),
            horizontal: taken(horizontal.occupancy),
            scratchpad_warps: horizontal.scratchpad_warps,
            oracle: taken(capacity.oracle(needs)?),
            required: taken(capacity.required(needs)?),
        })
    }

    /// Whether the register file is what limits the baseline.
    fn is_register_sensitive(&self) -> bool {
        self.limit == Limit::Registers.name()
    }
}

/// A kernel of a group, with what a CTA needs.
struct Kernel {
    group: &'static str,
    input: String,
    name: String,
    needs: CtaNeeds,
}

impl Kernel {
    fn row(&self, (machine, capacity): (&str, &Capacity), threshold: Threshold) -> Row {
        let CtaNeeds { threads, registers, scratchpad_bytes } = self.needs;
        let found = Resident::of(capacity, &self.needs, threshold);
        let (resident, refused) = match found {
            Ok(resident) => (Some(resident), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Row {
            machine: machine.to_owned(),
            group: self.group.to_owned(),
            input: self.input.clone(),
            kernel: self.name.clone(),
            threads,
            registers,
            scratchpad_bytes,
            resident,
            refused,
        }
    }
}

fn paper_kernels() -> impl Iterator<Item = Kernel> {
    exact::paper_kernels().into_iter().map(|kernel| Kernel {
        group: GROUPS[0],
        input: kernel.name,
        name: String::new(),
        needs: kernel.needs,
    })
}

/// The kernels of a workload, compiled for a machine. Launches that need the same count once.
fn own_kernels(
    workload: &Workload,
    capacity: &Capacity,
    request: &Request,
) -> Result<Vec<Kernel>, Failure> {
    let mut workload = workload.clone();
    let asked = workload.options.registers.map_or(RegisterLimit::MAX, RegisterLimit::get);
    workload.options.registers = RegisterLimit::new(asked.min(capacity.most_registers));
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let all = prepared.needs_of_kernels().map_err(|error| subject::run_error(&workload, &error))?;
    let kernel = |(name, needs): (&str, _)| Kernel {
        group: GROUPS[1],
        input: workload.name.clone(),
        name: name.to_owned(),
        needs: CtaNeeds::of(&needs),
    };
    Ok(all.into_iter().map(kernel).collect())
}

/// Computes the residency of Table 3's kernels and of those of workloads, on both machines. After
/// Ctrl-C no further workload is begun.
///
/// # Errors
/// A workload that cannot be compiled.
pub fn run(
    inputs: &[Workload],
    threshold: Threshold,
    request: &Request,
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Study, Failure> {
    let compile = |workload: &Workload| {
        let of_machine =
            |(_, capacity): &(&str, Capacity)| own_kernels(workload, capacity, request);
        MACHINES.iter().map(of_machine).collect::<Result<Vec<_>, _>>()
    };
    let finished = parallel::finished(inputs, jobs, notes, |workload| &workload.name, compile)?;
    let Finished { results: compiled, missing } = finished;
    let mut kernels: Vec<Vec<Kernel>> = MACHINES.map(|_| paper_kernels().collect()).into();
    for workload in compiled {
        for (all, own) in kernels.iter_mut().zip(workload) {
            all.extend(own);
        }
    }
    let of_machines = || MACHINES.iter().zip(&kernels);
    let rows: Vec<Row> = of_machines()
        .flat_map(|(&(name, ref capacity), kernels)| {
            kernels.iter().map(move |kernel| kernel.row((name, capacity), threshold))
        })
        .collect();
    let (numerator, denominator) = threshold.parts();
    Ok(Study {
        schema: SCHEMA.to_owned(),
        tool: report::tool(),
        command: String::new(),
        missing,
        threshold: f64::from(numerator) / f64::from(denominator),
        means: summary::means(&rows),
        thresholds: of_machines()
            .flat_map(|((name, capacity), kernels)| summary::sweep(name, capacity, kernels))
            .collect(),
        rows,
        hardware: hardware::storage(),
    })
}
