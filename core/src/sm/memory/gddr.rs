//! GDDR: a channel of graphics memory, command by command, in clocks of its own.
//!
//! Models: banks with a row open or none, in groups; activates, precharges and column accesses
//! under the timings of a part; one command in a clock; a queue whose requests a free bank takes
//! row hits first, then the oldest (FR-FCFS); column accesses before other commands, those of older
//! requests first; which channel, bank and row an address lies in.
//! Does not model: refresh; a limit of activates in a window (FAW); power-down; what moves data
//! between the channel and an SM.
//! Source: `[EXPARS]` Table 2, for the six timings that it prints; `docs/MODEL.md`, rule 39;
//! `docs/DEVIATIONS.md`, DEV-090.
//!
//! ```
//! use strata_core::sm::memory::gddr::{Channel, Request, Timings};
//!
//! let mut channel = Channel::new(Timings::EXPARS);
//! channel.push(Request { id: 7, bank: 0, row: 3, is_write: false, bursts: 2 }).ok_or("full")?;
//! // ACT at 0, RD after RCD = 12 and CCDL = 3 clocks later; data CL = 12 and 2 clocks behind.
//! let mut clock = 0;
//! let done = loop {
//!     match channel.step(clock) {
//!         Some(done) => break done,
//!         None => clock = channel.next_event(clock).ok_or("idle")?,
//!     }
//! };
//! assert_eq!((clock, done.id, done.data_at), (15, 7, 15 + 12 + 2));
//! # Ok::<(), &str>(())
//! ```

use heapless::Vec;

/// Banks of a channel.
pub const BANKS: usize = 16;
/// Groups of banks: bank modulo groups.
pub const BANK_GROUPS: usize = 4;
/// Requests that a channel's scheduler chooses among.
pub const QUEUE: usize = 16;
/// Bytes of a burst, which a column access moves.
pub const BURST_BYTES: u32 = 64;
/// Clocks for which a burst takes the data bus: 32 bytes in each.
const BURST_CLOCKS: u64 = 2;

/// Timings of a part. Unit: clocks of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timings {
    /// Between activates of different banks.
    pub rrd: u16,
    /// From an activate to a column access.
    pub rcd: u16,
    /// From a precharge to an activate.
    pub rp: u16,
    /// Between activates of a bank. Range: from `rp`.
    pub rc: u16,
    /// From a read to its data.
    pub cl: u16,
    /// From the end of written data to a precharge.
    pub wr: u16,
    /// Between column accesses of different groups. Range: from 1.
    pub ccd: u16,
    /// Between column accesses of a group. Range: from `ccd`.
    pub ccdl: u16,
    /// From a write to its data.
    pub wl: u16,
    /// From the end of written data to a read.
    pub cdlr: u16,
    /// From a read to a precharge of its bank.
    pub rtpl: u16,
}

impl Timings {
    /// `[EXPARS]` Table 2 (RRD to WR); the others, which it does not print, are assumed.
    pub const EXPARS: Self = Self {
        rrd: 6,
        rcd: 12,
        rp: 12,
        rc: 40,
        cl: 12,
        wr: 12,
        ccd: 2,
        ccdl: 3,
        wl: 4,
        cdlr: 5,
        rtpl: 2,
    };

    /// From an activate to a precharge of the bank.
    pub const fn ras(&self) -> u16 {
        self.rc.saturating_sub(self.rp)
    }

    /// From a write to a read of any bank.
    fn write_to_read(&self) -> u64 {
        u64::from(self.wl) + BURST_CLOCKS + u64::from(self.cdlr)
    }

    /// From a read to a write of any bank: the bus turns around for two clocks.
    fn read_to_write(&self) -> u64 {
        (u64::from(self.cl) + BURST_CLOCKS + 2).saturating_sub(self.wl.into())
    }

    /// From a write to a precharge of its bank.
    fn write_to_precharge(&self) -> u64 {
        u64::from(self.wl) + BURST_CLOCKS + u64::from(self.wr)
    }
}

/// What is asked of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The caller's name for it.
    pub id: u32,
    /// Range: below [`BANKS`]; taken modulo it.
    pub bank: u8,
    /// The row.
    pub row: u32,
    /// Writes, otherwise reads.
    pub is_write: bool,
    /// Column accesses of [`BURST_BYTES`] each. Range: from 1; 0 counts as 1.
    pub bursts: u8,
}

/// A request whose last column access has been issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Done {
    /// The request.
    pub id: u32,
    /// The clock from which on all of its data has moved.
    pub data_at: u64,
}

