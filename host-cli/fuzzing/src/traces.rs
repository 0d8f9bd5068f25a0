//! What the fuzz targets and the tests share: what must hold of every input, and mutators that know
//! the formats.
//!
//! Not part of the interface: it may change at any time.

mod check;
mod mutate_recording;
mod mutate_text;
mod mutate_trace;
mod mutate_tracez;

pub use check::{check_recording, check_trace};
pub use mutate_recording::mutate_recording;
pub use mutate_trace::mutate_trace;
pub use strata_ptx::fuzzing::Random;
