//! The language of PTX beyond its instructions: calls through registers, old forms, scopes.

use strata_simt::Fault;

use crate::common::{Arguments, Bench, launch};

const HEAD: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// Runs the kernel `k` of a module in one warp, with an output of zeros, and gives the output.
fn outcome(text: &str, words: usize) -> Result<Vec<u32>, Fault> {
    let mut bench = Bench::new(text);
    let out = bench.words("out", &vec![0; words]);
    let arguments = match bench.module.address_bits {
        32 => Arguments::default().u32(out as u32),
        _ => Arguments::default().u64(out),
    };
    bench.run("k", &launch(1, 32, arguments))?;
    Ok(bench.read(out, words))
}

fn words(text: &str, words: usize) -> Vec<u32> {
    outcome(text, words).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Functions that add `1` and `2`, and one that multiplies by itself in registers.
const CALLED: &str = "
.func (.param .b32 r) one(.param .b32 a) {
    .reg .b32 %r<2>; ld.param.b32 %r0, [a]; add.u32 %r0, %r0, 1; st.param.b32 [r], %r0; ret;
}
.func (.param .b32 r) two(.param .b32 a) {
    .reg .b32 %r<2>; ld.param.b32 %r0, [a]; add.u32 %r0, %r0, 2; st.param.b32 [r], %r0; ret;
}
.func (.param .b32 r) never(.param .b64 a) { st.param.b32 [r], 77; ret; }
.global .align 8 .u64 table[3] = {one, two, never};
";

/// Each lane calls the function that its table entry names.
fn by_table(index: &str) -> String {
    format!(
        "{HEAD}{CALLED}
        .visible .entry k(.param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %tid.x;
            {index}
            mul.wide.u32 %rd2, %r2, 8;
            mov.u64 %rd3, table;
            add.u64 %rd3, %rd3, %rd2;
            ld.global.u64 %rd4, [%rd3];
            {{
                .param .b32 p; .param .b32 q;
                st.param.b32 [p], %r1;
                proto: .callprototype (.param .b32 _) _ (.param .b32 _);
                call (q), %rd4, (p), proto;
                ld.param.b32 %r3, [q];
            }}
            mul.wide.u32 %rd5, %r1, 4;
            add.u64 %rd6, %rd1, %rd5;
            st.global.u32 [%rd6], %r3;
            ret;
        }}"
    )
}

#[test]
fn lanes_call_the_functions_that_their_addresses_name() {
    let found = words(&by_table("and.b32 %r2, %r1, 1;"), 32);
    let expected: Vec<u32> = (0..32).map(|lane| lane + 1 + lane % 2).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_address_of_no_function_with_the_prototype_is_a_fault() {
    let fault = outcome(&by_table("mov.u32 %r2, 2;"), 32).unwrap_err();
    assert!(matches!(fault, Fault::CallNowhere { address: 48, .. }), "{fault}");
    assert!(fault.to_string().contains("call of address 0x30"), "{fault}");
}

#[test]
fn call_targets_and_addresses_in_registers_are_called() {
    let text = format!(
        "{HEAD}{CALLED}
        .func (.reg .u32 %q) square(.reg .u32 %a) {{ mul.lo.u32 %q, %a, %a; ret; }}
        .visible .entry k(.param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %tid.x;
            mov.u64 %rd2, square;
            targets: .calltargets square;
            setp.lt.u32 %p1, %r1, 3;
            mov.u32 %r2, 9;
            @%p1 call (%r2), %rd2, (%r1), targets;
            mul.wide.u32 %rd5, %r1, 4;
            add.u64 %rd6, %rd1, %rd5;
            st.global.u32 [%rd6], %r2;
            ret;
        }}"
    );
    assert_eq!(words(&text, 32)[..5], [0, 1, 4, 9, 9]);
}

#[test]
fn a_function_that_may_call_itself_through_a_register_is_called_once() {
    let text = format!(
        "{HEAD}
        .func (.reg .u32 %q) down(.reg .u32 %a, .reg .u64 %f) {{
            .reg .pred %p; .reg .u32 %s;
            proto: .callprototype (.reg .u32 _) _ (.reg .u32 _, .reg .u64 _);
            mov.u32 %q, %a;
            setp.gt.u32 %p, %a, 10;
            @%p call (%q), %f, (%a, %f), proto;
            ret;
        }}
        .visible .entry k(.param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [out];
            mov.u64 %rd2, down;
            mov.u32 %r1, LIMIT;
            call (%r2), %rd2, (%r1, %rd2);
            st.global.u32 [%rd1], %r2;
            ret;
        }}"
    );
    assert_eq!(words(&text.replace("LIMIT", "10"), 1), [10]);
    let fault = outcome(&text.replace("LIMIT", "11"), 1).unwrap_err();
    assert!(fault.to_string().contains("recursion is not supported"), "{fault}");
}

