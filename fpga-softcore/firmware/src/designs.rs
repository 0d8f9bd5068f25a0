//! Designs that the firmware runs, by the host's names.
//!
//! Between them: no cache and a cache, one level of scheduling and two, both orders of issue, one
//! and two issue slots. `designs/*.toml` beside this crate defines the last two for the host.

use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::sm::config::{Scheduler, SmSettings};

/// A design by name.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// The host's name for it.
    pub name: &'static str,
    /// The SM; its `hierarchy` is what count mode counts.
    pub settings: SmSettings,
}

/// Every design, in the order in which they are reported.
pub const DESIGNS: [Design; 4] = [
    Design { name: "isca11", settings: SmSettings::ISCA11 },
    Design { name: "isca11-rfc6", settings: TWO_LEVEL },
    Design {
        name: "gto-single",
        settings: SmSettings {
            organisation: cached(Scheduling::SingleLevel),
            scheduler: Scheduler::GreedyThenOldest,
            ..SmSettings::ISCA11
        },
    },
    Design { name: "two-slots", settings: SmSettings { issue_slots: 2, ..TWO_LEVEL } },
];

/// The papers' best design: 6 entries, 8 active warps.
const TWO_LEVEL: SmSettings = SmSettings {
    organisation: cached(Scheduling::TwoLevel { active_warps: 8 }),
    ..SmSettings::ISCA11
};

/// A cache of 6 entries, first in, first out, with static liveness.
const fn cached(scheduling: Scheduling) -> Organisation {
    let levels = LevelSettings::Cached(CachedLevels::new(RegisterFileCacheConfig {
        entries: 6,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    }));
    match Organisation::new(OrganisationSettings { levels, scheduling }) {
        Ok(config) => config,
        // Evaluated at compile time: a design that cannot be built does not compile.
        Err(_) => panic!("the settings above contradict each other"),
    }
}
