//! Machines: the papers' tables of parameters, embedded in the program.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use strata_compiler::hierarchy::Lrf;
use strata_core::arbiter::BankPorts;
use strata_core::bank_layout::BankLayout;
use strata_core::chip_power::{ChipPower, Ratio};
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy, WireCharge, WireLengths};
use strata_core::level::Level;
use strata_core::organisation::{Organisation, OrganisationSettings, Scheduling};
use strata_core::sm::config::{ActiveLimitKind, Scheduler, Schedulers, StorageKind};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::units::Femtojoules;

use super::data_cache::DataCacheTable;
use super::embedded::embedded;
use super::memory::{MainMemory, Memories, MemoryKind, memories};
use super::second_level::{self, GddrTable, L2Table};
use super::storage::StorageTable;
use super::storage_technology::{self, StorageTechnology};
use super::technology::technology;
pub use super::technology::{CacheBank, NoEnergy, Technology};
use strata_config::by_name::ByName;
use strata_config::quantity::{Frequency, Length, Power};

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
    /// Name of the technology whose caches are scaled to this machine's, if its own has none.
    pub small_levels: Option<String>,
    /// Names of the technologies by which the energy of its storage is reported.
    #[serde(default)]
    pub storage_technologies: Vec<String>,
    /// Clock of the SM.
    pub clock: Frequency,
    /// Active warps of the baseline's two-level scheduler; with a single level if absent.
    pub baseline_active_warps: Option<u8>,
    /// The baseline's compiler-managed hierarchy; a flat register file if absent.
    pub baseline_orf: Option<BaselineOrf>,
    /// The primary data cache of all its designs, if they have one.
    pub data_cache: Option<DataCacheTable>,
    /// What lies below the cache, if that is not DRAM of a fixed latency.
    pub gddr: Option<GddrTable>,
    /// The second level of cache in front of that.
    pub l2: Option<L2Table>,
    /// Its designs that differ in how registers are given to warps and in which warps issue.
    #[serde(default)]
    pub manager: Vec<ManagerVariant>,
    /// Its designs whose storage is divided for each application.
    #[serde(default)]
    pub storage: Vec<StorageVariant>,
    /// Another technology that its designs can have, if there is one.
    pub alternative: Option<Alternative>,
    /// Sizes.
    pub sm: Sm,
    /// Operand collectors, of a machine that has them.
    pub collectors: Option<Collectors>,
    /// Latencies.
    pub latency_cycles: Latencies,
    /// Its designs with a register file cache.
    pub rfc: CacheFamily,
    /// Its designs with another main register file.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// Distances; none where the source has none, which is as if all were 0.
    pub wires: Option<Wires>,
    /// The chip around it, if the source has a model of it.
    pub chip: Option<Chip>,
    /// Values that the source does not print.
    #[serde(default)]
    pub assumed: Vec<Assumption>,
}

/// A technology that a suffix names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// At the end of a design's name.
    pub suffix: String,
    /// Name of the technology.
    pub technology: String,
}

/// Operand collectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collectors {
    /// Units.
    pub units: u8,
    /// Banks behind the arbiter.
    pub banks: u8,
    /// What a bank does at a time, if not one access.
    pub bank_ports: Option<ByName<BankPorts>>,
    /// Where registers lie in the banks, if not skewed by warp.
    pub bank_layout: Option<ByName<BankLayout>>,
}

/// A design with another main register file than the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name, to which names of upper levels are appended.
    pub name: String,
    /// What the main register file is made of.
    pub memory: ByName<MemoryKind>,
    /// With split bank writes.
    #[serde(default)]
    pub split_bank_write: bool,
    /// Entries of its write pool.
    #[serde(default)]
    pub write_pool_entries: u8,
    /// Instructions that issue in a cycle, if not as many as on the machine.
    pub issue_slots: Option<u8>,
}

/// A compiler-managed hierarchy of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineOrf {
    /// Entries of the operand register file for each thread.
    pub entries: u8,
    /// The last result file.
    pub lrf: ByName<Lrf>,
}

/// A design whose storage is divided for each application.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageVariant {
    /// Its name.
    pub name: String,
    /// How it is divided.
    pub division: StorageTable,
}

