//! NVIDIA's machine code (SASS): which registers an instruction reads and writes.
//!
//! [`Mnemonic`] takes an opcode's spelling apart, [`forms`] says which operands it has, for each
//! [`Machine`], and [`read`] applies that to the registers that a line of a trace lists.
//!
//! The forms were read off `nvdisasm -plr`, over code that `ptxas` made for the ten machines of
//! [`Machine`]; `cargo xtask life-ranges` writes what it says, and a test compares every form.
//! Nothing is read or written here.
#![forbid(unsafe_code)]

mod arithmetic;
mod control;
mod form;
mod listing;
mod machine;
mod matrix;
mod memory;
mod mnemonic;
mod opcode;
mod texture;

pub use form::{First, Form, Operand, Role, Width};
pub use listing::{Misfit, Note, Reading, Span, list, read};
pub use machine::Machine;
pub use memory::{data_bytes, naming_lanes};
pub use mnemonic::Mnemonic;
pub use opcode::{forms, global_line};
