//! Strata's firmware on QEMU's Cortex-M3 board `mps2-an385`: answers the host over its first
//! UART, with the prototype in software. It ends with the emulation.
//!
//! `cargo xtask qemu` writes the workload, builds this and talks to it.
#![no_std]
#![no_main]

mod board;

use board::Mps2;
use strata_firmware::{Application, ApplicationMemory, Launch, SoftwarePrototype};

strata_firmware::embed_launch!();

/// All memory but the stack.
struct Memory {
    application: ApplicationMemory,
    prototype: SoftwarePrototype,
    scratch: LaunchScratch,
}

#[cortex_m_rt::entry]
fn main() -> ! {
    // The attribute makes this a mutable reference: the entry is called once.
    static mut MEMORY: Memory = Memory {
        application: ApplicationMemory::new(),
        prototype: SoftwarePrototype::new(),
        scratch: LaunchScratch::new(),
    };
    let Memory { application, prototype, scratch } = MEMORY;
    let (starts, fault) = board::fault_record().start();
    let launch = Launch { workload: &WORKLOAD, scratch };
    Application::new(Mps2::new(), prototype, launch, application, starts, fault).run()
}
