//! Starts of strands.

/// Why a strand starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// The kernel does.
    Kernel,
    /// The instruction may read a pending long-latency result.
    LongLatency,
    /// The instruction before is a barrier.
    Barrier,
    /// A backward branch leads here, or has just not been taken.
    BackwardBranch,
    /// Paths meet on which different long-latency results are pending.
    Uncertain,
    /// Lanes may have waited here while others of their warp were descheduled.
    Waited,
    /// Paths of different strands meet.
    Meeting,
    /// A basic block starts, and values are kept within basic blocks.
    Block,
}
