//! `mbarrier`: every operation against a second description of the object, and threads that wait.

use strata_compiler::RegisterLimit;
use strata_simt::Fault;

use crate::common::{Arguments, Bench, Random, config, launch};

const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// A kernel with an object `bar` in shared memory. Each thread stores `%r31` at its word of `out`.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out) {{
            .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<8>;
            .shared .align 8 .b64 bar; .shared .align 16 .b8 room[4096];
            ld.param.u64 %rd1, [out];
            mov.u32 %r30, %tid.x;
            mul.wide.u32 %rd2, %r30, 4;
            add.u64 %rd2, %rd1, %rd2;
            mov.u32 %r29, bar;
            setp.eq.u32 %p7, %r30, 0;
            mov.u32 %r31, 0;
            {body}
            st.global.u32 [%rd2], %r31;
            ret;
        }}"
    )
}

fn bench(body: &str, threads: u32) -> (Bench, u64) {
    let mut bench = Bench::new(&kernel(body));
    let out = bench.words("out", &vec![0; threads as usize]);
    (bench, out)
}

fn outcome(body: &str, threads: u32) -> Result<Vec<u32>, Fault> {
    let (mut bench, out) = bench(body, threads);
    bench.run("k", &launch(1, threads, Arguments::default().u64(out)))?;
    Ok(bench.read(out, threads as usize))
}

/// The outcome, which is also that of the same kernel with its values in a register hierarchy, of
/// few registers, proved by the checkers.
fn words(body: &str, threads: u32) -> Vec<u32> {
    let found = outcome(body, threads).unwrap_or_else(|fault| panic!("{body}: {fault}"));
    let (mut bench, out) = bench(body, threads);
    bench.registers = RegisterLimit::new(16);
    for number in [0, 7, 31] {
        let executable = bench.at_levels("k", &config(number));
        let launch = launch(1, threads, Arguments::default().u64(out));
        strata_simt::execute(&mut bench.device, &executable, &launch).expect("it ran before");
        assert_eq!(bench.read(out, threads as usize), found, "{body}");
    }
    found
}

/// An object as the manual describes it: what is pending, and how many phases have ended.
#[derive(Clone, Copy, Debug)]
struct Described {
    phases: u32,
    expected: i64,
    pending: i64,
    transactions: i64,
}

impl Described {
    /// An arrive-on operation of a weight, after transactions and leavers.
    fn change(&mut self, transactions: i64, leave: i64, arrive: i64) {
        self.transactions += transactions;
        self.expected -= leave;
        self.pending -= arrive;
        if self.pending == 0 && self.transactions == 0 {
            self.phases += 1;
            self.pending = self.expected;
        }
    }
}

