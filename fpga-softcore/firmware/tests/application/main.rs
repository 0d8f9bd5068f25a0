//! The application on the host, at a line in memory: every request, every refusal, each kind of
//! divergence where it is, faults, restarts, and a line that disturbs bytes.

mod divergence;
mod rig;

use rig::{Random, Rig};
use strata_core::digest::Digest;
use strata_core::prototype::cache_block::CacheSettings;
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::counters::COUNTERS;
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::sequencer;
use strata_core::prototype::settings::Settings;
use strata_core::register_file_cache::Replacement;
use strata_core::units::{LaneMask, RegisterId};
use strata_firmware::{ApplicationMemory, DESIGNS, HotLoops, SoftwarePrototype};
use strata_link::LinkError;
use strata_link::message::{
    BATCH, Bench, Column, Feed, Implementation, MOST_ACCESSES, Name, Refusal, Reply, Request, Text,
};

/// The model on the host.
type Model = sequencer::Prototype<8, 13, 60>;

/// 6 entries, first in, first out, with liveness.
const CACHE: Option<CacheSettings> =
    Some(CacheSettings { entries: 6, replacement: Replacement::Fifo, liveness: true });

const CACHED: Settings = Settings {
    cache: CACHE,
    write_pool_entries: 0,
    split_bank_write: false,
    write_cycles: 1,
    registers_per_warp: 24,
};
const POOLED: Settings = Settings {
    cache: None,
    write_pool_entries: 60,
    split_bank_write: true,
    write_cycles: 4,
    registers_per_warp: 128,
};

/// Commands of any kind.
fn commands(seed: u64, length: usize, registers: u64) -> Vec<u32> {
    let mut random = Random(seed);
    // The warp of an instruction whose next operand is due.
    let mut due: Option<u8> = None;
    let mut command = || {
        let warp = due.unwrap_or(random.below(8) as u8);
        let kind = if due.take().is_some() { 0 } else { random.below(32) };
        let operation = match kind {
            0..16 => {
                let more = random.below(2) == 0;
                due = more.then_some(warp);
                Operation::Read { last_use: random.below(8) == 0, more }
            }
            16..25 => Operation::Write,
            25..27 => Operation::Bypass,
            27..29 => Operation::Fill,
            29 => Operation::Flush,
            30 => Operation::Demote,
            _ if random.below(2) == 0 => Operation::Exit,
            _ => Operation::Drop,
        };
        let lanes = if random.below(4) == 0 { 1 + random.below(15) } else { 15 };
        Command {
            warp,
            operation,
            register: RegisterId(random.below(registers) as u16),
            lanes: LaneMask(lanes as u32),
        }
    };
    (0..length).map(|_| command().pack().expect("it fits a word")).collect()
}

/// What the host's model makes of batches: clocks, counters, digest.
fn on_host(settings: Settings, words: &[u32], batch: usize) -> (Vec<u32>, Vec<u64>, u64) {
    let mut model = Model::new(settings).expect("the settings can be");
    let mut digest = Digest::EMPTY;
    let mut clocks = Vec::new();
    for words in words.chunks(batch) {
        let commands: Vec<Command> = words.iter().map(|&word| Command::unpack(word)).collect();
        let mut outcomes = vec![Outcome::default(); commands.len()];
        clocks.push(model.run(&commands, &mut outcomes) as u32);
        digest = outcomes.iter().fold(digest, |digest, outcome| digest.with_word(outcome.pack()));
    }
    (clocks, model.counters().0.to_vec(), digest.value())
}

fn configure(settings: Settings) -> Request<'static> {
    Request::Configure { settings: settings.pack().expect("it fits a word"), batch: BATCH as u16 }
}

