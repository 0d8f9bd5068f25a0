//! Residency: how many CTAs of a launch are resident at a time, and why not more.
//!
//! Source: `docs/MODEL.md`, rule 19.

use crate::named;

/// Most CTAs that an SM can be configured for.
pub const MAX_RESIDENT_CTAS: usize = 32;

/// What all CTAs of a launch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Warps of a CTA. Range: from 1.
    pub warps_per_cta: u32,
    /// Registers of a thread. Unit: 32-bit registers.
    pub registers: u16,
    /// Shared memory of a CTA. Unit: bytes.
    pub shared_bytes: u32,
}

named! {
    /// What keeps another CTA from being resident. In the order in which ties are broken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Limit {
        /// The warps that the scheduler has room for.
        Warps = "warps",
        /// The CTAs that the SM has room for.
        Ctas = "ctas",
        /// The register file.
        Registers = "registers",
        /// Shared memory.
        SharedMemory = "shared_memory",
    }
}

/// How many CTAs of a launch are resident at a time, and why not more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Resident CTAs. At least 1.
    pub ctas: u32,
    /// Resident warps.
    pub warps: u32,
    /// What keeps the next CTA out; of several, the first in the order of [`Limit::ALL`].
    pub limit: Limit,
    /// Registers of the register file beside those of the resident warps, in their rows, that stay
    /// empty because the banks do not divide a warp's registers. Unit: warp-wide registers.
    pub empty_registers: u32,
}

/// Not even one CTA fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaTooLarge {
    /// What is missing.
    pub limit: Limit,
    /// What a CTA needs of it: warps, bytes of the register file or bytes of shared memory.
    pub needed: u64,
    /// What the SM has of it, in the same unit.
    pub available: u64,
}

impl core::fmt::Display for CtaTooLarge {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { limit, needed, available } = self;
        let what = match limit {
            Limit::Warps | Limit::Ctas => "warps",
            Limit::Registers => "bytes of the register file",
            Limit::SharedMemory => "bytes of shared memory",
        };
        write!(to, "a CTA needs {needed} {what}, but an SM has {available}")
    }
}

impl core::error::Error for CtaTooLarge {}
