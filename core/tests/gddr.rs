//! GDDR channels: hand-made cases, and a reference that looks at every clock and at every command
//! before it.

#[expect(dead_code, reason = "nothing here looks at lanes")]
mod random;

use random::Random;
use strata_core::sm::memory::gddr::{
    BANK_GROUPS, BANKS, Channel, ClockRatio, Done, Place, QUEUE, Request, Timings,
};

fn read(id: u32, bank: u8, row: u32, bursts: u8) -> Request {
    Request { id, bank, row, is_write: false, bursts }
}

fn write(id: u32, bank: u8, row: u32, bursts: u8) -> Request {
    Request { is_write: true, ..read(id, bank, row, bursts) }
}

/// When requests that come at clock 0 end: the clock of the last column access, the request and
/// the clock of its data.
fn all_at_once(requests: &[Request]) -> Vec<(u64, u32, u64)> {
    let mut channel = Channel::new(Timings::EXPARS);
    for &request in requests {
        channel.push(request).expect("there is room");
    }
    let (mut ended, mut clock) = (Vec::new(), 0);
    loop {
        if let Some(Done { id, data_at }) = channel.step(clock) {
            ended.push((clock, id, data_at));
        }
        match channel.next_event(clock) {
            Some(next) => clock = next,
            None => return ended,
        }
    }
}

#[test]
fn timings_are_the_papers() {
    let Timings { rrd, rcd, rp, rc, cl, wr, .. } = Timings::EXPARS;
    assert_eq!([rrd, rcd, rp, rc, cl, wr], [6, 12, 12, 40, 12, 12]);
    assert_eq!(Timings::EXPARS.ras(), 28);
}

/// Each case by hand, with ACT, PRE, RD and WR at the clocks of the comments.
#[test]
fn commands_keep_their_distances() {
    // ACT 0, RD 12, RD 15 (CCDL): data until 15 + 12 + 2.
    assert_eq!(all_at_once(&[read(1, 0, 5, 2)]), [(15, 1, 29)]);
    // The same row again: RD 18.
    assert_eq!(all_at_once(&[read(1, 0, 5, 2), read(2, 0, 5, 1)]), [(15, 1, 29), (18, 2, 32)]);
    // Another row: PRE at RAS = 28, ACT 40 (RC; PRE + RP is the same), RD 52.
    assert_eq!(all_at_once(&[read(1, 0, 5, 1), read(2, 0, 6, 1)]), [(12, 1, 26), (52, 2, 66)]);
    // Another bank of another group: ACT 6 (RRD), RD 18. Its second read waits for CCDL.
    assert_eq!(all_at_once(&[read(1, 0, 5, 2), read(2, 1, 5, 2)]), [(15, 1, 29), (21, 2, 35)]);
    // Rows are open. RD of banks 0 and 1 in turn are CCD = 2 apart, of banks 0 and 4 CCDL = 3.
    let opened = |bank| [read(1, 0, 5, 1), read(2, bank, 5, 4), read(3, 0, 5, 3)];
    let ended = |bank| all_at_once(&opened(bank)).last().expect("three end").0;
    // ACT 0 and 6; RD 12, 15, 20 and 24 of bank 0, and 18, 22, 26 and 29 of bank 1, whose request
    // is older than the second of bank 0.
    assert_eq!(all_at_once(&opened(1)), [(12, 1, 26), (24, 3, 38), (29, 2, 43)]);
    assert!(ended(4) > ended(1));
    // A write: WR 12, data until 12 + 4 + 2; a read of the row waits until 12 + 4 + 2 + 5.
    assert_eq!(all_at_once(&[write(1, 0, 5, 1), read(2, 0, 5, 1)]), [(12, 1, 18), (23, 2, 37)]);
    // A read, then a write: WR at 12 + 12 + 2 + 2 - 4.
    assert_eq!(all_at_once(&[read(1, 0, 5, 1), write(2, 0, 5, 1)]), [(12, 1, 26), (24, 2, 30)]);
    // A write before another row: PRE at 12 + 4 + 2 + 12 = 30, ACT 42, RD 54.
    assert_eq!(all_at_once(&[write(1, 0, 5, 1), read(2, 0, 6, 1)]), [(12, 1, 18), (54, 2, 68)]);
    // Four reads before another row: RD 12, 15, ..., 27; PRE at 27 + RTPL = 29, ACT 41, RD 53.
    assert_eq!(all_at_once(&[read(1, 0, 5, 6), read(2, 0, 6, 1)]), [(27, 1, 41), (53, 2, 67)]);
}

#[test]
fn row_hits_come_first() {
    // The third request has the row of the first, and is taken before the second.
    let requests = [read(1, 0, 5, 1), read(2, 0, 6, 1), read(3, 0, 5, 1)];
    assert_eq!(all_at_once(&requests), [(12, 1, 26), (15, 3, 29), (52, 2, 66)]);
    let mut channel = Channel::new(Timings::EXPARS);
    for request in requests {
        channel.push(request).expect("there is room");
    }
    let mut clock = 0;
    while let Some(next) = channel.next_event(clock) {
        clock = next;
        let _ = channel.step(clock);
    }
    let counters = channel.counters();
    assert_eq!((counters.row_misses, counters.row_hits, counters.row_conflicts), (1, 1, 1));
    assert_eq!((counters.activates, counters.precharges, counters.read_bursts), (2, 1, 3));
}

