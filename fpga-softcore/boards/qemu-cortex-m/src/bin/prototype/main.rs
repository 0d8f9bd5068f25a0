//! Strata's firmware on QEMU's Cortex-M3 board `mps2-an385`: answers the host over its first
//! UART, with the prototype in software. It ends with the emulation.
//!
//! `cargo xtask qemu` writes the workload, builds this and talks to it.
#![no_std]
#![no_main]

mod board;

strata_board_support::software_program! {
    entry: cortex_m_rt::entry,
    board: board::Mps2::new(),
    restart: cortex_m::peripheral::SCB::sys_reset
}
