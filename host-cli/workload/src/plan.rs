//! A launch plan: what is allocated and launched, in order, independent of what executes it.
//!
//! Expressions that use the iteration index are evaluated launch by launch. Those of counted phases
//! have all been tried when the plan was made; those of `until_zero` phases only for the first
//! iteration, because the others may never happen.

use super::buffer::{BufferPlan, Contents};
use super::element::ElementType;
use super::error::{LaunchFileError, Problem};
use super::expression::{Expression, Scope};
use super::object::ObjectPlan;
use super::real;
use super::source::Place;

/// Most threads of a CTA. Source: CUDA C++ Programming Guide, technical specifications.
const MAX_THREADS: i64 = 1024;
/// Largest block in each dimension. Source: as above. Unit: threads.
const MAX_BLOCK: [i64; 3] = [1024, 1024, 64];
/// Largest grid in each dimension. Source: as above. Unit: CTAs.
const MAX_GRID: [i64; 3] = [i32::MAX as i64, 65_535, 65_535];
/// Most dynamic shared memory: what compute capability 9.0 offers. Source: as above. Unit: bytes.
const MAX_SHARED: i64 = 232_448;

/// Most steps of evaluating the expressions of a file, by the length of their texts.
const MAX_WORK: u64 = 1 << 26;

/// A scalar argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its type.
    pub kind: ElementType,
    /// Its bits; the upper ones of a narrow type are zero.
    pub bits: u64,
}

impl Scalar {
    /// The value as it lies in the parameter space, little endian.
    pub fn bytes(&self) -> Vec<u8> {
        self.bits.to_le_bytes()[..self.kind.bytes() as usize].to_vec()
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer, or one inside it.
    Buffer {
        /// An index into [`LaunchPlan::buffers`].
        index: usize,
        /// From the buffer's start. Unit: bytes.
        offset: u64,
    },
    /// A value.
    Scalar(Scalar),
    /// The handle of a texture, surface or sampler: an index into [`LaunchPlan::objects`].
    Object(usize),
    /// A structure or vector: each field with its place from the start, in bytes.
    Structure(Vec<(u64, Self)>),
    /// A structure, byte by byte.
    Bytes(Vec<u8>),
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchStep {
    /// The kernel: an index into [`LaunchPlan::kernels`].
    pub kernel: usize,
    /// Unit: CTAs; every dimension at least 1.
    pub grid: [u32; 3],
    /// Unit: threads; every dimension at least 1, 1024 at most together.
    pub block: [u32; 3],
    /// Dynamic shared memory. Unit: bytes for each CTA.
    pub dynamic_shared: u32,
    /// All CTAs are resident at once, for `grid.sync()`.
    pub cooperative: bool,
    /// One for each parameter of the kernel, in order.
    pub arguments: Vec<Argument>,
}

/// How often a phase runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Repeat {
    Times(u64),
    UntilZero { buffer: usize, at_most: u64, place: Place },
}

/// An argument before its expressions are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ArgumentTemplate {
    /// One of several buffers, by an index expression, and a place in it, in elements. Invariant:
    /// never empty, and as many extents as choices.
    Buffer {
        choices: Vec<usize>,
        select: Expression,
        offset: Expression,
        extents: Vec<Extent>,
    },
    Integer {
        kind: ElementType,
        value: Expression,
    },
    Real {
        kind: ElementType,
        value: f64,
    },
    RealFormula {
        kind: ElementType,
        value: Expression,
    },
    /// Fields with their places, size and alignment of all. Unit: bytes.
    Structure {
        fields: Vec<(u64, Self)>,
        size: u64,
        align: u64,
    },
    Bytes(Vec<u8>),
    Object(usize),
}

/// How far a pointer into a buffer may point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Elements of the buffer: one past the last is where a pointer may be.
    pub(super) count: u64,
    /// Of one element. Unit: bytes.
    pub(super) size: u64,
}

/// A launch before its expressions are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaunchTemplate {
    pub(super) kernel: usize,
    pub(super) grid: (Vec<Expression>, Place),
    /// CTAs for each unit of the grid, where the kernel has the grid count clusters.
    pub(super) grid_unit: [u32; 3],
    pub(super) block: (Vec<Expression>, Place),
    pub(super) shared: (Expression, Place),
    pub(super) cooperative: bool,
    pub(super) arguments: Vec<(ArgumentTemplate, Place)>,
}

