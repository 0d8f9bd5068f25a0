//! Values: what a design has for each key of a design file, as columns of reports.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use strata_core::level::Level;
use strata_core::names::Named as _;
use strata_core::organisation::{Scheduling, SchedulingLevels};
use strata_core::sm::config::{ShortWait, WarpReplacement};
use strata_core::sm::memory::l2::L2Settings;
use strata_core::sm::partition::{Areas, CacheRule, Division};

use super::keys::format_lines;
use super::{Design, MissingEnergy, Storage, changes, data_cache, sm};

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the unit of a design file.
    Number(u64),
    /// On or off.
    Switch(bool),
    /// A name, a quantity with its unit, or a list, as `--design NAME,KEY=VALUE` takes it.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(to),
            Self::Switch(on) => on.fmt(to),
            Self::Text(text) => to.write_str(text),
        }
    }
}

/// What the values of a parameter are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// [`Value::Number`].
    Number,
    /// [`Value::Switch`].
    Switch,
    /// [`Value::Text`].
    Text,
}

impl ValueKind {
    /// That of the example which the format has of a key.
    fn of_example(example: &str) -> Self {
        match example.split_whitespace().next() {
            Some("true" | "false") => Self::Switch,
            Some(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => Self::Number,
            _ => Self::Text,
        }
    }

    /// A value as lists of parameters tell it.
    fn read(self, told: String) -> Option<Value> {
        match self {
            _ if told == "none" => None,
            Self::Number => told.parse().ok().map(Value::Number),
            Self::Switch => told.parse().ok().map(Value::Switch),
            Self::Text => Some(Value::Text(told)),
        }
    }
}

/// Keys of a design file that say what a design is called and where its values come from, or stand
/// for the values of others.
const LABELS: [&str; 4] = ["base", "name", "source", "part"];

/// The key of each parameter, in the order of the format, and what its values are. Always the same.
pub fn parameter_keys() -> &'static [(String, ValueKind)] {
    static KEYS: LazyLock<Vec<(String, ValueKind)>> = LazyLock::new(keys);
    &KEYS
}

fn keys() -> Vec<(String, ValueKind)> {
    let mut keys = Vec::new();
    let mut table = String::new();
    for line in format_lines() {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            table = format!("{name}.");
        } else if let Some((key, example)) = line.split_once(" = ") {
            // Those of levels are added below: of levels that exclude each other, the format has
            // one.
            if LABELS.contains(&key) || ["energy.", "wires."].contains(&table.as_str()) {
                continue;
            }
            keys.push((format!("{table}{key}"), ValueKind::of_example(example)));
        }
    }
    for level in Level::ALL {
        let accesses = ["read", "write"].map(|access| format!("energy.{}_{access}", level.name()));
        keys.extend(accesses.map(|key| (key, ValueKind::Text)));
    }
    keys.push(("energy.wire".to_owned(), ValueKind::Text));
    for level in Level::ALL {
        let distances = level.distances().iter();
        let distances = distances.map(|path| format!("wires.{}_{}", level.name(), path.name()));
        keys.extend(distances.map(|key| (key, ValueKind::Text)));
    }
    keys
}

