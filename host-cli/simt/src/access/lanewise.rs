//! Lane by lane: how a warp's offsets lie, and moving values between bytes and rows.
//!
//! Every function here is given offsets that were checked to lie inside.

use strata_ptx::opcode::AtomicOp;

use crate::arith::atomic::atomic;
use crate::micro::{Access, Atomic, Component, Direction};
use crate::row::{Lanes, lanes, store_row};

/// Addresses or offsets of a warp, by lane; of inactive lanes, anything.
pub(super) type Addresses = [u64; 32];

/// How the active lanes' offsets lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All the same.
    Uniform,
    /// All 32 lanes active, each one access after the lane before.
    Unit,
    /// All 32 lanes active; each half of the warp all the same, or each lane one access after the
    /// lane before: what CTAs 16 threads wide do.
    Halves([HalfPattern; 2]),
    /// All 32 lanes active, anywhere.
    Scattered,
    /// Some lanes active, anywhere.
    Partial,
}

/// How the offsets of 16 lanes lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HalfPattern {
    Uniform,
    Unit,
}

fn half_pattern(offsets: &[u64], size: u64) -> Option<HalfPattern> {
    let first = *offsets.first()?;
    // Sizes are powers of two; a shift is a vector instruction everywhere, a product is not.
    let shift = size.trailing_zeros() & 63;
    let (mut unlike, mut apart) = (0, 0);
    for (&offset, lane) in offsets.iter().zip(0u64..) {
        unlike |= offset ^ first;
        apart |= offset ^ first.wrapping_add(lane << shift);
    }
    match (unlike, apart) {
        (0, _) => Some(HalfPattern::Uniform),
        (_, 0) => Some(HalfPattern::Unit),
        _ => None,
    }
}

pub(super) fn pattern(offsets: &Addresses, mask: u32, size: u64) -> Pattern {
    if mask != u32::MAX {
        let first = offsets[mask.trailing_zeros() as usize & 31];
        let uniform = lanes(mask).all(|lane| offsets[lane] == first);
        return if uniform { Pattern::Uniform } else { Pattern::Partial };
    }
    let (low, high) = offsets.split_at(16);
    let (Some(below), Some(above)) = (half_pattern(low, size), half_pattern(high, size)) else {
        return Pattern::Scattered;
    };
    match (below, above) {
        (HalfPattern::Uniform, HalfPattern::Uniform) if low[0] == high[0] => Pattern::Uniform,
        (HalfPattern::Unit, HalfPattern::Unit) if high[0] == low[0].wrapping_add(16 * size) => {
            Pattern::Unit
        }
        _ => Pattern::Halves([below, above]),
    }
}

/// True when every active access lies inside `extent` bytes.
pub(super) fn inside(offsets: &Addresses, mask: u32, size: u64, extent: u64) -> bool {
    let Some(last) = extent.checked_sub(size) else { return false };
    if mask == u32::MAX {
        // The top bit of `last - offset` or of `offset` says that it is outside, if `last` has
        // none; vector units without 64-bit comparisons can do that.
        let any = offsets.iter().fold(last, |any, &o| any | o | last.wrapping_sub(o));
        return any >> 63 == 0;
    }
    lanes(mask).all(|lane| offsets[lane] <= last)
}

/// The lowest active lane whose address is not a multiple of the size.
pub(super) fn misaligned(addresses: &Addresses, mask: u32, size: u64) -> Option<usize> {
    let low = size - 1;
    let any = addresses.iter().fold(0, |any, &address| any | address) & low;
    if any == 0 {
        return None;
    }
    lanes(mask).find(|&lane| addresses[lane] & low != 0)
}

/// Moves the active lanes' values; every offset is inside.
pub(super) fn transfer(
    data: &mut [u8],
    file: &mut Lanes,
    access: &Access,
    offsets: &Addresses,
    mask: u32,
    direction: Direction,
) {
    match direction {
        Direction::Load => gather(data, file, access, offsets, mask),
        Direction::Store => scatter(data, file, access, offsets, mask),
        Direction::Atomic { flush } => {
            for lane in lanes(mask) {
                let first = offsets[lane] as usize;
                let bytes = &mut data[first..first + access.bytes() as usize];
                apply(file, access, lane, bytes, flush);
            }
        }
    }
}

