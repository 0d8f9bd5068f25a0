//! References of a module: which of them kernels use, and whether a launch file binds each.

use strata_ptx::module::{AddressBase, Module, Operand, SamplerInitializer, Symbol, VariableId};
use strata_simt::texture::ObjectKind;

use super::simulate::{Prepared, RunError};

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

/// Refuses to run a kernel that uses a reference to which nothing is bound.
pub(super) fn check(prepared: &Prepared) -> Result<(), RunError> {
    let Prepared { module, plan, .. } = prepared;
    for program in &prepared.programs {
        let instructions = program.instructions.iter();
        let operands = instructions.flat_map(|whole| &whole.instruction.sources);
        for (id, kind) in operands.filter_map(|operand| reference(operand, module)) {
            let name = &module.variables[id.index()].name;
            let bound = plan.objects.iter().any(|object| object.reference.as_ref() == Some(name));
            if !bound && initial_sampler(module, name).is_none() {
                let (workload, kernel) = (prepared.name.clone(), program.name.clone());
                return Err(RunError::Unbound { workload, kernel, name: name.clone(), kind });
            }
        }
    }
    Ok(())
}
