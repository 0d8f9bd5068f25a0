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

mod error;
mod form;
mod lines;
mod sort;

use strata_core::sm::expansion::bundles::{MAX_REGISTERS, Prefetch};

use crate::hierarchy::Code;
use crate::program::Program;
pub use error::BundleError;
pub use sort::Weights;

/// A program with sorted registers, and its bundles.
#[derive(Clone, Debug)]
pub struct Bundled {
    /// The program, registers renumbered.
    pub program: Program,
    /// Its bundles, in order: every instruction is in one.
    pub prefetches: Vec<Prefetch>,
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
