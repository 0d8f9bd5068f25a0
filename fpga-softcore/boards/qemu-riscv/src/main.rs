//! Strata's firmware on QEMU's RISC-V board `virt`: lines go to its UART, then the machine ends.
//!
//! `cargo xtask qemu` writes the workload, builds this and runs it.
#![no_std]
#![no_main]

mod board;

use board::Uart;

strata_firmware::embed_launch!();

static mut SCRATCH: LaunchScratch = LaunchScratch::new();

#[riscv_rt::entry]
#[expect(unsafe_code, reason = "the one memory of the program is lent out once")]
fn main() -> ! {
    let scratch = &raw mut SCRATCH;
    // SAFETY: the start-up code calls this once, and nothing else names the static.
    let scratch = unsafe { &mut *scratch };
    board::exit(strata_firmware::run(&WORKLOAD, scratch, &mut Uart))
}
