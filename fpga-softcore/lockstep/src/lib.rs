//! The prototype's hardware, simulated in the process of its tests.
//!
//! Verilator translates `../rtl` when this crate is built; where it is not installed there is no
//! hardware, `rtl` is absent and the tests report themselves as ignored.

#[cfg(verilated)]
pub mod rtl;
