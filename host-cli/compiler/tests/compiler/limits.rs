//! Kernels that are too large are refused with a message, in bounded time and memory.

use std::fmt::Write as _;

use strata_compiler::{CompileOptions, compile};
use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::FunctionId;

fn refused(body: &str) -> Diagnostic {
    let text = format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k() {{ .reg .pred %p<3>;
         .reg .b64 %rd<2>;\n{body}\nret; }}"
    );
    let parsed = strata_ptx::parse(&text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics.first());
    let mut problems = compile(&parsed.module, FunctionId(0), CompileOptions::default())
        .expect_err("must be refused");
    assert_eq!(problems.len(), 1);
    problems.remove(0)
}

#[test]
fn more_registers_than_numbers() {
    let count = 65536;
    let mut body = format!(".reg .b32 %r<{count}>;\n");
    for register in 0..count {
        let _ = writeln!(body, "mov.u32 %r{register}, 1;");
    }
    for register in 0..count {
        let _ = writeln!(body, "st.global.u32 [%rd1], %r{register};");
    }
    let problem = refused(&body);
    assert_eq!((problem.code, problem.kernel.as_deref()), ("too-many-registers", Some("k")));
    assert_eq!(problem.message, "needs more than 65535 registers");
}

#[test]
fn waiting_places_without_bound() {
    // Each branch has two sides that go on to the end, because some lanes may leave in between.
    let mut body = String::new();
    for branch in 0..6000 {
        let _ = writeln!(body, "@%p1 bra L{branch};\n@%p2 exit;\nL{branch}:");
    }
    let problem = refused(&body);
    assert_eq!(problem.code, "nesting-too-deep");
    assert!(problem.message.contains("more than 16777216 pairs"), "{}", problem.message);
    assert!(problem.span.start > 1000, "{:?} is where no branch is", problem.span);
}

#[test]
fn early_exits_to_one_label_are_no_nesting() {
    let exits = "@%p1 bra END;\nst.global.u32 [%rd1], 1;\n".repeat(8000);
    let text = format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k() {{ .reg .pred %p<3>;
         .reg .b64 %rd<2>;\n{exits}END: ret; }}"
    );
    let parsed = strata_ptx::parse(&text);
    let program = compile(&parsed.module, FunctionId(0), CompileOptions::default());
    assert_eq!(program.expect("compiled").instructions.len(), 16_001);
}

#[test]
fn a_large_kernel_is_told_its_limit() {
    let text = ".version 7.0\n.target sm_75\n.address_size 64\n.entry k() { ret; }";
    let mut module = strata_ptx::parse(text).module;
    let body = &mut module.functions[0].body;
    *body = vec![body[0].clone(); (1 << 20) + 1];
    let problems = compile(&module, FunctionId(0), CompileOptions::default()).expect_err("refused");
    assert_eq!(problems[0].message, "has more than 1048576 instructions");
}

#[test]
fn tables_without_bound() {
    // Every block reads a register of its own that all blocks may have defined.
    let count = 50_000;
    let mut body = format!(".reg .b32 %r<{count}>;\nTOP:\n");
    for block in 0..count {
        let _ = writeln!(body, "@%p1 bra L{block};\nst.global.u32 [%rd1], %r{block};\nL{block}:");
    }
    let problem = refused(&body);
    assert_eq!(problem.code, "kernel-too-large");
    assert!(problem.message.contains("basic blocks"), "{}", problem.message);
}
