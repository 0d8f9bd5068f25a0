//! Features of PTX that public kernels use, each in a kernel of its own: what one thread stores
//! against what the manual says that it computes.

use strata_compiler::checker::{check, check_order};
use strata_compiler::inline::inline;
use strata_compiler::{CompileOptions, Order, RegisterLimit, schedule};
use strata_simt::{Device, prepare};

use crate::common::{Arguments, launch};

const HEAD: &str = ".version 8.7\n.target sm_90a\n.address_size 64\n";

/// Declarations of the module, directives of the kernel, its body, and what each lane stores of
/// `%r31`.
struct Feature {
    module: &'static str,
    directives: &'static str,
    body: &'static str,
    expected: fn(u32) -> u32,
}

const fn feature(body: &'static str, expected: fn(u32) -> u32) -> Feature {
    Feature { module: "", directives: "", body, expected }
}

const fn declared(module: &'static str, body: &'static str, expected: fn(u32) -> u32) -> Feature {
    Feature { module, ..feature(body, expected) }
}

const fn directed(
    directives: &'static str,
    body: &'static str,
    expected: fn(u32) -> u32,
) -> Feature {
    Feature { directives, ..feature(body, expected) }
}

fn text(feature: &Feature) -> String {
    let Feature { module, directives, body, .. } = feature;
    format!(
        "{HEAD}{module}
        .visible .entry k(.param .u64 out) {directives} {{
            .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<8>;
            .reg .f32 %f<16>; .reg .f64 %fd<8>; .reg .b128 %q<4>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r30, %tid.x;
            mul.wide.u32 %rd2, %r30, 4;
            add.u64 %rd2, %rd1, %rd2;
            {body}
            st.global.u32 [%rd2], %r31;
            ret;
        }}"
    )
}

/// What each of 64 threads stores, or why none does. The compiled kernel is proved by the checkers:
/// with as many registers as it likes, with few, and in another order.
fn run(text: &str) -> Result<Vec<u32>, String> {
    let parsed = strata_ptx::parse(text);
    let complaints: Vec<&str> = parsed.diagnostics.iter().map(|d| d.message.as_str()).collect();
    if parsed.has_errors() || !complaints.is_empty() {
        return Err(complaints.join("; "));
    }
    let module = parsed.module;
    let kernel = module.kernel("k").ok_or("no kernel")?;
    let told = |problems: Vec<strata_ptx::diagnostic::Diagnostic>| {
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    };
    let mut found = Vec::new();
    let few = RegisterLimit::new(16);
    for (registers, order) in
        [(None, Order::Ptx), (few, Order::Ptx), (None, Order::ScheduledRenamed)]
    {
        let options = CompileOptions { registers, order };
        let program = strata_compiler::compile(&module, kernel, options).map_err(told)?;
        let mut inlined = inline(&module, kernel).map_err(told)?;
        if order != Order::Ptx {
            let reordered = schedule(&inlined, order).map_err(|problem| problem.message)?;
            check_order(&inlined, &reordered).map_err(|problems| format!("{problems:?}"))?;
            inlined = reordered.kernel;
        }
        check(&inlined, &program).map_err(|problems| format!("{problems:?}"))?;
        let executable = prepare(&module, &program).map_err(told)?;
        let mut device = Device::with_limit(module.address_bits, Device::DEFAULT_LIMIT);
        device.load_module(&module).map_err(|error| error.to_string())?;
        let out = device.alloc("out", 256, 256).map_err(|error| error.to_string())?;
        let launch = launch(1, 64, Arguments::default().u64(out));
        strata_simt::execute(&mut device, &executable, &launch).map_err(|f| f.to_string())?;
        let bytes = device.read(out, 256).map_err(|error| error.to_string())?;
        let words = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
        found.push(words.collect::<Vec<u32>>());
    }
    if found.iter().any(|words| *words != found[0]) {
        return Err("fewer registers or another order compute something else".into());
    }
    Ok(found.swap_remove(0))
}

