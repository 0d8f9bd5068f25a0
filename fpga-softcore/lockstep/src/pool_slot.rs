//! An entry of a write pool, as the debug port of the hardware shows it.

/// Most entries.
pub const MAX_SLOTS: usize = 64;

/// An entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PoolSlot {
    /// It holds something; else the fields below mean nothing.
    pub occupied: bool,
    /// Whose register.
    pub warp: u8,
    /// The register's number, through all warps.
    pub number: u16,
    /// Its lanes.
    pub lanes: u32,
    /// Bit `e`: it was used after entry `e`, or is `e`.
    pub newer: u64,
}

impl PoolSlot {
    /// Warps, numbers and lanes of the entries that hold something, the least recently used last.
    ///
    /// # Panics
    ///
    /// When the order is none: of two entries, not exactly one was used after the other.
    pub fn in_order(slots: &[Self]) -> impl Iterator<Item = (u8, u16, u32)> {
        let occupied = slots
            .iter()
            .enumerate()
            .fold(0, |all, (index, slot)| all | u64::from(slot.occupied) << index);
        let mut places = [None; MAX_SLOTS];
        for slot in slots.iter().filter(|slot| slot.occupied) {
            let place = &mut places[(slot.newer & occupied).count_ones() as usize - 1];
            assert!(place.is_none(), "two entries were used at once: {slots:?}");
            *place = Some((slot.warp, slot.number, slot.lanes));
        }
        let newest = occupied.count_ones() as usize;
        places.into_iter().take(newest).rev().map(|place| place.expect("each has a place"))
    }
}
