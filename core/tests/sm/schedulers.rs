//! Two issue slots: one scheduler for both, or one for the warps of each parity.

use crate::machine::{Grid, Kernel, Pace, simulate};
use strata_core::sm::config::{Scheduler, Schedulers, SmConfig, SmConfigError, SmSettings};
use strata_core::sm::counters::{SmCounters, StallReason};
use strata_core::sm::{Issue, Observation};

const SHARED: SmSettings =
    SmSettings { issue_slots: 2, scheduler: Scheduler::LooseRoundRobin, ..SmSettings::ISCA11 };
const BY_PARITY: SmSettings = SmSettings { schedulers: Schedulers::ByParity, ..SHARED };

/// CTAs of so many warps through the kernel, each of whose accesses is of a sector.
fn ctas(kernel: &Kernel, ctas: usize, warps: usize) -> Grid {
    let accesses = kernel.instructions.iter().filter(|it| it.space.is_some()).count();
    vec![vec![kernel.moving(&vec![32; accesses]); warps]; ctas]
}

fn simulated(settings: SmSettings, kernel: &Kernel, grid: &Grid) -> (SmCounters, Vec<Issue>) {
    let mut issues = Vec::new();
    let counters = simulate(settings, kernel, 0, grid, Pace::Skipping, |one| {
        if let Observation::Issue(issue) = one {
            issues.push(issue);
        }
    });
    (counters.expect("it runs"), issues)
}

/// `count` instructions that wait for nothing.
fn independent(count: usize) -> Kernel {
    (0..count).fold(Kernel::default(), |kernel, _| kernel.alu(&[], &[]))
}

#[test]
fn a_scheduler_has_the_warps_of_one_parity() {
    let kernel = independent(5);
    for scheduler in Scheduler::ALL {
        let settings = SmSettings { scheduler, ..BY_PARITY };
        let (_, issues) = simulated(settings, &kernel, &ctas(&kernel, 2, 3));
        assert_eq!(issues.len(), 6 * 5, "{scheduler:?}");
        for issue in issues {
            assert_eq!(issue.slot, issue.place % 2, "{scheduler:?}, {issue:?}");
        }
    }
}

#[test]
fn the_other_scheduler_s_slot_stays_empty_and_says_why() {
    // Warps 0 and 2 have 10 instructions, warp 1 has 5.
    let kernel = independent(5);
    let grid = ctas(&kernel, 1, 3);
    let (shared, _) = simulated(SHARED, &kernel, &grid);
    let (halves, issues) = simulated(BY_PARITY, &kernel, &grid);
    let last = |place| issues.iter().filter(|it| it.place == place).map(|it| it.cycle).max();
    assert_eq!([last(0), last(1), last(2)], [Some(8), Some(4), Some(9)]);
    assert_eq!((shared.slots(StallReason::Issued), halves.slots(StallReason::Issued)), (15, 15));
    // All 15 in pairs, but for the last.
    assert_eq!(halves.cycles() - shared.cycles(), 10 - 8);
    // Slot 1 has nothing from cycle 5 on.
    assert_eq!(halves.slots(StallReason::Drain), 5 + 2 * (halves.cycles() - 10));
}

#[test]
fn each_slot_has_a_reason_of_its_own() {
    // Even warps wait for data, odd ones for a result; both from cycle 1 on.
    let loads = Kernel::default().load(&[], &[1]).alu(&[1], &[2]);
    let (counters, _) = simulated(BY_PARITY, &loads, &ctas(&loads, 1, 2));
    // Loads share a port, so that the second starts later; both slots wait.
    let waits = counters.slots(StallReason::LongLatency);
    assert!(waits > 2 * 380, "{waits}");
    let alone = ctas(&loads, 1, 1);
    let (counters, _) = simulated(BY_PARITY, &loads, &alone);
    // Only slot 0 waits for data: slot 1 has no warp.
    assert_eq!(counters.slots(StallReason::LongLatency), 399);
    assert_eq!(counters.slots(StallReason::Drain), 400 + 1 + 2 * 7);
    let (counters, _) = simulated(SHARED, &loads, &alone);
    assert_eq!(counters.slots(StallReason::LongLatency), 2 * 399 + 1 + 1 - 1);
}

#[test]
fn two_schedulers_need_two_slots() {
    let one = SmSettings { issue_slots: 1, ..BY_PARITY };
    assert_eq!(SmConfig::new(one), Err(SmConfigError::OneScheduler));
}
