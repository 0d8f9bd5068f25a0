//! Random traffic of which a seed determines all.

use std::collections::BTreeSet;

use strata_core::units::{LANES, LaneMask};

/// Random numbers of which a seed determines all (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(limit)) as u32
    }

    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// Full, random or one lane; never empty.
    pub(crate) fn mask(&mut self) -> LaneMask {
        match self.below(4) {
            0 => LaneMask(1 << self.below(32)),
            1 => LaneMask(self.below(u32::MAX) + 1),
            _ => LaneMask::FULL,
        }
    }
}

pub(crate) type Lanes = BTreeSet<u32>;

pub(crate) fn lanes_of(mask: LaneMask) -> Lanes {
    (0..LANES).filter(|lane| mask.0 & (1 << lane) != 0).collect()
}
