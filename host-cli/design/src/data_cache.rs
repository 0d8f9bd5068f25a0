//! The primary data cache of a design: what `[data_cache]` in a design file says, and what makes a
//! memory that knows addresses (`docs/MODEL.md`, rule 35).

use serde::Deserialize;
use strata_core::sm::memory::bank_conflicts::{BankConflictKind, BankConflicts, ConflictPorts};
use strata_core::sm::memory::cached::{CachedSettings, LocalStores};
use strata_core::sm::memory::mshr::MshrLimit;
use strata_core::sm::memory::touched::{BankMapping, LINE_BYTES};

use super::checks::{combination, small};
use strata_config::ConfigError;
use strata_config::by_name::ByName;

/// Largest cache. Unit: KB.
const MOST_KB: i64 = 4096;
/// Capacities are multiples of this: 4 sets of 4 lines. Unit: KB.
const STEP_KB: i64 = 2;
/// Most lines of a set.
const MOST_WAYS: u8 = 128;
/// What DRAM can move at least. Unit: bytes.
const TRANSACTIONS: [u32; 4] = [16, 32, 64, 128];

/// Loads that wait for a line, where a file gives MSHRs without saying.
const MSHR_LOADS: u8 = 8;

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
    mshrs: Option<i64>,
    mshr_loads: Option<i64>,
    local_stores: Option<ByName<LocalStores>>,
}

impl DataCacheTable {
    /// The settings. What the table leaves out is that of `base`, if the base has a cache;
    /// otherwise that of [`CachedSettings::of`]: sets of four lines (`[MICRO2012]` Table 2), banks
    /// of 4 bytes apart from the registers, transactions of 32 bytes, a sector.
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
        let base = base.unwrap_or(CachedSettings::of(0));
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
        let ways = ways.transpose()?.unwrap_or(base.ways);
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
        let given = self.transaction_bytes.unwrap_or(base.transaction_bytes.into());
        let transaction_bytes = TRANSACTIONS.into_iter().find(|&bytes| i64::from(bytes) == given);
        let transaction_bytes = transaction_bytes
            .ok_or_else(|| range("transaction_bytes", given, "16, 32, 64 or 128 bytes"))?;
        let settings = CachedSettings {
            cache_bytes,
            ways,
            mapping: self.banks.map_or(base.mapping, |banks| banks.0),
            transaction_bytes,
            conflicts: self.conflicts(file, base.conflicts)?,
            mshrs: self.mshrs(file, base.mshrs)?,
            local_stores: self.local_stores.map_or(base.local_stores, |stores| stores.0),
            l2: base.l2,
        };
        self.check_absent(file, &settings)?;
        Ok(settings)
    }

    /// How registers and the memory on the chip meet in banks: by default not at all.
    fn conflicts(&self, file: &str, own: BankConflicts) -> Result<BankConflicts, ConfigError> {
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

impl DataCacheTable {
    /// What the cache awaits at most: by default any number of lines.
    fn mshrs(&self, file: &str, own: Option<MshrLimit>) -> Result<Option<MshrLimit>, ConfigError> {
        let lines = match self.mshrs {
            Some(lines) => {
                let fits = u16::try_from(lines).ok();
                let fits = fits.filter(|lines| (1..=MshrLimit::MAX_LINES).contains(lines));
                Some(fits.ok_or_else(|| ConfigError::Range {
                    file: file.to_owned(),
                    key: "data_cache.mshrs".to_owned(),
                    value: lines.to_string(),
                    allowed: format!("1 to {}", MshrLimit::MAX_LINES),
                })?)
            }
            None => own.map(|own| own.lines),
        };
        let loads = self.mshr_loads.map(|loads| small(file, "data_cache.mshr_loads", loads, 255));
        let Some(lines) = lines else {
            if self.mshr_loads.is_none() {
                return Ok(None);
            }
            return Err(combination(
                file,
                "`data_cache.mshr_loads` without `mshrs`: it is a limit of each of them",
                "add `mshrs = 32`, or leave it out",
            ));
        };
        let loads = loads.transpose()?.or(own.map(|own| own.loads)).unwrap_or(MSHR_LOADS);
        Ok(Some(MshrLimit { lines, loads }))
    }

    /// Whether the table says nothing of a cache that it has not.
    fn check_absent(&self, file: &str, settings: &CachedSettings) -> Result<(), ConfigError> {
        if settings.cache_bytes != 0 || !self.has_capacity() {
            return Ok(());
        }
        let given =
            [("mshrs", self.mshrs.is_some()), ("local_stores", self.local_stores.is_some())];
        let Some((key, _)) = given.into_iter().find(|&(_, given)| given) else { return Ok(()) };
        Err(combination(
            file,
            &format!(
                "`data_cache.{key}` with `capacity_kb = 0`: there is no cache that it changes"
            ),
            "leave it out, or give the cache a capacity",
        ))
    }
}

/// Every parameter of a memory with addresses, by the key of a design file and its value.
pub(super) fn parameters(settings: Option<CachedSettings>) -> Vec<(&'static str, String)> {
    let none = || "none".to_owned();
    let of = |get: fn(CachedSettings) -> String| settings.map_or_else(none, get);
    let limit = settings.and_then(|settings| settings.mshrs);
    let mshrs = |get: fn(MshrLimit) -> String| limit.map_or_else(none, get);
    let local_stores = settings.map_or(LocalStores::default(), |settings| settings.local_stores);
    vec![
        ("data_cache.capacity_kb", of(|settings| (settings.cache_bytes / 1024).to_string())),
        ("data_cache.ways", of(|settings| settings.ways.to_string())),
        ("data_cache.banks", of(|settings| settings.mapping.name().to_owned())),
        ("data_cache.transaction_bytes", of(|settings| settings.transaction_bytes.to_string())),
        ("data_cache.conflicts", of(|settings| settings.conflicts.kind().name().to_owned())),
        ("data_cache.conflict_ports", of(|settings| ports(settings.conflicts).to_owned())),
        ("data_cache.mshrs", mshrs(|limit| limit.lines.to_string())),
        ("data_cache.mshr_loads", mshrs(|limit| limit.loads.to_string())),
        ("data_cache.local_stores", local_stores.name().to_owned()),
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
    let CachedSettings { cache_bytes, ways, mapping, transaction_bytes, conflicts, .. } = settings;
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
    let mshrs = settings.mshrs.map_or(String::new(), |MshrLimit { lines, loads }| {
        format!(", {lines} MSHRs of {loads} loads")
    });
    let local = match settings.local_stores {
        LocalStores::NoAllocate => "",
        LocalStores::Allocate => ", local stores allocate",
    };
    format!(
        "{size}, {} banks{meeting}, transactions of {transaction_bytes} bytes{mshrs}{local}",
        mapping.name()
    )
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
