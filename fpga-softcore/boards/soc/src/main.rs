//! Strata's firmware on the system on a chip around the prototype: it answers the host over the
//! serial line, and drives the prototype over the bus.
//!
//! `cargo xtask soc` builds it for the simulated board, with a launch in the image and the model of
//! the SM that runs it. That is larger than the memory of an FPGA, for which `cargo xtask synth`
//! builds it without.
#![no_std]
#![no_main]

mod board;
#[cfg(launch)]
mod launch;
mod pins;
mod prototype;
mod uart;

use strata_board_support::{Lent, with_record};
use strata_firmware::{Application, ApplicationMemory, FaultRecord};

use board::Soc;
use prototype::Hardware;

static MEMORY: Lent<ApplicationMemory> = Lent::new(ApplicationMemory::new());

strata_board_support::keep_panics!(board::restart);

#[riscv_rt::entry]
fn main() -> ! {
    let (starts, fault) = with_record(FaultRecord::start);
    let memory = MEMORY.lend();
    #[cfg(launch)]
    let launch = launch::launch();
    #[cfg(not(launch))]
    let launch = strata_firmware::NoLaunch;
    Application::new(Soc::new(), Hardware::new(), launch, memory, starts, fault).run()
}
