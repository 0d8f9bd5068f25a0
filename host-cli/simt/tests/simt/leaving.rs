//! Lanes that exit without arriving at a `.sync` operation that names them, and what others do
//! meanwhile: results, faults, and values that must not be lost in the order that follows.

use strata_simt::Launch;

use crate::common::{Arguments, Bench, config, launch};

/// A module with one kernel: `%me` is the thread's index, `%lane` its lane, `%out` the address of
/// its own word, `%in` that of its own input.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out) {{\n.reg .pred %p<8>;\n\
         .reg .b32 %me, %lane, %r<32>;\n.reg .b64 %in, %out, %base, %rd<8>;\n\
         .shared .align 16 .b8 memory[64];\n\
         ld.param.u64 %in, [in];\nld.param.u64 %base, [out];\nmov.u32 %me, %tid.x;\n\
         mov.u32 %lane, %laneid;\nmul.wide.u32 %rd0, %me, 4;\nadd.u64 %in, %in, %rd0;\n\
         add.u64 %out, %base, %rd0;\n{body}\n}}\n"
    )
}

/// Lines of a kernel before its body.
const LINES: u32 = 15;

/// Input of a thread.
fn input(thread: u32) -> u32 {
    1000 + 7 * thread
}

fn prepare(body: &str, threads: u32) -> (Bench, u64, Launch) {
    let mut bench = Bench::new(&kernel(body));
    let given: Vec<u32> = (0..threads).map(input).collect();
    let given = bench.words("in", &given);
    let out = bench.words("out", &vec![0; threads as usize]);
    let launch = launch(1, threads, Arguments::default().u64(given).u64(out));
    (bench, out, launch)
}

/// What a kernel stores, which must be the same with its values in every hierarchy and with few
/// registers.
fn run(body: &str, threads: u32) -> Vec<u32> {
    run_in(19, body, threads)
}

/// What a kernel stores, which must be the same with its values in every `step`th of the
/// hierarchies and with few registers.
fn run_in(step: usize, body: &str, threads: u32) -> Vec<u32> {
    let (mut bench, out, launch) = prepare(body, threads);
    bench.run("k", &launch).unwrap_or_else(|fault| panic!("{fault}"));
    let stored = bench.read(out, threads as usize);
    for registers in [None, strata_compiler::RegisterLimit::new(16)] {
        bench.registers = registers;
        for number in (0..150).step_by(step) {
            bench.device.write(out, &vec![0; 4 * threads as usize]).expect("the same buffer");
            let fitted = bench.at_levels("k", &config(number));
            strata_simt::execute(&mut bench.device, &fitted, &launch)
                .unwrap_or_else(|fault| panic!("hierarchy {number}: {fault}"));
            assert_eq!(bench.read(out, threads as usize), stored, "hierarchy {number}\n{body}");
        }
    }
    stored
}

/// Why a kernel stops.
fn fault(body: &str, threads: u32) -> String {
    let (mut bench, _, launch) = prepare(body, threads);
    bench.run("k", &launch).expect_err("it must not end").to_string()
}

fn by_thread(threads: u32, f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..threads).map(f).collect()
}

