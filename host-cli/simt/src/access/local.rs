//! Local memory: each thread's frame, interleaved by lane: one word of all threads is a row.

use super::lanewise::{Addresses, Pattern, apply, extend, little, narrow, pattern, put};
use crate::exec::digest::Digest;
use crate::micro::{Access, AddressSource, Component, Direction};
use crate::row::{Lanes, Row, lanes, store_row};

/// Local memory of a warp's threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalFrame {
    /// Word `i` of every lane's frame; grows with the highest word written.
    words: Vec<Row>,
    /// Frame size, spill slots included. Unit: bytes.
    bytes: u64,
    /// The part that the kernel itself may reach. Unit: bytes.
    own: u64,
}

impl LocalFrame {
    /// Empties the frame and sets its size, and how many bytes at its end are spill slots.
    pub(crate) fn reset(&mut self, bytes: u64, slots: u64) {
        self.words.clear();
        self.bytes = bytes;
        self.own = bytes.saturating_sub(slots);
    }

    /// What it takes. Unit: bytes.
    pub(crate) fn held(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    /// All that it holds.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        digest.rows(&self.words);
    }

    /// How far an access may reach: stray ones of the kernel do not get to its spilled values.
    pub(super) fn extent(&self, access: &Access) -> u64 {
        if matches!(access.address, AddressSource::Slot(_)) { self.bytes } else { self.own }
    }

    /// Reads up to 32 bytes of a lane that lie inside the frame.
    fn read(&self, lane: usize, offset: u64, target: &mut [u8]) {
        for (byte, at) in target.iter_mut().zip(offset..) {
            let word = self.words.get((at / 4) as usize).map_or(0, |row| row.0[lane]);
            *byte = (word >> (8 * (at % 4))) as u8;
        }
    }

    /// Writes up to 32 bytes of a lane that lie inside the frame.
    fn write(&mut self, lane: usize, offset: u64, source: &[u8]) {
        self.grow(offset + source.len() as u64);
        for (&byte, at) in source.iter().zip(offset..) {
            let word = &mut self.words[(at / 4) as usize].0[lane];
            let shift = 8 * (at % 4);
            *word = (*word & !(0xff << shift)) | u32::from(byte) << shift;
        }
    }

    fn grow(&mut self, bytes: u64) {
        let words = bytes.div_ceil(4) as usize;
        if self.words.len() < words {
            self.words.resize(words, Row::ZERO);
        }
    }
}

impl LocalFrame {
    /// Moves the active lanes' values; every offset is inside.
    pub(super) fn transfer(
        &mut self,
        file: &mut Lanes,
        access: &Access,
        offsets: &Addresses,
        mask: u32,
        direction: Direction,
    ) {
        let first = offsets[mask.trailing_zeros() as usize & 31];
        let uniform = matches!(pattern(offsets, mask, access.bytes()), Pattern::Uniform);
        if uniform
            && access.size.is_multiple_of(4)
            && matches!(direction, Direction::Load | Direction::Store)
        {
            return self.rows(file, access, first, mask, direction);
        }
        let mut bytes = [0; 8 * MAX_BYTES];
        let total = access.bytes() as usize;
        let size = access.size as usize;
        let components = &access.components[..access.count as usize];
        for lane in lanes(mask) {
            let bytes = &mut bytes[..total];
            match direction {
                Direction::Load => {
                    self.read(lane, offsets[lane], bytes);
                    for (component, part) in components.iter().zip(bytes.chunks(size)) {
                        load_lane(file, access, *component, lane, part);
                    }
                }
                Direction::Store => {
                    if components.iter().any(|component| component.skipped) {
                        self.read(lane, offsets[lane], bytes);
                    }
                    for (component, part) in components.iter().zip(bytes.chunks_mut(size)) {
                        put(file, *component, lane, part);
                    }
                    self.write(lane, offsets[lane], bytes);
                }
                Direction::Atomic { flush } => {
                    self.read(lane, offsets[lane], bytes);
                    apply(file, access, lane, bytes, flush);
                    self.write(lane, offsets[lane], bytes);
                }
            }
        }
    }

    /// Every lane at the same offset: rows move as a whole.
    fn rows(
        &mut self,
        file: &mut Lanes,
        access: &Access,
        offset: u64,
        mask: u32,
        direction: Direction,
    ) {
        let words = access.size / 4;
        if direction == Direction::Store {
            self.grow(offset + access.bytes());
        }
        let mut at = (offset / 4) as usize;
        for component in &access.components[..access.count as usize] {
            for part in 0..words {
                let row = (component.row + part) as usize;
                if component.skipped {
                    // Its words keep their contents.
                } else if direction == Direction::Store {
                    store_row(&mut self.words[at], &file.rows[row].0, mask);
                } else {
                    let value = self.words.get(at).map_or([0; 32], |row| row.0);
                    store_row(&mut file.rows[row], &value, mask);
                }
                at += 1;
            }
            if direction == Direction::Load {
                extend(file, *component, words, access.signed, mask);
            }
        }
    }

    /// Reads a lane's value of 4 or 8 bytes; `None` outside of the frame.
    pub(crate) fn peek(&self, lane: usize, offset: u64, size: u32) -> Option<u64> {
        let mut bytes = [0; 8];
        let bytes = bytes.get_mut(..size as usize)?;
        let end = offset.checked_add(u64::from(size))?;
        (end <= self.own).then(|| {
            self.read(lane, offset, bytes);
            little(bytes)
        })
    }

    /// Writes a lane's 32-bit value, if it lies inside of the frame.
    pub(crate) fn poke(&mut self, lane: usize, offset: u64, value: u32) {
        if offset.checked_add(4).is_some_and(|end| end <= self.own) {
            self.write(lane, offset, &value.to_le_bytes());
        }
    }
}

/// Most bytes of a component (`.b128`).
const MAX_BYTES: usize = 16;

/// Loads one lane's component.
fn load_lane(file: &mut Lanes, access: &Access, component: Component, lane: usize, part: &[u8]) {
    let mask = 1 << lane;
    if part.len() < 4 {
        file.put32(component.row, lane, narrow(part, access, component));
        extend(file, component, 1, access.signed, mask);
        return;
    }
    for (chunk, row) in part.chunks(4).zip(component.row..) {
        file.put32(row, lane, little(chunk) as u32);
    }
    extend(file, component, part.len() as u32 / 4, access.signed, mask);
}
