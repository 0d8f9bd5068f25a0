//! Strata's firmware on QEMU's RISC-V board `virt`: answers the host over its UART, with the
//! prototype in software. It ends with the emulation.
//!
//! `cargo xtask qemu` writes the workload, builds this and talks to it.
#![no_std]
#![no_main]

mod board;

use board::Virt;
use strata_firmware::{Application, ApplicationMemory, Launch, SoftwarePrototype};

strata_firmware::embed_launch!();

/// All memory but the stack.
struct Memory {
    application: ApplicationMemory,
    prototype: SoftwarePrototype,
    scratch: LaunchScratch,
}

static mut MEMORY: Memory = Memory {
    application: ApplicationMemory::new(),
    prototype: SoftwarePrototype::new(),
    scratch: LaunchScratch::new(),
};

#[riscv_rt::entry]
#[expect(unsafe_code, reason = "the one memory of the program is lent out once")]
fn main() -> ! {
    let memory = &raw mut MEMORY;
    // SAFETY: the start-up code calls this once, and nothing else names the static.
    let Memory { application, prototype, scratch } = unsafe { &mut *memory };
    let (starts, fault) = board::fault_record().start();
    let launch = Launch { workload: &WORKLOAD, scratch };
    Application::new(Virt::new(), prototype, launch, application, starts, fault).run()
}
