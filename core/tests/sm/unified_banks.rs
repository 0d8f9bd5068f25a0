//! Registers and memory in the same banks: cases computed by hand, both ways to resolve conflicts
//! against registers that lie apart, and the order in which ports are given out.

use std::collections::BTreeMap;

use crate::cached_memory::{MICRO12, OwnedList, SETTINGS, by_bank_accesses, load, run_over};
use crate::exact::single_level;
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, simulate_over};
use crate::model::one_of;
use crate::random::Random;
use strata_core::sm::MemoryAccess;
use strata_core::sm::config::{SmSettings, Timing};
use strata_core::sm::counters::{CycleEvent, SmCounters};
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::bank_conflicts::{
    BankConflictError, BankConflictKind, BankConflicts, ConflictPorts, OperandReads,
};
use strata_core::sm::memory::cache::{Cache, Tag};
use strata_core::sm::memory::cached::{
    CacheCounters, CacheEvent, CachedMemory, CachedSettings, LineUse,
};
use strata_core::sm::memory::touched::{AddressSpace, BankMapping};
use strata_core::sm::memory::{
    Answer, Arrival, BankPort, MemoryCounters, MemoryModel, MemoryRequest, MemoryStep, Ticket,
};
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};

const ANY: BankConflicts = BankConflicts::Instruction { ports: ConflictPorts::Any };
const READ_WRITE: BankConflicts = BankConflicts::Instruction { ports: ConflictPorts::ReadWrite };
pub(crate) const UNIFIED: CachedSettings =
    CachedSettings { mapping: BankMapping::Simple, conflicts: ANY, ..SETTINGS };
pub(crate) const ARBITRATED: CachedSettings =
    CachedSettings { conflicts: BankConflicts::CycleByCycle, ..UNIFIED };

/// A cycle for each read of a bank beyond the first.
pub(crate) const FLAT: SmSettings = with_window_of_one(MICRO12);

const fn with_window_of_one(settings: SmSettings) -> SmSettings {
    SmSettings { timing: Timing { operand_window: 1, ..MICRO12.timing }, ..settings }
}

/// One warp that runs a kernel once.
fn alone(
    settings: SmSettings,
    cached: CachedSettings,
    kernel: &Kernel,
    accesses: &[MemoryAccess],
    list: &OwnedList,
) -> (SmCounters, CacheCounters) {
    let trace = OwnedTrace { accesses: accesses.to_vec(), ..kernel.moving(&[]) };
    run_over(settings, cached, kernel, &vec![vec![trace]], list).unwrap()
}

#[test]
fn operands_of_one_bank_delay_an_instruction() {
    let list = OwnedList::default();
    // r1 = r0 * r4 + r8, of which the register file cache may have two.
    let first = || Kernel::default().alu(&[], &[0]).alu(&[], &[4]);
    let cases: [(SmSettings, &[u16], u64, [u64; 5]); 4] = [
        (FLAT, &[0, 4, 8], 2, [2, 0, 1, 0, 0]),
        (FLAT, &[0, 4, 8, 1, 5], 2, [2, 0, 1, 0, 0]),
        (FLAT, &[0, 4, 8, 12, 16], 4, [2, 0, 0, 0, 1]),
        (with_window_of_one(single_level(6)), &[0, 4, 8], 0, [3, 0, 0, 0, 0]),
    ];
    for (settings, read, delay, instructions) in cases {
        let kernel = first().alu(read, &[17]).alu(&[17], &[2]);
        for mapping in BankMapping::ALL {
            let cached = CachedSettings { mapping, ..UNIFIED };
            let (counters, cache) = alone(settings, cached, &kernel, &[], &list);
            assert_eq!(counters.get(CycleEvent::OperandDelay), delay, "{read:?}");
            // Two sums of 8 cycles one after the other, the second one's result 8 cycles later.
            assert_eq!(counters.cycles(), 1 + 8 + 8 + delay + 8, "{read:?}");
            let mut expected = instructions;
            expected[0] += 1;
            assert_eq!(by_bank_accesses(&cache), expected, "{read:?}");
            assert_eq!(cache.get(CacheEvent::ArbitrationConflictCycle), 0, "{read:?}");
        }
    }
}