#[test]
fn the_device_says_what_it_is() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    let Reply::Info(info) = rig.ask(&Request::Info) else { panic!("no information") };
    assert_eq!((info.board.as_str(), info.ticks_hz), ("test", 1_000));
    assert_eq!(info.prototype.implementation, Implementation::Software);
    assert_eq!((info.prototype.cache_entries, info.prototype.pool_entries), (13, 60));
    assert_eq!((info.workload, info.designs), (None, 0));
}

#[test]
fn all_three_columns_are_the_same() {
    let lru = CacheSettings { entries: 13, replacement: Replacement::Lru, liveness: false };
    let both = Settings { cache: CACHE, registers_per_warp: 24, ..POOLED };
    let small = Settings { cache: Some(lru), write_pool_entries: 3, ..both };
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    for (seed, settings) in [CACHED, POOLED, both, small].into_iter().enumerate() {
        for batch in [BATCH, 37, 1] {
            let registers = u64::from(settings.registers_per_warp);
            let words = commands(seed as u64, 20 * batch + 1, registers);
            assert_eq!(rig.ask(&configure(settings)), Reply::Configured);
            let (clocks, counters, digest) = on_host(settings, &words, batch);
            assert_eq!(rig.feed(&words, batch), Ok(clocks), "seed {seed}, batches of {batch}");
            assert_ne!(digest, Digest::EMPTY.value());
            for column in [Column::Model, Column::Prototype] {
                let device = rig.counters(column);
                assert_eq!(device.values.len(), COUNTERS);
                assert_eq!((&device.values[..], device.digest), (&counters[..], digest));
            }
        }
    }
    let [rose, fell] = rig.pin.0.get();
    assert_eq!((rose, fell), (4 * 3 * 21, 4 * 3 * 21), "the trigger stands for each batch");
}

#[test]
fn what_cannot_be_run_is_refused_and_changes_nothing() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    let mut room = [0; 4 * BATCH];
    let mut feed = |rig: &mut Rig<'_>, first, words: &[u32]| {
        let feed = Feed::new(first, words, &mut room).expect("it fits");
        rig.ask(&Request::Feed(feed))
    };
    let refused = |refusal| Reply::Refused(refusal);
    assert_eq!(feed(&mut rig, 0, &[0xf_0001]), refused(Refusal::NotConfigured));
    let reply = rig.ask(&Request::Counters(Column::Model));
    assert_eq!(reply, refused(Refusal::NotConfigured));
    for (settings, expected) in [
        (Settings { write_cycles: 0, ..CACHED }, "0 cycles of a bank's write"),
        (Settings { registers_per_warp: 129, ..CACHED }, "129 registers of a warp"),
        (Settings { write_pool_entries: 61, ..POOLED }, "61 entries of a write pool are more"),
        (
            Settings { cache: CACHE.map(|cache| CacheSettings { entries: 14, ..cache }), ..CACHED },
            "14 entries of a cache are more than the prototype's 13",
        ),
    ] {
        let Reply::Refused(refusal @ Refusal::Settings(_)) = rig.ask(&configure(settings)) else {
            panic!("taken: {settings:?}");
        };
        assert!(refusal.to_string().contains(expected), "{refusal}");
    }
    let meaningless = Request::Configure { settings: u32::MAX, batch: 1 };
    assert!(matches!(rig.ask(&meaningless), Reply::Refused(Refusal::Settings(_))));
    for batch in [0, 129] {
        let settings = CACHED.pack().expect("it fits a word");
        let reply = rig.ask(&Request::Configure { settings, batch });
        assert_eq!(reply, refused(Refusal::Batch { most: 128 }));
    }
    let settings = CACHED.pack().expect("it fits a word");
    assert_eq!(rig.ask(&Request::Configure { settings, batch: 3 }), Reply::Configured);
    assert_eq!(feed(&mut rig, 0, &[]), refused(Refusal::Batch { most: 3 }));
    assert_eq!(feed(&mut rig, 0, &[0xf_0001; 4]), refused(Refusal::Batch { most: 3 }));
    assert_eq!(feed(&mut rig, 1, &[0xf_0001]), refused(Refusal::Order { next: 0 }));
    // Register 24 of 24, no lanes, lane 4; a flush has neither.
    for command in [0xf_0001 | 24 << 6, 0x0_0001, 0x1f_0001] {
        let words = [0xf_0001, command];
        assert_eq!(feed(&mut rig, 0, &words), refused(Refusal::Command { index: 1, command }));
    }
    // After a read that announces another operand: no read, or of another warp.
    for command in [0xf_0001, 0xf_0008] {
        let words = [0xf_8000, command];
        assert_eq!(feed(&mut rig, 0, &words), refused(Refusal::Command { index: 1, command }));
    }
    let Reply::Fed { next: 2, .. } = feed(&mut rig, 0, &[0xf_0001, 4 | 0xff << 6]) else {
        panic!("a good batch is run");
    };
    // It is due in the next batch too.
    assert!(matches!(feed(&mut rig, 2, &[0xf_8000]), Reply::Fed { next: 3, .. }));
    let command = 0xf_0001;
    assert_eq!(feed(&mut rig, 3, &[command]), refused(Refusal::Command { index: 3, command }));
    assert!(matches!(feed(&mut rig, 3, &[0xf_0000]), Reply::Fed { next: 4, .. }));
    let counters = rig.counters(Column::Prototype);
    assert_eq!(counters.values[0], 4, "nothing of what was refused was run");
    rig.send(&Request::Info).expect("the link holds");
    rig.link.send(&[9_u8; 5]).expect("the link takes anything");
    assert!(matches!(rig.reply(), Ok(Reply::Info(_))));
    assert_eq!(rig.reply(), Ok(refused(Refusal::Malformed)));
    assert_eq!(rig.ask(&Request::Reset), Reply::WasReset);
    assert_eq!(feed(&mut rig, 2, &[0xf_0001]), refused(Refusal::NotConfigured));
}

