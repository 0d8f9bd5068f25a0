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

    /// Takes out `slot`, which is in the order.
    #[inline]
    pub(super) const fn remove(&mut self, slot: usize) {
        // Mostly it is the oldest, and 64 bits are much work for a processor that has 32.
        if usize::BITS < 64 && self.slot(0) == slot {
            self.0 >>= 4;
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
}
