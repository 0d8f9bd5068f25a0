//! `mma`: every shape against the formulas of the PTX ISA and a second implementation.
//!
//! Formulas: PTX ISA 8.5, sections "Matrix Fragments for mma.m8n8k4" to "...for mma.m16n8k256".
//! `i` is the number of an element in a thread's fragment, `g` is `groupID` and `t` is
//! `threadID_in_group`.

use half::{bf16, f16};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Half, Single};
use strata_simt::Fault;

use crate::common::{Arguments, Bench, Random, launch};

/// One instruction: shape, types of D, A, B and C, and words before and after the types.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: &'static str,
    types: [&'static str; 4],
    before: &'static str,
    after: &'static str,
}

const fn case(shape: &'static str, types: [&'static str; 4]) -> Case {
    Case { shape, types, before: "", after: "" }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in ["m16n8k8", "m16n8k16"] {
        cases.push(case(shape, ["f32", "f16", "f16", "f32"]));
        cases.push(case(shape, ["f16", "f16", "f16", "f16"]));
        cases.push(case(shape, ["f32", "bf16", "bf16", "f32"]));
    }
    for shape in ["m16n8k4", "m16n8k8"] {
        cases.push(case(shape, ["f32", "tf32", "tf32", "f32"]));
    }
    for shape in ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"] {
        cases.push(case(shape, ["f64", "f64", "f64", "f64"]));
    }
    let integers = [
        (["m8n8k16", "m16n8k16", "m16n8k32"], "s8", "u8"),
        (["m8n8k32", "m16n8k32", "m16n8k64"], "s4", "u4"),
    ];
    for (shapes, signed, unsigned) in integers {
        for shape in shapes {
            for (a, b) in [(signed, signed), (signed, unsigned), (unsigned, unsigned)] {
                cases.push(case(shape, ["s32", a, b, "s32"]));
                cases.push(Case { before: ".satfinite", ..case(shape, ["s32", a, b, "s32"]) });
            }
        }
    }
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for after in [".xor.popc", ".and.popc"] {
            cases.push(Case { after, ..case(shape, ["s32", "b1", "b1", "s32"]) });
        }
    }
    cases
}

fn sizes(shape: &str) -> (usize, usize, usize) {
    let numbers: Vec<usize> =
        shape.split(|c: char| c.is_alphabetic()).filter_map(|n| n.parse().ok()).collect();
    (numbers[0], numbers[1], numbers[2])
}

fn bits(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "s8" | "u8" => 8,
        "s4" | "u4" => 4,
        _ => 1,
    }
}

/// Row and column of element `i` of A.
fn place_of_a(shape: &str, ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = (lane >> 2, lane % 4);
    let lower = |upper: bool| if upper { g } else { g + 8 };
    match (shape, ty) {
        ("m16n8k8", "f16" | "bf16") => (lower(i < 2), t * 2 + (i & 1)),
        ("m16n8k16", "f16" | "bf16") => (
            lower(i < 2 || (4..6).contains(&i)),
            if i < 4 { t * 2 + (i & 1) } else { t * 2 + (i & 1) + 8 },
        ),
        ("m16n8k4", "tf32" | "f64") => (lower(i == 0), t),
        ("m16n8k8", "tf32" | "f64") => (lower(i == 0 || i == 2), if i < 2 { t } else { t + 4 }),
        ("m8n8k4", "f64") => (g, t),
        ("m16n8k16", "f64") => {
            (lower(i & 1 == 0), if i & 1 == 0 { i * 2 + t } else { i * 2 - 2 + t })
        }
        ("m8n8k16", _) => (g, t * 4 + i),
        ("m16n8k16", _) => (lower(i < 4), t * 4 + (i & 3)),
        ("m16n8k32", "s8" | "u8") => (
            lower(i < 4 || (8..12).contains(&i)),
            if i < 8 { t * 4 + (i & 3) } else { t * 4 + (i & 3) + 16 },
        ),
        ("m8n8k32", _) => (g, t * 8 + i),
        ("m16n8k32", _) => (lower(i < 8), t * 8 + (i & 7)),
        ("m16n8k64", _) => (
            lower(i < 8 || (16..24).contains(&i)),
            if i < 16 { t * 8 + (i & 7) } else { t * 8 + (i & 7) + 32 },
        ),
        ("m8n8k128", _) => (g, t * 32 + i),
        ("m16n8k128", _) => (lower(i < 32), t * 32 + (i & 31)),
        ("m16n8k256", _) => (
            lower(i < 32 || (64..96).contains(&i)),
            if i < 64 { t * 32 + (i & 31) } else { t * 32 + (i & 31) + 128 },
        ),
        _ => panic!("no formula for {shape} {ty}"),
    }
}

