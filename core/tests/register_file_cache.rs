//! The register file cache rule by rule: each test is one sentence of `docs/MODEL.md`.

use strata_core::access::Access::{self, *};
use strata_core::register_file_cache::{
    Allocation, ConfigError, MAX_ENTRIES, Operands, RegisterFileCache, RegisterFileCacheConfig,
    Replacement,
};
use strata_core::units::{LaneMask, RegisterId};

const LEFT: LaneMask = LaneMask(0xffff_0000);
const RIGHT: LaneMask = LaneMask(0x0000_ffff);
const FULL: LaneMask = LaneMask::FULL;

/// The plain cache of the papers.
fn config(entries: u8) -> RegisterFileCacheConfig {
    RegisterFileCacheConfig {
        entries,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    }
}

/// A cache and everything it reported since it was last asked.
struct Bench {
    cache: RegisterFileCache<13>,
    seen: Vec<(Access, u16, LaneMask)>,
}

/// An instruction in the making.
#[derive(Clone, Copy, Default)]
struct Do<'a> {
    read: &'a [u16],
    dead: u32,
    read_unneeded: u32,
    write: &'a [u16],
    unneeded: u32,
    bypass: bool,
    mask: Option<LaneMask>,
}

impl Bench {
    fn new(config: RegisterFileCacheConfig) -> Self {
        Self { cache: RegisterFileCache::new(config).unwrap(), seen: Vec::new() }
    }

    /// Runs one instruction and returns what it did.
    fn run(&mut self, what: Do<'_>) -> Vec<(Access, u16, LaneMask)> {
        let ids = |registers: &[u16]| registers.iter().map(|&r| RegisterId(r)).collect::<Vec<_>>();
        let operands = Operands {
            sources: &ids(what.read),
            last_use: what.dead,
            last_use_before_deschedule: what.read_unneeded,
            destinations: &ids(what.write),
            not_read_before_deschedule: what.unneeded,
            bypass: what.bypass,
            mask: what.mask.unwrap_or(FULL),
        };
        let seen = &mut self.seen;
        self.cache.step(&operands, &mut |access, register: RegisterId, lanes| {
            seen.push((access, register.0, lanes));
        });
        std::mem::take(&mut self.seen)
    }

    fn write(&mut self, register: u16) -> Vec<(Access, u16, LaneMask)> {
        self.run(Do { write: &[register], ..Do::default() })
    }

    fn read(&mut self, register: u16) -> Vec<(Access, u16, LaneMask)> {
        self.run(Do { read: &[register], ..Do::default() })
    }

    fn resident(&self) -> Vec<u16> {
        self.cache.entries().map(|(register, ..)| register.0).collect()
    }

    fn end(&mut self, exit: bool) -> Vec<(Access, u16, LaneMask)> {
        let seen = &mut self.seen;
        let mut observe =
            |access, register: RegisterId, lanes| seen.push((access, register.0, lanes));
        if exit {
            self.cache.exit(&mut observe);
        } else {
            self.cache.flush(&mut observe);
        }
        std::mem::take(&mut self.seen)
    }
}

#[test]
fn rule_7_reads_come_before_the_write() {
    let mut bench = Bench::new(config(1));
    bench.write(1);
    // The instruction reads the register that its result evicts, and the one it writes.
    let seen = bench.run(Do { read: &[1, 2], write: &[2], ..Do::default() });
    let expected = [
        (RfcRead, 1, FULL),
        (MrfRead, 2, FULL),
        (RfcWrite, 2, FULL),
        (RfcWritebackEviction, 1, FULL),
        (RfcAllocation, 2, FULL),
    ];
    assert_eq!(seen, expected);
    assert_eq!(bench.read(2), [(RfcRead, 2, FULL)]);
}

#[test]
fn rule_8_rewriting_in_place_writes_nothing_back_and_keeps_the_fifo_age() {
    let mut bench = Bench::new(config(2));
    bench.write(1);
    bench.write(2);
    assert_eq!(bench.write(1), [(RfcWrite, 1, FULL)]);
    assert_eq!(bench.resident(), [1, 2]);
    let seen = bench.write(3);
    assert_eq!(
        seen,
        [(RfcWrite, 3, FULL), (RfcWritebackEviction, 1, FULL), (RfcAllocation, 3, FULL)]
    );
}

