//! Commands: one file a verb. Each returns the exit status or why it failed.

pub mod cost;
pub mod doctor;
pub mod exact;
pub mod explain;
pub mod input;
pub mod inspect;
pub mod limits;
pub mod list;
pub mod registers;
pub mod run;
pub mod study;
pub mod trace;