#[test]
fn the_self_test_holds_and_says_how_much_it_ran() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    let each = 5 * 1_024 + 4 * 128;
    let held = Reply::SelfTest { batches: 6 * each / 128, commands: 6 * each, failed: None };
    assert_eq!(rig.ask(&Request::SelfTest), held);
    let reply = rig.ask(&Request::Counters(Column::Model));
    assert_eq!(reply, Reply::Refused(Refusal::NotConfigured));
}

#[test]
fn benches_say_what_they_measured() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    let settings = POOLED.pack().expect("it fits a word");
    for what in [
        Bench::Model { settings, accesses: 300 },
        Bench::Prototype { settings, accesses: 300 },
        Bench::Compared { settings, accesses: 300 },
    ] {
        let reply = rig.ask(&Request::Bench(what));
        // Each look at the clock takes a tick, and there are two for each batch.
        assert_eq!(reply, Reply::Bench { units: 3 * 128, ticks: 3 }, "{what:?}");
    }
    let bad = Bench::Model { settings: 0, accesses: 1 };
    assert!(matches!(rig.ask(&Request::Bench(bad)), Reply::Refused(Refusal::Settings(_))));
    for what in [Bench::Count { design: 0 }, Bench::Cycle { design: 0, ctas: 1 }] {
        let Reply::Refused(refusal) = rig.ask(&Request::Bench(what)) else { panic!("it ran") };
        assert!(refusal.to_string().contains("built without one"), "{refusal}");
    }
    let beyond = Bench::Count { design: DESIGNS.len() as u8 };
    let reply = rig.ask(&Request::Bench(beyond));
    assert_eq!(reply, Reply::Refused(Refusal::Design { designs: 4 }));
}

