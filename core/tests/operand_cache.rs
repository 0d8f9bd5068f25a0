//! The operand cache: exact cases, and random bundles whose values a plain map knows.

#[expect(dead_code, reason = "nothing here looks at lanes")]
mod random;

use std::collections::BTreeMap;

use random::Random;
use strata_core::sm::expansion::bundles::RegisterSet;
use strata_core::sm::expansion::operand_cache::{Move, OperandCache};
use strata_core::units::RegisterId;

fn set(registers: &[u16]) -> RegisterSet {
    RegisterSet::of(registers.iter().copied().map(RegisterId)).expect("below 256")
}

fn begin(
    cache: &mut OperandCache,
    warp: u8,
    fetched: &[u16],
    allocated: &[u16],
) -> Option<Vec<Move>> {
    let mut moves = Vec::new();
    cache.begin(warp, set(fetched), set(allocated), |one| moves.push(one)).map(|_| moves)
}

fn fetched(warp: u8, register: u16) -> Move {
    Move::Fetched { warp, register: RegisterId(register) }
}

fn written_back(warp: u8, register: u16) -> Move {
    Move::WrittenBack { warp, register: RegisterId(register) }
}

#[test]
fn lines_of_bundles_that_run_stay() {
    let mut cache = OperandCache::EMPTY;
    assert_eq!(begin(&mut cache, 3, &[5, 8], &[6]), Some(vec![fetched(3, 5), fetched(3, 8)]));
    let before = cache.clone();
    // R21 and R5 have one line; nothing changes, not even R9's line, which is free.
    assert_eq!(begin(&mut cache, 4, &[9, 21], &[]), None);
    assert_eq!(cache, before);
    assert!(cache.holds(3, RegisterId(5)) && !cache.holds(4, RegisterId(5)));
    assert!(!cache.holds(3, RegisterId(21)) && !cache.write(4, RegisterId(5)));
    assert!(!cache.write(3, RegisterId(7)));
    // Other registers of other warps have their lines.
    assert_eq!(begin(&mut cache, 4, &[9], &[]), Some(vec![fetched(4, 9)]));
}

#[test]
fn what_was_written_is_written_back_when_its_line_is_needed() {
    let mut cache = OperandCache::EMPTY;
    assert!(begin(&mut cache, 0, &[1, 2, 3, 4], &[]).is_some());
    for register in [1, 2] {
        assert!(cache.write(0, RegisterId(register)));
    }
    cache.complete(0);
    // Dirty, dirty and the warp's own, clean twice; a line without a register.
    let moves = begin(&mut cache, 1, &[17, 19, 20, 21], &[]);
    let all = [written_back(0, 1), fetched(1, 17), fetched(1, 19), fetched(1, 20), fetched(1, 21)];
    assert_eq!(moves, Some(all.to_vec()));
    // What the warp still has is not fetched again, and stays dirty.
    assert_eq!(begin(&mut cache, 0, &[2], &[]), Some(vec![]));
    cache.complete(0);
    assert_eq!(begin(&mut cache, 5, &[], &[18]), Some(vec![written_back(0, 2)]));
    // A warp that has ended leaves nothing.
    assert!(cache.write(5, RegisterId(18)));
    assert_eq!((cache.exit(0), cache.exit(5), cache.exit(5)), (0, 1, 0));
    assert_eq!(begin(&mut cache, 6, &[2], &[]), Some(vec![fetched(6, 2)]));
}

#[test]
fn a_line_without_a_value_is_fetched() {
    let mut cache = OperandCache::EMPTY;
    // Both get a line, and one is written.
    assert_eq!(begin(&mut cache, 0, &[], &[1, 2]), Some(vec![]));
    assert!(cache.write(0, RegisterId(1)));
    cache.complete(0);
    assert_eq!(begin(&mut cache, 0, &[1, 2], &[]), Some(vec![fetched(0, 2)]));
}

