//! A second level with GDDR behind it: cases computed by hand, and a reference on random streams of
//! transfers.

use std::collections::BTreeMap;

use crate::cached_memory::{MICRO12, OwnedList, OwnedParts, SETTINGS, limit, load, run_with_lower};
use crate::gddr_reference::Reference;
use crate::machine::{Kernel, OwnedTrace};
use crate::model::one_of;
use crate::random::Random;
use strata_core::sm::counters::{CycleEvent, SmCounters};
use strata_core::sm::memory::bank_conflicts::BankConflicts;
use strata_core::sm::memory::cache::{Cache, Tag};
use strata_core::sm::memory::cached::{
    CacheCounters, CacheEvent, CachedMemory, CachedMemoryError, CachedSettings, LineUse,
};
use strata_core::sm::memory::gddr::row::Row;
use strata_core::sm::memory::gddr::settings::{ClockRatio, GddrError, GddrSettings, GddrTiming};
use strata_core::sm::memory::gddr::{Channel, MOST_REQUESTS, Request};
use strata_core::sm::memory::l2::{Held, L2, L2Memory, L2Settings};
use strata_core::sm::memory::lower::{LowerMemory, Purpose, There, Transfer};
use strata_core::sm::memory::lower_counters::{LowerCounters, LowerEvent};
use strata_core::sm::memory::touched::AddressSpace;
use strata_core::sm::memory::{MemoryCounters, Ticket};
use strata_core::sm::{MemoryAccess, Observation, RowObservation, Unobserved};

/// What a second level needs, in owned memory.
pub(crate) struct OwnedL2 {
    tags: Vec<Tag<Held>>,
    channels: Vec<Channel>,
    requests: Vec<Request>,
}

impl OwnedL2 {
    pub(crate) fn of(settings: &L2Settings) -> Self {
        Self {
            tags: vec![Tag::empty(Held::default()); Cache::tags(settings.bytes)],
            channels: vec![Channel::IDLE; usize::from(settings.gddr.channels)],
            requests: vec![Request::EMPTY; MOST_REQUESTS],
        }
    }

    pub(crate) fn cache(&mut self, settings: &L2Settings) -> (Cache<'_, Held>, Rest<'_>) {
        let Self { tags, channels, requests } = self;
        (Cache::new(settings.bytes, settings.ways, tags).unwrap(), Rest { channels, requests })
    }
}

/// All but the tags.
pub(crate) struct Rest<'m> {
    channels: &'m mut [Channel],
    requests: &'m mut [Request],
}

impl<'m> Rest<'m> {
    pub(crate) fn with<'c>(self, cache: &'m mut Cache<'c, Held>) -> L2Memory<'m, 'c> {
        L2Memory { cache, channels: self.channels, requests: self.requests }
    }
}

/// What a stream of transfers did.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    /// When the data of each is there.
    there: Vec<u64>,
    counters: LowerCounters,
    bytes: u64,
    busy: u64,
    /// Cycles that were visited.
    visits: u64,
    /// What an observer has heard of reads and writes of DRAM.
    rows: Vec<RowObservation>,
}

