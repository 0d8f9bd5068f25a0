//! Machines and technologies: the papers' tables of parameters, embedded in the program.

use std::sync::LazyLock;

use serde::Deserialize;
use strata_core::chip_power::{ChipPower, Ratio};
use strata_core::energy::{BankEnergy, EnergyTable, LastResultEnergy, LevelEnergy, WireLengths};

use crate::config::quantity::{Area, Energy, Length, Power, WireEnergy};

/// Most entries for a thread for which the papers give the cache's energy.
pub const MAX_PRICED_ENTRIES: u8 = 8;
/// Most active warps for which the papers give the cache's energy.
pub const MAX_PRICED_WARPS: u8 = 8;

/// Energy and area of storage in one process technology.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technology {
    /// Its name.
    pub name: String,
    /// Where the numbers are printed.
    pub source: String,
    /// Energy of a wire for each 32-bit word.
    pub wire: WireEnergy,
    /// A bank of the main register file.
    pub mrf: Bank,
    /// Register file caches of one lane, as printed.
    pub rfc: Vec<CacheBank>,
    /// The last result file of one lane, if printed.
    pub lrf: Option<CacheBank>,
}

/// A bank: energy of 128 bits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    /// A read.
    pub read: Energy,
    /// A write.
    pub write: Energy,
    /// Area, if printed.
    pub area: Option<Area>,
}

/// A register file cache: energy of 128 bits, area for one lane.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheBank {
    /// Entries for each thread.
    pub entries: u8,
    /// Warps that have entries.
    pub active_warps: u8,
    /// A read.
    pub read: Energy,
    /// A write.
    pub write: Energy,
    /// Area, if printed.
    pub area: Option<Area>,
}

impl CacheBank {
    /// Entries for all warps; energy and area depend on nothing else.
    pub fn total_entries(&self) -> u32 {
        u32::from(self.entries) * u32::from(self.active_warps)
    }
}

impl Bank {
    /// Energy of an access.
    pub fn energy(&self) -> BankEnergy {
        BankEnergy { read: self.read.0, write: self.write.0 }
    }
}

/// Why a design has no energy, as a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoEnergy(pub String);

impl Technology {
    /// The printed cache of this size. A row stands for every split of the same number of entries
    /// between threads and warps: that is how the papers' own rows behave.
    pub fn cache(&self, entries: u8, active_warps: u8) -> Result<&CacheBank, NoEnergy> {
        let total = u32::from(entries) * u32::from(active_warps);
        let row = self.rfc.iter().find(|row| row.total_entries() == total);
        if entries > MAX_PRICED_ENTRIES || active_warps > MAX_PRICED_WARPS {
            return Err(NoEnergy(format!(
                "no table prints the energy of a cache of {entries} entries for {active_warps} \
                 warps: the largest have {MAX_PRICED_ENTRIES} entries and {MAX_PRICED_WARPS} warps"
            )));
        }
        row.ok_or_else(|| {
            NoEnergy(format!(
                "{} prints no energy of a cache of {entries} entries for {active_warps} warps, nor \
                 of another split of {total} entries",
                self.source
            ))
        })
    }

    /// The printed last result file for this many warps.
    pub fn last_result_file(&self, active_warps: u8) -> Result<&CacheBank, NoEnergy> {
        let row = self.lrf.as_ref().filter(|row| row.active_warps == active_warps);
        row.ok_or_else(|| {
            NoEnergy(format!(
                "{} prints no energy of a last result file for {active_warps} warps",
                self.source
            ))
        })
    }
}

/// An SM, as one paper describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its name, and that of its baseline design.
    pub name: String,
    /// Where the parameters are printed.
    pub source: String,
    /// Name of its technology.
    pub technology: String,
    /// Sizes.
    pub sm: Sm,
    /// Latencies.
    pub latency_cycles: Latencies,
    /// Its designs with a register file cache.
    pub rfc: CacheFamily,
    /// Distances.
    pub wires: Wires,
    /// The chip around it.
    pub chip: Chip,
    /// Values that the source does not print.
    #[serde(default)]
    pub assumed: Vec<Assumption>,
}

