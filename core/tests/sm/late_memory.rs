//! A memory whose data comes later than it knows, in pieces, or that refuses: rule by rule, and on
//! random kernels.

use crate::collectors::random_distinct;
use crate::exact::{ISCA11, single_level, two_level};
use crate::machine::{Kernel, Pace, simulate_over};
use crate::model::{count_mode, drive_over, one_of, random_grid, random_rules, random_settings};
use crate::random::Random;
use strata_core::sm::config::{BarrierRule, SmSettings};
use strata_core::sm::counters::{CycleEvent, StallReason};
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::{
    Answer, Arrival, BankPort, MemoryCounters, MemoryModel, MemoryRequest, MemoryStep, Space,
    Ticket,
};
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};

/// Shared memory answers at once; of global memory each access arrives after `latency` cycles in
/// `pieces` pieces that are `apart`, and with `refusals` is refused in so many cycles of 8 before.
#[derive(Clone, Debug)]
struct Late {
    latency: u64,
    pieces: u8,
    apart: u64,
    refusals: u64,
    /// It claims a bank for each piece that arrives, and drops what it cannot have.
    claims: bool,
    /// Pieces on their way: when, and whose.
    queue: Vec<(u64, Ticket)>,
    refused: u64,
    claimed: u64,
    missed: u64,
}

impl Late {
    fn new(latency: u64) -> Self {
        Self {
            latency,
            pieces: 1,
            apart: 0,
            refusals: 0,
            claims: false,
            queue: Vec::new(),
            refused: 0,
            claimed: 0,
            missed: 0,
        }
    }
}

impl MemoryModel for Late {
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer {
        let now = request.now;
        if request.space == Space::Shared {
            counters.moved(Space::Shared, request.access.bytes, 1);
            let arrival = Arrival::At(now + 20);
            return Answer::Taken { arrival, cached: false, from: now, until: now + 1 };
        }
        if now % 8 < self.refusals {
            self.refused += 1;
            return Answer::Refused;
        }
        counters.moved(Space::Global, request.access.bytes, 0);
        let times =
            (0..u64::from(self.pieces)).map(|piece| now + self.latency + piece * self.apart);
        self.queue.extend(times.map(|time| (time, request.ticket)));
        self.queue.sort_by_key(|&(time, ticket)| (time, ticket.warp, ticket.pc));
        let arrival = Arrival::Pending { more_pieces: self.pieces - 1 };
        Answer::Taken { arrival, cached: false, from: now, until: now }
    }

    fn hit_known_at(&self, now: u64) -> u64 {
        now + 20
    }

    fn step(&mut self, step: &mut dyn MemoryStep) {
        let now = step.now();
        while let Some(&(time, ticket)) = self.queue.first()
            && time <= now + 1
        {
            self.queue.remove(0);
            if self.claims {
                let bank = ticket.pc as u8 % step.banks();
                let port = if time % 2 == 0 { BankPort::Read } else { BankPort::Write };
                let claimed = step.claim(bank, port);
                self.claimed += u64::from(claimed);
                self.missed += u64::from(!claimed);
            }
            step.arrive(ticket, time);
        }
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        self.queue.first().map(|&(time, _)| (time - 1).max(now + 1))
    }

    fn drained_at(&self) -> u64 {
        0
    }
}

/// Cycles of one warp that runs a kernel once over a memory, at each pace.
fn alone(settings: SmSettings, kernel: &Kernel, bytes: &[u32], memory: &Late) -> u64 {
    let grid = vec![vec![kernel.moving(bytes)]];
    let [skipping, every_cycle, stepped] =
        [Pace::Skipping, Pace::EveryCycle, Pace::Stepped].map(|pace| {
            let mut memory = memory.clone();
            simulate_over(Some(&mut memory), settings, kernel, 0, &grid, pace, |_| {}).unwrap()
        });
    assert_eq!(skipping, every_cycle);
    assert_eq!(skipping, stepped);
    skipping.cycles()
}

/// r1 = [r0]; r2 = r1 + r1
fn load_and_use() -> Kernel {
    Kernel::default().load(&[0], &[1]).alu(&[1], &[2])
}

