//! Progress of a launch, and how long its warps and CTAs run before others get a turn.

/// Instructions after which another split or warp gets its turn, so that threads that wait for each
/// other in a loop make progress. Unit: warp instructions.
pub(crate) const SLICE: u64 = 1 << 16;

/// Instructions after which another split or warp gets its turn, in launches whose CTAs take turns.
/// Unit: warp instructions.
pub(crate) const SHORT_SLICE: u64 = 1 << 10;

/// Instructions for which all warps of a CTA poll before the next CTA starts, although the CTA does
/// not go in circles. Unit: warp instructions.
pub(crate) const PATIENCE: u64 = 1 << 24;

/// What a launch counts while it runs.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Warp instructions that may still be issued.
    pub(crate) left: u64,
    pub(crate) budget: u64,
    /// Instructions after which another warp gets its turn. Unit: warp instructions.
    pub(crate) slice: u64,
    /// Instructions for which a CTA polls before another gets its turn. Unit: warp instructions.
    pub(crate) patience: u64,
    /// All CTAs are resident from the start and take turns.
    pub(crate) at_once: bool,
    pub(crate) thread_instructions: u64,
    pub(crate) printf: Vec<u8>,
    pub(crate) printf_truncated: bool,
}

impl Progress {
    /// Warp instructions issued so far.
    pub(crate) fn issued(&self) -> u64 {
        self.budget - self.left
    }

    /// A CTA has given up its turn: this launch needs several at once, which take shorter turns.
    pub(super) fn hurry(&mut self) {
        self.slice = SHORT_SLICE;
        self.patience = SLICE;
    }
}
