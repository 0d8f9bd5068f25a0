//! Design files: a named design and what differs from it.
//!
//! [`FORMAT`] is a file with every key.

use std::io::Read;

use serde::Deserialize;
use strata_compiler::hierarchy::{DualWrites, Lrf};
use strata_core::energy::WireCharge;
use strata_core::organisation::{
    CachedLevels, LevelSettings, MAX_ACTIVE_WARPS, Scheduling, SchedulingLevels,
};
use strata_core::placement::MAX_ORF_ENTRIES;
use strata_core::register_file_cache::{Allocation, MAX_ENTRIES, Replacement};
use strata_core::sm::config::{
    ActiveLimitKind, BarrierRule, ReplacementRule, Scheduler, Schedulers, ShortWait, SmSettings,
};
use strata_core::sm::memory::touched::BankMapping;
use strata_core::sm::operand_delivery::DeliveryKind;

use super::changes::changes;
use super::checks::{combination, small};
use super::data_cache::DataCacheTable;
use super::delivery::{CollectorTable, PoolReadEnergy};
use super::design::Design;
use super::interpolation::MissingEnergy;
use super::keys;
use super::level_keys::{self, EnergyTable, WiresTable};
use super::managed::Managed;
use super::memory::{self, MemoryKind};
use super::parts::Parts;
use super::second_level::{self, GddrTable, L2Table};
use super::sm::{LatencyTable, RegistersTable, Rules, SmTable};
use super::storage::StorageTable;
use super::{name, storage_technology, technology_file};
use strata_config::by_name::ByName;
use strata_config::{ConfigError, Mistake, name as plain, strict};
use strata_files::failure::reason;

pub use super::keys::FORMAT;

/// Longest design file. Unit: bytes.
const LONGEST: u64 = 1 << 20;

/// Where the keys of a design come from.
pub(super) struct Origin<'a> {
    /// The file, or the whole argument of a design with parameters: for messages, and where other
    /// files are looked for.
    pub(super) file: &'a str,
    /// The design's name; none if the keys or the file say it.
    pub(super) called: Option<&'a str>,
}

/// The keys of a design.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DesignFile {
    base: String,
    name: Option<String>,
    scheduling: Option<ByName<SchedulingLevels>>,
    active_warps: Option<i64>,
    partial_warp_energy: Option<bool>,
    wire_charge: Option<ByName<WireCharge>>,
    missing_energy: Option<ByName<MissingEnergy>>,
    scheduler: Option<ByName<Scheduler>>,
    issue_slots: Option<i64>,
    schedulers: Option<ByName<Schedulers>>,
    replacement: Option<ByName<ReplacementRule>>,
    reactive_threshold_cycles: Option<i64>,
    also_leaves_for: Option<Vec<ByName<ShortWait>>>,
    barrier: Option<ByName<BarrierRule>>,
    active_limit: Option<ByName<ActiveLimitKind>>,
    last_result_file: Option<bool>,
    memory: Option<ByName<MemoryKind>>,
    technology: Option<String>,
    pool_read_energy: Option<ByName<PoolReadEnergy>>,
    operand_delivery: Option<ByName<DeliveryKind>>,
    banks: Option<i64>,
    collectors: Option<CollectorTable>,
    cache: Option<CacheTable>,
    orf: Option<OrfTable>,
    data_cache: Option<DataCacheTable>,
    l2: Option<L2Table>,
    gddr: Option<GddrTable>,
    #[serde(default)]
    registers: RegistersTable,
    storage: Option<StorageTable>,
    storage_technologies: Option<Vec<String>>,
    #[serde(default)]
    sm: SmTable,
    #[serde(default)]
    latency_cycles: LatencyTable,
    energy: Option<EnergyTable>,
    #[serde(default)]
    wires: WiresTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheTable {
    entries: Option<i64>,
    replacement: Option<ByName<Replacement>>,
    allocation: Option<ByName<Allocation>>,
    liveness: Option<bool>,
    liveness_aware_bypass: Option<bool>,
    liveness_aware_eviction: Option<bool>,
    flush_at_backward_branches: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrfTable {
    entries: Option<i64>,
    lrf: Option<ByName<Lrf>>,
    forward_branches: Option<bool>,
    read_operands: Option<bool>,
    partial_ranges: Option<bool>,
    dual_writes: Option<ByName<DualWrites>>,
}

/// Reads a design file.
pub fn load(path: &str) -> Result<Design, ConfigError> {
    parse(path, &text(path)?)
}

/// The text of a design file.
fn text(path: &str) -> Result<String, ConfigError> {
    let unreadable = |reason: String| ConfigError::Unreadable { file: path.to_owned(), reason };
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text))
        .map_err(|error| unreadable(reason(&error)))?;
    if text.len() as u64 > LONGEST {
        return Err(unreadable(format!("a design file has at most {LONGEST} bytes")));
    }
    Ok(text)
}

/// A design file's keys, with the files that it names where they are found from elsewhere.
pub(super) fn table(path: &str) -> Result<toml::Table, ConfigError> {
    let mut table: toml::Table =
        strict::from_str(&text(path)?).map_err(|mistake| unread(path, mistake))?;
    let place = |value: &mut toml::Value| {
        if let toml::Value::String(text) = value
            && let Some(beside) = technology_file::beside(path, text)
        {
            *text = beside.display().to_string();
        }
    };
    table.get_mut("technology").map(place);
    if let Some(toml::Value::Array(all)) = table.get_mut("storage_technologies") {
        all.iter_mut().for_each(place);
    }
    let called = toml::Value::String(own_name(path, None)?);
    table.entry("name").or_insert(called);
    Ok(table)
}

