//! The prototype's hardware, simulated in the process of its tests: a module for each block, with
//! its ports, and one [`harness`] around all of them.
//!
//! Verilator translates `../rtl` when this crate is built; where it is not installed there is no
//! hardware, the blocks' modules are absent and the tests report themselves as ignored.

pub mod pool_slot;
pub mod random;

#[cfg(verilated)]
pub mod access_sequencer;
#[cfg(verilated)]
pub mod harness;
#[cfg(verilated)]
pub mod main_register_file;
#[cfg(verilated)]
mod ports;
#[cfg(verilated)]
pub mod prototype;
#[cfg(verilated)]
pub mod register_file_cache;
#[cfg(verilated)]
pub mod split_bank_write;
#[cfg(verilated)]
pub mod write_pool;
