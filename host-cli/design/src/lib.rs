//! Designs: a machine plus an organisation of its registers and scheduling, by name or from a file.

#![forbid(unsafe_code)]

mod changes;
mod collectors;
pub mod cost;
mod data_cache;
mod delivery;
pub mod encoding;
pub mod file;
pub mod import;
pub mod interpolation;
mod keys;
mod level_keys;
pub mod machine;
pub mod managed;
pub mod memory;
pub mod name;
mod parameters;
mod parts;
pub mod pool_ports;
mod price;
mod second_level;
mod sm;
pub mod storage;
pub mod storage_technology;
pub mod technology;
mod technology_file;
mod values;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_core::chip_power::{DESCHEDULE_BITS, LIVENESS_BITS, STRAND_END_BITS};
use strata_core::energy::{EnergyTable, WireCharge};
use strata_core::leakage::Leakage;
use strata_core::organisation::{LevelSettings, Organisation, OrganisationSettings, Scheduling};
use strata_core::register_file_cache::RegisterFileCacheConfig;
use strata_core::sm::config::{
    ActiveLimitKind, BarrierRule, Scheduler, ShortWaits, SmSettings, StorageKind, WarpReplacement,
};
use strata_core::sm::expansion::energy::ExpansionEnergyTable;
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::operand_delivery::OperandDelivery;

use delivery::Delivery;
pub use interpolation::MissingEnergy;
pub use machine::{Machine, NoEnergy, machines};
pub use managed::Managed;
pub use memory::MainMemory;
pub use parameters::pieces;
pub use price::PoolReadEnergy;
pub use storage::Storage;
pub use storage_technology::StorageTechnology;
use strata_config::ConfigError;
pub use values::{Value, ValueKind, parameter_keys};

/// A design, ready to count with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The registry's name, or that of the design file.
    pub name: String,
    /// How a command line names it, or what it is the baseline of: the registry's name, or the
    /// path of the design file, with the parameters behind it.
    pub argument: String,
    /// The machine it belongs to, whose baseline it is compared with.
    pub machine: &'static Machine,
    /// The levels that the compiler manages, if the design has such.
    pub managed: Option<Managed>,
    /// A partial warp costs only the clusters that have an enabled lane: count with
    /// [`strata_core::count::count_path_clusters`] and price with
    /// [`EnergyTable::energy_of_clusters`].
    pub partial_warp_energy: bool,
    /// The compiler renumbers registers by their references, most first, in every launch. Where
    /// registers lie in scratchpad memory it does so anyway.
    pub sorted_registers: bool,
    /// Which wires a value pays for that has travelled before.
    pub wire_charge: WireCharge,
    /// What the read of an operand costs that its write pool has.
    pub pool_read_energy: PoolReadEnergy,
    /// The SM in time, with the organisation of its registers.
    pub sm: SmSettings,
    /// The primary data cache and the memory with addresses behind it, if the design has them.
    pub data_cache: Option<CachedSettings>,
    /// How its storage is divided, if it is divided for each application.
    pub storage: Option<Storage>,
    /// The technologies by which the energy of its storage is reported, in cycle mode.
    pub storage_technologies: Vec<Arc<StorageTechnology>>,
    /// What its main register file is made of, where a technology says so.
    pub memory: Option<MainMemory>,
    /// What accesses cost, or why that is not known.
    pub energy: Result<EnergyTable, NoEnergy>,
    /// What a compiler that manages levels places values by, or why that is not known: the same,
    /// but for machines that have no energy of the small levels.
    pub placement_energy: Result<EnergyTable, NoEnergy>,
    /// Whether some of its energy is in no table: what became of it.
    pub missing_energy: Option<MissingEnergy>,
    /// What registers in scratchpad memory cost, of a design that can have some there.
    pub expansion_energy: Option<ExpansionEnergyTable>,
    /// What its main register file leaks, or why that is not known.
    pub leakage: Result<Leakage, NoEnergy>,
    /// Where it is described.
    pub source: String,
    /// Values that no source prints, one sentence each; reports show them.
    pub assumed: Vec<String>,
    /// All that a design file changed, one sentence each; reports show them.
    pub changed: Vec<String>,
    family: String,
    delivery: Delivery,
    /// The baseline's memory.
    reference: Option<MainMemory>,
    flat_energy: Result<EnergyTable, NoEnergy>,
    flat_leakage: Result<Leakage, NoEnergy>,
}