/// Row and column of element `i` of B.
fn place_of_b(shape: &str, ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = (lane >> 2, lane % 4);
    let row = match (shape, ty) {
        ("m16n8k8", "f16" | "bf16") => t * 2 + i,
        ("m16n8k16", "f16" | "bf16") => t * 2 + (i & 1) + if i < 2 { 0 } else { 8 },
        ("m16n8k4" | "m8n8k4", _) => t,
        ("m16n8k8", _) => t + if i == 0 { 0 } else { 4 },
        ("m16n8k16", "f64") => t + i * 4,
        ("m8n8k16" | "m16n8k16", _) => t * 4 + i,
        ("m16n8k32", "s8" | "u8") => t * 4 + (i & 3) + if i < 4 { 0 } else { 16 },
        ("m8n8k32" | "m16n8k32", _) => t * 8 + i,
        ("m16n8k64", _) => t * 8 + (i & 7) + if i < 8 { 0 } else { 32 },
        ("m8n8k128" | "m16n8k128", _) => t * 32 + i,
        ("m16n8k256", _) => t * 32 + (i & 31) + if i < 32 { 0 } else { 128 },
        _ => panic!("no formula for {shape} {ty}"),
    };
    (row, g)
}

/// Row and column of element `i` of C and D.
fn place_of_c(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = (lane >> 2, lane % 4);
    (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))
}

/// A matrix as the words of a warp's registers, and as bit patterns.
struct Matrix {
    words: Vec<u32>,
    elements: Vec<Vec<u64>>,
}

impl Matrix {
    /// Random bits spread by `place`, which has to reach every element once.
    fn random(
        (rows, columns): (usize, usize),
        (ty, range): (&str, Range),
        random: &mut Random,
        place: impl Fn(usize, usize) -> (usize, usize),
    ) -> Self {
        let width = bits(ty);
        let each = rows * columns / 32;
        let registers = each * width / 32;
        let mut elements = vec![vec![u64::MAX; columns]; rows];
        let mut words = vec![0; registers * 32];
        let mut reached = 0;
        for lane in 0..32 {
            for i in 0..each {
                let (row, column) = place(lane, i);
                let value = number(ty, range, random);
                reached +=
                    usize::from(std::mem::replace(&mut elements[row][column], value) == u64::MAX);
                let first = i * width;
                words[first / 32 * 32 + lane] |= (value as u32) << (first % 32);
                if width == 64 {
                    words[(first / 32 + 1) * 32 + lane] = (value >> 32) as u32;
                }
            }
        }
        assert_eq!(reached, rows * columns, "the formula is a bijection");
        Self { words, elements }
    }
}

/// Where the numbers of a product lie.
#[derive(Clone, Copy, Debug)]
enum Range {
    /// Near one.
    Middle,
    /// Products near the smallest f32.
    Small,
    /// Smaller products: of f16 those of subnormal numbers.
    Least,
    /// Products near the largest f32.
    Large,
}

const RANGES: [Range; 4] = [Range::Middle, Range::Small, Range::Least, Range::Large];

