//! GDDR: DRAM of channels and banks with rows, behind a second level.
//!
//! Models: a queue for each channel, whose commands are timed in ticks of a clock of their own
//! (`bank`, `channel`); a line is two reads or writes of 64 bytes.
//! Does not model: values; refresh; the channel's bus of commands beyond one in a tick.
//! Source: `[EXPARS]` Table 2; `docs/MODEL.md`, rule 39; `docs/DEVIATIONS.md`, DEV-092 to DEV-094.

mod bank;
mod channel;
pub mod mapping;
pub mod row;
pub mod settings;

pub use bank::Command;
pub use channel::{Channel, Request};
use channel::{Issued, NONE};
use heapless::Deque;
use mapping::place;
use row::Row;
use settings::GddrSettings;

use super::lower::{FetchId, Fetched};
use super::lower_counters::{LowerCounters, LowerEvent};
use super::{MemoryCounters, Space, Ticket};
use crate::sm::observe::{Observation, RowObservation, SmObserver};

/// What a read or write moves. Unit: bytes.
pub const COLUMN_BYTES: u32 = 64;
/// What a channel moves in a tick. Unit: bytes.
pub const BURST_BYTES: u32 = 32;
/// Reads or writes of a whole line.
const LINE_COLUMNS: u8 = 2;
/// Requests of which the memory has room for as many as one access of a warp can need.
pub const MOST_REQUESTS: usize = 4096;

/// The channels, in the caller's memory.
#[derive(Debug)]
pub(super) struct Gddr<'m> {
    settings: GddrSettings,
    channels: &'m mut [Channel],
    requests: &'m mut [Request],
    /// The first request that is free, and how many are.
    free: u16,
    free_count: usize,
    /// Lines of which it is known when they come, with the keys of the second level.
    fetched: Deque<(Fetched, u64), 64>,
    /// Ticks in which data buses were taken.
    data_ticks: u64,
    /// Cycles in which data buses were taken, of all channels' buses on average.
    data_cycles: u64,
    /// The first cycle from which on no data moves.
    drained_at: u64,
}

impl<'m> Gddr<'m> {
    /// Idle channels, as many as the settings have; the others are not used. All requests are free,
    /// at most 65,535.
    pub(super) fn new(
        settings: GddrSettings,
        channels: &'m mut [Channel],
        requests: &'m mut [Request],
    ) -> Self {
        channels.fill(Channel::IDLE);
        let all = requests.len().min(usize::from(NONE));
        for (index, request) in requests[..all].iter_mut().enumerate() {
            let next = if index + 1 < all { index as u16 + 1 } else { NONE };
            *request = Request { next, ..Request::EMPTY };
        }
        Self {
            settings,
            channels,
            requests,
            free: if all == 0 { NONE } else { 0 },
            free_count: all,
            fetched: Deque::new(),
            data_ticks: 0,
            data_cycles: 0,
            drained_at: 0,
        }
    }

    /// Requests that it takes besides those it has.
    pub(super) const fn room(&self) -> usize {
        self.free_count
    }

    /// Reads a line for an access, from a cycle of the SM on. Returns what the line is known by
    /// until it is known when it comes. There is [room](Self::room).
    pub(super) fn fetch(&mut self, key: u64, of: Ticket, from: u64) -> FetchId {
        let fetch = FetchId(self.free);
        self.push(key, Some((fetch, of)), LINE_COLUMNS, from);
        fetch
    }

    /// Writes so many times 64 bytes of a line, from a cycle of the SM on. There is room.
    pub(super) fn write(&mut self, key: u64, columns: u8, from: u64) {
        self.push(key, None, columns, from);
    }

    fn push(&mut self, key: u64, fetch: Option<(FetchId, Ticket)>, columns: u8, from: u64) {
        let Some(request) = self.requests.get_mut(usize::from(self.free)) else { return };
        let at = self.free;
        self.free = request.next;
        self.free_count -= 1;
        let place = place(&self.settings, key);
        let from = self.settings.clock.tick_from(from + u64::from(self.settings.latency));
        let (bank, row) = (place.bank, place.row);
        let (fetch, of) = fetch.unzip();
        *request = Request { fetch, of, key, bank, row, columns, from, ..Request::EMPTY };
        if let Some(channel) = self.channels.get_mut(usize::from(place.channel)) {
            channel.push(at, self.requests, &self.settings);
        }
    }

