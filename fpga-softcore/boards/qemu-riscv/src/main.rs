//! Strata's firmware on QEMU's RISC-V board `virt`: lines go to its UART, then the machine ends.
//!
//! `cargo xtask qemu` writes the workload, builds this and runs it.
#![no_std]
#![no_main]

mod board;

use strata_board_support::Lent;

strata_firmware::embed_launch!();

static SCRATCH: Lent<LaunchScratch> = Lent::new(LaunchScratch::new());

#[riscv_rt::entry]
fn main() -> ! {
    board::exit(strata_firmware::run(&WORKLOAD, SCRATCH.lend(), &mut board::line()))
}