/// The load issues in cycle 0, its reader when the data is there, and the reader's result is there
/// 8 cycles later.
#[test]
fn a_reader_issues_when_the_last_piece_has_arrived() {
    for (pieces, apart, there) in [(1, 0, 50), (2, 0, 50), (2, 7, 57), (4, 1, 53), (255, 1, 304)] {
        let memory = Late { pieces, apart, ..Late::new(50) };
        assert_eq!(alone(ISCA11, &load_and_use(), &[128], &memory), there + 8, "{pieces} pieces");
    }
}

/// Refused in cycles 0, 1 and 2, taken in cycle 3; the second one is ready in cycle 4, and of the
/// 8 cycles from 8 on the first three refuse.
#[test]
fn a_refused_access_asks_again_in_the_next_cycle() {
    let memory = Late { refusals: 3, ..Late::new(50) };
    assert_eq!(alone(ISCA11, &load_and_use(), &[128], &memory), 3 + 50 + 8);
    let store_first = Kernel::default().store(&[0]).alu(&[0], &[3]).load(&[0], &[1]);
    // Store in cycle 3, sum in 4, load in 5: its last result is there 50 later.
    assert_eq!(alone(ISCA11, &store_first, &[128; 2], &memory), 5 + 50);
}

/// While one warp is refused, another issues in the slot.
#[test]
fn another_warp_takes_the_slot_of_a_refused_access() {
    let kernel = Kernel::default().load(&[0], &[1]).alu(&[2], &[3]);
    let (one, other) = (kernel.moving(&[128]), kernel.moving(&[128]));
    let mut sums = other;
    // The other warp skips the load.
    sums.path = vec![crate::machine::run(1, 1)];
    sums.accesses.clear();
    let mut memory = Late { refusals: 2, ..Late::new(50) };
    let grid = vec![vec![one, sums]];
    let mut issues = Vec::new();
    let observe = |told| {
        if let strata_core::sm::Observation::Issue(issue) = told {
            issues.push((issue.cycle, issue.warp, issue.pc));
        }
    };
    let counters =
        simulate_over(Some(&mut memory), ISCA11, &kernel, 0, &grid, Pace::Skipping, observe)
            .unwrap();
    assert_eq!(issues, [(0, 1, 1), (2, 0, 0), (3, 0, 1)]);
    assert_eq!(counters.slots(StallReason::UnitBusy), 1);
    assert_eq!(memory.refused, 2);
}

/// A warp that reads a pending result leaves before it and returns when it is there.
#[test]
fn a_warp_outside_the_active_set_returns_when_late_data_is_there() {
    let kernel = Kernel::default().load(&[0], &[1]).alu(&[1], &[2]).marked();
    // It returns in cycle 50 and issues then.
    assert_eq!(alone(two_level(4, Some(6)), &kernel, &[128], &Late::new(50)), 50 + 8);
}

/// A result that leaves its cache before it arrives goes on to the main register file: r1 is
/// loaded, and three results push it out of two entries; every value is written once.
#[test]
fn an_evicted_pending_result_is_written_when_it_arrives() {
    let kernel = Kernel::default().load(&[0], &[1]).alu(&[0], &[2]).alu(&[0], &[3]);
    let grid = vec![vec![kernel.moving(&[128])]];
    let mut writes = Vec::new();
    let mut memory = Late::new(50);
    let observe = |told| {
        if let strata_core::sm::Observation::BankWrite { register, cycle, .. } = told {
            writes.push((register.0, cycle));
        }
    };
    let counters = simulate_over(
        Some(&mut memory),
        single_level(2),
        &kernel,
        0,
        &grid,
        Pace::Skipping,
        observe,
    )
    .unwrap();
    let main = counters.accesses.mrf_writes();
    assert_eq!(writes.len() as u64, main);
    assert!(writes.contains(&(1, 50)), "{writes:?}");
}

/// Says that data is there at once, and that it arrives three times.
#[derive(Debug)]
struct Hasty(Vec<Ticket>);

impl MemoryModel for Hasty {
    fn request(&mut self, request: &MemoryRequest, _: &mut MemoryCounters<'_>) -> Answer {
        let now = request.now;
        let pending = request.ticket.pc == 0;
        if pending {
            self.0.extend([request.ticket; 3]);
        }
        let later = Arrival::Pending { more_pieces: 0 };
        let arrival = if pending { later } else { Arrival::At(0) };
        Answer::Taken { arrival, cached: false, from: now, until: now }
    }

    fn hit_known_at(&self, now: u64) -> u64 {
        now
    }

