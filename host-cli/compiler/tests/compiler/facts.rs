//! Exact facts of small kernels: bits that must be set, marks that must be there and no others,
//! units and latencies.

use strata_compiler::checker::{Problem, Violation, check};
use strata_compiler::inline::inline;
use strata_compiler::program::{Location, Program};
use strata_compiler::{CompileOptions, compile};
use strata_core::image::{Flags, MemorySpace, Predicates, StaticInstruction, Unit};
use strata_ptx::module::FunctionId;

/// A kernel with a body; registers of every kind are declared, `%rd1` is the parameter.
pub(crate) fn module(body: &str) -> strata_ptx::module::Module {
    let text = format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.global .texref t;\n
         .entry k(.param .u64 p) {{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>;
         .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .local .b8 frame[16];
         .shared .b8 tile[64]; ld.param.u64 %rd1, [p];\n{body}\nret; }}"
    );
    let parsed = strata_ptx::parse(&text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.module
}

pub(crate) fn compiled(body: &str) -> Program {
    compile(&module(body), FunctionId(0), CompileOptions::default())
        .unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The record of the `n`th instruction of the body, from 1.
fn record(program: &Program, n: usize) -> StaticInstruction {
    program.image.instructions[n]
}

/// Instructions of the body that carry the deschedule mark, from 1. The checker accepts the program,
/// and refuses it without any one of them.
fn marked(body: &str) -> Vec<usize> {
    let program = compiled(body);
    let kernel = inline(&module(body), FunctionId(0)).expect("nothing to inline");
    assert_eq!(check(&kernel, &program), Ok(()), "{body}");
    let marked = |n: &usize| record(&program, *n).flags.contains(Flags::DESCHEDULE_BEFORE);
    let marked: Vec<usize> = (1..program.instructions.len()).filter(marked).collect();
    for &pc in &marked {
        let mut mutant = program.clone();
        mutant.image.instructions[pc].flags.remove(Flags::DESCHEDULE_BEFORE);
        let violations = check(&kernel, &mutant).expect_err(body);
        let due = |v: &Violation| v.pc == pc && matches!(v.problem, Problem::Unmarked { .. });
        assert!(violations.iter().any(due), "{pc} of {body}: {violations:?}");
    }
    marked
}

#[test]
fn straight_code_has_its_bits() {
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         add.s32 %r2, %r1, %r1;
         add.s32 %r3, %r1, %r2;
         mov.u32 %r4, 7;
         st.global.u32 [%rd1], %r3;",
    );
    // Of an operand read twice the last slot is the last use, when it is one.
    assert_eq!(record(&program, 2).last_use, 0b00);
    assert_eq!(record(&program, 3).last_use, 0b11);
    assert_eq!(record(&program, 4).never_read, 0b1);
    // The address pair, then the value.
    assert_eq!((record(&program, 5).sources, record(&program, 5).last_use), (3, 0b111));
    let others = [0, 1, 2, 3].map(|n| record(&program, n).never_read);
    assert_eq!(others, [0; 4]);
}

#[test]
fn an_operand_read_twice_ends_with_its_last_slot() {
    let program = compiled(
        "mul.wide.u32 %rd2, %r1, 3;
         add.s64 %rd3, %rd2, %rd2;
         st.global.u64 [%rd1], %rd3;",
    );
    assert_eq!(record(&program, 1).destinations, 2);
    assert_eq!((record(&program, 2).sources, record(&program, 2).last_use), (4, 0b1100));
}

#[test]
fn a_value_redefined_where_it_is_read_ends_there() {
    let program = compiled("mov.u32 %r1, 1; add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;");
    assert_eq!(record(&program, 2).last_use, 0b1);
    // With a guard the other lanes keep the old value.
    let program = compiled(
        "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 1; @%p1 add.s32 %r1, %r1, 1;
         st.global.u32 [%rd1], %r1;",
    );
    assert_eq!(record(&program, 3).last_use, 0b0);
    assert_eq!(record(&program, 4).last_use, 0b111);
}

