//! Random kernels: what the compiler makes, the checker accepts.

use crate::common::{Random, random_kernel, shapes};
use strata_compiler::{allocate, checker};

#[test]
fn the_checker_accepts_what_the_compiler_makes() {
    for seed in 0..300 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let program = allocate(&kernel, None).expect("random kernels are small");
            if let Err(violations) = checker::check(&kernel, &program) {
                panic!("seed {seed}, {shape:?}: {} of {:#?}", violations[0], kernel.instructions);
            }
        }
    }
}

#[test]
fn compiling_twice_gives_the_same_program() {
    for seed in 0..20 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let text = |_| format!("{:?}", allocate(&kernel, None));
            assert_eq!(text(0), text(1), "seed {seed}, {shape:?}");
        }
    }
}