fn all_hold(features: &[Feature]) {
    let mut wrong = Vec::new();
    for feature in features {
        let expected: Vec<u32> = (0..64).map(feature.expected).collect();
        match run(&text(feature)) {
            Ok(found) if found == expected => {}
            Ok(found) => {
                let lane = (0..64).find(|&lane| found[lane] != expected[lane]).unwrap_or(0);
                let (found, expected) = (found[lane], expected[lane]);
                wrong.push(format!(
                    "{}\n  thread {lane}: {found:#x}, not {expected:#x}",
                    feature.body
                ));
            }
            Err(message) => wrong.push(format!("{}\n  {message}", feature.body)),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn vectors_are_packed_unpacked_and_moved() {
    all_hold(&[
        feature(
            "mov.b64 %rd3, 0x1122334455667788; mov.b64 {%h1, %h2, %h3, %h4}, %rd3;
            mov.b64 %rd4, {%h4, %h3, %h2, %h1}; cvt.u32.u64 %r1, %rd4; shr.u64 %rd4, %rd4, 32;
            cvt.u32.u64 %r2, %rd4; xor.b32 %r31, %r1, %r2;",
            |_| 0x3344_1122 ^ 0x7788_5566,
        ),
        feature(
            ".reg .b8 %b<4>; mov.b32 %r1, 0x11223344; mov.b32 {%b0, %b1, %b2, %b3}, %r1;
            mov.b32 %r31, {%b3, %b0, %b1, %b2};",
            |_| 0x2233_4411,
        ),
        feature(
            ".reg .b8 %b<4>; cvt.u16.u32 %h1, %r30; mov.b16 {%b0, %b1}, 0x1234;
            mov.b16 %h2, {%b1, %b0}; add.u16 %h2, %h2, %h1; cvt.u32.u16 %r31, %h2;",
            |t| 0x3412 + t,
        ),
        feature(
            "mov.b32 {%h1, _}, %r30; mov.b32 %r31, {%h1, %h1};",
            |t| t | t << 16,
        ),
        feature(
            "mov.b64 %rd3, 7; mov.b128 %q1, {%rd3, %rd1}; mov.b128 %q2, %q1;
            mov.b128 {%rd4, _}, %q2; mov.b128 {%r1, %r2, %r3, %r4}, %q1;
            cvt.u32.u64 %r5, %rd4; add.u32 %r31, %r5, %r1; add.u32 %r31, %r31, %r2;",
            |_| 14,
        ),
        feature(
            ".reg .v4 .f32 V; .reg .f32 a, b, c, d; mov.v4.f32 V, {0f3F800000, 2.0, 3.0, 4.0};
            mov.v4.f32 {a, b, c, d}, V; mov.v4.f32 V, {d, c, b, a}; mov.v2.f32 {a, b}, {b, a};
            fma.rn.f32 a, a, V.x, V.y; cvt.rni.u32.f32 %r31, a;",
            |_| 2 * 4 + 3,
        ),
        feature(
            ".reg .v2 .u64 w; mov.v2.u64 w, {%rd2, %rd1}; mov.v2.u64 w, {w.y, w.x};
            sub.u64 %rd3, w.y, w.x; cvt.u32.u64 %r31, %rd3;",
            |t| 4 * t,
        ),
        feature(
            ".reg .v4 .u32 v<2>; .reg .v2 .b16 x<4>; .reg .u32 v1y;
            mov.v4.u32 v0, {1, 2, 3, %r30}; mov.v4.u32 v1, v0; mov.u32 v1.y, 70;
            mov.b32 x3, v1.y; mov.b32 %r1, x3; mov.b32 {x0.x, x0.y}, v0.w; mov.b32 %r2, {x0.x, x3.x};
            add.u32 %r31, v0.y, v1.y; add.u32 %r31, %r31, %r1; mad.lo.u32 %r31, v1.w, 1000, %r31;
            add.u32 %r31, %r31, %r2;",
            |t| 72 + 70 + t * 1000 + t + (70 << 16),
        ),
        feature(
            ".shared .align 16 .v4 .u32 s[64]; .reg .v4 .u32 v<3>;
            mov.u32 %r1, s; mad.lo.u32 %r1, %r30, 16, %r1;
            mov.v4.u32 v1, {%r30, 5, 6, 7}; st.shared.v4.u32 [%r1], v1; ld.shared.v4.u32 v2, [%r1];
            add.u32 %r31, v2.x, v2.w;",
            |t| t + 7,
        ),
    ]);
}

#[test]
fn vectors_are_parameters_of_functions() {
    all_hold(&[
        declared(
            ".func (.reg .v2 .u32 s) f(.reg .v4 .u32 a, .reg .u32 b) {
                add.u32 s.x, a.x, a.y; mad.lo.u32 s.y, a.z, a.w, b; ret; }",
            ".reg .v4 .u32 v; .reg .v2 .u32 w; mov.v4.u32 v, {%r30, 2, 3, 4};
            call (w), f, (v, 5); mad.lo.u32 %r31, w.y, 1000, w.x;
            mov.v4.u32 v, {1, 2, %r30, w.y};
            call (w), f, (v, 9); add.u32 %r31, %r31, w.x;",
            |t| 17_000 + t + 2 + 3,
        ),
        declared(
            ".func (.param .align 16 .v4 .f32 r) f(.param .align 16 .v4 .f32 a) {
                .reg .v4 .f32 v; ld.param.v4.f32 v, [a]; add.f32 v.x, v.x, v.w;
                st.param.v4.f32 [r], v; ret; }",
            ".param .align 16 .v4 .f32 p; .param .align 16 .v4 .f32 q;
            cvt.rn.f32.u32 %f1, %r30; st.param.v4.f32 [p], {%f1, %f1, %f1, 0f40000000};
            call (q), f, (p); ld.param.v4.f32 {%f1, %f2, %f3, %f4}, [q];
            add.f32 %f1, %f1, %f2; cvt.rni.u32.f32 %r31, %f1;",
            |t| 2 * t + 2,
        ),
        declared(
            ".func (.reg .v2 .u32 s) f(.reg .v2 .u32 a) { mov.v2.u32 s, {a.y, a.x}; ret; }
             .func (.reg .v2 .u32 s) g(.reg .v2 .u32 a) { mov.v2.u32 s, {7, a.x}; ret; }
             .global .u64 table[2] = {f, g};",
            "proto: .callprototype (.reg .v2 .u32 _) _ (.reg .v2 .u32 _);
            and.b32 %r1, %r30, 1; mul.wide.u32 %rd3, %r1, 8; mov.u64 %rd4, table;
            add.u64 %rd4, %rd4, %rd3; ld.global.u64 %rd4, [%rd4];
            .reg .v2 .u32 w; mov.v2.u32 w, {%r30, 3}; call (w), %rd4, (w), proto;
            mad.lo.u32 %r31, w.x, 1000, w.y;",
            |t| if t % 2 == 0 { 3000 + t } else { 7000 + t },
        ),
    ]);
}

#[test]
fn copies_may_ignore_their_source() {
    let copy = |operand: &str| {
        format!(
            ".shared .align 16 .b8 room[1024];
            mov.u32 %r1, room; mad.lo.u32 %r1, %r30, 16, %r1; st.shared.u32 [%r1+12], 9;
            and.b32 %r2, %r30, 1; setp.eq.u32 %p1, %r2, 1; mov.u64 %rd3, from; mov.b64 %rd4, 0;
            cp.async.{operand};
            cp.async.wait_all; ld.shared.u32 %r31, [%r1+12];"
        )
    };
    for (operand, odd, even) in [
        ("ca.shared.global [%r1], [%rd3], 16, %p1", 0, 8),
        ("cg.shared.global.L2::128B [%r1], [%rd3], 16, !%p1", 8, 0),
        ("ca.shared::cta.global.L2::cache_hint [%r1], [%rd3], 16, %p1, %rd4", 0, 8),
        ("ca.shared.global [%r1+12], [%rd3+4], 4, %p1", 0, 6),
        ("ca.shared.global.L2::cache_hint [%r1], [%rd3], 16, %r2, %rd4", 0, 0),
        ("ca.shared.global.L2::cache_hint [%r1], [%rd3], 16, %rd4", 8, 8),
    ] {
        let text = text(&declared(".global .align 16 .u32 from[4] = {5, 6, 7, 8};", "BODY", |_| 0))
            .replace("BODY", &copy(operand));
        let expected: Vec<u32> = (0..64).map(|t| if t % 2 == 1 { odd } else { even }).collect();
        assert_eq!(run(&text), Ok(expected), "{operand}");
    }
    // A source that is ignored may be anywhere.
    let away = copy("ca.shared.global [%r1], [%rd4], 16, %p1")
        .replace("and.b32 %r2, %r30, 1", "mov.u32 %r2, 1")
        .replace("mov.u64 %rd3, from;", "");
    let text = text(&feature("BODY", |_| 0)).replace("BODY", &away);
    assert_eq!(run(&text), Ok(vec![0; 64]));
}

#[test]
fn constant_expressions_stand_where_constants_do() {
    all_hold(&[
        declared(
            ".global .align 4 .u32 temp[(1 << 3) | 2] = {1, 2, 3, 2 + 2, 5 * 1, 36 / 6, (7), 8U, 1 ? 9 : 0};
            .global .u64 where[2] = {temp + 4 * 2, generic(temp) + 12};
            .const .align (4 * 2) .b8 bytes[2 * 4 + 2] = {0x10 | 1, ~0 & 0xff, -1};",
            "ld.global.u32 %r1, [temp + 4]; ld.global.u32 %r2, [temp + (1 << 3) - 4 + 8];
            mov.u64 %rd3, temp + 1; sub.u64 %rd3, %rd3, 1; ld.global.u32 %r3, [%rd3 + 8 * 2 - 4];
            ld.global.u64 %rd4, [where]; ld.global.u32 %r4, [%rd4 + -4];
            ld.global.u64 %rd4, [where + 8]; ld.u32 %r5, [%rd4]; mov.u64 %rd5, temp[2];
            ld.global.u32 %r6, [%rd5 - 4]; ld.global.u32 %r7, [temp[(1 << 1) + 1]];
            add.u32 %r31, %r1, %r2; mad.lo.u32 %r31, %r31, 10, %r3; mad.lo.u32 %r31, %r31, 10, %r4;
            mad.lo.u32 %r31, %r31, 10, %r5; mad.lo.u32 %r31, %r31, 10, %r6;
            mad.lo.u32 %r31, %r31, 10, %r7;",
            |_| 642_424,
        ),
    ]);
}

#[test]
fn directives_and_linkage() {
    all_hold(&[
        declared(
            ".global .align 8 .u32 g[2] = {5, 6};
            .global .align 8 .u8 bytes[8] = {0xff(g), 0xFF00(g), 0xff0000(g), 0xff000000(g),
                0xff00000000(generic(g)), 0xff0000000000(g), 0xff000000000000(g),
                0xff00000000000000(g)};",
            "ld.global.u64 %rd3, [bytes]; ld.global.u32 %r31, [%rd3+4];",
            |_| 6,
        ),
        declared(
            ".weak .global .u32 g = 5; .visible .const .u32 c = 6; .common .global .u32 z;
            .visible .global .align 8 .u64 h = 7; .global .attribute(.managed) .u32 m = 8;",
            "ld.global.u32 %r1, [g]; ld.const.u32 %r2, [c]; ld.global.u32 %r3, [z];
            ld.global.u64 %rd3, [h]; cvt.u32.u64 %r4, %rd3; ld.global.u32 %r5, [m];
            add.u32 %r31, %r1, %r2; add.u32 %r31, %r31, %r3; add.u32 %r31, %r31, %r4;
            add.u32 %r31, %r31, %r5;",
            |_| 26,
        ),
        declared(
            ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a];
                add.u32 %r, %r, 3; st.param.b32 [r], %r; ret; }
            .weak .func (.param .b32 r) g(.param .b32 a); .alias g, f;",
            ".param .b32 p, q; st.param.b32 [p], %r30; call.uni (q), g, (p);
            ld.param.b32 %r31, [q];",
            |t| t + 3,
        ),
        declared(
            ".pragma \"nounroll\"; .file 1 \"a.cu\"
            .section .debug_str { .b8 97, 0 }
            .func stop() .noreturn { trap; }",
            ".pragma \"used_bytes_mask 0xff\"; .loc 1 3 0
            setp.gt.u32 %p1, %r30, 100; @%p1 call stop; mov.u32 %r31, 1;",
            |_| 1,
        ),
        directed(".maxntid 64, 1, 1 .minnctapersm 2 .maxnreg 64", "mov.u32 %r31, 1;", |_| 1),
        directed(".reqntid 64 .maxclusterrank 8", "mov.u32 %r31, 1;", |_| 1),
        directed(
            ".explicitcluster .reqnctapercluster 1, 1, 1",
            "mov.u32 %r31, %cluster_nctarank;",
            |_| 1,
        ),
    ]);
}