/// A design that differs in how registers are given to warps, or in which warps issue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagerVariant {
    /// Its name.
    pub name: String,
    /// How registers are given to warps.
    pub manager: ByName<StorageKind>,
    /// Which warp issues.
    pub scheduler: ByName<Scheduler>,
    /// Active warps of a two-level scheduler; with a single level if absent.
    pub active_warps: Option<u8>,
    /// What limits them, if not their number.
    pub active_limit: Option<ByName<ActiveLimitKind>>,
    /// The register file, if not the machine's.
    pub register_file_kb: Option<u32>,
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
    /// Resident CTAs, if the source has no limit other than Fermi's 8.
    pub ctas: Option<u8>,
    /// Instructions that issue in a cycle.
    pub issue_slots: u8,
    /// Which warps each chooses among, if not all.
    pub schedulers: Option<ByName<Schedulers>>,
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
    /// The technology of its caches, which are scaled to its main register file where that is of
    /// another.
    ///
    /// # Panics
    /// Never: all machines are embedded, and a test finds the technology of each.
    pub fn technology(&self) -> &'static Technology {
        technology(self.small_levels.as_ref().unwrap_or(&self.technology))
            .expect("invariant: a test finds the technology of every embedded machine")
    }

    /// What its main register file can be made of, if its technology says so.
    pub fn memories(&self) -> Option<&'static Arc<Memories>> {
        memories(&self.technology)
    }

    /// The primary data cache of its designs, if they have one.
    ///
    /// # Panics
    /// Never: all machines are embedded, and a test builds every design of each.
    pub(super) fn data_cache(&self) -> Option<CachedSettings> {
        const RIGHT: &str = "invariant: embedded tables are right";
        let cache = self.data_cache.as_ref()?.settings(&self.name, None).expect(RIGHT);
        let (l2, gddr) = (self.l2.as_ref(), self.gddr.as_ref());
        let l2 = second_level::settings(&self.name, l2, gddr, self.clock).expect(RIGHT);
        Some(CachedSettings { l2: l2.or(cache.l2), ..cache })
    }

    /// The technologies by which the energy of its storage is reported.
    ///
    /// # Panics
    /// Never: all machines are embedded, and a test finds the technologies of each.
    pub(super) fn storage_technologies(&self) -> Vec<Arc<StorageTechnology>> {
        let found = |name: &String| storage_technology::built_in(name).map(Arc::clone);
        let all: Option<_> = self.storage_technologies.iter().map(found).collect();
        all.expect("invariant: a test finds the technologies of every embedded machine")
    }

    /// Why its designs have no energy of their register files, of a machine whose sources print no
    /// values of the small levels.
    pub fn unpriced_levels(&self) -> Option<NoEnergy> {
        self.baseline_orf.is_some().then(|| {
            NoEnergy(format!(
                "{} prints no energy of the small levels at 32 nm: the energy of its storage is \
                 that of banks, leakage and DRAM",
                self.source
            ))
        })
    }

    /// What its baseline's main register file is made of, if its technology says so.
    pub fn memory(&self) -> Option<MainMemory> {
        MainMemory::new(self.memories()?, MemoryKind::Sram)
    }

    /// The variant with a flat SRAM register file in which this many instructions issue in a cycle,
    /// if there is one.
    pub fn sram_variant(&self, issue_slots: u8) -> Option<&Variant> {
        self.variant.iter().find(|variant| {
            variant.memory.0 == MemoryKind::Sram && variant.issue_slots == Some(issue_slots)
        })
    }

    /// The organisation of its baseline: a flat register file.
    pub fn organisation(&self) -> OrganisationSettings {
        let flat = *Organisation::FLAT.settings();
        let two_level = |active_warps| Scheduling::TwoLevel { active_warps };
        let scheduling = self.baseline_active_warps.map_or(flat.scheduling, two_level);
        OrganisationSettings { scheduling, ..flat }
    }

    /// Its distances, all 0 where it has none.
    pub fn distances(&self) -> Wires {
        let zero = || Length(0);
        self.wires.clone().unwrap_or_else(|| Wires {
            mrf_private: zero(),
            mrf_shared: zero(),
            rfc_private: zero(),
            rfc_shared: zero(),
            lrf_private: Some(zero()),
        })
    }

    /// Energy of a wire for each millimetre and 32-bit word; 0 where it has no wires.
    pub fn wire_energy(&self) -> Femtojoules {
        self.wires.as_ref().map_or(Femtojoules(0), |_| self.technology().wire.0)
    }

    /// What accesses cost in a design with this cache, given as entries and active warps.
    pub fn energy(&self, cache: Option<(u8, u8)>) -> Result<EnergyTable, NoEnergy> {
        let technology = self.technology();
        let rfc = match cache {
            None => None,
            Some((entries, active_warps)) => {
                let row = technology.cache(entries, active_warps)?;
                let bank = BankEnergy { read: row.read.0, write: row.write.0 };
                Some(LevelEnergy::new(bank, self.rfc_wires()))
            }
        };
        let flat = EnergyTable::flat(self.mrf_energy(), self.wire_energy(), WireCharge::default());
        Ok(flat.with(Level::Rfc, rfc))
    }

    /// The main register file's part of the energy table, which every design has.
    pub fn mrf_energy(&self) -> LevelEnergy {
        let Wires { mrf_private, mrf_shared, .. } = self.distances();
        let wires = WireLengths { private_um: mrf_private.0, shared_um: mrf_shared.0 };
        let own = || self.technology().mrf.energy();
        LevelEnergy::new(self.memory().map_or_else(own, |memory| memory.bank_energy()), wires)
    }

    /// Whether it has designs with a last result file.
    pub fn has_last_result_file(&self) -> bool {
        self.distances().lrf_private.is_some() && self.manager.is_empty()
    }

    /// The last result file's part of the energy table, for this many active warps.
    pub fn last_result_energy(&self, active_warps: u8) -> Result<LevelEnergy, NoEnergy> {
        let row = self.technology().last_result_file(active_warps)?;
        let length = self.distances().lrf_private.ok_or_else(|| {
            NoEnergy(format!("{} prints no distance of a last result file", self.source))
        })?;
        let bank = BankEnergy { read: row.read.0, write: row.write.0 };
        Ok(LevelEnergy::new(bank, only_private(length.0)))
    }

    /// Distances of the register file cache.
    pub fn rfc_wires(&self) -> WireLengths {
        let Wires { rfc_private, rfc_shared, .. } = self.distances();
        WireLengths { private_um: rfc_private.0, shared_um: rfc_shared.0 }
    }

    /// The power model of the chip, if the source has one.
    pub fn chip_power(&self) -> Option<ChipPower> {
        let ratio = |[numerator, denominator]: [u64; 2]| Ratio::new(numerator, denominator);
        let chip = self.chip.as_ref()?;
        Some(ChipPower {
            chip_nw: chip.power.0,
            leakage: ratio(chip.leakage),
            sms_share: ratio(chip.sms_share),
            sms: u64::from(self.sm.count),
            register_file: ratio(chip.register_file),
            encoding_bit: ratio(chip.encoding_bit),
        })
    }
}

