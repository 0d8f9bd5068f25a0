//! Profile: what the page shows of `strata inspect --profile`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::run::{Tool, known, there};
use strata_measure::options::Mode;

/// A profile of `strata inspect --profile --format json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a profile")]
pub struct Profile {
    pub(super) tool: Tool,
    pub(super) command: String,
    pub(super) workload: String,
    pub(super) design: String,
    pub(super) mode: String,
    pub(super) kernels: Vec<Kernel>,
    pub(super) total: Cost,
    pub(super) lines_total: u64,
    pub(super) lines: Vec<Row>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a kernel")]
pub(super) struct Kernel {
    pub(super) kernel: String,
    pub(super) launches: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a line")]
pub(super) struct Row {
    pub(super) kernel: String,
    pub(super) ptx_line: u32,
    #[serde(deserialize_with = "there")]
    pub(super) cuda_file: Option<String>,
    #[serde(deserialize_with = "there")]
    pub(super) cuda_line: Option<u32>,
    pub(super) ptx: String,
    #[serde(flatten)]
    pub(super) cost: Cost,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a cost")]
pub(super) struct Cost {
    pub(super) executions: u64,
    #[serde(deserialize_with = "there")]
    pub(super) energy_fj: Option<u64>,
    #[serde(deserialize_with = "there")]
    pub(super) stall_cycles: Option<u64>,
    #[serde(deserialize_with = "there")]
    pub(super) stalls: Option<BTreeMap<String, u64>>,
}

impl Cost {
    /// Where warps waited most, of equal ones the first by name.
    pub(super) fn mostly(&self) -> &str {
        let stalls = self.stalls.iter().flatten();
        let most = stalls.max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        most.map_or("", |(name, _)| name)
    }
}

/// What lines are coloured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Energy of register accesses.
    Energy,
    /// Cycles in which warps waited.
    Stalls,
    /// Executions, where neither is known.
    Executions,
}

impl Measure {
    /// The number, with its unit.
    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::Energy => "energy (fJ)",
            Self::Stalls => "stalls (warp cycles)",
            Self::Executions => "executions",
        }
    }

    /// In a sentence.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Energy => "the energy of register accesses",
            Self::Stalls => "the cycles in which warps waited",
            Self::Executions => "the executions, because the energy is not known",
        }
    }

    /// Of a line, or of all.
    pub(super) fn of(self, cost: &Cost) -> u64 {
        match self {
            Self::Energy => cost.energy_fj.unwrap_or(0),
            Self::Stalls => cost.stall_cycles.unwrap_or(0),
            Self::Executions => cost.executions,
        }
    }
}

impl Profile {
    /// What is known of all lines.
    pub(super) fn measure(&self) -> Measure {
        match self.total {
            Cost { energy_fj: Some(_), .. } => Measure::Energy,
            Cost { stall_cycles: Some(_), .. } => Measure::Stalls,
            _ => Measure::Executions,
        }
    }

    /// Whether the lines are no more than the total, and as many as it says.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn check(&self) -> Result<(), String> {
        known("mode", &self.mode, &Mode::ALL.map(Mode::name))?;
        if self.lines.len() as u64 > self.lines_total {
            let more = self.lines.len();
            return Err(format!("`lines` has {more}, and `lines_total` is {}", self.lines_total));
        }
        let measure = self.measure();
        for line in &self.lines {
            let known = match measure {
                Measure::Energy => line.cost.energy_fj.is_some(),
                Measure::Stalls => line.cost.stall_cycles.is_some(),
                Measure::Executions => true,
            };
            if !known {
                let (place, column) = (line.ptx_line, measure.column());
                return Err(format!("line {place} of the PTX has no {column}, and the total has"));
            }
        }
        let sum: u128 = self.lines.iter().map(|line| u128::from(measure.of(&line.cost))).sum();
        let total = u128::from(measure.of(&self.total));
        let all = self.lines.len() as u64 == self.lines_total;
        if sum > total || (all && sum != total) {
            let column = measure.column();
            return Err(format!("the lines' {column} make {sum}, and `total` has {total}"));
        }
        Ok(())
    }
}