#[test]
fn special_registers() {
    all_hold(&[
        feature("mov.u32 %r1, %tid.w; mov.u32 %r2, %nctaid.w; add.u32 %r31, %r1, %r2;", |_| 0),
        feature(
            ".reg .v4 .u32 v; mov.v4.u32 v, %tid; mov.v4.u32 {%r1, _, _, %r2}, %ntid;
            mad.lo.u32 %r31, %r1, 1000, v.x; add.u32 %r31, %r31, v.y; add.u32 %r31, %r31, %r2;",
            |t| 64_000 + t,
        ),
        feature(
            "mov.u32 %r1, %laneid; mov.u32 %r2, %warpid; mad.lo.u32 %r31, %r2, 32, %r1;",
            |t| t,
        ),
        feature("mov.u32 %r1, %nwarpid; mov.u32 %r2, %nsmid; add.u32 %r31, %r1, %r2;", |_| 3),
        feature(
            "mov.u32 %r1, %lanemask_eq; mov.u32 %r2, %lanemask_lt; or.b32 %r31, %r1, %r2;",
            |t| u32::MAX >> (31 - t % 32),
        ),
        feature(
            "mov.u32 %r1, %lanemask_gt; mov.u32 %r2, %lanemask_le; or.b32 %r3, %r1, %r2;
            mov.u32 %r4, %lanemask_ge; and.b32 %r31, %r3, %r4;",
            |t| u32::MAX << (t % 32),
        ),
        feature(
            "mov.u64 %rd3, %clock64; mov.u32 %r1, %clock; mov.u64 %rd4, %clock64;
            mov.u32 %r2, %clock_hi; sub.u64 %rd4, %rd4, %rd3; setp.gt.u64 %p1, %rd4, 0;
            selp.u32 %r31, 1, 0, %p1; add.u32 %r31, %r31, %r2;",
            |_| 1,
        ),
        feature(
            "mov.u64 %rd3, %globaltimer; mov.u32 %r1, %globaltimer_lo;
            mov.u32 %r2, %globaltimer_hi; cvt.u32.u64 %r3, %rd3; setp.gt.u32 %p1, %r1, %r3;
            selp.u32 %r31, 1, 0, %p1; add.u32 %r31, %r31, %r2;",
            |_| 1,
        ),
        feature(
            "mov.u32 %r1, %envreg3; mov.u32 %r2, %pm1; mov.u64 %rd3, %pm2_64;
            mov.u64 %rd4, %current_graph_exec; mov.u64 %rd5, %gridid; mov.u32 %r3, %smid;
            add.u64 %rd3, %rd3, %rd4; add.u64 %rd3, %rd3, %rd5; cvt.u32.u64 %r31, %rd3;
            add.u32 %r31, %r31, %r1; add.u32 %r31, %r31, %r2; add.u32 %r31, %r31, %r3;",
            |_| 0,
        ),
        feature(
            ".shared .b8 room[96]; mov.u32 %r1, room; mov.u32 %r2, %dynamic_smem_size;
            mov.u32 %r3, %total_smem_size; mov.u32 %r4, %aggr_smem_size; add.u32 %r31, %r3, %r4;
            add.u32 %r31, %r31, %r2;",
            |_| 256,
        ),
        feature(
            "mov.u32 %r1, %clusterid.x; mov.u32 %r2, %nclusterid.x; mov.u32 %r3, %cluster_ctaid.y;
            mov.u32 %r4, %cluster_nctaid.z; mov.u32 %r5, %cluster_ctarank;
            mov.u32 %r6, %cluster_nctarank; mad.lo.u32 %r31, %r1, 10, %r2;
            mad.lo.u32 %r31, %r31, 10, %r3; mad.lo.u32 %r31, %r31, 10, %r4;
            mad.lo.u32 %r31, %r31, 10, %r5; mad.lo.u32 %r31, %r31, 10, %r6;",
            |_| 1_0101,
        ),
    ]);
}

