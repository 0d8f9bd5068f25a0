//! Designs: a machine plus an organisation of its registers and scheduling, by name or from a file.

mod changes;
pub mod file;
pub mod machine;
pub mod managed;
pub mod name;
mod sm;

use strata_core::chip_power::{DESCHEDULE_BITS, LIVENESS_BITS, STRAND_END_BITS};
use strata_core::energy::{BankEnergy, EnergyTable, LastResultEnergy, LevelEnergy, WireLengths};
use strata_core::organisation::{
    MAX_ACTIVE_WARPS, Organisation, OrganisationError, OrganisationSettings, Scheduling,
};
use strata_core::register_file_cache::{
    Allocation, ConfigError as CacheError, MAX_ENTRIES, RegisterFileCacheConfig, Replacement,
};
use strata_core::sm::config::{
    BarrierRule, Scheduler, ShortWaits, SmConfig, SmSettings, WarpReplacement,
};
use strata_core::units::Femtojoules;

use crate::config::ConfigError;
pub use machine::{Machine, NoEnergy, machines};
pub use managed::Managed;

/// A design, ready to count with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The registry's name, or that of the design file.
    pub name: String,
    /// How a command line names it, or what it is the baseline of: the registry's name, or the
    /// path of the design file.
    pub argument: String,
    /// The machine it belongs to, whose baseline it is compared with.
    pub machine: &'static Machine,
    /// The levels that the compiler manages, if the design has such.
    pub managed: Option<Managed>,
    /// A partial warp costs only the clusters that have an enabled lane: count with
    /// [`strata_core::count::count_path_clusters`] and price with
    /// [`EnergyTable::energy_of_clusters`].
    pub partial_warp_energy: bool,
    /// The SM in time, with the organisation of its registers.
    pub sm: SmSettings,
    /// What accesses cost, or why that is not known.
    pub energy: Result<EnergyTable, NoEnergy>,
    /// Where it is described.
    pub source: String,
    /// Values that no source prints, one sentence each; reports show them.
    pub assumed: Vec<String>,
    /// All that a design file changed, one sentence each; reports show them.
    pub changed: Vec<String>,
    flat_energy: Result<EnergyTable, NoEnergy>,
}

/// Energy values that replace the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EnergyOverrides {
    mrf_read: Option<Femtojoules>,
    mrf_write: Option<Femtojoules>,
    rfc: Option<BankEnergy>,
    lrf: Option<BankEnergy>,
    orf: Option<BankEnergy>,
    wire: Option<Femtojoules>,
    mrf_private_um: Option<u32>,
    mrf_shared_um: Option<u32>,
    rfc_private_um: Option<u32>,
    rfc_shared_um: Option<u32>,
    lrf_private_um: Option<u32>,
    orf_private_um: Option<u32>,
    orf_shared_um: Option<u32>,
}

/// What a design is made from.
#[derive(Clone, Debug)]
struct Parts {
    name: String,
    machine: &'static Machine,
    settings: OrganisationSettings,
    managed: Option<Managed>,
    partial_warp_energy: bool,
    sm: SmSettings,
    energy: EnergyOverrides,
    source: String,
    assumed: Vec<String>,
}

impl Parts {
    /// The machine's baseline: a flat register file.
    fn baseline(machine: &'static Machine) -> Self {
        Self {
            name: machine.name.clone(),
            machine,
            settings: *Organisation::FLAT.settings(),
            managed: None,
            partial_warp_energy: false,
            sm: sm::of_machine(machine),
            energy: EnergyOverrides::default(),
            source: machine.source.clone(),
            assumed: Vec::new(),
        }
    }

    fn build(self, origin: &str) -> Result<Design, ConfigError> {
        let organisation =
            Organisation::new(self.settings).map_err(|error| refuse(error, origin))?;
        let sm = SmSettings { organisation, ..self.sm };
        SmConfig::new(sm).map_err(|error| sm::refuse(error, origin))?;
        let (flat_energy, energy) = self.price();
        if self.managed.is_some()
            && let Err(reason) = &energy
        {
            return Err(ConfigError::Combination {
                file: origin.to_owned(),
                problem: format!("the compiler places values by their energy: {reason}"),
                hint: "give the energies in `[energy]`, or use a printed size".to_owned(),
            });
        }
        let mut assumed = self.assumed;
        for assumption in &self.machine.assumed {
            let replaced =
                assumption.key == "wires.rfc_shared" && self.energy.rfc_shared_um.is_some();
            let matters = self.settings.cache.is_some() || !assumption.only_with_cache();
            if matters && !replaced {
                assumed.push(assumption.what.clone());
            }
        }
        if let Some(cache) = self.settings.cache
            && (cache.liveness_aware_bypass || cache.liveness_aware_eviction)
        {
            assumed.push(
                "the instruction bits of the liveness-aware hints are not printed and not charged"
                    .to_owned(),
            );
        }
        if self.settings.last_result_file {
            assumed.push(
                "the instruction bit that keeps values of shared units out of the last result file \
                 is not printed and not charged"
                    .to_owned(),
            );
        }
        assumed.extend(self.managed.and_then(Managed::uncharged).map(str::to_owned));
        Ok(Design {
            argument: origin.to_owned(),
            name: self.name,
            machine: self.machine,
            managed: self.managed,
            partial_warp_energy: self.partial_warp_energy,
            sm,
            energy,
            source: self.source,
            assumed,
            changed: Vec::new(),
            flat_energy,
        })
    }

