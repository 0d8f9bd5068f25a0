//! Launch template: a launch file to begin with, from what a kernel does with its parameters.
//!
//! Pointers get buffers of the type that the kernel accesses, structures get the fields that it
//! loads, textures and surfaces small images of the kind that it samples, blocks have the threads
//! that the PTX asks for. The file is tried: buffers and surfaces grow until no access misses them,
//! and integers shrink if that does not help.

mod field;
mod meaning;
mod memory;
mod objects;
mod operands;
mod parameters;
mod signature;
mod text;
mod value;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::replace;

use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_ptx::module::{
    AddressBase, Axis, Function, FunctionId, Module, Operand, SpecialRegister, StateSpace, Symbol,
    Variable, VariableId,
};
use strata_ptx::types::{Kind, ScalarType};
use strata_simt::Fault;
use strata_simt::fault::AccessProblem;
use strata_simt::texture::TextureProblem;

use crate::bindings::initial_sampler;
use crate::element::ElementType;
use crate::simulate::{Options, Prepared, RunError};
use crate::{Overrides, Workload};
use memory::Held;
use objects::{ObjectTable, references};
use parameters::{Fields, parameters};
use value::{Argument, Value, element, value};

pub use text::KIND;

/// Most warp instructions of a trial.
const TRIAL: u64 = 500_000;
/// Largest buffer that is tried. Unit: elements.
const MOST_ELEMENTS: u64 = 1 << 22;
/// Most dynamic shared memory that is tried. Unit: bytes.
const MOST_SHARED: u64 = 48 << 10;
/// Values that integer arguments are tried with, best first.
const INTEGERS: [i64; 5] = [1024, 256, 64, 16, 1];

/// A launch file in the making.
#[derive(Clone, Debug)]
struct Template<'m> {
    file: &'m str,
    kernel: &'m str,
    grid: Vec<u64>,
    block: Vec<u64>,
    /// The PTX says how many threads a block has.
    fixed_block: bool,
    /// Dynamic shared memory, if the kernel has any. Unit: bytes.
    shared: Option<u64>,
    /// Shared memory of the kernel's own, which lies before that. Unit: bytes.
    static_shared: u64,
    /// All CTAs are resident: the kernel waits for the whole grid.
    cooperative: bool,
    /// How many arguments are addresses in the dynamic shared memory.
    windows: u64,
    /// Value of every integer argument.
    n: i64,
    arguments: Vec<Argument>,
    /// What is bound to references of the module.
    bound: Vec<ObjectTable>,
    /// Variables of the module that the kernel uses and nothing initialises.
    variables: Vec<(&'m str, ElementType)>,
}

/// A launch file, and whether it runs.
#[derive(Debug)]
pub struct Made {
    /// The launch file.
    pub text: String,
    /// Why it does not run as it is, if it does not.
    pub fault: Option<RunError>,
}

/// Makes a launch file for a kernel of a module that was read from `file`.
///
/// # Errors
///
/// Why the kernel cannot be compiled.
pub fn make(
    file: &str,
    ptx: &str,
    module: &Module,
    kernel: FunctionId,
) -> Result<Made, Vec<strata_ptx::diagnostic::Diagnostic>> {
    let function = &module.functions[kernel.index()];
    let body = inline(module, kernel)?.with_registers_for_values();
    let mut template = Template::new(file, function, &body, module);
    let fault = template.fit(ptx);
    Ok(Made { text: template.to_string(), fault })
}

/// The type with which a kernel accesses what each of its parameters points to, where it is a
/// pointer as a whole and that can be seen; none of a kernel that cannot be compiled.
pub fn accessed(module: &Module, kernel: FunctionId) -> Vec<Option<ScalarType>> {
    let Ok(body) = inline(module, kernel) else { return Vec::new() };
    let body = body.with_registers_for_values();
    let found = parameters(&body, module).parameters;
    let whole = (0, u64::from(module.address_bits) / 8);
    let pointer = |fields: &Fields| fields.get(&whole)?.pointer.as_ref()?.accessed();
    found.iter().map(pointer).collect()
}

