//! Decoded: one kernel as the executor takes it, or everything that keeps it from being executed.

use std::collections::BTreeSet;

use strata_compiler::program::Program;
use strata_compiler::{CompileOptions, compile, inline};
use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{FunctionId, Module, Operand, Symbol};
use strata_ptx::opcode::Opcode;
use strata_simt::{Executable, prepare};

/// One kernel, compiled and decoded as far as that goes.
#[derive(Debug)]
pub struct Decoded {
    /// The compiled kernel, if it can be compiled.
    pub program: Option<Program>,
    /// The compiled kernel, decoded; there whenever there is no problem.
    pub executable: Option<Executable>,
    /// What keeps the kernel from being executed, in the order of the file.
    pub problems: Vec<Diagnostic>,
}

impl Decoded {
    /// Compiles and decodes a kernel of a module. `unsupported` is what the parser has found in the
    /// module: instructions that are not in it, so that whatever may reach one is refused.
    pub fn new(
        module: &Module,
        unsupported: &[Diagnostic],
        kernel: FunctionId,
        options: CompileOptions,
    ) -> Self {
        let mut problems = unsupported_of(module, unsupported, kernel);
        let mut refuse = |found: Vec<Diagnostic>| {
            problems.extend(found.into_iter().map(|found| found.with_cuda(&module.cuda)));
        };
        let program = compile(module, kernel, options).map_err(&mut refuse).ok();
        let executable = program.as_ref().map(|program| prepare(module, program));
        let executable = executable.and_then(|decoded| decoded.map_err(&mut refuse).ok());
        problems.sort_by_key(|problem| problem.span.start);
        Self { program, executable, problems }
    }
}

/// The unsupported features of a module that a kernel may reach.
pub fn unsupported_of(
    module: &Module,
    unsupported: &[Diagnostic],
    kernel: FunctionId,
) -> Vec<Diagnostic> {
    let reached = reachable(module, kernel);
    let concerns = |found: &&Diagnostic| {
        found.kernel.as_deref().is_none_or(|function| reached.contains(function))
    };
    unsupported.iter().filter(concerns).cloned().collect()
}

/// Names of a kernel and of every function that it may call.
fn reachable(module: &Module, kernel: FunctionId) -> BTreeSet<&str> {
    let mut pending = vec![kernel.index()];
    let mut reached = BTreeSet::new();
    let mut addressed = None;
    while let Some(function) = pending.pop().and_then(|index| module.functions.get(index)) {
        if !reached.insert(function.name.as_str()) {
            continue;
        }
        for instruction in &function.body {
            let indirect = matches!(instruction.sources.first(), Some(Operand::Register(_)));
            if indirect && instruction.opcode == Opcode::Call {
                let called = addressed.get_or_insert_with(|| inline::addressed(module));
                pending.extend(called.iter().map(|id| id.index()));
            }
            pending.extend(instruction.sources.iter().filter_map(|source| match source {
                Operand::Symbol { symbol: Symbol::Function(id), .. } => Some(id.index()),
                _ => None,
            }));
        }
    }
    reached
}