impl Range {
    /// First field of exponents with 8 bits, and how many there are: of factors, and of f32.
    fn wide(self, ty: &str) -> (u32, u32) {
        match (self, ty) {
            (Self::Middle, _) => (0x70, 24),
            (Self::Small, "f32") | (Self::Least, _) => (0, 3),
            (Self::Small, _) => (52, 16),
            (Self::Large, "f32") => (230, 25),
            (Self::Large, _) => (176, 16),
        }
    }

    /// First field of exponents of f16, and how many there are.
    fn half(self) -> (u32, u32) {
        match self {
            Self::Middle => (8, 14),
            Self::Small => (0, 8),
            Self::Least => (0, 2),
            Self::Large => (24, 7),
        }
    }
}

/// Bits of a number: mostly of a range, so that sums do not always end in NaN.
fn number(ty: &str, range: Range, random: &mut Random) -> u64 {
    let any = random.next();
    if any == u64::MAX {
        return 0;
    }
    let wild = random.below(64) == 0;
    if random.below(16) == 0 {
        return 0;
    }
    let mut field = |(first, count): (u32, u32)| u64::from(first + random.below(count));
    match ty {
        "f64" if wild => any,
        "f64" => any & 0x800f_ffff_ffff_ffff | field((0x3f0, 24)) << 52,
        "f32" | "tf32" if wild => any & 0xffff_ffff,
        "f32" | "tf32" => any & 0x807f_ffff | field(range.wide(ty)) << 23,
        "bf16" if !wild => any & 0x807f | field(range.wide(ty)) << 7,
        "f16" if !wild => any & 0x83ff | field(range.half()) << 10,
        _ => any & ((1 << bits(ty)) - 1),
    }
}

/// A float of a narrow format as a double.
fn double(ty: &str, value: u64) -> Double {
    let exact = match ty {
        "f16" => f16::from_bits(value as u16).to_f64(),
        "bf16" => bf16::from_bits(value as u16).to_f64(),
        "tf32" => f64::from(f32::from_bits(value as u32 & 0xffff_e000)),
        "f32" => f64::from(f32::from_bits(value as u32)),
        _ => f64::from_bits(value),
    };
    Double::from_bits(exact.to_bits().into())
}

fn rounded(ty: &str, value: Double) -> u64 {
    let nan = value.is_nan();
    match ty {
        "f16" if nan => 0x7fff,
        "f32" if nan => 0x7fff_ffff,
        _ if nan => 0xfff8_0000_0000_0000,
        "f16" => {
            let mut lost = false;
            let half: Half = rustc_apfloat::FloatConvert::convert(value, &mut lost).value;
            half.to_bits() as u64
        }
        "f32" => {
            let mut lost = false;
            let single: Single = rustc_apfloat::FloatConvert::convert(value, &mut lost).value;
            single.to_bits() as u64
        }
        _ => value.to_bits() as u64,
    }
}

/// The exponent of subnormal numbers of a type.
fn least_exponent(ty: &str) -> i32 {
    if ty == "f16" { -14 } else { -126 }
}

/// The exponent of a number other than zero: of a type whose subnormal numbers have this one.
fn exponent(value: Double, least: i32) -> i32 {
    let field = (value.to_bits() as u64 >> 52 & 0x7ff) as i32;
    (field - 1023).max(least)
}