    fn step(&mut self, step: &mut dyn MemoryStep) {
        for ticket in self.0.drain(..) {
            step.arrive(ticket, 0);
        }
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        (!self.0.is_empty()).then_some(now + 1)
    }

    fn drained_at(&self) -> u64 {
        0
    }
}

/// What a memory should not say counts as the earliest that it could say.
#[test]
fn data_that_comes_too_early_or_too_often_does_no_harm() {
    // r1 = [r0]; r2 = [r1]; r3 = r2 + r2
    let kernel = Kernel::default().load(&[0], &[1]).load(&[1], &[2]).alu(&[2], &[3]);
    let collectors = SmSettings {
        operand_delivery: OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM),
        ..ISCA11
    };
    for (settings, cycles) in [(ISCA11, 1 + 1 + 8), (collectors, 4 + 4 + 8)] {
        let grid = vec![vec![kernel.moving(&[32; 2])]];
        let mut memory = Hasty(Vec::new());
        let pace = Pace::Skipping;
        let run = simulate_over(Some(&mut memory), settings, &kernel, 0, &grid, pace, |_| {});
        assert_eq!(run.unwrap().cycles(), cycles);
    }
}

/// Random kernels over a random late memory, with and without collectors: both paces agree, an
/// observer hears of what is counted, and accesses are those of count mode.
#[test]
fn random_kernels_over_a_late_memory() {
    let (mut refused, mut claimed, mut missed, mut runs) = (0, 0, 0, 0);
    for seed in 5000..5500 {
        let mut random = Random(seed);
        let mut settings = random_settings(&mut random);
        let collected = random.chance(40);
        if collected {
            let collectors = CollectorSettings {
                write_cycles: one_of(&mut random, &[1, 3]),
                split_bank_write: random.chance(50),
                write_pool_entries: one_of(&mut random, &[0, 0, 5]),
                ..CollectorSettings::WARRF_SRAM
            };
            settings.operand_delivery = OperandDelivery::Collectors(collectors);
            settings.timing.alu_latency = settings.timing.alu_latency.max(4);
            settings.timing.hit_latency = settings.timing.hit_latency.max(4);
        } else {
            let banks = one_of(&mut random, &[1, 2, 4, 8]);
            settings.operand_delivery = OperandDelivery::FixedLatency { banks };
        }
        let rules = !matches!(
            settings.organisation.settings().scheduling,
            strata_core::organisation::Scheduling::SingleLevel
        ) && random.chance(40);
        if rules {
            random_rules(&mut random, &mut settings);
        }
        let kernel = random_distinct(&mut random);
        let grid = random_grid(&mut random, &kernel);
        let late = Late {
            pieces: one_of(&mut random, &[1, 1, 2, 5]),
            apart: one_of(&mut random, &[0, 1, 30]),
            refusals: one_of(&mut random, &[0, 0, 1, 6]),
            claims: true,
            ..Late::new(one_of(&mut random, &[4, 30, 63, 64, 400]))
        };
        let driven = drive_over(seed, settings, &kernel, &grid, |run| {
            let mut memory = late.clone();
            run(Some(&mut memory));
            refused += memory.refused;
            claimed += memory.claimed;
            missed += memory.missed;
            assert!(memory.queue.is_empty() || memory.pieces > 0, "seed {seed}");
        });
        let counters = match driven {
            Ok(counters) => counters,
            Err(Fault::Stalled { reason, .. }) => {
                assert_eq!(settings.barrier, BarrierRule::Never, "seed {seed}");
                assert_eq!(reason, StallReason::Barrier, "seed {seed}");
                continue;
            }
            Err(fault) => panic!("seed {seed}, {settings:?}: {fault}"),
        };
        runs += 1;
        if !rules && !collected {
            let expected = count_mode(&settings, &kernel, &grid);
            assert_eq!(counters.accesses, expected, "seed {seed}, {settings:?}");
        }
        let moved = counters.get(CycleEvent::DramByte);
        let asked: u64 =
            grid.iter().flatten().flat_map(|warp| &warp.accesses).map(|a| u64::from(a.bytes)).sum();
        let shared = counters.get(CycleEvent::SharedByte);
        assert_eq!(moved + shared, asked, "seed {seed}: each access is taken once");
    }
    assert!(runs > 400 && refused > 1000, "{runs} runs, {refused} refusals");
    assert!(claimed > 1000 && missed > 100, "{claimed} claims, {missed} missed");
}
