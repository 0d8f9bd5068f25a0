//! In time: a register file's energy with leakage, and the wear of its cells.

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::energy::EnergyBreakdown;

use super::rounded::rounded;
use strata_design::Design;

/// Energy of the main register file and the levels above it over the time of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EnergyInTime {
    /// What accesses cost: `energy_fj.total`. Unit: femtojoules.
    pub dynamic_fj: u64,
    /// What the banks of the main register file leak, in all cycles. Unit: femtojoules.
    pub leakage_fj: u64,
    /// Both. Unit: femtojoules.
    pub total_fj: u64,
    /// Both over the time of the run. Unit: milliwatts.
    pub average_power_mw: f64,
    /// Both times the time of the run. Unit: femtojoule seconds.
    pub energy_delay_fj_s: f64,
}

/// Why there is no energy in time, as a sentence without a full stop.
pub const COUNT_MODE: &str =
    "leakage needs time, which counting does not know: `--mode cycle` has it";

impl EnergyInTime {
    /// That of a design which ran for this many cycles.
    ///
    /// # Errors
    /// It did not run, an energy is not known, or a sum does not fit.
    pub fn of(
        design: &Design,
        energy: Option<&EnergyBreakdown>,
        cycles: u64,
    ) -> Result<Self, String> {
        let energy = energy.ok_or("the energy of accesses is not known")?;
        let leakage = design.leakage.as_ref().map_err(ToString::to_string)?;
        let too_large = || "the energy does not fit 64 bits of femtojoules".to_owned();
        let leakage_fj = leakage.energy(cycles).ok_or_else(too_large)?.0;
        let dynamic_fj = energy.total().0;
        let total_fj = dynamic_fj.checked_add(leakage_fj).ok_or_else(too_large)?;
        if cycles == 0 {
            return Err("nothing ran".to_owned());
        }
        let seconds = cycles as f64 / (f64::from(leakage.clock_khz) * 1e3);
        Ok(Self {
            dynamic_fj,
            leakage_fj,
            total_fj,
            average_power_mw: rounded(total_fj as f64 / seconds * 1e-12),
            energy_delay_fj_s: rounded(total_fj as f64 * seconds),
        })
    }
}

/// How a design does in time against its machine's baseline.
#[derive(Clone, Copy, Debug)]
pub struct Against {
    /// Its energy.
    pub own: EnergyInTime,
    /// The baseline's.
    pub baseline: EnergyInTime,
    /// Its cycles.
    pub cycles: u64,
    /// The baseline's.
    pub baseline_cycles: u64,
}

impl Against {
    /// Ratios by name, the unit last.
    pub fn ratios(&self) -> Vec<(&'static str, Option<f64>)> {
        let Self { own, baseline, cycles, baseline_cycles } = *self;
        let percent = |own: f64, of: f64| (of != 0.0).then(|| own / of * 100.0);
        let of = |own: u64, of: u64| percent(own as f64, of as f64);
        let delay = |energy: EnergyInTime, cycles: u64| energy.total_fj as f64 * cycles as f64;
        vec![
            ("leakage_share_percent", of(own.leakage_fj, own.total_fj)),
            ("leakage_relative_percent", of(own.leakage_fj, baseline.total_fj)),
            ("dynamic_energy_relative_percent", of(own.dynamic_fj, baseline.dynamic_fj)),
            ("total_energy_relative_percent", of(own.total_fj, baseline.total_fj)),
            ("cycles_relative_percent", of(cycles, baseline_cycles)),
            ("ipc_relative_percent", of(baseline_cycles, cycles)),
            (
                "energy_delay_relative_percent",
                percent(delay(own, cycles), delay(baseline, baseline_cycles)),
            ),
        ]
    }
}

/// Writes of the cells of the main register file over the whole run. A cell is a physical register
/// of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Endurance {
    /// Writes of the cell that is written most.
    pub writes_max: u64,
    /// Writes of a cell on average.
    pub writes_mean: f64,
    /// Cells.
    pub cells: u64,
}

impl Endurance {
    /// From the writes of each cell; none if there are no cells.
    pub fn of(writes: &[u64]) -> Option<Self> {
        let writes_max = *writes.iter().max()?;
        let all: u128 = writes.iter().map(|&writes| u128::from(writes)).sum();
        let writes_mean = rounded(all as f64 / writes.len() as f64);
        Some(Self { writes_max, writes_mean, cells: writes.len() as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::price;
    use strata_core::event::{Counters, Event};
    use strata_design::resolve;

    #[test]
    fn leakage_dynamic_and_total_add_up() {
        let mut counters = Counters::default();
        counters.record(Event::MrfReadPrivate, 3);
        counters.record(Event::MrfWritePrivate, 2);
        let of = |name: &str, cycles| {
            let design = resolve(name).unwrap();
            let energy = price(&design, &counters).unwrap();
            EnergyInTime::of(&design, energy.as_ref(), cycles)
        };
        // 8 x 128 bits x (3 x 0.37 + 2 x 0.32) pJ; 400 mW over 7 cycles of 0.7 GHz, 10 ns.
        let sram = of("warrf-gtx480", 7).unwrap();
        assert_eq!((sram.dynamic_fj, sram.leakage_fj), (1_792_000, 4_000_000));
        assert_eq!(sram.total_fj, sram.dynamic_fj + sram.leakage_fj);
        assert!((sram.average_power_mw - 579.2).abs() < 1e-6, "{sram:?}");
        assert!((sram.energy_delay_fj_s - 0.05792).abs() < 1e-9, "{sram:?}");
        let sttram = of("sttram", 14).unwrap();
        assert_eq!((sttram.dynamic_fj, sttram.leakage_fj), (2_764_800, 96_000));
        let printed = of("sttram-as-printed", 14).unwrap();
        assert_eq!((printed.dynamic_fj, printed.leakage_fj), (2_764_800, 96));
        let ratios = Against { own: sttram, baseline: sram, cycles: 14, baseline_cycles: 7 };
        let ratios = ratios.ratios();
        let ratio = |name: &str| ratios.iter().find(|(key, _)| *key == name).unwrap().1.unwrap();
        assert!((ratio("cycles_relative_percent") - 200.0).abs() < 1e-9);
        assert!((ratio("ipc_relative_percent") - 50.0).abs() < 1e-9);
        assert!((ratio("total_energy_relative_percent") - 2860.8 / 57.92).abs() < 1e-9);
        assert!((ratio("energy_delay_relative_percent") - 2.0 * 2860.8 / 57.92).abs() < 1e-9);
        assert_eq!(of("sttram", 0).unwrap_err(), "nothing ran");
        assert!(of("isca11", 7).unwrap_err().contains("no leakage of a bank"));
        assert!(of("isca11-rfc13", 7).unwrap_err().contains("accesses is not known"));
        assert!(of("warrf-gtx480", u64::MAX).unwrap_err().contains("does not fit"));
    }

    #[test]
    fn wear_is_the_most_and_the_mean() {
        let worn = Endurance::of(&[3, 0, 10, 1]).unwrap();
        assert_eq!((worn.writes_max, worn.cells), (10, 4));
        assert!((worn.writes_mean - 3.5).abs() < 1e-9);
        assert_eq!(Endurance::of(&[]), None);
        assert_eq!(Endurance::of(&[u64::MAX, u64::MAX]).unwrap().writes_max, u64::MAX);
    }
}