/// Has a second level take transfers, each in the cycle `ahead` before it can begin, and visits
/// every cycle, or those with events.
fn drive(settings: L2Settings, transfers: &[Transfer], ahead: u64, every_cycle: bool) -> Done {
    let mut owned = OwnedL2::of(&settings);
    let (mut cache, rest) = owned.cache(&settings);
    let mut l2 = L2::new(settings, rest.with(&mut cache)).unwrap();
    let mut counted = SmCounters::default();
    let mut there = vec![None; transfers.len()];
    let mut waits: BTreeMap<u16, Vec<(usize, u64)>> = BTreeMap::new();
    let (mut now, mut visits, mut rows) = (0, 0, Vec::new());
    let mut left = transfers.iter().enumerate().peekable();
    loop {
        visits += 1;
        let mut counters = MemoryCounters::new(&mut counted);
        while let Some((index, transfer)) = left.next_if(|(_, next)| next.at <= now + ahead) {
            assert!(l2.has_room(1));
            match l2.transfer(transfer, &mut counters).there {
                There::At(cycle) => there[index] = Some(cycle),
                There::Later { fetch, from } => {
                    waits.entry(fetch.0).or_default().push((index, from));
                }
            }
        }
        l2.step(now, &mut counters, &mut |one| match one {
            Observation::Row(row) => rows.push(row),
            _ => panic!("{one:?}"),
        });
        while let Some(line) = l2.next_fetched() {
            for (index, from) in waits.remove(&line.fetch.0).unwrap() {
                assert_eq!(there[index].replace(from.max(line.at)), None);
            }
        }
        let event = l2.next_event(now);
        assert!(event.is_none_or(|event| event > now));
        assert_eq!(event.is_some(), l2.is_busy());
        let asks = left.peek().map(|(_, next)| next.at.saturating_sub(ahead).max(now + 1));
        let Some(next) = event.into_iter().chain(asks).min() else { break };
        now = if every_cycle { now + 1 } else { next };
    }
    assert!(waits.is_empty());
    Done {
        there: there.into_iter().map(Option::unwrap).collect(),
        counters: *l2.counters(),
        bytes: counted.dram_bytes(),
        busy: counted.get(CycleEvent::DramBusy),
        visits,
        rows,
    }
}

/// What is told of reads and writes of DRAM adds up to what is counted.
pub(crate) fn assert_rows(rows: &[RowObservation], lower: &LowerCounters, at: &str) {
    use LowerEvent::{ReadBurst, RowConflict, RowHit, RowMiss, WriteBurst};
    let mut sums = BTreeMap::<&str, u64>::new();
    for row in rows {
        assert!(row.from < row.until, "{at}: {row:?}");
        assert_eq!(row.of.is_none(), row.write, "{at}: {row:?}");
        let bursts = if row.write { WriteBurst } else { ReadBurst };
        *sums.entry(bursts.name()).or_default() += 2;
        let found = row.found.map(|found| match found {
            Row::Hit => RowHit,
            Row::Miss => RowMiss,
            Row::Conflict => RowConflict,
        });
        if let Some(found) = found {
            *sums.entry(found.name()).or_default() += 1;
        }
    }
    for event in [ReadBurst, WriteBurst, RowHit, RowMiss, RowConflict] {
        let told = sums.get(event.name()).copied().unwrap_or(0);
        assert_eq!(told, lower.get(event), "{at}: {event:?}");
    }
}

/// A command clock as fast as the SM, one channel, and a cycle to each level: a transfer that
/// begins in cycle 0 is in the queue in tick 2.
const NEAR: L2Settings = L2Settings {
    latency: 1,
    bytes_per_cycle: 128,
    gddr: GddrSettings {
        channels: 1,
        clock: ClockRatio { ticks: 1, cycles: 1 },
        latency: 1,
        ..GddrSettings::WHOLE
    },
    ..L2Settings::SHARE
};

const ASKED: Ticket = Ticket { warp: 3, pc: 7 };

const fn fill(key: u64, at: u64) -> Transfer {
    Transfer { key, rows: 0xff, whole: true, purpose: Purpose::Fill, bytes: 128, at, of: ASKED }
}

const fn write(key: u64, rows: u8, at: u64) -> Transfer {
    let whole = rows == 0xff;
    let bytes = 16 * rows.count_ones();
    Transfer { key, rows, whole, purpose: Purpose::Write, bytes, at, of: ASKED }
}

fn run(settings: L2Settings, transfers: &[Transfer]) -> Done {
    let done = drive(settings, transfers, 0, false);
    assert_eq!(Done { visits: done.visits, ..drive(settings, transfers, 0, true) }, done);
    done
}

fn rows(done: &Done) -> [u64; 3] {
    [LowerEvent::RowHit, LowerEvent::RowMiss, LowerEvent::RowConflict]
        .map(|event| done.counters.get(event))
}

/// Activation in tick 2, reads in 14 and, in the same group of banks, in 17; the last data is there
/// after 12 + 2 ticks.
#[test]
fn a_row_miss_takes_an_activation_and_two_reads() {
    let done = run(NEAR, &[fill(0, 0)]);
    assert_eq!((done.there.as_slice(), rows(&done)), (&[31][..], [0, 1, 0]));
    assert_eq!((done.bytes, done.busy), (128, 4));
}