#[test]
fn rule_8_with_lru_rewriting_and_reading_make_an_entry_the_most_recent() {
    let mut bench =
        Bench::new(RegisterFileCacheConfig { replacement: Replacement::Lru, ..config(3) });
    for register in [1, 2, 3] {
        bench.write(register);
    }
    bench.write(1);
    assert_eq!(bench.resident(), [2, 3, 1]);
    bench.read(2);
    assert_eq!(bench.resident(), [3, 1, 2]);
    assert_eq!(bench.write(4)[1], (RfcWritebackEviction, 3, FULL));
    // Within an instruction, operand order decides.
    bench.run(Do { read: &[2, 1], ..Do::default() });
    assert_eq!(bench.resident(), [4, 2, 1]);
}

#[test]
fn fifo_does_not_care_about_reads() {
    let mut bench = Bench::new(config(2));
    bench.write(1);
    bench.write(2);
    bench.read(1);
    assert_eq!(bench.write(3)[1], (RfcWritebackEviction, 1, FULL));
}

#[test]
fn rule_9_a_partial_write_holds_its_lanes_only() {
    let mut bench = Bench::new(config(1));
    let seen = bench.run(Do { write: &[1], mask: Some(LEFT), ..Do::default() });
    assert_eq!(seen, [(RfcWrite, 1, LEFT), (RfcAllocation, 1, LEFT)]);
    // Inside: a hit. Across: both levels, both counted. Outside: the main register file alone.
    let read = |mask| Do { read: &[1], mask: Some(mask), ..Do::default() };
    assert_eq!(bench.run(read(LaneMask(1 << 31))), [(RfcRead, 1, LaneMask(1 << 31))]);
    let across = bench.run(read(FULL));
    assert_eq!(across, [(RfcRead, 1, LEFT), (MrfRead, 1, RIGHT), (RfcPartialHit, 1, LEFT)]);
    assert_eq!(bench.run(read(RIGHT)), [(MrfRead, 1, RIGHT)]);
    // Only the valid lanes are written back.
    assert_eq!(bench.end(false), [(RfcWritebackFlush, 1, LEFT)]);
}

#[test]
fn rule_9_partial_writes_add_lanes_to_the_entry() {
    let mut bench = Bench::new(config(1));
    bench.run(Do { write: &[1], mask: Some(LEFT), ..Do::default() });
    let seen = bench.run(Do { write: &[1], mask: Some(RIGHT), ..Do::default() });
    assert_eq!(seen, [(RfcWrite, 1, RIGHT)]);
    assert_eq!(bench.read(1), [(RfcRead, 1, FULL)]);
}

#[test]
fn rule_11_a_last_read_frees_the_entry_before_anything_is_evicted() {
    let mut bench = Bench::new(config(2));
    bench.write(1);
    bench.write(2);
    let seen = bench.run(Do { read: &[2], dead: 1, write: &[3], ..Do::default() });
    let expected =
        [(RfcRead, 2, FULL), (RfcDrop, 2, FULL), (RfcWrite, 3, FULL), (RfcAllocation, 3, FULL)];
    assert_eq!(seen, expected);
    assert_eq!(bench.resident(), [1, 3]);
}

#[test]
fn rule_11_a_register_read_twice_dies_after_both_reads() {
    let mut bench = Bench::new(config(2));
    bench.write(1);
    for dead in [0b10, 0b01] {
        let seen = bench.run(Do { read: &[1, 1], dead, ..Do::default() });
        assert_eq!(seen, [(RfcRead, 1, FULL), (RfcRead, 1, FULL), (RfcDrop, 1, FULL)]);
        bench.write(1);
    }
}

#[test]
fn rule_11_without_liveness_the_mark_means_nothing() {
    let mut bench = Bench::new(RegisterFileCacheConfig { liveness: false, ..config(1) });
    bench.write(1);
    let seen = bench.run(Do { read: &[1], dead: 1, ..Do::default() });
    assert_eq!(seen, [(RfcRead, 1, FULL)]);
    assert_eq!(bench.write(2)[1], (RfcWritebackEviction, 1, FULL));
}

