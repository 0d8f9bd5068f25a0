//! Lines of the operand cache that an instruction needs.

use strata_core::image::Flags;
use strata_core::units::RegisterId;

use crate::hierarchy::Code;

/// Registers from `first` up that need a line of the operand cache while an instruction executes:
/// those that it reads, and its results but those of long-latency operations, which go to
/// scratchpad memory when they arrive. Ascending, each once.
pub(super) fn needed(code: &Code<'_>, pc: usize, first: u16) -> Vec<RegisterId> {
    let results = code.destinations(pc).iter().filter(|_| !code.has(pc, Flags::LONG_LATENCY));
    let all = code.sources(pc).iter().chain(results);
    let mut needed: Vec<_> = all.copied().filter(|register| register.0 >= first).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}
