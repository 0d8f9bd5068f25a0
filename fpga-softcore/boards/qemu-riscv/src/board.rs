//! The board's UART and its switch; addresses from QEMU's description of `virt`.
#![expect(unsafe_code, reason = "registers of devices lie at addresses")]

use core::convert::Infallible;
use core::panic::PanicInfo;

use embedded_io::{ErrorType, Write};

/// An ns16550, which needs no set-up here: the emulated line has no speed.
const UART: *mut u8 = 0x1000_0000 as *mut u8;
/// Its line status register.
const LINE_STATUS: usize = 5;
/// The transmitter takes a byte.
const TRANSMITTER_EMPTY: u8 = 1 << 5;

/// SiFive's test device, which ends the emulation.
const TEST: *mut u32 = 0x10_0000 as *mut u32;
/// Exit status 0.
const PASS: u32 = 0x5555;
/// The exit status that the upper half says.
const FAIL: u32 = 0x3333;

/// The serial line.
pub struct Uart;

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for &byte in bytes {
            // SAFETY: the device's registers, whose accesses have no effect on memory.
            unsafe {
                while UART.add(LINE_STATUS).read_volatile() & TRANSMITTER_EMPTY == 0 {}
                UART.write_volatile(byte);
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
    let status = if passed { PASS } else { 1 << 16 | FAIL };
    // SAFETY: the device's register; the machine ends here.
    unsafe { TEST.write_volatile(status) };
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Uart, "{info}");
    exit(false)
}

/// Faults of the processor end up here.
#[unsafe(export_name = "ExceptionHandler")]
fn fault(_: &riscv_rt::TrapFrame) -> ! {
    let _ = writeln!(Uart, "fault");
    exit(false)
}
