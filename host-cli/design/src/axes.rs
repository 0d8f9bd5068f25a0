//! Axes: what distinguishes a design, in words.

use std::fmt::Write as _;

use strata_core::energy::WireCharge;
use strata_core::organisation::{LevelSettings, Scheduling};
use strata_core::register_file_cache::RegisterFileCacheConfig;
use strata_core::sm::config::Scheduler;

use super::delivery::{self, PoolReadEnergy};
use super::design::Design;
use super::managed::Managed;
use super::{data_cache, second_level, sm};

impl Design {
    /// What distinguishes the design: pairs of axis and value.
    pub fn axes(&self) -> Vec<(&'static str, String)> {
        let settings = self.organisation().settings();
        let scheduler = match settings.scheduling {
            Scheduling::SingleLevel => format!("single level, all {} warps", self.sm.max_warps),
            Scheduling::TwoLevel { active_warps } => format!("two level, {active_warps} active"),
        };
        let mut axes = vec![
            ("machine", self.machine.name.clone()),
            ("upper levels", self.upper_levels()),
            ("scheduler", scheduler),
        ];
        if let Some(memory) = &self.memory {
            axes.push(("memory", memory.kind.name().to_owned()));
            axes.push(("technology", memory.technology.name.clone()));
        } else {
            axes.push(("technology", self.machine.technology.clone()));
        }
        axes.extend(delivery::axes(self.sm.operand_delivery));
        if self.pool_read_energy == PoolReadEnergy::Bank {
            axes.push(("reads of the pool", "cost a read of a bank".to_owned()));
        }
        if settings.levels.flush_at_backward_branches() {
            axes.push(("flush", "also at taken backward branches".to_owned()));
        }
        if self.sm.scheduler != Scheduler::default() {
            axes.push(("issue order", self.sm.scheduler.name().to_owned()));
        }
        axes.extend(sm::axes(&self.sm));
        axes.extend(self.storage.as_ref().map(|storage| ("storage", storage.describe())));
        axes.extend(self.data_cache.map(|cache| ("data cache", data_cache::describe(cache))));
        let l2 = self.data_cache.and_then(|cache| cache.l2);
        axes.extend(l2.map(|l2| ("below the cache", second_level::describe(&l2))));
        axes.extend(self.wire_charge_axis());
        if self.partial_warp_energy {
            axes.push(("partial warps", "cost the clusters they touch".to_owned()));
        }
        axes
    }

    /// The levels above the main register file, in words.
    fn upper_levels(&self) -> String {
        match self.organisation().levels() {
            LevelSettings::Flat => "none".to_owned(),
            LevelSettings::Cached(levels) => {
                let last = if levels.last_result_file { "LRF in front of " } else { "" };
                format!("{last}{}", describe(levels.cache))
            }
            LevelSettings::CompilerManaged => {
                self.managed.map_or_else(String::new, Managed::describe)
            }
        }
    }

    /// How wires are charged, where there is a level that values move to or from.
    fn wire_charge_axis(&self) -> Option<(&'static str, String)> {
        let levels = *self.organisation().levels() != LevelSettings::Flat;
        let name = match self.wire_charge {
            WireCharge::Once => "charged once",
            WireCharge::EachTrip => "charged for each trip",
        };
        levels.then(|| ("wires", name.to_owned()))
    }
}

/// A register file cache.
pub(super) fn describe(cache: RegisterFileCacheConfig) -> String {
    let entries = cache.entries;
    let mut text = format!("RFC, {entries} {}", if entries == 1 { "entry" } else { "entries" });
    let replacement = cache.replacement.name().to_uppercase();
    let allocation = cache.allocation.name().replace('-', " ");
    let _ = write!(text, ", {replacement}, {allocation} allocate");
    for (on, label) in [
        (cache.liveness, ", static liveness"),
        (cache.liveness_aware_bypass, ", liveness-aware bypass"),
        (cache.liveness_aware_eviction, ", liveness-aware eviction"),
    ] {
        text += if on { label } else { "" };
    }
    text
}
