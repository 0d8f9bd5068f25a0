//! Integer arithmetic and bit operations against 128-bit arithmetic and bit-by-bit loops.

use strata_ptx::opcode::{Bounds, Comparison, Direction, PermuteMode};
use strata_simt::arith::integer::{
    self, Integer, S16, S32, S64, U16, U32, U64, add_carry_u32, add_carry_u64,
};
use strata_simt::arith::video::{Finish, Second, Select, Source, VideoOp, VmadMode, video, vmad};
use strata_simt::arith::{bits, video::VideoOp as Op};

use crate::common::Random;

const SEED: u64 = 0x5eed_0003;

/// A type under test as 128-bit numbers.
trait Tested: Integer {
    const WIDTH: u32;
    const SIGNED: bool;

    fn bits(value: i128) -> Self::Bits;
    fn number(bits: Self::Bits) -> i128;
    fn wide(bits: Self::Wide) -> u128;
    fn from_wide(value: u128) -> Self::Wide;

    fn range() -> (i128, i128) {
        if Self::SIGNED {
            (-(1 << (Self::WIDTH - 1)), (1 << (Self::WIDTH - 1)) - 1)
        } else {
            (0, (1 << Self::WIDTH) - 1)
        }
    }

    /// The number that the low bits of a value stand for.
    fn wrap(value: i128) -> i128 {
        Self::number(Self::bits(value))
    }
}

macro_rules! tested {
    ($($name:ident $bits:ty, $number:ty, $wide:ty, $signed:literal;)*) => {
        $(impl Tested for $name {
            const WIDTH: u32 = <$bits>::BITS;
            const SIGNED: bool = $signed;

            fn bits(value: i128) -> $bits {
                value as $bits
            }

            fn number(bits: $bits) -> i128 {
                bits as $number as i128
            }

            fn wide(bits: $wide) -> u128 {
                bits as u128
            }

            fn from_wide(value: u128) -> $wide {
                value as $wide
            }
        })*
    };
}

tested! {
    U16 u16, u16, u32, false;
    S16 u16, i16, u32, true;
    U32 u32, u32, u64, false;
    S32 u32, i32, u64, true;
    U64 u64, u64, u128, false;
    S64 u64, i64, u128, true;
}

fn check_type<I: Tested>() {
    let mut random = Random::new(SEED);
    let (least, greatest) = I::range();
    for _ in 0..100_000 {
        let [a, b, c] = [0; 3].map(|_| I::wrap(i128::from(random.integer(I::WIDTH))));
        let (x, y, z) = (I::bits(a), I::bits(b), I::bits(c));
        let amount = random.integer(32) as u32 & if random.chance() { 0x7f } else { u32::MAX };
        let is = |what: &str, got: I::Bits, expected: i128| {
            let (got, expected) = (I::number(got), I::wrap(expected));
            assert_eq!(got, expected, "{what} of {a} {b} {c} {amount}; seed {SEED:x}");
        };
        // The product of two 64-bit unsigned numbers overflows i128; wrapping, its bits are right.
        let product = a.wrapping_mul(b);
        let high =
            if I::SIGNED { product >> I::WIDTH } else { (product as u128 >> I::WIDTH) as i128 };
        is("add", I::add(x, y), a + b);
        is("sub", I::sub(x, y), a - b);
        is("add.sat", I::add_sat(x, y), (a + b).clamp(least, greatest));
        is("sub.sat", I::sub_sat(x, y), (a - b).clamp(least, greatest));
        is("mul.lo", I::mul_lo(x, y), product);
        is("mul.hi", I::mul_hi(x, y), high);
        is("mad.lo", I::mad_lo(x, y, z), product.wrapping_add(c));
        is("mad.hi", I::mad_hi(x, y, z), high + c);
        is("mad.hi.sat", I::mad_hi_sat(x, y, z), (high + c).clamp(least, greatest));
        let double = if I::WIDTH == 64 { u128::MAX } else { (1 << (2 * I::WIDTH)) - 1 };
        assert_eq!(I::wide(I::mul_wide(x, y)), product as u128 & double);
        let addend = (u128::from(random.next()) << 64 | u128::from(random.next())) & double;
        assert_eq!(
            I::wide(I::mad_wide(x, y, I::from_wide(addend))),
            (product as u128).wrapping_add(addend) & double
        );
        is("div", I::div(x, y), if b == 0 { -1 } else { a / b });
        is("rem", I::rem(x, y), if b == 0 { a } else { a % b });
        is("neg", I::neg(x), -a);
        is("abs", I::abs(x), a.abs());
        is("min", I::min(x, y), a.min(b));
        is("max", I::max(x, y), a.max(b));
        is("min.relu", I::min_relu(x, y), a.min(b).max(0));
        is("max.relu", I::max_relu(x, y), a.max(b).max(0));
        is("sad", I::sad(x, y, z), c + (a - b).abs());
        is("shl", I::shl(x, amount), if amount < I::WIDTH { a << amount } else { 0 });
        is("shr", I::shr(x, amount), a >> amount.min(100));
    }
}

