//! What a register file cache is built with.

use crate::named;

/// Most entries of one warp's cache that a paper measures.
pub const MAX_ENTRIES: u8 = 13;

named! {
    /// Which entry makes room for a new register.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Replacement {
        /// The one allocated first; rewriting an entry in place does not make it younger.
        #[default]
        Fifo = "fifo",
        /// The one read or written least recently.
        Lru = "lru",
    }

    /// What brings a register into the cache.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Allocation {
        /// Results only.
        #[default]
        Writes = "writes",
        /// Results, and operands that missed.
        WritesAndReads = "writes-and-reads",
    }
}

/// Knobs of one cache, fixed for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterFileCacheConfig {
    /// Entries of one warp. Unit: 32-lane registers. Range: `1..=MAX_ENTRIES`.
    pub entries: u8,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Allocation policy.
    pub allocation: Allocation,
    /// Last reads, marked in the encoding, free their entry; nothing dead is written back.
    pub liveness: bool,
    /// A result that no path reads before the warp's next deschedule goes to the main register file
    /// instead. Needs `liveness`.
    pub liveness_aware_bypass: bool,
    /// The victim is the oldest entry that no path reads before the next deschedule, if there is
    /// one. Needs `liveness`.
    pub liveness_aware_eviction: bool,
}

/// A configuration that cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A cache without entries is expressed by leaving the cache out.
    NoEntries,
    /// More entries than `limit`.
    TooManyEntries {
        /// Entries asked for.
        requested: u8,
        /// Entries possible.
        limit: u8,
    },
    /// Liveness-aware bypass or eviction without liveness: both use its analysis and encoding.
    NeedsLiveness,
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoEntries => formatter.write_str("a register file cache has at least 1 entry"),
            Self::TooManyEntries { requested, limit } => {
                write!(formatter, "{requested} entries are more than the {limit} possible")
            }
            Self::NeedsLiveness => {
                formatter.write_str("liveness-aware bypass and eviction need static liveness")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

impl RegisterFileCacheConfig {
    /// Checks the ranges and combinations.
    pub const fn check(&self) -> Result<(), ConfigError> {
        if self.entries == 0 {
            return Err(ConfigError::NoEntries);
        }
        if self.entries > MAX_ENTRIES {
            let requested = self.entries;
            return Err(ConfigError::TooManyEntries { requested, limit: MAX_ENTRIES });
        }
        if (self.liveness_aware_bypass || self.liveness_aware_eviction) && !self.liveness {
            return Err(ConfigError::NeedsLiveness);
        }
        Ok(())
    }
}
