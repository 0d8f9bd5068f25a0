//! Files that a command writes whole or not at all, the signals that end it, and its one error.
//!
//! [`output`] says what may be written, [`partial_file`] and [`partial_folder`] write it.
//! [`interrupt`] removes what is unfinished when a signal ends the program, and [`failure`] is how
//! a command ends other than well.

#![forbid(unsafe_code)]

pub mod failure;
pub mod interrupt;
pub mod output;
pub mod partial_file;
pub mod partial_folder;
