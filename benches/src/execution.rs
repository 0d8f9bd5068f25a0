//! Functional execution of workloads, and count mode over the paths that their warps took.
//!
//! A piece of work executes all launches of the workload on a fresh device, paths recorded: that is
//! what `strata run` does, less parsing, compiling and comparing.

use std::hint::black_box;

use strata_compiler::program::Image;
use strata_core::count::count_path;
use strata_core::event::Counters;
use strata_core::image::CheckedImage;
use strata_core::organisation::Organisation;
use strata_core::units::LaneMask;
use strata_simt::PathDictionary;
use strata_workload::simulate::{Options, Prepared as PreparedWorkload};
use strata_workload::{Overrides, Toolchain, Workload};

use crate::counting::rfc6;
use crate::work::{Prepared, Work};

/// Functional execution.
pub const WORK: &[Work] = &[
    Work { name: "execute_matrixmul", prepare: || execute("matrixmul") },
    Work { name: "execute_nbody", prepare: || execute("nbody") },
];

/// Count mode over recorded paths, each distinct path once.
pub const DISTINCT_PATHS: &[Work] = &[
    Work { name: "distinct_matrixmul", prepare: || count("matrixmul", "small") },
    Work { name: "distinct_nbody", prepare: || count("nbody", "small") },
];

/// The same at size `default`, where more warps share a path. Only timed: executing them under
/// valgrind, before anything can be counted, takes too long for a gate.
pub const DISTINCT_PATHS_DEFAULT: &[Work] = &[
    Work { name: "distinct_matrixmul_default", prepare: || count("matrixmul", "default") },
    Work { name: "distinct_nbody_default", prepare: || count("nbody", "default") },
];

fn workload(name: &str, size: &str) -> PreparedWorkload {
    let workload = Workload::builtin(name, Toolchain::Nvcc).expect("a built-in workload");
    PreparedWorkload::new(&workload, size, &Overrides::new()).expect("it compiles")
}

fn execute(name: &str) -> Prepared {
    let prepared = workload(name, "small");
    Box::new(move || {
        let mut instructions = 0;
        let finals = prepared
            .execute(&Options::default(), |launch| instructions += launch.outcome.warp_instructions)
            .expect("a built-in workload runs to its end");
        black_box(finals);
        instructions
    })
}

fn count(name: &str, size: &str) -> Prepared {
    let prepared = workload(name, size);
    let mut launches: Vec<(Image, PathDictionary)> = Vec::new();
    prepared
        .execute(&Options::default(), |launch| {
            launches.push((launch.program.image.clone(), launch.outcome.paths));
        })
        .expect("a built-in workload runs to its end");
    let config = rfc6();
    Box::new(move || {
        let counters = launches.iter().map(|(image, paths)| count_launch(&config, image, paths));
        counters.map(|counters| black_box(counters).warp_instructions()).sum()
    })
}

fn count_launch(config: &Organisation, image: &Image, paths: &PathDictionary) -> Counters {
    let checked = CheckedImage::new(image.borrow()).expect("the compiler's image is well formed");
    let mut awaited = vec![LaneMask::EMPTY; usize::from(image.registers)];
    let mut total = Counters::default();
    for (path, warps) in paths.iter() {
        let counters = count_path(config, checked, &mut awaited, path.iter().copied());
        let repeated = counters.expect("recorded paths fit the image").checked_mul(warps);
        total = total.checked_add(&repeated.expect("64 bits")).expect("64 bits");
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_work_simulate_the_same_instructions() {
        for (execute, count) in WORK.iter().zip(DISTINCT_PATHS) {
            let (mut execute, mut count) = ((execute.prepare)(), (count.prepare)());
            let instructions = execute();
            assert!(instructions > 10_000);
            assert_eq!(execute(), instructions);
            assert_eq!(count(), instructions);
        }
    }
}
