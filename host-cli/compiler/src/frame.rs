//! Places of a kernel's variables: parameter space, shared memory, the thread's frame.

use std::collections::BTreeMap;

use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{FunctionId, Module, Span, StateSpace, Variable, VariableId};

use crate::program::ProgramVariable;

/// Most bytes of one space. The papers' machines have less; larger offsets would only make the
/// executor's own checks fail later and with a worse message.
const MAX_SPACE_BYTES: u64 = 1 << 30;

/// Shared memory of a CTA that the system software has, where a kernel asks for places in it.
pub const RESERVED_SHARED_BYTES: u64 = 1024;

/// Where a variable was declared of which one copy serves every inlined call: one of module scope,
/// or a shared one of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// At module scope.
    Module(VariableId),
    /// In a function.
    Function(FunctionId, VariableId),
}

/// Collects variables and gives them places.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub(crate) variables: Vec<ProgramVariable>,
    pub(crate) parameter_bytes: u64,
    pub(crate) shared_bytes: u64,
    pub(crate) local_bytes: u64,
    single: BTreeMap<Origin, VariableId>,
}

impl Frame {
    /// Adds a kernel parameter.
    pub(crate) fn parameter(&mut self, variable: &Variable) -> Result<VariableId, Diagnostic> {
        let offset = place(&mut self.parameter_bytes, variable)?;
        Ok(self.push(variable.name.clone(), StateSpace::Param, offset, variable))
    }

    /// Adds a variable of the thread's frame.
    pub(crate) fn local(
        &mut self,
        name: String,
        variable: &Variable,
    ) -> Result<VariableId, Diagnostic> {
        let offset = place(&mut self.local_bytes, variable)?;
        Ok(self.push(name, StateSpace::Local, offset, variable))
    }

    /// Adds a variable of which there is one copy, shared or of module scope, or finds it again.
    pub(crate) fn single(
        &mut self,
        origin: Origin,
        variable: &Variable,
    ) -> Result<VariableId, Diagnostic> {
        if let Some(&known) = self.single.get(&origin) {
            return Ok(known);
        }
        if variable.space == StateSpace::Local {
            let id = self.local(variable.name.clone(), variable)?;
            self.single.insert(origin, id);
            return Ok(id);
        }
        // Open arrays all begin where the static ones end: `finish` places them.
        let offset = if variable.size == 0 { 0 } else { place(&mut self.shared_bytes, variable)? };
        let id = self.push(variable.name.clone(), StateSpace::Shared, offset, variable);
        self.single.insert(origin, id);
        Ok(id)
    }

    /// Leaves the beginning of shared memory to the system software (DEV-175).
    pub(crate) fn reserve(&mut self) {
        let shared = self.variables.iter_mut().filter(|v| v.space == StateSpace::Shared);
        let shared: Vec<&mut ProgramVariable> = shared.collect();
        let align = shared.iter().map(|variable| u64::from(variable.align)).max();
        let bytes = RESERVED_SHARED_BYTES.next_multiple_of(align.unwrap_or(1).max(1));
        for variable in shared {
            variable.offset += bytes;
        }
        self.shared_bytes += bytes;
    }

    /// Places the open arrays of shared memory behind everything static.
    pub(crate) fn finish(&mut self) {
        let open =
            |variable: &ProgramVariable| variable.space == StateSpace::Shared && variable.size == 0;
        let align = self.variables.iter().filter(|v| open(v)).map(|v| u64::from(v.align)).max();
        let Some(align) = align else { return };
        self.shared_bytes = self.shared_bytes.next_multiple_of(align.max(1));
        for variable in self.variables.iter_mut().filter(|v| open(v)) {
            variable.offset = self.shared_bytes;
        }
    }

    fn push(
        &mut self,
        name: String,
        space: StateSpace,
        offset: u64,
        variable: &Variable,
    ) -> VariableId {
        let id = VariableId(self.variables.len() as u32);
        let (size, align) = (variable.size, variable.align);
        self.variables.push(ProgramVariable { name, space, offset, size, align });
        id
    }
}

/// Takes room for a variable at the end of a space.
fn place(end: &mut u64, variable: &Variable) -> Result<u64, Diagnostic> {
    let offset = end.next_multiple_of(u64::from(variable.align.max(1)));
    match offset.checked_add(variable.size) {
        Some(new_end) if new_end <= MAX_SPACE_BYTES => {
            *end = new_end;
            Ok(offset)
        }
        _ => Err(too_large(variable.span, &variable.name)),
    }
}

fn too_large(span: Span, name: &str) -> Diagnostic {
    let message = format!("`{name}` does not fit: its space would exceed {MAX_SPACE_BYTES} bytes");
    Diagnostic::unsupported("variables-too-large", span, message)
}

/// A variable of module scope, when it lies in shared or local memory: old PTX has both there.
pub(crate) fn placed_module_variable(module: &Module, id: VariableId) -> Option<&Variable> {
    let placed = |space| matches!(space, StateSpace::Shared | StateSpace::Local);
    module.variables.get(id.index()).filter(|variable| placed(variable.space))
}
