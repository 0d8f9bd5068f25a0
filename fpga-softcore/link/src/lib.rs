//! The serial link between the host and the device of the prototype: frames over a line that may
//! lose, damage and repeat bytes.
//!
//! [`frame`] is what stands on the line. Neither std nor an allocator: the constant of a
//! [`frame::Decoder`] is its memory.
#![no_std]
#![forbid(unsafe_code)]

pub mod frame;
