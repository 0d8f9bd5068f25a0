//! The board's UART, and the debugger's call that ends the emulation. Source: Arm's description of
//! semihosting.
#![expect(unsafe_code, reason = "a call of the debugger, and what the start-up code asks for")]

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use embedded_io::Write as _;
use strata_board_support::{Cmsdk, Device, Line};

/// The first CMSDK UART.
const UART: Device = Device::at(0x4000_4000);

/// Semihosting's call that ends the program, and its two reasons here.
const EXIT: u32 = 0x18;
const APPLICATION_EXIT: u32 = 0x2_0026;
const RUN_TIME_ERROR: u32 = 0x2_0023;

/// The serial line.
pub fn line() -> Line<Cmsdk> {
    Line(Cmsdk::new(UART))
}

/// Ends the emulation with exit status 0, or 1.
pub fn exit(passed: bool) -> ! {
    let reason = if passed { APPLICATION_EXIT } else { RUN_TIME_ERROR };
    // SAFETY: the debugger takes both by value, and ends the machine here.
    unsafe { core::arch::asm!("bkpt #0xab", in("r0") EXIT, in("r1") reason, options(nostack)) };
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(line(), "{info}");
    exit(false)
}

/// Faults of the processor end up here.
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    let _ = writeln!(line(), "fault");
    exit(false)
}
