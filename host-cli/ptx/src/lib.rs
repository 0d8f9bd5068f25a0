//! PTX text to a checked [`module::Module`], with every diagnostic of the file at once.
//!
//! [`parse`] never fails and never panics: what is wrong is listed beside what was understood. The
//! way of the text: `lexer` (tokens) -> `parser` (declarations, blocks, names) -> `matching` (which
//! form of the opcode has these modifiers) -> `check` (do the operands suit the form). The forms
//! are tables written as the PTX ISA manual writes syntax; the printer ([`mod@print`]) reads the
//! same tables.
//!
//! Source: NVIDIA, *Parallel Thread Execution ISA*, versions 1.4 to 9.0. The tables were held
//! against
//! `ptxas` with generated instructions (`examples/every_form.rs`).
//!
//! Does not check: which PTX version or target introduced a feature; the number of registers in a
//! matrix fragment; how texture coordinates depend on the geometry.
#![forbid(unsafe_code)]

mod check;
pub mod cuda;
pub mod diagnostic;
mod forms;
#[doc(hidden)]
pub mod fuzzing;
pub mod launch;
mod lexer;
mod matching;
pub mod module;
pub mod opcode;
mod parser;
pub mod print;
mod special;
mod suggest;
pub mod types;
mod words;

pub use parser::{Parsed, final_zeros, parse, parse_bytes, warnings};
