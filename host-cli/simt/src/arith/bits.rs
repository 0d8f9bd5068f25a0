//! Bit fields, permutation, logic by table, funnel shifts.

use strata_ptx::opcode::{Bounds, Direction, PermuteMode};

macro_rules! counts {
    ($bits:ty; $popc:ident $clz:ident $brev:ident $cnot:ident $name:literal) => {
        #[doc = concat!("`popc.", $name, "`.")]
        #[inline]
        pub fn $popc(a: $bits) -> u32 {
            a.count_ones()
        }

        #[doc = concat!("`clz.", $name, "`: the width for zero.")]
        #[inline]
        pub fn $clz(a: $bits) -> u32 {
            a.leading_zeros()
        }

        #[doc = concat!("`brev.", $name, "`.")]
        #[inline]
        pub fn $brev(a: $bits) -> $bits {
            a.reverse_bits()
        }

        #[doc = concat!("`cnot.", $name, "`: 1 for zero, otherwise 0.")]
        #[inline]
        pub fn $cnot(a: $bits) -> $bits {
            <$bits>::from(a == 0)
        }
    };
}

counts!(u32; popc_b32 clz_b32 brev_b32 cnot_b32 "b32");
counts!(u64; popc_b64 clz_b64 brev_b64 cnot_b64 "b64");

/// `cnot.b16`: 1 for zero, otherwise 0.
#[inline]
pub fn cnot_b16(a: u16) -> u16 {
    u16::from(a == 0)
}

macro_rules! fields {
    ($bits:ty, $signed:ty; $bfind:ident $bfe:ident $bfi:ident $name:literal) => {
        #[doc = concat!("`bfind` for ", $name, " bits: position of the highest bit that differs")]
        /// from the sign (for unsigned types, of the highest one). With `shift_amount`, the left
        /// shift that brings it to the top. `0xffffffff` when there is none.
        #[inline]
        pub fn $bfind(a: $bits, signed: bool, shift_amount: bool) -> u32 {
            let a = if signed && (a as $signed) < 0 { !a } else { a };
            match a.checked_ilog2() {
                None => u32::MAX,
                Some(_) if shift_amount => a.leading_zeros(),
                Some(position) => position,
            }
        }

        #[doc = concat!("`bfe` for ", $name, " bits: `length` bits from `position` (the low eight")]
        /// bits of each count), extended. Bits beyond the top are 0, or the sign of `a` for
        /// `signed`; so is the extension where the field reaches beyond it.
        #[inline]
        pub fn $bfe(a: $bits, position: u32, length: u32, signed: bool) -> $bits {
            let (position, length) = (position & 0xff, length & 0xff);
            if length == 0 {
                return 0;
            }
            if signed {
                let field = (a as $signed).unbounded_shr(position);
                let up = <$bits>::BITS.saturating_sub(length);
                (field << up >> up) as $bits
            } else {
                a.unbounded_shr(position) & ones::<$bits>(length) as $bits
            }
        }

        #[doc = concat!("`bfi` for ", $name, " bits: `b` with the `length` low bits of `a` put in")]
        /// at `position` (the low eight bits of each count); what does not fit is dropped.
        #[inline]
        pub fn $bfi(a: $bits, b: $bits, position: u32, length: u32) -> $bits {
            let (position, length) = (position & 0xff, length & 0xff);
            let mask = (ones::<$bits>(length) as $bits).unbounded_shl(position);
            b & !mask | a.unbounded_shl(position) & mask
        }
    };
}

/// A mask of the `count` lowest bits, at most as many as the type has.
#[inline]
fn ones<T>(count: u32) -> u64 {
    let width = 8 * size_of::<T>() as u32;
    !u64::MAX.unbounded_shl(count.min(width))
}

fields!(u32, i32; bfind_32 bfe_32 bfi_b32 "32");
fields!(u64, i64; bfind_64 bfe_64 bfi_b64 "64");

/// `bmsk.clamp`/`bmsk.wrap`: a mask of `b` ones from bit `a`; ones beyond bit 31 are dropped.
/// `.wrap` takes the low five bits of `a` and `b`.
#[inline]
pub fn bmsk(a: u32, b: u32, bounds: Bounds) -> u32 {
    let (position, width) = match bounds {
        Bounds::Clamp => (a, b),
        Bounds::Wrap => (a & 31, b & 31),
    };
    (ones::<u32>(width) as u32).unbounded_shl(position)
}

