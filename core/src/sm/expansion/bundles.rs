//! Bundles: stretches of code whose registers are in the register file or in the operand cache
//! while they run, and the pseudo-instruction (PREF) before each.
//!
//! Models: what PREF names, and the rules that its registers follow.
//! Does not model: when registers are fetched (`prefetcher`). Which instructions are a
//! bundle the compiler decides.
//! Source: `[EXPARS]` 3.2, 3.3.4, Figure 8; `docs/MODEL.md`, rule 42; `docs/DEVIATIONS.md`,
//! DEV-107, DEV-108.
//!
//! PREF has no number among the instructions: it issues before one, takes a slot and is not
//! counted, so that program counters, paths and everything that is known of an instruction stay
//! what they are without it.
//!
//! ```
//! use strata_core::sm::expansion::bundles::{Bundles, Prefetch, RegisterSet};
//! use strata_core::units::RegisterId;
//!
//! let fetched = RegisterSet::of([20, 5].map(RegisterId)).expect("both are below 256");
//! let prefetches = [Prefetch { pc: 0, fetched, allocated: RegisterSet::EMPTY }];
//! let bundles = Bundles::new(&prefetches, 3)?;
//! assert_eq!(bundles.before(0), Some(&prefetches[0]));
//! assert_eq!(bundles.before(1), None);
//! assert_eq!(bundles.around(2), Some(&prefetches[0]));
//! # Ok::<(), strata_core::sm::expansion::bundles::BundlesError>(())
//! ```

use super::hardware::{BANKS, LINES, SETS};
use crate::units::RegisterId;

/// Registers that a set has room for.
pub const MAX_REGISTERS: usize = 256;
const WORDS: usize = MAX_REGISTERS / 64;

/// A set of registers: PREF's bit vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegisterSet([u64; WORDS]);

impl RegisterSet {
    /// No register.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// These registers; `None` if one has a number from [`MAX_REGISTERS`] up.
    pub fn of(registers: impl IntoIterator<Item = RegisterId>) -> Option<Self> {
        let mut set = Self::EMPTY;
        registers.into_iter().all(|register| set.insert(register)).then_some(set)
    }

    /// Adds a register; false if it has a number from [`MAX_REGISTERS`] up.
    pub fn insert(&mut self, register: RegisterId) -> bool {
        let Some(word) = self.0.get_mut(usize::from(register.0 / 64)) else { return false };
        *word |= 1 << (register.0 % 64);
        true
    }

    /// Whether a register is in it.
    pub fn contains(&self, register: RegisterId) -> bool {
        let word = self.0.get(usize::from(register.0 / 64));
        word.is_some_and(|word| word >> (register.0 % 64) & 1 != 0)
    }

    /// Registers of either set.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Registers of both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Registers that are not in the other set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Registers from a given one up.
    #[must_use]
    pub fn from(self, start: RegisterId) -> Self {
        let kept = |word: usize| match usize::from(start.0).checked_sub(64 * word) {
            None => u64::MAX,
            Some(below) if below < 64 => u64::MAX << below,
            Some(_) => 0,
        };
        Self(core::array::from_fn(|word| self.0[word] & kept(word)))
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The registers, ascending.
    pub fn iter(self) -> impl Iterator<Item = RegisterId> {
        (0..MAX_REGISTERS as u16).map(RegisterId).filter(move |&register| self.contains(register))
    }
}

/// The line of the operand cache that a register goes to, whatever the warp (`[EXPARS]` 3.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HomeLine {
    /// The bank: the register's lowest two bits.
    pub bank: u8,
    /// The set: the next two.
    pub set: u8,
}

impl HomeLine {
    /// The line of a register.
    ///
    /// ```
    /// use strata_core::sm::expansion::bundles::HomeLine;
    /// use strata_core::units::RegisterId;
    ///
    /// assert_eq!(HomeLine::of(RegisterId(5)), HomeLine { bank: 1, set: 1 });
    /// assert_eq!(HomeLine::of(RegisterId(21)), HomeLine::of(RegisterId(5)));
    /// ```
    pub const fn of(register: RegisterId) -> Self {
        let (banks, sets) = (BANKS as u16, SETS as u16);
        Self { bank: (register.0 % banks) as u8, set: (register.0 / banks % sets) as u8 }
    }

    /// Its number among all lines. Range: below [`LINES`].
    pub const fn number(self) -> u8 {
        self.set * BANKS as u8 + self.bank
    }
}

