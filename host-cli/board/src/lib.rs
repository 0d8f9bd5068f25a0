//! The hardware prototype: boards, the line to them, and what is streamed.
//!
//! The way of an access: [`material`] (the launches of an input) -> [`stream`] (their register
//! accesses as commands, as the design's [`plan`] has them) -> [`compare`] (batch by batch to the
//! model here and to a board) -> [`report`] (three columns of counters). A [`session`] talks to a
//! [`board`] over a [`port`].

#![forbid(unsafe_code)]

pub mod board;
pub mod compare;
pub mod error;
mod host_board;
pub mod interrupt;
pub mod material;
pub mod plan;
pub mod port;
pub mod report;
pub mod session;
pub mod stream;
mod watch;
