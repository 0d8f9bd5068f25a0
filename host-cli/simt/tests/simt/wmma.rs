//! `ldmatrix` and `wmma`: matrices between memory and registers, and kernels in the style of nvcc.

use half::{bf16, f16};
use strata_simt::Fault;

use crate::common::{Arguments, Bench, Random, launch};

/// A kernel of one warp with two buffers, `%in` and `%out`, its lane in `%lane` and 1 KiB of
/// shared memory, which the warp fills from `%in`.
fn kernel(registers: &str, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out) {{\n\
         .reg .b32 %r<40>;\n.reg .b64 %rd<9>;\n.reg .b64 %in, %out;\n.reg .b32 %lane;\n{registers}\n\
         .shared .align 128 .b8 s[1024];\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\n\
         mul.wide.u32 %rd0, %lane, 32;\nadd.u64 %rd0, %rd0, %in;\n\
         ld.global.v4.u32 {{%r0,%r1,%r2,%r3}}, [%rd0];\n\
         ld.global.v4.u32 {{%r4,%r5,%r6,%r7}}, [%rd0+16];\n\
         mov.u32 %r8, s;\nshl.b32 %r9, %lane, 5;\nadd.u32 %r9, %r9, %r8;\n\
         st.shared.v4.u32 [%r9], {{%r0,%r1,%r2,%r3}};\n\
         st.shared.v4.u32 [%r9+16], {{%r4,%r5,%r6,%r7}};\nbar.sync 0;\n\
         mul.wide.u32 %rd1, %lane, 4;\nadd.u64 %rd1, %rd1, %out;\n\
         {body}\nret;\n}}\n"
    )
}

/// Halves of a buffer of words.
fn halves(words: &[u32]) -> Vec<u16> {
    words.iter().flat_map(|word| [*word as u16, (*word >> 16) as u16]).collect()
}

#[test]
fn ldmatrix_gives_each_lane_its_halves() {
    let mut random = Random::new(7);
    let words: Vec<u32> = (0..256).map(|_| random.next() as u32).collect();
    let memory = halves(&words);
    for (count, trans) in [(1, ""), (2, ""), (4, ""), (1, ".trans"), (2, ".trans"), (4, ".trans")] {
        let names: Vec<String> = (10..10 + count).map(|n| format!("%r{n}")).collect();
        let stores: Vec<String> = (0..count)
            .map(|n| format!("st.global.u32 [%rd1+{}], %r{};\n", n * 128, n + 10))
            .collect();
        let stores = stores.concat();
        // Rows in reverse, with 32 bytes between them: lane `l` names row `31 - l`. Lanes that name
        // no row give no address of shared memory.
        let body = format!(
            "sub.u32 %r20, 31, %lane;\nshl.b32 %r20, %r20, 5;\nadd.u32 %r20, %r20, %r8;\n\
             .reg .pred %p;\nsetp.ge.u32 %p, %lane, {};\n@%p mov.u32 %r20, 0xfffff0;\n\
             ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, [%r20];\n{stores}",
            8 * count,
            names.join(","),
        );
        let mut bench = Bench::new(&kernel("", &body));
        let (input, output) = (bench.words("in", &words), bench.words("out", &[0; 128]));
        let arguments = Arguments::default().u64(input).u64(output);
        bench.run("k", &launch(1, 32, arguments)).unwrap();
        let found = halves(&bench.read(output, 32 * count));
        for matrix in 0..count {
            for lane in 0..32 {
                for half in 0..2 {
                    // Row of thread `l` is `l / 4`, its elements `2 * (l % 4)` and the next.
                    let (mut row, mut column) = (lane / 4, 2 * (lane % 4) + half);
                    if !trans.is_empty() {
                        (row, column) = (column, row);
                    }
                    let want = memory[(31 - (8 * matrix + row)) * 16 + column];
                    let got = found[(matrix * 32 + lane) * 2 + half];
                    assert_eq!(got, want, "x{count}{trans} matrix {matrix} lane {lane}");
                }
            }
        }
    }
}

