//! Loads, stores, atomics and addresses of every space.

use crate::common::{Arguments, Bench, launch};

fn text(globals: &str, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n{globals}\n\
         .visible .entry k(.param .u64 in, .param .u64 out, .param .align 8 .b8 block[24]) {{\n\
         .reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %me, %r<16>;\n\
         .reg .b64 %in, %out, %rd<16>;\n.reg .f32 %f<8>;\n.reg .f64 %fd<4>;\n\
         .shared .align 16 .b8 tile[1024];\n.local .align 16 .b8 frame[64];\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %me, %tid.x;\n\
         mul.wide.u32 %rd0, %me, 4;\n{body}\nret;\n}}\n"
    )
}

/// Runs a kernel in one CTA; `in` holds `input`, `out` as many words.
fn run_with(globals: &str, body: &str, threads: u32, input: &[u32], words: usize) -> Vec<u32> {
    let mut bench = Bench::new(&text(globals, body));
    let pin = bench.words("in", input);
    let pout = bench.words("out", &vec![0; words]);
    let arguments = Arguments::default().u64(pin).u64(pout).u64(11).u64(22).u64(33);
    let launch = launch(1, threads, arguments);
    bench.run("k", &launch).unwrap_or_else(|fault| panic!("{fault}"));
    bench.read(pout, words)
}

fn run(body: &str, threads: u32, input: &[u32], words: usize) -> Vec<u32> {
    run_with("", body, threads, input, words)
}

fn ramp(count: u32) -> Vec<u32> {
    (0..count).map(|i| i.wrapping_mul(0x9e37_79b9)).collect()
}

#[test]
fn narrow_loads_extend_to_their_register() {
    let input = [0x8081_82ff, 0x7f01_fe80];
    let body = "add.u64 %rd1, %in, 0;\nld.global.s8 %r0, [%in+1];\nld.global.u8 %r1, [%in+1];\n\
        ld.global.s8 %h0, [%in+1];\ncvt.u32.u16 %r2, %h0;\nld.global.s16 %r3, [%in+2];\n\
        ld.global.u16 %r4, [%in+2];\nld.global.s32 %rd2, [%in];\nld.global.u32 %rd3, [%in];\n\
        ld.global.s8 %rd4, [%in+3];\nst.global.u32 [%out], %r0;\nst.global.u32 [%out+4], %r1;\n\
        st.global.u32 [%out+8], %r2;\nst.global.u32 [%out+12], %r3;\n\
         st.global.u32 [%out+16], %r4;\n\
        st.global.u64 [%out+24], %rd2;\nst.global.u64 [%out+32], %rd3;\n\
        st.global.u64 [%out+40], %rd4;\nst.global.u8 [%out+48], %r4;\n\
         st.global.u16 [%out+50], %rd2;";
    let out = run(body, 1, &input, 13);
    assert_eq!(out[..5], [0xffff_ff82, 0x82, 0xff82, 0xffff_8081, 0x8081]);
    assert_eq!(out[6..12], [0x8081_82ff, u32::MAX, 0x8081_82ff, 0, 0xffff_ff80, u32::MAX]);
    assert_eq!(out[12], 0x82ff_0081);
}

