//! Fragments: matrices spread over the registers of a warp.

use super::layout::{self, Role, Slot};
use crate::arith::matrix::Shape;
use crate::arith::tensor::{Lines, MAX_LINES, MAX_TERMS};
use crate::row::Lanes;

/// What the elements of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
    S4,
    U4,
    /// Single bits, of which 32 are one element here.
    B1,
    S32,
}

impl Element {
    /// Width of an element. Unit: bits.
    pub(crate) const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::Tf32 | Self::F32 | Self::S32 | Self::B1 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
        }
    }

    /// Elements of a register.
    pub(crate) const fn parts(self) -> usize {
        let bits = self.bits();
        if bits >= 32 { 1 } else { 32 / bits }
    }

    /// Whether tensor cores multiply it as a floating-point number.
    const fn is_factor(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::Tf32 | Self::E4m3 | Self::E5m2)
    }

    /// Elements as PTX counts them in one of ours.
    pub(crate) const fn counted(self) -> usize {
        if matches!(self, Self::B1) { 32 } else { 1 }
    }
}

/// Which instruction fixes how a matrix is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Mma,
    /// `mma.m8n8k4` of f16: four products, of 8 lanes each. Whether A and B are stored in lines
    /// of columns, which changes how they are spread.
    Quarters {
        columns: [bool; 2],
    },
    Wmma,
}

/// A matrix in registers.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    /// The first row of each register.
    pub(crate) rows: Vec<u32>,
    pub(crate) element: Element,
    /// Lines, and elements of each.
    pub(crate) lines: usize,
    pub(crate) length: usize,
    /// Registers that hold the whole matrix; those beyond repeat them.
    pub(crate) distinct: usize,
    /// Where each element is in its matrix, row after row; lanes of a part of a register together.
    /// Of factors of a tensor core: where each register is among words of [`Lines`].
    places: Vec<u16>,
}

impl Fragment {
    /// The fragment of a matrix without its registers.
    pub(crate) fn new(family: Family, role: Role, shape: Shape, element: Element) -> Self {
        let (lines, length) = match role {
            Role::A => (shape.m, shape.k),
            Role::B => (shape.n, shape.k),
            Role::C => (shape.m, shape.n),
        };
        let quarters = if matches!(family, Family::Quarters { .. }) { 4 } else { 1 };
        let (parts, elements) = (element.parts(), quarters * lines * length);
        let distinct = elements / (32 * parts);
        let whole = quarters == 1 && role != Role::C && element.is_factor();
        let mut places = Vec::with_capacity(elements);
        for register in 0..distinct {
            for part in 0..if whole { 1 } else { parts } {
                for lane in 0..32 {
                    let slot = Slot { lane, register, part, parts };
                    let (line, position) = match family {
                        Family::Mma => layout::mma(role, shape.m == 16, slot),
                        Family::Quarters { columns } => layout::quarter(role, columns, slot),
                        Family::Wmma => layout::wmma(elements, length, slot),
                    };
                    let place = match role {
                        _ if whole => position / parts * MAX_LINES + line,
                        Role::B => position * lines + line,
                        Role::A | Role::C => line * length + position,
                    };
                    let quarter = if quarters == 4 { lane / 4 % 4 } else { 0 };
                    places.push((quarter * lines * length + place) as u16);
                }
            }
        }
        Self { rows: Vec::new(), element, lines, length, distinct, places }
    }

    /// Reads the matrix, row after row. `read` makes an element of a register and a part.
    #[inline]
    pub(crate) fn gather<T, const N: usize>(
        &self,
        file: &Lanes,
        to: &mut [T; N],
        read: impl Fn(u32, u32) -> T,
    ) {
        let mut places = self.places.as_chunks::<32>().0.iter();
        for &row in &self.rows[..self.distinct] {
            let words = &file.rows[row as usize].0;
            for (part, places) in (0..self.element.parts() as u32).zip(&mut places) {
                // First all lanes, which vectorises.
                let elements: [T; 32] = std::array::from_fn(|lane| read(words[lane], part));
                for (element, &place) in elements.into_iter().zip(places) {
                    to[within::<N>(place)] = element;
                }
            }
        }
    }

    /// Reads factors of a tensor core, a register for each line at a time. `read` makes a word of
    /// factors of a register.
    #[inline]
    pub(crate) fn gather_factors(
        &self,
        file: &Lanes,
        to: &mut [Lines<u32>; MAX_TERMS],
        read: impl Fn(u32) -> u32,
    ) {
        let to = to.as_flattened_mut();
        for (&row, places) in self.rows.iter().zip(self.places.as_chunks::<32>().0) {
            for (&word, &place) in file.rows[row as usize].0.iter().zip(places) {
                to[within::<{ MAX_LINES * MAX_TERMS }>(place)] = read(word);
            }
        }
    }

    /// Reads a matrix of 64-bit elements, row after row.
    pub(crate) fn gather_wide(&self, file: &Lanes, to: &mut [u64]) {
        for (&row, places) in self.rows.iter().zip(self.places.as_chunks::<32>().0) {
            for (lane, &place) in places.iter().enumerate() {
                to[usize::from(place)] = file.get64(row, lane);
            }
        }
    }

    /// Writes the matrix. `bits` makes the bits of an element, those above its width zero.
    #[inline]
    pub(crate) fn scatter<T: Copy, const N: usize>(
        &self,
        file: &mut Lanes,
        from: &[T; N],
        bits: impl Fn(T) -> u32,
    ) {
        let element = |place| bits(from[within::<N>(place)]);
        let parts = self.element.parts();
        let places = self.places.as_chunks::<32>().0.chunks_exact(parts);
        for (&row, places) in self.rows.iter().zip(places) {
            file.rows[row as usize].0 = match places {
                [one] => std::array::from_fn(|lane| element(one[lane])),
                [low, high] => {
                    std::array::from_fn(|lane| element(low[lane]) | element(high[lane]) << 16)
                }
                _ => unreachable!("results have 16 bits or more"),
            };
        }
        self.repeat(file);
    }

    /// Writes a matrix of 64-bit elements.
    pub(crate) fn scatter_wide(&self, file: &mut Lanes, from: &[u64]) {
        for (&row, places) in self.rows.iter().zip(self.places.as_chunks::<32>().0) {
            for (lane, &place) in places.iter().enumerate() {
                file.put64(row, lane, from[usize::from(place)]);
            }
        }
    }

    /// Fills the registers beyond the distinct ones.
    pub(crate) fn repeat(&self, file: &mut Lanes) {
        for (number, &row) in self.rows.iter().enumerate().skip(self.distinct) {
            let first = self.rows[number % self.distinct];
            file.rows[row as usize] = file.rows[first as usize];
        }
    }
}

/// A place among `N` elements, a power of two: without a check, and all places of a fragment are.
fn within<const N: usize>(place: u16) -> usize {
    debug_assert!(usize::from(place) < N);
    usize::from(place) % N
}