#[test]
fn no_bit_is_set_on_one_side_for_what_the_other_reads() {
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         setp.eq.u32 %p1, %r1, 1;
         @%p1 bra B;
         st.global.u32 [%rd1], %r1;
         bra C;
         B: st.global.u32 [%rd1+4], %r1;
         C:",
    );
    assert_eq!([4, 6].map(|n| record(&program, n).last_use), [0, 0]);
    // A value of one side alone ends there.
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         setp.eq.u32 %p1, %r1, 1;
         @%p1 bra B;
         add.s32 %r2, %r1, 5;
         st.global.u32 [%rd1], %r2;
         bra C;
         B: st.global.u32 [%rd1+4], %r1;
         C:",
    );
    assert_eq!([4, 5, 7].map(|n| record(&program, n).last_use), [0, 0b100, 0]);
}

#[test]
fn a_value_read_in_a_loop_does_not_end_there() {
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         mov.u32 %r2, 0;
         L: add.s32 %r2, %r2, %r1;
         mul.lo.s32 %r3, %r2, 3;
         setp.lt.s32 %p1, %r3, 99;
         @%p1 bra L;
         st.global.u32 [%rd1], %r2;",
    );
    // %r2's old value ends in the addition for this lane, but not for those that left the loop.
    assert_eq!(record(&program, 3).last_use, 0b00);
    assert_eq!(record(&program, 4).last_use, 0b0);
    assert_eq!(record(&program, 5).last_use, 0b1);
    assert_eq!(record(&program, 7).last_use, 0b111);
}

#[test]
fn hints_look_as_far_as_the_next_deschedule() {
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         mov.u32 %r2, %tid.y;
         ld.global.u32 %r3, [%rd1];
         add.s32 %r4, %r1, 1;
         add.s32 %r5, %r3, %r4;
         add.s32 %r6, %r1, %r2;
         st.global.v2.u32 [%rd1], {%r5, %r6};",
    );
    assert!(record(&program, 5).flags.contains(Flags::DESCHEDULE_BEFORE));
    // %r1 is read before the mark, %r2 only behind it; neither is dead.
    assert_eq!(record(&program, 1).not_read_before_deschedule, 0);
    assert_eq!(
        (record(&program, 2).not_read_before_deschedule, record(&program, 2).never_read),
        (1, 0)
    );
    assert_eq!(
        (record(&program, 4).last_use_before_deschedule, record(&program, 4).last_use),
        (1, 0)
    );
    // What the marked instruction reads is read after the deschedule.
    assert_eq!(record(&program, 3).not_read_before_deschedule, 1);
    assert_eq!(record(&program, 4).not_read_before_deschedule, 1);
    // A barrier deschedules too.
    let program = compiled("mov.u32 %r1, 1; bar.sync 0; st.global.u32 [%rd1], %r1;");
    assert_eq!(record(&program, 1).not_read_before_deschedule, 1);
    let program = compiled("mov.u32 %r1, 1; st.global.u32 [%rd1], %r1;");
    assert_eq!(record(&program, 1).not_read_before_deschedule, 0);
}

#[test]
fn the_first_reader_of_a_long_result_is_marked() {
    assert_eq!(
        marked(
            "ld.global.u32 %r1, [%rd1];
             ld.global.u32 %r2, [%rd1+4];
             mov.u32 %r3, 5;
             add.s32 %r4, %r1, %r3;
             add.s32 %r5, %r2, %r4;
             st.global.u32 [%rd1], %r5;"
        ),
        [4],
        "the deschedule waits for both loads"
    );
    assert_eq!(
        marked("ld.shared.u32 %r1, [tile]; add.s32 %r2, %r1, 1; st.shared.u32 [tile], %r2;"),
        [0; 0],
        "shared memory is short"
    );
    assert_eq!(
        marked("ld.global.u32 %r1, [%rd1]; bar.sync 0; st.global.u32 [%rd1+4], %r1;"),
        [0; 0],
        "the barrier deschedules"
    );
    assert_eq!(marked("ld.global.u64 %rd2, [%rd1]; ld.global.u32 %r1, [%rd2];"), [2], "addresses");
}

