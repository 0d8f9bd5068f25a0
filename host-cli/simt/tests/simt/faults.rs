//! Every way a launch can fail, and what it says.

use std::fmt::Write as _;

use strata_compiler::RegisterLimit;
use strata_simt::fault::{AccessKind, AccessProblem};
use strata_simt::{Device, Fault, Launch, execute, prepare};

use crate::common::{Arguments, Bench, launch};

fn text(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.const .u32 fixed[2] = {{1, 2}};\n\
         .visible .entry k(.param .u64 buffer, .param .u32 x) {{\n.reg .pred %p<8>;\n\
         .reg .b32 %me, %x, %r<8>;\n.reg .b64 %buffer, %rd<8>;\n.shared .align 8 .b8 tile[64];\n\
         .local .align 8 .b8 frame[32];\nld.param.u64 %buffer, [buffer];\nld.param.u32 %x, [x];\n\
         mov.u32 %me, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Line of the first line of `body` in [`text`].
const FIRST_LINE: u32 = 14;

/// A bench with a buffer of 64 bytes.
fn bench(body: &str) -> (Bench, u64) {
    let mut bench = Bench::new(&text(body));
    let buffer = bench.words("numbers", &[0; 16]);
    (bench, buffer)
}

/// Runs a body in one CTA and returns how it failed.
fn fault(body: &str, threads: u32) -> Fault {
    let (mut bench, buffer) = bench(body);
    let arguments = Arguments::default().u64(buffer).u32(7);
    let launch = Launch { max_instructions: 10_000, ..launch(1, threads, arguments) };
    match bench.run("k", &launch) {
        Err(fault) => fault,
        Ok(outcome) => panic!("{body} did not fail: {outcome:?}"),
    }
}

#[test]
fn out_of_bounds_names_everything() {
    let (mut bench, buffer) = bench(
        "mul.wide.u32 %rd0, %me, 4;\nadd.u64 %rd0, %rd0, %buffer;\nst.global.u32 [%rd0], %me;",
    );
    let arguments = Arguments::default().u64(buffer).u32(0);
    let fault = bench.run("k", &launch(1, 32, arguments)).unwrap_err();
    let Fault::Access(access) = &fault else { panic!("{fault}") };
    assert_eq!(access.place.kernel, "k");
    assert_eq!(access.place.line, FIRST_LINE + 2);
    assert_eq!(access.place.thread.tid, [16, 0, 0]);
    assert_eq!((access.kind, access.problem), (AccessKind::Write, AccessProblem::OutOfBounds));
    assert_eq!((access.address, access.size), (buffer + 64, 4));
    let neighbour = access.nearest.as_ref().unwrap();
    assert_eq!((neighbour.name.as_str(), neighbour.distance()), ("numbers", Some(0)));
    let message = fault.to_string();
    for part in ["k", "line 16", "CTA (0, 0, 0), thread (16, 0, 0)", "`numbers`", "4 bytes"] {
        assert!(message.contains(part), "{message}");
    }
    // What was stored before stays.
    assert_eq!(bench.read(buffer, 16), (0..16).collect::<Vec<u32>>());
}

#[test]
fn accesses_that_do_not_fit() {
    use AccessKind::{Atomic, Read, Write};
    use AccessProblem::{Misaligned, OutOfBounds, ReadOnly};
    let problem = |body: &str| {
        let fault = fault(body, 1);
        let Fault::Access(access) = fault else { panic!("{body}: {fault}") };
        (access.space, access.kind, access.problem)
    };
    assert_eq!(problem("ld.global.u32 %r0, [%buffer-4];"), ("global", Read, OutOfBounds));
    assert_eq!(problem("ld.global.u32 %r0, [%buffer+2];"), ("global", Read, Misaligned));
    assert_eq!(problem("ld.global.v2.u32 {%r0, %r1}, [%buffer+4];"), ("global", Read, Misaligned));
    assert_eq!(problem("ld.global.u64 %rd0, [%buffer+64];"), ("global", Read, OutOfBounds));
    assert_eq!(problem("mov.u64 %rd0, 0;\nld.u32 %r0, [%rd0];"), ("global", Read, OutOfBounds));
    assert_eq!(problem("st.shared.u32 [tile+64], %x;"), ("shared", Write, OutOfBounds));
    assert_eq!(problem("st.shared.u32 [tile+61], %x;"), ("shared", Write, Misaligned));
    assert_eq!(problem("ld.local.u32 %r0, [frame+32];"), ("local", Read, OutOfBounds));
    assert_eq!(
        problem("mov.u64 %rd0, frame;\nld.local.u8 %r0, [%rd0-1];"),
        ("local", Read, OutOfBounds)
    );
    assert_eq!(problem("ld.param.u32 %r0, [x+8];"), ("parameter", Read, OutOfBounds));
    assert_eq!(
        problem("atom.global.add.u32 %r0, [%buffer+64], 1;"),
        ("global", Atomic, OutOfBounds)
    );
    assert_eq!(problem("mov.u64 %rd0, fixed;\nst.u32 [%rd0], 1;"), ("global", Write, ReadOnly));
    assert_eq!(
        problem("mov.u64 %rd0, tile;\ncvta.shared.u64 %rd0, %rd0;\nst.u32 [%rd0+1048576], 1;"),
        ("shared", Write, OutOfBounds)
    );
}

#[test]
fn a_faulty_lane_that_is_not_active_does_not_fault() {
    let (mut bench, buffer) = bench(
        "setp.lt.u32 %p0, %me, 16;\nmul.wide.u32 %rd0, %me, 4;\nadd.u64 %rd0, %rd0, %buffer;\n\
         @%p0 st.global.u32 [%rd0], %me;\n@!%p0 ld.global.u32 %r0, [%buffer];",
    );
    let arguments = Arguments::default().u64(buffer).u32(0);
    bench.run("k", &launch(1, 32, arguments)).unwrap();
    assert_eq!(bench.read(buffer, 16), (0..16).collect::<Vec<u32>>());
}

#[test]
fn one_warp_may_touch_several_buffers() {
    // Even threads add the distance of the other buffer, which is the kernel's second parameter.
    let (mut bench, buffer) = bench(
        "and.b32 %r0, %me, 1;\nsetp.eq.u32 %p0, %r0, 0;\nmul.wide.u32 %rd0, %me, 2;\n\
         and.b64 %rd0, %rd0, -4;\nadd.u64 %rd1, %rd0, %buffer;\ncvt.u64.u32 %rd2, %x;\n\
         @%p0 add.u64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %me;",
    );
    let other = bench.words("other", &[0; 16]);
    let arguments = Arguments::default().u64(buffer).u32((other - buffer) as u32);
    bench.run("k", &launch(1, 32, arguments)).unwrap();
    assert_eq!(bench.read(buffer, 16), (0..16).map(|i| 2 * i + 1).collect::<Vec<u32>>());
    assert_eq!(bench.read(other, 16), (0..16).map(|i| 2 * i).collect::<Vec<u32>>());
}

#[test]
fn endless_loops_run_out_of_budget() {
    let fault = fault("LOOP:\nadd.u32 %x, %x, 1;\nbra LOOP;", 32);
    let Fault::BudgetExceeded { place, budget } = &fault else { panic!("{fault}") };
    assert_eq!(*budget, 10_000);
    assert!(place.line >= FIRST_LINE, "{place}");
    assert!(fault.to_string().contains("the budget of 10000 warp instructions"), "{fault}");
}

#[test]
fn the_budget_is_exact() {
    let (mut bench, buffer) = bench("add.u32 %x, %x, 1;");
    let arguments = || Arguments::default().u64(buffer).u32(0);
    let needed = bench.run("k", &launch(3, 64, arguments())).unwrap().warp_instructions;
    let mut with = |max_instructions| {
        bench.run("k", &Launch { max_instructions, ..launch(3, 64, arguments()) })
    };
    assert_eq!(with(needed).unwrap().warp_instructions, needed);
    assert!(matches!(with(needed - 1), Err(Fault::BudgetExceeded { .. })));
    assert!(matches!(with(0), Err(Fault::BudgetExceeded { .. })));
}

#[test]
fn traps_and_assertions() {
    let fault = fault("setp.eq.u32 %p0, %me, 33;\n@%p0 trap;", 64);
    let Fault::Trap(place) = fault else { panic!("{fault}") };
    assert_eq!((place.line, place.thread.tid), (FIRST_LINE + 1, [33, 0, 0]));
}

#[test]
fn barriers_that_can_never_complete() {
    // Warp 0 waits at barrier 0, warp 1 at barrier 1.
    let fault_of = |body: &str, threads| fault(body, threads);
    let fault = fault_of("shr.u32 %r0, %me, 5;\nbar.sync %r0;", 64);
    let Fault::BarrierNeverCompletes { place, barrier, arrived, expected } = fault else {
        panic!("{fault}")
    };
    assert_eq!((barrier, arrived, expected, place.line), (0, 32, 64, FIRST_LINE + 1));
    // A count that is never reached.
    let fault = fault_of("bar.sync 3, 128;", 64);
    assert!(
        matches!(
            fault,
            Fault::BarrierNeverCompletes { barrier: 3, arrived: 64, expected: 128, .. }
        ),
        "{fault}"
    );
    // Half of a warp waits at a barrier while the other half waits for it to come back.
    let fault = fault_of(
        "setp.lt.u32 %p0, %me, 16;\n@%p0 bra WAIT;\nbra END;\nWAIT:\nbar.sync 0;\n\
         END:\nbar.sync 0;",
        32,
    );
    assert!(
        matches!(fault, Fault::BarrierNeverCompletes { arrived: 16, expected: 32, .. }),
        "{fault}"
    );
}

#[test]
fn barriers_used_wrongly() {
    let problem = |body: &str| match fault(body, 64) {
        Fault::BarrierMisuse { problem, .. } => problem,
        other => panic!("{body}: {other}"),
    };
    assert!(problem("add.u32 %x, %x, 9;\nbar.sync %x;").contains("0 to 15"));
    assert!(problem("add.u32 %x, %x, 9;\nbar.sync 0, %x;").contains("multiple"));
    assert!(
        problem(
            "shr.u32 %r0, %me, 5;\nadd.u32 %r0, %r0, 1;\nshl.b32 %r0, %r0, 6;\nbar.sync 0, %r0;"
        )
        .contains("different")
    );
    assert!(problem("bar.arrive 1, 128;\nbar.arrive 1, 128;").contains("twice"));
}

#[test]
fn members_that_never_come() {
    let body = "setp.lt.u32 %p0, %me, 4;\n@%p0 bra LOW;\nbra END;\nLOW:\n\
                shfl.sync.bfly.b32 %r0, %me, 1, 31, 0xff;\nEND:\nbar.sync 0;\nst.global.u32 [%buffer], %r0;";
    let fault = fault(body, 32);
    let Fault::WarpNeverConverges { place, members, missing } = fault else { panic!("{fault}") };
    assert_eq!((members, missing, place.line), (0xff, 0xf0, FIRST_LINE + 4));
}

#[test]
fn launches_that_no_device_could_run() {
    let (mut bench, buffer) = bench("");
    let arguments = Arguments::default().u64(buffer).u32(0).0;
    let base = Launch { arguments, ..Launch::new([1, 1, 1], [32, 1, 1]) };
    let mut run = |launch: Launch| bench.run("k", &launch).map(|_| ()).unwrap_err();
    let fault = run(Launch { grid: [4, 0, 1], ..base.clone() });
    assert!(matches!(fault, Fault::EmptyDimension { what: "grid", .. }), "{fault}");
    let fault = run(Launch { block: [4, 1, 0], ..base.clone() });
    assert!(matches!(fault, Fault::EmptyDimension { what: "block", .. }), "{fault}");
    let fault = run(Launch { block: [32, 33, 1], ..base.clone() });
    assert!(matches!(fault, Fault::TooManyThreads { threads: 1056, limit: 1024, .. }), "{fault}");
    let fault = run(Launch { block: [u32::MAX; 3], ..base.clone() });
    assert!(matches!(fault, Fault::TooManyThreads { .. }), "{fault}");
    let fault = run(Launch { grid: [u32::MAX; 3], ..base.clone() });
    assert!(matches!(fault, Fault::TooManyCtas { .. }), "{fault}");
    let fault = run(Launch { arguments: vec![0; 8], ..base.clone() });
    assert!(matches!(fault, Fault::WrongArguments { expected: 12, given: 8, .. }), "{fault}");
    let fault = run(Launch { dynamic_shared: 1 << 20, ..base });
    assert!(matches!(fault, Fault::TooMuchShared { .. }), "{fault}");
}

#[test]
fn frames_that_are_too_large() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n\
                .local .b8 frame[600000];\n.reg .b32 %r;\nld.local.u32 %r, [frame];\nret;\n}\n";
    let fault = Bench::new(text).run("k", &launch(1, 1, Arguments::default())).unwrap_err();
    assert!(matches!(fault, Fault::StackTooDeep { needed: 600_000, .. }), "{fault}");
}

/// Spill slots lie right behind the kernel's own frame of 8 bytes, and are not for it.
#[test]
fn stray_accesses_do_not_reach_spilled_values() {
    let list = |first: u32| (first..first + 4).map(|n| format!("%r{n}")).collect::<Vec<_>>();
    let sets: Vec<String> = (0..5).map(|n| list(4 * n).join(", ")).collect();
    let kernel = |access: &str| {
        let (mut loads, mut stores) = (String::new(), String::new());
        for (n, set) in sets.iter().enumerate() {
            let offset = 16 * n;
            let _ = writeln!(loads, "ld.global.v4.u32 {{{set}}}, [%rd1+{offset}];");
            let _ = writeln!(stores, "st.global.v4.u32 [%rd1+{offset}], {{{set}}};");
        }
        format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n\
             .visible .entry k(.param .u64 to, .param .u64 stray) {{\n\
             .reg .b32 %r<24>;\n.reg .b64 %rd<6>;\n.local .align 8 .b8 own[8];\n\
             ld.param.u64 %rd1, [to];\n{loads}{access}\n{stores}ret;\n}}\n"
        )
    };
    let accesses = [
        "st.local.u32 [own+16], 7;",
        "ld.param.u64 %rd2, [stray];\nst.local.u32 [%rd2], 7;",
        "ld.param.u64 %rd2, [stray];\ncvta.local.u64 %rd2, %rd2;\nst.u32 [%rd2], 7;",
    ];
    for registers in [None, RegisterLimit::new(16)] {
        let run = |access: &str, stray: u64| {
            let mut bench = Bench::new(&kernel(access));
            bench.registers = registers;
            let values: Vec<u32> = (100..120).collect();
            let buffer = bench.words("values", &values);
            let arguments = Arguments::default().u64(buffer).u64(stray);
            let result = bench.run("k", &launch(1, 32, arguments));
            result.map(|_| assert_eq!(bench.read(buffer, 20), values))
        };
        for (number, access) in accesses.iter().enumerate() {
            match run(access, 16).unwrap_err() {
                Fault::Access(fault) => {
                    assert_eq!(fault.problem, AccessProblem::OutOfBounds, "{access}");
                }
                other => panic!("{access}: {other}"),
            }
            if number > 0 {
                run(access, 4).expect("inside of the frame");
            }
        }
    }
}

