//! What the checks are given: operands as written, and their surroundings.

use crate::module::{Function, Module, Operand, Span, Symbol, Variable, VirtualRegister};
use crate::opcode::{Modifiers, Opcode};
use crate::types::ScalarType;

/// One operand as written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// What it is.
    pub(crate) operand: Operand,
    /// Where it is.
    pub(crate) span: Span,
    /// What follows a `|`.
    pub(crate) pipe: Option<(Operand, Span)>,
    /// What follows the address in the same brackets (textures and surfaces).
    pub(crate) rest: Vec<Operand>,
    /// `.b0`, `.h10` and so on: parts of a register that a video instruction takes.
    pub(crate) selector: Option<String>,
}

/// What the checks need to know of the surroundings.
pub(crate) struct Context<'c> {
    pub(crate) module: &'c Module,
    pub(crate) function: &'c Function,
    pub(crate) opcode: Opcode,
    pub(crate) modifiers: &'c Modifiers,
    pub(crate) types: &'c [ScalarType],
}

impl Context<'_> {
    /// Type of a register of the function.
    pub(super) fn register(&self, id: VirtualRegister) -> ScalarType {
        self.function.registers.get(id.index()).map_or(ScalarType::B32, |register| register.ty)
    }

    /// The variable that a symbol names.
    pub(super) fn variable(&self, symbol: Symbol) -> Option<&Variable> {
        match symbol {
            Symbol::Module(id) => self.module.variables.get(id.index()),
            Symbol::Local(id) => self.function.variables.get(id.index()),
            Symbol::Function(_) => None,
        }
    }
}
