//! Strata's machine: the register hierarchy of a GPU streaming multiprocessor, in integers, without
//! std and without an allocator.
//!
//! A kernel comes in as a [`image::KernelImage`], one record of static facts for each instruction,
//! and what a warp executed as a path of [`path::PathStep`]s. [`count`] walks the path through a
//! warp's register hierarchy (`hierarchy`), which has the levels of an [`organisation`]: a
//! [`register_file_cache`] with or without a [`last_result_file`], or levels that a compiler
//! manages, which have no state here: [`placement`] names the level of every operand. [`rules`]
//! says when a warp is descheduled and what that does; each [`access`] of a level is told to a
//! sink. Every event of the one table in [`event`] is counted once, where it is known (accesses in
//! `tally`); [`energy`] multiplies counts by a paper's table at the end, [`leakage`] adds what the
//! time of a run costs, and [`chip_power`] puts the result into the context of a chip;
//! [`storage_energy`] is that of an SM with all its storage.
//! [`value_usage`] describes a path without any machine. [`names`] is how users call the values of
//! enums. [`sm`] runs the paths of many warps through the same hierarchy in time. [`fault`] is what
//! a path can get wrong, [`digest`] one number for all counters of a run, [`footprint`] the memory
//! that all of this needs. [`prototype`] is what the hardware of the same cache does, clock by
//! clock.
//!
//! Principles:
//! - Same input, same bits, on every machine: no floating point, no clock, no randomness.
//! - A component is a configuration that was checked, a state of plain data, and a `step` that
//!   cannot fail. What the input can get wrong is an error value.
//! - No allocation: small state is sized at compile time, large working memory is the caller's.
//!
//! ```
//! use strata_core::count::count_path;
//! use strata_core::image::{CheckedImage, KernelImage, StaticInstruction, Unit};
//! use strata_core::organisation::Organisation;
//! use strata_core::path::PathStep;
//! use strata_core::units::{LaneMask, RegisterId};
//!
//! // r2 = r0 + r1
//! let add = StaticInstruction {
//!     sources: 2,
//!     destinations: 1,
//!     ..StaticInstruction::new(Unit::Alu)
//! };
//! let slots = [RegisterId(0), RegisterId(1), RegisterId(2)];
//! let image = KernelImage { instructions: &[add], slots: &slots, registers: 3 };
//! let image = CheckedImage::new(image)?;
//! let path = [PathStep { pc: 0, length: 1, mask: LaneMask::FULL }];
//! let counters = count_path(&Organisation::FLAT, image, &mut [LaneMask::EMPTY; 3], path)?;
//! assert_eq!((counters.mrf_reads(), counters.mrf_writes()), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic)]

/// Version of the model: raised with every change that moves a number it prints, so that results of
/// two programs with the same version can be put together.
pub const MODEL_VERSION: u32 = 3;

pub mod access;
pub mod arbiter;
pub mod bank_layout;
pub mod chip_power;
pub mod count;
pub mod datapath;
pub mod digest;
pub mod energy;
pub mod event;
pub mod fault;
pub mod footprint;
mod hierarchy;
pub mod image;
pub mod last_result_file;
pub mod leakage;
pub mod level;
pub mod names;
pub mod organisation;
pub mod path;
pub mod placement;
pub mod prototype;
pub mod register_file_cache;
pub mod rules;
pub mod sm;
pub mod split_bank_write;
pub mod storage_energy;
mod tally;
pub mod units;
pub mod value_usage;
pub mod write_pool;