/// One thread does random things to an object; after each it asks for the end of phases by parity
/// and by the state of its last arrival, and of that state for what was pending.
#[test]
fn random_operations_do_what_the_manual_says() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let expected = 1 + random.below(6);
        let mut object = Described {
            phases: 0,
            expected: i64::from(expected),
            pending: i64::from(expected),
            transactions: 0,
        };
        let mut body = format!(
            "@!%p7 bra END;
            mbarrier.init.shared.b64 [%r29], {expected};
            mov.b64 %rd9, 0; mov.u32 %r31, 0;\n"
        );
        let mut hash = 0_u32;
        let mut state: Option<Described> = None;
        for _ in 0..12 {
            let before = object;
            let count = 1 + random.below(3);
            let wide = i64::from(count);
            let fits = wide <= object.pending;
            let ends = wide == object.pending && object.transactions == 0;
            let leaves = fits && wide < object.expected;
            let mut arrived = true;
            match random.below(8) {
                0 if object.pending > 0 => {
                    body += "mbarrier.arrive.shared.b64 %rd9, [%r29];\n";
                    object.change(0, 0, 1);
                }
                1 if fits => {
                    body += &format!(
                        "mov.u32 %r1, {count}; \
                         mbarrier.arrive.release.cta.shared::cta.b64 %rd9, [bar], %r1;\n"
                    );
                    object.change(0, 0, wide);
                }
                2 if fits && !ends => {
                    body += &format!(
                        "mbarrier.arrive.noComplete.shared.b64 %rd9, [%r29+0], {count};\n"
                    );
                    object.change(0, 0, wide);
                }
                3 if leaves => {
                    body += &format!("mbarrier.arrive_drop.shared.b64 %rd9, [%r29], {count};\n");
                    object.change(0, wide, wide);
                }
                4 if object.pending > 0 => {
                    body += &format!(
                        "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r29], {};\n",
                        count * 16
                    );
                    object.change(wide * 16, 0, 1);
                }
                5 => {
                    body += "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r29], 48;\n";
                    object.transactions += 48;
                    arrived = false;
                }
                6 => {
                    let amount = object.transactions.max(16);
                    body += &format!(
                        "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r29], {amount};\n"
                    );
                    object.change(-amount, 0, 0);
                    arrived = false;
                }
                _ if object.pending > 0 => {
                    body += "mbarrier.arrive.shared::cluster.b64 _, [%r29];\n";
                    object.change(0, 0, 1);
                    arrived = false;
                }
                _ => arrived = false,
            }
            if arrived {
                state = Some(before);
            }
            for parity in [0, 1] {
                body += &format!(
                    "mbarrier.test_wait.parity.shared.b64 %p1, [%r29], {parity};
                    selp.u32 %r2, 1, 0, %p1; mad.lo.u32 %r31, %r31, 31, %r2;\n"
                );
                let ended = u32::from(object.phases % 2 != parity);
                hash = hash.wrapping_mul(31).wrapping_add(ended);
            }
            if let Some(state) = state.filter(|state| object.phases - state.phases < 2) {
                body += "mbarrier.try_wait.shared.b64 %p2, [%r29], %rd9, 100;
                    selp.u32 %r2, 1, 0, %p2; mad.lo.u32 %r31, %r31, 31, %r2;
                    mbarrier.pending_count.b64 %r3, %rd9; mad.lo.u32 %r31, %r31, 31, %r3;\n";
                let ended = u32::from(object.phases != state.phases);
                hash = hash.wrapping_mul(31).wrapping_add(ended);
                hash = hash.wrapping_mul(31).wrapping_add(state.pending as u32);
            }
        }
        body += "mbarrier.inval.shared.b64 [%r29]; ld.shared.u64 %rd9, [%r29];
            cvt.u32.u64 %r2, %rd9; add.u32 %r31, %r31, %r2;\nEND:";
        let found = words(&body, 32);
        assert_eq!(found[0], hash, "seed {seed}: {body}");
        assert_eq!(found[1..], [0; 31]);
    }
}

/// The first warp waits for what the last one writes, as `WAIT` says.
fn producer(wait: &str) -> String {
    format!(
        "@%p7 mbarrier.init.shared.b64 [%r29], 32;
        bar.sync 0;
        setp.lt.u32 %p1, %r30, 64;
        @%p1 bra CONSUME;
        mov.u32 %r1, 0;
        PRODUCE: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 100; @%p2 bra PRODUCE;
        mad.lo.u32 %r1, %r30, 3, %r1;
        shl.b32 %r2, %r30, 2; mov.u32 %r3, room; add.u32 %r3, %r3, %r2;
        st.shared.u32 [%r3], %r1;
        mbarrier.arrive.shared.b64 %rd3, [%r29];
        bra END;
        CONSUME:
        mov.u32 %r9, 0;
        {wait}
        shl.b32 %r2, %r30, 2; mov.u32 %r3, room; add.u32 %r3, %r3, %r2;
        and.b32 %r4, %r30, 31; shl.b32 %r4, %r4, 2; mov.u32 %r3, room; add.u32 %r3, %r3, %r4;
        ld.shared.u32 %r31, [%r3+256];
        END:"
    )
}

