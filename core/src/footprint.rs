//! Footprint: the memory that the model itself needs, in its two sizes.
//!
//! The host's caches have room for every size that is swept. The device's have the prototype's
//! size, so that a whole SM of 32 warps fits a microcontroller of 64 KB. Operand collectors take
//! more: [`crate::sm::DeliverySize`].

use core::mem::size_of;

use crate::event::Counters;
use crate::hierarchy::UpperLevels;
use crate::units::LaneMask;

/// Entries that the host's caches have room for.
pub const HOST_CAPACITY: usize = 16;
/// Entries that the device's caches have room for.
pub const DEVICE_CAPACITY: usize = 8;

/// Sizes of the model's state. Unit: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The register file cache of one warp, and the last result file in front of it.
    pub levels: usize,
    /// The pending lanes of one register of one warp.
    pub awaited: usize,
    /// One set of counters.
    pub counters: usize,
}

impl Footprint {
    /// With the host's capacity, on the machine that this is compiled for.
    pub const HOST: Self = Self::of::<HOST_CAPACITY>();
    /// With the device's capacity, on the machine that this is compiled for.
    pub const DEVICE: Self = Self::of::<DEVICE_CAPACITY>();

    const fn of<const CAPACITY: usize>() -> Self {
        Self {
            levels: size_of::<UpperLevels<CAPACITY>>(),
            awaited: size_of::<LaneMask>(),
            counters: size_of::<Counters>(),
        }
    }

    /// The state of an SM: levels of the active warps, pending lanes of all, one set of counters.
    pub const fn sm(&self, active_warps: usize, warps: usize, registers: usize) -> usize {
        active_warps * self.levels + warps * registers * self.awaited + self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_states_have_the_sizes_that_the_documents_say() {
        let limits = |footprint: Footprint| (footprint.levels, footprint.awaited);
        assert_eq!(limits(Footprint::HOST), (136, 4));
        assert_eq!(limits(Footprint::DEVICE), (88, 4));
        // All 32 warps of 32 registers active; 8 active, of 128 registers: both fit 64 KB.
        assert!(Footprint::DEVICE.sm(32, 32, 32) < 8 * 1024);
        assert!(Footprint::DEVICE.sm(8, 32, 128) < 18 * 1024);
    }
}
