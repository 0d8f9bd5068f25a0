//! The prototype's sequencer: the clock of each command, and what the counters make of outcomes.

use crate::random::Random;
use strata_core::digest::Digest;
use strata_core::prototype::cache_block::{CacheOutcome, CacheSettings};
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::counters::Counter;
use strata_core::prototype::outcome::{MainOutcome, Outcome};
use strata_core::prototype::sequencer::{LATENCY, Prototype, SettingsError};
use strata_core::prototype::settings::Settings;
use strata_core::register_file_cache::Replacement;
use strata_core::units::{LaneMask, RegisterId};

type Usual = Prototype<8, 13, 60>;

const READ: Operation = Operation::Read { last_use: false, more: false };

fn settings(cache: u8, pool: u8, write_cycles: u8) -> Settings {
    let cache = (cache > 0).then_some(CacheSettings {
        entries: cache,
        replacement: Replacement::Fifo,
        liveness: false,
    });
    Settings {
        cache,
        write_pool_entries: pool,
        split_bank_write: false,
        write_cycles,
        registers_per_warp: 128,
    }
}

fn command(operation: Operation, warp: u8, register: u16) -> Command {
    Command { warp, operation, register: RegisterId(register), lanes: LaneMask(0xf) }
}

/// Runs a batch; each command with the clock in which its outcome stands.
fn run(prototype: &mut Usual, commands: &[Command]) -> (Vec<(Outcome, u64)>, u64) {
    let mut outcomes = vec![(Outcome::default(), 0); commands.len()];
    let clocks = prototype.run_timed(commands, &mut outcomes);
    (outcomes, clocks)
}

#[test]
fn an_access_a_clock_where_nothing_conflicts() {
    let mut prototype = Usual::new(settings(6, 0, 2)).unwrap();
    let commands: Vec<_> = (0..6).map(|it| command(Operation::Write, 0, it)).collect();
    let (outcomes, clocks) = run(&mut prototype, &commands);
    assert_eq!(clocks, 6 + LATENCY);
    for (index, (outcome, clock)) in outcomes.iter().enumerate() {
        assert_eq!((*clock, outcome.way), (index as u64 + LATENCY, index as u8));
        assert_eq!((outcome.cache, outcome.main), (CacheOutcome::Allocation, MainOutcome::Nothing));
    }
    assert_eq!(run(&mut prototype, &[]).1, 0);
    assert_eq!(run(&mut prototype, &commands[..1]).1, 1 + LATENCY);
    assert_eq!(prototype.counters().get(Counter::Clocks), 7 + 2 * LATENCY);
    assert_eq!(prototype.counters().get(Counter::Commands), 7);
}

/// Two registers of one bank: its second access waits for the first one's write.
#[test]
fn what_waits_for_a_bank_holds_what_comes_after_it_up() {
    let mut prototype = Usual::new(settings(0, 0, 4)).unwrap();
    let commands = [
        command(Operation::Write, 0, 3),
        command(READ, 0, 19),
        command(READ, 0, 4),
        command(Operation::Write, 1, 3),
    ];
    let (outcomes, clocks) = run(&mut prototype, &commands);
    let times: Vec<_> =
        outcomes.iter().map(|(outcome, clock)| (*clock - LATENCY, outcome.waited)).collect();
    assert_eq!(times, [(0, 0), (4, 3), (5, 0), (6, 0)]);
    assert_eq!(clocks, 7 + LATENCY);
    let counters = prototype.counters();
    assert_eq!(counters.get(Counter::ReadWaits), 3);
    assert_eq!(counters.get(Counter::BankReads), 2);
    assert_eq!(counters.get(Counter::BankWrites), 2);
    // The write of the last command still goes on then; a batch starts from idle banks.
    assert_eq!(run(&mut prototype, &[command(READ, 1, 3)]).1, 1 + LATENCY);
    // With split bank write a read of the other subarray does not wait.
    let split = Settings { split_bank_write: true, ..settings(0, 0, 4) };
    let mut prototype = Usual::new(split).unwrap();
    let (outcomes, _) = run(&mut prototype, &commands);
    assert_eq!((outcomes[1].1, outcomes[1].0.waited), (1 + LATENCY, 0));
    assert_eq!(prototype.counters().get(Counter::ReadsBesideWrite), 1);
}

#[test]
fn a_flush_is_one_command_of_many_writes() {
    let mut prototype = Usual::new(settings(6, 0, 2)).unwrap();
    // Two registers of bank 0 and one of bank 1, all dirty; then one clean.
    let mut commands: Vec<_> =
        [0, 16, 1].map(|it| command(Operation::Write, 0, it)).into_iter().collect();
    commands.push(command(Operation::Fill, 0, 7));
    commands.push(command(Operation::Flush, 0, 0));
    commands.push(command(Operation::Flush, 0, 0));
    let (outcomes, _) = run(&mut prototype, &commands);
    let (flush, clock) = outcomes[4];
    let expected = Outcome {
        cache: CacheOutcome::Emptied,
        way: 3,
        main: MainOutcome::Bank,
        writebacks: 3,
        dropped: 1,
        waited: 1,
    };
    // Taken at 4; four responses, of which the second waits one clock.
    assert_eq!((flush, clock), (expected, 4 + 4 + LATENCY));
    assert_eq!(outcomes[5], (Outcome::default(), 9 + LATENCY));
    assert_eq!(prototype.counters().get(Counter::CacheWritebacksFlushed), 3);
    assert_eq!(prototype.counters().get(Counter::CacheDropped), 1);
}

