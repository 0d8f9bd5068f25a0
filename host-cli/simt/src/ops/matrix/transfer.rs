//! `ldmatrix`, `stmatrix`, `movmatrix`, `wmma.load` and `wmma.store`: matrices between memory and
//! registers.
//!
//! Models: what a warp moves as one access of all lanes to bytes that lie side by side, which goes
//! through the checks of ordinary loads and stores. A lane of `ldmatrix` and `stmatrix` names a row
//! of 16 bytes; lanes beyond the rows named repeat them. The lines of a `wmma` matrix are cut into
//! 32 pieces.

use strata_core::sm::memory::cached::LineUse;

use super::fragment::Fragment;
use crate::access::{BadAccess, LocalFrame, Memory};
use crate::micro::{Access, AddressSource, Component, Direction, MAX_COMPONENTS, Space};
use crate::row::{Lanes, Row};

/// Most bytes to whose multiples pieces of lines are aligned.
const ALIGNED_BYTES: u64 = 16;

/// Rows through which matrices pass.
pub(crate) fn staging() -> Lanes {
    Lanes { rows: vec![Row::ZERO; MAX_COMPONENTS], predicates: Vec::new(), carry: 0 }
}

/// `movmatrix`: a register as a matrix of 8 by 8, and its transpose.
pub(crate) fn transpose(file: &mut Lanes, d: u32, a: u32) {
    let from = file.rows[a as usize].0;
    let to = std::array::from_fn(|lane| {
        (0..2).fold(0, |word, part| {
            let (row, column) = half_place(lane, part, true);
            let half = from[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
            word | half << (16 * part)
        })
    });
    file.rows[d as usize] = Row(to);
}

/// What the registers are.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `ldmatrix`, `stmatrix`: a register for each matrix of 8 by 8, with two elements of 16 bits.
    Rows { registers: Vec<u32>, transposed: bool },
    /// `wmma`: a fragment, and the row of the distance of lines if it is given. Unit of it:
    /// elements. `across`: neighbours in memory are elements of different lines.
    Lines { fragment: Fragment, stride: Option<u32>, across: bool },
}

/// A matrix moved.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) kind: Kind,
    pub(crate) direction: Direction,
    /// Where the operand says; its components are the rows of [`staging`].
    pub(crate) access: Access,
}

/// Why a matrix cannot be moved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BadTransfer {
    Access(BadAccess),
    /// A lane has another value of an operand that has to be the same in all.
    Differs {
        lane: usize,
        operand: &'static str,
    },
    /// The distance of lines divides a piece.
    Stride {
        stride: u32,
    },
}

impl BadTransfer {
    /// The lane, and what is wrong, in words.
    pub(crate) fn said(&self) -> (usize, String) {
        match self {
            Self::Access(bad) => (bad.lane, "the access cannot be carried out".to_owned()),
            Self::Differs { lane, operand } => {
                (*lane, format!("lane {lane} has another value of {operand} than lane 0"))
            }
            Self::Stride { stride } => {
                (0, format!("a stride of {stride} elements leads to addresses that are misaligned"))
            }
        }
    }
}

/// The access of `bytes` in each lane to a place in memory.
pub(crate) fn access(
    (space, address): (Space, AddressSource),
    bytes: u32,
    line_use: LineUse,
) -> Access {
    let mut components = [Component::default(); MAX_COMPONENTS];
    for (row, component) in (0..).zip(&mut components) {
        *component = Component { row, rows: 1, half: false, skipped: false };
    }
    Access {
        space,
        address,
        size: 4,
        count: bytes / 4,
        signed: false,
        components,
        line_use,
        atomic: None,
    }
}

