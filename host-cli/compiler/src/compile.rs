//! The pipeline.

#[cfg(test)]
mod order_mutants;

use strata_ptx::diagnostic::Diagnostic;
use strata_ptx::module::{FunctionId, Module};

use crate::allocate as registers;
use crate::cfg::Graph;
use crate::divergence::Divergence;
use crate::image::{self, Parts};
use crate::inline::inline;
use crate::intervals::Intervals;
use crate::kernel::Kernel;
use crate::limits::{MAX_HELD_TRIPLES, RegisterLimit, TooLarge};
use crate::program::{Location, Origin, Program, ProgramInstruction, ProgramRegister};
use crate::reductions;
use crate::schedule::{self, Order, Reordered};
use crate::spill::{Attempt, Before, crowded, spill};
use crate::values::Values;

/// What may be asked for beside the program itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// Registers that a thread may have: what does not fit is spilled to local memory. None: as
    /// many as the kernel needs.
    pub registers: Option<RegisterLimit>,
    /// Order of the instructions.
    pub order: Order,
}

/// Compiles one kernel of a module: inlines its calls, allocates its registers, builds its image.
///
/// Deterministic: the same module gives the same program.
///
/// # Errors
///
/// Everything that keeps this kernel from being compiled (see [`inline`]); or one of: more
/// registers than have numbers, an instruction with more operand slots than an image holds, an
/// instruction that alone names more registers than there may be, a kernel so large or so deeply
/// nested that analysing it would take unbounded memory.
pub fn compile(
    module: &Module,
    kernel: FunctionId,
    options: CompileOptions,
) -> Result<Program, Vec<Diagnostic>> {
    let kernel = inline(module, kernel)?;
    in_order(&kernel, options).map_err(|problem| vec![problem])
}

/// Compiles a kernel whose calls are inlined.
///
/// # Errors
///
/// More registers than have numbers, an instruction with more operand slots than an image holds, an
/// instruction that alone names more registers than there may be, or a kernel so large or so deeply
/// nested that analysing it would take unbounded memory.
pub(crate) fn in_order(kernel: &Kernel, options: CompileOptions) -> Result<Program, Diagnostic> {
    let CompileOptions { registers, order } = options;
    if order == Order::Ptx {
        return allocate(kernel, registers);
    }
    let reordered = reordered(kernel, order).map_err(|limit| kernel.refused(limit))?;
    let (Reordered { kernel: scheduled, .. }, before) = reordered;
    let fits = |before: &registers::Allocation| {
        registers.is_none_or(|limit| before.general <= limit.get())
    };
    let program = match (order, &before) {
        (Order::Scheduled, Some(before)) if fits(before) => in_places(&scheduled, before),
        _ => within_limits(&scheduled, registers),
    };
    let mut program = program.map_err(|limit| scheduled.refused(limit))?;
    if let (Order::ScheduledRenamed, Some(before)) = (order, before) {
        program.resident_registers = before.general;
    }
    if order == Order::Close {
        let plain = allocate(kernel, registers)?;
        let size = |program: &Program| (program.general_registers, program.spill_bytes);
        if size(&plain) < size(&program) {
            program = plain;
        }
    }
    program.order = order;
    Ok(program)
}

/// Reorders the instructions of a kernel whose calls are inlined.
///
/// # Errors
///
/// A kernel so large that analysing it would take unbounded memory, or that needs more registers
/// than have numbers; compiling it fails likewise.
pub fn schedule(kernel: &Kernel, order: Order) -> Result<Reordered, Diagnostic> {
    let reordered = reordered(kernel, order);
    reordered.map(|(reordered, _)| reordered).map_err(|limit| kernel.refused(limit))
}

/// A kernel with unread atomics as reductions, in another order; and where its registers were
/// before, if that is known.
fn reordered(
    kernel: &Kernel,
    order: Order,
) -> Result<(Reordered, Option<registers::Allocation>), TooLarge> {
    let kernel = &*reductions::find(kernel)?;
    Ok(match order {
        Order::Ptx => (schedule::as_it_is(kernel), None),
        Order::Close => (schedule::close(kernel)?, None),
        Order::Scheduled | Order::ScheduledRenamed => {
            let Allocated { graph, values, allocation, .. } = Allocated::new(kernel)?;
            let places = (order == Order::Scheduled).then_some(&allocation);
            (schedule::by_latencies(kernel, &graph, &values, places), Some(allocation))
        }
    })
}

