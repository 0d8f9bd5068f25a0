//! Fit: a kernel's operands in the levels of a compiler-managed hierarchy.

use strata_compiler::hierarchy::{
    Code, Hierarchy, HierarchyConfig, HierarchyError, decisions_of_slots, fit,
};

/// A program fitted to a design's levels.
pub(super) struct Fit {
    pub(super) hierarchy: Hierarchy,
    /// For each slot, the decision on its value.
    pub(super) decisions: Vec<Option<u32>>,
    /// For each decision, the slots of its value, ascending.
    pub(super) slots: Vec<Vec<usize>>,
    pub(super) config: HierarchyConfig,
}

impl Fit {
    /// Fits a program.
    pub(super) fn new(code: &Code<'_>, config: HierarchyConfig) -> Result<Self, HierarchyError> {
        let hierarchy = fit(code, &config)?;
        let decisions = decisions_of_slots(code, &hierarchy, &config);
        let mut slots = vec![Vec::new(); hierarchy.decisions.len()];
        for (slot, decision) in decisions.iter().enumerate() {
            if let Some(decision) = decision {
                slots[*decision as usize].push(slot);
            }
        }
        Ok(Self { hierarchy, decisions, slots, config })
    }
}
