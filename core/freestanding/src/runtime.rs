//! What std and the C library would bring: entry, exit, panic, and moving bytes.

use core::panic::PanicInfo;

#[cfg(target_os = "none")]
#[expect(unsafe_code, reason = "the entry point is known to the linker by its symbol")]
mod device;
#[cfg(target_os = "none")]
use device::exit;

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "entry, exit and symbols of a program without a C library")]
mod linux;
#[cfg(target_os = "linux")]
use linux::exit;

/// Exit status of a panic: not one that the workload can produce.
const PANIC_STATUS: u8 = 255;

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    exit(PANIC_STATUS)
}
