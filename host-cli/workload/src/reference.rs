//! Host references: what each workload should compute, from its algorithm alone.
//!
//! Models: plain sequential loops over whole arrays, in double precision where results may differ
//! by rounding, in the operations and order of the definition where they must be equal.
//! Does not model: anything of the kernels' structure (tiles, warps, wavefronts): a mistake in a
//! kernel must not find its twin here.

use std::sync::Arc;

use strata_ptx::diagnostic::counted;

use super::element::{ElementType, Number};
use super::plan::LaunchPlan;
use super::real;

mod bfs;
mod bilinear;
mod bitonic;
mod btree;
mod convolution;
mod cp;
mod dct8x8;
mod dgemm;
mod fft512;
mod histogram;
mod hotspot;
mod lbm;
mod lu;
mod mandelbrot;
mod matrixmul;
mod mergesort;
mod montecarlo;
mod mriq;
mod nbody;
mod needle;
mod pathgen;
mod pcr;
mod quasirandom;
mod ray;
mod reduction;
mod scalarprod;
mod scan;
mod sgemm;
mod sgemv;
mod sobol;
mod srad;
mod stencil;
mod suffixtree;
mod vectoradd;
mod xorwow;

/// Expected contents of buffers, by name.
pub type Expected = Result<Vec<(&'static str, Values)>, ReferenceError>;

/// Computes expected buffers from the initial ones.
pub type Reference = fn(Inputs<'_>) -> Expected;

/// Every reference and its name.
const REFERENCES: &[(&str, Reference)] = &[
    ("bfs", bfs::reference),
    ("bilinear", bilinear::reference),
    ("bitonic", bitonic::reference),
    ("btree", btree::reference),
    ("convolution", convolution::reference),
    ("cp", cp::reference),
    ("dct8x8", dct8x8::reference),
    ("dgemm", dgemm::reference),
    ("fft512", fft512::reference),
    ("histogram", histogram::reference),
    ("hotspot", hotspot::reference),
    ("lbm", lbm::reference),
    ("lu", lu::reference),
    ("mandelbrot", mandelbrot::reference),
    ("matrixmul", matrixmul::reference),
    ("mergesort", mergesort::reference),
    ("montecarlo", montecarlo::reference),
    ("mriq", mriq::reference),
    ("nbody", nbody::reference),
    ("needle", needle::reference),
    ("pathgen", pathgen::reference),
    ("pcr", pcr::reference),
    ("quasirandom", quasirandom::reference),
    ("ray", ray::reference),
    ("reduction", reduction::reference),
    ("scalarprod", scalarprod::reference),
    ("scan", scan::reference),
    ("sgemm", sgemm::reference),
    ("sgemv", sgemv::reference),
    ("sobol", sobol::reference),
    ("srad", srad::reference),
    ("stencil", stencil::reference),
    ("suffixtree", suffixtree::reference),
    ("vectoradd", vectoradd::reference),
    ("xorwow", xorwow::reference),
];

/// The reference of this name.
pub(super) fn find(name: &str) -> Option<Reference> {
    REFERENCES.iter().find_map(|(known, reference)| (*known == name).then_some(*reference))
}

/// The names of all references.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    REFERENCES.iter().map(|(name, _)| *name)
}

/// Most innermost steps of a reference: some minutes. A kernel within the usual budget of
/// instructions has fewer.
const MOST_STEPS: u128 = 1 << 37;

/// Why a reference cannot be computed: the launch file does not offer what it starts from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// A parameter is missing.
    #[error("the host reference needs a parameter `{name}`")]
    NoParameter {
        /// The parameter.
        name: &'static str,
    },
    /// A parameter has a value that the algorithm does not define.
    #[error("the host reference needs `{name}` between 0 and 2^31 - 1, it is {value}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: i64,
    },
    /// It would take too long.
    #[error("the host reference would take {steps} steps, and at most {MOST_STEPS} are allowed")]
    TooLong {
        /// Its innermost steps.
        steps: u128,
    },
    /// A buffer is missing.
    #[error("the host reference needs a buffer `{name}`")]
    NoBuffer {
        /// The buffer.
        name: &'static str,
    },
    /// A buffer has another element type or size.
    #[error(
        "the host reference needs buffer `{name}` with {} of type {element}, it has {found_count} \
         of type {found_element}", counted(*count, "element")
    )]
    Buffer {
        /// The buffer.
        name: &'static str,
        /// Elements needed.
        count: usize,
        /// Type needed.
        element: &'static str,
        /// Elements found.
        found_count: u64,
        /// Type found.
        found_element: &'static str,
    },
}

/// What a reference starts from: the parameters and the initial contents of the buffers.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    plan: &'a LaunchPlan,
}

impl<'a> Inputs<'a> {
    /// The inputs of a plan.
    pub const fn new(plan: &'a LaunchPlan) -> Self {
        Self { plan }
    }

    /// A parameter between 0 and 2^31 - 1.
    pub fn parameter(self, name: &'static str) -> Result<usize, ReferenceError> {
        let value = self.plan.parameters.get(name).ok_or(ReferenceError::NoParameter { name })?;
        match i32::try_from(value) {
            Ok(small) if small >= 0 => Ok(small as usize),
            _ => Err(ReferenceError::Parameter { name, value }),
        }
    }

    fn bytes(
        self,
        name: &'static str,
        element: ElementType,
        count: usize,
    ) -> Result<Vec<u8>, ReferenceError> {
        let index = self.plan.buffer(name).ok_or(ReferenceError::NoBuffer { name })?;
        let buffer = &self.plan.buffers[index];
        if buffer.element != element || buffer.count != count as u64 {
            let (found_count, found_element) = (buffer.count, buffer.element.name());
            let element = element.name();
            return Err(ReferenceError::Buffer {
                name,
                count,
                element,
                found_count,
                found_element,
            });
        }
        Ok(buffer.initial())
    }