#[test]
fn a_line_that_disturbs_bytes_changes_nothing() {
    let words = commands(9, 3_000, 24);
    let (clocks, counters, digest) = on_host(CACHED, &words, BATCH);
    for one_in in [1_000, 300] {
        let mut memory = ApplicationMemory::new();
        let prototype = SoftwarePrototype::new();
        let mut rig = Rig::with(prototype, strata_firmware::NoLaunch, &mut memory, one_in, None);
        assert_eq!(rig.ask(&configure(CACHED)), Reply::Configured);
        assert_eq!(rig.feed(&words, BATCH).as_ref(), Ok(&clocks));
        let device = rig.counters(Column::Prototype);
        assert_eq!((&device.values[..], device.digest), (&counters[..], digest));
        let counts = rig.link.counts();
        assert!(counts.repeated > 0, "the line was quiet: {counts:?}");
    }
}

#[test]
fn a_host_that_starts_again_finds_the_device_as_after_its_start() {
    let words = commands(3, 2_000, 24);
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    for round in 0..3 {
        assert_eq!(rig.ask(&configure(CACHED)), Reply::Configured);
        assert!(rig.feed(&words[..300 * (round + 1)], 100).is_ok());
        // In the middle of a frame.
        let mut room = [0; 4 * BATCH];
        let feed = Feed::new(300, &words[..128], &mut room).expect("it fits");
        rig.send(&Request::Feed(feed)).expect("the link holds");
        rig.reconnect();
        let reply = rig.ask(&Request::Counters(Column::Model));
        assert_eq!(reply, Reply::Refused(Refusal::NotConfigured));
    }
    let (clocks, _, digest) = on_host(CACHED, &words, 100);
    assert_eq!(rig.ask(&configure(CACHED)), Reply::Configured);
    assert_eq!(rig.feed(&words, 100), Ok(clocks));
    assert_eq!(rig.counters(Column::Prototype).digest, digest);
}

#[test]
fn a_device_that_starts_again_ends_the_link_and_says_why_on_the_next() {
    let mut memory = ApplicationMemory::new();
    let mut second = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    assert_eq!(rig.ask(&configure(CACHED)), Reply::Configured);
    let why = Text::try_from("panicked at src/main.rs:1").expect("it is short");
    let mut rig = rig.restarted(&mut second, Some(why.clone()), &[]);
    rig.send(&Request::Info).expect("the link does not know yet");
    assert_eq!(rig.reply(), Err(LinkError::Restarted));
    rig.reconnect();
    assert_eq!(rig.reply(), Ok(Reply::Fault(why)));
    let reply = rig.ask(&Request::Counters(Column::Model));
    assert_eq!(reply, Reply::Refused(Refusal::NotConfigured));
}

#[test]
fn logs_come_beside_the_messages() {
    let mut memory = ApplicationMemory::new();
    let mut second = ApplicationMemory::new();
    let rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    let logs = [vec![1, 0, 2], vec![3]];
    let mut rig = rig.restarted(&mut second, None, &logs);
    rig.ask(&Request::Info);
    for _ in 0..10 {
        rig.step().expect("the link holds");
    }
    assert_eq!(rig.logs, logs);
}

#[test]
fn a_host_that_asks_before_it_has_heard_the_device_s_hello_is_answered() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    // The device's first hello is lost, and it is more than 100 ms until the next one.
    rig.push();
    rig.device.step();
    assert!(rig.is_heard());
    rig.lose();
    let start_ms = rig.now_ms.get();
    assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
    assert!(rig.now_ms.get() - start_ms >= 90, "the hello was not lost");
}

#[test]
fn a_device_says_nothing_before_a_byte_has_come() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    for _ in 0..1_000 {
        rig.now_ms.set(rig.now_ms.get() + 1);
        assert!(!rig.device.step() && !rig.is_heard());
    }
    assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
}