/// Sizes of an SM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    /// SMs of the chip.
    pub count: u32,
    /// Threads of a warp, and lanes.
    pub lanes: u32,
    /// Lanes that share register banks.
    pub lanes_per_cluster: u32,
    /// Resident warps.
    pub warps: u32,
    /// Main register file.
    pub register_file_kb: u32,
    /// One of its banks.
    pub register_bank_kb: u32,
    /// Width of a bank.
    pub bank_access_bits: u32,
    /// Shared memory.
    pub shared_memory_kb: u32,
    /// Its bandwidth.
    pub shared_memory_bytes_per_cycle: u32,
    /// Bandwidth to memory.
    pub dram_bytes_per_cycle: u32,
    /// Operands that the widest instruction reads.
    pub read_operands: u32,
    /// Results that an instruction writes.
    pub written_results: u32,
}

/// Latencies. Unit: cycles.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Private datapath.
    pub alu: u32,
    /// Special functions.
    pub sfu: u32,
    /// Shared memory.
    pub shared_memory: u32,
    /// Texture.
    pub texture: u32,
    /// Memory.
    pub dram: u32,
}

/// How a machine's designs with a cache are called and sized.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheFamily {
    /// Names are `PREFIX-rfcN`.
    pub prefix: String,
    /// Largest N.
    pub max_entries: u8,
    /// Active warps of the two-level scheduler.
    pub active_warps: u8,
}

/// Distances between storage and execution units.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wires {
    /// Main register file to private datapath.
    pub mrf_private: Length,
    /// Main register file to shared datapath.
    pub mrf_shared: Length,
    /// Register file cache to private datapath.
    pub rfc_private: Length,
    /// Register file cache to shared datapath.
    pub rfc_shared: Length,
    /// Last result file to private datapath; a machine without it has no designs with one.
    pub lrf_private: Option<Length>,
}

/// The chip-level power model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// All of it.
    pub power: Power,
    /// Share of leakage: numerator, denominator.
    pub leakage: [u64; 2],
    /// Share of the dynamic power that the SMs spend.
    pub sms_share: [u64; 2],
    /// Share of an SM's power that the register file spends.
    pub register_file: [u64; 2],
    /// Share of the chip's dynamic power that one more instruction bit costs at most.
    pub encoding_bit: [u64; 2],
}

/// A value that is not printed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// What is assumed.
    pub what: String,
    /// The key of the machine's file that holds the value.
    pub key: String,
}

impl Assumption {
    /// It matters only to designs with a register file cache.
    pub fn only_with_cache(&self) -> bool {
        self.key.starts_with("wires.rfc_")
    }
}

impl Machine {
    /// Its technology.
    ///
    /// # Panics
    /// Never: all machines are embedded, and a test finds the technology of each.
    pub fn technology(&self) -> &'static Technology {
        TECHNOLOGIES
            .iter()
            .find(|technology| technology.name == self.technology)
            .expect("invariant: a test finds the technology of every embedded machine")
    }

    /// What accesses cost in a design with this cache, given as entries and active warps.
    pub fn energy(&self, cache: Option<(u8, u8)>) -> Result<EnergyTable, NoEnergy> {
        let technology = self.technology();
        let rfc = match cache {
            None => None,
            Some((entries, active_warps)) => {
                let row = technology.cache(entries, active_warps)?;
                let bank = BankEnergy { read: row.read.0, write: row.write.0 };
                Some(LevelEnergy { bank, wires: self.rfc_wires() })
            }
        };
        let wire_per_mm_per_32bit = technology.wire.0;
        Ok(EnergyTable {
            mrf: self.mrf_energy(),
            rfc,
            lrf: None,
            orf: None,
            write_pool: None,
            wire_per_mm_per_32bit,
        })
    }

    /// The main register file's part of the energy table, which every design has.
    pub fn mrf_energy(&self) -> LevelEnergy {
        let wires = WireLengths {
            private_um: self.wires.mrf_private.0,
            shared_um: self.wires.mrf_shared.0,
        };
        LevelEnergy { bank: self.technology().mrf.energy(), wires }
    }

    /// Whether it has designs with a last result file.
    pub fn has_last_result_file(&self) -> bool {
        self.wires.lrf_private.is_some()
    }

    /// The last result file's part of the energy table, for this many active warps.
    pub fn last_result_energy(&self, active_warps: u8) -> Result<LastResultEnergy, NoEnergy> {
        let row = self.technology().last_result_file(active_warps)?;
        let length = self.wires.lrf_private.ok_or_else(|| {
            NoEnergy(format!("{} prints no distance of a last result file", self.source))
        })?;
        let bank = BankEnergy { read: row.read.0, write: row.write.0 };
        Ok(LastResultEnergy { bank, private_um: length.0 })
    }

    /// Distances of the register file cache.
    pub fn rfc_wires(&self) -> WireLengths {
        WireLengths { private_um: self.wires.rfc_private.0, shared_um: self.wires.rfc_shared.0 }
    }

    /// The power model of the chip.
    pub fn chip_power(&self) -> ChipPower {
        let ratio = |[numerator, denominator]: [u64; 2]| Ratio::new(numerator, denominator);
        ChipPower {
            chip_nw: self.chip.power.0,
            leakage: ratio(self.chip.leakage),
            sms_share: ratio(self.chip.sms_share),
            sms: u64::from(self.sm.count),
            register_file: ratio(self.chip.register_file),
            encoding_bit: ratio(self.chip.encoding_bit),
        }
    }
}

