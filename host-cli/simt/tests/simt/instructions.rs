//! Single instructions, end to end from PTX text, against independent expectations: under a full
//! mask, under a partial one, and with results that must leave the other lanes alone.

#![expect(clippy::float_cmp, reason = "results are compared bit for bit")]

use crate::common::{Arguments, Bench, Random, launch};

/// Where the body leaves its result.
#[derive(Clone, Copy)]
enum Out {
    /// `%dh`.
    Half,
    /// `%d`.
    Word,
    /// `%dd`.
    Wide,
    /// `%p`.
    Pred,
    /// `%p` in bit 0, `%q` in bit 1.
    Both,
}

/// A kernel that runs `body` on `%a %b %c` (32 bits), `%ah %bh %ch` (16) and `%ad %bd %cd` (64).
/// The threads whose index is a multiple of 3 skip it when `partial`, and keep 0x5555.
fn kernel(body: &str, out: Out, partial: bool) -> String {
    let skip = if partial { "@%skip bra DONE;" } else { "" };
    let result = match out {
        Out::Half => "cvt.u64.u16 %dd, %dh;",
        Out::Word => "cvt.u64.u32 %dd, %d;",
        Out::Wide => "",
        Out::Pred => "selp.b64 %dd, 1, 0, %p;",
        Out::Both => {
            "selp.b32 %d, 1, 0, %p; selp.b32 %e, 2, 0, %q; add.u32 %d, %d, %e; \
                      cvt.u64.u32 %dd, %d;"
        }
    };
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out) {{\n\
         .reg .pred %p, %q, %r, %skip;\n.reg .b16 %ah, %bh, %ch, %dh, %eh;\n\
         .reg .b32 %a, %b, %c, %d, %e, %t;\n.reg .b64 %ad, %bd, %cd, %dd, %ed, %in, %out, %o;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n\
         mov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 24;\nadd.u64 %in, %in, %o;\n\
         mul.wide.u32 %o, %t, 8;\nadd.u64 %out, %out, %o;\n\
         ld.global.u64 %ad, [%in];\nld.global.u64 %bd, [%in+8];\nld.global.u64 %cd, [%in+16];\n\
         cvt.u32.u64 %a, %ad;\ncvt.u32.u64 %b, %bd;\ncvt.u32.u64 %c, %cd;\n\
         cvt.u16.u64 %ah, %ad;\ncvt.u16.u64 %bh, %bd;\ncvt.u16.u64 %ch, %cd;\n\
         setp.lt.u32 %r, %c, 0x80000000;\n\
         mov.b64 %dd, 0x5555;\nrem.u32 %t, %t, 3;\nsetp.eq.u32 %skip, %t, 0;\n{skip}\n\
         {body}\n{result}\nDONE:\nst.global.u64 [%out], %dd;\nret;\n}}\n"
    )
}

/// Runs a body for every input.
fn evaluate(body: &str, out: Out, inputs: &[[u64; 3]], partial: bool) -> Vec<u64> {
    let mut bench = Bench::new(&kernel(body, out, partial));
    let words: Vec<u32> =
        inputs.iter().flatten().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
    let pin = bench.words("in", &words);
    let pout = bench.words("out", &vec![0; 2 * inputs.len()]);
    let arguments = Arguments::default().u64(pin).u64(pout);
    bench.run("k", &launch(1, inputs.len() as u32, arguments)).unwrap_or_else(|f| panic!("{f}"));
    let result = bench.read(pout, 2 * inputs.len());
    result.as_chunks::<2>().0.iter().map(|&[l, h]| u64::from(l) | u64::from(h) << 32).collect()
}

