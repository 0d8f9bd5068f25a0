//! The ports of every simulated block as its shim declares them, and what all blocks share.

pub(crate) mod access_sequencer;
pub(crate) mod main_register_file;
pub(crate) mod prototype;
pub(crate) mod register_file_cache;
pub(crate) mod split_bank_write;
pub(crate) mod write_pool;

use core::fmt::Debug;

/// A block as its shim defines it. The structs are plain numbers and `bool`s.
pub trait Block {
    /// Parameters that the hardware was elaborated with.
    type Elaboration: Elaborated;
    /// The configuration ports.
    type Settings: Copy;
    /// The input ports in one clock, or the elements of another kind of run, except data.
    type Inputs: Copy;
    /// The output ports, except data.
    type Outputs: Copy;
    /// What the debug ports show.
    type State: Copy;

    /// Whether the hardware has room for these settings.
    fn takes(elaboration: &Self::Elaboration, settings: &Self::Settings) -> bool;

    /// Whether the parts that the inputs name exist.
    fn exists(elaboration: &Self::Elaboration, inputs: &Self::Inputs) -> bool;
}

/// An elaboration of a block's hardware.
pub trait Elaborated: Copy + Debug {
    /// Its place in the shim's list.
    fn index(&self) -> u32;

    /// Words of data that go with each of the inputs and outputs.
    fn lanes(&self) -> usize;
}
