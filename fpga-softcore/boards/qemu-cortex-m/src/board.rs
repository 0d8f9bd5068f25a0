//! The board's UART, and the debugger's call that ends the emulation. Source: Arm's description of
//! the CMSDK UART, and of semihosting.
#![expect(unsafe_code, reason = "registers of devices lie at addresses")]

use core::convert::Infallible;
use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use embedded_io::{ErrorType, Write};

/// The first CMSDK UART: data, state, control and divisor, each a word.
const UART: *mut u32 = 0x4000_4000 as *mut u32;
const STATE: usize = 1;
const CONTROL: usize = 2;
const DIVISOR: usize = 4;
/// The transmitter takes no byte.
const TRANSMITTER_FULL: u32 = 1;
/// The transmitter is on.
const TRANSMITTER_ON: u32 = 1;
/// The least divisor that the device accepts: the emulated line has no speed.
const FASTEST: u32 = 16;

/// Semihosting's call that ends the program, and its two reasons here.
const EXIT: u32 = 0x18;
const APPLICATION_EXIT: u32 = 0x2_0026;
const RUN_TIME_ERROR: u32 = 0x2_0023;

/// The serial line.
pub struct Uart(());

impl Uart {
    /// Switches the line on.
    pub fn new() -> Self {
        // SAFETY: the device's registers, whose accesses have no effect on memory.
        unsafe {
            UART.add(DIVISOR).write_volatile(FASTEST);
            UART.add(CONTROL).write_volatile(TRANSMITTER_ON);
        }
        Self(())
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for &byte in bytes {
            // SAFETY: as in `new`.
            unsafe {
                while UART.add(STATE).read_volatile() & TRANSMITTER_FULL != 0 {}
                UART.write_volatile(u32::from(byte));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
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
    let _ = writeln!(Uart::new(), "{info}");
    exit(false)
}

/// Faults of the processor end up here.
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    let _ = writeln!(Uart::new(), "fault");
    exit(false)
}
