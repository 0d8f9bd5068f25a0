//! Instructions of PTX 8.6 and later, against a reference that shares nothing with ours: LLVM's
//! software floating point, and sentences of the manual.

use rustc_apfloat::ieee::{BFloat, Single};
use rustc_apfloat::{Float as _, FloatConvert as _, Round};
use strata_simt::Fault;

use crate::arith_support::round;
use crate::common::{Arguments, Bench, Random, launch};
use strata_simt::arith::Rounding;

const HEAD: &str = ".version 9.5\n.target sm_100a\n.address_size 64\n";
const CANONICAL: u32 = 0x7fff_ffff;
const ROUNDINGS: [(&str, Rounding); 4] = [
    (".rn", Rounding::NearestEven),
    (".rz", Rounding::Zero),
    (".rm", Rounding::Down),
    (".rp", Rounding::Up),
];

/// A kernel whose lanes load three pairs of words from `in` to `%d1` to `%d3` and their words to
/// `%r1` to `%r6`, and store the two words of `%d4` to `out`.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 in, .param .u64 out) {{
            .reg .b64 %d<9>; .reg .b64 %a<5>; .reg .b32 %r<20>; .reg .b16 %h<4>; .reg .f32 %f<4>;
            ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out];
            mov.u32 %r0, %tid.x; mul.wide.u32 %a2, %r0, 24; add.u64 %a0, %a0, %a2;
            mul.wide.u32 %a2, %r0, 8; add.u64 %a1, %a1, %a2;
            ld.global.b64 %d1, [%a0]; ld.global.b64 %d2, [%a0+8]; ld.global.b64 %d3, [%a0+16];
            mov.b64 {{%r1, %r2}}, %d1; mov.b64 {{%r3, %r4}}, %d2; mov.b64 {{%r5, %r6}}, %d3;
            {body}
            st.global.b64 [%a1], %d4; ret; }}"
    )
}

/// Six words for each of 256 threads: edges, neighbours of each other, and anything.
fn inputs(random: &mut Random) -> Vec<u32> {
    const EDGES: [u32; 14] = [
        0,
        1,
        0x007f_ffff,
        0x0080_0000,
        0x3f80_0000,
        0x3f80_0001,
        0x3f7f_ffff,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fff_ffff,
        0x3f80_8000,
        0x0000_8000,
        0x7f7f_8000,
    ];
    let mut word = || match random.below(4) {
        0 => random.pick(&EDGES) ^ (random.below(2) << 31),
        1 => random.next() as u32 & 0x83ff_ffff | 0x3e00_0000,
        _ => random.next() as u32,
    };
    (0..6 * 256).map(|_| word()).collect()
}

/// What each thread stores.
fn run(body: &str, words: &[u32]) -> Vec<u32> {
    let mut bench = Bench::new(&kernel(body));
    let (input, output) = (bench.words("in", words), bench.words("out", &[0; 512]));
    bench.run("k", &launch(1, 256, Arguments::default().u64(input).u64(output))).unwrap();
    bench.read(output, 512)
}

