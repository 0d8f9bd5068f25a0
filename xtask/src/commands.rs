//! One module for each command.

pub(crate) mod accel_sim;
pub(crate) mod book;
pub(crate) mod ci;
pub(crate) mod compilers;
pub(crate) mod deviations;
pub(crate) mod doctor;
mod example;
pub(crate) mod formal;
pub(crate) mod fpga;
pub(crate) mod fuzz;
pub(crate) mod life_ranges;
pub(crate) mod no_std;
pub(crate) mod nvcc;
pub(crate) mod python;
pub(crate) mod qemu;
pub(crate) mod regmap;
pub(crate) mod report;
pub(crate) mod setup;
pub(crate) mod slang;
pub(crate) mod soc;
pub(crate) mod sweeps;
pub(crate) mod synth;
pub(crate) mod test;
pub(crate) mod tidy;
pub(crate) mod wasm;
