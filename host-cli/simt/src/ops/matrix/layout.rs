//! Where the elements of a matrix lie in the registers of a warp.
//!
//! A place is a line of the matrix and a position in it. Lines are rows of A, C and D and columns
//! of B; elements along `k` are neighbours in lines of A and B.
//!
//! Models: the fragments of `mma` as in PTX ISA 8.5, section "Matrix Fragments for mma" (one
//! figure for each shape, which are instances of one rule). Fragments of `wmma` are opaque in PTX;
//! here the elements are dealt out in order of lines, as many to each lane (`docs/DEVIATIONS.md`,
//! DEV-141).

/// Which matrix a fragment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    A,
    B,
    /// C and D.
    C,
}

/// One element of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) lane: usize,
    /// Register of the fragment.
    pub(crate) register: usize,
    /// Element of the register, the lowest bits first.
    pub(crate) part: usize,
    /// Elements of a register: 1 where an element has 32 or 64 bits.
    pub(crate) parts: usize,
}

/// Line and position of an element of a fragment of `mma`. `tall`: A has 16 rows, otherwise 8.
pub(crate) fn mma(role: Role, tall: bool, slot: Slot) -> (usize, usize) {
    let Slot { lane, register, part, parts } = slot;
    let (group, thread) = (lane / 4, lane % 4);
    match role {
        Role::A => {
            let (lower, block) = if tall { (register % 2, register / 2) } else { (0, register) };
            (group + 8 * lower, (block * 4 + thread) * parts + part)
        }
        Role::B => (group, (register * 4 + thread) * parts + part),
        Role::C => {
            let element = register * parts + part;
            (group + 8 * (element / 2), thread * 2 + element % 2)
        }
    }
}

/// Line and position of an element of a fragment of `mma.m8n8k4` of f16, of which lanes 4 `q` to 4
/// `q` + 3 and 16 more compute the product `q`. `columns`: whether the layouts of A and B are
/// `.col`.
pub(super) fn quarter(role: Role, columns: [bool; 2], slot: Slot) -> (usize, usize) {
    let Slot { lane, register, part, parts } = slot;
    let element = register * parts + part;
    let (own, upper) = (lane % 4, 4 * (lane / 16));
    match role {
        Role::A if columns[0] => (element + upper, own),
        Role::A => (own + upper, element),
        Role::B if columns[1] => (own + upper, element),
        Role::B => (element + upper, own),
        Role::C if parts == 2 => (own + upper, element),
        Role::C => (lane % 2 + (element & 2) + upper, (element & 4) + (lane & 2) + (element & 1)),
    }
}

/// Line and position of an element of a fragment of `wmma`, whose matrix has `elements` in lines
/// of `length`.
pub(crate) fn wmma(elements: usize, length: usize, slot: Slot) -> (usize, usize) {
    let number = slot.lane * (elements / 32) + slot.register * slot.parts + slot.part;
    (number / length, number % length)
}
