//! Energy of an SM with all its storage, in reports: in each technology, by what spent it, and
//! beside that of the machine's baseline.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::storage_energy::StorageEnergy;

use super::rounded::rounded;

/// Energy of an SM with all its storage, and of DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StorageEnergyReport {
    /// The design whose time says what the core spends, and with which this one is compared.
    pub baseline: String,
    /// Its cycles for the same launches; null if they do not run on it, which `unavailable` says.
    pub baseline_cycles: Option<u64>,
    /// Why there is no energy in any technology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// One for each technology.
    pub technologies: Vec<InTechnology>,
}

/// The same in one technology.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InTechnology {
    /// The technology's name.
    pub technology: String,
    /// Why there is no energy, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Energy by what spent it; `total` is the sum of the others. Unit: femtojoules.
    pub energy_fj: Option<BTreeMap<String, u64>>,
    /// The total over the time of the run. Unit: milliwatts.
    pub average_power_mw: Option<f64>,
    /// Against the baseline, of which the technology may not know the energy. Percent.
    pub relative: Option<Relative>,
}

/// A run against the baseline's, in percent of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Relative {
    /// The baseline's cycles, relative to the run's.
    pub performance_percent: f64,
    /// Energy.
    pub energy_percent: f64,
    /// Performance for each watt of average power: the time of the run cancels, so that it is the
    /// inverse of the energy.
    pub performance_per_watt_percent: f64,
    /// Performance for each joule: the inverse of the energy-delay product (DEV-089).
    pub performance_per_joule_percent: f64,
}

impl Relative {
    /// A run against the baseline's; none if one of them took no time or no energy.
    pub fn of(own: &StorageEnergy, baseline: &StorageEnergy) -> Option<Self> {
        let (energy, of) = (own.total().0 as f64, baseline.total().0 as f64);
        let performance = own.performance_ppm()? as f64 / 1e6;
        if energy == 0.0 || of == 0.0 {
            return None;
        }
        let percent = |ratio: f64| rounded(100.0 * ratio);
        Some(Self {
            performance_percent: percent(performance),
            energy_percent: percent(energy / of),
            performance_per_watt_percent: percent(of / energy),
            performance_per_joule_percent: percent(performance * of / energy),
        })
    }
}

impl InTechnology {
    /// What a run spends in a technology, beside the baseline's; or why that is not known.
    pub fn of<E: ToString>(
        technology: &str,
        own: Result<StorageEnergy, E>,
        baseline: Option<&StorageEnergy>,
    ) -> Self {
        let technology = technology.to_owned();
        match own {
            Ok(own) => Self {
                technology,
                unavailable: None,
                energy_fj: Some(by_name(&own)),
                average_power_mw: own.power_nw().map(|power| rounded(power as f64 * 1e-6)),
                relative: baseline.and_then(|baseline| Relative::of(&own, baseline)),
            },
            Err(reason) => Self {
                technology,
                unavailable: Some(reason.to_string()),
                energy_fj: None,
                average_power_mw: None,
                relative: None,
            },
        }
    }

    /// What a part spent, or all together (`total`). Unit: femtojoules.
    pub fn part(&self, name: &str) -> Option<u64> {
        self.energy_fj.as_ref()?.get(name).copied()
    }
}

/// Each part's energy by its name, and the total. Unit: femtojoules.
fn by_name(energy: &StorageEnergy) -> BTreeMap<String, u64> {
    let parts = energy.parts().map(|(part, energy)| (part.name().to_owned(), energy.0));
    parts.chain([("total".to_owned(), energy.total().0)]).collect()
}