#[test]
fn generic_addresses_reach_every_space() {
    all_hold(&[
        declared(
            ".const .u32 c[2] = {5, 6}; .global .u32 g[2] = {7, 8};",
            ".shared .u32 s[64]; .local .u32 l[2];
            mov.u64 %rd3, s; mul.wide.u32 %rd4, %r30, 4; add.u64 %rd3, %rd3, %rd4;
            cvta.shared.u64 %rd3, %rd3; st.u32 [%rd3], %r30; ld.u32 %r1, [%rd3];
            mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4; st.u32 [%rd4+4], %r1;
            ld.local.u32 %r2, [l+4];
            mov.u64 %rd5, c; cvta.const.u64 %rd5, %rd5; ld.u32 %r3, [%rd5+4];
            mov.u64 %rd6, g; cvta.global.u64 %rd6, %rd6; ld.u32 %r4, [%rd6];
            cvta.to.shared.u64 %rd7, %rd3; cvt.u32.u64 %r5, %rd7; ld.shared.u32 %r5, [%r5];
            add.u32 %r31, %r2, %r3; add.u32 %r31, %r31, %r4; add.u32 %r31, %r31, %r5;",
            |t| t + 6 + 7 + t,
        ),
        feature(
            "mov.b64 %rd3, out; cvta.param.u64 %rd3, %rd3; ld.u64 %rd4, [%rd3];
            sub.u64 %rd4, %rd4, %rd1; cvt.u32.u64 %r31, %rd4;",
            |_| 0,
        ),
        declared(
            ".const .u32 c = 5;",
            ".shared .u32 s; .local .u32 l;
            mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4;
            isspacep.shared %p1, %rd3; isspacep.shared::cta %p2, %rd4; isspacep.local %p3, %rd4;
            isspacep.global %p4, %rd1; isspacep.global %p5, %rd3;
            isspacep.shared::cluster %p6, %rd3;
            selp.u32 %r31, 1, 0, %p1; selp.u32 %r1, 2, 0, %p2; selp.u32 %r2, 4, 0, %p3;
            selp.u32 %r3, 8, 0, %p4; selp.u32 %r4, 16, 0, %p5; selp.u32 %r5, 32, 0, %p6;
            add.u32 %r31, %r31, %r1; add.u32 %r31, %r31, %r2; add.u32 %r31, %r31, %r3;
            add.u32 %r31, %r31, %r4; add.u32 %r31, %r31, %r5;",
            |_| 1 + 4 + 8 + 32,
        ),
    ]);
}

