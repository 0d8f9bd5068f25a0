//! Comparison: designs against one of them, input by input and over all inputs.
//!
//! A ratio above 1 is better: speed-up is the baseline's time over the design's, energy and
//! energy-delay ratios are the baseline's over the design's. Over seeds a ratio has its mean and
//! standard deviation; over inputs the geometric mean of these means.

mod render;

use schemars::JsonSchema;
use serde::Serialize;

use crate::RunReport;
use crate::rounded;
use strata_config::quantity::Frequency;
use strata_design::Design;

pub use render::{no_columns, to_columns, to_table};

/// Layout version of a comparison.
pub const SCHEMA: &str = "strata.comparison/1";
/// What the line over all inputs is called.
pub const ALL: &str = "geometric mean";

/// The ratios, in order: their names, and what each is of.
pub const RATIOS: [(&str, &str); 5] = [
    ("speedup", "time; cycle mode"),
    ("energy_ratio", "energy of register accesses"),
    ("energy_delay_ratio", "energy of register accesses times time; cycle mode"),
    ("total_energy_ratio", "energy with leakage; cycle mode"),
    ("total_energy_delay_ratio", "energy with leakage times time; cycle mode"),
];

/// Designs against a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Layout version of this object.
    pub schema: String,
    /// Name of the design that the others are compared with.
    pub baseline: String,
    /// `count` or `cycle`.
    pub mode: String,
    /// Seeds of the inputs; empty where each input ran once, as it is.
    pub seeds: Vec<u32>,
    /// One for each input and design, then one for each design over all inputs.
    pub lines: Vec<Line>,
}

/// A design on an input.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// Name of the input; `geometric mean` for that over all.
    pub workload: String,
    /// Name of the design.
    pub design: String,
    /// The baseline's time over the design's.
    pub speedup: Option<Statistic>,
    /// The baseline's energy of register accesses over the design's.
    pub energy_ratio: Option<Statistic>,
    /// The same of that energy times the time.
    pub energy_delay_ratio: Option<Statistic>,
    /// The same of energy with leakage.
    pub total_energy_ratio: Option<Statistic>,
    /// The same of energy with leakage, times the time.
    pub total_energy_delay_ratio: Option<Statistic>,
}

/// A ratio over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Statistic {
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation of the sample; null where there is one.
    pub deviation: Option<f64>,
}

impl Line {
    /// In the order of [`RATIOS`].
    pub const fn ratios(&self) -> [Option<Statistic>; 5] {
        [
            self.speedup,
            self.energy_ratio,
            self.energy_delay_ratio,
            self.total_energy_ratio,
            self.total_energy_delay_ratio,
        ]
    }

    /// Of a single run.
    pub fn once(workload: &str, design: &str, ratios: [Option<f64>; 5]) -> Self {
        Self::of(workload, design, ratios.map(|ratio| ratio.map(|ratio| statistic(&[ratio]))))
    }

    /// A design over all inputs; a ratio that one of them lacks is missing.
    pub fn over(lines: &[Self], design: &str) -> Self {
        let own: Vec<_> = lines.iter().filter(|line| line.design == design).collect();
        let ratios = [0, 1, 2, 3, 4].map(|ratio| {
            let all: Option<Vec<f64>> =
                own.iter().map(|line| Some(line.ratios()[ratio]?.mean)).collect();
            let mean = geometric_mean(&all?)?;
            Some(Statistic { mean: rounded(mean), deviation: None })
        });
        Self::of(ALL, design, ratios)
    }

    fn of(workload: &str, design: &str, ratios: [Option<Statistic>; 5]) -> Self {
        let [speedup, energy_ratio, energy_delay_ratio, total_energy_ratio, rest] = ratios;
        Self {
            workload: workload.to_owned(),
            design: design.to_owned(),
            speedup,
            energy_ratio,
            energy_delay_ratio,
            total_energy_ratio,
            total_energy_delay_ratio: rest,
        }
    }
}