#[test]
fn an_address_in_the_bank_of_its_data_delays_a_load() {
    let mut list = OwnedList::default();
    let access = list.add(AddressSpace::Shared, LineUse::Load, |i| 128 + 4 * i);
    let kernel = |address: u16| {
        let kernel = Kernel::default().alu(&[], &[address]).shared_load(&[address], &[2]);
        kernel.alu(&[2], &[3])
    };
    let cached = with_window_of_one(single_level(6));
    for (settings, mapping, address, delay) in [
        (FLAT, BankMapping::Simple, 5, 1),
        (FLAT, BankMapping::Aggressive, 5, 1),
        (FLAT, BankMapping::Partitioned, 5, 0),
        (FLAT, BankMapping::Simple, 4, 0),
        (cached, BankMapping::Simple, 5, 0),
    ] {
        let memory = CachedSettings { mapping, ..UNIFIED };
        let (counters, cache) = alone(settings, memory, &kernel(address), &[access], &list);
        assert_eq!(counters.cycles(), 8 + 20 + delay + 8, "{mapping:?}, r{address}");
        assert_eq!(cache.get(CacheEvent::ArbitrationConflictCycle), delay);
        assert_eq!(by_bank_accesses(&cache), [3 - delay, delay, 0, 0, 0]);
        // Cycle by cycle the data waits for the address.
        let memory = CachedSettings { conflicts: BankConflicts::CycleByCycle, ..memory };
        let (counters, cache) = alone(settings, memory, &kernel(address), &[access], &list);
        assert_eq!(counters.cycles(), 8 + 20 + delay + 8, "{mapping:?}, r{address}");
        assert_eq!(cache.get(CacheEvent::ArbitrationConflictCycle), delay);
    }
}

/// A store of data in R0 and R4 at an address in R8, to a line of bank 0 that the cache has or has
/// not; and of shared memory.
#[test]
fn a_store_meets_reads_of_its_operands_where_banks_have_one_port() {
    let mut list = OwnedList::default();
    let [line, hit, miss] = [LineUse::Load, LineUse::Store, LineUse::Store]
        .into_iter()
        .zip([0, 0, 512])
        .map(|(kind, base)| list.add(AddressSpace::Global, kind, move |i| base + 4 * i))
        .collect::<Vec<_>>()[..]
    else {
        unreachable!()
    };
    let shared = list.add(AddressSpace::Shared, LineUse::Store, |i| 4 * i);
    let kernel = Kernel::default().load(&[1], &[2]).alu(&[2], &[3]).store(&[0, 4, 8]);
    let shared_store = |kernel: Kernel| {
        kernel.store(&[0, 4, 8]).with(|store| {
            store.space = Some(strata_core::image::MemorySpace::Shared);
        })
    };
    let start = || Kernel::default().load(&[1], &[2]).alu(&[2], &[3]);
    for (kernel, store, any, read_write) in
        [(kernel.clone(), hit, 3, 2), (kernel, miss, 2, 2), (shared_store(start()), shared, 3, 2)]
    {
        for (conflicts, delay) in [(ANY, any), (READ_WRITE, read_write)] {
            let cached = CachedSettings { conflicts, ..UNIFIED };
            let (counters, cache) = alone(FLAT, cached, &kernel, &[line, store], &list);
            assert_eq!(counters.get(CycleEvent::OperandDelay), delay, "{conflicts:?}");
            assert_eq!(cache.get(CacheEvent::ArbitrationConflictCycle), delay - 2);
        }
    }
}

