//! Launch cache: the memory that a design with a data cache has, from one launch to the next.

use strata_core::sm::memory::cache::{Cache, Tag};
use strata_core::sm::memory::cached::{CachedMemoryParts, CachedSettings};
use strata_core::sm::memory::gddr::{Channel, MOST_REQUESTS, Request};
use strata_core::sm::memory::l2::{Held, L2Memory, L2Settings};
use strata_core::sm::memory::mshr::{Mshr, MshrLimit};
use strata_core::sm::memory::waiting::{MOST_WAITERS, MOST_WAITING, Waiter, WaitingAccess};
use strata_core::sm::partition::Partition;

use super::error::TimingError;

/// The cache of a design, and what it has below, from one launch to the next.
#[derive(Clone, Debug)]
pub struct LaunchCache {
    settings: CachedSettings,
    /// Where the storage of the last launch was divided, how.
    partition: Option<Partition>,
    tags: Vec<Tag>,
    parts: Parts,
    second_level: Option<SecondLevel>,
}

/// What a launch needs beside tags.
#[derive(Clone, Debug, Default)]
struct Parts {
    mshrs: Vec<Mshr>,
    waiting: Vec<WaitingAccess>,
    waiters: Vec<Waiter>,
}

/// A second level and the DRAM behind it.
#[derive(Clone, Debug)]
pub(super) struct SecondLevel {
    settings: L2Settings,
    tags: Vec<Tag<Held>>,
    channels: Vec<Channel>,
    requests: Vec<Request>,
}

impl SecondLevel {
    fn new(settings: L2Settings) -> Self {
        Self {
            settings,
            tags: vec![Tag::empty(Held::default()); Cache::tags(settings.bytes)],
            channels: vec![Channel::IDLE; usize::from(settings.gddr.channels)],
            requests: vec![Request::EMPTY; MOST_REQUESTS],
        }
    }

    /// Does something with its settings and its memory.
    pub(super) fn lend<R>(
        &mut self,
        then: impl FnOnce(L2Settings, L2Memory<'_, '_>) -> Result<R, TimingError>,
    ) -> Result<R, TimingError> {
        let Self { settings, tags, channels, requests } = self;
        let cache = &mut Cache::new(settings.bytes, settings.ways, tags)?;
        then(*settings, L2Memory { cache, channels, requests })
    }
}

impl LaunchCache {
    /// An empty cache over an empty second level, if there is one.
    pub fn new(settings: CachedSettings) -> Self {
        let tags = vec![Tag::EMPTY; Cache::tags(settings.cache_bytes)];
        let late = settings.l2.is_some();
        let parts = Parts {
            mshrs: vec![Mshr::EMPTY; MshrLimit::entries(settings.mshrs)],
            waiting: vec![WaitingAccess::EMPTY; if late { MOST_WAITING } else { 0 }],
            waiters: vec![Waiter::EMPTY; if late { MOST_WAITERS } else { 0 }],
        };
        let second_level = settings.l2.map(SecondLevel::new);
        Self { settings, partition: None, tags, parts, second_level }
    }

    /// The cache for the next launch, of a storage that is divided so: emptied if the last one was
    /// divided otherwise. A second level keeps what it holds.
    pub fn divide(&mut self, settings: CachedSettings, partition: Option<Partition>) {
        if (self.settings, self.partition) != (settings, partition) {
            let second_level = self.second_level.take();
            *self = Self { partition, ..Self::new(settings) };
            if second_level.as_ref().map(|second| second.settings) == settings.l2 {
                self.second_level = second_level;
            }
        }
    }

    /// The parts of the memory of a launch: its settings, its tags, what else it needs, and what
    /// lies below.
    pub(super) fn lend(
        &mut self,
    ) -> Result<
        (CachedSettings, Cache<'_>, CachedMemoryParts<'_>, Option<&mut SecondLevel>),
        TimingError,
    > {
        let Self { settings, tags, parts, second_level, .. } = self;
        let cache = Cache::new(settings.cache_bytes, settings.ways, tags)?;
        let Parts { mshrs, waiting, waiters } = parts;
        let parts = CachedMemoryParts { mshrs, waiting, waiters };
        Ok((*settings, cache, parts, second_level.as_mut()))
    }
}