#[test]
fn components_that_a_store_skips_keep_what_was_there() {
    let body = ".local .align 32 .b8 wide[32];\n.reg .u64 %l;\n\
        mul.wide.u32 %rd0, %me, 128;\nadd.u64 %rd1, %out, %rd0;\nadd.u32 %r0, %me, 10;\n\
        mov.b64 %rd2, 0x1111111122222222;\n\
        st.global.v4.u64 [%rd1], {%rd2, %rd2, %rd2, %rd2};\n\
        st.global.v8.b32 [%rd1], {%r0, _, 7, %r0, _, _, 8, _};\n\
        st.global.v4.u64 [%rd1+32], {%rd2, _, _, 9};\n\
        cvta.local.u64 %l, wide;\nst.v4.u64 [%l], {%rd2, %rd2, %rd2, %rd2};\n\
        st.v8.b32 [%l], {_, 7, _, %r0, _, _, _, 8};\nld.v4.u64 {%rd3, %rd4, %rd5, %rd6}, [%l];\n\
        st.global.v4.b64 [%rd1+64], {%rd3, %rd4, %rd5, %rd6};\n\
        setp.ne.u32 %p0, %me, 1;\n@%p0 st.v4.u64 [%l], {_, %rd1, _, 0};\n\
        ld.v4.u64 {%rd3, %rd4, %rd5, %rd6}, [%l];\n\
        st.global.v2.b64 [%rd1+96], {%rd3, %rd6};";
    let (low, high) = (0x2222_2222, 0x1111_1111);
    for threads in [1, 32] {
        let out = run(body, threads, &[0], 32 * 32);
        for (me, out) in out.chunks(32).take(threads as usize).enumerate() {
            let own = me as u32 + 10;
            assert_eq!(out[..8], [own, high, 7, own, low, high, 8, high]);
            assert_eq!(out[8..16], [low, high, 0, 0, 0, 0, 9, 0]);
            assert_eq!(out[16..24], [low, 7, low, own, low, high, low, 8]);
            let last = if me == 1 { [low, 8] } else { [0, 0] };
            assert_eq!(out[24..28], [low, 7, last[0], last[1]], "{me}");
        }
    }
}

#[test]
fn constants_have_the_width_of_their_place() {
    let body = "mov.f64 %fd0, 0f3FC00000;\nst.global.f64 [%out], %fd0;\n\
        mov.f64 %fd0, 1.0/3.0;\nst.global.f64 [%out+8], %fd0;\n\
        mov.f32 %f0, .5;\nst.global.f32 [%out+16], %f0;\n\
        mov.f32 %f0, 1. + .25;\nst.global.f32 [%out+20], %f0;\n\
        mov.f32 %f0, 0dfff4000000000000;\nst.global.f32 [%out+24], %f0;\n\
        st.global.f64 [%out+32], 0f3FC00000;\nst.global.u32 [%out+3<<4], ~0 >> 1;\n\
        st.global.u32 [%out+52], -WARP_SZ;\nst.global.u32 [%out+56], !WARP_SZ;";
    let out = run(body, 1, &[0], 15);
    let third = (1.0_f64 / 3.0).to_bits();
    assert_eq!(out[..4], [0x3fc0_0000, 0, third as u32, (third >> 32) as u32]);
    assert_eq!(out[4..7], [0.5_f32.to_bits(), 1.25_f32.to_bits(), 0xffe0_0000]);
    assert_eq!(out[8..15], [0x3fc0_0000, 0, 0, 0, u32::MAX, 32_u32.wrapping_neg(), 0]);
}

#[test]
fn vectors_move_all_components() {
    let input = ramp(128);
    let body = "shl.b64 %rd0, %rd0, 2;\nadd.u64 %rd1, %in, %rd0;\nadd.u64 %rd2, %out, %rd0;\n\
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];\nmov.b64 %rd5, {%r0, %r1};\n\
        mov.b64 %rd6, {%r2, %r3};\nst.global.v2.u64 [%rd2], {%rd6, %rd5};\n";
    let expected: Vec<u32> =
        input.as_chunks::<4>().0.iter().flat_map(|&[a, b, c, d]| [c, d, a, b]).collect();
    assert_eq!(run(body, 32, &input, 128), expected);
    // The same address for all threads, with unwanted components.
    let body = "add.u64 %rd2, %out, %rd0;\nld.global.nc.v4.f32 {_, %f0, _, %f1}, [%in+16];\n\
        mov.b32 %r0, %f0;\nmov.b32 %r1, %f1;\nxor.b32 %r0, %r0, %r1;\nst.global.u32 [%rd2], %r0;";
    assert_eq!(run(body, 20, &input, 20), vec![input[5] ^ input[7]; 20]);
}

/// Which word a thread reads.
type Index = fn(u32) -> u32;

