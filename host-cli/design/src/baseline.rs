//! Baselines: the designs that a design is compared with.

use strata_core::organisation::{Organisation, OrganisationSettings, Scheduling};
use strata_core::sm::config::{
    ActiveLimitKind, BarrierRule, ShortWaits, SmSettings, StorageKind, WarpReplacement,
};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::operand_delivery::OperandDelivery;

use super::delivery::PoolReadEnergy;
use super::design::Design;
use super::{name, sm};

impl Design {
    /// The design that this one is compared with: its machine's flat register file of SRAM, with
    /// the same energy values where the design replaces the machine's.
    #[must_use]
    pub fn baseline(&self) -> Self {
        let delivery = self.delivery.baseline(self.machine);
        let fixed = OperandDelivery::FOUR_BANKS;
        let operand_delivery =
            delivery.settings(self.reference.as_ref(), self.machine.clock, &self.argument);
        Self {
            name: self.baseline_name(),
            family: self.baseline_variant().unwrap_or(&self.machine.rfc.prefix).to_owned(),
            argument: self.argument.clone(),
            machine: self.machine,
            managed: None,
            partial_warp_energy: self.partial_warp_energy,
            sorted_registers: false,
            wire_charge: self.wire_charge,
            pool_read_energy: PoolReadEnergy::default(),
            sm: SmSettings {
                organisation: self.baseline_organisation(),
                operand_delivery: operand_delivery.unwrap_or(fixed),
                replacement: WarpReplacement::default(),
                short_waits: ShortWaits::default(),
                barrier: BarrierRule::default(),
                active_limit: ActiveLimitKind::Constant,
                storage: StorageKind::Partitioned,
                ..self.areas().0
            },
            data_cache: self.areas().1,
            storage: None,
            storage_technologies: Vec::new(),
            memory: self.reference.clone(),
            energy: self.flat_energy.clone(),
            placement_energy: self.flat_energy.clone(),
            missing_energy: None,
            expansion_energy: None,
            leakage: self.flat_leakage.clone(),
            source: self.machine.source.clone(),
            assumed: Vec::new(),
            changed: Vec::new(),
            delivery,
            reference: self.reference.clone(),
            flat_energy: self.flat_energy.clone(),
            flat_leakage: self.flat_leakage.clone(),
        }
    }

    /// The design whose time says what the core spends, however the storage is divided: its
    /// machine's, with the latencies of this one, and without upper levels for inputs that have no
    /// program for the compiler. None if no technology says what the storage costs.
    pub fn storage_baseline(&self, has_program: bool) -> Option<Self> {
        self.storage_technologies.first()?;
        let name = if has_program { self.machine.name.clone() } else { self.baseline_name() };
        let named = name::resolve(&name).ok()?;
        Some(Self {
            sm: SmSettings { timing: self.sm.timing, ..named.sm },
            data_cache: named.data_cache.or(self.data_cache),
            storage_technologies: self.storage_technologies.clone(),
            ..named
        })
    }

    /// Its SM and cache with areas of fixed sizes: its own, or the machine's where its storage is
    /// divided for each application.
    fn areas(&self) -> (SmSettings, Option<CachedSettings>) {
        if self.storage.is_none() {
            return (self.sm, self.data_cache);
        }
        let SmSettings { register_file_bytes, shared_memory_bytes, .. } =
            sm::of_machine(self.machine);
        let areas = SmSettings { register_file_bytes, shared_memory_bytes, ..self.sm };
        (areas, self.machine.data_cache().or(self.data_cache))
    }

    fn baseline_name(&self) -> String {
        if self.machine.baseline_orf.is_some() {
            return format!("{}{}", self.machine.name, name::FLAT);
        }
        let name = self.baseline_variant().unwrap_or(&self.machine.name);
        format!("{name}{}", self.technology_suffix())
    }

    /// The name of the machine's variant that the baseline is, if it is one: with as many
    /// instructions in a cycle.
    fn baseline_variant(&self) -> Option<&'static str> {
        let variant = self.machine.sram_variant(self.sm.issue_slots);
        variant.map(|variant| variant.name.as_str())
    }

    /// The suffix of the machine's other technology, if this design has that.
    fn technology_suffix(&self) -> &'static str {
        let technology = self.memory.as_ref().map(|memory| &memory.technology.name);
        let alternative = self.machine.alternative.as_ref();
        let alternative = alternative.filter(|other| Some(&other.technology) == technology);
        alternative.map_or("", |other| other.suffix.as_str())
    }

    /// The name of the design with the same main register file and other upper levels, such as
    /// `-rfc6`.
    pub fn sibling(&self, upper: &str) -> String {
        format!("{}{upper}{}", self.family, self.technology_suffix())
    }

    /// The machine's own, with no more active warps than are resident here.
    fn baseline_organisation(&self) -> Organisation {
        let settings = self.machine.organisation();
        let scheduling = match settings.scheduling {
            Scheduling::SingleLevel => Scheduling::SingleLevel,
            Scheduling::TwoLevel { active_warps } => {
                Scheduling::TwoLevel { active_warps: active_warps.min(self.sm.max_warps) }
            }
        };
        let settings = OrganisationSettings { scheduling, ..settings };
        Organisation::new(settings).unwrap_or(Organisation::FLAT)
    }
}
