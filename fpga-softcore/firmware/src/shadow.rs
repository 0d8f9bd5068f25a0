//! Shadow: the value that each register has in program order, wherever the prototype keeps it.
//!
//! The value of a write follows from its number. So a register that keeps an older value, or
//! receives another register's, does not read as the value that was written to it last.

use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::regmap::{OpCode, field};
use strata_core::prototype::settings::REGISTERS;
use strata_link::message::{Data, LANES};

/// All lanes.
pub(crate) const ALL: u8 = (1 << LANES) - 1;

/// An odd number, so that 2^32 writes have 2^32 values.
const STEP: u32 = 0x9e37_79b1;

/// Registers of all warps.
#[derive(Debug)]
pub(crate) struct Shadow {
    values: [Data; REGISTERS as usize],
    /// Lanes of each register whose value is known: written, and not given up since.
    known: [u8; REGISTERS as usize],
    registers_per_warp: u32,
    has_liveness: bool,
    writes: u32,
}

impl Shadow {
    /// No registers.
    pub(crate) const fn new() -> Self {
        Self {
            values: [[0; LANES]; REGISTERS as usize],
            known: [0; REGISTERS as usize],
            registers_per_warp: 0,
            has_liveness: false,
            writes: 0,
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self, registers_per_warp: u8, has_liveness: bool) {
        self.known.fill(0);
        self.registers_per_warp = u32::from(registers_per_warp);
        self.has_liveness = has_liveness;
        self.writes = 0;
    }

    /// The value of the next write.
    #[inline]
    fn next(&mut self) -> Data {
        self.writes = self.writes.wrapping_add(1);
        let first = self.writes.wrapping_mul(STEP);
        [first, first ^ 0x1111_1111, first ^ 0x2222_2222, first ^ 0x4444_4444]
    }

    /// Executes a packed command. Returns the value that it writes, if any; for a read the expected
    /// value, and the lanes in which it is known.
    #[inline]
    pub(crate) fn step(&mut self, word: u32) -> Step<'_> {
        let code = field::COMMAND_OPERATION.get(word);
        let is_write = code == OpCode::Write.code() || code == OpCode::Bypass.code();
        if !is_write && code != OpCode::Read.code() {
            return self.step_rare(word);
        }
        let first = field::COMMAND_WARP.get(word) * self.registers_per_warp;
        let register = first + field::COMMAND_REGISTER_NUMBER.get(word);
        let lanes = field::COMMAND_LANES.get(word) as u8 & ALL;
        if is_write {
            let written = self.next();
            if let Some((value, known)) = self.register(register as usize) {
                *known |= lanes;
                if lanes == ALL {
                    *value = written;
                } else {
                    for (lane, written) in written.into_iter().enumerate() {
                        if lanes >> lane & 1 != 0 {
                            value[lane] = written;
                        }
                    }
                }
            }
            return Step::Bring(written);
        }
        let gives_up = field::COMMAND_LAST_USE.is_set(word) && self.has_liveness;
        let Some((value, known)) = self.register(register as usize) else { return Step::Nothing };
        let found = lanes & *known;
        if gives_up {
            // The cache may give the register up, in all lanes.
            *known = 0;
        }
        Step::Expect(value, found)
    }

    /// Executes a packed command that is no read, write or bypass. Returns the value that it
    /// writes, if any.
    #[inline(never)]
    fn step_rare(&mut self, word: u32) -> Step<'_> {
        let command = Command::unpack(word);
        let warp = u32::from(command.warp) * self.registers_per_warp;
        match command.operation {
            Operation::Fill => {
                let register = (warp + u32::from(command.register.0)) as usize;
                // A fill brings the value of the read before it.
                self.register(register).map_or(Step::Nothing, |(value, _)| Step::Bring(*value))
            }
            Operation::Exit if !self.has_liveness => Step::Nothing,
            Operation::Exit | Operation::Drop => {
                self.forget(warp as usize, self.registers_per_warp as usize);
                Step::Nothing
            }
            _ => Step::Nothing,
        }
    }

    #[inline]
    fn register(&mut self, register: usize) -> Option<(&mut Data, &mut u8)> {
        Some((self.values.get_mut(register)?, self.known.get_mut(register)?))
    }

    fn forget(&mut self, first: usize, registers: usize) {
        self.known.iter_mut().skip(first).take(registers).for_each(|known| *known = 0);
    }
}

/// The value of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// No value.
    Nothing,
    /// It writes this value.
    Bring(Data),
    /// It should find this value in these lanes.
    Expect(&'a Data, u8),
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::units::{LaneMask, RegisterId};

    const ANY: Operation = Operation::Read { last_use: false, more: false };
    const LAST: Operation = Operation::Read { last_use: true, more: false };

    fn command(warp: u8, operation: Operation, register: u16, lanes: u32) -> u32 {
        let (register, lanes) = (RegisterId(register), LaneMask(lanes));
        Command { warp, operation, register, lanes }.pack().expect("all of it fits")
    }

    #[test]
    fn a_read_expects_what_was_written_last_in_each_lane() {
        let mut shadow = Shadow::new();
        shadow.clear(128, true);
        let of = |operation, lanes| command(7, operation, 127, lanes);
        assert!(matches!(shadow.step(of(ANY, 0xf)), Step::Expect(_, 0)));
        let Step::Bring(old) = shadow.step(of(Operation::Write, 0xf)) else {
            panic!("a write has a value")
        };
        let Step::Bring(new) = shadow.step(of(Operation::Bypass, 0b10)) else {
            panic!("so has a bypass")
        };
        assert!(old.iter().zip(new).all(|(old, new)| *old != new));
        let both = [old[0], new[1], old[2], old[3]];
        assert_eq!(shadow.step(of(ANY, 0b111)), Step::Expect(&both, 0b111));
        assert_eq!(shadow.step(of(Operation::Fill, 0b1)), Step::Bring(both));
        // The value is there for that read, and gone afterwards.
        assert_eq!(shadow.step(of(LAST, 0b1)), Step::Expect(&both, 0b1));
        assert_eq!(shadow.step(of(ANY, 0xf)), Step::Expect(&both, 0));
    }

    #[test]
    fn a_warp_that_ends_forgets_its_own() {
        for (liveness, operation, known) in [
            (true, Operation::Exit, 0),
            (false, Operation::Exit, 0xf),
            (false, Operation::Drop, 0),
            (true, Operation::Flush, 0xf),
            (true, Operation::Demote, 0xf),
            (false, LAST, 0xf),
        ] {
            let mut shadow = Shadow::new();
            shadow.clear(16, liveness);
            for (warp, register) in [(2, 15), (3, 0), (3, 15), (4, 0)] {
                shadow.step(command(warp, Operation::Write, register, 0xf));
            }
            shadow.step(command(3, operation, 0, 0xf));
            for (warp, register, known) in [(2, 15, 0xf), (3, 0, known), (4, 0, 0xf)] {
                let step = shadow.step(command(warp, ANY, register, 0xf));
                assert!(matches!(step, Step::Expect(_, found) if found == known), "{operation:?}");
            }
        }
    }
}
