//! Deadlocks in time: each ends the run, with cycle, warp and reason.

use crate::exact::{ISCA11, each, two_level};
use crate::machine::{Grid, Kernel, OwnedTrace, both, run};
use strata_core::sm::BarrierCall;
use strata_core::sm::config::{BarrierRule, SmSettings};
use strata_core::sm::counters::StallReason;
use strata_core::sm::fault::Fault;

fn stalled(cycle: u64, warp: u8, reason: StallReason) -> Fault {
    Fault::Stalled { cycle, warp, reason }
}

fn never(active: u8) -> SmSettings {
    SmSettings { barrier: BarrierRule::Never, ..two_level(active, None) }
}

fn fault(settings: SmSettings, kernel: &Kernel, grid: &Grid) -> Fault {
    both(settings, kernel, 0, grid).unwrap_err()
}

fn calling(mut trace: OwnedTrace, id: u32, threads: u32) -> OwnedTrace {
    trace.barriers = vec![BarrierCall::new(id, Some(threads)).unwrap()];
    trace
}

#[test]
fn a_cta_larger_than_the_active_set_that_no_warp_may_leave() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let grid = each(&kernel, 3, &[]);
    assert_eq!(fault(never(2), &kernel, &grid), stalled(2, 0, StallReason::Barrier));
    assert_eq!(fault(never(1), &kernel, &grid), stalled(1, 0, StallReason::Barrier));
    assert!(both(never(3), &kernel, 0, &grid).is_ok());
}

#[test]
fn two_ctas_that_each_fit_but_share_the_active_set() {
    // Three places. Warp 2 leaves for its load and comes back at 402 to find both CTAs' barriers
    // in all three places: warp 3, 4 and 5 are the other CTA's, whose third waits outside as well.
    let kernel = Kernel::default().load(&[], &[1]).alu(&[1], &[]).marked().barrier().alu(&[], &[]);
    let loads = OwnedTrace::new(vec![run(0, 4)], &[32]);
    let waits = OwnedTrace::new(vec![run(2, 2)], &[]);
    let grid =
        vec![vec![loads.clone(), waits.clone(), loads.clone()], vec![waits.clone(), waits, loads]];
    let Fault::Stalled { reason, warp, .. } = fault(never(3), &kernel, &grid) else {
        panic!("there is a deadlock");
    };
    assert_eq!((reason, warp), (StallReason::Barrier, 0));
    for barrier in [BarrierRule::Always, BarrierRule::WhenBlocking] {
        let settings = SmSettings { barrier, ..never(3) };
        assert!(both(settings, &kernel, 0, &grid).is_ok());
    }
}

#[test]
fn a_named_barrier_that_too_few_arrive_at() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let grid = |threads| vec![vec![calling(kernel.straight(), 1, threads); 2]];
    assert!(both(ISCA11, &kernel, 0, &grid(64)).is_ok());
    // With one level they wait in the active set; with two, outside.
    assert_eq!(fault(ISCA11, &kernel, &grid(96)), stalled(2, 0, StallReason::Barrier));
    assert_eq!(fault(never(2), &kernel, &grid(96)), stalled(2, 0, StallReason::Barrier));
    assert_eq!(fault(two_level(2, None), &kernel, &grid(96)), stalled(2, 0, StallReason::Outside));
}

#[test]
fn warps_that_wait_for_each_other_at_different_barriers() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let grid = vec![vec![calling(kernel.straight(), 1, 64), calling(kernel.straight(), 2, 64)]];
    assert_eq!(fault(ISCA11, &kernel, &grid), stalled(2, 0, StallReason::Barrier));
    assert_eq!(fault(two_level(1, None), &kernel, &grid), stalled(2, 0, StallReason::Outside));
}

#[test]
fn a_consumer_whose_producer_has_no_place() {
    // One place, which the consumer keeps while it waits.
    let kernel = Kernel::default().arrival().barrier().alu(&[], &[1]);
    let consumer = calling(OwnedTrace::new(vec![run(1, 2)], &[]), 1, 64);
    let producer = calling(OwnedTrace::new(vec![run(0, 1)], &[]), 1, 64);
    let grid = vec![vec![consumer, producer]];
    assert_eq!(fault(never(1), &kernel, &grid), stalled(1, 0, StallReason::Barrier));
    assert!(both(never(2), &kernel, 0, &grid).is_ok());
    assert!(both(two_level(1, None), &kernel, 0, &grid).is_ok());
}

#[test]
fn the_warp_that_is_named_has_not_ended() {
    let kernel = Kernel::default().barrier().alu(&[], &[1]);
    let ends = OwnedTrace::new(vec![run(1, 1)], &[]);
    let waits = calling(kernel.straight(), 1, 64);
    let grid = vec![vec![ends, waits]];
    // The other warp's result comes at 8; then nothing can happen any more.
    assert_eq!(fault(ISCA11, &kernel, &grid), stalled(8, 1, StallReason::Barrier));
}

#[test]
fn a_deadlock_behind_a_finished_cta_is_found_when_nothing_is_left() {
    let kernel = Kernel::default().load(&[], &[2]).barrier().alu(&[2], &[1]);
    let fine = OwnedTrace::new(vec![run(0, 1)], &[128]);
    let stuck = calling(OwnedTrace::new(vec![run(1, 2)], &[]), 0, 64);
    let grid = vec![vec![fine], vec![stuck]];
    // The first CTA's data comes at 400.
    assert_eq!(fault(ISCA11, &kernel, &grid), stalled(400, 1, StallReason::Barrier));
}

#[test]
fn the_message_says_when_who_and_why() {
    let text = stalled(17, 3, StallReason::Barrier).to_string();
    assert!(text.contains("cycle 17") && text.contains("warp 3"), "{text}");
    assert!(text.contains("slots_barrier"), "{text}");
}
