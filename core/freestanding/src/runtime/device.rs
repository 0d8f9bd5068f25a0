//! A bare machine: start, compute, stop.

/// Entry: the linker keeps it because of its name.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    exit(crate::run())
}

/// Stops with the status at hand for a debugger.
pub fn exit(status: u8) -> ! {
    loop {
        core::hint::black_box(status);
    }
}
