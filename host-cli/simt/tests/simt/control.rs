//! Divergence, barriers, calls, warp-level communication.

use strata_core::path::PathStep;
use strata_core::sm::BarrierCall;
use strata_simt::{Launch, LaunchOutcome};

use crate::common::{Arguments, Bench, launch};

/// A module with one kernel that gets its linear thread index in `%me`, and the address of its own
/// word in `%out`; `%r0`.. and `%p0`.. are free.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n.reg .pred %p<8>;\n.reg .b32 %me, %r<16>;\n\
         .reg .b64 %out, %base, %rd<8>;\n.shared .align 16 .b8 memory[4096];\n\
         ld.param.u64 %base, [out];\nmov.u32 %me, %tid.x;\nmul.wide.u32 %out, %me, 4;\n\
         add.u64 %out, %base, %out;\n{body}\n}}\n"
    )
}

/// Runs a kernel's body in one CTA.
fn run(body: &str, threads: u32) -> (Vec<u32>, LaunchOutcome) {
    let mut bench = Bench::new(&kernel(body));
    let out = bench.words("out", &vec![0; threads as usize]);
    let launch = launch(1, threads, Arguments::default().u64(out));
    let outcome = bench.run("k", &launch).unwrap_or_else(|fault| panic!("{fault}"));
    (bench.read(out, threads as usize), outcome)
}

fn by_thread(threads: u32, f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..threads).map(f).collect()
}

/// Every instruction issued with its mask, in order.
fn trace(steps: &[PathStep]) -> Vec<(u32, u32)> {
    steps.iter().flat_map(|s| (s.pc..s.pc + s.length).map(|pc| (pc, s.mask.0))).collect()
}

#[test]
fn nested_branches_reconverge_inside_out() {
    let (out, outcome) = run(
        "mov.u32 %r0, 0;\nand.b32 %r1, %me, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra EVEN;\n\
         and.b32 %r2, %me, 2;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra ODD0;\nadd.u32 %r0, %r0, 1;\n\
         bra ODD;\nODD0:\nadd.u32 %r0, %r0, 2;\nODD:\nadd.u32 %r0, %r0, 16;\nbra END;\n\
         EVEN:\nadd.u32 %r0, %r0, 4;\nEND:\nadd.u32 %r0, %r0, 256;\n\
         st.global.u32 [%out], %r0;\nret;",
        32,
    );
    let expected = by_thread(32, |t| match t & 3 {
        0 | 2 => 260,
        1 => 274,
        _ => 273,
    });
    assert_eq!(out, expected);
    assert_eq!(outcome.paths.len(), 1);
    let trace = trace(outcome.paths.path(0));
    // After every branch has reconverged the warp is whole again, once.
    let last: Vec<u32> = trace.iter().rev().take(3).map(|&(_, mask)| mask).collect();
    assert_eq!(last, [u32::MAX; 3]);
    // `add 16` is issued once for both odd sides together; the fall-through side runs first.
    let odd = trace.iter().filter(|&&(_, mask)| mask == 0xaaaa_aaaa).count();
    assert!(odd >= 3, "{trace:x?}");
    let first_quarter = trace.iter().position(|&(_, m)| m == 0x8888_8888);
    let second_quarter =
        trace.iter().skip_while(|&&(_, m)| m != 0x8888_8888).position(|&(_, m)| m == 0x2222_2222);
    assert!(first_quarter.is_some() && second_quarter.is_some(), "{trace:x?}");
    let issued: u64 = trace.iter().map(|&(_, mask)| u64::from(mask.count_ones())).sum();
    assert_eq!(issued, outcome.thread_instructions);
}