impl<'m> Template<'m> {
    fn new(file: &'m str, function: &'m Function, body: &Kernel, module: &'m Module) -> Self {
        let found = parameters(body, module);
        let declared = &function.variables[..function.parameters as usize];
        let mut names = Vec::new();
        let mut windows = 0;
        let mut types = signature::declared(&function.name, declared.len()).into_iter();
        let arguments = declared.iter().zip(&found.parameters).map(|(parameter, fields)| {
            let name = unique(&short_name(&parameter.name, &function.name), &mut names);
            let mut value = match parameter.pointer {
                Some(StateSpace::Shared) => Value::Shared(windows, parameter.ty.bits()),
                _ => value(parameter, fields, &name, module.address_bits),
            };
            if let Some(declared) = types.next().flatten() {
                declared.refine(&mut value, &name);
            }
            windows += u64::from(matches!(value, Value::Shared(..)));
            Argument { name, value }
        });
        let arguments = arguments.collect();
        let bound = references(body, module, &parameters::read(body)).into_iter();
        let bound = bound.map(|(id, used)| {
            let variable = &module.variables[id.index()].name;
            let name = unique(&short_name(variable, ""), &mut names);
            let mut table = ObjectTable::new(name, Some(variable.clone()), used);
            table.initialised = initial_sampler(module, variable).is_some();
            table
        });
        let bound = bound.collect();
        let dynamic = windows > 0
            || module
                .variables
                .iter()
                .any(|variable| variable.space == StateSpace::Shared && variable.size == 0);
        let (grid, block) = extents(function.launch.block_sides(), body);
        let shared = dynamic.then_some(4096);
        let kernel = &function.name;
        let variables = uninitialised(body, module, &found.variables);
        let static_shared = body.shared_bytes;
        let fixed_block = function.launch.block_sides().is_some();
        Self {
            file,
            kernel,
            grid,
            block,
            fixed_block,
            shared,
            static_shared,
            cooperative: false,
            windows,
            n: INTEGERS[0],
            arguments,
            bound,
            variables,
        }
    }

    /// Changes sizes until a run ends well; the last fault if none does.
    fn fit(&mut self, ptx: &str) -> Option<RunError> {
        let mut last = None;
        for block in self.blocks() {
            for n in INTEGERS {
                let mut tried = Self { n, block: block.clone(), ..self.clone() };
                let fault = tried.grow(ptx);
                if fault.is_none() {
                    *self = tried;
                    return None;
                }
                last.get_or_insert((tried, fault));
            }
        }
        let (first, fault) = last?;
        *self = first;
        fault
    }

    /// Blocks to try: the usual one, and one whose rows are warps, as compilers of `OpenACC` and
    /// `OpenMP` expect.
    fn blocks(&self) -> Vec<Vec<u64>> {
        let rows: &[u64] = match self.block.len() {
            1 => &[32],
            2 => &[32, 4],
            _ => &[32, 2, 2],
        };
        let mut blocks = vec![self.block.clone()];
        blocks.extend((!self.fixed_block).then(|| rows.to_vec()));
        blocks
    }

    /// Enlarges buffers and shared memory until no access misses them.
    fn grow(&mut self, ptx: &str) -> Option<RunError> {
        loop {
            let error = self.run(ptx).err()?;
            let grown = match &error {
                RunError::Fault { source, .. } => match &**source {
                    Fault::Access(access) if access.problem == AccessProblem::OutOfBounds => {
                        match (access.space, &access.nearest) {
                            ("shared", _) => self.grow_shared() || self.shrink_block(),
                            (_, Some(near)) => self.grow_buffer(&near.name),
                            _ => false,
                        }
                    }
                    Fault::Texture(_, problem) => self.grow_image(problem),
                    Fault::NotCooperative { .. } => !replace(&mut self.cooperative, true),
                    Fault::NotResident { .. } => self.shrink_grid(),
                    _ => false,
                },
                _ => false,
            };
            if !grown {
                return Some(error);
            }
        }
    }

    fn run(&self, ptx: &str) -> Result<(), RunError> {
        let (name, launch) = ("trial".to_owned(), self.to_string());
        let ptx = (self.file.to_owned(), Cow::Owned(ptx.to_owned()));
        let workload =
            Workload::from_texts(name, ptx, ("the template".to_owned(), Cow::Owned(launch)))?;
        let prepared = Prepared::new(&workload, "default", &Overrides::new())?;
        let options = Options { max_instructions: TRIAL, ..Options::default() };
        prepared.execute(&options.recording_nothing(), |_| ()).map(|_| ())
    }

    fn grow_shared(&mut self) -> bool {
        let Some(shared) = self.shared.filter(|&shared| shared < MOST_SHARED) else { return false };
        self.shared = Some((shared * 2).min(MOST_SHARED));
        true
    }

    /// Halves the larger side of a block that the PTX does not ask for.
    fn shrink_block(&mut self) -> bool {
        let larger = self.block.iter_mut().max().filter(|side| **side > 1 && !self.fixed_block);
        larger.map(|side| *side /= 2).is_some()
    }

    fn shrink_grid(&mut self) -> bool {
        let larger = self.grid.iter_mut().max().filter(|side| **side > 1);
        larger.map(|side| *side /= 2).is_some()
    }

