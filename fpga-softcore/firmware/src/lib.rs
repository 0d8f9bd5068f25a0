//! Strata's firmware: the application of every board, generic over its serial line.
//!
//! A board is a thin program that passes in a [`Workload`] of its image, [`Scratch`] memory and a
//! byte sink such as a UART. [`run`] then counts the workload and runs it in time under each of
//! [`DESIGNS`], and writes a line for each: the lines that `strata run --format digest` prints for
//! the same workload and designs, so that a board and a host are compared with `diff`.
//!
//! Neither std nor an allocator: all memory is the board's, sized at compile time.
#![no_std]
#![forbid(unsafe_code)]

mod application;
mod bench;
mod board;
mod comparison;
mod designs;
mod fault_record;
mod hot_loops;
mod log;
mod prototype;
mod report;
mod scratch;
mod self_test;
mod shadow;
mod software;
mod stream;
mod workload;

pub use application::{Application, ApplicationMemory};
pub use board::{Board, Milliseconds};

pub use designs::{DESIGNS, Design};
pub use fault_record::FaultRecord;
pub use hot_loops::{HotLoops, Launch, NoLaunch};
pub use prototype::Prototype;
pub use report::{Error, report, report_of, run};
pub use scratch::{CAPACITY, CTAS, Scratch, WARPS};
pub use software::SoftwarePrototype;
pub use strata_link::message::MOST_NAME;
pub use workload::{Run, WarpRecord, Workload};
