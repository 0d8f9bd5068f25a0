//! Named barriers: which warps wait for which others, to the cycle.

use crate::exact::{ISCA11, one, two_level};
use crate::machine::{Grid, Kernel, OwnedTrace, Pace, both, run, simulate};
use crate::random::Random;
use strata_core::image::{Flags, Unit};
use strata_core::path::PathStep;
use strata_core::sm::config::{BarrierRule, SmSettings, Timing};
use strata_core::sm::{BARRIERS, BarrierCall, Observation};
use strata_core::units::LaneMask;

fn call(id: u32, threads: u32) -> BarrierCall {
    BarrierCall::new(id, (threads != 0).then_some(threads)).unwrap()
}

/// A warp that arrives at these barriers.
fn arriving(mut trace: OwnedTrace, calls: &[BarrierCall]) -> OwnedTrace {
    trace.barriers = calls.to_vec();
    trace
}

/// When each warp of one CTA issues each of its instructions.
fn issues(settings: SmSettings, kernel: &Kernel, cta: &[OwnedTrace]) -> Vec<Vec<u64>> {
    let grid = vec![cta.to_vec()];
    both(settings, kernel, 0, &grid).unwrap();
    let mut cycles = vec![Vec::new(); cta.len()];
    let told = |observation| {
        if let Observation::Issue(issue) = observation {
            cycles[issue.warp as usize].push(issue.cycle);
        }
    };
    simulate(settings, kernel, 0, &grid, Pace::Skipping, told).unwrap();
    cycles
}

#[test]
fn a_call_names_what_a_cta_has() {
    assert_eq!(BarrierCall::new(0, None), Some(BarrierCall::ALL_THREADS));
    assert_eq!(BarrierCall::default(), BarrierCall::ALL_THREADS);
    assert!(BarrierCall::new(15, Some(1024)).is_some() && BARRIERS == 16);
    for (id, threads) in
        [(16, None), (0, Some(0)), (0, Some(33)), (0, Some(16)), (0, Some(1 << 16))]
    {
        assert_eq!(BarrierCall::new(id, threads), None, "{id}, {threads:?}");
    }
}

/// Instructions 0 and 1 take 9 cycles; 2 is a barrier, 3 comes after it.
fn late_or_early(late: bool, named: BarrierCall) -> OwnedTrace {
    let path = if late { run(0, 4) } else { run(2, 2) };
    arriving(OwnedTrace::new(vec![path], &[]), &[named])
}

#[test]
fn pairs_at_two_barriers_do_not_wait_for_each_other() {
    let kernel = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]).barrier().alu(&[], &[3]);
    let at = |names: [BarrierCall; 4]| {
        let late = [false, false, true, false];
        let cta: Vec<_> = (0..4).map(|warp| late_or_early(late[warp], names[warp])).collect();
        issues(ISCA11, &kernel, &cta)
    };
    // Greedy: the last issuer, then the lowest. Warp 2 begins at 2, when the first two are
    // released, and has its operand at 10.
    let pairs = at([call(1, 64), call(1, 64), call(2, 64), call(2, 64)]);
    assert_eq!(pairs[0], [0, 3]);
    assert_eq!(pairs[1], [1, 2]);
    assert_eq!(pairs[2], [4, 12, 13, 14]);
    assert_eq!(pairs[3], [5, 15]);
    // All threads of the CTA at one barrier, with and without a number.
    let one = at([BarrierCall::ALL_THREADS; 4]);
    assert_eq!(one, at([call(7, 0); 4]));
    assert_eq!(one, at([call(7, 128); 4]));
    let after: Vec<_> = one.iter().map(|cycles| cycles[cycles.len() - 1]).collect();
    assert_eq!(one[2][2] + 1, *after.iter().min().unwrap());
}

#[test]
fn a_barrier_with_fewer_threads_than_the_cta_waits_for_that_many() {
    let kernel = Kernel::default().alu(&[], &[1]).alu(&[1], &[2]).barrier().alu(&[], &[3]);
    let plain = OwnedTrace::new(vec![run(0, 2)], &[]);
    let waits = |threads| late_or_early(false, call(3, threads));
    let cta = |threads| vec![waits(threads), waits(threads), plain.clone()];
    // Two of three warps: in the cycle after the second arrival.
    assert_eq!(issues(ISCA11, &kernel, &cta(64))[1], [1, 2]);
    let timing = Timing { barrier_latency: 6, ..ISCA11.timing };
    let slower = issues(SmSettings { timing, ..ISCA11 }, &kernel, &cta(64));
    assert_eq!((slower[0][1], slower[1][1]), (7, 8));
    // Without a number, when the third has ended.
    let third = issues(ISCA11, &kernel, &cta(0));
    assert_eq!((third[2][1], third[0][1]), (10, 11));
}

