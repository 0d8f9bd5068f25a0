//! Reports of designs that did nothing but access memory, for tests.

use std::collections::BTreeMap;

use strata_core::sm::memory::cached::CacheEvent;

use super::derived::LOAD_HITS;
use super::{Check, RunReport, SCHEMA, Totals, tool};
use strata_design::resolve;

/// A design without a data cache.
pub(super) fn plain(design: &str) -> RunReport {
    let own = resolve("isca11").unwrap();
    RunReport {
        expansion: None,
        schema: SCHEMA.to_owned(),
        tool: tool(),
        command: "strata run".to_owned(),
        workload: "made-up".to_owned(),
        parameters: own.named_parameters(),
        design: design.to_owned(),
        machine: own.name,
        mode: "cycle".to_owned(),
        order: "ptx".to_owned(),
        check: Check::None,
        launches: Vec::new(),
        counters: BTreeMap::new(),
        digest: "0".to_owned(),
        derived: BTreeMap::new(),
        energy_fj: None,
        energy_unavailable: None,
        energy_in_time: None,
        energy_in_time_unavailable: None,
        endurance: None,
        data_cache: None,
        storage: None,
        storage_energy: None,
        sources: Vec::new(),
        assumed: Vec::new(),
        changed: Vec::new(),
        totals: Totals::default(),
    }
}

/// A design with one: 100 of the first event, 200 of the second, and so on.
pub(super) fn cached(design: &str) -> RunReport {
    let events = CacheEvent::ALL.into_iter().map(CacheEvent::name).zip((100..).step_by(100));
    let all = events.chain([("lookups", 2800), ("dram_bytes", 2700)]);
    RunReport {
        data_cache: Some(all.map(|(name, count)| (name.to_owned(), count)).collect()),
        derived: BTreeMap::from([(LOAD_HITS.to_owned(), Some(16.666_667))]),
        ..plain(design)
    }
}