    /// Energy of the flat design with the same values, and that of this design; or why it is not
    /// known.
    fn price(&self) -> (Result<EnergyTable, NoEnergy>, Result<EnergyTable, NoEnergy>) {
        let flat = self.flat_price();
        if let Some(managed) = self.managed {
            let own = |flat| self.price_managed(flat, managed);
            return (flat.clone(), flat.and_then(own));
        }
        let Some(cache) = self.settings.cache else { return (flat.clone(), flat) };
        let machine = self.machine;
        let bank = self.energy.rfc.map_or_else(
            || {
                let warps = warps(self.settings.scheduling, &self.sm);
                let row = machine.technology().cache(cache.entries, warps)?;
                Ok(BankEnergy { read: row.read.0, write: row.write.0 })
            },
            Ok,
        );
        let wires =
            replace(machine.rfc_wires(), self.energy.rfc_private_um, self.energy.rfc_shared_um);
        let own = |flat: EnergyTable| {
            let rfc = Some(LevelEnergy { bank: bank?, wires });
            let last = self.settings.last_result_file;
            let lrf = last.then(|| self.price_last_result()).transpose()?;
            Ok(EnergyTable { rfc, lrf, ..flat })
        };
        (flat.clone(), flat.and_then(own))
    }

    /// Energy of an operand register file, whose banks and wires are those of a cache of as many
    /// entries, and of a last result file if there is one.
    fn price_managed(&self, flat: EnergyTable, managed: Managed) -> Result<EnergyTable, NoEnergy> {
        let machine = self.machine;
        let bank = if let Some(bank) = self.energy.orf {
            bank
        } else {
            let warps = warps(self.settings.scheduling, &self.sm);
            let row = machine.technology().cache(managed.entries, warps)?;
            BankEnergy { read: row.read.0, write: row.write.0 }
        };
        let wires =
            replace(machine.rfc_wires(), self.energy.orf_private_um, self.energy.orf_shared_um);
        let has_last = managed.lrf != strata_compiler::hierarchy::Lrf::None;
        let lrf = has_last.then(|| self.price_last_result()).transpose()?;
        Ok(EnergyTable { orf: Some(LevelEnergy { bank, wires }), lrf, ..flat })
    }

    /// Energy of the last result file.
    fn price_last_result(&self) -> Result<LastResultEnergy, NoEnergy> {
        let (values, machine) = (&self.energy, self.machine);
        let printed = machine.last_result_energy(warps(self.settings.scheduling, &self.sm));
        let bank = match values.lrf {
            Some(bank) => bank,
            None => printed.clone()?.bank,
        };
        let private_um = match (values.lrf_private_um, machine.wires.lrf_private) {
            (Some(length), _) => length,
            (None, Some(length)) => length.0,
            (None, None) => printed?.private_um,
        };
        Ok(LastResultEnergy { bank, private_um })
    }

    fn flat_price(&self) -> Result<EnergyTable, NoEnergy> {
        let (values, machine) = (&self.energy, self.machine);
        let printed = machine.sm.register_file_kb * 1024;
        let given = values.mrf_read.is_some()
            && values.mrf_write.is_some()
            && values.mrf_private_um.is_some()
            && values.mrf_shared_um.is_some();
        if self.sm.register_file_bytes != printed && !given {
            return Err(NoEnergy(format!(
                "no table prints the energy of a register file of {} KB: a design file may give \
                 `mrf_read` and `mrf_write` in `[energy]`, `mrf_private` and `mrf_shared` in \
                 `[wires]`",
                self.sm.register_file_bytes / 1024
            )));
        }
        let mut mrf = machine.mrf_energy();
        mrf.bank.read = values.mrf_read.unwrap_or(mrf.bank.read);
        mrf.bank.write = values.mrf_write.unwrap_or(mrf.bank.write);
        mrf.wires = replace(mrf.wires, values.mrf_private_um, values.mrf_shared_um);
        let wire = values.wire.unwrap_or(machine.technology().wire.0);
        Ok(EnergyTable {
            mrf,
            rfc: None,
            lrf: None,
            orf: None,
            write_pool: None,
            wire_per_mm_per_32bit: wire,
        })
    }
}

fn replace(wires: WireLengths, private: Option<u32>, shared: Option<u32>) -> WireLengths {
    WireLengths {
        private_um: private.unwrap_or(wires.private_um),
        shared_um: shared.unwrap_or(wires.shared_um),
    }
}