#[test]
fn every_address_pattern_reads_the_same() {
    let input = ramp(256);
    // index(t) under a full and a partial mask
    let patterns: [(&str, Index); 7] = [
        ("mov.u32 %r0, %me;", |t| t),
        ("mov.u32 %r0, 9;", |_| 9),
        ("mul.lo.u32 %r0, %me, 5;", |t| 5 * t),
        ("and.b32 %r0, %me, 15;", |t| t & 15),
        ("shr.u32 %r0, %me, 4;", |t| t >> 4),
        ("xor.b32 %r0, %me, 31;", |t| t ^ 31),
        ("and.b32 %r0, %me, 16; mul.lo.u32 %r0, %r0, %me; and.b32 %r0, %r0, 255;", |t| {
            ((t & 16) * t) & 255
        }),
    ];
    for (index, expected) in patterns {
        for (guard, kept) in [("", 32), ("setp.lt.u32 %p0, %me, 20;\n@!%p0 exit;", 20)] {
            for space in ["global", "shared", "generic"] {
                let address = match space {
                    "global" => "add.u64 %rd1, %in, %rd1;\nld.global.u32 %r1, [%rd1];",
                    "shared" => {
                        "add.u64 %rd3, %in, %rd0;\nld.global.u32 %r2, [%rd3];\n\
                         mov.u32 %r3, tile;\nshl.b32 %r4, %me, 2;\nadd.u32 %r4, %r4, %r3;\n\
                         st.shared.u32 [%r4], %r2;\nld.global.u32 %r2, [%rd3+128];\n\
                         st.shared.u32 [%r4+128], %r2;\nld.global.u32 %r2, [%rd3+256];\n\
                         st.shared.u32 [%r4+256], %r2;\nld.global.u32 %r2, [%rd3+384];\n\
                         st.shared.u32 [%r4+384], %r2;\nld.global.u32 %r2, [%rd3+512];\n\
                         st.shared.u32 [%r4+512], %r2;\nld.global.u32 %r2, [%rd3+640];\n\
                         st.shared.u32 [%r4+640], %r2;\nld.global.u32 %r2, [%rd3+768];\n\
                         st.shared.u32 [%r4+768], %r2;\nld.global.u32 %r2, [%rd3+896];\n\
                         st.shared.u32 [%r4+896], %r2;\nbar.sync 0;\ncvt.u32.u64 %r4, %rd1;\n\
                         add.u32 %r4, %r4, %r3;\nld.shared.u32 %r1, [%r4];"
                    }
                    _ => "add.u64 %rd1, %in, %rd1;\nld.u32 %r1, [%rd1];",
                };
                let guard = if space == "shared" { "" } else { guard };
                let kept = if space == "shared" { 32 } else { kept };
                let body = format!(
                    "{guard}\n{index}\nmul.wide.u32 %rd1, %r0, 4;\n{address}\n\
                     add.u64 %rd2, %out, %rd0;\nst.global.u32 [%rd2], %r1;"
                );
                let out = run(&body, 32, &input, 32);
                for t in 0..32 {
                    let wanted = if t < kept { input[expected(t) as usize] } else { 0 };
                    assert_eq!(out[t as usize], wanted, "{space} {index} {guard} thread {t}");
                }
            }
        }
    }
}

#[test]
fn generic_addresses_reach_every_space_in_one_instruction() {
    // Lane 0 mod 4: global, 1: shared, 2: local, 3: parameters.
    let body = "st.shared.u32 [tile+8], 100;\nst.local.u32 [frame+12], %me;\n\
         add.u64 %rd1, %in, 4;\n\
        mov.u64 %rd2, tile;\ncvta.shared.u64 %rd2, %rd2;\nadd.u64 %rd2, %rd2, 8;\n\
        mov.u64 %rd3, frame;\ncvta.local.u64 %rd3, %rd3;\nadd.u64 %rd3, %rd3, 12;\n\
        mov.u64 %rd4, block;\ncvta.param.u64 %rd4, %rd4;\nadd.u64 %rd4, %rd4, 8;\n\
        and.b32 %r0, %me, 3;\nsetp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 1;\n\
        setp.eq.u32 %p2, %r0, 2;\nmov.u64 %rd5, %rd4;\n@%p0 mov.u64 %rd5, %rd1;\n\
        @%p1 mov.u64 %rd5, %rd2;\n@%p2 mov.u64 %rd5, %rd3;\nld.u32 %r1, [%rd5];\n\
        isspacep.shared %p3, %rd5;\nisspacep.local %p4, %rd5;\nisspacep.global %p5, %rd5;\n\
        @%p3 add.u32 %r1, %r1, 0x1000;\n@%p4 add.u32 %r1, %r1, 0x2000;\n\
        @%p5 add.u32 %r1, %r1, 0x4000;\n@%p2 st.u32 [%rd5], 7;\n\
         @%p2 ld.local.u32 %r2, [frame+12];\n\
        @%p2 shl.b32 %r2, %r2, 24;\n@%p2 add.u32 %r1, %r1, %r2;\nadd.u64 %rd6, %out, %rd0;\n\
        st.global.u32 [%rd6], %r1;";
    let out = run(body, 32, &[5, 6], 32);
    let expected: Vec<u32> =
        (0..32).map(|t| [0x4006, 0x1064, 0x0700_2000 + t, 22][t as usize & 3]).collect();
    assert_eq!(out, expected);
}

