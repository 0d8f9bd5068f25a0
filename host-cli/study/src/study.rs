//! Studies: inputs measured along one parameter, one file a study.
//!
//! [`active_warps`] and [`write_pool`] are presets of the engine that sweeps have: they lay out
//! designs, have them [`evaluated`] over the inputs, and render what came out.

pub mod active_warps;
pub mod encoding;
mod evaluated;
pub mod limits;
pub mod registers;
pub mod residency;
mod statistics;
pub mod storage;
pub mod write_pool;

use strata_measure::Request;
use strata_measure::subject::Subject;

use evaluated::evaluated;

/// An input of a study, and the request.
#[derive(Clone, Debug)]
pub struct Input {
    /// The kernel or the trace.
    pub subject: Subject,
    /// Size, filters and budget; the mode matters only where a study says so.
    pub request: Request,
}
