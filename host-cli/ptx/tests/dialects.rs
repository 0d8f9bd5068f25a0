//! PTX of compilers that are newer than this parser, and spellings that only the assembler's own
//! tests would show. What is accepted and refused is what ptxas 13.5 accepts and refuses.

use strata_ptx::diagnostic::{DiagnosticKind, LineIndex};
use strata_ptx::module::{Module, StateSpace};
use strata_ptx::{Parsed, final_zeros, parse};

const HEAD: &str = ".version 9.5\n.target sm_100a\n.address_size 64\n";
const REGISTERS: &str = ".reg .b64 %d<9>; .reg .b32 %r<20>; .reg .b16 %h<9>; .reg .f32 %f<9>;\n\
                         .reg .f64 %g<9>; .reg .pred %p<5>; .shared .align 16 .b8 s[512];\n";

/// A module with declarations before a kernel with one more statement.
fn module(declarations: &str, body: &str) -> Parsed {
    parse(&format!("{HEAD}{declarations}\n.entry k()\n{{\n{REGISTERS}{body}\nret;\n}}\n"))
}

fn is_accepted(declarations: &str, body: &str) -> bool {
    module(declarations, body).diagnostics.is_empty()
}

/// Instructions that are not known, each of which ptxas 13.5 accepts or once accepted.
const UNKNOWN: &[&str] = &[
    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1}",
    "fabric.submit",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%f0}, {%r0}, {%r0}, {%f0}",
    "mbarrier.try_wait.phase_type::primary.acquire.cta.shared::cta.b64 %p0, [%r0], %d0",
    "mbarrier.init.layout::v0.shared.b64 [%r0], 32",
    "prefetch.global.L1::32B.valid_addr [%d0]",
    "fence.proxy.alias.acquire.sys",
    "fence.acquire.sync_restrict::shared::cluster.cluster",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, {%r2, %r3}, %p0",
    "wgmma.fence.sync.aligned",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16\n  {%f0, %f1, %f2, %f3}, %d0, %d1,\n  1, 1, 1",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.tensor.2d.shared::cluster.global [%r0], [%d0, {%r1, %r2}], [%r3]",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.b128 [%r0], [%r0]",
    "cvt.rs.f16x2.f32 %r2, %r1, %r1, %r1",
    "cvt.rp.satfinite.ue8m0x2.f32 %h0, %r1, %r1",
    "@%p0 multimem.red.relaxed.sys.global.add.u32 [%d1], %r1",
    "@!%p0 add.f8x4 %r1, %r2, %r3",
    "brandnew",
];

#[test]
fn what_is_not_known_refuses_its_kernel_and_no_other() {
    for unknown in UNKNOWN {
        let text = format!(
            "{HEAD}.entry fine() {{ ret; }}\n.entry new()\n{{\n{REGISTERS}\n{unknown};\nret;\n}}\n\
             .func also_fine() {{ ret; }}\n"
        );
        let parsed = parse(&text);
        assert!(!parsed.has_errors(), "{unknown}: {:?}", parsed.diagnostics);
        let [refusal] = parsed.diagnostics.as_slice() else {
            panic!("{unknown}: {:?}", parsed.diagnostics);
        };
        assert_eq!(refusal.kind, DiagnosticKind::Unsupported);
        assert_eq!(refusal.kernel.as_deref(), Some("new"));
        // It is named, with its modifiers, at its line.
        let name = unknown.split_whitespace().find(|word| !word.starts_with('@')).expect("a name");
        let name: String = name.chars().take(60).collect();
        assert!(refusal.message.contains(&name), "{}", refusal.message);
        assert_eq!(LineIndex::new(&text).line(refusal.span.start), 10, "{unknown}");
        assert_eq!(parsed.module.functions.len(), 3, "{unknown}");
    }
}

#[test]
fn a_malformed_file_is_an_error_whatever_it_does_not_know() {
    for body in [
        "brandnew {%r1, %r2;",
        "brandnew %r1}, %r2;",
        "brandnew [%r1};",
        "brandnew (%r1;",
        "brandnew `;",
        "brandnew %r1 }\n.entry other() { ret; ",
        "brandnew /* ;",
        "brandnew \"text;",
        "add.brandnew {%r1;",
        "add.s32.brandnew %r1, [%r2;",
        "{ brandnew;",
        "brandnew; }",
    ] {
        assert!(module("", body).has_errors(), "{body}");
    }
    for declarations in ["brandnew;", ".brandnew;", "}", "{ }", "add.s32 %r1, %r2, %r3;"] {
        assert!(module(declarations, "").has_errors(), "{declarations}");
    }
}