#[test]
fn barriers_and_clusters_of_one() {
    all_hold(&[
        feature(
            "setp.lt.u32 %p1, %r30, 5; bar.red.popc.u32 %r1, 0, %p1; bar.red.and.pred %p2, 1, %p1;
            barrier.cta.red.or.aligned.pred %p3, 2, 64, %p1; barrier.sync.aligned 3;
            selp.u32 %r2, 100, 0, %p2; selp.u32 %r3, 1000, 0, %p3; add.u32 %r31, %r1, %r2;
            add.u32 %r31, %r31, %r3;",
            |_| 1005,
        ),
        feature(
            ".shared .u32 s[64]; mov.u32 %r1, s; mad.lo.u32 %r1, %r30, 4, %r1;
            fence.mbarrier_init.release.cluster;
            st.shared.u32 [%r1], %r30; barrier.cluster.arrive.release.aligned;
            barrier.cluster.wait.acquire.aligned; xor.b32 %r2, %r30, 63; mov.u32 %r1, s;
            mad.lo.u32 %r1, %r2, 4, %r1; ld.shared.u32 %r31, [%r1];
            barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
            |t| 63 - t,
        ),
        feature(
            ".shared .u32 s[64]; mov.u32 %r1, s; mad.lo.u32 %r1, %r30, 4, %r1;
            mapa.shared::cluster.u32 %r2, %r1, 0; st.shared::cluster.u32 [%r2], 6;
            ld.shared.u32 %r3, [%r1]; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3;
            mapa.u64 %rd4, %rd3, %r30; getctarank.u64 %r4, %rd3;
            getctarank.shared::cluster.u32 %r5, %r2; setp.eq.u64 %p1, %rd4, %rd3;
            selp.u32 %r31, 1, 0, %p1; add.u32 %r31, %r31, %r3; add.u32 %r31, %r31, %r4;
            add.u32 %r31, %r31, %r5;",
            |t| 6 + u32::from(t == 0),
        ),
        feature(
            "setp.lt.u32 %p1, %r30, 32; @%p1 bar.arrive 4, 64; @!%p1 bar.sync 4, 64;
            mov.u32 %r31, 1;",
            |_| 1,
        ),
    ]);
}

