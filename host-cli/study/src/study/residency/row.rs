//! What is resident of a kernel on a machine.

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::chip_power::Ratio;
use strata_core::sm::config::{CtaTooLarge, Limit};
use strata_core::sm::expansion::{Capacity, CtaNeeds, Occupancy, Threshold};

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
    pub(super) fn of(
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
    pub(super) fn is_register_sensitive(&self) -> bool {
        self.limit == Limit::Registers.name()
    }
}