#[test]
fn marks_follow_every_path() {
    let side = |load: &str| {
        format!(
            "mov.u32 %r1, %tid.x;
             ld.global.u32 %r2, [%rd1];
             setp.eq.u32 %p1, %r1, 1;
             @%p1 bra B;
             {load}
             B: add.s32 %r3, %r1, 1;
             add.s32 %r4, %r2, 1;
             st.global.v2.u32 [%rd1], {{%r3, %r4}};"
        )
    };
    assert_eq!(marked(&side("mov.u32 %r1, 9;")), [7]);
    // Where only one path loads %r1, its reader may or may not deschedule: %r2 stays uncertain.
    assert_eq!(marked(&side("ld.global.u32 %r1, [%rd1+8];")), [6, 7]);
    // A load at the end of a loop is pending at its start.
    assert_eq!(
        marked(
            "mov.u32 %r1, 0;
             L: add.s32 %r2, %r1, 1;
             ld.global.u32 %r1, [%rd1];
             setp.lt.s32 %p1, %r2, 7;
             @%p1 bra L;"
        ),
        [2]
    );
    // Nor may the reader of a register that a guard may have overwritten.
    assert_eq!(
        marked(
            "setp.eq.u32 %p1, %r9, 1;
             ld.global.u32 %r1, [%rd1];
             ld.global.u32 %r2, [%rd1+4];
             @%p1 mov.u32 %r1, 9;
             add.s32 %r3, %r1, 1;
             add.s32 %r4, %r2, 1;
             st.global.v2.u32 [%rd1], {%r3, %r4};"
        ),
        [5, 6]
    );
    // Nor may the reader of a register that a guard may keep from being loaded.
    assert_eq!(
        marked(
            "setp.eq.u32 %p1, %r9, 1;
             mov.u32 %r1, 9;
             ld.global.u32 %r2, [%rd1+4];
             @%p1 ld.global.u32 %r1, [%rd1];
             add.s32 %r3, %r1, 1;
             add.s32 %r4, %r2, 1;
             st.global.v2.u32 [%rd1], {%r3, %r4};"
        ),
        [5, 6]
    );
    // A guarded consumer may not deschedule.
    assert_eq!(
        marked(
            "setp.eq.u32 %p1, %r9, 1;
             ld.global.u32 %r1, [%rd1];
             @%p1 add.s32 %r2, %r1, 1;
             add.s32 %r3, %r1, 1;
             st.global.v2.u32 [%rd1], {%r2, %r3};"
        ),
        [3, 4]
    );
}

/// What a lane waits for depends on what that lane has executed.
#[test]
fn marks_are_those_of_one_threads_paths() {
    let start = "mov.u32 %r9, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0; setp.eq.u32 %p1, %r9, 1;";
    // On a side of a branch, as everywhere, a short result (8) takes the place of a pending one (6):
    // reading it (9) waits for nothing, where paths meet (10) it may.
    let overwritten = "@%p1 bra E;
         ld.global.u32 %r1, [%rd1];
         @%p2 bra D;
         mov.u32 %r1, 9;
         add.s32 %r3, %r1, 1;
         D: add.s32 %r2, %r1, %r3;
         E: st.global.u32 [%rd1+4], %r2;";
    assert_eq!(marked(&format!("{start}{overwritten}")), [10]);
    // A load of one side (6) is not pending for lanes of the other, which read its register (9).
    let other_side = "@%p1 bra B;
         ld.global.u32 %r1, [%rd1];
         bra C;
         B: mov.u32 %r1, 9;
         add.s32 %r2, %r1, 1;
         C: add.s32 %r2, %r2, %r1;
         st.global.u32 [%rd1+4], %r2;";
    assert_eq!(marked(&format!("{start}{other_side}")), [10]);
}

#[test]
fn lanes_that_waited_may_have_nothing_pending() {
    // Lanes that leave the loop early wait while the barrier deschedules the others: then their
    // %r5 is not pending, and reading it (8) need not deschedule, so that %r6 (9) is still pending.
    assert_eq!(
        marked(
            "mov.u32 %r9, %tid.x;
             L: bar.sync 0;
             ld.global.u32 %r5, [%rd1];
             setp.eq.u32 %p1, %r9, 1;
             @%p1 bra L;
             ld.global.u32 %r6, [%rd1+4];
             @%p2 bra D;
             add.s32 %r1, %r5, 1;
             add.s32 %r2, %r6, 1;
             st.global.v2.u32 [%rd1], {%r1, %r2};
             D:"
        ),
        [8, 9]
    );
}

