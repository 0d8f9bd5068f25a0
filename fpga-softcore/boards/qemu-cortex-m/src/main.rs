//! Strata's firmware on QEMU's Cortex-M3 board `mps2-an385`: lines go to its first UART, then the
//! machine ends.
//!
//! `cargo xtask qemu` writes the workload, builds this and runs it.
#![no_std]
#![no_main]

mod board;

use strata_board_support::Lent;

strata_firmware::embed_launch!();

static SCRATCH: Lent<LaunchScratch> = Lent::new(LaunchScratch::new());

#[cortex_m_rt::entry]
fn main() -> ! {
    board::exit(strata_firmware::run(&WORKLOAD, SCRATCH.lend(), &mut board::line()))
}
