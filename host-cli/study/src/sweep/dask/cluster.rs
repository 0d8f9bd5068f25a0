//! The cluster that evaluates a sweep.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where batches are evaluated, and how.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// `HOST:PORT` of the scheduler; none for a cluster on this machine that ends with the sweep.
    pub address: Option<String>,
    /// Workers of a cluster on this machine.
    pub workers: usize,
    /// The Python that has Dask.
    pub python: OsString,
    /// The program on the workers; none if it is brought there.
    pub program: Option<PathBuf>,
    /// Most points of a batch.
    pub most_points: usize,
}
