//! Strata's firmware on QEMU's Cortex-M3 board `mps2-an385`: lines go to its first UART, then the
//! machine ends.
//!
//! `cargo xtask qemu` writes the workload, builds this and runs it.
#![no_std]
#![no_main]

mod board;

use board::Uart;

strata_firmware::embed_launch!();

#[cortex_m_rt::entry]
fn main() -> ! {
    // The attribute makes this a mutable reference: the entry is called once.
    static mut SCRATCH: LaunchScratch = LaunchScratch::new();
    board::exit(strata_firmware::run(&WORKLOAD, SCRATCH, &mut Uart::new()))
}
