//! One module for each command.

pub(crate) mod ci;
pub(crate) mod doctor;
pub(crate) mod fuzz;
pub(crate) mod life_ranges;
pub(crate) mod no_std;
pub(crate) mod qemu;
pub(crate) mod setup;
pub(crate) mod test;
pub(crate) mod tidy;
