//! The pipeline.

use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{FunctionId, Module};

use crate::allocate as registers;
use crate::cfg::Graph;

use crate::divergence::Divergence;
use crate::image::{self, Parts};
use crate::inline::inline;
use crate::intervals::Intervals;
use crate::kernel::Kernel;
use crate::limits::{Limit, MAX_HELD_TRIPLES};
use crate::program::{Image, Location, Program, ProgramInstruction, ProgramRegister};
use crate::values::Values;

/// Compiles one kernel of a module: inlines its calls, allocates its registers, builds its image.
///
/// Deterministic: the same module gives the same program.
///
/// # Errors
///
/// Everything that keeps this kernel from being compiled (see [`inline`]); or one of: more
/// registers than have numbers, an instruction with more operand slots than an image holds, a
/// kernel so large or so deeply nested that analysing it would take unbounded memory.
pub fn compile(module: &Module, kernel: FunctionId) -> Result<Program, Vec<Diagnostic>> {
    let kernel = inline(module, kernel)?;
    allocate(&kernel).map_err(|problem| vec![problem])
}

/// Allocates the registers of a kernel whose calls are inlined, and builds its image.
///
/// # Errors
///
/// As [`compile`], less those of inlining.
pub fn allocate(kernel: &Kernel) -> Result<Program, Diagnostic> {
    within_limits(kernel).map_err(|limit| {
        let span = kernel.instructions.get(limit.pc).map(|i| i.span).unwrap_or_default();
        Diagnostic::unsupported(limit.code, span, limit.message).in_kernel(kernel.name.clone())
    })
}

fn within_limits(kernel: &Kernel) -> Result<Program, Limit> {
    let graph = Graph::new(kernel)?;
    let divergence = Divergence::new(kernel, &graph)?;
    let values = Values::new(kernel, &graph)?;
    check_triples(&divergence, &values)?;
    let intervals = Intervals::new(&graph, &divergence, &values);
    let allocation = registers::allocate(&values.instructions, &values.webs, &intervals)?;
    let image = image::build(&Parts {
        kernel,
        graph: &graph,
        divergence: &divergence,
        values: &values,
        locations: &allocation.locations,
        registers: allocation.general,
    })?;
    Ok(assemble(kernel, &graph, values, &allocation, image))
}

/// Refuses kernels in which too many values wait in too many places.
fn check_triples(divergence: &Divergence, values: &Values) -> Result<(), Limit> {
    let held = |&place: &u32| values.live_in[place as usize].len();
    let triples: usize = divergence.waiting.iter().flatten().map(held).sum();
    if triples > MAX_HELD_TRIPLES { Err(Limit::nesting()) } else { Ok(()) }
}

fn assemble(
    kernel: &Kernel,
    graph: &Graph,
    values: Values,
    allocation: &registers::Allocation,
    image: Image,
) -> Program {
    let register = |(register, &location): (_, &Location)| {
        let strata_ptx::module::Register { name, ty } = register;
        ProgramRegister { name, ty, location }
    };
    let reconvergence = |pc| graph.reconvergence(kernel, pc);
    let instructions = values.instructions.into_iter().zip(&kernel.lines).enumerate();
    Program {
        name: kernel.name.clone(),
        instructions: instructions
            .map(|(pc, (instruction, &line))| {
                let reconvergence = reconvergence(pc);
                ProgramInstruction { instruction, line, reconvergence }
            })
            .collect(),
        registers: values.webs.into_iter().zip(&allocation.locations).map(register).collect(),
        variables: kernel.variables.clone(),
        parameters: kernel.parameters,
        targets: kernel.targets.clone(),
        branch_tables: kernel
            .branch_tables
            .iter()
            .map(|table| table.iter().map(|label| kernel.targets[label.index()]).collect())
            .collect(),
        general_registers: allocation.general,
        predicate_registers: allocation.predicates,
        shared_bytes: kernel.shared_bytes,
        local_bytes: kernel.local_bytes,
        image,
    }
}