/// What a channel has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelCounters {
    /// Rows opened.
    pub activates: u64,
    /// Rows closed.
    pub precharges: u64,
    /// Bursts read.
    pub read_bursts: u64,
    /// Bursts written.
    pub write_bursts: u64,
    /// Requests whose row was open when their bank took them.
    pub row_hits: u64,
    /// Requests whose bank had no row open.
    pub row_misses: u64,
    /// Requests whose bank had another row open.
    pub row_conflicts: u64,
}

/// A request in the queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    request: Request,
    /// Column accesses to come.
    left: u8,
    /// Its bank works on it.
    taken: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    open: Option<u32>,
    /// First clock for an activate.
    activate: u64,
    /// First clock for a column access, as far as the bank's own activate says.
    column: u64,
    /// First clock for a precharge.
    precharge: u64,
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Column,
    Activate,
    Precharge,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    timings: Timings,
    banks: [Bank; BANKS],
    /// The oldest first.
    queue: Vec<Queued, QUEUE>,
    /// First clock for an activate of any bank.
    activate: u64,
    /// First clock for a read, and for a write, as far as the bus says.
    columns: [u64; 2],
    /// First clock for a column access of each group.
    groups: [u64; BANK_GROUPS],
    /// First clock for any command.
    command: u64,
    counters: ChannelCounters,
}

impl Channel {
    /// A channel without a row open.
    pub fn new(timings: Timings) -> Self {
        Self {
            timings,
            banks: [Bank::default(); BANKS],
            queue: Vec::new(),
            activate: 0,
            columns: [0; 2],
            groups: [0; BANK_GROUPS],
            command: 0,
            counters: ChannelCounters::default(),
        }
    }

    /// What it has done.
    pub const fn counters(&self) -> &ChannelCounters {
        &self.counters
    }

    /// Whether its queue has room.
    pub fn has_room(&self) -> bool {
        !self.queue.is_full()
    }

    /// Whether nothing waits in it.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Queues a request, behind those that came before; none if the queue is full.
    pub fn push(&mut self, request: Request) -> Option<()> {
        let request = Request { bank: request.bank % BANKS as u8, ..request };
        let queued = Queued { request, left: request.bursts.max(1), taken: false };
        self.queue.push(queued).ok()?;
        self.take(request.bank);
        Some(())
    }

    /// A bank without work takes a request: the oldest of its open row, otherwise the oldest.
    fn take(&mut self, bank: u8) {
        let mut own = self.queue.iter_mut().filter(|queued| queued.request.bank == bank);
        let open = self.banks[usize::from(bank)].open;
        let mut oldest = None;
        let mut hit = None;
        for queued in &mut own {
            if queued.taken {
                return;
            }
            let is_hit = open == Some(queued.request.row);
            match (is_hit, &hit, &oldest) {
                (true, None, _) => hit = Some(queued),
                (false, _, None) => oldest = Some(queued),
                _ => {}
            }
        }
        let is_hit = hit.is_some();
        let Some(chosen) = hit.or(oldest) else { return };
        chosen.taken = true;
        let counted = match (is_hit, open) {
            (true, _) => &mut self.counters.row_hits,
            (false, None) => &mut self.counters.row_misses,
            (false, Some(_)) => &mut self.counters.row_conflicts,
        };
        *counted += 1;
    }

    /// The next command of a request that its bank works on, and the first clock for it.
    fn due(&self, queued: &Queued) -> (Command, u64) {
        let Request { bank, row, is_write, .. } = queued.request;
        let own = &self.banks[usize::from(bank)];
        let (command, at) = match own.open {
            Some(open) if open == row => {
                let group = self.groups[usize::from(bank) % BANK_GROUPS];
                let bus = self.columns[usize::from(is_write)];
                (Command::Column, own.column.max(group).max(bus))
            }
            Some(_) => (Command::Precharge, own.precharge),
            None => (Command::Activate, own.activate.max(self.activate)),
        };
        (command, at.max(self.command))
    }

    /// The requests that banks work on, each by its place with its next command.
    fn dues(&self) -> impl Iterator<Item = (usize, Command, u64)> {
        let taken = self.queue.iter().enumerate().filter(|(_, queued)| queued.taken);
        taken.map(|(place, queued)| {
            let (command, at) = self.due(queued);
            (place, command, at)
        })
    }

    /// What happens in a clock: a command at most. Clocks must not go back; one in which no
    /// command is due ([`Self::next_event`]) changes nothing. Returns the request that it ends.
    pub fn step(&mut self, clock: u64) -> Option<Done> {
        let ready = |(_, _, at): &(usize, Command, u64)| *at <= clock;
        // Column accesses first; of equals the oldest.
        let column = self.dues().filter(ready).find(|due| due.1 == Command::Column);
        let (place, command, _) = column.or_else(|| self.dues().find(ready))?;
        self.command = clock + 1;
        let bank = self.queue[place].request.bank;
        match command {
            Command::Column => return self.access(place, clock),
            Command::Activate => self.open(place, clock),
            Command::Precharge => {
                let own = &mut self.banks[usize::from(bank)];
                own.open = None;
                own.activate = own.activate.max(clock + u64::from(self.timings.rp));
                self.counters.precharges += 1;
            }
        }
        None
    }

