//! Homes: where each register of each resident warp lies while a kernel runs.
//!
//! Models: the register allocation table, which tells the register file's registers from scratchpad
//! memory's and gives the latter their addresses. CTA slots below `Start_CTA` are whole, the others
//! mixed, for the whole kernel; the warps of a slot have consecutive numbers.
//! Does not model: banks, or values.
//! Source: `[EXPARS]` 3.3.2 (two-way allocation), 3.3.3, equations 11 to 13; `docs/MODEL.md`, rule
//! 41.
//!
//! ```
//! use strata_core::sm::expansion::Split;
//! use strata_core::sm::expansion::homes::{Home, Homes};
//!
//! // MonteCarlo: five whole CTAs and one mixed, of 8 warps with 24 registers, from register 8 up.
//! let split = Split { whole: 5, mixed: 1, start_register: 8 };
//! let homes = Homes::new(&split, 24, 8, 2048, 48 * 1024).expect("it fits");
//! assert_eq!(homes.base(5), Some(32_768));
//! assert_eq!(homes.home(43, 10), Some(Home::Scratchpad { address: 39_168 }));
//! ```

use super::Split;
use crate::sm::residency::MAX_RESIDENT_CTAS;

/// A register of a warp: 32 lanes of 4 bytes. Unit: bytes.
pub const WARP_REGISTER_BYTES: u32 = 128;

/// Where a register of a warp lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// In the register file.
    RegisterFile {
        /// Its place among the warp-wide registers there: those of the whole CTAs come first, each
        /// warp's behind those of the warp before. The order is ours; only that no two are the same
        /// matters.
        place: u32,
    },
    /// In scratchpad memory.
    Scratchpad {
        /// Its first byte; lane `i` has the four bytes from `address + 4 * i`.
        address: u32,
    },
}

/// The register allocation table of a kernel with mixed CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Homes {
    // Invariants: start < registers; whole + mixed <= MAX_RESIDENT_CTAS; all regions and the
    // program's own scratchpad memory fit in `scratchpad`, so that no product overflows.
    whole: u32,
    mixed: u32,
    start: u32,
    registers: u32,
    warps_per_cta: u32,
    program_bytes: u32,
    scratchpad: u32,
}

impl Homes {
    /// The table of a split, for threads with so many registers, CTAs of so many warps that use so
    /// many bytes of scratchpad memory themselves, and so many bytes of it in all; `None` if they
    /// do not fit, or a mixed CTA has no register in scratchpad memory.
    pub fn new(
        split: &Split,
        registers: u16,
        warps_per_cta: u32,
        program_bytes: u32,
        scratchpad: u32,
    ) -> Option<Self> {
        let registers = u32::from(registers);
        let outside = registers.checked_sub(split.start_register).filter(|&count| count != 0)?;
        let ctas = split.whole.checked_add(split.mixed)?;
        if split.mixed == 0 || warps_per_cta == 0 || ctas as usize > MAX_RESIDENT_CTAS {
            return None;
        }
        let region = outside.checked_mul(warps_per_cta)?.checked_mul(WARP_REGISTER_BYTES)?;
        let taken = region.checked_mul(split.mixed)?.checked_add(ctas.checked_mul(program_bytes)?);
        (taken? <= scratchpad).then_some(())?;
        // Places in the register file are numbers of 32 bits, too.
        ctas.checked_mul(warps_per_cta)?.checked_mul(registers)?;
        let (whole, mixed, start) = (split.whole, split.mixed, split.start_register);
        Some(Self { whole, mixed, start, registers, warps_per_cta, program_bytes, scratchpad })
    }

    /// `Start_CTA`: the first slot of a mixed CTA.
    pub const fn start_cta(&self) -> u32 {
        self.whole
    }

    /// `Start_Reg`: the first register of a mixed CTA's threads that lies in scratchpad memory.
    pub const fn start_register(&self) -> u32 {
        self.start
    }

    /// Warps that are resident.
    pub const fn warps(&self) -> u32 {
        (self.whole + self.mixed) * self.warps_per_cta
    }

    /// The CTA slot of a warp (equation 12).
    pub const fn slot(&self, warp: u32) -> u32 {
        warp / self.warps_per_cta
    }

    /// The scratchpad memory base register (SBR) of a mixed CTA's slot: the first byte of its
    /// registers (equation 11); `None` for another slot.
    pub const fn base(&self, slot: u32) -> Option<u32> {
        if slot < self.whole || slot >= self.whole + self.mixed {
            return None;
        }
        Some(self.scratchpad - (slot - self.whole + 1) * self.of_warp() * self.warps_per_cta)
    }

    /// The first byte of the scratchpad memory that the program of a slot's CTA uses: from the
    /// other end, and for every slot (Figure 6).
    pub const fn program_base(&self, slot: u32) -> Option<u32> {
        if slot >= self.whole + self.mixed {
            return None;
        }
        Some(slot * self.program_bytes)
    }

    /// Where a register of a warp lies (equations 12 and 13); `None` if there is no such warp or
    /// register.
    pub const fn home(&self, warp: u32, register: u16) -> Option<Home> {
        let register = register as u32;
        if warp >= self.warps() || register >= self.registers {
            return None;
        }
        let (slot, of_slot) = (self.slot(warp), warp % self.warps_per_cta);
        let Some(base) = self.base(slot) else {
            return Some(Home::RegisterFile { place: warp * self.registers + register });
        };
        if register < self.start {
            let whole = self.whole * self.warps_per_cta;
            let place = whole * self.registers + (warp - whole) * self.start + register;
            return Some(Home::RegisterFile { place });
        }
        let address =
            base + self.of_warp() * of_slot + (register - self.start) * WARP_REGISTER_BYTES;
        Some(Home::Scratchpad { address })
    }

    /// Bytes of a mixed CTA's warp in scratchpad memory.
    const fn of_warp(&self) -> u32 {
        (self.registers - self.start) * WARP_REGISTER_BYTES
    }
}