#[test]
fn stmatrix_and_movmatrix_undo_ldmatrix() {
    let mut random = Random::new(8);
    let words: Vec<u32> = (0..256).map(|_| random.next() as u32).collect();
    let names = "{%r10,%r11,%r12,%r13}";
    let turn: Vec<String> = (10..14)
        .map(|n| format!("movmatrix.sync.aligned.m8n8.trans.b16 %r{n}, %r{n};\n"))
        .collect();
    let turn = turn.concat();
    // Loads 512 bytes, stores them behind, and copies what is behind out.
    for (load, between, store) in [
        ("", "", ""),
        (".trans", "", ".trans"),
        (".trans", turn.as_str(), ""),
        ("", turn.as_str(), ".trans"),
    ] {
        let all = format!("stmatrix.sync.aligned.m8n8.x4{store}.shared.b16 [%r21], {names};\n");
        let each: Vec<String> = (0..4)
            .map(|n| {
                format!(
                    "shl.b32 %r22, %lane, 4;\nand.b32 %r22, %r22, 127;\n\
                     add.u32 %r22, %r22, {};\nadd.u32 %r22, %r22, %r8;\n\
                     stmatrix.sync.aligned.m8n8.x1{store}.shared.b16 [%r22], {{%r{}}};\n",
                    512 + n * 128,
                    10 + n
                )
            })
            .collect();
        for stores in [all, each.concat()] {
            let body = format!(
                "shl.b32 %r20, %lane, 4;\nadd.u32 %r20, %r20, %r8;\nadd.u32 %r21, %r20, 512;\n\
                 ldmatrix.sync.aligned.m8n8.x4{load}.shared.b16 {names}, [%r20];\n{between}\
                 {stores}ld.shared.v4.u32 {{%r0,%r1,%r2,%r3}}, [%r21];\n\
                 mul.wide.u32 %rd2, %lane, 16;\nadd.u64 %rd2, %rd2, %out;\n\
                 st.global.v4.u32 [%rd2], {{%r0,%r1,%r2,%r3}};"
            );
            let mut bench = Bench::new(&kernel("", &body));
            let (input, output) = (bench.words("in", &words), bench.words("out", &[0; 128]));
            let arguments = Arguments::default().u64(input).u64(output);
            bench.run("k", &launch(1, 32, arguments)).unwrap();
            assert_eq!(bench.read(output, 128), words[..128], "{body}");
        }
    }
}

#[test]
fn matrices_outside_of_memory_fault_with_their_place() {
    let body = "add.u32 %r20, %r9, 512;\n\
                ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r20];";
    let fault = |body: &str| {
        let mut bench = Bench::new(&kernel("", body));
        let (input, output) = (bench.words("in", &[0; 256]), bench.words("out", &[0; 128]));
        let arguments = Arguments::default().u64(input).u64(output);
        bench.run("k", &launch(1, 32, arguments)).unwrap_err()
    };
    // Lane 16 is the first whose 16 bytes lie beyond 1024.
    let text = fault(body).to_string();
    assert!(text.contains("out-of-bounds read of 16 bytes at shared address 0x400"), "{text}");
    assert!(text.contains("thread (16, 0, 0)"), "{text}");
    let text = fault(&body.replace("512", "8")).to_string();
    assert!(text.contains("misaligned read of 16 bytes"), "{text}");
    let load = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 \
                {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r8], %r18;";
    let text = fault(&format!("mov.u32 %r18, 40;\n{load}")).to_string();
    assert!(text.contains("out-of-bounds read"), "{text}");
    let text = fault(&format!("mov.u32 %r18, %lane;\n{load}")).to_string();
    assert!(text.contains("lane 1 has another value of the stride"), "{text}");
    let text = fault(&format!("mov.u32 %r18, 17;\n{load}")).to_string();
    assert!(text.contains("a stride of 17 elements"), "{text}");
    let text = fault(&format!("add.u32 %r8, %r8, %lane;\n{load}")).to_string();
    assert!(text.contains("lane 1 has another value of the address"), "{text}");
    let diverges = "setp.lt.u32 %p, %lane, 3;\n@%p bra out;\nmov.u32 %r18, 16;\n";
    let fault = fault(&format!(".reg .pred %p;\n{diverges}{load}\nout:"));
    assert!(matches!(fault, Fault::NotAWholeWarp { present: 0xffff_fff8, .. }), "{fault}");
}

