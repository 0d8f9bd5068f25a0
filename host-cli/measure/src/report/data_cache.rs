//! Data cache: what a memory with addresses counted over the launches of a run.

use std::collections::BTreeMap;

use strata_core::sm::memory::cached::{CacheCounters, CacheEvent, CachedSettings};
use strata_core::sm::memory::lower_counters::{LowerCounters, LowerEvent};

/// Counts of a memory with addresses, and their sums over launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataCacheCounts {
    events: [u64; CacheEvent::ALL.len()],
    /// Events that the design cannot count, which are not reported.
    absent: [bool; CacheEvent::ALL.len()],
    /// What lies below it, of a design with a second level.
    lower: Option<[u64; LowerEvent::ALL.len()]>,
    lookups: u64,
    dram_bytes: u64,
}

impl DataCacheCounts {
    /// What a memory of these settings has counted.
    pub fn new(
        counters: &CacheCounters,
        lower: Option<&LowerCounters>,
        settings: &CachedSettings,
    ) -> Self {
        Self {
            events: CacheEvent::ALL.map(|event| counters.get(event)),
            absent: CacheEvent::ALL.map(|event| !settings.has(event)),
            lookups: counters.lookups(),
            lower: lower.map(|lower| LowerEvent::ALL.map(|event| lower.get(event))),
            dram_bytes: lower.map_or_else(|| counters.dram_bytes(), LowerCounters::dram_bytes),
        }
    }