/// Lines 0 and 1 lie in one row: reads in 14, 17, 20 and 23.
#[test]
fn a_row_hit_takes_two_reads() {
    let done = run(NEAR, &[fill(0, 0), fill(1, 1)]);
    assert_eq!((done.there.as_slice(), rows(&done)), (&[31, 37][..], [1, 1, 0]));
}

/// Lines 0 and 256 lie in two rows of bank 0. The first row can be closed 28 ticks after its
/// activation, in tick 30; the next is opened in 42, and read in 54 and 57.
#[test]
fn a_row_conflict_takes_a_precharge_too() {
    let done = run(NEAR, &[fill(0, 0), fill(256, 1)]);
    assert_eq!((done.there.as_slice(), rows(&done)), (&[31, 71][..], [0, 1, 1]));
    let commands = [LowerEvent::Activate, LowerEvent::Precharge];
    assert_eq!(commands.map(|event| done.counters.get(event)), [2, 1]);
}

/// The third line is in the open row and overtakes the second.
#[test]
fn a_row_hit_overtakes_a_row_conflict() {
    let done = run(NEAR, &[fill(0, 0), fill(256, 1), fill(1, 2)]);
    assert_eq!((done.there.as_slice(), rows(&done)), (&[31, 71, 37][..], [1, 1, 1]));
    // In a queue of one nothing is overtaken. The second is chosen in tick 18.
    let queue = GddrSettings { queue: 1, ..NEAR.gddr };
    let in_order = L2Settings { gddr: queue, ..NEAR };
    let done = run(in_order, &[fill(0, 0), fill(256, 1), fill(1, 2)]);
    // Activations in 2, 42, 82.
    assert_eq!((done.there.as_slice(), rows(&done)), (&[31, 71, 111][..], [0, 1, 2]));
}

/// Banks 0 and 1 are of different groups: their reads are 2 ticks apart, those of a bank 3. Reads in
/// 14 and 17 (line 0), 20 and 24 (line 1), 22 and 26 (line 2), 29 and 32 (line 3).
#[test]
fn reads_of_different_bank_groups_follow_closer() {
    let done = run(NEAR, &[fill(0, 0), fill(1, 1), fill(2, 2), fill(3, 3)]);
    assert_eq!(done.there, [31, 38, 40, 46]);
    assert_eq!(rows(&done), [2, 2, 0]);
    // Banks 0 and 4 are of one group: all reads are 3 ticks apart.
    let done = run(NEAR, &[fill(0, 0), fill(1, 1), fill(8, 2), fill(9, 3)]);
    assert_eq!(done.there, [31, 37, 43, 49]);
    // One read or write of the share takes 5 ticks of its bus: 14, 19, 24, 29, ...
    let share = L2Settings { gddr: GddrSettings { data_ticks: 5, ..NEAR.gddr }, ..NEAR };
    let done = run(share, &[fill(0, 0), fill(1, 1), fill(2, 2), fill(3, 3)]);
    assert_eq!(done.there, [36, 46, 56, 66]);
}

/// A second level of one line. The write of line 0 allocates it; line 1, in the same row, replaces
/// it. Activation in tick 3, reads in 15 and 18, data until 32; the write waits until its data can
/// follow 2 ticks later, in 30, and again 3. The read of line 32, in the same row too, waits from
/// the last data of the write, in 39, for 5 ticks: 44 and 47.
#[test]
fn reads_and_writes_wait_for_each_others_data() {
    let one = L2Settings { bytes: 128, ways: 1, ..NEAR };
    let done = run(one, &[write(0, 0xff, 0), fill(1, 1), fill(32, 32)]);
    assert_eq!(done.there[1..], [32, 61]);
    assert_eq!(rows(&done), [2, 1, 0]);
    let bursts = [LowerEvent::ReadBurst, LowerEvent::WriteBurst];
    assert_eq!(bursts.map(|event| done.counters.get(event)), [8, 4]);
    assert_eq!(done.counters.get(LowerEvent::L2Writeback), 1);
    // The sectors of one half of a line are one write.
    let done = run(one, &[write(0, 0b0011, 0), fill(1, 1)]);
    assert_eq!(bursts.map(|event| done.counters.get(event)), [4, 2]);
    let done = run(one, &[write(0, 0b1000_0001, 0), fill(1, 1)]);
    assert_eq!(bursts.map(|event| done.counters.get(event)), [4, 4]);
    // A clean line is not written back.
    let done = run(one, &[fill(0, 0), fill(1, 1)]);
    assert_eq!(done.counters.get(LowerEvent::L2Writeback), 0);
}

