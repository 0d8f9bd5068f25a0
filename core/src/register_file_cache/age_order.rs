//! The ages of a cache's entries.

/// The occupied slots from oldest to youngest, four bits each, the oldest lowest.
///
/// Kept apart from the entries so that an entry never moves. All operations take constant time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AgeOrder(u64);

impl AgeOrder {
    /// No slot.
    pub(super) const EMPTY: Self = Self(0);

    const ONES: u64 = 0x1111_1111_1111_1111;

    /// The slot at `position`, 0 the oldest.
    #[inline]
    pub(super) const fn slot(self, position: usize) -> usize {
        (self.0 >> (4 * position)) as usize & 15
    }

    /// Makes `slot`, not in the order, the youngest of now `count + 1`.
    #[inline]
    pub(super) const fn push(&mut self, slot: usize, count: usize) {
        self.0 |= (slot as u64) << (4 * count);
    }

    /// Removes `slot`, which is in the order.
    #[inline]
    pub(super) const fn remove(&mut self, slot: usize) {
        // Mostly it is the oldest, and 64 bits are much work for a processor that has 32.
        if usize::BITS < 64 && self.slot(0) == slot {
            self.0 >>= 4;
            return;
        }
        if usize::BITS < 64 && self.0 >> 32 == 0 && self.remove_low(slot) {
            return;
        }
        // The lowest zero digit of `differing` is the slot's; digits above the youngest are zero
        // too, but higher.
        let differing = self.0 ^ (Self::ONES * slot as u64);
        let zeros = differing.wrapping_sub(Self::ONES) & !differing & (Self::ONES << 3);
        let shift = zeros.trailing_zeros() & !3;
        let younger = (self.0 >> shift) >> 4;
        let older = self.0 & !(u64::MAX << shift);
        self.0 = older | (younger << shift);
    }

    /// Removes `slot` from the eight or fewer in the lower half. Returns whether it was there.
    #[inline]
    const fn remove_low(&mut self, slot: usize) -> bool {
        let (low, ones) = (self.0 as u32, Self::ONES as u32);
        // As above.
        let differing = low ^ (ones * slot as u32);
        let zeros = differing.wrapping_sub(ones) & !differing & (ones << 3);
        let shift = zeros.trailing_zeros() & !3;
        if zeros != 0 {
            let younger = (low >> shift) >> 4;
            let older = low & !(u32::MAX << shift);
            self.0 = (older | (younger << shift)) as u64;
        }
        zeros != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(slots: &[usize]) -> AgeOrder {
        let mut order = AgeOrder::EMPTY;
        for (count, &slot) in slots.iter().enumerate() {
            order.push(slot, count);
        }
        order
    }

    #[test]
    fn a_slot_leaves_and_the_others_keep_their_order() {
        for slots in [&[0][..], &[5, 0], &[0, 3, 7, 1], &[9, 2, 15, 0, 4, 1, 8, 3, 6, 7, 5, 12]] {
            for &gone in slots {
                let mut order = of(slots);
                order.remove(gone);
                let mut left = slots.iter().filter(|&&slot| slot != gone);
                for position in 0..slots.len() - 1 {
                    assert_eq!(Some(&order.slot(position)), left.next(), "{gone} of {slots:?}");
                }
                let mut low = of(slots);
                if slots.len() <= 8 {
                    assert!(low.remove_low(gone));
                    assert_eq!(low, order);
                }
            }
        }
        // The youngest of nine is slot 0, and the upper half is zero all the same.
        let mut order = of(&[1, 2, 3, 4, 5, 6, 7, 8, 0]);
        assert!(!order.remove_low(0));
    }
}