    fn open(&mut self, place: usize, clock: u64) {
        let Request { bank, row, .. } = self.queue[place].request;
        let Timings { rrd, rcd, rc, .. } = self.timings;
        let own = &mut self.banks[usize::from(bank)];
        own.open = Some(row);
        own.activate = clock + u64::from(rc);
        own.column = clock + u64::from(rcd);
        own.precharge = clock + u64::from(self.timings.ras());
        self.activate = clock + u64::from(rrd);
        self.counters.activates += 1;
    }

    /// A column access; the request ends with its last.
    fn access(&mut self, place: usize, clock: u64) -> Option<Done> {
        let timings = self.timings;
        let Queued { request, left, .. } = &mut self.queue[place];
        let Request { id, bank, is_write, .. } = *request;
        *left -= 1;
        let ends = *left == 0;
        let later = |clocks: u16| clock + u64::from(clocks);
        self.columns = self.columns.map(|column| column.max(later(timings.ccd)));
        self.groups[usize::from(bank) % BANK_GROUPS] = later(timings.ccdl);
        let own = &mut self.banks[usize::from(bank)];
        let data_at = if is_write {
            self.columns[0] = self.columns[0].max(clock + timings.write_to_read());
            own.precharge = own.precharge.max(clock + timings.write_to_precharge());
            self.counters.write_bursts += 1;
            later(timings.wl) + BURST_CLOCKS
        } else {
            self.columns[1] = self.columns[1].max(clock + timings.read_to_write());
            own.precharge = own.precharge.max(later(timings.rtpl));
            self.counters.read_bursts += 1;
            later(timings.cl) + BURST_CLOCKS
        };
        if !ends {
            return None;
        }
        self.queue.remove(place);
        self.take(bank);
        Some(Done { id, data_at })
    }

    /// The first clock later than this one in which a command is due; none of an empty queue.
    pub fn next_event(&self, clock: u64) -> Option<u64> {
        self.dues().map(|(_, _, at)| at.max(clock + 1)).min()
    }
}

/// Where an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Channel. Range: below the number of channels.
    pub channel: u8,
    /// Bank of the channel. Range: below [`BANKS`].
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
}

/// Consecutive bytes of a channel.
const CHUNK_BYTES: u64 = 256;
/// Bytes of a row of a bank.
const ROW_BYTES: u64 = 2048;

impl Place {
    /// Where an address lies: pieces of 256 bytes go to the channels in turn; those of a channel
    /// fill a row of 2 KB of a bank, then one of the next bank (DEV-090). Rows are counted modulo
    /// 2^32.
    ///
    /// `None` without a channel.
    pub fn of(address: u64, channels: u8) -> Option<Self> {
        let piece = address / CHUNK_BYTES;
        let channel = piece.checked_rem(channels.into())?;
        let row = piece / u64::from(channels) / (ROW_BYTES / CHUNK_BYTES);
        let banks = BANKS as u64;
        // Each fits: a channel is below the number, a bank below 16, and rows are cut.
        Some(Self { channel: channel as u8, bank: (row % banks) as u8, row: (row / banks) as u32 })
    }
}

/// Clocks of a memory for clocks of an SM, as a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockRatio {
    /// Clocks of the memory. Range: from 1.
    pub memory: u32,
    /// Cycles of the SM in the same time. Range: from 1.
    pub sm: u32,
}

impl ClockRatio {
    /// `[EXPARS]` Table 2: 924 MHz for 1.4 GHz.
    pub const EXPARS: Self = Self { memory: 33, sm: 50 };

    /// The first clock of the memory that begins at a cycle or later; `None` if the ratio has a 0
    /// or the clock does not fit.
    pub fn clock_from(self, cycle: u64) -> Option<u64> {
        Self::scaled(cycle, self.memory, self.sm)
    }

    /// The first cycle of the SM that begins with a clock of the memory or later; `None` as above.
    pub fn cycle_from(self, clock: u64) -> Option<u64> {
        Self::scaled(clock, self.sm, self.memory)
    }

    fn scaled(at: u64, to: u32, from: u32) -> Option<u64> {
        if to == 0 || from == 0 {
            return None;
        }
        u64::try_from((u128::from(at) * u128::from(to)).div_ceil(u128::from(from))).ok()
    }
}