/// The first level's lookup in cycle 0, the second's in 120, the queue in 220, that is tick 146:
/// activation, reads in 158 and 161, the last data in 175, that is cycle 266.
#[test]
fn ticks_are_rounded_to_the_next_cycle() {
    let whole = run(L2Settings::WHOLE, &[fill(0, 0), fill(0, 300)]);
    assert_eq!(whole.there, [266, 420]);
    assert_eq!(whole.counters.get(LowerEvent::L2ReadHit), 1);
    // Reads in 158 and 163, data of 5 ticks: tick 180.
    let share = run(L2Settings::SHARE, &[fill(0, 0)]);
    assert_eq!(share.there, [273]);
    let clock = GddrSettings::WHOLE.clock;
    assert_eq!([0, 1, 50, 51, 220].map(|cycle| clock.tick_from(cycle)), [0, 1, 33, 34, 146]);
    assert_eq!([0, 1, 50, 51, 221].map(|cycle| clock.last_tick_by(cycle)), [0, 0, 33, 33, 145]);
    assert_eq!([0, 1, 33, 34, 175].map(|tick| clock.cycle_from(tick)), [0, 2, 50, 52, 266]);
    for cycle in 0..1000 {
        let tick = clock.tick_from(cycle);
        assert!(clock.cycle_from(tick) >= cycle && clock.last_tick_by(cycle) <= tick);
        assert_eq!(clock.last_tick_by(clock.cycle_from(cycle)), cycle, "no tick is left out");
    }
}

/// Lines take turns on the path to the primary cache, 4 cycles each.
#[test]
fn lines_of_the_second_level_take_turns_on_their_path() {
    let reads: Vec<_> = (0..3).map(|key| fill(key, 0)).collect();
    let again: Vec<_> = (0..3).map(|key| fill(key, 1000)).collect();
    let done = run(L2Settings::WHOLE, &[reads, again].concat());
    assert_eq!(done.there[3..], [1120, 1124, 1128]);
}

/// A line of which only some bytes were written is fetched when it is read; a whole one is not. An
/// atomic fetches its line, which is written back.
#[test]
fn a_line_is_fetched_unless_it_was_written_as_a_whole() {
    let misses = |transfers: &[Transfer]| {
        let done = run(NEAR, transfers);
        [LowerEvent::L2ReadMiss, LowerEvent::ReadBurst].map(|event| done.counters.get(event))
    };
    assert_eq!(misses(&[write(0, 0xff, 0), fill(0, 1)]), [0, 0]);
    assert_eq!(misses(&[write(0, 0x7f, 0), fill(0, 1), fill(0, 2)]), [1, 4]);
    assert_eq!(misses(&[write(0, 1, 0), write(0, 0xff, 1), fill(0, 2)]), [0, 0]);
    let one = L2Settings { bytes: 128, ways: 1, ..NEAR };
    let atomic = Transfer { purpose: Purpose::Atomic, whole: false, bytes: 32, ..write(0, 1, 0) };
    let done = run(one, &[atomic, fill(1, 60)]);
    let events = [LowerEvent::L2ReadMiss, LowerEvent::L2Writeback, LowerEvent::WriteBurst];
    assert_eq!(events.map(|event| done.counters.get(event)), [2, 1, 2]);
    assert_eq!(done.there[0], 31);
}

/// 13 lines of a row in flight at once, then none: 32 bytes a tick, or 12.8, as reads of four groups
/// of banks.
#[test]
fn a_channel_moves_what_its_bus_can() {
    let lines: Vec<_> = (0..480).map(|key| fill(key, 0)).collect();
    let done = run(NEAR, &lines);
    let end = *done.there.iter().max().unwrap();
    assert_eq!((done.bytes, done.busy), (480 * 128, 480 * 4));
    // 1,920 ticks of data, and what it takes to begin and to change rows.
    assert!((1920..2100).contains(&end), "{end}");
    let share = run(L2Settings::SHARE, &lines);
    let end = *share.there.iter().max().unwrap();
    // 8.448 bytes in a cycle.
    assert!((7272..7700).contains(&end), "{end}");
    assert_eq!(share.busy, 480 * 2 * 5 * 50 / 33);
}

