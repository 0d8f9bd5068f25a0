//! Means over kernels, and CTAs by the threshold.

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::sm::expansion::{Capacity, Threshold};

use super::hardware::MACHINES;
use super::kernel::{GROUPS, Kernel};
use super::row::{Resident, Row, Taken};

/// Thresholds that are swept. Unit: tenths.
const TENTHS: std::ops::RangeInclusive<u16> = 4..=9;

/// Means over kernels of a group on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Means {
    /// The machine.
    pub machine: String,
    /// Whose kernels.
    pub group: String,
    /// Of those alone whose baseline the register file limits.
    pub register_sensitive: bool,
    /// How many they are.
    pub kernels: usize,
    /// One for each way.
    pub ways: Vec<WayMeans>,
    /// Register file that all CTAs would need, relative to the machine's.
    pub required_registers: f64,
    /// Scratchpad memory that all CTAs would need, relative to the machine's.
    pub required_scratchpad: f64,
}

/// Means of a way in which CTAs are resident.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WayMeans {
    /// The way.
    pub way: String,
    /// CTAs.
    pub ctas: f64,
    /// Warps.
    pub warps: f64,
    /// CTAs relative to the baseline's, kernel by kernel.
    pub ctas_relative: f64,
    /// Share of the register file. Unit: percent.
    pub registers_percent: f64,
    /// Share of scratchpad memory. Unit: percent.
    pub scratchpad_percent: f64,
    /// Share of both together. Unit: percent.
    pub both_percent: f64,
}

/// What is resident in one of the ways.
type Way = fn(&Resident) -> &Taken;

/// Ways with their names.
const WAYS: [(&str, Way); 5] = [
    ("baseline", |resident| &resident.baseline),
    ("Warpman", |resident| &resident.warpman),
    ("EXPARS", |resident| &resident.expars),
    ("horizontal", |resident| &resident.horizontal),
    ("oracle", |resident| &resident.oracle),
];

/// Means of each machine and group, of all kernels and of those that the register file limits; none
/// of no kernels.
pub(super) fn means(rows: &[Row]) -> Vec<Means> {
    let mut all = Vec::new();
    for (machine, _) in MACHINES {
        for group in GROUPS {
            for register_sensitive in [false, true] {
                let of: Vec<&Resident> = rows
                    .iter()
                    .filter(|row| row.machine == machine && row.group == group)
                    .filter_map(|row| row.resident.as_ref())
                    .filter(|one| !register_sensitive || one.is_register_sensitive())
                    .collect();
                if !of.is_empty() {
                    all.push(Means::of(machine, group, register_sensitive, &of));
                }
            }
        }
    }
    all
}

impl Means {
    fn of(machine: &str, group: &str, register_sensitive: bool, of: &[&Resident]) -> Self {
        let mean = |value: &dyn Fn(&Resident) -> f64| {
            of.iter().map(|resident| value(resident)).sum::<f64>() / of.len() as f64
        };
        let ways = WAYS.map(|(way, taken)| WayMeans {
            way: way.to_owned(),
            ctas: mean(&|resident| taken(resident).ctas.into()),
            warps: mean(&|resident| taken(resident).warps.into()),
            ctas_relative: mean(&|resident| {
                f64::from(taken(resident).ctas) / f64::from(resident.baseline.ctas)
            }),
            registers_percent: mean(&|resident| taken(resident).registers_percent),
            scratchpad_percent: mean(&|resident| taken(resident).scratchpad_percent),
            both_percent: mean(&|resident| taken(resident).both_percent),
        });
        Self {
            machine: machine.to_owned(),
            group: group.to_owned(),
            register_sensitive,
            kernels: of.len(),
            ways: ways.into(),
            required_registers: mean(&|resident| resident.required.registers_percent) / 100.0,
            required_scratchpad: mean(&|resident| resident.required.scratchpad_percent) / 100.0,
        }
    }
}

/// CTAs of a group on a machine with a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sweep {
    /// The machine.
    pub machine: String,
    /// Whose kernels.
    pub group: String,
    /// The threshold.
    pub threshold: f64,
    /// CTAs of all kernels that fit.
    pub ctas: u32,
    /// Of them mixed.
    pub mixed: u32,
}

/// CTAs of each group by the threshold; none of a group without kernels.
pub(super) fn sweep(machine: &str, capacity: &Capacity, kernels: &[Kernel]) -> Vec<Sweep> {
    let mut all = Vec::new();
    for group in GROUPS {
        let of: Vec<_> = kernels.iter().filter(|kernel| kernel.group == group).collect();
        if of.is_empty() {
            continue;
        }
        for tenths in TENTHS {
            let Some(threshold) = Threshold::new(tenths, 10) else { continue };
            let (mut ctas, mut mixed) = (0, 0);
            for kernel in &of {
                let Ok(baseline) = capacity.baseline(&kernel.needs) else { continue };
                let split = capacity.vertical(&kernel.needs, threshold).ok().flatten();
                ctas += split.map_or(baseline.ctas, |split| split.ctas());
                mixed += split.map_or(0, |split| split.mixed);
            }
            let (machine, group) = (machine.to_owned(), group.to_owned());
            all.push(Sweep { machine, group, threshold: f64::from(tenths) / 10.0, ctas, mixed });
        }
    }
    all
}