#[test]
fn local_memory_is_each_threads_own() {
    let body = "mov.u64 %rd1, frame;\nand.b32 %r0, %me, 7;\nmul.wide.u32 %rd2, %r0, 4;\n\
        add.u64 %rd1, %rd1, %rd2;\nst.local.v2.u32 [frame+32], {%me, 8};\n\
         st.local.u32 [%rd1], %me;\n\
        st.local.u8 [frame+33], 0xaa;\nld.local.u32 %r1, [%rd1];\nld.local.u64 %rd3, [frame+32];\n\
        ld.local.u32 %r2, [frame+60];\nadd.u32 %r1, %r1, %r2;\ncvt.u32.u64 %r3, %rd3;\n\
        add.u32 %r1, %r1, %r3;\nadd.u64 %rd6, %out, %rd0;\nst.global.u32 [%rd6], %r1;";
    let out = run(body, 40, &[0], 40);
    assert_eq!(out, (0..40).map(|t| 2 * t + 0xaa00).collect::<Vec<u32>>());
}

#[test]
fn parameters_by_symbol_and_by_address() {
    let body = "ld.param.u64 %rd1, [block];\nmov.b64 %rd2, block;\nld.param.u64 %rd3, [%rd2+16];\n\
        add.u64 %rd1, %rd1, %rd3;\nst.global.u64 [%out], %rd1;";
    assert_eq!(run(body, 1, &[0], 2), [44, 0]);
}

#[test]
fn module_variables_are_initialised_and_relocated() {
    let globals = ".global .align 4 .u32 counter = 40;\n\
        .const .align 4 .b32 table[3] = {7, 8, 9};\n\
        .global .align 8 .u64 pointers[2] = {generic(counter), table+8};";
    let body = "ld.global.u32 %r0, [counter];\nld.const.u32 %r1, [table+4];\n\
        ld.global.u64 %rd1, [pointers];\nld.u32 %r2, [%rd1];\nld.global.u64 %rd2, [pointers+8];\n\
        ld.const.u32 %r3, [%rd2];\nmov.u64 %rd3, counter;\nadd.u32 %r4, %r0, 1;\n\
        st.global.u32 [%rd3], %r4;\nld.volatile.global.u32 %r5, [counter];\n\
        st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\nst.global.u32 [%out+16], %r5;";
    assert_eq!(run_with(globals, body, 1, &[0], 5), [40, 8, 40, 9, 41]);
}

#[test]
fn dynamic_shared_memory_starts_after_the_static() {
    let globals = ".extern .shared .align 16 .b8 dynamic[];";
    let body = "mov.u32 %r0, dynamic;\nshl.b32 %r1, %me, 2;\nadd.u32 %r0, %r0, %r1;\n\
        st.shared.u32 [tile+1020], 1;\nst.shared.u32 [%r0], %me;\nbar.sync 0;\n\
        ld.shared.u32 %r2, [dynamic+12];\nld.shared.u32 %r3, [tile+1020];\nadd.u32 %r2, %r2, %r3;\n\
        mov.u32 %r4, %dynamic_smem_size;\nadd.u32 %r2, %r2, %r4;\nadd.u64 %rd6, %out, %rd0;\n\
        st.global.u32 [%rd6], %r2;";
    let mut bench = Bench::new(&text(globals, body));
    let out = bench.words("out", &[0; 32]);
    let arguments = Arguments::default().u64(out).u64(out).u64(1).u64(2).u64(3);
    let launch = strata_simt::Launch { dynamic_shared: 128, ..launch(1, 32, arguments) };
    bench.run("k", &launch).unwrap();
    assert_eq!(bench.read(out, 32), vec![132; 32]);
}

