//! Split bank write: which accesses of the main register file's banks conflict, cycle by cycle.
//!
//! Models: banks of one port, of two subarrays each; reads and writes that take their bank for
//! several cycles; with *split bank write*, a read and a write of one bank at a time, where they
//! are in different subarrays. The *write busy* and *subarray id* buffers of the source are what
//! [`SplitBankWrite::write_busy`] and [`SplitBankWrite::written_subarray`] say.
//! Does not model: which access is chosen (`arbiter`), data.
//! Source: `[WARRF]` 3.2; `docs/MODEL.md`, rule 29.

use core::ops::{Add, Sub};

/// Most banks.
pub const MAX_BANKS: usize = 32;

/// One half of a bank. [`BankLayout`] says which registers are in which; in the simplest layout
/// rows alternate. Range: `0..=1`.
///
/// [`BankLayout`]: crate::bank_layout::BankLayout
pub type Subarray = u8;

/// A number of cycles: 64 bits count every cycle of a run; 32 bits suit a small processor.
pub trait Cycle: Copy + Ord + From<u8> + Add<Output = Self> + Sub<Output = Self> {}

impl Cycle for u32 {}
impl Cycle for u64 {}

/// The accesses in progress in the banks.
///
/// Instead of counters that every cycle decrements it keeps the cycle in which each would be zero.
#[derive(Clone, Debug)]
pub struct SplitBankWrite<C = u64> {
    split: bool,
    read_cycles: C,
    write_cycles: C,
    /// First cycle after the bank's write, and after its read.
    written_until: [C; MAX_BANKS],
    read_until: [C; MAX_BANKS],
    /// The subarray of each bank's last write, and of its last read.
    written: [Subarray; MAX_BANKS],
    read: [Subarray; MAX_BANKS],
}

impl<C: Cycle> SplitBankWrite<C> {
    /// Idle banks. Accesses take `read_cycles` and `write_cycles`, at least 1 each; without `split`
    /// a bank does one thing at a time.
    pub fn new(read_cycles: u8, write_cycles: u8, split: bool) -> Self {
        let none = C::from(0);
        Self {
            split,
            read_cycles: read_cycles.into(),
            write_cycles: write_cycles.into(),
            written_until: [none; MAX_BANKS],
            read_until: [none; MAX_BANKS],
            written: [0; MAX_BANKS],
            read: [0; MAX_BANKS],
        }
    }

    /// Counts cycles from `now` on, which is cycle 0 then.
    pub fn count_from(&mut self, now: C) {
        for until in self.written_until.iter_mut().chain(&mut self.read_until) {
            *until = if *until > now { *until - now } else { C::from(0) };
        }
    }

    /// The write busy buffer: cycles that the bank's write still takes, including `now`.
    pub fn write_busy(&self, bank: usize, now: C) -> C {
        let until = self.written_until[bank];
        if until > now { until - now } else { C::from(0) }
    }

    /// The subarray id buffer: where the bank was written last.
    pub fn written_subarray(&self, bank: usize) -> Subarray {
        self.written[bank]
    }

    /// Whether a read of this subarray can start at `now`.
    #[inline]
    pub fn can_read(&self, bank: usize, subarray: Subarray, now: C) -> bool {
        if self.read_until[bank] > now {
            return false;
        }
        let written = self.written_until[bank] > now;
        !written || self.split && self.written_subarray(bank) != subarray
    }

    /// Whether a write of this subarray can start at `now`.
    #[inline]
    pub fn can_write(&self, bank: usize, subarray: Subarray, now: C) -> bool {
        if self.written_until[bank] > now {
            return false;
        }
        let read = self.read_until[bank] > now;
        !read || self.split && self.read[bank] != subarray
    }

    /// Starts a read that [`Self::can_read`] allows. Returns the cycle after its last.
    #[inline]
    pub fn read(&mut self, bank: usize, subarray: Subarray, now: C) -> C {
        self.read[bank] = subarray;
        self.read_until[bank] = now + self.read_cycles;
        self.read_until[bank]
    }

