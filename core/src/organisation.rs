//! Organisation: which levels a warp's registers have, and what becomes of them when it is
//! descheduled. A design is a machine with an organisation of its registers.
//!
//! Source: `[RFC2011]` 3 and 4, `[DISS]` 5 and 6; `docs/MODEL.md`, "Names of machines and designs".

use crate::named;
use crate::register_file_cache::{ConfigError, RegisterFileCacheConfig};
use crate::units::MAX_RESIDENT_WARPS;

/// Most warps that may be active, and most whose caches are counted.
pub const MAX_ACTIVE_WARPS: u8 = MAX_RESIDENT_WARPS as u8;

named! {
    /// Levels of the scheduler, by name: see [`Scheduling`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SchedulingLevels {
        /// One: all resident warps are active.
        SingleLevel = "single-level",
        /// Two: some of the resident warps are active.
        TwoLevel = "two-level",
    }
}

/// How warps share the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// Every resident warp has its own entries for as long as it lives.
    SingleLevel,
    /// Only active warps have entries: a warp that reads a pending long-latency result, or arrives
    /// at a barrier, is descheduled and its entries are flushed. Results of long-latency operations
    /// bypass the cache.
    TwoLevel {
        /// Warps active at a time. Range: `1..=MAX_ACTIVE_WARPS`. Sizes the cache; the counts of a
        /// warp do not depend on it.
        active_warps: u8,
    },
}

impl Scheduling {
    /// Its levels, which have a name.
    pub const fn levels(self) -> SchedulingLevels {
        match self {
            Self::SingleLevel => SchedulingLevels::SingleLevel,
            Self::TwoLevel { .. } => SchedulingLevels::TwoLevel,
        }
    }
}

/// A register file cache that hardware manages, and what goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CachedLevels {
    /// The register file cache.
    pub cache: RegisterFileCacheConfig,
    /// A last result file in front of the cache.
    pub last_result_file: bool,
    /// A taken backward branch flushes the upper levels (the experiment of `[DISS]` 6.6.2).
    pub flush_at_backward_branches: bool,
}

impl CachedLevels {
    /// The cache alone.
    pub const fn new(cache: RegisterFileCacheConfig) -> Self {
        Self { cache, last_result_file: false, flush_at_backward_branches: false }
    }
}

/// The levels above the main register file, and who manages them. [`crate::sm::UpperLevels`] is
/// their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelSettings {
    /// None: the main register file is flat.
    Flat,
    /// Hardware manages a register file cache.
    Cached(CachedLevels),
    /// The compiler places operands and results in an operand register file, and in a last result
    /// file if its placements name one.
    CompilerManaged,
}

impl LevelSettings {
    /// The cache with what goes with it, if there is one.
    pub const fn cached(&self) -> Option<CachedLevels> {
        match *self {
            Self::Cached(levels) => Some(levels),
            Self::Flat | Self::CompilerManaged => None,
        }
    }

    /// The register file cache, if there is one.
    pub const fn cache(&self) -> Option<RegisterFileCacheConfig> {
        match self.cached() {
            Some(levels) => Some(levels.cache),
            None => None,
        }
    }

    /// Whether there is a last result file in front of a cache.
    pub const fn has_last_result_file(&self) -> bool {
        matches!(self, Self::Cached(levels) if levels.last_result_file)
    }

    /// Whether a taken backward branch flushes the upper levels.
    pub const fn flush_at_backward_branches(&self) -> bool {
        matches!(self, Self::Cached(levels) if levels.flush_at_backward_branches)
    }

    /// Whether the compiler says which level an operand is in.
    pub const fn is_compiler_managed(&self) -> bool {
        matches!(self, Self::CompilerManaged)
    }
}

/// An organisation before it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrganisationSettings {
    /// The levels above the main register file.
    pub levels: LevelSettings,
    /// Scheduling.
    pub scheduling: Scheduling,
}

/// The organisation of a warp's registers: settings whose ranges and combinations were checked.
///
/// [`Organisation::new`] alone makes one:
///
/// ```compile_fail
/// use strata_core::organisation::Organisation;
///
/// let settings = *Organisation::FLAT.settings();
/// let unchecked = Organisation(settings);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Organisation(OrganisationSettings);

/// Settings out of range, or that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrganisationError {
    /// The cache's own settings.
    Cache(ConfigError),
    /// Active warps outside `1..=MAX_ACTIVE_WARPS`.
    ActiveWarps(u8),
    /// Liveness-aware bypass or eviction with a single-level scheduler, which never deschedules.
    NeedsTwoLevel,
}

impl core::fmt::Display for OrganisationError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cache(error) => error.fmt(formatter),
            Self::ActiveWarps(warps) => {
                write!(
                    formatter,
                    "{warps} active warps are outside the range 1 to {MAX_ACTIVE_WARPS}"
                )
            }
            Self::NeedsTwoLevel => formatter.write_str(
                "liveness-aware bypass and eviction need two-level scheduling: they look at what \
                 is read before the next deschedule",
            ),
        }
    }
}

impl core::error::Error for OrganisationError {}

impl Organisation {
    /// The flat main register file.
    pub const FLAT: Self = Self(OrganisationSettings {
        levels: LevelSettings::Flat,
        scheduling: Scheduling::SingleLevel,
    });

    /// The flat main register file, under a scheduler of two levels with 8 active warps.
    pub const FLAT_TWO_LEVEL: Self = Self(OrganisationSettings {
        scheduling: Scheduling::TwoLevel { active_warps: 8 },
        ..Self::FLAT.0
    });

    /// Checks settings.
    pub const fn new(settings: OrganisationSettings) -> Result<Self, OrganisationError> {
        if let Scheduling::TwoLevel { active_warps } = settings.scheduling
            && (active_warps == 0 || active_warps > MAX_ACTIVE_WARPS)
        {
            return Err(OrganisationError::ActiveWarps(active_warps));
        }
        let Some(cache) = settings.levels.cache() else { return Ok(Self(settings)) };
        if let Err(error) = cache.check() {
            return Err(OrganisationError::Cache(error));
        }
        if (cache.liveness_aware_bypass || cache.liveness_aware_eviction)
            && matches!(settings.scheduling, Scheduling::SingleLevel)
        {
            return Err(OrganisationError::NeedsTwoLevel);
        }
        Ok(Self(settings))
    }

    /// The settings.
    pub const fn settings(&self) -> &OrganisationSettings {
        &self.0
    }

    /// The levels above the main register file.
    pub const fn levels(&self) -> &LevelSettings {
        &self.0.levels
    }
}
