//! The work that the criterion benches time and that the gates count instructions of: one list for
//! both, so that a time and an instruction count speak of the same thing.
#![forbid(unsafe_code)]

pub mod compiling;
pub mod counting;
pub mod cycles;
pub mod execution;
pub mod expansion;
pub mod fitting;
pub mod gate;
mod list;
pub mod reading;
pub mod synthetic;
pub mod warp_wide;
mod work;

pub use list::{WORK, find};
pub use work::{Prepared, Work};
