//! Names of designs: a machine's own for its baseline, `isca11-rfc6` and `diss-rfc6` for caches,
//! `diss-rfc6-lrf` with a last result file in front, `diss-orf3-lrf-split` for compiler-managed
//! hierarchies, with suffixes for policies. A machine with other main register files has names for
//! these, behind which those of upper levels go: `sttram`, `sttram-rfc6`.

mod managed;

use strata_core::organisation::{CachedLevels, LevelSettings, Scheduling};
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};

use super::design::Design;
use super::machine::{Alternative, Machine, machine, machines};
use super::parts::Parts;
use strata_config::ConfigError;
use strata_config::suggest::{did_you_mean, suggest};

const LAST_RESULT_FILE: &str = "-lrf";
/// Without the upper levels of a baseline that has some.
pub(super) const FLAT: &str = "-flat";

/// What a suffix changes.
struct Suffix {
    text: &'static str,
    meaning: &'static str,
    apply: fn(&mut CachedLevels, &mut Scheduling),
}

/// The suffixes, in the order in which a name has them.
const SUFFIXES: [Suffix; 7] = [
    Suffix {
        text: LAST_RESULT_FILE,
        meaning: "with a last result file in front (not machine `isca11`)",
        apply: |levels, _| levels.last_result_file = true,
    },
    Suffix {
        text: "-lru",
        meaning: "least recently used replacement instead of first in, first out",
        apply: |levels, _| levels.cache.replacement = Replacement::Lru,
    },
    Suffix {
        text: "-nolive",
        meaning: "without static liveness",
        apply: |levels, _| levels.cache.liveness = false,
    },
    Suffix {
        text: "-single",
        meaning: "single-level scheduler: every resident warp keeps its entries, no flush",
        apply: |_, scheduling| *scheduling = Scheduling::SingleLevel,
    },
    Suffix {
        text: "-reads",
        meaning: "operands that miss are allocated too",
        apply: |levels, _| levels.cache.allocation = Allocation::WritesAndReads,
    },
    Suffix {
        text: "-bypass",
        meaning: "liveness-aware bypass and eviction",
        apply: |levels, _| {
            levels.cache.liveness_aware_bypass = true;
            levels.cache.liveness_aware_eviction = true;
        },
    },
    Suffix {
        text: "-backflush",
        meaning: "flush at taken backward branches",
        apply: |levels, _| levels.flush_at_backward_branches = true,
    },
];

/// The suffixes with their meanings, for the list of designs.
pub fn suffixes() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUFFIXES.iter().map(|suffix| (suffix.text, suffix.meaning))
}

/// Names without suffixes for policies, machine by machine, the baseline first. Of a machine with
/// other main register files, those without upper levels: [`upper_levels`] says what can follow.
pub fn base_names() -> Vec<String> {
    let mut names = Vec::new();
    for machine in machines() {
        names.push(machine.name.clone());
        if machine.variant.is_empty() && machine.storage.is_empty() && machine.manager.is_empty() {
            names.extend(with_upper_levels(machine, &machine.rfc.prefix));
        }
        names.extend(machine.storage.iter().map(|variant| variant.name.clone()));
        names.extend(machine.manager.iter().map(|variant| variant.name.clone()));
        names.extend(machine.variant.iter().map(|variant| variant.name.clone()));
        if let Some(Alternative { suffix, .. }) = &machine.alternative {
            names.push(format!("{}{suffix}", machine.name));
            names.extend(machine.variant.iter().map(|variant| format!("{}{suffix}", variant.name)));
        }
    }
    names
}

/// What the names of a machine's designs may go on with, where [`base_names`] does not list it.
pub fn upper_levels(machine: &Machine) -> Option<String> {
    let most = machine.rfc.max_entries;
    let levels = format!(
        "-rfcN, -rfcN{LAST_RESULT_FILE}, -orfN, -orfN-lrf-unified, -orfN-lrf-split (N from 1 to \
         {most})"
    );
    if machine.baseline_orf.is_some() {
        return Some(format!("{FLAT}, {levels}"));
    }
    if !machine.manager.is_empty() {
        return Some(format!("-rfcN (N from 1 to {most})"));
    }
    let Alternative { suffix, .. } = machine.alternative.as_ref()?;
    Some(format!("{levels}, before {suffix}"))
}