impl Design {
    /// The value of each of [`parameter_keys`]; none where the design has no such part, or no
    /// energy of it is known.
    pub fn parameters(&self) -> Vec<(&'static str, Option<Value>)> {
        let mut told = self.told();
        told.sort_by_key(|(key, _)| *key);
        let value = |(key, kind): &'static (String, ValueKind)| {
            let place = told.binary_search_by_key(&key.as_str(), |(key, _)| *key).ok();
            let told = place.map(|place| told[place].1.clone());
            (key.as_str(), told.and_then(|told| kind.read(told)))
        };
        parameter_keys().iter().map(value).collect()
    }

    /// The value of each of [`parameter_keys`], as a report has them; none where the design has no
    /// such part, or no energy of it is known.
    pub fn named_parameters(&self) -> BTreeMap<String, Option<Value>> {
        self.parameters().into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// All values as words, `none` where there is none; no key comes twice.
    fn told(&self) -> Vec<(&'static str, String)> {
        let settings = self.organisation().settings();
        let two_level = settings.scheduling.levels() == SchedulingLevels::TwoLevel;
        let waits: Vec<_> = self.sm.short_waits.each().map(ShortWait::name).collect();
        let threshold = match self.sm.replacement {
            WarpReplacement::Reactive { threshold } => Some(threshold),
            WarpReplacement::Preemptive | WarpReplacement::CacheMiss => None,
        };
        let (numerator, denominator) = self.sm.threshold.parts();
        let percent = f64::from(numerator) * 100.0 / f64::from(denominator);
        let technologies = self.storage_technologies.iter().map(|of| of.name.as_str());
        let own = [
            (
                "active_warps",
                match settings.scheduling {
                    Scheduling::TwoLevel { active_warps } => active_warps.to_string(),
                    Scheduling::SingleLevel => none(),
                },
            ),
            ("replacement", or_none(two_level.then(|| self.sm.replacement.rule().name()))),
            ("reactive_threshold_cycles", or_none(threshold)),
            ("also_leaves_for", list(&waits)),
            ("missing_energy", or_none(self.missing_energy.map(MissingEnergy::name))),
            ("registers.scratchpad_percent", format!("{percent:.0}")),
            ("storage_technologies", list(&technologies.collect::<Vec<_>>())),
        ];
        let mut all: Vec<_> = own.into_iter().collect();
        all.extend(self.told_levels());
        all.extend(self.told_memory());
        all.extend(Storage::told(self.storage.as_ref()));
        all.extend(self.told_energies());
        let rest = changes::parameters(self).into_iter().chain(sm::parameters(&self.sm));
        let rest = rest.chain(data_cache::parameters(self.data_cache));
        for (key, told) in rest {
            if all.iter().all(|(other, _)| *other != key) {
                all.push((key, told));
            }
        }
        all
    }

    fn told_levels(&self) -> Vec<(&'static str, String)> {
        let levels = &self.organisation().settings().levels;
        let mut all = Vec::new();
        if let Some(cache) = levels.cache() {
            let flush = levels.flush_at_backward_branches();
            all.extend([
                ("cache.entries", cache.entries.to_string()),
                ("cache.replacement", cache.replacement.name().to_owned()),
                ("cache.allocation", cache.allocation.name().to_owned()),
                ("cache.liveness", cache.liveness.to_string()),
                ("cache.liveness_aware_bypass", cache.liveness_aware_bypass.to_string()),
                ("cache.liveness_aware_eviction", cache.liveness_aware_eviction.to_string()),
                ("cache.flush_at_backward_branches", flush.to_string()),
            ]);
        }
        if let Some(managed) = self.managed {
            all.extend([
                ("orf.entries", managed.entries.to_string()),
                ("orf.lrf", managed.lrf.name().to_owned()),
                ("orf.forward_branches", managed.forward_branches.to_string()),
                ("orf.read_operands", managed.read_operands.to_string()),
                ("orf.partial_ranges", managed.partial_ranges.to_string()),
                ("orf.dual_writes", managed.dual_writes.name().to_owned()),
            ]);
        }
        all
    }

    fn told_memory(&self) -> Vec<(&'static str, String)> {
        let local_stores = self.data_cache.map(|cache| cache.local_stores.name());
        let mut all = vec![("data_cache.local_stores", or_none(local_stores))];
        let Some(l2) = self.data_cache.and_then(|cache| cache.l2) else { return all };
        let L2Settings { bytes, ways, latency, bytes_per_cycle, gddr } = l2;
        all.extend([
            ("l2.capacity_kb", (bytes / 1024).to_string()),
            ("l2.ways", ways.to_string()),
            ("l2.latency_cycles", latency.to_string()),
            ("l2.bytes_per_cycle", bytes_per_cycle.to_string()),
            ("gddr.channels", gddr.channels.to_string()),
            ("gddr.banks", gddr.banks.to_string()),
            ("gddr.bank_groups", gddr.bank_groups.to_string()),
            ("gddr.row_bytes", gddr.row_bytes.to_string()),
            ("gddr.queue", gddr.queue.to_string()),
            ("gddr.data_ticks", gddr.data_ticks.to_string()),
            ("gddr.clock", format!("[{},{}]", gddr.clock.ticks, gddr.clock.cycles)),
            ("gddr.latency_cycles", gddr.latency.to_string()),
        ]);
        let timing = gddr.timing;
        all.extend([
            ("gddr.rrd", timing.rrd.to_string()),
            ("gddr.rcd", timing.rcd.to_string()),
            ("gddr.rp", timing.rp.to_string()),
            ("gddr.rc", timing.rc.to_string()),
            ("gddr.cl", timing.cl.to_string()),
            ("gddr.wr", timing.wr.to_string()),
            ("gddr.ccd", timing.ccd.to_string()),
            ("gddr.ccdl", timing.ccdl.to_string()),
            ("gddr.wl", timing.wl.to_string()),
            ("gddr.cdlr", timing.cdlr.to_string()),
            ("gddr.rtpl", timing.rtpl.to_string()),
            ("gddr.turn", timing.turn.to_string()),
        ]);
        all
    }

    /// Energies and distances in effect, where they are known.
    fn told_energies(&self) -> Vec<(&'static str, String)> {
        let Ok(table) = &self.energy else { return Vec::new() };
        let value = |key: &'static str| {
            if key == "energy.wire" {
                return Some((key, format!("{} fJ/mm", table.wire_per_mm_per_32bit.0)));
            }
            let (energies, rest) = match key.split_once('.')? {
                ("energy", rest) => (true, rest),
                ("wires", rest) => (false, rest),
                _ => return None,
            };
            let (level, end) = rest.rsplit_once('_')?;
            let level = table.level(Level::from_name(level)?)?;
            let told = match (energies, end) {
                (true, "read") => format!("{} fJ", level.bank.read.0),
                (true, _) => format!("{} fJ", level.bank.write.0),
                (false, "private") => format!("{} um", level.wires.private_um),
                (false, _) => format!("{} um", level.wires.shared_um),
            };
            Some((key, told))
        };
        parameter_keys().iter().filter_map(|(key, _)| value(key)).collect()
    }
}