#[test]
fn every_type_agrees_with_wide_arithmetic() {
    check_type::<U16>();
    check_type::<S16>();
    check_type::<U32>();
    check_type::<S32>();
    check_type::<U64>();
    check_type::<S64>();
}

#[test]
fn division_has_no_traps() {
    assert_eq!(U32::div(7, 0), 0xffff_ffff);
    assert_eq!(S64::div(7, 0), u64::MAX);
    assert_eq!(U16::rem(7, 0), 7);
    assert_eq!(S32::div(0x8000_0000, 0xffff_ffff), 0x8000_0000);
    assert_eq!(S32::rem(0x8000_0000, 0xffff_ffff), 0);
    assert_eq!(S32::div((-7i32) as u32, 2), (-3i32) as u32);
    assert_eq!(S32::rem((-7i32) as u32, 2), (-1i32) as u32);
}

#[test]
fn carries_chain() {
    let mut random = Random::new(SEED);
    for _ in 0..100_000 {
        let (a, b, carry) = (random.integer(64), random.integer(64), random.chance());
        let sum = u128::from(a) + u128::from(b) + u128::from(carry);
        assert_eq!(add_carry_u64(a, b, carry), (sum as u64, sum >> 64 == 1));
        // Two 32-bit steps make a 64-bit one.
        let (low, middle) = add_carry_u32(a as u32, b as u32, carry);
        let (high, out) = add_carry_u32((a >> 32) as u32, (b >> 32) as u32, middle);
        let joined = u64::from(high) << 32 | u64::from(low);
        assert_eq!((joined, out), add_carry_u64(a, b, carry));
    }
}

#[test]
fn products_of_24_bits() {
    let mut random = Random::new(SEED);
    let sext = |x: u32| i64::from(x & 0xff_ffff) - (i64::from(x >> 23 & 1) << 24);
    for _ in 0..100_000 {
        let (a, b) = (random.integer(32) as u32, random.integer(32) as u32);
        let unsigned = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
        let signed = sext(a) * sext(b);
        assert_eq!(integer::mul24_lo_u32(a, b), unsigned as u32);
        assert_eq!(integer::mul24_hi_u32(a, b), (unsigned >> 16) as u32);
        assert_eq!(integer::mul24_lo_s32(a, b), signed as u32);
        assert_eq!(integer::mul24_hi_s32(a, b), (signed >> 16) as u32);
    }
}

#[test]
fn dot_products() {
    let mut random = Random::new(SEED);
    let value = |part: u32, width: u32, signed: bool| {
        let part = i64::from(part) & ((1 << width) - 1);
        if signed && part >> (width - 1) == 1 { part - (1 << width) } else { part }
    };
    for _ in 0..100_000 {
        let [a, b, c] = [0; 3].map(|_| random.integer(32) as u32);
        let (sa, sb, high) = (random.chance(), random.chance(), random.chance());
        let four: i64 =
            (0..4).map(|i| value(a >> (8 * i), 8, sa) * value(b >> (8 * i), 8, sb)).sum();
        assert_eq!(integer::dp4a(a, b, c, sa, sb), (four + i64::from(c)) as u32);
        let base = if high { 16 } else { 0 };
        let two: i64 =
            (0..2).map(|i| value(a >> (16 * i), 16, sa) * value(b >> (base + 8 * i), 8, sb)).sum();
        assert_eq!(integer::dp2a(a, b, c, high, sa, sb), (two + i64::from(c)) as u32);
    }
}

