//! The board's UART and its switch; addresses from QEMU's description of `virt`.

use core::panic::PanicInfo;

use embedded_io::Write as _;
use strata_board_support::{Device, Line, Ns16550};

const UART: Device = Device::at(0x1000_0000);

/// SiFive's test device, which ends the emulation.
const TEST: Device = Device::at(0x10_0000);
/// Exit status 0.
const PASS: u32 = 0x5555;
/// The exit status in the upper half.
const FAIL: u32 = 0x3333;

/// The serial line.
pub fn line() -> Line<Ns16550> {
    Line(Ns16550::new(UART))
}

/// Ends the emulation with exit status 0, or 1.
pub fn exit(passed: bool) -> ! {
    let status = if passed { PASS } else { 1 << 16 | FAIL };
    TEST.write(0, status);
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
#[expect(unsafe_code, reason = "the start-up code finds it by this name")]
#[unsafe(export_name = "ExceptionHandler")]
fn fault(_: &riscv_rt::TrapFrame) -> ! {
    let _ = writeln!(line(), "fault");
    exit(false)
}
