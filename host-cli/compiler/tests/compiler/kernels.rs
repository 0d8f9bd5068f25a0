//! Kernels that real compilers wrote, and small ones that have what those lack.

use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_compiler::{allocate, checker};

/// PTX texts, with their names.
pub(crate) const TEXTS: [(&str, &str); 3] = [
    ("nvcc", include_str!("../kernels/nvcc.ptx")),
    ("clang", include_str!("../kernels/clang.ptx")),
    ("hand", include_str!("../kernels/hand.ptx")),
];

/// Kernels with more values than 16 registers hold.
pub(crate) const SPILLING: &str = include_str!("../kernels/spill.ptx");

/// Every kernel of every text, calls inlined.
pub(crate) fn kernels() -> Vec<Kernel> {
    kernels_of(&TEXTS)
}

/// The kernels of [`SPILLING`].
pub(crate) fn spilling() -> Vec<Kernel> {
    kernels_of(&[("spill", SPILLING)])
}

fn kernels_of(texts: &[(&str, &str)]) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for (name, text) in texts {
        let parsed = strata_ptx::parse(text);
        assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", parsed.diagnostics);
        for (id, _) in parsed.module.kernels() {
            let kernel = inline(&parsed.module, id);
            kernels.push(kernel.unwrap_or_else(|problems| panic!("{name}: {problems:?}")));
        }
    }
    kernels
}

#[test]
fn the_checker_accepts_real_kernels() {
    for kernel in kernels() {
        let program = allocate(&kernel, None).expect("real kernels fit");
        if let Err(violations) = checker::check(&kernel, &program) {
            panic!("{}: {}", kernel.name, violations[0]);
        }
        assert!(program.general_registers <= 18, "{}: {}", kernel.name, program.general_registers);
    }
}
