//! Banks of a main register file without collectors, and accesses counted by bank.
//!
//! Source: `[RFC2011]` 2.1; `docs/MODEL.md`, rule 20.

use crate::units::RegisterId;

/// Accesses of one instruction to each bank, one byte each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BankCounts(u64);

/// The banks: registers are interleaved over them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Banks {
    // One less than their number, which is a power of two.
    last: u8,
}

impl Banks {
    /// So many banks. Range: a power of two, at most
    /// [`super::operand_delivery::MAX_FIXED_BANKS`].
    pub(super) const fn new(banks: u8) -> Self {
        Self { last: banks - 1 }
    }

    /// How many.
    pub(super) const fn count(self) -> u8 {
        self.last + 1
    }

    /// The bank of a register.
    #[inline]
    pub(super) const fn of(self, register: RegisterId) -> usize {
        register.0 as usize & self.last as usize
    }
}

impl BankCounts {
    pub(super) const EMPTY: Self = Self(0);

    /// Those of reads of these registers.
    pub(super) fn reads(banks: Banks, registers: &[RegisterId]) -> Self {
        let mut counts = Self::EMPTY;
        for &register in registers {
            counts.add(banks.of(register));
        }
        counts
    }

    /// Counts of all banks, the first bank's in the lowest byte.
    #[inline]
    pub(super) const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The counts of all banks as bytes, the first bank's in the lowest byte.
    #[inline]
    pub(super) const fn bytes(self) -> u64 {
        self.0
    }

    /// One more access. At most 255 of a bank: an instruction has at most 32 operands.
    #[inline]
    pub(super) const fn add(&mut self, bank: usize) {
        self.0 += 1 << (8 * bank);
    }

    /// Accesses to one bank.
    #[inline]
    pub(super) const fn of(self, bank: usize) -> u64 {
        self.0 >> (8 * bank) & 0xff
    }

    /// Accesses to each bank, with the bank.
    pub(super) fn all(self) -> impl Iterator<Item = (u8, u64)> {
        (0..8).map(move |bank| (bank, self.of(bank.into())))
    }

    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