/// As [`producer`]: the text that the consumers write, by thread.
fn produced(wait: &str) -> Vec<u32> {
    words(&producer(wait), 96)
}

#[test]
fn a_warp_that_waits_in_a_loop_lets_the_others_arrive() {
    let expected: Vec<u32> =
        (0..96).map(|t| if t < 64 { 100 + 3 * (64 + t % 32) } else { 0 }).collect();
    for wait in [
        "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r29], 0; @!%p3 bra WAIT;",
        "WAIT: mbarrier.test_wait.parity.acquire.cta.shared.b64 %p3, [%r29], %r9; @!%p3 bra WAIT;",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], %r9, 1000;
        @%p3 bra DONE; bra WAIT; DONE:",
        "mov.u64 %rd4, bar; cvta.shared.u64 %rd4, %rd4;
        WAIT: mbarrier.try_wait.parity.b64 %p3, [%rd4], %r9; @!%p3 bra WAIT;",
        "WAIT: mbarrier.test_wait.parity.shared.b64 %p3, [%r29], 0; @%p3 bra DONE;
        nanosleep.u32 20; bra WAIT; DONE:",
    ] {
        assert_eq!(produced(wait), expected, "{wait}");
    }
}

#[test]
fn a_test_that_fails_costs_a_few_instructions_and_no_slice() {
    let wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r29], 0; @!%p3 bra WAIT;";
    let (mut bench, out) = bench(&producer(wait), 96);
    let launch = launch(1, 96, Arguments::default().u64(out));
    let outcome = bench.run("k", &launch).unwrap();
    assert!(outcome.warp_instructions < 600, "{}", outcome.warp_instructions);
}

#[test]
fn lanes_of_one_warp_wait_for_each_other() {
    // The upper half arrives only once the lower half has begun to wait.
    let text = "@%p7 mbarrier.init.shared.b64 [%r29], 16;
        bar.warp.sync 0xffffffff;
        setp.lt.u32 %p1, %r30, 16;
        @!%p1 bra UPPER;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r29], 0; @!%p3 bra WAIT;
        mov.u32 %r31, 7;
        bra END;
        UPPER: mbarrier.arrive.shared.b64 _, [%r29];
        mov.u32 %r31, 8;
        END:";
    let expected: Vec<u32> = (0..32).map(|lane| if lane < 16 { 7 } else { 8 }).collect();
    assert_eq!(words(text, 32), expected);
    assert_eq!(words(&text.replace("@!%p1", "@%p1").replace(", 7", ", 9"), 32)[0], 8);
}

#[test]
fn phases_follow_each_other() {
    // Four warps in step for ten rounds; each round's sum of what all wrote in the round before.
    let text = "@%p7 mbarrier.init.shared.b64 [%r29], 128;
        @%p7 st.shared.u32 [room], 0;
        bar.sync 0;
        mov.u32 %r1, 0; mov.u32 %r2, 0;
        ROUND:
        add.u32 %r3, %r1, 1;
        red.shared.add.u32 [room], %r3;
        mbarrier.arrive.shared.b64 %rd3, [%r29];
        WAIT: mbarrier.test_wait.shared.b64 %p3, [%r29], %rd3; @!%p3 bra WAIT;
        ld.relaxed.cta.shared.u32 %r31, [room];
        mbarrier.arrive.shared.b64 %rd3, [%r29];
        AGAIN: mbarrier.try_wait.shared.b64 %p3, [%r29], %rd3; @!%p3 bra AGAIN;
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p4, %r1, 10;
        @%p4 bra ROUND;";
    assert_eq!(words(text, 128), [128 * 55; 128]);
}

