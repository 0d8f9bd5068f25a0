//! What a program is fitted to: entries, energies, and which optimisations are on.

use strata_core::named;
use strata_core::placement::MAX_ORF_ENTRIES;

named! {
    /// The last result file.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Lrf {
        /// There is none.
        #[default]
        None = "none",
        /// One entry for each thread.
        Unified = "unified",
        /// One entry for each thread and operand slot.
        Split = "split",
    }

    /// Which results an instruction can write both to an upper level and to the main register file
    /// (`[DISS]` 6.5.5).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum DualWrites {
        /// All.
        #[default]
        Any = "any",
        /// All, but the entry of the operand register file follows from the register's name: its
        /// number modulo the entries.
        SameName = "same-name",
        /// Those for the last result file.
        LastResultOnly = "last-result-file",
        /// None: a result has one level.
        Never = "none",
    }
}

/// Energy of one access of a level, wire included. Unit: femtojoules for each 128 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccessCosts {
    /// A read.
    pub read: i64,
    /// A write.
    pub write: i64,
    /// A write whose value is on its way from or to the main register file as well. Range: up to
    /// `write`.
    pub beside_main: i64,
}

/// Energies of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelCosts {
    /// By the private datapath.
    pub private: AccessCosts,
    /// By the shared datapath.
    pub shared: AccessCosts,
}

impl LevelCosts {
    pub(super) const fn to(&self, shared: bool) -> &AccessCosts {
        if shared { &self.shared } else { &self.private }
    }
}

/// Energies of all levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Costs {
    /// Main register file.
    pub main: LevelCosts,
    /// Operand register file.
    pub orf: LevelCosts,
    /// Last result file, if there is one; only the private datapath reaches it.
    pub lrf: Option<LevelCosts>,
}

/// What a program is fitted to.
#[expect(clippy::struct_excessive_bools, reason = "each is one of the source's optimisations")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HierarchyConfig {
    /// Entries of the operand register file for each thread. Range: `1..=MAX_ORF_ENTRIES`.
    pub orf_entries: u8,
    /// The last result file.
    pub lrf: Lrf,
    /// Values stay where they are past forward branches (`[DISS]` 6.4.4); otherwise within a basic
    /// block only.
    pub forward_branches: bool,
    /// Values that a strand only reads are kept too (`[DISS]` 6.4.3).
    pub read_operands: bool,
    /// Values are kept for the first of their reads, if not for all (`[DISS]` 6.4.2).
    pub partial_ranges: bool,
    /// What the encoding can name.
    pub dual_writes: DualWrites,
    /// Values stay where they are as if nothing were lost when a warp is descheduled: the bound of
    /// `[DISS]` 6.6.3 on moving instructions across long-latency events. No machine does it, and no
    /// checker accepts it.
    pub past_deschedules: bool,
    /// Strands hold whole loops in which no warp is descheduled, so that values stay where they are
    /// past backward branches (`[DISS]` 6.6.2). What is read behind the strand is still written to
    /// the main register file by each of its definitions, so that nothing has to be moved.
    pub past_backward_branches: bool,
    /// Energies to decide by.
    pub costs: Costs,
}

/// A configuration that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HierarchyError {
    /// Too few entries or too many.
    #[error(
        "{0} entries of the operand register file are outside the range 1 to {MAX_ORF_ENTRIES}"
    )]
    Entries(u8),
    /// A last result file without energies, or energies without one.
    #[error("a last result file and its energies belong together")]
    LastResultCosts,
}

impl HierarchyConfig {
    /// Checks ranges and combinations.
    ///
    /// # Errors
    ///
    /// What makes no sense.
    pub fn check(&self) -> Result<(), HierarchyError> {
        if !(1..=MAX_ORF_ENTRIES).contains(&self.orf_entries) {
            return Err(HierarchyError::Entries(self.orf_entries));
        }
        if (self.lrf == Lrf::None) != self.costs.lrf.is_none() {
            return Err(HierarchyError::LastResultCosts);
        }
        Ok(())
    }
}