#[test]
fn who_only_arrives_does_not_wait() {
    // A producer computes for 9 cycles, arrives at 2, and goes on; a consumer waits.
    let kernel = Kernel::default()
        .alu(&[], &[1])
        .alu(&[1], &[2])
        .arrival()
        .alu(&[], &[3])
        .barrier()
        .alu(&[], &[4]);
    let producer = arriving(OwnedTrace::new(vec![run(0, 4)], &[]), &[call(1, 64)]);
    let consumer = arriving(OwnedTrace::new(vec![run(4, 2)], &[]), &[call(1, 64)]);
    for settings in [ISCA11, two_level(2, None)] {
        let cycles = issues(settings, &kernel, &[producer.clone(), consumer.clone()]);
        assert_eq!(cycles[0], [0, 8, 9, 10]);
        assert_eq!(cycles[1], [1, 11]);
    }
    // The arrival waits for the consumer neither; when both are there, it is the consumer's turn.
    let early = arriving(OwnedTrace::new(vec![run(2, 2)], &[]), &[call(1, 64)]);
    let late = arriving(OwnedTrace::new(vec![run(0, 2), run(4, 2)], &[]), &[call(1, 64)]);
    let cycles = issues(ISCA11, &kernel, &[early, late]);
    assert_eq!((cycles[0].as_slice(), cycles[1].as_slice()), (&[0, 1][..], &[2, 10, 11, 12][..]));
}

#[test]
fn an_arrival_does_not_make_a_warp_leave() {
    let kernel = Kernel::default().arrival().alu(&[], &[1]).barrier().alu(&[], &[2]);
    let both_call = [call(1, 64), call(2, 64)];
    let cta = vec![arriving(kernel.straight(), &both_call); 2];
    let counters = both(two_level(2, None), &kernel, 0, &vec![cta]).unwrap();
    assert_eq!(counters.accesses.barrier_deschedules(), 2);
}

#[test]
fn a_whole_warp_counts_as_32_threads_and_lanes_apart_as_themselves() {
    let kernel =
        Kernel::default().barrier().add(Unit::Control, Flags::EXIT, &[], &[]).alu(&[], &[]);
    let step = |pc, mask| PathStep { pc, length: 1, mask: LaneMask(mask) };
    let waits = arriving(OwnedTrace::new(vec![run(0, 1), run(2, 1)], &[]), &[call(1, 64)]);
    // The last warp of the CTA has 8 threads.
    let mut small =
        arriving(OwnedTrace::new(vec![step(0, 0xff), step(2, 0xff)], &[]), &[call(1, 64)]);
    small.lanes = LaneMask(0xff);
    assert_eq!(issues(ISCA11, &kernel, &[waits.clone(), small]), [[0, 3], [1, 2]]);
    // Half a warp arrives at 1 and is too few; when the other half has exited at 2, it is the warp.
    let halves = vec![step(0, 0xffff), step(1, 0xffff_0000), step(2, 0xffff)];
    let halves = arriving(OwnedTrace::new(halves, &[]), &[call(1, 64)]);
    assert_eq!(issues(ISCA11, &kernel, &[waits, halves]), [vec![0, 4], vec![1, 2, 3]]);
}

#[test]
fn lanes_at_different_barriers_are_let_go_apart() {
    // The lower half waits at barrier 1, the upper at 2. Warp 1 arrives at 2 first, then at 1.
    let kernel = Kernel::default().barrier().arrival().alu(&[], &[]);
    let step = |pc, mask| PathStep { pc, length: 1, mask: LaneMask(mask) };
    let (lower, upper) = (0xffff, 0xffff_0000);
    let path = vec![step(0, lower), step(0, upper), step(2, lower), step(2, upper)];
    let two = [call(1, 32), call(2, 32)];
    let halves = arriving(OwnedTrace::new(path, &[]), &two);
    let mut arrivals = vec![run(2, 1); 10];
    arrivals.extend([step(1, upper), run(2, 1), run(2, 1), step(1, lower)]);
    let other = arriving(OwnedTrace::new(arrivals, &[]), &[call(2, 32), call(1, 32)]);
    let pairs = SmSettings { issue_slots: 2, ..ISCA11 };
    let cycles = issues(pairs, &kernel, &[halves, other.clone()]);
    // Arrivals at 10 and 13. The lower half's turn is first, although the upper is free earlier.
    assert_eq!((cycles[1][10], cycles[1][13]), (10, 13));
    assert_eq!(cycles[0], [0, 1, 14, 15]);
    // The other way round the lower half goes on at once, and the upper waits for its own.
    let path = vec![step(0, upper), step(0, lower), step(2, upper), step(2, lower)];
    let halves = arriving(OwnedTrace::new(path, &[]), &[call(2, 32), call(1, 32)]);
    for settings in [pairs, ISCA11] {
        let cycles = issues(settings, &kernel, &[halves.clone(), other.clone()]);
        let (first, last) = (cycles[1][10], cycles[1][13]);
        assert!(cycles[0][2] > first && cycles[0][3] > last, "{cycles:?}");
        if settings == pairs {
            assert_eq!((cycles[0][2], cycles[0][3]), (11, 14));
        }
    }
}

