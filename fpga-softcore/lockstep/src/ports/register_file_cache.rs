//! The ports of the register file cache.

use super::{Block, Elaborated};

/// Most entries that [`Outputs`] has room for.
pub const MAX_WAYS: usize = 16;

/// The configuration ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Settings {
    /// Entries of a warp in use.
    pub entries: u8,
    /// LRU replacement, else FIFO.
    pub lru: bool,
    /// Last reads free entries.
    pub liveness: bool,
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
    /// Its last-use mark.
    pub last_use: bool,
    /// Another operand of the instruction follows.
    pub more: bool,
    /// The response is read.
    pub ready: bool,
    /// Whose state is shown.
    pub debug_warp: u8,
    /// Nothing.
    pub unused: u8,
    /// The request's register.
    pub register: u32,
    /// Its lanes.
    pub lanes: u32,
}

/// The output ports in one clock, except data; the state is that at the end of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Outputs {
    /// The request was taken.
    pub accepted: bool,
    /// A response stands; the ports up to `victim_lanes` mean something.
    pub valid: bool,
    /// Its outcome, as the hardware codes it.
    pub outcome: u8,
    /// The request is done.
    pub last: bool,
    /// The way concerned.
    pub way: u8,
    /// There is a victim.
    pub victim: bool,
    /// It is to be written back.
    pub writeback: bool,
    /// Nothing.
    pub unused: u8,
    /// Lanes that the entry gave or took.
    pub served: u32,
    /// Lanes of the main register file.
    pub missing: u32,
    /// Ways given up.
    pub dropped: u32,
    /// The victim's register.
    pub victim_register: u32,
    /// Its lanes.
    pub victim_lanes: u32,
    /// Ways that hold something; the others' fields below mean nothing.
    pub occupied: u32,
    /// Ways that are dirty.
    pub dirty: u32,
    /// Valid lanes of each way.
    pub lane_masks: [u32; MAX_WAYS],
    /// Register of each way.
    pub registers: [u16; MAX_WAYS],
    /// Age of each way.
    pub ages: [u8; MAX_WAYS],
}

/// One elaboration of the hardware: `docs/hw/register_file_cache.md` names the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration {
    index: u32,
    /// Warps that have a cache.
    pub warps: usize,
    /// Entries of each.
    pub entries: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// Every size that a paper measures fits.
pub const LARGEST: Elaboration = Elaboration { index: 0, warps: 8, entries: 13, lanes: 4 };
/// The size in the prototype.
pub const USUAL: Elaboration = Elaboration { index: 1, warps: 8, entries: 6, lanes: 4 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 2, warps: 2, entries: 3, lanes: 32 };
/// One entry of one lane of one warp.
pub const SMALLEST: Elaboration = Elaboration { index: 3, warps: 1, entries: 1, lanes: 1 };

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
pub enum RegisterFileCache {}

impl Block for RegisterFileCache {
    type Elaboration = Elaboration;
    type Settings = Settings;
    type Inputs = Inputs;
    type Outputs = Outputs;
    type State = ();

    fn takes(elaboration: &Elaboration, settings: &Settings) -> bool {
        usize::from(settings.entries) <= elaboration.entries
    }

    fn exists(elaboration: &Elaboration, inputs: &Inputs) -> bool {
        usize::from(inputs.warp.max(inputs.debug_warp)) < elaboration.warps
    }
}
