//! The prototype's sequencer: the caches behind it go through what whole instructions make of them,
//! and its handshake is the hardware's.

mod random;
#[path = "prototype/sequencer.rs"]
mod sequencer;

use random::{Random, lanes_of};
use strata_core::access::Access;
use strata_core::prototype::cache_block::{CacheBlock, CacheOutcome, CacheSettings, Response};
use strata_core::prototype::command::{Command, Operation};
use strata_core::register_file_cache::{
    Allocation, Operands, RegisterFileCache, RegisterFileCacheConfig, Replacement,
};
use strata_core::units::{LaneMask, RegisterId};

fn request(operation: Operation, register: u16) -> Command {
    Command { warp: 0, operation, register: RegisterId(register), lanes: LaneMask::FULL }
}

/// Serves a request to its end, without back-pressure.
fn serve<const WARPS: usize>(
    prototype: &mut CacheBlock<WARPS, 13>,
    request: &Command,
) -> Vec<Response> {
    let mut responses = Vec::new();
    loop {
        let accepted = prototype.tick(Some(request), true).accepted;
        responses.extend(prototype.answer());
        if accepted {
            return responses;
        }
    }
}

/// What an instruction does to a cache in one step, its requests do one by one.
#[test]
fn requests_are_parts_of_instructions() {
    for seed in 0..64 {
        let mut random = Random(seed);
        let config = CacheSettings {
            entries: 1 + random.below(13) as u8,
            replacement: [Replacement::Fifo, Replacement::Lru][random.below(2) as usize],
            liveness: random.chance(50),
        };
        let mut prototype = CacheBlock::<1, 13>::new(config).unwrap();
        let mut cache = RegisterFileCache::<13>::new(RegisterFileCacheConfig {
            entries: config.entries,
            replacement: config.replacement,
            allocation: Allocation::Writes,
            liveness: config.liveness,
            liveness_aware_bypass: false,
            liveness_aware_eviction: false,
        })
        .unwrap();
        for _ in 0..300 {
            instruction(&mut random, &mut cache, &mut prototype);
            let behind = prototype.cache(0).unwrap();
            assert!(cache.entries().eq(behind.entries()), "seed {seed}");
        }
    }
}

/// Lanes by what happened to them: hits, misses, results, allocations, write-backs, and drops.
type Lanes = [u32; 6];

fn instruction(
    random: &mut Random,
    cache: &mut RegisterFileCache<13>,
    prototype: &mut CacheBlock<1, 13>,
) {
    let register = |random: &mut Random| RegisterId(random.below(20) as u16);
    let mask = random.mask();
    let mut events = Lanes::default();
    let mut note = |access, _, lanes: LaneMask| {
        let kind = match access {
            Access::RfcRead => 0,
            Access::MrfRead => 1,
            Access::RfcWrite => 2,
            Access::RfcAllocation => 3,
            Access::RfcWritebackEviction | Access::RfcWritebackFlush => 4,
            Access::RfcDrop => return events[5] += 1,
            _ => return,
        };
        events[kind] += lanes.0.count_ones();
    };
    let mut responses = Vec::new();
    let mut ask = |operation, register, lanes| {
        let request = Command { warp: 0, operation, register, lanes };
        for response in serve(prototype, &request) {
            responses.push((operation, response));
        }
    };
    match random.below(20) {
        0 => {
            cache.flush(&mut note);
            ask(Operation::Flush, RegisterId(0), mask);
        }
        1 => {
            cache.exit(&mut note);
            ask(Operation::Exit, RegisterId(0), mask);
        }
        _ => {
            let sources: Vec<_> = (0..random.below(4)).map(|_| register(random)).collect();
            let destinations: Vec<_> = (0..random.below(3)).map(|_| register(random)).collect();
            let (last_use, bypass) = (random.below(16), random.chance(15));
            let operands = Operands {
                sources: &sources,
                last_use,
                last_use_before_deschedule: 0,
                destinations: &destinations,
                not_read_before_deschedule: 0,
                bypass,
                mask,
            };
            cache.step(&operands, &mut note);
            for (index, &source) in sources.iter().enumerate() {
                let (last_use, more) = (last_use >> index & 1 != 0, index + 1 < sources.len());
                ask(Operation::Read { last_use, more }, source, mask);
            }
            for &destination in &destinations {
                let operation = if bypass { Operation::Bypass } else { Operation::Write };
                ask(operation, destination, mask);
            }
        }
    }
    assert_eq!(told(&responses), events);
}