/// The keys in a text.
pub(super) fn document(text: &str) -> Result<DesignFile, Mistake> {
    strict::from_str(text)
}

pub(super) fn unread(file: &str, mistake: Mistake) -> ConfigError {
    ConfigError::Malformed {
        file: file.to_owned(),
        hint: keys::hint(&mistake),
        mistake: mistake.into(),
    }
}

/// Reads a design from the text of a file; `file` is used in messages, and for the design's name.
pub fn parse(file: &str, text: &str) -> Result<Design, ConfigError> {
    let written = document(text).map_err(|mistake| unread(file, mistake))?;
    let built = build(&Origin { file, called: None }, written);
    built.map_err(|error| error.located(file, text))
}

/// The design that has these keys.
pub(super) fn build(origin: &Origin<'_>, mut written: DesignFile) -> Result<Design, ConfigError> {
    let file = origin.file;
    let mut parts = name::parts(&written.base).map_err(|_| ConfigError::Range {
        file: file.to_owned(),
        key: "base".to_owned(),
        value: format!("{:?}", written.base),
        allowed: "a name that `strata designs` lists, such as `isca11-rfc6`".to_owned(),
    })?;
    let base = parts.name;
    parts.name = match origin.called {
        Some(called) => called.to_owned(),
        None => own_name(file, written.name.as_deref())?,
    };
    parts.source = format!("{file}, after {base} ({})", parts.source);
    parts.partial_warp_energy = written.partial_warp_energy.unwrap_or(false);
    parts.wire_charge = named(written.wire_charge, WireCharge::default());
    parts.missing_energy = named(written.missing_energy, MissingEnergy::default());
    parts.sorted_registers = written.registers.sorted();
    if let Some(table) = &written.cache {
        cache(file, table, &mut parts)?;
    }
    if let Some(table) = &written.orf {
        operand_register_file(file, table, &mut parts)?;
    }
    if let Some(on) = written.last_result_file {
        last_result_file(file, on, &mut parts)?;
    }
    scheduling(file, &written, &mut parts)?;
    let technology = written.technology.as_deref();
    let kind = written.memory.map(|kind| kind.0);
    parts.memory = memory::chosen(file, kind, technology, parts.memory.as_ref())?;
    let kind = written.operand_delivery.map(|kind| kind.0);
    parts.delivery.change(file, kind, written.banks, written.collectors.as_ref())?;
    pool_read_energy(file, written.pool_read_energy.map(|energy| energy.0), &mut parts)?;
    if let Some(table) = &written.data_cache {
        parts.data_cache = Some(table.settings(file, parts.data_cache)?);
    }
    second_level(file, &written, &mut parts)?;
    let can_hit = parts.data_cache.is_some_and(|cache| cache.cache_bytes != 0);
    let divided = divided_key(&written);
    time(file, &mut written, &mut parts.sm, can_hit)?;
    let banks = written.data_cache.as_ref().and_then(DataCacheTable::banks);
    storage(file, written.storage.as_ref(), (divided, banks), &mut parts)?;
    if let Some(given) = &written.storage_technologies {
        parts.storage_technologies = storage_technology::chosen(file, given)?;
    }
    if let Some(table) = &written.energy {
        level_keys::energy(file, table, &mut parts)?;
    }
    level_keys::wires(file, &written.wires, &mut parts)?;
    // No built-in name has parameters in it.
    if origin.called.is_none() && name::resolve(&parts.name).is_ok() {
        return Err(combination(
            file,
            &format!("`{}` is the name of a built-in design", parts.name),
            "call it something else, with `name = \"...\"`",
        ));
    }
    let given = parts.energy;
    let source = written.energy.as_ref().map(|table| table.source.trim());
    let mut design = parts.build(file)?;
    design.changed = changes(&name::resolve(&base)?, &design, &given, source);
    Ok(design)
}

/// `[gddr]` and `[l2]` give the design a second level below its data cache.
fn second_level(file: &str, written: &DesignFile, parts: &mut Parts) -> Result<(), ConfigError> {
    let clock = parts.machine.clock;
    let given = second_level::settings(file, written.l2.as_ref(), written.gddr.as_ref(), clock)?;
    let Some(l2) = given else { return Ok(()) };
    let Some(cache) = &mut parts.data_cache else {
        return Err(combination(
            file,
            "`[gddr]` and no memory with addresses in front of it",
            "add a `[data_cache]`; with `capacity_kb = 0` it has no cache",
        ));
    };
    cache.l2 = Some(l2);
    let key = written.sm.dram_key().or(written.latency_cycles.dram_key());
    if let Some(key) = key {
        return Err(combination(
            file,
            &format!("`{key}` with `[gddr]`, whose time follows from its own keys"),
            "leave it out, or the table",
        ));
    }
    parts.assumed.push(second_level::ASSUMED.to_owned());
    Ok(())
}

/// A key that gives the size of what `[storage]` divides, if the file has one.
fn divided_key(written: &DesignFile) -> Option<&'static str> {
    let cache = written.data_cache.as_ref().is_some_and(DataCacheTable::has_capacity);
    written.sm.divided_key().or(cache.then_some("data_cache.capacity_kb"))
}