/// A sum as a tensor core computes it, on whole numbers: of every term what 25 bits behind the point
/// of the largest exponent hold (`docs/DEVIATIONS.md`, DEV-140).
fn tensor(d: &str, terms: &[(Double, Double)], c: Double, least: i32) -> u64 {
    let product = |&(x, y): &(Double, Double)| (x * y).value;
    let whole = terms.iter().map(product).fold(c, |sum, term| (sum + term).value);
    if !whole.is_finite() {
        return rounded(d, whole);
    }
    let exponents = terms.iter().filter(|(x, y)| !x.is_zero() && !y.is_zero());
    let exponents = exponents.map(|&(x, y)| exponent(x, least) + exponent(y, least));
    let own = (!c.is_zero()).then(|| exponent(c, if d == "f16" { -14 } else { -126 }));
    let Some(top) = exponents.chain(own).max() else { return 0 };
    // Division by a power of two is exact, and whole numbers of this size are.
    let unit = f64::exp2(f64::from(top - 25));
    let kept = |term: Double| (f64::from_bits(term.to_bits() as u64) / unit).trunc() as i64;
    let sum = kept(c) + terms.iter().map(product).map(kept).sum::<i64>();
    let value = Double::from_bits((sum as f64 * unit).to_bits().into());
    if d == "f16" || sum == 0 { rounded(d, value) } else { towards_zero(value) }
}

/// The f32 next to a number towards zero, but what is too large is infinite.
fn towards_zero(value: Double) -> u64 {
    if f64::from_bits(value.to_bits() as u64).abs() >= f64::exp2(128.0) {
        return rounded("f32", value);
    }
    let mut lost = false;
    let round = rustc_apfloat::Round::TowardZero;
    let single: Single = rustc_apfloat::FloatConvert::convert_r(value, round, &mut lost).value;
    single.to_bits() as u64
}

/// One element of D, by another implementation.
fn expected(case: &Case, a: &[u64], b: &[u64], c: u64) -> u64 {
    let [d, of_a, of_b, of_c] = case.types;
    let pairs = a.iter().zip(b);
    match d {
        "f64" => {
            let fused = pairs.fold(double("f64", c), |sum, (&x, &y)| {
                double("f64", x).mul_add(double("f64", y), sum).value
            });
            rounded(d, fused)
        }
        "f16" | "f32" => {
            let terms =
                pairs.map(|(&x, &y)| (double(of_a, x), double(of_b, y))).collect::<Vec<_>>();
            tensor(d, &terms, double(of_c, c), least_exponent(of_a))
        }
        _ => {
            let signed = |ty: &str, x: u64| {
                let shift = 128 - bits(ty);
                let x = i128::from(x);
                if ty.starts_with('s') { x << shift >> shift } else { x }
            };
            let start = i128::from(c as u32 as i32);
            let sum = pairs.fold(start, |sum, (&x, &y)| {
                sum + match case.after {
                    ".xor.popc" => i128::from(x != y),
                    _ => signed(of_a, x) * signed(of_b, y),
                }
            });
            let clamped = sum.clamp(i32::MIN.into(), i32::MAX.into());
            u64::from(if case.before.is_empty() { sum } else { clamped } as u32)
        }
    }
}

/// Names of registers as a vector.
fn vector(name: char, registers: usize) -> String {
    let names: Vec<String> = (0..registers).map(|n| format!("%{name}{n}")).collect();
    format!("{{{}}}", names.join(","))
}

