//! Inlining: what calls become, where variables go, and what is refused.

use std::fmt::Write as _;

use strata_compiler::inline::{MAX_CALL_DEPTH, inline};
use strata_compiler::kernel::Kernel;
use strata_compiler::{CompileOptions, compile};
use strata_ptx::diagnostic::{Diagnostic, DiagnosticKind};
use strata_ptx::module::{FunctionId, Module, Operand, StateSpace, Symbol};
use strata_ptx::opcode::Opcode;

const HEADER: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

fn module(text: &str) -> (Module, FunctionId) {
    let parsed = strata_ptx::parse(&format!("{HEADER}{text}"));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let (kernel, _) = parsed.module.kernels().next().expect("the text has a kernel");
    (parsed.module, kernel)
}

fn inlined(text: &str) -> Kernel {
    let (module, kernel) = module(text);
    inline(&module, kernel).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn refused(text: &str) -> Vec<Diagnostic> {
    let (module, kernel) = module(text);
    let problems =
        compile(&module, kernel, CompileOptions::default()).expect_err("must be refused");
    assert!(problems.iter().all(|problem| problem.kind == DiagnosticKind::Unsupported));
    problems
}

fn opcodes(kernel: &Kernel) -> Vec<&'static str> {
    kernel.instructions.iter().map(|instruction| instruction.opcode.name()).collect()
}

const DOUBLE: &str = "
.func (.param .b32 result) double(.param .b32 x)
{
    .reg .b32 %r<3>;
    .reg .pred %p<2>;
    ld.param.b32 %r1, [x];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 ret;
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
";

fn caller(calls: usize, guard: &str) -> String {
    let mut text = format!("{DOUBLE}\n.entry k(.param .u32 n)\n{{\n\t.reg .b32 %r<3>;\n");
    text.push_str("\t.reg .pred %p<2>;\n\tld.param.u32 %r1, [n];\n\tsetp.eq.s32 %p1, %r1, 1;\n");
    for _ in 0..calls {
        let _ = write!(
            text,
            "\t{{\n\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %r1;\n\t{guard}call.uni \
             (b), double, (a);\n\tld.param.b32 %r1, [b];\n\t}}\n"
        );
    }
    text + "\tret;\n}\n"
}

#[test]
fn a_call_becomes_its_body_and_returns_become_branches() {
    let kernel = inlined(&caller(1, ""));
    let expected = [
        "ld", "setp", "st", // caller
        "ld", "setp", "bra", "add", "st", // callee: its last return vanishes
        "ld", "ret",
    ];
    assert_eq!(opcodes(&kernel), expected);
    let Operand::Label(label) = kernel.instructions[5].sources[0] else { panic!("no label") };
    assert_eq!(kernel.targets[label.index()], 8);
    assert!(kernel.instructions[5].guard.is_some());
}

#[test]
fn caller_and_callee_share_the_parameter_variables() {
    let kernel = inlined(&caller(1, ""));
    let variable = |pc: usize, operand: usize| match &kernel.instructions[pc].sources[operand] {
        Operand::Address {
            base: strata_ptx::module::AddressBase::Symbol(Symbol::Local(id)),
            ..
        } => *id,
        other => panic!("{other:?} at {pc}"),
    };
    assert_eq!(variable(2, 0), variable(3, 0), "argument");
    assert_eq!(variable(7, 0), variable(8, 0), "result");
    let argument = &kernel.variables[variable(2, 0).index()];
    assert_eq!((argument.space, argument.size), (StateSpace::Local, 4));
    // They still count as short: the instructions say `.param`.
    assert_eq!(kernel.instructions[2].modifiers.space, Some(StateSpace::Param));
    assert_eq!((kernel.parameters, kernel.variables[0].space), (1, StateSpace::Param));
    assert_eq!(kernel.local_bytes, 8);
}

#[test]
fn each_copy_has_its_own_registers_and_variables() {
    let kernel = inlined(&caller(3, ""));
    let names: Vec<&str> = kernel.registers.iter().map(|register| &*register.name).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("%r2")).count(), 3, "{names:?}");
    assert_eq!(kernel.local_bytes, 24);
}

#[test]
fn a_guard_on_a_call_branches_around_it() {
    let kernel = inlined(&caller(1, "@%p1 "));
    assert_eq!(opcodes(&kernel)[2..5], ["st", "bra", "ld"]);
    let guard = kernel.instructions[3].guard.expect("the branch around the call is guarded");
    assert!(guard.negated);
    let Operand::Label(label) = kernel.instructions[3].sources[0] else { panic!("no label") };
    assert_eq!(kernel.targets[label.index()], 9);
}

#[test]
fn register_parameters_become_moves() {
    let kernel = inlined(
        ".func (.reg .b32 s) f(.reg .b32 a) { add.s32 s, a, 1; ret; }
         .entry k() { .reg .b32 %r<3>; call (%r1), f, (7); call (%r2), f, (%r1); ret; }",
    );
    let expected = ["mov", "add", "mov", "mov", "add", "mov", "ret"];
    assert_eq!(opcodes(&kernel), expected);
    assert_eq!(kernel.instructions[0].sources, [Operand::Integer(7)]);
    assert_eq!(kernel.instructions[0].destinations, kernel.instructions[1].sources[..1]);
}

