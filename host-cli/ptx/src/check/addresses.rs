//! Addresses that are narrower than the module's.
//!
//! Of a module with 64-bit addresses, 32 bits hold an address within shared or local memory, and
//! lose part of any other. `ptxas` refuses nearly the same.

use super::context::{Context, Written};
use crate::diagnostic::Diagnostic;
use crate::module::{AddressBase, Operand, Span, StateSpace, Symbol};
use crate::opcode::Opcode;
use crate::types::ScalarType;

/// Name of the rule that 32 bits do not hold a 64-bit address.
pub(crate) const CODE: &str = "address-size";

/// What an instruction does that is right only in a module with 32-bit addresses.
pub(super) fn narrow(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    match context.opcode {
        Opcode::Mov => moved(context, written.get(1)?),
        Opcode::Cvta if context.types.first()?.bits() == 32 => {
            Some(conflict(written.first()?.span, "`cvta` of 32 bits converts half an address"))
        }
        Opcode::Isspacep if context.is_narrow(&written.get(1)?.operand) => {
            Some(unsupported(written[1].span, "a state space is asked of half an address"))
        }
        Opcode::Ld
        | Opcode::Ldu
        | Opcode::St
        | Opcode::Atom
        | Opcode::Red
        | Opcode::Mbarrier
        | Opcode::Prefetch
        | Opcode::Prefetchu
        | Opcode::Discard => written.iter().find_map(|written| accessed(context, written)),
        _ => None,
    }
}

/// The address of a variable as a value of 32 bits.
fn moved(context: &Context<'_>, source: &Written) -> Option<Diagnostic> {
    let Operand::Symbol { symbol, .. } = source.operand else { return None };
    let variable = context.variable(symbol)?;
    if context.types.first()?.bits() != 32 {
        return None;
    }
    let message = format!("32 bits do not hold the address of `{}`", variable.name);
    match variable.space {
        StateSpace::Global | StateSpace::Generic => Some(conflict(source.span, message)),
        StateSpace::Const | StateSpace::Param => Some(unsupported(source.span, message)),
        StateSpace::Shared | StateSpace::Local => None,
    }
}

/// A place in memory whose address is a register of 32 bits.
fn accessed(context: &Context<'_>, written: &Written) -> Option<Diagnostic> {
    let Operand::Address { base: AddressBase::Register(id), .. } = written.operand else {
        return None;
    };
    let message = "32 bits do not hold an address";
    let register = Operand::Register(id);
    match context.modifiers.space {
        _ if !context.is_narrow(&register) => None,
        None | Some(StateSpace::Generic | StateSpace::Global) => {
            Some(conflict(written.span, format!("{message} of global memory")))
        }
        Some(StateSpace::Const | StateSpace::Param) => {
            Some(unsupported(written.span, format!("{message} outside shared and local memory")))
        }
        Some(StateSpace::Shared | StateSpace::Local) => None,
    }
}

/// The initial contents of an element of type `ty` are the address of a variable.
pub(crate) fn stored(ty: ScalarType, symbol: Symbol, span: Span) -> Option<Diagnostic> {
    let narrow = ty.bits() == 32 && matches!(symbol, Symbol::Module(_));
    let message = || format!("a `.{}` element does not hold an address", ty.name());
    narrow.then(|| unsupported(span, message()))
}

fn conflict(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(CODE, span, message).with_hint(HINT)
}

fn unsupported(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::unsupported(CODE, span, message).with_hint(HINT)
}

const HINT: &str = "addresses of this module have 64 bits: use a register of 64 bits, or write \
                    `.address_size 32`";

impl Context<'_> {
    fn is_narrow(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Register(id) if self.register(*id).bits() == 32)
    }
}