impl Transfer {
    /// The address of each lane.
    pub(crate) fn addresses(
        &self,
        file: &Lanes,
        memory: &Memory<'_>,
    ) -> Result<[u64; 32], BadTransfer> {
        let given = memory.resolve(file, self.access.address);
        match &self.kind {
            Kind::Rows { registers, .. } => {
                // One, two or four registers: a power of two.
                let last = 8 * registers.len() - 1;
                Ok(std::array::from_fn(|lane| given[lane & last & 31]))
            }
            Kind::Lines { fragment, stride, across } => {
                same(&given, "the address")?;
                let piece = u64::from(self.access.size * self.access.count);
                let length = line_in_memory(fragment, *across);
                let line = (length * fragment.element.bits() / 8) as u64;
                let distance = match *stride {
                    None => line,
                    Some(row) => {
                        let strides = &file.rows[row as usize].0;
                        same(strides, "the stride")?;
                        let bits = fragment.element.bits() / fragment.element.counted();
                        let bits = u64::from(strides[0]) * bits as u64;
                        if !bits.is_multiple_of(8 * piece.min(ALIGNED_BYTES)) {
                            return Err(BadTransfer::Stride { stride: strides[0] });
                        }
                        bits / 8
                    }
                };
                Ok(std::array::from_fn(|lane| {
                    let byte = lane as u64 * piece;
                    let start = (byte / line).wrapping_mul(distance);
                    given[0].wrapping_add(start).wrapping_add(byte % line)
                }))
            }
        }
    }

    /// Moves it, in all lanes.
    pub(crate) fn run(
        &self,
        (file, local): (&mut Lanes, &mut LocalFrame),
        staging: &mut Lanes,
        memory: &mut Memory<'_>,
    ) -> Result<(), BadTransfer> {
        let addresses = self.addresses(file, memory)?;
        if matches!(self.kind, Kind::Rows { .. }) {
            let within = memory.within_shared(&self.access, &addresses, self.direction);
            within.map_err(BadTransfer::Access)?;
        }
        if self.direction == Direction::Store {
            self.stage(file, staging);
        }
        // Lines begin at multiples of 16 bytes, so longer pieces move in two parts.
        let words = self.access.count.min(ALIGNED_BYTES as u32 / 4);
        for first in (0..self.access.count).step_by(words as usize) {
            let addresses = addresses.map(|address| address.wrapping_add(4 * u64::from(first)));
            let mut part = Access { count: words, ..self.access };
            part.components.rotate_left(first as usize);
            let all = u32::MAX;
            let moved = memory.access_at((staging, local), &part, &addresses, all, self.direction);
            moved.map_err(|bad| BadTransfer::Access(self.blame(bad)))?;
        }
        if self.direction == Direction::Load {
            self.unstage(file, staging);
        }
        Ok(())
    }

    /// Names the first lane for accesses that belong to no lane.
    fn blame(&self, bad: BadAccess) -> BadAccess {
        match self.kind {
            Kind::Rows { .. } => bad,
            Kind::Lines { .. } => BadAccess { lane: 0, ..bad },
        }
    }

    /// From registers to the rows that are stored.
    fn stage(&self, file: &Lanes, staging: &mut Lanes) {
        match &self.kind {
            Kind::Rows { registers, transposed } => {
                staging.rows.fill(Row::ZERO);
                for (matrix, &register) in registers.iter().enumerate() {
                    for lane in 0..32 {
                        let word = file.get32(register, lane);
                        for part in 0..2 {
                            let (row, column) = half_place(lane, part, *transposed);
                            let at = column / 2;
                            let bits = (word >> (16 * part) & 0xffff) << (16 * (column % 2));
                            staging.rows[at].0[8 * matrix + row] |= bits;
                        }
                    }
                }
                let used = 8 * registers.len();
                for row in &mut staging.rows {
                    for lane in used..32 {
                        row.0[lane] = row.0[lane % used];
                    }
                }
            }
            Kind::Lines { fragment, across: false, .. } => {
                for (row, from) in staging.rows.iter_mut().zip(words(fragment)) {
                    *row = file.rows[from as usize];
                }
            }
            Kind::Lines { fragment, .. } => {
                let rows: Vec<u32> = words(fragment).collect();
                staging.rows.fill(Row::ZERO);
                each_across(fragment, |bits, (from, at), (to, under)| {
                    let value = file.get32(rows[from.0], from.1) >> at & bits;
                    staging.rows[to.0].0[to.1] |= value << under;
                });
            }
        }
    }