#[test]
fn a_result_that_bypasses_gives_up_its_line() {
    let mut cache = OperandCache::EMPTY;
    assert!(begin(&mut cache, 0, &[5, 6], &[]).is_some());
    assert!(cache.write(0, RegisterId(5)));
    for (warp, register) in [(0, 5), (0, 6), (1, 6)] {
        cache.bypass(warp, RegisterId(register));
    }
    assert!(!cache.holds(0, RegisterId(5)) && !cache.holds(0, RegisterId(6)));
    assert!(!cache.write(0, RegisterId(5)));
    // Operands of the bundle may still be read from the lines, and R5 has to be written back.
    assert_eq!(begin(&mut cache, 1, &[22], &[]), None);
    cache.complete(0);
    assert_eq!(begin(&mut cache, 1, &[22], &[]), Some(vec![fetched(1, 22)]));
    assert_eq!(begin(&mut cache, 2, &[21], &[]), None);
    assert!(cache.has_leaving());
    assert_eq!(cache.write_back_leaving(), Some((0, RegisterId(5))));
    assert_eq!(cache.write_back_leaving(), None);
    assert_eq!(begin(&mut cache, 2, &[21], &[]), Some(vec![fetched(2, 21)]));
    // Written back before its bundle is complete, it keeps its line until then.
    assert!(cache.write(2, RegisterId(21)));
    cache.bypass(2, RegisterId(21));
    assert_eq!(cache.write_back_leaving(), Some((2, RegisterId(21))));
    assert_eq!(begin(&mut cache, 3, &[5], &[]), None);
    cache.complete(2);
    assert_eq!(begin(&mut cache, 3, &[5], &[]), Some(vec![fetched(3, 5)]));
}

#[test]
fn what_is_found_is_counted() {
    let mut cache = OperandCache::EMPTY;
    let mut found = |warp, fetched: &[u16], allocated: &[u16]| {
        let found = cache
            .begin(warp, set(fetched), set(allocated), |_| {})
            .map(|found| (found.held, found.clean));
        cache.complete(warp);
        found
    };
    assert_eq!(found(0, &[1, 2], &[3]), Some((0, 0)));
    assert_eq!(found(0, &[1, 2, 3], &[]), Some((2, 0)));
    assert_eq!(found(1, &[17, 2], &[]), Some((0, 2)));
}

type Key = (u8, RegisterId);

/// Values beside the cache: what lies in scratchpad memory and in the lines, and what is right.
#[derive(Default)]
struct Values {
    scratchpad: BTreeMap<Key, u32>,
    lines: BTreeMap<Key, u32>,
    right: BTreeMap<Key, u32>,
}

impl Values {
    fn apply(&mut self, one: Move) {
        match one {
            Move::Fetched { warp, register } => {
                let value = self.scratchpad.get(&(warp, register)).copied().unwrap_or(0);
                self.lines.insert((warp, register), value);
            }
            Move::WrittenBack { warp, register } => {
                let value = self.lines.remove(&(warp, register)).expect("it was in a line");
                self.scratchpad.insert((warp, register), value);
            }
        }
    }

    /// Lines that were dropped, or given to others, have nothing.
    fn keep(&mut self, cache: &OperandCache) {
        self.lines.retain(|&(warp, register), _| cache.holds(warp, register));
    }
}

/// A bundle with a line for each register.
fn some_bundle(random: &mut Random) -> (RegisterSet, RegisterSet) {
    let (mut fetched, mut allocated) = (RegisterSet::EMPTY, RegisterSet::EMPTY);
    for line in 0..16 {
        if random.chance(30) {
            let register = RegisterId(line + 16 * random.below(3) as u16);
            let set = if random.chance(80) { &mut fetched } else { &mut allocated };
            set.insert(register);
        }
    }
    (fetched, allocated)
}

/// Home lines of both sets.
fn lines(bundle: (RegisterSet, RegisterSet)) -> Vec<u16> {
    bundle.0.or(bundle.1).iter().map(|register| register.0 % 16).collect()
}