#[test]
fn control_flow() {
    all_hold(&[
        feature(
            "table: .branchtargets L0, L1, L2; rem.u32 %r1, %r30, 3; brx.idx %r1, table;
            L0: mov.u32 %r31, 10; bra.uni END; L1: mov.u32 %r31, 20; bra END;
            L2: mov.u32 %r31, 30; END:",
            |t| 10 + 10 * (t % 3),
        ),
        feature(
            "mov.u32 %r31, 0; setp.gt.u32 %p1, %r30, 40; @%p1 bra SKIP; mov.u32 %r31, 4; SKIP:
            nanosleep.u32 100; pmevent 3; pmevent.mask 5; griddepcontrol.wait;
            setmaxnreg.inc.sync.aligned.u32 64; membar.gl; fence.sc.cluster; fence.proxy.async;
            fence.acq_rel.gpu; fence.proxy.alias; activemask.b32 %r1; popc.b32 %r1, %r1;
            add.u32 %r31, %r31, %r1;",
            |t| if t > 40 { 32 } else { 36 },
        ),
    ]);
}

#[test]
fn bits_and_integers() {
    all_hold(&[
        feature(
            "sub.s32 %r1, %r30, 9; slct.u32.s32 %r31, 5, 6, %r1;",
            |t| if t >= 9 { 5 } else { 6 },
        ),
        feature("mov.u32 %r1, 0x10000; bfind.shiftamt.u32 %r31, %r1;", |_| 15),
        feature("bfind.s32 %r31, -5;", |_| 2),
        feature(
            "szext.clamp.s32 %r1, 0x80, 8; szext.wrap.u32 %r2, 0x1ff, 40; xor.b32 %r31, %r1, %r2;",
            |_| 0xffff_ff80 ^ 0xff,
        ),
        feature(
            "bmsk.clamp.b32 %r1, 4, 8; bmsk.wrap.b32 %r2, 36, 33; xor.b32 %r31, %r1, %r2;",
            |_| 0xff0 ^ 0x10,
        ),
        feature("fns.b32 %r31, 0x58, 0, 2;", |_| 4),
        feature("dp2a.lo.u32.u32 %r31, 0x00030002, 0x09080706, 10;", |_| 2 * 6 + 3 * 7 + 10),
        feature("vset.u32.u32.lt.add %r31, %r30, 10, 5;", |t| 5 + u32::from(t < 10)),
        feature(
            "setp.eq.u32 %p1, %r30, 1; lop3.or.b32 %r1|%p2, %r30, 0xc, 0x3, 0x80, %p1;
            selp.u32 %r2, 100, 0, %p2; lop3.and.b32 _|%p3, %r30, 7, 0, 0xc0, %p1;
            selp.u32 %r3, 1000, 0, %p3; add.u32 %r31, %r1, %r2; add.u32 %r31, %r31, %r3;",
            |t| if t == 1 { 1100 } else { 0 },
        ),
        feature(
            "shf.l.wrap.b32 %r1, 0x12345678, 0x9abcdef0, 8; shf.r.clamp.b32 %r2, 0x12345678,
            0x9abcdef0, 36; xor.b32 %r31, %r1, %r2;",
            |_| 0xbcde_f012 ^ 0x9abc_def0,
        ),
        feature(
            "mov.u32 %r1, 0x33221100; mov.u32 %r2, 0x77665544; prmt.b32.f4e %r3, %r1, %r2, 1;
            prmt.b32.b4e %r4, %r1, %r2, 1; prmt.b32.rc8 %r5, %r1, %r2, 2;
            prmt.b32.rc16 %r6, %r1, %r2, 1; prmt.b32 %r7, %r1, %r2, 0xf153;
            xor.b32 %r31, %r3, %r4; xor.b32 %r31, %r31, %r5; xor.b32 %r31, %r31, %r6;
            xor.b32 %r31, %r31, %r7;",
            |_| 0x4433_2211 ^ 0x6677_0011 ^ 0x2222_2222 ^ 0x3322_3322 ^ 0x0011_5533,
        ),
        feature(
            "cnot.b32 %r1, %r30; cnot.b16 %h1, 7; cvt.u32.u16 %r2, %h1; add.u32 %r31, %r1, %r2;",
            |t| u32::from(t == 0),
        ),
        feature(
            "add.cc.u32 %r1, %r30, 0xffffffff; addc.cc.u32 %r2, 5, 0; addc.u32 %r3, 0, 0;
            mad.lo.cc.u32 %r4, %r30, 0x10000000, 0xffffffff; madc.hi.u32 %r5, %r30, 0x10000000, 0;
            add.u32 %r31, %r2, %r3; mad.lo.u32 %r31, %r5, 100, %r31;",
            |t| {
                let wide = u64::from(t) * 0x1000_0000;
                let carry = u32::from(u64::from(wide as u32) + 0xffff_ffff > 0xffff_ffff);
                5 + u32::from(t > 0) + 100 * ((wide >> 32) as u32 + carry)
            },
        ),
        feature("mul24.lo.u32 %r1, %r30, 0x1000003; sad.s32 %r31, %r1, 10, 1;", |t| {
            (3 * t).abs_diff(10) + 1
        }),
    ]);
}

