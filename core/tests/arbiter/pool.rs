//! The write pool by itself, whose users need not be arbiters, against the reference's list.

use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::{PoolRead, PoolWrite, WritePool};

use super::random::Random;
use super::reference::Pool;

/// Operations of a seed on a pool of `entries`; returns which kinds of outcome there were.
fn same_as_the_list<const CAPACITY: usize>(seed: u64, entries: u8) -> [u32; 8] {
    let mut random = Random(seed);
    let mut model = WritePool::<CAPACITY>::new(entries).expect("of a size that can be");
    let mut list = Pool::new(entries);
    let warps = 1 + random.below(64);
    let registers = 1 + random.below(u32::from(entries) * 2);
    let mut kinds = [0; 8];
    for step in 0..2_000 {
        let (warp, register) = (random.below(warps) as u8, random.below(registers) as u16);
        let (name, lanes, id) = ((warp, register), random.mask(), RegisterId(register));
        let at = || format!("seed {seed}, {entries} entries, step {step}");
        match random.below(20) {
            0 => {
                model.demote(warp);
                kinds[0] += u32::from(list.demote(warp));
            }
            1 if random.chance(20) => {
                let dropped = list.drop_warp(warp);
                assert_eq!(model.drop_warp(warp), dropped, "{}", at());
                kinds[1] += dropped;
            }
            2..10 => {
                let found = list.look_up(name, lanes);
                assert_eq!(model.look_up(warp, id, lanes), found, "{}", at());
                let read = (model.read(warp, id, lanes), list.read(name, lanes));
                assert_eq!(read, (found, found), "{}", at());
                kinds[2] += u32::from(found == PoolRead::Hit);
                kinds[3] += u32::from(found == PoolRead::PartialHit);
            }
            _ => {
                let leaves = random.chance(70);
                let mut offered = None;
                let outcome = model.write(warp, id, lanes, |victim| {
                    offered = Some(victim);
                    leaves
                });
                assert_eq!(outcome, list.write(name, lanes, |_| leaves), "{}", at());
                let (kind, victim) = match outcome {
                    PoolWrite::Hit => (4, None),
                    PoolWrite::Allocated => (5, None),
                    PoolWrite::Replaced(victim) => (6, Some(victim)),
                    PoolWrite::Blocked(victim) => (7, Some(victim)),
                };
                assert_eq!(offered, victim, "{}: asked whether it may leave", at());
                kinds[kind] += 1;
            }
        }
        assert_eq!(model.entries().collect::<Vec<_>>(), list.list, "{}: order", at());
    }
    kinds
}

#[test]
fn a_pool_of_any_size_is_a_list_in_the_order_of_use() {
    let mut all = [0; 8];
    let mut add = |kinds: [u32; 8]| (0..8).for_each(|kind| all[kind] += kinds[kind]);
    for (seed, entries) in (0..).zip((1..=8).cycle().take(80)) {
        add(same_as_the_list::<8>(seed, entries));
    }
    for (seed, entries) in (100..).zip([1, 2, 13, 59, 60, 61, 64, 65, 127, 128]) {
        add(same_as_the_list::<128>(seed, entries));
    }
    assert!(all.iter().all(|&times| times > 300), "{all:?}");
}

#[test]
fn a_read_of_lanes_that_an_entry_has_not_is_no_use_of_it() {
    let (low, high) = (LaneMask(0x0000_ffff), LaneMask(0xffff_0000));
    let mut pool = WritePool::<4>::new(2).expect("of a size that can be");
    pool.write(0, RegisterId(1), low, |_| false);
    pool.write(0, RegisterId(2), low, |_| false);
    assert_eq!(pool.read(0, RegisterId(1), high), PoolRead::Miss);
    assert_eq!(pool.entries().map(|entry| entry.register.0).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(pool.read(0, RegisterId(1), LaneMask::FULL), PoolRead::PartialHit);
    assert_eq!(pool.entries().map(|entry| entry.register.0).collect::<Vec<_>>(), [1, 2]);
}
