//! Kernels that nvcc compiled (`ptx/kernels.cu`), against the same computation on the host.

use strata_simt::{Fault, Launch};

use crate::common::{Arguments, Bench, Random, launch};

const KERNELS: &str = include_str!("../ptx/kernels.ptx");

#[test]
fn vectoradd_with_a_ragged_end() {
    let mut bench = Bench::new(KERNELS);
    let mut random = Random::new(1);
    let n = 1000;
    let a: Vec<f32> = (0..n).map(|_| random.unit()).collect();
    let b: Vec<f32> = (0..n).map(|_| random.unit()).collect();
    let (pa, pb) = (bench.floats("a", &a), bench.floats("b", &b));
    let pc = bench.words("c", &vec![0; n]);
    let arguments = Arguments::default().u64(pa).u64(pb).u64(pc).u32(n as u32);
    let outcome = bench.run("vectoradd", &launch(8, 128, arguments)).unwrap();
    let expected: Vec<u32> = a.iter().zip(&b).map(|(a, b)| (a + b).to_bits()).collect();
    assert_eq!(bench.read(pc, n), expected);
    assert_eq!((outcome.ctas, outcome.warps), (8, 32));
    // Full warps, the warp with the ragged end, and none beyond it: 1000 = 31 * 32 + 8.
    assert_eq!(outcome.paths.iter().map(|(_, count)| count).collect::<Vec<_>>(), [31, 1]);
    let issued: u64 = outcome
        .paths
        .iter()
        .map(|(path, count)| count * path.iter().map(|step| u64::from(step.length)).sum::<u64>())
        .sum();
    assert_eq!(issued, outcome.warp_instructions);
    let threads: u64 = outcome
        .paths
        .iter()
        .map(|(path, count)| {
            let lanes = path.iter().map(|s| u64::from(s.length * s.mask.0.count_ones()));
            count * lanes.sum::<u64>()
        })
        .sum();
    assert_eq!(threads, outcome.thread_instructions);
}

#[test]
fn matrix_multiplication_in_shared_tiles() {
    let mut bench = Bench::new(KERNELS);
    let mut random = Random::new(2);
    let n = 48;
    let a: Vec<f32> = (0..n * n).map(|_| random.unit()).collect();
    let b: Vec<f32> = (0..n * n).map(|_| random.unit()).collect();
    let (pa, pb) = (bench.floats("a", &a), bench.floats("b", &b));
    let pc = bench.words("c", &vec![0; n * n]);
    let arguments = Arguments::default().u64(pa).u64(pb).u64(pc).u32(n as u32);
    let launch = Launch { arguments: arguments.0, ..Launch::new([3, 3, 1], [16, 16, 1]) };
    let outcome = bench.run("matmul", &launch).unwrap();
    let mut expected = Vec::new();
    for row in 0..n {
        for column in 0..n {
            let sum = (0..n).fold(0.0, |sum, k| a[row * n + k].mul_add(b[k * n + column], sum));
            expected.push(f32::to_bits(sum));
        }
    }
    assert_eq!(bench.read(pc, n * n), expected);
    // No divergence: one path for all warps.
    assert_eq!(outcome.paths.len(), 1);
    assert_eq!(outcome.paths.count(0), 72);
}

#[test]
fn reduction_by_shuffles_and_atomics() {
    let mut bench = Bench::new(KERNELS);
    let mut random = Random::new(3);
    for (n, grid, block) in [(5000u32, 3, 256), (31, 1, 64), (4096, 4, 1024)] {
        let a: Vec<u32> = (0..n).map(|_| random.next() as u32).collect();
        let pa = bench.words("a", &a);
        let out = bench.words("out", &[0]);
        let arguments = Arguments::default().u64(pa).u64(out).u32(n);
        bench.run("reduce", &launch(grid, block, arguments)).unwrap();
        let expected = a.iter().fold(0u32, |sum, &x| sum.wrapping_add(x));
        assert_eq!(bench.read(out, 1), [expected], "{n} {grid} {block}");
    }
}

#[test]
fn nbody_with_dynamic_shared_memory() {
    let mut bench = Bench::new(KERNELS);
    let mut random = Random::new(4);
    let n = 128;
    let bodies: Vec<f32> = (0..4 * n).map(|_| random.unit()).collect();
    let p = bench.floats("p", &bodies);
    let acc = bench.words("acc", &vec![0; 4 * n]);
    let arguments = Arguments::default().u64(p).u64(acc).u32(n as u32);
    let launch = Launch { dynamic_shared: 64 * 16, ..launch(2, 64, arguments) };
    bench.run("nbody", &launch).unwrap();
    let result = bench.read(acc, 4 * n);
    for (i, me) in bodies.as_chunks::<4>().0.iter().enumerate() {
        let mut sum = [0f64; 3];
        for other in bodies.as_chunks::<4>().0 {
            let d: Vec<f64> = (0..3).map(|k| f64::from(other[k]) - f64::from(me[k])).collect();
            let square: f64 = d.iter().map(|d| d * d).sum::<f64>() + 0.01;
            let weight = f64::from(other[3]) * square.powf(-1.5);
            for k in 0..3 {
                sum[k] += d[k] * weight;
            }
        }
        for k in 0..3 {
            let got = f64::from(f32::from_bits(result[4 * i + k]));
            let tolerance = 1e-3 * sum[k].abs().max(1.0);
            assert!((got - sum[k]).abs() < tolerance, "body {i}: {got} {}", sum[k]);
        }
    }
}

