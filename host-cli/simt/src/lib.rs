//! Functional SIMT executor: 32-lane values, divergence, checked memory, and the paths warps took.
//!
//! # Tour
//!
//! A [`Device`] holds global memory: checked buffers, and the variables of loaded modules.
//! [`prepare`] decodes a compiled program once into an [`Executable`], or says everything in it
//! that cannot be executed. [`execute`] runs a [`Launch`] of it: CTA by CTA, warp by warp,
//! instruction by instruction, 32 lanes at a time; it returns the counts, the printed text and the
//! path of every warp, or the [`Fault`] that stopped it.
//!
//! - [`arith`]: what instructions compute, as pure functions on one lane.
//! - `row`: registers of a warp as rows of 32 lanes, and loops over them.
//! - `micro`, `decode`, `ops`: instructions with their operands resolved, and how they are decoded.
//! - `access`: loads, stores and atomics. [`device`]: the memory behind them. `mbarrier`: objects
//!   that count arrivals.
//! - [`texture`]: images, samplers and how they are read.
//! - `exec`: launches, CTAs, barriers, warps and their divergence, `printf`.
//! - `levels`: operand values that live where a compiler-managed register hierarchy places them, to
//!   see that a fitted program computes the same ([`Executable::with_levels`]).
//! - [`paths`]: each distinct path once. [`accesses`]: what memory instructions moved, and where.
//!   [`barriers`]: where warps arrived.

//!
//! # Principles
//!
//! The same launch gives the same bytes on every host. Nothing that a kernel does can panic or
//! hang: wrong addresses, endless loops and barriers that never complete are faults with their
//! place.
#![forbid(unsafe_code)]

mod access;
pub mod accesses;
pub mod arith;
pub mod barriers;
mod decode;
pub mod device;
mod exec;
mod executable;
pub mod fault;
pub mod launch;
mod levels;
mod mbarrier;
mod micro;
pub mod moved;
pub mod numbers;
mod ops;
pub mod paths;
#[cfg(test)]
mod random;
mod resident;
mod row;
pub mod rows;
pub mod texture;
pub mod touched;

pub use accesses::{AccessDictionary, AddressSink, WarpAccesses};
pub use barriers::BarrierDictionary;
pub use decode::prepare;
pub use device::{Device, DeviceError, ModuleHandle};
pub use exec::{execute, execute_in_parts, execute_into};
pub use executable::Executable;
pub use fault::Fault;
pub use launch::{Launch, LaunchOutcome, MAX_KEPT_BYTES, Record};
pub use levels::PlacementError;
pub use paths::PathDictionary;
