//! The ports of the prototype.

use super::{Block, Elaborated};

/// Warps that have registers.
pub const WARPS: usize = 8;
/// Entries of a warp's cache.
pub const CACHE: usize = 6;
/// Entries of the write pool.
pub const POOL: usize = 24;
/// Lanes of a register.
pub const LANES: usize = 4;

/// An access of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Access {
    /// 1 for a write.
    pub(crate) write: u32,
    pub(crate) address: u32,
    pub(crate) value: u32,
    /// Clocks without an access before it.
    pub(crate) pause: u32,
}

/// What the bus answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Answer {
    pub(crate) value: u32,
    /// Clocks that it took; 0 if none came.
    pub(crate) clocks: u32,
}

/// The one elaboration of the hardware.
#[derive(Clone, Copy, Debug)]
pub struct Elaboration;

impl Elaborated for Elaboration {
    fn index(&self) -> u32 {
        0
    }

    fn lanes(&self) -> usize {
        0
    }
}

/// The block.
#[derive(Debug)]
pub enum Prototype {}

impl Block for Prototype {
    type Elaboration = Elaboration;
    type Settings = ();
    type Inputs = Access;
    type Outputs = Answer;
    type State = ();

    fn takes(_: &Elaboration, (): &()) -> bool {
        true
    }

    fn exists(_: &Elaboration, _: &Access) -> bool {
        true
    }
}
