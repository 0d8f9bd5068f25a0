//! The ports of the main register file.

use super::{Block, Elaborated};
pub use crate::pool_slot::{MAX_SLOTS, PoolSlot};

/// Banks.
pub const BANKS: usize = 16;

/// The configuration ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Settings {
    /// Entries of the write pool, 0 without one.
    pub pool_entries: u8,
    /// Split bank write.
    pub split: bool,
    /// Cycles of a write.
    pub write_cycles: u8,
    /// Registers of a warp.
    pub registers: u8,
}

/// The input ports in one clock, except data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Inputs {
    /// A request stands.
    pub valid: bool,
    /// Its operation, as the hardware codes it.
    pub op: u8,
    /// Its warp.
    pub warp: u8,
    /// A tag that returns with the response.
    pub tag: u8,
    /// The register.
    pub register: u32,
    /// The lanes.
    pub lanes: u32,
}

/// The output ports in one clock, except data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The request was taken.
    pub accepted: bool,
    /// A response is there; the ports below mean something.
    pub valid: bool,
    /// Its operation.
    pub op: u8,
    /// What became of it, as the hardware codes it.
    pub outcome: u8,
    /// Entries demoted or given up.
    pub count: u8,
    /// A bank was read while it was written.
    pub beside_write: bool,
    /// Clocks that it waited for a bank.
    pub waited: u8,
    /// The request's.
    pub tag: u8,
}

/// A bank as the debug port shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Bank {
    /// Clocks that its write still takes.
    pub write_busy: u8,
    /// The half of its last write.
    pub written: u8,
}

/// What the debug ports show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// All entries of the write pool.
    pub slots: [PoolSlot; MAX_SLOTS],
    /// All banks.
    pub banks: [Bank; BANKS],
}

/// One elaboration of the hardware: `docs/hw/main_register_file.md` names the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Entries of the write pool.
    pub entries: usize,
    /// Warps.
    pub warps: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// The size in the prototype.
pub const USUAL: Elaboration = Elaboration { index: 0, entries: 60, warps: 8, lanes: 4 };
/// Few entries.
pub const SMALL: Elaboration = Elaboration { index: 1, entries: 8, warps: 8, lanes: 4 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 2, entries: 2, warps: 4, lanes: 32 };

impl Elaborated for Elaboration {
    fn index(&self) -> u32 {
        self.index
    }

    fn lanes(&self) -> usize {
        self.lanes
    }
}

/// The block.
#[derive(Debug)]
pub enum MainRegisterFile {}

impl Block for MainRegisterFile {
    type Elaboration = Elaboration;
    type Settings = Settings;
    type Inputs = Inputs;
    type Outputs = Outputs;
    type State = State;

    fn takes(elaboration: &Elaboration, settings: &Settings) -> bool {
        usize::from(settings.pool_entries) <= elaboration.entries
    }

    fn exists(elaboration: &Elaboration, inputs: &Inputs) -> bool {
        usize::from(inputs.warp) < elaboration.warps
    }
}