#[test]
fn dram_that_cannot_be_is_refused_with_the_value() {
    type Edit = fn(&mut GddrSettings);
    let error = |edit: Edit| {
        let mut gddr = GddrSettings::WHOLE;
        edit(&mut gddr);
        gddr.check().map_err(|GddrError { what, value, .. }| (what, value))
    };
    assert_eq!(error(|_| {}), Ok(()));
    assert_eq!(GddrSettings::SHARE.check(), Ok(()));
    let refused: [(Edit, (&str, u32)); 8] = [
        (|gddr| gddr.channels = 0, ("channels", 0)),
        (|gddr| gddr.channels = 17, ("channels", 17)),
        (|gddr| gddr.banks = 6, ("banks that are no multiple of the groups,", 6)),
        (|gddr| gddr.row_bytes = 300, ("row_bytes that are no multiple of 256,", 300)),
        (|gddr| gddr.queue = 65, ("queue", 65)),
        (|gddr| gddr.timing.rc = 11, ("rc", 11)),
        (|gddr| gddr.timing.wl = 0, ("wl", 0)),
        (|gddr| gddr.clock.cycles = 0, ("clock", 0)),
    ];
    for (edit, expected) in refused {
        assert_eq!(error(edit), Err(expected));
    }
    let text = GddrSettings { channels: 0, ..GddrSettings::WHOLE }.check().unwrap_err().to_string();
    assert_eq!(text, "GDDR with channels 0: allowed is 1 to 16");
}

fn random_timing(random: &mut Random) -> GddrTiming {
    let mut up_to = |most: u32| 1 + random.below(most) as u8;
    let mut timing = GddrTiming {
        rrd: up_to(8),
        rcd: up_to(15),
        rp: up_to(15),
        rc: up_to(50),
        cl: up_to(15),
        wr: up_to(15),
        ccd: up_to(3),
        ccdl: up_to(5),
        wl: up_to(6),
        cdlr: up_to(8),
        rtpl: up_to(5),
        turn: up_to(4),
    };
    timing.rc = timing.rc.max(timing.rp);
    timing
}

pub(crate) fn random_second_level(random: &mut Random) -> L2Settings {
    let base = one_of(random, &[L2Settings::WHOLE, L2Settings::SHARE, NEAR]);
    if random.chance(30) {
        return L2Settings { bytes: 128 * 8 * (1 + random.below(6)), ..base };
    }
    let bank_groups = 1 + random.below(4) as u8;
    let mut near = |most: u32| 1 + random.below(most) as u16;
    let clock = ClockRatio { ticks: near(60), cycles: near(60) };
    let latencies = [near(130), near(110)];
    L2Settings {
        bytes: 128 * 2 * (1 + random.below(12)),
        ways: 2,
        latency: latencies[0],
        bytes_per_cycle: one_of(random, &[8, 32, 128]),
        gddr: GddrSettings {
            channels: 1 + random.below(6) as u8,
            banks: bank_groups * (1 + random.below(4) as u8),
            bank_groups,
            row_bytes: 256 * (1 + random.below(8)),
            queue: 1 + random.below(20) as u8,
            data_ticks: 1 + random.below(6) as u8,
            clock,
            latency: latencies[1],
            timing: random_timing(random),
        },
    }
}

