//! A design: a machine with its register hierarchy, storage, energies and sources.

use std::path::PathBuf;
use std::sync::Arc;

use strata_core::chip_power::{DESCHEDULE_BITS, LIVENESS_BITS, STRAND_END_BITS};
use strata_core::energy::{EnergyTable, WireCharge};
use strata_core::leakage::Leakage;
use strata_core::organisation::{LevelSettings, Organisation, Scheduling};
use strata_core::register_file_cache::RegisterFileCacheConfig;
use strata_core::sm::config::{SmSettings, StorageKind, WarpReplacement};
use strata_core::sm::expansion::energy::ExpansionEnergyTable;
use strata_core::sm::memory::cached::CachedSettings;

use super::argument::{base, is_file, is_toml};
use super::checks::combination;
use super::delivery::{Delivery, PoolReadEnergy};
use super::interpolation::MissingEnergy;
use super::machine::Machine;
use super::managed::Managed;
use super::memory::MainMemory;
use super::sm::warps;
use super::storage::Storage;
use super::storage_technology::StorageTechnology;
use super::technology::NoEnergy;
use strata_config::ConfigError;

/// Why counting has no use for a data cache.
const NO_TIME: &str = "its hits depend on the order in which warps access memory, which counting \
                       without time does not know";

/// What to do about a data cache that has no use, in a design file.
const LEAVE_OUT: &str = "leave the table out";
/// What to do about a data cache that has no use, in a built-in design.
const NAME_ANOTHER: &str = "name a design without one, such as `dissertation`";

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
    pub(super) family: String,
    pub(super) delivery: Delivery,
    /// The baseline's memory.
    pub(super) reference: Option<MainMemory>,
    pub(super) flat_energy: Result<EnergyTable, NoEnergy>,
    pub(super) flat_leakage: Result<Leakage, NoEnergy>,
}

impl Design {
    /// The files that it was read from; none of a built-in design.
    pub fn files(&self) -> Vec<PathBuf> {
        let base = base(&self.argument);
        let own = is_toml(base).then(|| PathBuf::from(base));
        let technology = self.memory.as_ref().and_then(|memory| memory.technology.file.clone());
        let storage = self.storage_technologies.iter().filter_map(|of| of.file.clone());
        own.into_iter().chain(technology).chain(storage).collect()
    }

    /// The organisation of its registers.
    pub fn organisation(&self) -> &Organisation {
        &self.sm.organisation
    }

    /// This design without what only its energy depends on, for who asks about time alone.
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

    /// Whether something that has no use for a data cache takes the design.
    ///
    /// # Errors
    /// It has one: `reason` as part of a sentence, with a way out.
    pub fn without_data_cache(&self, reason: &str, hint: &str) -> Result<(), ConfigError> {
        if self.data_cache.is_none() {
            return Ok(());
        }
        let problem = format!("the design has a data cache, but {reason}");
        Err(combination(&self.argument, &problem, hint))
    }

    /// Whether a command that simulates no memory takes the design.
    ///
    /// # Errors
    /// It has a data cache; `what` is the command's subject, in the plural.
    pub fn without_data_cache_for(&self, what: &str) -> Result<(), ConfigError> {
        let reason = format!("{what} have no use for it");
        self.without_data_cache(&reason, self.to_lose_data_cache())
    }

    /// What to do about a data cache that has no use.
    pub fn to_lose_data_cache(&self) -> &'static str {
        if is_file(&self.argument) { LEAVE_OUT } else { NAME_ANOTHER }
    }
}