/// Allocates the registers of a kernel whose calls are inlined, within a limit if there is one, and
/// builds its image.
///
/// # Errors
///
/// More registers than have numbers, an instruction with more operand slots than an image holds, an
/// instruction that alone names more registers than there may be, or a kernel so large or so deeply
/// nested that analysing it would take unbounded memory.
pub fn allocate(kernel: &Kernel, limit: Option<RegisterLimit>) -> Result<Program, Diagnostic> {
    within_limits(kernel, limit).map_err(|limit| kernel.refused(limit))
}

/// What the passes find out about a kernel.
struct Allocated {
    graph: Graph,
    divergence: Divergence,
    values: Values,
    intervals: Intervals,
    allocation: registers::Allocation,
}

impl Allocated {
    fn new(kernel: &Kernel) -> Result<Self, TooLarge> {
        let graph = Graph::new(kernel)?;
        let divergence = Divergence::new(kernel, &graph)?;
        Self::of(kernel, graph, divergence)
    }

    fn of(kernel: &Kernel, graph: Graph, divergence: Divergence) -> Result<Self, TooLarge> {
        let values = Values::new(kernel, &graph)?;
        check_triples(&divergence, &values)?;
        let intervals = Intervals::new(&graph, &divergence, &values);
        let allocation = registers::allocate(&values.instructions, &values.webs, &intervals)?;
        Ok(Self { graph, divergence, values, intervals, allocation })
    }
}

fn within_limits(kernel: &Kernel, limit: Option<RegisterLimit>) -> Result<Program, TooLarge> {
    let kernel = &*reductions::find(kernel)?;
    let allocated = Allocated::new(kernel)?;
    let fits = |limit: &RegisterLimit| allocated.allocation.general <= limit.get();
    let Some(limit) = limit.filter(|limit| !fits(limit)) else {
        return assemble(kernel, allocated);
    };
    let before = Before {
        kernel,
        graph: &allocated.graph,
        divergence: &allocated.divergence,
        values: &allocated.values,
        intervals: &allocated.intervals,
    };
    let (spilled, allocated) = spill(&before, limit, |kernel| {
        let made = Allocated::new(kernel)?;
        let crowded =
            crowded(before.graph, &made.graph, &made.intervals, &made.allocation, limit.get());
        Ok(Attempt { registers: made.allocation.general, crowded, made })
    })?;
    // The image's own limits show at instructions of the spilled kernel.
    let mut program = assemble(&spilled.kernel, allocated).map_err(|limit| {
        let pc = match spilled.origins.get(limit.pc) {
            Some(Origin::Kernel(pc)) => *pc as usize,
            _ => 0,
        };
        TooLarge { pc, ..limit }
    })?;
    for (instruction, origin) in program.instructions.iter_mut().zip(spilled.origins) {
        instruction.origin = origin;
    }
    program.spill_bytes = spilled.bytes;
    program.dropped = spilled.dropped;
    Ok(program)
}

/// The program of a reordered kernel whose registers are where they were.
fn in_places(kernel: &Kernel, before: &registers::Allocation) -> Result<Program, TooLarge> {
    let mut allocated = Allocated::new(kernel)?;
    allocated.allocation = schedule::same_places(kernel, &allocated.values, before);
    assemble(kernel, allocated)
}

/// Refuses kernels in which too many values wait in too many places.
fn check_triples(divergence: &Divergence, values: &Values) -> Result<(), TooLarge> {
    let held = |&place: &u32| values.live_in[place as usize].len();
    let triples: usize = divergence.keeping.iter().flatten().map(held).sum();
    if triples > MAX_HELD_TRIPLES { Err(TooLarge::held()) } else { Ok(()) }
}

fn assemble(kernel: &Kernel, allocated: Allocated) -> Result<Program, TooLarge> {
    let Allocated { graph, divergence, values, allocation, .. } = allocated;
    let image = image::build(&Parts {
        kernel,
        graph: &graph,
        divergence: &divergence,
        values: &values,
        locations: &allocation.locations,
        registers: allocation.general,
    })?;
    let register = |(register, &location): (_, &Location)| {
        let strata_ptx::module::Register { name, ty } = register;
        ProgramRegister { name, ty, location }
    };
    let reconvergence = |pc| graph.reconvergence(kernel, pc);
    let instructions = values.instructions.into_iter().zip(&kernel.lines).enumerate();
    Ok(Program {
        name: kernel.name.clone(),
        instructions: instructions
            .map(|(pc, (instruction, &line))| {
                let reconvergence = reconvergence(pc);
                let origin = Origin::Kernel(pc as u32);
                ProgramInstruction { instruction, line, reconvergence, origin }
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
        order: Order::default(),
        resident_registers: allocation.general,
        predicate_registers: allocation.predicates,
        shared_bytes: kernel.shared_bytes,
        local_bytes: kernel.local_bytes,
        spill_bytes: 0,
        dropped: Vec::new(),
        image,
    })
}