/// Random streams of random second levels: an obvious reference that visits every tick agrees on
/// when each line is there, and on all that is counted; whether cycles are skipped does not matter.
#[test]
fn a_reference_that_visits_every_tick_agrees() {
    let mut seen = BTreeMap::<&str, u64>::new();
    let (mut visits, mut cycles) = (0, 0);
    for seed in 0..400 {
        let mut random = Random(seed);
        let settings = random_second_level(&mut random);
        let range = one_of(&mut random, &[8, 64, 2000, 100_000]);
        let pause = one_of(&mut random, &[1, 4, 60]);
        let mut at = 0;
        let transfers: Vec<_> = (0..=random.below(150))
            .map(|_| {
                at += u64::from(random.below(pause));
                let rows = if random.chance(50) { 0xff } else { 1 + random.below(255) as u8 };
                let purpose = one_of(
                    &mut random,
                    &[Purpose::Fill, Purpose::Fill, Purpose::Read, Purpose::Write, Purpose::Atomic],
                );
                let mut whole = rows == 0xff && random.chance(80);
                let mut bytes = 16 * rows.count_ones();
                if purpose == Purpose::Fill {
                    (whole, bytes) = (true, 128);
                }
                let key = u64::from(random.below(range));
                Transfer { key, rows, whole, purpose, bytes, at, of: ASKED }
            })
            .collect();
        // A primary cache asks for lines in the cycles before their lookup.
        let ahead = u64::from(random.below(20));
        let done = drive(settings, &transfers, ahead, false);
        let every_cycle = drive(settings, &transfers, ahead, true);
        assert_eq!(Done { visits: done.visits, ..every_cycle }, done, "seed {seed}");
        let mut reference = Reference::new(settings);
        for transfer in &transfers {
            reference.transfer(transfer);
        }
        assert_eq!(done.there, reference.finish(), "seed {seed}, {settings:?}");
        for event in LowerEvent::ALL {
            let expected = reference.counts.get(event.name()).copied().unwrap_or(0);
            assert_eq!(done.counters.get(event), expected, "seed {seed}, {event:?}");
            *seen.entry(event.name()).or_default() += expected;
        }
        let of = |event| done.counters.get(event);
        // Every line that is missed is read once, in four bursts.
        assert_eq!(of(LowerEvent::ReadBurst), 4 * of(LowerEvent::L2ReadMiss));
        assert_eq!(rows(&done)[1..].iter().sum::<u64>(), of(LowerEvent::Activate));
        let lines = of(LowerEvent::L2ReadMiss) + of(LowerEvent::L2Writeback);
        assert_eq!(rows(&done).iter().sum::<u64>(), lines);
        assert_eq!(done.bytes, done.counters.dram_bytes());
        assert_rows(&done.rows, &done.counters, &format!("seed {seed}"));
        (visits, cycles) = (visits + done.visits, cycles + every_cycle.visits);
    }
    assert!(
        seen.len() == LowerEvent::ALL.len() && seen.values().all(|&count| count > 500),
        "{seen:?}"
    );
    assert!(2 * visits < cycles, "{visits} of {cycles} cycles visited");
}

/// One warp that runs a kernel once.
fn alone(
    cached: CachedSettings,
    kernel: &Kernel,
    accesses: &[MemoryAccess],
    list: &OwnedList,
) -> (u64, CacheCounters, LowerCounters) {
    let trace = OwnedTrace { accesses: accesses.to_vec(), ..kernel.moving(&[]) };
    let grid = vec![vec![trace]];
    let done = run_with_lower(MICRO12, cached, kernel, &grid, list).unwrap();
    (done.0.cycles(), done.1, done.2)
}