fn number(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

fn bits(value: Single) -> u32 {
    if value.is_nan() { CANONICAL } else { value.to_bits() as u32 }
}

fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn reference(opcode: &str, [a, b, c]: [u32; 3], round: Round) -> u32 {
    let (a, b, c) = (number(a), number(b), number(c));
    bits(match opcode {
        "add" => a.add_r(b, round).value,
        "sub" => a.sub_r(b, round).value,
        "mul" => a.mul_r(b, round).value,
        _ => a.mul_add_r(b, c, round).value,
    })
}

#[test]
fn two_singles_are_computed_as_each_alone() {
    let words = inputs(&mut Random::new(1));
    for opcode in ["add", "sub", "mul", "fma"] {
        for (word, rounding) in ROUNDINGS {
            for ftz in ["", ".ftz"] {
                let third = if opcode == "fma" { ", %d3" } else { "" };
                let body = format!("{opcode}{word}{ftz}.f32x2 %d4, %d1, %d2{third};");
                let found = run(&body, &words);
                for (index, &found) in found.iter().enumerate() {
                    let (thread, half) = (index / 2, index % 2);
                    let input = |pair: usize| words[6 * thread + 2 * pair + half];
                    let inputs = [input(0), input(1), input(2)];
                    let flush = |bits| if ftz.is_empty() { bits } else { flushed(bits) };
                    let wanted = reference(opcode, inputs.map(flush), round(rounding));
                    assert_eq!(found, flush(wanted), "{body} {inputs:x?}: {found:x} {wanted:x}");
                }
            }
        }
    }
}

/// PTX ISA 8.8, sections `max` and `min`: of magnitudes with `.abs`; NaN if all are or, with
/// `.NaN`, one is; else the extremum of the numbers, of which -0 is less than +0.
fn extremum(values: [u32; 3], maximum: bool, [absolute, ftz, nan]: [bool; 3]) -> u32 {
    let values = values.map(|bits| if ftz { flushed(bits) } else { bits });
    let values = values.map(|bits| if absolute { bits & 0x7fff_ffff } else { bits });
    let is_nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    if nan && values.into_iter().any(is_nan) {
        return CANONICAL;
    }
    // Bits of numbers as integers in their order.
    let key = |bits: u32| if bits >> 31 == 1 { !(bits as i32 & i32::MAX) } else { bits as i32 };
    let numbers = values.into_iter().filter(|&bits| !is_nan(bits));
    let best =
        if maximum { numbers.max_by_key(|&b| key(b)) } else { numbers.min_by_key(|&b| key(b)) };
    best.unwrap_or(CANONICAL)
}

#[test]
fn the_extremum_of_three_is_what_the_manual_says() {
    let mut words = inputs(&mut Random::new(2));
    words[..6].copy_from_slice(&[0x8000_0000, 0, 0, 0x8000_0000, 0x8000_0000, 0]);
    for (opcode, maximum) in [("max", true), ("min", false)] {
        for modes in 0..8 {
            let [absolute, ftz, nan] = [0, 1, 2].map(|bit| modes >> bit & 1 == 1);
            let word = |is, word| if is { word } else { "" };
            let modes = [word(ftz, ".ftz"), word(nan, ".NaN"), word(absolute, ".abs")].concat();
            let body = format!(
                "{opcode}{modes}.f32 %r7, %r1, %r3, %r5; {opcode}{modes}.f32 %r8, %r2, %r4, %r6;
                 mov.b64 %d4, {{%r7, %r8}};"
            );
            let found = run(&body, &words);
            for (index, &found) in found.iter().enumerate() {
                let values = [0, 2, 4].map(|pair| words[6 * (index / 2) + pair + index % 2]);
                let wanted = extremum(values, maximum, [absolute, ftz, nan]);
                assert_eq!(found, wanted, "{opcode}{modes} {values:x?}: {found:x} {wanted:x}");
            }
        }
    }
}

#[test]
fn singles_become_brain_floats_in_every_rounding() {
    let words = inputs(&mut Random::new(3));
    for (word, rounding) in ROUNDINGS {
        for ftz in ["", ".ftz"] {
            let body = format!(
                "cvt{word}{ftz}.bf16.f32 %h0, %r1; cvt{word}{ftz}.bf16.f32 %h1, %r2;
                 cvt.u32.u16 %r7, %h0; cvt.u32.u16 %r8, %h1; mov.b64 %d4, {{%r7, %r8}};"
            );
            for (index, &found) in run(&body, &words).iter().enumerate() {
                let input = words[6 * (index / 2) + index % 2];
                let input = if ftz.is_empty() { input } else { flushed(input) };
                let wide: BFloat = number(input).convert_r(round(rounding), &mut false).value;
                let wanted = if wide.is_nan() { 0x7fff } else { wide.to_bits() as u32 };
                assert_eq!(found, wanted, "{body} {input:x}: {found:x} {wanted:x}");
            }
        }
    }
}

#[test]
fn singles_are_reduced_as_the_manual_says() {
    let words = inputs(&mut Random::new(4));
    for (opcode, maximum) in [("max", true), ("min", false)] {
        for modes in 0..4 {
            let [absolute, nan] = [0, 1].map(|bit| modes >> bit & 1 == 1);
            let word = |is, word| if is { word } else { "" };
            let modes = [word(absolute, ".abs"), word(nan, ".NaN")].concat();
            // Members are pairs of lanes, so that three values are what the reference takes.
            let body = format!(
                "and.b32 %r9, %r0, 30; mov.b32 %r10, 3; shl.b32 %r10, %r10, %r9;
                 redux.sync.{opcode}{modes}.f32 %r7, %r1, %r10; mov.b64 %d4, {{%r7, %r7}};"
            );
            for (index, &found) in run(&body, &words).iter().enumerate() {
                let first = index / 4 * 2;
                let values = [first, first + 1, first].map(|thread| words[6 * thread]);
                let wanted = extremum(values, maximum, [absolute, false, nan]);
                assert_eq!(found, wanted, "{opcode}{modes} {values:x?}: {found:x} {wanted:x}");
            }
        }
    }
}

/// Rows of a matrix of 8 by 8 in shared memory, through an address without a state space.
fn matrices(address: &str, load: &str) -> Result<Vec<u32>, Fault> {
    let text = format!(
        "{HEAD}.global .align 16 .b8 outside[512];
        .visible .entry k(.param .u64 out) {{
            .shared .align 16 .b8 before[48]; .shared .align 16 .b8 s[512];
            .reg .b64 %d<9>; .reg .b32 %r<20>;
            ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;
            add.u64 %d0, %d0, %d1; mov.u32 %r1, before; mov.u32 %r1, s; shl.b32 %r2, %r0, 2;
            add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], %r0; bar.sync 0;
            shl.b32 %r3, %r0, 4; and.b32 %r3, %r3, 127; add.u32 %r3, %r3, %r1;
            cvt.u64.u32 %d2, %r3; cvta.shared.u64 %d2, %d2; mov.u64 %d3, outside;
            {load} {{%r5}}, [{address}];
            st.global.u32 [%d0], %r5; ret; }}"
    );
    let mut bench = Bench::new(&text);
    let output = bench.words("out", &[0; 32]);
    bench.run("k", &launch(1, 32, Arguments::default().u64(output)))?;
    Ok(bench.read(output, 32))
}