#[test]
fn loops_with_different_trip_counts() {
    let (out, outcome) = run(
        "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, %r0;\nadd.u32 %r0, %r0, 1;\n\
         setp.le.u32 %p0, %r0, %me;\n@%p0 bra LOOP;\nst.global.u32 [%out], %r1;\nret;",
        40,
    );
    assert_eq!(out, by_thread(40, |t| t * (t + 1) / 2));
    // Prologue: 6 + the loop of 4, 32 or 40 times, + 2.
    let issued = |warp: u32| -> u64 {
        let path = outcome.paths.path(outcome.paths.warps()[warp as usize].path);
        path.iter().map(|step| u64::from(step.length)).sum()
    };
    assert_eq!(issued(1) - issued(0), 4 * 8);
}

#[test]
fn early_exit_leaves_the_others_running() {
    let (out, _) = run(
        "and.b32 %r0, %me, 3;\nst.global.u32 [%out], %r0;\nsetp.eq.u32 %p0, %r0, 1;\n\
         @%p0 ret;\nsetp.eq.u32 %p1, %r0, 2;\n@%p1 bra OUT;\nadd.u32 %r0, %r0, 100;\n\
         st.global.u32 [%out], %r0;\nLAST:\nactivemask.b32 %r1;\nst.global.u32 [%out], %r1;\n\
         ret;\nOUT:\nsetp.lt.u32 %p2, %me, 16;\n@%p2 exit;\nbra LAST;",
        32,
    );
    // A side that may exit before it gets to LAST does not reconverge there.
    assert_eq!(
        out,
        by_thread(32, |t| match t & 3 {
            1 => 1,
            2 if t < 16 => 2,
            2 => 0x4444_0000,
            _ => 0x9999_9999,
        })
    );
}

