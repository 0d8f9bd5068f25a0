//! Bundles (`[EXPARS]` 3.2): what the compiler does for registers that may lie in scratchpad
//! memory.
//!
//! Passes, in order, one file each: `sort` renumbers the registers of an allocated program, those
//! with the most references first, so that the last ones, which a launch may place in scratchpad
//! memory, are needed least; `form` divides the program into bundles and says what each fetches.
//!
//! The compiler does not know how many threads a CTA of a launch has, nor, therefore, which
//! registers lie in scratchpad memory: the candidates are all that may, from some register up
//! (DEV-107).

mod form;
mod sort;

use strata_core::sm::expansion::bundles::{MAX_REGISTERS, Prefetch};
use strata_core::units::RegisterId;
use strata_ptx::diagnostic::Diagnostic;

use crate::hierarchy::Code;
use crate::program::Program;

/// What a reference to a register counts when registers are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// One, wherever it stands.
    #[default]
    References,
    /// Ten times as much in each loop around it.
    Loops,
}

/// A program with sorted registers, and its bundles.
#[derive(Clone, Debug)]
pub struct Bundled {
    /// The program, registers renumbered.
    pub program: Program,
    /// Its bundles, in order: every instruction is in one.
    pub prefetches: Vec<Prefetch>,
}

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

/// Sorts the registers of a program and divides it into bundles, for registers from `first` up that
/// may lie in scratchpad memory.
///
/// # Errors
///
/// A program that is too large, or an instruction with operands that no line is left for.
pub fn bundle(program: &Program, weights: Weights, first: u16) -> Result<Bundled, BundleError> {
    let registers = program.image.registers;
    if usize::from(registers) > MAX_REGISTERS {
        return Err(BundleError::TooManyRegisters { registers });
    }
    let order = sort::order(&analysed(program)?, program, weights, first);
    let program = sort::renumbered(program, &order);
    let prefetches = form::form(&analysed(&program)?, &program, first)?;
    Ok(Bundled { program, prefetches })
}

fn analysed(program: &Program) -> Result<Code<'_>, BundleError> {
    Code::new(program).map_err(|problem| BundleError::TooLarge(Box::new(problem)))
}

/// Registers from `first` up that need a line of the operand cache while an instruction executes:
/// those that it reads, and its results but those of long-latency operations, which go to
/// scratchpad memory when they arrive. Ascending, each once.
fn needed(code: &Code<'_>, pc: usize, first: u16) -> Vec<RegisterId> {
    use strata_core::image::Flags;

    let results = code.destinations(pc).iter().filter(|_| !code.has(pc, Flags::LONG_LATENCY));
    let all = code.sources(pc).iter().chain(results);
    let mut needed: Vec<_> = all.copied().filter(|register| register.0 >= first).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}
