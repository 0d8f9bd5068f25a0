//! Strata's firmware on the system on a chip around the prototype: it answers the host over the
//! serial line, and drives the prototype over the bus.
//!
//! `cargo xtask soc` builds it for the simulated board, with a launch in the image and the model of
//! the SM that runs it. That is larger than the memory of an FPGA, for which `cargo xtask synth`
//! builds it without.
#![no_std]
#![no_main]

mod board;
mod device;
#[cfg(launch)]
mod launch;
mod pins;
mod prototype;
mod uart;

use strata_firmware::{Application, ApplicationMemory, FaultRecord};

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
    #[cfg(launch)]
    let launch = launch::launch();
    #[cfg(not(launch))]
    let launch = strata_firmware::NoLaunch;
    Application::new(Soc::new(), Hardware::new(), launch, memory, starts, fault).run()
}
