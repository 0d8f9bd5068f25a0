//! Names of designs with a compiler-managed hierarchy: `diss-orf3-lrf-split`.

use strata_core::organisation::{LevelSettings, Scheduling};

use crate::machine::Machine;
use crate::managed::{Managed, SUFFIXES};
use crate::parts::Parts;

/// Names without suffixes for optimisations, of a family of designs.
pub(super) fn base_names(machine: &Machine, prefix: &str) -> Vec<String> {
    if !machine.has_last_result_file() {
        return Vec::new();
    }
    let sizes = 1..=machine.rfc.max_entries;
    let with =
        |suffix: &'static str| sizes.clone().map(move |n| format!("{prefix}-orf{n}{suffix}"));
    with("").chain(with(SUFFIXES[0].text)).chain(with(SUFFIXES[1].text)).collect()
}

/// The parts of a design `PREFIX-orfN...`; none if it is no such name.
pub(super) fn parts(name: &str) -> Option<Parts> {
    let (prefix, rest) = name.split_once("-orf")?;
    let mut parts = Parts::of_family(prefix)?;
    let machine = parts.machine;
    if !machine.has_last_result_file() {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, mut rest) = rest.split_at(end);
    let entries = digits.parse::<u8>().ok()?;
    if digits.starts_with('0') || !(1..=machine.rfc.max_entries).contains(&entries) {
        return None;
    }
    let mut managed = Managed::new(entries);
    for suffix in &SUFFIXES {
        if let Some(after) = rest.strip_prefix(suffix.text)
            && (after.is_empty() || after.starts_with('-'))
        {
            (suffix.apply)(&mut managed);
            rest = after;
        }
    }
    if !rest.is_empty() {
        return None;
    }
    parts.settings.scheduling = Scheduling::TwoLevel { active_warps: machine.rfc.active_warps };
    parts.settings.levels = LevelSettings::CompilerManaged;
    parts.managed = Some(managed);
    name.clone_into(&mut parts.name);
    Some(parts)
}
