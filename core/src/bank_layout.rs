//! Bank layout: in which bank and subarray, and in which row of it, a warp's register lies.
//!
//! Does not model: which access happens (`arbiter`).
//! Source: `[WARRF]` 3.1 has banks of two subarrays and no layout; `docs/MODEL.md`, rule 28.

use crate::named;
use crate::split_bank_write::Subarray;

named! {
    /// Where registers lie in the banks. Register `r` of the warp at place `w`:
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum BankLayout {
        /// In bank `(r + w) mod banks`, so that warps in the same code use different banks. A warp
        /// has `ceil(registers / banks)` rows of all banks: the register lies in row
        /// `w * ceil(registers / banks) + floor(r / banks)` and in subarray
        /// `(floor(r / banks) + w) mod 2`.
        #[default]
        WarpSkewed = "warp-skewed",
        /// In bank `n mod banks` and row `floor(n / banks)` for `n = w * registers + r`; even rows
        /// are in subarray 0, odd ones in 1.
        Linear = "linear",
    }
}

/// Where a register lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Home {
    /// Bank.
    pub bank: u8,
    /// Subarray, if banks are split.
    pub subarray: Subarray,
    /// Cells of the register among all: `row * banks + bank`.
    pub cell: u32,
}

impl BankLayout {
    /// Where a register lies, in `banks` banks and with `registers` of each warp; neither is 0.
    #[inline]
    pub const fn home(self, banks: u8, registers: u16, warp: u8, register: u16) -> Home {
        let taken = self.taken(banks, registers);
        let (all_banks, place, number) = (banks as u32, warp as u32, register as u32);
        let (bank, half) = match self {
            Self::WarpSkewed => ((number + place) % all_banks, number / all_banks + place),
            Self::Linear => {
                let number = place * taken + number;
                (number % all_banks, number / all_banks)
            }
        };
        let (bank, subarray) = (bank as u8, (half % 2) as Subarray);
        Home { bank, subarray, cell: cell(taken, banks, bank, warp, register) }
    }

    /// Registers of the register file that a warp takes, including those that stay empty.
    #[inline]
    pub const fn taken(self, banks: u8, registers: u16) -> u32 {
        let (banks, registers) = (banks as u32, registers as u32);
        match self {
            Self::WarpSkewed => registers.next_multiple_of(banks),
            Self::Linear => registers,
        }
    }

    /// Registers that warps can take in a register file of this many: whole rows where warps take
    /// whole rows.
    #[inline]
    pub const fn available(self, banks: u8, registers: u32) -> u32 {
        match self {
            Self::WarpSkewed => registers - registers % banks as u32,
            Self::Linear => registers,
        }
    }
}

/// [`Home::cell`] of a register whose bank is known, where each warp [takes](BankLayout::taken) so
/// many registers. In every layout, the registers that warps take follow each other row by row.
#[inline]
pub(crate) const fn cell(taken: u32, banks: u8, bank: u8, warp: u8, register: u16) -> u32 {
    let number = warp as u32 * taken + register as u32;
    number - number % banks as u32 + bank as u32
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;

    fn home(layout: BankLayout, warp: u8, register: u16) -> (u8, u8, u32) {
        let Home { bank, subarray, cell } = layout.home(4, 6, warp, register);
        (bank, subarray, cell)
    }

    #[test]
    fn warps_are_skewed_by_a_bank_each_and_begin_a_row() {
        // 4 banks and 6 registers: two rows of a warp, of which two registers stay empty.
        let skewed = BankLayout::WarpSkewed;
        assert_eq!(
            [0, 1, 3, 4, 5].map(|register| home(skewed, 0, register)),
            [(0, 0, 0), (1, 0, 1), (3, 0, 3), (0, 1, 4), (1, 1, 5)]
        );
        // Warp 1 begins in bank 1 and in the other subarray, warp 2 again in the first.
        assert_eq!(
            [0, 3, 4].map(|register| home(skewed, 1, register)),
            [(1, 1, 9), (0, 1, 8), (1, 0, 13)]
        );
        assert_eq!(home(skewed, 2, 0), (2, 0, 18));
        assert_eq!((skewed.taken(4, 6), skewed.taken(4, 8), skewed.available(4, 30)), (8, 8, 28));
    }

    #[test]
    fn registers_follow_each_other() {
        let linear = BankLayout::Linear;
        assert_eq!(
            [(0, 5), (1, 0), (2, 2)].map(|(warp, register)| home(linear, warp, register)),
            [(1, 1, 5), (2, 1, 6), (2, 1, 14)]
        );
        assert_eq!((linear.taken(4, 6), linear.available(4, 30)), (6, 30));
    }

    /// No two registers of the warps that fit share cells, and none lies beyond the last row.
    #[test]
    fn every_register_has_cells_of_its_own() {
        for layout in [BankLayout::WarpSkewed, BankLayout::Linear] {
            for (banks, registers, file) in
                [(16, 16, 1024), (16, 21, 1024), (3, 7, 200), (1, 5, 40)]
            {
                let warps = layout.available(banks, file) / layout.taken(banks, registers);
                let mut cells = BTreeSet::new();
                for warp in 0..warps as u8 {
                    for register in 0..registers {
                        let home = layout.home(banks, registers, warp, register);
                        assert!(home.cell < file && cells.insert(home.cell), "{home:?}");
                        assert_eq!(home.cell % u32::from(banks), u32::from(home.bank));
                    }
                }
                assert_eq!(cells.len() as u32, warps * u32::from(registers));
            }
        }
    }
}