#[test]
fn a_barrier_can_be_used_again() {
    let kernel = Kernel::default().barrier().barrier().alu(&[], &[]);
    let warp = arriving(kernel.straight(), &[call(5, 64), call(5, 64)]);
    let cycles = issues(ISCA11, &kernel, &[warp.clone(), warp]);
    // Greedy continues with the warp that arrived last.
    assert_eq!(cycles, [[0, 3, 4], [1, 2, 5]]);
}

#[test]
fn who_has_arrived_and_ended_still_counts() {
    let kernel = Kernel::default().arrival().alu(&[], &[]).barrier().alu(&[], &[]);
    let producer = arriving(OwnedTrace::new(vec![run(0, 1)], &[]), &[call(1, 64)]);
    let mut path = vec![run(1, 1); 6];
    path.push(run(2, 2));
    let consumer = arriving(OwnedTrace::new(path, &[]), &[call(1, 64)]);
    let cycles = issues(ISCA11, &kernel, &[producer, consumer]);
    assert_eq!(cycles[1][6..], [7, 8]);
    // But not for the warps of the next CTA in its place.
    let grid: Grid = vec![
        vec![arriving(OwnedTrace::new(vec![run(0, 1)], &[]), &[call(1, 32)])],
        vec![arriving(OwnedTrace::new(vec![run(2, 2)], &[]), &[call(1, 32)])],
    ];
    assert_eq!(both(ISCA11, &kernel, 0, &grid).unwrap().ctas(), 2);
}

/// Barriers with distinct numbers, each with a random part of the warps: no warp goes on before all
/// of them have arrived, and all warps end.
#[test]
fn no_warp_passes_a_barrier_before_all_have_arrived() {
    // 0 waits, 1 arrives, 2 is anything else.
    let kernel = Kernel::default().barrier().arrival().alu(&[], &[]);
    for seed in 0..150 {
        let mut random = Random(seed);
        let warps = 2 + random.below(7) as usize;
        let events = 1 + random.below(BARRIERS as u32) as usize;
        let mut traces = vec![OwnedTrace::new(Vec::new(), &[]); warps];
        // For each event, the warps that take part, with the index of their instruction, and
        // whether they wait.
        let mut parts = vec![Vec::new(); events];
        let mut lengths = vec![0; warps];
        for (event, part) in parts.iter_mut().enumerate() {
            let members: Vec<usize> = (0..warps).filter(|_| random.chance(60)).collect();
            for &warp in &members {
                for _ in 0..random.below(6) {
                    traces[warp].path.push(run(2, 1));
                    lengths[warp] += 1;
                }
                let waits = random.chance(60);
                traces[warp].path.push(run(u32::from(!waits), 1));
                traces[warp].barriers.push(call(event as u32, 32 * members.len() as u32));
                part.push((warp, lengths[warp], waits));
                lengths[warp] += 1;
            }
        }
        for trace in &mut traces {
            trace.path.push(run(2, 1));
        }
        let mut settings = if random.chance(50) { ISCA11 } else { two_level(1, None) };
        settings.issue_slots = 1 + random.below(2) as u8;
        settings.timing.barrier_latency = 1 + random.below(5) as u16;
        if settings.organisation != ISCA11.organisation && random.chance(50) {
            settings.barrier = BarrierRule::WhenBlocking;
        }
        let cycles = issues(settings, &kernel, &traces);
        for (event, part) in parts.iter().enumerate() {
            let last = part.iter().map(|&(warp, index, _)| cycles[warp][index]).max();
            for &(warp, index, waits) in part {
                let next = cycles[warp][index + 1];
                let free = last.unwrap() + u64::from(settings.timing.barrier_latency);
                assert!(!waits || next >= free, "seed {seed}, event {event}, warp {warp}");
            }
        }
    }
}

#[test]
fn a_trace_that_does_not_know_has_one_barrier() {
    let kernel = Kernel::default().barrier().alu(&[], &[]);
    let named = arriving(kernel.straight(), &[BarrierCall::ALL_THREADS]);
    let unknown = kernel.straight();
    let grid = |warp: &OwnedTrace| vec![vec![warp.clone(); 3]];
    assert_eq!(both(ISCA11, &kernel, 0, &grid(&named)), both(ISCA11, &kernel, 0, &grid(&unknown)));
    assert_eq!(both(ISCA11, &kernel, 0, &one(unknown)).unwrap().cycles(), 2);
}
