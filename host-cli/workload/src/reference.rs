//! Host references: what each workload should compute, from its algorithm alone.
//!
//! Models: plain sequential loops over whole arrays, in double precision where results may differ
//! by rounding, in the operations and order of the definition where they must be equal.
//! Does not model: anything of the kernels' structure (tiles, warps, wavefronts): a mistake in a
//! kernel must not find its twin here.

mod bfs;
mod bilinear;
mod bitonic;
mod btree;
mod convolution;
mod cp;
mod dct8x8;
mod dgemm;
mod error;
mod fft512;
mod histogram;
mod hotspot;
mod inputs;
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
mod values;
mod vectoradd;
mod xorwow;

pub use error::ReferenceError;
pub use inputs::Inputs;
pub use values::{Expected, Values};

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
