//! Technologies of an SM with all its storage: what its banks, its core, its leakage and DRAM cost
//! in one process, each value with its unit and its source. Built in, or from a file of the user's.

mod file;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use strata_core::energy::BankEnergy;
use strata_core::storage_energy::{
    SramBank, SramLeakage, StorageConfiguration, StorageCounts, StorageEnergy, StorageEnergyTable,
};

use super::embedded::embedded;
use super::memory::Sourced;
use super::technology::NoEnergy;
use strata_config::quantity::{Energy, EnergyPerBit, Frequency, Power, Share};

pub(super) use file::chosen;
pub use file::{load, parse};

/// A file with every key.
pub const FORMAT: &str = include_str!("storage_technology/format.toml");

/// What an SM with all its storage costs in one process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageTechnology {
    /// Its name.
    pub name: String,
    /// Where most of it is from.
    pub source: String,
    /// The clock at which it has these powers.
    pub clock: Sourced<Frequency>,
    /// Dynamic power of an SM, but for banks and DRAM.
    pub core_dynamic: Sourced<Power>,
    /// Leakage of an SM without its SRAM.
    pub core_leakage: Sourced<Power>,
    /// Leakage of SRAM, which the core's does not contain.
    pub sram_leakage: Sourced<Power>,
    /// The capacity that leaks so much; any other leaks its share. Unit: KB.
    pub sram_leakage_kb: u32,
    /// Energy of DRAM.
    pub dram_energy: Sourced<EnergyPerBit>,
    /// What accesses of shared memory and cache cost in unified storage beyond their bank's energy.
    pub crossbar: Sourced<Share>,
    /// Banks by capacity; no two have the same.
    #[serde(rename = "bank")]
    pub banks: Vec<StorageBank>,
    /// Assumptions: values that no source gives, one sentence each.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// Whether it comes with the program.
    #[serde(skip)]
    pub built_in: bool,
    /// The file that it was read from, if it was.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// A bank: energy of 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageBank {
    /// Its capacity. Unit: KB.
    pub capacity_kb: u32,
    /// A read.
    pub read: Sourced<Energy>,
    /// A write.
    pub write: Sourced<Energy>,
}

impl StorageTechnology {
    /// Energy of a run. Of counts that are all 0, whether there is energy for a configuration.
    ///
    /// # Errors
    /// It has no bank of a size that the configuration needs, the counts have accesses of storage
    /// that the configuration lacks, or a number does not fit.
    pub fn energy(
        &self,
        configuration: &StorageConfiguration,
        counts: &StorageCounts,
    ) -> Result<StorageEnergy, NoEnergy> {
        let none = |why: String| NoEnergy(format!("technology `{}`: {why}", self.name));
        let banks: Vec<_> = self.banks.iter().map(StorageBank::sram).collect();
        let clock = NonZeroU32::new(self.clock.value.0);
        let (Some(clock_khz), Some(sram_leakage)) = (clock, self.sram_leakage()) else {
            return Err(none("its clock, or the capacity that leaks, is 0".to_owned()));
        };
        let table = StorageEnergyTable {
            banks: &banks,
            crossbar_ppm: self.crossbar.value.0,
            core_dynamic_nw: self.core_dynamic.value.0,
            core_leakage_nw: self.core_leakage.value.0,
            sram_leakage,
            dram_aj_per_bit: self.dram_energy.value.0,
            clock_khz,
        };
        StorageEnergy::of(&table, configuration, counts).map_err(|error| none(error.to_string()))
    }

    /// What SRAM leaks; `None` if that is said of no capacity.
    pub fn sram_leakage(&self) -> Option<SramLeakage> {
        let kilobytes = NonZeroU32::new(self.sram_leakage_kb)?;
        Some(SramLeakage { nanowatts: self.sram_leakage.value.0, kilobytes })
    }

    /// Its bank of so many KB.
    pub fn bank(&self, kilobytes: u32) -> Option<&StorageBank> {
        self.banks.iter().find(|bank| bank.capacity_kb == kilobytes)
    }

    /// Every value with its unit and its source, by the key of its file.
    pub fn values(&self) -> Vec<(String, String, &str)> {
        fn told<T: ToString>(key: impl Into<String>, of: &Sourced<T>) -> (String, String, &str) {
            (key.into(), of.value.to_string(), &of.source)
        }
        let leakage = &self.sram_leakage;
        let leaking = format!("{} for {} KB", leakage.value, self.sram_leakage_kb);
        let mut all = vec![
            told("clock", &self.clock),
            told("core_dynamic", &self.core_dynamic),
            told("core_leakage", &self.core_leakage),
            ("sram_leakage".to_owned(), leaking, &*leakage.source),
            told("dram_energy", &self.dram_energy),
            told("crossbar", &self.crossbar),
        ];
        for bank in &self.banks {
            let key = |what: &str| format!("bank of {} KB, {what}", bank.capacity_kb);
            all.extend([told(key("read"), &bank.read), told(key("write"), &bank.write)]);
        }
        all
    }
}

impl StorageBank {
    fn sram(&self) -> SramBank {
        let access = BankEnergy { read: self.read.value.0, write: self.write.value.0 };
        SramBank { kilobytes: self.capacity_kb, access }
    }
}

static BUILT_IN: LazyLock<Vec<Arc<StorageTechnology>>> = LazyLock::new(|| {
    let files = embedded::<StorageTechnology>(&[
        include_str!("../data/technologies/micro12-32nm.toml"),
        include_str!("../data/technologies/micro12-32nm-as-printed.toml"),
        include_str!("../data/technologies/diss-32nm.toml"),
        include_str!("../data/technologies/diss-32nm-as-printed.toml"),
    ]);
    let built_in = |file| Arc::new(StorageTechnology { built_in: true, ..file });
    files.into_iter().map(built_in).collect()
});

/// A built-in technology by name.
pub fn built_in(name: &str) -> Option<&'static Arc<StorageTechnology>> {
    BUILT_IN.iter().find(|technology| technology.name == name)
}

/// The names of the built-in technologies.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    BUILT_IN.iter().map(|technology| technology.name.as_str())
}
