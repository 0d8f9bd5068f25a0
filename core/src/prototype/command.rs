//! Command: one register access as the prototype takes it, and the word that carries it.
//!
//! Source: `docs/hw/prototype.md`.

use crate::units::{LaneMask, RegisterId};

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Read an operand.
    Read {
        /// Nobody reads the value again.
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
    /// Its number on the bus and in RTL. Range: `0..8`.
    pub const fn code(self) -> u8 {
        match self {
            Self::Read { .. } => 0,
            Self::Write => 1,
            Self::Bypass => 2,
            Self::Fill => 3,
            Self::Flush => 4,
            Self::Exit => 5,
            Self::Demote => 6,
            Self::Drop => 7,
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
    /// Whose register. Range: below the prototype's warps.
    pub warp: u8,
    /// What to do.
    pub operation: Operation,
    /// With which register. [`Operation::Flush`] and those after it ignore it and the lanes.
    pub register: RegisterId,
    /// Lanes that take part. Not empty.
    pub lanes: LaneMask,
}

impl Command {
    /// The word on the bus and on the line: operation in bits 0 to 2, warp in 3 to 5, register in 6
    /// to 13, last use in 14, more in 15, lanes from 16 on. `None` if a field is too large for it:
    /// warps from 8 on, registers from 256 on, lanes from 16 on.
    pub const fn pack(self) -> Option<u32> {
        let Self { warp, operation, register: RegisterId(register), lanes: LaneMask(lanes) } = self;
        if warp >= 1 << 3 || register >= 1 << 8 || lanes >= 1 << 16 {
            return None;
        }
        let (last_use, more) = match operation {
            Operation::Read { last_use, more } => (last_use, more),
            _ => (false, false),
        };
        let word = operation.code() as u32 | (warp as u32) << 3 | (register as u32) << 6;
        Some(word | (last_use as u32) << 14 | (more as u32) << 15 | lanes << 16)
    }

    /// The command that a word carries. Every word carries one.
    pub const fn unpack(word: u32) -> Self {
        let operation = match word & 7 {
            0 => Operation::Read { last_use: word >> 14 & 1 != 0, more: word >> 15 & 1 != 0 },
            1 => Operation::Write,
            2 => Operation::Bypass,
            3 => Operation::Fill,
            4 => Operation::Flush,
            5 => Operation::Exit,
            6 => Operation::Demote,
            _ => Operation::Drop,
        };
        let (warp, register, lanes) = Self::fields(word);
        Self { warp, operation, register, lanes }
    }

    /// What words of all operations have in the same place.
    #[inline]
    pub(super) const fn fields(word: u32) -> (u8, RegisterId, LaneMask) {
        let register = RegisterId((word >> 6 & 0xff) as u16);
        ((word >> 3 & 7) as u8, register, LaneMask(word >> 16))
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
            assert_eq!(u32::from(command.operation.code()), code);
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