#[test]
fn halves_are_apart() {
    let sum = integer::per_half(0xffff_8000, 0x0001_8000, U16::add);
    assert_eq!(sum, 0);
    assert_eq!(integer::per_half1(0x0001_ffff, U16::neg), 0xffff_0001);
    assert_eq!(integer::per_half3(0x0002_0003, 0x0005_0007, 0x0001_0000, U16::mad_lo), 0x000b_0015);
}

fn bit(value: u64, index: u32) -> bool {
    value >> index & 1 == 1
}

/// `bfe`, `bfi` and `bfind` as PTX writes them, for 32 and 64 bits.
fn check_fields(width: u32, a: u64, b: u64, position: u32, length: u32) {
    let msb = width - 1;
    let (pos, len) = (position & 0xff, length & 0xff);
    let mut inserted = b;
    for i in 0..len {
        if pos + i <= msb {
            let at = pos + i;
            // The inserted field may be longer than `a` has bits only if it is cut.
            inserted = inserted & !(1 << at) | u64::from(i <= msb && bit(a, i)) << at;
        }
    }
    let got = if width == 32 {
        u64::from(bits::bfi_b32(a as u32, b as u32, position, length))
    } else {
        bits::bfi_b64(a, b, position, length)
    };
    assert_eq!(got, inserted, "bfi {width} {a:x} {b:x} {position} {length}; {SEED:x}");
    for signed in [false, true] {
        let sign = signed && len > 0 && bit(a, (pos + len - 1).min(msb));
        let extracted = (0..width).fold(0, |field, i| {
            let set = if i < len && pos + i <= msb { bit(a, pos + i) } else { sign };
            field | u64::from(set) << i
        });
        let got = if width == 32 {
            u64::from(bits::bfe_32(a as u32, position, length, signed))
        } else {
            bits::bfe_64(a, position, length, signed)
        };
        let extracted = if len == 0 { 0 } else { extracted };
        assert_eq!(got, extracted, "bfe {width} {signed} {a:x} {position} {length}; {SEED:x}");
        let searched = if signed && bit(a, msb) { !a } else { a };
        let found = (0..width).rev().find(|&i| bit(searched, i));
        for shift in [false, true] {
            let expected = found.map_or(u32::MAX, |i| if shift { msb - i } else { i });
            let got = if width == 32 {
                bits::bfind_32(a as u32, signed, shift)
            } else {
                bits::bfind_64(a, signed, shift)
            };
            assert_eq!(got, expected, "bfind {width} {signed} {shift} {a:x}");
        }
    }
}

#[test]
fn bit_fields_follow_the_book() {
    let mut random = Random::new(SEED);
    for a in [0, u64::MAX, 0x8000_0000_8000_0000, 0x7fff_ffff_7fff_ffff, 1] {
        for position in (0..=66).chain([127, 128, 254, 255, 256, 300]) {
            for length in [0, 1, 2, 31, 32, 33, 63, 64, 65, 254, 255, 256, 257] {
                check_fields(32, a & 0xffff_ffff, 0x5555_5555, position, length);
                check_fields(64, a, 0x5555_5555_5555_5555, position, length);
            }
        }
    }
    for _ in 0..50_000 {
        let (position, length) = (random.below(80), random.below(80));
        check_fields(32, random.integer(32), random.integer(32), position, length);
        check_fields(64, random.integer(64), random.integer(64), position, length);
    }
}