/// The path counts its own cycles: an instruction waits for what is more.
#[test]
fn a_penalty_begins_where_the_path_ends() {
    let mut list = OwnedList::default();
    let rows = list.add(AddressSpace::Shared, LineUse::Load, |i| 512 * i);
    let kernel = |address| Kernel::default().shared_load(&[address], &[1]).alu(&[1], &[2]);
    for (address, delay) in [(0, 1), (1, 0)] {
        let (counters, cache) = alone(FLAT, UNIFIED, &kernel(address), &[rows], &list);
        assert_eq!(counters.cycles(), 31 + 20 + delay + 8);
        assert_eq!(by_bank_accesses(&cache), [1, 0, 0, 0, 1]);
    }
}

#[test]
fn a_register_that_is_read_in_each_cycle_has_its_bank() {
    let mut list = OwnedList::default();
    let [zero, one] =
        [0, 128].map(|base| list.add(AddressSpace::Shared, LineUse::Load, move |i| base + 4 * i));
    // r1 = shared[r0]; ten results of registers in bank 0; r2 = r1 + r1
    let mut kernel = Kernel::default().shared_load(&[0], &[1]);
    for register in 0..10 {
        kernel = kernel.alu(&[4 * register], &[43 + 4 * register]);
    }
    let kernel = kernel.alu(&[1], &[2]);
    for (access, waits) in [(zero, 11), (one, 0)] {
        let (counters, cache) = alone(FLAT, ARBITRATED, &kernel, &[access], &list);
        assert_eq!(counters.cycles(), 20 + waits + 8);
        assert_eq!(cache.get(CacheEvent::ArbitrationConflictCycle), waits);
    }
}

/// Whether a port of a bank is free in a cycle.
type Free = fn(u64, u8, BankPort) -> bool;

/// A memory that is arbitrated, with a copy that is asked the same and whose banks are apart; the
/// ports that both see are free as `free` says, if it does.
#[derive(Debug)]
struct Watched<'m, 'c> {
    memory: CachedMemory<'m, 'c>,
    apart: CachedMemory<'m, 'c>,
    free: Option<Free>,
    /// When the data of each access that is under way would be there, apart.
    expected: BTreeMap<(u8, u32), u64>,
    /// By how much later it came, in the order in which it came.
    later: Vec<u64>,
    refused: u64,
}

struct WatchedStep<'w, 's> {
    step: &'s mut dyn MemoryStep,
    free: Option<Free>,
    expected: &'w mut BTreeMap<(u8, u32), u64>,
    later: &'w mut Vec<u64>,
}

impl MemoryStep for WatchedStep<'_, '_> {
    fn now(&self) -> u64 {
        self.step.now()
    }

    fn counters(&mut self) -> MemoryCounters<'_> {
        self.step.counters()
    }

    fn arrive(&mut self, ticket: Ticket, at: u64) {
        let expected = self.expected.remove(&(ticket.warp, ticket.pc));
        self.later.push(at - expected.expect("it is under way"));
        self.step.arrive(ticket, at);
    }

    fn banks(&self) -> u8 {
        self.step.banks()
    }

    fn claim(&mut self, bank: u8, port: BankPort) -> bool {
        match self.free {
            None => self.step.claim(bank, port),
            Some(free) => free(self.step.now(), bank, port),
        }
    }
}

impl MemoryModel for Watched<'_, '_> {
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer {
        let answer = self.memory.request(request, counters);
        let Answer::Taken { arrival, cached, from, until } = answer else {
            self.refused += 1;
            return answer;
        };
        assert_eq!(arrival, Arrival::Pending { more_pieces: 0 });
        let Answer::Taken { arrival: Arrival::At(at), cached: had, from: begin, until: end } =
            self.apart.request(request, counters)
        else {
            panic!("it answers at once");
        };
        if self.free.is_some_and(|free| free(0, 0, BankPort::Read)) {
            assert_eq!((cached, from, until), (had, begin, end));
        }
        self.expected.insert((request.ticket.warp, request.ticket.pc), at);
        answer
    }