/// Launches that repeat together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PhasePlan {
    pub(super) repeat: Repeat,
    pub(super) resets: Vec<(usize, Contents)>,
    pub(super) launches: Vec<LaunchTemplate>,
}

/// Everything that is allocated and launched for one workload at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchPlan {
    /// Buffers to allocate and fill.
    pub buffers: Vec<BufferPlan>,
    /// Textures, surfaces and samplers to make.
    pub objects: Vec<ObjectPlan>,
    /// Names of the kernels that are launched, in order of first use.
    pub kernels: Vec<String>,
    /// Values of the parameters.
    pub parameters: Scope,
    pub(super) phases: Vec<PhasePlan>,
}

/// What executes a plan. Buffers have been allocated and filled before the first call.
pub trait LaunchTarget {
    /// Why the target gave up.
    type Error;

    /// Overwrites all of a buffer.
    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Whether every byte of a buffer is zero.
    fn is_zero(&mut self, buffer: usize) -> Result<bool, Self::Error>;

    /// Runs one launch to its end; `index` counts the launches of the plan from 0.
    fn launch(&mut self, index: u64, step: &LaunchStep) -> Result<(), Self::Error>;
}

/// Why a plan could not be driven to its end.
#[derive(Debug)]
pub enum DriveError<E> {
    /// The target gave up.
    Target(E),
    /// The launch file turned out to be wrong at a later iteration.
    Plan(Box<LaunchFileError>),
}

impl LaunchPlan {
    /// The buffer of this name: an index into `buffers`.
    pub fn buffer(&self, name: &str) -> Option<usize> {
        self.buffers.iter().position(|buffer| buffer.name == name)
    }

    /// Runs every launch on `target`, in order; returns how many there were.
    pub fn drive<T: LaunchTarget>(&self, target: &mut T) -> Result<u64, DriveError<T::Error>> {
        let mut index = 0;
        for phase in &self.phases {
            let (bound, until) = match &phase.repeat {
                Repeat::Times(times) => (*times, None),
                Repeat::UntilZero { buffer, at_most, place } => (*at_most, Some((*buffer, place))),
            };
            let mut done = until.is_none();
            for iteration in 0..bound {
                for (buffer, value) in &phase.resets {
                    let bytes = self.buffers[*buffer].reset(value);
                    target.write(*buffer, &bytes).map_err(DriveError::Target)?;
                }
                for launch in &phase.launches {
                    let step =
                        launch.step(&self.parameters, iteration).map_err(DriveError::Plan)?;
                    target.launch(index, &step).map_err(DriveError::Target)?;
                    index += 1;
                }
                if let Some((buffer, _)) = until
                    && target.is_zero(buffer).map_err(DriveError::Target)?
                {
                    done = true;
                    break;
                }
            }
            if let (false, Some((buffer, place))) = (done, until) {
                let buffer = self.buffers[buffer].name.clone();
                let problem = Problem::NeverZero { buffer, iterations: bound };
                return Err(DriveError::Plan(place.error(problem)));
            }
        }
        Ok(index)
    }

    /// Evaluates what `drive` would, as far as that does not depend on results: of each part of a
    /// launch the first iteration at which it is wrong.
    pub(super) fn rehearse(&self) -> Vec<LaunchFileError> {
        let (mut found, mut work) = (Vec::new(), 0);
        for phase in &self.phases {
            if let Err(error) = phase.add_work(&mut work) {
                found.push(*error);
                break;
            }
            for launch in &phase.launches {
                launch.rehearse(&self.parameters, phase.foreseen(), &mut found);
            }
        }
        found
    }

    /// Shows `visit` every launch, of phases that repeat until a buffer is zero those of the first
    /// iteration.
    pub(crate) fn foresee(
        &self,
        mut visit: impl FnMut(&LaunchStep),
    ) -> Result<(), Box<LaunchFileError>> {
        for phase in &self.phases {
            for iteration in 0..phase.foreseen() {
                for launch in &phase.launches {
                    visit(&launch.step(&self.parameters, iteration)?);
                }
            }
        }
        Ok(())
    }
}

impl PhasePlan {
    /// Iterations that are known to happen.
    const fn foreseen(&self) -> u64 {
        match self.repeat {
            Repeat::Times(times) => times,
            Repeat::UntilZero { .. } => 1,
        }
    }