#[test]
fn atomics_of_every_kind() {
    // Each on its own word of `out`, in global or shared memory; what it starts from; the value
    // after 40 threads.
    let table: &[(&str, u32, u32)] = &[
        ("add.u32 %r0, [%rd1], %me;", 5, 785),
        ("min.s32 %r0, [%rd1], %r9;", 0, (-39i32) as u32),
        ("max.u32 %r0, [%rd1], %me;", 3, 39),
        ("and.b32 %r0, [%rd1], %me;", 0xff, 0),
        ("or.b32 %r0, [%rd1], %me;", 0x100, 0x13f),
        ("xor.b32 %r0, [%rd1], %me;", 0, 0),
        ("exch.b32 %r0, [%rd1], %me;", 0, 39),
        ("inc.u32 %r0, [%rd1], 9;", 0, 0),
        ("dec.u32 %r0, [%rd1], 9;", 0, 0),
        ("cas.b32 %r0, [%rd1], %me, %r8;", 0, 40),
        ("add.f32 %r0, [%rd1], %f1;", 0x3f80_0000, 0x41a8_0000),
        ("add.noftz.f16x2 %r0, [%rd1], %r7;", 0x3c00_0000, 0x5120_5100),
    ];
    for &(operation, start, end) in table {
        for space in ["global", "shared", "generic"] {
            let address = match space {
                "global" => "mov.u64 %rd1, %out;",
                "shared" => "mov.u64 %rd1, tile;",
                _ => "cvta.shared.u64 %rd1, 0;\nmov.u64 %rd2, tile;\nadd.u64 %rd1, %rd1, %rd2;",
            };
            let dotted = if space == "generic" { String::new() } else { format!("{space}.") };
            let body = format!(
                "add.u32 %r8, %me, 1;\nneg.s32 %r9, %me;\nmov.b32 %f1, 0f3F000000;\n\
                 mov.u32 %r7, 0x3c003c00;\n{address}\nsetp.eq.u32 %p0, %me, 0;\n\
                 @%p0 st{}.u32 [%rd1], {start};\nbar.sync 0;\n\
                 atom.{dotted}{operation}\nbar.sync 0;\n\
                 ld{}.u32 %r1, [%rd1];\n@%p0 st.global.u32 [%out], %r1;",
                if dotted.is_empty() { String::new() } else { format!(".{space}") },
                if dotted.is_empty() { String::new() } else { format!(".{space}") },
            );
            assert_eq!(run(&body, 40, &[0], 1), [end], "{space} {operation}");
        }
    }
}

#[test]
fn atomics_return_what_was_there_and_reductions_nothing() {
    let body = "atom.global.add.u32 %r0, [%out+256], 2;\nadd.u64 %rd6, %out, %rd0;\n\
        st.global.u32 [%rd6], %r0;\nred.global.max.u64 [%out+264], %rd0;\n\
        atom.global.add.f64 %fd0, [%out+272], 0d3FE0000000000000;\n\
        atom.global.cas.b64 %rd1, [%out+280], %rd0, %rd6;";
    let out = run(body, 33, &[0], 72);
    assert_eq!(out[..33], (0..33).map(|t| 2 * t).collect::<Vec<u32>>());
    assert_eq!((out[64], out[66], out[67]), (66, 128, 0));
    assert_eq!((out[68], out[69]), (0, (16.5f64.to_bits() >> 32) as u32));
    assert_ne!(out[70], 0);
    // A 16-bit compare and swap leaves its neighbour alone.
    let body =
        "mov.u16 %h1, 0;\nmov.u16 %h2, 0x1234;\natom.global.cas.b16 %h0, [%out+2], %h1, %h2;";
    assert_eq!(run(body, 1, &[0], 1), [0x1234_0000]);
}

