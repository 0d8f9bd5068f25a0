//! Energy of an SM with all its storage: what a run did, and the baseline whose time says what the
//! core spends.
//!
//! Source: `[MICRO2012]` 5.2; `docs/MODEL.md`, rule 38.

use strata_core::event::Counters;
use strata_core::sm::counters::SmCounters;
use strata_core::sm::memory::cached::CacheEvent;
use strata_core::sm::memory::touched::LINE_BYTES;
use strata_core::sm::partition::{Areas, Division, Needs};
use strata_core::storage_energy::{MemoryAccesses, StorageConfiguration, StorageCounts};

use crate::options::Mode;
use crate::provision::Provision;
use crate::report::storage_energy::InTechnology;
use crate::report::{DataCacheCounts, StorageEnergyReport};
use strata_design::Design;

/// A design whose time says what the core spends under others.
pub(crate) struct StorageBaseline {
    /// The design.
    pub(crate) design: Design,
    /// Why the application does not run on it.
    pub(crate) refused: Option<String>,
}

/// What an application did, as technologies of storage price it.
pub(crate) struct StorageRun {
    /// How the storage was divided.
    pub(crate) configuration: StorageConfiguration,
    /// What it did, without the baseline's cycles.
    pub(crate) counts: StorageCounts,
}

/// Whether two designs take the same time for every program.
pub(crate) fn takes_the_same_time(a: &Design, b: &Design) -> bool {
    let of = |design: &Design| (design.sm, design.data_cache, design.managed);
    of(a) == of(b) && a.storage.is_none() && b.storage.is_none()
}

/// The baselines of the designs whose energy of storage is reported, each once, for an application
/// of these kernels.
pub(crate) fn baselines(
    designs: &[Design],
    (mode, has_program): (Mode, bool),
    kernels: &[Needs],
) -> Vec<StorageBaseline> {
    let mut all: Vec<StorageBaseline> = Vec::new();
    if mode != Mode::Cycle {
        return all;
    }
    for design in designs.iter().filter_map(|design| design.storage_baseline(has_program)) {
        if !all.iter().any(|other| takes_the_same_time(&other.design, &design)) {
            let refused = Provision::fixed(&design).check(kernels).err();
            all.push(StorageBaseline { design, refused: refused.map(|error| error.to_string()) });
        }
    }
    all
}

/// How the storage of a run lies in banks.
pub(crate) fn configuration(design: &Design, provision: &Provision) -> StorageConfiguration {
    let cache = provision.cache().map_or(0, |cache| cache.cache_bytes);
    let areas = Areas {
        registers: design.sm.register_file_bytes,
        shared: design.sm.shared_memory_bytes,
        cache,
    };
    let divided = provision.storage().map(|divided| divided.division);
    StorageConfiguration {
        division: divided.unwrap_or(Division::Partitioned(areas)),
        cache_array: design.storage.as_ref().map(|own| own.cache_array).unwrap_or_default(),
    }
}

/// What a run did, without the baseline's cycles.
pub(crate) fn counts(
    accesses: &Counters,
    time: &SmCounters,
    memory: &DataCacheCounts,
    disabled_byte_cycles: u128,
) -> StorageCounts {
    let event = |event| memory.get(event);
    StorageCounts {
        register_reads: accesses.mrf_reads(),
        register_writes: accesses.mrf_writes(),
        shared: MemoryAccesses {
            read_words: event(CacheEvent::SharedReadWord),
            read_rows: event(CacheEvent::SharedReadRow),
            written_words: event(CacheEvent::SharedWriteWord),
            written_rows: event(CacheEvent::SharedWriteRow),
        },
        cache: MemoryAccesses {
            read_words: event(CacheEvent::CacheReadWord),
            read_rows: event(CacheEvent::CacheReadRow),
            written_words: event(CacheEvent::CacheWriteWord),
            written_rows: event(CacheEvent::CacheWriteRow),
        },
        cache_fills: event(CacheEvent::FillByte) / u64::from(LINE_BYTES),
        dram_bytes: memory.dram_bytes(),
        disabled_byte_cycles,
        cycles: time.cycles(),
        baseline_cycles: 0,
    }
}

/// What an application did on the baselines of its designs.
pub(crate) struct BaselineRuns<'a>(Vec<(&'a StorageBaseline, Option<StorageRun>)>);

impl<'a> BaselineRuns<'a> {
    /// Each baseline with what the application did on its design, if it ran.
    pub(crate) fn of(
        baselines: &'a [StorageBaseline],
        run: impl Fn(&Design) -> Option<StorageRun>,
    ) -> Self {
        Self(baselines.iter().map(|baseline| (baseline, run(&baseline.design))).collect())
    }

    /// The energy of a run of a design in each of its technologies; none if it names none.
    pub(crate) fn report(&self, design: &Design, run: &StorageRun) -> Option<StorageEnergyReport> {
        let first = design.storage_technologies.first()?;
        let own = |has_program| {
            let own = design.storage_baseline(has_program)?;
            self.0.iter().find(|(baseline, _)| takes_the_same_time(&baseline.design, &own))
        };
        let (baseline, baseline_run) = own(true).or_else(|| own(false))?;
        let name = baseline.design.name.clone();
        let Some(of) = baseline_run else {
            let reason = baseline.refused.as_deref().unwrap_or("it did not run");
            return Some(StorageEnergyReport {
                unavailable: Some(format!(
                    "technology `{}` prices the core by the time on `{name}`: {reason}",
                    first.name
                )),
                baseline: name,
                baseline_cycles: None,
                technologies: Vec::new(),
            });
        };
        let baseline_cycles = of.counts.cycles;
        let with_baseline = |counts: StorageCounts| StorageCounts { baseline_cycles, ..counts };
        let technologies = design.storage_technologies.iter().map(|technology| {
            let energy =
                |of: &StorageRun| technology.energy(&of.configuration, &with_baseline(of.counts));
            InTechnology::of(
                &technology.name,
                energy(run).map_err(|reason| reason.0),
                energy(of).ok().as_ref(),
            )
        });
        Some(StorageEnergyReport {
            technologies: technologies.collect(),
            baseline: name,
            baseline_cycles: Some(baseline_cycles),
            unavailable: None,
        })
    }
}