/// Names with upper levels of a family of designs, without suffixes for policies.
fn with_upper_levels(machine: &Machine, prefix: &str) -> Vec<String> {
    let caches: Vec<_> =
        (1..=machine.rfc.max_entries).map(|n| format!("{prefix}-rfc{n}")).collect();
    let mut names = caches.clone();
    if machine.has_last_result_file() {
        names.extend(caches.iter().map(|name| format!("{name}{LAST_RESULT_FILE}")));
    }
    names.extend(managed::base_names(machine, prefix));
    names
}

/// The design of this name.
pub fn resolve(name: &str) -> Result<Design, ConfigError> {
    parts(name)?.build(name)
}

/// The cache of a machine's designs before suffixes: that of the paper's best design.
pub(super) fn default_cache(entries: u8) -> RegisterFileCacheConfig {
    RegisterFileCacheConfig {
        entries,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    }
}

/// A name in the other technology of its machine; none if it is no such name.
fn in_other_technology(name: &str) -> Option<Result<Parts, ConfigError>> {
    let of = |machine: &'static Machine| {
        let Alternative { suffix, technology } = machine.alternative.as_ref()?;
        let inner = parts(name.strip_suffix(suffix.as_str())?);
        let inner = inner.ok().filter(|inner| inner.machine.name == machine.name)?;
        let mut parts = inner.in_technology(technology)?;
        name.clone_into(&mut parts.name);
        Some(Ok(parts))
    };
    machines().iter().find_map(of)
}

pub(super) fn parts(name: &str) -> Result<Parts, ConfigError> {
    if let Some(machine) = machine(name) {
        return Ok(Parts::baseline(machine));
    }
    if let Some(parts) = in_other_technology(name) {
        return parts;
    }
    if !name.contains("-rfc")
        && let Some(parts) = Parts::of_family(name).filter(|parts| parts.name == name)
    {
        return Ok(parts);
    }
    if let Some(parts) = managed::parts(name).or_else(|| flat(name)) {
        return Ok(parts);
    }
    let (mut parts, entries, rest) = family(name).ok_or_else(|| unknown(name))?;
    let machine = parts.machine;
    let mut levels = CachedLevels::new(default_cache(entries));
    let active_warps = machine.rfc.active_warps;
    parts.settings.scheduling = Scheduling::TwoLevel { active_warps };
    parts.managed = None;
    let mut rest = rest;
    for suffix in &SUFFIXES {
        if let Some(after) = strip(rest, suffix.text) {
            (suffix.apply)(&mut levels, &mut parts.settings.scheduling);
            rest = after;
        }
    }
    if !rest.is_empty() {
        return Err(unknown(name));
    }
    if levels.last_result_file && !machine.has_last_result_file() {
        return Err(no_last_result_file(name, machine));
    }
    parts.settings.levels = LevelSettings::Cached(levels);
    name.clone_into(&mut parts.name);
    Ok(parts)
}

/// A name of a design without the upper levels that its machine's baseline has.
fn flat(name: &str) -> Option<Parts> {
    let parts = Parts::of_family(name.strip_suffix(FLAT)?)?;
    parts.machine.baseline_orf?;
    let settings = parts.machine.organisation();
    Some(Parts { name: name.to_owned(), settings, managed: None, ..parts })
}

/// A design of a machine of which no source describes a last result file.
pub(super) fn no_last_result_file(origin: &str, machine: &Machine) -> ConfigError {
    let described = |machine: &&Machine| {
        machine.has_last_result_file()
            && machine.baseline_orf.is_none()
            && machine.small_levels.is_none()
    };
    let others = machines().iter().filter(described);
    let others: Vec<_> =
        others.map(|machine| format!("`{}-rfc6{LAST_RESULT_FILE}`", machine.rfc.prefix)).collect();
    ConfigError::Combination {
        file: origin.to_owned(),
        problem: format!("machine `{}` has no last result file", machine.name),
        hint: format!("a design with one is {}", others.join(" or ")),
    }
}

/// The rest of a name after a whole suffix.
fn strip<'a>(rest: &'a str, suffix: &str) -> Option<&'a str> {
    let after = rest.strip_prefix(suffix)?;
    (after.is_empty() || after.starts_with('-')).then_some(after)
}

/// What it starts from, entries and suffixes of a name `PREFIX-rfcN...`.
fn family(name: &str) -> Option<(Parts, u8, &str)> {
    let (prefix, rest) = name.split_once("-rfc")?;
    let parts = Parts::of_family(prefix)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, suffixes) = rest.split_at(end);
    let entries = digits.parse::<u8>().ok()?;
    let exact = !digits.starts_with('0') && (1..=parts.machine.rfc.max_entries).contains(&entries);
    (exact && (suffixes.is_empty() || suffixes.starts_with('-')))
        .then_some((parts, entries, suffixes))
}