#[test]
fn matrices_are_found_at_generic_addresses_of_shared_memory() {
    let load = "ldmatrix.sync.aligned.m8n8.x1.b16";
    // Thread `l` holds two elements of row `l / 4`: the words that were stored, in order.
    let wanted: Vec<u32> = (0..32).collect();
    assert_eq!(matrices("%d2", load).unwrap(), wanted);
    // A register of 32 bits is an address of shared memory, as ptxas takes it.
    assert_eq!(matrices("%r3", load).unwrap(), wanted);
    assert_eq!(matrices("%r3", "ldmatrix.sync.aligned.m8n8.x1.shared.b16").unwrap(), wanted);
    for outside in ["%d3", "16", "%d2+4096"] {
        let fault = matrices(outside, load).expect_err(outside);
        assert!(fault.to_string().contains("shared"), "{outside}: {fault}");
    }
}

#[test]
fn matrices_are_stored_at_generic_addresses_of_shared_memory() {
    let store = |place: &str| {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 out) {{
                .shared .align 16 .b8 s[128]; .reg .b64 %d<9>; .reg .b32 %r<20>;
                ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;
                add.u64 %d3, %d0, %d1; mov.u32 %r1, s; shl.b32 %r3, %r0, 4; and.b32 %r3, %r3, 127;
                add.u32 %r3, %r3, %r1; cvt.u64.u32 %d2, %r3; cvta.shared.u64 %d2, %d2;
                stmatrix.sync.aligned.m8n8.x1.b16 [{place}], {{%r0}}; bar.sync 0;
                shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1; ld.shared.u32 %r4, [%r2];
                st.global.u32 [%d3], %r4; ret; }}"
        );
        let mut bench = Bench::new(&text);
        let output = bench.words("out", &[0; 32]);
        let done = bench.run("k", &launch(1, 32, Arguments::default().u64(output)));
        done.map(|_| bench.read(output, 32))
    };
    assert_eq!(store("%d2").unwrap(), (0..32).collect::<Vec<u32>>());
    assert!(store("%d0").is_err(), "global memory");
}