    /// The sum of both, which is reported as the other; none if a count does not fit 64 bits.
    #[must_use]
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let mut sum = Self { absent: other.absent, ..*self };
        for (sum, more) in sum.events.iter_mut().zip(other.events) {
            *sum = sum.checked_add(more)?;
        }
        sum.lower = match (self.lower, other.lower) {
            (Some(mut sum), Some(more)) => {
                for (sum, more) in sum.iter_mut().zip(more) {
                    *sum = sum.checked_add(more)?;
                }
                Some(sum)
            }
            (one, other) => one.or(other),
        };
        sum.lookups = sum.lookups.checked_add(other.lookups)?;
        sum.dram_bytes = sum.dram_bytes.checked_add(other.dram_bytes)?;
        Some(sum)
    }

    /// Bytes from and to DRAM.
    pub const fn dram_bytes(&self) -> u64 {
        self.dram_bytes
    }

    /// A count.
    pub const fn get(&self, event: CacheEvent) -> u64 {
        self.events[event as usize]
    }

    /// Every count by its name, lookups and bytes of DRAM too.
    pub fn by_name(&self) -> BTreeMap<String, u64> {
        let events = CacheEvent::ALL.into_iter().filter(|&event| !self.absent[event as usize]);
        let events = events.map(|event| (event.name(), self.get(event)));
        let sums = [("lookups", self.lookups), ("dram_bytes", self.dram_bytes)];
        let lower = LowerEvent::ALL.into_iter().zip(self.lower.iter().flatten());
        let lower = lower.map(|(event, &count)| (event.name(), count));
        events.chain(lower).chain(sums).map(|(name, count)| (name.to_owned(), count)).collect()
    }

    /// Lines whose row was open in DRAM, and all that it read or wrote; of a design with a second
    /// level.
    pub fn row_hits(&self) -> Option<(u64, u64)> {
        let [hits, misses, conflicts] =
            [LowerEvent::RowHit, LowerEvent::RowMiss, LowerEvent::RowConflict]
                .map(|event| self.lower.map(|lower| lower[event as usize]));
        Some((hits?, hits? + misses? + conflicts?))
    }

    /// Lines that the second level had, and all that it was asked to read.
    pub fn second_level_hits(&self) -> Option<(u64, u64)> {
        let [hits, misses] = [LowerEvent::L2ReadHit, LowerEvent::L2ReadMiss]
            .map(|event| self.lower.map(|lower| lower[event as usize]));
        Some((hits?, hits? + misses?))
    }

    /// Lines of loads that the cache had, and all lines of loads.
    pub const fn load_hits(&self) -> (u64, u64) {
        let hits = self.get(CacheEvent::LoadHit);
        let all = hits + self.get(CacheEvent::LoadMerged) + self.get(CacheEvent::LoadMiss);
        (hits, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::derived;
    use strata_core::event::Counters;
    use strata_core::sm::memory::cached::LocalStores;
    use strata_core::sm::memory::l2::L2Settings;
    use strata_core::sm::memory::mshr::MshrLimit;
    use strata_core::value_usage::ValueUsage;
    use strata_design::resolve;

    /// 100 of the first event, 200 of the second, and so on.
    fn made_up() -> DataCacheCounts {
        let events = core::array::from_fn(|event| 100 * (event as u64 + 1));
        DataCacheCounts { events, lookups: 2800, dram_bytes: 2700, ..DataCacheCounts::default() }
    }

    #[test]
    fn every_count_has_its_name_and_sums_are_checked() {
        let counts = made_up();
        let names = counts.by_name();
        assert_eq!(names.len(), CacheEvent::ALL.len() + 2);
        for (event, count) in CacheEvent::ALL.into_iter().zip((100..).step_by(100)) {
            assert_eq!((counts.get(event), names[event.name()]), (count, count));
        }
        assert_eq!((names["lookups"], names["dram_bytes"]), (2800, 2700));
        let twice = counts.checked_add(&counts).unwrap();
        assert!(twice.by_name().iter().all(|(name, &count)| count == 2 * names[name]));
        assert_eq!(counts.checked_add(&DataCacheCounts::default()), Some(counts));
        let none = CacheCounters::default();
        let names = |settings| DataCacheCounts::new(&none, None, &settings).by_name();
        let plain = CachedSettings::of(2048);
        assert_eq!(names(plain).len(), CacheEvent::ALL.len() + 2 - 5);
        let local = CachedSettings { local_stores: LocalStores::Allocate, ..plain };
        assert!(names(local).contains_key("store_fetches"));
        let mshrs = Some(MshrLimit { lines: 1, loads: 1 });
        assert!(names(CachedSettings { mshrs, ..plain }).contains_key("mshr_refusals"));
        let l2 = CachedSettings { l2: Some(L2Settings::SHARE), ..plain };
        let lower = LowerCounters::default();
        let below = DataCacheCounts::new(&none, Some(&lower), &l2);
        let names = below.by_name();
        assert_eq!(names.len(), CacheEvent::ALL.len() + 2 - 4 + LowerEvent::ALL.len());
        assert_eq!((names["queue_refusals"], names["gddr_row_hits"]), (0, 0));
        assert_eq!(below.row_hits(), Some((0, 0)));
        let some = DataCacheCounts { lower: Some([3; LowerEvent::ALL.len()]), ..below };
        assert_eq!(some.checked_add(&some).unwrap().row_hits(), Some((6, 18)));
        assert_eq!(below.checked_add(&some).unwrap().second_level_hits(), Some((3, 6)));
        let most = DataCacheCounts { lower: Some([u64::MAX; LowerEvent::ALL.len()]), ..below };
        assert_eq!(most.checked_add(&some), None);
        assert_eq!(DataCacheCounts::default().checked_add(&some), Some(some));
        let most = |edit: fn(&mut DataCacheCounts)| {
            let mut most = DataCacheCounts::default();
            edit(&mut most);
            most.checked_add(&counts)
        };
        assert_eq!(most(|most| most.events[11] = u64::MAX), None);
        assert_eq!(most(|most| most.lookups = u64::MAX), None);
        assert_eq!(most(|most| most.dram_bytes = u64::MAX), None);
    }

    #[test]
    fn only_a_design_with_a_data_cache_has_its_ratios() {
        let design = resolve("isca11").unwrap();
        let (counters, usage) = (Counters::default(), ValueUsage::default());
        let ratio = |counts: Option<&DataCacheCounts>| {
            let ratios = derived::ratios(&derived::Inputs {
                design: &design,
                counters: &counters,
                flat: &counters,
                energy: None,
                baseline: None,
                usage: &usage,
                crossings: None,
                time: None,
                in_time: None,
                data_cache: counts,
            });
            ratios.get(derived::LOAD_HITS).copied()
        };
        assert_eq!(ratio(None), None);
        assert_eq!(ratio(Some(&DataCacheCounts::default())), Some(None));
        // 100 of 100 + 200 + 300: what is merged waits for DRAM too.
        assert_eq!(ratio(Some(&made_up())), Some(Some(16.666_667)));
    }
}