/// Little-endian value of up to 8 bytes.
pub(super) fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// One lane's atomic on its bytes: each component of a vector by itself.
pub(super) fn apply(file: &mut Lanes, access: &Access, lane: usize, bytes: &mut [u8], flush: bool) {
    let Some(operation) = &access.atomic else { return };
    let words = access.size.div_ceil(4);
    let value = |file: &Lanes, row: u32| {
        (0..words)
            .rev()
            .fold(0, |all: u128, word| all << 32 | u128::from(file.get32(row + word, lane)))
    };
    // All are read before a result is written, which may be an operand too.
    let operands = operation.b.map(|row| value(file, row));
    let c = value(file, operation.c);
    for (index, part) in bytes.chunks_exact_mut(access.size as usize).enumerate() {
        let old = part.iter().rev().fold(0, |all: u128, &byte| all << 8 | u128::from(byte));
        let new = changed(operation, old, (operands[index], c), flush).to_le_bytes();
        part.copy_from_slice(&new[..part.len()]);
        let Some(results) = operation.d else { continue };
        for word in 0..words {
            file.put32(results[index] + word, lane, (old >> (32 * word)) as u32);
        }
    }
}

/// What an atomic stores over `old`.
fn changed(operation: &Atomic, old: u128, (b, c): (u128, u128), flush: bool) -> u128 {
    match operation.operation {
        AtomicOp::Exch if operation.ty.bits() == 128 => b,
        AtomicOp::Cas if operation.ty.bits() == 128 => {
            if old == b {
                c
            } else {
                old
            }
        }
        _ => {
            let new =
                atomic(operation.operation, operation.ty, old as u64, b as u64, c as u64, flush);
            // Which combinations exist was checked when decoding; `None` cannot happen and changes
            // nothing.
            new.map_or(old, u128::from)
        }
    }
}

fn word(data: &[u8], offset: u64) -> u32 {
    let first = offset as usize;
    data[first..first + 4].try_into().map_or(0, u32::from_le_bytes)
}

/// One word of each active lane, `skip` bytes after its offset; lanes in order are `stride` apart.
fn words_of(
    data: &[u8],
    offsets: &Addresses,
    (pattern, mask): (Pattern, u32),
    skip: u64,
    stride: usize,
) -> [u32; 32] {
    let mut values = [0; 32];
    let spread = |values: &mut [u32], first: u64| {
        let first = first as usize;
        let block = &data[first..first + values.len() * stride];
        for (value, chunk) in values.iter_mut().zip(block.chunks_exact(stride)) {
            *value = word(chunk, skip);
        }
    };
    match pattern {
        Pattern::Uniform => {
            let first = offsets[mask.trailing_zeros() as usize & 31];
            values = [word(data, first + skip); 32];
        }
        Pattern::Unit => spread(&mut values, offsets[0]),
        Pattern::Halves(halves) => {
            for ((values, offsets), half) in
                values.chunks_exact_mut(16).zip(offsets.chunks_exact(16)).zip(halves)
            {
                match half {
                    HalfPattern::Uniform => values.fill(word(data, offsets[0] + skip)),
                    HalfPattern::Unit => spread(values, offsets[0]),
                }
            }
        }
        Pattern::Scattered => {
            for (value, offset) in values.iter_mut().zip(offsets) {
                *value = word(data, offset + skip);
            }
        }
        Pattern::Partial => {
            for lane in lanes(mask) {
                values[lane] = word(data, offsets[lane] + skip);
            }
        }
    }
    values
}

