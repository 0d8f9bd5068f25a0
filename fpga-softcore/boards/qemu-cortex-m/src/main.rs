//! Strata's firmware on QEMU's Cortex-M3 board `mps2-an385`: lines go to its first UART, then the
//! machine ends.
//!
//! `cargo xtask qemu` writes the workload, builds this and runs it.
#![no_std]
#![no_main]

mod board;

use board::Uart;
use strata_firmware::{Scratch, WARPS, Workload};

static WORKLOAD: Workload<'static> = include!(env!(
    "STRATA_WORKLOAD",
    "name a file of `strata trace embed`; `cargo xtask qemu` does it all"
));

const INSTRUCTIONS: usize = WORKLOAD.image.instructions.len();
const REGISTERS: usize = WARPS * WORKLOAD.image.registers as usize;
const READY: usize = REGISTERS + WARPS * WORKLOAD.predicates();

#[cortex_m_rt::entry]
fn main() -> ! {
    // The attribute makes this a mutable reference: the entry is called once.
    static mut SCRATCH: Scratch<'static, INSTRUCTIONS, REGISTERS, READY> = Scratch::new();
    board::exit(strata_firmware::run(&WORKLOAD, SCRATCH, &mut Uart::new()))
}
