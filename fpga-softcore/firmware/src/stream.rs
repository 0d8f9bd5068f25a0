//! Stream: accesses that the self-test and the benches run, the same on every device.

use strata_core::prototype::command::{Command, Operation};
use strata_core::units::{LaneMask, RegisterId};
use strata_link::message::LANES;

/// Accesses like those of kernels: to few registers at a time, mostly reads, mostly of all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    state: u32,
    registers: u16,
    lanes: u32,
    /// The warp of an instruction whose next operand is due.
    due: Option<u8>,
}

impl Stream {
    /// A stream over the registers of each of 8 warps, with some accesses of only some lanes, or
    /// without.
    pub(crate) const fn new(seed: u32, registers: u8, has_parts: bool) -> Self {
        let lanes = if has_parts { 0 } else { (1 << LANES) - 1 };
        // The generator stays at zero if it starts there.
        Self { state: seed | 1, registers: registers as u16, lanes, due: None }
    }

    /// The next number below a limit (Marsaglia's generator of 32 bits).
    fn below(&mut self, limit: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        ((u64::from(self.state) * u64::from(limit)) >> 32) as u32
    }
}

impl Iterator for Stream {
    type Item = u32;

    /// The next command, packed.
    fn next(&mut self) -> Option<u32> {
        let due = self.due.take();
        let warp = due.unwrap_or_else(|| self.below(8) as u8);
        let kind = if due.is_some() { 0 } else { self.below(64) };
        let operation = match kind {
            0..38 => {
                let more = self.below(2) == 0;
                self.due = more.then_some(warp);
                Operation::Read { last_use: self.below(8) == 0, more }
            }
            38..54 => Operation::Write,
            54..58 => Operation::Bypass,
            58..61 => Operation::Fill,
            61 => Operation::Flush,
            62 => Operation::Demote,
            // The end of a warp in the cache, or in the pool.
            _ if self.below(2) == 0 => Operation::Exit,
            _ => Operation::Drop,
        };
        // Half of the accesses are to the first registers.
        let near = u32::from(self.registers).min(8);
        let limit = if self.below(2) == 0 { near } else { u32::from(self.registers) };
        let register = RegisterId(self.below(limit) as u16);
        let lanes = match self.below(4) {
            0 if self.lanes == 0 => 1 + self.below((1 << LANES) - 1),
            _ => (1 << LANES) - 1,
        };
        Command { warp, operation, register, lanes: LaneMask(lanes) }.pack()
    }
}