/// The wires of a level that only the private datapath reaches.
pub(super) const fn only_private(private_um: u32) -> WireLengths {
    WireLengths { private_um, shared_um: private_um }
}

static MACHINES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    embedded(&[
        include_str!("../data/machines/isca11.toml"),
        include_str!("../data/machines/dissertation.toml"),
        include_str!("../data/machines/warrf-gtx480.toml"),
        include_str!("../data/machines/micro12.toml"),
        include_str!("../data/machines/diss-ch7.toml"),
        include_str!("../data/machines/expars-gtx480.toml"),
        include_str!("../data/machines/expars-maxwell.toml"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::units::Femtojoules;

    #[test]
    fn every_embedded_machine_is_complete() {
        let names: Vec<_> = machines().iter().map(|machine| machine.name.as_str()).collect();
        let all = [
            "isca11",
            "dissertation",
            "warrf-gtx480",
            "micro12",
            "diss-ch7",
            "expars-gtx480",
            "expars-maxwell",
        ];
        assert_eq!(names, all);
        for machine in machines() {
            let small = machine.small_levels.as_ref().unwrap_or(&machine.technology);
            assert_eq!(&machine.technology().name, small);
            assert_eq!(machine.memories().is_some(), machine.small_levels.is_some());
            let alternative = machine.alternative.as_ref();
            assert!(alternative.is_none_or(|other| memories(&other.technology).is_some()));
            assert_eq!(machine.sm.lanes, strata_core::units::LANES);
            assert_eq!(machine.sm.lanes_per_cluster, strata_core::units::LANES_PER_CLUSTER);
            assert!(machine.chip_power().is_none_or(|chip| chip.sm_nw().is_some()));
            let priced = machine.storage_technologies();
            assert!(priced.iter().all(|technology| technology.clock.value == machine.clock));
            assert_eq!(priced.is_empty(), machine.storage.is_empty());
        }
    }

    #[test]
    fn printed_sizes_have_energy_and_others_a_reason() {
        let isca11 = machine("isca11").unwrap();
        let table = isca11.energy(Some((6, 8))).unwrap();
        let rfc = table.level(Level::Rfc).unwrap();
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
        let wires = dissertation.energy(Some((6, 8))).unwrap().level(Level::Rfc).unwrap().wires;
        assert_eq!(wires, WireLengths { private_um: 200, shared_um: 400 });
        assert_eq!(dissertation.energy(None).unwrap().level(Level::Rfc), None);
        let last = dissertation.last_result_energy(8).unwrap();
        assert_eq!((last.bank.read, last.bank.write), (Femtojoules(700), Femtojoules(2000)));
        assert_eq!(last.wires.private_um, 50);
        let reason = "prints no energy of a last result file for 4 warps";
        assert!(dissertation.last_result_energy(4).unwrap_err().to_string().contains(reason));
        assert!(dissertation.has_last_result_file() && !isca11.has_last_result_file());
        assert!(isca11.last_result_energy(8).is_err());
    }
}
