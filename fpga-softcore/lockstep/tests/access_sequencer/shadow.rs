//! The values of a program's registers, independent of their place in the hardware.

use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::settings::Settings;
use strata_core::units::{LaneMask, RegisterId};

/// Registers of a warp that a command can name.
const REGISTERS: usize = 256;

/// All values, in program order.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    lanes: usize,
    values: Vec<u32>,
    /// Lanes of each register that were written, and not given up since.
    defined: Vec<u32>,
    /// Registers that an instruction has read for the last time.
    dying: Vec<usize>,
    liveness: bool,
    written: u32,
}

impl Shadow {
    /// Nothing is defined at first.
    pub(crate) fn new(settings: Settings, warps: usize, lanes: usize) -> Self {
        Self {
            lanes,
            values: vec![0; warps * REGISTERS * lanes],
            defined: vec![0; warps * REGISTERS],
            dying: Vec::new(),
            liveness: settings.cache.is_some_and(|cache| cache.liveness),
            written: 0,
        }
    }

    /// Writes a command's value, which a read ignores, to `words`, and adds the value that a read
    /// must find to `expected`. Returns the defined lanes of that.
    pub(crate) fn feed(
        &mut self,
        command: &Command,
        words: &mut [u32],
        expected: &mut [u32],
    ) -> LaneMask {
        let Command { warp, operation, register: RegisterId(register), lanes } = *command;
        let at = usize::from(warp) * REGISTERS + usize::from(register);
        let values = &mut self.values[at * self.lanes..][..self.lanes];
        match operation {
            Operation::Read { last_use, more } => {
                expected.copy_from_slice(values);
                let defined = LaneMask(self.defined[at]).and(lanes);
                if last_use && self.liveness {
                    self.dying.push(at);
                }
                if !more {
                    self.dying.drain(..).for_each(|at| self.defined[at] = 0);
                }
                return defined;
            }
            Operation::Write | Operation::Bypass => {
                self.written = self.written.wrapping_add(1);
                let value = self.written.wrapping_mul(0x9e37_79b9);
                for (lane, (word, value_of)) in words.iter_mut().zip(values).enumerate() {
                    *word = value ^ (lane as u32) << 27;
                    if lanes.0 >> lane & 1 != 0 {
                        *value_of = *word;
                    }
                }
                self.defined[at] |= lanes.0;
            }
            // A fill brings the value that the program would have read.
            Operation::Fill => words.copy_from_slice(values),
            Operation::Exit if self.liveness => self.end(warp),
            Operation::Drop => self.end(warp),
            Operation::Flush | Operation::Exit | Operation::Demote => {}
        }
        LaneMask::EMPTY
    }

    /// The registers of an ended warp are not read.
    fn end(&mut self, warp: u8) {
        let first = usize::from(warp) * REGISTERS;
        self.defined[first..first + REGISTERS].fill(0);
    }
}