#[test]
fn modules_of_nvopencc_run() {
    let text = "
    .version 1.4
    .target sm_10, map_f64_to_f32
    // compiled by an old compiler
    .file    1    \"<command-line>\"
    .file    2    \"a.cudafe2.gpu\"
    .func (.reg .u32 %rv1) helper (.reg .u32 %ra1, .reg .f32 %fa1)
    .reg .u32 %calls;
    .reg .u32 %m<4>;
    .func (.reg .u32 %rv1) helper (.reg .u32 %ra1, .reg .f32 %fa1)
    {
    .reg .u32 %r<5>;
    .loc    2    3    0
$LBB1_helper:
    add.u32     %rv1, %ra1, 7;
    add.u32     %calls, %calls, 1;
    mov.u32     %m3, 100;
    ret;
$LDWend_helper:
    } // helper

    .entry k (
        .param .u32 __cudaparm_k_out)
    {
    .reg .u16 %rh<4>;
    .reg .u32 %r<20>;
    .reg .pred %p<4>;
    .reg .f32 %f<3>;
    .loc    2    8    0
$LBB1_k:
    mov.u32     %calls, 0;
    cvt.u32.u16     %r1, %tid.x;
    mov.u32     %r2, 3;
    mov.u32     %r3, 0;
    setp.le.u32     %p1, %r2, %r1;
    @%p1 bra     $Lt_0_1;
 //<loop> Loop body line 8
    mov.f32     %f1, 0f3f800000;
    call (%r3), helper, (%r1, %f1);
    call (%r3), helper, (%r3, %f1);
    mad24.lo.u32     %r3, %calls, 1000, %r3;
    add.u32     %r3, %r3, %m3;
$Lt_0_1:
    ld.param.u32     %r4, [__cudaparm_k_out];
    mul.lo.u32     %r5, %r1, 4;
    add.u32     %r6, %r4, %r5;
    st.global.u32     [%r6+0], %r3;
    exit;
$LDWend_k:
    } // k
";
    // Two calls for each of three lanes, each adding 7; both registers of the module come back.
    assert_eq!(words(text, 32)[..4], [2114, 2115, 2116, 0]);
}

#[test]
fn kernels_of_the_first_ptx_declare_their_parameters_inside() {
    let text = "
        .version 1.1
        .target sm_10
        .entry k
        {
            .param .u32 __parm_out;
            .reg .u32 $r1, $r2;
            ld.param.u32 $r1, [__parm_out];
            mov.u32 $r2, 5;
            st.global.u32 [$r1], $r2;
            exit;
        }";
    assert_eq!(words(text, 1), [5]);
}

/// A kernel of one lane's worth of text, whose `%r31` every lane stores at its word of the output.
fn body(text: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out) {{
            .reg .b32 %r<32>; .reg .b64 %rd<9>; .reg .pred %p<5>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r30, %tid.x;
            mul.wide.u32 %rd2, %r30, 4;
            add.u64 %rd2, %rd1, %rd2;
            {text}
            st.global.u32 [%rd2], %r31;
            ret;
        }}"
    )
}

#[test]
fn asynchronous_copies_are_there_when_they_are_issued_and_end_with_zeros() {
    let copy = |size: u32, rest: &str, cache: &str| {
        body(&format!(
            ".shared .align 16 .b8 room[512];
            .global .align 16 .u32 from[4] = {{0x11223344, 0x55667788, 3, 4}};
            mov.u32 %r1, room;
            mov.u64 %rd3, from;
            shl.b32 %r2, %r30, 4;
            add.u32 %r1, %r1, %r2;
            st.shared.v4.u32 [%r1], {{9, 9, 9, 9}};
            mov.u32 %r3, 6;
            cp.async.{cache}.shared.global [%r1], [%rd3], {size}{rest};
            cp.async.commit_group;
            cp.async.wait_group 0;
            cp.async.wait_all;
            ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r1];
            mad.lo.u32 %r31, %r7, 100, %r6;
            mad.lo.u32 %r31, %r5, 10000, %r31;
            xor.b32 %r31, %r31, %r4;"
        ))
    };
    let mixed = |[a, b, c, d]: [u32; 4]| (b.wrapping_mul(10000)).wrapping_add(d * 100 + c) ^ a;
    for (size, rest, cache, expected) in [
        (4, "", "ca", [0x1122_3344, 9, 9, 9]),
        (8, "", "ca", [0x1122_3344, 0x5566_7788, 9, 9]),
        (16, "", "cg", [0x1122_3344, 0x5566_7788, 3, 4]),
        (16, ", %r3", "cg", [0x1122_3344, 0x7788, 0, 0]),
        (16, ", 0", "ca", [0, 0, 0, 0]),
        (8, ", 4", "ca", [0x1122_3344, 0, 9, 9]),
    ] {
        let found = words(&copy(size, rest, cache), 32);
        assert_eq!(found, [mixed(expected); 32], "{size}{rest}");
    }
}

