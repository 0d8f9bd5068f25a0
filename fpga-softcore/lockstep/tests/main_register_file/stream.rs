//! Random requests, and the expected values of each.

use strata_core::prototype::main_register_file::{MainAccess, MainRequest};
use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::PoolEntry;
use strata_lockstep::random::Random;

/// The shape of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// Warps with requests.
    pub(crate) warps: u8,
    /// Registers of each that are requested.
    pub(crate) hot: u8,
    /// They are this far apart: 16 puts all of a warp into one bank.
    pub(crate) stride: u8,
    /// Clocks without a request, in 100.
    pub(crate) idle: u32,
    /// Demotions and drops, in 1,000.
    pub(crate) moves: u32,
}

/// Makes up requests.
pub(crate) struct Stream {
    pub(crate) random: Random,
    traffic: Traffic,
    registers: u16,
    lanes: u32,
    last: MainRequest,
}

impl Stream {
    /// Of warps that have `registers` of this many lanes each.
    pub(crate) fn new(seed: u64, traffic: Traffic, registers: u8, lanes: usize) -> Self {
        let register = RegisterId(0);
        let last =
            MainRequest { access: MainAccess::Read, warp: 0, register, lanes: LaneMask::FULL };
        let registers = u16::from(registers);
        Self { random: Random(seed), traffic, registers, lanes: lanes as u32, last }
    }

    /// The next request at the input, if any.
    pub(crate) fn request(&mut self) -> Option<MainRequest> {
        let Traffic { warps, hot, stride, idle, moves } = self.traffic;
        if idle > 0 && self.random.chance(idle) {
            return None;
        }
        let access = match self.random.below(1_000) {
            at if at < moves => MainAccess::Demote,
            at if at < moves + moves / 2 => MainAccess::Drop,
            at if at < 530 => MainAccess::Read,
            at if at < 980 => MainAccess::Write,
            _ => MainAccess::Nothing,
        };
        // Sometimes the same register again, so that requests overtake the entry that they look up.
        if !self.random.chance(20) {
            let register = self.random.below(u32::from(hot)) as u16 * u16::from(stride);
            // The highest number, so that all bits of a register matter.
            let register =
                if register == u16::from(stride) { self.registers - 1 } else { register };
            self.last.register = RegisterId(register % self.registers);
            self.last.warp = self.random.below(u32::from(warps)) as u8;
        }
        self.last.access = access;
        self.last.lanes = self.mask();
        Some(self.last)
    }

    fn mask(&mut self) -> LaneMask {
        let full = u32::MAX >> (32 - self.lanes);
        let mask = match self.random.below(4) {
            0 => 1 << self.random.below(self.lanes),
            1 => self.random.next() & full,
            _ => full,
        };
        LaneMask(if mask == 0 { 1 } else { mask })
    }
}

/// The values of a register's lanes; those of lanes that were never written mean nothing.
#[derive(Clone, Copy, Debug)]
struct Value<const LANES: usize> {
    written: u32,
    words: [u32; LANES],
}

impl<const LANES: usize> Value<LANES> {
    fn take(&mut self, lanes: u32, from: &Self) {
        self.written = self.written & !lanes | from.written & lanes;
        for (lane, word) in self.words.iter_mut().enumerate() {
            if lanes >> lane & 1 != 0 {
                *word = from.words[lane];
            }
        }
    }
}

/// The values that a program has written, and the values in the banks.
pub(crate) struct Values<const LANES: usize> {
    program: Vec<Value<LANES>>,
    banks: Vec<Value<LANES>>,
    registers: usize,
}

impl<const LANES: usize> Values<LANES> {
    /// Nothing was written yet.
    pub(crate) fn new(registers: u8) -> Self {
        let none = vec![Value { written: 0, words: [0; LANES] }; 1_024];
        Self { program: none.clone(), banks: none, registers: usize::from(registers) }
    }

    fn index(&self, warp: u8, register: RegisterId) -> usize {
        usize::from(warp) * self.registers + usize::from(register.0)
    }

    /// A write of a register.
    pub(crate) fn write(&mut self, request: MainRequest, words: &[u32; LANES]) {
        let at = self.index(request.warp, request.register);
        self.program[at].take(request.lanes.0, &Value { written: u32::MAX, words: *words });
    }

    /// The program's last values of an entry's lanes go to the banks.
    pub(crate) fn write_back(&mut self, entry: PoolEntry) {
        let at = self.index(entry.warp, entry.register);
        self.banks[at].take(entry.lanes.0, &self.program[at]);
    }

    /// An entry's lanes are given up: what the banks have is the value again.
    pub(crate) fn give_up(&mut self, entry: PoolEntry) {
        let at = self.index(entry.warp, entry.register);
        self.program[at].take(entry.lanes.0, &self.banks[at]);
    }

    /// The words that a read has to give, and for which lanes that is known.
    pub(crate) fn read(&self, request: MainRequest) -> (u32, [u32; LANES]) {
        let value = self.program[self.index(request.warp, request.register)];
        (request.lanes.0 & value.written, value.words)
    }
}
