//! The ports of the split bank write.

use super::{Block, Elaborated};

/// [`Inputs::start`]: the read starts.
pub const READ: u8 = 1;
/// [`Inputs::start`]: the write starts.
pub const WRITE: u8 = 2;

/// The configuration ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Settings {
    /// Cycles of a read.
    pub read_cycles: u8,
    /// Cycles of a write.
    pub write_cycles: u8,
    /// Split bank write.
    pub split: bool,
}

/// The input ports in one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Inputs {
    /// All banks become idle.
    pub clear: bool,
    /// Where a read would be.
    pub read_bank: u8,
    /// And in which half.
    pub read_subarray: u8,
    /// Where a write would be.
    pub write_bank: u8,
    /// And in which half.
    pub write_subarray: u8,
    /// What starts: [`READ`], [`WRITE`], both or nothing.
    pub start: u8,
    /// The bank that is shown.
    pub debug_bank: u8,
    /// Nothing.
    pub unused: u8,
}

/// The output ports in one clock; the state is that at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The read can start.
    pub can_read: bool,
    /// Its bank is being written.
    pub beside: bool,
    /// The write can start.
    pub can_write: bool,
    /// Nothing.
    pub unused: u8,
    /// Clocks that the read of the bank that is shown still takes.
    pub read_busy: u8,
    /// The half of its last read.
    pub read: u8,
    /// Clocks that its write still takes.
    pub write_busy: u8,
    /// The half of its last write.
    pub written: u8,
}

/// One elaboration of the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Banks, a power of two.
    pub banks: u8,
}

/// The number of banks in the main register file.
pub const USUAL: Elaboration = Elaboration { index: 0, banks: 16 };
/// Two banks.
pub const SMALLEST: Elaboration = Elaboration { index: 1, banks: 2 };

impl Elaborated for Elaboration {
    fn index(&self) -> u32 {
        self.index
    }

    fn lanes(&self) -> usize {
        0
    }
}

/// The block.
#[derive(Debug)]
pub enum SplitBankWrite {}

impl Block for SplitBankWrite {
    type Elaboration = Elaboration;
    type Settings = Settings;
    type Inputs = Inputs;
    type Outputs = Outputs;
    type State = ();

    fn takes(_: &Elaboration, _: &Settings) -> bool {
        true
    }

    fn exists(elaboration: &Elaboration, inputs: &Inputs) -> bool {
        let banks = [inputs.read_bank, inputs.write_bank, inputs.debug_bank];
        banks.iter().all(|bank| *bank < elaboration.banks)
    }
}