/// One kind of `wmma`: shape, element of A and B, element of C and D, registers of each.
struct Kind {
    shape: (usize, usize, usize),
    factor: &'static str,
    sum: &'static str,
    registers: [usize; 3],
}

fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    let shapes = [(16, 16, 16), (8, 32, 16), (32, 8, 16)];
    for (shape, bytes, wide) in
        [(shapes[0], [2, 2], [4, 4]), (shapes[1], [1, 4], [2, 8]), (shapes[2], [4, 1], [8, 2])]
    {
        for (factor, sum, registers) in [
            ("f16", "f32", [8, 8, 8]),
            ("f16", "f16", [8, 8, 4]),
            ("bf16", "f32", [wide[0], wide[1], 8]),
            ("s8", "s32", [bytes[0], bytes[1], 8]),
            ("u8", "s32", [bytes[0], bytes[1], 8]),
        ] {
            kinds.push(Kind { shape, factor, sum, registers });
        }
    }
    kinds.push(Kind { shape: (16, 16, 8), factor: "tf32", sum: "f32", registers: [4, 4, 8] });
    kinds.push(Kind { shape: (8, 8, 4), factor: "f64", sum: "f64", registers: [1, 1, 2] });
    for factor in ["s4", "u4"] {
        kinds.push(Kind { shape: (8, 8, 32), factor, sum: "s32", registers: [1, 1, 2] });
    }
    kinds.push(Kind { shape: (8, 8, 128), factor: "b1", sum: "s32", registers: [1, 1, 2] });
    kinds
}

fn bits(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "s8" | "u8" => 8,
        "b1" => 1,
        _ => 4,
    }
}

/// A small whole number in a type.
fn encoded(ty: &str, value: i64) -> u64 {
    match ty {
        "f64" => (value as f64).to_bits(),
        "f32" | "tf32" => u64::from((value as f32).to_bits()),
        "f16" => u64::from(f16::from_f64(value as f64).to_bits()),
        "bf16" => u64::from(bf16::from_f64(value as f64).to_bits()),
        _ => value as u64 & (u64::MAX >> (64 - bits(ty))),
    }
}

/// A matrix in memory, its lines `stride` elements apart. `row`: lines are rows.
fn in_memory(matrix: &[Vec<i64>], ty: &str, (row, stride): (bool, usize)) -> Vec<u32> {
    let (rows, columns) = (matrix.len(), matrix[0].len());
    let lines = if row { rows } else { columns };
    let mut words = vec![0; (lines * stride * bits(ty)).div_ceil(32)];
    for (r, values) in matrix.iter().enumerate() {
        for (c, &value) in values.iter().enumerate() {
            let at = if row { r * stride + c } else { c * stride + r } * bits(ty);
            let value = encoded(ty, value);
            words[at / 32] |= (value as u32) << (at % 32);
            if bits(ty) == 64 {
                words[at / 32 + 1] = (value >> 32) as u32;
            }
        }
    }
    words
}

fn vector(name: &str, registers: usize) -> String {
    let names: Vec<String> = (0..registers).map(|n| format!("%{name}{n}")).collect();
    format!("{{{}}}", names.join(","))
}

