//! What an observer hears, against cycles worked out by hand.

use crate::exact::two_level;
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, run, simulate};
use strata_core::image::{Flags, MemorySpace, Unit};
use strata_core::path::PathStep;
use strata_core::sm::config::SmSettings;
use strata_core::sm::counters::StallReason;
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::{Issue, Observation, SmUnit, WarpPhase, WriteCause};
use strata_core::units::{LaneMask, RegisterId};

const ISCA11: SmSettings = SmSettings::ISCA11;

fn told(settings: SmSettings, kernel: &Kernel, grid: &Grid) -> Vec<Observation> {
    let mut told = Vec::new();
    simulate(settings, kernel, 0, grid, Pace::Skipping, |one| told.push(one)).unwrap();
    told
}

/// One warp through the kernel.
fn alone(settings: SmSettings, kernel: &Kernel, bytes: &[u32]) -> Vec<Observation> {
    told(settings, kernel, &vec![vec![kernel.moving(bytes)]])
}

/// The phases of a place as runs of cycles: `(phase, first, after the last)`.
fn phases(told: &[Observation], place: usize) -> Vec<(WarpPhase, u64, u64)> {
    let mut runs: Vec<(WarpPhase, u64, u64)> = Vec::new();
    for one in told {
        let Observation::Cycles { first, count, warps, .. } = one else { continue };
        let Some(phase) = warps.of(place) else { continue };
        match runs.last_mut() {
            Some((last, _, until)) if *last == phase && *until == *first => *until += count,
            _ => runs.push((phase, *first, first + count)),
        }
    }
    runs
}

fn units(told: &[Observation]) -> Vec<(SmUnit, u64, u64)> {
    let unit = |one: &Observation| match *one {
        Observation::Unit { unit, from, until, .. } => Some((unit, from, until)),
        _ => None,
    };
    told.iter().filter_map(unit).collect()
}

fn results(told: &[Observation]) -> Vec<u64> {
    let result = |one: &Observation| match *one {
        Observation::Result { cycle } => Some(cycle),
        _ => None,
    };
    told.iter().filter_map(result).collect()
}

fn reads(told: &[Observation]) -> Vec<(u8, u64, u64)> {
    let read = |one: &Observation| match *one {
        Observation::BankRead { bank, from, until, .. } => Some((bank, from, until)),
        _ => None,
    };
    told.iter().filter_map(read).collect()
}

fn writes(told: &[Observation]) -> Vec<(u16, u64, WriteCause)> {
    let write = |one: &Observation| match *one {
        Observation::BankWrite { bank, register: RegisterId(register), cycle, cause, .. } => {
            assert_eq!(u16::from(bank), register % 4);
            Some((register, cycle, cause))
        }
        _ => None,
    };
    told.iter().filter_map(write).collect()
}

fn issues(told: &[Observation]) -> Vec<Issue> {
    let issue = |one: &Observation| match *one {
        Observation::Issue(issue) => Some(issue),
        _ => None,
    };
    told.iter().filter_map(issue).collect()
}

#[test]
fn a_run_is_told_whole_and_in_order() {
    // r1 at 8, which the second instruction awaits; r2 at 16.
    let kernel = Kernel::default().alu(&[0, 4], &[1]).alu(&[1], &[2]);
    let told = alone(ISCA11, &kernel, &[]);
    let issue = |cycle, pc| {
        let (slot, place, cta, warp, mask) = (0, 0, 0, 0, LaneMask::FULL);
        Observation::Issue(Issue { cycle, slot, place, cta, warp, pc, mask })
    };
    let alu =
        |pc, from| Observation::Unit { unit: SmUnit::Alu, place: 0, pc, from, until: from + 1 };
    let read = |pc, bank, from, until| Observation::BankRead { bank, place: 0, pc, from, until };
    let write = |register: u16, cycle| Observation::BankWrite {
        bank: register as u8,
        place: 0,
        register: RegisterId(register),
        cycle,
        cause: WriteCause::Result,
    };
    let cycles = |one: &Observation| match *one {
        Observation::Cycles { first, count, slots: [slot, _], warps } => {
            Some((first, count, slot, warps.of(0)))
        }
        _ => None,
    };
    let rest: Vec<_> = told.iter().filter(|one| cycles(one).is_none()).copied().collect();
    assert_eq!(
        rest,
        [
            Observation::CtaLaunch { cycle: 0, cta: 0, slot: 0, before: 0, warps: 1 },
            issue(0, 0),
            alu(0, 0),
            read(0, 0, 0, 2),
            write(1, 8),
            Observation::Result { cycle: 8 },
            issue(8, 1),
            alu(1, 8),
            read(1, 1, 8, 9),
            write(2, 16),
            Observation::Result { cycle: 16 },
            Observation::CtaEnd { cycle: 16, cta: 0, slot: 0, warps: 1, last: true },
        ]
    );
    let cycles: Vec<_> = told.iter().filter_map(cycles).collect();
    let (waits, in_order) = (Some(WarpPhase::Arithmetic), Some(WarpPhase::InOrder));
    assert_eq!(
        cycles,
        [
            (0, 1, StallReason::Issued, waits),
            (1, 7, StallReason::Arithmetic, waits),
            (8, 1, StallReason::Issued, in_order),
            (9, 7, StallReason::Drain, Some(WarpPhase::Drain)),
        ]
    );
}