#[test]
fn the_write_pool_takes_writes_and_serves_reads() {
    let mut prototype = Usual::new(settings(0, 2, 4)).unwrap();
    let commands = [
        command(Operation::Write, 0, 0),
        command(Operation::Write, 0, 16),
        command(READ, 0, 0),
        command(Operation::Write, 0, 1),
        // Its bank still takes what that write displaced.
        command(READ, 0, 32),
        command(Operation::Demote, 0, 0),
        command(Operation::Drop, 0, 0),
        command(Operation::Drop, 0, 0),
    ];
    let (outcomes, _) = run(&mut prototype, &commands);
    let main: Vec<_> = outcomes.iter().map(|(outcome, _)| outcome.main).collect();
    assert_eq!(
        main,
        [
            MainOutcome::PoolAllocation,
            MainOutcome::PoolAllocation,
            MainOutcome::PoolHit,
            MainOutcome::PoolReplacement,
            MainOutcome::Bank,
            MainOutcome::PoolMoved,
            MainOutcome::PoolMoved,
            MainOutcome::Nothing,
        ]
    );
    assert_eq!((outcomes[4].0.waited, outcomes[6].0.dropped), (3, 2));
    let counters = prototype.counters();
    for (counter, count) in [
        (Counter::PoolAllocations, 2),
        (Counter::PoolReplacements, 1),
        (Counter::PoolReadsHit, 1),
        (Counter::PoolReadsMissed, 1),
        (Counter::PoolDemotions, 2),
        (Counter::PoolDropped, 2),
        (Counter::BankWrites, 1),
    ] {
        assert_eq!(counters.get(counter), count, "{counter:?}");
    }
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let refused = |settings| Usual::new(settings).unwrap_err().to_string();
    assert_eq!(
        refused(settings(14, 0, 1)),
        "register file cache: 14 entries are more than the 13 possible"
    );
    assert_eq!(
        refused(settings(0, 61, 1)),
        "a write pool of 61 entries is outside the range 1 to 60"
    );
    assert_eq!(
        refused(settings(0, 0, 0)),
        "0 cycles of a bank's write are outside the range 1 to 15"
    );
    for requested in [0, 129] {
        let settings = Settings { registers_per_warp: requested, ..settings(6, 0, 1) };
        let error = Usual::new(settings).unwrap_err();
        assert_eq!(error, SettingsError::Registers { requested, limit: 128 });
        let text = format!("{requested} registers of a warp are outside the range 1 to 128");
        assert_eq!(error.to_string(), text);
    }
}

/// The counters say of a random stream what its outcomes say, and clocks add up.
#[test]
fn counters_are_sums_of_outcomes() {
    for seed in 0..32 {
        let mut random = Random(seed);
        let cache = random.below(14) as u8;
        let pool = random.below(61) as u8;
        let mut prototype = Usual::new(settings(cache, pool, 1 + random.below(4) as u8)).unwrap();
        let mut sums = Sums::default();
        let mut digest = Digest::EMPTY;
        for _ in 0..20 {
            let length = random.below(129) as usize;
            let commands: Vec<_> = (0..length).map(|_| any(&mut random)).collect();
            let mut outcomes = vec![Outcome::default(); length];
            sums.clocks += prototype.run(&commands, &mut outcomes);
            for (command, outcome) in commands.iter().zip(&outcomes) {
                assert_eq!(Outcome::unpack(outcome.pack()), Some(*outcome));
                sums.add(command.operation, *outcome);
                digest = digest.with_word(outcome.pack());
            }
        }
        let get = |counter| prototype.counters().get(counter);
        assert_eq!(get(Counter::Clocks), sums.clocks, "seed {seed}");
        assert_eq!(get(Counter::ReadWaits) + get(Counter::WriteWaits), sums.waited, "seed {seed}");
        assert_eq!(
            get(Counter::CacheWritebacksEvicted) + get(Counter::CacheWritebacksFlushed),
            sums.writebacks,
            "seed {seed}"
        );
        assert_eq!(get(Counter::CacheDropped) + get(Counter::PoolDropped), sums.dropped);
        assert_eq!(get(Counter::CacheReadsMissed), sums.missed, "seed {seed}");
        assert_eq!(get(Counter::CacheReadsHit), sums.hit, "seed {seed}");
        assert_ne!(digest, Digest::EMPTY);
    }
}

fn any(random: &mut Random) -> Command {
    let operation = match random.below(20) {
        0 => Operation::Flush,
        1 => Operation::Demote,
        2 => Operation::Drop,
        3 => Operation::Bypass,
        4..7 => Operation::Fill,
        7..13 => Operation::Write,
        _ => READ,
    };
    let lanes = LaneMask(1 + random.below(15));
    Command { lanes, ..command(operation, random.below(8) as u8, random.below(24) as u16) }
}

#[derive(Default)]
struct Sums {
    clocks: u64,
    waited: u64,
    writebacks: u64,
    dropped: u64,
    missed: u64,
    hit: u64,
}

impl Sums {
    fn add(&mut self, operation: Operation, outcome: Outcome) {
        self.waited += u64::from(outcome.waited);
        self.writebacks += u64::from(outcome.writebacks);
        self.dropped += u64::from(outcome.dropped);
        self.missed += u64::from(outcome.cache == CacheOutcome::Miss);
        self.hit += u64::from(outcome.cache == CacheOutcome::Hit && operation == READ);
    }
}