/// Why counting has no use for a data cache.
const NO_TIME: &str = "its hits depend on the order in which warps access memory, which counting \
                       without time does not know";

/// Warps that have entries.
fn warps(scheduling: Scheduling, sm: &SmSettings) -> u8 {
    match scheduling {
        Scheduling::SingleLevel => sm.max_warps,
        Scheduling::TwoLevel { active_warps } => active_warps,
    }
}

impl Design {
    /// The files that it was read from; none of a built-in design.
    pub fn files(&self) -> Vec<PathBuf> {
        let base = parameters::base(&self.argument);
        let own = is_toml(base).then(|| PathBuf::from(base));
        let technology = self.memory.as_ref().and_then(|memory| memory.technology.file.clone());
        let storage = self.storage_technologies.iter().filter_map(|of| of.file.clone());
        own.into_iter().chain(technology).chain(storage).collect()
    }

    /// The organisation of its registers.
    pub fn organisation(&self) -> &Organisation {
        &self.sm.organisation
    }

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

    /// The same for who asks about time alone: without what only its energy depends on.
    #[must_use]
    pub fn without_energy(self) -> Self {
        let unknown = NoEnergy("only its time is asked for".to_owned());
        Self {
            partial_warp_energy: false,
            storage_technologies: Vec::new(),
            energy: Err(unknown.clone()),
            leakage: Err(unknown),
            expansion_energy: None,
            ..self
        }
    }