#[test]
fn addresses_of_32_bits() {
    let text = ".version 2.3\n.target sm_20\n.address_size 32\n.global .u32 g[4] = {1, 2, 3, 4};\n\
        .entry k(.param .u32 out) {\n.reg .u32 %r<8>;\n.shared .u32 s[4];\n\
         ld.param.u32 %r0, [out];\n\
        ld.global.u32 %r1, [g+8];\nmov.u32 %r2, s;\nst.shared.u32 [%r2+4], %r1;\n\
        cvta.shared.u32 %r3, %r2;\nld.u32 %r4, [%r3+4];\nst.global.u32 [%r0], %r4;\nexit;\n}\n";
    let mut bench = Bench::new(text);
    let out = bench.words("out", &[0]);
    bench.run("k", &launch(1, 1, Arguments::default().u32(out as u32))).unwrap();
    assert_eq!(bench.read(out, 1), [3]);
}

/// Sums of 32-bit addresses and offsets wrap around; constant memory, generic addresses of local and
/// global memory and addresses in initial contents are as narrow.
#[test]
fn narrow_addresses_wrap_and_reach_every_space() {
    let text = ".version 6.3\n.target sm_75\n.address_size 32\n\
        .global .u32 g[4] = {1, 2, 3, 4};\n.const .u32 c[2] = {5, 6};\n\
        .global .u32 p[2] = {g, generic(g)};\n\
        .entry k(.param .u32 out) {\n.reg .b32 %r<16>;\n.reg .b64 %rd<3>;\n\
        .local .align 4 .b8 frame[8];\n\
        ld.param.u32 %r0, [out];\n\
        mov.u32 %r1, g;\nsub.s32 %r2, %r1, 268435464;\n\
        ld.global.u32 %r2, [%r2+268435468];\nadd.s32 %r1, %r1, -8;\n\
        mad.lo.s32 %r1, %r2, -4, %r1;\nld.global.u32 %r3, [%r1+20];\n\
        mov.u32 %r4, c;\nld.const.u32 %r5, [%r4+4];\n\
        mov.u32 %r6, frame;\nst.local.u32 [%r6+4], %r5;\ncvta.local.u32 %r6, %r6;\n\
        ld.u32 %r7, [%r6+4];\n\
        ld.global.u32 %r8, [p+4];\nld.u32 %r9, [%r8+8];\n\
        cvta.global.u32 %r10, %r1;\ncvta.to.global.u32 %r10, %r10;\n\
        atom.global.add.u32 %r11, [%r10+24], %r9;\nld.global.u32 %r12, [g+12];\n\
        cvt.u64.u32 %rd1, %r1;\nld.global.u32 %r13, [%rd1+24];\n\
        st.global.v4.u32 [%r0], {%r2, %r3, %r5, %r7};\n\
        st.global.v4.u32 [%r0+16], {%r9, %r11, %r12, %r13};\nexit;\n}\n";
    let mut bench = Bench::new(text);
    let out = bench.words("out", &[0; 8]);
    bench.run("k", &launch(1, 1, Arguments::default().u32(out as u32))).unwrap();
    assert_eq!(bench.read(out, 8), [2, 2, 6, 6, 3, 3, 4, 6]);
}

/// What 32 bits do not reach is an error with its place, never another address.
#[test]
fn an_address_beyond_32_bits_is_an_error() {
    let text = ".version 6.3\n.target sm_75\n.address_size 32\n\
        .entry k(.param .u32 out) {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
        ld.param.u32 %r0, [out];\ncvt.u64.u32 %rd0, %r0;\nadd.s64 %rd1, %rd0, 4294967296;\n\
        st.global.u32 [%rd1], %r0;\nexit;\n}\n";
    let mut bench = Bench::new(text);
    let out = bench.words("out", &[0]);
    let fault = bench.run("k", &launch(1, 1, Arguments::default().u32(out as u32))).unwrap_err();
    let message = fault.to_string();
    assert!(message.contains("PTX line 10") && message.contains("0x1"), "{message}");
    assert_eq!(bench.read(out, 1), [0]);
}