/// Lanes by what happened to them, from the responses of the prototype.
fn told(responses: &[(Operation, Response)]) -> Lanes {
    let mut lanes = Lanes::default();
    for (operation, response) in responses {
        let served = lanes_of(response.served).len() as u32;
        match operation {
            Operation::Read { .. } => lanes[0] += served,
            Operation::Write => lanes[2] += served,
            _ => {}
        }
        lanes[1] += lanes_of(response.missing).len() as u32;
        if response.outcome == CacheOutcome::Allocation {
            lanes[3] += served;
        }
        if let Some(victim) = response.victim.filter(|victim| victim.writeback) {
            lanes[4] += lanes_of(victim.lanes).len() as u32;
        }
        lanes[5] += response.dropped.count_ones();
    }
    lanes
}

#[test]
fn an_access_a_clock_and_a_flush_of_a_clock_an_entry() {
    let config = CacheSettings { entries: 3, replacement: Replacement::Fifo, liveness: false };
    let mut prototype = CacheBlock::<2, 13>::new(config).unwrap();
    for register in 0..3 {
        let tick = prototype.tick(Some(&request(Operation::Write, register)), true);
        assert!(tick.accepted && tick.response.is_some() == (register > 0));
    }
    let evicting = serve(&mut prototype, &request(Operation::Write, 3));
    assert_eq!((evicting.len(), evicting[0].victim.unwrap().register), (1, RegisterId(0)));
    let flush = serve(&mut prototype, &request(Operation::Flush, 0));
    let flushed: Vec<_> =
        flush.iter().map(|it| (it.victim.unwrap().register.0, it.way, it.last)).collect();
    assert_eq!(flushed, [(1, 1, false), (2, 2, false), (3, 0, true)]);
    let nothing = serve(&mut prototype, &request(Operation::Flush, 0));
    assert_eq!((nothing.len(), nothing[0].outcome), (1, CacheOutcome::Nothing));
}

#[test]
fn an_unread_response_holds_requests_up() {
    let config = CacheSettings { entries: 1, replacement: Replacement::Lru, liveness: true };
    let mut prototype = CacheBlock::<1, 13>::new(config).unwrap();
    assert!(prototype.tick(Some(&request(Operation::Write, 7)), false).accepted);
    let read = request(Operation::Read { last_use: false, more: false }, 7);
    let waiting = prototype.tick(Some(&read), false);
    assert!(!waiting.accepted);
    assert_eq!(waiting.response.unwrap().outcome, CacheOutcome::Allocation);
    let taken = prototype.tick(Some(&read), true);
    assert_eq!((taken.accepted, taken.response), (true, waiting.response));
    assert_eq!(prototype.tick(None, true).response.unwrap().outcome, CacheOutcome::Hit);
    assert_eq!(prototype.tick(None, true).response, None);
}

#[test]
fn a_fill_brings_what_is_missing_and_is_clean() {
    let config = CacheSettings { entries: 1, replacement: Replacement::Fifo, liveness: false };
    let mut prototype = CacheBlock::<1, 13>::new(config).unwrap();
    let fill = request(Operation::Fill, 5);
    assert_eq!(serve(&mut prototype, &fill)[0].outcome, CacheOutcome::Allocation);
    assert_eq!(serve(&mut prototype, &fill)[0].outcome, CacheOutcome::Nothing);
    let evicting = serve(&mut prototype, &request(Operation::Write, 6))[0];
    assert!(evicting.dropped == 1 && !evicting.victim.unwrap().writeback);
}

#[test]
fn a_size_beyond_the_capacity_and_an_unknown_warp_are_harmless() {
    let config = CacheSettings { entries: 14, replacement: Replacement::Fifo, liveness: false };
    assert!(CacheBlock::<1, 13>::new(config).is_err());
    let mut prototype = CacheBlock::<1, 13>::new(CacheSettings { entries: 13, ..config }).unwrap();
    let stray = Command { warp: 1, ..request(Operation::Write, 1) };
    assert_eq!(serve(&mut prototype, &stray)[0].outcome, CacheOutcome::Nothing);
    assert_eq!(prototype.cache(0).unwrap().resident(), 0);
    assert!(prototype.cache(1).is_none());
}
