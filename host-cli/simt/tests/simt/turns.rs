//! CTAs that wait for each other, warps and lanes that do, and launches that can never end.

use strata_simt::{Fault, Launch, LaunchOutcome};

use crate::common::{Arguments, Bench};

const FLAG: u32 = 7;

/// A kernel that has its CTA in `%cta`, its thread in `%me`, the number of CTAs in `%ctas`, and the
/// address of some words in `%out`.
fn bench(body: &str) -> Bench {
    Bench::new(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n.reg .pred %p<8>;\n\
         .reg .b32 %cta, %me, %ctas, %r<16>;\n.reg .b64 %out, %rd<8>;\n\
         .shared .u32 flag;\nld.param.u64 %out, [out];\nmov.u32 %cta, %ctaid.x;\n\
         mov.u32 %ctas, %nctaid.x;\nmov.u32 %me, %tid.x;\n{body}\nret;\n}}\n"
    ))
}

fn run_with(body: &str, launch: &Launch) -> Result<(Vec<u32>, LaunchOutcome), Fault> {
    let mut bench = bench(body);
    let out = bench.words("out", &[0; 256]);
    let arguments = Arguments::default().u64(out).0;
    let outcome = bench.run("k", &Launch { arguments, ..launch.clone() })?;
    Ok((bench.read(out, 256), outcome))
}

fn run(body: &str, ctas: u32, threads: u32) -> Result<(Vec<u32>, LaunchOutcome), Fault> {
    run_with(body, &Launch::new([ctas, 1, 1], [threads, 1, 1]))
}

fn words(body: &str, ctas: u32, threads: u32) -> Vec<u32> {
    run(body, ctas, threads).unwrap_or_else(|fault| panic!("{fault}")).0
}

/// CTA 0 waits until the last CTA has stored.
const FOR_THE_LAST: &str = "setp.ne.u32 %p0, %cta, 0;\n@%p0 bra OTHER;\n\
    WAIT:\nld.volatile.global.u32 %r0, [%out];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra WAIT;\n\
    st.global.u32 [%out+4], %r0;\nbra END;\n\
    OTHER:\nadd.u32 %r1, %cta, 1;\nsetp.ne.u32 %p2, %r1, %ctas;\n@%p2 bra END;\n\
    st.volatile.global.u32 [%out], 7;\nEND:";

#[test]
fn a_cta_may_wait_for_a_later_one() {
    for (ctas, threads) in [(2, 32), (2, 1), (50, 64), (3, 256)] {
        assert_eq!(words(FOR_THE_LAST, ctas, threads)[1], FLAG, "{ctas} x {threads}");
    }
    // A weak load waits as well: nothing else runs meanwhile that could not be seen.
    assert_eq!(words(&FOR_THE_LAST.replace(".volatile", ""), 2, 32)[1], FLAG);
}

#[test]
fn paths_are_those_of_the_same_launch_however_they_are_recorded() {
    let (_, outcome) = run(FOR_THE_LAST, 5, 64).unwrap();
    let order: Vec<(u64, u32)> =
        outcome.paths.warps().iter().map(|warp| (warp.cta, warp.warp)).collect();
    let expected: Vec<(u64, u32)> =
        (0..5).flat_map(|cta| (0..2).map(move |warp| (cta, warp))).collect();
    assert_eq!(order, expected, "in order of CTAs, although the first ends last");
    assert_eq!(outcome.paths.warp_instructions(), outcome.warp_instructions);
    let mut bench = bench(FOR_THE_LAST);
    let out = bench.words("out", &[0; 256]);
    let arguments = Arguments::default().u64(out).0;
    let executable = bench.prepare("k").unwrap();
    let launch = Launch { arguments, ..Launch::new([5, 1, 1], [64, 1, 1]) };
    let mut parts = 0;
    let again = strata_simt::execute_in_parts(
        &mut bench.device,
        &executable,
        &launch,
        1 << 30,
        &mut |_| parts += 1,
    );
    assert_eq!(again.unwrap().paths, outcome.paths);
    assert_eq!(parts, 0);
}

#[test]
fn ctas_in_a_ring_wait_for_each_other() {
    // Each waits for the CTA behind it; the last goes first.
    let body = "mul.wide.u32 %rd0, %cta, 4;\nadd.u64 %rd0, %rd0, %out;\n\
        add.u32 %r1, %cta, 1;\nsetp.eq.u32 %p0, %r1, %ctas;\nmov.u32 %r0, 0;\n@%p0 bra GO;\n\
        WAIT:\nld.volatile.global.u32 %r0, [%rd0+4];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra WAIT;\n\
        GO:\nadd.u32 %r0, %r0, 1;\nsetp.eq.u32 %p2, %me, 0;\n@%p2 st.volatile.global.u32 [%rd0], %r0;";
    let expected: Vec<u32> = (1..=20).rev().collect();
    assert_eq!(words(body, 20, 32)[..20], expected);
}

