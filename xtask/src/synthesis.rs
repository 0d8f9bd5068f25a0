//! Synthesis for ECP5 boards: what is placed on which device, and what the tools say of it.

pub(crate) mod board;
pub(crate) mod report;
pub(crate) mod timing;
pub(crate) mod wrapper;