    /// Starts a read that [`Self::can_read`] allows, of a bank of another memory, whose reads take
    /// one cycle. Returns the next cycle.
    #[inline]
    pub fn read_in_one(&mut self, bank: usize, now: C) -> C {
        self.read_until[bank] = now + C::from(1);
        self.read_until[bank]
    }

    /// Starts a write that [`Self::can_write`] allows. Returns the cycle after its last.
    #[inline]
    pub fn write(&mut self, bank: usize, subarray: Subarray, now: C) -> C {
        self.written[bank] = subarray;
        self.written_until[bank] = now + self.write_cycles;
        self.written_until[bank]
    }

    /// Starts a write that [`Self::can_write`] allows, of a bank of another memory, whose writes
    /// take one cycle. Returns the next cycle.
    #[inline]
    pub fn write_in_one(&mut self, bank: usize, now: C) -> C {
        self.written_until[bank] = now + C::from(1);
        self.written_until[bank]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[WARRF]` 3.2: bank 1 is written in subarray 1 and its write takes two more cycles. A read
    /// of it is blocked without split bank write; with it, one of subarray 0 is not.
    #[test]
    fn the_example_of_the_source() {
        for split in [false, true] {
            let mut banks = SplitBankWrite::<u64>::new(1, 3, split);
            banks.write(1, 1, 100);
            assert_eq!((banks.write_busy(1, 101), banks.written_subarray(1)), (2, 1));
            assert_eq!(banks.can_read(1, 0, 101), split);
            assert!(!banks.can_read(1, 1, 101));
            // One cycle on, and when the write is over.
            assert_eq!((banks.write_busy(1, 102), banks.can_read(1, 1, 102)), (1, false));
            assert_eq!((banks.write_busy(1, 103), banks.can_read(1, 1, 103)), (0, true));
            // The other banks do not notice.
            assert_eq!((banks.write_busy(0, 101), banks.can_read(0, 1, 101)), (0, true));
        }
    }

    #[test]
    fn cycles_are_counted_anew() {
        let mut banks = SplitBankWrite::<u32>::new(2, 9, false);
        banks.write(0, 0, 10);
        banks.read(1, 0, 17);
        banks.write(2, 0, 2);
        banks.count_from(17);
        assert_eq!([0, 1, 2].map(|bank| banks.write_busy(bank, 0)), [2, 0, 0]);
        assert_eq!([0, 1, 2].map(|now| banks.can_write(1, 0, now)), [false, false, true]);
        assert!(banks.can_write(2, 0, 0));
    }

    #[test]
    fn a_bank_is_never_written_twice_nor_read_twice_at_a_time() {
        for split in [false, true] {
            let mut banks = SplitBankWrite::<u64>::new(2, 3, split);
            banks.write(0, 0, 10);
            assert!(!banks.can_write(0, 0, 12) && !banks.can_write(0, 1, 12));
            assert!(banks.can_write(0, 1, 13));
            banks.read(3, 1, 10);
            assert!(!banks.can_read(3, 0, 11) && !banks.can_read(3, 1, 11));
            assert!(banks.can_read(3, 0, 12));
            // A write beside a read, in the other subarray or after it.
            assert_eq!((banks.can_write(3, 0, 11), banks.can_write(3, 1, 11)), (split, false));
            assert!(banks.can_write(3, 1, 12));
        }
    }

    #[test]
    fn a_read_and_a_write_of_one_cycle_share_a_bank_only_if_it_is_split() {
        for split in [false, true] {
            let mut banks = SplitBankWrite::<u64>::new(1, 1, split);
            assert_eq!(banks.write(5, 0, 7), 8);
            assert_eq!((banks.can_read(5, 1, 7), banks.can_read(5, 0, 7)), (split, false));
            assert!(banks.can_read(5, 0, 8));
        }
    }
}