    /// The initial contents of a buffer of exactly `count` single-precision numbers.
    pub fn f32(self, name: &'static str, count: usize) -> Result<Vec<f32>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::F32, count)?;
        Ok(words(&bytes).map(f32::from_bits).collect())
    }

    /// The initial contents of a buffer of exactly `count` double-precision numbers.
    pub fn f64(self, name: &'static str, count: usize) -> Result<Vec<f64>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::F64, count)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }

    /// The initial contents of a buffer of exactly `count` unsigned 32-bit numbers.
    pub fn u32(self, name: &'static str, count: usize) -> Result<Vec<u32>, ReferenceError> {
        Ok(words(&self.bytes(name, ElementType::U32, count)?).collect())
    }

    /// The initial contents of a buffer of exactly `count` unsigned 64-bit numbers.
    pub fn u64(self, name: &'static str, count: usize) -> Result<Vec<u64>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::U64, count)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// The initial contents of a buffer of exactly `count` signed 32-bit numbers.
    pub fn s32(self, name: &'static str, count: usize) -> Result<Vec<i32>, ReferenceError> {
        let bytes = self.bytes(name, ElementType::S32, count)?;
        Ok(words(&bytes).map(|word| word as i32).collect())
    }

    /// The initial contents of a buffer of exactly `count` bytes.
    pub fn u8(self, name: &'static str, count: usize) -> Result<Vec<u8>, ReferenceError> {
        self.bytes(name, ElementType::U8, count)
    }
}

/// Makes sure that a reference ends in time: `sides` are those of its nested loops, where they are
/// not bounded by a buffer alone.
///
/// # Errors
/// Too many steps.
fn bounded(sides: &[usize]) -> Result<(), ReferenceError> {
    // At most four sides of 31 bits.
    let steps = sides.iter().map(|&side| side.max(1) as u128).product();
    if steps > MOST_STEPS { Err(ReferenceError::TooLong { steps }) } else { Ok(()) }
}

/// The index before, staying at 0: how stencils mirror the first row and column.
const fn step_back(index: usize) -> usize {
    index.saturating_sub(1)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

/// Expected contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Bytes.
    U8(Vec<u8>),
    /// Unsigned words.
    U32(Vec<u32>),
    /// Signed words.
    S32(Vec<i32>),
    /// Single precision: for results that must be equal.
    F32(Vec<f32>),
    /// Double precision: also for single-precision buffers that are compared with a tolerance.
    F64(Vec<f64>),
    /// Elements of a type, little endian.
    Bytes(ElementType, Arc<[u8]>),
}

impl Values {
    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        let length = match self {
            Self::U8(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::S32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Bytes(element, bytes) => bytes.len() / element.bytes() as usize,
        };
        length as u64
    }

    /// One value, rounded to the precision of the buffer it is compared with.
    pub(super) fn at(&self, index: usize, element: ElementType) -> Number {
        let value = match self {
            Self::U8(values) => return Number::Integer(values[index].into()),
            Self::U32(values) => return Number::Integer(values[index].into()),
            Self::S32(values) => return Number::Integer(values[index].into()),
            Self::Bytes(element, bytes) => {
                let size = element.bytes() as usize;
                return Number::of_bytes(*element, &bytes[index * size..][..size]);
            }
            Self::F32(values) => f64::from(values[index]),
            Self::F64(values) => values[index],
        };
        Number::Real(real::nearest(value, element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, Toolchain, Workload};

    #[test]
    fn references_end_in_time() {
        let long: [(&str, &[(&str, i64)]); 16] = [
            ("mandelbrot", &[("limit", i64::from(i32::MAX))]),
            ("nbody", &[("bodies", 3000), ("steps", 1 << 16)]),
            ("hotspot", &[("columns", 2000), ("rows", 2000), ("steps", 1 << 16)]),
            ("srad", &[("columns", 4000), ("rows", 4000), ("iterations", 16_000)]),
            ("matrixmul", &[("n", 6000)]),
            ("cp", &[("atoms", 100_000), ("columns", 4000), ("rows", 4000)]),
            ("mriq", &[("samples", 1 << 20), ("voxels", 1 << 20)]),
            ("dgemm", &[("m", 6000), ("n", 6000), ("k", 6000)]),
            ("sgemm", &[("m", 6000), ("n", 6000), ("k", 6000)]),
            ("montecarlo", &[("walkers", 1 << 20), ("paths", 1 << 10), ("pairs", 1 << 10)]),
            ("lu", &[("n", 6016)]),
            ("ray", &[("columns", 10_000), ("rows", 10_000), ("bounces", 1 << 10)]),
            ("suffixtree", &[("text", 1 << 19)]),
            ("lbm", &[("columns", 100), ("rows", 100), ("slabs", 100), ("steps", 10_000)]),
            ("stencil", &[("columns", 500), ("rows", 500), ("slabs", 500), ("steps", 2000)]),
            ("xorwow", &[("sequences", 1 << 20), ("skip", 25)]),
        ];
        for (name, parameters) in long {
            let workload = Workload::builtin(name, Toolchain::Nvcc).unwrap();
            let module = strata_ptx::parse(&workload.ptx).module;
            let overrides: Overrides = parameters
                .iter()
                .map(|&(parameter, value)| (parameter.to_owned(), value))
                .collect();
            let (plan, _) = workload.plan("small", &overrides, &module).unwrap();
            let found = find(name).unwrap()(Inputs::new(&plan));
            assert!(matches!(found, Err(ReferenceError::TooLong { .. })), "{name}: {found:?}");
        }
    }
}