    fn hit_known_at(&self, now: u64) -> u64 {
        self.memory.hit_known_at(now)
    }

    fn step(&mut self, step: &mut dyn MemoryStep) {
        let Self { memory, free, expected, later, .. } = self;
        memory.step(&mut WatchedStep { step, free: *free, expected, later });
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        self.memory.next_event(now)
    }

    fn drained_at(&self) -> u64 {
        self.memory.drained_at()
    }

    fn is_busy(&self) -> bool {
        self.memory.is_busy()
    }

    fn hears_operands(&self) -> bool {
        true
    }

    fn operands(&mut self, reads: &OperandReads) -> Option<u64> {
        self.memory.operands(reads)
    }
}

/// Runs a grid, with ports that are free as said. Returns cycles, by how much later than with
/// registers apart the data of each access came, counts, and how many accesses were refused.
fn watch(
    cached: CachedSettings,
    free: Option<Free>,
    kernel: &Kernel,
    grid: &Grid,
    list: &OwnedList,
) -> (u64, Vec<u64>, CacheCounters, u64) {
    let [skipping, every_cycle] = [Pace::Skipping, Pace::EveryCycle].map(|pace| {
        let (mut tags, mut others) =
            [0; 2].map(|_| vec![Tag::EMPTY; Cache::tags(cached.cache_bytes)]).into();
        let mut cache = Cache::new(cached.cache_bytes, cached.ways, &mut tags).unwrap();
        let mut other = Cache::new(cached.cache_bytes, cached.ways, &mut others).unwrap();
        let list = list.borrow();
        let apart = CachedSettings { conflicts: BankConflicts::Apart, ..cached };
        let mut memory = Watched {
            memory: CachedMemory::new(cached, &FLAT.timing, &mut cache, list).unwrap(),
            apart: CachedMemory::new(apart, &FLAT.timing, &mut other, list).unwrap(),
            free,
            expected: BTreeMap::new(),
            later: Vec::new(),
            refused: 0,
        };
        let counters =
            simulate_over(Some(&mut memory), FLAT, kernel, 0, grid, pace, |_| {}).unwrap();
        (counters.cycles(), memory.later, *memory.memory.counters(), memory.refused)
    });
    // How often it asks again follows from the pace.
    assert_eq!(
        (&skipping.0, &skipping.1, &skipping.2),
        (&every_cycle.0, &every_cycle.1, &every_cycle.2)
    );
    skipping
}