/// A cache with the bundles that run, and what happened.
struct Run {
    cache: OperandCache,
    values: Values,
    running: BTreeMap<u8, (RegisterSet, RegisterSet)>,
    begun: u32,
    waited: u32,
    reads: u32,
}

impl Run {
    /// A warp's next bundle begins, or waits for another one that has one of its lines.
    fn begin(&mut self, warp: u8, bundle: (RegisterSet, RegisterSet)) {
        let before = self.cache.clone();
        let mut moves = Vec::new();
        if self.cache.begin(warp, bundle.0, bundle.1, |one| moves.push(one)).is_some() {
            for one in moves {
                self.values.apply(one);
            }
            self.running.insert(warp, bundle);
            self.begun += 1;
        } else {
            assert!(moves.is_empty() && self.cache == before);
            let own = lines(bundle);
            let shares = |(&other, &bundle): (&u8, &_)| {
                other != warp && lines(bundle).iter().any(|line| own.contains(line))
            };
            assert!(self.running.iter().any(shares), "it waits for nothing");
            self.waited += 1;
        }
    }

    fn complete(&mut self, warp: u8) {
        self.cache.complete(warp);
        self.running.remove(&warp);
    }

    fn exit(&mut self, warp: u8) {
        let dead = self.cache.exit(warp);
        let Values { lines, scratchpad, .. } = &self.values;
        let written = lines.iter().filter(|&(key, value)| {
            key.0 == warp && scratchpad.get(key).copied().unwrap_or(0) != *value
        });
        assert_eq!(dead as usize, written.count());
        self.values.right.retain(|key, _| key.0 != warp);
        self.values.scratchpad.retain(|key, _| key.0 != warp);
        self.running.remove(&warp);
    }

    /// A load's result arrives in scratchpad memory behind its bundle.
    fn load(&mut self, key: Key, value: u32) {
        self.cache.bypass(key.0, key.1);
        while let Some((warp, register)) = self.cache.write_back_leaving() {
            self.values.apply(Move::WrittenBack { warp, register });
        }
        self.values.scratchpad.insert(key, value);
        self.values.right.insert(key, value);
        self.complete(key.0);
    }

    fn write(&mut self, key: Key, value: u32) {
        assert!(self.cache.write(key.0, key.1), "it has its line");
        self.values.lines.insert(key, value);
        self.values.right.insert(key, value);
    }

    fn read(&mut self, key: Key) {
        assert!(self.cache.holds(key.0, key.1));
        let [found, right] = [&self.values.lines, &self.values.right]
            .map(|values| values.get(&key).copied().unwrap_or(0));
        assert_eq!(found, right);
        self.reads += 1;
    }
}

#[test]
fn random_bundles_read_what_was_written() {
    let (mut begun, mut waited, mut reads) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Random(seed);
        let (cache, values, running) = (OperandCache::EMPTY, Values::default(), BTreeMap::new());
        let mut run = Run { cache, values, running, begun: 0, waited: 0, reads: 0 };
        for step in 1..600 {
            let warp = random.below(6) as u8;
            if let Some(&(fetched, allocated)) = run.running.get(&warp) {
                let registers: Vec<RegisterId> = fetched.or(allocated).iter().collect();
                let some = registers.get(random.below(16) as usize).map(|&one| (warp, one));
                match (random.below(10), some) {
                    (0, _) => run.exit(warp),
                    (1, Some(key)) => run.load(key, step),
                    (2 | 3, _) => run.complete(warp),
                    (4..=6, Some(key)) => run.write(key, step),
                    (_, Some(key)) if fetched.contains(key.1) => run.read(key),
                    _ => {}
                }
            } else {
                run.begin(warp, some_bundle(&mut random));
            }
            run.values.keep(&run.cache);
        }
        begun += run.begun;
        waited += run.waited;
        reads += run.reads;
    }
    assert!(begun > 10_000 && waited > 10_000 && reads > 1000, "{begun} {waited} {reads}");
}