#[test]
fn counts_and_reversal() {
    let mut random = Random::new(SEED);
    for _ in 0..20_000 {
        let a = random.integer(64);
        let word = a as u32;
        let ones = |width: u32| (0..width).map(|i| u32::from(bit(a, i))).sum::<u32>();
        assert_eq!(bits::popc_b64(a), ones(64));
        assert_eq!(bits::popc_b32(word), ones(32));
        let zeros = |width: u32| (0..width).rev().take_while(|&i| !bit(a, i)).count() as u32;
        assert_eq!(bits::clz_b64(a), zeros(64));
        assert_eq!(bits::clz_b32(word), zeros(32));
        let reversed = (0..64).fold(0, |r, i| r | u64::from(bit(a, i)) << (63 - i));
        assert_eq!(bits::brev_b64(a), reversed);
        assert_eq!(u64::from(bits::brev_b32(word)), bits::brev_b64(u64::from(word)) >> 32);
    }
    assert_eq!(bits::clz_b32(0), 32);
    assert_eq!(bits::clz_b64(0), 64);
    assert_eq!((bits::cnot_b16(0), bits::cnot_b16(5)), (1, 0));
    assert_eq!((bits::cnot_b32(0), bits::cnot_b32(1 << 16)), (1, 0));
    assert_eq!((bits::cnot_b64(0), bits::cnot_b64(1 << 32)), (1, 0));
}

/// `bmsk` and `szext` by the semantics that PTX prints.
fn check_masks(a: u32, b: u32, bounds: Bounds) {
    let clamp = bounds == Bounds::Clamp;
    let (a1, b1) = (a & 31, b & 31);
    let sum = a1 + b1;
    let mut mask0 = u32::MAX << a1;
    let mut mask1 = if sum < 32 { u32::MAX << sum } else { 0 };
    if clamp && a >= 32 {
        mask0 = 0;
    }
    if sum >= 32 || clamp && (a >= 32 || b >= 32) {
        mask1 = 0;
    } else if b1 == 0 {
        mask1 = u32::MAX;
    }
    assert_eq!(bits::bmsk(a, b, bounds), mask0 & !mask1, "bmsk {a} {b} {bounds:?}");

    let value = 0x8421_c3a5u32.rotate_left(a);
    for signed in [false, true] {
        let too_large = b >= 32 && clamp;
        let mask = if too_large { 0 } else { u32::MAX << b1 };
        let sign = b1 != 0 && !too_large && signed && value >> (b1.wrapping_sub(1) & 31) & 1 == 1;
        let expected = value & !mask | if sign { mask } else { 0 };
        assert_eq!(bits::szext(value, b, signed, bounds), expected, "{value:x} {b} {bounds:?}");
    }
}

#[test]
fn masks_and_extensions_follow_the_book() {
    for a in 0..70 {
        for b in (0..70).chain([255, 256, u32::MAX]) {
            check_masks(a, b, Bounds::Clamp);
            check_masks(a, b, Bounds::Wrap);
        }
    }
    check_masks(u32::MAX, 5, Bounds::Clamp);
    check_masks(u32::MAX, 5, Bounds::Wrap);
}

/// `fns` by the semantics that PTX prints.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if offset == 0 {
        return if bit(mask.into(), base) { base } else { u32::MAX };
    }
    let mut position = i64::from(base);
    let mut count = i64::from(offset).abs() - 1;
    while (0..32).contains(&position) {
        if bit(mask.into(), position as u32) {
            if count == 0 {
                return position as u32;
            }
            count -= 1;
        }
        position += i64::from(offset.signum());
    }
    u32::MAX
}

#[test]
fn nth_set_bits() {
    let mut random = Random::new(SEED);
    for _ in 0..100_000 {
        let mask =
            random.next() as u32 & if random.chance() { u32::MAX } else { random.next() as u32 };
        let base = random.below(32);
        let offset = match random.below(8) {
            0 => i32::MIN,
            1 => i32::MAX,
            _ => random.below(40) as i32 - 20,
        };
        let expected = nth_set(mask, base, offset);
        assert_eq!(bits::fns(mask, base, offset), expected, "{mask:x} {base} {offset}");
    }
    assert_eq!(bits::fns(u32::MAX, 32, 1), u32::MAX);
}