/// Rows pass as ports are free, one of a cluster in a cycle or one of each of its banks.
#[test]
fn rows_pass_as_their_ports_are_free() {
    const BANK_0_FROM_3: Free = |cycle, bank, _| bank != 0 || cycle >= 3;
    const NO_READS_UNTIL_2: Free = |cycle, _, port| cycle >= 2 || port == BankPort::Write;
    const NO_WRITES_UNTIL_5: Free = |cycle, _, port| cycle >= 5 || port == BankPort::Read;
    const BANK_1_FROM_1: Free = |cycle, bank, _| bank != 1 || cycle >= 1;
    const BANKS_0_AND_1_FROM_3: Free = |cycle, bank, _| bank > 1 || cycle >= 3;
    type Case = (fn(u64) -> u64, LineUse, Free, [u64; 2]);
    let cases: [Case; 12] = [
        (|i| 4 * i, LineUse::Load, BANK_0_FROM_3, [3, 3]),
        (|i| 128 + 4 * i, LineUse::Load, BANK_0_FROM_3, [0, 0]),
        // Two rows of each cluster in banks 0 and 1: bank 1 goes first.
        (|i| 8 * i, LineUse::Load, BANK_0_FROM_3, [2, 3]),
        (|i| 8 * i, LineUse::Load, BANK_1_FROM_1, [0, 1]),
        // One row of each cluster in each bank: banks 2, 3, none, 0 and 1; or 2 with 3, 0 with 1.
        (|i| 16 * i, LineUse::Load, BANKS_0_AND_1_FROM_3, [1, 3]),
        // Eight rows of each bank in one cluster: in 32 or 8 cycles.
        (|i| 128 * i, LineUse::Load, BANK_0_FROM_3, [0, 3]),
        (|i| 512 * i, LineUse::Load, BANK_0_FROM_3, [3, 3]),
        (|i| 4 * i, LineUse::Load, NO_READS_UNTIL_2, [2, 2]),
        (|i| 4 * i, LineUse::Load, NO_WRITES_UNTIL_5, [0, 0]),
        // An atomic reads and writes.
        (|i| 4 * i, LineUse::Atomic, NO_WRITES_UNTIL_5, [5, 5]),
        // A volatile access does one of them.
        (|i| 4 * i, LineUse::BypassLoad, NO_WRITES_UNTIL_5, [0, 0]),
        (|i| 4 * i, LineUse::BypassStore, NO_READS_UNTIL_2, [0, 0]),
    ];
    let kernel = Kernel::default().shared_load(&[0], &[1]).alu(&[1], &[2]);
    for (number, (address, kind, free, later)) in cases.into_iter().enumerate() {
        let mut list = OwnedList::default();
        let access = list.add(AddressSpace::Shared, kind, address);
        let trace = OwnedTrace { accesses: vec![access], ..kernel.moving(&[]) };
        let grid = vec![vec![trace]];
        for (mapping, later) in
            [BankMapping::Simple, BankMapping::Aggressive].into_iter().zip(later)
        {
            let cached = CachedSettings { mapping, ..ARBITRATED };
            let (_, found, counters, _) = watch(cached, Some(free), &kernel, &grid, &list);
            assert_eq!(found, [later], "case {number}, {mapping:?}");
            assert_eq!(counters.get(CacheEvent::ArbitrationConflictCycle), later);
        }
    }
}

/// What gets no bank stands still, although its tags are looked up for longer than its rows pass.
#[test]
fn an_access_without_its_banks_stands_still() {
    const NO_READS_UNTIL_2: Free = |cycle, _, port| cycle >= 2 || port == BankPort::Write;
    let mut list = OwnedList::default();
    let access = load(&mut list, |i| 132 * i);
    let kernel = Kernel::default().load(&[0], &[1]);
    let trace = OwnedTrace { accesses: vec![access], ..kernel.moving(&[]) };
    let free = Some(NO_READS_UNTIL_2 as Free);
    let (_, later, counters, _) = watch(ARBITRATED, free, &kernel, &vec![vec![trace]], &list);
    // Its last line comes later from DRAM.
    assert_eq!(later, [0]);
    assert_eq!(counters.get(CacheEvent::ArbitrationConflictCycle), 2);
}

/// An atomic without a result reads R0, R4 and R8 in cycles 0 to 2, and its row in cycle 3.
#[test]
fn a_run_lasts_until_the_last_access_has_its_banks() {
    let mut list = OwnedList::default();
    let access = list.add(AddressSpace::Shared, LineUse::Atomic, |i| 4 * i);
    let kernel = Kernel::default().store(&[0, 4, 8]).with(|atomic| {
        atomic.space = Some(strata_core::image::MemorySpace::Shared);
    });
    let (counters, cache) = alone(FLAT, ARBITRATED, &kernel, &[access], &list);
    assert_eq!(counters.cycles(), 4);
    assert_eq!(cache.get(CacheEvent::ArbitrationConflictCycle), 3);
}

