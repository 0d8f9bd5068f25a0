//! Operands: edges of each type first, each with each, then random numbers.

/// Threads of a kernel: 16 edges of one operand with 16 of another, and as many random values.
pub(crate) const THREADS: usize = 512;

const EDGES: usize = 16;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }
}

/// Digest of bytes (FNV-1a), which seeds the numbers of an array and names results.
pub(crate) fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The values of an array, one for each thread: `kind` says of what, `position` which operand.
pub(crate) fn values(kind: &str, position: usize) -> Vec<u64> {
    let mut random = Random(digest(kind.bytes().chain([position as u8])));
    let draw = |thread: usize| {
        let edge = match position {
            0 => thread % EDGES,
            1 => thread / EDGES % EDGES,
            _ => (7 * thread + thread / EDGES + position) % EDGES,
        };
        let edge = (thread < EDGES * EDGES).then_some(edge);
        value(kind, edge, &mut random)
    };
    (0..THREADS).map(draw).collect()
}

fn value(kind: &str, edge: Option<usize>, random: &mut Random) -> u64 {
    if let Some(element) = kind.strip_prefix("int.") {
        return packed(random, |random| small(element, random.below(17) as i64 - 8), element);
    }
    if let Some(element) = kind.strip_prefix("real.") {
        return packed(random, |random| real(element, random), element);
    }
    if let Some(element) = kind.strip_prefix("wild.") {
        return packed(random, |random| wild(element, random), element);
    }
    if let Some(words) = kind.strip_prefix("memory.") {
        return in_memory(words, random);
    }
    match (kind, edge) {
        ("amount", Some(edge)) => {
            [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, !0][edge]
        }
        ("amount", None) => random.below(80),
        ("lane", _) => random.below(32),
        ("nth", _) => random.below(9).wrapping_sub(4),
        ("clamp", _) => random.below(32) | random.below(32) << 8,
        // Coordinates of textures, up to three texels or periods outside.
        ("texel", _) => u64::from(random.below(12) as u32).wrapping_sub(3) & 0xffff_ffff,
        ("place", _) => coordinate(random, 12.0, 3.0),
        ("period", _) => coordinate(random, 4.0, 1.5),
        ("pred", Some(edge)) => edge as u64 % 2,
        ("pred", None) => random.below(2),
        (_, edge) => match kind.strip_prefix("divisor.") {
            Some(of) => {
                [number(of, edge, random), 3][usize::from(number_is_zero(of, edge, random))]
            }
            None => number(kind, edge, random),
        },
    }
}

/// Whether a divisor has to be replaced: the quotient by zero is not defined.
fn number_is_zero(of: &str, edge: Option<usize>, random: &mut Random) -> bool {
    let mut same = Random(random.0);
    number(of, edge, &mut same) & (u64::MAX >> (64 - width(of))) == 0
}

fn width(of: &str) -> u32 {
    let digits: String = of.chars().filter(char::is_ascii_digit).collect();
    match of {
        "f16x2" | "bf16x2" | "tf32" => 32,
        _ => digits.parse().expect("a type ends with its width"),
    }
}

/// Elements side by side in 64 bits: small integers, numbers of all sizes, or numbers near one; of
/// integers any bits.
fn in_memory(words: &str, random: &mut Random) -> u64 {
    let word = |random: &mut Random| match words.split_once('.') {
        _ if words == "any" => random.draw() & 0xffff_ffff,
        Some(("int", element)) => {
            packed(random, |random| small(element, random.below(17) as i64 - 8), element)
        }
        Some((_, element)) => packed(random, |random| wild(element, random), element),
        None => packed(random, |random| real(words, random), words),
    };
    let low = word(random);
    if words.ends_with("f64") { low } else { low | word(random) << 32 }
}

/// A number of any size: rarely zero, subnormal, infinite or no number.
fn wild(element: &str, random: &mut Random) -> u64 {
    // Bits of the exponent and the fraction; exponents of most numbers.
    let (exponent, fraction, from, to) = match element {
        "f64" => (11, 52, 950, 1100),
        "f16" => (5, 10, 1, 29),
        "bf16" => (8, 7, 60, 190),
        "e5m2" => (5, 2, 1, 29),
        "e4m3" => (4, 3, 1, 14),
        _ => (8, 23, 60, 190),
    };
    let sign = random.below(2) << (exponent + fraction);
    let bits = random.draw() & ((1 << fraction) - 1);
    let size = match random.below(1024) {
        0 => return sign | ((1 << exponent) - 1) << fraction,
        1 => (1 << exponent) - 1,
        2..40 => return sign,
        40..120 => 0,
        _ => from + random.below(to - from),
    };
    sign | size << fraction | bits
}

