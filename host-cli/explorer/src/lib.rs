//! The explorer: count mode in a browser, over inputs and designs that a page inlines.
//!
//! The host ([`Catalogue`], [`Input`]) says which designs a page offers and what the warps of each
//! workload executed, both as bytes in postcard's format. [`explore`] takes these bytes and a
//! choice, and answers with counters, their digest and energy, made by `strata-core` as `strata
//! run` makes them. Compiled for `wasm32-unknown-unknown`, `abi` is what a page calls.
//!
//! Models: `strata run` in count mode, of built-in workloads.
//! Does not model: resolving designs, fitting kernels to compiler-managed levels, executing
//! kernels. The host has done so.
//!
//! - Decoding checks everything: bytes that no host wrote are a [`Problem`], never a panic.
//! - The core's own checks of images, placements and paths run here too.

#![no_std]

extern crate alloc;

#[cfg(target_arch = "wasm32")]
mod abi;
mod answer;
mod catalogue;
mod encoded;
mod input;
mod problem;

pub use answer::{Answer, answer, explore};
pub use catalogue::{Axis, Catalogue, Counted, Refused, Setting};
pub use input::{Input, Kernel, Path};
pub use problem::Problem;

/// Version of the bytes and of the answer: raised with every change of either.
pub const FORMAT: u32 = 1;

/// What a compiled explorer holds, so that one of another model or format is noticed: `STRATAEX`,
/// the versions of the model and of [`FORMAT`].
pub const MARK: [u32; 4] = [
    u32::from_le_bytes(*b"STRA"),
    u32::from_le_bytes(*b"TAEX"),
    strata_core::MODEL_VERSION,
    FORMAT,
];

/// Largest bytes of a catalogue, an input and a choice together. Unit: bytes.
pub const MAX_BYTES: usize = 4 << 20;
