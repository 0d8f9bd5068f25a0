//! Parts: what a design is made from, before it is checked.

use std::sync::Arc;

use strata_core::energy::{BankEnergy, WireCharge, WireLengths};
use strata_core::level::Level;
use strata_core::organisation::{
    LevelSettings, MAX_ACTIVE_WARPS, Organisation, OrganisationError, OrganisationSettings,
    Scheduling,
};
use strata_core::register_file_cache::{ConfigError as CacheError, MAX_ENTRIES};
use strata_core::sm::config::{SmConfig, SmSettings, StorageKind};
use strata_core::sm::memory::bank_conflicts::{BankConflictError, BankConflicts};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::memory::touched::BankMapping;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::sm::partition::Division;
use strata_core::units::Femtojoules;

use super::checks::combination;
use super::delivery::{Delivery, PoolReadEnergy};
use super::design::Design;
use super::interpolation::MissingEnergy;
use super::machine::{BaselineOrf, Machine, ManagerVariant, StorageVariant, Variant, machines};
use super::managed::Managed;
use super::memory::{MainMemory, memories};
use super::sm;
use super::storage::Storage;
use super::storage_technology::StorageTechnology;
use strata_config::ConfigError;

/// What is assumed of every write pool.
pub(super) const POOL_LEAKAGE: &str =
    "the leakage of the write pool is not printed and not charged";

/// Values of a level that replace the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelValues {
    pub(super) read: Option<Femtojoules>,
    pub(super) write: Option<Femtojoules>,
    pub(super) private_um: Option<u32>,
    pub(super) shared_um: Option<u32>,
}

impl LevelValues {
    /// The bank, where all of it is given.
    pub(super) fn bank(self) -> Option<BankEnergy> {
        Some(BankEnergy { read: self.read?, write: self.write? })
    }

    /// A bank with what is given in place of its own.
    pub(super) fn either(self, own: BankEnergy) -> BankEnergy {
        BankEnergy { read: self.read.unwrap_or(own.read), write: self.write.unwrap_or(own.write) }
    }

    /// Wires with what is given in place of their own.
    pub(super) fn wires(self, own: WireLengths) -> WireLengths {
        WireLengths {
            private_um: self.private_um.unwrap_or(own.private_um),
            shared_um: self.shared_um.unwrap_or(own.shared_um),
        }
    }
}

/// Energy values that replace the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EnergyOverrides {
    pub(super) levels: [LevelValues; Level::COUNT],
    pub(super) wire: Option<Femtojoules>,
}

impl EnergyOverrides {
    pub(super) const fn level(&self, level: Level) -> LevelValues {
        self.levels[level as usize]
    }
}

/// What a design is made from.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) name: String,
    /// What names of the same main register file with other upper levels begin with.
    pub(super) family: String,
    pub(super) machine: &'static Machine,
    pub(super) settings: OrganisationSettings,
    pub(super) managed: Option<Managed>,
    pub(super) partial_warp_energy: bool,
    pub(super) sorted_registers: bool,
    pub(super) pool_read_energy: PoolReadEnergy,
    pub(super) sm: SmSettings,
    pub(super) data_cache: Option<CachedSettings>,
    /// How the storage is divided, if it is divided for each application.
    pub(super) storage: Option<Storage>,
    /// The technologies by which the energy of the storage is reported.
    pub(super) storage_technologies: Vec<Arc<StorageTechnology>>,
    /// How operands come to the units.
    pub(super) delivery: Delivery,
    /// What the main register file is made of; none where the machine's own bank is.
    pub(super) memory: Option<MainMemory>,
    pub(super) energy: EnergyOverrides,
    /// What becomes of energy that no table prints.
    pub(super) missing_energy: MissingEnergy,
    /// Which wires a value pays for that has travelled before.
    pub(super) wire_charge: WireCharge,
    pub(super) source: String,
    pub(super) assumed: Vec<String>,
}

impl Parts {
    /// The machine's baseline.
    pub(super) fn baseline(machine: &'static Machine) -> Self {
        let mut parts = Self::flat(machine);
        if let Some(BaselineOrf { entries, lrf }) = machine.baseline_orf {
            parts.settings.levels = LevelSettings::CompilerManaged;
            parts.managed = Some(Managed { lrf: lrf.0, ..Managed::new(entries) });
        }
        parts
    }

    /// The machine with a flat register file and the baseline's scheduler.
    pub(super) fn flat(machine: &'static Machine) -> Self {
        Self {
            name: machine.name.clone(),
            family: machine.rfc.prefix.clone(),
            machine,
            settings: machine.organisation(),
            managed: None,
            partial_warp_energy: false,
            sorted_registers: false,
            pool_read_energy: PoolReadEnergy::default(),
            sm: sm::of_machine(machine),
            data_cache: machine.data_cache(),
            storage: None,
            storage_technologies: machine.storage_technologies(),
            delivery: Delivery::of_machine(machine),
            memory: machine.memory(),
            energy: EnergyOverrides::default(),
            missing_energy: MissingEnergy::default(),
            wire_charge: WireCharge::default(),
            source: machine.source.clone(),
            assumed: Vec::new(),
        }
    }

