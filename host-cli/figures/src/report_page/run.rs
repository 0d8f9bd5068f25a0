//! Run: what the page shows of a report of `strata run`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use strata_core::sm::counters::StallReason;

use strata_measure::options::Mode;
use strata_report::Check;

/// A report of `strata run --format json`, without what the page does not show.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a report of `strata run`")]
pub struct Run {
    /// The program that wrote it.
    pub(super) tool: Tool,
    pub(super) command: String,
    pub(super) workload: String,
    pub(super) design: String,
    pub(super) mode: String,
    pub(super) order: String,
    pub(super) check: String,
    pub(super) launches: Vec<Launch>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) derived: BTreeMap<String, Option<f64>>,
    #[serde(deserialize_with = "there")]
    pub(super) energy_fj: Option<BTreeMap<String, u64>>,
    #[serde(deserialize_with = "there")]
    pub(super) energy_unavailable: Option<String>,
    /// Left out of designs without registers in scratchpad memory.
    pub(super) expansion: Option<BTreeMap<String, u64>>,
    pub(super) assumed: Vec<String>,
    pub(super) changed: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a program")]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) version: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a launch")]
pub(super) struct Launch {
    pub(super) kernel: String,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) registers: u16,
}

/// A value or null, whose key must be there.
pub(super) fn there<'d, T: Deserialize<'d>, D: Deserializer<'d>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

/// A level from which operands come: what it is called, and the counters of its accesses.
pub(super) struct Level {
    pub(super) name: &'static str,
    pub(super) reads: &'static [&'static str],
    pub(super) writes: &'static str,
}

/// The levels whose accesses are in `counters`.
pub(super) const LEVELS: [Level; 5] = [
    Level { name: "MRF", reads: &["mrf_reads"], writes: "mrf_writes" },
    Level { name: "RFC", reads: &["rfc_reads"], writes: "rfc_writes" },
    Level { name: "ORF", reads: &["orf_reads"], writes: "orf_writes" },
    Level { name: "LRF", reads: &["lrf_reads"], writes: "lrf_writes" },
    Level { name: "write pool", reads: &["write_pool_reads"], writes: "write_pool_writes" },
];

/// The level whose accesses are in `expansion`.
pub(super) const OPERAND_CACHE: Level = Level {
    name: "operand cache",
    reads: &["operand_cache_reads_private", "operand_cache_reads_shared"],
    writes: "operand_cache_writes",
};

/// A level's accesses, read and written. Unit: warp register accesses.
pub(super) struct Accesses {
    pub(super) level: &'static str,
    pub(super) reads: u64,
    pub(super) writes: u64,
}

impl Run {
    /// Whether it ran in time.
    pub(super) fn in_time(&self) -> bool {
        self.mode == Mode::Cycle.name()
    }

    /// A counter that [`Run::check`] has found.
    pub(super) fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// The accesses of all levels.
    pub(super) fn accesses(&self) -> Vec<Accesses> {
        let of = |level: &Level, from: &BTreeMap<String, u64>| {
            let count = |name: &str| from.get(name).copied().unwrap_or(0);
            let reads = level.reads.iter().map(|name| count(name)).fold(0, u64::saturating_add);
            Accesses { level: level.name, reads, writes: count(level.writes) }
        };
        let mut all: Vec<_> = LEVELS.iter().map(|level| of(level, &self.counters)).collect();
        all.extend(self.expansion.as_ref().map(|counts| of(&OPERAND_CACHE, counts)));
        all
    }

    /// What each part of the energy is, without their sum. Unit: femtojoules.
    pub(super) fn energy_parts(&self) -> impl Iterator<Item = (&str, u64)> {
        let parts = self.energy_fj.iter().flatten();
        parts.filter(|(part, _)| *part != TOTAL).map(|(part, energy)| (part.as_str(), *energy))
    }

    /// The sum of all parts. Unit: femtojoules.
    pub(super) fn energy(&self) -> Option<u64> {
        self.energy_fj.as_ref().and_then(|parts| parts.get(TOTAL).copied())
    }

    /// A ratio; none where it is not known or not of this mode.
    pub(super) fn ratio(&self, name: &str) -> Option<f64> {
        self.derived.get(name).copied().flatten()
    }

    /// Whether everything that the page shows is there, and the parts make the whole.
    ///
    /// # Errors
    /// What is missing, or does not fit.
    pub(super) fn check(&self) -> Result<(), String> {
        known("mode", &self.mode, &Mode::ALL.map(Mode::name))?;
        let checks = [Check::Passed, Check::None, Check::Replayed].map(Check::name);
        known("check", &self.check, &checks)?;
        has("counters", &self.counters, "warp_instructions")?;
        for level in &LEVELS {
            for name in level.reads.iter().chain([&level.writes]) {
                has("counters", &self.counters, name)?;
            }
        }
        if self.in_time() {
            has("counters", &self.counters, "cycles")?;
            for reason in StallReason::ALL {
                has("counters", &self.counters, reason.name())?;
            }
        }
        if let Some(counts) = &self.expansion {
            for name in OPERAND_CACHE.reads.iter().chain([&OPERAND_CACHE.writes]) {
                has("expansion", counts, name)?;
            }
        }
        self.check_energy()
    }

    fn check_energy(&self) -> Result<(), String> {
        let Some(parts) = &self.energy_fj else {
            return match self.energy_unavailable {
                Some(_) => Ok(()),
                None => Err("`energy_fj` is null, and `energy_unavailable` says no reason".into()),
            };
        };
        has("energy_fj", parts, TOTAL)?;
        let sum: u128 = self.energy_parts().map(|(_, energy)| u128::from(energy)).sum();
        if u128::from(parts[TOTAL]) == sum {
            return Ok(());
        }
        Err(format!("`energy_fj` has the total {}, and its parts make {sum}", parts[TOTAL]))
    }
}

/// The key of the sum of all energies.
const TOTAL: &str = "total";

/// Whether a text is one of those that are known.
pub(super) fn known(key: &str, text: &str, all: &[&str]) -> Result<(), String> {
    if all.contains(&text) {
        return Ok(());
    }
    Err(format!("`{key}` is `{text}`, not one of `{}`", all.join("`, `")))
}

fn has(group: &str, counts: &BTreeMap<String, u64>, name: &str) -> Result<(), String> {
    if counts.contains_key(name) { Ok(()) } else { Err(format!("`{group}` has no `{name}`")) }
}
