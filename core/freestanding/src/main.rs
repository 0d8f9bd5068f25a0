//! A program without std, without an allocator and without a C library, that runs the core.
//!
//! Linking it proves that the core needs none of the three; running it proves that the core was
//! linked and works: the exit status is a number that only the core can produce. `cargo xtask
//! no-std` builds and runs it, builds it for two devices, and checks that the feature
//! `prove-failure`, which allocates, makes the build fail.
//!
//! On a device there is no caller to exit to: the program computes the same number and stops.
#![no_std]
#![no_main]

#[cfg(feature = "prove-failure")]
extern crate alloc;

mod runtime;
mod workload;

/// The program proper: what the core computed, as an exit status.
fn run() -> u8 {
    let status = workload::status();
    #[cfg(feature = "prove-failure")]
    let status = *core::hint::black_box(alloc::boxed::Box::new(status));
    status
}
