//! Command: one register access as the prototype takes it, and the word that carries it.
//!
//! Source: `docs/hw/prototype.md`.

use super::regmap::{OpCode, field};
use crate::units::{LaneMask, RegisterId};

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Read an operand.
    Read {
        /// The value is not read again.
        last_use: bool,
        /// The next command is another operand of the same instruction. Its entries are given up
        /// after its last operand.
        more: bool,
    },
    /// Write a result.
    Write,
    /// A result goes to the main register file: give up what is older.
    Bypass,
    /// Take an operand that missed.
    Fill,
    /// Write the warp's cache back, oldest entry first.
    Flush,
    /// The warp has ended: drop its cache with liveness, otherwise a flush.
    Exit,
    /// The warp leaves the active set: its entries in the write pool become the least recently
    /// used.
    Demote,
    /// The warp has ended: its entries in the write pool are given up.
    Drop,
}

impl Operation {
    /// What the bus and RTL call it.
    pub const fn code(self) -> OpCode {
        match self {
            Self::Read { .. } => OpCode::Read,
            Self::Write => OpCode::Write,
            Self::Bypass => OpCode::Bypass,
            Self::Fill => OpCode::Fill,
            Self::Flush => OpCode::Flush,
            Self::Exit => OpCode::Exit,
            Self::Demote => OpCode::Demote,
            Self::Drop => OpCode::Drop,
        }
    }

    /// Whether it brings a value.
    pub const fn has_value(self) -> bool {
        matches!(self, Self::Write | Self::Bypass | Self::Fill)
    }
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// The warp. Range: below the prototype's warps.
    pub warp: u8,
    /// What to do.
    pub operation: Operation,
    /// The register. [`Operation::Flush`] and those after it ignore it and the lanes.
    pub register: RegisterId,
    /// Lanes that take part. Not empty.
    pub lanes: LaneMask,
}

impl Command {
    /// The word on the bus and on the line, as COMMAND of the register map. `None` if a field is
    /// too large for it: warps from 8 on, registers from 256 on, lanes from 16 on.
    pub const fn pack(self) -> Option<u32> {
        let Self { warp, operation, register: RegisterId(register), lanes: LaneMask(lanes) } = self;
        let (warp, register) = (warp as u32, register as u32);
        if !field::COMMAND_WARP.fits(warp)
            || !field::COMMAND_REGISTER_NUMBER.fits(register)
            || !field::COMMAND_LANES.fits(lanes)
        {
            return None;
        }
        let (last_use, more) = match operation {
            Operation::Read { last_use, more } => (last_use, more),
            _ => (false, false),
        };
        let word = field::COMMAND_OPERATION.put(operation.code().code())
            | field::COMMAND_WARP.put(warp)
            | field::COMMAND_REGISTER_NUMBER.put(register);
        let marks =
            field::COMMAND_LAST_USE.put(last_use as u32) | field::COMMAND_MORE.put(more as u32);
        Some(word | marks | field::COMMAND_LANES.put(lanes))
    }

    /// The command that a word carries. Every word carries one.
    pub const fn unpack(word: u32) -> Self {
        let operation = match OpCode::of(field::COMMAND_OPERATION.get(word)) {
            Some(OpCode::Read) => {
                let (last_use, more) = Self::marks(word);
                Operation::Read { last_use, more }
            }
            Some(OpCode::Write) => Operation::Write,
            Some(OpCode::Bypass) => Operation::Bypass,
            Some(OpCode::Fill) => Operation::Fill,
            Some(OpCode::Flush) => Operation::Flush,
            Some(OpCode::Exit) => Operation::Exit,
            Some(OpCode::Demote) => Operation::Demote,
            // The field has no more bits than there are codes.
            Some(OpCode::Drop) | None => Operation::Drop,
        };
        let (warp, register, lanes) = Self::fields(word);
        Self { warp, operation, register, lanes }
    }

    /// What words of all operations have in the same place.
    #[inline]
    pub(super) const fn fields(word: u32) -> (u8, RegisterId, LaneMask) {
        let register = RegisterId(field::COMMAND_REGISTER_NUMBER.get(word) as u16);
        let lanes = LaneMask(field::COMMAND_LANES.get(word));
        (field::COMMAND_WARP.get(word) as u8, register, lanes)
    }

    /// Of a word of a read: the last use, and whether another operand follows.
    #[inline]
    pub(super) const fn marks(word: u32) -> (bool, bool) {
        (field::COMMAND_LAST_USE.is_set(word), field::COMMAND_MORE.is_set(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_carries_every_field() {
        for code in 0..8 {
            let marks = if code == 0 { 0b11 << 14 } else { 0 };
            let word = 0b1010 << 16 | marks | 0xc5 << 6 | 0b101 << 3 | code;
            let command = Command::unpack(word);
            assert_eq!(command.operation.code().code(), code);
            assert_eq!(
                (command.warp, command.register, command.lanes.0),
                (5, RegisterId(0xc5), 10)
            );
            assert_eq!(command.pack(), Some(word));
        }
        let read = Operation::Read { last_use: true, more: false };
        assert_eq!(Command::unpack(1 << 14).operation, read);
    }

    #[test]
    fn what_does_not_fit_is_not_packed() {
        let command = Command::unpack(1 << 16);
        assert!(command.pack().is_some());
        assert_eq!(Command { warp: 8, ..command }.pack(), None);
        assert_eq!(Command { register: RegisterId(256), ..command }.pack(), None);
        assert_eq!(Command { lanes: LaneMask(1 << 16), ..command }.pack(), None);
    }
}