#[test]
fn a_full_queue_takes_no_more() {
    let mut channel = Channel::new(Timings::EXPARS);
    for id in 0..QUEUE as u32 {
        assert!(channel.has_room());
        channel.push(read(id, 0, id, 1)).expect("there is room");
    }
    assert!(!channel.has_room());
    assert_eq!(channel.push(read(99, 1, 0, 1)), None);
}

#[test]
fn addresses_go_to_the_channels_in_turn() {
    let place = |address| Place::of(address, 6).expect("there are channels");
    let at = |channel, bank, row| Place { channel, bank, row };
    assert_eq!((place(0), place(255), place(256)), (at(0, 0, 0), at(0, 0, 0), at(1, 0, 0)));
    // A row of a channel is 8 pieces of 256 bytes, 6 x 2,048 bytes apart.
    assert_eq!(place(6 * 2048 - 1), at(5, 0, 0));
    assert_eq!(place(6 * 2048), at(0, 1, 0));
    assert_eq!(place(6 * 2048 * 16), at(0, 0, 1));
    assert_eq!(Place::of(0, 0), None);
}

#[test]
fn clocks_have_an_exact_ratio() {
    let ratio = ClockRatio::EXPARS;
    assert_eq!([0, 1, 2, 50, 51].map(|cycle| ratio.clock_from(cycle)), [0, 1, 2, 33, 34].map(Some));
    assert_eq!([0, 1, 2, 33, 34].map(|clock| ratio.cycle_from(clock)), [0, 2, 4, 50, 52].map(Some));
    for cycle in 0..10_000 {
        // The first clock from a cycle on begins no earlier, and the one before earlier.
        let clock = ratio.clock_from(cycle).expect("it fits");
        assert!(clock * 50 >= cycle * 33 && (clock == 0 || (clock - 1) * 50 < cycle * 33));
        let back = ratio.cycle_from(clock).expect("it fits");
        assert!(back >= cycle && back <= cycle + 2, "{cycle}");
    }
    assert_eq!(ClockRatio { memory: 0, sm: 1 }.cycle_from(1), None);
    assert_eq!(ClockRatio { memory: 1, sm: 2 }.cycle_from(u64::MAX), None);
}

/// A command that a channel has been given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Activate,
    Precharge,
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
struct Given {
    clock: u64,
    kind: Kind,
    bank: u8,
}

/// The distance that two commands need, the first before the second; 0 where they need none.
fn distance(of: &Timings, first: Given, kind: Kind, bank: u8) -> u64 {
    let same_bank = first.bank == bank;
    let same_group = usize::from(first.bank) % BANK_GROUPS == usize::from(bank) % BANK_GROUPS;
    let burst = 2;
    let clocks = |timing: u16| u64::from(timing);
    let columns = if same_group { clocks(of.ccdl) } else { clocks(of.ccd) };
    let needed = match (first.kind, kind) {
        (Kind::Activate, Kind::Activate) if same_bank => clocks(of.rc),
        (Kind::Activate, Kind::Activate) => clocks(of.rrd),
        (Kind::Activate, Kind::Read | Kind::Write) if same_bank => clocks(of.rcd),
        (Kind::Activate, Kind::Precharge) if same_bank => clocks(of.rc) - clocks(of.rp),
        (Kind::Precharge, Kind::Activate) if same_bank => clocks(of.rp),
        (Kind::Read, Kind::Precharge) if same_bank => clocks(of.rtpl),
        (Kind::Write, Kind::Precharge) if same_bank => clocks(of.wl) + burst + clocks(of.wr),
        (Kind::Read, Kind::Read) | (Kind::Write, Kind::Write) => columns,
        (Kind::Write, Kind::Read) => columns.max(clocks(of.wl) + burst + clocks(of.cdlr)),
        (Kind::Read, Kind::Write) => columns.max(clocks(of.cl) + burst + 2 - clocks(of.wl)),
        _ => 0,
    };
    // One command in a clock.
    needed.max(1)
}

/// A channel that looks at every command before.
struct Reference {
    timings: Timings,
    history: Vec<Given>,
    open: [Option<u32>; BANKS],
    /// What each bank works on, with the column accesses to come.
    work: [Option<(Request, u8)>; BANKS],
    /// Requests with the order in which they came.
    waiting: Vec<(usize, Request)>,
    order: [usize; BANKS],
    came: usize,
}

impl Reference {
    fn new(timings: Timings) -> Self {
        let (open, work, order) = ([None; BANKS], [None; BANKS], [0; BANKS]);
        Self { timings, history: vec![], open, work, waiting: vec![], order, came: 0 }
    }

    fn held(&self) -> usize {
        self.waiting.len() + self.work.iter().flatten().count()
    }

    fn push(&mut self, request: Request) {
        self.waiting.push((self.came, request));
        self.came += 1;
        self.give_work();
    }

