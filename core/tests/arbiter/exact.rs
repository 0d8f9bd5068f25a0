//! Exact cases of `[WARRF]` 3.2 and 4.2, cycle by cycle, through the whole arbiter.
//!
//! In all of them there are 4 banks and 8 registers a warp, one after another: `r1` and `r5` of every
//! warp lie in bank 1, `r1` in subarray 0 and `r5` in subarray 1. Writes take 3 cycles.

use strata_core::arbiter::{
    Arbiter, ArbiterConfig, ArbiterError, BankPorts, BankedRegister, Queues, WriteTarget,
};
use strata_core::bank_layout::BankLayout;
use strata_core::datapath::Datapath;
use strata_core::split_bank_write::MAX_BANKS;
use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::{MAX_ENTRIES, PoolPorts, PoolRead, PoolTooLarge};

use super::reference::{Name, Outcome};
use super::stream::Memory;

const LOW: LaneMask = LaneMask(0x0000_ffff);
const HIGH: LaneMask = LaneMask(0xffff_0000);
const NOTHING: [&str; 0] = [];

const CONFIG: ArbiterConfig = ArbiterConfig {
    banks: 4,
    other_banks: 0,
    bank_ports: BankPorts::One,
    bank_layout: BankLayout::Linear,
    read_cycles: 1,
    write_cycles: 3,
    split_bank_write: false,
    write_pool_entries: 0,
    write_pool_ports: PoolPorts::Any(1),
    registers_per_warp: 8,
};

struct Scene {
    memory: Memory,
    asked: usize,
}

impl Scene {
    fn new(config: ArbiterConfig) -> Self {
        Self { memory: Memory::new(config, 4, 32), asked: 0 }
    }

    fn split() -> Self {
        Self::new(ArbiterConfig { split_bank_write: true, ..CONFIG })
    }

    fn pool(entries: u8) -> Self {
        Self::new(ArbiterConfig { write_pool_entries: entries, ..CONFIG })
    }

    fn split_pool(entries: u8) -> Self {
        let write_pool_entries = entries;
        Self::new(ArbiterConfig { split_bank_write: true, write_pool_entries, ..CONFIG })
    }

    /// A pool whose entries were written one a cycle up to cycle 9, the last most recently.
    fn with(mut self, names: &[Name]) -> Self {
        for (now, &name) in (10 - names.len() as u64..).zip(names) {
            self.write(name, LaneMask::FULL, now);
            assert_eq!(self.cycle(now).len(), 1, "there is room for {name:?}");
        }
        self
    }

    fn read_lanes(&mut self, unit: u8, (warp, register): Name, lanes: LaneMask) {
        let element = self.asked;
        self.asked += 1;
        let (arbiter, mut queues) = self.memory.parts();
        let of = (warp, RegisterId(register), lanes);
        arbiter.ask_read(&mut queues, element, (unit, Datapath::Private), of);
    }

    fn read(&mut self, unit: u8, name: Name) {
        self.read_lanes(unit, name, LaneMask::FULL);
    }

    fn write(&mut self, (warp, register): Name, lanes: LaneMask, now: u64) {
        let (arbiter, mut queues) = self.memory.parts();
        arbiter.ask_write(&mut queues, (warp, RegisterId(register), lanes), now);
    }

    /// Asks for a write, and says what happens in the cycle.
    fn write_now(&mut self, name: Name, now: u64) -> Vec<String> {
        self.write(name, LaneMask::FULL, now);
        self.cycle(now)
    }

    fn outcomes(&mut self, now: u64) -> Vec<Outcome> {
        self.memory.cycle(now, &|_| LaneMask::EMPTY)
    }

    /// What happens in a cycle, in its order.
    fn cycle(&mut self, now: u64) -> Vec<String> {
        self.outcomes(now).iter().map(say).collect()
    }

    /// The pool's registers, the most recently used first.
    fn order(&self) -> Vec<Name> {
        self.memory.pool().iter().map(|entry| (entry.warp, entry.register.0)).collect()
    }

    fn write_busy(&self, bank: usize, now: u64) -> u64 {
        self.memory.arbiter.banks().write_busy(bank, now)
    }
}

