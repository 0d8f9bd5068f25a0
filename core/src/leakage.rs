//! Leakage: what banks spend for as long as they are powered, whether or not they are accessed.
//!
//! Models: a constant power for each bank, times the time of a run.
//! Does not model: temperature, power gating, unused banks, or leakage elsewhere.
//! Source: `[WARRF]` Table II and Figure 8.

use crate::units::{Femtojoules, nearest};

/// A nanowatt for a cycle of a kilohertz clock, a millisecond, is a picojoule. Unit: femtojoules.
pub(crate) const NANOWATT_MILLISECOND: u128 = 1000;

/// Leakage power of a register file, and the clock that cycles are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leakage {
    /// Power of a bank. Unit: nanowatts.
    pub bank_nw: u64,
    /// Banks.
    pub banks: u32,
    /// Clock. Unit: kilohertz. Not 0.
    pub clock_khz: u32,
}

impl Leakage {
    /// Power of all banks; `None` if it does not fit. Unit: nanowatts.
    pub const fn nanowatts(&self) -> Option<u64> {
        self.bank_nw.checked_mul(self.banks as u64)
    }

    /// Energy over this many cycles, rounded once to the nearest femtojoule, ties up. `None` if it
    /// does not fit 64 bits, or the clock is 0.
    pub fn energy(&self, cycles: u64) -> Option<Femtojoules> {
        let energy = u128::from(self.nanowatts()?)
            .checked_mul(u128::from(cycles))?
            .checked_mul(NANOWATT_MILLISECOND)?;
        nearest(energy, self.clock_khz.into()).map(Femtojoules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRAM: Leakage = Leakage { bank_nw: 25_000_000, banks: 16, clock_khz: 700_000 };

    #[test]
    fn the_energy_of_some_cycles_by_hand() {
        // 400 mW for 1 / 0.7 ns: 571.428571... pJ.
        assert_eq!(SRAM.energy(0), Some(Femtojoules(0)));
        assert_eq!(SRAM.energy(1), Some(Femtojoules(571_429)));
        assert_eq!(SRAM.energy(7), Some(Femtojoules(4_000_000)));
        // 0.4 W for a second.
        assert_eq!(SRAM.energy(700_000_000), Some(Femtojoules(400_000_000_000_000)));
        assert_eq!(SRAM.nanowatts(), Some(400_000_000));
        // As printed, in microwatts, a thousandth.
        let printed = Leakage { bank_nw: 25_000, ..SRAM };
        assert_eq!(printed.energy(7), Some(Femtojoules(4_000)));
    }

    #[test]
    fn it_is_rounded_once_with_ties_up() {
        let slow = Leakage { bank_nw: 1, banks: 1, clock_khz: 2_000 };
        assert_eq!(slow.energy(1), Some(Femtojoules(1)));
        assert_eq!(slow.energy(2), Some(Femtojoules(1)));
        assert_eq!(slow.energy(3), Some(Femtojoules(2)));
        let third = Leakage { clock_khz: 3_000, ..slow };
        assert_eq!([1, 2, 3, 4, 5].map(|cycles| third.energy(cycles).unwrap().0), [0, 1, 1, 1, 2]);
        // Cycle by cycle, 1000 roundings would have lost all of it.
        assert_eq!(third.energy(1000), Some(Femtojoules(333)));
    }

    #[test]
    fn what_does_not_fit_is_none() {
        let watts = Leakage { bank_nw: u64::MAX, banks: 1, clock_khz: 1 };
        assert_eq!(watts.energy(1), None);
        assert_eq!(watts.energy(u64::MAX), None);
        assert_eq!(Leakage { banks: 2, ..watts }.nanowatts(), None);
        assert_eq!(Leakage { banks: 2, ..watts }.energy(1), None);
        assert_eq!(Leakage { clock_khz: 0, ..SRAM }.energy(1), None);
        let most = Leakage { bank_nw: u64::MAX, banks: 1, clock_khz: 1_000 };
        assert_eq!(most.energy(1), Some(Femtojoules(u64::MAX)));
    }
}