    /// From the rows that were loaded to registers.
    fn unstage(&self, file: &mut Lanes, staging: &Lanes) {
        match &self.kind {
            Kind::Rows { registers, transposed } => {
                for (matrix, &register) in registers.iter().enumerate() {
                    if !transposed {
                        let moved: [&[u32; 8]; 4] = std::array::from_fn(|column| {
                            let row = &staging.rows[column].0;
                            &row.as_chunks::<8>().0[matrix]
                        });
                        let word = |lane: usize| moved[lane % 4][lane / 4];
                        file.rows[register as usize] = Row(std::array::from_fn(word));
                        continue;
                    }
                    for lane in 0..32 {
                        let mut word = 0;
                        for part in 0..2 {
                            let (row, column) = half_place(lane, part, *transposed);
                            let from = staging.get32((column / 2) as u32, 8 * matrix + row);
                            word |= (from >> (16 * (column % 2)) & 0xffff) << (16 * part);
                        }
                        file.put32(register, lane, word);
                    }
                }
            }
            Kind::Lines { fragment, across, .. } => {
                let rows: Vec<u32> = words(fragment).collect();
                for (&from, &row) in staging.rows.iter().zip(&rows) {
                    file.rows[row as usize] = if *across { Row::ZERO } else { from };
                }
                if *across {
                    each_across(fragment, |bits, (to, under), (from, at)| {
                        let value = staging.rows[from.0].0[from.1] >> at & bits;
                        file.rows[rows[to.0] as usize].0[to.1] |= value << under;
                    });
                }
                fragment.repeat(file);
            }
        }
    }
}

/// Row and column of a half of a lane's register in a matrix of 8 by 8.
fn half_place(lane: usize, part: usize, transposed: bool) -> (usize, usize) {
    let (line, position) = (lane / 4, 2 * (lane % 4) + part);
    if transposed { (position, line) } else { (line, position) }
}

/// Elements of a line in memory.
fn line_in_memory(fragment: &Fragment, across: bool) -> usize {
    if across { fragment.lines } else { fragment.length }
}

/// The rows of the distinct registers, of wide ones both.
fn words(fragment: &Fragment) -> impl Iterator<Item = u32> + '_ {
    let wide = u32::from(fragment.element.bits() == 64);
    fragment.rows[..fragment.distinct].iter().flat_map(move |&row| row..=row + wide)
}

/// A word of 32 lanes and the lane; the bit in it.
type Bit = ((usize, usize), u32);

/// Calls `visit` for each element, or word of one, with its mask, where it is in the fragment and
/// where among what is moved, if these are each other's transposes.
fn each_across(fragment: &Fragment, mut visit: impl FnMut(u32, Bit, Bit)) {
    let bits = fragment.element.bits();
    let unit = bits.min(32);
    let mask = u32::MAX >> (32 - unit);
    let in_lane = fragment.lines * fragment.length * bits / 32;
    let place = |bit: usize| -> Bit {
        let (lane, rest) = (bit / in_lane, bit % in_lane);
        ((rest / 32, lane), (rest % 32) as u32)
    };
    for line in 0..fragment.lines {
        for position in 0..fragment.length {
            let inside = (line * fragment.length + position) * bits;
            let outside = (position * fragment.lines + line) * bits;
            for part in (0..bits).step_by(unit) {
                visit(mask, place(inside + part), place(outside + part));
            }
        }
    }
}

/// Checks that all lanes have the value of the first.
fn same<T: PartialEq>(values: &[T; 32], operand: &'static str) -> Result<(), BadTransfer> {
    let other = values.iter().position(|value| *value != values[0]);
    other.map_or(Ok(()), |lane| Err(BadTransfer::Differs { lane, operand }))
}