    /// All commands up to a cycle.
    pub(super) fn step(
        &mut self,
        now: u64,
        (lower, counters): (&mut LowerCounters, &mut MemoryCounters<'_>),
        observer: &mut impl SmObserver,
    ) {
        let until = self.settings.clock.last_tick_by(now);
        for channel in 0..self.channels.len() {
            loop {
                let of = &mut self.channels[channel];
                if of.next_tick() > until || self.fetched.is_full() {
                    break;
                }
                if let Some(issued) = of.advance(until, self.requests, &self.settings) {
                    self.tell(channel, &issued, observer);
                    self.count(&issued, lower, counters);
                }
            }
        }
    }

    /// Tells of a read or write.
    fn tell(&self, channel: usize, issued: &Issued, observer: &mut impl SmObserver) {
        let write = match issued.command {
            Command::Read => false,
            Command::Write => true,
            Command::Activate | Command::Precharge => return,
        };
        let clock = self.settings.clock;
        let Request { bank, row, of, .. } = self.requests[usize::from(issued.request)];
        let from = clock.cycle_of(issued.data_end - u64::from(self.settings.data_ticks));
        let until = clock.cycle_from(issued.data_end).max(from + 1);
        let (channel, found) = (channel as u8, issued.first);
        let told = RowObservation { channel, bank, row, found, write, of, from, until };
        observer.observe(Observation::Row(told));
    }

    fn count(
        &mut self,
        issued: &Issued,
        lower: &mut LowerCounters,
        counters: &mut MemoryCounters<'_>,
    ) {
        let event = match issued.command {
            Command::Activate => return lower.record(LowerEvent::Activate, 1),
            Command::Precharge => return lower.record(LowerEvent::Precharge, 1),
            Command::Read => LowerEvent::ReadBurst,
            Command::Write => LowerEvent::WriteBurst,
        };
        lower.record(event, (COLUMN_BYTES / BURST_BYTES).into());
        let clock = self.settings.clock;
        self.data_ticks += u64::from(self.settings.data_ticks);
        let buses = u64::from(clock.ticks) * self.channels.len() as u64;
        let cycles = self.data_ticks * u64::from(clock.cycles) / buses;
        counters.moved(Space::Global, COLUMN_BYTES, cycles - self.data_cycles);
        self.data_cycles = cycles;
        let at = clock.cycle_from(issued.data_end);
        self.drained_at = self.drained_at.max(at);
        if let Some(found) = issued.first {
            let event = match found {
                Row::Hit => LowerEvent::RowHit,
                Row::Miss => LowerEvent::RowMiss,
                Row::Conflict => LowerEvent::RowConflict,
            };
            lower.record(event, 1);
        }
        if !issued.done {
            return;
        }
        let request = &mut self.requests[usize::from(issued.request)];
        if let Some(fetch) = request.fetch {
            let _ = self.fetched.push_back((Fetched { fetch, at }, request.key));
        }
        request.next = self.free;
        self.free = issued.request;
        self.free_count += 1;
    }

    /// The next line of which it is known when it comes, and its key.
    pub(super) fn next_fetched(&mut self) -> Option<(Fetched, u64)> {
        self.fetched.pop_front()
    }

    /// The next cycle, later than `now`, with a command.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let tick = self.channels.iter().map(Channel::next_tick).min()?;
        (tick != u64::MAX).then(|| self.settings.clock.cycle_from(tick).max(now + 1))
    }

    pub(super) const fn drained_at(&self) -> u64 {
        self.drained_at
    }

    /// Whether any channel has requests.
    pub(super) fn is_busy(&self) -> bool {
        self.channels.iter().any(Channel::is_busy)
    }
}
