//! Fault: why a warp's path cannot be run through its hierarchy.

use crate::path::PathStep;
use crate::register_file_cache::ConfigError;
use crate::units::RegisterId;

/// A path that the image or the caller's memory does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFault {
    /// A run that is empty or leaves the kernel.
    PathOutOfRange {
        /// The run.
        step: PathStep,
        /// Instructions of the kernel.
        instructions: usize,
    },
    /// The warp must be descheduled before an instruction that the compiler did not mark.
    UnmarkedDeschedule {
        /// The instruction.
        pc: u32,
        /// The register whose long-latency result is pending.
        register: RegisterId,
    },
    /// A unit of the shared datapath reads a value that is placed in the last result file.
    OutOfReach {
        /// The instruction.
        pc: u32,
        /// The register whose value lies in the last result file.
        register: RegisterId,
    },
    /// The cache does not fit the compiled capacity.
    Cache(ConfigError),
    /// The hierarchy is compiler-managed, and the image was not fitted to one.
    NotPlaced,
    /// The caller's working memory has too few elements for the kernel's registers.
    ScratchTooShort {
        /// Elements needed.
        needed: usize,
        /// Elements handed in.
        given: usize,
    },
}

impl core::fmt::Display for PathFault {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::PathOutOfRange { step, instructions } => write!(
                formatter,
                "a path runs {} instructions from {}, but the kernel has {instructions}",
                step.length, step.pc
            ),
            Self::UnmarkedDeschedule { pc, register } => write!(
                formatter,
                "instruction {pc} reads the pending long-latency result in register {}, but is not \
                 marked as a place to deschedule",
                register.0
            ),
            Self::OutOfReach { pc, register } => write!(
                formatter,
                "instruction {pc} reads register {} for the shared datapath, but the value is in \
                 the last result file, which only the private datapath reaches",
                register.0
            ),
            Self::Cache(error) => error.fmt(formatter),
            Self::NotPlaced => formatter.write_str(
                "the hierarchy is compiler-managed, but the kernel was not fitted to one",
            ),
            Self::ScratchTooShort { needed, given } => {
                write!(
                    formatter,
                    "working memory of {given} elements, but the kernel needs {needed}"
                )
            }
        }
    }
}

impl core::error::Error for PathFault {}