/// `[storage]` changes how the base's storage is divided, or has a base's divided whose areas are
/// fixed. `key` gives the size of an area; the cache has the banks that the file names, if it does.
fn storage(
    file: &str,
    table: Option<&StorageTable>,
    (key, banks): (Option<&str>, Option<BankMapping>),
    parts: &mut Parts,
) -> Result<(), ConfigError> {
    if table.is_none() && parts.storage.is_none() {
        return Ok(());
    }
    if let Some(key) = key {
        return Err(combination(
            file,
            &format!(
                "`{key}` is the size of an area, but the design's storage is divided for each \
                      application"
            ),
            "say in `[storage]` how much there is, or start from a base with areas",
        ));
    }
    let Some(table) = table else { return Ok(()) };
    if parts.data_cache.is_none() {
        return Err(combination(
            file,
            "`[storage]` divides storage with a cache, and the design has none",
            "start from a base such as `micro12`",
        ));
    }
    if parts.memory.is_some() {
        return Err(combination(
            file,
            "`[storage]` with a memory of the main register file's own",
            "start from a base such as `micro12`",
        ));
    }
    let storage = table.storage(file, parts.storage.as_ref())?;
    parts.divide(storage);
    if let (Some(cache), Some(banks)) = (&mut parts.data_cache, banks) {
        cache.mapping = banks;
    }
    Ok(())
}

/// The value that the file names, or else `otherwise`.
fn named<T>(given: Option<ByName<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |given| given.0)
}

/// The name that the file gives, or else that of the file.
fn own_name(file: &str, given: Option<&str>) -> Result<String, ConfigError> {
    if let Some(name) = given {
        plain::check_word(file, "name", name)?;
        return Ok(name.to_owned());
    }
    let stem = std::path::Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    plain::word(&stem).map_err(|why| {
        let problem = format!("the name of the file, {stem:?}, is no name of a design: {why}");
        combination(file, &problem, &format!("add `name = \"...\"`, {}", plain::A_WORD))
    })?;
    Ok(stem.into_owned())
}

/// What the read of an operand costs that the write pool has, of a design with a pool.
fn pool_read_energy(
    file: &str,
    given: Option<PoolReadEnergy>,
    parts: &mut Parts,
) -> Result<(), ConfigError> {
    let has_pool = parts.delivery.write_pool_entries() != 0;
    if given.is_some() && !has_pool {
        return Err(combination(
            file,
            "`pool_read_energy` without a write pool",
            "set `write_pool_entries` in `[collectors]`, or remove the key",
        ));
    }
    parts.pool_read_energy = given.unwrap_or(parts.pool_read_energy);
    Ok(())
}

/// What matters in cycle mode only.
fn time(
    file: &str,
    written: &mut DesignFile,
    sm: &mut SmSettings,
    data_cache: bool,
) -> Result<(), ConfigError> {
    written.sm.apply(file, sm)?;
    std::mem::take(&mut written.latency_cycles).completed().apply(file, sm)?;
    let waits = written.also_leaves_for.as_ref();
    let rules = Rules {
        scheduler: written.scheduler.map(|scheduler| scheduler.0),
        issue_slots: written.issue_slots,
        schedulers: written.schedulers.map(|schedulers| schedulers.0),
        replacement: written.replacement.map(|rule| rule.0),
        threshold: written.reactive_threshold_cycles,
        also_leaves_for: waits.map(|waits| waits.iter().map(|wait| wait.0).collect()),
        barrier: written.barrier.map(|rule| rule.0),
        active_limit: written.active_limit.map(|limit| limit.0),
        data_cache,
    };
    written.registers.apply(file, sm)?;
    rules.apply(file, sm)
}

/// `[cache]` changes the base's cache, or gives one to a base without.
fn cache(file: &str, table: &CacheTable, parts: &mut Parts) -> Result<(), ConfigError> {
    let entries = table
        .entries
        .map(|entries| small(file, "cache.entries", entries, MAX_ENTRIES))
        .transpose()?;
    let mut levels = match (parts.settings.levels, entries) {
        (LevelSettings::Cached(levels), _) => levels,
        (LevelSettings::Flat, Some(entries)) => {
            let active_warps = parts.machine.rfc.active_warps;
            parts.settings.scheduling = Scheduling::TwoLevel { active_warps };
            CachedLevels::new(name::default_cache(entries))
        }
        (LevelSettings::CompilerManaged, Some(_)) => return Err(cache_and_compiler(file)),
        (LevelSettings::Flat | LevelSettings::CompilerManaged, None) => {
            return Err(combination(
                file,
                "`[cache]` has no `entries`, and the base has no cache",
                "add `entries = 6`, or start from a base with a cache",
            ));
        }
    };
    let cache = &mut levels.cache;
    cache.entries = entries.unwrap_or(cache.entries);
    cache.replacement = named(table.replacement, cache.replacement);
    cache.allocation = named(table.allocation, cache.allocation);
    cache.liveness = table.liveness.unwrap_or(cache.liveness);
    cache.liveness_aware_bypass =
        table.liveness_aware_bypass.unwrap_or(cache.liveness_aware_bypass);
    cache.liveness_aware_eviction =
        table.liveness_aware_eviction.unwrap_or(cache.liveness_aware_eviction);
    levels.flush_at_backward_branches =
        table.flush_at_backward_branches.unwrap_or(levels.flush_at_backward_branches);
    parts.settings.levels = LevelSettings::Cached(levels);
    Ok(())
}

/// `last_result_file` puts one in front of the cache, or takes it away.
fn last_result_file(file: &str, on: bool, parts: &mut Parts) -> Result<(), ConfigError> {
    if on && !parts.machine.has_last_result_file() {
        return Err(name::no_last_result_file(file, parts.machine));
    }
    match &mut parts.settings.levels {
        LevelSettings::Cached(levels) => levels.last_result_file = on,
        LevelSettings::Flat | LevelSettings::CompilerManaged if on => {
            return Err(combination(
                file,
                "a last result file needs a register file cache behind it",
                "add a `[cache]`, or turn `last_result_file` off",
            ));
        }
        LevelSettings::Flat | LevelSettings::CompilerManaged => {}
    }
    Ok(())
}

