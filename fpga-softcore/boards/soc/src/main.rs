//! Strata's firmware on the system on a chip around the prototype: it answers the host over the
//! serial line, and drives the prototype over the bus.
//!
//! `cargo xtask soc` builds it, and the simulated board that runs it. There is no launch in it:
//! with one, and the model of the SM that runs it, it is larger than the memory of an FPGA.
#![no_std]
#![no_main]

mod board;
mod device;
mod pins;
mod prototype;
mod uart;

use strata_firmware::{Application, ApplicationMemory, FaultRecord, NoLaunch};

use board::{Soc, with_record};
use prototype::Hardware;

/// In the image, too: built by the program it would need as much of the stack.
static mut MEMORY: ApplicationMemory = ApplicationMemory::new();

#[riscv_rt::entry]
#[expect(unsafe_code, reason = "the one memory of the program is lent out once")]
fn main() -> ! {
    let (starts, fault) = with_record(FaultRecord::start);
    let memory = &raw mut MEMORY;
    // SAFETY: the start-up code calls this once, and nothing else names the static.
    let memory = unsafe { &mut *memory };
    Application::new(Soc::new(), Hardware::new(), NoLaunch, memory, starts, fault).run()
}