pub(super) fn gather(
    data: &[u8],
    file: &mut Lanes,
    access: &Access,
    offsets: &Addresses,
    mask: u32,
) {
    if !access.size.is_multiple_of(4) {
        return gather_narrow(data, file, access, offsets, mask);
    }
    if mask == u32::MAX && (access.size, access.count) == (4, 4) {
        return gather_quads(data, file, access, offsets);
    }
    let pattern = pattern(offsets, mask, access.bytes());
    let words = access.size / 4;
    let total = access.bytes() as usize;
    for (index, component) in access.components[..access.count as usize].iter().enumerate() {
        for part in 0..words {
            let skip = u64::from(index as u32 * access.size + part * 4);
            let row = &mut file.rows[(component.row + part) as usize];
            let values = words_of(data, offsets, (pattern, mask), skip, total);
            store_row(row, &values, mask);
        }
        extend(file, *component, words, access.signed, mask);
    }
}

/// Four words of each of 32 lanes, wherever they lie: one look at the bytes of a lane.
fn gather_quads(data: &[u8], file: &mut Lanes, access: &Access, offsets: &Addresses) {
    let mut values = [[0; 32]; 4];
    for (lane, &offset) in offsets.iter().enumerate() {
        let bytes = &data[offset as usize..][..16];
        for (values, word) in values.iter_mut().zip(bytes.as_chunks().0) {
            values[lane] = u32::from_le_bytes(*word);
        }
    }
    for (component, values) in access.components.iter().zip(values) {
        file.rows[component.row as usize].0 = values;
        extend(file, *component, 1, access.signed, u32::MAX);
    }
}

/// Fills the rows of a register that is wider than what was loaded.
pub(super) fn extend(file: &mut Lanes, component: Component, words: u32, signed: bool, mask: u32) {
    for part in words..u32::from(component.rows) {
        let last = file.rows[(component.row + part - 1) as usize].0;
        let above = last.map(|word| if signed { (word as i32 >> 31) as u32 } else { 0 });
        store_row(&mut file.rows[(component.row + part) as usize], &above, mask);
    }
}

fn gather_narrow(data: &[u8], file: &mut Lanes, access: &Access, offsets: &Addresses, mask: u32) {
    let size = access.size as usize;
    for (index, component) in access.components[..access.count as usize].iter().enumerate() {
        let mut values = [0; 32];
        for lane in lanes(mask) {
            let at = offsets[lane] as usize + index * size;
            values[lane] = narrow(&data[at..at + size], access, *component);
        }
        store_row(&mut file.rows[component.row as usize], &values, mask);
        extend(file, *component, 1, access.signed, mask);
    }
}

/// A value of one or two bytes as its register holds it.
pub(super) fn narrow(bytes: &[u8], access: &Access, component: Component) -> u32 {
    let value = little(bytes) as u32;
    let value = match (access.signed, access.size) {
        (true, 1) => value as u8 as i8 as u32,
        (true, 2) => value as u16 as i16 as u32,
        _ => value,
    };
    if component.half { value & 0xffff } else { value }
}

fn scatter(data: &mut [u8], file: &Lanes, access: &Access, offsets: &Addresses, mask: u32) {
    let size = access.size as usize;
    let components = &access.components[..access.count as usize];
    let unit = mask == u32::MAX
        && size == 4
        && access.count == 1
        && matches!(pattern(offsets, mask, 4), Pattern::Unit);
    if unit {
        let at = offsets[0] as usize;
        let row = &file.rows[components[0].row as usize].0;
        for (chunk, value) in data[at..at + 128].as_chunks_mut::<4>().0.iter_mut().zip(row) {
            *chunk = value.to_le_bytes();
        }
        return;
    }
    for lane in lanes(mask) {
        let at = offsets[lane] as usize;
        for (index, component) in components.iter().enumerate() {
            let target = &mut data[at + index * size..at + (index + 1) * size];
            put(file, *component, lane, target);
        }
    }
}

/// Stores one lane's component, unless it is one that a store skips.
pub(super) fn put(file: &Lanes, component: Component, lane: usize, target: &mut [u8]) {
    if component.skipped {
        return;
    }
    if let Ok(word) = <&mut [u8; 4]>::try_from(&mut *target) {
        *word = file.get32(component.row, lane).to_le_bytes();
        return;
    }
    for (chunk, row) in target.chunks_mut(4).zip(component.row..) {
        let word = file.get32(row, lane).to_le_bytes();
        let length = chunk.len();
        chunk.copy_from_slice(&word[..length]);
    }
}