fn cache_and_compiler(file: &str) -> ConfigError {
    combination(
        file,
        "a compiler-managed hierarchy takes the place of a register file cache",
        "leave out `[cache]` and `last_result_file`, or start from another base",
    )
}

fn scheduling(file: &str, written: &DesignFile, parts: &mut Parts) -> Result<(), ConfigError> {
    let active = written
        .active_warps
        .map(|warps| small(file, "active_warps", warps, MAX_ACTIVE_WARPS))
        .transpose()?;
    let levels = named(written.scheduling, parts.settings.scheduling.levels());
    parts.settings.scheduling = match (levels, active, parts.settings.scheduling) {
        (SchedulingLevels::TwoLevel, Some(active_warps), _) => {
            Scheduling::TwoLevel { active_warps }
        }
        (SchedulingLevels::TwoLevel, None, two_level @ Scheduling::TwoLevel { .. }) => two_level,
        (SchedulingLevels::TwoLevel, None, Scheduling::SingleLevel) => {
            Scheduling::TwoLevel { active_warps: parts.machine.rfc.active_warps }
        }
        (SchedulingLevels::SingleLevel, None, _) => Scheduling::SingleLevel,
        (SchedulingLevels::SingleLevel, Some(_), _) => {
            return Err(combination(
                file,
                "`active_warps` has no meaning with a single-level scheduler",
                "remove `active_warps`, or set `scheduling = \"two-level\"`",
            ));
        }
    };
    Ok(())
}

