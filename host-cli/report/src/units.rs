//! Units: values in the units that tables to read have.

/// Femtojoules as nanojoules, rounded to whole ones.
pub(super) fn nanojoules(femtojoules: u64) -> String {
    (femtojoules.saturating_add(500_000) / 1_000_000).to_string()
}
