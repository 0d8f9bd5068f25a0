//! References of a module: which of them kernels use, and whether a launch file binds each.

use strata_compiler::program::Program;
use strata_ptx::module::{AddressBase, Module, Operand, SamplerInitializer, Symbol, VariableId};
use strata_simt::texture::ObjectKind;

/// The reference of the module that an operand names.
pub(crate) fn reference(operand: &Operand, module: &Module) -> Option<(VariableId, ObjectKind)> {
    let (Operand::Symbol { symbol: Symbol::Module(id), .. }
    | Operand::Address { base: AddressBase::Symbol(Symbol::Module(id)), .. }) = operand
    else {
        return None;
    };
    let kind = ObjectKind::of(module.variables.get(id.index())?.ty)?;
    Some((*id, kind))
}

/// What a module initialises a sampler with; of an array, the first.
pub(crate) fn initial_sampler<'m>(
    module: &'m Module,
    name: &str,
) -> Option<&'m SamplerInitializer> {
    let variable = module.variables.iter().find(|variable| variable.name == name)?;
    variable.initial.as_ref()?.samplers.first()
}

/// The first reference that a kernel uses, and to which neither the module nor a launch file binds
/// anything. `is_bound` says by name whether the launch file does.
pub(crate) fn unbound<'m>(
    program: &Program,
    module: &'m Module,
    is_bound: impl Fn(&str) -> bool,
) -> Option<(&'m str, ObjectKind)> {
    let instructions = program.instructions.iter();
    let mut operands = instructions.flat_map(|whole| &whole.instruction.sources);
    operands.find_map(|operand| {
        let (id, kind) = reference(operand, module)?;
        let name = module.variables[id.index()].name.as_str();
        (!is_bound(name) && initial_sampler(module, name).is_none()).then_some((name, kind))
    })
}