#[test]
fn bytes_permute() {
    let mut random = Random::new(SEED);
    for _ in 0..50_000 {
        let [a, b, c] = [0; 3].map(|_| random.next() as u32);
        let source = [a.to_le_bytes(), b.to_le_bytes()].concat();
        let general = [0, 1, 2, 3].map(|i: u32| {
            let selector = c >> (4 * i) & 15;
            let byte = source[(selector & 7) as usize];
            match (selector & 8 != 0, byte & 0x80 != 0) {
                (false, _) => byte,
                (true, negative) => {
                    if negative {
                        0xff
                    } else {
                        0
                    }
                }
            }
        });
        assert_eq!(bits::prmt(a, b, c, None), u32::from_le_bytes(general), "{a:x} {b:x} {c:x}");
        let n = (c & 3) as usize;
        let by_mode = |mode, chosen: [usize; 4]| {
            let expected = u32::from_le_bytes(chosen.map(|i| source[i]));
            assert_eq!(bits::prmt(a, b, c, Some(mode)), expected, "{mode:?} {a:x} {b:x} {c:x}");
        };
        // Result bytes 0 to 3, as formulas of n.
        by_mode(PermuteMode::F4e, [n, n + 1, n + 2, n + 3]);
        by_mode(PermuteMode::B4e, [n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8]);
        by_mode(PermuteMode::Rc8, [n; 4]);
        by_mode(PermuteMode::Ecl, [0, 1, 2, 3].map(|i: usize| i.max(n)));
        by_mode(PermuteMode::Ecr, [0, 1, 2, 3].map(|i: usize| i.min(n)));
        let half = 2 * (n % 2);
        by_mode(PermuteMode::Rc16, [half, half + 1, half, half + 1]);
    }
}

#[test]
fn every_table_of_lop3() {
    let mut random = Random::new(SEED);
    for table in 0..=255u8 {
        for _ in 0..20 {
            let [a, b, c] = [0; 3].map(|_| random.next() as u32);
            let expected = (0..32).fold(0u32, |result, i| {
                let row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
                result | u32::from(table >> row & 1) << i
            });
            assert_eq!(bits::lop3(a, b, c, table), expected, "{table:x} {a:x} {b:x} {c:x}");
        }
    }
    // The examples of PTX: its tables are the operations applied to 0xf0, 0xcc and 0xaa.
    let (a, b, c) = (0x1234_5678, 0x9abc_def0, 0x0f0f_3c3c);
    assert_eq!(bits::lop3(a, b, c, 0xf0 & 0xcc & 0xaa), a & b & c);
    assert_eq!(bits::lop3(a, b, c, (0xf0 & 0xcc) ^ 0xaa), (a & b) ^ c);
}

#[test]
fn funnel_shifts() {
    let mut random = Random::new(SEED);
    for _ in 0..50_000 {
        let (a, b) = (random.next() as u32, random.next() as u32);
        let c = random.below(70);
        for (bounds, n) in [(Bounds::Clamp, c.min(32)), (Bounds::Wrap, c % 32)] {
            let left = (0..32).fold(0u64, |r, i| {
                let from = i + 32 - n;
                let set = if from < 32 { bit(a.into(), from) } else { bit(b.into(), from - 32) };
                r | u64::from(set) << i
            });
            let right = (0..32).fold(0u64, |r, i| {
                let from = i + n;
                let set = if from < 32 { bit(a.into(), from) } else { bit(b.into(), from - 32) };
                r | u64::from(set) << i
            });
            assert_eq!(u64::from(bits::shf(a, b, c, Direction::Left, bounds)), left);
            assert_eq!(u64::from(bits::shf(a, b, c, Direction::Right, bounds)), right);
        }
    }
}

const SELECTIONS: [Select; 7] = [
    Select::Word,
    Select::Byte(0),
    Select::Byte(1),
    Select::Byte(2),
    Select::Byte(3),
    Select::Half(0),
    Select::Half(1),
];

fn field(select: Select) -> (u32, u32) {
    match select {
        Select::Word => (32, 0),
        Select::Byte(i) => (8, 8 * u32::from(i)),
        Select::Half(i) => (16, 16 * u32::from(i)),
    }
}