#[test]
fn units_spaces_and_latencies() {
    use MemorySpace::{Constant, Global, Local, Shared};
    let long = Flags::LONG_LATENCY;
    let (load, store) = (Flags::LOAD, Flags::STORE);
    let none = Flags::empty();
    let cases = [
        ("add.s32 %r1, %r2, %r3;", Unit::Alu, None, none),
        ("mov.f64 %fd1, %fd2;", Unit::Alu, None, none),
        ("selp.f64 %fd1, %fd2, %fd3, %p1;", Unit::Alu, None, none),
        ("fma.rn.f32 %f1, %f2, %f3, %f4;", Unit::Alu, None, none),
        ("add.f64 %fd1, %fd2, %fd3;", Unit::DoublePrecision, None, none),
        ("setp.lt.f64 %p1, %fd2, %fd3;", Unit::DoublePrecision, None, none),
        ("cvt.f64.f32 %fd1, %f2;", Unit::DoublePrecision, None, none),
        ("div.rn.f64 %fd1, %fd2, %fd3;", Unit::Sfu, None, none),
        ("div.full.f32 %f1, %f2, %f3;", Unit::Sfu, None, none),
        ("div.s32 %r1, %r2, %r3;", Unit::Alu, None, none),
        ("sqrt.rn.f32 %f1, %f2;", Unit::Sfu, None, none),
        ("ex2.approx.f32 %f1, %f2;", Unit::Sfu, None, none),
        ("ld.global.u32 %r1, [%rd1];", Unit::Memory, Some(Global), load.union(long)),
        ("ld.u32 %r1, [%rd1];", Unit::Memory, Some(Global), load.union(long)),
        ("ld.local.u32 %r1, [frame];", Unit::Memory, Some(Local), load.union(long)),
        ("ld.shared.u32 %r1, [tile];", Unit::Memory, Some(Shared), load),
        ("ld.param.u64 %rd2, [p];", Unit::Memory, Some(Constant), load),
        ("st.global.u32 [%rd1], %r1;", Unit::Memory, Some(Global), store),
        (
            "atom.global.add.u32 %r1, [%rd1], 1; add.s32 %r2, %r1, 1;",
            Unit::Memory,
            Some(Global),
            load.union(store).union(long),
        ),
        (
            "atom.shared.add.u32 %r1, [tile], 1; add.s32 %r2, %r1, 1;",
            Unit::Memory,
            Some(Shared),
            load.union(store).union(long),
        ),
        ("atom.shared.add.u32 %r1, [tile], 1;", Unit::Memory, Some(Shared), load.union(store)),
        ("atom.shared.exch.b32 _, [tile], 1;", Unit::Memory, Some(Shared), load.union(store)),
        ("red.global.add.u32 [%rd1], 1;", Unit::Memory, Some(Global), load.union(store)),
        ("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", Unit::Memory, Some(Shared), none),
        ("vote.sync.ballot.b32 %r1, %p1, -1;", Unit::Alu, None, none),
        ("bar.sync 0;", Unit::Control, None, Flags::BARRIER),
        ("bar.arrive 1, 64;", Unit::Control, None, Flags::ARRIVES),
        ("bar.warp.sync -1;", Unit::Control, None, none),
        ("membar.gl;", Unit::Control, None, none),
        ("@%p1 exit;", Unit::Control, None, Flags::EXIT),
        ("L: @%p1 bra L;", Unit::Control, None, Flags::BRANCH.union(Flags::BACKWARD_BRANCH)),
        ("@%p1 bra M; M:", Unit::Control, None, Flags::BRANCH),
    ];
    for (text, unit, space, flags) in cases {
        let program = compiled(text);
        let found = record(&program, 1);
        let flags_found = found.flags.difference(Flags::DESCHEDULE_BEFORE);
        assert_eq!((found.unit, found.space, flags_found), (unit, space, flags), "{text}");
    }
}

#[test]
fn reconvergence_points() {
    let program = compiled(
        "setp.eq.u32 %p1, %r1, 1;
         @%p1 bra B;
         @%p2 bra C;
         mov.u32 %r2, 1;
         C: mov.u32 %r3, 1;
         bra D;
         B: @%p3 ret;
         D: @%p4 bra D;",
    );
    let joins: Vec<Option<u32>> = program.instructions.iter().map(|i| i.reconvergence).collect();
    // The first branch joins only at the exit, because one side may return.
    assert_eq!(joins, [None, None, None, Some(5), None, None, None, None, Some(9), None]);
    assert_eq!(program.targets[..3], [5, 7, 8], "labels in file order");
}