/// The line comes in cycle 400; its bank is written in cycle 399, or as soon as it can.
#[test]
fn a_line_waits_for_the_write_port_of_its_bank() {
    const NOT_BANK_0_IN_399: Free =
        |cycle, bank, port| port == BankPort::Read || bank != 0 || !(399..=400).contains(&cycle);
    let mut list = OwnedList::default();
    for (base, waits) in [(0, 2), (128, 0)] {
        let access = load(&mut list, move |i| base + 4 * i);
        let store = list.add(AddressSpace::Global, LineUse::Store, |i| 4096 + 4 * i);
        // r1 = [r0]; [r1] = ...; r2 = [r0]
        let kernel = Kernel::default().load(&[0], &[1]).store(&[1]).load(&[0], &[2]);
        let kernel = kernel.alu(&[2], &[3]);
        let trace = OwnedTrace { accesses: vec![access, store, access], ..kernel.moving(&[]) };
        let free = Some(NOT_BANK_0_IN_399 as Free);
        let (_, later, counters, _) = watch(ARBITRATED, free, &kernel, &vec![vec![trace]], &list);
        assert_eq!(counters.get(CacheEvent::FillWaitCycle), waits);
        // Who waits for the line has it as it comes; the second load, in cycle 401, finds it on
        // its way until 402.
        assert_eq!(later, [0; 3]);
        let merged = u64::from(waits == 2);
        assert_eq!(counters.get(CacheEvent::LoadMerged), merged);
        assert_eq!(counters.get(CacheEvent::LoadHit), 1 - merged);
    }
}

/// A kernel whose instructions of memory read one register each.
fn random_unified(random: &mut Random, register: impl Fn(&mut Random) -> u16) -> Kernel {
    let mut kernel = Kernel::default();
    for _ in 0..30 {
        let some = |random: &mut Random| -> Vec<u16> {
            (0..random.below(4)).map(|_| register(random)).collect()
        };
        let (address, result) = (register(random), register(random));
        kernel = match random.below(8) {
            0 => kernel.load(&[address], &[result]),
            1 => kernel.store(&[address]),
            2 | 3 => kernel.shared_load(&[address], &[result]),
            _ => kernel.alu(&some(random), &[result]),
        };
    }
    kernel
}

/// Warps that run a kernel once, with random accesses to lines of some banks.
fn random_accesses(
    random: &mut Random,
    kernel: &Kernel,
    warps: u32,
    banks: u32,
) -> (Grid, OwnedList) {
    let mut list = OwnedList::default();
    let mut warp = |random: &mut Random| {
        let mut trace = kernel.moving(&[]);
        for instruction in &kernel.instructions {
            if !instruction.moves_bytes() {
                continue;
            }
            let shared = instruction.space == Some(strata_core::image::MemorySpace::Shared);
            let space = if shared { AddressSpace::Shared } else { AddressSpace::Global };
            let stores = instruction.flags.contains(strata_core::image::Flags::STORE);
            let kinds = [LineUse::Load, LineUse::Load, LineUse::Load, LineUse::Atomic];
            let kind = if stores { LineUse::Store } else { one_of(random, &kinds) };
            let base = u64::from(512 * random.below(20) + 128 * random.below(banks));
            let stride = u64::from(one_of(random, &[0_u32, 4, 4, 4, 512, 516]));
            trace.accesses.push(list.add(space, kind, |lane| base + stride * lane % 4096));
        }
        trace
    };
    let grid = vec![(0..warps).map(|_| warp(random)).collect()];
    (grid, list)
}

/// Without a conflict the data of each access is there as if registers lay apart.
#[test]
fn without_conflicts_data_is_there_as_if_apart() {
    const ALWAYS: Free = |_, _, _| true;
    let (mut arrivals, mut hits) = (0, 0);
    for seed in 100..200 {
        let mut random = Random(seed);
        let kernel = random_unified(&mut random, |random| random.below(20) as u16);
        let warps = 1 + random.below(8);
        let (grid, list) = random_accesses(&mut random, &kernel, warps, 4);
        let mapping = one_of(&mut random, &[BankMapping::Simple, BankMapping::Aggressive]);
        let cache_bytes = 512 * (1 + random.below(40));
        let cached = CachedSettings { mapping, cache_bytes, ..ARBITRATED };
        let (_, later, counters, refused) = watch(cached, Some(ALWAYS), &kernel, &grid, &list);
        assert!(later.iter().all(|&later| later == 0), "seed {seed}: {later:?}");
        assert_eq!(counters.get(CacheEvent::ArbitrationConflictCycle), 0);
        assert_eq!(counters.get(CacheEvent::FillWaitCycle), 0);
        assert_eq!(refused, 0, "seed {seed}");
        arrivals += later.len();
        hits += counters.get(CacheEvent::LoadHit);
        // With registers in the way nothing is there earlier.
        let (_, later, counters, _) = watch(cached, None, &kernel, &grid, &list);
        let held = counters.get(CacheEvent::ArbitrationConflictCycle);
        assert!(held != 0 || later.iter().all(|&later| later == 0), "seed {seed}: {later:?}");
    }
    assert!(arrivals > 2000 && hits > 100, "{arrivals} {hits}");
}

