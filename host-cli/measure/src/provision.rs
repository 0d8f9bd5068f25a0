//! Provision: what an application has of a design's storage while it runs, as the SM and the cache
//! that it runs on.
//!
//! Source: `[MICRO2012]` 4.4, 4.5 and 6.3, `[DISS]` 7.3.4 and 7.3.5; `docs/MODEL.md`, rule 37.

use strata_core::sm::config::{CtaTooLarge, Limit, Residency, SmConfig, SmSettings};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::partition::{Division, Limits, Needs, Partition};

use crate::timing::LaunchCache;
use strata_design::storage::{Repartition, ThreadChoice};
use strata_design::{Design, Storage};

/// Least register file of an SM: a register of a warp. Unit: bytes.
const LEAST_REGISTER_FILE: u64 = 128;

/// An SM as a design provides it for an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provision {
    sm: SmSettings,
    cache: Option<CachedSettings>,
    /// Of a design whose storage is divided for each application.
    divided: Option<Divided>,
}

/// Storage that was divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divided {
    /// How.
    pub division: Division,
    /// Into what.
    pub partition: Partition,
    limits: Limits,
    repartition: Repartition,
}

impl Divided {
    /// Whether it is divided again for each kernel.
    pub fn is_for_kernels(&self) -> bool {
        self.repartition == Repartition::Kernel
    }
}

impl Provision {
    /// The provisions among which the one is taken with which an application of these kernels runs
    /// fastest; one for a design that has no choice. The first is taken of equally fast ones.
    ///
    /// # Errors
    /// No CTA fits any division of the storage: what is missing in the last.
    pub fn candidates(design: &Design, kernels: &[Needs]) -> Result<Vec<Self>, CtaTooLarge> {
        let Some(storage) = design.storage.as_ref().filter(|_| !kernels.is_empty()) else {
            return Ok(vec![Self::fixed(design)]);
        };
        let limits = storage.limits(&design.sm);
        let mut candidates = Vec::new();
        let mut refused = None;
        for &division in &storage.divisions {
            match division.partition_for(kernels, &limits) {
                Ok(most) => candidates
                    .extend(threads(storage, &most, limits).filter_map(|limits| {
                        Self::divided(design, division, kernels, limits).ok()
                    })),
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if candidates.is_empty() => Err(error),
            _ => Ok(candidates),
        }
    }

    /// Of a design whose areas are fixed.
    pub const fn fixed(design: &Design) -> Self {
        Self { sm: design.sm, cache: design.data_cache, divided: None }
    }

    fn divided(
        design: &Design,
        division: Division,
        kernels: &[Needs],
        limits: Limits,
    ) -> Result<Self, CtaTooLarge> {
        let partition = division.partition_for(kernels, &limits)?;
        let storage = design.storage.as_ref();
        let repartition = storage.map_or_else(Default::default, |storage| storage.repartition);
        let divided = Divided { division, partition, limits, repartition };
        let (sm, cache) = (design.sm, design.data_cache);
        Ok(Self { sm, cache, divided: Some(divided) }.with_areas())
    }

    /// The SM with the areas of the partition.
    fn with_areas(mut self) -> Self {
        let Some(Divided { division, partition, .. }) = self.divided else { return self };
        let (registers, shared) = match division {
            Division::Partitioned(areas) => (areas.registers.into(), areas.shared.into()),
            Division::Unified { .. } => (partition.registers().bytes, partition.shared().bytes),
        };
        // The storage has fewer than 2^32 bytes.
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        self.sm.register_file_bytes = bytes(registers.max(LEAST_REGISTER_FILE));
        self.sm.shared_memory_bytes = bytes(shared);
        let cache_bytes = bytes(partition.cache().bytes);
        self.cache = self.cache.map(|cache| CachedSettings { cache_bytes, ..cache });
        self
    }

    /// The provision for a kernel: another one only where the storage is divided for each kernel.
    ///
    /// # Errors
    /// No CTA fits.
    pub fn for_kernel(&self, needs: &Needs) -> Result<Self, CtaTooLarge> {
        match self.divided {
            Some(divided) if divided.repartition == Repartition::Kernel => {
                let partition = divided.division.partition(needs, &divided.limits)?;
                let divided = Some(Divided { partition, ..divided });
                Ok(Self { divided, ..self.clone() }.with_areas())
            }
            _ => Ok(self.clone()),
        }
    }

    /// The cache for the next launch; it is empty if the launch before had another partition.
    pub fn divide<'c>(&self, cache: &'c mut LaunchCache) -> &'c mut LaunchCache {
        if let Some(settings) = self.cache {
            cache.divide(settings, self.divided.map(|divided| divided.partition));
        }
        cache
    }

    /// The SM for CTAs of so many threads.
    ///
    /// # Errors
    /// A CTA has more threads than can be resident.
    pub fn sm(&self, threads_per_cta: u32) -> Result<SmSettings, CtaTooLarge> {
        let Some(Divided { limits, .. }) = self.divided else { return Ok(self.sm) };
        let by_threads = limits.threads / threads_per_cta.max(1);
        if by_threads == 0 {
            let (needed, available) = (threads_per_cta.into(), limits.threads.into());
            return Err(CtaTooLarge { limit: Limit::Threads, needed, available });
        }
        let max_ctas = self.sm.max_ctas.min(u8::try_from(by_threads).unwrap_or(u8::MAX));
        Ok(SmSettings { max_ctas, ..self.sm })
    }

    /// Whether a CTA of each kernel fits.
    ///
    /// # Errors
    /// One does not.
    pub fn check(&self, kernels: &[Needs]) -> Result<(), CtaTooLarge> {
        for needs in kernels {
            // Settings that make no SM are found when it is made.
            if let Ok(config) = SmConfig::new(self.sm(needs.threads_per_cta)?) {
                config.residency(&needs.launch())?;
            }
        }
        Ok(())
    }

    /// The cache, if there is one.
    pub const fn cache(&self) -> Option<CachedSettings> {
        self.cache
    }

    /// How the storage was divided, if it was.
    pub const fn storage(&self) -> Option<&Divided> {
        self.divided.as_ref()
    }

    /// The residency of CTAs of so many threads with the limit that the storage has, where the
    /// SM's areas are the parts of it.
    #[must_use]
    pub fn residency(&self, threads_per_cta: u32, residency: Residency) -> Residency {
        let Some(Divided { division, limits, .. }) = self.divided else { return residency };
        let by_threads = limits.threads / threads_per_cta.max(1);
        let limit = match (residency.limit, division) {
            (Limit::Registers | Limit::SharedMemory, Division::Unified { .. }) => {
                Limit::UnifiedStorage
            }
            (Limit::Ctas, _) if by_threads < u32::from(self.sm.max_ctas) => Limit::Threads,
            (limit, _) => limit,
        };
        Residency { limit, ..residency }
    }
}

