//! The primary data cache of a design: what `[data_cache]` in a design file says, and what makes a
//! memory that knows addresses (`docs/MODEL.md`, rule 35).

use serde::Deserialize;
use strata_core::sm::memory::bank_conflicts::{BankConflictKind, BankConflicts, ConflictPorts};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::memory::touched::{BankMapping, LINE_BYTES};

use super::Design;
use super::file::{combination, small};
use crate::config::ConfigError;
use crate::config::by_name::ByName;

/// Largest cache. Unit: KB.
const MOST_KB: i64 = 4096;
/// Capacities are multiples of this: 4 sets of 4 lines. Unit: KB.
const STEP_KB: i64 = 2;
/// Most lines of a set.
const MOST_WAYS: u8 = 128;
/// What DRAM can move at least. Unit: bytes.
const TRANSACTIONS: [u32; 4] = [16, 32, 64, 128];

/// What to do about a data cache that has no use, in a design file.
const LEAVE_OUT: &str = "leave the table out";
/// The same of a built-in design.
const NAME_ANOTHER: &str = "name a design without one, such as `dissertation`";

/// `[data_cache]`: gives the design a memory with addresses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataCacheTable {
    capacity_kb: Option<i64>,
    ways: Option<i64>,
    banks: Option<ByName<BankMapping>>,
    transaction_bytes: Option<i64>,
    conflicts: Option<ByName<BankConflictKind>>,
    conflict_ports: Option<ByName<ConflictPorts>>,
}

impl DataCacheTable {
    /// The settings. What the table leaves out is that of `base`, if the base has a cache;
    /// otherwise sets of four lines (`[MICRO2012]` Table 2), banks of 4 bytes apart from the
    /// registers, transactions of 32 bytes, a sector.
    ///
    /// # Errors
    /// No capacity, a value out of its range, or a capacity that is no whole number of sets.
    pub(super) fn settings(
        &self,
        file: &str,
        base: Option<CachedSettings>,
    ) -> Result<CachedSettings, ConfigError> {
        let range = |key: &str, value: i64, allowed: &str| ConfigError::Range {
            file: file.to_owned(),
            key: format!("data_cache.{key}"),
            value: value.to_string(),
            allowed: allowed.to_owned(),
        };
        let own = base.map(|base| i64::from(base.cache_bytes / 1024));
        let kb = self.capacity_kb.or(own).ok_or_else(|| {
            combination(
                file,
                "`[data_cache]` has no `capacity_kb`, and the base has no cache",
                "add `capacity_kb = 64`, or 0 for the memory without a cache",
            )
        })?;
        if !(0..=MOST_KB).contains(&kb) || kb % STEP_KB != 0 {
            let allowed = format!("0 to {MOST_KB} KB, in steps of {STEP_KB} KB");
            return Err(range("capacity_kb", kb, &allowed));
        }
        let cache_bytes = kb as u32 * 1024;
        let ways = self.ways.map(|ways| small(file, "data_cache.ways", ways, MOST_WAYS));
        let ways = ways.transpose()?.or(base.map(|base| base.ways)).unwrap_or(4);
        let set_bytes = u32::from(ways) * LINE_BYTES;
        if !cache_bytes.is_multiple_of(set_bytes) {
            return Err(combination(
                file,
                &format!(
                    "`data_cache.capacity_kb = {kb}` is no whole number of sets of {ways} lines, \
                     {set_bytes} bytes"
                ),
                "give another capacity, or a power of two as `data_cache.ways`",
            ));
        }
        let own = base.map(|base| i64::from(base.transaction_bytes));
        let given = self.transaction_bytes.or(own).unwrap_or(32);
        let transaction_bytes = TRANSACTIONS.into_iter().find(|&bytes| i64::from(bytes) == given);
        let transaction_bytes = transaction_bytes
            .ok_or_else(|| range("transaction_bytes", given, "16, 32, 64 or 128 bytes"))?;
        let own = base.map_or(BankMapping::Partitioned, |base| base.mapping);
        let mapping = self.banks.map_or(own, |banks| banks.0);
        let conflicts = self.conflicts(file, base)?;
        Ok(CachedSettings { cache_bytes, ways, mapping, transaction_bytes, conflicts })
    }

