//! Why bundles cannot be made.

use strata_core::sm::expansion::bundles::MAX_REGISTERS;
use strata_core::units::RegisterId;
use strata_ptx::diagnostic::Diagnostic;

/// Why a program has no bundles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The analysis would take too much memory.
    #[error("{}", .0.message)]
    TooLarge(Box<Diagnostic>),
    /// It has more registers than PREF can name.
    #[error("{registers} registers of a thread are more than the {MAX_REGISTERS} that PREF names")]
    TooManyRegisters {
        /// Registers of a thread.
        registers: u16,
    },
    /// Operands of one instruction have the same home line in the operand cache, and no order of
    /// registers was found in which they have not.
    #[error(
        "instruction {pc} (line {line}) needs R{} and R{} at once, which have one line of the \
         operand cache", .registers[0].0, .registers[1].0
    )]
    SharedLine {
        /// The instruction.
        pc: usize,
        /// Line of the PTX file.
        line: u32,
        /// The registers.
        registers: [RegisterId; 2],
    },
}
