//! Residency: how many CTAs and warps are resident when scratchpad memory holds registers too, for
//! the kernels of `[EXPARS]` Table 3 and for ours.
//!
//! Nothing runs: a kernel is compiled, and what a CTA needs is what residency follows from. Of each
//! machine a kernel has at most the registers that the machine's instructions can name.
//! Source: `[EXPARS]` 2.1, 3.3.1, 3.3.7, 4.2, 4.3, 4.6, Figures 2, 10 to 12, 16 and 17, Tables 3
//! and 4.

mod hardware;
mod kernel;
mod render;
mod row;
mod summary;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::sm::expansion::{Capacity, Threshold};

use strata_files::failure::Failure;
use strata_measure::Request;
use strata_measure::notes::Notes;
use strata_measure::parallel::{self, Finished};
use strata_report::{self as report, Tool};
use strata_workload::Workload;

pub use hardware::{MACHINES, Storage};
pub use kernel::GROUPS;
use kernel::{Kernel, own_kernels, paper_kernels};
pub use render::{no_columns, to_columns, to_table};
pub use row::{Resident, Row, Split, Taken};
pub use summary::{Means, Sweep, WayMeans};

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.study.residency/1";

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