#[test]
fn values_of_the_same_register_go_separate_ways_and_moves_vanish_into_places() {
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         st.global.u32 [%rd1], %r1;
         mov.u32 %r1, %tid.y;
         mov.u32 %r2, %r1;
         st.global.u32 [%rd1+4], %r2;",
    );
    let places = |name: &str| -> Vec<Location> {
        let registers = program.registers.iter().filter(|register| register.name == name);
        registers.map(|register| register.location).collect()
    };
    assert_eq!(places("%r1").len(), 2);
    assert_eq!(places("%r1")[1], places("%r2")[0], "a move's two ends share a place");
    assert_eq!(program.general_registers, 3);
    let lines: Vec<u32> = program.instructions.iter().map(|i| i.line).collect();
    assert_eq!(lines, [8, 9, 10, 11, 12, 13, 14]);
}

#[test]
fn predicates_are_named_where_they_are_read_and_written() {
    let program = compiled(
        "setp.eq.s32 %p1, %r1, 0;
         @%p1 mov.u32 %r2, 7;
         selp.b32 %r3, %r1, %r2, %p1;
         st.global.u32 [%rd1], %r3;",
    );
    let predicates = |n| record(&program, n).predicates;
    let set = predicates(1).written;
    assert_eq!(set.count_ones(), 1);
    assert_eq!((predicates(1).read, predicates(2).written), (0, 0));
    assert_eq!((predicates(2).read, predicates(3).read), (set, set));
    assert_eq!(predicates(4), Predicates::NONE);
}

#[test]
fn what_a_shared_unit_reads_is_marked_definition_by_definition() {
    let program = compiled(
        "mov.u32 %r1, %tid.x;
         setp.eq.u32 %p1, %r1, 1;
         mov.u32 %r2, 5;
         @%p1 bra B;
         add.s32 %r2, %r1, 3;
         st.global.u32 [%rd1], %r2;
         B: mul.wide.u32 %rd2, %r2, 4;
         add.s64 %rd3, %rd1, %rd2;
         cvt.rn.f32.u32 %f1, %r2;
         sin.approx.f32 %f2, %f1;
         st.global.f32 [%rd3], %f2;",
    );
    let private = |n| record(&program, n).private_reads;
    // The comparison's result is a predicate; a parameter is an address of the stores.
    assert_eq!([0, 1, 2, 3].map(private), [0b00, 1, 0, 1]);
    // Of the two definitions of `%r2`, which meet at `B`, only the second is stored.
    assert_eq!(private(5), 0);
    // An address part that the ALU reads, and the address; what the SFU reads and makes.
    assert_eq!([7, 8, 9, 10].map(private), [0b11, 0b00, 0, 0]);
    // A guard leaves the old value to the lanes where it does not hold.
    for (guard, first) in [("", 1), ("@%p1 ", 0)] {
        let body = format!(
            "mov.u32 %r1, 1; setp.eq.u32 %p1, %r2, 1; {guard}mov.u32 %r1, %r1;
             st.global.u32 [%rd1], %r1;"
        );
        let program = compiled(&body);
        assert_eq!(
            (1..4).map(|n| record(&program, n).private_reads).collect::<Vec<_>>(),
            [first, 0, 0]
        );
    }
}

#[test]
fn nothing_private_lies_where_a_shared_unit_looks_for_a_value_that_is_not_there() {
    let program = compiled(BLIND);
    let place = |name: &str| {
        let register = program.registers.iter().find(|register| register.name == name);
        register.expect("it is read").location
    };
    assert_eq!(place("%r3"), place("%r9"), "or this tests nothing");
    assert_eq!([1, 2, 3].map(|n| record(&program, n).private_reads), [1, 0, 1]);
}

/// Nothing writes `%r9`, which comes to lie in `%r3`'s place.
pub(crate) const BLIND: &str = "mov.u32 %r1, 1;
    mov.u32 %r3, 2;
    add.s32 %r2, %r1, %r3;
    st.global.u32 [%rd1], %r9;
    setp.eq.u32 %p1, %r2, 1;";