#[test]
fn copies_arrive_when_they_are_made() {
    let text = |words: &str, count: u32| {
        format!(
            ".global .align 16 .u32 from[4] = {{5, 6, 7, 8}};
            @%p7 mbarrier.init.shared.b64 [%r29], {count};
            bar.sync 0;
            shl.b32 %r2, %r30, 4; mov.u32 %r3, room; add.u32 %r3, %r3, %r2; mov.u64 %rd3, from;
            cp.async.ca.shared.global [%r3], [%rd3], 16;
            cp.async.mbarrier.arrive{words}.b64 [%r29];
            mbarrier.arrive.shared.b64 %rd4, [%r29];
            WAIT: mbarrier.test_wait.shared.b64 %p3, [%r29], %rd4; @!%p3 bra WAIT;
            xor.b32 %r2, %r2, 16; mov.u32 %r3, room; add.u32 %r3, %r3, %r2;
            ld.shared.u32 %r31, [%r3+8];"
        )
    };
    assert_eq!(words(&text(".shared", 64), 64), [7; 64]);
    assert_eq!(words(&text(".noinc.shared", 128), 64), [7; 64]);
    let fault = outcome(&text(".noinc.shared", 63), 64).unwrap_err().to_string();
    assert!(fault.contains("exceeded the budget"), "{fault}");
}

#[test]
fn what_the_manual_leaves_undefined_is_a_fault() {
    for (body, message) in [
        ("mbarrier.arrive.shared.b64 _, [%r29];", "no mbarrier object is here"),
        ("mbarrier.init.shared.b64 [%r29], 0;", "expects from 1 to 1048575 arrivals"),
        ("mbarrier.init.shared.b64 [%r29], 1048576;", "expects from 1 to 1048575 arrivals"),
        ("INIT mbarrier.arrive.shared.b64 %rd3, [%r29], 3;", "more arrivals than the phase"),
        ("INIT mbarrier.arrive.shared.b64 %rd3, [%r29], 0;", "an arrival counts from 1"),
        ("INIT mbarrier.arrive.noComplete.shared.b64 %rd3, [%r29], 2;", "in spite of `.noComp"),
        ("INIT mbarrier.expect_tx.shared.b64 [%r29], 1048576;", "more than 1048575 transactions"),
        ("INIT mbarrier.test_wait.parity.shared.b64 %p1, [%r29], 2;", "parity of a phase is 0 or"),
        ("INIT mov.b64 %rd3, 5; mbarrier.test_wait.shared.b64 %p1, [%r29], %rd3;", "is no state"),
        ("INIT mbarrier.inval.shared.b64 [%r29]; mbarrier.arrive.shared.b64 _, [%r29];", "no mbar"),
        ("mbarrier.init.shared.b64 [%r29+4], 2;", "misaligned atomic access of 8 bytes at shared"),
        ("mbarrier.init.shared.b64 [%r29+8192], 2;", "out-of-bounds atomic access of 8 bytes"),
        ("INIT mbarrier.test_wait.parity.shared.b64 %p1, [%r29+4], 0;", "misaligned read of 8"),
        ("mbarrier.init.b64 [%rd1], 2;", "this generic address is not one of shared memory"),
    ] {
        let body = body.replace("INIT", "mbarrier.init.shared.b64 [%r29], 2;");
        let fault = outcome(&format!("@!%p7 bra END; {body} END:"), 32).unwrap_err().to_string();
        assert!(fault.contains(message), "{body}: {fault}");
        assert!(fault.contains("CTA (0, 0, 0), thread (0, 0, 0)"), "{fault}");
    }
}

#[test]
fn a_wait_that_nobody_ends_meets_the_budget() {
    let text = "@%p7 mbarrier.init.shared.b64 [%r29], 65;
        bar.sync 0;
        mbarrier.arrive.shared.b64 %rd3, [%r29];
        WAIT: mbarrier.try_wait.shared.b64 %p3, [%r29], %rd3; @!%p3 bra WAIT;";
    let (mut bench, out) = bench(text, 64);
    let mut launch = launch(1, 64, Arguments::default().u64(out));
    launch.max_instructions = 20_000;
    let fault = bench.run("k", &launch).unwrap_err();
    assert!(matches!(fault, Fault::BudgetExceeded { budget: 20_000, .. }), "{fault}");
}
