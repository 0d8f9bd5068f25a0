//! The ports of the write pool.

use super::{Block, Elaborated};
pub use crate::pool_slot::{MAX_SLOTS, PoolSlot};

/// The configuration port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Settings {
    /// Entries in use; 0 without a pool.
    pub entries: u8,
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
    /// The decision can be carried out.
    pub go: bool,
    /// The register's number, through all warps.
    pub number: u16,
    /// Nothing.
    pub unused: u16,
    /// The lanes.
    pub lanes: u32,
}

/// The output ports in one clock, except data. Count and lanes are those at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The request was taken.
    pub accepted: bool,
    /// A decision stands; the ports from `op` on mean something.
    pub valid: bool,
    /// Its operation.
    pub op: u8,
    /// What becomes of it, as the hardware codes it.
    pub outcome: u8,
    /// A bank has to be read.
    pub read_bank: bool,
    /// A bank has to be written.
    pub write_bank: bool,
    /// Entries of the warp, if the decision was carried out.
    pub count: u8,
    /// Nothing.
    pub unused: u8,
    /// The register to read.
    pub read_number: u16,
    /// The register to write.
    pub write_number: u16,
    /// Lanes that the pool gives, or those to write to the bank, if the decision was carried out.
    pub lanes: u32,
}

/// One elaboration of the hardware: `docs/hw/write_pool.md` names the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Entries.
    pub entries: usize,
    /// Warps.
    pub warps: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// The default parameters of the RTL.
pub const USUAL: Elaboration = Elaboration { index: 0, entries: 60, warps: 8, lanes: 4 };
/// Few entries.
pub const SMALL: Elaboration = Elaboration { index: 1, entries: 8, warps: 8, lanes: 4 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 2, entries: 2, warps: 2, lanes: 32 };
/// One entry of one lane.
pub const SMALLEST: Elaboration = Elaboration { index: 3, entries: 1, warps: 1, lanes: 1 };

/// The default parameters of the RTL, without its definitions for simulation, as it is synthesised.
pub const SYNTHESISED: Elaboration = Elaboration { index: 4, ..USUAL };

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
pub enum WritePool {}

impl Block for WritePool {
    type Elaboration = Elaboration;
    type Settings = Settings;
    type Inputs = Inputs;
    type Outputs = Outputs;
    type State = [PoolSlot; MAX_SLOTS];

    fn takes(elaboration: &Elaboration, settings: &Settings) -> bool {
        usize::from(settings.entries) <= elaboration.entries
    }

    fn exists(elaboration: &Elaboration, inputs: &Inputs) -> bool {
        usize::from(inputs.warp) < elaboration.warps
    }
}