#[test]
fn each_kernel_is_refused_however_much_is_not_known() {
    let many = "brandnew;\n".repeat(1000);
    let kernel = |name: &str, body: &str| format!(".entry {name}() {{\n{body}ret;\n}}\n");
    let text = [HEAD, &kernel("a", &many), &kernel("fine", ""), &kernel("b", &many)].concat();
    let parsed = parse(&text);
    assert!(!parsed.has_errors());
    let refused = |name| parsed.diagnostics.iter().any(|d| d.kernel.as_deref() == Some(name));
    assert_eq!(["a", "fine", "b"].map(refused), [true, false, true]);
    assert!(parsed.diagnostics.len() < 300);
}

#[test]
fn a_function_is_refused_by_its_other_name_too() {
    let text = format!(
        "{HEAD}.extern .func other();\n.func f() {{ brandnew; ret; }}\n\
         .entry k() {{ call other, (); ret; }}\n.alias other, f;\n"
    );
    let parsed = parse(&text);
    let refused: Vec<_> = parsed.diagnostics.iter().filter_map(|d| d.kernel.as_deref()).collect();
    assert_eq!(refused, ["f", "other"]);
}

/// Instructions in an order that ptxas takes.
const ORDERS: &[&str] = &[
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 IMMA",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite IMMA",
    "mma.sync.aligned.m16n8k32.row.col.s32.satfinite.s8.s8.s32 IMMA",
    "mma.satfinite.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 IMMA",
    "mma.sync.aligned.row.col.m16n8k32.s32.s8.s8.s32 IMMA",
    "mma.m16n8k32.row.col.s32.s8.s8.s32.sync.aligned IMMA",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc BITS",
    "mma.sync.aligned.m16n8k128.row.col.xor.popc.s32.b1.b1.s32 BITS",
    "mma.xor.popc.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32 BITS",
    "mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64 {%g1,%g2}, {%g2}, {%g3}, {%g4,%g5}",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn {%g1,%g2}, {%g2}, {%g3}, {%g4,%g5}",
    "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1], [%d1], 16, %d2",
    "cp.async.cg.shared.global.L2::128B.L2::cache_hint [%r1], [%d1], 16, %d2",
    "cp.async.L2::128B.cg.shared.global.L2::cache_hint [%r1], [%d1], 16, %d2",
    "cp.async.shared.global.cg.L2::cache_hint [%r1], [%d1], 16, %d2",
    "cp.async.cg.shared.global.L2::64B [%r1], [%d1], 16",
    "cp.async.mbarrier.arrive.shared.b64.noinc [%r1]",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 EIGHT, [%r8]",
    "wmma.load.a.sync.aligned.m16n16k16.row.shared.f16 EIGHT, [%r8]",
    "wmma.load.a.sync.aligned.m16n16k16.shared.row.f16 EIGHT, [%r8]",
    "wmma.load.a.row.m16n16k16.shared.sync.aligned.f16 EIGHT, [%r8]",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16.shared EIGHT, [%r8]",
    "wmma.store.d.sync.aligned.m16n16k16.row.shared.f32 [%r8], EIGHT",
    "wmma.mma.sync.aligned.m16n16k16.row.col.f32.f32 EIGHT, EIGHT, EIGHT, EIGHT",
    "wmma.mma.sync.aligned.row.m16n16k16.col.f32.f32 EIGHT, EIGHT, EIGHT, EIGHT",
    "wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.xor.popc PAIR, {%r3}, {%r4}, PAIR",
    "wmma.mma.rn.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%g1,%g2}, {%g3}, {%g4}, {%g5,%g6}",
    "ldmatrix.sync.aligned.trans.m8n8.x1.shared.b16 {%r1}, [%r2]",
    "ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%d1]",
    "stmatrix.sync.aligned.m8n8.x1.b16 [%d1], {%r1}",
    "add.ftz.rn.f32x2 %d1, %d2, %d3",
    "sub.rp.f32x2 %d1, %d2, %d3",
    "mul.f32x2 %d1, %d2, %d3",
    "fma.rm.ftz.f32x2 %d1, %d2, %d3, %d4",
    "max.f32 %f1, %f2, %f3, %f4",
    "min.abs.NaN.ftz.f32 %f1, %f2, %f3, %f4",
    "cvt.rp.bf16.f32 %h1, %f1",
    "cvt.rm.bf16.f32 %h1, %f1",
    "cvt.rz.relu.bf16.f32 %h1, %f1",
    "cvt.rz.satfinite.relu.bf16.f32 %h1, %f1",
    "cvt.rp.ftz.bf16.f32 %h1, %f1",
    "redux.sync.min.NaN.abs.f32 %f1, %f2, -1",
    "mov.u32 %r1, %reserved_smem_offset_1",
];

