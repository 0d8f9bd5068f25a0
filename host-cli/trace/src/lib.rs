//! Accel-Sim traces as kernels: machine code that ran on a real GPU, instruction by instruction.
//!
//! A trace names program counters, masks, registers and addresses. Its own code, put together from
//! the program counters, takes the place of the compiler: `lines` -> `header`, `reader` (text) ->
//! `instruction`, `operands`, `opcode` (meaning) -> `code` (image), `flow`, `liveness` (bits,
//! marks) -> [`TracedLaunch`] (image and paths, as the executor makes them).
//!
//! What a trace does not say: predicates, uniform registers (named by tracers since Accel-Sim 2.0,
//! not counted), constants, widths of operands (from the opcode; see [`Assumption`]), values. Code
//! that no warp executed is not there, so "no path reads it" means no path that the trace shows.

#![forbid(unsafe_code)]

mod code;
mod cursor;
mod error;
mod export;
mod flow;

mod header;
mod instruction;
mod launch;
mod lines;
mod list;
mod liveness;
mod native;
mod newer;
mod opcode;
mod operands;
mod plain;
mod reader;
pub mod store;
#[cfg(test)]
mod tests;
mod tracez;
mod visitor;

pub use code::{Assumption, Code, TracedInstruction, machine_note};
pub use error::{Problem, TraceError};
pub use export::{EXPORT, export};
pub use header::{Header, unknown_keys};
pub use launch::{Keep, TracedLaunch};
pub use list::{Entry, Reach, entries, is_list, is_trace};
pub use native::{declared_version, native_instructions};
pub use opcode::{Class, classify};
