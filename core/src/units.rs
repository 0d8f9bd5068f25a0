//! Units and indices that must not mix.

/// Lanes of a warp.
pub const LANES: u32 = 32;
/// Lanes of a cluster, which share the banks that deliver 128 bits.
pub const LANES_PER_CLUSTER: u32 = 4;
/// Clusters of an SM; each makes one 128-bit access for an access of a whole warp.
pub const CLUSTERS: u32 = LANES / LANES_PER_CLUSTER;

/// Which lanes of a warp take part: bit `n` is lane `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaneMask(pub u32);

impl LaneMask {
    /// All 32 lanes.
    pub const FULL: Self = Self(u32::MAX);
    /// No lane.
    pub const EMPTY: Self = Self(0);

    /// True when no lane takes part.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Lanes in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Lanes in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Lanes in `self` but not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Most warps that an SM can be configured for: warp sets are 64-bit masks.
pub const MAX_RESIDENT_WARPS: usize = 64;

/// A physical 32-bit register of a thread (a warp-wide 32-lane register of the register file).
///
/// 16 bits, because an image may be built before registers are limited to what a machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegisterId(pub u16);

/// Dynamic energy. Unit: femtojoules, so that the papers' picojoules with one decimal are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Femtojoules(pub u64);

/// `numerator / denominator` rounded to nearest, ties up. `None` if the denominator is 0, or a
/// number does not fit.
pub(crate) fn nearest(numerator: u128, denominator: u128) -> Option<u64> {
    let half_up = numerator.checked_mul(2)?.checked_add(denominator)?;
    let rounded = half_up.checked_div(denominator.checked_mul(2)?)?;
    u64::try_from(rounded).ok()
}