static TECHNOLOGIES: LazyLock<Vec<Technology>> = LazyLock::new(|| {
    embedded(&[
        include_str!("../../data/technologies/isca11-40nm.toml"),
        include_str!("../../data/technologies/dissertation-40nm.toml"),
    ])
});

static MACHINES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    embedded(&[
        include_str!("../../data/machines/isca11.toml"),
        include_str!("../../data/machines/dissertation.toml"),
    ])
});

/// Every machine, in a fixed order.
pub fn machines() -> &'static [Machine] {
    &MACHINES
}

/// A machine by name.
pub fn machine(name: &str) -> Option<&'static Machine> {
    MACHINES.iter().find(|machine| machine.name == name)
}

fn embedded<T: serde::de::DeserializeOwned>(files: &[&str]) -> Vec<T> {
    let parse = |file: &&str| toml::from_str(file);
    let parsed: Result<_, _> = files.iter().map(parse).collect();
    parsed.expect("invariant: a test parses every embedded file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::units::Femtojoules;

    #[test]
    fn every_embedded_machine_is_complete() {
        assert_eq!(TECHNOLOGIES.len(), 2);
        let names: Vec<_> = machines().iter().map(|machine| machine.name.as_str()).collect();
        assert_eq!(names, ["isca11", "dissertation"]);
        for machine in machines() {
            assert_eq!(machine.technology().name, machine.technology);
            assert_eq!(machine.sm.lanes, strata_core::units::LANES);
            assert_eq!(machine.sm.lanes_per_cluster, strata_core::units::LANES_PER_CLUSTER);
            assert_eq!(machine.sm.warps, u32::from(strata_core::organisation::MAX_ACTIVE_WARPS));
            assert!(machine.chip_power().sm_nw().is_some());
        }
    }

    #[test]
    fn printed_sizes_have_energy_and_others_a_reason() {
        let isca11 = machine("isca11").unwrap();
        let table = isca11.energy(Some((6, 8))).unwrap();
        let rfc = table.rfc.unwrap();
        assert_eq!(rfc.bank.read, Femtojoules(2200));
        assert_eq!(rfc.bank.write, Femtojoules(6700));
        assert_eq!(rfc.wires, WireLengths { private_um: 200, shared_um: 200 });
        // 3 entries for 8 warps are the 24 entries printed as 4 for 6.
        assert_eq!(isca11.energy(Some((3, 8))), isca11.energy(Some((4, 6))));
        for (entries, warps, reason) in [
            (5, 8, "prints no energy of a cache of 5 entries for 8 warps"),
            (9, 8, "the largest have 8 entries and 8 warps"),
            (6, 32, "the largest have 8 entries and 8 warps"),
            (12, 4, "the largest have 8 entries and 8 warps"),
            (1, 8, "another split of 8 entries"),
        ] {
            let error = isca11.energy(Some((entries, warps))).unwrap_err().to_string();
            assert!(error.contains(reason), "{entries} x {warps}: {error}");
        }
        let dissertation = machine("dissertation").unwrap();
        for entries in 1..=8 {
            assert!(dissertation.energy(Some((entries, 8))).is_ok(), "{entries}");
        }
        let wires = dissertation.energy(Some((6, 8))).unwrap().rfc.unwrap().wires;
        assert_eq!(wires, WireLengths { private_um: 200, shared_um: 400 });
        assert_eq!(dissertation.energy(None).unwrap().rfc, None);
        let last = dissertation.last_result_energy(8).unwrap();
        assert_eq!((last.bank.read, last.bank.write), (Femtojoules(700), Femtojoules(2000)));
        assert_eq!(last.private_um, 50);
        let reason = "prints no energy of a last result file for 4 warps";
        assert!(dissertation.last_result_energy(4).unwrap_err().to_string().contains(reason));
        assert!(dissertation.has_last_result_file() && !isca11.has_last_result_file());
        assert!(isca11.last_result_energy(8).is_err());
    }
}
