//! L2: a second level of cache, written back, with DRAM of channels and banks behind it.
//!
//! Models: transfers take turns on the path to the primary cache, for their bytes divided by its
//! bandwidth; a tag is looked up a latency after a transfer begins. A line that is read and that it
//! does not have as a whole is fetched. A line that is written is allocated without a fetch, and
//! written back in sectors of 32 bytes when it is replaced. An atomic reads and writes.
//! Does not model: values; slices and their ports; a limit on lines on their way; other SMs.
//! Source: sizes `[EXPARS]` Table 2, else assumed; `docs/MODEL.md`, rule 39;
//! `docs/DEVIATIONS.md`, DEV-092 and DEV-094.

use super::cache::Cache;
use super::gddr::settings::{GddrError, GddrSettings};
use super::gddr::{Channel, Gddr, Request};
use super::line_key::is_local;
use super::lower::{FetchId, Fetched, LowerMemory, Purpose, There, Transfer, Transferred};
use super::lower_counters::{LowerCounters, LowerEvent};
use super::{MemoryCounters, Ticket};
use crate::sm::observe::SmObserver;

/// How a second level is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L2Settings {
    /// Capacity. Unit: bytes. Range: from one set, in whole sets.
    pub bytes: u32,
    /// Lines of a set. Range: from 1.
    pub ways: u8,
    /// From the beginning of a transfer to the lookup of its tag, and to the data of a line that is
    /// there. Unit: cycles. Range: `1..=MAX_LATENCY`.
    pub latency: u16,
    /// Of the path between it and the primary cache. Unit: bytes. Range: from 1.
    pub bytes_per_cycle: u32,
    /// The DRAM behind it.
    pub gddr: GddrSettings,
}

impl L2Settings {
    /// `[EXPARS]` Table 2: 768 KB and six channels, for 15 SMs.
    pub const WHOLE: Self = Self {
        bytes: 768 * 1024,
        ways: 8,
        latency: 120,
        bytes_per_cycle: 32,
        gddr: GddrSettings::WHOLE,
    };

    /// One SM's share of it: 48 KB, and 8.45 bytes of DRAM in a cycle.
    pub const SHARE: Self = Self { bytes: 48 * 1024, gddr: GddrSettings::SHARE, ..Self::WHOLE };
}

/// What a second level holds of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// All bytes are there or on their way, not only those that were written.
    whole: bool,
    /// Sectors of 32 bytes that DRAM does not have, a bit for each.
    dirty: u8,
}

/// What it needs, handed in by the caller.
#[derive(Debug)]
pub struct L2Memory<'m, 'c> {
    /// Tags of the same settings; they keep what they hold of global memory from the launch before.
    pub cache: &'m mut Cache<'c, Held>,
    /// Channels of the DRAM, as many as the settings have.
    pub channels: &'m mut [Channel],
    /// [`MOST_REQUESTS`](super::gddr::MOST_REQUESTS).
    pub requests: &'m mut [Request],
}

/// A second level, in one launch.
#[derive(Debug)]
pub struct L2<'m, 'c> {
    settings: L2Settings,
    cache: &'m mut Cache<'c, Held>,
    /// First cycle in which the path can move bytes for another transfer.
    path_free: u64,
    gddr: Gddr<'m>,
    counters: LowerCounters,
}

impl<'m, 'c> L2<'m, 'c> {
    /// A second level over tags of the same settings. Time begins at 0, and no row is open.
    ///
    /// # Errors
    /// DRAM that cannot be.
    pub fn new(settings: L2Settings, memory: L2Memory<'m, 'c>) -> Result<Self, GddrError> {
        settings.gddr.check()?;
        let L2Memory { cache, channels, requests } = memory;
        cache.restart(|key| !is_local(key));
        let used = channels.len().min(usize::from(settings.gddr.channels));
        let gddr = Gddr::new(settings.gddr, &mut channels[..used], requests);
        Ok(Self { settings, cache, path_free: 0, gddr, counters: LowerCounters::default() })
    }

    /// What it has counted.
    pub const fn counters(&self) -> &LowerCounters {
        &self.counters
    }

