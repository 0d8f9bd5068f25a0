//! Addresses of 32 bits in modules whose addresses have 64: refused where they lose anything.

use strata_ptx::diagnostic::{Diagnostic, DiagnosticKind};
use strata_ptx::{Parsed, parse};

const WIDE: &str = ".address_size 64\n";
const NARROW: &str = ".address_size 32\n";

/// Variables of each space, and a kernel with this body.
fn module(size: &str, variables: &str, body: &str) -> Parsed {
    let text = format!(
        ".version 8.0\n.target sm_90\n{size}\
         .global .align 4 .u32 g; .const .align 4 .u32 c; .shared .align 4 .u32 s;\n\
         .func f() {{ ret; }}\n{variables}\n\
         .entry k(.param .u64 p)\n{{\n.reg .pred %q; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
         .local .align 4 .b8 l[16];\n{body}\n}}\n"
    );
    parse(&text)
}

/// What the rule of addresses says; nothing else is wrong.
fn problem(size: &str, variables: &str, body: &str) -> Option<Diagnostic> {
    let parsed = module(size, variables, body);
    let mut found = parsed.diagnostics.into_iter();
    let first = found.next();
    assert_eq!(found.next(), None, "{variables} {body}");
    assert!(first.iter().all(|problem| problem.code == "address-size"), "{first:?}");
    first
}

/// `ptxas` 13.5 refuses each of these as a 32-bit address in a module with `.address_size 64`.
const REFUSED: [(&str, &str); 14] = [
    ("mov.u32 %r1, g;", "g"),
    ("mov.b32 %r1, g+4;", "g+4"),
    ("cvta.global.u32 %r1, g;", "%r1"),
    ("cvta.shared.u32 %r2, %r1;", "%r2"),
    ("cvta.to.shared.u32 %r2, %r1;", "%r2"),
    ("ld.global.u32 %r2, [%r1];", "[%r1]"),
    ("ld.u32 %r2, [%r1+8];", "[%r1+8]"),
    ("ldu.global.u32 %r2, [%r1];", "[%r1]"),
    ("st.global.u32 [%r1], %r2;", "[%r1]"),
    ("atom.global.add.u32 %r2, [%r1], 1;", "[%r1]"),
    ("red.add.u32 [%r1], 1;", "[%r1]"),
    ("prefetch.global.L1 [%r1];", "[%r1]"),
    ("prefetchu.L1 [%r1];", "[%r1]"),
    ("discard.global.L2 [%r1], 128;", "[%r1]"),
];

#[test]
fn half_an_address_of_global_memory_is_refused_with_its_place() {
    for (body, place) in REFUSED {
        let problem = problem(WIDE, "", body).unwrap_or_else(|| panic!("{body}: accepted"));
        assert_eq!(problem.kind, DiagnosticKind::Error, "{body}");
        assert_eq!(problem.kernel.as_deref(), Some("k"), "{body}");
        let length = (problem.span.end - problem.span.start) as usize;
        assert_eq!(length, place.len(), "{body}: {problem:?}");
        assert!(problem.hint.is_some_and(|hint| hint.contains(".address_size 32")), "{body}");
        assert_eq!(self::problem(NARROW, "", body), None, "{body}");
    }
}

/// `ptxas` takes these, and they cannot be executed with addresses of 64 bits here.
#[test]
fn half_an_address_of_constants_and_parameters_refuses_the_kernel() {
    for body in [
        "mov.u32 %r1, c;",
        "mov.u32 %r1, p;",
        "ld.const.u32 %r2, [%r1];",
        "ld.param.u32 %r2, [%r1];",
        "isspacep.global %q, %r1;",
    ] {
        let problem = problem(WIDE, "", body).unwrap_or_else(|| panic!("{body}: accepted"));
        assert_eq!(problem.kind, DiagnosticKind::Unsupported, "{body}");
        assert_eq!(problem.kernel.as_deref(), Some("k"), "{body}");
        assert_eq!(self::problem(NARROW, "", body), None, "{body}");
    }
    let initial = ".global .u32 h[2] = {3, g};";
    let problem = problem(WIDE, initial, "").expect("half an address as initial contents");
    assert_eq!(problem.kind, DiagnosticKind::Unsupported);
    assert_eq!(self::problem(NARROW, initial, ""), None);
}

#[test]
fn addresses_of_shared_and_local_memory_have_32_bits_everywhere() {
    for body in [
        "mov.u32 %r1, s; ld.shared.u32 %r2, [%r1]; atom.shared.add.u32 %r2, [%r1], 1;",
        "mov.u32 %r1, l; st.local.u32 [%r1], %r2; prefetch.local.L1 [%r1];",
        "mov.u32 %r1, s; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
        "mov.u32 %r1, s; cp.async.ca.shared.global [%r1], [%rd1], 4;",
        "mov.u64 %rd1, g; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r1, [g];",
    ] {
        assert_eq!(problem(WIDE, "", body), None, "{body}");
        assert_eq!(problem(NARROW, "", body), None, "{body}");
    }
    assert_eq!(problem(WIDE, ".global .u64 h = g; .global .u32 i = f;", ""), None);
}

/// PTX before 2.3 could not say how wide addresses are.
#[test]
fn without_a_directive_the_instructions_tell() {
    let bits = |body: &str| {
        let parsed = module("", "", body);
        assert_eq!(parsed.diagnostics, [], "{body}");
        parsed.module.address_bits
    };
    for (body, _) in REFUSED {
        assert_eq!(bits(body), 32, "{body}");
    }
    assert_eq!(bits("mov.u32 %r1, c; ld.const.u32 %r2, [%r1]; ld.global.u32 %r2, [%r1];"), 32);
    assert_eq!(bits("mov.u32 %r1, s; ld.global.u32 %r2, [%rd1];"), 64);
    assert_eq!(bits(""), 64);
    assert!(problem("", "", "mov.u32 %r1, c;").is_some());
}

/// Such a variable has an address in each CTA. It was 0 before.
#[test]
fn initial_contents_are_no_addresses_of_shared_variables() {
    let parsed = module(WIDE, ".global .u64 h = s;", "");
    let [problem] = parsed.diagnostics.as_slice() else { panic!("{:?}", parsed.diagnostics) };
    assert_eq!((problem.kind, problem.code), (DiagnosticKind::Error, "bad-initializer"));
}