/// `[orf]` changes the base's compiler-managed hierarchy, or gives one to a base without a cache.
fn operand_register_file(
    file: &str,
    table: &OrfTable,
    parts: &mut Parts,
) -> Result<(), ConfigError> {
    if !parts.machine.has_last_result_file() {
        return Err(combination(
            file,
            &format!("machine `{}` has no operand register file", parts.machine.name),
            "start from a base such as `dissertation` or `diss-orf3`",
        ));
    }
    let entries = table
        .entries
        .map(|entries| small(file, "orf.entries", entries, MAX_ORF_ENTRIES))
        .transpose()?;
    let mut managed = match (parts.managed, entries) {
        (Some(managed), _) => managed,
        (None, Some(_)) if parts.settings.levels.cache().is_some() => {
            return Err(cache_and_compiler(file));
        }
        (None, Some(entries)) => {
            let active_warps = parts.machine.rfc.active_warps;
            parts.settings.scheduling = Scheduling::TwoLevel { active_warps };
            parts.settings.levels = LevelSettings::CompilerManaged;
            Managed::new(entries)
        }
        (None, None) => {
            return Err(combination(
                file,
                "`[orf]` has no `entries`, and the base has no operand register file",
                "add `entries = 3`, or start from a base with one",
            ));
        }
    };
    managed.entries = entries.unwrap_or(managed.entries);
    managed.lrf = named(table.lrf, managed.lrf);
    managed.forward_branches = table.forward_branches.unwrap_or(managed.forward_branches);
    managed.read_operands = table.read_operands.unwrap_or(managed.read_operands);
    managed.partial_ranges = table.partial_ranges.unwrap_or(managed.partial_ranges);
    managed.dual_writes = named(table.dual_writes, managed.dual_writes);
    parts.managed = Some(managed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::keys::format_lines;
    use super::*;
    use crate::second_level::Part;
    use crate::storage::{Repartition, ThreadChoice};
    use strata_core::bank_layout::BankLayout;
    use strata_core::energy::BankEnergy;
    use strata_core::level::Level;
    use strata_core::names::Named;
    use strata_core::register_file_cache::RegisterFileCacheConfig;
    use strata_core::sm::config::WarpReplacement;
    use strata_core::sm::memory::bank_conflicts::{BankConflictKind, ConflictPorts};
    use strata_core::sm::memory::cached::LocalStores;
    use strata_core::sm::partition::CacheSizes;
    use strata_core::units::Femtojoules;

    fn error(text: &str) -> String {
        let error = parse("d.toml", text).unwrap_err();
        match error.hint() {
            Some(hint) => format!("{error}\nhint: {hint}"),
            None => error.to_string(),
        }
    }

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        let base = name::resolve("isca11-rfc6").unwrap();
        let same = parse("some/where.toml", "base = \"isca11-rfc6\"").unwrap();
        assert_eq!(same.name, "where");
        assert_eq!((same.organisation(), &same.energy), (base.organisation(), &base.energy));
        assert_eq!(same.source, format!("some/where.toml, after isca11-rfc6 ({})", base.source));

        let text = "base = \"isca11-rfc6\"\nname = \"mine\"\nactive_warps = 4\n\
                    partial_warp_energy = true\n[cache]\nentries = 4\nreplacement = \"lru\"\n";
        let changed = parse("d.toml", text).unwrap();
        assert_eq!(changed.name, "mine");
        assert_eq!(changed.active_warps(), 4);
        assert!(changed.partial_warp_energy && changed.baseline().partial_warp_energy);
        let expected = RegisterFileCacheConfig {
            entries: 4,
            replacement: Replacement::Lru,
            ..base.cache().unwrap()
        };
        assert_eq!(changed.cache(), Some(expected));
        let bank = changed.energy.unwrap().level(Level::Rfc).unwrap().bank;
        assert_eq!(bank, BankEnergy { read: Femtojoules(1200), write: Femtojoules(3800) });
    }

    #[test]
    fn a_flat_base_can_be_given_a_cache() {
        let text = "base = \"dissertation\"\n[cache]\nentries = 3\n";
        let design = parse("d.toml", text).unwrap();
        assert_eq!(design.organisation(), name::resolve("diss-rfc3").unwrap().organisation());
        let single = format!("scheduling = \"single-level\"\n{text}");
        assert_eq!(parse("d.toml", &single).unwrap().active_warps(), 32);
    }

    #[test]
    fn a_last_result_file_is_put_in_front_or_taken_away() {
        let with = parse("d.toml", "base = \"diss-rfc3\"\nlast_result_file = true").unwrap();
        let named = name::resolve("diss-rfc3-lrf").unwrap();
        assert_eq!((with.organisation(), &with.energy), (named.organisation(), &named.energy));
        assert_eq!(with.assumed, named.assumed);
        let without =
            parse("d.toml", "base = \"diss-rfc3-lrf\"\nlast_result_file = false").unwrap();
        assert_eq!(without.organisation(), name::resolve("diss-rfc3").unwrap().organisation());
        let none = parse("d.toml", "base = \"diss-orf3\"\nlast_result_file = false").unwrap();
        assert_eq!(none.organisation(), name::resolve("diss-orf3").unwrap().organisation());
        let text = "base = \"diss-rfc3-lrf\"\nactive_warps = 4\n[energy]\nsource = \"x\"\n\
                    lrf_read = \"0.5 pJ\"\nlrf_write = \"1 pJ\"\nrfc_read = \"1 pJ\"\n\
                    rfc_write = \"2 pJ\"\n[wires]\nlrf_private = \"0.1 mm\"\n";
        let lrf = parse("d.toml", text).unwrap().energy.unwrap().level(Level::Lrf).unwrap();
        assert_eq!(lrf.bank, BankEnergy { read: Femtojoules(500), write: Femtojoules(1000) });
        assert_eq!(lrf.wires.private_um, 100);
        // What the machine prints is for 8 warps.
        let four = parse("d.toml", "base = \"diss-rfc4-lrf\"\nactive_warps = 4").unwrap();
        let reason = four.energy.unwrap_err().to_string();
        assert!(reason.contains("no energy of a last result file for 4 warps"), "{reason}");
    }

    #[test]
    fn strands_end_under_any_scheduler() {
        let named = name::resolve("diss-orf3").unwrap();
        let text = "base = \"diss-orf3\"\nscheduling = \"single-level\"\n[energy]\n\
                    source = \"x\"\norf_read = \"1 pJ\"\norf_write = \"2 pJ\"\n";
        let single = parse("d.toml", text).unwrap();
        assert_eq!((named.encoding_bits(), single.encoding_bits()), (1, 1));
        let cached = "base = \"isca11-rfc6\"\nscheduling = \"single-level\"";
        assert_eq!(parse("d.toml", cached).unwrap().encoding_bits(), 3);
    }

    #[test]
    fn a_compiler_managed_hierarchy_is_changed_or_given() {
        let text = "base = \"dissertation\"\n[orf]\nentries = 3\nlrf = \"split\"\n";
        let design = parse("d.toml", text).unwrap();
        let named = name::resolve("diss-orf3-lrf-split").unwrap();
        assert_eq!(
            (design.organisation(), design.managed, &design.energy),
            (named.organisation(), named.managed, &named.energy)
        );
        assert_eq!(design.assumed, named.assumed);
        let text = "base = \"diss-orf3-lrf-split\"\n[orf]\nlrf = \"none\"\nread_operands = false\n\
                    forward_branches = false\npartial_ranges = false\ndual_writes = \"same-name\"\n\
                    [energy]\nsource = \"x\"\norf_read = \"1 pJ\"\norf_write = \"2 pJ\"\n\
                    [wires]\norf_private = \"0.3 mm\"\norf_shared = \"0.5 mm\"\n";
        let design = parse("d.toml", text).unwrap();
        let managed = design.managed.unwrap();
        assert!(!managed.forward_branches && !managed.read_operands && !managed.partial_ranges);
        assert_eq!((managed.lrf, managed.dual_writes), (Lrf::None, DualWrites::SameName));
        let orf = design.energy.unwrap().level(Level::Orf).unwrap();
        assert_eq!(orf.bank, BankEnergy { read: Femtojoules(1000), write: Femtojoules(2000) });
        assert_eq!((orf.wires.private_um, orf.wires.shared_um), (300, 500));
    }

    #[test]
    fn energy_values_are_used_and_those_assumed_are_shown() {
        let text = "base = \"isca11-rfc13\"\n[energy]\nsource = \"a guess\"\nassumed = true\n\
                    rfc_read = \"5 pJ\"\nrfc_write = \"17.5 pJ\"\nmrf_read = \"9 pJ\"\n\
                    [wires]\nrfc_shared = \"0.4 mm\"\n";
        let design = parse("d.toml", text).unwrap();
        assert_eq!(design.assumed, ["energy values of d.toml: a guess"]);
        let table = design.energy.unwrap();
        let rfc = table.level(Level::Rfc).unwrap();
        assert_eq!(rfc.bank, BankEnergy { read: Femtojoules(5000), write: Femtojoules(17_500) });
        assert_eq!((rfc.wires.private_um, rfc.wires.shared_um), (200, 400));
        assert_eq!(table.mrf.bank.read, Femtojoules(9000));
        let baseline = parse("d.toml", text).unwrap().baseline().energy.unwrap();
        assert_eq!((baseline.mrf, baseline.level(Level::Rfc)), (table.mrf, None));
        let sourced = text.replace("assumed = true\n", "");
        assert!(parse("d.toml", &sourced).unwrap().source.ends_with("; energy: a guess"));
    }

    #[test]
    fn the_format_is_a_file_with_every_key() {
        let design = parse("format.toml", FORMAT).unwrap();
        assert_eq!(design.sm.replacement, WarpReplacement::Reactive { threshold: 20 });
        // Every key is known: a wrong value is what is wrong with it.
        let mut table = "";
        let mut keys = 0;
        for line in format_lines() {
            if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                table = name;
            } else if let Some((key, _)) = line.split_once(" = ") {
                let own = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
                let base = if key == "base" { "" } else { "base = \"isca11\"\n" };
                let message = error(&format!("{base}{own}{key} = {{}}"));
                let known = !message.contains("there is no key");
                assert!(known, "{table} {key}: {message}");
                keys += 1;
            }
        }
        assert_eq!(keys, 22 + 7 + 6 + 9 + 3 + 9 + 4 + 21 + 9 + 10 + 10 + 11 + 5);
    }

    #[test]
    fn the_format_shows_every_name() {
        fn shown<T: Named>() {
            for name in T::NAMES {
                assert!(FORMAT.contains(&format!("\"{name}\"")), "{name}");
            }
        }
        shown::<SchedulingLevels>();
        shown::<WireCharge>();
        shown::<CacheSizes>();
        shown::<BankConflictKind>();
        shown::<ConflictPorts>();
        shown::<ThreadChoice>();
        shown::<Repartition>();
        shown::<Scheduler>();
        shown::<Schedulers>();
        shown::<ReplacementRule>();
        shown::<ShortWait>();
        shown::<BarrierRule>();
        shown::<MemoryKind>();
        shown::<PoolReadEnergy>();
        shown::<DeliveryKind>();
        shown::<Replacement>();
        shown::<Allocation>();
        shown::<Lrf>();
        shown::<DualWrites>();
        shown::<BankLayout>();
        shown::<BankMapping>();
        shown::<LocalStores>();
        shown::<Part>();
    }

    #[test]
    fn one_line_changes_a_latency_and_the_change_is_told() {
        let design = parse("d.toml", "base = \"isca11-rfc6\"\n[latency_cycles]\nalu = 4").unwrap();
        let timing = &design.sm.timing;
        assert_eq!((timing.alu_latency, timing.branch_latency, timing.double_latency), (4, 4, 4));
        assert_eq!(timing.shared_latency, 20);
        let told = ["alu", "branch", "double"]
            .map(|key| format!("d: latency_cycles.{key} = 4 (isca11-rfc6: 8)"));
        assert_eq!(design.changed, told);
        let text = "base = \"dissertation\"\n[latency_cycles]\nalu = 4\nbranch = 9\n\
                    shared_memory = 30\n";
        let timing = parse("d.toml", text).unwrap().sm.timing;
        assert_eq!((timing.branch_latency, timing.double_latency), (9, 4));
        assert_eq!((timing.shared_latency, timing.constant_latency), (30, 30));
    }

    #[test]
    fn every_number_of_the_sm_is_used_and_told() {
        let base = name::resolve("isca11-rfc6").unwrap();
        assert!(base.changed.is_empty());
        let mut table = "";
        let mut told = 0;
        for line in format_lines() {
            if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                table = name;
            }
            let Some((key, _)) = line.split_once(" = ") else { continue };
            if !["sm", "latency_cycles"].contains(&table) {
                continue;
            }
            // No base has any of these.
            let value = if key == "operand_window_cycles" { 7 } else { 13 };
            let text = format!("base = \"isca11-rfc6\"\n[{table}]\n{key} = {value}\n");
            let design = parse("d.toml", &text).unwrap();
            let expected = format!("d: {table}.{key} = {value} (isca11-rfc6: ");
            let first = &design.changed[0];
            assert!(first.starts_with(&expected), "{text}{first}");
            assert_ne!(design.sm, base.sm, "{key}");
            assert_eq!(design.organisation(), base.organisation(), "{key}");
            told += 1;
        }
        assert_eq!(told, 20);
        let rules = "base = \"isca11-rfc6\"\nactive_warps = 4\nscheduler = \"round-robin\"\n\
                     issue_slots = 2\nreplacement = \"reactive\"\n\
                     reactive_threshold_cycles = 9\nbarrier = \"when-blocking\"\n\
                     also_leaves_for = [\"shared-memory\", \"sfu\", \"double\", \"sfu\"]\n";
        let reactive = parse("d.toml", rules).unwrap();
        // Without marks there is none to encode.
        assert_eq!((base.encoding_bits(), reactive.encoding_bits()), (4, 3));
        assert_eq!(
            reactive.changed,
            [
                "d: active_warps = 4 (isca11-rfc6: 8)",
                "d: scheduler = round-robin (isca11-rfc6: greedy)",
                "d: issue_slots = 2 (isca11-rfc6: 1)",
                "d: replacement = reactive after 9 cycles (isca11-rfc6: preemptive)",
                "d: also_leaves_for = sfu, double, shared-memory (isca11-rfc6: nothing)",
                "d: barrier = when-blocking (isca11-rfc6: always)",
            ]
        );
    }

    #[test]
    fn another_register_file_has_no_printed_energy() {
        let text = "base = \"isca11-rfc6\"\n[sm]\nregister_file_kb = 256\n";
        let design = parse("d.toml", text).unwrap();
        let reason = design.energy.as_ref().unwrap_err().to_string();
        assert!(reason.contains("of a register file of 256 KB"), "{reason}");
        assert!(design.baseline().energy.is_err());
        let given = format!(
            "{text}[energy]\nsource = \"x\"\nmrf_read = \"9 pJ\"\nmrf_write = \"12 pJ\"\n\
             [wires]\nmrf_private = \"1 mm\"\nmrf_shared = \"1 mm\"\n"
        );
        assert!(parse("d.toml", &given).unwrap().energy.is_ok());
    }

    #[test]
    fn an_impossible_sm_names_file_key_value_and_range() {
        for (text, expected) in [
            (
                "base = \"isca11\"\n[latency_cycles]\nalu = 0",
                "d.toml:3:1: `latency_cycles.alu = 0` is impossible: allowed is 1 to 4096 cycles",
            ),
            (
                "base = \"isca11\"\n[latency_cycles]\ndram = 4097",
                "`latency_cycles.dram = 4097` is impossible: allowed is 1 to 4096 cycles",
            ),
            (
                "base = \"isca11\"\n[sm]\ntexture_lanes_per_cycle = 33",
                "`sm.texture_lanes_per_cycle = 33` is impossible: allowed is 1 to 32 lanes in a",
            ),
            (
                "base = \"isca11\"\n[sm]\nwarps = 65",
                "`sm.warps = 65` is impossible: allowed is 1 to 64 warps",
            ),
            (
                "base = \"isca11\"\n[sm]\nregister_file_kb = -1",
                "`sm.register_file_kb = -1` is impossible: allowed is 1 to 4096 KB",
            ),
            (
                "base = \"isca11\"\nissue_slots = 3",
                "`issue_slots = 3` is impossible: allowed is 1 to 2 instructions in a cycle",
            ),
            (
                "base = \"isca11-rfc6\"\nreplacement = \"reactive\"\nreactive_threshold_cycles = 0",
                "`reactive_threshold_cycles = 0` is impossible: allowed is 1 to 4096 cycles",
            ),
            ("base = \"isca11-rfc6\"\nreplacement = \"reactive\"", "hint: add for example"),
            ("base = \"isca11-rfc6\"\nreactive_threshold_cycles = 5", "hint: remove it, or set"),
            (
                "base = \"isca11-rfc6\"\nreplacement = \"cache-miss\"",
                "has no data cache: every access to global memory goes to DRAM\nhint: give it a",
            ),
            (
                "base = \"isca11-rfc6\"\nreplacement = \"cache-miss\"\n\
                 [data_cache]\ncapacity_kb = 0",
                "d.toml:2:1: `replacement = \"cache-miss\"` needs to know which loads hit",
            ),
            (
                "base = \"isca11-rfc6\"\nreplacement = \"cache-miss\"\n\
                 reactive_threshold_cycles = 5\n[data_cache]\ncapacity_kb = 64",
                "hint: remove it, or set",
            ),
            (
                "base = \"isca11\"\nbarrier = \"never\"",
                "hint: set `scheduling = \"two-level\"`, or remove `replacement`, \
                 `also_leaves_for`, `barrier` and `active_limit`",
            ),
            (
                "base = \"diss-orf3\"\nreplacement = \"reactive\"\nreactive_threshold_cycles = 5",
                "hint: remove `replacement` and `also_leaves_for`",
            ),
            (
                "base = \"diss-orf3-lrf-split\"\nalso_leaves_for = [\"shared-memory\"]",
                "leaves the active set where its compiler says, and nowhere else",
            ),
            (
                "base = \"isca11-rfc6\"\n[sm]\nwarps = 4",
                "8 warps cannot be active where only 4 are resident\nhint: lower `active_warps`",
            ),
        ] {
            let message = error(text);
            assert!(message.contains(expected), "{text}\n{message}");
        }
    }

    #[test]
    fn impossible_compiler_managed_hierarchies_say_why() {
        for (text, expected) in [
            ("base = \"diss-orf3\"\n[orf]\nentries = 9", "`orf.entries = 9` is impossible"),
            ("base = \"dissertation\"\n[orf]\nlrf = \"split\"", "hint: add `entries = 3`"),
            (
                "base = \"isca11\"\n[orf]\nentries = 3",
                "has no operand register file\nhint: start from",
            ),
            (
                "base = \"diss-orf3\"\n[cache]\nentries = 3",
                "takes the place of a register file cache\nhint: leave out `[cache]`",
            ),
            (
                "base = \"diss-rfc3-lrf\"\n[orf]\nentries = 3",
                "takes the place of a register file cache\nhint: leave out `[cache]`",
            ),
            (
                "base = \"dissertation\"\n[cache]\nentries = 3\n[orf]\nentries = 3",
                "takes the place of a register file cache\nhint: leave out `[cache]`",
            ),
            ("base = \"diss-orf3\"\n[cache]\nliveness = true", "hint: add `entries = 6`"),
            ("base = \"diss-rfc3\"\n[orf]\nlrf = \"split\"", "hint: add `entries = 3`"),
            (
                "base = \"diss-orf3\"\nlast_result_file = true",
                "a last result file needs a register file cache behind it",
            ),
            (
                "base = \"diss-orf3\"\n[registers]\nsorted = true",
                "which `registers.sorted` changes",
            ),
            (
                "base = \"diss-orf3\"\nactive_warps = 7",
                "the compiler places values by their energy",
            ),
            (
                "base = \"diss-rfc3\"\n[energy]\nsource = \"x\"\n\
                 orf_read = \"1 pJ\"\norf_write = \"1 pJ\"",
                "hint: add an `[orf]`",
            ),
            (
                "base = \"diss-rfc3\"\n[wires]\norf_shared = \"1 mm\"",
                "without an operand register file",
            ),
        ] {
            let message = error(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn impossible_values_name_file_key_value_and_range() {
        for (text, expected) in [
            (
                "base = \"isca11-rfc6\"\n[cache]\nentries = 14",
                "d.toml:3:1: `cache.entries = 14` is impossible: allowed is 1 to 13",
            ),
            ("base = \"isca11-rfc6\"\n[cache]\nentries = 0", "`cache.entries = 0` is impossible"),
            ("base = \"isca11-rfc6\"\n[cache]\nentries = -6", "`cache.entries = -6` is impossible"),
            (
                "base = \"isca11-rfc6\"\n[cache]\nentries = 9999999999",
                "`cache.entries = 9999999999`",
            ),
            (
                "base = \"isca11-rfc6\"\nactive_warps = 65",
                "d.toml:2:1: `active_warps = 65` is impossible: allowed is 1 to 64",
            ),
            (
                "base = \"isca12\"",
                "d.toml:1:1: `base = \"isca12\"` is impossible: allowed is a name",
            ),
            ("base = \"isca11\"\n[cache]\nliveness = true", "hint: add `entries = 6`"),
            ("base = \"isca11-rfc6-single\"\nactive_warps = 8", "hint: remove `active_warps`"),
            (
                "base = \"isca11-rfc6\"\n[cache]\nliveness = false\nliveness_aware_bypass = true",
                "hint: turn `cache.liveness` on",
            ),
            (
                "base = \"isca11-rfc6-bypass\"\nscheduling = \"single-level\"",
                "hint: set `scheduling = \"two-level\"`",
            ),
            (
                "base = \"isca11-rfc6\"\n[energy]\nsource = \"x\"\nrfc_read = \"1 pJ\"",
                "hint: give both",
            ),
            (
                "base = \"isca11\"\n[energy]\nsource = \"x\"\n\
                 rfc_read = \"1 pJ\"\nrfc_write = \"1 pJ\"",
                "hint: add a `[cache]`",
            ),
            (
                "base = \"isca11-rfc6\"\nlast_result_file = true",
                "machine `isca11` has no last result file\n\
                 hint: a design with one is `diss-rfc6-lrf`",
            ),
            (
                "base = \"dissertation\"\nlast_result_file = true",
                "hint: add a `[cache]`, or turn `last_result_file` off",
            ),
            (
                "base = \"diss-rfc6\"\n[energy]\nsource = \"x\"\n\
                 lrf_read = \"1 pJ\"\nlrf_write = \"1 pJ\"",
                "hint: set `last_result_file = true`, or remove the two values",
            ),
            (
                "base = \"diss-rfc6-lrf\"\n[energy]\nsource = \"x\"\nlrf_read = \"1 pJ\"",
                "only one of `energy.lrf_read` and `energy.lrf_write` is given",
            ),
            (
                "base = \"diss-rfc6\"\n[wires]\nlrf_private = \"1 mm\"",
                "`wires.lrf_private` without a last result file",
            ),
            (
                "base = \"isca11\"\n[energy]\nsource = \" \"",
                "`energy.source = \" \"` is impossible",
            ),
            ("base = \"isca11\"\n[wires]\nrfc_private = \"1 mm\"", "hint: add a `[cache]`"),
        ] {
            let message = error(text);
            assert!(message.contains(expected), "{text}\n{message}");
        }
    }

    #[test]
    fn malformed_files_point_at_the_place() {
        for (text, place, what) in [
            ("base = \"isca11\"\nentires = 6", "d.toml:2:", "did you mean `entries` in `[cache]`?"),
            ("base = \"isca11\"\nisue_slots = 2", "d.toml:2:", "did you mean `issue_slots`?"),
            ("base = \"isca11\"\n[latency]\nalu = 2", "d.toml:2:", "`latency_cycles`"),
            ("base = \"isca11\"\n[sm]\nwrps = 2", "d.toml:3:", "did you mean `warps`?"),
            (
                "base = \"isca11\"\n[sm]\nbariers = 2",
                "d.toml:3:",
                "did you mean `barrier` before the first table?",
            ),
            ("base = \"isca11\"\nzzzzzzzzz = 6", "d.toml:2:", "there is no key `zzzzzzzzz` here"),
            (
                "base = \"isca11-rfc6\"\n[cache]\nreplacement = \"plru\"",
                "d.toml:3:",
                "there are `fifo`, `lru`",
            ),
            (
                "base = \"isca11-rfc6\"\n[cache]\nentries = \"six\"",
                "d.toml:3:",
                "expected a whole number, found the text",
            ),
            (
                "base = \"isca11\"\n[energy]\nsource = \"x\"\nmrf_read = \"8\"",
                "d.toml:4:",
                "has no unit: write `8 pJ`",
            ),
            (
                "base = \"isca11\"\n[energy]\nmrf_read = \"8 pJ\"",
                "d.toml:2:",
                "`source` is missing",
            ),
            ("base = ", "d.toml:1:", ""),
            ("", "d.toml:1:", "`base` is missing"),
            ("\u{0}\u{1}", "d.toml:1:", ""),
        ] {
            let message = error(text);
            assert!(message.starts_with("d.toml:"), "{message}");
            assert!(message.contains(place) && message.contains(what), "{text}\n{message}");
        }
    }

    #[test]
    fn unreadable_files_are_errors() {
        let message = load("/no/such/design.toml").unwrap_err().to_string();
        assert!(message.starts_with("/no/such/design.toml: cannot be read: "), "{message}");
    }
}