    /// Adds the steps of evaluating everything that is foreseen, of which there may be too many.
    fn add_work(&self, work: &mut u64) -> Result<(), Box<LaunchFileError>> {
        let each = self.launches.iter().map(LaunchTemplate::work).fold(0, u64::saturating_add);
        *work = work.saturating_add(self.foreseen().saturating_mul(each));
        let first = self.launches.first().filter(|_| *work > MAX_WORK);
        let Some(launch) = first else { return Ok(()) };
        let what = "the length of all expressions times how often they are evaluated";
        let value = i64::try_from(*work).unwrap_or(i64::MAX);
        in_range(&launch.grid.1, what, value, 1, MAX_WORK as i64)
    }
}

impl LaunchTemplate {
    /// A bound on the steps of evaluating all its expressions once.
    fn work(&self) -> u64 {
        let sides = self.grid.0.iter().chain(&self.block.0).map(steps);
        let arguments = self.arguments.iter().map(|(argument, _)| argument.work());
        sides.chain(arguments).sum::<u64>() + steps(&self.shared.0)
    }

    /// The launch of one iteration.
    fn step(&self, parameters: &Scope, iteration: u64) -> Result<LaunchStep, Box<LaunchFileError>> {
        let mut scope = parameters.clone();
        set_iteration(&mut scope, iteration);

        let (mut grid, mut block) = ([1; 3], [1; 3]);
        for (index, side) in grid.iter_mut().enumerate() {
            *side = self.grid_side(index, &scope)?;
        }
        for (index, side) in block.iter_mut().enumerate() {
            *side = self.block_side(index, &scope)?;
        }
        self.allow_threads(block)?;
        let dynamic_shared = self.dynamic_shared(&scope)?;
        let arguments = self
            .arguments
            .iter()
            .map(|(argument, place)| argument.value(&scope, place))
            .collect::<Result<_, _>>()?;
        let Self { kernel, cooperative, .. } = *self;
        Ok(LaunchStep { kernel, grid, block, dynamic_shared, cooperative, arguments })
    }

    /// Finds what is wrong in some of the iterations.
    fn rehearse(&self, parameters: &Scope, iterations: u64, found: &mut Vec<LaunchFileError>) {
        let mut scope = parameters.clone();
        let mut try_part = |part: &dyn Fn(&Scope) -> Result<(), Box<LaunchFileError>>| {
            let mut iterations = 0..iterations;
            let error = iterations.find_map(|iteration| {
                set_iteration(&mut scope, iteration);
                part(&scope).err()
            });
            let is_right = error.is_none();
            found.extend(error.map(|error| *error));
            is_right
        };
        let mut sides_are_right = true;
        for index in 0..3 {
            try_part(&|scope| self.grid_side(index, scope).map(drop));
            sides_are_right &= try_part(&|scope| self.block_side(index, scope).map(drop));
        }
        if sides_are_right {
            try_part(&|scope| {
                let mut block = [1; 3];
                for (index, side) in block.iter_mut().enumerate() {
                    *side = self.block_side(index, scope)?;
                }
                self.allow_threads(block)
            });
        }
        try_part(&|scope| self.dynamic_shared(scope).map(drop));
        for (argument, place) in &self.arguments {
            try_part(&|scope| argument.value(scope, place).map(drop));
        }
    }

    /// A side of the grid; one that is not given is 1. Unit: CTAs.
    fn grid_side(&self, index: usize, scope: &Scope) -> Result<u32, Box<LaunchFileError>> {
        let (limit, what) = (MAX_GRID[index], "a grid dimension");
        let side = side(&self.grid, index, scope, what, limit)?;
        let ctas = i64::from(side) * i64::from(self.grid_unit[index]);
        in_range(&self.grid.1, "a grid dimension in CTAs", ctas, 1, limit)?;
        Ok(ctas as u32)
    }

    /// A side of the block; one that is not given is 1. Unit: threads.
    fn block_side(&self, index: usize, scope: &Scope) -> Result<u32, Box<LaunchFileError>> {
        side(&self.block, index, scope, "a block dimension", MAX_BLOCK[index])
    }

    fn allow_threads(&self, block: [u32; 3]) -> Result<(), Box<LaunchFileError>> {
        let threads = block.iter().map(|&side| i64::from(side)).product();
        in_range(&self.block.1, "the number of threads of a CTA", threads, 1, MAX_THREADS)
    }

