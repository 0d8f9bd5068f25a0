//! Made-up commands like those of programs.

use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::settings::Settings;
use strata_core::units::{LaneMask, RegisterId};
use strata_lockstep::random::Random;

/// The shape of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    /// Warps with requests.
    warps: u32,
    /// Registers that each uses.
    registers: u32,
    /// From one of them to the next; 16 puts all into one bank.
    stride: u32,
    /// Registers that a warp has.
    of_warp: u32,
    lanes: usize,
    /// Accesses of all lanes, in percent.
    full: u32,
}

impl Mix {
    /// Any that fits the settings.
    pub(crate) fn any(random: &mut Random, warps: u32, settings: Settings, lanes: usize) -> Self {
        let of_warp = u32::from(settings.registers_per_warp);
        Self {
            warps,
            registers: 2 + random.below(of_warp.min(30)),
            stride: [1, 1, 3, 16, 17][random.below(5) as usize],
            of_warp,
            lanes,
            full: [0, 50, 90][random.below(3) as usize],
        }
    }
}

/// Makes up commands.
pub(crate) struct Stream {
    pub(crate) random: Random,
    mix: Mix,
    /// Operands that the instruction still has, its warp and its lanes.
    operands: u32,
    warp: u8,
    lanes: LaneMask,
}

impl Stream {
    pub(crate) fn new(random: Random, mix: Mix) -> Self {
        Self { random, mix, operands: 0, warp: 0, lanes: LaneMask::EMPTY }
    }

    /// The next commands.
    pub(crate) fn batch(&mut self, length: usize) -> Vec<Command> {
        (0..length).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> Command {
        let operation = if self.operands > 0 {
            self.read()
        } else {
            self.warp = self.random.below(self.mix.warps) as u8;
            self.lanes = self.mask();
            match self.random.below(200) {
                0..80 => {
                    self.operands = 1 + self.random.below(3);
                    self.read()
                }
                80..150 => Operation::Write,
                150..170 => Operation::Bypass,
                170..190 => Operation::Fill,
                190..193 => Operation::Flush,
                193..195 => Operation::Exit,
                195..198 => Operation::Demote,
                _ => Operation::Drop,
            }
        };
        let register = self.random.below(self.mix.registers) * self.mix.stride % self.mix.of_warp;
        let register = RegisterId(register as u16);
        Command { warp: self.warp, operation, register, lanes: self.lanes }
    }

    fn read(&mut self) -> Operation {
        self.operands -= 1;
        Operation::Read { last_use: self.random.chance(20), more: self.operands > 0 }
    }

    fn mask(&mut self) -> LaneMask {
        let full = u32::MAX >> (32 - self.mix.lanes);
        if self.random.chance(self.mix.full) {
            return LaneMask(full);
        }
        let mask = self.random.next() & full;
        LaneMask(if mask == 0 { 1 } else { mask })
    }
}