#[test]
fn a_barrier_of_all_ctas_that_the_kernel_makes_itself_completes() {
    // Three rounds; all but one CTA of each wait.
    let body = "mov.u32 %r4, 0;\nROUND:\nadd.u32 %r4, %r4, 1;\nmul.lo.u32 %r5, %r4, %ctas;\n\
        setp.ne.u32 %p0, %me, 0;\n@%p0 bra MEET;\nred.global.add.u32 [%out], 1;\n\
        WAIT:\nld.acquire.gpu.global.u32 %r0, [%out];\nsetp.lt.u32 %p1, %r0, %r5;\n@%p1 bra WAIT;\n\
        MEET:\nbar.sync 0;\nsetp.lt.u32 %p2, %r4, 3;\n@%p2 bra ROUND;";
    assert_eq!(words(body, 12, 64)[0], 36);
}

#[test]
fn a_ticket_lock_is_passed_on() {
    let body = "setp.ne.u32 %p0, %me, 0;\n@%p0 bra END;\n\
        atom.global.add.u32 %r0, [%out], 1;\n\
        WAIT:\nld.acquire.gpu.global.u32 %r1, [%out+4];\nsetp.ne.u32 %p1, %r0, %r1;\n@%p1 bra WAIT;\n\
        ld.global.u32 %r2, [%out+8];\nadd.u32 %r2, %r2, %cta;\nst.global.u32 [%out+8], %r2;\n\
        atom.global.add.u32 %r3, [%out+4], 1;\nEND:";
    assert_eq!(words(body, 30, 64)[..3], [30, 30, 435]);
}

#[test]
fn one_that_counts_its_polls_lets_the_others_start_too() {
    let body = FOR_THE_LAST
        .replace("setp.eq.u32 %p1, %r0, 0;", "add.u32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r0, 0;");
    let (words, outcome) = run(&body, 2, 32).unwrap();
    assert_eq!(words[1], FLAG);
    assert!(outcome.warp_instructions > 1 << 24, "{}", outcome.warp_instructions);
}