/// A line comes in cycle 266; the ALU takes 8.
#[test]
fn a_load_waits_for_the_second_level_or_dram() {
    let over =
        |cache_bytes| CachedSettings { l2: Some(L2Settings::WHOLE), cache_bytes, ..SETTINGS };
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 4 * i);
    let other = load(&mut list, |i| 4096 + 4 * i);
    let one = Kernel::default().load(&[0], &[1]).alu(&[1], &[2]);
    assert_eq!(alone(over(65536), &one, &[access], &list).0, 266 + 8);
    // Loads of a line on its way are merged, and later ones hit.
    let same = Kernel::default()
        .load(&[0], &[1])
        .load(&[0], &[2])
        .alu(&[2], &[3])
        .load(&[3], &[4])
        .alu(&[4], &[5]);
    let (cycles, cache, lower) = alone(over(65536), &same, &[access; 3], &list);
    assert_eq!(cycles, 266 + 8 + 20 + 8);
    let found = [CacheEvent::LoadMiss, CacheEvent::LoadMerged, CacheEvent::LoadHit];
    assert_eq!(found.map(|event| cache.get(event)), [1, 1, 1]);
    assert_eq!(lower.get(LowerEvent::L2ReadMiss), 1);
    // Without a primary cache the second level is asked again: 120 cycles.
    let twice = Kernel::default().load(&[0], &[1]).load(&[1], &[2]).alu(&[2], &[3]);
    let (cycles, _, lower) = alone(over(0), &twice, &[access; 2], &list);
    assert_eq!(cycles, 266 + 120 + 8);
    assert_eq!(lower.get(LowerEvent::L2ReadHit), 1);
    // Two lines of a load, the second behind the first on the path: it lies in the same row, and
    // is read in ticks 164 and 167, with the last data in 181.
    let wide = load(&mut list, |i| 8 * i);
    assert_eq!(alone(over(65536), &one, &[wide], &list).0, 275 + 8);
    // One MSHR: asked again in cycles 1 to 265; then the queue in tick 321, the last data in 350.
    let mshrs = CachedSettings { mshrs: Some(limit(1, 8)), ..over(65536) };
    let both = Kernel::default().load(&[0], &[1]).load(&[0], &[2]).alu(&[1, 2], &[3]);
    let (cycles, cache, _) = alone(mshrs, &both, &[access, other], &list);
    assert_eq!((cycles, cache.get(CacheEvent::MshrRefusal)), (531 + 8, 265));
}

/// A store is over when it is sent; a line that it wrote in part is fetched when it is read.
#[test]
fn stores_leave_their_line_in_the_second_level() {
    let cached = CachedSettings { l2: Some(L2Settings::SHARE), ..SETTINGS };
    let mut list = OwnedList::default();
    let store = list.add(AddressSpace::Global, LineUse::Store, |i| 4 * i);
    let part = list.add(AddressSpace::Global, LineUse::Store, |_| 0);
    let access = load(&mut list, |i| 4 * i);
    let kernel = Kernel::default().store(&[0]).load(&[0], &[1]).alu(&[1], &[2]);
    let (cycles, _, lower) = alone(cached, &kernel, &[store, access], &list);
    // The store takes the path for 4 cycles.
    assert_eq!((cycles, lower.dram_bytes()), (4 + 120 + 8, 0));
    let (_, _, lower) = alone(cached, &kernel, &[part, access], &list);
    assert_eq!(lower.dram_bytes(), 128);
    let writes = [LowerEvent::L2WriteMiss, LowerEvent::L2ReadMiss, LowerEvent::L2ReadHit];
    assert_eq!(writes.map(|event| lower.get(event)), [1, 1, 0]);
}

/// What an SM cannot have over a second level is refused.
#[test]
fn a_second_level_needs_memory_and_banks_apart() {
    let list = OwnedList::default();
    let l2 = L2Settings::SHARE;
    let error = |cached: CachedSettings, mut parts: OwnedParts| {
        let mut owned = OwnedL2::of(&l2);
        let (mut tags, rest) = owned.cache(&l2);
        let lower = L2::new(l2, rest.with(&mut tags)).unwrap();
        let mut primary = vec![Tag::EMPTY; Cache::tags(cached.cache_bytes)];
        let mut cache = Cache::new(cached.cache_bytes, cached.ways, &mut primary).unwrap();
        let memory = (&mut cache, parts.borrow());
        let (timing, heard) = (&MICRO12.timing, (list.borrow(), Unobserved));
        CachedMemory::over(lower, cached, timing, memory, heard).map(|_| ()).unwrap_err()
    };
    let cached = CachedSettings { l2: Some(l2), ..SETTINGS };
    let none = OwnedParts::of(&SETTINGS);
    assert_eq!(error(cached, none), CachedMemoryError::Waiting { needed: 1, given: 0 });
    let arbitrated = CachedSettings { conflicts: BankConflicts::CycleByCycle, ..cached };
    assert_eq!(error(arbitrated, OwnedParts::of(&cached)), CachedMemoryError::Arbitrated);
    let mut owned = OwnedL2::of(&l2);
    let (mut tags, rest) = owned.cache(&l2);
    let wrong = L2Settings { gddr: GddrSettings { queue: 0, ..l2.gddr }, ..l2 };
    assert_eq!(L2::new(wrong, rest.with(&mut tags)).map(|_| ()).unwrap_err().what, "queue");
}