/// A name `PREFIX-rfcN...` with its suffixes in the right order, if that is all that is wrong.
fn reordered(name: &str) -> Option<String> {
    let (parts, entries, given) = family(name)?;
    let mut given: Vec<_> = given.split('-').skip(1).collect();
    let mut canonical = format!("{}-rfc{entries}", parts.family);
    for suffix in &SUFFIXES {
        if let Some(at) = given.iter().position(|&text| text == &suffix.text[1..]) {
            given.swap_remove(at);
            canonical += suffix.text;
        }
    }
    given.is_empty().then_some(canonical)
}

fn unknown(name: &str) -> ConfigError {
    let hint = if let Some(canonical) = reordered(name) {
        format!("suffixes have a fixed order: write `{canonical}`")
    } else {
        let mut bases = base_names();
        for machine in machines().iter().filter(|machine| !machine.variant.is_empty()) {
            bases.extend(with_upper_levels(machine, &machine.rfc.prefix));
            let variants = machine.variant.iter();
            bases.extend(variants.flat_map(|variant| with_upper_levels(machine, &variant.name)));
        }
        let variants = bases.iter().filter(|base| base.contains("-rfc")).flat_map(|base| {
            SUFFIXES[1..].iter().map(move |suffix| format!("{base}{}", suffix.text))
        });
        let all: Vec<String> = bases.iter().cloned().chain(variants).collect();
        // Designs of the machine `dissertation` have a shorter name than it.
        let short = name.replace("dissertation-", "diss-");
        let near = suggest(&short, all.iter().map(String::as_str));
        let file = format!("{name}.toml");
        match did_you_mean(&near) {
            _ if std::path::Path::new(&file).is_file() => format!("did you mean `{file}`?"),
            Some(question) => format!("{question} `strata designs` lists the names"),
            None if name.contains(',') => "give `--design` once for each design".to_owned(),
            None => "`strata designs` lists the names; a design file ends in `.toml`".to_owned(),
        }
    };
    ConfigError::UnknownName { what: "design", name: name.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::organisation::Organisation;

    fn cache(name: &str) -> (RegisterFileCacheConfig, Scheduling) {
        let design = resolve(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(design.name, name);
        (design.cache().unwrap(), design.organisation().settings().scheduling)
    }

    #[test]
    fn every_listed_name_resolves() {
        let designs = super::super::list();
        assert_eq!(
            designs.len(),
            1 + 13 + 1 + 8 + 8 + 3 * 8 + 2 * 10 + (1 + 7) + (1 + 11) + 2 * (1 + 12)
        );
        for design in &designs {
            assert_eq!(&resolve(&design.name).unwrap(), design);
            assert!(!design.source.is_empty());
            assert!(!design.axes().is_empty());
        }
        assert_eq!(*designs[0].organisation(), Organisation::FLAT);
        assert_eq!(designs[0].encoding_bits(), 0);
        assert!(designs[0].assumed.is_empty());
    }

    #[test]
    fn the_rules_have_a_row_for_every_suffix() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/MODEL.md");
        let rules = std::fs::read_to_string(path).unwrap();
        let rows: Vec<&str> = rules
            .lines()
            .filter_map(|line| line.strip_prefix("| `-")?.split_once('`'))
            .map(|(suffix, _)| suffix)
            .collect();
        let suffixes: Vec<&str> = suffixes()
            .chain(crate::managed::suffixes())
            .map(|(suffix, _)| suffix.strip_prefix('-').unwrap())
            .collect();
        assert_eq!(rows, suffixes, "in {path}");
    }

    #[test]
    fn names_mean_what_the_rules_say() {
        let (rfc6, scheduling) = cache("isca11-rfc6");
        assert_eq!(rfc6, default_cache(6));
        assert_eq!(scheduling, Scheduling::TwoLevel { active_warps: 8 });
        assert_eq!(resolve("isca11-rfc6").unwrap().encoding_bits(), 4);
        assert_eq!(resolve("isca11-rfc6-nolive").unwrap().encoding_bits(), 1);
        assert_eq!(resolve("isca11-rfc6-single").unwrap().encoding_bits(), 3);
        assert_eq!(cache("isca11-rfc13-lru").0.replacement, Replacement::Lru);
        assert!(!cache("diss-rfc8-nolive").0.liveness);
        assert_eq!(cache("isca11-rfc1-single").1, Scheduling::SingleLevel);
        assert_eq!(cache("isca11-rfc4-reads").0.allocation, Allocation::WritesAndReads);
        let (bypass, _) = cache("diss-rfc3-bypass");
        assert!(bypass.liveness_aware_bypass && bypass.liveness_aware_eviction);
        let flushed = resolve("diss-rfc3-backflush").unwrap();
        assert!(flushed.organisation().levels().flush_at_backward_branches());
        let three = resolve("diss-rfc6-lrf").unwrap();
        assert!(three.organisation().levels().has_last_result_file());
        assert_eq!(three.cache(), resolve("diss-rfc6").unwrap().cache());
        assert_eq!(three.encoding_bits(), 4);
        assert!(!resolve("diss-rfc6").unwrap().organisation().levels().has_last_result_file());
        assert_eq!(cache("diss-rfc3-lrf-lru-nolive").0.replacement, Replacement::Lru);
        let (all, scheduling) = cache("isca11-rfc6-lru-nolive-single-reads-backflush");
        assert_eq!(all.replacement, Replacement::Lru);
        assert_eq!(all.allocation, Allocation::WritesAndReads);
        assert!(!all.liveness);
        assert_eq!(scheduling, Scheduling::SingleLevel);
    }

    #[test]
    fn unknown_names_have_useful_hints() {
        for (name, part) in [
            ("isca11-rfc7x", "did you mean `isca11-rfc7`"),
            ("isca-rfc6", "`isca11-rfc6`"),
            ("isca11rfc6", "`isca11-rfc6`"),
            ("isca11-rfc14", "`isca11-rfc1"),
            ("diss-rfc9", "`diss-rfc"),
            ("isca11-rfc06", "`isca11-rfc6`"),
            ("isca11-rfc6-lur", "`isca11-rfc6-lru`"),
            ("isca11-rfc6-nolive-lru", "fixed order: write `isca11-rfc6-lru-nolive`"),
            ("disertation", "`dissertation`"),
            ("zzzzzzzzzzz", "`strata designs` lists the names"),
            ("", "`strata designs` lists the names"),
            ("isca11-rfc300", "did you mean"),
            ("dissertation-rfc6", "did you mean `diss-rfc6`"),
            ("diss-rfc6-lfr", "`diss-rfc6-lrf`"),
            ("diss-rfc6-lru-lrf", "fixed order: write `diss-rfc6-lrf-lru`"),
            ("diss-rfc6-lrf-lrf", "did you mean"),
            ("isca11-rfc6-lru-lru", "did you mean"),
        ] {
            let error = resolve(name).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no design called `{name}`"));
            let hint = error.hint().unwrap();
            assert!(hint.contains(part), "{name}: {hint}");
        }
    }

    #[test]
    fn impossible_combinations_say_why() {
        let error = resolve("isca11-rfc6-nolive-bypass").unwrap_err();
        assert_eq!(
            error.to_string(),
            "isca11-rfc6-nolive-bypass: liveness-aware bypass and eviction need static liveness"
        );
        let error = resolve("isca11-rfc6-single-bypass").unwrap_err();
        assert!(error.to_string().contains("need two-level scheduling"), "{error}");
        assert!(error.hint().is_some());
        let error = resolve("isca11-rfc6-lrf-lru").unwrap_err();
        assert_eq!(
            error.to_string(),
            "isca11-rfc6-lrf-lru: machine `isca11` has no last result file"
        );
        assert_eq!(error.hint().unwrap(), "a design with one is `diss-rfc6-lrf`");
    }

    #[test]
    fn energy_is_known_exactly_where_a_table_prints_it() {
        let known = |name: &str| resolve(name).unwrap().energy.is_ok();
        assert!(known("isca11") && known("dissertation"));
        let isca11: Vec<_> = (1..=13).filter(|n| known(&format!("isca11-rfc{n}"))).collect();
        assert_eq!(isca11, [2, 3, 4, 6, 8]);
        assert!((1..=8).all(|n| known(&format!("diss-rfc{n}"))));
        assert!(!known("isca11-rfc6-single"));
        assert_eq!(resolve("isca11-rfc6").unwrap().assumed.len(), 1);
        assert_eq!(resolve("diss-rfc6").unwrap().assumed.len(), 0);
        assert_eq!(resolve("diss-rfc6-bypass").unwrap().assumed.len(), 1);
        assert!((1..=8).all(|n| known(&format!("diss-rfc{n}-lrf"))));
        assert!(!known("diss-rfc6-lrf-single"));
        assert_eq!(resolve("diss-rfc6-lrf").unwrap().assumed.len(), 1);
    }
}
