//! Launches that were executed, as batches and recordings hold them.

use strata_compiler::program::Program;
use strata_simt::LaunchOutcome;

/// What was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Launched {
    pub(crate) index: u64,
    /// Its kernel's place among the programs of the workload.
    pub(crate) kernel: usize,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Unit: bytes.
    pub(crate) dynamic_shared: u32,
}

/// One launch that was executed, or a part of it.
pub(crate) struct Executed<'p> {
    pub(crate) about: Launched,
    pub(crate) program: &'p Program,
    pub(crate) outcome: LaunchOutcome,
}