/// The limits with which the numbers of threads are resident that are tried, the most first.
fn threads(
    storage: &Storage,
    most: &Partition,
    limits: Limits,
) -> impl Iterator<Item = Limits> + use<> {
    let fewer = match storage.threads {
        ThreadChoice::Most => 0,
        ThreadChoice::Search => most.ctas() - 1,
    };
    let each = most.threads() / most.ctas();
    let fewer = (1..=fewer).rev().map(move |ctas| Limits { threads: ctas * each, ..limits });
    std::iter::once(limits).chain(fewer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_design::resolve;

    #[test]
    fn a_cta_of_more_threads_than_may_be_resident_is_refused() {
        let design = resolve("diss-ch7-unified-384").unwrap();
        let kernel = Needs { threads_per_cta: 256, registers: 16, shared_bytes: 0 };
        let candidates = Provision::candidates(&design, &[kernel]).unwrap();
        let threads: Vec<_> = candidates
            .iter()
            .map(|provision| provision.storage().unwrap().partition.threads())
            .collect();
        assert_eq!(threads, [1024, 768, 512, 256]);
        let ctas: Vec<_> = candidates.iter().map(|of| of.sm(256).map(|sm| sm.max_ctas)).collect();
        assert_eq!(ctas, [Ok(4), Ok(3), Ok(2), Ok(1)]);
        // A launch that was not foreseen.
        let error = CtaTooLarge { limit: Limit::Threads, needed: 512, available: 256 };
        assert_eq!(candidates[3].sm(512), Err(error));
        assert!(candidates[0].sm(512).is_ok());
    }
}