#[test]
fn rule_12_a_bypassing_result_invalidates_the_stale_entry() {
    let mut bench = Bench::new(config(2));
    bench.write(1);
    let seen = bench.run(Do { write: &[1], bypass: true, ..Do::default() });
    assert_eq!(seen, [(MrfWrite, 1, FULL), (RfcDrop, 1, FULL)]);
    assert_eq!(bench.read(1), [(MrfRead, 1, FULL)]);
    // Lanes that the result does not write stay current in the entry.
    bench.write(1);
    let seen = bench.run(Do { write: &[1], bypass: true, mask: Some(LEFT), ..Do::default() });
    assert_eq!(seen, [(MrfWrite, 1, LEFT)]);
    let seen = bench.read(1);
    assert_eq!(seen, [(RfcRead, 1, RIGHT), (MrfRead, 1, LEFT), (RfcPartialHit, 1, RIGHT)]);
}

#[test]
fn rule_12_reads_allocate_clean_entries_in_operand_order_and_then_the_result() {
    let reads = RegisterFileCacheConfig { allocation: Allocation::WritesAndReads, ..config(2) };
    let mut bench = Bench::new(reads);
    let seen = bench.run(Do { read: &[1, 2], write: &[3], ..Do::default() });
    let expected = [
        (MrfRead, 1, FULL),
        (MrfRead, 2, FULL),
        (RfcFill, 1, FULL),
        (RfcAllocation, 1, FULL),
        (RfcFill, 2, FULL),
        (RfcAllocation, 2, FULL),
        (RfcWrite, 3, FULL),
        (RfcDrop, 1, FULL),
        (RfcAllocation, 3, FULL),
    ];
    assert_eq!(seen, expected);
    // Clean entries are dropped, dirty ones written back.
    assert_eq!(bench.end(false), [(RfcDrop, 2, FULL), (RfcWritebackFlush, 3, FULL)]);
}

