//! The operands of an instruction: which it writes, which it reads, and how wide each is.

/// What an instruction does with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It writes it.
    Result,
    /// It reads it.
    Source,
}

/// Registers of 32 bits that an operand takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// So many.
    Known(u8),
    /// The spelling does not say: it depends on operands that are no registers.
    Unknown,
}

/// An operand that can be a general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Written or read.
    pub role: Role,
    /// How wide.
    pub width: Width,
    /// Whether something else can stand in its place, which a trace does not list: an immediate, a
    /// constant, a uniform register. Of several, the lowest number is left out first; 0 never is.
    pub left_out: u8,
}

impl Operand {
    /// A result of some registers.
    pub(crate) const fn result(registers: u8) -> Self {
        Self { role: Role::Result, width: Width::Known(registers), left_out: 0 }
    }

    /// A source of some registers.
    pub(crate) const fn source(registers: u8) -> Self {
        Self { role: Role::Source, width: Width::Known(registers), left_out: 0 }
    }

    /// This operand, of a width that the spelling does not say.
    pub(crate) const fn of_unknown_width(self) -> Self {
        Self { width: Width::Unknown, ..self }
    }

    /// This operand, which can be something else.
    pub(crate) const fn left_out(self, rank: u8) -> Self {
        Self { left_out: rank, ..self }
    }
}

/// What stands first in an instruction's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// A general register: NVBit's tracer lists it as the destination, written or not.
    Register,
    /// A predicate, a reference to memory, a uniform register, an immediate, or nothing.
    Other,
}

/// One way in which an opcode's operands stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// What stands first.
    pub first: First,
    /// The operands that can be general registers, in the text's order. Where the first is a
    /// register, it is the first of these.
    pub operands: Vec<Operand>,
    /// Whether machine code has no such form: Strata's exports name instructions of PTX, which have
    /// more operands.
    pub exported: bool,
}

impl Form {
    pub(crate) fn new(first: First, operands: impl Into<Vec<Operand>>) -> Self {
        Self { first, operands: operands.into(), exported: false }
    }

    /// One that only exports have.
    pub(crate) fn exported(first: First, operands: impl Into<Vec<Operand>>) -> Self {
        Self { exported: true, ..Self::new(first, operands) }
    }
}
