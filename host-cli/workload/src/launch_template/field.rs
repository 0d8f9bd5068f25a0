//! Fields of parameters: what a kernel loads as one value.

use strata_ptx::module::VariableId;

/// Part of a variable of the kernel that is loaded as one value, or what is loaded from where that
/// value points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub(super) variable: VariableId,
    /// Unit: bytes from the start of the variable.
    pub(super) place: u64,
    /// Unit: bytes.
    pub(super) size: u64,
    /// How many pointers are followed from the value.
    pub(super) depth: u8,
}

impl Field {
    /// What is loaded from where the field points; of pointers to pointers to pointers no more.
    pub(super) fn behind(self) -> Option<Self> {
        (self.depth < 2).then_some(Self { depth: self.depth + 1, ..self })
    }
}

/// One of so many parts of a field of a size.
pub(super) fn part_of(whole: Field, size: u64, place: u64, parts: usize) -> Option<Field> {
    let fits = whole.size == size && whole.depth == 0;
    let size = size / parts.max(1) as u64;
    fits.then_some(Field { place: whole.place + place, size, ..whole })
}
