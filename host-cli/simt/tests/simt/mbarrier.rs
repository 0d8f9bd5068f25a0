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

/// What one thread does to an object, and what the manual says that it finds.
struct Script {
    lines: Vec<String>,
    object: Described,
    /// The object before the last arrival that gave a state.
    state: Option<Described>,
    /// Of all answers, as the kernel computes it in `%r31`.
    hash: u32,
}

impl Script {
    fn new(expected: u32) -> Self {
        let pending = i64::from(expected);
        let object = Described { phases: 0, expected: pending, pending, transactions: 0 };
        let begin =
            format!("@!%p7 bra END; mbarrier.init.shared.b64 [%r29], {expected}; mov.b64 %rd9, 0;");
        Self { lines: vec![begin], object, state: None, hash: 0 }
    }

    /// An arrival that gives a state: after transactions and leavers, so many threads.
    fn arrive(&mut self, line: String, transactions: i64, leave: i64, threads: i64) {
        self.state = Some(self.object);
        self.lines.push(line);
        self.object.change(transactions, leave, threads);
    }

    /// Something random that the manual defines.
    fn act(&mut self, random: &mut Random) {
        let count = 1 + i64::from(random.below(3));
        let Described { pending, transactions, expected, .. } = self.object;
        let fits = count <= pending;
        let ends = count == pending && transactions == 0;
        let prefix = "mbarrier.arrive";
        match random.below(8) {
            0 if pending > 0 => {
                self.arrive(format!("{prefix}.shared.b64 %rd9, [%r29];"), 0, 0, 1);
            }
            1 if fits => {
                let line = format!(
                    "mov.u32 %r1, {count}; {prefix}.release.cta.shared::cta.b64 %rd9, [bar], %r1;"
                );
                self.arrive(line, 0, 0, count);
            }
            2 if fits && !ends => {
                let line = format!("{prefix}.noComplete.shared.b64 %rd9, [%r29+0], {count};");
                self.arrive(line, 0, 0, count);
            }
            3 if fits && count < expected => {
                let line = format!("{prefix}_drop.shared.b64 %rd9, [%r29], {count};");
                self.arrive(line, 0, count, count);
            }
            4 if pending > 0 => {
                let bytes = count * 16;
                let line = format!("{prefix}.expect_tx.shared.b64 %rd9, [%r29], {bytes};");
                self.arrive(line, bytes, 0, 1);
            }
            5 => {
                let line = "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r29], 48;";
                self.lines.push(line.into());
                self.object.transactions += 48;
            }
            6 => {
                let bytes = transactions.max(16);
                let line = format!("mbarrier.complete_tx.shared.b64 [%r29], {bytes};");
                self.lines.push(line);
                self.object.change(-bytes, 0, 0);
            }
            _ if pending > 0 => {
                self.lines.push(format!("{prefix}.shared::cluster.b64 _, [%r29];"));
                self.object.change(0, 0, 1);
            }
            _ => {}
        }
    }

    fn answer(&mut self, line: String, expected: u32) {
        self.lines.push(line);
        self.lines.push("mad.lo.u32 %r31, %r31, 31, %r2;".into());
        self.hash = self.hash.wrapping_mul(31).wrapping_add(expected);
    }

    /// Asks for the end of phases by parity and by the state of the last arrival, and of that state
    /// for what was pending.
    fn ask(&mut self) {
        let found = "selp.u32 %r2, 1, 0, %p1;";
        for parity in [0, 1] {
            let test = format!("mbarrier.test_wait.parity.shared.b64 %p1, [%r29], {parity};");
            self.answer(test + found, u32::from(self.object.phases % 2 != parity));
        }
        let Some(state) = self.state.filter(|state| self.object.phases - state.phases < 2) else {
            return;
        };
        let test = "mbarrier.try_wait.shared.b64 %p1, [%r29], %rd9, 100;".to_owned();
        self.answer(test + found, u32::from(self.object.phases != state.phases));
        self.answer("mbarrier.pending_count.b64 %r2, %rd9;".into(), state.pending as u32);
    }
}

/// One thread does random things to an object, and asks after each.
#[test]
fn random_operations_do_what_the_manual_says() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut script = Script::new(1 + random.below(6));
        for _ in 0..12 {
            script.act(&mut random);
            script.ask();
        }
        let end = "mbarrier.inval.shared.b64 [%r29]; ld.shared.u64 %rd9, [%r29];
            cvt.u32.u64 %r2, %rd9; add.u32 %r31, %r31, %r2;\nEND:";
        let body = script.lines.join("\n") + end;
        let found = words(&body, 32);
        assert_eq!(found[0], script.hash, "seed {seed}: {body}");
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

/// What the consumers of [`producer`] write, by thread.
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
    assert!(fault.contains("can never end"), "{fault}");
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
fn a_wait_without_end_meets_the_budget() {
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