/// `szext.clamp`/`szext.wrap`: the low `b` bits of `a`, extended; 0 for no bits. 32 bits and more
/// are all of `a` with `.clamp`; `.wrap` takes the low five bits of `b`.
#[inline]
pub fn szext(a: u32, b: u32, signed: bool, bounds: Bounds) -> u32 {
    let count = match bounds {
        Bounds::Clamp => b.min(32),
        Bounds::Wrap => b & 31,
    };
    let up = 32 - count;
    let top = a.unbounded_shl(up);
    if count == 0 {
        0
    } else if signed {
        (top as i32 >> up) as u32
    } else {
        top >> up
    }
}

/// `fns`: position of the n-th set bit of `mask` from bit `base`, `0xffffffff` when there is none.
///
/// `offset` is n: from `base` upwards if positive, downwards if negative; 0 asks for the bit at
/// `base` itself. A `base` above 31, undefined in PTX, finds nothing.
#[inline]
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let mut candidates = match offset {
        0 => mask & 1 << base,
        1.. => mask & u32::MAX << base,
        _ => mask & u32::MAX >> (31 - base),
    };
    // No more than 32 bits can be skipped, so a large count ends with no candidates.
    let skipped = offset.unsigned_abs().saturating_sub(1).min(32);
    for _ in 0..skipped {
        if offset > 0 {
            candidates &= candidates.wrapping_sub(1);
        } else if let Some(highest) = candidates.checked_ilog2() {
            candidates ^= 1 << highest;
        }
    }
    match candidates.checked_ilog2() {
        None => u32::MAX,
        Some(_) if offset > 0 => candidates.trailing_zeros(),
        Some(highest) => highest,
    }
}

/// `prmt`: four bytes of the pair `b:a` (bytes 7 to 4 are `b`'s). `None` is the general form: each
/// nibble of `c`'s low half selects a byte, and its upper bit asks for copies of the byte's sign.
#[inline]
pub fn prmt(a: u32, b: u32, c: u32, mode: Option<PermuteMode>) -> u32 {
    let selectors = match mode {
        None => c,
        Some(mode) => mode_selectors(mode, c & 3),
    };
    let pair = u64::from(b) << 32 | u64::from(a);
    let mut result = 0;
    for i in 0..4 {
        let selector = selectors >> (4 * i) & 0xf;
        let byte = (pair >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 };
        result |= u32::from(byte) << (8 * i);
    }
    result
}

/// The general form's selectors for a mode; `n` is 0 to 3. (Bytes 3 to 0, from the table of PTX.)
#[inline]
fn mode_selectors(mode: PermuteMode, n: u32) -> u32 {
    let table: [u32; 4] = match mode {
        PermuteMode::F4e => [0x3210, 0x4321, 0x5432, 0x6543],
        PermuteMode::B4e => [0x5670, 0x6701, 0x7012, 0x0123],
        PermuteMode::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333],
        PermuteMode::Ecl => [0x3210, 0x3211, 0x3222, 0x3333],
        PermuteMode::Ecr => [0x0000, 0x1110, 0x2210, 0x3210],
        PermuteMode::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232],
    };
    table[(n & 3) as usize]
}

/// `lop3.b32`: for each bit position, bit `4a + 2b + c` of `table`.
#[inline]
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    // The sum of the products of the table's ones.
    let mut result = 0;
    for row in 0..8 {
        let chosen = 0u32.wrapping_sub(u32::from(table >> row & 1));
        let x = if row & 4 == 0 { !a } else { a };
        let y = if row & 2 == 0 { !b } else { b };
        let z = if row & 1 == 0 { !c } else { c };
        result |= chosen & x & y & z;
    }
    result
}

/// `shf`: the pair `b:a` shifted by `c`; the upper word of it for left, the lower for right.
/// `.clamp` stops at 32, `.wrap` takes the low five bits of `c`.
#[inline]
pub fn shf(a: u32, b: u32, c: u32, direction: Direction, bounds: Bounds) -> u32 {
    let amount = match bounds {
        Bounds::Clamp => c.min(32),
        Bounds::Wrap => c & 31,
    };
    let pair = u64::from(b) << 32 | u64::from(a);
    match direction {
        Direction::Left => ((pair << amount) >> 32) as u32,
        Direction::Right => (pair >> amount) as u32,
    }
}