impl Storage {
    /// What has no words of its own among [`Storage::parameters`].
    fn told(storage: Option<&Self>) -> Vec<(&'static str, String)> {
        let Some(storage) = storage else { return Vec::new() };
        let mut splits = Vec::new();
        let mut all = Vec::new();
        for division in &storage.divisions {
            match *division {
                Division::Partitioned(Areas { registers, shared, cache }) => {
                    let [registers, shared, cache] =
                        [registers, shared, cache].map(|bytes| bytes / 1024);
                    splits.push(format!("[{registers},{shared},{cache}]"));
                }
                Division::Unified { bytes, cache: CacheRule { sizes, most, disable_unused } } => {
                    all.extend([
                        ("storage.unified_kb", (bytes / 1024).to_string()),
                        ("storage.cache_sizes", sizes.name().to_owned()),
                        ("storage.most_cache_kb", or_none(most.map(|bytes| bytes / 1024))),
                        ("storage.disable_unused", disable_unused.to_string()),
                    ]);
                }
            }
        }
        if !splits.is_empty() {
            all.push(("storage.splits_kb", format!("[{}]", splits.join(","))));
        }
        all.extend(Self::parameters(Some(storage)));
        all
    }
}

fn none() -> String {
    "none".to_owned()
}

fn or_none(value: Option<impl ToString>) -> String {
    value.map_or_else(none, |value| value.to_string())
}