#[test]
fn shared_variables_have_one_copy_and_open_arrays_come_last() {
    let kernel = inlined(
        ".extern .shared .align 16 .b8 dynamic[];
         .shared .align 4 .b8 tile[20];
         .func f() { .shared .align 8 .b8 mine[12]; .reg .b32 %r<2>;
            ld.shared.u32 %r1, [mine]; st.shared.u32 [dynamic], %r1; ret; }
         .entry k() { .reg .b32 %r<2>; call f; call f; ld.shared.u32 %r1, [tile]; ret; }",
    );
    let mut places: Vec<_> =
        kernel.variables.iter().map(|v| (v.name.as_str(), v.offset, v.size)).collect();
    places.sort_unstable();
    assert_eq!(places, [("dynamic", 32, 0), ("mine", 0, 12), ("tile", 12, 20)]);
    assert!(kernel.variables.iter().all(|variable| variable.space == StateSpace::Shared));
    assert_eq!(kernel.shared_bytes, 32);
}

#[test]
fn local_variables_of_the_module_lie_in_the_frame_once() {
    let kernel = inlined(
        ".local .align 4 .b8 old[8];
         .func f() { .local .align 4 .b8 mine[4]; .reg .b32 %r<2>; ld.local.u32 %r1, [old];
            st.local.u32 [mine], %r1; ret; }
         .entry k() { call f; call f; ret; }",
    );
    let names: Vec<&str> = kernel.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["mine.1", "old", "mine.2"]);
    assert_eq!(kernel.local_bytes, 16);
}

#[test]
fn what_no_path_reaches_is_dropped_and_the_end_is_a_return() {
    let kernel = inlined(
        ".entry k() { .reg .b32 %r<2>; bra L; M: mov.u32 %r1, 1; bra M; L: mov.u32 %r1, 2; }",
    );
    assert_eq!(opcodes(&kernel), ["bra", "mov", "ret"]);
    assert_eq!(inlined(".entry k() { }").instructions[0].opcode, Opcode::Ret);
}

#[test]
fn recursion_is_refused() {
    let problems = refused(
        ".func g();
         .func f() { call g; ret; }
         .func g() { call f; ret; }
         .entry k() { call f; call g; ret; }",
    );
    assert!(problems.iter().all(|problem| problem.code == "recursion"), "{problems:?}");
    assert!(problems[0].message.contains("calls itself"));
    assert_eq!(problems[0].kernel.as_deref(), Some("k"));
}

#[test]
fn unknown_functions_and_calls_through_registers_are_refused_all_at_once() {
    let problems = refused(
        ".extern .func other();
         .entry k() { .reg .b64 %rd<2>; call other;
            P: .callprototype _ ();
            call %rd1, P; ret; }",
    );
    let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["unknown-function", "indirect-call"]);
    assert!(problems[0].message.contains("other"));
}

#[test]
fn printf_and_assert_stay_calls() {
    let kernel = inlined(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
         .entry k() { .reg .b64 %rd<2>; { .param .b64 p; .param .b64 q; .param .b32 r;
            st.param.b64 [p], 0; st.param.b64 [q], 0; call (r), vprintf, (p, q); } ret; }",
    );
    assert_eq!(opcodes(&kernel), ["st", "st", "call", "ret"]);
    assert!(kernel.variables.iter().all(|variable| variable.space == StateSpace::Local));
}

#[test]
fn calls_that_grow_without_bound_are_refused() {
    grows(&format!(".reg .b32 %r<2>; {}", "mov.u32 %r1, 1; ".repeat(60)), "too-many-instructions");
    grows("", "too-many-calls");
}

/// Forty levels of functions that each call the next thrice.
fn grows(leaf: &str, code: &str) {
    let mut text = format!(".func f0() {{ {leaf} ret; }}\n");
    for level in 1..40 {
        let _ = writeln!(
            text,
            ".func f{level}() {{ call f{0}; call f{0}; call f{0}; ret; }}",
            level - 1
        );
    }
    text.push_str(".entry k() { call f39; ret; }");
    let problems = refused(&text);
    assert!(problems.iter().any(|problem| problem.code == code), "{code}: {problems:?}");
}

#[test]
fn calls_nested_too_deeply_are_refused() {
    let mut text = ".func f0() { ret; }\n".to_owned();
    for level in 1..=MAX_CALL_DEPTH {
        let _ = writeln!(text, ".func f{level}() {{ call f{}; ret; }}", level - 1);
    }
    let _ = write!(text, ".entry k() {{ call f{MAX_CALL_DEPTH}; ret; }}");
    assert_eq!(refused(&text)[0].code, "calls-too-deep");
}

#[test]
fn variables_that_fit_nowhere_are_refused() {
    let problems = refused(".entry k() { .local .b8 huge[2000000000]; ret; }");
    assert_eq!(problems[0].code, "variables-too-large");
    assert!(problems[0].message.contains("huge"));
}

#[test]
fn functions_are_no_kernels() {
    let (module, _) = module(".func f() { ret; } .entry k() { ret; }");
    let code = |id| {
        compile(&module, FunctionId(id), CompileOptions::default()).expect_err("no kernel")[0].code
    };
    assert_eq!((code(0), code(9)), ("no-kernel", "no-kernel"));
}