/// A warp that is alone is never faster for conflicts, and as fast without.
#[test]
fn a_penalty_costs_cycles_where_registers_and_memory_meet() {
    let mut slower = 0;
    for seed in 300..420 {
        let mut random = Random(seed);
        let meet = seed % 2 == 0;
        let register = |random: &mut Random| {
            let number = random.below(if meet { 24 } else { 6 }) as u16;
            if meet { number } else { 4 * number + 3 }
        };
        let kernel = random_unified(&mut random, register);
        let (grid, list) = random_accesses(&mut random, &kernel, 1, if meet { 4 } else { 3 });
        // Strides of whole banks only, if they must not meet.
        let mapping = one_of(&mut random, &[BankMapping::Simple, BankMapping::Aggressive]);
        let settings = one_of(&mut random, &[FLAT, with_window_of_one(single_level(6))]);
        let run = |conflicts| {
            let cached = CachedSettings { mapping, conflicts, ..SETTINGS };
            run_over(settings, cached, &kernel, &grid, &list).unwrap()
        };
        let (apart, _) = run(BankConflicts::Apart);
        let [(any, counters), (read_write, others)] = [ANY, READ_WRITE].map(run);
        let [conflicts, fewer] =
            [counters, others].map(|of| of.get(CacheEvent::ArbitrationConflictCycle));
        assert!(any.cycles() >= apart.cycles(), "seed {seed}");
        assert!(fewer <= conflicts, "seed {seed}");
        for (of, conflicts) in [(any, conflicts), (read_write, fewer)] {
            if conflicts == 0 {
                assert_eq!(of, apart, "seed {seed}");
            }
            let delay = |of: &SmCounters| of.get(CycleEvent::OperandDelay);
            assert_eq!(delay(&of), delay(&apart) + conflicts, "seed {seed}");
        }
        slower += u64::from(any.cycles() > apart.cycles());
    }
    assert!(slower > 20, "{slower}");
}

#[test]
fn an_sm_whose_registers_cannot_lie_in_the_banks_is_refused() {
    let kernel = Kernel::default().alu(&[0], &[1]);
    let grid = vec![vec![kernel.straight()]];
    let collectors = OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM);
    let eight = OperandDelivery::FixedLatency { banks: 8 };
    for (settings, cached, error) in [
        (MICRO12, UNIFIED, BankConflictError::OperandWindow(3)),
        (
            SmSettings { operand_delivery: collectors, ..FLAT },
            UNIFIED,
            BankConflictError::Collectors(BankConflictKind::Penalty),
        ),
        (
            SmSettings { operand_delivery: collectors, ..FLAT },
            ARBITRATED,
            BankConflictError::Collectors(BankConflictKind::Arbitrated),
        ),
        (SmSettings { operand_delivery: eight, ..FLAT }, ARBITRATED, BankConflictError::Banks(8)),
    ] {
        let refused = run_over(settings, cached, &kernel, &grid, &OwnedList::default());
        assert_eq!(refused.unwrap_err(), Fault::BankConflicts(error));
        let timing = settings.timing.operand_window;
        assert_eq!(cached.check(settings.operand_delivery, timing), Err(error));
    }
}
