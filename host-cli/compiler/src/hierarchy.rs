//! The compiler-managed register hierarchy (`[DISS]` chapter 6): which operands and results of an
//! allocated program live in the operand register file (ORF) and the last result file (LRF).
//!
//! Passes, in order, one file each: `code` analyses the program once; `strands` divides it,
//! with the help of `loops`;
//! `values` finds what could be kept above the main register file; `allocate` decides. `config` is
//! what the decision depends on.
//!
//! Upper levels hold a thread's values: what a lane finds there is what its own path wrote. Only a
//! deschedule is the warp's affair, which is why a strand also ends where lanes may have waited for
//! others that were descheduled.

mod allocate;
mod code;
mod config;
mod loops;
mod start;
mod strands;
mod values;

use strata_core::placement::Placement;

pub use allocate::{Decision, Outcome};
pub use code::Code;
pub(crate) use code::has;
pub use config::{
    AccessCosts, Costs, DualWrites, HierarchyConfig, HierarchyError, LevelCosts, Lrf,
};
pub use start::Start;
pub use strands::Strands;
pub use values::Origin;

/// A program fitted to a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// For each register slot of the image, where it lives.
    pub placements: Vec<Placement>,
    /// Where values must be in the main register file.
    pub strands: Strands,
    /// What became of every value that could be kept, by strand.
    pub decisions: Vec<Decision>,
}

/// Fits a program to a hierarchy.
///
/// # Errors
///
/// A configuration that makes no sense.
pub fn fit(code: &Code<'_>, config: &HierarchyConfig) -> Result<Hierarchy, HierarchyError> {
    config.check()?;
    let strands = Strands::new(code, config);
    let candidates = values::candidates(code, &strands, config.read_operands);
    let (placements, decisions) = allocate::allocate(&candidates, code.slots(), config);
    Ok(Hierarchy { placements, strands, decisions })
}

/// For each register slot of the image, the value that it belongs to: an index into
/// [`Hierarchy::decisions`]. None for slots of values that cannot be kept.
///
/// `code` and `config` are those that the hierarchy was fitted with.
pub fn decisions_of_slots(
    code: &Code<'_>,
    hierarchy: &Hierarchy,
    config: &HierarchyConfig,
) -> Vec<Option<u32>> {
    let mut of = vec![None; code.slots()];
    // The decisions are in the order of the candidates.
    let candidates = values::candidates(code, &hierarchy.strands, config.read_operands);
    for (decision, candidate) in (0..).zip(&candidates) {
        for access in candidate.writes.iter().chain(&candidate.reads) {
            of[access.slot as usize] = Some(decision);
        }
    }
    of
}