#[test]
fn collatz_diverges_by_data() {
    let mut bench = Bench::new(KERNELS);
    let n = 300u32;
    let a: Vec<u32> = (1..=n).collect();
    let (pa, steps) = (bench.words("a", &a), bench.words("steps", &vec![0; n as usize]));
    let arguments = Arguments::default().u64(pa).u64(steps).u32(n);
    bench.run("collatz", &launch(3, 128, arguments)).unwrap();
    let expected: Vec<u32> = a
        .iter()
        .map(|&start| {
            let (mut v, mut steps) = (u64::from(start), 0);
            while v != 1 {
                v = if v & 1 == 1 { 3 * v + 1 } else { v >> 1 };
                steps += 1;
            }
            steps
        })
        .collect();
    assert_eq!(bench.read(steps, n as usize), expected);
}

#[test]
fn arrays_in_local_memory() {
    let mut bench = Bench::new(KERNELS);
    let mut random = Random::new(5);
    let n = 64;
    let a: Vec<u32> = (0..n).map(|_| random.below(1000)).collect();
    let (pa, out) = (bench.words("a", &a), bench.words("out", &vec![0; n as usize]));
    let arguments = Arguments::default().u64(pa).u64(out).u32(n);
    bench.run("localarr", &launch(1, n, arguments)).unwrap();
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13];
    let expected: Vec<u32> = (0..n)
        .map(|i| {
            let mut buffer: Vec<i32> = (0..17).map(|j| a[(i * j % n) as usize] as i32).collect();
            let (mut k, mut s) = ((a[i as usize] & 15) as i32, 0i32);
            while k != 16 {
                s = s.wrapping_add(buffer[k as usize].wrapping_mul(k));
                buffer[k as usize] = 16;
                k = (k + 5 * i as i32 + 1) % 17;
                if s > 100_000 {
                    break;
                }
            }
            s as u32 + fibonacci[(i & 7) as usize]
        })
        .collect();
    assert_eq!(bench.read(out, n as usize), expected);
}

#[test]
fn printf_and_a_failing_assertion() {
    let mut bench = Bench::new(KERNELS);
    let outcome = bench.run("printer", &launch(1, 3, Arguments::default().u32(5))).unwrap();
    let expected = "t 0 of 3: even 0.000000 42949672960\nt 1 of 3: odd 0.500000 42949672960\n\
                    t 2 of 3: even 1.000000 42949672960\n";
    assert_eq!(String::from_utf8(outcome.printf).unwrap(), expected);
    let fault = bench.run("printer", &launch(1, 3, Arguments::default().u32(2))).unwrap_err();
    let Fault::Assertion(assertion) = &fault else { panic!("{fault}") };
    assert_eq!(assertion.message, "threadIdx.x < k");
    assert!(assertion.function.contains("printer"), "{fault}");
    assert_eq!(assertion.place.thread.tid, [2, 0, 0]);
}

/// With 32-bit addresses pointers and lists of arguments are as narrow.
#[test]
fn printf_with_narrow_addresses() {
    let text = ".version 6.3\n.target sm_75\n.address_size 32\n\
        .extern .func (.param .b32 result) vprintf(.param .b32 format, .param .b32 list);\n\
        .global .align 1 .b8 name[4] = {75, 101, 121, 0};\n\
        .global .align 1 .b8 format[13] = {37, 115, 32, 37, 108, 117, 32, 37, 108, 108, 117, 10};\n\
        .visible .entry k() {\n.local .align 8 .b8 list[16];\n.reg .b32 %r<9>;\n.reg .b64 %rd<2>;\n\
        mov.u32 %r1, list;\ncvta.local.u32 %r2, %r1;\nmov.u32 %r3, name;\n\
        cvta.global.u32 %r3, %r3;\nst.local.u32 [%r1], %r3;\nmov.u32 %r4, 7;\n\
        st.local.u32 [%r1+4], %r4;\nmov.u64 %rd1, 42949672960;\nst.local.u64 [%r1+8], %rd1;\n\
        mov.u32 %r5, format;\ncvta.global.u32 %r5, %r5;\n\
        {\n.param .b32 param0;\nst.param.b32 [param0], %r5;\n.param .b32 param1;\n\
        st.param.b32 [param1], %r2;\n.param .b32 retval0;\n\
        call (retval0), vprintf, (param0, param1);\nld.param.b32 %r6, [retval0];\n}\nret;\n}\n";
    let mut bench = Bench::new(text);
    let outcome = bench.run("k", &launch(1, 1, Arguments::default())).unwrap();
    assert_eq!(String::from_utf8(outcome.printf).unwrap(), "Key 7 42949672960\n");
}