/// An outcome in short, such as `u0 w0r1 bank` of a read for unit 0.
fn say(outcome: &Outcome) -> String {
    match *outcome {
        Outcome::Read(grant) => {
            let from = match grant.pool {
                PoolRead::Miss => "bank",
                PoolRead::Hit => "pool",
                PoolRead::PartialHit => "pool and bank",
            };
            let beside = if grant.beside_write { " beside a write" } else { "" };
            format!("u{} w{}r{} {from}{beside}", grant.unit, grant.warp, grant.register.0)
        }
        Outcome::Write(grant) => {
            let to = match grant.target {
                WriteTarget::Bank => "bank".to_owned(),
                WriteTarget::PoolHit => "hit".to_owned(),
                WriteTarget::PoolAllocation => "new".to_owned(),
                WriteTarget::PoolReplacement { victim, bank } => {
                    format!("for w{}r{} of bank {bank}", victim.warp, victim.register.0)
                }
            };
            format!("w{}r{} {to}", grant.warp, grant.register.0)
        }
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_laid_out() {
    let mut registers = [BankedRegister::NONE; 1];
    let mut queues = Queues { reads: &mut [], registers: &mut registers, cell_writes: &mut [] };
    let mut refused = |config| Arbiter::new(&config, &mut queues).err();
    for banks in [0, MAX_BANKS as u8 + 1] {
        let config = ArbiterConfig { banks, ..CONFIG };
        assert_eq!(refused(config), Some(ArbiterError::Banks(banks)));
    }
    let none = ArbiterConfig { registers_per_warp: 0, ..CONFIG };
    assert_eq!(refused(none), Some(ArbiterError::NoRegisters));
    let limit = MAX_ENTRIES as u8;
    let large = ArbiterConfig { write_pool_entries: limit + 1, ..CONFIG };
    let error = PoolTooLarge { entries: limit + 1, limit: MAX_ENTRIES };
    assert_eq!(refused(large), Some(ArbiterError::WritePool(error)));
    assert_eq!(refused(ArbiterConfig { write_pool_entries: limit, ..CONFIG }), None);
    let plain = ArbiterConfig { write_pool_entries: 0, split_bank_write: false, ..CONFIG };
    let others = ArbiterConfig { other_banks: 2, ..plain };
    assert_eq!(refused(others), None);
    for beside in [
        ArbiterConfig { write_pool_entries: 1, ..others },
        ArbiterConfig { split_bank_write: true, ..others },
    ] {
        assert_eq!(refused(beside), Some(ArbiterError::OtherBanks));
    }
}

#[test]
fn a_read_of_the_other_subarray_goes_on_while_a_write_has_two_cycles_left() {
    let mut scene = Scene::split();
    assert_eq!(scene.write_now((0, 5), 10), ["w0r5 bank"]);
    scene.read(0, (0, 1));
    let banks = scene.memory.arbiter.banks();
    assert_eq!((banks.write_busy(1, 11), banks.written_subarray(1)), (2, 1));
    assert_eq!(scene.cycle(11), ["u0 w0r1 bank beside a write"]);
}

#[test]
fn without_split_bank_write_the_same_read_waits_for_the_end_of_the_write() {
    let mut scene = Scene::new(CONFIG);
    assert_eq!(scene.write_now((0, 5), 10), ["w0r5 bank"]);
    scene.read(0, (0, 1));
    assert_eq!(scene.write_busy(1, 11), 2);
    assert_eq!(scene.cycle(11), NOTHING);
    assert_eq!(scene.cycle(12), NOTHING);
    assert_eq!(scene.cycle(13), ["u0 w0r1 bank"]);
}

#[test]
fn a_read_of_the_written_subarray_waits_for_the_end_of_the_write() {
    let mut scene = Scene::split();
    assert_eq!(scene.write_now((0, 5), 10), ["w0r5 bank"]);
    scene.read(0, (1, 5));
    assert_eq!(scene.cycle(11), NOTHING);
    assert_eq!(scene.cycle(12), NOTHING);
    assert_eq!(scene.cycle(13), ["u0 w1r5 bank"]);
}

#[test]
fn the_write_busy_buffer_counts_down_from_one_less_than_the_cycles_of_a_write() {
    let mut scene = Scene::new(CONFIG);
    scene.write_now((0, 6), 10);
    let busy: Vec<_> = (11..15).map(|now| scene.write_busy(2, now)).collect();
    assert_eq!(busy, [2, 1, 0, 0]);
    assert_eq!(scene.write_busy(1, 11), 0);

    let mut scene = Scene::new(ArbiterConfig { write_cycles: 1, ..CONFIG });
    scene.write_now((0, 6), 10);
    assert_eq!(scene.write_busy(2, 11), 0);
    assert_eq!(scene.write_now((0, 2), 11), ["w0r2 bank"]);
}

#[test]
fn two_writes_of_a_bank_follow_each_other_even_in_different_subarrays() {
    let mut scene = Scene::split();
    scene.write((0, 1), LaneMask::FULL, 10);
    scene.write((0, 5), LaneMask::FULL, 10);
    scene.write((0, 2), LaneMask::FULL, 10);
    assert_eq!(scene.cycle(10), ["w0r1 bank", "w0r2 bank"]);
    assert_eq!(scene.cycle(12), NOTHING);
    assert_eq!(scene.cycle(13), ["w0r5 bank"]);
}

#[test]
fn two_reads_of_a_bank_follow_each_other_even_in_different_subarrays() {
    let config = ArbiterConfig { read_cycles: 2, split_bank_write: true, ..CONFIG };
    let mut scene = Scene::new(config);
    scene.read(0, (0, 1));
    scene.read(1, (0, 5));
    assert_eq!(scene.cycle(10), ["u0 w0r1 bank"]);
    assert_eq!(scene.cycle(11), NOTHING);
    assert_eq!(scene.cycle(12), ["u1 w0r5 bank"]);
}

#[test]
fn the_subarray_id_buffer_follows_the_last_write() {
    let mut scene = Scene::split();
    for (now, register, subarray) in [(10, 5, 1), (13, 1, 0), (16, 5, 1)] {
        assert_eq!(scene.write_now((0, register), now), [format!("w0r{register} bank")]);
        assert_eq!(scene.memory.arbiter.banks().written_subarray(1), subarray);
        assert_eq!(scene.memory.arbiter.banks().written_subarray(2), 0);
    }
    assert_eq!((scene.memory.cell_writes[1], scene.memory.cell_writes[5]), (1, 2));
}

#[test]
fn a_read_is_beside_a_write_up_to_the_last_cycle_of_that() {
    let mut scene = Scene::split();
    scene.write_now((0, 5), 10);
    scene.read(0, (0, 1));
    assert_eq!(scene.cycle(12), ["u0 w0r1 bank beside a write"]);
    scene.read(0, (0, 1));
    assert_eq!(scene.cycle(13), ["u0 w0r1 bank"]);
}

#[test]
fn warps_follow_each_other_through_the_banks() {
    // 4 banks and 6 registers a warp: register 0 of warp 1 is number 6, in bank 2, subarray 1.
    let config = ArbiterConfig { registers_per_warp: 6, split_bank_write: true, ..CONFIG };
    let mut scene = Scene::new(config);
    scene.write((1, 0), LaneMask::FULL, 10);
    let [Outcome::Write(write)] = scene.outcomes(10)[..] else { panic!("a write") };
    assert_eq!((write.bank, scene.memory.arbiter.banks().written_subarray(2)), (2, 1));
    assert_eq!(scene.memory.cell_writes[6], 1);
    // Number 2 is in the same bank's subarray 0, number 14 in its subarray 1.
    scene.read(0, (0, 2));
    scene.read(1, (2, 2));
    assert_eq!(scene.cycle(11), ["u0 w0r2 bank beside a write"]);
    assert_eq!(scene.cycle(12), NOTHING);
    assert_eq!(scene.cycle(13), ["u1 w2r2 bank"]);
}

#[test]
fn skewed_warps_have_the_same_register_in_different_banks() {
    // 4 banks and 6 registers: register 0 of warp 1 is in bank 1, row 2, subarray 1.
    let bank_layout = BankLayout::WarpSkewed;
    let config =
        ArbiterConfig { registers_per_warp: 6, split_bank_write: true, bank_layout, ..CONFIG };
    let mut scene = Scene::new(config);
    scene.write((1, 0), LaneMask::FULL, 10);
    scene.write((0, 0), LaneMask::FULL, 10);
    let [Outcome::Write(first), Outcome::Write(second)] = scene.outcomes(10)[..] else {
        panic!("two writes")
    };
    assert_eq!((first.warp, first.bank, second.warp, second.bank), (0, 0, 1, 1));
    let banks = scene.memory.arbiter.banks();
    assert_eq!((banks.written_subarray(0), banks.written_subarray(1)), (0, 1));
    // Cells are those of row 2 and bank 1.
    assert_eq!((scene.memory.cell_writes[0], scene.memory.cell_writes[9]), (1, 1));
    // Register 1 of warp 0 is in the bank's subarray 0; register 4 of warp 1 in bank 1 as well, a
    // row on, in subarray 0; register 5 of warp 0 in its subarray 1.
    scene.read(0, (0, 1));
    scene.read(1, (0, 5));
    assert_eq!(scene.cycle(11), ["u0 w0r1 bank beside a write"]);
    assert_eq!(scene.cycle(12), NOTHING);
    scene.read(2, (1, 4));
    assert_eq!(scene.cycle(13), ["u1 w0r5 bank"]);
    assert_eq!(scene.cycle(14), ["u2 w1r4 bank"]);
}

#[test]
fn writes_come_before_reads_and_share_the_bank_only_if_it_is_split() {
    for (split_bank_write, second) in [(false, None), (true, Some("u0 w0r5 bank beside a write"))] {
        let mut scene = Scene::new(ArbiterConfig { split_bank_write, ..CONFIG });
        scene.read(0, (0, 5));
        let expected: Vec<_> = ["w0r1 bank"].into_iter().chain(second).collect();
        assert_eq!(scene.write_now((0, 1), 10), expected);
    }
}

#[test]
fn a_write_says_how_long_it_waited_and_each_access_when_it_ends() {
    let mut scene = Scene::new(ArbiterConfig { read_cycles: 2, ..CONFIG });
    scene.read(7, (0, 1));
    scene.write((0, 5), LaneMask::FULL, 10);
    let [Outcome::Write(write)] = scene.outcomes(10)[..] else { panic!("a write") };
    assert_eq!((write.waited, write.until, write.bank), (0, 13, 1));
    assert_eq!((scene.cycle(12).len(), scene.memory.arbiter.queued_reads()), (0, 1));
    let [Outcome::Read(read)] = scene.outcomes(13)[..] else { panic!("a read") };
    assert_eq!((read.until, read.bank, scene.memory.arbiter.queued_reads()), (15, 1, 0));
    // The read has its bank for two cycles.
    scene.write((0, 1), LaneMask::FULL, 14);
    assert_eq!(scene.cycle(14), NOTHING);
    let [Outcome::Write(write)] = scene.outcomes(15)[..] else { panic!("a write") };
    assert_eq!((write.waited, write.until), (1, 18));
}

#[test]
fn the_pool_takes_a_cycle_whatever_an_access_of_a_bank_takes() {
    let config = ArbiterConfig { read_cycles: 3, write_pool_entries: 1, ..CONFIG };
    let mut scene = Scene::new(config).with(&[(0, 1)]);
    scene.read(0, (0, 1));
    let [Outcome::Read(read)] = scene.outcomes(10)[..] else { panic!("a read") };
    assert_eq!(read.until, 11);
    scene.write((0, 2), LaneMask::FULL, 11);
    let [Outcome::Write(write)] = scene.outcomes(11)[..] else { panic!("a write") };
    assert_eq!(write.until, 12);
}

#[test]
fn the_pool_serves_a_read_whose_home_bank_is_busy() {
    let mut scene = Scene::pool(2).with(&[(0, 5), (0, 1)]);
    assert_eq!(scene.write_now((0, 2), 10), ["w0r2 for w0r5 of bank 1"]);
    scene.read(0, (0, 1));
    assert_eq!(scene.write_busy(1, 11), 2);
    assert_eq!(scene.cycle(11), ["u0 w0r1 pool"]);
    assert_eq!(scene.order(), [(0, 1), (0, 2)]);
}

#[test]
fn a_read_miss_reads_the_bank_and_allocates_nothing() {
    let mut scene = Scene::pool(2).with(&[(0, 5)]);
    scene.read(0, (0, 1));
    scene.read(1, (1, 5));
    assert_eq!(scene.cycle(10), ["u0 w0r1 bank"]);
    assert_eq!(scene.cycle(11), ["u1 w1r5 bank"]);
    assert_eq!(scene.order(), [(0, 5)]);
}

#[test]
fn a_write_hit_stays_in_its_entry_and_costs_no_write_of_a_bank() {
    let mut scene = Scene::pool(2).with(&[(0, 5), (0, 1)]);
    assert_eq!(scene.write_now((0, 5), 10), ["w0r5 hit"]);
    assert_eq!(scene.order(), [(0, 5), (0, 1)]);
    assert!(scene.memory.cell_writes.iter().all(|&writes| writes == 0));
}

#[test]
fn a_write_miss_takes_an_empty_entry_while_there_is_one() {
    let mut scene = Scene::pool(2);
    assert_eq!(scene.write_now((0, 5), 10), ["w0r5 new"]);
    assert_eq!(scene.write_now((1, 5), 11), ["w1r5 new"]);
    assert_eq!(scene.order(), [(1, 5), (0, 5)]);
    assert!(scene.memory.cell_writes.iter().all(|&writes| writes == 0));
}

#[test]
fn a_write_miss_without_room_writes_the_least_recently_used_entry_to_its_bank() {
    let mut scene = Scene::pool(2).with(&[(1, 6), (0, 1)]);
    assert_eq!(scene.write_now((0, 3), 10), ["w0r3 for w1r6 of bank 2"]);
    assert_eq!(scene.order(), [(0, 3), (0, 1)]);
    assert_eq!((scene.write_busy(2, 11), scene.write_busy(3, 11)), (2, 0));
    let written: Vec<_> = (0..32).filter(|&n| scene.memory.cell_writes[n] > 0).collect();
    assert_eq!((written, scene.memory.cell_writes[14]), (vec![14], 1));
}

#[test]
fn a_write_waits_where_its_victim_s_bank_is_written_split_or_not() {
    for scene in [Scene::pool(1), Scene::split_pool(1)] {
        let mut scene = scene.with(&[(0, 1)]);
        assert_eq!(scene.write_now((0, 5), 10), ["w0r5 for w0r1 of bank 1"]);
        assert_eq!(scene.write_now((0, 2), 11), NOTHING);
        assert_eq!(scene.cycle(12), NOTHING);
        assert_eq!(scene.order(), [(0, 5)]);
        assert_eq!(scene.cycle(13), ["w0r2 for w0r5 of bank 1"]);
    }
}

#[test]
fn a_write_waits_where_its_victim_s_bank_is_read_unless_in_the_other_subarray() {
    for (split_bank_write, read, waits) in
        [(false, (1, 1), true), (false, (0, 5), true), (true, (1, 1), true), (true, (0, 5), false)]
    {
        let config =
            ArbiterConfig { read_cycles: 3, split_bank_write, write_pool_entries: 1, ..CONFIG };
        let mut scene = Scene::new(config).with(&[(0, 1)]);
        scene.read(0, read);
        assert_eq!(scene.cycle(10).len(), 1);
        let replaces = ["w0r2 for w0r1 of bank 1"];
        if waits {
            assert_eq!(scene.write_now((0, 2), 11), NOTHING, "{read:?}");
            assert_eq!(scene.cycle(12), NOTHING);
            assert_eq!((scene.order(), scene.memory.cell_writes[1]), (vec![(0, 1)], 0));
            assert_eq!(scene.cycle(13), replaces);
        } else {
            assert_eq!(scene.write_now((0, 2), 11), replaces);
        }
    }
}

#[test]
fn a_write_that_waits_for_its_victim_leaves_the_pool_to_reads_and_to_no_write() {
    let mut scene = Scene::pool(2).with(&[(0, 1), (0, 5)]);
    scene.write_now((0, 2), 10);
    assert_eq!(scene.order(), [(0, 2), (0, 5)]);
    scene.write((0, 3), LaneMask::FULL, 11);
    scene.write((0, 2), LaneMask::FULL, 11);
    // The second write would hit, but it is not the first of the queue.
    assert_eq!(scene.cycle(11), NOTHING);
    scene.read(0, (0, 5));
    assert_eq!(scene.cycle(12), ["u0 w0r5 pool"]);
    // The read has made another entry the victim.
    assert_eq!(scene.cycle(13), ["w0r3 for w0r2 of bank 2"]);
    assert_eq!(scene.cycle(14), ["w0r2 for w0r5 of bank 1"]);
}

#[test]
fn what_is_read_of_the_pool_is_replaced_later() {
    let mut scene = Scene::pool(2).with(&[(0, 1), (0, 2)]);
    scene.read(0, (0, 1));
    assert_eq!(scene.cycle(10), ["u0 w0r1 pool"]);
    assert_eq!(scene.write_now((0, 3), 11), ["w0r3 for w0r2 of bank 2"]);
}

#[test]
fn entries_of_a_demoted_warp_are_replaced_first_in_the_order_of_their_use() {
    let mut scene = Scene::pool(4).with(&[(0, 0), (1, 1), (0, 2), (1, 3)]);
    scene.memory.arbiter.demote(1);
    assert_eq!(scene.order(), [(0, 2), (0, 0), (1, 3), (1, 1)]);
    assert_eq!(scene.write_now((2, 4), 10), ["w2r4 for w1r1 of bank 1"]);
    assert_eq!(scene.write_now((2, 5), 11), ["w2r5 for w1r3 of bank 3"]);
    assert_eq!(scene.write_now((2, 6), 12), ["w2r6 for w0r0 of bank 0"]);
}

#[test]
fn the_warp_demoted_last_is_replaced_first_and_use_brings_an_entry_back() {
    let mut scene = Scene::pool(3).with(&[(0, 0), (1, 1), (2, 2)]);
    scene.memory.arbiter.demote(2);
    scene.memory.arbiter.demote(1);
    assert_eq!(scene.order(), [(0, 0), (2, 2), (1, 1)]);
    assert_eq!(scene.write_now((1, 1), 10), ["w1r1 hit"]);
    assert_eq!(scene.write_now((3, 3), 11), ["w3r3 for w2r2 of bank 2"]);
}

#[test]
fn a_pool_of_one_entry_holds_the_last_register_written() {
    let mut scene = Scene::pool(1);
    assert_eq!(scene.write_now((0, 1), 10), ["w0r1 new"]);
    assert_eq!(scene.write_now((0, 1), 11), ["w0r1 hit"]);
    assert_eq!(scene.write_now((0, 2), 12), ["w0r2 for w0r1 of bank 1"]);
    scene.memory.arbiter.demote(0);
    scene.read(0, (0, 1));
    scene.read(1, (0, 2));
    assert_eq!(scene.cycle(13), ["u1 w0r2 pool"]);
    assert_eq!(scene.write_now((0, 1), 14), NOTHING);
    assert_eq!(scene.cycle(15), ["u0 w0r1 bank"]);
    assert_eq!(scene.cycle(16), ["w0r1 for w0r2 of bank 2"]);
    assert_eq!(scene.memory.arbiter.drop_warp(0), 1);
    assert_eq!(scene.write_now((0, 2), 17), ["w0r2 new"]);
}

#[test]
fn ports_say_what_the_pool_does_in_a_cycle() {
    let [both, writes] = [["w1r0 new", "u0 w0r1 pool"], ["w1r0 new", "w1r3 new"]];
    for (write_pool_ports, first, second) in [
        (PoolPorts::Any(1), &both[..1], &["w1r3 new"][..]),
        (PoolPorts::OneReadOneWrite, &both[..], &["w1r3 new", "u1 w0r2 pool"][..]),
        (PoolPorts::Any(2), &writes[..], &["u0 w0r1 pool", "u1 w0r2 pool"][..]),
        (PoolPorts::Any(3), &["w1r0 new", "w1r3 new", "u0 w0r1 pool"][..], &["u1 w0r2 pool"][..]),
    ] {
        let config = ArbiterConfig { write_pool_entries: 4, write_pool_ports, ..CONFIG };
        let mut scene = Scene::new(config).with(&[(0, 1), (0, 2)]);
        scene.read(0, (0, 1));
        scene.read(1, (0, 2));
        scene.write((1, 0), LaneMask::FULL, 12);
        scene.write((1, 3), LaneMask::FULL, 12);
        assert_eq!(scene.cycle(12), first, "{write_pool_ports:?}");
        // Banks have their turn from the first on.
        assert_eq!(scene.cycle(16), second, "{write_pool_ports:?}");
    }
}

#[test]
fn a_write_that_takes_an_entry_s_place_leaves_the_read_port_free() {
    let write_pool_ports = PoolPorts::OneReadOneWrite;
    let config = ArbiterConfig { write_pool_entries: 2, write_pool_ports, ..CONFIG };
    let mut scene = Scene::new(config).with(&[(0, 1), (0, 2)]);
    scene.read(0, (0, 2));
    let expected = ["w0r3 for w0r1 of bank 1", "u0 w0r2 pool"];
    assert_eq!(scene.write_now((0, 3), 10), expected);
}

#[test]
fn a_write_that_follows_another_of_its_register_joins_the_queue_when_that_happens() {
    let of_r1 = |name| if name == (0, 1) { LOW } else { LaneMask::EMPTY };
    let mut scene = Scene::new(CONFIG);
    scene.write((0, 1), LaneMask::FULL, 10);
    scene.write((0, 5), LaneMask::FULL, 10);
    assert_eq!(scene.memory.cycle(10, &of_r1).len(), 1);
    assert_eq!(scene.cycle(13), ["w0r5 bank"]);
    let [Outcome::Write(write)] = scene.outcomes(16)[..] else { panic!("a write") };
    assert_eq!((write.register, write.waited, write.until), (RegisterId(1), 6, 19));
    assert!(scene.memory.arbiter.is_idle());

    // The pool takes each of its lanes.
    let mut scene = Scene::pool(2);
    scene.write((0, 1), HIGH, 10);
    scene.write((0, 5), HIGH, 10);
    assert_eq!(scene.memory.cycle(10, &of_r1).len(), 1);
    assert_eq!(scene.cycle(11), ["w0r5 new"]);
    assert_eq!(scene.cycle(12), ["w0r1 hit"]);
    assert_eq!(scene.memory.pool()[0].lanes, LaneMask::FULL);
}

#[test]
fn a_write_and_those_behind_it_wait_for_a_read_of_its_register() {
    let mut scene = Scene::new(CONFIG);
    scene.write_now((0, 5), 10);
    scene.read(0, (0, 1));
    scene.write((0, 1), LaneMask::FULL, 11);
    scene.write((0, 5), LaneMask::FULL, 11);
    for now in 11..13 {
        assert_eq!(scene.cycle(now), NOTHING);
    }
    assert_eq!(scene.cycle(13), ["u0 w0r1 bank"]);
    assert_eq!(scene.cycle(14), ["w0r1 bank"]);
    assert_eq!(scene.cycle(17), ["w0r5 bank"]);
}

#[test]
fn a_write_waits_for_a_read_of_its_register_in_either_subarray() {
    for (register, other) in [(1, 5), (5, 1)] {
        let mut scene = Scene::split();
        scene.write_now((1, register), 10);
        scene.read(0, (0, register));
        scene.write((0, register), LaneMask::FULL, 13);
        assert_eq!(scene.cycle(13), [format!("u0 w0r{register} bank")]);
        scene.read(1, (0, other));
        let beside = format!("u1 w0r{other} bank beside a write");
        assert_eq!(scene.cycle(14), [format!("w0r{register} bank"), beside]);
    }
}

#[test]
fn a_write_of_the_pool_waits_for_a_read_of_its_register_however_deep_that_is_queued() {
    let mut scene = Scene::pool(2).with(&[(0, 1)]);
    for (unit, register) in [(0, 5), (1, 1)] {
        scene.read(unit, (0, register));
    }
    assert_eq!(scene.write_now((0, 1), 10), ["u0 w0r5 bank"]);
    assert_eq!(scene.cycle(11), ["u1 w0r1 pool"]);
    assert_eq!(scene.cycle(12), ["w0r1 hit"]);
}

#[test]
fn a_read_of_another_register_of_the_bank_does_not_hold_a_write_back() {
    let mut scene = Scene::pool(1).with(&[(0, 1)]);
    // Same number and bank in another warp, and same warp and bank.
    scene.read(0, (1, 1));
    scene.read(1, (0, 5));
    assert_eq!(scene.write_now((0, 1), 10), ["w0r1 hit", "u0 w1r1 bank"]);
}

#[test]
fn a_unit_receives_one_operand_in_a_cycle() {
    let mut scene = Scene::new(CONFIG);
    for (unit, register) in [(0, 0), (0, 1), (1, 2), (0, 3)] {
        scene.read(unit, (0, register));
    }
    assert_eq!(scene.cycle(8), ["u0 w0r0 bank", "u1 w0r2 bank"]);
    assert_eq!(scene.cycle(9), ["u0 w0r1 bank"]);
    assert_eq!(scene.cycle(10), ["u0 w0r3 bank"]);
}

#[test]
fn the_first_turn_goes_round_the_banks() {
    for banks in [3, 4] {
        for now in 8..12 {
            let mut scene = Scene::new(ArbiterConfig { banks, ..CONFIG });
            (0..u16::from(banks)).for_each(|register| scene.read(0, (0, register)));
            assert_eq!(scene.cycle(now), [format!("u0 w0r{} bank", now % u64::from(banks))]);
        }
    }
    // From the last bank on it is the first one's turn.
    let mut scene = Scene::new(CONFIG);
    (0..3).for_each(|register| scene.read(0, (0, register)));
    assert_eq!(scene.cycle(11), ["u0 w0r0 bank"]);
    // The pool serves the bank whose turn is first, and no other.
    let mut scene = Scene::pool(2).with(&[(0, 0), (0, 3)]);
    scene.read(0, (0, 0));
    scene.read(3, (0, 3));
    assert_eq!(scene.cycle(10), ["u3 w0r3 pool"]);
    assert_eq!(scene.cycle(11), ["u0 w0r0 pool"]);
}

#[test]
fn a_bank_serves_its_reads_in_the_order_asked_for() {
    let mut scene = Scene::pool(1).with(&[(0, 1)]);
    scene.write_now((0, 2), 10);
    // The second would hit, but the bank is still written and the first has to be served before.
    scene.read(0, (0, 5));
    scene.read(1, (0, 2));
    scene.read(2, (1, 1));
    assert_eq!(scene.cycle(11), ["u1 w0r2 pool"]);
    assert_eq!(scene.cycle(12), NOTHING);
    assert_eq!(scene.cycle(13), ["u0 w0r5 bank"]);
    assert_eq!(scene.cycle(14), ["u2 w1r1 bank"]);
}

#[test]
fn a_hit_waits_behind_a_read_of_the_bank_unless_that_is_of_the_other_subarray() {
    for (split_bank_write, blocked, hits) in
        [(false, (1, 5), false), (true, (1, 5), false), (true, (2, 1), true)]
    {
        let config = ArbiterConfig { split_bank_write, write_pool_entries: 2, ..CONFIG };
        let mut scene = Scene::new(config).with(&[blocked, (0, 5)]);
        assert_eq!(scene.write_now((0, 2), 10).len(), 1);
        scene.read(0, blocked);
        scene.read(1, (0, 5));
        let first: &[&str] = if hits { &["u1 w0r5 pool"] } else { &NOTHING };
        assert_eq!(scene.cycle(11), first, "{split_bank_write} {blocked:?}");
    }
}

#[test]
fn of_two_subarrays_the_read_asked_for_earlier_is_served() {
    for (first, second) in [(1, 5), (5, 1)] {
        let mut scene = Scene::split();
        scene.read(0, (0, first));
        scene.read(1, (0, second));
        assert_eq!(scene.cycle(10), [format!("u0 w0r{first} bank")]);
        assert_eq!(scene.cycle(11), [format!("u1 w0r{second} bank")]);

        // If its subarray is written, the other's is served beside that.
        let mut scene = Scene::split();
        scene.read(0, (0, first));
        scene.read(1, (0, second));
        let beside = format!("u1 w0r{second} bank beside a write");
        assert_eq!(scene.write_now((1, first), 10), [format!("w1r{first} bank"), beside]);
    }
}

#[test]
fn a_bank_serves_the_other_subarray_where_the_unit_has_its_operand() {
    let mut scene = Scene::split();
    for (unit, register) in [(0, 0), (0, 1), (1, 5)] {
        scene.read(unit, (0, register));
    }
    assert_eq!(scene.cycle(8), ["u0 w0r0 bank", "u1 w0r5 bank"]);
    assert_eq!(scene.cycle(9), ["u0 w0r1 bank"]);
}

#[test]
fn a_bank_serves_one_read_in_a_cycle_even_if_the_pool_has_it() {
    let mut scene = Scene::split_pool(1).with(&[(0, 1)]);
    scene.read(0, (0, 1));
    scene.read(1, (0, 5));
    assert_eq!(scene.cycle(10), ["u0 w0r1 pool"]);
    assert_eq!(scene.cycle(11), ["u1 w0r5 bank"]);
}

#[test]
fn the_pool_does_one_access_in_a_cycle_and_writes_come_first() {
    let mut scene = Scene::pool(3).with(&[(0, 0), (0, 1)]);
    scene.read(0, (0, 0));
    scene.read(1, (0, 1));
    scene.read(2, (0, 2));
    assert_eq!(scene.write_now((0, 3), 10), ["w0r3 new", "u2 w0r2 bank"]);
    scene.write((1, 3), LaneMask::FULL, 11);
    scene.write((1, 2), LaneMask::FULL, 11);
    assert_eq!(scene.cycle(11), ["w1r3 for w0r0 of bank 0"]);
    assert_eq!(scene.cycle(12), ["w1r2 for w0r1 of bank 1"]);
    assert_eq!(scene.cycle(14), ["u0 w0r0 bank"]);
    assert_eq!(scene.cycle(15), ["u1 w0r1 bank"]);
}

#[test]
fn a_partial_hit_needs_pool_and_bank_in_one_cycle() {
    let partial = || {
        let mut scene = Scene::pool(2).with(&[(1, 1)]);
        scene.write((0, 1), LOW, 10);
        assert_eq!(scene.cycle(10), ["w0r1 new"]);
        scene
    };
    // The pool is written.
    let mut scene = partial();
    scene.read(0, (0, 1));
    assert_eq!(scene.write_now((1, 1), 11), ["w1r1 hit"]);
    assert_eq!(scene.cycle(12), ["u0 w0r1 pool and bank"]);
    assert_eq!(scene.order(), [(0, 1), (1, 1)]);
    // The bank is written.
    let mut scene = partial();
    assert_eq!(scene.write_now((0, 2), 11), ["w0r2 for w1r1 of bank 1"]);
    scene.read(0, (0, 1));
    scene.read(1, (0, 2));
    assert_eq!(scene.cycle(12), ["u1 w0r2 pool"]);
    assert_eq!(scene.cycle(13), NOTHING);
    assert_eq!(scene.cycle(14), ["u0 w0r1 pool and bank"]);
    // Lanes that the pool has, and lanes that it has not.
    let mut scene = partial();
    scene.read_lanes(0, (0, 1), LOW);
    scene.read_lanes(1, (0, 1), HIGH);
    assert_eq!(scene.cycle(11), ["u0 w0r1 pool"]);
    assert_eq!(scene.cycle(12), ["u1 w0r1 bank"]);
    // Both are taken: neither serves another read in that cycle.
    let mut scene = partial();
    scene.write((0, 6), LaneMask::FULL, 11);
    scene.cycle(11);
    scene.read(0, (0, 1));
    scene.read(1, (0, 6));
    scene.read(2, (0, 5));
    assert_eq!(scene.cycle(17), ["u0 w0r1 pool and bank"]);
    assert_eq!(scene.cycle(18), ["u1 w0r6 pool", "u2 w0r5 bank"]);
}

#[test]
fn partial_writes_of_a_register_gather_in_its_entry_and_are_written_back_together() {
    let mut scene = Scene::pool(1);
    scene.write((0, 1), LOW, 10);
    scene.cycle(10);
    scene.write((0, 1), HIGH, 11);
    assert_eq!(scene.cycle(11), ["w0r1 hit"]);
    assert_eq!(scene.memory.pool()[0].lanes, LaneMask::FULL);
    scene.write((0, 2), LOW, 12);
    let [Outcome::Write(write)] = scene.outcomes(12)[..] else { panic!("a write") };
    let WriteTarget::PoolReplacement { victim, .. } = write.target else { panic!("{write:?}") };
    assert_eq!((victim.lanes, scene.memory.pool()[0].lanes), (LaneMask::FULL, LOW));
    assert_eq!(scene.memory.cell_writes[1], 1);
}

#[test]
fn an_ended_warp_s_entries_are_dropped_and_make_room() {
    let mut scene = Scene::pool(3).with(&[(0, 0), (1, 1), (0, 2)]);
    assert_eq!(scene.memory.arbiter.drop_warp(0), 2);
    assert_eq!(scene.memory.arbiter.drop_warp(0), 0);
    assert_eq!(scene.order(), [(1, 1)]);
    scene.read(0, (0, 2));
    assert_eq!(scene.cycle(10), ["u0 w0r2 bank"]);
    assert_eq!(scene.write_now((2, 0), 11), ["w2r0 new"]);
    assert_eq!(scene.write_now((2, 1), 12), ["w2r1 new"]);
    assert_eq!(scene.write_now((2, 2), 13), ["w2r2 for w1r1 of bank 1"]);
    assert!((0..32).all(|n| scene.memory.cell_writes[n] == u64::from(n == 9)));
}

#[test]
fn an_arbiter_is_idle_when_nothing_is_queued_though_banks_are_busy() {
    let mut scene = Scene::new(CONFIG);
    assert!(scene.memory.arbiter.is_idle());
    scene.write((0, 5), LaneMask::FULL, 10);
    assert!(!scene.memory.arbiter.is_idle());
    scene.cycle(10);
    assert!(scene.memory.arbiter.is_idle());
    scene.read(0, (0, 1));
    scene.cycle(11);
    assert!(!scene.memory.arbiter.is_idle());
    scene.cycle(13);
    assert!(scene.memory.arbiter.is_idle());

    let mut scene = Scene::split();
    scene.read(0, (0, 5));
    assert!(!scene.memory.arbiter.is_idle());
    scene.cycle(11);
    assert!(scene.memory.arbiter.is_idle());
    // Queues that have been empty take what is asked for next.
    scene.read(0, (0, 5));
    scene.read(1, (1, 5));
    assert_eq!(scene.cycle(12), ["u0 w0r5 bank"]);
    assert_eq!(scene.cycle(13), ["u1 w1r5 bank"]);
    assert!(scene.memory.arbiter.is_idle());
}

#[test]
fn without_a_pool_nothing_is_demoted_or_dropped() {
    let mut scene = Scene::new(CONFIG);
    scene.write_now((0, 5), 10);
    scene.memory.arbiter.demote(0);
    assert_eq!(scene.memory.arbiter.drop_warp(0), 0);
    assert!(scene.memory.arbiter.pool().is_none());
}
