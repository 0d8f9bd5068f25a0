//! Technologies: energy and area of register storage in one process, as the papers' tables have it.

use std::sync::LazyLock;

use serde::Deserialize;
use strata_core::energy::BankEnergy;
use strata_core::sm::expansion::energy::ExpansionEnergyTable;

use super::embedded::embedded;
use strata_config::quantity::{Area, Energy, WireEnergy};

/// Most entries for a thread for which the papers give the cache's energy.
pub const MAX_PRICED_ENTRIES: u8 = 8;
/// Most active warps for which the papers give the cache's energy.
pub const MAX_PRICED_WARPS: u8 = 8;

/// Energy and area of storage in one process technology.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technology {
    /// Its name.
    pub name: String,
    /// Where the numbers are printed.
    pub source: String,
    /// Energy of a wire for each 32-bit word.
    pub wire: WireEnergy,
    /// A bank of the main register file.
    pub mrf: Bank,
    /// Register file caches of one lane, as printed.
    pub rfc: Vec<CacheBank>,
    /// The last result file of one lane, if printed.
    pub lrf: Option<CacheBank>,
    /// The operand cache of registers in scratchpad memory, if known.
    pub operand_cache: Option<Bank>,
    /// A bank of scratchpad memory, if known.
    pub scratchpad: Option<Bank>,
}

/// A bank: energy of 128 bits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    /// A read.
    pub read: Energy,
    /// A write.
    pub write: Energy,
    /// Area, if printed.
    pub area: Option<Area>,
}

/// A register file cache: energy of 128 bits, area for one lane.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheBank {
    /// Entries for each thread.
    pub entries: u8,
    /// Warps that have entries.
    pub active_warps: u8,
    /// A read.
    pub read: Energy,
    /// A write.
    pub write: Energy,
    /// Area, if printed.
    pub area: Option<Area>,
}

impl CacheBank {
    /// Entries for all warps; energy and area depend on nothing else.
    pub fn total_entries(&self) -> u32 {
        u32::from(self.entries) * u32::from(self.active_warps)
    }
}

impl Bank {
    /// Energy of an access.
    pub fn energy(&self) -> BankEnergy {
        BankEnergy { read: self.read.0, write: self.write.0 }
    }
}

/// Why a design has no energy, as a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoEnergy(pub String);

impl Technology {
    /// What registers in scratchpad memory cost.
    pub fn expansion(&self) -> Result<ExpansionEnergyTable, NoEnergy> {
        let banks = self.operand_cache.as_ref().zip(self.scratchpad.as_ref());
        let (operand_cache, scratchpad) = banks.ok_or_else(|| {
            NoEnergy(format!(
                "{} prints no energy of an operand cache or of scratchpad memory",
                self.source
            ))
        })?;
        let (operand_cache, scratchpad) = (operand_cache.energy(), scratchpad.energy());
        Ok(ExpansionEnergyTable { operand_cache, scratchpad })
    }

    /// The printed cache of this size. A row stands for every split of the same number of entries
    /// between threads and warps: that is how the papers' own rows behave.
    pub fn cache(&self, entries: u8, active_warps: u8) -> Result<&CacheBank, NoEnergy> {
        let total = u32::from(entries) * u32::from(active_warps);
        let warps = || format!("{active_warps} warp{}", if active_warps == 1 { "" } else { "s" });
        let row = self.rfc.iter().find(|row| row.total_entries() == total);
        if entries > MAX_PRICED_ENTRIES || active_warps > MAX_PRICED_WARPS {
            return Err(NoEnergy(format!(
                "no table prints the energy of a cache of {entries} entries for {}: the largest \
                 have {MAX_PRICED_ENTRIES} entries and {MAX_PRICED_WARPS} warps",
                warps()
            )));
        }
        row.ok_or_else(|| {
            NoEnergy(format!(
                "{} prints no energy of a cache of {entries} entries for {}, nor of another split \
                 of {total} entries",
                self.source,
                warps()
            ))
        })
    }

    /// The printed last result file for this many warps.
    pub fn last_result_file(&self, active_warps: u8) -> Result<&CacheBank, NoEnergy> {
        let row = self.lrf.as_ref().filter(|row| row.active_warps == active_warps);
        row.ok_or_else(|| {
            NoEnergy(format!(
                "{} prints no energy of a last result file for {active_warps} warps",
                self.source
            ))
        })
    }
}

static TECHNOLOGIES: LazyLock<Vec<Technology>> = LazyLock::new(|| {
    embedded(&[
        include_str!("../data/technologies/isca11-40nm.toml"),
        include_str!("../data/technologies/dissertation-40nm.toml"),
        include_str!("../data/technologies/expars-40nm.toml"),
    ])
});

/// A technology by name.
pub(super) fn technology(name: &str) -> Option<&'static Technology> {
    TECHNOLOGIES.iter().find(|technology| technology.name == name)
}