#[test]
fn reads_allocate_each_register_once_and_nothing_dead() {
    let reads = RegisterFileCacheConfig { allocation: Allocation::WritesAndReads, ..config(4) };
    let mut bench = Bench::new(reads);
    let seen = bench.run(Do { read: &[1, 1], ..Do::default() });
    assert_eq!(
        seen,
        [(MrfRead, 1, FULL), (MrfRead, 1, FULL), (RfcFill, 1, FULL), (RfcAllocation, 1, FULL)]
    );
    let seen = bench.run(Do { read: &[2, 2], dead: 0b10, ..Do::default() });
    assert_eq!(seen, [(MrfRead, 2, FULL), (MrfRead, 2, FULL)]);
    // An operand that hit is not filled again when another operand's fill evicts it.
    let one = RegisterFileCacheConfig { entries: 1, ..reads };
    let mut bench = Bench::new(one);
    bench.write(1);
    let seen = bench.run(Do { read: &[2, 1], ..Do::default() });
    let expected = [
        (MrfRead, 2, FULL),
        (RfcRead, 1, FULL),
        (RfcFill, 2, FULL),
        (RfcWritebackEviction, 1, FULL),
        (RfcAllocation, 2, FULL),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_fill_of_missing_lanes_completes_the_entry() {
    let reads = RegisterFileCacheConfig { allocation: Allocation::WritesAndReads, ..config(1) };
    let mut bench = Bench::new(reads);
    bench.run(Do { write: &[1], mask: Some(LEFT), ..Do::default() });
    let seen = bench.read(1);
    let expected =
        [(RfcRead, 1, LEFT), (MrfRead, 1, RIGHT), (RfcPartialHit, 1, LEFT), (RfcFill, 1, RIGHT)];
    assert_eq!(seen, expected);
    assert_eq!(bench.read(1), [(RfcRead, 1, FULL)]);
}

#[test]
fn rule_13_what_is_not_read_before_the_deschedule_skips_the_cache() {
    let bypass = RegisterFileCacheConfig { liveness_aware_bypass: true, ..config(2) };
    let mut bench = Bench::new(bypass);
    bench.write(1);
    let seen = bench.run(Do { write: &[1, 2], unneeded: 0b01, ..Do::default() });
    let expected =
        [(MrfWrite, 1, FULL), (RfcDrop, 1, FULL), (RfcWrite, 2, FULL), (RfcAllocation, 2, FULL)];
    assert_eq!(seen, expected);
    // Without the option the hint changes nothing.
    let seen = Bench::new(config(2)).run(Do { write: &[1], unneeded: 1, ..Do::default() });
    assert_eq!(seen, [(RfcWrite, 1, FULL), (RfcAllocation, 1, FULL)]);
    // An operand that is not read again is not allocated either.
    let mut bench =
        Bench::new(RegisterFileCacheConfig { allocation: Allocation::WritesAndReads, ..bypass });
    let seen = bench.run(Do { read: &[5], read_unneeded: 1, ..Do::default() });
    assert_eq!(seen, [(MrfRead, 5, FULL)]);
}

#[test]
fn rule_13_the_victim_is_the_oldest_entry_not_read_before_the_deschedule() {
    let eviction = RegisterFileCacheConfig { liveness_aware_eviction: true, ..config(4) };
    let mut bench = Bench::new(eviction);
    for (register, unneeded) in [(1, 0), (2, 1), (3, 1), (4, 0)] {
        bench.run(Do { write: &[register], unneeded, ..Do::default() });
    }
    assert_eq!(bench.write(5)[1], (RfcWritebackEviction, 2, FULL));
    assert_eq!(bench.write(6)[1], (RfcWritebackEviction, 3, FULL));
    // None is marked any more: the oldest.
    assert_eq!(bench.write(7)[1], (RfcWritebackEviction, 1, FULL));
    // A read may mark an entry, and a later write of the register unmarks it.
    bench.run(Do { read: &[5, 6], read_unneeded: 0b11, ..Do::default() });
    bench.write(5);
    assert_eq!(bench.write(8)[1], (RfcWritebackEviction, 6, FULL));
}

#[test]
fn rule_14_at_exit_liveness_writes_nothing_back() {
    let mut bench = Bench::new(config(3));
    bench.write(2);
    bench.write(1);
    assert_eq!(bench.end(true), [(RfcDrop, 2, FULL), (RfcDrop, 1, FULL)]);
    let mut bench = Bench::new(RegisterFileCacheConfig { liveness: false, ..config(3) });
    bench.write(2);
    bench.write(1);
    assert_eq!(bench.end(true), [(RfcWritebackFlush, 2, FULL), (RfcWritebackFlush, 1, FULL)]);
    assert_eq!(bench.resident(), []);
}

#[test]
fn rule_14_flushes_go_from_the_oldest_to_the_youngest() {
    let mut bench = Bench::new(config(4));
    for register in [7, 3, 9, 1] {
        bench.write(register);
    }
    bench.run(Do { read: &[3], dead: 1, ..Do::default() });
    bench.write(4);
    let order: Vec<_> = bench.end(false).iter().map(|&(_, register, _)| register).collect();
    assert_eq!(order, [7, 9, 1, 4]);
    assert_eq!(bench.end(false), []);
}

#[test]
fn a_pair_of_results_takes_two_entries_even_when_there_is_one() {
    let mut bench = Bench::new(config(1));
    let seen = bench.run(Do { write: &[2, 3], ..Do::default() });
    let expected = [
        (RfcWrite, 2, FULL),
        (RfcAllocation, 2, FULL),
        (RfcWrite, 3, FULL),
        (RfcWritebackEviction, 2, FULL),
        (RfcAllocation, 3, FULL),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn the_last_register_and_the_largest_cache_work() {
    let mut bench = Bench::new(config(MAX_ENTRIES));
    assert_eq!(bench.read(0), [(MrfRead, 0, FULL)]);
    for register in 0..u16::from(MAX_ENTRIES) {
        bench.write(u16::MAX - register);
    }
    assert_eq!(bench.read(u16::MAX), [(RfcRead, u16::MAX, FULL)]);
    assert_eq!(bench.write(0)[1], (RfcWritebackEviction, u16::MAX, FULL));
}

#[test]
fn impossible_configurations_are_refused() {
    let build = RegisterFileCache::<4>::new;
    assert_eq!(build(config(0)).unwrap_err(), ConfigError::NoEntries);
    let too_many = |requested, limit| ConfigError::TooManyEntries { requested, limit };
    assert_eq!(build(config(5)).unwrap_err(), too_many(5, 4));
    assert_eq!(build(config(14)).unwrap_err(), too_many(14, MAX_ENTRIES));
    assert!(build(config(4)).is_ok());
    for (liveness_aware_bypass, liveness_aware_eviction) in [(true, false), (false, true)] {
        let without = RegisterFileCacheConfig {
            liveness: false,
            liveness_aware_bypass,
            liveness_aware_eviction,
            ..config(4)
        };
        assert_eq!(build(without).unwrap_err(), ConfigError::NeedsLiveness);
    }
    assert_eq!(too_many(5, 4).to_string(), "5 entries are more than the 4 possible");
}