/// PREF: the registers of the bundle behind it that may lie in scratchpad memory. For a warp whose
/// registers from some number up lie there, those below have no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// The bundle's first instruction, which PREF issues before.
    pub pc: u32,
    /// Registers whose values some lane needs.
    pub fetched: RegisterSet,
    /// Registers whose values no lane needs: they get a line and are not fetched.
    pub allocated: RegisterSet,
}

impl Prefetch {
    /// All registers of the bundle that may lie in scratchpad memory.
    pub fn registers(&self) -> RegisterSet {
        self.fetched.or(self.allocated)
    }
}

/// Bundles that break their own rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundlesError {
    /// The first bundle does not begin at the first instruction.
    NoFirst,
    /// A bundle does not begin behind the one before, or not within the code.
    Order {
        /// Where it begins.
        pc: u32,
    },
    /// A register is fetched and allocated, both.
    Twice {
        /// Where the bundle begins.
        pc: u32,
        /// The register.
        register: RegisterId,
    },
    /// Two registers of a bundle have the same home line. So have two of any
    /// [`LINES`] + 1 registers.
    SharedLine {
        /// Where the bundle begins.
        pc: u32,
        /// The registers.
        registers: [RegisterId; 2],
    },
}

impl core::fmt::Display for BundlesError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoFirst => write!(to, "no bundle begins at the first instruction"),
            Self::Order { pc } => {
                write!(to, "the bundle at {pc} is out of order, or not within the code")
            }
            Self::Twice { pc, register } => {
                write!(to, "the bundle at {pc} fetches and allocates R{}", register.0)
            }
            Self::SharedLine { pc, registers: [a, b] } => {
                write!(to, "R{} and R{} of the bundle at {pc} have one home line", a.0, b.0)
            }
        }
    }
}

impl core::error::Error for BundlesError {}

/// The bundles of a kernel: every instruction is in one.
#[derive(Clone, Copy, Debug)]
pub struct Bundles<'a> {
    // Invariants: in ascending order, the first at instruction 0; each has distinct home lines.
    prefetches: &'a [Prefetch],
}

impl<'a> Bundles<'a> {
    /// Bundles of so many instructions; of a kernel without any, none.
    ///
    /// # Errors
    /// The first rule that they break.
    pub fn new(prefetches: &'a [Prefetch], instructions: u32) -> Result<Self, BundlesError> {
        let first = prefetches.first().map(|prefetch| prefetch.pc);
        if first != (instructions != 0).then_some(0) {
            return Err(BundlesError::NoFirst);
        }
        let ends = prefetches.iter().skip(1).map(|next| next.pc).chain([instructions]);
        for (prefetch, end) in prefetches.iter().zip(ends) {
            if prefetch.pc >= end {
                return Err(BundlesError::Order { pc: end });
            }
            Self::check_lines(prefetch)?;
        }
        Ok(Self { prefetches })
    }

    fn check_lines(prefetch: &Prefetch) -> Result<(), BundlesError> {
        let pc = prefetch.pc;
        if let Some(register) = prefetch.fetched.and(prefetch.allocated).iter().next() {
            return Err(BundlesError::Twice { pc, register });
        }
        let mut lines = [None; LINES as usize];
        for register in prefetch.registers().iter() {
            let line = &mut lines[usize::from(HomeLine::of(register).number())];
            if let Some(other) = line.replace(register) {
                return Err(BundlesError::SharedLine { pc, registers: [other, register] });
            }
        }
        Ok(())
    }

    /// PREF before an instruction, if a bundle begins with it.
    pub fn before(&self, pc: u32) -> Option<&'a Prefetch> {
        self.index_before(pc).map(|place| &self.prefetches[place])
    }

    /// The index of the PREF before an instruction, among all.
    pub fn index_before(&self, pc: u32) -> Option<usize> {
        self.prefetches.binary_search_by_key(&pc, |prefetch| prefetch.pc).ok()
    }

    /// PREF of the bundle that an instruction is in; of one behind the code, of the last.
    pub fn around(&self, pc: u32) -> Option<&'a Prefetch> {
        let behind = self.prefetches.partition_point(|prefetch| prefetch.pc <= pc);
        self.prefetches.get(behind.checked_sub(1)?)
    }

    /// All, in order.
    pub const fn all(&self) -> &'a [Prefetch] {
        self.prefetches
    }
}