/// An operation and what it gives to a lane.
type Operation = (&'static str, fn(u32) -> u32);

/// Each operation, its result in `%r1`, and what a lane below 4 gets.
fn operations() -> Vec<Operation> {
    vec![
        ("vote.sync.ballot.b32 %r1, %p1, -1;", |_| 0b0101),
        ("vote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r1, 1, 2, %p2;", |_| 2),
        ("vote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r1, 1, 2, %p2;", |_| 1),
        ("vote.sync.all.pred %p2, %p3, -1;\nselp.u32 %r1, 1, 2, %p2;", |_| 1),
        ("vote.sync.uni.pred %p2, %p3, -1;\nselp.u32 %r1, 1, 2, %p2;", |_| 1),
        ("shfl.sync.bfly.b32 %r1, %me, 1, 31, -1;", |lane| lane ^ 1),
        ("shfl.sync.idx.b32 %r1, %me, 2, 31, -1;", |_| 2),
        ("shfl.sync.up.b32 %r1, %me, 1, 0, -1;", |lane| lane.saturating_sub(1)),
        ("match.any.sync.b32 %r1, %r2, -1;", |lane| if lane % 2 == 0 { 0b0101 } else { 0b1010 }),
        ("match.all.sync.b32 %r1|%p2, %r3, -1;", |_| 0b1111),
        ("redux.sync.add.u32 %r1, %me, -1;", |_| 6),
        ("redux.sync.max.u32 %r1, %me, -1;", |_| 3),
        (
            "elect.sync %r1|%p2, -1;\n@%p2 add.u32 %r1, %r1, 100;",
            |lane| {
                if lane == 0 { 100 } else { 0 }
            },
        ),
        ("bar.warp.sync -1;\nmov.u32 %r1, 5;", |_| 5),
    ]
}

const SET: &str = "setp.lt.u32 %p0, %lane, 4;\nand.b32 %r2, %lane, 1;\n\
                   setp.eq.u32 %p1, %r2, 0;\nsetp.lt.u32 %p3, %lane, 4;\nmov.u32 %r3, 9;\n";

#[test]
fn every_operation_goes_without_lanes_that_have_exited() {
    for (operation, result) in operations() {
        let body = format!(
            "{SET}@%p0 bra LOW;\nexit;\nLOW:\n{operation}\nst.global.u32 [%out], %r1;\nret;"
        );
        let expected = by_thread(32, |lane| if lane < 4 { result(lane) } else { 0 });
        assert_eq!(run(&body, 32), expected, "{operation}");
    }
}

#[test]
fn every_operation_goes_without_lanes_that_exit_while_it_waits() {
    for (operation, result) in operations() {
        let body = format!(
            "{SET}@!%p0 bra OUT;\n{operation}\nst.global.u32 [%out], %r1;\nexit;\nOUT:\n\
             st.global.u32 [%out], 7;\nexit;"
        );
        let expected = by_thread(32, |lane| if lane < 4 { result(lane) } else { 7 });
        assert_eq!(run(&body, 32), expected, "{operation}");
    }
}

#[test]
fn lanes_at_a_reconvergence_point_before_the_end_go_on_to_it() {
    for (operation, result) in operations() {
        // With nothing but `ret` there, and with code in which some lanes diverge once more.
        for (end, skipped) in [
            ("ret;", [0, 0]),
            (
                "setp.gt.u32 %p4, %me, 15;\n@%p4 bra HIGH;\n@!%p0 st.global.u32 [%out], 3;\nret;\n\
              HIGH:\nst.global.u32 [%out], 4;\nret;",
                [3, 4],
            ),
        ] {
            let body = format!(
                "{SET}@!%p0 bra END;\n{operation}\nst.global.u32 [%out], %r1;\nEND:\n{end}"
            );
            let expected = by_thread(32, |lane| match lane {
                0..4 => result(lane),
                4..16 => skipped[0],
                _ => skipped[1],
            });
            assert_eq!(run(&body, 32), expected, "{operation} {end}");
        }
    }
}

#[test]
fn lanes_go_on_from_inner_reconvergence_points_to_outer_ones() {
    // Lanes 0 to 3 wait; 4 to 7 are at the inner point, 8 to 31 at the outer one. The inner ones
    // go on first: all others store together, which `activemask` shows.
    let out = run(
        "setp.lt.u32 %p0, %lane, 8;\nsetp.lt.u32 %p1, %lane, 4;\nmov.u32 %r1, 0;\n@!%p0 bra OUTER;\n\
         add.u32 %r1, %r1, 1;\n@!%p1 bra INNER;\nvote.sync.ballot.b32 %r1, %p0, -1;\n\
         INNER:\nadd.u32 %r1, %r1, 64;\nOUTER:\nactivemask.b32 %r2;\nadd.u32 %r1, %r1, %r2;\n\
         st.global.u32 [%out], %r1;\nret;",
        32,
    );
    let others = 0xffff_fff0_u32;
    assert_eq!(
        out,
        by_thread(32, |lane| match lane {
            0..4 => 0xf + 64 + 0xf,
            4..8 => others.wrapping_add(65),
            _ => others,
        })
    );
}

#[test]
fn lanes_of_a_partial_warp_that_never_were_are_not_waited_for() {
    let out = run(
        "setp.lt.u32 %p0, %lane, 2;\n@!%p0 bra END;\nredux.sync.add.u32 %r1, %me, -1;\n\
         st.global.u32 [%out], %r1;\nEND:\nret;",
        40,
    );
    assert_eq!(
        out,
        by_thread(40, |t| match t {
            0 | 1 => 1,
            32 | 33 => 65,
            _ => 0,
        })
    );
}

#[test]
fn a_shuffle_that_reads_an_exited_lane_is_a_fault() {
    let shuffle = |source: u32| {
        format!(
            "setp.lt.u32 %p0, %lane, 4;\n@!%p0 bra END;\n\
             shfl.sync.idx.b32 %r1, %me, {source}, 31, -1;\nst.global.u32 [%out], %r1;\nEND:\nret;"
        )
    };
    assert_eq!(run(&shuffle(3), 32), by_thread(32, |lane| if lane < 4 { 3 } else { 0 }));
    assert_eq!(
        fault(&shuffle(9), 32),
        format!(
            "lane 0 shuffles the value of lane 9, which has exited (kernel `k`, PTX line {}, CTA \
             (0, 0, 0), thread (0, 0, 0))",
            LINES + 3
        )
    );
    // The lane that reads need not be the first.
    let message = fault(
        "setp.lt.u32 %p0, %lane, 4;\n@!%p0 bra END;\nshfl.sync.down.b32 %r1, %me, 1, 31, -1;\n\
         END:\nret;",
        64,
    );
    assert!(
        message.starts_with("lane 3 shuffles the value of lane 4, which has exited"),
        "{message}"
    );
    // Out of range is the lane's own value, and so is a lane that is there but takes no part.
    assert_eq!(
        run("shfl.sync.down.b32 %r1, %me, 1, 31, -1;\nst.global.u32 [%out], %r1;\nret;", 8),
        by_thread(8, |lane| if lane < 7 { lane + 1 } else { 7 })
    );
}

#[test]
fn lanes_with_different_member_masks_execute_apart() {
    // Even and odd lanes each have their own mask, from `match`.
    let out = run(
        "and.b32 %r2, %lane, 1;\nmatch.any.sync.b32 %r3, %r2, -1;\n\
         redux.sync.add.u32 %r1, %me, %r3;\nst.global.u32 [%out], %r1;\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |lane| if lane % 2 == 0 { 240 } else { 256 }));
    // Of lanes that wait at one place those of one mask may go before the others.
    let out = run(
        "and.b32 %r2, %lane, 1;\nmov.u32 %r3, 0x55555555;\nshl.b32 %r3, %r3, %r2;\n\
         setp.lt.u32 %p0, %lane, 16;\n@!%p0 bra END;\nredux.sync.add.u32 %r1, %me, %r3;\n\
         st.global.u32 [%out], %r1;\nEND:\nret;",
        32,
    );
    assert_eq!(
        out,
        by_thread(32, |lane| match lane {
            16.. => 0,
            lane if lane % 2 == 0 => 56,
            _ => 64,
        })
    );
}

#[test]
fn a_lane_that_its_member_mask_does_not_name_is_a_fault() {
    let message = fault("vote.sync.ballot.b32 %r1, %p0, 0xff;\nret;", 32);
    assert_eq!(
        message,
        format!(
            "lane 8 executes this instruction, but the member mask 0x000000ff does not name it \
             (kernel `k`, PTX line {}, CTA (0, 0, 0), thread (8, 0, 0))",
            LINES + 1
        )
    );
}

#[test]
fn lanes_that_would_wait_again_or_come_back_do_not_go_on() {
    // The others' way leads through another operation, a barrier of the CTA, a loop.
    for end in [
        "bar.warp.sync -1;",
        "bar.sync 0;",
        "AGAIN:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, 9;\n@%p4 bra AGAIN;",
    ] {
        let message = fault(
            &format!(
                "mov.u32 %r5, 0;\nsetp.lt.u32 %p0, %lane, 4;\n@!%p0 bra END;\n\
                 vote.sync.ballot.b32 %r1, %p0, 0xff;\nEND:\n{end}\nret;"
            ),
            32,
        );
        let expected = format!(
            "lanes 0x000000f0 of the member mask 0x000000ff never reach this instruction (kernel \
             `k`, PTX line {}, CTA (0, 0, 0), thread (0, 0, 0))",
            LINES + 4
        );
        assert_eq!(message, expected, "{end}");
    }
}

/// Lanes wait with values of their own, while those that go on are descheduled and use registers.
#[test]
fn values_of_lanes_that_wait_are_not_lost_while_others_go_on_to_the_end() {
    let out = run_in(
        3,
        "setp.lt.u32 %p0, %lane, 4;\n@!%p0 bra END;\nadd.u32 %r4, %me, 10;\nadd.u32 %r5, %r4, 20;\n\
         xor.b32 %r6, %r5, %r4;\nredux.sync.add.u32 %r1, %r6, -1;\nadd.u32 %r7, %r4, %r5;\n\
         add.u32 %r7, %r7, %r6;\nadd.u32 %r7, %r7, %r1;\nst.global.u32 [%out], %r7;\nEND:\n\
         @%p0 ret;\nld.global.u32 %r8, [%in];\nadd.u32 %r9, %r8, 1;\nmul.lo.u32 %r10, %r9, %r8;\n\
         ld.global.u32 %r11, [%in];\nadd.u32 %r10, %r10, %r11;\nst.global.u32 [%out], %r10;\nret;",
        32,
    );
    let (a, b) = (|t: u32| t + 10, |t: u32| t + 30);
    let sum: u32 = (0..4).map(|t| a(t) ^ b(t)).sum();
    assert_eq!(
        out,
        by_thread(32, |t| if t < 4 {
            a(t) + b(t) + (a(t) ^ b(t)) + sum
        } else {
            input(t) * (input(t) + 1) + input(t)
        })
    );
}

/// Lanes wait with values of their own, where the other side exits by itself, and where both sides
/// wait at barriers.
#[test]
fn values_of_lanes_that_wait_are_not_lost_while_the_other_side_runs() {
    for (wait, other) in [
        ("redux.sync.add.u32 %r1, %r6, -1;", "exit;"),
        ("mov.u32 %r1, 5;\nbarrier.sync 0;", "barrier.sync 0;\nbra END;"),
        ("mov.u32 %r1, 5;\nbarrier.sync 0;", "exit;"),
    ] {
        let out = run_in(
            3,
            &format!(
                "setp.lt.u32 %p0, %lane, 4;\n@!%p0 bra OTHER;\nadd.u32 %r4, %me, 10;\n\
                 add.u32 %r5, %r4, 20;\nxor.b32 %r6, %r5, %r4;\n{wait}\nadd.u32 %r7, %r4, %r5;\n\
                 add.u32 %r7, %r7, %r6;\nadd.u32 %r7, %r7, %r1;\nst.global.u32 [%out], %r7;\n\
                 bra END;\nOTHER:\nld.global.u32 %r8, [%in];\nadd.u32 %r9, %r8, 1;\n\
                 mul.lo.u32 %r10, %r9, %r8;\nst.global.u32 [%out], %r10;\n{other}\nEND:\nret;"
            ),
            32,
        );
        let (a, b) = (|t: u32| t + 10, |t: u32| t + 30);
        let sum: u32 =
            if wait.starts_with("redux") { (0..4).map(|t| a(t) ^ b(t)).sum() } else { 5 };
        let expected = by_thread(32, |t| {
            if t < 4 { a(t) + b(t) + (a(t) ^ b(t)) + sum } else { input(t) * (input(t) + 1) }
        });
        assert_eq!(out, expected, "{wait} {other}");
    }
}

/// A side that runs for longer than a slice keeps its values: others go on only where loops may
/// wait for them.
#[test]
fn values_are_not_lost_when_a_slice_ends() {
    let out = run_in(
        13,
        "setp.lt.u32 %p0, %lane, 4;\nmov.u32 %r1, 0;\n@!%p0 bra OTHER;\nmov.u32 %r2, 0;\nAGAIN:\n\
         add.u32 %r3, %r2, %me;\nxor.b32 %r4, %r3, 21;\nadd.u32 %r5, %r3, %r4;\n\
         add.u32 %r1, %r1, %r5;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 11000;\n\
         @%p1 bra AGAIN;\nst.global.u32 [%out], %r1;\nbra END;\nOTHER:\n\
         ld.global.u32 %r8, [%in];\nadd.u32 %r9, %r8, 1;\nmul.lo.u32 %r10, %r9, %r8;\n\
         st.global.u32 [%out], %r10;\nEND:\nret;",
        8,
    );
    let sum = |t: u32| (0..11000).map(|i| (i + t) + ((i + t) ^ 0x15)).fold(0, u32::wrapping_add);
    assert_eq!(out, by_thread(8, |t| if t < 4 { sum(t) } else { input(t) * (input(t) + 1) }));
}

/// A loop that waits for the other side, with a value that it keeps above the main register file.
#[test]
fn a_loop_that_waits_for_the_other_side_keeps_its_values() {
    let out = run_in(
        3,
        "setp.lt.u32 %p0, %lane, 4;\n@!%p0 bra OTHER;\nadd.u32 %r4, %me, 10;\nadd.u32 %r5, %r4, 20;\n\
         WAIT:\nadd.u32 %r6, %r5, %r4;\nld.volatile.shared.u32 %r7, [memory];\n\
         add.u32 %r8, %r6, %r7;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra WAIT;\n\
         st.global.u32 [%out], %r8;\nbra END;\nOTHER:\nld.global.u32 %r9, [%in];\n\
         add.u32 %r10, %r9, 1;\nst.volatile.shared.u32 [memory], 6;\nst.global.u32 [%out], %r10;\n\
         END:\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| if t < 4 { 2 * t + 46 } else { input(t) + 1 }));
}
