//! Strata's firmware on QEMU's RISC-V board `virt`: answers the host over its UART, with the
//! prototype in software. It ends with the emulation.
//!
//! `cargo xtask qemu` writes the workload, builds this and talks to it.
#![no_std]
#![no_main]

mod board;

strata_board_support::software_program! {
    entry: riscv_rt::entry,
    board: board::Virt::new(),
    restart: board::restart
}