/// A coordinate in a range of some length that begins below zero: with few bits, or with many.
fn coordinate(random: &mut Random, length: f32, below: f32) -> u64 {
    let fine = random.below(1 << 24) as f32 / (1 << 24) as f32;
    let coarse = random.below(1 << 6) as f32 / (1 << 6) as f32;
    if random.below(32) == 0 {
        return random.draw() & 0xffff_ffff;
    }
    let part = if random.below(2) == 0 { fine } else { coarse };
    u64::from((part * length - below).to_bits())
}

/// Elements of a register of 32 bits, or one of 64.
fn packed(random: &mut Random, mut one: impl FnMut(&mut Random) -> u64, element: &str) -> u64 {
    let bits = match element {
        "e4m3" | "e5m2" => 8,
        other => width(other),
    };
    (0..(32 / bits).max(1)).fold(0, |word, part| word | one(random) << (part * bits))
}

/// A small integer in a floating-point format.
fn small(element: &str, value: i64) -> u64 {
    let bits = u64::from((value as f32).to_bits());
    match element {
        "f64" => (value as f64).to_bits(),
        "f16" => u64::from(half::f16::from_f32(value as f32).to_bits()),
        "bf16" => bits >> 16,
        "e5m2" => {
            u64::from(half::f16::from_f32(value as f32).to_bits() >> 8) & !1 | value as u64 & 1
        }
        "e4m3" => {
            [0, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e, 0x50][value.unsigned_abs() as usize]
                | u64::from(value < 0) << 7
        }
        _ => bits,
    }
}

/// A number near one, of any sign.
fn real(element: &str, random: &mut Random) -> u64 {
    let sign = random.below(2);
    match element {
        "f64" => sign << 63 | (1015 + random.below(16)) << 52 | random.draw() >> 12,
        "f16" => sign << 15 | (9 + random.below(10)) << 10 | random.draw() >> 54,
        "bf16" => sign << 15 | (119 + random.below(14)) << 7 | random.draw() >> 57,
        "e5m2" => sign << 7 | (9 + random.below(12)) << 2 | random.draw() >> 62,
        "e4m3" => sign << 7 | (2 + random.below(11)) << 3 | random.draw() >> 61,
        // The low bits of tf32 do not belong to the number.
        _ => sign << 31 | (119 + random.below(14)) << 23 | random.draw() >> 41,
    }
}

/// A number of a type: an edge, or random bits and numbers near one in turn.
fn number(of: &str, edge: Option<usize>, random: &mut Random) -> u64 {
    let drawn = random.draw();
    match (of, edge) {
        ("f16x2" | "bf16x2", _) => {
            let of = &of[..of.len() - 2];
            let high = number(of, edge.map(|edge| (edge * 5 + 3) % EDGES), random);
            number(of, edge, random) | high << 16
        }
        ("f32" | "tf32", Some(edge)) => u64::from(SINGLES[edge]),
        ("f64", Some(edge)) => DOUBLES[edge],
        ("f16", Some(edge)) => u64::from(HALVES[edge]),
        ("bf16", Some(edge)) => u64::from(SINGLES[edge] >> 16),
        ("f32" | "f64" | "f16" | "bf16", None) if drawn & 1 == 0 => real(of, random),
        (_, None) => drawn,
        (_, Some(edge)) => integer(edge, width(of)),
    }
}

fn integer(edge: usize, width: u32) -> u64 {
    let top = 1 << (width - 1);
    [
        0,
        1,
        2,
        3,
        !0,
        !1,
        top,
        top - 1,
        top + 1,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x1234_5678_9abc_def0,
    ][edge]
}

const SINGLES: [u32; EDGES] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffa1_2345,
    0x0000_0001,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x3f00_0000,
    0x4020_0000,
    0x4f00_0000,
    0xc2fe_8000,
];

const HALVES: [u16; EDGES] = [
    0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfd23, 0x0001, 0x83ff, 0x0400, 0x7bff,
    0x3800, 0x4100, 0x77ff, 0xd7f4,
];

const DOUBLES: [u64; EDGES] = [
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff4_1234_5678_9abc,
    1,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x41e0_0000_0000_0000,
    0xc05f_d000_0000_0000,
];
