//! Changes: all in which the design of a file differs from the design that it starts from, so that
//! a report says what it is a report of.

use strata_core::level::Level;

use super::axes::describe;
use super::design::Design;
use super::managed::Managed;
use super::memory::MainMemory;
use super::parts::{EnergyOverrides, LevelValues};
use super::storage::Storage;
use super::{data_cache, second_level, sm};

/// All that a design file can change but energies, by its key.
pub(super) fn parameters(design: &Design) -> Vec<(&'static str, String)> {
    let settings = design.organisation().settings();
    let levels = &settings.levels;
    let none = || "none".to_owned();
    let mut all = vec![
        ("cache", levels.cache().map_or_else(none, describe)),
        ("flush_at_backward_branches", levels.flush_at_backward_branches().to_string()),
        ("last_result_file", levels.has_last_result_file().to_string()),
        ("orf", design.managed.map_or_else(none, Managed::describe)),
        ("partial_warp_energy", design.partial_warp_energy.to_string()),
        ("registers.sorted", design.sorted_registers.to_string()),
        ("wire_charge", design.wire_charge.name().to_owned()),
        ("pool_read_energy", design.pool_read_energy.name().to_owned()),
        ("scheduling", settings.scheduling.levels().name().to_owned()),
        ("active_warps", design.active_warps().to_string()),
        (
            "memory",
            design.memory.as_ref().map_or_else(none, |memory| memory.kind.name().to_owned()),
        ),
        ("technology", technology(design)),
        ("storage_technologies", storage_technologies(design)),
    ];
    all.extend(sm::parameters(&design.sm));
    all.extend(data_cache::parameters(design.data_cache));
    let l2 = design.data_cache.and_then(|cache| cache.l2);
    all.extend(second_level::parameters(l2.as_ref()));
    all.extend(Storage::parameters(design.storage.as_ref()));
    all
}

/// The technology of the main register file.
fn technology(design: &Design) -> String {
    let own = |memory: &MainMemory| memory.technology.name.clone();
    design.memory.as_ref().map_or_else(|| design.machine.technology.clone(), own)
}

/// The technologies of its storage.
fn storage_technologies(design: &Design) -> String {
    let names: Vec<_> = design.storage_technologies.iter().map(|of| of.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" and ") }
}

/// The energies and distances that a file gives, by their keys.
fn energies(given: &EnergyOverrides) -> Vec<(String, String)> {
    let mut accesses = Vec::new();
    let mut distances = Vec::new();
    for level in Level::ALL {
        let LevelValues { read, write, private_um, shared_um } = given.level(level);
        let level = level.name();
        for (access, energy) in [("read", read), ("write", write)] {
            let energy = energy.map(|energy| format!("{} fJ", energy.0));
            accesses.extend(energy.map(|energy| (format!("energy.{level}_{access}"), energy)));
        }
        for (datapath, length) in [("private", private_um), ("shared", shared_um)] {
            let length = length.map(|length| format!("{length} um"));
            distances.extend(length.map(|length| (format!("wires.{level}_{datapath}"), length)));
        }
    }
    let wire = given.wire.map(|energy| ("energy.wire".to_owned(), format!("{} fJ/mm", energy.0)));
    accesses.into_iter().chain(wire).chain(distances).collect()
}

/// What differs, one sentence each: the value with that of `base`, and for energies where `source`
/// says that they come from.
pub(super) fn changes(
    base: &Design,
    design: &Design,
    given: &EnergyOverrides,
    source: Option<&str>,
) -> Vec<String> {
    let name = &design.name;
    let differ = parameters(base).into_iter().zip(parameters(design));
    let differ = differ
        .filter(|(old, new)| old.1 != new.1)
        .map(|((key, old), (_, new))| format!("{name}: {key} = {new} ({}: {old})", base.name));
    let given = energies(given).into_iter().map(|(key, value)| match source {
        Some(source) if key.starts_with("energy.") => format!("{name}: {key} = {value} ({source})"),
        _ => format!("{name}: {key} = {value}"),
    });
    let user = design.memory.as_ref().filter(|memory| !memory.technology.built_in);
    differ.chain(given).chain(user.map(MainMemory::told).unwrap_or_default()).collect()
}
