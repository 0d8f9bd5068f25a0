//! Atomics whose result is never read.

use strata_compiler::checker::{Problem, check};
use strata_compiler::inline::inline;
use strata_compiler::{CompileOptions, RegisterLimit, allocate, compile};
use strata_core::image::Flags;
use strata_ptx::module::{FunctionId, Operand};
use strata_ptx::opcode::Opcode;

use crate::common::{Random, random_kernel, shapes};
use crate::facts::module;

/// What the first atomic of a body becomes: `red`, `atom _` or `atom`; it is long only as `atom`.
fn becomes(body: &str) -> &'static str {
    let program = compile(&module(body), FunctionId(0), CompileOptions::default())
        .unwrap_or_else(|problems| panic!("{body}: {problems:?}"));
    let atomic = |opcode| matches!(opcode, Opcode::Atom | Opcode::Red);
    let pc = program.instructions.iter().position(|i| atomic(i.instruction.opcode));
    let pc = pc.expect("an atomic");
    let instruction = &program.instructions[pc].instruction;
    let record = &program.image.instructions[pc];
    let found = match (instruction.opcode, &instruction.destinations[..]) {
        (Opcode::Red, []) => "red",
        (Opcode::Atom, [Operand::Sink]) => "atom _",
        (Opcode::Atom, [Operand::Register(_)]) => "atom",
        other => panic!("{body}: {other:?}"),
    };
    let long = record.flags.contains(Flags::LONG_LATENCY);
    assert_eq!((long, record.destinations > 0), (found == "atom", found == "atom"), "{body}");
    found
}

#[test]
fn an_unread_result_makes_a_reduction() {
    let cases = [
        ("atom.shared.add.u32 %r1, [tile], 1;", "red"),
        ("atom.global.add.u32 _, [%rd1], 1;", "red"),
        ("atom.global.release.gpu.min.s32 %r1, [%rd1], 1;", "red"),
        ("@%p1 atom.global.inc.u32 %r1, [%rd1], 1;", "red"),
        ("atom.global.or.b32 %r1, [%rd1], 1; mov.u32 %r1, 5; st.global.u32 [%rd1], %r1;", "red"),
        // No form of `red`.
        ("atom.global.exch.b32 %r1, [%rd1], 1;", "atom _"),
        ("atom.global.cas.b32 %r1, [%rd1], 1, 2;", "atom _"),
        ("atom.acquire.gpu.global.add.u32 %r1, [%rd1], 1;", "atom _"),
        // Read: at once, on one path, where a guard may leave it, in the next turn of a loop.
        ("atom.global.add.u32 %r1, [%rd1], 1; st.global.u32 [%rd1], %r1;", "atom"),
        ("atom.global.add.u32 %r1, [%rd1], 1; @%p1 bra L; st.global.u32 [%rd1], %r1; L:", "atom"),
        (
            "atom.global.add.u32 %r1, [%rd1], 1; @%p1 mov.u32 %r1, 5; st.global.u32 [%rd1], %r1;",
            "atom",
        ),
        (
            "mov.u32 %r1, 0; L: add.s32 %r2, %r2, %r1; atom.global.add.u32 %r1, [%rd1], 1;
             setp.lt.s32 %p1, %r2, 99; @%p1 bra L;",
            "atom",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(becomes(body), expected, "{body}");
    }
}

/// A program that leaves out a result that is read, or that has a form PTX has not, is refused.
#[test]
fn the_checker_refuses_a_reduction_whose_result_is_read() {
    let body = |tail| format!("atom.global.OP.u32 %r1, [%rd1], 1; {tail}");
    let read = body("@%p1 bra L; st.global.u32 [%rd1], %r1; L:");
    let unread = body("mov.u32 %r1, 2; st.global.u32 [%rd1], %r1;");
    for (text, operation, good) in
        [(&read, "add", false), (&unread, "add", true), (&unread, "exch", false)]
    {
        let text = text.replace("OP.u32", &format!("{operation}.{}", ty(operation)));
        let kernel = inline(&module(&text), FunctionId(0)).expect("nothing to inline");
        let mut reduced = kernel.clone();
        reduced.instructions[1].opcode = Opcode::Red;
        reduced.instructions[1].destinations.clear();
        let program = allocate(&reduced, None).expect("small");
        let different = |found: Result<(), Vec<strata_compiler::checker::Violation>>| match found {
            Ok(()) => false,
            Err(violations) => {
                let expected = Problem::Different("the instruction");
                assert!(violations.iter().any(|v| v.pc == 1 && v.problem == expected));
                true
            }
        };
        assert_eq!(different(check(&kernel, &program)), !good, "{text}");
    }
}

fn ty(operation: &str) -> &'static str {
    if operation == "exch" { "b32" } else { "u32" }
}

/// An atomic of a random kernel has lost its result exactly where no path reads it.
#[test]
fn random_kernels_lose_exactly_what_is_unread() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..60 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let limit = RegisterLimit::new(16 + (seed % 40) as u16);
            let Ok(program) = allocate(&kernel, limit) else { continue };
            assert_eq!(check(&kernel, &program), Ok(()), "seed {seed}, {shape:?}");
            for (pc, own) in program.instructions.iter().enumerate() {
                let gone = match own.instruction.opcode {
                    Opcode::Red => true,
                    Opcode::Atom => own.instruction.destinations == [Operand::Sink],
                    _ => continue,
                };
                lost += u32::from(gone);
                kept += u32::from(!gone);
                // With its result kept, some slot of it must be read on some path.
                let record = &program.image.instructions[pc];
                let slots = (1_u32 << record.destinations) - 1;
                assert!(gone || record.never_read != slots, "seed {seed}, {shape:?}, {pc}");
            }
        }
    }
    assert!(lost > 100 && kept > 100, "{lost} lost, {kept} kept");
}