#[test]
fn collectors_tell_of_accesses_when_they_begin() {
    // The third instruction issues while the first and second collect; the bank of r1 is written
    // for three cycles.
    let kernel = Kernel::default().alu(&[0, 4], &[1]).alu(&[2], &[3]).alu(&[1], &[2]);
    let collectors = CollectorSettings { write_cycles: 3, ..CollectorSettings::WARRF_SRAM };
    let operand_delivery = OperandDelivery::Collectors(collectors);
    let told = alone(SmSettings { operand_delivery, ..ISCA11 }, &kernel, &[]);
    let taken = |one: &Observation| match *one {
        Observation::Unit { unit, place, pc, from, until } => {
            assert_eq!((unit, place, until), (SmUnit::Alu, 0, from + 1));
            Some(("starts", pc, from))
        }
        Observation::BankRead { bank, place, pc, from, until } => {
            assert_eq!((place, until), (0, from + 1));
            let names = ["reads bank 0", "reads bank 1", "reads bank 2", "", "reads bank 4"];
            Some((names[usize::from(bank)], pc, from))
        }
        _ => None,
    };
    let told_of: Vec<_> = told.iter().filter_map(taken).collect();
    assert_eq!(
        told_of,
        [
            // In cycle 1 bank 1 has its turn first, in cycle 2 bank 2.
            ("reads bank 4", 0, 1),
            ("reads bank 2", 1, 2),
            ("reads bank 0", 0, 2),
            ("starts", 0, 3),
            ("starts", 1, 4),
            ("reads bank 1", 2, 12),
            ("starts", 2, 13),
        ]
    );
    assert_eq!(results(&told), []);
}

#[test]
fn issues_name_slot_place_cta_warp_and_mask() {
    let kernel = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]);
    let half = LaneMask(0xffff);
    let second = PathStep { pc: 1, length: 1, mask: half };
    let divided = OwnedTrace::new(vec![run(0, 1), second], &[]);
    let grid = vec![vec![kernel.straight(), divided], vec![kernel.straight(); 2]];
    let told = told(SmSettings { issue_slots: 2, ..ISCA11 }, &kernel, &grid);
    let issue = |cycle, slot, place: u8, pc, mask| {
        let (cta, warp) = (u64::from(place / 2), u32::from(place % 2));
        Issue { cycle, slot, place, cta, warp, pc, mask }
    };
    let full = LaneMask::FULL;
    // Results of the two that issue in one cycle meet in a bank, and the second is late by one.
    assert_eq!(
        issues(&told),
        [
            issue(0, 0, 0, 0, full),
            issue(0, 1, 1, 0, full),
            issue(1, 0, 2, 0, full),
            issue(1, 1, 3, 0, full),
            issue(8, 0, 0, 1, full),
            issue(9, 0, 1, 1, half),
            issue(10, 0, 2, 1, full),
            issue(11, 0, 3, 1, full),
        ]
    );
    assert_eq!(results(&told)[..4], [8, 9, 10, 11]);
}

#[test]
fn units_are_taken_for_as_long_as_they_start_an_instruction() {
    let free = Flags::empty();
    let kernel = Kernel::default()
        .add(Unit::DoublePrecision, free, &[], &[1])
        .add(Unit::Sfu, free, &[], &[2])
        .add(Unit::Texture, Flags::LONG_LATENCY, &[], &[3])
        .shared_load(&[], &[4])
        .load(&[], &[5])
        .load(&[], &[6])
        .add(Unit::Memory, Flags::LOAD, &[], &[7])
        .with(|load| load.space = Some(MemorySpace::Constant))
        .store(&[])
        .add(Unit::Control, Flags::EXIT, &[], &[]);
    let told = alone(ISCA11, &kernel, &[256, 128, 64, 0]);
    assert_eq!(
        units(&told),
        [
            (SmUnit::DoublePrecision, 0, 2),
            (SmUnit::SpecialFunction, 1, 5),
            (SmUnit::Texture, 2, 10),
            // 256 bytes, 32 a cycle; the latency covers 128 of them.
            (SmUnit::SharedMemory, 3, 11),
            (SmUnit::Dram, 4, 8),
            // The second load's bytes move after the first's; the store has none.
            (SmUnit::Dram, 8, 10),
            (SmUnit::Constant, 6, 7),
            (SmUnit::Control, 8, 9),
        ]
    );
    assert_eq!(results(&told), [8, 21, 402, 27, 404, 408, 26]);
}