/// A kernel of one warp that loads the words of A, B and C, executes an instruction and stores D.
fn kernel(case: &Case, [a, b, c]: [usize; 3]) -> String {
    let wide = case.types[0] == "f64";
    let words = if wide { 2 } else { 1 };
    let mut body = Vec::new();
    let mut at = 0;
    for (name, count) in [('a', a), ('b', b), ('c', c)] {
        for n in 0..count / words {
            let (low, high) = (at * 128, (at + 1) * 128);
            if wide {
                body.push(format!(
                    "ld.global.b32 %lo, [%in+{low}];\nld.global.b32 %hi, [%in+{high}];\n"
                ));
                body.push(format!("mov.b64 %{name}{n}, {{%lo,%hi}};\n"));
            } else {
                body.push(format!("ld.global.b32 %{name}{n}, [%in+{low}];\n"));
            }
            at += words;
        }
    }
    let Case { shape, types: [d, ta, tb, tc], before, after } = case;
    let [va, vb, vc, vd] =
        [('a', a), ('b', b), ('c', c), ('d', c)].map(|(n, k)| vector(n, k / words));
    body.push(format!(
        "mma.sync.aligned.{shape}.row.col{before}.{d}.{ta}.{tb}.{tc}{after} {vd}, {va}, {vb}, {vc};\n"
    ));
    for n in 0..c / words {
        if wide {
            body.push(format!(
                "mov.b64 {{%lo,%hi}}, %d{n};\nst.global.b32 [%out+{}], %lo;\n",
                n * 256
            ));
            body.push(format!("st.global.b32 [%out+{}], %hi;\n", n * 256 + 128));
        } else {
            body.push(format!("st.global.b32 [%out+{}], %d{n};\n", n * 128));
        }
    }
    let body = body.concat();
    let ty = if wide { "b64" } else { "b32" };
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out) {{\n\
         .reg .{ty} %a<9>, %b<9>, %c<9>, %d<9>;\n.reg .b32 %lo, %hi, %thread;\n\
         .reg .b64 %in, %out, %at;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %thread, %tid.x;\n\
         mul.wide.u32 %at, %thread, 4;\nadd.u64 %in, %in, %at;\nadd.u64 %out, %out, %at;\n\
         {body}ret;\n}}\n"
    )
}

#[test]
fn every_shape_agrees_with_the_manual_and_a_second_implementation() {
    for (number, case) in cases().into_iter().enumerate() {
        for (round, range) in (0..).zip(RANGES) {
            let seed = 1000 * number as u64 + round;
            let mut random = Random::new(seed);
            let (m, n, k) = sizes(case.shape);
            let [d, of_a, of_b, of_c] = case.types;
            let a = Matrix::random((m, k), (of_a, range), &mut random, |lane, i| {
                place_of_a(case.shape, of_a, lane, i)
            });
            let b = Matrix::random((k, n), (of_b, range), &mut random, |lane, i| {
                place_of_b(case.shape, of_b, lane, i)
            });
            let c = Matrix::random((m, n), (of_c, range), &mut random, place_of_c);
            let counts = [&a, &b, &c].map(|matrix| matrix.words.len() / 32);
            let mut bench = Bench::new(&kernel(&case, counts));
            let words = [&a.words[..], &b.words, &c.words].concat();
            let input = bench.words("in", &words);
            let output = bench.words("out", &vec![0; c.words.len()]);
            let arguments = Arguments::default().u64(input).u64(output);
            bench.run("k", &launch(1, 32, arguments)).unwrap();
            let found = bench.read(output, c.words.len());
            for lane in 0..32 {
                for i in 0..m * n / 32 {
                    let (row, column) = place_of_c(lane, i);
                    let column_of_b: Vec<u64> = b.elements.iter().map(|row| row[column]).collect();
                    let want =
                        expected(&case, &a.elements[row], &column_of_b, c.elements[row][column]);
                    let first = i * bits(d);
                    let low = u64::from(found[first / 32 * 32 + lane]) >> (first % 32);
                    let got = match bits(d) {
                        16 => low & 0xffff,
                        64 => low | u64::from(found[(first / 32 + 1) * 32 + lane]) << 32,
                        _ => low,
                    };
                    assert_eq!(
                        got, want,
                        "{case:?}, {range:?}, seed {seed}, row {row}, column {column}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_warp_that_is_not_whole_faults() {
    let case = case("m16n8k8", ["f32", "f16", "f16", "f32"]);
    let mut bench = Bench::new(&kernel(&case, [2, 1, 4]));
    let buffer = bench.words("in", &[0; 512]);
    let arguments = || Arguments::default().u64(buffer).u64(buffer);
    let fault = bench.run("k", &launch(1, 40, arguments())).unwrap_err();
    assert!(matches!(fault, Fault::NotAWholeWarp { present: 0xff, .. }), "{fault}");
    assert!(bench.run("k", &launch(1, 64, arguments())).is_ok());
}