const EDGES: [u64; 20] = [
    0,
    1,
    2,
    31,
    32,
    33,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Edges with each other, and random bits.
fn integers(seed: u64) -> Vec<[u64; 3]> {
    let mut random = Random::new(seed);
    let mut pick = || {
        if random.below(3) == 0 {
            EDGES[random.below(20) as usize]
        } else {
            random.next() >> random.below(64)
        }
    };
    (0..250).map(|_| [pick(), pick(), pick()]).collect()
}

type Expected = fn(u64, u64, u64) -> u64;

/// Checks a table of instructions, each under both masks.
fn check(inputs: &[[u64; 3]], table: &[(&str, Out, Expected)]) {
    for &(body, out, expected) in table {
        for partial in [false, true] {
            let results = evaluate(body, out, inputs, partial);
            for (lane, (&[a, b, c], result)) in inputs.iter().zip(results).enumerate() {
                let skipped = partial && lane % 3 == 0;
                let expected = if skipped { 0x5555 } else { expected(a, b, c) };
                assert_eq!(
                    result, expected,
                    "{body} partial {partial} lane {lane}: a {a:#x} b {b:#x} c {c:#x}: \
                     {result:#x} instead of {expected:#x}"
                );
            }
        }
    }
}

fn w(x: i64) -> u64 {
    u64::from(x as u32)
}

fn s(x: u64) -> i64 {
    i64::from(x as i32)
}

fn sh(x: u64) -> i64 {
    i64::from(x as i16)
}

fn h(x: i64) -> u64 {
    u64::from(x as u16)
}

fn u(x: u64) -> u64 {
    x & 0xffff_ffff
}

#[test]
fn integer_arithmetic() {
    use Out::{Half, Wide, Word};
    check(
        &integers(10),
        &[
            ("add.s32 %d, %a, %b;", Word, |a, b, _| w(s(a) + s(b))),
            ("add.sat.s32 %d, %a, %b;", Word, |a, b, _| {
                w((s(a) + s(b)).clamp(-(1 << 31), (1 << 31) - 1))
            }),
            ("sub.sat.s32 %d, %a, -5;", Word, |a, _, _| {
                w((s(a) + 5).clamp(-(1 << 31), (1 << 31) - 1))
            }),
            ("sub.u16 %dh, %ah, %bh;", Half, |a, b, _| h(sh(a) - sh(b))),
            ("add.u64 %dd, %ad, %bd;", Wide, |a, b, _| a.wrapping_add(b)),
            ("mul.lo.s32 %d, %a, %b;", Word, |a, b, _| w(s(a).wrapping_mul(s(b)))),
            ("mul.hi.s32 %d, %a, %b;", Word, |a, b, _| w((s(a) * s(b)) >> 32)),
            ("mul.hi.u32 %d, %a, %b;", Word, |a, b, _| (u(a) * u(b)) >> 32),
            ("mul.wide.s32 %dd, %a, %b;", Wide, |a, b, _| (s(a) * s(b)) as u64),
            ("mul.wide.u16 %d, %ah, %bh;", Word, |a, b, _| (a & 0xffff) * (b & 0xffff)),
            ("mul.wide.s16 %d, %ah, -3;", Word, |a, _, _| w(sh(a) * -3)),
            ("mul.hi.u64 %dd, %ad, %bd;", Wide, |a, b, _| {
                ((u128::from(a) * u128::from(b)) >> 64) as u64
            }),
            ("mul.hi.s64 %dd, %ad, %bd;", Wide, |a, b, _| {
                ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
            }),
            ("mad.lo.s32 %d, %a, %b, %c;", Word, |a, b, c| {
                w(s(a).wrapping_mul(s(b)).wrapping_add(s(c)))
            }),
            ("mad.hi.s32 %d, %a, %b, %c;", Word, |a, b, c| w(((s(a) * s(b)) >> 32) + s(c))),
            ("mad.wide.u32 %dd, %a, %b, %cd;", Wide, |a, b, c| (u(a) * u(b)).wrapping_add(c)),
            ("mad.lo.u64 %dd, %ad, 10, %cd;", Wide, |a, _, c| a.wrapping_mul(10).wrapping_add(c)),
            ("mul24.lo.s32 %d, %a, %b;", Word, |a, b, _| {
                let t = |x: u64| s(x << 8) >> 8;
                w(t(a) * t(b))
            }),
            ("mad24.hi.u32 %d, %a, %b, %c;", Word, |a, b, c| {
                u((((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16).wrapping_add(u(c)))
            }),
            ("neg.s32 %d, %a;", Word, |a, _, _| w(-s(a))),
            ("abs.s32 %d, %a;", Word, |a, _, _| w(s(a).abs())),
            ("abs.s64 %dd, %ad;", Wide, |a, _, _| (a as i64).wrapping_abs() as u64),
            ("min.s32 %d, %a, %b;", Word, |a, b, _| w(s(a).min(s(b)))),
            ("max.u32 %d, %a, %b;", Word, |a, b, _| u(a).max(u(b))),
            ("min.s16 %dh, %ah, %bh;", Half, |a, b, _| h(sh(a).min(sh(b)))),
            ("max.s64 %dd, %ad, %bd;", Wide, |a, b, _| (a as i64).max(b as i64) as u64),
            ("sad.u32 %d, %a, %b, %c;", Word, |a, b, c| u(u(a).abs_diff(u(b)) + u(c))),
            ("dp4a.s32.u32 %d, %a, %b, %c;", Word, |a, b, c| {
                let byte = |x: u64, i: u32| (x >> (8 * i)) & 0xff;
                let sum: i64 =
                    (0..4).map(|i| i64::from(byte(a, i) as i8) * byte(b, i) as i64).sum();
                w(sum + s(c))
            }),
            ("dp2a.hi.u32.s32 %d, %a, %b, %c;", Word, |a, b, c| {
                let half = |i: u32| ((a >> (16 * i)) & 0xffff) as i64;
                let byte = |i: u32| i64::from((b >> (8 * i)) as i8);
                w(half(0) * byte(2) + half(1) * byte(3) + s(c))
            }),
        ],
    );
}

#[test]
fn division_never_traps() {
    use Out::{Wide, Word};
    let mut inputs = integers(11);
    for input in inputs.iter_mut().step_by(5) {
        input[1] = 0;
    }
    check(
        &inputs,
        &[
            (
                "div.s32 %d, %a, %b;",
                Word,
                |a, b, _| {
                    if u(b) == 0 { 0xffff_ffff } else { w(s(a) / s(b)) }
                },
            ),
            ("div.u32 %d, %a, %b;", Word, |a, b, _| u(a).checked_div(u(b)).unwrap_or(u(!0))),
            ("rem.s32 %d, %a, %b;", Word, |a, b, _| if u(b) == 0 { u(a) } else { w(s(a) % s(b)) }),
            ("rem.u64 %dd, %ad, %bd;", Wide, |a, b, _| a.checked_rem(b).unwrap_or(a)),
            ("div.s64 %dd, %ad, %bd;", Wide, |a, b, _| {
                if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }
            }),
        ],
    );
}

#[test]
fn carries_chain_across_instructions() {
    use Out::Wide;
    let split = "mov.b64 {%a, %b}, %ad; mov.b64 {%c, %d}, %bd; ";
    let join = " mov.b64 %dd, {%a, %b};";
    let body = |middle: &str| format!("{split}{middle}{join}");
    let add = body("add.cc.u32 %a, %a, %c; addc.u32 %b, %b, %d;");
    let sub = body("sub.cc.u32 %a, %a, %c; subc.u32 %b, %b, %d;");
    // (a + b + carry of a previous addition of all ones and one)
    let chain = body("add.cc.u32 %e, -1, 1; addc.cc.u32 %a, %a, %c; addc.u32 %b, %b, %d;");
    let mad = "mov.b64 {%a, %b}, %ad; mov.b64 {%c, %d}, %cd; mov.u32 %e, 77; \
               mad.lo.cc.u32 %c, %a, %e, %c; madc.hi.u32 %d, %a, %e, %d; \
               mad.lo.u32 %d, %b, %e, %d; mov.b64 %dd, {%c, %d};";
    let wide = "add.cc.u64 %ed, %ad, %bd; addc.u64 %dd, 0, 0;";
    check(
        &integers(12),
        &[
            (add.as_str(), Wide, |a, b, _| a.wrapping_add(b)),
            (sub.as_str(), Wide, |a, b, _| a.wrapping_sub(b)),
            (chain.as_str(), Wide, |a, b, _| a.wrapping_add(b).wrapping_add(1)),
            (mad, Wide, |a, _, c| a.wrapping_mul(77).wrapping_add(c)),
            (wide, Wide, |a, b, _| u64::from(a.checked_add(b).is_none())),
        ],
    );
}

/// One flag serves sums and differences: after a subtraction it says that nothing was borrowed, as
/// in machine code, where `a - b` is `a + ~b + 1`.
#[test]
fn sums_and_differences_share_the_carry() {
    use Out::Wide;
    let split = "mov.b64 {%a, %b}, %ad; mov.b64 {%c, %d}, %bd; ";
    let join = " mov.b64 %dd, {%a, %b};";
    let body = |middle: &str| format!("{split}{middle}{join}");
    let difference_first = body("sub.cc.u32 %a, %a, %c; addc.u32 %b, %b, %d;");
    let sum_first = body("add.cc.u32 %a, %a, %c; subc.u32 %b, %b, %d;");
    let product_first = body("mad.lo.cc.u32 %a, %a, %c, %c; subc.u32 %b, %b, %d;");
    let three = body("sub.cc.s32 %a, %a, %c; subc.cc.s32 %b, %b, %d; madc.hi.u32 %b, %a, %c, 5;");
    check(
        &integers(14),
        &[
            (difference_first.as_str(), Wide, |a, b, _| {
                let kept = u64::from(u(a) >= u(b));
                u(a.wrapping_sub(b)) | ((a >> 32) + (b >> 32) + kept) << 32
            }),
            (sum_first.as_str(), Wide, |a, b, _| {
                let carry = (u(a) + u(b)) >> 32;
                let high = (a >> 32).wrapping_sub(b >> 32).wrapping_sub(1).wrapping_add(carry);
                u(a.wrapping_add(b)) | high << 32
            }),
            (product_first.as_str(), Wide, |a, b, _| {
                let sum = u(u(a).wrapping_mul(u(b))) + u(b);
                let high = (a >> 32).wrapping_sub(b >> 32).wrapping_sub(1).wrapping_add(sum >> 32);
                u(sum) | high << 32
            }),
            (three.as_str(), Wide, |a, b, _| {
                let difference = u(a.wrapping_sub(b));
                let kept = u64::from(a >= b);
                difference | u(((difference * u(b)) >> 32) + 5 + kept) << 32
            }),
            ("sub.cc.u64 %ed, %ad, %bd; addc.u64 %dd, %cd, 0;", Wide, |a, b, c| {
                c.wrapping_add(u64::from(a >= b))
            }),
            ("add.cc.u64 %ed, %ad, %bd; subc.u64 %dd, %cd, 0;", Wide, |a, b, c| {
                c.wrapping_sub(u64::from(a.checked_add(b).is_some()))
            }),
            (
                "sub.cc.u64 %ed, %ad, %bd; subc.cc.u64 %ed, %bd, %cd; addc.s64 %dd, 7, 0;",
                Wide,
                |a, b, c| {
                    let borrow = u128::from(a < b);
                    7 + u64::from(u128::from(b) >= u128::from(c) + borrow)
                },
            ),
        ],
    );
}

/// Each half has its own comparison and its own result of 16 bits, whatever the result's type:
/// machine code has one instruction for it, `HSET2`.
#[test]
fn set_of_packed_halves_packs_a_result_per_half() {
    // High and low half of each: 1.0 and -2.0, 2.0 and 1.0; as binary16 and as bfloat16.
    let (a, b) = (0x3c00_c000, 0x4000_3c00);
    let (ab, bb) = (0x3f80_c000, 0x4000_3f80);
    // A NaN in the high half; equal subnormals in the low one.
    let (n, m) = (0x7e00_0001, 0x3c00_0001);
    let cases: [(&str, u64, u64, u64); 15] = [
        ("set.lt.u32.f16x2 %d, %a, %b;", a, b, 0xffff_ffff),
        ("set.gt.u32.f16x2 %d, %a, %b;", a, b, 0),
        ("set.lt.u32.f16x2 %d, %a, %b;", 0x3c00_4000, 0x4000_3c00, 0xffff_0000),
        ("set.lt.s32.f16x2 %d, %a, %b;", 0x4000_3c00, 0x3c00_4000, 0x0000_ffff),
        ("set.eq.s32.f16x2 %d, %a, %b;", n, m, 0x0000_ffff),
        ("set.neu.u32.f16x2 %d, %a, %b;", n, m, 0xffff_0000),
        ("set.nan.u32.f16x2 %d, %a, %b;", n, m, 0xffff_0000),
        ("set.gt.u32.f16x2 %d, %a, %b;", n, 0, 0x0000_ffff),
        ("set.gt.ftz.u32.f16x2 %d, %a, %b;", n, 0, 0),
        ("set.lt.u32.bf16x2 %d, %a, %b;", ab, bb, 0xffff_ffff),
        ("set.lt.s32.bf16x2 %d, %a, %b;", 0x4000_3f80, 0x3f80_4000, 0x0000_ffff),
        // `%r` is true where the third source is below 2^31, which 0 is.
        ("set.lt.and.u32.f16x2 %d, %a, %b, !%r;", a, b, 0),
        ("set.gt.or.s32.bf16x2 %d, %a, %b, %r;", ab, bb, 0xffff_ffff),
        ("set.lt.f16x2.f16x2 %d, %a, %b;", 0x3c00_4000, 0x4000_3c00, 0x3c00_0000),
        ("set.lt.bf16x2.bf16x2 %d, %a, %b;", 0x4000_3f80, 0x3f80_4000, 0x0000_3f80),
    ];
    for (body, a, b, expected) in cases {
        let found = evaluate(body, Out::Word, &[[a, b, 0]], false);
        assert_eq!(found, [expected], "{body} {a:#x} {b:#x}: {:#x}", found[0]);
    }
}

#[test]
fn logic_shifts_and_fields() {
    use Out::{Half, Pred, Wide, Word};
    check(
        &integers(13),
        &[
            ("and.b32 %d, %a, %b;", Word, |a, b, _| u(a & b)),
            ("or.b16 %dh, %ah, %bh;", Half, |a, b, _| (a | b) & 0xffff),
            ("xor.b64 %dd, %ad, %bd;", Wide, |a, b, _| a ^ b),
            ("not.b16 %dh, %ah;", Half, |a, _, _| !a & 0xffff),
            ("cnot.b16 %dh, %ah;", Half, |a, _, _| u64::from(a as u16 == 0)),
            ("cnot.b32 %d, %a;", Word, |a, _, _| u64::from(u(a) == 0)),
            ("cnot.b64 %dd, %ad;", Wide, |a, _, _| u64::from(a == 0)),
            ("shl.b32 %d, %a, %b;", Word, |a, b, _| if u(b) > 31 { 0 } else { u(a << u(b)) }),
            ("shr.u32 %d, %a, %b;", Word, |a, b, _| if u(b) > 31 { 0 } else { u(a) >> u(b) }),
            ("shr.s32 %d, %a, %b;", Word, |a, b, _| w(s(a) >> u(b).min(31))),
            ("shr.s16 %dh, %ah, %b;", Half, |a, b, _| h(sh(a) >> u(b).min(15))),
            ("shl.b64 %dd, %ad, %b;", Wide, |a, b, _| if u(b) > 63 { 0 } else { a << u(b) }),
            ("shf.l.wrap.b32 %d, %a, %b, %c;", Word, |a, b, c| {
                u(((u(b) << 32 | u(a)) << (c & 31)) >> 32)
            }),
            ("shf.r.clamp.b32 %d, %a, %b, %c;", Word, |a, b, c| {
                u((u(b) << 32 | u(a)) >> u(c).min(32))
            }),
            ("lop3.b32 %d, %a, %b, %c, 0x96;", Word, |a, b, c| u(a ^ b ^ c)),
            ("lop3.b32 %d, %a, %b, %c, 0xe8;", Word, |a, b, c| u(a & b | b & c | a & c)),
            ("lop3.or.b32 %d|%p, %a, %b, 0, 0xc0, !%r;", Pred, |a, b, c| {
                u64::from(u(a & b) != 0 || u(c) >= 0x8000_0000)
            }),
            ("popc.b32 %d, %a;", Word, |a, _, _| u64::from(u(a).count_ones())),
            ("popc.b64 %d, %ad;", Word, |a, _, _| u64::from(a.count_ones())),
            ("clz.b32 %d, %a;", Word, |a, _, _| u64::from((a as u32).leading_zeros())),
            ("clz.b64 %d, %ad;", Word, |a, _, _| u64::from(a.leading_zeros())),
            ("brev.b32 %d, %a;", Word, |a, _, _| u64::from((a as u32).reverse_bits())),
            ("brev.b64 %dd, %ad;", Wide, |a, _, _| a.reverse_bits()),
            ("bfind.u32 %d, %a;", Word, |a, _, _| {
                u(a).checked_ilog2().map_or(0xffff_ffff, u64::from)
            }),
            ("bfind.s32 %d, %a;", Word, |a, _, _| {
                let x = if s(a) < 0 { !s(a) } else { s(a) };
                x.checked_ilog2().map_or(0xffff_ffff, u64::from)
            }),
            ("and.b32 %b, %b, 31; and.b32 %c, %c, 31; bfe.u32 %d, %a, %b, %c;", Word, |a, b, c| {
                u(a) >> (b & 31) & ((1 << (c & 31)) - 1)
            }),
            ("bfi.b32 %d, %a, %b, 4, 9;", Word, |a, b, _| u(b & !(0x1ff << 4) | (a & 0x1ff) << 4)),
            ("bmsk.clamp.b32 %d, 3, 6;", Word, |_, _, _| 0x1f8),
            ("szext.clamp.s32 %d, %a, 8;", Word, |a, _, _| w(i64::from(a as i8))),
            ("prmt.b32 %d, %a, %b, 0x5410;", Word, |a, b, _| a & 0xffff | (b & 0xffff) << 16),
            (
                "prmt.b32 %d, %a, %b, 0x8888;",
                Word,
                |a, _, _| {
                    if a & 0x80 == 0 { 0 } else { 0xffff_ffff }
                },
            ),
            ("prmt.b32.rc16 %d, %a, %b, 1;", Word, |a, _, _| u(a) >> 16 | u(a) >> 16 << 16),
            ("and.pred %p, %r, %r; xor.pred %p, %p, !%r;", Pred, |_, _, _| 1),
            ("not.pred %p, %r;", Pred, |_, _, c| u64::from(u(c) >= 0x8000_0000)),
        ],
    );
}

#[test]
fn comparisons_and_selections() {
    use Out::{Both, Half, Pred, Wide, Word};
    let mut inputs = integers(14);
    for input in inputs.iter_mut().step_by(4) {
        input[1] = input[0];
    }
    check(
        &inputs,
        &[
            ("setp.lt.s32 %p, %a, %b;", Pred, |a, b, _| u64::from(s(a) < s(b))),
            ("setp.le.s32 %p, %a, %b;", Pred, |a, b, _| u64::from(s(a) <= s(b))),
            ("setp.hi.u32 %p, %a, %b;", Pred, |a, b, _| u64::from(u(a) > u(b))),
            ("setp.hs.u32 %p, %a, %b;", Pred, |a, b, _| u64::from(u(a) >= u(b))),
            ("setp.ne.s64 %p, %ad, %bd;", Pred, |a, b, _| u64::from(a != b)),
            ("setp.ge.s16 %p, %ah, %bh;", Pred, |a, b, _| u64::from(sh(a) >= sh(b))),
            ("setp.eq.and.s32 %p|%q, %a, %b, !%r;", Both, |a, b, c| {
                let other = u(c) >= 0x8000_0000;
                u64::from(u(a) == u(b) && other) | u64::from(u(a) != u(b) && other) << 1
            }),
            ("setp.gt.xor.u32 %p|%q, %a, %b, %r;", Both, |a, b, c| {
                let other = u(c) < 0x8000_0000;
                u64::from((u(a) > u(b)) ^ other) | u64::from((u(a) <= u(b)) ^ other) << 1
            }),
            (
                "set.lt.u32.s32 %d, %a, %b;",
                Word,
                |a, b, _| {
                    if s(a) < s(b) { 0xffff_ffff } else { 0 }
                },
            ),
            (
                "set.lt.f32.s32 %d, %a, %b;",
                Word,
                |a, b, _| {
                    if s(a) < s(b) { 0x3f80_0000 } else { 0 }
                },
            ),
            (
                "selp.b32 %d, %a, %b, %r;",
                Word,
                |a, b, c| {
                    if u(c) < 0x8000_0000 { u(a) } else { u(b) }
                },
            ),
            ("selp.b64 %dd, %ad, 7, %r;", Wide, |a, _, c| if u(c) < 0x8000_0000 { a } else { 7 }),
            (
                "selp.b16 %dh, 9, %bh, %r;",
                Half,
                |_, b, c| {
                    if u(c) < 0x8000_0000 { 9 } else { b & 0xffff }
                },
            ),
            ("slct.b32.s32 %d, %a, %b, %c;", Word, |a, b, c| if s(c) >= 0 { u(a) } else { u(b) }),
        ],
    );
}

#[test]
fn conversions_and_moves() {
    use Out::{Half, Wide, Word};
    check(
        &integers(15),
        &[
            ("cvt.s64.s32 %dd, %a;", Wide, |a, _, _| s(a) as u64),
            ("cvt.s32.s8 %d, %a;", Word, |a, _, _| w(i64::from(a as i8))),
            ("cvt.u32.u8 %d, %ah;", Word, |a, _, _| a & 0xff),
            ("cvt.s16.s8 %dh, %ah;", Half, |a, _, _| h(i64::from(a as i8))),
            ("cvt.s64.s16 %dd, %ah;", Wide, |a, _, _| sh(a) as u64),
            ("cvt.u8.u32 %d, %a;", Word, |a, _, _| a & 0xff),
            ("cvt.s8.s32 %d, %a;", Word, |a, _, _| w(i64::from(a as i8))),
            ("cvt.sat.u8.s32 %d, %a;", Word, |a, _, _| s(a).clamp(0, 255) as u64),
            ("cvt.sat.s16.s64 %dh, %ad;", Half, |a, _, _| h((a as i64).clamp(-32768, 32767))),
            ("cvt.rn.f32.s32 %d, %a;", Word, |a, _, _| u64::from((s(a) as f32).to_bits())),
            ("cvt.rn.f64.u64 %dd, %ad;", Wide, |a, _, _| (a as f64).to_bits()),
            ("cvt.rn.f32.s32 %d, %a; cvt.rzi.s32.f32 %d, %d;", Word, |a, _, _| {
                w(i64::from(s(a) as f32 as i32))
            }),
            ("mov.b32 %d, {%ah, %bh};", Word, |a, b, _| a & 0xffff | (b & 0xffff) << 16),
            ("mov.b32 {%ch, %dh}, %a;", Half, |a, _, _| u(a) >> 16),
            ("mov.b64 {%c, %d}, %ad;", Word, |a, _, _| a >> 32),
            ("mov.b64 {_, %d}, %ad;", Word, |a, _, _| a >> 32),
            ("mov.b64 %dd, {%ah, %bh, %ch, %ah};", Wide, |a, b, c| {
                let h = |x| x & 0xffff;
                h(a) | h(b) << 16 | h(c) << 32 | h(a) << 48
            }),
            ("mov.b64 {%ah, %bh, %ch, %dh}, %ad;", Half, |a, _, _| a >> 48),
            ("cvt.pack.sat.s16.s32 %d, %a, %b;", Word, |a, b, _| {
                let clamp = |x| h(s(x).clamp(-32768, 32767));
                clamp(b) | clamp(a) << 16
            }),
            ("mov.u32 %d, %laneid; cvt.u64.u32 %dd, %d; mov.b64 {%d, _}, %ad;", Word, |a, _, _| {
                u(a)
            }),
        ],
    );
}

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn r(x: f32) -> u64 {
    if x.is_nan() { 0x7fff_ffff } else { u64::from(x.to_bits()) }
}

fn fd(x: u64) -> f64 {
    f64::from_bits(x)
}

fn rd(x: f64) -> u64 {
    if x.is_nan() { 0xfff8_0000_0000_0000 } else { x.to_bits() }
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// Single-precision numbers in the low words, double-precision ones elsewhere.
fn numbers(seed: u64, wide: bool) -> Vec<[u64; 3]> {
    let mut random = Random::new(seed);
    let edges = [
        0.0f32,
        -0.0,
        1.0,
        -1.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        -f32::from_bits(0x7f_ffff),
        3.1,
    ];
    let mut pick = || {
        let value = match random.below(4) {
            0 => edges[random.below(12) as usize],
            1 => random.unit() * 8.0 - 4.0,
            2 => f32::from_bits(random.next() as u32),
            _ => (random.below(2000) as f32 - 1000.0) * 0.01,
        };
        if wide { f64::from(value).to_bits() } else { u64::from(value.to_bits()) }
    };
    (0..250).map(|_| [pick(), pick(), pick()]).collect()
}

#[test]
fn single_precision() {
    use Out::{Pred, Wide, Word};
    check(
        &numbers(16, false),
        &[
            ("add.f32 %d, %a, %b;", Word, |a, b, _| r(f(a) + f(b))),
            ("add.ftz.f32 %d, %a, %b;", Word, |a, b, _| r(flush(flush(f(a)) + flush(f(b))))),
            ("sub.rn.sat.f32 %d, %a, %b;", Word, |a, b, _| {
                let x = f(a) - f(b);
                r(if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) + 0.0 })
            }),
            ("mul.f32 %d, %a, 0f40400000;", Word, |a, _, _| r(f(a) * 3.0)),
            ("fma.rn.f32 %d, %a, %b, %c;", Word, |a, b, c| r(f(a).mul_add(f(b), f(c)))),
            ("fma.rn.ftz.f32 %d, %a, %b, %c;", Word, |a, b, c| {
                r(flush(flush(f(a)).mul_add(flush(f(b)), flush(f(c)))))
            }),
            ("div.rn.f32 %d, %a, %b;", Word, |a, b, _| r(f(a) / f(b))),
            ("rcp.rn.f32 %d, %a;", Word, |a, _, _| r(1.0 / f(a))),
            ("sqrt.rn.f32 %d, %a;", Word, |a, _, _| r(f(a).sqrt())),
            ("neg.f32 %d, %a; neg.f32 %d, %d;", Word, |a, _, _| u(a)),
            ("abs.f32 %d, %a;", Word, |a, _, _| u(a) & 0x7fff_ffff),
            ("min.f32 %d, %a, %b;", Word, |a, b, _| {
                let (x, y) = (f(a), f(b));
                let signed_zero = x == y && x.is_sign_negative();
                r(if signed_zero { x } else { x.min(y) })
            }),
            ("setp.lt.f32 %p, %a, %b;", Pred, |a, b, _| u64::from(f(a) < f(b))),
            ("setp.gtu.f32 %p, %a, %b;", Pred, |a, b, _| {
                let le = f(a) <= f(b);
                u64::from(!le)
            }),
            ("setp.ne.f32 %p, %a, %b;", Pred, |a, b, _| u64::from(f(a) < f(b) || f(a) > f(b))),
            ("setp.neu.f32 %p, %a, %b;", Pred, |a, b, _| u64::from(f(a) != f(b))),
            ("setp.equ.f32 %p, %a, %b;", Pred, |a, b, _| {
                u64::from(f(a) == f(b) || f(a).is_nan() || f(b).is_nan())
            }),
            ("setp.nan.f32 %p, %a, %b;", Pred, |a, b, _| u64::from(f(a).is_nan() || f(b).is_nan())),
            ("setp.leu.f32 %p, %a, %b;", Pred, |a, b, _| {
                let gt = f(a) > f(b);
                u64::from(!gt)
            }),
            ("setp.ltu.f32 %p, %a, %b;", Pred, |a, b, _| {
                let ge = f(a) >= f(b);
                u64::from(!ge)
            }),
            ("testp.finite.f32 %p, %a;", Pred, |a, _, _| u64::from(f(a).is_finite())),
            ("copysign.f32 %d, %a, %b;", Word, |a, b, _| u(a) & 0x8000_0000 | u(b) & 0x7fff_ffff),
            ("cvt.f64.f32 %dd, %a;", Wide, |a, _, _| rd(f64::from(f(a)))),
            ("cvt.rni.s32.f32 %d, %a;", Word, |a, _, _| {
                w(i64::from(f(a).round_ties_even() as i32))
            }),
            ("cvt.rmi.f32.f32 %d, %a;", Word, |a, _, _| r(f(a).floor())),
            (
                "cvt.rzi.u64.f32 %dd, %a;",
                Wide,
                |a, _, _| {
                    if f(a).is_nan() { 1 << 63 } else { f(a) as u64 }
                },
            ),
        ],
    );
}

#[test]
fn double_precision() {
    use Out::{Pred, Wide, Word};
    check(
        &numbers(17, true),
        &[
            ("add.f64 %dd, %ad, %bd;", Wide, |a, b, _| rd(fd(a) + fd(b))),
            ("mul.rn.f64 %dd, %ad, %bd;", Wide, |a, b, _| rd(fd(a) * fd(b))),
            ("fma.rn.f64 %dd, %ad, %bd, %cd;", Wide, |a, b, c| rd(fd(a).mul_add(fd(b), fd(c)))),
            ("div.rn.f64 %dd, %ad, %bd;", Wide, |a, b, _| rd(fd(a) / fd(b))),
            ("sqrt.rn.f64 %dd, %ad;", Wide, |a, _, _| rd(fd(a).sqrt())),
            ("sub.f64 %dd, 0d3FF0000000000000, %ad;", Wide, |a, _, _| rd(1.0 - fd(a))),
            ("setp.ge.f64 %p, %ad, %bd;", Pred, |a, b, _| u64::from(fd(a) >= fd(b))),
            ("cvt.rn.f32.f64 %d, %ad;", Word, |a, _, _| r(fd(a) as f32)),
            ("cvt.rzi.s32.f64 %d, %ad;", Word, |a, _, _| {
                if fd(a).is_nan() { 1 << 31 } else { w(i64::from(fd(a) as i32)) }
            }),
        ],
    );
}

#[test]
fn directed_rounding_brackets_the_nearest() {
    let inputs: Vec<[u64; 3]> =
        numbers(18, false).into_iter().filter(|x| x.iter().all(|&x| f(x).is_finite())).collect();
    let results = ["rm", "rp", "rz", "rn"].map(|rounding| {
        evaluate(&format!("add.{rounding}.f32 %d, %a, %b;"), Out::Word, &inputs, false)
    });
    let mut inexact = 0;
    for (lane, &[a, b, _]) in inputs.iter().enumerate() {
        let [down, up, zero, nearest] = [0, 1, 2, 3].map(|i| f(results[i][lane]));
        // The sum of two f32 need not be exact in f64, but its sign against each candidate is.
        let exact = f64::from(f(a)) + f64::from(f(b));
        assert!(f64::from(down) <= exact && exact <= f64::from(up), "{} {}", f(a), f(b));
        assert!(nearest == down || nearest == up);
        assert!(zero.abs() <= down.abs().max(up.abs()) && (zero == down || zero == up));
        assert!(down == up || zero == if exact < 0.0 { up } else { down });
        inexact += u32::from(down != up);
    }
    assert!(inexact > 50, "{inexact}");
}

#[test]
fn halves_alone_and_in_pairs() {
    use Out::{Both, Half, Word};
    // Small integers and their quarters are exact in f16 and bf16.
    let half = |x: i32| {
        let mut bench_free = (x as f32 / 4.0).to_bits();
        let sign = bench_free >> 31;
        bench_free &= 0x7fff_ffff;
        let bits = if bench_free == 0 { 0 } else { (bench_free - (112 << 23)) >> 13 };
        u64::from(sign << 15 | bits)
    };
    let mut random = Random::new(19);
    let mut quarter = || random.below(129) as i32 - 64;
    let inputs: Vec<([i32; 6], [u64; 3])> = (0..250)
        .map(|_| {
            let x: [i32; 6] = std::array::from_fn(|_| quarter());
            let pair = |i: usize| half(x[i]) | half(x[i + 1]) << 16;
            (x, [pair(0), pair(2), pair(4)])
        })
        .collect();
    let bits: Vec<[u64; 3]> = inputs.iter().map(|(_, bits)| *bits).collect();
    let run = |body: &str, out: Out, expected: &dyn Fn(&[i32; 6]) -> u64| {
        for (result, (x, _)) in evaluate(body, out, &bits, false).iter().zip(&inputs) {
            assert_eq!(*result, expected(x), "{body} {x:?}");
        }
    };
    run("add.f16 %dh, %ah, %bh;", Half, &|x| half(x[0] + x[2]));
    run("sub.f16x2 %d, %a, %b;", Word, &|x| half(x[0] - x[2]) | half(x[1] - x[3]) << 16);
    run("max.f16x2 %d, %a, %b;", Word, &|x| half(x[0].max(x[2])) | half(x[1].max(x[3])) << 16);
    run("setp.lt.f16x2 %p|%q, %a, %b;", Both, &|x| {
        u64::from(x[0] < x[2]) | u64::from(x[1] < x[3]) << 1
    });
    run("cvt.f32.f16 %d, %ah;", Word, &|x| u64::from((x[0] as f32 / 4.0).to_bits()));
    run("cvt.f32.f16 %d, %ah; cvt.rn.f16.f32 %dh, %d;", Half, &|x| half(x[0]));
    run("mov.b16 %ch, 0x3C00; fma.rn.f16 %dh, %ah, %ch, %bh;", Half, &|x| half(x[0] + x[2]));
    run("cvt.f32.f16 %a, %ah; cvt.f32.f16 %b, %bh; cvt.rn.bf16x2.f32 %d, %b, %a;", Word, &|x| {
        let brain = |x: i32| u64::from((x as f32 / 4.0).to_bits() >> 16);
        brain(x[0]) | brain(x[2]) << 16
    });
}

/// A real function.
type Function = fn(f64) -> f64;

#[test]
fn approximate_functions_are_close() {
    let inputs: Vec<[u64; 3]> =
        (1..250).map(|i| [u64::from((i as f32 * 0.037).to_bits()), 0, 0]).collect();
    let table: [(&str, Function, f64); 8] = [
        ("sin.approx.f32", f64::sin, 1e-6),
        ("cos.approx.f32", f64::cos, 1e-6),
        ("ex2.approx.f32", f64::exp2, 1e-6),
        ("lg2.approx.f32", f64::log2, 1e-6),
        ("rsqrt.approx.f32", |x| 1.0 / x.sqrt(), 1e-6),
        ("sqrt.approx.f32", f64::sqrt, 1e-6),
        ("rcp.approx.ftz.f32", |x| 1.0 / x, 1e-6),
        ("tanh.approx.f32", f64::tanh, 1e-6),
    ];
    for (name, function, tolerance) in table {
        let results = evaluate(&format!("{name} %d, %a;"), Out::Word, &inputs, false);
        for (&[a, ..], result) in inputs.iter().zip(results) {
            let expected = function(f64::from(f(a)));
            let error = (f64::from(f(result)) - expected).abs();
            assert!(error <= tolerance * expected.abs().max(1.0), "{name} {} {error}", f(a));
        }
    }
}

#[test]
fn video_instructions() {
    use Out::Word;
    check(
        &integers(20),
        &[
            ("vabsdiff.u32.u32.u32 %d, %a, %b;", Word, |a, b, _| u(a).abs_diff(u(b))),
            ("vadd.s32.s32.s32.sat %d, %a, %b;", Word, |a, b, _| {
                w((s(a) + s(b)).clamp(-(1 << 31), (1 << 31) - 1))
            }),
            ("vsub.s32.u32.u32 %d, %a.b1, %b.h0;", Word, |a, b, _| {
                w(((a >> 8) & 0xff) as i64 - (b & 0xffff) as i64)
            }),
            ("vmax.s32.s32.s32.add %d, %a, %b, %c;", Word, |a, b, c| w(s(a).max(s(b)) + s(c))),
            ("vset.u32.u32.lt %d, %a, %b;", Word, |a, b, _| u64::from(u(a) < u(b))),
            ("vmad.u32.u32.u32 %d, %a.b0, %b.b0, %c;", Word, |a, b, c| {
                u((a & 0xff) * (b & 0xff) + u(c))
            }),
            ("vshl.u32.u32.u32.wrap %d, %a, %b;", Word, |a, b, _| u(a << (b & 31))),
        ],
    );
}
