//! Channel: requests for lines, and which of them gets the next command.
//!
//! Models: first ready, first come, first served (FR-FCFS) among the oldest requests, as many as
//! the queue holds: a read or write of an open row before an activation or a precharge, then the
//! older request. A row stays open until a request needs another one and none in the queue needs
//! it.
//! Does not model: writes that are held back; a limit on how often a request is overtaken.
//! Source: the policy is assumed (`docs/DEVIATIONS.md`, DEV-092); `docs/MODEL.md`, rule 39.

use heapless::Vec;

use super::bank::{Banks, Command};
use super::row::Row;
use super::settings::{GddrSettings, MAX_QUEUE};
use crate::sm::memory::Ticket;
use crate::sm::memory::lower::FetchId;

/// A line that is read or written.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The fetch that it is; none of a write.
    pub(super) fetch: Option<FetchId>,
    /// Whose access it belongs to; none of a line that the second level writes back.
    pub(super) of: Option<Ticket>,
    /// What the second level knows the line by.
    pub(super) key: u64,
    pub(super) bank: u8,
    pub(super) row: u64,
    /// Reads or writes of 64 bytes that it still needs.
    pub(super) columns: u8,
    pub(super) found: Row,
    /// None of its reads or writes has been issued.
    pub(super) is_new: bool,
    /// The first tick in which it can be chosen.
    pub(super) from: u64,
    /// The next in a list of requests.
    pub(super) next: u16,
}

/// No request.
pub(super) const NONE: u16 = u16::MAX;

impl Request {
    /// Memory for one.
    pub const EMPTY: Self = Self {
        fetch: None,
        of: None,
        key: 0,
        bank: 0,
        row: 0,
        columns: 0,
        found: Row::Hit,
        is_new: true,
        from: 0,
        next: NONE,
    };

    const fn column(&self) -> Command {
        if self.fetch.is_some() { Command::Read } else { Command::Write }
    }
}

/// A command that is issued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub(super) command: Command,
    /// The tick after its last data.
    pub(super) data_end: u64,
    /// Where the request has its place.
    pub(super) request: u16,
    /// How the request found its bank, if this is its first read or write.
    pub(super) first: Option<Row>,
    /// The request is over.
    pub(super) done: bool,
}

/// What can be done next.
#[derive(Clone, Copy, Debug)]
struct Next {
    tick: u64,
    command: Command,
    /// In the queue.
    index: usize,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    banks: Banks,
    /// Requests among which it chooses, from the oldest to the youngest.
    queue: Vec<u16, { MAX_QUEUE as usize }>,
    /// Requests behind them: the first and the last.
    waiting: Option<(u16, u16)>,
    /// The first tick in which it may have something to do; later than all if nothing.
    next_tick: u64,
}

impl Channel {
    /// Idle, without an open row.
    pub const IDLE: Self =
        Self { banks: Banks::new(), queue: Vec::new(), waiting: None, next_tick: u64::MAX };

    pub(super) const fn next_tick(&self) -> u64 {
        self.next_tick
    }

    /// Whether it has requests.
    pub(super) fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.waiting.is_some()
    }

    /// A request comes, not before an earlier one.
    pub(super) fn push(&mut self, place: u16, requests: &mut [Request], settings: &GddrSettings) {
        requests[usize::from(place)].next = NONE;
        self.waiting = match self.waiting {
            None => Some((place, place)),
            Some((first, last)) => {
                requests[usize::from(last)].next = place;
                Some((first, place))
            }
        };
        self.look_ahead(requests, settings);
    }

    /// Issues the next command, if there is one up to a tick.
    pub(super) fn advance(
        &mut self,
        until: u64,
        requests: &mut [Request],
        settings: &GddrSettings,
    ) -> Option<Issued> {
        if self.next_tick > until {
            return None;
        }
        let next = loop {
            let next = self.choose(requests, settings);
            let tick = next.map_or(u64::MAX, |next| next.tick);
            if !self.admit(tick.min(until), requests, settings) {
                break next.filter(|next| next.tick <= until);
            }
        };
        let issued = next.map(|next| self.issue(next, requests, settings));
        self.look_ahead(requests, settings);
        issued
    }

    /// Lets the next request into the queue, if it can be chosen up to a tick and there is room.
    fn admit(&mut self, until: u64, requests: &[Request], settings: &GddrSettings) -> bool {
        let Some((first, last)) = self.waiting else { return false };
        let request = &requests[usize::from(first)];
        if self.queue.len() >= usize::from(settings.queue) || request.from > until {
            return false;
        }
        self.waiting = (first != last).then_some((request.next, last));
        self.queue.push(first).is_ok()
    }

    /// The command that comes first: of those that can be issued in the first tick in which any
    /// can, a read or write before others, then that of the oldest request.
    fn choose(&self, requests: &[Request], settings: &GddrSettings) -> Option<Next> {
        let of = |place: u16| &requests[usize::from(place)];
        let open = |request: &Request| self.banks.open(request.bank);
        let mut wanted = 0_u32;
        for request in self.queue.iter().map(|&place| of(place)) {
            let hits = open(request) == Some(request.row);
            wanted |= u32::from(hits) << request.bank;
        }
        // Banks of which an older request needs another row than the open one.
        let mut taken = 0_u32;
        let mut best: Option<Next> = None;
        for (index, request) in self.queue.iter().map(|&place| of(place)).enumerate() {
            let bit = 1 << request.bank;
            let command = match open(request) {
                Some(row) if row == request.row => request.column(),
                _ if (wanted | taken) & bit != 0 => continue,
                Some(_) => Command::Precharge,
                None => Command::Activate,
            };
            let is_column = matches!(command, Command::Read | Command::Write);
            taken |= if is_column { 0 } else { bit };
            let tick = self.banks.allows(command, request.bank, settings).max(request.from);
            let first = best.is_none_or(|best| {
                let best_is_column = matches!(best.command, Command::Read | Command::Write);
                tick < best.tick || tick == best.tick && is_column && !best_is_column
            });
            if first {
                best = Some(Next { tick, command, index });
            }
        }
        best
    }

    fn issue(&mut self, next: Next, requests: &mut [Request], settings: &GddrSettings) -> Issued {
        let Next { tick, command, index } = next;
        let place = self.queue[index];
        let request = &mut requests[usize::from(place)];
        let data_end = self.banks.issue(command, (request.bank, request.row), tick, settings);
        let mut issued = Issued { command, data_end, request: place, first: None, done: false };
        match command {
            Command::Precharge => request.found = Row::Conflict,
            Command::Activate if request.found == Row::Hit => request.found = Row::Miss,
            Command::Activate => {}
            Command::Read | Command::Write => {
                issued.first = request.is_new.then_some(request.found);
                request.is_new = false;
                request.columns -= 1;
                if request.columns == 0 {
                    self.queue.remove(index);
                    issued.done = true;
                }
            }
        }
        issued
    }

    /// Notes the first tick in which there may be something to do.
    fn look_ahead(&mut self, requests: &[Request], settings: &GddrSettings) {
        let next = self.choose(requests, settings).map_or(u64::MAX, |next| next.tick);
        let room = self.queue.len() < usize::from(settings.queue);
        let admitted = self.waiting.filter(|_| room);
        let admitted = admitted.map_or(u64::MAX, |(first, _)| requests[usize::from(first)].from);
        self.next_tick = next.min(admitted);
    }
}
