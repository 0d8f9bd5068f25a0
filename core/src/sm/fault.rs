//! What a workload can get wrong in cycle mode.

use super::config::CtaTooLarge;
use super::counters::StallReason;
use super::memory::bank_conflicts::BankConflictError;
use crate::arbiter::ArbiterError;
use crate::fault::PathFault;
use crate::units::RegisterId;

/// Why a run could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A path that leaves the kernel, an instruction that the compiler did not mark, a cache that
    /// does not fit: what count mode refuses as well.
    Hierarchy(PathFault),
    /// Not even one CTA fits.
    TooLarge(CtaTooLarge),
    /// Banks or a write pool that cannot be; a checked configuration has none such.
    Arbiter(ArbiterError),
    /// A memory in whose banks the registers of the SM cannot lie.
    BankConflicts(BankConflictError),
    /// The launch says that a CTA has no warps.
    NoWarps,
    /// A CTA has another number of warps than the launch says.
    WarpsInCta {
        /// The CTA, in launch order from 0.
        cta: u64,
        /// Warps that the launch says.
        expected: u32,
    },
    /// A warp executes more memory instructions than its trace has accesses for.
    AccessMissing {
        /// The CTA, in launch order from 0.
        cta: u64,
        /// The warp's place in its CTA.
        warp: u32,
        /// The instruction.
        pc: u32,
    },
    /// A warp ended before its trace's accesses were used up.
    AccessesLeft {
        /// The CTA, in launch order from 0.
        cta: u64,
        /// The warp's place in its CTA.
        warp: u32,
    },
    /// Registers lie in scratchpad memory, and the caller gave no bundles that say when they are
    /// needed, or some that do not fit the kernel.
    NoBundles,
    /// An instruction reads or writes a register that lies in scratchpad memory and that its bundle
    /// has not brought to the operand cache.
    NotInOperandCache {
        /// The instruction.
        pc: u32,
        /// The register.
        register: RegisterId,
    },
    /// Nothing can ever happen again, but warps have not ended.
    Stalled {
        /// When.
        cycle: u64,
        /// The resident warp with the lowest index that has not ended: an index into the SM's
        /// warps.
        warp: u8,
        /// What it waits for.
        reason: StallReason,
    },
    /// One of the caller's working memories has too few elements.
    MemoryTooShort {
        /// Which.
        memory: &'static str,
        /// Elements needed.
        needed: usize,
        /// Elements handed in.
        given: usize,
    },
}

impl core::fmt::Display for Fault {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Hierarchy(fault) => fault.fmt(to),
            Self::TooLarge(error) => error.fmt(to),
            Self::Arbiter(error) => error.fmt(to),
            Self::BankConflicts(error) => error.fmt(to),
            Self::NoWarps => to.write_str("a CTA of the launch has no warps"),
            Self::WarpsInCta { cta, expected } => {
                write!(to, "CTA {cta} does not have the launch's {expected} warps")
            }
            Self::AccessMissing { cta, warp, pc } => write!(
                to,
                "warp {warp} of CTA {cta} accesses memory at instruction {pc}, but its trace has \
                 no access left"
            ),
            Self::AccessesLeft { cta, warp } => {
                write!(to, "warp {warp} of CTA {cta} ended before its trace's accesses")
            }
            Self::NoBundles => to.write_str(
                "registers lie in scratchpad memory, but the kernel was not divided into bundles",
            ),
            Self::NotInOperandCache { pc, register } => write!(
                to,
                "instruction {pc} needs register {} in the operand cache, which its bundle does \
                 not name",
                register.0
            ),
            Self::Stalled { cycle, warp, reason } => write!(
                to,
                "nothing can happen after cycle {cycle}: warp {warp} waits for ever ({})",
                reason.name()
            ),
            Self::MemoryTooShort { memory, needed, given } => {
                write!(to, "working memory `{memory}` has {given} elements, {needed} are needed")
            }
        }
    }
}

impl core::error::Error for Fault {}

impl From<PathFault> for Fault {
    fn from(fault: PathFault) -> Self {
        Self::Hierarchy(fault)
    }
}

impl From<CtaTooLarge> for Fault {
    fn from(error: CtaTooLarge) -> Self {
        Self::TooLarge(error)
    }
}

impl From<BankConflictError> for Fault {
    fn from(error: BankConflictError) -> Self {
        Self::BankConflicts(error)
    }
}

impl From<ArbiterError> for Fault {
    fn from(error: ArbiterError) -> Self {
        Self::Arbiter(error)
    }
}

/// The first elements of a working memory, as many as are needed.
pub(super) fn first<'s, E>(
    memory: &'s mut [E],
    name: &'static str,
    needed: usize,
) -> Result<&'s mut [E], Fault> {
    let given = memory.len();
    memory.get_mut(..needed).ok_or(Fault::MemoryTooShort { memory: name, needed, given })
}