    fn give_work(&mut self) {
        for bank in 0..BANKS {
            let own = |request: &Request| usize::from(request.bank) == bank;
            if self.work[bank].is_some() {
                continue;
            }
            let hit = |(_, request): &(usize, Request)| {
                own(request) && self.open[bank] == Some(request.row)
            };
            let place = self.waiting.iter().position(hit);
            let place = place.or_else(|| self.waiting.iter().position(|(_, request)| own(request)));
            if let Some(place) = place {
                let (order, request) = self.waiting.remove(place);
                self.work[bank] = Some((request, request.bursts));
                self.order[bank] = order;
            }
        }
    }

    fn step(&mut self, clock: u64) -> Option<(u32, u64)> {
        let mut possible = Vec::new();
        for bank in 0..BANKS {
            let Some((request, _)) = self.work[bank] else { continue };
            let kind = match self.open[bank] {
                None => Kind::Activate,
                Some(row) if row != request.row => Kind::Precharge,
                Some(_) if request.is_write => Kind::Write,
                Some(_) => Kind::Read,
            };
            let fits = |&first: &Given| {
                clock >= first.clock + distance(&self.timings, first, kind, request.bank)
            };
            if self.history.iter().all(fits) {
                let is_column = matches!(kind, Kind::Read | Kind::Write);
                possible.push((!is_column, self.order[bank], bank, kind));
            }
        }
        let &(_, _, bank, kind) = possible.iter().min_by_key(|&&(row, order, ..)| (row, order))?;
        self.history.push(Given { clock, kind, bank: bank as u8 });
        let (request, left) = self.work[bank].expect("it works");
        let (wl, cl) = (u64::from(self.timings.wl), u64::from(self.timings.cl));
        let latency = match kind {
            Kind::Activate => {
                self.open[bank] = Some(request.row);
                return None;
            }
            Kind::Precharge => {
                self.open[bank] = None;
                return None;
            }
            Kind::Read => cl,
            Kind::Write => wl,
        };
        if left > 1 {
            self.work[bank] = Some((request, left - 1));
            return None;
        }
        self.work[bank] = None;
        self.give_work();
        Some((request.id, clock + latency + 2))
    }
}

fn timings(random: &mut Random) -> Timings {
    let mut below = |least: u32, most: u32| (least + random.below(most - least + 1)) as u16;
    let (rp, ccd) = (below(1, 20), below(1, 4));
    Timings {
        rrd: below(1, 10),
        rcd: below(1, 20),
        rp,
        rc: rp + below(1, 40),
        cl: below(4, 20),
        wr: below(1, 20),
        ccd,
        ccdl: ccd + below(0, 3),
        wl: below(1, 6),
        cdlr: below(1, 10),
        rtpl: below(1, 6),
    }
}

#[test]
fn a_reference_that_looks_at_every_clock_agrees() {
    let mut random = Random(924);
    for case in 0..120 {
        let timings = if case < 40 { Timings::EXPARS } else { timings(&mut random) };
        let (mut channel, mut reference) = (Channel::new(timings), Reference::new(timings));
        let (banks, rows) = (1 + random.below(16), 1 + random.below(3));
        let rate = 1 + random.below(60);
        let (mut next_id, mut skipped) = (0, 0);
        // The first clock in which the channel is to do something, as it says.
        let mut due = None;
        for clock in 0..1_500_u64 {
            if clock < 800 && random.chance(rate) && reference.held() < QUEUE {
                let is_write = random.chance(30);
                let (bank, row) = (random.below(banks) as u8, random.below(rows));
                let bursts = 1 + random.below(4) as u8;
                let request = Request { id: next_id, bank, row, is_write, bursts };
                next_id += 1;
                assert!(channel.has_room(), "case {case}");
                channel.push(request).expect("there is room");
                reference.push(request);
                due = clock.checked_sub(1).map_or(Some(0), |before| channel.next_event(before));
            }
            let expected = reference.step(clock);
            let before = reference.history.last().map(|given| given.clock);
            if due == Some(clock) {
                let found = channel.step(clock).map(|Done { id, data_at }| (id, data_at));
                assert_eq!(found, expected, "case {case}, clock {clock}");
                assert_eq!(before, Some(clock), "case {case}: a command in clock {clock}");
                due = channel.next_event(clock);
            } else {
                assert_ne!(before, Some(clock), "case {case}: no command in clock {clock}");
                skipped += 1;
            }
        }
        assert!(channel.is_empty() && due.is_none(), "case {case}");
        let given =
            |kind| reference.history.iter().filter(|given| given.kind == kind).count() as u64;
        let counters = *channel.counters();
        assert_eq!(counters.activates, given(Kind::Activate), "case {case}");
        assert_eq!(counters.precharges, given(Kind::Precharge), "case {case}");
        assert_eq!(counters.read_bursts, given(Kind::Read), "case {case}");
        assert_eq!(counters.write_bursts, given(Kind::Write), "case {case}");
        let rows = counters.row_hits + counters.row_misses + counters.row_conflicts;
        assert_eq!(rows, u64::from(next_id), "case {case}");
        assert!(skipped > 0, "case {case}");
    }
}