#[test]
fn guarded_instructions_keep_the_other_lanes() {
    let (out, outcome) = run(
        "mov.u32 %r0, 7;\nsetp.lt.u32 %p0, %me, 5;\n@%p0 mov.u32 %r0, 8;\n\
         @!%p0 add.u32 %r0, %r0, 2;\nsetp.gt.u32 %p1, %me, 99;\n@%p1 mov.u32 %r0, 0;\n\
         @%p1 st.global.u32 [%base+4096], %r0;\nst.global.u32 [%out], %r0;\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| if t < 5 { 8 } else { 9 }));
    // Instructions whose guard holds nowhere are issued, with an empty mask.
    let empty = trace(outcome.paths.path(0)).iter().filter(|&&(_, mask)| mask == 0).count();
    assert_eq!(empty, 2);
}

#[test]
fn indexed_branches() {
    let (out, _) = run(
        "and.b32 %r0, %me, 3;\nTS: .branchtargets A, B, C, B;\nbrx.idx %r0, TS;\n\
         A:\nmov.u32 %r1, 10;\nbra END;\nB:\nmov.u32 %r1, 20;\nbra END;\nC:\nmov.u32 %r1, 30;\n\
         END:\nactivemask.b32 %r2;\npopc.b32 %r2, %r2;\nadd.u32 %r1, %r1, %r2;\n\
         st.global.u32 [%out], %r1;\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| [42, 52, 62, 52][t as usize & 3]));
}

#[test]
fn barriers_order_shared_memory_between_partial_warps() {
    // 70 threads: the last warp has 6. Every thread reads its neighbour's value after the barrier.
    let (out, _) = run(
        "mov.u64 %rd0, memory;\ncvt.u32.u64 %r0, %rd0;\nshl.b32 %r1, %me, 2;\n\
         add.u32 %r0, %r0, %r1;\nmul.lo.u32 %r2, %me, 3;\nst.shared.u32 [%r0], %r2;\n\
         bar.sync 0;\nadd.u32 %r3, %me, 33;\nrem.u32 %r3, %r3, 70;\nshl.b32 %r3, %r3, 2;\n\
         ld.shared.u32 %r4, [%r3];\nst.global.u32 [%out], %r4;\nret;",
        70,
    );
    assert_eq!(out, by_thread(70, |t| (t + 33) % 70 * 3));
}

#[test]
fn exited_threads_do_not_hold_up_a_barrier() {
    let (out, _) = run(
        "setp.ge.u32 %p0, %me, 40;\n@%p0 exit;\nbar.sync 0;\nst.global.u32 [%out], 5;\nret;",
        96,
    );
    assert_eq!(out, by_thread(96, |t| if t < 40 { 5 } else { 0 }));
}

#[test]
fn both_sides_of_a_branch_may_arrive_at_a_barrier() {
    let (out, _) = run(
        "setp.lt.u32 %p0, %me, 10;\nmov.u32 %r0, 1;\n@%p0 bra LOW;\nst.shared.u32 [memory], 42;\n\
         bar.sync 0;\nbra END;\nLOW:\nbar.sync 0;\nld.shared.u32 %r0, [memory];\nEND:\n\
         st.global.u32 [%out], %r0;\nret;",
        64,
    );
    assert_eq!(out, by_thread(64, |t| if t < 10 { 42 } else { 1 }));
}

#[test]
fn barriers_with_counts_and_producers() {
    // Warp 0 produces and does not wait; warps 1 and 2 consume.
    let (out, outcome) = run(
        "setp.ge.u32 %p0, %me, 32;\n@%p0 bra CONSUME;\nst.shared.u32 [memory+64], 9;\n\
         bar.arrive 1, 96;\nbra END;\nCONSUME:\nbar.sync 1, 96;\nEND:\n\
         ld.shared.u32 %r0, [memory+64];\nst.global.u32 [%out], %r0;\nret;",
        96,
    );
    assert_eq!(out, vec![9; 96]);
    let named = BarrierCall::new(1, Some(96)).unwrap();
    for warp in 0..3 {
        assert_eq!(outcome.barriers.of_warp(warp), [named]);
    }
}

#[test]
fn barriers_are_recorded_as_they_are_executed() {
    // The number is in a register; lanes of warp 1 arrive apart, and one instruction has no lane.
    let (_, outcome) = run(
        "shr.u32 %r0, %me, 5;\nadd.u32 %r0, %r0, 4;\nsetp.lt.u32 %p0, %me, 48;\n\
         setp.gt.u32 %p1, %me, 99;\nbar.sync 0;\n@%p1 bar.sync 9;\n@%p0 bra LOW;\n\
         bar.sync %r0, 32;\nbra END;\nLOW:\nbar.sync %r0, 32;\nEND:\nbar.sync 15;\nst.global.u32 [%out], 1;\nret;",
        64,
    );
    let call = |id, threads| BarrierCall::new(id, threads).unwrap();
    let all = BarrierCall::ALL_THREADS;
    let first = [all, call(4, Some(32)), call(15, None)];
    let second = [all, call(5, Some(32)), call(5, Some(32)), call(15, None)];
    assert_eq!(outcome.barriers.of_warp(0), first);
    assert_eq!(outcome.barriers.of_warp(1), second);
    // Barriers of all threads of the CTA have no entry.
    let (_, outcome) = run("bar.sync 0;\nbar.sync 0;\nret;", 64);
    assert!(outcome.barriers.is_empty() && outcome.barriers.of_warp(1).is_empty());
}

#[test]
fn barrier_reductions() {
    let (out, _) = run(
        "setp.lt.u32 %p0, %me, 45;\nbar.red.popc.u32 %r0, 0, %p0;\n\
         bar.red.and.pred %p1, 0, %p0;\nbar.red.or.pred %p2, 0, !%p0;\n\
         selp.u32 %r1, 1000, 0, %p1;\n\
         selp.u32 %r2, 2000, 0, %p2;\nadd.u32 %r0, %r0, %r1;\nadd.u32 %r0, %r0, %r2;\n\
         st.global.u32 [%out], %r0;\nret;",
        64,
    );
    assert_eq!(out, vec![2045; 64]);
}

#[test]
fn shuffles_in_every_mode() {
    let body = |mode: &str, b: &str, c: &str| {
        format!(
            "add.u32 %r0, %me, 100;\nshfl.sync.{mode}.b32 %r1|%p0, %r0, {b}, {c}, -1;\n\
             selp.u32 %r2, 1000, 0, %p0;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%out], %r1;\nret;"
        )
    };
    let value = |from: Option<u32>, own: u32| match from {
        Some(from) => 1100 + from,
        None => 100 + own,
    };
    let (out, _) = run(&body("up", "3", "0"), 32);
    assert_eq!(out, by_thread(32, |t| value(t.checked_sub(3), t)));
    let (out, _) = run(&body("down", "5", "31"), 32);
    assert_eq!(out, by_thread(32, |t| value(Some(t + 5).filter(|&from| from < 32), t)));
    let (out, _) = run(&body("bfly", "6", "31"), 32);
    assert_eq!(out, by_thread(32, |t| value(Some(t ^ 6), t)));
    let (out, _) = run(&body("idx", "9", "31"), 32);
    assert_eq!(out, vec![1109; 32]);
    // Segments of 8 lanes: (32 - 8) << 8 | 31 for down, and the like.
    let (out, _) = run(&body("down", "1", "0x181f"), 32);
    assert_eq!(out, by_thread(32, |t| value(Some(t + 1).filter(|_| t % 8 != 7), t)));
    let (out, _) = run(&body("up", "1", "0x1800"), 32);
    assert_eq!(out, by_thread(32, |t| value(t.checked_sub(1).filter(|_| t % 8 != 0), t)));
    let (out, _) = run(&body("idx", "2", "0x181f"), 32);
    assert_eq!(out, by_thread(32, |t| value(Some(t / 8 * 8 + 2), t)));
}

#[test]
fn votes_matches_and_elections() {
    let (out, _) = run(
        "and.b32 %r0, %me, 3;\nsetp.eq.u32 %p0, %r0, 1;\nvote.sync.ballot.b32 %r1, %p0, -1;\n\
         st.global.u32 [%out], %r1;\nret;",
        32,
    );
    assert_eq!(out, vec![0x2222_2222; 32]);
    let (out, _) = run(
        "setp.lt.u32 %p0, %me, 32;\nvote.sync.all.pred %p1, %p0, -1;\n\
         vote.sync.any.pred %p2, !%p0, -1;\n\
         setp.lt.u32 %p3, %me, 4;\nvote.sync.uni.pred %p4, %p3, -1;\nselp.u32 %r0, 1, 0, %p1;\n\
         @%p2 add.u32 %r0, %r0, 2;\n@%p4 add.u32 %r0, %r0, 4;\nst.global.u32 [%out], %r0;\nret;",
        32,
    );
    assert_eq!(out, vec![1; 32]);
    let (out, _) = run(
        "shr.u32 %r0, %me, 3;\nmatch.any.sync.b32 %r1, %r0, -1;\n\
         match.all.sync.b32 %r2|%p0, %r0, -1;\nadd.u32 %r1, %r1, %r2;\n\
         @%p0 add.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| 0xff << (t / 8 * 8)));
    let (out, _) = run(
        "setp.lt.u32 %p1, %me, 6;\n@%p1 bra END;\nelect.sync %r0|%p0, 0xffffffc0;\n\
         redux.sync.add.s32 %r1, %me, 0xffffffc0;\nredux.sync.min.s32 %r2, %me, 0xffffffc0;\n\
         shl.b32 %r2, %r2, 16;\nadd.u32 %r1, %r1, %r2;\n@%p0 add.u32 %r1, %r1, 1;\n\
         st.global.u32 [%out], %r1;\nEND:\nret;",
        32,
    );
    let sum: u32 = (6..32).sum();
    assert_eq!(out, by_thread(32, |t| if t < 6 { 0 } else { sum + (6 << 16) + u32::from(t == 6) }));
}

#[test]
fn lanes_on_different_sides_meet_at_a_synchronising_instruction() {
    // Both conditions jump to the same shuffle by different ways, one of them late.
    let (out, _) = run(
        "mov.u32 %r1, 0;\nsetp.lt.u32 %p0, %me, 8;\n@%p0 bra MEET;\nsetp.ge.u32 %p1, %me, 16;\n\
         @%p1 bra END;\nadd.u32 %r1, %r1, 1;\nMEET:\nadd.u32 %r0, %me, 100;\n\
         shfl.sync.bfly.b32 %r1, %r0, 8, 31, 0xffff;\nEND:\nst.global.u32 [%out], %r1;\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| if t < 16 { 100 + (t ^ 8) } else { 0 }));
    // A warp barrier that each side has for itself.
    let (out, _) = run(
        "setp.lt.u32 %p0, %me, 4;\n@%p0 bra LOW;\nst.shared.u32 [memory], 5;\n\
         bar.warp.sync -1;\nbra END;\nLOW:\nbar.warp.sync 0xf;\nEND:\nbar.warp.sync -1;\n\
         ld.shared.u32 %r0, [memory];\nst.global.u32 [%out], %r0;\nret;",
        4,
    );
    assert_eq!(out, vec![0; 4]);
}

#[test]
fn exited_members_are_not_waited_for() {
    let (out, _) = run(
        "setp.lt.u32 %p0, %me, 4;\n@%p0 bra LOW;\nexit;\nLOW:\n\
         shfl.sync.bfly.b32 %r1, %me, 1, 31, -1;\nst.global.u32 [%out], %r1;\nret;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| if t < 4 { t ^ 1 } else { 0 }));
    // They exit after the others have arrived.
    let (out, _) = run(
        "setp.ge.u32 %p0, %me, 4;\n@%p0 bra OUT;\nshfl.sync.bfly.b32 %r1, %me, 1, 31, -1;\n\
         st.global.u32 [%out], %r1;\nexit;\nOUT:\nst.global.u32 [%out], 9;\nexit;",
        32,
    );
    assert_eq!(out, by_thread(32, |t| if t < 4 { t ^ 1 } else { 9 }));
}

#[test]
fn threads_that_spin_on_each_other_make_progress() {
    // Warp 0 waits in a loop for warp 1.
    let wait =
        "WAIT:\nld.volatile.shared.u32 %r0, [memory];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra WAIT;\n";
    let (out, _) = run(
        &format!(
            "setp.ge.u32 %p0, %me, 32;\n@%p0 bra SET;\n{wait}st.global.u32 [%out], %r0;\nret;\n\
             SET:\nst.volatile.shared.u32 [memory], 6;\nret;"
        ),
        64,
    );
    assert_eq!(out, by_thread(64, |t| if t < 32 { 6 } else { 0 }));
    // One side of a branch waits for the other, which is not the one that runs first.
    let (out, _) = run(
        &format!(
            "setp.ge.u32 %p0, %me, 9;\n@%p0 bra SET;\n{wait}st.global.u32 [%out], %r0;\nbra END;\n\
             SET:\nst.volatile.shared.u32 [memory], 6;\nEND:\nret;"
        ),
        32,
    );
    assert_eq!(out, by_thread(32, |t| if t < 9 { 6 } else { 0 }));
}

#[test]
fn functions_with_parameters_and_results() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n\
        .func (.param .b32 result) twice(.param .b32 x, .param .align 8 .b8 pair[16]) {\n\
        .reg .b32 %r<4>;\n.reg .pred %p;\nld.param.u32 %r0, [x];\nld.param.u32 %r1, [pair+8];\n\
        setp.eq.u32 %p, %r0, 3;\n@%p bra SKIP;\nadd.u32 %r0, %r0, %r1;\n\
        st.param.b32 [result], %r0;\nret;\nSKIP:\nst.param.b32 [result], 77;\nret;\n}\n\
        .visible .entry k(.param .u64 out) {\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n\
        ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\n\
        add.u64 %rd0, %rd0, %rd1;\n{\n.param .b32 a;\n.param .align 8 .b8 b[16];\n.param .b32 c;\n\
        st.param.b32 [a], %r0;\nst.param.b64 [b+8], %rd1;\n\
        call.uni (c), twice, (a, b);\nld.param.b32 %r1, [c];\n}\nst.global.u32 [%rd0], %r1;\n\
         ret;\n}\n";
    let mut bench = Bench::new(text);
    let out = bench.words("out", &[0; 8]);
    bench.run("k", &launch(1, 8, Arguments::default().u64(out))).unwrap();
    assert_eq!(bench.read(out, 8), by_thread(8, |t| if t == 3 { 77 } else { 5 * t }));
}

#[test]
fn special_registers() {
    let mut bench = Bench::new(&kernel(
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\nmov.u32 %r3, %ntid.x;\n\
         mov.u32 %r4, %ntid.y;\nmov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %nctaid.y;\n\
         mad.lo.u32 %r7, %r2, %r4, %r1;\nmad.lo.u32 %r7, %r7, %r3, %r0;\n\
         mov.u32 %r8, %laneid;\nmov.u32 %r9, %warpid;\nmad.lo.u32 %r9, %r9, 32, %r8;\n\
         setp.ne.u32 %p0, %r9, %r7;\n@%p0 trap;\nmov.u32 %r10, %lanemask_lt;\n\
         popc.b32 %r10, %r10;\nsetp.ne.u32 %p0, %r10, %r8;\n@%p0 trap;\n\
         mov.u32 %r10, %lanemask_ge;\nclz.b32 %r11, %r10;\nsetp.ne.u32 %p0, %r11, 0;\n@%p0 trap;\n\
         mov.u32 %r11, %ctaid.x;\nmad.lo.u32 %r11, %r5, 2, %r11;\nmad.lo.u32 %r11, %r11, 42, %r7;\n\
         mul.wide.u32 %rd0, %r11, 4;\nadd.u64 %rd0, %rd0, %base;\nshl.b32 %r6, %r6, 16;\n\
         or.b32 %r6, %r6, %r11;\nst.global.u32 [%rd0], %r6;\nret;",
    ));
    let out = bench.words("out", &[0; 42 * 6]);
    let arguments = Arguments::default().u64(out).0;
    let launch = Launch { arguments, ..Launch::new([2, 3, 1], [7, 3, 2]) };
    bench.run("k", &launch).unwrap();
    assert_eq!(bench.read(out, 42 * 6), by_thread(42 * 6, |i| 3 << 16 | i));
}

#[test]
fn clocks_count_instructions() {
    let (out, _) = run(
        "mov.u32 %r0, %clock;\nadd.u32 %r1, %me, 1;\nadd.u32 %r1, %r1, 1;\n\
         mov.u64 %rd0, %clock64;\n\
         cvt.u32.u64 %r2, %rd0;\nsub.u32 %r2, %r2, %r0;\nst.global.u32 [%out], %r2;\nret;",
        64,
    );
    assert_eq!(out, vec![3; 64]);
}

#[test]
fn the_same_launch_gives_the_same_outcome() {
    let body = "mov.u32 %r0, 0;\nLOOP:\natom.global.add.u32 %r1, [%base], %me;\n\
                add.u32 %r0, %r0, %r1;\nand.b32 %r2, %r0, 7;\nsetp.ne.u32 %p0, %r2, 3;\n\
                setp.lt.and.u32 %p0, %r1, 50000, %p0;\n@%p0 bra LOOP;\nbar.sync 0;\n\
                st.global.u32 [%out], %r0;\nret;";
    assert_eq!(run(body, 96), run(body, 96));
}