    fn grow_image(&mut self, problem: &TextureProblem) -> bool {
        let TextureProblem::Outside { name, x, y, z } = problem else { return false };
        let values = self.arguments.iter_mut().map(|argument| &mut argument.value);
        let mut pending: Vec<_> = values.collect();
        let mut tables: Vec<_> = self.bound.iter_mut().collect();
        while let Some(value) = pending.pop() {
            match value {
                Value::Structure(fields, _) => pending.extend(fields),
                Value::Object(table) => tables.push(table),
                _ => {}
            }
        }
        let table = tables.into_iter().find(|table| table.name == *name);
        table.is_some_and(|table| table.grow([*x, *y, *z]))
    }

    fn grow_buffer(&mut self, wanted: &str) -> bool {
        let values = self.arguments.iter_mut().map(|argument| &mut argument.value);
        let mut pending: Vec<_> = values.collect();
        while let Some(value) = pending.pop() {
            match value {
                Value::Structure(fields, _) => pending.extend(fields),
                Value::Buffer(buffer) if buffer.name == wanted && buffer.count < MOST_ELEMENTS => {
                    buffer.count *= 4;
                    return true;
                }
                Value::Buffer(buffer) => pending.extend(buffer.target.as_deref_mut()),
                _ => {}
            }
        }
        false
    }
}

/// Variables in global and constant memory that the kernel names and nothing initialises, with the
/// types of what they hold, or else of their declarations; single-precision numbers where those are
/// bits alone.
fn uninitialised<'m>(
    body: &Kernel,
    module: &'m Module,
    held: &BTreeMap<VariableId, Held>,
) -> Vec<(&'m str, ElementType)> {
    let operands = body.instructions.iter().flat_map(|instruction| &instruction.sources);
    let named: BTreeSet<VariableId> = operands
        .filter_map(|operand| match operand {
            Operand::Symbol { symbol: Symbol::Module(id), .. }
            | Operand::Address { base: AddressBase::Symbol(Symbol::Module(id)), .. } => Some(*id),
            _ => None,
        })
        .collect();
    let empty = |variable: &Variable| {
        matches!(variable.space, StateSpace::Global | StateSpace::Const)
            && variable.ty.kind() != Kind::Opaque
            && variable.size != 0
            && variable.initial.is_none()
    };
    let variables = named.into_iter().filter_map(|id| {
        let variable = module.variables.get(id.index()).filter(|variable| empty(variable))?;
        let ty = held.get(&id).filter(|held| !held.copied);
        let declared = match variable.ty.kind() {
            Kind::Bits => ElementType::F32,
            _ => element(variable.ty),
        };
        let element = ty.map_or(declared, |held| element(held.ty));
        let fits = variable.size.is_multiple_of(element.bytes());
        Some((variable.name.as_str(), if fits { element } else { ElementType::U8 }))
    });
    variables.collect()
}

/// A grid of few CTAs and a block, of as many dimensions as the kernel asks for.
fn extents(max_threads: Option<[u32; 3]>, body: &Kernel) -> (Vec<u64>, Vec<u64>) {
    let reads = |of: fn(Axis) -> SpecialRegister, axis: Axis| {
        let mut sources = body.instructions.iter().flat_map(|instruction| &instruction.sources);
        sources.any(|source| *source == Operand::Special(of(axis)))
    };
    let dimensions = |of: fn(Axis) -> SpecialRegister| match () {
        () if reads(of, Axis::Z) => 3,
        () if reads(of, Axis::Y) => 2,
        () => 1,
    };
    let grid = match dimensions(SpecialRegister::Ctaid) {
        3 => vec![2, 2, 2],
        2 => vec![2, 2],
        _ => vec![4],
    };
    let block = match (max_threads, dimensions(SpecialRegister::Tid)) {
        (Some(threads), _) => {
            let used = threads.iter().rposition(|&side| side > 1).map_or(1, |last| last + 1);
            threads[..used].iter().map(|&side| side.into()).collect()
        }
        (None, 3) => vec![8, 4, 4],
        (None, 2) => vec![16, 16],
        (None, _) => vec![128],
    };
    (grid, block)
}

/// A parameter's name without its kernel's, as compilers put it before.
fn short_name(parameter: &str, kernel: &str) -> String {
    let rest = parameter.strip_prefix(kernel).map(|rest| rest.trim_start_matches('_'));
    let name = rest.filter(|rest| !rest.is_empty()).unwrap_or(parameter);
    let word = |found: char| if found.is_ascii_alphanumeric() { found } else { '_' };
    let name: String = name.chars().map(word).take(40).collect();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name
    } else {
        format!("p{name}")
    }
}

/// The name, or the name with a number that no other has.
fn unique(name: &str, taken: &mut Vec<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 2;
    while taken.contains(&candidate) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    taken.push(candidate.clone());
    candidate
}

#[cfg(test)]
mod tests;