fn never_ends(body: &str, ctas: u32, threads: u32) -> String {
    match run(body, ctas, threads) {
        Err(fault @ Fault::NeverEnds(_)) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_thread_changes_is_waited_for_in_vain() {
    let poll =
        "WAIT:\nld.volatile.global.u32 %r0, [%out+16];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra WAIT;";
    let fault = never_ends(poll, 3, 64);
    assert!(fault.contains("reads byte 16 of `out`"), "{fault}");
    assert!(fault.contains("; 3 CTAs wait"), "{fault}");
    assert!(fault.contains("PTX line 14, CTA (0, 0, 0), thread (0, 0, 0)"), "{fault}");
    let shared =
        "WAIT:\nld.volatile.shared.u32 %r0, [flag];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra WAIT;";
    let fault = never_ends(shared, 1, 64);
    assert!(fault.contains("reads shared address 0x0"), "{fault}");
    never_ends("LOOP:\nbra LOOP;", 2, 32);
    // The loops of its warps have different lengths, and one stores what is there already.
    never_ends(
        "setp.lt.u32 %p0, %me, 32;\n@%p0 bra LOOP;\nLONG:\nst.global.u32 [%out], 0;\nmov.u32 %r0, 1;\n\
         mov.u32 %r0, 2;\nbra LONG;\nLOOP:\nmov.u32 %r1, 1;\nbra LOOP;",
        1,
        64,
    );
}

#[test]
fn a_lock_whose_holder_waits_for_its_own_warp_never_ends() {
    let lock = "WAIT:\natom.global.cas.b32 %r0, [%out], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n\
        @%p0 bra WAIT;\natom.global.exch.b32 %r1, [%out], 0;";
    let fault = never_ends(lock, 1, 32);
    assert!(fault.contains("reads byte 0 of `out`"), "{fault}");
    assert!(fault.contains("while lanes 0x00000001 of its warp wait for it"), "{fault}");
    // With the section inside of the loop it is passed from lane to lane.
    let inside = "mov.u32 %r2, 0;\nWAIT:\natom.global.cas.b32 %r0, [%out], 0, 1;\n\
        setp.ne.u32 %p0, %r0, 0;\n@%p0 bra NEXT;\nld.volatile.global.u32 %r1, [%out+4];\n\
        add.u32 %r1, %r1, 1;\nst.volatile.global.u32 [%out+4], %r1;\nmov.u32 %r2, 1;\n\
        atom.global.exch.b32 %r1, [%out], 0;\nNEXT:\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra WAIT;";
    assert_eq!(words(inside, 2, 64)[..2], [0, 128]);
}

#[test]
fn warps_and_sides_of_a_branch_wait_for_each_other() {
    // Warp 0 waits for warp 1, and lane 0 of each for lane 31 on the other side of a branch.
    let body = "setp.lt.u32 %p0, %me, 32;\n@%p0 bra FIRST;\nst.volatile.shared.u32 [flag], 1;\nbra MEET;\n\
        FIRST:\nld.volatile.shared.u32 %r0, [flag];\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra FIRST;\nMEET:\n\
        and.b32 %r1, %me, 31;\nsetp.eq.u32 %p2, %r1, 31;\n@%p2 bra SETS;\n\
        WAIT:\nld.volatile.global.u32 %r2, [%out];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra WAIT;\nbra END;\n\
        SETS:\nst.volatile.global.u32 [%out], 7;\nEND:";
    assert_eq!(words(body, 1, 64)[0], FLAG);
}

#[test]
fn a_loop_that_counts_or_reads_a_clock_is_no_circle() {
    // Twenty slices and a few instructions, without a store; registers alone go on.
    let count = "mov.u32 %r0, 0;\nLOOP:\nadd.u32 %r0, %r0, 1;\nld.volatile.global.u32 %r1, [%out+16];\n\
        setp.lt.u32 %p0, %r0, 400000;\n@%p0 bra LOOP;\nst.global.u32 [%out], %r0;";
    let (found, outcome) = run(count, 1, 32).unwrap();
    assert_eq!(found[0], 400_000);
    assert!(outcome.warp_instructions > 20 << 16);
    // The clock's value does not outlive an iteration.
    let clock = "LOOP:\nmov.u32 %r0, %clock;\nsetp.lt.u32 %p0, %r0, 2000000;\nmov.u32 %r0, 0;\n\
        @%p0 bra LOOP;\nst.global.u32 [%out], 7;";
    assert_eq!(words(clock, 1, 32)[0], FLAG);
    // What it waits for changes by its own hand.
    let own = "LOOP:\natom.global.add.u32 %r0, [%out], 1;\nsetp.lt.u32 %p0, %r0, 300000;\nmov.u32 %r0, 0;\n\
        @%p0 bra LOOP;\nst.global.u32 [%out+4], 7;";
    assert_eq!(words(own, 1, 1)[1], FLAG);
}

/// What cooperative groups make of `grid.sync()`, twice; each thread reads another CTA's word.
const GRID_SYNC: &str = "mov.u32 %r0, %envreg2;\nmov.u32 %r1, %envreg1;\nmov.b64 %rd0, {%r0, %r1};\n\
    setp.ne.s64 %p0, %rd0, 0;\n@%p0 bra VALID;\ntrap;\nVALID:\n\
    mov.u32 %r2, %ntid.x;\nmad.lo.u32 %r3, %cta, %r2, %me;\nmul.wide.u32 %rd1, %r3, 4;\n\
    add.u64 %rd1, %rd1, %out;\nadd.u32 %r4, %r3, 1;\nst.global.u32 [%rd1], %r4;\nmov.u32 %r9, 0;\n\
    SYNC:\nbarrier.sync 0;\nsetp.ne.u32 %p1, %me, 0;\n@%p1 bra MEET;\n\
    setp.eq.u32 %p2, %cta, 0;\nsub.u32 %r5, -2147483647, %ctas;\nselp.b32 %r6, %r5, 1, %p2;\n\
    atom.add.release.gpu.u32 %r7, [%rd0+4], %r6;\n\
    WAIT:\nld.acquire.gpu.u32 %r8, [%rd0+4];\nxor.b32 %r8, %r8, %r7;\nsetp.gt.s32 %p3, %r8, -1;\n\
    @%p3 bra WAIT;\nMEET:\nbarrier.sync 0;\n\
    setp.ne.u32 %p4, %r9, 0;\n@%p4 bra STORE;\nmov.u32 %r9, 1;\n\
    mul.lo.u32 %r10, %ctas, %r2;\nsub.u32 %r10, %r10, 1;\nsub.u32 %r10, %r10, %r3;\n\
    mul.wide.u32 %rd2, %r10, 4;\nadd.u64 %rd2, %rd2, %out;\nld.global.u32 %r11, [%rd2];\nbra SYNC;\n\
    STORE:\nst.global.u32 [%rd1], %r11;";

#[test]
fn a_cooperative_launch_synchronises_its_grid() {
    for (ctas, threads) in [(1, 32), (2, 64), (4, 64), (7, 33)] {
        let launch = Launch { cooperative: true, ..Launch::new([ctas, 1, 1], [threads, 1, 1]) };
        let (found, outcome) =
            run_with(GRID_SYNC, &launch).unwrap_or_else(|fault| panic!("{fault}"));
        let all = ctas * threads;
        let expected: Vec<u32> = (1..=all).rev().collect();
        assert_eq!(found[..all as usize], expected, "{ctas} x {threads}");
        assert_eq!(outcome.paths.warp_instructions(), outcome.warp_instructions);
    }
    let fault = run(GRID_SYNC, 2, 64).unwrap_err();
    let Fault::NotCooperative { place } = &fault else { panic!("{fault}") };
    assert_eq!(place.line, 18, "{fault}");
}

#[test]
fn a_cooperative_grid_has_to_be_resident() {
    let launch = Launch { cooperative: true, ..Launch::new([100_000, 1, 1], [1024, 1, 1]) };
    let fault = run_with(GRID_SYNC, &launch).unwrap_err().to_string();
    assert!(fault.contains("the grid has 100000 CTAs, 216 can be resident"), "{fault}");
}