    /// A machine with another main register file.
    pub(super) fn of_variant(machine: &'static Machine, variant: &Variant) -> Self {
        let technology = machine.memories();
        let baseline = Self::baseline(machine);
        Self {
            name: variant.name.clone(),
            family: variant.name.clone(),
            delivery: baseline.delivery.with(variant),
            sm: SmSettings {
                issue_slots: variant.issue_slots.unwrap_or(baseline.sm.issue_slots),
                ..baseline.sm
            },
            memory: technology.and_then(|all| MainMemory::new(all, variant.memory.0)),
            ..baseline
        }
    }

    /// A machine that gives registers to warps, or lets them issue, in another way.
    pub(super) fn of_manager(machine: &'static Machine, variant: &ManagerVariant) -> Self {
        let mut parts = Self::baseline(machine);
        let two_level = |active_warps| Scheduling::TwoLevel { active_warps };
        parts.settings.scheduling = variant.active_warps.map_or(Scheduling::SingleLevel, two_level);
        let sm = &mut parts.sm;
        sm.storage = variant.manager.0;
        sm.scheduler = variant.scheduler.0;
        sm.active_limit = variant.active_limit.map_or(sm.active_limit, |limit| limit.0);
        sm.register_file_bytes =
            variant.register_file_kb.map_or(sm.register_file_bytes, |kb| kb * 1024);
        Self { name: variant.name.clone(), family: variant.name.clone(), ..parts }
    }

    /// A machine whose storage is divided for each application.
    pub(super) fn of_storage(
        machine: &'static Machine,
        variant: &StorageVariant,
    ) -> Result<Self, ConfigError> {
        let baseline = Self::baseline(machine);
        let storage = variant.division.storage(&variant.name, None)?;
        let name = variant.name.clone();
        let mut parts = Self { family: name.clone(), name, ..baseline };
        parts.divide(storage);
        Ok(parts)
    }