    /// How registers and the memory on the chip meet in banks: by default not at all.
    fn conflicts(
        &self,
        file: &str,
        base: Option<CachedSettings>,
    ) -> Result<BankConflicts, ConfigError> {
        let own = base.map_or(BankConflicts::Apart, |base| base.conflicts);
        let kind = self.conflicts.map_or(own.kind(), |kind| kind.0);
        let ports = self.conflict_ports.map(|ports| ports.0);
        match (kind, ports, own) {
            (BankConflictKind::Penalty, None, BankConflicts::Instruction { .. }) => Ok(own),
            (BankConflictKind::Penalty, ports, _) => {
                Ok(BankConflicts::Instruction { ports: ports.unwrap_or_default() })
            }
            (_, Some(_), _) => Err(combination(
                file,
                "`data_cache.conflict_ports` is for `conflicts = \"penalty\"`",
                "set that, or leave it out",
            )),
            (BankConflictKind::Apart, None, _) => Ok(BankConflicts::Apart),
            (BankConflictKind::Arbitrated, None, _) => Ok(BankConflicts::CycleByCycle),
        }
    }
}

/// Every parameter of a memory with addresses, by the key of a design file and its value.
pub(super) fn parameters(settings: Option<CachedSettings>) -> Vec<(&'static str, String)> {
    let of = |get: fn(CachedSettings) -> String| settings.map_or_else(|| "none".to_owned(), get);
    vec![
        ("data_cache.capacity_kb", of(|settings| (settings.cache_bytes / 1024).to_string())),
        ("data_cache.ways", of(|settings| settings.ways.to_string())),
        ("data_cache.banks", of(|settings| settings.mapping.name().to_owned())),
        ("data_cache.transaction_bytes", of(|settings| settings.transaction_bytes.to_string())),
        ("data_cache.conflicts", of(|settings| settings.conflicts.kind().name().to_owned())),
        ("data_cache.conflict_ports", of(|settings| ports(settings.conflicts).to_owned())),
    ]
}

/// Which accesses of a bank take turns, by name.
const fn ports(conflicts: BankConflicts) -> &'static str {
    match conflicts {
        BankConflicts::Instruction { ports } => ports.name(),
        BankConflicts::Apart | BankConflicts::CycleByCycle => "none",
    }
}

/// A memory with addresses in words.
pub(super) fn describe(settings: CachedSettings) -> String {
    let CachedSettings { cache_bytes, ways, mapping, transaction_bytes, conflicts } = settings;
    let size = match cache_bytes / 1024 {
        0 => "none".to_owned(),
        kb => format!("{kb} KB in sets of {ways}"),
    };
    let meeting = match conflicts {
        BankConflicts::Apart => String::new(),
        BankConflicts::Instruction { ports: ConflictPorts::Any } => ", penalties".to_owned(),
        BankConflicts::Instruction { ports: ConflictPorts::ReadWrite } => {
            ", penalties of reads".to_owned()
        }
        BankConflicts::CycleByCycle => ", arbitrated with registers".to_owned(),
    };
    format!("{size}, {} banks{meeting}, transactions of {transaction_bytes} bytes", mapping.name())
}

impl DataCacheTable {
    /// The banks that it names.
    pub(super) fn banks(&self) -> Option<BankMapping> {
        self.banks.map(|banks| banks.0)
    }

    /// Whether it gives a capacity.
    pub(super) const fn has_capacity(&self) -> bool {
        self.capacity_kb.is_some()
    }
}

impl Design {
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
        if super::is_file(&self.argument) { LEAVE_OUT } else { NAME_ANOTHER }
    }
}