/// No two sessions have one number: it depends on when the host's first byte came.
#[test]
fn each_start_of_a_device_draws_another_session() {
    let mut sessions = Vec::new();
    for delay_ms in [0, 7, 40, 90] {
        let mut memory = ApplicationMemory::new();
        let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
        rig.now_ms.set(rig.now_ms.get() + delay_ms);
        assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
        sessions.push(rig.link.peer().expect("it has answered").session);
        let mut second = ApplicationMemory::new();
        let mut rig = rig.restarted(&mut second, None, &[]);
        rig.reconnect();
        assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
        sessions.push(rig.link.peer().expect("it has answered").session);
    }
    let different: std::collections::BTreeSet<u32> = sessions.iter().copied().collect();
    assert_eq!(different.len(), sessions.len(), "{sessions:x?}");
}

/// A clock that begins again with each start says the same at each.
#[test]
fn the_number_of_a_start_makes_its_session_another() {
    let sessions = [1, 2, 3].map(|starts| {
        let mut memory = ApplicationMemory::new();
        let mut rig = Rig::after_starts(SoftwarePrototype::new(), &mut memory, starts);
        assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
        rig.link.peer().expect("it has answered").session
    });
    let different = std::collections::BTreeSet::from(sessions);
    assert_eq!(different.len(), sessions.len(), "{sessions:x?}");
}

/// What would go on for long ends when its host is gone and another one comes.
#[test]
fn what_a_device_is_asked_for_ends_with_the_link() {
    let settings = POOLED.pack().expect("it fits a word");
    let accesses = MOST_ACCESSES;
    let long = [
        Request::Bench(Bench::Model { settings, accesses }),
        Request::Bench(Bench::Prototype { settings, accesses }),
        Request::Bench(Bench::Compared { settings, accesses }),
        Request::Bench(Bench::Count { design: 0 }),
        Request::Bench(Bench::Cycle { design: 0, ctas: u16::MAX }),
        Request::SelfTest,
    ];
    for request in long {
        let mut memory = ApplicationMemory::new();
        let prototype = SoftwarePrototype::new();
        let mut rig = Rig::with(prototype, Endless, &mut memory, 0, None);
        // They have met.
        assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
        rig.send(&request).expect("the link holds");
        rig.push();
        rig.reconnect();
        rig.push();
        let start_ms = rig.now_ms.get();
        rig.device.step();
        // Each look at the clock takes a millisecond, and there are four for each batch.
        let took_ms = rig.now_ms.get() - start_ms;
        assert!(took_ms < 20, "{request:?}: {took_ms} ms");
        // The first answer is to the one who is there now.
        assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)), "{request:?}");
        let reply = rig.ask(&Request::Counters(Column::Model));
        assert_eq!(reply, Reply::Refused(Refusal::NotConfigured), "{request:?}");
    }
}

/// A launch that runs as long as it may.
struct Endless;

impl HotLoops for Endless {
    fn name(&self) -> Option<Name> {
        Name::try_from("endless").ok()
    }

    fn count(&mut self, _: usize, between: &mut dyn FnMut() -> bool) -> Result<u64, Text> {
        for steps in 0..1_000_000 {
            if !between() {
                return Ok(steps);
            }
        }
        panic!("it is never told to end");
    }

    fn cycle(
        &mut self,
        design: usize,
        _: u16,
        between: &mut dyn FnMut() -> bool,
    ) -> Result<u64, Text> {
        self.count(design, between)
    }
}

#[test]
fn a_bench_of_more_accesses_than_there_may_be_is_refused() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    let settings = POOLED.pack().expect("it fits a word");
    for accesses in [MOST_ACCESSES + 1, u32::MAX] {
        let reply = rig.ask(&Request::Bench(Bench::Prototype { settings, accesses }));
        assert_eq!(reply, Reply::Refused(Refusal::Accesses { most: MOST_ACCESSES }));
    }
}

#[test]
fn a_device_alone_waits_for_a_host() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(SoftwarePrototype::new(), &mut memory);
    // Longer than any link waits.
    for _ in 0..60_000 {
        rig.now_ms.set(rig.now_ms.get() + 1);
        rig.device.step();
    }
    rig.reconnect();
    assert!(matches!(rig.ask(&Request::Info), Reply::Info(_)));
}