impl Comparison {
    /// Compares. `designs`: the baseline first; `runs`: for each seed, or once, the reports of all
    /// inputs, input after input, each under the designs in this order.
    pub fn new(designs: &[Design], seeds: Vec<u32>, runs: &[Vec<RunReport>]) -> Self {
        let (Some(baseline), Some(first)) = (designs.first(), runs.first()) else {
            return Self {
                schema: SCHEMA.to_owned(),
                baseline: String::new(),
                mode: String::new(),
                seeds,
                lines: Vec::new(),
            };
        };
        let inputs = first.len() / designs.len();
        let mut lines = Vec::new();
        for input in 0..inputs {
            for (place, design) in designs.iter().enumerate().skip(1) {
                let at = |run: &Vec<RunReport>, place: usize| {
                    Measures::of(&run[input * designs.len() + place], &designs[place])
                };
                let each: Vec<_> =
                    runs.iter().map(|run| at(run, place).ratios(&at(run, 0))).collect();
                let workload = &first[input * designs.len()].workload;
                let ratios = [0, 1, 2, 3, 4].map(|ratio| {
                    let all: Option<Vec<f64>> = each.iter().map(|seed| seed[ratio]).collect();
                    all.map(|all| statistic(&all))
                });
                lines.push(Line::of(workload, &design.name, ratios));
            }
        }
        let over_all = designs.iter().skip(1).map(|design| Line::over(&lines, &design.name));
        let over_all: Vec<_> = if inputs > 1 { over_all.collect() } else { Vec::new() };
        lines.extend(over_all);
        Self {
            schema: SCHEMA.to_owned(),
            baseline: baseline.name.clone(),
            mode: first.first().map(|report| report.mode.clone()).unwrap_or_default(),
            seeds,
            lines,
        }
    }
}

/// What a run needed.
pub struct Measures {
    /// Unit: seconds.
    time: Option<f64>,
    /// Of register accesses. Unit: femtojoules.
    energy: Option<f64>,
    /// With leakage. Unit: femtojoules.
    total: Option<f64>,
}

impl Measures {
    fn of(report: &RunReport, design: &Design) -> Self {
        let cycles = report.counters.get("cycles").map(|&cycles| cycles as f64);
        let energy = report.energy_fj.as_ref().and_then(|parts| parts.get("total"));
        Self::new(
            cycles.map(|cycles| (cycles, design.machine.clock)),
            energy.map(|&energy| energy as f64),
            report.energy_in_time.map(|energy| energy.total_fj as f64),
        )
    }

    /// Cycles at a clock, energy of register accesses, and energy with leakage in femtojoules, as
    /// far as they are known.
    pub fn new(cycles: Option<(f64, Frequency)>, energy: Option<f64>, total: Option<f64>) -> Self {
        let time = cycles.map(|(cycles, clock)| cycles / (f64::from(clock.0) * 1e3));
        Self { time, energy, total }
    }

    /// The baseline's over its own, in the order of [`RATIOS`].
    pub fn ratios(&self, baseline: &Self) -> [Option<f64>; 5] {
        let ratio = |of: fn(&Self) -> Option<f64>| {
            let (own, baseline) = (of(self)?, of(baseline)?);
            (own > 0.0).then(|| baseline / own)
        };
        [
            ratio(|of| of.time),
            ratio(|of| of.energy),
            ratio(|of| Some(of.energy? * of.time?)),
            ratio(|of| of.total),
            ratio(|of| Some(of.total? * of.time?)),
        ]
    }
}

/// Mean, and standard deviation of the sample.
fn statistic(values: &[f64]) -> Statistic {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (values.len() > 1).then(|| rounded((squares / (count - 1.0)).sqrt()));
    Statistic { mean: rounded(mean), deviation }
}

/// The `n`th root of a product, by logarithms of base 2; none of values that are not positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Option<Vec<f64>> =
        values.iter().map(|&value| (value > 0.0).then(|| value.log2())).collect();
    let logarithms = logarithms?;
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_by_hand() {
        assert_eq!(statistic(&[2.0]), Statistic { mean: 2.0, deviation: None });
        // Squares of 1, 0 and 1, over two.
        assert_eq!(statistic(&[1.0, 2.0, 3.0]), Statistic { mean: 2.0, deviation: Some(1.0) });
        assert!((geometric_mean(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn ratios_by_hand() {
        let own = Measures { time: Some(2.0), energy: Some(3.0), total: None };
        let baseline = Measures { time: Some(4.0), energy: Some(9.0), total: Some(1.0) };
        let ratios = own.ratios(&baseline);
        assert_eq!(ratios, [Some(2.0), Some(3.0), Some(6.0), None, None]);
        let nothing = Measures { time: Some(0.0), ..own };
        assert_eq!(nothing.ratios(&baseline)[0], None);
    }
}
