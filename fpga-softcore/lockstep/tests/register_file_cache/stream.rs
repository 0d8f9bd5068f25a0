//! Random requests, and the expected values of each response.

use strata_core::prototype::cache_block::{CacheOutcome, Response};
use strata_core::prototype::command::{Command, Operation};
use strata_core::units::{LaneMask, RegisterId};
use strata_lockstep::random::Random;

/// The shape of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// Warps with requests.
    pub(crate) warps: usize,
    /// Clocks without a request, and responses that wait to be read.
    pub(crate) stalls: bool,
}

/// Makes up requests.
pub(crate) struct Stream {
    pub(crate) random: Random,
    traffic: Traffic,
    lanes: usize,
    registers: u32,
    /// Operands that the instruction still has, and its warp.
    operands: u32,
    warp: u8,
}

impl Stream {
    pub(crate) fn new(seed: u64, traffic: Traffic, entries: u8, lanes: usize) -> Self {
        let registers = u32::from(entries) * 2 + 2;
        Self { random: Random(seed), traffic, lanes, registers, operands: 0, warp: 0 }
    }

    /// The next request at the input, if any.
    pub(crate) fn request(&mut self) -> Option<Command> {
        if self.traffic.stalls && self.random.chance(10) {
            return None;
        }
        let operation = if self.operands > 0 {
            self.read()
        } else {
            self.warp = self.random.below(self.traffic.warps as u32) as u8;
            match self.random.below(100) {
                0..40 => {
                    self.operands = 1 + self.random.below(3);
                    self.read()
                }
                40..74 => Operation::Write,
                74..84 => Operation::Bypass,
                84..96 => Operation::Fill,
                96..98 => Operation::Flush,
                _ => Operation::Exit,
            }
        };
        // The highest number, so that all bits of a register matter.
        let register = self.random.below(self.registers) as u16;
        let register = RegisterId(if register == 1 { 255 } else { register });
        Some(Command { warp: self.warp, operation, register, lanes: self.mask() })
    }

    fn read(&mut self) -> Operation {
        self.operands -= 1;
        Operation::Read { last_use: self.random.chance(30), more: self.operands > 0 }
    }

    fn mask(&mut self) -> LaneMask {
        let full = u32::MAX >> (32 - self.lanes);
        let mask = match self.random.below(4) {
            0 => 1 << self.random.below(self.lanes as u32),
            1 => self.random.next() & full,
            _ => full,
        };
        LaneMask(if mask == 0 { 1 } else { mask })
    }

    pub(crate) fn ready(&mut self) -> bool {
        !self.traffic.stalls || self.random.chance(75)
    }
}

/// The value of a lane; `None` where no later read is allowed.
type Value = Option<u32>;

/// Values that each step's data has to have.
pub(crate) type Expected = [Value; 32];

/// The values that a program has written, and the values in the main register file.
pub(crate) struct Values {
    program: Vec<[Value; 32]>,
    main: Vec<[Value; 32]>,
    /// Registers that the instruction has read for the last time.
    dying: Vec<RegisterId>,
    liveness: bool,
}

impl Values {
    /// Everything is 0 at first, everywhere.
    pub(crate) fn new(warps: usize, liveness: bool) -> Self {
        let zero = vec![[Some(0); 32]; warps * 256];
        Self { program: zero.clone(), main: zero, dying: Vec::new(), liveness }
    }

    fn index(warp: u8, register: RegisterId) -> usize {
        usize::from(warp) * 256 + usize::from(register.0)
    }

    /// The words at the input: results, and for a fill the main register file's value.
    pub(crate) fn data(&self, request: &Command, held: LaneMask, words: &mut [u32]) {
        if request.operation == Operation::Fill {
            let main = &self.main[Self::index(request.warp, request.register)];
            for (lane, word) in words.iter_mut().enumerate() {
                // What the cache holds is newer, and must not be overwritten.
                if held.0 >> lane & 1 == 0 {
                    *word = main[lane].unwrap_or(*word);
                }
            }
        }
    }

    /// Follows one step, and says what data the response has to carry.
    ///
    /// # Panics
    ///
    /// When the model has lost a value, or left a stale one.
    pub(crate) fn step(
        &mut self,
        request: &Command,
        response: &Response,
        words: &[u32],
    ) -> Expected {
        let at = Self::index(request.warp, request.register);
        let mut expected = [None; 32];
        if let Some(victim) = response.victim {
            let at = Self::index(request.warp, victim.register);
            for lane in lanes(victim.lanes) {
                expected[lane] = self.program[at][lane];
                if victim.writeback {
                    self.main[at][lane] = expected[lane];
                } else {
                    self.is_in_main(at, lane);
                }
            }
        }
        match request.operation {
            Operation::Read { last_use, more } => {
                lanes(response.served).for_each(|lane| expected[lane] = self.program[at][lane]);
                lanes(response.missing).for_each(|lane| self.is_in_main(at, lane));
                // A last read frees the entry and with it lanes that it did not read.
                if last_use && self.liveness {
                    self.dying.push(request.register);
                }
                if !more {
                    for register in std::mem::take(&mut self.dying) {
                        self.program[Self::index(request.warp, register)] = [None; 32];
                    }
                }
            }
            Operation::Write => {
                lanes(request.lanes).for_each(|lane| self.program[at][lane] = Some(words[lane]));
            }
            Operation::Bypass => {
                for lane in lanes(request.lanes) {
                    self.program[at][lane] = Some(words[lane]);
                    self.main[at][lane] = Some(words[lane]);
                }
            }
            Operation::Exit if self.liveness && response.outcome == CacheOutcome::Emptied => {
                let first = Self::index(request.warp, RegisterId(0));
                self.program[first..first + 256].fill([None; 32]);
            }
            Operation::Fill
            | Operation::Flush
            | Operation::Exit
            | Operation::Demote
            | Operation::Drop => {}
        }
        expected
    }

    fn is_in_main(&self, at: usize, lane: usize) {
        let value = self.program[at][lane];
        let in_main = value.is_none() || self.main[at][lane] == value;
        assert!(in_main, "register {} of warp {}, lane {lane}: lost", at % 256, at / 256);
    }
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: LaneMask) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask.0 >> lane & 1 != 0)
}