fn selected(source: Source) -> i128 {
    let (width, position) = field(source.select);
    let part = i128::from(source.bits >> position) & ((1 << width) - 1);
    if source.signed && part >> (width - 1) == 1 { part - (1 << width) } else { part }
}

fn clamped(value: i128, width: u32, signed: bool) -> i128 {
    let (least, greatest) =
        if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
    value.clamp(least, greatest)
}

fn random_source(random: &mut Random) -> Source {
    Source {
        bits: random.integer(32) as u32,
        select: random.pick(&SELECTIONS),
        signed: random.chance(),
    }
}

/// The stages of a video instruction in 128 bits.
fn video_reference(op: Op, a: i128, b: i128, c: u32, finish: Finish) -> u32 {
    let tmp = match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::AbsDiff => (a - b).abs(),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::ShlWrap => a << (b & 31),
        Op::ShlClamp => a << b.min(32),
        Op::ShrWrap => a >> (b & 31),
        Op::ShrClamp => a >> b.min(32),
        Op::Set(Comparison::Lt) => (a < b).into(),
        Op::Set(Comparison::Ne) => (a != b).into(),
        Op::Set(_) => unreachable!("not drawn"),
    };
    let select = if let Second::Merge(select) = finish.second { select } else { Select::Word };
    let (width, position) = field(select);
    let tmp = if finish.sat { clamped(tmp, width, finish.signed) } else { tmp };
    let third = if finish.signed { i128::from(c as i32) } else { i128::from(c) };
    match finish.second {
        Second::None => tmp as u32,
        Second::Add => (tmp + third) as u32,
        Second::Min => tmp.min(third) as u32,
        Second::Max => tmp.max(third) as u32,
        Second::Merge(_) => {
            let mask = ((1u64 << width) - 1) as u32;
            c & !(mask << position) | ((tmp as u32) & mask) << position
        }
    }
}

#[test]
fn video_instructions_stage_by_stage() {
    let mut random = Random::new(SEED);
    let operations = [
        VideoOp::Add,
        VideoOp::Sub,
        VideoOp::AbsDiff,
        VideoOp::Min,
        VideoOp::Max,
        VideoOp::ShlWrap,
        VideoOp::ShlClamp,
        VideoOp::ShrWrap,
        VideoOp::ShrClamp,
        VideoOp::Set(Comparison::Lt),
        VideoOp::Set(Comparison::Ne),
    ];
    for _ in 0..200_000 {
        let operation = random.pick(&operations);
        let (a, mut b) = (random_source(&mut random), random_source(&mut random));
        if matches!(operation, Op::ShlWrap | Op::ShlClamp | Op::ShrWrap | Op::ShrClamp) {
            b.signed = false;
            b.bits %= if random.chance() { 40 } else { u32::MAX };
        }
        let c = random.integer(32) as u32;
        let merge = Second::Merge(random.pick(&SELECTIONS));
        let second =
            random.pick(&[Second::None, Second::Add, Second::Min, Second::Max, merge, merge]);
        let finish = Finish { signed: random.chance(), sat: random.chance(), second };
        let expected = video_reference(operation, selected(a), selected(b), c, finish);
        let got = video(operation, a, b, c, finish);
        assert_eq!(got, expected, "{operation:?} {a:?} {b:?} {c:x} {finish:?}; seed {SEED:x}");
    }
}

#[test]
fn video_multiply_add() {
    let mut random = Random::new(SEED);
    for _ in 0..100_000 {
        let (a, b) = (random_source(&mut random), random_source(&mut random));
        let c = random.integer(32) as u32;
        let mode = VmadMode {
            plus_one: random.chance(),
            shift: random.pick(&[0, 7, 15]),
            sat: random.chance(),
        };
        let signed = a.signed || b.signed;
        let third = if signed { i128::from(c as i32) } else { i128::from(c) };
        let one = i128::from(mode.plus_one);
        let sum = (selected(a) * selected(b) + third + one) >> mode.shift;
        let expected = if mode.sat { clamped(sum, 32, signed) } else { sum } as u32;
        assert_eq!(vmad(a, b, c, mode), expected, "{a:?} {b:?} {c:x} {mode:?}; seed {SEED:x}");
    }
}