    /// What the designs of a family start from: a machine's baseline, or one of its variants.
    pub(super) fn of_family(prefix: &str) -> Option<Self> {
        let of = |machine: &'static Machine| {
            if machine.rfc.prefix == prefix {
                return Some(Self::baseline(machine));
            }
            if let Some(variant) = machine.storage.iter().find(|variant| variant.name == prefix) {
                return Self::of_storage(machine, variant).ok();
            }
            if let Some(variant) = machine.manager.iter().find(|variant| variant.name == prefix) {
                return Some(Self::of_manager(machine, variant));
            }
            let variant = machine.variant.iter().find(|variant| variant.name == prefix)?;
            Some(Self::of_variant(machine, variant))
        };
        machines().iter().find_map(of)
    }

    /// What the division of the storage means for the SM and its cache, before it is known for
    /// which application.
    pub(super) fn divide(&mut self, storage: Storage) {
        let most = |of: fn(&Division) -> u32| storage.divisions.iter().map(of).max().unwrap_or(0);
        self.sm.register_file_bytes = most(|division| division.largest().registers);
        self.sm.shared_memory_bytes = most(|division| division.largest().shared);
        let cache_bytes = most(|division| division.largest().cache);
        let mapping = |cache: CachedSettings| match (storage.is_unified(), cache.mapping) {
            (true, BankMapping::Partitioned) => BankMapping::Simple,
            (true, other) => other,
            (false, _) => BankMapping::Partitioned,
        };
        let cache = self.data_cache;
        self.data_cache =
            cache.map(|cache| CachedSettings { cache_bytes, mapping: mapping(cache), ..cache });
        self.storage = Some(storage);
    }

    /// These parts with the memory's kind in another technology, if it has that kind.
    pub(super) fn in_technology(mut self, name: &str) -> Option<Self> {
        let kind = self.memory.as_ref()?.kind;
        self.memory = Some(MainMemory::new(memories(name)?, kind)?);
        Some(self)
    }

    pub(super) fn build(mut self, origin: &str) -> Result<Design, ConfigError> {
        let organisation =
            Organisation::new(self.settings).map_err(|error| refuse(error, origin))?;
        let clock = self.machine.clock;
        let operand_delivery = self.delivery.settings(self.memory.as_ref(), clock, origin)?;
        self.sm = SmSettings { organisation, operand_delivery, ..self.sm };
        SmConfig::new(self.sm).map_err(|error| sm::refuse(error, origin))?;
        self.check_conflicts(origin)?;
        self.check_storage(origin)?;
        self.check_storage_technologies(origin)?;
        let (flat_energy, energy) = self.price();
        let placement_energy = energy.clone();
        let expands = self.sm.storage == StorageKind::Expars;
        let expansion_energy = expands.then(|| self.price_expansion()).transpose();
        let no_energy = self.machine.unpriced_levels().or(expansion_energy.clone().err());
        let unpriced = |energy| no_energy.clone().map_or(energy, Err);
        let (flat_energy, energy) = (unpriced(flat_energy), unpriced(energy));
        if self.managed.is_some() && self.sorted_registers {
            return Err(ConfigError::Combination {
                file: origin.to_owned(),
                problem: "the compiler places values by the numbers that registers have, which \
                          `registers.sorted` changes"
                    .to_owned(),
                hint: "leave `sorted` out, or start from a base without levels that the compiler \
                       manages"
                    .to_owned(),
            });
        }
        if self.managed.is_some()
            && let Err(reason) = &placement_energy
        {
            return Err(ConfigError::Combination {
                file: origin.to_owned(),
                problem: format!("the compiler places values by their energy: {reason}"),
                hint: "give the energies in `[energy]`, or use a printed size".to_owned(),
            });
        }
        let leakage = self.leakage(self.memory.as_ref());
        let reference = self.reference();
        let flat_leakage = self.leakage(reference.as_ref());
        let mut assumed = self.assumptions(reference.as_ref());
        let missing_energy = self.missing(energy.is_ok(), &mut assumed);
        Ok(Design {
            argument: origin.to_owned(),
            name: self.name,
            family: self.family,
            machine: self.machine,
            managed: self.managed,
            partial_warp_energy: self.partial_warp_energy,
            sorted_registers: self.sorted_registers,
            wire_charge: self.wire_charge,
            pool_read_energy: self.pool_read_energy,
            sm: self.sm,
            data_cache: self.data_cache,
            storage: self.storage,
            storage_technologies: self.storage_technologies,
            memory: self.memory,
            energy,
            placement_energy,
            missing_energy,
            expansion_energy: expansion_energy.ok().flatten(),
            leakage,
            source: self.source,
            assumed,
            changed: Vec::new(),
            delivery: self.delivery,
            reference,
            flat_energy,
            flat_leakage,
        })
    }

    /// What became of energy that no table prints; what is interpolated is assumed.
    fn missing(&self, known: bool, assumed: &mut Vec<String>) -> Option<MissingEnergy> {
        if !known {
            return Some(MissingEnergy::Unknown);
        }
        let before = assumed.len();
        assumed.extend(self.interpolations());
        (assumed.len() > before).then_some(MissingEnergy::Interpolated)
    }

    /// Whether registers and the memory on the chip can meet in banks as the design says.
    fn check_conflicts(&self, origin: &str) -> Result<(), ConfigError> {
        let Some(CachedSettings { mapping, conflicts, l2, .. }) = self.data_cache else {
            return Ok(());
        };
        if l2.is_some() && conflicts == BankConflicts::CycleByCycle {
            return Err(combination(
                origin,
                "`arbitrated` bank conflicts with `[gddr]`: when a line takes its bank must be \
                 known when it is asked for",
                "set `conflicts = \"penalty\"` or \"apart\" in `[data_cache]`, or leave `[gddr]` \
                 out",
            ));
        }
        let SmSettings { operand_delivery, timing, .. } = self.sm;
        let checked = conflicts.check(mapping, operand_delivery, timing.operand_window);
        checked.map_err(|error| {
            let hint = match error {
                BankConflictError::Collectors(_) => {
                    "set `conflicts = \"apart\"` in `[data_cache]`, or leave the collectors out"
                }
                BankConflictError::OperandWindow(_) => {
                    "set `operand_window_cycles = 1` in `[sm]`, or another value of `conflicts`"
                }
                BankConflictError::Banks(_) => "set `banks = 4`",
            };
            combination(origin, &error.to_string(), hint)
        })
    }

    /// Whether the storage can be divided: the banks of operand collectors leave registers empty,
    /// which no division counts.
    fn check_storage(&self, origin: &str) -> Result<(), ConfigError> {
        if self.storage.is_some() && self.sm.storage != StorageKind::Partitioned {
            return Err(combination(
                origin,
                "a register manager with storage that is divided for each application",
                "leave `[registers]` or `[storage]` out",
            ));
        }
        let collected = matches!(self.sm.operand_delivery, OperandDelivery::Collectors(_));
        if self.storage.is_none() || !collected {
            return Ok(());
        }
        Err(combination(
            origin,
            "storage that is divided for each application with operand collectors, whose banks \
             need registers that no division counts",
            "set `operand_delivery = \"fixed-latency\"`, or start from a base with areas",
        ))
    }

    /// Whether the technologies of the storage are of the machine's clock, and the design has a
    /// memory that counts what they price.
    fn check_storage_technologies(&self, origin: &str) -> Result<(), ConfigError> {
        let Some(first) = self.storage_technologies.first() else { return Ok(()) };
        if self.data_cache.is_none() {
            return Err(combination(
                origin,
                &format!(
                    "`storage_technologies` with `{}`, and no memory that counts accesses of \
                     shared memory and cache",
                    first.name
                ),
                "add a `[data_cache]`; with `capacity_kb = 0` it has no cache",
            ));
        }
        let clock = self.machine.clock;
        let other = self.storage_technologies.iter().find(|other| other.clock.value != clock);
        let Some(other) = other else { return Ok(()) };
        Err(combination(
            origin,
            &format!(
                "technology `{}` has its powers at {}, but machine `{}` runs at {clock}",
                other.name, other.clock.value, self.machine.name
            ),
            "name a technology of the machine's clock, or start from another base",
        ))
    }

    /// What is assumed of it, one sentence each.
    fn assumptions(&self, reference: Option<&MainMemory>) -> Vec<String> {
        let mut assumed = self.assumed.clone();
        for assumption in &self.machine.assumed {
            let replaced = assumption.key == "wires.rfc_shared"
                && self.energy.level(Level::Rfc).shared_um.is_some();
            let matters = self.settings.levels.cache().is_some() || !assumption.only_with_cache();
            if matters && !replaced {
                assumed.push(assumption.what.clone());
            }
        }
        if let Some(cache) = self.settings.levels.cache()
            && (cache.liveness_aware_bypass || cache.liveness_aware_eviction)
        {
            assumed.push(
                "the instruction bits of the liveness-aware hints are not printed and not charged"
                    .to_owned(),
            );
        }
        if self.settings.levels.has_last_result_file() {
            assumed.push(
                "the instruction bit that keeps values of shared units out of the last result file \
                 is not printed and not charged"
                    .to_owned(),
            );
        }
        assumed.extend(self.managed.and_then(Managed::uncharged).map(str::to_owned));
        for technology in &self.storage_technologies {
            let known = |what: &&String| !assumed.contains(what);
            let new: Vec<_> = technology.assumed.iter().filter(known).cloned().collect();
            assumed.extend(new);
        }
        self.memory_assumptions(reference, &mut assumed);
        assumed
    }

    /// What is assumed where the main register file's memory is a technology's.
    fn memory_assumptions(&self, reference: Option<&MainMemory>, assumed: &mut Vec<String>) {
        let Some(memory) = &self.memory else { return };
        assumed.extend(memory.technology.assumed.iter().cloned());
        if let Some(reference) = reference.filter(|sram| sram.technology != memory.technology) {
            assumed.push(format!(
                "technology `{}` has no SRAM to compare with: the baseline's is that of `{}`",
                memory.technology.name, reference.technology.name
            ));
        }
        if self.delivery.write_pool_entries() != 0 {
            assumed.push(POOL_LEAKAGE.to_owned());
        }
        if self.settings.levels != LevelSettings::Flat {
            let technology = self.machine.technology();
            let wires = if self.machine.wires.is_some() { "" } else { "; distances are 0 mm" };
            assumed.push(format!(
                "inferred: no source prints the energy of small levels beside `{}`: a read (write) \
                 of one costs the share of a read (write) of the SRAM main register file that it \
                 costs in {}{wires}; their leakage is not charged",
                memory.technology.name, technology.source
            ));
        }
    }
}

fn refuse(error: OrganisationError, origin: &str) -> ConfigError {
    let file = origin.to_owned();
    let range = |key: &str, value: u8, most: u8| ConfigError::Range {
        file: file.clone(),
        key: key.to_owned(),
        value: value.to_string(),
        allowed: format!("1 to {most}"),
    };
    let hint = match error {
        OrganisationError::ActiveWarps(active) => {
            return range("active_warps", active, MAX_ACTIVE_WARPS);
        }
        OrganisationError::Cache(CacheError::NoEntries) => {
            return range("cache.entries", 0, MAX_ENTRIES);
        }
        OrganisationError::Cache(CacheError::TooManyEntries { requested, limit }) => {
            return range("cache.entries", requested, limit);
        }
        OrganisationError::Cache(CacheError::NeedsLiveness) => {
            "turn `cache.liveness` on, or both liveness-aware options off"
        }
        OrganisationError::NeedsTwoLevel => {
            "set `scheduling = \"two-level\"`, or turn the liveness-aware options off"
        }
    };
    ConfigError::Combination { file, problem: error.to_string(), hint: hint.to_owned() }
}