#[test]
fn reads_of_a_bank_follow_each_other() {
    // Five reads of bank 0 in a window of three: what follows issues two cycles late.
    let kernel = Kernel::default().alu(&[0, 4, 8, 12, 16, 3], &[1]).alu(&[4, 7], &[2]);
    let told = alone(ISCA11, &kernel, &[]);
    assert_eq!(reads(&told), [(0, 0, 5), (3, 0, 1), (0, 5, 6), (3, 3, 4)]);
    assert_eq!(issues(&told)[1].cycle, 3);
    assert_eq!(results(&told), [10, 11]);
}

#[test]
fn a_cache_writes_back_what_it_evicts_and_flushes() {
    // One entry: r2 evicts r1 when it is there; the deschedule before the use of r3 flushes r2.
    let kernel =
        Kernel::default().alu(&[], &[1]).load(&[], &[3]).alu(&[], &[2]).alu(&[3], &[4]).marked();
    let told = alone(two_level(1, Some(1)), &kernel, &[128]);
    assert_eq!(
        writes(&told),
        [
            // The load bypasses the cache, beyond the horizon of reserved writes.
            (3, 401, WriteCause::Result),
            (1, 10, WriteCause::Eviction),
            // The warp leaves in cycle 3, when r2 has not come yet: it goes straight to its bank.
            (2, 10, WriteCause::Flush),
            (4, 409, WriteCause::Flush),
        ]
    );
    // Back when the load's result is there.
    assert_eq!(issues(&told).iter().map(|issue| issue.cycle).collect::<Vec<_>>(), [0, 1, 2, 401]);
    assert_eq!(
        phases(&told, 0),
        [
            (WarpPhase::InOrder, 0, 3),
            (WarpPhase::Outside, 3, 401),
            (WarpPhase::InOrder, 401, 402),
            (WarpPhase::Drain, 402, 409),
        ]
    );
}

#[test]
fn a_flush_keeps_the_place_of_its_warp() {
    // r1 and r5 share a bank and are there when the warp leaves: two cycles of writes.
    let kernel = Kernel::default()
        .alu(&[], &[1])
        .alu(&[], &[5])
        .load(&[5], &[3])
        .alu(&[1, 5], &[])
        .alu(&[3], &[])
        .marked();
    let told = alone(two_level(1, Some(4)), &kernel, &[128]);
    assert_eq!(
        writes(&told),
        [(3, 409, WriteCause::Result), (1, 11, WriteCause::Flush), (5, 12, WriteCause::Flush),]
    );
    assert_eq!(
        phases(&told, 0),
        [
            (WarpPhase::InOrder, 0, 1),
            (WarpPhase::Arithmetic, 1, 9),
            (WarpPhase::InOrder, 9, 11),
            (WarpPhase::Flush, 11, 13),
            (WarpPhase::Outside, 13, 409),
            (WarpPhase::InOrder, 409, 410),
        ]
    );
}

#[test]
fn warps_wait_for_a_place_at_barriers_and_for_their_cta() {
    let kernel = Kernel::default().alu(&[], &[1]).barrier().alu(&[], &[2]);
    let warp = |first, length| OwnedTrace::new(vec![run(first, length)], &[]);
    let grid = vec![vec![warp(0, 3), warp(1, 1), warp(0, 1)]];
    // All in the active set: the second warp ends at its barrier, the third does not come to it.
    let observed = told(ISCA11, &kernel, &grid);
    assert_eq!(
        phases(&observed, 0),
        [
            // It issues in cycles 0 and 1; the second in cycle 2, the third in cycle 3.
            (WarpPhase::InOrder, 0, 1),
            (WarpPhase::Barrier, 1, 3),
            (WarpPhase::InOrder, 3, 5),
            (WarpPhase::Drain, 5, 12),
        ]
    );
    assert_eq!(
        phases(&observed, 1),
        [(WarpPhase::Ready, 0, 2), (WarpPhase::InOrder, 2, 3), (WarpPhase::Ended, 3, 12),]
    );
    // With one place, one after the other, and outside at the barrier: the third warp's only
    // instruction in cycle 3 lets go of it, and its place is free in cycle 4.
    let observed = told(two_level(1, None), &kernel, &grid);
    assert_eq!(
        phases(&observed, 0),
        [
            (WarpPhase::InOrder, 0, 2),
            (WarpPhase::OutsideBarrier, 2, 3),
            (WarpPhase::Outside, 3, 4),
            (WarpPhase::InOrder, 4, 5),
            (WarpPhase::Drain, 5, 12),
        ]
    );
    assert_eq!(phases(&observed, 2)[0], (WarpPhase::Returnable, 0, 3));
}
