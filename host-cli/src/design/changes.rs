//! Changes: all in which the design of a file differs from the design that it starts from, so that
//! a report says what it is a report of.

use super::{Design, EnergyOverrides, MainMemory, Managed, describe, sm};

/// All that a design file can change but energies, by its key.
fn parameters(design: &Design) -> Vec<(&'static str, String)> {
    let settings = design.organisation().settings();
    let none = || "none".to_owned();
    let mut all = vec![
        ("cache", settings.cache.map_or_else(none, describe)),
        ("flush_at_backward_branches", settings.flush_at_backward_branches.to_string()),
        ("last_result_file", settings.last_result_file.to_string()),
        ("orf", design.managed.map_or_else(none, Managed::describe)),
        ("partial_warp_energy", design.partial_warp_energy.to_string()),
        ("wire_charge", design.wire_charge.name().to_owned()),
        ("pool_read_energy", design.pool_read_energy.name().to_owned()),
        ("scheduling", settings.scheduling.levels().name().to_owned()),
        ("active_warps", design.active_warps().to_string()),
        (
            "memory",
            design.memory.as_ref().map_or_else(none, |memory| memory.kind.name().to_owned()),
        ),
        ("technology", technology(design)),
    ];
    all.extend(sm::parameters(&design.sm));
    all
}

/// The technology of the main register file.
fn technology(design: &Design) -> String {
    let own = |memory: &MainMemory| memory.technology.name.clone();
    design.memory.as_ref().map_or_else(|| design.machine.technology.clone(), own)
}

/// The energies and distances that a file gives, by their keys.
fn energies(given: &EnergyOverrides) -> Vec<(&'static str, String)> {
    let EnergyOverrides {
        mrf_read,
        mrf_write,
        rfc,
        lrf,
        orf,
        write_pool,
        wire,
        mrf_private_um,
        mrf_shared_um,
        rfc_private_um,
        rfc_shared_um,
        lrf_private_um,
        orf_private_um,
        orf_shared_um,
    } = *given;
    let accesses = [
        ("energy.mrf_read", mrf_read),
        ("energy.mrf_write", mrf_write),
        ("energy.rfc_read", rfc.map(|bank| bank.read)),
        ("energy.rfc_write", rfc.map(|bank| bank.write)),
        ("energy.lrf_read", lrf.map(|bank| bank.read)),
        ("energy.lrf_write", lrf.map(|bank| bank.write)),
        ("energy.orf_read", orf.map(|bank| bank.read)),
        ("energy.orf_write", orf.map(|bank| bank.write)),
        ("energy.write_pool_read", write_pool.map(|bank| bank.read)),
        ("energy.write_pool_write", write_pool.map(|bank| bank.write)),
    ];
    let distances = [
        ("wires.mrf_private", mrf_private_um),
        ("wires.mrf_shared", mrf_shared_um),
        ("wires.rfc_private", rfc_private_um),
        ("wires.rfc_shared", rfc_shared_um),
        ("wires.lrf_private", lrf_private_um),
        ("wires.orf_private", orf_private_um),
        ("wires.orf_shared", orf_shared_um),
    ];
    let wire = wire.map(|energy| ("energy.wire", format!("{} fJ/mm", energy.0)));
    let accesses = accesses.into_iter();
    let accesses = accesses.filter_map(|(key, energy)| Some((key, format!("{} fJ", energy?.0))));
    let distances = distances.into_iter();
    let distances = distances.filter_map(|(key, length)| Some((key, format!("{} um", length?))));
    accesses.chain(wire).chain(distances).collect()
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