#[test]
fn the_system_has_the_beginning_of_shared_memory_where_a_kernel_asks() {
    let names =
        ["begin", "end", "cap", "0", "1"].map(|name| format!("%reserved_smem_offset_{name}"));
    let reads = |names: &[String]| {
        let read = |(place, name): (usize, &String)| {
            format!("mov.u32 %r2, {name}; st.global.u32 [%d0+{}], %r2;\n", 4 * place)
        };
        let reads: String = names.iter().enumerate().map(read).collect();
        let text = format!(
            "{HEAD}.extern .shared .align 16 .b8 open[];
            .visible .entry k(.param .u64 out) {{
                .shared .align 16 .b8 s[32]; .reg .b64 %d<3>; .reg .b32 %r<4>;
                ld.param.u64 %d0, [out]; {reads} mov.u32 %r2, s; st.global.u32 [%d0+32], %r2;
                st.shared.u32 [s+28], 7; mov.u32 %r2, open; st.global.u32 [%d0+36], %r2;
                mov.u32 %r2, %total_smem_size; st.global.u32 [%d0+40], %r2;
                mov.u32 %r2, %aggr_smem_size; st.global.u32 [%d0+44], %r2; ret; }}"
        );
        let mut bench = Bench::new(&text);
        let output = bench.words("out", &[0; 12]);
        let launch = launch(1, 1, Arguments::default().u64(output));
        let launch = strata_simt::Launch { dynamic_shared: 64, ..launch };
        bench.run("k", &launch).unwrap();
        bench.read(output, 12)
    };
    assert_eq!(reads(&names), [0, 1024, 1024, 0, 64, 0, 0, 0, 1024, 1056, 128, 1152]);
    assert_eq!(reads(&[])[8..], [0, 32, 128, 128]);
}

#[test]
fn cooperative_groups_may_use_the_reserved_memory() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 out) {{
            .shared .align 16 .b8 s[32]; .reg .b64 %d<5>; .reg .b32 %r<4>;
            ld.param.u64 %d0, [out]; mov.u32 %r1, %reserved_smem_offset_1; cvt.u64.u32 %d1, %r1;
            cvta.shared.u64 %d1, %d1; st.shared.u32 [s], 5; st.u32 [%d1], 9; st.u32 [%d1+956], 8;
            ld.u32 %r2, [%d1]; ld.shared.u32 %r3, [s]; add.u32 %r2, %r2, %r3;
            st.global.u32 [%d0], %r2; ret; }}"
    );
    let mut bench = Bench::new(&text);
    let output = bench.words("out", &[0]);
    bench.run("k", &launch(1, 1, Arguments::default().u64(output))).unwrap();
    assert_eq!(bench.read(output, 1), [14]);
}

#[test]
fn what_launches_kernels_is_refused_by_name() {
    for (function, wanted) in [
        ("__cudaCDP2GetParameterBufferV2", "dynamic parallelism"),
        ("__cudaCDP2LaunchDeviceV2", "dynamic parallelism"),
        ("cudaLaunchDevice", "dynamic parallelism"),
        ("cudaGetParameterBuffer", "dynamic parallelism"),
        ("cudaDeviceSynchronize", "dynamic parallelism"),
        ("cudaCGSynchronizeGrid", "has no body"),
        ("cuda_own", "has no body"),
        ("launch", "has no body"),
    ] {
        let text = format!(
            "{HEAD}.extern .func {function};\n.entry fine() {{ ret; }}\n\
             .entry k() {{ call {function}; ret; }}"
        );
        let bench = Bench::new(&text);
        assert!(bench.prepare("fine").is_ok());
        let problems = bench.prepare("k").expect_err(function);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].message.contains(wanted), "{}", problems[0].message);
        assert!(problems[0].message.contains(function), "{}", problems[0].message);
    }
}

#[test]
fn more_values_may_be_live_than_a_machine_has_registers() {
    let load = |n| format!("ld.global.u32 %v{n}, [%d0+{}];\n", 4 * n);
    let loads = (0..300).map(load).collect::<Vec<_>>().concat();
    let add = |n| format!("add.u32 %v0, %v0, %v{n};\n");
    let sums = (1..300).rev().map(add).collect::<Vec<_>>().concat();
    let text = format!(
        "{HEAD}.entry k(.param .u64 p) {{ .reg .b64 %d<2>; .reg .b32 %v<300>;
        ld.param.u64 %d0, [p];\n{loads}{sums}st.global.u32 [%d0], %v0; ret; }}"
    );
    let mut bench = Bench::new(&text);
    assert!(bench.compile("k").unwrap().general_registers > 255);
    let words: Vec<u32> = (0..300).map(|n| n * n).collect();
    let address = bench.words("p", &words);
    bench.run("k", &launch(1, 1, Arguments::default().u64(address))).unwrap();
    assert_eq!(bench.read(address, 1), [words.iter().sum::<u32>()]);
}