#[test]
fn asynchronous_copies_are_checked() {
    let text = body(
        ".shared .align 16 .b8 room[16];
        mov.u32 %r1, OFFSET;
        add.u64 %rd3, %rd1, BEGIN;
        cp.async.ca.shared.global [%r1], [%rd3], 8;",
    );
    let fault = |offset: &str, begin: &str| {
        let text = text.replace("OFFSET", offset).replace("BEGIN", begin);
        outcome(&text, 32).err().map(|fault| fault.to_string()).unwrap_or_default()
    };
    assert_eq!(fault("8", "120"), "");
    assert!(fault("16", "0").contains("out-of-bounds write of 8 bytes at shared address 0x10"));
    assert!(fault("4", "0").contains("misaligned write of 8 bytes at shared address 0x4"));
    assert!(fault("0", "128").contains("out-of-bounds read of 8 bytes at global address"));
    assert!(fault("0", "4").contains("misaligned read of 8 bytes at global address"));
}

#[test]
fn video_instructions_of_two_and_four_parts() {
    for (instruction, expected) in [
        // a = 0x8001ff7f, b = 0x00020181, c = 0x01020304.
        ("vadd4.u32.u32.u32", 0x8003_0000_u32),
        ("vadd4.u32.u32.u32.sat", 0x8003_ffff),
        ("vadd4.s32.s32.s32.sat", 0x8003_0000),
        ("vadd4.u32.u32.u32.add", 0x0102_0304 + 0x80 + 3 + 0x100 + 0x100),
        ("vadd2.s32.s32.s32", 0x8003_0100),
        ("vsub2.s32.s32.s32.sat", 0x8000_fdfe),
        ("vsub4.u32.u32.u32.sat", 0x8000_fe00),
        ("vabsdiff4.u32.s32.s32", 0x8001_02fe),
        ("vabsdiff2.u32.u32.u32.add", 0x0102_0304 + 0x7fff + 0xfdfe),
        ("vavrg4.u32.u32.u32", 0x4002_8080),
        ("vavrg2.s32.s32.s32", 0xc001_0080),
        ("vmin4.s32.s32.s32", 0x8001_ff81),
        ("vmax2.u32.u32.u32", 0x8001_ff7f),
        ("vset4.u32.u32.lt", 0x0001_0001),
        ("vset2.s32.s32.lt.add", 0x0102_0304 + 2),
    ] {
        let text = body(&format!(
            "mov.u32 %r1, 0x8001ff7f; mov.u32 %r2, 0x00020181; mov.u32 %r3, 0x01020304;
            {instruction} %r31, %r1, %r2, %r3;"
        ));
        let found = words(&text, 32)[7];
        assert_eq!(found, expected, "{instruction}: {found:#x}");
    }
    for (operands, expected) in [
        ("vadd4.u32.u32.u32 %r31.b20, %r1, %r2, %r3", 0x0103_0300_u32),
        ("vadd4.u32.u32.u32 %r31, %r1.b7654, %r2.b0000, %r3", 0x7f81_8000),
        ("vadd2.u32.u32.u32 %r31.h1, %r1.h01, %r2.h23, %r3", 0x0100_0304),
        ("vadd2.u32.u32.u32.add %r31.h0, %r1.h10, %r2.h32, %r3", 0x0103_0404),
    ] {
        let text = body(&format!(
            "mov.u32 %r1, 0x8001ff7f; mov.u32 %r2, 0x00020181; mov.u32 %r3, 0x01020304;
            {operands};"
        ));
        let found = words(&text, 32)[0];
        assert_eq!(found, expected, "{operands}: {found:#x}");
    }
}