    /// Whether a run depends on what all of its kernels need of the storage.
    pub const fn depends_on_needs(&self) -> bool {
        self.storage.is_some() || !self.storage_technologies.is_empty()
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

    /// Whether count mode can count it: without order between warps, and without time.
    pub fn countable(&self) -> Result<(), ConfigError> {
        self.without_data_cache(
            NO_TIME,
            "`run` and `inspect --profile` take it with `--mode cycle`; or name a design without \
             one",
        )?;
        if self.sm.storage == StorageKind::Expars {
            return Err(ConfigError::Combination {
                file: self.argument.clone(),
                problem: "which registers lie in scratchpad memory depends on which CTAs are \
                          resident, which counting without time does not know"
                    .to_owned(),
                hint: "use `strata run --mode cycle`".to_owned(),
            });
        }
        if self.write_pool_entries() == 0 {
            return Ok(());
        }
        Err(ConfigError::Combination {
            file: self.argument.clone(),
            problem: "the write pool's contents depend on the order in which warps write, which \
                      counting without time does not know"
                .to_owned(),
            hint: "use `strata run --mode cycle`, or a design without a write pool".to_owned(),
        })
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

    /// Entries of its write pool; 0 without one.
    pub fn write_pool_entries(&self) -> u8 {
        self.delivery.write_pool_entries()
    }

    /// The register file cache, of a design that has one.
    pub fn cache(&self) -> Option<RegisterFileCacheConfig> {
        self.organisation().levels().cache()
    }

    /// Warps that have entries in the upper levels; all of them with a single-level scheduler.
    pub fn active_warps(&self) -> u8 {
        warps(self.organisation().settings().scheduling, &self.sm)
    }

    /// Bits that the design adds to every instruction, as far as the papers print them.
    pub fn encoding_bits(&self) -> u32 {
        let liveness = match self.organisation().levels() {
            LevelSettings::Flat => false,
            LevelSettings::Cached(levels) => levels.cache.liveness,
            LevelSettings::CompilerManaged => return STRAND_END_BITS,
        };
        let two_level =
            matches!(self.organisation().settings().scheduling, Scheduling::TwoLevel { .. });
        let marks = two_level && self.sm.replacement == WarpReplacement::Preemptive;
        u32::from(liveness) * LIVENESS_BITS + u32::from(marks) * DESCHEDULE_BITS
    }

    /// What distinguishes the design: pairs of axis and value.
    pub fn axes(&self) -> Vec<(&'static str, String)> {
        let settings = self.organisation().settings();
        let scheduler = match settings.scheduling {
            Scheduling::SingleLevel => format!("single level, all {} warps", self.sm.max_warps),
            Scheduling::TwoLevel { active_warps } => format!("two level, {active_warps} active"),
        };
        let mut axes = vec![
            ("machine", self.machine.name.clone()),
            ("upper levels", self.upper_levels()),
            ("scheduler", scheduler),
        ];
        if let Some(memory) = &self.memory {
            axes.push(("memory", memory.kind.name().to_owned()));
            axes.push(("technology", memory.technology.name.clone()));
        } else {
            axes.push(("technology", self.machine.technology.clone()));
        }
        axes.extend(delivery::axes(self.sm.operand_delivery));
        if self.pool_read_energy == PoolReadEnergy::Bank {
            axes.push(("reads of the pool", "cost a read of a bank".to_owned()));
        }
        if settings.levels.flush_at_backward_branches() {
            axes.push(("flush", "also at taken backward branches".to_owned()));
        }
        if self.sm.scheduler != Scheduler::default() {
            axes.push(("issue order", self.sm.scheduler.name().to_owned()));
        }
        axes.extend(sm::axes(&self.sm));
        axes.extend(self.storage.as_ref().map(|storage| ("storage", storage.describe())));
        axes.extend(self.data_cache.map(|cache| ("data cache", data_cache::describe(cache))));
        let l2 = self.data_cache.and_then(|cache| cache.l2);
        axes.extend(l2.map(|l2| ("below the cache", second_level::describe(&l2))));
        axes.extend(self.wire_charge_axis());
        if self.partial_warp_energy {
            axes.push(("partial warps", "cost the clusters they touch".to_owned()));
        }
        axes
    }

    /// The levels above the main register file, in words.
    fn upper_levels(&self) -> String {
        match self.organisation().levels() {
            LevelSettings::Flat => "none".to_owned(),
            LevelSettings::Cached(levels) => {
                let last = if levels.last_result_file { "LRF in front of " } else { "" };
                format!("{last}{}", describe(levels.cache))
            }
            LevelSettings::CompilerManaged => {
                self.managed.map_or_else(String::new, Managed::describe)
            }
        }
    }

    /// How wires are charged, where there is a level that values move to or from.
    fn wire_charge_axis(&self) -> Option<(&'static str, String)> {
        let levels = *self.organisation().levels() != LevelSettings::Flat;
        let name = match self.wire_charge {
            WireCharge::Once => "charged once",
            WireCharge::EachTrip => "charged for each trip",
        };
        levels.then(|| ("wires", name.to_owned()))
    }
}

fn describe(cache: RegisterFileCacheConfig) -> String {
    let entries = cache.entries;
    let mut text = format!("RFC, {entries} {}", if entries == 1 { "entry" } else { "entries" });
    let replacement = cache.replacement.name().to_uppercase();
    let allocation = cache.allocation.name().replace('-', " ");
    let _ = write!(text, ", {replacement}, {allocation} allocate");
    for (on, label) in [
        (cache.liveness, ", static liveness"),
        (cache.liveness_aware_bypass, ", liveness-aware bypass"),
        (cache.liveness_aware_eviction, ", liveness-aware eviction"),
    ] {
        text += if on { label } else { "" };
    }
    text
}

/// A design by its name or, if `text` ends in `.toml`, from a design file; behind either, keys of a
/// design file: `isca11-rfc6,cache.entries=4,active_warps=6`.
pub fn resolve(text: &str) -> Result<Design, ConfigError> {
    match parameters::split(text) {
        Some(_) => parameters::resolve(text),
        None if is_toml(text) => file::load(text),
        None => name::resolve(text),
    }
}

/// Whether a design is named by its file.
pub fn is_file(text: &str) -> bool {
    is_toml(parameters::base(text))
}

/// Whether a text is the name of a TOML file.
pub fn is_toml(text: &str) -> bool {
    let extension = Path::new(text).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Every design of the registry without suffixes: baselines first, machine by machine.
pub fn list() -> Vec<Design> {
    name::base_names().iter().filter_map(|name| name::resolve(name).ok()).collect()
}

#[cfg(test)]
mod tests;
