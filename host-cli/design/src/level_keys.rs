//! `[energy]` and `[wires]` of design files: tables most of whose keys belong to levels.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use strata_compiler::hierarchy::Lrf;
use strata_core::datapath::Datapath;
use strata_core::level::Level;

use super::checks::combination;
use super::parts::Parts;
use strata_config::quantity::{Energy, Length, WireEnergy};
use strata_config::{ConfigError, name as plain};

/// What a level's key in `[energy]` ends in.
const ACCESSES: [&str; 2] = ["read", "write"];

/// The keys of `[energy]` in the order of messages, which name the main register file last.
static ENERGY_KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let [main, above @ ..] = Level::ALL;
    let keys = |level| ACCESSES.map(|access| kept_key(level, access));
    let accesses = above.into_iter().chain([main]).flat_map(keys);
    ["source", "assumed"].into_iter().chain(accesses).chain(["wire"]).collect()
});

/// The keys of `[wires]`.
static WIRE_KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let keys = |level: Level| {
        let datapaths = level.distances().iter();
        datapaths.map(move |datapath| kept_key(level, datapath.name()))
    };
    Level::ALL.into_iter().flat_map(keys).collect()
});

fn key(level: Level, end: &str) -> String {
    format!("{}_{end}", level.name())
}

/// The key of a level with this end, for messages that need it for as long as the program runs.
fn kept_key(level: Level, end: &str) -> &'static str {
    key(level, end).leak()
}

/// Reads one of these keys.
struct OneOf(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = &'static str;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<&'static str, E> {
        let known = self.0.iter().find(|&&key| key == text);
        known.copied().ok_or_else(|| E::unknown_field(text, self.0))
    }
}

/// `[energy]`.
pub(super) struct EnergyTable {
    pub(super) source: String,
    assumed: bool,
    /// Energies of levels by their keys.
    accesses: BTreeMap<&'static str, Energy>,
    wire: Option<WireEnergy>,
}

impl EnergyTable {
    /// A read and a write of a level.
    fn accesses(&self, level: Level) -> [Option<Energy>; 2] {
        ACCESSES.map(|access| self.accesses.get(key(level, access).as_str()).copied())
    }
}

impl<'de> Deserialize<'de> for EnergyTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_struct("EnergyTable", &ENERGY_KEYS, EnergyVisitor)
    }
}

struct EnergyVisitor;

impl<'de> Visitor<'de> for EnergyVisitor {
    type Value = EnergyTable;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EnergyTable, A::Error> {
        let (mut source, mut assumed, mut wire) = (None, false, None);
        let mut accesses = BTreeMap::new();
        while let Some(key) = map.next_key_seed(OneOf(&ENERGY_KEYS))? {
            match key {
                "source" => source = Some(map.next_value()?),
                "assumed" => assumed = map.next_value()?,
                "wire" => wire = Some(map.next_value()?),
                access => {
                    accesses.insert(access, map.next_value()?);
                }
            }
        }
        let source = source.ok_or_else(|| Error::missing_field("source"))?;
        Ok(EnergyTable { source, assumed, accesses, wire })
    }
}

/// `[wires]`: distances of levels by their keys.
#[derive(Default)]
pub(super) struct WiresTable(BTreeMap<&'static str, Length>);

impl WiresTable {
    /// The distances of a level from the private and the shared datapath.
    fn distances(&self, level: Level) -> [Option<Length>; 2] {
        Datapath::ALL.map(|datapath| self.0.get(key(level, datapath.name()).as_str()).copied())
    }
}

impl<'de> Deserialize<'de> for WiresTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_struct("WiresTable", &WIRE_KEYS, WiresVisitor)
    }
}

struct WiresVisitor;

impl<'de> Visitor<'de> for WiresVisitor {
    type Value = WiresTable;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WiresTable, A::Error> {
        let mut lengths = BTreeMap::new();
        while let Some(key) = map.next_key_seed(OneOf(&WIRE_KEYS))? {
            lengths.insert(key, map.next_value()?);
        }
        Ok(WiresTable(lengths))
    }
}

/// Whether the design has a level, and how a file gives it one.
fn presence(level: Level, parts: &Parts) -> (bool, &'static str) {
    match level {
        Level::Mrf => (true, ""),
        Level::Rfc => (parts.settings.levels.cache().is_some(), "add a `[cache]`"),
        Level::Lrf => {
            let managed = parts.managed.is_some_and(|managed| managed.lrf != Lrf::None);
            let cached = parts.settings.levels.has_last_result_file();
            (managed || cached, "set `last_result_file = true`")
        }
        Level::Orf => (parts.managed.is_some(), "add an `[orf]`"),
        Level::WritePool => {
            (parts.delivery.write_pool_entries() != 0, "set `write_pool_entries` in `[collectors]`")
        }
    }
}

/// Refuses energies of a level that the design lacks, and one alone of a level above the main
/// register file.
fn check_accesses(
    file: &str,
    level: Level,
    given: [Option<Energy>; 2],
    parts: &Parts,
) -> Result<(), ConfigError> {
    let (there, remedy) = presence(level, parts);
    let (key, one) = (level.name(), level.one());
    match given {
        [Some(_), Some(_)] if !there => Err(combination(
            file,
            &format!("`energy.{key}_read` and `energy.{key}_write` without {one}"),
            &format!("{remedy}, or remove the two values"),
        )),
        [Some(_), None] | [None, Some(_)] if level != Level::Mrf => Err(combination(
            file,
            &format!("only one of `energy.{key}_read` and `energy.{key}_write` is given"),
            "give both: the other one's printed value belongs to another array",
        )),
        _ => Ok(()),
    }
}

/// The energies of `[energy]`.
pub(super) fn energy(
    file: &str,
    table: &EnergyTable,
    parts: &mut Parts,
) -> Result<(), ConfigError> {
    let what = "a text that says where the values come from";
    plain::check_line(file, "energy.source", what, &table.source)?;
    let source = table.source.trim();
    if table.accesses.is_empty() && table.wire.is_none() {
        let hint = "give for example `mrf_read = \"8 pJ\"`, or remove the table";
        return Err(combination(file, "`[energy]` gives no energy", hint));
    }
    for level in Level::ALL {
        let given @ [read, write] = table.accesses(level);
        check_accesses(file, level, given, parts)?;
        let values = &mut parts.energy.levels[level as usize];
        (values.read, values.write) = (read.map(|it| it.0), write.map(|it| it.0));
    }
    parts.energy.wire = table.wire.map(|energy| energy.0);
    if table.assumed {
        parts.assumed.push(format!("energy values of {file}: {source}"));
    } else {
        parts.source = format!("{}; energy: {source}", parts.source);
    }
    Ok(())
}

/// The distances of `[wires]`.
pub(super) fn wires(file: &str, table: &WiresTable, parts: &mut Parts) -> Result<(), ConfigError> {
    for level in Level::ALL {
        let [private, shared] = table.distances(level);
        let (there, remedy) = presence(level, parts);
        if !there && (private.is_some() || shared.is_some()) {
            let keys: Vec<_> = (level.distances().iter())
                .map(|datapath| format!("`wires.{}`", key(level, datapath.name())))
                .collect();
            let what = if keys.len() == 1 { "distance" } else { "distances" };
            let problem = format!("{} without {}", keys.join(" or "), level.one());
            return Err(combination(file, &problem, &format!("{remedy}, or remove the {what}")));
        }
        let values = &mut parts.energy.levels[level as usize];
        values.private_um = private.map(|length| length.0);
        values.shared_um = shared.map(|length| length.0);
    }
    Ok(())
}