/// D = A * B + C by `wmma` with the layouts of A, B, C and D and a padding of each line.
fn multiply(kind: &Kind, rows: [bool; 4], padding: usize, random: &mut Random) {
    let Kind { shape: (m, n, k), factor, sum, registers } = *kind;
    let least = match factor {
        "u8" | "u4" | "b1" => 0,
        _ => -4,
    };
    let mut matrix = |rows: usize, columns: usize, least: i64, most: i64| -> Vec<Vec<i64>> {
        let mut value = || least + i64::from(random.below((most - least + 1) as u32));
        (0..rows).map(|_| (0..columns).map(|_| value()).collect()).collect()
    };
    let most = if factor == "b1" { 1 } else { 7 };
    let (a, b) = (matrix(m, k, least, most), matrix(k, n, least, most));
    let c = matrix(m, n, -50, 50);
    let stride = |row: bool, (lines, length): (usize, usize), ty: &str| {
        (if row { length } else { lines }) + padding * 128 / bits(ty)
    };
    let strides = [
        stride(rows[0], (m, k), factor),
        stride(rows[1], (k, n), factor),
        stride(rows[2], (m, n), sum),
        stride(rows[3], (m, n), sum),
    ];
    let [ra, rb, rc] = registers;
    let name = |row: bool| if row { "row" } else { "col" };
    let [la, lb, lc, ld] = rows.map(name);
    let shape = format!("m{m}n{n}k{k}");
    let (operation, types) = match factor {
        "f16" => ("", format!("{sum}.{sum}")),
        "b1" => (".xor.popc", format!("{sum}.{factor}.{factor}.{sum}")),
        _ => ("", format!("{sum}.{factor}.{factor}.{sum}")),
    };
    let ty = if factor == "f64" { "b64" } else { "b32" };
    let [va, vb, vc, vd] =
        [("a", ra), ("b", rb), ("c", rc), ("d", rc)].map(|(name, count)| vector(name, count));
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {{\n\
         .reg .{ty} %a<9>, %b<9>, %c<9>, %d<9>;\n.reg .b64 %p<5>;\n.reg .b32 %s<5>;\n\
         ld.param.u64 %p0, [pa];\nld.param.u64 %p1, [pb];\nld.param.u64 %p2, [pc];\n\
         ld.param.u64 %p3, [pd];\n\
         mov.u32 %s0, {};\nmov.u32 %s1, {};\nmov.u32 %s2, {};\nmov.u32 %s3, {};\n\
         wmma.load.a.sync.aligned.{la}.{shape}.global.{factor} {va}, [%p0], %s0;\n\
         wmma.load.b.sync.aligned.{lb}.{shape}.global.{factor} {vb}, [%p1], %s1;\n\
         wmma.load.c.sync.aligned.{lc}.{shape}.{sum} {vc}, [%p2], %s2;\n\
         wmma.mma{operation}.sync.aligned.{la}.{lb}.{shape}.{types} {vd}, {va}, {vb}, {vc};\n\
         wmma.store.d.sync.aligned.{ld}.{shape}.global.{sum} [%p3], {vd}, %s3;\nret;\n}}\n",
        strides[0], strides[1], strides[2], strides[3],
    );
    let product: Vec<Vec<i64>> = (0..m)
        .map(|row| {
            let one = |column: usize| {
                let each = (0..k).map(|at| (a[row][at], b[at][column]));
                let term = |(x, y)| if factor == "b1" { x ^ y } else { x * y };
                c[row][column] + each.map(term).sum::<i64>()
            };
            (0..n).map(one).collect()
        })
        .collect();
    let want = in_memory(&product, sum, (rows[3], strides[3]));
    let mut bench = Bench::new(&text);
    let pa = bench.words("a", &in_memory(&a, factor, (rows[0], strides[0])));
    let pb = bench.words("b", &in_memory(&b, factor, (rows[1], strides[1])));
    let pc = bench.words("c", &in_memory(&c, sum, (rows[2], strides[2])));
    let pd = bench.words("d", &vec![0; want.len()]);
    let arguments = Arguments::default().u64(pa).u64(pb).u64(pc).u64(pd);
    bench.run("k", &launch(1, 32, arguments)).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    assert_eq!(bench.read(pd, want.len()), want, "{text}");
}

#[test]
fn every_wmma_multiplies_matrices_in_every_layout() {
    let mut random = Random::new(11);
    for kind in kinds() {
        let narrow = bits(kind.factor) <= 4;
        for layouts in 0..16 {
            let mut rows = [0, 1, 2, 3].map(|bit| layouts >> bit & 1 == 0);
            if narrow {
                (rows[0], rows[1]) = (true, false);
            }
            multiply(&kind, rows, layouts % 3, &mut random);
        }
    }
}
