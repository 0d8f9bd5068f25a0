//! Lower memory: what lies below the primary data cache, as the cache sees it.
//!
//! Models: transfers between the cache and what lies below, each with the cycles for which it takes
//! their path, and the cycle of its data, which may not be known yet; DRAM with a fixed latency and
//! a bandwidth, whose transfers do not overlap, is the first of them.
//! Does not model: a second level, rows and channels of DRAM: those are `l2` and `gddr`.
//! Source: `[MICRO2012]` Table 2, `[DISS]` 7.3; `docs/MODEL.md`, rules 35 and 39.

use super::{MemoryCounters, Space, Ticket};
use crate::sm::observe::SmObserver;
use crate::sm::timing::Timing;

/// Why something moves between the primary cache and what lies below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A line that the cache fetches.
    Fill,
    /// Rows that are read past the cache.
    Read,
    /// Rows that are written.
    Write,
    /// Rows that are read and written in one piece.
    Atomic,
}

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What the cache knows the line by.
    pub key: u64,
    /// The rows that it touches, bit `i` being row `i`.
    pub rows: u8,
    /// It touches every word of the line.
    pub whole: bool,
    /// Why.
    pub purpose: Purpose,
    /// What moves. Unit: bytes; from 1.
    pub bytes: u32,
    /// The first cycle in which it can begin; not before that of an earlier transfer.
    pub at: u64,
    /// Whose access it belongs to.
    pub of: Ticket,
}

/// What becomes of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// First cycle in which it takes the path between the cache and what lies below.
    pub from: u64,
    /// The cycle after the last.
    pub until: u64,
    /// When its data is there; of writes, without meaning.
    pub there: There,
}

/// When the data of a transfer is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    /// A cycle.
    At(u64),
    /// Not before the cycle `from`, and not before a line has come.
    Later {
        /// The line.
        fetch: FetchId,
        /// A cycle.
        from: u64,
    },
}

/// A line on its way from DRAM of which is not known yet when it comes. The number is free for
/// another line once that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchId(pub u16);

impl FetchId {
    /// In a tag, the arrivals from this on stand for lines on their way.
    const FIRST: u64 = u64::MAX - u16::MAX as u64;

    /// What stands for it in a tag in the place of a cycle, later than all cycles.
    pub(super) const fn arrival(self) -> u64 {
        Self::FIRST + self.0 as u64
    }

    /// The line that stands in a tag in the place of a cycle, if one does.
    pub(super) const fn of_arrival(arrives: u64) -> Option<Self> {
        if arrives < Self::FIRST { None } else { Some(Self((arrives - Self::FIRST) as u16)) }
    }
}

/// It is known when a line comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The line.
    pub fetch: FetchId,
    /// The cycle.
    pub at: u64,
}

/// What lies below a primary data cache.
pub trait LowerMemory: core::fmt::Debug {
    /// Whether a transfer may answer [`There::Later`].
    const LATE: bool;

    /// Whether it takes an access of so many lines, of any purpose.
    fn has_room(&self, lines: usize) -> bool;

    /// Takes a transfer.
    fn transfer(&mut self, transfer: &Transfer, counters: &mut MemoryCounters<'_>) -> Transferred;

    /// What happens up to the end of a cycle, of which an observer hears.
    fn step(&mut self, now: u64, counters: &mut MemoryCounters<'_>, observer: &mut impl SmObserver);

    /// The next line of which is known now when it comes, each once.
    fn next_fetched(&mut self) -> Option<Fetched>;

    /// The next cycle, later than `now`, in which a step does something, if there is one.
    fn next_event(&self, now: u64) -> Option<u64>;

    /// The first cycle from which on no byte moves, as far as it is known.
    fn drained_at(&self) -> u64;

    /// Whether it goes on after the last warp.
    fn is_busy(&self) -> bool;
}

/// DRAM with a fixed latency, whose transfers take turns for their bytes divided by its bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Dram {
    bytes_per_cycle: u32,
    latency: u64,
    /// First cycle in which it can move bytes for another transfer.
    free: u64,
}

impl Dram {
    /// Idle DRAM.
    pub const fn new(timing: &Timing) -> Self {
        let (bytes_per_cycle, latency) = (timing.dram_bytes_per_cycle, timing.dram_latency as u64);
        Self { bytes_per_cycle, latency, free: 0 }
    }
}

impl LowerMemory for Dram {
    const LATE: bool = false;

    #[inline]
    fn has_room(&self, _: usize) -> bool {
        true
    }

    #[inline]
    fn transfer(&mut self, transfer: &Transfer, counters: &mut MemoryCounters<'_>) -> Transferred {
        let cycles = u64::from(transfer.bytes.div_ceil(self.bytes_per_cycle));
        let from = transfer.at.max(self.free);
        self.free = from + cycles;
        counters.moved(Space::Global, transfer.bytes, cycles);
        Transferred { from, until: self.free, there: There::At(from + self.latency) }
    }

    fn step(&mut self, _: u64, _: &mut MemoryCounters<'_>, _: &mut impl SmObserver) {}

    fn next_fetched(&mut self) -> Option<Fetched> {
        None
    }

    #[inline]
    fn next_event(&self, _: u64) -> Option<u64> {
        None
    }

    fn drained_at(&self) -> u64 {
        self.free
    }

    fn is_busy(&self) -> bool {
        false
    }
}
