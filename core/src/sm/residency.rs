//! Residency: how many CTAs of a launch are resident at a time, and why not more.
//!
//! Source: `docs/MODEL.md`, rule 19.

use crate::named;

/// Most CTAs that an SM can be configured for.
pub const MAX_RESIDENT_CTAS: usize = 64;

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
        /// Storage that registers and shared memory have in common.
        UnifiedStorage = "unified_storage",
        /// The threads that the scheduler has room for.
        Threads = "threads",
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
    /// What a CTA needs of it: warps, CTAs, threads, or bytes of what the limit names.
    pub needed: u64,
    /// What the SM has of it, in the same unit.
    pub available: u64,
}

impl core::fmt::Display for CtaTooLarge {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { limit, needed, available } = self;
        let what = match limit {
            Limit::Warps => "warps",
            Limit::Ctas => "places for CTAs",
            Limit::Registers => "bytes of the register file",
            Limit::SharedMemory => "bytes of shared memory",
            Limit::UnifiedStorage => "bytes of unified storage",
            Limit::Threads => "threads",
        };
        write!(to, "a CTA needs {needed} {what}, but an SM has {available}")
    }
}

impl core::error::Error for CtaTooLarge {}

/// How many CTAs fit, from limits with what a CTA needs of each and what the SM has; and what keeps
/// the next one out: of several, the first in the list. Something of which nothing is needed is no
/// limit; where nothing limits, [`u32::MAX`] CTAs fit.
pub(super) fn most_ctas(demands: &[(Limit, u64, u64)]) -> Result<(u32, Limit), CtaTooLarge> {
    let (mut ctas, mut binding) = (u64::from(u32::MAX), Limit::Warps);
    for &(limit, needed, available) in demands {
        let fit = available.checked_div(needed).unwrap_or(u64::MAX);
        if fit == 0 {
            return Err(CtaTooLarge { limit, needed, available });
        }
        if fit < ctas {
            (ctas, binding) = (fit, limit);
        }
    }
    Ok((ctas as u32, binding))
}