    /// A line is read, and `written` says which of its sectors are written as well. Returns when it
    /// is there.
    fn read(&mut self, (key, of): (u64, Ticket), written: u8, at: u64) -> There {
        if let Some(tag) = self.cache.use_line(key) {
            tag.state.dirty |= written;
            if tag.state.whole {
                self.counters.record(LowerEvent::L2ReadHit, 1);
                return match FetchId::of_arrival(tag.arrives()) {
                    Some(fetch) => There::Later { fetch, from: at },
                    None => There::At(at.max(tag.arrives())),
                };
            }
            let fetch = self.gddr.fetch(key, of, at);
            tag.state.whole = true;
            tag.set_arrival(fetch.arrival());
            self.counters.record(LowerEvent::L2ReadMiss, 1);
            return There::Later { fetch, from: at };
        }
        self.counters.record(LowerEvent::L2ReadMiss, 1);
        let fetch = self.gddr.fetch(key, of, at);
        self.allocate(key, fetch.arrival(), Held { whole: true, dirty: written }, at);
        There::Later { fetch, from: at }
    }

    /// Sectors of a line are written, or all of it.
    fn write(&mut self, key: u64, written: u8, whole: bool, at: u64) {
        let Some(tag) = self.cache.use_line(key) else {
            self.counters.record(LowerEvent::L2WriteMiss, 1);
            return self.allocate(key, at, Held { whole, dirty: written }, at);
        };
        self.counters.record(LowerEvent::L2WriteHit, 1);
        tag.state.dirty |= written;
        if whole && !tag.state.whole {
            tag.state.whole = true;
            tag.set_arrival(at);
        }
    }

    /// Puts a line in the place of another, which is written back.
    fn allocate(&mut self, key: u64, arrives: u64, held: Held, at: u64) {
        let replaced = self.cache.allocate(key, arrives, held);
        let Some((victim, Held { dirty, .. })) = replaced.filter(|(_, held)| held.dirty != 0)
        else {
            return;
        };
        self.counters.record(LowerEvent::L2Writeback, 1);
        let columns = [0b0011, 0b1100].into_iter().filter(|column| dirty & column != 0).count();
        self.gddr.write(victim, columns as u8, at);
    }
}

/// The sectors of 32 bytes that rows of 16 lie in.
const fn sectors(rows: u8) -> u8 {
    let pairs = rows | rows >> 1;
    pairs & 1 | pairs >> 1 & 2 | pairs >> 2 & 4 | pairs >> 3 & 8
}

impl LowerMemory for L2<'_, '_> {
    const LATE: bool = true;

    fn has_room(&self, lines: usize) -> bool {
        // Each line may be read, and another one written back for it.
        self.gddr.room() >= 2 * lines
    }

    fn transfer(&mut self, transfer: &Transfer, _: &mut MemoryCounters<'_>) -> Transferred {
        let &Transfer { key, rows, whole, purpose, bytes, at, of } = transfer;
        let from = at.max(self.path_free);
        let until = from + u64::from(bytes.div_ceil(self.settings.bytes_per_cycle));
        self.path_free = until;
        let at = from + u64::from(self.settings.latency);
        let there = match purpose {
            Purpose::Fill | Purpose::Read => self.read((key, of), 0, at),
            Purpose::Atomic => self.read((key, of), sectors(rows), at),
            Purpose::Write => {
                self.write(key, sectors(rows), whole, at);
                There::At(at)
            }
        };
        Transferred { from, until, there }
    }

    fn step(
        &mut self,
        now: u64,
        counters: &mut MemoryCounters<'_>,
        observer: &mut impl SmObserver,
    ) {
        self.gddr.step(now, (&mut self.counters, counters), observer);
    }

    fn next_fetched(&mut self) -> Option<Fetched> {
        let (line, key) = self.gddr.next_fetched()?;
        self.cache.arrive(key, line.fetch.arrival(), line.at);
        Some(line)
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        self.gddr.next_event(now)
    }

    fn drained_at(&self) -> u64 {
        self.path_free.max(self.gddr.drained_at())
    }

    fn is_busy(&self) -> bool {
        self.gddr.is_busy()
    }
}