/// Instructions that ptxas refuses.
const DISORDERS: &[&str] = &[
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.popc.xor BITS",
    "mma.sync.aligned.m16n8k32.row.row.s32.s8.s8.s32 IMMA",
    "cp.cg.async.shared.global.L2::cache_hint [%r1], [%d1], 16, %d2",
    "cp.async.cg.global.shared.L2::cache_hint [%r1], [%d1], 16, %d2",
    "cp.async.mbarrier.noinc.arrive.shared.b64 [%r1]",
    "cp.async.noinc.mbarrier.arrive.shared.b64 [%r1]",
    "wmma.load.sync.aligned.a.row.m16n16k16.shared.f16 EIGHT, [%r8]",
    "wmma.sync.aligned.load.a.row.m16n16k16.shared.f16 EIGHT, [%r8]",
    "wmma.load.row.a.sync.aligned.m16n16k16.shared.f16 EIGHT, [%r8]",
    "wmma.mma.popc.xor.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 PAIR, {%r3}, {%r4}, PAIR",
    "ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r1}, [%r2]",
    "ldmatrix.sync.aligned.m8n8.x1.b16 %r1, [%d1]",
    "add.rn.sat.f32x2 %d1, %d2, %d3",
    "fma.f32x2 %d1, %d2, %d3, %d4",
    "fma.rn.relu.f32x2 %d1, %d2, %d3, %d4",
    "max.f32x2 %d1, %d2, %d3",
    "add.rn.f32x2 %f1, %d2, %d3",
    "max.abs.f32 %f1, %f2, %f3",
    "max.xorsign.abs.f32 %f1, %f2, %f3, %f4",
    "max.f16 %h1, %h2, %h3, %h4",
    "max.s32 %r1, %r2, %r3, %r4",
    "cvt.rp.relu.bf16.f32 %h1, %f1",
    "cvt.rm.satfinite.bf16.f32 %h1, %f1",
    "cvt.rp.sat.bf16.f32 %h1, %f1",
    "cvt.rn.relu.ftz.bf16.f32 %h1, %f1",
    "cvt.rp.bf16x2.f32 %r1, %f1, %f2",
    "cvt.rm.tf32.f32 %r1, %f1",
    "redux.sync.min.ftz.f32 %f1, %f2, -1",
    "redux.sync.add.f32 %f1, %f2, -1",
    "mov.u32 %r1, %reserved_smem_offset_2",
];

/// An instruction with its operands in place of short names for them.
fn spelt(instruction: &str) -> String {
    let eight = "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}";
    let imma = "{%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r10,%r11,%r12,%r13}";
    let bits = "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r8}, {%r10,%r11,%r12,%r13}";
    let replaced = instruction.replace("EIGHT", eight).replace("IMMA", imma);
    replaced.replace("BITS", bits).replace("PAIR", "{%r1,%r2}") + ";"
}

#[test]
fn words_have_the_orders_that_ptxas_takes() {
    for order in ORDERS {
        let parsed = module("", &spelt(order));
        assert!(parsed.diagnostics.is_empty(), "{order}: {:?}", parsed.diagnostics);
    }
    for disorder in DISORDERS {
        assert!(!is_accepted("", &spelt(disorder)), "{disorder}");
    }
}