/// Warps that have entries.
fn warps(scheduling: Scheduling, sm: &SmSettings) -> u8 {
    match scheduling {
        Scheduling::SingleLevel => sm.max_warps,
        Scheduling::TwoLevel { active_warps } => active_warps,
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
        OrganisationError::CacheAndCompiler => {
            "leave out `[cache]` and `last_result_file`, or start from another base"
        }
        OrganisationError::NothingBehind => "add a `[cache]`, or turn `last_result_file` off",
        OrganisationError::NothingToFlush => {
            "add a `[cache]`, or turn `flush_at_backward_branches` off"
        }
    };
    ConfigError::Combination { file, problem: error.to_string(), hint: hint.to_owned() }
}

impl Design {
    /// The organisation of its registers.
    pub fn organisation(&self) -> &Organisation {
        &self.sm.organisation
    }

    /// The design that this one is compared with: its machine's flat register file, with the same
    /// energy values where the design replaces the machine's.
    #[must_use]
    pub fn baseline(&self) -> Self {
        Self {
            name: self.machine.name.clone(),
            argument: self.argument.clone(),
            machine: self.machine,
            managed: None,
            partial_warp_energy: self.partial_warp_energy,
            sm: SmSettings {
                organisation: Organisation::FLAT,
                replacement: WarpReplacement::default(),
                short_waits: ShortWaits::default(),
                barrier: BarrierRule::default(),
                ..self.sm
            },
            energy: self.flat_energy.clone(),
            source: self.machine.source.clone(),
            assumed: Vec::new(),
            changed: Vec::new(),
            flat_energy: self.flat_energy.clone(),
        }
    }

    /// The register file cache, of a design that has one.
    pub fn cache(&self) -> Option<&RegisterFileCacheConfig> {
        self.organisation().settings().cache.as_ref()
    }

    /// Warps that have entries in the upper levels; all of them with a single-level scheduler.
    pub fn active_warps(&self) -> u8 {
        warps(self.organisation().settings().scheduling, &self.sm)
    }

    /// Bits that the design adds to every instruction, as far as the papers print them.
    pub fn encoding_bits(&self) -> u32 {
        if self.managed.is_some() {
            return STRAND_END_BITS;
        }
        let liveness = self.cache().is_some_and(|cache| cache.liveness);
        let two_level =
            matches!(self.organisation().settings().scheduling, Scheduling::TwoLevel { .. });
        let marks = two_level && self.sm.replacement == WarpReplacement::Preemptive;
        u32::from(liveness) * LIVENESS_BITS + u32::from(marks) * DESCHEDULE_BITS
    }

    /// What distinguishes the design: pairs of axis and value.
    pub fn axes(&self) -> Vec<(&'static str, String)> {
        let settings = self.organisation().settings();
        let mut upper = settings.cache.map_or_else(|| "none".to_owned(), describe);
        if settings.last_result_file {
            upper.insert_str(0, "LRF in front of ");
        }
        if let Some(managed) = self.managed {
            upper = managed.describe();
        }
        let scheduler = match settings.scheduling {
            Scheduling::SingleLevel => format!("single level, all {} warps", self.sm.max_warps),
            Scheduling::TwoLevel { active_warps } => format!("two level, {active_warps} active"),
        };
        let mut axes = vec![
            ("machine", self.machine.name.clone()),
            ("upper levels", upper),
            ("scheduler", scheduler),
            ("technology", self.machine.technology.clone()),
        ];
        if settings.flush_at_backward_branches {
            axes.push(("flush", "also at taken backward branches".to_owned()));
        }
        let order = match self.sm.scheduler {
            Scheduler::Greedy => None,
            Scheduler::RoundRobin => Some("round robin"),
            Scheduler::GreedyThenOldest => Some("greedy, then oldest"),
            Scheduler::LooseRoundRobin => Some("loose round robin"),
        };
        if let Some(order) = order {
            axes.push(("issue order", order.to_owned()));
        }
        axes.extend(sm::axes(&self.sm));
        if self.partial_warp_energy {
            axes.push(("partial warps", "cost the clusters they touch".to_owned()));
        }
        axes
    }
}

fn describe(cache: RegisterFileCacheConfig) -> String {
    let entries = cache.entries;
    let mut text = format!("RFC, {entries} {}", if entries == 1 { "entry" } else { "entries" });
    text += match cache.replacement {
        Replacement::Fifo => ", FIFO",
        Replacement::Lru => ", LRU",
    };
    text += match cache.allocation {
        Allocation::Writes => ", writes allocate",
        Allocation::WritesAndReads => ", writes and reads allocate",
    };
    for (on, label) in [
        (cache.liveness, ", static liveness"),
        (cache.liveness_aware_bypass, ", liveness-aware bypass"),
        (cache.liveness_aware_eviction, ", liveness-aware eviction"),
    ] {
        text += if on { label } else { "" };
    }
    text
}

/// A design by its name or, if `text` ends in `.toml`, from a design file.
pub fn resolve(text: &str) -> Result<Design, ConfigError> {
    let is_file = std::path::Path::new(text)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if is_file { file::load(text) } else { name::resolve(text) }
}

/// Every design of the registry without suffixes: baselines first, machine by machine.
pub fn list() -> Vec<Design> {
    name::base_names().iter().filter_map(|name| name::resolve(name).ok()).collect()
}