#[test]
fn modules_that_were_not_loaded() {
    let text = text("ld.const.u32 %r0, [fixed];");
    let module = strata_ptx::parse(&text).module;
    let program = strata_compiler::compile(
        &module,
        strata_ptx::module::FunctionId(0),
        strata_compiler::CompileOptions::default(),
    )
    .unwrap();
    let executable = prepare(&module, &program).unwrap();
    let launch = launch(1, 1, Arguments::default().u64(0).u32(0));
    let fault = execute(&mut Device::new(), &executable, &launch).unwrap_err();
    assert!(matches!(fault, Fault::ModuleNotLoaded { .. }), "{fault}");
    let mut narrow = Device::with_limit(32, 1 << 20);
    let fault = execute(&mut narrow, &executable, &launch).unwrap_err();
    assert!(matches!(fault, Fault::AddressWidth { bits: 64, .. }), "{fault}");
}

#[test]
fn everything_that_cannot_execute_is_listed() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n\
                .reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.shared .align 16 .b8 s[64];\n\
                mov.u64 %rd0, s;\ncp.async.ca.shared.global [%rd0], [%rd1], 16;\n\
                suq.channel_order.b32 %r0, [%rd0];\nadd.u32 %r1, %r0, 1;\n\
                suq.memory_layout.b32 %r2, [%rd0];\nst.shared.u32 [s], %r1;\nret;\n}\n";
    let problems = Bench::new(text).prepare("k").unwrap_err();
    let lines: Vec<usize> = problems
        .iter()
        .map(|problem| text[..problem.span.start as usize].matches('\n').count() + 1)
        .collect();
    assert_eq!(lines, [10, 12], "{problems:#?}");
    for problem in problems {
        assert_eq!(problem.kernel.as_deref(), Some("k"));
        assert_eq!(problem.code, "unsupported-instruction");
    }
}

#[test]
fn a_place_names_its_line_of_cuda() {
    let message = |place: &str| fault(&format!("{place}\ntrap;"), 1).to_string();
    let thread = "CTA (0, 0, 0), thread (0, 0, 0)";
    assert_eq!(
        message(".file 1 \"dir/k.cu\"\n.loc 1 31 5"),
        format!("trap executed (kernel `k`, PTX line 16 (dir/k.cu:31), {thread})")
    );
    assert_eq!(
        message(".file 1 \"dir/k.cu\"\n.loc 1 0 5"),
        format!("trap executed (kernel `k`, PTX line 16, {thread})")
    );
}