#[test]
fn floats() {
    all_hold(&[
        feature("copysign.f32 %f1, 0fBF800000, 0f40400000; mov.b32 %r31, %f1;", |_| 0xc040_0000),
        feature(
            "mov.f32 %f1, 0f00000001; testp.subnormal.f32 %p1, %f1; testp.infinite.f32 %p2, 0fFF800000;
            testp.notanumber.f64 %p3, 0d7FF0000000000000; selp.u32 %r1, 1, 0, %p1;
            selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3; add.u32 %r31, %r1, %r2;
            add.u32 %r31, %r31, %r3;",
            |_| 3,
        ),
        feature("set.gt.u32.f32 %r1, 0f40000000, 0f3F800000; set.lt.f32.s32 %f1, -1, 1;
            mov.b32 %r2, %f1; xor.b32 %r31, %r1, %r2;", |_| !0x3f80_0000),
        feature("mov.b32 %r2, 0x3c003c00; mov.b32 %r3, 0xbc003c00; mov.b32 %r4, 0x3c00;
            fma.rn.relu.f16x2 %r1, %r2, %r3, %r4; mov.u32 %r31, %r1;", |_| 0x4000),
    ]);
}

#[test]
fn lanes_of_a_warp() {
    all_hold(&[
        feature(
            "elect.sync %r1|%p1, 0xffffffff; selp.u32 %r31, 1, 0, %p1; mad.lo.u32 %r31, %r1, 100, %r31;",
            |t| u32::from(t % 32 == 0),
        ),
        feature("elect.sync _|%p1, 0xffffffff; selp.u32 %r31, 1, 0, %p1;", |t| {
            u32::from(t % 32 == 0)
        }),
        feature("and.b32 %r1, %r30, 3; match.any.sync.b32 %r31, %r1, 0xffffffff;", |t| {
            0x1111_1111 << (t % 4)
        }),
        feature(
            "match.all.sync.b32 %r1|%p1, 7, 0xffffffff; match.all.sync.b64 %r2|%p2, %rd2, -1;
            selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; xor.b32 %r31, %r1, %r2;
            add.u32 %r31, %r31, %r3; add.u32 %r31, %r31, %r4;",
            |_| 0,
        ),
        feature("redux.sync.max.s32 %r31, %r30, -1;", |t| t | 31),
        feature("vote.sync.ballot.b32 %r31, 1, -1;", |_| u32::MAX),
        feature("setp.lt.u32 %p1, %r30, 8; vote.sync.ballot.b32 %r31, !%p1, -1;", |t| {
            if t < 32 { 0xffff_ff00 } else { u32::MAX }
        }),
    ]);
}

#[test]
fn memory_operations() {
    all_hold(&[
        declared(
            ".global .align 32 .u32 g[8] = {1, 2, 3, 4, 5, 6, 7, 8};",
            "mov.u32 %r1, 0; setp.eq.u32 %p1, %r30, 3; @%p1 ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [g];
            @!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%r1, %r2}, [g+16];
            ld.global.v8.b32 {%r5, _, %r6, %r7, %r8, %r9, %r10, %r11}, [g];
            mad.lo.u32 %r31, %r1, 10, %r2; mad.lo.u32 %r31, %r31, 10, %r11;",
            |t| if t == 3 { 128 } else { 568 },
        ),
        feature(
            ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s; mad.lo.u32 %r1, %r30, 16, %r1;
            mov.b128 %q1, {%rd1, %rd2}; st.shared.b128 [%r1], %q1; ld.shared.b128 %q2, [%r1];
            mov.b128 {%rd3, %rd4}, %q2; sub.u64 %rd3, %rd4, %rd3; cvt.u32.u64 %r31, %rd3;",
            |t| 4 * t,
        ),
        feature(
            ".shared .u32 s[2]; mov.u32 %r1, 0; setp.eq.u32 %p1, %r30, 0; @%p1 st.shared.u32 [s], 0;
            @%p1 st.volatile.shared.u32 [s+4], 0; bar.sync 0;
            red.relaxed.cta.shared.add.u32 [s], %r30; atom.acq_rel.cta.shared::cta.inc.u32 %r2, [s+4], 7;
            bar.sync 0; ld.relaxed.cta.shared.u32 %r31, [s]; ld.volatile.shared.u32 %r3, [s+4];
            add.u32 %r31, %r31, %r3;",
            |_| 63 * 32,
        ),
        feature(
            ".shared .align 4 .b16 s[2]; mov.b16 %h1, 0; mov.b16 %h2, 5; mov.b32 %r5, 0;
            setp.eq.u32 %p1, %r30, 0; @%p1 st.shared.b32 [s], %r5; bar.sync 0;
            atom.shared.cas.b16 %h3, [s+2], %h1, %h2; bar.sync 0; ld.shared.u16 %h4, [s+2];
            cvt.u32.u16 %r1, %h3; cvt.u32.u16 %r2, %h4; mad.lo.u32 %r31, %r2, 10, %r1;",
            |t| if t == 0 { 50 } else { 55 },
        ),
        feature(
            "prefetch.global.L2::evict_last [%rd1]; prefetchu.L1 [%rd1]; discard.global.L2 [%rd1], 128;
            ld.global.cv.u32 %r1, [%rd2]; st.global.wt.u32 [%rd2], 9; ld.relaxed.gpu.global.u32 %r2, [%rd2];
            add.u32 %r31, %r1, %r2;",
            |_| 9,
        ),
    ]);
}

/// Atomics of vectors and of 128 bits: each of 64 threads, in two warps, adds to the same place.
#[test]
fn wide_atomics() {
    all_hold(&[
        declared(
            ".global .align 16 .f32 sum[4] = {1.0, 2.0, 3.0, 4.0};",
            "cvt.rn.f32.u32 %f1, %r30; mov.f32 %f2, 0f3F800000;
            atom.global.add.v4.f32 {%f3, %f4, %f2, %f1}, [sum], {%f1, %f2, %f2, %f1};
            bar.sync 0; ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [sum];
            // Four sums, and of what was there before: the third component counts threads.
            cvt.rzi.u32.f32 %r1, %f5; cvt.rzi.u32.f32 %r2, %f6; cvt.rzi.u32.f32 %r3, %f8;
            cvt.rzi.u32.f32 %r4, %f2; sub.u32 %r4, %r4, %r30; add.u32 %r31, %r1, %r2;
            add.u32 %r31, %r31, %r3; add.u32 %r31, %r31, %r4;",
            |_| (1 + 2016) + (2 + 64) + (4 + 2016) + 3,
        ),
        declared(
            ".global .align 16 .b32 most[4];",
            "cvt.rn.f16.u32 %h1, %r30; neg.f16 %h2, %h1; mov.b32 %r1, {%h1, %h2}; mov.b32 %r2, 0;
            red.relaxed.gpu.global.max.noftz.v4.f16x2 [most], {%r1, %r2, %r1, %r1};
            mov.b16 %h3, 0x3f80; mov.b16 %h4, 0;
            atom.global.add.noftz.v8.bf16 {_, _, _, _, _, _, _, _}, [most],
                {%h4, %h4, %h3, %h4, %h4, %h4, %h4, %h4};
            bar.sync 0; ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [most];
            xor.b32 %r3, %r3, %r5; mov.b32 {%h5, %h6}, %r6; cvt.rzi.u32.f16 %r7, %h5;
            mov.b32 {%h7, %h8}, %r4; cvt.f32.bf16 %f1, %h7; cvt.rzi.u32.f32 %r8, %f1;
            mad.lo.u32 %r31, %r8, 1000, %r7; add.u32 %r31, %r31, %r3;",
            |_| 64_063,
        ),
        declared(
            ".global .align 16 .b64 pair[2] = {5, 6};",
            "mov.u64 %rd3, 5; mov.u64 %rd4, 6; mov.b128 %q1, {%rd3, %rd4}; cvt.u64.u32 %rd5, %r30;
            mov.b128 %q2, {%rd5, %rd3};
            atom.global.cas.b128 %q3, [pair], %q1, %q2; mov.b128 {%rd6, %rd7}, %q3;
            cvt.u32.u64 %r1, %rd6; cvt.u32.u64 %r2, %rd7; mad.lo.u32 %r31, %r1, 10, %r2;",
            // The first thread finds the pair and leaves (0, 5); the others find that.
            |t| if t == 0 { 56 } else { 5 },
        ),
        feature(
            ".shared .align 16 .b64 pair[2]; mov.u64 %rd3, 7; cvt.u64.u32 %rd4, %r30;
            mov.b128 %q1, {%rd3, %rd4}; atom.shared.exch.b128 %q1, [pair], %q1;
            mov.b128 {%rd5, %rd6}, %q1; cvt.u32.u64 %r1, %rd5; cvt.u32.u64 %r2, %rd6;
            mad.lo.u32 %r31, %r1, 1000, %r2;",
            |t| if t == 0 { 0 } else { 7000 + t - 1 },
        ),
    ]);
}

/// Features that do not run: the message names them.
#[test]
fn what_does_not_run_is_refused_by_name() {
    let cluster = "several: clusters of one CTA can be executed";
    for (directives, body, message) in [
        (
            "",
            "multimem.red.relaxed.sys.global.add.u32 [%rd1], %r30;",
            "the opcode `multimem` is not known",
        ),
        ("", "cp.async.bulk.commit_group;", "`.bulk` is not known as a modifier or type of `cp`"),
        ("", "wgmma.fence.sync.aligned;", "the opcode `wgmma` is not known"),
        ("", "tcgen05.wait::ld.sync.aligned;", "the opcode `tcgen05` is not known"),
        (
            "",
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
            "`.async` is not known as a modifier or type of `st`",
        ),
        (
            "",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
            "`.async` is not known as a modifier or type of `red`",
        ),
        ("", "stacksave.u64 %rd3;", "the opcode `stacksave` is not known"),
        ("", "mov.pred %p1, %is_explicit_cluster;", "`%is_explicit_cluster` is not modelled"),
        (".reqnctapercluster 2, 1, 1", "barrier.cluster.arrive; barrier.cluster.wait;", cluster),
        (".reqnctapercluster 2", "mov.u32 %r31, %cluster_ctarank;", cluster),
        (".reqnctapercluster 2", ".reg .v4 .u32 v; mov.v4.u32 v, %clusterid;", cluster),
        (".reqnctapercluster 1, 4", "mapa.shared::cluster.u32 %r2, %r1, 1;", cluster),
        (".reqnctapercluster 2", "st.shared::cluster.u32 [%r2], 1;", cluster),
    ] {
        let found =
            run(&text(&Feature { directives, ..feature("BODY", |_| 0) }).replace("BODY", body));
        let found = found.map_or_else(|message| message, |_| "it runs".into());
        assert!(found.contains(message), "{body}: {found}");
    }
}