/// Names as a list of a parameter.
fn list(names: &[&str]) -> String {
    if names.is_empty() { none() } else { format!("[{}]", names.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    /// What a base needs for a key, beside the key.
    const BASES: [&str; 17] = [
        "isca11-rfc6",
        "isca11-rfc13",
        "isca11-rfc6,reactive_threshold_cycles=7",
        "isca11-rfc6,data_cache.capacity_kb=16",
        "isca11-rfc6,data_cache.capacity_kb=16,data_cache.mshrs=3",
        "isca11-rfc6,data_cache.capacity_kb=16,gddr.channels=2",
        "diss-rfc6",
        "diss-rfc6-lrf",
        "diss-orf3-lrf-split",
        "isca11-rfc6,replacement=reactive",
        "warrf",
        "isca11-rfc6,data_cache.capacity_kb=16,gddr.queue=2",
        "isca11-rfc6,data_cache.capacity_kb=16,data_cache.conflicts=penalty,\
         sm.operand_window_cycles=1",
        "micro12",
        "micro12,storage.unified_kb=384",
        "micro12,storage.splits_kb=[[256,64,64]]",
        "expars-lrr",
    ];

    fn value(design: &str, key: &str) -> Option<Value> {
        let design = resolve(design).ok()?;
        design.parameters().into_iter().find(|(other, _)| *other == key)?.1
    }

    /// The examples of the format, each given as a parameter of a design that may have it.
    #[test]
    fn every_key_of_the_format_is_read_back() {
        let mut table = String::new();
        let mut read = 0;
        for line in format_lines() {
            if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                table = format!("{name}.");
                continue;
            }
            let Some((key, rest)) = line.split_once(" = ") else { continue };
            if LABELS.contains(&key) || key == "assumed" {
                continue;
            }
            let key = format!("{table}{key}");
            let example = rest.split("  ").next().unwrap().replace(['"', ' '], "");
            let example = example.split('#').next().unwrap();
            let given = |base: &&str| {
                let mut more = String::new();
                if key.starts_with("energy.") {
                    // One of a level's energies alone is refused.
                    let read = key.strip_suffix("_read").map(|level| format!("{level}_write"));
                    let write = key.strip_suffix("_write").map(|level| format!("{level}_read"));
                    let twin = read.or(write).map(|twin| format!(",{twin}={example}"));
                    more = format!(",energy.source=x{}", twin.unwrap_or_default());
                }
                value(&format!("{base},{key}={example}{more}"), &key)
            };
            let found = BASES.iter().find_map(given);
            let found = found.unwrap_or_else(|| panic!("{key} = {example} is never read back"));
            let same = |told: f64, given: f64| (told - given * 1000.0).abs() < 1e-6;
            let same = match found {
                Value::Text(text) if text.ends_with(" fJ") || text.ends_with(" fJ/mm") => {
                    let told = text.replace(" fJ", "");
                    let told: f64 = told.replace("/mm", "").parse().unwrap();
                    let digits = example.trim_end_matches("pJ/mm").trim_end_matches("pJ");
                    same(told, digits.parse().unwrap())
                }
                Value::Text(text) if text.ends_with(" um") => {
                    let told: f64 = text.trim_end_matches(" um").parse().unwrap();
                    same(told, example.trim_end_matches("mm").parse().unwrap())
                }
                other => other.to_string() == example,
            };
            assert!(same, "{key} = {example} is read back as something else");
            read += 1;
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn a_design_without_a_part_has_no_value_of_it() {
        assert_eq!(value("isca11", "cache.entries"), None);
        assert_eq!(value("isca11-rfc6", "cache.entries"), Some(Value::Number(6)));
        assert_eq!(value("isca11-rfc6", "orf.entries"), None);
        assert_eq!(value("isca11-rfc6", "energy.orf_read"), None);
        assert_eq!(value("diss-orf3", "orf.entries"), Some(Value::Number(3)));
        assert_eq!(value("diss-orf3", "energy.orf_read"), Some(Value::Text("1200 fJ".to_owned())));
        assert_eq!(value("warrf", "memory"), Some(Value::Text("sttram".to_owned())));
        let keys = |name: &str| -> Vec<_> {
            resolve(name).unwrap().parameters().into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys("isca11"), keys("micro12"));
    }
}
