//! The ports of the access sequencer.

use strata_core::prototype::command::Command;
use strata_core::prototype::regmap::field;
use strata_core::prototype::settings::Settings;
use strata_core::units::LaneMask;

use super::{Block, Elaborated};
pub use crate::pool_slot::{MAX_SLOTS, PoolSlot};

/// Most warps.
pub const MAX_WARPS: usize = 8;
/// Most entries of a warp's cache.
pub const MAX_WAYS: usize = 16;

/// A command as the shim takes it: the bus's word has no room for the lanes of whole warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCommand {
    /// All fields but the lanes.
    word: u32,
    lanes: u32,
}

impl PortCommand {
    /// The form of a command, if the bus can carry all but its lanes.
    pub fn new(command: Command) -> Option<Self> {
        let LaneMask(lanes) = command.lanes;
        let word = Command { lanes: LaneMask::EMPTY, ..command }.pack()?;
        Some(Self { word, lanes })
    }

    const fn warp(self) -> usize {
        field::COMMAND_WARP.get(self.word) as usize
    }
}

/// Settings as the bus carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PortSettings {
    word: u32,
}

impl PortSettings {
    /// The form of settings, if the bus can carry them.
    pub fn new(settings: Settings) -> Option<Self> {
        settings.pack().map(|word| Self { word })
    }
}

/// An outcome, and the clock in which it stood, counted from the first of the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortOutcome {
    /// The outcome's word, as it is read on the bus.
    pub word: u32,
    /// The clock.
    pub clock: u32,
}

/// A warp's cache as the debug port shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCache {
    /// Ways that hold something; the others' fields below mean nothing.
    pub occupied: u16,
    /// Ways that are dirty.
    pub dirty: u16,
    /// Age of each way, 0 the oldest.
    pub ages: [u8; MAX_WAYS],
    /// Register of each way.
    pub registers: [u16; MAX_WAYS],
    /// Valid lanes of each way.
    pub lanes: [u32; MAX_WAYS],
}

/// What the debug ports show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// The caches of all warps.
    pub caches: [PortCache; MAX_WARPS],
    /// All entries of the write pool.
    pub slots: [PoolSlot; MAX_SLOTS],
}

/// One elaboration of the hardware: `docs/hw/access_sequencer.md` names the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elaboration {
    index: u32,
    /// Warps.
    pub warps: usize,
    /// Entries of a warp's cache.
    pub cache: usize,
    /// Entries of the write pool.
    pub pool: usize,
    /// Lanes of a register.
    pub lanes: usize,
}

/// Every size that a paper measures fits.
pub const LARGEST: Elaboration = Elaboration { index: 0, warps: 8, cache: 13, pool: 60, lanes: 4 };
/// The usual cache, and a small pool.
pub const USUAL: Elaboration = Elaboration { index: 1, warps: 8, cache: 6, pool: 24, lanes: 4 };
/// The smallest sizes.
pub const SMALLEST: Elaboration = Elaboration { index: 2, warps: 3, cache: 1, pool: 1, lanes: 2 };
/// Whole warps.
pub const WIDE: Elaboration = Elaboration { index: 3, warps: 4, cache: 3, pool: 5, lanes: 32 };

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
pub enum AccessSequencer {}

impl Block for AccessSequencer {
    type Elaboration = Elaboration;
    type Settings = PortSettings;
    type Inputs = PortCommand;
    type Outputs = PortOutcome;
    type State = State;

    fn takes(elaboration: &Elaboration, settings: &PortSettings) -> bool {
        let Settings { cache, write_pool_entries, .. } = Settings::unpack(settings.word);
        let entries = cache.map_or(0, |cache| cache.entries);
        usize::from(entries) <= elaboration.cache
            && usize::from(write_pool_entries) <= elaboration.pool
    }

    fn exists(elaboration: &Elaboration, command: &PortCommand) -> bool {
        command.warp() < elaboration.warps
    }
}
