//! Loops that may lie within a strand: those in which no warp is descheduled, and in which program
//! order is a time as elsewhere, but for one way back.

use super::code::Code;
use super::start::Start;

/// A backward branch, and the code from its target to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loop {
    /// The block that it leads to.
    pub(super) head: usize,
    /// The block that it ends.
    pub(super) latch: usize,
}

impl Loop {
    /// Its instructions, in program order.
    pub(super) fn instructions(self, code: &Code<'_>) -> std::ops::Range<usize> {
        code.graph.blocks[self.head].start..code.graph.blocks[self.latch].end
    }
}

/// The loops in which no strand starts, and which control enters at their first instruction only.
/// Of two that share code without one holding the other, one is entered by the other's way back.
/// By head, then by latch.
pub(super) fn closed(code: &Code<'_>, starts: &[Option<Start>]) -> Vec<Loop> {
    let blocks = &code.graph.blocks;
    let mut all = Vec::new();
    for (head, block) in blocks.iter().enumerate() {
        let latches = block.predecessors.iter().filter(|&&before| before >= head);
        all.extend(latches.map(|&latch| Loop { head, latch }));
    }
    all.sort_unstable();
    let mut started = vec![0_u32; starts.len() + 1];
    for (pc, start) in starts.iter().enumerate() {
        started[pc + 1] = started[pc] + u32::from(start.is_some());
    }
    let whole = |one: &&Loop| {
        let Loop { head, latch } = **one;
        let pcs = one.instructions(code);
        let entered = (head + 1..=latch)
            .flat_map(|block| &blocks[block].predecessors)
            .all(|before| (head..=latch).contains(before));
        started[pcs.end] == started[pcs.start] && entered
    };
    all.iter().filter(whole).copied().collect()
}