fn variable(module: &Module, space: StateSpace, name: &str) -> bool {
    let own = module.functions.iter().flat_map(|function| &function.variables);
    let mut all = module.variables.iter().chain(own);
    all.any(|variable| variable.space == space && variable.name == name)
}

#[test]
fn names_are_numbered_in_every_space() {
    for (space, word) in [
        (StateSpace::Global, "global"),
        (StateSpace::Const, "const"),
        (StateSpace::Shared, "shared"),
        (StateSpace::Local, "local"),
        (StateSpace::Param, "param"),
    ] {
        let body = format!(
            ".{word} .align 8 .v2 .b32 v<3>, w, u<0x2>;\nld.{word}.b32 %r1, [v2+4];\n\
                            ld.{word}.b32 %r1, [w]; ld.{word}.b32 %r1, [u1];"
        );
        let parsed = module("", &body);
        assert!(parsed.diagnostics.is_empty(), "{word}: {:?}", parsed.diagnostics);
        let prefix = if matches!(word, "global" | "const") { "k." } else { "" };
        assert!(variable(&parsed.module, space, &format!("{prefix}v2")), "{word}");
        assert!(!variable(&parsed.module, space, &format!("{prefix}v1")), "{word}: not used");
        for wrong in ["v3", "v", "v-1", "u2", "w0"] {
            let body = format!("{body}\nld.{word}.b32 %r1, [{wrong}];");
            assert!(module("", &body).has_errors(), "{word}: {wrong}");
        }
    }
    for (declarations, body) in [
        (".global .b32 v<3>;", "ld.global.b32 %r1, [v1];"),
        (".visible .const .b32 v<3>;", "ld.const.b32 %r1, [v0];"),
        (".shared .b32 v<3>;", "mov.u32 %r1, v2;"),
        (".global .b32 v<3>; .global .b32 v, v3; .global .u64 q[2] = {v0, v};", ""),
        (".global .b32 v1<2>, v<20>;", "ld.global.b32 %r1, [v11];"),
        (".global .b32 v<0>;", ""),
        ("", ".local .b32 v<2>; { .local .b64 v<5>; ld.local.b64 %d1, [v4]; }"),
    ] {
        let parsed = module(declarations, body);
        assert!(parsed.diagnostics.is_empty(), "{declarations} {body}: {:?}", parsed.diagnostics);
    }
    for declarations in [
        ".global .b32 v<3> = 1;",
        ".global .b32 v<3>[4];",
        ".extern .shared .b32 v<3>[];",
        ".global .b32 v<3>; .global .b32 v0;",
        ".global .b32 v<3>; .global .b32 v<3>;",
        ".global .b32 v<3>; .global .b32 v<4>;",
        ".func f(.param .b32 a<2>) { ret; }",
        ".func f(.reg .b32 a<2>) { ret; }",
        ".func (.param .b32 r<2>) f(.param .b32 a) { ret; }",
        ".global .b32 v<3>; .global .u64 q = v3;",
        ".global .b32 v<1+>;",
        ".global .b32 v<>;",
        ".global .b32 v<3;",
        ".global .pred v<3>;",
    ] {
        assert!(module(declarations, "").has_errors(), "{declarations}");
    }
    for body in [".local .b32 v<2>; .local .b32 v1;", ".reg .b32 q<3>; .local .b32 q<2>;"] {
        assert!(module("", body).has_errors(), "{body}");
    }
}

#[test]
fn many_numbered_names_cost_nothing() {
    let parsed = module(".global .b32 v<4000000000>;", "ld.global.b32 %r1, [v3999999999];");
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(parsed.module.variables.len(), 1);
}

#[test]
fn zero_bytes_at_the_end_are_no_text() {
    let text = format!("{HEAD}.entry k() {{ ret; }}\n");
    for (end, zeros) in [("", 0), ("\0", 1), ("\0\0\0", 3), ("\0\n\0", 2), ("\n", 0)] {
        let text = format!("{text}{end}");
        assert!(parse(&text).diagnostics.is_empty(), "{end:?}");
        assert_eq!(final_zeros(&text), zeros, "{end:?}");
    }
    assert!(parse(&text.replace("ret", "\0ret")).has_errors());
    assert!(parse("\0").has_errors(), "nothing else is no module");
}