#[test]
fn sums_stand_in_the_place_of_registers() {
    for (instructions, expected) in [
        ("mov.u32 %r1, 40; add.u32 %r31, %r1+3, %r1+-1 - 2;", 80_u32),
        ("mov.u32 %r1, 40; setp.eq.u32 %p1, %r1 + 2, 42; selp.u32 %r31, %r1 - 1, 0, %p1;", 39),
        ("mov.u32 %r1, 5; st.global.u32 [%rd2], %r1 + 2; ld.global.u32 %r31, [%rd2];", 7),
        ("mov.u32 %r1, 5; mov.v2.u32 {%r3, %r31}, {%r1, %r1 + 1};", 6),
        ("mov.u32 %r1, 5; bra L; L: @!%p4 add.u32 %r31, %r1 + 1, 1; ", 7),
        (
            "mov.v8.u32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {8, 7, 6, 5, 4, 3, 2, 1};
            mov.v8.u32 {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1}, {%r1, %r2, %r3, %r4, %r5, %r6,
            %r7, %r8}; mov.u32 %r31, %r2;",
            2,
        ),
    ] {
        let text = body(&format!("setp.ne.u32 %p4, 0, 0; {instructions}"));
        assert_eq!(words(&text, 32)[3], expected, "{instructions}");
    }
    for (instruction, told) in [
        ("add.u32 %r1 + 1, %r2, %r3;", "a result is written to a register, not to a sum"),
        ("mov.v2.u32 {%r1, %r2 + 1}, {%r3, %r3};", "a result is written to a register"),
        ("add.f32 %f1, %f2 + 1, %f3;", "nothing can be added to a `.f32` register here"),
    ] {
        let parsed = strata_ptx::parse(&body(instruction));
        let messages: Vec<_> = parsed.diagnostics.iter().map(|found| &found.message).collect();
        assert!(messages.len() == 1 && messages[0].starts_with(told), "{messages:?}");
    }
}

#[test]
fn halves_of_words_are_added_and_compared() {
    for (instruction, expected) in [
        // a = 0x8001ff7f, b = 0x00020181: -32767 and -129, 2 and 385.
        ("add.u16x2", 0x8003_0100_u32),
        ("add.s16x2", 0x8003_0100),
        ("min.s16x2", 0x8001_ff7f),
        ("min.u16x2", 0x0002_0181),
        ("max.s16x2", 0x0002_0181),
        ("max.u16x2", 0x8001_ff7f),
        ("min.relu.s16x2", 0),
        ("max.relu.s16x2", 0x0002_0181),
    ] {
        let text = body(&format!(
            "mov.u32 %r1, 0x8001ff7f; mov.u32 %r2, 0x00020181; {instruction} %r31, %r1, %r2;"
        ));
        let found = words(&text, 32)[3];
        assert_eq!(found, expected, "{instruction}: {found:#x}");
    }
}

#[test]
fn floats_are_reduced_over_lanes() {
    for (instruction, lanes, expected) in [
        ("min", "mov.f32 %f1, %f1;", 0.0_f32.to_bits()),
        ("max", "mov.f32 %f1, %f1;", 31.0_f32.to_bits()),
        ("max", "neg.f32 %f1, %f1;", (-0.0_f32).to_bits()),
        ("max.abs", "neg.f32 %f1, %f1;", 31.0_f32.to_bits()),
        ("max", "@%p1 mov.f32 %f1, 0f7FC00001;", 31.0_f32.to_bits()),
        ("max.NaN", "@%p1 mov.f32 %f1, 0f7FC00001;", 0x7fff_ffff),
        ("min", "mov.f32 %f1, 0f7FC00001;", 0x7fff_ffff),
    ] {
        let text = body(&format!(
            "cvt.rn.f32.u32 %f1, %r30; setp.eq.u32 %p1, %r30, 5; {lanes}
            redux.sync.{instruction}.f32 %f2, %f1, 0xffffffff; mov.b32 %r31, %f2;"
        ));
        assert_eq!(words(&text, 32), [expected; 32], "{instruction} {lanes}");
    }
}

#[test]
fn hints_and_policies_change_nothing() {
    let text = body(
        "mov.u32 %r31, 4;
        createpolicy.fractional.L2::evict_last.b64 %rd3, 0f3F800000;
        st.global.L2::cache_hint.u32 [%rd2], %r31, %rd3;
        applypriority.global.L2::evict_normal [%rd1], 128;
        griddepcontrol.wait; griddepcontrol.launch_dependents;
        setmaxnreg.dec.sync.aligned.u32 40;
        ld.global.L2::cache_hint.u32 %r31, [%rd2], %rd3;",
    );
    assert_eq!(words(&text, 32), [4; 32]);
}

