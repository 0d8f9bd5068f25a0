//! Report: the result of one workload under one design, as typed data.

pub mod data_cache;
pub mod derived;
pub mod in_time;
mod rounded;
pub mod storage;
pub mod storage_energy;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::energy::EnergyBreakdown;
use strata_core::event::Counters;
use strata_core::sm::config::Residency;
use strata_core::sm::counters::SmCounters;
use strata_core::sm::expansion::Split;

pub use data_cache::DataCacheCounts;
pub use in_time::{Against, Endurance, EnergyInTime};
pub use rounded::rounded;
pub use storage::{PartitionReport, StorageReport, Tried};
pub use storage_energy::StorageEnergyReport;
use strata_design::Value;

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
pub const SCHEMA: &str = "strata.run/1";

/// One workload under one design.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunReport {
    /// Layout version of this object.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// Command that makes it again, in one normal form.
    pub command: String,
    /// Workload's name, or the PTX file's with the folders that tell it apart; what was typed of a
    /// trace or a recording.
    pub workload: String,
    /// Design's name.
    pub design: String,
    /// Machine the design is built on; its name is also that of its baseline design.
    pub machine: String,
    /// `count`: accesses in program order, without time.
    pub mode: String,
    /// Order of the instructions: `ptx`, `scheduled`, `scheduled-renamed` or `close`, as `--order`
    /// calls it; `trace` for the order of a trace's lines; of a recording that with which it was
    /// made.
    pub order: String,
    /// Parameters of the design, by the keys of design files: the same keys whatever the design and
    /// the mode. Null where the design has no such part. Energies and distances are those in
    /// effect, null where they are not known.
    pub parameters: BTreeMap<String, Option<Value>>,
    /// What the results were compared with.
    pub check: Check,
    /// Launches that were counted, in order.
    pub launches: Vec<LaunchReport>,
    /// Event totals over all launches. Unit: warp-wide events; see docs/MODEL.md for each.
    pub counters: BTreeMap<String, u64>,
    /// Digest of all counters, 16 hexadecimal digits: equal on every machine (docs/MODEL.md,
    /// "Digest").
    pub digest: String,
    /// Ratios of counters and energies; the unit is the last word of each key. A ratio whose
    /// divisor is zero is null.
    pub derived: BTreeMap<String, Option<f64>>,
    /// Register file energy by part; `total` is the sum of the others. Null where no table of the
    /// papers prints the sizes in use. Unit: femtojoules.
    pub energy_fj: Option<BTreeMap<String, u64>>,
    /// Why `energy_fj` is null.
    pub energy_unavailable: Option<String>,
    /// The same with leakage, in cycle mode. Null where the leakage is not known, or the energy.
    pub energy_in_time: Option<EnergyInTime>,
    /// Why `energy_in_time` is null.
    pub energy_in_time_unavailable: Option<String>,
    /// Wear of the main register file, in cycle mode. Null where it is not counted.
    pub endurance: Option<Endurance>,
    /// What the memory with addresses counted, in cycle mode. Left out of designs without
    /// `[data_cache]`. Units: see docs/MODEL.md, rule 35.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_cache: Option<BTreeMap<String, u64>>,
    /// What happened to registers in scratchpad memory, in cycle mode. Left out of designs without
    /// a register manager and with a constant limit of active warps. Units: see docs/MODEL.md, rule
    /// 45.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion: Option<BTreeMap<String, u64>>,
    /// How the storage was divided, of a design whose storage is divided for each application, in
    /// cycle mode. Left out of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageReport>,
    /// Energy of the SM with all its storage and of DRAM, in each technology that the design names,
    /// in cycle mode. Left out of designs that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_energy: Option<StorageEnergyReport>,
    /// Values of the main register file's technology, each with its source.
    pub sources: Vec<String>,
    /// Parameters that come from no source.
    pub assumed: Vec<String>,
    /// Parameters of the SM that the design file changed: design, key, value, the base's value.
    pub changed: Vec<String>,
    /// The numbers of which `counters` and `energy_fj` are made.
    #[serde(skip)]
    #[schemars(skip)]
    pub totals: Totals,
}

/// The numbers of a run, as the model counts them, over all launches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Accesses and instructions. Unit: warp-wide events.
    pub counters: Counters,
    /// Cycles and what they were spent on, in cycle mode.
    pub time: Option<SmCounters>,
    /// Energy of the register file by part. None where no table of the papers prints the sizes in
    /// use.
    pub energy: Option<EnergyBreakdown>,
}

/// The program that wrote a report.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tool {
    /// Always `strata`.
    pub name: String,
    /// Version of the package.
    pub version: String,
}

/// How results were verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Compared with the host reference, and equal within the workload's tolerance.
    Passed,
    /// Compared with nothing: the launch description names no host reference.
    None,
    /// Nothing was computed: the input is a trace.
    Replayed,
}

impl Check {
    /// What JSON calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::None => "none",
            Self::Replayed => "replayed",
        }
    }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LaunchReport {
    /// Position among all launches of the workload, from 0.
    pub index: u64,
    /// Kernel's name.
    pub kernel: String,
    /// CTAs along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA along x, y, z.
    pub block: [u32; 3],
    /// 32-bit registers for each thread.
    pub registers: u16,
    /// Warps counted.
    pub warps: u64,
    /// Different paths among them; each is evaluated once. Of a launch with more than 64 MiB of
    /// paths, counted in parts, those of each part.
    pub distinct_paths: u64,
    /// How much of the launch the SM holds at a time. Null in count mode.
    pub residency: Option<ResidencyReport>,
    /// How the storage was divided for this launch, where it is divided for each kernel. Left out
    /// of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionReport>,
    /// Event totals of this launch.
    pub counters: BTreeMap<String, u64>,
}

/// What fits the SM at a time, whether or not the launch has as many CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResidencyReport {
    /// CTAs.
    pub ctas: u32,
    /// Their warps.
    pub warps: u32,
    /// What keeps another CTA out: `warps`, `ctas`, `registers`, `shared_memory`,
    /// `unified_storage`, `threads`; of several, the first.
    pub limit: &'static str,
    /// Registers of the register file in the rows of the resident warps that stay empty, because
    /// the banks do not divide a warp's registers. Unit: warp-wide registers.
    pub empty_registers: u32,
    /// Of the CTAs, those with registers in scratchpad memory. Left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed_ctas: Option<u32>,
    /// The first register of their threads that lies there. Left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_register: Option<u32>,
}

impl ResidencyReport {
    /// What fits at a time, and how the registers of the CTAs are split, if they are.
    pub fn new(residency: Residency, split: Option<Split>) -> Self {
        let Residency { ctas, warps, limit, empty_registers } = residency;
        Self {
            ctas,
            warps,
            limit: limit.name(),
            empty_registers,
            mixed_ctas: split.map(|split| split.mixed),
            start_register: split.map(|split| split.start_register),
        }
    }
}

/// Order of the instructions of a trace: that of its lines, however they came about.
pub const OF_A_TRACE: &str = "trace";

/// This build's name and version.
pub fn tool() -> Tool {
    Tool { name: "strata".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}