    /// Unit: bytes.
    fn dynamic_shared(&self, scope: &Scope) -> Result<u32, Box<LaunchFileError>> {
        let (shared, place) = &self.shared;
        let shared = shared.evaluate(scope).map_err(|error| place.error(error))?;
        in_range(place, "the dynamic shared memory in bytes", shared, 0, MAX_SHARED)?;
        Ok(shared as u32)
    }
}

/// Gives expressions the index of the iteration.
fn set_iteration(scope: &mut Scope, iteration: u64) {
    scope.set("i", i64::try_from(iteration).unwrap_or(i64::MAX));
}

/// A bound on the steps of evaluating an expression.
fn steps(expression: &Expression) -> u64 {
    1 + expression.length() as u64
}

impl ArgumentTemplate {
    /// Size and alignment, where pointers have as many bits. Unit: bytes.
    pub(super) const fn layout(&self, address_bits: u8) -> (u64, u64) {
        match self {
            Self::Buffer { .. } => (address_bits as u64 / 8, address_bits as u64 / 8),
            Self::Integer { kind, .. }
            | Self::Real { kind, .. }
            | Self::RealFormula { kind, .. } => (kind.bytes(), kind.bytes()),
            Self::Structure { size, align, .. } => (*size, *align),
            Self::Bytes(bytes) => (bytes.len() as u64, 1),
            Self::Object(_) => (8, 8),
        }
    }

    /// A bound on the steps of evaluating all its expressions once.
    fn work(&self) -> u64 {
        match self {
            Self::Buffer { select, offset, .. } => steps(select) + steps(offset),
            Self::Integer { value, .. } | Self::RealFormula { value, .. } => steps(value),
            Self::Real { .. } | Self::Bytes(_) | Self::Object(_) => 1,
            Self::Structure { fields, .. } => {
                fields.iter().map(|(_, field)| field.work()).sum::<u64>() + 1
            }
        }
    }

    fn value(&self, scope: &Scope, place: &Place) -> Result<Argument, Box<LaunchFileError>> {
        let evaluate =
            |value: &Expression| value.evaluate(scope).map_err(|error| place.error(error));
        let scalar = |kind, bits| Ok(Argument::Scalar(Scalar { kind, bits }));
        match self {
            Self::Buffer { choices, select, offset, extents } => {
                let chosen = evaluate(select)?;
                let last = choices.len() as i64 - 1;
                in_range(place, "`select`", chosen, 0, last)?;
                let (index, extent) = (choices[chosen as usize], extents[chosen as usize]);
                let offset = evaluate(offset)?;
                in_range(place, "`offset`", offset, 0, extent.count as i64)?;
                Ok(Argument::Buffer { index, offset: offset as u64 * extent.size })
            }
            Self::Structure { fields, .. } => {
                let field =
                    |(at, field): &(u64, Self)| field.value(scope, place).map(|value| (*at, value));
                fields.iter().map(field).collect::<Result<_, _>>().map(Argument::Structure)
            }
            Self::Bytes(bytes) => Ok(Argument::Bytes(bytes.clone())),
            Self::Object(index) => Ok(Argument::Object(*index)),
            Self::Integer { kind, value } => {
                let value = evaluate(value)?;
                let (low, high) = kind.integer_range();
                in_range(place, "the argument", value, low, high)?;
                let mask = u64::MAX >> (64 - 8 * kind.bytes());
                scalar(*kind, value as u64 & mask)
            }
            Self::Real { kind, value } => scalar(*kind, kind.bits(*value)),
            Self::RealFormula { kind, value } => {
                let value = evaluate(value)?;
                let exact = real::of_integer(value, *kind).map_err(|why| place.error(why))?;
                scalar(*kind, kind.bits(exact))
            }
        }
    }
}

/// Evaluates one of up to three dimensions; a missing one is 1.
fn side(
    (dimensions, place): &(Vec<Expression>, Place),
    index: usize,
    scope: &Scope,
    what: &'static str,
    limit: i64,
) -> Result<u32, Box<LaunchFileError>> {
    let Some(side) = dimensions.get(index) else { return Ok(1) };
    let value = side.evaluate(scope).map_err(|error| place.error(error))?;
    in_range(place, what, value, 1, limit)?;
    Ok(value as u32)
}

fn in_range(
    place: &Place,
    what: &'static str,
    value: i64,
    low: i64,
    high: i64,
) -> Result<(), Box<LaunchFileError>> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(place.error(Problem::OutOfRange { what, value, low, high }))
    }
}