#[test]
fn vector_registers_have_components() {
    let text = body(
        ".reg .v4 .f32 v; .reg .v2 .u32 w; .reg .b128 q; .reg .b64 %x<4>;
        .global .v4 .f32 g = {1.0, 2.0, 3.0, 4.0};
        ld.global.v4.f32 v, [g];
        add.f32 v.x, v.y, v.w;
        fma.rn.f32 %f1, v.x, v.z, v.y;
        cvt.rzi.u32.f32 %r1, %f1;
        mov.b64 %x1, {%r1, %r30};
        mov.b64 w, %x1;
        mov.b128 q, {%x1, %rd2};
        mov.b128 {%x2, %x3}, q;
        mov.b64 {%r3, %r4}, %x2;
        add.u32 %r31, w.x, w.y;
        add.u32 %r31, %r31, %r3;",
    );
    let expected: Vec<u32> = (0..32).map(|lane| 40 + lane).collect();
    assert_eq!(words(&text, 32), expected);
}

#[test]
fn variables_of_blocks_hide_those_around_them() {
    let text = body(
        ".global .u32 g = 5; .const .u32 c[2] = {1, 2};
        ld.global.u32 %r1, [g];
        {
            .global .u32 g = 70; .local .u32 l; .shared .u32 s;
            ld.global.u32 %r2, [g];
            st.local.u32 [l], %r2;
            ld.local.u32 %r2, [l];
        }
        mov.u32 %r3, (1<<3)|2;
        mov.u32 %r4, 1 ? 2 : 3U;
        mov.u64 %rd3, c + 4;
        ld.const.u32 %r5, [%rd3];
        ld.const.u32 %r6, [c + (1<<3) - 4];
        mad.lo.u32 %r31, %r2, 1000, %r1;
        mad.lo.u32 %r31, %r3, 100000, %r31;
        mad.lo.u32 %r31, %r4, 10000000, %r31;
        add.u32 %r31, %r31, %r5;
        add.u32 %r31, %r31, %r6;",
    );
    assert_eq!(words(&text, 32), [21_070_009; 32]);
}

/// A kernel that can allocate: `text` has `malloc` of `%rd3` bytes to `%rd4`, and `free` of `%rd4`,
/// where it says `MALLOC` and `FREE`.
fn with_heap(text: &str) -> String {
    let malloc = "{ .param .b64 p; .param .b64 q; st.param.b64 [p], %rd3; \
                  call (q), malloc, (p); ld.param.b64 %rd4, [q]; }";
    let free = "{ .param .b64 p; st.param.b64 [p], %rd4; call free, (p); }";
    let text = body(&text.replace("MALLOC", malloc).replace("FREE", free));
    let declared = ".extern .func (.param .b64 r) malloc (.param .b64 a);
        .extern .func free (.param .b64 a);\n";
    text.replacen(HEAD, &format!("{HEAD}{declared}"), 1)
}

#[test]
fn threads_have_a_heap_of_eight_mebibytes() {
    // Each lane's 256 KiB fit exactly, and a byte more does not.
    let text = with_heap(
        "mov.u64 %rd3, 262144; MALLOC
        st.global.u32 [%rd4 + 262140], %r30;
        mov.u64 %rd5, %rd4;
        mov.u64 %rd3, 1; MALLOC
        setp.eq.u64 %p1, %rd4, 0;
        selp.u32 %r31, 100, 0, %p1;
        ld.global.u32 %r1, [%rd5 + 262140];
        add.u32 %r31, %r31, %r1;
        mov.u64 %rd4, %rd5; FREE
        mov.u64 %rd3, 262144; MALLOC
        setp.eq.u64 %p1, %rd4, 0;
        @%p1 mov.u32 %r31, 7;
        mov.u64 %rd4, 0; FREE",
    );
    let expected: Vec<u32> = (100..132).collect();
    assert_eq!(words(&text, 32), expected);
}

#[test]
fn freeing_what_was_not_allocated_is_a_fault() {
    for text in [
        "mov.u64 %rd4, %rd1; FREE",
        "mov.u64 %rd3, 64; MALLOC add.u64 %rd4, %rd4, 16; FREE",
        "mov.u64 %rd3, 64; MALLOC FREE FREE",
    ] {
        let fault = outcome(&with_heap(text), 32).unwrap_err();
        assert!(matches!(fault, Fault::FreesForeign { .. }), "{text}: {fault}");
    }
    let fault = outcome(&with_heap("mov.u64 %rd3, 64; MALLOC ld.global.u32 %r1, [%rd4 + 64];"), 32);
    let message = fault.unwrap_err().to_string();
    assert!(message.contains("right behind the end of `heap of the device`"), "{message}");
}
